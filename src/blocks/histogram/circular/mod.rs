//! The circular histogram (SPEC 6).

use super::store::CounterStore;
use super::window::Window;
use super::{FoundPins, ReadPins, Shape};
use crate::blocks::memory_code;
use crate::config::plan::{BinScale, PortPlan};
use crate::hdl::prelude::*;

block! {
    /// A histogram of the last `max_samples` idle periods (SPEC 6, PerfBound 3.2): a ring of their
    /// lengths, and counters that gain the new sample and lose the oldest. Its golden model is
    /// [`super::golden::Histogram`].
    pub struct CircularHistogram(clk, rst);

    /// The histogram of `plan`.
    pub fn new(plan: &PortPlan) {
        let histogram = &plan.histogram;
        let shape = Shape::of(plan);
        let time = plan.time_width;
        let samples = histogram.max_samples;
        let max_value = histogram.max_value;
        let length = clog2(u128::from(max_value) + 1);
        let largest_span = max_value >> histogram.bin_shift;
        let span = clog2(u128::from(largest_span) + 1).max(shape.index());
        let logarithmic = histogram.scale != BinScale::Linear;
        let word = length + if logarithmic { shape.index() } else { 0 };
        let largest_total = u128::from(max_value) * u128::from(samples);
        let total = clog2(largest_total + 1);
        // Two words at least: a memory has an address.
        let depth = samples.max(2) as usize;
        let place = clog2(depth as u128);
        let sums = histogram.sums_lengths();
        let code = memory_code(plan);
    }

    about(
        "histogram_circular",
        format!(
            "Histogram of the last max_samples idle periods. Memory lengths is a ring of\n\
             them; once it is full, the oldest gives way to the new one: its bin loses a\n\
             sample in the cycle after the new sample's bin has gained one.\n\
             \n\
             {}",
            if sums {
                "The ring stores lengths, not dates: their sum stands for the window."
            } else {
                "The window is the time since reset."
            }
        ),
    )

    {
        pub in ended: Bit("a sample: an idle period ended"),
        pub in ticks: Bits(time, "its length"),
        pub in sample_bin: Bits(shape.index(), "bin of the sample"),
        pub flat read: ReadPins(&shape),
        pub out window: Bits(
            time,
            if sums { "ticks of all samples" } else { "ticks since reset, one cycle late" },
        ),
        pub out step: Bit("the window grows by a tick") if !sums,
        pub flat found: FoundPins(&shape, ""),
        pub out memory_upset: Bits(2, "wrong bits in the words read: 1, put right; 2, not") if code.is_some(),
        choice coded(code.is_some()), // the memories have a code
        // The length of the sample.
        // An idle period may be longer than what is recorded.
        choice clamps(plan.max_time() > max_value),
        reg too_long: Bit(false, "the present one is"),
        constant max_value: Bits(length, max_value.into(), "longest length recorded"),
        constant max_ticks: Bits(time, max_value.into(), "the same, as wide as a time"),
        local length: Bits(length, "length of the sample as it is recorded"),
        // The ring.
        memory lengths: Memory(
            depth,
            word,
            code,
            if logarithmic { "ring of lengths, above each its bin" } else { "ring of lengths" },
        ),
        reg head: Bits(place, 0, "place of the oldest sample, and of the next"),
        reg full: Bit(false, "the ring is full"),
        reg oldest_read: Bit(false, "the word read is the oldest sample") if code.is_some(),
        constant last_place: Bits(place, u128::from(samples) - 1, "last place in the ring"),
        local at_end: Bit("the head is there"),
        local oldest: Bits(length, "length of the oldest sample, or 0"),
        local oldest_bin: Bits(shape.index(), "its bin"),
        local oldest_span: Bits(span, "its length in bins"),
        choice logarithmic(logarithmic), // the scale is logarithmic
        choice stores_bins(logarithmic), // the ring stores bins
        choice clamps_bin(largest_span > shape.top_bin), // a length may be beyond the highest bin
        constant bin_shift: Number(histogram.bin_shift, "log2 of the ticks in a bin"),
        constant top_span: Bits(span, shape.top_bin.into(), "highest bin in use"),
        constant top_bin: Bits(shape.index(), shape.top_bin.into(), "highest bin in use"),
        constant length_bits: Number(length, "bits of a length"
        ),
        // The window: their sum, or the time since reset.
        choice sums(sums), // the window is the sum of the lengths
        child age: Window(plan) if !sums,
        reg total: Bits(total, 0, "ticks of all samples"),
        local gained: Bits(total, "the same with the new one"),
        choice saturates(total > time), // the window saturates
        constant max_time: Bits(time, plan.max_time().into(), "there"),
        // The sample that gives way.
        reg evicts: Bit(false, "the cycle before, a sample gave way"),
        reg evicted_bin: Bits(shape.index(), 0, "its bin"),
        child store: CounterStore(plan),
        number _word_bits(word),
    }
}

