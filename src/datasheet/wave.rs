//! Timing diagrams: what the pins of a port did, as columns; these as WaveDrom JSON and as SVG.
//!
//! A stretch of one or two clock cycles has a column for each. A longer one has a column, and one with
//! a gap that stands for the rest.

use std::fmt::Write as _;

use serde_json::{json, Value};

use crate::words::escaped;

/// Clock cycles in which the pins `P` stay as they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch<P> {
    /// The first of them, counted from the one that a diagram is about.
    pub from: i64,
    /// How many.
    pub cycles: u64,
    /// What the pins carry.
    pub pins: P,
}

/// What pins did, as it is recorded.
#[derive(Clone, Debug)]
pub(super) struct Record<P>(Vec<Stretch<P>>);

impl<P: Copy + PartialEq> Record<P> {
    pub fn new() -> Self {
        Record(Vec::new())
    }

    /// For so many cycles from cycle `now` on the pins were so.
    pub fn push(&mut self, now: u64, cycles: u64, pins: P) {
        match self.0.last_mut().filter(|last| last.pins == pins) {
            Some(last) => last.cycles += cycles,
            None => self.0.push(Stretch {
                from: now as i64,
                cycles,
                pins,
            }),
        }
    }

    /// What was recorded, counted from cycle `zero`; the record is empty then.
    pub fn take(&mut self, zero: u64) -> Vec<Stretch<P>> {
        let mut stretches = std::mem::take(&mut self.0);
        for stretch in &mut stretches {
            stretch.from -= zero as i64;
        }
        stretches
    }
}

/// A pin in a diagram.
pub(super) struct Lane<P> {
    pub name: &'static str,
    /// Whether it is in every diagram, or only in those in which it changes.
    pub always: bool,
    pub value: fn(&P) -> Level,
}

/// What a pin carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Bit(bool),
    /// The name of what its bits mean.
    Named(&'static str),
}

impl Level {
    fn name(self) -> Option<&'static str> {
        match self {
            Level::Bit(_) => None,
            Level::Named(name) => Some(name),
        }
    }
}

/// The most columns that a stretch has without a gap.
const WHOLE: u64 = 2;

