//! Two port controllers joined by a cable (SPEC 5): random packets at both ends, golden
//! models that hear each other's messages and data after the cable's delay, and the promises
//! that only a pair can be held to. What every pin did goes to a sink, which compares it
//! with the hardware.

use std::collections::VecDeque;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::blocks::link_sync::{start_cycles, wait_bound};
use crate::blocks::port::controller::PowerController;
use crate::blocks::port::pins::{Inputs, Message, Outputs, PowerState};
use crate::config::plan::{MessagesPlan, PortPlan, Sleep};
use crate::cosim::{ActivitySink, Run};

/// What happens to the link beside traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disturbance {
    /// Nothing.
    None,
    /// Nothing ever arrives at either end.
    Silent,
    /// From some cycle on nothing that leaves an end arrives any more.
    Cut,
    /// Now and then one end is reset, for up to a few time-outs.
    Resets,
}

/// One run of a pair.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Clock cycles from an output at one end to an input at the other.
    pub delay: u64,
    /// Clock cycles to run.
    pub cycles: u64,
    /// Determines packets and disturbances.
    pub seed: u64,
    /// What happens beside traffic.
    pub disturbance: Disturbance,
}

/// What a pair did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Story {
    /// Transitions down that both ends began together.
    pub downs: u64,
    /// Transitions up that both ends began together.
    pub ups: u64,
    /// The most clock cycles between the two starts of one transition.
    pub skew: u64,
    /// The longest time in clock cycles for which a packet waited for a link that did not
    /// let it pass; not counting what waited for the end of the first cycles after reset.
    pub longest_wait: u64,
    /// The most it may be, once the ports have been out of reset for long enough to send.
    pub wait_bound: u64,
    /// Packets sent by both ends.
    pub packets: u64,
    /// Whether each end raised `sync_error` at the end of the run.
    pub errors: [bool; 2],
}

impl Story {
    /// Adds what another pair did.
    pub fn merge(&mut self, other: &Story) {
        self.downs += other.downs;
        self.ups += other.ups;
        self.skew = self.skew.max(other.skew);
        self.longest_wait = self.longest_wait.max(other.longest_wait);
        self.wait_bound = self.wait_bound.max(other.wait_bound);
        self.packets += other.packets;
    }
}

/// A promise that was not kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cycle {cycle}, end {end}: {what}")]
pub struct Fault {
    /// Counted from the first cycle after reset.
    pub cycle: u64,
    /// 0 or 1; end 0 is the initiator.
    pub end: usize,
    /// What it did.
    pub what: String,
}

/// One end with its traffic and what is on its way to it.
struct End<M> {
    golden: M,
    outputs: Outputs,
    /// Packets in the queue, the one that is leaving included.
    queued: u64,
    /// First cycle in which the packet that is leaving has left.
    sends_until: Option<u64>,
    starts_packet: bool,
    next_packet: u64,
    waits_since: Option<u64>,
    reset_until: u64,
    asked_at: Option<u64>,
    state: PowerState,
    /// Transitions that the other end has not begun yet, and when they began here.
    begun: VecDeque<(u64, PowerState)>,
    /// Messages on their way here and the cycles in which they arrive.
    messages: VecDeque<(u64, Message)>,
    /// Packets on their way here: first cycle, and first cycle after them.
    data: VecDeque<(u64, u64)>,
}

impl<M: PowerController> End<M> {
    fn new(golden: M) -> Self {
        End {
            outputs: golden.outputs(),
            golden,
            queued: 0,
            sends_until: None,
            starts_packet: false,
            next_packet: 1,
            waits_since: None,
            reset_until: 0,
            asked_at: None,
            state: PowerState::Wake,
            begun: VecDeque::new(),
            messages: VecDeque::new(),
            data: VecDeque::new(),
        }
    }

