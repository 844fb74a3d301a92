//! `linkdoze sweep`: a scenario with many settings of its ports.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Once;

use anyhow::Result;

use super::numbers;
use super::output::{self, table, trimmed, wrapped};
use super::progress::Step;
use super::Outcome;
use crate::sweep::{bounds_kept, contests, Prepared, Progress, Row, LIMITS, RESULTS};
use crate::words::counted;

#[derive(clap::Args)]
pub struct Args {
    /// The sweep: a scenario and the settings.
    sweep: PathBuf,
    /// Folder of the results.
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
    /// Experiments at a time; the results do not depend on it. Default: all processors.
    #[arg(long, value_name = "N", value_parser = numbers::threads(MOST_THREADS))]
    threads: Option<NonZeroUsize>,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

/// More than any machine has processors.
const MOST_THREADS: usize = 4096;

/// Parts of an experiment that the progress tells apart.
const FINE: f64 = 1000.0;

/// Runs the subcommand.
///
/// # Errors
/// If the sweep cannot be used, a run fails, or the folder holds results of other inputs.
pub fn run(args: &Args) -> Result<Outcome> {
    let step = Step::new("reading the scenario");
    let sweep = Prepared::load(&args.sweep)?;
    drop(step);
    super::print_notes(&sweep.notes());
    let threads = args.threads.map_or_else(
        || std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
        NonZeroUsize::get,
    );
    let step = Step::new("experiments");
    let begun = Once::new();
    let progress = |now: Progress| {
        let work = (now.work * FINE) as u64;
        begun.call_once(|| step.resume((now.total as f64 * FINE) as u64, work));
        step.set_position(work);
        step.set_message(format!("{} of {} done", now.done, now.total));
    };
    let rows = sweep.run(&args.out, threads, &progress);
    drop(step);
    let rows = rows?;
    let saturated = rows.iter().filter(|row| row.measured.may_be_saturated());
    match saturated.count() {
        0 => {}
        count => output::note(&format!(
            "note: in {count} of {} experiments more than 5 % of the bytes that nodes sent had \
             not arrived at the end: the network is saturated, and latencies grow with the \
             length of the run, or the run is too short to tell",
            rows.len()
        )),
    }
    output::print(&match args.json {
        true => serde_json::to_string_pretty(&rows)? + "\n",
        false => format!(
            "{}{}{}: {}
{}",
            best(&rows),
            bounds_kept(&rows).map_or(String::new(), |verdict| wrapped(&verdict, 2)),
            args.out.join(RESULTS).display(),
            counted(rows.len(), "experiment", "experiments"),
            text(&rows)
        ),
    })?;
    Ok(Outcome::Done)
}

/// What saves most of the network's energy, where configurations are compared with each other.
fn best(rows: &[Row]) -> String {
    let header = [
        "compared with",
        "time at\nmost",
        "what saves most of the network's energy",
        "in configuration",
        "time\nlonger",
        "network\nsaved",
        "score",
    ];
    let mut figures = table(&header, 4..7);
    let mut contests = contests(rows);
    // Patterns of traffic have no execution time to compare.
    contests.retain(|of| of.best(f64::INFINITY).is_some());
    for contest in &contests {
        let mut base = contest.base.setting.variation_without_seed();
        for limit in LIMITS {
            let limited = format!("+{limit} %");
            let mut cells = vec![std::mem::take(&mut base), limited];
            cells.extend(match contest.best(limit) {
                Some(best) => [
                    best.row().setting.in_words(),
                    best.row().setting.configuration.clone().unwrap_or_default(),
                    format!("{:+.2} %", best.cost.mean),
                    format!("{:+.2} %", best.gain.mean),
                    best.score()
                        .map_or("-".into(), |score| format!("{score:.3}")),
                ],
                None => ["nothing", "-", "-", "-", "-"].map(str::to_owned),
            });
            figures.add_row(cells);
        }
    }
    match contests.is_empty() {
        true => String::new(),
        false => trimmed(&figures) + "\n",
    }
}

/// The rows, with what power saving changed in per cent.
fn text(rows: &[Row]) -> String {
    let header = [
        "experiment",
        "bound",
        "time\nlonger",
        "latency\nlonger",
        "links\nsaved",
        "network\nsaved",
        "system\nsaved",
        "score",
    ];
    let mut figures = table(&header, 2..8);
    let percent = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:+.2} %"));
    for row in rows {
        let against = &row.against;
        figures.add_row([
            row.setting.experiment.clone(),
            match (row.bound_configured, row.bound_kept) {
                (None, _) => "-",
                (_, None) => "not judged",
                (_, Some(true)) => "kept",
                (_, Some(false)) => "NOT KEPT",
            }
            .to_owned(),
            percent(against.time_overhead_percent),
            percent(against.latency_mean_overhead_percent),
            percent(against.energy_links_saved_percent),
            percent(against.energy_network_saved_percent),
            percent(against.energy_total_saved_percent),
            row.potential
                .score_at_own_wake_ups
                .map_or("-".into(), |score| format!("{score:.3}")),
        ]);
    }
    trimmed(&figures)
}
