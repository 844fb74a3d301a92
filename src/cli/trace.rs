//! `linkdoze trace`: what a communication trace holds.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{anyhow, bail, ensure, Result};

use super::output::{self, table, trimmed, wrapped};
use super::progress::Step;
use super::Outcome;
use crate::files;
use crate::network::scenario::Scenario;
use crate::network::trace::fit::{Fit, Slot};
use crate::network::trace::{self, info::TraceInfo};
use crate::network::{self, Program, Workload};

/// Look into the trace of an application.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Check a trace and print what it holds.
    Info {
        /// GOAL, VEF, or a tar archive or folder of MPI logs or Chakra traces, files also
        /// compressed with zstd or gzip; the `.meta` file of DUMPI; the file of rank 0 of
        /// liballprof; the `.otf2` file; one of the `.et` files. Or a scenario (`.toml`), for the
        /// program that it runs.
        file: PathBuf,
        /// Print also a line for each rank.
        #[arg(long, conflicts_with = "json")]
        all: bool,
        /// Print JSON instead of tables.
        #[arg(long)]
        json: bool,
    },
    /// Print the figures that a skeleton takes from a trace: the step that its ranks repeat, with
    /// messages, collectives and computing times.
    Fit {
        /// As for `info`.
        file: PathBuf,
        /// Print also a line for each rank.
        #[arg(long, conflicts_with = "json")]
        all: bool,
        /// Print JSON instead of tables.
        #[arg(long)]
        json: bool,
    },
    /// Write the program that a scenario runs as GOAL text.
    Export {
        /// A scenario with one program: a skeleton, or a trace of any format. Computing times are
        /// written as they are at `cpu_speed = 1`.
        scenario: PathBuf,
        /// The file; compressed if its name ends in `.zst`.
        #[arg(short, long, value_name = "FILE")]
        out: PathBuf,
    },
}

/// Runs the subcommand.
///
/// # Errors
/// If the trace cannot be used, or standard output not be written.
pub fn run(args: &Args) -> Result<Outcome> {
    match &args.command {
        Command::Info { file, all, json } => {
            let program = read(file)?;
            let info = trace::info::info(&program)
                .map_err(|problem| anyhow!("{}: {problem}", file.display()))?;
            let text = match json {
                true => serde_json::to_string_pretty(&info)? + "\n",
                false => tables(&file.display().to_string(), &info, *all),
            };
            output::print(&text)?;
        }
        Command::Fit { file, all, json } => {
            let fit = trace::fit::fit(&*read(file)?);
            output::print(&match json {
                true => serde_json::to_string_pretty(&fit)? + "\n",
                false => fit_tables(&file.display().to_string(), &fit, *all),
            })?;
        }
        Command::Export { scenario, out } => export(scenario, out)?,
    }
    Ok(Outcome::Done)
}

/// The only program that a scenario runs.
fn program_of(path: &Path, scenario: &Scenario) -> Result<Program> {
    let Some(mut workload) = Workload::of(scenario)? else {
        bail!(
            "{}: [traffic] is a pattern, which has no program; give a scenario with kind = \
             \"skeleton\" or \"goal\"",
            path.display()
        );
    };
    ensure!(
        workload.jobs.len() == 1,
        "{}: {} programs run at the same time; give a scenario with one",
        path.display(),
        workload.jobs.len()
    );
    Ok(workload.jobs.remove(0).program)
}

/// Operations of a skeleton that are looked at together: some 2 GB.
const MOST_OPERATIONS: usize = 1 << 25;

/// A trace, or the program of a scenario.
fn read(path: &Path) -> Result<Arc<trace::Program>> {
    let _step = Step::new(format!("reading {}", path.display()));
    if path.extension().is_none_or(|extension| extension != "toml") {
        return Ok(Arc::new(trace::read(path)?));
    }
    let program = program_of(path, &Scenario::load(path)?)?;
    ensure!(
        program.operations() <= MOST_OPERATIONS,
        "{}: the skeleton has {} operations, and {MOST_OPERATIONS} at most are looked at together; \
         take fewer steps",
        path.display(),
        program.operations()
    );
    let recorded = program.recorded();
    recorded.map_err(|problem| anyhow!("{}: {problem}", path.display()))
}

/// How the names of files end that are compressed in ways that are not written here.
const OTHER_COMPRESSIONS: [&str; 9] = ["gz", "tgz", "bz2", "xz", "lzma", "lz4", "br", "zip", "7z"];

fn export(scenario: &Path, out: &Path) -> Result<()> {
    let end = out.extension().and_then(|end| end.to_str());
    if let Some(other) = end.filter(|end| OTHER_COMPRESSIONS.contains(end)) {
        bail!(
            "{}: nothing is compressed as .{other} here; end the name with .zst to compress the file, \
             or with .goal for plain text",
            out.display()
        );
    }
    let loaded = Scenario::load(scenario)?;
    files::refuse_to_replace([out], network::input_files(&loaded)?)?;
    let program = program_of(scenario, &loaded)?;
    if let Program::Recorded(program) = &program {
        if let Some(op) = trace::export::not_writable(program) {
            bail!(
                "{}: `{op}` takes messages of any tag but those of collectives, which GOAL text \
                 cannot say",
                scenario.display()
            );
        }
    }
    let _step = Step::new(format!("writing {}", out.display()));
    let write = |out: &mut dyn Write| match &program {
        Program::Recorded(program) => trace::export::write(program, out),
        Program::Skeleton(skeleton) => skeleton.write_goal(out),
    };
    let compress = end == Some("zst");
    files::write_streamed(out, |file| match compress {
        true => {
            let mut packed = zstd::stream::write::Encoder::new(file, 0)?;
            write(&mut packed)?;
            packed.finish().map(|_| ())
        }
        false => write(file),
    })?;
    Ok(())
}

