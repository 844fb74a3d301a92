//! The command line: each subcommand in a file of its own.
//!
//! Data goes to standard output, messages and progress to standard error: `--quiet` leaves errors
//! and failed checks alone there, `--verbose` adds the programs that run and how long each step
//! takes.
//! Exit status: 0 done and all checks hold; 1 a check failed (mismatch, stale file);
//! 2 bad input or usage; 130 interrupted by a signal (`interrupt`).

mod block;
mod completions;
mod cosim;
mod datasheet;
mod doctor;
mod estimate;
mod generate;
mod init;
mod interrupt;
mod man;
mod mutate;
mod netlist;
mod numbers;
mod output;
mod predict;
mod presets;
mod progress;
mod report;
mod schema;
mod simulate;
mod sweep;
mod synth;
mod topology;
mod trace;
mod verify;

use std::path::Path;
use std::process::ExitCode;

use clap::{FromArgMatches, Parser, Subcommand};

use crate::config::{Config, InputError};
use interrupt::{interrupted, Interrupted, Orderly};
use output::Level;

/// How a subcommand ended when nothing was wrong with its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done, and all checks hold: exit status 0.
    Done,
    /// A check failed (and was reported): exit status 1.
    CheckFailed,
}

/// What `--version` tells: results depend on the sources, not on their version alone.
const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\nsources (SHA-256): ",
    env!("LINKDOZE_SOURCES")
);

/// Power-saving controllers for the ports of Ethernet-derived HPC switches.
#[derive(Parser)]
#[command(name = "linkdoze", version, long_version = VERSION, about, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Tell nothing but errors and failed checks on standard error: no notes, no progress.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Tell also which programs run, their versions, and how long each step takes.
    #[arg(short, long, global = true)]
    verbose: bool,
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
    /// Write the data sheet of a controller, as Markdown or HTML: pins, timing, bounds, area.
    Datasheet(datasheet::Args),
    /// Predict the power-down threshold for a list of idle periods.
    Predict(predict::Args),
    /// Run the Verilog and the golden model in lock step.
    Cosim(cosim::Args),
    /// Put single faults into the Verilog, and see whether the co-simulation finds them.
    Mutate(mutate::Args),
    /// Prove, by k-induction, what the Verilog of a configuration claims about itself.
    Verify(verify::Args),
    /// Prove that the netlist of every block does what its Verilog does.
    Netlist(netlist::Args),
    /// Synthesise a controller: cells, clock frequency, slowest path.
    Synth(synth::Args),
    /// Print the elements of a network and how far its packets go.
    Topology(topology::Args),
    /// Simulate a whole network under the traffic of applications or of a pattern.
    Simulate(simulate::Args),
    /// Run a scenario with many settings of its ports. After an interruption the same command
    /// goes on where it stopped.
    Sweep(sweep::Args),
    /// Draw the results of a sweep, or of a run over time: a page, and a PNG file of each figure.
    ///
    /// Of a sweep that has not ended, what is there is drawn. The page needs no other file.
    Report(report::Args),
    /// Look into the trace of an application.
    Trace(trace::Args),
    /// Print which programs of others are there, and how to install what is missing.
    Doctor(doctor::Args),
    /// Print the JSON Schema of an input file, for editors and validators.
    Schema(schema::Args),
    /// Write the completions of a shell to standard output.
    Completions(completions::Args),
    /// Write the manual pages: that of linkdoze to standard output, or all of them to a folder.
    Man(man::Args),
}

impl Command {
    fn run(&self) -> anyhow::Result<Outcome> {
        match self {
            Command::Presets(args) => presets::run(args),
            Command::Init(args) => init::run(args),
            Command::Generate(args) => generate::run(args),
            Command::Estimate(args) => estimate::run(args),
            Command::Datasheet(args) => datasheet::run(args),
            Command::Predict(args) => predict::run(args),
            Command::Cosim(args) => cosim::run(args),
            Command::Mutate(args) => mutate::run(args),
            Command::Verify(args) => verify::run(args),
            Command::Netlist(args) => netlist::run(args),
            Command::Synth(args) => synth::run(args),
            Command::Topology(args) => topology::run(args),
            Command::Simulate(args) => simulate::run(args),
            Command::Sweep(args) => sweep::run(args),
            Command::Report(args) => report::run(args),
            Command::Trace(args) => trace::run(args),
            Command::Doctor(args) => doctor::run(args),
            Command::Schema(args) => schema::run(args),
            Command::Completions(args) => completions::run(args),
            Command::Man(args) => man::run(args),
        }
    }
}

/// The command line with all that it takes, for pages and tests that go by it.
pub fn command() -> clap::Command {
    with_negative_numbers(<Cli as clap::CommandFactory>::command())
}

/// Takes a negative number behind an option for its value, which is told what it may be, and not
/// for an option.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let options = |argument: clap::Arg| {
        let has_value = !argument.is_positional() && argument.get_action().takes_values();
        argument.allow_negative_numbers(has_value)
    };
    command
        .mut_args(options)
        .mut_subcommands(with_negative_numbers)
}

/// Runs the command line and returns its exit status.
pub fn main() -> ExitCode {
    let parsed = command().try_get_matches().and_then(|matches| {
        let name = matches.subcommand_name().unwrap_or_default().to_owned();
        Ok((Cli::from_arg_matches(&matches)?, name))
    });
    let (cli, name) = match parsed {
        Ok(parsed) => parsed,
        Err(usage) => return print_usage(&usage),
    };
    output::set_level(match (cli.quiet, cli.verbose) {
        (true, _) => Level::Quiet,
        (_, true) => Level::Verbose,
        _ => Level::Usual,
    });
    if let Err(error) = interrupt::listen() {
        output::note(&format!(
            "note: cannot listen for signals ({error}): they may leave temporary files behind"
        ));
    }
    match progress::begin(name).and_then(|()| cli.command.run()) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::CheckFailed) => ExitCode::from(1),
        Err(error) => {
            output::message(&format!("error: {}", describe(&error)));
            ExitCode::from(match error.is::<Interrupted>() {
                true => interrupt::STATUS,
                false => 2,
            })
        }
    }
}

/// Reads a configuration, and says on standard error what it cannot do.
fn load(path: &Path) -> Result<Config, InputError> {
    let config = Config::load(path)?;
    print_notes(&config.notes());
    Ok(config)
}

/// Says on standard error what a configuration cannot do, a line for each note.
fn print_notes(notes: &[String]) {
    for note in notes {
        output::note(&format!("note: {note}"));
    }
}

/// Prints the help that was asked for, or what is wrong with the command line.
fn print_usage(usage: &clap::Error) -> ExitCode {
    let printed = output::finish(usage.print());
    match printed {
        Err(error) if !usage.use_stderr() => {
            output::message(&format!("error: {}", describe(&error)));
            ExitCode::from(2)
        }
        _ if usage.use_stderr() => ExitCode::from(2),
        _ => ExitCode::SUCCESS,
    }
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
