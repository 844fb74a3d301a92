//! How fast the network engine is, and how its cost grows: link hops (one packet over one
//! link, those of the NICs included) per CPU second of the whole process, set-up included,
//! with and without power management; networks of 1,000 nodes and larger ones; one thread and
//! two; memory per node.
//!
//! `cargo bench --bench network`; `LINKDOZE_BENCH=full` adds the largest networks.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use anyhow::{ensure, Context, Result};
use comfy_table::{presets::UTF8_HORIZONTAL_ONLY, CellAlignment, Table};
use serde_json::Value;

/// Rounds on networks of some thousand nodes, and on larger ones. In a round all runs of a
/// network take their turn. The machine may be shared: the best run of all rounds is the rate,
/// and what is compared is compared within each round, of which the median counts.
const ROUNDS: [usize; 2] = [9, 3];

/// A network and for how long it runs.
struct Network {
    name: &'static str,
    topology: &'static str,
    loads: &'static [f64],
    /// Simulated time at a load of 0.4, in ns; twice that at a lower load. Rates that are
    /// compared have the same time: their ports see as many packets.
    duration_ns: f64,
}

const NETWORKS: [Network; 3] = [
    Network {
        name: "dragonfly, 1,056 nodes",
        topology: "kind = \"dragonfly\"",
        loads: &[0.1, 0.4],
        duration_ns: 200_000.0,
    },
    Network {
        name: "fat tree, 1,024 nodes",
        topology: "kind = \"rlft\"\nradix = 16",
        loads: &[0.1, 0.4],
        duration_ns: 200_000.0,
    },
    Network {
        name: "megafly, 4,160 nodes",
        topology: "kind = \"megafly\"",
        loads: &[0.4],
        duration_ns: 200_000.0,
    },
];

const LARGE: [Network; 3] = [
    Network {
        name: "dragonfly, 16,512 nodes",
        topology: "kind = \"dragonfly\"\ngroups = 129\nswitches_per_group = 16\n\
                   nodes_per_switch = 8\nglobal_ports = 8",
        loads: &[0.1, 0.4],
        duration_ns: 200_000.0,
    },
    Network {
        name: "fat tree, 16,000 nodes",
        topology: "kind = \"rlft\"\nradix = 40",
        loads: &[0.1, 0.4],
        duration_ns: 200_000.0,
    },
    Network {
        name: "megafly, 105,300 nodes",
        topology: "kind = \"megafly\"\nradix = 36\ngroups = 325",
        loads: &[0.1],
        duration_ns: 20_000.0,
    },
];

/// Bytes of a message: one packet.
const MESSAGE: u32 = 4096;

const POWER: &str = "[power.port]\npolicy = \"perfbound\"\n";

struct Measured {
    hops: f64,
    cpu_seconds: f64,
    wall_seconds: f64,
    bytes: f64,
    nodes: f64,
}

impl Measured {
    fn rate(&self) -> f64 {
        self.hops / self.cpu_seconds
    }
}

fn simulate(folder: &Path, scenario: &str, threads: usize) -> Result<Measured> {
    let path = folder.join("scenario.toml");
    std::fs::write(&path, scenario)?;
    let started = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_linkdoze"))
        .args(["simulate", "--no-baseline", "--json", "--threads"])
        .arg(threads.to_string())
        .arg(&path)
        .output()?;
    let wall_seconds = started.elapsed().as_secs_f64();
    ensure!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let json: Value = serde_json::from_slice(&output.stdout)?;
    let number = |name: &str| json[name].as_f64().with_context(|| format!("no {name}"));
    Ok(Measured {
        hops: number("packet_hops")?,
        cpu_seconds: number("cpu_seconds")?,
        wall_seconds,
        bytes: number("peak_bytes")?,
        nodes: number("nodes")?,
    })
}

/// Rounds of some runs, given by scenario and threads.
fn rounds<const RUNS: usize>(
    folder: &Path,
    runs: [(&str, usize); RUNS],
    count: usize,
) -> Result<Vec<[Measured; RUNS]>> {
    let round = |_| {
        let measured: Result<Vec<_>> = runs
            .iter()
            .map(|(scenario, threads)| simulate(folder, scenario, *threads))
            .collect();
        let measured = measured?.try_into();
        measured.map_err(|_| anyhow::anyhow!("a run is missing"))
    };
    (0..count).map(round).collect()
}

