//! What puts the link to sleep and wakes it.

use super::{
    Activity, ByDirection, ByLevels, ByMessages, Expiry, Guarding, Port, Threshold, Transitions,
};
use crate::blocks::guard::GuardParameters;
use crate::blocks::lpi_fsm::TimingOutputs;
use crate::hdl::prelude::*;

/// Whether the port is active, and what its control pins say.
impl Piece<Activity> for Port {
    #[hdl_gen]
    fn update(&mut self) {
        if self.controlled {
            comment!("Without a link no timer runs, and what it interrupts is no idle period.");
            if self.per_direction {
                self.active.next =
                    self.queue_nonempty.val() | self.transmitting.val() | !self.link_up.val();
            } else {
                self.active.next = self.queue_nonempty.val()
                    | self.transmitting.val()
                    | self.receiving.val()
                    | !self.link_up.val();
            }
            self.idle_meter.link_up.next = self.link_up.val();
            self.lpi_fsm.link_up.next = self.link_up.val();
            self.may_sleep.next = self.enable.val() & !self.force_wake.val() & self.link_up.val();
            self.wants_awake.next = self.queue_nonempty.val() | self.force_wake.val();
            self.recovers.d.next =
                !self.link_up.val() | (self.recovers.q.val() & !self.lpi_fsm.tx_enable.val());
        } else if self.per_direction {
            comment!("What the other end sends has its own direction of the link.");
            self.active.next = self.queue_nonempty.val() | self.transmitting.val();
        } else {
            self.active.next =
                self.queue_nonempty.val() | self.transmitting.val() | self.receiving.val();
        }

        self.idle_meter.active.next = self.active.val();
    }
}

/// The power-down timer and its threshold: PerfBound's, the corrected one, or a fixed one.
impl Piece<Threshold> for Port {
    #[hdl_gen]
    fn update(&mut self) {
        self.pdt_timer.active.next = self.active.val();
        if !self.per_direction {
            if self.controlled {
                comment!("Of a link that comes back, both ends are armed, as after a reset.");
                self.pdt_timer.transmitting.next = self.transmitting.val() | !self.link_up.val();
            } else {
                self.pdt_timer.transmitting.next = self.transmitting.val();
            }
        }
        self.pdt_timer.tick.next = self.idle_meter.tick.val();
        self.pdt_timer.ticks.next = self.idle_meter.ticks.val();
        if self.registers {
            self.pdt_timer.t_pdt.next = self.csr.in_force.next_t_pdt.val();
            if self.predicts {
                if !(self.csr.in_force.next_policy.val() == self.policy_fixed.val()) {
                    self.pdt_timer.t_pdt.next = self.perfbound.t_pb.val();
                }
            }
            if self.corrects {
                if (self.csr.in_force.next_policy.val() == self.policy_corrected.val())
                    | (self.csr.in_force.next_policy.val() == self.policy_always_on.val())
                {
                    self.pdt_timer.t_pdt.next = self.corrector.t_pdt.val();
                }
            }
        } else if self.corrects {
            self.pdt_timer.t_pdt.next = self.corrector.t_pdt.val();
        } else if self.predicts {
            self.pdt_timer.t_pdt.next = self.perfbound.t_pb.val();
        } else {
            self.pdt_timer.t_pdt.next = self.fixed_t_pdt.val();
        }
        self.t_pdt.next = self.pdt_timer.t_pdt_in_force.val();
    }
}

/// When the timer of a port that sleeps expires, and what software says of the way down.
impl Piece<Expiry> for Port {
    #[hdl_gen]
    fn update(&mut self) {
        if self.registers {
            if !self.per_direction {
                self.pdt_timer.backstops.next = self.csr.backstop.backstops.val();
                self.pdt_timer.t_backstop.next = self.csr.backstop.t_backstop.val();
            }
            self.expires.next = self.pdt_timer.expired.val() & self.csr.in_force.sleeps.val();
            self.overdue.next = self.pdt_timer.overdue.val() & self.csr.in_force.sleeps.val();
            self.first_expiry.next =
                self.expires.val() & !self.pdt_timer.overdue.val() & self.lpi_fsm.tx_enable.val();
            self.lpi_fsm.sleep.next = self.csr.in_force.sleep.val();
            if self.adjusts {
                TimingOutputs::join(&mut self.csr.times, &mut self.lpi_fsm.timing);
                if self.agrees {
                    self.sync_timeout.next = self.csr.sync_timeout.val();
                    self.link_sync.timeout_last.next =
                        bit_cast(self.sync_timeout.val(), self._timeout_bits);
                }
            }
        } else if self.sleeps {
            self.expires.next = self.pdt_timer.expired.val();
            self.overdue.next = self.pdt_timer.overdue.val();
        } else {
            self.expires.next = false;
            self.overdue.next = false;
        }
    }
}

/// What the guard goes by.
impl Piece<Guarding> for Port {
    #[hdl_gen]
    fn update(&mut self) {
        if self.guarded {
            if self.controlled {
                comment!(
                    "A packet that waits for a lost link does not wait for the end of a sleep."
                );
                self.awake_for_guard.next = self.lpi_fsm.tx_enable.val() | self.recovers.q.val();
                self.guard.awake.next = self.awake_for_guard.val();
            } else {
                self.guard.awake.next = self.lpi_fsm.tx_enable.val();
            }
            self.guard.queue_nonempty.next = self.queue_nonempty.val();
            if self.registers {
                GuardParameters::join(&mut self.csr.guard, &mut self.guard.set_by);
            }
            if self.guard_adjusts {
                if self.registers {
                    self.guard.rate.next = self.csr.rate.rate.val();
                } else {
                    self.guard.rate.next = self.budget_rate.rate.val();
                }
            }
        }
    }
}

