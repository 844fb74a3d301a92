//! What a port promises beyond its blocks, and what the promises follow from by induction
//! (docs/evidence/proofs.md): sections of the [`Port`](super::Port) that are no hardware.

use super::sleep_bound::SleepBound;
use crate::blocks::link_sync::{self, Exchange};
use crate::blocks::lpi_fsm::Link;
use crate::config::plan::{GuardPlan, MessagesPlan, PortPlan, SyncPlan};
use crate::hdl::prelude::*;

/// Bits of a number of clock cycles at rest; what the meter has counted may be longer than any
/// threshold.
fn rest_bits(plan: &PortPlan) -> u32 {
    let (timer, total) = SleepBound::of(plan).map_or((1, 1), |bound| (bound.timer, bound.total));
    clog2(u128::from(total) + 2)
        .max(plan.time_width + clog2(u128::from(plan.clocks_per_tick) + 1))
        .max(clog2(u128::from(timer) + 2))
}

block! {
    /// How long a packet waits for the link, where the ends agree by messages.
    pub struct WaitClaims;

    /// The claims of `plan`. SPEC 5: a wait for a message ends by a time-out, so that it lasts
    /// `w` cycles.
    pub fn new(plan: &PortPlan, sync: &MessagesPlan) {
        let timeout = link_sync::longest_timeout(plan, sync);
        let w = timeout + 1;
        let longest_wait = link_sync::wake_bound(plan, None).unwrap_or(0);
        let wait_bits = clog2(u128::from(longest_wait) + 2);
        let wait = |cycles: u64, doc: &str| Constant::bits(wait_bits, cycles.into(), doc);
        let wait_bounded = if plan.control_pins {
            "While there is a link, and whatever the other end does, neither a packet nor force_wake \
             waits longer than `estimate` says."
        } else {
            "Whatever the other end does, a packet never waits longer than `estimate` says."
        };
    }

    {
        pub in queue_nonempty: Bit("the output queue holds a packet"),
        pub in tx_enable: Bit("the port may start a packet"),
        pub in awake: Bit("the link is awake"),
        pub in asleep: Bit("the link sleeps"),
        pub in may_go_down: Bit("there is a way down"),
        pub in link: Link("state of the link"),
        pub in transition_cycles: Bits(wait_bits, "clock cycles in its transition"),
        pub in exchange: Exchange("state of the exchange"),
        pub in exchange_cycles: Bits(wait_bits, "clock cycles in that state"),
        pub in rise: Bit("the link is agreed to go up"),
        property wait_bounded(wait_bounded),
        property commitment_kept(
            "From its ACK or SYNC for going down on, the port starts no packet."
        ),
        invariant exchange_fits(
            "An exchange for going down stands only where there is a way down, one of this \
                 end's own for going up only where the link sleeps.",
        ),
        invariant exchange_timed("No wait for a message outlasts its time-out."),
        invariant wait_in_exchange(
            "What a packet has waited for is the exchange under way, and those before."
        ),
        invariant wait_in_transition(
            "What a packet has waited for is the transition under way, and what led to it."
        ),
        choice controlled(plan.control_pins), // START may begin with a way up
        reg waiting: Bits(wait_bits, 0, "clock cycles for which a packet has waited"),
        local to_wake: Bit("the link sleeps and is not yet agreed to go up"),
        local count: Bits(wait_bits, "clock cycles in the state of the exchange"),
        local age: Bits(wait_bits, "clock cycles in the transition"),
        constant message_wait: wait(w, "w: longest wait for a message"),
        constant half_wait: wait(timeout / 2, "longest wait from SYNC to the start"),
        constant start_wait: wait(link_sync::start_cycles(plan, sync), "all of START"),
        constant ask_wait: wait(w + 1, "waited before this end asks to wake, at most"),
        constant await_wait: wait(2 * w + 1, "and before it follows a request that crossed"),
        constant sync_wait: wait(2 * w + 1 + timeout / 2, "and with its own SYNC"),
        constant rise_wait: wait(
            longest_wait.min(w + (2 * w + 1).max(link_sync::longest_transitions(plan).0)),
            "waited before the way up begins, at most",
        ),
        constant longest_wait: wait(longest_wait, "the longest wait, as `estimate` prints it"),
    }
}

