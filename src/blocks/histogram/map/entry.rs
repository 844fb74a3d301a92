//! One entry of the map histogram.

use crate::hdl::prelude::*;

/// Widths of the entries, in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryShape {
    /// A bin's index plus one.
    pub key: u32,
    /// The samples in a bin and all above it.
    pub tail: u32,
    /// Where the counter of a bin saturates, if it can.
    pub largest_count: Option<u64>,
}

block! {
    /// A populated bin, and the samples in it and above. The entries stand in a row, the highest
    /// bin first; each one sees the one above it.
    pub struct MapEntry(clk, rst);

    /// An unused entry of that shape.
    pub fn new(shape: EntryShape) {
        let EntryShape { key, tail, .. } = shape;
    }

    about(
        "map_entry",
        "One entry of the map histogram: a bin that holds samples, and its tail sum,\n\
         the samples in it and in all higher bins. The key of an entry is its bin plus\n\
         one, 0 if it is unused. The entries stand in a row, the highest bin first,\n\
         unused ones last; the pins above_ belong to the entry above.\n\
         \n\
         A sample adds one to the tail sums of its bin and of all lower ones. The first\n\
         sample of a bin takes the place of the highest entry below its bin; that entry\n\
         and all after it move down by one.",
    )

    {
        pub in record: Bit("a sample is recorded"),
        pub in clear: Bit("a sample clears the map first"),
        pub in insert: Bit("no entry is its bin's"),
        pub in gain: Bit("the counter of its bin has room"),
        pub in sample: Bits(key, "key of the sample's bin"),
        pub in next_sample: Bits(key, "the same of a sample in the next cycle"),
        pub in limit: Bits(tail, "budget"),
        pub in above_key: Bits(key, "key of the entry above"),
        pub in above_tail: Bits(tail, "its tail sum"),
        pub in above_stays: Bit("its bin is above the sample's"),
        pub in above_known: Bit("an entry above is the sample's"),
        pub in above_saturated: Bit("and is as large as it gets"),
        pub in above_exceeds: Bit("the tail sum above is more than the budget"),
        pub in above_answers: Bit("the entry above is the first with such a tail sum"),
        pub in above_found: Bits(key, "key of the one above that was the first, or 0"),
        pub out key: Bits(key, "the bin plus one, 0 if the entry is unused"),
        pub out tail: Bits(tail, "its tail sum"),
        pub out stays: Bit("the bin is above the sample's and stays"),
        pub out known: Bit("this entry or one above is the sample's"),
        pub out saturated: Bit("and is as large as it gets"),
        pub out exceeds: Bit("the tail sum is more than the budget"),
        pub out answers: Bit("and the one above is not"),
        pub out found: Bits(key, "key of the one down to this that was the first, or 0"),
        reg answered: Bit(false, "the entry was the first with such a tail sum"),
        reg key_held: Bits(key, 0, "the bin plus one, 0 if the entry is unused"),
        reg tail_held: Bits(tail, 0, "samples in the bin and in all above it"),
        reg holds: Bit(false, "the entry is the sample's"),
        reg precedes: Bit(false, "its bin is above the sample's"),
        reg full: Bit(false, "its counter is as large as it gets") if shape.largest_count.is_some(),
        choice saturates(shape.largest_count.is_some()), // a counter can reach its largest value
        constant largest_count: Bits(
            tail, shape.largest_count.unwrap_or(0).into(), "where the counter of a bin saturates"
        ),
        // For the proofs (docs/evidence/proofs.md). Above the first entry `above_stays` is 1, and
        // `above_key` is 0.
        invariant in_order(
            "An entry in use has a lower bin than the one above, which is in use, too."
        ),
        invariant samples_apart("Two samples are two cycles apart at least."),
        invariant compared(
            "But for the cycle after a sample, what was compared ahead is right."
        ),
        reg recorded: Bit(false, "a sample was recorded the cycle before"),
        invariant saturated_if_known(
            "What is as large as it gets is an entry of the sample's bin."
        ) if shape.largest_count.is_some(),
    }
}

impl Logic for MapEntry {
    #[hdl_gen]
    fn update(&mut self) {
        self.key.next = self.key_held.q.val();
        self.tail.next = self.tail_held.q.val();
        comment!(
            "Compared a cycle ahead. The entries change with samples alone, and never twice in"
        );
        comment!("two cycles.");
        self.holds.d.next = self.key_held.q.val() == self.next_sample.val();
        self.precedes.d.next = self.key_held.q.val() > self.next_sample.val();
        self.known.next = self.above_known.val() | self.holds.q.val();
        if self.saturates {
            comment!("The counter of a bin is what its tail sum has more than the one above.");
            self.full.d.next =
                (self.tail_held.q.val() - self.above_tail.val()) == self.largest_count.val();
            self.saturated.next =
                self.above_saturated.val() | (self.holds.q.val() & self.full.q.val());
        } else {
            self.saturated.next = false;
        }
        self.stays.next = self.precedes.q.val() & !self.clear.val();

        comment!("Tail sums grow from entry to entry: one of the used entries is the first that");
        comment!(
            "exceeds the budget, or none is. It tells its key the cycle after, in which it may"
        );
        comment!("have moved down.");
        self.exceeds.next = self.tail_held.q.val() > self.limit.val();
        self.answers.next = self.exceeds.val() & !self.above_exceeds.val();
        self.answered.d.next = self.answers.val();
        if self.record.val() & !self.stays.val() {
            if self.insert.val() {
                self.answered.d.next = self.above_answers.val() & !self.above_stays.val();
                if self.above_stays.val() {
                    self.key_held.d.next = self.sample.val();
                } else if self.clear.val() {
                    self.key_held.d.next = 0.into();
                } else {
                    self.key_held.d.next = self.above_key.val();
                }
                self.tail_held.d.next = self.above_tail.val() + 1;
            } else if self.gain.val() {
                self.tail_held.d.next = self.tail_held.q.val() + 1;
            }
        }

        if self.answered.q.val() {
            self.found.next = self.above_found.val() | self.key_held.q.val();
        } else {
            self.found.next = self.above_found.val();
        }

        self.in_order.d.next = (self.key_held.q.val() == 0)
            | (self.above_key.val() > self.key_held.q.val())
            | (self.above_stays.val() & (self.above_key.val() == 0));
        self.recorded.d.next = self.record.val();
        self.samples_apart.d.next = !(self.recorded.q.val() & self.record.val());
        self.compared.d.next = self.recorded.q.val()
            | ((self.holds.q.val() == (self.key_held.q.val() == self.sample.val()))
                & (self.precedes.q.val() == (self.key_held.q.val() > self.sample.val())));
        if self.saturates {
            self.saturated_if_known.d.next = !self.saturated.val() | self.known.val();
        }
    }
}