/// The transitions of a link whose ends agree by messages.
impl Piece<ByMessages> for Port {
    #[hdl_gen]
    fn update(&mut self) {
        if self.agrees {
            self.link_sync.initiator.next = self.initiator.val();
            self.link_sync.message_in.next = self.message_in.val();
            self.link_sync.transmitting.next = self.transmitting.val();
            self.link_sync.awake.next = self.lpi_fsm.tx_enable.val();
            self.link_sync.asleep.next = self.lpi_fsm.asleep.val();
            self.link_sync.may_go_down.next = self.lpi_fsm.may_go_down.val();
            comment!("Both holds in fast wake end together: one request is enough.");
            self.link_sync.wants_down.next =
                (self.expires.val() & !self.pdt_timer.overdue.val() & self.lpi_fsm.tx_enable.val())
                    | (self.lpi_fsm.hold_over.val() & self.initiator.val() & !self.active.val());
            self.link_sync.overdue.next =
                self.overdue.val() & self.lpi_fsm.tx_enable.val() & !self.active.val();
            if self.controlled {
                comment!("A link that sleeps may sleep deeper, unless it is to wake.");
                if self.guarded {
                    self.permitted.next = ((self.guard.permits.val() & self.enable.val())
                        | !self.lpi_fsm.tx_enable.val())
                        & !self.force_wake.val();
                } else {
                    self.permitted.next = (self.enable.val() | !self.lpi_fsm.tx_enable.val())
                        & !self.force_wake.val();
                }
                self.link_sync.permitted.next = self.permitted.val();
                self.link_sync.active.next = self.active.val() | !self.permitted.val();
                self.link_sync.queue_nonempty.next = self.wants_awake.val();
                self.link_sync.link_up.next = self.link_up.val();
                self.link_sync.clear_error.next = self.clear_error.val();
            } else if self.guarded {
                comment!("A link that sleeps may sleep deeper: the way up costs one token.");
                self.link_sync.permitted.next =
                    self.guard.permits.val() | !self.lpi_fsm.tx_enable.val();
            } else {
                self.link_sync.permitted.next = true;
            }
            if !self.controlled {
                self.link_sync.queue_nonempty.next = self.queue_nonempty.val();
                self.link_sync.active.next = self.active.val();
            }
            self.down_start.next = self.link_sync.down_start.val();
            self.lpi_fsm.up_start.next = self.link_sync.up_start.val();
            self.tx_enable.next = self.link_sync.tx_enable.val();
            self.message_out.next = self.link_sync.message_out.val();
            self.sync_error.next = self.link_sync.sync_error.val();
        }
    }
}

/// The transitions of a direction that sleeps for itself.
impl Piece<ByDirection> for Port {
    #[hdl_gen]
    fn update(&mut self) {
        if self.per_direction {
            comment!("A timer that expired before the link was awake counts as soon as it is.");
            self.due.next = self.expires.val() | (self.overdue.val() & !self.active.val());
            if self.guarded & self.controlled {
                self.down_start.next =
                    self.due.val() & self.guard.permits.val() & self.may_sleep.val();
            } else if self.guarded {
                self.down_start.next = self.due.val() & self.guard.permits.val();
            } else if self.controlled {
                self.down_start.next = self.due.val() & self.may_sleep.val();
            } else {
                self.down_start.next = self.due.val();
            }
            if self.controlled {
                self.lpi_fsm.up_start.next = self.wants_awake.val();
            } else {
                self.lpi_fsm.up_start.next = self.queue_nonempty.val();
            }
            self.tx_enable.next = self.lpi_fsm.tx_enable.val();
            self.lpi_request.next = self.lpi_fsm.asleep.val();
            if self.tells_times {
                self.t_s_in_force.next = self.lpi_fsm.t_s_in_force.val();
                self.t_w_in_force.next = self.lpi_fsm.t_w_in_force.val();
            }
        }
    }
}

/// The transitions of a link whose ends agree by levels.
impl Piece<ByLevels> for Port {
    #[hdl_gen]
    fn update(&mut self) {
        if self.levels {
            comment!("The link goes down when the timer expires and the other end agrees, or when");
            comment!("the other end goes down and nothing is leaving here.");
            if self.controlled {
                comment!(
                    "A timer that expired while the pins kept the link awake counts afterwards."
                );
                self.due.next = self.expires.val() | (self.overdue.val() & !self.active.val());
                self.down_start.next = ((self.due.val() & self.sleep_permit.val())
                    | (self.remote_down.val() & !self.transmitting.val()))
                    & self.may_sleep.val();
                self.lpi_fsm.up_start.next = self.wants_awake.val() | self.remote_up.val();
            } else {
                self.down_start.next = (self.expires.val() & self.sleep_permit.val())
                    | (self.remote_down.val() & !self.transmitting.val());
                self.lpi_fsm.up_start.next = self.queue_nonempty.val() | self.remote_up.val();
            }
            self.tx_enable.next = self.lpi_fsm.tx_enable.val();
        }
    }
}

/// The state of the link, and whether it left wake in an idle period.
impl Piece<Transitions> for Port {
    #[hdl_gen]
    fn update(&mut self) {
        self.lpi_fsm.down_start.next = self.down_start.val();
        self.power_state.next = self.lpi_fsm.power_state.val();

        comment!("A miss is an idle period in which the link left wake, for whatever reason.");
        self.left_wake.d.next =
            !self.active.val() & (self.left_wake.q.val() | self.lpi_fsm.leaving.val());
        self.hit_now.d.next = self.idle_meter.ended.val() & !self.left_wake.q.val();
        self.miss_now.d.next = self.idle_meter.ended.val() & self.left_wake.q.val();
        self.hit.next = self.hit_now.q.val();
        self.miss.next = self.miss_now.q.val();
    }
}
