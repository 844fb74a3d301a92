//! The binary logarithm of times (SPEC 8).

mod normalise;
#[cfg(test)]
mod tests;

use self::normalise::Normalise;
use crate::blocks::fixed_point::Arithmetic;
use crate::config::plan::PortPlan;
use crate::hdl::prelude::*;

/// Clock cycles from a value to its logarithm.
pub const LATENCY: u64 = 6;

/// The lowest bit of a time that its logarithm's `upper` is of.
pub fn upper_from(plan: &PortPlan) -> u32 {
    1 << (clog2(plan.time_width.into()) - 1)
}

block! {
    /// `log2` of a time in ticks, up to a constant that a difference of two does not contain:
    /// a value every cycle, each after [`LATENCY`] cycles. 0 counts as 1 (SPEC 8).
    pub struct Logarithm(clk, rst);

    /// The logarithm of `plan`.
    pub fn new(plan: &PortPlan) {
        let numbers = Arithmetic::new(plan);
        let lines = &numbers.logarithm;
        let (segment, rest) = (lines.segment_bits, lines.rest_bits);
        let mantissa = segment + rest;
        let steps = numbers.exponent_bits;
        // The value stands at the top of 2^steps bits, or of more if the mantissa has more.
        let top = 1u32 << steps;
        let operand = top.max(mantissa + 1);
        // Before a step; it and those after it may move by 2^(steps - step) - 1 bits in all.
        let width = |step: u32| operand.min(mantissa + (1 << (steps - step)));
        let half = steps / 2;
        let rows = lines.slope_bits();
        let product = rows + rest;
        let result = numbers.exponent_bits + 1 + numbers.fraction;
        let lines_of = |name: &str, what: &str, words: &[u64]| {
            About::new(
                name,
                format!(
                    "{what} of the straight lines in whose place log2(1 + f) is computed, one for\n\
                     each of the {} equal segments of 0 <= f < 1.",
                    words.len()
                ),
            )
        };
        let words = |words: &[u64]| words.iter().copied().map(u128::from).collect();
    }

    about(
        "logarithm",
        format!(
            "Binary logarithm with {} fraction bits, a value every cycle, each after {LATENCY}\n\
             cycles, up to a constant that a difference of two does not contain. The whole\n\
             part is the place of the highest 1; the fraction is read off a straight line,\n\
             chosen by the bits below the highest 1. 0 counts as 1.",
            numbers.fraction
        ),
    )

    {
        pub in value: Bits(plan.time_width, "a time, in ticks"),
        pub in upper: Bit(format!("it is at least 2^{}", upper_from(plan))),
        pub out logarithm: Bits(result, "its logarithm"),
        reg operand: Bits(plan.time_width, 0, "the time"),
        reg operand_upper: Bit(false, "its first bit of the whole part"),
        constant padding: Number(operand - top, "bits below the time"),
        child coarse[step in 0..half]: Normalise(width(step), width(step + 1), step, steps),
        reg partly: Bits(width(half), 0, "the time, moved up in big steps"),
        reg partly_whole: Bits(half, 0, "upper bits of the whole part"),
        child fine[step in half..steps]: Normalise(width(step), width(step + 1), step, steps),
        reg mantissa: Bits(mantissa, 0, "what follows the highest 1"),
        reg whole: Bits(steps, 0, "the whole part"),
        child log2_offset: Table(
            lines_of("log2_offset", "Where the segments begin", &lines.offsets),
            words(&lines.offsets),
            lines.offset_bits(),
        ),
        child log2_slope: Table(
            lines_of("log2_slope", "Slopes", &lines.slopes),
            words(&lines.slopes),
            lines.slope_bits(),
        ),
        reg line_whole: Bits(steps, 0, "the whole part"),
        reg offset: Bits(lines.offset_bits(), 0, "the line's value where its segment begins"),
        reg slope: Bits(lines.slope_bits(), 0, "the line's slope"),
        reg rest: Bits(rest, 0, "how far into the segment"),
        reg start: Bits(result, 0, "whole part and the line's value where its segment begins"),
        constant row_at[place in 0..rows]: Number(place, "place of a bit of the slope"),
        local rows[_ in 0..rows]: Bits(product, "rest times a bit of the slope"),
        local sums[_ in 0..rows]: Bits(product, "rows so far"),
        reg low: Bits(product, 0, "rest times the lower half of the slope"),
        reg high: Bits(product, 0, "rest times the upper half of the slope"),
        reg start_then: Bits(result, 0, "start, a cycle later"),
        reg rise: Bits(product - lines.shift, 0, "how far the line has risen since"),
        constant rest_bits: Number(rest, "bits of the mantissa below the segment"),
        constant slope_rest_bits: Number(
            mantissa - lines.slope_index_bits,
            "bits of the mantissa below those that choose the slope",
        ),
        constant shift: Number(lines.shift, "fraction bits of the product that are dropped"),
        constant fraction: Number(numbers.fraction, "fraction bits of the logarithm"),
        number _coarse(half),
        number _fine(steps - half),
        number _operand_bits(operand),
        number _product_bits(product),
        number _rows(rows),
        number _half(rows as usize / 2),
        number _after_half(rows as usize / 2 + 1),
    }
}

