//! Several cables between neighbours, in a grid.

use std::ops::Range;

/// How the ports of a switch are divided: the nodes, then the cables to one neighbour after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cables {
    pub(super) nodes: usize,
    pub(super) neighbours: usize,
    pub(super) each: usize,
}

impl Cables {
    /// The neighbour that a port leads to, and which of the cables to it is there.
    fn at(&self, port: usize) -> Option<(usize, usize)> {
        let link = port.checked_sub(self.nodes)?;
        (link < self.neighbours * self.each).then_some((link / self.each, link % self.each))
    }

    /// The ports of all cables to the neighbour that `port` leads to, or that port.
    pub(super) fn beside(&self, port: u8) -> Range<u8> {
        match self.at(port.into()) {
            Some((neighbour, _)) => {
                let first = self.nodes + neighbour * self.each;
                first as u8..(first + self.each) as u8
            }
            None => port..port + 1,
        }
    }

    /// Whether a port of a switch is on whatever the load where cables can be off: all but the second and
    /// further ones to a neighbour. `None` if there are no such.
    pub(super) fn stays_on(&self, port: usize) -> Option<bool> {
        let is_first = self.at(port).is_none_or(|(_, cable)| cable == 0);
        (self.each > 1).then_some(is_first)
    }
}
