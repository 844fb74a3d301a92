//! Lock-step test: descriptions of history and correction against their golden models; and
//! the golden models against real numbers.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{golden, Corrector};
use crate::blocks::fixed_point::{Arithmetic, ARRIVAL_CYCLES};
use crate::blocks::miss_history::golden::{self as history, Fixed, Sample};
use crate::blocks::miss_history::tests::{plan, samples};
use crate::blocks::miss_history::MissHistory;
use crate::blocks::testing::{cases, Bench};
use crate::config::plan::{BinScale, MissUnit, PortPlan};
use crate::hdl::check;

/// Both blocks, described and golden.
struct Pair {
    plan: PortPlan,
    numbers: Arithmetic,
    now: u64,
    history: history::MissHistory,
    corrector: golden::Corrector,
    described: (Bench, Bench),
}

impl Pair {
    fn new(plan: PortPlan) -> Pair {
        Pair {
            numbers: Arithmetic::new(&plan),
            now: 0,
            history: history::MissHistory::new(&plan),
            corrector: golden::Corrector::new(&plan),
            described: (
                Bench::new(MissHistory::new(&plan)),
                Bench::new(Corrector::new(&plan)),
            ),
            plan,
        }
    }

    /// One cycle; a new `t_pb` if there is one.
    fn cycle(&mut self, sample: Sample, ended: bool, t_pb: u64, new: bool) -> Result<(), String> {
        let (history, corrector) = &mut self.described;
        history.drive(&[
            ("ended", ended.into()),
            ("miss", sample.miss.into()),
            ("ticks", sample.ticks),
            ("t_pdt_in_force", sample.t_pdt),
        ]);
        corrector.drive(&[
            ("t_pb_new", new.into()),
            ("t_pb", t_pb >> self.numbers.t_pb_zeros),
            ("sum", history.get("sum")),
            ("misses", history.get("misses")),
            ("under_way", history.get("under_way")),
        ]);
        let expected = [
            ("log2_cf", self.corrector.log2_cf()),
            ("t_pdt", self.corrector.t_pdt()),
            ("update", self.corrector.update().into()),
        ];
        for (pin, value) in expected {
            let got = corrector.get(pin);
            if got != value {
                return Err(format!("cycle {}: {pin} {got}, not {value}", self.now));
            }
        }
        history.clock();
        corrector.clock();
        self.corrector.clock(self.now, &self.history, t_pb, new);
        self.history.clock(self.now, ended.then_some(sample));
        self.now += 1;
        Ok(())
    }
}

/// A threshold that PerfBound can give.
fn threshold(plan: &PortPlan, bin: u64) -> u64 {
    let span = 1u64 << plan.histogram.bin_shift;
    (bin * span + span / 2).min(plan.histogram.max_value)
}

fn plans() -> impl Strategy<Value = PortPlan> {
    (
        prop_oneof![Just(8u32), Just(12), Just(32), Just(48)],
        prop_oneof![Just(1u32), Just(3), Just(16), Just(200)],
        prop_oneof![3 => Just(10u32), 1 => 4u32..17, 1 => Just(32)],
        any::<bool>(),
        0u32..20,
        any::<u64>(),
        prop_oneof![2 => Just(BinScale::Linear), 1 => Just(BinScale::Log { mantissa_bits: 2 })],
    )
        .prop_map(
            |(time_width, history, fraction_bits, at_least_one, shift, random, scale)| {
                let plan = plan(time_width, history, fraction_bits);
                let largest = u64::MAX >> (64 - time_width);
                let max_value = match random & 3 {
                    0 => largest,
                    1 => 1 << ((random >> 2) % u64::from(time_width)),
                    _ => (random >> 2) % largest + 1,
                };
                plan.with(|plan| {
                    plan.t_pdt_init = max_value / 2;
                    plan.histogram.max_value = max_value;
                    plan.histogram.scale = scale;
                    plan.histogram.bin_shift = shift.min(max_value.ilog2());
                    plan.correction.at_least_one = at_least_one;
                    plan.correction.miss_unit = MissUnit::ALL[(random >> 63) as usize];
                })
            },
        )
        .prop_filter("no vector is so wide", |plan| {
            Arithmetic::new(plan).too_wide().is_none()
        })
}

