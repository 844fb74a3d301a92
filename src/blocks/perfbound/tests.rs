//! Lock-step test: description against golden model, both on a golden histogram.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::golden::PerfBound;
use super::{update_interval_at_line_rate, update_latency};
use crate::blocks::histogram::bin_meter::tests::scales;
use crate::blocks::histogram::golden::Histogram;
use crate::blocks::histogram::Shape;
use crate::blocks::port::tests::small_plan;
use crate::blocks::testing::{cases, Bench};
use crate::config::plan::{
    BinScale, CircularWindow, HistogramKind, HistogramPlan, PortPlan, Product,
};
use crate::hdl::check;

/// 256 bins of one tick, a budget of a hundredth of the window.
fn plan() -> PortPlan {
    small_plan().with(|plan| {
        plan.time_width = 32;
        plan.histogram.bins = 256;
        plan.histogram.bin_shift = 0;
        plan.histogram.counter_bits = 16;
        plan.histogram.max_samples = 20_000;
        plan.histogram.ttl = None;
        plan.histogram.max_value = 255;
        plan.budget.numerator = 1;
        plan.budget.denominator = 100;
        plan.budget.width = 26;
    })
}

/// Feeds samples, one every `spacing` cycles, and returns the search with the cycle in
/// which its last update came and the cycles between the last sample and that update.
fn run(samples: &[u64], spacing: u64) -> (PerfBound, Histogram, u64) {
    let plan = plan();
    let mut histogram = Histogram::new(&plan);
    let mut search = PerfBound::new(plan);
    let mut latency = 0;
    for (place, &t_inac) in samples.iter().enumerate() {
        for cycle in 0..spacing {
            let now = place as u64 * spacing + cycle;
            let sample = (cycle == 0).then_some(t_inac);
            search.clock(now, &histogram, sample);
            histogram.clock(now, sample);
            if search.update() {
                latency = cycle + 1;
            }
        }
    }
    (search, histogram, latency)
}

#[test]
fn the_threshold_is_the_lowest_bin_whose_tail_fits() {
    // A sample every 100 cycles: the last of n comes at X = 100 (n - 1), so N = n - 1.
    // N = 5: the five samples above bin 10 fit, all six do not.
    let (search, _, _) = run(&[10, 255, 31, 200, 29, 30], 100);
    assert_eq!(search.window(), 500);
    assert_eq!(search.budget(), 5);
    assert_eq!(search.t_pb(), 11);
    // N = 4: 30, 31, 200 and 255 fit, 29 does not.
    let (search, _, _) = run(&[255, 31, 200, 29, 30], 100);
    assert_eq!(search.budget(), 4);
    assert_eq!(search.t_pb(), 30);
}

#[test]
fn the_threshold_is_the_longest_when_even_the_highest_bin_does_not_fit() {
    let (search, _, _) = run(&[255, 255, 255], 49);
    assert_eq!(search.budget(), 0);
    assert_eq!(search.t_pb(), 255);
}

#[test]
fn an_update_takes_40_cycles_at_most_for_256_bins() {
    // docs/how/controller.md. The worst case reads all 16 groups and 15 bins of the last.
    let (search, _, latency) = run(&[0, 1], 50);
    assert_eq!(search.t_pb(), 2);
    assert_eq!(latency, 40);
    assert_eq!(update_latency(&plan()), 40);
    let mut multiplying = plan();
    multiplying.budget.product = Some(Product { k: 1, s: 0 });
    // Two bits of the window in each cycle, one for what the highest may carry, one to take the product.
    assert_eq!(update_latency(&multiplying), 40 + 16 + 2);
}

