//! A port controller that is clocked where its other end or its queue may notice it, and
//! there only: equal to the golden model in `tx_enable`, in every message, in the state of the
//! link and in what is counted.
//!
//! While the link is awake and nothing is said between its ends, activity matters in three
//! ways: its first cycle ends an idle period, which is a sample; its last cycle decides
//! whether the timer is armed, and which threshold governs the idle period that follows; and the
//! timer goes off if that period lasts. No sample comes before activity begins again, so all
//! this is known, but for the threshold ([`threshold`]), when activity begins. Otherwise the
//! golden models of the state machine and of the exchange are clocked where they change.

mod threshold;

use std::sync::Arc;

use super::governor::Fault;
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
            Some(ticks) if ticks <= self.plan.max_time() => {
                ticks.saturating_mul(self.plan.clocks_per_tick) - 1
            }
            _ => u64::MAX,
        }
    }
}

/// An event-driven port controller. Times within are clock cycles since reset.
///
/// In a large network nothing is in a cache, so what most calls touch are the first two of three
/// lines that lie together, and hits that cannot matter soon stay there until there are some.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct LazyPort {
    /// It stands at the beginning of this cycle.
    cycle: u64,
    /// See [`LazyPort::next`].
    next: u64,
    transmits_until: u64,
    receives_until: u64,
    /// The timer goes off no earlier than this many cycles after the end of activity.
    hold: u64,
    /// The cycle in which the simulation began.
    begin: u64,
    rest: Box<Rest>,
    said: Option<Message>,
    waiting: bool,
    tx_enable: bool,
    /// The link is awake and nothing is being said: only the timer can change that.
    calm: bool,
    /// `rest.expiry` is that of the present idle period.
    resolved: bool,
    faulty: bool,
    /// The link has left `Wake` in the present idle period.
    left_wake: bool,
    /// See [`super::governor::Governor::appointment`].
    pub appointment: u64,
    recent: Recent,
}

const _: () = assert!(std::mem::size_of::<LazyPort>() == 192);

/// Hits that are held that many at a time.
const HELD: usize = 25;

/// Hits of which the threshold has not been told.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Recent {
    /// Hits before this cycle do not lower the floor of the threshold,
    until: u64,
    /// The cycle in which the latest one came.
    latest: u64,
    /// and so many of them, as far as there is room.
    room: u8,
    held: u8,
    /// How many cycles after the one before each came, and how many idle cycles it ended.
    hits: [(u16, u16); HELD],
}

/// A hit: the cycle in which it comes, and how many idle cycles it ends.
type Hit = (u64, u64);

impl Recent {
    /// Holds a hit that comes in `cycle`, after activity that ended with `idle_since`; whether
    /// it does.
    #[inline]
    fn hold(&mut self, cycle: u64, idle_since: u64) -> bool {
        if cycle >= self.until || self.room == 0 {
            return false;
        }
        let later = match self.held {
            0 => 0,
            _ => cycle - self.latest,
        };
        let (Ok(later), Ok(idle)) = (u16::try_from(later), u16::try_from(cycle - idle_since))
        else {
            return false;
        };
        self.hits[self.held as usize] = (later, idle);
        self.held += 1;
        self.room -= 1;
        self.latest = cycle;
        true
    }

    /// The hits, the oldest first.
    fn take(&mut self) -> ([Hit; HELD], usize) {
        let held = std::mem::take(&mut self.held) as usize;
        let mut hits = [(0, 0); HELD];
        let mut cycle = self.latest;
        for (hit, &(later, idle)) in hits.iter_mut().zip(&self.hits).take(held).rev() {
            *hit = (cycle, u64::from(idle));
            cycle -= u64::from(later);
        }
        (hits, held)
    }
}

