//! Lock-step test: description against golden model.

use proptest::prelude::*;

use super::golden::{self, Sample, ONE};
use super::{MissHistory, STAGES};
use crate::blocks::fixed_point::{Arithmetic, ARRIVAL_CYCLES};
use crate::blocks::port::tests::small_plan;
use crate::blocks::testing::{cases, Bench};
use crate::config::plan::PortPlan;
use crate::hdl::check;
use crate::hdl::prelude::*;

pub(crate) fn plan(time_width: u32, history: u32, fraction_bits: u32) -> PortPlan {
    small_plan().with(|plan| {
        plan.time_width = time_width;
        plan.correction.history = history;
        plan.correction.fraction_bits = fraction_bits;
    })
}

/// An idle period after some active cycles: how long it and they last, and its outcome.
pub(crate) fn samples(time_width: u32) -> impl Strategy<Value = Vec<(u64, Sample)>> {
    let largest = u64::MAX >> (64 - time_width);
    let time = prop_oneof![
        0..=largest,
        (0..time_width).prop_map(|exponent| 1u64 << exponent),
        (0..time_width).prop_map(|exponent| (1u64 << exponent) - 1),
        Just(largest),
        0..=largest.min(20),
    ];
    let sample = (
        time.clone(),
        time,
        prop_oneof![Just(false), Just(true), Just(true)],
    )
        .prop_map(|(ticks, t_pdt, miss)| Sample { ticks, t_pdt, miss });
    let spacing = prop_oneof![4 => 2u64..4, 1 => 2u64..60];
    prop::collection::vec((spacing, sample), 1..60)
}

/// The golden sum as the pin has it: every ratio `2^exponent_bits` too high.
pub(crate) fn stored(history: &golden::MissHistory, numbers: &Arithmetic) -> u64 {
    let units = history.sum() >> (64 - numbers.ratio_fraction);
    let bias = 1i128 << (numbers.exponent_bits + numbers.ratio_fraction);
    u64::try_from(units + bias * history.misses() as i128).unwrap()
}

proptest! {
    #![proptest_config(cases(360))]

    #[test]
    fn description_and_golden_model_agree(
        (time_width, samples) in prop_oneof![Just(8u32), Just(32), Just(33), Just(64)]
            .prop_flat_map(|width| (Just(width), samples(width))),
        history in prop_oneof![Just(1u32), Just(2), Just(3), Just(4), Just(16), Just(128), Just(129), Just(5)],
        fraction_bits in 4u32..14,
    ) {
        let plan = plan(time_width, history, fraction_bits);
        let numbers = Arithmetic::new(&plan);
        let mut golden = golden::MissHistory::new(&plan);
        let mut bench = Bench::new(MissHistory::new(&plan));
        let mut ends = Vec::new();
        let mut now = 0;
        for (spacing, sample) in samples {
            for left in (0..spacing).rev() {
                let ended = left == 0;
                bench.drive(&[
                    ("ended", ended.into()),
                    ("miss", sample.miss.into()),
                    ("ticks", if ended { sample.ticks } else { 0 }),
                    ("t_pdt_in_force", sample.t_pdt),
                ]);
                let under_way = (1..=u64::from(STAGES))
                    .filter(|age| ends.contains(&(now as i64 - *age as i64)))
                    .fold(0, |bits, age| bits | 1 << (age - 1));
                prop_assert_eq!(bench.get("under_way"), under_way);
                prop_assert_eq!(golden.changes(now), under_way >> (STAGES - 1) == 1);
                prop_assert_eq!(golden.settles().is_some(), under_way > 0);
                prop_assert_eq!(bench.get("misses"), golden.misses() as u64, "cycle {}", now);
                prop_assert_eq!(bench.get("sum"), stored(&golden, &numbers), "cycle {}", now);
                bench.clock();
                golden.clock(now, ended.then_some(sample));
                if ended {
                    ends.push(now as i64);
                }
                now += 1;
            }
        }
        prop_assert_eq!(golden.settles(), Some(now - 1 + ARRIVAL_CYCLES));
    }
}

/// SPEC 8: the register is of the last `n_R` idle periods, the ratios of the misses in it.
#[test]
fn a_miss_leaves_with_its_ratio() {
    let plan = plan(32, 4, 10);
    let mut history = golden::MissHistory::new(&plan);
    let mut now = 0;
    let mut sample = |ticks, miss| {
        for cycle in 0..ARRIVAL_CYCLES {
            let t_pdt = 8;
            let ended = Sample { ticks, t_pdt, miss };
            history.clock(now, (cycle == 0).then_some(ended));
            now += 1;
        }
        (history.misses(), history.sum() as f64 / ONE as f64)
    };
    assert_eq!(sample(16, true), (1, 1.0));
    assert_eq!(sample(9, false), (1, 1.0));
    assert_eq!(sample(2, true), (2, -1.0));
    assert_eq!(sample(8, false), (2, -1.0));
    // The first leaves.
    assert_eq!(sample(64, true), (2, 1.0));
    assert_eq!(sample(0, false), (2, 1.0));
    // The third leaves.
    assert_eq!(sample(0, false), (1, 3.0));
}

block! {
    /// A history whose idle periods end in cycles that do not follow each other, as those of a port
    /// do, whatever comes.
    struct Apart(clk, rst);

    fn new(plan: &PortPlan) {
        let numbers = Arithmetic::new(plan);
    }

    about("apart", "A history, and what keeps the ends of idle periods apart.")

    {
        pub in ended: Bit("an idle period ends, unless one ended the cycle before"),
        pub in miss: Bit("the link left wake in it"),
        pub in ticks: Bits(plan.time_width, "its length"),
        pub in t_pdt_in_force: Bits(plan.time_width, "threshold that governed it"),
        pub out sum: Bits(numbers.sum_bits(), "sum of the stored ratios"),
        pub out misses: Bits(numbers.count_bits(), "number of them"),
        pub out under_way: Bits(STAGES, "idle periods under way"),
        child history: MissHistory(plan),
        local ends: Bit("an idle period ends"),
        reg ended_before: Bit(false, "one ended the cycle before"),
    }
}

impl Logic for Apart {
    #[hdl_gen]
    fn update(&mut self) {
        self.ends.next = self.ended.val() & !self.ended_before.q.val();
        self.ended_before.d.next = self.ends.val();
        self.history.ended.next = self.ends.val();
        self.history.miss.next = self.miss.val();
        self.history.ticks.next = self.ticks.val();
        self.history.t_pdt_in_force.next = self.t_pdt_in_force.val();
        self.sum.next = self.history.sum.val();
        self.misses.next = self.history.misses.val();
        self.under_way.next = self.history.under_way.val();
    }
}

#[test]
fn emitted_verilog_agrees_with_the_description() {
    for (history, time_width) in [(1, 12), (5, 32), (16, 32), (130, 20)] {
        let plan = plan(time_width, history, 10);
        check::agrees_with_verilog(|| Apart::new(&plan), 3000, 3).unwrap();
    }
}
