//! The registers of a port: run-time parameters, counters, status (`docs/reference/registers.md`).
//!
//! How a request is answered is here; what the registers hold and do is in the sections.

mod address;
mod bins;
mod claimed;
mod claims;
mod counters;
pub mod golden;
mod interrupts;
mod layout;
pub mod map;
mod parameters;
mod rate;
mod reading;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod timing;
mod writing;

use self::bins::{BinPins, Bins};
use self::claims::{LookupClaims, ParameterClaims};
use self::counters::Waits;
use self::interrupts::Interrupts;
pub(crate) use self::layout::reset_of;
pub use self::layout::WORD_BITS;
use self::layout::{Layout, Request};
use self::parameters::{AgingPins, BackstopPins, ParameterPins, Parameters};
use self::rate::{RatePins, RateRequest};
use self::timing::{staged_width, Timing};
use crate::blocks::axi_lite::{response, RegisterPins, DATA_WIDTH};
use crate::blocks::event_counters::EventCounters;
use crate::blocks::guard::{token_bits, GuardParameters};
use crate::blocks::lpi_fsm::{TimingOutputs, COPY_CODE};
use crate::blocks::memory_code;
use crate::config::plan::{PortPlan, HOPS_WIDTH, HOP_COUNTER_WIDTH, HOP_FACTOR_FRACTION};
use crate::hdl::prelude::*;

