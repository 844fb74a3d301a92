//! What the blocks' lock-step tests share: a block under rust_hdl's simulation, driven
//! pin by pin.

use rust_hdl_core::block::Block;

use crate::hdl::sim::Simulator;

/// A block under simulation, just after reset.
pub(crate) struct Bench<B: Block>(Simulator<B>);

impl<B: Block> Bench<B> {
    pub(crate) fn new(block: B) -> Self {
        let mut simulator = Simulator::new(block).unwrap();
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

    /// The clock edge at the end of this cycle.
    pub(crate) fn clock(&mut self) {
        self.0.rising_edge().unwrap();
    }
}
