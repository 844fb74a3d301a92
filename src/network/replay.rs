//! Replays a [`Program`] or a [`Skeleton`]: which operation may run when, on which CPU, and which message
//! meets which receive. The time messages take belongs to the [`Host`].
//!
//! - `calc` occupies its CPU for its length ([`Program::calc_ps`]). A `send` occupies its CPU
//!   for the send overhead; then the message is handed to the network and the send has
//!   finished: every send is eager, whatever its size. A `recv` is posted when its dependencies are met,
//!   which costs nothing (receives that become ready at once are posted in the order of
//!   the file, as MPI would); when its message has arrived completely it occupies the CPU for
//!   the receive overhead and has then finished.
//! - Operations on one CPU exclude each other; of those that are ready the one that
//!   stands first in the file goes first.
//! - A message meets the oldest posted receive with the same or any source and tag; a
//!   receive looks first among the messages that have arrived, oldest first. Sizes do not
//!   take part.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::skeleton::{Skeleton, Stream};
use super::trace::{is_wildcard, wildcards, Op, OpKind, Program};

/// Where the operations come from.
#[derive(Clone, Copy, Debug)]
pub enum Source<'p> {
    /// They were recorded, or read from a file.
    Recorded(&'p Program),
    /// They are made while the program runs.
    Skeleton(&'p Skeleton),
}

impl<'p> From<&'p Program> for Source<'p> {
    fn from(program: &'p Program) -> Self {
        Source::Recorded(program)
    }
}

impl<'p> From<&'p Skeleton> for Source<'p> {
    fn from(skeleton: &'p Skeleton) -> Self {
        Source::Skeleton(skeleton)
    }
}

impl Source<'_> {
    /// Number of ranks.
    pub fn ranks(self) -> usize {
        match self {
            Source::Recorded(program) => program.ranks(),
            Source::Skeleton(skeleton) => skeleton.ranks(),
        }
    }

    /// Operations of all ranks.
    pub fn operations(self) -> usize {
        match self {
            Source::Recorded(program) => program.ops().len(),
            Source::Skeleton(skeleton) => skeleton.operations(),
        }
    }

    /// CPUs that the operations of a rank name (highest plus one).
    fn cpus(self, rank: usize) -> u32 {
        match self {
            Source::Recorded(program) => {
                let ops = program.rank_ops(rank);
                let ops = &program.ops()[ops.start as usize..ops.end as usize];
                let highest = ops.iter().map(|op| op.cpu).max();
                highest.map_or(0, |cpu| u32::from(cpu) + 1)
            }
            Source::Skeleton(_) => 1,
        }
    }

    /// Processors of a rank.
    fn processors(self, rank: usize) -> u32 {
        match self {
            Source::Recorded(program) => program.processors(rank),
            Source::Skeleton(_) => 1,
        }
    }
}

/// The operations of a program under way.
#[derive(Debug)]
enum Operations<'p> {
    Recorded {
        program: &'p Program,
        /// Dependencies of each operation that are not met yet.
        needs: Vec<u32>,
    },
    Skeleton {
        skeleton: &'p Skeleton,
        ranks: Vec<Stream<'p>>,
    },
}

/// An operation: its rank, and its number there. Of two that may start, the lesser one goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    rank: u32,
    number: u32,
}

