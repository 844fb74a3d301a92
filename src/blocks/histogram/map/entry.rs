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

/// A populated bin, and the samples in it and above. The entries stand in a row, the highest
/// bin first; each one sees the one above it.
#[derive(LogicBlock)]
pub struct MapEntry {
    about: About,
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub record: Signal<In, Bit>,
    pub clear: Signal<In, Bit>,
    pub insert: Signal<In, Bit>,
    pub gain: Signal<In, Bit>,
    pub sample: Signal<In, Bits>,
    pub limit: Signal<In, Bits>,
    pub above_key: Signal<In, Bits>,
    pub above_tail: Signal<In, Bits>,
    pub above_stays: Signal<In, Bit>,
    pub above_known: Signal<In, Bit>,
    pub above_saturated: Signal<In, Bit>,
    pub above_exceeds: Signal<In, Bit>,
    pub above_found: Signal<In, Bits>,
    pub key: Signal<Out, Bits>,
    pub tail: Signal<Out, Bits>,
    pub stays: Signal<Out, Bit>,
    pub known: Signal<Out, Bit>,
    pub saturated: Signal<Out, Bit>,
    pub exceeds: Signal<Out, Bit>,
    pub found: Signal<Out, Bits>,
    key_held: Reg<Bits>,
    tail_held: Reg<Bits>,
    holds: Signal<Local, Bit>,
    saturates: Constant<Bit>,
    largest_count: Constant<Bits>,
}

impl MapEntry {
    /// An unused entry of that shape.
    pub fn new(shape: EntryShape) -> Self {
        let EntryShape { key, tail, .. } = shape;
        MapEntry {
            about: About::new(
                "map_entry",
                "One entry of the map histogram: a bin that holds samples, and its tail sum,\n\
                 the samples in it and in all higher bins. The key of an entry is its bin plus\n\
                 one, 0 if it is unused. The entries stand in a row, the highest bin first,\n\
                 unused ones last; the pins above_ belong to the entry above.\n\
                 \n\
                 A sample adds one to the tail sums of its bin and of all lower ones. The first\n\
                 sample of a bin takes the place of the highest entry below its bin; that entry\n\
                 and all after it move down by one.",
            ),
            clk: Signal::clock("clock"),
            rst: Signal::bit("synchronous reset"),
            record: Signal::bit("a sample is recorded"),
            clear: Signal::bit("it clears the map first"),
            insert: Signal::bit("no entry is its bin's"),
            gain: Signal::bit("the counter of its bin has room"),
            sample: Signal::bits(key, "key of the sample's bin"),
            limit: Signal::bits(tail, "budget"),
            above_key: Signal::bits(key, "key of the entry above"),
            above_tail: Signal::bits(tail, "its tail sum"),
            above_stays: Signal::bit("its bin is above the sample's"),
            above_known: Signal::bit("an entry above is the sample's"),
            above_saturated: Signal::bit("and is as large as it gets"),
            above_exceeds: Signal::bit("the tail sum above is more than the budget"),
            above_found: Signal::bits(key, "key of the highest such entry above, or 0"),
            key: Signal::bits(key, "the bin plus one, 0 if the entry is unused"),
            tail: Signal::bits(tail, "its tail sum"),
            stays: Signal::bit("the bin is above the sample's and stays"),
            known: Signal::bit("this entry or one above is the sample's"),
            saturated: Signal::bit("and is as large as it gets"),
            exceeds: Signal::bit("the tail sum is more than the budget"),
            found: Signal::bits(key, "key of the highest such entry down to this one, or 0"),
            key_held: Reg::bits(key, 0, "the bin plus one, 0 if the entry is unused"),
            tail_held: Reg::bits(tail, 0, "samples in the bin and in all above it"),
            holds: Signal::bit("the entry is the sample's"),
            saturates: Constant::bit(
                shape.largest_count.is_some(),
                "a counter can reach its largest value",
            ),
            largest_count: Constant::bits(
                tail,
                shape.largest_count.unwrap_or(0).into(),
                "where the counter of a bin saturates",
            ),
        }
    }
}

impl Logic for MapEntry {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, key_held, tail_held);

        self.key.next = self.key_held.q.val();
        self.tail.next = self.tail_held.q.val();
        self.holds.next = self.key_held.q.val() == self.sample.val();
        self.known.next = self.above_known.val() | self.holds.val();
        if self.saturates.val() {
            comment!("The counter of a bin is what its tail sum has more than the one above.");
            self.saturated.next = self.above_saturated.val()
                | (self.holds.val()
                    & ((self.tail_held.q.val() - self.above_tail.val())
                        == self.largest_count.val()));
        } else {
            self.saturated.next = false;
        }
        self.stays.next = (self.key_held.q.val() > self.sample.val()) & !self.clear.val();

        if self.record.val() & !self.stays.val() {
            if self.insert.val() {
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

        comment!("Tail sums grow from entry to entry: one of the used entries is the first that");
        comment!("exceeds the budget, or none is. What unused entries contribute is 0.");
        self.exceeds.next = self.tail_held.q.val() > self.limit.val();
        if self.exceeds.val() & !self.above_exceeds.val() {
            self.found.next = self.above_found.val() | self.key_held.q.val();
        } else {
            self.found.next = self.above_found.val();
        }
    }
}
