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
//! Adding up and copying cost no time here. Sizes are in bytes.
//!
//! A collective is a sequence of [`Step`]s of each member, each of which follows from its number
//! alone: a trace takes all of them at once, a skeleton one after the other while it runs.

use std::collections::VecDeque;

use super::mpi::{Comm, Rank, Sink, Tags};

/// From this size on an allreduce goes round a ring.
pub(in crate::network) const RING_BYTES: u64 = 65536;

/// A collective, as one member calls it. Roots are places in the communicator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::network) enum Collective {
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
        blocks: Blocks,
    },
    /// The block that each member keeps.
    ReduceScatter {
        blocks: Blocks,
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

/// The part of a vector that each member has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::network) enum Blocks {
    /// By member.
    Of(Vec<u64>),
    /// As equal as whole elements of so many bytes allow: the first ones hold one more.
    Equal { elements: u64, element: u64 },
}

impl From<Vec<u64>> for Blocks {
    fn from(blocks: Vec<u64>) -> Self {
        Blocks::Of(blocks)
    }
}

impl Blocks {
    /// The bytes of one of `size` members.
    fn of(&self, member: usize, size: usize) -> u64 {
        match *self {
            Blocks::Of(ref blocks) => blocks[member],
            Blocks::Equal { elements, element } => {
                let (member, size) = (member as u64, size as u64);
                (elements / size + u64::from(member < elements % size)) * element
            }
        }
    }
}

/// What a member does next within a collective. Members are named by their places in the
/// communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::network) enum Step {
    /// Sends, and waits for the end.
    Send { to: usize, bytes: u64 },
    /// Receives, and waits for the message.
    Recv { from: usize, bytes: u64 },
    /// Begins to send.
    Isend { to: usize, bytes: u64 },
    /// Posts a receive.
    Irecv { from: usize, bytes: u64 },
    /// Posts a receive, sends, and waits for both.
    Exchange {
        to: usize,
        sent: u64,
        from: usize,
        received: u64,
    },
    /// Waits for the oldest of the sends and receives that were begun and not yet waited for.
    WaitOldest,
    /// Waits for all of them.
    WaitAll,
}

impl Step {
    /// Adds its operations; members are the ranks that `rank_of` names. `open` holds the sends
    /// and receives that were begun and not yet waited for.
    ///
    /// # Errors
    /// If the program becomes too large.
    pub(in crate::network) fn take<S: Sink>(
        self,
        rank: &mut Rank<S>,
        open: &mut VecDeque<u32>,
        rank_of: impl Fn(usize) -> u32,
        tag: u32,
    ) -> Result<(), String> {
        match self {
            Step::Send { to, bytes } => rank.send(rank_of(to), bytes, tag)?,
            Step::Recv { from, bytes } => rank.recv(rank_of(from), bytes, tag)?,
            Step::Isend { to, bytes } => open.push_back(rank.isend(rank_of(to), bytes, tag)?),
            Step::Irecv { from, bytes } => open.push_back(rank.irecv(rank_of(from), bytes, tag)?),
            Step::Exchange {
                to,
                sent,
                from,
                received,
            } => rank.exchange((rank_of(to), sent), (rank_of(from), received), tag)?,
            Step::WaitOldest => open.pop_front().into_iter().for_each(|op| rank.wait(op)),
            Step::WaitAll => open.drain(..).for_each(|op| rank.wait(op)),
        }
        Ok(())
    }
}

