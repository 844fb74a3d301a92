//! The threads of a run, a part of the network for each, and how they hear of each other.
//!
//! Time goes on in steps of half a cable's delay. What a part does in one step reaches others no
//! earlier than in the step after the next, so that no thread waits for one that is less than a
//! step behind: which part has more to do changes from step to step.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::Mutex;

use super::partition::{Parcel, Partition};
use crate::network::{Progress, RunError};

/// Events after which a part looks up from its work.
const BREATH: u64 = 1 << 16;

/// What the threads have in common.
pub struct Threads {
    /// End of the run in ps, if it has one: events at this time still happen.
    duration_ps: Option<u64>,
    cable_ps: u64,
    /// What each thread has said after a step, by step and thread. It stays for four steps: by
    /// then all have heard it, as nobody is more than two steps ahead of another.
    said: [Vec<Said>; 4],
    /// A thread has panicked: it will finish no step.
    broken: AtomicBool,
    /// Packets that each part has delivered.
    delivered: Vec<AtomicU64>,
}

/// What a thread says to the others after a step, in cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Said {
    /// Steps that the thread had finished when it last said something here; written after the
    /// rest.
    finished: AtomicUsize,
    /// Time of the part's next event, in ps.
    next: AtomicU64,
    /// Of the earliest event that it has for others.
    sent: AtomicU64,
    /// Operations of the program that it has finished, and when it did the last one.
    operations: AtomicUsize,
    last_ps: AtomicU64,
    /// It has met a fault, or the run is to stop: never taken back.
    stop: AtomicBool,
    /// What it has for each other part.
    post: Vec<Mutex<Vec<Parcel>>>,
}

/// What all threads have said after a step.
struct Heard {
    /// Time of the next event anywhere, in ps.
    next: u64,
    /// Of the earliest of those that were sent in this step.
    sent: u64,
    operations: usize,
    last_ps: u64,
    stop: bool,
}

/// Why the steps ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completed {
    /// The program has finished, and what followed within a cable's delay has happened.
    Program,
    /// Nothing is left to happen.
    Nothing,
    /// The duration is over.
    Duration,
    /// Stopped, after everything before this time.
    Stopped(u64),
}

