//! Golden model of the registers: what a read finds and a write does, register by register.

use std::sync::Arc;

use super::map::{self, Map, Register};
use crate::blocks::axi_lite::golden::{Answer, Request};
use crate::blocks::budget_rate::golden::Operands;
use crate::blocks::link_sync::golden::Counted;
use crate::blocks::port::pins::{LowPowerIdle, PowerState};
use crate::config::plan::{AdjustableTime, HistogramKind, LinkTime, LinkTimes, PortPlan};

/// The parameters that software sets, as their fields encode them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// The port may power down by itself.
    pub enable: bool,
    /// `control.policy`.
    pub policy: u32,
    /// `control.sleep`.
    pub sleep: u32,
    /// The budget takes the measured hop factor.
    pub measure: bool,
    /// Threshold of the policy fixed, in ticks.
    pub t_pdt: u64,
    /// Time to live of the histogram, in ticks; 0 is the longest that is counted.
    pub ttl: u64,
    /// Samples after which the histogram ages.
    pub max_samples: u32,
    /// In units of `2^-32`.
    pub bound: u32,
    /// In units of `2^-31`.
    pub hop_factor: u32,
    /// `control.backstop`; `false` where each direction of the link sleeps for itself.
    pub backstop: bool,
    /// The backstop, in ticks.
    pub t_backstop: u64,
    /// `control.guard_off`: the guard permits every sleep.
    pub guard_off: bool,
    /// Tokens in a full bucket of the guard; 0 without one.
    pub guard_burst: u32,
    /// The times of the link in clock cycles, in the order of [`LinkTime::ALL`].
    pub times: LinkTimes,
}

impl Parameters {
    /// Those of the configuration.
    pub fn of(plan: &PortPlan) -> Self {
        let rate = plan.budget.rate.filter(|_| plan.predicts());
        let histogram = plan.ages().then_some(plan.histogram);
        let backstop = plan.t_backstop.unwrap_or(plan.histogram.max_value);
        let shared = !plan.per_direction();
        Parameters {
            enable: true,
            policy: map::policy_code(plan.policy),
            sleep: map::sleep_code(plan.sleep),
            measure: rate.is_some_and(|rate| rate.measures),
            t_pdt: plan.registers.map_or(0, |built| built.t_pdt),
            ttl: histogram.and_then(|histogram| histogram.ttl).unwrap_or(0),
            max_samples: histogram.map_or(0, |histogram| histogram.max_samples),
            bound: rate.map_or(0, |rate| rate.bound),
            hop_factor: rate.map_or(0, |rate| rate.hop_factor),
            backstop: shared && plan.t_backstop.is_some(),
            t_backstop: if shared { backstop } else { 0 },
            guard_off: false,
            guard_burst: plan.guard.map_or(0, |guard| guard.burst),
            times: plan.times(),
        }
    }

    /// The backstop of an end that did not transmit last, in ticks; `None`: for ever.
    pub fn backstop(&self) -> Option<u64> {
        self.backstop.then_some(self.t_backstop)
    }

    /// The port powers down by itself.
    pub fn sleeps(&self) -> bool {
        self.enable && self.policy != 0
    }
}

