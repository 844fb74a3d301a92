//! The port controller: one per switch port or NIC port.

#[cfg(test)]
mod both_ends_tests;
mod claimed;
mod claims;
pub mod controller;
pub mod golden;
mod link;
pub mod model;
pub mod pins;
mod prediction;
#[cfg(test)]
mod register_tests;
mod registers;
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
use crate::blocks::guard::{token_bits, Guard};
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
use crate::blocks::lpi_fsm::{self, LpiFsm, COPY_CODE};
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
        choice levels(levels), // the ends agree by levels
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

pieces! {
    impl Logic for Port {
        Activity,
        Threshold,
        Expiry,
        Guarding,
        ByMessages,
        ByDirection,
        ByLevels,
        Copies,
        Codes,
        Transitions,
        Search,
        Histogram,
        Found,
        Correction,
        Prediction,
        MeasuredHops,
        Requests,
        Events,
        HopCounts,
        PredictionRegisters,
        OwnClaims,
        ForClaims,
        ForWaitClaims,
        ForControlClaims,
        ForRestClaims,
        ForGuardClaims,
    }
}

/// The votes of registers that are kept in three copies.
impl Piece<Copies> for Port {
    #[hdl_gen]
    fn update(&mut self) {
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
    }
}

/// What the codes of the memories found.
impl Piece<Codes> for Port {
    #[hdl_gen]
    fn update(&mut self) {
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
    }
}