#[test]
fn an_update_takes_5_cycles_from_a_map() {
    // docs/how/controller.md, whatever the number of entries.
    let mut plan = plan();
    plan.histogram.kind = HistogramKind::Map;
    let mut histogram = Histogram::new(&plan);
    let mut search = PerfBound::new(plan);
    for now in 0..=5 {
        assert!(!search.update());
        let sample = (now == 0).then_some(7);
        search.clock(now, &histogram, sample);
        histogram.clock(now, sample);
        if now == 4 {
            break;
        }
    }
    assert!(search.update());
    assert_eq!(search.t_pb(), 8);
    assert_eq!(update_latency(&plan), 5);
}

#[test]
fn updates_keep_coming_at_line_rate() {
    // SPEC 10: a sample every third cycle for ever. All samples in the lowest bins, so that
    // every search reads every group, and the bins of the lowest, which is written all the
    // time.
    let interval = |kind, max_samples: u32| {
        let mut plan = plan();
        plan.histogram.kind = kind;
        plan.histogram.max_samples = max_samples;
        if kind == HistogramKind::Regular {
            // Halvings as often as there may be, and windows that make them fall into every
            // cycle of a search.
            plan.histogram.counter_bits = 1 + max_samples % 9;
            plan.time_width = 8 + max_samples % 5;
        }
        if !plan.histogram.window_only_grows() {
            plan.budget.product = Some(Product { k: 1, s: 0 });
        }
        let mut histogram = Histogram::new(&plan);
        let mut search = PerfBound::new(plan);
        let (mut last, mut longest) = (None, 0);
        for now in 0..30_000 {
            let sample = (now % 3 == 0).then_some(now / 3 % 2);
            histogram.answers(search.update());
            search.clock(now, &histogram, sample);
            histogram.clock(now, sample);
            if search.update() {
                longest = longest.max(now - last.replace(now).unwrap_or(now));
            }
        }
        assert!(
            last.is_some_and(|last| 30_000 - last < 1000),
            "the updates end"
        );
        (longest, update_interval_at_line_rate(&plan))
    };
    for kind in HistogramKind::ALL {
        // Without a clear, and with clears that fall into every cycle of a search.
        let (longest, bound) = (1..80)
            .chain([20_000])
            .map(|max_samples| interval(kind, max_samples))
            .max()
            .unwrap_or_default();
        assert!(
            longest <= bound && 3 * longest > 2 * bound,
            "{}: the bound {bound} does not fit {longest} cycles between updates",
            kind.name()
        );
    }
}

