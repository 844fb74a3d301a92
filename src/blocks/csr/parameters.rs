//! The parameters that software may change: as it stages them, and those in force.

use super::layout::Request;
use super::map;
use crate::blocks::axi_lite::DATA_WIDTH;
use crate::blocks::guard::{token_bits, GuardParameters};
use crate::config::plan::{Policy, PortPlan};
use crate::hdl::prelude::*;

bundle! {
    /// What the parameters in force decide.
    pub struct ParameterPins;

    /// With times of `time` bits.
    pub fn new(time: u32) {}

    {
        pub out sleeps: Bit("the port powers down by itself"),
        pub out sleep: Bits(2, "where: 0 fast wake, 1 deep sleep, 2 hybrid"),
        pub out next_policy: Bits(2, "policy in force after this cycle"),
        pub out next_t_pdt: Bits(time, "threshold of the policy fixed after this cycle"),
    }
}

bundle! {
    /// What they decide of an end that did not transmit last.
    pub struct BackstopPins;

    /// With times of `time` bits.
    pub fn new(time: u32) {}

    {
        pub out backstops: Bit("an end that did not transmit last powers down by itself"),
        pub out t_backstop: Bits(time, "after this time at least, in ticks"),
    }
}

bundle! {
    /// What they decide of the age of the histogram.
    pub struct AgingPins;

    /// With times of `time` bits.
    pub fn new(time: u32) {}

    {
        pub out ttl: Bits(time, "time to live of the histogram, in ticks; 0: the longest"),
        pub out max_samples: Bits(32, "samples after which the histogram ages"),
        pub out restart: Bit("the next sample finds the histogram empty"),
        pub in restarted: Bit("the histogram has been cleared"),
    }
}

block! {
    /// Two copies of every parameter: `command.apply` moves the staged ones into force
    /// together, at the end of an active cycle.
    pub struct Parameters;

    /// The parameters of `plan`.
    pub fn new(plan: &PortPlan) {
        let page = map::port(plan);
        let histogram = &plan.histogram;
        let time = plan.time_width;
        let policy = u128::from(map::policy_code(plan.policy));
        let sleep = u128::from(map::sleep_code(plan.sleep));
        let measures = page.reset_of("control", "measure") == 1;
        let t_pdt = plan.registers.map_or(0, |built| built.t_pdt);
        let ttl = histogram.ttl.unwrap_or(0);
        let bound = u128::from(page.reset_of("bound", "value"));
        let t_backstop = plan.t_backstop.unwrap_or(histogram.max_value);
        // A direction that sleeps for itself waits for no other end.
        let shared = !plan.per_direction();
        let guarded = plan.guard.is_some();
        let tokens = token_bits(plan);
        let burst = plan.guard.map_or(1, |guard| guard.burst);
    }

    {
        pub in active: Bit("the port is active in this cycle"),
        pub flat in_force: ParameterPins(time),
        pub flat backstop_now: BackstopPins(time) if shared,
        pub flat aging: AgingPins(time) if plan.ages(),
        pub flat guard: GuardParameters(tokens) if guarded,
        // What software writes.
        pub alias asked: Request(),
        pub in backstop_low: Bits(5, "lowest bit of control.backstop") if shared,
        pub in measure_low: Bits(5, "lowest bit of control.measure"),
        pub in guard_off_low: Bits(5, "lowest bit of control.guard_off") if guarded,
        pub in ready: Bit("the rate of the staged parameters is computed"),
        choice predicts(plan.predicts()), // the controller can predict
        choice ages(plan.ages()), // its histogram ages by parameters
        choice shared(shared), // both directions of the link sleep together
        choice guarded(guarded), // there is a guard
        choice has_upper(time > DATA_WIDTH), // a time has an upper word
        local writes_lower: Bit("a word is written that is not the upper one of a pair"),
        local writes_upper: Bit("the upper word of a pair is written") if time > DATA_WIDTH,
        local upper_written: Bits(time, "it, in its place") if time > DATA_WIDTH,
        constant word_bits: Bits(6, DATA_WIDTH.into(), "bits of a word"),
        constant lower_half: Bits(
            time, (u64::MAX >> (64 - time) & u64::from(u32::MAX)).into(), "the lower word of a time"
        ),
        constant upper_half: Bits(
            time,
            (u64::MAX >> (64 - time) & !u64::from(u32::MAX)).into(),
            "the upper word of a time"
        ),
        pub local commits: Bit("the staged parameters come into force at the end of this cycle"),
        pub reg staged_enable: Bit(true, "staged: the port may power down by itself"),
        pub reg staged_policy: Bits(2, policy, "staged: when"),
        pub reg staged_sleep: Bits(2, sleep, "staged: where to"),
        pub reg staged_measure: Bit(measures, "staged: the budget takes the measured hop factor"),
        pub reg staged_t_pdt: Bits(time, t_pdt.into(), "staged: threshold of fixed"),
        pub reg staged_ttl: Bits(time, ttl.into(), "staged: time to live"),
        pub reg staged_max_samples: Bits(
            32, histogram.max_samples.into(), "staged: samples before aging"
        ),
        pub reg staged_bound: Bits(32, bound, "staged: bound"),
        pub reg staged_hop_factor: Bits(
            32, page.reset_of("hop_factor", "value").into(), "staged: hop factor"
        ),
        pub reg staged_backstop: Bit(
            plan.t_backstop.is_some(), "staged: there is a backstop"
        ) if shared,
        pub reg staged_t_backstop: Bits(time, t_backstop.into(), "staged: the backstop") if shared,
        pub reg staged_guard_off: Bit(false, "staged: the guard permits every sleep") if guarded,
        pub reg staged_guard_burst: Bits(
            tokens, burst.into(), "staged: tokens in a full bucket"
        ) if guarded,
        pub reg enable: Bit(true, "in force: the port may power down by itself"),
        pub reg policy: Bits(2, policy, "in force: when"),
        pub kept sleep_now: Bits(2, sleep, "in force: where to"),
        pub reg measure: Bit(measures, "in force: the budget takes the measured hop factor"),
        pub reg fixed_t_pdt: Bits(time, t_pdt.into(), "in force: threshold of fixed"),
        reg ttl_now: Bits(time, ttl.into(), "in force: time to live"),
        reg max_samples_now: Bits(
            32, histogram.max_samples.into(), "in force: samples before aging"
        ),
        pub reg backstop: Bit(
            plan.t_backstop.is_some(), "in force: there is a backstop"
        ) if shared,
        pub reg t_backstop_now: Bits(time, t_backstop.into(), "in force: the backstop") if shared,
        pub reg bound: Bits(32, bound, "in force: bound"),
        pub reg guard_off: Bit(false, "in force: the guard permits every sleep") if guarded,
        pub reg guard_burst: Bits(
            tokens, burst.into(), "in force: tokens in a full bucket"
        ) if guarded,
        reg restart_now: Bit(false, "the histogram is to be cleared"),
        pub reg pending: Bit(false, "staged parameters wait"),
        constant always_on: Bits(
            2, map::policy_code(Policy::AlwaysOn).into(), "the policy always-on"
        ),
    }
}

