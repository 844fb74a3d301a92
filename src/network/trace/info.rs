//! What a trace holds, in figures.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::limits::{MAX_BYTES, MAX_CALC_NS};
use super::{is_wildcard, OpKind, Program};
use crate::network::event_queue::EventQueue;
use crate::network::replay::{Host, Message, Overheads, Replay, Source};

/// The network of the ideal run: no contention; a send costs its CPU this much, in ps.
pub const IDEAL_OVERHEAD_PS: u64 = 200_000;
/// Latency of the ideal run, in ps.
pub const IDEAL_LATENCY_PS: u64 = 1_000_000;
/// Time of a byte in the ideal run, in ps: 400 Gb/s.
pub const IDEAL_BYTE_PS: u64 = 20;

/// Figures of one rank.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RankInfo {
    /// The rank, from 0.
    pub rank: usize,
    /// Number of calcs.
    pub calcs: u64,
    /// Number of sends.
    pub sends: u64,
    /// Number of receives.
    pub recvs: u64,
    /// Sum over its sends.
    pub bytes_sent: u64,
    /// Sum over its receives, as they name the sizes.
    pub bytes_received: u64,
    /// Sum of its calcs.
    pub calc_ns: u64,
    /// CPUs that its operations name (highest plus one).
    pub cpus: u32,
}

/// Figures of a trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceInfo {
    /// What [`Format::name`](super::Format::name) calls the format.
    pub format: &'static str,
    /// Compressed with zstd or gzip.
    pub compressed: bool,
    /// What of the file is not in the program, or had to be assumed, and how often.
    pub left_out: BTreeMap<String, u64>,
    /// Number of ranks.
    pub ranks: usize,
    /// Calcs, sends and receives.
    pub operations: usize,
    /// Number of calcs.
    pub calcs: u64,
    /// Number of sends.
    pub sends: u64,
    /// Number of receives.
    pub recvs: u64,
    /// Receives from any source or of any tag.
    pub wildcard_recvs: u64,
    /// Number of dependencies between operations.
    pub dependencies: usize,
    /// Sum over all sends.
    pub bytes_sent: u64,
    /// Smallest message in bytes; absent without messages, like the next two.
    pub message_bytes_min: Option<u64>,
    /// Lower median.
    pub message_bytes_median: Option<u64>,
    /// Largest message in bytes.
    pub message_bytes_max: Option<u64>,
    /// Sum of all calcs.
    pub calc_total_ns: u64,
    /// The same over the number of ranks.
    pub calc_mean_per_rank_ns: f64,
    /// Completion time without contention: the critical path.
    pub ideal_time_ns: f64,
    /// Messages whose receive names another size (in the ideal run).
    pub sizes_differ: u64,
    /// By rank.
    pub per_rank: Vec<RankInfo>,
}

/// Counts a program and runs it on the ideal network.
///
/// # Errors
/// If its ranks wait for each other for ever, or a time does not fit.
pub fn info(program: &Program) -> Result<TraceInfo, String> {
    let mut sizes = Vec::new();
    let mut wildcard_recvs = 0;
    let mut per_rank = Vec::with_capacity(program.ranks());
    let too_large =
        |what: &str, rank: usize| format!("rank {rank}: the sum of its {what} exceeds 64 bits");
    for rank in 0..program.ranks() {
        let mut one = RankInfo {
            rank,
            ..Default::default()
        };
        let mut calc_ps = 0_u64;
        for op in program.rank_ops(rank) {
            let op = &program.ops()[op as usize];
            one.cpus = one.cpus.max(u32::from(op.cpu) + 1);
            let (count, sum, what) = match op.kind {
                OpKind::Calc => {
                    one.calcs += 1;
                    // Too much of it is refused below.
                    calc_ps = calc_ps.saturating_add(program.calc_ps(rank, op.size));
                    continue;
                }
                OpKind::Send => {
                    sizes.push(op.size);
                    (&mut one.sends, &mut one.bytes_sent, "messages")
                }
                OpKind::Recv => {
                    wildcard_recvs += u64::from(is_wildcard(op.peer, op.tag));
                    (&mut one.recvs, &mut one.bytes_received, "receives")
                }
            };
            *count += 1;
            *sum = sum
                .checked_add(op.size)
                .ok_or_else(|| too_large(what, rank))?;
        }
        one.calc_ns = calc_ps / 1000;
        per_rank.push(one);
    }
    let total = |value: fn(&RankInfo) -> u64| {
        per_rank
            .iter()
            .try_fold(0u64, |sum, rank| sum.checked_add(value(rank)))
            .ok_or("the sum over all ranks exceeds 64 bits")
    };
    sizes.sort_unstable();
    let (ideal_time_ps, sizes_differ) = ideal_time(program)?;
    let calc_total_ns = total(|rank| rank.calc_ns)?;
    Ok(TraceInfo {
        format: program.format().name(),
        compressed: program.compressed(),
        left_out: program.left_out().clone(),
        ranks: program.ranks(),
        operations: program.ops().len(),
        calcs: total(|rank| rank.calcs)?,
        sends: total(|rank| rank.sends)?,
        recvs: total(|rank| rank.recvs)?,
        wildcard_recvs,
        dependencies: program.dependencies(),
        bytes_sent: total(|rank| rank.bytes_sent)?,
        message_bytes_min: sizes.first().copied(),
        message_bytes_median: sizes.get(sizes.len().saturating_sub(1) / 2).copied(),
        message_bytes_max: sizes.last().copied(),
        calc_total_ns,
        calc_mean_per_rank_ns: calc_total_ns as f64 / program.ranks() as f64,
        ideal_time_ns: ideal_time_ps as f64 / 1000.0,
        sizes_differ,
        per_rank,
    })
}

