//! One switch with a node at every port.

use super::parameters::Parameters;
use super::{Hop, ParameterError, Topology};

/// One switch with a node at every port.
#[derive(Clone, Copy, Debug)]
pub struct SingleSwitch {
    /// Nodes, which is also the radix.
    pub nodes: usize,
}

impl SingleSwitch {
    pub(super) fn new(parameters: &Parameters) -> Result<Self, ParameterError> {
        Ok(Self {
            nodes: parameters.number("nodes"),
        })
    }
}

impl Topology for SingleSwitch {
    fn nodes(&self) -> usize {
        self.nodes
    }

    fn switches(&self) -> usize {
        1
    }

    fn radix(&self) -> usize {
        self.nodes
    }

    fn nodes_per_switch(&self) -> usize {
        self.nodes
    }

    fn switch_of(&self, _: usize) -> usize {
        0
    }

    fn peer(&self, port: usize) -> Option<usize> {
        Some((port + self.nodes) % (2 * self.nodes))
    }

    fn route(&self, _: usize, _: usize, lane: u8, destination: usize) -> Hop {
        Hop {
            port: destination as u8,
            lane,
        }
    }

    fn hops(&self, source: usize, destination: usize) -> u8 {
        if source == destination {
            0
        } else {
            2
        }
    }

    fn classes(&self) -> Vec<String> {
        vec!["node to switch".into(), "switch to node".into()]
    }

    fn class(&self, port: usize) -> usize {
        usize::from(port < self.nodes)
    }
}
