//! Megafly, also called Dragonfly+ (PerfBound 4.2; Flajslik et al. 2018, Shpiner et al. 2017).
//!
//! A group is a two-level tree: every leaf switch has a cable to every spine switch. The
//! leaves carry the nodes, the spines the cables to the other groups.

use super::global_links::GlobalLinks;
use super::parameters::Parameters;
use super::{Hop, ParameterError, Topology};

/// Groups of `half` leaves and `half` spines, of `2 * half` ports each.
///
/// Switches of a group: the leaves, then the spines. Ports of a leaf: nodes, then spines;
/// of a spine: leaves, then other groups.
#[derive(Clone, Copy, Debug)]
pub(super) struct Megafly {
    groups: usize,
    half: usize,
    global: GlobalLinks,
}

impl Megafly {
    pub(super) fn new(parameters: &Parameters) -> Result<Self, ParameterError> {
        let groups = parameters.number("groups");
        let half = parameters.half_radix()?;
        let Some(global) = GlobalLinks::new(groups, half, half) else {
            let least = (1..).find(|half| half * half + 1 >= groups).unwrap_or(half);
            let remedy = super::remedy("radix", 2 * least);
            return Err(ParameterError {
                key: "groups",
                problem: format!(
                    "groups is {groups}: a group of switches of radix {} has {} cables to other \
                     groups, which connect at most {} groups; {groups} take {remedy}",
                    2 * half,
                    half * half,
                    half * half + 1
                ),
            });
        };
        // With the largest radix these are no more than `MAX_NODES` nodes.
        Ok(Self {
            groups,
            half,
            global,
        })
    }

    fn nodes_per_group(&self) -> usize {
        self.half * self.half
    }

    fn group_of_switch(&self, switch: usize) -> (usize, usize) {
        (switch / self.group_size(), switch % self.group_size())
    }
}

impl Topology for Megafly {
    fn nodes(&self) -> usize {
        self.groups * self.nodes_per_group()
    }

    fn switches(&self) -> usize {
        self.groups * self.group_size()
    }

    fn group_size(&self) -> usize {
        2 * self.half
    }

    fn radix(&self) -> usize {
        2 * self.half
    }

    fn nodes_per_switch(&self) -> usize {
        self.half
    }

    fn switch_of(&self, node: usize) -> usize {
        let (group, leaf) = (
            node / self.nodes_per_group(),
            node % self.nodes_per_group() / self.half,
        );
        group * self.group_size() + leaf
    }

    fn peer(&self, port: usize) -> Option<usize> {
        let (half, radix) = (self.half, self.radix());
        if port >= self.switch_ports() {
            let node = port - self.switch_ports();
            return Some(self.switch_of(node) * radix + node % half);
        }
        let (group, switch) = self.group_of_switch(port / radix);
        let port = port % radix;
        let first = group * 2 * half;
        match (switch.checked_sub(half), port.checked_sub(half)) {
            (None, None) => Some(self.nic(group * self.nodes_per_group() + switch * half + port)),
            (None, Some(spine)) => Some((first + half + spine) * radix + switch),
            (Some(spine), None) => Some((first + port) * radix + half + spine),
            (Some(spine), Some(global)) => {
                let (group, back) = self.global.peer(group, spine * half + global)?;
                let switch = group * 2 * half + half + back / half;
                Some(switch * radix + half + back % half)
            }
        }
    }

    /// Deterministic and minimal (PerfBound 4.2): D-mod-k within a group; to another group by
    /// the spine whose cable leads there, and from there down. Up, across, down: one lane.
    fn route(&self, switch: usize, _: usize, lane: u8, destination: usize) -> Hop {
        let half = self.half;
        let (group, switch) = self.group_of_switch(switch);
        let target = destination / self.nodes_per_group();
        let local = destination % self.nodes_per_group();
        let (leaf, node) = (local / half, local % half);
        let port = match switch.checked_sub(half) {
            None if target == group && leaf == switch => node,
            None if target == group => half + node,
            None => half + self.global.port(self.global.distance(group, target), local) / half,
            Some(_) if target == group => leaf,
            Some(spine) => {
                let distance = self.global.distance(group, target);
                let own = self.global.own_port(spine, distance, local);
                half + own.expect("leaves choose a spine that leads there") % half
            }
        };
        Hop {
            port: port as u8,
            lane,
        }
    }

    fn hops(&self, source: usize, destination: usize) -> u8 {
        if source == destination {
            0
        } else if source / self.half == destination / self.half {
            2
        } else if source / self.nodes_per_group() == destination / self.nodes_per_group() {
            4
        } else {
            5
        }
    }

    fn classes(&self) -> Vec<String> {
        [
            "node to leaf",
            "leaf to node",
            "leaf to spine",
            "spine to leaf",
            "between groups",
        ]
        .map(String::from)
        .into()
    }

    fn class(&self, port: usize) -> usize {
        if port >= self.switch_ports() {
            return 0;
        }
        let (_, switch) = self.group_of_switch(port / self.radix());
        1 + 2 * usize::from(switch >= self.half) + usize::from(port % self.radix() >= self.half)
    }
}