impl Operations<'_> {
    #[inline]
    fn op(&self, at: Place) -> Op {
        match self {
            Operations::Recorded { program, .. } => {
                program.ops()[(program.rank_ops(at.rank as usize).start + at.number) as usize]
            }
            Operations::Skeleton { ranks, .. } => ranks[at.rank as usize].op(at.number),
        }
    }

    #[inline]
    fn calc_ps(&self, rank: u32, size: u64) -> u64 {
        match self {
            Operations::Recorded { program, .. } => program.calc_ps(rank as usize, size),
            Operations::Skeleton { skeleton, .. } => skeleton.calc_ps(size),
        }
    }

    /// Hands `ready` the operations of a rank that wait for nothing.
    fn start(&mut self, rank: u32, ready: &mut Vec<Reverse<Place>>) {
        match self {
            Operations::Recorded { program, needs } => {
                let ops = program.rank_ops(rank as usize);
                let numbers = (0..).zip(&needs[ops.start as usize..ops.end as usize]);
                let free = numbers.filter(|(_, needs)| **needs == 0);
                ready.extend(free.map(|(number, _)| Reverse(Place { rank, number })));
            }
            Operations::Skeleton { ranks, .. } => {
                let first = ranks[rank as usize].start();
                ready.extend(first.map(|number| Reverse(Place { rank, number })));
            }
        }
    }

    /// An operation has started or finished: hands `ready` those that waited for it.
    #[inline]
    fn release(&mut self, at: Place, started: bool, ready: &mut BinaryHeap<Reverse<Place>>) {
        let Place { rank, number } = at;
        match self {
            Operations::Recorded { program, needs } => {
                let first = program.rank_ops(rank as usize).start;
                for successor in program.successors(first + number) {
                    if successor.on_start() == started {
                        let next = successor.op();
                        needs[next as usize] -= 1;
                        if needs[next as usize] == 0 {
                            let number = next - first;
                            ready.push(Reverse(Place { rank, number }));
                        }
                    }
                }
            }
            Operations::Skeleton { ranks, .. } => {
                let stream = &mut ranks[rank as usize];
                let next = match started {
                    true => stream.started(number),
                    false => stream.finished(number),
                };
                ready.extend(next.map(|number| Reverse(Place { rank, number })));
            }
        }
    }
}

/// A message between two ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The sending rank.
    pub from: u32,
    /// The receiving rank.
    pub to: u32,
    /// The sender's tag.
    pub tag: u32,
    /// At least 1.
    pub bytes: u64,
}

/// What carries out the replay's wishes.
pub trait Host {
    /// Now, in ps.
    fn now(&self) -> u64;
    /// [`Replay::finish`] is to be called for `cpu`, which is one of `rank`, `delay` ps from now.
    fn after(&mut self, delay: u64, rank: usize, cpu: u32);
    /// A message leaves its rank now; [`Replay::deliver`] is to be called when its last
    /// byte has arrived.
    fn send(&mut self, message: Message);
}

/// What an operation costs its CPU, in ps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overheads {
    /// A send.
    pub send: u64,
    /// A receive.
    pub recv: u64,
}

/// A program under way.
#[derive(Debug)]
pub struct Replay<'p> {
    operations: Operations<'p>,
    /// How many there are.
    count: usize,
    overheads: Overheads,
    cpus: Vec<Cpu>,
    /// First of each rank's CPUs in `cpus`.
    cpu_start: Vec<u32>,
    /// Each rank's processors.
    processors: Vec<u32>,
    ranks: Vec<Rank>,
    /// Operations whose dependencies are met, to be started in this instant; the one that
    /// stands first in the file goes first.
    ready: BinaryHeap<Reverse<Place>>,
    /// CPUs that may have something to start.
    touched: Vec<u32>,
    finished: usize,
    sizes_differ: u64,
}

#[derive(Debug)]
struct Cpu {
    rank: u32,
    /// Number of the operation within the rank, and what it is.
    running: Option<(u32, Op)>,
    /// Since when, in ps.
    since: u64,
    waiting: BinaryHeap<Reverse<u32>>,
}

#[derive(Debug, Default)]
struct Rank {
    posted: Lists,
    /// Posted receives with a wildcard.
    wildcards: usize,
    arrived: Lists,
    order: u64,
    /// CPU time of calcs that have finished, in ps, over all CPUs of the rank.
    calc: u64,
}

