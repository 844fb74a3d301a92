//! Link synchronisation (SPEC 5, p000 Figure 5): both ends of a link change state together.

pub mod golden;
#[cfg(test)]
mod tests;

use crate::blocks::port::pins::MESSAGE_WIDTH;
use crate::config::plan::{PortPlan, SleepTimes, SyncPlan};
use crate::hdl::prelude::*;

states! {
    /// Where the exchange of messages with the other end stands.
    pub enum Exchange {
        Start = "just reset: nothing is sent until both ends are surely awake",
        Idle = "no exchange under way",
        AskDown = "REQ_DOWN sent, no answer yet",
        SyncDown = "SYNC sent: down in half a round trip",
        AwaitDown = "REQ_DOWN accepted: down when SYNC comes",
        AskUp = "REQ_UP sent, no answer yet",
        SyncUp = "SYNC sent: up in half a round trip",
        AwaitUp = "REQ_UP accepted: up when SYNC comes",
    }
}

/// Clock cycles after reset in which a port sends nothing: the other end has been asked to
/// wake and has had the time for its longest way up, and every answer to what this end
/// asked before its reset has arrived (`docs/link-sync.md`).
pub fn start_cycles(plan: &PortPlan, sync: &SyncPlan) -> u64 {
    let (t_s, t_w) = longest_transitions(plan);
    // Three cycles: the request, its answer and SYNC leave one cycle after their cause.
    sync.timeout + 3 + t_s + t_w
}

/// Clock cycles within which transmission is enabled while a packet waits, from every
/// reachable state (SPEC 5); `None` without an exchange of messages. `round_trip` is as for
/// [`wait_bound`].
pub fn wake_bound(plan: &PortPlan, round_trip: Option<u64>) -> Option<u64> {
    let start = start_cycles(plan, &plan.sync?);
    Some(start.max(wait_bound(plan, round_trip)?))
}

/// The same for a port that has been out of reset for [`start_cycles`]. `round_trip`: the
/// other end answers, over a link of this many cycles there and back; without it, it may do
/// anything.
///
/// A wait for a message ends after `w` cycles, answered or given up. At worst the packet
/// comes in the first cycle of the wait for the SYNC that leads down. It asks to wake in
/// the first cycle of the transition down; its request crosses that of the other end, so
/// that two more waits pass before the way up.
pub fn wait_bound(plan: &PortPlan, round_trip: Option<u64>) -> Option<u64> {
    let sync = plan.sync?;
    let w = round_trip.map_or(sync.timeout, |cycles| cycles + 1) + 1;
    let (t_s, t_w) = longest_transitions(plan);
    Some(w + (2 * w + 1).max(t_s) + t_w)
}

/// The longest delay one way, in clock cycles, with which both ends hear each other in time: an
/// answer, which takes there and back and a cycle, before the time-out, and the exchange of START
/// (a request, its answer and SYNC) before START ends. PHYs count as cable.
pub fn longest_delay(plan: &PortPlan, sync: &SyncPlan) -> u64 {
    let answered = sync.timeout.saturating_sub(1) / 2;
    answered.min((start_cycles(plan, sync) - 3) / 3)
}

/// The longest transition down and the longest up, in clock cycles.
pub fn longest_transitions(plan: &PortPlan) -> (u64, u64) {
    let longest = |time: fn(&SleepTimes) -> u64| {
        let times = plan.used_sleep_states();
        times.iter().map(time).max().expect("a sleep state")
    };
    (longest(|times| times.t_s), longest(|times| times.t_w))
}

