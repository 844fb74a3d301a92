//! The driver: golden model, activity and engine, cycle by cycle but in long strides.

use std::ops::ControlFlow;

use super::{Activity, CodeCoverage, EngineError, Leap, LeapDifference, Model, Rtl, Run};
use crate::blocks::port::model::Refreshes;
use crate::blocks::port::pins::{Inputs, Pin, PowerState, Values};

/// Runs handed to the engine at once: enough that the call costs nothing, few enough to
/// stay in the first-level cache, together with those before them.
const BATCH_RUNS: usize = 128;

/// Idle time shorter than this is clocked.
const LEAST_LEAP: u64 = 64;

/// So many cycles at each end of a leap are clocked: what a change leads to shows, and what ends
/// the idle time is not missed.
const CLOCKED_AROUND: u64 = 6;

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

    /// Takes in idle time that was not clocked; `refreshing`: so much of a link that sleeps deeply is
    /// quiet, and so much is refresh.
    pub fn add_leapt(&mut self, run: &Run, refreshing: Option<[u64; 2]>) {
        let compared = self.cycles;
        let states = self.state_cycles;
        self.add(&[*run]);
        self.leapt += self.cycles - compared;
        self.cycles = compared;
        if let Some([quiet, refresh]) = refreshing {
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

/// A golden model and an engine of the same controller, both just after reset.
pub struct LockStep<M, R> {
    golden: M,
    rtl: R,
    batch: Vec<Run>,
    earlier: Vec<Run>,
    tally: Tally,
    /// The names of the registers that count time.
    time_registers: Vec<&'static str>,
    leaps: bool,
}

impl<M: Model, R: Rtl> LockStep<M, R> {
    /// Takes both at their first cycle after reset.
    pub fn new(golden: M, rtl: R) -> LockStep<M, R> {
        let time_registers = golden.time_registers();
        LockStep {
            time_registers: time_registers.into_iter().map(|(name, _)| name).collect(),
            leaps: false,
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

    /// What the engine has reached so far ([`Rtl::code_coverage`]).
    ///
    /// # Errors
    /// If the engine fails.
    pub fn code_coverage(&mut self) -> Result<CodeCoverage, EngineError> {
        self.rtl.code_coverage()
    }

    /// Leaps over idle time where the engine can ([`Leap`]), instead of clocking it.
    #[must_use]
    pub fn leaping(mut self) -> Self {
        self.leaps = self.rtl.leaps() && !self.time_registers.is_empty();
        self
    }

    /// Whether idle time is leapt over.
    pub fn leaps(&self) -> bool {
        self.leaps
    }

    /// Clocks both with `activity` for at most `cycles` further cycles; idle time that the engine
    /// leaps over does not count. `observe` sees every batch of runs that was compared and equal,
    /// with the tally so far, and may stop the run.
    ///
    /// # Errors
    /// If the engine fails.
    pub fn drive<A: Activity + ?Sized>(
        &mut self,
        activity: &mut A,
        cycles: u64,
        mut observe: impl FnMut(&Tally, &[Run]) -> ControlFlow<()>,
    ) -> Result<Ended, EngineError> {
        let most_cycles = self.rtl.batch_cycles();
        let mut left = cycles;
        let mut batch_cycles = 0;
        let mut outputs = self.golden.outputs().pack();
        while left > 0 {
            // Looked at where it lies: copying what was just written takes its time.
            let next = activity.next(&outputs);
            let Some(stretch) = &next else {
                return Ok(self.compare(&mut observe)?.unwrap_or(Ended::ActivityOver));
            };
            let mut rest = stretch.cycles;
            let mut leapt = 0;
            while rest > 0 && left > 0 {
                let is_long = self.leaps && rest >= LEAST_LEAP + 2 * CLOCKED_AROUND;
                let leap = match is_long {
                    true => self.possible_leap(&stretch.inputs, rest),
                    false => 0,
                };
                let most = match (leap, is_long) {
                    (0, false) => rest.min(left).min(most_cycles),
                    // Something is under way yet.
                    (0, true) => LEAST_LEAP.min(left),
                    _ => CLOCKED_AROUND.min(left),
                };
                let at = self.batch.len();
                self.batch.push(Run::one_cycle(stretch.inputs, outputs));
                let clocked = (self.golden).advance_from(&mut outputs, &stretch.inputs, most);
                let run = &mut self.batch[at];
                run.cycles = clocked;
                let ends = stretch.until_change && !run.expects(&outputs);
                batch_cycles += clocked;
                left -= clocked;
                rest -= clocked;
                let leap = if clocked == CLOCKED_AROUND { leap } else { 0 };
                if self.batch.len() >= BATCH_RUNS || batch_cycles >= most_cycles || leap > 0 {
                    batch_cycles = 0;
                    if let Some(ended) = self.compare(&mut observe)? {
                        return Ok(ended);
                    }
                }
                if ends {
                    break;
                }
                if leap > 0 {
                    if let Some(ended) = self.leap(&stretch.inputs, leap, &mut observe)? {
                        return Ok(ended);
                    }
                    rest -= leap;
                    leapt += leap;
                }
            }
            // What went wrong since is to show before the next sample hides it.
            if leapt > 0 && self.golden.quiet(&stretch.inputs) > 0 {
                batch_cycles = 0;
                if let Some(ended) = self.compare(&mut observe)? {
                    return Ok(ended);
                }
                if let Some(ended) = self.leap(&stretch.inputs, 0, &mut observe)? {
                    return Ok(ended);
                }
            }
            activity.passed(stretch.cycles - rest, leapt);
        }
        Ok(self.compare(&mut observe)?.unwrap_or(Ended::Complete))
    }

    /// How many idle cycles may be leapt over after [`CLOCKED_AROUND`] more are clocked, of `rest`
    /// with these inputs; 0 if it is not worth it.
    fn possible_leap(&self, inputs: &Inputs, rest: u64) -> u64 {
        let within = |quiet: u64| quiet.min(rest).saturating_sub(2 * CLOCKED_AROUND);
        let quiet = within(self.golden.quiet(inputs));
        // From one refresh to another in the same place, over those between.
        let refreshes = self.golden.refreshes(inputs).map_or(0, |it| {
            let period = it.period();
            within(it.cycles) / period * period
        });
        match quiet.max(refreshes) {
            short if short < LEAST_LEAP => 0,
            cycles => cycles,
        }
    }

    /// Leaps over `cycles` idle cycles; over none, the registers are compared.
    fn leap(
        &mut self,
        inputs: &Inputs,
        cycles: u64,
        observe: &mut impl FnMut(&Tally, &[Run]) -> ControlFlow<()>,
    ) -> Result<Option<Ended>, EngineError> {
        let values = |golden: &M| -> Vec<u64> {
            let registers = golden.time_registers();
            registers.into_iter().map(|(_, value)| value).collect()
        };
        let run = Run::new(cycles, inputs, &self.golden.outputs());
        let before = values(&self.golden);
        let mut refreshing = None;
        let refreshes = self.golden.refreshes(inputs);
        match refreshes.filter(|_| cycles > self.golden.quiet(inputs)) {
            Some(refreshes) => {
                let periods = cycles / refreshes.period();
                self.golden.pass_refreshes(inputs, periods);
                let Refreshes { times, .. } = refreshes;
                refreshing = Some([periods * times.t_q, periods * times.t_r]);
            }
            None if cycles > 0 => {
                self.golden.advance(inputs, cycles);
            }
            None => {}
        }
        let leap = Leap {
            run,
            before,
            after: values(&self.golden),
        };
        let first_cycle = self.tally.passed();
        if let Some(found) = self.rtl.leap(&leap)? {
            let mut difference = super::Difference::default();
            let mut register = None;
            match found {
                LeapDifference::Pins(actual) => difference.actual = actual,
                LeapDifference::Register(at, actual) => {
                    difference.actual = run.expected_values();
                    register = Some((self.time_registers[at], actual, leap.before[at]));
                }
            }
            let mismatch = Mismatch::new(&difference, first_cycle, &[run], &self.earlier);
            return Ok(Some(Ended::Mismatch(Box::new(Mismatch {
                register,
                ..mismatch
            }))));
        }
        if cycles == 0 {
            return Ok(None);
        }
        self.tally.add_leapt(&run, refreshing);
        let flow = observe(&self.tally, &[run]);
        self.earlier.push(run);
        Ok(flow.is_break().then_some(Ended::Stopped))
    }

    fn compare(
        &mut self,
        observe: &mut impl FnMut(&Tally, &[Run]) -> ControlFlow<()>,
    ) -> Result<Option<Ended>, EngineError> {
        let first_cycle = self.tally.passed();
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
        let flow = observe(&self.tally, &self.batch);
        if self.batch.len() >= HISTORY {
            std::mem::swap(&mut self.batch, &mut self.earlier);
            self.batch.clear();
        } else {
            self.earlier.append(&mut self.batch);
            if self.earlier.len() > 2 * BATCH_RUNS {
                self.earlier.drain(..BATCH_RUNS);
            }
        }
        Ok(flow.is_break().then_some(Ended::Stopped))
    }
}
