//! The fixed-point arithmetic of the correction (SPEC 8): tables of straight lines for
//! `log2(1 + f)` and `2^g`, widths, and how far the result can be from the real numbers.
//!
//! Descriptions and golden models share these numbers, as they share the constants of the
//! packet budget; what they do with them, each writes for itself.

use std::f64::consts::LN_2;

use crate::blocks::digit_step::STEP_BITS;
use crate::blocks::perfbound::update_latency;
use crate::config::plan::{BinScale, PortPlan};
use crate::hdl::{clog2, MAX_WIDTH};

/// Fraction bits of a logarithm under computation, beyond those of a stored one.
const GUARD_BITS: u32 = 4;

/// Longest time from the end of an idle period to the corrected threshold that the
/// multiplication may use up, in clock cycles; a slower search leaves it less.
const LATENCY_GOAL: u64 = 48;

/// Cycles of the multiplication at least, however slow the search.
const SHORTEST_MULTIPLICATION: u64 = 4;

/// A function on [0, 1) as straight lines, one in each of `2^segment_bits` equal segments:
/// `offsets[i] + (slopes[j] * rest >> shift)`, `rest` being the argument within segment `i`,
/// and `j` the upper `slope_index_bits` bits of `i`: neighbours may share a slope.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    /// Bits of the argument that choose the line.
    pub segment_bits: u32,
    /// How many of them choose the slope.
    pub slope_index_bits: u32,
    /// Bits of the argument below them.
    pub rest_bits: u32,
    /// Bits of the product that are dropped.
    pub shift: u32,
    /// The lines' values where their segments begin.
    pub offsets: Vec<u64>,
    /// The lines' slopes.
    pub slopes: Vec<u64>,
    /// The least and the greatest error: absolute for the logarithm, relative for the power.
    pub error: (f64, f64),
}

/// The errors of a line in units of the result.
type Errors = (f64, f64);

impl Lines {
    /// The lines of `log2(1 + f)`, `f` and the result in units of `2^-argument_bits` and
    /// `2^-fraction`. All offsets are raised alike so that none is negative: what is used
    /// is the difference of two logarithms, whose error is at most the width of `error`.
    fn logarithm(
        segment_bits: u32,
        slope_index_bits: u32,
        argument_bits: u32,
        fraction: u32,
    ) -> Lines {
        let slope_fraction = slope_index_bits + 1;
        let unit = exp2(fraction);
        let (step, cut) = (exp2(slope_fraction).recip(), exp2(argument_bits).recip());
        let shift = argument_bits + slope_fraction - fraction;
        let dropped = (1.0 - exp2(shift).recip()) / unit;
        let line = |(from, to): (f64, f64), slope: f64| -> Errors {
            // The line through the curve where the segment begins. A line less a concave
            // function: greatest at an end, least where the slopes are the same.
            let error = |f: f64| (1.0 + from).log2() + slope * (f - from) - (1.0 + f).log2();
            let level = ((slope * LN_2).recip() - 1.0).clamp(from, to);
            // Truncation of the argument and of the product only lower the result.
            (
                error(level) - slope * cut - dropped,
                error(from).max(error(to)),
            )
        };
        let mut lines = Lines {
            segment_bits,
            slope_index_bits,
            rest_bits: argument_bits - segment_bits,
            shift,
            offsets: Vec::new(),
            slopes: Vec::new(),
            error: (f64::INFINITY, f64::NEG_INFINITY),
        };
        let mut offsets = Vec::new();
        let all: Vec<_> = segments(segment_bits).collect();
        for alike in all.chunks(1 << (segment_bits - slope_index_bits)) {
            let (from, to) = (alike[0].0, alike[alike.len() - 1].1);
            let chord = ((1.0 + to).log2() - (1.0 + from).log2()) / (to - from);
            // Every offset centres the errors of its own segment.
            let (slope, _) = narrowest(chord, step, |slope| {
                let widths = alike.iter().map(|&segment| {
                    let (least, greatest) = line(segment, slope);
                    greatest - least
                });
                (0.0, widths.fold(0.0, f64::max))
            });
            for &segment in alike {
                let (least, greatest) = line(segment, slope as f64 * step);
                let start = (1.0 + segment.0).log2();
                let offset = ((start - (least + greatest) / 2.0) * unit).round();
                let moved = offset / unit - start;
                lines.cover((least + moved, greatest + moved));
                offsets.push(offset as i64);
            }
            lines.slopes.push(slope);
        }
        // The logarithm of the largest ratio must not reach `2^exponent_bits`.
        let first = offsets.first().copied().unwrap_or(0);
        if let (Some(last), Some(&slope)) = (offsets.last_mut(), lines.slopes.last()) {
            let rest = (1u64 << lines.rest_bits) - 1;
            let top = *last + ((slope * rest) >> shift) as i64 - first;
            let excess = (top - (1i64 << fraction) + 1).max(0);
            *last -= excess;
            lines.error.0 -= excess as f64 / unit;
        }
        let lowest = offsets.iter().copied().min().unwrap_or(0).min(0);
        lines.offsets = offsets.iter().map(|o| (o - lowest) as u64).collect();
        lines
    }