    /// The inputs in cycle `now`.
    fn inputs(&self, now: u64, initiator: bool) -> Inputs {
        let message = self.messages.front().filter(|(at, _)| *at == now);
        Inputs {
            rst: now < self.reset_until,
            queue_nonempty: self.queued > 0,
            transmitting: self.sends_until.is_some(),
            receiving: self.data.front().is_some_and(|(from, _)| *from <= now),
            packet_valid: self.starts_packet,
            packet_hops: if self.starts_packet { 2 } else { 0 },
            initiator,
            message_in: message.map_or(0, |&(_, message)| message as u8),
            ..Inputs::default()
        }
    }

    /// Cycles from `now` on in which nothing happens on the inputs.
    fn quiet(&self, now: u64) -> u64 {
        let message = self.messages.front().map(|(at, _)| *at);
        let data = self
            .data
            .front()
            .map(|&(from, to)| if from > now { from } else { to });
        let reset = (now < self.reset_until).then_some(self.reset_until);
        let pulse = (self.starts_packet || message == Some(now)).then_some(now + 1);
        let message = message.filter(|at| *at > now);
        [
            message,
            data,
            reset,
            pulse,
            self.sends_until,
            Some(self.next_packet),
        ]
        .into_iter()
        .flatten()
        .map(|at| at - now)
        .min()
        .unwrap_or(u64::MAX)
    }
}

struct Pair<'a, M> {
    plan: &'a PortPlan,
    sync: MessagesPlan,
    setup: Setup,
    random: ChaCha8Rng,
    ends: [End<M>; 2],
    now: u64,
    /// From this cycle on nothing arrives any more.
    cut_at: u64,
    /// Before this cycle the ends may disagree after a reset.
    calm_from: u64,
    next_reset: u64,
    /// Cycles after reset in which an end sends nothing.
    start: u64,
    /// Cycles that a packet may wait.
    bound: u64,
    /// The lowest threshold so far, in cycles.
    least_threshold: u64,
    story: Story,
}

/// Runs two golden models just after reset against each other and tells `sink`, as ports 0
/// and 1, what their pins did.
///
/// # Errors
/// A promise of SPEC 5 that was not kept.
///
/// # Panics
/// If the controllers of `plan` do not exchange messages, or a round trip takes longer than
/// their time-out.
pub fn run<M: PowerController>(
    plan: &PortPlan,
    golden: impl Fn() -> M,
    setup: Setup,
    sink: &mut dyn ActivitySink,
) -> Result<Story, Fault> {
    let sync = plan.messages().expect("controllers that exchange messages");
    assert!(fits(&sync, setup.delay), "a time-out for this delay");
    let mut random = ChaCha8Rng::seed_from_u64(setup.seed);
    let cut_at = match setup.disturbance {
        Disturbance::Silent => 0,
        Disturbance::Cut => random.random_range(setup.cycles / 4..=setup.cycles / 2),
        Disturbance::None | Disturbance::Resets => u64::MAX,
    };
    let round_trip = (setup.disturbance == Disturbance::None).then_some(2 * setup.delay);
    let bound = wait_bound(plan, round_trip).expect("there is an exchange of messages");
    let mut pair = Pair {
        plan,
        sync,
        setup,
        random,
        ends: [End::new(golden()), End::new(golden())],
        now: 0,
        cut_at,
        calm_from: 0,
        next_reset: u64::MAX,
        start: start_cycles(plan, &sync),
        bound,
        least_threshold: u64::MAX,
        story: Story {
            wait_bound: bound,
            ..Story::default()
        },
    };
    if setup.disturbance == Disturbance::Resets {
        pair.plan_reset();
    }
    while pair.now < setup.cycles {
        pair.step(sink)?;
        if sink.window().is_break() {
            break;
        }
    }
    pair.conclude()
}

/// Whether answers over a cable of `delay` cycles come in time.
pub fn fits(sync: &MessagesPlan, delay: u64) -> bool {
    delay <= (sync.timeout.max(1) - 1) / 2
}

