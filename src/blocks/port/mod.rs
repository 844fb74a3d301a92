//! The port controller: one per switch port or NIC port.

#[cfg(test)]
mod both_ends_tests;
mod claims;
pub mod controller;
pub mod golden;
pub mod model;
pub mod pins;
#[cfg(test)]
mod register_tests;
pub mod settling;
mod sleep_bound;
#[cfg(test)]
pub(crate) mod tests;

use self::claims::{ControlClaims, GuardClaims, RestClaims, WaitClaims};
pub use self::sleep_bound::SleepBound;
use crate::blocks::axi_lite::{AxiLite, AxiPins, RegisterPins, ASKED};
use crate::blocks::budget_rate::BudgetRate;
use crate::blocks::corrector::{self, Corrector};
use crate::blocks::csr::timing::staged_width;
use crate::blocks::csr::{map, Csr, WORD_BITS};
use crate::blocks::fixed_point::Arithmetic;
use crate::blocks::guard::{token_bits, Guard, GuardParameters};
use crate::blocks::histogram::bin_meter::BinMeter;
use crate::blocks::histogram::circular::CircularHistogram;
use crate::blocks::histogram::clearing::ClearingHistogram;
use crate::blocks::histogram::decaying::DecayingHistogram;
use crate::blocks::histogram::map::MapHistogram;
use crate::blocks::histogram::regular::RegularHistogram;
use crate::blocks::histogram::{FoundPins, ReadPins, Shape};
use crate::blocks::hop_monitor::HopMonitor;
use crate::blocks::idle_meter::IdleMeter;
use crate::blocks::link_sync::{self, LinkSync};
use crate::blocks::lpi_fsm::{self, LpiFsm, TimingOutputs, COPY_CODE};
use crate::blocks::memory_code;
use crate::blocks::miss_history::MissHistory;
use crate::blocks::pdt_timer::PdtTimer;
use crate::blocks::perfbound::{self, PerfBound};
use crate::config::plan::{
    AdjustableTime, HistogramKind, Policy, PortPlan, SyncPlan, HOPS_WIDTH, HOP_COUNTER_WIDTH,
    HOP_FACTOR_FRACTION,
};
use crate::hdl::prelude::*;

/// Where requests to a port's registers come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// From the port's own AXI4-Lite pins.
    AxiLite,
    /// From an AXI4-Lite port that several ports share.
    Shared,
    /// From the port's own AXI4-Lite pins, in a port of Ethernet: its shim takes the times of the link from
    /// pins of the port.
    Ethernet,
}

