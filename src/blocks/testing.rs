//! What the blocks' lock-step tests share: a block under rust_hdl's simulation, driven
//! pin by pin.

use std::collections::VecDeque;

use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl_core::block::Block;

use crate::blocks::axi_lite::golden::Request;
use crate::blocks::port::pins::{Inputs, Outputs};
use crate::config::plan::PortPlan;
use crate::hdl::check::Pins;
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

/// A manager with requests to make, one after the other, each channel stalling at random; the address and the
/// data of a write come in any order.
pub(crate) struct Manager {
    pub(crate) requests: VecDeque<Request>,
    present: Inputs,
    /// The address of a write is still to come, and its data.
    late: [bool; 2],
    /// Answers that are still to come.
    open: usize,
    random: ChaCha8Rng,
    /// In 8: how often a channel moves.
    eagerness: u32,
}

impl Manager {
    /// A manager that rests; `eagerness` in 8 times a channel moves.
    pub(crate) fn new(requests: VecDeque<Request>, seed: u64, eagerness: u32) -> Self {
        Manager {
            requests,
            present: Inputs::default(),
            late: [false; 2],
            open: 0,
            random: ChaCha8Rng::seed_from_u64(seed),
            eagerness,
        }
    }

    pub(crate) fn drive(&mut self) -> Inputs {
        let mut moves = || self.random.random_ratio(self.eagerness, 8);
        let present = &mut self.present;
        let idle = !present.s_axi_awvalid && !present.s_axi_wvalid && !present.s_axi_arvalid;
        if idle && self.open == 0 && moves() {
            match self.requests.pop_front() {
                Some(Request::Write { word, data, strobe }) => {
                    self.late = [true; 2];
                    present.s_axi_awaddr = word * 4;
                    present.s_axi_wdata = data;
                    present.s_axi_wstrb = strobe;
                    self.open = 1;
                }
                Some(Request::Read { word }) => {
                    present.s_axi_arvalid = true;
                    present.s_axi_araddr = word * 4;
                    self.open = 1;
                }
                None => {}
            }
        }
        let channels = [&mut present.s_axi_awvalid, &mut present.s_axi_wvalid];
        for (valid, late) in channels.into_iter().zip(&mut self.late) {
            if *late && moves() {
                (*valid, *late) = (true, false);
            }
        }
        // A read may overtake a write that waits.
        if present.s_axi_awvalid && !present.s_axi_arvalid && moves() {
            if let Some(&Request::Read { word }) = self.requests.front() {
                self.requests.pop_front();
                present.s_axi_arvalid = true;
                present.s_axi_araddr = word * 4;
                self.open += 1;
            }
        }
        present.s_axi_bready = moves();
        present.s_axi_rready = moves();
        *present
    }

    pub(crate) fn clock(&mut self, port: &Outputs) {
        self.present.s_axi_awvalid &= !port.s_axi_awready;
        self.present.s_axi_wvalid &= !port.s_axi_wready;
        self.present.s_axi_arvalid &= !port.s_axi_arready;
        let answers = usize::from(port.s_axi_bvalid && self.present.s_axi_bready)
            + usize::from(port.s_axi_rvalid && self.present.s_axi_rready);
        self.open = self.open.saturating_sub(answers);
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

    /// Sets the inputs of this cycle, some of which may be wide, and lets the outputs follow.
    pub(crate) fn drive_pins(&mut self, pins: &Pins) {
        for &(name, value) in pins {
            self.0.set(name, value).unwrap();
        }
        self.0.settle().unwrap();
    }

    /// Checks that outputs, some of which may be wide, have these values in `cycle`.
    pub(crate) fn check_pins(&self, cycle: u64, pins: &Pins) -> Result<(), TestCaseError> {
        for &(name, value) in pins {
            let found = self.0.get(name).unwrap();
            prop_assert_eq!(found, value, "cycle {}, pin {}", cycle, name);
        }
        Ok(())
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
