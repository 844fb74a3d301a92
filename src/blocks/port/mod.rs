//! The port controller: one per switch port or NIC port.

pub mod golden;
pub mod model;
pub mod pins;
#[cfg(test)]
mod register_tests;
#[cfg(test)]
pub(crate) mod tests;

use crate::blocks::axi_lite::{AxiLite, DATA_WIDTH};
use crate::blocks::budget_rate::BudgetRate;
use crate::blocks::corrector::{self, Corrector};
use crate::blocks::csr::{map, Csr, WORD_BITS};
use crate::blocks::fixed_point::Arithmetic;
use crate::blocks::guard::Guard;
use crate::blocks::histogram::bin_meter::BinMeter;
use crate::blocks::histogram::circular::CircularHistogram;
use crate::blocks::histogram::clearing::ClearingHistogram;
use crate::blocks::histogram::decaying::DecayingHistogram;
use crate::blocks::histogram::map::MapHistogram;
use crate::blocks::histogram::regular::RegularHistogram;
use crate::blocks::histogram::Shape;
use crate::blocks::hop_monitor::HopMonitor;
use crate::blocks::idle_meter::IdleMeter;
use crate::blocks::link_sync::{self, Exchange, LinkSync};
use crate::blocks::lpi_fsm::{Link, LpiFsm};
use crate::blocks::miss_history::MissHistory;
use crate::blocks::pdt_timer::PdtTimer;
use crate::blocks::perfbound::{self, PerfBound};
use crate::config::plan::{
    GuardPlan, HistogramKind, Policy, PortPlan, RatePlan, RegistersPlan, Sleep, SyncPlan,
    HOP_FACTOR_FRACTION, HOP_WINDOW_LOG2,
};
use crate::hdl::prelude::*;
use rust_hdl_core::direction::Direction;

/// Where requests to a port's registers come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// From the port's own AXI4-Lite pins.
    AxiLite,
    /// From an AXI4-Lite port that several ports share.
    Shared,
}

/// The port controller: joins the blocks (`docs/controller.md`). Its pins are those of
/// [`pins`].
#[derive(LogicBlock)]
pub struct Port {
    about: About,
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub queue_nonempty: Signal<In, Bit>,
    pub transmitting: Signal<In, Bit>,
    pub receiving: Signal<In, Bit>,
    pub packet_valid: Signal<In, Bit>,
    pub packet_hops: Signal<In, Bits>,
    pub sleep_permit: Optional<Signal<In, Bit>>,
    pub remote_down: Optional<Signal<In, Bit>>,
    pub remote_up: Optional<Signal<In, Bit>>,
    pub initiator: Optional<Signal<In, Bit>>,
    pub message_in: Optional<Signal<In, Bits>>,
    pub tx_enable: Signal<Out, Bit>,
    pub power_state: Signal<Out, Bits>,
    pub hit: Signal<Out, Bit>,
    pub miss: Signal<Out, Bit>,
    pub t_pdt: Signal<Out, Bits>,
    pub update: Optional<Signal<Out, Bit>>,
    pub t_pb: Optional<Signal<Out, Bits>>,
    pub window: Optional<Signal<Out, Bits>>,
    pub budget: Optional<Signal<Out, Bits>>,
    pub log2_cf: Optional<Signal<Out, Bits>>,
    pub message_out: Optional<Signal<Out, Bits>>,
    pub sync_error: Optional<Signal<Out, Bit>>,
    // The registers' own AXI4-Lite pins.
    pub s_axi_awvalid: Optional<Signal<In, Bit>>,
    pub s_axi_awready: Optional<Signal<Out, Bit>>,
    pub s_axi_awaddr: Optional<Signal<In, Bits>>,
    pub s_axi_awprot: Optional<Signal<In, Bits>>,
    pub s_axi_wvalid: Optional<Signal<In, Bit>>,
    pub s_axi_wready: Optional<Signal<Out, Bit>>,
    pub s_axi_wdata: Optional<Signal<In, Bits>>,
    pub s_axi_wstrb: Optional<Signal<In, Bits>>,
    pub s_axi_bvalid: Optional<Signal<Out, Bit>>,
    pub s_axi_bready: Optional<Signal<In, Bit>>,
    pub s_axi_bresp: Optional<Signal<Out, Bits>>,
    pub s_axi_arvalid: Optional<Signal<In, Bit>>,
    pub s_axi_arready: Optional<Signal<Out, Bit>>,
    pub s_axi_araddr: Optional<Signal<In, Bits>>,
    pub s_axi_arprot: Optional<Signal<In, Bits>>,
    pub s_axi_rvalid: Optional<Signal<Out, Bit>>,
    pub s_axi_rready: Optional<Signal<In, Bit>>,
    pub s_axi_rdata: Optional<Signal<Out, Bits>>,
    pub s_axi_rresp: Optional<Signal<Out, Bits>>,
    // Or requests from an AXI4-Lite port that several ports share.
    pub request: Optional<Signal<In, Bit>>,
    pub write: Optional<Signal<In, Bit>>,
    pub word: Optional<Signal<In, Bits>>,
    pub write_data: Optional<Signal<In, Bits>>,
    pub write_strobe: Optional<Signal<In, Bits>>,
    pub read_data: Optional<Signal<Out, Bits>>,
    pub answer: Optional<Signal<Out, Bits>>,
    pub error_flag: Optional<Signal<Out, Bit>>,
    registers: Constant<Bit>,
    own_axi: Constant<Bit>,
    reads_bins: Constant<Bit>,
    ages: Constant<Bit>,
    accumulates: Constant<Bit>,
    bound: Constant<Bits>,
    sleeps_deep: Constant<Bit>,
    factor_shift: Constant<Bits>,
    reads: Constant<Bit>,
    measures: Constant<Bit>,
    policy_fixed: Constant<Bits>,
    policy_corrected: Constant<Bits>,
    policy_always_on: Constant<Bits>,
    place_bits: Constant<Bits>,
    axi_lite: Optional<AxiLite>,
    csr: Optional<Csr>,
    hop_monitor: Optional<HopMonitor>,
    budget_rate: Optional<BudgetRate>,
    read_group: Signal<Local, Bits>,
    read_place: Signal<Local, Bits>,
    read_taken: Signal<Local, Bit>,
    bin_read: Signal<Local, Bits>,
    sleeps: Constant<Bit>,
    predicts: Constant<Bit>,
    corrects: Constant<Bit>,
    agrees: Constant<Bit>,
    fixed_t_pdt: Constant<Bits>,
    active: Signal<Local, Bit>,
    expires: Signal<Local, Bit>,
    overdue: Signal<Local, Bit>,
    down_start: Signal<Local, Bit>,
    hit_now: Reg<Bit>,
    miss_now: Reg<Bit>,
    left_wake: Reg<Bit>,
    idle_meter: IdleMeter,
    pdt_timer: PdtTimer,
    lpi_fsm: LpiFsm,
    link_sync: Optional<LinkSync>,
    guarded: Constant<Bit>,
    guard_adjusts: Constant<Bit>,
    guard: Optional<Guard>,
    is_regular: Constant<Bit>,
    is_circular: Constant<Bit>,
    is_decaying: Constant<Bit>,
    is_map: Constant<Bit>,
    bin_meter: Optional<BinMeter>,
    regular: Optional<RegularHistogram>,
    clearing: Optional<ClearingHistogram>,
    circular: Optional<CircularHistogram>,
    decaying: Optional<DecayingHistogram>,
    map: Optional<MapHistogram>,
    perfbound: Optional<PerfBound>,
    _group_bits: usize,
    _place_bits: usize,
    _bin_count_bits: usize,
    t_pb_zeros: Constant<Bits>,
    miss_history: Optional<MissHistory>,
    corrector: Optional<Corrector>,
    _t_pb_bits: usize,
    // For the proofs (docs/proofs.md).
    sends_awake_only: Reg<Bit>,
    wait_bounded: Optional<Reg<Bit>>,
    commitment_kept: Optional<Reg<Bit>>,
    exchange_fits: Optional<Reg<Bit>>,
    exchange_timed: Optional<Reg<Bit>>,
    wait_in_exchange: Optional<Reg<Bit>>,
    wait_in_transition: Optional<Reg<Bit>>,
    waiting: Reg<Bits>,
    to_wake: Signal<Local, Bit>,
    count: Signal<Local, Bits>,
    age: Signal<Local, Bits>,
    message_wait: Constant<Bits>,
    half_wait: Constant<Bits>,
    start_wait: Constant<Bits>,
    ask_wait: Constant<Bits>,
    await_wait: Constant<Bits>,
    sync_wait: Constant<Bits>,
    rise_wait: Constant<Bits>,
    longest_wait: Constant<Bits>,
    _wait_bits: usize,
    // That a link sleeps whose ends stay idle; `bounded`: the configuration has such a bound.
    bounded: Constant<Bit>,
    sleeps_in_time: Optional<Reg<Bit>>,
    threshold_in_range: Optional<Reg<Bit>>,
    prediction_in_range: Optional<Reg<Bit>>,
    correction_in_range: Optional<Reg<Bit>>,
    timer_ahead: Optional<Reg<Bit>>,
    idle_counted: Optional<Reg<Bit>>,
    divides: Constant<Bit>,
    tick_under_way: Optional<Reg<Bit>>,
    rest_is_idle: Optional<Reg<Bit>>,
    rest_in_exchange: Optional<Reg<Bit>>,
    idle_cycles: Optional<Reg<Bits>>,
    rest: Optional<Reg<Bits>>,
    unhindered: Optional<Reg<Bit>>,
    backstop_now: Signal<Local, Bits>,
    backstop_ahead: Signal<Local, Bit>,
    timer_over: Signal<Local, Bit>,
    at_rest: Signal<Local, Bit>,
    elapsed: Signal<Local, Bits>,
    exchange_count: Signal<Local, Bits>,
    clocks_per_tick: Constant<Bits>,
    longest_threshold: Constant<Bits>,
    backstop_ticks: Constant<Bits>,
    longest_prediction: Constant<Bits>,
    longest_idle: Constant<Bits>,
    rest_before: Constant<Bits>,
    rest_asked: Constant<Bits>,
    rest_synced: Constant<Bits>,
    rest_timeout: Constant<Bits>,
    longest_rest: Constant<Bits>,
    _rest_bits: usize,
    // That the guard keeps its bound, and has a token in time; `bucket`: its rate never changes.
    bucket: Constant<Bit>,
    guard_kept: Optional<Reg<Bit>>,
    bucket_fits: Optional<Reg<Bit>>,
    debt_is_missing: Optional<Reg<Bit>>,
    token_before_sleep: Optional<Reg<Bit>>,
    ticks_agree: Optional<Reg<Bit>>,
    token_in_time: Optional<Reg<Bit>>,
    refill_counted: Optional<Reg<Bit>>,
    awake_counted: Optional<Reg<Bit>>,
    rest_is_awake: Optional<Reg<Bit>>,
    debt: Optional<Reg<Bits>>,
    waited: Optional<Reg<Bit>>,
    tick_clocks: Optional<Reg<Bits>>,
    awake_ticks: Optional<Reg<Bits>>,
    awake_cycles: Optional<Reg<Bits>>,
    tick_ends: Signal<Local, Bit>,
    debt_left: Signal<Local, Bits>,
    no_tokens: Constant<Bits>,
    last_tick_clock: Constant<Bits>,
    debt_gain: Constant<Bits>,
    debt_token: Constant<Bits>,
    guard_burst: Constant<Bits>,
    debt_limit: Constant<Bits>,
    token_wait_ticks: Constant<Bits>,
    token_wait: Constant<Bits>,
    _debt_bits: usize,
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

/// How long an end that stays idle in an awake link can take to leave `Wake`, in clock cycles
/// (SPEC 3); see [`SleepBound::of`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SleepBound {
    /// From the end of activity to the end of the tick in which the longest timer expires.
    pub timer: u64,
    /// A timer that expired in vain has been repeated by so many cycles of rest.
    repeated: u64,
    /// With a guard: within so many cycles awake its bucket holds a token.
    pub guard: u64,
    /// The wait for an answer to a request.
    wait: u64,
    /// All of it.
    pub total: u64,
}

