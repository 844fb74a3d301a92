//! The bin of the present idle period (SPEC 6, `docs/histograms.md`).

pub mod golden;
#[cfg(test)]
mod tests;

use super::Shape;
use crate::config::plan::{BinScale, PortPlan};
use crate::hdl::prelude::*;

/// Tells into which bin the present idle period falls if it ends now. On a linear scale
/// that is the length less its low bits; on a logarithmic one the bin is kept up to date
/// tick by tick, so that no length need be normalised when a period ends.
#[derive(LogicBlock)]
pub struct BinMeter {
    about: About,
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub active: Signal<In, Bit>,
    pub tick: Signal<In, Bit>,
    pub ticks: Signal<In, Bits>,
    pub bin: Signal<Out, Bits>,
    logarithmic: Constant<Bit>,
    clamps: Constant<Bit>,
    bin_shift: Constant<Bits>,
    span: Signal<Local, Bits>,
    top_span: Constant<Bits>,
    top_bin: Constant<Bits>,
    present: Reg<Bits>,
    extent: Reg<Bits>,
    first_extent: Constant<Bits>,
    over: Signal<Local, Bit>,
    octave_over: Signal<Local, Bit>,
    last_place: Constant<Bits>,
    first_octaves: Constant<Bits>,
    one: Constant<Bits>,
    _index_bits: usize,
    _span_bits: usize,
}

impl BinMeter {
    /// The bin meter of `plan`'s histogram.
    pub fn new(plan: &PortPlan) -> Self {
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
        BinMeter {
            about: About::new(
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
                } else {
                    "The bin of the present idle period: its length without its low bits. What\n\
                     is longer than the histogram falls into its highest bin."
                        .into()
                },
            ),
            clk: Signal::clock("clock"),
            rst: Signal::bit("synchronous reset"),
            active: Signal::bit("the port is active in this cycle"),
            tick: Signal::bit("this idle cycle completes a tick"),
            ticks: Signal::bits(time, "whole ticks idle before this cycle"),
            bin: Signal::bits(shape.index(), "bin of an idle period of this length"),
            logarithmic: Constant::bit(logarithmic, "the scale is logarithmic"),
            clamps: Constant::bit(
                largest_span > shape.top_bin,
                "an idle period may be longer than the histogram",
            ),
            bin_shift: Constant::bits(
                clog2(u128::from(histogram.bin_shift) + 1),
                histogram.bin_shift.into(),
                "log2 of the ticks in a bin",
            ),
            span: Signal::bits(span, "length of the idle period in bins"),
            top_span: Constant::bits(span, shape.top_bin.into(), "highest bin in use"),
            top_bin: Constant::bits(shape.index(), shape.top_bin.into(), "highest bin in use"),
            present: Reg::bits(shape.index(), 0, "bin of the present idle period"),
            extent: Reg::bits(
                time,
                (1u128 << histogram.bin_shift) - 1,
                "ticks in that bin, less one",
            ),
            first_extent: Constant::bits(
                time,
                (1u128 << histogram.bin_shift) - 1,
                "ticks in the lowest bin, less one",
            ),
            over: Signal::bit("the next tick falls into the next bin"),
            octave_over: Signal::bit("which is twice as wide"),
            last_place: Constant::bits(
                shape.index(),
                (1u128 << mantissa_bits) - 1,
                "last bin of an octave, in the low bits of its index",
            ),
            first_octaves: Constant::bits(
                shape.index() + 1,
                2u128 << mantissa_bits,
                "bins that are as wide as the lowest",
            ),
            one: Constant::bits(1, 1, "one"),
            _index_bits: shape.index() as usize,
            _span_bits: span as usize,
        }
    }
}

impl Logic for BinMeter {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, present, extent);

        if self.logarithmic.val() {
            self.over.next = self.tick.val()
                & !(self.present.q.val() == self.top_bin.val())
                & ((self.ticks.val() & self.extent.q.val()) == self.extent.q.val());
            self.octave_over.next = ((self.present.q.val() & self.last_place.val())
                == self.last_place.val())
                & (bit_cast(self.present.q.val(), self._index_bits + 1) + 1
                    >= self.first_octaves.val());
            if self.active.val() {
                self.present.d.next = 0.into();
                self.extent.d.next = self.first_extent.val();
            } else if self.over.val() {
                self.present.d.next = self.present.q.val() + 1;
                if self.octave_over.val() {
                    self.extent.d.next = (self.extent.q.val() << self.one.val()) | 1;
                }
            }
            self.bin.next = self.present.q.val();
        } else {
            self.span.next = bit_cast(self.ticks.val() >> self.bin_shift.val(), self._span_bits);
            self.bin.next = bit_cast(self.span.val(), self._index_bits);
            if self.clamps.val() {
                if self.span.val() > self.top_span.val() {
                    self.bin.next = self.top_bin.val();
                }
            }
        }
    }
}
