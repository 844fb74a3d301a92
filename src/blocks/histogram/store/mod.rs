//! The counters of a histogram, in two levels (`docs/controller.md`).

use super::Shape;
use crate::config::plan::{HistogramKind, PortPlan};
use crate::hdl::prelude::*;

/// A counter per bin and a sum per group of bins, cleared in no time. A change takes the
/// read ports in one cycle and is written back two cycles later; in every other cycle they
/// belong to the search. Its golden model is part of [`super::golden`].
#[derive(LogicBlock)]
pub struct CounterStore {
    about: About,
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub clear: Signal<In, Bit>,
    pub add: Signal<In, Bit>,
    pub remove: Optional<Signal<In, Bit>>,
    pub halve: Optional<Signal<In, Bit>>,
    pub twice: Optional<Signal<In, Bit>>,
    pub up: Optional<Signal<In, Bit>>,
    pub bin: Signal<In, Bits>,
    pub read_group: Signal<In, Bits>,
    pub read_place: Signal<In, Bits>,
    pub taken: Signal<Out, Bit>,
    pub group_sum: Signal<Out, Bits>,
    pub bin_count: Signal<Out, Bits>,
    pub arrived: Signal<Out, Bits>,
    pub full: Optional<Signal<Out, Bit>>,
    removes: Constant<Bit>,
    halves: Constant<Bit>,
    every_cycle: Constant<Bit>,
    // First cycle: an address goes to the memories.
    changes: Signal<Local, Bit>,
    address: Signal<Local, Bits>,
    // Second cycle: their words come.
    at: Reg<Bits>,
    at_group: Signal<Local, Bits>,
    at_place: Signal<Local, Bits>,
    changing: Reg<Bit>,
    removing: Reg<Bit>,
    halving: Reg<Bit>,
    doubling: Reg<Bit>,
    rounding: Reg<Bit>,
    same_group: Signal<Local, Bit>,
    valid: Signal<Local, Bit>,
    last_mask: Signal<Local, Bits>,
    new_mask: Signal<Local, Bits>,
    read_mask: Signal<Local, Bits>,
    word: Signal<Local, Bits>,
    // Third cycle: what they mean, and what is written back.
    here: Reg<Bits>,
    here_group: Signal<Local, Bits>,
    here_place: Signal<Local, Bits>,
    writing: Reg<Bit>,
    down: Reg<Bit>,
    shrinks: Reg<Bit>,
    doubles: Reg<Bit>,
    rounds: Reg<Bit>,
    half: Signal<Local, Bits>,
    one: Constant<Bits>,
    full_count: Constant<Bits>,
    group_word: Reg<Bits>,
    counted: Reg<Bit>,
    counter: Reg<Bits>,
    written_before: Reg<Bit>,
    written_between: Reg<Bit>,
    mask: Signal<Local, Bits>,
    sum: Signal<Local, Bits>,
    count: Signal<Local, Bits>,
    saturates: Constant<Bit>,
    counts_enough: Constant<Bit>,
    sums_enough: Constant<Bit>,
    top_of_count: Constant<Bits>,
    top_of_sum: Constant<Bits>,
    gain: Signal<Local, Bit>,
    sum_gain: Signal<Local, Bit>,
    new_count: Signal<Local, Bits>,
    new_sum: Signal<Local, Bits>,
    new_word: Signal<Local, Bits>,
    // Fourth cycle: what was written, for a reader who came too early to find it.
    last: Reg<Bits>,
    last_group: Signal<Local, Bits>,
    wrote: Reg<Bit>,
    clearing: Reg<Bit>,
    last_word: Reg<Bits>,
    last_count: Reg<Bits>,
    older_count: Reg<Bits>,
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
        let halves = plan.histogram.kind == HistogramKind::Regular;
        let full_count = match halves {
            true => u64::MAX >> (64 - plan.histogram.counter_bits),
            false => 0,
        };
        CounterStore {
            about: About::new(
                "counter_store",
                "Counters of a histogram. A word of memory counters is the counter of one\n\
                 bin. A word of memory groups belongs to a group of bins: a bit per bin that\n\
                 says whether its counter means anything, above them the sum of the group's\n\
                 counters. A bit of register populated says whether the group's word means\n\
                 anything: clearing those bits clears the histogram.\n\
                 \n\
                 A change reads both memories in one cycle and is written back two cycles\n\
                 later. In between the words stand in registers, behind the memories, which\n\
                 are the slowest part; who reads meanwhile is given what was written.",
            ),
            clk: Signal::clock("clock"),
            rst: Signal::bit("synchronous reset"),
            clear: Signal::bit("forget all samples before this cycle's"),
            add: Signal::bit("one more sample in that bin"),
            remove: Optional::when(removes, Signal::bit("one sample less in that bin")),
            halve: Optional::when(halves, Signal::bit("that bin has half its samples")),
            twice: Optional::when(
                halves,
                Signal::bit("a sample there counts twice: the bin is yet to be halved"),
            ),
            up: Optional::when(halves, Signal::bit("the larger half of an odd number")),
            bin: Signal::bits(shape.index(), "bin of the change"),
            read_group: Signal::bits(shape.group, "group the search reads"),
            read_place: Signal::bits(shape.place, "bin of that group the search reads"),
            taken: Signal::bit("the search reads nothing in this cycle"),
            group_sum: Signal::bits(
                shape.weighed_sum(),
                "samples in the group read two cycles before",
            ),
            bin_count: Signal::bits(
                shape.weighed_count(),
                "samples in the bin read two cycles before",
            ),
            arrived: Signal::bits(shape.index(), "that bin"),
            full: Optional::when(
                halves,
                Signal::bit("a counter is written that has no room for another sample"),
            ),
            removes: Constant::bit(removes, "samples are taken out again"),
            halves: Constant::bit(halves, "counters are halved"),
            every_cycle: Constant::bit(removes || halves, "changes come in successive cycles"),
            changes: Signal::bit("a change reads in this cycle"),
            address: Signal::bits(shape.index(), "bin to read"),
            at: Reg::bits(shape.index(), 0, "bin read the cycle before"),
            at_group: Signal::bits(shape.group, "its group"),
            at_place: Signal::bits(shape.place, "its place in the group"),
            changing: Reg::bit(false, "a change has read it"),
            removing: Reg::bit(false, "the change takes a sample out"),
            halving: Reg::bit(false, "the change halves the bin"),
            doubling: Reg::bit(false, "the sample counts twice"),
            rounding: Reg::bit(false, "half of an odd number is rounded up"),
            same_group: Signal::bit("its group was written while it was read"),
            valid: Signal::bit("the group holds samples"),
            last_mask: Signal::bits(size, "bits of the bins, of the word written last"),
            new_mask: Signal::bits(size, "those of the word being written"),
            read_mask: Signal::bits(size, "those of the word read"),
            word: Signal::bits(word, "word of its group"),
            here: Reg::bits(shape.index(), 0, "bin read two cycles before"),
            here_group: Signal::bits(shape.group, "its group"),
            here_place: Signal::bits(shape.place, "its place in the group"),
            writing: Reg::bit(false, "a change is being written back"),
            down: Reg::bit(false, "it takes a sample out"),
            shrinks: Reg::bit(false, "it halves the bin"),
            doubles: Reg::bit(false, "its sample counts twice"),
            rounds: Reg::bit(false, "it rounds up"),
            half: Signal::bits(shape.counter, "half of the samples in the bin"),
            one: Constant::bits(1, 1, "halves"),
            full_count: Constant::bits(
                shape.counter,
                full_count.into(),
                "a counter that is to be halved before the next sample",
            ),
            group_word: Reg::bits(word, 0, "word of the group, 0 if it holds no samples"),
            counted: Reg::bit(false, "the bin has a counter"),
            counter: Reg::bits(shape.counter, 0, "that counter as it was read"),
            written_before: Reg::bit(false, "it was written while it was read"),
            written_between: Reg::bit(false, "it was written the cycle before"),
            mask: Signal::bits(size, "which bins of the group have counters"),
            sum: Signal::bits(shape.sum, "samples in the group"),
            count: Signal::bits(shape.counter, "samples in the bin"),
            saturates: Constant::bit(shape.saturates, "a counter can reach its largest value"),
            counts_enough: Constant::bit(
                shape.counts_enough,
                "a counter stops at more than any budget",
            ),
            sums_enough: Constant::bit(shape.sums_enough, "a sum stops at more than any budget"),
            top_of_count: Constant::bits(
                clog2(shape.counter.into()),
                u128::from(shape.counter) - 1,
                "the bit that says so",
            ),
            top_of_sum: Constant::bits(
                clog2(shape.sum.into()),
                u128::from(shape.sum) - 1,
                "the bit that says so",
            ),
            gain: Signal::bit("the counter has room for the sample"),
            sum_gain: Signal::bit("so has the sum"),
            new_count: Signal::bits(shape.counter, "samples in the bin after the change"),
            new_sum: Signal::bits(shape.sum, "samples in the group after the change"),
            new_word: Signal::bits(word, "word of the group after the change"),
            last: Reg::bits(shape.index(), 0, "bin read three cycles before"),
            last_group: Signal::bits(shape.group, "its group"),
            wrote: Reg::bit(false, "it was written the cycle before"),
            clearing: Reg::bit(false, "all samples before the present change are forgotten"),
            last_word: Reg::bits(word, 0, "word of its group that was written"),
            last_count: Reg::bits(shape.counter, 0, "counter written last"),
            older_count: Reg::bits(shape.counter, 0, "counter written last, a cycle ago"),
            populated: Reg::bits(groups, 0, "which groups hold samples"),
            counters: Memory::new(1 << shape.index(), shape.counter, "samples per bin")
                .without_collisions(),
            groups: Memory::new(
                groups as usize,
                word,
                "per group: sum of its counters, below it a bit per bin that has a counter",
            )
            .without_collisions(),
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
            self,
            clk,
            at,
            changing,
            removing,
            halving,
            doubling,
            rounding,
            here,
            writing,
            down,
            shrinks,
            doubles,
            rounds,
            group_word,
            counted,
            counter,
            written_before,
            written_between,
            last,
            wrote,
            clearing,
            last_word,
            last_count,
            older_count,
            populated
        );
        clock!(self, clk, counters, groups);

