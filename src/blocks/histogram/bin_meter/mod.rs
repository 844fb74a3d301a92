//! The bin of the present idle period (SPEC 6, `docs/how/histograms.md`).

pub mod golden;
#[cfg(test)]
pub(crate) mod tests;

use super::Shape;
use crate::config::plan::{BinScale, HistogramKind, PortPlan};
use crate::hdl::prelude::*;

block! {
    /// Tells into which bin the present idle period falls if it ends now. On a linear scale
    /// that is the length less its low bits; on a logarithmic one the bin is kept up to date
    /// tick by tick, so that no length need be normalised when a period ends. So it is for a map,
    /// which compares the bin a cycle ahead.
    pub struct BinMeter(clk, rst);

    /// The bin meter of `plan`'s histogram.
    pub fn new(plan: &PortPlan) {
        let histogram = &plan.histogram;
        let shape = Shape::of(plan);
        let time = plan.time_width;
        let mantissa_bits = match histogram.scale {
            BinScale::Linear => 0,
            BinScale::Log { mantissa_bits } => mantissa_bits,
        };
        let largest_span = plan.max_time() >> histogram.bin_shift;
        let span = clog2(u128::from(largest_span) + 1).max(shape.index());
        let logarithmic = histogram.scale != BinScale::Linear;
        let ahead = histogram.kind == HistogramKind::Map;
        // Where no idle period reaches the first wider octave, that octave may begin beyond
        // the highest bin by more than one bit.
        let count = (shape.index() + 1).max(mantissa_bits + 2);
    }

    about(
        "bin_meter",
        if logarithmic {
            format!(
                "The bin of the present idle period on a logarithmic scale: the first {}\n\
                 bins are equally wide, then {} share every octave. The bin follows the\n\
                 idle period tick by tick: it is over when the low bits of the length,\n\
                 as many as the bin is wide, are all ones.",
                2u64 << mantissa_bits,
                match mantissa_bits {
                    0 => "one has".to_string(),
                    bits => (1u64 << bits).to_string(),
                }
            )
        } else if ahead {
            "The bin of the present idle period: its length without its low bits. What\n\
             is longer than the histogram falls into its highest bin. The bin follows the\n\
             idle period tick by tick, so that the one of the next cycle is known as well."
                .into()
        } else {
            "The bin of the present idle period: its length without its low bits. What\n\
             is longer than the histogram falls into its highest bin."
                .into()
        },
    )

    {
        pub in active: Bit("the port is active in this cycle"),
        pub in tick: Bit("this idle cycle completes a tick"),
        pub in ticks: Bits(time, "whole ticks idle before this cycle"),
        pub out bin: Bits(shape.index(), "bin of an idle period of this length"),
        pub out grows: Bit("in the next cycle it is the bin above") if ahead,
        choice ahead(ahead), // that is told
        choice follows(logarithmic || ahead), // the bin follows the idle period tick by tick
        choice logarithmic(logarithmic), // the scale is logarithmic
        // An idle period may be longer than the histogram.
        choice clamps(largest_span > shape.top_bin),
        constant bin_shift: Number(histogram.bin_shift, "log2 of the ticks in a bin"),
        local span: Bits(span, "length of the idle period in bins"),
        constant top_span: Bits(span, shape.top_bin.into(), "highest bin in use"),
        constant top_bin: Bits(shape.index(), shape.top_bin.into(), "highest bin in use"),
        reg present: Bits(shape.index(), 0, "bin of the present idle period"),
        reg extent: Bits(time, (1u128 << histogram.bin_shift) - 1, "ticks in that bin, less one"),
        constant first_extent: Bits(
            time, (1u128 << histogram.bin_shift) - 1, "ticks in the lowest bin, less one"
        ),
        local over: Bit("the next tick falls into the next bin"),
        local octave_over: Bit("which is twice as wide"),
        constant last_place: Bits(
            shape.index(),
            (1u128 << mantissa_bits) - 1,
            "last bin of an octave, in the low bits of its index",
        ),
        constant first_octaves: Bits(
            count, 2u128 << mantissa_bits, "bins that are as wide as the lowest"
        ),
        constant one: Bits(1, 1, "one"),
    }
}

impl Logic for BinMeter {
    #[hdl_gen]
    fn update(&mut self) {
        if self.logarithmic {
            self.over.next = self.tick.val()
                & !(self.present.q.val() == self.top_bin.val())
                & ((self.ticks.val() & self.extent.q.val()) == self.extent.q.val());
        } else if self.follows {
            self.over.next = self.tick.val()
                & !(self.present.q.val() == self.top_bin.val())
                & ((self.ticks.val() & self.first_extent.val()) == self.first_extent.val());
        }
        if self.logarithmic {
            self.octave_over.next = ((self.present.q.val() & self.last_place.val())
                == self.last_place.val())
                & (bit_cast(self.present.q.val(), &self.first_octaves) + 1
                    >= self.first_octaves.val());
            if self.active.val() {
                self.extent.d.next = self.first_extent.val();
            } else if self.over.val() & self.octave_over.val() {
                self.extent.d.next = (self.extent.q.val() << self.one.val()) | 1;
            }
        }
        if self.follows {
            if self.active.val() {
                self.present.d.next = 0.into();
            } else if self.over.val() {
                self.present.d.next = self.present.q.val() + 1;
            }
            self.bin.next = self.present.q.val();
        } else {
            self.span.next = bit_cast(self.ticks.val() >> self.bin_shift.val(), &self.span);
            self.bin.next = bit_cast(self.span.val(), &self.bin);
            if self.clamps {
                if self.span.val() > self.top_span.val() {
                    self.bin.next = self.top_bin.val();
                }
            }
        }
        if self.ahead {
            self.grows.next = self.over.val();
        }
    }
}
