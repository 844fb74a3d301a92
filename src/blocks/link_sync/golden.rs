//! Golden model of link synchronisation: what has been said, and when the wait ends.

use crate::blocks::port::pins::{Message, PowerState};
use crate::config::plan::PortPlan;

/// What has been said between the ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Just reset.
    Start,
    /// Nothing that waits for an answer.
    Idle,
    /// This end asked to go down; it no longer wants to if there was activity since.
    AskedDown { cancelled: bool },
    /// This end asked to go up.
    AskedUp,
    /// This end agreed to go down, or up, when SYNC comes.
    Promised { up: bool },
    /// Both go down, or up, at the end of that cycle.
    Settled { up: bool, at: u64 },
}

/// What link synchronisation sees of its port in one clock cycle.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// The message that arrives; illegal codes are none.
    pub message: Message,
    /// The strap: of two requests that cross, this end's goes on.
    pub initiator: bool,
    /// The output queue holds a packet.
    pub queue_nonempty: bool,
    /// A packet is leaving.
    pub transmitting: bool,
    /// The port is active (SPEC 2).
    pub active: bool,
    /// The state of the link at this end.
    pub state: PowerState,
    /// That state has a way down.
    pub may_go_down: bool,
    /// This end would like to go down.
    pub wants_down: bool,
    /// It has wanted that before, is still idle and awake, and nothing has happened since.
    pub overdue: bool,
    /// The guard permits to go down.
    pub permitted: bool,
    /// There is a link.
    pub link_up: bool,
    /// The error is to be forgotten.
    pub clear_error: bool,
}

impl View {
    fn asleep(&self) -> bool {
        !matches!(self.state, PowerState::Wake | PowerState::GoingUp)
    }

    fn accepts_down(&self) -> bool {
        !self.queue_nonempty && !self.transmitting && self.may_go_down && self.permitted
    }
}

/// What the registers count of a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// A request to go down is sent.
    pub requested: bool,
    /// The other end refuses it.
    pub nacked: bool,
    /// This end takes it back, because of activity.
    pub withdraws: bool,
    /// A request of the other end comes while one of this end waits for its answer.
    pub crosses: bool,
}

/// What one clock cycle leads to.
struct Step {
    phase: Phase,
    say: Message,
    down: bool,
    up: bool,
    gave_up: bool,
}

/// Cycle-exact model of link synchronisation (SPEC 5).
///
/// Time is the caller's count of clock cycles since reset.
#[derive(Clone, Debug)]
pub struct LinkSync {
    /// Longest wait for a message, in clock cycles.
    timeout: u64,
    /// Cycles after its first in which START lasts.
    start_lasts: u64,
    /// There was no link in the cycle before: START begins with the first cycle in which there is.
    cut_off: bool,
    phase: Phase,
    /// First cycle of the present phase.
    since: u64,
    /// The way up is agreed and waits for the end of the transition down.
    rises: bool,
    /// The other end has answered the last time it was asked.
    heard: bool,
    /// Since this cycle the end waits to ask once more to go down.
    overdue_since: Option<u64>,
    says: Message,
    error: bool,
}

impl LinkSync {
    /// Link synchronisation just after reset; `None` if the plan has none.
    pub fn new(plan: &PortPlan) -> Option<Self> {
        let timeout = plan.messages()?.timeout;
        let slowest = plan.slowest();
        let times = slowest.used_sleep_states();
        let t_s = times.iter().map(|times| times.t_s).max().unwrap_or(0);
        let t_w = times.iter().map(|times| times.t_w).max().unwrap_or(0);
        Some(LinkSync {
            timeout,
            // The request, the answer and SYNC leave in cycles 1, 2 + RTT and 3 + RTT.
            start_lasts: slowest.messages()?.timeout + t_s + t_w + 2,
            cut_off: false,
            phase: Phase::Start,
            since: 0,
            rises: false,
            heard: false,
            overdue_since: None,
            says: Message::None,
            error: false,
        })
    }

    /// From now on no wait for a message is longer than `timeout` clock cycles.
    pub fn set_timeout(&mut self, timeout: u64) {
        self.timeout = timeout;
    }

    /// The message to the other end in the present cycle.
    #[inline]
    pub fn message(&self) -> Message {
        self.says
    }

    /// The other end once did not answer in time.
    #[inline]
    pub fn error(&self) -> bool {
        self.error
    }

    /// The port must not start a packet even though its link is awake.
    #[inline]
    pub fn holds_back(&self) -> bool {
        matches!(
            self.phase,
            Phase::Start | Phase::Promised { up: false } | Phase::Settled { up: false, .. }
        )
    }

