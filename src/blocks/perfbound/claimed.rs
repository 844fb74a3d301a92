//! What the claims of the search read.

use super::state::Search;
use super::{ForAccumulatedClaims, ForMultipliedClaims, ForSearchClaims, PerfBound};
use crate::hdl::prelude::*;

/// What the claims about the search read.
impl Piece<ForSearchClaims> for PerfBound {
    #[hdl_gen]
    fn update(&mut self) {
        self.starts.next = (self.state.q.val() == Search::Idle) & self.pending.q.val();
        self.multiplies.next = self.state.q.val() == Search::Multiply;
        self.search_claims.state.next = self.state.q.val();
        self.search_claims.update_now.next = self.update_now.q.val();
        self.search_claims.threshold_now.next = self.threshold_now.q.val();
        if self.reads {
            self.search_claims.reading.next = self.reading.q.val();
            self.search_claims.arriving.next = self.arriving.q.val();
            self.search_claims.looking.next = self.looking.q.val();
            self.search_claims.group.next = self.group.q.val();
            self.search_claims.place.next = self.place.q.val();
            self.search_claims.arrived.next = self.arrived.val();
            self.search_claims.bin.next = self.read.bin.q.val();
            self.search_claims.place_bits.next = self.place_bits.val();
        } else {
            self.search_claims.compared.next = self.compared.q.val();
        }
    }
}

/// What those about an accumulated budget read.
impl Piece<ForAccumulatedClaims> for PerfBound {
    #[hdl_gen]
    fn update(&mut self) {
        if self.tells_exactness {
            self.accumulated_claims.starts.next = self.starts.val();
            self.accumulated_claims.window_step.next = self.window_step.val();
            if self.clears {
                self.accumulated_claims.cleared.next = self.cleared.val();
            }
            self.accumulated_claims.carry.next = self.accumulated.carry.val();
            if !self.accumulated.in_steps {
                self.accumulated_claims.grows.next = self.window_step.val();
                self.accumulated_claims.whole_step.next = self.accumulated.gain.val();
            } else {
                self.accumulated_claims.grows.next = self.accumulated.adds.val();
                self.accumulated_claims.whole_step.next = self.accumulated.packets_added.val();
                self.accumulated_claims.behind.next = self.accumulated.behind.q.val();
                self.accumulated_claims.pending.next = self.pending.q.val();
                self.accumulated_claims.ticks_added.next = self.accumulated.ticks_added.val();
                self.accumulated_claims.packets_of_ticks.next =
                    self.accumulated.packets_of_ticks.value.val();
                if self.accumulated.fractional {
                    self.accumulated_claims.parts_of_ticks.next =
                        self.accumulated.parts_of_ticks.value.val();
                }
            }
            self.accumulated_claims.live_window.next = self.live_window.val();
            self.accumulated_claims.credit.next = self.accumulated.credit.q.val();
            self.accumulated_claims.credit_part.next = self.accumulated.credit_part.q.val();
            self.accumulated_claims.window_now.next = self.window_now.q.val();
            self.accumulated_claims.budget_now.next = self.budget_now.q.val();
        }
    }
}

/// What those about a multiplied budget read.
impl Piece<ForMultipliedClaims> for PerfBound {
    #[hdl_gen]
    fn update(&mut self) {
        if self.tells_product {
            self.computed_claims.multiplies.next = self.multiplies.val();
            if self.clears {
                self.computed_claims.cleared.next = self.cleared.val();
            }
            if self.halves_counts {
                self.computed_claims.halved.next = self.halved.val();
            }
            self.computed_claims.rate_taken.next = self.computed.rate_taken.q.val();
            self.computed_claims.steps_left.next = self.computed.steps_left.q.val();
            self.computed_claims.multiplier.next = self.computed.multiplier.q.val();
            self.computed_claims.carry.next = self.computed.carry.q.val();
            self.computed_claims.product.next = self.computed.product.q.val();
            self.computed_claims.next_multiplier.next =
                self.computed.digit_step.next_multiplier.val();
            self.computed_claims.next_carry.next = self.computed.digit_step.next_carry.val();
            self.computed_claims.next_product.next = self.computed.digit_step.next_product.val();
            self.computed_claims.window_now.next = self.window_now.q.val();
            self.computed_claims.budget_now.next = self.budget_now.q.val();
        }
    }
}
