//! Which port is wired to which, and the way from node to node.

/// The next step of a packet that is in a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The port.
    pub port: u8,
    /// The lane.
    pub lane: u8,
}

/// The shape of a network of equal switches. Nodes have one NIC with one port.
///
/// Ports are numbered through: port `p` of switch `s` is `s * radix + p`, the NIC of node
/// `n` is `switches * radix + n`.
pub trait Topology: Send + Sync {
    /// Lanes.
    fn lanes(&self) -> usize {
        1
    }
    /// Number of nodes.
    fn nodes(&self) -> usize;
    /// Number of switches.
    fn switches(&self) -> usize;
    /// Ports of a switch.
    fn radix(&self) -> usize;
    /// The other end of the cable at a port; `None` where there is no cable.
    fn peer(&self, port: usize) -> Option<usize>;
    /// The next step.
    fn route(&self, switch: usize, input: usize, lane: u8, destination: usize) -> Hop;
    /// Links on the way from node to node, those of the NICs included.
    fn hops(&self, source: usize, destination: usize) -> u8;

    /// Number of ports, those of the NICs included.
    fn ports(&self) -> usize {
        self.switches() * self.radix() + self.nodes()
    }

    /// Ends of links as p000 Table 7 counts them: switches * radix + NICs.
    fn link_ends(&self) -> usize {
        self.ports()
    }

    /// What a port is called in reports.
    fn port_name(&self, port: usize) -> String {
        let switch_ports = self.switches() * self.radix();
        if port >= switch_ports {
            format!("NIC {}", port - switch_ports)
        } else if self.switches() == 1 {
            format!("switch port {port}")
        } else {
            format!(
                "switch {} port {}",
                port / self.radix(),
                port % self.radix()
            )
        }
    }
}

/// One switch with a node at every port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SingleSwitch {
    /// Nodes, which is also the radix.
    pub nodes: usize,
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

    fn peer(&self, port: usize) -> Option<usize> {
        Some((port + self.nodes) % (2 * self.nodes))
    }

    fn route(&self, _: usize, _: usize, _: u8, destination: usize) -> Hop {
        Hop {
            port: destination as u8,
            lane: 0,
        }
    }

    fn hops(&self, _: usize, _: usize) -> u8 {
        2
    }
}
