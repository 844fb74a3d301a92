//! The budget: how many packets may be delayed in the window of the histogram, `l / t_w * X`
//! rounded down (SPEC 7, PerfBound 2.4).

use super::latency::window_digits;
use crate::blocks::digit_step::{DigitStep, DIGIT};
use crate::config::plan::{PortPlan, Product};
use crate::hdl::prelude::*;
use crate::hdl::MAX_WIDTH;

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
        let step = plan.budget.step_ticks;
        let steps = Steps::new(plan);
    }

    {
        pub in window_step: Bit("the window grows by a tick"),
        pub in cleared: Bit("the histogram is cleared, and with it the window"),
        pub in live_window: Bits(plan.time_width, "window of the histogram, in ticks") if step > 1,
        pub in ended: Bit("a sample is recorded") if step > 1,
        pub in pending: Bit("a sample came that no search covers yet") if step > 1,
        choice clears(plan.histogram.kind.clears()), // the histogram is cleared from time to time
        pub reg credit: Bits(budget, 0, "budget of the live window"),
        pub reg credit_part: Bits(
            part + 1,
            no_credit,
            format!("and its part of a packet {fraction}, less what the next tick carries from"),
        ),
        pub constant gain: Bits(
            budget, whole, "packets that a tick of the window allows to delay, l / t_w:"
        ),
        constant gain_part: Bits(part + 1, part_gain, format!("whole ones, and this {fraction}")),
        constant part_after_carry: Bits(part + 1, no_credit, "that, less a whole packet"),
        local part_step: Bits(part + 1, "what a tick adds to the part"),
        constant no_credit: Bits(part + 1, no_credit, "a part of 0"),
        constant part_sign: Number(part, "the sign of the part"),
        pub choice fractional(part_gain > 0), // a tick allows no whole number of packets
        pub local carry: Bit("the parts make a whole packet"),
        // The budget may be behind the window by the ticks of a step that is not complete.
        pub choice in_steps(step > 1), // it is added up several ticks at a time
        pub reg behind: Bit(false, "the budget is that of whole steps alone") if step > 1,
        local ticks_behind: Bits(step.ilog2().max(1), "ticks of a step that is not complete") if step > 1,
        local needed: Bit("a search may take the budget in the next cycle") if step > 1,
        local completes: Bit("a step is complete") if step > 1,
        pub local ticks_added: Bits(steps.index, "ticks that are added if the budget is behind") if step > 1,
        pub child packets_of_ticks: Table(
            About::new(
                "packets_of_ticks",
                "Whole packets that so many ticks of the window allow to delay.",
            ),
            steps.whole,
            budget,
        ) if step > 1,
        pub child parts_of_ticks: Table(
            About::new(
                "parts_of_ticks",
                format!(
                    "The part of a packet {fraction} that so many ticks allow to delay besides, less \
                     that of a tick."
                ),
            ),
            steps.part,
            part + 1,
        ) if step > 1 && part_gain > 0,
        pub local adds: Bit("ticks are added") if step > 1,
        pub local packets_added: Bits(budget, "the whole packets of them") if step > 1,
        local part_reached: Bits(
            part + 1, "the part of a packet, with that of all of them but a tick"
        ) if step > 1,
        alias grows: Bit(),
        alias whole_step: Bits(),
        alias part_from: Bits(),
    }
}

/// What the ticks of a step allow to delay.
struct Steps {
    /// Bits of a number of ticks.
    index: u32,
    /// For 0 ticks to a whole step: packets.
    whole: Vec<u128>,
    /// The part of a packet besides, less that of one tick, in two's complement.
    part: Vec<u128>,
}

impl Steps {
    fn new(plan: &PortPlan) -> Steps {
        let budget = &plan.budget;
        let (numerator, denominator) = (budget.numerator, budget.denominator);
        // No step reaches beyond the largest window, whose budget fits.
        let allowed = |ticks: u32| numerator.saturating_mul(ticks.into());
        let wraps = 1u128 << (clog2(denominator) + 1);
        let ticks = 0..=budget.step_ticks;
        Steps {
            index: clog2(u128::from(budget.step_ticks) + 1),
            whole: (ticks.clone())
                .map(|ticks| allowed(ticks) / denominator % (1 << budget.width))
                .collect(),
            part: ticks
                .map(|ticks| {
                    (allowed(ticks) % denominator + wraps - numerator % denominator) % wraps
                })
                .collect(),
        }
    }
}

