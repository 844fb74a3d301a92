//! How far the packets of a port go: what PerfBound's factor `l` is made of (PerfBound 2.4, 3.2).
//!
//! Under uniform traffic every node sends one packet to each other node. The hop count of a
//! packet is the number of links on its whole way, from NIC to NIC, at whichever port it is
//! counted: it is that many links that can make the packet wait.

use rayon::prelude::*;

use super::{Topology, Walker};

/// Numbers of packets by hop count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HopCounts(Vec<u64>);

impl HopCounts {
    /// Hop counts that occur, and how many packets have them.
    pub fn iter(&self) -> impl Iterator<Item = (u8, u64)> + '_ {
        let counts = self.0.iter().enumerate();
        counts.filter_map(|(hops, &packets)| (packets > 0).then_some((hops as u8, packets)))
    }

    /// Packets of all hop counts.
    pub fn packets(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The largest hop count; 0 without packets.
    pub fn max(&self) -> u8 {
        self.iter().last().map_or(0, |(hops, _)| hops)
    }

    /// The mean hop count; `None` without packets.
    pub fn mean(&self) -> Option<f64> {
        self.average(f64::from)
    }

    /// Hop counts and the proportions `p_i` of the packets that have them.
    pub fn proportions(&self) -> Vec<(u8, f64)> {
        let packets = self.packets() as f64;
        self.iter()
            .map(|(hops, count)| (hops, count as f64 / packets))
            .collect()
    }

    /// `sum(p_i / h_i)`, by which the bound is multiplied in PerfBound 2.4 and SPEC 7.2; `None`
    /// without packets.
    pub fn factor(&self) -> Option<f64> {
        self.average(|hops| 1.0 / f64::from(hops))
    }

    fn average(&self, of: impl Fn(u8) -> f64) -> Option<f64> {
        let sum: f64 = self
            .iter()
            .map(|(hops, count)| count as f64 * of(hops))
            .sum();
        let packets = self.packets();
        (packets > 0).then(|| sum / packets as f64)
    }

    fn add(&mut self, hops: usize, packets: u64) {
        if self.0.len() <= hops {
            self.0.resize(hops + 1, 0);
        }
        self.0[hops] += packets;
    }

    /// The rows of a table with `width` columns.
    fn rows(table: &[u64], width: usize) -> Vec<Self> {
        let rows = table.chunks(width).map(|row| {
            let used = row.iter().rposition(|&packets| packets > 0);
            Self(row[..used.map_or(0, |last| last + 1)].to_vec())
        });
        rows.collect()
    }
}

/// The ordered pairs of different nodes, by hop count.
pub fn pairs(topology: &dyn Topology) -> HopCounts {
    let representatives = topology.representatives();
    let mut counts = HopCounts::default();
    for source in (0..representatives).step_by(topology.nodes_per_switch()) {
        for destination in 0..topology.nodes() {
            let packets = from_switch(topology, source, destination);
            let hops = if source == destination {
                2 // from its neighbours
            } else {
                topology.hops(source, destination).into()
            };
            counts.add(hops, packets);
        }
    }
    let times = (topology.nodes() / representatives) as u64;
    counts.0.iter_mut().for_each(|packets| *packets *= times);
    counts
}

/// The packets of every port, by hop count, in the order of the ports' numbers: exact, from
/// the ways of all packets.
pub fn by_port(topology: &dyn Topology) -> Vec<HopCounts> {
    let width = usize::from(pairs(topology).max()) + 1;
    let slots: Vec<u32> = (0..topology.ports() as u32).collect();
    let mut table = count(topology, topology.nodes(), &slots, width);
    // What all nodes of a switch send was counted at the NIC of the first.
    let together = topology.nodes_per_switch();
    let nics = &mut table[topology.switch_ports() * width..];
    for group in nics.chunks_mut(together * width) {
        let (first, others) = group.split_at_mut(width);
        first
            .iter_mut()
            .for_each(|packets| *packets /= together as u64);
        for other in others.chunks_mut(width) {
            other.copy_from_slice(first);
        }
    }
    HopCounts::rows(&table, width)
}

