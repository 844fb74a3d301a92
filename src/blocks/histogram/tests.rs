//! Lock-step tests: the histograms against their golden model.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::circular::CircularHistogram;
use super::clearing::ClearingHistogram;
use super::decaying::DecayingHistogram;
use super::golden::Histogram;
use super::regular::RegularHistogram;
use super::{FoundPins, ReadPins, Shape};
use crate::blocks::histogram::bin_meter::tests::scales;
use crate::blocks::port::tests::small_plan;
use crate::blocks::testing::{cases, Bench};
use crate::config::plan::{BinScale, CircularWindow, HistogramKind, HistogramPlan, PortPlan};
use crate::hdl::check;
use crate::hdl::prelude::*;

/// A sample: idle cycles before it, its length, what the search reads meanwhile.
type Sample = (u64, u64, u64);

fn samples() -> impl Strategy<Value = Vec<Sample>> {
    prop::collection::vec((2u64..6, 0u64..300, any::<u64>()), 1..250)
}

prop_compose! {
    fn plan(kind: HistogramKind)(
        clocks_per_tick in 1u64..4,
        bins in 4u32..70,
        scale in scales(3),
        bin_shift in 0u32..4,
        counter_bits in 1u32..6,
        max_samples in 1u32..50,
        max_value in 0u64..300,
        ttl in prop_oneof![Just(None), Just(Some(1)), (1u64..300).prop_map(Some)],
        budget in 1u32..8,
    ) -> PortPlan {
        let mut plan = PortPlan { clocks_per_tick, ..small_plan() };
        plan.budget.width = budget;
        plan.histogram = HistogramPlan {
            kind, bins, scale, bin_shift, max_samples, max_value,
            // SPEC 6: what is taken out again must have been counted.
            // A circular one has just the bits that it needs: full, a bin may hold all samples.
            counter_bits: match kind {
                HistogramKind::Circular => clog2(u128::from(max_samples) + 1),
                _ => counter_bits,
            },
            ttl: ttl.filter(|_| kind.ages()),
            ..plan.histogram
        };
        plan
    }
}

