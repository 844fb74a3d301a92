//! What the blocks' lock-step tests share: a block under rust_hdl's simulation, driven
//! pin by pin.

use proptest::prelude::*;
use rust_hdl_core::block::Block;

use crate::blocks::port::pins::{Inputs, Outputs};
use crate::config::plan::PortPlan;
use crate::hdl::sim::Simulator;

/// `make test-all` sets it.
const ALL_CASES: &str = "LINKDOZE_ALL_CASES";

/// Of so many random cases one in twelve; all of them with `make test-all`.
pub(crate) fn cases(all: u32) -> ProptestConfig {
    ProptestConfig::with_cases(all.div_ceil(unless_all(12) as u32))
}

/// A third of so many clock cycles of a large design; all of them with `make test-all`.
pub(crate) fn cycles(all: usize) -> usize {
    all.div_ceil(unless_all(3))
}

/// One in `step` of what is tested alike; all of it with `make test-all`.
pub(crate) fn share<T>(all: &[T], step: usize) -> impl Iterator<Item = &T> {
    all.iter().step_by(unless_all(step))
}

/// 1 with `make test-all`, `step` else.
pub(crate) fn unless_all(step: usize) -> usize {
    match std::env::var_os(ALL_CASES) {
        Some(_) => 1,
        None => step,
    }
}

impl PortPlan {
    /// This plan with a change.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut PortPlan)) -> PortPlan {
        change(&mut self);
        self
    }
}

/// A block under simulation, just after reset.
pub(crate) struct Bench(Simulator);

impl Bench {
    pub(crate) fn new(block: impl Block + Send + 'static) -> Self {
        Self::reset(Simulator::new(block).unwrap())
    }

    fn reset(mut simulator: Simulator) -> Self {
        simulator.set("rst", 1).unwrap();
        simulator.settle().unwrap();
        simulator.rising_edge().unwrap();
        simulator.set("rst", 0).unwrap();
        Bench(simulator)
    }

    /// Sets the inputs of this cycle and lets the outputs follow.
    pub(crate) fn drive(&mut self, pins: &[(&str, u64)]) {
        for &(name, value) in pins {
            self.0.set(name, value.into()).unwrap();
        }
        self.0.settle().unwrap();
    }

    /// An output of this cycle.
    pub(crate) fn get(&self, name: &str) -> u64 {
        u64::try_from(self.0.get(name).unwrap()).unwrap()
    }

    /// Checks that outputs have these values in `cycle`.
    pub(crate) fn check(&self, cycle: u64, pins: &[(&str, u64)]) -> Result<(), TestCaseError> {
        for &(name, value) in pins {
            prop_assert_eq!(self.get(name), value, "cycle {}, pin {}", cycle, name);
        }
        Ok(())
    }

    /// The clock edge at the end of this cycle.
    pub(crate) fn clock(&mut self) {
        self.0.rising_edge().unwrap();
    }

    /// Sets the inputs of the port controller of `plan` in this cycle.
    pub(crate) fn drive_port(&mut self, plan: &PortPlan, inputs: &Inputs) {
        for pin in Inputs::pins(plan) {
            self.0.set(pin.name, inputs.value(&pin).into()).unwrap();
        }
        self.0.settle().unwrap();
    }

    /// The output pins of the port controller of `plan` that are not as its golden model says,
    /// with what they are and what they should be.
    pub(crate) fn wrong_outputs(
        &self,
        plan: &PortPlan,
        golden: &Outputs,
    ) -> Vec<(&'static str, u64, u64)> {
        let pins = Outputs::pins(plan).into_iter();
        pins.map(|pin| (pin.name, self.get(pin.name), golden.value(pin.pin)))
            .filter(|(_, found, expected)| found != expected)
            .collect()
    }
}
