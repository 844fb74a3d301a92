//! Tori (k-ary n-cubes) with one or several cables between neighbours (POWAR 4.1, Zahn III.A).

use std::ops::Range;

use super::cables::Cables;
use super::parameters::Parameters;
use super::{Hop, ParameterError, Shape, Topology, MAX_RADIX};

/// Switches at the points of a grid that closes on itself in every dimension.
///
/// The first dimension counts fastest in a switch's number. Ports: the nodes, then for each
/// dimension those up, then those down, `cables` of each.
#[derive(Clone, Debug)]
pub(super) struct Torus {
    dims: Vec<usize>,
    cables: usize,
    nodes_per_switch: usize,
    switches: usize,
    radix: usize,
    lanes: usize,
    /// Off only to show that without it there is a cycle.
    dateline: bool,
}

impl Torus {
    pub(super) fn new(parameters: &Parameters) -> Result<Self, ParameterError> {
        let dims = parameters.list("dims").to_vec();
        let cables = parameters.number("ports_per_link");
        let nodes_per_switch = parameters.number("nodes_per_switch");
        let between = 2 * dims.len() * cables;
        // POWAR 4.1 connects a node by as many cables as a neighbour. A NIC here has one
        // port; the others stay without a cable.
        let used = between + nodes_per_switch;
        let radix = match parameters.given("radix") {
            // Without these others, if a switch has no room for them.
            None if between + cables > MAX_RADIX => super::fitting_radix("ports_per_link", used),
            None => super::fitting_radix("ports_per_link", between + cables.max(nodes_per_switch)),
            asked => super::chosen_radix(asked, used, "radix"),
        }?;
        Ok(Self {
            cables,
            nodes_per_switch,
            switches: parameters.points("dims", nodes_per_switch)?,
            radix,
            // With up to 3 switches in a row no packet takes two steps in it; with 4 those
            // of two steps begin at every other switch, and no chain closes.
            lanes: if dims.iter().any(|&size| size > 4) {
                2
            } else {
                1
            },
            dateline: true,
            dims,
        })
    }

    #[cfg(test)]
    pub(super) fn without_dateline(self) -> Self {
        Self {
            dateline: false,
            ..self
        }
    }

    fn divided(&self) -> Cables {
        Cables {
            nodes: self.nodes_per_switch,
            neighbours: 2 * self.dims.len(),
            each: self.cables,
        }
    }

    fn first_port(&self, dimension: usize, down: bool) -> usize {
        self.nodes_per_switch + (2 * dimension + usize::from(down)) * self.cables
    }

    /// Whether the shorter way from `from` to `to` goes down. Where both are equally long,
    /// every other switch takes the one, the rest the other.
    fn goes_down(from: usize, to: usize, size: usize) -> bool {
        let up = (to + size - from) % size;
        2 * up > size || (2 * up == size && from % 2 == 1)
    }
}

impl Topology for Torus {
    fn nodes(&self) -> usize {
        self.switches * self.nodes_per_switch
    }

    fn switches(&self) -> usize {
        self.switches
    }

    fn radix(&self) -> usize {
        self.radix
    }

    fn lanes(&self) -> usize {
        self.lanes
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
        let Some(link) = port.checked_sub(self.nodes_per_switch) else {
            return Some(self.nic(switch * self.nodes_per_switch + port));
        };
        let (dimension, down) = (link / self.cables / 2, link / self.cables % 2 == 1);
        let &size = self.dims.get(dimension)?;
        let stride: usize = self.dims[..dimension].iter().product();
        let at = switch / stride % size;
        let next = if down { at + size - 1 } else { at + 1 } % size;
        let neighbour = switch - at * stride + next * stride;
        let back = self.first_port(dimension, !down) + link % self.cables;
        Some(neighbour * self.radix + back)
    }

