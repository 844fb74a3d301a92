use std::collections::BTreeMap;

use super::*;
use crate::hdl::census;
use crate::rtl;

fn estimate(text: &str) -> Estimate {
    Estimate::new(&Config::parse(text, "a").unwrap(), None)
}

/// PerfBound Table 5, every cell as printed.
#[test]
fn table_5_as_printed() {
    let printed = estimate("").table5_printed;
    let paper = [
        (16, ["65.54 μs", "655.36 μs", "6.554 ms", "66 ms"]),
        (32, ["4.295 s", "43 s", "429 s", "4×10^3 s"]),
        (48, ["2.81×10^5 s", "3×10^6 s", "28×10^6 s", "2.81×10^8 s"]),
        (
            64,
            ["1.8×10^10 s", "1.84×10^11 s", "2×10^12 s", "1.8×10^13 s"],
        ),
        (
            128,
            ["3.4×10^29 s", "3×10^30 s", "3.4×10^31 s", "3.4×10^32 s"],
        ),
    ];
    for (width, row) in paper {
        assert_eq!(printed.rows[&width], row, "{width} bits");
    }
}

#[test]
fn table_5_in_seconds() {
    let seconds = estimate("").table5_seconds;
    assert_eq!(
        seconds.rows[&16],
        [6.5536e-05, 0.00065536, 0.0065536, 0.065536]
    );
    assert_eq!(seconds.rows[&48][0], 281474.976710656);
    assert_eq!(seconds.rows[&64][3], 18446744073709.55);
    assert_eq!(seconds.rows[&128][0], 3.402823669209385e+29);
    let own = longest_time(24, 6400);
    assert_eq!((own.seconds, own.printed), (0.1073741824, None));
    assert_eq!(own.resolution_ns, "6.4");
    assert_eq!(
        longest_time(64, 1000).exact_seconds,
        "18446744073.709551616"
    );
}

/// PerfBound 3.3 by hand: 8 bits * 256 bins; + 32 bits * 250 samples; 20 000 samples of 40 bits
/// are 100 000 bytes, within the MiB of the paper.
#[test]
fn memory_formulas_by_hand() {
    let memory = estimate("").memory;
    assert_eq!(
        memory.clearing,
        Size {
            bits: 2048,
            bytes: 256
        }
    );
    assert_eq!(memory.histogram, memory.clearing);
    assert_eq!(memory.populated_bins.bits, 8 * 250);
    assert_eq!(memory.circular.bits, 2048 + 32 * 250);
    assert_eq!(memory.map.bits, (8 + 8) * 64);
    assert_eq!(memory.circular_20000_samples.bytes, 100_000);
    // 16 outcomes; logarithms within ±32 with 10 fraction bits: 1 + 5 + 10 bits each.
    assert_eq!(
        (memory.ratio_bits, memory.correction.bits),
        (16, 16 + 16 * 16)
    );
    // As many bins as samples: h_maxN * (w_counter + s_elem), the paper's bound.
    let square = estimate(
        "[histogram]\nkind = \"circular\"\nbins = 4096\nmax_samples = 4096\ncounter_bits = 13\nbin_ns = 512",
    );
    assert_eq!(square.memory.histogram.bits, 4096 * (13 + 32));
}

#[test]
fn widths_of_the_default() {
    let estimate = estimate("");
    let bits = |name: &str| {
        let register = estimate.registers.iter().find(|r| r.name == name);
        register.map(|register| register.bits)
    };
    assert_eq!(bits("t_PDT"), Some(32));
    // 4480 cycles up from deep sleep.
    assert_eq!(bits("transition timer"), Some(13));
    assert_eq!(bits("sample count"), Some(8));
    // N up to 449 within the second of the time to live.
    assert_eq!(bits("budget N"), Some(9));
    assert_eq!(bits("tick prescaler"), None);
}