impl Collective {
    /// Adds what the member under way sends and receives.
    ///
    /// # Errors
    /// If the root is not a member, a list has another length than the communicator, or the
    /// program becomes too large.
    pub(super) fn expand<S: Sink>(
        &self,
        comm: &mut Comm,
        tags: &mut Tags,
        rank: &mut Rank<S>,
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
            Collective::AllGatherV {
                blocks: Blocks::Of(blocks),
            }
            | Collective::ReduceScatter {
                blocks: Blocks::Of(blocks),
            }
            | Collective::Gather { blocks, .. }
            | Collective::Scatter { blocks, .. } => list(blocks)?,
            Collective::AllToAllV { to, from } => {
                list(to)?;
                list(from)?;
            }
            _ => {}
        }
        let tag = comm.next_tag(tags);
        let member = Member { size, me: comm.me };
        let mut open = VecDeque::new();
        let mut number = 0;
        while let Some(step) = member.step(self, number) {
            step.take(rank, &mut open, |place| comm.members[place], tag)?;
            number += 1;
        }
        Ok(())
    }
}

/// A vector of `bytes` in one part for each of `members`; the first ones are a byte longer.
pub(super) fn split(bytes: u64, members: usize) -> Vec<u64> {
    (0..members).map(|it| part(bytes, members, it)).collect()
}

/// The part of this member of a vector that is [`split`].
pub(super) fn part(bytes: u64, members: usize, member: usize) -> u64 {
    let blocks = Blocks::Equal {
        elements: bytes,
        element: 1,
    };
    blocks.of(member, members)
}

/// A member of a communicator of so many.
#[derive(Clone, Copy, Debug)]
pub(in crate::network) struct Member {
    pub(in crate::network) size: usize,
    /// Its place.
    pub(in crate::network) me: usize,
}

impl Member {
    /// The step of this number, from 0, of a collective; nothing after the last one. Lists must
    /// be as long as the communicator has members, and roots be members.
    pub(in crate::network) fn step(self, collective: &Collective, number: usize) -> Option<Step> {
        match *collective {
            Collective::Barrier => self.barrier(number),
            Collective::Broadcast { root, bytes } => self.broadcast(root, bytes, number),
            Collective::Reduce { root, bytes } => self.reduce(root, bytes, number),
            Collective::AllReduce { bytes, element } => {
                let element = element.max(1);
                let elements = bytes / element;
                if bytes < RING_BYTES || elements < self.size as u64 {
                    return self.recursive_doubling(bytes, number);
                }
                let blocks = Blocks::Equal { elements, element };
                let first = self.ring_reduce_scatter_steps();
                match number.checked_sub(first) {
                    None => self.ring_reduce_scatter(&blocks, 1, number),
                    Some(number) => self.ring_allgather(&blocks, 1, number),
                }
            }
            Collective::AllGather { bytes } => self.bruck(bytes, number),
            Collective::AllGatherV { ref blocks } => self.ring_allgather(blocks, 0, number),
            Collective::ReduceScatter { ref blocks } => self.ring_reduce_scatter(blocks, 0, number),
            Collective::AllToAll { bytes } => self.pairwise(|_| bytes, |_| bytes, number),
            Collective::AllToAllV { ref to, ref from } => {
                self.pairwise(|member| to[member], |member| from[member], number)
            }
            Collective::Scan { bytes } => self.scan(bytes, number),
            Collective::Gather { root, ref blocks } => self.gather(root, blocks, number),
            Collective::Scatter { root, ref blocks } => self.scatter(root, blocks, number),
        }
    }

    /// The member `distance` further on.
    fn on(self, distance: usize) -> usize {
        (self.me + distance) % self.size
    }

    /// The member `distance` before.
    fn back(self, distance: usize) -> usize {
        self.on(self.size - distance)
    }

    fn swap(with: usize, bytes: u64) -> Step {
        Step::Exchange {
            to: with,
            sent: bytes,
            from: with,
            received: bytes,
        }
    }

