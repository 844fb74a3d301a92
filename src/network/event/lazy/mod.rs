//! A port controller that is clocked where its other end or its queue may notice it, and
//! there only: equal to the golden model in `tx_enable`, in every message, in the state of the
//! link and in what is counted.
//!
//! Where each direction of a link sleeps for itself (SPEC 14) there is no exchange of messages, and
//! what the port receives is no activity. All else is the same.
//!
//! While the link is awake and its ends exchange no messages, activity matters in three
//! ways: its first cycle ends an idle period, which is a sample; its last cycle decides
//! whether the timer waits for the backstop, and which threshold governs the idle period that
//! follows; and the timer goes off if that period lasts. No sample comes before activity begins again, so all
//! this is known, but for the threshold (`threshold`), when activity begins. Otherwise the
//! golden models of the state machine and of the exchange are clocked where they change.

mod counters;
mod hits;
mod threshold;

use std::sync::Arc;

use super::cache::{prefetch, prefetch_lines};
use super::series::Sampler;
use super::time::{Cycle, PortCycle};
use crate::blocks::guard::golden::Guard;
use crate::blocks::link_sync::golden::{LinkSync, View};
use crate::blocks::lpi_fsm::golden::LpiFsm;
use crate::blocks::miss_history::golden::Sample;
use crate::blocks::port::controller::Fault;
use crate::blocks::port::golden;
use crate::blocks::port::pins::{Message, PowerState};
use crate::config::plan::{Policy, PortPlan, SyncPlan};
use crate::network::PortCycles;
use hits::{Hit, Hits, BUFFERED};
use threshold::{Numbers, Threshold};

/// What all lazy ports of one plan have in common.
#[derive(Debug)]
pub struct Common {
    plan: PortPlan,
    /// Of the policies that predict.
    numbers: Option<Numbers>,
}

impl Common {
    /// For the ports of `plan`; `None` if what they do depends on more than activity, messages and
    /// `force_wake`: registers, measured hops, the levels of the other end.
    pub fn new(plan: &PortPlan) -> Option<Self> {
        let numbers = match plan.predicts() {
            true => Some(Numbers::new(plan)?),
            false => None,
        };
        let simple = plan.registers.is_none() && plan.sync != SyncPlan::Levels;
        simple.then_some(Self {
            plan: *plan,
            numbers,
        })
    }

    /// Clock cycles from the end of activity to that which completes the tick in which a timer
    /// with this threshold goes off.
    fn timer_cycles(&self, t_pdt: u64) -> u64 {
        match t_pdt.checked_add(1) {
            Some(ticks) => ticks.saturating_mul(self.plan.clocks_per_tick) - 1,
            None => u64::MAX,
        }
    }

    /// See [`LazyPort::backstop`].
    fn backstop(&self) -> u8 {
        match self.plan.t_backstop {
            _ if self.plan.per_direction() => PER_DIRECTION,
            Some(ticks) => self.timer_cycles(ticks).saturating_add(1).ilog2() as u8,
            None => NO_BACKSTOP,
        }
    }
}

/// An event-driven port controller. Times within are clock cycles since reset.
///
/// In a large network nothing is in a cache. What most packets do to a port is uneventful: they
/// begin and end, an idle period ends in a hit, the timer starts anew. For that a port has
/// one line, and the hits two more, of which one is written at a time; they stay there until
/// the threshold has to know of them. Everything else is in `ColdState`.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct LazyPort {
    /// See [`super::controller::Controller::deadline`].
    pub deadline: Cycle,
    /// The cycle in which the simulation began.
    origin: PortCycle,
    transmits_until: PortCycle,
    receives_until: PortCycle,
    /// Hits before this cycle, and [`capacity`](LazyPort::capacity) of them, do not lower the
    /// floor of the threshold.
    floor_holds_until: PortCycle,
    /// The cycle in which the latest of `hits` came.
    latest: PortCycle,
    cold: Box<ColdState>,
    /// The timer goes off no earlier than this many cycles after the end of activity.
    timer_floor: u32,
    /// No exchange is under way, it has been active, no packet waits, the present idle period has not
    /// reached the floor of the threshold, and there is no message to send: `cold` knows no more than
    /// this line.
    uneventful: bool,
    /// After receiving, the timer goes off no earlier than 2 to this power, less one, cycles after
    /// the end of activity; [`NO_BACKSTOP`]: it does not; [`PER_DIRECTION`]: receiving is nothing.
    backstop: u8,
    /// So many hits may be held, and so many are.
    capacity: u8,
    buffered: u8,
    /// Hits of which the threshold has not been told.
    hits: [Hit; BUFFERED],
}

