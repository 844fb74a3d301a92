//! `linkdoze generate`: the Verilog and the timing constraints of a configuration.

use std::path::PathBuf;

use super::{output, Outcome};
use crate::blocks::switch_ports::MAX_PORTS;
use crate::config::Config;
use crate::{files, rtl};

/// Emit the Verilog of a configuration: one file per module, and a file list; its timing
/// constraints as SDC, XDC and LPF. With registers also their description: SystemRDL, a C
/// header, Markdown.
#[derive(clap::Args)]
pub struct Args {
    /// The configuration file.
    config: PathBuf,
    /// The folder to write to.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Write the timing constraints to another folder.
    #[arg(long, value_name = "DIR")]
    constraints: Option<PathBuf>,
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
    let emitted = rtl::emit_all(&config, args.ports)?;
    let beside = args.constraints.as_ref().unwrap_or(&args.output);
    let sources = emitted.sources.iter().map(|file| (&args.output, file));
    let constraints = emitted.constraints.iter().map(|file| (beside, file));
    let files: Vec<(PathBuf, &[u8])> = sources
        .chain(constraints)
        .map(|(folder, (name, text))| (folder.join(name), text.as_bytes()))
        .collect();
    if args.check {
        let stale: Vec<String> = files
            .iter()
            .filter(|(path, text)| std::fs::read(path).ok().as_deref() != Some(text))
            .map(|(path, _)| path.display().to_string())
            .collect();
        if stale.is_empty() {
            return Ok(Outcome::Done);
        }
        let mut again = format!("linkdoze generate {}", args.config.display());
        if let Some(ports) = args.ports {
            again += &format!(" --ports {ports}");
        }
        again += &format!(" -o {}", args.output.display());
        if let Some(folder) = &args.constraints {
            again += &format!(" --constraints {}", folder.display());
        }
        output::message(&format!(
            "stale or missing: {}\nregenerate with: {again}",
            stale.join(", ")
        ));
        return Ok(Outcome::CheckFailed);
    }
    files::write_together(&files)?;
    let list: String = files
        .iter()
        .map(|(path, _)| format!("{}\n", path.display()))
        .collect();
    output::print(&list)?;
    Ok(Outcome::Done)
}
