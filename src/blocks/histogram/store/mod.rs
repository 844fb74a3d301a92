//! The counters of a histogram, in two levels (`docs/how/controller.md`).

use super::{FoundPins, ReadPins, Shape};
use crate::blocks::memory_code;
use crate::config::plan::{HistogramKind, PortPlan};
use crate::hdl::prelude::*;

block! {
    /// A counter per bin and a sum per group of bins, cleared in no time. A change takes the
    /// read ports in one cycle and is written back two cycles later; in every other cycle they
    /// belong to the search. Its golden model is part of [`super::golden`].
    pub struct CounterStore(clk, rst);

    /// The counters of `plan`'s histogram.
    pub fn new(plan: &PortPlan) {
        let shape = Shape::of(plan);
        let size = shape.group_size();
        let groups = 1u32 << shape.group;
        let word = size + shape.sum;
        let removes = plan.histogram.kind == HistogramKind::Circular;
        let halves = plan.histogram.kind == HistogramKind::Regular;
        let code = memory_code(plan);
        let full_count = if halves { u64::MAX >> (64 - plan.histogram.counter_bits) } else { 0 };
    }

    about(
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
    )

    {
        pub in clear: Bit("forget all samples before this cycle's"),
        pub in add: Bit("one more sample in that bin"),
        pub in remove: Bit("one sample less in that bin") if removes,
        pub in halve: Bit("that bin has half its samples") if halves,
        pub in twice: Bit("a sample there counts twice: the bin is yet to be halved") if halves,
        pub in up: Bit("the larger half of an odd number") if halves,
        pub in bin: Bits(shape.index(), "bin of the change"),
        pub flat read: ReadPins(&shape),
        pub flat found: FoundPins(&shape, ""),
        pub out full: Bit("a counter is written that has no room for another sample") if halves,
        pub out memory_upset: Bits(2, "wrong bits in the words read: 1, put right; 2, not") if code.is_some(),
        choice removes(removes), // samples are taken out again
        choice halves(halves), // counters are halved
        choice every_cycle(removes || halves), // changes come in successive cycles
        // First cycle: an address goes to the memories.
        local changes: Bit("a change reads in this cycle"),
        local address: Bits(shape.index(), "bin to read"),
        // Second cycle: their words come.
        reg at: Bits(shape.index(), 0, "bin read the cycle before"),
        local at_group: Bits(shape.group, "its group"),
        local at_place: Bits(shape.place, "its place in the group"),
        reg changing: Bit(false, "a change has read it"),
        reg removing: Bit(false, "the change takes a sample out"),
        reg halving: Bit(false, "the change halves the bin"),
        reg doubling: Bit(false, "the sample counts twice"),
        reg rounding: Bit(false, "half of an odd number is rounded up"),
        local same_group: Bit("its group was written while it was read"),
        local valid: Bit("the group holds samples"),
        local last_mask: Bits(size, "bits of the bins, of the word written last"),
        local new_mask: Bits(size, "those of the word being written"),
        local read_mask: Bits(size, "those of the word read"),
        local word: Bits(word, "word of its group"),
        // Third cycle: what they mean, and what is written back.
        reg here: Bits(shape.index(), 0, "bin read two cycles before"),
        local here_group: Bits(shape.group, "its group"),
        local here_place: Bits(shape.place, "its place in the group"),
        reg writing: Bit(false, "a change is being written back"),
        reg down: Bit(false, "it takes a sample out"),
        reg shrinks: Bit(false, "it halves the bin"),
        reg doubles: Bit(false, "its sample counts twice"),
        reg rounds: Bit(false, "it rounds up"),
        local half: Bits(shape.counter, "half of the samples in the bin"),
        constant one: Bits(1, 1, "halves"),
        constant full_count: Bits(
            shape.counter,
            full_count.into(),
            "a counter that is to be halved before the next sample",
        ),
        reg group_word: Bits(word, 0, "word of the group, 0 if it holds no samples"),
        reg counted: Bit(false, "the bin has a counter"),
        reg counter: Bits(shape.counter, 0, "that counter"),
        reg written_between: Bit(false, "it was written the cycle before"),
        local mask: Bits(size, "which bins of the group have counters"),
        local sum: Bits(shape.sum, "samples in the group"),
        local count: Bits(shape.counter, "samples in the bin"),
        choice saturates(shape.saturates), // a counter can reach its largest value
        choice counts_enough(shape.counts_enough), // a counter stops at more than any budget
        choice sums_enough(shape.sums_enough), // a sum stops at more than any budget
        constant top_of_count: Bits(
            clog2(shape.counter.into()), u128::from(shape.counter) - 1, "the bit that says so"
        ),
        constant top_of_sum: Bits(
            clog2(shape.sum.into()), u128::from(shape.sum) - 1, "the bit that says so"
        ),
        local gain: Bit("the counter has room for the sample"),
        local sum_gain: Bit("so has the sum"),
        local new_count: Bits(shape.counter, "samples in the bin after the change"),
        local new_sum: Bits(shape.sum, "samples in the group after the change"),
        local new_word: Bits(word, "word of the group after the change"),
        // Fourth cycle: what was written, for a reader who came too early to find it.
        reg last: Bits(shape.index(), 0, "bin read three cycles before"),
        local last_group: Bits(shape.group, "the group of that bin"),
        reg wrote: Bit(false, "it was written the cycle before"),
        reg clearing: Bit(false, "all samples before the present change are forgotten"),
        reg last_word: Bits(word, 0, "word of its group that was written"),
        reg last_count: Bits(shape.counter, 0, "counter of that bin that was written"),
        reg populated: Bits(groups, 0, "which groups hold samples"),
        memory counters: Memory(1 << shape.index(), shape.counter, code, "samples per bin"),
        memory groups: Memory(
            groups as usize,
            word,
            code,
            "per group: sum of its counters, below it a bit per bin that has a counter",
        ),
        choice coded(code.is_some()), // the memories have a code
        local counter_stands: Bit("the bin has a counter, written before this cycle"),
        // For the proofs (docs/evidence/proofs.md).
        invariant changes_apart(
            "Two changes are two cycles apart at least."
        ) if !(removes || halves),
        invariant counters_marked("A bin has a counter if the word of its group says so."),
        invariant written_groups_stand(
            "The group that was written the cycle before holds samples."
        ),
        local last_populated: Bit("the group written last holds samples"),
        constant place_bits: Number(shape.place, "bits of a bin's place in its group"),
        constant group_size: Number(size, "bins in a group"),
    }
}

