//! Which partition every switch, node and port of the network belongs to, and its number there.

use crate::network::topology::Topology;

/// Which partition every switch and node belongs to, and its index there.
#[derive(Debug)]
pub struct Numbering {
    /// Partition of each switch, and its index there.
    pub switches: Vec<(u16, u32)>,
    /// Partition of each node, and its index there.
    pub nodes: Vec<(u16, u32)>,
    /// Switches of each partition.
    pub switches_of: Vec<Vec<u32>>,
    /// Nodes of each partition.
    pub nodes_of: Vec<Vec<u32>>,
    radix: usize,
}

impl Numbering {
    /// Splits a network into `partitions`: groups stay together, and every partition gets its
    /// share of every stretch of the numbers, so that no partition has all the spines.
    pub fn new(topology: &dyn Topology, partitions: usize) -> Self {
        let count = topology.switches();
        let group = topology.group_size();
        // Sixteen blocks to a partition, or as many as there are groups; what is left is split.
        let block = (count / (16 * partitions) / group).max(1) * group;
        let dealt = count / (block * partitions) * block * partitions;
        let mut switches = Vec::with_capacity(count);
        let mut switches_of: Vec<Vec<u32>> = vec![Vec::new(); partitions];
        for number in 0..count {
            let partition = match number < dealt {
                true => number / block % partitions,
                false => (number - dealt) * partitions / (count - dealt),
            };
            switches.push((partition as u16, switches_of[partition].len() as u32));
            switches_of[partition].push(number as u32);
        }
        let mut nodes = Vec::with_capacity(topology.nodes());
        let mut nodes_of: Vec<Vec<u32>> = vec![Vec::new(); partitions];
        let radix = topology.radix();
        let first_nic = topology.switches() * radix;
        for node in 0..topology.nodes() {
            // With its switch.
            let switch = topology
                .peer(first_nic + node)
                .map_or(0, |port| port / radix);
            let partition = switches[switch].0;
            nodes.push((partition, nodes_of[partition as usize].len() as u32));
            nodes_of[partition as usize].push(node as u32);
        }
        Self {
            switches,
            nodes,
            switches_of,
            nodes_of,
            radix,
        }
    }

    /// Partition of a port of the topology, and its index there.
    pub fn port(&self, port: usize) -> (u16, u32) {
        let first_nic = self.switches.len() * self.radix;
        if port >= first_nic {
            let (partition, node) = self.nodes[port - first_nic];
            let switches = self.switches_of[partition as usize].len();
            return (partition, (switches * self.radix) as u32 + node);
        }
        let (partition, switch) = self.switches[port / self.radix];
        let index = switch as usize * self.radix + port % self.radix;
        (partition, index as u32)
    }

    /// The port of the topology that has this index in a partition.
    pub fn number(&self, partition: usize, index: usize) -> usize {
        let switch_ports = self.switches_of[partition].len() * self.radix;
        if index >= switch_ports {
            let first_nic = self.switches.len() * self.radix;
            return first_nic + self.nodes_of[partition][index - switch_ports] as usize;
        }
        self.switches_of[partition][index / self.radix] as usize * self.radix + index % self.radix
    }
}
