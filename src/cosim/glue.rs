//! The generated parts of the Verilator build: `pins.h`, which ties the checked-in
//! `testbench/harness.cpp` to one model, and the module that shows the golden model's
//! outputs beside the hardware's in a waveform.

use std::fmt::Write;

use crate::blocks::event_counters::LOW;
use crate::blocks::port::pins::{Pin, Place, TopPins};

/// How the C++ side makes a rising edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clocking {
    /// Two calls of the public `eval()`, clock low and clock high: always right.
    Eval,
    /// One call of the model's root evaluation, after its memory of the previous clock
    /// has been set low.
    Root,
    /// The two regions of the root evaluation that a rising edge runs, with their triggers
    /// set by hand: what the inputs reach, once per change of the inputs, and what the
    /// clock reaches, once per cycle.
    Regions,
}

impl Clocking {
    pub(super) fn name(self) -> &'static str {
        match self {
            Clocking::Eval => "eval",
            Clocking::Root => "root",
            Clocking::Regions => "regions",
        }
    }
}

/// What of a model's internals the faster ways of clocking rest on. All of it is read from
/// the files that this very run of Verilator has written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Internals {
    /// The member that remembers the previous clock.
    pub(super) previous_clock: Option<String>,
    /// The statements that set the only trigger of the two regions, when the model has
    /// exactly one of each and the clock's is a rising edge of `clk`.
    pub(super) regions: Option<(String, String)>,
    /// The members that hold the registers that count time, and counters of samples, if all are
    /// there.
    pub(super) time_registers: Vec<String>,
    /// Those of them that are kept in copies.
    copied: Vec<String>,
    /// Whether what was read of the memory of event counters has the name that it has in the
    /// memory, not that of the wire outside: versions of Verilator keep the one or the other.
    read_inside: bool,
}

impl Internals {
    /// Reads them from the model's root header and sources; `registers` are the names of those that
    /// count time, below `top`.
    pub(super) fn read(header: &str, sources: &str, top: &str, registers: &[&str]) -> Internals {
        let member = |prefix: &str| {
            header
                .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                .filter(|word| word.starts_with(prefix))
                .collect::<std::collections::BTreeSet<_>>()
        };
        // 5.006 and 5.48 name the member differently; any third trigger would need a
        // previous value of its own.
        let previous: Vec<_> = member("__Vtrigrprev__")
            .into_iter()
            .chain(member("__Vtrigprevexpr_"))
            .collect();
        let previous_clock = match previous[..] {
            [one] if one == "__Vtrigrprev__TOP__clk" || one == "__Vtrigprevexpr___TOP__clk__0" => {
                Some(one.to_owned())
            }
            _ => None,
        };
        let squeezed: String = sources.chars().filter(|c| !c.is_whitespace()).collect();
        let rising = previous_clock.as_ref().is_some_and(|previous| {
            squeezed.contains(&format!("clk)&(~(IData)(vlSelf->{previous}))"))
                || squeezed.contains(&format!("clk)&(~(IData)(vlSelfRef.{previous}))"))
        });
        let has = |name: &str| sources.contains(&format!("void Vport___024root___{name}("));
        // Logic between the edge and the registers' update would be left out.
        let active_region_is_empty = sources
            .split("void Vport___024root___eval_act(Vport___024root* vlSelf) {")
            .nth(1)
            .is_none_or(|rest| {
                let body = rest.split("\n}").next().unwrap_or(rest);
                !body.contains("Triggered") && !body.contains("_sequent_")
            });
        let regions = if !rising || !active_region_is_empty || !has("eval_ico") || !has("eval_nba")
        {
            None
        } else if ["__VicoTriggered;", "__VnbaTriggered;", "__VactTriggered;"]
            .iter()
            .all(|name| header.contains(&format!("VlTriggerVec<1> {name}")))
        {
            Some((
                "root.__VicoTriggered.at(0) = true;".to_owned(),
                "root.__VnbaTriggered.at(0) = true;".to_owned(),
            ))
        } else if ["__VicoTriggered;", "__VnbaTriggered;", "__VactTriggered;"]
            .iter()
            .all(|name| header.contains(&format!("VlUnpacked<QData/*63:0*/, 1> {name}")))
            // The wider form holds up to 64 triggers in its word: all but the first bit
            // must stay clear, as they do when the clock's is the only one.
            && squeezed.contains(&"__VactTriggered[0U]=(QData)((IData)(((IData)(vlSelfRef.clk)&".to_owned())
        {
            Some((
                "root.__VicoTriggered[0] = 1;".to_owned(),
                "root.__VnbaTriggered[0] = 1;".to_owned(),
            ))
        } else {
            None
        };
        let words: std::collections::HashSet<&str> = header
            .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .collect();
        let members = registers
            .iter()
            .map(|name| format!("{top}.{name}").replace('.', "__DOT__"));
        let mut time_registers: Vec<String> = members.collect();
        let read_inside = words
            .iter()
            .any(|word| word.ends_with("u_event_counters__DOT__u_counts__DOT__read_data"));
        let found = time_registers.iter().all(|name| {
            let members = match (Counter::of(name), EventCounter::of(name, read_inside)) {
                (Some(counter), _) => counter.members().to_vec(),
                (_, Some(counter)) => counter.members().to_vec(),
                (None, None) => match copies(name) {
                    Some(copies) if words.contains(copies[0].as_str()) => copies.to_vec(),
                    _ => vec![name.clone()],
                },
            };
            members.iter().all(|it| words.contains(it.as_str()))
        });
        if !found || !has("eval_settle") {
            time_registers.clear();
        }
        let copied = time_registers
            .iter()
            .filter(|name| copies(name).is_some_and(|copies| words.contains(copies[0].as_str())));
        let copied = copied.cloned().collect();
        Internals {
            copied,
            previous_clock,
            regions,
            time_registers,
            read_inside,
        }
    }