    /// The members beyond the largest power of two wait for their partners below it.
    fn barrier(self, number: usize) -> Option<Step> {
        let Self { size, me } = self;
        let doublings = size.ilog2() as usize;
        let power = 1 << doublings;
        if me >= power {
            let partner = me - power;
            return match number {
                0 => Some(Step::Send {
                    to: partner,
                    bytes: 0,
                }),
                1 => Some(Step::Recv {
                    from: partner,
                    bytes: 0,
                }),
                _ => None,
            };
        }
        let partner = Some(me + power).filter(|&partner| partner < size);
        let first = usize::from(partner.is_some());
        match (number.checked_sub(first), partner) {
            (None, Some(from)) => Some(Step::Recv { from, bytes: 0 }),
            (Some(k), _) if k < doublings => Some(Self::swap(me ^ (1 << k), 0)),
            (Some(k), Some(to)) if k == doublings => Some(Step::Send { to, bytes: 0 }),
            _ => None,
        }
    }

    /// Where the members are no power of two, the first even ones hand their part to the
    /// next odd one, and get the result from it.
    fn recursive_doubling(self, bytes: u64, number: usize) -> Option<Step> {
        let Self { size, me } = self;
        let doublings = size.ilog2() as usize;
        let extra = size - (1 << doublings);
        let member = |place: usize| match place < extra {
            true => 2 * place + 1,
            false => place + extra,
        };
        if me < 2 * extra && me % 2 == 0 {
            let odd = self.on(1);
            return match number {
                0 => Some(Step::Send { to: odd, bytes }),
                1 => Some(Step::Recv { from: odd, bytes }),
                _ => None,
            };
        }
        let place = if me < 2 * extra { me / 2 } else { me - extra };
        let even = (place < extra).then(|| self.back(1));
        match (number.checked_sub(usize::from(even.is_some())), even) {
            (None, Some(from)) => Some(Step::Recv { from, bytes }),
            (Some(k), _) if k < doublings => Some(Self::swap(member(place ^ (1 << k)), bytes)),
            (Some(k), Some(to)) if k == doublings => Some(Step::Send { to, bytes }),
            _ => None,
        }
    }

    /// The number counted from the root, of which the trees are made.
    fn place_from_root(self, root: usize) -> usize {
        self.on(self.size - root)
    }

    /// Each member receives from the one without its highest bit, then sends to all below.
    fn broadcast(self, root: usize, bytes: u64, number: usize) -> Option<Step> {
        let own = self.place_from_root(root);
        let highest = (own > 0).then(|| 1_usize << own.ilog2());
        let Some(number) = number.checked_sub(usize::from(own > 0)) else {
            let from = self.back(highest?);
            return Some(Step::Recv { from, bytes });
        };
        let first = highest.map_or(1, |highest| 2 * highest);
        let child = |number: usize| {
            let distance = (number < usize::BITS as usize).then(|| first << number)?;
            (own + distance < self.size).then_some(distance)
        };
        match (child(number), number.checked_sub(1)) {
            (Some(distance), _) => Some(Step::Isend {
                to: self.on(distance),
                bytes,
            }),
            (None, Some(before)) if child(before).is_some() => Some(Step::WaitAll),
            _ => None,
        }
    }

    /// Each member receives from those with one more bit below its lowest, with one receive
    /// posted ahead, then sends to the one without its lowest bit.
    fn reduce(self, root: usize, bytes: u64, number: usize) -> Option<Step> {
        let own = self.place_from_root(root);
        let children = (0..usize::BITS)
            .take_while(|&k| own & (1 << k) == 0 && own + (1 << k) < self.size)
            .count();
        if number < 2 * children {
            // The first receive, then the next one and the end of the one before, and so on.
            return Some(match (number % 2, number.div_ceil(2)) {
                (0, k) if k > 0 => Step::WaitOldest,
                (_, k) if k < children => Step::Irecv {
                    from: self.on(1 << k),
                    bytes,
                },
                _ => Step::WaitOldest,
            });
        }
        (number == 2 * children && own > 0).then(|| Step::Send {
            to: self.back(1 << own.trailing_zeros()),
            bytes,
        })
    }

    fn ring_reduce_scatter_steps(self) -> usize {
        match self.size {
            1 => 0,
            size => 3 * (size - 1),
        }
    }

