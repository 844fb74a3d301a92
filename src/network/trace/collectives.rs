//! The messages of MPI's collectives: one standard algorithm for each, those of Open MPI
//! 4.1 (`coll/base`) by number of its tuned component.
//!
//! | collective | algorithm |
//! | --- | --- |
//! | barrier | 3, recursive doubling |
//! | broadcast | 6, binomial tree |
//! | reduce | 5, binomial tree |
//! | allreduce | 3, recursive doubling, below 65536 bytes; 4, ring, from there on |
//! | allgather | 2, Bruck; with blocks of different sizes 3, ring |
//! | reduce-scatter | 2, ring |
//! | all-to-all | 2, pairwise |
//! | scan | 1, linear |
//! | gather, scatter | 1, linear |
//!
//! Adding up and copying cost no time here. Sizes are in bytes; `p` is the number of
//! members, `m` the one under way, and `m + d` means that one modulo `p`.

use super::mpi::{Comm, Rank, Tags};

/// From this size on an allreduce goes round a ring.
const RING_BYTES: u64 = 65536;

/// A collective, as one member calls it. Roots are places in the communicator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Collective {
    Barrier,
    Broadcast {
        root: usize,
        bytes: u64,
    },
    Reduce {
        root: usize,
        bytes: u64,
    },
    /// `element` bytes belong together.
    AllReduce {
        bytes: u64,
        element: u64,
    },
    /// `bytes` from each member.
    AllGather {
        bytes: u64,
    },
    /// The block of each member.
    AllGatherV {
        blocks: Vec<u64>,
    },
    /// The block that each member keeps.
    ReduceScatter {
        blocks: Vec<u64>,
    },
    /// `bytes` from each member to each.
    AllToAll {
        bytes: u64,
    },
    /// To each member, and from each.
    AllToAllV {
        to: Vec<u64>,
        from: Vec<u64>,
    },
    Scan {
        bytes: u64,
    },
    /// The block of each member; those that are not the root need to know their own only.
    Gather {
        root: usize,
        blocks: Vec<u64>,
    },
    /// The block of each member; those that are not the root need to know their own only.
    Scatter {
        root: usize,
        blocks: Vec<u64>,
    },
}

impl Collective {
    /// Adds what the member under way sends and receives.
    ///
    /// # Errors
    /// If the root is not a member, a list has another length than the communicator, or the
    /// program becomes too large.
    pub(super) fn expand(
        &self,
        comm: &mut Comm,
        tags: &mut Tags,
        rank: &mut Rank,
    ) -> Result<(), String> {
        let size = comm.members.len();
        let list = |blocks: &[u64]| match blocks.len() == size {
            true => Ok(()),
            false => Err(format!(
                "a list of {} sizes; the communicator has {size} members",
                blocks.len()
            )),
        };
        match self {
            Collective::Broadcast { root, .. }
            | Collective::Reduce { root, .. }
            | Collective::Gather { root, .. }
            | Collective::Scatter { root, .. }
                if *root >= size =>
            {
                return Err(format!(
                    "the root is member {root}; the communicator has members 0 to {}",
                    size - 1
                ))
            }
            Collective::AllGatherV { blocks }
            | Collective::ReduceScatter { blocks }
            | Collective::Gather { blocks, .. }
            | Collective::Scatter { blocks, .. } => list(blocks)?,
            Collective::AllToAllV { to, from } => {
                list(to)?;
                list(from)?;
            }
            _ => {}
        }
        let tag = comm.next_tag(tags);
        Member { comm, rank, tag }.run(self)
    }
}

/// A vector of `bytes` in one part for each of `members`; the first ones are a byte longer.
pub(super) fn split(bytes: u64, members: usize) -> Vec<u64> {
    let members = members as u64;
    (0..members)
        .map(|part| bytes / members + u64::from(part < bytes % members))
        .collect()
}

/// A member of a communicator within a collective.
struct Member<'a, 'b> {
    comm: &'a Comm,
    rank: &'a mut Rank<'b>,
    tag: u32,
}