impl Logic for CircularHistogram {
    #[hdl_gen]
    fn update(&mut self) {
        if self.clamps {
            comment!("One cycle late, which makes no difference: a length of max_value is still");
            comment!("itself.");
            self.too_long.d.next = self.ticks.val() >= self.max_ticks.val();
            if self.too_long.q.val() {
                self.length.next = self.max_value.val();
            } else {
                self.length.next = bit_cast(self.ticks.val(), &self.length);
            }
        } else {
            self.length.next = bit_cast(self.ticks.val(), &self.length);
        }

        comment!(
            "The oldest sample is read in advance: the head moves every second cycle at most."
        );
        self.at_end.next = self.head.q.val() == self.last_place.val();
        if self.ended.val() {
            if self.at_end.val() {
                self.head.d.next = 0.into();
                self.full.d.next = true;
            } else {
                self.head.d.next = self.head.q.val() + 1;
            }
        }
        self.lengths.read_address.next = self.head.q.val();
        self.lengths.write_enable.next = self.ended.val();
        self.lengths.write_address.next = self.head.q.val();
        self.lengths.write_data.next = bit_cast(self.length.val(), self._word_bits);
        if self.stores_bins {
            self.lengths.write_data.next = bit_cast(self.length.val(), self._word_bits)
                | (bit_cast(self.sample_bin.val(), self._word_bits) << self.length_bits.val());
        }
        if self.full.q.val() {
            self.oldest.next = bit_cast(self.lengths.read_data.val(), &self.oldest);
        } else {
            self.oldest.next = 0.into();
        }
        if self.logarithmic {
            self.oldest_bin.next = bit_cast(
                self.lengths.read_data.val() >> self.length_bits.val(),
                &self.oldest_bin,
            );
        } else {
            self.oldest_span.next =
                bit_cast(self.oldest.val() >> self.bin_shift.val(), &self.oldest_span);
            self.oldest_bin.next = bit_cast(self.oldest_span.val(), &self.oldest_bin);
            if self.clamps_bin {
                if self.oldest_span.val() > self.top_span.val() {
                    self.oldest_bin.next = self.top_bin.val();
                }
            }
        }

        if self.sums {
            self.gained.next = self.total.q.val() + bit_cast(self.length.val(), &self.gained);
            if self.ended.val() {
                self.total.d.next = self.gained.val() - bit_cast(self.oldest.val(), &self.total);
            }
            self.window.next = bit_cast(self.total.q.val(), &self.window);
            if self.saturates {
                if self.total.q.val() > bit_cast(self.max_time.val(), &self.total) {
                    self.window.next = self.max_time.val();
                }
            }
        } else {
            self.age.ended.next = self.ended.val();
            self.age.restart.next = false;
            self.window.next = self.age.age.val();
            self.step.next = self.age.step.val();
        }

        comment!("First the new sample, then the one that gives way.");
        self.evicts.d.next = self.ended.val() & self.full.q.val();
        if self.ended.val() {
            self.evicted_bin.d.next = self.oldest_bin.val();
        }
        self.store.clear.next = false;
        self.store.add.next = self.ended.val();
        self.store.remove.next = self.evicts.q.val();
        if self.evicts.q.val() {
            self.store.bin.next = self.evicted_bin.q.val();
        } else {
            self.store.bin.next = self.sample_bin.val();
        }
        ReadPins::link(&mut self.read, &mut self.store.read);
        FoundPins::link(&mut self.found, &mut self.store.found);
        if self.coded {
            comment!("Not while the head moves: the place was written in the cycle of the sample.");
            self.oldest_read.d.next = self.full.q.val() & !self.ended.val();
            self.lengths.read_valid.next = self.oldest_read.q.val();
            self.memory_upset.next = self.lengths.upset.val() | self.store.memory_upset.val();
        }
    }
}
