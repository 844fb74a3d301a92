//! The correction of PerfBound's threshold (SPEC 8).

mod digit_step;
pub mod golden;
mod quotient_step;
#[cfg(test)]
mod tests;

use self::digit_step::DigitStep;
use self::quotient_step::QuotientStep;
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

/// Raises PerfBound's threshold by the rate of misses times the geometric mean of their
/// ratios (SPEC 8, p000 3.4). The factor is computed while PerfBound searches.
#[derive(LogicBlock)]
pub struct Corrector {
    about: About,
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub t_pb_new: Signal<In, Bit>,
    pub t_pb: Signal<In, Bits>,
    pub sum: Signal<In, Bits>,
    pub misses: Signal<In, Bits>,
    pub under_way: Signal<In, Bits>,
    pub log2_cf: Signal<Out, Bits>,
    pub t_pdt: Signal<Out, Bits>,
    pub update: Signal<Out, Bit>,
    // What the factor must cover.
    stale: Reg<Bit>,
    waiting: Reg<Bit>,
    again: Reg<Bit>,
    lacking: Reg<Bit>,
    not_covered: Reg<Bits>,
    changing_at: Constant<Bits>,
    changing: Signal<Local, Bit>,
    unsettled: Signal<Local, Bit>,
    begins: Signal<Local, Bit>,
    multiply: Signal<Local, Bit>,
    comes: Signal<Local, Bit>,
    // The factor.
    phase: Reg<Phase>,
    step: Reg<Bits>,
    last_division: Constant<Bits>,
    last_power: Constant<Bits>,
    last_place: Constant<Bits>,
    quotient: Reg<Bits>,
    remainder: Reg<Bits>,
    divisor: Reg<Bits>,
    thrice: Reg<Bits>,
    guard: Constant<Bits>,
    ratio_bits: Constant<Bits>,
    digit_at: Constant<Bits>,
    quotient_step: QuotientStep,
    log2_rate: Table,
    joined: Signal<Local, Bits>,
    log2_cf_now: Reg<Bits>,
    corrects: Signal<Local, Bit>,
    at_least_one: Constant<Bit>,
    sign_at: Constant<Bits>,
    rest: Reg<Bits>,
    rise: Reg<Bits>,
    summand: Signal<Local, Bits>,
    lowest: Constant<Bits>,
    exp2_offset: Table,
    exp2_slope: Table,
    rest_bits: Constant<Bits>,
    fraction: Constant<Bits>,
    whole: Signal<Local, Bits>,
    lift: Constant<Bits>,
    lifted: Signal<Local, Bits>,
    lifted_sign_at: Constant<Bits>,
    highest: Constant<Bits>,
    all_places: Constant<Bits>,
    no_places: Constant<Bits>,
    one: Constant<Bits>,
    factor: Reg<Bits>,
    places: Reg<Bits>,
    leaps: Constant<Bit>,
    // The multiplication.
    multiplying: Reg<Bit>,
    steps_left: Reg<Bits>,
    steps: Constant<Bits>,
    multiplier: Reg<Bits>,
    carry: Reg<Bit>,
    product: Reg<Bits>,
    digit_steps: Vec<DigitStep>,
    half: Constant<Bits>,
    high_moves_up: Constant<Bit>,
    high_shift: Constant<Bits>,
    low_moves_up: Constant<Bit>,
    low_shift: Constant<Bits>,
    overflows: Constant<Bit>,
    overflow_shift: Constant<Bits>,
    result: Signal<Local, Bits>,
    too_long: Signal<Local, Bit>,
    max_value: Constant<Bits>,
    max_value_wide: Constant<Bits>,
    pub t_pdt_now: Reg<Bits>,
    update_now: Reg<Bit>,
    _stages: usize,
    _ratio_bits: usize,
    _quotient_bits: usize,
    _count_bits: usize,
    _rate_index_bits: usize,
    _thrice_bits: usize,
    _log2_cf_bits: usize,
    _segment_bits: usize,
    _rest_bits: usize,
    _rise_bits: usize,
    _wide_rise_bits: usize,
    _whole_bits: usize,
    _mantissa_bits: usize,
    _places_bits: usize,
    _factor_bits: usize,
    _digits: usize,
    _last_digit: usize,
    _multiplier_bits: usize,
    _result_bits: usize,
    _time_bits: usize,
}

