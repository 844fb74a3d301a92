//! The clearing histogram (SPEC 6).

pub mod golden;
#[cfg(test)]
mod tests;

use crate::config::plan::{HistogramPlan, PortPlan};
use crate::hdl::prelude::*;

/// Widths of the two-level histogram (`docs/controller.md`): a bin's index is the index of
/// its group and its place in the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Bits of a group's index.
    pub group: u32,
    /// Bits of a bin's place in its group.
    pub place: u32,
    /// Bits of a counter: `counter_bits`, or what `max_samples` needs if that is less.
    pub counter: u32,
    /// The counters can reach their largest value.
    pub saturates: bool,
    /// The highest bin that a sample can fall into.
    pub top_bin: u64,
}

impl Shape {
    /// The shape of `plan`'s histogram.
    pub fn of(plan: &HistogramPlan) -> Self {
        let index = clog2(plan.bins.into());
        let place = index.div_ceil(2);
        let needed = clog2(u128::from(plan.max_samples) + 1);
        Shape {
            group: index - place,
            place,
            counter: plan.counter_bits.min(needed),
            saturates: plan.counter_bits < needed,
            top_bin: (plan.max_value >> plan.bin_shift).min(u64::from(plan.bins) - 1),
        }
    }

    /// Bits of a bin's index.
    pub fn index(&self) -> u32 {
        self.group + self.place
    }

    /// Bits of a group's sum.
    pub fn sum(&self) -> u32 {
        self.counter + self.place
    }

    /// Bins in a group.
    pub fn group_size(&self) -> u32 {
        1 << self.place
    }
}

/// A histogram that is cleared when it is full or old (SPEC 6, p000 3.2). It records a
/// sample every second clock cycle for ever and is cleared in no time; the cycles in which
/// no sample is read belong to the search.
#[derive(LogicBlock)]
pub struct ClearingHistogram {
    about: About,
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub ended: Signal<In, Bit>,
    pub ticks: Signal<In, Bits>,
    pub read_group: Signal<In, Bits>,
    pub read_place: Signal<In, Bits>,
    pub group_sum: Signal<Out, Bits>,
    pub group_mask: Signal<Out, Bits>,
    pub bin_count: Signal<Out, Bits>,
    pub cleared: Signal<Out, Bit>,
    pub sample_bin: Signal<Out, Bits>,
    pub window: Signal<Out, Bits>,
    pub window_step: Signal<Out, Bit>,
    // The window: how long ago the histogram was cleared.
    running: Reg<Bit>,
    prescaler: Reg<Bits>,
    age: Reg<Bits>,
    samples: Reg<Bits>,
    divides: Constant<Bit>,
    ages: Constant<Bit>,
    last_clock: Constant<Bits>,
    window_max: Constant<Bits>,
    max_samples: Constant<Bits>,
    old: Signal<Local, Bit>,
    window_tick: Signal<Local, Bit>,
    // The bin of a sample.
    span: Signal<Local, Bits>,
    clamps: Constant<Bit>,
    bin_shift: Constant<Bits>,
    top_bin: Constant<Bits>,
    sample_group: Signal<Local, Bits>,
    // The sample whose counter is being read, and written back in the next cycle.
    recording: Reg<Bit>,
    record_bin: Reg<Bits>,
    record_fresh: Reg<Bit>,
    record_group: Signal<Local, Bits>,
    record_place: Signal<Local, Bits>,
    record_mask: Signal<Local, Bits>,
    record_sum: Signal<Local, Bits>,
    record_count: Signal<Local, Bits>,
    saturates: Constant<Bit>,
    gain: Signal<Local, Bit>,
    // Which groups hold a sample.
    populated: Reg<Bits>,
    read_populated: Reg<Bit>,
    counters: Memory,
    groups: Memory,
    word_mask: Signal<Local, Bits>,
    word_sum: Signal<Local, Bits>,
    place_bits: Constant<Bits>,
    group_size: Constant<Bits>,
    _group_size: usize,
    _groups: usize,
    _group_bits: usize,
    _place_bits: usize,
    _index_bits: usize,
    _counter_bits: usize,
    _sum_bits: usize,
    _word_bits: usize,
    _span_bits: usize,
    _time_bits: usize,
}