    /// The members that hold the copies of a register, if it is kept in any.
    fn copies(&self, member: &String) -> Option<[String; 3]> {
        copies(member).filter(|_| self.copied.contains(member))
    }

    /// The fastest way of clocking that these internals allow.
    pub(super) fn fastest(&self) -> Clocking {
        if self.regions.is_some() {
            Clocking::Regions
        } else if self.previous_clock.is_some() {
            Clocking::Root
        } else {
            Clocking::Eval
        }
    }
}

/// A counter of a histogram: a word of the memory `counters`, if the word of its group and the bit
/// of `populated` say that it means anything.
struct Counter<'a> {
    store: &'a str,
    group: u32,
    place: u32,
}

impl<'a> Counter<'a> {
    /// That of the member `store__DOT__counters[group][place]`; `None` if it is a register.
    fn of(member: &'a str) -> Option<Counter<'a>> {
        let (store, index) = member.split_once("__DOT__counters[")?;
        let (group, place) = index.strip_suffix(']')?.split_once("][")?;
        Some(Counter {
            store,
            group: group.parse().ok()?,
            place: place.parse().ok()?,
        })
    }

    /// The members of the model that hold it.
    fn members(&self) -> [String; 3] {
        [
            "populated_q",
            "u_groups__DOT__words",
            "u_counters__DOT__words",
        ]
        .map(|name| format!("{}__DOT__{name}", self.store))
    }

    /// Its value in C++, in groups of `size`.
    fn value(&self, size: u32) -> String {
        let [populated, groups, counters] = self.members();
        let Counter { group, place, .. } = *self;
        format!(
            "uint64_t(root.{populated}) >> {group} & uint64_t(root.{groups}[{group}]) >> {place} & 1 \
             ? root.{counters}[{}] : 0",
            group * size + place
        )
    }
}

/// The members of the model that hold the copies of a register, which is called `member` where it has
/// none.
fn copies(member: &str) -> Option<[String; 3]> {
    let (block, register) = member.strip_suffix("_q")?.rsplit_once("__DOT__")?;
    Some([1, 2, 3].map(|copy| format!("{block}__DOT__u_{register}__DOT__copy_{copy}")))
}

/// A counter of events ([`crate::blocks::event_counters`]): a register of low bits and of a bit that
/// says that they came around, and a word of the memory with the bits above, if it was ever visited.
struct EventCounter<'a> {
    block: &'a str,
    counter: u32,
    place: u32,
    read_inside: bool,
}