block! {
    /// The port controller: joins the blocks (`docs/how/controller.md`). Its pins are those of
    /// [`pins`].
    pub struct Port(clk, rst);

    /// The port controller of `plan`, whose registers, if it has any, are reached by `access`.
    pub fn with_access(plan: &PortPlan, access: Access) {
        let registers = plan.registers.is_some();
        let own_axi = registers && access != Access::Shared;
        let shared = registers && access == Access::Shared;
        let shape = Shape::of(plan);
        let counts_bins = registers && plan.reads_bins();
        let rate = plan.budget.rate.filter(|_| plan.predicts());
        let t_w_bits = plan.budget.rate.map_or(1, |rate| rate.t_w_bits);
        // Only a rate that is computed takes it.
        let t_w_last = plan.budget.rate.map_or(0, |_| plan.t_w() - 1);
        let rate_reset = match plan.budget.rate {
            Some(_) => plan.budget.product.map_or(0, |product| product.k),
            None => 0,
        };
        let times = plan.adjustable_times();
        let tells_times =
            access == Access::Ethernet && plan.per_direction() && !times.is_empty();
        let link_time = lpi_fsm::time_width(plan);
        let width = plan.time_width;
        let predicts = plan.predicts();
        let corrects = plan.corrects();
        let numbers = Arithmetic::new(plan);
        let kind = plan.histogram.kind;
        let agrees = plan.messages().is_some();
        let levels = plan.sync == SyncPlan::Levels;
        let per_direction = plan.per_direction();
        let controlled = plan.control_pins;
        let receives = plan.counts_lpi();
        let coded = plan.codes_memories();
        let sync_error = if controlled {
            "the other end did not answer in time, once since the error was cleared"
        } else {
            "the other end once did not answer in time"
        };
    }

    about(
        "port",
        "Power controller of one end of a link. It watches the port's activity,\n\
         powers the link down when the port has been idle for longer than the\n\
         power-down threshold t_pdt, and forbids transmission while the link is not\n\
         awake. All outputs come from registers alone.",
    )

    {
        pub in queue_nonempty: Bit("the output queue holds a packet"),
        pub in transmitting: Bit("a packet is leaving over the link"),
        pub in receiving: Bit("a packet is arriving over the link") if !per_direction,
        pub in packet_valid: Bit("one cycle per packet sent"),
        pub in packet_hops: Bits(HOPS_WIDTH, "hop count of that packet"),
        pub in sleep_permit: Bit("the other end is idle, and nothing is on its way from there") if levels,
        pub in remote_down: Bit("the other end goes down or sleeps, its last packet is here") if levels,
        pub in remote_up: Bit("the other end has a packet, and an end is not awake") if levels,
        pub in initiator: Bit("strap, 1 at one end: its request goes on if two cross") if agrees,
        pub in message_in: Bits(
            pins::MESSAGE_WIDTH, "0 none, 1 REQ_DOWN, 2 REQ_UP, 3 ACK, 4 NACK, 5 SYNC"
        ) if agrees,
        pub in enable: Bit("the link may go to sleep") if controlled,
        pub in force_wake: Bit("the link is to wake, and to stay awake") if controlled,
        pub in link_up: Bit("the PHY has a link") if controlled,
        pub in clear_error: Bit("sync_error is cleared") if controlled && agrees,
        pub in rx_lpi: Bit("for software: the other end sends low power idle") if receives,
        pub in lpi_active: Bit("for software: this end sends it") if receives,
        pub in lpi_error: Bit(
            "for software: the other end does so malformed, or a frame comes right behind it"
        ) if receives,
        pub in early_start: Bit("for software: a frame is sent before the other end is awake") if receives,
        choice receives(receives), // software learns of low power idle from the shims
        pub in inject_upset: Bits(
            COPY_CODE, "a test of the copies of registers: 1 to 3: that one is stored wrong, 0: none"
        ) if plan.triple_redundancy,
        pub out upset: Bit(
            "a copy of a register differed from the two others, which outvoted it"
        ) if plan.triple_redundancy,
        pub out memory_upset: Bits(
            2, "one cycle after words of memories with wrong bits were read: 1, put right; 2, not"
        ) if coded,
        pub out tx_enable: Bit("the port may start a packet"),
        pub out power_state: Bits(
            3, "0 wake, 1 going down, 2 fast wake, 3 deep sleep, 4 refresh, 5 going up"
        ),
        pub out lpi_request: Bit("low power idle is to be sent") if per_direction,
        pub out t_s_in_force: Bits(
            link_time, "t_s in force, in clock cycles, less one"
        ) if tells_times,
        pub out t_w_in_force: Bits(
            link_time, "t_w in force, in clock cycles, less one"
        ) if tells_times,
        choice tells_times(tells_times), // the shim of Ethernet takes the times of the link
        pub out hit: Bit("an idle period ended, the link stayed awake"),
        pub out miss: Bit("an idle period ended, the link had left wake"),
        pub out t_pdt: Bits(width, "threshold in force, in ticks"),
        pub out update: Bit("there is a new threshold") if predicts,
        pub out t_pb: Bits(width, "PerfBound's threshold, in ticks") if predicts,
        pub out window: Bits(width, "window it was computed for, in ticks") if predicts,
        pub out budget: Bits(plan.budget.width, "packets that may be delayed in it") if predicts,
        pub out log2_cf: Bits(
            numbers.log2_cf_bits(),
            format!("log2 of the correction factor, two's complement, {} fraction bits", numbers.fraction),
        ) if corrects,
        pub out message_out: Bits(
            pins::MESSAGE_WIDTH, "coded as message_in, each for one cycle"
        ) if agrees,
        pub out sync_error: Bit(sync_error) if agrees,
        // The registers' own AXI4-Lite pins.
        pub pins s_axi: AxiPins(map::PAGE_BITS) if own_axi,
        // Or requests from an AXI4-Lite port that several ports share.
        pub flat shared: RegisterPins(WORD_BITS, ASKED, "") if shared,
        pub out error_flag: Bit("an error flag is set") if shared,
        pub out irq: Bit("an event that software has enabled has happened") if registers,
        choice registers(registers), // software sets the parameters
        choice adjusts(!times.is_empty()), // the times of the link among them
        choice own_axi(own_axi), // through pins of this port
        choice reads_bins(counts_bins), // software reads the histogram
        choice ages(registers && plan.ages()), // and decides when it is due
        choice accumulates(plan.budget.product.is_none()), // the budget grows with the window
        constant bound: Bits(32, rate.map_or(0, |rate| rate.bound).into(), "bound, times 2^32"),
        constant t_w_last: Bits(t_w_bits, t_w_last.into(), "t_w in clock cycles, less one"),
        constant factor_shift: Bits(
            4, (31 - HOP_FACTOR_FRACTION).into(), "from the hop monitor's units to 2^-31"
        ),
        choice reads(plan.reads_bins()), // the histogram is read word by word
        choice measures(plan.measures() && !registers), // the budget takes the measured hop factor
        constant policy_fixed: Bits(2, map::policy_code(Policy::Fixed).into(), "the policy fixed"),
        constant policy_corrected: Bits(
            2, map::policy_code(Policy::PerfBoundCorrect).into(), "the policy perfbound-correct"
        ),
        constant policy_always_on: Bits(
            2, map::policy_code(Policy::AlwaysOn).into(), "the policy always-on"
        ),
        constant place_bits: Number(shape.place, "bits of a bin's place in its group"),
        child axi_lite: AxiLite(map::PAGE_BITS) if own_axi,
        child csr: Csr(plan) if registers,
        child hop_monitor: HopMonitor(
            plan.hop_window_log2, HOP_COUNTER_WIDTH, memory_code(plan)
        ) if registers || plan.measures(),
        child budget_rate: BudgetRate(&rate, rate_reset, !registers) for rate in (rate),
        local read_group: Bits(shape.group, "group of bins to read"),
        local read_place: Bits(shape.place, "bin in it to read"),
        local read_taken: Bit("a sample takes the place of what is to be read"),
        local bin_read: Bits(map::bin_count_width(plan), "what the bin weighs"),
        alias read: ReadPins(&shape),
        alias found: FoundPins(&shape, ""),
        alias bin_wanted: Bits(),
        alias t_pb_found: Bits(),
        alias hop_factor: Bits(),
        choice sleeps(plan.policy != Policy::AlwaysOn), // the port powers down by itself
        choice predicts(predicts), // the threshold is predicted
        choice corrects(corrects), // the prediction is corrected
        choice agrees(agrees), // the ends agree by messages
        choice controlled(controlled), // pins say whether the link may sleep, and whether there is one
        choice per_direction(per_direction), // the direction sent on sleeps for itself
        choice votes(plan.triple_redundancy), // registers are kept in three copies
        choice coded(coded), // memories have a code
        local link_upset: Bit("a copy of a register of the states differs") if plan.triple_redundancy,
        local histogram_upset: Bits(2, "wrong bits in the words of the histogram"),
        local history_upset: Bits(2, "in those of the history of misses"),
        local registers_upset: Bits(2, "in those of counters that software reads"),
        reg memory_upset_now: Bits(2, 0, "wrong bits in words of a memory") if coded,
        constant fixed_t_pdt: Bits(width, plan.t_pdt_init.into(), "the threshold, in ticks"),
        local active: Bit("the port is active"),
        local expires: Bit("the power-down timer of a port that sleeps expires"),
        local overdue: Bit("it expired earlier in this idle period"),
        local first_expiry: Bit("it expires for the first time, in a link that is awake"),
        local due: Bit("it expires, or has expired in this idle period"),
        local may_sleep: Bit("the control pins let an awake link go down"),
        local permitted: Bit("so does the guard, if there is one"),
        local wants_awake: Bit("a packet, or a control pin, wants the link awake"),
        local waits_with_link: Bit("so it does, and there is a link"),
        local pins_permit: Bit("the control pins let an awake link go down, as the claims see it"),
        local all_permit: Bit("control pins, and the guard or the other end, permit to sleep"),
        local state_for_guard: Bits(3, "power_state, 0 while the link recovers"),
        local awake_for_guard: Bit("nobody waits for the end of a sleep"),
        reg recovers: Bit(true, "the link was lost, or never there, and is not awake since"),
        local down_start: Bit("the link goes down at the end of this cycle"),
        local sync_timeout: Bits(staged_width(&times), "longest wait for a message, less one"),
        reg hit_now: Bit(false, "an idle period ended, the link stayed awake"),
        reg miss_now: Bit(false, "an idle period ended, the link had left wake"),
        reg left_wake: Bit(false, "the link has left wake in this idle period"),
        child idle_meter: IdleMeter(plan),
        child pdt_timer: PdtTimer(plan),
        child lpi_fsm: LpiFsm(plan),
        child link_sync: LinkSync(plan, &sync) for sync in (plan.messages()),
        choice guarded(plan.guard.is_some()), // a guard permits to sleep
        choice guard_adjusts(plan.guard.is_some_and(|guard| guard.adjustable)), // its rate changes at run time
        child guard: Guard(plan, &guard) for guard in (plan.guard),
        choice is_regular(kind == HistogramKind::Regular), // the counters halve when one is full
        choice is_circular(kind == HistogramKind::Circular), // the histogram holds the last samples
        choice is_decaying(kind == HistogramKind::Decaying), // the counters halve from time to time
        choice is_map(kind == HistogramKind::Map), // the histogram holds populated bins only
        child bin_meter: BinMeter(plan) if predicts,
        child regular: RegularHistogram(plan) if predicts && kind == HistogramKind::Regular,
        child clearing: ClearingHistogram(plan) if predicts && kind == HistogramKind::Clearing,
        child circular: CircularHistogram(plan) if predicts && kind == HistogramKind::Circular,
        child decaying: DecayingHistogram(plan) if predicts && kind == HistogramKind::Decaying,
        child map: MapHistogram(plan) if predicts && kind == HistogramKind::Map,
        child perfbound: PerfBound(plan) if predicts,
        constant t_pb_zeros: Number(numbers.t_pb_zeros, "low bits of t_pb that are always 0"),
        child miss_history: MissHistory(plan) if corrects,
        child corrector: Corrector(plan) if corrects,
        number _t_pb_bits(numbers.t_pb_bits),
        number _timeout_bits((plan.messages()).map_or(1, |sync| link_sync::count_bits(plan, &sync))),
        // For the proofs (docs/evidence/proofs.md).
        property times_within_limits(
            "No time of the link, staged or in force, is beyond what software may set."
        ) if !times.is_empty(),
        property bucket_within_limits(
            "The guard's bucket, staged or in force, has room for a token, and no more than it was built for."
        ) if registers && plan.guard.is_some(),
        constant most_tokens: Bits(
            token_bits(plan),
            plan.guard.map_or(1, |guard| guard.burst).into(),
            "tokens that the guard was built for",
        ),
        number _times(times.len() as u32),
        constant least_time[time in times.iter()]: limit(time.least, &times, "least", time),
        constant most_time[time in times.iter()]: limit(time.most, &times, "most", time),
        invariant history_apart(
            "The idle periods under way to the history of misses ended in cycles that do not follow \
             each other, and its misses are some of them."
        ) if corrects,
        property sends_awake_only("Nothing is transmitted unless the link is awake."),
        section control_claims: ControlClaims(plan) if controlled,
        section wait_claims: WaitClaims(plan, &sync) for sync in (plan.messages()),
        choice bounded(SleepBound::of(plan).is_some()), // there is a bound on the time to sleep
        section rest_claims: RestClaims(plan, &bound) for bound in (SleepBound::of(plan)),
        choice bucket(plan.guard.is_some_and(|guard| !guard.adjustable)), // the guard's rate never changes
        section guard_claims: GuardClaims(
            plan, &guard
        ) for guard in (plan.guard.filter(|guard| !guard.adjustable)),
    }
}

