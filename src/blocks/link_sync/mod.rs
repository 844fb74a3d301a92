//! Link synchronisation (SPEC 5, PerfBound Figure 5): both ends of a link change state together.

pub mod golden;
#[cfg(test)]
mod tests;

use crate::blocks::lpi_fsm::{UpsetPins, COPY_CODE};
use crate::blocks::port::pins::MESSAGE_WIDTH;
use crate::config::plan::{MessagesPlan, PortPlan, SleepTimes};
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
/// asked before its reset has arrived (`docs/how/link-sync.md`). Both ends may have been set to
/// the longest times that software can set.
pub fn start_cycles(plan: &PortPlan, sync: &MessagesPlan) -> u64 {
    let (t_s, t_w) = longest_transitions(plan);
    // Three cycles: the request, its answer and SYNC leave one cycle after their cause.
    longest_timeout(plan, sync) + 3 + t_s + t_w
}

/// Bits of a count of clock cycles in a state of the exchange.
pub fn count_bits(plan: &PortPlan, sync: &MessagesPlan) -> u32 {
    clog2(start_cycles(plan, sync).into())
}

/// The longest wait for a message, in clock cycles: as long as software can make it.
pub fn longest_timeout(plan: &PortPlan, sync: &MessagesPlan) -> u64 {
    let slowest = plan.slowest().messages();
    slowest.map_or(sync.timeout, |messages| messages.timeout)
}

/// Clock cycles within which transmission is enabled while a packet waits, from every
/// reachable state (SPEC 5); `None` without an exchange of messages. `round_trip` is as for
/// [`wait_bound`].
pub fn wake_bound(plan: &PortPlan, round_trip: Option<u64>) -> Option<u64> {
    let start = start_cycles(plan, &plan.messages()?);
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
    let sync = plan.messages()?;
    let w = round_trip.map_or(longest_timeout(plan, &sync), |cycles| cycles + 1) + 1;
    let (t_s, t_w) = longest_transitions(plan);
    Some(w + (2 * w + 1).max(t_s) + t_w)
}

/// The longest delay one way, in clock cycles, with which both ends hear each other in time: an
/// answer, which takes there and back and a cycle, before the time-out, and the exchange of START
/// (a request, its answer and SYNC) before START ends. PHYs count as cable.
pub fn longest_delay(plan: &PortPlan, sync: &MessagesPlan) -> u64 {
    let answered = sync.timeout.saturating_sub(1) / 2;
    answered.min((start_cycles(plan, sync) - 3) / 3)
}

/// The longest transition down and the longest up, in clock cycles: as long as software can make
/// them.
pub fn longest_transitions(plan: &PortPlan) -> (u64, u64) {
    let longest = |time: fn(&SleepTimes) -> u64| {
        let times = plan.slowest().used_sleep_states();
        times.iter().map(time).max().expect("a sleep state")
    };
    (longest(|times| times.t_s), longest(|times| times.t_w))
}

