//! The other end of the link where a single port is driven: what arrives on `message_in`.

use std::collections::VecDeque;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::interrupted::Interrupted;
use super::{Activity, SoftwareMay, Stretch};
use crate::blocks::port::pins::{Inputs, Message, PackedOutputs, MESSAGE_WIDTH};
use crate::config::plan::{MessagesPlan, PortPlan};

/// An activity with another end of the link that answers, where the ends exchange messages.
/// Its wishes are the activity's inputs for levels: it wants the link down or up when
/// `remote_down` or `remote_up` rises, and refuses to sleep unless `sleep_permit` is set. A direction
/// that sleeps for itself has no other end: what the activity says of it is left out.
pub struct WithPeer<A> {
    activity: Interrupted<A>,
    per_direction: bool,
    peer: Option<Peer>,
    random: ChaCha8Rng,
}

impl<A: Activity> WithPeer<A> {
    /// The other end answers at once, always.
    pub fn prompt(activity: A, plan: &PortPlan) -> Self {
        WithPeer::new(activity, plan, 0, false, false)
    }

    /// The other end is prompt, late, silent or confused for a while each; `leaps`: the engine
    /// leaps over idle time.
    pub fn random(activity: A, plan: &PortPlan, seed: u64, leaps: bool) -> Self {
        WithPeer::new(activity, plan, seed, true, leaps)
    }

    fn new(activity: A, plan: &PortPlan, seed: u64, moody: bool, leaps: bool) -> Self {
        WithPeer {
            activity: Interrupted::new(activity),
            per_direction: plan.per_direction(),
            peer: plan.messages().map(|sync| Peer::new(&sync, moody, leaps)),
            random: ChaCha8Rng::seed_from_u64(seed),
        }
    }
}

impl<A: Activity> Activity for WithPeer<A> {
    fn next(&mut self, outputs: &PackedOutputs) -> Option<Stretch> {
        let stretch = self.activity.next(outputs)?;
        if self.per_direction {
            let inputs = Inputs {
                receiving: false,
                sleep_permit: true,
                remote_down: false,
                remote_up: false,
                ..stretch.inputs
            };
            return Some(Stretch { inputs, ..stretch });
        }
        let Some(peer) = &mut self.peer else {
            return Some(stretch);
        };
        let (inputs, cycles) =
            peer.inputs(&stretch, outputs.unpack().message_out, &mut self.random);
        Some(Stretch {
            inputs,
            cycles: cycles.min(stretch.cycles),
            until_change: true,
            ..stretch
        })
    }

    fn passed(&mut self, cycles: u64, leapt: u64) {
        self.activity.passed(cycles, leapt);
        if let Some(peer) = &mut self.peer {
            peer.now += cycles;
            peer.clocked += cycles - leapt;
        }
    }
}

/// What kind of end it is, for some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// Answers every request one cycle after it came.
    Prompt,
    /// Answers, but around the end of the time-out.
    Slow,
    /// Never answers.
    Silent,
    /// Answers, and now and then says what nobody asked for, illegal codes among it.
    Confused,
}

/// The other end of the link.
struct Peer {
    timeout: u64,
    initiator: bool,
    /// Its manner changes.
    moody: bool,
    manner: Manner,
    /// The engine leaps over idle time, in which the manner does not change then.
    leaps: bool,
    /// Clocked cycle in which the manner changes.
    changes_at: u64,
    /// Cycles that a message takes.
    delay: u64,
    now: u64,
    /// Cycles that were clocked.
    clocked: u64,
    before: Inputs,
    /// Codes on their way to the port and the cycles in which they arrive, in order.
    coming: VecDeque<(u64, u8)>,
}

impl Peer {
    fn new(sync: &MessagesPlan, moody: bool, leaps: bool) -> Peer {
        Peer {
            timeout: sync.timeout,
            initiator: false,
            moody,
            leaps,
            manner: Manner::Prompt,
            changes_at: 0,
            delay: 0,
            now: 0,
            clocked: 0,
            before: Inputs::default(),
            coming: VecDeque::new(),
        }
    }