    /// The lines of `2^g`, `g` in units of `2^-argument_bits`, the result in units of
    /// `2^-mantissa`; never below 1, so that a factor above 1 lowers nothing.
    fn power(segment_bits: u32, argument_bits: u32, mantissa: u32) -> Lines {
        let slope_fraction = mantissa - segment_bits;
        let unit = exp2(mantissa);
        let step = exp2(slope_fraction).recip();
        let shift = argument_bits - segment_bits;
        let dropped = (1.0 - exp2(shift).recip()) / unit;
        let line = |from: f64, to: f64, slope: f64, offset: f64| -> Errors {
            // Relative: least at an end, greatest where the derivative of line / 2^g is 0.
            let error = |g: f64| (offset + slope * (g - from)) / g.exp2() - 1.0;
            let level = (from + LN_2.recip() - offset / slope).clamp(from, to);
            (
                error(from).min(error(to)) - dropped / from.exp2(),
                error(level).max(error(from)).max(error(to)),
            )
        };
        let mut lines = Lines {
            segment_bits,
            slope_index_bits: segment_bits,
            rest_bits: argument_bits - segment_bits,
            shift,
            offsets: Vec::new(),
            slopes: Vec::new(),
            error: (f64::INFINITY, f64::NEG_INFINITY),
        };
        for (from, to) in segments(segment_bits) {
            let chord = (to.exp2() - from.exp2()) / (to - from);
            let (slope, (least, greatest)) =
                narrowest(chord, step, |s| line(from, to, s, from.exp2()));
            let exact = from.exp2() * (1.0 - (least + greatest) / 2.0);
            // The result has one bit before the point.
            let rise = (slope * ((1 << shift) - 1)) >> shift;
            let most = 2.0 * unit - 1.0 - rise as f64;
            let offset = (exact * unit).round().max(unit).min(most);
            lines.cover(line(from, to, slope as f64 * step, offset / unit));
            lines.slopes.push(slope);
            lines.offsets.push(offset as u64);
        }
        lines
    }

    fn cover(&mut self, (least, greatest): Errors) {
        self.error.0 = self.error.0.min(least);
        self.error.1 = self.error.1.max(greatest);
    }

    /// Bits of an offset.
    pub fn offset_bits(&self) -> u32 {
        clog2(u128::from(self.offsets.iter().copied().max().unwrap_or(0)) + 1)
    }

    /// Bits of a slope.
    pub fn slope_bits(&self) -> u32 {
        clog2(u128::from(self.slopes.iter().copied().max().unwrap_or(0)) + 1)
    }
}

fn exp2(bits: u32) -> f64 {
    f64::from(bits).exp2()
}

/// The segments' bounds.
fn segments(bits: u32) -> impl Iterator<Item = (f64, f64)> {
    (0..1u32 << bits).map(move |i| (f64::from(i) / exp2(bits), f64::from(i + 1) / exp2(bits)))
}

/// Of the multiples of `step` about `slope` the one with the narrowest errors.
fn narrowest(slope: f64, step: f64, errors: impl Fn(f64) -> Errors) -> (u64, Errors) {
    let near = (slope / step).round();
    let width = |errors: &Errors| errors.1 - errors.0;
    let mut best = (near as u64, errors(near * step));
    for candidate in [near - 1.0, near + 1.0] {
        let errors = errors(candidate * step);
        if width(&errors) < width(&best.1) {
            best = (candidate as u64, errors);
        }
    }
    best
}

