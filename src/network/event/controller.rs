//! The controller of a port, seen from the network: it gets what its port does when that begins,
//! and gives the deadline by which it may next send a message or let a packet pass.
//!
//! Times are clock cycles since the simulation began. What happens at time `t` shows in the
//! inputs of cycle `ceil(t/T)`. Calls come in order of their cycles.

use std::collections::VecDeque;

use super::cache::prefetch_lines;
use super::idle::{IdleMeter, IdlePeriods};
use super::lazy::LazyPort;
use super::link_idle::{LinkIdle, LinkMeter, Sleeper};
use super::series::Sampler;
use super::time::{Cycle, Time};
use crate::blocks::port::controller::{Fault, PowerController};
use crate::blocks::port::golden;
use crate::blocks::port::model::Model;
use crate::blocks::port::pins::{Inputs, Message, Outputs, PowerState};
use crate::config::plan::PortPlan;
use crate::network::PortCycles;

/// What watches a port that never sleeps.
#[derive(Debug)]
pub struct Meters {
    port: IdleMeter,
    /// At the first end of a link, or of each direction at the end that sends.
    link: Option<Box<LinkMeter>>,
    /// Idle periods are those of the direction that the port sends on.
    per_direction: bool,
}

impl Meters {
    /// Of a port that has done nothing yet, at the `first` end of its link or at the other one,
    /// where links or directions of them would sleep.
    pub fn new(clock_ps: u64, cable_ps: u64, sleeper: Sleeper, first: bool) -> Self {
        let meter = match sleeper {
            Sleeper::Link => first.then(|| LinkMeter::new(cable_ps)),
            Sleeper::Direction => Some(LinkMeter::new(0)),
        };
        Self {
            port: IdleMeter::new(clock_ps),
            link: meter.map(Box::new),
            per_direction: sleeper == Sleeper::Direction,
        }
    }

    /// Apart from the code of the others: runs without power saving are one in many.
    #[inline(never)]
    fn transmit(&mut self, from: Cycle, until: Cycle, ps: (Time, Time)) {
        self.port.transmit(from.0, until.0);
        if let Some(link) = &mut self.link {
            link.transmit(ps.0 .0, ps.1 .0);
        }
    }

    /// See `transmit`.
    #[inline(never)]
    fn receive(&mut self, from: Cycle, until: Cycle, ps: (Time, Time)) {
        if self.per_direction {
            return;
        }
        self.port.receive(from.0, until.0);
        if let Some(link) = &mut self.link {
            link.receive(ps.0 .0, ps.1 .0);
        }
    }

    /// A packet waits since `ps`.
    fn wait(&mut self, from: Cycle, ps: Time) {
        self.port.wait(from.0);
        // The other end of a link that sleeps as a whole cannot know.
        if let Some(link) = self.link.as_mut().filter(|_| self.per_direction) {
            link.wait(ps.0);
        }
    }

    /// Asks for what the next call may touch.
    #[inline(never)]
    fn prefetch(&self) {
        prefetch_lines(self.port.bins(), 3);
        if let Some(link) = &self.link {
            prefetch_lines(std::ptr::from_ref(&**link).cast(), 2);
        }
    }
}

/// The controller of one port.
#[derive(Debug)]
pub enum Controller {
    /// Never sleeps; nothing to keep.
    AlwaysOn,
    /// Never sleeps; keeps idle periods.
    Metered(Meters),
    /// The golden model, clocked only where the other end or the queue may notice it.
    Lazy(LazyPort),
    /// A cycle-exact model, clocked only where something happens.
    Clocked(Box<Clocked>),
}

impl Controller {
    /// Has it tell when its port sleeps. One that never does has nothing to tell.
    pub fn watch(&mut self, sampler: Sampler) {
        match self {
            Controller::AlwaysOn | Controller::Metered(_) => {}
            Controller::Lazy(port) => port.watch(sampler),
            Controller::Clocked(port) => port.sampler = Some(sampler),
        }
    }

