//! `linkdoze generate`: the Verilog of a configuration.

use std::path::PathBuf;

use super::{output, Outcome};
use crate::blocks::switch_ports::MAX_PORTS;
use crate::config::Config;
use crate::{files, rtl};

/// Emit the Verilog of a configuration: one file per module, and a file list. With registers
/// also their description: SystemRDL, a C header, Markdown.
#[derive(clap::Args)]
pub struct Args {
    /// The configuration file.
    config: PathBuf,
    /// The folder to write to.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Emit the controllers of so many ports, behind one AXI4-Lite port for their registers.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_PORTS)))]
    ports: Option<u32>,
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
    let emitted = match args.ports {
        Some(ports) => rtl::emit_ports(&config, ports)?,
        None => {
            let mut files = rtl::emit(&config)?;
            files.extend(rtl::register_files(&config)?);
            files
        }
    };
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
            "stale or missing in {}: {}\nregenerate with: linkdoze generate {}{} -o {}",
            args.output.display(),
            stale.join(", "),
            args.config.display(),
            args.ports
                .map(|ports| format!(" --ports {ports}"))
                .unwrap_or_default(),
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
