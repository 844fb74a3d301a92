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

/// Computes `K = ceil(bound * hop_factor * inverse / 2^shift)` (SPEC 7.3), one bit of a
/// factor per clock cycle: bound and hop factor change rarely, and a search takes `K` as it
/// stands.
///
/// Rounding up keeps `(X * K) >> S` from missing a whole number that `l * X / t_w` reaches.
#[derive(LogicBlock)]
pub struct BudgetRate {
    about: About,
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub start: Signal<In, Bit>,
    pub bound: Signal<In, Bits>,
    pub hop_factor: Signal<In, Bits>,
    pub deep: Signal<In, Bit>,
    pub done: Signal<Out, Bit>,
    pub rate: Signal<Out, Bits>,
    running: Reg<Bit>,
    step: Reg<Bits>,
    high: Reg<Bits>,
    low: Reg<Bits>,
    rounding: Reg<Bit>,
    done_now: Reg<Bit>,
    rate_now: Reg<Bits>,
    factor: Signal<Local, Bits>,
    sum: Signal<Local, Bits>,
    product: Signal<Local, Bits>,
    last_step: Constant<Bits>,
    inverse_fast_wake: Constant<Bits>,
    inverse_deep_sleep: Constant<Bits>,
    shift: Constant<Bits>,
    below: Constant<Bits>,
    low_bits: Constant<Bits>,
    top_of_low: Constant<Bits>,
    _factor_bits: usize,
    _sum_bits: usize,
    _low_bits: usize,
    _product_bits: usize,
    _rate_bits: usize,
}

/// Clock cycles from `start` to `done`: a bit of a factor each, one to begin, one to round.
pub const LATENCY: u64 = 2 * PRODUCT as u64 + 2;

impl BudgetRate {
    /// The computation of `plan`; `initial` is `K` before the first.
    pub fn new(plan: &RatePlan, initial: u128) -> Self {
        let inverse = plan.inverse_fast_wake.max(plan.inverse_deep_sleep);
        let factor = clog2(u128::from(inverse) + 1).max(FRACTION_WIDTH);
        let product = factor + PRODUCT;
        BudgetRate {
            about: About::new(
                "budget_rate",
                "Rate of the packet budget: bound * hop_factor / t_w, as a fraction, rounded up.\n\
                 Two multiplications of 64 steps, one bit per cycle: first bound by hop_factor,\n\
                 then the product by 1/t_w. bound and deep must hold from start to done.",
            ),
            clk: Signal::clock("clock"),
            rst: Signal::bit("synchronous reset"),
            start: Signal::bit("compute; ignored while a computation is under way"),
            bound: Signal::bits(FRACTION_WIDTH, "performance that may be lost, times 2^32"),
            hop_factor: Signal::bits(FRACTION_WIDTH, "mean of 1/hops, times 2^31"),
            deep: Signal::bit("t_w is that of deep sleep, otherwise of fast wake"),
            done: Signal::bit("rate is new"),
            rate: Signal::bits(plan.width, "the rate"),
            running: Reg::bit(false, "a computation is under way"),
            step: Reg::bits(7, 0, "which of its steps; the highest bit: which product"),
            high: Reg::bits(factor, 0, "upper part of the product so far"),
            low: Reg::bits(PRODUCT, 0, "its lower part, and the factor's bits to come"),
            rounding: Reg::bit(false, "the product is complete"),
            done_now: Reg::bit(false, "rate is new"),
            rate_now: Reg::bits(plan.width, initial, "the rate"),
            factor: Signal::bits(factor, "what is added where a bit is set"),
            sum: Signal::bits(factor + 1, "upper part with it"),
            product: Signal::bits(product, "the product"),
            last_step: Constant::bits(7, 127, "last step of the second product"),
            inverse_fast_wake: Constant::bits(
                factor,
                plan.inverse_fast_wake.into(),
                "1/t_w of fast wake",
            ),
            inverse_deep_sleep: Constant::bits(
                factor,
                plan.inverse_deep_sleep.into(),
                "1/t_w of deep sleep",
            ),
            shift: Constant::bits(
                clog2(u128::from(plan.shift) + 1),
                plan.shift.into(),
                "bits of the product below the rate",
            ),
            below: Constant::bits(product, (1 << plan.shift) - 1, "those bits"),
            low_bits: Constant::bits(7, PRODUCT.into(), "bits of low"),
            top_of_low: Constant::bits(6, u128::from(PRODUCT) - 1, "highest bit of low"),
            _factor_bits: factor as usize,
            _sum_bits: factor as usize + 1,
            _low_bits: PRODUCT as usize,
            _product_bits: product as usize,
            _rate_bits: plan.width as usize,
        }
    }
}

impl Logic for BudgetRate {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, running, step, high, low, rounding, done_now, rate_now);

        if !self.step.q.val().get_bit(6) {
            self.factor.next = bit_cast(self.bound.val(), self._factor_bits);
        } else if self.deep.val() {
            self.factor.next = self.inverse_deep_sleep.val();
        } else {
            self.factor.next = self.inverse_fast_wake.val();
        }
        self.sum.next = bit_cast(self.high.q.val(), self._sum_bits);
        if self.low.q.val().get_bit(0) {
            self.sum.next = bit_cast(self.high.q.val(), self._sum_bits)
                + bit_cast(self.factor.val(), self._sum_bits);
        }

        comment!("The first product has 64 bits: it leaves high empty, and low as next factor.");
        self.rounding.d.next = false;
        if self.running.q.val() {
            self.step.d.next = self.step.q.val() + 1;
            self.high.d.next = bit_cast(self.sum.val() >> 1, self._factor_bits);
            self.low.d.next = (self.low.q.val() >> 1)
                | (bit_cast(self.sum.val().get_bit(0), self._low_bits) << self.top_of_low.val());
            if self.step.q.val() == self.last_step.val() {
                self.running.d.next = false;
                self.rounding.d.next = true;
            }
        } else if self.start.val() {
            self.running.d.next = true;
            self.step.d.next = 0.into();
            self.high.d.next = 0.into();
            self.low.d.next = bit_cast(self.hop_factor.val(), self._low_bits);
        }

        self.product.next = (bit_cast(self.high.q.val(), self._product_bits)
            << self.low_bits.val())
            | bit_cast(self.low.q.val(), self._product_bits);
        self.done_now.d.next = self.rounding.q.val();
        if self.rounding.q.val() {
            self.rate_now.d.next =
                bit_cast(self.product.val() >> self.shift.val(), self._rate_bits)
                    + bit_cast(
                        (self.product.val() & self.below.val()).any(),
                        self._rate_bits,
                    );
        }
        self.done.next = self.done_now.q.val();
        self.rate.next = self.rate_now.q.val();
    }
}
