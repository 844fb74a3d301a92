//! From a bin to a time: the threshold is the middle of the bin found (SPEC 7).

use crate::blocks::histogram::Shape;
use crate::config::plan::{BinScale, PortPlan};
use crate::hdl::prelude::*;

/// Bits of a bin's index where the number of bins is one, too.
pub fn index_width(plan: &PortPlan) -> u32 {
    Shape::of(plan).index() + 1
}

block! {
    /// The middle of a bin. On a logarithmic scale every octave, a power of two of ticks, has
    /// 2^`mantissa_bits` bins.
    pub struct Middle;

    /// For the bins of `plan`.
    pub fn new(plan: &PortPlan) {
        let histogram = &plan.histogram;
        let time = plan.time_width;
        let index = index_width(plan);
        let top_bin = Shape::of(plan).top_bin;
        let logarithmic = histogram.scale != BinScale::Linear;
        let mantissa_bits = match histogram.scale {
            BinScale::Linear => 0,
            BinScale::Log { mantissa_bits } => mantissa_bits,
        };
        let top_octave = top_bin >> mantissa_bits;
        let last_exponent = top_octave + u64::from(histogram.bin_shift);
        let exponent =
            clog2(u128::from(last_exponent) + 1).max(index.saturating_sub(mantissa_bits));
        let span = 1u128 << histogram.bin_shift;
        let top_middle = match histogram.scale {
            BinScale::Linear => u128::from(top_bin) * span + span / 2,
            // Half of what the bin's octave begins with is the middle's place in it.
            BinScale::Log { mantissa_bits } => {
                let low = match top_octave {
                    0 => top_bin,
                    _ => (1 << mantissa_bits) | (top_bin & ((1 << mantissa_bits) - 1)),
                };
                let octave = top_octave.max(1) as u32 - 1;
                (u128::from(2 * low + 1) << (octave + histogram.bin_shift)) >> 1
            }
        };
        let middle = if logarithmic { time + 1 } else { (index + histogram.bin_shift).max(time) };
        let clamps = top_middle > u128::from(histogram.max_value);
    }

    {
        pub in index: Bits(index, "the answer, the number of bins if none will do"),
        pub local threshold: Bits(time, "its middle, at most the longest threshold"),
        // A linear scale.
        choice logarithmic(logarithmic), // the scale is logarithmic
        choice halves(histogram.bin_shift > 0), // a bin is longer than a tick
        constant half: Bits(middle, span / 2, "half a bin"),
        // A logarithmic one.
        local octave: Bits(index, "its octave, counted from 1; 0: the lowest bins"),
        local exponent: Bits(exponent, "log2 of the ticks in it"),
        local low: Bits(index, "its lowest unit, in units of its width"),
        local odd: Bits(middle, "twice that, and one"),
        constant mantissa: Bits(
            index,
            (1u128 << mantissa_bits) - 1,
            "the bits of an index that tell the place in an octave",
        ),
        constant leading: Bits(index, 1u128 << mantissa_bits, "the bit above them"),
        local twice_middle: Bits(middle, "twice its middle, in ticks"),
        constant mantissa_bits: Number(mantissa_bits, "log2 of the bins in an octave"),
        constant one: Number(1, "one"),
        // Either.
        constant never_from: Bits(
            index,
            u128::from(top_bin) + u128::from(!clamps),
            "from this bin on, the middle is not below the longest threshold",
        ),
        constant max_value: Bits(time, histogram.max_value.into(), "longest threshold, in ticks"),
        constant bin_shift: Number(
            histogram.bin_shift,
            if logarithmic { "log2 of the ticks in the lowest bin" } else { "log2 of the ticks in a bin" },
        ),
    }
}

impl Logic for Middle {
    #[hdl_gen]
    fn update(&mut self) {
        if self.logarithmic {
            comment!("A bin of an octave begins at its mantissa, a one on top, times its width.");
            self.octave.next = self.index.val() >> self.mantissa_bits.val();
            if self.octave.val() == 0 {
                self.exponent.next = bit_cast(self.bin_shift.val(), &self.exponent);
            } else {
                self.exponent.next = bit_cast(self.octave.val(), &self.exponent)
                    + bit_cast(self.bin_shift.val(), &self.exponent)
                    - 1;
            }
            self.low.next = self.index.val() & self.mantissa.val();
            if self.octave.val() > 0 {
                self.low.next = (self.index.val() & self.mantissa.val()) | self.leading.val();
            }
            self.odd.next = (bit_cast(self.low.val(), &self.odd) << self.one.val()) | 1;
            self.twice_middle.next = self.odd.val() << self.exponent.val();
            self.threshold.next =
                bit_cast(self.twice_middle.val() >> self.one.val(), &self.threshold);
        } else {
            self.threshold.next = bit_cast(
                bit_cast(self.index.val(), &self.half) << self.bin_shift.val(),
                &self.threshold,
            );
            if self.halves {
                self.threshold.next = bit_cast(
                    (bit_cast(self.index.val(), &self.half) << self.bin_shift.val())
                        | self.half.val(),
                    &self.threshold,
                );
            }
        }
        if self.index.val() >= self.never_from.val() {
            self.threshold.next = self.max_value.val();
        }
    }
}
