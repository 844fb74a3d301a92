//! Traffic with chance in it: who sends how much to whom, and when.
//!
//! Every node draws from a generator of its own, seeded with the run's seed and the node's
//! number: what one node sends does not depend on what others do.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::{Host, Outgoing};

/// Who sends how much to whom, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// To whom.
    pub destinations: Destinations,
    /// Mean load that a node offers, as a part of the link's rate.
    pub load: f64,
    /// Bytes of a message.
    pub message_bytes: u64,
    /// Time that a message occupies the link, in ps.
    pub message_ps: u64,
    /// Seeds all generators.
    pub seed: u64,
}

/// To whom a node sends.
#[derive(Clone, Debug, PartialEq)]
pub enum Destinations {
    /// To any other node, all alike.
    Uniform,
    /// A part of the messages to hot nodes, the rest to any other node (p003).
    Hotspot {
        /// The hot nodes.
        nodes: Vec<u32>,
        /// The part of the messages that goes to one of them.
        fraction: f64,
    },
}

impl Destinations {
    fn draw(&self, node: u32, nodes: u32, random: &mut Pcg64Mcg) -> u32 {
        if let Destinations::Hotspot {
            nodes: hot,
            fraction,
        } = self
        {
            if random.random_bool(*fraction) {
                let chosen = hot[random.random_range(0..hot.len())];
                if chosen != node {
                    return chosen;
                }
            }
        }
        // All but the node itself.
        let other = random.random_range(0..nodes - 1);
        other + u32::from(other >= node)
    }
}

/// The nodes of one part of a network, each with its generator.
#[derive(Debug)]
pub struct Sources<'p> {
    pattern: &'p Pattern,
    /// Nodes of the whole network.
    nodes: u32,
    /// Number and generator of each node of this part.
    sources: Vec<(u32, Pcg64Mcg)>,
    /// Mean time from message to message of a node, in ps.
    mean_ps: f64,
}

impl<'p> Sources<'p> {
    /// The nodes `members` of a network with `nodes` nodes (>= 2).
    pub fn new(pattern: &'p Pattern, nodes: u32, members: &[u32]) -> Self {
        let source = |&node: &u32| {
            // The generator's own seeding spreads the bits of both.
            let seed = pattern.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(node);
            (node, Pcg64Mcg::seed_from_u64(seed))
        };
        Self {
            pattern,
            nodes,
            sources: members.iter().map(source).collect(),
            mean_ps: pattern.message_ps as f64 / pattern.load,
        }
    }

    /// Exponentially distributed, so that messages come independently of each other.
    fn wait(&mut self, node: u32) -> u64 {
        let (_, random) = &mut self.sources[node as usize];
        let uniform: f64 = random.random();
        (-self.mean_ps * (1.0 - uniform).ln()) as u64
    }

    pub(super) fn start(&mut self, host: &mut impl Host) {
        for node in 0..self.sources.len() as u32 {
            let wait = self.wait(node);
            host.call(wait, node, 0);
        }
    }

    pub(super) fn act(&mut self, node: u32, host: &mut impl Host) {
        let (number, random) = &mut self.sources[node as usize];
        let destination = self.pattern.destinations.draw(*number, self.nodes, random);
        let message = Outgoing {
            destination,
            bytes: self.pattern.message_bytes,
            from: *number,
            to: destination,
            tag: 0,
        };
        host.send(node, message);
        let wait = self.wait(node);
        host.call(wait, node, 0);
    }
}