block! {
    /// The registers of a port, in the layout of [`map::port`].
    ///
    /// Parameters have two copies: the staged one that software writes, and the one in force.
    /// `command.apply` moves all of them in one clock edge, at the end of an active cycle, so
    /// that they govern the next idle period and none that has begun.
    pub struct Csr(clk, rst);

    /// The registers of `plan`.
    ///
    /// # Panics
    /// If the plan has none.
    pub fn new(plan: &PortPlan) {
        let page = map::port(plan);
        let predicts = plan.predicts();
        let is_map = plan.maps();
        let ages = plan.ages();
        let readable = plan.reads_bins();
        let times = plan.adjustable_times();
        let adjusts = !times.is_empty();
        let time = plan.time_width;
        let histogram = &plan.histogram;
        let word = WORD_BITS;
        let agrees = plan.messages().is_some();
        let counters = counters::of(plan, &page);
        let receives = plan.counts_lpi();
        let backstops = counters::BEFORE_MESSAGES
            + if agrees { counters::MESSAGES.len() } else { 0 }
            + if receives { counters::LOW_POWER_IDLE.len() } else { 0 };
        let events = interrupts::of(&page);
        // The first two, then what not every port has.
        let refusal_event = 2 + usize::from(!plan.per_direction());
        let lost_event = refusal_event + usize::from(plan.guard.is_some());
        let lpi_event = lost_event + usize::from(plan.control_pins);
        let early_event = lpi_event + usize::from(receives);
        let guard_tokens = token_bits(plan);
        let burst = plan.guard.map_or(1, |guard| guard.burst);
        let code = memory_code(plan);
        let samples_bits = clog2(u128::from(histogram.max_samples) + 1);
    }

    about(
        "csr",
        "Registers of a port: parameters, counters, status.\n\
         \n\
         Parameters have two copies, the staged one that software writes and the one\n\
         in force. command.apply moves all of them in one clock edge, at the end of an\n\
         active cycle, so that they govern the next idle period and none that has\n\
         begun. The lower word of a counter latches the upper one when it is read.",
    )

    {
        // From the AXI4-Lite port.
        pub flat access: RegisterPins(word, "there is a request in this cycle", "; 0 without one"),
        pub out error_flag: Bit("an error flag is set"),
        pub out irq: Bit("an event that software has enabled has happened"),
        // From the port.
        pub in active: Bit("the port is active in this cycle"),
        pub in hit: Bit("an idle period ended, the link stayed awake"),
        pub in miss: Bit("an idle period ended, the link had left wake"),
        pub in leaving: Bit("the link leaves wake at the end of this cycle"),
        pub in queue_nonempty: Bit("the output queue holds a packet"),
        pub in power_state: Bits(3, "state of the link"),
        pub in sync_error: Bit("the other end has not answered in time"),
        pub in requested: Bit("a request to go down is sent") if agrees,
        pub in nacked: Bit("the other end refuses it") if agrees,
        pub in withdraws: Bit("this end takes it back") if agrees,
        pub in crosses: Bit("a request comes while one of this end waits") if agrees,
        pub in backstop_expires: Bit(
            "the timer of an end that did not transmit last expires"
        ) if !plan.per_direction(),
        pub in guard_refuses: Bit(
            "the guard keeps a link awake whose timer expires"
        ) if plan.guard.is_some(),
        pub in link_lost: Bit(
            "the PHY loses a link that had been awake"
        ) if plan.control_pins,
        pub in rx_lpi: Bit("the other end sends low power idle") if receives,
        pub in lpi_active: Bit("this end sends low power idle") if receives,
        pub in lpi_error: Bit("the other end does so malformed, or a frame comes right behind") if receives,
        pub in early_start: Bit("a frame is sent before the other end is awake") if receives,
        pub in upset: Bit(
            "a copy of a register differed from the others"
        ) if plan.triple_redundancy,
        pub in inject_upset: Bits(
            COPY_CODE, "1 to 3: that copy of what decides about the link is stored wrong, a test"
        ) if plan.triple_redundancy,
        pub out copies_differ: Bit(
            "a copy of it differs from the two others"
        ) if plan.triple_redundancy,
        pub in memory_upset: Bits(
            2, "wrong bits in words of a memory: 1, put right; 2, not"
        ) if code.is_some(),
        pub out counters_upset: Bits(2, "the same, of the counters here") if code.is_some(),
        pub in t_pdt: Bits(time, "threshold in force, in ticks"),
        pub in guard_tokens: Bits(
            guard_tokens, "whole tokens in the guard's bucket"
        ) if plan.guard.is_some(),
        // Parameters in force, or about to be.
        pub flat in_force: ParameterPins(time),
        pub flat backstop: BackstopPins(time) if !plan.per_direction(),
        pub flat times: TimingOutputs(plan) if adjusts,
        pub out sync_timeout: Bits(
            staged_width(&times), "longest wait for a message: clock cycles less one"
        ) if adjusts && agrees,
        // From and to the hop monitor.
        pub out clear_counts: Bit("packet counts become 0"),
        pub out hop_index: Bits(HOPS_WIDTH, "which packet count to read"),
        pub in hop_count: Bits(HOP_COUNTER_WIDTH, "the packet count, a cycle later"),
        pub in hop_factor: Bits(HOP_FACTOR_FRACTION + 1, "measured hop factor"),
        pub in hop_measured: Bit("it is new"),
        // From and to the predictor.
        pub in map_overflow: Bit("a map histogram ran out of entries") if is_map,
        pub in t_pb: Bits(time, "PerfBound's threshold, in ticks") if predicts,
        pub in window: Bits(time, "window it was computed for, in ticks") if predicts,
        pub in budget: Bits(plan.budget.width, "packets that may be delayed in it") if predicts,
        pub flat guard: GuardParameters(guard_tokens) if plan.guard.is_some(),
        pub flat aging: AgingPins(time) if ages,
        pub flat fetch: BinPins(plan) if readable,
        pub flat rate: RatePins(plan) if predicts,
        section layout: Layout(plan),
        // The request.
        local pair: Bits(word - 1, "address in pairs of words"),
        local lanes[byte in 0..4]: Bits(DATA_WIDTH, format!("bits of byte {byte} to write")),
        local mask: Bits(DATA_WIDTH, "bits to write"),
        local at_t_pdt_now: Bit("the address is one of t_pdt_now"),
        local at_t_pb: Bit("of t_pb"),
        local at_window: Bit("of window"),
        local at_budget: Bit("of budget"),
        local is_counter: Bit("of a counter"),
        local is_latched: Bit("of one of these"),
        local at_status: Bit("of status"),
        local at_hop_factor_now: Bit("of hop_factor_now"),
        local at_guard_tokens: Bit("of guard_tokens"),
        local at_bin_count: Bit("of bin_count"),
        local at_hop_count: Bit("of hop_count"),
        local is_identity: Bit("of a register that never changes"),
        local is_register: Bit("of any register"),
        // Values of registers, each 0 unless it is asked for.
        local lower_t_pdt: Bit("the lower word of t_pdt is asked for"),
        local lower_ttl: Bit("of ttl"),
        local lower_t_backstop: Bit("of t_backstop"),
        local lower_t_pdt_now: Bit("of t_pdt_now"),
        local lower_t_pb: Bit("of t_pb"),
        local lower_window: Bit("of window"),
        local lower_budget: Bit("of budget"),
        local lower_counter: Bit("of a counter"),
        local of_t_pdt: Bits(DATA_WIDTH, "lower word of t_pdt"),
        local of_ttl: Bits(DATA_WIDTH, "lower word of ttl"),
        local of_t_backstop: Bits(DATA_WIDTH, "lower word of t_backstop"),
        local of_upper: Bits(DATA_WIDTH, "upper word of one of these"),
        local of_control: Bits(DATA_WIDTH, "control, but for the backstop and the guard"),
        local of_backstop: Bits(DATA_WIDTH, "its bit for the backstop"),
        local of_guard: Bits(DATA_WIDTH, "its bit for the guard"),
        local of_max_samples: Bits(DATA_WIDTH, "max_samples"),
        local of_bound: Bits(DATA_WIDTH, "bound"),
        local of_hop_factor: Bits(DATA_WIDTH, "hop_factor"),
        local of_guard_burst: Bits(DATA_WIDTH, "guard_burst"),
        local of_interrupt_enable: Bits(DATA_WIDTH, "interrupt_enable"),
        local of_bin_index: Bits(DATA_WIDTH, "bin_index"),
        local of_hop_index: Bits(DATA_WIDTH, "hop_index"),
        local of_parameters: Bits(DATA_WIDTH, "one of those from of_t_pdt on"),
        local of_address: Bits(DATA_WIDTH, "what software has written at the address"),
        reg kept: Bits(DATA_WIDTH, 0, "of_address, a cycle ago: what a write of some bytes keeps"),
        local of_bin_busy: Bits(DATA_WIDTH, "bin_index.busy"),
        local of_t_pdt_now: Bits(DATA_WIDTH, "lower word of t_pdt_now"),
        local of_t_pb: Bits(DATA_WIDTH, "lower word of t_pb"),
        local of_window: Bits(DATA_WIDTH, "lower word of window"),
        local of_budget: Bits(DATA_WIDTH, "lower word of budget"),
        local of_counter: Bits(DATA_WIDTH, "lower word of a counter"),
        local of_upper_word: Bits(DATA_WIDTH, "upper word of the pair last read"),
        local of_command: Bits(DATA_WIDTH, "command"),
        local of_status: Bits(DATA_WIDTH, "status, but for low power idle"),
        local of_lpi: Bits(DATA_WIDTH, "its bits for that"),
        local of_errors: Bits(DATA_WIDTH, "errors"),
        local of_events: Bits(DATA_WIDTH, "events"),
        local of_hop_factor_now: Bits(DATA_WIDTH, "hop_factor_now"),
        local of_guard_tokens: Bits(DATA_WIDTH, "guard_tokens"),
        local of_bin_count: Bits(DATA_WIDTH, "bin_count"),
        local of_hop_count: Bits(DATA_WIDTH, "hop_count"),
        local of_identity: Bits(DATA_WIDTH, "one of the registers that never change"),
        local seen: Bits(DATA_WIDTH, "what a read finds"),
        flat asked: Request(),
        local clears: Bit("the counters become 0"),
        reg read_now: Bits(DATA_WIDTH, 0, "data read"),
        reg answer_now: Bits(2, 0, "answer"),
        reg upper_word: Bits(DATA_WIDTH, 0, "upper word of the pair last read"),
        constant policies: Bits(4, page.reset_of("features", "policies").into(), "policies built"),
        pub section parameters: Parameters(plan),
        pub section timing: Timing(plan) if adjusts,
        number _times(times.len() as u32),
        local time_staged: Bits(staged_width(&times), "the time asked for, as it is staged"),
        local time_least: Bits(DATA_WIDTH, "the least that it may be"),
        local time_most: Bits(DATA_WIDTH, "the most that it may be"),
        section rating: RateRequest(plan) if predicts,
        local measured_wide: Bits(DATA_WIDTH, "measured hop factor, in units of 2^-31"),
        // Status.
        reg sync_flag: Bit(false, "the other end did not answer in time"),
        reg map_flag: Bit(false, "a map histogram ran out of entries"),
        reg upset_flag: Bit(
            false, "a copy of a register differed from the others"
        ) if plan.triple_redundancy,
        reg corrected_flag: Bit(false, "a wrong bit of a memory was put right") if code.is_some(),
        reg wrong_flag: Bit(false, "a word of a memory was wrong") if code.is_some(),
        local flags: Bits(3, "the register errors"),
        local all_flags: Bits(5, "the same with the flags of memories"),
        choice has_upper(time > DATA_WIDTH), // a time has an upper word
        choice wide_budget(predicts && plan.budget.width > DATA_WIDTH), // so has the budget
        voter copies(
            "sleep state and times in force, in three copies"
        ) if plan.triple_redundancy,
        choice votes(plan.triple_redundancy), // these and others are kept in three copies
        choice coded(code.is_some()), // the memories have a code
        section interrupts: Interrupts(&page),
        local events[_ in 0..events.len() + 1]: Bits(
            interrupts::width(&page), "the register events, found so far"
        ),
        local all_events: Bits(interrupts::width(&page), "the register events"),
        section bins: Bins(plan) if readable,
        reg hop_index_now: Bits(HOPS_WIDTH, 0, "packet count to read"),
        child event_counters: EventCounters(&counters, code),
        section waits: Waits(),
        reg rx_lpi_before: Bit(false, "the other end sent low power idle a cycle ago") if receives,
        reg tx_lpi_before: Bit(false, "this end did") if receives,
        choice receives(receives), // software learns of low power idle from the shims
        choice agrees(agrees), // the ends agree by messages
        number _backstops(backstops),
        number _guard_refusals(backstops + usize::from(!plan.per_direction())),
        number _map_overflows(counters.len() - usize::from(is_map)),
        number _refusal_event(refusal_event),
        number _lost_event(lost_event),
        number _lpi_event(lpi_event),
        number _early_event(early_event),
        number _end_of_events(events.len()),
        choice shared(!plan.per_direction()), // both directions of the link sleep together
        choice guarded(plan.guard.is_some()), // there is a guard
        choice controlled(plan.control_pins), // there are control pins
        choice predicts(predicts), // the controller can predict
        choice is_map(is_map), // its histogram is a map
        choice ages(ages), // its histogram ages by parameters
        choice adjusts(adjusts), // software sets the times of the link
        choice readable(readable), // its histogram has a counter for every bin
        constant no_sleep: Bits(2, 3, "no sleep state"),
        constant most_samples: Bits(
            samples_bits, histogram.max_samples.into(), "largest max_samples"
        ),
        constant samples_bits: Bits(6, samples_bits.into(), "its bits"),
        constant below_one: Bits(32, (1 << 31) - 1, "bits of a hop factor below that of 1"),
        constant most_tokens: Bits(32, burst.into(), "largest guard_burst"),
        constant end_of_bins: Bits(13, histogram.bins.into(), "number of bins"),
        // For the proofs (docs/evidence/proofs.md).
        section claims: ParameterClaims(plan),
        section lookups: LookupClaims(),
        constant okay: Bits(2, response::OKAY.into(), "done"),
        constant refused: Bits(2, response::SLVERR.into(), "the register refuses"),
        constant no_register: Bits(2, response::DECERR.into(), "there is no register"),
        constant upper_bits: Bits(6, DATA_WIDTH.into(), "bits of a word"),
        constant end_of_identity: Bits(word, layout::IDENTITY as u128, "number of them"),
        constant factor_shift: Bits(
            4, (31 - HOP_FACTOR_FRACTION).into(), "from the hop monitor's units to 2^-31"
        ),
    }
}

