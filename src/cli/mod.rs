//! The command line: each subcommand in a file of its own.
//!
//! Data goes to standard output, messages and progress to standard error.
//! Exit status: 0 done and all checks hold; 1 a check failed (mismatch, stale file);
//! 2 bad input or usage.

pub mod cosim;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

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
enum Command {}

impl Command {
    fn run(&self) -> anyhow::Result<Outcome> {
        match *self {}
    }
}

/// Runs the command line and returns its exit status.
pub fn main() -> ExitCode {
    match Cli::parse().command.run() {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::CheckFailed) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
