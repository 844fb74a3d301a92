//! Decimal numbers exactly as a configuration writes them.

use std::fmt;
use std::str::FromStr;

use num_bigint::BigInt;
use num_rational::BigRational;

/// A decimal number with at most 18 digits after the point, held exactly.
///
/// `0.01` is one hundredth, not the nearest binary fraction: the packet budget of
/// SPEC 7 is a floor, and a floor of a rounded product can be one too low.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decimal(
    /// The value in units of 10^-18.
    i128,
);

/// Why a number cannot be held exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecimalError {
    /// Infinite, or not a number at all.
    #[error("inf or nan")]
    NotFinite,
    /// Something else than digits, a point and an exponent.
    #[error("text that is no number")]
    NoNumber,
    /// A nonzero digit beyond the 18th after the point, or an exponent outside 64 bits.
    #[error("more than 18 digits after the point")]
    TooFine,
    /// More than 20 digits before the point.
    #[error("a magnitude of 10^20 or more")]
    TooLarge,
}

const DIGITS: u32 = 18;
const ONE: i128 = 10i128.pow(DIGITS);

impl Decimal {
    /// Exactly 0.
    pub const ZERO: Decimal = Decimal(0);
    /// Exactly 1.
    pub const ONE: Decimal = Decimal(ONE);

    /// `units / 10^digits`, of up to 18 digits.
    pub(crate) const fn scaled(units: u64, digits: u32) -> Decimal {
        assert!(digits <= DIGITS);
        // Below 2^64 * 10^18, which is below 2^127.
        Decimal(units as i128 * 10i128.pow(DIGITS - digits))
    }

    /// `numerator / 10^digits`.
    pub(crate) const fn new(numerator: i64, digits: u32) -> Decimal {
        assert!(digits <= DIGITS);
        Decimal(numerator as i128 * 10i128.pow(DIGITS - digits))
    }

    /// This number times `factor`, when that is an integer from 0 to `u64::MAX`.
    pub fn scaled_to_integer(self, factor: u32) -> Option<u64> {
        let scaled = self.0.checked_mul(factor.into())?;
        (scaled % ONE == 0).then(|| u64::try_from(scaled / ONE).ok())?
    }

    /// The integer just below or at this number times `factor`, for numbers that are
    /// not negative.
    pub fn scaled_floor(self, factor: u32) -> Option<u64> {
        u64::try_from(self.0.checked_mul(factor.into())?.div_euclid(ONE)).ok()
    }

    /// The exact value.
    pub fn to_ratio(self) -> BigRational {
        BigRational::new(BigInt::from(self.0), BigInt::from(ONE))
    }

    /// The nearest binary fraction.
    pub fn to_f64(self) -> f64 {
        // Through the text, which the standard library rounds correctly once.
        self.to_string().parse().unwrap_or(f64::NAN)
    }

    /// This number in units that are `from / to` times as small.
    pub(crate) fn converted(self, from: u64, to: u64) -> Result<Decimal, DecimalError> {
        let product = self
            .0
            .checked_mul(from.into())
            .ok_or(DecimalError::TooLarge)?;
        match product % i128::from(to) {
            0 => Ok(Decimal(product / i128::from(to))),
            _ => Err(DecimalError::TooFine),
        }
    }

    /// The shortest decimal text, without a point where the number is whole.
    pub(crate) fn plain(self) -> String {
        let text = self.to_string();
        text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
    }

    pub(crate) fn checked_add(self, other: Decimal) -> Option<Decimal> {
        self.0.checked_add(other.0).map(Decimal)
    }

    pub(crate) fn checked_sub(self, other: Decimal) -> Option<Decimal> {
        self.0.checked_sub(other.0).map(Decimal)
    }
}

impl From<u64> for Decimal {
    fn from(value: u64) -> Self {
        Decimal(i128::from(value) * ONE)
    }
}

impl FromStr for Decimal {
    type Err = DecimalError;