impl ClearingHistogram {
    /// The histogram of `plan`.
    pub fn new(plan: &PortPlan) -> Self {
        let histogram = &plan.histogram;
        let shape = Shape::of(histogram);
        let size = shape.group_size();
        let groups = 1u32 << shape.group;
        let word = size + shape.sum();
        let prescaler_width = clog2(plan.clocks_per_tick.into());
        let window_max = histogram.ttl.unwrap_or(plan.max_time());
        let window_width = clog2(u128::from(window_max) + 1);
        let samples_width = clog2(u128::from(histogram.max_samples) + 1);
        let largest_span = plan.max_time() >> histogram.bin_shift;
        let span_width = clog2(u128::from(largest_span) + 1).max(shape.index());
        ClearingHistogram {
            about: About::new(
                "histogram_clearing",
                "Histogram of idle periods, cleared when it holds max_samples samples or when\n\
                 its time to live has passed, in either case just before the next sample.\n\
                 \n\
                 A word of memory counters is the counter of one bin. A word of memory groups\n\
                 belongs to a group of bins: a bit per bin that says whether its counter\n\
                 means anything, above the sum of the group's counters. A bit of register\n\
                 populated says whether the group's word means anything: clearing those bits\n\
                 clears the histogram. A sample reads both memories in the cycle in which\n\
                 its idle period ends, and is written back in the next.",
            ),
            clk: Signal::clock("clock"),
            rst: Signal::bit("synchronous reset"),
            ended: Signal::bit("a sample: an idle period of that many ticks ended"),
            ticks: Signal::bits(plan.time_width, "length of the idle period"),
            read_group: Signal::bits(shape.group, "group the search reads, unless ended"),
            read_place: Signal::bits(shape.place, "bin of that group the search reads"),
            group_sum: Signal::bits(shape.sum(), "samples in the group read the cycle before"),
            group_mask: Signal::bits(size, "which of its bins hold samples"),
            bin_count: Signal::bits(shape.counter, "counter read the cycle before"),
            cleared: Signal::bit("the sample clears the histogram"),
            sample_bin: Signal::bits(shape.index(), "bin of the sample"),
            window: Signal::bits(plan.time_width, "ticks since the clear, one cycle late"),
            window_step: Signal::bit("the window grows by a tick"),
            running: Reg::bit(false, "reset is over"),
            prescaler: Reg::bits(prescaler_width, 0, "clock cycles into the present tick"),
            age: Reg::bits(window_width, 0, "ticks since the clear, one cycle late"),
            samples: Reg::bits(samples_width, 0, "samples since the clear"),
            divides: Constant::bit(plan.clocks_per_tick > 1, "a tick is longer than a clock"),
            ages: Constant::bit(histogram.ttl.is_some(), "the histogram has a time to live"),
            last_clock: Constant::bits(
                prescaler_width,
                u128::from(plan.clocks_per_tick) - 1,
                "last clock cycle of a tick",
            ),
            window_max: Constant::bits(
                window_width,
                window_max.into(),
                if histogram.ttl.is_some() {
                    "time to live, in ticks: the window stops there"
                } else {
                    "the window saturates"
                },
            ),
            max_samples: Constant::bits(
                samples_width,
                histogram.max_samples.into(),
                "samples that fill the histogram",
            ),
            old: Signal::bit("the time to live has passed"),
            window_tick: Signal::bit("a tick of the window is complete"),
            span: Signal::bits(span_width, "length of the sample in bins"),
            clamps: Constant::bit(
                largest_span > shape.top_bin,
                "a sample may be longer than the histogram",
            ),
            bin_shift: Constant::bits(
                clog2(u128::from(histogram.bin_shift) + 1),
                histogram.bin_shift.into(),
                "log2 of the ticks in a bin",
            ),
            top_bin: Constant::bits(span_width, shape.top_bin.into(), "highest bin in use"),
            sample_group: Signal::bits(shape.group, "group of the sample's bin"),
            recording: Reg::bit(false, "a sample is being written back"),
            record_bin: Reg::bits(shape.index(), 0, "bin of that sample"),
            record_fresh: Reg::bit(false, "its group holds no sample yet"),
            record_group: Signal::bits(shape.group, "group of that bin"),
            record_place: Signal::bits(shape.place, "place of the bin in its group"),
            record_mask: Signal::bits(size, "which bins of the group hold samples"),
            record_sum: Signal::bits(shape.sum(), "samples in the group"),
            record_count: Signal::bits(shape.counter, "samples in the bin"),
            saturates: Constant::bit(shape.saturates, "a counter can reach its largest value"),
            gain: Signal::bit("the counter has room for the sample"),
            populated: Reg::bits(groups, 0, "which groups hold samples"),
            read_populated: Reg::bit(false, "the group read the cycle before holds samples"),
            counters: Memory::new(1 << shape.index(), shape.counter, "samples per bin"),
            groups: Memory::new(
                groups as usize,
                word,
                "per group: sum of its counters, below it a bit per bin that holds samples",
            ),
            word_mask: Signal::bits(size, "bits of the bins, of the group word read"),
            word_sum: Signal::bits(shape.sum(), "sum of the counters, of the group word read"),
            place_bits: Constant::bits(
                clog2(u128::from(shape.place) + 1),
                shape.place.into(),
                "bits of a bin's place in its group",
            ),
            group_size: Constant::bits(clog2(u128::from(size) + 1), size.into(), "bins in a group"),
            _group_size: size as usize,
            _groups: groups as usize,
            _group_bits: shape.group as usize,
            _place_bits: shape.place as usize,
            _index_bits: shape.index() as usize,
            _counter_bits: shape.counter as usize,
            _sum_bits: shape.sum() as usize,
            _word_bits: word as usize,
            _span_bits: span_width as usize,
            _time_bits: plan.time_width as usize,
        }
    }
}

