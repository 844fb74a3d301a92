//! Whether packets that wait for each other could wait in a circle.

use std::fmt;

use super::{Topology, Walker};

/// Channels of which each may wait for the next, and the last for the first: ports with the
/// lanes on which they send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle(Vec<String>);

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.0.join(" -> "))
    }
}

/// Follows every way from node to node and looks for a cycle in the channel dependency
/// graph (Dally and Seitz 1987). A channel is a link in one direction on one lane; it
/// depends on those on which packets leave the switch at its end.
///
/// # Errors
/// Names a cycle.
pub fn deadlock_free(topology: &dyn Topology) -> Result<(), Cycle> {
    let walker = Walker::new(topology);
    let (lanes, radix) = (topology.lanes(), topology.radix());
    // Channel c = port * lanes + lane. The switch at its end has `ways` channels out; which
    // of them c depends on is a row of as many bits.
    let ways = radix * lanes;
    let mut depends = vec![false; topology.ports() * lanes * ways];
    let end = |channel: usize| walker.peer(channel / lanes).map(|port| port / radix);
    for source in (0..topology.nodes()).step_by(topology.nodes_per_switch()) {
        for destination in (0..topology.nodes()).filter(|&destination| destination != source) {
            let mut before = None;
            for (port, lane) in walker.way(source, destination) {
                assert!(usize::from(lane) < lanes, "a lane that does not exist");
                if let Some(before) = before {
                    let way = port % radix * lanes + usize::from(lane);
                    depends[before * ways + way] = true;
                }
                before = Some(port * lanes + usize::from(lane));
            }
        }
    }
    let next = |channel: usize| {
        let first = end(channel).map_or(0, |switch| switch * ways);
        let row = &depends[channel * ways..(channel + 1) * ways];
        let ways = row.iter().enumerate().filter(|(_, &depends)| depends);
        ways.map(move |(way, _)| first + way)
    };
    // Peel off the channels that nothing left waits for. What stays, if anything, has a
    // predecessor each: going back from one ends in a circle.
    let channels = topology.ports() * lanes;
    let mut waiting = vec![0u32; channels];
    (0..channels)
        .flat_map(next)
        .for_each(|channel| waiting[channel] += 1);
    let mut free: Vec<usize> = (0..channels).filter(|&c| waiting[c] == 0).collect();
    while let Some(channel) = free.pop() {
        for channel in next(channel) {
            waiting[channel] -= 1;
            if waiting[channel] == 0 {
                free.push(channel);
            }
        }
    }
    let mut before = vec![usize::MAX; channels];
    for channel in (0..channels).filter(|&c| waiting[c] > 0) {
        next(channel).for_each(|next| before[next] = channel);
    }
    let Some(mut channel) = (0..channels).find(|&c| waiting[c] > 0) else {
        return Ok(());
    };
    let mut seen = vec![usize::MAX; channels];
    let mut back = Vec::new();
    while seen[channel] == usize::MAX {
        seen[channel] = back.len();
        back.push(channel);
        channel = before[channel];
    }
    let name = |&channel: &usize| {
        format!(
            "{} lane {}",
            topology.port_name(channel / lanes),
            channel % lanes
        )
    };
    Err(Cycle(
        back[seen[channel]..].iter().rev().map(name).collect(),
    ))
}