/// What the rest of the port says in a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Port {
    /// The port is active.
    pub active: bool,
    /// An idle period ended: the link stayed awake.
    pub hit: bool,
    /// An idle period ended: the link had left wake.
    pub miss: bool,
    /// The link leaves wake at the end of the cycle.
    pub leaving: bool,
    /// The output queue holds a packet.
    pub queue_nonempty: bool,
    /// State of the link.
    pub power_state: PowerState,
    /// The other end did not answer in time.
    pub sync_error: bool,
    /// What happens between the ends.
    pub exchange: Counted,
    /// The timer of an end that did not transmit last expires, in a link that is awake.
    pub backstop_expires: bool,
    /// The guard keeps a link awake whose timer expires.
    pub guard_refuses: bool,
    /// The PHY loses a link that had been awake.
    pub link_lost: bool,
    /// What the shims say of LPI; nothing where both directions of the link sleep together.
    pub lpi: LowPowerIdle,
    /// A copy of a register differs from the others.
    pub upset: bool,
    /// Wrong bits in words of memories: 1, put right; 2, not.
    pub memory_upset: u8,
    /// Threshold in force, in ticks.
    pub t_pdt: u64,
    /// Whole tokens in the guard's bucket.
    pub guard_tokens: u64,
    /// A map histogram ran out of entries.
    pub map_overflow: bool,
    /// PerfBound's threshold, in ticks.
    pub t_pb: u64,
    /// Its window, in ticks.
    pub window: u64,
    /// Its budget, in packets.
    pub budget: u64,
    /// The histogram has been cleared.
    pub restarted: bool,
    /// A bin asked for is read in this cycle.
    pub bin_taken: bool,
    /// The bin read in the cycle before.
    pub bin_count: u64,
    /// The packet count that was asked for in the cycle before.
    pub hop_count: u32,
    /// The measured hop factor, in units of `2^-16`.
    pub hop_factor: u64,
    /// It is new.
    pub hop_measured: bool,
    /// A rate has been computed.
    pub rate_done: bool,
    /// It.
    pub rate_computed: u128,
}

/// What a rate is being computed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Computing {
    Nothing,
    Staged,
    Measured,
}

/// Where a bin that software asked for is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fetch {
    Done,
    Waiting,
    Reading,
    Arriving,
}

/// Cycle-exact model of the registers.
#[derive(Clone, Debug)]
pub struct Csr {
    plan: PortPlan,
    page: Arc<Map>,
    /// The times of the link that software may set.
    limits: Arc<[AdjustableTime]>,
    answer: Answer,
    latched: u32,
    staged: Parameters,
    in_force: Parameters,
    rate: u128,
    restart: bool,
    pending: bool,
    ready: bool,
    refresh: bool,
    computing: Computing,
    sync_flag: bool,
    map_flag: bool,
    upset_flag: bool,
    /// As `errors.memory_corrected` and `errors.memory_wrong`: 1 and 2.
    memory_flags: u8,
    bin_index: u32,
    fetch: Fetch,
    bin_count: u64,
    hop_index: u8,
    /// A packet has waited in this time that the link is not awake.
    waited: bool,
    /// The other end sent LPI in the cycle before.
    received_lpi: bool,
    /// This end did.
    sent_lpi: bool,
    /// The event counters in the order of [`EVENTS`]; those that the configuration lacks stay 0.
    counts: [u64; EVENTS.len()],
    /// As they were a cycle ago, which is what a read finds.
    counts_before: [u64; EVENTS.len()],
    /// Flags of `events`, without `error`; the events that raise the interrupt, and it.
    events: u32,
    interrupt_enable: u32,
    interrupt: bool,
}

/// The event counters by the names of their registers; the times in the states are in the
/// order of [`PowerState::ALL`].
const EVENTS: [&str; 25] = [
    "wake",
    "going_down",
    "fast_wake",
    "deep_sleep",
    "refresh",
    "going_up",
    "periods",
    "hits",
    "misses",
    "transitions",
    "waits",
    "requests",
    "nacks",
    "withdrawn",
    "crossed",
    "time_outs",
    "backstops",
    "guard_refusals",
    "map_overflows",
    "rx_lpi_transitions",
    "rx_lpi",
    "tx_lpi_transitions",
    "tx_lpi",
    "lpi_errors",
    "early_starts",
];

/// The places in [`EVENTS`] of those that count time as those of the states do.
const RX_LPI: usize = 20;
const TX_LPI: usize = 22;