block! {
    /// The exchange of messages by which both ends of a link change state at once (SPEC 5,
    /// PerfBound Figure 5); `docs/how/link-sync.md` explains it crossing by crossing.
    pub struct LinkSync(clk, rst);

    /// The link synchronisation of `plan`.
    pub fn new(plan: &PortPlan, sync: &MessagesPlan) {
        let start = start_cycles(plan, sync);
        let width = count_bits(plan, sync);
        let adjusts = !plan.adjustable_times().is_empty();
        let controlled = plan.control_pins;
        let counted = plan.registers.is_some();
        let active = if controlled {
            "the port is active, or not to go down any more"
        } else {
            "the port is active"
        };
        let queue = if controlled {
            "the output queue holds a packet, or the link is to be awake"
        } else {
            "the output queue holds a packet"
        };
        let code = |code: u128, doc: &str| Constant::bits(MESSAGE_WIDTH, code, doc);
    }

    about(
        "link_sync",
        "Agrees with the other end of the link when to go down and up, so that both\n\
         start in the same clock cycle. The end that asks measures the round trip; once\n\
         its request is accepted it sends SYNC, waits for half a round trip and starts;\n\
         the other end starts when SYNC arrives. Every request is answered in the cycle\n\
         after it came, every wait ends by a time-out, and whoever gives up comes awake.",
    )

    {
        pub in initiator: Bit("of two requests that cross, this end's goes on"),
        pub in message_in: Bits(MESSAGE_WIDTH, "message from the other end"),
        pub in queue_nonempty: Bit(queue),
        pub in transmitting: Bit("a packet is leaving over the link"),
        pub in active: Bit(active),
        pub in awake: Bit("the link is awake"),
        pub in asleep: Bit("the link sleeps or is on the way down"),
        pub in may_go_down: Bit("the link is in a state with a way down"),
        pub in wants_down: Bit("this end would like to go down"),
        pub in overdue: Bit("it has wanted that before, and nothing has happened since"),
        pub in permitted: Bit("the guard permits to go down"),
        pub in link_up: Bit("there is a link; without it nothing is said") if controlled,
        pub in clear_error: Bit("the error is forgotten") if controlled,
        pub in timeout_last: Bits(width, "longest wait for a message, less one") if adjusts,
        pub flat upsets: UpsetPins(COPY_CODE) if plan.triple_redundancy,
        pub out down_start: Bit("go down at the end of this cycle"),
        pub out up_start: Bit("go up at the end of this cycle"),
        pub out tx_enable: Bit("the port may start a packet"),
        pub out message_out: Bits(MESSAGE_WIDTH, "message to the other end"),
        pub out sync_error: Bit("the other end once did not answer in time"),
        pub out fails: Bit("it has not, in this cycle"),
        pub out requested: Bit("this end's request to go down is under way") if counted,
        pub out nacked: Bit("the other end refuses it") if counted,
        pub out withdraws: Bit("this end takes it back, because of activity") if counted,
        pub out crosses: Bit("a request of the other end comes while this end's waits") if counted,
        local asking: Bit("a request of this end waits for its answer"),
        choice counted(counted), // registers count what happens
        voter copies("the registers, in three copies") if plan.triple_redundancy,
        choice votes(plan.triple_redundancy), // they are kept in three copies
        pub reg state: Exchange(Exchange::Start, "where the exchange stands"),
        pub reg count: Bits(
            width, 0, "clock cycles in this state; SYNC_*: still to wait; IDLE: overdue"
        ),
        reg cancelled: Bit(false, "there was activity after REQ_DOWN"),
        pub reg rise: Bit(false, "agreed to go up as soon as the transition down is over"),
        pub reg unheard: Bit(true, "the other end did not answer the last time"),
        reg message: Bits(MESSAGE_WIDTH, 0, "message to the other end, for one cycle"),
        reg error: Bit(false, "the other end once did not answer in time"),
        choice controlled(controlled), // there are control pins
        local is_req_down: Bit("REQ_DOWN arrives"),
        local is_req_up: Bit("REQ_UP arrives"),
        local is_ack: Bit("ACK arrives"),
        local is_nack: Bit("NACK arrives"),
        local is_sync: Bit("SYNC arrives"),
        local wants_up: Bit("a packet waits on a link that is going to stay asleep"),
        local refuses: Bit("this end does not accept a REQ_DOWN"),
        local timed_out: Bit("the wait for a message ends with this cycle"),
        local asks_down: Bit("time to ask to go down, or to ask again"),
        local gives_up: Bit("the wait ends, and the message has not come"),
        local stays_unheard: Bit("no answer has come since reset"),
        local up_now: Bit("the agreed time of the start up, or no more waiting for it"),
        local half: Bits(width, "half a round trip"),
        constant none: code(0, "no message"),
        constant req_down: code(1, "asks to go down"),
        constant req_up: code(2, "asks to go up"),
        constant ack: code(3, "accepts"),
        constant nack: code(4, "refuses; from the end that asked: withdraws"),
        constant sync: code(5, "start now; the sender starts in half a round trip"),
        choice adjusts(adjusts), // the time-out is set at run time
        constant timeout: Bits(width, sync.timeout.into(), "longest wait for a message"),
        constant start_last: Bits(
            width,
            u128::from(start) - 1,
            "last cycle of START: by now the other end has answered and is awake",
        ),
        constant one: Bits(width, 1, "one bit"),
    }
}

pieces! {
    impl Logic for LinkSync {
        Copies,
        Wishes,
        States,
        Faults,
        WayUp,
        Outputs,
    }
}