impl Logic for Parameters {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("Staged parameters");
        if self.asked.writes.val() & self.asked.is_control.val() {
            self.staged_enable.d.next = self.asked.merged.val().get_bit(0);
            self.staged_policy.d.next = self.asked.new_policy.val();
            self.staged_sleep.d.next = self.asked.new_sleep.val();
            if self.shared {
                self.staged_backstop.d.next =
                    self.asked.merged.val().get_bit(self.backstop_low.val());
            }
            if self.predicts {
                self.staged_measure.d.next =
                    self.asked.merged.val().get_bit(self.measure_low.val());
            }
        }
        self.writes_lower.next = self.asked.accepted.val() & !self.asked.upper.val();
        if self.writes_lower.val() & self.asked.is_t_pdt.val() {
            self.staged_t_pdt.d.next = (self.staged_t_pdt.q.val() & self.upper_half.val())
                | bit_cast(self.asked.merged.val(), &self.staged_t_pdt);
        }
        if self.shared {
            if self.writes_lower.val() & self.asked.is_t_backstop.val() {
                self.staged_t_backstop.d.next = (self.staged_t_backstop.q.val()
                    & self.upper_half.val())
                    | bit_cast(self.asked.merged.val(), &self.staged_t_backstop);
            }
        }
        if self.ages {
            if self.writes_lower.val() & self.asked.is_ttl.val() {
                self.staged_ttl.d.next = (self.staged_ttl.q.val() & self.upper_half.val())
                    | bit_cast(self.asked.merged.val(), &self.staged_ttl);
            }
        }
        if self.has_upper {
            self.writes_upper.next = self.asked.accepted.val() & self.asked.upper.val();
            self.upper_written.next =
                bit_cast(self.asked.merged.val(), &self.upper_written) << self.word_bits.val();
            if self.writes_upper.val() & self.asked.is_t_pdt.val() {
                self.staged_t_pdt.d.next =
                    (self.staged_t_pdt.q.val() & self.lower_half.val()) | self.upper_written.val();
            }
            if self.shared {
                if self.writes_upper.val() & self.asked.is_t_backstop.val() {
                    self.staged_t_backstop.d.next = (self.staged_t_backstop.q.val()
                        & self.lower_half.val())
                        | self.upper_written.val();
                }
            }
            if self.ages {
                if self.writes_upper.val() & self.asked.is_ttl.val() {
                    self.staged_ttl.d.next = (self.staged_ttl.q.val() & self.lower_half.val())
                        | self.upper_written.val();
                }
            }
        }
        if self.ages {
            if self.asked.writes.val() & self.asked.is_max_samples.val() {
                self.staged_max_samples.d.next = self.asked.merged.val();
            }
        }
        if self.guarded {
            if self.asked.writes.val() & self.asked.is_control.val() {
                self.staged_guard_off.d.next =
                    self.asked.merged.val().get_bit(self.guard_off_low.val());
            }
            if self.asked.writes.val() & self.asked.is_guard_burst.val() {
                self.staged_guard_burst.d.next =
                    bit_cast(self.asked.merged.val(), &self.staged_guard_burst);
            }
        }
        if self.predicts {
            if self.asked.accepted.val() & self.asked.is_bound.val() {
                self.staged_bound.d.next = self.asked.merged.val();
            }
            if self.asked.writes.val() & self.asked.is_hop_factor.val() {
                self.staged_hop_factor.d.next = self.asked.merged.val();
            }
        }

