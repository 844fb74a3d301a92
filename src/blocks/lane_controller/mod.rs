//! The lane controller: a link that is idle keeps some of its lanes, and sends by them (Zahn II.A).

pub mod golden;
#[cfg(test)]
mod tests;

use crate::config::plan::LanePlan;
use crate::hdl::prelude::*;

states! {
    /// What a port does with the lanes of its link (Zahn II.A).
    pub enum Lanes {
        All = "all lanes are on",
        Fewer = "all but the low lanes are being turned off, full power",
        Low = "the low lanes alone are on",
        More = "all lanes are being turned on, full power",
    }
}

block! {
    /// Turns most lanes of a link off while it is idle, and on again when so much waits that it is
    /// quicker to wait for all of them than to send by the few (Zahn II.A, III.B).
    pub struct LaneController(clk, rst);

    /// The controller of `plan`.
    pub fn new(plan: &LanePlan) {
        let longest = plan.t_down.max(plan.t_narrow).max(plan.t_widen);
        let width = clog2(longest.into());
        let backlog = clog2(u128::from(plan.most_backlog) + 1);
        let lanes = plan.lanes;
        let all = u128::MAX >> (128 - lanes);
        let low = u128::MAX >> (128 - plan.low);
        let last = |cycles: u64, doc: &str| {
            Constant::bits(width, u128::from(cycles) - 1, format!("{doc}: clock cycles less one"))
        };
        let longest_wait = plan.wait_bound();
        let wait = clog2(u128::from(longest_wait) + 2);
    }

    about(
        "lane_controller",
        format!(
            "A link of {lanes} lanes that has been idle for a time has only {} of them on. Packets go by\n\
             what is on, until more than {} bytes wait: then it is quicker to turn all lanes on\n\
             first. While lanes are turned on or off nothing is sent.",
            plan.low, plan.level
        ),
    )

    {
        pub in queue_nonempty: Bit("a packet waits to be sent, or is being sent"),
        pub in transmitting: Bit("a packet is being sent"),
        pub in backlog: Bits(backlog, "bytes that wait to be sent, without the packet being sent"),
        pub out tx_enable: Bit("a packet may start"),
        pub out low: Bit("the low lanes alone are on: packets take longer"),
        pub out lanes_on: Bits(lanes, "the lanes that have power"),
        pub reg state: Lanes(Lanes::All, "what the lanes do"),
        pub reg cycles: Bits(width, u128::from(plan.t_down) - 1, "clock cycles left, less one"),
        local active: Bit("the port is active"),
        local over: Bit("it has lasted its time"),
        local is_long: Bit("it is quicker to wait for all lanes"),
        constant level: Bits(backlog, plan.level.into(), "more bytes go by all lanes"),
        constant all_lanes: Bits(lanes, all, "all lanes"),
        constant low_lanes: Bits(lanes, low, "the low lanes"),
        constant t_down: last(plan.t_down, "idle before lanes are turned off"),
        constant t_narrow: last(plan.t_narrow, "lanes are turned off"),
        constant t_widen: last(plan.t_widen, "lanes are turned on"),
        // For the proofs (docs/evidence/proofs.md).
        local changing: Bit("lanes are being turned on or off"),
        reg obeyed: Bit(true, "no packet has begun where none may"),
        local obeys: Bit("nor does one in this cycle"),
        local is_idle: Bit("no packet waits, and none is being sent"),
        reg sent_then: Bit(false, "a packet was being sent in the cycle before"),
        pub reg idle: Bits(width, 0, "clock cycles for which the port has been idle, up to t_down less one"),
        reg age: Bits(width, 0, "clock cycles for which lanes have been changing"),
        pub reg waiting: Bits(wait, 0, "clock cycles for which a packet has waited for lanes"),
        constant idle_needed: last(plan.t_down, "idle before lanes are turned off, for the claims"),
        constant narrow_needed: last(plan.t_narrow, "lanes are turned off, for the claims"),
        constant widen_needed: last(plan.t_widen, "lanes are turned on, for the claims"),
        constant longest_wait: Bits(wait, longest_wait.into(), "both changes, and the cycle between them"),
        property silent_while_changing(
            "Nothing is sent while lanes are turned on or off, if packets begin only where they may."
        ),
        property down_after_idle("Lanes are turned off only after the port has been idle for t_down."),
        property change_completes("Lanes are turned off and on in exactly their times."),
        property wait_bounded(
            "A packet never waits longer for lanes than both changes take, and a cycle between them."
        ),
        property lanes_kept("The low lanes always have power, and a link at its full rate has all."),
        invariant time_adds_up("The cycles of a change that have passed and those left are its time."),
        invariant idle_counted("The idle cycles that have passed and those left are t_down."),
        invariant wait_explained("What a packet has waited for is a change, and the one before."),
        invariant silence_kept("Where all have obeyed nothing was sent while lanes change."),
    }
}