proptest! {
    #![proptest_config(cases(450))]

    #[test]
    fn descriptions_and_golden_models_agree(
        (plan, samples) in plans().prop_flat_map(|plan| (Just(plan), samples(plan.time_width))),
        updates in prop::collection::vec((any::<u64>(), prop_oneof![Just(2u64), 2u64..8, 20u64..60]), 1..200),
        pause in prop_oneof![Just(0u64), Just(100)],
    ) {
        let mut pair = Pair::new(plan);
        let mut updates = updates.into_iter().cycle();
        let mut wait = 3;
        let mut t_pb = plan.t_pdt_init;
        for (spacing, sample) in samples {
            for left in (0..spacing + pause).rev() {
                let new = wait == 0;
                if new {
                    let (random, gap) = updates.next().unwrap();
                    wait = gap;
                    t_pb = match plan.histogram.scale {
                        BinScale::Linear => threshold(&plan, random % 64),
                        BinScale::Log { .. } => random % (plan.histogram.max_value + 1),
                    };
                }
                wait -= 1;
                let ended = left == 0;
                let ticks = if ended { sample.ticks } else { sample.t_pdt };
                let result = pair.cycle(Sample { ticks, ..sample }, ended, t_pb, new);
                prop_assert!(result.is_ok(), "{:?}: {:?}", plan, result);
            }
        }
        prop_assert!(pair.plan == plan);
    }
}

/// The widest product that a vector holds is hardware, a bit more is not.
#[test]
fn a_product_has_all_its_bits_or_no_hardware() {
    let widest = |max_value: u64| {
        plan(48, 3, 32).with(|plan| {
            plan.histogram.max_value = max_value;
            plan.histogram.bin_shift = 0;
            plan.correction.at_least_one = false;
        })
    };
    let (mut held, mut refused) = (0, 0);
    for bits in 30..48 {
        let plan = widest((1 << bits) + 1);
        if Arithmetic::new(&plan).too_wide().is_some() {
            refused += 1;
            continue;
        }
        held += 1;
        let mut pair = Pair::new(plan);
        let sample = Sample {
            ticks: 1,
            t_pdt: 1,
            miss: false,
        };
        for cycle in 0..100 {
            let new = cycle == 3;
            let result = pair.cycle(sample, false, 11_776, new);
            assert!(result.is_ok(), "2^{bits}: {result:?}");
        }
    }
    assert!(held > 5 && refused > 2, "{held} {refused}");
}

/// What the golden models make of a history and a threshold.
fn corrected(plan: &PortPlan, samples: &[Sample], t_pb: u64) -> (u64, f64) {
    let mut history = history::MissHistory::new(plan);
    let mut corrector = golden::Corrector::new(plan);
    let numbers = Arithmetic::new(plan);
    let mut now = 0;
    for &sample in samples {
        for cycle in 0..2 {
            corrector.clock(now, &history, t_pb, false);
            history.clock(now, (cycle == 0).then_some(sample));
            now += 1;
        }
    }
    let settled = ARRIVAL_CYCLES + 2 * numbers.factor_cycles();
    for cycle in 0..settled + numbers.multiplication_cycles() {
        corrector.clock(now, &history, t_pb, cycle == settled);
        history.clock(now, None);
        now += 1;
    }
    assert!(corrector.update());
    let unused = u64::BITS - numbers.log2_cf_bits();
    let log2_cf = (corrector.log2_cf() << unused) as i64 >> unused;
    let cf = (log2_cf as f64 / f64::from(numbers.fraction).exp2()).exp2();
    (corrector.t_pdt(), cf)
}

/// Relative errors seen: the greatest of `t_pdt` beyond half a tick, and of `cf`.
fn sweep(plan: &PortPlan) -> (f64, f64) {
    let history = plan.correction.history;
    let numbers = Arithmetic::new(plan);
    let largest = plan.max_time();
    let max_value = plan.histogram.max_value;
    let mut times = vec![1, 2, 3, largest];
    for exponent in 2..plan.time_width {
        let power = 1u64 << exponent;
        times.extend([power - 1, power, power + 1]);
    }
    // Other mantissas: multiples of the golden ratio's fraction, of every magnitude.
    for i in 1..60u64 {
        let mantissa = i.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 << 63;
        times.push(mantissa >> (64 - 2 - i % u64::from(plan.time_width - 1)));
    }
    let (mut worst, mut worst_cf) = (0f64, 0f64);
    let mut seed = 1usize;
    for misses in 1..=history {
        // Few of many: every number of misses, some histories of each.
        for _ in 0..if history > 32 { 6 } else { 40 } {
            let mut product = 0.0;
            let samples: Vec<Sample> = (0..history)
                .map(|place| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let (one, other) = (seed >> 33, seed >> 48);
                    let ticks = times[one % times.len()];
                    // Now and then of like length, so that cf is near the rate of misses.
                    let t_pdt = match other % 3 {
                        0 => times[other % times.len()],
                        1 => ticks - ticks / 8,
                        _ => (ticks / 2).max(1),
                    }
                    .min(max_value);
                    // Evenly spread misses.
                    let miss = place * misses / history != (place + 1) * misses / history;
                    if miss {
                        product += (ticks as f64).log2() - (t_pdt as f64).log2();
                    }
                    Sample { ticks, t_pdt, miss }
                })
                .collect();
            let rate = f64::from(plan.correction.miss_unit.whole()) * f64::from(misses)
                / f64::from(history);
            let cf = rate * (product / f64::from(misses)).exp2();
            let t_pb = threshold(plan, (seed >> 40) as u64 % u64::from(plan.histogram.bins));
            let factor = if plan.correction.at_least_one {
                cf.max(1.0)
            } else {
                cf
            };
            let real = (t_pb as f64 * factor).min(max_value as f64);
            let (t_pdt, log2_cf) = corrected(plan, &samples, t_pb);
            let error = (t_pdt as f64 - real).abs();
            let bound = numbers.relative_error() * real + 0.5;
            assert!(
                error <= bound,
                "{t_pdt} for {real} ({misses} misses, t_pb {t_pb})"
            );
            if plan.correction.at_least_one {
                assert!(t_pdt >= t_pb);
            }
            worst = worst.max((error - 0.5) / real.max(1.0));
            worst_cf = worst_cf.max((log2_cf / cf - 1.0).abs());
        }
    }
    assert!(worst_cf <= numbers.relative_error(), "{worst_cf}");
    (worst, worst_cf)
}

