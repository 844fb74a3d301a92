//! The papers' mathematics, period by period: the threshold that PerfBound and
//! PerfBoundCorrect mean (SPEC 6 to 8, PerfBound 2.4, 3.2 and 3.4).
//!
//! Independent of the hardware: nothing here knows the constants or the arithmetic of
//! [`crate::config::plan`] or [`crate::blocks`]. Times are whole ticks, as everywhere
//! (SPEC 1); ratios, means and corrected thresholds are real numbers (`f64`). The packet
//! budget is the exact floor of the rational number `l * X / t_w`: a binary fraction could
//! fall just below the whole number that the product really is.

mod histogram;

use std::collections::VecDeque;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::ToPrimitive;

use crate::config::plan::{MissUnit, Policy};
use crate::config::{Config, CorrectionMode};

use histogram::Histogram;
pub use histogram::HistogramParameters;

/// What the mathematics depends on. Times are in ticks.
#[derive(Clone, Debug)]
pub struct Parameters {
    /// When the port powers down.
    pub policy: Policy,
    /// The largest time; times saturate there (SPEC 1).
    pub max_time: u64,
    /// The fixed threshold, or the one before the first sample.
    pub t_pdt_init: u64,
    /// `l / t_w` in packets per tick; predicting policies only.
    pub budget_rate: BigRational,
    /// What the predicting policies record.
    pub histogram: HistogramParameters,
    /// `n_R` (SPEC 8).
    pub history: usize,
    /// What becomes of a correction factor below 1.
    pub correction_mode: CorrectionMode,
    /// What the factor counts misses in.
    pub miss_unit: MissUnit,
}

impl Parameters {
    /// The parameters that a configuration gives. Measured hop counts stay as they begin:
    /// idle periods tell nothing of them.
    pub fn new(config: &Config) -> Parameters {
        let ticks = |ps: u64| ps / config.clock.tick_ps;
        let max_time = u64::MAX >> (64 - config.port.time_width);
        let histogram = &config.histogram;
        Parameters {
            policy: config.port.policy,
            max_time,
            t_pdt_init: ticks(match config.port.policy {
                Policy::Fixed => config.port.t_pdt_ps,
                _ => config.port.t_pdt_init_ps,
            }),
            budget_rate: config.budget_rate(),
            histogram: HistogramParameters {
                kind: histogram.kind,
                scale: histogram.scale,
                bins: histogram.bins as usize,
                bin: ticks(histogram.bin_ps),
                max_count: u32::MAX >> (32 - histogram.counter_bits),
                max_samples: histogram.max_samples,
                ttl: (histogram.ttl_ps > 0).then(|| ticks(histogram.ttl_ps)),
                max_value: ticks(histogram.max_value_ps),
                map_entries: histogram.map_entries as usize,
                max_window: config.max_window(),
                window: config.window,
            },
            history: config.correction.history as usize,
            correction_mode: config.correction.mode,
            miss_unit: config.correction.miss_unit,
        }
    }
}

/// What one idle period led to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Length of the idle period in ticks, at most `h_maxval` (SPEC 2).
    pub t_inac: u64,
    /// The link had gone to sleep: the period outlasted the threshold that stood when it
    /// began. The whole period counts here, also beyond `h_maxval`.
    pub miss: bool,
    /// `X` in ticks (SPEC 7.1); 0 for policies that do not predict.
    pub window: u64,
    /// `N`: packets that may be delayed within the window (SPEC 7.3).
    pub budget: u64,
    /// PerfBound's threshold in ticks (SPEC 7.5); 0 for policies that do not predict.
    pub t_pb: u64,
    /// The correction factor of PerfBound Equation 2 as it stands; 1 if there is no correction.
    pub cf: f64,
    /// The threshold of the next idle period in ticks, from 0 to `h_maxval`; whole unless
    /// it is corrected. (Beyond 2^53 ticks it has the precision of an `f64`.)
    pub t_pdt: f64,
}

/// A port controller that computes every update at once.
#[derive(Clone, Debug)]
pub struct Reference {
    parameters: Parameters,
    histogram: Histogram,
    history: MissHistory,
    t_pdt: f64,
}

