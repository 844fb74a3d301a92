//! What a skeleton takes from a trace: the step that its ranks repeat.
//!
//! Each rank becomes a sequence of communications: sends, receives and collectives, each with the
//! computing before it. Collectives are told from their messages, by comparing them with those of
//! each algorithm. The shortest period after which most communications recur is a step. It begins
//! with the communication before which the rank in the middle computes longest; what stands
//! between two steps is listed by itself.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::collectives::{Blocks, Collective, Member, Step};
use super::{OpKind, Program, COLLECTIVE};

/// The longest step that is looked for, in communications.
const LONGEST_STEP: usize = 20_000;

/// So much of what recurs after the best period must recur after a shorter one, so that it is
/// taken: 19 of 20. In `lammps-lj-r8-s20`, where both neighbours in a dimension are the same rank,
/// 0.91 of what recurs after a step recurs after two communications.
const ENOUGH: (usize, usize) = (19, 20);

/// What the ranks of a trace repeat.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fit {
    /// Number of ranks.
    pub ranks: usize,
    /// Those whose steps have as many communications, in the same order; the tables are of these.
    pub ranks_alike: usize,
    /// Communications of a step; 0 if nothing is repeated.
    pub period: usize,
    /// The step.
    pub step: Vec<Slot>,
    /// Spread of the logarithm of the longest computation of a step ([`Times::spread`]).
    pub jitter: f64,
    /// What stands between two steps, in the order in which it first does.
    pub between: Vec<Between>,
    /// By rank.
    pub per_rank: Vec<RankFit>,
}

/// What stands between two steps.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Between {
    /// How often, on each rank.
    pub times: f64,
    /// Steps from one time to the next, the median; absent if it is there once only.
    pub steps_apart: Option<usize>,
    /// The communications.
    pub slots: Vec<Slot>,
    /// Computing before the step that follows, the median.
    pub calc_after_ns: u64,
}

/// A communication, over all ranks and steps.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Slot {
    /// `send`, `recv`, or the collective.
    pub what: &'static str,
    /// Bytes: the lower median.
    pub bytes: u64,
    /// The least.
    pub bytes_min: u64,
    /// The most.
    pub bytes_max: u64,
    /// Computing before it.
    pub calc_ns: Times,
}

/// Computing times, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Times {
    /// How many.
    pub count: usize,
    /// The lower median.
    pub median: u64,
    /// So much is longer than 15.87 % of them: one spread below the median of normal ones.
    pub low: u64,
    /// The same of 84.13 %.
    pub high: u64,
}

impl Times {
    fn of(times: &mut [u64]) -> Self {
        times.sort_unstable();
        let at = |part: f64| times[(part * (times.len() - 1) as f64) as usize];
        match times {
            [] => Self::default(),
            _ => Self {
                count: times.len(),
                median: median(times),
                low: at(0.1587),
                high: at(0.8413),
            },
        }
    }

    /// Half the difference of the logarithms of `high` and `low`: the standard deviation, if the
    /// logarithms are normally distributed.
    pub fn spread(&self) -> f64 {
        (self.high.max(1) as f64 / self.low.max(1) as f64).ln() / 2.0
    }
}

/// A rank's steps.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankFit {
    /// The rank, from 0.
    pub rank: usize,
    /// Communications of the whole trace.
    pub communications: usize,
    /// Communications of a step.
    pub period: usize,
    /// Steps that were found.
    pub steps: usize,
    /// Computing of a step; 2^64 - 1 ns, 584 years, stands for all that is longer.
    pub calc_ns: Times,
    /// Messages to each other rank in a step, collectives left out.
    pub neighbours: Vec<Neighbour>,
    /// Collectives of a step by name and bytes.
    pub collectives: Vec<Repeated>,
}

/// Messages to another rank in a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Neighbour {
    /// The other rank.
    pub rank: u32,
    /// How many.
    pub messages: usize,
    /// All of them together, the mean over the steps.
    pub bytes: f64,
}

/// A collective in a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Repeated {
    /// The collective.
    pub what: &'static str,
    /// As its caller gives them.
    pub bytes: u64,
    /// How often in a step.
    pub times: usize,
}

/// What makes communications the same in different steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    Send { to: u32, tag: u32 },
    Recv { from: u32, tag: u32 },
    Collective { what: &'static str, bytes: u64 },
}

