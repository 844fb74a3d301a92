//! Lock-step test: description against golden model.

use proptest::prelude::*;

use super::golden::Edges;
use super::BinMeter;
use crate::blocks::histogram::bin_of;
use crate::blocks::port::tests::small_plan;
use crate::blocks::testing::{cases, Bench};
use crate::config::plan::{BinScale, HistogramKind, HistogramPlan, PortPlan};
use crate::hdl::check;

/// Linear, or logarithmic with fewer than so many mantissa bits.
pub(crate) fn scales(mantissa_bits: u32) -> impl Strategy<Value = BinScale> {
    prop_oneof![
        Just(BinScale::Linear),
        (0..mantissa_bits).prop_map(|mantissa_bits| BinScale::Log { mantissa_bits }),
    ]
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn description_and_golden_model_agree(
        scale in scales(6),
        kind in prop::sample::select(vec![HistogramKind::Clearing, HistogramKind::Map]),
        bins in 4u32..300,
        bin_shift in 0u32..6,
        max_value in 0u64..5000,
        clocks_per_tick in 1u64..3,
        idle in prop::collection::vec(1u64..5000, 1..4),
    ) {
        let mut plan = PortPlan { clocks_per_tick, ..small_plan() };
        plan.histogram = HistogramPlan {
            kind, scale, bins, bin_shift, max_value: max_value.min(plan.max_time()), ..plan.histogram
        };
        let edges = Edges::new(&plan.histogram);
        let mut bench = Bench::new(BinMeter::new(&plan));
        for cycles in idle {
            bench.drive(&[("active", 1), ("tick", 0), ("ticks", 0)]);
            bench.clock();
            for cycle in 0..=cycles {
                let ticks = (cycle / clocks_per_tick).min(plan.max_time());
                let tick = (cycle + 1).is_multiple_of(clocks_per_tick);
                bench.drive(&[("active", 0), ("tick", tick.into()), ("ticks", ticks)]);
                prop_assert_eq!(bench.get("bin"), edges.bin(ticks) as u64, "{} ticks", ticks);
                if kind == HistogramKind::Map {
                    let next = ((cycle + 1) / clocks_per_tick).min(plan.max_time());
                    let grows = edges.bin(next) > edges.bin(ticks);
                    prop_assert_eq!(bench.get("grows"), u64::from(grows), "{} ticks", ticks);
                }
                bench.clock();
            }
        }
    }

    /// The list of edges against the formula of docs/how/histograms.md.
    #[test]
    fn edges_follow_the_formula(
        scale in scales(6),
        bins in 4u32..4097,
        bin_shift in 0u32..8,
        times in prop::collection::vec((any::<u64>(), 0u32..64), 50),
    ) {
        let plan = HistogramPlan {
            scale, bins, bin_shift, max_value: u64::MAX, ..small_plan().histogram
        };
        let edges = Edges::new(&plan);
        for (time, shift) in times {
            prop_assert_eq!(edges.bin(time >> shift) as u64, bin_of(&plan, time >> shift));
        }
    }
}

#[test]
fn the_bins_of_the_example() {
    // docs/how/histograms.md: 8 bins of 1 tick up to 15 with M = 1 are
    // 0, 1, 2, 3, 4-5, 6-7, 8-11, 12-15.
    let edges = Edges::new(&HistogramPlan {
        scale: BinScale::Log { mantissa_bits: 1 },
        bins: 8,
        bin_shift: 0,
        max_value: 15,
        ..small_plan().histogram
    });
    let bins: Vec<usize> = (0..18).map(|ticks| edges.bin(ticks)).collect();
    assert_eq!(bins, [0, 1, 2, 3, 4, 4, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 7, 7]);
    let middles: Vec<u64> = (0..9).map(|bin| edges.middle(bin)).collect();
    assert_eq!(middles, [0, 1, 2, 3, 5, 7, 10, 14, 15]);
}

#[test]
fn emitted_verilog_agrees_with_the_description() {
    for scale in [BinScale::Linear, BinScale::Log { mantissa_bits: 2 }] {
        for kind in [HistogramKind::Clearing, HistogramKind::Map] {
            let mut plan = small_plan();
            plan.histogram.kind = kind;
            plan.histogram.scale = scale;
            check::agrees_with_verilog(|| BinMeter::new(&plan), 4000, 1).unwrap();
        }
    }
}

/// With so many mantissa bits no octave is wider than the lowest, and the bin at which the first
/// wider one would begin needs a bit more than the number of bins.
#[test]
fn logarithmic_bins_that_hold_every_length_singly_can_be_built() {
    for (bins, max_value) in [(4u32, 3), (8, 7), (64, 62), (256, 255)] {
        let mut plan = small_plan();
        let mantissa_bits = bins.ilog2();
        plan.histogram.scale = BinScale::Log { mantissa_bits };
        plan.histogram.bins = bins;
        plan.histogram.bin_shift = 0;
        plan.histogram.max_value = max_value;
        check::agrees_with_verilog(|| BinMeter::new(&plan), 1000, 1).unwrap();
    }
}
