//! The register map: one description, from which come the addresses, masks and reset values
//! of the RTL, and the files that software reads (`registers`).

use crate::blocks::histogram::Shape;
use crate::blocks::hop_monitor::COUNTER_WIDTH;
use crate::blocks::port::pins::HOPS_WIDTH;
use crate::config::plan::{
    BinScale, HistogramKind, Policy, PortPlan, Sleep, HOP_FACTOR_FRACTION, INITIAL_HOP_FACTOR,
};

/// What a port's page begins with: "LKDZ".
pub const MAGIC: u32 = 0x4c4b_445a;

/// What the page of all ports begins with: "LKDS".
pub const SPACE_MAGIC: u32 = 0x4c4b_4453;

/// Version of the layout: the upper half changes when software must change.
pub const VERSION: u32 = 0x0001_0002;

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
        self.register(register)
            .fields
            .iter()
            .find(|field| field.name == name)
            .unwrap_or_else(|| panic!("no field {register}.{name}"))
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

    fn values(
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

    fn field(
        &mut self,
        bits: (&'static str, u32, u32),
        access: Access,
        reset: u32,
        doc: impl Into<String>,
    ) -> &mut Self {
        self.values(bits, access, reset, doc, Vec::new())
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
        self.register(name, offset, doc.clone())
            .field(("value", 0, width), access, reset, doc)
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
    let aging = |width: u32| if plan.ages() { width } else { 0 };
    let guarded = |width: u32| if plan.guard.is_some() { width } else { 0 };
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
    let policy_values = Policy::ALL
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
    let sleep_values = Sleep::ALL
        .iter()
        .map(|sleep| (sleep.name(), sleep_code(*sleep), true))
        .collect();
    let mut page = Builder(Vec::new());

    page.word("magic", 0x000, 32, Access::Constant, MAGIC, "\"LKDZ\"")
        .register("version", 0x004, "layout of this page")
        .field(
            ("minor", 0, 16),
            Access::Constant,
            VERSION & 0xffff,
            "registers or fields were added",
        )
        .field(
            ("major", 16, 16),
            Access::Constant,
            VERSION >> 16,
            "software must change",
        )
        .word(
            "config_hash",
            0x008,
            32,
            Access::Constant,
            built.config_hash,
            "first 32 bits of the SHA-256 of the configuration",
        )
        .register("features", 0x00c, "what the hardware was built for")
        .field(
            ("policies", 0, 4),
            Access::Constant,
            policies,
            "one bit per policy, by its encoding",
        )
        .field(
            ("kind", 8, predicted(3)),
            Access::Constant,
            kind_code(histogram.kind),
            "histogram: 0 regular, 1 clearing, 2 circular, 3 map, 4 decaying",
        )
        .register("widths", 0x010, "widths in bits")
        .field(("time", 0, 7), Access::Constant, time, "of times in ticks")
        .field(
            ("counter", 8, predicted(6)),
            Access::Constant,
            histogram.counter_bits,
            "of a bin's counter",
        )
        .field(
            ("budget", 16, predicted(7)),
            Access::Constant,
            plan.budget.width,
            "of the packet budget",
        )
        .register("shape", 0x014, "shape of the histogram")
        .field(
            ("bins", 0, predicted(13)),
            Access::Constant,
            histogram.bins,
            "number of bins",
        )
        .field(
            ("bin_shift", 16, predicted(6)),
            Access::Constant,
            histogram.bin_shift,
            "log2 of the first bin's ticks",
        )
        .field(
            ("log", 22, predicted(1)),
            Access::Constant,
            mantissa.is_some().into(),
            "0: bins of one width, 1: bins on a logarithmic scale",
        )
        .field(
            ("mantissa_bits", 24, predicted(4)),
            Access::Constant,
            mantissa.unwrap_or(0),
            "log2 of the bins in an octave of the logarithmic scale",
        )
        .word(
            "clock_period",
            0x018,
            32,
            Access::Constant,
            built.period_ps.try_into().unwrap_or(u32::MAX),
            "clock period in picoseconds",
        )
        .word(
            "clocks_per_tick",
            0x01c,
            32,
            Access::Constant,
            plan.clocks_per_tick.try_into().unwrap_or(u32::MAX),
            "clock cycles in a tick",
        )
        .register("guard", 0x020, "the guard's token bucket")
        .field(
            ("burst", 0, guarded(16)),
            Access::Constant,
            plan.guard.map_or(0, |guard| guard.burst),
            "its capacity, in packets",
        );

    page.register("control", 0x040, "what the port does when it is idle")
        .field(
            ("enable", 0, 1),
            Access::Staged,
            1,
            "0: the port never powers down by itself",
        )
        .values(
            ("policy", 4, 2),
            Access::Staged,
            policy_code(plan.policy),
            "when it powers down",
            policy_values,
        )
        .values(
            ("sleep", 8, 2),
            Access::Staged,
            sleep_code(plan.sleep),
            "where it goes",
            sleep_values,
        )
        .field(
            ("measure", 12, predicted(1)),
            Access::Staged,
            rate.is_some_and(|rate| rate.measures).into(),
            "1: the budget takes the measured hop factor, 0: hop_factor",
        )
        .field(
            ("backstop", 13, 1),
            Access::Staged,
            plan.t_backstop.is_some().into(),
            "1: an idle end that did not transmit last goes down after t_backstop, or after its \
             threshold if that is longer; 0: it leaves that to the other end",
        )
        .register("command", 0x044, "what software asks for")
        .field(
            ("apply", 0, 1),
            Access::Request,
            0,
            "all staged parameters take effect together, with the next idle period that begins; \
             until then they cannot be written",
        )
        .field(
            ("clear_counters", 1, 1),
            Access::Pulse,
            0,
            "all event counters and packet counts become 0",
        )
        .pair(
            ["t_pdt_low", "t_pdt_high"],
            0x048,
            time,
            Access::Staged,
            built.t_pdt,
            "threshold of the policy fixed, in ticks",
        )
        .pair(
            ["ttl_low", "ttl_high"],
            0x050,
            aging(time),
            Access::Staged,
            histogram.ttl.unwrap_or(0),
            "time to live of the histogram, in ticks; 0 is for ever",
        )
        .word(
            "max_samples",
            0x058,
            aging(32),
            Access::Staged,
            histogram.max_samples,
            format!(
                "samples after which the histogram ages, 1 to {}",
                histogram.max_samples
            ),
        )
        .word(
            "bound",
            0x05c,
            predicted(32),
            Access::Staged,
            rate.map_or(0, |rate| rate.bound),
            "performance that may be lost, in units of 2^-32",
        )
        .word(
            "hop_factor",
            0x060,
            predicted(32),
            Access::Staged,
            rate.map_or(0, |rate| rate.hop_factor),
            "sum of p/h over the hop counts h, in units of 2^-31, at most 1",
        )
        .pair(
            ["t_backstop_low", "t_backstop_high"],
            0x068,
            time,
            Access::Staged,
            plan.t_backstop.unwrap_or(histogram.max_value),
            "how long an idle end that did not transmit last waits at least, in ticks",
        );

    page.register("status", 0x080, "what the port does now")
        .field(
            ("power_state", 0, 3),
            Access::Status,
            0,
            "state of the link, as the pin power_state",
        )
        .field(("active", 4, 1), Access::Status, 0, "the port is not idle")
        .register(
            "errors",
            0x084,
            "what went wrong since the flags were cleared",
        )
        .field(
            ("sync", 0, 1),
            Access::Flag,
            0,
            "the other end of the link did not answer in time",
        )
        .field(
            ("map_overflow", 1, predicted(1)),
            Access::Flag,
            0,
            "a map histogram ran out of entries",
        )
        .pair(
            ["t_pdt_now_low", "t_pdt_now_high"],
            0x088,
            time,
            Access::Status,
            plan.t_pdt_init,
            "threshold in force, in ticks",
        )
        .pair(
            ["t_pb_low", "t_pb_high"],
            0x090,
            predicted(time),
            Access::Status,
            plan.t_pdt_init,
            "PerfBound's threshold, in ticks",
        )
        .pair(
            ["window_low", "window_high"],
            0x098,
            predicted(time),
            Access::Status,
            0,
            "window that it was computed for, in ticks",
        )
        .pair(
            ["budget_low", "budget_high"],
            0x0a0,
            predicted(plan.budget.width),
            Access::Status,
            0,
            "packets that may be delayed in it",
        )
        .word(
            "hop_factor_now",
            0x0a8,
            32,
            Access::Status,
            (INITIAL_HOP_FACTOR as u32) << (31 - HOP_FACTOR_FRACTION),
            "hop factor that the hop monitor measured, in units of 2^-31",
        )
        .word(
            "guard_tokens",
            0x0ac,
            guarded(16),
            Access::Status,
            plan.guard.map_or(0, |guard| guard.burst),
            "whole tokens in the guard's bucket; the link goes to sleep only while there is one",
        );

    let mut counter = |names: [&'static str; 2], offset, doc: &str| {
        page.pair(names, offset, 64, Access::Status, 0, doc);
    };
    counter(
        ["periods_low", "periods_high"],
        0x0c0,
        "idle periods that ended",
    );
    counter(
        ["hits_low", "hits_high"],
        0x0c8,
        "of them, in which the link stayed awake",
    );
    counter(
        ["misses_low", "misses_high"],
        0x0d0,
        "of them, in which the link left wake",
    );
    counter(
        ["transitions_low", "transitions_high"],
        0x0d8,
        "how often the link left wake",
    );
    let state = "clock cycles in the power state";
    counter(["wake_low", "wake_high"], 0x0e0, &format!("{state} wake"));
    counter(
        ["going_down_low", "going_down_high"],
        0x0e8,
        &format!("{state} going down"),
    );
    counter(
        ["fast_wake_low", "fast_wake_high"],
        0x0f0,
        &format!("{state} fast wake"),
    );
    counter(
        ["deep_sleep_low", "deep_sleep_high"],
        0x0f8,
        &format!("{state} deep sleep"),
    );
    counter(
        ["refresh_low", "refresh_high"],
        0x100,
        &format!("{state} refresh"),
    );
    counter(
        ["going_up_low", "going_up_high"],
        0x108,
        &format!("{state} going up"),
    );
    counter(
        ["waits_low", "waits_high"],
        0x110,
        "times that a packet had to wait for the link to come awake",
    );

    page.register(
        "bin_index",
        0x140,
        "writing it fetches a bin of the histogram",
    )
    .field(
        ("index", 0, readable(12)),
        Access::Index,
        0,
        format!("which bin, 0 to {}", histogram.bins - 1),
    )
    .field(
        ("busy", 31, readable(1)),
        Access::Status,
        0,
        "the bin waits for a cycle in which neither a sample nor the search reads",
    )
    .word(
        "bin_count",
        0x144,
        predicted(histogram.counter_bits),
        Access::Status,
        0,
        "samples in the bin that was fetched last",
    )
    .word(
        "hop_index",
        0x148,
        HOPS_WIDTH,
        Access::Index,
        0,
        "which hop count",
    )
    .word(
        "hop_count",
        0x14c,
        COUNTER_WIDTH,
        Access::Status,
        0,
        "packets of that hop count; it saturates",
    );
    Map { registers: page.0 }
}

/// Byte address of the page of all ports: behind the pages of the ports, aligned to their
/// sum, so that one address bit tells it apart.
pub fn global_offset(ports: u32) -> u32 {
    ports.next_power_of_two() * STRIDE
}

/// Bits of a byte address in the space of so many ports.
pub fn address_bits(ports: u32) -> u32 {
    global_offset(ports).trailing_zeros() + 1
}

/// The page of all ports: what the space holds, and which ports have an error flag.
///
/// # Panics
/// If the plan has no registers.
pub fn all_ports(plan: &PortPlan, ports: u32) -> Map {
    let built = plan.registers.expect("the plan has registers");
    let mut page = Builder(Vec::new());
    page.word(
        "magic",
        0x000,
        32,
        Access::Constant,
        SPACE_MAGIC,
        "\"LKDS\"",
    )
    .register("version", 0x004, "layout of the pages")
    .field(
        ("minor", 0, 16),
        Access::Constant,
        VERSION & 0xffff,
        "registers or fields were added",
    )
    .field(
        ("major", 16, 16),
        Access::Constant,
        VERSION >> 16,
        "software must change",
    )
    .word(
        "config_hash",
        0x008,
        32,
        Access::Constant,
        built.config_hash,
        "first 32 bits of the SHA-256 of the configuration",
    )
    .register("layout", 0x00c, "where the pages of the ports lie")
    .field(("ports", 0, 16), Access::Constant, ports, "number of ports")
    .field(
        ("stride_log2", 16, 5),
        Access::Constant,
        PAGE_BITS,
        "log2 of the bytes in a page",
    )
    .pair(
        ["errors_low", "errors_high"],
        0x010,
        ports,
        Access::Status,
        0,
        "ports with an error flag, one bit each",
    );
    Map { registers: page.0 }
}