/// The arithmetic of one plan's correction.
#[derive(Clone, Debug, PartialEq)]
pub struct Arithmetic {
    /// `n_R`.
    pub history: u32,
    /// Bits of the whole part of a time's logarithm.
    pub exponent_bits: u32,
    /// Fraction bits of a stored logarithm of a ratio (`correction.fraction_bits`).
    pub ratio_fraction: u32,
    /// Fraction bits of a logarithm under computation, and of `log2_cf`.
    pub fraction: u32,
    /// `log2(1 + f)`.
    pub logarithm: Lines,
    /// `2^g`.
    pub power: Lines,
    /// Fraction bits of a power.
    pub mantissa: u32,
    /// For every number of misses `m`: `log2(m / n_R)`, or `log2(100 m / n_R)`, and half of what storing a ratio
    /// and dividing by `m` cut off on average, in units of `2^-fraction`; entry 0 is unused.
    pub rate: Vec<i64>,
    /// Every `t_PB` is a multiple of 2 to this power, in ticks.
    pub t_pb_zeros: u32,
    /// Bits of such a multiple.
    pub t_pb_bits: u32,
    /// From this whole part of `log2_cf` on, every `t_PB` but 0 is corrected to `h_maxval`.
    pub highest: u32,
    /// Below this negative whole part every `t_PB` is corrected to 0; 0 if `cf >= 1`.
    pub lowest: i32,
    /// Digits of `t_PB` in the multiplication, each -1, 0, 1 or 2, in base 4.
    pub digits: u32,
    /// How many of them it takes in a cycle.
    pub digits_a_cycle: u32,
}

impl Arithmetic {
    /// The arithmetic of `plan`.
    pub fn new(plan: &PortPlan) -> Arithmetic {
        let correction = &plan.correction;
        let max_value = plan.histogram.max_value;
        let exponent_bits = clog2(plan.time_width.into());
        let ratio_fraction = correction.fraction_bits;
        // An even number of quotient bits: the division yields two a cycle.
        let guarded = ratio_fraction + GUARD_BITS;
        let fraction = guarded + (exponent_bits + 1 + guarded) % 2;
        // The finer the stored logarithms, the more lines; their error falls with the
        // square of their number.
        let segment_bits = (ratio_fraction / 2).clamp(4, 8);
        // The error of a line is the product of the widths that its slope and its offset
        // serve: many offsets, up to a block RAM of 256, need few slopes and a small product.
        let log_segment_bits = ratio_fraction.saturating_sub(2).clamp(4, 8);
        let log_slope_bits = (2 * segment_bits + 2 - log_segment_bits).clamp(4, log_segment_bits);
        let mantissa = fraction - 1;
        // Sixteen lines of the power, a LUT a bit, serve as long as they suffice.
        let power_segment_bits = match segment_bits {
            4 | 5 => 4,
            finer => finer,
        };
        let half_cut = exp2(ratio_fraction + 1).recip();
        let rate = |misses: u32| {
            let whole = f64::from(correction.miss_unit.whole());
            let rate = whole * f64::from(misses) / f64::from(correction.history);
            ((rate.log2() + half_cut) * exp2(fraction)).round() as i64
        };
        // The middle of a bin is a multiple of half a bin.
        let t_pb_zeros = match plan.histogram.scale {
            BinScale::Linear => {
                let half_bin = plan.histogram.bin_shift.saturating_sub(1);
                half_bin.min(max_value.trailing_zeros())
            }
            BinScale::Log { .. } => 0,
        };
        let largest = u128::from(max_value >> t_pb_zeros);
        let t_pb_bits = clog2(largest + 1);
        let highest = match largest {
            0 | 1 => 0,
            _ => clog2(largest),
        };
        let lowest = if correction.at_least_one {
            0
        } else {
            -(clog2(u128::from(max_value) + 1) as i32 + 2)
        };
        let mut arithmetic = Arithmetic {
            history: correction.history,
            exponent_bits,
            ratio_fraction,
            fraction,
            logarithm: Lines::logarithm(log_segment_bits, log_slope_bits, fraction - 1, fraction),
            power: Lines::power(power_segment_bits, fraction, mantissa),
            mantissa,
            rate: (0..=correction.history)
                .map(|m| if m == 0 { 0 } else { rate(m) })
                .collect(),
            t_pb_zeros,
            t_pb_bits,
            highest,
            lowest,
            digits: 1,
            digits_a_cycle: 1,
        };
        // One cycle to begin, one to compare with the largest; the factor must stand
        // while the next one is computed.
        let ready = update_latency(plan).max(arithmetic.factor_latency());
        let cycles = LATENCY_GOAL
            .saturating_sub(ready)
            .max(SHORTEST_MULTIPLICATION)
            .min(u64::from(
                arithmetic.division_cycles() + arithmetic.power_cycles(),
            ));
        let cycles = u32::try_from(cycles - 2).unwrap_or(1);
        // The largest number of so many digits is 2 (4^digits - 1) / 3.
        let needed = (1..64u32)
            .find(|&digits| largest <= ((1u128 << (2 * digits)) - 1) / 3 * 2)
            .unwrap_or(64);
        arithmetic.digits_a_cycle = needed.div_ceil(cycles);
        arithmetic.digits = needed.div_ceil(arithmetic.digits_a_cycle) * arithmetic.digits_a_cycle;
        arithmetic
    }

