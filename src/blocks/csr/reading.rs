//! What a read finds.

use super::{Csr, Found, FoundTimes, Kept, Seen, UpperWord, Written, WrittenTimes};
use crate::hdl::prelude::*;

/// What software has written of values in two registers.
impl Piece<WrittenTimes> for Csr {
    #[hdl_gen]
    fn update(&mut self) {
        comment!(
            "What software has written. Each value is 0 unless it is asked for, so that all can be"
        );
        comment!(
            "joined; a write of some bytes keeps the others. It is looked up the cycle before the"
        );
        comment!("request: the address stands already, and nothing else writes.");
        self.lower_t_pdt.next = self.asked.is_t_pdt.val() & !self.asked.upper.val();
        self.lower_ttl.next = self.asked.is_ttl.val() & !self.asked.upper.val();
        self.lower_t_backstop.next = self.asked.is_t_backstop.val() & !self.asked.upper.val();
        self.lower_t_pdt_now.next = self.at_t_pdt_now.val() & !self.asked.upper.val();
        self.lower_t_pb.next = self.at_t_pb.val() & !self.asked.upper.val();
        self.lower_window.next = self.at_window.val() & !self.asked.upper.val();
        self.lower_budget.next = self.at_budget.val() & !self.asked.upper.val();
        self.lower_counter.next = self.is_counter.val() & !self.asked.upper.val();
        self.of_t_pdt.next = 0.into();
        self.of_ttl.next = 0.into();
        self.of_t_backstop.next = 0.into();
        if self.lower_t_pdt.val() {
            self.of_t_pdt.next = bit_cast(self.parameters.staged_t_pdt.q.val(), 32);
        }
        if self.ages {
            if self.lower_ttl.val() {
                self.of_ttl.next = bit_cast(self.parameters.staged_ttl.q.val(), 32);
            }
        }
        if self.shared {
            if self.lower_t_backstop.val() {
                self.of_t_backstop.next = bit_cast(self.parameters.staged_t_backstop.q.val(), 32);
            }
        }
        self.of_upper.next = 0.into();
        if self.has_upper {
            if self.asked.is_t_pdt.val() & self.asked.upper.val() {
                self.of_upper.next = bit_cast(
                    self.parameters.staged_t_pdt.q.val() >> self.upper_bits.val(),
                    32,
                );
            }
            if self.ages {
                if self.asked.is_ttl.val() & self.asked.upper.val() {
                    self.of_upper.next = bit_cast(
                        self.parameters.staged_ttl.q.val() >> self.upper_bits.val(),
                        32,
                    );
                }
            }
            if self.shared {
                if self.asked.is_t_backstop.val() & self.asked.upper.val() {
                    self.of_upper.next = bit_cast(
                        self.parameters.staged_t_backstop.q.val() >> self.upper_bits.val(),
                        32,
                    );
                }
            }
        }
    }
}

