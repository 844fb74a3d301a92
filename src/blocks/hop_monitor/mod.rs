//! The hop monitor: how far the packets of this port travel (SPEC 7.2).

pub mod golden;
#[cfg(test)]
mod tests;

use crate::config::plan::{HOPS_WIDTH, HOP_FACTOR_FRACTION, INITIAL_HOP_FACTOR, MAX_HOPS};
use crate::hdl::prelude::*;

/// `floor(2^HOP_FACTOR_FRACTION / hops)`; 0 for 0 hops, which no packet on a link has.
const fn reciprocal(hops: u32) -> u64 {
    match hops {
        0 => 0,
        _ => (1 << HOP_FACTOR_FRACTION) / hops as u64,
    }
}

block! {
    /// Counts the packets of every hop count and measures the hop factor, the mean of `1/h`
    /// over the packets (`sum(p_i / h_i)`, SPEC 7.2). It takes a packet in every cycle.
    ///
    /// The mean is over windows of `2^k` packets: a table holds `1/h`, the sum is shifted. A
    /// packet that claims 0 hops is counted, but takes no part in the mean.
    pub struct HopMonitor(clk, rst);

    /// A monitor whose factor is the mean over `2^window_log2` packets, with counters of
    /// `counter_width` bits in memories with `code`.
    pub fn new(window_log2: u32, counter_width: u32, code: Option<Code>) {
        let factor = HOP_FACTOR_FRACTION + 1;
        let sum = factor + window_log2;
        let hop_counts = MAX_HOPS + 1;
        let reciprocals = (0..hop_counts).map(|hops| reciprocal(hops).into()).collect();
    }

    about(
        "hop_monitor",
        "Counts the packets of every hop count, and measures the hop factor: the mean\n\
         of 1/hops over a window of packets, a fraction with 16 bits below the point.\n\
         A packet may come in every cycle. One that claims 0 hops is counted, but\n\
         takes no part in the mean.\n\
         \n\
         The counters stand in two memories with the same content: one serves the\n\
         packets, the other whoever reads the counters.",
    )

    {
        pub in packet_valid: Bit("one cycle per packet sent"),
        pub in packet_hops: Bits(HOPS_WIDTH, "hop count of that packet"),
        pub in clear: Bit("all counters become 0"),
        pub in read_hops: Bits(HOPS_WIDTH, "which counter to read"),
        pub out count: Bits(counter_width, "the counter asked for the cycle before"),
        pub out factor: Bits(factor, "hop factor of the last full window"),
        pub out measured: Bit("factor is new"),
        pub out memory_upset: Bits(2, "wrong bits in the words read: 1, put right; 2, not") if code.is_some(),
        choice coded(code.is_some()), // the memories have a code
        // The factor.
        child hop_reciprocal: Table(
            About::new(
                "hop_reciprocal",
                "1/hops, rounded down, a fraction with 16 bits below the point; 0 for 0 hops.",
            ),
            reciprocals,
            factor,
        ),
        reg in_mean: Bit(false, "term is that of a packet"),
        reg term: Bits(factor, 0, "1/hops of the packet the cycle before"),
        reg sum: Bits(sum, 0, "sum of the terms of this window"),
        reg packets: Bits(window_log2, 0, "packets in this window"),
        local total: Bits(sum, "the sum with this term"),
        reg mean: Bits(factor, INITIAL_HOP_FACTOR.into(), "factor of the last full window"),
        reg measured_now: Bit(false, "factor is new"),
        constant window_log2: Number(window_log2, "log2 of the packets in a window"),
        // The counters.
        memory counts: Memory(
            hop_counts as usize, counter_width, code, "packets per hop count"
        ),
        memory counts_to_read: Memory(
            hop_counts as usize, counter_width, code, "the same, for whoever reads"
        ),
        reg populated: Bits(hop_counts, 0, "which words of the memories mean anything"),
        reg counting: Bit(false, "there was a packet the cycle before"),
        reg hops: Bits(HOPS_WIDTH, 0, "its hop count"),
        reg known: Bit(false, "its counter has counted before"),
        reg just_written: Bit(false, "that was written while it was read"),
        reg last_count: Bits(counter_width, 0, "what was written last"),
        local follows: Bit("this packet has the hop count of the one before"),
        local place: Bits(hop_counts, "the bit of hops in populated"),
        local without_this: Bits(counter_width, "the counter without this packet"),
        local with_this: Bits(counter_width + 1, "with it; the bit above says that it was full"),
        local written: Bit("it counts further"),
        constant full_at: Number(counter_width, "place of that bit"),
        reg read_populated: Bit(false, "the word that was read means something"),
        reg read_written: Bit(false, "it was written while it was read"),
    }
}

