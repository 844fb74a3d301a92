//! What an input file may hold, as data.

use super::decimal::Decimal;
use super::similar::similar;
use super::unit::Unit;

/// Which of some names somebody who wrote another one probably meant.
pub type Nearest = fn(&str, &[&'static str]) -> Vec<&'static str>;

/// A table of an input file and its keys.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name, with those of the tables that it is in: `states.fast-wake`; empty for the keys
    /// that stand before all tables.
    pub path: &'static str,
    /// The value of its key `kind` that it has these keys with; empty if it has no kinds.
    pub kind: &'static str,
    /// What it describes, in a sentence.
    pub about: &'static str,
    /// Its keys.
    pub keys: Vec<Key>,
}

/// A key of a table.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What its value may be.
    pub value: Type,
    /// The value if the key is left out: as TOML in backticks, or in words;
    /// [`REQUIRED`](Key::is_required) if it may not be.
    pub default: String,
    /// What it means, in a sentence.
    pub about: &'static str,
}

/// The default of a key that may not be left out.
pub(crate) const REQUIRED: &str = "none: must be given";

/// What a value may be.
#[derive(Clone, Debug)]
pub enum Type {
    /// A whole number.
    Integer {
        /// The least.
        low: u64,
        /// The largest.
        high: u64,
        /// What it counts.
        unit: Unit,
    },
    /// A number with some decimals. Its value is a whole number of 10^-`digits`.
    Number {
        /// The least, in units of 10^-`digits`.
        low: u64,
        /// The largest, likewise.
        high: u64,
        /// Decimals, at most 18.
        digits: u32,
        /// What it counts.
        unit: Unit,
    },
    /// A number above 0 and below 1, with up to 18 decimals.
    Fraction,
    /// One of some names.
    Choice {
        /// The names.
        names: Vec<&'static str>,
        /// Those that somebody who wrote another one probably meant.
        nearest: Nearest,
    },
    /// `true` or `false`.
    Switch,
    /// A text.
    Text {
        /// What is legal, in words.
        legal: &'static str,
        /// The same as a regular expression of JSON Schema.
        pattern: &'static str,
        /// The same as a function.
        check: fn(&str) -> bool,
    },
    /// A list of values.
    List(Box<Type>),
    /// A list of `[hop_count, proportion]`.
    HopGroups,
    /// An array of tables with these keys.
    Tables(Vec<Key>),
    /// One of several types.
    Or(Vec<Type>),
}

impl Key {
    /// Whether the key may not be left out.
    pub fn is_required(&self) -> bool {
        self.default == REQUIRED
    }

    /// The default as TOML, if it is a fixed value.
    pub fn literal_default(&self) -> Option<&str> {
        self.default.strip_prefix('`')?.strip_suffix('`')
    }
}

/// A key; a default in backticks is TOML, others are words.
pub(crate) fn key(
    name: &'static str,
    value: Type,
    default: impl Into<String>,
    about: &'static str,
) -> Key {
    Key {
        name,
        value,
        default: default.into(),
        about,
    }
}

/// A whole number.
pub(crate) const fn integer(low: u64, high: u64, unit: Unit) -> Type {
    Type::Integer { low, high, unit }
}

/// A number from `low` to `high`, both in units of 10^-`digits`.
pub(crate) const fn number(low: u64, high: u64, digits: u32, unit: Unit) -> Type {
    Type::Number {
        low,
        high,
        digits,
        unit,
    }
}

/// One of some names.
pub(crate) fn choice<const N: usize>(names: [&'static str; N]) -> Type {
    Type::Choice {
        names: names.to_vec(),
        nearest: |name, names| similar(name, names).into_iter().collect(),
    }
}

/// A list.
pub(crate) fn list(of: Type) -> Type {
    Type::List(Box::new(of))
}

/// One of two types.
pub(crate) fn or(one: Type, other: Type) -> Type {
    Type::Or(vec![one, other])
}

/// What hop counts may be: what the controller's 6-bit pin can carry.
pub(crate) const HOP_COUNTS: (u64, u64) = (1, 63);

impl Type {
    /// What is legal, as the end of "must be ...".
    pub fn legal(&self) -> String {
        match self {
            Type::Integer { .. } => format!("a whole number {}", self.range()),
            Type::Number { unit, .. } => format!("a {} {}", unit.quantity(), self.range()),
            Type::Fraction => "a fraction above 0 and below 1 (0.01 is 1 %)".into(),
            Type::Choice { names, .. } => match &**names {
                [only] => format!("\"{only}\""),
                several => format!("one of {}", quoted(several)),
            },
            Type::Switch => "true or false".into(),
            Type::Text { legal, .. } => (*legal).into(),
            Type::List(of) => format!("a list of {}", of.several()),
            Type::HopGroups => {
                "a list of [hop_count, proportion] such as [[4, 0.7], [6, 0.3]]".into()
            }
            Type::Tables(_) => "an array of tables, each in double brackets".into(),
            Type::Or(types) => {
                let all: Vec<String> = types.iter().map(Type::legal).collect();
                all.join(" or ")
            }
        }
    }

    /// The same of the values of a list.
    fn several(&self) -> String {
        match self {
            Type::Integer { .. } => format!("whole numbers {}", self.range()),
            Type::Number { unit, .. } => format!("{}s {}", unit.quantity(), self.range()),
            Type::Fraction => "fractions above 0 and below 1 (0.01 is 1 %)".into(),
            Type::Choice { names, .. } => format!("names out of {}", quoted(names)),
            other => other.legal(),
        }
    }

    /// The range of a number, and how fine it may be.
    fn range(&self) -> String {
        let (low, high, digits, unit) = match self {
            Type::Integer { low, high, unit } => (*low, *high, 0, *unit),
            Type::Number {
                low,
                high,
                digits,
                unit,
            } => (*low, *high, *digits, *unit),
            _ => return String::new(),
        };
        let fineness = match (digits, unit.finest(digits)) {
            (0, _) => String::new(),
            (_, Some(finest)) => format!(" in whole {finest}"),
            (_, None) => format!(" with at most {digits} decimals"),
        };
        let plain = |number| Decimal::scaled(number, digits).plain();
        let unit = match unit.suffix() {
            "" => String::new(),
            suffix => format!(" {suffix}"),
        };
        format!("from {} to {}{unit}{fineness}", plain(low), plain(high))
    }

    /// The types that it can be one of.
    pub(super) fn alternatives(&self) -> &[Type] {
        match self {
            Type::Or(types) => types,
            one => std::slice::from_ref(one),
        }
    }

    /// The unit that its values may be written with.
    pub(super) fn unit(&self) -> Unit {
        match self {
            Type::Integer { unit, .. } | Type::Number { unit, .. } => *unit,
            Type::Fraction => Unit::Fraction,
            Type::List(of) => of.unit(),
            Type::Or(types) => types
                .iter()
                .map(Type::unit)
                .find(|unit| *unit != Unit::None)
                .unwrap_or(Unit::None),
            _ => Unit::None,
        }
    }
}

pub(super) fn quoted(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    names.join(", ")
}