/// What software has written of single registers.
impl Piece<Written> for Csr {
    #[hdl_gen]
    fn update(&mut self) {
        self.of_control.next = 0.into();
        self.of_backstop.next = 0.into();
        self.of_guard.next = 0.into();
        if self.asked.is_control.val() {
            self.of_control.next = bit_cast(self.parameters.staged_enable.q.val(), 32)
                | (bit_cast(self.parameters.staged_policy.q.val(), 32)
                    << self.layout.policy_low.val())
                | (bit_cast(self.parameters.staged_sleep.q.val(), 32)
                    << self.layout.sleep_low.val())
                | (bit_cast(self.parameters.staged_measure.q.val(), 32)
                    << self.layout.measure_low.val());
            if self.shared {
                self.of_backstop.next = bit_cast(self.parameters.staged_backstop.q.val(), 32)
                    << self.layout.backstop_low.val();
            }
            if self.guarded {
                self.of_guard.next = bit_cast(self.parameters.staged_guard_off.q.val(), 32)
                    << self.layout.guard_off_low.val();
            }
        }
        self.of_max_samples.next = 0.into();
        if self.ages {
            if self.asked.is_max_samples.val() {
                self.of_max_samples.next = self.parameters.staged_max_samples.q.val();
            }
        }
        self.of_bound.next = 0.into();
        self.of_hop_factor.next = 0.into();
        if self.predicts {
            if self.asked.is_bound.val() {
                self.of_bound.next = self.parameters.staged_bound.q.val();
            }
            if self.asked.is_hop_factor.val() {
                self.of_hop_factor.next = self.parameters.staged_hop_factor.q.val();
            }
        }
        self.of_guard_burst.next = 0.into();
        if self.guarded {
            if self.asked.is_guard_burst.val() {
                self.of_guard_burst.next = bit_cast(self.parameters.staged_guard_burst.q.val(), 32);
            }
        }
        self.of_interrupt_enable.next = 0.into();
        if self.asked.is_interrupt_enable.val() {
            self.of_interrupt_enable.next = bit_cast(self.interrupts.enabled.q.val(), 32);
        }
        self.of_bin_index.next = 0.into();
        if self.readable {
            if self.asked.is_bin_index.val() {
                self.of_bin_index.next = bit_cast(self.bins.bin_index.q.val(), 32);
            }
        }
        self.of_hop_index.next = 0.into();
        if self.asked.is_hop_index.val() {
            self.of_hop_index.next = bit_cast(self.hop_index_now.q.val(), 32);
        }
    }
}

/// What software has written at the address.
impl Piece<Kept> for Csr {
    #[hdl_gen]
    fn update(&mut self) {
        self.of_parameters.next = self.of_t_pdt.val()
            | self.of_ttl.val()
            | self.of_t_backstop.val()
            | self.of_upper.val()
            | self.of_control.val()
            | self.of_backstop.val()
            | self.of_guard.val()
            | self.of_max_samples.val()
            | self.of_bound.val()
            | self.of_hop_factor.val()
            | self.of_guard_burst.val()
            | self.of_interrupt_enable.val()
            | self.of_bin_index.val()
            | self.of_hop_index.val();
        if self.adjusts {
            self.of_address.next = self.of_parameters.val() | bit_cast(self.time_staged.val(), 32);
        } else {
            self.of_address.next = self.of_parameters.val();
        }
        self.kept.d.next = self.of_address.val();
    }
}

/// What else a read finds of values in two registers.
impl Piece<FoundTimes> for Csr {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("What else a read finds");
        self.of_t_pdt_now.next = 0.into();
        self.of_t_pb.next = 0.into();
        self.of_window.next = 0.into();
        self.of_budget.next = 0.into();
        self.of_counter.next = 0.into();
        if self.lower_t_pdt_now.val() {
            self.of_t_pdt_now.next = bit_cast(self.t_pdt.val(), 32);
        }
        if self.predicts {
            if self.lower_t_pb.val() {
                self.of_t_pb.next = bit_cast(self.t_pb.val(), 32);
            }
            if self.lower_window.val() {
                self.of_window.next = bit_cast(self.window.val(), 32);
            }
            if self.lower_budget.val() {
                self.of_budget.next = bit_cast(self.budget.val(), 32);
            }
        }
        if self.lower_counter.val() {
            self.of_counter.next = bit_cast(self.event_counters.count.val(), 32);
        }
        self.of_upper_word.next = 0.into();
        if self.is_latched.val() & self.asked.upper.val() {
            self.of_upper_word.next = self.upper_word.q.val();
        }
    }
}

