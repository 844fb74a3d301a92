//! What a person, or a program, is told about a co-simulation.

use std::collections::BTreeMap;

use serde_json::{json, Value};

use crate::blocks::port::pins::{Inputs, Message, OutputPin, Outputs, Pin, PowerState};
use crate::cli::output::{table, trimmed, wrapped};
use crate::config::plan::PortPlan;
use crate::cosim::code_coverage::{CodeCoverage, Kind};
use crate::cosim::coverage::{Corner, Coverage};
use crate::cosim::{Mismatch, Run, Tally};

/// Rows of the table of events before a mismatch.
const EVENTS: usize = 16;

/// So many corners that were not reached are named in the summary.
const NAMES: usize = 4;

/// The name of a value of a pin whose values have names.
fn name(pin: Pin, value: u64) -> Option<&'static str> {
    let at = usize::try_from(value).ok()?;
    match pin {
        Pin::PowerState => Some(PowerState::ALL.get(at)?.name()),
        Pin::MessageOut => Some(Message::ALL.get(at)?.name()),
        _ => None,
    }
}

/// A pin's value as people read it: by name where it has one, long numbers in hexadecimal
/// too.
fn value(pin: Pin, value: u64) -> String {
    match name(pin, value) {
        Some(name) => format!("{value} ({name})"),
        None => format!("{value} (0x{value:x})"),
    }
}

/// The report of a mismatch: signals, then the events that led to it.
pub(super) fn mismatch(found: &Mismatch, plan: &PortPlan, port: Option<usize>) -> String {
    let pins = Outputs::pins(plan);
    let place = port.map_or(String::new(), |port| format!(", port {port}"));
    let mut signals = table(&["signal", "hardware", "golden model"], [1, 2]);
    for pin in &pins {
        let (actual, expected) = (found.actual[pin.pin], found.expected.expected(pin.pin));
        if actual != expected {
            signals.add_row([
                pin.name.to_owned(),
                value(pin.pin, actual),
                value(pin.pin, expected),
            ]);
        }
    }
    if let Some((name, hardware, golden)) = found.register {
        let number = |value: u64| format!("{value} (0x{value:x})");
        signals.add_row([name.to_owned(), number(hardware), number(golden)]);
    }
    let header = ["cycle", "for", "inputs", "outputs of the golden model"];
    let mut events = table(&header, [0, 1]);
    let shown = &found.history[found.history.len().saturating_sub(EVENTS)..];
    let mut earlier: Option<&Run> = None;
    for (cycle, run) in shown {
        events.add_row([
            cycle.to_string(),
            run.cycles.to_string(),
            inputs_text(&run.inputs),
            outputs_text(&pins, run, earlier),
        ]);
        earlier = Some(run);
    }
    format!(
        "mismatch in cycle {}{place} (counted from the first cycle after reset)\n{}\n\
         the last events before it; the last line ends with the cycle of the mismatch\n{}",
        found.cycle,
        trimmed(&signals),
        trimmed(&events)
    )
}

/// The input pins that are set.
fn inputs_text(inputs: &Inputs) -> String {
    let set = Inputs::PINS.iter().filter(|pin| inputs.value(pin) != 0);
    let mut words: Vec<String> = set
        .filter_map(|pin| match pin.name {
            "packet_valid" => Some(format!("packet_valid (hops {})", inputs.packet_hops)),
            "packet_hops" => None,
            "message_in" => {
                let name = Message::decode(inputs.message_in).name();
                Some(format!("message_in={} ({name})", inputs.message_in))
            }
            name => Some(name.to_owned()),
        })
        .collect();
    if words.is_empty() {
        words.push("none".to_owned());
    }
    words.join(" ")
}

/// The output pins that have changed, or all of them in the first line.
fn outputs_text(pins: &[OutputPin], run: &Run, earlier: Option<&Run>) -> String {
    let words: Vec<String> = pins
        .iter()
        .filter(|pin| {
            let before = earlier.map(|run| run.expected(pin.pin));
            before != Some(run.expected(pin.pin))
        })
        .map(|pin| {
            let (name, value) = (pin.name, run.expected(pin.pin));
            match self::name(pin.pin, value) {
                Some(value) => format!("{name}={value}"),
                None => format!("{name}={value}"),
            }
        })
        .collect();
    words.join(" ")
}

