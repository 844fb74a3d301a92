//! The correction of PerfBound's threshold (SPEC 8).

pub mod golden;
mod quotient_step;
#[cfg(test)]
mod tests;

use self::quotient_step::QuotientStep;
use crate::blocks::digit_step::{DigitStep, DIGIT};
use crate::blocks::fixed_point::Arithmetic;
use crate::blocks::miss_history::STAGES;
use crate::blocks::perfbound;
use crate::config::plan::{MissUnit, PortPlan};
use crate::hdl::prelude::*;

states! {
    /// Where the computation of the factor stands.
    pub enum Phase {
        Idle = "the factor stands",
        Divide = "mean of the logarithms: their sum divided by the number of misses",
        Join = "mean plus logarithm of the rate of misses",
        Power = "2 to the fraction of that: slope times rest",
        Compose = "2 to the fraction: the line's value",
        Place = "2 to the whole part: moving the point",
    }
}

/// Clock cycles from the first active cycle after an idle period to the corrected
/// threshold, at most, if no further idle period ends before: from the later of PerfBound's
/// threshold and the factor one to begin, one per digit or some of the multiplication, one to
/// compare with the longest threshold.
pub fn latency(plan: &PortPlan) -> u64 {
    let numbers = Arithmetic::new(plan);
    perfbound::update_latency(plan).max(numbers.factor_latency()) + numbers.multiplication_cycles()
}

/// Clock cycles between two corrected thresholds, at most, under the hardest traffic
/// (SPEC 10). Between two thresholds of PerfBound lies their own interval; the second waits
/// until the idle periods before it have reached the history, for the cycle in which the
/// history changes, and for a factor computed anew.
pub fn interval_at_line_rate(plan: &PortPlan) -> u64 {
    let numbers = Arithmetic::new(plan);
    perfbound::update_interval_at_line_rate(plan)
        + u64::from(STAGES)
        + 1
        + numbers.factor_cycles()
        + numbers.multiplication_cycles()
}

