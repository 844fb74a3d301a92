//! What a write does.

use super::{Csr, Legality, Merging, Verdict};
use crate::hdl::prelude::*;

/// What a write makes of a register.
impl Piece<Merging> for Csr {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("What a write makes of it, byte by byte");
        for byte in 0..4 {
            self.lanes[byte].next = 0.into();
        }
        if self.access.write_strobe.val().get_bit(0) {
            self.lanes[0].next = 0x0000_00ff.into();
        }
        if self.access.write_strobe.val().get_bit(1) {
            self.lanes[1].next = 0x0000_ff00.into();
        }
        if self.access.write_strobe.val().get_bit(2) {
            self.lanes[2].next = 0x00ff_0000.into();
        }
        if self.access.write_strobe.val().get_bit(3) {
            self.lanes[3].next = 0xff00_0000u32.into();
        }
        self.mask.next =
            self.lanes[0].val() | self.lanes[1].val() | self.lanes[2].val() | self.lanes[3].val();
        self.asked.set_bits.next = self.access.write_data.val() & self.mask.val();
        self.asked.merged.next = (self.kept.q.val() & !self.mask.val()) | self.asked.set_bits.val();
    }
}

/// Whether a register takes what is written.
impl Piece<Legality> for Csr {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("Whether it may");
        self.asked.new_policy.next =
            bit_cast(self.asked.merged.val() >> self.layout.policy_low.val(), 2);
        self.asked.new_sleep.next =
            bit_cast(self.asked.merged.val() >> self.layout.sleep_low.val(), 2);
        self.asked.new_index.next = bit_cast(self.asked.merged.val(), 13) & 0xfff;
        self.asked.illegal.next = false;
        if self.asked.is_control.val() {
            self.asked.illegal.next = !self.policies.val().get_bit(self.asked.new_policy.val())
                | (self.asked.new_sleep.val() == self.no_sleep.val());
        }
        if self.ages & self.asked.is_max_samples.val() {
            self.asked.illegal.next = (self.asked.merged.val() == 0)
                | (self.asked.merged.val() >> self.samples_bits.val()).any()
                | (bit_cast(self.asked.merged.val(), &self.most_samples) > self.most_samples.val());
        }
        if self.predicts & self.asked.is_hop_factor.val() {
            comment!("No more than 1, in units of 2^-31");
            self.asked.illegal.next = self.asked.merged.val().get_bit(31)
                & (self.asked.merged.val() & self.below_one.val()).any();
        }
        if self.guarded & self.asked.is_guard_burst.val() {
            self.asked.illegal.next =
                (self.asked.merged.val() == 0) | (self.asked.merged.val() > self.most_tokens.val());
        }
        if self.adjusts {
            if self.asked.is_time.val() {
                self.asked.illegal.next = (self.asked.merged.val() < self.time_least.val())
                    | (self.asked.merged.val() > self.time_most.val());
            }
        }
        if self.readable & self.asked.is_bin_index.val() {
            self.asked.illegal.next =
                self.bins.bin_busy.q.val() | (self.asked.new_index.val() >= self.end_of_bins.val());
        }
    }
}

/// What becomes of a request.
impl Piece<Verdict> for Csr {
    #[hdl_gen]
    fn update(&mut self) {
        if !self.is_register.val() {
            self.asked.verdict.next = self.no_register.val();
        } else if self.access.write.val()
            & (!self.asked.writable.val()
                | self.asked.illegal.val()
                | (self.asked.staged.val() & self.parameters.pending.q.val()))
        {
            self.asked.verdict.next = self.refused.val();
        } else {
            self.asked.verdict.next = self.okay.val();
        }
        self.asked.is_write.next = self.access.request.val() & self.access.write.val();
        self.asked.accepted.next = self.asked.is_write.val()
            & self.access.write_strobe.val().any()
            & !(self.asked.staged.val() & self.parameters.pending.q.val());
        self.asked.writes.next = self.asked.accepted.val() & !self.asked.illegal.val();
    }
}