    /// The port's inputs in this cycle, and for how many cycles they stay as they are as far
    /// as this end goes: its wishes are the inputs for levels, `heard` is what the port says.
    fn inputs(
        &mut self,
        stretch: &Stretch,
        heard: Message,
        random: &mut ChaCha8Rng,
    ) -> (Inputs, u64) {
        let wishes = &stretch.inputs;
        if self.moody && self.clocked >= self.changes_at {
            // Where nobody looks, time-outs are counted, among others, and are to be many.
            self.change_manner(stretch.software == SoftwareMay::Nothing, random);
        }
        self.wish(wishes, random);
        self.hear(wishes, heard, random);
        self.before = *wishes;
        let message_in = match self.coming.front() {
            Some(&(at, code)) if at <= self.now => {
                self.coming.pop_front();
                code
            }
            _ => 0,
        };
        let next = self.coming.front().map_or(u64::MAX, |(at, _)| *at);
        let cycles = match (message_in, heard) {
            (0, Message::None) if self.moody && !self.leaps => {
                let change = self.now + (self.changes_at - self.clocked);
                next.min(change) - self.now
            }
            (0, Message::None) => next - self.now,
            _ => 1,
        };
        let inputs = Inputs {
            sleep_permit: false,
            remote_down: false,
            remote_up: false,
            initiator: self.initiator,
            message_in,
            ..*wishes
        };
        (inputs, cycles)
    }

    fn change_manner(&mut self, often_silent: bool, random: &mut ChaCha8Rng) {
        self.manner = match random.random_range(0..20) {
            0..12 => Manner::Prompt,
            12..14 => Manner::Slow,
            14..15 => Manner::Silent,
            15..19 if often_silent => Manner::Silent,
            _ => Manner::Confused,
        };
        self.initiator = random.random();
        // A round trip must fit into the time-out.
        let longest = self.timeout.saturating_sub(1) / 2;
        self.delay = match random.random_range(0..4) {
            0 => 0,
            1 => longest,
            _ => random.random_range(0..=longest.min(40)),
        };
        self.changes_at =
            self.clocked + random.random_range(20..=20 * self.timeout.min(1000) + 400);
    }

    fn say(&mut self, delay: u64, message: Message) {
        self.say_code(delay, message as u8);
    }

    /// One message per cycle, in the order in which they were sent.
    fn say_code(&mut self, delay: u64, code: u8) {
        let after = self.coming.back().map_or(0, |last| last.0 + 1);
        self.coming.push_back((after.max(self.now + delay), code));
    }

    fn wish(&mut self, wishes: &Inputs, random: &mut ChaCha8Rng) {
        if wishes.remote_down && !self.before.remote_down {
            self.say(0, Message::ReqDown);
        }
        if wishes.remote_up && !self.before.remote_up {
            self.say(0, Message::ReqUp);
        }
        if self.manner == Manner::Confused && random.random_ratio(1, 6) {
            let code = random.random_range(1..1 << MESSAGE_WIDTH);
            self.say_code(random.random_range(0..30), code);
        }
    }

    fn hear(&mut self, wishes: &Inputs, heard: Message, random: &mut ChaCha8Rng) {
        let round_trip = 2 * self.delay;
        let answer = match self.manner {
            Manner::Silent => return,
            Manner::Prompt | Manner::Confused => round_trip + 1,
            Manner::Slow => (self.timeout - self.timeout.min(3)) + random.random_range(0..6),
        };
        let mut sometimes = |one_in| self.moody && random.random_ratio(1, one_in);
        let (crossing, refuses, withdraws) = (sometimes(8), sometimes(12), sometimes(10));
        // A request that left before this one arrived comes a while before the answer.
        let earlier = random.random_range(0..=self.delay);
        match heard {
            Message::ReqDown if crossing => {
                let request = if random.random_ratio(1, 3) {
                    Message::ReqUp
                } else {
                    Message::ReqDown
                };
                self.say(earlier, request);
                if self.initiator && request == Message::ReqDown {
                    self.say(answer, Message::Ack);
                }
            }
            Message::ReqDown if !wishes.sleep_permit || refuses => {
                self.say(answer, Message::Nack);
            }
            Message::ReqDown => self.say(answer, Message::Ack),
            Message::ReqUp => {
                if crossing {
                    self.say(earlier, Message::ReqUp);
                }
                self.say(answer, Message::Ack);
            }
            Message::Ack if withdraws => self.say(answer, Message::Nack),
            Message::Ack => self.say(answer, Message::Sync),
            Message::None | Message::Nack | Message::Sync => {}
        }
    }
}
