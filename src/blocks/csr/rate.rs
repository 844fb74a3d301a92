//! When the rate of the budget is computed, and from what.

use super::map;
use crate::blocks::axi_lite::DATA_WIDTH;
use crate::config::plan::{PortPlan, Sleep};
use crate::hdl::prelude::*;

states! {
    /// What the rate of the budget is being computed for.
    pub enum Rate {
        Settled = "nothing",
        Applying = "the staged parameters",
        Refreshing = "a newly measured hop factor",
    }
}

/// Bits of the rate.
fn rate_width(plan: &PortPlan) -> u32 {
    plan.budget.rate.map_or(1, |rate| rate.width)
}

/// Bits of `t_w` in clock cycles, less one.
fn t_w_bits(plan: &PortPlan) -> u32 {
    plan.budget.rate.map_or(1, |rate| rate.t_w_bits)
}

bundle! {
    /// From and to the computation of the rate.
    pub struct RatePins;

    /// Of `plan`.
    pub fn new(plan: &PortPlan) {}

    {
        pub out rate_start: Bit("compute a rate"),
        pub out rate_bound: Bits(DATA_WIDTH, "from this bound"),
        pub out rate_hop_factor: Bits(DATA_WIDTH, "and this hop factor"),
        pub out rate_t_w_last: Bits(t_w_bits(plan), "and t_w in clock cycles, less one"),
        pub in rate_done: Bit("the rate is computed"),
        pub in rate_computed: Bits(rate_width(plan), "it"),
        pub out rate: Bits(rate_width(plan), "rate in force"),
    }
}

block! {
    /// Has the rate computed of staged parameters before they come into force, and of those in
    /// force when a hop factor has been measured.
    pub struct RateRequest;

    /// For the budget of `plan`.
    pub fn new(plan: &PortPlan) {
        let reset = plan.budget.product.map_or(0, |product| product.k);
        let adjusts = !plan.adjustable_times().is_empty();
    }

    {
        pub flat pins: RatePins(plan),
        pub in pending: Bit("staged parameters wait"),
        pub in commits: Bit("they come into force at the end of this cycle"),
        pub in staged_bound: Bits(32, "staged: bound"),
        pub in staged_sleep: Bits(2, "staged: where to power down"),
        pub in staged_measure: Bit("staged: the budget takes the measured hop factor"),
        pub in staged_hop_factor: Bits(32, "staged: hop factor"),
        pub in bound: Bits(32, "in force: bound"),
        pub in sleep_now: Bits(2, "in force: where to power down"),
        pub in measure: Bit("in force: the budget takes the measured hop factor"),
        pub in hop_measured: Bit("the measured hop factor is new"),
        pub in staged_fast_wake: Bits(t_w_bits(plan), "staged: t_w of fast wake, less one") if adjusts,
        pub in staged_deep_sleep: Bits(t_w_bits(plan), "staged: t_w of deep sleep, less one") if adjusts,
        pub in now_fast_wake: Bits(t_w_bits(plan), "in force: t_w of fast wake, less one") if adjusts,
        pub in now_deep_sleep: Bits(t_w_bits(plan), "in force: t_w of deep sleep, less one") if adjusts,
        pub in measured_wide: Bits(32, "measured hop factor, in units of 2^-31"),
        choice adjusts(adjusts), // software sets t_w
        local is_staged: Bit("of the staged parameters, not those in force"),
        local is_wide_sleep: Bit("the sleep state of the rate to compute includes deep sleep"),
        reg rate_now: Bits(rate_width(plan), reset, "in force: rate of the budget"),
        pub reg ready: Bit(false, "their rate is computed"),
        reg refresh: Bit(false, "a newly measured hop factor waits"),
        reg rate_state: Rate(Rate::Settled, "what a rate is being computed for"),
        constant fast_wake_last: Bits(
            t_w_bits(plan), u128::from(plan.link.fast_wake.t_w) - 1, "t_w of fast wake, less one"
        ),
        constant deep_sleep_last: Bits(
            t_w_bits(plan), u128::from(plan.link.deep_sleep.t_w) - 1, "t_w of deep sleep, less one"
        ),
        constant sleep_fast_wake: Bits(
            2, map::sleep_code(Sleep::FastWake).into(), "the sleep state fast wake"
        ),
    }
}

impl Logic for RateRequest {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("The rate of the budget follows the staged parameters, or the hop monitor.");
        self.pins.rate_start.next = false;
        self.pins.rate_bound.next = self.bound.val();
        self.pins.rate_hop_factor.next = self.measured_wide.val();
        self.is_wide_sleep.next = self.sleep_now.val() != self.sleep_fast_wake.val();
        self.is_staged.next = (self.rate_state.q.val() == Rate::Applying)
            | ((self.rate_state.q.val() == Rate::Settled) & self.pending.val());
        if self.is_staged.val() {
            self.pins.rate_bound.next = self.staged_bound.val();
            self.is_wide_sleep.next = self.staged_sleep.val() != self.sleep_fast_wake.val();
            if !self.staged_measure.val() {
                self.pins.rate_hop_factor.next = self.staged_hop_factor.val();
            }
        }
        if self.adjusts {
            if self.is_staged.val() {
                self.pins.rate_t_w_last.next = self.staged_fast_wake.val();
                if self.is_wide_sleep.val() {
                    self.pins.rate_t_w_last.next = self.staged_deep_sleep.val();
                }
            } else {
                self.pins.rate_t_w_last.next = self.now_fast_wake.val();
                if self.is_wide_sleep.val() {
                    self.pins.rate_t_w_last.next = self.now_deep_sleep.val();
                }
            }
        } else {
            self.pins.rate_t_w_last.next = self.fast_wake_last.val();
            if self.is_wide_sleep.val() {
                self.pins.rate_t_w_last.next = self.deep_sleep_last.val();
            }
        }
        match self.rate_state.q.val() {
            Rate::Settled => {
                if self.pending.val() {
                    if !self.ready.q.val() {
                        self.pins.rate_start.next = true;
                        self.rate_state.d.next = Rate::Applying;
                    }
                } else if self.refresh.q.val() {
                    self.pins.rate_start.next = true;
                    self.rate_state.d.next = Rate::Refreshing;
                    self.refresh.d.next = false;
                }
            }
            Rate::Applying => {
                if self.pins.rate_done.val() {
                    self.ready.d.next = true;
                    self.rate_state.d.next = Rate::Settled;
                }
            }
            Rate::Refreshing => {
                if self.pins.rate_done.val() {
                    self.rate_now.d.next = self.pins.rate_computed.val();
                    self.rate_state.d.next = Rate::Settled;
                }
            }
            _ => {
                self.rate_state.d.next = Rate::Settled;
            }
        }
        if self.commits.val() {
            self.ready.d.next = false;
            self.rate_now.d.next = self.pins.rate_computed.val();
            comment!("A factor measured while they waited is not in their rate.");
            self.refresh.d.next = self.staged_measure.val();
        } else if self.hop_measured.val() & self.measure.val() {
            self.refresh.d.next = true;
        }
        self.pins.rate.next = self.rate_now.q.val();
    }
}
