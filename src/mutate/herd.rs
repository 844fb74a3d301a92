//! Many faulty versions of a design in lock step with one golden model.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{ensure, Result};

use super::results::Fate;
use crate::cosim::verilator::{Compiled, Engine};
use crate::cosim::{Difference, EngineError, Leap, LeapDifference, Rtl, Run};

/// What has become of each fault so far; `None`: it has not shown.
#[derive(Clone)]
pub(super) struct Fates(Arc<Mutex<State>>);

struct State {
    fates: Vec<Option<Fate>>,
    /// The intact design has departed from its golden model in this cycle.
    broken: Option<u64>,
}

impl Fates {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set(&self, at: usize, fate: Fate) {
        self.lock().fates[at] = Some(fate);
    }

    /// The faults that have not shown.
    pub(super) fn unknown(&self) -> Vec<usize> {
        let state = self.lock();
        (0..state.fates.len())
            .filter(|&at| state.fates[at].is_none())
            .collect()
    }

    /// An error if the intact design, too, departs from the golden model.
    pub(super) fn check_intact(&self) -> Result<()> {
        let broken = self.lock().broken;
        ensure!(
            broken.is_none(),
            "the design without a fault differs from its golden model in cycle {}: run \
             `linkdoze cosim --random` first",
            broken.unwrap_or(0)
        );
        Ok(())
    }

    /// All of them; what has not shown survives.
    pub(super) fn take(&self) -> Vec<Fate> {
        let state = self.lock();
        let fates = state.fates.iter();
        fates
            .map(|fate| fate.clone().unwrap_or(Fate::Survived))
            .collect()
    }
}

/// The intact design and one instance for each fault.
pub(super) struct Herd {
    intact: Engine,
    /// With the number of the fault, from 0.
    faulty: Vec<(usize, Engine)>,
    fates: Fates,
    /// Cycles so far.
    passed: u64,
}

impl Herd {
    /// Instances of a model with so many faults to choose from, just after reset.
    pub(super) fn new(model: &Compiled, count: usize) -> Result<Herd, EngineError> {
        let fates = Fates(Arc::new(Mutex::new(State {
            fates: vec![None; count],
            broken: None,
        })));
        let mut faulty = Vec::new();
        for at in 0..count {
            match model.engine_with(at as u64 + 1) {
                Ok(engine) => faulty.push((at, engine)),
                Err(error) => fates.set(at, Fate::Fails { why: error.message }),
            }
        }
        Ok(Herd {
            intact: model.engine_with(0)?,
            faulty,
            fates,
            passed: 0,
        })
    }

    pub(super) fn fates(&self) -> Fates {
        self.fates.clone()
    }

    /// Runs each instance that is left; `run` tells the cycle, from now, in which it differs.
    fn each(
        &mut self,
        mut run: impl FnMut(&mut Engine) -> Result<Option<u64>, EngineError>,
    ) -> Result<bool, EngineError> {
        if let Some(cycle) = run(&mut self.intact)? {
            self.fates.lock().broken = Some(self.passed + cycle);
            return Ok(true);
        }
        let (fates, passed) = (self.fates.clone(), self.passed);
        // Of some it has become known that they are none.
        self.faulty
            .retain(|(at, _)| fates.lock().fates[*at].is_none());
        self.faulty.retain_mut(|(at, engine)| {
            match run(engine) {
                Ok(None) => return true,
                Ok(Some(cycle)) => fates.set(
                    *at,
                    Fate::Killed {
                        cycle: passed + cycle,
                    },
                ),
                Err(error) => fates.set(*at, Fate::Fails { why: error.message }),
            }
            false
        });
        Ok(self.faulty.is_empty())
    }
}

/// As an engine it agrees until there is nothing left to compare.
impl Rtl for Herd {
    fn run(&mut self, runs: &[Run]) -> Result<Option<Difference>, EngineError> {
        if runs.is_empty() {
            return Ok(None);
        }
        let over = self.each(|engine| {
            let difference = engine.run(runs)?;
            Ok(difference.map(|found| {
                let before = &runs[..found.run as usize];
                before.iter().map(|run| run.cycles).sum::<u64>() + found.cycle
            }))
        })?;
        self.passed += runs.iter().map(|run| run.cycles).sum::<u64>();
        Ok(over.then(Difference::default))
    }

    fn leaps(&self) -> bool {
        self.intact.leaps()
    }

    fn leap(&mut self, leap: &Leap) -> Result<Option<LeapDifference>, EngineError> {
        let over = self.each(|engine| Ok(engine.leap(leap)?.map(|_| 0)))?;
        self.passed += leap.run.cycles;
        Ok(over.then_some(LeapDifference::Register(0, 0)))
    }

    /// Each cycle is clocked by every instance.
    fn batch_cycles(&self) -> u64 {
        (1 << 22) / (self.faulty.len() as u64 + 1)
    }
}