    /// Bits of a stored ratio: its logarithm with `2^exponent_bits` added, which makes it
    /// positive.
    pub fn ratio_bits(&self) -> u32 {
        self.exponent_bits + 1 + self.ratio_fraction
    }

    /// Bits of the quotient sum of ratios / misses.
    pub fn quotient_bits(&self) -> u32 {
        self.exponent_bits + 1 + self.fraction
    }

    /// Bits of a number of misses, 0 to `n_R`.
    pub fn count_bits(&self) -> u32 {
        clog2(u128::from(self.history) + 1)
    }

    /// Bits of the sum of all stored ratios.
    pub fn sum_bits(&self) -> u32 {
        self.ratio_bits() + clog2(self.history.into())
    }

    /// Bits of the whole part of `log2_cf`, its sign included: a mean between
    /// `±2^exponent_bits`, and `log2(m / n_R)`, at least -10 and, in per cent, at most 7.
    pub fn whole_bits(&self) -> u32 {
        clog2((1 << self.exponent_bits) + 11) + 1
    }

    /// Bits of `log2_cf`.
    pub fn log2_cf_bits(&self) -> u32 {
        self.whole_bits() + self.fraction
    }

    /// Places by which the factor's mantissa may move.
    pub fn places(&self) -> u32 {
        self.highest + self.lowest.unsigned_abs()
    }

    /// Whether the mantissa moves by four places at a time where it can: where they are many,
    /// or where the long division and power of a fine logarithm leave few cycles.
    pub fn leaps(&self) -> bool {
        self.places() > 12 || self.ratio_fraction > 14
    }

    /// Bits of the factor, of which `mantissa - lowest` are a fraction.
    pub fn factor_bits(&self) -> u32 {
        self.mantissa + 1 + self.places()
    }

    /// Clock cycles of the division.
    pub fn division_cycles(&self) -> u32 {
        self.quotient_bits() / 2
    }

    /// Clock cycles of the power's multiplication.
    pub fn power_cycles(&self) -> u32 {
        self.power.rest_bits
    }

    /// Clock cycles in which the mantissa moves to its place, but for the last: a
    /// multiplication that begins then does not use the factor yet.
    pub fn place_cycles(&self) -> u32 {
        let steps = |places: u32| {
            if self.leaps() {
                places / 4 + places % 4
            } else {
                places
            }
        };
        let longest = (0..=self.places()).map(steps).max().unwrap_or(0);
        longest.saturating_sub(1).max(1)
    }

    /// Clock cycles from the first of the computation of a factor to the first in which it
    /// stands.
    pub fn factor_cycles(&self) -> u64 {
        let (load, join, set) = (1, 1, 1);
        let steps = self.division_cycles() + self.power_cycles() + self.place_cycles();
        u64::from(load + join + set + steps)
    }

    /// Clock cycles from the first active cycle after an idle period to the first in which
    /// the factor that covers it stands, at most, if no further idle period ends before.
    pub fn factor_latency(&self) -> u64 {
        ARRIVAL_CYCLES + 1 + self.factor_cycles()
    }

    /// Clock cycles from that in which both `t_PB` and the factor stand to that in which
    /// the corrected threshold does.
    pub fn multiplication_cycles(&self) -> u64 {
        u64::from(self.digits / self.digits_a_cycle) + 2
    }

    /// Why there is no hardware for this arithmetic, in terms of the configuration; `None`
    /// if there is.
    pub fn too_wide(&self) -> Option<String> {
        let bits = self.factor_bits() + STEP_BITS;
        (bits > MAX_WIDTH).then(|| {
            format!(
                "the correction multiplies in {bits} bits, and no vector is wider than \
                 {MAX_WIDTH}: shorten histogram.max_value_ns or correction.fraction_bits, widen \
                 histogram.bin_ns, or take correction.mode = \"at-least-one\""
            )
        })
    }