    /// From cycle `from` until (without) `until`, in `ps` to the picosecond, a packet that takes
    /// `hops` links leaves. Whether it is to be attended to.
    #[inline]
    pub fn transmit(&mut self, from: Cycle, until: Cycle, ps: (Time, Time), hops: u8) -> bool {
        match self {
            Controller::AlwaysOn => false,
            Controller::Metered(meters) => {
                meters.transmit(from, until, ps);
                false
            }
            Controller::Lazy(port) => port.transmit(from, until),
            Controller::Clocked(port) => {
                port.advance(from);
                port.waiting = false;
                port.transmits_until = until;
                port.start = Some(hops);
                true
            }
        }
    }

    /// From cycle `from` until (without) `until`, in `ps` to the picosecond, a packet arrives.
    /// Whether it is to be attended to.
    #[inline]
    pub fn receive(&mut self, from: Cycle, until: Cycle, ps: (Time, Time)) -> bool {
        match self {
            Controller::AlwaysOn => false,
            Controller::Metered(meters) => {
                meters.receive(from, until, ps);
                false
            }
            Controller::Lazy(port) => port.receive(from, until),
            Controller::Clocked(port) => {
                // Of a direction that sleeps for itself, receiving is no activity (SPEC 14).
                if port.per_direction {
                    return false;
                }
                port.advance(from);
                port.receives_until = until;
                true
            }
        }
    }

    /// From cycle `from` on, `ps` to the picosecond, a packet waits that may not leave.
    pub fn wait(&mut self, from: Cycle, ps: Time) {
        match self {
            Controller::AlwaysOn => {}
            Controller::Metered(meters) => meters.wait(from, ps),
            Controller::Lazy(port) => port.wait(from),
            Controller::Clocked(port) => {
                port.advance(from);
                port.waiting = true;
            }
        }
    }

    /// In `cycle` a message of the other end arrives.
    pub fn receive_message(&mut self, cycle: Cycle, message: Message) {
        match self {
            Controller::AlwaysOn | Controller::Metered(_) => {}
            Controller::Lazy(port) => port.receive_message(cycle, message),
            Controller::Clocked(port) => {
                port.advance(cycle);
                port.message = Some(message);
            }
        }
    }

    /// From cycle `from` on its switch keeps its port awake, or does not (pin `force_wake`). A port of
    /// which no controller is kept is awake anyway.
    pub fn force_wake(&mut self, from: Cycle, force: bool) {
        match self {
            Controller::AlwaysOn | Controller::Metered(_) => {}
            Controller::Lazy(port) => port.force_wake(from, force),
            Controller::Clocked(port) => {
                port.advance(from);
                port.force_wake = force;
            }
        }
    }

    /// Goes on to the beginning of `cycle`.
    #[inline]
    pub fn advance(&mut self, cycle: Cycle) {
        match self {
            Controller::AlwaysOn | Controller::Metered(_) => {}
            Controller::Lazy(port) => port.advance(cycle),
            Controller::Clocked(port) => port.advance(cycle),
        }
    }

    /// Goes on to the beginning of `cycle`; whether the port may start a packet then.
    #[inline]
    pub fn may_send(&mut self, cycle: Cycle) -> bool {
        match self {
            Controller::AlwaysOn | Controller::Metered(_) => true,
            Controller::Lazy(port) => port.may_send(cycle),
            Controller::Clocked(port) => {
                port.advance(cycle);
                port.outputs.tx_enable
            }
        }
    }

    /// From `cycle` on so many bytes wait, without those of the packet being sent; only lanes ask.
    pub fn set_backlog(&mut self, cycle: Cycle, bytes: u64) {
        if let Controller::Clocked(port) = self {
            port.advance(cycle);
            port.model.set_backlog(bytes);
            port.outputs = port.model.outputs();
        }
    }

    /// In the present cycle the port sends by the low lanes of its link, where links have such.
    pub fn is_low(&self) -> bool {
        match self {
            Controller::Clocked(port) => port.outputs.power_state == PowerState::FastWake,
            _ => false,
        }
    }