fn limit(cycles: u64, all: &[AdjustableTime], what: &str, time: &AdjustableTime) -> Constant<Bits> {
    let doc = format!("{what} {}", time.time.name());
    Constant::bits(staged_width(all), cycles.into(), doc)
}

/// Clock cycles from the first active cycle after an idle period to the new threshold, at
/// most, if no further idle period ends before.
pub fn update_latency(plan: &PortPlan) -> u64 {
    if plan.corrects() {
        corrector::latency(plan)
    } else {
        perfbound::update_latency(plan)
    }
}

/// Clock cycles between two new thresholds, at most, under the hardest traffic (SPEC 10).
pub fn update_interval_at_line_rate(plan: &PortPlan) -> u64 {
    if plan.corrects() {
        corrector::interval_at_line_rate(plan)
    } else {
        perfbound::update_interval_at_line_rate(plan)
    }
}

impl Port {
    /// The port controller of `plan`; its registers, if it has any, have AXI4-Lite pins.
    pub fn new(plan: &PortPlan) -> Self {
        Self::with_access(plan, Access::AxiLite)
    }
}

impl Logic for Port {
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
        } else if self.per_direction {
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
        } else {
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
        if self.votes {
            self.lpi_fsm.upsets.inject_upset.next = self.inject_upset.val();
            self.link_upset.next = self.lpi_fsm.upsets.upset.val();
            if self.agrees {
                self.link_sync.upsets.inject_upset.next = self.inject_upset.val();
                self.link_upset.next =
                    self.lpi_fsm.upsets.upset.val() | self.link_sync.upsets.upset.val();
            }
            if self.registers {
                self.csr.inject_upset.next = self.inject_upset.val();
                self.upset.next = self.link_upset.val() | self.csr.copies_differ.val();
                self.csr.upset.next = self.upset.val();
            } else {
                self.upset.next = self.link_upset.val();
            }
        }
        if self.coded {
            comment!("Wrong bits in the words of any memory");
            self.histogram_upset.next = 0.into();
            if self.predicts {
                if self.is_circular {
                    self.histogram_upset.next = self.circular.memory_upset.val();
                } else if self.is_decaying {
                    self.histogram_upset.next = self.decaying.memory_upset.val();
                } else if self.is_regular {
                    self.histogram_upset.next = self.regular.memory_upset.val();
                } else if !self.is_map {
                    self.histogram_upset.next = self.clearing.memory_upset.val();
                }
            }
            self.history_upset.next = 0.into();
            if self.corrects {
                self.history_upset.next = self.miss_history.memory_upset.val();
            }
            self.registers_upset.next = 0.into();
            if self.registers {
                self.registers_upset.next =
                    self.hop_monitor.memory_upset.val() | self.csr.counters_upset.val();
                self.csr.memory_upset.next = self.memory_upset_now.q.val();
            }
            self.memory_upset_now.d.next =
                self.histogram_upset.val() | self.history_upset.val() | self.registers_upset.val();
            self.memory_upset.next = self.memory_upset_now.q.val();
        }
        self.lpi_fsm.down_start.next = self.down_start.val();
        self.power_state.next = self.lpi_fsm.power_state.val();

        comment!("A miss is an idle period in which the link left wake, for whatever reason.");
        self.left_wake.d.next =
            !self.active.val() & (self.left_wake.q.val() | self.lpi_fsm.leaving.val());
        self.hit_now.d.next = self.idle_meter.ended.val() & !self.left_wake.q.val();
        self.miss_now.d.next = self.idle_meter.ended.val() & self.left_wake.q.val();
        self.hit.next = self.hit_now.q.val();
        self.miss.next = self.miss_now.q.val();

        if self.predicts {
            self.t_pb_found.next = self.perfbound.t_pb.val();
            self.bin_meter.active.next = self.active.val();
            self.bin_meter.tick.next = self.idle_meter.tick.val();
            self.bin_meter.ticks.next = self.idle_meter.ticks.val();

            self.perfbound.ended.next = self.idle_meter.ended.val();
            if self.reads_bins {
                self.bin_wanted.next = self.csr.fetch.bin.val();
                comment!("When the search does not read, the registers may.");
                if self.perfbound.searches.val() {
                    self.read_group.next = self.perfbound.read_group.val();
                    self.read_place.next = self.perfbound.read_place.val();
                } else {
                    self.read_group.next = bit_cast(
                        self.bin_wanted.val() >> self.place_bits.val(),
                        &self.read_group,
                    );
                    self.read_place.next = bit_cast(self.bin_wanted.val(), &self.read_place);
                }
            } else if self.reads {
                self.read_group.next = self.perfbound.read_group.val();
                self.read_place.next = self.perfbound.read_place.val();
            }
            self.read.read_group.next = self.read_group.val();
            self.read.read_place.next = self.read_place.val();
            if self.is_circular {
                self.circular.ended.next = self.idle_meter.ended.val();
                self.circular.ticks.next = self.idle_meter.ticks.val();
                self.circular.sample_bin.next = self.bin_meter.bin.val();
                ReadPins::link(&mut self.read, &mut self.circular.read);
                FoundPins::link(&mut self.found, &mut self.circular.found);
                self.perfbound.live_window.next = self.circular.window.val();
                if self.accumulates {
                    self.perfbound.window_step.next = self.circular.step.val();
                }
            } else if self.is_decaying {
                self.decaying.ended.next = self.idle_meter.ended.val();
                self.decaying.sample_bin.next = self.bin_meter.bin.val();
                ReadPins::link(&mut self.read, &mut self.decaying.read);
                FoundPins::link(&mut self.found, &mut self.decaying.found);
                self.perfbound.live_window.next = self.decaying.window.val();
                if self.ages {
                    self.decaying.ttl.next = self.csr.aging.ttl.val();
                    self.decaying.max_samples.next = self.csr.aging.max_samples.val();
                    self.decaying.renew.next = self.csr.aging.restart.val();
                    self.csr.aging.restarted.next = self.decaying.renewed.val();
                }
            } else if self.is_map {
                self.map.ended.next = self.idle_meter.ended.val();
                self.map.active.next = self.active.val();
                self.map.grows.next = self.bin_meter.grows.val();
                self.map.budget.next = self.perfbound.budget.val();
                self.perfbound.cleared.next = self.map.cleared.val();
                self.perfbound.sample_bin.next = self.bin_meter.bin.val();
                self.perfbound.live_window.next = self.map.age.val();
                if self.accumulates {
                    self.perfbound.window_step.next = self.map.step.val();
                }
                if self.ages {
                    self.map.ttl.next = self.csr.aging.ttl.val();
                    self.map.max_samples.next = self.csr.aging.max_samples.val();
                    self.map.renew.next = self.csr.aging.restart.val();
                    self.csr.aging.restarted.next = self.map.cleared.val();
                }
                self.perfbound.map_found.next = self.map.found.val();
            } else if self.is_regular {
                self.regular.ended.next = self.idle_meter.ended.val();
                self.regular.sample_bin.next = self.bin_meter.bin.val();
                self.regular.answers.next = self.perfbound.update.val();
                ReadPins::link(&mut self.read, &mut self.regular.read);
                FoundPins::link(&mut self.found, &mut self.regular.found);
                self.perfbound.halved.next = self.regular.halved.val();
                self.perfbound.live_window.next = self.regular.window.val();
            } else {
                self.clearing.ended.next = self.idle_meter.ended.val();
                self.clearing.sample_bin.next = self.bin_meter.bin.val();
                ReadPins::link(&mut self.read, &mut self.clearing.read);
                FoundPins::link(&mut self.found, &mut self.clearing.found);
                self.perfbound.live_window.next = self.clearing.age.val();
                if self.accumulates {
                    self.perfbound.window_step.next = self.clearing.step.val();
                }
                if self.ages {
                    self.clearing.ttl.next = self.csr.aging.ttl.val();
                    self.clearing.max_samples.next = self.csr.aging.max_samples.val();
                    self.clearing.renew.next = self.csr.aging.restart.val();
                    self.csr.aging.restarted.next = self.clearing.cleared.val();
                }
                self.perfbound.cleared.next = self.clearing.cleared.val();
                self.perfbound.sample_bin.next = self.bin_meter.bin.val();
            }
            if self.reads {
                self.read_taken.next = self.found.taken.val();
                self.bin_read.next = bit_cast(self.found.bin_count.val(), &self.bin_read);
                self.perfbound.taken.next = self.found.taken.val();
                self.perfbound.group_sum.next = self.found.group_sum.val();
                self.perfbound.bin_count.next = self.found.bin_count.val();
                self.perfbound.arrived.next = self.found.arrived.val();
            }

            if self.corrects {
                self.miss_history.ended.next = self.idle_meter.ended.val();
                self.miss_history.miss.next = self.left_wake.q.val();
                self.miss_history.ticks.next = self.idle_meter.ticks.val();
                self.miss_history.t_pdt_in_force.next = self.pdt_timer.t_pdt_in_force.val();

                self.corrector.t_pb_new.next = self.perfbound.update.val();
                self.corrector.t_pb.next = bit_cast(
                    self.t_pb_found.val() >> self.t_pb_zeros.val(),
                    self._t_pb_bits,
                );
                self.corrector.sum.next = self.miss_history.sum.val();
                self.corrector.misses.next = self.miss_history.misses.val();
                self.corrector.under_way.next = self.miss_history.under_way.val();
                self.log2_cf.next = self.corrector.log2_cf.val();
                self.update.next = self.corrector.update.val();
            } else {
                self.update.next = self.perfbound.update.val();
            }
            self.t_pb.next = self.perfbound.t_pb.val();
            self.window.next = self.perfbound.window.val();
            self.budget.next = self.perfbound.budget.val();
        }

        if self.measures {
            comment!("The hop factor of the packets sent makes the rate of the budget.");
            self.hop_monitor.packet_valid.next = self.packet_valid.val();
            self.hop_monitor.packet_hops.next = self.packet_hops.val();
            self.hop_monitor.clear.next = false;
            self.hop_monitor.read_hops.next = 0.into();
            self.budget_rate.start.next = self.hop_monitor.measured.val();
            self.budget_rate.bound.next = self.bound.val();
            self.hop_factor.next = self.hop_monitor.factor.val();
            self.budget_rate.hop_factor.next =
                bit_cast(self.hop_factor.val(), 32) << self.factor_shift.val();
            self.budget_rate.t_w_last.next = self.t_w_last.val();
            self.perfbound.rate.next = self.budget_rate.rate.val();
        }

        if self.registers {
            if self.own_axi {
                AxiPins::link(&mut self.s_axi, &mut self.axi_lite.axi);
                RegisterPins::join(&mut self.csr.access, &mut self.axi_lite.registers);
            } else {
                RegisterPins::link(&mut self.shared, &mut self.csr.access);
                self.error_flag.next = self.csr.error_flag.val();
            }

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

            self.hop_monitor.packet_valid.next = self.packet_valid.val();
            self.hop_monitor.packet_hops.next = self.packet_hops.val();
            self.hop_monitor.clear.next = self.csr.clear_counts.val();
            self.hop_monitor.read_hops.next = self.csr.hop_index.val();
            self.csr.hop_count.next = self.hop_monitor.count.val();
            self.csr.hop_factor.next = self.hop_monitor.factor.val();
            self.csr.hop_measured.next = self.hop_monitor.measured.val();

            if self.predicts {
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
