//! The register map: one description, from which come the addresses, masks and reset values
//! of the RTL, and the files that software reads (`registers`).

use crate::blocks::histogram::Shape;
use crate::blocks::lpi_fsm::Link;
use crate::config::plan::{
    BinScale, HistogramKind, LinkTime, Policy, PortPlan, Sleep, HOPS_WIDTH, HOP_COUNTER_WIDTH,
    HOP_FACTOR_FRACTION, INITIAL_HOP_FACTOR,
};
use crate::hdl::clog2;

/// What a port's page begins with: "LKDZ".
pub const MAGIC: u32 = 0x4c4b_445a;

/// What the page of all ports begins with: "LKDS".
pub const SPACE_MAGIC: u32 = 0x4c4b_4453;

/// Version of the layout: the upper half changes when software must change.
pub const VERSION: u32 = 0x0001_0009;

/// Bytes from one port's page to the next: the page of a memory management unit.
pub const STRIDE: u32 = 0x1000;

/// Bits of a byte address within a page.
pub const PAGE_BITS: u32 = STRIDE.trailing_zeros();

/// What software may do with a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Always the reset value.
    Constant,
    /// Read; the hardware writes.
    Status,
    /// Read and write: a parameter that waits for `command.apply`.
    Staged,
    /// Read and write, in force at once.
    Index,
    /// Writing 1 asks for something; reads as 1 until it is done.
    Request,
    /// Writing 1 does something at once; reads as 0.
    Pulse,
    /// Set by the hardware; writing 1 clears.
    Flag,
}

impl Access {
    /// Whether software can change it.
    pub fn writable(self) -> bool {
        !matches!(self, Access::Constant | Access::Status)
    }

    /// For tables that people read.
    pub fn text(self) -> &'static str {
        match self {
            Access::Constant => "constant",
            Access::Status => "read",
            Access::Staged => "read, write (staged)",
            Access::Index => "read, write",
            Access::Request => "write 1 to ask, reads 1 until done",
            Access::Pulse => "write 1, reads 0",
            Access::Flag => "read, write 1 to clear",
        }
    }
}

/// Bits of a register with one meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name, in the style of C.
    pub name: &'static str,
    /// Lowest bit.
    pub low: u32,
    /// Bits.
    pub width: u32,
    /// What software may do.
    pub access: Access,
    /// Value after reset (for [`Access::Constant`] for ever).
    pub reset: u32,
    /// What it means.
    pub doc: String,
    /// Values with names; those whose flag is `false` are refused.
    pub values: Vec<(&'static str, u32, bool)>,
}

impl Field {
    /// The field's bits in the register.
    pub fn mask(&self) -> u32 {
        (u32::MAX >> (32 - self.width)) << self.low
    }
}

/// 32 bits at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// Name, in the style of C.
    pub name: &'static str,
    /// Byte address within the page.
    pub offset: u32,
    /// What it is for.
    pub doc: String,
    /// Software may write it; other registers refuse. The upper word of a narrow time has
    /// no bits and may be written all the same, so that software need not know the width.
    pub writable: bool,
    /// It is a parameter that waits for `command.apply`.
    pub staged: bool,
    /// Its fields from the lowest bit; what they leave is reserved, reads 0 and ignores writes.
    pub fields: Vec<Field>,
}

impl Register {
    /// Value after reset.
    pub fn reset(&self) -> u32 {
        self.fields
            .iter()
            .map(|field| field.reset << field.low)
            .sum()
    }

    /// Whether it takes some values only: a write of another is refused, and changes nothing.
    pub fn refuses_values(&self) -> bool {
        let limited = [
            "control",
            "max_samples",
            "hop_factor",
            "guard_burst",
            "bin_index",
        ];
        limited.contains(&self.name) || LinkTime::ALL.iter().any(|time| time.name() == self.name)
    }

    /// Bits that software can change.
    pub fn writable_bits(&self) -> u32 {
        self.fields
            .iter()
            .filter(|field| field.access.writable())
            .map(Field::mask)
            .sum()
    }
}

/// A page of registers, by rising offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    /// The registers.
    pub registers: Vec<Register>,
}

impl Map {
    /// The register of a name.
    ///
    /// # Panics
    /// If there is none: names are written in this crate alone.
    pub fn register(&self, name: &str) -> &Register {
        self.registers
            .iter()
            .find(|register| register.name == name)
            .unwrap_or_else(|| panic!("no register {name}"))
    }