block! {
    /// Raises PerfBound's threshold by the rate of misses times the geometric mean of their
    /// ratios (SPEC 8, PerfBound 3.4). The factor is computed while PerfBound searches.
    pub struct Corrector(clk, rst);

    /// The correction of `plan`.
    pub fn new(plan: &PortPlan) {
        let numbers = Arithmetic::new(plan);
        let max_value = plan.histogram.max_value;
        let time = plan.time_width;
        let at_least_one = plan.correction.at_least_one;
        let quotient = numbers.quotient_bits();
        let count = numbers.count_bits();
        let log2_cf = numbers.log2_cf_bits();
        let whole = numbers.whole_bits();
        let rise = numbers.power.slope_bits();
        let places = clog2(u128::from(numbers.places()) + 1);
        let factor = numbers.factor_bits();
        let multiplier = DIGIT * numbers.digits;
        let cycles = numbers.digits / numbers.digits_a_cycle;
        // Ticks are the product without so many bits; with so many zeros if negative.
        let below = numbers.mantissa as i32 - numbers.lowest - numbers.t_pb_zeros as i32;
        let high = multiplier as i32 - below;
        let value_bits = clog2(u128::from(max_value) + 1);
        let result = (value_bits as i32).max(high).max(1) as u32;
        let over = result as i32 - high;
        let steps = numbers
            .division_cycles()
            .max(numbers.power_cycles())
            .max(numbers.place_cycles());
        let step = clog2(steps.into());
        let last = |cycles: u32, doc: &str| Constant::bits(step, u128::from(cycles) - 1, doc);
        let signed = |value: i64| value as u128 & (u128::MAX >> (128 - log2_cf));
        // The ratios are stored 2^exponent_bits too high, and so is their mean.
        let bias = 1i64 << (numbers.exponent_bits + numbers.fraction);
        // As many as the index has bits for; if n_R is a power of two, it takes the place of 0.
        let rate_index = clog2(numbers.history.into()).max(1);
        let rates: Vec<_> = (0..=numbers.history.min((1 << rate_index) - 1))
            .map(|misses| match misses {
                0 => numbers.history as usize,
                _ => misses as usize,
            })
            .map(|misses| signed(numbers.rate[misses] - bias))
            .collect();
        let lines_of = |name: &str, what: &str, words: &[u64]| {
            About::new(
                name,
                format!(
                    "{what} of the straight lines in whose place 2^g is computed, one for each of\n\
                     the {} equal segments of 0 <= g < 1.",
                    words.len()
                ),
            )
        };
        let lines = &numbers.power;
        let words = |words: &[u64]| words.iter().copied().map(u128::from).collect();
    }

    about(
        "corrector",
        format!(
            "Raises PerfBound's threshold: t_pdt = min(t_pb * {}, longest threshold), where\n\
             cf is the rate of misses times the geometric mean of their ratios.\n\
             \n\
             The factor is computed whenever the history has changed, beside PerfBound's\n\
             search: log2 cf = sum / misses + log2(misses / {}), then 2 to that. A new\n\
             threshold of PerfBound waits until the factor covers every idle period that\n\
             ended before it; one that comes in the meantime takes its place, and is\n\
             multiplied again when its own idle periods are covered.",
            if at_least_one { "max(1, cf)" } else { "cf" },
            numbers.history
        ),
    )

    {
        pub in t_pb_new: Bit("t_pb is new"),
        pub in t_pb: Bits(
            numbers.t_pb_bits, format!("PerfBound's threshold, in 2^{} ticks", numbers.t_pb_zeros)
        ),
        pub in sum: Bits(numbers.sum_bits(), "sum of the stored ratios"),
        pub in misses: Bits(count, "number of them"),
        pub in under_way: Bits(
            STAGES, "idle periods that sum and misses do not cover yet, the youngest lowest"
        ),
        pub out log2_cf: Bits(
            log2_cf,
            format!("binary logarithm of cf, two's complement, {} fraction bits; 0 without misses", numbers.fraction),
        ),
        pub out t_pdt: Bits(time, "corrected threshold, in ticks"),
        pub out update: Bit("t_pdt is new"),
        // What the factor must cover.
        reg stale: Bit(false, "the history has changed since the factor was begun"),
        reg waiting: Bit(false, "a new t_pb waits for its factor"),
        reg again: Bit(false, "a later t_pb came while it waits"),
        reg lacking: Bit(false, "the factor it waits for has not been begun"),
        reg not_covered: Bits(STAGES - 1, 0, "idle periods before it that are under way"),
        constant changing_at: Number(STAGES - 1, "last stage of an idle period under way"),
        local changing: Bit("the history changes at the end of this cycle"),
        local unsettled: Bit("the history or the factor lacks an idle period"),
        local begins: Bit("begin to compute the factor"),
        local multiply: Bit("begin to multiply"),
        local comes: Bit("a t_pb begins to wait"),
        // The factor.
        reg phase: Phase(Phase::Idle, "where the computation of the factor stands"),
        reg step: Bits(step, 0, "further cycles of the phase"),
        constant last_division: last(numbers.division_cycles(), "cycles of the division but one"),
        constant last_power: last(numbers.power_cycles(), "cycles of the power but one"),
        constant last_place: last(numbers.place_cycles(), "cycles of the placing but one"),
        reg quotient: Bits(quotient, 0, "dividend above, quotient below"),
        reg remainder: Bits(count, 0, "remainder of the division"),
        reg divisor: Bits(count, 0, "misses that the factor covers"),
        reg thrice: Bits(count + 2, 0, "three times that"),
        constant guard: Number(
            numbers.fraction - numbers.ratio_fraction,
            "fraction bits of the mean beyond those of a ratio",
        ),
        constant ratio_bits: Number(numbers.ratio_bits(), "bits of a ratio"),
        constant digit_at: Number(quotient - 2, "bits below the upper two"),
        child quotient_step: QuotientStep(count),
        child log2_rate: Table(
            About::new("log2_rate", format!("Binary logarithm of the rate of misses, {}misses / {}, with {} fraction bits,\n\
                         less the {} that the stored ratios are too high; what is cut off in storing\n\
                         them and in dividing is made good on average. Two's complement. Entry 0 is\n\
                         that of a rate of {}, for a number of misses without its highest bit.", match plan.correction.miss_unit { MissUnit::Fraction => "", MissUnit::Percent => "100 ", }, numbers.history, numbers.fraction, 1u64 << numbers.exponent_bits, plan.correction.miss_unit.whole())),
            rates,
            log2_cf,
        ),
        local joined: Bits(log2_cf, "mean plus logarithm of the rate"),
        reg log2_cf_now: Bits(log2_cf, 0, "logarithm of the factor"),
        local corrects: Bit("the factor is not 1"),
        choice at_least_one(at_least_one), // the factor is at least 1
        constant sign_at: Number(log2_cf - 1, "place of the sign"),
        reg rest: Bits(numbers.power.rest_bits, 0, "how far into the segment"),
        reg rise: Bits(rise, 0, "slope times rest so far"),
        local summand: Bits(rise, "slope times the lowest bit of rest"),
        constant lowest: Number(0, "place of the lowest bit"),
        child exp2_offset: Table(
            lines_of("exp2_offset", "Where the segments begin", &lines.offsets),
            words(&lines.offsets),
            lines.offset_bits(),
        ),
        child exp2_slope: Table(
            lines_of("exp2_slope", "Slopes", &lines.slopes), words(&lines.slopes), rise
        ),
        constant rest_bits: Number(numbers.power.rest_bits, "bits below the segment"),
        constant fraction: Number(numbers.fraction, "fraction bits of the logarithm"),
        local whole: Bits(whole, "whole part of the logarithm"),
        constant lift: Bits(whole, numbers.lowest.unsigned_abs().into(), "places below the point"),
        local lifted: Bits(whole, "places by which the mantissa moves up"),
        constant lifted_sign_at: Number(whole - 1, "place of its sign"),
        constant highest: Bits(
            whole, numbers.highest.into(), "whole part that makes every threshold the longest"
        ),
        constant all_places: Bits(places, numbers.places().into(), "places in all"),
        constant no_places: Bits(
            places, numbers.lowest.unsigned_abs().into(), "places for a factor of 1"
        ),
        constant one: Bits(factor, 1 << numbers.mantissa, "mantissa of 1"),
        reg factor: Bits(
            factor, 1 << (numbers.mantissa + numbers.lowest.unsigned_abs()), "the factor"
        ),
        reg places: Bits(places, 0, "places by which it is still to move up"),
        choice leaps(numbers.leaps()), // four places at a time where possible
        // The multiplication.
        reg multiplying: Bit(false, "t_pb is being multiplied"),
        reg steps_left: Bits(
            clog2(u128::from(cycles) + 1), 0, "cycles until every digit of t_pb is multiplied"
        ),
        constant steps: Number(cycles, "cycles for all digits"),
        reg multiplier: Bits(multiplier, 0, "digits left of t_pb, above them the product's"),
        reg carry: Bit(false, "1 more in the lowest of them"),
        reg product: Bits(factor + 1, 0, "upper part of the product, two's complement"),
        child digit_steps[_ in 0..numbers.digits_a_cycle]: DigitStep(factor, multiplier),
        constant half: Bits(
            factor + 1, if below > 0 { 1 << (below - 1) } else { 0 }, "half a tick"
        ),
        choice high_moves_up(high >= 0), // the lower part has bits above the point
        constant high_shift: Number(high.unsigned_abs(), "place of the upper part, in ticks"),
        choice low_moves_up(below < 0), // t_pb has more zeros than the factor bits
        constant low_shift: Number(below.unsigned_abs(), "bits of the product below a tick"),
        // The product can be longer than the longest threshold's bits.
        choice overflows(over <= factor as i32),
        constant overflow_shift: Number(over.max(0) as u32, "bits of the upper part in result"),
        local result: Bits(result, "lower bits of the product, in ticks"),
        local too_long: Bit("the product is longer than the longest threshold"),
        constant max_value: Bits(time, max_value.into(), "longest threshold, in ticks"),
        constant max_value_wide: Bits(result, max_value.into(), "the same, as wide as the result"),
        pub reg t_pdt_now: Bits(time, plan.t_pdt_init.into(), "the corrected threshold"),
        reg update_now: Bit(false, "it is new"),
        number _ratio_bits(numbers.ratio_bits()),
        number _wide_rise_bits(rise as usize + 1),
        number _mantissa_bits(numbers.mantissa as usize + 1),
        number _digits(numbers.digits_a_cycle),
    }
}

