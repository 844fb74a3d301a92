//! HyperX (Georgakoudis Table V; Ahn et al. 2009).

use std::ops::Range;

use super::cables::Cables;
use super::parameters::Parameters;
use super::{Hop, ParameterError, Shape, Topology};

/// Switches at the points of a grid; each has a cable to every other one in its row of
/// every dimension.
///
/// The first dimension counts fastest in a switch's number. Ports: the nodes, then for each
/// dimension `cables` to each other switch of the row, in their order.
#[derive(Clone, Debug)]
pub(super) struct HyperX {
    dims: Vec<usize>,
    cables: usize,
    nodes_per_switch: usize,
    switches: usize,
    radix: usize,
}

impl HyperX {
    pub(super) fn new(parameters: &Parameters) -> Result<Self, ParameterError> {
        let dims = parameters.list("dims").to_vec();
        let cables = parameters.number("ports_per_link");
        let nodes_per_switch = parameters.number("nodes_per_switch");
        let others: usize = dims.iter().map(|size| size - 1).sum();
        let used = others * cables + nodes_per_switch;
        super::fitting_radix("dims", used)?;
        Ok(Self {
            cables,
            nodes_per_switch,
            switches: parameters.points("dims", nodes_per_switch)?,
            radix: super::chosen_radix(parameters.given("radix"), used, "dims")?,
            dims,
        })
    }

    fn divided(&self) -> Cables {
        Cables {
            nodes: self.nodes_per_switch,
            neighbours: self.dims.iter().map(|size| size - 1).sum(),
            each: self.cables,
        }
    }

    /// The `index`th of the others, seen from `at`.
    fn other(at: usize, index: usize) -> usize {
        index + usize::from(index >= at)
    }

    /// The inverse of [`Self::other`].
    fn index(at: usize, other: usize) -> usize {
        other - usize::from(other > at)
    }
}

impl Topology for HyperX {
    fn nodes(&self) -> usize {
        self.switches * self.nodes_per_switch
    }

    fn switches(&self) -> usize {
        self.switches
    }

    fn radix(&self) -> usize {
        self.radix
    }

    /// What differs in the last dimension only is far apart.
    fn group_size(&self) -> usize {
        self.switches / self.dims.last().expect("there is a dimension")
    }

    fn shape(&self) -> Shape {
        Shape::Grid {
            dimensions: self.dims.len(),
        }
    }

    fn nodes_per_switch(&self) -> usize {
        self.nodes_per_switch
    }

    fn switch_of(&self, node: usize) -> usize {
        node / self.nodes_per_switch
    }

    fn peer(&self, port: usize) -> Option<usize> {
        if port >= self.switch_ports() {
            let node = port - self.switch_ports();
            return Some(self.switch_of(node) * self.radix + node % self.nodes_per_switch);
        }
        let (switch, port) = (port / self.radix, port % self.radix);
        let Some(mut link) = port.checked_sub(self.nodes_per_switch) else {
            return Some(self.nic(switch * self.nodes_per_switch + port));
        };
        let (mut first, mut stride) = (self.nodes_per_switch, 1);
        for &size in &self.dims {
            let ports = (size - 1) * self.cables;
            if link < ports {
                let at = switch / stride % size;
                let other = Self::other(at, link / self.cables);
                let neighbour = switch - at * stride + other * stride;
                let back = Self::index(other, at) * self.cables + link % self.cables;
                return Some(neighbour * self.radix + first + back);
            }
            link -= ports;
            first += ports;
            stride *= size;
        }
        None
    }

    /// Dimension order, one hop in each dimension that differs: one lane. Of several cables
    /// the destination chooses one.
    fn route(&self, switch: usize, _: usize, lane: u8, destination: usize) -> Hop {
        let node = destination % self.nodes_per_switch;
        let (mut from, mut to) = (switch, destination / self.nodes_per_switch);
        let mut port = self.nodes_per_switch;
        for size in &self.dims {
            let (at, other) = (from % size, to % size);
            if at != other {
                port += Self::index(at, other) * self.cables + destination % self.cables;
                return Hop {
                    port: port as u8,
                    lane,
                };
            }
            port += (size - 1) * self.cables;
            (from, to) = (from / size, to / size);
        }
        Hop {
            port: node as u8,
            lane,
        }
    }

    /// All cables to the same neighbour.
    fn choices(&self, _: usize, port: u8) -> Range<u8> {
        self.divided().beside(port)
    }

    /// All cables to the switch of the destination's row, in every dimension in which they differ.
    fn nearer(&self, switch: usize, destination: usize) -> u64 {
        let (mut from, mut to) = (switch, destination / self.nodes_per_switch);
        let (mut first, mut ports) = (self.nodes_per_switch, 0);
        for size in &self.dims {
            let (at, other) = (from % size, to % size);
            if at != other {
                let port = first + Self::index(at, other) * self.cables;
                ports |= !(u64::MAX << self.cables) << port;
            }
            first += (size - 1) * self.cables;
            (from, to) = (from / size, to / size);
        }
        ports
    }

    fn hops(&self, source: usize, destination: usize) -> u8 {
        if source == destination {
            return 0;
        }
        let (mut from, mut to) = (self.switch_of(source), self.switch_of(destination));
        let mut links = 2;
        for size in &self.dims {
            links += u8::from(from % size != to % size);
            (from, to) = (from / size, to / size);
        }
        links
    }

    /// One cable of each link between neighbours, and those of the nodes.
    fn stays_on(&self, port: usize) -> Option<bool> {
        let stays = self.divided().stays_on(port % self.radix)?;
        Some(stays || port >= self.switch_ports())
    }

    fn classes(&self) -> Vec<String> {
        let mut classes = vec!["node to switch".to_owned(), "switch to node".into()];
        classes.extend((1..=self.dims.len()).map(|dimension| format!("dimension {dimension}")));
        classes
    }

    fn class(&self, port: usize) -> usize {
        if port >= self.switch_ports() {
            return 0;
        }
        let Some(mut link) = (port % self.radix).checked_sub(self.nodes_per_switch) else {
            return 1;
        };
        let mut class = 2;
        for size in &self.dims {
            let ports = (size - 1) * self.cables;
            if link < ports {
                break;
            }
            link -= ports;
            class += 1;
        }
        class
    }
}
