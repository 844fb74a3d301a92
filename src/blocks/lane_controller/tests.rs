//! Lock step of description and golden model; what Zahn says of the lanes, by hand.

use proptest::prelude::*;

use super::golden::{self, Lanes};
use super::LaneController;
use crate::blocks::testing::{cases, Bench};
use crate::config::plan::LanePlan;
use crate::hdl::check;

/// 4 lanes, of which one stays on, with short times.
const PLAN: LanePlan = LanePlan {
    lanes: 4,
    low: 1,
    t_down: 5,
    t_narrow: 3,
    t_widen: 2,
    level: 20,
    most_backlog: 100,
};

fn plans() -> impl Strategy<Value = LanePlan> {
    let times = (1u64..30, 1u64..20, 1u64..20);
    (2u32..65, 1u32..64, times, 0u64..200).prop_map(
        |(lanes, low, (t_down, t_narrow, t_widen), level)| LanePlan {
            lanes,
            low: low.min(lanes - 1),
            t_down,
            t_narrow,
            t_widen,
            level,
            most_backlog: 200,
        },
    )
}

/// What a port does for some cycles: idle, waiting with a backlog, or sending.
fn activity() -> impl Strategy<Value = Vec<(u32, u64, u64)>> {
    prop::collection::vec((0u32..4, 0u64..201, 1u64..40), 1..40)
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn description_and_golden_model_agree(plan in plans(), activity in activity()) {
        let mut golden = golden::LaneController::new(&plan);
        let mut bench = Bench::new(LaneController::new(&plan));
        let mut cycle = 0;
        for (what, backlog, cycles) in activity {
            let (nonempty, transmitting) = (what > 0, what > 1);
            for _ in 0..cycles {
                bench.drive(&[
                    ("queue_nonempty", nonempty.into()),
                    ("transmitting", transmitting.into()),
                    ("backlog", backlog),
                ]);
                let low = golden.lanes() == Lanes::Low;
                let lanes = if low { plan.low } else { plan.lanes };
                bench.check(cycle, &[
                    ("tx_enable", golden.may_send(backlog).into()),
                    ("low", low.into()),
                    ("lanes_on", u64::MAX >> (64 - lanes)),
                ])?;
                bench.clock();
                golden.clock(1, nonempty || transmitting, transmitting, backlog);
                cycle += 1;
            }
        }
    }

    /// Many cycles at once are the same as one after the other.
    #[test]
    fn the_golden_model_leaps(plan in plans(), activity in activity()) {
        let mut one = golden::LaneController::new(&plan);
        let mut other = golden::LaneController::new(&plan);
        for (what, backlog, cycles) in activity {
            let (active, transmitting) = (what > 0, what > 1);
            for _ in 0..cycles {
                one.clock(1, active, transmitting, backlog);
            }
            let mut left = cycles;
            while left > 0 {
                let step = other.changes_in(active, transmitting, backlog).unwrap_or(left).min(left);
                other.clock(step, active, transmitting, backlog);
                left -= step;
            }
            prop_assert_eq!(one.lanes(), other.lanes());
            let changes = |it: &golden::LaneController| it.changes_in(active, transmitting, backlog);
            prop_assert_eq!(changes(&one), changes(&other));
        }
    }
}

/// "If a link is idling for a predefined period" most of its lanes are turned off; "links remain in the
/// low power state when a small message arrives"; with a long one it is "faster to wait the transition
/// time and send at the highest speed" (Zahn II.A).
#[test]
fn small_messages_go_by_the_low_lanes_and_long_ones_turn_all_on() {
    let mut bench = Bench::new(LaneController::new(&PLAN));
    let mut cycle = |nonempty: u64, transmitting: u64, backlog: u64| {
        bench.drive(&[
            ("queue_nonempty", nonempty),
            ("transmitting", transmitting),
            ("backlog", backlog),
        ]);
        let seen = ["tx_enable", "low", "lanes_on"].map(|pin| bench.get(pin));
        bench.clock();
        seen
    };
    let (all, fewer, low) = ([1, 0, 0b1111], [0, 0, 0b1111], [1, 1, 0b0001]);
    // Idle for t_down, then lanes are turned off for t_narrow.
    let seen: Vec<[u64; 3]> = (0..9).map(|_| cycle(0, 0, 0)).collect();
    assert_eq!(seen[..5], [all; 5]);
    assert_eq!(seen[5..8], [fewer; 3]);
    assert_eq!(seen[8], low);
    // 20 bytes are sent by the low lane.
    assert_eq!([cycle(1, 0, 20), cycle(1, 1, 0), cycle(0, 0, 0)], [low; 3]);
    // 21 turn all lanes on, but not while a packet is being sent.
    assert_eq!(cycle(1, 1, 21), [0, 1, 0b0001]);
    assert_eq!(cycle(1, 0, 21), [0, 1, 0b0001]);
    assert_eq!([cycle(1, 0, 21), cycle(1, 0, 21)], [fewer; 2]);
    assert_eq!(cycle(1, 0, 21), all);
}

/// Zahn III.B, Table I: 12 lanes of together 96 Gb/s, one of which stays on, and 10 us for a change:
/// 10,909 bytes are as quick either way.
#[test]
fn the_level_is_where_both_ways_are_as_quick() {
    // A byte takes 1/12 ns by all lanes: in units of 1/12 ns.
    let (byte, change) = (1, 10_000 * 12);
    let level = LanePlan::level(12, 1, byte, change);
    assert_eq!(level, 10_909);
    let by_low = |bytes: u64| bytes * 12 * byte;
    let by_all = |bytes: u64| change + bytes * byte;
    assert!(by_low(level) <= by_all(level) && by_low(level + 1) > by_all(level + 1));
}

#[test]
fn emitted_verilog_agrees_with_the_description() {
    let wide = LanePlan {
        lanes: 12,
        low: 3,
        t_down: 11_100,
        t_narrow: 40,
        t_widen: 10_000,
        level: 10_909,
        most_backlog: 49_152,
    };
    for plan in [PLAN, wide] {
        check::agrees_with_verilog(|| LaneController::new(&plan), 20_000, 1).unwrap();
    }
}