pieces! {
    impl Logic for Csr {
        Flags,
        Events,
        Pairs,
        Words,
        WrittenTimes,
        Written,
        Kept,
        FoundTimes,
        Found,
        Seen,
        UpperWord,
        Merging,
        Legality,
        Verdict,
        Answer,
        InForce,
        ErrorFlags,
        Places,
        Counters,
        LowPowerIdle,
        Interruption,
        ForLookupClaims,
        ForParameterClaims,
    }
}

/// The error flags, as software reads them.
impl Piece<Flags> for Csr {
    #[hdl_gen]
    fn update(&mut self) {
        if self.is_map & self.votes {
            self.flags.next = bit_cast(self.sync_flag.q.val(), &self.flags)
                | (bit_cast(self.map_flag.q.val(), &self.flags) << 1)
                | (bit_cast(self.upset_flag.q.val(), &self.flags) << 2);
        } else if self.is_map {
            self.flags.next = bit_cast(self.sync_flag.q.val(), &self.flags)
                | (bit_cast(self.map_flag.q.val(), &self.flags) << 1);
        } else if self.votes {
            self.flags.next = bit_cast(self.sync_flag.q.val(), &self.flags)
                | (bit_cast(self.upset_flag.q.val(), &self.flags) << 2);
        } else {
            self.flags.next = bit_cast(self.sync_flag.q.val(), &self.flags);
        }
        if self.coded {
            self.all_flags.next = bit_cast(self.flags.val(), &self.all_flags)
                | (bit_cast(self.corrected_flag.q.val(), &self.all_flags) << 3)
                | (bit_cast(self.wrong_flag.q.val(), &self.all_flags) << 4);
            self.error_flag.next = self.all_flags.val().any();
        } else {
            self.error_flag.next = self.flags.val().any();
        }
    }
}

