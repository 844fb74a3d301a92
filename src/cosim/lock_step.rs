//! The driver: golden model, activity and engine, cycle by cycle but in long strides.

use std::ops::ControlFlow;

use super::{Activity, EngineError, Model, Rtl, Run};
use crate::blocks::port::pins::{Pin, PowerState, Values};

/// Runs handed to the engine at once: enough that the call costs nothing, few enough to
/// stay in the first-level cache.
const BATCH_RUNS: usize = 512;

/// The last events before a mismatch that are kept for the report.
pub(super) const HISTORY: usize = 24;

/// What a port did in the cycles that were compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Cycles compared.
    pub cycles: u64,
    /// Idle periods that the link spent awake.
    pub hits: u64,
    /// Idle periods in which the link left `Wake`.
    pub misses: u64,
    /// Recomputed thresholds.
    pub updates: u64,
    /// Cycles in each state, in the order of [`PowerState::ALL`].
    pub state_cycles: [u64; 6],
}

impl Tally {
    /// Takes in runs that were compared.
    pub fn add(&mut self, runs: &[Run]) {
        for run in runs {
            self.cycles += run.cycles;
            self.hits += run.cycles * run.expected(Pin::Hit);
            self.misses += run.cycles * run.expected(Pin::Miss);
            self.updates += run.cycles * run.expected(Pin::Update);
            self.state_cycles[run.power_state() as usize] += run.cycles;
        }
    }

    /// Adds the tally of another port or seed.
    pub fn merge(&mut self, other: &Tally) {
        self.cycles += other.cycles;
        self.hits += other.hits;
        self.misses += other.misses;
        self.updates += other.updates;
        for (sum, cycles) in self.state_cycles.iter_mut().zip(other.state_cycles) {
            *sum += cycles;
        }
    }

    /// Cycles in one state.
    pub fn in_state(&self, state: PowerState) -> u64 {
        self.state_cycles[state as usize]
    }
}

/// The first cycle in which hardware and golden model differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Counted from the first cycle after reset.
    pub cycle: u64,
    /// Inputs and expected outputs of that cycle.
    pub expected: Run,
    /// The hardware's outputs.
    pub actual: Values,
    /// The runs before it, oldest first, each with its first cycle.
    pub history: Vec<(u64, Run)>,
}

impl Mismatch {
    /// Puts the report of an engine together: `runs` are those it was given, the first of
    /// them beginning in `first_cycle`; `earlier` are those it was given before.
    pub(super) fn new(
        difference: &super::Difference,
        first_cycle: u64,
        runs: &[Run],
        earlier: &[Run],
    ) -> Mismatch {
        let at = difference.run as usize;
        let mut start = first_cycle + runs[..at].iter().map(|run| run.cycles).sum::<u64>();
        let cycle = start + difference.cycle;
        let mut history = vec![(start, runs[at].with_cycles(difference.cycle + 1))];
        for run in runs[..at].iter().rev().chain(earlier.iter().rev()) {
            start -= run.cycles;
            let full = history.len() == HISTORY;
            match history.last_mut() {
                Some((first, later)) if later.same_pins(run) => {
                    *first = start;
                    later.cycles += run.cycles;
                }
                _ if full => break,
                _ => history.push((start, *run)),
            }
        }
        history.reverse();
        Mismatch {
            cycle,
            expected: runs[at],
            actual: difference.actual,
            history,
        }
    }
}

/// How a lock-step run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All cycles that were asked for are compared and equal.
    Complete,
    /// The activity was over before; all its cycles are compared and equal.
    ActivityOver,
    /// The observer asked to stop; what was compared is equal.
    Stopped,
    /// A difference.
    Mismatch(Box<Mismatch>),
}

/// A golden model and an engine of the same controller, both just after reset.
pub struct LockStep<M, R> {
    golden: M,
    rtl: R,
    batch: Vec<Run>,
    earlier: Vec<Run>,
    tally: Tally,
}

impl<M: Model, R: Rtl> LockStep<M, R> {
    /// Takes both at their first cycle after reset.
    pub fn new(golden: M, rtl: R) -> LockStep<M, R> {
        LockStep {
            golden,
            rtl,
            batch: Vec::with_capacity(BATCH_RUNS),
            earlier: Vec::with_capacity(BATCH_RUNS),
            tally: Tally::default(),
        }
    }

    /// What was compared so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Clocks both with `activity` for at most `cycles` further cycles. `observe` sees
    /// every batch of runs that was compared and equal, with the number of its first
    /// cycle, and may stop the run.
    ///
    /// # Errors
    /// If the engine fails.
    pub fn drive<A: Activity + ?Sized>(
        &mut self,
        activity: &mut A,
        cycles: u64,
        mut observe: impl FnMut(u64, &[Run]) -> ControlFlow<()>,
    ) -> Result<Ended, EngineError> {
        let most_cycles = self.rtl.batch_cycles();
        let mut left = cycles;
        let mut batch_cycles = 0;
        let mut outputs = self.golden.outputs();
        let mut over = false;
        while left > 0 && !over {
            match activity.next(&outputs) {
                None => over = true,
                Some(stretch) => {
                    let wanted = stretch.cycles.min(left);
                    let mut rest = wanted;
                    left -= rest;
                    while rest > 0 {
                        let most = rest.min(most_cycles);
                        let clocked = self.golden.advance(&stretch.inputs, most);
                        self.batch
                            .push(Run::new(clocked, &stretch.inputs, &outputs));
                        batch_cycles += clocked;
                        rest -= clocked;
                        let now = self.golden.outputs();
                        let changed = now != outputs;
                        outputs = now;
                        if self.batch.len() >= BATCH_RUNS || batch_cycles >= most_cycles {
                            batch_cycles = 0;
                            if let Some(ended) = self.compare(&mut observe)? {
                                return Ok(ended);
                            }
                        }
                        if stretch.until_change && changed {
                            left += rest;
                            break;
                        }
                    }
                    activity.clocked(wanted - rest);
                }
            }
        }
        if let Some(ended) = self.compare(&mut observe)? {
            return Ok(ended);
        }
        Ok(if over {
            Ended::ActivityOver
        } else {
            Ended::Complete
        })
    }

    fn compare(
        &mut self,
        observe: &mut impl FnMut(u64, &[Run]) -> ControlFlow<()>,
    ) -> Result<Option<Ended>, EngineError> {
        let first_cycle = self.tally.cycles;
        if let Some(difference) = self.rtl.run(&self.batch)? {
            let mismatch = Mismatch::new(&difference, first_cycle, &self.batch, &self.earlier);
            let at = difference.run as usize;
            self.tally.add(&self.batch[..at]);
            self.tally
                .add(&[self.batch[at].with_cycles(difference.cycle)]);
            self.batch.clear();
            return Ok(Some(Ended::Mismatch(Box::new(mismatch))));
        }
        self.tally.add(&self.batch);
        let flow = observe(first_cycle, &self.batch);
        std::mem::swap(&mut self.batch, &mut self.earlier);
        self.batch.clear();
        Ok(flow.is_break().then_some(Ended::Stopped))
    }
}
