//! Links that switches turn on and off: when they look at the rules
//! ([`crate::network::on_off_links`]), what they do, and how their neighbours hear of it.
//!
//! A port that is turned off carries what waits for it before; then its switch lets its controller
//! sleep, and tells the other end. One that is turned on is kept awake from then on. What is told takes
//! the time of a message on the link, and that of the pipeline of a switch: it overtakes no packet.

use super::events::{event, EventKind};
use super::packets::NONE;
use super::partition::Partition;
use super::time::Time;
use crate::network::on_off_links::Change;
use crate::network::run::RunError;

impl<const EXTENDED: bool> Partition<'_, EXTENDED> {
    /// Keeps all links awake, and looks at the load from the first window on.
    pub(super) fn start_on_off_links(&mut self) {
        let Some(links) = self.links.as_ref() else {
            return;
        };
        let switches = links.switches.len() as u32;
        for port in 0..self.ends.len() as u32 {
            if self.ends[port as usize].port.peer != NONE {
                self.force_wake(port, true);
            }
        }
        for switch in 0..switches {
            self.watch(switch);
        }
    }

    /// Looks at a switch at the end of the present window.
    fn watch(&mut self, switch: u32) {
        let Some(links) = self.links.as_mut() else {
            return;
        };
        let managed = &mut links.switches[switch as usize];
        if !managed.rules.is_checked() || std::mem::replace(&mut managed.is_watched, true) {
            return;
        }
        let window = links.thresholds.window_ps;
        let end = Time((self.now.0 / window + 1) * window);
        self.wheel
            .schedule(event(end, EventKind::WindowEnds, switch, 0));
    }

    /// A window of a switch ends.
    pub(super) fn window_ends(&mut self, switch: u32) {
        let Some(links) = self.links.as_mut() else {
            return;
        };
        let managed = &mut links.switches[switch as usize];
        let byte_ps = self.common.parameters.byte_ps;
        let change = managed.rules.check(&links.thresholds, byte_ps);
        managed.is_watched = false;
        if !managed.rules.is_at_rest() {
            self.watch(switch);
        }
        self.turn(switch, change);
    }

    /// The other end of a port has turned its link on or off.
    pub(super) fn hear_of_link(&mut self, port: u32, on: bool) {
        let (switch, port) = (port / self.by_radix, port % self.by_radix);
        // A NIC does nothing of its own: its link is always on.
        let links = self.links.as_mut();
        let Some(managed) = links.and_then(|links| links.switches.get_mut(switch as usize)) else {
            return;
        };
        let change = managed.rules.hears(port as u8, on);
        self.turn(switch, change);
    }

    fn turn(&mut self, switch: u32, change: Change) {
        let radix = self.radix;
        let ports = |mask: u64| (0..radix).filter(move |port| mask >> port & 1 == 1);
        let first = switch * self.radix;
        for port in ports(change.on).map(|port| first + port) {
            // Of a link that had still to carry something nobody has been told.
            if !self.set_draining(port, false) {
                self.force_wake(port, true);
                self.tell_of_link(port, true);
            }
        }
        for port in ports(change.off).map(|port| first + port) {
            let until = self.ends[port as usize].port.busy_until.max(self.now);
            self.set_draining(port, true);
            self.wheel
                .schedule(event(until, EventKind::Drained, port, 0));
        }
    }

    /// A packet of `wire` bytes begins to leave a port of a switch, until `end`.
    pub(super) fn leaves_by_on_off_link(&mut self, port: u32, wire: u32, end: Time) {
        let (switch, number) = (port / self.by_radix, port % self.by_radix);
        let Some(links) = self.links.as_mut() else {
            return;
        };
        let managed = &mut links.switches[switch as usize];
        let is_draining = managed.draining >> number & 1 == 1;
        if managed.rules.departs(number as u8, wire) {
            self.watch(switch);
        }
        if is_draining {
            self.wheel.schedule(event(end, EventKind::Drained, port, 0));
        }
    }

    /// A port that is turned off may have sent all that waited for it: its link sleeps.
    pub(super) fn drained(&mut self, port: u32) {
        let state = &self.ends[port as usize].port;
        let waits = state.is_wanted() || !state.crossed.is_empty() || state.coming != NONE;
        if waits || state.busy_until > self.now {
            return;
        }
        if self.set_draining(port, false) {
            self.force_wake(port, false);
            self.tell_of_link(port, false);
        }
    }

    /// Sets whether a port still carries what waits for it; whether it did.
    fn set_draining(&mut self, port: u32, is: bool) -> bool {
        let (switch, number) = (port / self.by_radix, port % self.by_radix);
        let Some(links) = self.links.as_mut() else {
            return false;
        };
        let draining = &mut links.switches[switch as usize].draining;
        let was = *draining >> number & 1 == 1;
        *draining = *draining & !(1 << number) | u64::from(is) << number;
        was
    }

    /// The ports of a switch that packets may be given to.
    pub(super) fn ports_on(&self, switch: u32) -> u64 {
        let links = self.links.as_ref();
        links.map_or(u64::MAX, |links| links.switches[switch as usize].rules.on())
    }

    /// A packet has got a port that is off: the rules have left it without a way.
    pub(super) fn has_no_way(&mut self, switch: u32, output: u8) {
        let number = self.numbering.switches_of[self.number][switch as usize];
        let port = number as usize * self.common.topology.radix() + usize::from(output);
        self.fault.get_or_insert((
            self.now,
            RunError::NoWay {
                time_ps: self.now.0,
                port: self.common.topology.port_name(port),
            },
        ));
    }

    /// From the next clock edge on a port is kept awake, or not.
    fn force_wake(&mut self, port: u32, force: bool) {
        let cycle = self.cycle(self.now);
        self.ends[port as usize].controller.force_wake(cycle, force);
        self.reschedule(port);
    }

    /// Tells the other end of a port's link that the link is on, or off.
    fn tell_of_link(&mut self, port: u32, on: bool) {
        let cycle = self.cycle(self.now) + self.common.message_cycles;
        let time = self.begin_of(cycle) + self.common.parameters.switch_ps;
        self.schedule_at_peer(port, time, EventKind::LinkTurns, u32::from(on));
    }
}
