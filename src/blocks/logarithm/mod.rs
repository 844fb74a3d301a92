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

/// `log2` of a time in ticks, up to a constant that a difference of two does not contain:
/// a value every cycle, each after [`LATENCY`] cycles. 0 counts as 1 (SPEC 8).
#[derive(LogicBlock)]
pub struct Logarithm {
    about: About,
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub value: Signal<In, Bits>,
    pub upper: Signal<In, Bit>,
    pub logarithm: Signal<Out, Bits>,
    operand: Reg<Bits>,
    operand_upper: Reg<Bit>,
    padding: Constant<Bits>,
    coarse: Vec<Normalise>,
    partly: Reg<Bits>,
    partly_whole: Reg<Bits>,
    fine: Vec<Normalise>,
    mantissa: Reg<Bits>,
    whole: Reg<Bits>,
    log2_offset: Table,
    log2_slope: Table,
    line_whole: Reg<Bits>,
    offset: Reg<Bits>,
    slope: Reg<Bits>,
    rest: Reg<Bits>,
    start: Reg<Bits>,
    row_at: Vec<Constant<Bits>>,
    rows: Vec<Signal<Local, Bits>>,
    sums: Vec<Signal<Local, Bits>>,
    low: Reg<Bits>,
    high: Reg<Bits>,
    start_then: Reg<Bits>,
    rise: Reg<Bits>,
    rest_bits: Constant<Bits>,
    slope_rest_bits: Constant<Bits>,
    shift: Constant<Bits>,
    fraction: Constant<Bits>,
    _coarse: usize,
    _last_coarse: usize,
    _fine: usize,
    _last_fine: usize,
    _operand_bits: usize,
    _segment_bits: usize,
    _slope_index_bits: usize,
    _rest_bits: usize,
    _product_bits: usize,
    _rows: usize,
    _half: usize,
    _last_of_half: usize,
    _after_half: usize,
    _last_row: usize,
    _rise_bits: usize,
    _result_bits: usize,
}

impl Logarithm {
    /// The logarithm of `plan`.
    pub fn new(plan: &PortPlan) -> Self {
        let numbers = Arithmetic::new(plan);
        let lines = &numbers.logarithm;
        let (segment, rest) = (lines.segment_bits, lines.rest_bits);
        let mantissa = segment + rest;
        let steps = numbers.exponent_bits;
        // The value stands at the top of 2^steps bits, or of more if the mantissa has more.
        let top = 1u32 << steps;
        let operand = top.max(mantissa + 1);
        let mut width = operand;
        let mut normalise = |step: u32| {
            let span = 1 << (steps - 1 - step);
            // After this step the others may move by span - 1 bits in all.
            let needed = width.min(mantissa + span);
            let drops = width - needed;
            let last = step + 1 == steps;
            let block = Normalise::new(width, span, step, drops, last);
            width = needed;
            block
        };
        let half = steps / 2;
        let coarse: Vec<_> = (0..half).map(&mut normalise).collect();
        let fine: Vec<_> = (half..steps).map(&mut normalise).collect();
        let between = operand.min(mantissa + (1 << (steps - half)));
        let rows = lines.slope_bits();
        let product = rows + rest;
        let result = numbers.exponent_bits + 1 + numbers.fraction;
        let amount =
            |value: u32, doc: &str| Constant::bits(clog2(u128::from(value) + 1), value.into(), doc);
        let table = |name: &str, what: &str, words: &[u64], bits| {
            let about = About::new(
                name,
                format!(
                    "{what} of the straight lines in whose place log2(1 + f) is computed, one for\n\
                     each of the {} equal segments of 0 <= f < 1.",
                    words.len()
                ),
            );
            Table::new(about, words.iter().copied().map(u128::from).collect(), bits)
        };
        Logarithm {
            about: About::new(
                "logarithm",
                format!(
                    "Binary logarithm with {} fraction bits, a value every cycle, each after {LATENCY}\n\
                     cycles, up to a constant that a difference of two does not contain. The whole\n\
                     part is the place of the highest 1; the fraction is read off a straight line,\n\
                     chosen by the bits below the highest 1. 0 counts as 1.",
                    numbers.fraction
                ),
            ),
            clk: Signal::clock("clock"),
            rst: Signal::bit("synchronous reset"),
            value: Signal::bits(plan.time_width, "a time, in ticks"),
            upper: Signal::bit(format!("it is at least 2^{}", upper_from(plan))),
            logarithm: Signal::bits(result, "its logarithm"),
            operand: Reg::bits(plan.time_width, 0, "the time"),
            operand_upper: Reg::bit(false, "its first bit of the whole part"),
            padding: amount(operand - top, "bits below the time"),
            coarse,
            partly: Reg::bits(between, 0, "the time, moved up in big steps"),
            partly_whole: Reg::bits(half, 0, "upper bits of the whole part"),
            fine,
            mantissa: Reg::bits(mantissa, 0, "what follows the highest 1"),
            whole: Reg::bits(steps, 0, "the whole part"),
            log2_offset: table("log2_offset", "Where the segments begin", &lines.offsets, lines.offset_bits()),
            log2_slope: table("log2_slope", "Slopes", &lines.slopes, lines.slope_bits()),
            line_whole: Reg::bits(steps, 0, "the whole part"),
            offset: Reg::bits(lines.offset_bits(), 0, "the line's value where its segment begins"),
            slope: Reg::bits(lines.slope_bits(), 0, "the line's slope"),
            rest: Reg::bits(rest, 0, "how far into the segment"),
            start: Reg::bits(result, 0, "whole part and the line's value where its segment begins"),
            row_at: (0..rows)
                .map(|place| amount(place, "place of a bit of the slope"))
                .collect(),
            rows: (0..rows)
                .map(|_| Signal::bits(product, "rest times a bit of the slope"))
                .collect(),
            sums: (0..rows)
                .map(|_| Signal::bits(product, "rows so far"))
                .collect(),
            low: Reg::bits(product, 0, "rest times the lower half of the slope"),
            high: Reg::bits(product, 0, "rest times the upper half of the slope"),
            start_then: Reg::bits(result, 0, "start, a cycle later"),
            rise: Reg::bits(product - lines.shift, 0, "how far the line has risen since"),
            rest_bits: amount(rest, "bits of the mantissa below the segment"),
            slope_rest_bits: amount(
                mantissa - lines.slope_index_bits,
                "bits of the mantissa below those that choose the slope",
            ),
            shift: amount(lines.shift, "fraction bits of the product that are dropped"),
            fraction: amount(numbers.fraction, "fraction bits of the logarithm"),
            _coarse: half as usize,
            _last_coarse: half as usize - 1,
            _fine: (steps - half) as usize,
            _last_fine: (steps - half) as usize - 1,
            _operand_bits: operand as usize,
            _segment_bits: segment as usize,
            _slope_index_bits: lines.slope_index_bits as usize,
            _rest_bits: rest as usize,
            _product_bits: product as usize,
            _rows: rows as usize,
            _half: rows as usize / 2,
            _last_of_half: rows as usize / 2 - 1,
            _after_half: rows as usize / 2 + 1,
            _last_row: rows as usize - 1,
            _rise_bits: (product - lines.shift) as usize,
            _result_bits: result as usize,
        }
    }
}