impl Csr {
    /// The registers of `plan` just after reset.
    pub fn new(plan: &PortPlan) -> Self {
        Csr {
            plan: *plan,
            page: Arc::new(map::port(plan)),
            limits: plan.adjustable_times().into(),
            answer: Answer::default(),
            latched: 0,
            staged: Parameters::of(plan),
            in_force: Parameters::of(plan),
            rate: plan.budget.product.map_or(0, |product| product.k),
            restart: false,
            pending: false,
            ready: false,
            refresh: false,
            computing: Computing::Nothing,
            sync_flag: false,
            map_flag: false,
            upset_flag: false,
            memory_flags: 0,
            bin_index: 0,
            fetch: Fetch::Done,
            bin_count: 0,
            hop_index: 0,
            waited: false,
            received_lpi: false,
            sent_lpi: false,
            counts: [0; EVENTS.len()],
            counts_before: [0; EVENTS.len()],
            events: 0,
            interrupt_enable: 0,
            interrupt: false,
        }
    }

    /// The answer to the request of the cycle before.
    pub fn answer(&self) -> Answer {
        self.answer
    }

    /// The parameters in force.
    pub fn in_force(&self) -> Parameters {
        self.in_force
    }

    /// The parameters in force after a cycle in which the port is `active` or not.
    pub fn next(&self, active: bool) -> Parameters {
        if self.commits(active) {
            self.staged
        } else {
            self.in_force
        }
    }

    /// `K` of SPEC 7.3 in force.
    pub fn rate(&self) -> u128 {
        self.rate
    }

    /// The next sample is to find the histogram empty.
    pub fn restart(&self) -> bool {
        self.restart
    }

    /// The bin that software asks for.
    pub fn bin_request(&self) -> Option<u32> {
        (self.fetch == Fetch::Waiting).then_some(self.bin_index)
    }

    /// The packet count that software asks for.
    pub fn hop_index(&self) -> u8 {
        self.hop_index
    }

    /// The counters are cleared at the end of a cycle with this request.
    pub fn clears(&self, request: Option<Request>, port: &Port) -> bool {
        match request {
            Some(Request::Write { word, data, strobe }) => {
                word * 4 == self.page.register("command").offset
                    && self.refusal(word, data, strobe, port).is_none()
                    && data & mask(strobe) & self.page.field("command", "clear_counters").mask()
                        != 0
            }
            _ => false,
        }
    }

    /// The rate whose computation starts in this cycle.
    pub fn rate_start(&self, hop_factor: u64) -> Option<Operands> {
        if !self.plan.predicts() || self.computing != Computing::Nothing {
            return None;
        }
        let of = |parameters: &Parameters| Operands {
            bound: parameters.bound,
            hop_factor: if parameters.measure {
                (hop_factor << 15) as u32
            } else {
                parameters.hop_factor
            },
            t_w: match parameters.sleep {
                0 => parameters.times[LinkTime::WakeFastWake as usize],
                _ => parameters.times[LinkTime::WakeDeepSleep as usize],
            },
        };
        match (self.pending, self.ready, self.refresh) {
            (true, false, _) => Some(of(&self.staged)),
            (false, _, true) => Some(of(&self.in_force)),
            _ => None,
        }
    }

    fn commits(&self, active: bool) -> bool {
        self.pending && active && (self.ready || !self.plan.predicts())
    }

