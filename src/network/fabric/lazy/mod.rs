//! A port controller that is clocked where its other end or its queue may notice it, and
//! there only: equal to the golden model in `tx_enable`, in every message, in the state of the
//! link and in what is counted.
//!
//! While the link is awake and nothing is said between its ends, activity matters in three
//! ways: its first cycle ends an idle period, which is a sample; its last cycle decides
//! whether the timer waits for the backstop, and which threshold governs the idle period that
//! follows; and the timer goes off if that period lasts. No sample comes before activity begins again, so all
//! this is known, but for the threshold (`threshold`), when activity begins. Otherwise the
//! golden models of the state machine and of the exchange are clocked where they change.

mod counters;
mod threshold;

use std::sync::Arc;

use super::cache::{near, near_lines};
use super::governor::Fault;
use super::series::Sampler;
use crate::blocks::guard::golden::Guard;
use crate::blocks::link_sync::golden::{LinkSync, View};
use crate::blocks::lpi_fsm::golden::LpiFsm;
use crate::blocks::miss_history::golden::Sample;
use crate::blocks::port::golden;
use crate::blocks::port::pins::{Message, PowerState};
use crate::config::plan::{Policy, PortPlan};
use crate::network::PortCycles;
use threshold::{Numbers, Threshold};

/// What all lazy ports of one plan have in common.
#[derive(Debug)]
pub struct Common {
    plan: PortPlan,
    /// Of the policies that predict.
    numbers: Option<Numbers>,
}

impl Common {
    /// For the ports of `plan`; `None` if what they do depends on more than activity and
    /// messages (registers, measured hops), or if the ends of a link exchange no messages.
    pub fn new(plan: &PortPlan) -> Option<Self> {
        let numbers = match plan.predicts() {
            true => Some(Numbers::new(plan)?),
            false => None,
        };
        (plan.registers.is_none() && plan.sync.is_some()).then_some(Self {
            plan: *plan,
            numbers,
        })
    }

    /// Clock cycles from the end of activity to that which completes the tick in which a timer
    /// with this threshold goes off.
    fn hold(&self, t_pdt: u64) -> u64 {
        match t_pdt.checked_add(1) {
            Some(ticks) => ticks.saturating_mul(self.plan.clocks_per_tick) - 1,
            None => u64::MAX,
        }
    }

    /// See [`LazyPort::backstop`].
    fn backstop(&self) -> u8 {
        match self.plan.t_backstop {
            Some(ticks) => self.hold(ticks).saturating_add(1).ilog2() as u8,
            None => NO_BACKSTOP,
        }
    }
}

/// An event-driven port controller. Times within are clock cycles since reset.
///
/// In a large network nothing is in a cache. What most packets do to a port is plain: they
/// begin and end, an idle period ends in a hit, the timer is put off. For that a port has
/// one line, and the hits two more, of which one is written at a time; they are held there until
/// the threshold has to know of them. Everything else is elsewhere.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct LazyPort {
    /// See [`super::governor::Governor::appointment`].
    pub appointment: u64,
    /// The cycle in which the simulation began.
    begin: u64,
    transmits_until: u64,
    receives_until: u64,
    /// Hits before this cycle, and [`most`](LazyPort::most) of them, do not lower the floor of the
    /// threshold.
    firm_until: u64,
    /// The cycle in which the latest of `hits` came.
    latest: u64,
    rest: Box<Rest>,
    /// The timer goes off no earlier than this many cycles after the end of activity.
    hold: u32,
    /// It is calm, it has been active, no packet waits, the present idle period has not reached
    /// the floor of the threshold, and there is nothing to be said: `rest` knows no more than
    /// this line.
    plain: bool,
    /// After receiving, the timer goes off no earlier than 2 to this power, less one, cycles after
    /// the end of activity; [`NO_BACKSTOP`]: it does not.
    backstop: u8,
    /// So many hits may be held, and so many are.
    most: u8,
    held: u8,
    /// Hits of which the threshold has not been told.
    hits: [Hit; HELD],
}