pieces! {
    impl Logic for Corrector {
        Begins,
        Exponent,
        Phases,
        Product,
        Outputs,
    }
}

/// When a factor is computed, and when a threshold is multiplied by it.
impl Piece<Begins> for Corrector {
    #[hdl_gen]
    fn update(&mut self) {
        self.changing.next = self.under_way.val().get_bit(self.changing_at.val());
        self.unsettled.next = self.under_way.val().any() | self.stale.q.val();
        comment!("A factor that is waited for is begun anew as soon as the history covers");
        comment!("what it must; otherwise a changed history is taken up when the last is done.");
        if self.waiting.q.val() & self.lacking.q.val() {
            self.begins.next = !self.changing.val() & !self.not_covered.q.val().any();
        } else {
            self.begins.next =
                !self.changing.val() & self.stale.q.val() & (self.phase.q.val() == Phase::Idle);
        }
        self.multiply.next = (self.phase.q.val() == Phase::Idle)
            & !self.multiplying.q.val()
            & ((self.waiting.q.val() & !self.lacking.q.val())
                | (!self.waiting.q.val() & self.t_pb_new.val() & !self.unsettled.val()));
        self.comes.next = (self.multiply.val()
            & self.waiting.q.val()
            & (self.again.q.val() | self.t_pb_new.val()))
            | (!self.multiply.val() & !self.waiting.q.val() & self.t_pb_new.val());

        if self.changing.val() {
            self.stale.d.next = true;
        } else if self.begins.val() {
            self.stale.d.next = false;
        }
        if self.comes.val() {
            self.waiting.d.next = true;
        } else if self.multiply.val() {
            self.waiting.d.next = false;
        }
        if self.multiply.val() {
            self.again.d.next = false;
        } else if self.waiting.q.val() & self.t_pb_new.val() {
            self.again.d.next = true;
        }
        if self.comes.val() {
            self.lacking.d.next = self.unsettled.val();
            self.not_covered.d.next = bit_cast(self.under_way.val(), &self.not_covered);
        } else {
            if self.begins.val() {
                self.lacking.d.next = false;
            }
            self.not_covered.d.next = self.not_covered.q.val() << 1;
        }
    }
}

