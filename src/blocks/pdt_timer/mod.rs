//! The power-down timer (SPEC 3).

pub mod golden;
#[cfg(test)]
mod tests;

use crate::config::plan::PortPlan;
use crate::hdl::prelude::*;

block! {
    /// Decides when an idle port powers down (SPEC 3, PerfBound 2.4, 3.1): after `t_pdt` whole
    /// ticks without activity if this port was the last transmitter or has not been active since
    /// reset, after the backstop if it was not and its threshold is not longer. It counts nothing
    /// itself; the idle meter's count is the timer.
    pub struct PdtTimer(clk, rst);

    /// The power-down timer of `plan`.
    pub fn new(plan: &PortPlan) {
        let width = plan.time_width;
        // A direction that sleeps for itself has one transmitter, which needs no backstop.
        let alone = plan.per_direction();
        let adjustable = plan.registers.is_some() && !alone;
    }

    about(
        "pdt_timer",
        "Power-down timer. It expires at the end of the cycle that completes tick\n\
         t_pdt + 1 of an idle period, so that activity in the very tick in which it\n\
         would expire wins: a period is a miss iff it is longer than t_pdt. An idle port\n\
         is always armed; one that did not transmit last waits for the backstop, too,\n\
         because the other end normally asks first.",
    )

    {
        pub in active: Bit("the port is active in this cycle"),
        pub in transmitting: Bit("the port transmits in this cycle") if !alone,
        pub in tick: Bit("this idle cycle completes a tick"),
        pub in ticks: Bits(width, "whole ticks idle before this cycle"),
        pub in t_pdt: Bits(width, "latest threshold, in ticks"),
        pub in backstops: Bit(
            "a port that did not transmit last powers down by itself"
        ) if adjustable,
        pub in t_backstop: Bits(
            width, "the backstop, in ticks; it changes in active cycles alone"
        ) if adjustable,
        pub out t_pdt_in_force: Bits(width, "threshold of this idle period, or the next"),
        pub out expired: Bit("the timer expires at the end of this cycle"),
        pub out overdue: Bit("it expired earlier in this idle period"),
        pub out sent_last: Bit("this port transmitted last, or never was active") if adjustable,
        pub reg in_force: Bits(
            width, plan.t_pdt_init.into(), "threshold that stood when the idle period began"
        ),
        pub reg last_sender: Bit(
            true, "this port transmitted last, or never was active"
        ) if !alone,
        pub reg passed: Bit(false, "this idle period is longer than the threshold"),
        pub reg backstop_passed: Bit(
            false, "this idle period is longer than the backstop"
        ) if !alone,
        local at_threshold: Bit("this cycle makes it longer than the threshold"),
        local at_backstop: Bit("this cycle makes it longer than the backstop"),
        local by_now: Bit("it is longer than the backstop at the end of this cycle"),
        choice alone(alone), // nobody else transmits
        choice adjustable(adjustable), // software sets the backstop
        // A port that did not transmit last powers down by itself.
        choice has_backstop(!alone && (plan.t_backstop.is_some() || adjustable)),
        constant backstop: Bits(
            width, plan.t_backstop.unwrap_or(0).into(), "port.t_backstop_ns, in ticks"
        ),
        property t_pdt_kept("While the port is idle, the threshold in force does not change."),
        reg was_idle: Bit(false, "the port was idle the cycle before"),
        reg in_force_then: Bits(
            width, plan.t_pdt_init.into(), "threshold that was in force the cycle before"
        ),
    }
}

impl Logic for PdtTimer {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("An update that completes while the port is idle governs the next period.");
        if self.active.val() {
            self.in_force.d.next = self.t_pdt.val();
            if !self.alone {
                self.last_sender.d.next = self.transmitting.val();
            }
        }
        self.t_pdt_in_force.next = self.in_force.q.val();
        if self.adjustable {
            self.sent_last.next = self.last_sender.q.val();
        }

        self.at_threshold.next = self.tick.val() & (self.ticks.val() == self.in_force.q.val());
        if self.active.val() {
            self.passed.d.next = false;
        } else if self.at_threshold.val() {
            self.passed.d.next = true;
        }
        if self.has_backstop {
            if self.adjustable {
                self.at_backstop.next = self.tick.val()
                    & (self.ticks.val() == self.t_backstop.val())
                    & self.backstops.val();
            } else {
                self.at_backstop.next = self.tick.val() & (self.ticks.val() == self.backstop.val());
            }
            self.by_now.next = self.backstop_passed.q.val() | self.at_backstop.val();
            self.backstop_passed.d.next = !self.active.val() & self.by_now.val();
            comment!("Of the threshold and the backstop the longer one counts.");
            if self.last_sender.q.val() {
                self.expired.next = self.at_threshold.val();
                self.overdue.next = self.passed.q.val();
            } else {
                self.expired.next = (self.at_threshold.val() & self.by_now.val())
                    | (self.at_backstop.val() & self.passed.q.val());
                self.overdue.next = self.passed.q.val() & self.backstop_passed.q.val();
            }
        } else if self.alone {
            self.expired.next = self.at_threshold.val();
            self.overdue.next = self.passed.q.val();
        } else {
            comment!("A port that only received leaves the decision to the other end.");
            self.expired.next = self.at_threshold.val() & self.last_sender.q.val();
            self.overdue.next = self.passed.q.val() & self.last_sender.q.val();
        }

        self.was_idle.d.next = !self.active.val();
        self.in_force_then.d.next = self.in_force.q.val();
        self.t_pdt_kept.d.next =
            !self.was_idle.q.val() | (self.in_force.q.val() == self.in_force_then.q.val());
    }
}
