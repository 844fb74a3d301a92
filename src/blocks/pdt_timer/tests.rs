//! Lock-step test: description against golden model.

use proptest::prelude::*;

use super::{golden, PdtTimer};
use crate::blocks::port::tests::small_plan;
use crate::blocks::testing::{cases, Bench};
use crate::config::plan::PortPlan;
use crate::hdl::check;

fn plan(t_backstop: Option<u64>) -> PortPlan {
    small_plan().with(|plan| plan.t_backstop = t_backstop)
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn description_and_golden_model_agree(
        t_backstop in prop::option::of(0u64..50),
        stretches in prop::collection::vec(
            (any::<bool>(), any::<bool>(), 0u64..30, prop_oneof![1u64..4, 1u64..60]),
            1..40,
        ),
    ) {
        let plan = plan(t_backstop);
        let mut golden = golden::PdtTimer::new(plan.t_pdt_init, t_backstop);
        let mut bench = Bench::new(PdtTimer::new(&plan));
        let mut ticks = 0;
        for (active, transmitting, t_pdt, cycles) in stretches {
            for _ in 0..cycles {
                let transmitting = active && transmitting;
                bench.drive(&[
                    ("active", active.into()),
                    ("transmitting", transmitting.into()),
                    ("tick", (!active).into()),
                    ("ticks", ticks),
                    ("t_pdt", t_pdt),
                ]);
                // The idle meter would call this cycle the end of tick `ticks + 1`.
                let threshold = golden.threshold();
                let expired = !active && threshold == Some(ticks);
                prop_assert_eq!(bench.get("expired"), u64::from(expired));
                let overdue = threshold.is_some_and(|threshold| threshold < ticks);
                prop_assert_eq!(bench.get("overdue"), u64::from(overdue));
                prop_assert_eq!(bench.get("t_pdt_in_force"), golden.in_force());
                bench.clock();
                golden.clock(active, transmitting, t_pdt);
                ticks = if active { 0 } else { ticks + 1 };
            }
        }
    }
}

#[test]
fn emitted_verilog_agrees_with_the_description() {
    for t_backstop in [None, Some(25)] {
        check::agrees_with_verilog(move || PdtTimer::new(&plan(t_backstop)), 4000, 1).unwrap();
    }
}
