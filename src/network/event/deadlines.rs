//! When port controllers are looked at: at their deadlines, when they have been given something to
//! do, and when a message arrives.

use super::events::{event, EventKind};
use super::partition::{End, Partition};
use super::prefetch::NEAR_AHEAD;
use super::rounds;
use super::time::{Cycle, Time};
use crate::blocks::port::pins::Message;
use crate::network::run::RunError;

impl<const EXTENDED: bool> Partition<'_, EXTENDED> {
    /// A controller's inputs have changed, or it has been clocked: takes its outputs, and schedules
    /// its next deadline.
    #[inline]
    pub(super) fn reschedule(&mut self, port: u32) {
        let is_silent = self.ends[port as usize].controller.is_silent();
        if !is_silent {
            self.poll_outputs(port);
        }
        let now = self.cycle(self.now);
        let controller = &mut self.ends[port as usize].controller;
        let next = controller.next();
        let Some(deadline) = controller.deadline().filter(|at| next < **at) else {
            return;
        };
        // While it is silent, most packets move the deadline.
        let round = rounds::before(now, next).filter(|_| is_silent);
        let cycle = round.unwrap_or(next);
        *deadline = cycle;
        let (kind, index) = match round {
            None => (EventKind::Deadline, port),
            Some(_) if self.rounds.join(cycle, port) => (EventKind::DeadlineRound, 0),
            Some(_) => return,
        };
        if let Some(time) = cycle.0.checked_mul(self.common.clock_ps) {
            self.wheel.schedule(event(Time(time), kind, index, 0));
        }
    }

    /// Looks at the controllers whose deadlines are near: for most, packets have moved them.
    pub(super) fn deadline_round(&mut self) {
        let cycle = self.present_cycle();
        let ports = self.rounds.leave(cycle);
        for (at, &port) in ports.iter().enumerate() {
            if let Some(&port) = ports.get(at + NEAR_AHEAD) {
                self.prefetch_end(port, End::PORT..End::MOST);
            }
            let controller = &mut self.ends[port as usize].controller;
            if let Some(deadline) = controller.deadline().filter(|at| **at == cycle) {
                *deadline = Cycle::NEVER;
                self.reschedule(port);
            }
        }
        self.rounds.recycle(ports);
    }

    /// Takes a controller's message for the other end, and its fault.
    pub(super) fn poll_outputs(&mut self, port: u32) {
        let controller = &mut self.ends[port as usize].controller;
        if let Some(message) = controller.take_message() {
            let cycle = self.cycle(self.now) + self.common.message_cycles;
            let time = self.begin_of(cycle);
            self.schedule_at_peer(port, time, EventKind::Message, message as u32);
        }
        let controller = &self.ends[port as usize].controller;
        if let Some(fault) = controller.fault() {
            let name = self.numbering.number(self.number, port as usize);
            self.fault.get_or_insert((
                self.now,
                RunError::Controller {
                    port: self.common.topology.port_name(name),
                    cycle: fault.cycle,
                    what: fault.what.clone(),
                },
            ));
        }
    }

    /// A controller is clocked to its deadline.
    pub(super) fn deadline_reached(&mut self, port: u32) {
        let cycle = self.present_cycle();
        let controller = &mut self.ends[port as usize].controller;
        let Some(deadline) = controller.deadline().filter(|at| **at == cycle) else {
            return;
        };
        *deadline = Cycle::NEVER;
        controller.advance(cycle);
        self.reschedule(port);
        self.retry(port);
    }

    /// A message of the other end arrives at a controller.
    pub(super) fn message_arrives(&mut self, port: u32, message: u32) {
        let cycle = self.present_cycle();
        let message = Message::decode(message as u8);
        self.ends[port as usize]
            .controller
            .receive_message(cycle, message);
        self.reschedule(port);
        self.retry(port);
    }

    /// Sends a packet that has waited for the controller, if it may go now.
    pub(super) fn retry(&mut self, port: u32) {
        if self.ends[port as usize].port.waits && self.ends[port as usize].controller.tx_enable() {
            self.end_wait(port);
            self.depart(port);
        }
    }
}
