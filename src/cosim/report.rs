//! What a person, or a program, is told about a run.

use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{CellAlignment, ContentArrangement, Table, TableComponent};
use serde_json::{json, Value};

use super::coverage::{Corner, Coverage};
use super::{Mismatch, Run, Tally};
use crate::blocks::port::pins::{Inputs, Message, OutputPin, Outputs, PowerState};
use crate::config::plan::PortPlan;

/// Rows of the table of events before a mismatch.
const EVENTS: usize = 16;

/// The output pins whose values have names, by their numbers.
const POWER_STATE: usize = 1;
const MESSAGE_OUT: usize = 9;

fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_preset(UTF8_HORIZONTAL_ONLY)
        .remove_style(TableComponent::HorizontalLines)
        .remove_style(TableComponent::MiddleIntersections)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header);
    table
}

fn align_right(table: &mut Table, columns: &[usize]) {
    for &column in columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// The name of a value of a pin whose values have names.
fn name(pin: usize, value: u64) -> Option<&'static str> {
    let at = usize::try_from(value).ok()?;
    match pin {
        POWER_STATE => Some(PowerState::ALL.get(at)?.name()),
        MESSAGE_OUT => Some(Message::ALL.get(at)?.name()),
        _ => None,
    }
}

/// A pin's value as people read it: by name where it has one, long numbers in hexadecimal
/// too.
fn value(pin: usize, value: u64) -> String {
    match name(pin, value) {
        Some(name) => format!("{value} ({name})"),
        None => format!("{value} (0x{value:x})"),
    }
}

/// The report of a mismatch: signals, then the events that led to it.
pub fn mismatch(found: &Mismatch, plan: &PortPlan, port: Option<usize>) -> String {
    let pins = Outputs::pins(plan);
    let place = port.map_or(String::new(), |port| format!(", port {port}"));
    let mut signals = table(&["signal", "hardware", "golden model"]);
    for pin in &pins {
        let number = pin.number;
        let (actual, expected) = (found.actual[number], found.expected.expected(number));
        if actual != expected {
            signals.add_row([
                pin.name.to_owned(),
                value(number, actual),
                value(number, expected),
            ]);
        }
    }
    align_right(&mut signals, &[1, 2]);
    let mut events = table(&["cycle", "for", "inputs", "outputs of the golden model"]);
    let shown = &found.history[found.history.len().saturating_sub(EVENTS)..];
    let mut earlier: Option<&Run> = None;
    for (cycle, run) in shown {
        events.add_row([
            cycle.to_string(),
            run.cycles.to_string(),
            inputs_text(&run.inputs()),
            outputs_text(&pins, run, earlier),
        ]);
        earlier = Some(run);
    }
    align_right(&mut events, &[0, 1]);
    format!(
        "mismatch in cycle {}{place} (counted from the first cycle after reset)\n{signals}\n\
         the last events before it; the last line ends with the cycle of the mismatch\n{events}",
        found.cycle
    )
}

/// The input pins that are set.
fn inputs_text(inputs: &Inputs) -> String {
    let set = [
        ("rst", inputs.rst),
        ("queue_nonempty", inputs.queue_nonempty),
        ("transmitting", inputs.transmitting),
        ("receiving", inputs.receiving),
        ("sleep_permit", inputs.sleep_permit),
        ("remote_down", inputs.remote_down),
        ("remote_up", inputs.remote_up),
        ("initiator", inputs.initiator),
    ];
    let mut words: Vec<String> = set
        .iter()
        .filter(|pin| pin.1)
        .map(|pin| pin.0.to_owned())
        .collect();
    if inputs.packet_valid {
        words.push(format!("packet_valid (hops {})", inputs.packet_hops));
    }
    if inputs.message_in != 0 {
        let name = Message::decode(inputs.message_in).name();
        words.push(format!("message_in={} ({name})", inputs.message_in));
    }
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
            let before = earlier.map(|run| run.expected(pin.number));
            before != Some(run.expected(pin.number))
        })
        .map(|pin| {
            let (name, value) = (pin.name, run.expected(pin.number));
            match self::name(pin.number, value) {
                Some(value) => format!("{name}={value}"),
                None => format!("{name}={value}"),
            }
        })
        .collect();
    words.join(" ")
}

