//! The engine's half of a lock step: it does what is expected of it, and is compared.

use std::ops::{ControlFlow, Range};

use super::predictor::{Expected, BATCH_RUNS};
use super::{CodeCoverage, Difference, EngineError, Leap, LeapDifference, Rtl, Run};
use crate::blocks::port::pins::{Pin, PowerState, Values};

/// The last events before a mismatch that are kept for the report.
pub(super) const HISTORY: usize = 24;

/// What a port did in the cycles that were compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Cycles compared.
    pub cycles: u64,
    /// Idle cycles besides that were not clocked ([`super::Leap`]).
    pub leapt: u64,
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
        let (mut cycles, mut hits, mut misses, mut updates) = (0, 0, 0, 0);
        // A link seldom changes its state: the cycles in one are added up, then written down.
        let (mut state, mut in_state) = (PowerState::default(), 0);
        for run in runs {
            cycles += run.cycles;
            hits += run.cycles * run.expected(Pin::Hit);
            misses += run.cycles * run.expected(Pin::Miss);
            updates += run.cycles * run.expected(Pin::Update);
            if run.power_state() != state {
                self.state_cycles[state as usize] += in_state;
                (state, in_state) = (run.power_state(), 0);
            }
            in_state += run.cycles;
        }
        self.state_cycles[state as usize] += in_state;
        self.cycles += cycles;
        self.hits += hits;
        self.misses += misses;
        self.updates += updates;
    }

    /// Takes in idle time that was not clocked.
    pub fn add_leapt(&mut self, leap: &Leap) {
        let compared = self.cycles;
        let states = self.state_cycles;
        self.add(&[leap.run]);
        self.leapt += self.cycles - compared;
        self.cycles = compared;
        if let Some([quiet, refresh]) = leap.refreshing {
            self.state_cycles = states;
            self.state_cycles[PowerState::DeepSleep as usize] += quiet;
            self.state_cycles[PowerState::Refresh as usize] += refresh;
        }
    }

    /// Adds the tally of another port or seed.
    pub fn merge(&mut self, other: &Tally) {
        self.cycles += other.cycles;
        self.leapt += other.leapt;
        self.hits += other.hits;
        self.misses += other.misses;
        self.updates += other.updates;
        for (sum, cycles) in self.state_cycles.iter_mut().zip(other.state_cycles) {
            *sum += cycles;
        }
    }

    /// Cycles that passed, clocked or not.
    pub fn passed(&self) -> u64 {
        self.cycles + self.leapt
    }

    /// Cycles in one state.
    pub fn in_state(&self, state: PowerState) -> u64 {
        self.state_cycles[state as usize]
    }
}

