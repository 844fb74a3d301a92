//! What every executable form of a port controller has in common.

use super::pins::{Inputs, Outputs, PackedOutputs};

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

    /// The registers of the hardware that count time, by their hierarchical names in the
    /// Verilog below the top, and what they hold in the present cycle. The names depend on the
    /// configuration alone. Empty if that is not known.
    fn time_registers(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}