impl<'p> Replay<'p> {
    /// A program that has not begun.
    pub fn new(source: impl Into<Source<'p>>, overheads: Overheads) -> Self {
        let source = source.into();
        let mut cpu_start = vec![0];
        let mut cpus = Vec::new();
        for rank in 0..source.ranks() {
            let own = (0..source.cpus(rank)).map(|_| Cpu {
                rank: rank as u32,
                running: None,
                since: 0,
                waiting: BinaryHeap::new(),
            });
            cpus.extend(own);
            cpu_start.push(cpus.len() as u32);
        }
        let operations = match source {
            Source::Recorded(program) => Operations::Recorded {
                program,
                needs: program.needs().to_vec(),
            },
            Source::Skeleton(skeleton) => Operations::Skeleton {
                skeleton,
                ranks: (0..skeleton.ranks() as u32)
                    .map(|rank| Stream::new(skeleton, rank))
                    .collect(),
            },
        };
        Self {
            operations,
            count: source.operations(),
            overheads,
            cpus,
            cpu_start,
            processors: (0..source.ranks())
                .map(|rank| source.processors(rank))
                .collect(),
            ranks: (0..source.ranks()).map(|_| Rank::default()).collect(),
            ready: BinaryHeap::new(),
            touched: Vec::new(),
            finished: 0,
            sizes_differ: 0,
        }
    }

    /// Starts the operations that wait for nothing.
    pub fn start(&mut self, host: &mut impl Host) {
        self.start_where(|_| true, host);
    }

    /// As [`Replay::start`], of those ranks only that `owns` names: the others are replayed
    /// elsewhere, and their messages come from there.
    pub fn start_where(&mut self, owns: impl Fn(usize) -> bool, host: &mut impl Host) {
        let mut ready = Vec::new();
        for rank in (0..self.ranks.len()).filter(|&rank| owns(rank)) {
            self.operations.start(rank as u32, &mut ready);
        }
        self.ready = ready.into();
        self.settle(host);
    }

    /// The time that [`Host::after`] asked for has passed.
    ///
    /// # Panics
    /// If nothing runs on `cpu`.
    pub fn finish(&mut self, cpu: u32, host: &mut impl Host) {
        let slot = &mut self.cpus[cpu as usize];
        let rank = slot.rank;
        let (number, what) = slot.running.take().expect("what finishes has begun");
        self.touched.push(cpu);
        match what.kind {
            OpKind::Send => host.send(Message {
                from: rank,
                to: what.peer,
                tag: what.tag,
                bytes: what.size,
            }),
            OpKind::Calc => {
                self.ranks[rank as usize].calc += self.operations.calc_ps(rank, what.size);
            }
            OpKind::Recv => {}
        }
        self.finished(Place { rank, number });
        self.settle(host);
    }

    /// The last byte of a message has arrived.
    pub fn deliver(&mut self, message: Message, host: &mut impl Host) {
        let rank = &mut self.ranks[message.to as usize];
        let mut best: Option<(u64, (u32, u32))> = None;
        let (from, tag) = (message.from, message.tag);
        let exact = [(from, tag)];
        let wild = (rank.wildcards > 0).then(|| wildcards(from, tag));
        let keys = exact.into_iter().chain(wild.into_iter().flatten());
        for key in keys {
            if let Some(order) = rank.posted.front(key) {
                if best.is_none_or(|(oldest, _)| order < oldest) {
                    best = Some((order, key));
                }
            }
        }
        match best {
            Some((_, key)) => {
                rank.wildcards -= usize::from(key != (from, tag));
                let number = rank.posted.pop(key) as u32;
                let rank = message.to;
                self.matched(Place { rank, number }, message.bytes);
                self.settle(host);
            }
            None => {
                rank.order += 1;
                rank.arrived.push((from, tag), rank.order, message.bytes);
            }
        }
    }

    fn cpu(&self, rank: u32, cpu: u8) -> u32 {
        self.cpu_start[rank as usize] + u32::from(cpu)
    }

