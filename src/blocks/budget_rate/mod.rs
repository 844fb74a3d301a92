//! The budget's rate at run time: `K` of SPEC 7.3 from bound, hop factor and `t_w`.

pub mod golden;
#[cfg(test)]
mod tests;

use crate::config::plan::RatePlan;
use crate::hdl::prelude::*;

/// Bits of the bound and of the hop factor.
pub const FRACTION_WIDTH: u32 = 32;

states! {
    /// What the computation of a rate does.
    pub enum Stage {
        Waiting = "nothing",
        Product = "multiplies the hop factor by the bound",
        Scaling = "multiplies the product by the odd part of the clock cycles in a tick",
        Quotient = "divides it by t_w",
        Rounding = "rounds the quotient up",
    }
}

block! {
    /// Computes `K = ceil(bound * hop_factor * scale * 2^exponent / t_w)` (SPEC 7.3), one bit per
    /// clock cycle: what it is computed from changes rarely, and a search takes `K` as it stands.
    ///
    /// Rounding up keeps `(X * K) >> S` from missing a whole number that `l * X / t_w` reaches.
    pub struct BudgetRate(clk, rst);

    /// The computation of `plan`; `initial` is `K` before the first.
    pub fn new(plan: &RatePlan, initial: u128) {
        let scales = plan.scale > 1;
        let product = plan.product_bits();
        let steps = plan.quotient_steps();
        // Bits of the largest of what is added or subtracted.
        let operand = FRACTION_WIDTH.max(plan.t_w_bits).max(clog2(u128::from(plan.scale) + 1));
        let step = clog2(product.max(steps).into());
        let last = |steps: u32| u128::from(steps) - 1;
        // Bits of the product that do not come to be divided.
        let rest = product.saturating_sub(steps);
        let scaling = if scales {
            "\n\
             and by the odd part of the clock cycles in a tick, then divided by t_w.\n"
        } else {
            ", then divided\nby t_w. "
        };
    }

    about(
        "budget_rate",
        format!(
            "Rate of the packet budget: bound * hop_factor / t_w, as a fraction, rounded up.\n\
             One bit per cycle: the hop factor is multiplied by the bound{scaling}\
             bound and t_w_last must hold from start to done.",
        ),
    )

    {
        pub in start: Bit("compute; ignored while a computation is under way"),
        pub in bound: Bits(FRACTION_WIDTH, "performance that may be lost, times 2^32"),
        pub in hop_factor: Bits(FRACTION_WIDTH, "mean of 1/hops, times 2^31"),
        pub in t_w_last: Bits(plan.t_w_bits, "t_w in clock cycles, less one"),
        pub out done: Bit("rate is new"),
        pub out rate: Bits(plan.width, "the rate"),
        reg stage: Stage(Stage::Waiting, "what the computation does"),
        reg left: Bits(step, 0, "steps left of it, less one"),
        reg high: Bits(operand, 0, "upper part of the product so far, or what is left to divide"),
        reg low: Bits(product, 0, "bits of the factor to come behind those of the product, or of the \
            product before those of the quotient"),
        reg done_now: Bit(false, "rate is new"),
        reg rate_now: Bits(plan.width, initial, "the rate"),
        local divides: Bit("a step of the division"),
        local present: Bits(operand + 2, "what a step adds to, or subtracts from"),
        local operand: Bits(operand + 2, "what it adds"),
        local sum: Bits(operand + 2, "the two together; below 0: t_w goes into it no more"),
        local fits: Bit("t_w goes into it"),
        choice scales(scales), // a tick is not 2^n clock cycles
        choice drops(rest > 0), // the last bits of the product are not divided
        constant scale: Bits(operand, plan.scale.into(), "odd part of the clock cycles in a tick"),
        constant last_product: Bits(step, last(product), "steps of a product, less one"),
        constant last_quotient: Bits(step, last(steps), "steps of the quotient, less one"),
        constant one: Bits(product, 1, "one bit"),
        constant top_of_low: Bits(clog2(product.into()), u128::from(product) - 1, "highest bit of low"),
        constant sign: Bits(clog2(u128::from(operand) + 2), u128::from(operand) + 1, "sign of sum"),
        constant quotient: Bits(product, u128::MAX >> (128 - (product - rest)), "bits of the quotient"),
    }
}

