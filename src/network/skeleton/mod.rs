//! Skeletons: the communication of parallel programs, made while the program runs.
//!
//! A recorded trace has the ranks that it was recorded with; a skeleton has any number of them.
//! It does what the program does in each step: the same messages between neighbours, the same
//! collectives, computations as long as those of a real trace ([`program`] names the trace of
//! every figure), with a spread that is drawn.
//!
//! Each rank is a chain of operations on one CPU, as in logs of MPI calls. Its operations are
//! made one by one: the next one when what it waits for has happened, and it is forgotten when
//! it has finished. So the memory of a run does not depend on the number of steps. What a rank
//! does follows from the skeleton, the rank and the place in the program alone; the part of a
//! network in which a rank runs makes its operations.

mod action;
mod grid;
mod layout;
pub mod program;
pub mod proxies;

use std::collections::VecDeque;

use rayon::prelude::*;

use super::trace::collectives::Member;
use super::trace::mpi::{Rank, Sink, Tags};
use super::trace::{Builder, Format, Op, OpKind, Program, TooLarge};
use action::{Action, Group};
use program::Unit;

pub use grid::divisors_near;
pub use program::{Parameters, PROGRAMS};

/// The most operations that a rank can have: its operations are numbered in 31 bits.
const MOST_OPERATIONS: u64 = 1 << 31;

/// So many times the spread a computation is from its median at most.
const FURTHEST: f64 = 6.0;

/// A program for some ranks and steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Skeleton {
    parameters: Parameters,
    /// How fast processors are, in millionths of those of the traces.
    speed: u64,
    /// Draws how long computations last.
    seed: u64,
    totals: Totals,
}

/// Sums over a whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Totals {
    operations: u64,
    /// Of the rank that has the most.
    most_operations: u64,
    bytes: u64,
    /// Computing of the rank that computes longest, before anything is drawn, in ns.
    longest_calc_ns: u64,
}

impl Totals {
    fn times(self, count: u64) -> Self {
        Self {
            operations: self.operations.saturating_mul(count),
            most_operations: self.most_operations.saturating_mul(count),
            bytes: self.bytes.saturating_mul(count),
            longest_calc_ns: self.longest_calc_ns.saturating_mul(count),
        }
    }

    /// Of one after the other.
    fn then(self, other: Self) -> Self {
        Self {
            operations: self.operations.saturating_add(other.operations),
            most_operations: self.most_operations.saturating_add(other.most_operations),
            bytes: self.bytes.saturating_add(other.bytes),
            longest_calc_ns: self.longest_calc_ns.saturating_add(other.longest_calc_ns),
        }
    }

    /// Of ranks at the same time.
    fn beside(self, other: Self) -> Self {
        Self {
            operations: self.operations.saturating_add(other.operations),
            most_operations: self.most_operations.max(other.most_operations),
            bytes: self.bytes.saturating_add(other.bytes),
            longest_calc_ns: self.longest_calc_ns.max(other.longest_calc_ns),
        }
    }
}

impl Skeleton {
    /// The program with these parameters on processors that are so many millionths as fast as
    /// those of the traces ([`TRACED_SPEED`](super::trace::TRACED_SPEED)).
    ///
    /// # Errors
    /// If it is too long to be simulated: names the limit and a number of steps that is not.
    pub fn new(parameters: Parameters, speed: u64, seed: u64) -> Result<Self, String> {
        let mut skeleton = Self {
            parameters,
            speed,
            seed,
            totals: Totals::default(),
        };
        // All units of a kind are alike: one of each is counted.
        let kinds = skeleton.parameters.unit_kinds();
        skeleton.totals = kinds
            .into_iter()
            .map(|(unit, count)| skeleton.count(unit).times(count))
            .fold(Totals::default(), Totals::then);
        skeleton.check()?;
        Ok(skeleton)
    }

    /// What all ranks do in one unit.
    fn count(&self, unit: Unit) -> Totals {
        let ranks = 0..self.parameters.ranks;
        let of_rank = |rank| {
            let mut walk = Walk::new(self, rank, Counter::default());
            walk.jitter = false;
            self.parameters.actions(rank, unit, &mut walk.actions);
            while walk.at < walk.actions.len() {
                walk.step().expect("a counter takes any number");
            }
            walk.calls.calc().expect("a counter takes any number");
            let counted = *walk.calls.sink();
            Totals {
                operations: counted.operations,
                most_operations: counted.operations,
                bytes: counted.bytes,
                longest_calc_ns: counted.calc_ns,
            }
        };
        let none = Totals::default;
        ranks
            .into_par_iter()
            .map(of_rank)
            .reduce(none, Totals::beside)
    }

