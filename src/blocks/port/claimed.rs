//! The claims of the port itself, and what its other claims read.

use super::{
    ForClaims, ForControlClaims, ForGuardClaims, ForRestClaims, ForWaitClaims, OwnClaims, Port,
};
use crate::hdl::prelude::*;

/// The claims of the port itself.
impl Piece<OwnClaims> for Port {
    #[hdl_gen]
    fn update(&mut self) {
        if self.corrects {
            self.history_apart.d.next = !(self.miss_history.samples.q.val()
                & (self.miss_history.samples.q.val() >> 1))
                .any()
                & !(self.miss_history.missed.q.val() & !self.miss_history.samples.q.val()).any()
                & !(self.miss_history.samples.q.val().get_bit(0)
                    & self.idle_meter.in_period.q.val());
        }
        if self.adjusts {
            self.times_within_limits.d.next = true;
            for i in 0..self._times {
                if (self.csr.timing.staged[i].q.val() < self.least_time[i].val())
                    | (self.csr.timing.staged[i].q.val() > self.most_time[i].val())
                    | (self.csr.timing.last[i].q.val() < self.least_time[i].val() - 1)
                    | (self.csr.timing.last[i].q.val() >= self.most_time[i].val())
                {
                    self.times_within_limits.d.next = false;
                }
            }
        }
        if self.registers & self.guarded {
            self.bucket_within_limits.d.next = !(self.csr.parameters.staged_guard_burst.q.val()
                == 0)
                & (self.csr.parameters.staged_guard_burst.q.val() <= self.most_tokens.val())
                & !(self.csr.parameters.guard_burst.q.val() == 0)
                & (self.csr.parameters.guard_burst.q.val() <= self.most_tokens.val());
        }
        self.sends_awake_only.d.next = !self.tx_enable.val() | (self.power_state.val() == 0);
    }
}

/// What the claims know of the control pins.
impl Piece<ForClaims> for Port {
    #[hdl_gen]
    fn update(&mut self) {
        if self.controlled {
            if self.per_direction & !self.sleeps & !self.registers {
                comment!("Whatever the pins say: it never goes down.");
                self.pins_permit.next = false;
            } else {
                comment!("From the pins once more: a wrong use of them is to be found.");
                self.pins_permit.next =
                    self.enable.val() & !self.force_wake.val() & self.link_up.val();
            }
            if self.agrees {
                self.waits_with_link.next = self.wants_awake.val() & self.link_up.val();
            } else if self.per_direction {
                if self.guarded {
                    self.all_permit.next = self.guard.permits.val() & self.pins_permit.val();
                }
            } else {
                self.all_permit.next = self.sleep_permit.val() & self.pins_permit.val();
            }
            if self.guarded {
                self.state_for_guard.next = self.power_state.val();
                if self.recovers.q.val() {
                    self.state_for_guard.next = 0.into();
                }
            }
        }
    }
}

/// What the claims about waiting packets read.
impl Piece<ForWaitClaims> for Port {
    #[hdl_gen]
    fn update(&mut self) {
        if self.agrees {
            if self.controlled {
                self.wait_claims.queue_nonempty.next = self.waits_with_link.val();
            } else {
                self.wait_claims.queue_nonempty.next = self.queue_nonempty.val();
            }
            self.wait_claims.tx_enable.next = self.tx_enable.val();
            self.wait_claims.awake.next = self.lpi_fsm.tx_enable.val();
            self.wait_claims.asleep.next = self.lpi_fsm.asleep.val();
            self.wait_claims.may_go_down.next = self.lpi_fsm.may_go_down.val();
            self.wait_claims.link.next = self.lpi_fsm.state.q.val();
            self.wait_claims.transition_cycles.next = self.lpi_fsm.age.q.val();
            self.wait_claims.exchange.next = self.link_sync.state.q.val();
            self.wait_claims.exchange_cycles.next = self.link_sync.count.q.val();
            self.wait_claims.rise.next = self.link_sync.rise.q.val();
        }
    }
}

