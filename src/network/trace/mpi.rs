//! What the readers of MPI call logs share: the calls of a rank, in their order, become
//! operations with the dependencies that MPI gives them.
//!
//! A rank is one chain on one CPU. What follows a blocking call waits for its end; what
//! follows a call that only posts waits for its start, which keeps the order of posting; a
//! completed request is one more end to wait for. Time between calls becomes a calc; that
//! before a call which neither sends, receives nor completes is added to the next one.

use std::collections::HashMap;

use super::{Builder, Cycle, Op, OpKind, TooLarge, ANY, ANY_OF_USERS, COLLECTIVE};

/// Tags of a communicator's messages: as many for users, as many for collectives.
const TAGS_PER_COMM: u32 = 1 << 20;
/// With this bit: pairs of communicator and tag that do not fit below.
const LARGE: u32 = 1 << 31;

/// The most ranks that a log may announce.
pub(super) const MAX_RANKS: u32 = 1 << 20;

/// Tags of the program, in which the communicators of MPI share one space.
#[derive(Debug, Default)]
pub(in crate::network) struct Tags {
    /// Their tags, by communicator, tag and kind (0 or [`COLLECTIVE`]).
    large: HashMap<(u32, u32, u32), u32>,
}

impl Tags {
    /// The tag of a message between two ranks, where the user of communicator `comm` gave
    /// it `tag`; [`ANY`] becomes [`ANY_OF_USERS`], and meets any communicator.
    pub(super) fn message(&mut self, comm: u32, tag: u32) -> u32 {
        match tag {
            ANY => ANY_OF_USERS,
            _ => self.of(comm, tag, 0),
        }
    }

    fn of(&mut self, comm: u32, tag: u32, kind: u32) -> u32 {
        if tag < TAGS_PER_COMM && comm < COLLECTIVE / TAGS_PER_COMM {
            return kind + comm * TAGS_PER_COMM + tag;
        }
        let next = LARGE + kind + self.large.len() as u32;
        *self.large.entry((comm, tag, kind)).or_insert(next)
    }

    /// The tag of the messages of the collective that follows `before` others in `comm`.
    pub(in crate::network) fn collective(&mut self, comm: u32, before: u32) -> u32 {
        self.of(comm, before % TAGS_PER_COMM, COLLECTIVE)
    }
}

/// A communicator, as one of its members sees it.
#[derive(Clone, Debug)]
pub(super) struct Comm {
    /// The same on all members.
    pub(super) number: u32,
    /// Ranks in the world.
    pub(super) members: Vec<u32>,
    /// The member that sees it.
    pub(super) me: usize,
    collectives: u32,
}

impl Comm {
    /// As rank `rank` sees it; nothing if it is not a member.
    pub(super) fn new(number: u32, members: Vec<u32>, rank: u32) -> Option<Self> {
        let me = members.iter().position(|&member| member == rank)?;
        Some(Self {
            number,
            members,
            me,
            collectives: 0,
        })
    }

    /// The same with so many collectives behind it.
    pub(super) fn after(self, collectives: u32) -> Self {
        Self {
            collectives,
            ..self
        }
    }

    /// Tag of the messages of the next collective.
    pub(super) fn next_tag(&mut self, tags: &mut Tags) -> u32 {
        let before = self.collectives;
        self.collectives = before.wrapping_add(1);
        tags.collective(self.number, before)
    }
}

/// The numbers of communicators, given to the same members in the same order on all of them.
///
/// Two ranks name the same communicator when its members are the same and it is the n-th
/// with them on each rank.
pub(super) struct CommNumbers {
    known: HashMap<(Vec<u32>, u32), u32>,
}

impl CommNumbers {
    /// The first number that is given out: 0 is the world, 1 a rank alone.
    const FIRST: u32 = 2;

    pub(super) fn new() -> Self {
        Self {
            known: HashMap::new(),
        }
    }

    /// The number of the `nth` communicator of these members.
    pub(super) fn number(&mut self, members: &[u32], nth: u32) -> u32 {
        let next = Self::FIRST + self.known.len() as u32;
        *self.known.entry((members.to_vec(), nth)).or_insert(next)
    }
}

fn too_large(TooLarge: TooLarge) -> String {
    "more than 2147483648 operations or 4294967295 dependencies: too large".to_owned()
}

/// What takes the operations of one rank, in their order.
pub(in crate::network) trait Sink {
    /// Adds an operation and returns its number within the rank.
    fn op(&mut self, op: Op) -> Result<u32, TooLarge>;
    /// The operation `waits` is to wait for `for_op`: for its end, or for its start only.
    fn dependency(&mut self, waits: u32, for_op: u32, on_start: bool) -> Result<(), TooLarge>;
}

impl Sink for &mut Builder {
    fn op(&mut self, op: Op) -> Result<u32, TooLarge> {
        Builder::op(self, op)
    }

    fn dependency(&mut self, waits: u32, for_op: u32, on_start: bool) -> Result<(), TooLarge> {
        Builder::dependency(self, waits, for_op, on_start)
    }
}

/// A rank under way.
#[derive(Debug)]
pub(in crate::network) struct Rank<S> {
    sink: S,
    /// Time since the last operation, in ns.
    gap: u64,
    /// What the next operation waits for: an operation, and whether for its start only.
    after: Vec<(u32, bool)>,
}

