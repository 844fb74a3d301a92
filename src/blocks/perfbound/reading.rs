//! What the search has read of the histogram, and whether it fits into the budget.

use super::state::Search;
use crate::blocks::histogram::Shape;
use crate::config::plan::PortPlan;
use crate::hdl::prelude::*;

block! {
    /// The samples of one group or one bin, taken from what is left of the budget.
    pub struct Reading;

    /// What the search of `plan` reads.
    pub fn new(plan: &PortPlan) {
        let shape = Shape::of(plan);
        let left = plan.budget.width + shape.fraction;
        let rest = left.max(shape.weighed_sum()).max(shape.weighed_count()) + 1;
        let unit = match shape.fraction {
            0 => String::new(),
            bits => format!(", in 1/{}", 1 << bits),
        };
    }

    {
        pub in state: Search("where the search stands"),
        pub in group_sum: Bits(shape.weighed_sum(), "samples in the group read two cycles before"),
        pub in bin_count: Bits(shape.weighed_count(), "samples in the bin read two cycles before"),
        pub in arrived: Bits(shape.index(), "that bin"),
        pub in place_bits: Bits(32, "bits of a bin's place in its group"),
        pub reg bin: Bits(shape.index(), 0, "the bin that was read, or one of the group"),
        pub local bin_group: Bits(shape.group, "its group"),
        pub local bin_place: Bits(shape.place, "its place in it"),
        reg samples: Bits(rest - 1, 0, "samples in what was read"),
        pub reg left: Bits(left, 0, format!("budget left after the bins passed{unit}")),
        pub local rest: Bits(rest, "what they leave of the budget"),
        pub local exceeds: Bit("they exceed it"),
        constant borrow: Number(rest - 1, "the bit that says so"),
    }
}

impl Logic for Reading {
    #[hdl_gen]
    fn update(&mut self) {
        self.bin.d.next = self.arrived.val();
        if self.state.val() == Search::Groups {
            self.samples.d.next = bit_cast(self.group_sum.val(), &self.samples);
        } else {
            self.samples.d.next = bit_cast(self.bin_count.val(), &self.samples);
        }
        self.bin_group.next = bit_cast(self.bin.q.val() >> self.place_bits.val(), &self.bin_group);
        self.bin_place.next = bit_cast(self.bin.q.val(), &self.bin_place);
        self.rest.next =
            bit_cast(self.left.q.val(), &self.rest) - bit_cast(self.samples.q.val(), &self.rest);
        self.exceeds.next = self.rest.val().get_bit(self.borrow.val());
    }
}