/// A regular histogram counts no samples; its counters and its window have room until they are halved.
#[test]
fn widths_of_a_regular_histogram() {
    let bits = |of: &Estimate, name: &str| {
        let register = of.registers.iter().find(|register| register.name == name);
        register.map(|register| register.bits)
    };
    let text = "[histogram]\nkind = \"regular\"\nbins = 4096\nbin_ns = 1024\n";
    let config = Config::parse(text, "a").unwrap();
    let census = census::count(&rtl::design(&config).unwrap());
    let many = Estimate::new(&config, Some(census));
    assert_eq!(bits(&many, "sample count"), None);
    assert_eq!(bits(&many, "window X"), Some(33));
    let counter = bits(&many, "histogram counter").unwrap();
    assert!(counter > 8, "{counter}");
    // The bound on a new threshold says what a halving adds to it.
    let halving = many.latency.as_ref().unwrap().halving_delay_cycles;
    assert!(halving > 4000, "{halving}");
}

#[test]
fn json_has_the_table_and_the_census() {
    let config = Config::parse("", "a").unwrap();
    let census = census::count(&rtl::design(&config).unwrap());
    let total = census.register_bits;
    let estimate = Estimate::new(&config, Some(census));
    let json = serde_json::to_value(&estimate).unwrap();
    assert_eq!(json["table5_max_time_s"]["32"][1], 42.94967296);
    assert_eq!(json["table5_max_time_s"]["resolution_ns"][3], 1000);
    assert_eq!(json["table5_printed"]["16"][3], "66 ms");
    assert_eq!(json["max_time"]["seconds"], 4.294967296);
    assert_eq!(json["census"]["register_bits"], total);
    // 256 counters of 8 bits; 16 groups with a bit per bin and a sum of up to 250.
    assert_eq!(json["census"]["memory_bits"], 256 * 8 + 16 * (16 + 8));
    assert_eq!(json["latency"]["update_cycles"], 40);
    assert_eq!(json["memory"]["h_maxN"], 250);
}

/// PerfBound 3.3 with 200 bins, 250 samples in counters of a byte, 20 000 in counters of two, and
/// stored lengths of 32 bits; 4 generations.
#[test]
fn histograms_of_perfbound_paper_by_hand() {
    let accounts = estimate("").perfbound_paper_histograms;
    let formula: Vec<(&str, u32, u64)> = accounts
        .iter()
        .map(|account| (account.kind, account.h_max_n, account.formula_bits))
        .collect();
    assert_eq!(
        formula,
        [
            ("regular", 250, 200 * 8),
            ("clearing", 250, 200 * 8),
            ("circular", 250, 200 * 8 + 250 * 32),
            ("map", 250, 64 * 8),
            ("decaying", 250, 4 * 200 * 8),
            ("regular", 20_000, 200 * 16),
            ("clearing", 20_000, 200 * 16),
            ("circular", 20_000, 200 * 16 + 20_000 * 32),
            ("map", 20_000, 64 * 16),
            ("decaying", 20_000, 4 * 200 * 16),
        ]
    );
}

/// The formula and the differences make up the census of the histogram's blocks, in every
/// configuration that has one.
#[test]
fn accounts_balance() {
    let default = Config::parse("", "a").unwrap();
    let census = census::count(&rtl::design(&default).unwrap());
    let of_default = Account::new(&default, Some(&census));
    let own: u64 = census
        .entries
        .iter()
        .filter(|entry| entry.block.starts_with("port.clearing"))
        .map(|entry| entry.bits)
        .sum();
    assert_eq!(of_default.hardware_bits, Some(own));
    let mut balanced = 0;
    for account in Account::of_the_perfbound_paper()
        .iter()
        .chain([&of_default])
    {
        let Some(hardware) = account.hardware_bits else {
            continue;
        };
        let differences: i64 = account.differences.iter().map(|d| d.bits).sum();
        assert_eq!(account.formula_bits as i64 + differences, hardware as i64);
        balanced += 1;
    }
    assert!(balanced >= 3, "{balanced} of the accounts have hardware");
}

