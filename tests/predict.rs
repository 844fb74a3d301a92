//! `predict`: the papers' mathematics, the golden model and the emitted Verilog give the
//! same predictions.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tempfile::TempDir;

use crate::common::{linkdoze, run, without_notes};

const MODELS: [&str; 3] = ["reference", "golden", "rtl"];

/// A shape of the controller.
struct Case {
    time_width: u32,
    tick_ns: u64,
    /// `r_bin` in ticks.
    bin: u64,
    /// `h_maxval` in ticks: 256 bins, or fewer where the width has no room for them.
    max_value: u64,
    /// `TTL_hist` in ticks.
    ttl: u64,
    hop_factor: f64,
}

const CASES: [Case; 5] = [
    // 16 bits: idle periods reach 65535 ticks, where the meter saturates.
    Case {
        time_width: 16,
        tick_ns: 1,
        bin: 64,
        max_value: 16384,
        ttl: 65535,
        hop_factor: 0.9,
    },
    Case {
        time_width: 24,
        tick_ns: 1,
        bin: 256,
        max_value: 65536,
        ttl: 2_000_000,
        hop_factor: 0.08,
    },
    Case {
        time_width: 32,
        tick_ns: 1,
        bin: 1024,
        max_value: 200_000,
        ttl: 3_000_000,
        hop_factor: 0.03,
    },
    Case {
        time_width: 48,
        tick_ns: 1,
        bin: 512,
        max_value: 131_072,
        ttl: 0,
        hop_factor: 0.05,
    },
    Case {
        time_width: 32,
        tick_ns: 10,
        bin: 16,
        max_value: 4096,
        ttl: 300_000,
        hop_factor: 0.11,
    },
];

impl Case {
    fn config(&self) -> String {
        let ns = |ticks: u64| ticks * self.tick_ns;
        format!(
            "[clock]\ntick_ns = {}\n[port]\ntime_width = {}\nt_pdt_init_ns = {}\n\
             [histogram]\nbin_ns = {}\nmax_value_ns = {}\nttl_ns = {}\nmax_samples = 250\n\
             [perfbound]\nhop_factor = {}\n",
            self.tick_ns,
            self.time_width,
            ns(self.max_value),
            ns(self.bin),
            ns(self.max_value),
            ns(self.ttl),
            self.hop_factor
        )
    }

    /// Periods whose active parts are longer than `latency` ticks: bursts of short gaps,
    /// a heavy tail (Pareto, alpha = 1), the boundaries of bins, of the histogram and, if
    /// it is near, of the meter.
    fn periods(&self, count: usize, latency: u64) -> String {
        let mut random = ChaCha8Rng::seed_from_u64(u64::from(self.time_width) + self.tick_ns);
        let mut text = String::from("busy,idle\n");
        let mut burst = 0u32;
        for _ in 0..count {
            let busy = latency + 1 + random.random_range(0..200);
            if burst == 0 && random.random_ratio(1, 30) {
                burst = random.random_range(10..120);
            }
            let idle = if burst > 0 {
                burst -= 1;
                random.random_range(1..=self.bin)
            } else {
                match random.random_range(0..100) {
                    0..10 => {
                        let boundary = random.random_range(1..self.max_value / self.bin) * self.bin;
                        boundary - 1 + random.random_range(0..3)
                    }
                    10..12 => self.max_value - 1 + random.random_range(0..3),
                    12 if self.time_width == 16 => 65534 + random.random_range(0..3),
                    _ => {
                        // Truncation is the point: whole ticks.
                        let tail = self.bin as f64 / (1.0 - random.random::<f64>());
                        (tail as u64).min(2 * self.max_value)
                    }
                }
            };
            writeln!(text, "{busy},{idle}").unwrap();
        }
        text
    }
}