/// The first cycle in which hardware and golden model differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Counted from the first cycle after reset, idle cycles that were not clocked among them.
    pub cycle: u64,
    /// Inputs and expected outputs of that cycle.
    pub expected: Run,
    /// The hardware's outputs.
    pub actual: Values,
    /// The register that counts time in which they differ, where that is found before a pin shows
    /// it: its name, what it holds, and what it should.
    pub register: Option<(&'static str, u64, u64)>,
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
            register: None,
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

impl Ended {
    /// How a run without a difference ended: its activity was `over` before, or not.
    pub(super) fn all_equal(over: bool) -> Ended {
        match over {
            true => Ended::ActivityOver,
            false => Ended::Complete,
        }
    }
}

/// How the comparison goes on: at its end there is a verdict, or the engine has failed.
type Flow = ControlFlow<Result<Ended, EngineError>>;

/// An engine, and what was compared so far.
pub(super) struct Scoreboard<R> {
    rtl: R,
    /// The runs before those that are compared, for the report of a mismatch.
    earlier: Vec<Run>,
    tally: Tally,
    /// The names of the registers that count time.
    time_registers: Vec<&'static str>,
}

impl<R: Rtl> Scoreboard<R> {
    /// Takes an engine at its first cycle after reset.
    pub fn new(rtl: R, time_registers: Vec<&'static str>) -> Scoreboard<R> {
        Scoreboard {
            rtl,
            earlier: Vec::with_capacity(BATCH_RUNS),
            tally: Tally::default(),
            time_registers,
        }
    }

    /// Whether the engine leaps over idle time, and there are registers to compare then.
    pub fn leaps(&self) -> bool {
        self.rtl.leaps() && !self.time_registers.is_empty()
    }

    /// What was compared so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// What the engine has reached so far ([`Rtl::code_coverage`]).
    ///
    /// # Errors
    /// If the engine fails.
    pub fn code_coverage(&mut self) -> Result<CodeCoverage, EngineError> {
        self.rtl.code_coverage()
    }

    /// Lets the engine do what is expected, compares, and leaves `expected` empty. `observe` sees
    /// all runs that are equal as a whole, some at a time.
    pub fn compare(
        &mut self,
        expected: &mut Expected,
        observe: &mut impl FnMut(&Tally, &[Run]) -> ControlFlow<()>,
    ) -> Flow {
        let Expected { runs, leaps } = expected;
        let first_cycle = self.tally.passed();
        let mut from = 0;
        for (at, leap) in leaps.drain(..) {
            self.clock(runs, from..at, first_cycle, observe)?;
            self.leap(&runs[..at], &leap, first_cycle, observe)?;
            from = at + usize::from(leap.run.cycles > 0);
        }
        self.clock(runs, from..runs.len(), first_cycle, observe)?;
        if runs.len() >= HISTORY {
            std::mem::swap(runs, &mut self.earlier);
            runs.clear();
        } else {
            self.earlier.append(runs);
            if self.earlier.len() > 2 * BATCH_RUNS {
                self.earlier.drain(..BATCH_RUNS);
            }
        }
        Flow::Continue(())
    }

    /// Clocks a part of the runs, the first of which began in `first_cycle`.
    fn clock(
        &mut self,
        runs: &[Run],
        part: Range<usize>,
        first_cycle: u64,
        observe: &mut impl FnMut(&Tally, &[Run]) -> ControlFlow<()>,
    ) -> Flow {
        let now = &runs[part.clone()];
        if now.is_empty() {
            return Flow::Continue(());
        }
        let difference = match self.rtl.run(now) {
            Ok(difference) => difference,
            Err(error) => return Flow::Break(Err(error)),
        };
        if let Some(mut difference) = difference {
            let at = difference.run as usize;
            self.tally.add(&now[..at]);
            // It ends here, whatever the observer wants.
            let _ = observe(&self.tally, &now[..at]);
            self.tally.add(&[now[at].with_cycles(difference.cycle)]);
            difference.run += part.start as u64;
            let mismatch = Mismatch::new(&difference, first_cycle, runs, &self.earlier);
            return Flow::Break(Ok(Ended::Mismatch(Box::new(mismatch))));
        }
        self.tally.add(now);
        stop_if(observe(&self.tally, now))
    }

    /// Leaps over idle time after the runs `before`, the first of which began in `first_cycle`; over
    /// no cycle, the registers are compared.
    fn leap(
        &mut self,
        before: &[Run],
        leap: &Leap,
        first_cycle: u64,
        observe: &mut impl FnMut(&Tally, &[Run]) -> ControlFlow<()>,
    ) -> Flow {
        let found = match self.rtl.leap(leap) {
            Ok(found) => found,
            Err(error) => return Flow::Break(Err(error)),
        };
        if let Some(found) = found {
            let mut difference = Difference {
                run: before.len() as u64,
                ..Difference::default()
            };
            let mut register = None;
            match found {
                LeapDifference::Pins(actual) => difference.actual = actual,
                LeapDifference::Register(at, actual) => {
                    difference.actual = leap.run.expected_values();
                    register = Some((self.time_registers[at], actual, leap.before[at]));
                }
            }
            let runs = [before, &[leap.run]].concat();
            let mismatch = Mismatch::new(&difference, first_cycle, &runs, &self.earlier);
            return Flow::Break(Ok(Ended::Mismatch(Box::new(Mismatch {
                register,
                ..mismatch
            }))));
        }
        if leap.run.cycles == 0 {
            return Flow::Continue(());
        }
        self.tally.add_leapt(leap);
        stop_if(observe(&self.tally, &[leap.run]))
    }
}

/// Ends the comparison if the observer asks for it.
fn stop_if(observed: ControlFlow<()>) -> Flow {
    match observed {
        ControlFlow::Continue(()) => Flow::Continue(()),
        ControlFlow::Break(()) => Flow::Break(Ok(Ended::Stopped)),
    }
}