    /// Starts all that can start in this instant.
    fn settle(&mut self, host: &mut impl Host) {
        loop {
            while let Some(Reverse(at)) = self.ready.pop() {
                let what = self.operations.op(at);
                if what.kind == OpKind::Recv {
                    self.post(at, what);
                } else {
                    self.enqueue(at, what.cpu);
                }
            }
            let Some(cpu) = self.touched.pop() else {
                return;
            };
            let slot = &mut self.cpus[cpu as usize];
            if slot.running.is_some() {
                continue;
            }
            let Some(Reverse(number)) = slot.waiting.pop() else {
                continue;
            };
            let rank = slot.rank;
            let at = Place { rank, number };
            let what = self.operations.op(at);
            slot.running = Some((number, what));
            slot.since = host.now();
            let time = match what.kind {
                OpKind::Calc => self.operations.calc_ps(rank, what.size),
                OpKind::Send => self.overheads.send,
                OpKind::Recv => self.overheads.recv,
            };
            host.after(time, rank as usize, cpu);
            if what.kind != OpKind::Recv {
                self.started(at);
            }
        }
    }

    fn enqueue(&mut self, at: Place, cpu: u8) {
        let cpu = self.cpu(at.rank, cpu);
        self.cpus[cpu as usize].waiting.push(Reverse(at.number));
        self.touched.push(cpu);
    }

    fn post(&mut self, at: Place, what: Op) {
        self.started(at);
        let place = &mut self.ranks[at.rank as usize];
        let key = (what.peer, what.tag);
        let wildcard = is_wildcard(what.peer, what.tag);
        let found = if wildcard {
            place
                .arrived
                .oldest(|(from, tag)| wildcards(from, tag).any(|wild| wild == key))
        } else {
            place.arrived.front(key).map(|_| key)
        };
        match found {
            Some(key) => {
                let bytes = place.arrived.pop(key);
                self.matched(at, bytes);
            }
            None => {
                place.order += 1;
                place.wildcards += usize::from(wildcard);
                place.posted.push(key, place.order, at.number.into());
            }
        }
    }

    /// A receive has its message.
    fn matched(&mut self, at: Place, bytes: u64) {
        let what = self.operations.op(at);
        self.sizes_differ += u64::from(what.size != bytes);
        if self.overheads.recv == 0 {
            self.finished(at);
        } else {
            self.enqueue(at, what.cpu);
        }
    }

    fn started(&mut self, at: Place) {
        self.operations.release(at, true, &mut self.ready);
    }

    fn finished(&mut self, at: Place) {
        self.finished += 1;
        self.operations.release(at, false, &mut self.ready);
    }

    /// Operations that have finished.
    pub fn operations_finished(&self) -> usize {
        self.finished
    }

    /// All operations have finished.
    pub fn is_complete(&self) -> bool {
        self.finished == self.count
    }

    /// Operations of a skeleton that are in memory: those of each rank that are ready or under
    /// way, and the next ones.
    pub fn operations_in_memory(&self) -> usize {
        match &self.operations {
            Operations::Recorded { program, .. } => program.ops().len(),
            Operations::Skeleton { ranks, .. } => {
                ranks.iter().map(Stream::operations_in_memory).sum()
            }
        }
    }

    /// Messages so far whose receive had another size.
    pub fn sizes_differ(&self) -> u64 {
        self.sizes_differ
    }

