//! The counters of a histogram, in two levels (`docs/controller.md`).

use super::Shape;
use crate::config::plan::{HistogramKind, PortPlan};
use crate::hdl::prelude::*;

/// A counter per bin and a sum per group of bins, cleared in no time. A change takes the
/// read ports in one cycle and is written back in the next; in every other cycle they
/// belong to the search. Its golden model is part of [`super::golden`].
#[derive(LogicBlock)]
pub struct CounterStore {
    about: About,
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub clear: Signal<In, Bit>,
    pub add: Signal<In, Bit>,
    pub remove: Optional<Signal<In, Bit>>,
    pub bin: Signal<In, Bits>,
    pub read_group: Signal<In, Bits>,
    pub read_place: Signal<In, Bits>,
    pub taken: Signal<Out, Bit>,
    pub group_sum: Signal<Out, Bits>,
    pub bin_count: Signal<Out, Bits>,
    pub arrived: Signal<Out, Bits>,
    // What is read in this cycle.
    changes: Signal<Local, Bit>,
    address: Signal<Local, Bits>,
    group: Signal<Local, Bits>,
    // What was read in the cycle before.
    at: Reg<Bits>,
    at_group: Signal<Local, Bits>,
    at_place: Signal<Local, Bits>,
    valid: Reg<Bit>,
    word: Signal<Local, Bits>,
    counter: Signal<Local, Bits>,
    mask: Signal<Local, Bits>,
    sum: Signal<Local, Bits>,
    count: Signal<Local, Bits>,
    // The change that is written back.
    writing: Reg<Bit>,
    down: Reg<Bit>,
    saturates: Constant<Bit>,
    sum_saturates: Constant<Bit>,
    gain: Signal<Local, Bit>,
    sum_gain: Signal<Local, Bit>,
    new_count: Signal<Local, Bits>,
    new_sum: Signal<Local, Bits>,
    new_word: Signal<Local, Bits>,
    // What was written, for who reads it while it is being written.
    removes: Constant<Bit>,
    same_bin: Reg<Bit>,
    same_group: Reg<Bit>,
    last_count: Reg<Bits>,
    last_word: Reg<Bits>,
    populated: Reg<Bits>,
    counters: Memory,
    groups: Memory,
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
    _weighed_sum_bits: usize,
    _weighed_count_bits: usize,
}

impl CounterStore {
    /// The counters of `plan`'s histogram.
    pub fn new(plan: &PortPlan) -> Self {
        let shape = Shape::of(plan);
        let size = shape.group_size();
        let groups = 1u32 << shape.group;
        let word = size + shape.sum;
        let removes = plan.histogram.kind == HistogramKind::Circular;
        CounterStore {
            about: About::new(
                "counter_store",
                "Counters of a histogram. A word of memory counters is the counter of one\n\
                 bin. A word of memory groups belongs to a group of bins: a bit per bin that\n\
                 says whether its counter means anything, above them the sum of the group's\n\
                 counters. A bit of register populated says whether the group's word means\n\
                 anything: clearing those bits clears the histogram.\n\
                 \n\
                 A change reads both memories in one cycle and writes back in the next.",
            ),
            clk: Signal::clock("clock"),
            rst: Signal::bit("synchronous reset"),
            clear: Signal::bit("forget all samples before this cycle's"),
            add: Signal::bit("one more sample in that bin"),
            remove: Optional::when(removes, Signal::bit("one sample less in that bin")),
            bin: Signal::bits(shape.index(), "bin of the change"),
            read_group: Signal::bits(shape.group, "group the search reads"),
            read_place: Signal::bits(shape.place, "bin of that group the search reads"),
            taken: Signal::bit("the search reads nothing in this cycle"),
            group_sum: Signal::bits(
                shape.weighed_sum(),
                "samples in the group read the cycle before",
            ),
            bin_count: Signal::bits(
                shape.weighed_count(),
                "samples in the bin read the cycle before",
            ),
            arrived: Signal::bits(shape.index(), "that bin"),
            changes: Signal::bit("a change reads in this cycle"),
            address: Signal::bits(shape.index(), "bin to read"),
            group: Signal::bits(shape.group, "its group"),
            at: Reg::bits(shape.index(), 0, "bin read the cycle before"),
            at_group: Signal::bits(shape.group, "its group"),
            at_place: Signal::bits(shape.place, "its place in the group"),
            valid: Reg::bit(false, "the word of its group means something"),
            word: Signal::bits(word, "that word"),
            counter: Signal::bits(shape.counter, "the counter of that bin"),
            mask: Signal::bits(size, "which bins of the group have counters"),
            sum: Signal::bits(shape.sum, "samples in the group"),
            count: Signal::bits(shape.counter, "samples in the bin"),
            writing: Reg::bit(false, "a change is being written back"),
            down: Reg::bit(false, "it takes a sample out"),
            saturates: Constant::bit(shape.saturates, "a counter can reach its largest value"),
            sum_saturates: Constant::bit(
                shape.sum_saturates,
                "a sum can reach its largest value, more than any budget",
            ),
            gain: Signal::bit("the counter has room for the sample"),
            sum_gain: Signal::bit("so has the sum"),
            new_count: Signal::bits(shape.counter, "samples in the bin after the change"),
            new_sum: Signal::bits(shape.sum, "samples in the group after the change"),
            new_word: Signal::bits(word, "word of the group after the change"),
            removes: Constant::bit(removes, "samples are taken out again"),
            same_bin: Reg::bit(false, "the bin was written while it was read"),
            same_group: Reg::bit(false, "its group was written while it was read"),
            last_count: Reg::bits(shape.counter, 0, "counter written the cycle before"),
            last_word: Reg::bits(word, 0, "word written the cycle before"),
            populated: Reg::bits(groups, 0, "which groups hold samples"),
            counters: Memory::new(1 << shape.index(), shape.counter, "samples per bin"),
            groups: Memory::new(
                groups as usize,
                word,
                "per group: sum of its counters, below it a bit per bin that has a counter",
            ),
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
            _sum_bits: shape.sum as usize,
            _word_bits: word as usize,
            _weighed_sum_bits: shape.weighed_sum() as usize,
            _weighed_count_bits: shape.weighed_count() as usize,
        }
    }
}