    /// Whether the ends go down, and whether they go up, at the end of cycle `now`.
    pub fn starts(&self, now: u64, view: &View) -> (bool, bool) {
        let step = self.step(now, view);
        (step.down, step.up || self.rises)
    }

    /// Cycles from `now` on in which nothing happens while the inputs hold, the link's
    /// state stays, and `wants_down` is as it is.
    pub fn quiet(&self, now: u64, view: &View) -> u64 {
        let rise_lapses = self.rises && !view.asleep();
        let forgets = view.clear_error && self.error;
        if forgets || (view.link_up == self.cut_off) {
            return 0;
        }
        if self.cut_off && self.says == Message::None {
            return u64::MAX;
        }
        if view.message != Message::None || self.says != Message::None || rise_lapses {
            return 0;
        }
        let waits_until = |cycle: u64| cycle.saturating_sub(now);
        match self.phase {
            Phase::Start if now == self.since => 0,
            Phase::Start => waits_until(self.since.saturating_add(self.start_lasts)),
            Phase::Idle => {
                let asks_up = view.asleep() && view.queue_nonempty && !self.rises;
                let asks_down = view.wants_down && self.heard && view.permitted;
                let waits = view.overdue && self.heard;
                match self.overdue_since {
                    _ if asks_up || asks_down => 0,
                    Some(since) if waits => waits_until(since.saturating_add(self.timeout)),
                    None if !waits => u64::MAX,
                    _ => 0,
                }
            }
            Phase::AskedDown { cancelled: false } if view.active => 0,
            Phase::AskedDown { .. } | Phase::AskedUp | Phase::Promised { .. } => {
                waits_until(self.since.saturating_add(self.timeout))
            }
            Phase::Settled { at, .. } => waits_until(at),
        }
    }

    /// It has been overdue for another time-out.
    fn waited_again(&self, now: u64, view: &View) -> bool {
        let since = self.overdue_since;
        view.overdue && since.is_some_and(|since| now - since >= self.timeout)
    }

    /// The first cycle of the present phase; there is a link in cycle `now`.
    fn began(&self, now: u64) -> u64 {
        match self.cut_off {
            true => now,
            false => self.since,
        }
    }

    fn step(&self, now: u64, view: &View) -> Step {
        use Message::{Ack, Nack, ReqDown, ReqUp};
        if !view.link_up {
            return Step {
                phase: Phase::Start,
                say: Message::None,
                down: false,
                up: false,
                gave_up: false,
            };
        }
        let since = self.began(now);
        let stay = Step {
            phase: self.phase,
            say: Message::None,
            down: false,
            up: false,
            gave_up: false,
        };
        // A request is answered in the next cycle, so the wait was a round trip and one.
        let settled = |up| Phase::Settled {
            up,
            at: now + 1 + (now - since) / 2,
        };
        let say = |say, phase| Step { say, phase, ..stay };
        let idle = say(Message::None, Phase::Idle);
        let late = now - since >= self.timeout;
        let on_time_out = |otherwise: Step| {
            if late {
                Step {
                    phase: Phase::Idle,
                    up: true,
                    gave_up: true,
                    ..otherwise
                }
            } else {
                otherwise
            }
        };
        // Every phase in which a request of the other end changes nothing.
        let courtesy = || match view.message {
            ReqUp => say(Ack, self.phase),
            ReqDown => say(Nack, self.phase),
            _ => Step { ..stay },
        };
        let promise_up = || say(Ack, Phase::Promised { up: true });
        let answer_down = || {
            if view.accepts_down() {
                say(Ack, Phase::Promised { up: false })
            } else {
                say(Nack, Phase::Idle)
            }
        };
        match (self.phase, view.message) {
            (Phase::Start, _) => {
                let mut step = match view.message {
                    _ if now == since => say(ReqUp, Phase::Start),
                    Ack => say(Message::Sync, Phase::Start),
                    _ => courtesy(),
                };
                if now - since == self.start_lasts {
                    step.phase = Phase::Idle;
                }
                step
            }
            (Phase::Idle, ReqUp) => promise_up(),
            (Phase::Idle, _) if view.asleep() && view.queue_nonempty && !self.rises => {
                say(ReqUp, Phase::AskedUp)
            }
            (Phase::Idle, ReqDown) => answer_down(),
            (Phase::Idle, _)
                if self.heard
                    && view.permitted
                    && (view.wants_down || self.waited_again(now, view)) =>
            {
                say(ReqDown, Phase::AskedDown { cancelled: false })
            }
            (Phase::Idle, _) => stay,
            (Phase::AskedDown { .. }, ReqUp) => promise_up(),
            (Phase::AskedDown { cancelled }, Ack) => {
                if cancelled || view.active {
                    say(Nack, Phase::Idle)
                } else {
                    say(Message::Sync, settled(false))
                }
            }
            (Phase::AskedDown { .. }, Nack) => idle,
            (Phase::AskedDown { .. }, ReqDown) if !view.initiator => answer_down(),
            (Phase::AskedDown { cancelled }, _) => {
                let cancelled = cancelled || view.active;
                on_time_out(say(Message::None, Phase::AskedDown { cancelled }))
            }
            (Phase::Settled { up: false, .. }, ReqUp) => promise_up(),
            (Phase::Settled { up: false, at }, _) if now == at => Step { down: true, ..idle },
            (Phase::Settled { up: false, .. }, _) => stay,
            (Phase::Settled { up: true, at }, _) => {
                let mut step = courtesy();
                if now == at || view.message == Message::Sync {
                    step.phase = Phase::Idle;
                    step.up = true;
                }
                step
            }
            (Phase::Promised { up: false }, Message::Sync) => Step { down: true, ..idle },
            (Phase::Promised { up: false }, Nack) => idle,
            (Phase::Promised { up: false }, ReqUp) => promise_up(),
            (Phase::Promised { up: false }, _) => on_time_out(stay),
            (Phase::AskedUp, Ack) => say(Message::Sync, settled(true)),
            (Phase::AskedUp, ReqUp) if !view.initiator => promise_up(),
            (Phase::AskedUp | Phase::Promised { up: true }, Message::Sync) => {
                Step { up: true, ..idle }
            }
            (Phase::AskedUp | Phase::Promised { up: true }, _) => on_time_out(courtesy()),
        }
    }