    /// Refuses what does not fit the numbers of a simulation.
    fn check(&self) -> Result<(), String> {
        let Totals {
            operations,
            most_operations,
            bytes,
            longest_calc_ns,
        } = self.totals;
        let (program, steps) = (self.parameters.name(), self.parameters.steps);
        // Ranks may have to wait for each other: then what one after the other computes counts.
        let chain = u64::from(self.parameters.longest_chain());
        let longest = longest_calc_ns as f64
            * chain as f64
            * (FURTHEST * self.parameters.jitter()).exp()
            * (super::trace::TRACED_SPEED as f64 / self.speed as f64);
        let limits = [
            (
                "operations of a rank",
                most_operations as f64,
                MOST_OPERATIONS as f64,
            ),
            ("operations", operations as f64, (1u64 << 62) as f64),
            (
                "bytes of messages",
                bytes as f64,
                super::trace::limits::MAX_BYTES as f64,
            ),
            (
                "ns of computing",
                longest,
                super::trace::limits::MAX_CALC_NS as f64,
            ),
        ];
        for (what, value, limit) in limits {
            if value > limit {
                let most = (steps as f64 * limit / value).floor();
                let remedy = match most >= 1.0 {
                    true => format!("the most steps with these parameters are about {most}"),
                    false => "even one step is too long: make the sizes, times or ranks \
                              smaller"
                        .to_owned(),
                };
                return Err(format!(
                    "program {program:?} with {steps} steps has {value:.0} {what}, and {limit:.0} \
                     is the most that can be simulated; {remedy}"
                ));
            }
        }
        Ok(())
    }

    /// What it was made of.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.parameters.ranks as usize
    }

    /// Operations of all ranks.
    pub fn operations(&self) -> usize {
        self.totals.operations as usize
    }

    /// Payload bytes of all messages.
    pub fn bytes(&self) -> u64 {
        self.totals.bytes
    }

    /// How long a calc of `size` ns lasts, in ps ([`Program::calc_ps`]).
    pub fn calc_ps(&self, size: u64) -> u64 {
        super::trace::calc_ps(self.speed, size)
    }

    /// How long the `number`th computation of a rank lasts whose median is `ns`: the logarithm
    /// is nearly normally distributed, as the spread of real computations is lopsided.
    fn drawn(&self, rank: u32, number: u64, ns: u64) -> u64 {
        let jitter = self.parameters.jitter();
        // What is not computed takes no time, and is no operation.
        if jitter == 0.0 || ns == 0 {
            return ns;
        }
        // A generator that can be asked for any number directly (splitmix64), so that a rank
        // keeps no state.
        let mut state =
            self.seed ^ (u64::from(rank) << 32 | 0x5bd1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        state = mixed(state).wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        // The sum of twelve numbers from 0 to 1, less 6: mean 0, spread 1.
        let mut sum = 0;
        for part in 0..3_u64 {
            let word = mixed(state.wrapping_add(part.wrapping_mul(0xd1b5_4a32_d192_ed03)));
            sum += (0..4).map(|k| word >> (16 * k) & 0xffff).sum::<u64>();
        }
        let normal = sum as f64 / 65_535.0 - FURTHEST;
        ((ns as f64 * (jitter * normal).exp()).round() as u64).max(1)
    }

    /// Hands all operations of a rank to `sink`, in their order.
    fn hand_over<S: Sink>(&self, rank: u32, sink: S) -> Result<Rank<S>, String> {
        let mut walk = Walk::new(self, rank, sink);
        while walk.go_on()? {}
        Ok(walk.calls)
    }

    /// The whole program as one that was recorded.
    ///
    /// # Errors
    /// If it has more operations than such a program can hold.
    pub fn program(&self) -> Result<Program, String> {
        let mut builder = Builder::new(Format::Skeleton);
        for rank in 0..self.parameters.ranks {
            let calls = self.hand_over(rank, &mut builder)?;
            calls.end()?;
        }
        Ok(builder.finish().at_speed(self.speed))
    }

    /// Writes the program as GOAL text, rank by rank.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write_goal(&self, out: &mut dyn std::io::Write) -> std::io::Result<()> {
        super::trace::export::write_head(out, self.ranks())?;
        for rank in 0..self.parameters.ranks {
            let text = super::trace::export::Writer::new(&mut *out, rank)?;
            let mut calls = match self.hand_over(rank, text) {
                Ok(calls) => calls,
                Err(problem) => return Err(std::io::Error::other(problem)),
            };
            calls.sink_mut().end()?;
        }
        Ok(())
    }
}

