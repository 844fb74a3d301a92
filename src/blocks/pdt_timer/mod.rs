//! The power-down timer (SPEC 3).

pub mod golden;
#[cfg(test)]
mod tests;

use crate::config::plan::PortPlan;
use crate::hdl::prelude::*;

/// Decides when an idle port powers down (SPEC 3, p000 2.4): after `t_pdt` whole ticks
/// without activity, if this port was the last transmitter. It counts nothing itself; the
/// idle meter's count is the timer.
#[derive(LogicBlock)]
pub struct PdtTimer {
    about: About,
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub active: Signal<In, Bit>,
    pub transmitting: Signal<In, Bit>,
    pub tick: Signal<In, Bit>,
    pub ticks: Signal<In, Bits>,
    pub saturated: Signal<In, Bit>,
    pub t_pdt: Signal<In, Bits>,
    pub t_pdt_in_force: Signal<Out, Bits>,
    pub expired: Signal<Out, Bit>,
    in_force: Reg<Bits>,
    armed: Reg<Bit>,
}

impl PdtTimer {
    /// The power-down timer of `plan`.
    pub fn new(plan: &PortPlan) -> Self {
        let width = plan.time_width;
        PdtTimer {
            about: About::new(
                "pdt_timer",
                "Power-down timer. It expires at the end of the cycle that completes tick\n\
                 t_pdt + 1 of an idle period, so that activity in the very tick in which it\n\
                 would expire wins: a period is a miss iff it is longer than t_pdt.",
            ),
            clk: Signal::clock("clock"),
            rst: Signal::bit("synchronous reset"),
            active: Signal::bit("the port is active in this cycle"),
            transmitting: Signal::bit("the port transmits in this cycle"),
            tick: Signal::bit("this idle cycle completes a tick"),
            ticks: Signal::bits(width, "whole ticks idle before this cycle"),
            saturated: Signal::bit("ticks is at its largest value"),
            t_pdt: Signal::bits(width, "latest threshold, in ticks"),
            t_pdt_in_force: Signal::bits(width, "threshold of this idle period, or the next"),
            expired: Signal::bit("the timer expires at the end of this cycle"),
            in_force: Reg::bits(
                width,
                plan.t_pdt_init.into(),
                "threshold that stood when the idle period began",
            ),
            armed: Reg::bit(false, "this port was the last transmitter"),
        }
    }
}

impl Logic for PdtTimer {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, in_force, armed);

        comment!("An update that completes while the port is idle governs the next period.");
        if self.active.val() {
            self.in_force.d.next = self.t_pdt.val();
        }
        comment!("A port that only received leaves the decision to the other end.");
        if self.active.val() {
            self.armed.d.next = self.transmitting.val();
        }
        self.t_pdt_in_force.next = self.in_force.q.val();
        comment!("A saturated count can no longer tell whether the period grows longer.");
        self.expired.next = self.armed.q.val()
            & self.tick.val()
            & !self.saturated.val()
            & (self.ticks.val() == self.in_force.q.val());
    }
}