const _: () = assert!(std::mem::size_of::<LazyPort>() == 192);

/// A port that received last leaves it to the other end to go down.
const NO_BACKSTOP: u8 = u8::MAX;

/// A port whose direction sleeps for itself takes no notice of what it receives: it has always sent
/// last.
const PER_DIRECTION: u8 = NO_BACKSTOP - 1;

/// In the order in which hits need it: those that cannot be held touch the first lines.
#[derive(Debug)]
#[repr(C, align(64))]
struct ColdState {
    common: Arc<Common>,
    /// It stands at the beginning of this cycle, unless it is uneventful.
    cycle: PortCycle,
    /// See [`LazyPort::next`]; unless it is uneventful.
    next: PortCycle,
    /// The cycle of the latest sample.
    sampled: PortCycle,
    hits: u64,
    sample_is_miss: bool,
    initiator: bool,
    /// What arrives in the present cycle.
    message: Message,
    sent: Option<Message>,
    waiting: bool,
    force_wake: bool,
    tx_enable: bool,
    /// The link is awake and nothing is being sent: only the timer can change that.
    no_exchange: bool,
    /// `expiry` is that of the present idle period.
    resolved: bool,
    /// The link has left `Wake` in the present idle period.
    left_wake: bool,
    fault: Option<Fault>,
    threshold: Option<Threshold>,
    /// The cycle in which the timer goes off.
    expiry: PortCycle,
    /// The first cycle that is not in `count.states`.
    counted: PortCycle,
    /// Without the hits.
    count: PortCycles,
    /// Is told what `count.states` is.
    sampler: Option<Sampler>,
    fsm: LpiFsm,
    /// The exchange of messages, unless each direction sleeps for itself.
    sync: Option<LinkSync>,
    guard: Option<Guard>,
}

impl ColdState {
    /// Lines that hits may need.
    const TOUCHED: usize =
        (std::mem::offset_of!(ColdState, threshold) + Threshold::TOUCHED).div_ceil(64);
}

impl LazyPort {
    /// A controller that goes on from where `port` stands: awake, and never yet active.
    pub fn new(common: &Arc<Common>, port: &golden::Port, initiator: bool) -> Self {
        let (now, fsm, sync, guard) = port.link();
        let threshold = common.numbers.as_ref().map(Threshold::new);
        let mut lazy = Self {
            deadline: Cycle::NEVER,
            origin: PortCycle(now),
            transmits_until: PortCycle(0),
            receives_until: PortCycle(0),
            floor_holds_until: PortCycle(0),
            latest: PortCycle(0),
            cold: Box::new(ColdState {
                common: common.clone(),
                cycle: PortCycle(now),
                next: PortCycle(now),
                sampled: PortCycle(0),
                hits: 0,
                sample_is_miss: false,
                initiator,
                message: Message::None,
                sent: None,
                waiting: false,
                force_wake: false,
                tx_enable: false,
                no_exchange: false,
                resolved: false,
                left_wake: false,
                fault: None,
                threshold,
                expiry: PortCycle::NEVER,
                counted: PortCycle(now),
                count: PortCycles::default(),
                sampler: None,
                fsm: fsm.clone(),
                sync: sync.cloned(),
                guard: guard.cloned(),
            }),
            timer_floor: 0,
            uneventful: false,
            backstop: common.backstop(),
            capacity: 0,
            buffered: 0,
            hits: [(0, 0); BUFFERED],
        };
        lazy.follow();
        lazy.look_ahead();
        lazy
    }

    /// Has it tell when the port sleeps.
    pub fn watch(&mut self, sampler: Sampler) {
        self.cold.sampler = Some(sampler);
    }