    /// The field of a register.
    ///
    /// # Panics
    /// If there is none.
    pub fn field(&self, register: &str, name: &str) -> &Field {
        self.find(register, name)
            .unwrap_or_else(|| panic!("no field {register}.{name}"))
    }

    /// The field of a register, if this configuration has it.
    pub fn find(&self, register: &str, name: &str) -> Option<&Field> {
        let mut fields = self.register(register).fields.iter();
        fields.find(|field| field.name == name)
    }

    /// Value after reset of a field, 0 if this configuration lacks it.
    pub fn reset_of(&self, register: &str, name: &str) -> u32 {
        self.find(register, name).map_or(0, |field| field.reset)
    }

    /// The register at a word address of the page.
    pub fn at(&self, word: u32) -> Option<&Register> {
        self.registers
            .iter()
            .find(|register| register.offset == word * 4)
    }
}

/// The encodings of `control.policy`: the order of [`Policy::ALL`].
pub fn policy_code(policy: Policy) -> u32 {
    match policy {
        Policy::AlwaysOn => 0,
        Policy::Fixed => 1,
        Policy::PerfBound => 2,
        Policy::PerfBoundCorrect => 3,
    }
}

/// The encodings of `control.sleep`.
pub fn sleep_code(sleep: Sleep) -> u32 {
    match sleep {
        Sleep::FastWake => 0,
        Sleep::DeepSleep => 1,
        Sleep::Hybrid => 2,
    }
}

/// Whether hardware built for one policy can do another: every policy needs what those
/// before it need, and more; "fixed" needs nothing more than the registers.
pub fn policy_is_built(built: Policy, wanted: Policy) -> bool {
    policy_code(wanted) <= policy_code(built).max(1)
}

/// The encodings of `features.kind`.
fn kind_code(kind: HistogramKind) -> u32 {
    HistogramKind::ALL
        .iter()
        .position(|known| *known == kind)
        .map_or(0, |place| place as u32)
}

/// Builds a page register by register.
struct Builder(Vec<Register>);

impl Builder {
    fn register(&mut self, name: &'static str, offset: u32, doc: impl Into<String>) -> &mut Self {
        self.0.push(Register {
            name,
            offset,
            doc: doc.into(),
            writable: false,
            staged: false,
            fields: Vec::new(),
        });
        self
    }