/// The median over some rounds.
fn median<T>(rounds: &[T], of: impl Fn(&T) -> f64) -> f64 {
    let mut values: Vec<f64> = rounds.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The best over some rounds.
fn best<T>(rounds: &[T], of: impl Fn(&T) -> f64) -> f64 {
    rounds.iter().map(of).fold(0.0, f64::max)
}

/// Threads that keep a core busy each, while this lives.
struct Neighbours {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Neighbours {
    fn new(count: usize) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let busy = || {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        };
        let threads = (0..count).map(|_| busy()).collect();
        Self { stop, threads }
    }
}

impl Drop for Neighbours {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ended = thread.join();
        }
    }
}

fn scenario(network: &Network, load: f64, power: &str) -> String {
    let duration = network.duration_ns * (0.4 / load).min(2.0);
    format!(
        "[topology]\n{}\n[traffic]\nkind = \"uniform\"\nload = {load}\n\
         message_bytes = {MESSAGE}\n{power}[run]\nduration_ns = {duration}\n",
        network.topology
    )
}

/// One thread and two beside so many busy processes.
fn beside_neighbours(folder: &Path) -> Result<Table> {
    let cores = std::thread::available_parallelism()?.get();
    let mut table = Table::new();
    table.load_preset(UTF8_HORIZONTAL_ONLY).set_header([
        "dragonfly, 1,056 nodes, 40 %: busy neighbours".to_owned(),
        format!("2 threads, wall ({cores} cores)"),
        "2 threads, CPU".to_owned(),
    ]);
    let scenario = scenario(&NETWORKS[0], 0.4, POWER);
    for count in [0, 1, cores] {
        let _neighbours = Neighbours::new(count);
        let runs = [(&*scenario, 1), (&*scenario, 2)];
        let rounds = rounds(folder, runs, ROUNDS[0])?;
        let faster = median(&rounds, |[one, two]| one.wall_seconds / two.wall_seconds);
        let more = median(&rounds, |[one, two]| two.cpu_seconds / one.cpu_seconds);
        table.add_row([
            count.to_string(),
            format!("{faster:.2} times as fast"),
            format!("{more:.2} times as much"),
        ]);
    }
    Ok(table)
}

fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let full = std::env::var("LINKDOZE_BENCH").is_ok_and(|value| value == "full");
    let large = if full { &LARGE[..] } else { &LARGE[..1] };
    let mut table = Table::new();
    table.load_preset(UTF8_HORIZONTAL_ONLY).set_header([
        "network",
        "load",
        "M hops/CPU s, always on",
        "with PerfBound",
        "power management",
        "against 1,056 nodes",
        "2 threads, wall",
        "KiB/node",
    ]);
    let mut small: Vec<(f64, f64)> = Vec::new();
    let small_ones = NETWORKS.iter().map(|network| (network, ROUNDS[0]));
    let large_ones = large.iter().map(|network| (network, ROUNDS[1]));
    for (network, count) in small_ones.chain(large_ones) {
        for &load in network.loads {
            let (always_on, perfbound) =
                (scenario(network, load, ""), scenario(network, load, POWER));
            let runs = [(&*always_on, 1), (&*perfbound, 1), (&*perfbound, 2)];
            let rounds = rounds(folder.path(), runs, count)?;
            let rate = best(&rounds, |[_, saving, _]| saving.rate());
            if network.name == NETWORKS[0].name {
                small.push((load, rate));
            }
            let base = small.iter().find(|(at, _)| *at == load);
            let (_, base) = base.context("every load is measured on the first network")?;
            let share = median(&rounds, |[plain, saving, _]| {
                1.0 - saving.rate() / plain.rate()
            });
            let faster = median(&rounds, |[_, one, two]| one.wall_seconds / two.wall_seconds);
            let per_node = median(&rounds, |[_, saving, _]| saving.bytes / saving.nodes);
            table.add_row([
                network.name.to_owned(),
                format!("{:.0} %", 100.0 * load),
                format!("{:.2}", best(&rounds, |[plain, ..]| plain.rate()) / 1e6),
                format!("{:.2}", rate / 1e6),
                format!("{:.0} %", 100.0 * share),
                format!("{:.2}", rate / base),
                format!("{faster:.2}"),
                format!("{:.1}", per_node / 1024.0),
            ]);
        }
    }
    for column in 1..=7 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    println!("{table}\n\n{}", beside_neighbours(folder.path())?);
    Ok(())
}