pieces! {
    impl Logic for CounterStore {
        Addresses,
        Words,
        Fetched,
        Claims,
    }
}

/// Which words are read, and which come two cycles later.
impl Piece<Addresses> for CounterStore {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("A change takes the read ports; every other cycle they are the search's.");
        if self.removes {
            self.changes.next = self.add.val() | self.remove.val();
            self.removing.d.next = self.remove.val();
        } else if self.halves {
            self.changes.next = self.add.val() | self.halve.val();
            self.halving.d.next = self.halve.val();
            self.doubling.d.next = self.twice.val();
            self.rounding.d.next = self.up.val();
        } else {
            self.changes.next = self.add.val();
        }
        self.found.taken.next = self.changes.val();
        if self.changes.val() {
            self.address.next = self.bin.val();
        } else {
            self.address.next = (bit_cast(self.read.read_group.val(), &self.address)
                << self.place_bits.val())
                | bit_cast(self.read.read_place.val(), &self.address);
        }
        self.counters.read_address.next = self.address.val();
        self.groups.read_address.next =
            bit_cast(self.address.val() >> self.place_bits.val(), &self.at_group);
        self.at.d.next = self.address.val();
        self.changing.d.next = self.changes.val();

        self.at_group.next = bit_cast(self.at.q.val() >> self.place_bits.val(), &self.at_group);
        self.at_place.next = bit_cast(self.at.q.val(), &self.at_place);
        self.here_group.next =
            bit_cast(self.here.q.val() >> self.place_bits.val(), &self.here_group);
        self.here_place.next = bit_cast(self.here.q.val(), &self.here_place);
        self.last_group.next =
            bit_cast(self.last.q.val() >> self.place_bits.val(), &self.last_group);
    }
}

/// What a change makes of the words, and what a search finds in them.
impl Piece<Words> for CounterStore {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("The words, in the third cycle: a change writes them back.");
        self.mask.next = bit_cast(self.group_word.q.val(), &self.mask);
        self.sum.next = bit_cast(self.group_word.q.val() >> self.group_size.val(), &self.sum);
        self.count.next = 0.into();
        if self.counted.q.val() {
            self.count.next = self.counter.q.val();
            if self.every_cycle {
                if self.written_between.q.val() {
                    self.count.next = self.last_count.q.val();
                }
            }
        }
        self.found.group_sum.next = bit_cast(self.sum.val(), &self.found.group_sum);
        self.found.bin_count.next = bit_cast(self.count.val(), &self.found.bin_count);
        self.found.arrived.next = self.here.q.val();