/// Completion time in ps on a network without contention ([`IDEAL_OVERHEAD_PS`] on the
/// sender's CPU, [`IDEAL_LATENCY_PS`], [`IDEAL_BYTE_PS`]), and how many messages met a
/// receive of another size.
///
/// # Errors
/// If the ranks wait for each other for ever, or a time does not fit.
pub fn ideal_time<'p>(source: impl Into<Source<'p>>) -> Result<(u64, u64), String> {
    let source = source.into();
    if let Source::Recorded(program) = source {
        check_times(&[program])?;
    }
    let mut replay = Replay::new(
        source,
        Overheads {
            send: IDEAL_OVERHEAD_PS,
            recv: 0,
        },
    );
    let mut network = Ideal {
        now: 0,
        queue: EventQueue::default(),
        last: HashMap::new(),
    };
    replay.start(&mut network);
    while let Some((now, event)) = network.queue.pop() {
        network.now = now;
        match event {
            Event::Finish(cpu) => replay.finish(cpu, &mut network),
            Event::Deliver(message) => replay.deliver(message, &mut network),
        }
    }
    if replay.is_complete() {
        Ok((network.now, replay.sizes_differ()))
    } else {
        Err(replay.deadlock())
    }
}

/// Refuses calcs and messages so long that picoseconds in 64 bits could overflow.
///
/// # Errors
/// Names the rank, the operation and the limit.
pub fn check_times(programs: &[&Program]) -> Result<(), String> {
    let (mut calc_total, mut bytes_total) = (0u64, 0u64);
    let ops = programs
        .iter()
        .flat_map(|program| (0..).zip(program.ops()).map(move |op| (program, op)));
    for (program, (number, op)) in ops {
        let rank = program.rank_of(number);
        let over = match op.kind {
            OpKind::Calc => {
                calc_total = calc_total.saturating_add(program.calc_ps(rank, op.size));
                (calc_total > MAX_CALC_NS * 1000).then_some(("calcs", MAX_CALC_NS, "ns"))
            }
            OpKind::Send => {
                bytes_total = bytes_total.saturating_add(op.size);
                (bytes_total > MAX_BYTES).then_some(("messages", MAX_BYTES, "bytes"))
            }
            OpKind::Recv => None,
        };
        if let Some((what, limit, unit)) = over {
            return Err(format!(
                "rank {rank}: `{op}`: all {what} together exceed {limit} {unit}, the most that \
                 can be simulated"
            ));
        }
    }
    Ok(())
}

#[derive(Debug)]
enum Event {
    Finish(u32),
    Deliver(Message),
}

struct Ideal {
    now: u64,
    queue: EventQueue<Event>,
    /// When the last message of each sender to each receiver arrives: none overtakes it.
    last: HashMap<(u32, u32), u64>,
}

impl Host for Ideal {
    fn now(&self) -> u64 {
        self.now
    }

    fn after(&mut self, delay: u64, _: usize, cpu: u32) {
        self.queue.schedule(self.now + delay, Event::Finish(cpu));
    }

    fn send(&mut self, message: Message) {
        let soonest = self.now + IDEAL_LATENCY_PS + message.bytes * IDEAL_BYTE_PS;
        let last = self.last.entry((message.from, message.to)).or_insert(0);
        *last = soonest.max(*last);
        self.queue.schedule(*last, Event::Deliver(message));
    }
}