impl<S: Sink> Rank<S> {
    /// The next rank of the program.
    pub(in crate::network) fn new(sink: S) -> Self {
        Self {
            sink,
            gap: 0,
            after: Vec::new(),
        }
    }

    /// What has taken the operations.
    pub(in crate::network) fn sink(&self) -> &S {
        &self.sink
    }

    /// What has taken the operations.
    pub(in crate::network) fn sink_mut(&mut self) -> &mut S {
        &mut self.sink
    }

    /// Computes for `ns` before the next operation.
    pub(in crate::network) fn compute(&mut self, ns: u64) {
        self.gap = self.gap.saturating_add(ns);
    }

    /// Forgets what was computed since the last operation.
    pub(super) fn forget_computing(&mut self) {
        self.gap = 0;
    }

    /// What the next operation waits for from now on.
    pub(super) fn set_after(&mut self, after: Vec<(u32, bool)>) {
        self.after = after;
    }

    /// What the next operation waits for.
    pub(super) fn after(&self) -> &[(u32, bool)] {
        &self.after
    }

    /// Adds an operation; the next one waits for its start.
    pub(super) fn add(&mut self, op: Op) -> Result<u32, String> {
        let number = self.sink.op(op).map_err(too_large)?;
        for (other, on_start) in self.after.drain(..) {
            self.sink
                .dependency(number, other, on_start)
                .map_err(too_large)?;
        }
        self.after.push((number, true));
        Ok(number)
    }

    /// Computes what has come together before the next operation.
    pub(in crate::network) fn calc(&mut self) -> Result<(), String> {
        let size = std::mem::take(&mut self.gap);
        if size > 0 {
            let op = self.add(Op {
                size,
                peer: 0,
                tag: 0,
                kind: OpKind::Calc,
                cpu: 0,
                nic: 0,
            })?;
            self.after = vec![(op, false)];
        }
        Ok(())
    }

    fn message(&mut self, kind: OpKind, peer: u32, bytes: u64, tag: u32) -> Result<u32, String> {
        self.calc()?;
        self.add(Op {
            // Every message holds something, if only its envelope.
            size: bytes.max(1),
            peer,
            tag,
            kind,
            cpu: 0,
            nic: 0,
        })
    }

    /// Begins to send; the call returns at once.
    pub(in crate::network) fn isend(
        &mut self,
        to: u32,
        bytes: u64,
        tag: u32,
    ) -> Result<u32, String> {
        self.message(OpKind::Send, to, bytes, tag)
    }

    /// Posts a receive; the call returns at once.
    pub(in crate::network) fn irecv(
        &mut self,
        from: u32,
        bytes: u64,
        tag: u32,
    ) -> Result<u32, String> {
        self.message(OpKind::Recv, from, bytes, tag)
    }

    /// What follows waits for the end of `op`.
    pub(in crate::network) fn wait(&mut self, op: u32) {
        // Only the newest operation can be there already, with its start, and in the first place.
        if self.after.first() == Some(&(op, true)) {
            self.after.remove(0);
        }
        self.after.push((op, false));
    }

    /// A call that completes the request `op`: computes, then waits for its end.
    pub(super) fn complete(&mut self, op: u32) -> Result<(), String> {
        self.calc()?;
        self.wait(op);
        Ok(())
    }

    /// Sends, and waits for the end.
    pub(in crate::network) fn send(&mut self, to: u32, bytes: u64, tag: u32) -> Result<(), String> {
        let op = self.isend(to, bytes, tag)?;
        self.wait(op);
        Ok(())
    }

    /// Receives, and waits for the message.
    pub(in crate::network) fn recv(
        &mut self,
        from: u32,
        bytes: u64,
        tag: u32,
    ) -> Result<(), String> {
        let op = self.irecv(from, bytes, tag)?;
        self.wait(op);
        Ok(())
    }

    /// Exchanges messages: posts the receive, sends, and waits for both.
    pub(in crate::network) fn exchange(
        &mut self,
        (to, sent): (u32, u64),
        (from, received): (u32, u64),
        tag: u32,
    ) -> Result<(), String> {
        let recv = self.irecv(from, received, tag)?;
        let send = self.isend(to, sent, tag)?;
        self.wait(recv);
        self.wait(send);
        Ok(())
    }

    /// `op` waits for the end of `other`, whatever stands between them.
    pub(super) fn depend(&mut self, op: u32, other: u32) -> Result<(), String> {
        let added = self.sink.dependency(op, other, false);
        added.map_err(too_large)
    }
}

impl Rank<&mut Builder> {
    /// Writes into a receive what its status told: where the message came from, its tag in
    /// the program and its size.
    pub(super) fn received(&mut self, op: u32, from: u32, bytes: u64, tag: u32) {
        let op = self.sink.op_mut(op);
        (op.peer, op.size, op.tag) = (from, bytes.max(1), tag);
    }

    /// Whether the operation is a receive.
    pub(super) fn is_receive(&mut self, op: u32) -> bool {
        self.sink.op_mut(op).kind == OpKind::Recv
    }

    /// Ends the rank. Computing after the last message remains.
    pub(in crate::network) fn end(self) -> Result<(), String> {
        self.end_acyclic()?
            .map_err(|Cycle(cycle)| format!("operations {cycle:?} wait for each other"))
    }

    /// As [`Rank::end`]; which operations wait for each other, if any do.
    pub(super) fn end_acyclic(mut self) -> Result<Result<(), Cycle>, String> {
        self.calc()?;
        Ok(self.sink.end_rank())
    }
}