    /// Asks for what the next call may touch beside the controller's first line.
    #[inline]
    pub fn prefetch(&self) {
        match self {
            Controller::Lazy(port) => port.prefetch(),
            Controller::Metered(meters) => meters.prefetch(),
            _ => {}
        }
    }

    /// It has nothing to say in the present cycle, and has broken no rule.
    #[inline]
    pub fn is_silent(&self) -> bool {
        match self {
            Controller::AlwaysOn | Controller::Metered(_) => true,
            Controller::Lazy(port) => port.is_silent(),
            Controller::Clocked(_) => false,
        }
    }

    /// The port may start a packet in the present cycle.
    #[inline]
    pub fn tx_enable(&self) -> bool {
        match self {
            Controller::AlwaysOn | Controller::Metered(_) => true,
            Controller::Lazy(port) => port.tx_enable(),
            Controller::Clocked(port) => port.outputs.tx_enable,
        }
    }

    /// The message that it sends in the present cycle; told once.
    #[inline]
    pub fn take_message(&mut self) -> Option<Message> {
        match self {
            Controller::AlwaysOn | Controller::Metered(_) => None,
            Controller::Lazy(port) => port.take_message(),
            Controller::Clocked(port) => port.sent.take(),
        }
    }

    /// The cycle after the present one in which it may next have something to say, or to
    /// let the port send; `Cycle::NEVER`: not before something happens.
    #[inline]
    pub fn next(&self) -> Cycle {
        match self {
            Controller::AlwaysOn | Controller::Metered(_) => Cycle::NEVER,
            Controller::Lazy(port) => port.next(),
            Controller::Clocked(port) => port.next(),
        }
    }

    /// The cycle in which the network will look at it, whatever happens; `Cycle::NEVER`: none.
    /// `None` if it need not be looked at.
    #[inline]
    pub fn deadline(&mut self) -> Option<&mut Cycle> {
        match self {
            Controller::AlwaysOn | Controller::Metered(_) => None,
            Controller::Lazy(port) => Some(&mut port.deadline),
            Controller::Clocked(port) => Some(&mut port.deadline),
        }
    }

    /// What it broke the rules with, if it did.
    pub fn fault(&self) -> Option<&Fault> {
        match self {
            Controller::AlwaysOn | Controller::Metered(_) => None,
            Controller::Lazy(port) => port.fault(),
            Controller::Clocked(port) => port.fault.as_ref(),
        }
    }

    /// What the port did in the first `cycles` clock cycles.
    pub fn account(&mut self, cycles: u64) -> PortCycles {
        match self {
            Controller::AlwaysOn | Controller::Metered(_) => {
                let mut count = PortCycles::default();
                count.states[PowerState::Wake as usize] = cycles;
                count
            }
            Controller::Lazy(port) => port.account(cycles),
            Controller::Clocked(port) => {
                port.advance(Cycle(cycles));
                port.count
            }
        }
    }

    /// The port's idle periods in the first `cycles` clock cycles, if it keeps them.
    pub fn idle_periods(&self, cycles: u64) -> Option<IdlePeriods> {
        match self {
            Controller::Metered(meters) => Some(meters.port.account(cycles)),
            _ => None,
        }
    }

    /// What the link, or the direction, did in the first `run` ps, if this is the end that keeps
    /// it.
    pub fn link_idle(&self, run: u64) -> Option<LinkIdle> {
        match self {
            Controller::Metered(Meters {
                link: Some(link), ..
            }) => Some(link.account(run)),
            _ => None,
        }
    }
}

/// A cycle-exact model between two changes of what its port does.
pub struct Clocked {
    model: Box<dyn PowerController + Send>,
    /// It stands at the beginning of this cycle.
    cycle: Cycle,
    initiator: bool,
    /// See [`PowerController::per_direction`].
    per_direction: bool,
    waiting: bool,
    force_wake: bool,
    transmits_until: Cycle,
    receives_until: Cycle,
    /// What arrives in the present cycle.
    message: Option<Message>,
    start: Option<u8>,
    outputs: Outputs,
    sent: Option<Message>,
    /// See [`Controller::deadline`].
    deadline: Cycle,
    count: PortCycles,
    sampler: Option<Sampler>,
    fault: Option<Fault>,
}

