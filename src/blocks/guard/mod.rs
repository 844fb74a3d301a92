//! The guard (SPEC 12): the bound on delayed packets as a theorem.

pub mod golden;
#[cfg(test)]
mod tests;

use crate::config::plan::{GuardPlan, PortPlan};
use crate::hdl::prelude::*;

block! {
    /// A token bucket: one token for each time asleep that a packet of this end has to wait for,
    /// and no sleep without a token (SPEC 12). PerfBound predicts (PerfBound 2.4); this keeps its
    /// bound when it predicts badly, and does so for every policy.
    pub struct Guard(clk, rst);

    /// The guard of `plan` with these constants.
    pub fn new(plan: &PortPlan, guard: &GuardPlan) {
        let tokens = clog2(u128::from(guard.burst) + 1);
        // A part, and what a tick adds to it.
        let part = clog2(guard.denominator) + 1;
        let prescaler = clog2(plan.clocks_per_tick.into());
        let fraction = format!("/ {}", guard.denominator);
    }

    about(
        "guard",
        "Token bucket that keeps the bound on delayed packets: each time asleep in which\n\
         a packet of this end has to wait for the way up takes one token, a tick refills\n\
         l / t_w of one, and without a token the link is not to go to sleep. So in any T\n\
         ticks packets wait for at most burst + T l / t_w wake-ups.",
    )

    {
        pub in awake: Bit("the link is awake"),
        pub in queue_nonempty: Bit("the output queue holds a packet"),
        pub in rate: Bits(
            guard.rate_bits, format!("what a tick refills, {fraction}")
        ) if guard.adjustable,
        pub out permits: Bit("the link may go to sleep"),
        pub out tokens_now: Bits(tokens, "whole tokens, for software") if plan.registers.is_some(),
        pub reg tokens: Bits(tokens, guard.burst.into(), "whole tokens"),
        pub reg part: Bits(part, 0, format!("and part of a token, {fraction}")),
        pub reg charged: Bit(false, "this time asleep has taken its token"),
        pub reg prescaler: Bits(prescaler, 0, "clock cycles into the present tick"),
        local tick: Bit("this cycle completes a tick"),
        local takes: Bit("a packet finds the link asleep, or on its way"),
        local refilled: Bits(part, "the part after a tick"),
        local carries: Bit("it makes a whole token"),
        local gain: Bits(part, "what a tick refills"),
        choice readable(plan.registers.is_some()), // software reads the tokens
        choice divides(plan.clocks_per_tick > 1), // a tick is longer than a clock
        constant last_clock: Bits(
            prescaler, u128::from(plan.clocks_per_tick) - 1, "last clock cycle of a tick"
        ),
        choice adjustable(guard.adjustable), // the rate changes at run time
        constant fixed_gain: Bits(
            part,
            if guard.adjustable { 0 } else { guard.numerator },
            format!("l / t_w in packets per tick, {fraction}"),
        ),
        constant token: Bits(part, guard.denominator, "one token"),
        constant full: Bits(tokens, guard.burst.into(), "guard.burst"),
        constant last_but_one: Bits(tokens, u128::from(guard.burst) - 1, "one token less"),
        number _wide(part.max(guard.rate_bits)),
    }
}

impl Logic for Guard {
    #[hdl_gen]
    fn update(&mut self) {
        if self.divides {
            self.tick.next = self.prescaler.q.val() == self.last_clock.val();
            if self.tick.val() {
                self.prescaler.d.next = 0.into();
            } else {
                self.prescaler.d.next = self.prescaler.q.val() + 1;
            }
        } else {
            self.tick.next = true;
        }

        comment!("Also a packet that meets the way up which the other end asked for waits for it.");
        self.takes.next = !self.awake.val() & self.queue_nonempty.val() & !self.charged.q.val();
        self.charged.d.next =
            !self.awake.val() & (self.charged.q.val() | self.queue_nonempty.val());

        if self.adjustable {
            comment!("A tick refills one token at most.");
            if bit_cast(self.rate.val(), self._wide) >= bit_cast(self.token.val(), self._wide) {
                self.gain.next = self.token.val();
            } else {
                self.gain.next = bit_cast(self.rate.val(), &self.gain);
            }
        } else {
            self.gain.next = self.fixed_gain.val();
        }
        self.refilled.next = self.part.q.val() + self.gain.val();
        self.carries.next = self.tick.val()
            & !(self.tokens.q.val() == self.full.val())
            & (self.refilled.val() >= self.token.val());
        if self.tick.val() {
            if (self.tokens.q.val() == self.full.val())
                | (self.carries.val() & (self.tokens.q.val() == self.last_but_one.val()))
            {
                comment!("What does not fit into the bucket is lost.");
                self.part.d.next = 0.into();
            } else if self.carries.val() {
                self.part.d.next = self.refilled.val() - self.token.val();
            } else {
                self.part.d.next = self.refilled.val();
            }
        }
        if self.carries.val() & !self.takes.val() {
            self.tokens.d.next = self.tokens.q.val() + 1;
        } else if self.takes.val() & !self.carries.val() {
            self.tokens.d.next = self.tokens.q.val() - 1;
        }
        self.permits.next = !(self.tokens.q.val() == 0);
        if self.readable {
            self.tokens_now.next = self.tokens.q.val();
        }
    }
}
