//! What every executable form of a port controller has in common.

use super::pins::{Inputs, Outputs, PackedOutputs};
use crate::config::plan::RefreshPlan;

/// Refreshes of a sleeping link that come one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refreshes {
    /// Quiet and refresh of one period, in clock cycles.
    pub times: RefreshPlan,
    /// Clock cycles in which there is nothing but these periods; `u64::MAX`: no end.
    pub cycles: u64,
}

impl Refreshes {
    /// Clock cycles from one refresh to the next.
    pub fn period(&self) -> u64 {
        self.times.t_q + self.times.t_r
    }
}

/// A cycle-exact model of a port controller that is cheap where nothing happens.
pub trait Model {
    /// Outputs of the present clock cycle (registers only).
    fn outputs(&self) -> Outputs;

    /// Clocks up to `max` (>= 1) cycles with `inputs` held and stops right after the edge
    /// at which the outputs change. Returns the cycles clocked (>= 1); the outputs were
    /// constant during them.
    fn advance(&mut self, inputs: &Inputs, max: u64) -> u64;

    /// The same, for whoever keeps the outputs: `outputs` are those of the present cycle, and become
    /// those of the cycle after.
    fn advance_from(&mut self, outputs: &mut PackedOutputs, inputs: &Inputs, max: u64) -> u64 {
        let clocked = self.advance(inputs, max);
        *outputs = self.outputs().pack();
        clocked
    }

    /// Cycles from the present one on in which, while `inputs` hold, nothing changes but what
    /// [`Model::time_registers`] names. 0 if that is not known.
    fn quiet(&self, inputs: &Inputs) -> u64 {
        let _ = inputs;
        0
    }

    /// The refreshes of a sleeping link that, while `inputs` hold, come one after the other, nothing
    /// else changing but what [`Model::time_registers`] names. `None` if that is not known.
    fn refreshes(&self, inputs: &Inputs) -> Option<Refreshes> {
        let _ = inputs;
        None
    }

    /// Lets so many whole periods of [`Model::refreshes`] pass, which there were.
    fn pass_refreshes(&mut self, inputs: &Inputs, periods: u64) {
        let _ = (inputs, periods);
    }

    /// The registers of the hardware that count time, by their hierarchical names in the
    /// Verilog below the top, and what they hold in the present cycle. The names depend on the
    /// configuration alone. Empty if that is not known.
    fn time_registers(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}
