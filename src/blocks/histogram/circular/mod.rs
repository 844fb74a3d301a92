//! The circular histogram (SPEC 6).

use super::store::CounterStore;
use super::window::Window;
use super::Shape;
use crate::config::plan::{BinScale, PortPlan};
use crate::hdl::prelude::*;

/// A histogram of the last `max_samples` idle periods (SPEC 6, p000 3.2): a ring of their
/// lengths, and counters that gain the new sample and lose the oldest. Its golden model is
/// [`super::golden::Histogram`].
#[derive(LogicBlock)]
pub struct CircularHistogram {
    about: About,
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub ended: Signal<In, Bit>,
    pub ticks: Signal<In, Bits>,
    pub sample_bin: Signal<In, Bits>,
    pub read_group: Signal<In, Bits>,
    pub read_place: Signal<In, Bits>,
    pub window: Signal<Out, Bits>,
    pub step: Optional<Signal<Out, Bit>>,
    pub taken: Signal<Out, Bit>,
    pub group_sum: Signal<Out, Bits>,
    pub bin_count: Signal<Out, Bits>,
    pub arrived: Signal<Out, Bits>,
    // The length of the sample.
    clamps: Constant<Bit>,
    too_long: Reg<Bit>,
    max_value: Constant<Bits>,
    max_ticks: Constant<Bits>,
    length: Signal<Local, Bits>,
    // The ring.
    lengths: Memory,
    head: Reg<Bits>,
    full: Reg<Bit>,
    last_place: Constant<Bits>,
    at_end: Signal<Local, Bit>,
    oldest: Signal<Local, Bits>,
    oldest_bin: Signal<Local, Bits>,
    oldest_span: Signal<Local, Bits>,
    logarithmic: Constant<Bit>,
    stores_bins: Constant<Bit>,
    clamps_bin: Constant<Bit>,
    bin_shift: Constant<Bits>,
    top_span: Constant<Bits>,
    top_bin: Constant<Bits>,
    length_bits: Constant<Bits>,
    // The window: their sum, or the time since reset.
    sums: Constant<Bit>,
    age: Optional<Window>,
    total: Reg<Bits>,
    gained: Signal<Local, Bits>,
    saturates: Constant<Bit>,
    max_time: Constant<Bits>,
    // The sample that gives way.
    evicts: Reg<Bit>,
    evicted_bin: Reg<Bits>,
    store: CounterStore,
    _length_bits: usize,
    _index_bits: usize,
    _span_bits: usize,
    _word_bits: usize,
    _total_bits: usize,
    _time_bits: usize,
}

impl CircularHistogram {
    /// The histogram of `plan`.
    pub fn new(plan: &PortPlan) -> Self {
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
        CircularHistogram {
            about: About::new(
                "histogram_circular",
                format!(
                    "Histogram of the last max_samples idle periods. Memory lengths is a ring of\n\
                     them; once it is full, the oldest gives way to the new one: its bin loses a\n\
                     sample in the cycle after the new sample's bin has gained one.\n\
                     \n\
                     {}",
                    match sums {
                        true =>
                            "The ring stores lengths, not dates: their sum stands for the window.",
                        false => "The window is the time since reset.",
                    }
                ),
            ),
            clk: Signal::clock("clock"),
            rst: Signal::bit("synchronous reset"),
            ended: Signal::bit("a sample: an idle period ended"),
            ticks: Signal::bits(time, "its length"),
            sample_bin: Signal::bits(shape.index(), "bin of the sample"),
            read_group: Signal::bits(shape.group, "group the search reads"),
            read_place: Signal::bits(shape.place, "bin of that group the search reads"),
            window: Signal::bits(
                time,
                match sums {
                    true => "ticks of all samples",
                    false => "ticks since reset, one cycle late",
                },
            ),
            step: Optional::when(!sums, Signal::bit("the window grows by a tick")),
            taken: Signal::bit("the search reads nothing in this cycle"),
            group_sum: Signal::bits(shape.sum, "samples in the group read two cycles before"),
            bin_count: Signal::bits(shape.counter, "samples in the bin read two cycles before"),
            arrived: Signal::bits(shape.index(), "that bin"),
            clamps: Constant::bit(
                plan.max_time() > max_value,
                "an idle period may be longer than what is recorded",
            ),
            too_long: Reg::bit(false, "the present one is"),
            max_value: Constant::bits(length, max_value.into(), "longest length recorded"),
            max_ticks: Constant::bits(time, max_value.into(), "the same, as wide as a time"),
            length: Signal::bits(length, "length of the sample as it is recorded"),
            lengths: Memory::new(
                depth,
                word,
                match logarithmic {
                    true => "ring of lengths, above each its bin",
                    false => "ring of lengths",
                },
            ),
            head: Reg::bits(place, 0, "place of the oldest sample, and of the next"),
            full: Reg::bit(false, "the ring is full"),
            last_place: Constant::bits(place, u128::from(samples) - 1, "last place in the ring"),
            at_end: Signal::bit("the head is there"),
            oldest: Signal::bits(length, "length of the oldest sample, or 0"),
            oldest_bin: Signal::bits(shape.index(), "its bin"),
            oldest_span: Signal::bits(span, "its length in bins"),
            logarithmic: Constant::bit(logarithmic, "the scale is logarithmic"),
            stores_bins: Constant::bit(logarithmic, "the ring stores bins"),
            clamps_bin: Constant::bit(
                largest_span > shape.top_bin,
                "a length may be beyond the highest bin",
            ),
            bin_shift: Constant::bits(
                clog2(u128::from(histogram.bin_shift) + 1),
                histogram.bin_shift.into(),
                "log2 of the ticks in a bin",
            ),
            top_span: Constant::bits(span, shape.top_bin.into(), "highest bin in use"),
            top_bin: Constant::bits(shape.index(), shape.top_bin.into(), "highest bin in use"),
            length_bits: Constant::bits(
                clog2(u128::from(length) + 1),
                length.into(),
                "bits of a length",
            ),
            sums: Constant::bit(sums, "the window is the sum of the lengths"),
            age: Optional::when(!sums, Window::new(plan)),
            total: Reg::bits(total, 0, "ticks of all samples"),
            gained: Signal::bits(total, "the same with the new one"),
            saturates: Constant::bit(total > time, "the window saturates"),
            max_time: Constant::bits(time, plan.max_time().into(), "there"),
            evicts: Reg::bit(false, "the cycle before, a sample gave way"),
            evicted_bin: Reg::bits(shape.index(), 0, "its bin"),
            store: CounterStore::new(plan),
            _length_bits: length as usize,
            _index_bits: shape.index() as usize,
            _span_bits: span as usize,
            _word_bits: word as usize,
            _total_bits: total as usize,
            _time_bits: time as usize,
        }
    }
}

