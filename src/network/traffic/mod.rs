//! What the nodes of a network send: the replay of a program, or a pattern.

mod host;
pub mod inactivity;
pub mod pattern;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

pub use host::{Host, Outgoing};

use super::replay::{self, Overheads, Replay, Source};
use pattern::Sources;

/// What the nodes of one partition of a network send.
#[derive(Debug)]
pub enum Traffic<'p> {
    /// The ranks of programs that run here.
    Programs(Ranks<'p>),
    /// A pattern with chance in it.
    Pattern(Sources<'p>),
}

impl Traffic<'_> {
    /// The beginning of the run.
    pub fn start(&mut self, host: &mut impl Host) {
        match self {
            Traffic::Programs(ranks) => ranks.start(host),
            Traffic::Pattern(sources) => sources.start(host),
        }
    }

    /// The time that [`Host::call`] asked for has passed.
    pub fn act(&mut self, node: u32, value: u32, host: &mut impl Host) {
        match self {
            Traffic::Programs(ranks) => ranks.act(node, value, host),
            Traffic::Pattern(sources) => sources.act(node, host),
        }
    }

    /// Nothing is left to do, here or elsewhere.
    pub fn is_complete(&self) -> bool {
        match self {
            Traffic::Programs(ranks) => ranks.finished == ranks.operations,
            Traffic::Pattern(_) => false,
        }
    }

    /// What it next looks at for a node, to fetch it early.
    #[inline]
    pub fn source(&self, node: usize) -> Option<*const u8> {
        match self {
            Traffic::Programs(_) => None,
            Traffic::Pattern(sources) => Some(sources.address(node)),
        }
    }

    /// A message has arrived completely at its node.
    pub fn arrived(&mut self, message: Outgoing, host: &mut impl Host) {
        match self {
            Traffic::Programs(ranks) => ranks.deliver(&message, host),
            Traffic::Pattern(_) => {}
        }
    }
}

/// Those ranks of several programs that run in one part of a network. Ranks and their CPUs are
/// numbered through, program by program; each has a replay of its own, so that programs that are
/// there several times lie in memory once.
#[derive(Debug)]
pub struct Ranks<'p> {
    jobs: Vec<Job<'p>>,
    finished: usize,
    operations: usize,
    /// Node of each rank, by its number in the network.
    nodes: &'p [u32],
    /// Part of the network, and place there, of each node.
    places: &'p [(u16, u32)],
    part: u16,
    due: Due,
}

/// The CPUs of each node here that will have finished, with the time. What the network calls at
/// the same time at one node it may call in any order: where a node has several CPUs, the call says
/// only that one is due, and the one with the lowest number is taken. Empty if no node has.
type Due = Vec<BinaryHeap<Reverse<(u64, u32)>>>;

#[derive(Debug)]
struct Job<'p> {
    replay: Replay<'p>,
    /// Numbers of its first rank and CPU.
    first_rank: u32,
    first_cpu: u32,
    /// When the last operation that has finished here did.
    last_ps: u64,
}

impl<'p> Ranks<'p> {
    /// The ranks in `part`, before they have begun; `nodes` holds the node of each rank,
    /// `places` the part and place of each node.
    pub fn new(
        programs: &[Source<'p>],
        overheads: Overheads,
        nodes: &'p [u32],
        places: &'p [(u16, u32)],
        part: u16,
    ) -> Self {
        let (mut first_rank, mut first_cpu, mut operations) = (0, 0, 0);
        let jobs = programs.iter().map(|&program| {
            let replay = Replay::new(program, overheads);
            let cpus: u32 = replay.cpus().sum();
            let job = Job {
                replay,
                first_rank,
                first_cpu,
                last_ps: 0,
            };
            first_rank += program.ranks() as u32;
            first_cpu += cpus;
            operations += program.operations();
            job
        });
        let jobs: Vec<Job> = jobs.collect();
        let mut cpus = vec![0; places.len()];
        let of_ranks = jobs.iter().flat_map(|job| job.replay.cpus());
        for (&node, count) in nodes.iter().zip(of_ranks) {
            cpus[node as usize] += count;
        }
        let mut due = Due::new();
        if cpus.into_iter().any(|cpus| cpus > 1) {
            let here = places.iter().filter(|(of, _)| *of == part);
            due.resize_with(here.count(), BinaryHeap::new);
        }
        Self {
            jobs,
            finished: 0,
            operations,
            nodes,
            places,
            part,
            due,
        }
    }

    /// Whether a rank runs here.
    pub fn owns(&self, rank: usize) -> bool {
        self.places[self.nodes[rank] as usize].0 == self.part
    }

    /// Operations that have finished here.
    pub fn operations_finished(&self) -> usize {
        self.finished
    }

    /// Of a job: operations that have finished here, and when the last of them did, in ps.
    pub fn job(&self, job: usize) -> (usize, u64) {
        let job = &self.jobs[job];
        (job.replay.operations_finished(), job.last_ps)
    }

    /// Messages so far whose receive had another size.
    pub fn sizes_differ(&self) -> u64 {
        self.jobs.iter().map(|job| job.replay.sizes_differ()).sum()
    }

    /// CPU time of the calcs of each rank here until `end`, in ps, and how many processors it has.
    pub fn calc_times_and_processors(&self, end: u64) -> impl Iterator<Item = (u64, u32)> + '_ {
        self.jobs
            .iter()
            .flat_map(move |job| job.replay.calc_times(end).zip(job.replay.processors()))
    }

