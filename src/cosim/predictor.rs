//! The golden model's half of a lock step: what the hardware is expected to do.

use std::ops::ControlFlow;

use super::{Activity, Leap, Model, Run};
use crate::blocks::port::model::Refreshes;
use crate::blocks::port::pins::{Inputs, PackedOutputs};

/// Runs that are made before the engine gets them: enough that the call costs nothing, few enough to
/// stay in the first-level cache, together with those before them.
pub(super) const BATCH_RUNS: usize = 128;

/// Idle time shorter than this is clocked.
const LEAST_LEAP: u64 = 64;

/// So many cycles at each end of a leap are clocked: what a change leads to shows, and what ends
/// the idle time is not missed.
const CLOCKED_AROUND: u64 = 6;

/// What the golden model did, for the engine to do the same.
#[derive(Default)]
pub(super) struct Expected {
    /// Consecutive runs, those that are leapt over among them.
    pub runs: Vec<Run>,
    /// Idle time that is not clocked, each with the index of its run; where it is over no cycle,
    /// it has no run, and comes before the one of that index.
    pub leaps: Vec<(usize, Leap)>,
}

/// A golden model, and how its runs are put together.
pub(super) struct Predictor<M> {
    golden: M,
    /// Idle time is leapt over.
    pub leaps: bool,
    /// Clocked cycles to give at once, about ([`super::Rtl::batch_cycles`]).
    pub batch_cycles: u64,
}

impl<M: Model> Predictor<M> {
    /// Takes a golden model at its first cycle after reset.
    pub fn new(golden: M, batch_cycles: u64) -> Predictor<M> {
        Predictor {
            golden,
            leaps: false,
            batch_cycles,
        }
    }

    /// Clocks the golden model with `activity` for at most `cycles` further cycles; idle time that is
    /// leapt over does not count. `give` gets what is expected, some `batch_runs` runs at a time, and leaves
    /// an empty batch in its place; it may ask for no more. Otherwise the result is whether the
    /// activity was over before.
    pub fn predict<A: Activity + ?Sized, B>(
        &mut self,
        activity: &mut A,
        cycles: u64,
        batch_runs: usize,
        mut give: impl FnMut(&mut Expected) -> ControlFlow<B>,
    ) -> ControlFlow<B, bool> {
        let most_cycles = self.batch_cycles;
        let mut left = cycles;
        let mut expected = Expected::default();
        let mut batch_cycles = 0;
        let mut outputs = self.golden.outputs().pack();
        while left > 0 {
            // Looked at where it lies: copying what was just written takes its time.
            let next = activity.next(&outputs);
            let Some(stretch) = &next else {
                give(&mut expected)?;
                return ControlFlow::Continue(true);
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
                let at = expected.runs.len();
                expected.runs.push(Run::one_cycle(stretch.inputs, outputs));
                let clocked = (self.golden).advance_from(&mut outputs, &stretch.inputs, most);
                let run = &mut expected.runs[at];
                run.cycles = clocked;
                let ends = stretch.until_change && !run.expects(&outputs);
                batch_cycles += clocked;
                left -= clocked;
                rest -= clocked;
                if leap > 0 && clocked == CLOCKED_AROUND && !ends {
                    let leap = self.leap(&stretch.inputs, &outputs, leap);
                    rest -= leap.run.cycles;
                    leapt += leap.run.cycles;
                    let run = leap.run;
                    expected.leaps.push((expected.runs.len(), leap));
                    expected.runs.push(run);
                }
                if expected.runs.len() >= batch_runs || batch_cycles >= most_cycles {
                    batch_cycles = 0;
                    give(&mut expected)?;
                }
                if ends {
                    break;
                }
            }
            // What went wrong since is to show before the next sample hides it.
            if leapt > 0 && self.golden.quiet(&stretch.inputs) > 0 {
                let leap = self.leap(&stretch.inputs, &outputs, 0);
                expected.leaps.push((expected.runs.len(), leap));
            }
            activity.passed(stretch.cycles - rest, leapt);
        }
        give(&mut expected)?;
        ControlFlow::Continue(false)
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

    /// Leaps over `cycles` idle cycles, in which the outputs are these.
    fn leap(&mut self, inputs: &Inputs, outputs: &PackedOutputs, cycles: u64) -> Leap {
        let before = self.time_values();
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
        Leap {
            run: Run::one_cycle(*inputs, *outputs).with_cycles(cycles),
            before,
            after: self.time_values(),
            refreshing,
        }
    }

    /// What the registers that count time hold.
    fn time_values(&self) -> Vec<u64> {
        let registers = self.golden.time_registers();
        registers.into_iter().map(|(_, value)| value).collect()
    }
}