/// The same for programs.
pub(super) fn mismatch_json(found: &Mismatch, plan: &PortPlan, port: Option<usize>) -> Value {
    let signals: Vec<Value> = Outputs::pins(plan)
        .iter()
        .map(|pin| {
            let (hardware, golden) = (found.actual[pin.pin], found.expected.expected(pin.pin));
            (pin.name, hardware, golden)
        })
        .filter(|(_, hardware, golden)| hardware != golden)
        .chain(found.register)
        .map(|(name, hardware, golden)| {
            json!({ "signal": name, "hardware": hardware, "golden": golden })
        })
        .collect();
    json!({ "cycle": found.cycle, "port": port, "signals": signals })
}

/// What the ports did, in two lines.
pub(super) fn tally(tally: &Tally) -> String {
    let parts: Vec<String> = PowerState::ALL
        .into_iter()
        .filter(|&state| tally.in_state(state) > 0)
        .map(|state| {
            // For people: a share to two digits needs no exact arithmetic.
            let share = 100.0 * tally.in_state(state) as f64 / tally.passed().max(1) as f64;
            format!("{} {share:.2} %", state.name())
        })
        .collect();
    let parts = wrapped(&format!("time: {}", parts.join(", ")), 2);
    format!(
        "hits {}   misses {}   thresholds recomputed {}\n{parts}",
        tally.hits, tally.misses, tally.updates
    )
}

/// How long the ports were in each state.
pub(super) fn states(tally: &Tally, period_ps: u64) -> String {
    // One unit for the column; short stays in a state are of interest, so rather a small one.
    let whole = tally.passed() as f64 * period_ps as f64 * 1e-12;
    let (unit, per_second) = match whole {
        whole if whole >= 1e3 => ("s", 1.0),
        whole if whole >= 1e-3 => ("ms", 1e3),
        _ => ("us", 1e6),
    };
    let mut states = table(&["state", "cycles", "time", "share"], 1..4);
    for state in PowerState::ALL {
        let cycles = tally.in_state(state);
        let share = 100.0 * cycles as f64 / tally.passed().max(1) as f64;
        let seconds = cycles as f64 * period_ps as f64 * 1e-12;
        states.add_row([
            state.name().to_owned(),
            cycles.to_string(),
            format!("{:.3} {unit}", seconds * per_second),
            format!("{share:.2} %"),
        ]);
    }
    trimmed(&states)
}

/// Time in each state for programs.
pub(super) fn states_json(tally: &Tally) -> Value {
    PowerState::ALL
        .iter()
        .map(|&state| (state.name().to_owned(), json!(tally.in_state(state))))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// Why a corner was not reached.
enum Unreached {
    /// This configuration does not have it.
    Impossible(&'static str),
    /// The run was too short for so many idle ticks.
    TooShort(u64),
    /// Chance, or what was driven.
    Missed,
}

impl Unreached {
    fn why(corner: Corner, plan: &PortPlan, affordable: &dyn Fn(Corner) -> bool) -> Unreached {
        if let Some(reason) = corner.impossible(plan) {
            return Unreached::Impossible(reason);
        }
        match corner.long_idle(plan) {
            Some(ticks) if !affordable(corner) => Unreached::TooShort(ticks),
            _ => Unreached::Missed,
        }
    }
}

impl std::fmt::Display for Unreached {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unreached::Impossible(reason) => write!(f, "not in this configuration: {reason}"),
            Unreached::TooShort(ticks) => write!(f, "needs {ticks} idle ticks: more --cycles"),
            Unreached::Missed => f.write_str("not reached"),
        }
    }
}

/// How many corners were reached, and which of those that can be were not.
pub(super) fn corners(
    coverage: &Coverage,
    plan: &PortPlan,
    affordable: &dyn Fn(Corner) -> bool,
) -> String {
    let (mut impossible, mut short, mut missed) = (0, Vec::new(), Vec::new());
    for &corner in Corner::ALL {
        if coverage.count(corner) == 0 {
            match Unreached::why(corner, plan, affordable) {
                Unreached::Impossible(_) => impossible += 1,
                Unreached::TooShort(_) => short.push(corner.name()),
                Unreached::Missed => missed.push(corner.name()),
            }
        }
    }
    let possible = Corner::ALL.len() - impossible;
    let reached = possible - short.len() - missed.len();
    let mut text = format!("corners: {reached} of {possible} reached");
    for (what, names) in [("not", missed), ("with more --cycles", short)] {
        if !names.is_empty() {
            let first = &names[..names.len().min(NAMES)];
            text += &format!("; {what}: {}", first.join(", "));
            if names.len() > NAMES {
                text += &format!(" and {} more", names.len() - NAMES);
            }
        }
    }
    wrapped(&text, 2)
}