/// What else a read finds of single registers.
impl Piece<Found> for Csr {
    #[hdl_gen]
    fn update(&mut self) {
        self.of_command.next = 0.into();
        if self.asked.is_command.val() {
            self.of_command.next = bit_cast(self.parameters.pending.q.val(), 32);
        }
        self.of_status.next = 0.into();
        self.of_lpi.next = 0.into();
        if self.at_status.val() {
            self.of_status.next = bit_cast(self.power_state.val(), 32)
                | (bit_cast(self.active.val(), 32) << self.layout.active_low.val());
            if self.receives {
                self.of_lpi.next = (bit_cast(self.rx_lpi.val(), 32)
                    << self.layout.rx_lpi_low.val())
                    | (bit_cast(self.lpi_active.val(), 32) << self.layout.tx_lpi_low.val());
            }
        }
        self.of_errors.next = 0.into();
        if self.asked.is_errors.val() {
            if self.coded {
                self.of_errors.next = bit_cast(self.all_flags.val(), 32);
            } else {
                self.of_errors.next = bit_cast(self.flags.val(), 32);
            }
        }
        self.of_events.next = 0.into();
        if self.asked.is_events.val() {
            self.of_events.next = bit_cast(self.all_events.val(), 32);
        }
        self.of_hop_factor_now.next = 0.into();
        if self.at_hop_factor_now.val() {
            self.of_hop_factor_now.next = self.measured_wide.val();
        }
        self.of_guard_tokens.next = 0.into();
        if self.guarded {
            if self.at_guard_tokens.val() {
                self.of_guard_tokens.next = bit_cast(self.guard_tokens.val(), 32);
            }
        }
        self.of_bin_busy.next = 0.into();
        self.of_bin_count.next = 0.into();
        if self.readable {
            if self.asked.is_bin_index.val() {
                self.of_bin_busy.next =
                    bit_cast(self.bins.bin_busy.q.val(), 32) << self.layout.busy_low.val();
            }
            if self.at_bin_count.val() {
                self.of_bin_count.next = bit_cast(self.bins.bin_value.q.val(), 32);
            }
        }
        self.of_hop_count.next = 0.into();
        if self.at_hop_count.val() {
            self.of_hop_count.next = self.hop_count.val();
        }
        self.of_identity.next = 0.into();
        for i in 0..9 {
            if self.access.word.val() == i {
                self.of_identity.next = self.layout.identity[i].val();
            }
        }
    }
}

/// What a read finds at the address.
impl Piece<Seen> for Csr {
    #[hdl_gen]
    fn update(&mut self) {
        self.seen.next = self.kept.q.val()
            | self.of_t_pdt_now.val()
            | self.of_t_pb.val()
            | self.of_window.val()
            | self.of_budget.val()
            | self.of_counter.val()
            | self.of_upper_word.val()
            | self.of_command.val()
            | self.of_status.val()
            | self.of_lpi.val()
            | self.of_errors.val()
            | self.of_events.val()
            | self.of_hop_factor_now.val()
            | self.of_guard_tokens.val()
            | self.of_bin_busy.val()
            | self.of_bin_count.val()
            | self.of_hop_count.val()
            | self.of_identity.val();
    }
}

/// The upper word that the next read may ask for.
impl Piece<UpperWord> for Csr {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("Reading the lower word latches the upper one.");
        if self.access.request.val()
            & !self.access.write.val()
            & self.is_latched.val()
            & !self.asked.upper.val()
        {
            self.upper_word.d.next = 0.into();
            if self.is_counter.val() {
                self.upper_word.d.next =
                    bit_cast(self.event_counters.count.val() >> self.upper_bits.val(), 32);
            }
            if self.has_upper {
                if self.at_t_pdt_now.val() {
                    self.upper_word.d.next =
                        bit_cast(self.t_pdt.val() >> self.upper_bits.val(), 32);
                }
                if self.predicts {
                    if self.at_t_pb.val() {
                        self.upper_word.d.next =
                            bit_cast(self.t_pb.val() >> self.upper_bits.val(), 32);
                    }
                    if self.at_window.val() {
                        self.upper_word.d.next =
                            bit_cast(self.window.val() >> self.upper_bits.val(), 32);
                    }
                }
            }
            if self.wide_budget {
                if self.at_budget.val() {
                    self.upper_word.d.next =
                        bit_cast(self.budget.val() >> self.upper_bits.val(), 32);
                }
            }
        }
    }
}
