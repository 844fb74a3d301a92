//! What decides whether a port is awake, seen from the network: it is told what its port
//! does when that begins, and says when it will next have something to say.
//!
//! Times are clock cycles since the simulation began. What happens at time `t` shows in the
//! inputs of cycle `ceil(t/T)`. Calls come in order of their cycles.

use std::collections::VecDeque;

use super::cache::near_lines;
use super::idle::{IdleMeter, IdlePeriods};
use super::lazy::LazyPort;
use super::link_idle::{LinkIdle, LinkMeter};
use super::series::Sampler;
use crate::blocks::port::golden;
use crate::blocks::port::model::Model;
use crate::blocks::port::pins::{Inputs, Message, Outputs, PowerState};
use crate::config::plan::PortPlan;
use crate::network::PortCycles;
use crate::switch::power::PowerController;

/// A controller did what none may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The clock cycle.
    pub cycle: u64,
    /// What it did.
    pub what: String,
}

/// What watches a port that never sleeps.
#[derive(Debug)]
pub struct Meters {
    port: IdleMeter,
    /// At the first end of a link.
    link: Option<Box<LinkMeter>>,
}

impl Meters {
    /// Of a port that has done nothing yet; `cable_ps` at the first end of its link.
    pub fn new(clock_ps: u64, cable_ps: Option<u64>) -> Self {
        Self {
            port: IdleMeter::new(clock_ps),
            link: cable_ps.map(|cable_ps| Box::new(LinkMeter::new(cable_ps))),
        }
    }

    /// Apart from the code of the others: runs without power saving are one in many.
    #[inline(never)]
    fn transmit(&mut self, from: u64, until: u64, ps: (u64, u64)) {
        self.port.transmit(from, until);
        if let Some(link) = &mut self.link {
            link.transmit(ps.0, ps.1);
        }
    }

    /// See `transmit`.
    #[inline(never)]
    fn receive(&mut self, from: u64, until: u64, ps: (u64, u64)) {
        self.port.receive(from, until);
        if let Some(link) = &mut self.link {
            link.receive(ps.0, ps.1);
        }
    }

    /// Asks for what the next call may touch.
    #[inline(never)]
    fn fetch(&self) {
        near_lines(self.port.bins(), 3);
        if let Some(link) = &self.link {
            near_lines(std::ptr::from_ref(&**link).cast(), 2);
        }
    }
}

/// The controller of one port.
#[derive(Debug)]
pub enum Governor {
    /// Never sleeps; nothing to keep.
    AlwaysOn,
    /// Never sleeps; keeps idle periods.
    Metered(Meters),
    /// The golden model, clocked only where the other end or the queue may notice it.
    Lazy(LazyPort),
    /// A cycle-exact model, clocked only where something happens.
    Clocked(Box<Clocked>),
}

impl Governor {
    /// Has it tell when its port sleeps. One that never does has nothing to tell.
    pub fn watch(&mut self, sampler: Sampler) {
        match self {
            Governor::AlwaysOn | Governor::Metered(_) => {}
            Governor::Lazy(port) => port.watch(sampler),
            Governor::Clocked(port) => port.sampler = Some(sampler),
        }
    }

