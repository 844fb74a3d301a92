//! `linkdoze trace`: what a communication trace holds.

use std::path::PathBuf;

use anyhow::{anyhow, Result};
use comfy_table::CellAlignment;

use super::output::{self, table, trimmed};
use super::Outcome;
use crate::network::trace::{self, info::TraceInfo};

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
        /// liballprof; the `.otf2` file; one of the `.et` files.
        file: PathBuf,
        /// Print JSON instead of tables.
        #[arg(long)]
        json: bool,
    },
}

/// Runs the subcommand.
///
/// # Errors
/// If the trace cannot be used, or standard output not be written.
pub fn run(args: &Args) -> Result<Outcome> {
    let Command::Info { file, json } = &args.command;
    let program = trace::read(file)?;
    let info =
        trace::info::info(&program).map_err(|problem| anyhow!("{}: {problem}", file.display()))?;
    let text = if *json {
        serde_json::to_string_pretty(&info)? + "\n"
    } else {
        tables(&file.display().to_string(), &info)
    };
    output::print(&text)?;
    Ok(Outcome::Done)
}

fn tables(name: &str, info: &TraceInfo) -> String {
    let size = |bytes: Option<u64>| bytes.map_or("-".to_owned(), |bytes| bytes.to_string());
    let ms = |ns: f64| format!("{:.3}", ns / 1e6);
    let mut total = table(&["", "", ""]);
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
    total
        .column_mut(1)
        .expect("three columns")
        .set_cell_alignment(CellAlignment::Right);

    let mut ranks = table(&[
        "rank",
        "calc",
        "send",
        "recv",
        "sent (B)",
        "received (B)",
        "calc (ms)",
        "CPUs",
    ]);
    ranks
        .column_iter_mut()
        .for_each(|column| column.set_cell_alignment(CellAlignment::Right));
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
    let mut left_out = String::new();
    for (what, count) in &info.left_out {
        left_out += &format!("\nleft out or assumed: {count} {what}");
    }
    if !left_out.is_empty() {
        left_out += "\n";
    }
    format!(
        "{name}: {}{packed}\n{}\n{left_out}\nThe critical path is the run time without contention: 200 ns of \
         CPU per send, 1000 ns latency, 400 Gb/s.\n\n{}\n",
        info.format,
        trimmed(&total),
        trimmed(&ranks)
    )
}
