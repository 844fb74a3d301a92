//! What traffic and the network know of each other.

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

/// What carries out what traffic wishes. Nodes are named by their numbers in the
/// partition of the network that the host is.
pub trait Host {
    /// Now, in ps.
    fn now(&self) -> u64;
    /// Have [`Traffic::act`](super::Traffic::act) called `delay` ps from now.
    fn call(&mut self, delay: u64, node: u32, value: u32);
    /// Hands a message to the NIC of a node.
    fn send(&mut self, node: u32, message: Outgoing);
}