impl Logic for HopMonitor {
    #[hdl_gen]
    fn update(&mut self) {
        self.hop_reciprocal.index.next = self.packet_hops.val();
        self.in_mean.d.next = self.packet_valid.val() & (self.packet_hops.val() != 0);
        self.term.d.next = self.hop_reciprocal.value.val();

        self.total.next = self.sum.q.val() + bit_cast(self.term.q.val(), &self.total);
        self.measured_now.d.next = false;
        if self.in_mean.q.val() {
            self.packets.d.next = self.packets.q.val() + 1;
            if self.packets.q.val().all() {
                self.sum.d.next = 0.into();
                self.mean.d.next = bit_cast(self.total.val() >> self.window_log2.val(), &self.mean);
                self.measured_now.d.next = true;
            } else {
                self.sum.d.next = self.total.val();
            }
        }
        self.factor.next = self.mean.q.val();
        self.measured.next = self.measured_now.q.val();

        comment!(
            "A counter is read in the cycle of the packet and written in the next. A full one is"
        );
        comment!(
            "left as it is. What the packet before writes does not reach the word that is read."
        );
        self.counting.d.next = self.packet_valid.val();
        self.hops.d.next = self.packet_hops.val();
        self.counts.read_address.next = self.packet_hops.val();
        self.follows.next = self.counting.q.val() & (self.hops.q.val() == self.packet_hops.val());
        self.known.d.next = (self.populated.q.val().get_bit(self.packet_hops.val())
            | self.follows.val())
            & !self.clear.val();

        self.place.next = bits(1, &self.place) << self.hops.q.val();
        if !self.known.q.val() {
            self.without_this.next = 0.into();
        } else if self.just_written.q.val() {
            self.without_this.next = self.last_count.q.val();
        } else {
            self.without_this.next = self.counts.read_data.val();
        }
        self.with_this.next = bit_cast(self.without_this.val(), &self.with_this) + 1;
        self.written.next =
            self.counting.q.val() & !self.with_this.val().get_bit(self.full_at.val());
        self.just_written.d.next = self.follows.val() & self.written.val();
        self.last_count.d.next = bit_cast(self.with_this.val(), &self.last_count);
        self.counts.write_enable.next = self.written.val();
        self.counts.write_address.next = self.hops.q.val();
        self.counts.write_data.next = bit_cast(self.with_this.val(), &self.last_count);
        self.counts_to_read.write_enable.next = self.written.val();
        self.counts_to_read.write_address.next = self.hops.q.val();
        self.counts_to_read.write_data.next = bit_cast(self.with_this.val(), &self.last_count);

        if self.clear.val() {
            self.populated.d.next = 0.into();
        } else if self.counting.q.val() {
            self.populated.d.next = self.populated.q.val() | self.place.val();
        }

        self.counts_to_read.read_address.next = self.read_hops.val();
        self.read_populated.d.next = self.populated.q.val().get_bit(self.read_hops.val());
        self.read_written.d.next = self.written.val() & (self.hops.q.val() == self.read_hops.val());
        if self.read_written.q.val() {
            self.count.next = self.last_count.q.val();
        } else if self.read_populated.q.val() {
            self.count.next = self.counts_to_read.read_data.val();
        } else {
            self.count.next = 0.into();
        }

        if self.coded {
            comment!("Which of the words read were written, and not while they were read");
            self.counts.read_valid.next = self.known.q.val() & !self.just_written.q.val();
            self.counts_to_read.read_valid.next =
                self.read_populated.q.val() & !self.read_written.q.val();
            self.memory_upset.next = self.counts.upset.val() | self.counts_to_read.upset.val();
        }
    }
}
