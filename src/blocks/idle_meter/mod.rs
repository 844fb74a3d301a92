//! The idle meter: length of idle periods (SPEC 2).

pub mod golden;
#[cfg(test)]
mod tests;

use crate::config::plan::PortPlan;
use crate::hdl::prelude::*;

/// Measures how long the port has been idle, in whole ticks, and says when an idle period
/// ends (SPEC 2). The count serves the power-down timer as well.
#[derive(LogicBlock)]
pub struct IdleMeter {
    about: About,
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub active: Signal<In, Bit>,
    pub ended: Signal<Out, Bit>,
    pub tick: Signal<Out, Bit>,
    pub ticks: Signal<Out, Bits>,
    pub saturated: Signal<Out, Bit>,
    seen_active: Reg<Bit>,
    in_period: Reg<Bit>,
    pub prescaler: Reg<Bits>,
    pub count: Reg<Bits>,
    divides: Constant<Bit>,
    last_clock: Constant<Bits>,
}

impl IdleMeter {
    /// The idle meter of `plan`.
    pub fn new(plan: &PortPlan) -> Self {
        let width = plan.time_width;
        let prescaler_width = clog2(plan.clocks_per_tick.into());
        IdleMeter {
            about: About::new(
                "idle_meter",
                "Measures idle periods. A period begins in the first idle cycle after an\n\
                 active one and ends in the first active cycle; its length is the number of\n\
                 whole ticks it lasted. What comes before the first activity is no period.",
            ),
            clk: Signal::clock("clock"),
            rst: Signal::bit("synchronous reset"),
            active: Signal::bit("the port is active in this cycle"),
            ended: Signal::bit("an idle period ends in this cycle: its length is ticks"),
            tick: Signal::bit("this idle cycle completes a tick"),
            ticks: Signal::bits(width, "whole ticks idle before this cycle"),
            saturated: Signal::bit("ticks is at its largest value"),
            seen_active: Reg::bit(false, "there has been activity since reset"),
            in_period: Reg::bit(false, "the cycle before was part of an idle period"),
            prescaler: Reg::bits(prescaler_width, 0, "clock cycles into the present tick"),
            count: Reg::bits(width, 0, "whole ticks idle, saturating"),
            divides: Constant::bit(plan.clocks_per_tick > 1, "a tick is longer than a clock"),
            last_clock: Constant::bits(
                prescaler_width,
                u128::from(plan.clocks_per_tick) - 1,
                "last clock cycle of a tick",
            ),
        }
    }
}

impl Logic for IdleMeter {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, seen_active, in_period, prescaler, count);

        if self.active.val() {
            self.seen_active.d.next = true;
        }
        self.in_period.d.next = !self.active.val() & self.seen_active.q.val();
        self.ended.next = self.active.val() & self.in_period.q.val();

        comment!("The prescaler starts anew with every idle period, so ticks are whole.");
        if self.divides.val() {
            self.tick.next = !self.active.val() & (self.prescaler.q.val() == self.last_clock.val());
            if self.active.val() | self.tick.val() {
                self.prescaler.d.next = 0.into();
            } else {
                self.prescaler.d.next = self.prescaler.q.val() + 1;
            }
        } else {
            self.tick.next = !self.active.val();
        }

        self.saturated.next = self.count.q.val().all();
        if self.active.val() {
            self.count.d.next = 0.into();
        } else if self.tick.val() & !self.saturated.val() {
            self.count.d.next = self.count.q.val() + 1;
        }
        self.ticks.next = self.count.q.val();
    }
}