/// Cycles after the end of an idle period in which the controller recomputes the
/// threshold, as `estimate` prints them.
fn latency(folder: &Path) -> u64 {
    let estimate = &mut linkdoze(folder);
    let (json, _) = run(estimate.args(["estimate", "port.toml", "--json"]), 0);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let figure = |name: &str| json["latency"][name].as_u64().unwrap();
    figure("update_cycles") + figure("halving_delay_cycles")
}

fn predict(folder: &Path, model: &str) -> (String, String) {
    let arguments = ["predict", "port.toml", "--periods", "p.csv", "--model"];
    run(linkdoze(folder).args(arguments).arg(model), 0)
}

fn folder(case: &Case) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("port.toml"), case.config()).unwrap();
    folder
}

/// The first line in which two outputs differ.
fn assert_same(one: &str, other: &str, what: &str) {
    for (line, (a, b)) in one.lines().zip(other.lines()).enumerate() {
        assert_eq!(a, b, "{what}, line {}", line + 1);
    }
    assert!(one == other, "{what}: as many lines, the same bytes");
}

/// The columns of an output; `header` and `count` lines.
fn columns(text: &str, count: usize) -> Vec<Vec<u64>> {
    let mut lines = text.lines();
    assert_eq!(
        lines.next(),
        Some("period,t_inac,miss,window,budget,t_pb,cf,t_pdt")
    );
    let rows: Vec<Vec<u64>> = lines
        .map(|line| {
            line.split(',')
                .map(|field| field.parse().unwrap())
                .collect()
        })
        .collect();
    assert_eq!(rows.len(), count);
    (0..8)
        .map(|column| rows.iter().map(|row| row[column]).collect())
        .collect()
}

#[test]
fn the_three_models_agree() {
    const COUNT: usize = 5000;
    // Cases in which even the highest bin exceeds the budget (SPEC 7.5).
    let mut never = 0;
    for case in &CASES {
        let folder = folder(case);
        let path = folder.path();
        let latency = latency(path);
        fs::write(path.join("p.csv"), case.periods(COUNT, latency)).unwrap();
        let [reference, golden, rtl] = MODELS.map(|model| {
            let (out, err) = predict(path, model);
            assert_eq!(err, "", "{model}");
            out
        });
        let what = format!("{} bits, ticks of {} ns", case.time_width, case.tick_ns);
        assert_same(&reference, &golden, &format!("{what}: reference, golden"));
        assert_same(&golden, &rtl, &format!("{what}: golden, rtl"));

        // Not a trivial input.
        let columns = columns(&reference, COUNT);
        let [_, t_inac, miss, window, budget, t_pb, cf, t_pdt] = &columns[..] else {
            unreachable!("eight columns");
        };
        let distinct = |column: &[u64]| column.iter().collect::<BTreeSet<_>>().len();
        let misses = miss.iter().filter(|&&miss| miss == 1).count();
        let shown = format!(
            "{what}: {misses} misses, {} thresholds, {} budgets, {} clears",
            distinct(t_pb),
            distinct(budget),
            window.iter().filter(|&&window| window == 0).count(),
        );
        println!("{shown}");
        assert!(distinct(t_pb) >= 20, "{shown}");
        assert!(distinct(budget) >= 10, "{shown}");
        assert!((50..COUNT - 50).contains(&misses), "{shown}");
        assert!(window.contains(&0), "{shown}");
        assert!(t_inac.contains(&case.max_value) && t_inac.iter().any(|&t| t < case.bin));
        never += u32::from(t_pb.contains(&case.max_value));
        assert!(cf.iter().all(|&cf| cf == 1));
        assert_eq!(t_pb, t_pdt);
    }
    assert!(never > 0);
}