impl Logic for LaneController {
    #[hdl_gen]
    fn update(&mut self) {
        self.active.next = self.queue_nonempty.val() | self.transmitting.val();
        self.over.next = self.cycles.q.val() == 0;
        self.is_long.next = self.backlog.val() > self.level.val();
        self.low.next = self.state.q.val() == Lanes::Low;
        self.tx_enable.next =
            (self.state.q.val() == Lanes::All) | (self.low.val() & !self.is_long.val());
        self.lanes_on.next = self.all_lanes.val();
        if self.low.val() {
            self.lanes_on.next = self.low_lanes.val();
        }

        if !self.over.val() {
            self.cycles.d.next = self.cycles.q.val() - 1;
        }
        match self.state.q.val() {
            Lanes::All => {
                if self.active.val() {
                    self.cycles.d.next = self.t_down.val();
                } else if self.over.val() {
                    self.state.d.next = Lanes::Fewer;
                    self.cycles.d.next = self.t_narrow.val();
                }
            }
            Lanes::Fewer => {
                if self.over.val() {
                    self.state.d.next = Lanes::Low;
                }
            }
            Lanes::Low => {
                if self.is_long.val() & !self.transmitting.val() {
                    self.state.d.next = Lanes::More;
                    self.cycles.d.next = self.t_widen.val();
                }
            }
            Lanes::More => {
                if self.over.val() {
                    self.state.d.next = Lanes::All;
                    self.cycles.d.next = self.t_down.val();
                }
            }
            _ => {
                comment!("No such state: lanes may be off.");
                self.state.d.next = Lanes::More;
                self.cycles.d.next = self.t_widen.val();
            }
        }

        self.changing.next =
            (self.state.q.val() == Lanes::Fewer) | (self.state.q.val() == Lanes::More);
        self.obeys.next = self.obeyed.q.val()
            & (!self.transmitting.val() | self.sent_then.q.val() | self.tx_enable.val());
        self.obeyed.d.next = self.obeys.val();
        self.sent_then.d.next = self.transmitting.val();
        self.is_idle.next = !self.queue_nonempty.val() & !self.transmitting.val();
        self.idle.d.next = 0.into();
        if (self.state.q.val() == Lanes::All) & self.is_idle.val() {
            self.idle.d.next = self.idle.q.val();
            if self.idle.q.val() < self.idle_needed.val() {
                self.idle.d.next = self.idle.q.val() + 1;
            }
        }
        self.age.d.next = 0.into();
        if self.changing.val() & !self.over.val() {
            self.age.d.next = self.age.q.val() + 1;
        }
        self.waiting.d.next = 0.into();
        if self.queue_nonempty.val() & !self.transmitting.val() & !self.tx_enable.val() {
            self.waiting.d.next = self.waiting.q.val() + 1;
        }
        self.silent_while_changing.d.next =
            !(self.changing.val() & self.transmitting.val() & self.obeys.val());
        self.silence_kept.d.next =
            !(self.changing.val() & self.sent_then.q.val() & self.obeyed.q.val());
        self.down_after_idle.d.next = !((self.state.q.val() == Lanes::All)
            & (self.state.d.val() == Lanes::Fewer))
            | (self.is_idle.val() & (self.idle.q.val() == self.idle_needed.val()));
        self.lanes_kept.d.next = ((self.lanes_on.val() & self.low_lanes.val())
            == self.low_lanes.val())
            & ((self.state.q.val() == Lanes::Low) | (self.lanes_on.val() == self.all_lanes.val()));
        match self.state.q.val() {
            Lanes::All => {
                self.idle_counted.d.next = (self.cycles.q.val()
                    == (self.idle_needed.val() - self.idle.q.val()))
                    & (self.idle.q.val() <= self.idle_needed.val());
                self.wait_explained.d.next = self.waiting.q.val() <= self.longest_wait.val();
            }
            Lanes::Fewer => {
                self.time_adds_up.d.next = (self.cycles.q.val()
                    == (self.narrow_needed.val() - self.age.q.val()))
                    & (self.age.q.val() <= self.narrow_needed.val());
                self.change_completes.d.next = (self.state.d.val() == Lanes::Fewer)
                    | ((self.state.d.val() == Lanes::Low)
                        & (self.age.q.val() == self.narrow_needed.val()));
                self.wait_explained.d.next =
                    self.waiting.q.val() <= bit_cast(self.age.q.val(), &self.waiting);
            }
            Lanes::Low => {
                self.wait_explained.d.next =
                    self.waiting.q.val() <= (bit_cast(self.narrow_needed.val(), &self.waiting) + 1);
                self.change_completes.d.next =
                    (self.state.d.val() == Lanes::Low) | (self.state.d.val() == Lanes::More);
            }
            Lanes::More => {
                self.time_adds_up.d.next = (self.cycles.q.val()
                    == (self.widen_needed.val() - self.age.q.val()))
                    & (self.age.q.val() <= self.widen_needed.val());
                self.change_completes.d.next = (self.state.d.val() == Lanes::More)
                    | ((self.state.d.val() == Lanes::All)
                        & (self.age.q.val() == self.widen_needed.val()));
                self.wait_explained.d.next = self.waiting.q.val()
                    <= (bit_cast(self.narrow_needed.val(), &self.waiting)
                        + 2
                        + bit_cast(self.age.q.val(), &self.waiting));
            }
            _ => {
                self.change_completes.d.next = false;
            }
        }
        self.wait_bounded.d.next = self.waiting.q.val() <= self.longest_wait.val();
    }
}
