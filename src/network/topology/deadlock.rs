//! Whether packets that wait for each other could wait in a circle.

use std::collections::BTreeSet;
use std::fmt;

use super::{Topology, Walker};
use crate::network::port_set::ports;

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
/// depends on those on which packets leave the switch at its end: on that of the routing function,
/// and where `selects` on all that a selection function may choose.
///
/// # Errors
/// Names a cycle.
///
/// # Panics
/// If a way leads to a port without a cable, or to a lane that does not exist.
pub fn deadlock_free(topology: &dyn Topology, selects: bool) -> Result<(), Cycle> {
    let walker = Walker::new(topology);
    let (lanes, radix) = (topology.lanes(), topology.radix());
    let channels = topology.ports() * lanes;
    // Channel c = port * lanes + lane. The switch at its end has `ways` channels out; which
    // of them c depends on is a row of as many bits.
    let ways = radix * lanes;
    let mut depends = vec![false; channels * ways];
    let far = |channel: usize| walker.peer(channel / lanes).expect("a way has cables");
    // The destination for which a channel was looked at last.
    let mut seen_for = vec![usize::MAX; channels];
    for destination in 0..topology.nodes() {
        let sources = (0..topology.nodes()).step_by(topology.nodes_per_switch());
        let others = sources.filter(|&source| source != destination);
        let mut left: Vec<usize> = others.map(|source| topology.nic(source) * lanes).collect();
        while let Some(channel) = left.pop() {
            if std::mem::replace(&mut seen_for[channel], destination) == destination {
                continue;
            }
            let input = far(channel);
            if input >= topology.switch_ports() {
                assert_eq!(input, topology.nic(destination), "a way to another node");
                continue;
            }
            let (switch, lane) = (input / radix, (channel % lanes) as u8);
            let hop = topology.route(switch, input % radix, lane, destination);
            assert!(usize::from(hop.lane) < lanes, "a lane that does not exist");
            let chosen = match selects {
                true => topology.choices(switch, hop.port),
                false => hop.port..hop.port + 1,
            };
            for port in chosen.map(usize::from) {
                let way = port * lanes + usize::from(hop.lane);
                depends[channel * ways + way] = true;
                left.push(switch * ways + way);
            }
        }
    }
    // A channel without a cable has no row.
    let next: Vec<Vec<usize>> = (0..channels)
        .map(|channel| {
            let end = walker.peer(channel / lanes).map_or(0, |port| port / radix);
            let row = &depends[channel * ways..(channel + 1) * ways];
            let ways = row.iter().enumerate().filter(|(_, &depends)| depends);
            ways.map(|(way, _)| end * radix * lanes + way).collect()
        })
        .collect();
    no_cycle(topology, &next)
}

/// Whether a packet that may go on by any of the adaptive channels, or by the escape channel, of Duato's
/// protocol always gets there (Duato 1993, as POWAR 3 has it): the escape channels have no cycle, in
/// whose dependency graph a channel depends on every one that a packet may need next, after any number
/// of adaptive ones in between. A packet waits for no other channel: it takes an adaptive one only if
/// that is free.
///
/// # Errors
/// Names a cycle of escape channels.
///
/// # Panics
/// If the escape channel does not lead nearer to the destination, or there is none.
pub fn adaptive_deadlock_free(topology: &dyn Topology) -> Result<(), Cycle> {
    let walker = Walker::new(topology);
    let (lanes, radix, switches) = (topology.lanes(), topology.radix(), topology.switches());
    let end = |switch: usize, port: u8| {
        let far = walker.peer(switch * radix + usize::from(port));
        far.expect("a way has cables") / radix
    };
    let mut next = vec![BTreeSet::new(); topology.ports() * lanes];
    for destination in (0..topology.nodes()).step_by(topology.nodes_per_switch()) {
        let target = topology.switch_of(destination);
        // By switch: the escape channels that packets may leave it by.
        let escape = |switch: usize| {
            let hop = topology.escape(switch, destination);
            let nearer = topology.nearer(switch, destination);
            assert!(nearer >> hop.port & 1 == 1, "an escape that leads nearer");
            let cables = topology.choices(switch, hop.port).map(usize::from);
            cables.map(move |port| (switch * radix + port) * lanes + usize::from(hop.lane))
        };
        for switch in (0..switches).filter(|&switch| switch != target) {
            let first = escape(switch).next().expect("a port");
            let mut reached = BTreeSet::new();
            let mut left = vec![end(switch, (first / lanes % radix) as u8)];
            while let Some(at) = left.pop() {
                if at == target || !reached.insert(at) {
                    continue;
                }
                left.extend(ports(topology.nearer(at, destination)).map(|port| end(at, port)));
            }
            let needed: Vec<usize> = reached.into_iter().flat_map(escape).collect();
            for channel in escape(switch) {
                next[channel].extend(&needed);
            }
        }
    }
    let next: Vec<Vec<usize>> = next.into_iter().map(Vec::from_iter).collect();
    no_cycle(topology, &next)
}

/// Looks for a cycle of channels, each of which is followed by those in `next`.
fn no_cycle(topology: &dyn Topology, next: &[Vec<usize>]) -> Result<(), Cycle> {
    let (channels, lanes) = (next.len(), topology.lanes());
    // Peel off the channels that nothing left waits for. What stays, if anything, has a
    // predecessor each: going back from one ends in a circle.
    let mut waiting = vec![0u32; channels];
    next.iter()
        .flatten()
        .for_each(|&channel| waiting[channel] += 1);
    let mut free: Vec<usize> = (0..channels).filter(|&c| waiting[c] == 0).collect();
    while let Some(channel) = free.pop() {
        for &channel in &next[channel] {
            waiting[channel] -= 1;
            if waiting[channel] == 0 {
                free.push(channel);
            }
        }
    }
    let mut before = vec![usize::MAX; channels];
    for channel in (0..channels).filter(|&c| waiting[c] > 0) {
        next[channel]
            .iter()
            .for_each(|&next| before[next] = channel);
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