    /// Calls `visit` with the register that counts time, as it is at the beginning of cycle `now`,
    /// and with what is remembered meanwhile.
    pub fn time_registers(&self, now: u64, visit: &mut impl FnMut(&'static str, u64)) {
        let count = match self.phase {
            _ if self.cut_off => 0,
            Phase::Idle => self.overdue_since.map_or(0, |since| now - since),
            Phase::Settled { at, .. } => at - now,
            _ => now - self.since,
        };
        visit("u_link_sync.count_q", count);
        visit("u_link_sync.rise_q", self.rises.into());
        visit("u_link_sync.unheard_q", (!self.heard).into());
    }

    /// The other end turns out not to have answered in time, in cycle `now`.
    pub fn fails(&self, now: u64, view: &View) -> bool {
        let step = self.step(now, view);
        let start_over = self.phase == Phase::Start && step.phase == Phase::Idle;
        step.gave_up || (start_over && !self.heard)
    }

    /// What the registers count of cycle `now`.
    pub fn counted(&self, view: &View) -> Counted {
        let message = Some(view.message).filter(|_| view.link_up);
        let asked_down = matches!(self.phase, Phase::AskedDown { .. });
        let asked = asked_down || self.phase == Phase::AskedUp;
        let gone = self.phase == Phase::AskedDown { cancelled: true } || view.active;
        Counted {
            requested: self.says == Message::ReqDown,
            nacked: asked_down && message == Some(Message::Nack),
            withdraws: asked_down && message == Some(Message::Ack) && gone,
            crosses: asked && matches!(message, Some(Message::ReqDown | Message::ReqUp)),
        }
    }

    /// The clock edge at the end of cycle `now`.
    pub fn clock(&mut self, now: u64, view: &View) {
        let error = self.fails(now, view) || (self.error && !view.clear_error);
        if !view.link_up {
            *self = LinkSync {
                phase: Phase::Start,
                cut_off: true,
                rises: false,
                heard: false,
                overdue_since: None,
                says: Message::None,
                error,
                ..*self
            };
            return;
        }
        let step = self.step(now, view);
        self.since = self.began(now);
        self.cut_off = false;
        let answered = match view.message {
            Message::Sync => true,
            Message::Ack => match self.phase {
                Phase::Start => now > self.since,
                Phase::AskedDown { .. } | Phase::AskedUp => true,
                _ => false,
            },
            _ => false,
        };
        self.error = error;
        let waits = view.overdue
            && self.heard
            && view.message != Message::ReqDown
            && !self.waited_again(now, view);
        self.overdue_since = match step.phase {
            Phase::Idle if self.phase == Phase::Idle && waits => self.overdue_since.or(Some(now)),
            _ => None,
        };
        self.heard = (self.heard || answered) && !step.gave_up;
        self.rises = view.asleep() && (self.rises || step.up);
        let still_asking = matches!(
            (self.phase, step.phase),
            (Phase::AskedDown { .. }, Phase::AskedDown { .. })
        );
        if self.phase != step.phase && !still_asking {
            self.since = now + 1;
        }
        self.phase = step.phase;
        self.says = step.say;
    }
}
