//! What every co-simulation run of the command shares: the compiled hardware, the waveform,
//! the report at the end.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Result};
use serde_json::{json, Value};

use super::{report, Args, Engine};
use crate::blocks::port::pins::Outputs;
use crate::cli::progress::{count, Step};
use crate::cli::{output, Orderly, Outcome};
use crate::cosim::code_coverage::CodeCoverage;
use crate::cosim::coverage::{Corner, Coverage};
use crate::cosim::native::Native;
use crate::cosim::verilator::{self, BuildError, Compiled, WaveFormat};
use crate::cosim::wave::{format_of, Recorder, Window};
use crate::cosim::{Design, Mismatch, Rtl, Tally};
use crate::files;

/// Cycles that `--wave` shows of a run without mismatch, from its beginning.
pub(super) const WAVE_CYCLES: u64 = 100_000;

/// The hardware, ready to be instantiated.
pub(super) enum Hardware<'a, D> {
    Verilator(Compiled),
    Native(&'a D),
}

impl<D: Design> Hardware<'_, D> {
    /// Whether it leaps over idle time.
    pub(super) fn leaps(&self) -> bool {
        match self {
            Hardware::Verilator(model) => model.leaps,
            Hardware::Native(_) => false,
        }
    }

    pub(super) fn instance(&self) -> Result<Box<dyn Rtl + Send>> {
        Ok(match self {
            Hardware::Verilator(model) => Box::new(model.engine()?),
            Hardware::Native(design) => Box::new(Native::new(design.native()?, design.plan())?),
        })
    }
}

/// A run of the command: the arguments, the design, its Verilog.
pub(super) struct Session<'a, D> {
    pub(super) args: &'a Args,
    pub(super) design: &'a D,
    pub(super) files: Vec<(String, String)>,
    pub(super) hardware: Hardware<'a, D>,
    /// Built before the run when a waveform was asked for, so that a missing library is
    /// told at once.
    pub(super) traced: Option<Compiled>,
    pub(super) started: Instant,
    orderly: Orderly,
}

/// What is reported at the end.
pub(super) struct Summary {
    /// What was driven: `random, seeds 1 to 5`.
    pub(super) activity: String,
    pub(super) tally: Tally,
    pub(super) ports: Vec<Tally>,
    pub(super) coverage: Coverage,
    /// Empty unless it is asked for.
    pub(super) code: CodeCoverage,
    pub(super) affordable: Box<dyn Fn(Corner) -> bool>,
    pub(super) elapsed: Duration,
    pub(super) mismatch: Option<Found>,
    /// What the application and the links of a scenario did.
    pub(super) scenario: Option<SwitchReport>,
    /// The waveform that was written, or why there is none.
    pub(super) wave: Option<Result<PathBuf>>,
}

/// What a scenario tells beside the comparison: the same for people and as JSON.
pub(super) struct SwitchReport {
    pub(super) text: String,
    pub(super) json: Value,
}

pub(super) struct Found {
    pub(super) mismatch: Mismatch,
    pub(super) port: Option<usize>,
    pub(super) command: String,
}

