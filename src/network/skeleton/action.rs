//! What a rank does, one action after the other, and the groups of ranks that act together.

use super::super::trace::collectives::Collective;

/// What a rank does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::network) enum Action {
    /// Computes for about so many ns.
    Calc(u64),
    /// Sends, and waits for the end.
    Send { to: u32, bytes: u64, tag: u32 },
    /// Receives, and waits for the message.
    Recv { from: u32, bytes: u64, tag: u32 },
    /// Posts a receive.
    Irecv { from: u32, bytes: u64, tag: u32 },
    /// Waits for all that was posted.
    WaitAll,
    /// Takes part in a collective of a group: in a box, as most actions are small and each rank has
    /// a list of them.
    Collective(Box<Collective>, Group),
}

pub(super) fn collective(what: Collective, group: Group) -> Action {
    Action::Collective(Box::new(what), group)
}

/// Ranks of a communicator: so many, each `stride` after the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::network) struct Group {
    pub(super) kind: GroupKind,
    pub(super) first: u32,
    pub(super) stride: u32,
    pub(super) size: u32,
}

/// Groups of one kind have no rank in common. The numbers are those of communicators in tags: 1
/// is a rank alone in logs of MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GroupKind {
    World = 0,
    /// Ranks beside each other.
    Near = 2,
    /// One of each of those.
    Far = 3,
}

impl Group {
    /// One more than the highest number of a kind.
    pub(super) const KINDS: usize = 4;

    pub(super) fn world(ranks: u32) -> Self {
        Self {
            kind: GroupKind::World,
            first: 0,
            stride: 1,
            size: ranks,
        }
    }

    /// The ranks beside `rank`, where so many in a row are a group.
    pub(super) fn near(rank: u32, size: u32) -> Self {
        Self {
            kind: GroupKind::Near,
            first: rank - rank % size,
            stride: 1,
            size,
        }
    }

    /// Those that have the same place as `rank` in their own groups of `near` ranks.
    pub(super) fn far(rank: u32, near: u32, ranks: u32) -> Self {
        Self {
            kind: GroupKind::Far,
            first: rank % near,
            stride: near,
            size: ranks / near,
        }
    }

    pub(super) fn rank(self, place: usize) -> u32 {
        self.first + place as u32 * self.stride
    }

    pub(super) fn place(self, rank: u32) -> usize {
        ((rank - self.first) / self.stride) as usize
    }
}
