//! Whole numbers on the command line: `20000000`, `20_000_000`, `20M` and `2e7` are the same.

use std::num::NonZeroUsize;
use std::ops::RangeInclusive;

use crate::config::Decimal;

/// Letters behind a number, and what they stand for.
const FACTORS: [(char, u32); 4] = [
    ('k', 1_000),
    ('K', 1_000),
    ('M', 1_000_000),
    ('G', 1_000_000_000),
];

/// Numbers as they may be written.
const EXAMPLES: [&str; 4] = ["1000", "20M", "1e6", "1_000_000"];

/// Reads a whole number from 0 to 2^64 - 1; nothing is rounded.
pub(super) fn whole(text: &str) -> Option<u64> {
    let (digits, factor) = FACTORS
        .iter()
        .find_map(|&(letter, factor)| Some((text.strip_suffix(letter)?, factor)))
        .unwrap_or((text, 1));
    let lone = |part: &str| part.is_empty() || !part.bytes().all(|b| b.is_ascii_digit());
    // As in Rust and TOML: between two digits.
    if digits.contains('_') && digits.split('_').any(lone) {
        return None;
    }
    let number: Decimal = digits.replace('_', "").parse().ok()?;
    number.scaled_to_integer(factor)
}

/// Reads a number of `range` for an option.
pub(super) fn within(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<u64, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = whole(text).filter(|number| range.contains(number));
        number.ok_or_else(|| legal(&range))
    }
}

/// The same for what is counted in 32 bits.
pub(super) fn within_u32(
    range: RangeInclusive<u32>,
) -> impl Fn(&str) -> Result<u32, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = whole(text).and_then(|number| u32::try_from(number).ok());
        let number = number.filter(|number| range.contains(number));
        number.ok_or_else(|| legal(&((*range.start()).into()..=(*range.end()).into())))
    }
}

/// The same for what is counted or numbered in memory, from `first` on.
pub(super) fn from_usize(
    first: usize,
) -> impl Fn(&str) -> Result<usize, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = whole(text).and_then(|number| usize::try_from(number).ok());
        let number = number.filter(|&number| number >= first);
        number.ok_or_else(|| format!("must be a whole number from {first} on"))
    }
}

/// Reads a number with decimals for an option; `legal` is what it may be. Whether it lies in that
/// range is for the command to say.
pub(super) fn decimal(
    legal: &'static str,
) -> impl Fn(&str) -> Result<Decimal, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse::<Decimal>();
        number.map_err(|error| format!("must be {legal}, not {error}"))
    }
}

/// Reads a number of threads, of which there can be `most`.
pub(super) fn threads(
    most: usize,
) -> impl Fn(&str) -> Result<NonZeroUsize, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = whole(text).and_then(|number| usize::try_from(number).ok());
        let number = number.filter(|&number| number <= most);
        number
            .and_then(NonZeroUsize::new)
            .ok_or_else(|| format!("must be a whole number from 1 to {most}"))
    }
}

fn legal(range: &RangeInclusive<u64>) -> String {
    let last = match *range.end() {
        u64::MAX => "on".to_owned(),
        last => format!("to {last}"),
    };
    let legal = format!("must be a whole number from {} {last}", range.start());
    let examples: Vec<&str> = EXAMPLES
        .into_iter()
        .filter(|example| whole(example).is_some_and(|number| range.contains(&number)))
        .collect();
    match examples.split_last() {
        Some((last, [])) => format!("{legal}, such as {last}"),
        Some((last, others)) => format!("{legal}, such as {} or {last}", others.join(", ")),
        None => legal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn millions_may_be_written_as_people_write_them() {
        for (text, number) in [
            ("0", 0),
            ("20M", 20_000_000),
            ("1e6", 1_000_000),
            ("1E6", 1_000_000),
            ("1_000_000", 1_000_000),
            ("2.5M", 2_500_000),
            ("1.5e3", 1500),
            ("3k", 3000),
            ("3K", 3000),
            ("4G", 4_000_000_000),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(whole(text), Some(number), "{text}");
        }
    }

    #[test]
    fn what_is_no_whole_number_is_refused() {
        for text in [
            "",
            "M",
            "-1",
            "1.5",
            "0.0001k",
            "1e-3",
            "_1",
            "1_",
            "1__0",
            "1_000.5",
            "20 M",
            "20m",
            "0x10",
            "nan",
            "18446744073709551616",
            "99999999999G",
            "1e400",
        ] {
            assert_eq!(whole(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_with_decimals_are_told_what_they_may_be() {
        let share = decimal("a share from 0 to 1");
        assert_eq!(share("0.5"), "0.5".parse().map_err(|_| String::new()));
        for (text, wrong) in [
            ("nan", "inf or nan"),
            ("1e20", "a magnitude of 10^20 or more"),
            ("half", "text that is no number"),
        ] {
            let expected = format!("must be a share from 0 to 1, not {wrong}");
            assert_eq!(share(text), Err(expected));
        }
    }

    #[test]
    fn messages_name_the_legal_numbers() {
        assert_eq!(within(1..=64)("8"), Ok(8));
        let error = within(1..=64)("65").unwrap_err();
        assert_eq!(error, "must be a whole number from 1 to 64");
        let error = within_u32(0..=1000)("-1").unwrap_err();
        assert!(error.ends_with("from 0 to 1000, such as 1000"), "{error}");
        let error = within(1..=1_000_000)("0").unwrap_err();
        let examples = "from 1 to 1000000, such as 1000, 1e6 or 1_000_000";
        assert!(error.ends_with(examples), "{error}");
        let error = within(1..=u64::MAX)("0").unwrap_err();
        let examples = "from 1 on, such as 1000, 20M, 1e6 or 1_000_000";
        assert!(error.ends_with(examples), "{error}");
        assert_eq!(from_usize(1)("2"), Ok(2));
        assert!(from_usize(1)("0").unwrap_err().ends_with("from 1 on"));
        assert!(threads(64)("0").unwrap_err().ends_with("from 1 to 64"));
        assert!(threads(64)("65").unwrap_err().ends_with("from 1 to 64"));
        assert_eq!(threads(64)("2").unwrap().get(), 2);
    }
}