fn agree(
    plan: &PortPlan,
    mut bench: Bench,
    window: &str,
    samples: Vec<Sample>,
) -> Result<(), TestCaseError> {
    let shape = Shape::of(plan);
    let mut golden = Histogram::new(plan);
    let groups = u64::from(plan.histogram.bins.div_ceil(shape.group_size()));
    // More than any budget: where counters and sums may stop, unless samples are taken out.
    let enough = match plan.histogram.kind {
        HistogramKind::Circular | HistogramKind::Regular => u64::MAX,
        _ => 1 << (plan.budget.width + shape.fraction),
    };
    let mut now = 0;
    let mut halved = 0;
    // What the reads of the two cycles before must return, the earlier first: bin, its
    // group's weight, its own.
    let mut expected: VecDeque<Option<(u64, u64, u64)>> = VecDeque::from([None, None]);
    for (gap, t_inac, address) in samples {
        for cycle in 0..gap {
            let sample = (cycle == gap - 1).then_some(t_inac);
            let group = (address >> (8 * cycle)) % groups;
            let place = (address >> (8 * cycle + 4)) % u64::from(shape.group_size());
            bench.drive(&[
                ("ended", sample.is_some().into()),
                ("sample_bin", golden.edges().bin(t_inac) as u64),
                ("read_group", group),
                ("read_place", place),
            ]);
            if plan.histogram.kind == HistogramKind::Circular {
                // The length as the idle meter counts it: it stands in the cycle before.
                bench.drive(&[("ticks", t_inac)]);
            }
            if plan.histogram.kind == HistogramKind::Regular {
                // A threshold comes out when all bins have been halved and searched.
                let answers = now > halved + 2 * u64::from(plan.histogram.bins) + 40;
                bench.drive(&[("answers", answers.into())]);
                golden.answers(answers);
                let halves = sample.is_some() && golden.halves(now);
                prop_assert_eq!(bench.get("halved"), u64::from(halves), "cycle {}", now);
                if halves {
                    halved = now;
                }
            }
            if now > 0 {
                prop_assert_eq!(bench.get(window), golden.window(now), "cycle {}", now);
            }
            if plan.histogram.kind == HistogramKind::Clearing {
                let clears = sample.is_some_and(|t_inac| golden.clears(now, t_inac));
                prop_assert_eq!(bench.get("cleared"), u64::from(clears), "cycle {}", now);
            }
            if let Some((bin, sum, count)) = expected.pop_front().flatten() {
                prop_assert_eq!(bench.get("arrived"), bin);
                for (pin, expected) in [("group_sum", sum), ("bin_count", count)] {
                    let read = bench.get(pin);
                    prop_assert!(
                        read == expected || read >= enough && expected >= enough,
                        "{} {} is not {} in cycle {}, bin {}",
                        pin,
                        read,
                        expected,
                        now,
                        bin
                    );
                }
            }
            let taken = golden.taken(now, sample.is_some());
            prop_assert_eq!(bench.get("taken"), u64::from(taken), "cycle {}", now);
            let bin = group << shape.place | place;
            let readable = !taken && bin < u64::from(plan.histogram.bins);
            expected.push_back(readable.then(|| {
                let sum = golden.group(now, group as usize);
                (bin, sum, golden.count(now, bin as usize))
            }));
            bench.clock();
            golden.clock(now, sample);
            now += 1;
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn regular_agrees(plan in plan(HistogramKind::Regular), samples in samples()) {
        agree(&plan, Bench::new(RegularHistogram::new(&plan)), "window", samples)?;
    }

    /// Few bins, samples for two of them: counters are halved again and again.
    #[test]
    fn halving_agrees(
        plan in plan(HistogramKind::Regular),
        bins in 4u32..9,
        counter_bits in 1u32..4,
        samples in prop::collection::vec((2u64..6, 0u64..9, any::<u64>()), 1..400),
    ) {
        let mut plan = plan;
        plan.histogram.bins = bins;
        plan.histogram.counter_bits = counter_bits;
        agree(&plan, Bench::new(RegularHistogram::new(&plan)), "window", samples)?;
    }

    #[test]
    fn clearing_agrees(plan in plan(HistogramKind::Clearing), samples in samples()) {
        agree(&plan, Bench::new(ClearingHistogram::new(&plan)), "age", samples)?;
    }

    #[test]
    fn circular_agrees(plan in plan(HistogramKind::Circular), samples in samples()) {
        agree(&plan, Bench::new(CircularHistogram::new(&plan)), "window", samples)?;
    }

    #[test]
    fn circular_since_reset_agrees(plan in plan(HistogramKind::Circular), samples in samples()) {
        let mut plan = plan;
        plan.histogram.window = CircularWindow::Elapsed;
        plan.time_width = 9;
        agree(&plan, Bench::new(CircularHistogram::new(&plan)), "window", samples)?;
    }

    #[test]
    fn decaying_agrees(plan in plan(HistogramKind::Decaying), samples in samples()) {
        agree(&plan, Bench::new(DecayingHistogram::new(&plan)), "window", samples)?;
    }
}

fn histogram(kind: HistogramKind, change: impl FnOnce(&mut HistogramPlan)) -> Histogram {
    let mut plan = small_plan();
    plan.histogram.kind = kind;
    change(&mut plan.histogram);
    Histogram::new(&plan)
}

/// A sample every other cycle.
fn record(histogram: &mut Histogram, lengths: &[u64]) -> u64 {
    for (place, &length) in lengths.iter().enumerate() {
        histogram.clock(2 * place as u64, Some(length));
        histogram.clock(2 * place as u64 + 1, None);
    }
    2 * lengths.len() as u64
}

#[test]
fn a_full_histogram_is_cleared_before_the_next_sample() {
    // SPEC 6: cleared when it holds h_maxN samples, immediately before the next.
    let mut clearing = histogram(HistogramKind::Clearing, |plan| plan.max_samples = 3);
    let now = record(&mut clearing, &[0; 3]);
    assert!(clearing.clears(now, 0));
    clearing.clock(now, Some(0));
    assert_eq!(clearing.count(u64::MAX, 0), 1);
}

#[test]
fn an_old_histogram_is_cleared_before_the_next_sample() {
    // SPEC 6: cleared when TTL_hist has passed since it was last cleared.
    let mut histogram = histogram(HistogramKind::Clearing, |plan| plan.ttl = Some(100));
    histogram.clock(50, Some(5));
    histogram.clock(51, None);
    assert!(!histogram.clears(99, 0));
    assert!(histogram.clears(100, 0));
}

#[test]
fn counters_saturate() {
    // SPEC 6: w_counter bits, saturating: 3 bits stop at 7.
    let mut histogram = histogram(HistogramKind::Clearing, |plan| plan.max_samples = 100);
    record(&mut histogram, &[9; 20]);
    assert_eq!(histogram.count(u64::MAX, 2), 7);
}

#[test]
fn a_full_counter_halves_all_before_the_next_sample() {
    // SPEC 6: counters of 3 bits hold 7.
    let mut histogram = histogram(HistogramKind::Regular, |_| {});
    let mut now = record(&mut histogram, &[4, 4, 4, 9, 9, 9, 9, 9, 9, 9]);
    while !histogram.steady() {
        histogram.clock(now, None);
        now += 1;
    }
    let counts = |histogram: &Histogram| [1, 2].map(|bin| histogram.count(u64::MAX, bin));
    assert_eq!(counts(&histogram), [3, 7]);
    let window = now / small_plan().clocks_per_tick;
    assert!(histogram.halves(now));
    histogram.clock(now, Some(4));
    assert_eq!(histogram.window(now + 1), window / 2);
    while !histogram.steady() {
        now += 1;
        histogram.clock(now, None);
    }
    // Odd bins are rounded up the first time: 2 and 3, then the sample.
    assert_eq!(counts(&histogram), [3, 3]);
    assert!(!histogram.halves(now));
}

#[test]
fn the_oldest_sample_gives_way() {
    // SPEC 6: the last h_maxN samples; SPEC 7.1: X is the sum of their lengths.
    let mut histogram = histogram(HistogramKind::Circular, |plan| plan.max_samples = 2);
    let now = record(&mut histogram, &[4, 8, 12, 12]);
    histogram.clock(now, None);
    assert_eq!(
        [1, 2, 3].map(|bin| histogram.count(u64::MAX, bin)),
        [0, 0, 2]
    );
    assert_eq!(histogram.window(now + 1), 24);
}

#[test]
fn counters_and_window_halve() {
    // docs/how/histograms.md: the present generation weighs 8 eighths, then 4, 2, 1, nothing.
    let mut histogram = histogram(HistogramKind::Decaying, |plan| {
        plan.max_samples = 2;
        plan.ttl = None;
    });
    let weights: Vec<u64> = (1..=11)
        .map(|samples| {
            let mut histogram = histogram.clone();
            record(
                &mut histogram,
                &[&[4, 4][..], &vec![8; samples - 1]].concat(),
            );
            histogram.count(u64::MAX, 1)
        })
        .collect();
    assert_eq!(weights, [16, 8, 8, 4, 4, 2, 2, 0, 0, 0, 0]);
    // Generations begin with the samples in cycles 4 and 8: they lasted 4 ticks each.
    record(&mut histogram, &[4; 5]);
    assert_eq!(histogram.window(12), 3 + (4 * 4 + 2 * 4) / 8);
}

block! {
    /// A circular histogram whose idle periods end in cycles that do not follow each other, as those of
    /// a port do, whatever comes.
    struct Apart(clk, rst);

    fn new(plan: &PortPlan) {
        let shape = Shape::of(plan);
    }

    about("apart", "A histogram, and what keeps the ends of idle periods apart.")

    {
        pub in ended: Bit("an idle period ends, unless one ended the cycle before"),
        pub in ticks: Bits(plan.time_width, "its length"),
        pub in sample_bin: Bits(shape.index(), "its bin"),
        pub flat read: ReadPins(&shape),
        pub out window: Bits(plan.time_width, "ticks of all samples"),
        pub flat found: FoundPins(&shape, ""),
        child histogram: CircularHistogram(plan),
        local ends: Bit("an idle period ends"),
        reg ended_before: Bit(false, "one ended the cycle before"),
    }
}

impl Logic for Apart {
    #[hdl_gen]
    fn update(&mut self) {
        self.ends.next = self.ended.val() & !self.ended_before.q.val();
        self.ended_before.d.next = self.ends.val();
        self.histogram.ended.next = self.ends.val();
        self.histogram.ticks.next = self.ticks.val();
        self.histogram.sample_bin.next = self.sample_bin.val();
        self.window.next = self.histogram.window.val();
        ReadPins::link(&mut self.read, &mut self.histogram.read);
        FoundPins::link(&mut self.found, &mut self.histogram.found);
    }
}

/// Verilator, not Icarus: what the memories return before they are written is undefined,
/// and only the reader of these pins knows not to look.
#[test]
#[ignore = "long; make test-all runs it"]
fn emitted_verilog_agrees_with_the_description() {
    let plan = |kind| {
        let mut plan = small_plan();
        plan.histogram.kind = kind;
        // The ring stores the bins too.
        plan.histogram.scale = BinScale::Log { mantissa_bits: 1 };
        plan
    };
    let engine = check::VerilogSimulator::Verilator;
    let make = || ClearingHistogram::new(&plan(HistogramKind::Clearing));
    check::outputs_agree(engine, make, 4000, 1).unwrap();
    let make = || Apart::new(&plan(HistogramKind::Circular));
    check::outputs_agree(engine, make, 4000, 1).unwrap();
    let make = || RegularHistogram::new(&plan(HistogramKind::Regular));
    check::outputs_agree(engine, make, 4000, 1).unwrap();
    let make = || DecayingHistogram::new(&plan(HistogramKind::Decaying));
    check::outputs_agree(engine, make, 4000, 1).unwrap();
}