impl Member<'_, '_> {
    fn run(&mut self, collective: &Collective) -> Result<(), String> {
        match collective {
            Collective::Barrier => self.barrier(),
            &Collective::Broadcast { root, bytes } => self.broadcast(root, bytes),
            &Collective::Reduce { root, bytes } => self.reduce(root, bytes),
            &Collective::AllReduce { bytes, element } => {
                let elements = bytes / element.max(1);
                if bytes < RING_BYTES || elements < self.size() as u64 {
                    return self.recursive_doubling(bytes);
                }
                let blocks = self.blocks(elements, element.max(1));
                self.ring_reduce_scatter(&blocks, 1)?;
                self.ring_allgather(&blocks, 1)
            }
            &Collective::AllGather { bytes } => self.bruck(bytes),
            Collective::AllGatherV { blocks } => self.ring_allgather(blocks, 0),
            Collective::ReduceScatter { blocks } => self.ring_reduce_scatter(blocks, 0),
            &Collective::AllToAll { bytes } => {
                let each = vec![bytes; self.size()];
                self.pairwise(&each, &each)
            }
            Collective::AllToAllV { to, from } => self.pairwise(to, from),
            &Collective::Scan { bytes } => self.scan(bytes),
            Collective::Gather { root, blocks } => self.gather(*root, blocks),
            Collective::Scatter { root, blocks } => self.scatter(*root, blocks),
        }
    }

    fn size(&self) -> usize {
        self.comm.members.len()
    }

    /// The member `distance` further on, by place.
    fn place(&self, distance: usize) -> usize {
        (self.comm.me + distance) % self.size()
    }

    /// The rank in the world of the member `distance` further on.
    fn on(&self, distance: usize) -> u32 {
        self.comm.members[self.place(distance)]
    }

    /// The rank in the world of the member `distance` before.
    fn back(&self, distance: usize) -> u32 {
        self.on(self.size() - distance)
    }

    fn swap(&mut self, with: usize, bytes: u64) -> Result<(), String> {
        let with = self.comm.members[with];
        self.rank.exchange((with, bytes), (with, bytes), self.tag)
    }

    /// A vector cut into one block for each member; the first ones hold one element more.
    fn blocks(&self, elements: u64, element: u64) -> Vec<u64> {
        let parts = split(elements, self.size()).into_iter();
        parts.map(|part| part * element).collect()
    }

    /// The members beyond the largest power of two wait for their partners below it.
    fn barrier(&mut self) -> Result<(), String> {
        let (size, me) = (self.size(), self.comm.me);
        let power = 1 << size.ilog2();
        if me >= power {
            let partner = self.comm.members[me - power];
            self.rank.send(partner, 0, self.tag)?;
            return self.rank.recv(partner, 0, self.tag);
        }
        let partner = self.comm.members.get(me + power).copied();
        if let Some(partner) = partner {
            self.rank.recv(partner, 0, self.tag)?;
        }
        let mut distance = 1;
        while distance < power {
            self.swap(me ^ distance, 0)?;
            distance *= 2;
        }
        match partner {
            Some(partner) => self.rank.send(partner, 0, self.tag),
            None => Ok(()),
        }
    }

    /// Where the members are no power of two, the first even ones hand their part to the
    /// next odd one, and get the result from it.
    fn recursive_doubling(&mut self, bytes: u64) -> Result<(), String> {
        let (size, me) = (self.size(), self.comm.me);
        let power = 1 << size.ilog2();
        let extra = size - power;
        let member = |place: usize| match place < extra {
            true => 2 * place + 1,
            false => place + extra,
        };
        if me < 2 * extra && me % 2 == 0 {
            let odd = self.on(1);
            self.rank.send(odd, bytes, self.tag)?;
            return self.rank.recv(odd, bytes, self.tag);
        }
        let place = if me < 2 * extra { me / 2 } else { me - extra };
        if place < extra {
            let even = self.back(1);
            self.rank.recv(even, bytes, self.tag)?;
        }
        let mut distance = 1;
        while distance < power {
            self.swap(member(place ^ distance), bytes)?;
            distance *= 2;
        }
        if place < extra {
            let even = self.back(1);
            self.rank.send(even, bytes, self.tag)?;
        }
        Ok(())
    }

    /// The number counted from the root, of which the trees are made.
    fn place_from_root(&self, root: usize) -> usize {
        self.place(self.size() - root)
    }

    /// Each member receives from the one without its highest bit, then sends to all below.
    fn broadcast(&mut self, root: usize, bytes: u64) -> Result<(), String> {
        let (size, own) = (self.size(), self.place_from_root(root));
        let mut distance = 1;
        if own > 0 {
            let highest = 1 << own.ilog2();
            let parent = self.back(highest);
            self.rank.recv(parent, bytes, self.tag)?;
            distance = 2 * highest;
        }
        let mut sends = Vec::new();
        while own + distance < size {
            let child = self.on(distance);
            sends.push(self.rank.isend(child, bytes, self.tag)?);
            distance *= 2;
        }
        sends.into_iter().for_each(|send| self.rank.wait(send));
        Ok(())
    }

