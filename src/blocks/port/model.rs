//! What every executable form of a port controller has in common.

use super::pins::{Inputs, Outputs};

/// A cycle-exact model of a port controller that is cheap where nothing happens.
pub trait Model {
    /// Outputs of the present clock cycle (registers only).
    fn outputs(&self) -> Outputs;

    /// Clocks up to `max` (>= 1) cycles with `inputs` held and stops right after the edge
    /// at which the outputs change. Returns the cycles clocked (>= 1); the outputs were
    /// constant during them.
    fn advance(&mut self, inputs: &Inputs, max: u64) -> u64;
}