impl Logic for ClearingHistogram {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clk,
            running,
            prescaler,
            age,
            samples,
            recording,
            record_bin,
            record_fresh,
            populated,
            read_populated
        );
        clock!(self, clk, counters, groups);

        comment!("The window is one cycle late, so that the cycle after a sample sees the");
        comment!("window as it was when the sample came.");
        self.running.d.next = true;
        if self.divides.val() {
            self.window_tick.next =
                self.running.q.val() & (self.prescaler.q.val() == self.last_clock.val());
        } else {
            self.window_tick.next = self.running.q.val();
        }
        self.window_step.next =
            self.window_tick.val() & !(self.age.q.val() == self.window_max.val());
        self.window.next = bit_cast(self.age.q.val(), self._time_bits);

        if self.ages.val() {
            self.old.next = (self.age.q.val() == self.window_max.val())
                | (self.window_step.val() & (self.age.q.val() == self.window_max.val() - 1));
        } else {
            self.old.next = false;
        }
        self.cleared.next =
            self.ended.val() & (self.old.val() | (self.samples.q.val() == self.max_samples.val()));

        if self.divides.val() {
            if self.cleared.val() | self.window_tick.val() {
                self.prescaler.d.next = 0.into();
            } else if self.running.q.val() {
                self.prescaler.d.next = self.prescaler.q.val() + 1;
            }
        }
        if self.cleared.val() {
            self.age.d.next = 0.into();
        } else if self.window_step.val() {
            self.age.d.next = self.age.q.val() + 1;
        }
        if self.cleared.val() {
            self.samples.d.next = 1.into();
        } else if self.ended.val() {
            self.samples.d.next = self.samples.q.val() + 1;
        }

        comment!("What is longer than the histogram falls into its highest bin.");
        self.span.next = bit_cast(self.ticks.val() >> self.bin_shift.val(), self._span_bits);
        if self.clamps.val() {
            if self.span.val() > self.top_bin.val() {
                self.sample_bin.next = bit_cast(self.top_bin.val(), self._index_bits);
            } else {
                self.sample_bin.next = bit_cast(self.span.val(), self._index_bits);
            }
        } else {
            self.sample_bin.next = bit_cast(self.span.val(), self._index_bits);
        }
        self.sample_group.next = bit_cast(
            self.sample_bin.val() >> self.place_bits.val(),
            self._group_bits,
        );

        comment!("A sample takes the read ports; every other cycle they are the search's.");
        if self.ended.val() {
            self.counters.read_address.next = self.sample_bin.val();
            self.groups.read_address.next = self.sample_group.val();
        } else {
            self.counters.read_address.next = (bit_cast(self.read_group.val(), self._index_bits)
                << self.place_bits.val())
                | bit_cast(self.read_place.val(), self._index_bits);
            self.groups.read_address.next = self.read_group.val();
        }
        self.read_populated.d.next = self.populated.q.val().get_bit(self.read_group.val());
        self.word_mask.next = bit_cast(self.groups.read_data.val(), self._group_size);
        self.word_sum.next = bit_cast(
            self.groups.read_data.val() >> self.group_size.val(),
            self._sum_bits,
        );
        if self.read_populated.q.val() {
            self.group_sum.next = self.word_sum.val();
        } else {
            self.group_sum.next = 0.into();
        }
        self.group_mask.next = self.word_mask.val();
        self.bin_count.next = self.counters.read_data.val();

        comment!("The cycle after a sample: one more in its bin and in its group.");
        self.recording.d.next = self.ended.val();
        if self.ended.val() {
            self.record_bin.d.next = self.sample_bin.val();
            self.record_fresh.d.next =
                self.cleared.val() | !self.populated.q.val().get_bit(self.sample_group.val());
        }
        self.record_group.next = bit_cast(
            self.record_bin.q.val() >> self.place_bits.val(),
            self._group_bits,
        );
        self.record_place.next = bit_cast(self.record_bin.q.val(), self._place_bits);
        if self.record_fresh.q.val() {
            self.record_mask.next = 0.into();
            self.record_sum.next = 0.into();
        } else {
            self.record_mask.next = self.word_mask.val();
            self.record_sum.next = self.word_sum.val();
        }
        if self.record_mask.val().get_bit(self.record_place.val()) {
            self.record_count.next = self.counters.read_data.val();
        } else {
            self.record_count.next = 0.into();
        }
        if self.saturates.val() {
            self.gain.next = !self.record_count.val().all();
        } else {
            self.gain.next = true;
        }
        self.counters.write_enable.next = self.recording.q.val();
        self.counters.write_address.next = self.record_bin.q.val();
        self.counters.write_data.next =
            self.record_count.val() + bit_cast(self.gain.val(), self._counter_bits);
        self.groups.write_enable.next = self.recording.q.val();
        self.groups.write_address.next = self.record_group.val();
        self.groups.write_data.next = (bit_cast(
            self.record_sum.val() + bit_cast(self.gain.val(), self._sum_bits),
            self._word_bits,
        ) << self.group_size.val())
            | bit_cast(
                self.record_mask.val() | (bits(1, self._group_size) << self.record_place.val()),
                self._word_bits,
            );
        if self.cleared.val() {
            self.populated.d.next = 0.into();
        } else if self.recording.q.val() {
            self.populated.d.next =
                self.populated.q.val() | (bits(1, self._groups) << self.record_group.val());
        }
    }
}
