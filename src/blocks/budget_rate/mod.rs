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
        Product = "multiplies the bound by the hop factor",
        Quotient = "divides the product by t_w",
        Rest = "sees whether anything is left",
        Rounding = "rounds the quotient up",
    }
}

block! {
    /// Computes `K = ceil(bound * hop_factor * scale * 2^exponent / t_w)` (SPEC 7.3), one bit per
    /// clock cycle: what it is computed from changes rarely, and a search takes `K` as it stands.
    ///
    /// Rounding up keeps `(X * K) >> S` from missing a whole number that `l * X / t_w` reaches.
    pub struct BudgetRate(clk, rst);

    /// The computation of `plan`. If it `holds` the rate, that stands until the next is computed,
    /// and is `initial` before the first; if not, it stands from `done` to the next `start`.
    pub fn new(plan: &RatePlan, initial: u128, holds: bool) {
        let scales = plan.scale > 1;
        let product = plan.product_bits();
        let steps = plan.quotient_steps();
        let multiplicand = FRACTION_WIDTH + if scales { plan.scale.ilog2() + 1 } else { 0 };
        let step = clog2(steps.max(FRACTION_WIDTH).into());
        let last = |steps: u32| u128::from(steps) - 1;
        // Bits of the product that do not come to be divided.
        let rest = product.saturating_sub(steps);
        let multiplicand_is = if scales {
            "bound and the odd part\n\
             of the clock cycles in a tick"
        } else {
            "bound"
        };
        let or_rest = if rest > 0 {
            ", or of the\nproduct that was not divided,"
        } else {
            ""
        };
    }

    about(
        "budget_rate",
        format!(
            "Rate of the packet budget: bound * hop_factor / t_w, as a fraction, rounded up.\n\
             \n\
             One bit per cycle, the highest first: accumulator is doubled, and takes the\n\
             {multiplicand_is} for each 1 of the hop factor, whose bits leave it at\n\
             the top. Then the bits of the product leave it there, to be divided by t_w,\n\
             and those of the quotient enter at the bottom. If anything is left{or_rest}\n\
             the quotient is rounded up.\n\
             bound and t_w_last must hold from start to done.",
        ),
    )

    {
        pub in start: Bit("compute; ignored while a computation is under way"),
        pub in bound: Bits(FRACTION_WIDTH, "performance that may be lost, times 2^32"),
        pub in hop_factor: Bits(FRACTION_WIDTH, "mean of 1/hops, times 2^31"),
        pub in t_w_last: Bits(plan.t_w_bits, "t_w in clock cycles, less one"),
        pub out done: Bit("rate is new"),
        pub out rate: Bits(
            plan.width,
            if holds { "the rate" } else { "the rate, from done to the next start" },
        ),
        reg stage: Stage(Stage::Waiting, "what the computation does"),
        reg left: Bits(step, 0, "steps left of it, less one"),
        reg accumulator: Bits(product, 0, "bits of the hop factor to come above the product so far, \
            or bits of the product to come above the quotient so far"),
        reg scaled_bound: Bits(
            multiplicand, 0, "bound times the odd part of the clock cycles in a tick"
        ) if scales,
        reg remainder: Bits(plan.t_w_bits, 0, "what is left of the product so far, below t_w"),
        reg round_up: Bit(false, "something is left"),
        reg done_now: Bit(false, "rate is new"),
        choice holds(holds), // the rate stands while the next is computed
        reg rate_now: Bits(plan.width, initial, "the rate") if holds,
        local top: Bit("the bit that leaves the accumulator"),
        local multiplicand: Bits(multiplicand, "what the hop factor is multiplied by"),
        local added: Bits(multiplicand, "what a step of the multiplication or the rounding adds"),
        local doubled: Bits(product, "the accumulator, doubled"),
        local lower: Bits(multiplicand + 1, "its lower part"),
        local lower_sum: Bits(multiplicand + 2, "the same with what is added"),
        local upper: Bits(product - multiplicand - 1, "its upper part"),
        local upper_sum: Bits(product - multiplicand - 1, "the same with the carry of the lower"),
        local divided: Bits(plan.t_w_bits + 1, "what is left, and the next bit of the product"),
        local difference: Bits(plan.t_w_bits + 1, "the same less t_w; below 0: it is less than t_w"),
        local fits: Bit("t_w goes into it: the next bit of the quotient"),
        local rounds: Bit("something is left: the quotient is rounded up"),
        local sum: Bits(product, "the accumulator after the step"),
        choice scales(scales), // a tick is not 2^n clock cycles
        choice drops(rest > 0), // the last bits of the product are not divided
        constant scale: Bits(
            multiplicand, plan.scale.into(), "odd part of the clock cycles in a tick"
        ) if scales,
        constant last_product: Bits(step, last(FRACTION_WIDTH), "bits of the hop factor, less one"),
        constant last_quotient: Bits(step, last(steps), "bits of the quotient, less one"),
        constant below_factor: Number(product - FRACTION_WIDTH, "bits below the hop factor"),
        constant below_top: Number(product - 1, "bits below the highest of the accumulator"),
        constant sign: Number(plan.t_w_bits, "sign of the difference"),
        constant lower_bits: Number(multiplicand + 1, "bits of the lower part"),
        constant quotient: Number(steps.min(product), "bits of the quotient"),
    }
}

