//! Golden model of the correction.

use std::sync::Arc;

use crate::blocks::fixed_point::Arithmetic;
use crate::blocks::miss_history::golden::{
    floor_to, line, units, Fixed, MissHistory, FRACTION, ONE,
};
use crate::config::plan::PortPlan;

/// The computation of a factor that is under way.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// Its first cycle.
    begun: u64,
    sum: Fixed,
    misses: usize,
}

/// A threshold of PerfBound that waits for its factor.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// The factor to wait for is of a run that begins now or later, and not before this
    /// cycle; `None`: it is of the present run, if there is one.
    not_before: Option<u64>,
    /// A later threshold has taken its place.
    again: bool,
}

/// Cycle-exact model of the correction (SPEC 8).
#[derive(Clone, Debug)]
pub struct Corrector {
    numbers: Arc<Arithmetic>,
    at_least_one: bool,
    max_value: u64,
    /// The history has changed since the last run began.
    stale: bool,
    run: Option<Run>,
    log2_cf: Fixed,
    /// `cf` as a mantissa, 1 or more and less than 2, and a power of two.
    factor: (Fixed, i64),
    waiting: Option<Waiting>,
    /// The result of the multiplication under way, and its last cycle.
    product: Option<(u64, u64)>,
    t_pdt: u64,
    update: bool,
}

impl Corrector {
    /// A correction just after reset.
    pub fn new(plan: &PortPlan) -> Self {
        Corrector {
            numbers: Arc::new(Arithmetic::new(plan)),
            at_least_one: plan.correction.at_least_one,
            max_value: plan.histogram.max_value,
            stale: false,
            run: None,
            log2_cf: 0,
            factor: (ONE, 0),
            waiting: None,
            product: None,
            t_pdt: plan.t_pdt_init,
            update: false,
        }
    }

    /// The corrected threshold in ticks.
    #[inline]
    pub fn t_pdt(&self) -> u64 {
        self.t_pdt
    }

    /// One cycle after it has changed.
    #[inline]
    pub fn update(&self) -> bool {
        self.update
    }

    /// `log2 cf` as the pin shows it: two's complement, `fraction` fraction bits.
    #[inline]
    pub fn log2_cf(&self) -> u64 {
        let units = self.log2_cf >> (FRACTION - self.numbers.fraction);
        (units & ((1 << self.numbers.log2_cf_bits()) - 1)) as u64
    }

    /// Nothing changes while the history and the threshold of PerfBound do not.
    pub fn steady(&self) -> bool {
        let busy = self.run.is_some() || self.waiting.is_some() || self.product.is_some();
        !(busy || self.stale || self.update)
    }

    /// What all clock edges do to the factor of a steady correction until it covers a history
    /// that has changed and is steady again.
    pub fn settle_factor(&mut self, history: &MissHistory) {
        let run = Run {
            begun: 0,
            sum: history.sum(),
            misses: history.misses(),
        };
        self.log2_cf = self.logarithm(&run);
        self.factor = self.power(&run);
    }

    /// What all clock edges do to the threshold of a steady correction until PerfBound's
    /// new one is corrected.
    pub fn settle_threshold(&mut self, t_pb: u64) {
        self.t_pdt = self.times(t_pb);
    }

    /// The clock edge at the end of cycle `now`; `history` and PerfBound's new threshold as
    /// they are in that cycle.
    pub fn clock(&mut self, now: u64, history: &MissHistory, t_pb: u64, update: bool) {
        let settles = history.settles();
        let lacks = match self.waiting {
            Some(waiting) => waiting.not_before,
            None => None,
        };
        let begins = !history.changes(now)
            && match lacks {
                Some(not_before) => now >= not_before,
                None => self.run.is_none() && self.stale,
            };
        let multiplies = self.run.is_none()
            && self.product.is_none()
            && match self.waiting {
                Some(waiting) => waiting.not_before.is_none(),
                None => update && settles.is_none() && !self.stale,
            };

        self.update = false;
        if let Some((last, t_pdt)) = self.product {
            if last == now {
                self.t_pdt = t_pdt;
                self.update = true;
                self.product = None;
            }
        }
        if let Some(run) = self.run {
            let divided = run.begun + u64::from(self.numbers.division_cycles()) + 1;
            if now == divided {
                self.log2_cf = self.logarithm(&run);
            }
            if now + 1 == run.begun + self.numbers.factor_cycles() {
                self.factor = self.power(&run);
                self.run = None;
            }
        }
        if begins {
            self.run = Some(Run {
                begun: now,
                sum: history.sum(),
                misses: history.misses(),
            });
        }

        // A threshold that comes needs every idle period up to now. What is under way
        // settles later; what has settled, the present or the next run knows.
        let needs = match settles {
            Some(cycle) => Some(cycle),
            None if self.stale => Some(now),
            None => None,
        };
        let comes = Waiting {
            not_before: needs,
            again: false,
        };
        if multiplies {
            let last = now + self.numbers.multiplication_cycles() - 1;
            self.product = Some((last, self.times(t_pb)));
            let again = self.waiting.is_some_and(|waiting| waiting.again || update);
            self.waiting = again.then_some(comes);
        } else if let Some(waiting) = &mut self.waiting {
            waiting.again |= update;
            if begins {
                waiting.not_before = None;
            }
        } else if update {
            self.waiting = Some(comes);
        }
        self.stale = history.changes(now) || (self.stale && !begins);
    }

    /// `log2 cf`, 0 without misses.
    fn logarithm(&self, run: &Run) -> Fixed {
        if run.misses == 0 {
            return 0;
        }
        let fraction = self.numbers.fraction;
        let mean = run.sum.div_euclid(run.misses as Fixed);
        floor_to(mean, fraction) + units(self.numbers.rate[run.misses], fraction)
    }

    /// `cf`, or 1 where there is no correction.
    fn power(&self, run: &Run) -> (Fixed, i64) {
        if run.misses == 0 || (self.at_least_one && self.log2_cf < 0) {
            return (ONE, 0);
        }
        let numbers = &self.numbers;
        let slope_bits = numbers.mantissa - numbers.power.segment_bits;
        let (whole, part) = (self.log2_cf >> FRACTION, self.log2_cf & (ONE - 1));
        let mantissa = line(&numbers.power, part, numbers.mantissa, slope_bits);
        (mantissa, whole as i64)
    }

    /// `min(t_pb * cf, h_maxval)`, to the nearest tick.
    pub fn times(&self, t_pb: u64) -> u64 {
        let (mantissa, exponent) = self.factor;
        let bits = self.numbers.mantissa;
        let mantissa = (mantissa >> (FRACTION - bits)) as u128;
        // At most 64 + 37 bits.
        let product = u128::from(t_pb) * mantissa;
        let up = exponent - i64::from(bits);
        let result = if product == 0 {
            0
        } else if up >= 0 {
            match u32::try_from(up) {
                Ok(up) if up < product.leading_zeros() => product << up,
                _ => u128::MAX,
            }
        } else if up > -128 {
            let half = 1u128 << (-up - 1);
            (product + half) >> -up
        } else {
            0
        };
        result.min(u128::from(self.max_value)) as u64
    }
}
