//! Lock-step test: description against golden model, with a peer that answers, is late,
//! crosses, withdraws and talks nonsense.

use std::collections::VecDeque;

use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::golden::{LinkSync as Golden, View};
use super::LinkSync;
use crate::blocks::lpi_fsm::golden::LpiFsm;
use crate::blocks::lpi_fsm::tests::timed_plan;
use crate::blocks::port::pins::{Message, PowerState};
use crate::blocks::port::tests::small_plan;
use crate::blocks::testing::{cases, Bench};
use crate::config::plan::{LinkTime, MessagesPlan, PortPlan, Sleep, SyncPlan};
use crate::hdl::check;

/// What the other end does with a message.
#[derive(Clone, Copy, Debug)]
enum Manner {
    /// Answers every request after the delay, and follows up with SYNC.
    Answers,
    /// The same, but refuses and withdraws at random.
    Refuses,
    /// Never says anything.
    Silent,
    /// Says anything at any time, illegal codes among it.
    Babbles,
}

/// A peer at the other end of a cable.
struct Peer {
    manner: Manner,
    delay: u64,
    /// What arrives here, and when.
    coming: VecDeque<(u64, u8)>,
}

impl Peer {
    fn say(&mut self, at: u64, message: Message) {
        let free = self.coming.back().is_none_or(|last| last.0 < at);
        if free {
            self.coming.push_back((at, message as u8));
        }
    }

    /// The code that arrives in cycle `now`, after `heard` left this end.
    fn step(&mut self, now: u64, heard: Message, random: &mut ChaCha8Rng) -> u8 {
        if matches!(self.manner, Manner::Babbles) {
            return match random.random_range(0..8) {
                0..4 => random.random_range(0..8),
                _ => 0,
            };
        }
        let answer_at = now + 2 * self.delay + 1;
        let refuses = matches!(self.manner, Manner::Refuses) && random.random_ratio(1, 3);
        match heard {
            _ if matches!(self.manner, Manner::Silent) => {}
            Message::ReqDown if refuses => self.say(answer_at, Message::Nack),
            Message::ReqDown | Message::ReqUp => self.say(answer_at, Message::Ack),
            Message::Ack if refuses => self.say(answer_at, Message::Nack),
            Message::Ack => self.say(answer_at, Message::Sync),
            _ if random.random_ratio(1, 40) => {
                let request = if random.random_ratio(1, 3) {
                    Message::ReqUp
                } else {
                    Message::ReqDown
                };
                self.say(now + self.delay, request);
            }
            _ => {}
        }
        match self.coming.front() {
            Some(&(at, code)) if at <= now => {
                self.coming.pop_front();
                code
            }
            _ => 0,
        }
    }
}

proptest! {
    #![proptest_config(cases(450))]

    #[test]
    fn description_and_golden_model_agree(
        manner in prop_oneof![
            4 => Just(Manner::Answers),
            3 => Just(Manner::Refuses),
            1 => Just(Manner::Silent),
            3 => Just(Manner::Babbles),
        ],
        delay in 0u64..12,
        timeout in 1u64..40,
        sleep in prop_oneof![Just(Sleep::FastWake), Just(Sleep::DeepSleep), Just(Sleep::Hybrid)],
        control_pins in any::<bool>(),
        timed in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let sync = MessagesPlan { timeout };
        let base = if timed { timed_plan() } else { small_plan() };
        let plan = PortPlan { sleep, sync: SyncPlan::Messages(sync), control_pins, ..base };
        let limits = plan.adjustable_times();
        let limits = limits.iter().find(|it| it.time == LinkTime::SyncTimeout);
        prop_assert_eq!(limits.is_some(), timed);
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut golden = Golden::new(&plan).unwrap();
        let mut fsm = LpiFsm::new(&plan);
        let mut bench = Bench::new(LinkSync::new(&plan, &sync));
        let mut peer = Peer { manner, delay, coming: VecDeque::new() };
        let initiator = random.random();
        let mut queue = false;
        let mut overdue = false;
        let mut link_up = true;
        for now in 0..1500 {
            // Software sets the time-out at any time, also while the end waits.
            if let Some(limits) = limits.filter(|_| now == 0 || random.random_ratio(1, 60)) {
                let timeout = random.random_range(limits.least..=limits.most);
                golden.set_timeout(timeout);
                bench.drive(&[("timeout_last", timeout - 1)]);
            }
            // It is away for some cycles, now and then.
            link_up = !control_pins || match link_up {
                true => !random.random_ratio(1, 200),
                false => random.random_ratio(1, 8),
            };
            let message = peer.step(now, golden.message(), &mut random);
            let awake = fsm.state() == PowerState::Wake;
            queue = if queue { !(awake && !golden.holds_back() && random.random_ratio(1, 4)) } else { random.random_ratio(1, 50) };
            let transmitting = awake && queue && random.random();
            let active = queue || transmitting || random.random_ratio(1, 60);
            overdue = awake && !active && (overdue || random.random_ratio(1, 30));
            let view = View {
                message: Message::decode(message),
                initiator,
                queue_nonempty: queue,
                transmitting,
                active,
                state: fsm.state(),
                may_go_down: fsm.may_go_down(),
                wants_down: fsm.may_go_down() && !active && random.random_ratio(1, 20),
                overdue,
                permitted: random.random_ratio(9, 10),
                link_up,
                clear_error: control_pins && random.random_ratio(1, 30),
            };
            if control_pins {
                bench.drive(&[
                    ("link_up", link_up.into()),
                    ("clear_error", view.clear_error.into()),
                ]);
            }
            bench.drive(&[
                ("initiator", initiator.into()),
                ("message_in", message.into()),
                ("queue_nonempty", queue.into()),
                ("transmitting", transmitting.into()),
                ("active", active.into()),
                ("awake", awake.into()),
                ("asleep", fsm.asleep().into()),
                ("may_go_down", view.may_go_down.into()),
                ("wants_down", view.wants_down.into()),
                ("overdue", overdue.into()),
                ("permitted", view.permitted.into()),
            ]);
            let (down, up) = golden.starts(now, &view);
            bench.check(now, &[
                ("message_out", golden.message() as u64),
                ("down_start", down.into()),
                ("sync_error", golden.error().into()),
                ("tx_enable", (awake && !golden.holds_back()).into()),
            ])?;
            if link_up {
                // The state machine asks for it then alone.
                bench.check(now, &[("up_start", up.into())])?;
            }
            bench.clock();
            golden.clock(now, &view);
            match link_up {
                true => fsm.clock(now, down, up),
                false => fsm.clock_without_link(),
            }
        }
    }
}

#[test]
fn emitted_verilog_agrees_with_the_description() {
    let sync = MessagesPlan { timeout: 7 };
    for base in [small_plan(), timed_plan()] {
        for control_pins in [false, true] {
            let plan = base.with(|plan| {
                plan.sync = SyncPlan::Messages(sync);
                plan.control_pins = control_pins;
            });
            check::agrees_with_verilog(|| LinkSync::new(&plan, &sync), 4000, 1).unwrap();
        }
    }
}