/// The events, as software reads them, and the measured hop factor.
impl Piece<Events> for Csr {
    #[hdl_gen]
    fn update(&mut self) {
        self.events[0].next = bit_cast(self.error_flag.val(), &self.events[0]);
        for i in 0..self._end_of_events {
            self.events[i + 1].next = self.events[i].val();
            if self.interrupts.happened[i].q.val() {
                self.events[i + 1].next = self.events[i].val() | self.interrupts.flag[i].val();
            }
        }
        self.all_events.next = self.events[self._end_of_events].val();
        self.measured_wide.next = bit_cast(self.hop_factor.val(), 32) << self.factor_shift.val();
    }
}

/// The answer to a request, a cycle later.
impl Piece<Answer> for Csr {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("Without a request both are 0, so that the answers of many ports can be joined.");
        self.read_now.d.next = 0.into();
        self.answer_now.d.next = 0.into();
        if self.access.request.val() {
            self.answer_now.d.next = self.asked.verdict.val();
            if !self.access.write.val() {
                self.read_now.d.next = self.seen.val();
            }
        }
        self.access.read_data.next = self.read_now.q.val();
        self.access.answer.next = self.answer_now.q.val();
    }
}

/// The parameters: staged, and in force.
impl Piece<InForce> for Csr {
    #[hdl_gen]
    fn update(&mut self) {
        self.parameters.active.next = self.active.val();
        ParameterPins::link(&mut self.in_force, &mut self.parameters.in_force);
        if self.shared {
            BackstopPins::link(&mut self.backstop, &mut self.parameters.backstop_now);
            self.parameters.backstop_low.next = self.layout.backstop_low.val();
        }
        if self.ages {
            AgingPins::link(&mut self.aging, &mut self.parameters.aging);
        }
        if self.guarded {
            GuardParameters::link(&mut self.guard, &mut self.parameters.guard);
            self.parameters.guard_off_low.next = self.layout.guard_off_low.val();
        }
        Request::link(&mut self.asked, &mut self.parameters.asked);
        self.parameters.measure_low.next = self.layout.measure_low.val();
        if self.adjusts {
            self.timing.word.next = self.access.word.val();
            self.timing.commits.next = self.parameters.commits.val();
            Request::link(&mut self.asked, &mut self.timing.asked);
            TimingOutputs::link(&mut self.times, &mut self.timing.in_force);
            if self.agrees {
                self.sync_timeout.next = self.timing.sync_timeout.val();
            }
            self.claims.times_staged_kept.next = self.timing.staged_times_kept.val();
            self.claims.times_in_force_kept.next = self.timing.used_times_kept.val();
            if self.predicts {
                self.rating.staged_fast_wake.next = self.timing.staged_fast_wake.val();
                self.rating.staged_deep_sleep.next = self.timing.staged_deep_sleep.val();
                self.rating.now_fast_wake.next = self.timing.now_fast_wake.val();
                self.rating.now_deep_sleep.next = self.timing.now_deep_sleep.val();
            }
        }
        if self.predicts {
            self.parameters.ready.next = self.rating.ready.q.val();
            RatePins::link(&mut self.rate, &mut self.rating.pins);
            self.rating.pending.next = self.parameters.pending.q.val();
            self.rating.commits.next = self.parameters.commits.val();
            self.rating.staged_bound.next = self.parameters.staged_bound.q.val();
            self.rating.staged_sleep.next = self.parameters.staged_sleep.q.val();
            self.rating.staged_measure.next = self.parameters.staged_measure.q.val();
            self.rating.staged_hop_factor.next = self.parameters.staged_hop_factor.q.val();
            self.rating.bound.next = self.parameters.bound.q.val();
            self.rating.sleep_now.next = self.parameters.sleep_now.q.val();
            self.rating.measure.next = self.parameters.measure.q.val();
            self.rating.hop_measured.next = self.hop_measured.val();
            self.rating.measured_wide.next = self.measured_wide.val();
        }
    }
}