/// 256 words for 200 bins; 15 bits hold 20 000.
#[test]
fn differences_of_the_clearing_histogram() {
    let accounts = Account::of_the_perfbound_paper();
    let clearing = |samples| {
        let mut accounts = accounts.iter();
        let account = accounts.find(|a| a.kind == "clearing" && a.h_max_n == samples);
        let differences = account.unwrap().differences.iter();
        differences
            .map(|difference| (difference.name.as_str(), difference.bits))
            .collect::<BTreeMap<&str, i64>>()
    };
    assert_eq!(clearing(250)["counters: words"], 56 * 8);
    assert!(!clearing(250).contains_key("counters: width"));
    assert_eq!(clearing(20_000)["counters: words"], 56 * 16);
    // 10 bits instead of 16: no budget of that configuration reaches 2^9 packets.
    assert_eq!(clearing(20_000)["counters: width"], -6 * 256);
    // 16 groups of 16 bins: a bit per group, and per bin.
    assert_eq!(clearing(250)["populated"], 16);
    assert!(clearing(250)["groups"] >= 16 * 16);
}

#[test]
fn policies_without_a_histogram_have_no_account() {
    let fixed = estimate("[port]\npolicy = \"fixed\"");
    assert_eq!(fixed.histogram, None);
}

#[test]
fn configurations_without_hardware_are_estimated_too() {
    let map = estimate("[histogram]\nkind = \"map\"\nmap_entries = 1");
    assert!(map.no_hardware.unwrap().contains("2 to 256 entries"));
}

/// SPEC 8 asks for 2^-10; the goal of the latency is 48 cycles for 256 bins, and 62 where the budget is
/// multiplied, two bits of a window of 32 in each cycle.
#[test]
fn the_correction_is_exact_and_quick_enough() {
    for kind in HistogramKind::ALL {
        for mode in ["at-least-one", "raw"] {
            let text = format!(
                "[port]\npolicy = \"perfbound-correct\"\n[correction]\nmode = \"{mode}\"\n\
                 [histogram]\nkind = \"{}\"\nbins = 256\nmap_entries = 32\n",
                kind.name()
            );
            let config = Config::parse(&text, "test").unwrap();
            let census = census::count(&rtl::design(&config).unwrap());
            let estimate = Estimate::new(&config, Some(census));
            assert!(estimate.accuracy.unwrap().relative <= 2f64.powi(-10));
            let latency = estimate.latency.unwrap();
            let multiplies = matches!(
                kind,
                HistogramKind::Regular | HistogramKind::Circular | HistogramKind::Decaying
            );
            let goal = if multiplies { 62 } else { 48 };
            assert!(
                latency.update_cycles <= goal,
                "{kind:?} {mode}: {latency:?}"
            );
        }
    }
}

#[test]
fn a_factor_wider_than_a_vector_is_refused() {
    let text = "[port]\ntime_width = 64\npolicy = \"perfbound-correct\"\n\
                [histogram]\nbin_ns = 1\nmax_value_ns = 9007199254740992\n\
                [correction]\nmode = \"raw\"\nfraction_bits = 16\n";
    let estimate = estimate(text);
    assert!(estimate.no_hardware.unwrap().contains("max_value_ns"));
}

/// An answer takes 2D + 1 cycles; three messages of START fit into the time-out and the longest
/// transitions, t_s + t_w = 6480 cycles by default.
#[test]
fn the_longest_cable() {
    let longest = |clock: &str, timeout: u64| {
        let text = format!("{clock}[port]\nsync_timeout_ns = {timeout}\n");
        let wait = estimate(&text).wait.unwrap();
        (wait.longest_delay_cycles, wait.longest_cable_m)
    };
    assert_eq!(longest("", 1), (0, 0.0));
    assert_eq!(longest("", 2001), (1000, 200.0));
    assert_eq!(longest("", 2002), (1000, 200.0));
    assert_eq!(longest("", 60_000), ((60_000 + 6480) / 3, 4432.0));
    let slow = "[clock]\nperiod_ps = 2000\ntick_ns = 2\n";
    assert_eq!(longest(slow, 4002), (1000, 400.0));
}

/// Down and up once: 2000 + 4480 cycles by default; the longest of hybrid's two.
#[test]
fn the_wait_with_levels() {
    let wait = |settings: &str| {
        let estimate = estimate(&format!("[port]\nsync = \"levels\"\n{settings}"));
        assert!(estimate.wait.is_none());
        estimate.wait_with_levels_cycles.unwrap()
    };
    assert_eq!(wait(""), 6480);
    assert_eq!(wait("sleep = \"fast-wake\"\n"), 575);
    assert_eq!(wait("sleep = \"hybrid\"\n"), 6480);
    assert_eq!(estimate("").wait_with_levels_cycles, None);
}

