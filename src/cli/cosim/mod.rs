//! `linkdoze cosim`: hardware and golden model in lock step.

mod open_loop;
mod pair;
mod report;
mod scenario;
mod session;
mod switch;
#[cfg(test)]
mod tests;

use std::io::Write;
use std::path::PathBuf;
use std::str::FromStr;

use clap::ValueEnum;

use super::{numbers, output, Outcome};
use crate::blocks::switch_ports::MAX_PORTS;
use crate::cosim::port::PortDesign;
use crate::cosim::switch::SwitchDesign;

/// Compare the emitted Verilog with the golden model, every output in every cycle
#[derive(clap::Args)]
#[command(
    group = clap::ArgGroup::new("activity").required(true),
    after_help = "Exit status: 0 all cycles are equal; 1 a mismatch, or with --all-corners a corner that was not reached; 2 bad input, or a tool is missing; 130 interrupted.\n\
        Compiled models are kept in $LINKDOZE_CACHE (default: linkdoze in $XDG_CACHE_HOME or ~/.cache).\n\
        $VERILATOR and $CXX name the tools if they are not in the path."
)]
pub struct Args {
    /// Configuration of the port
    pub config: PathBuf,

    /// Constrained random activity
    #[arg(long, group = "activity")]
    random: bool,

    /// The hardest traffic: an idle period ends every third cycle, for ever
    #[arg(long, group = "activity")]
    line_rate: bool,

    /// Activity of a CSV file with the header `busy,idle`, in ticks
    #[arg(long, group = "activity", value_name = "FILE.csv")]
    periods: Option<PathBuf>,

    /// Activity of every port of a switch in this scenario
    #[arg(long, group = "activity", value_name = "FILE.toml")]
    pub scenario: Option<PathBuf>,

    /// Two ports joined by a cable, with random packets at both ends, at every delay; what
    /// only a pair can break is checked, too: both ends change state together, nothing
    /// arrives at an end that is not awake, no packet waits longer than the bound
    #[arg(long, group = "activity")]
    pair: bool,

    /// Clock cycles of the cable of --pair, or a range of them, both ends included
    /// [default: 0..2000]
    // clap does not ask for --pair where another activity rules it out.
    #[arg(long, value_name = "N", requires = "pair",
          conflicts_with_all = ["random", "line_rate", "periods", "scenario"])]
    delay: Option<pair::Delays>,

    /// What happens to the cable of --pair beside traffic
    #[arg(long, value_enum, default_value_t = pair::Peer::Answers, requires = "pair",
          conflicts_with_all = ["random", "line_rate", "periods", "scenario"])]
    peer: pair::Peer,

    /// Compare the ports of a whole switch with --random: so many controllers behind one AXI4-Lite
    /// port, as `linkdoze generate --ports` emits them; each has traffic of its own, and software
    /// asks the registers of all of them
    #[arg(long, value_name = "N", value_parser = numbers::within_u32(1..=MAX_PORTS),
          requires = "random", conflicts_with_all = ["code_coverage", "line_rate", "periods",
          "scenario", "pair"])]
    ports: Option<u32>,

    /// Clock cycles (of every port); default: 1000000 of --random and --line-rate (50000
    /// with the native engine), 400000 of --pair at each delay, otherwise to the end; with
    /// --scenario each port is clocked until its link is awake before simulated time 0, too
    #[arg(long, value_name = "N", value_parser = numbers::within(1..=u64::MAX))]
    cycles: Option<u64>,

    /// Seed of --random, --line-rate and --pair, or a range of seeds, both ends included: 1..5
    #[arg(long, value_name = "S", conflicts_with_all = ["periods", "scenario"])]
    seed: Option<Seeds>,

    /// What clocks the hardware
    #[arg(long, value_enum, default_value_t = Engine::Verilator)]
    engine: Engine,

    /// Take the Verilog that lies in this folder instead of emitting it
    #[arg(long, value_name = "DIR")]
    rtl: Option<PathBuf>,

    /// Waveform (.fst or .vcd): 200 cycles before a mismatch to 50 after, or the first
    /// 100000 clocked cycles of a run without one
    #[arg(long, value_name = "FILE")]
    wave: Option<PathBuf>,

    /// Write no waveform of a mismatch: a model that could is another one to compile
    #[arg(long, conflicts_with = "wave")]
    no_wave: bool,

    /// The port that --wave shows when a scenario has no mismatch
    #[arg(long, value_name = "PORT", default_value_t = 0, requires_all = ["wave", "scenario"],
          value_parser = numbers::from_usize(0),
          conflicts_with_all = ["random", "line_rate", "periods", "pair"])]
    wave_port: usize,

    /// Print also the times in every state and how often every corner was reached
    #[arg(long, conflicts_with = "json")]
    all: bool,

    /// End with exit status 1 if --random does not reach every corner that the configuration has
    #[arg(long, requires = "random",
          conflicts_with_all = ["line_rate", "periods", "scenario", "pair"])]
    all_corners: bool,

    /// Count which lines, branches and bits of the Verilog are reached, module by module; with
    /// --all list those that are not
    #[arg(long, conflicts_with_all = ["pair", "scenario"])]
    code_coverage: bool,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// The emitted Verilog, compiled by Verilator
    Verilator,
    /// The simulation of the description itself; needs no tools
    Native,
}

impl Engine {
    fn name(self) -> &'static str {
        match self {
            Engine::Verilator => "verilator",
            Engine::Native => "native",
        }
    }
}

/// One seed or several, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seeds {
    first: u64,
    last: u64,
}

impl FromStr for Seeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Seeds, String> {
        let number = |part: &str| {
            numbers::whole(part.trim().trim_start_matches('=')).ok_or_else(|| {
                format!("`{part}` is not a seed: a whole number from 0, or a range such as 1..5")
            })
        };
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        let seeds = Seeds {
            first: number(first)?,
            last: number(last)?,
        };
        if seeds.last < seeds.first {
            return Err(format!("the range {text} is empty: write {last}..{first}"));
        }
        if seeds.last - seeds.first >= 10_000 {
            return Err(format!("the range {text} has more than 10000 seeds"));
        }
        Ok(seeds)
    }
}

/// Runs the subcommand.
///
/// # Errors
/// Bad input, a missing tool, or an engine that fails.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let config = super::load(&args.config)?;
    let mut out = Vec::new();
    if let Some(ports) = args.ports {
        let outcome = switch::run(args, &SwitchDesign::new(&config, ports)?, &mut out)?;
        output::finish(std::io::stdout().lock().write_all(&out))?;
        return Ok(outcome);
    }
    let design = PortDesign::new(&config)?;
    let outcome = match &args.scenario {
        None if args.pair => pair::run(args, &design, &mut out),
        None => open_loop::run(args, &design, &mut out),
        Some(path) => scenario::run(args, &config, &design, path, &mut out),
    }?;
    output::finish(std::io::stdout().lock().write_all(&out))?;
    Ok(outcome)
}
