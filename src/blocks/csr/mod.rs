//! The registers of a port: run-time parameters, counters, status (`docs/registers.md`).

pub mod golden;
pub mod map;
#[cfg(test)]
pub(crate) mod tests;

use rust_hdl_core::direction::Direction;

use crate::blocks::axi_lite::{response, DATA_WIDTH};
use crate::blocks::hop_monitor::COUNTER_WIDTH;
use crate::blocks::port::pins::HOPS_WIDTH;
use crate::config::plan::{Policy, PortPlan, Sleep, HOP_FACTOR_FRACTION};
use crate::hdl::prelude::*;

/// Bits of a register's address, in words, within a port's page.
pub const WORD_BITS: u32 = map::PAGE_BITS - 2;

/// Registers at the beginning of the page that never change.
const IDENTITY: usize = 9;

/// Width of the event counters, in bits: at 1 GHz the time in a state overflows after 584
/// years.
pub const EVENT_WIDTH: u32 = 64;

states! {
    /// What the rate of the budget is being computed for.
    pub enum Rate {
        Settled = "nothing",
        Applying = "the staged parameters",
        Refreshing = "a newly measured hop factor",
    }
}

/// The registers of a port, in the layout of [`map::port`].
///
/// Parameters have two copies: the staged one that software writes, and the one in force.
/// `command.apply` moves all of them in one clock edge, at the end of an active cycle, so
/// that they govern the next idle period and none that has begun.
#[derive(LogicBlock)]
pub struct Csr {
    about: About,
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    // From the AXI4-Lite port.
    pub request: Signal<In, Bit>,
    pub write: Signal<In, Bit>,
    pub word: Signal<In, Bits>,
    pub write_data: Signal<In, Bits>,
    pub write_strobe: Signal<In, Bits>,
    pub read_data: Signal<Out, Bits>,
    pub answer: Signal<Out, Bits>,
    pub error_flag: Signal<Out, Bit>,
    // From the port.
    pub active: Signal<In, Bit>,
    pub hit: Signal<In, Bit>,
    pub miss: Signal<In, Bit>,
    pub leaving: Signal<In, Bit>,
    pub queue_nonempty: Signal<In, Bit>,
    pub power_state: Signal<In, Bits>,
    pub sync_error: Signal<In, Bit>,
    pub t_pdt: Signal<In, Bits>,
    pub guard_tokens: Optional<Signal<In, Bits>>,
    // Parameters in force, or about to be.
    pub sleeps: Signal<Out, Bit>,
    pub sleep: Signal<Out, Bits>,
    pub next_policy: Signal<Out, Bits>,
    pub next_t_pdt: Signal<Out, Bits>,
    pub backstops: Signal<Out, Bit>,
    pub t_backstop: Signal<Out, Bits>,
    // From and to the hop monitor.
    pub clear_counts: Signal<Out, Bit>,
    pub hop_index: Signal<Out, Bits>,
    pub hop_count: Signal<In, Bits>,
    pub hop_factor: Signal<In, Bits>,
    pub hop_measured: Signal<In, Bit>,
    // From and to the predictor.
    pub map_overflow: Optional<Signal<In, Bit>>,
    pub t_pb: Optional<Signal<In, Bits>>,
    pub window: Optional<Signal<In, Bits>>,
    pub budget: Optional<Signal<In, Bits>>,
    pub ttl: Optional<Signal<Out, Bits>>,
    pub max_samples: Optional<Signal<Out, Bits>>,
    pub restart: Optional<Signal<Out, Bit>>,
    pub restarted: Optional<Signal<In, Bit>>,
    pub bin_request: Optional<Signal<Out, Bit>>,
    pub bin: Optional<Signal<Out, Bits>>,
    pub bin_taken: Optional<Signal<In, Bit>>,
    pub bin_count: Optional<Signal<In, Bits>>,
    // From and to the computation of the rate.
    pub rate_start: Optional<Signal<Out, Bit>>,
    pub rate_bound: Optional<Signal<Out, Bits>>,
    pub rate_hop_factor: Optional<Signal<Out, Bits>>,
    pub rate_deep: Optional<Signal<Out, Bit>>,
    pub rate_done: Optional<Signal<In, Bit>>,
    pub rate_computed: Optional<Signal<In, Bits>>,
    pub rate: Optional<Signal<Out, Bits>>,
    // The request.
    pair: Signal<Local, Bits>,
    upper: Signal<Local, Bit>,
    lanes: [Signal<Local, Bits>; 4],
    mask: Signal<Local, Bits>,
    wide: Signal<Local, Bits>,
    is_pair: Signal<Local, Bit>,
    present: Signal<Local, Bits>,
    is_single: Signal<Local, Bit>,
    seen: Signal<Local, Bits>,
    merged: Signal<Local, Bits>,
    merged_wide: Signal<Local, Bits>,
    set_bits: Signal<Local, Bits>,
    is_t_pdt: Signal<Local, Bit>,
    is_ttl: Signal<Local, Bit>,
    is_t_backstop: Signal<Local, Bit>,
    is_control: Signal<Local, Bit>,
    is_command: Signal<Local, Bit>,
    is_max_samples: Signal<Local, Bit>,
    is_bound: Signal<Local, Bit>,
    is_hop_factor: Signal<Local, Bit>,
    is_errors: Signal<Local, Bit>,
    is_bin_index: Signal<Local, Bit>,
    is_hop_index: Signal<Local, Bit>,
    staged: Signal<Local, Bit>,
    writable: Signal<Local, Bit>,
    new_policy: Signal<Local, Bits>,
    new_sleep: Signal<Local, Bits>,
    new_index: Signal<Local, Bits>,
    illegal: Signal<Local, Bit>,
    verdict: Signal<Local, Bits>,
    writes: Signal<Local, Bit>,
    clears: Signal<Local, Bit>,
    commits: Signal<Local, Bit>,
    is_wide_sleep: Signal<Local, Bit>,
    read_now: Reg<Bits>,
    answer_now: Reg<Bits>,
    upper_word: Reg<Bits>,
    // Parameters as software writes them, and those in force.
    staged_enable: Reg<Bit>,
    staged_policy: Reg<Bits>,
    staged_sleep: Reg<Bits>,
    staged_measure: Reg<Bit>,
    staged_t_pdt: Reg<Bits>,
    staged_ttl: Reg<Bits>,
    staged_max_samples: Reg<Bits>,
    staged_bound: Reg<Bits>,
    staged_hop_factor: Reg<Bits>,
    staged_backstop: Reg<Bit>,
    staged_t_backstop: Reg<Bits>,
    enable: Reg<Bit>,
    policy: Reg<Bits>,
    sleep_now: Reg<Bits>,
    measure: Reg<Bit>,
    fixed_t_pdt: Reg<Bits>,
    ttl_now: Reg<Bits>,
    max_samples_now: Reg<Bits>,
    backstop: Reg<Bit>,
    t_backstop_now: Reg<Bits>,
    bound: Reg<Bits>,
    rate_now: Reg<Bits>,
    restart_now: Reg<Bit>,
    // Applying.
    pending: Reg<Bit>,
    ready: Reg<Bit>,
    refresh: Reg<Bit>,
    rate_state: Reg<Rate>,
    measured_wide: Signal<Local, Bits>,
    // Status.
    sync_flag: Reg<Bit>,
    map_flag: Reg<Bit>,
    bin_index: Reg<Bits>,
    bin_busy: Reg<Bit>,
    bin_read: Reg<Bit>,
    bin_arrives: Reg<Bit>,
    bin_value: Reg<Bits>,
    hop_index_now: Reg<Bits>,
    periods: Reg<Bits>,
    hits: Reg<Bits>,
    misses: Reg<Bits>,
    transitions: Reg<Bits>,
    wake: Reg<Bits>,
    going_down: Reg<Bits>,
    fast_wake: Reg<Bits>,
    deep_sleep: Reg<Bits>,
    refreshing: Reg<Bits>,
    going_up: Reg<Bits>,
    waits: Reg<Bits>,
    waited: Reg<Bit>,
    waiting: Signal<Local, Bit>,
    // The layout.
    guarded: Constant<Bit>,
    predicts: Constant<Bit>,
    ages: Constant<Bit>,
    readable: Constant<Bit>,
    identity: Vec<Constant<Bits>>,
    at_control: Constant<Bits>,
    at_command: Constant<Bits>,
    at_max_samples: Constant<Bits>,
    at_bound: Constant<Bits>,
    at_hop_factor: Constant<Bits>,
    at_status: Constant<Bits>,
    at_errors: Constant<Bits>,
    at_hop_factor_now: Constant<Bits>,
    at_guard_tokens: Constant<Bits>,
    at_bin_index: Constant<Bits>,
    at_bin_count: Constant<Bits>,
    at_hop_index: Constant<Bits>,
    at_hop_count: Constant<Bits>,
    at_t_pdt: Constant<Bits>,
    at_ttl: Constant<Bits>,
    at_t_backstop: Constant<Bits>,
    at_t_pdt_now: Constant<Bits>,
    at_t_pb: Constant<Bits>,
    at_window: Constant<Bits>,
    at_budget: Constant<Bits>,
    at_periods: Constant<Bits>,
    at_hits: Constant<Bits>,
    at_misses: Constant<Bits>,
    at_transitions: Constant<Bits>,
    at_wake: Constant<Bits>,
    at_going_down: Constant<Bits>,
    at_fast_wake: Constant<Bits>,
    at_deep_sleep: Constant<Bits>,
    at_refresh: Constant<Bits>,
    at_going_up: Constant<Bits>,
    at_waits: Constant<Bits>,
    policy_low: Constant<Bits>,
    sleep_low: Constant<Bits>,
    measure_low: Constant<Bits>,
    backstop_low: Constant<Bits>,
    busy_low: Constant<Bits>,
    active_low: Constant<Bits>,
    policies: Constant<Bits>,
    always_on: Constant<Bits>,
    sleep_fast_wake: Constant<Bits>,
    no_sleep: Constant<Bits>,
    most_samples: Constant<Bits>,
    one_hop: Constant<Bits>,
    end_of_bins: Constant<Bits>,
    okay: Constant<Bits>,
    refused: Constant<Bits>,
    no_register: Constant<Bits>,
    upper_bits: Constant<Bits>,
    lower_half: Constant<Bits>,
    upper_half: Constant<Bits>,
    factor_shift: Constant<Bits>,
    _pair_bits: usize,
    _time_bits: usize,
    _bin_bits: usize,
    _hop_bits: usize,
}

