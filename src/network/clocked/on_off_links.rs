//! Alonso 3 as the paper tells it, rule by rule, on sets of ports; and what it says of ports up for the
//! cables of a link between neighbours.

use std::collections::{BTreeMap, BTreeSet};

use super::{Event, Network};
use crate::network::run::RunError;
use crate::network::selection::{Selection, Thresholds};
use crate::network::topology::Shape;

/// What the switches know about links.
#[derive(Default)]
pub(super) struct Links {
    thresholds: Option<Thresholds>,
    /// Switch ports whose links may be given packets.
    on: BTreeSet<u32>,
    /// Switch ports that are off, and whose controllers may not sleep yet.
    leaving: BTreeSet<u32>,
    /// Switch ports at which packets may come in.
    incoming: BTreeSet<u32>,
    /// By the first of ports that a load has to choose from: what has left by them since the last look.
    sent: BTreeMap<u32, u64>,
}

impl Network<'_> {
    /// All links are on; the first look at the loads is a window later.
    pub(super) fn start_links(&mut self) {
        let Selection::Alonso(thresholds) = self.settings.switch.selection else {
            return;
        };
        self.tree.thresholds = Some(thresholds);
        for port in 0..self.ports.len() as u32 {
            if self.topology.peer(port as usize).is_none() {
                continue;
            }
            self.change(port, |link, end| link.ends[end].force_wake = true);
            if self.switch_port(port).is_some() {
                self.tree.on.insert(port);
                self.tree.incoming.insert(port);
            }
        }
        self.queue
            .schedule(thresholds.window_ps, Event::LookAtLoads);
    }

    fn port(&self, switch: usize, port: usize) -> u32 {
        (switch * self.topology.radix() + port) as u32
    }

    /// Its ports that lead up: half of them, but for the switches at the top. None in a grid.
    fn ups(&self, switch: usize) -> Vec<u32> {
        let half = self.topology.radix() / 2;
        let ports = half..self.topology.radix();
        let is_tree = self.topology.shape() == Shape::FatTree;
        let up = |port: &usize| self.topology.choices(switch, *port as u8).len() == half;
        let ports = ports.filter(|port| is_tree && half > 1 && up(port));
        ports.map(|port| self.port(switch, port)).collect()
    }

    /// Ports among which a load chooses: those up, or in a grid the cables to each neighbour.
    fn bundles(&self, switch: usize) -> BTreeSet<Vec<u32>> {
        if self.topology.shape() == Shape::FatTree {
            return BTreeSet::from([self.ups(switch)]);
        }
        let bundle = |port: u8| {
            let ports = self.topology.choices(switch, port);
            ports.map(|port| self.port(switch, port.into())).collect()
        };
        let bundles = (0..self.topology.radix() as u8).map(bundle);
        bundles.filter(|ports: &Vec<u32>| ports.len() > 1).collect()
    }

    fn downs(&self, switch: usize) -> Vec<u32> {
        let ups = self.ups(switch);
        let ports = (0..self.topology.radix()).map(|port| self.port(switch, port));
        let cabled = ports.filter(|&port| self.topology.peer(port as usize).is_some());
        cabled.filter(|port| !ups.contains(port)).collect()
    }

    /// It has the minimal tree's links down, or those of a grid.
    fn stays(&self, switch: usize) -> bool {
        let port = self.port(switch, 0);
        self.topology.stays_on(port as usize) == Some(true)
    }

    /// "Periodically, the average utilization of all the up links in a switch is obtained."
    pub(super) fn look_at_loads(&mut self) {
        let thresholds = self.tree.thresholds.expect("only then there are looks");
        let switches = (0..self.switches.len()).filter(|&switch| self.stays(switch));
        let bundles: Vec<Vec<u32>> = switches.flat_map(|switch| self.bundles(switch)).collect();
        for ports in bundles.into_iter().filter(|ports| !ports.is_empty()) {
            let bytes = self.tree.sent.remove(&ports[0]).unwrap_or(0);
            let is_on = |port: &&u32| self.tree.on.contains(port);
            let count = ports.iter().filter(is_on).count() as u64;
            let room = (count * thresholds.window_ps) as f64;
            let load = (bytes * self.settings.switch.byte_ps) as f64 / room;
            if load > thresholds.on_millionths as f64 / 1e6 {
                let off = ports.iter().find(|port| !is_on(port)).copied();
                off.into_iter().for_each(|port| self.turn_on(port));
            } else if load < thresholds.off_millionths as f64 / 1e6 && count > 1 {
                let last = ports.iter().rfind(is_on).copied();
                last.into_iter().for_each(|port| self.turn_off(port));
            }
        }
        let next = self.now + thresholds.window_ps;
        self.queue.schedule(next, Event::LookAtLoads);
    }

    /// The other end of a link says what it has done with it.
    pub(super) fn hear(&mut self, port: u32, on: bool) {
        let Some((switch, number)) = self.switch_port(port) else {
            return;
        };
        match on {
            true => self.tree.incoming.insert(port),
            false => self.tree.incoming.remove(&port),
        };
        if self.stays(switch) {
            return;
        }
        let (ups, downs) = (self.ups(switch), self.downs(switch));
        // "it turns off the up link i + k", and on.
        if downs.contains(&port) {
            if let Some(&up) = ups.get(number as usize) {
                match on {
                    true => self.turn_on(up),
                    false => self.turn_off(up),
                }
            }
        }
        // "Down links: these links are turned on/off all at once."
        let reached = ups
            .iter()
            .chain(&downs)
            .any(|port| self.tree.incoming.contains(port));
        for port in downs {
            match reached {
                true => self.turn_on(port),
                false => self.turn_off(port),
            }
        }
    }

    fn turn_on(&mut self, port: u32) {
        if self.tree.on.insert(port) && !self.tree.leaving.remove(&port) {
            self.change(port, |link, end| link.ends[end].force_wake = true);
            self.poll_soon(self.ports[port as usize].link);
            self.tell(port, true);
        }
    }

    fn turn_off(&mut self, port: u32) {
        if self.tree.on.remove(&port) {
            self.tree.leaving.insert(port);
            self.leave(port);
        }
    }

    /// Lets a port's controller sleep that has nothing left to send and is off.
    pub(super) fn leave(&mut self, port: u32) {
        let Some((switch, number)) = self.switch_port(port) else {
            return;
        };
        let nothing = (self.bytes_in_queues(switch, number as u8))
            .unwrap_or_else(|| self.switches[switch].bytes_for(&self.packets, number))
            == 0;
        if nothing && self.tree.leaving.remove(&port) {
            self.change(port, |link, end| link.ends[end].force_wake = false);
            self.tell(port, false);
        }
    }

    fn tell(&mut self, port: u32, on: bool) {
        let parameters = &self.settings.switch;
        let clock = self.settings.clock_ps;
        let cycles = self.cycle() + parameters.pause_delay().div_ceil(clock);
        let peer = self.ports[port as usize].peer;
        let event = Event::LinkTurns { port: peer, on };
        self.queue
            .schedule(cycles * clock + parameters.switch_ps, event);
    }

    /// A packet leaves by a port.
    pub(super) fn counts_as_load(&mut self, port: u32, wire: u32) {
        if let Some((switch, _)) = self.switch_port(port) {
            let mut bundles = self.bundles(switch).into_iter();
            if let Some(ports) = bundles.find(|ports| ports.contains(&port)) {
                *self.tree.sent.entry(ports[0]).or_default() += u64::from(wire);
            }
        }
    }

    /// Of ports that lead to a packet's destination, those whose links are on: of these, the ones that
    /// are awake, if there are any.
    pub(super) fn links_on(&mut self, switch: usize, ports: std::ops::Range<u8>) -> Vec<u8> {
        if self.tree.thresholds.is_none() {
            return ports.collect();
        }
        let is_on = |port: &u8| {
            self.tree
                .on
                .contains(&self.port(switch, usize::from(*port)))
        };
        let on: Vec<u8> = ports.clone().filter(is_on).collect();
        let mut awake = Vec::new();
        for &port in &on {
            let number = self.port(switch, port.into());
            self.change(number, |link, end| {
                if link.enabled(end) {
                    awake.push(port);
                }
            });
        }
        if on.is_empty() {
            let port = self.port(switch, ports.start.into()) as usize;
            self.fault.get_or_insert(RunError::NoWay {
                time_ps: self.now,
                port: self.topology.port_name(port),
            });
            return ports.collect();
        }
        if awake.is_empty() {
            on
        } else {
            awake
        }
    }
}