    /// Dimension order (Zahn III.A), the shorter way round. Deadlock-free by a dateline
    /// (Dally and Seitz 1987, as POWAR 3 for its deterministic channels): the cable that
    /// closes a ring and what follows it in that dimension is on lane 1.
    fn route(&self, switch: usize, input: usize, lane: u8, destination: usize) -> Hop {
        let target = destination / self.nodes_per_switch;
        if target == switch {
            return Hop {
                port: (destination % self.nodes_per_switch) as u8,
                lane,
            };
        }
        let (mut from, mut to) = (switch, target);
        let mut dimension = 0;
        let (from, to, size) = loop {
            let size = self.dims[dimension];
            if from % size != to % size {
                break (from % size, to, size);
            }
            (from, to, dimension) = (from / size, to / size, dimension + 1);
        };
        let down = Self::goes_down(from, to % size, size);
        let closes = from == if down { 0 } else { size - 1 };
        // From where in this dimension, or another one, the packet comes, and on which cable.
        let link = input.checked_sub(self.nodes_per_switch);
        let goes_on = link.is_some_and(|link| link / self.cables / 2 == dimension);
        let cable = link.map_or(0, |link| link % self.cables);
        // A packet keeps its cable as long as it goes straight on. At a turn, what it comes
        // from, and where it goes, spread the packets over the cables.
        let cable = if goes_on {
            cable
        } else {
            (cable + from + to % size + to / size) % self.cables
        };
        let crossed = goes_on && lane > 0;
        Hop {
            port: (self.first_port(dimension, down) + cable) as u8,
            lane: u8::from(self.lanes > 1 && self.dateline && (closes || crossed)),
        }
    }

    /// All cables to the same neighbour (POWAR 3.2).
    fn choices(&self, _: usize, port: u8) -> Range<u8> {
        self.divided().beside(port)
    }

    /// All cables of every dimension in which they differ, the shorter way round, and both ways where
    /// these are equally long.
    fn nearer(&self, switch: usize, destination: usize) -> u64 {
        let (mut from, mut to) = (switch, destination / self.nodes_per_switch);
        let mut ports = 0;
        for (dimension, &size) in self.dims.iter().enumerate() {
            let up = (to % size + size - from % size) % size;
            for (down, leads) in [(false, up > 0 && 2 * up <= size), (true, 2 * up >= size)] {
                if leads {
                    ports |= !(u64::MAX << self.cables) << self.first_port(dimension, down);
                }
            }
            (from, to) = (from / size, to / size);
        }
        ports
    }

    /// Dimension order with two virtual channels (Dally and Seitz 1987, as POWAR 3 has it): lane 0 as long
    /// as the cable that closes the ring is still ahead, lane 1 from there on.
    fn escape(&self, switch: usize, destination: usize) -> Hop {
        let Hop { port, .. } = self.route(switch, 0, 0, destination);
        let link = usize::from(port).checked_sub(self.nodes_per_switch);
        let is_ahead = link.is_some_and(|link| {
            let dimension = link / self.cables / 2;
            let stride: usize = self.dims[..dimension].iter().product();
            let place = |switch: usize| switch / stride % self.dims[dimension];
            let (from, to) = (place(switch), place(destination / self.nodes_per_switch));
            match link / self.cables % 2 {
                0 => to < from,
                _ => to > from,
            }
        });
        Hop {
            port,
            lane: u8::from(self.lanes > 1 && self.dateline && !is_ahead),
        }
    }

    fn hops(&self, source: usize, destination: usize) -> u8 {
        if source == destination {
            return 0;
        }
        let (mut from, mut to) = (self.switch_of(source), self.switch_of(destination));
        let mut links = 2;
        for size in &self.dims {
            let distance = (from % size).abs_diff(to % size);
            links += distance.min(size - distance);
            (from, to) = (from / size, to / size);
        }
        links as u8
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
        match (port % self.radix).checked_sub(self.nodes_per_switch) {
            None => 1,
            Some(link) => 2 + link / self.cables / 2,
        }
    }
}
