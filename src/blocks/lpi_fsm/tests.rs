//! Lock-step test: description against golden model.

use proptest::prelude::*;

use super::{golden, LpiFsm};
use crate::blocks::port::pins::PowerState;
use crate::blocks::port::tests::small_plan;
use crate::blocks::testing::{cases, Bench};
use crate::config::plan::{
    LinkTime, MessagesPlan, PortPlan, RefreshPlan, RegistersPlan, Sleep, SyncPlan,
};
use crate::hdl::check;

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn description_and_golden_model_agree(
        stretches in prop::collection::vec(
            (
                prop::bool::weighted(0.4),
                prop::bool::weighted(0.4),
                prop::bool::weighted(0.9),
                1u64..40,
            ),
            1..60,
        ),
        control_pins in any::<bool>(),
        sync in prop_oneof![
            Just(SyncPlan::Levels),
            Just(SyncPlan::Messages(MessagesPlan { timeout: 9 })),
        ],
        sleep in prop_oneof![Just(Sleep::FastWake), Just(Sleep::DeepSleep), Just(Sleep::Hybrid)],
        refresh in prop_oneof![
            Just(None),
            (1u64..9, 1u64..9).prop_map(|(t_q, t_r)| Some(RefreshPlan { t_q, t_r })),
        ],
    ) {
        let mut plan = PortPlan { sleep, control_pins, sync, ..small_plan() };
        plan.link.refresh = refresh;
        let mut golden = golden::LpiFsm::new(&plan);
        let mut bench = Bench::new(LpiFsm::new(&plan));
        let mut now = 0;
        for (down_start, up_start, link_up, cycles) in stretches {
            let link_up = link_up || !control_pins;
            for _ in 0..cycles {
                bench.drive(&[("down_start", down_start.into()), ("up_start", up_start.into())]);
                if control_pins {
                    bench.drive(&[("link_up", link_up.into())]);
                }
                let awake = golden.state() == PowerState::Wake;
                prop_assert_eq!(bench.get("power_state"), golden.state() as u64, "cycle {}", now);
                prop_assert_eq!(bench.get("tx_enable"), u64::from(awake));
                prop_assert_eq!(bench.get("leaving"), u64::from(awake && down_start));
                bench.clock();
                match link_up {
                    true => golden.clock(now, down_start, up_start),
                    false => golden.clock_without_link(),
                }
                now += 1;
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(400))]

    /// Sleep state and times are set anew in any cycle: the link takes those of the cycle in which
    /// a transition, a hold, quiet or refresh begins.
    #[test]
    fn times_that_software_sets_agree_with_the_golden_model(
        stretches in prop::collection::vec(
            (
                (prop::bool::weighted(0.4), prop::bool::weighted(0.4), prop::bool::weighted(0.9)),
                1u64..30,
                prop::array::uniform8(1u64..20),
                0usize..3,
            ),
            1..80,
        ),
        control_pins in any::<bool>(),
        refresh in any::<bool>(),
        sync in prop_oneof![
            Just(SyncPlan::Levels),
            Just(SyncPlan::Messages(MessagesPlan { timeout: 9 })),
        ],
    ) {
        let plan = timed_plan().with(|plan| {
            plan.control_pins = control_pins;
            plan.sync = sync;
            plan.link.refresh = plan.link.refresh.filter(|_| refresh);
        });
        let mut limits = plan.adjustable_times();
        limits.retain(|limits| limits.time != LinkTime::SyncTimeout);
        let mut golden = golden::LpiFsm::new(&plan);
        let mut bench = Bench::new(LpiFsm::new(&plan));
        let mut now = 0;
        for ((down_start, up_start, link_up), cycles, wanted, sleep) in stretches {
            let link_up = link_up || !control_pins;
            let mut times = plan.times();
            for limits in &limits {
                let time = wanted[limits.time as usize].clamp(limits.least, limits.most);
                times[limits.time as usize] = time;
                let pin = match limits.time {
                    LinkTime::HybridHold => "hold",
                    time => time.name(),
                };
                bench.drive(&[(pin, time - 1)]);
            }
            golden.set_times(times);
            golden.choose([Sleep::FastWake, Sleep::DeepSleep, Sleep::Hybrid][sleep]);
            bench.drive(&[("sleep", sleep as u64)]);
            for _ in 0..cycles {
                bench.drive(&[("down_start", down_start.into()), ("up_start", up_start.into())]);
                if control_pins {
                    bench.drive(&[("link_up", link_up.into())]);
                }
                prop_assert_eq!(bench.get("power_state"), golden.state() as u64, "cycle {}", now);
                let held = golden.hold_ends().is_some_and(|last| last <= now);
                prop_assert_eq!(bench.get("hold_over"), u64::from(held), "cycle {}", now);
                bench.clock();
                match link_up {
                    true => golden.clock(now, down_start, up_start),
                    false => golden.clock_without_link(),
                }
                now += 1;
            }
        }
    }
}

