//! The latency that `estimate` prints, counted on the hardware: clock cycles from the first
//! active one after an idle period to the one with the new threshold, in which `update` is high.
//! The timer takes it over at the end of that cycle, so that the pin `t_pdt` shows it one later.

use std::fs;

use linkdoze::blocks::port::pins::Inputs;
use linkdoze::config::Config;
use linkdoze::cosim::native::Native;
use linkdoze::cosim::open_loop::OpenLoop;
use linkdoze::cosim::port::PortDesign;
use linkdoze::cosim::verilator::Compiled;
use linkdoze::cosim::Design;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde_json::Value;

use crate::common::{linkdoze, run};

/// The goal for 256 bins where the budget is multiplied, here with windows of 24 bits; 12 cycles less
/// elsewhere (`docs/decisions.md`, Budget).
const LONGEST: u64 = 60;

/// Every kind of histogram on both scales with both policies.
fn combinations() -> Vec<[&'static str; 3]> {
    let mut all = Vec::new();
    for kind in ["regular", "clearing", "circular", "map", "decaying"] {
        for scale in ["linear", "log"] {
            for policy in ["perfbound", "perfbound-correct"] {
                all.push([kind, scale, policy]);
            }
        }
    }
    all
}

/// Bins and windows so short that few cycles fill and clear them.
fn config([kind, scale, policy]: [&str; 3]) -> String {
    let bin = if scale == "log" { 1 } else { 4 };
    format!(
        "[port]\ntime_width = 24\npolicy = \"{policy}\"\nsync = \"levels\"\n\
         t_pdt_init_ns = 1024\n\
         [histogram]\nkind = \"{kind}\"\nbin_scale = \"{scale}\"\nbins = 256\nbin_ns = {bin}\n\
         max_value_ns = 1024\nmax_samples = 20\nttl_ns = 12000\nmap_entries = 64\n\
         [perfbound]\nhop_factor = 0.9\n[correction]\nhistory = 16\n\
         [states.deep-sleep]\nt_w_ns = 600\n"
    )
}

/// The figures that `estimate` prints: the latency, and what a halving adds to it.
fn printed(config: &str) -> [u64; 2] {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("port.toml"), config).unwrap();
    let estimate = ["estimate", "port.toml", "--json"];
    let (json, _) = run(linkdoze(folder.path()).args(estimate), 0);
    let json: Value = serde_json::from_str(&json).unwrap();
    ["update_cycles", "halving_delay_cycles"].map(|name| json["latency"][name].as_u64().unwrap())
}

/// What was seen of the new thresholds.
#[derive(Debug, Default)]
struct Seen {
    /// Clock cycles that the slowest one took.
    slowest: u64,
    /// How many differed from the one before.
    different: u32,
}

/// Lets so many idle periods end. Half of them are short, so that the search meets thresholds
/// at both ends of the histogram; each is followed by so many cycles of activity.
fn measure(mut engine: impl OpenLoop, periods: u32, active: u64) -> Seen {
    let quiet = Inputs::quiet();
    let busy = Inputs {
        queue_nonempty: true,
        transmitting: true,
        ..quiet
    };
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut seen = Seen::default();
    // An idle period begins after activity.
    engine.pass(&busy, 1).unwrap();
    for _ in 0..periods {
        let longest = if random.random_bool(0.5) { 16 } else { 1200 };
        let idle = random.random_range(1..longest);
        let mut threshold = engine.pass(&quiet, idle).unwrap().t_pdt;
        let mut latency = None;
        for cycle in 1..=active {
            let outputs = engine.pass(&busy, 1).unwrap();
            if outputs.update {
                latency = Some(cycle);
            }
            if outputs.t_pdt != threshold {
                threshold = outputs.t_pdt;
                seen.different += 1;
                assert_eq!(latency, Some(cycle - 1), "`t_pdt` follows `update`");
            }
        }
        let latency = latency.expect("a new threshold after every idle period");
        seen.slowest = seen.slowest.max(latency);
    }
    seen
}

fn check(combination: [&str; 3], seen: &Seen) {
    let [promised, _] = printed(&config(combination));
    println!("{combination:?}: {seen:?}, printed {promised}");
    let multiplies = ["regular", "circular", "decaying"].contains(&combination[0]);
    let longest = if multiplies { LONGEST } else { LONGEST - 12 };
    assert!(promised <= longest, "{combination:?}: {promised}");
    // The bound holds, and is no more than one cycle from what happens.
    let reached = promised - 1..=promised;
    assert!(reached.contains(&seen.slowest), "{combination:?}: {seen:?}");
    assert!(seen.different >= 5, "{combination:?}: {seen:?}");
}

fn design(combination: [&str; 3]) -> PortDesign {
    let config = Config::parse(&config(combination), "port.toml").unwrap();
    PortDesign::new(&config).unwrap()
}

#[test]
#[ignore = "long; make test-all runs it"]
fn every_histogram_answers_as_fast_as_estimated() {
    combinations().into_par_iter().for_each(|combination| {
        let design = design(combination);
        let engine = Native::new(design.native().unwrap(), design.plan()).unwrap();
        check(combination, &measure(engine, 60, LONGEST + 1));
    });
}

/// The emitted Verilog itself, of the slowest and of another kind.
#[test]
fn the_verilog_answers_as_fast_as_estimated() {
    for combination in [
        ["circular", "linear", "perfbound-correct"],
        ["map", "log", "perfbound"],
    ] {
        let design = design(combination);
        let compiled = Compiled::fast(&design.verilog().unwrap(), design.plan()).unwrap();
        check(
            combination,
            &measure(compiled.engine().unwrap(), 3000, LONGEST + 1),
        );
    }
}

/// SPEC 6: counters of two bits are halved again and again, which takes a cycle a bin.
#[test]
fn a_halving_takes_as_long_as_estimated() {
    for policy in ["perfbound", "perfbound-correct"] {
        let config = config(["regular", "linear", policy])
            .replace("bins = 256", "bins = 256\ncounter_bits = 2");
        let [latency, halving] = printed(&config);
        assert!(halving > 200, "{halving}");
        let design = PortDesign::new(&Config::parse(&config, "port.toml").unwrap()).unwrap();
        let compiled = Compiled::fast(&design.verilog().unwrap(), design.plan()).unwrap();
        let promised = latency + halving;
        let seen = measure(compiled.engine().unwrap(), 3000, promised + 1);
        println!("{policy}: {seen:?}, printed {latency} and {halving}");
        let reached = promised - 2..=promised;
        assert!(reached.contains(&seen.slowest), "{policy}: {seen:?}");
    }
}