impl Logic for WaitClaims {
    #[hdl_gen]
    fn update(&mut self) {
        self.waiting.d.next = 0.into();
        if self.queue_nonempty.val() & !self.tx_enable.val() {
            self.waiting.d.next = self.waiting.q.val() + 1;
        }
        self.wait_bounded.d.next = self.waiting.q.val() <= self.longest_wait.val();
        self.count.next = bit_cast(self.exchange_cycles.val(), &self.count);
        self.age.next = bit_cast(self.transition_cycles.val(), &self.age);
        self.to_wake.next = self.asleep.val() & !self.rise.val();
        match self.exchange.val() {
            Exchange::Start => {
                self.exchange_fits.d.next = self.awake.val();
                if self.controlled {
                    self.exchange_fits.d.next = self.awake.val()
                        | ((self.link.val() == Link::GoingUp)
                            & (self.age.val() == self.count.val()));
                }
                self.exchange_timed.d.next = self.count.val() < self.start_wait.val();
                self.wait_in_exchange.d.next = self.waiting.q.val() <= self.count.val();
            }
            Exchange::Idle => {
                if self.to_wake.val() {
                    self.wait_in_exchange.d.next = self.waiting.q.val() <= self.message_wait.val();
                }
            }
            Exchange::AskDown => {
                self.exchange_fits.d.next = self.may_go_down.val() & !self.rise.val();
                self.exchange_timed.d.next = self.count.val() < self.message_wait.val();
                if self.to_wake.val() {
                    self.wait_in_exchange.d.next = self.waiting.q.val() <= self.count.val();
                }
            }
            Exchange::SyncDown => {
                self.commitment_kept.d.next = !self.tx_enable.val();
                self.exchange_fits.d.next = self.may_go_down.val() & !self.rise.val();
                self.exchange_timed.d.next = self.count.val() <= self.half_wait.val();
                self.wait_in_exchange.d.next =
                    self.waiting.q.val() <= (self.half_wait.val() - self.count.val());
            }
            Exchange::AwaitDown => {
                self.commitment_kept.d.next = !self.tx_enable.val();
                self.exchange_fits.d.next = self.may_go_down.val() & !self.rise.val();
                self.exchange_timed.d.next = self.count.val() < self.message_wait.val();
                self.wait_in_exchange.d.next = self.waiting.q.val() <= self.count.val();
            }
            Exchange::AskUp => {
                self.exchange_fits.d.next = self.to_wake.val();
                self.exchange_timed.d.next = self.count.val() < self.message_wait.val();
                self.wait_in_exchange.d.next =
                    self.waiting.q.val() <= (self.ask_wait.val() + self.count.val());
            }
            Exchange::SyncUp => {
                self.exchange_fits.d.next = self.to_wake.val();
                self.exchange_timed.d.next = self.count.val() <= self.half_wait.val();
                self.wait_in_exchange.d.next =
                    self.waiting.q.val() <= (self.sync_wait.val() - self.count.val());
            }
            Exchange::AwaitUp => {
                self.exchange_timed.d.next = self.count.val() < self.message_wait.val();
                if self.to_wake.val() {
                    self.wait_in_exchange.d.next =
                        self.waiting.q.val() <= (self.await_wait.val() + self.count.val());
                }
            }
        }
        if self.rise.val()
            & !(self.link.val() == Link::GoingDown)
            & !(self.link.val() == Link::GoingUp)
        {
            self.exchange_fits.d.next = false;
        }
        match self.link.val() {
            Link::GoingDown => {
                self.wait_in_transition.d.next =
                    self.waiting.q.val() <= (self.message_wait.val() + self.age.val());
            }
            Link::GoingUp => {
                self.wait_in_transition.d.next =
                    self.waiting.q.val() <= (self.rise_wait.val() + self.age.val());
            }
            _ => {}
        }
    }
}