impl Logic for CircularHistogram {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, too_long, head, full, total, evicts, evicted_bin);
        clock!(self, clk, lengths);

        if self.clamps.val() {
            comment!("One cycle late, which makes no difference: a length of max_value is still");
            comment!("itself.");
            self.too_long.d.next = self.ticks.val() >= self.max_ticks.val();
            if self.too_long.q.val() {
                self.length.next = self.max_value.val();
            } else {
                self.length.next = bit_cast(self.ticks.val(), self._length_bits);
            }
        } else {
            self.length.next = bit_cast(self.ticks.val(), self._length_bits);
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
        if self.stores_bins.val() {
            self.lengths.write_data.next = bit_cast(self.length.val(), self._word_bits)
                | (bit_cast(self.sample_bin.val(), self._word_bits) << self.length_bits.val());
        }
        if self.full.q.val() {
            self.oldest.next = bit_cast(self.lengths.read_data.val(), self._length_bits);
        } else {
            self.oldest.next = 0.into();
        }
        if self.logarithmic.val() {
            self.oldest_bin.next = bit_cast(
                self.lengths.read_data.val() >> self.length_bits.val(),
                self._index_bits,
            );
        } else {
            self.oldest_span.next =
                bit_cast(self.oldest.val() >> self.bin_shift.val(), self._span_bits);
            self.oldest_bin.next = bit_cast(self.oldest_span.val(), self._index_bits);
            if self.clamps_bin.val() {
                if self.oldest_span.val() > self.top_span.val() {
                    self.oldest_bin.next = self.top_bin.val();
                }
            }
        }

        if self.sums.val() {
            self.gained.next = self.total.q.val() + bit_cast(self.length.val(), self._total_bits);
            if self.ended.val() {
                self.total.d.next =
                    self.gained.val() - bit_cast(self.oldest.val(), self._total_bits);
            }
            self.window.next = bit_cast(self.total.q.val(), self._time_bits);
            if self.saturates.val() {
                if self.total.q.val() > bit_cast(self.max_time.val(), self._total_bits) {
                    self.window.next = self.max_time.val();
                }
            }
        } else {
            self.age.clk.next = self.clk.val();
            self.age.rst.next = self.rst.val();
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
        self.store.clk.next = self.clk.val();
        self.store.rst.next = self.rst.val();
        self.store.clear.next = false;
        self.store.add.next = self.ended.val();
        self.store.remove.next = self.evicts.q.val();
        if self.evicts.q.val() {
            self.store.bin.next = self.evicted_bin.q.val();
        } else {
            self.store.bin.next = self.sample_bin.val();
        }
        self.store.read_group.next = self.read_group.val();
        self.store.read_place.next = self.read_place.val();
        self.taken.next = self.store.taken.val();
        self.group_sum.next = self.store.group_sum.val();
        self.bin_count.next = self.store.bin_count.val();
        self.arrived.next = self.store.arrived.val();
    }
}
