//! Golden model of the history of misses.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::blocks::fixed_point::{Arithmetic, Lines, ARRIVAL_CYCLES};
use crate::config::plan::PortPlan;

/// A fixed-point number: a multiple of 2^-64.
pub type Fixed = i128;

/// Fraction bits of a [`Fixed`].
pub const FRACTION: u32 = 64;

/// The [`Fixed`] that is 1.
pub const ONE: Fixed = 1 << FRACTION;

/// The largest multiple of `2^-bits` that is not above `value`.
pub fn floor_to(value: Fixed, bits: u32) -> Fixed {
    let dropped = FRACTION - bits;
    value >> dropped << dropped
}

/// `count` times `2^-bits`.
pub fn units(count: i64, bits: u32) -> Fixed {
    Fixed::from(count) << (FRACTION - bits)
}

/// The value of a line at `argument` (from 0, below 1), and how fast it rises there, for
/// offsets and slopes in these many fraction bits.
pub fn line(lines: &Lines, argument: Fixed, offset_bits: u32, slope_bits: u32) -> Fixed {
    let segment = (argument >> (FRACTION - lines.segment_bits)) as usize;
    let rest = argument - units(segment as i64, lines.segment_bits);
    let alike = segment >> (lines.segment_bits - lines.slope_index_bits);
    let (offset, slope) = (lines.offsets[segment], lines.slopes[alike]);
    let rise = (Fixed::from(slope) * rest) >> slope_bits;
    units(offset as i64, offset_bits) + floor_to(rise, offset_bits)
}

/// An idle period at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Its length in ticks, not clamped.
    pub ticks: u64,
    /// The threshold that governed it, in ticks.
    pub t_pdt: u64,
    /// The link left `Wake` in it.
    pub miss: bool,
}

/// Cycle-exact model of the history of misses (SPEC 8).
#[derive(Clone, Debug)]
pub struct MissHistory {
    numbers: Arc<Arithmetic>,
    /// Idle periods on their way into the history: the cycle in which each ended, and its
    /// ratio if it was a miss.
    under_way: VecDeque<(u64, Option<Fixed>)>,
    /// Oldest first; at most `n_R`.
    outcomes: VecDeque<bool>,
    /// Logarithms of the ratios of the misses among them, oldest first.
    ratios: VecDeque<Fixed>,
    sum: Fixed,
}

impl MissHistory {
    /// A history just after reset.
    pub fn new(plan: &PortPlan) -> Self {
        MissHistory {
            numbers: Arc::new(Arithmetic::new(plan)),
            under_way: VecDeque::new(),
            outcomes: VecDeque::new(),
            ratios: VecDeque::new(),
            sum: 0,
        }
    }

    /// Sum of the logarithms of the misses' ratios.
    pub fn sum(&self) -> Fixed {
        self.sum
    }

    /// Number of misses that the sum is of.
    pub fn misses(&self) -> usize {
        self.ratios.len()
    }

    /// The first cycle in which the history covers every idle period that ended before this
    /// one, if it does not yet.
    pub fn settles(&self) -> Option<u64> {
        self.under_way.back().map(|(end, _)| end + ARRIVAL_CYCLES)
    }

    /// Cycle `now` is the last step of taking a sample in.
    pub fn changes(&self, now: u64) -> bool {
        matches!(self.under_way.front(), Some((end, _)) if end + ARRIVAL_CYCLES == now + 1)
    }

    /// Nothing changes while no sample comes.
    pub fn steady(&self) -> bool {
        self.under_way.is_empty()
    }

    /// The clock edge at the end of cycle `now`.
    pub fn clock(&mut self, now: u64, sample: Option<Sample>) {
        if let Some(&(end, ratio)) = self.under_way.front() {
            if end + ARRIVAL_CYCLES == now + 1 {
                self.under_way.pop_front();
                if let Some(ratio) = ratio {
                    self.ratios.push_back(ratio);
                    self.sum += ratio;
                }
            } else if end + ARRIVAL_CYCLES == now + 2 {
                self.shift(ratio.is_some());
            }
        }
        if let Some(sample) = sample {
            self.under_way.push_back((now, self.ratio(&sample)));
        }
    }

    /// What all clock edges until the history covers `sample` do to a steady history.
    pub fn settle(&mut self, sample: &Sample) {
        self.shift(sample.miss);
        if let Some(ratio) = self.ratio(sample) {
            self.ratios.push_back(ratio);
            self.sum += ratio;
        }
    }

    /// The idle period that leaves a steady history when the one after the next `later` ones
    /// enters was a miss.
    pub fn loses_a_miss(&self, later: usize) -> bool {
        let place = (self.outcomes.len() + later).checked_sub(self.numbers.history as usize);
        place.is_some_and(|place| self.outcomes.get(place) == Some(&true))
    }

    /// The logarithm of the ratio of a miss.
    fn ratio(&self, sample: &Sample) -> Option<Fixed> {
        let ratio = || {
            let ratio = self.logarithm(sample.ticks) - self.logarithm(sample.t_pdt);
            floor_to(ratio, self.numbers.ratio_fraction)
        };
        sample.miss.then(ratio)
    }

    /// Shifts an outcome in; what is shifted out takes its ratio along.
    fn shift(&mut self, miss: bool) {
        if self.outcomes.len() == self.numbers.history as usize
            && self.outcomes.pop_front() == Some(true)
        {
            if let Some(ratio) = self.ratios.pop_front() {
                self.sum -= ratio;
            }
        }
        self.outcomes.push_back(miss);
    }

    /// `log2` of a time, and a constant; 0 counts as 1.
    fn logarithm(&self, ticks: u64) -> Fixed {
        let ticks = ticks.max(1);
        let whole = ticks.ilog2();
        // What follows the highest 1, as a fraction.
        let mantissa = (u128::from(ticks) << FRACTION >> whole) as Fixed - ONE;
        let lines = &self.numbers.logarithm;
        let bits = lines.segment_bits + lines.rest_bits;
        let slope_bits = lines.shift + self.numbers.fraction - bits;
        let fraction = floor_to(mantissa, bits);
        (Fixed::from(whole) << FRACTION) + line(lines, fraction, self.numbers.fraction, slope_bits)
    }
}