const _: () = assert!(std::mem::size_of::<LazyPort>() == 192);

/// A port that received last leaves it to the other end to go down.
const NO_BACKSTOP: u8 = u8::MAX;

/// Hits that are held that many at a time.
const HELD: usize = 32;

/// How many cycles after the one before it a hit came, and how many idle cycles it ended.
type Hit = (u16, u16);

/// Hits that came one after the other.
#[derive(Clone, Copy, Debug)]
struct Hits<'a> {
    /// How many cycles after the one before it the first came does not matter.
    hits: &'a [Hit],
    /// The cycle in which the latest came.
    latest: u64,
}

/// In the order in which hits need it: those that cannot be held touch the first lines.
#[derive(Debug)]
#[repr(C, align(64))]
struct Rest {
    common: Arc<Common>,
    /// It stands at the beginning of this cycle, unless it is plain.
    cycle: u64,
    /// See [`LazyPort::next`]; unless it is plain.
    next: u64,
    /// The cycle of the latest sample.
    sampled: u64,
    hits: u64,
    sample_is_miss: bool,
    initiator: bool,
    /// What arrives in the present cycle.
    message: Message,
    said: Option<Message>,
    waiting: bool,
    tx_enable: bool,
    /// The link is awake and nothing is being said: only the timer can change that.
    calm: bool,
    /// `expiry` is that of the present idle period.
    resolved: bool,
    /// The link has left `Wake` in the present idle period.
    left_wake: bool,
    fault: Option<Fault>,
    threshold: Option<Threshold>,
    /// The cycle in which the timer goes off.
    expiry: u64,
    /// The first cycle that is not in `count.states`.
    counted: u64,
    /// Without the hits.
    count: PortCycles,
    /// Is told what `count.states` is.
    sampler: Option<Sampler>,
    fsm: LpiFsm,
    sync: LinkSync,
    guard: Option<Guard>,
}

impl Rest {
    /// Lines that hits may need.
    const TOUCHED: usize =
        (std::mem::offset_of!(Rest, threshold) + Threshold::TOUCHED).div_ceil(64);
}

impl LazyPort {
    /// A controller that goes on from where `port` stands: awake, and never yet active.
    ///
    /// # Panics
    /// If `port` exchanges no messages.
    pub fn new(common: &Arc<Common>, port: &golden::Port, initiator: bool) -> Self {
        let (now, fsm, sync, guard) = port.link();
        let threshold = common.numbers.as_ref().map(Threshold::new);
        let mut lazy = Self {
            appointment: u64::MAX,
            begin: now,
            transmits_until: 0,
            receives_until: 0,
            firm_until: 0,
            latest: 0,
            rest: Box::new(Rest {
                common: common.clone(),
                cycle: now,
                next: now,
                sampled: 0,
                hits: 0,
                sample_is_miss: false,
                initiator,
                message: Message::None,
                said: None,
                waiting: false,
                tx_enable: false,
                calm: false,
                resolved: false,
                left_wake: false,
                fault: None,
                threshold,
                expiry: u64::MAX,
                counted: now,
                count: PortCycles::default(),
                sampler: None,
                fsm: fsm.clone(),
                sync: sync.expect("the ends exchange messages").clone(),
                guard: guard.cloned(),
            }),
            hold: 0,
            plain: false,
            backstop: common.backstop(),
            most: 0,
            held: 0,
            hits: [(0, 0); HELD],
        };
        lazy.follow();
        lazy.look_ahead();
        lazy
    }

    /// Has it tell when the port sleeps.
    pub fn watch(&mut self, sampler: Sampler) {
        self.rest.sampler = Some(sampler);
    }

    /// From cycle `from` until (without) `until` a packet leaves. Whether there is something to
    /// be said, or something sooner than [announced](LazyPort::next).
    #[inline]
    pub fn transmit(&mut self, from: u64, until: u64) -> bool {
        let (from, until) = (self.begin + from, self.begin + until);
        if self.stays_plain(from) {
            self.transmits_until = until;
            // If it is not armed, that will be seen then.
            until + u64::from(self.hold) + 1 - self.begin < self.appointment
        } else {
            self.change_activity(from, |port| {
                port.rest.waiting = false;
                port.transmits_until = until;
            });
            true
        }
    }