impl std::fmt::Debug for Clocked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Clocked")
            .field("cycle", &self.cycle)
            .field("outputs", &self.outputs)
            .finish_non_exhaustive()
    }
}

impl Clocked {
    fn new(model: Box<dyn PowerController + Send>, initiator: bool) -> Self {
        Self {
            outputs: model.outputs(),
            per_direction: model.per_direction(),
            model,
            cycle: Cycle(0),
            initiator,
            waiting: false,
            force_wake: false,
            transmits_until: Cycle(0),
            receives_until: Cycle(0),
            message: None,
            start: None,
            sent: None,
            deadline: Cycle::NEVER,
            count: PortCycles::default(),
            sampler: None,
            fault: None,
        }
    }

    fn inputs(&self) -> Inputs {
        let transmitting = self.cycle < self.transmits_until;
        Inputs {
            queue_nonempty: self.waiting || transmitting,
            transmitting,
            receiving: self.cycle < self.receives_until,
            packet_valid: self.start.is_some(),
            packet_hops: self.start.unwrap_or(0),
            initiator: self.initiator,
            force_wake: self.force_wake,
            message_in: self.message.map_or(0, |message| message as u8),
            ..Inputs::default()
        }
    }

    /// The next cycle in which its inputs change by themselves.
    fn next_input(&self) -> Cycle {
        if self.start.is_some() || self.message.is_some() {
            return self.cycle + 1;
        }
        [self.transmits_until, self.receives_until]
            .into_iter()
            .filter(|&until| until > self.cycle)
            .min()
            .unwrap_or(Cycle::NEVER)
    }

    fn next(&self) -> Cycle {
        let quiet = self.model.outward_quiet_cycles(&self.inputs());
        self.cycle.saturating_add(quiet).min(self.next_input())
    }

    fn advance(&mut self, to: Cycle) {
        while self.cycle < to {
            let inputs = self.inputs();
            let most = self.next_input().min(to) - self.cycle;
            let clocked = self.model.advance(&inputs, most);
            let count = &mut self.count;
            count.states[self.outputs.power_state as usize] += clocked;
            count.hits += u64::from(self.outputs.hit) * clocked;
            count.misses += u64::from(self.outputs.miss) * clocked;
            if let Some(sampler) = &self.sampler {
                let state = self.outputs.power_state;
                sampler.was(state, self.cycle, self.cycle + clocked);
            }
            self.cycle += clocked;
            self.message = None;
            self.start = None;
            let before = std::mem::replace(&mut self.outputs, self.model.outputs());
            self.look(&before, to);
        }
    }

    /// Takes notice of new outputs, on the way to cycle `to`.
    fn look(&mut self, before: &Outputs, to: Cycle) {
        let now = &self.outputs;
        if now.power_state != before.power_state {
            self.count.enter(now.power_state);
        }
        let sends = Some(now.message_out).filter(|message| *message != Message::None);
        let enables = now.tx_enable && !before.tx_enable;
        if (sends.is_some() || enables) && self.cycle < to {
            self.fault.get_or_insert(Fault {
                cycle: self.cycle.0,
                what: "its controller said something earlier than it had announced".into(),
            });
        }
        self.sent = sends;
        let busy = self.cycle < self.transmits_until.max(self.receives_until);
        if busy && !self.model.transmits_in(now.power_state) {
            self.fault.get_or_insert(Fault {
                cycle: self.cycle.0,
                what: Fault::went_to_sleep(now.power_state),
            });
        }
        if now.sync_error {
            self.fault.get_or_insert(Fault {
                cycle: self.cycle.0,
                what: "its controller did not wait for an answer: give it a longer \
                       port.sync_timeout_ns"
                    .into(),
            });
        }
    }
}

