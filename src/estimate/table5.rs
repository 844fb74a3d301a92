//! PerfBound Table 5: the longest time that a register holds, by width and resolution.

use std::collections::BTreeMap;

use num_bigint::BigUint;
use serde::ser::{Serialize, SerializeMap, Serializer};

/// Resolutions of PerfBound Table 5 in nanoseconds.
pub const TABLE5_RESOLUTIONS_NS: [u64; 4] = [1, 10, 100, 1000];
/// Register widths of PerfBound Table 5 in bits.
pub const TABLE5_WIDTHS: [u32; 5] = [16, 32, 48, 64, 128];

/// How the paper prints a cell: in units of 10^exponent seconds, rounded to some decimals,
/// followed by the unit. Row by row as in [`TABLE5_WIDTHS`].
const PRINTED: [[(i32, u32, &str); 4]; 5] = [
    [
        (-6, 2, " μs"),
        (-6, 2, " μs"),
        (-3, 3, " ms"),
        (-3, 0, " ms"),
    ],
    [(0, 3, " s"), (0, 0, " s"), (0, 0, " s"), (3, 0, "×10^3 s")],
    [
        (5, 2, "×10^5 s"),
        (6, 0, "×10^6 s"),
        (6, 0, "×10^6 s"),
        (8, 2, "×10^8 s"),
    ],
    [
        (10, 1, "×10^10 s"),
        (11, 2, "×10^11 s"),
        (12, 0, "×10^12 s"),
        (13, 1, "×10^13 s"),
    ],
    [
        (29, 1, "×10^29 s"),
        (30, 0, "×10^30 s"),
        (31, 1, "×10^31 s"),
        (32, 1, "×10^32 s"),
    ],
];

/// `2^width` times the resolution, the number that PerfBound 3.3 computes.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LongestTime {
    /// Width of a time in bits.
    pub width_bits: u32,
    /// The resolution in nanoseconds as exact decimal text.
    pub resolution_ns: String,
    /// The nearest binary fraction of the time in seconds.
    pub seconds: f64,
    /// The same as exact decimal text.
    pub exact_seconds: String,
    /// As PerfBound Table 5 prints it; `None` if the table has no such cell.
    pub printed: Option<String>,
}

/// The longest time of a register of `width` bits that counts ticks of `tick_ps` ps.
pub fn longest_time(width: u32, tick_ps: u64) -> LongestTime {
    let picoseconds = (BigUint::from(1u32) << width) * tick_ps;
    let row = TABLE5_WIDTHS.iter().position(|other| *other == width);
    let column = TABLE5_RESOLUTIONS_NS
        .iter()
        .position(|ns| ns * 1000 == tick_ps);
    let printed = row.zip(column).map(|(row, column)| {
        let (exponent, decimals, unit) = PRINTED[row][column];
        format!("{}{unit}", rounded(&picoseconds, exponent, decimals))
    });
    let exact_seconds = decimal(&picoseconds, 12);
    LongestTime {
        width_bits: width,
        resolution_ns: crate::config::ns(tick_ps),
        // Through the text, which the standard library rounds once.
        seconds: exact_seconds.parse().unwrap_or(f64::INFINITY),
        exact_seconds,
        printed,
    }
}

/// Picoseconds in units of 10^exponent seconds, rounded half up.
fn rounded(picoseconds: &BigUint, exponent: i32, decimals: u32) -> String {
    let digits = exponent + 12 - decimals as i32;
    let digits = u32::try_from(digits).expect("no cell is finer than a picosecond");
    let divisor = BigUint::from(10u32).pow(digits);
    let units = (picoseconds + &divisor / 2u32) / divisor;
    let text = format!("{units:0>width$}", width = decimals as usize + 1);
    match decimals {
        0 => text,
        _ => {
            let (whole, fraction) = text.split_at(text.len() - decimals as usize);
            format!("{whole}.{fraction}")
        }
    }
}

/// `value / 10^digits` as the shortest exact decimal text.
fn decimal(value: &BigUint, digits: usize) -> String {
    let text = format!("{value:0>width$}", width = digits + 1);
    let (whole, fraction) = text.split_at(text.len() - digits);
    match fraction.trim_end_matches('0') {
        "" => whole.to_string(),
        fraction => format!("{whole}.{fraction}"),
    }
}

/// The cells of PerfBound Table 5 by width; as JSON an object of rows with the resolutions
/// beside them.
#[derive(Clone, Debug, PartialEq)]
pub struct Table5<T> {
    /// A row for each of [`TABLE5_WIDTHS`], a cell for each of [`TABLE5_RESOLUTIONS_NS`].
    pub rows: BTreeMap<u32, Vec<T>>,
}

impl<T> Table5<T> {
    /// The table with one figure of each cell.
    pub fn new(figure: impl Fn(LongestTime) -> T) -> Table5<T> {
        let row = |width| {
            TABLE5_RESOLUTIONS_NS
                .iter()
                .map(|ns| figure(longest_time(width, ns * 1000)))
                .collect()
        };
        Table5 {
            rows: TABLE5_WIDTHS.map(|width| (width, row(width))).into(),
        }
    }
}

impl<T: Serialize> Serialize for Table5<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.rows.len() + 1))?;
        map.serialize_entry("resolution_ns", &TABLE5_RESOLUTIONS_NS)?;
        for (width, row) in &self.rows {
            map.serialize_entry(&width.to_string(), row)?;
        }
        map.end()
    }
}
