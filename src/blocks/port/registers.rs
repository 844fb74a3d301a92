//! The registers of the port: who asks them, and what they show.

use super::{Events, HopCounts, Port, PredictionRegisters, Requests};
use crate::blocks::axi_lite::{AxiPins, RegisterPins};
use crate::hdl::prelude::*;

/// Who asks the registers.
impl Piece<Requests> for Port {
    #[hdl_gen]
    fn update(&mut self) {
        if self.registers {
            if self.own_axi {
                AxiPins::link(&mut self.s_axi, &mut self.axi_lite.axi);
                RegisterPins::join(&mut self.csr.access, &mut self.axi_lite.registers);
            } else {
                RegisterPins::link(&mut self.shared, &mut self.csr.access);
                self.error_flag.next = self.csr.error_flag.val();
            }
        }
    }
}

/// What the registers show and count.
impl Piece<Events> for Port {
    #[hdl_gen]
    fn update(&mut self) {
        if self.registers {
            self.irq.next = self.csr.irq.val();
            self.csr.active.next = self.active.val();
            self.csr.hit.next = self.hit_now.q.val();
            self.csr.miss.next = self.miss_now.q.val();
            self.csr.leaving.next = self.lpi_fsm.leaving.val();
            self.csr.queue_nonempty.next = self.queue_nonempty.val();
            if self.guarded {
                self.csr.guard_tokens.next = self.guard.tokens_now.val();
            }
            self.csr.power_state.next = self.lpi_fsm.power_state.val();
            self.csr.t_pdt.next = self.pdt_timer.t_pdt_in_force.val();
            if !self.per_direction {
                self.csr.backstop_expires.next =
                    self.first_expiry.val() & !self.pdt_timer.sent_last.val();
            }
            if self.guarded {
                self.csr.guard_refuses.next = self.first_expiry.val() & !self.guard.permits.val();
            }
            if self.controlled {
                self.csr.link_lost.next = !self.link_up.val() & !self.recovers.q.val();
            }
            if self.receives {
                self.csr.rx_lpi.next = self.rx_lpi.val();
                self.csr.lpi_active.next = self.lpi_active.val();
                self.csr.lpi_error.next = self.lpi_error.val();
                self.csr.early_start.next = self.early_start.val();
            }
            if self.agrees {
                self.csr.requested.next = self.link_sync.requested.val();
                self.csr.nacked.next = self.link_sync.nacked.val();
                self.csr.withdraws.next = self.link_sync.withdraws.val();
                self.csr.crosses.next = self.link_sync.crosses.val();
                self.csr.sync_error.next = self.link_sync.fails.val();
            } else {
                self.csr.sync_error.next = false;
            }
        }
    }
}

/// The hop monitor, which software reads and clears.
impl Piece<HopCounts> for Port {
    #[hdl_gen]
    fn update(&mut self) {
        if self.registers {
            self.hop_monitor.packet_valid.next = self.packet_valid.val();
            self.hop_monitor.packet_hops.next = self.packet_hops.val();
            self.hop_monitor.clear.next = self.csr.clear_counts.val();
            self.hop_monitor.read_hops.next = self.csr.hop_index.val();
            self.csr.hop_count.next = self.hop_monitor.count.val();
            self.csr.hop_factor.next = self.hop_monitor.factor.val();
            self.csr.hop_measured.next = self.hop_monitor.measured.val();
        }
    }
}

/// What software reads of the predictor, and the rate that the registers ask for.
impl Piece<PredictionRegisters> for Port {
    #[hdl_gen]
    fn update(&mut self) {
        if self.registers & self.predicts {
            self.csr.t_pb.next = self.perfbound.t_pb.val();
            self.csr.window.next = self.perfbound.window.val();
            self.csr.budget.next = self.perfbound.budget.val();
            if self.is_map {
                self.csr.map_overflow.next = self.map.overflow.val();
            }
            if self.reads_bins {
                self.csr.fetch.bin_taken.next =
                    !self.perfbound.searches.val() & !self.read_taken.val();
                self.csr.fetch.bin_count.next = self.bin_read.val();
            }
            self.budget_rate.start.next = self.csr.rate.rate_start.val();
            self.budget_rate.bound.next = self.csr.rate.rate_bound.val();
            self.budget_rate.hop_factor.next = self.csr.rate.rate_hop_factor.val();
            self.budget_rate.t_w_last.next = self.csr.rate.rate_t_w_last.val();
            self.csr.rate.rate_done.next = self.budget_rate.done.val();
            self.csr.rate.rate_computed.next = self.budget_rate.rate.val();
            self.perfbound.rate.next = self.csr.rate.rate.val();
        }
    }
}
