//! Units of values, and the ones that a text may write instead.

/// The unit in which a key counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A bare number.
    None,
    /// So many of what this names; no other unit is possible.
    Count(&'static str),
    /// 0.01 is 1 %.
    Fraction,
    /// ps.
    Picoseconds,
    /// ns.
    Nanoseconds,
    /// W.
    Watts,
    /// Gb/s.
    GigabitsPerSecond,
    /// Bytes.
    Bytes,
}

/// A spelling of a unit, how keys end that count in it, and its size in the smallest unit of its
/// quantity.
type Spelling = (&'static str, &'static [&'static str], u64);

const TIMES: [Spelling; 6] = [
    ("ps", &["ps"], 1),
    ("ns", &["ns"], 1_000),
    ("us", &["us"], 1_000_000),
    ("µs", &[], 1_000_000),
    ("ms", &["ms"], 1_000_000_000),
    ("s", &["s", "sec"], 1_000_000_000_000),
];
const POWERS: [Spelling; 5] = [
    ("uW", &["uw"], 1),
    ("mW", &["mw"], 1_000),
    ("W", &["w"], 1_000_000),
    ("kW", &["kw"], 1_000_000_000),
    ("MW", &[], 1_000_000_000_000),
];
const RATES: [Spelling; 3] = [
    ("Mb/s", &["mbps"], 1),
    ("Gb/s", &["gbps"], 1_000),
    ("Tb/s", &["tbps"], 1_000_000),
];
const SIZES: [Spelling; 8] = [
    ("B", &["b"], 1),
    ("bytes", &["bytes"], 1),
    ("kB", &["kb"], 1_000),
    ("KiB", &["kib"], 1 << 10),
    ("MB", &["mb"], 1_000_000),
    ("MiB", &["mib"], 1 << 20),
    ("GB", &["gb"], 1_000_000_000),
    ("GiB", &["gib"], 1 << 30),
];
const FRACTIONS: [Spelling; 1] = [("%", &["percent", "pct"], 1)];

impl Unit {
    /// The quantity that is measured.
    pub fn quantity(self) -> &'static str {
        match self {
            Unit::Picoseconds | Unit::Nanoseconds => "time",
            Unit::Watts => "power",
            Unit::GigabitsPerSecond => "rate",
            Unit::Bytes => "size",
            Unit::None | Unit::Count(_) | Unit::Fraction => "number",
        }
    }

    /// What follows a number in this unit: a blank and the unit, or nothing.
    pub fn suffix(self) -> &'static str {
        match self {
            Unit::None | Unit::Fraction => "",
            Unit::Count(what) => what,
            Unit::Picoseconds => "ps",
            Unit::Nanoseconds => "ns",
            Unit::Watts => "W",
            Unit::GigabitsPerSecond => "Gb/s",
            Unit::Bytes => "bytes",
        }
    }

    /// What `digits` decimals of this unit count, if that has a name.
    pub(super) fn finest(self, digits: u32) -> Option<&'static str> {
        match (self, digits) {
            (Unit::Nanoseconds, 3) => Some("picoseconds"),
            (Unit::Watts, 6) => Some("microwatts"),
            (Unit::Watts, 9) => Some("nanowatts"),
            _ => None,
        }
    }

    fn spellings(self) -> &'static [Spelling] {
        match self {
            Unit::None | Unit::Count(_) => &[],
            Unit::Fraction => &FRACTIONS,
            Unit::Picoseconds | Unit::Nanoseconds => &TIMES,
            Unit::Watts => &POWERS,
            Unit::GigabitsPerSecond => &RATES,
            Unit::Bytes => &SIZES,
        }
    }

    /// Its own size in the smallest unit of its quantity.
    fn size(self) -> u64 {
        match self {
            Unit::Fraction => 100,
            Unit::None | Unit::Count(_) | Unit::Picoseconds | Unit::Bytes => 1,
            Unit::Nanoseconds | Unit::GigabitsPerSecond => 1_000,
            Unit::Watts => 1_000_000,
        }
    }

    /// The units that a value may be written with, in quotes.
    pub fn symbols(self) -> Vec<&'static str> {
        self.spellings()
            .iter()
            .map(|(symbol, ..)| *symbol)
            .collect()
    }

    /// Every way to split a quoted value into a number and a unit: the number, and by what it is
    /// to be multiplied and divided.
    pub(super) fn splits(self, text: &str) -> impl Iterator<Item = (&str, u64, u64)> {
        let split = move |(symbol, _, size): &Spelling| {
            let number = text.trim().strip_suffix(symbol)?.trim_end();
            Some((number, *size, self.size()))
        };
        self.spellings().iter().filter_map(split)
    }

    /// The unit by which the name of a key ends, if it is one of this quantity: its symbol, and by
    /// what a value is to be multiplied and divided to be in this unit.
    pub(super) fn by_ending(self, ending: &str) -> Option<(&'static str, u64, u64)> {
        let (symbol, _, size) = self
            .spellings()
            .iter()
            .find(|(_, endings, _)| endings.contains(&ending))?;
        Some((symbol, *size, self.size()))
    }

    /// An example of a value with a unit.
    pub(super) fn example(self) -> Option<&'static str> {
        match self {
            Unit::None | Unit::Count(_) => None,
            Unit::Fraction => Some("2 %"),
            Unit::Picoseconds | Unit::Nanoseconds => Some("4.5 us"),
            Unit::Watts => Some("500 mW"),
            Unit::GigabitsPerSecond => Some("400 Gb/s"),
            Unit::Bytes => Some("48 KiB"),
        }
    }
}
