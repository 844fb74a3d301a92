//! `linkdoze cosim`: hardware and golden model in lock step.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use serde_json::json;

use super::Outcome;
use crate::blocks::port::pins::{Inputs, Outputs};
use crate::config::Config;
use crate::cosim::coverage::{Corner, Coverage};
use crate::cosim::native::Native;
use crate::cosim::periods::Periods;
use crate::cosim::port::PortDesign;
use crate::cosim::random::{affords, Random};
use crate::cosim::scenario::{ActivitySink, Bench, OnePort, Results};
use crate::cosim::verilator::{self, Compiled, WaveFormat};
use crate::cosim::wave::{format_of, Recorder, Window};
use crate::cosim::{report, Activity, Design, Ended, LockStep, Mismatch, Rtl, Run, Tally};
use crate::network::scenario::Scenario;
use crate::network::{self, trace};
use crate::switch::power::PowerController;

/// Cycles of `--random` unless `--cycles` says otherwise.
const RANDOM_CYCLES: u64 = 1_000_000;
/// The same for the native engine, which is some hundred times slower.
const NATIVE_CYCLES: u64 = 50_000;
/// Cycles that `--wave` shows of a run without mismatch, from its beginning.
const WAVE_CYCLES: u64 = 100_000;

/// Compare the emitted Verilog with the golden model, every output in every cycle
#[derive(clap::Args)]
#[command(
    group = clap::ArgGroup::new("activity").required(true),
    after_help = "Exit status: 0 all cycles are equal; 1 a mismatch; 2 bad input, or a tool is missing.\n\
        Compiled models are kept in $LINKDOZE_CACHE (default: linkdoze in $XDG_CACHE_HOME or ~/.cache).\n\
        $VERILATOR and $CXX name the tools if they are not in the path."
)]
pub struct Args {
    /// Configuration of the port
    pub config: PathBuf,

    /// Constrained random activity
    #[arg(long, group = "activity")]
    random: bool,

    /// Activity of a CSV file with the header `busy,idle`, in ticks
    #[arg(long, group = "activity", value_name = "FILE.csv")]
    periods: Option<PathBuf>,

    /// Activity of every port of a switch in this scenario
    #[arg(long, group = "activity", value_name = "FILE.toml")]
    pub scenario: Option<PathBuf>,

    /// Clock cycles (of every port); default: 1000000 of --random (50000 with the native
    /// engine), otherwise to the end
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    cycles: Option<u64>,

    /// Seed of --random, or a range of seeds, both ends included: 1..5
    #[arg(long, value_name = "S", conflicts_with_all = ["periods", "scenario"])]
    seed: Option<Seeds>,

    /// What clocks the hardware
    #[arg(long, value_enum, default_value_t = Engine::Verilator)]
    engine: Engine,

    /// Take the Verilog that lies in this folder instead of emitting it
    #[arg(long, value_name = "DIR")]
    rtl: Option<PathBuf>,

    /// Waveform (.fst or .vcd): 200 cycles before a mismatch to 50 after, or the first
    /// 100000 cycles of a run without one
    #[arg(long, value_name = "FILE")]
    wave: Option<PathBuf>,

    /// The port that --wave shows when a scenario has no mismatch
    #[arg(long, value_name = "PORT", default_value_t = 0, requires = "wave")]
    wave_port: usize,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// The emitted Verilog, compiled by Verilator
    Verilator,
    /// The simulation of the description itself; needs no tools
    Native,
}

impl Engine {
    fn name(self) -> &'static str {
        match self {
            Engine::Verilator => "verilator",
            Engine::Native => "native",
        }
    }
}

/// Runs the subcommand.
///
/// # Errors
/// Bad input, a missing tool, or an engine that fails.
pub fn run(args: &Args) -> Result<Outcome> {
    let config = Config::load(&args.config)?;
    let design = PortDesign::new(&config)?;
    let Some(path) = &args.scenario else {
        return run_open_loop(args, &design);
    };
    let scenario = Scenario::load(path)?;
    let program = trace::read(&scenario.traffic.file)?;
    let ports = scenario.topology.nodes;
    let flag = interrupted()?;
    run_scenario(args, &design, ports, &|sink| {
        let mut told = SwitchPorts {
            sink,
            ports,
            flow: ControlFlow::Continue(()),
        };
        // Both ends of every link: the switch ports, then the NICs.
        let controllers = network::Controllers {
            clock_ps: design.period_ps(),
            ports: (0..2 * ports)
                .map(|_| Box::new(design.golden()) as Box<dyn PowerController + Send>)
                .collect(),
        };
        let mut go_on = |_: &network::Progress| {
            if flag.load(Ordering::Relaxed) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        network::run_program(&scenario, &program, controllers, &mut told, &mut go_on)?;
        Ok(())
    })
}

/// Passes on what the switch ports did; the NICs have no hardware here.
struct SwitchPorts<'a> {
    sink: &'a mut dyn ActivitySink,
    ports: usize,
    flow: ControlFlow<()>,
}

