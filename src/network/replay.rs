//! Replays a [`Program`]: which operation may run when, on which CPU, and which message
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

use super::trace::{is_wildcard, wildcards, OpKind, Program};

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
    /// [`Replay::finish`] is to be called for `op` of `rank` `delay` ps from now.
    fn after(&mut self, delay: u64, rank: usize, op: u32);
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
    program: &'p Program,
    overheads: Overheads,
    /// Dependencies of each operation that are not met yet.
    needs: Vec<u32>,
    cpus: Vec<Cpu>,
    /// First of each rank's CPUs in `cpus`.
    cpu_start: Vec<u32>,
    ranks: Vec<Rank>,
    /// Operations whose dependencies are met, to be started in this instant; the one that
    /// stands first in the file goes first.
    ready: BinaryHeap<Reverse<u32>>,
    /// CPUs that may have something to start.
    touched: Vec<u32>,
    finished: usize,
    sizes_differ: u64,
}

#[derive(Debug, Default)]
struct Cpu {
    running: Option<u32>,
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
    pub fn new(program: &'p Program, overheads: Overheads) -> Self {
        let mut cpu_start = vec![0];
        let mut cpus = 0u32;
        for rank in 0..program.ranks() {
            let ops = program.rank_ops(rank);
            let highest = program.ops()[ops.start as usize..ops.end as usize]
                .iter()
                .map(|op| op.cpu)
                .max();
            cpus += highest.map_or(0, |cpu| u32::from(cpu) + 1);
            cpu_start.push(cpus);
        }
        Self {
            program,
            overheads,
            needs: program.needs().to_vec(),
            cpus: (0..cpus).map(|_| Cpu::default()).collect(),
            cpu_start,
            ranks: (0..program.ranks()).map(|_| Rank::default()).collect(),
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
        self.ready = (0..self.program.ranks())
            .filter(|&rank| owns(rank))
            .flat_map(|rank| self.program.rank_ops(rank))
            .filter(|&op| self.needs[op as usize] == 0)
            .map(Reverse)
            .collect();
        self.settle(host);
    }

    /// The time that [`Host::after`] asked for has passed.
    ///
    /// # Panics
    /// If `op` is not running.
    pub fn finish(&mut self, op: u32, host: &mut impl Host) {
        let rank = self.program.rank_of(op);
        let what = self.program.ops()[op as usize];
        let cpu = self.cpu(rank, what.cpu);
        assert_eq!(
            self.cpus[cpu as usize].running.take(),
            Some(op),
            "only a running operation can finish"
        );
        self.touched.push(cpu);
        match what.kind {
            OpKind::Send => host.send(Message {
                from: rank as u32,
                to: what.peer,
                tag: what.tag,
                bytes: what.size,
            }),
            OpKind::Calc => self.ranks[rank].calc += self.program.calc_ps(rank, what.size),
            OpKind::Recv => {}
        }
        self.finished(op);
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
                let op = rank.posted.pop(key) as u32;
                self.matched(op, message.bytes);
                self.settle(host);
            }
            None => {
                rank.order += 1;
                rank.arrived.push((from, tag), rank.order, message.bytes);
            }
        }
    }

    fn cpu(&self, rank: usize, cpu: u8) -> u32 {
        self.cpu_start[rank] + u32::from(cpu)
    }

    /// Starts all that can start in this instant.
    fn settle(&mut self, host: &mut impl Host) {
        loop {
            while let Some(Reverse(op)) = self.ready.pop() {
                let what = self.program.ops()[op as usize];
                let rank = self.program.rank_of(op);
                if what.kind == OpKind::Recv {
                    self.post(rank, op);
                } else {
                    self.enqueue(rank, op, what.cpu);
                }
            }
            let Some(cpu) = self.touched.pop() else {
                return;
            };
            let slot = &mut self.cpus[cpu as usize];
            if slot.running.is_some() {
                continue;
            }
            let Some(Reverse(op)) = slot.waiting.pop() else {
                continue;
            };
            slot.running = Some(op);
            slot.since = host.now();
            let what = self.program.ops()[op as usize];
            let rank = self.program.rank_of(op);
            let time = match what.kind {
                OpKind::Calc => self.program.calc_ps(rank, what.size),
                OpKind::Send => self.overheads.send,
                OpKind::Recv => self.overheads.recv,
            };
            host.after(time, rank, op);
            if what.kind != OpKind::Recv {
                self.started(op);
            }
        }
    }

    fn enqueue(&mut self, rank: usize, op: u32, cpu: u8) {
        let cpu = self.cpu(rank, cpu);
        self.cpus[cpu as usize].waiting.push(Reverse(op));
        self.touched.push(cpu);
    }

    fn post(&mut self, rank: usize, op: u32) {
        self.started(op);
        let what = self.program.ops()[op as usize];
        let place = &mut self.ranks[rank];
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
                self.matched(op, bytes);
            }
            None => {
                place.order += 1;
                place.wildcards += usize::from(wildcard);
                place.posted.push(key, place.order, op.into());
            }
        }
    }

    /// A receive has its message.
    fn matched(&mut self, op: u32, bytes: u64) {
        let what = self.program.ops()[op as usize];
        self.sizes_differ += u64::from(what.size != bytes);
        if self.overheads.recv == 0 {
            self.finished(op);
        } else {
            self.enqueue(self.program.rank_of(op), op, what.cpu);
        }
    }

    fn started(&mut self, op: u32) {
        self.release(op, true);
    }

    fn finished(&mut self, op: u32) {
        self.finished += 1;
        self.release(op, false);
    }

    fn release(&mut self, op: u32, on_start: bool) {
        for successor in self.program.successors(op) {
            if successor.on_start() == on_start {
                let next = successor.op();
                self.needs[next as usize] -= 1;
                if self.needs[next as usize] == 0 {
                    self.ready.push(Reverse(next));
                }
            }
        }
    }

    /// Operations that have finished.
    pub fn operations_finished(&self) -> usize {
        self.finished
    }

    /// All operations have finished.
    pub fn is_complete(&self) -> bool {
        self.finished == self.program.ops().len()
    }

    /// Messages so far whose receive had another size.
    pub fn sizes_differ(&self) -> u64 {
        self.sizes_differ
    }

    /// CPU time of the calcs of each rank until `end`, in ps, over all its CPUs: of those that
    /// have finished, and of those under way what has passed of them.
    pub fn calc_times(&self, end: u64) -> impl Iterator<Item = u64> + '_ {
        let computes = |op: u32| self.program.ops()[op as usize].kind == OpKind::Calc;
        let under_way = move |cpu: &Cpu| match cpu.running {
            Some(op) if computes(op) => end.saturating_sub(cpu.since),
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

    /// What keeps the program from going on when nothing is under way any more: the
    /// receives that are posted and the messages that nobody took.
    pub fn deadlock(&self) -> String {
        let mut waiting: Vec<String> = Vec::new();
        let mut posted = 0;
        for (number, rank) in self.ranks.iter().enumerate() {
            for op in rank.posted.values() {
                posted += 1;
                waiting.push(format!(
                    "rank {number}: {}",
                    self.program.ops()[op as usize]
                ));
            }
        }
        waiting.sort();
        waiting.truncate(5);
        let messages: usize = self.ranks.iter().map(|rank| rank.arrived.len()).sum();
        format!(
            "{} of {} operations can never run: {posted} receives wait for messages ({}), {messages} \
             messages have no receive",
            self.needs.len() - self.finished,
            self.needs.len(),
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
