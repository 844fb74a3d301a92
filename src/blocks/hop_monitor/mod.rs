//! The hop monitor: how far the packets of this port travel (SPEC 7.2).

pub mod golden;
#[cfg(test)]
mod tests;

use crate::blocks::port::pins::HOPS_WIDTH;
use crate::config::plan::{HOP_FACTOR_FRACTION, INITIAL_HOP_FACTOR, MAX_HOPS};
use crate::hdl::prelude::*;

/// Width of a counter of packets per hop count, in bits; it saturates.
pub const COUNTER_WIDTH: u32 = 32;

/// `floor(2^HOP_FACTOR_FRACTION / hops)`; 0 for 0 hops, which no packet on a link has.
const fn reciprocal(hops: u32) -> u64 {
    match hops {
        0 => 0,
        _ => (1 << HOP_FACTOR_FRACTION) / hops as u64,
    }
}

/// Counts the packets of every hop count and measures the hop factor, the mean of `1/h`
/// over the packets (`sum(p_i / h_i)`, SPEC 7.2). It takes a packet in every cycle.
///
/// The mean is over windows of `2^k` packets: a table holds `1/h`, the sum is shifted. A
/// packet that claims 0 hops is counted, but takes no part in the mean.
#[derive(LogicBlock)]
pub struct HopMonitor {
    about: About,
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub packet_valid: Signal<In, Bit>,
    pub packet_hops: Signal<In, Bits>,
    pub clear: Signal<In, Bit>,
    pub read_hops: Signal<In, Bits>,
    pub count: Signal<Out, Bits>,
    pub factor: Signal<Out, Bits>,
    pub measured: Signal<Out, Bit>,
    // The factor.
    reciprocals: Vec<Constant<Bits>>,
    reciprocal: Signal<Local, Bits>,
    in_mean: Reg<Bit>,
    term: Reg<Bits>,
    sum: Reg<Bits>,
    packets: Reg<Bits>,
    total: Signal<Local, Bits>,
    mean: Reg<Bits>,
    measured_now: Reg<Bit>,
    window_log2: Constant<Bits>,
    // The counters.
    counts: Memory,
    counts_to_read: Memory,
    populated: Reg<Bits>,
    counting: Reg<Bit>,
    hops: Reg<Bits>,
    counted: Reg<Bit>,
    last_hops: Reg<Bits>,
    last_count: Reg<Bits>,
    place: Signal<Local, Bits>,
    without_this: Signal<Local, Bits>,
    with_this: Signal<Local, Bits>,
    read_populated: Reg<Bit>,
    _hop_counts: usize,
    _factor_bits: usize,
    _sum_bits: usize,
}

impl HopMonitor {
    /// A monitor whose factor is the mean over `2^window_log2` packets.
    pub fn new(window_log2: u32) -> Self {
        let factor = HOP_FACTOR_FRACTION + 1;
        let sum = factor + window_log2;
        let hop_counts = MAX_HOPS + 1;
        let memory = |doc: &str| Memory::new(hop_counts as usize, COUNTER_WIDTH, doc);
        HopMonitor {
            about: About::new(
                "hop_monitor",
                "Counts the packets of every hop count, and measures the hop factor: the mean\n\
                 of 1/hops over a window of packets, a fraction with 16 bits below the point.\n\
                 A packet may come in every cycle. One that claims 0 hops is counted, but\n\
                 takes no part in the mean.\n\
                 \n\
                 The counters stand in two memories with the same content: one serves the\n\
                 packets, the other whoever reads the counters.",
            ),
            clk: Signal::clock("clock"),
            rst: Signal::bit("synchronous reset"),
            packet_valid: Signal::bit("one cycle per packet sent"),
            packet_hops: Signal::bits(HOPS_WIDTH, "hop count of that packet"),
            clear: Signal::bit("all counters become 0"),
            read_hops: Signal::bits(HOPS_WIDTH, "which counter to read"),
            count: Signal::bits(COUNTER_WIDTH, "the counter asked for the cycle before"),
            factor: Signal::bits(factor, "hop factor of the last full window"),
            measured: Signal::bit("factor is new"),
            reciprocals: (0..hop_counts)
                .map(|hops| Constant::bits(factor, reciprocal(hops).into(), format!("1/{hops}")))
                .collect(),
            reciprocal: Signal::bits(factor, "1/packet_hops, rounded down"),
            in_mean: Reg::bit(false, "term is that of a packet"),
            term: Reg::bits(factor, 0, "1/hops of the packet the cycle before"),
            sum: Reg::bits(sum, 0, "sum of the terms of this window"),
            packets: Reg::bits(window_log2, 0, "packets in this window"),
            total: Signal::bits(sum, "the sum with this term"),
            mean: Reg::bits(
                factor,
                INITIAL_HOP_FACTOR.into(),
                "factor of the last full window",
            ),
            measured_now: Reg::bit(false, "factor is new"),
            window_log2: Constant::bits(
                clog2(u128::from(window_log2) + 1),
                window_log2.into(),
                "log2 of the packets in a window",
            ),
            counts: memory("packets per hop count"),
            counts_to_read: memory("the same, for whoever reads"),
            populated: Reg::bits(hop_counts, 0, "which words of the memories mean anything"),
            counting: Reg::bit(false, "there was a packet the cycle before"),
            hops: Reg::bits(HOPS_WIDTH, 0, "its hop count"),
            counted: Reg::bit(false, "there was one the cycle before that"),
            last_hops: Reg::bits(HOPS_WIDTH, 0, "its hop count"),
            last_count: Reg::bits(COUNTER_WIDTH, 0, "what its counter became"),
            place: Signal::bits(hop_counts, "the bit of hops in populated"),
            without_this: Signal::bits(COUNTER_WIDTH, "the counter without this packet"),
            with_this: Signal::bits(COUNTER_WIDTH, "the counter with this packet"),
            read_populated: Reg::bit(false, "the word that was read means something"),
            _hop_counts: hop_counts as usize,
            _factor_bits: factor as usize,
            _sum_bits: sum as usize,
        }
    }
}

