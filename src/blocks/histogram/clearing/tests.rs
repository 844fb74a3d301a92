//! Lock-step test: description against golden model.

use proptest::prelude::*;

use super::{golden, ClearingHistogram, Shape};
use crate::blocks::port::tests::small_plan;
use crate::blocks::testing::Bench;
use crate::config::plan::{HistogramPlan, PortPlan};
use crate::hdl::check;

proptest! {
    #[test]
    fn description_and_golden_model_agree(
        samples in prop::collection::vec((2u64..6, 0u64..200, any::<u64>()), 1..200),
        clocks_per_tick in 1u64..4,
        bins in 4u32..70,
        bin_shift in 0u32..4,
        counter_bits in 1u32..6,
        max_samples in 1u32..50,
        max_value in 0u64..300,
        ttl in prop_oneof![Just(None), (1u64..300).prop_map(Some)],
    ) {
        let mut plan = PortPlan { clocks_per_tick, ..small_plan() };
        plan.histogram = HistogramPlan {
            bins, bin_shift, counter_bits, max_samples, max_value, ttl, ..plan.histogram
        };
        let shape = Shape::of(&plan.histogram);
        let mut golden =
            golden::Clearing::new(plan.histogram, clocks_per_tick, plan.max_time());
        let mut bench = Bench::new(ClearingHistogram::new(&plan));
        let mut now = 0;
        // What the read of the cycle before must return: the group's counters, the bin.
        let mut expected: Option<(Vec<u64>, Option<u64>)> = None;
        for (gap, t_inac, address) in samples {
            for cycle in 0..gap {
                let sample = (cycle == gap - 1).then_some(t_inac);
                let groups = u64::from(bins.div_ceil(shape.group_size()));
                let group = address % groups;
                let place = address / groups % u64::from(shape.group_size());
                bench.drive(&[
                    ("ended", sample.is_some().into()),
                    ("ticks", t_inac),
                    ("read_group", group),
                    ("read_place", place),
                ]);
                if now > 0 {
                    prop_assert_eq!(bench.get("window"), golden.window_before(now));
                }
                let clears = sample.is_some() && golden.clears(now);
                prop_assert_eq!(bench.get("cleared"), u64::from(clears), "cycle {}", now);
                if sample.is_some() {
                    prop_assert_eq!(bench.get("sample_bin"), golden.bin(t_inac) as u64);
                }
                if let Some((counts, bin)) = expected.take() {
                    prop_assert_eq!(bench.get("group_sum"), counts.iter().sum::<u64>());
                    if counts.iter().any(|&count| count > 0) {
                        let mask = bench.get("group_mask");
                        for (place, &count) in counts.iter().enumerate() {
                            prop_assert_eq!(mask >> place & 1 == 1, count > 0);
                        }
                    }
                    if let Some(count) = bin.filter(|&count| count > 0) {
                        prop_assert_eq!(bench.get("bin_count"), count);
                    }
                }
                if sample.is_none() {
                    let counts = golden.group(group as usize).to_vec();
                    let bin = counts.get(place as usize).copied();
                    expected = Some((counts, bin));
                }
                bench.clock();
                golden.clock(now, sample);
                now += 1;
            }
        }
    }
}

fn histogram(plan: HistogramPlan) -> golden::Clearing {
    golden::Clearing::new(plan, 1, 4095)
}

#[test]
fn a_full_histogram_is_cleared_before_the_next_sample() {
    // SPEC 6: cleared when it holds h_maxN samples, immediately before the next.
    let mut histogram = histogram(HistogramPlan {
        max_samples: 3,
        ..small_plan().histogram
    });
    for now in 0..4 {
        assert_eq!(histogram.clears(2 * now), now == 3);
        histogram.clock(2 * now, Some(0));
        histogram.clock(2 * now + 1, None);
    }
    assert_eq!(histogram.count(0), 1);
    assert_eq!(histogram.window(10), 4);
}

#[test]
fn an_old_histogram_is_cleared_before_the_next_sample() {
    // SPEC 6: cleared when TTL_hist has passed since it was last cleared.
    let mut histogram = histogram(HistogramPlan {
        ttl: Some(100),
        ..small_plan().histogram
    });
    histogram.clock(50, Some(5));
    histogram.clock(51, None);
    assert!(!histogram.clears(99));
    assert!(histogram.clears(100));
}

#[test]
fn counters_saturate() {
    // SPEC 6: w_counter bits, saturating: 3 bits stop at 7.
    let mut histogram = histogram(small_plan().histogram);
    for now in 0..20 {
        histogram.clock(2 * now, Some(9));
        histogram.clock(2 * now + 1, None);
    }
    assert_eq!(histogram.count(2), 7);
}

/// Verilator, not Icarus: what the memories return for a group without samples is
/// undefined, and only the reader of these pins knows not to look.
#[test]
fn emitted_verilog_agrees_with_the_description() {
    let make = || ClearingHistogram::new(&small_plan());
    check::agrees_with(check::Engine::Verilator, make, 4000, 1).unwrap();
}
