//! When parameters change, and when counters are looked up (`docs/evidence/proofs.md`): sections of
//! [`Csr`](super::Csr) that are no hardware.

use crate::blocks::axi_lite::response;
use crate::blocks::event_counters;
use crate::blocks::guard::token_bits;
use crate::config::plan::PortPlan;
use crate::hdl::prelude::*;

block! {
    /// That parameters change by writes alone that are answered with OKAY, and in active cycles.
    pub struct ParameterClaims;

    /// The claims of `plan`.
    pub fn new(plan: &PortPlan) {
        let time = plan.time_width;
        let adjusts = !plan.adjustable_times().is_empty();
        let shared = !plan.per_direction();
        let guarded = plan.guard.is_some();
        let tokens = token_bits(plan);
    }

    {
        pub in writes: Bit("a write changes a register"),
        pub in request: Bit("there is a request in this cycle"),
        pub in write: Bit("to write"),
        pub in active: Bit("the port is active in this cycle"),
        pub in pending: Bit("staged parameters wait"),
        pub in answer: Bits(2, "answer, the cycle after the request"),
        pub in staged_enable: Bit("staged"),
        pub in staged_policy: Bits(2, "staged"),
        pub in staged_sleep: Bits(2, "staged"),
        pub in staged_measure: Bit("staged"),
        pub in staged_t_pdt: Bits(time, "staged"),
        pub in staged_ttl: Bits(time, "staged"),
        pub in staged_max_samples: Bits(32, "staged"),
        pub in staged_bound: Bits(32, "staged"),
        pub in staged_hop_factor: Bits(32, "staged"),
        pub in staged_backstop: Bit("staged") if shared,
        pub in staged_t_backstop: Bits(time, "staged") if shared,
        pub in enable: Bit("in force"),
        pub in policy: Bits(2, "in force"),
        pub in sleep_now: Bits(2, "in force"),
        pub in fixed_t_pdt: Bits(time, "in force"),
        pub in backstop: Bit("in force") if shared,
        pub in t_backstop_now: Bits(time, "in force") if shared,
        pub in staged_guard_off: Bit("staged") if guarded,
        pub in staged_guard_burst: Bits(tokens, "staged") if guarded,
        pub in guard_off: Bit("in force") if guarded,
        pub in guard_burst: Bits(tokens, "in force") if guarded,
        pub in times_staged_kept: Bit("no staged time of the link has changed") if adjusts,
        pub in times_in_force_kept: Bit("none in force has") if adjusts,
        choice adjusts(adjusts), // software sets the times of the link
        choice shared(shared), // both directions of the link sleep together
        choice guarded(guarded), // there is a guard
        local all_staged_kept: Bit(
            "no staged parameter has changed, times of the link and the guard's included"
        ),
        local all_in_force_kept: Bit("none in force has, times of the link and the guard's included"),
        property staged_by_writes(
            "A staged parameter changes only by a write that is answered with OKAY."
        ),
        property in_force_together(
            "Parameters in force change only in an active cycle, and after a command."
        ),
        reg settled: Bit(false, "there was a cycle without reset"),
        reg wrote: Bit(false, "the cycle before, a write changed a register"),
        reg asked_write: Bit(false, "and there was a request to write"),
        reg could_commit: Bit(false, "and staged parameters waited in an active cycle"),
        constant okay: Bits(2, response::OKAY.into(), "OKAY"),
        local staged_kept: Bit("no staged parameter has changed"),
        local in_force_kept: Bit("none in force has"),
        reg then_staged_enable: Bit(false, "the cycle before"),
        reg then_staged_policy: Bits(2, 0, "the cycle before"),
        reg then_staged_sleep: Bits(2, 0, "the cycle before"),
        reg then_staged_measure: Bit(false, "the cycle before"),
        reg then_staged_t_pdt: Bits(time, 0, "the cycle before"),
        reg then_staged_ttl: Bits(time, 0, "the cycle before"),
        reg then_staged_max_samples: Bits(32, 0, "the cycle before"),
        reg then_staged_bound: Bits(32, 0, "the cycle before"),
        reg then_staged_hop_factor: Bits(32, 0, "the cycle before"),
        reg then_staged_backstop: Bit(false, "the cycle before") if shared,
        reg then_staged_t_backstop: Bits(time, 0, "the cycle before") if shared,
        reg then_staged_guard_off: Bit(false, "the cycle before") if guarded,
        reg then_staged_guard_burst: Bits(tokens, 0, "the cycle before") if guarded,
        reg then_guard_off: Bit(false, "the cycle before") if guarded,
        reg then_guard_burst: Bits(tokens, 0, "the cycle before") if guarded,
        reg then_enable: Bit(false, "the cycle before"),
        reg then_policy: Bits(2, 0, "the cycle before"),
        reg then_sleep_now: Bits(2, 0, "the cycle before"),
        reg then_fixed_t_pdt: Bits(time, 0, "the cycle before"),
        reg then_backstop: Bit(false, "the cycle before") if shared,
        reg then_t_backstop_now: Bits(time, 0, "the cycle before") if shared,
    }
}