impl Logic for AccumulatedBudget {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("The budget l / t_w * X as a whole number and a fraction, both exact.");
        if self.in_steps {
            comment!("Behind the window, only whole steps are added, and what is left of one when the budget");
            comment!("is needed.");
            self.ticks_behind.next = bit_cast(self.live_window.val(), &self.ticks_behind);
            self.needed.next = self.ended.val() | self.pending.val();
            self.completes.next = self.window_step.val() & self.ticks_behind.val().all();
            self.ticks_added.next = bit_cast(self.ticks_behind.val(), &self.ticks_added)
                + bit_cast(self.window_step.val(), &self.ticks_added);
            self.packets_of_ticks.index.next = self.ticks_added.val();
            if self.fractional {
                self.parts_of_ticks.index.next = self.ticks_added.val();
            }
            self.adds.next = self.window_step.val();
            self.packets_added.next = self.gain.val();
            self.part_reached.next = self.credit_part.q.val();
            if self.behind.q.val() {
                self.adds.next = self.completes.val() | self.needed.val();
                self.packets_added.next = self.packets_of_ticks.value.val();
                if self.fractional {
                    self.part_reached.next =
                        self.credit_part.q.val() + self.parts_of_ticks.value.val();
                }
            }
            self.grows.next = self.adds.val();
            self.whole_step.next = self.packets_added.val();
            self.part_from.next = self.part_reached.val();
            if self.needed.val() {
                self.behind.d.next = false;
            } else if self.completes.val() {
                self.behind.d.next = true;
            }
        } else {
            self.grows.next = self.window_step.val();
            self.whole_step.next = self.gain.val();
            self.part_from.next = self.credit_part.q.val();
        }
        if self.fractional {
            self.carry.next = !self.part_from.val().get_bit(self.part_sign.val());
            if self.carry.val() {
                self.part_step.next = self.part_after_carry.val();
            } else {
                self.part_step.next = self.gain_part.val();
            }
        } else {
            self.carry.next = false;
        }
        if self.grows.val() {
            if self.fractional {
                self.credit_part.d.next = self.part_from.val() + self.part_step.val();
            }
            self.credit.d.next = self.credit.q.val()
                + self.whole_step.val()
                + bit_cast(self.carry.val(), &self.credit);
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
    /// The budget of any window: the window times the rate, a digit of two bits of the window per
    /// clock cycle, when a search begins. The search loads the factors and counts the digits.
    pub struct MultipliedBudget;

    /// The budget of `plan`.
    pub fn new(plan: &PortPlan) {
        let budget = plan.budget.width;
        let Product { k, s } = plan.budget.product.unwrap_or(Product { k: 0, s: 0 });
        let adjustable = plan.budget.rate.is_some();
        let rate = rate_width(plan);
        let digits = window_digits(plan);
        let multiplier = DIGIT * digits;
        let product = product_width(plan);
    }

    {
        choice adjustable(adjustable), // the rate changes at run time
        constant fixed_rate: Bits(
            rate,
            if adjustable { 0 } else { k },
            format!("packets that a tick of the window allows to delay, times 2^{s}"),
        ),
        pub reg rate_taken: Bits(rate, k, "rate when the multiplication began"),
        pub reg steps_left: Bits(
            clog2(u128::from(digits) + 1), 0, "digits of the window left to multiply"
        ),
        pub reg multiplier: Bits(multiplier, 0, "digits left of the window, above them the product's"),
        pub reg carry: Bit(false, "1 more in the lowest of them"),
        pub reg product: Bits(rate + 1, 0, "upper part of the product, two's complement"),
        pub child digit_step: DigitStep(rate, multiplier),
        pub constant steps: Number(digits, "digits of the window"),
        constant lower_part: Number(multiplier, "bits of the lower part of the product"),
        constant rate_fraction: Number(s, "fraction bits of rate"),
        local whole_product: Bits(product, "the product"),
        pub local multiplied: Bits(budget, "the whole packets of it"),
    }
}

/// Bits of the rate: the packets that a tick of the window allows to delay, times 2^s.
pub fn rate_width(plan: &PortPlan) -> u32 {
    let constant = plan.budget.product.map_or(0, |product| product.k);
    let needed = (128 - constant.leading_zeros()).max(1);
    plan.budget.rate.map_or(needed, |rate| rate.width)
}

/// Bits that hold the product of the rate and any window.
pub fn product_width(plan: &PortPlan) -> u32 {
    let fraction = plan.budget.product.map_or(0, |product| product.s);
    (plan.budget.width + fraction).min(MAX_WIDTH)
}

impl Logic for MultipliedBudget {
    #[hdl_gen]
    fn update(&mut self) {
        comment!(
            "The window times l / t_w, from the lowest digit of the window up; what the product"
        );
        comment!("has shifted out is final and takes the place of the digits.");
        if self.adjustable {
            self.digit_step.factor.next = self.rate_taken.q.val();
        } else {
            self.digit_step.factor.next = self.fixed_rate.val();
        }
        self.digit_step.product.next = self.product.q.val();
        self.digit_step.multiplier.next = self.multiplier.q.val();
        self.digit_step.carry.next = self.carry.q.val();
        self.whole_product.next = (bit_cast(self.product.q.val(), &self.whole_product)
            << self.lower_part.val())
            | bit_cast(self.multiplier.q.val(), &self.whole_product);
        self.multiplied.next = bit_cast(
            self.whole_product.val() >> self.rate_fraction.val(),
            &self.multiplied,
        );
    }
}