/// How much of every module was reached; `all`: and every place that was not, with its line of
/// `files`.
pub(super) fn code(code: &CodeCoverage, files: &[(String, String)], all: bool) -> String {
    let mut modules = table(&["module", "lines", "branches", "bits"], 1..4);
    for (module, kinds) in code.modules() {
        let cells = Kind::ALL.map(|kind| match kinds.get(&kind) {
            Some((all, reached)) => format!("{reached} of {all}"),
            None => "-".to_owned(),
        });
        modules.add_row(std::iter::once(module.to_owned()).chain(cells));
    }
    let mut text = trimmed(&modules);
    if !all {
        return text;
    }
    // The bits of one signal in one row.
    let mut places: BTreeMap<(&str, u32, &str), Vec<u32>> = BTreeMap::new();
    for hole in code.holes() {
        let (name, bit) = match hole
            .name
            .strip_suffix(']')
            .and_then(|it| it.rsplit_once('['))
        {
            Some((name, bit)) => (name, bit.parse::<u32>().ok()),
            None => (hole.name.as_str(), None),
        };
        let bits = places.entry((&hole.module, hole.line, name)).or_default();
        bits.extend(bit);
    }
    let mut holes = table(&["not reached in", "line", "what", "text"], [1]);
    for ((module, number, name), bits) in places {
        let file = files
            .iter()
            .find(|(file, _)| *file == format!("{module}.v"));
        let line = number
            .checked_sub(1)
            .and_then(|at| file?.1.lines().nth(at as usize));
        let code = line
            .unwrap_or_default()
            .split("//")
            .next()
            .unwrap_or_default();
        let what = match bits.is_empty() {
            true => name.to_owned(),
            false => format!("{name}[{}]", ranges(bits)),
        };
        holes.add_row([module, &number.to_string(), &what, code.trim()]);
    }
    text.push('\n');
    text + &trimmed(&holes)
}

/// Numbers with what lies between two in a row left out: `0..4, 6`.
fn ranges(mut numbers: Vec<u32>) -> String {
    numbers.sort_unstable();
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let texts = ranges.iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}..{last}"),
    });
    texts.collect::<Vec<_>>().join(", ")
}

/// The same for programs.
pub(super) fn code_json(code: &CodeCoverage) -> Value {
    let modules = code.modules().into_iter().map(|(module, kinds)| {
        let of = |kind: Kind| {
            let (all, reached) = kinds.get(&kind).copied().unwrap_or_default();
            json!({ "all": all, "reached": reached })
        };
        let [lines, branches, bits] = Kind::ALL.map(of);
        let counts = json!({ "lines": lines, "branches": branches, "bits": bits });
        (module.to_owned(), counts)
    });
    json!({
        "modules": modules.collect::<serde_json::Map<_, _>>(),
        "holes": code.holes().collect::<Vec<_>>(),
    })
}

/// Every corner, as text.
pub(super) fn coverage(
    coverage: &Coverage,
    plan: &PortPlan,
    affordable: &dyn Fn(Corner) -> bool,
) -> String {
    let mut corners = table(&["corner", "times", "what"], [1]);
    for &corner in Corner::ALL {
        let (times, what) = match coverage.count(corner) {
            0 => (
                "-".to_owned(),
                format!(
                    "{} ({})",
                    corner.what(),
                    Unreached::why(corner, plan, affordable)
                ),
            ),
            count => (count.to_string(), corner.what().to_owned()),
        };
        corners.add_row([corner.name().to_owned(), times, what]);
    }
    trimmed(&corners)
}

/// Every corner for programs.
pub(super) fn coverage_json(
    coverage: &Coverage,
    plan: &PortPlan,
    affordable: &dyn Fn(Corner) -> bool,
) -> Value {
    let mut reached = serde_json::Map::new();
    let mut missing = serde_json::Map::new();
    for &corner in Corner::ALL {
        let count = coverage.count(corner);
        reached.insert(corner.name().to_owned(), json!(count));
        if count == 0 {
            let reason = Unreached::why(corner, plan, affordable);
            missing.insert(corner.name().to_owned(), json!(reason.to_string()));
        }
    }
    json!({ "reached": reached, "unreached": missing })
}