        comment!("A change takes the read ports; every other cycle they are the search's.");
        if self.removes.val() {
            self.changes.next = self.add.val() | self.remove.val();
            self.removing.d.next = self.remove.val();
        } else if self.halves.val() {
            self.changes.next = self.add.val() | self.halve.val();
            self.halving.d.next = self.halve.val();
            self.doubling.d.next = self.twice.val();
            self.rounding.d.next = self.up.val();
        } else {
            self.changes.next = self.add.val();
        }
        self.taken.next = self.changes.val();
        if self.changes.val() {
            self.address.next = self.bin.val();
        } else {
            self.address.next = (bit_cast(self.read_group.val(), self._index_bits)
                << self.place_bits.val())
                | bit_cast(self.read_place.val(), self._index_bits);
        }
        self.counters.read_address.next = self.address.val();
        self.groups.read_address.next = bit_cast(
            self.address.val() >> self.place_bits.val(),
            self._group_bits,
        );
        self.at.d.next = self.address.val();
        self.changing.d.next = self.changes.val();

        self.at_group.next = bit_cast(self.at.q.val() >> self.place_bits.val(), self._group_bits);
        self.at_place.next = bit_cast(self.at.q.val(), self._place_bits);
        self.here_group.next =
            bit_cast(self.here.q.val() >> self.place_bits.val(), self._group_bits);
        self.here_place.next = bit_cast(self.here.q.val(), self._place_bits);
        self.last_group.next =
            bit_cast(self.last.q.val() >> self.place_bits.val(), self._group_bits);