    /// From cycle `from` until (without) `until` a packet leaves. Whether it has a message
    /// to send, or a deadline sooner than [announced](LazyPort::next).
    #[inline]
    pub fn transmit(&mut self, from: Cycle, until: Cycle) -> bool {
        let (from, until) = (self.port_cycle(from), self.port_cycle(until));
        if self.stays_uneventful(from) {
            self.transmits_until = until;
            // If it is not armed, that will be seen then.
            self.cycle_of(until + u64::from(self.timer_floor) + 1) < self.deadline
        } else {
            self.change_activity(from, |port| {
                port.cold.waiting = false;
                port.transmits_until = until;
            });
            true
        }
    }

    /// From cycle `from` until (without) `until` a packet arrives. Whether it has a message
    /// to send, or a deadline sooner than [announced](LazyPort::next).
    #[inline]
    pub fn receive(&mut self, from: Cycle, until: Cycle) -> bool {
        if self.backstop == PER_DIRECTION {
            return false;
        }
        let (from, until) = (self.port_cycle(from), self.port_cycle(until));
        if self.stays_uneventful(from) {
            self.receives_until = until;
            // If it still transmits, that will be seen then.
            self.backstop != NO_BACKSTOP
                && self.cycle_of(until.saturating_add(self.backstop_floor() + 1)) < self.deadline
        } else {
            self.change_activity(from, |port| port.receives_until = until);
            true
        }
    }

    /// From cycle `from` on a packet waits that may not leave.
    pub fn wait(&mut self, from: Cycle) {
        self.change_activity(self.port_cycle(from), |port| port.cold.waiting = true);
    }

    /// From cycle `from` on the port is kept awake, or is not; where each direction sleeps for itself.
    pub fn force_wake(&mut self, from: Cycle, force: bool) {
        debug_assert!(self.backstop == PER_DIRECTION);
        self.go_to(self.port_cycle(from));
        self.cold.force_wake = force;
        self.look_ahead();
    }

    /// In `cycle` a message of the other end arrives.
    pub fn receive_message(&mut self, cycle: Cycle, message: Message) {
        self.go_to(self.port_cycle(cycle));
        self.cold.message = message;
        self.look_ahead();
    }

    /// Goes on to the beginning of `cycle`.
    pub fn advance(&mut self, cycle: Cycle) {
        let to = self.port_cycle(cycle);
        if !self.is_uneventful_at(to) {
            self.go_to(to);
        }
    }

    /// Goes on to the beginning of `cycle`; whether the port may start a packet then.
    #[inline]
    pub fn may_send(&mut self, cycle: Cycle) -> bool {
        let to = self.port_cycle(cycle);
        self.is_uneventful_at(to) || {
            self.go_to(to);
            self.tx_enable()
        }
    }

    /// Asks for what the next hit may touch beside the first line.
    #[inline]
    pub fn prefetch(&self) {
        match self.is_full() {
            true => self.prefetch_cold(),
            false => prefetch(&self.hits[usize::from(self.buffered) % BUFFERED]),
        }
    }

    #[cold]
    fn prefetch_cold(&self) {
        prefetch_lines(std::ptr::from_ref(&*self.cold).cast(), ColdState::TOUCHED);
    }

    /// No further hit can be held.
    #[inline]
    fn is_full(&self) -> bool {
        self.buffered == self.capacity
    }

    /// The port may start a packet in the present cycle.
    #[inline]
    pub fn tx_enable(&self) -> bool {
        self.uneventful || self.cold.tx_enable
    }

    /// It has nothing to say, and did nothing that none may do.
    #[inline]
    pub fn is_silent(&self) -> bool {
        self.uneventful
    }

    /// The message that it sends in the present cycle; told once.
    pub fn take_message(&mut self) -> Option<Message> {
        self.cold.sent.take()
    }

    /// The cycle after the present one in which it may next have something to say, or to let
    /// the port send; `u64::MAX`: not before something happens.
    #[inline]
    pub fn next(&self) -> Cycle {
        let next = match self.uneventful {
            true => self.uneventful_until(),
            false => self.cold.next,
        };
        match next {
            PortCycle::NEVER => Cycle::NEVER,
            next => self.cycle_of(next),
        }
    }

    /// What it broke the rules with, if it did.
    pub fn fault(&self) -> Option<&Fault> {
        self.cold.fault.as_ref()
    }

