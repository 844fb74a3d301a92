//! Which register a request asks for.

use super::{Csr, Pairs, Words};
use crate::hdl::prelude::*;

/// Which value in two registers is asked for.
impl Piece<Pairs> for Csr {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("Values of 64 bits, in two registers");
        self.pair.next = bit_cast(self.access.word.val() >> 1, &self.pair);
        self.asked.upper.next = self.access.word.val().get_bit(0);
        self.asked.is_t_pdt.next = self.pair.val() == self.layout.at_t_pdt.val();
        self.asked.is_ttl.next = self.pair.val() == self.layout.at_ttl.val();
        self.asked.is_t_backstop.next = self.pair.val() == self.layout.at_t_backstop.val();
        self.is_counter.next = ((self.pair.val() >= self.layout.first_counter.val())
            & (self.pair.val() <= self.layout.last_counter.val()))
            | ((self.pair.val() >= self.layout.first_late_counter.val())
                & (self.pair.val() <= self.layout.last_late_counter.val()));
        self.at_t_pdt_now.next = self.pair.val() == self.layout.at_t_pdt_now.val();
        self.at_t_pb.next = self.pair.val() == self.layout.at_t_pb.val();
        self.at_window.next = self.pair.val() == self.layout.at_window.val();
        self.at_budget.next = self.pair.val() == self.layout.at_budget.val();
        self.is_latched.next = self.at_t_pdt_now.val()
            | self.at_t_pb.val()
            | self.at_window.val()
            | self.at_budget.val()
            | self.is_counter.val();
    }
}

/// Which single register is asked for, and whether there is one.
impl Piece<Words> for Csr {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("Single registers");
        self.asked.is_control.next = self.access.word.val() == self.layout.at_control.val();
        self.asked.is_command.next = self.access.word.val() == self.layout.at_command.val();
        self.asked.is_max_samples.next = self.access.word.val() == self.layout.at_max_samples.val();
        self.asked.is_bound.next = self.access.word.val() == self.layout.at_bound.val();
        self.asked.is_hop_factor.next = self.access.word.val() == self.layout.at_hop_factor.val();
        self.asked.is_guard_burst.next = self.access.word.val() == self.layout.at_guard_burst.val();
        self.asked.is_errors.next = self.access.word.val() == self.layout.at_errors.val();
        self.asked.is_events.next = self.access.word.val() == self.layout.at_events.val();
        self.asked.is_interrupt_enable.next =
            self.access.word.val() == self.layout.at_interrupt_enable.val();
        self.asked.is_bin_index.next = self.access.word.val() == self.layout.at_bin_index.val();
        self.asked.is_hop_index.next = self.access.word.val() == self.layout.at_hop_index.val();
        self.at_status.next = self.access.word.val() == self.layout.at_status.val();
        self.at_hop_factor_now.next = self.access.word.val() == self.layout.at_hop_factor_now.val();
        self.at_guard_tokens.next = self.access.word.val() == self.layout.at_guard_tokens.val();
        self.at_bin_count.next = self.access.word.val() == self.layout.at_bin_count.val();
        self.at_hop_count.next = self.access.word.val() == self.layout.at_hop_count.val();
        self.is_identity.next = self.access.word.val() < self.end_of_identity.val();
        self.asked.staged.next = self.asked.is_t_pdt.val()
            | self.asked.is_ttl.val()
            | self.asked.is_t_backstop.val()
            | self.asked.is_control.val()
            | self.asked.is_max_samples.val()
            | self.asked.is_bound.val()
            | self.asked.is_hop_factor.val()
            | self.asked.is_guard_burst.val();
        if self.adjusts {
            self.asked.is_time.next = false;
            self.time_staged.next = 0.into();
            self.time_least.next = 0.into();
            self.time_most.next = 0.into();
            for i in 0..self._times {
                if self.access.word.val() == self.timing.at_time[i].val() {
                    self.asked.is_time.next = true;
                    self.time_staged.next = self.timing.staged[i].q.val();
                    self.time_least.next = self.timing.least[i].val();
                    self.time_most.next = self.timing.most[i].val();
                }
            }
            if self.asked.is_time.val() {
                self.asked.staged.next = true;
            }
        }
        self.asked.writable.next = self.asked.staged.val()
            | self.asked.is_command.val()
            | self.asked.is_errors.val()
            | self.asked.is_events.val()
            | self.asked.is_interrupt_enable.val()
            | self.asked.is_bin_index.val()
            | self.asked.is_hop_index.val();
        self.is_register.next = self.asked.writable.val()
            | self.is_latched.val()
            | self.is_identity.val()
            | self.at_status.val()
            | self.at_hop_factor_now.val()
            | self.at_guard_tokens.val()
            | self.at_bin_count.val()
            | self.at_hop_count.val();
    }
}