impl Key {
    fn name(self) -> &'static str {
        match self {
            Key::Send { .. } => "send",
            Key::Recv { .. } => "recv",
            Key::Collective { what, .. } => what,
        }
    }
}

/// A communication of a rank.
#[derive(Clone, Copy, Debug)]
struct Communication {
    key: Key,
    bytes: u64,
    calc_ns: u64,
}

/// Finds what the ranks of a program repeat.
pub fn fit(program: &Program) -> Fit {
    let collectives = collectives(program);
    let ranks: Vec<Vec<Communication>> = (0..program.ranks())
        .map(|rank| communications(program, rank, &collectives))
        .collect();
    let middle = ranks.len() / 2;
    let start = steady(&ranks[middle]).map(|steady| steady.start_at_longest(&ranks[middle]));
    let found: Vec<Option<Steps>> = ranks.iter().map(|of| Steps::find(of, start)).collect();
    let per_rank = ranks
        .iter()
        .zip(&found)
        .enumerate()
        .map(|(rank, (of, steps))| rank_fit(rank, of, steps.as_ref()))
        .collect();
    let mut fit = Fit {
        ranks: ranks.len(),
        ranks_alike: 0,
        period: 0,
        step: Vec::new(),
        jitter: 0.0,
        between: Vec::new(),
        per_rank,
    };
    let Some(reference) = &found[middle] else {
        return fit;
    };
    let names = |of: &[Communication], at: usize, length: usize| -> Vec<&'static str> {
        let slots = &of[at..at + length];
        slots.iter().map(|slot| slot.key.name()).collect()
    };
    let same = names(&ranks[middle], reference.starts[0], reference.period);
    let alike: Vec<(&Vec<Communication>, &Steps)> = ranks
        .iter()
        .zip(&found)
        .filter_map(|(of, steps)| Some((of, steps.as_ref()?)))
        .filter(|(of, steps)| {
            steps.period == same.len() && names(of, steps.starts[0], steps.period) == same
        })
        .collect();
    fit.ranks_alike = alike.len();
    fit.period = reference.period;
    fit.step = slots(
        reference.period,
        alike
            .iter()
            .flat_map(|(of, steps)| steps.starts.iter().map(move |&start| &of[start..])),
    );
    let longest = fit.step.iter().max_by_key(|slot| slot.calc_ns.median);
    fit.jitter = longest.map_or(0.0, |slot| slot.calc_ns.spread());
    fit.between = between(&alike);
    fit
}

/// The communications that begin each of `all`, over all of them.
fn slots<'a>(length: usize, all: impl Iterator<Item = &'a [Communication]> + Clone) -> Vec<Slot> {
    let of_slot = |place: usize| {
        let mut bytes: Vec<u64> = all.clone().map(|of| of[place].bytes).collect();
        let mut times: Vec<u64> = all.clone().map(|of| of[place].calc_ns).collect();
        bytes.sort_unstable();
        Some(Slot {
            what: all.clone().next()?[place].key.name(),
            bytes: median(&bytes),
            bytes_min: *bytes.first()?,
            bytes_max: *bytes.last()?,
            calc_ns: Times::of(&mut times),
        })
    };
    (0..length).filter_map(of_slot).collect()
}

