//! The first step: what was written, key by key, with its place in the text.

use std::collections::BTreeMap;

use toml::de::{DeTable, DeValue};
use toml::Spanned;

use super::decimal::Decimal;
use super::error::Diagnostic;

/// Every table and its keys.
pub(super) const KEYS: [(&str, &[&str]); 10] = [
    ("clock", &["period_ps", "tick_ns"]),
    (
        "port",
        &[
            "time_width",
            "policy",
            "sleep",
            "t_pdt_ns",
            "t_pdt_init_ns",
            "t_backstop_ns",
            "hybrid_hold_ns",
            "sync",
            "sync_timeout_ns",
            "registers",
        ],
    ),
    ("states.wake", &["power_w"]),
    ("states.fast-wake", &["power_w", "t_w_ns", "t_s_ns"]),
    (
        "states.deep-sleep",
        &["power_w", "t_w_ns", "t_s_ns", "t_q_ns", "t_r_ns"],
    ),
    (
        "histogram",
        &[
            "kind",
            "bin_scale",
            "bins",
            "bin_ns",
            "counter_bits",
            "max_samples",
            "ttl_ns",
            "map_entries",
            "max_value_ns",
        ],
    ),
    ("perfbound", &["bound", "hops", "hop_factor", "window"]),
    (
        "correction",
        &["history", "mode", "miss_unit", "fraction_bits"],
    ),
    ("guard", &["burst"]),
    ("verilog", &["module_prefix"]),
];

/// Longest time that a key may hold: 10^16 ns, 115 days.
pub(super) const LONGEST_NS: u64 = 10_000_000_000_000_000;
const PS_PER_NS: u32 = 1000;

/// A value with its place.
#[derive(Clone, Debug)]
pub(super) struct Written<T> {
    pub value: T,
    /// Byte offset of the value in the text.
    pub offset: usize,
    /// `table.key = value` as written.
    pub what: String,
}

impl<T> Written<T> {
    fn map<U>(self, value: U) -> Written<U> {
        Written {
            value,
            offset: self.offset,
            what: self.what,
        }
    }
}

impl<T> Written<Option<T>> {
    /// What was written, if it is a value.
    pub(super) fn flatten(self) -> Option<Written<T>> {
        Some(Written {
            value: self.value?,
            offset: self.offset,
            what: self.what,
        })
    }
}

/// One `[hop_count, proportion]` of `perfbound.hops`.
pub(super) type HopGroup = Written<(u32, Decimal)>;

/// `perfbound.hops` as written.
#[derive(Clone, Debug)]
pub(super) enum WrittenHops {
    Groups(Vec<HopGroup>),
    Measured,
}

/// Reads values and collects faults.
pub(super) struct Reader<'a> {
    text: &'a str,
    values: BTreeMap<(&'static str, &'static str), Spanned<DeValue<'a>>>,
    faults: Vec<(usize, String)>,
}

impl<'a> Reader<'a> {
    /// Parses the text and sorts its values by table and key.
    pub fn new(text: &'a str) -> Reader<'a> {
        let mut reader = Reader {
            text,
            values: BTreeMap::new(),
            faults: Vec::new(),
        };
        let (document, errors) = DeTable::parse_recoverable(text);
        for error in errors {
            let offset = error.span().map_or(text.len(), |span| span.start);
            let hint = if error.message().contains("duplicate") {
                "; every key and table may appear once: remove one of the two"
            } else {
                ""
            };
            let message = error.message().replace('\n', " ");
            reader.fault(offset, format!("not valid TOML: {message}{hint}"));
        }
        if reader.faults.is_empty() {
            reader.sort(document.into_inner());
        }
        reader
    }

    /// Sorts the values of a table of a larger text.
    pub fn of_table(text: &'a str, table: DeTable<'a>) -> Reader<'a> {
        let mut reader = Reader {
            text,
            values: BTreeMap::new(),
            faults: Vec::new(),
        };
        reader.sort(table);
        reader
    }

    fn sort(&mut self, document: DeTable<'a>) {
        for (key, value) in document {
            let (offset, name) = (key.span().start, key.into_inner());
            if name == "states" {
                let Some(states) = self.table("states", value) else {
                    continue;
                };
                for (key, value) in states {
                    let offset = key.span().start;
                    let name = format!("states.{}", key.into_inner());
                    self.sort_table(offset, &name, value);
                }
            } else {
                self.sort_table(offset, &name, value);
            }
        }
    }

