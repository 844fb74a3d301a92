//! Reads a text key by key, with the place of each value, and collects every fault.

use std::collections::BTreeMap;

use toml::de::{DeTable, DeValue};
use toml::Spanned;

use super::error::{Diagnostic, InputError};
use super::keys::{quoted, Key, Table, Type, HOP_COUNTS};
use super::recognise::{self, Kind};
use super::unit::Unit;
use super::{similar, Decimal, DecimalError};

/// Longest value that a message repeats, in characters.
const LONGEST_SHOWN: usize = 60;

/// A value with its place.
#[derive(Clone, Debug)]
pub struct Written<T> {
    /// The value.
    pub value: T,
    /// Byte offset of the value in the text.
    pub offset: usize,
    /// `table.key = value` as written.
    pub what: String,
}

impl<T> Written<T> {
    /// Another value at the same place.
    pub fn map<U>(self, of: impl FnOnce(T) -> U) -> Written<U> {
        Written {
            value: of(self.value),
            offset: self.offset,
            what: self.what,
        }
    }

    fn filter_map<U>(&self, of: impl FnOnce(&T) -> Option<U>) -> Option<Written<U>> {
        Some(Written {
            value: of(&self.value)?,
            offset: self.offset,
            what: self.what.clone(),
        })
    }
}

/// A value that has the type and the range of its key.
#[derive(Clone, Debug)]
pub enum Value {
    /// Of [`Type::Integer`], or of [`Type::Number`] in units of 10^-`digits`.
    Number(u64),
    /// Of [`Type::Fraction`].
    Fraction(Decimal),
    /// Of [`Type::Choice`].
    Name(String),
    /// Of [`Type::Switch`].
    Switch(bool),
    /// Of [`Type::Text`].
    Text(String),
    /// Of [`Type::List`].
    List(Vec<Written<Value>>),
    /// Of [`Type::HopGroups`].
    HopGroups(Vec<Written<(u32, Decimal)>>),
    /// Of [`Type::Tables`].
    Tables(Vec<Section>),
}

