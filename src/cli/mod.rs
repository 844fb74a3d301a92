//! The command line: each subcommand in a file of its own.
//!
//! Data goes to standard output, messages and progress to standard error.
//! Exit status: 0 done and all checks hold; 1 a check failed (mismatch, stale file);
//! 2 bad input or usage; 130 interrupted by Ctrl-C.

mod completions;
mod cosim;
mod estimate;
mod generate;
mod init;
mod output;
mod predict;
mod presets;
mod report;
mod simulate;
mod sweep;
mod synth;
mod topology;
mod trace;
mod verify;

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Parser, Subcommand};

use crate::config::{Config, ConfigError};
use crate::files;

/// How a subcommand ended when nothing was wrong with its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done, and all checks hold: exit status 0.
    Done,
    /// A check failed (and was reported): exit status 1.
    CheckFailed,
}

/// Power-saving controllers for the ports of Ethernet-derived HPC switches.
#[derive(Parser)]
#[command(name = "linkdoze", version, about, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the configurations that come with the tool.
    Presets(presets::Args),
    /// Write a configuration file to start from.
    Init(init::Args),
    /// Emit the Verilog of a configuration: one file per module, and a file list.
    Generate(generate::Args),
    /// Print register widths, longest times, memory and latency of a port controller.
    Estimate(estimate::Args),
    /// Predict the power-down threshold for a list of idle periods.
    Predict(predict::Args),
    /// Run the Verilog and the golden model in lock step.
    Cosim(cosim::Args),
    /// Prove, by k-induction, what the Verilog of a configuration claims about itself.
    Verify(verify::Args),
    /// Synthesise a controller: cells, clock frequency, slowest path.
    Synth(synth::Args),
    /// Print the elements of a network and how far its packets go.
    Topology(topology::Args),
    /// Simulate a whole network under the traffic of applications or of a pattern.
    Simulate(simulate::Args),
    /// Run a scenario with many settings of its ports. After an interruption the same command
    /// goes on where it stopped.
    Sweep(sweep::Args),
    /// Draw the results of a sweep: a page, and a PNG file of each figure.
    Report(report::Args),
    /// Look into the trace of an application.
    Trace(trace::Args),
    /// Write the completions of a shell to standard output.
    Completions(completions::Args),
}

impl Command {
    fn run(&self) -> anyhow::Result<Outcome> {
        match self {
            Command::Presets(args) => presets::run(args),
            Command::Init(args) => init::run(args),
            Command::Generate(args) => generate::run(args),
            Command::Estimate(args) => estimate::run(args),
            Command::Predict(args) => predict::run(args),
            Command::Cosim(args) => cosim::run(args),
            Command::Verify(args) => verify::run(args),
            Command::Synth(args) => synth::run(args),
            Command::Topology(args) => topology::run(args),
            Command::Simulate(args) => simulate::run(args),
            Command::Sweep(args) => sweep::run(args),
            Command::Report(args) => report::run(args),
            Command::Trace(args) => trace::run(args),
            Command::Completions(args) => completions::run(args),
        }
    }
}

/// Runs the command line and returns its exit status.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(told) => return tell(&told),
    };
    // `cosim` listens on its own: it says how far it came.
    let cleans_up =
        matches!(cli.command, Command::Cosim(_)) || ctrlc::set_handler(on_ctrl_c).is_ok();
    if !cleans_up {
        output::message("note: cannot listen for Ctrl-C: it may leave temporary files behind");
    }
    match cli.command.run() {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::CheckFailed) => ExitCode::from(1),
        Err(error) => {
            output::message(&format!("error: {}", describe(&error)));
            ExitCode::from(match error.is::<Interrupted>() {
                true => INTERRUPTED_STATUS,
                false => 2,
            })
        }
    }
}

/// Reads a configuration, and says on standard error what it cannot do.
fn load(path: &Path) -> Result<Config, ConfigError> {
    let config = Config::load(path)?;
    tell_notes(&config.notes());
    Ok(config)
}

/// Says on standard error what a configuration cannot do, a line for each note.
fn tell_notes(notes: &[String]) {
    for note in notes {
        output::message(&format!("note: {note}"));
    }
}

/// Prints the help that was asked for, or what is wrong with the command line.
fn tell(told: &clap::Error) -> ExitCode {
    let printed = output::finish(told.print());
    match printed {
        Err(error) if !told.use_stderr() => {
            output::message(&format!("error: {}", describe(&error)));
            ExitCode::from(2)
        }
        _ if told.use_stderr() => ExitCode::from(2),
        _ => ExitCode::SUCCESS,
    }
}

/// Exit status after Ctrl-C: that of a program which the signal has ended, as shells tell it.
const INTERRUPTED_STATUS: u8 = 130;

/// A run that Ctrl-C has ended: how far it came.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Interrupted(String);

/// Something is under way that looks at [`Orderly::interrupted`] and ends by itself.
static ORDERLY: AtomicBool = AtomicBool::new(false);
/// Ctrl-C came in the meantime.
static NOTICED: AtomicBool = AtomicBool::new(false);

/// While it lives the first Ctrl-C does not end the process: it is only noticed.
struct Orderly;

impl Orderly {
    fn begin() -> Self {
        ORDERLY.store(true, Ordering::SeqCst);
        Self
    }

    /// Ctrl-C came: say how far it went and end, with [`Interrupted`].
    fn interrupted(&self) -> bool {
        NOTICED.load(Ordering::SeqCst)
    }
}

impl Drop for Orderly {
    fn drop(&mut self) {
        ORDERLY.store(false, Ordering::SeqCst);
    }
}

fn on_ctrl_c() {
    let noticed = ORDERLY.load(Ordering::SeqCst) && !NOTICED.swap(true, Ordering::SeqCst);
    if !noticed {
        interrupted();
    }
}

/// Ends the process; no temporary file stays.
fn interrupted() {
    files::abandon_unfinished();
    output::message("error: interrupted; nothing half-written was left behind");
    std::process::exit(INTERRUPTED_STATUS.into());
}

/// An error and its causes in one sentence; some errors quote their cause already.
fn describe(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}