    /// The value of a register of which fields that the configuration lacks are 0.
    fn read(&self, register: &Register, port: &Port) -> u32 {
        let field = |name: &str, value: u32| {
            register
                .fields
                .iter()
                .find(|field| field.name == name)
                .map_or(0, |field| value << field.low & field.mask())
        };
        let staged = &self.staged;
        if let Some(name) = register.name.strip_suffix("_high") {
            return match name {
                "t_pdt" | "ttl" | "t_backstop" => (self.wide(name, port) >> 32) as u32,
                _ => self.latched,
            };
        }
        if let Some(name) = register.name.strip_suffix("_low") {
            return self.wide(name, port) as u32;
        }
        match register.name {
            "control" => {
                field("enable", staged.enable.into())
                    | field("policy", staged.policy)
                    | field("sleep", staged.sleep)
                    | field("measure", staged.measure.into())
                    | field("backstop", staged.backstop.into())
                    | field("guard_off", staged.guard_off.into())
            }
            "command" => field("apply", self.pending.into()),
            "max_samples" => field("value", staged.max_samples),
            "bound" => field("value", staged.bound),
            "hop_factor" => field("value", staged.hop_factor),
            "guard_burst" => field("value", staged.guard_burst),
            "status" => {
                field("power_state", port.power_state as u32)
                    | field("active", port.active.into())
                    | field("rx_lpi", port.lpi.received.into())
                    | field("tx_lpi", port.lpi.sent.into())
            }
            "errors" => {
                field("sync", self.sync_flag.into())
                    | field("map_overflow", self.map_flag.into())
                    | field("upset", self.upset_flag.into())
                    | field("memory_corrected", (self.memory_flags & 1).into())
                    | field("memory_wrong", (self.memory_flags >> 1).into())
            }
            "events" => self.flags(),
            "interrupt_enable" => self.interrupt_enable,
            "hop_factor_now" => field("value", (port.hop_factor << 15) as u32),
            "guard_tokens" => field("value", port.guard_tokens as u32),
            "bin_index" => {
                field("index", self.bin_index) | field("busy", (self.fetch != Fetch::Done).into())
            }
            "bin_count" => field("value", self.bin_count as u32),
            "hop_index" => field("value", self.hop_index.into()),
            "hop_count" => field("value", port.hop_count),
            name if time_of(name).is_some() => {
                let time = time_of(name).map_or(0, |time| staged.times[time as usize]);
                field("value", time as u32)
            }
            _ => register.reset(),
        }
    }

    /// A value of two registers.
    fn wide(&self, name: &str, port: &Port) -> u64 {
        let predicted = |value: u64| if self.plan.predicts() { value } else { 0 };
        match name {
            "t_pdt" => self.staged.t_pdt,
            "ttl" => self.staged.ttl,
            "t_backstop" => self.staged.t_backstop,
            "t_pdt_now" => port.t_pdt,
            "t_pb" => predicted(port.t_pb),
            "window" => predicted(port.window),
            "budget" => predicted(port.budget),
            counter => {
                let counters = EVENTS.iter().zip(self.counts_before);
                counters
                    .filter(|(name, _)| **name == counter)
                    .map(|(_, count)| count)
                    .sum()
            }
        }
    }

    /// Why a write changes nothing; `None` if it is done.
    fn refusal(&self, word: u32, data: u32, strobe: u8, port: &Port) -> Option<u8> {
        let Some(register) = self.page.at(word) else {
            return Some(3);
        };
        let value = self.read(register, port) & !mask(strobe) | data & mask(strobe);
        let predicts = self.plan.predicts();
        let legal = match register.name {
            "control" => ["policy", "sleep"].iter().all(|name| {
                let field = self.page.field("control", name);
                let code = (value & field.mask()) >> field.low;
                field
                    .values
                    .iter()
                    .any(|&(_, known, built)| known == code && built)
            }),
            "max_samples" => {
                !self.plan.ages() || (1..=self.plan.histogram.max_samples).contains(&value)
            }
            "hop_factor" => !predicts || value <= 1 << 31,
            "guard_burst" => {
                (self.plan.guard).is_none_or(|guard| (1..=guard.burst).contains(&value))
            }
            "bin_index" => {
                !self.plan.reads_bins()
                    || self.fetch == Fetch::Done && (value & 0xfff) < self.plan.histogram.bins
            }
            name => self.limits.iter().all(|limits| {
                limits.time.name() != name
                    || (limits.least..=limits.most).contains(&u64::from(value))
            }),
        };
        let locked = register.staged && self.pending;
        (!register.writable || !legal || locked).then_some(2)
    }