/// SPEC 8: within the bound that `estimate` prints of the real-number result, 2^-10 or
/// better at 10 fraction bits.
#[test]
#[ignore = "long; make test-all runs it"]
fn thresholds_are_within_their_bound_of_the_real_ones() {
    let units = MissUnit::ALL;
    for (history, miss_unit) in [1, 2, 3, 16, 31, 129, 1024]
        .map(|n| units.map(|u| (n, u)))
        .concat()
    {
        for at_least_one in [true, false] {
            for (time_width, bins, bin_shift) in
                [(32, 256, 13), (32, 256, 0), (48, 4096, 20), (16, 64, 9)]
            {
                for fraction_bits in [6, 10, 14] {
                    if history == 1024 && (time_width, fraction_bits) != (32, 10) {
                        continue;
                    }
                    let plan = plan(time_width, history, fraction_bits).with(|plan| {
                        plan.histogram.bins = bins;
                        plan.histogram.bin_shift = bin_shift;
                        plan.histogram.max_value = u64::from(bins) << bin_shift;
                        plan.correction.at_least_one = at_least_one;
                        plan.correction.miss_unit = miss_unit;
                    });
                    let numbers = Arithmetic::new(&plan);
                    if fraction_bits >= 10 {
                        assert!(numbers.relative_error() <= 2f64.powi(-10));
                    }
                    let (worst, worst_cf) = sweep(&plan);
                    println!(
                        "n_R {history}, {miss_unit:?}, {time_width} bits, {bins} bins of 2^{bin_shift}, {fraction_bits} \
                         fraction bits: t_pdt {worst:.2e}, cf {worst_cf:.2e} of {:.2e}",
                        numbers.relative_error()
                    );
                }
            }
        }
    }
}

/// Misses whose logarithms have one sum: some of them, and the least and the greatest sum of the
/// logarithms in real numbers that such misses have.
struct Alike {
    samples: Vec<Sample>,
    least: f64,
    greatest: f64,
}

/// All misses that there are, so many of them at a time, by the sum that the history makes of them.
fn all_sums(plan: &PortPlan, misses: u32) -> BTreeMap<Fixed, Alike> {
    let sum = |samples: &[Sample]| {
        let mut history = history::MissHistory::new(plan);
        samples.iter().for_each(|sample| history.settle(sample));
        history.sum()
    };
    let mut ones: BTreeMap<Fixed, Alike> = BTreeMap::new();
    for ticks in 1..=plan.max_time() {
        for t_pdt in 1..ticks.min(plan.histogram.max_value + 1) {
            let samples = vec![Sample {
                ticks,
                t_pdt,
                miss: true,
            }];
            let real = (ticks as f64 / t_pdt as f64).log2();
            let alike = ones.entry(sum(&samples)).or_insert(Alike {
                samples,
                least: real,
                greatest: real,
            });
            alike.least = alike.least.min(real);
            alike.greatest = alike.greatest.max(real);
        }
    }
    let mut sums: BTreeMap<Fixed, Alike> = BTreeMap::new();
    sums.insert(
        0,
        Alike {
            samples: Vec::new(),
            least: 0.0,
            greatest: 0.0,
        },
    );
    for _ in 0..misses {
        let mut more: BTreeMap<Fixed, Alike> = BTreeMap::new();
        for (before, alike) in &sums {
            for (ratio, one) in &ones {
                let (least, greatest) = (alike.least + one.least, alike.greatest + one.greatest);
                let known = more.entry(*before + *ratio).or_insert_with(|| Alike {
                    samples: [&alike.samples[..], &one.samples].concat(),
                    least,
                    greatest,
                });
                known.least = known.least.min(least);
                known.greatest = known.greatest.max(greatest);
            }
        }
        sums = more;
    }
    sums
}

