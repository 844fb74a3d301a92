//! The hardware in the loop: an engine in the place of a port's controller. What it puts on
//! its pins decides when packets leave and when the link sleeps.
//!
//! A golden model goes along. It says for how long nothing will happen, so that the hardware
//! is clocked many cycles at a time, and every output of the hardware is compared with its
//! outputs in every cycle. From the first difference on the hardware goes on alone, a cycle
//! at a time: what it does then shows in the results of the simulation.

use std::sync::{Arc, Mutex, PoisonError};

use super::open_loop::OpenLoop;
use super::{Difference, EngineError, Model, Rtl, Run};
use crate::blocks::port::controller::PowerController;
use crate::blocks::port::golden;
use crate::blocks::port::pins::{Inputs, Outputs};
use crate::config::plan::PortPlan;

/// What an engine in the loop has done so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Cycles that were compared, output by output.
    pub cycles: u64,
    /// The first cycle in which the outputs differed, counted from reset.
    pub mismatch: Option<u64>,
    /// Why the engine failed, if it did.
    pub failure: Option<String>,
}

/// Findings that can be read while the engine runs elsewhere.
pub type Shared = Arc<Mutex<Findings>>;

/// An engine that takes the place of a controller.
pub struct InLoop<E> {
    engine: E,
    /// Until the first difference.
    golden: Option<golden::Port>,
    outputs: Outputs,
    messages: bool,
    per_direction: bool,
    findings: Shared,
}

impl<E: Rtl + OpenLoop> InLoop<E> {
    /// An engine just after reset, for `plan`; what it does is told in `findings`.
    pub fn new(engine: E, plan: &PortPlan, findings: Shared) -> Self {
        let golden = golden::Port::new(plan);
        Self {
            engine,
            outputs: golden.outputs(),
            messages: golden.exchanges_messages(),
            per_direction: golden.per_direction(),
            golden: Some(golden),
            findings,
        }
    }

    /// Clocks the engine, whose outputs stay as they are, and reads the outputs after that.
    fn compared(&mut self, inputs: &Inputs, cycles: u64) -> Result<u64, EngineError> {
        let run = Run::new(cycles, inputs, &self.outputs);
        let (clocked, actual) = match self.engine.run(&[run])? {
            None => (cycles, self.engine.pass(inputs, 0)?),
            Some(Difference { cycle, actual, .. }) => {
                self.note(|findings, before| {
                    findings.mismatch.get_or_insert(before + cycle);
                });
                self.golden = None;
                (cycle, Outputs::decode(&actual))
            }
        };
        self.outputs = actual;
        Ok(clocked)
    }

    fn note(&self, change: impl FnOnce(&mut Findings, u64)) {
        let mut findings = self.findings.lock().unwrap_or_else(PoisonError::into_inner);
        let before = findings.cycles;
        change(&mut findings, before);
    }
}

impl<E: Rtl + OpenLoop> Model for InLoop<E> {
    fn outputs(&self) -> Outputs {
        self.outputs
    }

    fn advance(&mut self, inputs: &Inputs, max: u64) -> u64 {
        let result = match &mut self.golden {
            Some(golden) => {
                let quiet = golden.advance(inputs, max);
                self.compared(inputs, quiet)
            }
            None => self.engine.pass(inputs, 1).map(|actual| {
                self.outputs = actual;
                1
            }),
        };
        let clocked = match result {
            Ok(clocked) => clocked.max(1),
            Err(error) => {
                self.golden = None;
                self.note(|findings, _| {
                    findings.failure.get_or_insert(error.to_string());
                });
                max
            }
        };
        // The first output that differs is one that the golden model has just got, too.
        if let Some(golden) = &self.golden {
            if golden.outputs() != self.outputs {
                self.golden = None;
                self.note(|findings, before| {
                    findings.mismatch.get_or_insert(before + clocked);
                });
            }
        }
        self.note(|findings, _| findings.cycles += clocked);
        clocked
    }
}

impl<E: Rtl + OpenLoop> PowerController for InLoop<E> {
    fn quiet_cycles(&self, inputs: &Inputs) -> u64 {
        let golden = self.golden.as_ref();
        golden.map_or(1, |golden| golden.quiet_cycles(inputs))
    }

    fn outward_quiet_cycles(&self, inputs: &Inputs) -> u64 {
        let golden = self.golden.as_ref();
        golden.map_or(1, |golden| golden.outward_quiet_cycles(inputs))
    }

    fn exchanges_messages(&self) -> bool {
        self.messages
    }

    fn per_direction(&self) -> bool {
        self.per_direction
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::port::pins::PowerState;
    use crate::config::Config;
    use crate::cosim::native::Native;
    use crate::cosim::port::PortDesign;
    use crate::cosim::Design;

    fn plan(t_pdt: u64) -> PortDesign {
        let text = format!("[port]\npolicy = \"fixed\"\nt_pdt_ns = {t_pdt}\nsync = \"levels\"\n");
        PortDesign::new(&Config::parse(&text, "port.toml").unwrap()).unwrap()
    }

    /// Busy, then idle for as long as it takes to fall asleep.
    fn drive(model: &mut impl PowerController, cycles: u64) -> Vec<(u64, Outputs)> {
        let mut seen = Vec::new();
        let mut cycle = 0;
        while cycle < cycles {
            let busy = cycle < 50;
            let pins = [Inputs::quiet(), Inputs::sending()];
            let inputs = pins[usize::from(busy)];
            let end = if busy { 50 } else { cycles };
            cycle += model.advance(&inputs, end - cycle);
            seen.push((cycle, model.outputs()));
        }
        seen
    }

    #[test]
    fn hardware_in_the_loop_does_what_the_golden_model_does() {
        let design = plan(700);
        let findings = Shared::default();
        let engine = Native::new(design.native().unwrap(), design.plan()).unwrap();
        let mut hardware = InLoop::new(engine, design.plan(), Arc::clone(&findings));
        let seen = drive(&mut hardware, 10_000);
        assert_eq!(seen, drive(&mut design.golden(), 10_000));
        let sleeps = |(_, outputs): &(u64, Outputs)| outputs.power_state == PowerState::DeepSleep;
        assert!(seen.iter().any(sleeps), "{seen:?}");
        let findings = findings.lock().unwrap();
        assert_eq!((findings.cycles, findings.mismatch), (10_000, None));
    }

    #[test]
    fn other_hardware_is_found_out_and_decides_all_the_same() {
        let (design, other) = (plan(700), plan(900));
        let findings = Shared::default();
        let engine = Native::new(other.native().unwrap(), other.plan()).unwrap();
        let mut hardware = InLoop::new(engine, design.plan(), Arc::clone(&findings));
        let falls = |seen: &[(u64, Outputs)]| {
            let down =
                |(_, outputs): &&(u64, Outputs)| outputs.power_state == PowerState::GoingDown;
            seen.iter().find(down).map(|(cycle, _)| *cycle)
        };
        let seen = drive(&mut hardware, 10_000);
        assert_eq!(falls(&seen), falls(&drive(&mut other.golden(), 10_000)));
        assert_ne!(falls(&seen), falls(&drive(&mut design.golden(), 10_000)));
        assert!(findings.lock().unwrap().mismatch.is_some());
    }
}