#[test]
fn the_search_agrees_with_a_plain_scan() {
    // The definition of SPEC 7.4, over the counters themselves.
    let mut samples = Vec::new();
    let mut x = 12345u64;
    for _ in 0..400 {
        x = x
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        samples.push((x >> 33) % 300 % (1 + (x >> 50) % 256));
        let (search, histogram, _) = run(&samples, 40);
        let mut tail = 0;
        let mut index = 256;
        while index > 0 {
            tail += histogram.count(u64::MAX, index - 1);
            if tail > search.budget() {
                break;
            }
            index -= 1;
        }
        assert_eq!(search.t_pb(), (index as u64).min(255));
    }
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn description_and_golden_model_agree(
        samples in prop::collection::vec((2u64..60, 0u64..200), 1..120),
        kind in prop::sample::select(HistogramKind::ALL.to_vec()),
        scale in scales(4),
        bins in 4u32..70,
        bin_shift in 0u32..4,
        max_samples in 1u32..50,
        max_value in 3u64..300,
        ttl in prop_oneof![Just(None), (1u64..900).prop_map(Some)],
        numerator in 1u128..9,
        window in prop_oneof![Just(CircularWindow::Held), Just(CircularWindow::Elapsed)],
        step_log2 in 0u32..=6,
    ) {
        let mut plan = small_plan();
        plan.histogram = HistogramPlan {
            kind, scale, window, bins, bin_shift, max_samples, max_value,
            counter_bits: 6,
            ttl: ttl.filter(|_| kind.ages()),
            ..plan.histogram
        };
        // Powers of two: the product is exact over any window.
        plan.budget.numerator = numerator;
        plan.budget.denominator = 128;
        let product = Product { k: numerator << 8, s: 15 };
        plan.budget.product = (!plan.histogram.window_only_grows()).then_some(product);
        plan.budget.width = 9;
        if plan.histogram.window_only_grows() {
            plan.budget.step_ticks = 1 << step_log2;
        }
        let shape = Shape::of(&plan);
        let mut histogram = Histogram::new(&plan);
        let mut golden = PerfBound::new(plan);
        let mut bench = Bench::new(super::PerfBound::new(&plan));
        let mut now = 0;
        let mut map_found = 0;
        // What the store returns for the reads of the two cycles before, the earlier first.
        let mut returns = VecDeque::from([(0, 0, 0); 2]);
        for (gap, t_inac) in samples {
            for cycle in 0..gap {
                let sample = (cycle == gap - 1).then_some(t_inac);
                let window = histogram.window(now);
                let (group_sum, bin_count, arrived) = returns.pop_front().unwrap();
                bench.drive(&[
                    ("ended", sample.is_some().into()),
                    ("live_window", window),
                ]);
                if kind.clears() {
                    let clears = sample.is_some_and(|t_inac| histogram.clears(now, t_inac));
                    bench.drive(&[
                        ("cleared", clears.into()),
                        ("sample_bin", histogram.edges().bin(t_inac) as u64),
                    ]);
                }
                if kind == HistogramKind::Regular {
                    let halves = sample.is_some() && histogram.halves(now);
                    bench.drive(&[("halved", halves.into())]);
                }
                if plan.histogram.window_only_grows() {
                    let step = histogram.window(now + 1) > window;
                    bench.drive(&[("window_step", step.into())]);
                }
                let mut taken = true;
                let mut group = 0;
                if histogram.is_map() {
                    bench.drive(&[("map_found", map_found as u64)]);
                    map_found = histogram.look_up(bench.get("budget"));
                } else {
                    group = bench.get("read_group");
                    taken = histogram.taken(now, sample.is_some());
                    bench.drive(&[
                        ("group_sum", group_sum),
                        ("bin_count", bin_count),
                        ("arrived", arrived),
                        ("taken", taken.into()),
                    ]);
                }
                prop_assert_eq!(bench.get("update"), u64::from(golden.update()), "cycle {}", now);
                prop_assert_eq!(bench.get("t_pb"), golden.t_pb(), "cycle {}", now);
                prop_assert_eq!(bench.get("window"), golden.window());
                prop_assert_eq!(bench.get("budget"), golden.budget());
                if taken {
                    returns.push_back((0, 0, 0));
                } else {
                    let arrived = group << shape.place | bench.get("read_place");
                    let bin_count = if arrived < u64::from(bins) { histogram.count(now, arrived as usize) } else { 0 };
                    let first = (group << shape.place).min(bins.into());
                    let group_sum = if first < u64::from(bins) { histogram.group(now, group as usize) } else { 0 };
                    returns.push_back((group_sum, bin_count, arrived));
                }
                bench.clock();
                histogram.answers(golden.update());
                golden.clock(now, &histogram, sample);
                histogram.clock(now, sample);
                now += 1;
            }
        }
    }
}

#[test]
fn emitted_verilog_agrees_with_the_description() {
    let kinds = [
        HistogramKind::Clearing,
        HistogramKind::Circular,
        HistogramKind::Map,
    ];
    for kind in kinds {
        for scale in [BinScale::Linear, BinScale::Log { mantissa_bits: 2 }] {
            let mut plan = small_plan();
            plan.histogram.kind = kind;
            plan.histogram.scale = scale;
            let product = Product { k: 671_089, s: 26 };
            plan.budget.product = (!plan.histogram.window_only_grows()).then_some(product);
            if kind == HistogramKind::Map {
                plan.budget.step_ticks = 16;
            }
            check::outputs_agree(
                check::VerilogSimulator::Icarus,
                || super::PerfBound::new(&plan),
                4000,
                1,
            )
            .unwrap();
        }
    }
}
