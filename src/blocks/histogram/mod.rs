//! The histograms of idle periods (SPEC 6, `docs/how/histograms.md`).
//!
//! What they share: [`bin_meter`] tells the bin of the present idle period, [`window`] how
//! long ago the histogram began and whether it is due to forget, [`store`] holds the
//! counters.

pub mod bin_meter;
pub mod circular;
pub mod clearing;
pub mod decaying;
pub mod golden;
pub mod map;
pub mod regular;
pub mod store;
#[cfg(test)]
mod tests;
pub mod window;

use crate::config::plan::{BinScale, HistogramKind, HistogramPlan, PortPlan, GENERATIONS};
use crate::hdl::prelude::*;

/// Widths of a histogram whose counters are read in two levels (`docs/how/controller.md`): a
/// bin's index is the index of its group and its place in the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Bits of a group's index.
    pub group: u32,
    /// Bits of a bin's place in its group.
    pub place: u32,
    /// Bits of a counter: `counter_bits`, or what `max_samples` or the largest budget need
    /// if that is less; of a regular histogram, `counter_bits` and what may come until a full
    /// counter is halved.
    pub counter: u32,
    /// The counters can reach the largest value of `counter_bits`, and stop there.
    pub saturates: bool,
    /// The highest bit of a counter says that there are more samples than any budget
    /// allows: it stops there.
    pub counts_enough: bool,
    /// Bits of a group's sum.
    pub sum: u32,
    /// The same of a sum.
    pub sums_enough: bool,
    /// Fraction bits of what a sample weighs.
    pub fraction: u32,
    /// The highest bin that a sample can fall into.
    pub top_bin: u64,
}

bundle! {
    /// What the search reads of a histogram with counters.
    pub struct ReadPins;

    /// For a histogram of that shape.
    pub fn new(shape: &Shape) {}

    {
        pub in read_group: Bits(shape.group, "group the search reads"),
        pub in read_place: Bits(shape.place, "bin of that group the search reads"),
    }
}

bundle! {
    /// What it finds there, two cycles later.
    pub struct FoundPins;

    /// For a histogram of that shape; `unit` is added to what it says of numbers of samples.
    pub fn new(shape: &Shape, unit: &str) {}

    {
        pub out taken: Bit("the search reads nothing in this cycle"),
        pub out group_sum: Bits(
            shape.weighed_sum(), format!("samples in the group read two cycles before{unit}")
        ),
        pub out bin_count: Bits(
            shape.weighed_count(), format!("samples in the bin read two cycles before{unit}")
        ),
        pub out arrived: Bits(shape.index(), "that bin"),
    }
}

impl Shape {
    /// The shape of `plan`'s histogram.
    pub fn of(plan: &PortPlan) -> Self {
        let histogram = &plan.histogram;
        let index = clog2(histogram.bins.into());
        let place = index.div_ceil(2);
        let top_bin = bin_of(histogram, histogram.max_value);
        if histogram.kind == HistogramKind::Regular {
            // They are halved: every sample counts.
            let counter = clog2(largest_before_halving(plan, top_bin, place) + 1);
            return Shape {
                group: index - place,
                place,
                counter,
                saturates: false,
                counts_enough: false,
                sum: counter + place,
                sums_enough: false,
                fraction: 0,
                top_bin,
            };
        }
        let needed = clog2(u128::from(histogram.max_samples) + 1);
        let fraction = match histogram.kind {
            HistogramKind::Decaying => GENERATIONS - 1,
            _ => 0,
        };
        // More samples than any budget exceed it, whatever their number. Where samples are
        // taken out again the number must be right; software reads it of the bins.
        let enough = match histogram.kind {
            HistogramKind::Circular => needed,
            _ => needed.min(plan.budget.width + fraction + 1),
        };
        let counted = match plan.registers {
            Some(_) => needed,
            None => enough,
        };
        let counter = histogram.counter_bits.min(counted);
        let whole = needed.min(counter + place);
        let sum = whole.min(enough);
        Shape {
            group: index - place,
            place,
            counter,
            saturates: counter < counted,
            counts_enough: counter == counted && counted < needed,
            sum,
            sums_enough: sum < whole,
            fraction,
            top_bin,
        }
    }

    /// Bits of a bin's index.
    pub fn index(&self) -> u32 {
        self.group + self.place
    }

    /// Bins in a group.
    pub fn group_size(&self) -> u32 {
        1 << self.place
    }

    /// Bits of the samples in a group, weighed.
    pub fn weighed_sum(&self) -> u32 {
        self.weighed(self.sum)
    }

    /// Bits of the samples in a bin, weighed.
    pub fn weighed_count(&self) -> u32 {
        self.weighed(self.counter)
    }

    /// Twice the newest generation is more than all of them.
    fn weighed(&self, bits: u32) -> u32 {
        match self.fraction {
            0 => bits,
            fraction => bits + fraction + 1,
        }
    }
}

/// What a counter of a regular histogram holds at most, with a sample in every second clock
/// cycle.
///
/// A full counter asks for a halving, which waits for a threshold that has come out since the
/// last one began: for `t` samples that come while all bins are halved, and `q` during the
/// search that follows. Until the counter's own turn `t` more count twice. At the beginning
/// of a halving a counter is at most `v`, `v / 2 + t + q` at that of the next.
fn largest_before_halving(plan: &PortPlan, top_bin: u64, place: u32) -> u128 {
    /// Cycles of an update in which neither counters nor sums are read, and some to spare.
    const OTHER_CYCLES: u64 = 24;
    let full = u128::from(u64::MAX >> (64 - plan.histogram.counter_bits));
    let reads = (top_bin >> place) + (1 << place);
    let t = u128::from(top_bin) + 4;
    let q = u128::from(reads + OTHER_CYCLES);
    (full + t + q).max(2 * (t + q)) + 2 * t
}

/// The bin of an idle period of `ticks` (SPEC 6, `docs/how/histograms.md`).
fn bin_of(plan: &HistogramPlan, ticks: u64) -> u64 {
    let span = ticks >> plan.bin_shift;
    let bin = match plan.scale {
        BinScale::Linear => span,
        BinScale::Log { mantissa_bits } => {
            let exponent = (63 - (span | 1).leading_zeros()).saturating_sub(mantissa_bits);
            (u64::from(exponent) << mantissa_bits) + (span >> exponent)
        }
    };
    bin.min(u64::from(plan.bins) - 1)
}