    fn sort_table(&mut self, offset: usize, name: &str, value: Spanned<DeValue<'a>>) {
        let Some(&(table, keys)) = KEYS.iter().find(|(table, _)| *table == name) else {
            let home = KEYS.iter().find(|(_, keys)| keys.contains(&name));
            let tables = KEYS.map(|(table, _)| table);
            let message = match home {
                Some((table, _)) => format!("{name}: this key belongs in the table [{table}]"),
                None => format!(
                    "{name}: unknown table; the nearest known one is [{}] (known: {})",
                    nearest(name, &tables),
                    tables.map(|table| format!("[{table}]")).join(", ")
                ),
            };
            self.fault(offset, message);
            return;
        };
        let Some(content) = self.table(table, value) else {
            return;
        };
        for (key, value) in content {
            let (offset, name) = (key.span().start, key.into_inner());
            if let Some(known) = keys.iter().find(|known| **known == name) {
                self.values.insert((table, known), value);
                continue;
            }
            let homes: Vec<_> = KEYS
                .iter()
                .filter(|(_, keys)| keys.contains(&&*name))
                .map(|(table, _)| format!("[{table}]"))
                .collect();
            let message = if homes.is_empty() {
                format!(
                    "{table}.{name}: unknown key; the nearest known one is `{}` ([{table}] has: {})",
                    nearest(&name, keys),
                    keys.join(", ")
                )
            } else {
                format!(
                    "{table}.{name}: [{table}] has no such key; it belongs in {} ([{table}] has: {})",
                    homes.join(" or "),
                    keys.join(", ")
                )
            };
            self.fault(offset, message);
        }
    }