/// The packets of all ports of a class together, by hop count, in the order of
/// [`Topology::classes`].
pub fn by_class(topology: &dyn Topology) -> Vec<HopCounts> {
    let width = usize::from(pairs(topology).max()) + 1;
    let slots: Vec<u32> = (0..topology.ports())
        .map(|port| topology.class(port) as u32)
        .collect();
    let representatives = topology.representatives();
    let mut table = count(topology, representatives, &slots, width);
    let times = (topology.nodes() / representatives) as u64;
    table.iter_mut().for_each(|packets| *packets *= times);
    table.resize(topology.classes().len() * width, 0);
    HopCounts::rows(&table, width)
}

/// The proportions `(hop count, p_i)` of the packets that each port sends under uniform
/// traffic; empty for ports that send none.
pub fn hop_proportions(topology: &dyn Topology) -> Vec<Vec<(u8, f64)>> {
    by_port(topology)
        .iter()
        .map(HopCounts::proportions)
        .collect()
}

/// Packets to `destination` from the switch whose first node is `source`.
fn from_switch(topology: &dyn Topology, source: usize, destination: usize) -> u64 {
    let nodes = topology.nodes_per_switch();
    let own = (source..source + nodes).contains(&destination);
    (nodes - usize::from(own)) as u64
}

/// Walks a packet from each of the first `sources` nodes to every node and counts it at
/// each port, in the row that `slots` gives for the port and the column of its hop count.
/// The nodes of a switch are walked together, and counted at the first one's NIC.
fn count(topology: &dyn Topology, sources: usize, slots: &[u32], width: usize) -> Vec<u64> {
    let walker = Walker::new(topology);
    let rows = slots.iter().max().map_or(0, |&row| row as usize + 1);
    let sources: Vec<usize> = (0..sources).step_by(topology.nodes_per_switch()).collect();
    // Few large parts: each has a table of its own.
    let part = sources.len().div_ceil(rayon::current_num_threads());
    let tables: Vec<Vec<u64>> = sources
        .par_chunks(part)
        .map(|sources| {
            let mut table = vec![0; rows * width];
            let mut way = Vec::new();
            for &source in sources {
                for destination in 0..topology.nodes() {
                    way.clear();
                    way.extend(walker.way(source, destination).map(|(port, _)| port));
                    let packets = from_switch(topology, source, destination);
                    for &port in &way {
                        table[slots[port] as usize * width + way.len()] += packets;
                    }
                }
            }
            table
        })
        .collect();
    let mut tables = tables.into_iter();
    let mut sum = tables.next().unwrap_or_default();
    for table in tables {
        sum.iter_mut()
            .zip(table)
            .for_each(|(sum, part)| *sum += part);
    }
    sum
}

/// What the devices learn in the discovery run of PerfBound 3.2, in the form of [`by_port`].
///
/// Every node sends messages to every other node, the first with a time to live (TTL) of
/// one link, each further one with one more, until one arrives. A device at which the TTL
/// of a message has ended notes, at the port through which it passes on later messages from
/// the same source to the same destination, the highest TTL with which they were sent.
/// Every link is walked for every TTL: for small networks.
pub fn discover(topology: &dyn Topology) -> Vec<HopCounts> {
    let walker = Walker::new(topology);
    let mut counts = vec![HopCounts::default(); topology.ports()];
    for source in 0..topology.nodes() {
        for destination in (0..topology.nodes()).filter(|&node| node != source) {
            // Devices at which a TTL has ended, by port, and the highest TTL noted there;
            // the source knows of all its messages.
            let mut notes = vec![(topology.nic(source), 0)];
            for ttl in 1.. {
                let mut arrived = false;
                for (links, (port, _)) in walker.way(source, destination).enumerate() {
                    if links == ttl {
                        notes.push((port, 0));
                        break;
                    }
                    if let Some((_, highest)) = notes.iter_mut().find(|(at, _)| *at == port) {
                        *highest = ttl;
                    }
                    arrived = walker.peer(port) == Some(topology.nic(destination));
                }
                if arrived {
                    break;
                }
            }
            for (port, highest) in notes {
                counts[port].add(highest, 1);
            }
        }
    }
    counts
}
