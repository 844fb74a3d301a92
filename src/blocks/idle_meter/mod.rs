//! The idle meter: length of idle periods (SPEC 2).

pub mod golden;
#[cfg(test)]
mod tests;

use crate::config::plan::PortPlan;
use crate::hdl::prelude::*;

block! {
    /// Measures how long the port has been idle, in whole ticks, and says when an idle period
    /// ends (SPEC 2). The count serves the power-down timer as well.
    pub struct IdleMeter(clk, rst);

    /// The idle meter of `plan`.
    pub fn new(plan: &PortPlan) {
        let width = plan.time_width;
        let prescaler_width = clog2(plan.clocks_per_tick.into());
    }

    about(
        "idle_meter",
        "Measures idle periods. A period begins in the first idle cycle after an\n\
         active one and ends in the first active cycle; its length is the number of\n\
         whole ticks it lasted. What comes before the first activity is no period.",
    )

    {
        pub in active: Bit("the port is active in this cycle"),
        pub in link_up: Bit("there is a link: activity, and an idle period that ends, are some") if plan.control_pins,
        pub out ended: Bit("an idle period ends in this cycle: its length is ticks"),
        pub out tick: Bit("this idle cycle completes a tick"),
        pub out ticks: Bits(width, "whole ticks idle before this cycle"),
        pub out saturated: Bit("ticks is at its largest value"),
        reg seen_active: Bit(false, "there has been activity since reset"),
        pub reg in_period: Bit(false, "the cycle before was part of an idle period"),
        pub reg prescaler: Bits(prescaler_width, 0, "clock cycles into the present tick"),
        pub reg count: Bits(width, 0, "whole ticks idle, saturating"),
        choice controlled(plan.control_pins), // the PHY says whether there is a link
        choice divides(plan.clocks_per_tick > 1), // a tick is longer than a clock
        constant last_clock: Bits(
            prescaler_width, u128::from(plan.clocks_per_tick) - 1, "last clock cycle of a tick"
        ),
        // For the proofs (docs/evidence/proofs.md).
        choice predicts(plan.predicts()), // idle periods are samples
        invariant samples_apart(
            "Two idle periods end two cycles apart at least."
        ) if plan.predicts(),
        reg ended_before: Bit(
            false, "an idle period ended the cycle before"
        ) if plan.predicts(),
    }
}

impl Logic for IdleMeter {
    #[hdl_gen]
    fn update(&mut self) {
        if self.controlled {
            comment!("A port without a link counts as active, which is no activity.");
            if self.active.val() & self.link_up.val() {
                self.seen_active.d.next = true;
            }
        } else {
            if self.active.val() {
                self.seen_active.d.next = true;
            }
        }
        self.in_period.d.next = !self.active.val() & self.seen_active.q.val();
        if self.controlled {
            comment!("A period that ends because the link is lost is no sample.");
            self.ended.next = self.active.val() & self.in_period.q.val() & self.link_up.val();
        } else {
            self.ended.next = self.active.val() & self.in_period.q.val();
        }

        comment!("The prescaler starts anew with every idle period, so ticks are whole.");
        if self.divides {
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

        if self.predicts {
            self.ended_before.d.next = self.ended.val();
            self.samples_apart.d.next = !(self.ended_before.q.val() & self.in_period.q.val());
        }
    }
}