    fn write(&mut self, register: &Register, data: u32, strobe: u8, port: &Port) {
        let ones = data & mask(strobe);
        let value = self.read(register, port) & !mask(strobe) | ones;
        let page = &self.page;
        let field = |name: &str| {
            let field = page.register(register.name).fields.iter();
            field
                .clone()
                .find(|field| field.name == name)
                .map_or(0, |field| (value & field.mask()) >> field.low)
        };
        let time = self.plan.max_time();
        let join = |old: u64| {
            if register.name.ends_with("_high") {
                (old & u64::from(u32::MAX) | u64::from(value) << 32) & time
            } else {
                (old >> 32 << 32 | u64::from(value)) & time
            }
        };
        let (predicts, ages) = (self.plan.predicts(), self.plan.ages());
        match register.name {
            "control" => {
                let (enable, measure) = (field("enable") == 1, field("measure") == 1);
                let (policy, sleep) = (field("policy"), field("sleep"));
                let backstop = field("backstop") == 1;
                let guard_off = field("guard_off") == 1;
                self.staged = Parameters {
                    enable,
                    policy,
                    sleep,
                    measure,
                    backstop,
                    guard_off,
                    ..self.staged
                };
            }
            "t_pdt_low" | "t_pdt_high" => self.staged.t_pdt = join(self.staged.t_pdt),
            "t_backstop_low" | "t_backstop_high" if !self.plan.per_direction() => {
                self.staged.t_backstop = join(self.staged.t_backstop);
            }
            "ttl_low" | "ttl_high" if ages => self.staged.ttl = join(self.staged.ttl),
            "max_samples" if ages => self.staged.max_samples = value,
            "bound" if predicts => self.staged.bound = value,
            "hop_factor" if predicts => self.staged.hop_factor = value,
            "guard_burst" if self.plan.guard.is_some() => self.staged.guard_burst = value,
            "command" if ones & page.field("command", "apply").mask() != 0 => self.pending = true,
            "bin_index" if self.plan.reads_bins() => {
                self.bin_index = field("index");
                self.fetch = Fetch::Waiting;
            }
            "hop_index" => self.hop_index = field("value") as u8,
            "interrupt_enable" => self.interrupt_enable = value & register.writable_bits(),
            name => {
                if let Some(time) = time_of(name) {
                    self.staged.times[time as usize] = value.into();
                }
            }
        }
    }

    /// The clock edge at the end of a cycle.
    pub fn clock(&mut self, request: Option<Request>, port: &Port) {
        let before = self.clone();
        let clears = self.clears(request, port);
        // What the hardware does.
        let begins_to_wait = self.begins_to_wait(port);
        self.count(port, begins_to_wait);
        if clears {
            self.counts = [0; EVENTS.len()];
            self.counts_before = self.counts;
        }
        self.interrupt = before.flags() & before.interrupt_enable != 0;
        self.fetch = match before.fetch {
            Fetch::Waiting if port.bin_taken => Fetch::Reading,
            Fetch::Reading => Fetch::Arriving,
            Fetch::Arriving => {
                self.bin_count = port.bin_count;
                Fetch::Done
            }
            other => other,
        };
        self.compute(port);
        if before.commits(port.active) {
            self.in_force = before.staged;
            self.pending = false;
            self.ready = false;
            if self.plan.predicts() {
                self.rate = port.rate_computed;
                self.refresh = before.staged.measure;
                self.restart |= (before.in_force.ttl, before.in_force.max_samples)
                    != (before.staged.ttl, before.staged.max_samples);
            }
        }
        // What software does.
        self.answer = Answer::default();
        let (mut ones, mut events_cleared) = (0, 0);
        match request {
            Some(Request::Read { word }) => match self.page.at(word).cloned() {
                Some(register) => {
                    self.answer.data = before.read(&register, port);
                    let name = register.name.strip_suffix("_low");
                    if let Some(name) = name.filter(|_| !register.staged) {
                        self.latched = (before.wide(name, port) >> 32) as u32;
                    }
                }
                None => self.answer.response = 3,
            },
            Some(Request::Write { word, data, strobe }) => {
                match before.refusal(word, data, strobe, port) {
                    Some(response) => self.answer.response = response,
                    None if strobe & 15 != 0 => {
                        if let Some(register) = self.page.at(word).cloned() {
                            self.write(&register, data, strobe, port);
                            match register.name {
                                "errors" => ones = data & mask(strobe),
                                "events" => events_cleared = data & mask(strobe),
                                _ => {}
                            }
                        }
                    }
                    None => {}
                }
            }
            None => {}
        }
        self.sync_flag = self.sync_flag && ones & 1 == 0 || port.sync_error;
        self.map_flag = self.maps() && (self.map_flag && ones & 2 == 0 || port.map_overflow);
        self.upset_flag =
            self.plan.triple_redundancy && (self.upset_flag && ones & 4 == 0 || port.upset);
        if self.plan.codes_memories() {
            let cleared = (ones >> 3) as u8;
            self.memory_flags = self.memory_flags & !cleared | port.memory_upset;
        }
        let happened = [
            ("applied", before.commits(port.active)),
            ("waited", begins_to_wait),
            ("backstop", port.backstop_expires),
            ("guard_refusal", port.guard_refuses),
            ("link_lost", port.link_lost),
            ("lpi_error", port.lpi.error),
            ("early_start", port.lpi.early_start),
        ];
        // An event that the configuration lacks has no field.
        let events = &self.page.register("events").fields;
        let happened = events
            .iter()
            .filter(|field| happened.contains(&(field.name, true)));
        let happened: u32 = happened.map(|field| field.mask()).sum();
        self.events = self.events & !events_cleared | happened;
    }