impl Reference {
    /// A controller at reset.
    pub fn new(parameters: Parameters) -> Reference {
        let t_pdt = parameters.t_pdt_init as f64;
        Reference {
            histogram: Histogram::new(parameters.histogram.clone()),
            history: MissHistory::new(parameters.history, parameters.miss_unit),
            t_pdt,
            parameters,
        }
    }

    /// Times that a map histogram ran out of entries.
    pub fn overflows(&self) -> u64 {
        self.histogram.overflows()
    }

    /// An active part of `busy` ticks and the idle period of `idle` ticks that follows;
    /// the first active part begins at reset.
    ///
    /// The order is that of SPEC 8: history, histogram, PerfBound, correction.
    pub fn step(&mut self, busy: u64, idle: u64) -> Step {
        let miss = self.parameters.policy != Policy::AlwaysOn && idle as f64 > self.t_pdt;
        // The window runs on where the meter of the idle period stands still.
        let elapsed = idle;
        let idle = idle.min(self.parameters.max_time);
        let t_inac = idle.min(self.parameters.histogram.max_value);
        let mut step = Step {
            t_inac,
            miss,
            window: 0,
            budget: 0,
            t_pb: 0,
            cf: 1.0,
            t_pdt: self.t_pdt,
        };
        let corrects = match self.parameters.policy {
            Policy::AlwaysOn | Policy::Fixed => return step,
            Policy::PerfBound => false,
            Policy::PerfBoundCorrect => true,
        };
        self.history
            .record(miss.then(|| idle as f64 / self.t_pdt.max(1.0)));
        step.window = self.histogram.record(busy, t_inac, elapsed);
        step.budget = self.budget(step.window);
        step.t_pb = self.histogram.threshold(step.budget);
        if corrects {
            step.cf = self.history.correction_factor();
        }
        let factor = match self.parameters.correction_mode {
            CorrectionMode::AtLeastOne => step.cf.max(1.0),
            CorrectionMode::Raw => step.cf,
        };
        let longest = self.parameters.histogram.max_value as f64;
        step.t_pdt = (step.t_pb as f64 * factor).min(longest);
        self.t_pdt = step.t_pdt;
        step
    }

    /// `N = floor(l * X / t_w)` (SPEC 7.3).
    fn budget(&self, window: u64) -> u64 {
        let rate = &self.parameters.budget_rate;
        // Neither is negative: the division of integers is the floor.
        (rate.numer() * BigInt::from(window) / rate.denom())
            .to_u64()
            .unwrap_or(u64::MAX)
    }
}

/// The outcomes of the last `n_R` idle periods and the ratios of the misses among them
/// (PerfBound 3.4).
#[derive(Clone, Debug)]
struct MissHistory {
    /// Oldest first; `n_R` from the start, none of them misses.
    outcomes: VecDeque<bool>,
    /// Oldest first: as many as there are misses in `outcomes`.
    ratios: VecDeque<f64>,
    unit: MissUnit,
}

impl MissHistory {
    fn new(length: usize, unit: MissUnit) -> MissHistory {
        MissHistory {
            unit,
            outcomes: VecDeque::from(vec![false; length]),
            ratios: VecDeque::new(),
        }
    }

    /// Shifts an outcome in; a miss comes with its ratio.
    fn record(&mut self, miss: Option<f64>) {
        if self.outcomes.pop_front() == Some(true) {
            self.ratios.pop_front();
        }
        self.outcomes.push_back(miss.is_some());
        self.ratios.extend(miss);
    }

    /// PerfBound Equation 2: the rate of misses times the geometric mean of their ratios;
    /// 1 without misses.
    fn correction_factor(&self) -> f64 {
        if self.ratios.is_empty() {
            return 1.0;
        }
        let misses = self.ratios.len() as f64;
        // The product itself, not a sum of logarithms, so that whole results stay whole;
        // a power of two is set aside (exactly) before many ratios overflow.
        const ASIDE: i32 = 512;
        let (mut product, mut aside) = (1.0f64, 0.0);
        for ratio in &self.ratios {
            product *= ratio;
            if product >= 2f64.powi(ASIDE) {
                product *= 2f64.powi(-ASIDE);
                aside += f64::from(ASIDE);
            }
        }
        let mean = product.powf(misses.recip()) * (aside / misses).exp2();
        f64::from(self.unit.whole()) * misses / self.outcomes.len() as f64 * mean
    }
}

#[cfg(test)]
mod tests;