/// The vote of registers that are kept in three copies.
impl Piece<Copies> for LinkSync {
    #[hdl_gen]
    fn update(&mut self) {
        if self.votes {
            self.copies.d.next = self.upsets.inject_upset.val();
            self.upsets.upset.next = self.copies.q.val().any();
        }
    }
}

/// What the other end says, and what this end wants.
impl Piece<Wishes> for LinkSync {
    #[hdl_gen]
    fn update(&mut self) {
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
        if self.adjusts {
            comment!("It may have become shorter than the wait is by now.");
            self.timed_out.next = self.count.q.val() > self.timeout_last.val();
        } else {
            self.timed_out.next = self.count.q.val() == self.timeout.val();
        }
        comment!("An end that stays idle in an awake link asks again after each time-out.");
        self.asks_down.next = self.wants_down.val() | (self.overdue.val() & self.timed_out.val());
        comment!("The answer came one cycle after the request: count is the round trip and one.");
        self.half.next = self.count.q.val() >> self.one.val();
    }
}

/// The states of an exchange.
impl Piece<States> for LinkSync {
    #[hdl_gen]
    fn update(&mut self) {
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
    }
}

/// Messages that did not come, and a link that is lost.
impl Piece<Faults> for LinkSync {
    #[hdl_gen]
    fn update(&mut self) {
        if self.gives_up.val() {
            self.state.d.next = Exchange::Idle;
            self.up_now.next = true;
            self.unheard.d.next = true;
        }
        self.fails.next = self.gives_up.val() | self.stays_unheard.val();
        if self.controlled {
            if !self.link_up.val() {
                comment!(
                    "What was agreed is void. With the link this end begins as after a reset."
                );
                self.state.d.next = Exchange::Start;
                self.count.d.next = 0.into();
                self.message.d.next = self.none.val();
                self.unheard.d.next = true;
                self.down_start.next = false;
                self.fails.next = false;
            }
            if self.clear_error.val() {
                self.error.d.next = false;
            }
        }
        if self.fails.val() {
            self.error.d.next = true;
        }
    }
}

/// The way up, which begins when a transition down is over.
impl Piece<WayUp> for LinkSync {
    #[hdl_gen]
    fn update(&mut self) {
        if (self.state.d.val() == Exchange::Idle) & !(self.state.q.val() == Exchange::Idle) {
            self.count.d.next = 0.into();
        }
        comment!("A transition down is never cut short: the way up waits for its end.");
        self.rise.d.next = self.asleep.val() & (self.rise.q.val() | self.up_now.val());
        self.up_start.next = self.rise.q.val() | self.up_now.val();
        if self.controlled {
            if !self.link_up.val() {
                self.rise.d.next = false;
            }
        }
    }
}

/// What the port is told, and what the counters count.
impl Piece<Outputs> for LinkSync {
    #[hdl_gen]
    fn update(&mut self) {
        comment!(
            "No data once SYNC for going down has been sent, or an answer to it has been promised."
        );
        self.tx_enable.next = self.awake.val()
            & !(self.state.q.val() == Exchange::Start)
            & !(self.state.q.val() == Exchange::SyncDown)
            & !(self.state.q.val() == Exchange::AwaitDown);
        self.message_out.next = self.message.q.val();
        self.sync_error.next = self.error.q.val();

        if self.counted {
            self.requested.next = self.message.q.val() == self.req_down.val();
            if self.controlled {
                self.asking.next = self.link_up.val()
                    & ((self.state.q.val() == Exchange::AskDown)
                        | (self.state.q.val() == Exchange::AskUp));
            } else {
                self.asking.next = (self.state.q.val() == Exchange::AskDown)
                    | (self.state.q.val() == Exchange::AskUp);
            }
            self.nacked.next =
                self.asking.val() & (self.state.q.val() == Exchange::AskDown) & self.is_nack.val();
            self.withdraws.next = self.asking.val()
                & (self.state.q.val() == Exchange::AskDown)
                & self.is_ack.val()
                & (self.active.val() | self.cancelled.q.val());
            self.crosses.next = self.asking.val() & (self.is_req_down.val() | self.is_req_up.val());
        }
    }
}