    /// What the port did in the first `cycles` clock cycles.
    pub fn account(&mut self, cycles: u64) -> PortCycles {
        self.go_to(self.origin + cycles);
        self.flush_hits();
        let cold = &mut *self.cold;
        cold.count_state(cold.fsm.state(), self.origin);
        let mut count = cold.count;
        count.hits = cold.hits;
        // Hit and miss show in the cycle after the sample.
        if cold.sampled > PortCycle(0) && cold.sampled + 2 > cold.cycle {
            count.hits -= u64::from(!cold.sample_is_miss);
            count.misses -= u64::from(cold.sample_is_miss);
        }
        count
    }

    /// The state of the link in the present cycle.
    #[cfg(test)]
    pub fn power_state(&self) -> PowerState {
        self.cold.fsm.state()
    }

    /// See [`Threshold::happened`].
    #[cfg(test)]
    pub fn happened(&self) -> [u64; 3] {
        let threshold = self.cold.threshold.as_ref();
        threshold.map_or([0; 3], |threshold| threshold.happened)
    }

    /// A cycle of the simulation, as the port counts it.
    #[inline]
    fn port_cycle(&self, cycle: Cycle) -> PortCycle {
        self.origin + cycle.0
    }

    /// A cycle of the port, as the simulation counts it.
    #[inline]
    fn cycle_of(&self, cycle: PortCycle) -> Cycle {
        Cycle(cycle - self.origin)
    }

    /// The first cycle after the last packet.
    #[inline]
    fn idle_since(&self) -> PortCycle {
        self.transmits_until.max(self.receives_until)
    }

    fn active(&self) -> bool {
        self.cold.waiting || self.cold.cycle < self.idle_since()
    }

    /// The timer goes off in this cycle or later; `u64::MAX`: it does not.
    #[inline]
    fn earliest_expiry(&self) -> PortCycle {
        let hold = u64::from(self.timer_floor);
        match self.sent_last() {
            true => self.transmits_until.saturating_add(hold),
            false => self
                .receives_until
                .saturating_add(hold.max(self.backstop_floor())),
        }
    }

    /// This end transmitted last, or has never been active.
    #[inline]
    fn sent_last(&self) -> bool {
        self.transmits_until >= self.receives_until
    }

    /// Clock cycles from the end of reception to the backstop, at least.
    #[inline]
    fn backstop_floor(&self) -> u64 {
        match self.backstop {
            NO_BACKSTOP | PER_DIRECTION => u64::MAX,
            log2 => (1 << log2) - 1,
        }
    }

    /// The cycle in which it stops to be uneventful at the latest.
    #[inline]
    fn uneventful_until(&self) -> PortCycle {
        self.earliest_expiry().saturating_add(1)
    }

    /// It is uneventful, and certainly still so in cycle `now`. Which end sent last is not asked for:
    /// that branch would be mispredicted half of the time.
    #[inline]
    fn is_uneventful_at(&self, now: PortCycle) -> bool {
        self.uneventful && now <= self.idle_since() + u64::from(self.timer_floor)
    }

    /// From `from` on there is activity: it is uneventful and remains so, and if an idle period ends,
    /// its hit is held.
    #[inline]
    fn stays_uneventful(&mut self, from: PortCycle) -> bool {
        let idle_since = self.idle_since();
        self.is_uneventful_at(from) && (from <= idle_since || self.buffer_hit(from, idle_since))
    }

    /// Holds a hit that comes in `cycle`, after activity that ended with `idle_since`; whether
    /// it does.
    #[inline]
    fn buffer_hit(&mut self, cycle: PortCycle, idle_since: PortCycle) -> bool {
        if cycle >= self.floor_holds_until || self.is_full() {
            return false;
        }
        let mut later = cycle - self.latest;
        let idle = cycle - idle_since;
        let most = u64::from(u16::MAX);
        if later | idle > most {
            if idle > most || self.buffered > 0 {
                return false;
            }
            later = 0;
        }
        self.hits[usize::from(self.buffered) % BUFFERED] = (later as u16, idle as u16);
        self.buffered += 1;
        self.latest = cycle;
        true
    }