/// Every kind of histogram on both scales, a few samples to a window, so that they forget
/// often; a map runs out of its entries. The Verilog of each kind on one of the scales.
#[test]
fn every_histogram_agrees() {
    const COUNT: usize = 3000;
    let case = &CASES[1];
    let kinds = ["regular", "clearing", "circular", "map", "decaying"];
    for (place, kind) in kinds.into_iter().enumerate() {
        for (other, scale) in ["linear", "log"].into_iter().enumerate() {
            let folder = folder(case);
            let path = folder.path();
            let histogram = format!(
                "[histogram]\nkind = \"{kind}\"\nbin_scale = \"{scale}\"\nmap_entries = 12\n"
            );
            let mut config = case.config().replace("[histogram]\n", &histogram);
            config = config.replace("max_samples = 250", "max_samples = 60");
            if scale == "log" {
                config = config.replace(&format!("bin_ns = {}", case.bin), "bin_ns = 1");
            }
            fs::write(path.join("port.toml"), config).unwrap();
            let latency = latency(path);
            fs::write(path.join("p.csv"), case.periods(COUNT, latency)).unwrap();
            let what = format!("{kind}, {scale}");
            let (reference, _) = predict(path, "reference");
            let (golden, _) = predict(path, "golden");
            assert_same(&reference, &golden, &format!("{what}: reference, golden"));
            if place % 2 == other {
                let (rtl, _) = predict(path, "rtl");
                assert_same(&golden, &rtl, &format!("{what}: golden, rtl"));
            }
            let columns = columns(&golden, COUNT);
            let distinct = |column: usize| columns[column].iter().collect::<BTreeSet<_>>().len();
            assert!(distinct(4) >= 3, "{what}: {} budgets", distinct(4));
            assert!(distinct(5) >= 10, "{what}: {} thresholds", distinct(5));
        }
    }
}

/// SPEC 6: a regular histogram is halved where counters or window would pass their largest values.
/// A clock of 1 us and idle periods of 300 us in the mean, as of 18 s of a port (60,000 periods),
/// with windows of 20 bits, 1.05 s, and counters of 32 bits, which never fill, or of 7, which do.
/// Stationary traffic has one threshold, within a bin of it for the noise of some thousand samples:
/// after 4 s, when windows have ended four times, as after 18 s.
#[test]
fn a_regular_histogram_does_not_drift() {
    const COUNT: usize = 30_000;
    for counter_bits in [32, 7] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        // A threshold of 0.3 ms * ln(1 / p) for one period in ten, l X / t_w = 0.1 X / 0.6 ms.
        let config = format!(
            "[clock]\nperiod_ps = 1000000\ntick_ns = 1000\n[port]\ntime_width = 20\n\
             [states.fast-wake]\nt_w_ns = 1000\nt_s_ns = 1000\n\
             [states.deep-sleep]\nt_w_ns = 5000\nt_s_ns = 2000\n\
             [histogram]\nkind = \"regular\"\nbin_ns = 32000\ncounter_bits = {counter_bits}\n\
             [perfbound]\nhop_factor = 0.00083\n"
        );
        fs::write(path.join("port.toml"), config).unwrap();
        let busy = latency(path) + 1;
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let mut text = String::from("busy,idle\n");
        for _ in 0..COUNT {
            let idle = -300.0 * (1.0 - random.random::<f64>()).ln();
            writeln!(text, "{busy},{}", 1 + idle as u64).unwrap();
        }
        fs::write(path.join("p.csv"), text).unwrap();
        let [reference, golden, rtl] = MODELS.map(|model| predict(path, model).0);
        let what = format!("counters of {counter_bits} bits");
        assert_same(&reference, &golden, &format!("{what}: reference, golden"));
        assert_same(&golden, &rtl, &format!("{what}: golden, rtl"));
        let columns = columns(&golden, COUNT);
        let (window, t_pb) = (&columns[3], &columns[5]);
        let halvings = window.windows(2).filter(|pair| pair[1] < pair[0]).count();
        assert!(halvings > 20, "{what}: {halvings} halvings");
        assert!(window.iter().all(|&window| window < 1 << 20));
        let mean = |from: usize| t_pb[from..from + 3000].iter().sum::<u64>() as f64 / 3000.0;
        let (early, late) = (mean(6000), mean(COUNT - 3000));
        println!("{what}: {halvings} halvings, {early} us, {late} us");
        assert!(
            (late / early - 1.0).abs() < 0.1,
            "{what}: {early}, then {late}"
        );
    }
}

