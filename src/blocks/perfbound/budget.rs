//! The budget: how many packets may be delayed in the window of the histogram, `l / t_w * X`
//! rounded down (SPEC 7, PerfBound 2.4).

use crate::config::plan::{PortPlan, Product};
use crate::hdl::prelude::*;

/// Bits of the window that are multiplied in a clock cycle.
pub const DIGIT: u32 = 2;

/// Clock cycles of the multiplication.
pub fn multiply_cycles(plan: &PortPlan) -> u32 {
    plan.time_width.div_ceil(DIGIT)
}

block! {
    /// The budget of a window that only grows: every tick adds to it.
    pub struct AccumulatedBudget;

    /// The budget of `plan`.
    pub fn new(plan: &PortPlan) {
        let budget = plan.budget.width;
        let denominator = plan.budget.denominator;
        let part = clog2(denominator);
        let whole = plan.budget.numerator / denominator;
        let part_gain = plan.budget.numerator % denominator;
        let fraction = format!("/ {denominator}");
        // Two's complement: negative until a tick makes a whole packet.
        let no_credit = (1u128 << (part + 1)) - (denominator - part_gain);
    }

    {
        pub in window_step: Bit("the window grows by a tick"),
        pub in cleared: Bit("the histogram is cleared, and with it the window"),
        choice clears(plan.histogram.kind.clears()), // the histogram is cleared from time to time
        pub reg credit: Bits(budget, 0, "budget of the live window"),
        pub reg credit_part: Bits(
            part + 1,
            no_credit,
            format!("and its part of a packet {fraction}, less what the next tick carries from"),
        ),
        constant gain: Bits(
            budget, whole, "packets that a tick of the window allows to delay, l / t_w:"
        ),
        constant gain_part: Bits(part + 1, part_gain, format!("whole ones, and this {fraction}")),
        constant part_after_carry: Bits(part + 1, no_credit, "that, less a whole packet"),
        local part_step: Bits(part + 1, "what a tick adds to the part"),
        constant no_credit: Bits(part + 1, no_credit, "a part of 0"),
        constant part_sign: Number(part, "the sign of the part"),
        choice fractional(part_gain > 0), // a tick allows no whole number of packets
        pub local carry: Bit("the parts make a whole packet"),
    }
}

impl Logic for AccumulatedBudget {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("The budget l / t_w * X as a whole number and a fraction, both exact.");
        if self.fractional {
            self.carry.next = !self.credit_part.q.val().get_bit(self.part_sign.val());
            if self.carry.val() {
                self.part_step.next = self.part_after_carry.val();
            } else {
                self.part_step.next = self.gain_part.val();
            }
        } else {
            self.carry.next = false;
        }
        if self.window_step.val() {
            if self.fractional {
                self.credit_part.d.next = self.credit_part.q.val() + self.part_step.val();
            }
            self.credit.d.next =
                self.credit.q.val() + self.gain.val() + bit_cast(self.carry.val(), &self.credit);
        }
        if self.clears {
            if self.cleared.val() {
                self.credit.d.next = 0.into();
                self.credit_part.d.next = self.no_credit.val();
            }
        }
    }
}

block! {
    /// The budget of any window: the window times the rate, when a search begins. The search
    /// loads the factors and counts the digits.
    pub struct MultipliedBudget;

    /// The budget of `plan`.
    pub fn new(plan: &PortPlan) {
        let budget = plan.budget.width;
        let Product { k, s } = plan.budget.product.unwrap_or(Product { k: 0, s: 0 });
        let adjustable = plan.budget.rate.is_some();
        let rate = rate_width(plan);
        let digits = multiply_cycles(plan);
        let window = DIGIT * digits;
        let product = (budget + s).clamp(DIGIT, 128);
    }

    {
        choice adjustable(adjustable), // the rate changes at run time
        constant fixed_rate: Bits(
            product,
            if adjustable { 0 } else { k },
            format!("packets that a tick of the window allows to delay, times 2^{s}"),
        ),
        pub reg rate_taken: Bits(rate, k, "rate when the multiplication began"),
        local factor: Bits(product, "the rate, as wide as the product"),
        pub reg digits_left: Bits(clog2(digits.into()), 0, "digits left, less one"),
        pub reg multiplicand: Bits(window, 0, "window, the next digit of it on top"),
        pub reg product: Bits(product, 0, "rate times the digits so far"),
        pub local next_product: Bits(product, "and times the next digit"),
        pub constant last_digit: Bits(
            clog2(digits.into()),
            u128::from(digits) - 1,
            "digits of the window, less one",
        ),
        pub constant digit_bits: Number(DIGIT, "bits of a digit"),
        constant lower_digits: Number(window - DIGIT, "bits of all digits but the highest"),
        constant rate_fraction: Number(s, "fraction bits of rate"),
        pub local multiplied: Bits(budget, "the whole packets of it"),
    }
}

/// Bits of the rate: the packets that a tick of the window allows to delay, times 2^s.
pub fn rate_width(plan: &PortPlan) -> u32 {
    let constant = plan.budget.product.map_or(0, |product| product.k);
    let needed = (128 - constant.leading_zeros()).max(1);
    plan.budget.rate.map_or(needed, |rate| rate.width)
}

impl Logic for MultipliedBudget {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("The window times l / t_w, a digit of the window per cycle, the highest first.");
        if self.adjustable {
            self.factor.next = bit_cast(self.rate_taken.q.val(), &self.factor);
        } else {
            self.factor.next = self.fixed_rate.val();
        }
        self.next_product.next = (self.product.q.val() << self.digit_bits.val())
            + (self.factor.val()
                * bit_cast(
                    self.multiplicand.q.val() >> self.lower_digits.val(),
                    &self.product,
                ));
        self.multiplied.next = bit_cast(
            self.next_product.val() >> self.rate_fraction.val(),
            &self.multiplied,
        );
    }
}
