//! Random legal configurations: all of them can be built, and what is emitted is lint-clean.
//!
//! `make configurations` does the same with 5,000 of them and lints each.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::time::Instant;

use linkdoze::config::Config;
use linkdoze::{hdl, rtl};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::common::every_case;

/// How many configurations the tests build, and every how many of them is linted: switches, too, which are
/// every seventh of them.
const COUNT: usize = 100;
const EVERY: usize = 45;
/// The same with `make test-all`.
const EVERY_OF_ALL: usize = 24;

/// Why a drawn configuration may be refused: limits that depend on several keys at once, so
/// that it is simpler to draw again. Each is documented where it is refused.
const REFUSALS: [&str; 5] = [
    "write bound, proportions or hop_factor with fewer digits",
    "a bucket is refilled by less",
    "numbers of more than 100 bits",
    "correction.fraction_bits",
    "and a register has 32 bits",
];

/// From `low` to `high`, every order of magnitude alike.
fn log_uniform(rng: &mut ChaCha8Rng, low: u64, high: u64) -> u64 {
    let top = high.max(1).ilog2();
    let bits = rng.random_range(low.max(1).ilog2()..=top);
    let most = match bits {
        63 => u64::MAX,
        bits => (2u64 << bits) - 1,
    };
    rng.random_range(1u64 << bits..=most).clamp(low, high)
}

/// Picoseconds as a number of nanoseconds.
fn ns(ps: u128) -> String {
    format!("{}.{:03}", ps / 1000, ps % 1000)
}