/// The finalizer of splitmix64.
fn mixed(mut state: u64) -> u64 {
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

/// Counts operations.
#[derive(Clone, Copy, Debug, Default)]
struct Counter {
    operations: u64,
    bytes: u64,
    calc_ns: u64,
}

impl Sink for Counter {
    fn op(&mut self, op: Op) -> Result<u32, TooLarge> {
        self.operations += 1;
        match op.kind {
            OpKind::Send => self.bytes = self.bytes.saturating_add(op.size),
            OpKind::Calc => self.calc_ns = self.calc_ns.saturating_add(op.size),
            OpKind::Recv => {}
        }
        Ok(self.operations as u32)
    }

    fn dependency(&mut self, _: u32, _: u32, _: bool) -> Result<(), TooLarge> {
        Ok(())
    }
}

/// A rank on its way through its program.
#[derive(Debug)]
struct Walk<'s, S> {
    skeleton: &'s Skeleton,
    rank: u32,
    calls: Rank<S>,
    /// The next unit.
    unit: u64,
    /// Those of the unit under way.
    actions: Vec<Action>,
    /// The action under way.
    at: usize,
    /// Of a collective under way, the next step.
    within: usize,
    /// Sends and receives that were begun and not yet waited for.
    open: VecDeque<u32>,
    /// Collectives so far, by kind of group.
    collectives: [u32; Group::KINDS],
    /// Computations so far.
    calcs: u64,
    jitter: bool,
}

impl<'s, S: Sink> Walk<'s, S> {
    fn new(skeleton: &'s Skeleton, rank: u32, sink: S) -> Self {
        Self {
            skeleton,
            rank,
            calls: Rank::new(sink),
            unit: 0,
            actions: Vec::new(),
            at: 0,
            within: 0,
            open: VecDeque::new(),
            collectives: [0; Group::KINDS],
            calcs: 0,
            jitter: true,
        }
    }

    /// Goes on by a part of an action; false at the end of the program.
    fn go_on(&mut self) -> Result<bool, String> {
        let parameters = &self.skeleton.parameters;
        while self.at == self.actions.len() {
            // Computing after the last message: each unit has its own operations.
            self.calls.calc()?;
            if self.unit == parameters.units() {
                return Ok(false);
            }
            self.actions.clear();
            self.at = 0;
            let unit = parameters.unit(self.unit);
            parameters.actions(self.rank, unit, &mut self.actions);
            self.unit += 1;
        }
        self.step()?;
        Ok(true)
    }

    /// An action of the unit under way, or a step of it.
    fn step(&mut self) -> Result<(), String> {
        let calls = &mut self.calls;
        match self.actions[self.at] {
            Action::Calc(ns) if self.jitter => {
                calls.compute(self.skeleton.drawn(self.rank, self.calcs, ns));
                self.calcs += 1;
            }
            Action::Calc(ns) => calls.compute(ns),
            Action::Send { to, bytes, tag } => calls.send(to, bytes, tag)?,
            Action::Recv { from, bytes, tag } => calls.recv(from, bytes, tag)?,
            Action::Irecv { from, bytes, tag } => {
                self.open.push_back(calls.irecv(from, bytes, tag)?);
            }
            Action::WaitAll => self.open.drain(..).for_each(|op| calls.wait(op)),
            Action::Collective(ref what, group) => {
                let member = Member {
                    size: group.size as usize,
                    me: group.place(self.rank),
                };
                if let Some(step) = member.step(what, self.within) {
                    let before = self.collectives[group.kind as usize];
                    let tag = Tags::default().collective(group.kind as u32, before);
                    step.take(calls, &mut self.open, |place| group.rank(place), tag)?;
                    self.within += 1;
                    return Ok(());
                }
                self.within = 0;
                let before = &mut self.collectives[group.kind as usize];
                *before = before.wrapping_add(1);
            }
        }
        self.at += 1;
        Ok(())
    }
}

