//! The driver: golden model, activity and engine, cycle by cycle but in long strides.

use std::ops::ControlFlow;

use super::predictor::{Predictor, BATCH_RUNS};
use super::scoreboard::{Ended, Scoreboard, Tally};
use super::two_threads::on_two_threads;
use super::{Activity, CodeCoverage, EngineError, Model, Rtl, Run};

/// Runs handed to the engine at once where it has a thread of its own: waking the other thread
/// takes some microseconds, and these take a hundred.
const THREAD_BATCH_RUNS: usize = 8 * BATCH_RUNS;

/// A golden model and an engine of the same controller, both just after reset.
pub struct LockStep<M, R> {
    predictor: Predictor<M>,
    scoreboard: Scoreboard<R>,
}

impl<M: Model, R: Rtl> LockStep<M, R> {
    /// Takes both at their first cycle after reset.
    pub fn new(golden: M, rtl: R) -> LockStep<M, R> {
        let registers = golden.time_registers().into_iter();
        let names = registers.map(|(name, _)| name).collect();
        LockStep {
            predictor: Predictor::new(golden, rtl.batch_cycles()),
            scoreboard: Scoreboard::new(rtl, names),
        }
    }

    /// What was compared so far.
    pub fn tally(&self) -> &Tally {
        self.scoreboard.tally()
    }

    /// What the engine has reached so far ([`Rtl::code_coverage`]).
    ///
    /// # Errors
    /// If the engine fails.
    pub fn code_coverage(&mut self) -> Result<CodeCoverage, EngineError> {
        self.scoreboard.code_coverage()
    }

    /// Leaps over idle time where the engine can ([`super::Leap`]), instead of clocking it.
    #[must_use]
    pub fn leaping(mut self) -> Self {
        self.predictor.leaps = self.scoreboard.leaps();
        self
    }

    /// Whether idle time is leapt over.
    pub fn leaps(&self) -> bool {
        self.predictor.leaps
    }

    /// Clocks both with `activity` for at most `cycles` cycles; idle time that the engine leaps over
    /// does not count. `observe` sees all runs that are equal as a whole, some at a time, with the
    /// tally so far, and may stop the run. Once stopped, or after a difference, the pair is not to be
    /// driven further: the golden model is ahead.
    ///
    /// # Errors
    /// If the engine fails.
    pub fn drive<A: Activity + ?Sized>(
        &mut self,
        activity: &mut A,
        cycles: u64,
        mut observe: impl FnMut(&Tally, &[Run]) -> ControlFlow<()>,
    ) -> Result<Ended, EngineError> {
        let scoreboard = &mut self.scoreboard;
        let flow = (self.predictor).predict(activity, cycles, BATCH_RUNS, |expected| {
            scoreboard.compare(expected, &mut observe)
        });
        match flow {
            ControlFlow::Continue(over) => Ok(Ended::all_equal(over)),
            ControlFlow::Break(ended) => ended,
        }
    }