impl network::ActivitySink for SwitchPorts<'_> {
    fn run(&mut self, port: usize, cycles: u64, inputs: Inputs, outputs: Outputs) {
        if port < self.ports && self.flow.is_continue() {
            self.flow = self.sink.feed(port, cycles, &inputs, &outputs);
        }
    }

    fn window(&mut self, _: u64) -> ControlFlow<()> {
        self.flow
    }
}

/// One seed or several, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seeds {
    first: u64,
    last: u64,
}

impl FromStr for Seeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Seeds, String> {
        let number =
            |part: &str| {
                part.trim().trim_start_matches('=').parse::<u64>().map_err(|_| {
                format!("`{part}` is not a seed: a whole number from 0, or a range such as 1..5")
            })
            };
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        let seeds = Seeds {
            first: number(first)?,
            last: number(last)?,
        };
        if seeds.last < seeds.first {
            return Err(format!("the range {text} is empty: write {last}..{first}"));
        }
        if seeds.last - seeds.first >= 10_000 {
            return Err(format!("the range {text} has more than 10000 seeds"));
        }
        Ok(seeds)
    }
}

/// Set by Ctrl-C.
fn interrupted() -> Result<Arc<AtomicBool>> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    if let Some(flag) = FLAG.get() {
        return Ok(Arc::clone(flag));
    }
    let flag = Arc::new(AtomicBool::new(false));
    let shared = Arc::clone(&flag);
    if FLAG.set(Arc::clone(&flag)).is_ok() {
        ctrlc::set_handler(move || shared.store(true, Ordering::Relaxed))
            .context("cannot listen for Ctrl-C")?;
    }
    Ok(flag)
}

/// The hardware, ready to be instantiated.
enum Hardware<'a, D> {
    Verilator(Compiled),
    Native(&'a D),
}

impl<D: Design> Hardware<'_, D> {
    fn instance(&self) -> Result<Box<dyn Rtl + Send>> {
        Ok(match self {
            Hardware::Verilator(model) => Box::new(model.engine()?),
            Hardware::Native(design) => Box::new(Native::new(design.native()?, design.plan())?),
        })
    }
}

/// A run of the command: the arguments, the design, its Verilog.
struct Session<'a, D> {
    args: &'a Args,
    design: &'a D,
    files: Vec<(String, String)>,
    hardware: Hardware<'a, D>,
    /// Built before the run when a waveform was asked for, so that a missing library is
    /// told at once.
    traced: Option<Compiled>,
    started: Instant,
    interrupted: Arc<AtomicBool>,
}

/// What is reported at the end.
struct Summary {
    /// What was driven: `random, seeds 1 to 5`.
    activity: String,
    tally: Tally,
    ports: Vec<Tally>,
    coverage: Coverage,
    affordable: Box<dyn Fn(Corner) -> bool>,
    elapsed: Duration,
    mismatch: Option<Found>,
    /// The waveform that was written, or why there is none.
    wave: Option<Result<PathBuf>>,
}

struct Found {
    mismatch: Mismatch,
    port: Option<usize>,
    command: String,
}