impl<'a, D: Design + Sync> Session<'a, D> {
    pub(super) fn new(args: &'a Args, design: &'a D) -> Result<Session<'a, D>> {
        check_wave(args)?;
        let mut files = Vec::new();
        let hardware = match args.engine {
            Engine::Native => {
                ensure!(
                    args.rtl.is_none(),
                    "--rtl takes Verilog, which the native engine does not read: use --engine verilator"
                );
                ensure!(
                    !args.code_coverage,
                    "--code-coverage is of Verilog, which the native engine does not read: use --engine verilator"
                );
                Hardware::Native(design)
            }
            Engine::Verilator => {
                files = match &args.rtl {
                    Some(folder) => verilator::read_folder(folder)?,
                    None => design.verilog()?,
                };
                let model = compiled(|| match args.code_coverage {
                    true => Compiled::covering(&files, design.plan()),
                    false => Compiled::fast(&files, design.plan()),
                })?;
                tell_extra_outputs(&model);
                Hardware::Verilator(model)
            }
        };
        let traced = match (&args.wave, args.engine) {
            (Some(path), Engine::Verilator) => {
                let format = format_of(path)?;
                Some(compiled(|| {
                    Compiled::traced(&files, design.plan(), format)
                })?)
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
            orderly: Orderly::begin(),
        })
    }

    /// A signal came: the run is to end.
    pub(super) fn interrupted(&self) -> bool {
        self.orderly.interrupted()
    }

    /// The command that shows this mismatch again.
    pub(super) fn command(&self, activity: &str, cycles: Option<u64>) -> String {
        command(self.args, activity, cycles)
    }

    fn recorder(&self, path: &Path, window: Window) -> Result<Recorder> {
        let (plan, period) = (self.design.plan(), self.design.period_ps());
        match &self.hardware {
            Hardware::Verilator(_) => {
                let model = match &self.traced {
                    Some(model) => model.clone(),
                    None => {
                        let format = format_of(path)?;
                        compiled(|| Compiled::traced(&self.files, plan, format))?
                    }
                };
                Recorder::verilator(&model, path, window, period)
            }
            Hardware::Native(design) => {
                Recorder::native(design.native()?, plan, path, window, period)
            }
        }
    }

    /// Replays the run into a recorder ([`record`]).
    pub(super) fn record(
        &self,
        mismatch: Option<u64>,
        replay: impl Fn(&mut Recorder) -> Result<()>,
    ) -> Option<Result<PathBuf>> {
        record(self.args, mismatch, |path, window| {
            let mut recorder = self.recorder(path, window)?;
            replay(&mut recorder)?;
            recorder.finish()
        })
    }

    /// Prints the summary for people: first the verdict, last what `--all` adds.
    fn print(&self, summary: &Summary, wave: Option<&str>, out: &mut dyn Write) -> Result<()> {
        let plan = self.design.plan();
        let tally = &summary.tally;
        let pins = Outputs::pins(plan).len() as u64;
        let seconds = summary.elapsed.as_secs_f64();
        let engine = match &self.hardware {
            Hardware::Verilator(model) => {
                format!("{}, clocked by {}", model.version, model.clocking)
            }
            Hardware::Native(_) => "native".to_owned(),
        };
        writeln!(out, "mismatches: {}", u64::from(summary.mismatch.is_some()))?;
        writeln!(
            out,
            "cycles: {} in {seconds:.2} s ({} per second)",
            tally.cycles,
            count(tally.cycles as f64 / seconds.max(1e-9))
        )?;
        writeln!(
            out,
            "comparisons: {} ({pins} outputs in every cycle)",
            tally.cycles.saturating_mul(pins)
        )?;
        if tally.leapt > 0 {
            writeln!(
                out,
                "besides: {} idle cycles not clocked; before each stretch of them counts inside the \
                 port are compared",
                tally.leapt
            )?;
        }
        if let Some(found) = &summary.mismatch {
            writeln!(out, "again: {}", found.command)?;
        }
        if let Some(path) = wave {
            writeln!(out, "waveform: {path}")?;
        }
        writeln!(out, "activity: {}", summary.activity)?;
        if !summary.ports.is_empty() {
            writeln!(out, "ports: {}", summary.ports.len())?;
        }
        writeln!(out, "engine: {engine}")?;
        write!(out, "{}", report::tally(tally))?;
        // An application goes where it goes; random activity is meant to go everywhere.
        // A mismatch ends the run early: what was not reached means nothing.
        let covers = summary.ports.is_empty() && summary.mismatch.is_none();
        if let Some(report) = &summary.scenario {
            write!(out, "{}", report.text)?;
        }
        if let Some(found) = &summary.mismatch {
            let text = report::mismatch(&found.mismatch, plan, found.port);
            write!(out, "\n{text}")?;
        }
        if self.args.all {
            let states = report::states(tally, self.design.period_ps());
            write!(out, "\n{states}")?;
            if covers {
                let corners = report::coverage(&summary.coverage, plan, &summary.affordable);
                write!(out, "\n{corners}\n")?;
            }
        }
        if !summary.code.is_empty() {
            write!(
                out,
                "\n{}",
                report::code(&summary.code, &self.files, self.args.all)
            )?;
        }
        if covers {
            let corners = report::corners(&summary.coverage, plan, &summary.affordable);
            write!(out, "{corners}")?;
        }
        Ok(())
    }

    /// Prints the summary; exit status 1 after a mismatch.
    pub(super) fn conclude(&self, summary: &Summary, out: &mut dyn Write) -> Result<Outcome> {
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
            output::note(&format!("note: no waveform: {error:#}"));
        }
        if self.args.json {
            let mut value = json!({
                "engine": self.args.engine.name(),
                "verilator": version,
                "clocking": clocking,
                "activity": summary.activity,
                "cycles": summary.tally.cycles,
                "leapt_cycles": summary.tally.leapt,
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
                "notes": self.design.notes(),
            });
            if !summary.code.is_empty() {
                value["code_coverage"] = report::code_json(&summary.code);
            }
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
            if let Some(report) = &summary.scenario {
                value["scenario"] = report.json.clone();
            }
            if let Some(found) = &summary.mismatch {
                value["mismatch"] = report::mismatch_json(&found.mismatch, plan, found.port);
                value["command"] = json!(found.command);
                let text = report::mismatch(&found.mismatch, plan, found.port);
                output::message(text.trim_end());
            }
            writeln!(out, "{}", serde_json::to_string_pretty(&value)?)?;
        } else {
            self.print(summary, wave.as_deref(), out)?;
        }
        let missed = self.args.all_corners && !summary.coverage.missed().is_empty();
        Ok(match &summary.mismatch {
            None if !missed => Outcome::Done,
            _ => Outcome::CheckFailed,
        })
    }
}