/// The logarithm of the factor, and what of it makes its power of two.
impl Piece<Exponent> for Corrector {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("Two bits of the quotient a cycle.");
        self.quotient_step.remainder.next = self.remainder.q.val();
        self.quotient_step.digit.next = bit_cast(self.quotient.q.val() >> self.digit_at.val(), 2);
        self.quotient_step.divisor.next = self.divisor.q.val();
        self.quotient_step.thrice.next = self.thrice.q.val();

        self.log2_rate.index.next = bit_cast(self.divisor.q.val(), &self.log2_rate.index);
        self.joined.next =
            bit_cast(self.quotient.q.val(), &self.joined) + self.log2_rate.value.val();

        self.exp2_offset.index.next = bit_cast(
            self.log2_cf_now.q.val() >> self.rest_bits.val(),
            &self.exp2_offset.index,
        );
        self.exp2_slope.index.next = bit_cast(
            self.log2_cf_now.q.val() >> self.rest_bits.val(),
            &self.exp2_offset.index,
        );
        self.whole.next = bit_cast(self.log2_cf_now.q.val() >> self.fraction.val(), &self.whole);
        self.lifted.next = self.whole.val() + self.lift.val();
        if self.at_least_one {
            self.corrects.next =
                self.divisor.q.val().any() & !self.log2_cf_now.q.val().get_bit(self.sign_at.val());
        } else {
            self.corrects.next = self.divisor.q.val().any();
        }