impl Corrector {
    /// The correction of `plan`.
    pub fn new(plan: &PortPlan) -> Self {
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
        let multiplier = 2 * numbers.digits;
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
        let amount =
            |value: u32, doc: &str| Constant::bits(clog2(u128::from(value) + 1), value.into(), doc);
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
        let exp2 = |name: &str, what: &str, words: &[u64], bits| {
            let about = About::new(
                name,
                format!(
                    "{what} of the straight lines in whose place 2^g is computed, one for each of\n\
                     the {} equal segments of 0 <= g < 1.",
                    words.len()
                ),
            );
            Table::new(about, words.iter().copied().map(u128::from).collect(), bits)
        };
        Corrector {
            about: About::new(
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
            ),
            clk: Signal::clock("clock"),
            rst: Signal::bit("synchronous reset"),
            t_pb_new: Signal::bit("t_pb is new"),
            t_pb: Signal::bits(
                numbers.t_pb_bits,
                format!("PerfBound's threshold, in 2^{} ticks", numbers.t_pb_zeros),
            ),
            sum: Signal::bits(numbers.sum_bits(), "sum of the stored ratios"),
            misses: Signal::bits(count, "number of them"),
            under_way: Signal::bits(
                STAGES,
                "idle periods that sum and misses do not cover yet, the youngest lowest",
            ),
            log2_cf: Signal::bits(
                log2_cf,
                format!(
                    "binary logarithm of cf, two's complement, {} fraction bits; 0 without misses",
                    numbers.fraction
                ),
            ),
            t_pdt: Signal::bits(time, "corrected threshold, in ticks"),
            update: Signal::bit("t_pdt is new"),
            stale: Reg::bit(false, "the history has changed since the factor was begun"),
            waiting: Reg::bit(false, "a new t_pb waits for its factor"),
            again: Reg::bit(false, "a later t_pb came while it waits"),
            lacking: Reg::bit(false, "the factor it waits for has not been begun"),
            not_covered: Reg::bits(STAGES - 1, 0, "idle periods before it that are under way"),
            changing_at: amount(STAGES - 1, "last stage of an idle period under way"),
            changing: Signal::bit("the history changes at the end of this cycle"),
            unsettled: Signal::bit("the history or the factor lacks an idle period"),
            begins: Signal::bit("begin to compute the factor"),
            multiply: Signal::bit("begin to multiply"),
            comes: Signal::bit("a t_pb begins to wait"),
            phase: Reg::state(Phase::Idle, "where the computation of the factor stands"),
            step: Reg::bits(step, 0, "further cycles of the phase"),
            last_division: last(numbers.division_cycles(), "cycles of the division but one"),
            last_power: last(numbers.power_cycles(), "cycles of the power but one"),
            last_place: last(numbers.place_cycles(), "cycles of the placing but one"),
            quotient: Reg::bits(quotient, 0, "dividend above, quotient below"),
            remainder: Reg::bits(count, 0, "remainder of the division"),
            divisor: Reg::bits(count, 0, "misses that the factor covers"),
            thrice: Reg::bits(count + 2, 0, "three times that"),
            guard: amount(
                numbers.fraction - numbers.ratio_fraction,
                "fraction bits of the mean beyond those of a ratio",
            ),
            ratio_bits: amount(numbers.ratio_bits(), "bits of a ratio"),
            digit_at: amount(quotient - 2, "bits below the upper two"),
            quotient_step: QuotientStep::new(count),
            log2_rate: Table::new(
                About::new(
                    "log2_rate",
                    format!(
                        "Binary logarithm of the rate of misses, {}misses / {}, with {} fraction bits,\n\
                         less the {} that the stored ratios are too high; what is cut off in storing\n\
                         them and in dividing is made good on average. Two's complement. Entry 0 is\n\
                         that of a rate of {}, for a number of misses without its highest bit.",
                        match plan.correction.miss_unit {
                            MissUnit::Fraction => "",
                            MissUnit::Percent => "100 ",
                        },
                        numbers.history,
                        numbers.fraction,
                        1u64 << numbers.exponent_bits,
                        plan.correction.miss_unit.whole()
                    ),
                ),
                rates,
                log2_cf,
            ),
            joined: Signal::bits(log2_cf, "mean plus logarithm of the rate"),
            log2_cf_now: Reg::bits(log2_cf, 0, "logarithm of the factor"),
            corrects: Signal::bit("the factor is not 1"),
            at_least_one: Constant::bit(at_least_one, "the factor is at least 1"),
            sign_at: amount(log2_cf - 1, "place of the sign"),
            rest: Reg::bits(numbers.power.rest_bits, 0, "how far into the segment"),
            rise: Reg::bits(rise, 0, "slope times rest so far"),
            summand: Signal::bits(rise, "slope times the lowest bit of rest"),
            lowest: amount(0, "place of the lowest bit"),
            exp2_offset: exp2(
                "exp2_offset",
                "Where the segments begin",
                &numbers.power.offsets,
                numbers.power.offset_bits(),
            ),
            exp2_slope: exp2("exp2_slope", "Slopes", &numbers.power.slopes, rise),
            rest_bits: amount(numbers.power.rest_bits, "bits below the segment"),
            fraction: amount(numbers.fraction, "fraction bits of the logarithm"),
            whole: Signal::bits(whole, "whole part of the logarithm"),
            lift: Constant::bits(
                whole,
                numbers.lowest.unsigned_abs().into(),
                "places below the point",
            ),
            lifted: Signal::bits(whole, "places by which the mantissa moves up"),
            lifted_sign_at: amount(whole - 1, "place of its sign"),
            highest: Constant::bits(
                whole,
                numbers.highest.into(),
                "whole part that makes every threshold the longest",
            ),
            all_places: Constant::bits(places, numbers.places().into(), "places in all"),
            no_places: Constant::bits(
                places,
                numbers.lowest.unsigned_abs().into(),
                "places for a factor of 1",
            ),
            one: Constant::bits(factor, 1 << numbers.mantissa, "mantissa of 1"),
            factor: Reg::bits(
                factor,
                1 << (numbers.mantissa + numbers.lowest.unsigned_abs()),
                "the factor",
            ),
            places: Reg::bits(places, 0, "places by which it is still to move up"),
            leaps: Constant::bit(numbers.leaps(), "four places at a time where possible"),
            multiplying: Reg::bit(false, "t_pb is being multiplied"),
            steps_left: Reg::bits(
                clog2(u128::from(cycles) + 1),
                0,
                "cycles until every digit of t_pb is multiplied",
            ),
            steps: amount(cycles, "cycles for all digits"),
            multiplier: Reg::bits(multiplier, 0, "digits left of t_pb, above them the product's"),
            carry: Reg::bit(false, "1 more in the lowest of them"),
            product: Reg::bits(factor + 1, 0, "upper part of the product, two's complement"),
            digit_steps: (0..numbers.digits_a_cycle)
                .map(|_| DigitStep::new(factor, multiplier))
                .collect(),
            half: Constant::bits(
                factor + 1,
                if below > 0 { 1 << (below - 1) } else { 0 },
                "half a tick",
            ),
            high_moves_up: Constant::bit(high >= 0, "the lower part has bits above the point"),
            high_shift: amount(high.unsigned_abs(), "place of the upper part, in ticks"),
            low_moves_up: Constant::bit(below < 0, "t_pb has more zeros than the factor bits"),
            low_shift: amount(below.unsigned_abs(), "bits of the product below a tick"),
            overflows: Constant::bit(
                over <= factor as i32,
                "the product can be longer than the longest threshold's bits",
            ),
            overflow_shift: amount(over.max(0) as u32, "bits of the upper part in result"),
            result: Signal::bits(result, "lower bits of the product, in ticks"),
            too_long: Signal::bit("the product is longer than the longest threshold"),
            max_value: Constant::bits(time, max_value.into(), "longest threshold, in ticks"),
            max_value_wide: Constant::bits(
                result,
                max_value.into(),
                "the same, as wide as the result",
            ),
            t_pdt_now: Reg::bits(time, plan.t_pdt_init.into(), "the corrected threshold"),
            update_now: Reg::bit(false, "it is new"),
            _stages: STAGES as usize - 1,
            _ratio_bits: numbers.ratio_bits() as usize,
            _quotient_bits: quotient as usize,
            _count_bits: count as usize,
            _rate_index_bits: rate_index as usize,
            _thrice_bits: count as usize + 2,
            _log2_cf_bits: log2_cf as usize,
            _segment_bits: numbers.power.segment_bits as usize,
            _rest_bits: numbers.power.rest_bits as usize,
            _rise_bits: rise as usize,
            _wide_rise_bits: rise as usize + 1,
            _whole_bits: whole as usize,
            _mantissa_bits: numbers.mantissa as usize + 1,
            _places_bits: places as usize,
            _factor_bits: factor as usize,
            _digits: numbers.digits_a_cycle as usize,
            _last_digit: numbers.digits_a_cycle as usize - 1,
            _multiplier_bits: multiplier as usize,
            _result_bits: result as usize,
            _time_bits: time as usize,
        }
    }
}