impl<'a, D: Design + Sync> Session<'a, D> {
    fn new(args: &'a Args, design: &'a D) -> Result<Session<'a, D>> {
        if let Some(path) = &args.wave {
            let format = format_of(path)?;
            ensure!(
                args.engine == Engine::Verilator || format == WaveFormat::Vcd,
                "{}: the native engine writes VCD only: give a name that ends in .vcd",
                path.display()
            );
            if let Some(folder) = path
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty())
            {
                ensure!(
                    folder.is_dir(),
                    "{}: there is no folder {}: make it first",
                    path.display(),
                    folder.display()
                );
            }
        }
        let interrupted = interrupted()?;
        let mut files = Vec::new();
        let hardware = match args.engine {
            Engine::Native => {
                ensure!(
                    args.rtl.is_none(),
                    "--rtl takes Verilog, which the native engine does not read: use --engine verilator"
                );
                Hardware::Native(design)
            }
            Engine::Verilator => {
                files = match &args.rtl {
                    Some(folder) => verilator::read_folder(folder)?,
                    None => design.verilog()?,
                };
                let model = Compiled::fast(&files, design.plan())?;
                if !model.extra_outputs.is_empty() {
                    eprintln!(
                        "note: outputs that the golden model does not have are not compared: {}",
                        model.extra_outputs.join(", ")
                    );
                }
                Hardware::Verilator(model)
            }
        };
        let traced = match (&args.wave, args.engine) {
            (Some(path), Engine::Verilator) => {
                Some(Compiled::traced(&files, design.plan(), format_of(path)?)?)
            }
            _ => None,
        };
        Ok(Session {
            args,
            design,
            files,
            hardware,
            traced,
            started: Instant::now(),
            interrupted,
        })
    }

    fn progress(&self, cycles: u64) -> Result<ProgressBar> {
        let bar = if cycles == u64::MAX {
            ProgressBar::no_length()
        } else {
            ProgressBar::new(cycles)
        };
        bar.set_style(ProgressStyle::with_template(
            "{wide_bar} {percent:>3} %  {human_pos} cycles  {per_sec}  {eta} left",
        )?);
        Ok(bar)
    }

    /// The command that shows this mismatch again.
    fn command(&self, activity: &str, cycles: Option<u64>) -> String {
        let mut words = vec![
            "linkdoze".to_owned(),
            "cosim".to_owned(),
            quoted(&self.args.config.display().to_string()),
            activity.to_owned(),
        ];
        if let Some(cycles) = cycles {
            words.push(format!("--cycles {cycles}"));
        }
        if self.args.engine != Engine::Verilator {
            words.push(format!("--engine {}", self.args.engine.name()));
        }
        if let Some(folder) = &self.args.rtl {
            words.push(format!("--rtl {}", quoted(&folder.display().to_string())));
        }
        words.join(" ")
    }

    /// Where the waveform goes, if there is to be one.
    fn wave_path(&self, mismatch: bool) -> Option<PathBuf> {
        match (&self.args.wave, mismatch, self.args.engine) {
            (Some(path), _, _) => Some(path.clone()),
            (None, false, _) => None,
            (None, true, Engine::Verilator) => Some("linkdoze-mismatch.fst".into()),
            (None, true, Engine::Native) => Some("linkdoze-mismatch.vcd".into()),
        }
    }

    fn recorder(&self, path: &Path, window: Window) -> Result<Recorder> {
        let (plan, period) = (self.design.plan(), self.design.period_ps());
        match &self.hardware {
            Hardware::Verilator(_) => {
                let model = match &self.traced {
                    Some(model) => model.clone(),
                    None => Compiled::traced(&self.files, plan, format_of(path)?)?,
                };
                Recorder::verilator(&model, path, window, period)
            }
            Hardware::Native(design) => {
                Recorder::native(design.native()?, plan, path, window, period)
            }
        }
    }

    /// Replays the run into a recorder. A file that nobody named may become a VCD where
    /// FST cannot be built.
    fn record(
        &self,
        mismatch: Option<u64>,
        replay: impl Fn(&mut Recorder) -> Result<()>,
    ) -> Option<Result<PathBuf>> {
        let path = self.wave_path(mismatch.is_some())?;
        let window = mismatch.map_or(
            Window {
                first: 0,
                end: WAVE_CYCLES,
            },
            Window::around,
        );
        let attempt = |path: &Path| -> Result<PathBuf> {
            let mut recorder = self.recorder(path, window)?;
            replay(&mut recorder)?;
            recorder.finish()?;
            Ok(path.to_owned())
        };
        let first = attempt(&path);
        if first.is_err() && self.args.wave.is_none() && self.args.engine == Engine::Verilator {
            return Some(attempt(&path.with_extension("vcd")));
        }
        Some(first)
    }

    /// Prints the summary; exit status 1 after a mismatch.
    fn conclude(&self, summary: &Summary, out: &mut dyn Write) -> Result<Outcome> {
        let plan = self.design.plan();
        let pins = Outputs::pins(plan).len() as u64;
        let seconds = summary.elapsed.as_secs_f64();
        let rate = summary.tally.cycles as f64 / seconds.max(1e-9);
        let (version, clocking) = match &self.hardware {
            Hardware::Verilator(model) => (Some(model.version.as_str()), Some(model.clocking)),
            Hardware::Native(_) => (None, None),
        };
        let wave = match &summary.wave {
            Some(Ok(path)) => Some(path.display().to_string()),
            Some(Err(_)) | None => None,
        };
        if let Some(Err(error)) = &summary.wave {
            if self.args.wave.is_some() && summary.mismatch.is_none() {
                bail!("the run has no mismatch, but there is no waveform: {error:#}");
            }
            eprintln!("note: no waveform: {error:#}");
        }
        if self.args.json {
            let mut value = json!({
                "engine": self.args.engine.name(),
                "verilator": version,
                "clocking": clocking,
                "activity": summary.activity,
                "cycles": summary.tally.cycles,
                "mismatches": u64::from(summary.mismatch.is_some()),
                "comparisons": summary.tally.cycles.saturating_mul(pins),
                "elapsed_s": seconds,
                "cycles_per_second": rate,
                "hits": summary.tally.hits,
                "misses": summary.tally.misses,
                "updates": summary.tally.updates,
                "state_cycles": report::states_json(&summary.tally),
                "coverage": report::coverage_json(&summary.coverage, plan, &summary.affordable),
                "wave": wave,
            });
            if !summary.ports.is_empty() {
                value["ports"] = summary
                    .ports
                    .iter()
                    .map(|port| {
                        json!({
                            "cycles": port.cycles,
                            "hits": port.hits,
                            "misses": port.misses,
                            "state_cycles": report::states_json(port),
                        })
                    })
                    .collect();
            }
            if let Some(found) = &summary.mismatch {
                value["mismatch"] = report::mismatch_json(&found.mismatch, plan, found.port);
                value["command"] = json!(found.command);
                eprintln!("{}", report::mismatch(&found.mismatch, plan, found.port));
            }
            writeln!(out, "{}", serde_json::to_string_pretty(&value)?)?;
        } else {
            if let Some(found) = &summary.mismatch {
                writeln!(
                    out,
                    "{}\n",
                    report::mismatch(&found.mismatch, plan, found.port)
                )?;
            }
            writeln!(
                out,
                "corners\n{}\n\n{}\n",
                report::coverage(&summary.coverage, plan, &summary.affordable),
                report::tally(&summary.tally, self.design.period_ps()),
            )?;
            let engine = match (version, clocking) {
                (Some(version), Some(clocking)) => format!("{version}, clocked by {clocking}"),
                _ => "native".to_owned(),
            };
            writeln!(out, "activity: {}", summary.activity)?;
            writeln!(out, "engine: {engine}")?;
            if !summary.ports.is_empty() {
                writeln!(out, "ports: {}", summary.ports.len())?;
            }
            writeln!(
                out,
                "cycles: {} in {seconds:.2} s ({:.2} million per second)",
                summary.tally.cycles,
                rate / 1e6
            )?;
            writeln!(
                out,
                "comparisons: {} ({pins} outputs in every cycle)",
                summary.tally.cycles.saturating_mul(pins)
            )?;
            if let Some(path) = wave {
                writeln!(out, "waveform: {path}")?;
            }
            if let Some(found) = &summary.mismatch {
                writeln!(out, "again: {}", found.command)?;
            }
            writeln!(out, "mismatches: {}", u64::from(summary.mismatch.is_some()))?;
        }
        Ok(match summary.mismatch {
            Some(_) => Outcome::CheckFailed,
            None => Outcome::Done,
        })
    }
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// One activity of an open-loop run.
type MakeActivity<'a> = Box<dyn Fn() -> Box<dyn Activity> + Sync + 'a>;