impl Csr {
    /// The registers of `plan`.
    ///
    /// # Panics
    /// If the plan has none.
    #[allow(clippy::too_many_lines)] // one declaration after the other
    pub fn new(plan: &PortPlan) -> Self {
        let page = map::port(plan);
        let predicts = plan.predicts();
        let ages = plan.ages();
        let readable = plan.reads_bins();
        let time = plan.time_width;
        let histogram = &plan.histogram;
        let counter = map::bin_count_width(plan);
        let rate = plan.budget.rate;
        let rate_width = rate.map_or(1, |rate| rate.width);
        let rate_reset = plan.budget.product.map_or(0, |product| product.k);
        let word = WORD_BITS;
        let pair = word - 1;
        let at = |name: &str| {
            let register = page.register(name);
            Constant::bits(word, (register.offset / 4).into(), register.doc.clone())
        };
        let at_pair = |name: &str| {
            let register = page.register(name);
            Constant::bits(pair, (register.offset / 8).into(), register.doc.clone())
        };
        let low = |register: &str, field: &str| {
            // Fields that this configuration lacks have no place.
            let place = page
                .register(register)
                .fields
                .iter()
                .find(|known| known.name == field)
                .map_or(0, |field| field.low);
            Constant::bits(5, place.into(), format!("lowest bit of {register}.{field}"))
        };
        let reset = |register: &str, field: &str| -> u128 {
            page.register(register)
                .fields
                .iter()
                .find(|known| known.name == field)
                .map_or(0, |field| field.reset.into())
        };
        let policy = u128::from(map::policy_code(plan.policy));
        let sleep = u128::from(map::sleep_code(plan.sleep));
        let t_pdt = plan.registers.map_or(0, |built| built.t_pdt);
        let ttl = histogram.ttl.unwrap_or(0);
        let t_backstop = plan.t_backstop.unwrap_or(histogram.max_value);
        let guard_tokens = plan
            .guard
            .map_or(1, |guard| clog2(u128::from(guard.burst) + 1));
        let event = |doc: &str| Reg::bits(EVENT_WIDTH, 0, doc);
        fn data<D: Direction>(doc: &str) -> Signal<D, Bits> {
            Signal::bits(DATA_WIDTH, doc)
        }
        fn is<D: Direction>(doc: &str) -> Signal<D, Bit> {
            Signal::bit(doc)
        }
        Csr {
            about: About::new(
                "csr",
                "Registers of a port: parameters, counters, status.\n\
                 \n\
                 Parameters have two copies, the staged one that software writes and the one\n\
                 in force. command.apply moves all of them in one clock edge, at the end of an\n\
                 active cycle, so that they govern the next idle period and none that has\n\
                 begun. The lower word of a counter latches the upper one when it is read.",
            ),
            clk: Signal::clock("clock"),
            rst: Signal::bit("synchronous reset"),
            request: Signal::bit("there is a request in this cycle"),
            write: Signal::bit("to write"),
            word: Signal::bits(word, "address in words of 32 bits"),
            write_data: data("data to write"),
            write_strobe: Signal::bits(DATA_WIDTH / 8, "which of its bytes to write"),
            read_data: data("data read, the cycle after the request; 0 without one"),
            answer: Signal::bits(2, "answer, the cycle after the request; 0 without one"),
            error_flag: Signal::bit("an error flag is set"),
            active: Signal::bit("the port is active in this cycle"),
            hit: Signal::bit("an idle period ended, the link stayed awake"),
            miss: Signal::bit("an idle period ended, the link had left wake"),
            leaving: Signal::bit("the link leaves wake at the end of this cycle"),
            queue_nonempty: Signal::bit("the output queue holds a packet"),
            power_state: Signal::bits(3, "state of the link"),
            sync_error: Signal::bit("the other end has not answered in time"),
            t_pdt: Signal::bits(time, "threshold in force, in ticks"),
            guard_tokens: Optional::when(
                plan.guard.is_some(),
                Signal::bits(guard_tokens, "whole tokens in the guard's bucket"),
            ),
            sleeps: Signal::bit("the port powers down by itself"),
            sleep: Signal::bits(2, "where: 0 fast wake, 1 deep sleep, 2 hybrid"),
            next_policy: Signal::bits(2, "policy in force after this cycle"),
            next_t_pdt: Signal::bits(time, "threshold of the policy fixed after this cycle"),
            backstops: Signal::bit("an end that did not transmit last powers down by itself"),
            t_backstop: Signal::bits(time, "after this time at least, in ticks"),
            clear_counts: Signal::bit("packet counts become 0"),
            hop_index: Signal::bits(HOPS_WIDTH, "which packet count to read"),
            hop_count: Signal::bits(COUNTER_WIDTH, "the packet count, a cycle later"),
            hop_factor: Signal::bits(HOP_FACTOR_FRACTION + 1, "measured hop factor"),
            hop_measured: Signal::bit("it is new"),
            map_overflow: Optional::when(predicts, is("a map histogram ran out of entries")),
            t_pb: Optional::when(
                predicts,
                Signal::bits(time, "PerfBound's threshold, in ticks"),
            ),
            window: Optional::when(
                predicts,
                Signal::bits(time, "window it was computed for, in ticks"),
            ),
            budget: Optional::when(
                predicts,
                Signal::bits(plan.budget.width, "packets that may be delayed in it"),
            ),
            ttl: Optional::when(
                ages,
                Signal::bits(time, "time to live of the histogram, in ticks; 0: for ever"),
            ),
            max_samples: Optional::when(
                ages,
                Signal::bits(32, "samples after which the histogram ages"),
            ),
            restart: Optional::when(
                ages,
                Signal::bit("the next sample finds the histogram empty"),
            ),
            restarted: Optional::when(ages, Signal::bit("the histogram has been cleared")),
            bin_request: Optional::when(readable, Signal::bit("read a bin when it is free")),
            bin: Optional::when(
                readable,
                Signal::bits(clog2(histogram.bins.into()), "which bin"),
            ),
            bin_taken: Optional::when(readable, Signal::bit("it is read in this cycle")),
            bin_count: Optional::when(
                readable,
                Signal::bits(counter, "samples in it, the cycle after"),
            ),
            rate_start: Optional::when(predicts, Signal::bit("compute a rate")),
            rate_bound: Optional::when(predicts, data("from this bound")),
            rate_hop_factor: Optional::when(predicts, data("and this hop factor")),
            rate_deep: Optional::when(predicts, Signal::bit("and t_w of deep sleep")),
            rate_done: Optional::when(predicts, Signal::bit("the rate is computed")),
            rate_computed: Optional::when(predicts, Signal::bits(rate_width, "it")),
            rate: Optional::when(predicts, Signal::bits(rate_width, "rate in force")),
            pair: Signal::bits(pair, "address in pairs of words"),
            upper: Signal::bit("the upper word of a pair"),
            lanes: [
                data("bits of byte 0 to write"),
                data("bits of byte 1 to write"),
                data("bits of byte 2 to write"),
                data("bits of byte 3 to write"),
            ],
            mask: data("bits to write"),
            wide: Signal::bits(64, "value of the pair of registers"),
            is_pair: is("the address is one of a pair"),
            present: data("value of the register"),
            is_single: is("the address is one of a single register"),
            seen: data("what a read finds"),
            merged: data("what a write makes of it"),
            merged_wide: Signal::bits(64, "what a write makes of the pair"),
            set_bits: data("ones that are written"),
            is_t_pdt: is("t_pdt"),
            is_ttl: is("ttl"),
            is_t_backstop: is("t_backstop"),
            is_control: is("control"),
            is_command: is("command"),
            is_max_samples: is("max_samples"),
            is_bound: is("bound"),
            is_hop_factor: is("hop_factor"),
            is_errors: is("errors"),
            is_bin_index: is("bin_index"),
            is_hop_index: is("hop_index"),
            staged: is("a parameter"),
            writable: is("a register that software may write"),
            new_policy: Signal::bits(2, "the policy written"),
            new_sleep: Signal::bits(2, "the sleep state written"),
            new_index: Signal::bits(13, "the bin index written"),
            illegal: is("the register does not take the value"),
            verdict: Signal::bits(2, "the answer"),
            writes: is("a register is written"),
            clears: is("the counters become 0"),
            commits: is("the staged parameters come into force at the end of this cycle"),
            is_wide_sleep: is("the sleep state of the rate to compute includes deep sleep"),
            read_now: Reg::bits(DATA_WIDTH, 0, "data read"),
            answer_now: Reg::bits(2, 0, "answer"),
            upper_word: Reg::bits(DATA_WIDTH, 0, "upper word of the pair last read"),
            staged_enable: Reg::bit(true, "staged: the port may power down by itself"),
            staged_policy: Reg::bits(2, policy, "staged: when"),
            staged_sleep: Reg::bits(2, sleep, "staged: where to"),
            staged_measure: Reg::bit(
                reset("control", "measure") == 1,
                "staged: the budget takes the measured hop factor",
            ),
            staged_t_pdt: Reg::bits(time, t_pdt.into(), "staged: threshold of fixed"),
            staged_ttl: Reg::bits(time, ttl.into(), "staged: time to live"),
            staged_max_samples: Reg::bits(
                32,
                histogram.max_samples.into(),
                "staged: samples before aging",
            ),
            staged_bound: Reg::bits(32, reset("bound", "value"), "staged: bound"),
            staged_hop_factor: Reg::bits(32, reset("hop_factor", "value"), "staged: hop factor"),
            staged_backstop: Reg::bit(plan.t_backstop.is_some(), "staged: there is a backstop"),
            staged_t_backstop: Reg::bits(time, t_backstop.into(), "staged: the backstop"),
            enable: Reg::bit(true, "in force: the port may power down by itself"),
            policy: Reg::bits(2, policy, "in force: when"),
            sleep_now: Reg::bits(2, sleep, "in force: where to"),
            measure: Reg::bit(
                reset("control", "measure") == 1,
                "in force: the budget takes the measured hop factor",
            ),
            fixed_t_pdt: Reg::bits(time, t_pdt.into(), "in force: threshold of fixed"),
            ttl_now: Reg::bits(time, ttl.into(), "in force: time to live"),
            max_samples_now: Reg::bits(
                32,
                histogram.max_samples.into(),
                "in force: samples before aging",
            ),
            backstop: Reg::bit(plan.t_backstop.is_some(), "in force: there is a backstop"),
            t_backstop_now: Reg::bits(time, t_backstop.into(), "in force: the backstop"),
            bound: Reg::bits(32, reset("bound", "value"), "in force: bound"),
            rate_now: Reg::bits(rate_width, rate_reset, "in force: rate of the budget"),
            restart_now: Reg::bit(false, "the histogram is to be cleared"),
            pending: Reg::bit(false, "staged parameters wait"),
            ready: Reg::bit(false, "their rate is computed"),
            refresh: Reg::bit(false, "a newly measured hop factor waits"),
            rate_state: Reg::state(Rate::Settled, "what a rate is being computed for"),
            measured_wide: data("measured hop factor, in units of 2^-31"),
            sync_flag: Reg::bit(false, "the other end did not answer in time"),
            map_flag: Reg::bit(false, "a map histogram ran out of entries"),
            bin_index: Reg::bits(12, 0, "bin to fetch"),
            bin_busy: Reg::bit(false, "the bin waits for a free cycle"),
            bin_read: Reg::bit(false, "the bin was read the cycle before"),
            bin_arrives: Reg::bit(false, "the bin was read two cycles before"),
            bin_value: Reg::bits(counter, 0, "the bin fetched"),
            hop_index_now: Reg::bits(HOPS_WIDTH, 0, "packet count to read"),
            periods: event("idle periods that ended"),
            hits: event("of them hits"),
            misses: event("of them misses"),
            transitions: event("times the link left wake"),
            wake: event("cycles in wake"),
            going_down: event("cycles going down"),
            fast_wake: event("cycles in fast wake"),
            deep_sleep: event("cycles in deep sleep"),
            refreshing: event("cycles refreshing"),
            going_up: event("cycles going up"),
            waits: event("times that a packet waited for the link"),
            waited: Reg::bit(
                false,
                "a packet has waited in this time that the link is not awake",
            ),
            waiting: is("or waits now"),
            guarded: Constant::bit(plan.guard.is_some(), "there is a guard"),
            predicts: Constant::bit(predicts, "the controller can predict"),
            ages: Constant::bit(ages, "its histogram ages by parameters"),
            readable: Constant::bit(readable, "its histogram has a counter for every bin"),
            identity: page.registers[..IDENTITY]
                .iter()
                .map(|register| {
                    Constant::bits(
                        DATA_WIDTH,
                        register.reset().into(),
                        format!("{}: {}", register.name, register.doc),
                    )
                })
                .collect(),
            at_control: at("control"),
            at_command: at("command"),
            at_max_samples: at("max_samples"),
            at_bound: at("bound"),
            at_hop_factor: at("hop_factor"),
            at_status: at("status"),
            at_errors: at("errors"),
            at_hop_factor_now: at("hop_factor_now"),
            at_guard_tokens: at("guard_tokens"),
            at_bin_index: at("bin_index"),
            at_bin_count: at("bin_count"),
            at_hop_index: at("hop_index"),
            at_hop_count: at("hop_count"),
            at_t_pdt: at_pair("t_pdt_low"),
            at_ttl: at_pair("ttl_low"),
            at_t_backstop: at_pair("t_backstop_low"),
            at_t_pdt_now: at_pair("t_pdt_now_low"),
            at_t_pb: at_pair("t_pb_low"),
            at_window: at_pair("window_low"),
            at_budget: at_pair("budget_low"),
            at_periods: at_pair("periods_low"),
            at_hits: at_pair("hits_low"),
            at_misses: at_pair("misses_low"),
            at_transitions: at_pair("transitions_low"),
            at_wake: at_pair("wake_low"),
            at_going_down: at_pair("going_down_low"),
            at_fast_wake: at_pair("fast_wake_low"),
            at_deep_sleep: at_pair("deep_sleep_low"),
            at_refresh: at_pair("refresh_low"),
            at_going_up: at_pair("going_up_low"),
            at_waits: at_pair("waits_low"),
            policy_low: low("control", "policy"),
            sleep_low: low("control", "sleep"),
            measure_low: low("control", "measure"),
            backstop_low: low("control", "backstop"),
            busy_low: low("bin_index", "busy"),
            active_low: low("status", "active"),
            policies: Constant::bits(4, reset("features", "policies"), "policies built"),
            always_on: Constant::bits(
                2,
                map::policy_code(Policy::AlwaysOn).into(),
                "the policy always-on",
            ),
            sleep_fast_wake: Constant::bits(
                2,
                map::sleep_code(Sleep::FastWake).into(),
                "the sleep state fast wake",
            ),
            no_sleep: Constant::bits(2, 3, "no sleep state"),
            most_samples: Constant::bits(32, histogram.max_samples.into(), "largest max_samples"),
            one_hop: Constant::bits(32, 1 << 31, "hop factor of one link"),
            end_of_bins: Constant::bits(13, histogram.bins.into(), "number of bins"),
            okay: Constant::bits(2, response::OKAY.into(), "done"),
            refused: Constant::bits(2, response::SLVERR.into(), "the register refuses"),
            no_register: Constant::bits(2, response::DECERR.into(), "there is no register"),
            upper_bits: Constant::bits(6, DATA_WIDTH.into(), "bits of a word"),
            lower_half: Constant::bits(64, u32::MAX.into(), "the lower word of a pair"),
            upper_half: Constant::bits(
                64,
                u128::from(u32::MAX) << DATA_WIDTH,
                "the upper word of a pair",
            ),
            factor_shift: Constant::bits(
                4,
                (31 - HOP_FACTOR_FRACTION).into(),
                "from the hop monitor's units to 2^-31",
            ),
            _pair_bits: pair as usize,
            _time_bits: time as usize,
            _bin_bits: clog2(histogram.bins.into()) as usize,
            _hop_bits: HOPS_WIDTH as usize,
        }
    }
}