    /// Goes on to `from`, the beginning of activity, or of more of it, that `change` is about.
    #[inline(never)]
    fn change_activity(&mut self, from: PortCycle, change: impl FnOnce(&mut Self)) {
        self.go_to(from);
        let now = self.cold.cycle;
        let idle_since = self.idle_since();
        if now > idle_since && !self.cold.waiting {
            self.sample(idle_since);
        }
        change(self);
        self.cold.resolved = false;
        if self.cold.no_exchange {
            self.cold.next = self.next_expiry().saturating_add(1);
        } else {
            self.look_ahead();
        }
        let cold = &self.cold;
        self.uneventful = cold.no_exchange
            && cold.tx_enable
            && !cold.waiting
            && !cold.left_wake
            && cold.sent.is_none()
            && cold.fault.is_none();
    }

    /// The idle period from `idle_since` on ends in the present cycle.
    fn sample(&mut self, idle_since: PortCycle) {
        let now = self.cold.cycle;
        let miss = std::mem::take(&mut self.cold.left_wake);
        // What comes before the first activity is no idle period.
        if idle_since == PortCycle(0) || (!miss && self.buffer_hit(now, idle_since)) {
            return;
        }
        self.flush_hits();
        if miss || !self.buffer_hit(now, idle_since) {
            self.cold.sample(now, idle_since, miss);
            self.follow();
        }
    }

    /// Tells the threshold of the hits that were held.
    fn flush_hits(&mut self) {
        // The threshold that governs the present idle period, or that after the activity under
        // way, may still be asked for: it is the one of the cycle before.
        let asked = self.idle_since().saturating_sub(1).min(self.cold.cycle);
        let hits = Hits {
            hits: &self.hits[..self.buffered.into()],
            latest: self.latest,
        };
        self.cold.catch_up(hits, asked);
        self.buffered = 0;
        self.follow();
    }

    /// Follows the floor of the threshold.
    fn follow(&mut self) {
        let common = &self.cold.common;
        let (floor, until, left) = match (&self.cold.threshold, &common.numbers) {
            (Some(threshold), Some(numbers)) => {
                let (until, left) = threshold.floor_holds(numbers);
                (threshold.floor(), until, left)
            }
            _ => (common.plan.t_pdt_init, PortCycle::NEVER, BUFFERED),
        };
        // A floor may be too low, but for the work that it makes.
        self.timer_floor = u32::try_from(common.timer_cycles(floor)).unwrap_or(u32::MAX);
        self.floor_holds_until = until;
        self.capacity = left.min(BUFFERED) as u8;
    }

    /// The timer goes off in this cycle or, if that is not resolved, later; if it is before
    /// the present one, not at all.
    fn next_expiry(&self) -> PortCycle {
        match self.cold.resolved {
            true => self.cold.expiry,
            false if !self.cold.waiting => self.earliest_expiry(),
            false => PortCycle::NEVER,
        }
    }

    /// What link synchronisation sees in the present cycle.
    fn view(&mut self) -> View {
        let cycle = self.cold.cycle;
        let active = self.active();
        let state = self.cold.fsm.state();
        let idle = !active && state == PowerState::Wake;
        let expiry = idle.then(|| {
            if !self.cold.resolved && cycle >= self.next_expiry() {
                let floor = self.next_expiry();
                self.flush_hits();
                let expiry = self.cold.expires(self.idle_since(), self.sent_last());
                assert!(expiry >= floor, "a threshold lies below its floor");
                self.cold.expiry = expiry;
                self.cold.resolved = true;
            }
            self.next_expiry()
        });
        let cold = &self.cold;
        let transmitting = cycle < self.transmits_until;
        let held = cold.fsm.hold_ends().is_some_and(|last| last <= cycle.0);
        View {
            message: cold.message,
            initiator: cold.initiator,
            queue_nonempty: cold.waiting || transmitting,
            transmitting,
            active,
            state,
            may_go_down: cold.fsm.may_go_down(),
            wants_down: expiry == Some(cycle) || (held && cold.initiator && !active),
            overdue: expiry.is_some_and(|expiry| expiry < cycle),
            permitted: state != PowerState::Wake
                || cold
                    .guard
                    .as_ref()
                    .is_none_or(|guard| guard.permits(cycle.0)),
            link_up: true,
            clear_error: false,
        }
    }