/// A diagram.
pub(super) struct Diagram {
    title: String,
    lanes: Vec<(&'static str, Vec<Level>)>,
    columns: Vec<Column>,
    events: Vec<(i64, String)>,
}

/// A column.
#[derive(Clone, Copy, Debug)]
struct Column {
    /// Its clock cycle, or the first of those that a gap stands for.
    cycle: i64,
    gap: bool,
    /// The stretch that it belongs to.
    stretch: usize,
}

impl Diagram {
    /// The diagram of some stretches, one after the other.
    pub fn new<P>(title: String, lanes: &[Lane<P>], stretches: &[Stretch<P>]) -> Diagram {
        let mut kept: Vec<(&'static str, Vec<Level>)> = Vec::new();
        for lane in lanes {
            let values = stretches.iter().map(|it| (lane.value)(&it.pins));
            let values: Vec<Level> = values.collect();
            if lane.always || values.iter().any(|value| *value != values[0]) {
                kept.push((lane.name, values));
            }
        }
        // A pin that is not shown may have changed.
        let mut merged: Vec<(i64, u64, usize)> = Vec::new();
        for (place, stretch) in stretches.iter().enumerate() {
            let same = |at: usize| kept.iter().all(|(_, values)| values[at] == values[place]);
            match merged.last_mut() {
                Some((_, cycles, at)) if same(*at) => *cycles += stretch.cycles,
                _ => merged.push((stretch.from, stretch.cycles, place)),
            }
        }
        let mut columns = Vec::new();
        let mut events = Vec::new();
        for (place, &(from, cycles, at)) in merged.iter().enumerate() {
            let mut column = |cycle, gap| {
                columns.push(Column {
                    cycle,
                    gap,
                    stretch: place,
                });
            };
            column(from, false);
            if cycles > WHOLE {
                column(from + 1, true);
            } else if cycles > 1 {
                column(from + 1, false);
            }
            if place == 0 {
                continue;
            }
            let before = merged[place - 1].2;
            let changes = kept
                .iter()
                .filter(|(_, values)| values[before] != values[at]);
            let changes = changes.map(|(name, values)| match values[at] {
                Level::Bit(value) => format!("`{name}` {}", u8::from(value)),
                Level::Named(value) => format!("`{name}` {value}"),
            });
            // A message is there for a cycle: that it ends says nothing.
            let changes: Vec<String> = changes
                .filter(|change| !change.starts_with("`message_") || !change.ends_with(" 0"))
                .collect();
            if !changes.is_empty() {
                events.push((from, changes.join(", ")));
            }
        }
        let lanes = kept.iter().map(|(name, values)| {
            let values = merged.iter().map(|(_, _, at)| values[*at]);
            (*name, values.collect())
        });
        Diagram {
            title,
            lanes: lanes.collect(),
            columns,
            events,
        }
    }

    /// What changes, and in which clock cycle.
    pub fn events(&self) -> &[(i64, String)] {
        &self.events
    }

    /// The diagram for WaveDrom.
    pub fn wavedrom(&self) -> String {
        let columns = || self.columns.iter().enumerate();
        let is_first =
            |at: usize| at == 0 || self.columns[at - 1].stretch != self.columns[at].stretch;
        let cycle_wave: String = columns()
            .map(|(_, column)| if column.gap { '|' } else { '=' })
            .collect();
        let cycles = self.columns.iter().filter(|column| !column.gap);
        let cycles: Vec<String> = cycles.map(|column| column.cycle.to_string()).collect();
        let mut signal = vec![json!({"name": "clock cycle", "wave": cycle_wave, "data": cycles})];
        for (name, values) in &self.lanes {
            let mut wave = String::new();
            let mut data = Vec::new();
            let mut before = None;
            for (at, column) in columns() {
                let value = values[column.stretch];
                let letter = match value {
                    _ if column.gap => '|',
                    // The same message once more is another one.
                    Level::Named(_) if is_first(at) && is_pulse(name) => {
                        data.extend(value.name());
                        '='
                    }
                    _ if before == Some(value) => '.',
                    Level::Bit(bit) => {
                        if bit {
                            '1'
                        } else {
                            '0'
                        }
                    }
                    Level::Named(_) => {
                        data.extend(value.name());
                        '='
                    }
                };
                before = Some(value);
                wave.push(letter);
            }
            signal.push(match data.is_empty() {
                true => json!({"name": name, "wave": wave}),
                false => json!({"name": name, "wave": wave, "data": data}),
            });
        }
        // A lane to a line, as people write it.
        let lines: Vec<String> = signal.iter().map(|lane| format!("    {lane}")).collect();
        format!(
            "{{\n  \"signal\": [\n{}\n  ],\n  \"head\": {},\n  \"config\": {{\"hscale\": 2}}\n}}\n",
            lines.join(",\n"),
            json!({"text": Value::from(self.title.clone())})
        )
    }

    /// The diagram as an `svg` element.
    pub fn svg(&self) -> String {
        let bottom = TOP + self.lanes.len() as u32 * LANE;
        // Where each column begins, and where the last ends.
        let mut starts = vec![LEFT];
        for column in &self.columns {
            let width = if column.gap { GAP } else { COLUMN };
            starts.push(starts[starts.len() - 1] + width);
        }
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" role=\"img\">\n\
             <title>{}</title>\n<text x=\"0\" y=\"{}\" class=\"pale\">clock cycle</text>\n",
            starts[self.columns.len()] + 2,
            bottom + 6,
            escaped(&self.title),
            TOP - 14
        );
        for x in &starts[..self.columns.len()] {
            let _ = writeln!(
                svg,
                "<path class=\"grid\" d=\"M{x} {} V{bottom}\"/>",
                TOP - 8
            );
        }
        let mut before = None;
        for (column, x) in self.columns.iter().zip(&starts) {
            if !column.gap {
                let number = column.cycle.to_string();
                // Long numbers would touch each other.
                let label = match before == Some(column.cycle - 1) && number.len() > DIGITS {
                    true => "+1".to_owned(),
                    false => number,
                };
                let _ = writeln!(
                    svg,
                    "<text x=\"{x}\" y=\"{}\" class=\"pale\">{label}</text>",
                    TOP - 14
                );
            }
            before = (!column.gap).then_some(column.cycle);
        }
        for (row, (name, values)) in self.lanes.iter().enumerate() {
            let low = TOP + row as u32 * LANE + LANE - 7;
            let _ = writeln!(svg, "<text x=\"0\" y=\"{}\">{name}</text>", low - 4);
            self.lane(&mut svg, values, low, &starts);
        }
        svg + "</svg>\n"
    }

