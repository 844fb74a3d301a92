//! Idle periods into a port controller, thresholds out of it: the golden model, the
//! verilated RTL or the native simulation, one row per period.
//!
//! The loop is open: whether a period is a miss follows from its length and the threshold
//! in force (SPEC 8), not from the state of a link, which would still be waking up after a
//! short active part.

use super::{EngineError, Model};
use crate::blocks::fixed_point::Arithmetic;
use crate::blocks::perfbound::halving_delay;
use crate::blocks::port::pins::{Inputs, Outputs};
use crate::blocks::port::update_latency;
use crate::config::plan::{Policy, PortPlan};

/// Something that is clocked without being compared.
pub trait OpenLoop {
    /// Clocks `cycles` cycles with `inputs` held and returns the outputs of the cycle after
    /// them.
    ///
    /// # Errors
    /// If the engine itself fails.
    fn pass(&mut self, inputs: &Inputs, cycles: u64) -> Result<Outputs, EngineError>;
}

/// A golden model.
pub struct Golden<M>(pub M);

impl<M: Model> OpenLoop for Golden<M> {
    fn pass(&mut self, inputs: &Inputs, cycles: u64) -> Result<Outputs, EngineError> {
        let mut left = cycles;
        while left > 0 {
            left -= self.0.advance(inputs, left);
        }
        Ok(self.0.outputs())
    }
}

/// What a period led to; times in ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Length of the idle period, at most `h_maxval` (SPEC 2).
    pub t_inac: u64,
    /// The period outlasted the threshold in force.
    pub miss: bool,
    /// `X` (SPEC 7.1); 0 for policies that do not predict, like the next two.
    pub window: u64,
    /// `N` (SPEC 7.3).
    pub budget: u64,
    /// PerfBound's threshold.
    pub t_pb: u64,
    /// `cf` (SPEC 8); 1 if there is no correction.
    pub cf: f64,
    /// The threshold that governs the next period.
    pub t_pdt: u64,
}

/// The idle period whose outcome is not known yet: the controller computes it during the
/// active part that follows.
#[derive(Clone, Copy, Debug)]
struct Unanswered {
    idle: u64,
    t_pdt: u64,
}

/// Drives a controller with idle periods.
pub struct Predictor<E> {
    engine: E,
    plan: PortPlan,
    /// How `log2_cf` is to be read, if there is a correction.
    cf: Option<Log2Cf>,
    unanswered: Option<Unanswered>,
    short: u64,
    /// The window of the last row, in ticks.
    window: u64,
}

/// The fixed point of the pin `log2_cf`.
#[derive(Clone, Copy, Debug)]
struct Log2Cf {
    width: u32,
    fraction: u32,
}

impl Log2Cf {
    /// `cf`, from the value of the pin.
    fn cf(self, value: u64) -> f64 {
        let unused = u64::BITS - self.width;
        let signed = (value << unused) as i64 >> unused;
        (signed as f64 / f64::from(self.fraction).exp2()).exp2()
    }
}

impl<E: OpenLoop> Predictor<E> {
    /// Takes a controller just after reset.
    pub fn new(plan: &PortPlan, engine: E) -> Self {
        Predictor {
            engine,
            plan: *plan,
            cf: plan.corrects().then(|| {
                let numbers = Arithmetic::new(plan);
                Log2Cf {
                    width: numbers.log2_cf_bits(),
                    fraction: numbers.fraction,
                }
            }),
            unanswered: None,
            window: 0,
            short: 0,
        }
    }

    /// Active parts so far that were too short for the controller to finish the update of
    /// the period before them (SPEC 10): their rows show the update before.
    pub fn short(&self) -> u64 {
        self.short
    }

    fn cycles(&self, ticks: u64) -> Result<u64, EngineError> {
        ticks.checked_mul(self.plan.clocks_per_tick).ok_or_else(|| {
            EngineError::new(
                "open-loop",
                format!("{ticks} ticks are more than 2^64 clock cycles"),
            )
        })
    }

    /// An active part; answers for the idle period before it.
    fn active(&mut self, cycles: u64) -> Result<(Option<Step>, u64), EngineError> {
        let outputs = self.engine.pass(&Inputs::sending(), cycles)?;
        let Outputs {
            t_pdt,
            t_pb,
            window,
            budget,
            log2_cf,
            ..
        } = outputs;
        // The window is the new one from the begin of an update on, and only a halving makes
        // that of a regular histogram smaller.
        let needed = if window < self.window {
            update_latency(&self.plan) + halving_delay(&self.plan)
        } else {
            update_latency(&self.plan)
        };
        self.window = window;
        if self.unanswered.is_some() && self.plan.predicts() && cycles <= needed {
            self.short += 1;
        }
        let step = self.unanswered.take().map(|period| {
            let idle = period.idle.min(self.plan.max_time());
            Step {
                t_inac: idle.min(self.plan.histogram.max_value),
                // The timer expires after the longest time, too, at which the meter stands.
                miss: self.plan.policy != Policy::AlwaysOn && period.idle > period.t_pdt,
                window,
                budget,
                t_pb,
                cf: self.cf.map_or(1.0, |pin| pin.cf(log2_cf)),
                t_pdt,
            }
        });
        Ok((step, t_pdt))
    }

    /// An active part of `busy` ticks and the idle period of `idle` ticks that follows.
    /// Returns the step of the period before: this one's is known after the next active
    /// part.
    ///
    /// # Errors
    /// If the engine fails, or a part is longer than 2^64 clock cycles.
    pub fn period(&mut self, busy: u64, idle: u64) -> Result<Option<Step>, EngineError> {
        let (step, t_pdt) = self.active(self.cycles(busy)?)?;
        self.engine.pass(&Inputs::quiet(), self.cycles(idle)?)?;
        self.unanswered = Some(Unanswered { idle, t_pdt });
        Ok(step)
    }

    /// The step of the last period, after an active part of sufficient length.
    ///
    /// # Errors
    /// If the engine fails.
    pub fn finish(&mut self) -> Result<Option<Step>, EngineError> {
        let longest = update_latency(&self.plan) + halving_delay(&self.plan);
        Ok(self.active(longest + 2)?.0)
    }
}