    /// Finds out what comes next.
    fn look_ahead(&mut self) {
        let view = self.view();
        let now = self.cold.cycle;
        let expiry = match self.next_expiry() {
            expiry if expiry >= now => expiry,
            _ => PortCycle::NEVER,
        };
        let cold = &mut *self.cold;
        let holds_back = cold.sync.as_ref().is_some_and(LinkSync::holds_back);
        cold.tx_enable = view.state == PowerState::Wake && !holds_back;
        let no_exchange = View {
            wants_down: false,
            ..view
        };
        let guard_is_steady = cold
            .guard
            .as_ref()
            .is_none_or(|guard| guard.steady(view.state == PowerState::Wake, view.queue_nonempty));
        cold.no_exchange = view.state == PowerState::Wake
            && guard_is_steady
            && cold.exchange_quiet(&no_exchange) == u64::MAX;
        if cold.no_exchange {
            cold.next = expiry.saturating_add(1);
            return;
        }
        let (down, up) = cold.starts(&view);
        let transition = cold.fsm.quiet(now.0, down, up);
        let exchange = cold.exchange_quiet(&view);
        let hold = match cold.fsm.hold_ends() {
            Some(last) if last >= now.0 => last - now.0,
            _ => u64::MAX,
        };
        let guard = if guard_is_steady { u64::MAX } else { 0 };
        let quiet = transition.min(exchange).min(hold).min(guard);
        let change = now.saturating_add(quiet).min(expiry).saturating_add(1);
        let untils = [self.transmits_until, self.receives_until].into_iter();
        let input = untils.filter(|&until| until > now).min();
        cold.next = input.map_or(change, |input| change.min(input));
        if view.state != PowerState::Wake && now < self.idle_since() {
            self.blame(Fault::went_to_sleep(view.state));
        }
    }

    /// Goes on to the beginning of cycle `to`; it is no longer uneventful.
    fn go_to(&mut self, to: PortCycle) {
        if self.uneventful {
            self.uneventful = false;
            self.cold.next = self.uneventful_until();
            self.cold.cycle = to.min(self.cold.next - 1);
        }
        if to < self.cold.next {
            self.cold.cycle = self.cold.cycle.max(to);
        } else {
            self.clock(to);
        }
    }

    /// Goes on to the beginning of cycle `to` by the clock edges that matter.
    #[cold]
    fn clock(&mut self, to: PortCycle) {
        while self.cold.cycle < to {
            // The first edge that changes something is at the end of the cycle before `next`.
            let edge = self.cold.next - 1;
            if edge >= to {
                self.cold.cycle = to;
                break;
            }
            self.cold.cycle = self.cold.cycle.max(edge);
            self.clock_edge();
            let enabled = self.cold.tx_enable;
            self.look_ahead();
            let cold = &mut *self.cold;
            let sent = cold.sync.as_ref().map(LinkSync::message);
            cold.sent = sent.filter(|sent| *sent != Message::None);
            let enables = cold.tx_enable && !enabled;
            let error = cold.sync.as_ref().is_some_and(LinkSync::error);
            if (cold.sent.is_some() || enables) && cold.cycle < to {
                self.blame("its controller sent something earlier than it had announced".into());
            }
            if error {
                self.blame(
                    "its controller did not wait for an answer: give it a longer \
                     port.sync_timeout_ns"
                        .into(),
                );
            }
        }
    }

    /// The clock edge at the end of the present cycle.
    fn clock_edge(&mut self) {
        let view = self.view();
        let cold = &mut *self.cold;
        let now = cold.cycle;
        let (down, up) = cold.starts(&view);
        let leaves = down && view.state == PowerState::Wake;
        cold.left_wake = !view.active && (cold.left_wake || leaves);
        let mut overdrawn = false;
        if let Some(guard) = &mut cold.guard {
            guard.clock(now.0, view.state == PowerState::Wake, view.queue_nonempty);
            overdrawn = guard.overdrawn();
        }
        cold.fsm.clock(now.0, down, up);
        if let Some(sync) = &mut cold.sync {
            sync.clock(now.0, &view);
        }
        cold.message = Message::None;
        cold.cycle += 1;
        let state = cold.fsm.state();
        if state != view.state {
            cold.count_state(view.state, self.origin);
            cold.count.enter(state);
        }
        if overdrawn {
            self.blame("packets waited for more wake-ups than its guard allows".into());
        }
    }

