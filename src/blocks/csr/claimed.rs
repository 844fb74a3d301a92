//! What the claims of the registers read.

use super::{Csr, ForLookupClaims, ForParameterClaims};
use crate::hdl::prelude::*;

/// What the claims about look-ups read.
impl Piece<ForLookupClaims> for Csr {
    #[hdl_gen]
    fn update(&mut self) {
        self.lookups.ahead.next = self.access.ahead.val();
        self.lookups.request.next = self.access.request.val();
        self.lookups.asks.next = self.event_counters.asks.q.val();
        self.lookups.visiting.next = self.event_counters.visiting.q.val();
        self.lookups.at.next = self.event_counters.at.q.val();
        self.lookups.turn.next = self.event_counters.turn.q.val();
    }
}

/// What the claims about parameters read.
impl Piece<ForParameterClaims> for Csr {
    #[hdl_gen]
    fn update(&mut self) {
        self.claims.writes.next = self.asked.writes.val();
        self.claims.request.next = self.access.request.val();
        self.claims.write.next = self.access.write.val();
        self.claims.active.next = self.active.val();
        self.claims.pending.next = self.parameters.pending.q.val();
        self.claims.answer.next = self.access.answer.val();
        self.claims.staged_enable.next = self.parameters.staged_enable.q.val();
        self.claims.staged_policy.next = self.parameters.staged_policy.q.val();
        self.claims.staged_sleep.next = self.parameters.staged_sleep.q.val();
        self.claims.staged_measure.next = self.parameters.staged_measure.q.val();
        self.claims.staged_t_pdt.next = self.parameters.staged_t_pdt.q.val();
        self.claims.staged_ttl.next = self.parameters.staged_ttl.q.val();
        self.claims.staged_max_samples.next = self.parameters.staged_max_samples.q.val();
        self.claims.staged_bound.next = self.parameters.staged_bound.q.val();
        self.claims.staged_hop_factor.next = self.parameters.staged_hop_factor.q.val();
        self.claims.enable.next = self.parameters.enable.q.val();
        self.claims.policy.next = self.parameters.policy.q.val();
        self.claims.sleep_now.next = self.parameters.sleep_now.q.val();
        self.claims.fixed_t_pdt.next = self.parameters.fixed_t_pdt.q.val();
        if self.shared {
            self.claims.staged_backstop.next = self.parameters.staged_backstop.q.val();
            self.claims.staged_t_backstop.next = self.parameters.staged_t_backstop.q.val();
            self.claims.backstop.next = self.parameters.backstop.q.val();
            self.claims.t_backstop_now.next = self.parameters.t_backstop_now.q.val();
        }
        if self.guarded {
            self.claims.staged_guard_off.next = self.parameters.staged_guard_off.q.val();
            self.claims.staged_guard_burst.next = self.parameters.staged_guard_burst.q.val();
            self.claims.guard_off.next = self.parameters.guard_off.q.val();
            self.claims.guard_burst.next = self.parameters.guard_burst.q.val();
        }
    }
}
