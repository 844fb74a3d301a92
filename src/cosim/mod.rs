//! Co-simulation: the emitted Verilog and the golden model in lock step.
//!
//! A [`Model`] (golden) is clocked with an [`Activity`]; what it did is written down as
//! [`Run`]s, stretches of cycles with constant inputs and constant outputs, and an
//! [`Rtl`] engine clocks the same inputs and compares every output in every cycle. So
//! one driver ([`LockStep`]) compares the golden model with any of the engines:
//! [`verilator`] (the emitted Verilog, compiled) and [`native`] (the simulation of the
//! description itself).

pub mod coverage;
#[cfg(test)]
pub(crate) mod fixture;
mod glue;
pub mod in_loop;
pub mod line_rate;
pub mod native;
pub mod open_loop;
pub mod pair;
pub mod peer;
pub mod periods;
pub mod port;
pub mod random;
pub mod report;
pub mod scenario;
pub mod verilator;
pub mod wave;

mod lock_step;

pub use lock_step::{Ended, LockStep, Mismatch, Tally};

pub use crate::blocks::port::model::Model;

use crate::blocks::port::pins::{InputPin, Inputs, Outputs};
use crate::config::plan::PortPlan;

/// What a port is to be compared with: the same controller in all its forms.
pub trait Design {
    /// The golden model.
    type Golden: Model + Send;
    /// The configuration in the units of the hardware.
    fn plan(&self) -> &PortPlan;
    /// Clock period in picoseconds, for the time axis of waveforms.
    fn period_ps(&self) -> u64;

    /// What its configuration cannot do ([`crate::config::Config::notes`]).
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
    /// A golden model just after reset.
    fn golden(&self) -> Self::Golden;
    /// The Verilog, as file names and texts; the top module is `port`, behind the prefix of the
    /// configuration.
    ///
    /// # Errors
    /// If the description does not elaborate; the message says why.
    fn verilog(&self) -> anyhow::Result<Vec<(String, String)>>;
    /// The simulation of the description itself, just built.
    ///
    /// # Errors
    /// If the description does not elaborate; the message says why.
    fn native(&self) -> anyhow::Result<Box<dyn native::ByName + Send>>;
}

/// Consecutive cycles with the same inputs and the same outputs of the golden model; laid
/// out as `testbench/run.h` has it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// At least 1.
    pub cycles: u64,
    /// [`Inputs::pack`].
    inputs: u32,
    /// `tx_enable | power_state << 1 | hit << 4 | miss << 5 | update << 6 |
    /// message_out << 7 | sync_error << 10`.
    control: u32,
    t_pdt: u64,
    t_pb: u64,
    window: u64,
    budget: u64,
    log2_cf: u64,
}

impl Run {
    /// A run of `cycles` cycles.
    pub fn new(cycles: u64, inputs: &Inputs, expected: &Outputs) -> Run {
        Run {
            cycles,
            inputs: inputs.pack(),
            control: u32::from(expected.tx_enable)
                | (expected.power_state as u32) << 1
                | u32::from(expected.hit) << 4
                | u32::from(expected.miss) << 5
                | u32::from(expected.update) << 6
                | (expected.message_out as u32) << 7
                | u32::from(expected.sync_error) << 10,
            t_pdt: expected.t_pdt,
            t_pb: expected.t_pb,
            window: expected.window,
            budget: expected.budget,
            log2_cf: expected.log2_cf,
        }
    }

    /// The same run with another length.
    #[must_use]
    pub fn with_cycles(self, cycles: u64) -> Run {
        Run { cycles, ..self }
    }

    /// Whether inputs and outputs are those of `other`.
    pub fn same_pins(&self, other: &Run) -> bool {
        self.with_cycles(other.cycles) == *other
    }

    /// The input pins, as [`Inputs::pack`] lays them out.
    pub fn packed_inputs(&self) -> u32 {
        self.inputs
    }

    /// The value of an input pin.
    pub fn input(&self, pin: &InputPin) -> u64 {
        self.inputs().value(pin)
    }

    /// The input pins.
    pub fn inputs(&self) -> Inputs {
        Inputs::unpack(self.inputs)
    }