/// The exchange of messages by which both ends of a link change state at once (SPEC 5,
/// p000 Figure 5); `docs/link-sync.md` explains it crossing by crossing.
#[derive(LogicBlock)]
pub struct LinkSync {
    about: About,
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub initiator: Signal<In, Bit>,
    pub message_in: Signal<In, Bits>,
    pub queue_nonempty: Signal<In, Bit>,
    pub transmitting: Signal<In, Bit>,
    pub active: Signal<In, Bit>,
    pub awake: Signal<In, Bit>,
    pub asleep: Signal<In, Bit>,
    pub may_go_down: Signal<In, Bit>,
    pub wants_down: Signal<In, Bit>,
    pub overdue: Signal<In, Bit>,
    pub permitted: Signal<In, Bit>,
    pub down_start: Signal<Out, Bit>,
    pub up_start: Signal<Out, Bit>,
    pub tx_enable: Signal<Out, Bit>,
    pub message_out: Signal<Out, Bits>,
    pub sync_error: Signal<Out, Bit>,
    pub fails: Signal<Out, Bit>,
    pub state: Reg<Exchange>,
    pub count: Reg<Bits>,
    cancelled: Reg<Bit>,
    pub rise: Reg<Bit>,
    pub unheard: Reg<Bit>,
    message: Reg<Bits>,
    error: Reg<Bit>,
    is_req_down: Signal<Local, Bit>,
    is_req_up: Signal<Local, Bit>,
    is_ack: Signal<Local, Bit>,
    is_nack: Signal<Local, Bit>,
    is_sync: Signal<Local, Bit>,
    wants_up: Signal<Local, Bit>,
    refuses: Signal<Local, Bit>,
    timed_out: Signal<Local, Bit>,
    asks_down: Signal<Local, Bit>,
    gives_up: Signal<Local, Bit>,
    stays_unheard: Signal<Local, Bit>,
    up_now: Signal<Local, Bit>,
    half: Signal<Local, Bits>,
    none: Constant<Bits>,
    req_down: Constant<Bits>,
    req_up: Constant<Bits>,
    ack: Constant<Bits>,
    nack: Constant<Bits>,
    sync: Constant<Bits>,
    timeout: Constant<Bits>,
    start_last: Constant<Bits>,
    one: Constant<Bits>,
}

impl LinkSync {
    /// The link synchronisation of `plan`.
    pub fn new(plan: &PortPlan, sync: &SyncPlan) -> Self {
        let start = start_cycles(plan, sync);
        let width = clog2(start.into());
        let code = |code: u128, doc: &str| Constant::bits(MESSAGE_WIDTH, code, doc);
        LinkSync {
            about: About::new(
                "link_sync",
                "Agrees with the other end of the link when to go down and up, so that both\n\
                 start in the same clock cycle. The end that asks measures the round trip; once\n\
                 its request is accepted it sends SYNC, waits for half a round trip and starts;\n\
                 the other end starts when SYNC arrives. Every request is answered in the cycle\n\
                 after it came, every wait ends by a time-out, and whoever gives up comes awake.",
            ),
            clk: Signal::clock("clock"),
            rst: Signal::bit("synchronous reset"),
            initiator: Signal::bit("of two requests that cross, this end's goes on"),
            message_in: Signal::bits(MESSAGE_WIDTH, "message from the other end"),
            queue_nonempty: Signal::bit("the output queue holds a packet"),
            transmitting: Signal::bit("a packet is leaving over the link"),
            active: Signal::bit("the port is active"),
            awake: Signal::bit("the link is awake"),
            asleep: Signal::bit("the link sleeps or is on the way down"),
            may_go_down: Signal::bit("the link is in a state with a way down"),
            wants_down: Signal::bit("this end would like to go down"),
            overdue: Signal::bit("it has wanted that before, and nothing has happened since"),
            permitted: Signal::bit("the guard permits to go down"),
            down_start: Signal::bit("go down at the end of this cycle"),
            up_start: Signal::bit("go up at the end of this cycle"),
            tx_enable: Signal::bit("the port may start a packet"),
            message_out: Signal::bits(MESSAGE_WIDTH, "message to the other end"),
            sync_error: Signal::bit("the other end once did not answer in time"),
            fails: Signal::bit("it has not, in this cycle"),
            state: Reg::state(Exchange::Start, "where the exchange stands"),
            count: Reg::bits(
                width,
                0,
                "clock cycles in this state; SYNC_*: still to wait; IDLE: overdue",
            ),
            cancelled: Reg::bit(false, "there was activity after REQ_DOWN"),
            rise: Reg::bit(
                false,
                "agreed to go up as soon as the transition down is over",
            ),
            unheard: Reg::bit(true, "the other end did not answer the last time"),
            message: Reg::bits(MESSAGE_WIDTH, 0, "message to the other end, for one cycle"),
            error: Reg::bit(false, "the other end once did not answer in time"),
            is_req_down: Signal::bit("REQ_DOWN arrives"),
            is_req_up: Signal::bit("REQ_UP arrives"),
            is_ack: Signal::bit("ACK arrives"),
            is_nack: Signal::bit("NACK arrives"),
            is_sync: Signal::bit("SYNC arrives"),
            wants_up: Signal::bit("a packet waits on a link that is going to stay asleep"),
            refuses: Signal::bit("this end does not accept a REQ_DOWN"),
            timed_out: Signal::bit("the wait for a message ends with this cycle"),
            asks_down: Signal::bit("time to ask to go down, or to ask again"),
            gives_up: Signal::bit("and it has not come"),
            stays_unheard: Signal::bit("no answer has come since reset"),
            up_now: Signal::bit("the agreed time of the start up, or no more waiting for it"),
            half: Signal::bits(width, "half a round trip"),
            none: code(0, "no message"),
            req_down: code(1, "asks to go down"),
            req_up: code(2, "asks to go up"),
            ack: code(3, "accepts"),
            nack: code(4, "refuses; from the end that asked: withdraws"),
            sync: code(5, "start now; the sender starts in half a round trip"),
            timeout: Constant::bits(width, sync.timeout.into(), "longest wait for a message"),
            start_last: Constant::bits(
                width,
                u128::from(start) - 1,
                "last cycle of START: by now the other end has answered and is awake",
            ),
            one: Constant::bits(width, 1, "one bit"),
        }
    }
}