    /// The same, the golden model and its activity in a thread of their own. Engine and observer stay in
    /// this one.
    ///
    /// # Errors
    /// If the engine fails.
    pub fn drive_on_two_threads<A: Activity + Send + ?Sized>(
        &mut self,
        activity: &mut A,
        cycles: u64,
        mut observe: impl FnMut(&Tally, &[Run]) -> ControlFlow<()>,
    ) -> Result<Ended, EngineError>
    where
        M: Send,
    {
        let LockStep {
            predictor,
            scoreboard,
        } = self;
        let flow = on_two_threads(
            |give| predictor.predict(activity, cycles, THREAD_BATCH_RUNS, give),
            |expected| scoreboard.compare(expected, &mut observe),
        );
        match flow {
            ControlFlow::Break(ended) => ended,
            ControlFlow::Continue(ControlFlow::Continue(over)) => Ok(Ended::all_equal(over)),
            ControlFlow::Continue(ControlFlow::Break(())) => {
                unreachable!("a prediction is told to end by a verdict alone")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::port::golden;
    use crate::blocks::port::pins::{Inputs, PackedOutputs, Values};
    use crate::cosim::fixture::small_plan;
    use crate::cosim::line_rate::LineRate;
    use crate::cosim::random::Random;
    use crate::cosim::{Difference, Leap, LeapDifference, Stretch};

    const CYCLES: u64 = 100_000;

    /// What the engine is to do, up to which cycle.
    #[derive(Clone, Copy, PartialEq)]
    enum Does {
        Agree,
        /// Of a leap over this cycle, a register, or else a pin.
        Differ(u64, bool),
        /// A register, in the first comparison after idle time that comes after this cycle.
        DifferAfter(u64),
        Fail(u64),
    }

    /// An engine that does with a golden model of its own what it is given, up to a cycle, and writes it
    /// down.
    struct Scripted {
        does: Does,
        golden: golden::Port,
        runs: Vec<Run>,
        leaps: Vec<(u64, Leap)>,
        passed: u64,
    }

    impl Scripted {
        fn new(does: Does, golden: golden::Port) -> Scripted {
            Scripted {
                does,
                golden,
                runs: Vec::new(),
                leaps: Vec::new(),
                passed: 0,
            }
        }

        fn registers(&self) -> Vec<u64> {
            let registers = self.golden.time_registers().into_iter();
            registers.map(|(_, value)| value).collect()
        }

        fn clock(&mut self, inputs: &Inputs, cycles: u64) {
            let mut left = cycles;
            while left > 0 {
                left -= self.golden.advance(inputs, left);
            }
            self.passed += cycles;
        }
    }

    impl Rtl for &mut Scripted {
        fn run(&mut self, runs: &[Run]) -> Result<Option<Difference>, EngineError> {
            for (index, run) in runs.iter().enumerate() {
                let end = self.passed + run.cycles;
                match self.does {
                    Does::Differ(at, _) if at < end => {
                        return Ok(Some(Difference {
                            run: index as u64,
                            cycle: at - self.passed,
                            actual: Values::default(),
                        }));
                    }
                    Does::Fail(at) if at < end => {
                        return Err(EngineError::new("scripted", "fails"))
                    }
                    _ => {}
                }
                assert!(run.expects(&self.golden.outputs().pack()));
                self.clock(&run.inputs, run.cycles);
                self.runs.push(*run);
            }
            Ok(None)
        }

        fn leaps(&self) -> bool {
            true
        }

        fn leap(&mut self, leap: &Leap) -> Result<Option<LeapDifference>, EngineError> {
            let register = LeapDifference::Register(0, WRONG);
            match self.does {
                Does::Differ(at, register_first) if at < self.passed + leap.run.cycles => {
                    return Ok(Some(match register_first {
                        true => register,
                        false => LeapDifference::Pins(Values::default()),
                    }))
                }
                Does::DifferAfter(at) if at < self.passed && leap.run.cycles == 0 => {
                    return Ok(Some(register))
                }
                Does::Fail(at) if at < self.passed + leap.run.cycles => {
                    return Err(EngineError::new("scripted", "fails"))
                }
                _ => {}
            }
            // What the leap says is what clocking it comes to.
            assert!(leap.run.expects(&self.golden.outputs().pack()));
            assert_eq!(self.registers(), leap.before);
            self.clock(&leap.run.inputs, leap.run.cycles);
            assert_eq!(self.registers(), leap.after);
            self.leaps.push((self.passed, leap.clone()));
            Ok(None)
        }
    }

    /// What no register that counts time holds.
    const WRONG: u64 = 1 << 40;

    /// How a run ended, what the engine was given, and what was observed.
    type Course = (Result<Ended, String>, Tally, Vec<Run>, Vec<(u64, Leap)>);

    /// A run on one thread or two; the observer stops it in cycle `stop`.
    fn course(
        does: Does,
        leaps: bool,
        two_threads: bool,
        stop: u64,
        activity: &mut (dyn Activity + Send),
    ) -> Course {
        let plan = small_plan();
        let mut engine = Scripted::new(does, golden::Port::new(&plan));
        let mut pair = LockStep::new(golden::Port::new(&plan), &mut engine);
        if leaps {
            pair = pair.leaping();
        }
        assert_eq!(pair.leaps(), leaps);
        let (mut observed, mut in_order) = (0, true);
        let observe = |tally: &Tally, runs: &[Run]| {
            observed += runs.iter().map(|run| run.cycles).sum::<u64>();
            in_order &= observed == tally.passed();
            match tally.passed() >= stop {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let ended = match two_threads {
            true => pair.drive_on_two_threads(activity, CYCLES, observe),
            false => pair.drive(activity, CYCLES, observe),
        };
        let tally = *pair.tally();
        assert!(in_order);
        let ended = ended.map_err(|error| error.to_string());
        (ended, tally, engine.runs, engine.leaps)
    }

    fn random(leaps: bool) -> Random {
        Random::new(&small_plan(), 7, CYCLES, leaps)
    }

    #[test]
    fn two_threads_compare_what_one_does() {
        for leaps in [false, true] {
            let all = u64::MAX;
            let one = course(Does::Agree, leaps, false, all, &mut random(leaps));
            let two = course(Does::Agree, leaps, true, all, &mut random(leaps));
            assert_eq!(one, two);
            let (ended, tally, runs, leapt) = one;
            assert_eq!(ended, Ok(Ended::Complete));
            assert_eq!(tally.cycles, CYCLES);
            assert!(runs.len() > 4 * THREAD_BATCH_RUNS, "{}", runs.len());
            assert_eq!(tally.leapt > 0, leaps);
            // With leaps over no cycle, in which the registers are compared.
            let idle: u64 = leapt.iter().map(|(_, leap)| leap.run.cycles).sum();
            assert_eq!(idle, tally.leapt);
            assert_eq!(leapt.iter().any(|(_, it)| it.run.cycles == 0), leaps);
        }
    }

    #[test]
    fn a_difference_is_the_same_on_two_threads() {
        for leaps in [false, true] {
            let passes = course(Does::Agree, leaps, false, u64::MAX, &mut random(leaps));
            let (_, tally, ..) = passes;
            let mut of_registers = 0;
            for part in 0..40 {
                let at = part * tally.passed() / 40;
                let does = Does::Differ(at, part % 2 == 0);
                let one = course(does, leaps, false, u64::MAX, &mut random(leaps));
                let two = course(does, leaps, true, u64::MAX, &mut random(leaps));
                assert_eq!(one, two);
                let Ok(Ended::Mismatch(found)) = one.0 else {
                    panic!("no mismatch in cycle {at}");
                };
                // A leap is compared in its first cycle.
                assert!(found.cycle <= at);
                match found.register {
                    None => assert!(found.cycle == at || leaps),
                    Some((_, actual, _)) => {
                        assert_eq!(actual, WRONG);
                        of_registers += 1;
                    }
                }
                assert_eq!(one.1.passed(), found.cycle);
                // What came before it ends with it, without a gap.
                let mut next = found.history[0].0;
                for (first, run) in &found.history {
                    assert_eq!(*first, next);
                    next += run.cycles;
                }
                assert_eq!(next, found.cycle + 1);
                assert!(at == 0 || found.history.len() > 5);
            }
            assert_eq!(of_registers > 0, leaps);
        }
        // After idle time the registers are compared once more.
        let does = Does::DifferAfter(CYCLES);
        let one = course(does, true, false, u64::MAX, &mut random(true));
        assert_eq!(one, course(does, true, true, u64::MAX, &mut random(true)));
        let Ok(Ended::Mismatch(found)) = one.0 else {
            panic!("no mismatch after idle time");
        };
        let (_, actual, expected) = found.register.unwrap();
        assert!(actual == WRONG && expected < WRONG);
        assert_eq!(found.cycle, one.1.passed());
    }

    #[test]
    fn a_failure_and_an_end_come_back_from_two_threads() {
        for two_threads in [false, true] {
            for leaps in [false, true] {
                let fails = Does::Fail(CYCLES / 2);
                let (ended, ..) = course(fails, leaps, two_threads, u64::MAX, &mut random(leaps));
                assert_eq!(ended, Err("the scripted engine failed: fails".to_owned()));
            }

            let stop = CYCLES / 3;
            let (ended, tally, ..) =
                course(Does::Agree, false, two_threads, stop, &mut random(false));
            assert_eq!(ended, Ok(Ended::Stopped));
            assert!(tally.passed() >= stop && tally.passed() < CYCLES);

            let mut short = Short(LineRate::new(1), 30);
            let (ended, tally, ..) = course(Does::Agree, false, two_threads, u64::MAX, &mut short);
            assert_eq!(ended, Ok(Ended::ActivityOver));
            assert!(tally.cycles >= 30 && tally.cycles < 1000);
        }
    }

    /// An activity that ends after some stretches.
    struct Short(LineRate, u64);

    impl Activity for Short {
        fn next(&mut self, outputs: &PackedOutputs) -> Option<Stretch> {
            self.1 = self.1.checked_sub(1)?;
            self.0.next(outputs)
        }
    }
}