impl Logic for CounterStore {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clk, at, valid, writing, down, same_bin, same_group, last_count, last_word,
            populated
        );
        clock!(self, clk, counters, groups);

        self.at_group.next = bit_cast(self.at.q.val() >> self.place_bits.val(), self._group_bits);
        self.at_place.next = bit_cast(self.at.q.val(), self._place_bits);

        if self.removes.val() {
            comment!("A change takes the read ports; every other cycle they are the search's.");
            self.changes.next = self.add.val() | self.remove.val();
            self.taken.next = self.changes.val();
        } else {
            comment!("A change takes the read ports; every other cycle they are the search's,");
            comment!("unless it would read the group that is being written.");
            self.changes.next = self.add.val();
            self.taken.next = self.changes.val()
                | (self.writing.q.val() & (self.read_group.val() == self.at_group.val()));
        }
        if self.changes.val() {
            self.address.next = self.bin.val();
        } else {
            self.address.next = (bit_cast(self.read_group.val(), self._index_bits)
                << self.place_bits.val())
                | bit_cast(self.read_place.val(), self._index_bits);
        }
        self.group.next = bit_cast(
            self.address.val() >> self.place_bits.val(),
            self._group_bits,
        );
        self.counters.read_address.next = self.address.val();
        self.groups.read_address.next = self.group.val();
        self.at.d.next = self.address.val();
        self.valid.d.next = self.populated.q.val().get_bit(self.group.val()) & !self.clear.val();
        if self.removes.val() {
            if self.writing.q.val() & (self.group.val() == self.at_group.val()) {
                self.valid.d.next = true;
            }
        }

        comment!("What has arrived; nothing is in a bin or a group that was not written yet.");
        if self.removes.val() {
            self.same_bin.d.next = self.writing.q.val() & (self.address.val() == self.at.q.val());
            self.same_group.d.next =
                self.writing.q.val() & (self.group.val() == self.at_group.val());
            if self.same_bin.q.val() {
                self.counter.next = self.last_count.q.val();
            } else {
                self.counter.next = self.counters.read_data.val();
            }
            if self.same_group.q.val() {
                self.word.next = self.last_word.q.val();
            } else {
                self.word.next = self.groups.read_data.val();
            }
        } else {
            self.counter.next = self.counters.read_data.val();
            self.word.next = self.groups.read_data.val();
        }
        if self.valid.q.val() {
            self.mask.next = bit_cast(self.word.val(), self._group_size);
            self.sum.next = bit_cast(self.word.val() >> self.group_size.val(), self._sum_bits);
        } else {
            self.mask.next = 0.into();
            self.sum.next = 0.into();
        }
        if self.mask.val().get_bit(self.at_place.val()) {
            self.count.next = self.counter.val();
        } else {
            self.count.next = 0.into();
        }
        self.group_sum.next = bit_cast(self.sum.val(), self._weighed_sum_bits);
        self.bin_count.next = bit_cast(self.count.val(), self._weighed_count_bits);
        self.arrived.next = self.at.q.val();

        comment!("The cycle after a change has read: its bin and its group are written back.");
        self.writing.d.next = self.changes.val();
        if self.saturates.val() {
            self.gain.next = !self.count.val().all();
        } else {
            self.gain.next = true;
        }
        if self.sum_saturates.val() {
            self.sum_gain.next = self.gain.val() & !self.sum.val().all();
        } else {
            self.sum_gain.next = self.gain.val();
        }
        self.new_count.next = self.count.val() + bit_cast(self.gain.val(), self._counter_bits);
        self.new_sum.next = self.sum.val() + bit_cast(self.sum_gain.val(), self._sum_bits);
        if self.removes.val() {
            self.down.d.next = self.remove.val();
            if self.down.q.val() {
                self.new_count.next = self.count.val() - 1;
                self.new_sum.next = self.sum.val() - 1;
            }
            self.last_count.d.next = self.new_count.val();
        }
        self.new_word.next = (bit_cast(self.new_sum.val(), self._word_bits)
            << self.group_size.val())
            | bit_cast(
                self.mask.val() | (bits(1, self._group_size) << self.at_place.val()),
                self._word_bits,
            );
        if self.removes.val() {
            self.last_word.d.next = self.new_word.val();
        }
        self.counters.write_enable.next = self.writing.q.val();
        self.counters.write_address.next = self.at.q.val();
        self.counters.write_data.next = self.new_count.val();
        self.groups.write_enable.next = self.writing.q.val();
        self.groups.write_address.next = self.at_group.val();
        self.groups.write_data.next = self.new_word.val();
        if self.clear.val() {
            self.populated.d.next = 0.into();
        } else if self.writing.q.val() {
            self.populated.d.next =
                self.populated.q.val() | (bits(1, self._groups) << self.at_group.val());
        }
    }
}
