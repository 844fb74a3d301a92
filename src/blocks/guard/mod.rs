//! The guard (SPEC 12): the bound on delayed packets as a theorem.

pub mod golden;
#[cfg(test)]
mod tests;

use crate::config::plan::{GuardPlan, PortPlan};
use crate::hdl::prelude::*;

/// A token bucket: one token for each time asleep that a packet of this end has to wait for, and
/// no sleep without a token (SPEC 12). PerfBound predicts (p000 2.4); this keeps its bound when
/// it predicts badly, and does so for every policy.
#[derive(LogicBlock)]
pub struct Guard {
    about: About,
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub awake: Signal<In, Bit>,
    pub queue_nonempty: Signal<In, Bit>,
    pub rate: Optional<Signal<In, Bits>>,
    pub permits: Signal<Out, Bit>,
    pub tokens_now: Optional<Signal<Out, Bits>>,
    pub tokens: Reg<Bits>,
    pub part: Reg<Bits>,
    pub charged: Reg<Bit>,
    pub prescaler: Reg<Bits>,
    tick: Signal<Local, Bit>,
    takes: Signal<Local, Bit>,
    refilled: Signal<Local, Bits>,
    carries: Signal<Local, Bit>,
    gain: Signal<Local, Bits>,
    readable: Constant<Bit>,
    divides: Constant<Bit>,
    last_clock: Constant<Bits>,
    adjustable: Constant<Bit>,
    fixed_gain: Constant<Bits>,
    token: Constant<Bits>,
    full: Constant<Bits>,
    last_but_one: Constant<Bits>,
    _part_bits: usize,
    _wide: usize,
}

impl Guard {
    /// The guard of `plan` with these constants.
    pub fn new(plan: &PortPlan, guard: &GuardPlan) -> Self {
        let tokens = clog2(u128::from(guard.burst) + 1);
        // A part, and what a tick adds to it.
        let part = clog2(guard.denominator) + 1;
        let prescaler = clog2(plan.clocks_per_tick.into());
        let fraction = format!("/ {}", guard.denominator);
        Guard {
            about: About::new(
                "guard",
                "Token bucket that keeps the bound on delayed packets: each time asleep in which\n\
                 a packet of this end has to wait for the way up takes one token, a tick refills\n\
                 l / t_w of one, and without a token the link is not to go to sleep. So in any T\n\
                 ticks packets wait for at most burst + T l / t_w wake-ups.",
            ),
            clk: Signal::clock("clock"),
            rst: Signal::bit("synchronous reset"),
            awake: Signal::bit("the link is awake"),
            queue_nonempty: Signal::bit("the output queue holds a packet"),
            rate: Optional::when(
                guard.adjustable,
                Signal::bits(guard.rate_bits, format!("what a tick refills, {fraction}")),
            ),
            permits: Signal::bit("the link may go to sleep"),
            tokens_now: Optional::when(
                plan.registers.is_some(),
                Signal::bits(tokens, "whole tokens, for software"),
            ),
            tokens: Reg::bits(tokens, guard.burst.into(), "whole tokens"),
            part: Reg::bits(part, 0, format!("and part of a token, {fraction}")),
            charged: Reg::bit(false, "this time asleep has taken its token"),
            prescaler: Reg::bits(prescaler, 0, "clock cycles into the present tick"),
            tick: Signal::bit("this cycle completes a tick"),
            takes: Signal::bit("a packet finds the link asleep, or on its way"),
            refilled: Signal::bits(part, "the part after a tick"),
            carries: Signal::bit("it makes a whole token"),
            gain: Signal::bits(part, "what a tick refills"),
            readable: Constant::bit(plan.registers.is_some(), "software reads the tokens"),
            divides: Constant::bit(plan.clocks_per_tick > 1, "a tick is longer than a clock"),
            last_clock: Constant::bits(
                prescaler,
                u128::from(plan.clocks_per_tick) - 1,
                "last clock cycle of a tick",
            ),
            adjustable: Constant::bit(guard.adjustable, "the rate changes at run time"),
            fixed_gain: Constant::bits(
                part,
                if guard.adjustable { 0 } else { guard.numerator },
                format!("l / t_w in packets per tick, {fraction}"),
            ),
            token: Constant::bits(part, guard.denominator, "one token"),
            full: Constant::bits(tokens, guard.burst.into(), "guard.burst"),
            last_but_one: Constant::bits(tokens, u128::from(guard.burst) - 1, "one token less"),
            _part_bits: part as usize,
            _wide: part.max(guard.rate_bits) as usize,
        }
    }
}

impl Logic for Guard {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, tokens, part, charged, prescaler);

        if self.divides.val() {
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

        if self.adjustable.val() {
            comment!("A tick refills one token at most.");
            if bit_cast(self.rate.val(), self._wide) >= bit_cast(self.token.val(), self._wide) {
                self.gain.next = self.token.val();
            } else {
                self.gain.next = bit_cast(self.rate.val(), self._part_bits);
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
        if self.readable.val() {
            self.tokens_now.next = self.tokens.q.val();
        }
    }
}
