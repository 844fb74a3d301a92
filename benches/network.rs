//! How fast the network engine is, and how its cost grows: link hops (one packet over one
//! link, those of the NICs included) per CPU second of the whole process, set-up included,
//! with and without power management; networks of 1,000 nodes and larger ones; one thread and
//! two; memory per node.
//!
//! `cargo bench --bench network`; `LINKDOZE_BENCH=full` adds the largest networks.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{ensure, Context, Result};
use comfy_table::{presets::UTF8_HORIZONTAL_ONLY, CellAlignment, Table};
use serde_json::Value;

/// Repetitions of each; the best counts, as the machine may be shared.
const REPETITIONS: usize = 3;

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

/// The best of several repetitions of each run, given by scenario and threads. They take turns,
/// so that all see the machine alike.
fn best_of<const RUNS: usize>(
    folder: &Path,
    runs: [(&str, usize); RUNS],
) -> Result<[Measured; RUNS]> {
    let once = || -> Result<Vec<Measured>> {
        let runs = runs.iter();
        runs.map(|(scenario, threads)| simulate(folder, scenario, *threads))
            .collect()
    };
    let mut best = once()?;
    for _ in 1..REPETITIONS {
        for (best, measured) in best.iter_mut().zip(once()?) {
            if measured.wall_seconds < best.wall_seconds {
                *best = measured;
            }
        }
    }
    best.try_into()
        .map_err(|_| anyhow::anyhow!("a run is missing"))
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
    for network in NETWORKS.iter().chain(large) {
        for &load in network.loads {
            let duration = network.duration_ns * (0.4 / load).min(2.0);
            let scenario = |power: &str| {
                format!(
                    "[topology]\n{}\n[traffic]\nkind = \"uniform\"\nload = {load}\n\
                     message_bytes = {MESSAGE}\n{power}[run]\nduration_ns = {duration}\n",
                    network.topology
                )
            };
            let (always_on, perfbound) = (scenario(""), scenario(POWER));
            let runs = [(&*always_on, 1), (&*perfbound, 1), (&*perfbound, 2)];
            let [plain, saving, two] = best_of(folder.path(), runs)?;
            if network.name == NETWORKS[0].name {
                small.push((load, saving.rate()));
            }
            let base = small.iter().find(|(at, _)| *at == load);
            let (_, base) = base.context("every load is measured on the first network")?;
            table.add_row([
                network.name.to_owned(),
                format!("{:.0} %", 100.0 * load),
                format!("{:.2}", plain.rate() / 1e6),
                format!("{:.2}", saving.rate() / 1e6),
                format!("{:.0} %", 100.0 * (1.0 - saving.rate() / plain.rate())),
                format!("{:.2}", saving.rate() / base),
                format!("{:.2}", saving.wall_seconds / two.wall_seconds),
                format!("{:.1}", saving.bytes / saving.nodes / 1024.0),
            ]);
        }
    }
    for column in 1..=7 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    println!("{table}");
    Ok(())
}