block! {
    /// What the control pins say holds.
    pub struct ControlClaims;

    /// The claims of `plan`.
    pub fn new(plan: &PortPlan) {
        let agrees = plan.messages().is_some();
    }

    {
        pub in link_up: Bit("the PHY has a link"),
        pub in may_sleep: Bit("the control pins let an awake link go down"),
        pub in tx_enable: Bit("the port may start a packet"),
        pub in link: Link("state of the link"),
        pub in recovers: Bit("the link is not awake since it was lost") if plan.guard.is_some(),
        pub in exchange: Exchange("state of the exchange") if agrees,
        pub in message_out: Bits(super::pins::MESSAGE_WIDTH, "message to the other end") if agrees,
        choice agrees(agrees), // the ends agree by messages
        choice guarded(plan.guard.is_some()), // a guard permits to sleep
        invariant recovers_upwards(
            "A link recovers while it goes up, and in the first cycle in which it is awake."
        ) if plan.guard.is_some(),
        property silent_without_link(
            "From the cycle after link_up falls on, nothing is transmitted, and no message is sent."
        ),
        property waits_for_link("Without a link the state machine waits in GOING_UP."),
        property held_awake(
            if agrees {
                "While enable is low, or force_wake high, an awake link does not go down, and its end \
                 promises nothing, unless it had promised it before."
            } else {
                "While enable is low, or force_wake high, an awake link does not go down."
            },
        ),
        reg was_linked: Bit(false, "there was a link the cycle before"),
        reg was_reset: Bit(true, "that cycle was one of reset"),
        reg was_held: Bit(false, "awake, and kept so, the cycle before"),
        reg was_promised: Bit(false, "it had promised to go down the cycle before") if agrees,
    }
}

impl Logic for ControlClaims {
    #[hdl_gen]
    fn update(&mut self) {
        self.was_linked.d.next = self.link_up.val();
        self.was_reset.d.next = false;
        self.was_held.d.next = (self.link.val() == Link::Wake) & !self.may_sleep.val();
        self.silent_without_link.d.next = self.was_linked.q.val() | !self.tx_enable.val();
        self.waits_for_link.d.next =
            self.was_linked.q.val() | self.was_reset.q.val() | (self.link.val() == Link::GoingUp);
        self.held_awake.d.next = !self.was_held.q.val() | !(self.link.val() == Link::GoingDown);
        if self.guarded {
            self.recovers_upwards.d.next = !self.recovers.val()
                | (self.link.val() == Link::GoingUp)
                | (self.link.val() == Link::Wake);
        }
        if self.agrees {
            self.was_promised.d.next = (self.exchange.val() == Exchange::SyncDown)
                | (self.exchange.val() == Exchange::AwaitDown);
            if !self.was_linked.q.val() & !(self.message_out.val() == 0) {
                self.silent_without_link.d.next = false;
            }
            if self.was_promised.q.val() {
                self.held_awake.d.next = true;
            } else if self.was_held.q.val()
                & ((self.exchange.val() == Exchange::SyncDown)
                    | (self.exchange.val() == Exchange::AwaitDown))
            {
                self.held_awake.d.next = false;
            }
        }
    }
}