impl Threads {
    pub fn new(count: usize, duration_ps: Option<u64>, cable_ps: u64) -> Self {
        let said = || Said {
            post: (0..count).map(|_| Mutex::default()).collect(),
            ..Said::default()
        };
        Self {
            duration_ps,
            cable_ps,
            said: std::array::from_fn(|_| (0..count).map(|_| said()).collect()),
            broken: AtomicBool::new(false),
            delivered: (0..count).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Runs all parts to the end.
    pub fn run<'a>(
        &self,
        mut parts: Vec<Partition<'a>>,
        operations: usize,
        progress: &mut (dyn FnMut(&Progress) -> ControlFlow<()> + Send),
    ) -> Result<(Vec<Partition<'a>>, Completed), RunError> {
        let (first, others) = parts.split_first_mut().expect("a part for each thread");
        let completed = std::thread::scope(|scope| {
            for (number, part) in others.iter_mut().enumerate() {
                scope.spawn(move || {
                    self.work(number + 1, part, operations, &mut |_| {
                        ControlFlow::Continue(())
                    })
                });
            }
            self.work(0, first, operations, progress)
        });
        // The first one, whichever part has met it.
        let faults = parts.iter_mut().filter_map(|part| part.fault.take());
        match faults.min_by_key(|(time, _)| *time) {
            Some((_, fault)) => Err(fault),
            None => Ok((parts, completed)),
        }
    }

    /// The work of one thread.
    fn work(
        &self,
        number: usize,
        part: &mut Partition,
        operations: usize,
        progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Completed {
        let _release = Release(&self.broken);
        let alone = self.delivered.len() == 1;
        part.start();
        let mut events = 0;
        let mut stop = false;
        // All before this time has happened, at every part.
        let mut limit = 0;
        // The earliest event that was sent in the step before the one that is heard of: who
        // gets it may not have known of it there.
        let mut sent = u64::MAX;
        let mut step = 0;
        loop {
            self.say(step, number, part, stop);
            let known = match alone {
                true => step,
                false => step.saturating_sub(1),
            };
            let heard = self.hear(known, number, part);
            let next = heard.next.min(sent);
            sent = heard.sent;
            step += 1;
            if heard.stop {
                return Completed::Stopped(match alone {
                    true => next,
                    false => next.max(limit),
                });
            }
            if operations > 0 && heard.operations == operations {
                // However the network is split, this much has happened.
                part.run(heard.last_ps + self.cable_ps + 1, u64::MAX);
                return Completed::Program;
            }
            if next == u64::MAX {
                return Completed::Nothing;
            }
            if self.duration_ps.is_some_and(|duration| next > duration) {
                return Completed::Duration;
            }
            let end = self.duration_ps.map_or(u64::MAX, |duration| duration + 1);
            // With several threads all must reach the limit; a single one may look up.
            let most = match alone {
                true => BREATH,
                false => u64::MAX,
            };
            limit = match alone {
                true => end,
                // No further than what others may send from now on reaches, nor much further
                // than they are.
                false => (next.saturating_add(self.cable_ps))
                    .min(next.max(limit).saturating_add(self.cable_ps.div_ceil(2)))
                    .min(end),
            };
            part.run(limit, most);
            stop |= part.fault.is_some();
            if part.tally.events - events >= BREATH {
                events = part.tally.events;
                let delivered = &self.delivered;
                delivered[number].store(part.tally.packets, Ordering::Relaxed);
                let packets = delivered
                    .iter()
                    .map(|packets| packets.load(Ordering::Relaxed));
                let now = Progress {
                    time_ps: next,
                    operations_finished: heard.operations,
                    operations,
                    packets: packets.sum(),
                };
                stop |= progress(&now).is_break();
            }
        }
    }

    /// Says what has come of a step, and hands over what the part has for others.
    fn say(&self, step: usize, number: usize, part: &mut Partition, stop: bool) {
        let said = &self.said[step % self.said.len()][number];
        let mut sent = u64::MAX;
        for (outgoing, post) in part.outgoing.iter_mut().zip(&said.post) {
            if let Some(earliest) = outgoing.iter().map(Parcel::time).min() {
                sent = sent.min(earliest);
                std::mem::swap(outgoing, &mut post.lock().expect("no thread panics here"));
            }
        }
        let next = part.wheel.next_time().unwrap_or(u64::MAX);
        said.next.store(next, Ordering::Relaxed);
        said.sent.store(sent, Ordering::Relaxed);
        said.operations
            .store(part.operations_finished(), Ordering::Relaxed);
        said.last_ps.store(part.tally.last_ps, Ordering::Relaxed);
        said.stop.store(stop, Ordering::Relaxed);
        said.finished.store(step + 1, Ordering::Release);
    }

    /// Waits for what all have to say of a step, and takes what they have for the part.
    fn hear(&self, step: usize, number: usize, part: &mut Partition) -> Heard {
        let mut heard = Heard {
            next: u64::MAX,
            sent: u64::MAX,
            operations: 0,
            last_ps: 0,
            stop: false,
        };
        for said in &self.said[step % self.said.len()] {
            self.wait(&said.finished, step);
            let sent = said.sent.load(Ordering::Relaxed);
            if sent < u64::MAX {
                let mut parcels = said.post[number].lock().expect("no thread panics here");
                parcels.drain(..).for_each(|parcel| part.receive(parcel));
            }
            heard.sent = heard.sent.min(sent);
            heard.next = heard.next.min(said.next.load(Ordering::Relaxed)).min(sent);
            heard.operations += said.operations.load(Ordering::Relaxed);
            heard.last_ps = heard.last_ps.max(said.last_ps.load(Ordering::Relaxed));
            heard.stop |= said.stop.load(Ordering::Relaxed);
        }
        heard
    }

    /// Waits for a thread to finish a step. One takes microseconds, so the others spin before
    /// they yield.
    fn wait(&self, finished: &AtomicUsize, step: usize) {
        let mut spins = 0u32;
        while finished.load(Ordering::Acquire) <= step {
            spins += 1;
            if spins < 2000 {
                std::hint::spin_loop();
            } else if self.broken.load(Ordering::Acquire) {
                // The one that panicked has said why.
                std::panic::resume_unwind(Box::new("another thread panicked"));
            } else {
                std::thread::yield_now();
            }
        }
    }
}

/// Lets the other threads know if this one panics.
struct Release<'a>(&'a AtomicBool);

impl Drop for Release<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Release);
        }
    }
}