/// In the order in which hits need it.
#[derive(Debug)]
#[repr(C)]
struct Rest {
    common: Arc<Common>,
    /// The cycle of the latest sample.
    sampled: u64,
    sample_is_miss: bool,
    initiator: bool,
    /// What arrives in the present cycle.
    message: Message,
    hits: u64,
    threshold: Option<Threshold>,
    /// The cycle in which the timer goes off.
    expiry: u64,
    /// The first cycle that is not in `count.states`.
    counted: u64,
    /// Without the hits.
    count: PortCycles,
    fsm: LpiFsm,
    sync: LinkSync,
    fault: Option<Fault>,
}

impl LazyPort {
    /// A controller that goes on from where `port` stands: awake, and never yet active.
    ///
    /// # Panics
    /// If `port` exchanges no messages.
    pub fn new(common: &Arc<Common>, port: &golden::Port, initiator: bool) -> Self {
        let (now, fsm, sync) = port.link();
        let threshold = common.numbers.as_ref().map(Threshold::new);
        let floor = match (&threshold, common.plan.policy) {
            (_, Policy::AlwaysOn) => u64::MAX,
            (Some(threshold), _) => threshold.floor(),
            (None, _) => common.plan.t_pdt_init,
        };
        let mut lazy = Self {
            cycle: now,
            next: now,
            transmits_until: 0,
            receives_until: 0,
            hold: common.hold(floor),
            begin: now,
            rest: Box::new(Rest {
                common: common.clone(),
                fsm: fsm.clone(),
                sync: sync.expect("the ends exchange messages").clone(),
                threshold,
                initiator,
                message: Message::None,
                expiry: u64::MAX,
                sampled: 0,
                sample_is_miss: false,
                hits: 0,
                counted: now,
                count: PortCycles::default(),
                fault: None,
            }),
            said: None,
            waiting: false,
            tx_enable: false,
            calm: false,
            resolved: false,
            faulty: false,
            left_wake: false,
            appointment: u64::MAX,
            recent: Recent::default(),
        };
        lazy.look_ahead();
        lazy
    }

    /// From cycle `from` until (without) `until` a packet leaves.
    #[inline]
    pub fn transmit(&mut self, from: u64, until: u64) {
        self.begin_activity(from);
        self.waiting = false;
        self.transmits_until = self.begin + until;
        self.activity_changed();
    }

    /// From cycle `from` until (without) `until` a packet arrives.
    #[inline]
    pub fn receive(&mut self, from: u64, until: u64) {
        self.begin_activity(from);
        self.receives_until = self.begin + until;
        self.activity_changed();
    }

    /// From cycle `from` on a packet waits that may not leave.
    pub fn wait(&mut self, from: u64) {
        self.begin_activity(from);
        self.waiting = true;
        self.activity_changed();
    }

    /// In `cycle` a message of the other end arrives.
    pub fn hear(&mut self, cycle: u64, message: Message) {
        self.advance(cycle);
        self.rest.message = message;
        self.look_ahead();
    }

    /// Goes on to the beginning of `cycle`.
    #[inline]
    pub fn advance(&mut self, cycle: u64) {
        let to = self.begin + cycle;
        if to < self.next {
            self.cycle = self.cycle.max(to);
        } else {
            self.clock(to);
        }
    }

    /// What the next hit may touch beside the port itself: nothing while it can be held.
    #[inline]
    pub fn far_side(&self) -> Option<*const u8> {
        (self.recent.room == 0).then(|| std::ptr::from_ref(&*self.rest).cast())
    }

    /// The port may start a packet in the present cycle.
    #[inline]
    pub fn tx_enable(&self) -> bool {
        self.tx_enable
    }

    /// The message that it sends in the present cycle; told once.
    #[inline]
    pub fn said(&mut self) -> Option<Message> {
        self.said.take()
    }

    /// The cycle after the present one in which it may next have something to say, or to let
    /// the port send; `u64::MAX`: not before something happens.
    #[inline]
    pub fn next(&self) -> u64 {
        match self.next {
            u64::MAX => u64::MAX,
            next => next - self.begin,
        }
    }

    /// What it broke the rules with, if it did.
    #[inline]
    pub fn fault(&self) -> Option<&Fault> {
        match self.faulty {
            true => self.rest.fault.as_ref(),
            false => None,
        }
    }

