//! The port controller of a configuration in all its forms: golden model, Verilog, native
//! simulation.

use super::{native::ByName, Design};
use crate::blocks::port::{golden, Port};
use crate::config::plan::PortPlan;
use crate::config::Config;
use crate::hdl::sim::Simulator;
use crate::rtl;

/// The port controller of one configuration.
#[derive(Clone, Debug)]
pub struct PortDesign {
    config: Config,
    plan: PortPlan,
}

impl PortDesign {
    /// The controller of `config`.
    ///
    /// # Errors
    /// If the configuration asks for what has no hardware yet.
    pub fn new(config: &Config) -> Result<Self, rtl::RtlError> {
        Ok(PortDesign {
            config: config.clone(),
            plan: rtl::plan(config)?,
        })
    }

    /// The same with a link that is down and up at once ([`PortPlan::open_loop`]).
    ///
    /// # Errors
    /// If the configuration asks for what has no hardware yet.
    pub fn open_loop(config: &Config) -> Result<Self, rtl::RtlError> {
        let mut design = PortDesign::new(config)?;
        design.plan = design.plan.open_loop();
        Ok(design)
    }
}

impl Design for PortDesign {
    type Golden = golden::Port;

    fn plan(&self) -> &PortPlan {
        &self.plan
    }

    fn period_ps(&self) -> u64 {
        self.config.clock.period_ps
    }

    fn notes(&self) -> Vec<String> {
        self.config.notes()
    }

    fn golden(&self) -> golden::Port {
        golden::Port::new(&self.plan)
    }

    fn verilog(&self) -> anyhow::Result<Vec<(String, String)>> {
        let mut files = rtl::emit_plan(&self.config, &self.plan)?;
        files.retain(|(name, _)| name.ends_with(".v"));
        Ok(files)
    }

    fn native(&self) -> anyhow::Result<Box<dyn ByName + Send>> {
        Ok(Box::new(Simulator::new(Port::new(&self.plan))?))
    }
}

impl ByName for Simulator {
    fn set(&mut self, pin: &str, value: u128) -> anyhow::Result<()> {
        Ok(Simulator::set(self, pin, value)?)
    }

    fn get(&self, pin: &str) -> anyhow::Result<u128> {
        Ok(Simulator::get(self, pin)?)
    }

    fn clock(&mut self) -> anyhow::Result<()> {
        self.settle()?;
        self.rising_edge()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::config::PRESETS;
    use crate::cosim::random::Random;
    use crate::cosim::verilator::Compiled;
    use crate::cosim::{Ended, LockStep};

    #[test]
    fn every_preset_runs_in_lock_step() {
        for preset in PRESETS {
            let config = Config::parse(preset.text, preset.name).unwrap();
            let design = PortDesign::new(&config).unwrap();
            let compiled = Compiled::fast(&design.verilog().unwrap(), design.plan()).unwrap();
            let cycles = 1_000_000;
            let mut pair = LockStep::new(design.golden(), compiled.engine().unwrap());
            let mut activity = Random::new(design.plan(), 1, cycles, pair.leaps());
            let ended = pair
                .drive(&mut activity, cycles, |_, _| ControlFlow::Continue(()))
                .unwrap();
            assert_eq!(ended, Ended::Complete, "{}", preset.name);
            assert_eq!(pair.tally().cycles, cycles);
        }
    }
}