impl Value {
    /// The whole number that stands for it, if it is a number.
    pub fn number(&self) -> Option<u64> {
        match self {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The name, if it is one.
    pub fn name(&self) -> Option<&str> {
        match self {
            Value::Name(name) => Some(name),
            _ => None,
        }
    }

    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The values of a list, if it is one.
    pub fn list(&self) -> Option<&[Written<Value>]> {
        match self {
            Value::List(list) => Some(list),
            _ => None,
        }
    }
}

/// The legal values of one table; empty where the text does not have it.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// Its name, with those of the tables that it is in.
    path: String,
    /// Where it begins; 0 if it is not there.
    pub at: usize,
    values: BTreeMap<&'static str, Written<Value>>,
    /// Keys whose values have faults.
    faulty: Vec<&'static str>,
    /// Keys that have a fixed value if they are left out, and that value as TOML.
    defaults: Vec<(&'static str, String)>,
}

impl Section {
    /// A value, if the key is there and has a legal one.
    pub fn get(&self, key: &str) -> Option<&Written<Value>> {
        self.values.get(key)
    }

    /// Whether the key is there, with a legal value or without.
    pub fn has(&self, key: &str) -> bool {
        self.values.contains_key(key) || self.faulty.contains(&key)
    }

    /// Whether a value of the table has a fault.
    pub fn is_faulty(&self) -> bool {
        !self.faulty.is_empty()
    }

    /// Where the value of a key is, or else the table.
    pub fn place(&self, key: &str) -> usize {
        self.get(key).map_or(self.at, |written| written.offset)
    }

    /// A number.
    pub fn number(&self, key: &str) -> Option<Written<u64>> {
        self.get(key)?.filter_map(Value::number)
    }

    /// A fraction.
    pub fn fraction(&self, key: &str) -> Option<Written<Decimal>> {
        self.get(key)?.filter_map(|value| match value {
            Value::Fraction(fraction) => Some(*fraction),
            _ => None,
        })
    }

    /// What the name stands for in a list of all.
    pub fn choice<T: Copy>(&self, key: &str, all: &[(&str, T)]) -> Option<Written<T>> {
        self.get(key)?.filter_map(|value| {
            let name = value.name()?;
            let found = all.iter().find(|(known, _)| *known == name);
            found.map(|(_, choice)| *choice)
        })
    }

    /// `true` or `false`.
    pub fn switch(&self, key: &str) -> Option<Written<bool>> {
        self.get(key)?.filter_map(|value| match value {
            Value::Switch(switch) => Some(*switch),
            _ => None,
        })
    }

    /// A text.
    pub fn text(&self, key: &str) -> Option<Written<String>> {
        self.get(key)?
            .filter_map(|value| value.text().map(str::to_owned))
    }

    /// The values of a list.
    pub fn list(&self, key: &str) -> Option<Written<Vec<Written<Value>>>> {
        self.get(key)?
            .filter_map(|value| value.list().map(<[_]>::to_vec))
    }
}

/// The tables of a text, by path.
#[derive(Debug)]
pub struct Sections(BTreeMap<&'static str, Section>);

impl Sections {
    /// Those of a text that has none of the tables `known`.
    fn none_of(known: &[&Table]) -> Sections {
        let empty = |table: &&Table| {
            let literal = |key: &Key| Some((key.name, key.literal_default()?.to_owned()));
            let section = Section {
                path: table.path.into(),
                defaults: table.keys.iter().filter_map(literal).collect(),
                ..Section::default()
            };
            (table.path, section)
        };
        Sections(known.iter().map(empty).collect())
    }

    /// Puts what the text has of a table into its place.
    fn put(&mut self, path: &'static str, section: Section) {
        let defaults = self.table(path).defaults;
        self.0.insert(
            path,
            Section {
                defaults,
                ..section
            },
        );
    }

    /// A table; an empty one if the text does not have it.
    pub fn table(&mut self, path: &str) -> Section {
        let missing = || Section {
            path: path.into(),
            ..Section::default()
        };
        self.0.remove(path).unwrap_or_else(missing)
    }
}

/// Reads values and collects faults.
pub struct Reader<'a> {
    text: &'a str,
    name: &'a str,
    /// The table that all tables are in, with a point; empty at the top.
    within: &'static str,
    /// Tables and keys that were not read.
    unknown_names: usize,
    faults: Vec<(usize, String)>,
}

impl<'a> Reader<'a> {
    /// Of a text, which `name` stands for in messages.
    pub fn new(text: &'a str, name: &'a str) -> Self {
        Reader {
            text,
            name,
            within: "",
            unknown_names: 0,
            faults: Vec::new(),
        }
    }

    /// The tables of the text, which is to be of this kind; none where it is no TOML, or of
    /// another kind.
    pub fn document(&mut self, kind: Kind) -> DeTable<'a> {
        let (document, errors) = DeTable::parse_recoverable(self.text);
        let trace = recognise::trace(self.text.trim_start().as_bytes(), self.name);
        if let (Some(trace), false) = (trace, errors.is_empty()) {
            self.fault(0, trace);
            return DeTable::new();
        }
        self.syntax_errors(&errors);
        let document = document.into_inner();
        let names: Vec<&str> = document.keys().map(|key| key.get_ref().as_ref()).collect();
        if let Some(other) = kind.mistaken(&names, self.name) {
            let first = document.keys().map(|key| key.span().start).min();
            self.fault(first.unwrap_or(0), other);
        }
        match self.has_faults() {
            true => DeTable::new(),
            false => document,
        }
    }

    /// Notes what is no TOML: every name that is written twice, if nothing else is wrong, or else
    /// the first error and how many come after it, of which it may be the cause.
    fn syntax_errors(&mut self, errors: &[toml::de::Error]) {
        let is_duplicate = |error: &toml::de::Error| error.message().contains("duplicate");
        let fault = |error: &toml::de::Error| {
            let offset = error.span().map_or(self.text.len(), |span| span.start);
            let hint = match is_duplicate(error) {
                true => "; every key and table may appear once: remove one of the two",
                false => "",
            };
            let message = error.message().trim_end().replace('\n', "; ");
            (offset, format!("not valid TOML: {message}{hint}"))
        };
        let mut faults: Vec<(usize, String)> = errors.iter().map(fault).collect();
        faults.sort();
        // The parser can say the same of one place twice.
        faults.dedup();
        let rest = match errors.iter().all(is_duplicate) {
            true => Vec::new(),
            false => faults.split_off(1),
        };
        self.faults.extend(faults);
        if let Some((next, _)) = rest.first() {
            let more = match rest.len() {
                1 => "1 more syntax error".to_owned(),
                count => format!("{count} more syntax errors"),
            };
            let message = format!(
                "and {more} from here on, which the first may have caused; the file may not be TOML"
            );
            self.fault(*next, message);
        }
    }

    /// Reads the tables of `document` with the keys of `known`; `all` are those that exist at
    /// all, for the advice where something belongs.
    pub fn sections(&mut self, document: DeTable<'a>, known: &[&Table], all: &[Table]) -> Sections {
        let mut found = Sections::none_of(known);
        self.descend(document, "", known, all, &mut found);
        found
    }

    /// Calls `read` while all tables are taken to be in the table `within`, such as `power.`.
    pub fn within<T>(&mut self, within: &'static str, read: impl FnOnce(&mut Self) -> T) -> T {
        self.within = within;
        let read = read(self);
        self.within = "";
        read
    }

    fn descend(
        &mut self,
        document: DeTable<'a>,
        path: &str,
        known: &[&Table],
        all: &[Table],
        found: &mut Sections,
    ) {
        let mut own = DeTable::new();
        let keys = known.iter().find(|table| table.path == path);
        for (key, value) in document {
            let name = key.get_ref().to_string();
            let full = join(path, &name);
            let below = format!("{full}.");
            let table = known.iter().find(|table| table.path == full);
            if keys.is_some_and(|table| table.keys.iter().any(|key| key.name == name)) {
                own.insert(key, value);
            } else if let Some(table) = table {
                let at = value.span().start;
                if let Some(content) = self.table(&full, value) {
                    let section = self.section((&full, at), content, table, all);
                    found.put(table.path, section);
                }
            } else if known.iter().any(|table| table.path.starts_with(&below)) {
                if let Some(content) = self.table(&full, value) {
                    self.descend(content, &full, known, all, found);
                }
            } else {
                self.unknown_table(key.span().start, &full, known, all);
            }
        }
        if let Some(table) = keys {
            let section = self.section((path, 0), own, table, all);
            found.put(table.path, section);
        }
    }

    fn unknown_table(&mut self, at: usize, name: &str, known: &[&Table], all: &[Table]) {
        self.unknown_names += 1;
        let within = self.within;
        let mut paths: Vec<&str> = known.iter().map(|table| table.path).collect();
        paths.retain(|path| !path.is_empty());
        let advice = match (homes(name, all).first(), similar(name, &paths)) {
            (Some(home), _) => format!("this key belongs in the table {}", self.bracketed(home)),
            (None, Some(nearest)) => {
                format!("unknown table; the nearest known one is [{within}{nearest}]")
            }
            (None, None) => "unknown table".into(),
        };
        let top = known.iter().find(|table| table.path.is_empty());
        let top = top.map_or(Vec::new(), |table| {
            table
                .keys
                .iter()
                .map(|key| format!("`{}`", key.name))
                .collect()
        });
        let paths = paths.iter().map(|path| format!("[{within}{path}]"));
        let list: Vec<String> = top.into_iter().chain(paths).collect();
        self.fault(
            at,
            format!("{within}{name}: {advice} (known: {})", list.join(", ")),
        );
    }

    /// Reads the values of a table.
    fn section(
        &mut self,
        (path, at): (&str, usize),
        content: DeTable<'a>,
        table: &Table,
        all: &[Table],
    ) -> Section {
        let mut section = Section {
            path: format!("{}{path}", self.within),
            at,
            ..Section::default()
        };
        for (key, value) in content {
            let name = key.get_ref().to_string();
            let Some(known) = table.keys.iter().find(|known| known.name == name) else {
                self.unknown_key(key.span().start, path, &name, &value, table, all);
                section.faulty.push("");
                continue;
            };
            let what = format!("{}{}", self.within, join(path, known.name));
            let before = self.faults.len();
            let value = match &known.value {
                Type::Tables(keys) => self.tables(known.name, &what, value, keys, table, all),
                of => self.value(of, what, &value, " ="),
            };
            match value {
                Some(value) if self.faults.len() == before => {
                    section.values.insert(known.name, value);
                }
                _ => section.faulty.push(known.name),
            }
        }
        section
    }

    /// An array of tables.
    fn tables(
        &mut self,
        key: &'static str,
        what: &str,
        value: Spanned<DeValue<'a>>,
        keys: &[Key],
        table: &Table,
        all: &[Table],
    ) -> Option<Written<Value>> {
        let written = self.place(what, &value, " =");
        let wrong =
            format!("must be an array of tables, each written [[{what}]] on a line of its own");
        let elements = match value.into_inner() {
            DeValue::Array(elements) if !elements.is_empty() => elements,
            _ => {
                self.fault_of(&written, wrong);
                return None;
            }
        };
        let of_each = Table {
            path: table.path,
            kind: table.kind,
            about: table.about,
            keys: keys.to_vec(),
        };
        let path = join(table.path, key);
        let mut sections = Vec::new();
        for element in elements {
            let at = element.span().start;
            match element.into_inner() {
                DeValue::Table(content) => {
                    sections.push(self.section((&path, at), content, &of_each, all));
                }
                _ => self.fault(at, format!("{what}: {wrong}")),
            }
        }
        Some(written.map(|()| Value::Tables(sections)))
    }

    fn unknown_key(
        &mut self,
        at: usize,
        path: &str,
        name: &str,
        value: &Spanned<DeValue<'a>>,
        table: &Table,
        all: &[Table],
    ) {
        self.unknown_names += 1;
        let within = self.within;
        let names: Vec<&str> = table.keys.iter().map(|key| key.name).collect();
        let place = match table.kind {
            "" => format!("[{within}{path}]"),
            kind => format!("[{within}{path}] of kind \"{kind}\""),
        };
        let what = format!("{within}{}", join(path, name));
        let list = names.join(", ");
        if let Some(advice) = self.in_another_unit(name, value, table) {
            let value = self.slice(value);
            self.fault(at, format!("{what} = {value}: unknown key; {advice}"));
            return;
        }
        let homes: Vec<String> = homes(name, all)
            .iter()
            .map(|it| self.bracketed(it))
            .collect();
        let message = match (homes.is_empty(), similar(name, &names)) {
            (false, _) => format!(
                "{what}: {place} has no such key; it belongs in {} ({place} has: {list})",
                homes.join(" or ")
            ),
            (true, Some(nearest)) => format!(
                "{what}: unknown key; the nearest known one is `{nearest}` ({place} has: {list})"
            ),
            (true, None) => format!("{what}: unknown key ({place} has: {list})"),
        };
        self.fault(at, message);
    }

    /// The key of the same name with another unit at its end, as advice.
    fn in_another_unit(
        &self,
        name: &str,
        value: &Spanned<DeValue<'a>>,
        table: &Table,
    ) -> Option<String> {
        let (base, ending) = name.rsplit_once('_')?;
        let (key, (symbol, from, to)) = table.keys.iter().find_map(|key| {
            let known = key
                .name
                .rsplit_once('_')
                .map_or(key.name, |(known, _)| known);
            let unit = key.value.unit().by_ending(&ending.to_lowercase())?;
            (known == base || key.name == base).then_some((key.name, unit))
        })?;
        let number = match value.get_ref() {
            DeValue::Integer(_) | DeValue::Float(_) => decimal_of(value.get_ref()).ok(),
            _ => None,
        };
        let same = number.and_then(|number| {
            let same = number.converted(from, to).ok()?.plain();
            Some(format!("{} {symbol} is `{key} = {same}`", number.plain()))
        });
        Some(same.unwrap_or_else(|| format!("write `{key}`")))
    }

    /// `[path]` behind the table that all are in.
    fn bracketed(&self, home: &str) -> String {
        match home.strip_prefix("[[") {
            Some(rest) => format!("[[{}{rest}", self.within),
            None => home.replacen('[', &format!("[{}", self.within), 1),
        }
    }

    fn table(&mut self, path: &str, value: Spanned<DeValue<'a>>) -> Option<DeTable<'a>> {
        let span = value.span();
        let path = format!("{}{path}", self.within);
        match value.into_inner() {
            DeValue::Table(table) => Some(table),
            other => {
                let other = type_name(&other);
                self.unknown_names += 1;
                self.fault(
                    span.start,
                    format!(
                        "{path}: must be a table, written [{path}] on a line of its own, not \
                         {other}"
                    ),
                );
                None
            }
        }
    }

    /// Notes a fault at a byte offset.
    pub fn fault(&mut self, offset: usize, message: impl Into<String>) {
        self.faults.push((offset, message.into()));
    }

    /// Notes a fault of a name that is none of those that are known: something that is missing may be
    /// meant.
    pub fn unknown_name(&mut self, offset: usize, message: impl Into<String>) {
        self.unknown_names += 1;
        self.fault(offset, message);
    }

    /// Notes a fault of a value: `what` is wrong and what would be right.
    pub fn fault_of<T>(&mut self, written: &Written<T>, wrong: impl std::fmt::Display) {
        self.fault(written.offset, format!("{}: {wrong}", written.what));
    }

    /// Notes a fault of the value that a key of a table has, be it written or its default.
    pub fn fault_at(&mut self, section: &Section, key: &str, wrong: impl std::fmt::Display) {
        match section.get(key) {
            Some(written) => self.fault_of(written, wrong),
            None => {
                let what = join(&section.path, key);
                let default = section.defaults.iter().find(|(name, _)| *name == key);
                let default = default.map_or(String::new(), |(_, value)| format!(" {value}"));
                let message = format!("{what}, left to its default{default}: {wrong}");
                self.fault(section.at, message);
            }
        }
    }

    /// Notes that a key must be there. Where something has a name that is not known, that may be
    /// it: nothing is said.
    pub fn missing(&mut self, section: &Section, key: &str, what: impl std::fmt::Display) {
        if self.unknown_names > 0 {
            return;
        }
        let path = join(&section.path, key);
        self.fault(section.at, format!("{path} is missing: {what}"));
    }

    /// Whether there are faults so far.
    pub fn has_faults(&self) -> bool {
        !self.faults.is_empty()
    }

    /// How many there are so far.
    pub fn fault_count(&self) -> usize {
        self.faults.len()
    }

    /// What was read, or all faults in the order of the text.
    ///
    /// # Errors
    /// If there are faults.
    ///
    /// # Panics
    /// If nothing was read and there is no fault.
    pub fn finish<T>(self, read: Option<T>) -> Result<T, InputError> {
        if let (Some(read), false) = (read, self.has_faults()) {
            return Ok(read);
        }
        assert!(
            self.has_faults(),
            "{}: not read, without a fault",
            self.name
        );
        Err(self.faults())
    }

    /// All faults in the order of the text.
    pub fn faults(mut self) -> InputError {
        self.faults.sort();
        // The parser can say the same of one place twice.
        self.faults.dedup();
        let faults = self.faults.into_iter();
        InputError::Invalid {
            name: self.name.into(),
            diagnostics: faults
                .map(|(offset, message)| Diagnostic::at(self.text, offset, message))
                .collect(),
        }
    }

    /// A value as it is written; one that has no place in the text as TOML has it.
    fn slice(&self, value: &Spanned<DeValue<'a>>) -> String {
        let span = value.span();
        let text = match span.is_empty() {
            true => shown(value.get_ref()),
            false => self.text[span].replace('\n', " "),
        };
        match text.chars().count() > LONGEST_SHOWN {
            true => text
                .chars()
                .take(LONGEST_SHOWN)
                .chain("...".chars())
                .collect(),
            false => text,
        }
    }

    fn place(&self, what: &str, value: &Spanned<DeValue<'a>>, sign: &str) -> Written<()> {
        Written {
            value: (),
            offset: value.span().start,
            what: format!("{what}{sign} {}", self.slice(value)),
        }
    }

    /// Checks a value; `sign` stands between it and `what` it is of.
    fn value(
        &mut self,
        of: &Type,
        what: String,
        value: &Spanned<DeValue<'a>>,
        sign: &str,
    ) -> Option<Written<Value>> {
        let written = self.place(&what, value, sign);
        let alternatives = of.alternatives();
        if let DeValue::String(text) = value.get_ref() {
            return self.string(of, alternatives, written, text);
        }
        let fits = |of: &&Type| {
            matches!(
                (of, value.get_ref()),
                (Type::Integer { .. }, DeValue::Integer(_))
                    | (
                        Type::Number { .. } | Type::Fraction,
                        DeValue::Integer(_) | DeValue::Float(_)
                    )
                    | (Type::Switch, DeValue::Boolean(_))
                    | (Type::List(_) | Type::HopGroups, DeValue::Array(_))
            )
        };
        let Some(fitting) = alternatives.iter().find(fits) else {
            self.fault_of(&written, not(of, value.get_ref()));
            return None;
        };
        match (fitting, value.get_ref()) {
            (Type::Integer { low, high, .. }, DeValue::Integer(integer)) => {
                let number = i128::from_str_radix(integer.as_str(), integer.radix());
                // What i128 cannot hold is beyond one of the two ends.
                let number = number.unwrap_or(match integer.as_str().starts_with('-') {
                    true => i128::MIN,
                    false => i128::MAX,
                });
                self.whole(of, written, number, (*low, *high))
            }
            (Type::List(inner), DeValue::Array(values)) => {
                let values: Vec<Option<_>> = values
                    .iter()
                    .map(|value| self.value(inner, what.clone(), value, ","))
                    .collect();
                let values: Option<Vec<_>> = values.into_iter().collect();
                values.map(|values| written.map(|()| Value::List(values)))
            }
            (Type::HopGroups, DeValue::Array(groups)) => {
                self.hop_groups(&what, of, written, groups)
            }
            (Type::Switch, DeValue::Boolean(switch)) => {
                Some(written.map(|()| Value::Switch(*switch)))
            }
            (number, value) => match decimal_of(value) {
                Ok(decimal) => self.decimal(of, number, written, (decimal, true)),
                Err(error) => {
                    self.fault_of(&written, format!("must be {}, not {error}", of.legal()));
                    None
                }
            },
        }
    }

    /// Checks a string: a name, a text, or a number with its unit.
    fn string(
        &mut self,
        of: &Type,
        alternatives: &[Type],
        written: Written<()>,
        text: &str,
    ) -> Option<Written<Value>> {
        let mut is_choice = false;
        let mut nearest: Vec<&str> = Vec::new();
        for alternative in alternatives {
            match alternative {
                Type::Choice { names, .. } if names.contains(&text) => {
                    return Some(written.map(|()| Value::Name(text.into())));
                }
                Type::Choice { names, nearest: of } => {
                    is_choice = true;
                    nearest.extend(of(text, names));
                }
                Type::Text { check, .. } => {
                    if check(text) {
                        return Some(written.map(|()| Value::Text(text.into())));
                    }
                    self.fault_of(&written, format!("must be {}", of.legal()));
                    return None;
                }
                Type::Integer { unit, .. } | Type::Number { unit, .. } => {
                    if let Some(number) = with_unit(text, *unit) {
                        return self.of_unit(of, alternative, written, number);
                    }
                }
                Type::Fraction => {
                    if let Some(number) = with_unit(text, Unit::Fraction) {
                        return self.of_unit(of, alternative, written, number);
                    }
                }
                _ => {}
            }
        }
        let wrong = match (is_choice, &*nearest) {
            (false, _) => not(of, &DeValue::String(text.into())),
            (true, []) => format!("must be {}", of.legal()),
            (true, nearest) => {
                let nearest = nearest.join("\" and \"");
                format!("must be {}; the nearest is \"{nearest}\"", of.legal())
            }
        };
        self.fault_of(&written, wrong);
        None
    }

    /// Checks a number that was written with its unit.
    fn of_unit(
        &mut self,
        of: &Type,
        number: &Type,
        written: Written<()>,
        value: Result<Decimal, DecimalError>,
    ) -> Option<Written<Value>> {
        let value = match value {
            Ok(value) => value,
            Err(error) => {
                self.fault_of(&written, format!("must be {}, not {error}", of.legal()));
                return None;
            }
        };
        let Type::Integer { low, high, unit } = number else {
            return self.decimal(of, number, written, (value, false));
        };
        // Of its whole part only the side is asked for where it is out of range.
        let below = value < Decimal::ZERO;
        match (value.scaled_to_integer(1), value.scaled_floor(1)) {
            (Some(whole), _) => self.whole(of, written, whole.into(), (*low, *high)),
            (None, Some(floor)) if (*low..*high).contains(&floor) => {
                self.fault_of(
                    &written,
                    format!(
                        "must be {}, not {} {}; the nearest legal values are {floor} and {}",
                        of.legal(),
                        value.plain(),
                        unit.suffix(),
                        floor + 1
                    ),
                );
                None
            }
            _ if below => self.whole(of, written, i128::MIN, (*low, *high)),
            _ => self.whole(of, written, i128::MAX, (*low, *high)),
        }
    }

    fn whole(
        &mut self,
        of: &Type,
        written: Written<()>,
        number: i128,
        (low, high): (u64, u64),
    ) -> Option<Written<Value>> {
        match u64::try_from(number) {
            Ok(number) if (low..=high).contains(&number) => {
                Some(written.map(|()| Value::Number(number)))
            }
            _ => {
                let nearest = if number < i128::from(low) { low } else { high };
                let wrong = format!(
                    "must be {}; the nearest legal value is {nearest}",
                    of.legal()
                );
                self.fault_of(&written, wrong);
                None
            }
        }
    }

    /// Checks a number with decimals: `number` of the types that `of` names. A `bare` one has no unit
    /// behind it, and may be a percentage that was meant as a fraction.
    fn decimal(
        &mut self,
        of: &Type,
        number: &Type,
        written: Written<()>,
        (value, bare): (Decimal, bool),
    ) -> Option<Written<Value>> {
        let legal = of.legal();
        let (low, high, digits, unit) = match number {
            Type::Number {
                low,
                high,
                digits,
                unit,
            } => (*low, *high, *digits, *unit),
            _ => {
                if value > Decimal::ZERO && value < Decimal::ONE {
                    return Some(written.map(|()| Value::Fraction(value)));
                }
                // What 1 % is stands in what is legal.
                let hint = (bare && value != Decimal::ONE)
                    .then(|| percent(value, Decimal::scaled(1, 18), Decimal::ONE));
                let wrong = match hint.flatten() {
                    Some(hint) => format!("must be {legal}; {hint}"),
                    None => format!("must be {legal}"),
                };
                self.fault_of(&written, wrong);
                return None;
            }
        };
        let (least, most) = (Decimal::scaled(low, digits), Decimal::scaled(high, digits));
        if value < least || value > most {
            let nearest = if value < least { least } else { most };
            let percent = (bare && unit == Unit::Fraction).then(|| percent(value, least, most));
            let hint = percent
                .flatten()
                .map_or(String::new(), |hint| format!(" ({hint})"));
            self.fault_of(
                &written,
                format!(
                    "must be {legal}; the nearest legal value is {}{hint}",
                    nearest.plain()
                ),
            );
            return None;
        }
        let shift = 10u32.pow(digits);
        match (value.scaled_to_integer(shift), value.scaled_floor(shift)) {
            (Some(units), _) => Some(written.map(|()| Value::Number(units))),
            (None, floor) => {
                // In range, so that it is below `high`.
                let floor = floor.unwrap_or(low);
                let nearest = |units: u64| Decimal::scaled(units, digits).plain();
                self.fault_of(
                    &written,
                    format!(
                        "must be {legal}; the nearest legal values are {} and {}",
                        nearest(floor),
                        nearest(floor + 1)
                    ),
                );
                None
            }
        }
    }

    fn hop_groups(
        &mut self,
        what: &str,
        of: &Type,
        written: Written<()>,
        groups: &[Spanned<DeValue<'a>>],
    ) -> Option<Written<Value>> {
        if groups.is_empty() {
            let wrong = format!("must name at least one hop count: {}", of.legal());
            self.fault_of(&written, wrong);
            return None;
        }
        let groups: Vec<Option<_>> = groups
            .iter()
            .map(|group| self.hop_group(what, group))
            .collect();
        let groups: Option<Vec<_>> = groups.into_iter().collect();
        groups.map(|groups| written.map(|()| Value::HopGroups(groups)))
    }

    fn hop_group(
        &mut self,
        what: &str,
        group: &Spanned<DeValue<'a>>,
    ) -> Option<Written<(u32, Decimal)>> {
        let written = self.place(what, group, ",");
        let (count, proportion) = match group.get_ref() {
            DeValue::Array(pair) if pair.len() == 2 => (&pair[0], &pair[1]),
            _ => {
                self.fault_of(
                    &written,
                    "must be a pair [hop_count, proportion] such as [4, 0.7]",
                );
                return None;
            }
        };
        let hops = Type::Integer {
            low: HOP_COUNTS.0,
            high: HOP_COUNTS.1,
            unit: Unit::None,
        };
        let hops = self.value(&hops, format!("{what}, hop count"), count, "");
        let legal = "a proportion above 0 and at most 1";
        let place = self.place(&format!("{what}, proportion"), proportion, "");
        let share = match decimal_of(proportion.get_ref()) {
            Ok(share) if share > Decimal::ZERO && share <= Decimal::ONE => share,
            Ok(share) => {
                let hint = percent(share, Decimal::scaled(1, 18), Decimal::ONE);
                let hint = hint.map_or(String::new(), |hint| format!("; {hint}"));
                self.fault_of(&place, format!("must be {legal}{hint}"));
                return None;
            }
            Err(error) => {
                self.fault_of(&place, format!("must be {legal}, not {error}"));
                return None;
            }
        };
        let hops = hops?.value.number()?;
        Some(written.map(|()| (hops as u32, share)))
    }
}

/// A percentage that was written where a fraction is meant: what the fraction is.
fn percent(value: Decimal, least: Decimal, most: Decimal) -> Option<String> {
    let fraction = value.converted(1, 100).ok()?;
    let meant = value >= Decimal::ONE && fraction >= least && fraction <= most;
    (meant && fraction < Decimal::ONE)
        .then(|| format!("{} % is {}", value.plain(), fraction.plain()))
}

/// A number that is followed by one of the units of `unit`, in that unit.
fn with_unit(text: &str, unit: Unit) -> Option<Result<Decimal, DecimalError>> {
    // What is before "s" in "4.5 us" is no number.
    let is_number = |text: &str| {
        let digits = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
        text.starts_with(|c: char| digits(c) && !"eE".contains(c)) && text.chars().all(digits)
    };
    let splits = unit.splits(text);
    let mut splits = splits.filter(|(number, ..)| is_number(number));
    let (number, from, to) = splits.next()?;
    let number = number.parse::<Decimal>();
    Some(number.and_then(|number| number.converted(from, to)))
}

/// A number exactly as it is written.
fn decimal_of(value: &DeValue) -> Result<Decimal, String> {
    let number = match value {
        DeValue::Float(float) => float.as_str().parse(),
        DeValue::Integer(integer) => i128::from_str_radix(integer.as_str(), integer.radix())
            .map_err(|_| DecimalError::TooLarge)
            .and_then(|number| number.to_string().parse()),
        other => return Err(type_name(other).into()),
    };
    number.map_err(|error| error.to_string())
}

/// What is legal, and that this has another type.
fn not(of: &Type, value: &DeValue) -> String {
    let unit = of.unit();
    let legal = of.legal();
    match (value, unit.example()) {
        (DeValue::String(_), Some(example)) => format!(
            "must be {legal}, as a number, or in quotes with a unit such as \"{example}\" ({}); this is \
             neither",
            unit.symbols().join(", ")
        ),
        _ => format!("must be {legal}, not {}", type_name(value)),
    }
}

/// Where a key stands, in brackets.
fn homes(name: &str, all: &[Table]) -> Vec<String> {
    let mut homes: Vec<(String, Vec<&str>)> = Vec::new();
    let mut add =
        |home: String, kind: &'static str| match homes.iter_mut().find(|(known, _)| *known == home)
        {
            Some((_, kinds)) => kinds.push(kind),
            None => homes.push((home, vec![kind])),
        };
    for table in all.iter().filter(|table| !table.path.is_empty()) {
        for key in table.keys.iter().filter(|_| name != "kind") {
            if key.name == name {
                add(format!("[{}]", table.path), table.kind);
            }
            if let Type::Tables(keys) = &key.value {
                if keys.iter().any(|key| key.name == name) {
                    add(format!("[[{}.{}]]", table.path, key.name), "");
                }
            }
        }
    }
    let home = |(home, kinds): (String, Vec<&str>)| match kinds[0] {
        "" => home,
        _ => format!("{home} of kind {}", quoted(&kinds)),
    };
    homes.into_iter().map(home).collect()
}

/// The path of what stands in a table.
fn join(path: &str, name: &str) -> String {
    match path {
        "" => name.into(),
        path => format!("{path}.{name}"),
    }
}

/// A value for a message.
fn shown(value: &DeValue) -> String {
    match value {
        DeValue::String(text) => format!("{text:?}"),
        DeValue::Integer(number) => number.as_str().to_owned(),
        DeValue::Float(number) => number.as_str().to_owned(),
        DeValue::Boolean(value) => value.to_string(),
        other => type_name(other).into(),
    }
}

fn type_name(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a point or an exponent",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
