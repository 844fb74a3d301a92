//! The binary logarithm of times (SPEC 8).

mod normalise;
#[cfg(test)]
mod tests;

use self::normalise::Normalise;
use crate::blocks::fixed_point::Arithmetic;
use crate::config::plan::PortPlan;
use crate::hdl::prelude::*;

/// Clock cycles from a value to its logarithm.
pub const LATENCY: u64 = 5;

/// `log2` of a time in ticks, up to a constant that a difference of two does not contain:
/// a value every cycle, each after [`LATENCY`] cycles. 0 counts as 1 (SPEC 8).
#[derive(LogicBlock)]
pub struct Logarithm {
    about: About,
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub value: Signal<In, Bits>,
    pub logarithm: Signal<Out, Bits>,
    operand: Reg<Bits>,
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
        let product = lines.slope_bits() + rest;
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
            logarithm: Signal::bits(result, "its logarithm"),
            operand: Reg::bits(plan.time_width, 0, "the time"),
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
            partly,
            partly_whole,
            mantissa,
            whole,
            line_whole,
            offset,
            slope,
            rest,
            start,
            rise
        );

        self.operand.d.next = self.value.val();

        self.coarse[0].value.next =
            bit_cast(self.operand.q.val(), self._operand_bits) << self.padding.val();
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
        self.rise.d.next = bit_cast(
            (bit_cast(self.slope.q.val(), self._product_bits)
                * bit_cast(self.rest.q.val(), self._product_bits))
                >> self.shift.val(),
            self._rise_bits,
        );

        self.logarithm.next = self.start.q.val() + bit_cast(self.rise.q.val(), self._result_bits);
    }
}