/// A random configuration, most often a legal one.
fn configuration(rng: &mut ChaCha8Rng) -> String {
    let period = *[1000u64, 1000, 800, 1250, 2500, 1, 7, 10_000]
        .choose(rng)
        .unwrap();
    let tick = period * *[1u64, 1, 1, 2, 3, 10, 1000].choose(rng).unwrap();
    let width = rng.random_range(8..=64u32);
    // The longest time that is accepted at all is some 9 * 10^15 ns, whatever the width.
    let longest = (u64::MAX >> (64 - width)).min(9_000_000_000_000_000_000 / tick);
    let time = |ticks: u64| ns(u128::from(ticks) * u128::from(tick));
    let transition = |rng: &mut ChaCha8Rng| {
        let cycles = log_uniform(rng, 1, (1_000_000_000_000 / period).min(100_000));
        ns(u128::from(cycles) * u128::from(period))
    };

    let policy = *["always-on", "fixed", "perfbound", "perfbound-correct"]
        .choose_weighted(rng, |policy| match policy.starts_with("perf") {
            true => 4,
            false => 1,
        })
        .unwrap();
    let kind = *["regular", "clearing", "circular", "map", "decaying"]
        .choose(rng)
        .unwrap();
    let scale = *["linear", "log"].choose(rng).unwrap();
    let bins = match rng.random_bool(0.5) {
        true => 1 << rng.random_range(2..=width.min(12)),
        false => rng.random_range(4..=(1u64 << width.min(12))),
    };
    let reach = match scale {
        "log" => 1,
        _ => bins.next_power_of_two().trailing_zeros(),
    };
    let of_time = longest.ilog2().saturating_sub(reach);
    let bin_shift = rng.random_range(0..=of_time.min(width - reach).min(24));
    // Often near the end of the bins, on both sides of it.
    let end = bins << bin_shift;
    let max_value = match rng.random_range(0..4) {
        0 => (end - 1).saturating_sub(rng.random_range(0..3)),
        1 => end + rng.random_range(0..3),
        2 => log_uniform(rng, 1, end),
        _ => log_uniform(rng, 1, longest),
    }
    .clamp(1, longest);
    let max_samples = match (kind, rng.random_bool(0.1)) {
        ("circular", _) => log_uniform(rng, 1, 2000),
        (_, true) => u32::MAX.into(),
        _ => log_uniform(rng, 1, u32::MAX.into()),
    };
    let needed = match kind {
        "circular" => max_samples.ilog2() + 1,
        _ => 1,
    };
    let counter_bits = rng.random_range(needed..=32);
    let ttl = match rng.random_bool(0.2) {
        true => 0,
        false => log_uniform(rng, 1, longest),
    };
    let map_entries = rng.random_range(2..=bins.min(256));
    let t_pdt = rng.random_range(0..=longest);
    let t_pdt_init = rng.random_range(0..=max_value);
    let t_backstop = match rng.random_bool(0.3) {
        true => "\"off\"".to_owned(),
        false => time(log_uniform(rng, 0, longest)),
    };
    let burst = match rng.random_bool(0.5) {
        true => 0,
        false => log_uniform(rng, 1, 65_535),
    };
    let sync = match burst {
        0 => *["messages", "levels", "lpi"].choose(rng).unwrap(),
        _ => *["messages", "lpi"].choose(rng).unwrap(),
    };
    let sleep = *["fast-wake", "deep-sleep", "hybrid"].choose(rng).unwrap();
    let predicts = policy.starts_with("perf");
    let budget = match rng.random_range(0..3) {
        0 if predicts || burst == 0 => "hops = \"measured\"".to_owned(),
        1 => format!("hop_factor = 0.000{}", rng.random_range(1..100)),
        _ => "hops = [[2, 0.002], [4, 0.013], [5, 0.985]]".to_owned(),
    };
    let bound = *["0.001", "0.01", "0.05", "0.2", "0.33"]
        .choose(rng)
        .unwrap();
    let refresh = match rng.random_bool(0.3) {
        true => format!(
            "t_q_ns = {}\nt_r_ns = {}\n",
            transition(rng),
            transition(rng)
        ),
        false => String::new(),
    };
    let (hold, sync_timeout) = (transition(rng), time(log_uniform(rng, 1, longest)));
    let transitions = [0; 4].map(|_| transition(rng));
    let window = *["held", "elapsed"].choose(rng).unwrap();
    let history = match rng.random_bool(0.3) {
        true => 1 << rng.random_range(0..=10),
        false => rng.random_range(1..=1024),
    };
    let mode = *["at-least-one", "raw"].choose(rng).unwrap();
    let miss_unit = *["fraction", "percent"].choose(rng).unwrap();
    let fraction_bits = rng.random_range(4..=16);
    let hop_window = 1 << rng.random_range(1..=16);
    let registers = rng.random_bool(0.3);
    let control_pins = rng.random_bool(0.3);
    let triple_redundancy = rng.random_bool(0.2);
    let memory_code = *["none", "none", "parity", "secded"].choose(rng).unwrap();
    let adds_up = matches!(
        (kind, window),
        ("clearing" | "map", _) | ("circular", "elapsed")
    );
    let budget_step = match adds_up && !registers && budget != "hops = \"measured\"" {
        true => 1 << rng.random_range(0..=6),
        false => 1,
    };
    let timing_range = match registers && rng.random_bool(0.4) {
        true => rng.random_range(2..=16),
        false => 1,
    };
    format!(
        "[clock]\nperiod_ps = {period}\ntick_ns = {}\n\
         [port]\ntime_width = {width}\npolicy = \"{policy}\"\nsleep = \"{sleep}\"\n\
         t_pdt_ns = {}\nt_pdt_init_ns = {}\nt_backstop_ns = {t_backstop}\n\
         hybrid_hold_ns = {hold}\nsync = \"{sync}\"\nsync_timeout_ns = {sync_timeout}\n\
         registers = {registers}\n\
         timing_range = {timing_range}\n\
         control_pins = {control_pins}\n\
         triple_redundancy = {triple_redundancy}\n\
         memory_code = \"{memory_code}\"\n\
         [states.fast-wake]\nt_w_ns = {}\nt_s_ns = {}\n\
         [states.deep-sleep]\nt_w_ns = {}\nt_s_ns = {}\n{refresh}\
         [histogram]\nkind = \"{kind}\"\nbin_scale = \"{scale}\"\nbins = {bins}\nbin_ns = {}\n\
         counter_bits = {counter_bits}\nmax_samples = {max_samples}\nttl_ns = {}\n\
         map_entries = {map_entries}\nmax_value_ns = {}\n\
         [perfbound]\nbound = {bound}\n{budget}\nhop_window = {hop_window}\nwindow = \"{window}\"\n\
         budget_step_ticks = {budget_step}\n\
         [correction]\nhistory = {history}\nmode = \"{mode}\"\nmiss_unit = \"{miss_unit}\"\n\
         fraction_bits = {fraction_bits}\n\
         [guard]\nburst = {burst}\n",
        time(1),
        time(t_pdt),
        time(t_pdt_init),
        transitions[0],
        transitions[1],
        transitions[2],
        transitions[3],
        time(1 << bin_shift),
        time(ttl),
        time(max_value),
    )
}

