//! `linkdoze generate`: the Verilog of a configuration.

use std::path::PathBuf;

use super::Outcome;
use crate::config::Config;
use crate::{files, rtl};

/// Emit the Verilog of a configuration: one file per module, and a file list
#[derive(clap::Args)]
pub struct Args {
    /// The configuration (TOML)
    config: PathBuf,
    /// The folder to write to
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Only compare with what lies in the folder: exit status 1 if it is stale
    #[arg(long)]
    check: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// If the configuration is bad, has no hardware yet, or a file cannot be written.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let config = Config::load(&args.config)?;
    let emitted = rtl::emit(&config)?;
    if args.check {
        let stale: Vec<&str> = emitted
            .iter()
            .filter(|(name, text)| {
                std::fs::read(args.output.join(name)).ok().as_deref() != Some(text.as_bytes())
            })
            .map(|(name, _)| name.as_str())
            .collect();
        if stale.is_empty() {
            return Ok(Outcome::Done);
        }
        eprintln!(
            "stale or missing in {}: {}\nregenerate with: linkdoze generate {} -o {}",
            args.output.display(),
            stale.join(", "),
            args.config.display(),
            args.output.display()
        );
        return Ok(Outcome::CheckFailed);
    }
    for (name, text) in &emitted {
        files::write_whole(&args.output.join(name), text.as_bytes())?;
        println!("{}", args.output.join(name).display());
    }
    Ok(Outcome::Done)
}