block! {
    /// That an end sleeps that stays idle, where there is a bound on the time.
    pub struct RestClaims;

    /// The claims of `plan`, whose bound is `bound`.
    pub fn new(plan: &PortPlan, bound: &SleepBound) {
        let width = plan.time_width;
        let agrees = plan.messages().is_some();
        let alone = plan.per_direction();
        let timeout = (plan.messages()).map_or(1, |sync| link_sync::longest_timeout(plan, &sync));
        let rest_bits = rest_bits(plan);
        let rest = |cycles: u64, doc: &str| Constant::bits(rest_bits, cycles.into(), doc);
    }

    {
        pub in active: Bit("the port is active"),
        pub in awake: Bit("the link is awake"),
        pub in ticks: Bits(width, "whole ticks idle, as the meter counts"),
        pub in tick_clock: Bits(width, "clock cycles into the present tick"),
        pub in in_force: Bits(width, "threshold of this idle period, or the next"),
        pub in passed: Bit("this idle period is longer than the threshold"),
        pub in backstop_passed: Bit("and longer than the backstop") if !alone,
        pub in last_sender: Bit("this port transmitted last") if !alone,
        pub in prediction: Bits(width, "PerfBound's threshold"),
        pub in correction: Bits(width, "the corrected threshold"),
        pub in sleeps: Bit("software lets the port power down"),
        pub in backstops: Bit("and after the backstop") if !alone,
        pub in t_backstop: Bits(width, "the backstop that software set") if !alone,
        pub in message_in: Bits(super::pins::MESSAGE_WIDTH, "the message that arrives"),
        pub in exchange: Exchange("state of the exchange"),
        pub in exchange_cycles: Bits(width, "clock cycles in that state"),
        pub in unheard: Bit("the other end has not been heard"),
        pub in sleep_permit: Bit("the other end, or the guard, permits to sleep"),
        choice agrees(agrees), // the ends agree by messages
        choice alone(alone), // the direction sent on sleeps for itself
        // Something else than the timer has to permit that the port sleeps.
        choice asks(plan.sync == SyncPlan::Levels || plan.guard.is_some() || plan.control_pins),
        choice controlled(plan.control_pins), // control pins have to permit it
        choice predicts(plan.predicts()), // the threshold is predicted
        choice corrects(plan.corrects()), // the prediction is corrected
        choice registers(plan.registers.is_some()), // software sets the backstop
        property sleeps_in_time(
            if plan.per_direction() {
                "A direction that stays idle while the guard, if there is one, permits to sleep \
                 leaves Wake within the time that `estimate` says."
            } else if agrees {
                "An end that stays idle and hears nothing leaves Wake within the time that \
                 `estimate` says, or finds out that the other end is silent."
            } else {
                "An end that stays idle while the other end permits to sleep leaves Wake \
                 within the time that `estimate` says."
            },
        ),
        invariant threshold_in_range("No threshold is longer than the longest one."),
        property prediction_in_range(
            "PerfBound's threshold is at most max_value_ns, or t_pdt_init_ns if that is longer."
        ) if plan.predicts(),
        property correction_in_range(
            "The corrected threshold is at most max_value_ns, or t_pdt_init_ns if that is longer."
        ) if plan.corrects(),
        invariant timer_ahead("What the timer waits for is still to come."),
        invariant threshold_behind("What the timer has passed is not to come again."),
        choice has_backstop(!alone && plan.t_backstop.is_some() && plan.registers.is_none()),
        invariant backstop_behind("Nor is the backstop, once it has passed.") if
            !alone && plan.t_backstop.is_some() && plan.registers.is_none(),
        invariant idle_counted("The meter counts the idle cycles until the timer has expired."),
        choice divides(plan.clocks_per_tick > 1), // a tick is longer than a clock
        invariant tick_under_way(
            "A tick lasts no longer than its clock cycles."
        ) if plan.clocks_per_tick > 1,
        invariant rest_is_idle("A rest is no longer than the idle time that it is part of."),
        invariant rest_in_exchange(
            "What has been rested is the wait under way, and those before."
        ) if agrees,
        reg idle_cycles: Bits(
            rest_bits, 0, "idle clock cycles, up to the longest time of the timer"
        ),
        pub reg rest: Bits(
            rest_bits, 0, "idle clock cycles in Wake, nothing being heard"
        ) if agrees,
        reg unhindered: Bit(
            true, "awake, and permitted to sleep, since the last activity"
        ) if !agrees,
        local backstop_now: Bits(width, "the backstop in force, in ticks"),
        local backstop_ahead: Bit("it has passed, or is yet to come"),
        local timer_over: Bit("the timer has expired in this idle time"),
        local at_rest: Bit("idle in Wake, and nothing is heard"),
        local elapsed: Bits(rest_bits, "idle clock cycles, as the meter has them"),
        local exchange_count: Bits(rest_bits, "clock cycles in the state of the exchange"),
        pub constant clocks_per_tick: rest(plan.clocks_per_tick, "clock cycles in a tick"),
        constant longest_threshold: Bits(
            width, plan.longest_threshold().into(), "the longest threshold, in ticks"
        ),
        // A constant of its own: a wrong one in the timer is to be found.
        constant backstop_ticks: Bits(
            width, plan.t_backstop.unwrap_or(0).into(), "the backstop, in ticks"
        ),
        constant longest_prediction: Bits(
            width,
            plan.histogram.max_value.max(plan.t_pdt_init).into(),
            "h_maxval, or t_pdt_init if that is longer, in ticks",
        ),
        constant longest_idle: rest(bound.timer, "the timer has expired by then"),
        constant rest_before: rest(bound.repeated, "rested before a timer that expired in vain"),
        constant rest_asked: rest(
            bound.timer.max(bound.repeated + bound.wait),
            "rested before the other end is asked, at most",
        ),
        constant rest_synced: rest(timeout / 2, "longest wait from SYNC to the start"),
        constant rest_timeout: rest(timeout, "longest wait for a message, less one"),
        constant longest_rest: rest(bound.total, "the longest rest, as `estimate` prints it"),
    }
}