impl<M: PowerController> Pair<'_, M> {
    fn step(&mut self, sink: &mut dyn ActivitySink) -> Result<(), Fault> {
        let now = self.now;
        self.reset();
        for end in 0..2 {
            self.traffic(end);
            self.look(end)?;
            self.send(end);
        }
        self.compare_starts()?;
        for end in 0..2 {
            self.check_data(end)?;
        }
        let inputs = [0, 1].map(|end| self.ends[end].inputs(now, end == 0));
        let step = (0..2)
            .map(|end| {
                let place = &self.ends[end];
                place
                    .golden
                    .quiet_cycles(&inputs[end])
                    .min(place.quiet(now))
            })
            .min()
            .expect("two ends")
            .min(
                self.cut_at
                    .checked_sub(now)
                    .filter(|left| *left > 0)
                    .unwrap_or(u64::MAX),
            )
            .min(self.next_reset.saturating_sub(now).max(1))
            .min(self.setup.cycles - now);
        for (number, (end, inputs)) in self.ends.iter_mut().zip(&inputs).enumerate() {
            sink.run(number, Run::new(step, inputs, &end.outputs));
            let clocked = end.golden.advance(inputs, step);
            assert_eq!(
                clocked, step,
                "a golden model keeps quiet as long as it says"
            );
            end.outputs = end.golden.outputs();
            end.starts_packet = false;
            end.messages.retain(|(at, _)| *at > now);
        }
        self.now += step;
        Ok(())
    }

    fn plan_reset(&mut self) {
        let pause = self.setup.cycles / 6 + 2;
        self.next_reset = self.now + self.random.random_range(1..pause);
    }

    fn reset(&mut self) {
        if self.now < self.next_reset {
            return;
        }
        let start = self.start;
        let lasts = match self.random.random_range(0..3) {
            0 => 1,
            1 => self.random.random_range(1..12),
            _ => self.random.random_range(1..=2 * start),
        };
        let victim = usize::from(self.random.random::<bool>());
        // What it was sending ends on the wire, too.
        let gone = self.now + self.setup.delay;
        let end = &mut self.ends[victim];
        end.reset_until = self.now + lasts;
        end.queued = 0;
        end.sends_until = None;
        end.waits_since = None;
        end.next_packet = self.now + lasts + 1;
        for (_, to) in &mut self.ends[1 - victim].data {
            *to = (*to).min(gone);
        }
        self.ends[1 - victim].data.retain(|(from, to)| from < to);
        // The reset end asks the other one to wake; whatever that was doing may first time
        // out, and its transitions last.
        let calm = self.now + lasts + 2 * start + 2 * self.bound;
        self.calm_from = self.calm_from.max(calm);
        self.plan_reset();
    }

    /// Packets come and go.
    fn traffic(&mut self, number: usize) {
        let now = self.now;
        let end = &mut self.ends[number];
        if end.next_packet <= now {
            end.queued += 1 + u64::from(self.random.random_ratio(1, 4));
            end.next_packet = u64::MAX;
        }
        if end.sends_until == Some(now) {
            end.sends_until = None;
            end.queued -= 1;
            self.story.packets += 1;
            if end.queued == 0 {
                self.fall_silent(number);
            }
        }
        let end = &mut self.ends[number];
        // Just after an exchange has begun a packet does most harm.
        let provoked = match end.outputs.message_out {
            Message::ReqDown | Message::Ack | Message::Sync => 3 * self.setup.delay + 6,
            _ if end.outputs.power_state != end.state => self.sync.timeout / 4 + 6,
            _ => 0,
        };
        if provoked > 0 && self.random.random_ratio(1, 4) {
            let soon = now + self.random.random_range(1..=provoked);
            end.next_packet = end.next_packet.min(soon).max(end.reset_until + 1);
        }
        let end = &mut self.ends[number];
        if end.queued > 0 && end.sends_until.is_none() && end.outputs.tx_enable {
            let length = self.random.random_range(1..12);
            end.sends_until = Some(now + length);
            end.starts_packet = true;
            let arrives = now + self.setup.delay;
            if now < self.cut_at {
                self.ends[1 - number]
                    .data
                    .push_back((arrives, arrives + length));
            }
        }
    }

    /// The last packet of an end has left. The other end is silent, too, unless it has one:
    /// neither would ever be idle for long if each of them drew its gaps alone.
    fn fall_silent(&mut self, number: usize) {
        for end in [number, 1 - number] {
            let next = self.now + self.gap(end);
            let place = &mut self.ends[end];
            place.next_packet = if end == number || place.next_packet == u64::MAX {
                next
            } else {
                place.next_packet.max(next)
            };
        }
    }

    /// Cycles until the next packet: often shortly after the link has begun to go down.
    fn gap(&mut self, number: usize) -> u64 {
        let threshold = self.ends[number]
            .outputs
            .t_pdt
            .saturating_mul(self.plan.clocks_per_tick);
        self.least_threshold = self.least_threshold.min(threshold);
        // A histogram that has seen a long idle period asks for a longer one next time. Many
        // short ones clear it sooner than ever longer ones use up the run.
        let cycles = self.setup.cycles;
        let affordable = (self.least_threshold.saturating_mul(5) / 4)
            .max(cycles / 16)
            .min(cycles / 3);
        let random = &mut self.random;
        let times = self.plan.used_sleep_states();
        let exchange: u64 = times.iter().map(|times| times.t_s + times.t_w).sum::<u64>()
            + 6 * self.setup.delay
            + 40;
        let hold = match self.plan.sleep {
            Sleep::Hybrid => self.plan.link.hybrid_hold,
            Sleep::FastWake | Sleep::DeepSleep => 0,
        };
        match random.random_range(0..10) {
            0 => random.random_range(1..30),
            _ if threshold > affordable => random.random_range(1..30),
            1..6 => threshold + random.random_range(1..=exchange),
            6..9 => threshold + hold + random.random_range(1..=exchange),
            _ => random.random_range(1..=threshold + 2 * exchange),
        }
    }

    /// What the outputs of this cycle tell.
    fn look(&mut self, number: usize) -> Result<(), Fault> {
        let now = self.now;
        let (bound, start, timeout) = (self.bound, self.start, self.sync.timeout);
        let end = &mut self.ends[number];
        let fault = |what: String| {
            Err(Fault {
                cycle: now,
                end: number,
                what,
            })
        };
        if now < end.reset_until {
            end.state = PowerState::Wake;
            end.asked_at = None;
            return Ok(());
        }
        let outputs = end.outputs;
        if outputs.tx_enable && outputs.power_state != PowerState::Wake {
            return fault(format!("may transmit in {}", outputs.power_state.name()));
        }
        if now < end.reset_until + start {
            if outputs.tx_enable {
                return fault("may transmit right after reset".into());
            }
        } else if end.queued > 0 && !outputs.tx_enable {
            let waited = now - *end.waits_since.get_or_insert(now);
            if waited > bound {
                return fault(format!("a packet has waited for more than {bound} cycles"));
            }
        } else if let Some(since) = end.waits_since.take() {
            self.story.longest_wait = self.story.longest_wait.max(now - since);
        }
        match outputs.message_out {
            Message::ReqDown | Message::ReqUp => end.asked_at = Some(now),
            _ => {}
        }
        // A request may still cross one that was sent before: two waits.
        let in_vain = end.asked_at.is_some_and(|asked| {
            asked > self.cut_at && now > asked + (2 * timeout + 3).max(self.start)
        });
        if in_vain && !outputs.sync_error {
            return fault("asked in vain and raised no error".into());
        }
        if outputs.sync_error && self.setup.disturbance == Disturbance::None {
            return fault("gave up an end that answers".into());
        }
        let begins = matches!(
            outputs.power_state,
            PowerState::GoingDown | PowerState::GoingUp
        );
        if begins && outputs.power_state != end.state {
            end.begun.push_back((now, outputs.power_state));
        }
        end.state = outputs.power_state;
        Ok(())
    }

    /// The message of this cycle leaves.
    fn send(&mut self, number: usize) {
        let end = &self.ends[number];
        let lost = self.now >= self.cut_at || self.now < end.reset_until;
        let message = end.outputs.message_out;
        if message != Message::None && !lost {
            let arrives = self.now + self.setup.delay;
            self.ends[1 - number].messages.push_back((arrives, message));
        }
    }

    /// Both ends begin the same transitions within one clock cycle.
    fn compare_starts(&mut self) -> Result<(), Fault> {
        let now = self.now;
        let [a, b] = &mut self.ends;
        if now < self.calm_from || now >= self.cut_at {
            a.begun.clear();
            b.begun.clear();
            return Ok(());
        }
        while let (Some(&(at_a, state_a)), Some(&(at_b, state_b))) =
            (a.begun.front(), b.begun.front())
        {
            let skew = at_a.abs_diff(at_b);
            if state_a != state_b || skew > 1 {
                return Err(Fault {
                    cycle: now,
                    end: 0,
                    what: format!(
                        "began {} in cycle {at_a}, the other end {} in cycle {at_b}",
                        state_a.name(),
                        state_b.name()
                    ),
                });
            }
            self.story.skew = self.story.skew.max(skew);
            match state_a {
                PowerState::GoingDown => self.story.downs += 1,
                _ => self.story.ups += 1,
            }
            a.begun.pop_front();
            b.begun.pop_front();
        }
        for (end, place) in [a, b].into_iter().enumerate() {
            if let Some((at, state)) = place.begun.front().filter(|(at, _)| now > at + 1) {
                return Err(Fault {
                    cycle: now,
                    end,
                    what: format!("began {} in cycle {at} alone", state.name()),
                });
            }
        }
        Ok(())
    }

    /// What an end has sent arrives at one that is awake.
    fn check_data(&mut self, number: usize) -> Result<(), Fault> {
        let now = self.now;
        let end = &mut self.ends[number];
        end.data.retain(|(_, to)| *to > now);
        let receives = end.data.front().is_some_and(|(from, _)| *from <= now);
        let ready = end.outputs.power_state == PowerState::Wake || now < end.reset_until;
        if receives && !ready && now < self.cut_at {
            return Err(Fault {
                cycle: now,
                end: number,
                what: format!("data arrives in {}", end.outputs.power_state.name()),
            });
        }
        Ok(())
    }

    fn conclude(mut self) -> Result<Story, Fault> {
        self.story.errors = [0, 1].map(|end| self.ends[end].outputs.sync_error);
        if self.setup.disturbance == Disturbance::Silent && self.now > self.start {
            if let Some(end) = self.story.errors.iter().position(|error| !error) {
                return Err(Fault {
                    cycle: self.now,
                    end,
                    what: "never heard the other end and raised no error".into(),
                });
            }
        }
        Ok(self.story)
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::blocks::port::golden::Port;
    use crate::blocks::port::model::Model;
    use crate::blocks::port::tests::small_plan;
    use crate::config::plan::{Policy, SyncPlan};

    /// Forgets everything.
    struct NoSink;

    impl ActivitySink for NoSink {
        fn run(&mut self, _: usize, _: Run) {}

        fn window(&mut self) -> ControlFlow<()> {
            ControlFlow::Continue(())
        }
    }

    fn plan(sleep: Sleep, policy: Policy, t_pdt_init: u64, timeout: u64) -> PortPlan {
        small_plan().with(|plan| {
            plan.sleep = sleep;
            plan.policy = policy;
            plan.t_pdt_init = t_pdt_init;
            plan.sync = SyncPlan::Messages(MessagesPlan { timeout });
        })
    }

    fn setup(delay: u64, seed: u64, disturbance: Disturbance) -> Setup {
        Setup {
            delay,
            cycles: 20_000,
            seed,
            disturbance,
        }
    }

    const DISTURBANCES: [Disturbance; 4] = [
        Disturbance::None,
        Disturbance::Silent,
        Disturbance::Cut,
        Disturbance::Resets,
    ];

    #[test]
    fn every_promise_is_kept() {
        let mut story = Story::default();
        for sleep in Sleep::ALL {
            for policy in [Policy::Fixed, Policy::PerfBound] {
                for delay in (0..12).chain([40, 90]) {
                    // The shortest time-out that the delay allows, and a longer one.
                    for timeout in [2 * delay + 1, 2 * delay + 60] {
                        let plan = plan(sleep, policy, delay % 7, timeout);
                        for disturbance in DISTURBANCES {
                            let setup = setup(delay, delay + timeout, disturbance);
                            match run(&plan, || Port::new(&plan), setup, &mut NoSink) {
                                Ok(one) => story.merge(&one),
                                Err(fault) => panic!("{setup:?}, {sleep:?}, {policy:?}: {fault}"),
                            }
                        }
                    }
                }
            }
        }
        assert!(story.downs > 1000 && story.ups > 1000, "{story:?}");
        assert_eq!(
            story.skew, 0,
            "golden models of equal ends start in the same cycle"
        );
    }

    #[test]
    fn the_bound_of_the_waiting_time_is_not_idle() {
        // Somewhere a packet waits for nearly as long as it may.
        let plan = plan(Sleep::DeepSleep, Policy::Fixed, 0, 9);
        let mut most = 0;
        for seed in 0..200 {
            let setup = setup(4, seed, Disturbance::None);
            let story = run(&plan, || Port::new(&plan), setup, &mut NoSink).unwrap();
            most = most.max(100 * story.longest_wait / story.wait_bound);
            if most > 80 {
                break;
            }
        }
        assert!(most > 80, "at most {most} % of the bound");
    }

    /// A port with a fault.
    struct Faulty {
        port: Port,
        deaf_to: Option<Message>,
        always_sends: bool,
    }

    impl Faulty {
        fn hears(&self, inputs: &Inputs) -> Inputs {
            match self.deaf_to {
                Some(message) if inputs.message_in == message as u8 => {
                    inputs.with(|pins| pins.message_in = 0)
                }
                _ => *inputs,
            }
        }
    }

    impl Model for Faulty {
        fn outputs(&self) -> Outputs {
            let outputs = self.port.outputs();
            Outputs {
                tx_enable: outputs.tx_enable || self.always_sends,
                ..outputs
            }
        }

        fn advance(&mut self, inputs: &Inputs, max: u64) -> u64 {
            let inputs = self.hears(inputs);
            self.port.advance(&inputs, max)
        }
    }

    impl PowerController for Faulty {
        fn quiet_cycles(&self, inputs: &Inputs) -> u64 {
            self.port.quiet_cycles(&self.hears(inputs))
        }
    }

    #[test]
    fn broken_promises_are_found() {
        let plan = plan(Sleep::Hybrid, Policy::Fixed, 5, 31);
        let what = |deaf_to, always_sends| {
            let faulty = || Faulty {
                port: Port::new(&plan),
                deaf_to,
                always_sends,
            };
            let setup = setup(7, 3, Disturbance::None);
            run(&plan, faulty, setup, &mut NoSink).unwrap_err().what
        };
        let deaf = what(Some(Message::Sync), false);
        assert!(deaf.contains("alone") || deaf.contains("gave up"), "{deaf}");
        assert!(what(Some(Message::Ack), false).contains("gave up"));
        let rash = what(None, true);
        assert!(rash.contains("may transmit"), "{rash}");
    }
}
