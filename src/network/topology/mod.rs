//! Which port is wired to which, and the way from node to node.
//!
//! Every kind of network is arithmetic on the numbers of switches, ports and nodes: routes
//! are computed where a packet is, from where it goes, and no table holds an entry per
//! pair. `docs/how/topologies.md` says what the papers state and what was decided here.

mod cables;
mod deadlock;
mod dragonfly;
mod fat_tree;
mod global_links;
pub mod hop_counts;
mod hyperx;
mod kinds;
mod megafly;
mod parameters;
mod single_switch;
mod torus;
mod walk;

use std::fmt::Debug;
use std::ops::Range;

pub use deadlock::{adaptive_deadlock_free, deadlock_free, Cycle};
pub use kinds::{nearest_kinds, ConfiguredTopology, Kind, KINDS};
pub use parameters::{Initial, Parameter, ParameterError, Value};
pub use single_switch::SingleSwitch;
pub use walk::Walker;

use crate::network::parameters::MAX_RADIX;

/// Most nodes of a network: twenty times the 100,000 for which PerfBound 2.5 says BXIv3 is made.
pub const MAX_NODES: usize = 1 << 21;

/// The next step of a packet that is in a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The port through which it leaves, from 0 to the radix less one.
    pub port: u8,
    /// The lane on which it leaves, below [`Topology::lanes`].
    pub lane: u8,
}

/// What a network is built as, as far as queueing schemes are made for it
/// ([`queueing`](super::queueing)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A fat tree: packets go up, then down.
    FatTree,
    /// Packets go in one dimension after the other. The classes of ports are those of the NICs, those to
    /// the nodes, and one for each dimension.
    Grid {
        /// How many there are.
        dimensions: usize,
    },
    /// Groups of which each is connected with each other one, and lane 1 in the destination's group.
    Dragonfly,
    /// Something else.
    Other,
}

/// The shape of a network of equal switches. Nodes have one NIC with one port.
///
/// Ports are numbered through: port `p` of switch `s` is `s * radix + p`, the NIC of node
/// `n` is `switches * radix + n`. Switches close to each other have numbers close to each
/// other, and so have nodes: a group is a range of both.
///
/// A *lane* is a virtual channel: a PFC priority with buffers of its own at every input and
/// output. Packets start on lane 0. There are as many as keep the network free of deadlock
/// (see [`deadlock_free`]), and no more.
pub trait Topology: Debug + Send + Sync {
    /// Number of nodes.
    fn nodes(&self) -> usize;
    /// Number of switches.
    fn switches(&self) -> usize;
    /// Ports of a switch, with those that have no cable.
    fn radix(&self) -> usize;
    /// Number of lanes.
    fn lanes(&self) -> usize {
        1
    }
    /// What it is built as.
    fn shape(&self) -> Shape {
        Shape::Other
    }
    /// Nodes of a switch that has any. The nodes of a switch have consecutive numbers, and
    /// the first one's is a multiple of this.
    fn nodes_per_switch(&self) -> usize;
    /// The switch of a node.
    fn switch_of(&self, node: usize) -> usize;
    /// The other end of the cable at a port; `None` where there is no cable.
    fn peer(&self, port: usize) -> Option<usize>;
    /// How a packet for node `destination` that came in at port `input` (0 to radix less
    /// one) on `lane` leaves `switch`. From which of its nodes a switch has got a packet
    /// makes no difference.
    fn route(&self, switch: usize, input: usize, lane: u8, destination: usize) -> Hop;
    /// The ports of `switch` by which a packet gets as near to its destination as by `port`, which
    /// [`Topology::route`] has named, on the same lane.
    fn choices(&self, _switch: usize, port: u8) -> Range<u8> {
        port..port + 1
    }
    /// The ports of `switch` by which a packet gets nearer to its destination, as a set: those of the
    /// adaptive channels of Duato's protocol (POWAR 3). Only a [`Shape::Grid`] has any, and none at the
    /// switch of the destination.
    fn nearer(&self, _switch: usize, _destination: usize) -> u64 {
        0
    }
    /// The next step by the escape channels of Duato's protocol, from any switch that the adaptive ones
    /// lead to: not even the lane depends on the way that a packet has come (see
    /// [`adaptive_deadlock_free`]).
    fn escape(&self, switch: usize, destination: usize) -> Hop {
        self.route(switch, 0, 0, destination)
    }
    /// Links on the way from node to node, those of the NICs included; 0 from a node to
    /// itself.
    fn hops(&self, source: usize, destination: usize) -> u8;
    /// The first so many nodes stand for all: in number of packets by class of port and by
    /// hop count, what they send under uniform traffic is a proportional part of the whole.
    fn representatives(&self) -> usize {
        self.nodes_per_switch()
    }
    /// Switches of a group, if most of their cables lead to each other: as many consecutive ones,
    /// from a multiple of it on. 1 if there are no groups.
    fn group_size(&self) -> usize {
        1
    }
    /// Whether what leaves a port that has a cable does so on a link that stays on where switches turn
    /// links on and off: one of the minimal tree, the least that connects all nodes (Alonso 3), or the
    /// first of several cables between neighbours (POWAR 4.2, after Alonso et al. 2010). `None` in a
    /// network that has neither.
    fn stays_on(&self, _port: usize) -> Option<bool> {
        None
    }
    /// Names of the classes of ports, in an order that is good to read.
    fn classes(&self) -> Vec<String>;
    /// The class of a port that has a cable: an index into [`Topology::classes`].
    fn class(&self, port: usize) -> usize;

