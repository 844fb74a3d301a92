//! `linkdoze sweep`: a scenario with many settings of its ports.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use comfy_table::CellAlignment;
use indicatif::{ProgressBar, ProgressStyle};

use super::output::{self, table, trimmed};
use super::Outcome;
use crate::sweep::{verdict, Prepared, Progress, Row, RESULTS};

#[derive(clap::Args)]
pub struct Args {
    /// The sweep: a scenario and the settings.
    sweep: PathBuf,
    /// Folder of the results.
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
    /// Experiments at a time; the results do not depend on it. Default: all processors.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

/// Parts of an experiment that the bar tells apart.
const FINE: f64 = 1000.0;

/// Runs the subcommand.
///
/// # Errors
/// If the sweep cannot be used, a run fails, or the folder holds results of other inputs.
pub fn run(args: &Args) -> Result<Outcome> {
    let sweep = Prepared::load(&args.sweep)?;
    super::tell_notes(&sweep.notes());
    let threads = args.threads.map_or_else(
        || std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
        NonZeroUsize::get,
    );
    let bar = ProgressBar::new(0).with_style(ProgressStyle::with_template(
        "{msg}  {wide_bar} {percent:>3} %  {eta} left",
    )?);
    bar.enable_steady_tick(Duration::from_millis(500));
    let tell = |now: Progress| {
        let work = (now.work * FINE) as u64;
        if bar.length() == Some(0) {
            bar.set_length((now.total as f64 * FINE) as u64);
            bar.set_position(work);
            // What was there already says nothing about the time that is left.
            bar.reset_eta();
        }
        bar.set_position(work);
        bar.set_message(format!("{} of {} experiments", now.done, now.total));
    };
    let rows = sweep.run(&args.out, threads, &tell);
    bar.finish_and_clear();
    let rows = rows?;
    let saturated = rows.iter().filter(|row| row.measured.may_be_saturated());
    match saturated.count() {
        0 => {}
        count => output::message(&format!(
            "note: in {count} of {} experiments more than 5 % of the bytes that nodes sent had \
             not arrived at the end: the network is saturated, and latencies grow with the \
             length of the run, or the run is too short to tell",
            rows.len()
        )),
    }
    output::print(&match args.json {
        true => serde_json::to_string_pretty(&rows)? + "\n",
        false => format!(
            "{}{}\n{}: {} experiments\n",
            verdict::of_rows(&rows).map_or(String::new(), |verdict| verdict + "\n"),
            text(&rows),
            args.out.join(RESULTS).display(),
            rows.len()
        ),
    })?;
    Ok(Outcome::Done)
}

/// The rows, with what power saving changed.
fn text(rows: &[Row]) -> String {
    let mut figures = table(&[
        "experiment",
        "bound",
        "time, ms",
        "longer",
        "latency, ns",
        "longer",
        "links saved",
        "network saved",
        "all saved",
        "score",
        "CPU, s",
    ]);
    let percent = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:+.3} %"));
    for row in rows {
        let (measured, against) = (&row.measured, &row.against);
        figures.add_row([
            row.setting.experiment.clone(),
            match (row.setting.bound, row.bound_kept) {
                (None, _) => "-",
                (_, None) => "not judged",
                (_, Some(true)) => "kept",
                (_, Some(false)) => "NOT KEPT",
            }
            .to_owned(),
            format!("{:.6}", measured.time_ns / 1e6),
            percent(against.time_overhead_percent),
            measured
                .latency_mean_ns
                .map_or("-".into(), |ns| format!("{ns:.1}")),
            percent(against.latency_mean_overhead_percent),
            percent(against.energy_links_saved_percent),
            percent(against.energy_network_saved_percent),
            percent(against.energy_total_saved_percent),
            row.potential
                .score_at_own_wake_ups
                .map_or("-".into(), |score| format!("{score:.3}")),
            measured
                .cpu_seconds
                .map_or("-".into(), |seconds| format!("{seconds:.2}")),
        ]);
    }
    for column in figures.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    trimmed(&figures)
}