        if self.saturates {
            self.gain.next = !self.count.val().all();
        } else if self.counts_enough {
            self.gain.next = !self.count.val().get_bit(self.top_of_count.val());
        } else {
            self.gain.next = true;
        }
        self.sum_gain.next = true;
        if self.sums_enough {
            self.sum_gain.next = !self.sum.val().get_bit(self.top_of_sum.val());
        }
        if self.saturates {
            self.sum_gain.next = self.gain.val();
            if self.sums_enough {
                self.sum_gain.next =
                    self.gain.val() & !self.sum.val().get_bit(self.top_of_sum.val());
            }
        }
        self.new_count.next = self.count.val() + bit_cast(self.gain.val(), &self.new_count);
        self.new_sum.next = self.sum.val() + bit_cast(self.sum_gain.val(), &self.new_sum);
        if self.removes {
            self.down.d.next = self.removing.q.val();
            if self.down.q.val() {
                self.new_count.next = self.count.val() - 1;
                self.new_sum.next = self.sum.val() - 1;
            }
        }
        if self.halves {
            self.shrinks.d.next = self.halving.q.val();
            self.doubles.d.next = self.doubling.q.val();
            self.rounds.d.next = self.rounding.q.val();
            self.half.next =
                (self.count.val() + bit_cast(self.rounds.q.val(), &self.half)) >> self.one.val();
            if self.shrinks.q.val() {
                self.new_count.next = self.half.val();
                self.new_sum.next =
                    self.sum.val() - bit_cast(self.count.val() - self.half.val(), &self.new_sum);
            } else if self.doubles.q.val() {
                self.new_count.next = self.count.val() + 2;
                self.new_sum.next = self.sum.val() + 2;
            }
            self.full.next = self.writing.q.val()
                & (self.shrinks.q.val() | !self.doubles.q.val())
                & (self.new_count.val() >= self.full_count.val());
        }
        self.new_mask.next = self.mask.val() | (bits(1, &self.new_mask) << self.here_place.val());
        self.new_word.next = (bit_cast(self.new_sum.val(), &self.new_word)
            << self.group_size.val())
            | bit_cast(self.new_mask.val(), &self.new_word);
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
                self.populated.q.val() | (bits(1, &self.populated) << self.here_group.val());
        }
    }
}

/// The words as they come out of the memories.
impl Piece<Fetched> for CounterStore {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("The words, in the second cycle: nothing is in a group that was not written;");
        comment!("what was written while it was read has not come out of the memory.");
        self.clearing.d.next = self.clear.val();
        self.last.d.next = self.here.q.val();
        self.wrote.d.next = self.writing.q.val();
        self.last_word.d.next = self.new_word.val();
        self.last_count.d.next = self.new_count.val();
        self.same_group.next = self.wrote.q.val() & (self.last_group.val() == self.at_group.val());
        self.valid.next = self.populated.q.val().get_bit(self.at_group.val());
        self.last_mask.next = bit_cast(self.last_word.q.val(), &self.last_mask);
        self.read_mask.next = bit_cast(self.groups.read_data.val(), &self.read_mask);
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
        if self.every_cycle {
            comment!("The change before this one is being written just now.");
            if self.writing.q.val() & (self.here_group.val() == self.at_group.val()) {
                self.word.next = self.new_word.val();
                self.counted.d.next = self.new_mask.val().get_bit(self.at_place.val());
            }
            self.written_between.d.next =
                self.writing.q.val() & (self.here.q.val() == self.at.q.val());
        }
        self.group_word.d.next = self.word.val();
        if self.wrote.q.val() & (self.last.q.val() == self.at.q.val()) {
            self.counter.d.next = self.last_count.q.val();
        } else {
            self.counter.d.next = self.counters.read_data.val();
        }
        self.here.d.next = self.at.q.val();
        self.writing.d.next = self.changing.q.val();
        if self.coded {
            comment!("Which of the words read were written, and not while they were read");
            self.groups.read_valid.next = self.valid.val() & !self.same_group.val();
            if self.every_cycle {
                self.counter_stands.next = self.counted.d.val()
                    & !(self.writing.q.val() & (self.here.q.val() == self.at.q.val()));
            } else {
                self.counter_stands.next = self.counted.d.val();
            }
            self.counters.read_valid.next = self.counter_stands.val()
                & !(self.wrote.q.val() & (self.last.q.val() == self.at.q.val()));
            self.memory_upset.next = self.counters.upset.val() | self.groups.upset.val();
        }
    }
}

/// What the claims say.
impl Piece<Claims> for CounterStore {
    #[hdl_gen]
    fn update(&mut self) {
        if !self.every_cycle {
            self.changes_apart.d.next = !(self.changing.q.val() & self.writing.q.val());
        }
        self.counters_marked.d.next =
            self.counted.q.val() == self.mask.val().get_bit(self.here_place.val());
        self.last_populated.next = self.populated.q.val().get_bit(self.last_group.val());
        self.written_groups_stand.d.next = !self.wrote.q.val() | self.last_populated.val();
    }
}