impl Logic for LinkSync {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, state, count, cancelled, rise, unheard, message, error);

        self.is_req_down.next = self.message_in.val() == self.req_down.val();
        self.is_req_up.next = self.message_in.val() == self.req_up.val();
        self.is_ack.next = self.message_in.val() == self.ack.val();
        self.is_nack.next = self.message_in.val() == self.nack.val();
        self.is_sync.next = self.message_in.val() == self.sync.val();

        self.wants_up.next = self.asleep.val() & self.queue_nonempty.val() & !self.rise.q.val();
        self.refuses.next = self.queue_nonempty.val()
            | self.transmitting.val()
            | !self.may_go_down.val()
            | !self.permitted.val();
        self.timed_out.next = self.count.q.val() == self.timeout.val();
        comment!("An end that stays idle in an awake link asks again after each time-out.");
        self.asks_down.next = self.wants_down.val() | (self.overdue.val() & self.timed_out.val());
        comment!("The answer came one cycle after the request: count is the round trip and one.");
        self.half.next = self.count.q.val() >> self.one.val();

        self.gives_up.next = false;
        self.stays_unheard.next = false;
        self.down_start.next = false;
        self.up_now.next = false;
        self.message.d.next = self.none.val();
        self.count.d.next = self.count.q.val() + 1;
        if self.is_sync.val() {
            self.unheard.d.next = false;
        }

        match self.state.q.val() {
            Exchange::Start => {
                if self.count.q.val() == 0 {
                    comment!("The other end may be asleep. What it sent is lost with the reset.");
                    self.message.d.next = self.req_up.val();
                } else if self.is_req_up.val() {
                    self.message.d.next = self.ack.val();
                } else if self.is_req_down.val() {
                    self.message.d.next = self.nack.val();
                } else if self.is_ack.val() {
                    self.message.d.next = self.sync.val();
                    self.unheard.d.next = false;
                }
                if self.count.q.val() == self.start_last.val() {
                    self.state.d.next = Exchange::Idle;
                    self.stays_unheard.next = self.unheard.q.val();
                }
            }
            Exchange::Idle => {
                self.count.d.next = 0.into();
                self.cancelled.d.next = false;
                comment!("A request of one's own to wake also answers a REQ_DOWN.");
                if self.is_req_up.val() {
                    self.message.d.next = self.ack.val();
                    self.state.d.next = Exchange::AwaitUp;
                } else if self.wants_up.val() {
                    self.message.d.next = self.req_up.val();
                    self.state.d.next = Exchange::AskUp;
                } else if self.is_req_down.val() {
                    if self.refuses.val() {
                        self.message.d.next = self.nack.val();
                    } else {
                        self.message.d.next = self.ack.val();
                        self.state.d.next = Exchange::AwaitDown;
                    }
                } else if !self.unheard.q.val() {
                    if self.asks_down.val() & self.permitted.val() {
                        self.message.d.next = self.req_down.val();
                        self.state.d.next = Exchange::AskDown;
                    } else if self.overdue.val() & !self.timed_out.val() {
                        self.count.d.next = self.count.q.val() + 1;
                    }
                }
            }
            Exchange::AskDown => {
                if self.active.val() {
                    self.cancelled.d.next = true;
                }
                if self.is_req_up.val() {
                    comment!("The other end's wish to wake stands for its answer.");
                    self.message.d.next = self.ack.val();
                    self.count.d.next = 0.into();
                    self.state.d.next = Exchange::AwaitUp;
                } else if self.is_ack.val() {
                    if self.active.val() | self.cancelled.q.val() {
                        self.message.d.next = self.nack.val();
                        self.state.d.next = Exchange::Idle;
                    } else {
                        self.message.d.next = self.sync.val();
                        self.count.d.next = self.half.val();
                        self.state.d.next = Exchange::SyncDown;
                    }
                    self.unheard.d.next = false;
                } else if self.is_nack.val() {
                    self.state.d.next = Exchange::Idle;
                } else if self.is_req_down.val() & !self.initiator.val() {
                    comment!("Both asked at once: the initiator goes on.");
                    self.count.d.next = 0.into();
                    if self.refuses.val() {
                        self.message.d.next = self.nack.val();
                        self.state.d.next = Exchange::Idle;
                    } else {
                        self.message.d.next = self.ack.val();
                        self.state.d.next = Exchange::AwaitDown;
                    }
                } else {
                    self.gives_up.next = self.timed_out.val();
                }
            }
            Exchange::SyncDown => {
                self.count.d.next = self.count.q.val() - 1;
                if self.is_req_up.val() {
                    comment!("Only an end that was reset asks now: it will not go down.");
                    self.message.d.next = self.ack.val();
                    self.count.d.next = 0.into();
                    self.state.d.next = Exchange::AwaitUp;
                } else if self.count.q.val() == 0 {
                    self.down_start.next = true;
                    self.state.d.next = Exchange::Idle;
                }
            }
            Exchange::AwaitDown => {
                if self.is_sync.val() {
                    self.down_start.next = true;
                    self.state.d.next = Exchange::Idle;
                } else if self.is_nack.val() {
                    self.state.d.next = Exchange::Idle;
                } else if self.is_req_up.val() {
                    self.message.d.next = self.ack.val();
                    self.count.d.next = 0.into();
                    self.state.d.next = Exchange::AwaitUp;
                } else {
                    self.gives_up.next = self.timed_out.val();
                }
            }
            Exchange::AskUp => {
                if self.is_ack.val() {
                    self.message.d.next = self.sync.val();
                    self.count.d.next = self.half.val();
                    self.state.d.next = Exchange::SyncUp;
                    self.unheard.d.next = false;
                } else if self.is_sync.val() {
                    comment!("The other end was reset and has lost the request, but asked itself.");
                    self.up_now.next = true;
                    self.state.d.next = Exchange::Idle;
                } else if self.is_req_up.val() & !self.initiator.val() {
                    comment!("Both asked at once: the initiator goes on.");
                    self.message.d.next = self.ack.val();
                    self.count.d.next = 0.into();
                    self.state.d.next = Exchange::AwaitUp;
                } else {
                    if self.is_req_up.val() {
                        self.message.d.next = self.ack.val();
                    } else if self.is_req_down.val() {
                        self.message.d.next = self.nack.val();
                    }
                    self.gives_up.next = self.timed_out.val();
                }
            }
            Exchange::SyncUp => {
                self.count.d.next = self.count.q.val() - 1;
                if self.is_req_up.val() {
                    self.message.d.next = self.ack.val();
                } else if self.is_req_down.val() {
                    self.message.d.next = self.nack.val();
                }
                comment!("SYNC: the other end was reset and asked before it answered.");
                if (self.count.q.val() == 0) | self.is_sync.val() {
                    self.up_now.next = true;
                    self.state.d.next = Exchange::Idle;
                }
            }
            Exchange::AwaitUp => {
                if self.is_sync.val() {
                    self.up_now.next = true;
                    self.state.d.next = Exchange::Idle;
                } else {
                    if self.is_req_up.val() {
                        self.message.d.next = self.ack.val();
                    } else if self.is_req_down.val() {
                        self.message.d.next = self.nack.val();
                    }
                    self.gives_up.next = self.timed_out.val();
                }
            }
        }
        if self.gives_up.val() {
            self.state.d.next = Exchange::Idle;
            self.up_now.next = true;
            self.unheard.d.next = true;
        }
        self.fails.next = self.gives_up.val() | self.stays_unheard.val();
        if self.fails.val() {
            self.error.d.next = true;
        }

        if (self.state.d.val() == Exchange::Idle) & !(self.state.q.val() == Exchange::Idle) {
            self.count.d.next = 0.into();
        }
        comment!("A transition down is never cut short: the way up waits for its end.");
        self.rise.d.next = self.asleep.val() & (self.rise.q.val() | self.up_now.val());
        self.up_start.next = self.rise.q.val() | self.up_now.val();

        comment!(
            "No data once SYNC for going down has been sent, or an answer to it has been promised."
        );
        self.tx_enable.next = self.awake.val()
            & !(self.state.q.val() == Exchange::Start)
            & !(self.state.q.val() == Exchange::SyncDown)
            & !(self.state.q.val() == Exchange::AwaitDown);
        self.message_out.next = self.message.q.val();
        self.sync_error.next = self.error.q.val();
    }
}