impl Logic for HopMonitor {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clk,
            in_mean,
            term,
            sum,
            packets,
            mean,
            measured_now,
            populated,
            counting,
            hops,
            counted,
            last_hops,
            last_count,
            read_populated
        );
        clock!(self, clk, counts, counts_to_read);

        self.reciprocal.next = 0.into();
        for i in 1..64 {
            if self.packet_hops.val() == i {
                self.reciprocal.next = self.reciprocals[i].val();
            }
        }
        self.in_mean.d.next = self.packet_valid.val() & (self.packet_hops.val() != 0);
        self.term.d.next = self.reciprocal.val();

        self.total.next = self.sum.q.val() + bit_cast(self.term.q.val(), self._sum_bits);
        self.measured_now.d.next = false;
        if self.in_mean.q.val() {
            self.packets.d.next = self.packets.q.val() + 1;
            if self.packets.q.val().all() {
                self.sum.d.next = 0.into();
                self.mean.d.next = bit_cast(
                    self.total.val() >> self.window_log2.val(),
                    self._factor_bits,
                );
                self.measured_now.d.next = true;
            } else {
                self.sum.d.next = self.total.val();
            }
        }
        self.factor.next = self.mean.q.val();
        self.measured.next = self.measured_now.q.val();

        comment!("A counter is read in the cycle of the packet and written in the next.");
        self.counting.d.next = self.packet_valid.val();
        self.hops.d.next = self.packet_hops.val();
        self.counts.read_address.next = self.packet_hops.val();

        comment!("What the packet just before wrote has not reached the word that was read.");
        self.place.next = bits(1, self._hop_counts) << self.hops.q.val();
        if !self.populated.q.val().get_bit(self.hops.q.val()) {
            self.without_this.next = 0.into();
        } else if self.counted.q.val() & (self.last_hops.q.val() == self.hops.q.val()) {
            self.without_this.next = self.last_count.q.val();
        } else {
            self.without_this.next = self.counts.read_data.val();
        }
        if self.without_this.val().all() {
            self.with_this.next = self.without_this.val();
        } else {
            self.with_this.next = self.without_this.val() + 1;
        }
        self.counted.d.next = self.counting.q.val();
        self.last_hops.d.next = self.hops.q.val();
        self.last_count.d.next = self.with_this.val();
        self.counts.write_enable.next = self.counting.q.val();
        self.counts.write_address.next = self.hops.q.val();
        self.counts.write_data.next = self.with_this.val();
        self.counts_to_read.write_enable.next = self.counting.q.val();
        self.counts_to_read.write_address.next = self.hops.q.val();
        self.counts_to_read.write_data.next = self.with_this.val();

        if self.clear.val() {
            self.populated.d.next = 0.into();
        } else if self.counting.q.val() {
            self.populated.d.next = self.populated.q.val() | self.place.val();
        }

        self.counts_to_read.read_address.next = self.read_hops.val();
        self.read_populated.d.next = self.populated.q.val().get_bit(self.read_hops.val());
        if self.read_populated.q.val() {
            self.count.next = self.counts_to_read.read_data.val();
        } else {
            self.count.next = 0.into();
        }
    }
}