impl Logic for RestClaims {
    #[hdl_gen]
    fn update(&mut self) {
        self.threshold_in_range.d.next = self.in_force.val() <= self.longest_threshold.val();
        if self.predicts {
            self.prediction_in_range.d.next =
                self.prediction.val() <= self.longest_prediction.val();
        }
        if self.corrects {
            self.correction_in_range.d.next =
                self.correction.val() <= self.longest_prediction.val();
        }
        if self.alone {
            self.backstop_ahead.next = true;
        } else {
            self.backstop_now.next = self.backstop_ticks.val();
            if self.registers {
                self.backstop_now.next = self.t_backstop.val();
            }
            self.backstop_ahead.next =
                self.backstop_passed.val() | (self.ticks.val() <= self.backstop_now.val());
            if self.registers {
                if !self.backstops.val() {
                    self.backstop_ahead.next = true;
                }
            }
        }
        self.timer_ahead.d.next = (self.passed.val() | (self.ticks.val() <= self.in_force.val()))
            & self.backstop_ahead.val();
        self.threshold_behind.d.next =
            !self.passed.val() | (self.ticks.val() > self.in_force.val()) | self.ticks.val().all();
        if self.has_backstop {
            self.backstop_behind.d.next = !self.backstop_passed.val()
                | (self.ticks.val() > self.backstop_ticks.val())
                | self.ticks.val().all();
        }
        if self.alone {
            self.timer_over.next = self.passed.val();
        } else {
            self.timer_over.next =
                self.passed.val() & (self.last_sender.val() | self.backstop_passed.val());
            if self.registers {
                if !self.backstops.val() {
                    self.timer_over.next = self.passed.val();
                }
            }
        }
        if self.active.val() {
            self.idle_cycles.d.next = 0.into();
        } else if self.idle_cycles.q.val() < self.longest_idle.val() {
            self.idle_cycles.d.next = self.idle_cycles.q.val() + 1;
        }
        self.elapsed.next = bit_cast(self.ticks.val(), &self.elapsed);
        if self.divides {
            self.elapsed.next = bit_cast(self.ticks.val(), &self.elapsed)
                * self.clocks_per_tick.val()
                + bit_cast(self.tick_clock.val(), &self.elapsed);
            self.tick_under_way.d.next =
                bit_cast(self.tick_clock.val(), &self.idle_cycles) < self.clocks_per_tick.val();
        }
        self.idle_counted.d.next = ((self.idle_cycles.q.val() == self.elapsed.val())
            & (self.idle_cycles.q.val() < self.longest_idle.val()))
            | ((self.idle_cycles.q.val() == self.longest_idle.val()) & self.timer_over.val());
        if self.agrees {
            self.at_rest.next = !self.active.val()
                & (self.message_in.val() == 0)
                & self.awake.val()
                & !self.unheard.val();
            if self.registers {
                if !(self.sleeps.val() & self.backstops.val()) {
                    self.at_rest.next = false;
                }
            }
            if self.controlled {
                if !self.sleep_permit.val() {
                    self.at_rest.next = false;
                }
            }
            if self.at_rest.val() {
                self.rest.d.next = self.rest.q.val() + 1;
            } else {
                self.rest.d.next = 0.into();
            }
            self.sleeps_in_time.d.next = self.rest.q.val() <= self.longest_rest.val();
            self.rest_is_idle.d.next = (self.rest.q.val() <= self.idle_cycles.q.val())
                | (self.idle_cycles.q.val() == self.longest_idle.val());
            self.exchange_count.next = bit_cast(self.exchange_cycles.val(), &self.exchange_count);
            match self.exchange.val() {
                Exchange::Start => {
                    self.rest_in_exchange.d.next = self.rest.q.val() <= self.exchange_count.val();
                }
                Exchange::Idle => {
                    self.rest_in_exchange.d.next =
                        self.exchange_count.val() <= self.rest_timeout.val();
                    if self.timer_over.val() & !self.unheard.val() {
                        self.rest_in_exchange.d.next = (self.exchange_count.val()
                            <= self.rest_timeout.val())
                            & (self.rest.q.val()
                                <= (self.rest_before.val() + self.exchange_count.val()));
                    }
                }
                Exchange::AskDown => {
                    self.rest_in_exchange.d.next =
                        self.rest.q.val() <= (self.rest_asked.val() + self.exchange_count.val());
                }
                Exchange::SyncDown => {
                    self.rest_in_exchange.d.next =
                        self.rest.q.val() <= (self.rest_synced.val() - self.exchange_count.val());
                }
                _ => {
                    self.rest_in_exchange.d.next = self.rest.q.val() <= self.exchange_count.val();
                }
            }
        } else {
            self.unhindered.d.next =
                self.active.val() | (self.unhindered.q.val() & self.awake.val());
            if self.asks {
                self.unhindered.d.next = self.active.val()
                    | (self.unhindered.q.val() & self.awake.val() & self.sleep_permit.val());
            }
            if self.registers {
                if self.alone {
                    if !self.sleeps.val() {
                        self.unhindered.d.next = false;
                    }
                } else if !(self.sleeps.val() & self.backstops.val()) {
                    self.unhindered.d.next = false;
                }
            }
            self.sleeps_in_time.d.next = !self.unhindered.q.val()
                | !self.awake.val()
                | (self.idle_cycles.q.val() < self.longest_idle.val());
            self.rest_is_idle.d.next =
                !self.unhindered.q.val() | !self.awake.val() | !self.timer_over.val();
        }
    }
}

