//! Buffers that a queueing scheme divides into queues, with credits in place of PFC (SPEC 15 has neither;
//! Zahn III.C). What is otherwise then than in `link`, `crossbar`, `output` and `nic` stands here.
//!
//! An input has a part of its buffer for each queue. The first packet of a queue asks for the crossbar,
//! those behind it wait. An output has a queue for each queue at the other end of its link; they take
//! turns. What is held stands in `queues`. A packet leaves if its queue at the other end has room for all of it: the sender counts the
//! bytes that are free there, and hears of those that get free once a packet has crossed, when a
//! message of [`Parameters::control`](crate::network::parameters::Parameters::control) bytes could be
//! there. A NIC has a queue of messages for each queue of its switch.

use super::crossbar::Candidate;
use super::events::EventKind;
use super::link::Next;
use super::packets::Packet;
use super::partition::Partition;
use super::time::Time;
use crate::network::selection::Request;

impl<const EXTENDED: bool> Partition<'_, EXTENDED> {
    /// Bytes in all queues of a port count together.
    #[inline]
    pub(super) fn buffer_of(&self, lane: u8) -> usize {
        match self.buffers.is_some() {
            true => 0,
            false => lane.into(),
        }
    }

    /// A packet that may cross a switch has come to a queue of an input.
    pub(super) fn arrives_in_queue(&mut self, port: u32, packet: u32) {
        let Some(buffers) = self.buffers.as_mut() else {
            return;
        };
        let queue = buffers.queue(port, self.packets[packet].lane);
        if std::mem::replace(&mut queue.asks, true) {
            return queue.behind.push(&mut self.packets, packet);
        }
        let switch = port / self.by_radix;
        let output = self.ask(switch, packet);
        self.arbitrate_output(switch, output);
    }

    /// The first packet of a queue asks for the crossbar; returns its output.
    fn ask(&mut self, switch: u32, packet: u32) -> u32 {
        if self.selector.is_some() {
            self.select_channel(switch, packet);
        }
        let output = self.packets[packet].output;
        self.crossbars[switch as usize].wanted |= 1 << output;
        let output = switch * self.radix + u32::from(output);
        let list = &mut self.ends[output as usize].port.wanted_by[0];
        // At equal age, that of the lower input, and there of the lower queue, goes first.
        let place = |it: &Packet| (it.input, it.lane);
        list.insert(&mut self.packets, packet, |new, other| {
            let (age, others) = (new.age(), other.age());
            age.is_before(others) || age == others && place(new) < place(other)
        });
        output
    }

    /// Has the selection function choose the channel of Duato's protocol by which a packet leaves.
    #[cold]
    fn select_channel(&mut self, switch: u32, packet: u32) {
        let (Some(mut selector), Some(buffers)) = (self.selector.take(), self.buffers.take())
        else {
            return;
        };
        let number = self.numbering.switches_of[self.number][switch as usize] as usize;
        let at = self.packets[packet];
        let request = Request {
            now: self.now.0,
            switch: switch as usize,
            #[cfg(test)]
            input: at.input,
            on: self.ports_on(switch),
            wire: at.wire,
        };
        match buffers.queues().channels(number, at.destination as usize) {
            None => selector.waits(request, at.output),
            Some(channels) => {
                let (topology, first) = (self.common.topology, switch * self.radix);
                let choices = |port| topology.choices(number, port);
                let credits = |port| buffers.credits(first + u32::from(port), channels.adaptive);
                let is_awake = |port| self.is_awake(port);
                let (output, queue) =
                    selector.choose_channel(request, channels, credits, choices, is_awake);
                self.packets[packet].output = output;
                self.packets[packet].next_lane = queue;
            }
        }
        self.selector.put_back(selector);
        self.buffers.put_back(buffers);
    }

    /// [`Partition::oldest`] of the first packets of all queues. If the oldest one that goes to a queue of
    /// the output does not fit there, younger ones do not overtake it.
    pub(super) fn oldest_of_queues(&mut self, switch: u32, output: u32) -> Result<Candidate, Time> {
        let now = self.now;
        let busy_until = self.ends[output as usize].port.output_busy_until;
        if busy_until > now {
            return Err(busy_until);
        }
        self.free_output(output);
        let Some(buffers) = self.buffers.as_ref() else {
            return Err(Time::NEVER);
        };
        let state = &self.ends[output as usize].port;
        let mut found = Err(Time::NEVER);
        let mut next = Time::NEVER;
        let (mut before, mut full) = (None, 0u64);
        let first = output as usize * buffers.queues.count();
        for packet in state.wanted_by[0].iter(&self.packets) {
            let behind = before.replace(packet);
            let at = &self.packets[packet];
            let input = switch * self.radix + u32::from(at.input);
            let input_busy_until = self.ends[input as usize].port.input_busy_until;
            if input_busy_until > now {
                next = next.min(input_busy_until);
                continue;
            }
            let used = buffers.of[first + usize::from(at.next_lane)].used;
            if full >> at.next_lane & 1 == 1 || used + at.wire > buffers.capacity {
                full |= 1 << at.next_lane;
                continue;
            }
            found = Ok(Candidate {
                packet,
                before: behind,
                output,
                age: at.age(),
            });
            break;
        }
        if full != 0 && state.departing > 0 {
            // A departure makes room, and has the switch look again.
            next = next.min(state.busy_until);
        }
        self.notes_held(switch, output, full != 0);
        found.map_err(|_: Time| next)
    }

    /// The first packet of a queue crosses until then: the one behind it asks next, and the other end of
    /// the link hears of the room.
    pub(super) fn crosses_from_queue(&mut self, switch: u32, packet: u32, until: Time) {
        let at = self.packets[packet];
        let input = switch * self.radix + u32::from(at.input);
        let output = switch * self.radix + u32::from(at.output);
        let Some(buffers) = self.buffers.as_mut() else {
            return;
        };
        buffers.queue(output, at.next_lane).used += at.wire;
        let queue = buffers.queue(input, at.lane);
        queue.asks = !queue.behind.is_empty();
        if queue.asks {
            let next = queue.behind.pop(&self.packets);
            self.ask(switch, next);
            self.arbitrate_at(switch, until);
        }
        let time = until + self.common.parameters.pause_delay();
        let credits = at.wire << 6 | u32::from(at.lane);
        self.schedule_at_peer(input, time, EventKind::FlowControl, credits);
    }

    /// A port hears of room at the other end of its link.
    pub(super) fn credits_arrive(&mut self, port: u32, value: u32) {
        let Some(buffers) = self.buffers.as_mut() else {
            return;
        };
        buffers.queue(port, (value & 63) as u8).credits += value >> 6;
        let state = &mut self.ends[port as usize].port;
        state.paused = 0;
        if state.waits {
            let time = self.edge(self.now);
            self.depart_at(port, time);
        }
    }

    /// What a port of a switch sends next, of the queues whose packets find room.
    pub(super) fn next_of_queues(&mut self, port: u32) -> Next {
        if !self.settle_output(port) {
            return Next::Nothing;
        }
        let Some(buffers) = self.buffers.as_ref() else {
            return Next::Nothing;
        };
        let may_go = |packet: &Packet| buffers.takes(port, packet.next_lane, packet.wire);
        let crossed = &self.ends[port as usize].port.crossed;
        match crossed.next(&self.packets, may_go) {
            Some(packet) => Next::Packet(packet),
            None => self.stop_for_credits(port),
        }
    }

    /// What a NIC sends next, of the queues whose packets find room.
    pub(super) fn next_message(&mut self, port: u32) -> Next {
        let node = port - self.switch_ports();
        let Some(buffers) = self.buffers.as_ref() else {
            return Next::Nothing;
        };
        let parameters = &self.common.parameters;
        let messages = &buffers.messages[node as usize];
        let (mut earliest, mut stopped) = (Time::NEVER, false);
        let count = buffers.queues.count() as u32;
        for queue in (0..count).map(|later| (messages.turn + later) % count) {
            let Some(first) = messages.of[queue as usize].front() else {
                continue;
            };
            let ready = first.generated + parameters.nic_ps;
            if ready > self.now {
                earliest = earliest.min(ready);
                continue;
            }
            let payload = first.left.min(parameters.payload().into()) as u32;
            if buffers.takes(port, queue as u8, parameters.wire(payload)) {
                return Next::Message(queue as u8);
            }
            stopped = true;
        }
        if earliest != Time::NEVER {
            let time = self.edge(earliest);
            self.depart_at(port, time);
        }
        match stopped {
            true => self.stop_for_credits(port),
            false => Next::Nothing,
        }
    }

    /// All that a port has to send waits for room at the other end.
    fn stop_for_credits(&mut self, port: u32) -> Next {
        let paused = &mut self.ends[port as usize].port.paused;
        if std::mem::replace(paused, 1) == 0 {
            self.pauses[port as usize] += 1;
        }
        Next::Stopped
    }

    /// The next packet of a NIC's first message of a queue.
    pub(super) fn cut_packet_of(&mut self, port: u32, queue: u8) -> u32 {
        let node = (port - self.switch_ports()) as usize;
        if let Some(buffers) = self.buffers.as_mut() {
            let messages = &mut buffers.messages[node];
            self.nics[node].first = messages.of[usize::from(queue)].pop_front();
            messages.turn = (u32::from(queue) + 1) % buffers.queues.count() as u32;
        }
        let packet = self.cut_packet(port);
        self.packets[packet].lane = queue;
        let rest = self.nics[node].first.take();
        if let Some((buffers, rest)) = self.buffers.as_mut().zip(rest) {
            buffers.messages[node].of[usize::from(queue)].push_front(rest);
        }
        packet
    }
}
