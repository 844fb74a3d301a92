//! The guard (SPEC 12): the bound on delayed packets as a theorem.

pub mod golden;
#[cfg(test)]
mod tests;

use crate::config::plan::{GuardPlan, PortPlan};
use crate::hdl::prelude::*;

bundle! {
    /// What software sets of the guard: the pins of what keeps it.
    pub struct GuardParameters flips
    /// The pins of what takes it.
    GuardPins;

    /// With a bucket of so many bits.
    pub fn new(tokens: u32) {}

    {
        pub out off: Bit("the guard permits every sleep"),
        pub out burst: Bits(tokens, "tokens in a full bucket of the guard"),
    }
}

/// Bits of the number of tokens in the guard's bucket.
pub fn token_bits(plan: &PortPlan) -> u32 {
    plan.guard
        .map_or(1, |guard| clog2(u128::from(guard.burst) + 1))
}

block! {
    /// A token bucket: one token for each time asleep that a packet of this end has to wait for,
    /// and no sleep without a token (SPEC 12). PerfBound predicts (PerfBound 2.4); this keeps its
    /// bound when it predicts badly, and does so for every policy.
    pub struct Guard(clk, rst);

    /// The guard of `plan` with these constants.
    pub fn new(plan: &PortPlan, guard: &GuardPlan) {
        let tokens = token_bits(plan);
        // A part, and what a tick adds to it.
        let part = clog2(guard.denominator) + 1;
        let prescaler = clog2(plan.clocks_per_tick.into());
        let fraction = format!("/ {}", guard.denominator);
        let set = plan.registers.is_some();
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
        pub flat set_by: GuardPins(tokens) if set,
        pub out permits: Bit("the link may go to sleep"),
        pub out tokens_now: Bits(tokens, "whole tokens, for software") if set,
        pub reg tokens: Bits(tokens, guard.burst.into(), "whole tokens"),
        pub reg part: Bits(part, 0, format!("and part of a token, {fraction}")),
        pub reg charged: Bit(false, "this time asleep has taken its token"),
        pub reg prescaler: Bits(prescaler, 0, "clock cycles into the present tick"),
        local tick: Bit("this cycle completes a tick"),
        local takes: Bit("a packet finds the link asleep, or on its way"),
        local refilled: Bits(part, "the part after a tick"),
        local carries: Bit("it makes a whole token"),
        local gain: Bits(part, "what a tick refills"),
        choice set(set), // software reads the tokens, and sets the size of the bucket
        alias held: Bits(),
        alias held_part: Bits(),
        alias size: Bits(),
        alias size_less_one: Bits(),
        local fitting: Bits(tokens, "whole tokens that fit into the bucket"),
        local fitting_part: Bits(part, "and the part"),
        local one_less: Bits(tokens, "one token less than fit"),
        choice divides(plan.clocks_per_tick > 1), // a tick is longer than a clock
        constant last_clock: Bits(
            prescaler, u128::from(plan.clocks_per_tick) - 1, "last clock cycle of a tick"
        ),
        choice adjustable(guard.adjustable), // the rate changes at run time
        constant fixed_gain: Bits(
            part,
            if guard.adjustable { 0 } else { guard.numerator },
            match set {
                true => format!("l / t_w, of the longest t_w that software can set, {fraction}"),
                false => format!("l / t_w in packets per tick, {fraction}"),
            },
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

        if self.set {
            comment!("A bucket that became smaller loses what it no longer holds.");
            self.fitting.next = self.tokens.q.val();
            self.fitting_part.next = self.part.q.val();
            if self.set_by.off.val() | (self.tokens.q.val() >= self.set_by.burst.val()) {
                self.fitting.next = self.set_by.burst.val();
                self.fitting_part.next = 0.into();
            }
            self.one_less.next = self.set_by.burst.val() - 1;
            self.held.next = self.fitting.val();
            self.held_part.next = self.fitting_part.val();
            self.size.next = self.set_by.burst.val();
            self.size_less_one.next = self.one_less.val();
            self.tokens.d.next = self.fitting.val();
            self.part.d.next = self.fitting_part.val();
        } else {
            self.held.next = self.tokens.q.val();
            self.held_part.next = self.part.q.val();
            self.size.next = self.full.val();
            self.size_less_one.next = self.last_but_one.val();
        }

        comment!("Also a packet that meets the way up which the other end asked for waits for it.");
        if self.set {
            self.takes.next = !self.awake.val()
                & self.queue_nonempty.val()
                & !self.charged.q.val()
                & !self.set_by.off.val();
        } else {
            self.takes.next = !self.awake.val() & self.queue_nonempty.val() & !self.charged.q.val();
        }
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
        self.refilled.next = self.held_part.val() + self.gain.val();
        self.carries.next = self.tick.val()
            & !(self.held.val() == self.size.val())
            & (self.refilled.val() >= self.token.val());
        if self.tick.val() {
            if (self.held.val() == self.size.val())
                | (self.carries.val() & (self.held.val() == self.size_less_one.val()))
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
            self.tokens.d.next = self.held.val() + 1;
        } else if self.takes.val() & !self.carries.val() {
            self.tokens.d.next = self.held.val() - 1;
        }
        self.permits.next = !(self.held.val() == 0);
        if self.set {
            self.tokens_now.next = self.fitting.val();
        }
    }
}