    /// CPU time of the calcs of each rank until `end`, in ps, over all its CPUs: of those that
    /// have finished, and of those under way what has passed of them.
    pub fn calc_times(&self, end: u64) -> impl Iterator<Item = u64> + '_ {
        let under_way = move |cpu: &Cpu| match cpu.running {
            Some((_, op)) if op.kind == OpKind::Calc => end.saturating_sub(cpu.since),
            _ => 0,
        };
        let starts = self.cpu_start.windows(2);
        self.ranks.iter().zip(starts).map(move |(rank, starts)| {
            let cpus = &self.cpus[starts[0] as usize..starts[1] as usize];
            rank.calc + cpus.iter().map(under_way).sum::<u64>()
        })
    }

    /// Number of CPUs that the operations of each rank name (highest plus one).
    pub fn cpus(&self) -> impl Iterator<Item = u32> + '_ {
        self.cpu_start.windows(2).map(|pair| pair[1] - pair[0])
    }

    /// Number of processors of each rank: CPUs that compute.
    pub fn processors(&self) -> impl Iterator<Item = u32> + '_ {
        self.processors.iter().copied()
    }

    /// What keeps the program from going on when nothing is under way any more: the
    /// receives that are posted and the messages that nobody took.
    pub fn deadlock(&self) -> String {
        let mut waiting: Vec<String> = Vec::new();
        let mut posted = 0;
        for (number, rank) in self.ranks.iter().enumerate() {
            for op in rank.posted.values() {
                posted += 1;
                let at = Place {
                    rank: number as u32,
                    number: op as u32,
                };
                waiting.push(format!("rank {number}: {}", self.operations.op(at)));
            }
        }
        waiting.sort();
        waiting.truncate(5);
        let messages: usize = self.ranks.iter().map(|rank| rank.arrived.len()).sum();
        format!(
            "{} of {} operations can never run: {posted} receives wait for messages ({}), {messages} \
             messages have no receive",
            self.count - self.finished,
            self.count,
            waiting.join("; ")
        )
    }
}

/// First-in-first-out lists by (source, tag), in one arena.
#[derive(Debug)]
struct Lists {
    ends: HashMap<(u32, u32), (u32, u32)>,
    entries: Vec<Entry>,
    free: u32,
}

#[derive(Debug)]
struct Entry {
    order: u64,
    value: u64,
    next: u32,
}

const NONE: u32 = u32::MAX;

impl Default for Lists {
    fn default() -> Self {
        Self {
            ends: HashMap::new(),
            entries: Vec::new(),
            free: NONE,
        }
    }
}

impl Lists {
    fn push(&mut self, key: (u32, u32), order: u64, value: u64) {
        let entry = Entry {
            order,
            value,
            next: NONE,
        };
        let place = if self.free == NONE {
            self.entries.push(entry);
            self.entries.len() as u32 - 1
        } else {
            let place = self.free;
            self.free = self.entries[place as usize].next;
            self.entries[place as usize] = entry;
            place
        };
        match self.ends.entry(key) {
            std::collections::hash_map::Entry::Occupied(mut ends) => {
                let (_, last) = ends.get_mut();
                self.entries[*last as usize].next = place;
                *last = place;
            }
            std::collections::hash_map::Entry::Vacant(ends) => {
                ends.insert((place, place));
            }
        }
    }

    /// The order number of the oldest entry.
    fn front(&self, key: (u32, u32)) -> Option<u64> {
        let (first, _) = self.ends.get(&key)?;
        Some(self.entries[*first as usize].order)
    }

    fn pop(&mut self, key: (u32, u32)) -> u64 {
        let (first, last) = self.ends[&key];
        let entry = &mut self.entries[first as usize];
        let (value, next) = (entry.value, entry.next);
        entry.next = self.free;
        self.free = first;
        if next == NONE {
            self.ends.remove(&key);
        } else {
            self.ends.insert(key, (next, last));
        }
        value
    }

    /// The list with the oldest entry among those that `wanted` accepts.
    fn oldest(&self, wanted: impl Fn((u32, u32)) -> bool) -> Option<(u32, u32)> {
        self.ends
            .iter()
            .filter(|(key, _)| wanted(**key))
            .min_by_key(|(_, (first, _))| self.entries[*first as usize].order)
            .map(|(key, _)| *key)
    }

    fn values(&self) -> impl Iterator<Item = u64> + '_ {
        self.ends.values().flat_map(|&(first, _)| {
            std::iter::successors(Some(first), |&at| {
                Some(self.entries[at as usize].next).filter(|&next| next != NONE)
            })
            .map(|at| self.entries[at as usize].value)
        })
    }

    fn len(&self) -> usize {
        self.values().count()
    }
}
