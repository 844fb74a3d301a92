//! Fetching a bin of the histogram for software.

use super::layout::Request;
use super::map;
use crate::config::plan::PortPlan;
use crate::hdl::prelude::*;

bundle! {
    /// The pins by which software's bin is fetched.
    pub struct BinPins;

    /// From the histogram of `plan`.
    pub fn new(plan: &PortPlan) {}

    {
        pub out bin_request: Bit("read a bin when it is free"),
        pub out bin: Bits(clog2(plan.histogram.bins.into()), "which bin"),
        pub in bin_taken: Bit("it is read in this cycle"),
        pub in bin_count: Bits(map::bin_count_width(plan), "samples in it, the cycle after"),
    }
}

block! {
    /// Fetches the bin that software names, when neither a sample nor the search reads.
    pub struct Bins;

    /// From the histogram of `plan`.
    pub fn new(plan: &PortPlan) {}

    {
        pub flat fetch: BinPins(plan),
        pub alias asked: Request(),
        pub reg bin_index: Bits(12, 0, "bin to fetch"),
        pub reg bin_busy: Bit(false, "the bin waits for a free cycle"),
        reg bin_read: Bit(false, "the bin was read the cycle before"),
        reg bin_arrives: Bit(false, "the bin was read two cycles before"),
        pub reg bin_value: Bits(map::bin_count_width(plan), 0, "the bin fetched"),
    }
}

impl Logic for Bins {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("A bin is fetched when neither a sample nor the search reads.");
        self.fetch.bin_request.next =
            self.bin_busy.q.val() & !self.bin_read.q.val() & !self.bin_arrives.q.val();
        self.fetch.bin.next = bit_cast(self.bin_index.q.val(), &self.fetch.bin);
        self.bin_read.d.next = self.fetch.bin_request.val() & self.fetch.bin_taken.val();
        self.bin_arrives.d.next = self.bin_read.q.val();
        if self.bin_arrives.q.val() {
            self.bin_value.d.next = self.fetch.bin_count.val();
            self.bin_busy.d.next = false;
        }
        if self.asked.writes.val() & self.asked.is_bin_index.val() {
            self.bin_index.d.next = bit_cast(self.asked.new_index.val(), 12);
            self.bin_busy.d.next = true;
        }
    }
}