/// Without the Verilog, which would take hours for them: idle periods and windows of more
/// than 32 bits.
#[test]
fn long_periods_of_wide_counters() {
    let case = Case {
        time_width: 48,
        tick_ns: 1,
        bin: 1 << 36,
        max_value: 1 << 44,
        ttl: 1 << 46,
        hop_factor: 2e-9,
    };
    let folder = folder(&case);
    let path = folder.path();
    let latency = latency(path);
    fs::write(path.join("p.csv"), case.periods(2000, latency)).unwrap();
    let (reference, _) = predict(path, "reference");
    let (golden, _) = predict(path, "golden");
    assert_same(&reference, &golden, "reference, golden");
    let columns = columns(&golden, 2000);
    assert!(columns[3].iter().any(|&window| window > 1 << 40));
    assert!(columns[5].iter().collect::<BTreeSet<_>>().len() >= 20);
    let misses = columns[2].iter().sum::<u64>();
    assert!((50..1950).contains(&misses), "{misses} misses");
}

/// Hardware needs some cycles for an update; whoever gives it fewer is told.
#[test]
fn short_active_parts_are_told() {
    let folder = folder(&CASES[0]);
    let path = folder.path();
    let latency = latency(path);
    assert!(latency > 1);
    // The last period has no active part after it; two of the others have too short a one.
    let periods = format!(
        "busy,idle\n1,5\n{latency},6\n{0},7\n1,8\n{0},9\n",
        latency + 1
    );
    fs::write(path.join("p.csv"), periods).unwrap();
    let (reference, err) = predict(path, "reference");
    assert_eq!((reference.lines().count(), err.as_str()), (6, ""));
    let mut outputs = Vec::new();
    for model in ["golden", "rtl"] {
        let (out, err) = predict(path, model);
        assert_eq!(
            err,
            "note: 2 of 5 periods are followed by an active part too short for the hardware to \
             finish its update: their rows show the update before\n",
            "{model}"
        );
        outputs.push(out);
    }
    assert_same(&outputs[0], &outputs[1], "golden, rtl");
    assert_ne!(outputs[0], reference);
}