    /// Whether there are several ports to choose from anywhere.
    fn has_choices(&self) -> bool {
        let ports = 0..self.radix() as u8;
        let mut all = (0..self.switches()).flat_map(|switch| {
            let ports = ports.clone();
            ports.map(move |port| (switch, port))
        });
        all.any(|(switch, port)| self.choices(switch, port).len() > 1)
    }

    /// Number of switch ports; the NICs are numbered from here.
    fn switch_ports(&self) -> usize {
        self.switches() * self.radix()
    }

    /// Number of ports, those of the NICs included.
    fn ports(&self) -> usize {
        self.switch_ports() + self.nodes()
    }

    /// Links as PerfBound 4.2 counts them: switches times radix, plus NICs. That is every end of
    /// a link, and the ports without a cable.
    fn links(&self) -> usize {
        self.ports()
    }

    /// The NIC's port of a node.
    fn nic(&self, node: usize) -> usize {
        self.switch_ports() + node
    }

    /// What a port is called: `switch3.port5`, `nic7`.
    fn port_name(&self, port: usize) -> String {
        match port.checked_sub(self.switch_ports()) {
            Some(node) => format!("nic{node}"),
            None => format!("switch{}.port{}", port / self.radix(), port % self.radix()),
        }
    }

    /// The port of that name, if there is one.
    fn port_named(&self, name: &str) -> Option<usize> {
        let below = |digits: &str, end: usize| {
            let number = digits.parse().ok().filter(|&number: &usize| number < end)?;
            // One name per port: no sign, no leading zeros.
            (number.to_string() == digits).then_some(number)
        };
        if let Some(node) = name.strip_prefix("nic") {
            return Some(self.nic(below(node, self.nodes())?));
        }
        let (switch, port) = name.strip_prefix("switch")?.split_once(".port")?;
        Some(below(switch, self.switches())? * self.radix() + below(port, self.radix())?)
    }
}

/// The radix that a network needs, if a switch can have that many ports; `key` is the
/// parameter to blame otherwise.
fn fitting_radix(key: &'static str, ports: usize) -> Result<usize, ParameterError> {
    if ports <= MAX_RADIX {
        return Ok(ports);
    }
    Err(ParameterError {
        key,
        problem: format!(
            "a switch would need {ports} ports with these parameters; it can have at most \
             {MAX_RADIX}"
        ),
    })
}

/// A value of a parameter that would do, if a switch can have that many ports.
fn remedy(key: &str, value: usize) -> String {
    match value {
        0..=MAX_RADIX => format!("{key} = {value}"),
        _ => format!(
            "{key} = {value}, and a switch can have at most {MAX_RADIX} ports: take fewer groups"
        ),
    }
}

/// The radix that is asked for, or as many ports as are used.
fn chosen_radix(
    asked: Option<usize>,
    used: usize,
    key: &'static str,
) -> Result<usize, ParameterError> {
    match asked {
        Some(radix) if radix < used => Err(ParameterError {
            key: "radix",
            problem: format!(
                "radix is {radix}: the switches use {used} ports with these parameters; the \
                 least that fits is {used}"
            ),
        }),
        Some(radix) => Ok(radix),
        None => fitting_radix(key, used),
    }
}

/// Most methods of a network in a test that is its field 0 but for the others.
#[cfg(test)]
macro_rules! as_field_0 {
    () => {
        fn nodes(&self) -> usize {
            self.0.nodes()
        }
        fn switches(&self) -> usize {
            self.0.switches()
        }
        fn radix(&self) -> usize {
            self.0.radix()
        }
        fn shape(&self) -> $crate::network::topology::Shape {
            self.0.shape()
        }
        fn nodes_per_switch(&self) -> usize {
            self.0.nodes_per_switch()
        }
        fn switch_of(&self, node: usize) -> usize {
            self.0.switch_of(node)
        }
        fn peer(&self, port: usize) -> Option<usize> {
            self.0.peer(port)
        }
        fn hops(&self, source: usize, destination: usize) -> u8 {
            self.0.hops(source, destination)
        }
        fn classes(&self) -> Vec<String> {
            self.0.classes()
        }
        fn class(&self, port: usize) -> usize {
            self.0.class(port)
        }
    };
}
#[cfg(test)]
pub(crate) use as_field_0;

#[cfg(test)]
mod tests;