/// SPEC 8: of every history of three idle periods of up to 31 ticks, and of two of up to 15 in the
/// description too. The threshold is within its bound of the real one and in its range; it never
/// falls where PerfBound's, or a ratio, rises.
#[test]
fn small_corrections_are_right_for_every_history() {
    let mut seen = 0;
    for (time_width, history, described, at_least_one) in [
        (5, 3, false, true),
        (5, 3, false, false),
        (4, 2, true, true),
        (4, 2, true, false),
    ] {
        let plan = plan(time_width, history, 6).with(|plan| {
            let bins = 1u32 << (time_width - 1);
            plan.histogram.bins = bins;
            plan.histogram.bin_shift = 1;
            plan.histogram.max_value = plan.max_time();
            plan.t_pdt_init = 1;
            plan.correction.at_least_one = at_least_one;
        });
        let numbers = Arithmetic::new(&plan);
        let max_value = plan.histogram.max_value as f64;
        for misses in 1..=history {
            let rate = f64::from(plan.correction.miss_unit.whole()) * f64::from(misses)
                / f64::from(history);
            let mut before = vec![0; plan.histogram.bins as usize];
            for alike in all_sums(&plan, misses).values() {
                let hit = Sample {
                    ticks: 1,
                    t_pdt: 1,
                    miss: false,
                };
                let mut samples = vec![hit; (history - misses) as usize];
                samples.extend(&alike.samples);
                let mut covered = history::MissHistory::new(&plan);
                samples.iter().for_each(|sample| covered.settle(sample));
                let mut corrector = golden::Corrector::new(&plan);
                corrector.settle_factor(&covered);
                let mut pair = described.then(|| settled(&plan, &numbers, &samples));
                let mut last = 0;
                for (bin, before) in before.iter_mut().enumerate() {
                    let t_pb = threshold(&plan, bin as u64);
                    let t_pdt = corrector.times(t_pb);
                    for real in [alike.least, alike.greatest] {
                        let cf = rate * (real / f64::from(misses)).exp2();
                        let cf = if at_least_one { cf.max(1.0) } else { cf };
                        let real = (t_pb as f64 * cf).min(max_value);
                        let error = (t_pdt as f64 - real).abs();
                        assert!(
                            error <= numbers.relative_error() * real + 0.5,
                            "{t_pdt} for {real}: {samples:?}, t_pb {t_pb}"
                        );
                    }
                    assert!(t_pdt <= plan.histogram.max_value && t_pdt >= last.max(*before));
                    (last, *before) = (t_pdt, t_pdt);
                    if let Some(pair) = &mut pair {
                        for cycle in 0..=numbers.multiplication_cycles() {
                            pair.cycle(hit, false, t_pb, cycle == 0).unwrap();
                        }
                        assert_eq!(pair.described.1.get("t_pdt"), t_pdt);
                    }
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 60_000, "{seen}");
}

/// Descriptions and golden models after these idle periods.
fn settled(plan: &PortPlan, numbers: &Arithmetic, samples: &[Sample]) -> Pair {
    let mut pair = Pair::new(*plan);
    for &sample in samples {
        // The threshold goes in while the port is idle, the length when the period has ended.
        let idle = Sample {
            ticks: sample.t_pdt,
            ..sample
        };
        pair.cycle(idle, false, 0, false).unwrap();
        pair.cycle(sample, true, 0, false).unwrap();
    }
    for _ in 0..ARRIVAL_CYCLES + 2 * numbers.factor_cycles() {
        pair.cycle(samples[0], false, 0, false).unwrap();
    }
    pair
}

#[test]
fn without_misses_there_is_no_correction() {
    let plan = plan(32, 16, 10);
    let hit = Sample {
        ticks: 5,
        t_pdt: 9,
        miss: false,
    };
    for t_pb in [1, 33, plan.histogram.max_value] {
        assert_eq!(corrected(&plan, &[hit; 20], t_pb), (t_pb, 1.0));
    }
}

#[test]
fn emitted_verilog_agrees_with_the_description() {
    for (at_least_one, bin_shift, fraction_bits) in
        [(true, 2, 10), (false, 0, 10), (false, 18, 6), (true, 20, 7)]
    {
        let plan = plan(32, 5, fraction_bits).with(|plan| {
            plan.histogram.bin_shift = bin_shift;
            plan.histogram.max_value = 20 << bin_shift;
            plan.correction.at_least_one = at_least_one;
            plan.correction.miss_unit = match fraction_bits {
                6 => MissUnit::Percent,
                _ => MissUnit::Fraction,
            };
            plan.t_pdt_init = 7;
        });
        check::agrees_with_verilog(|| Corrector::new(&plan), 4000, 5).unwrap();
    }
}