    /// Each member receives from those with one more bit below its lowest, with one receive
    /// posted ahead, then sends to the one without its lowest bit.
    fn reduce(&mut self, root: usize, bytes: u64) -> Result<(), String> {
        let (size, own) = (self.size(), self.place_from_root(root));
        let mut distance = 1;
        let mut pending = None;
        while own & distance == 0 && own + distance < size {
            let child = self.on(distance);
            let recv = self.rank.irecv(child, bytes, self.tag)?;
            if let Some(before) = pending.replace(recv) {
                self.rank.wait(before);
            }
            distance *= 2;
        }
        if let Some(last) = pending {
            self.rank.wait(last);
        }
        if own > 0 {
            let parent = self.back(1 << own.trailing_zeros());
            self.rank.send(parent, bytes, self.tag)?;
        }
        Ok(())
    }

    /// Each block goes round once; a receive is posted one step ahead. Each member ends with
    /// the block `last` places further on than its own.
    fn ring_reduce_scatter(&mut self, blocks: &[u64], last: usize) -> Result<(), String> {
        let size = self.size();
        let mut pending = None;
        for step in 1..size {
            let (before, next) = (self.back(1), self.on(1));
            let received = blocks[self.place(size + last - step - 1)];
            let sent = blocks[self.place(size + last - step)];
            let recv = self.rank.irecv(before, received, self.tag)?;
            if let Some(earlier) = pending.replace(recv) {
                self.rank.wait(earlier);
            }
            self.rank.send(next, sent, self.tag)?;
        }
        if let Some(last) = pending {
            self.rank.wait(last);
        }
        Ok(())
    }

    /// Each member begins with the block `first` places further on than its own.
    fn ring_allgather(&mut self, blocks: &[u64], first: usize) -> Result<(), String> {
        let size = self.size();
        for step in 0..size - 1 {
            let sent = blocks[self.place(size + first - step)];
            let received = blocks[self.place(size + first - step - 1)];
            let (before, next) = (self.back(1), self.on(1));
            self.rank
                .exchange((next, sent), (before, received), self.tag)?;
        }
        Ok(())
    }

    /// In each step twice as many blocks go to a member twice as far.
    fn bruck(&mut self, bytes: u64) -> Result<(), String> {
        let size = self.size();
        let mut distance = 1;
        while distance < size {
            let sent = bytes.saturating_mul(distance.min(size - distance) as u64);
            let (to, from) = (self.back(distance), self.on(distance));
            self.rank.exchange((to, sent), (from, sent), self.tag)?;
            distance *= 2;
        }
        Ok(())
    }

    fn pairwise(&mut self, to: &[u64], from: &[u64]) -> Result<(), String> {
        let size = self.size();
        for step in 1..size {
            let sent = (self.on(step), to[self.place(step)]);
            let received = (self.back(step), from[self.place(size - step)]);
            self.rank.exchange(sent, received, self.tag)?;
        }
        Ok(())
    }

    fn scan(&mut self, bytes: u64) -> Result<(), String> {
        if self.comm.me > 0 {
            let before = self.back(1);
            self.rank.recv(before, bytes, self.tag)?;
        }
        if self.comm.me + 1 < self.size() {
            let next = self.on(1);
            self.rank.send(next, bytes, self.tag)?;
        }
        Ok(())
    }

    fn gather(&mut self, root: usize, blocks: &[u64]) -> Result<(), String> {
        if self.comm.me != root {
            let to = self.comm.members[root];
            return self.rank.send(to, blocks[self.comm.me], self.tag);
        }
        self.with_all(blocks, |member, from, bytes| {
            member.rank.irecv(from, bytes, member.tag)
        })
    }

    fn scatter(&mut self, root: usize, blocks: &[u64]) -> Result<(), String> {
        if self.comm.me != root {
            let from = self.comm.members[root];
            return self.rank.recv(from, blocks[self.comm.me], self.tag);
        }
        self.with_all(blocks, |member, to, bytes| {
            member.rank.isend(to, bytes, member.tag)
        })
    }

    /// The root posts a message with every other member, then waits for all.
    fn with_all(
        &mut self,
        blocks: &[u64],
        mut post: impl FnMut(&mut Self, u32, u64) -> Result<u32, String>,
    ) -> Result<(), String> {
        let mut posted = Vec::new();
        for (place, &bytes) in blocks.iter().enumerate() {
            if place != self.comm.me {
                let other = self.comm.members[place];
                posted.push(post(self, other, bytes)?);
            }
        }
        posted.into_iter().for_each(|op| self.rank.wait(op));
        Ok(())
    }
}