/// What was drawn until a configuration was legal.
struct Drawn {
    config: Config,
    text: String,
    refused: usize,
}

/// The legal configuration of this seed, for a switch with registers if it has `ports`.
fn legal(seed: usize, ports: Option<u32>) -> Drawn {
    let mut rng = ChaCha8Rng::seed_from_u64(seed as u64);
    for refused in 0..100 {
        let text = configuration(&mut rng);
        let problem = match Config::parse(&text, "random.toml") {
            Ok(mut config) => {
                config.port.registers |= ports.is_some();
                match rtl::plan(&config) {
                    Ok(_) => {
                        return Drawn {
                            config,
                            text,
                            refused,
                        }
                    }
                    Err(error) => error.to_string(),
                }
            }
            Err(error) => error.to_string(),
        };
        assert!(
            REFUSALS.iter().any(|known| problem.contains(known)),
            "seed {seed}: {problem}\n{text}"
        );
    }
    panic!("seed {seed}: 100 configurations refused");
}

#[test]
fn random_legal_configurations_can_be_built() {
    let asked = std::env::var("CONFIGURATIONS").ok();
    let count = asked.as_deref().map_or(COUNT, |count| {
        count.parse().expect("CONFIGURATIONS is a number")
    });
    let every = match asked {
        Some(_) => 1,
        None if every_case() => EVERY_OF_ALL,
        None => EVERY,
    };
    let began = Instant::now();
    let done = AtomicUsize::new(0);
    let met = Mutex::new(BTreeMap::<String, usize>::new());
    let refused: usize = (0..count)
        .into_par_iter()
        .map(|seed| {
            let ports = (seed % 7 == 3).then_some(2);
            let Drawn {
                config,
                text,
                refused,
            } = legal(seed, ports);
            let files = match rtl::emit_all(&config, ports, &[]) {
                Ok(emitted) => [emitted.sources, emitted.checkers].concat(),
                Err(error) => panic!("seed {seed}: {error}\n{text}"),
            };
            if seed.is_multiple_of(every) {
                let verilog: Vec<_> = files
                    .into_iter()
                    .filter(|(name, _)| [".v", ".sv", ".f"].iter().any(|end| name.ends_with(end)))
                    .collect();
                if let Err(error) = hdl::check::lints(&verilog) {
                    panic!("seed {seed}: {error}\n{text}");
                }
            }
            for line in text.lines() {
                let word = line.split(" = ").next().unwrap();
                if [
                    "kind",
                    "bin_scale",
                    "policy",
                    "sync",
                    "registers",
                    "control_pins",
                    "triple_redundancy",
                    "memory_code",
                    "mode",
                    "miss_unit",
                ]
                .contains(&word)
                {
                    *met.lock().unwrap().entry(line.to_owned()).or_default() += 1;
                }
                if word == "burst" {
                    let guard = if line == "burst = 0" {
                        "no guard"
                    } else {
                        "guard"
                    };
                    *met.lock().unwrap().entry(guard.to_owned()).or_default() += 1;
                }
            }
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            if done.is_multiple_of(100) {
                let seconds = began.elapsed().as_secs();
                println!("{done} of {count} configurations built, {seconds} s");
            }
            refused
        })
        .sum();
    println!("{count} configurations built, {refused} drawn ones refused");
    let met = met.into_inner().unwrap();
    // Five kinds, two scales, four policies, three ways to agree, with registers and without, with
    // control pins and without, in copies and without, two codes and none, two modes, two units, with a guard
    // and without.
    assert_eq!(
        met.len(),
        5 + 2 + 4 + 3 + 2 + 2 + 2 + 3 + 2 + 2 + 2,
        "{met:?}"
    );
    assert!(refused < count, "{refused} refused for {count}");
}