/// Operations that are made and not yet taken, with what each waits for.
#[derive(Debug, Default)]
struct Ahead {
    made: u32,
    operations: VecDeque<Op>,
    needs: VecDeque<(u32, u32, bool)>,
}

impl Sink for Ahead {
    fn op(&mut self, op: Op) -> Result<u32, TooLarge> {
        let number = self.made;
        self.made = number.checked_add(1).ok_or(TooLarge)?;
        self.operations.push_back(op);
        Ok(number)
    }

    fn dependency(&mut self, waits: u32, for_op: u32, on_start: bool) -> Result<(), TooLarge> {
        self.needs.push_back((waits, for_op, on_start));
        Ok(())
    }
}

/// An operation that may start or has started.
#[derive(Clone, Copy, Debug)]
struct Live {
    number: u32,
    started: bool,
    op: Op,
}

/// The operations of one rank while the program runs. Nothing of it is put into the replay's own
/// code, which is small and mostly serves traces. An operation waits for the start of the one
/// before at least, so that they become ready one after the other.
#[derive(Debug)]
pub struct Stream<'s> {
    walk: Walk<'s, Ahead>,
    /// Number of the next operation to be taken.
    taken: u32,
    /// The operation that waits for something, and for what.
    next: Option<Op>,
    waits: Vec<(u32, bool)>,
    /// Those that are ready or under way.
    live: Vec<Live>,
}

impl<'s> Stream<'s> {
    /// Before the first operation.
    pub fn new(skeleton: &'s Skeleton, rank: u32) -> Self {
        Self {
            walk: Walk::new(skeleton, rank, Ahead::default()),
            taken: 0,
            next: None,
            waits: Vec::new(),
            live: Vec::new(),
        }
    }

    /// The first operation becomes ready; none in an empty program.
    pub fn start(&mut self) -> Option<u32> {
        self.advance()
    }

    /// An operation that is ready or under way.
    ///
    /// # Panics
    /// If there is no such operation.
    #[inline(never)]
    pub fn op(&self, number: u32) -> Op {
        self.live[self.place(number)].op
    }

    fn place(&self, number: u32) -> usize {
        let place = self.live.iter().position(|live| live.number == number);
        place.expect("only what is ready or under way is asked for")
    }

    /// An operation has started: the one that becomes ready.
    #[inline(never)]
    pub fn started(&mut self, number: u32) -> Option<u32> {
        let place = self.place(number);
        self.live[place].started = true;
        if self.next.is_none() {
            return self.advance();
        }
        self.waits.retain(|&wait| wait != (number, true));
        self.become_ready()
    }

    /// An operation has finished: the one that becomes ready.
    #[inline(never)]
    pub fn finished(&mut self, number: u32) -> Option<u32> {
        let place = self.place(number);
        self.live.remove(place);
        self.next?;
        self.waits.retain(|&(other, _)| other != number);
        self.become_ready()
    }

    /// Operations that are in memory.
    pub fn operations_in_memory(&self) -> usize {
        self.live.len() + usize::from(self.next.is_some()) + self.walk.calls_ahead()
    }

    /// Makes the next operation, which is ready if it waits for nothing that has not happened.
    fn advance(&mut self) -> Option<u32> {
        while self.walk.calls_ahead() == 0 {
            if !self.walk.go_on().expect("its length was checked") && self.walk.calls_ahead() == 0 {
                return None;
            }
        }
        let ahead = self.walk.calls.sink_mut();
        self.next = ahead.operations.pop_front();
        while let Some(&(waits, other, on_start)) = ahead.needs.front() {
            if waits != self.taken {
                break;
            }
            ahead.needs.pop_front();
            let other_is = self.live.iter().find(|live| live.number == other);
            if other_is.is_some_and(|live| !on_start || !live.started) {
                self.waits.push((other, on_start));
            }
        }
        self.become_ready()
    }

    fn become_ready(&mut self) -> Option<u32> {
        if !self.waits.is_empty() {
            return None;
        }
        let op = self.next.take()?;
        let number = self.taken;
        self.taken += 1;
        self.live.push(Live {
            number,
            started: false,
            op,
        });
        Some(number)
    }
}

impl Walk<'_, Ahead> {
    fn calls_ahead(&self) -> usize {
        self.calls.sink().operations.len()
    }
}

#[cfg(test)]
mod tests;
