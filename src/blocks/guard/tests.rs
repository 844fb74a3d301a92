//! Lock-step tests: description against golden model, and the promise itself.

use proptest::prelude::*;

use super::{golden, Guard};
use crate::blocks::lpi_fsm::tests::timed_plan;
use crate::blocks::port::tests::small_plan;
use crate::blocks::testing::{cases, Bench};
use crate::config::plan::{GuardPlan, PortPlan};
use crate::hdl::check;

fn plan(burst: u32, numerator: u128, clocks_per_tick: u64, adjustable: bool) -> PortPlan {
    with_guard(&small_plan(), burst, numerator, clocks_per_tick, adjustable)
}

fn with_guard(
    base: &PortPlan,
    burst: u32,
    numerator: u128,
    clocks_per_tick: u64,
    adjustable: bool,
) -> PortPlan {
    base.with(|plan| {
        plan.clocks_per_tick = clocks_per_tick;
        plan.guard = Some(GuardPlan {
            burst,
            numerator,
            denominator: 64,
            adjustable,
            rate_bits: 7,
        });
    })
}

fn block(plan: &PortPlan) -> Guard {
    Guard::new(plan, &plan.guard.unwrap())
}

/// SPEC 12: in every interval of T ticks there are at most `burst + T rate / 64` of these wake-ups.
fn keeps_its_bound(woken: &[u64], burst: u32, rate: u128, clocks_per_tick: u64) -> bool {
    let mut intervals =
        (0..woken.len()).flat_map(|first| (first..woken.len()).map(move |last| (first, last)));
    intervals.all(|(first, last)| {
        let ticks = woken[last] / clocks_per_tick - woken[first] / clocks_per_tick;
        let most = u128::from(burst) * 64 + u128::from(ticks) * rate;
        (last - first + 1) as u128 * 64 <= most
    })
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn description_and_golden_model_agree(
        burst in 1u32..6,
        numerator in 0u128..64,
        clocks_per_tick in 1u64..5,
        adjustable in any::<bool>(),
        stretches in prop::collection::vec(
            (any::<bool>(), any::<bool>(), 0u64..80, 1u64..40),
            1..60,
        ),
    ) {
        let plan = plan(burst, numerator, clocks_per_tick, adjustable);
        let mut golden = golden::Guard::new(&plan).unwrap();
        let mut bench = Bench::new(block(&plan));
        let mut now = 0;
        let mut asleep = false;
        let mut woken = Vec::new();
        for (wants_sleep, queue_nonempty, rate, cycles) in stretches {
            for _ in 0..cycles {
                // An end goes to sleep with the guard's permission only, as in the port.
                asleep = wants_sleep && (asleep || golden.permits(now));
                if adjustable {
                    golden.set_gain(now, rate.into());
                    bench.drive(&[("rate", rate)]);
                }
                if asleep && queue_nonempty && !golden.steady(false, true) {
                    woken.push(now);
                }
                bench.drive(&[
                    ("awake", (!asleep).into()),
                    ("queue_nonempty", queue_nonempty.into()),
                ]);
                prop_assert_eq!(bench.get("permits"), u64::from(golden.permits(now)));
                bench.clock();
                golden.clock(now, !asleep, queue_nonempty);
                now += 1;
            }
        }
        prop_assert!(!golden.overdrawn());
        let rate = if adjustable { 64 } else { numerator };
        prop_assert!(keeps_its_bound(&woken, burst, rate, clocks_per_tick));
    }
}

proptest! {
    #![proptest_config(cases(400))]

    /// Software switches the guard off and on, and makes the bucket smaller and larger again, in any
    /// cycle.
    #[test]
    fn a_guard_that_software_sets_agrees_with_the_golden_model(
        burst in 1u32..6,
        numerator in 0u128..64,
        clocks_per_tick in 1u64..5,
        stretches in prop::collection::vec(
            (any::<bool>(), any::<bool>(), prop::bool::weighted(0.2), 1u32..6, 1u64..40),
            1..60,
        ),
    ) {
        let plan = with_guard(&timed_plan(), burst, numerator, clocks_per_tick, false);
        let mut golden = golden::Guard::new(&plan).unwrap();
        let mut bench = Bench::new(block(&plan));
        let mut now = 0;
        let mut asleep = false;
        // Cycles in which a packet had a link woken since the guard was set last.
        let (mut setting, mut woken) = ((false, burst), Vec::new());
        for (wants_sleep, queue_nonempty, off, tokens, cycles) in stretches {
            let set = (off, tokens.min(burst));
            golden.set(now, set.0, set.1);
            bench.drive(&[("off", set.0.into()), ("burst", set.1.into())]);
            if set != setting {
                (setting, woken) = (set, Vec::new());
            }
            for _ in 0..cycles {
                asleep = wants_sleep && (asleep || golden.permits(now));
                if asleep && queue_nonempty && !off && !golden.steady(false, true) {
                    woken.push(now);
                }
                bench.drive(&[
                    ("awake", (!asleep).into()),
                    ("queue_nonempty", queue_nonempty.into()),
                ]);
                bench.check(now, &[
                    ("permits", golden.permits(now).into()),
                    ("tokens_now", golden.tokens(now)),
                ])?;
                prop_assert!(golden.permits(now) || !off);
                bench.clock();
                golden.clock(now, !asleep, queue_nonempty);
                now += 1;
            }
            prop_assert!(keeps_its_bound(&woken, setting.1, numerator, clocks_per_tick));
        }
        prop_assert!(!golden.overdrawn());
    }
}

/// A link that sleeps without the guard's permission is found out at the first wake-up too many.
#[test]
fn a_broken_promise_is_told() {
    // 3 tokens, and one more every 64 ticks: the fourth wake-up within them is too many.
    let mut golden = golden::Guard::new(&plan(3, 1, 1, false)).unwrap();
    for wake_up in 1..=4 {
        let now = 4 * wake_up;
        golden.clock(now, false, true);
        golden.clock(now + 1, true, true);
        assert_eq!(golden.overdrawn(), wake_up == 4);
    }
}

#[test]
fn emitted_verilog_agrees_with_the_description() {
    for (clocks_per_tick, adjustable) in [(1, false), (3, false), (1, true)] {
        let plan = plan(3, 5, clocks_per_tick, adjustable);
        check::agrees_with_verilog(move || block(&plan), 4000, 1).unwrap();
    }
    let plan = with_guard(&timed_plan(), 3, 5, 3, false);
    check::agrees_with_verilog(move || block(&plan), 4000, 1).unwrap();
}