/// A small plan with times that software sets.
pub(crate) fn timed_plan() -> PortPlan {
    small_plan().with(|plan| {
        plan.registers = Some(RegistersPlan {
            config_hash: 0,
            period_ps: 1000,
            t_pdt: 40,
            timing_range: 3,
        });
    })
}

/// How long the golden model stays in each state on the way given.
fn walk(sleep: Sleep, up_after: u64) -> Vec<(PowerState, u64)> {
    let plan = small_plan();
    let mut fsm = golden::LpiFsm::new(&PortPlan { sleep, ..plan });
    let mut states: Vec<(PowerState, u64)> = Vec::new();
    for now in 0..100 {
        match states.last_mut() {
            Some((state, cycles)) if *state == fsm.state() => *cycles += 1,
            _ => states.push((fsm.state(), 1)),
        }
        fsm.clock(now, now == 0, now >= up_after);
    }
    states
}

#[test]
fn transitions_last_the_times_of_their_states() {
    // SPEC 4: going down lasts t_s of the target state, going up t_w of the state left;
    // hybrid enters fast wake first and, after a hold, deep sleep.
    use PowerState::{DeepSleep, FastWake, GoingDown, GoingUp, Refresh, Wake};
    assert_eq!(
        walk(Sleep::FastWake, 20),
        [
            (Wake, 1),
            (GoingDown, 3),
            (FastWake, 17),
            (GoingUp, 5),
            (Wake, 74)
        ]
    );
    assert_eq!(
        walk(Sleep::DeepSleep, 20),
        [
            (Wake, 1),
            (GoingDown, 7),
            (DeepSleep, 6),
            (Refresh, 2),
            (DeepSleep, 5),
            (GoingUp, 11),
            (Wake, 68)
        ]
    );
    assert_eq!(
        walk(Sleep::Hybrid, 22),
        [
            (Wake, 1),
            (GoingDown, 3),
            (FastWake, 9),
            (GoingDown, 7),
            (DeepSleep, 3),
            (GoingUp, 11),
            (Wake, 66)
        ]
    );
}

#[test]
fn a_link_that_comes_back_goes_up_for_the_longest_time() {
    // Whatever state it was lost in, and however long it was away; t_w of deep sleep is 11 cycles.
    use PowerState::{GoingUp, Wake};
    let plan = small_plan().with(|plan| plan.control_pins = true);
    for lost in 0..80 {
        for away in [1, 2, 30] {
            let mut fsm = golden::LpiFsm::new(&plan);
            for now in 0..lost {
                fsm.clock(now, true, false);
            }
            for _ in 0..away {
                fsm.clock_without_link();
                assert_eq!(fsm.state(), GoingUp);
            }
            for now in lost + away..lost + away + 11 {
                assert_eq!(fsm.state(), GoingUp, "lost in cycle {lost}, {away} away");
                fsm.clock(now, false, false);
            }
            assert_eq!(fsm.state(), Wake, "lost in cycle {lost}, {away} away");
        }
    }
}

#[test]
fn emitted_verilog_agrees_with_the_description() {
    for control_pins in [false, true] {
        let plan = small_plan().with(|plan| plan.control_pins = control_pins);
        check::agrees_with_verilog(|| LpiFsm::new(&plan), 4000, 1).unwrap();
        let timed = timed_plan().with(|plan| plan.control_pins = control_pins);
        check::lint_block(&LpiFsm::new(&timed)).unwrap();
    }
}