        comment!("The words, in the third cycle: a change writes them back.");
        self.mask.next = bit_cast(self.group_word.q.val(), self._group_size);
        self.sum.next = bit_cast(
            self.group_word.q.val() >> self.group_size.val(),
            self._sum_bits,
        );
        self.count.next = 0.into();
        if self.counted.q.val() {
            self.count.next = self.counter.q.val();
            if self.every_cycle.val() {
                if self.written_before.q.val() {
                    self.count.next = self.older_count.q.val();
                }
                if self.written_between.q.val() {
                    self.count.next = self.last_count.q.val();
                }
            } else if self.written_before.q.val() {
                self.count.next = self.last_count.q.val();
            }
        }
        self.group_sum.next = bit_cast(self.sum.val(), self._weighed_sum_bits);
        self.bin_count.next = bit_cast(self.count.val(), self._weighed_count_bits);
        self.arrived.next = self.here.q.val();

        if self.saturates.val() {
            self.gain.next = !self.count.val().all();
        } else if self.counts_enough.val() {
            self.gain.next = !self.count.val().get_bit(self.top_of_count.val());
        } else {
            self.gain.next = true;
        }
        self.sum_gain.next = true;
        if self.sums_enough.val() {
            self.sum_gain.next = !self.sum.val().get_bit(self.top_of_sum.val());
        }
        if self.saturates.val() {
            self.sum_gain.next = self.gain.val();
            if self.sums_enough.val() {
                self.sum_gain.next =
                    self.gain.val() & !self.sum.val().get_bit(self.top_of_sum.val());
            }
        }
        self.new_count.next = self.count.val() + bit_cast(self.gain.val(), self._counter_bits);
        self.new_sum.next = self.sum.val() + bit_cast(self.sum_gain.val(), self._sum_bits);
        if self.removes.val() {
            self.down.d.next = self.removing.q.val();
            if self.down.q.val() {
                self.new_count.next = self.count.val() - 1;
                self.new_sum.next = self.sum.val() - 1;
            }
        }
        if self.halves.val() {
            self.shrinks.d.next = self.halving.q.val();
            self.doubles.d.next = self.doubling.q.val();
            self.rounds.d.next = self.rounding.q.val();
            self.half.next = (self.count.val() + bit_cast(self.rounds.q.val(), self._counter_bits))
                >> self.one.val();
            if self.shrinks.q.val() {
                self.new_count.next = self.half.val();
                self.new_sum.next =
                    self.sum.val() - bit_cast(self.count.val() - self.half.val(), self._sum_bits);
            } else if self.doubles.q.val() {
                self.new_count.next = self.count.val() + 2;
                self.new_sum.next = self.sum.val() + 2;
            }
            self.full.next = self.writing.q.val()
                & (self.shrinks.q.val() | !self.doubles.q.val())
                & (self.new_count.val() >= self.full_count.val());
        }
        self.new_mask.next = self.mask.val() | (bits(1, self._group_size) << self.here_place.val());
        self.new_word.next = (bit_cast(self.new_sum.val(), self._word_bits)
            << self.group_size.val())
            | bit_cast(self.new_mask.val(), self._word_bits);
        self.counters.write_enable.next = self.writing.q.val();
        self.counters.write_address.next = self.here.q.val();
        self.counters.write_data.next = self.new_count.val();
        self.groups.write_enable.next = self.writing.q.val();
        self.groups.write_address.next = self.here_group.val();
        self.groups.write_data.next = self.new_word.val();
        if self.clearing.q.val() {
            self.populated.d.next = 0.into();
        } else if self.writing.q.val() {
            self.populated.d.next =
                self.populated.q.val() | (bits(1, self._groups) << self.here_group.val());
        }