/// Clock cycles from `start` to `done`: a bit each, one to begin, one to round.
pub fn latency(plan: &RatePlan) -> u64 {
    let products = if plan.scale > 1 { 2 } else { 1 };
    u64::from(products * plan.product_bits() + plan.quotient_steps()) + 2
}

impl Logic for BudgetRate {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("A product grows from its lowest bit, a quotient from its highest.");
        self.divides.next = self.stage.q.val() == Stage::Quotient;
        self.present.next = bit_cast(self.high.q.val(), &self.present);
        self.operand.next = 0.into();
        if self.divides.val() {
            self.present.next = (bit_cast(self.high.q.val(), &self.present) << 1)
                | bit_cast(
                    self.low.q.val().get_bit(self.top_of_low.val()),
                    &self.present,
                );
            comment!("-t_w is the complement of t_w - 1.");
            self.operand.next = !bit_cast(self.t_w_last.val(), &self.operand);
        } else if self.low.q.val().get_bit(0) {
            self.operand.next = bit_cast(self.bound.val(), &self.operand);
            if self.scales {
                if self.stage.q.val() == Stage::Scaling {
                    self.operand.next = bit_cast(self.scale.val(), &self.operand);
                }
            }
        }
        self.sum.next = self.present.val() + self.operand.val();
        self.fits.next = !self.sum.val().get_bit(self.sign.val());

        self.done_now.d.next = false;
        self.left.d.next = self.left.q.val() - 1;
        if self.divides.val() {
            self.high.d.next = bit_cast(self.present.val(), &self.high);
            if self.fits.val() {
                self.high.d.next = bit_cast(self.sum.val(), &self.high);
            }
            self.low.d.next = (self.low.q.val() << 1) | bit_cast(self.fits.val(), &self.low);
        } else {
            self.high.d.next = bit_cast(self.sum.val() >> 1, &self.high);
            self.low.d.next = (self.low.q.val() >> 1)
                | (bit_cast(self.sum.val().get_bit(0), &self.low) << self.top_of_low.val());
        }
        match self.stage.q.val() {
            Stage::Waiting => {
                self.high.d.next = 0.into();
                self.low.d.next = bit_cast(self.hop_factor.val(), &self.low);
                self.left.d.next = self.last_product.val();
                if self.start.val() {
                    self.stage.d.next = Stage::Product;
                }
            }
            Stage::Product => {
                if self.left.q.val() == 0 {
                    comment!("The product fits into low: high is 0.");
                    if self.scales {
                        self.stage.d.next = Stage::Scaling;
                        self.left.d.next = self.last_product.val();
                    } else {
                        self.stage.d.next = Stage::Quotient;
                        self.left.d.next = self.last_quotient.val();
                    }
                }
            }
            Stage::Scaling => {
                if self.left.q.val() == 0 {
                    self.stage.d.next = Stage::Quotient;
                    self.left.d.next = self.last_quotient.val();
                }
            }
            Stage::Quotient => {
                if self.left.q.val() == 0 {
                    self.stage.d.next = Stage::Rounding;
                }
            }
            Stage::Rounding => {
                self.stage.d.next = Stage::Waiting;
                self.done_now.d.next = true;
                if self.drops {
                    comment!("Before the quotient in low: the bits that were not divided.");
                    self.rate_now.d.next =
                        bit_cast(self.low.q.val() & self.quotient.val(), &self.rate_now)
                            + bit_cast(
                                self.high.q.val().any()
                                    | (self.low.q.val() & !self.quotient.val()).any(),
                                &self.rate_now,
                            );
                } else {
                    self.rate_now.d.next = bit_cast(self.low.q.val(), &self.rate_now)
                        + bit_cast(self.high.q.val().any(), &self.rate_now);
                }
            }
            _ => {
                self.stage.d.next = Stage::Waiting;
            }
        }
        self.done.next = self.done_now.q.val();
        self.rate.next = self.rate_now.q.val();
    }
}
