//! What the nodes of a network send: the replay of a program, or a pattern.

pub mod inactivity;
pub mod pattern;

use super::replay::{self, Overheads, Replay};
use super::trace::Program;
use pattern::Sources;

/// A message on its way from one node to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// The node it goes to.
    pub destination: u32,
    /// At least 1.
    pub bytes: u64,
    /// The sending rank, where there are ranks.
    pub from: u32,
    /// The receiving rank.
    pub to: u32,
    /// Its tag.
    pub tag: u32,
}

/// What carries out what traffic wishes. Nodes are named by their places in the part of the
/// network that the host is.
pub trait Host {
    /// Now, in ps.
    fn now(&self) -> u64;
    /// Have [`Traffic::act`] called `delay` ps from now.
    fn call(&mut self, delay: u64, node: u32, value: u32);
    /// Hands a message to the NIC of a node.
    fn send(&mut self, node: u32, message: Outgoing);
}

/// What the nodes of one part of a network send.
#[derive(Debug)]
pub enum Traffic<'p> {
    /// The ranks of a program that run here.
    Program(Ranks<'p>),
    /// A pattern with chance in it.
    Pattern(Sources<'p>),
}

impl Traffic<'_> {
    /// The beginning of the run.
    pub fn start(&mut self, host: &mut impl Host) {
        match self {
            Traffic::Program(ranks) => ranks.start(host),
            Traffic::Pattern(sources) => sources.start(host),
        }
    }

    /// The time that [`Host::call`] asked for has passed.
    pub fn act(&mut self, node: u32, value: u32, host: &mut impl Host) {
        match self {
            Traffic::Program(ranks) => ranks.finish(value, host),
            Traffic::Pattern(sources) => sources.act(node, host),
        }
    }

    /// Nothing is left to do, here or elsewhere.
    pub fn is_complete(&self) -> bool {
        match self {
            Traffic::Program(ranks) => ranks.replay.is_complete(),
            Traffic::Pattern(_) => false,
        }
    }

    /// What it next looks at for a node, to fetch it early.
    #[inline]
    pub fn source(&self, node: usize) -> Option<*const u8> {
        match self {
            Traffic::Program(_) => None,
            Traffic::Pattern(sources) => Some(sources.address(node)),
        }
    }

    /// A message has arrived completely at its node.
    pub fn arrived(&mut self, message: Outgoing, host: &mut impl Host) {
        match self {
            Traffic::Program(ranks) => ranks.deliver(&message, host),
            Traffic::Pattern(_) => {}
        }
    }
}

/// Those ranks of a program that run in one part of a network.
#[derive(Debug)]
pub struct Ranks<'p> {
    replay: Replay<'p>,
    /// Node of each rank of the program, by its number in the network.
    nodes: &'p [u32],
    /// Part of the network, and place there, of each node.
    places: &'p [(u16, u32)],
    part: u16,
}

impl<'p> Ranks<'p> {
    /// The ranks in `part`, before they have begun; `nodes` holds the node of each rank,
    /// `places` the part and place of each node.
    pub fn new(
        program: &'p Program,
        overheads: Overheads,
        nodes: &'p [u32],
        places: &'p [(u16, u32)],
        part: u16,
    ) -> Self {
        Self {
            replay: Replay::new(program, overheads),
            nodes,
            places,
            part,
        }
    }

    /// The replay.
    pub fn replay(&self) -> &Replay<'p> {
        &self.replay
    }

    /// Whether a rank runs here.
    pub fn owns(&self, rank: usize) -> bool {
        self.places[self.nodes[rank] as usize].0 == self.part
    }

    fn start(&mut self, host: &mut impl Host) {
        let (nodes, places, part) = (self.nodes, self.places, self.part);
        let owns = |rank: usize| places[nodes[rank] as usize].0 == part;
        self.replay.start_where(
            owns,
            &mut Wishes {
                nodes,
                places,
                host,
            },
        );
    }

    fn finish(&mut self, op: u32, host: &mut impl Host) {
        let (nodes, places) = (self.nodes, self.places);
        self.replay.finish(
            op,
            &mut Wishes {
                nodes,
                places,
                host,
            },
        );
    }

    fn deliver(&mut self, message: &Outgoing, host: &mut impl Host) {
        let (nodes, places) = (self.nodes, self.places);
        let message = replay::Message {
            from: message.from,
            to: message.to,
            tag: message.tag,
            bytes: message.bytes,
        };
        self.replay.deliver(
            message,
            &mut Wishes {
                nodes,
                places,
                host,
            },
        );
    }
}

/// Between the replay, which knows ranks, and the network, which knows nodes.
struct Wishes<'a, H> {
    nodes: &'a [u32],
    places: &'a [(u16, u32)],
    host: &'a mut H,
}

impl<H: Host> replay::Host for Wishes<'_, H> {
    fn after(&mut self, delay: u64, rank: usize, op: u32) {
        let (_, node) = self.places[self.nodes[rank] as usize];
        self.host.call(delay, node, op);
    }

    fn send(&mut self, message: replay::Message) {
        let (_, node) = self.places[self.nodes[message.from as usize] as usize];
        let outgoing = Outgoing {
            destination: self.nodes[message.to as usize],
            bytes: message.bytes,
            from: message.from,
            to: message.to,
            tag: message.tag,
        };
        self.host.send(node, outgoing);
    }
}
