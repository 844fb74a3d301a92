//! The links: a packet leaves its port ([`depart`](Partition::depart), [`send`](Partition::send)),
//! its first byte arrives ([`first_byte_arrives`](Partition::first_byte_arrives)), and pause frames
//! stop and release what follows. How it goes on once its last byte is there: `crossbar` in a switch,
//! `nic` at its node.

use strength_reduce::StrengthReducedU32;

use super::devices::Sending;
use super::events::{arriving, event, EventKind, RemoteEvent};
use super::packets::{Packet, NONE};
use super::partition::{End, Partition};
use super::queues::Buffers;
use super::time::{Cycle, Time};
use crate::network::run::{Overflow, RunError};

/// What a port sends next.
#[derive(Clone, Copy, Debug)]
pub(super) enum Next {
    /// It has nothing to send.
    Nothing,
    /// The other end has stopped it, or has no room.
    Stopped,
    /// A packet that has crossed.
    Packet(u32),
    /// A packet that is yet to be cut, from the messages of a queue.
    Message(u8),
}

impl<const EXTENDED: bool> Partition<'_, EXTENDED> {
    /// Has the port look for a packet to send at `time`, or earlier.
    #[inline]
    pub(super) fn depart_at(&mut self, port: u32, time: Time) {
        let state = &mut self.ends[port as usize].port;
        if time < state.departs_at {
            state.departs_at = time;
            let kind = match port < self.switch_ports() {
                true => EventKind::Depart,
                false => EventKind::Inject,
            };
            self.wheel.schedule(event(time, kind, port, 0));
        }
    }

    /// Sends a packet if there is one and it may go.
    pub(super) fn depart(&mut self, port: u32) {
        let now = self.now;
        if self.ends[port as usize].port.busy_until > now {
            let time = self.ends[port as usize].port.busy_until;
            return self.depart_at(port, time);
        }
        let next = self.next_to_send(port);
        if let Next::Nothing = next {
            return;
        }
        let cycle = self.cycle(now);
        if self.link_lanes().is_some() {
            self.tell_backlog(port);
        }
        let End {
            port: state,
            controller,
        } = &mut self.ends[port as usize];
        let packet = match next {
            Next::Packet(packet) if controller.may_send(cycle) => {
                self.take(port, packet);
                packet
            }
            Next::Message(queue) if controller.may_send(cycle) => match self.buffers.is_some() {
                true => self.cut_packet_of(port, queue),
                false => self.cut_packet(port),
            },
            _ => {
                // The other end or the controller will have the port look again.
                state.waits = true;
                controller.wait(cycle, now);
                if !matches!(next, Next::Stopped) {
                    self.begin_wait(port);
                }
                if port < self.switch_ports() {
                    self.settle_coming(port);
                    self.looks_again_at_what_comes(port);
                }
                return self.reschedule(port);
            }
        };
        self.send(port, packet, cycle);
    }

    /// What still crosses to an output may be of another lane or queue than what waits there.
    #[inline]
    fn looks_again_at_what_comes(&mut self, port: u32) {
        let several = self.lanes > 1 || self.buffers.is_some();
        if several && self.ends[port as usize].port.coming != NONE {
            let time = self.leaves_at(port);
            self.depart_at(port, time);
        }
    }

    /// What a port sends next.
    #[inline]
    fn next_to_send(&mut self, port: u32) -> Next {
        let is_switch = port < self.switch_ports();
        if self.buffers.is_some() {
            return match is_switch {
                true => self.next_of_queues(port),
                false => self.next_message(port),
            };
        }
        if is_switch {
            if self.comes_directly(port) {
                return Next::Packet(self.ends[port as usize].port.coming);
            }
            if !self.settle_output(port) {
                return Next::Nothing;
            }
            let state = &self.ends[port as usize].port;
            let may_go = |packet: &Packet| state.paused & (1 << packet.next_lane) == 0;
            return match state.crossed.next(&self.packets, may_go) {
                Some(packet) => Next::Packet(packet),
                None => Next::Stopped,
            };
        }
        let Some(first) = self.nics[(port - self.switch_ports()) as usize].first else {
            return Next::Nothing;
        };
        let ready = first.generated + self.common.parameters.nic_ps;
        if ready > self.now {
            let time = self.edge(ready);
            self.depart_at(port, time);
            return Next::Nothing;
        }
        match self.ends[port as usize].port.paused & 1 {
            0 => Next::Message(0),
            _ => Next::Stopped,
        }
    }

    /// Tells the lane controller of a port how many bytes wait there, without those of the packet that
    /// is being sent.
    #[cold]
    pub(super) fn tell_backlog(&mut self, port: u32) {
        let bytes = match port < self.switch_ports() {
            true => {
                self.free_output(port);
                let state = &self.ends[port as usize].port;
                u64::from(state.output_used.iter().sum::<u32>() - state.departing)
            }
            false => {
                let node = port - self.switch_ports();
                let ready =
                    |it: &&Sending| it.generated + self.common.parameters.nic_ps <= self.now;
                let nic = &self.nics[node as usize];
                let messages = nic.first.iter().chain(&nic.behind).take_while(ready);
                let in_queues = self.buffers.as_ref().into_iter();
                let in_queues = in_queues.flat_map(|it| it.messages_of(node));
                messages
                    .chain(in_queues.filter(ready))
                    .map(|message| message.left)
                    .sum()
            }
        };
        let cycle = self.cycle(self.now);
        self.ends[port as usize]
            .controller
            .set_backlog(cycle, bytes);
        self.reschedule(port);
    }

    /// A packet that could leave has to wait for the controller.
    #[cold]
    pub(super) fn begin_wait(&mut self, port: u32) {
        self.waits[port as usize].begin(self.now);
    }

    /// The controller lets packets leave.
    #[cold]
    pub(super) fn end_wait(&mut self, port: u32) {
        self.waits[port as usize].end(self.now);
    }

    /// Puts the packet on the link, from clock cycle `from` on.
    pub(super) fn send(&mut self, port: u32, packet: u32, from: Cycle) {
        let now = self.now;
        let Packet { wire, hops, .. } = self.packets[packet];
        let mut time = self.common.parameters.link_time(wire);
        if let Some(lanes) = self.link_lanes() {
            if self.ends[port as usize].controller.is_low() {
                time = lanes.by_low(time);
            }
        }
        let end = now + time;
        let cable = self.common.parameters.cable_ps;
        if self.ends[port as usize].port.waits {
            self.end_wait(port);
        }
        let state = &mut self.ends[port as usize].port;
        state.waits = false;
        state.busy_until = end;
        state.packets += 1;
        state.bytes += u64::from(wire);
        let (partition, peer) = (state.peer_partition as usize, state.peer);
        let until = self.cycle(end);
        let controller = &mut self.ends[port as usize].controller;
        if controller.transmit(from, until, (now, end), hops) {
            self.reschedule(port);
        }
        if self.link_lanes().is_some() {
            self.tell_backlog(port);
        }
        let (last, delay) = self.look_up_route(packet, partition, peer);
        let ready = end + cable + delay;
        let lane = self.packets[packet].lane;
        if let Some(buffers) = self.buffers.as_mut() {
            buffers.spend(port, lane, wire);
        }
        let arriving = arriving(wire, self.buffer_of(lane) as u8);
        let head = event(now + cable, EventKind::Head, peer, arriving);
        if partition == self.number {
            self.wheel.schedule(head);
            self.wheel.schedule(event(ready, last, peer, packet));
        } else {
            let packet = self.packets.remove(packet);
            self.outbox[partition].push(RemoteEvent {
                event: head,
                packet: Some((packet, event(ready, last, peer, 0))),
            });
        }
        let is_switch = port < self.switch_ports();
        if let Some(selector) = self.selector.as_mut().filter(|_| is_switch) {
            selector.departs(port as usize, wire, now.0, end.0);
            self.leaves_by_on_off_link(port, wire, end);
        }
        if !is_switch {
            let nic = (port - self.switch_ports()) as usize;
            let in_queues = |buffers: &Buffers| buffers.has_messages(nic as u32);
            if self.nics[nic].first.is_some() || self.buffers.as_ref().is_some_and(in_queues) {
                self.depart_at(port, end);
            }
            return;
        }
        let state = &self.ends[port as usize].port;
        if !state.crossed.is_empty() {
            self.depart_at(port, end);
        } else if state.coming != NONE {
            let time = self.leaves_at(port);
            self.depart_at(port, time);
        }
        if self.ends[port as usize].port.is_wanted() {
            // A packet may wait for the room that this one leaves behind.
            self.arbitrate_at(port / self.by_radix, end);
        }
    }

    /// Looks up the route of a packet from the other end of the link on, which is `port` of
    /// `partition`: later the packet would have to be fetched for that. Returns what happens when its
    /// last byte is there, and how much later.
    #[inline]
    pub(super) fn look_up_route(
        &mut self,
        packet: u32,
        partition: usize,
        port: u32,
    ) -> (EventKind, u64) {
        let (switch, input) = StrengthReducedU32::div_rem(port, self.by_radix);
        let Some(&number) = self.numbering.switches_of[partition].get(switch as usize) else {
            return (EventKind::Deliver, self.common.parameters.nic_ps);
        };
        let header = &mut self.packets[packet];
        let (number, destination) = (number as usize, header.destination as usize);
        let queues = self.buffers.as_ref().map(|buffers| buffers.queues());
        let lane = queues.map_or(header.lane, |queues| queues.lane(header.lane));
        let hop = (self.common.topology).route(number, input as usize, lane, destination);
        header.input = input as u8;
        header.output = hop.port;
        header.next_lane = match queues {
            Some(queues) => queues.next(header.lane, number, hop, destination),
            None => hop.lane,
        };
        (EventKind::Tail, self.common.parameters.switch_ps)
    }

    /// The first byte of a packet arrives: its buffer is reserved, and the other end stopped if that
    /// leaves too little room.
    pub(super) fn first_byte_arrives(&mut self, port: u32, value: u32) {
        let now = self.now;
        let (wire, lane) = (value >> 1, (value & 1) as u8);
        let end = now + self.common.parameters.link_time(wire);
        let (from, until) = (self.cycle(now), self.cycle(end));
        let controller = &mut self.ends[port as usize].controller;
        if controller.receive(from, until, (now, end)) {
            self.reschedule(port);
        }
        if port >= self.switch_ports() {
            return;
        }
        let parameters = &self.common.parameters;
        let state = &mut self.ends[port as usize].port;
        state.settle_input(now);
        let used = &mut state.input_used[lane as usize];
        *used += wire;
        let used = *used;
        state.highest_input = state.highest_input.max(used);
        if used > parameters.queue {
            self.fault.get_or_insert((
                now,
                RunError::Overflow {
                    time_ps: now.0,
                    overflow: Overflow {
                        input: port % self.by_radix,
                        used: used.into(),
                        capacity: parameters.queue,
                    },
                },
            ));
        }
        let by_pfc = !self.buffers.is_some();
        if used >= parameters.pfc_stop && state.stopped & (1 << lane) == 0 && by_pfc {
            state.stopped |= 1 << lane;
            self.count_pause_asleep(port, from);
            let state = &mut self.ends[port as usize].port;
            let release = (state.crossing > 0).then_some(state.input_busy_until);
            let time = now + parameters.pause_delay();
            self.schedule_at_peer(port, time, EventKind::FlowControl, u32::from(lane) << 1 | 1);
            if let Some(time) = release {
                self.wheel
                    .schedule(event(time, EventKind::Release, port, 0));
            }
        }
    }

    /// A pause frame leaves the port, seen in `cycle`: where directions sleep for themselves, its
    /// own may sleep.
    #[cold]
    fn count_pause_asleep(&mut self, port: u32, cycle: Cycle) {
        if self.common.per_direction {
            let awake = self.ends[port as usize].controller.may_send(cycle);
            self.tally.pauses_asleep += u64::from(!awake);
            self.reschedule(port);
        }
    }

    /// A pause frame stops a lane of the port, or releases it.
    pub(super) fn pause_frame_arrives(&mut self, port: u32, value: u32) {
        let (lane, stop) = (value >> 1, value & 1 == 1);
        let state = &mut self.ends[port as usize].port;
        if stop {
            state.paused |= 1 << lane;
            self.pauses[port as usize] += 1;
        } else {
            state.paused &= !(1 << lane);
            if state.waits {
                let time = self.edge(self.now);
                self.depart_at(port, time);
            }
        }
    }

    /// A packet has crossed from an input that had stopped the other end: there may be room again.
    pub(super) fn release(&mut self, port: u32) {
        let now = self.now;
        let parameters = &self.common.parameters;
        let (go, delay) = (parameters.pfc_go, parameters.pause_delay());
        for lane in 0..self.lanes as usize {
            let state = &mut self.ends[port as usize].port;
            state.settle_input(now);
            if state.stopped & (1 << lane) != 0 && state.input_used[lane] <= go {
                state.stopped &= !(1 << lane);
                self.schedule_at_peer(
                    port,
                    now + delay,
                    EventKind::FlowControl,
                    (lane as u32) << 1,
                );
            }
        }
    }

    /// Schedules an event at the other end of a port's link.
    pub(super) fn schedule_at_peer(&mut self, port: u32, time: Time, kind: EventKind, value: u32) {
        let state = &self.ends[port as usize].port;
        let event = event(time, kind, state.peer, value);
        let partition = state.peer_partition as usize;
        if partition == self.number {
            self.wheel.schedule(event);
        } else {
            self.outbox[partition].push(RemoteEvent {
                event,
                packet: None,
            });
        }
    }
}