/// Clock cycles from `start` to `done`: a bit each, one to begin, one to see what is left, one to round.
pub fn latency(plan: &RatePlan) -> u64 {
    u64::from(FRACTION_WIDTH + plan.quotient_steps()) + 3
}

impl Logic for BudgetRate {
    #[hdl_gen]
    fn update(&mut self) {
        self.top.next = self.accumulator.q.val().get_bit(self.below_top.val());
        if self.scales {
            self.scaled_bound.d.next =
                bit_cast(self.bound.val(), &self.scaled_bound) * self.scale.val();
            self.multiplicand.next = self.scaled_bound.q.val();
        } else {
            self.multiplicand.next = self.bound.val();
        }
        self.added.next = 0.into();
        if (self.stage.q.val() == Stage::Product) & self.top.val() {
            self.added.next = self.multiplicand.val();
        }
        if self.stage.q.val() == Stage::Rounding {
            comment!("The quotient is doubled twice more, and so is what rounds it up.");
            self.added.next = bit_cast(self.round_up.q.val(), &self.added) << 2;
        }
        comment!("What is added is in the lower part. The upper one is ready for its carry.");
        self.doubled.next = self.accumulator.q.val() << 1;
        self.lower.next = bit_cast(self.doubled.val(), &self.lower);
        self.lower_sum.next = bit_cast(self.lower.val(), &self.lower_sum)
            + bit_cast(self.added.val(), &self.lower_sum);
        self.upper.next = bit_cast(self.doubled.val() >> self.lower_bits.val(), &self.upper);
        self.upper_sum.next = self.upper.val();
        if self.lower_sum.val().get_bit(self.lower_bits.val()) {
            self.upper_sum.next = self.upper.val() + 1;
        }
        self.sum.next = (bit_cast(self.upper_sum.val(), &self.sum) << self.lower_bits.val())
            | bit_cast(bit_cast(self.lower_sum.val(), &self.lower), &self.sum);

        comment!("-t_w is the complement of t_w - 1.");
        self.divided.next = (bit_cast(self.remainder.q.val(), &self.divided) << 1)
            | bit_cast(self.top.val(), &self.divided);
        self.difference.next =
            self.divided.val() + !bit_cast(self.t_w_last.val(), &self.difference);
        self.fits.next = !self.difference.val().get_bit(self.sign.val());
        if self.drops {
            self.rounds.next = self.remainder.q.val().any()
                | (self.accumulator.q.val() >> self.quotient.val()).any();
        } else {
            self.rounds.next = self.remainder.q.val().any();
        }
        self.done_now.d.next = false;
        self.left.d.next = self.left.q.val() - 1;
        self.accumulator.d.next = self.sum.val();
        self.remainder.d.next = 0.into();
        match self.stage.q.val() {
            Stage::Waiting => {
                self.left.d.next = self.last_product.val();
                self.accumulator.d.next = self.accumulator.q.val();
                if self.start.val() {
                    self.accumulator.d.next = bit_cast(self.hop_factor.val(), &self.accumulator)
                        << self.below_factor.val();
                    self.stage.d.next = Stage::Product;
                }
            }
            Stage::Product => {
                if self.left.q.val() == 0 {
                    self.stage.d.next = Stage::Quotient;
                    self.left.d.next = self.last_quotient.val();
                }
            }
            Stage::Quotient => {
                comment!("Nothing is added: the bit of the quotient enters beside the adder.");
                self.accumulator.d.next =
                    self.sum.val() | bit_cast(self.fits.val(), &self.accumulator);
                self.remainder.d.next = bit_cast(self.divided.val(), &self.remainder);
                if self.fits.val() {
                    self.remainder.d.next = bit_cast(self.difference.val(), &self.remainder);
                }
                if self.left.q.val() == 0 {
                    self.stage.d.next = Stage::Rest;
                }
            }
            Stage::Rest => {
                self.round_up.d.next = self.rounds.val();
                self.stage.d.next = Stage::Rounding;
            }
            Stage::Rounding => {
                self.stage.d.next = Stage::Waiting;
                self.done_now.d.next = true;
                if self.holds {
                    self.rate_now.d.next = bit_cast(self.sum.val() >> 2, &self.rate_now);
                }
            }
            _ => {
                self.stage.d.next = Stage::Waiting;
            }
        }
        self.done.next = self.done_now.q.val();
        if self.holds {
            self.rate.next = self.rate_now.q.val();
        } else {
            self.rate.next = bit_cast(self.accumulator.q.val() >> 2, &self.rate);
        }
    }
}
