//! Lock-step test: description against golden model.

use proptest::prelude::*;

use super::{golden, IdleMeter};
use crate::blocks::port::tests::small_plan;
use crate::blocks::testing::{cases, Bench};
use crate::config::plan::PortPlan;
use crate::hdl::check;

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn description_and_golden_model_agree(
        stretches in prop::collection::vec((any::<bool>(), prop_oneof![1u64..4, 1u64..700]), 1..30),
        clocks_per_tick in 1u64..6,
    ) {
        let plan = PortPlan { clocks_per_tick, time_width: 8, ..small_plan() };
        let mut golden = golden::IdleMeter::new(clocks_per_tick, 255);
        let mut bench = Bench::new(IdleMeter::new(&plan));
        let mut now = 0;
        for (active, cycles) in stretches {
            for _ in 0..cycles {
                bench.drive(&[("active", active.into())]);
                prop_assert_eq!(bench.get("ticks"), golden.ticks(now), "ticks in cycle {}", now);
                prop_assert_eq!(bench.get("saturated"), u64::from(golden.ticks(now) == 255));
                prop_assert_eq!(bench.get("tick"), u64::from(golden.tick(now, active)));
                prop_assert_eq!(bench.get("ended"), u64::from(golden.ended(active)));
                bench.clock();
                golden.clock(now, active, true);
                now += 1;
            }
        }
    }
}

#[test]
fn what_comes_before_the_first_activity_is_no_period() {
    // SPEC 2: an idle period begins in the first idle cycle after an active one.
    let mut golden = golden::IdleMeter::new(1, 4095);
    for now in 0..10 {
        golden.clock(now, false, true);
    }
    assert!(!golden.ended(true));
    golden.clock(10, true, true);
    for now in 11..18 {
        golden.clock(now, false, true);
    }
    assert!(golden.ended(true));
    assert_eq!(golden.ticks(18), 7);
}

/// SPEC 3: nor is the time between a reset and the first packet of a port whose PHY had to find its link
/// first.
#[test]
fn what_comes_before_the_first_activity_over_a_link_is_no_period() {
    let plan = small_plan().with(|plan| plan.control_pins = true);
    let mut golden = golden::IdleMeter::new(1, plan.max_time());
    let mut bench = Bench::new(IdleMeter::new(&plan));
    let mut ended = Vec::new();
    // Without a link; idle; a packet; idle; the link is lost; idle; a packet.
    let stretches = [
        (true, false, 9),
        (false, true, 9),
        (true, true, 2),
        (false, true, 5),
        (true, true, 2),
        (true, false, 3),
        (false, true, 7),
        (true, true, 2),
    ];
    let mut now = 0;
    for (active, link_up, cycles) in stretches {
        for _ in 0..cycles {
            bench.drive(&[("active", active.into()), ("link_up", link_up.into())]);
            let ends = link_up && golden.ended(active);
            assert_eq!(bench.get("ended"), u64::from(ends), "cycle {now}");
            ended.extend(ends.then(|| golden.ticks(now)));
            bench.clock();
            golden.clock(now, active, link_up);
            now += 1;
        }
    }
    assert_eq!(ended, [5, 7]);
}

#[test]
fn emitted_verilog_agrees_with_the_description() {
    check::agrees_with_verilog(|| IdleMeter::new(&small_plan()), 4000, 1).unwrap();
}