block! {
    /// That a guard whose rate never changes keeps its bound, and has a token in time.
    pub struct GuardClaims;

    /// The claims of `plan`, whose guard is `guard`.
    pub fn new(plan: &PortPlan, guard: &GuardPlan) {
        // Whole packets times the denominator of the rate.
        let debt_limit = u128::from(guard.burst) * guard.denominator;
        let set = plan.registers.is_some();
        // Where the debt is only bounded, its sum with what the bucket holds may be twice the limit in
        // the states that induction begins with.
        let largest = if set { 2 * debt_limit } else { debt_limit };
        let debt_bits = clog2(largest + guard.denominator + 1);
        let debt = |value: u128, doc: &str| Constant::bits(debt_bits, value, doc);
        let guard_kept = if set {
            "In every interval of T ticks in which software leaves the guard as it is, and on, \
             packets of this end wait for at most guard_burst + T l / t_w wake-ups."
        } else {
            "In every interval of T ticks, packets of this end wait for at most \
             burst + T l / t_w wake-ups."
        };
        let debt_is_missing = if set {
            "What is missing in the bucket is at least what packets waited for since software set \
             the guard, less what was refilled."
        } else {
            "What is missing in the bucket is what packets waited for, less what was refilled."
        };
        let bound = SleepBound::of(plan);
        let bounded = bound.is_some();
        let rest_bits = rest_bits(plan);
        let rest = |cycles: u64, doc: &str| Constant::bits(rest_bits, cycles.into(), doc);
    }

    {
        pub in queue_nonempty: Bit("the output queue holds a packet"),
        pub in power_state: Bits(3, "state of the link, as the pin has it"),
        pub in awake: Bit("the link is awake"),
        pub in exchange: Exchange("state of the exchange") if plan.messages().is_some(),
        pub in tokens: Bits(debt_bits, "whole tokens in the bucket"),
        pub in part: Bits(debt_bits, "and the part of a token"),
        pub in charged: Bit("a token was taken in this time asleep"),
        pub in off: Bit("software has switched the guard off") if set,
        pub in burst: Bits(debt_bits, "tokens in a full bucket, as software set it") if set,
        choice set(set), // software sets the guard
        pub in guard_clock: Bits(rest_bits, "clock cycles into the present tick"),
        pub in rest: Bits(rest_bits, "clock cycles at rest") if bounded && plan.messages().is_some(),
        pub in clocks_per_tick: Bits(rest_bits, "clock cycles in a tick"),
        choice bounded(bounded), // there is a bound on the time to sleep
        choice agrees(plan.messages().is_some()), // the ends agree by messages
        choice divides(plan.clocks_per_tick > 1), // a tick is longer than a clock
        property guard_kept(guard_kept),
        invariant bucket_fits("The bucket holds what it can."),
        invariant debt_is_missing(debt_is_missing),
        invariant token_before_sleep(
            "No end goes to sleep, or agrees to, without a token for the way up."
        ),
        invariant ticks_agree("The guard counts every tick.") if plan.clocks_per_tick > 1,
        property token_in_time("A guard of a link that stays awake soon holds a token.") if bounded,
        invariant refill_counted(
            "A bucket without a token holds what the ticks awake refilled."
        ) if bounded,
        invariant awake_counted("The cycles awake are those of the ticks awake.") if bounded,
        invariant rest_is_awake(
            "A rest is no longer than the time awake that it is part of."
        ) if bounded && plan.messages().is_some(),
        reg debt: Bits(debt_bits, 0, "wake-ups beyond the rate, in parts of a token"),
        reg then_burst: Bits(
            debt_bits, guard.burst.into(), "tokens in a full bucket, the cycle before"
        ) if set,
        local kept_debt: Bits(debt_bits, "the debt since the guard was set last"),
        local held: Bits(debt_bits, "whole tokens that the bucket holds"),
        local held_part: Bits(debt_bits, "and the part of a token"),
        local size: Bits(debt_bits, "tokens in a full bucket"),
        local most_debt: Bits(debt_bits, "and what they are in parts of a token"),
        reg waited: Bit(false, "a packet has waited in this time asleep"),
        reg tick_clocks: Bits(
            rest_bits, 0, "clock cycles into the present tick"
        ) if plan.clocks_per_tick > 1,
        reg awake_ticks: Bits(
            debt_bits, 0, "ticks awake, up to the longest wait for a token"
        ) if bounded,
        reg awake_cycles: Bits(rest_bits, 0, "clock cycles awake, up to the same") if bounded,
        local tick_ends: Bit("this cycle completes a tick of the guard"),
        local debt_left: Bits(debt_bits, "the debt after the present tick's refill"),
        constant no_tokens: Bits(debt_bits, 0, "an empty bucket"),
        constant last_tick_clock: rest(plan.clocks_per_tick - 1, "last clock cycle of a tick"),
        constant debt_gain: debt(guard.numerator, "l / t_w in parts of a token"),
        constant debt_token: debt(guard.denominator, "one token"),
        constant guard_burst: Number(guard.burst, "tokens in a full bucket"),
        constant debt_limit: debt(debt_limit, "guard.burst tokens"),
        constant token_wait_ticks: debt(
            guard.ticks_to_token().map_or(0, u128::from), "ticks that refill a token"
        ),
        constant token_wait: rest(bound.map_or(0, |bound| bound.guard), "the longest wait for a token"),
    }
}

