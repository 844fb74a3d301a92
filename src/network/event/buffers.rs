//! Buffers that a queueing scheme divides into queues, with credits in place of PFC (SPEC 15 has neither;
//! Zahn III.C). What is otherwise then than in `link`, `crossbar`, `output` and `nic` stands here.
//!
//! An input has a part of its buffer for each queue. The first packet of a queue asks for the crossbar,
//! those behind it wait. An output has a queue for each queue at the other end of its link; they take
//! turns. A packet leaves if its queue at the other end has room for all of it: the sender counts the
//! bytes that are free there, and hears of those that get free once a packet has crossed, when a
//! message of [`Parameters::control`](crate::network::parameters::Parameters::control) bytes could be
//! there. A NIC has a queue of messages for each queue of its switch.

use std::collections::VecDeque;

use super::crossbar::{is_older, Candidate};
use super::devices::Sending;
use super::events::EventKind;
use super::link::Next;
use super::packets::{List, Packet};
use super::partition::Partition;
use super::time::Time;
use crate::network::parameters::Parameters;
use crate::network::queueing::Queues;
use crate::network::traffic::Outgoing;

/// One queue of a port: at its input, at its output, and at the other end of its link.
#[derive(Clone, Copy, Debug)]
struct Queue {
    /// At the input: the packets behind the first one.
    behind: List,
    /// At the input: there is a first one, which asks for the crossbar.
    asks: bool,
    /// Bytes at the output, packets granted and departing included.
    used: u32,
    /// Bytes free at the other end of the link; [`Queue::ENDLESS`]: it is a node.
    credits: u32,
}

impl Queue {
    /// A node takes whatever comes.
    const ENDLESS: u32 = u32::MAX;
}

/// The messages of a NIC.
#[derive(Clone, Debug)]
struct Messages {
    /// Those of each queue, the oldest first.
    of: Vec<VecDeque<Sending>>,
    /// Queues with messages.
    filled: u64,
    /// The queue whose turn it is.
    turn: u32,
}

/// The queues of all ports of a partition.
#[derive(Debug)]
pub(super) struct Buffers<'t> {
    queues: Queues<'t>,
    /// Bytes of a queue.
    capacity: u32,
    /// Port by port.
    of: Vec<Queue>,
    /// Of each NIC.
    messages: Vec<Messages>,
    /// Of the packet on the way out of each port.
    departing: Vec<u8>,
}

impl<'t> Buffers<'t> {
    /// Empty buffers of a partition.
    pub(super) fn new(
        queues: Queues<'t>,
        parameters: &Parameters,
        nodes: usize,
        to_node: impl Iterator<Item = bool>,
    ) -> Self {
        let capacity = parameters.queue / queues.count() as u32;
        let mut of = Vec::new();
        for to_node in to_node {
            let queue = Queue {
                behind: List::EMPTY,
                asks: false,
                used: 0,
                credits: match to_node {
                    true => Queue::ENDLESS,
                    false => capacity,
                },
            };
            of.resize(of.len() + queues.count(), queue);
        }
        let messages = Messages {
            of: vec![VecDeque::new(); queues.count()],
            filled: 0,
            turn: 0,
        };
        Self {
            queues,
            capacity,
            departing: vec![0; of.len() / queues.count()],
            of,
            messages: vec![messages; nodes],
        }
    }

    /// Queues of a port.
    pub(super) fn count(&self) -> u8 {
        self.queues.count() as u8
    }