    /// From cycle `from` until (without) `until` a packet arrives. Whether there is something to
    /// be said, or something sooner than [announced](LazyPort::next).
    #[inline]
    pub fn receive(&mut self, from: u64, until: u64) -> bool {
        let (from, until) = (self.begin + from, self.begin + until);
        if self.stays_plain(from) {
            self.receives_until = until;
            // If it still transmits, that will be seen then.
            self.backstop != NO_BACKSTOP
                && until.saturating_add(self.backstop_floor() + 1) - self.begin < self.appointment
        } else {
            self.change_activity(from, |port| port.receives_until = until);
            true
        }
    }

    /// From cycle `from` on a packet waits that may not leave.
    pub fn wait(&mut self, from: u64) {
        self.change_activity(self.begin + from, |port| port.rest.waiting = true);
    }

    /// In `cycle` a message of the other end arrives.
    pub fn hear(&mut self, cycle: u64, message: Message) {
        self.go_to(self.begin + cycle);
        self.rest.message = message;
        self.look_ahead();
    }

    /// Goes on to the beginning of `cycle`.
    pub fn advance(&mut self, cycle: u64) {
        let to = self.begin + cycle;
        if !self.is_plain_at(to) {
            self.go_to(to);
        }
    }

    /// Goes on to the beginning of `cycle`; whether the port may start a packet then.
    #[inline]
    pub fn may_send(&mut self, cycle: u64) -> bool {
        let to = self.begin + cycle;
        self.is_plain_at(to) || {
            self.go_to(to);
            self.tx_enable()
        }
    }

    /// Asks for what the next hit may touch beside the first line.
    #[inline]
    pub fn fetch(&self) {
        match self.is_full() {
            true => self.fetch_rest(),
            false => near(&self.hits[usize::from(self.held) % HELD]),
        }
    }

    #[cold]
    fn fetch_rest(&self) {
        near_lines(std::ptr::from_ref(&*self.rest).cast(), Rest::TOUCHED);
    }

    /// No further hit can be held.
    #[inline]
    fn is_full(&self) -> bool {
        self.held == self.most
    }

    /// The port may start a packet in the present cycle.
    #[inline]
    pub fn tx_enable(&self) -> bool {
        self.plain || self.rest.tx_enable
    }

    /// It has nothing to say, and did nothing that none may do.
    #[inline]
    pub fn is_silent(&self) -> bool {
        self.plain
    }

    /// The message that it sends in the present cycle; told once.
    pub fn said(&mut self) -> Option<Message> {
        self.rest.said.take()
    }

    /// The cycle after the present one in which it may next have something to say, or to let
    /// the port send; `u64::MAX`: not before something happens.
    #[inline]
    pub fn next(&self) -> u64 {
        let next = match self.plain {
            true => self.plain_next(),
            false => self.rest.next,
        };
        match next {
            u64::MAX => u64::MAX,
            next => next - self.begin,
        }
    }

    /// What it broke the rules with, if it did.
    pub fn fault(&self) -> Option<&Fault> {
        self.rest.fault.as_ref()
    }

    /// What the port did in the first `cycles` clock cycles.
    pub fn account(&mut self, cycles: u64) -> PortCycles {
        self.go_to(self.begin + cycles);
        self.tell();
        let rest = &mut *self.rest;
        rest.count_state(rest.fsm.state(), self.begin);
        let mut count = rest.count;
        count.hits = rest.hits;
        // Hit and miss show in the cycle after the sample.
        if rest.sampled > 0 && rest.sampled + 2 > rest.cycle {
            count.hits -= u64::from(!rest.sample_is_miss);
            count.misses -= u64::from(rest.sample_is_miss);
        }
        count
    }

