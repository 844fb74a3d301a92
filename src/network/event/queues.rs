//! What the ports and NICs of a partition hold in queues, where a queueing scheme divides buffers; what
//! happens with it stands in `buffers`.

use std::collections::VecDeque;

use super::devices::Sending;
use super::packets::List;
use crate::network::parameters::Parameters;
use crate::network::queueing::Queues;
use crate::network::traffic::Outgoing;

/// One queue of a port: at its input, at its output, and at the other end of its link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    /// At the input: the packets behind the first one.
    pub(super) behind: List,
    /// At the input: there is a first one, which asks for the crossbar.
    pub(super) asks: bool,
    /// Bytes at the output, packets granted and departing included.
    pub(super) used: u32,
    /// Bytes free at the other end of the link; [`Queue::ENDLESS`]: it is a node.
    pub(super) credits: u32,
}

impl Queue {
    /// A node takes whatever comes.
    const ENDLESS: u32 = u32::MAX;
}

/// The messages of a NIC.
#[derive(Clone, Debug)]
pub(super) struct Messages {
    /// Those of each queue, the oldest first.
    pub(super) of: Vec<VecDeque<Sending>>,
    /// The queue whose turn it is.
    pub(super) turn: u32,
}

/// The queues of all ports of a partition.
#[derive(Debug)]
pub(super) struct Buffers<'t> {
    pub(super) queues: Queues<'t>,
    /// Bytes of a queue.
    pub(super) capacity: u32,
    /// Port by port.
    pub(super) of: Vec<Queue>,
    /// Of each NIC.
    pub(super) messages: Vec<Messages>,
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

    /// A queue of a port.
    pub(super) fn queue(&mut self, port: u32, queue: u8) -> &mut Queue {
        &mut self.of[port as usize * self.queues.count() + usize::from(queue)]
    }

    /// Bytes that are free at the other end of a port's link.
    pub(super) fn credits(&self, port: u32, queue: u8) -> u32 {
        self.of[port as usize * self.queues.count() + usize::from(queue)].credits
    }

    /// There is room for so many bytes at the other end of a port's link.
    pub(super) fn takes(&self, port: u32, queue: u8, bytes: u32) -> bool {
        self.credits(port, queue) >= bytes
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
        self.messages[node as usize].of[usize::from(queue)].push_back(sending);
    }

    /// A NIC has messages to send.
    pub(super) fn has_messages(&self, node: u32) -> bool {
        self.messages_of(node).next().is_some()
    }

    /// All messages of a NIC.
    pub(super) fn messages_of(&self, node: u32) -> impl Iterator<Item = &Sending> {
        self.messages[node as usize].of.iter().flatten()
    }
}