    /// What the port did in the first `cycles` clock cycles.
    pub fn account(&mut self, cycles: u64) -> PortCycles {
        self.advance(cycles);
        self.tell();
        let rest = &self.rest;
        let mut count = rest.count;
        count.hits = rest.hits;
        count.states[rest.fsm.state() as usize] += self.cycle - rest.counted;
        // Hit and miss show in the cycle after the sample.
        if rest.sampled > 0 && rest.sampled + 2 > self.cycle {
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
        self.waiting || self.cycle < self.idle_since()
    }

    /// Goes on to `from`, the beginning of activity, or of more of it.
    #[inline]
    fn begin_activity(&mut self, from: u64) {
        self.advance(from);
        let idle_since = self.idle_since();
        if self.cycle > idle_since
            && !self.waiting
            && (self.left_wake || idle_since == 0 || !self.recent.hold(self.cycle, idle_since))
        {
            self.sample(idle_since);
        }
    }

    /// The idle period from `idle_since` on ends in the present cycle.
    fn sample(&mut self, idle_since: u64) {
        let miss = std::mem::take(&mut self.left_wake);
        if idle_since == 0 {
            // What comes before the first activity is no idle period.
            return;
        }
        self.tell();
        if miss || !self.recent.hold(self.cycle, idle_since) {
            self.rest.sample(self.cycle, idle_since, miss);
            self.follow();
        }
    }

    /// Tells the threshold of the hits that were held.
    fn tell(&mut self) {
        let (hits, held) = self.recent.take();
        // The threshold that governs the present idle period, or that after the activity under
        // way, may still be asked for: it is the one of the cycle before.
        let asked = self.idle_since().saturating_sub(1).min(self.cycle);
        self.rest.catch_up(&hits[..held], asked);
        self.follow();
    }

    /// Follows the floor of the threshold.
    fn follow(&mut self) {
        let (until, left) = match (&self.rest.threshold, &self.rest.common.numbers) {
            (Some(threshold), Some(numbers)) => {
                self.hold = self.rest.common.hold(threshold.floor());
                threshold.firm(numbers)
            }
            _ => (u64::MAX, HELD),
        };
        self.recent.until = until;
        self.recent.room = left.min(HELD) as u8;
    }

    #[inline]
    fn activity_changed(&mut self) {
        self.resolved = false;
        if self.calm {
            self.next = self.expiry().saturating_add(1);
        } else {
            self.look_ahead();
        }
    }

    /// The timer goes off in this cycle or, if that is not resolved, later; if it is before
    /// the present one, not at all.
    #[inline]
    fn expiry(&self) -> u64 {
        let armed = self.transmits_until >= self.receives_until && self.transmits_until > 0;
        match self.resolved {
            true => self.rest.expiry,
            false if armed && !self.waiting => self.transmits_until.saturating_add(self.hold),
            false => u64::MAX,
        }
    }

    /// What link synchronisation sees in the present cycle.
    fn view(&mut self) -> View {
        let active = self.active();
        let expired = !active && {
            if !self.resolved && self.cycle >= self.expiry() {
                let floor = self.expiry();
                self.tell();
                let expiry = self.rest.expiry(self.idle_since());
                assert!(expiry >= floor, "a threshold lies below its floor");
                self.rest.expiry = expiry;
                self.resolved = true;
            }
            self.cycle == self.expiry()
        };
        let rest = &self.rest;
        let state = rest.fsm.state();
        let transmitting = self.cycle < self.transmits_until;
        let held = rest.fsm.hold_ends().is_some_and(|last| last <= self.cycle);
        View {
            message: rest.message,
            initiator: rest.initiator,
            queue_nonempty: self.waiting || transmitting,
            transmitting,
            active,
            state,
            may_go_down: rest.fsm.may_go_down(),
            wants_down: (expired && state == PowerState::Wake)
                || (held && rest.initiator && !active),
        }
    }

    /// Finds out what comes next.
    fn look_ahead(&mut self) {
        let now = self.cycle;
        let view = self.view();
        let rest = &self.rest;
        self.tx_enable = view.state == PowerState::Wake && !rest.sync.holds_back();
        let expiry = match self.expiry() {
            expiry if expiry >= now => expiry,
            _ => u64::MAX,
        };
        let calm = View {
            wants_down: false,
            ..view
        };
        self.calm = view.state == PowerState::Wake && rest.sync.quiet(now, &calm) == u64::MAX;
        if self.calm {
            self.next = expiry.saturating_add(1);
            return;
        }
        let (down, up) = rest.sync.starts(now, &view);
        let transition = rest.fsm.quiet(now, down, up);
        let exchange = rest.sync.quiet(now, &view);
        let hold = match rest.fsm.hold_ends() {
            Some(last) if last >= now => last - now,
            _ => u64::MAX,
        };
        let quiet = transition.min(exchange).min(hold);
        let change = now.saturating_add(quiet).min(expiry).saturating_add(1);
        let untils = [self.transmits_until, self.receives_until].into_iter();
        let input = untils.filter(|&until| until > now).min();
        self.next = input.map_or(change, |input| change.min(input));
        if view.state != PowerState::Wake && now < self.idle_since() {
            let what = format!(
                "its controller went to {} while a packet was on the link",
                view.state.name()
            );
            self.blame(what);
        }
    }

    /// Goes on to the beginning of cycle `to` by the clock edges that matter.
    #[cold]
    fn clock(&mut self, to: u64) {
        while self.cycle < to {
            // The first edge that changes something is at the end of the cycle before `next`.
            let edge = self.next - 1;
            if edge >= to {
                self.cycle = to;
                break;
            }
            self.cycle = self.cycle.max(edge);
            self.clock_edge();
            let enabled = self.tx_enable;
            self.look_ahead();
            self.said = Some(self.rest.sync.message()).filter(|said| *said != Message::None);
            if (self.said.is_some() || (self.tx_enable && !enabled)) && self.cycle < to {
                self.blame("its controller said something earlier than it had announced".into());
            }
            if self.rest.sync.error() {
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
        let now = self.cycle;
        let view = self.view();
        let left_wake = self.left_wake;
        let rest = &mut *self.rest;
        let (down, up) = rest.sync.starts(now, &view);
        let leaves = down && view.state == PowerState::Wake;
        self.left_wake = !view.active && (left_wake || leaves);
        rest.fsm.clock(now, down, up);
        rest.sync.clock(now, &view);
        rest.message = Message::None;
        self.cycle += 1;
        let state = rest.fsm.state();
        if state != view.state {
            rest.count.states[view.state as usize] += self.cycle - rest.counted;
            rest.counted = self.cycle;
            let begins = matches!(state, PowerState::GoingDown | PowerState::GoingUp);
            rest.count.transitions += u64::from(begins);
        }
    }

    fn blame(&mut self, what: String) {
        self.faulty = true;
        let cycle = self.cycle - self.begin;
        self.rest.fault.get_or_insert(Fault { cycle, what });
    }
}

impl Rest {
    /// Idle periods that ended in hits, the oldest first; no threshold of a cycle before `asked`
    /// is asked for any more.
    fn catch_up(&mut self, hits: &[Hit], asked: u64) {
        if let Some((latest, _)) = hits.last() {
            self.hits += hits.len() as u64;
            self.sampled = *latest;
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

    /// When the timer goes off in the idle period from `idle_since` on.
    fn expiry(&mut self, idle_since: u64) -> u64 {
        let t_pdt = match (&mut self.threshold, &self.common.numbers) {
            (Some(threshold), Some(numbers)) => threshold.at(numbers, idle_since - 1),
            _ => self.common.plan.t_pdt_init,
        };
        idle_since.saturating_add(self.common.hold(t_pdt))
    }
}

#[cfg(test)]
mod tests;