impl SleepBound {
    /// The bound of the ports of `plan`; `None` if there is none: a port that never sleeps by
    /// itself, one without a backstop, or times beyond 2^64 cycles.
    ///
    /// With messages: the timer expires, or has expired in vain (during START, or without a token)
    /// and is repeated after a time-out; then the request is answered, or the
    /// other end counts as silent, and must stay awake.
    pub fn of(plan: &PortPlan) -> Option<Self> {
        let backstop = plan.t_backstop?;
        if plan.policy == Policy::AlwaysOn {
            return None;
        }
        let longest = plan.longest_threshold().max(backstop);
        let ticks = longest.checked_add(1)?;
        let timer = ticks.checked_mul(plan.clocks_per_tick)?;
        let Some(sync) = plan.sync else {
            return Some(Self {
                timer,
                repeated: 0,
                guard: 0,
                wait: 0,
                total: timer,
            });
        };
        let wait = sync.timeout + 1;
        let guard = match plan.guard {
            None => 0,
            Some(guard) => guard
                .ticks_to_token()?
                .checked_add(1)?
                .checked_mul(plan.clocks_per_tick)?,
        };
        let repeated = link_sync::start_cycles(plan, &sync).max(guard.checked_add(1)?);
        let total = timer.max(repeated.checked_add(wait)?).checked_add(wait)?;
        Some(Self {
            timer,
            repeated,
            guard,
            wait,
            total,
        })
    }

    /// The same of a link, both of whose ends have ports of `plan` and stay idle; with messages,
    /// over a cable of so many clock cycles one way. It leaves `Wake` at both ends at once.
    ///
    /// In place of START, a request may have been refused, or accepted and withdrawn, shortly
    /// before, or refused by a guard without a token; one that is sent while both ends are idle
    /// and have tokens is accepted.
    pub fn of_link(plan: &PortPlan, delay: u64) -> Option<u64> {
        let bound = Self::of(plan)?;
        if plan.sync.is_none() {
            return Some(bound.total);
        }
        let messages = delay.checked_mul(3)?.checked_add(3)?;
        let refused = messages
            .checked_add(1)?
            .max(bound.guard.checked_add(delay + 3)?);
        let repeated = bound.repeated.max(refused).checked_add(bound.wait)?;
        bound.timer.max(repeated).checked_add(messages)
    }
}

impl Port {
    /// The port controller of `plan`; its registers, if it has any, have AXI4-Lite pins.
    pub fn new(plan: &PortPlan) -> Self {
        Self::with_access(plan, Access::AxiLite)
    }