    /// What numbers them.
    pub(super) fn queues(&self) -> &Queues<'t> {
        &self.queues
    }

    fn queue(&mut self, port: u32, queue: u8) -> &mut Queue {
        &mut self.of[port as usize * self.queues.count() + usize::from(queue)]
    }

    /// There is room for so many bytes at the other end of a port's link.
    fn takes(&self, port: u32, queue: u8, bytes: u32) -> bool {
        self.of[port as usize * self.queues.count() + usize::from(queue)].credits >= bytes
    }

    /// A packet leaves a port for that queue at the other end.
    pub(super) fn spend(&mut self, port: u32, queue: u8, bytes: u32) {
        let credits = &mut self.queue(port, queue).credits;
        if *credits != Queue::ENDLESS {
            *credits -= bytes;
        }
    }

    /// A packet has begun to leave an output.
    pub(super) fn begins_to_depart(&mut self, output: u32, queue: u8) {
        self.departing[output as usize] = queue;
    }

    /// It has left.
    pub(super) fn has_departed(&mut self, output: u32, bytes: u32) {
        let queue = self.departing[output as usize];
        self.queue(output, queue).used -= bytes;
    }

    /// Adds a message to those of a NIC.
    pub(super) fn push_message(&mut self, source: usize, node: u32, sending: Sending) {
        let Outgoing { destination, .. } = sending.message;
        let queue = self.queues.first(source, destination as usize);
        let messages = &mut self.messages[node as usize];
        messages.of[usize::from(queue)].push_back(sending);
        messages.filled |= 1 << queue;
    }

    /// A NIC has messages to send.
    pub(super) fn has_messages(&self, node: u32) -> bool {
        self.messages[node as usize].filled != 0
    }

    /// All messages of a NIC.
    pub(super) fn messages_of(&self, node: u32) -> impl Iterator<Item = &Sending> {
        self.messages[node as usize].of.iter().flatten()
    }
}

impl Partition<'_> {
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
        let Some(buffers) = &mut self.buffers else {
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
        let output = self.packets[packet].output;
        self.crossbars[switch as usize].wanted |= 1 << output;
        let output = switch * self.radix + u32::from(output);
        let list = &mut self.ends[output as usize].port.wanted_by[0];
        // At equal age, that of the lower input, and there of the lower queue, goes first.
        let place = |it: &Packet| (it.input, it.lane);
        list.insert(&mut self.packets, packet, |new, other| {
            is_older(new.age, other.age) || new.age == other.age && place(new) < place(other)
        });
        output
    }

    /// [`Partition::oldest`] of the first packets of all queues, where the output has one for `queue`s at
    /// the other end of its link: if the oldest packet of one of these does not fit, younger ones do not
    /// overtake it there.
    pub(super) fn oldest_of_queues(&mut self, switch: u32, output: u32) -> Result<Candidate, Time> {
        let now = self.now;
        let busy_until = self.ends[output as usize].port.output_busy_until;
        if busy_until > now {
            return Err(busy_until);
        }
        self.free_output(output);
        let Some(buffers) = &self.buffers else {
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
                age: at.age,
            });
            break;
        }
        if full != 0 && state.departing > 0 {
            // A departure makes room, and has the switch look again.
            next = next.min(state.busy_until);
        }
        let bit = 1 << (output - switch * self.radix);
        let held = &mut self.crossbars[switch as usize].held;
        *held = match full != 0 {
            true => *held | bit,
            false => *held & !bit,
        };
        found.map_err(|_: Time| next)
    }

    /// The first packet of a queue crosses until then: the one behind it asks next, and the other end of
    /// the link hears of the room.
    pub(super) fn crosses_from_queue(&mut self, switch: u32, packet: u32, until: Time) {
        let at = self.packets[packet];
        let input = switch * self.radix + u32::from(at.input);
        let output = switch * self.radix + u32::from(at.output);
        let Some(buffers) = &mut self.buffers else {
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
        let Some(buffers) = &mut self.buffers else {
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
        let Some(buffers) = &self.buffers else {
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
        let Some(buffers) = &self.buffers else {
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
        if let Some(buffers) = &mut self.buffers {
            let messages = &mut buffers.messages[node];
            self.nics[node].first = messages.of[usize::from(queue)].pop_front();
            messages.turn = (u32::from(queue) + 1) % buffers.queues.count() as u32;
        }
        let packet = self.cut_packet(port);
        self.packets[packet].lane = queue;
        if let Some(buffers) = &mut self.buffers {
            let messages = &mut buffers.messages[node];
            let of = &mut messages.of[usize::from(queue)];
            if let Some(rest) = self.nics[node].first.take() {
                of.push_front(rest);
            }
            if of.is_empty() {
                messages.filled &= !(1 << queue);
            }
        }
        packet
    }
}