    /// The expected value of the output pin of that number ([`Outputs::value`]).
    ///
    /// # Panics
    /// If there is no such pin.
    pub fn expected(&self, number: usize) -> u64 {
        let control = u64::from(self.control);
        match number {
            0 => control & 1,
            1 => control >> 1 & 7,
            2 => control >> 4 & 1,
            3 => control >> 5 & 1,
            4 => self.t_pdt,
            5 => control >> 6 & 1,
            6 => self.t_pb,
            7 => self.window,
            8 => self.budget,
            9 => control >> 7 & 7,
            10 => control >> 10 & 1,
            11 => self.log2_cf,
            _ => panic!(
                "a port controller has at most {} output pins",
                Outputs::COUNT
            ),
        }
    }
}

/// The first cycle in which an engine departs from the runs it was given.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Which of the runs.
    pub run: u64,
    /// Which cycle of that run, from 0.
    pub cycle: u64,
    /// What the engine had on its output pins, by their numbers.
    pub actual: [u64; Outputs::COUNT],
}

/// An engine that clocks the hardware. It starts just after reset.
pub trait Rtl {
    /// Clocks the runs one after the other and compares all outputs in every cycle, before
    /// the edge that ends it. Stops at the first difference; then the engine's state is
    /// that of the differing cycle.
    ///
    /// # Errors
    /// If the engine itself fails (the design executes `$finish`, does not settle...).
    fn run(&mut self, runs: &[Run]) -> Result<Option<Difference>, EngineError>;

    /// Cycles to give it at a time, about a tenth of a second's work: between two calls a
    /// run can be stopped and its progress shown.
    fn batch_cycles(&self) -> u64 {
        1 << 22
    }
}

impl<T: Rtl + ?Sized> Rtl for Box<T> {
    fn run(&mut self, runs: &[Run]) -> Result<Option<Difference>, EngineError> {
        (**self).run(runs)
    }

    fn batch_cycles(&self) -> u64 {
        (**self).batch_cycles()
    }
}

/// An engine failed while it ran.
#[derive(Debug, thiserror::Error)]
#[error("the {engine} engine failed: {message}")]
pub struct EngineError {
    /// `verilator` or `native`.
    pub engine: &'static str,
    /// What happened.
    pub message: String,
}

/// A stretch of activity with constant inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The inputs in each of the cycles.
    pub inputs: Inputs,
    /// At least 1.
    pub cycles: u64,
    /// The stretch also ends where the outputs change.
    pub until_change: bool,
}

/// Something that drives a port: random, recorded, scripted.
pub trait Activity {
    /// The next stretch, given the port's outputs in its first cycle; `None` at the end.
    fn next(&mut self, outputs: &Outputs) -> Option<Stretch>;

    /// So many cycles of the last stretch were clocked; it is over.
    fn clocked(&mut self, cycles: u64) {
        let _ = cycles;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::port::pins::{Message, PowerState};
    use crate::config::plan::SyncPlan;

    #[test]
    fn a_run_keeps_every_pin() {
        let inputs = Inputs {
            queue_nonempty: true,
            remote_up: true,
            packet_valid: true,
            packet_hops: 43,
            initiator: true,
            message_in: 6,
            ..Inputs::default()
        };
        let outputs = Outputs {
            tx_enable: true,
            power_state: PowerState::GoingUp,
            hit: true,
            miss: false,
            update: true,
            t_pdt: 1 << 63,
            t_pb: 7,
            window: 8,
            budget: 9,
            log2_cf: 10,
            message_out: Message::Sync,
            sync_error: true,
        };
        let run = Run::new(3, &inputs, &outputs);
        assert_eq!(run.inputs(), inputs);
        for sync in [None, Some(SyncPlan { timeout: 1 })] {
            let plan = PortPlan {
                sync,
                ..fixture::small_plan()
            };
            for pin in Inputs::pins(&plan) {
                let alone = Inputs::unpack(((1 << pin.width) - 1) << pin.low);
                assert_eq!(alone.value(&pin), (1 << pin.width) - 1, "{}", pin.name);
                assert_eq!(run.input(&pin), inputs.value(&pin), "{}", pin.name);
            }
        }
        for pin in 0..Outputs::COUNT {
            assert_eq!(run.expected(pin), outputs.value(pin), "pin {pin}");
        }
    }
}