/// With the correction (SPEC 8): golden model and Verilog give the same bytes; the columns
/// that do not depend on it are the reference's; and step by step `miss`, `cf` and `t_pdt`
/// follow from the threshold in force, within the bound that `estimate` prints.
#[test]
fn corrections_are_those_of_the_paper() {
    const COUNT: usize = 2000;
    const HISTORY: usize = 16;
    for (case, mode) in [
        (&CASES[0], "raw"),
        (&CASES[2], "at-least-one"),
        (&CASES[4], "raw"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let text = case
            .config()
            .replace("[port]\n", "[port]\npolicy = \"perfbound-correct\"\n");
        let text = format!("{text}[correction]\nhistory = {HISTORY}\nmode = \"{mode}\"\n");
        fs::write(path.join("port.toml"), text).unwrap();
        let (json, _) = run(linkdoze(path).args(["estimate", "port.toml", "--json"]), 0);
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let relative = json["accuracy"]["relative"].as_f64().unwrap();
        assert!(relative <= 2f64.powi(-10));
        let latency = json["latency"]["update_cycles"].as_u64().unwrap();
        let periods = case.periods(COUNT, latency);
        fs::write(path.join("p.csv"), &periods).unwrap();
        let [reference, golden, rtl] = MODELS.map(|model| predict(path, model).0);
        assert_same(&golden, &rtl, &format!("{mode}: golden, rtl"));

        let mut in_force = case.max_value;
        let mut ratios: Vec<Option<f64>> = vec![None; HISTORY];
        let (mut raised, mut lowered) = (0, 0);
        let rows = golden.lines().zip(reference.lines()).skip(1);
        for ((row, real), period) in rows.zip(periods.lines().skip(1)) {
            let row: Vec<&str> = row.split(',').collect();
            let real: Vec<&str> = real.split(',').collect();
            for column in [0, 1, 3, 4, 5] {
                assert_eq!(row[column], real[column], "{row:?}");
            }
            let idle: u64 = period.split(',').nth(1).unwrap().parse().unwrap();
            let idle = idle.min(u64::MAX >> (64 - case.time_width));
            let miss = idle > in_force;
            assert_eq!(row[2], if miss { "1" } else { "0" }, "{row:?}");
            ratios.remove(0);
            ratios.push(miss.then(|| idle as f64 / in_force.max(1) as f64));
            let misses = ratios.iter().flatten().count() as f64;
            let sum: f64 = ratios.iter().flatten().map(|ratio| ratio.ln()).sum();
            let cf = match ratios.iter().flatten().count() {
                0 => 1.0,
                _ => misses / HISTORY as f64 * (sum / misses).exp(),
            };
            let factor = match mode {
                "at-least-one" => cf.max(1.0),
                _ => cf,
            };
            let t_pb: u64 = row[5].parse().unwrap();
            let t_pdt = (t_pb as f64 * factor).min(case.max_value as f64);
            let printed: f64 = row[6].parse().unwrap();
            assert!((printed / cf - 1.0).abs() <= relative, "cf {cf}: {row:?}");
            in_force = row[7].parse().unwrap();
            let error = (in_force as f64 - t_pdt).abs();
            assert!(error <= relative * t_pdt + 0.5, "t_pdt {t_pdt}: {row:?}");
            raised += u32::from(in_force > t_pb);
            lowered += u32::from(in_force < t_pb);
        }
        assert!(raised > 20, "{mode}: raised {raised} times");
        assert_eq!(
            lowered > 20,
            mode == "raw",
            "{mode}: lowered {lowered} times"
        );
    }
}

/// 2^64 cycles is where counting ends: nothing is printed of a list that lies beyond.
#[test]
fn a_list_that_lasts_too_long_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("port.toml"), "[clock]\ntick_ns = 2\n").unwrap();
    let predict = |model| {
        let mut command = linkdoze(path);
        command.args([
            "predict",
            "port.toml",
            "--periods",
            "p.csv",
            "--model",
            model,
        ]);
        command
    };
    let half = u64::MAX / 4;
    for (list, line) in [
        (format!("100,{half}\n100,{half}\n7,8\n"), 3),
        (format!("5,6\n1,{}\n", u64::MAX), 3),
        (format!("{half},9\n5,6\n{half},9\n"), 4),
    ] {
        fs::write(path.join("p.csv"), format!("busy,idle\n{list}")).unwrap();
        for model in ["reference", "golden"] {
            let (out, err) = run(&mut predict(model), 2);
            assert_eq!(
                without_notes(&err),
                format!(
                    "error: p.csv:{line}: with this period the list lasts almost 2^64 clock cycles \
                     of 1000 ps or more, which nothing counts: shorten it, or begin a second list \
                     here\n"
                )
            );
            assert_eq!(out, "");
        }
    }
    // One tick less than what is refused: 2^20 clock cycles are for the answer, two for the busy tick.
    let longest = (u64::MAX - (1 << 20) - 2) / 2;
    fs::write(
        path.join("p.csv"),
        format!("busy,idle\n1,{}\n", longest + 1),
    )
    .unwrap();
    run(&mut predict("golden"), 2);
    fs::write(path.join("p.csv"), format!("busy,idle\n1,{longest}\n")).unwrap();
    for model in ["reference", "golden"] {
        let (out, _) = run(&mut predict(model), 0);
        assert_eq!(out.lines().count(), 2, "{out}");
    }
}