    /// Reads a TOML number: sign, digits, point, exponent; no underscores.
    fn from_str(text: &str) -> Result<Self, DecimalError> {
        let (negative, unsigned) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => {
                let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
                if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
                    return Err(DecimalError::NoNumber);
                }
                let exponent = exponent.parse::<i64>().map_err(|_| DecimalError::TooFine)?;
                (mantissa, exponent)
            }
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.is_empty() && fraction.is_empty()
            || !whole
                .bytes()
                .chain(fraction.bytes())
                .all(|b| b.is_ascii_digit())
        {
            return Err(match unsigned {
                "inf" | "nan" => DecimalError::NotFinite,
                _ => DecimalError::NoNumber,
            });
        }
        let mut value: i128 = 0;
        // The digit at place p is worth 10^p; places run down from the first digit.
        let mut place = i64::try_from(whole.len())
            .ok()
            .and_then(|length| exponent.checked_add(length))
            .ok_or(DecimalError::TooLarge)?;
        for digit in whole.bytes().chain(fraction.bytes()) {
            place = place.saturating_sub(1);
            if digit == b'0' {
                continue;
            }
            if place < -i64::from(DIGITS) {
                return Err(DecimalError::TooFine);
            }
            if place >= 20 {
                return Err(DecimalError::TooLarge);
            }
            // In range: place is from -18 to 19, so the power is from 0 to 37.
            let power = 10i128.pow((place + i64::from(DIGITS)) as u32);
            value = value
                .checked_add(i128::from(digit - b'0') * power)
                .ok_or(DecimalError::TooLarge)?;
        }
        Ok(Decimal(if negative { -value } else { value }))
    }
}

impl fmt::Display for Decimal {
    /// The shortest decimal text of the value, always with a point (a TOML float).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.0.unsigned_abs();
        let one = ONE.unsigned_abs();
        let fraction = format!("{:018}", magnitude % one);
        let fraction = fraction.trim_end_matches('0');
        write!(
            f,
            "{}{}.{}",
            if self.0 < 0 { "-" } else { "" },
            magnitude / one,
            if fraction.is_empty() { "0" } else { fraction }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(input: &str) -> Result<String, DecimalError> {
        input.parse::<Decimal>().map(|d| d.to_string())
    }

    #[test]
    fn holds_what_is_written() {
        for (input, output) in [
            ("0.01", "0.01"),
            ("1", "1.0"),
            ("-2.50", "-2.5"),
            ("1e-3", "0.001"),
            ("6.4E+2", "640.0"),
            ("0.000000000000000001", "0.000000000000000001"),
            ("99999999999999999999", "99999999999999999999.0"),
            ("0e400", "0.0"),
            ("12.5e1", "125.0"),
        ] {
            assert_eq!(text(input).as_deref(), Ok(output), "{input}");
        }
    }

    #[test]
    fn refuses_what_it_cannot_hold() {
        assert_eq!(text("1e-19"), Err(DecimalError::TooFine));
        assert_eq!(text("1e20"), Err(DecimalError::TooLarge));
        assert_eq!(text("1e99999999999999999999"), Err(DecimalError::TooFine));
        assert_eq!(text("inf"), Err(DecimalError::NotFinite));
        assert_eq!(text("nan"), Err(DecimalError::NotFinite));
        for wrong in ["", "4-5", "1.2.3", ".", "1e", "1e+", "1e5e3", "1e +3"] {
            assert_eq!(text(wrong), Err(DecimalError::NoNumber), "{wrong}");
        }
    }

    #[test]
    fn scales_exactly() {
        let clock: Decimal = "6.4".parse().unwrap();
        assert_eq!(clock.scaled_to_integer(1000), Some(6400));
        assert_eq!(clock.scaled_to_integer(1), None);
        assert_eq!(clock.scaled_floor(1), Some(6));
        assert_eq!(clock.to_f64(), 6.4);
    }
}