/// What the claims about the control pins read.
impl Piece<ForControlClaims> for Port {
    #[hdl_gen]
    fn update(&mut self) {
        if self.controlled {
            self.control_claims.link_up.next = self.link_up.val();
            self.control_claims.may_sleep.next = self.pins_permit.val();
            self.control_claims.tx_enable.next = self.tx_enable.val();
            self.control_claims.link.next = self.lpi_fsm.state.q.val();
            if self.guarded {
                self.control_claims.recovers.next = self.recovers.q.val();
            }
            if self.agrees {
                self.control_claims.exchange.next = self.link_sync.state.q.val();
                self.control_claims.message_out.next = self.message_out.val();
            }
        }
    }
}

/// What the bound on the time to sleep reads.
impl Piece<ForRestClaims> for Port {
    #[hdl_gen]
    fn update(&mut self) {
        if self.bounded {
            self.rest_claims.active.next = self.active.val();
            self.rest_claims.awake.next = self.lpi_fsm.tx_enable.val();
            self.rest_claims.ticks.next = self.idle_meter.count.q.val();
            self.rest_claims.tick_clock.next = self.idle_meter.prescaler.q.val();
            self.rest_claims.in_force.next = self.pdt_timer.in_force.q.val();
            self.rest_claims.passed.next = self.pdt_timer.passed.q.val();
            if !self.per_direction {
                self.rest_claims.backstop_passed.next = self.pdt_timer.backstop_passed.q.val();
                self.rest_claims.last_sender.next = self.pdt_timer.last_sender.q.val();
            }
            if self.predicts {
                self.rest_claims.prediction.next = self.perfbound.threshold_now.q.val();
            }
            if self.corrects {
                self.rest_claims.correction.next = self.corrector.t_pdt_now.q.val();
            }
            if self.registers {
                self.rest_claims.sleeps.next = self.csr.in_force.sleeps.val();
                if !self.per_direction {
                    self.rest_claims.backstops.next = self.csr.backstop.backstops.val();
                    self.rest_claims.t_backstop.next = self.csr.backstop.t_backstop.val();
                }
            }
            if self.agrees {
                self.rest_claims.message_in.next = self.message_in.val();
                self.rest_claims.exchange.next = self.link_sync.state.q.val();
                self.rest_claims.exchange_cycles.next = self.link_sync.count.q.val();
                self.rest_claims.unheard.next = self.link_sync.unheard.q.val();
                if self.controlled {
                    self.rest_claims.sleep_permit.next = self.pins_permit.val();
                }
            } else if self.per_direction {
                if self.guarded {
                    if self.controlled {
                        self.rest_claims.sleep_permit.next = self.all_permit.val();
                    } else {
                        self.rest_claims.sleep_permit.next = self.guard.permits.val();
                    }
                } else if self.controlled {
                    self.rest_claims.sleep_permit.next = self.pins_permit.val();
                }
            } else if self.controlled {
                self.rest_claims.sleep_permit.next = self.all_permit.val();
            } else {
                self.rest_claims.sleep_permit.next = self.sleep_permit.val();
            }
        }
    }
}

/// What the claims about the guard read.
impl Piece<ForGuardClaims> for Port {
    #[hdl_gen]
    fn update(&mut self) {
        if self.bucket {
            self.guard_claims.queue_nonempty.next = self.queue_nonempty.val();
            if self.controlled {
                self.guard_claims.power_state.next = self.state_for_guard.val();
                self.guard_claims.awake.next = self.awake_for_guard.val();
            } else {
                self.guard_claims.power_state.next = self.power_state.val();
                self.guard_claims.awake.next = self.lpi_fsm.tx_enable.val();
            }
            if self.agrees {
                self.guard_claims.exchange.next = self.link_sync.state.q.val();
            }
            self.guard_claims.tokens.next = self.guard.tokens.q.val();
            self.guard_claims.part.next = self.guard.part.q.val();
            if self.registers {
                self.guard_claims.off.next = self.csr.guard.off.val();
                self.guard_claims.burst.next = self.csr.guard.burst.val();
            }
            self.guard_claims.charged.next = self.guard.charged.q.val();
            self.guard_claims.guard_clock.next = self.guard.prescaler.q.val();
            if self.bounded {
                if self.agrees {
                    self.guard_claims.rest.next = self.rest_claims.rest.q.val();
                }
                self.guard_claims.clocks_per_tick.next = self.rest_claims.clocks_per_tick.val();
            }
        }
    }
}