impl Logic for GuardClaims {
    #[hdl_gen]
    fn update(&mut self) {
        self.tick_ends.next = true;
        if self.divides {
            self.tick_ends.next = self.tick_clocks.q.val() == self.last_tick_clock.val();
            if self.tick_ends.val() {
                self.tick_clocks.d.next = 0.into();
            } else {
                self.tick_clocks.d.next = self.tick_clocks.q.val() + 1;
            }
            self.ticks_agree.d.next = (self.tick_clocks.q.val()
                == bit_cast(self.guard_clock.val(), &self.guard_clock))
                & (self.tick_clocks.q.val() <= self.last_tick_clock.val());
        }
        comment!("Counted from the pins: the first cycle of each time asleep with a packet.");
        self.waited.d.next =
            !(self.power_state.val() == 0) & (self.waited.q.val() | self.queue_nonempty.val());
        self.kept_debt.next = self.debt.q.val();
        self.held.next = bit_cast(self.tokens.val(), &self.held);
        self.held_part.next = bit_cast(self.part.val(), &self.held);
        self.size.next = bit_cast(self.guard_burst.val(), &self.held);
        self.most_debt.next = self.debt_limit.val();
        if self.set {
            comment!("Since the guard was set, and as long as it is off, nothing is owed.");
            self.size.next = bit_cast(self.burst.val(), &self.held);
            self.then_burst.d.next = self.size.val();
            if self.off.val() | (self.size.val() != self.then_burst.q.val()) {
                self.kept_debt.next = 0.into();
            }
            if self.off.val() | (bit_cast(self.tokens.val(), &self.held) >= self.size.val()) {
                self.held.next = self.size.val();
                self.held_part.next = 0.into();
            }
            self.most_debt.next = self.size.val() * self.debt_token.val();
        }
        self.debt_left.next = self.kept_debt.val();
        if self.tick_ends.val() {
            if self.kept_debt.val() >= self.debt_gain.val() {
                self.debt_left.next = self.kept_debt.val() - self.debt_gain.val();
            } else {
                self.debt_left.next = 0.into();
            }
        }
        if !(self.power_state.val() == 0) & self.queue_nonempty.val() & !self.waited.q.val() {
            self.debt.d.next = self.debt_left.val() + self.debt_token.val();
        } else {
            self.debt.d.next = self.debt_left.val();
        }
        if self.set {
            if self.off.val() {
                self.debt.d.next = 0.into();
            }
        }
        self.guard_kept.d.next = self.kept_debt.val() <= self.most_debt.val();
        self.bucket_fits.d.next = (self.held_part.val() < self.debt_token.val())
            & (self.held.val() <= self.size.val())
            & (self.waited.q.val() == self.charged.val());
        if self.set {
            self.debt_is_missing.d.next = self.kept_debt.val()
                + self.held.val() * self.debt_token.val()
                + self.held_part.val()
                <= self.most_debt.val();
        } else {
            self.debt_is_missing.d.next = self.kept_debt.val()
                + self.held.val() * self.debt_token.val()
                + self.held_part.val()
                == self.most_debt.val();
        }
        if !(self.held.val() == self.no_tokens.val()) {
            self.token_before_sleep.d.next = true;
        } else if self.awake.val() {
            if self.agrees {
                self.token_before_sleep.d.next = !(self.exchange.val() == Exchange::AskDown)
                    & !(self.exchange.val() == Exchange::SyncDown)
                    & !(self.exchange.val() == Exchange::AwaitDown);
            } else {
                self.token_before_sleep.d.next = true;
            }
        } else {
            self.token_before_sleep.d.next = self.charged.val();
        }
        if self.bounded {
            if !self.awake.val() {
                self.awake_ticks.d.next = 0.into();
            } else if self.tick_ends.val()
                & (self.awake_ticks.q.val() < self.token_wait_ticks.val())
            {
                self.awake_ticks.d.next = self.awake_ticks.q.val() + 1;
            }
            if !self.awake.val() {
                self.awake_cycles.d.next = 0.into();
            } else if self.awake_cycles.q.val() < self.token_wait.val() {
                self.awake_cycles.d.next = self.awake_cycles.q.val() + 1;
            }
            self.refill_counted.d.next = !(self.held.val() == self.no_tokens.val())
                | (self.awake_ticks.q.val() * self.debt_gain.val() <= self.held_part.val());
            if self.divides {
                self.awake_counted.d.next = (self.awake_ticks.q.val()
                    == self.token_wait_ticks.val())
                    | (self.awake_cycles.q.val()
                        <= (bit_cast(self.awake_ticks.q.val(), &self.guard_clock)
                            * self.clocks_per_tick.val()
                            + self.tick_clocks.q.val()));
            } else {
                self.awake_counted.d.next = (self.awake_ticks.q.val()
                    == self.token_wait_ticks.val())
                    | (bit_cast(self.awake_cycles.q.val(), &self.tokens)
                        == self.awake_ticks.q.val());
            }
            if self.agrees {
                self.rest_is_awake.d.next = (self.rest.val() <= self.awake_cycles.q.val())
                    | (self.awake_cycles.q.val() >= self.token_wait.val());
            }
            self.token_in_time.d.next = !(self.held.val() == self.no_tokens.val())
                | (self.awake_cycles.q.val() < self.token_wait.val());
        }
    }
}