/// What sets and clears the error flags.
impl Piece<ErrorFlags> for Csr {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("Error flags");
        if self.asked.is_write.val()
            & self.asked.is_errors.val()
            & self.asked.set_bits.val().get_bit(0)
        {
            self.sync_flag.d.next = false;
        }
        if self.sync_error.val() {
            self.sync_flag.d.next = true;
        }
        if self.is_map {
            if self.asked.is_write.val()
                & self.asked.is_errors.val()
                & self.asked.set_bits.val().get_bit(1)
            {
                self.map_flag.d.next = false;
            }
            if self.map_overflow.val() {
                self.map_flag.d.next = true;
            }
        }
        if self.votes {
            self.copies.d.next = self.inject_upset.val();
            self.copies_differ.next = self.copies.q.val().any();
            if self.asked.is_write.val()
                & self.asked.is_errors.val()
                & self.asked.set_bits.val().get_bit(2)
            {
                self.upset_flag.d.next = false;
            }
            if self.upset.val() {
                self.upset_flag.d.next = true;
            }
        }
        if self.coded {
            if self.asked.is_write.val() & self.asked.is_errors.val() {
                if self.asked.set_bits.val().get_bit(3) {
                    self.corrected_flag.d.next = false;
                }
                if self.asked.set_bits.val().get_bit(4) {
                    self.wrong_flag.d.next = false;
                }
            }
            if self.memory_upset.val().get_bit(0) {
                self.corrected_flag.d.next = true;
            }
            if self.memory_upset.val().get_bit(1) {
                self.wrong_flag.d.next = true;
            }
            self.counters_upset.next = self.event_counters.memory_upset.val();
        }
    }
}