    /// Each block goes round once; a receive is posted one step ahead. Each member ends with
    /// the block `last` places further on than its own.
    fn ring_reduce_scatter(self, blocks: &Blocks, last: usize, number: usize) -> Option<Step> {
        let size = self.size;
        if number + 1 >= self.ring_reduce_scatter_steps() {
            let ends = number + 1 == self.ring_reduce_scatter_steps();
            return ends.then_some(Step::WaitOldest);
        }
        // Post and send, then post, wait for the receive before, and send.
        let (round, part) = ((number + 1) / 3 + 1, (number + 1) % 3);
        let (round, part) = match number {
            0 => (1, 0),
            1 => (1, 2),
            _ => (round, part),
        };
        let block = |distance: usize| blocks.of(self.on(distance), size);
        Some(match part {
            0 => Step::Irecv {
                from: self.back(1),
                bytes: block(size + last - round - 1),
            },
            1 => Step::WaitOldest,
            _ => Step::Send {
                to: self.on(1),
                bytes: block(size + last - round),
            },
        })
    }

    /// Each member begins with the block `first` places further on than its own.
    fn ring_allgather(self, blocks: &Blocks, first: usize, number: usize) -> Option<Step> {
        let size = self.size;
        let block = |distance: usize| blocks.of(self.on(distance), size);
        (number + 1 < size).then(|| Step::Exchange {
            to: self.on(1),
            sent: block(size + first - number),
            from: self.back(1),
            received: block(size + first - number - 1),
        })
    }

    /// In each step twice as many blocks go to a member twice as far.
    fn bruck(self, bytes: u64, number: usize) -> Option<Step> {
        let size = self.size;
        let distance = (number < usize::BITS as usize - 1).then(|| 1_usize << number)?;
        let bytes = bytes.saturating_mul(distance.min(size.saturating_sub(distance)) as u64);
        (distance < size).then(|| Step::Exchange {
            to: self.back(distance),
            sent: bytes,
            from: self.on(distance),
            received: bytes,
        })
    }

    /// In each round a member sends to one a place further on, and receives from one a place
    /// further back.
    fn pairwise(
        self,
        to: impl Fn(usize) -> u64,
        from: impl Fn(usize) -> u64,
        number: usize,
    ) -> Option<Step> {
        let distance = number + 1;
        (distance < self.size).then(|| {
            let (next, before) = (self.on(distance), self.back(distance));
            Step::Exchange {
                to: next,
                sent: to(next),
                from: before,
                received: from(before),
            }
        })
    }

    fn scan(self, bytes: u64, number: usize) -> Option<Step> {
        let receives = self.me > 0;
        match number {
            0 if receives => Some(Step::Recv {
                from: self.me - 1,
                bytes,
            }),
            _ => (number == usize::from(receives) && self.me + 1 < self.size).then(|| Step::Send {
                to: self.me + 1,
                bytes,
            }),
        }
    }

    fn gather(self, root: usize, blocks: &[u64], number: usize) -> Option<Step> {
        if self.me != root {
            let bytes = blocks[self.me];
            return (number == 0).then_some(Step::Send { to: root, bytes });
        }
        self.with_all(number, |from| Step::Irecv {
            from,
            bytes: blocks[from],
        })
    }

    fn scatter(self, root: usize, blocks: &[u64], number: usize) -> Option<Step> {
        if self.me != root {
            let bytes = blocks[self.me];
            return (number == 0).then_some(Step::Recv { from: root, bytes });
        }
        self.with_all(number, |to| Step::Isend {
            to,
            bytes: blocks[to],
        })
    }

    /// The root posts a message with every other member, then waits for all.
    fn with_all(self, number: usize, post: impl Fn(usize) -> Step) -> Option<Step> {
        let others = self.size - 1;
        match number {
            _ if number < others => Some(post(number + usize::from(number >= self.me))),
            _ => (number == others && others > 0).then_some(Step::WaitAll),
        }
    }
}