    fn field(
        &mut self,
        (name, low, width): (&'static str, u32, u32),
        access: Access,
        reset: u32,
        doc: impl Into<String>,
        values: Vec<(&'static str, u32, bool)>,
    ) -> &mut Self {
        if let Some(register) = self.0.last_mut() {
            register.writable |= access.writable();
            register.staged |= access == Access::Staged;
            if width > 0 {
                register.fields.push(Field {
                    name,
                    low,
                    width,
                    access,
                    reset,
                    doc: doc.into(),
                    values,
                });
            }
        }
        self
    }

    /// A register that is one field.
    fn word(
        &mut self,
        name: &'static str,
        offset: u32,
        width: u32,
        access: Access,
        reset: u32,
        doc: impl Into<String>,
    ) -> &mut Self {
        let doc = doc.into();
        self.register(name, offset, doc.clone()).field(
            ("value", 0, width),
            access,
            reset,
            doc,
            Vec::new(),
        )
    }

    /// A value of `width` bits, at most 64, in two registers.
    fn pair(
        &mut self,
        names: [&'static str; 2],
        offset: u32,
        width: u32,
        access: Access,
        reset: u64,
        doc: &str,
    ) -> &mut Self {
        let (low, high) = (width.min(32), width.saturating_sub(32));
        let latched = match access {
            Access::Status => "; reading it latches the upper word",
            _ => "",
        };
        self.word(
            names[0],
            offset,
            low,
            access,
            reset as u32,
            format!("{doc}, lower word{latched}"),
        )
        .word(
            names[1],
            offset + 4,
            high,
            access,
            (reset >> 32) as u32,
            format!("{doc}, upper word"),
        )
    }
}

/// Declares registers, each with its byte address in the page:
/// - `0x000 word name(bits, access, reset, doc)`: one value,
/// - `0x008 pair name(bits, access, reset, doc)`: a value in two registers, `name_low` and
///   `name_high`,
/// - `0x010 fields name(doc) { field(low, bits, access, reset, doc); ... }`, where a field may
///   name its values behind its doc.
///
/// What has no bits in a configuration is reserved there.
macro_rules! registers {
    ($page:ident, $(
        $offset:literal $kind:ident $name:ident $args:tt
        $({ $(
            $field:ident ($low:expr, $width:expr, $access:ident, $reset:expr, $doc:expr
                          $(, $values:expr)?);
        )* })?;
    )*) => {$(
        registers!(@$kind $page, $offset, $name, $args);
        $($({
            #[allow(unused_mut)]
            let mut values = Vec::new();
            $(values.extend($values);)?
            let bits = (stringify!($field), $low, $width);
            $page.field(bits, Access::$access, $reset, $doc, values);
        })*)?
    )*};
    (@word $page:ident, $offset:literal, $name:ident,
     ($width:expr, $access:ident, $reset:expr, $doc:expr)) => {
        $page.word(stringify!($name), $offset, $width, Access::$access, $reset, $doc);
    };
    (@pair $page:ident, $offset:literal, $name:ident,
     ($width:expr, $access:ident, $reset:expr, $doc:expr)) => {
        let names = [
            concat!(stringify!($name), "_low"),
            concat!(stringify!($name), "_high"),
        ];
        $page.pair(names, $offset, $width, Access::$access, $reset, $doc);
    };
    (@fields $page:ident, $offset:literal, $name:ident, ($doc:expr)) => {
        $page.register(stringify!($name), $offset, $doc);
    };
}

/// Bits of `bin_count`: those that the histogram delivers, as far as they fit.
pub fn bin_count_width(plan: &PortPlan) -> u32 {
    Shape::of(plan).weighed_count().min(32)
}

/// The page of the controller of `plan`.
///
/// # Panics
/// If the plan has no registers.
pub fn port(plan: &PortPlan) -> Map {
    let built = plan.registers.expect("the plan has registers");
    let rate = plan.budget.rate;
    let time = plan.time_width;
    // What only a predicting controller has is reserved in the others.
    let predicted = |width: u32| if plan.predicts() { width } else { 0 };
    let readable = |width: u32| if plan.reads_bins() { width } else { 0 };
    let mapped = |width: u32| if plan.maps() { width } else { 0 };
    let aging = |width: u32| if plan.ages() { width } else { 0 };
    let guarded = |width: u32| if plan.guard.is_some() { width } else { 0 };
    let agreed = |width: u32| if plan.messages().is_some() { width } else { 0 };
    let shared = |width: u32| if plan.per_direction() { 0 } else { width };
    let received = |width: u32| if plan.counts_lpi() { width } else { 0 };
    let copied = |width: u32| if plan.triple_redundancy { width } else { 0 };
    let coded = |width: u32| if plan.codes_memories() { width } else { 0 };
    let controlled = |width: u32| if plan.control_pins { width } else { 0 };
    let times = plan.adjustable_times();
    let histogram = &plan.histogram;
    let mantissa = match histogram.scale {
        BinScale::Linear => None,
        BinScale::Log { mantissa_bits } => Some(mantissa_bits),
    };
    let bit = |set: bool, place: u32| u32::from(set) << place;
    let policies = Policy::ALL
        .iter()
        .map(|policy| bit(policy_is_built(plan.policy, *policy), policy_code(*policy)))
        .sum();
    let policy_values: Vec<_> = Policy::ALL
        .iter()
        .map(|policy| {
            let name = policy.name();
            (
                name,
                policy_code(*policy),
                policy_is_built(plan.policy, *policy),
            )
        })
        .collect();
    let sleep_values: Vec<_> = Sleep::ALL
        .iter()
        .map(|sleep| (sleep.name(), sleep_code(*sleep), true))
        .collect();
    let mut page = Builder(Vec::new());
    registers! { page,
        0x000 word magic(32, Constant, MAGIC, "\"LKDZ\"");
        0x004 fields version("layout of this page") {
            minor(0, 16, Constant, VERSION & 0xffff, "registers or fields were added");
            major(16, 16, Constant, VERSION >> 16, "software must change");
        };
        0x008 word config_hash(
            32, Constant, built.config_hash, "first 32 bits of the SHA-256 of the configuration"
        );
        0x00c fields features("what the hardware was built for") {
            policies(0, 4, Constant, policies, "one bit per policy, by its encoding");
            kind(
                8, predicted(3), Constant, kind_code(histogram.kind),
                "histogram: 0 regular, 1 clearing, 2 circular, 3 map, 4 decaying"
            );
            timing(
                12, 1, Constant, u32::from(!times.is_empty()),
                "1: software may set the times of the link"
            );
        };
        0x010 fields widths("widths in bits") {
            time(0, 7, Constant, time, "of times in ticks");
            counter(8, predicted(6), Constant, histogram.counter_bits, "of a bin's counter");
            budget(16, predicted(7), Constant, plan.budget.width, "of the packet budget");
        };
        0x014 fields shape("shape of the histogram") {
            bins(0, predicted(13), Constant, histogram.bins, "number of bins");
            bin_shift(
                16, predicted(6), Constant, histogram.bin_shift, "log2 of the first bin's ticks"
            );
            log(
                22, predicted(1), Constant, mantissa.is_some().into(),
                "0: bins of one width, 1: bins on a logarithmic scale"
            );
            mantissa_bits(
                24, predicted(4), Constant, mantissa.unwrap_or(0),
                "log2 of the bins in an octave of the logarithmic scale"
            );
        };
        0x018 word clock_period(
            32, Constant, built.period_ps.try_into().unwrap_or(u32::MAX),
            "clock period in picoseconds"
        );
        0x01c word clocks_per_tick(
            32, Constant, plan.clocks_per_tick.try_into().unwrap_or(u32::MAX),
            "clock cycles in a tick"
        );
        0x020 fields guard("the guard's token bucket") {
            burst(
                0, guarded(16), Constant, plan.guard.map_or(0, |guard| guard.burst),
                "the most that it can hold, in packets"
            );
        };
        0x040 fields control("what the port does when it is idle") {
            enable(0, 1, Staged, 1, "0: the port never powers down by itself");
            policy(4, 2, Staged, policy_code(plan.policy), "when it powers down", policy_values);
            sleep(8, 2, Staged, sleep_code(plan.sleep), "where it goes", sleep_values);
            measure(
                12, predicted(1), Staged, rate.is_some_and(|rate| rate.measures).into(),
                "1: the budget takes the measured hop factor, 0: hop_factor"
            );
            backstop(
                13, shared(1), Staged, plan.t_backstop.is_some().into(),
                "1: an idle end that did not transmit last goes down after t_backstop, or after its \
             threshold if that is longer; 0: it leaves that to the other end"
            );
            guard_off(
                14, guarded(1), Staged, 0,
                "1: the guard permits every sleep, and its bucket stays full"
            );
        };
        0x044 fields command("what software asks for") {
            apply(
                0, 1, Request, 0,
                "all staged parameters take effect together, with the next idle period that begins; \
             until then they cannot be written"
            );
            clear_counters(1, 1, Pulse, 0, "all event counters and packet counts become 0");
        };
        0x048 pair t_pdt(time, Staged, built.t_pdt, "threshold of the policy fixed, in ticks");
        0x050 pair ttl(
            aging(time), Staged, histogram.ttl.unwrap_or(0),
            "time to live of the histogram, in ticks; 0 is the longest"
        );
        0x058 word max_samples(
            aging(32), Staged, histogram.max_samples,
            format!("samples after which the histogram ages, 1 to {}", histogram.max_samples)
        );
        0x05c word bound(
            predicted(32), Staged, rate.map_or(0, |rate| rate.bound),
            "performance that may be lost, in units of 2^-32"
        );
        0x060 word hop_factor(
            predicted(32), Staged, rate.map_or(0, |rate| rate.hop_factor),
            "sum of p/h over the hop counts h, in units of 2^-31, at most 1"
        );
        0x064 word guard_burst(
            guarded(16), Staged, plan.guard.map_or(0, |guard| guard.burst),
            format!(
                "tokens in a full bucket of the guard, 1 to {}",
                plan.guard.map_or(1, |guard| guard.burst)
            )
        );
        0x068 pair t_backstop(
            shared(time), Staged, plan.t_backstop.unwrap_or(histogram.max_value),
            "how long an idle end that did not transmit last waits at least, in ticks"
        );
        0x080 fields status("what the port does now") {
            power_state(
                0, 3, Status, if plan.starts_going_up() { Link::GoingUp as u32 } else { 0 },
                "state of the link, as the pin power_state"
            );
            active(4, 1, Status, 0, "the port is not idle");
            rx_lpi(5, received(1), Status, 0, "the other end sends low power idle");
            tx_lpi(6, received(1), Status, 0, "low power idle is sent");
        };
        0x084 fields errors("what went wrong since the flags were cleared") {
            sync(0, 1, Flag, 0, "the other end of the link did not answer in time");
            map_overflow(1, mapped(1), Flag, 0, "a map histogram ran out of entries");
            upset(2, copied(1), Flag, 0, "a copy of a register differed, and was outvoted");
            memory_corrected(3, coded(1), Flag, 0, "a wrong bit of a memory was put right");
            memory_wrong(
                4, coded(1), Flag, 0, "a word of a memory was wrong, and was not put right"
            );
        };
        0x088 pair t_pdt_now(time, Status, plan.t_pdt_init, "threshold in force, in ticks");
        0x090 pair t_pb(
            predicted(time), Status, plan.t_pdt_init, "PerfBound's threshold, in ticks"
        );
        0x098 pair window(predicted(time), Status, 0, "window that it was computed for, in ticks");
        0x0a0 pair budget(
            predicted(plan.budget.width), Status, 0, "packets that may be delayed in it"
        );
        0x0a8 word hop_factor_now(
            32, Status, (INITIAL_HOP_FACTOR as u32) << (31 - HOP_FACTOR_FRACTION),
            "hop factor that the hop monitor measured, in units of 2^-31"
        );
        0x0ac word guard_tokens(
            guarded(16), Status, plan.guard.map_or(0, |guard| guard.burst),
            "whole tokens in the guard's bucket; the link goes to sleep only while there is one"
        );
        0x0c0 pair periods(64, Status, 0, "idle periods that ended");
        0x0c8 pair hits(64, Status, 0, "of them, in which the link stayed awake");
        0x0d0 pair misses(64, Status, 0, "of them, in which the link left wake");
        0x0d8 pair transitions(64, Status, 0, "how often the link left wake");
        0x0e0 pair wake(64, Status, 0, "clock cycles in the power state wake");
        0x0e8 pair going_down(64, Status, 0, "clock cycles in the power state going down");
        0x0f0 pair fast_wake(64, Status, 0, "clock cycles in the power state fast wake");
        0x0f8 pair deep_sleep(64, Status, 0, "clock cycles in the power state deep sleep");
        0x100 pair refresh(64, Status, 0, "clock cycles in the power state refresh");
        0x108 pair going_up(64, Status, 0, "clock cycles in the power state going up");
        0x110 pair waits(
            64, Status, 0, "times that a packet had to wait for the link to come awake"
        );
        0x118 pair requests(agreed(64), Status, 0, "requests to go down that this end sent");
        0x120 pair nacks(agreed(64), Status, 0, "of them, those that the other end refused");
        0x128 pair withdrawn(
            agreed(64), Status, 0, "of them, those that this end took back because of activity"
        );
        0x130 pair crossed(
            agreed(64), Status, 0,
            "requests of the other end that came while a request of this end waited"
        );
        0x138 pair time_outs(
            agreed(64), Status, 0, "times that the other end did not answer in time"
        );
        0x140 fields bin_index("writing it fetches a bin of the histogram") {
            index(0, readable(12), Index, 0, format!("which bin, 0 to {}", histogram.bins - 1));
            busy(
                31, readable(1), Status, 0,
                "the bin waits for a cycle in which neither a sample nor the search reads"
            );
        };
        0x144 word bin_count(
            readable(bin_count_width(plan)), Status, 0,
            match histogram.kind {
                HistogramKind::Decaying => {
                    "samples in the bin that was fetched last, weighed: 8 for one of the present \
                     generation, half as many for each generation before"
                }
                _ => "samples in the bin that was fetched last",
            }
        );
        0x148 word hop_index(HOPS_WIDTH, Index, 0, "which hop count");
        0x14c word hop_count(HOP_COUNTER_WIDTH, Status, 0, "packets of that hop count; it saturates");
    }
    for time in &times {
        page.word(
            time.time.name(),
            TIMES_OFFSET + 4 * time.time as u32,
            clog2(u128::from(time.most) + 1),
            Access::Staged,
            // The configuration's times fit, by `config`.
            time.reset as u32,
            format!(
                "{}, in clock cycles, {} to {}; set both ends of the link alike",
                time.time.doc(),
                time.least,
                time.most
            ),
        );
    }
    registers! { page,
        0x180 fields events(
            "what has happened since the flags were cleared; each may raise the interrupt"
        ) {
            error(0, 1, Status, 0, "a flag of errors is set, and goes when that is cleared");
            applied(1, 1, Flag, 0, "staged parameters came into force");
            waited(2, 1, Flag, 0, "a packet had to wait for the link to come awake");
            backstop(
                3, shared(1), Flag, 0, "the timer of an end expired that did not transmit last"
            );
            guard_refusal(
                4, guarded(1), Flag, 0, "the guard kept a link awake whose timer expired"
            );
            link_lost(5, controlled(1), Flag, 0, "the PHY lost a link that had been awake");
            lpi_error(
                6, received(1), Flag, 0,
                "low power idle was received malformed, or a frame right behind it"
            );
            early_start(
                7, received(1), Flag, 0, "a frame was sent before the other end was awake"
            );
        };
        0x184 fields interrupt_enable("which events raise the interrupt") {
            error(0, 1, Index, 0, "a flag of errors");
            applied(1, 1, Index, 0, "staged parameters came into force");
            waited(2, 1, Index, 0, "a packet had to wait");
            backstop(3, shared(1), Index, 0, "the backstop expired");
            guard_refusal(4, guarded(1), Index, 0, "the guard kept the link awake");
            link_lost(5, controlled(1), Index, 0, "the PHY lost the link");
            lpi_error(6, received(1), Index, 0, "low power idle was received malformed");
            early_start(7, received(1), Index, 0, "a frame was sent too early");
        };
        0x240 pair backstops(
            shared(64), Status, 0,
            "times that the timer of an end expired that did not transmit last"
        );
        0x248 pair guard_refusals(
            guarded(64), Status, 0, "times that the guard kept a link awake whose timer expired"
        );
        0x250 pair map_overflows(
            mapped(64), Status, 0, "idle periods that found no free entry in a map histogram"
        );
        0x258 pair rx_lpi_transitions(
            received(64), Status, 0, "times that the other end began to send low power idle"
        );
        0x260 pair rx_lpi(
            received(64), Status, 0, "clock cycles in which the other end sent low power idle"
        );
        0x268 pair tx_lpi_transitions(
            received(64), Status, 0, "times that this end began to send low power idle"
        );
        0x270 pair tx_lpi(
            received(64), Status, 0, "clock cycles in which this end sent low power idle"
        );
        0x278 pair lpi_errors(
            received(64), Status, 0,
            "clock cycles in which low power idle was received malformed, or a frame right behind it"
        );
        0x280 pair early_starts(
            received(64), Status, 0, "frames that were sent before the other end was awake"
        );
    }
    Map { registers: page.0 }
}

/// Byte address of the first time of the link.
const TIMES_OFFSET: u32 = 0x160;

/// The most ports of one register space.
pub const MAX_PORTS: u32 = 64;

/// Byte address of the page of all ports: behind the pages of the ports, aligned to their
/// sum, so that one address bit tells it apart.
pub const fn global_offset(ports: u32) -> u32 {
    ports.next_power_of_two() * STRIDE
}

/// Bits of a byte address in the space of so many ports.
pub const fn address_bits(ports: u32) -> u32 {
    global_offset(ports).trailing_zeros() + 1
}

/// The page of all ports: what the space holds, and which ports have an error flag.
///
/// # Panics
/// If the plan has no registers.
pub fn all_ports(plan: &PortPlan, ports: u32) -> Map {
    let built = plan.registers.expect("the plan has registers");
    let mut page = Builder(Vec::new());
    registers! { page,
        0x000 word magic(32, Constant, SPACE_MAGIC, "\"LKDS\"");
        0x004 fields version("layout of the pages") {
            minor(0, 16, Constant, VERSION & 0xffff, "registers or fields were added");
            major(16, 16, Constant, VERSION >> 16, "software must change");
        };
        0x008 word config_hash(
            32, Constant, built.config_hash, "first 32 bits of the SHA-256 of the configuration"
        );
        0x00c fields layout("where the pages of the ports lie") {
            ports(0, 16, Constant, ports, "number of ports");
            stride_log2(16, 5, Constant, PAGE_BITS, "log2 of the bytes in a page");
        };
        0x010 pair errors(ports, Status, 0, "ports with an error flag, one bit each");
        0x018 pair interrupts(ports, Status, 0, "ports that raise their interrupt, one bit each");
    }
    Map { registers: page.0 }
}