    /// The greatest relative error of a corrected threshold against the real-number result,
    /// beside half a tick for the rounding to whole ticks.
    pub fn relative_error(&self) -> f64 {
        let (least, greatest) = self.logarithm.error;
        // The mean: at most as wrong as one ratio. Half of what is cut off is made good.
        let ratio = (greatest - least) + exp2(self.ratio_fraction + 1).recip();
        let rate = exp2(self.fraction + 1).recip();
        let exponent = ratio + rate;
        let (low, high) = self.power.error;
        let above = exponent.exp2() * (1.0 + high) - 1.0;
        let below = 1.0 - (-exponent).exp2() * (1.0 + low);
        above.max(below)
    }
}

/// Clock cycles from the first active cycle after an idle period to the first in which the
/// history covers it.
pub const ARRIVAL_CYCLES: u64 = 9;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::port::tests::small_plan;

    fn arithmetic(fraction_bits: u32) -> Arithmetic {
        Arithmetic::new(&small_plan().with(|plan| {
            plan.time_width = 32;
            plan.correction.history = 16;
            plan.correction.fraction_bits = fraction_bits;
        }))
    }

    impl Lines {
        fn at(&self, argument: u64) -> u64 {
            let segment = (argument >> self.rest_bits) as usize;
            let rest = argument & ((1 << self.rest_bits) - 1);
            let alike = segment >> (self.segment_bits - self.slope_index_bits);
            self.offsets[segment] + ((self.slopes[alike] * rest) >> self.shift)
        }
    }

    /// Every argument of both tables, for every number of fraction bits that leaves few
    /// enough of them.
    #[test]
    fn lines_are_within_their_errors() {
        for fraction_bits in 4..=16 {
            let numbers = arithmetic(fraction_bits);
            let unit = exp2(numbers.fraction);
            let log = &numbers.logarithm;
            let bits = log.segment_bits + log.rest_bits;
            let (mut least, mut greatest) = (f64::INFINITY, f64::NEG_INFINITY);
            for argument in 0..1u64 << bits {
                let value = log.at(argument) as f64 / unit;
                let from = argument as f64 / exp2(bits);
                let to = (argument + 1) as f64 / exp2(bits);
                least = least.min(value - (1.0 + to).log2());
                greatest = greatest.max(value - (1.0 + from).log2());
            }
            let width = log.error.1 - log.error.0;
            assert!(greatest - least <= width + 1e-12, "{fraction_bits}");
            assert!(
                greatest - least > 0.7 * width,
                "{fraction_bits}: a loose bound"
            );
            // The logarithm of a ratio stays below 2^exponent_bits.
            assert!(log.at((1 << bits) - 1) - log.at(0) < 1 << numbers.fraction);

            let power = &numbers.power;
            let (mut least, mut greatest) = (f64::INFINITY, f64::NEG_INFINITY);
            for argument in 0..1u64 << numbers.fraction {
                let value = power.at(argument);
                assert!((1 << numbers.mantissa..2 << numbers.mantissa).contains(&value));
                let real = (argument as f64 / unit).exp2();
                let error = value as f64 / exp2(numbers.mantissa) / real - 1.0;
                least = least.min(error);
                greatest = greatest.max(error);
            }
            assert!(power.error.0 <= least + 1e-12 && greatest <= power.error.1 + 1e-12);
            assert!(greatest - least > 0.5 * (power.error.1 - power.error.0));
            println!(
                "{fraction_bits}: relative error 2^{:.2}, log {width:.2e}, power {:.2e} {:.2e}",
                numbers.relative_error().log2(),
                power.error.0,
                power.error.1
            );
        }
    }

    /// SPEC 8: within 2^-10; the default is 10 fraction bits (docs/reference/configuration.md).
    #[test]
    fn ten_fraction_bits_are_enough() {
        assert!(arithmetic(10).relative_error() <= 2f64.powi(-10));
        assert!(arithmetic(9).relative_error() > 2f64.powi(-10));
        for fraction_bits in 5..=32 {
            let (coarse, fine) = (arithmetic(fraction_bits - 1), arithmetic(fraction_bits));
            assert!(fine.relative_error() < coarse.relative_error() * 1.01);
        }
    }
}