    /// What a read of `events` finds.
    fn flags(&self) -> u32 {
        self.events | u32::from(self.error_flag())
    }

    /// A packet begins to wait for the link.
    fn begins_to_wait(&self, port: &Port) -> bool {
        port.power_state != PowerState::Wake && port.queue_nonempty && !self.waited
    }

    fn count(&mut self, port: &Port, waits: bool) {
        self.skip(1, port.power_state, port.lpi);
        let lpi = match self.plan.counts_lpi() {
            true => port.lpi,
            false => LowPowerIdle::default(),
        };
        let ended = port.hit || port.miss;
        let exchange = match self.plan.messages() {
            Some(_) => port.exchange,
            None => Counted::default(),
        };
        let happened = [
            ended,
            port.hit,
            port.miss,
            port.leaving,
            waits,
            exchange.requested,
            exchange.nacked,
            exchange.withdraws,
            exchange.crosses,
            port.sync_error && self.plan.messages().is_some(),
            port.backstop_expires && !self.plan.per_direction(),
            port.guard_refuses && self.plan.guard.is_some(),
            port.map_overflow && self.maps(),
            lpi.received && !self.received_lpi,
            // The times of LPI are counted with those in the states.
            false,
            lpi.sent && !self.sent_lpi,
            false,
            lpi.error,
            lpi.early_start,
        ];
        for (count, happened) in self.counts[6..].iter_mut().zip(happened) {
            *count += u64::from(happened);
        }
        (self.received_lpi, self.sent_lpi) = (lpi.received, lpi.sent);
        self.waited = port.power_state != PowerState::Wake && (self.waited || port.queue_nonempty);
    }