impl Logic for ParameterClaims {
    #[hdl_gen]
    fn update(&mut self) {
        self.settled.d.next = true;
        self.wrote.d.next = self.writes.val();
        self.asked_write.d.next = self.request.val() & self.write.val();
        self.could_commit.d.next = self.pending.val() & self.active.val();
        self.then_staged_enable.d.next = self.staged_enable.val();
        self.then_staged_policy.d.next = self.staged_policy.val();
        self.then_staged_sleep.d.next = self.staged_sleep.val();
        self.then_staged_measure.d.next = self.staged_measure.val();
        self.then_staged_t_pdt.d.next = self.staged_t_pdt.val();
        self.then_staged_ttl.d.next = self.staged_ttl.val();
        self.then_staged_max_samples.d.next = self.staged_max_samples.val();
        self.then_staged_bound.d.next = self.staged_bound.val();
        self.then_staged_hop_factor.d.next = self.staged_hop_factor.val();
        self.then_enable.d.next = self.enable.val();
        self.then_policy.d.next = self.policy.val();
        self.then_sleep_now.d.next = self.sleep_now.val();
        self.then_fixed_t_pdt.d.next = self.fixed_t_pdt.val();
        self.staged_kept.next = (self.staged_enable.val() == self.then_staged_enable.q.val())
            & (self.staged_policy.val() == self.then_staged_policy.q.val())
            & (self.staged_sleep.val() == self.then_staged_sleep.q.val())
            & (self.staged_measure.val() == self.then_staged_measure.q.val())
            & (self.staged_t_pdt.val() == self.then_staged_t_pdt.q.val())
            & (self.staged_ttl.val() == self.then_staged_ttl.q.val())
            & (self.staged_max_samples.val() == self.then_staged_max_samples.q.val())
            & (self.staged_bound.val() == self.then_staged_bound.q.val())
            & (self.staged_hop_factor.val() == self.then_staged_hop_factor.q.val());
        self.in_force_kept.next = (self.enable.val() == self.then_enable.q.val())
            & (self.policy.val() == self.then_policy.q.val())
            & (self.sleep_now.val() == self.then_sleep_now.q.val())
            & (self.fixed_t_pdt.val() == self.then_fixed_t_pdt.q.val());
        self.all_staged_kept.next = self.staged_kept.val();
        self.all_in_force_kept.next = self.in_force_kept.val();
        if self.adjusts {
            if !self.times_staged_kept.val() {
                self.all_staged_kept.next = false;
            }
            if !self.times_in_force_kept.val() {
                self.all_in_force_kept.next = false;
            }
        }
        if self.shared {
            self.then_staged_backstop.d.next = self.staged_backstop.val();
            self.then_staged_t_backstop.d.next = self.staged_t_backstop.val();
            self.then_backstop.d.next = self.backstop.val();
            self.then_t_backstop_now.d.next = self.t_backstop_now.val();
            if (self.staged_backstop.val() != self.then_staged_backstop.q.val())
                | (self.staged_t_backstop.val() != self.then_staged_t_backstop.q.val())
            {
                self.all_staged_kept.next = false;
            }
            if (self.backstop.val() != self.then_backstop.q.val())
                | (self.t_backstop_now.val() != self.then_t_backstop_now.q.val())
            {
                self.all_in_force_kept.next = false;
            }
        }
        if self.guarded {
            self.then_staged_guard_off.d.next = self.staged_guard_off.val();
            self.then_staged_guard_burst.d.next = self.staged_guard_burst.val();
            self.then_guard_off.d.next = self.guard_off.val();
            self.then_guard_burst.d.next = self.guard_burst.val();
            if (self.staged_guard_off.val() != self.then_staged_guard_off.q.val())
                | (self.staged_guard_burst.val() != self.then_staged_guard_burst.q.val())
            {
                self.all_staged_kept.next = false;
            }
            if (self.guard_off.val() != self.then_guard_off.q.val())
                | (self.guard_burst.val() != self.then_guard_burst.q.val())
            {
                self.all_in_force_kept.next = false;
            }
        }
        self.staged_by_writes.d.next = !self.settled.q.val()
            | self.all_staged_kept.val()
            | (self.wrote.q.val()
                & self.asked_write.q.val()
                & (self.answer.val() == self.okay.val()));
        self.in_force_together.d.next =
            !self.settled.q.val() | self.all_in_force_kept.val() | self.could_commit.q.val();
    }
}

block! {
    /// That the event counter that software reads is there when it is read.
    pub struct LookupClaims;

    /// The claims.
    pub fn new() {}

    {
        pub in ahead: Bit("two cycles from now there is a request"),
        pub in request: Bit("there is a request in this cycle"),
        pub in asks: Bit("the counters were asked for one in the cycle before"),
        pub in visiting: Bit("the word of a counter is there"),
        pub in at: Bits(event_counters::PLACE, "its place"),
        pub in turn: Bits(event_counters::PLACE, "place of the counter whose turn it is"),
        invariant requests_announced(
            "A request comes two cycles after its address, and the next address after both."
        ),
        invariant lookups_heard("The counters are asked for one in every request."),
        invariant word_there("The word of a counter is there when the request comes."),
        invariant out_of_turn("A counter is visited before its turn for a request alone."),
        reg nears: Bit(false, "the address of a request stood the cycle before"),
        reg comes: Bit(false, "and one cycle earlier"),
    }
}

impl Logic for LookupClaims {
    #[hdl_gen]
    fn update(&mut self) {
        self.nears.d.next = self.ahead.val();
        self.comes.d.next = self.nears.q.val();
        self.requests_announced.d.next = (self.request.val() == self.comes.q.val())
            & !(self.ahead.val() & (self.nears.q.val() | self.comes.q.val()));
        self.lookups_heard.d.next = self.asks.val() == self.nears.q.val();
        self.word_there.d.next = !self.comes.q.val() | self.visiting.val();
        self.out_of_turn.d.next =
            !(self.visiting.val() & (self.at.val() == self.turn.val())) | self.comes.q.val();
    }
}