        if self.rest.q.val().get_bit(self.lowest.val()) {
            self.summand.next = self.exp2_slope.value.val();
        } else {
            self.summand.next = 0.into();
        }
    }
}

/// The phases of a factor.
impl Piece<Phases> for Corrector {
    #[hdl_gen]
    fn update(&mut self) {
        if !(self.step.q.val() == 0) {
            self.step.d.next = self.step.q.val() - 1;
        }
        comment!("The mantissa may take its last step when the phase is over: a multiplication");
        comment!("that begins then uses the factor from the next cycle on.");
        if self.places.q.val().any() {
            self.factor.d.next = self.factor.q.val() << 1;
            self.places.d.next = self.places.q.val() - 1;
        }
        if self.leaps {
            if (self.places.q.val() >> 2).any() {
                self.factor.d.next = self.factor.q.val() << 4;
                self.places.d.next = self.places.q.val() - 4;
            }
        }
        match self.phase.q.val() {
            Phase::Idle => {}
            Phase::Divide => {
                self.remainder.d.next = self.quotient_step.next_remainder.val();
                self.quotient.d.next = (self.quotient.q.val() << 2)
                    | bit_cast(self.quotient_step.quotient.val(), &self.quotient);
                if self.step.q.val() == 0 {
                    self.phase.d.next = Phase::Join;
                }
            }
            Phase::Join => {
                if self.divisor.q.val().any() {
                    self.log2_cf_now.d.next = self.joined.val();
                } else {
                    self.log2_cf_now.d.next = 0.into();
                }
                self.rest.d.next = bit_cast(self.joined.val(), &self.rest);
                self.rise.d.next = 0.into();
                self.step.d.next = self.last_power.val();
                self.phase.d.next = Phase::Power;
            }
            Phase::Power => {
                comment!("A bit a cycle, from the lowest; what is shifted out is final.");
                self.rise.d.next = bit_cast(
                    (bit_cast(self.rise.q.val(), self._wide_rise_bits)
                        + bit_cast(self.summand.val(), self._wide_rise_bits))
                        >> 1,
                    &self.rise,
                );
                self.rest.d.next = self.rest.q.val() >> 1;
                if self.step.q.val() == 0 {
                    self.phase.d.next = Phase::Compose;
                }
            }
            Phase::Compose => {
                if !self.corrects.val() {
                    self.factor.d.next = self.one.val();
                    self.places.d.next = self.no_places.val();
                } else if !self.log2_cf_now.q.val().get_bit(self.sign_at.val())
                    & (self.whole.val() > self.highest.val())
                {
                    self.factor.d.next = self.one.val();
                    self.places.d.next = self.all_places.val();
                } else {
                    self.factor.d.next = bit_cast(
                        self.exp2_offset.value.val()
                            + bit_cast(self.rise.q.val(), self._mantissa_bits),
                        &self.factor,
                    );
                    self.places.d.next = bit_cast(self.lifted.val(), &self.places);
                    if !self.at_least_one {
                        comment!("So small a factor makes every threshold 0.");
                        if self.log2_cf_now.q.val().get_bit(self.sign_at.val())
                            & self.lifted.val().get_bit(self.lifted_sign_at.val())
                        {
                            self.factor.d.next = 0.into();
                        }
                    }
                }
                self.step.d.next = self.last_place.val();
                self.phase.d.next = Phase::Place;
            }
            Phase::Place => {
                if self.step.q.val() == 0 {
                    self.phase.d.next = Phase::Idle;
                }
            }
            _ => {
                self.phase.d.next = Phase::Idle;
            }
        }
        if self.begins.val() {
            self.quotient.d.next =
                bit_cast(bit_cast(self.sum.val(), self._ratio_bits), &self.quotient)
                    << self.guard.val();
            self.remainder.d.next =
                bit_cast(self.sum.val() >> self.ratio_bits.val(), &self.remainder);
            self.divisor.d.next = self.misses.val();
            self.thrice.d.next = bit_cast(self.misses.val(), &self.thrice)
                + (bit_cast(self.misses.val(), &self.thrice) << 1);
            self.step.d.next = self.last_division.val();
            self.phase.d.next = Phase::Divide;
        }
    }
}

