//! What every co-simulation run of the command shares: the compiled hardware, the waveform,
//! the report at the end.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{json, Value};

use super::{Args, Engine};
use crate::blocks::port::pins::Outputs;
use crate::cli::{output, Outcome};
use crate::cosim::coverage::{Corner, Coverage};
use crate::cosim::native::Native;
use crate::cosim::verilator::{self, Compiled, WaveFormat};
use crate::cosim::wave::{format_of, Recorder, Window};
use crate::cosim::{report, Design, Mismatch, Rtl, Tally};

/// Cycles that `--wave` shows of a run without mismatch, from its beginning.
pub(super) const WAVE_CYCLES: u64 = 100_000;

/// Set by the first Ctrl-C; the second ends the process at once.
pub(super) fn interrupted() -> Result<Arc<AtomicBool>> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    if let Some(flag) = FLAG.get() {
        return Ok(Arc::clone(flag));
    }
    let flag = Arc::new(AtomicBool::new(false));
    let shared = Arc::clone(&flag);
    if FLAG.set(Arc::clone(&flag)).is_ok() {
        ctrlc::set_handler(move || {
            if shared.swap(true, Ordering::Relaxed) {
                crate::cli::interrupted();
            }
        })
        .context("cannot listen for Ctrl-C")?;
    }
    Ok(flag)
}

/// The hardware, ready to be instantiated.
pub(super) enum Hardware<'a, D> {
    Verilator(Compiled),
    Native(&'a D),
}

impl<D: Design> Hardware<'_, D> {
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
    pub(super) interrupted: Arc<AtomicBool>,
}

/// What is reported at the end.
pub(super) struct Summary {
    /// What was driven: `random, seeds 1 to 5`.
    pub(super) activity: String,
    pub(super) tally: Tally,
    pub(super) ports: Vec<Tally>,
    pub(super) coverage: Coverage,
    pub(super) affordable: Box<dyn Fn(Corner) -> bool>,
    pub(super) elapsed: Duration,
    pub(super) mismatch: Option<Found>,
    /// What the application and the links of a scenario did.
    pub(super) scenario: Option<Told>,
    /// The waveform that was written, or why there is none.
    pub(super) wave: Option<Result<PathBuf>>,
}

/// What a scenario tells beside the comparison: the same for people and as JSON.
pub(super) struct Told {
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
                    output::message(&format!(
                        "note: outputs that the golden model does not have are not compared: {}",
                        model.extra_outputs.join(", ")
                    ));
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

    pub(super) fn progress(&self, cycles: u64) -> Result<ProgressBar> {
        let bar = if cycles == u64::MAX {
            ProgressBar::no_length()
        } else {
            ProgressBar::new(cycles)
        };
        bar.set_style(ProgressStyle::with_template(if cycles == u64::MAX {
            "{spinner} {human_pos} cycles  {per_sec}"
        } else {
            "{wide_bar} {percent:>3} %  {human_pos} cycles  {per_sec}  {eta} left"
        })?);
        Ok(bar)
    }

    /// The command that shows this mismatch again.
    pub(super) fn command(&self, activity: &str, cycles: Option<u64>) -> String {
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
    pub(super) fn record(
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
            output::message(&format!("note: no waveform: {error:#}"));
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
                "notes": self.design.notes(),
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
            if let Some(told) = &summary.scenario {
                value["scenario"] = told.json.clone();
            }
            if let Some(found) = &summary.mismatch {
                value["mismatch"] = report::mismatch_json(&found.mismatch, plan, found.port);
                value["command"] = json!(found.command);
                output::message(&report::mismatch(&found.mismatch, plan, found.port));
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
            // An application goes where it goes; random activity is meant to go everywhere.
            // A mismatch ends the run early: what was not reached means nothing.
            if summary.ports.is_empty() && summary.mismatch.is_none() {
                let coverage = report::coverage(&summary.coverage, plan, &summary.affordable);
                writeln!(out, "corners\n{coverage}\n")?;
            }
            let tally = report::tally(&summary.tally, self.design.period_ps());
            writeln!(out, "{tally}\n")?;
            if let Some(told) = &summary.scenario {
                writeln!(out, "{}", told.text)?;
            }
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
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