/// Which bin and which packet count software reads.
impl Piece<Places> for Csr {
    #[hdl_gen]
    fn update(&mut self) {
        if self.readable {
            BinPins::link(&mut self.fetch, &mut self.bins.fetch);
            Request::link(&mut self.asked, &mut self.bins.asked);
        }
        if self.asked.is_write.val() & self.asked.is_hop_index.val() {
            self.hop_index_now.d.next = bit_cast(self.asked.merged.val(), &self.hop_index_now);
        }
        self.hop_index.next = self.hop_index_now.q.val();
    }
}

/// What the counters count.
impl Piece<Counters> for Csr {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("Counters");
        self.clears.next = self.asked.is_write.val()
            & self.asked.is_command.val()
            & self.asked.set_bits.val().get_bit(1);
        self.clear_counts.next = self.clears.val();
        self.event_counters.clear.next = self.clears.val();
        self.event_counters.ask.next = self.access.ahead.val();
        self.event_counters.place.next = bit_cast(self.pair.val(), 5);
        self.waits.queue_nonempty.next = self.queue_nonempty.val();
        self.waits.power_state.next = self.power_state.val();
        self.event_counters.happens[0].next = self.hit.val() | self.miss.val();
        self.event_counters.happens[1].next = self.hit.val();
        self.event_counters.happens[2].next = self.miss.val();
        self.event_counters.happens[3].next = self.leaving.val();
        for i in 0..6 {
            self.event_counters.happens[4 + i].next = self.power_state.val() == i;
        }
        self.event_counters.happens[10].next = self.waits.begins.val();
        if self.agrees {
            self.event_counters.happens[11].next = self.requested.val();
            self.event_counters.happens[12].next = self.nacked.val();
            self.event_counters.happens[13].next = self.withdraws.val();
            self.event_counters.happens[14].next = self.crosses.val();
            self.event_counters.happens[15].next = self.sync_error.val();
        }
        if self.shared {
            self.event_counters.happens[self._backstops].next = self.backstop_expires.val();
        }
        if self.guarded {
            self.event_counters.happens[self._guard_refusals].next = self.guard_refuses.val();
        }
        if self.is_map {
            self.event_counters.happens[self._map_overflows].next = self.map_overflow.val();
        }
    }
}