impl Logic for Logarithm {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clk,
            operand,
            operand_upper,
            partly,
            partly_whole,
            mantissa,
            whole,
            line_whole,
            offset,
            slope,
            rest,
            start,
            low,
            high,
            start_then,
            rise
        );

        self.operand.d.next = self.value.val();
        self.operand_upper.d.next = self.upper.val();

        self.coarse[0].value.next =
            bit_cast(self.operand.q.val(), self._operand_bits) << self.padding.val();
        self.coarse[0].upper.next = self.operand_upper.q.val();
        for i in 1..self._coarse {
            self.coarse[i].value.next = self.coarse[i - 1].normalised.val();
            self.coarse[i].exponent.next = self.coarse[i - 1].whole.val();
        }
        for i in self._last_coarse..self._coarse {
            self.partly.d.next = self.coarse[i].normalised.val();
            self.partly_whole.d.next = self.coarse[i].whole.val();
        }

        self.fine[0].value.next = self.partly.q.val();
        self.fine[0].exponent.next = self.partly_whole.q.val();
        for i in 1..self._fine {
            self.fine[i].value.next = self.fine[i - 1].normalised.val();
            self.fine[i].exponent.next = self.fine[i - 1].whole.val();
        }
        for i in self._last_fine..self._fine {
            self.mantissa.d.next = self.fine[i].normalised.val();
            self.whole.d.next = self.fine[i].whole.val();
        }

        self.log2_offset.index.next = bit_cast(
            self.mantissa.q.val() >> self.rest_bits.val(),
            self._segment_bits,
        );
        self.log2_slope.index.next = bit_cast(
            self.mantissa.q.val() >> self.slope_rest_bits.val(),
            self._slope_index_bits,
        );
        self.line_whole.d.next = self.whole.q.val();
        self.offset.d.next = self.log2_offset.value.val();
        self.slope.d.next = self.log2_slope.value.val();
        self.rest.d.next = bit_cast(self.mantissa.q.val(), self._rest_bits);

        self.start.d.next = (bit_cast(self.line_whole.q.val(), self._result_bits)
            << self.fraction.val())
            | bit_cast(self.offset.q.val(), self._result_bits);
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
        for i in self._half..self._after_half {
            self.sums[i].next = self.rows[i].val();
        }
        for i in self._after_half..self._rows {
            self.sums[i].next = self.sums[i - 1].val() + self.rows[i].val();
        }
        for i in self._last_of_half..self._half {
            self.low.d.next = self.sums[i].val();
        }
        for i in self._last_row..self._rows {
            self.high.d.next = self.sums[i].val();
        }

        self.start_then.d.next = self.start.q.val();
        self.rise.d.next = bit_cast(
            (self.low.q.val() + self.high.q.val()) >> self.shift.val(),
            self._rise_bits,
        );

        self.logarithm.next =
            self.start_then.q.val() + bit_cast(self.rise.q.val(), self._result_bits);
    }
}
