//! The way of a packet, port by port.

use super::{Hop, Topology};

/// Walks packets through a topology. It knows the other end of every cable, which saves
/// working it out at every step.
pub struct Walker<'a> {
    topology: &'a dyn Topology,
    radix: usize,
    /// The other end of every port's cable, or `u32::MAX`.
    peers: Vec<u32>,
}

impl<'a> Walker<'a> {
    /// Looks up every cable.
    pub fn new(topology: &'a dyn Topology) -> Self {
        let peer = |port| topology.peer(port).map_or(u32::MAX, |peer| peer as u32);
        Self {
            topology,
            radix: topology.radix(),
            peers: (0..topology.ports()).map(peer).collect(),
        }
    }

    /// Its topology.
    pub fn topology(&self) -> &'a dyn Topology {
        self.topology
    }

    /// The other end of the cable at a port, `None` where there is no cable.
    pub fn peer(&self, port: usize) -> Option<usize> {
        (self.peers[port] != u32::MAX).then_some(self.peers[port] as usize)
    }

    /// The ports that send a packet on its way from node to node, the NIC first, each with
    /// the lane on which it sends.
    ///
    /// # Panics
    /// While walking, if the way leads through a port without a cable, to another node, or
    /// on for more than 255 links.
    pub fn way(&self, source: usize, destination: usize) -> Way<'_> {
        Way {
            walker: self,
            next: Some((self.topology.nic(source), 0)),
            destination,
            links: 0,
        }
    }
}

/// See [`Walker::way`].
pub struct Way<'a> {
    walker: &'a Walker<'a>,
    next: Option<(usize, u8)>,
    destination: usize,
    links: u8,
}

impl Iterator for Way<'_> {
    /// The port and the lane.
    type Item = (usize, u8);

    fn next(&mut self) -> Option<(usize, u8)> {
        let (port, lane) = self.next?;
        let Walker {
            topology, radix, ..
        } = *self.walker;
        self.links = self
            .links
            .checked_add(1)
            .expect("a way of at most 255 links");
        let Some(arrival) = self.walker.peer(port) else {
            panic!(
                "{} has no cable to node {}",
                topology.port_name(port),
                self.destination
            );
        };
        self.next = if arrival >= topology.switch_ports() {
            assert_eq!(arrival, topology.nic(self.destination), "the wrong node");
            None
        } else {
            let (switch, input) = (arrival / radix, arrival % radix);
            let Hop { port, lane } = topology.route(switch, input, lane, self.destination);
            Some((switch * radix + usize::from(port), lane))
        };
        Some((port, lane))
    }
}