fn fit_tables(name: &str, fit: &Fit, all: bool) -> String {
    if fit.period == 0 {
        return format!(
            "{name}: nothing is repeated by rank {} of {} ranks: no step was found\n",
            fit.ranks / 2,
            fit.ranks
        );
    }
    let us = |ns: u64| format!("{:.3}", ns as f64 / 1e3);
    let slots = |slots: &[Slot]| {
        let header = [
            "",
            "bytes",
            "least",
            "most",
            "computing before (us)",
            "16 %",
            "84 %",
            "spread",
        ];
        let mut all = table(&header, 1..8);
        for slot in slots {
            let calc = &slot.calc_ns;
            all.add_row([
                slot.what.to_owned(),
                slot.bytes.to_string(),
                slot.bytes_min.to_string(),
                slot.bytes_max.to_string(),
                us(calc.median),
                us(calc.low),
                us(calc.high),
                format!("{:.3}", calc.spread()),
            ]);
        }
        trimmed(&all)
    };
    let mut text = wrapped(
        &format!(
            "{name}: a step of {} communications, alike on {} of {} ranks; the longest computation \
             has a spread of {:.3} (jitter)",
            fit.period, fit.ranks_alike, fit.ranks, fit.jitter
        ),
        2,
    );
    text += &slots(&fit.step);
    for between in &fit.between {
        let apart = between.steps_apart.map_or(String::new(), |steps| {
            format!(", {steps} steps from one to the next")
        });
        text += &format!(
            "\nbetween steps, {:.2} times on each rank{apart}; {} us of computing after it:\n{}",
            between.times,
            us(between.calc_after_ns),
            slots(&between.slots)
        );
    }
    if !all {
        let ranks = fit.per_rank.len();
        return text + &format!("\n--all prints a line for each of {ranks} ranks\n");
    }
    let header = [
        "rank",
        "steps",
        "neighbours",
        "messages of a step",
        "bytes of a step",
        "collectives of a step",
        "computing of a step (us)",
        "spread",
    ];
    let mut ranks = table(&header, 0..8);
    for rank in &fit.per_rank {
        let messages: usize = rank.neighbours.iter().map(|to| to.messages).sum();
        let bytes: f64 = rank.neighbours.iter().map(|to| to.bytes).sum();
        let collectives: usize = rank.collectives.iter().map(|one| one.times).sum();
        ranks.add_row([
            rank.rank.to_string(),
            rank.steps.to_string(),
            rank.neighbours.len().to_string(),
            messages.to_string(),
            format!("{bytes:.0}"),
            collectives.to_string(),
            us(rank.calc_ns.median),
            format!("{:.3}", rank.calc_ns.spread()),
        ]);
    }
    text + &format!("\n{}", trimmed(&ranks))
}

fn tables(name: &str, info: &TraceInfo, all: bool) -> String {
    let size = |bytes: Option<u64>| bytes.map_or("-".to_owned(), |bytes| bytes.to_string());
    let ms = |ns: f64| format!("{:.3}", ns / 1e6);
    let mut total = table(&["", "", ""], [1]);
    let mut row = |name: &str, value: String, unit: &str| {
        total.add_row([name.to_owned(), value, unit.to_owned()]);
    };
    row("ranks", info.ranks.to_string(), "");
    row("operations", info.operations.to_string(), "");
    row("  calc", info.calcs.to_string(), "");
    row("  send", info.sends.to_string(), "");
    row("  recv", info.recvs.to_string(), "");
    row("  recv with wildcard", info.wildcard_recvs.to_string(), "");
    row("dependencies", info.dependencies.to_string(), "");
    row("sent", info.bytes_sent.to_string(), "bytes");
    row("smallest message", size(info.message_bytes_min), "bytes");
    row("median message", size(info.message_bytes_median), "bytes");
    row("largest message", size(info.message_bytes_max), "bytes");
    row(
        "receives of another size",
        info.sizes_differ.to_string(),
        "",
    );
    row("calc, all ranks", ms(info.calc_total_ns as f64), "ms");
    row("calc, mean of ranks", ms(info.calc_mean_per_rank_ns), "ms");
    row("critical path", ms(info.ideal_time_ns), "ms");

    let header = [
        "rank",
        "calc",
        "send",
        "recv",
        "sent (B)",
        "received (B)",
        "calc (ms)",
        "CPUs",
    ];
    let mut ranks = table(&header, 0..8);
    for rank in &info.per_rank {
        ranks.add_row([
            rank.rank.to_string(),
            rank.calcs.to_string(),
            rank.sends.to_string(),
            rank.recvs.to_string(),
            rank.bytes_sent.to_string(),
            rank.bytes_received.to_string(),
            ms(rank.calc_ns as f64),
            rank.cpus.to_string(),
        ]);
    }
    let packed = if info.compressed { ", compressed" } else { "" };
    let mut text = format!("{name}: {}{packed}\n{}", info.format, trimmed(&total));
    for (what, count) in &info.left_out {
        text += &wrapped(&format!("left out or assumed: {count} {what}"), 2);
    }
    text += &wrapped(
        "The critical path is the run time without contention: 200 ns of CPU per send, 1000 ns \
         latency, 400 Gb/s.",
        0,
    );
    match all {
        true => text + &format!("\n{}", trimmed(&ranks)),
        false => text + &format!("--all prints a line for each of {} ranks\n", info.ranks),
    }
}