/// Checks the name of the waveform that is asked for, before anything runs.
pub(super) fn check_wave(args: &Args) -> Result<()> {
    if let Some(path) = &args.wave {
        let format = format_of(path)?;
        ensure!(
            args.engine == Engine::Verilator || format == WaveFormat::Vcd,
            "{}: the native engine writes VCD only: give a name that ends in .vcd",
            path.display()
        );
        let inputs = [
            Some(&args.config),
            args.periods.as_ref(),
            args.scenario.as_ref(),
        ];
        files::refuse_to_replace([path], inputs.into_iter().flatten())?;
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
        // What cannot be written is told before the run, not after it.
        files::Staged::new(path, "")?;
    }
    Ok(())
}

/// Says which outputs are not compared, if there are any.
pub(super) fn tell_extra_outputs(model: &Compiled) {
    if !model.extra_outputs.is_empty() {
        output::note(&format!(
            "note: outputs that the golden model does not have are not compared: {}",
            model.extra_outputs.join(", ")
        ));
    }
}

/// Where the waveform goes, if there is to be one.
fn wave_path(args: &Args, mismatch: bool) -> Option<PathBuf> {
    if args.no_wave {
        return None;
    }
    match (&args.wave, mismatch, args.engine) {
        (Some(path), _, _) => Some(path.clone()),
        (None, false, _) => None,
        (None, true, Engine::Verilator) => Some("linkdoze-mismatch.fst".into()),
        (None, true, Engine::Native) => Some("linkdoze-mismatch.vcd".into()),
    }
}

/// Records a window of the run, around the cycle of a mismatch or at the beginning, with `attempt`.
/// A file that nobody named may become a VCD where FST cannot be built.
pub(super) fn record(
    args: &Args,
    mismatch: Option<u64>,
    attempt: impl Fn(&Path, Window) -> Result<()>,
) -> Option<Result<PathBuf>> {
    let path = wave_path(args, mismatch.is_some())?;
    let window = mismatch.map_or(Window::beginning(WAVE_CYCLES), Window::around);
    let first = attempt(&path, window);
    if first.is_err() && args.wave.is_none() && args.engine == Engine::Verilator {
        let path = path.with_extension("vcd");
        return Some(attempt(&path, window).map(|()| path));
    }
    Some(first.map(|()| path))
}

/// Compiles a model, which takes a minute or so if it is not in the cache.
pub(super) fn compiled(compile: impl FnOnce() -> Result<Compiled, BuildError>) -> Result<Compiled> {
    let _step = Step::new("compiling the Verilog with Verilator");
    Ok(compile()?)
}

/// The command that shows this mismatch again.
pub(super) fn command(args: &Args, activity: &str, cycles: Option<u64>) -> String {
    let mut words = vec![
        "linkdoze".to_owned(),
        "cosim".to_owned(),
        files::shell_word(&args.config),
        activity.to_owned(),
    ];
    if let Some(cycles) = cycles {
        words.push(format!("--cycles {cycles}"));
    }
    if args.engine != Engine::Verilator {
        words.push(format!("--engine {}", args.engine.name()));
    }
    if let Some(folder) = &args.rtl {
        words.push(format!("--rtl {}", files::shell_word(folder)));
    }
    words.join(" ")
}