    fn blame(&mut self, what: String) {
        let cycle = self.cold.cycle - self.origin;
        self.cold.fault.get_or_insert(Fault { cycle, what });
    }
}

impl ColdState {
    /// Whether the link begins to go down in the present cycle, and to go up.
    fn starts(&self, view: &View) -> (bool, bool) {
        match &self.sync {
            Some(sync) => sync.starts(self.cycle.0, view),
            // Nobody is asked.
            None => (
                (view.wants_down || view.overdue) && view.permitted && !self.force_wake,
                view.queue_nonempty || self.force_wake,
            ),
        }
    }

    /// Cycles from the present one on before the first at whose end more than the timer, or a
    /// transition, changes something; `u64::MAX`: there is none.
    fn exchange_quiet(&self, view: &View) -> u64 {
        match (&self.sync, &self.guard) {
            (Some(sync), _) => sync.quiet(self.cycle.0, view),
            (None, _) if !view.overdue || self.force_wake => u64::MAX,
            // A direction that only the guard keeps awake sleeps as soon as that lets it.
            (None, Some(guard)) if !view.permitted => guard.until_permits(self.cycle.0),
            (None, _) => 0,
        }
    }

    /// Counts the cycles until the present one, in which the link was in `state`; the simulation
    /// began in cycle `begin`.
    fn count_state(&mut self, state: PowerState, begin: PortCycle) {
        self.count.states[state as usize] += self.cycle - self.counted;
        if let Some(sampler) = &self.sampler {
            let cycle = |cycle: PortCycle| Cycle(cycle - begin);
            sampler.was(state, cycle(self.counted), cycle(self.cycle));
        }
        self.counted = self.cycle;
    }

    /// Idle periods that ended in hits; no threshold of a cycle before `asked` is asked for any
    /// more.
    fn catch_up(&mut self, hits: Hits, asked: PortCycle) {
        if !hits.hits.is_empty() {
            self.hits += hits.hits.len() as u64;
            self.sampled = hits.latest;
            self.sample_is_miss = false;
        }
        if let (Some(threshold), Some(numbers)) = (&mut self.threshold, &self.common.numbers) {
            threshold.catch_up(numbers, hits, asked);
        }
    }

    /// The idle period from `idle_since` on ends in cycle `now`.
    #[inline]
    fn sample(&mut self, now: PortCycle, idle_since: PortCycle, miss: bool) {
        self.hits += u64::from(!miss);
        self.count.misses += u64::from(miss);
        self.sampled = now;
        self.sample_is_miss = miss;
        let plan = &self.common.plan;
        let (Some(threshold), Some(numbers)) = (&mut self.threshold, &self.common.numbers) else {
            return;
        };
        let t_pdt = match miss && plan.corrects() {
            true => threshold.at(numbers, idle_since - 1),
            false => 0,
        };
        let sample = Sample {
            ticks: numbers.ticks(now - idle_since),
            t_pdt,
            miss,
        };
        threshold.record(numbers, now, sample);
    }

    /// When the timer goes off in the idle time from `idle_since` on, after the end `sent_last`
    /// or the other one did.
    fn expires(&mut self, idle_since: PortCycle, sent_last: bool) -> PortCycle {
        let plan = &self.common.plan;
        let t_pdt = match (&mut self.threshold, &self.common.numbers) {
            _ if plan.policy == Policy::AlwaysOn => return PortCycle::NEVER,
            // No activity has come before.
            _ if idle_since == PortCycle(0) => plan.t_pdt_init,
            (Some(threshold), Some(numbers)) => threshold.at(numbers, idle_since - 1),
            _ => plan.t_pdt_init,
        };
        let threshold = match (sent_last, plan.t_backstop) {
            (true, _) => t_pdt,
            (false, Some(backstop)) => backstop.max(t_pdt),
            (false, None) => return PortCycle::NEVER,
        };
        idle_since.saturating_add(self.common.timer_cycles(threshold))
    }
}

#[cfg(test)]
mod tests;