struct Job<'a> {
    make: MakeActivity<'a>,
    /// What drives it, as arguments.
    argument: String,
}

/// What became of one activity.
struct JobDone {
    tally: Tally,
    coverage: Coverage,
    mismatch: Option<Mismatch>,
    stopped: bool,
}

/// `--random` and `--periods`: one port, whose inputs do not wait for others.
///
/// # Errors
/// Bad input, a missing tool, or an engine that fails.
pub fn run_open_loop<D: Design + Sync>(args: &Args, design: &D) -> Result<Outcome> {
    open_loop(args, design, &mut std::io::stdout().lock())
}

fn open_loop<D: Design + Sync>(args: &Args, design: &D, out: &mut dyn Write) -> Result<Outcome> {
    let plan = design.plan();
    let mut jobs: Vec<Job> = Vec::new();
    let cycles;
    let named_cycles;
    let activity;
    let mut affordable: Box<dyn Fn(Corner) -> bool> = Box::new(|_| true);
    if let Some(path) = &args.periods {
        let whole = Periods::read(path, plan.clocks_per_tick)?;
        cycles = args.cycles.unwrap_or(u64::MAX).min(whole.cycles());
        named_cycles = args.cycles;
        activity = format!("periods of {}", path.display());
        jobs.push(Job {
            make: Box::new(move || Box::new(whole.clone())),
            argument: format!("--periods {}", quoted(&path.display().to_string())),
        });
    } else {
        let usual = match args.engine {
            Engine::Verilator => RANDOM_CYCLES,
            Engine::Native => NATIVE_CYCLES,
        };
        cycles = args.cycles.unwrap_or(usual);
        named_cycles = Some(cycles);
        let seeds = args.seed.unwrap_or(Seeds { first: 1, last: 1 });
        activity = if seeds.first == seeds.last {
            format!("random, seed {}", seeds.first)
        } else {
            format!("random, seeds {} to {}", seeds.first, seeds.last)
        };
        for seed in seeds.first..=seeds.last {
            jobs.push(Job {
                make: Box::new(move || Box::new(Random::new(plan, seed, cycles))),
                argument: format!("--random --seed {seed}"),
            });
        }
        let plan = *plan;
        affordable = Box::new(move |corner| affords(&plan, cycles, corner));
    }

    let session = Session::new(args, design)?;
    let bar = session.progress(cycles.saturating_mul(jobs.len() as u64))?;
    let failed = AtomicBool::new(false);
    let stop = || session.interrupted.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed);
    let done: Vec<JobDone> = jobs
        .par_iter()
        .map(|job| -> Result<JobDone> {
            let mut coverage = Coverage::new(plan);
            let mut pair = LockStep::new(design.golden(), session.hardware.instance()?);
            let mut unshown = 0;
            let ended = pair.drive((job.make)().as_mut(), cycles, |_, runs| {
                coverage.observe(runs);
                unshown += runs.iter().map(|run| run.cycles).sum::<u64>();
                // Drawing costs more than a batch.
                if unshown > 500_000 {
                    bar.inc(std::mem::take(&mut unshown));
                }
                if stop() {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            })?;
            bar.inc(unshown);
            let mut mismatch = None;
            let mut stopped = false;
            match ended {
                Ended::Mismatch(found) => {
                    failed.store(true, Ordering::Relaxed);
                    mismatch = Some(*found);
                }
                Ended::Stopped => stopped = true,
                Ended::Complete | Ended::ActivityOver => {}
            }
            Ok(JobDone {
                tally: *pair.tally(),
                coverage,
                mismatch,
                stopped,
            })
        })
        .collect::<Result<_>>()?;
    let elapsed = session.started.elapsed();
    bar.finish_and_clear();

    let mut tally = Tally::default();
    let mut coverage = Coverage::new(plan);
    for one in &done {
        tally.merge(&one.tally);
        coverage.merge(&one.coverage);
    }
    let at = done.iter().position(|one| one.mismatch.is_some());
    let found = at.and_then(|at| {
        Some(Found {
            mismatch: done[at].mismatch.clone()?,
            port: None,
            command: session.command(&jobs[at].argument, named_cycles),
        })
    });
    if found.is_none() && done.iter().any(|one| one.stopped) {
        bail!(
            "interrupted after {} cycles, all of them equal; nothing was written",
            tally.cycles
        );
    }
    let mismatch_cycle = found.as_ref().map(|found| found.mismatch.cycle);
    let job = &jobs[at.unwrap_or(0)];
    let wave = session.record(mismatch_cycle, |recorder| {
        let mut pair = LockStep::new(design.golden(), &mut *recorder);
        let limit = mismatch_cycle.map_or(WAVE_CYCLES, |cycle| Window::around(cycle).end);
        // The same cycles again: the activity must be told the same length.
        pair.drive((job.make)().as_mut(), cycles.min(limit), |_, _| {
            if session.interrupted.load(Ordering::Relaxed) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        ensure!(
            !session.interrupted.load(Ordering::Relaxed),
            "interrupted while the waveform was recorded"
        );
        Ok(())
    });
    session.conclude(
        &Summary {
            activity,
            tally,
            ports: Vec::new(),
            coverage,
            affordable,
            elapsed,
            mismatch: found,
            wave,
        },
        out,
    )
}

/// Cuts every port's activity off after so many cycles, and stops when all are there.
struct Limited<'a, S: ?Sized> {
    sink: &'a mut S,
    limit: u64,
    cycles: Vec<u64>,
}

impl<S: ActivitySink + ?Sized> ActivitySink for Limited<'_, S> {
    fn feed(
        &mut self,
        port: usize,
        cycles: u64,
        inputs: &Inputs,
        outputs: &Outputs,
    ) -> ControlFlow<()> {
        let part = cycles.min(self.limit - self.cycles[port]);
        self.cycles[port] += part;
        self.sink.feed(port, part, inputs, outputs)?;
        if self.cycles.iter().all(|&done| done == self.limit) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

/// `--scenario`: the ports of a switch. `feed` runs the scenario with the golden models
/// and tells the sink what their pins did, from cycle 0; it is called again to record a
/// waveform, and ends early without an error when the sink breaks.
///
/// # Errors
/// Bad input, a missing tool, or an engine that fails.
pub fn run_scenario<D: Design + Sync>(
    args: &Args,
    design: &D,
    ports: usize,
    feed: &dyn Fn(&mut dyn ActivitySink) -> Result<()>,
) -> Result<Outcome> {
    scenario(args, design, ports, feed, &mut std::io::stdout().lock())
}

fn scenario<D: Design + Sync>(
    args: &Args,
    design: &D,
    ports: usize,
    feed: &dyn Fn(&mut dyn ActivitySink) -> Result<()>,
    out: &mut dyn Write,
) -> Result<Outcome> {
    ensure!(
        args.wave_port < ports,
        "--wave-port {}: the scenario has ports 0 to {}",
        args.wave_port,
        ports.saturating_sub(1)
    );
    let path = args.scenario.clone().unwrap_or_default();
    let session = Session::new(args, design)?;
    let engines = (0..ports)
        .map(|_| session.hardware.instance())
        .collect::<Result<Vec<_>>>()?;
    let limit = args.cycles.unwrap_or(u64::MAX);
    let bar = session.progress(limit.saturating_mul(ports as u64))?;
    let seen = Arc::new(AtomicU64::new(0));
    let watch = {
        let (bar, interrupted) = (bar.clone(), Arc::clone(&session.interrupted));
        let seen = Arc::clone(&seen);
        move |cycles: u64| {
            bar.set_position(cycles);
            seen.store(cycles, Ordering::Relaxed);
            if interrupted.load(Ordering::Relaxed) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        }
    };
    let mut bench = Bench::new(design.plan(), engines, watch);
    feed(&mut Limited {
        sink: &mut bench,
        limit,
        cycles: vec![0; ports],
    })?;
    let Results {
        tallies,
        coverage,
        mismatch,
    } = bench.finish()?;
    let elapsed = session.started.elapsed();
    bar.finish_and_clear();
    if mismatch.is_none() && session.interrupted.load(Ordering::Relaxed) {
        bail!(
            "interrupted after {} cycles of all ports, all of them equal; nothing was written",
            seen.load(Ordering::Relaxed)
        );
    }
    let mut tally = Tally::default();
    for port in &tallies {
        tally.merge(port);
    }
    let argument = format!("--scenario {}", quoted(&path.display().to_string()));
    let (port, cycle) = mismatch
        .as_ref()
        .map_or((args.wave_port, None), |(port, found)| {
            (*port, Some(found.cycle))
        });
    let wave = session.record(cycle, |recorder| {
        let mut outcome = Ok(());
        let mut left = limit;
        let mut sink = OnePort {
            port,
            take: |run: &Run| {
                let part = run.cycles.min(left);
                left -= part;
                outcome = recorder.feed(&[run.with_cycles(part)]);
                if outcome.is_err() || recorder.is_complete() || left == 0 {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            },
        };
        feed(&mut sink)?;
        outcome
    });
    let found = mismatch.map(|(port, mismatch)| Found {
        mismatch,
        port: Some(port),
        command: session.command(&argument, args.cycles),
    });
    session.conclude(
        &Summary {
            activity: format!("scenario {}", path.display()),
            tally,
            ports: tallies,
            coverage,
            affordable: Box::new(|_| true),
            elapsed,
            mismatch: found,
            wave,
        },
        out,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::plan::{Policy, PortPlan};
    use crate::cosim::fixture::{small_plan, Fixture};
    use crate::cosim::Model;
    use clap::Parser;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        args: Args,
    }

    fn args(words: &[&str]) -> Args {
        Command::try_parse_from(["cosim", "port.toml"].iter().chain(words))
            .unwrap_or_else(|error| panic!("{error}"))
            .args
    }

    fn fixture() -> Fixture {
        Fixture { plan: small_plan() }
    }

    fn run(words: &[&str]) -> Result<(Outcome, String)> {
        let mut out = Vec::new();
        let outcome = open_loop(&args(words), &fixture(), &mut out)?;
        Ok((outcome, String::from_utf8(out)?))
    }

    /// The fixture's Verilog in a folder, with one place edited.
    fn edited(from: &str, to: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let (name, text) = fixture().verilog().unwrap().remove(0);
        assert!(text.contains(from), "{from}");
        std::fs::write(folder.path().join(name), text.replacen(from, to, 1)).unwrap();
        folder
    }

    #[test]
    fn a_correct_design_has_no_mismatch() {
        let (outcome, text) =
            run(&["--random", "--cycles", "150000", "--seed", "1..3", "--json"]).unwrap();
        assert_eq!(outcome, Outcome::Done);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["cycles"], 450_000);
        assert_eq!(value["mismatches"], 0);
        assert_eq!(value["comparisons"], 450_000 * 9);
        assert_eq!(value["engine"], "verilator");
        assert!(value["verilator"]
            .as_str()
            .unwrap()
            .starts_with("Verilator 5"));
        assert!(value["cycles_per_second"].as_f64().unwrap() > 0.0);
        assert_eq!(value["coverage"]["unreached"], json!({}));
    }

    #[test]
    fn an_edited_operator_is_found_shown_and_reproduced() {
        for (from, to) in [
            ("idle_q >= t_pdt_q", "idle_q > t_pdt_q"),
            ("ended & ~left_q", "ended & left_q"),
            ("idle_q + 12'd1", "idle_q - 12'd1"),
            (
                "pending_q <= pending_q | wake",
                "pending_q <= pending_q & wake",
            ),
            ("queue_nonempty | remote_up", "queue_nonempty ^ remote_up"),
            ("(idle_q > 12'd128)", "(idle_q >= 12'd2000)"),
        ] {
            let folder = edited(from, to);
            let wave = folder.path().join("wave.vcd");
            let words = [
                "--random",
                "--cycles",
                "400000",
                "--seed",
                "7",
                "--rtl",
                folder.path().to_str().unwrap(),
                "--wave",
                wave.to_str().unwrap(),
            ];
            let (outcome, text) = run(&words).unwrap();
            assert_eq!(outcome, Outcome::CheckFailed, "{from} -> {to}\n{text}");
            assert!(text.contains("mismatch in cycle"), "{text}");
            assert!(text.contains("mismatches: 1"), "{text}");
            assert!(
                text.contains(
                    "again: linkdoze cosim port.toml --random --seed 7 --cycles 400000 --rtl"
                ),
                "{text}"
            );
            let shown = std::fs::read_to_string(&wave).unwrap();
            assert!(shown.contains("golden_t_pdt") && shown.contains("mismatch"));
            let (again, repeated) = run(&words).unwrap();
            assert_eq!(again, Outcome::CheckFailed);
            assert_eq!(text.lines().next(), repeated.lines().next());
        }
    }

    #[test]
    fn a_waveform_is_written_without_a_mismatch_too() {
        let folder = tempfile::tempdir().unwrap();
        for (name, engine) in [
            ("a.fst", "verilator"),
            ("b.vcd", "verilator"),
            ("c.vcd", "native"),
        ] {
            let wave = folder.path().join(name);
            let path = wave.to_str().unwrap();
            match run(&[
                "--random", "--cycles", "3000", "--engine", engine, "--wave", path,
            ]) {
                Ok((outcome, text)) => {
                    assert_eq!(outcome, Outcome::Done);
                    assert!(text.contains(name), "{text}");
                    assert!(std::fs::metadata(&wave).unwrap().len() > 1000);
                }
                // FST needs libraries that a machine may lack; it must say which.
                Err(error) => {
                    let text = format!("{error:#}");
                    assert!(name == "a.fst" && text.contains("zlib1g-dev"), "{text}");
                    assert!(!wave.exists());
                }
            }
        }
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            let name = entry.unwrap().file_name();
            assert!(["a.fst", "b.vcd", "c.vcd"].contains(&name.to_str().unwrap()));
        }
    }

    #[test]
    fn both_engines_write_the_same_pins() {
        let folder = tempfile::tempdir().unwrap();
        let read = |name: &str, engine: &str| {
            let wave = folder.path().join(name);
            run(&[
                "--random",
                "--cycles",
                "2000",
                "--engine",
                engine,
                "--wave",
                wave.to_str().unwrap(),
            ])
            .unwrap();
            let text = std::fs::read(&wave).unwrap();
            let mut parser = vcd::Parser::new(&text[..]);
            let header = parser.parse_header().unwrap();
            // What Verilator calls the scope above the top module depends on its version.
            let id = [
                &["port", "t_pdt"][..],
                &["top", "lockstep", "t_pdt"],
                &["TOP", "lockstep", "t_pdt"],
                &["lockstep", "t_pdt"],
            ]
            .iter()
            .find_map(|path| header.find_var(path))
            .expect("t_pdt")
            .code;
            let mut time = 0;
            let mut changes = Vec::new();
            for command in parser {
                match command.unwrap() {
                    vcd::Command::Timestamp(now) => time = now,
                    vcd::Command::ChangeVector(code, value) if code == id => {
                        let number = value
                            .iter()
                            .fold(0u64, |sum, bit| sum << 1 | u64::from(bit == vcd::Value::V1));
                        changes.push((time, number));
                    }
                    _ => {}
                }
            }
            changes
        };
        let verilated = read("a.vcd", "verilator");
        assert!(verilated.len() > 20);
        assert_eq!(verilated, read("b.vcd", "native"));
    }

    #[test]
    fn periods_are_driven_to_their_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("periods.csv");
        std::fs::write(&path, "busy,idle\n3,20\n1,50\n2,39\n").unwrap();
        let (outcome, text) = run(&[
            "--periods",
            path.to_str().unwrap(),
            "--engine",
            "native",
            "--json",
        ])
        .unwrap();
        assert_eq!(outcome, Outcome::Done);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["cycles"], 3 + 20 + 1 + 50 + 2 + 39 + 1);
        assert_eq!(value["engine"], "native");
    }

    #[test]
    fn what_is_not_a_port_is_refused_with_a_reason() {
        let empty = tempfile::tempdir().unwrap();
        let cases = [
            (edited("module port", "module harbour"), "no module `port`"),
            (
                edited("    output miss,\n", "    output missed,\n"),
                "`miss` (1 bits) is missing",
            ),
            (
                edited("output [2:0] power_state", "output [3:0] power_state"),
                "`power_state` is 4 bits wide instead of 3",
            ),
            (
                edited("    input rst,", "    input rst,\n    input test_mode,"),
                "`test_mode` (1 bits) is not one",
            ),
            (edited("endmodule", "endmodul"), "refuses the design"),
            (empty, "no Verilog files"),
        ];
        for (folder, part) in cases {
            let error = run(&["--random", "--rtl", folder.path().to_str().unwrap()])
                .err()
                .unwrap_or_else(|| panic!("no error: {part}"));
            assert!(format!("{error:#}").contains(part), "{error:#}");
        }
    }

    #[test]
    fn a_design_that_stops_the_simulation_is_an_error() {
        let folder = edited(
            "hit_q <= ended",
            "if (window_q > 12'd40) $finish;\n        hit_q <= ended",
        );
        let error =
            run(&["--random", "--rtl", folder.path().to_str().unwrap()]).expect_err("an error");
        assert!(format!("{error:#}").contains("$finish"), "{error:#}");
    }

    #[test]
    fn seeds_and_options_are_checked() {
        assert_eq!("1..5".parse(), Ok(Seeds { first: 1, last: 5 }));
        assert_eq!("9".parse(), Ok(Seeds { first: 9, last: 9 }));
        for bad in ["", "x", "-1", "5..1", "1..", "0..99999999"] {
            assert!(bad.parse::<Seeds>().is_err(), "{bad}");
        }
        for bad in [
            &["--random", "--periods", "x.csv"][..],
            &[],
            &["--periods", "x.csv", "--seed", "1"],
            &["--random", "--cycles", "0"],
            &["--random", "--engine", "icarus"],
        ] {
            let words = ["cosim", "port.toml"].iter().chain(bad);
            assert!(Command::try_parse_from(words).is_err(), "{bad:?}");
        }
        for (words, part) in [
            (&["--random", "--wave", "wave.txt"][..], ".fst or .vcd"),
            (
                &["--random", "--wave", "/no/such/folder/w.vcd"],
                "no folder",
            ),
            (
                &["--random", "--engine", "native", "--wave", "w.fst"],
                ".vcd",
            ),
            (
                &["--random", "--engine", "native", "--rtl", "rtl"],
                "--engine verilator",
            ),
            (&["--random", "--rtl", "/no/such/folder"], "/no/such/folder"),
            (&["--periods", "/no/such/file.csv"], "cannot read"),
        ] {
            let error = run(words).err().unwrap_or_else(|| panic!("{words:?}"));
            assert!(format!("{error:#}").contains(part), "{error:#}");
        }
    }

    /// Four ports with random activity of their own in place of a switch.
    fn feed(plan: PortPlan) -> impl Fn(&mut dyn ActivitySink) -> Result<()> {
        move |sink| {
            let mut ports: Vec<_> = (0..4)
                .map(|seed| {
                    (
                        Fixture { plan }.golden(),
                        Random::new(&plan, seed, 60_000),
                        0,
                    )
                })
                .collect();
            while ports.iter().any(|port| port.2 < 60_000) {
                for (port, (golden, activity, done)) in ports.iter_mut().enumerate() {
                    let outputs = golden.outputs();
                    let Some(stretch) = activity.next(&outputs) else {
                        return Ok(());
                    };
                    let clocked = golden.advance(&stretch.inputs, stretch.cycles.min(500));
                    *done += clocked;
                    if sink
                        .feed(port, clocked, &stretch.inputs, &outputs)
                        .is_break()
                    {
                        return Ok(());
                    }
                }
            }
            Ok(())
        }
    }

    #[test]
    fn a_scenario_runs_one_instance_per_port() {
        let plan = PortPlan {
            policy: Policy::Fixed,
            ..small_plan()
        };
        let fixture = Fixture { plan };
        let mut out = Vec::new();
        let arguments = args(&["--scenario", "s.toml", "--cycles", "20000", "--json"]);
        let outcome = scenario(&arguments, &fixture, 4, &feed(plan), &mut out).unwrap();
        assert_eq!(outcome, Outcome::Done);
        let value: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(value["cycles"], 80_000);
        assert_eq!(value["ports"].as_array().unwrap().len(), 4);
        assert_eq!(value["ports"][3]["cycles"], 20_000);
        assert_eq!(value["mismatches"], 0);
    }

    #[test]
    fn a_mismatch_of_a_scenario_names_its_port() {
        // The golden models sleep a cycle earlier than the hardware.
        let told = PortPlan {
            t_pdt_init: 39,
            policy: Policy::Fixed,
            ..small_plan()
        };
        let fixture = Fixture {
            plan: PortPlan {
                t_pdt_init: 40,
                ..told
            },
        };
        let folder = tempfile::tempdir().unwrap();
        let wave = folder.path().join("s.vcd");
        let arguments = args(&["--scenario", "s.toml", "--wave", wave.to_str().unwrap()]);
        let mut out = Vec::new();
        let outcome = scenario(&arguments, &fixture, 4, &feed(told), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(outcome, Outcome::CheckFailed);
        assert!(text.contains("mismatch in cycle 0, port 0"), "{text}");
        assert!(text.contains("t_pdt"), "{text}");
        assert!(
            text.contains("again: linkdoze cosim port.toml --scenario s.toml"),
            "{text}"
        );
        assert!(wave.exists());
    }
}