        comment!("They come into force together when their rate is computed, in an active cycle.");
        if self.predicts {
            self.commits.next = self.pending.q.val() & self.ready.val() & self.active.val();
        } else {
            self.commits.next = self.pending.q.val() & self.active.val();
        }
        self.in_force.next_policy.next = self.policy.q.val();
        self.in_force.next_t_pdt.next = self.fixed_t_pdt.q.val();
        if self.commits.val() {
            self.in_force.next_policy.next = self.staged_policy.q.val();
            self.in_force.next_t_pdt.next = self.staged_t_pdt.q.val();
            self.enable.d.next = self.staged_enable.q.val();
            self.sleep_now.d.next = self.staged_sleep.q.val();
            if self.shared {
                self.backstop.d.next = self.staged_backstop.q.val();
                self.t_backstop_now.d.next = self.staged_t_backstop.q.val();
            }
            self.pending.d.next = false;
        }
        self.policy.d.next = self.in_force.next_policy.val();
        self.fixed_t_pdt.d.next = self.in_force.next_t_pdt.val();
        if self.asked.is_write.val()
            & self.asked.is_command.val()
            & self.asked.set_bits.val().get_bit(0)
        {
            self.pending.d.next = true;
        }
        self.in_force.sleeps.next =
            self.enable.q.val() & (self.policy.q.val() != self.always_on.val());
        self.in_force.sleep.next = self.sleep_now.q.val();
        if self.shared {
            self.backstop_now.backstops.next = self.backstop.q.val();
            self.backstop_now.t_backstop.next = self.t_backstop_now.q.val();
        }

        if self.guarded {
            if self.commits.val() {
                self.guard_off.d.next = self.staged_guard_off.q.val();
                self.guard_burst.d.next = self.staged_guard_burst.q.val();
            }
            self.guard.off.next = self.guard_off.q.val();
            self.guard.burst.next = self.guard_burst.q.val();
        }

        if self.ages {
            comment!("The histogram starts anew if its parameters change.");
            if self.aging.restarted.val() {
                self.restart_now.d.next = false;
            }
            if self.commits.val() {
                self.ttl_now.d.next = self.staged_ttl.q.val();
                self.max_samples_now.d.next = self.staged_max_samples.q.val();
                if (self.staged_ttl.q.val() != self.ttl_now.q.val())
                    | (self.staged_max_samples.q.val() != self.max_samples_now.q.val())
                {
                    self.restart_now.d.next = true;
                }
            }
            self.aging.ttl.next = self.ttl_now.q.val();
            self.aging.max_samples.next = self.max_samples_now.q.val();
            self.aging.restart.next = self.restart_now.q.val();
        }

        if self.predicts {
            if self.commits.val() {
                self.measure.d.next = self.staged_measure.q.val();
                self.bound.d.next = self.staged_bound.q.val();
            }
        }
    }
}
