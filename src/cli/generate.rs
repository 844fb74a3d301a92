//! `linkdoze generate`: the Verilog of a configuration.

use std::path::PathBuf;

use super::{output, Outcome};
use crate::config::Config;
use crate::{files, rtl};

/// Emit the Verilog of a configuration: one file per module, and a file list.
#[derive(clap::Args)]
pub struct Args {
    /// The configuration file.
    config: PathBuf,
    /// The folder to write to.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Only compare with what lies in the folder: exit status 1 if it is stale.
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
        output::message(&format!(
            "stale or missing in {}: {}\nregenerate with: linkdoze generate {} -o {}",
            args.output.display(),
            stale.join(", "),
            args.config.display(),
            args.output.display()
        ));
        return Ok(Outcome::CheckFailed);
    }
    let files: Vec<(PathBuf, &[u8])> = emitted
        .iter()
        .map(|(name, text)| (args.output.join(name), text.as_bytes()))
        .collect();
    files::write_together(&files)?;
    let list: String = files
        .iter()
        .map(|(path, _)| format!("{}\n", path.display()))
        .collect();
    output::print(&list)?;
    Ok(Outcome::Done)
}