impl Logic for Corrector {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clk,
            stale,
            waiting,
            again,
            lacking,
            not_covered,
            phase,
            step,
            quotient,
            remainder,
            divisor,
            thrice,
            log2_cf_now,
            rest,
            rise,
            factor,
            places,
            multiplying,
            steps_left,
            multiplier,
            carry,
            product,
            t_pdt_now,
            update_now
        );

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
            self.not_covered.d.next = bit_cast(self.under_way.val(), self._stages);
        } else {
            if self.begins.val() {
                self.lacking.d.next = false;
            }
            self.not_covered.d.next = self.not_covered.q.val() << 1;
        }

        comment!("Two bits of the quotient a cycle.");
        self.quotient_step.remainder.next = self.remainder.q.val();
        self.quotient_step.digit.next = bit_cast(self.quotient.q.val() >> self.digit_at.val(), 2);
        self.quotient_step.divisor.next = self.divisor.q.val();
        self.quotient_step.thrice.next = self.thrice.q.val();

        self.log2_rate.index.next = bit_cast(self.divisor.q.val(), self._rate_index_bits);
        self.joined.next =
            bit_cast(self.quotient.q.val(), self._log2_cf_bits) + self.log2_rate.value.val();

        self.exp2_offset.index.next = bit_cast(
            self.log2_cf_now.q.val() >> self.rest_bits.val(),
            self._segment_bits,
        );
        self.exp2_slope.index.next = bit_cast(
            self.log2_cf_now.q.val() >> self.rest_bits.val(),
            self._segment_bits,
        );
        self.whole.next = bit_cast(
            self.log2_cf_now.q.val() >> self.fraction.val(),
            self._whole_bits,
        );
        self.lifted.next = self.whole.val() + self.lift.val();
        if self.at_least_one.val() {
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

        if !(self.step.q.val() == 0) {
            self.step.d.next = self.step.q.val() - 1;
        }
        comment!("The mantissa may take its last step when the phase is over: a multiplication");
        comment!("that begins then uses the factor from the next cycle on.");
        if self.places.q.val().any() {
            self.factor.d.next = self.factor.q.val() << 1;
            self.places.d.next = self.places.q.val() - 1;
        }
        if self.leaps.val() {
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
                    | bit_cast(self.quotient_step.quotient.val(), self._quotient_bits);
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
                self.rest.d.next = bit_cast(self.joined.val(), self._rest_bits);
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
                    self._rise_bits,
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
                        self._factor_bits,
                    );
                    self.places.d.next = bit_cast(self.lifted.val(), self._places_bits);
                    if !self.at_least_one.val() {
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
            self.quotient.d.next = bit_cast(
                bit_cast(self.sum.val(), self._ratio_bits),
                self._quotient_bits,
            ) << self.guard.val();
            self.remainder.d.next =
                bit_cast(self.sum.val() >> self.ratio_bits.val(), self._count_bits);
            self.divisor.d.next = self.misses.val();
            self.thrice.d.next = bit_cast(self.misses.val(), self._thrice_bits)
                + (bit_cast(self.misses.val(), self._thrice_bits) << 1);
            self.step.d.next = self.last_division.val();
            self.phase.d.next = Phase::Divide;
        }

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
        if self.low_moves_up.val() {
            self.result.next = (bit_cast(self.product.q.val(), self._result_bits)
                << self.high_shift.val())
                | (bit_cast(self.multiplier.q.val(), self._result_bits) << self.low_shift.val());
        } else if self.high_moves_up.val() {
            self.result.next = (bit_cast(self.product.q.val(), self._result_bits)
                << self.high_shift.val())
                | bit_cast(
                    self.multiplier.q.val() >> self.low_shift.val(),
                    self._result_bits,
                );
        } else {
            self.result.next = bit_cast(
                self.product.q.val() >> self.high_shift.val(),
                self._result_bits,
            );
        }
        if self.overflows.val() {
            self.too_long.next = (self.product.q.val() >> self.overflow_shift.val()).any()
                | (self.result.val() > self.max_value_wide.val());
        } else {
            self.too_long.next = self.result.val() > self.max_value_wide.val();
        }
        self.update_now.d.next = false;
        if self.multiply.val() {
            self.multiplier.d.next = bit_cast(self.t_pb.val(), self._multiplier_bits);
            self.product.d.next = self.half.val();
            self.carry.d.next = false;
            self.steps_left.d.next = self.steps.val();
            self.multiplying.d.next = true;
        } else if self.multiplying.q.val() {
            if self.steps_left.q.val().any() {
                for i in self._last_digit..self._digits {
                    self.multiplier.d.next = self.digit_steps[i].next_multiplier.val();
                    self.product.d.next = self.digit_steps[i].next_product.val();
                    self.carry.d.next = self.digit_steps[i].next_carry.val();
                }
                self.steps_left.d.next = self.steps_left.q.val() - 1;
            } else {
                if self.too_long.val() {
                    self.t_pdt_now.d.next = self.max_value.val();
                } else {
                    self.t_pdt_now.d.next = bit_cast(self.result.val(), self._time_bits);
                }
                self.update_now.d.next = true;
                self.multiplying.d.next = false;
            }
        }

        self.log2_cf.next = self.log2_cf_now.q.val();
        self.t_pdt.next = self.t_pdt_now.q.val();
        self.update.next = self.update_now.q.val();
    }
}