/// What stands between steps.
fn between(alike: &[(&Vec<Communication>, &Steps)]) -> Vec<Between> {
    /// All times that it stands there: on which rank, and from where to where.
    type Places = Vec<(usize, std::ops::Range<usize>)>;
    let mut kinds: Vec<(Vec<&'static str>, Places)> = Vec::new();
    for (rank, (of, steps)) in alike.iter().enumerate() {
        // Numbered by rank: neighbours differ, but all ranks have the same in the same order.
        let mut own: HashMap<Vec<Key>, usize> = HashMap::new();
        for pair in steps.starts.windows(2) {
            let gap = pair[0] + steps.period..pair[1];
            if gap.is_empty() {
                continue;
            }
            let keys: Vec<Key> = of[gap.clone()].iter().map(|one| one.key).collect();
            let names: Vec<&'static str> = keys.iter().map(|key| key.name()).collect();
            let next = own.len();
            let kind = *own.entry(keys).or_insert(next);
            match kinds.get_mut(kind) {
                Some((known, places)) if *known == names => places.push((rank, gap)),
                Some(_) => {}
                None => kinds.push((names, vec![(rank, gap)])),
            }
        }
    }
    let described = |(names, places): (Vec<&'static str>, Places)| {
        let stretches = places
            .iter()
            .map(|(rank, gap)| &alike[*rank].0[gap.start..]);
        let mut after: Vec<u64> = places
            .iter()
            .map(|(rank, gap)| alike[*rank].0[gap.end].calc_ns)
            .collect();
        after.sort_unstable();
        let mut apart: Vec<usize> = places
            .windows(2)
            .filter(|pair| pair[0].0 == pair[1].0)
            .map(|pair| {
                let starts = &alike[pair[0].0].1.starts;
                let within = |start: &&usize| (pair[0].1.end..pair[1].1.start).contains(*start);
                starts.iter().filter(within).count()
            })
            .collect();
        apart.sort_unstable();
        Between {
            times: places.len() as f64 / alike.len() as f64,
            steps_apart: (!apart.is_empty()).then(|| median(&apart)),
            slots: slots(names.len(), stretches),
            calc_after_ns: median(&after),
        }
    };
    kinds.into_iter().map(described).collect()
}

fn rank_fit(rank: usize, of: &[Communication], steps: Option<&Steps>) -> RankFit {
    let mut fit = RankFit {
        rank,
        communications: of.len(),
        period: 0,
        steps: 0,
        calc_ns: Times::default(),
        neighbours: Vec::new(),
        collectives: Vec::new(),
    };
    let Some(Steps { period, starts }) = steps else {
        return fit;
    };
    let step = |start: &usize| &of[*start..*start + period];
    let mut times: Vec<u64> = starts
        .iter()
        .map(|start| {
            step(start)
                .iter()
                .fold(0, |sum: u64, one| sum.saturating_add(one.calc_ns))
        })
        .collect();
    (fit.period, fit.steps) = (*period, starts.len());
    fit.calc_ns = Times::of(&mut times);
    let mut neighbours: BTreeMap<u32, (usize, u64)> = BTreeMap::new();
    let mut collectives: Vec<Repeated> = Vec::new();
    for one in starts.iter().flat_map(step) {
        match one.key {
            Key::Send { to, .. } => {
                let (messages, bytes) = neighbours.entry(to).or_default();
                *messages += 1;
                *bytes = bytes.saturating_add(one.bytes);
            }
            Key::Recv { .. } => {}
            Key::Collective { what, bytes } => {
                let known = |known: &&mut Repeated| (known.what, known.bytes) == (what, bytes);
                match collectives.iter_mut().find(known) {
                    Some(known) => known.times += 1,
                    None => collectives.push(Repeated {
                        what,
                        bytes,
                        times: 1,
                    }),
                }
            }
        }
    }
    fit.neighbours = neighbours
        .into_iter()
        .map(|(rank, (messages, bytes))| Neighbour {
            rank,
            messages: messages / starts.len(),
            bytes: bytes as f64 / starts.len() as f64,
        })
        .collect();
    collectives
        .iter_mut()
        .for_each(|one| one.times /= starts.len());
    fit.collectives = collectives;
    fit
}

/// The lower median of sorted values.
fn median<T: Copy>(sorted: &[T]) -> T {
    sorted[(sorted.len() - 1) / 2]
}

/// The steps of a rank.
struct Steps {
    period: usize,
    /// First communication of each.
    starts: Vec<usize>,
}

impl Steps {
    /// All steps like the one at `start`, if the rank repeats that one; else like its own.
    fn find(of: &[Communication], start: Option<usize>) -> Option<Self> {
        let steady = steady(of)?;
        let period = steady.period;
        let repeated = |&start: &usize| {
            let (next, end) = (start + period, start + 2 * period);
            end <= of.len() && (start..next).all(|at| of[at].key == of[at + period].key)
        };
        let start = start.filter(repeated);
        let start = start.unwrap_or_else(|| steady.start_at_longest(of));
        let keys: Vec<Key> = of[start..start + period]
            .iter()
            .map(|one| one.key)
            .collect();
        let mut starts = Vec::new();
        let mut at = 0;
        while at + period <= of.len() {
            let there = of[at..at + period].iter().map(|one| one.key);
            if there.eq(keys.iter().copied()) {
                starts.push(at);
                at += period;
            } else {
                at += 1;
            }
        }
        Some(Self { period, starts })
    }
}

/// The longest stretch that only repeats.
struct Steady {
    period: usize,
    stretch: std::ops::Range<usize>,
}

/// The period of a rank; none if nothing recurs.
fn steady(of: &[Communication]) -> Option<Steady> {
    // Comparing numbers is faster.
    let mut known = HashMap::new();
    let keys: Vec<u32> = of
        .iter()
        .map(|one| {
            let next = known.len() as u32;
            *known.entry(one.key).or_insert(next)
        })
        .collect();
    let recurring = |period: usize| {
        let pairs = keys.iter().zip(&keys[period..]);
        pairs.filter(|(one, other)| one == other).count()
    };
    let counts: Vec<usize> = (1..=(keys.len() / 2).min(LONGEST_STEP))
        .map(recurring)
        .collect();
    let best = counts.iter().copied().max().filter(|&best| best > 0)?;
    let enough = |&count: &usize| count * ENOUGH.1 >= best * ENOUGH.0;
    let period = counts.iter().position(enough)? + 1;
    let mut longest = 0..0;
    let mut at = 0;
    while at + period < keys.len() {
        let recurs = |&at: &usize| at + period < keys.len() && keys[at] == keys[at + period];
        let end = (at..).take_while(recurs).last().map_or(at, |last| last + 1);
        if end - at > longest.len() {
            longest = at..end;
        }
        at = end + 1;
    }
    // Two steps at least.
    (longest.len() >= period).then(|| Steady {
        period,
        stretch: longest.start..longest.end + period,
    })
}

impl Steady {
    /// Where the first step begins, if it is to begin with the longest computation.
    fn start_at_longest(&self, of: &[Communication]) -> usize {
        let calc = |slot: usize| {
            let all = (self.stretch.start + slot..self.stretch.end).step_by(self.period);
            let mut times: Vec<u64> = all.map(|at| of[at].calc_ns).collect();
            times.sort_unstable();
            median(&times)
        };
        // Of equal ones the first.
        let slot = (0..self.period).rev().max_by_key(|&slot| calc(slot));
        let start = self.stretch.start + slot.unwrap_or(0);
        // A whole step must be left.
        match start + self.period <= self.stretch.end {
            true => start,
            false => start - self.period,
        }
    }
}

/// What a rank does within a collective, and the collective.
type Named = HashMap<u32, (&'static str, u64)>;

/// Messages of a member of a collective: kind, other rank, bytes.
type Messages = Vec<(OpKind, u32, u64)>;

/// The collectives of a program by their tags: which one it is, and its bytes.
fn collectives(program: &Program) -> Named {
    let mut all: BTreeMap<u32, BTreeMap<u32, Messages>> = BTreeMap::new();
    for rank in 0..program.ranks() {
        for op in program.rank_ops(rank) {
            let op = &program.ops()[op as usize];
            if op.kind != OpKind::Calc && is_collective(op.tag) {
                let members = all.entry(op.tag).or_default();
                let messages = members.entry(rank as u32).or_default();
                messages.push((op.kind, op.peer, op.size));
            }
        }
    }
    let named = |(tag, members): (u32, BTreeMap<u32, Messages>)| (tag, recognized(&members));
    all.into_iter().map(named).collect()
}

fn is_collective(tag: u32) -> bool {
    tag & COLLECTIVE != 0 && tag < 1 << 31
}

/// The collective that has just these messages.
fn recognized(members: &BTreeMap<u32, Messages>) -> (&'static str, u64) {
    let ranks: Vec<u32> = members.keys().copied().collect();
    let size = ranks.len();
    let all = || members.values().flatten();
    let largest = all().map(|message| message.2).max().unwrap_or(0);
    let least = all().map(|message| message.2).min().unwrap_or(0);
    let sends = all().filter(|message| message.0 == OpKind::Send);
    let (count, total) = sends.fold((0, 0_u64), |(count, total), message| {
        (count + 1, total.saturating_add(message.2))
    });
    let only = |kind: OpKind| {
        let has_none = |messages: &Messages| messages.iter().all(|message| message.0 == kind);
        members.values().position(has_none).unwrap_or(0)
    };
    let (sender, receiver) = (only(OpKind::Send), only(OpKind::Recv));
    let rounds = 2 * size.saturating_sub(1) as u64;
    let mut candidates = Vec::new();
    if largest == 1 {
        candidates.push(("barrier", 0, Collective::Barrier));
    }
    let mut candidate = |what, bytes, collective| candidates.push((what, bytes, collective));
    let allreduce = |bytes, element| Collective::AllReduce { bytes, element };
    candidate("allreduce", largest, allreduce(largest, 1));
    if rounds > 0 && count == size as u64 * rounds {
        let bytes = total / rounds;
        for element in [4, 8, 1, 2, 16] {
            candidate("allreduce", bytes, allreduce(bytes, element));
        }
    }
    let (root, bytes) = (sender, largest);
    candidate("broadcast", bytes, Collective::Broadcast { root, bytes });
    let root = receiver;
    candidate("reduce", bytes, Collective::Reduce { root, bytes });
    candidate("allgather", least, Collective::AllGather { bytes: least });
    candidate("alltoall", bytes, Collective::AllToAll { bytes });
    candidate("scan", bytes, Collective::Scan { bytes });
    let parts = total / (size.max(2) as u64 - 1);
    for element in [4, 8, 1] {
        let blocks = || Blocks::Equal {
            elements: parts / element,
            element,
        };
        let what = Collective::ReduceScatter { blocks: blocks() };
        candidate("reduce-scatter", parts, what);
        let what = Collective::AllGatherV { blocks: blocks() };
        candidate("allgather", parts, what);
    }
    let fits = |collective: &Collective| {
        members.values().enumerate().all(|(me, messages)| {
            let member = Member { size, me };
            messages_of(member, collective, &ranks, messages.len()).as_ref() == Some(messages)
        })
    };
    let found = candidates.into_iter().find(|(_, _, one)| fits(one));
    found.map_or(("collective", largest), |(what, bytes, _)| (what, bytes))
}

/// The messages of a member; nothing if there are more than `most`.
fn messages_of(
    member: Member,
    collective: &Collective,
    ranks: &[u32],
    most: usize,
) -> Option<Messages> {
    let mut messages = Messages::new();
    for number in 0.. {
        let Some(step) = member.step(collective, number) else {
            break;
        };
        let mut add = |kind, place: usize, bytes: u64| {
            messages.push((kind, ranks[place], bytes.max(1)));
        };
        match step {
            Step::Send { to, bytes } | Step::Isend { to, bytes } => add(OpKind::Send, to, bytes),
            Step::Recv { from, bytes } | Step::Irecv { from, bytes } => {
                add(OpKind::Recv, from, bytes);
            }
            Step::Exchange {
                to,
                sent,
                from,
                received,
            } => {
                add(OpKind::Recv, from, received);
                add(OpKind::Send, to, sent);
            }
            Step::WaitOldest | Step::WaitAll => {}
        }
        if messages.len() > most {
            return None;
        }
    }
    Some(messages)
}

/// The communications of a rank in the order of its operations.
fn communications(program: &Program, rank: usize, collectives: &Named) -> Vec<Communication> {
    let mut found: Vec<Communication> = Vec::new();
    let mut calc_ns = 0_u64;
    let mut within = None;
    for op in program.rank_ops(rank) {
        let op = &program.ops()[op as usize];
        if op.kind == OpKind::Calc {
            calc_ns = calc_ns.saturating_add(op.size);
            continue;
        }
        let tag = Some(op.tag).filter(|tag| is_collective(*tag));
        if tag.is_some() && tag == within {
            continue;
        }
        within = tag;
        let (key, bytes) = match (tag, op.kind) {
            (Some(tag), _) => {
                let (what, bytes) = collectives[&tag];
                (Key::Collective { what, bytes }, bytes)
            }
            (None, OpKind::Send) => {
                let (to, tag) = (op.peer, op.tag);
                (Key::Send { to, tag }, op.size)
            }
            (None, _) => {
                let (from, tag) = (op.peer, op.tag);
                (Key::Recv { from, tag }, op.size)
            }
        };
        found.push(Communication {
            key,
            bytes,
            calc_ns: std::mem::take(&mut calc_ns),
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log may say of every call that 2^64 - 1 ns of computing come before it.
    #[test]
    fn computing_of_a_step_that_overflows_is_the_longest_time() {
        let barrier = Communication {
            key: Key::Collective {
                what: "barrier",
                bytes: 0,
            },
            bytes: 0,
            calc_ns: u64::MAX,
        };
        let steps = Steps {
            period: 2,
            starts: vec![0, 2],
        };
        let fit = rank_fit(0, &[barrier; 4], Some(&steps));
        assert_eq!(fit.calc_ns.median, u64::MAX);
    }
}