    fn table(&mut self, name: &str, value: Spanned<DeValue<'a>>) -> Option<DeTable<'a>> {
        let span = value.span();
        match value.into_inner() {
            DeValue::Table(table) => Some(table),
            other => {
                self.fault(
                    span.start,
                    format!(
                        "{name}: must be a table, written [{name}] on a line of its own, not {}",
                        type_name(&other)
                    ),
                );
                None
            }
        }
    }

    /// Notes a fault at a byte offset.
    pub fn fault(&mut self, offset: usize, message: String) {
        self.faults.push((offset, message));
    }

    /// Notes a fault of a value: `what` is wrong and what would be right.
    pub fn fault_of<T>(&mut self, written: &Written<T>, wrong: impl std::fmt::Display) {
        self.fault(written.offset, format!("{}: {wrong}", written.what));
    }

    pub fn has_faults(&self) -> bool {
        !self.faults.is_empty()
    }

    /// The faults in the order of the text.
    pub fn into_diagnostics(mut self) -> Vec<Diagnostic> {
        self.faults.sort();
        // The parser can say the same of one place twice.
        self.faults.dedup();
        self.faults
            .into_iter()
            .map(|(offset, message)| Diagnostic::at(self.text, offset, message))
            .collect()
    }

    fn take(
        &mut self,
        table: &'static str,
        key: &'static str,
    ) -> Option<(DeValue<'a>, Written<()>)> {
        let value = self.values.remove(&(table, key))?;
        let span = value.span();
        let mut text = self.text[span.clone()].replace('\n', " ");
        if text.chars().count() > 60 {
            text = text.chars().take(60).chain("...".chars()).collect();
        }
        let written = Written {
            value: (),
            offset: span.start,
            what: format!("{table}.{key} = {text}"),
        };
        Some((value.into_inner(), written))
    }

    /// A whole number from `low` to `high`; `unit` follows the range in messages.
    pub fn integer(
        &mut self,
        table: &'static str,
        key: &'static str,
        (low, high): (u64, u64),
        unit: &str,
    ) -> Option<Written<u64>> {
        let (value, written) = self.take(table, key)?;
        let DeValue::Integer(integer) = &value else {
            self.fault_of(
                &written,
                format!(
                    "must be a whole number from {low} to {high}{unit}, not {}",
                    type_name(&value)
                ),
            );
            return None;
        };
        match i128::from_str_radix(integer.as_str(), integer.radix()) {
            Ok(number) if (i128::from(low)..=i128::from(high)).contains(&number) => {
                // In range of u64 because `high` is.
                Some(written.map(number as u64))
            }
            number => {
                let below = match number {
                    Ok(number) => number < i128::from(low),
                    Err(_) => integer.as_str().starts_with('-'),
                };
                let nearest = if below { low } else { high };
                self.fault_of(
                    &written,
                    format!(
                        "must be a whole number from {low} to {high}{unit}; \
                         the nearest legal value is {nearest}"
                    ),
                );
                None
            }
        }
    }

    /// A number, exactly as written.
    pub fn decimal(
        &mut self,
        table: &'static str,
        key: &'static str,
        legal: &str,
    ) -> Option<Written<Decimal>> {
        let (value, written) = self.take(table, key)?;
        self.decimal_of(&value, written, legal)
    }

    fn decimal_of(
        &mut self,
        value: &DeValue<'a>,
        written: Written<()>,
        legal: &str,
    ) -> Option<Written<Decimal>> {
        let parsed = match value {
            DeValue::Float(float) => float.as_str().parse::<Decimal>(),
            DeValue::Integer(integer) => {
                match i128::from_str_radix(integer.as_str(), integer.radix()) {
                    Ok(number) => number.to_string().parse(),
                    Err(_) => Err(super::decimal::DecimalError::TooLarge),
                }
            }
            other => {
                self.fault_of(
                    &written,
                    format!("must be {legal}, not {}", type_name(other)),
                );
                return None;
            }
        };
        match parsed {
            Ok(decimal) => Some(written.map(decimal)),
            Err(error) => {
                self.fault_of(&written, format!("must be {legal}, not {error}"));
                None
            }
        }
    }

    /// A time in nanoseconds, returned in picoseconds, at least `low_ps`.
    pub fn time(
        &mut self,
        table: &'static str,
        key: &'static str,
        low_ps: u64,
        high_ns: u64,
    ) -> Option<Written<u64>> {
        let low = super::ns(low_ps);
        let legal = format!("a time from {low} to {high_ns} ns in whole picoseconds");
        let written = self.decimal(table, key, &legal)?;
        let value = written.value;
        let wrong =
            |nearest: String| format!("must be {legal}; the nearest legal value is {nearest}");
        if value > Decimal::from(high_ns) {
            self.fault_of(&written, wrong(high_ns.to_string()));
            return None;
        }
        // Negative numbers have no floor here: they are below `low_ps` like all others.
        let floor = value.scaled_floor(PS_PER_NS).filter(|ps| *ps >= low_ps);
        match (value.scaled_to_integer(PS_PER_NS), floor) {
            (Some(ps), Some(_)) => Some(written.map(ps)),
            (None, Some(floor)) => {
                let nearest = format!("{} or {}", super::ns(floor), super::ns(floor + 1));
                self.fault_of(&written, wrong(nearest));
                None
            }
            (_, None) => {
                self.fault_of(&written, wrong(low));
                None
            }
        }
    }

    /// As [`Reader::time`], or `"off"`: `None`.
    pub fn time_or_off(
        &mut self,
        table: &'static str,
        key: &'static str,
        low_ps: u64,
        high_ns: u64,
    ) -> Option<Written<Option<u64>>> {
        match self.values.get(&(table, key)).map(|value| value.get_ref()) {
            Some(DeValue::String(text)) if text == "off" => {
                let (_, written) = self.take(table, key)?;
                Some(written.map(None))
            }
            Some(DeValue::String(_)) => {
                let (_, written) = self.take(table, key)?;
                self.fault_of(&written, "must be a time in nanoseconds, or \"off\"");
                None
            }
            _ => {
                let written = self.time(table, key, low_ps, high_ns)?;
                let time = written.value;
                Some(written.map(Some(time)))
            }
        }
    }

    /// One of a list of names.
    pub fn choice<T: Copy>(
        &mut self,
        table: &'static str,
        key: &'static str,
        choices: &[(&str, T)],
    ) -> Option<Written<T>> {
        let (value, written) = self.take(table, key)?;
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let list = names
            .iter()
            .map(|name| format!("\"{name}\""))
            .collect::<Vec<_>>()
            .join(", ");
        let DeValue::String(string) = &value else {
            self.fault_of(
                &written,
                format!("must be one of {list}, not {}", type_name(&value)),
            );
            return None;
        };
        if let Some((_, choice)) = choices.iter().find(|(name, _)| name == string) {
            return Some(written.map(*choice));
        }
        let nearest = nearest(string, &names);
        self.fault_of(
            &written,
            format!("must be one of {list}; the nearest is \"{nearest}\""),
        );
        None
    }

    /// `true` or `false`.
    pub fn switch(&mut self, table: &'static str, key: &'static str) -> Option<Written<bool>> {
        let (value, written) = self.take(table, key)?;
        match value {
            DeValue::Boolean(value) => Some(written.map(value)),
            other => {
                self.fault_of(
                    &written,
                    format!("must be true or false, not {}", type_name(&other)),
                );
                None
            }
        }
    }

    /// The beginning of names in Verilog: nothing, or letters, digits and `_` with a letter first
    /// and `_` last (so that none becomes a reserved word), at most `longest` characters.
    pub fn prefix(
        &mut self,
        table: &'static str,
        key: &'static str,
        longest: usize,
    ) -> Option<Written<String>> {
        let (value, written) = self.take(table, key)?;
        let legal = format!(
            "must be a text of letters, digits and _ that begins with a letter and ends with _, \
             such as \"north_\", at most {longest} characters, or \"\""
        );
        let DeValue::String(text) = &value else {
            self.fault_of(&written, format!("{legal}, not {}", type_name(&value)));
            return None;
        };
        let is_name = text.starts_with(|first: char| first.is_ascii_alphabetic())
            && text.ends_with('_')
            && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && text.len() <= longest;
        if text.is_empty() || is_name {
            return Some(written.map(text.to_string()));
        }
        self.fault_of(&written, legal);
        None
    }

    /// `perfbound.hops`.
    pub fn hops(&mut self) -> Option<Written<WrittenHops>> {
        const LEGAL: &str =
            "a list of [hop_count, proportion] such as [[4, 0.7], [6, 0.3]], or \"measured\"";
        let (value, written) = self.take("perfbound", "hops")?;
        let groups = match value {
            DeValue::String(text) if text == "measured" => {
                return Some(written.map(WrittenHops::Measured))
            }
            DeValue::Array(groups) => groups,
            DeValue::String(_) => {
                self.fault_of(&written, format!("must be {LEGAL}"));
                return None;
            }
            other => {
                self.fault_of(
                    &written,
                    format!("must be {LEGAL}, not {}", type_name(&other)),
                );
                return None;
            }
        };
        if groups.is_empty() {
            self.fault_of(
                &written,
                format!("must name at least one hop count: {LEGAL}"),
            );
            return None;
        }
        let mut read = Vec::new();
        let mut complete = true;
        for group in groups {
            match self.hop_group(group) {
                Some(group) => read.push(group),
                None => complete = false,
            }
        }
        complete.then(|| written.map(WrittenHops::Groups(read)))
    }

    fn hop_group(&mut self, group: Spanned<DeValue<'a>>) -> Option<HopGroup> {
        let span = group.span();
        let written = Written {
            value: (),
            offset: span.start,
            what: format!("perfbound.hops, {}", &self.text[span]),
        };
        let pair = match group.into_inner() {
            DeValue::Array(pair) if pair.len() == 2 => pair,
            _ => {
                self.fault_of(
                    &written,
                    "must be a pair [hop_count, proportion] such as [4, 0.7]",
                );
                return None;
            }
        };
        let mut pair = pair.into_iter();
        let (count, proportion) = (pair.next()?, pair.next()?);
        let place = |part: &Spanned<DeValue<'a>>, what: &str| Written {
            value: (),
            offset: part.span().start,
            what: format!("perfbound.hops, {what} {}", &self.text[part.span()]),
        };
        let count_place = place(&count, "hop count");
        let proportion_place = place(&proportion, "proportion");
        let hops = match count.get_ref() {
            DeValue::Integer(integer) => i128::from_str_radix(integer.as_str(), integer.radix())
                .ok()
                .and_then(|hops| u32::try_from(hops).ok())
                .filter(|hops| (1..=63).contains(hops)),
            _ => None,
        };
        if hops.is_none() {
            self.fault_of(
                &count_place,
                "must be a whole number from 1 to 63 (the hop counts that the controller's \
                 6-bit pin can carry; a packet travels at least 1 hop)",
            );
        }
        let legal = "a proportion above 0 and at most 1";
        let share = self.decimal_of(proportion.get_ref(), proportion_place, legal)?;
        if share.value <= Decimal::ZERO || share.value > Decimal::ONE {
            self.fault_of(&share, format!("must be {legal}"));
            return None;
        }
        Some(written.map((hops?, share.value)))
    }
}

/// The candidate with the fewest edits to `name`.
pub(crate) fn nearest<'b>(name: &str, candidates: &[&'b str]) -> &'b str {
    candidates
        .iter()
        .min_by_key(|candidate| strsim::damerau_levenshtein(name, candidate))
        .copied()
        .unwrap_or_default()
}

fn type_name(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a point",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