    /// Calls `visit` with the registers that count time.
    pub fn time_registers(&self, visit: &mut impl FnMut(&'static str, u64)) {
        // The place of each in the list of the hardware's counters, and in their memory.
        let names = [
            "u_csr.u_event_counters.counts[4][28]",
            "u_csr.u_event_counters.counts[5][29]",
            "u_csr.u_event_counters.counts[6][30]",
            "u_csr.u_event_counters.counts[7][31]",
            "u_csr.u_event_counters.counts[8][0]",
            "u_csr.u_event_counters.counts[9][1]",
        ];
        for (name, cycles) in names.into_iter().zip(self.counts) {
            visit(name, cycles);
        }
        if self.plan.counts_lpi() {
            visit("u_csr.u_event_counters.counts[12][12]", self.counts[RX_LPI]);
            visit("u_csr.u_event_counters.counts[14][14]", self.counts[TX_LPI]);
        }
    }

    /// Lets cycles pass in which nothing is asked and nothing happens, but that LPI may be sent and
    /// received.
    pub fn skip(&mut self, cycles: u64, state: PowerState, lpi: LowPowerIdle) {
        if let Some(before) = cycles.checked_sub(1) {
            self.counts_before = self.counts;
            self.pass_time(before, cycles, state, lpi);
        }
    }

    /// Lets whole periods of refreshes pass: so many cycles in these states, the last of them in the
    /// state of the cycle before; in all of them LPI is sent, or received, or in none.
    pub fn pass(&mut self, times: [(PowerState, u64); 2], lpi: LowPowerIdle) {
        for (state, cycles) in times {
            self.pass_time(cycles, cycles, state, lpi);
        }
    }

    /// Adds cycles to the counters as they were a cycle ago, and as they are.
    fn pass_time(&mut self, before: u64, now: u64, state: PowerState, lpi: LowPowerIdle) {
        let counts_lpi = self.plan.counts_lpi();
        let counters = [
            (state as usize, true),
            (RX_LPI, lpi.received && counts_lpi),
            (TX_LPI, lpi.sent && counts_lpi),
        ];
        for (counter, _) in counters.into_iter().filter(|(_, counts)| *counts) {
            self.counts_before[counter] += before;
            self.counts[counter] += now;
        }
    }

    /// Nothing but the time in the state, and that of LPI, changes while nothing is asked and nothing
    /// else happens, in this state of the link, with a port that is active or not, a queue that holds a
    /// packet or not, and what the shims say.
    pub fn steady(
        &self,
        state: PowerState,
        active: bool,
        queue_nonempty: bool,
        lpi: LowPowerIdle,
    ) -> bool {
        let lpi_is_steady = (lpi.received, lpi.sent) == (self.received_lpi, self.sent_lpi)
            && !lpi.error
            && !lpi.early_start;
        let is_counted = match state {
            PowerState::Wake => !self.waited,
            _ => !queue_nonempty || self.waited,
        };
        // Parameters whose rate is computed wait for the port to be active.
        let waits = !active && (self.ready || !self.plan.predicts());
        let applies = match self.pending {
            // A mean that was measured waits behind them.
            true => !waits,
            false => self.refresh,
        } || self.computing != Computing::Nothing;
        let interrupts = self.flags() & self.interrupt_enable != 0;
        // Just after they were cleared, the cycle before has not been counted.
        let counts = self.counts != self.counts_before;
        !applies
            && is_counted
            && (lpi_is_steady || !self.plan.counts_lpi())
            && counts
            && self.interrupt == interrupts
            && self.fetch == Fetch::Done
            && self.answer == Answer::default()
    }

    /// The histogram is a map, which can run out of entries.
    fn maps(&self) -> bool {
        self.plan.predicts() && self.plan.histogram.kind == HistogramKind::Map
    }

    /// The interrupt is raised.
    pub fn interrupt(&self) -> bool {
        self.interrupt
    }

    /// An error flag is set.
    pub fn error_flag(&self) -> bool {
        self.sync_flag || self.map_flag || self.upset_flag || self.memory_flags != 0
    }

    /// The rate of the budget.
    fn compute(&mut self, port: &Port) {
        if !self.plan.predicts() {
            return;
        }
        if port.restarted {
            self.restart = false;
        }
        let starts = self.rate_start(port.hop_factor).is_some();
        match self.computing {
            Computing::Nothing if starts && self.pending => self.computing = Computing::Staged,
            Computing::Nothing if starts => {
                self.computing = Computing::Measured;
                self.refresh = false;
            }
            Computing::Staged if port.rate_done => {
                self.ready = true;
                self.computing = Computing::Nothing;
            }
            Computing::Measured if port.rate_done => {
                self.rate = port.rate_computed;
                self.computing = Computing::Nothing;
            }
            _ => {}
        }
        self.refresh |= port.hop_measured && self.in_force.measure;
    }
}

/// The time of the link whose register has that name.
fn time_of(name: &str) -> Option<LinkTime> {
    LinkTime::ALL.into_iter().find(|time| time.name() == name)
}

/// The bits of the bytes that a write touches.
fn mask(strobe: u8) -> u32 {
    (0..4)
        .filter(|byte| strobe >> byte & 1 == 1)
        .map(|byte| 0xff << (8 * byte))
        .sum()
}