    /// The port controller of `plan`, whose registers, if it has any, are reached by `access`.
    pub fn with_access(plan: &PortPlan, access: Access) -> Self {
        let registers = plan.registers.is_some();
        let own_axi = registers && access == Access::AxiLite;
        let shared = registers && access == Access::Shared;
        fn axi_bit<D: Direction>(own: bool, doc: &str) -> Optional<Signal<D, Bit>> {
            Optional::when(own, Signal::bit(doc))
        }
        fn axi_bits<D: Direction>(own: bool, width: u32, doc: &str) -> Optional<Signal<D, Bits>> {
            Optional::when(own, Signal::bits(width, doc))
        }
        let shape = Shape::of(plan);
        let counts_bins = registers && plan.reads_bins();
        // What is not elaborated must be made all the same.
        let register_plan = PortPlan {
            registers: plan.registers.or(Some(RegistersPlan {
                config_hash: 0,
                period_ps: 1,
                t_pdt: 0,
            })),
            ..*plan
        };
        let rate_plan = plan.budget.rate.unwrap_or(RatePlan {
            bound: 0,
            hop_factor: 0,
            measures: false,
            inverse_fast_wake: 1,
            inverse_deep_sleep: 1,
            shift: 1,
            width: 1,
        });
        let rate_reset = match plan.budget.rate {
            Some(_) => plan.budget.product.map_or(0, |product| product.k),
            None => 0,
        };
        let width = plan.time_width;
        let predicts = plan.predicts();
        let corrects = plan.corrects();
        let numbers = Arithmetic::new(plan);
        let kind = plan.histogram.kind;
        let agrees = plan.sync.is_some();
        let level = |doc: &str| Optional::when(!agrees, Signal::bit(doc));
        // Not elaborated without the exchange of messages, whatever its time-out.
        let sync = plan.sync.unwrap_or(SyncPlan { timeout: 1 });
        // The waits that the proofs account for; SPEC 5: a wait for a message ends by a
        // time-out, so that it lasts `w` cycles.
        let w = sync.timeout + 1;
        let longest_wait = link_sync::wake_bound(plan, None).unwrap_or(0);
        let wait_bits = clog2(u128::from(longest_wait) + 2);
        let wait = |cycles: u64, doc: &str| {
            Constant::bits(wait_bits, if agrees { cycles.into() } else { 0 }, doc)
        };
        let claim = |claim: Reg<Bit>| Optional::when(agrees, claim);
        let guarded = plan.guard.is_some();
        // What is not elaborated must be made all the same.
        let guard_plan = plan.guard.unwrap_or(GuardPlan {
            burst: 1,
            numerator: 0,
            denominator: 1,
            adjustable: false,
            rate_bits: 1,
        });
        // Whole packets times the denominator of the rate.
        let bucket = guarded && !guard_plan.adjustable;
        let debt_limit = u128::from(guard_plan.burst) * guard_plan.denominator;
        let debt_bits = clog2(debt_limit + guard_plan.denominator + 1);
        let debt = |value: u128, doc: &str| Constant::bits(debt_bits, value, doc);
        let bucket_claim = |claim: Reg<Bit>| Optional::when(bucket, claim);
        let sleep_bound = SleepBound::of(plan);
        let bounded = sleep_bound.is_some();
        let bound = sleep_bound.unwrap_or(SleepBound {
            timer: 1,
            repeated: 0,
            guard: 0,
            wait: 0,
            total: 1,
        });
        // What the meter has counted may be longer than any threshold.
        let rest_bits = clog2(u128::from(bound.total) + 2)
            .max(width + clog2(u128::from(plan.clocks_per_tick) + 1))
            .max(clog2(u128::from(bound.timer) + 2));
        let rest = |cycles: u64, doc: &str| Constant::bits(rest_bits, cycles.into(), doc);
        let bounded_claim = |claim: Reg<Bit>| Optional::when(bounded, claim);
        Port {
            about: About::new(
                "port",
                "Power controller of one end of a link. It watches the port's activity,\n\
                 powers the link down when the port has been idle for longer than the\n\
                 power-down threshold t_pdt, and forbids transmission while the link is not\n\
                 awake. All outputs come from registers alone.",
            ),
            clk: Signal::clock("clock"),
            rst: Signal::bit("synchronous reset"),
            queue_nonempty: Signal::bit("the output queue holds a packet"),
            transmitting: Signal::bit("a packet is leaving over the link"),
            receiving: Signal::bit("a packet is arriving over the link"),
            packet_valid: Signal::bit("one cycle per packet sent"),
            packet_hops: Signal::bits(pins::HOPS_WIDTH, "hop count of that packet"),
            sleep_permit: level("the other end has nothing to send"),
            remote_down: level("the other end has begun to go down"),
            remote_up: level("the other end wants the link awake"),
            initiator: Optional::when(
                agrees,
                Signal::bit("strap, 1 at one end: its request goes on if two cross"),
            ),
            message_in: Optional::when(
                agrees,
                Signal::bits(
                    pins::MESSAGE_WIDTH,
                    "0 none, 1 REQ_DOWN, 2 REQ_UP, 3 ACK, 4 NACK, 5 SYNC",
                ),
            ),
            tx_enable: Signal::bit("the port may start a packet"),
            power_state: Signal::bits(
                3,
                "0 wake, 1 going down, 2 fast wake, 3 deep sleep, 4 refresh, 5 going up",
            ),
            hit: Signal::bit("an idle period ended, the link stayed awake"),
            miss: Signal::bit("an idle period ended, the link had left wake"),
            t_pdt: Signal::bits(width, "threshold in force, in ticks"),
            update: Optional::when(predicts, Signal::bit("there is a new threshold")),
            t_pb: Optional::when(
                predicts,
                Signal::bits(width, "PerfBound's threshold, in ticks"),
            ),
            window: Optional::when(
                predicts,
                Signal::bits(width, "window it was computed for, in ticks"),
            ),
            budget: Optional::when(
                predicts,
                Signal::bits(plan.budget.width, "packets that may be delayed in it"),
            ),
            log2_cf: Optional::when(
                corrects,
                Signal::bits(
                    numbers.log2_cf_bits(),
                    format!(
                        "log2 of the correction factor, two's complement, {} fraction bits",
                        numbers.fraction
                    ),
                ),
            ),
            message_out: Optional::when(
                agrees,
                Signal::bits(
                    pins::MESSAGE_WIDTH,
                    "coded as message_in, each for one cycle",
                ),
            ),
            sync_error: Optional::when(
                agrees,
                Signal::bit("the other end once did not answer in time"),
            ),
            s_axi_awvalid: axi_bit(own_axi, "there is a write address"),
            s_axi_awready: axi_bit(own_axi, "it is taken"),
            s_axi_awaddr: axi_bits(own_axi, map::PAGE_BITS, "write address in bytes"),
            s_axi_awprot: axi_bits(own_axi, 3, "not read: everybody may write"),
            s_axi_wvalid: axi_bit(own_axi, "there is data to write"),
            s_axi_wready: axi_bit(own_axi, "it is taken"),
            s_axi_wdata: axi_bits(own_axi, DATA_WIDTH, "data to write"),
            s_axi_wstrb: axi_bits(own_axi, DATA_WIDTH / 8, "which of its bytes to write"),
            s_axi_bvalid: axi_bit(own_axi, "a write is answered"),
            s_axi_bready: axi_bit(own_axi, "the answer is taken"),
            s_axi_bresp: axi_bits(own_axi, 2, "0 done, 2 refused, 3 no such register"),
            s_axi_arvalid: axi_bit(own_axi, "there is a read address"),
            s_axi_arready: axi_bit(own_axi, "it is taken"),
            s_axi_araddr: axi_bits(own_axi, map::PAGE_BITS, "read address in bytes"),
            s_axi_arprot: axi_bits(own_axi, 3, "not read: everybody may read"),
            s_axi_rvalid: axi_bit(own_axi, "a read is answered"),
            s_axi_rready: axi_bit(own_axi, "the answer is taken"),
            s_axi_rdata: axi_bits(own_axi, DATA_WIDTH, "data that was read"),
            s_axi_rresp: axi_bits(own_axi, 2, "0 done, 2 refused, 3 no such register"),
            request: axi_bit(shared, "the registers are asked in this cycle"),
            write: axi_bit(shared, "to write"),
            word: axi_bits(shared, WORD_BITS, "address in words of 32 bits"),
            write_data: axi_bits(shared, DATA_WIDTH, "data to write"),
            write_strobe: axi_bits(shared, DATA_WIDTH / 8, "which of its bytes to write"),
            read_data: axi_bits(shared, DATA_WIDTH, "data read, the cycle after the request"),
            answer: axi_bits(shared, 2, "answer, the cycle after the request"),
            error_flag: axi_bit(shared, "an error flag is set"),
            registers: Constant::bit(registers, "software sets the parameters"),
            own_axi: Constant::bit(own_axi, "through pins of this port"),
            reads_bins: Constant::bit(counts_bins, "software reads the histogram"),
            ages: Constant::bit(registers && plan.ages(), "and decides when it is due"),
            accumulates: Constant::bit(
                plan.budget.product.is_none(),
                "the budget grows with the window",
            ),
            bound: Constant::bits(32, rate_plan.bound.into(), "bound, times 2^32"),
            sleeps_deep: Constant::bit(plan.sleep != Sleep::FastWake, "t_w is that of deep sleep"),
            factor_shift: Constant::bits(
                4,
                (31 - HOP_FACTOR_FRACTION).into(),
                "from the hop monitor's units to 2^-31",
            ),
            reads: Constant::bit(plan.reads_bins(), "the histogram is read word by word"),
            measures: Constant::bit(
                plan.measures() && !registers,
                "the budget takes the measured hop factor",
            ),
            policy_fixed: Constant::bits(
                2,
                map::policy_code(Policy::Fixed).into(),
                "the policy fixed",
            ),
            policy_corrected: Constant::bits(
                2,
                map::policy_code(Policy::PerfBoundCorrect).into(),
                "the policy perfbound-correct",
            ),
            policy_always_on: Constant::bits(
                2,
                map::policy_code(Policy::AlwaysOn).into(),
                "the policy always-on",
            ),
            place_bits: Constant::bits(
                clog2(u128::from(shape.place) + 1),
                shape.place.into(),
                "bits of a bin's place in its group",
            ),
            axi_lite: Optional::when(own_axi, AxiLite::new(map::PAGE_BITS)),
            csr: Optional::when(registers, Csr::new(&register_plan)),
            hop_monitor: Optional::when(
                registers || plan.measures(),
                HopMonitor::new(HOP_WINDOW_LOG2),
            ),
            budget_rate: Optional::when(
                plan.predicts() && plan.budget.rate.is_some(),
                BudgetRate::new(&rate_plan, rate_reset),
            ),
            read_group: Signal::bits(shape.group, "group of bins to read"),
            read_place: Signal::bits(shape.place, "bin in it to read"),
            read_taken: Signal::bit("a sample takes the place of what is to be read"),
            bin_read: Signal::bits(map::bin_count_width(plan), "what the bin weighs"),
            sleeps: Constant::bit(
                plan.policy != Policy::AlwaysOn,
                "the port powers down by itself",
            ),
            predicts: Constant::bit(predicts, "the threshold is predicted"),
            corrects: Constant::bit(corrects, "the prediction is corrected"),
            agrees: Constant::bit(agrees, "the ends agree by messages"),
            fixed_t_pdt: Constant::bits(width, plan.t_pdt_init.into(), "the threshold, in ticks"),
            active: Signal::bit("the port is active"),
            expires: Signal::bit("the power-down timer of a port that sleeps expires"),
            overdue: Signal::bit("it expired earlier in this idle period"),
            down_start: Signal::bit("the link goes down at the end of this cycle"),
            hit_now: Reg::bit(false, "an idle period ended, the link stayed awake"),
            miss_now: Reg::bit(false, "an idle period ended, the link had left wake"),
            left_wake: Reg::bit(false, "the link has left wake in this idle period"),
            idle_meter: IdleMeter::new(plan),
            pdt_timer: PdtTimer::new(plan),
            lpi_fsm: LpiFsm::new(plan),
            link_sync: Optional::when(agrees, LinkSync::new(plan, &sync)),
            guarded: Constant::bit(guarded, "a guard permits to sleep"),
            guard_adjusts: Constant::bit(guard_plan.adjustable, "its rate changes at run time"),
            guard: Optional::when(guarded, Guard::new(plan, &guard_plan)),
            is_regular: Constant::bit(
                kind == HistogramKind::Regular,
                "the counters halve when one is full",
            ),
            is_circular: Constant::bit(
                kind == HistogramKind::Circular,
                "the histogram holds the last samples",
            ),
            is_decaying: Constant::bit(
                kind == HistogramKind::Decaying,
                "the counters halve from time to time",
            ),
            is_map: Constant::bit(
                kind == HistogramKind::Map,
                "the histogram holds populated bins only",
            ),
            bin_meter: Optional::when(predicts, BinMeter::new(plan)),
            regular: Optional::when(
                predicts && kind == HistogramKind::Regular,
                RegularHistogram::new(plan),
            ),
            clearing: Optional::when(
                predicts && kind == HistogramKind::Clearing,
                ClearingHistogram::new(plan),
            ),
            circular: Optional::when(
                predicts && kind == HistogramKind::Circular,
                CircularHistogram::new(plan),
            ),
            decaying: Optional::when(
                predicts && kind == HistogramKind::Decaying,
                DecayingHistogram::new(plan),
            ),
            map: Optional::when(
                predicts && kind == HistogramKind::Map,
                MapHistogram::new(plan),
            ),
            perfbound: Optional::when(predicts, PerfBound::new(plan)),
            _group_bits: shape.group as usize,
            _place_bits: shape.place as usize,
            _bin_count_bits: map::bin_count_width(plan) as usize,
            t_pb_zeros: Constant::bits(
                clog2(u128::from(numbers.t_pb_zeros) + 1),
                numbers.t_pb_zeros.into(),
                "low bits of t_pb that are always 0",
            ),
            miss_history: Optional::when(corrects, MissHistory::new(plan)),
            corrector: Optional::when(corrects, Corrector::new(plan)),
            _t_pb_bits: numbers.t_pb_bits as usize,
            sends_awake_only: Reg::property("Nothing is transmitted unless the link is awake."),
            wait_bounded: claim(Reg::property(
                "Whatever the other end does, a packet never waits longer than `estimate` says.",
            )),
            commitment_kept: claim(Reg::property(
                "From its ACK or SYNC for going down on, the port starts no packet.",
            )),
            exchange_fits: claim(Reg::invariant(
                "An exchange for going down stands only where there is a way down, one of this \
                 end's own for going up only where the link sleeps.",
            )),
            exchange_timed: claim(Reg::invariant(
                "No wait for a message outlasts its time-out.",
            )),
            wait_in_exchange: claim(Reg::invariant(
                "What a packet has waited for is the exchange under way, and those before.",
            )),
            wait_in_transition: claim(Reg::invariant(
                "What a packet has waited for is the transition under way, and what led to it.",
            )),
            waiting: Reg::bits(wait_bits, 0, "clock cycles for which a packet has waited"),
            to_wake: Signal::bit("the link sleeps and is not yet agreed to go up"),
            count: Signal::bits(wait_bits, "clock cycles in the state of the exchange"),
            age: Signal::bits(wait_bits, "clock cycles in the transition"),
            message_wait: wait(w, "w: longest wait for a message"),
            half_wait: wait(sync.timeout / 2, "longest wait from SYNC to the start"),
            start_wait: wait(link_sync::start_cycles(plan, &sync), "all of START"),
            ask_wait: wait(w + 1, "waited before this end asks to wake, at most"),
            await_wait: wait(2 * w + 1, "and before it follows a request that crossed"),
            sync_wait: wait(2 * w + 1 + sync.timeout / 2, "and with its own SYNC"),
            rise_wait: wait(
                longest_wait.min(w + (2 * w + 1).max(link_sync::longest_transitions(plan).0)),
                "waited before the way up begins, at most",
            ),
            longest_wait: wait(longest_wait, "the longest wait, as `estimate` prints it"),
            _wait_bits: wait_bits as usize,
            bounded: Constant::bit(bounded, "there is a bound on the time to sleep"),
            sleeps_in_time: bounded_claim(Reg::property(match agrees {
                true => {
                    "An end that stays idle and hears nothing leaves Wake within the time that \
                     `estimate` says, or finds out that the other end is silent."
                }
                false => {
                    "An end that stays idle while the other end permits to sleep leaves Wake \
                     within the time that `estimate` says."
                }
            })),
            threshold_in_range: bounded_claim(Reg::invariant(
                "No threshold is longer than the longest one.",
            )),
            prediction_in_range: Optional::when(
                bounded && predicts,
                Reg::property("PerfBound's threshold is at most max_value_ns, or t_pdt_init_ns if that is longer."),
            ),
            correction_in_range: Optional::when(
                bounded && corrects,
                Reg::property("The corrected threshold is at most max_value_ns, or t_pdt_init_ns if that is longer."),
            ),
            timer_ahead: bounded_claim(Reg::invariant(
                "What the timer waits for is still to come.",
            )),
            idle_counted: bounded_claim(Reg::invariant(
                "The meter counts the idle cycles until the timer has expired.",
            )),
            divides: Constant::bit(plan.clocks_per_tick > 1, "a tick is longer than a clock"),
            tick_under_way: Optional::when(
                bounded && plan.clocks_per_tick > 1,
                Reg::invariant("A tick lasts no longer than its clock cycles."),
            ),
            rest_is_idle: bounded_claim(Reg::invariant(
                "A rest is no longer than the idle time that it is part of.",
            )),
            rest_in_exchange: Optional::when(
                bounded && agrees,
                Reg::invariant("What has been rested is the wait under way, and those before."),
            ),
            idle_cycles: Optional::when(
                bounded,
                Reg::bits(
                    rest_bits,
                    0,
                    "idle clock cycles, up to the longest time of the timer",
                ),
            ),
            rest: Optional::when(
                bounded && agrees,
                Reg::bits(
                    rest_bits,
                    0,
                    "idle clock cycles in Wake, nothing being heard",
                ),
            ),
            unhindered: Optional::when(
                bounded && !agrees,
                Reg::bit(
                    true,
                    "awake, and permitted to sleep, since the last activity",
                ),
            ),
            backstop_now: Signal::bits(width, "the backstop in force, in ticks"),
            backstop_ahead: Signal::bit("it has passed, or is yet to come"),
            timer_over: Signal::bit("the timer has expired in this idle time"),
            at_rest: Signal::bit("idle in Wake, and nothing is heard"),
            elapsed: Signal::bits(rest_bits, "idle clock cycles, as the meter has them"),
            exchange_count: Signal::bits(rest_bits, "clock cycles in the state of the exchange"),
            clocks_per_tick: rest(plan.clocks_per_tick, "clock cycles in a tick"),
            longest_threshold: Constant::bits(
                width,
                plan.longest_threshold().into(),
                "the longest threshold, in ticks",
            ),
            // A constant of its own: a wrong one in the timer is to be found.
            backstop_ticks: Constant::bits(
                width,
                plan.t_backstop.unwrap_or(0).into(),
                "the backstop, in ticks",
            ),
            longest_prediction: Constant::bits(
                width,
                plan.histogram.max_value.max(plan.t_pdt_init).into(),
                "h_maxval, or t_pdt_init if that is longer, in ticks",
            ),
            longest_idle: rest(bound.timer, "the timer has expired by then"),
            rest_before: rest(bound.repeated, "rested before a timer that expired in vain"),
            rest_asked: rest(
                bound.timer.max(bound.repeated + bound.wait),
                "rested before the other end is asked, at most",
            ),
            rest_synced: rest(sync.timeout / 2, "longest wait from SYNC to the start"),
            rest_timeout: rest(sync.timeout, "longest wait for a message, less one"),
            longest_rest: rest(bound.total, "the longest rest, as `estimate` prints it"),
            _rest_bits: rest_bits as usize,
            bucket: Constant::bit(bucket, "the guard has a rate that never changes"),
            guard_kept: bucket_claim(Reg::property(
                "In every interval of T ticks, packets of this end wait for at most \
                 burst + T l / t_w wake-ups.",
            )),
            bucket_fits: bucket_claim(Reg::invariant("The bucket holds what it can.")),
            debt_is_missing: bucket_claim(Reg::invariant(
                "What is missing in the bucket is what packets waited for, less what was refilled.",
            )),
            token_before_sleep: bucket_claim(Reg::invariant(
                "No end goes to sleep, or agrees to, without a token for the way up.",
            )),
            ticks_agree: Optional::when(
                bucket && plan.clocks_per_tick > 1,
                Reg::invariant("The guard counts every tick."),
            ),
            token_in_time: Optional::when(
                bucket && bounded,
                Reg::property("A guard of a link that stays awake soon holds a token."),
            ),
            refill_counted: Optional::when(
                bucket && bounded,
                Reg::invariant("A bucket without a token holds what the ticks awake refilled."),
            ),
            awake_counted: Optional::when(
                bucket && bounded,
                Reg::invariant("The cycles awake are those of the ticks awake."),
            ),
            rest_is_awake: Optional::when(
                bucket && bounded,
                Reg::invariant("A rest is no longer than the time awake that it is part of."),
            ),
            debt: Optional::when(
                bucket,
                Reg::bits(
                    debt_bits,
                    0,
                    "wake-ups beyond the rate, in parts of a token",
                ),
            ),
            waited: Optional::when(
                bucket,
                Reg::bit(false, "a packet has waited in this time asleep"),
            ),
            tick_clocks: Optional::when(
                bucket && plan.clocks_per_tick > 1,
                Reg::bits(rest_bits, 0, "clock cycles into the present tick"),
            ),
            awake_ticks: Optional::when(
                bucket && bounded,
                Reg::bits(
                    debt_bits,
                    0,
                    "ticks awake, up to the longest wait for a token",
                ),
            ),
            awake_cycles: Optional::when(
                bucket && bounded,
                Reg::bits(rest_bits, 0, "clock cycles awake, up to the same"),
            ),
            tick_ends: Signal::bit("this cycle completes a tick of the guard"),
            debt_left: Signal::bits(debt_bits, "the debt after the present tick's refill"),
            no_tokens: Constant::bits(
                clog2(u128::from(guard_plan.burst) + 1),
                0,
                "an empty bucket",
            ),
            last_tick_clock: rest(plan.clocks_per_tick - 1, "last clock cycle of a tick"),
            debt_gain: debt(guard_plan.numerator, "l / t_w in parts of a token"),
            debt_token: debt(guard_plan.denominator, "one token"),
            guard_burst: Constant::bits(
                clog2(u128::from(guard_plan.burst) + 1),
                guard_plan.burst.into(),
                "tokens in a full bucket",
            ),
            debt_limit: debt(debt_limit, "guard.burst tokens"),
            token_wait_ticks: debt(
                guard_plan.ticks_to_token().map_or(0, u128::from),
                "ticks that refill a token",
            ),
            token_wait: rest(bound.guard, "the longest wait for a token"),
            _debt_bits: debt_bits as usize,
        }
    }
}