    /// Draws a lane whose 0 is at the height `low`.
    fn lane(&self, svg: &mut String, values: &[Level], low: u32, starts: &[u32]) {
        let high = low - HIGH;
        let mut wave = String::new();
        let mut at = 0;
        while at < self.columns.len() {
            let value = values[self.columns[at].stretch];
            let same = |column: &&Column| values[column.stretch] == value;
            let count = self.columns[at..].iter().take_while(same).count();
            let (x, end) = (starts[at], starts[at + count]);
            match value {
                Level::Bit(bit) => {
                    let y = if bit { high } else { low };
                    let edge_of_bit =
                        at > 0 && matches!(values[self.columns[at - 1].stretch], Level::Bit(_));
                    // Writing to a string does not fail.
                    let _ = match edge_of_bit {
                        true => write!(wave, " V{y} H{end}"),
                        false => write!(wave, " M{x} {y} H{end}"),
                    };
                }
                Level::Named(text) => {
                    let middle = low - HIGH / 2;
                    let (place, anchor) = match count {
                        1 => ((x + end) / 2, "middle"),
                        _ => (x + 9, "start"),
                    };
                    let _ = writeln!(
                        svg,
                        "<path class=\"bus\" d=\"M{x} {middle} L{} {high} H{} L{end} {middle} L{} \
                         {low} H{} Z\"/>\n<text x=\"{place}\" y=\"{}\" text-anchor=\"{anchor}\" \
                         font-size=\"10\">{text}</text>",
                        x + 4,
                        end - 4,
                        end - 4,
                        x + 4,
                        low - 4
                    );
                }
            }
            at += count;
        }
        if !wave.is_empty() {
            let _ = writeln!(svg, "<path class=\"wave\" d=\"{}\"/>", wave.trim());
        }
        for (column, x) in self.columns.iter().zip(starts) {
            if column.gap {
                let curve = |x: u32| {
                    let (top, foot) = (high - 3, low + 3);
                    format!("M{x} {foot} C{} {foot} {x} {top} {} {top}", x + 6, x + 6)
                };
                let x = x + GAP / 2 - 3;
                let _ = writeln!(
                    svg,
                    "<path class=\"gap\" d=\"{}\"/><path class=\"cut\" d=\"{} {}\"/>",
                    curve(x),
                    curve(x - 3),
                    curve(x + 3)
                );
            }
        }
    }
}

/// Whether two equal values one after the other are two events.
fn is_pulse(lane: &str) -> bool {
    lane.starts_with("message_")
}

/// Sizes in the drawing: the names of the lanes, a column, one with a gap, a lane, the height of a 1,
/// and where the first lane begins.
const LEFT: u32 = 120;
const COLUMN: u32 = 70;
const GAP: u32 = 28;
const LANE: u32 = 28;
const HIGH: u32 = 16;
const TOP: u32 = 30;

/// Digits that fit over a column.
const DIGITS: usize = 8;