    /// What keeps the first program that cannot go on from doing so.
    pub fn deadlock(&self) -> Option<String> {
        let stuck = self.jobs.iter().position(|job| !job.replay.is_complete())?;
        let why = self.jobs[stuck].replay.deadlock();
        Some(match self.jobs.len() {
            1 => why,
            _ => format!("job {stuck}: {why}"),
        })
    }

    fn start(&mut self, host: &mut impl Host) {
        let (nodes, places, part) = (self.nodes, self.places, self.part);
        for job in &mut self.jobs {
            let nodes = &nodes[job.first_rank as usize..];
            let owns = |rank: usize| places[nodes[rank] as usize].0 == part;
            let mut wishes = Wishes {
                first_rank: job.first_rank,
                first_cpu: job.first_cpu,
                nodes: self.nodes,
                places,
                due: &mut self.due,
                host,
            };
            job.replay.start_where(owns, &mut wishes);
        }
    }

    /// A CPU of a node has finished.
    fn act(&mut self, node: u32, cpu: u32, host: &mut impl Host) {
        let due = self.due.get_mut(node as usize).and_then(BinaryHeap::pop);
        let cpu = due.map_or(cpu, |Reverse((_, cpu))| cpu);
        let job = self.jobs.partition_point(|job| job.first_cpu <= cpu) - 1;
        let local = cpu - self.jobs[job].first_cpu;
        self.go_on(job, host, |replay, wishes| replay.finish(local, wishes));
    }

    fn deliver(&mut self, message: &Outgoing, host: &mut impl Host) {
        let job = self
            .jobs
            .partition_point(|job| job.first_rank <= message.to)
            - 1;
        let first = self.jobs[job].first_rank;
        let message = replay::Message {
            from: message.from - first,
            to: message.to - first,
            tag: message.tag,
            bytes: message.bytes,
        };
        self.go_on(job, host, |replay, wishes| replay.deliver(message, wishes));
    }

    /// Lets something happen in a job.
    fn go_on<H: Host>(
        &mut self,
        job: usize,
        host: &mut H,
        what: impl FnOnce(&mut Replay<'p>, &mut Wishes<H>),
    ) {
        let now = host.now();
        let job = &mut self.jobs[job];
        let before = job.replay.operations_finished();
        let mut wishes = Wishes {
            first_rank: job.first_rank,
            first_cpu: job.first_cpu,
            nodes: self.nodes,
            places: self.places,
            due: &mut self.due,
            host,
        };
        what(&mut job.replay, &mut wishes);
        let done = job.replay.operations_finished() - before;
        if done > 0 {
            self.finished += done;
            job.last_ps = now;
        }
    }
}

/// Between the replay, which knows ranks, and the network, which knows nodes.
struct Wishes<'a, H> {
    /// Numbers of the program's first rank and CPU.
    first_rank: u32,
    first_cpu: u32,
    nodes: &'a [u32],
    places: &'a [(u16, u32)],
    due: &'a mut Due,
    host: &'a mut H,
}

impl<H: Host> Wishes<'_, H> {
    fn node(&self, rank: u32) -> u32 {
        self.nodes[(self.first_rank + rank) as usize]
    }

    fn place(&self, rank: u32) -> u32 {
        self.places[self.node(rank) as usize].1
    }
}

impl<H: Host> replay::Host for Wishes<'_, H> {
    fn now(&self) -> u64 {
        self.host.now()
    }

    fn after(&mut self, delay: u64, rank: usize, cpu: u32) {
        let place = self.place(rank as u32);
        let cpu = self.first_cpu + cpu;
        match self.due.get_mut(place as usize) {
            Some(due) => {
                due.push(Reverse((self.host.now() + delay, cpu)));
                self.host.call(delay, place, 0);
            }
            None => self.host.call(delay, place, cpu),
        }
    }

    fn send(&mut self, message: replay::Message) {
        let place = self.place(message.from);
        let outgoing = Outgoing {
            destination: self.node(message.to),
            bytes: message.bytes,
            from: self.first_rank + message.from,
            to: self.first_rank + message.to,
            tag: message.tag,
        };
        self.host.send(place, outgoing);
    }
}
