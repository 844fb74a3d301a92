//! Lock-step test: description against golden model.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::{MapHistogram, Shape};
use crate::blocks::histogram::golden::Histogram;
use crate::blocks::port::tests::small_plan;
use crate::blocks::testing::{cases, Bench};
use crate::config::plan::{BudgetPlan, HistogramKind, HistogramPlan, PortPlan};
use crate::hdl::check;

/// Bins of a tick, so that a length is its bin, and a change.
fn plan(change: impl FnOnce(&mut HistogramPlan)) -> PortPlan {
    small_plan().with(|plan| {
        plan.histogram.kind = HistogramKind::Map;
        plan.histogram.bin_shift = 0;
        plan.histogram.max_value = 19;
        change(&mut plan.histogram);
    })
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn description_and_golden_model_agree(
        samples in prop::collection::vec((0u64..6, any::<u64>(), any::<u64>()), 1..200),
        clocks_per_tick in 1u64..3,
        bins in 4u32..70,
        counter_bits in 1u32..6,
        max_samples in 1u32..60,
        map_entries in 2u32..12,
        ttl in prop_oneof![Just(None), (1u64..300).prop_map(Some)],
        budget_width in 1u32..8,
    ) {
        let mut plan = plan(|plan| {
            *plan = HistogramPlan { bins, counter_bits, max_samples, map_entries, ttl, ..*plan };
            plan.max_value = u64::from(bins) - 1;
        });
        plan.clocks_per_tick = clocks_per_tick;
        plan.budget = BudgetPlan { width: budget_width, ..plan.budget };
        let mut golden = Histogram::new(&plan);
        let mut bench = Bench::new(MapHistogram::new(&plan));
        let mut now = 0;
        // What the budget of the cycle before finds, unless a sample cleared the map.
        let mut found = None;
        for (longer, bin, budget) in samples {
            // Low bins more often: some repeat, some overflow.
            let bin = (bin % u64::from(bins)).min(bin >> 32 & 0x3f);
            // The bin grows from 0, at some of these cycles.
            let idle = 1 + bin + longer;
            let mut grown = 0;
            for cycle in 0..=idle {
                let sample = (cycle == idle).then_some(bin);
                let random = budget.rotate_left(cycle as u32 * 8);
                let budget = random % (1 << budget_width);
                let must = bin - grown == idle - cycle;
                let grows = grown < bin && (must || random & 0x100 != 0);
                grown += u64::from(grows);
                bench.drive(&[
                    ("ended", sample.is_some().into()),
                    ("active", sample.is_some().into()),
                    ("grows", grows.into()),
                    ("budget", budget),
                ]);
                if now > 0 {
                    prop_assert_eq!(bench.get("age"), golden.window(now), "cycle {}", now);
                }
                if let Some(found) = found {
                    prop_assert_eq!(bench.get("found"), found as u64, "cycle {}", now);
                }
                let clears = sample.is_some_and(|bin| golden.clears(now, bin));
                let overflows = sample.is_some_and(|bin| golden.overflows(now, bin));
                prop_assert_eq!(bench.get("cleared"), u64::from(clears), "cycle {}", now);
                if Shape::of(&plan).overflows {
                    prop_assert_eq!(bench.get("overflow"), u64::from(overflows), "cycle {}", now);
                } else {
                    prop_assert!(!overflows, "cycle {now}: no overflow was to be possible");
                }
                found = (!clears).then(|| golden.look_up(budget));
                bench.clock();
                golden.clock(now, sample);
                now += 1;
            }
        }
    }
}

/// Records a length every second cycle.
fn record(histogram: &mut Histogram, lengths: impl IntoIterator<Item = u64>) {
    for (place, t_inac) in lengths.into_iter().enumerate() {
        histogram.clock(2 * place as u64, Some(t_inac));
        histogram.clock(2 * place as u64 + 1, None);
    }
}

#[test]
fn a_sample_without_a_free_entry_clears_the_map() {
    // SPEC 6: a sample for a new bin when all entries are taken clears the map first.
    let mut histogram = Histogram::new(&plan(|plan| plan.map_entries = 2));
    record(&mut histogram, [3, 5, 3]);
    assert!(!histogram.overflows(6, 5));
    assert!(histogram.overflows(6, 4) && histogram.clears(6, 4));
    histogram.clock(6, Some(4));
    assert_eq!(histogram.look_up(0), 5);
    assert_eq!(histogram.look_up(1), 0);
    assert_eq!(histogram.window(10), 3);
}

#[test]
fn a_full_map_is_cleared_and_has_not_overflowed() {
    // docs/how/histograms.md: what is due is cleared for that reason.
    let mut histogram = Histogram::new(&plan(|plan| {
        plan.map_entries = 2;
        plan.max_samples = 3;
    }));
    record(&mut histogram, [3, 5, 3]);
    assert!(histogram.clears(6, 4) && !histogram.overflows(6, 4));
}

#[test]
fn the_search_finds_the_lowest_bin_within_the_budget() {
    // SPEC 7.4, tails 2 (bin 9), 3 (7), 6 (1); counters of 3 bits stop at 7.
    let mut histogram = Histogram::new(&plan(|_| {}));
    record(&mut histogram, [1, 9, 7, 1, 9, 1]);
    let found: Vec<usize> = (0..8).map(|budget| histogram.look_up(budget)).collect();
    assert_eq!(found, [10, 10, 8, 2, 2, 2, 0, 0]);
    record(&mut histogram, [1; 12]);
    assert_eq!((histogram.look_up(9), histogram.look_up(10)), (2, 0));
}

#[test]
fn no_more_entries_than_can_be_in_use() {
    let shape = |change: fn(&mut HistogramPlan)| {
        let shape = Shape::of(&plan(change));
        (shape.entries, shape.overflows)
    };
    assert_eq!(shape(|plan| plan.map_entries = 64), (20, false));
    assert_eq!(shape(|_| {}), (8, true));
    assert_eq!(shape(|plan| plan.max_samples = 8), (8, false));
}

/// One module serves all entries but the lowest, whose outputs nobody needs.
#[test]
fn entries_share_a_module() {
    let design = crate::hdl::elaborate(&MapHistogram::new(&plan(|_| {}))).unwrap();
    let header = crate::hdl::verilog::Header {
        config_text: String::new(),
        hash: String::new(),
    };
    let files = crate::hdl::verilog::print(&design, &header);
    let names: BTreeSet<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert!(
        names.contains("map_entry.v") && names.contains("map_entry_lowest.v"),
        "{names:?}"
    );
    assert_eq!(names.len(), 5, "{names:?}");
}

#[test]
fn emitted_verilog_agrees_with_the_description() {
    check::outputs_agree(
        check::VerilogSimulator::Icarus,
        || MapHistogram::new(&plan(|_| {})),
        4000,
        1,
    )
    .unwrap();
}