        comment!("The words, in the second cycle: nothing is in a group that was not written;");
        comment!("what was written while it was read has not come out of the memory.");
        self.clearing.d.next = self.clear.val();
        self.last.d.next = self.here.q.val();
        self.wrote.d.next = self.writing.q.val();
        self.last_word.d.next = self.new_word.val();
        if self.writing.q.val() {
            self.last_count.d.next = self.new_count.val();
        }
        self.same_group.next = self.wrote.q.val() & (self.last_group.val() == self.at_group.val());
        self.valid.next = self.populated.q.val().get_bit(self.at_group.val());
        self.last_mask.next = bit_cast(self.last_word.q.val(), self._group_size);
        self.read_mask.next = bit_cast(self.groups.read_data.val(), self._group_size);
        if self.clearing.q.val() {
            self.word.next = 0.into();
            self.counted.d.next = false;
        } else if self.same_group.val() {
            self.word.next = self.last_word.q.val();
            self.counted.d.next = self.last_mask.val().get_bit(self.at_place.val());
        } else if self.valid.val() {
            self.word.next = self.groups.read_data.val();
            self.counted.d.next = self.read_mask.val().get_bit(self.at_place.val());
        } else {
            self.word.next = 0.into();
            self.counted.d.next = false;
        }
        if self.every_cycle.val() {
            comment!("The change before this one is being written just now.");
            if self.writing.q.val() & (self.here_group.val() == self.at_group.val()) {
                self.word.next = self.new_word.val();
                self.counted.d.next = self.new_mask.val().get_bit(self.at_place.val());
            }
            self.written_between.d.next =
                self.writing.q.val() & (self.here.q.val() == self.at.q.val());
            self.older_count.d.next = self.last_count.q.val();
        }
        self.group_word.d.next = self.word.val();
        self.counter.d.next = self.counters.read_data.val();
        self.written_before.d.next = self.wrote.q.val() & (self.last.q.val() == self.at.q.val());
        self.here.d.next = self.at.q.val();
        self.writing.d.next = self.changing.q.val();
    }
}