/// The same for programs.
pub fn mismatch_json(found: &Mismatch, plan: &PortPlan, port: Option<usize>) -> Value {
    let signals: Vec<Value> = Outputs::pins(plan)
        .iter()
        .map(|pin| {
            let (hardware, golden) = (found.actual[pin.number], found.expected.expected(pin.number));
            (pin.name, hardware, golden)
        })
        .filter(|(_, hardware, golden)| hardware != golden)
        .map(|(name, hardware, golden)| {
            json!({ "signal": name, "hardware": hardware, "golden": golden })
        })
        .collect();
    json!({ "cycle": found.cycle, "port": port, "signals": signals })
}

/// What the ports did, as text.
pub fn tally(tally: &Tally, period_ps: u64) -> String {
    let mut text = format!(
        "hits {}   misses {}   thresholds recomputed {}\n",
        tally.hits, tally.misses, tally.updates
    );
    // One unit for the column; short stays in a state are of interest, so rather a small one.
    let whole = tally.cycles as f64 * period_ps as f64 * 1e-12;
    let (unit, per_second) = match whole {
        whole if whole >= 1e3 => ("s", 1.0),
        whole if whole >= 1e-3 => ("ms", 1e3),
        _ => ("us", 1e6),
    };
    let mut states = table(&["state", "cycles", "time", "share"]);
    for state in PowerState::ALL {
        let cycles = tally.in_state(state);
        // For people: a share and a time to three digits need no exact arithmetic.
        let share = 100.0 * cycles as f64 / tally.cycles.max(1) as f64;
        let seconds = cycles as f64 * period_ps as f64 * 1e-12;
        states.add_row([
            state.name().to_owned(),
            cycles.to_string(),
            format!("{:.3} {unit}", seconds * per_second),
            format!("{share:.2} %"),
        ]);
    }
    align_right(&mut states, &[1, 2, 3]);
    text += &states.to_string();
    text
}

/// Time in each state for programs.
pub fn states_json(tally: &Tally) -> Value {
    PowerState::ALL
        .iter()
        .map(|&state| (state.name().to_owned(), json!(tally.in_state(state))))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// Why a corner that was not reached was not: impossible with this configuration, too long
/// for this run, or chance.
fn unreached(corner: Corner, plan: &PortPlan, affordable: &dyn Fn(Corner) -> bool) -> String {
    if let Some(reason) = corner.impossible(plan) {
        return format!("not in this configuration: {reason}");
    }
    match corner.long_idle(plan) {
        Some(ticks) if !affordable(corner) => {
            format!("needs {ticks} idle ticks: more --cycles")
        }
        _ => "not reached".to_owned(),
    }
}

/// Every corner, as text.
pub fn coverage(
    coverage: &Coverage,
    plan: &PortPlan,
    affordable: &dyn Fn(Corner) -> bool,
) -> String {
    let mut corners = table(&["corner", "times", "what"]);
    for &corner in Corner::ALL {
        let (times, what) = match coverage.count(corner) {
            0 => (
                "-".to_owned(),
                format!(
                    "{} ({})",
                    corner.what(),
                    unreached(corner, plan, affordable)
                ),
            ),
            count => (count.to_string(), corner.what().to_owned()),
        };
        corners.add_row([corner.name().to_owned(), times, what]);
    }
    align_right(&mut corners, &[1]);
    corners.to_string()
}

/// Every corner for programs.
pub fn coverage_json(
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
            let reason = unreached(corner, plan, affordable);
            missing.insert(corner.name().to_owned(), json!(reason));
        }
    }
    json!({ "reached": reached, "unreached": missing })
}