    /// The state of the link in the present cycle.
    #[cfg(test)]
    pub fn power_state(&self) -> PowerState {
        self.rest.fsm.state()
    }

    /// See [`Threshold::happened`].
    #[cfg(test)]
    pub fn happened(&self) -> [u64; 3] {
        let threshold = self.rest.threshold.as_ref();
        threshold.map_or([0; 3], |threshold| threshold.happened)
    }

    /// The first cycle after the last packet.
    #[inline]
    fn idle_since(&self) -> u64 {
        self.transmits_until.max(self.receives_until)
    }

    fn active(&self) -> bool {
        self.rest.waiting || self.rest.cycle < self.idle_since()
    }

    /// The timer goes off in this cycle or later; `u64::MAX`: it does not.
    #[inline]
    fn earliest_expiry(&self) -> u64 {
        let hold = u64::from(self.hold);
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
            NO_BACKSTOP => u64::MAX,
            log2 => (1 << log2) - 1,
        }
    }

    /// The cycle in which it stops to be plain at the latest.
    #[inline]
    fn plain_next(&self) -> u64 {
        self.earliest_expiry().saturating_add(1)
    }

    /// It is plain, and certainly still so in cycle `now`. Which end sent last is anybody's guess,
    /// and not asked for.
    #[inline]
    fn is_plain_at(&self, now: u64) -> bool {
        self.plain && now <= self.idle_since() + u64::from(self.hold)
    }

    /// From `from` on there is activity: it is plain and remains so, and if an idle period ends,
    /// its hit is held.
    #[inline]
    fn stays_plain(&mut self, from: u64) -> bool {
        let idle_since = self.idle_since();
        self.is_plain_at(from) && (from <= idle_since || self.hold_hit(from, idle_since))
    }

    /// Holds a hit that comes in `cycle`, after activity that ended with `idle_since`; whether
    /// it does.
    #[inline]
    fn hold_hit(&mut self, cycle: u64, idle_since: u64) -> bool {
        if cycle >= self.firm_until || self.is_full() {
            return false;
        }
        let mut later = cycle - self.latest;
        let idle = cycle - idle_since;
        let most = u64::from(u16::MAX);
        if later | idle > most {
            if idle > most || self.held > 0 {
                return false;
            }
            later = 0;
        }
        self.hits[usize::from(self.held) % HELD] = (later as u16, idle as u16);
        self.held += 1;
        self.latest = cycle;
        true
    }

    /// Goes on to `from`, the beginning of activity, or of more of it, that `change` is about.
    #[inline(never)]
    fn change_activity(&mut self, from: u64, change: impl FnOnce(&mut Self)) {
        self.go_to(from);
        let now = self.rest.cycle;
        let idle_since = self.idle_since();
        if now > idle_since && !self.rest.waiting {
            self.sample(idle_since);
        }
        change(self);
        self.rest.resolved = false;
        if self.rest.calm {
            self.rest.next = self.next_expiry().saturating_add(1);
        } else {
            self.look_ahead();
        }
        let rest = &self.rest;
        self.plain = rest.calm
            && rest.tx_enable
            && !rest.waiting
            && !rest.left_wake
            && rest.said.is_none()
            && rest.fault.is_none();
    }

    /// The idle period from `idle_since` on ends in the present cycle.
    fn sample(&mut self, idle_since: u64) {
        let now = self.rest.cycle;
        let miss = std::mem::take(&mut self.rest.left_wake);
        // What comes before the first activity is no idle period.
        if idle_since == 0 || (!miss && self.hold_hit(now, idle_since)) {
            return;
        }
        self.tell();
        if miss || !self.hold_hit(now, idle_since) {
            self.rest.sample(now, idle_since, miss);
            self.follow();
        }
    }

    /// Tells the threshold of the hits that were held.
    fn tell(&mut self) {
        // The threshold that governs the present idle period, or that after the activity under
        // way, may still be asked for: it is the one of the cycle before.
        let asked = self.idle_since().saturating_sub(1).min(self.rest.cycle);
        let hits = Hits {
            hits: &self.hits[..self.held.into()],
            latest: self.latest,
        };
        self.rest.catch_up(hits, asked);
        self.held = 0;
        self.follow();
    }

    /// Follows the floor of the threshold.
    fn follow(&mut self) {
        let common = &self.rest.common;
        let (floor, until, left) = match (&self.rest.threshold, &common.numbers) {
            (Some(threshold), Some(numbers)) => {
                let (until, left) = threshold.firm(numbers);
                (threshold.floor(), until, left)
            }
            _ => (common.plan.t_pdt_init, u64::MAX, HELD),
        };
        // A floor may be too low, but for the work that it makes.
        self.hold = u32::try_from(common.hold(floor)).unwrap_or(u32::MAX);
        self.firm_until = until;
        self.most = left.min(HELD) as u8;
    }

    /// The timer goes off in this cycle or, if that is not resolved, later; if it is before
    /// the present one, not at all.
    fn next_expiry(&self) -> u64 {
        match self.rest.resolved {
            true => self.rest.expiry,
            false if !self.rest.waiting => self.earliest_expiry(),
            false => u64::MAX,
        }
    }

    /// What link synchronisation sees in the present cycle.
    fn view(&mut self) -> View {
        let cycle = self.rest.cycle;
        let active = self.active();
        let state = self.rest.fsm.state();
        let idle = !active && state == PowerState::Wake;
        let expiry = idle.then(|| {
            if !self.rest.resolved && cycle >= self.next_expiry() {
                let floor = self.next_expiry();
                self.tell();
                let expiry = self.rest.expires(self.idle_since(), self.sent_last());
                assert!(expiry >= floor, "a threshold lies below its floor");
                self.rest.expiry = expiry;
                self.rest.resolved = true;
            }
            self.next_expiry()
        });
        let rest = &self.rest;
        let transmitting = cycle < self.transmits_until;
        let held = rest.fsm.hold_ends().is_some_and(|last| last <= cycle);
        View {
            message: rest.message,
            initiator: rest.initiator,
            queue_nonempty: rest.waiting || transmitting,
            transmitting,
            active,
            state,
            may_go_down: rest.fsm.may_go_down(),
            wants_down: expiry == Some(cycle) || (held && rest.initiator && !active),
            overdue: expiry.is_some_and(|expiry| expiry < cycle),
            permitted: state != PowerState::Wake
                || rest.guard.as_ref().is_none_or(|guard| guard.permits(cycle)),
        }
    }

    /// Finds out what comes next.
    fn look_ahead(&mut self) {
        let view = self.view();
        let now = self.rest.cycle;
        let expiry = match self.next_expiry() {
            expiry if expiry >= now => expiry,
            _ => u64::MAX,
        };
        let rest = &mut *self.rest;
        rest.tx_enable = view.state == PowerState::Wake && !rest.sync.holds_back();
        let calm = View {
            wants_down: false,
            ..view
        };
        let guard_is_steady = rest
            .guard
            .as_ref()
            .is_none_or(|guard| guard.steady(view.state == PowerState::Wake, view.queue_nonempty));
        rest.calm = view.state == PowerState::Wake
            && guard_is_steady
            && rest.sync.quiet(now, &calm) == u64::MAX;
        if rest.calm {
            rest.next = expiry.saturating_add(1);
            return;
        }
        let (down, up) = rest.sync.starts(now, &view);
        let transition = rest.fsm.quiet(now, down, up);
        let exchange = rest.sync.quiet(now, &view);
        let hold = match rest.fsm.hold_ends() {
            Some(last) if last >= now => last - now,
            _ => u64::MAX,
        };
        let guard = if guard_is_steady { u64::MAX } else { 0 };
        let quiet = transition.min(exchange).min(hold).min(guard);
        let change = now.saturating_add(quiet).min(expiry).saturating_add(1);
        let untils = [self.transmits_until, self.receives_until].into_iter();
        let input = untils.filter(|&until| until > now).min();
        rest.next = input.map_or(change, |input| change.min(input));
        if view.state != PowerState::Wake && now < self.idle_since() {
            let what = format!(
                "its controller went to {} while a packet was on the link",
                view.state.name()
            );
            self.blame(what);
        }
    }

    /// Goes on to the beginning of cycle `to`; it is no longer plain.
    fn go_to(&mut self, to: u64) {
        if self.plain {
            self.plain = false;
            self.rest.next = self.plain_next();
            self.rest.cycle = to.min(self.rest.next - 1);
        }
        if to < self.rest.next {
            self.rest.cycle = self.rest.cycle.max(to);
        } else {
            self.clock(to);
        }
    }

    /// Goes on to the beginning of cycle `to` by the clock edges that matter.
    #[cold]
    fn clock(&mut self, to: u64) {
        while self.rest.cycle < to {
            // The first edge that changes something is at the end of the cycle before `next`.
            let edge = self.rest.next - 1;
            if edge >= to {
                self.rest.cycle = to;
                break;
            }
            self.rest.cycle = self.rest.cycle.max(edge);
            self.clock_edge();
            let enabled = self.rest.tx_enable;
            self.look_ahead();
            let rest = &mut *self.rest;
            rest.said = Some(rest.sync.message()).filter(|said| *said != Message::None);
            let enables = rest.tx_enable && !enabled;
            let error = rest.sync.error();
            if (rest.said.is_some() || enables) && rest.cycle < to {
                self.blame("its controller said something earlier than it had announced".into());
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
        let rest = &mut *self.rest;
        let now = rest.cycle;
        let (down, up) = rest.sync.starts(now, &view);
        let leaves = down && view.state == PowerState::Wake;
        rest.left_wake = !view.active && (rest.left_wake || leaves);
        let mut overdrawn = false;
        if let Some(guard) = &mut rest.guard {
            guard.clock(now, view.state == PowerState::Wake, view.queue_nonempty);
            overdrawn = guard.overdrawn();
        }
        rest.fsm.clock(now, down, up);
        rest.sync.clock(now, &view);
        rest.message = Message::None;
        rest.cycle += 1;
        let state = rest.fsm.state();
        if state != view.state {
            rest.count_state(view.state, self.begin);
            rest.count.enter(state);
        }
        if overdrawn {
            self.blame("packets waited for more wake-ups than its guard allows".into());
        }
    }

    fn blame(&mut self, what: String) {
        let cycle = self.rest.cycle - self.begin;
        self.rest.fault.get_or_insert(Fault { cycle, what });
    }
}

impl Rest {
    /// Counts the cycles until the present one, in which the link was in `state`; the simulation
    /// began in cycle `begin`.
    fn count_state(&mut self, state: PowerState, begin: u64) {
        self.count.states[state as usize] += self.cycle - self.counted;
        if let Some(sampler) = &self.sampler {
            sampler.was(state, self.counted - begin, self.cycle - begin);
        }
        self.counted = self.cycle;
    }

    /// Idle periods that ended in hits; no threshold of a cycle before `asked` is asked for any
    /// more.
    fn catch_up(&mut self, hits: Hits, asked: u64) {
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
    fn sample(&mut self, now: u64, idle_since: u64, miss: bool) {
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
    fn expires(&mut self, idle_since: u64, sent_last: bool) -> u64 {
        let plan = &self.common.plan;
        let t_pdt = match (&mut self.threshold, &self.common.numbers) {
            _ if plan.policy == Policy::AlwaysOn => return u64::MAX,
            // No activity has come before.
            _ if idle_since == 0 => plan.t_pdt_init,
            (Some(threshold), Some(numbers)) => threshold.at(numbers, idle_since - 1),
            _ => plan.t_pdt_init,
        };
        let threshold = match (sent_last, plan.t_backstop) {
            (true, _) => t_pdt,
            (false, Some(backstop)) => backstop.max(t_pdt),
            (false, None) => return u64::MAX,
        };
        idle_since.saturating_add(self.common.hold(threshold))
    }
}

#[cfg(test)]
mod tests;