/// Clock cycles from a message's cycle to the one in which the other end hears it: 64 bytes
/// and the cable.
pub fn message_delay(message_ps: u64, cable_ps: u64, clock_ps: u64) -> u64 {
    (message_ps + cable_ps).div_ceil(clock_ps)
}

/// The two ends of a link that has just come up: they have exchanged their first messages, if
/// they do that, and may send. The first is the initiator.
#[derive(Clone, Debug)]
pub struct AwakePair {
    /// Golden models of both controllers.
    pub ends: [golden::Port; 2],
    /// What each heard since reset, and for how many cycles.
    received: [Vec<(Inputs, u64)>; 2],
}

impl AwakePair {
    /// Clock cycles from reset until both may send.
    pub fn cycles(&self) -> u64 {
        self.received[0].iter().map(|(_, cycles)| cycles).sum()
    }

    /// Takes a controller just after reset through the same cycles as the one that is the
    /// initiator, or the other one.
    pub fn wake(&self, controller: &mut dyn PowerController, initiator: bool) {
        for (inputs, cycles) in &self.received[usize::from(!initiator)] {
            advance_by(controller, inputs, *cycles);
        }
    }
}

/// Takes a controller through so many cycles in which its inputs hold.
fn advance_by(controller: &mut (impl PowerController + ?Sized), inputs: &Inputs, cycles: u64) {
    let mut left = cycles;
    while left > 0 {
        left -= controller.advance(inputs, left);
    }
}

/// The controllers of the two ends of a link that has just come up. Where each direction sleeps for
/// itself, both are awake from reset.
///
/// # Errors
/// If they never let a packet pass.
pub fn awake_pair(plan: &PortPlan, delay: u64) -> Result<AwakePair, Fault> {
    let mut ends = [golden::Port::new(plan), golden::Port::new(plan)];
    let mut received = [Vec::new(), Vec::new()];
    let mut on_the_way: [VecDeque<(u64, Message)>; 2] = Default::default();
    let mut cycle = 0;
    loop {
        let outputs = ends.each_ref().map(golden::Port::outputs);
        if outputs.iter().all(|outputs| outputs.tx_enable) {
            return Ok(AwakePair { ends, received });
        }
        if outputs.iter().any(|outputs| outputs.sync_error) || cycle > 1 << 32 {
            return Err(Fault {
                cycle,
                what: "the controllers of a link never let a packet pass: a round trip takes \
                       longer than port.sync_timeout_ns"
                    .into(),
            });
        }
        let sent = outputs.map(|outputs| outputs.message_out);
        for (queue, sent) in on_the_way.iter_mut().rev().zip(sent) {
            if sent != Message::None {
                queue.push_back((cycle + delay, sent));
            }
        }
        let due = on_the_way.each_mut().map(|queue| {
            queue.front().filter(|(at, _)| *at == cycle)?;
            queue.pop_front().map(|(_, message)| message)
        });
        let inputs: [Inputs; 2] = std::array::from_fn(|side| Inputs {
            initiator: side == 0,
            message_in: due[side].map_or(0, |message| message as u8),
            ..Inputs::default()
        });
        // What is said or heard lasts a cycle.
        let cycles = match sent != [Message::None; 2] || due != [None; 2] {
            true => 1,
            false => {
                let quiet = ends.iter().zip(&inputs);
                let quiet = quiet.map(|(end, inputs)| end.outward_quiet_cycles(inputs));
                let received = on_the_way.iter().filter_map(|queue| queue.front());
                let next = quiet.chain(received.map(|(at, _)| at - cycle)).min();
                next.unwrap_or(u64::MAX).min(1 << 32)
            }
        };
        for (side, end) in ends.iter_mut().enumerate() {
            advance_by(end, &inputs[side], cycles);
            received[side].push((inputs[side], cycles));
        }
        cycle += cycles;
    }
}

impl From<(Box<dyn PowerController + Send>, bool)> for Controller {
    /// A model that is awake, and whether its end is the initiator.
    fn from((model, initiator): (Box<dyn PowerController + Send>, bool)) -> Self {
        Controller::Clocked(Box::new(Clocked::new(model, initiator)))
    }
}