    /// From cycle `from` until (without) `until`, in `ps` to the picosecond, a packet that takes
    /// `hops` links leaves. Whether it is to be attended to.
    #[inline]
    pub fn transmit(&mut self, from: u64, until: u64, ps: (u64, u64), hops: u8) -> bool {
        match self {
            Governor::AlwaysOn => false,
            Governor::Metered(meters) => {
                meters.transmit(from, until, ps);
                false
            }
            Governor::Lazy(port) => port.transmit(from, until),
            Governor::Clocked(port) => {
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
    pub fn receive(&mut self, from: u64, until: u64, ps: (u64, u64)) -> bool {
        match self {
            Governor::AlwaysOn => false,
            Governor::Metered(meters) => {
                meters.receive(from, until, ps);
                false
            }
            Governor::Lazy(port) => port.receive(from, until),
            Governor::Clocked(port) => {
                port.advance(from);
                port.receives_until = until;
                true
            }
        }
    }

    /// From cycle `from` on a packet waits that may not leave.
    pub fn wait(&mut self, from: u64) {
        match self {
            Governor::AlwaysOn => {}
            Governor::Metered(meters) => meters.port.wait(from),
            Governor::Lazy(port) => port.wait(from),
            Governor::Clocked(port) => {
                port.advance(from);
                port.waiting = true;
            }
        }
    }

    /// In `cycle` a message of the other end arrives.
    pub fn hear(&mut self, cycle: u64, message: Message) {
        match self {
            Governor::AlwaysOn | Governor::Metered(_) => {}
            Governor::Lazy(port) => port.hear(cycle, message),
            Governor::Clocked(port) => {
                port.advance(cycle);
                port.message = Some(message);
            }
        }
    }

    /// Goes on to the beginning of `cycle`.
    #[inline]
    pub fn advance(&mut self, cycle: u64) {
        match self {
            Governor::AlwaysOn | Governor::Metered(_) => {}
            Governor::Lazy(port) => port.advance(cycle),
            Governor::Clocked(port) => port.advance(cycle),
        }
    }

    /// Goes on to the beginning of `cycle`; whether the port may start a packet then.
    #[inline]
    pub fn may_send(&mut self, cycle: u64) -> bool {
        match self {
            Governor::AlwaysOn | Governor::Metered(_) => true,
            Governor::Lazy(port) => port.may_send(cycle),
            Governor::Clocked(port) => {
                port.advance(cycle);
                port.outputs.tx_enable
            }
        }
    }

    /// Asks for what the next call may touch beside the governor's first line.
    #[inline]
    pub fn fetch(&self) {
        match self {
            Governor::Lazy(port) => port.fetch(),
            Governor::Metered(meters) => meters.fetch(),
            _ => {}
        }
    }

    /// It has nothing to say in the present cycle, and has broken no rule.
    #[inline]
    pub fn is_silent(&self) -> bool {
        match self {
            Governor::AlwaysOn | Governor::Metered(_) => true,
            Governor::Lazy(port) => port.is_silent(),
            Governor::Clocked(_) => false,
        }
    }

    /// The port may start a packet in the present cycle.
    #[inline]
    pub fn tx_enable(&self) -> bool {
        match self {
            Governor::AlwaysOn | Governor::Metered(_) => true,
            Governor::Lazy(port) => port.tx_enable(),
            Governor::Clocked(port) => port.outputs.tx_enable,
        }
    }

    /// The message that it sends in the present cycle; told once.
    #[inline]
    pub fn said(&mut self) -> Option<Message> {
        match self {
            Governor::AlwaysOn | Governor::Metered(_) => None,
            Governor::Lazy(port) => port.said(),
            Governor::Clocked(port) => port.said.take(),
        }
    }

    /// The cycle after the present one in which it may next have something to say, or to
    /// let the port send; `u64::MAX`: not before something happens.
    #[inline]
    pub fn next(&self) -> u64 {
        match self {
            Governor::AlwaysOn | Governor::Metered(_) => u64::MAX,
            Governor::Lazy(port) => port.next(),
            Governor::Clocked(port) => port.next(),
        }
    }

    /// The cycle in which the network will look at it, whatever happens; `u64::MAX`: none.
    /// `None` if it need not be looked at.
    #[inline]
    pub fn appointment(&mut self) -> Option<&mut u64> {
        match self {
            Governor::AlwaysOn | Governor::Metered(_) => None,
            Governor::Lazy(port) => Some(&mut port.appointment),
            Governor::Clocked(port) => Some(&mut port.appointment),
        }
    }

    /// What it broke the rules with, if it did.
    pub fn fault(&self) -> Option<&Fault> {
        match self {
            Governor::AlwaysOn | Governor::Metered(_) => None,
            Governor::Lazy(port) => port.fault(),
            Governor::Clocked(port) => port.fault.as_ref(),
        }
    }

    /// What the port did in the first `cycles` clock cycles.
    pub fn account(&mut self, cycles: u64) -> PortCycles {
        match self {
            Governor::AlwaysOn | Governor::Metered(_) => {
                let mut count = PortCycles::default();
                count.states[PowerState::Wake as usize] = cycles;
                count
            }
            Governor::Lazy(port) => port.account(cycles),
            Governor::Clocked(port) => {
                port.advance(cycles);
                port.count
            }
        }
    }

    /// The port's idle periods in the first `cycles` clock cycles, if it keeps them.
    pub fn idle_periods(&self, cycles: u64) -> Option<IdlePeriods> {
        match self {
            Governor::Metered(meters) => Some(meters.port.account(cycles)),
            _ => None,
        }
    }

    /// What the link did in the first `run` ps, if this is the end that keeps it.
    pub fn link_idle(&self, run: u64) -> Option<LinkIdle> {
        match self {
            Governor::Metered(Meters {
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
    cycle: u64,
    initiator: bool,
    waiting: bool,
    transmits_until: u64,
    receives_until: u64,
    /// What arrives in the present cycle.
    message: Option<Message>,
    start: Option<u8>,
    outputs: Outputs,
    said: Option<Message>,
    /// See [`Governor::appointment`].
    appointment: u64,
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
            model,
            cycle: 0,
            initiator,
            waiting: false,
            transmits_until: 0,
            receives_until: 0,
            message: None,
            start: None,
            said: None,
            appointment: u64::MAX,
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
            message_in: self.message.map_or(0, |message| message as u8),
            ..Inputs::default()
        }
    }

    /// The next cycle in which its inputs change by themselves.
    fn next_input(&self) -> u64 {
        if self.start.is_some() || self.message.is_some() {
            return self.cycle + 1;
        }
        [self.transmits_until, self.receives_until]
            .into_iter()
            .filter(|&until| until > self.cycle)
            .min()
            .unwrap_or(u64::MAX)
    }

    fn next(&self) -> u64 {
        let quiet = self.model.outward_quiet_cycles(&self.inputs());
        self.cycle.saturating_add(quiet).min(self.next_input())
    }

    fn advance(&mut self, to: u64) {
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
    fn look(&mut self, before: &Outputs, to: u64) {
        let now = &self.outputs;
        if now.power_state != before.power_state {
            self.count.enter(now.power_state);
        }
        let says = Some(now.message_out).filter(|message| *message != Message::None);
        let enables = now.tx_enable && !before.tx_enable;
        if (says.is_some() || enables) && self.cycle < to {
            self.fault.get_or_insert(Fault {
                cycle: self.cycle,
                what: "its controller said something earlier than it had announced".into(),
            });
        }
        self.said = says;
        let busy = self.cycle < self.transmits_until.max(self.receives_until);
        if busy && now.power_state != PowerState::Wake {
            self.fault.get_or_insert(Fault {
                cycle: self.cycle,
                what: format!(
                    "its controller went to {} while a packet was on the link",
                    now.power_state.name()
                ),
            });
        }
        if now.sync_error {
            self.fault.get_or_insert(Fault {
                cycle: self.cycle,
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

/// The two ends of a link that has just come up: they have exchanged their first messages
/// and may send. The first is the initiator.
#[derive(Clone, Debug)]
pub struct AwakePair {
    /// Golden models of both controllers.
    pub ends: [golden::Port; 2],
    /// What each heard since reset, and for how many cycles.
    heard: [Vec<(Inputs, u64)>; 2],
}

impl AwakePair {
    /// Takes a controller just after reset through the same cycles as the one that is the
    /// initiator, or the other one.
    pub fn wake(&self, controller: &mut dyn PowerController, initiator: bool) {
        for (inputs, cycles) in &self.heard[usize::from(!initiator)] {
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

/// The controllers of the two ends of a link that has just come up.
///
/// # Errors
/// If they never let a packet pass.
pub fn awake_pair(plan: &PortPlan, delay: u64) -> Result<AwakePair, Fault> {
    let mut ends = [golden::Port::new(plan), golden::Port::new(plan)];
    let mut heard = [Vec::new(), Vec::new()];
    let mut on_the_way: [VecDeque<(u64, Message)>; 2] = Default::default();
    let mut cycle = 0;
    loop {
        let outputs = ends.each_ref().map(golden::Port::outputs);
        if outputs.iter().all(|outputs| outputs.tx_enable) {
            return Ok(AwakePair { ends, heard });
        }
        if outputs.iter().any(|outputs| outputs.sync_error) || cycle > 1 << 32 {
            return Err(Fault {
                cycle,
                what: "the controllers of a link never let a packet pass: a round trip takes \
                       longer than port.sync_timeout_ns"
                    .into(),
            });
        }
        let said = outputs.map(|outputs| outputs.message_out);
        for (queue, said) in on_the_way.iter_mut().rev().zip(said) {
            if said != Message::None {
                queue.push_back((cycle + delay, said));
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
        let cycles = match said != [Message::None; 2] || due != [None; 2] {
            true => 1,
            false => {
                let quiet = ends.iter().zip(&inputs);
                let quiet = quiet.map(|(end, inputs)| end.outward_quiet_cycles(inputs));
                let heard = on_the_way.iter().filter_map(|queue| queue.front());
                let next = quiet.chain(heard.map(|(at, _)| at - cycle)).min();
                next.unwrap_or(u64::MAX).min(1 << 32)
            }
        };
        for (side, end) in ends.iter_mut().enumerate() {
            advance_by(end, &inputs[side], cycles);
            heard[side].push((inputs[side], cycles));
        }
        cycle += cycles;
    }
}

impl From<(Box<dyn PowerController + Send>, bool)> for Governor {
    /// A model that is awake, and whether its end is the initiator.
    fn from((model, initiator): (Box<dyn PowerController + Send>, bool)) -> Self {
        Governor::Clocked(Box::new(Clocked::new(model, initiator)))
    }
}