/// The threshold of the search times the factor.
impl Piece<Product> for Corrector {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("From the lowest digit up; what the product has shifted out is final and");
        comment!("takes the place of the digits.");
        self.digit_steps[0].product.next = self.product.q.val();
        self.digit_steps[0].multiplier.next = self.multiplier.q.val();
        self.digit_steps[0].carry.next = self.carry.q.val();
        for i in 1..self._digits {
            self.digit_steps[i].product.next = self.digit_steps[i - 1].next_product.val();
            self.digit_steps[i].multiplier.next = self.digit_steps[i - 1].next_multiplier.val();
            self.digit_steps[i].carry.next = self.digit_steps[i - 1].next_carry.val();
        }
        for i in 0..self._digits {
            self.digit_steps[i].factor.next = self.factor.q.val();
        }
        if self.low_moves_up {
            self.result.next = (bit_cast(self.product.q.val(), &self.result)
                << self.high_shift.val())
                | (bit_cast(self.multiplier.q.val(), &self.result) << self.low_shift.val());
        } else if self.high_moves_up {
            self.result.next = (bit_cast(self.product.q.val(), &self.result)
                << self.high_shift.val())
                | bit_cast(
                    self.multiplier.q.val() >> self.low_shift.val(),
                    &self.result,
                );
        } else {
            self.result.next =
                bit_cast(self.product.q.val() >> self.high_shift.val(), &self.result);
        }
        if self.overflows {
            self.too_long.next = (self.product.q.val() >> self.overflow_shift.val()).any()
                | (self.result.val() > self.max_value_wide.val());
        } else {
            self.too_long.next = self.result.val() > self.max_value_wide.val();
        }
        self.update_now.d.next = false;
        if self.multiply.val() {
            self.multiplier.d.next = bit_cast(self.t_pb.val(), &self.multiplier);
            self.product.d.next = self.half.val();
            self.carry.d.next = false;
            self.steps_left.d.next = self.steps.val();
            self.multiplying.d.next = true;
        } else if self.multiplying.q.val() {
            if self.steps_left.q.val().any() {
                self.multiplier.d.next = self.digit_steps[self._digits - 1].next_multiplier.val();
                self.product.d.next = self.digit_steps[self._digits - 1].next_product.val();
                self.carry.d.next = self.digit_steps[self._digits - 1].next_carry.val();
                self.steps_left.d.next = self.steps_left.q.val() - 1;
            } else {
                if self.too_long.val() {
                    self.t_pdt_now.d.next = self.max_value.val();
                } else {
                    self.t_pdt_now.d.next = bit_cast(self.result.val(), &self.t_pdt_now);
                }
                self.update_now.d.next = true;
                self.multiplying.d.next = false;
            }
        }
    }
}

/// The corrected threshold.
impl Piece<Outputs> for Corrector {
    #[hdl_gen]
    fn update(&mut self) {
        self.log2_cf.next = self.log2_cf_now.q.val();
        self.t_pdt.next = self.t_pdt_now.q.val();
        self.update.next = self.update_now.q.val();
    }
}
