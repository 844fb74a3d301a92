//! The native engine: the simulation of the hardware description itself, for machines
//! without Verilator. Some hundred times slower, and blind to faults of the Verilog
//! printer.

use super::open_loop::OpenLoop;
use super::{Difference, EngineError, Rtl, Run};
use crate::blocks::port::pins::{Inputs, Outputs, Pins, Values};
use crate::config::plan::PortPlan;

/// A simulation with pins by name.
pub trait ByName {
    /// Sets an input pin for the present cycle.
    ///
    /// # Errors
    /// If there is no such input pin.
    fn set(&mut self, pin: &str, value: u128) -> anyhow::Result<()>;
    /// An output pin in the present cycle.
    ///
    /// # Errors
    /// If there is no such output pin.
    fn get(&self, pin: &str) -> anyhow::Result<u128>;
    /// One rising edge of `clk`; everything has settled afterwards.
    ///
    /// # Errors
    /// If the description does not settle.
    fn clock(&mut self) -> anyhow::Result<()>;
}

impl<T: ByName + ?Sized> ByName for Box<T> {
    fn set(&mut self, pin: &str, value: u128) -> anyhow::Result<()> {
        (**self).set(pin, value)
    }
    fn get(&self, pin: &str) -> anyhow::Result<u128> {
        (**self).get(pin)
    }
    fn clock(&mut self) -> anyhow::Result<()> {
        (**self).clock()
    }
}

fn failed(error: anyhow::Error) -> EngineError {
    EngineError::new("native", format!("{error:#}"))
}

/// A [`ByName`] simulation as an engine.
pub struct Native<S> {
    simulation: S,
    pins: Pins,
}

impl<S: ByName> Native<S> {
    /// Takes a simulation that was just built, and resets it for two cycles.
    ///
    /// # Errors
    /// If the simulation lacks a pin or does not settle.
    pub fn new(mut simulation: S, plan: &PortPlan) -> Result<Native<S>, EngineError> {
        let pins = Pins::of(plan);
        for pin in &pins.inputs {
            simulation
                .set(pin.name, u128::from(pin.name == "rst"))
                .map_err(failed)?;
        }
        for _ in 0..2 {
            simulation.clock().map_err(failed)?;
        }
        Ok(Native { simulation, pins })
    }

    fn actual(&self) -> Result<Values, EngineError> {
        let mut actual = Values::default();
        for pin in &self.pins.outputs {
            let name = pin.name;
            actual[pin.pin] = u64::try_from(self.simulation.get(name).map_err(failed)?)
                .map_err(|_| failed(anyhow::anyhow!("pin `{name}` is wider than 64 bits")))?;
        }
        Ok(actual)
    }
}

impl<S: ByName> Native<S> {
    fn drive(&mut self, run: &Run) -> Result<(), EngineError> {
        for pin in &self.pins.inputs {
            self.simulation
                .set(pin.name, run.inputs.value(pin).into())
                .map_err(failed)?;
        }
        Ok(())
    }
}

impl<S: ByName> OpenLoop for Native<S> {
    fn pass(&mut self, inputs: &Inputs, cycles: u64) -> Result<Outputs, EngineError> {
        self.drive(&Run::new(cycles, inputs, &Outputs::default()))?;
        for _ in 0..cycles {
            self.simulation.clock().map_err(failed)?;
        }
        Ok(Outputs::decode(&self.actual()?))
    }
}

impl<S: ByName> Rtl for Native<S> {
    fn run(&mut self, runs: &[Run]) -> Result<Option<Difference>, EngineError> {
        for (index, run) in runs.iter().enumerate() {
            self.drive(run)?;
            for cycle in 0..run.cycles {
                let actual = self.actual()?;
                let mut outputs = self.pins.outputs.iter();
                let differs = outputs.any(|pin| actual[pin.pin] != run.expected(pin.pin));
                if differs {
                    return Ok(Some(Difference {
                        run: index as u64,
                        cycle,
                        actual,
                    }));
                }
                self.simulation.clock().map_err(failed)?;
            }
        }
        Ok(None)
    }

    fn batch_cycles(&self) -> u64 {
        1 << 10
    }
}