/// What is counted of low power idle that is received, and sent.
impl Piece<LowPowerIdle> for Csr {
    #[hdl_gen]
    fn update(&mut self) {
        if self.receives {
            self.rx_lpi_before.d.next = self.rx_lpi.val();
            self.tx_lpi_before.d.next = self.lpi_active.val();
            self.event_counters.happens[11].next = self.rx_lpi.val() & !self.rx_lpi_before.q.val();
            self.event_counters.happens[12].next = self.rx_lpi.val();
            self.event_counters.happens[13].next =
                self.lpi_active.val() & !self.tx_lpi_before.q.val();
            self.event_counters.happens[14].next = self.lpi_active.val();
            self.event_counters.happens[15].next = self.lpi_error.val();
            self.event_counters.happens[16].next = self.early_start.val();
        }
    }
}

/// What raises the interrupt.
impl Piece<Interruption> for Csr {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("Events that raise the interrupt");
        Request::link(&mut self.asked, &mut self.interrupts.asked);
        self.interrupts.flags.next = self.all_events.val();
        self.interrupts.happens[0].next = self.parameters.commits.val();
        self.interrupts.happens[1].next = self.waits.begins.val();
        if self.shared {
            self.interrupts.happens[2].next = self.backstop_expires.val();
        }
        if self.guarded {
            self.interrupts.happens[self._refusal_event].next = self.guard_refuses.val();
        }
        if self.controlled {
            self.interrupts.happens[self._lost_event].next = self.link_lost.val();
        }
        if self.receives {
            self.interrupts.happens[self._lpi_event].next = self.lpi_error.val();
            self.interrupts.happens[self._early_event].next = self.early_start.val();
        }
        self.irq.next = self.interrupts.raised.q.val();
    }
}