impl<'a> EventCounter<'a> {
    /// That of the member `block__DOT__counts[counter][place]`; `None` if it is another register.
    fn of(member: &'a str, read_inside: bool) -> Option<EventCounter<'a>> {
        let (block, index) = member.split_once("__DOT__counts[")?;
        let (counter, place) = index.strip_suffix(']')?.split_once("][")?;
        Some(EventCounter {
            block,
            counter: counter.parse().ok()?,
            place: place.parse().ok()?,
            read_inside,
        })
    }

    /// The members of the model that hold it, the memory and what was read of it last.
    fn members(&self) -> [String; 8] {
        let counter = self.counter;
        [
            format!("low_{counter}_q"),
            format!("known_{counter}_q"),
            "u_counts__DOT__words".to_owned(),
            match self.read_inside {
                true => "u_counts__DOT__read_data".to_owned(),
                false => "counts_read_data".to_owned(),
            },
            "at_q".to_owned(),
            "low_then_q".to_owned(),
            "known_then_q".to_owned(),
            "visiting_q".to_owned(),
        ]
        .map(|name| format!("{}__DOT__{name}", self.block))
    }

    /// Its value in C++. The word of a visit that is under way is yet to be written.
    fn value(&self) -> String {
        let [low, known, words, read_data, at, low_then, known_then, visiting] = self.members();
        let place = self.place;
        format!(
            "((root.{visiting} && root.{at} == {place} \
             ? (root.{known_then} ? root.{read_data} : 0) + (root.{low_then} >> {LOW}) \
             : root.{known} ? root.{words}[{place}] : 0) << {LOW}) + root.{low}"
        )
    }

    /// What gives it the value `value` in C++. A visit that is under way has read its word and its
    /// register.
    fn set(&self, value: &str) -> String {
        let [low, known, words, read_data, at, low_then, known_then, visiting] = self.members();
        let (place, below) = (self.place, (1 << LOW) - 1);
        format!(
            "root.{low} = {value} & {below};\n    root.{known} = 1;\n    \
             root.{words}[{place}] = {value} >> {LOW};\n    if (root.{visiting} && root.{at} == {place}) {{\n        \
             root.{read_data} = {value} >> {LOW};\n        root.{low_then} = {value} & {below};\n        \
             root.{known_then} = 1;\n    }}"
        )
    }
}

/// The expected value of a port's pin in the runs of all ports, as a C++ expression.
fn expected(port: usize, pin: Pin) -> String {
    match pin.place() {
        Place::Bits { low, width } => {
            format!("(runs[{port}].bits >> {low} & {}u)", (1 << width) - 1)
        }
        Place::Word(word) => format!("runs[{port}].words[{word}]"),
    }
}

/// What makes `difference` other than 0 where pins of a port have not their expected values: the
/// pins of a few bits are compared together, as they are packed.
fn differences(pins: &TopPins, port: usize) -> String {
    let (mut packed, mut mask, mut words) = (String::from("0"), 0u64, String::new());
    for top in pins.outputs.iter().filter(|top| top.port == port) {
        let name = &top.name;
        match top.pin.pin.place() {
            Place::Bits { low, width } => {
                let _ = write!(packed, " | uint64_t(root.{name}) << {low}");
                mask |= ((1 << width) - 1) << low;
            }
            Place::Word(word) => {
                let _ = write!(
                    words,
                    "\n           | (uint64_t(root.{name}) ^ runs[{port}].words[{word}])"
                );
            }
        }
    }
    format!("\n           | (({packed}) ^ (runs[{port}].bits & {mask:#x}u)){words}")
}

/// `pins.h` for a model with these pins.
pub(super) fn pins_header(
    pins: &TopPins,
    internals: &Internals,
    clocking: Clocking,
    traced: bool,
    selector: Option<&str>,
) -> String {
    let mut text = String::from(
        "// Generated from the pin table by src/cosim/glue.rs.\n#pragma once\n\
         #include \"Vport.h\"\n#include \"Vport___024root.h\"\n\n\
         using Model = Vport;\nusing Root = Vport___024root;\n\n",
    );
    let _ = write!(
        text,
        "enum {{ PORTS = {} }};\n\nstatic inline void drive(Root& root, const Run* runs) {{\n",
        pins.ports
    );
    for top in &pins.inputs {
        let _ = writeln!(
            text,
            "    root.{} = runs[{}].inputs.{} & {:#x}u;",
            top.name,
            top.port,
            top.pin.name,
            top.pin.mask()
        );
    }
    text +=
        "}\n\nstatic inline uint64_t difference(const Root& root, const Run* runs) {\n    return 0";
    for port in 0..pins.ports {
        text += &differences(pins, port);
    }
    text += ";\n}\n\nstatic inline int port_that_differs(const Root& root, const Run* runs) {\n";
    for top in &pins.outputs {
        let expected = expected(top.port, top.pin.pin);
        let _ = writeln!(
            text,
            "    if (uint64_t(root.{}) != {expected}) return {};",
            top.name, top.port
        );
    }
    text += "    return 0;\n}\n\n\
             static inline void read(const Root& root, int port, uint64_t* actual) {\n";
    for top in &pins.outputs {
        let read = format!("actual[{}] = root.{};", top.pin.pin as usize, top.name);
        let _ = match pins.ports {
            1 => writeln!(text, "    {read}"),
            _ => writeln!(text, "    if (port == {}) {read}", top.port),
        };
    }
    text += "}\n\n";
    text += &time_registers(internals);
    if let Some(selector) = selector {
        let _ = write!(
            text,
            "#define LINKDOZE_CHOICE\n\nstatic inline void choose(Root& root, uint64_t number) {{\n    \
             root.{selector} = number;\n}}\n\n"
        );
    }
    if traced {
        text += "static inline void drive_golden(Root& root, const Run* runs, uint64_t cycle) {\n    root.cycle = cycle;\n";
        for top in &pins.outputs {
            let expected = expected(top.port, top.pin.pin);
            let _ = writeln!(text, "    root.golden_{} = {expected};", top.name);
        }
        text += "}\n\n";
    }
    text += &clock_edge(internals, clocking);
    text
}

/// How a model that leaps over idle time has its registers read and set, and is settled afterwards.
fn time_registers(internals: &Internals) -> String {
    let registers = &internals.time_registers;
    if registers.is_empty() {
        return String::new();
    }
    let mut text = String::new();
    let _ = write!(
        text,
        "#define LINKDOZE_LEAPS\nenum {{ TIME_REGISTERS = {} }};\n\n\
         static inline void read_time(const Root& root, uint64_t* values) {{\n",
        registers.len()
    );
    let counters = registers.iter().filter_map(|member| Counter::of(member));
    let size = counters.map(|counter| counter.place + 1).max().unwrap_or(1);
    for (at, member) in registers.iter().enumerate() {
        let value = match (
            Counter::of(member),
            EventCounter::of(member, internals.read_inside),
        ) {
            (Some(counter), _) => counter.value(size),
            (_, Some(counter)) => counter.value(),
            (None, None) => match internals.copies(member) {
                Some([first, second, third]) => format!(
                    "(root.{first} & root.{second}) | (root.{first} & root.{third}) \
                     | (root.{second} & root.{third})"
                ),
                None => format!("root.{member}"),
            },
        };
        let _ = writeln!(text, "    values[{at}] = {value};");
    }
    text += "}\n\nstatic inline void write_time(Root& root, const uint64_t* values) {\n";
    // Counters of samples stay as they are.
    let times = registers.iter().enumerate();
    for (at, member) in times.filter(|(_, member)| Counter::of(member).is_none()) {
        let value = format!("values[{at}]");
        let _ = match EventCounter::of(member, internals.read_inside) {
            Some(counter) => writeln!(text, "    {}", counter.set(&value)),
            None => match internals.copies(member) {
                Some([first, second, third]) => writeln!(
                    text,
                    "    root.{first} = root.{second} = root.{third} = {value};"
                ),
                None => writeln!(text, "    root.{member} = {value};"),
            },
        };
    }
    text += "}\n\nvoid Vport___024root___eval_settle(Root*);\n\n\
             static inline void settle(Root& root) { Vport___024root___eval_settle(&root); }\n\n";
    text
}

/// How the inputs of a model are settled, and how its clock rises.
fn clock_edge(internals: &Internals, clocking: Clocking) -> String {
    let mut text = String::new();
    match (clocking, &internals.previous_clock, &internals.regions) {
        (Clocking::Regions, _, Some((inputs, clock))) => {
            let _ = write!(
                text,
                "void Vport___024root___eval_ico(Root*);\nvoid Vport___024root___eval_nba(Root*);\n\n\
                 static inline void settle_inputs(Model&, Root& root) {{\n    {inputs}\n    \
                 Vport___024root___eval_ico(&root);\n}}\n\n\
                 static inline void clock_edge(Model&, Root& root) {{\n    {clock}\n    \
                 Vport___024root___eval_nba(&root);\n}}\n"
            );
        }
        (Clocking::Root, Some(previous), _) => {
            let _ = write!(
                text,
                "void Vport___024root___eval(Root*);\n\n\
                 static inline void settle_inputs(Model&, Root& root) {{\n    \
                 Vport___024root___eval(&root);\n}}\n\n\
                 static inline void clock_edge(Model&, Root& root) {{\n    \
                 root.{previous} = 0;\n    Vport___024root___eval(&root);\n}}\n"
            );
        }
        _ => {
            text += "static inline void settle_inputs(Model& model, Root&) { model.eval(); }\n\n\
                     static inline void clock_edge(Model& model, Root& root) {\n    \
                     root.clk = 0;\n    model.eval();\n    root.clk = 1;\n    model.eval();\n}\n";
        }
    }
    text
}

/// The module `lockstep`, the top of a traced build: the controller, the golden model's
/// outputs beside its own, the number of the cycle, and whether they differ.
pub(super) fn lockstep_module(top: &str, all: &TopPins) -> String {
    let range = |width: u32| match width {
        1 => String::new(),
        _ => format!("[{}:0] ", width - 1),
    };
    let mut ports = vec![
        "    input clk".to_owned(),
        "    input [63:0] cycle".to_owned(),
    ];
    let mut pins = vec!["        .clk(clk)".to_owned()];
    for top in &all.inputs {
        let name = &top.name;
        ports.push(format!("    input {}{name}", range(top.pin.width)));
        pins.push(format!("        .{name}({name})"));
    }
    let mut differences = Vec::new();
    for top in &all.outputs {
        let (name, width) = (&top.name, top.pin.width);
        ports.push(format!("    output {}{name}", range(width)));
        ports.push(format!("    input {}golden_{name}", range(width)));
        pins.push(format!("        .{name}({name})"));
        differences.push(format!("({name} != golden_{name})"));
    }
    ports.push("    output mismatch".to_owned());
    format!(
        "// The controller beside its golden model, for waveforms. `cycle` counts from the\n\
         // first cycle after reset.\nmodule lockstep (\n{}\n);\n    {top} port (\n{}\n    );\n    \
         assign mismatch = {};\nendmodule\n",
        ports.join(",\n"),
        pins.join(",\n"),
        differences.join(" | ")
    )
}