impl Logic for Port {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clk,
            hit_now,
            miss_now,
            left_wake,
            waiting,
            sends_awake_only
        );

        self.active.next =
            self.queue_nonempty.val() | self.transmitting.val() | self.receiving.val();

        self.idle_meter.clk.next = self.clk.val();
        self.idle_meter.rst.next = self.rst.val();
        self.idle_meter.active.next = self.active.val();

        self.pdt_timer.clk.next = self.clk.val();
        self.pdt_timer.rst.next = self.rst.val();
        self.pdt_timer.active.next = self.active.val();
        self.pdt_timer.transmitting.next = self.transmitting.val();
        self.pdt_timer.tick.next = self.idle_meter.tick.val();
        self.pdt_timer.ticks.next = self.idle_meter.ticks.val();
        if self.registers.val() {
            self.pdt_timer.t_pdt.next = self.csr.next_t_pdt.val();
            if self.predicts.val() {
                if !(self.csr.next_policy.val() == self.policy_fixed.val()) {
                    self.pdt_timer.t_pdt.next = self.perfbound.t_pb.val();
                }
            }
            if self.corrects.val() {
                if (self.csr.next_policy.val() == self.policy_corrected.val())
                    | (self.csr.next_policy.val() == self.policy_always_on.val())
                {
                    self.pdt_timer.t_pdt.next = self.corrector.t_pdt.val();
                }
            }
        } else if self.corrects.val() {
            self.pdt_timer.t_pdt.next = self.corrector.t_pdt.val();
        } else if self.predicts.val() {
            self.pdt_timer.t_pdt.next = self.perfbound.t_pb.val();
        } else {
            self.pdt_timer.t_pdt.next = self.fixed_t_pdt.val();
        }
        self.t_pdt.next = self.pdt_timer.t_pdt_in_force.val();

        if self.registers.val() {
            self.pdt_timer.backstops.next = self.csr.backstops.val();
            self.pdt_timer.t_backstop.next = self.csr.t_backstop.val();
            self.expires.next = self.pdt_timer.expired.val() & self.csr.sleeps.val();
            self.overdue.next = self.pdt_timer.overdue.val() & self.csr.sleeps.val();
            self.lpi_fsm.sleep.next = self.csr.sleep.val();
        } else if self.sleeps.val() {
            self.expires.next = self.pdt_timer.expired.val();
            self.overdue.next = self.pdt_timer.overdue.val();
        } else {
            self.expires.next = false;
            self.overdue.next = false;
        }
        self.lpi_fsm.clk.next = self.clk.val();
        self.lpi_fsm.rst.next = self.rst.val();
        if self.agrees.val() {
            self.link_sync.clk.next = self.clk.val();
            self.link_sync.rst.next = self.rst.val();
            self.link_sync.initiator.next = self.initiator.val();
            self.link_sync.message_in.next = self.message_in.val();
            self.link_sync.queue_nonempty.next = self.queue_nonempty.val();
            self.link_sync.transmitting.next = self.transmitting.val();
            self.link_sync.active.next = self.active.val();
            self.link_sync.awake.next = self.lpi_fsm.tx_enable.val();
            self.link_sync.asleep.next = self.lpi_fsm.asleep.val();
            self.link_sync.may_go_down.next = self.lpi_fsm.may_go_down.val();
            comment!("Both holds in fast wake end together: one request is enough.");
            self.link_sync.wants_down.next =
                (self.expires.val() & !self.pdt_timer.overdue.val() & self.lpi_fsm.tx_enable.val())
                    | (self.lpi_fsm.hold_over.val() & self.initiator.val() & !self.active.val());
            self.link_sync.overdue.next =
                self.overdue.val() & self.lpi_fsm.tx_enable.val() & !self.active.val();
            if self.guarded.val() {
                self.guard.clk.next = self.clk.val();
                self.guard.rst.next = self.rst.val();
                self.guard.awake.next = self.lpi_fsm.tx_enable.val();
                self.guard.queue_nonempty.next = self.queue_nonempty.val();
                if self.guard_adjusts.val() {
                    if self.registers.val() {
                        self.guard.rate.next = self.csr.rate.val();
                    } else {
                        self.guard.rate.next = self.budget_rate.rate.val();
                    }
                }
                comment!("A link that sleeps may sleep deeper: the way up costs one token.");
                self.link_sync.permitted.next =
                    self.guard.permits.val() | !self.lpi_fsm.tx_enable.val();
            } else {
                self.link_sync.permitted.next = true;
            }
            self.down_start.next = self.link_sync.down_start.val();
            self.lpi_fsm.up_start.next = self.link_sync.up_start.val();
            self.tx_enable.next = self.link_sync.tx_enable.val();
            self.message_out.next = self.link_sync.message_out.val();
            self.sync_error.next = self.link_sync.sync_error.val();
        } else {
            comment!("The link goes down when the timer expires and the other end agrees, or when");
            comment!("the other end goes down and nothing is leaving here.");
            self.down_start.next = (self.expires.val() & self.sleep_permit.val())
                | (self.remote_down.val() & !self.transmitting.val());
            self.lpi_fsm.up_start.next = self.queue_nonempty.val() | self.remote_up.val();
            self.tx_enable.next = self.lpi_fsm.tx_enable.val();
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

        if self.predicts.val() {
            self.bin_meter.clk.next = self.clk.val();
            self.bin_meter.rst.next = self.rst.val();
            self.bin_meter.active.next = self.active.val();
            self.bin_meter.tick.next = self.idle_meter.tick.val();
            self.bin_meter.ticks.next = self.idle_meter.ticks.val();

            self.perfbound.clk.next = self.clk.val();
            self.perfbound.rst.next = self.rst.val();
            self.perfbound.ended.next = self.idle_meter.ended.val();
            if self.reads_bins.val() {
                comment!("When the search does not read, the registers may.");
                if self.perfbound.searches.val() {
                    self.read_group.next = self.perfbound.read_group.val();
                    self.read_place.next = self.perfbound.read_place.val();
                } else {
                    self.read_group.next = bit_cast(
                        self.csr.bin.val() >> self.place_bits.val(),
                        self._group_bits,
                    );
                    self.read_place.next = bit_cast(self.csr.bin.val(), self._place_bits);
                }
            } else if self.reads.val() {
                self.read_group.next = self.perfbound.read_group.val();
                self.read_place.next = self.perfbound.read_place.val();
            }
            if self.is_circular.val() {
                self.circular.clk.next = self.clk.val();
                self.circular.rst.next = self.rst.val();
                self.circular.ended.next = self.idle_meter.ended.val();
                self.circular.ticks.next = self.idle_meter.ticks.val();
                self.circular.sample_bin.next = self.bin_meter.bin.val();
                self.circular.read_group.next = self.read_group.val();
                self.circular.read_place.next = self.read_place.val();
                self.perfbound.live_window.next = self.circular.window.val();
                if self.accumulates.val() {
                    self.perfbound.window_step.next = self.circular.step.val();
                }
                self.read_taken.next = self.circular.taken.val();
                self.perfbound.taken.next = self.circular.taken.val();
                self.bin_read.next = bit_cast(self.circular.bin_count.val(), self._bin_count_bits);
                self.perfbound.group_sum.next = self.circular.group_sum.val();
                self.perfbound.bin_count.next = self.circular.bin_count.val();
                self.perfbound.arrived.next = self.circular.arrived.val();
            } else if self.is_decaying.val() {
                self.decaying.clk.next = self.clk.val();
                self.decaying.rst.next = self.rst.val();
                self.decaying.ended.next = self.idle_meter.ended.val();
                self.decaying.sample_bin.next = self.bin_meter.bin.val();
                self.decaying.read_group.next = self.read_group.val();
                self.decaying.read_place.next = self.read_place.val();
                self.perfbound.live_window.next = self.decaying.window.val();
                if self.ages.val() {
                    self.decaying.ttl.next = self.csr.ttl.val();
                    self.decaying.max_samples.next = self.csr.max_samples.val();
                    self.decaying.renew.next = self.csr.restart.val();
                    self.csr.restarted.next = self.decaying.renewed.val();
                }
                self.read_taken.next = self.decaying.taken.val();
                self.perfbound.taken.next = self.decaying.taken.val();
                self.bin_read.next = bit_cast(self.decaying.bin_count.val(), self._bin_count_bits);
                self.perfbound.group_sum.next = self.decaying.group_sum.val();
                self.perfbound.bin_count.next = self.decaying.bin_count.val();
                self.perfbound.arrived.next = self.decaying.arrived.val();
            } else if self.is_map.val() {
                self.map.clk.next = self.clk.val();
                self.map.rst.next = self.rst.val();
                self.map.ended.next = self.idle_meter.ended.val();
                self.map.sample_bin.next = self.bin_meter.bin.val();
                self.map.budget.next = self.perfbound.budget.val();
                self.perfbound.cleared.next = self.map.cleared.val();
                self.perfbound.sample_bin.next = self.bin_meter.bin.val();
                self.perfbound.live_window.next = self.map.age.val();
                if self.accumulates.val() {
                    self.perfbound.window_step.next = self.map.step.val();
                }
                if self.ages.val() {
                    self.map.ttl.next = self.csr.ttl.val();
                    self.map.max_samples.next = self.csr.max_samples.val();
                    self.map.renew.next = self.csr.restart.val();
                    self.csr.restarted.next = self.map.cleared.val();
                }
                self.perfbound.map_found.next = self.map.found.val();
            } else if self.is_regular.val() {
                self.regular.clk.next = self.clk.val();
                self.regular.rst.next = self.rst.val();
                self.regular.ended.next = self.idle_meter.ended.val();
                self.regular.sample_bin.next = self.bin_meter.bin.val();
                self.regular.answers.next = self.perfbound.update.val();
                self.regular.read_group.next = self.read_group.val();
                self.regular.read_place.next = self.read_place.val();
                self.perfbound.halved.next = self.regular.halved.val();
                self.perfbound.live_window.next = self.regular.window.val();
                self.read_taken.next = self.regular.taken.val();
                self.perfbound.taken.next = self.regular.taken.val();
                self.bin_read.next = bit_cast(self.regular.bin_count.val(), self._bin_count_bits);
                self.perfbound.group_sum.next = self.regular.group_sum.val();
                self.perfbound.bin_count.next = self.regular.bin_count.val();
                self.perfbound.arrived.next = self.regular.arrived.val();
            } else {
                self.clearing.clk.next = self.clk.val();
                self.clearing.rst.next = self.rst.val();
                self.clearing.ended.next = self.idle_meter.ended.val();
                self.clearing.sample_bin.next = self.bin_meter.bin.val();
                self.clearing.read_group.next = self.read_group.val();
                self.clearing.read_place.next = self.read_place.val();
                self.perfbound.live_window.next = self.clearing.age.val();
                if self.accumulates.val() {
                    self.perfbound.window_step.next = self.clearing.step.val();
                }
                if self.ages.val() {
                    self.clearing.ttl.next = self.csr.ttl.val();
                    self.clearing.max_samples.next = self.csr.max_samples.val();
                    self.clearing.renew.next = self.csr.restart.val();
                    self.csr.restarted.next = self.clearing.cleared.val();
                }
                self.read_taken.next = self.clearing.taken.val();
                self.perfbound.taken.next = self.clearing.taken.val();
                self.bin_read.next = bit_cast(self.clearing.bin_count.val(), self._bin_count_bits);
                self.perfbound.group_sum.next = self.clearing.group_sum.val();
                self.perfbound.bin_count.next = self.clearing.bin_count.val();
                self.perfbound.arrived.next = self.clearing.arrived.val();
                self.perfbound.cleared.next = self.clearing.cleared.val();
                self.perfbound.sample_bin.next = self.bin_meter.bin.val();
            }

            if self.corrects.val() {
                self.miss_history.clk.next = self.clk.val();
                self.miss_history.rst.next = self.rst.val();
                self.miss_history.ended.next = self.idle_meter.ended.val();
                self.miss_history.miss.next = self.left_wake.q.val();
                self.miss_history.ticks.next = self.idle_meter.ticks.val();
                self.miss_history.t_pdt_in_force.next = self.pdt_timer.t_pdt_in_force.val();

                self.corrector.clk.next = self.clk.val();
                self.corrector.rst.next = self.rst.val();
                self.corrector.t_pb_new.next = self.perfbound.update.val();
                self.corrector.t_pb.next = bit_cast(
                    self.perfbound.t_pb.val() >> self.t_pb_zeros.val(),
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

        if self.measures.val() {
            comment!("The hop factor of the packets sent makes the rate of the budget.");
            self.hop_monitor.clk.next = self.clk.val();
            self.hop_monitor.rst.next = self.rst.val();
            self.hop_monitor.packet_valid.next = self.packet_valid.val();
            self.hop_monitor.packet_hops.next = self.packet_hops.val();
            self.hop_monitor.clear.next = false;
            self.hop_monitor.read_hops.next = 0.into();
            self.budget_rate.clk.next = self.clk.val();
            self.budget_rate.rst.next = self.rst.val();
            self.budget_rate.start.next = self.hop_monitor.measured.val();
            self.budget_rate.bound.next = self.bound.val();
            self.budget_rate.hop_factor.next =
                bit_cast(self.hop_monitor.factor.val(), 32) << self.factor_shift.val();
            self.budget_rate.deep.next = self.sleeps_deep.val();
            self.perfbound.rate.next = self.budget_rate.rate.val();
        }

        if self.registers.val() {
            self.csr.clk.next = self.clk.val();
            self.csr.rst.next = self.rst.val();
            if self.own_axi.val() {
                self.axi_lite.clk.next = self.clk.val();
                self.axi_lite.rst.next = self.rst.val();
                self.axi_lite.awvalid.next = self.s_axi_awvalid.val();
                self.axi_lite.awaddr.next = self.s_axi_awaddr.val();
                self.axi_lite.wvalid.next = self.s_axi_wvalid.val();
                self.axi_lite.wdata.next = self.s_axi_wdata.val();
                self.axi_lite.wstrb.next = self.s_axi_wstrb.val();
                self.axi_lite.bready.next = self.s_axi_bready.val();
                self.axi_lite.arvalid.next = self.s_axi_arvalid.val();
                self.axi_lite.araddr.next = self.s_axi_araddr.val();
                self.axi_lite.rready.next = self.s_axi_rready.val();
                self.s_axi_awready.next = self.axi_lite.awready.val();
                self.s_axi_wready.next = self.axi_lite.wready.val();
                self.s_axi_bvalid.next = self.axi_lite.bvalid.val();
                self.s_axi_bresp.next = self.axi_lite.bresp.val();
                self.s_axi_arready.next = self.axi_lite.arready.val();
                self.s_axi_rvalid.next = self.axi_lite.rvalid.val();
                self.s_axi_rdata.next = self.axi_lite.rdata.val();
                self.s_axi_rresp.next = self.axi_lite.rresp.val();
                self.csr.request.next = self.axi_lite.request.val();
                self.csr.write.next = self.axi_lite.write.val();
                self.csr.word.next = self.axi_lite.word.val();
                self.csr.write_data.next = self.axi_lite.write_data.val();
                self.csr.write_strobe.next = self.axi_lite.write_strobe.val();
                self.axi_lite.read_data.next = self.csr.read_data.val();
                self.axi_lite.answer.next = self.csr.answer.val();
            } else {
                self.csr.request.next = self.request.val();
                self.csr.write.next = self.write.val();
                self.csr.word.next = self.word.val();
                self.csr.write_data.next = self.write_data.val();
                self.csr.write_strobe.next = self.write_strobe.val();
                self.read_data.next = self.csr.read_data.val();
                self.answer.next = self.csr.answer.val();
                self.error_flag.next = self.csr.error_flag.val();
            }

            self.csr.active.next = self.active.val();
            self.csr.hit.next = self.hit_now.q.val();
            self.csr.miss.next = self.miss_now.q.val();
            self.csr.leaving.next = self.lpi_fsm.leaving.val();
            self.csr.queue_nonempty.next = self.queue_nonempty.val();
            if self.guarded.val() {
                self.csr.guard_tokens.next = self.guard.tokens_now.val();
            }
            self.csr.power_state.next = self.lpi_fsm.power_state.val();
            self.csr.t_pdt.next = self.pdt_timer.t_pdt_in_force.val();
            if self.agrees.val() {
                self.csr.sync_error.next = self.link_sync.fails.val();
            } else {
                self.csr.sync_error.next = false;
            }

            self.hop_monitor.clk.next = self.clk.val();
            self.hop_monitor.rst.next = self.rst.val();
            self.hop_monitor.packet_valid.next = self.packet_valid.val();
            self.hop_monitor.packet_hops.next = self.packet_hops.val();
            self.hop_monitor.clear.next = self.csr.clear_counts.val();
            self.hop_monitor.read_hops.next = self.csr.hop_index.val();
            self.csr.hop_count.next = self.hop_monitor.count.val();
            self.csr.hop_factor.next = self.hop_monitor.factor.val();
            self.csr.hop_measured.next = self.hop_monitor.measured.val();

            if self.predicts.val() {
                self.csr.t_pb.next = self.perfbound.t_pb.val();
                self.csr.window.next = self.perfbound.window.val();
                self.csr.budget.next = self.perfbound.budget.val();
                if self.is_map.val() {
                    self.csr.map_overflow.next = self.map.overflow.val();
                } else {
                    self.csr.map_overflow.next = false;
                }
                if self.reads_bins.val() {
                    self.csr.bin_taken.next =
                        !self.perfbound.searches.val() & !self.read_taken.val();
                    self.csr.bin_count.next = self.bin_read.val();
                }
                self.budget_rate.clk.next = self.clk.val();
                self.budget_rate.rst.next = self.rst.val();
                self.budget_rate.start.next = self.csr.rate_start.val();
                self.budget_rate.bound.next = self.csr.rate_bound.val();
                self.budget_rate.hop_factor.next = self.csr.rate_hop_factor.val();
                self.budget_rate.deep.next = self.csr.rate_deep.val();
                self.csr.rate_done.next = self.budget_rate.done.val();
                self.csr.rate_computed.next = self.budget_rate.rate.val();
                self.perfbound.rate.next = self.csr.rate.val();
            }
        }

        self.sends_awake_only.d.next = !self.tx_enable.val() | (self.power_state.val() == 0);
        if self.agrees.val() {
            dff_setup!(
                self,
                clk,
                wait_bounded,
                commitment_kept,
                exchange_fits,
                exchange_timed
            );
            dff_setup!(self, clk, wait_in_exchange, wait_in_transition);
            self.waiting.d.next = 0.into();
            if self.queue_nonempty.val() & !self.tx_enable.val() {
                self.waiting.d.next = self.waiting.q.val() + 1;
            }
            self.wait_bounded.d.next = self.waiting.q.val() <= self.longest_wait.val();
            self.count.next = bit_cast(self.link_sync.count.q.val(), self._wait_bits);
            self.age.next = bit_cast(self.lpi_fsm.age.q.val(), self._wait_bits);
            self.to_wake.next = self.lpi_fsm.asleep.val() & !self.link_sync.rise.q.val();
            match self.link_sync.state.q.val() {
                Exchange::Start => {
                    self.exchange_fits.d.next = self.lpi_fsm.tx_enable.val();
                    self.exchange_timed.d.next = self.count.val() < self.start_wait.val();
                    self.wait_in_exchange.d.next = self.waiting.q.val() <= self.count.val();
                }
                Exchange::Idle => {
                    if self.to_wake.val() {
                        self.wait_in_exchange.d.next =
                            self.waiting.q.val() <= self.message_wait.val();
                    }
                }
                Exchange::AskDown => {
                    self.exchange_fits.d.next =
                        self.lpi_fsm.may_go_down.val() & !self.link_sync.rise.q.val();
                    self.exchange_timed.d.next = self.count.val() < self.message_wait.val();
                    if self.to_wake.val() {
                        self.wait_in_exchange.d.next = self.waiting.q.val() <= self.count.val();
                    }
                }
                Exchange::SyncDown => {
                    self.commitment_kept.d.next = !self.tx_enable.val();
                    self.exchange_fits.d.next =
                        self.lpi_fsm.may_go_down.val() & !self.link_sync.rise.q.val();
                    self.exchange_timed.d.next = self.count.val() <= self.half_wait.val();
                    self.wait_in_exchange.d.next =
                        self.waiting.q.val() <= (self.half_wait.val() - self.count.val());
                }
                Exchange::AwaitDown => {
                    self.commitment_kept.d.next = !self.tx_enable.val();
                    self.exchange_fits.d.next =
                        self.lpi_fsm.may_go_down.val() & !self.link_sync.rise.q.val();
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
            if self.link_sync.rise.q.val()
                & !(self.lpi_fsm.state.q.val() == Link::GoingDown)
                & !(self.lpi_fsm.state.q.val() == Link::GoingUp)
            {
                self.exchange_fits.d.next = false;
            }
            match self.lpi_fsm.state.q.val() {
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

        if self.bounded.val() {
            dff_setup!(self, clk, sleeps_in_time, threshold_in_range, timer_ahead);
            dff_setup!(self, clk, idle_counted, rest_is_idle, idle_cycles);
            self.threshold_in_range.d.next =
                self.pdt_timer.in_force.q.val() <= self.longest_threshold.val();
            if self.predicts.val() {
                dff_setup!(self, clk, prediction_in_range);
                self.prediction_in_range.d.next =
                    self.perfbound.threshold_now.q.val() <= self.longest_prediction.val();
            }
            if self.corrects.val() {
                dff_setup!(self, clk, correction_in_range);
                self.correction_in_range.d.next =
                    self.corrector.t_pdt_now.q.val() <= self.longest_prediction.val();
            }
            self.backstop_now.next = self.backstop_ticks.val();
            if self.registers.val() {
                self.backstop_now.next = self.csr.t_backstop.val();
            }
            self.backstop_ahead.next = self.pdt_timer.backstop_passed.q.val()
                | (self.idle_meter.count.q.val() <= self.backstop_now.val());
            if self.registers.val() {
                if !self.csr.backstops.val() {
                    self.backstop_ahead.next = true;
                }
            }
            self.timer_ahead.d.next = (self.pdt_timer.passed.q.val()
                | (self.idle_meter.count.q.val() <= self.pdt_timer.in_force.q.val()))
                & self.backstop_ahead.val();
            self.timer_over.next = self.pdt_timer.passed.q.val()
                & (self.pdt_timer.last_sender.q.val() | self.pdt_timer.backstop_passed.q.val());
            if self.registers.val() {
                if !self.csr.backstops.val() {
                    self.timer_over.next = self.pdt_timer.passed.q.val();
                }
            }
            if self.active.val() {
                self.idle_cycles.d.next = 0.into();
            } else if self.idle_cycles.q.val() < self.longest_idle.val() {
                self.idle_cycles.d.next = self.idle_cycles.q.val() + 1;
            }
            self.elapsed.next = bit_cast(self.idle_meter.count.q.val(), self._rest_bits);
            if self.divides.val() {
                dff_setup!(self, clk, tick_under_way);
                self.elapsed.next = bit_cast(self.idle_meter.count.q.val(), self._rest_bits)
                    * self.clocks_per_tick.val()
                    + bit_cast(self.idle_meter.prescaler.q.val(), self._rest_bits);
                self.tick_under_way.d.next =
                    bit_cast(self.idle_meter.prescaler.q.val(), self._rest_bits)
                        < self.clocks_per_tick.val();
            }
            self.idle_counted.d.next = ((self.idle_cycles.q.val() == self.elapsed.val())
                & (self.idle_cycles.q.val() < self.longest_idle.val()))
                | ((self.idle_cycles.q.val() == self.longest_idle.val()) & self.timer_over.val());
            if self.agrees.val() {
                dff_setup!(self, clk, rest, rest_in_exchange);
                self.at_rest.next = !self.active.val()
                    & (self.message_in.val() == 0)
                    & self.lpi_fsm.tx_enable.val()
                    & !self.link_sync.unheard.q.val();
                if self.registers.val() {
                    if !(self.csr.sleeps.val() & self.csr.backstops.val()) {
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
                self.exchange_count.next = bit_cast(self.link_sync.count.q.val(), self._rest_bits);
                match self.link_sync.state.q.val() {
                    Exchange::Start => {
                        self.rest_in_exchange.d.next =
                            self.rest.q.val() <= self.exchange_count.val();
                    }
                    Exchange::Idle => {
                        self.rest_in_exchange.d.next =
                            self.exchange_count.val() <= self.rest_timeout.val();
                        if self.timer_over.val() & !self.link_sync.unheard.q.val() {
                            self.rest_in_exchange.d.next = (self.exchange_count.val()
                                <= self.rest_timeout.val())
                                & (self.rest.q.val()
                                    <= (self.rest_before.val() + self.exchange_count.val()));
                        }
                    }
                    Exchange::AskDown => {
                        self.rest_in_exchange.d.next = self.rest.q.val()
                            <= (self.rest_asked.val() + self.exchange_count.val());
                    }
                    Exchange::SyncDown => {
                        self.rest_in_exchange.d.next = self.rest.q.val()
                            <= (self.rest_synced.val() - self.exchange_count.val());
                    }
                    _ => {
                        self.rest_in_exchange.d.next =
                            self.rest.q.val() <= self.exchange_count.val();
                    }
                }
            } else {
                dff_setup!(self, clk, unhindered);
                self.unhindered.d.next = self.active.val()
                    | (self.unhindered.q.val()
                        & self.lpi_fsm.tx_enable.val()
                        & self.sleep_permit.val());
                if self.registers.val() {
                    if !(self.csr.sleeps.val() & self.csr.backstops.val()) {
                        self.unhindered.d.next = false;
                    }
                }
                self.sleeps_in_time.d.next = !self.unhindered.q.val()
                    | !self.lpi_fsm.tx_enable.val()
                    | (self.idle_cycles.q.val() < self.longest_idle.val());
                self.rest_is_idle.d.next = !self.unhindered.q.val()
                    | !self.lpi_fsm.tx_enable.val()
                    | !self.timer_over.val();
            }
        }

        if self.bucket.val() {
            dff_setup!(self, clk, guard_kept, bucket_fits, debt_is_missing);
            dff_setup!(self, clk, token_before_sleep, debt, waited);
            self.tick_ends.next = true;
            if self.divides.val() {
                dff_setup!(self, clk, ticks_agree, tick_clocks);
                self.tick_ends.next = self.tick_clocks.q.val() == self.last_tick_clock.val();
                if self.tick_ends.val() {
                    self.tick_clocks.d.next = 0.into();
                } else {
                    self.tick_clocks.d.next = self.tick_clocks.q.val() + 1;
                }
                self.ticks_agree.d.next = (self.tick_clocks.q.val()
                    == bit_cast(self.guard.prescaler.q.val(), self._rest_bits))
                    & (self.tick_clocks.q.val() <= self.last_tick_clock.val());
            }
            comment!("Counted from the pins: the first cycle of each time asleep with a packet.");
            self.waited.d.next =
                !(self.power_state.val() == 0) & (self.waited.q.val() | self.queue_nonempty.val());
            self.debt_left.next = self.debt.q.val();
            if self.tick_ends.val() {
                if self.debt.q.val() >= self.debt_gain.val() {
                    self.debt_left.next = self.debt.q.val() - self.debt_gain.val();
                } else {
                    self.debt_left.next = 0.into();
                }
            }
            if !(self.power_state.val() == 0) & self.queue_nonempty.val() & !self.waited.q.val() {
                self.debt.d.next = self.debt_left.val() + self.debt_token.val();
            } else {
                self.debt.d.next = self.debt_left.val();
            }
            self.guard_kept.d.next = self.debt.q.val() <= self.debt_limit.val();
            self.bucket_fits.d.next = (bit_cast(self.guard.part.q.val(), self._debt_bits)
                < self.debt_token.val())
                & (self.guard.tokens.q.val() <= self.guard_burst.val())
                & (self.waited.q.val() == self.guard.charged.q.val());
            self.debt_is_missing.d.next = self.debt.q.val()
                + bit_cast(self.guard.tokens.q.val(), self._debt_bits) * self.debt_token.val()
                + bit_cast(self.guard.part.q.val(), self._debt_bits)
                == self.debt_limit.val();
            if !(self.guard.tokens.q.val() == self.no_tokens.val()) {
                self.token_before_sleep.d.next = true;
            } else if self.lpi_fsm.tx_enable.val() {
                self.token_before_sleep.d.next = !(self.link_sync.state.q.val()
                    == Exchange::AskDown)
                    & !(self.link_sync.state.q.val() == Exchange::SyncDown)
                    & !(self.link_sync.state.q.val() == Exchange::AwaitDown);
            } else {
                self.token_before_sleep.d.next = self.guard.charged.q.val();
            }
            if self.bounded.val() {
                dff_setup!(self, clk, token_in_time, refill_counted, awake_ticks);
                dff_setup!(self, clk, rest_is_awake, awake_cycles);
                if !self.lpi_fsm.tx_enable.val() {
                    self.awake_ticks.d.next = 0.into();
                } else if self.tick_ends.val()
                    & (self.awake_ticks.q.val() < self.token_wait_ticks.val())
                {
                    self.awake_ticks.d.next = self.awake_ticks.q.val() + 1;
                }
                if !self.lpi_fsm.tx_enable.val() {
                    self.awake_cycles.d.next = 0.into();
                } else if self.awake_cycles.q.val() < self.token_wait.val() {
                    self.awake_cycles.d.next = self.awake_cycles.q.val() + 1;
                }
                self.refill_counted.d.next = !(self.guard.tokens.q.val() == self.no_tokens.val())
                    | (self.awake_ticks.q.val() * self.debt_gain.val()
                        <= bit_cast(self.guard.part.q.val(), self._debt_bits));
                if self.divides.val() {
                    dff_setup!(self, clk, awake_counted);
                    self.awake_counted.d.next = (self.awake_ticks.q.val()
                        == self.token_wait_ticks.val())
                        | (self.awake_cycles.q.val()
                            <= (bit_cast(self.awake_ticks.q.val(), self._rest_bits)
                                * self.clocks_per_tick.val()
                                + self.tick_clocks.q.val()));
                } else {
                    dff_setup!(self, clk, awake_counted);
                    self.awake_counted.d.next = (self.awake_ticks.q.val()
                        == self.token_wait_ticks.val())
                        | (bit_cast(self.awake_cycles.q.val(), self._debt_bits)
                            == self.awake_ticks.q.val());
                }
                self.rest_is_awake.d.next = (self.rest.q.val() <= self.awake_cycles.q.val())
                    | (self.awake_cycles.q.val() >= self.token_wait.val());
                self.token_in_time.d.next = !(self.guard.tokens.q.val() == self.no_tokens.val())
                    | (self.awake_cycles.q.val() < self.token_wait.val());
            }
        }
    }
}
