//! The power-down timer (SPEC 3).

pub mod golden;
#[cfg(test)]
mod tests;

use crate::config::plan::PortPlan;
use crate::hdl::prelude::*;

/// Decides when an idle port powers down (SPEC 3, p000 2.4, 3.1): after `t_pdt` whole ticks
/// without activity if this port was the last transmitter or has not been active since reset,
/// after the backstop if it was not and its threshold is not longer. It counts nothing itself;
/// the idle meter's count is the timer.
#[derive(LogicBlock)]
pub struct PdtTimer {
    about: About,
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub active: Signal<In, Bit>,
    pub transmitting: Signal<In, Bit>,
    pub tick: Signal<In, Bit>,
    pub ticks: Signal<In, Bits>,
    pub t_pdt: Signal<In, Bits>,
    pub backstops: Optional<Signal<In, Bit>>,
    pub t_backstop: Optional<Signal<In, Bits>>,
    pub t_pdt_in_force: Signal<Out, Bits>,
    pub expired: Signal<Out, Bit>,
    pub overdue: Signal<Out, Bit>,
    pub in_force: Reg<Bits>,
    pub last_sender: Reg<Bit>,
    pub passed: Reg<Bit>,
    pub backstop_passed: Reg<Bit>,
    at_threshold: Signal<Local, Bit>,
    at_backstop: Signal<Local, Bit>,
    by_now: Signal<Local, Bit>,
    adjustable: Constant<Bit>,
    has_backstop: Constant<Bit>,
    backstop: Constant<Bits>,
}

impl PdtTimer {
    /// The power-down timer of `plan`.
    pub fn new(plan: &PortPlan) -> Self {
        let width = plan.time_width;
        let adjustable = plan.registers.is_some();
        PdtTimer {
            about: About::new(
                "pdt_timer",
                "Power-down timer. It expires at the end of the cycle that completes tick\n\
                 t_pdt + 1 of an idle period, so that activity in the very tick in which it\n\
                 would expire wins: a period is a miss iff it is longer than t_pdt. An idle port\n\
                 is always armed; one that did not transmit last waits for the backstop, too,\n\
                 because the other end normally asks first.",
            ),
            clk: Signal::clock("clock"),
            rst: Signal::bit("synchronous reset"),
            active: Signal::bit("the port is active in this cycle"),
            transmitting: Signal::bit("the port transmits in this cycle"),
            tick: Signal::bit("this idle cycle completes a tick"),
            ticks: Signal::bits(width, "whole ticks idle before this cycle"),
            t_pdt: Signal::bits(width, "latest threshold, in ticks"),
            backstops: Optional::when(
                adjustable,
                Signal::bit("a port that did not transmit last powers down by itself"),
            ),
            t_backstop: Optional::when(
                adjustable,
                Signal::bits(
                    width,
                    "the backstop, in ticks; it changes in active cycles alone",
                ),
            ),
            t_pdt_in_force: Signal::bits(width, "threshold of this idle period, or the next"),
            expired: Signal::bit("the timer expires at the end of this cycle"),
            overdue: Signal::bit("it expired earlier in this idle period"),
            in_force: Reg::bits(
                width,
                plan.t_pdt_init.into(),
                "threshold that stood when the idle period began",
            ),
            last_sender: Reg::bit(true, "this port transmitted last, or never was active"),
            passed: Reg::bit(false, "this idle period is longer than the threshold"),
            backstop_passed: Reg::bit(false, "this idle period is longer than the backstop"),
            at_threshold: Signal::bit("this cycle makes it longer than the threshold"),
            at_backstop: Signal::bit("this cycle makes it longer than the backstop"),
            by_now: Signal::bit("it is longer than the backstop at the end of this cycle"),
            adjustable: Constant::bit(adjustable, "software sets the backstop"),
            has_backstop: Constant::bit(
                plan.t_backstop.is_some() || adjustable,
                "a port that did not transmit last powers down by itself",
            ),
            backstop: Constant::bits(
                width,
                plan.t_backstop.unwrap_or(0).into(),
                "port.t_backstop_ns, in ticks",
            ),
        }
    }
}

impl Logic for PdtTimer {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, in_force, last_sender, passed, backstop_passed);

        comment!("An update that completes while the port is idle governs the next period.");
        if self.active.val() {
            self.in_force.d.next = self.t_pdt.val();
            self.last_sender.d.next = self.transmitting.val();
        }
        self.t_pdt_in_force.next = self.in_force.q.val();

        self.at_threshold.next = self.tick.val() & (self.ticks.val() == self.in_force.q.val());
        if self.active.val() {
            self.passed.d.next = false;
        } else if self.at_threshold.val() {
            self.passed.d.next = true;
        }
        if self.has_backstop.val() {
            if self.adjustable.val() {
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
        } else {
            comment!("A port that only received leaves the decision to the other end.");
            self.expired.next = self.at_threshold.val() & self.last_sender.q.val();
            self.overdue.next = self.passed.q.val() & self.last_sender.q.val();
        }
    }
}