/// SPEC 3: by the longest of threshold and backstop, plus what the exchange of messages takes.
#[test]
fn the_time_to_sleep() {
    let of = |settings: &str| estimate(&format!("[port]\n{settings}")).time_to_sleep;
    // Without messages it is the timer alone: one tick more than h_maxval.
    let levels = of("sync = \"levels\"\nt_backstop_ns = 5000000\n").unwrap();
    assert_eq!(
        [levels.timer_cycles, levels.end_cycles, levels.link_cycles],
        [5_000_001; 3]
    );
    // A short timer: START, 10 000 + 3 + 2000 + 4480 cycles, and twice the time-out, 10 001.
    let fixed = "policy = \"fixed\"\nt_pdt_ns = 100\nt_backstop_ns = 200\n";
    let short = of(fixed).unwrap();
    assert_eq!(short.timer_cycles, 201);
    assert_eq!(short.end_cycles, 16_483 + 2 * 10_001);
    // Over the longest delay, 4999 cycles: 3 * 4999 + 3 more once the end has asked.
    assert_eq!(short.link_cycles, 16_483 + 10_001 + 15_000);
    // The default backstop is h_maxval, also of a fixed threshold.
    let default = of("").unwrap();
    assert_eq!(default.timer_cycles, 4_194_305);
    let fixed = of("policy = \"fixed\"\nt_pdt_ns = 100\n").unwrap();
    assert_eq!(fixed.timer_cycles, 4_194_305);
    assert_eq!(of("t_backstop_ns = \"off\"\n"), None);
    assert_eq!(of("policy = \"always-on\"\n"), None);
}

/// A guard of three packets.
const GUARDED: &str = "[guard]\nburst = 3\n[perfbound]\nbound = 0.01\nhops = [[2, 1.0]]\n";

/// SPEC 12: l = 1 % / 2 links, t_w = 4480 ns: a wake-up every 0.896 ms, and 3 at once, 13.44 us.
#[test]
fn the_promise_of_a_guard() {
    let guarded = estimate(GUARDED);
    let promise = guarded.guard.unwrap();
    assert_eq!(promise.burst, 3);
    assert!((promise.token_ns - 896_000.0).abs() < 1e-6);
    assert_eq!((promise.t_w_ns, promise.burst_wait_ns), (4480.0, 13_440.0));
    assert!((promise.share - 0.005).abs() < 1e-12);
    assert!(!promise.adjustable);
    assert_eq!(estimate("").guard, None);
    // Measured hop counts: packets that cross one link make the most tokens, one in 4480 ns / 1 %.
    let measured = "[guard]\nburst = 3\n[perfbound]\nbound = 0.01\nhops = \"measured\"\n";
    let promise = estimate(measured).guard.unwrap();
    assert!((promise.token_ns - 448_000.0).abs() < 1e-6);
    assert!(!promise.adjustable);
    let promise = estimate(&format!("[port]\nregisters = true\n{GUARDED}"))
        .guard
        .unwrap();
    assert!((promise.token_ns - 896_000.0).abs() < 1e-6);
    assert!(promise.adjustable);
    // Software chooses among all states and up to twice their times: a policy that does not predict has
    // no rate that follows, and the promise is that of the longest.
    let text =
        "[port]\npolicy = \"fixed\"\nsleep = \"fast-wake\"\nregisters = true\ntiming_range = 2\n";
    let promise = estimate(&format!("{text}{GUARDED}")).guard.unwrap();
    assert_eq!(
        (promise.t_w_ns, promise.token_ns.round()),
        (8960.0, 1_792_000.0)
    );
}

#[test]
fn notes_are_those_of_every_command_and_of_the_estimate() {
    let notes = estimate("[histogram]\nmax_samples = 1000\n").notes;
    assert_eq!(notes.len(), 2);
    assert!(notes[0].starts_with("no threshold is near the break-even time"));
    assert!(notes[1].starts_with("histogram.counter_bits = 8: "));
}