impl Logic for Csr {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clk,
            read_now,
            answer_now,
            upper_word,
            staged_enable,
            staged_policy,
            staged_sleep,
            staged_measure,
            staged_t_pdt,
            staged_ttl,
            staged_max_samples,
            staged_bound,
            staged_hop_factor,
            staged_backstop,
            staged_t_backstop,
            enable,
            policy,
            sleep_now,
            measure,
            fixed_t_pdt,
            ttl_now,
            max_samples_now,
            backstop,
            t_backstop_now,
            bound,
            rate_now,
            restart_now,
            pending,
            ready,
            refresh,
            rate_state,
            sync_flag,
            map_flag,
            bin_index,
            bin_busy,
            bin_read,
            bin_arrives,
            bin_value,
            hop_index_now,
            periods,
            hits,
            misses,
            transitions,
            wake,
            going_down,
            fast_wake,
            deep_sleep,
            refreshing,
            going_up,
            waits,
            waited
        );

        self.measured_wide.next = bit_cast(self.hop_factor.val(), 32) << self.factor_shift.val();

        comment!("Values of 64 bits, in two registers");
        self.pair.next = bit_cast(self.word.val() >> 1, self._pair_bits);
        self.upper.next = self.word.val().get_bit(0);
        self.is_t_pdt.next = self.pair.val() == self.at_t_pdt.val();
        self.is_ttl.next = self.pair.val() == self.at_ttl.val();
        self.is_t_backstop.next = self.pair.val() == self.at_t_backstop.val();
        self.is_pair.next = true;
        self.wide.next = 0.into();
        if self.is_t_pdt.val() {
            self.wide.next = bit_cast(self.staged_t_pdt.q.val(), 64);
        } else if self.is_ttl.val() {
            if self.ages.val() {
                self.wide.next = bit_cast(self.staged_ttl.q.val(), 64);
            }
        } else if self.is_t_backstop.val() {
            self.wide.next = bit_cast(self.staged_t_backstop.q.val(), 64);
        } else if self.pair.val() == self.at_t_pdt_now.val() {
            self.wide.next = bit_cast(self.t_pdt.val(), 64);
        } else if self.pair.val() == self.at_t_pb.val() {
            if self.predicts.val() {
                self.wide.next = bit_cast(self.t_pb.val(), 64);
            }
        } else if self.pair.val() == self.at_window.val() {
            if self.predicts.val() {
                self.wide.next = bit_cast(self.window.val(), 64);
            }
        } else if self.pair.val() == self.at_budget.val() {
            if self.predicts.val() {
                self.wide.next = bit_cast(self.budget.val(), 64);
            }
        } else if self.pair.val() == self.at_periods.val() {
            self.wide.next = self.periods.q.val();
        } else if self.pair.val() == self.at_hits.val() {
            self.wide.next = self.hits.q.val();
        } else if self.pair.val() == self.at_misses.val() {
            self.wide.next = self.misses.q.val();
        } else if self.pair.val() == self.at_transitions.val() {
            self.wide.next = self.transitions.q.val();
        } else if self.pair.val() == self.at_wake.val() {
            self.wide.next = self.wake.q.val();
        } else if self.pair.val() == self.at_going_down.val() {
            self.wide.next = self.going_down.q.val();
        } else if self.pair.val() == self.at_fast_wake.val() {
            self.wide.next = self.fast_wake.q.val();
        } else if self.pair.val() == self.at_deep_sleep.val() {
            self.wide.next = self.deep_sleep.q.val();
        } else if self.pair.val() == self.at_refresh.val() {
            self.wide.next = self.refreshing.q.val();
        } else if self.pair.val() == self.at_going_up.val() {
            self.wide.next = self.going_up.q.val();
        } else if self.pair.val() == self.at_waits.val() {
            self.wide.next = self.waits.q.val();
        } else {
            self.is_pair.next = false;
        }

        comment!("Single registers");
        self.is_control.next = self.word.val() == self.at_control.val();
        self.is_command.next = self.word.val() == self.at_command.val();
        self.is_max_samples.next = self.word.val() == self.at_max_samples.val();
        self.is_bound.next = self.word.val() == self.at_bound.val();
        self.is_hop_factor.next = self.word.val() == self.at_hop_factor.val();
        self.is_errors.next = self.word.val() == self.at_errors.val();
        self.is_bin_index.next = self.word.val() == self.at_bin_index.val();
        self.is_hop_index.next = self.word.val() == self.at_hop_index.val();
        self.is_single.next = true;
        self.present.next = 0.into();
        if self.is_control.val() {
            if self.predicts.val() {
                self.present.next = bit_cast(self.staged_enable.q.val(), 32)
                    | (bit_cast(self.staged_policy.q.val(), 32) << self.policy_low.val())
                    | (bit_cast(self.staged_sleep.q.val(), 32) << self.sleep_low.val())
                    | (bit_cast(self.staged_measure.q.val(), 32) << self.measure_low.val())
                    | (bit_cast(self.staged_backstop.q.val(), 32) << self.backstop_low.val());
            } else {
                self.present.next = bit_cast(self.staged_enable.q.val(), 32)
                    | (bit_cast(self.staged_policy.q.val(), 32) << self.policy_low.val())
                    | (bit_cast(self.staged_sleep.q.val(), 32) << self.sleep_low.val())
                    | (bit_cast(self.staged_backstop.q.val(), 32) << self.backstop_low.val());
            }
        } else if self.is_command.val() {
            self.present.next = bit_cast(self.pending.q.val(), 32);
        } else if self.is_max_samples.val() {
            if self.ages.val() {
                self.present.next = self.staged_max_samples.q.val();
            }
        } else if self.is_bound.val() {
            if self.predicts.val() {
                self.present.next = self.staged_bound.q.val();
            }
        } else if self.is_hop_factor.val() {
            if self.predicts.val() {
                self.present.next = self.staged_hop_factor.q.val();
            }
        } else if self.word.val() == self.at_status.val() {
            self.present.next = bit_cast(self.power_state.val(), 32)
                | (bit_cast(self.active.val(), 32) << self.active_low.val());
        } else if self.is_errors.val() {
            if self.predicts.val() {
                self.present.next = bit_cast(self.sync_flag.q.val(), 32)
                    | (bit_cast(self.map_flag.q.val(), 32) << 1);
            } else {
                self.present.next = bit_cast(self.sync_flag.q.val(), 32);
            }
        } else if self.word.val() == self.at_hop_factor_now.val() {
            self.present.next = self.measured_wide.val();
        } else if self.word.val() == self.at_guard_tokens.val() {
            if self.guarded.val() {
                self.present.next = bit_cast(self.guard_tokens.val(), 32);
            }
        } else if self.is_bin_index.val() {
            if self.readable.val() {
                self.present.next = bit_cast(self.bin_index.q.val(), 32)
                    | (bit_cast(self.bin_busy.q.val(), 32) << self.busy_low.val());
            }
        } else if self.word.val() == self.at_bin_count.val() {
            if self.readable.val() {
                self.present.next = bit_cast(self.bin_value.q.val(), 32);
            }
        } else if self.is_hop_index.val() {
            self.present.next = bit_cast(self.hop_index_now.q.val(), 32);
        } else if self.word.val() == self.at_hop_count.val() {
            self.present.next = bit_cast(self.hop_count.val(), 32);
        } else {
            self.is_single.next = false;
        }
        for i in 0..9 {
            if self.word.val() == i {
                self.present.next = self.identity[i].val();
                self.is_single.next = true;
            }
        }

        comment!(
            "What a read finds: a counter's upper word is the one that its lower word latched."
        );
        self.staged.next = self.is_t_pdt.val()
            | self.is_ttl.val()
            | self.is_t_backstop.val()
            | self.is_control.val()
            | self.is_max_samples.val()
            | self.is_bound.val()
            | self.is_hop_factor.val();
        if !self.is_pair.val() {
            self.seen.next = self.present.val();
        } else if !self.upper.val() {
            self.seen.next = bit_cast(self.wide.val(), 32);
        } else if self.staged.val() {
            self.seen.next = bit_cast(self.wide.val() >> self.upper_bits.val(), 32);
        } else {
            self.seen.next = self.upper_word.q.val();
        }
        if self.request.val()
            & !self.write.val()
            & self.is_pair.val()
            & !self.upper.val()
            & !self.staged.val()
        {
            self.upper_word.d.next = bit_cast(self.wide.val() >> self.upper_bits.val(), 32);
        }

        comment!("What a write makes of it, byte by byte");
        self.lanes[0].next = 0.into();
        self.lanes[1].next = 0.into();
        self.lanes[2].next = 0.into();
        self.lanes[3].next = 0.into();
        if self.write_strobe.val().get_bit(0) {
            self.lanes[0].next = 0x0000_00ff.into();
        }
        if self.write_strobe.val().get_bit(1) {
            self.lanes[1].next = 0x0000_ff00.into();
        }
        if self.write_strobe.val().get_bit(2) {
            self.lanes[2].next = 0x00ff_0000.into();
        }
        if self.write_strobe.val().get_bit(3) {
            self.lanes[3].next = 0xff00_0000u32.into();
        }
        self.mask.next =
            self.lanes[0].val() | self.lanes[1].val() | self.lanes[2].val() | self.lanes[3].val();
        self.set_bits.next = self.write_data.val() & self.mask.val();
        self.merged.next = (self.seen.val() & !self.mask.val()) | self.set_bits.val();
        if self.upper.val() {
            self.merged_wide.next = (self.wide.val() & self.lower_half.val())
                | (bit_cast(self.merged.val(), 64) << self.upper_bits.val());
        } else {
            self.merged_wide.next =
                (self.wide.val() & self.upper_half.val()) | bit_cast(self.merged.val(), 64);
        }

        comment!("Whether it may");
        self.writable.next = self.staged.val()
            | self.is_command.val()
            | self.is_errors.val()
            | self.is_bin_index.val()
            | self.is_hop_index.val();
        self.new_policy.next = bit_cast(self.merged.val() >> self.policy_low.val(), 2);
        self.new_sleep.next = bit_cast(self.merged.val() >> self.sleep_low.val(), 2);
        self.new_index.next = bit_cast(self.merged.val(), 13) & 0xfff;
        self.illegal.next = false;
        if self.is_control.val() {
            self.illegal.next = !self.policies.val().get_bit(self.new_policy.val())
                | (self.new_sleep.val() == self.no_sleep.val());
        }
        if self.ages.val() & self.is_max_samples.val() {
            self.illegal.next =
                (self.merged.val() == 0) | (self.merged.val() > self.most_samples.val());
        }
        if self.predicts.val() & self.is_hop_factor.val() {
            self.illegal.next = self.merged.val() > self.one_hop.val();
        }
        if self.readable.val() & self.is_bin_index.val() {
            self.illegal.next =
                self.bin_busy.q.val() | (self.new_index.val() >= self.end_of_bins.val());
        }
        if !(self.is_pair.val() | self.is_single.val()) {
            self.verdict.next = self.no_register.val();
        } else if self.write.val()
            & (!self.writable.val()
                | self.illegal.val()
                | (self.staged.val() & self.pending.q.val()))
        {
            self.verdict.next = self.refused.val();
        } else {
            self.verdict.next = self.okay.val();
        }
        self.writes.next = self.request.val()
            & self.write.val()
            & self.write_strobe.val().any()
            & (self.verdict.val() == self.okay.val());

        comment!("Without a request both are 0, so that the answers of many ports can be joined.");
        self.read_now.d.next = 0.into();
        self.answer_now.d.next = 0.into();
        if self.request.val() {
            self.answer_now.d.next = self.verdict.val();
            if !self.write.val() & (self.is_pair.val() | self.is_single.val()) {
                self.read_now.d.next = self.seen.val();
            }
        }
        self.read_data.next = self.read_now.q.val();
        self.answer.next = self.answer_now.q.val();

        comment!("Staged parameters");
        if self.writes.val() & self.is_control.val() {
            self.staged_enable.d.next = self.merged.val().get_bit(0);
            self.staged_policy.d.next = self.new_policy.val();
            self.staged_sleep.d.next = self.new_sleep.val();
            self.staged_backstop.d.next = self.merged.val().get_bit(self.backstop_low.val());
            if self.predicts.val() {
                self.staged_measure.d.next = self.merged.val().get_bit(self.measure_low.val());
            }
        }
        if self.writes.val() & self.is_t_pdt.val() {
            self.staged_t_pdt.d.next = bit_cast(self.merged_wide.val(), self._time_bits);
        }
        if self.writes.val() & self.is_t_backstop.val() {
            self.staged_t_backstop.d.next = bit_cast(self.merged_wide.val(), self._time_bits);
        }
        if self.ages.val() {
            if self.writes.val() & self.is_ttl.val() {
                self.staged_ttl.d.next = bit_cast(self.merged_wide.val(), self._time_bits);
            }
            if self.writes.val() & self.is_max_samples.val() {
                self.staged_max_samples.d.next = self.merged.val();
            }
        }
        if self.predicts.val() {
            if self.writes.val() & self.is_bound.val() {
                self.staged_bound.d.next = self.merged.val();
            }
            if self.writes.val() & self.is_hop_factor.val() {
                self.staged_hop_factor.d.next = self.merged.val();
            }
        }

        comment!("They come into force together when their rate is computed, in an active cycle.");
        if self.predicts.val() {
            self.commits.next = self.pending.q.val() & self.ready.q.val() & self.active.val();
        } else {
            self.commits.next = self.pending.q.val() & self.active.val();
        }
        self.next_policy.next = self.policy.q.val();
        self.next_t_pdt.next = self.fixed_t_pdt.q.val();
        if self.commits.val() {
            self.next_policy.next = self.staged_policy.q.val();
            self.next_t_pdt.next = self.staged_t_pdt.q.val();
            self.enable.d.next = self.staged_enable.q.val();
            self.sleep_now.d.next = self.staged_sleep.q.val();
            self.backstop.d.next = self.staged_backstop.q.val();
            self.t_backstop_now.d.next = self.staged_t_backstop.q.val();
            self.pending.d.next = false;
        }
        self.policy.d.next = self.next_policy.val();
        self.fixed_t_pdt.d.next = self.next_t_pdt.val();
        if self.writes.val() & self.is_command.val() & self.set_bits.val().get_bit(0) {
            self.pending.d.next = true;
        }
        self.sleeps.next = self.enable.q.val() & (self.policy.q.val() != self.always_on.val());
        self.sleep.next = self.sleep_now.q.val();
        self.backstops.next = self.backstop.q.val();
        self.t_backstop.next = self.t_backstop_now.q.val();

        if self.ages.val() {
            comment!("The histogram starts anew if its parameters change.");
            if self.restarted.val() {
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
            self.ttl.next = self.ttl_now.q.val();
            self.max_samples.next = self.max_samples_now.q.val();
            self.restart.next = self.restart_now.q.val();
        }

        if self.predicts.val() {
            if self.commits.val() {
                self.measure.d.next = self.staged_measure.q.val();
                self.bound.d.next = self.staged_bound.q.val();
            }
            comment!("The rate of the budget follows the staged parameters, or the hop monitor.");
            self.rate_start.next = false;
            self.rate_bound.next = self.bound.q.val();
            self.rate_hop_factor.next = self.measured_wide.val();
            self.is_wide_sleep.next = self.sleep_now.q.val() != self.sleep_fast_wake.val();
            if (self.rate_state.q.val() == Rate::Applying)
                | ((self.rate_state.q.val() == Rate::Settled) & self.pending.q.val())
            {
                self.rate_bound.next = self.staged_bound.q.val();
                self.is_wide_sleep.next = self.staged_sleep.q.val() != self.sleep_fast_wake.val();
                if !self.staged_measure.q.val() {
                    self.rate_hop_factor.next = self.staged_hop_factor.q.val();
                }
            }
            self.rate_deep.next = self.is_wide_sleep.val();
            match self.rate_state.q.val() {
                Rate::Settled => {
                    if self.pending.q.val() {
                        if !self.ready.q.val() {
                            self.rate_start.next = true;
                            self.rate_state.d.next = Rate::Applying;
                        }
                    } else if self.refresh.q.val() {
                        self.rate_start.next = true;
                        self.rate_state.d.next = Rate::Refreshing;
                        self.refresh.d.next = false;
                    }
                }
                Rate::Applying => {
                    if self.rate_done.val() {
                        self.ready.d.next = true;
                        self.rate_state.d.next = Rate::Settled;
                    }
                }
                Rate::Refreshing => {
                    if self.rate_done.val() {
                        self.rate_now.d.next = self.rate_computed.val();
                        self.rate_state.d.next = Rate::Settled;
                    }
                }
                _ => {
                    self.rate_state.d.next = Rate::Settled;
                }
            }
            if self.commits.val() {
                self.ready.d.next = false;
                self.rate_now.d.next = self.rate_computed.val();
                comment!("A factor measured while they waited is not in their rate.");
                self.refresh.d.next = self.staged_measure.q.val();
            } else if self.hop_measured.val() & self.measure.q.val() {
                self.refresh.d.next = true;
            }
            self.rate.next = self.rate_now.q.val();
        }

        comment!("Error flags");
        if self.writes.val() & self.is_errors.val() & self.set_bits.val().get_bit(0) {
            self.sync_flag.d.next = false;
        }
        if self.sync_error.val() {
            self.sync_flag.d.next = true;
        }
        if self.predicts.val() {
            if self.writes.val() & self.is_errors.val() & self.set_bits.val().get_bit(1) {
                self.map_flag.d.next = false;
            }
            if self.map_overflow.val() {
                self.map_flag.d.next = true;
            }
        }
        self.error_flag.next = self.sync_flag.q.val() | self.map_flag.q.val();

        if self.readable.val() {
            comment!("A bin is fetched when neither a sample nor the search reads.");
            self.bin_request.next =
                self.bin_busy.q.val() & !self.bin_read.q.val() & !self.bin_arrives.q.val();
            self.bin.next = bit_cast(self.bin_index.q.val(), self._bin_bits);
            self.bin_read.d.next = self.bin_request.val() & self.bin_taken.val();
            self.bin_arrives.d.next = self.bin_read.q.val();
            if self.bin_arrives.q.val() {
                self.bin_value.d.next = self.bin_count.val();
                self.bin_busy.d.next = false;
            }
            if self.writes.val() & self.is_bin_index.val() {
                self.bin_index.d.next = bit_cast(self.new_index.val(), 12);
                self.bin_busy.d.next = true;
            }
        }
        if self.writes.val() & self.is_hop_index.val() {
            self.hop_index_now.d.next = bit_cast(self.merged.val(), self._hop_bits);
        }
        self.hop_index.next = self.hop_index_now.q.val();

        comment!("Counters");
        self.clears.next =
            self.writes.val() & self.is_command.val() & self.set_bits.val().get_bit(1);
        self.clear_counts.next = self.clears.val();
        if self.hit.val() | self.miss.val() {
            self.periods.d.next = self.periods.q.val() + 1;
        }
        if self.hit.val() {
            self.hits.d.next = self.hits.q.val() + 1;
        }
        if self.miss.val() {
            self.misses.d.next = self.misses.q.val() + 1;
        }
        if self.leaving.val() {
            self.transitions.d.next = self.transitions.q.val() + 1;
        }
        if self.power_state.val() == 0 {
            self.wake.d.next = self.wake.q.val() + 1;
        }
        if self.power_state.val() == 1 {
            self.going_down.d.next = self.going_down.q.val() + 1;
        }
        if self.power_state.val() == 2 {
            self.fast_wake.d.next = self.fast_wake.q.val() + 1;
        }
        if self.power_state.val() == 3 {
            self.deep_sleep.d.next = self.deep_sleep.q.val() + 1;
        }
        if self.power_state.val() == 4 {
            self.refreshing.d.next = self.refreshing.q.val() + 1;
        }
        if self.power_state.val() == 5 {
            self.going_up.d.next = self.going_up.q.val() + 1;
        }
        self.waiting.next =
            !(self.power_state.val() == 0) & (self.waited.q.val() | self.queue_nonempty.val());
        self.waited.d.next = self.waiting.val();
        if self.waiting.val() & !self.waited.q.val() {
            self.waits.d.next = self.waits.q.val() + 1;
        }
        if self.clears.val() {
            self.periods.d.next = 0.into();
            self.hits.d.next = 0.into();
            self.misses.d.next = 0.into();
            self.transitions.d.next = 0.into();
            self.wake.d.next = 0.into();
            self.going_down.d.next = 0.into();
            self.fast_wake.d.next = 0.into();
            self.deep_sleep.d.next = 0.into();
            self.refreshing.d.next = 0.into();
            self.going_up.d.next = 0.into();
            self.waits.d.next = 0.into();
        }
    }
}
