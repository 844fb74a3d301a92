//! Switches and NICs whose buffers a queueing scheme divides into queues with credits, asked packet by
//! packet: nothing is remembered that can be looked up.

use std::collections::{HashSet, VecDeque};

use super::switch::{Grant, Packet};
use super::{Event, Network};
use crate::network::parameters::{Aging, Parameters, AGE_PS};
use crate::network::queueing::Queues;
use crate::network::selection::Channels;

/// A packet in a switch.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    packet: u32,
    wire: u32,
    output: u32,
    /// Its queue at the other end of the link that it leaves by.
    next: u8,
    age: u64,
    /// It is the first of its queue, and its output is chosen.
    asks: bool,
}

#[derive(Clone, Debug, Default)]
struct Switch {
    /// By input, then queue.
    inputs: Vec<Vec<VecDeque<Waiting>>>,
    /// By output, then queue: packets that have crossed.
    outputs: Vec<Vec<VecDeque<Waiting>>>,
    /// By output, then queue: bytes granted, crossed and departing.
    used: Vec<Vec<u32>>,
    /// By output: the packet on the way out.
    leaving: Vec<Option<Waiting>>,
    /// By output: the queue whose turn it is.
    turns: Vec<usize>,
    /// What crosses from an input.
    crossing: Vec<Option<Waiting>>,
    /// By input: bytes in the buffer now, and at most.
    held: Vec<(u32, u32)>,
    /// By output: the most bytes in the buffer.
    highest: Vec<u32>,
    arrivals: u64,
}

/// All of a network.
pub(super) struct Divided<'t> {
    queues: Queues<'t>,
    capacity: u32,
    aging: Aging,
    switches: Vec<Switch>,
    /// By port, then queue; `None`: the other end is a node.
    credits: Vec<Option<Vec<u32>>>,
    /// Of the NICs: messages by queue, and whose turn it is.
    messages: Vec<(Vec<VecDeque<u32>>, usize)>,
}

/// The queue of each packet, by its place, at the end of the link that it came by last.
pub(super) type QueueOf = std::collections::HashMap<u32, u8>;

impl<'t> Divided<'t> {
    pub(super) fn new(queues: Queues<'t>, network: &Network, switch: &Parameters) -> Self {
        let (topology, count) = (network.topology, queues.count());
        let capacity = switch.queue / count as u32;
        let radix = topology.radix();
        let none = vec![vec![VecDeque::new(); count]; radix];
        let empty = Switch {
            inputs: none.clone(),
            outputs: none,
            used: vec![vec![0; count]; radix],
            leaving: vec![None; radix],
            turns: vec![0; radix],
            crossing: vec![None; radix],
            held: vec![(0, 0); radix],
            highest: vec![0; radix],
            arrivals: 0,
        };
        let to_switch =
            |port| (topology.peer(port)).is_some_and(|peer| peer < topology.switch_ports());
        Divided {
            queues,
            capacity,
            aging: switch.aging,
            switches: vec![empty; topology.switches()],
            credits: (0..topology.ports())
                .map(|port| to_switch(port).then(|| vec![capacity; count]))
                .collect(),
            messages: vec![(vec![VecDeque::new(); count], 0); topology.nodes()],
        }
    }

    fn room(&self, port: u32, queue: usize) -> u32 {
        let credits = self.credits[port as usize].as_ref();
        credits.map_or(u32::MAX, |credits| credits[queue])
    }

    /// Queues in turn, beginning with that one.
    fn in_turn(&self, turn: usize) -> impl Iterator<Item = usize> {
        let count = self.queues.count();
        (turn..count).chain(0..turn)
    }

    /// The queue that an output sends from.
    fn departing_queue(&self, switch: usize, output: usize, port: u32) -> Option<usize> {
        let place = &self.switches[switch];
        self.in_turn(place.turns[output]).find(|&queue| {
            let first = place.outputs[output][queue].front();
            first.is_some_and(|first| first.wire <= self.room(port, queue))
        })
    }
}