impl Logic for Logarithm {
    #[hdl_gen]
    fn update(&mut self) {
        self.operand.d.next = self.value.val();
        self.operand_upper.d.next = self.upper.val();

        self.coarse[0].value.next =
            bit_cast(self.operand.q.val(), self._operand_bits) << self.padding.val();
        self.coarse[0].upper.next = self.operand_upper.q.val();
        for i in 1..self._coarse {
            self.coarse[i].value.next = self.coarse[i - 1].normalised.val();
            self.coarse[i].exponent.next = self.coarse[i - 1].whole.val();
        }
        self.partly.d.next = self.coarse[self._coarse - 1].normalised.val();
        self.partly_whole.d.next = self.coarse[self._coarse - 1].whole.val();

        self.fine[0].value.next = self.partly.q.val();
        self.fine[0].exponent.next = self.partly_whole.q.val();
        for i in 1..self._fine {
            self.fine[i].value.next = self.fine[i - 1].normalised.val();
            self.fine[i].exponent.next = self.fine[i - 1].whole.val();
        }
        self.mantissa.d.next = self.fine[self._fine - 1].normalised.val();
        self.whole.d.next = self.fine[self._fine - 1].whole.val();

        self.log2_offset.index.next = bit_cast(
            self.mantissa.q.val() >> self.rest_bits.val(),
            &self.log2_offset.index,
        );
        self.log2_slope.index.next = bit_cast(
            self.mantissa.q.val() >> self.slope_rest_bits.val(),
            &self.log2_slope.index,
        );
        self.line_whole.d.next = self.whole.q.val();
        self.offset.d.next = self.log2_offset.value.val();
        self.slope.d.next = self.log2_slope.value.val();
        self.rest.d.next = bit_cast(self.mantissa.q.val(), &self.rest);

        self.start.d.next = (bit_cast(self.line_whole.q.val(), &self.start) << self.fraction.val())
            | bit_cast(self.offset.q.val(), &self.start);
        comment!("Slope times rest, in two halves.");
        for i in 0..self._rows {
            if self.slope.q.val().get_bit(self.row_at[i].val()) {
                self.rows[i].next =
                    bit_cast(self.rest.q.val(), self._product_bits) << self.row_at[i].val();
            } else {
                self.rows[i].next = 0.into();
            }
        }
        self.sums[0].next = self.rows[0].val();
        for i in 1..self._half {
            self.sums[i].next = self.sums[i - 1].val() + self.rows[i].val();
        }
        self.sums[self._half].next = self.rows[self._half].val();
        for i in self._after_half..self._rows {
            self.sums[i].next = self.sums[i - 1].val() + self.rows[i].val();
        }
        self.low.d.next = self.sums[self._half - 1].val();
        self.high.d.next = self.sums[self._rows - 1].val();

        self.start_then.d.next = self.start.q.val();
        self.rise.d.next = bit_cast(
            (self.low.q.val() + self.high.q.val()) >> self.shift.val(),
            &self.rise,
        );

        self.logarithm.next =
            self.start_then.q.val() + bit_cast(self.rise.q.val(), &self.logarithm);
    }
}
