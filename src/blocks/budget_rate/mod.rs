//! The budget's rate at run time: `K` of SPEC 7.3 from bound, hop factor and `t_w`.

pub mod golden;
#[cfg(test)]
mod tests;

use crate::config::plan::RatePlan;
use crate::hdl::prelude::*;

/// Bits of the bound and of the hop factor.
pub const FRACTION_WIDTH: u32 = 32;

/// Bits of the product of the two.
const PRODUCT: u32 = 2 * FRACTION_WIDTH;

block! {
    /// Computes `K = ceil(bound * hop_factor * inverse / 2^shift)` (SPEC 7.3), one bit of a
    /// factor per clock cycle: bound and hop factor change rarely, and a search takes `K` as it
    /// stands.
    ///
    /// Rounding up keeps `(X * K) >> S` from missing a whole number that `l * X / t_w` reaches.
    pub struct BudgetRate(clk, rst);

    /// The computation of `plan`; `initial` is `K` before the first.
    pub fn new(plan: &RatePlan, initial: u128) {
        let inverse = plan.inverse_fast_wake.max(plan.inverse_deep_sleep);
        let factor = clog2(u128::from(inverse) + 1).max(FRACTION_WIDTH);
        let product = factor + PRODUCT;
    }

    about(
        "budget_rate",
        "Rate of the packet budget: bound * hop_factor / t_w, as a fraction, rounded up.\n\
         Two multiplications of 64 steps, one bit per cycle: first bound by hop_factor,\n\
         then the product by 1/t_w. bound and deep must hold from start to done.",
    )

    {
        pub in start: Bit("compute; ignored while a computation is under way"),
        pub in bound: Bits(FRACTION_WIDTH, "performance that may be lost, times 2^32"),
        pub in hop_factor: Bits(FRACTION_WIDTH, "mean of 1/hops, times 2^31"),
        pub in deep: Bit("t_w is that of deep sleep, otherwise of fast wake"),
        pub out done: Bit("rate is new"),
        pub out rate: Bits(plan.width, "the rate"),
        reg running: Bit(false, "a computation is under way"),
        reg step: Bits(7, 0, "which of its steps; the highest bit: which product"),
        reg high: Bits(factor, 0, "upper part of the product so far"),
        reg low: Bits(PRODUCT, 0, "its lower part, and the factor's bits to come"),
        reg rounding: Bit(false, "the product is complete"),
        reg done_now: Bit(false, "rate is new"),
        reg rate_now: Bits(plan.width, initial, "the rate"),
        local factor: Bits(factor, "what is added where a bit is set"),
        local sum: Bits(factor + 1, "upper part with it"),
        local product: Bits(product, "the product"),
        constant last_step: Bits(7, 127, "last step of the second product"),
        constant inverse_fast_wake: Bits(
            factor, plan.inverse_fast_wake.into(), "1/t_w of fast wake"
        ),
        constant inverse_deep_sleep: Bits(
            factor, plan.inverse_deep_sleep.into(), "1/t_w of deep sleep"
        ),
        constant shift: Number(plan.shift, "bits of the product below the rate"),
        constant below: Bits(product, (1 << plan.shift) - 1, "those bits"),
        constant low_bits: Bits(7, PRODUCT.into(), "bits of low"),
        constant top_of_low: Bits(6, u128::from(PRODUCT) - 1, "highest bit of low"),
    }
}

/// Clock cycles from `start` to `done`: a bit of a factor each, one to begin, one to round.
pub const LATENCY: u64 = 2 * PRODUCT as u64 + 2;

impl Logic for BudgetRate {
    #[hdl_gen]
    fn update(&mut self) {
        if !self.step.q.val().get_bit(6) {
            self.factor.next = bit_cast(self.bound.val(), &self.factor);
        } else if self.deep.val() {
            self.factor.next = self.inverse_deep_sleep.val();
        } else {
            self.factor.next = self.inverse_fast_wake.val();
        }
        self.sum.next = bit_cast(self.high.q.val(), &self.sum);
        if self.low.q.val().get_bit(0) {
            self.sum.next =
                bit_cast(self.high.q.val(), &self.sum) + bit_cast(self.factor.val(), &self.sum);
        }

        comment!("The first product has 64 bits: it leaves high empty, and low as next factor.");
        self.rounding.d.next = false;
        if self.running.q.val() {
            self.step.d.next = self.step.q.val() + 1;
            self.high.d.next = bit_cast(self.sum.val() >> 1, &self.high);
            self.low.d.next = (self.low.q.val() >> 1)
                | (bit_cast(self.sum.val().get_bit(0), &self.low) << self.top_of_low.val());
            if self.step.q.val() == self.last_step.val() {
                self.running.d.next = false;
                self.rounding.d.next = true;
            }
        } else if self.start.val() {
            self.running.d.next = true;
            self.step.d.next = 0.into();
            self.high.d.next = 0.into();
            self.low.d.next = bit_cast(self.hop_factor.val(), &self.low);
        }

        self.product.next = (bit_cast(self.high.q.val(), &self.product) << self.low_bits.val())
            | bit_cast(self.low.q.val(), &self.product);
        self.done_now.d.next = self.rounding.q.val();
        if self.rounding.q.val() {
            self.rate_now.d.next = bit_cast(self.product.val() >> self.shift.val(), &self.rate_now)
                + bit_cast(
                    (self.product.val() & self.below.val()).any(),
                    &self.rate_now,
                );
        }
        self.done.next = self.done_now.q.val();
        self.rate.next = self.rate_now.q.val();
    }
}