impl Network<'_> {
    /// Whether nothing that a port has to send finds room at the other end.
    pub(super) fn finds_no_room(&self, port: u32) -> bool {
        let Some(divided) = &self.divided else {
            return self.ports[port as usize].paused;
        };
        match self.switch_port(port) {
            Some((switch, out)) => {
                let out = out as usize;
                divided.departing_queue(switch, out, port).is_none()
            }
            None => self.message_queue(port).is_none(),
        }
    }

    /// The queue whose messages a NIC sends from.
    fn message_queue(&self, port: u32) -> Option<usize> {
        let divided = self.divided.as_ref()?;
        let (messages, turn) = &divided.messages[port as usize - self.first_nic()];
        divided.in_turn(*turn).find(|&queue| {
            messages[queue].front().is_some_and(|&message| {
                let left = self.messages[message as usize].to_send;
                let parameters = &self.settings.switch;
                let payload = left.min(parameters.payload().into()) as u32;
                parameters.wire(payload) <= divided.room(port, queue)
            })
        })
    }

    /// Puts a message into the queue of its packets; `false` if there are no queues.
    pub(super) fn queue_by_scheme(&mut self, number: u32) -> bool {
        let message = self.messages[number as usize].message;
        let [from, to] = [message.from, message.to].map(|rank| self.nodes[rank as usize] as usize);
        let Some(divided) = &mut self.divided else {
            return false;
        };
        let queue = divided.queues.first(from, to);
        divided.messages[from].0[usize::from(queue)].push_back(number);
        true
    }

    /// Messages wait in the queues of a NIC.
    pub(super) fn queued_messages(&self, node: usize) -> impl Iterator<Item = u32> + '_ {
        let queues = self.divided.iter().flat_map(move |it| &it.messages[node].0);
        queues.flatten().copied()
    }

    /// Makes the next message that finds room the first one of its NIC.
    pub(super) fn next_message(&mut self, port: u32) -> Option<(u32, u8)> {
        let queue = self.message_queue(port)?;
        let node = port as usize - self.first_nic();
        let divided = self.divided.as_mut()?;
        let count = divided.queues.count();
        let (messages, turn) = &mut divided.messages[node];
        *turn = (queue + 1) % count;
        Some((*messages[queue].front()?, queue as u8))
    }

    /// A message has been cut completely.
    pub(super) fn message_is_cut(&mut self, node: usize, queue: u8) {
        if let Some(divided) = &mut self.divided {
            divided.messages[node].0[usize::from(queue)].pop_front();
        }
    }

    /// A packet begins to leave a port; it takes its room at the other end.
    pub(super) fn take_room(&mut self, port: u32, packet: u32, queue: u8) {
        let wire = self.packets[packet].wire;
        self.queue_of.insert(packet, queue);
        let Some(divided) = &mut self.divided else {
            return;
        };
        if let Some(credits) = &mut divided.credits[port as usize] {
            credits[usize::from(queue)] -= wire;
        }
    }

    /// The next packet of a switch's output that finds room, and its queue.
    pub(super) fn next_of_queues(
        &mut self,
        switch: usize,
        out: u32,
        port: u32,
    ) -> Option<(u32, u8)> {
        let divided = self.divided.as_mut()?;
        let out = out as usize;
        let queue = divided.departing_queue(switch, out, port)?;
        let count = divided.queues.count();
        let place = &mut divided.switches[switch];
        place.turns[out] = (queue + 1) % count;
        let waiting = place.outputs[out][queue].pop_front()?;
        place.leaving[out] = Some(waiting);
        Some((waiting.packet, queue as u8))
    }

    /// The first byte of a packet arrives at a switch; returns the bytes in its input.
    pub(super) fn takes_place(&mut self, switch: usize, input: u32, wire: u32) -> Option<u32> {
        let divided = self.divided.as_mut()?;
        let (now, most) = &mut divided.switches[switch].held[input as usize];
        *now += wire;
        *most = (*most).max(*now);
        Some(*now)
    }

    /// A packet may cross a switch.
    pub(super) fn queue_in_switch(&mut self, switch: usize, input: u32, packet: u32) -> bool {
        let Some(divided) = &mut self.divided else {
            return false;
        };
        let before = self.queue_of[&packet];
        let destination = self.packets[packet].destination as usize;
        let lane = divided.queues.lane(before);
        let hop = (self.topology).route(switch, input as usize, lane, destination);
        let place = &mut divided.switches[switch];
        place.arrivals += 1;
        let waiting = Waiting {
            packet,
            wire: self.packets[packet].wire,
            output: hop.port.into(),
            next: divided.queues.next(before, switch, hop, destination),
            age: match divided.aging {
                Aging::Switch => place.arrivals,
                Aging::Network => self.packets[packet].due / AGE_PS,
            },
            asks: false,
        };
        let queue = &mut place.inputs[input as usize][usize::from(before)];
        queue.push_back(waiting);
        if queue.len() == 1 {
            self.choose_channel(switch, input as usize, before.into());
        }
        true
    }

    /// The first packet of a queue at an input.
    pub(super) fn first_in_queue(&self, switch: usize, input: usize, queue: usize) -> Option<u32> {
        let divided = self.divided.as_ref()?;
        let first = divided.switches[switch].inputs[input][queue].front();
        first.map(|first| first.packet)
    }

    /// What a packet chooses from by Duato's protocol, and its bytes.
    pub(super) fn channels_of(&self, switch: usize, packet: u32) -> Option<(Channels, u32)> {
        let Packet {
            destination, wire, ..
        } = self.packets[packet];
        let queues = &self.divided.as_ref()?.queues;
        Some((queues.channels(switch, destination as usize)?, wire))
    }

    /// The first packet of a queue at an input asks for the crossbar, and leaves by this port for that queue
    /// at its other end, or by those that it has.
    pub(super) fn gives_channel(
        &mut self,
        switch: usize,
        input: usize,
        queue: usize,
        channel: Option<(u8, u8)>,
    ) {
        let Some(divided) = &mut self.divided else {
            return;
        };
        if let Some(first) = divided.switches[switch].inputs[input][queue].front_mut() {
            first.asks = true;
            if let Some((port, next)) = channel {
                (first.output, first.next) = (port.into(), next);
            }
        }
    }

    /// Bytes that are free in a queue at the other end of the link of a switch's port.
    pub(super) fn room_for(&self, switch: usize, port: u8, queue: u8) -> u64 {
        let port = switch * self.topology.radix() + usize::from(port);
        let divided = self.divided.as_ref();
        divided.map_or(0, |divided| divided.room(port as u32, queue.into()).into())
    }

    /// Bytes that are to leave a switch by a port, those on the way out included; `None` if there are no
    /// queues.
    pub(super) fn bytes_in_queues(&self, switch: usize, port: u8) -> Option<u64> {
        let place = &self.divided.as_ref()?.switches[switch];
        let output = u32::from(port);
        let first = place.inputs.iter().flatten().filter_map(VecDeque::front);
        let asking = first.filter(|first| first.asks && first.output == output);
        let asking: u64 = asking.map(|first| u64::from(first.wire)).sum();
        let held: u32 = place.used[usize::from(port)].iter().sum();
        Some(asking + u64::from(held))
    }

    /// The next packet of a switch to cross: of the first packets of all queues the oldest one that may.
    pub(super) fn grant_of_queues(&mut self, switch: usize) -> Option<Grant> {
        let divided = self.divided.as_mut()?;
        let capacity = divided.capacity;
        let place = &mut divided.switches[switch];
        let mut first = Vec::new();
        for (input, queues) in place.inputs.iter().enumerate() {
            if place.crossing[input].is_some() {
                continue;
            }
            for (queue, waiting) in queues.iter().enumerate() {
                let oldest = waiting.front();
                first.extend(oldest.map(|it| (it.age, it.output, input, queue, *it)));
            }
        }
        first.sort_by_key(|&(age, output, input, queue, _)| (age, output, input, queue));
        let busy: HashSet<u32> = place
            .crossing
            .iter()
            .flatten()
            .map(|it| it.output)
            .collect();
        let mut full = HashSet::new();
        for (_, _, input, queue, waiting) in first {
            let used = &mut place.used[waiting.output as usize];
            let room = &mut used[usize::from(waiting.next)];
            let fits = *room + waiting.wire <= capacity;
            if busy.contains(&waiting.output) || full.contains(&(waiting.output, waiting.next)) {
                continue;
            }
            if !fits {
                full.insert((waiting.output, waiting.next));
                continue;
            }
            *room += waiting.wire;
            let all = used.iter().sum();
            let highest = &mut place.highest[waiting.output as usize];
            *highest = (*highest).max(all);
            place.inputs[input][queue].pop_front();
            place.crossing[input] = Some(waiting);
            self.choose_channel(switch, input, queue);
            return Some(Grant {
                input: input as u32,
                output: waiting.output,
                packet: waiting.packet,
            });
        }
        None
    }

    /// A granted packet has crossed: the other end of its link may hear of the room.
    pub(super) fn has_crossed(&mut self, switch: usize, grant: Grant) -> bool {
        let Some(divided) = &mut self.divided else {
            return false;
        };
        let place = &mut divided.switches[switch];
        let waiting = place.crossing[grant.input as usize].take();
        let waiting = waiting.expect("it was granted");
        place.held[grant.input as usize].0 -= waiting.wire;
        place.outputs[grant.output as usize][usize::from(waiting.next)].push_back(waiting);
        let queue = self.queue_of[&grant.packet];
        let port = (switch * self.topology.radix()) as u32 + grant.input;
        let peer = self.ports[port as usize].peer;
        let credits = Event::Credits {
            port: peer,
            queue,
            bytes: waiting.wire,
        };
        let at = self.now + self.settings.switch.pause_delay();
        self.queue.schedule(at, credits);
        true
    }

    /// Bytes are free at the other end of a port's link.
    pub(super) fn hear_of_room(&mut self, port: u32, queue: u8, bytes: u32) {
        if let Some(divided) = &mut self.divided {
            if let Some(credits) = &mut divided.credits[port as usize] {
                credits[usize::from(queue)] += bytes;
            }
        }
        let state = &self.ports[port as usize];
        if state.sending == 0 && self.has_packet(port) {
            self.poll_soon(state.link);
        }
    }

    /// The packet on the way out has left a switch.
    pub(super) fn has_left(&mut self, switch: usize, out: u32) -> bool {
        let Some(divided) = &mut self.divided else {
            return false;
        };
        let place = &mut divided.switches[switch];
        let waiting = place.leaving[out as usize].take().expect("it was sent");
        place.used[out as usize][usize::from(waiting.next)] -= waiting.wire;
        true
    }

    /// Packets that have crossed wait at an output; `None` if there are no queues.
    pub(super) fn waits_in_queues(&self, switch: usize, out: u32) -> Option<bool> {
        let divided = self.divided.as_ref()?;
        let queues = &divided.switches[switch].outputs[out as usize];
        Some(queues.iter().any(|queue| !queue.is_empty()))
    }

    /// Bytes in an output, those on the way out included; `None` if there are no queues.
    pub(super) fn filled_by_queues(&self, switch: usize, out: u32) -> Option<u32> {
        let divided = self.divided.as_ref()?;
        Some(divided.switches[switch].used[out as usize].iter().sum())
    }

    /// The most bytes that input and output of a switch's port held; `None` if there are no queues.
    pub(super) fn highest_of_queues(&self, switch: usize, port: u32) -> Option<(u32, u32)> {
        let place = &self.divided.as_ref()?.switches[switch];
        Some((place.held[port as usize].1, place.highest[port as usize]))
    }
}
