//! The threads of a run, a partition of the network for each, and what they know of each other.
//!
//! Time goes on in steps of half a cable's delay. What a partition does in one step reaches others
//! no earlier than in the step after the next, so that no thread waits for one that is less than a
//! step behind: which partition has more to do changes from step to step.
//!
//! A step takes microseconds, and all threads have to run at the same time for it. A thread that
//! waits spins for a short while and then sleeps. Where other processes keep the cores busy, steps
//! wait for the scheduler, and several threads are slower than one: a thread that gets too little
//! of its core says so ([`Starvation`]), and the run goes on with one thread for all partitions.
//! The results are the same bytes either way.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{fence, AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread::Thread;
use std::time::{Duration, Instant};

use nix::time::{clock_gettime, ClockId};

use super::events::RemoteEvent;
use super::partition::Partition;
use super::time::Time;
use crate::network::{Progress, RunError};

/// Events after which a run with one partition reports its progress.
const EVENTS_PER_REPORT: u64 = 1 << 16;

/// What the threads have in common.
pub struct Threads {
    /// End of the run in ps, if it has one: events at this time still happen.
    duration_ps: Option<u64>,
    cable_ps: u64,
    /// What each partition has reported after a step, by step and partition. It stays for four
    /// steps: by then all have read it, as no thread is more than two steps ahead of another.
    reports: [Vec<Report>; 4],
    /// The threads by their numbers, while they sleep.
    sleepers: Vec<Sleeper>,
    /// A thread has panicked: it will finish no step.
    broken: AtomicBool,
    /// Packets that each partition has delivered.
    delivered: Vec<AtomicU64>,
}

/// What a partition reports to the others after a step, in cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Report {
    /// Steps that the partition had finished when it last reported here; written after the rest.
    finished: AtomicUsize,
    /// Time of the partition's next event, in ps.
    next: AtomicU64,
    /// Of the earliest event that it has for others.
    sent: AtomicU64,
    /// [`Partition::awaited`].
    awaited: AtomicI64,
    /// Operations of the program that it has finished, and when it did the last one.
    operations: AtomicUsize,
    last_ps: AtomicU64,
    /// It has met a fault, or the run is to stop: never taken back.
    stop: AtomicBool,
    /// Its thread gets too little of its core.
    starved: AtomicBool,
    /// What it has for each other partition.
    mailboxes: Vec<Mutex<Vec<RemoteEvent>>>,
}

/// The reports of all partitions after a step, together.
struct Reports {
    /// Time of the next event anywhere, in ps.
    next: u64,
    /// Of the earliest of those that were sent in this step.
    sent: u64,
    /// What the traffic of all partitions waits for.
    awaited: i64,
    operations: usize,
    last_ps: u64,
    stop: bool,
    starved: bool,
}

/// Why the steps ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completed {
    /// The program has finished, and what followed within a cable's delay has happened.
    Program,
    /// Nothing of the traffic is left to happen.
    Nothing,
    /// The duration is over.
    Duration,
    /// Stopped, after everything before this time.
    Stopped(u64),
}

/// How far the steps have come; the same for all threads.
#[derive(Clone, Copy, Debug)]
struct Position {
    step: usize,
    /// All before this time has happened, in every partition, in ps.
    limit: u64,
    /// The earliest event that was sent in the step before the one whose reports were read: the
    /// partition that gets it may not have known of it there.
    sent: u64,
}

/// Why a thread has stopped to work.
enum Outcome {
    Completed(Completed),
    /// A thread is starved: one is to go on with all partitions.
    Starved(Position),
}

impl Threads {
    pub fn new(count: usize, duration_ps: Option<u64>, cable_ps: u64) -> Self {
        let report = || Report {
            mailboxes: (0..count).map(|_| Mutex::default()).collect(),
            ..Report::default()
        };
        Self {
            duration_ps,
            cable_ps,
            reports: std::array::from_fn(|_| (0..count).map(|_| report()).collect()),
            sleepers: (0..count).map(|_| Sleeper::default()).collect(),
            broken: AtomicBool::new(false),
            delivered: (0..count).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Runs all partitions to the end.
    pub fn run<'a, const EXTENDED: bool>(
        &self,
        mut partitions: Vec<Partition<'a, EXTENDED>>,
        operations: usize,
        progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<(Vec<Partition<'a, EXTENDED>>, Completed), RunError> {
        let begin = Position {
            step: 0,
            limit: 0,
            sent: u64::MAX,
        };
        let (first, others) = partitions
            .split_first_mut()
            .expect("a partition for each thread");
        let outcome = std::thread::scope(|scope| {
            for (number, partition) in others.iter_mut().enumerate() {
                scope.spawn(move || {
                    let mut go_on = |_: &Progress| ControlFlow::Continue(());
                    let partitions = std::slice::from_mut(partition);
                    self.begin(number + 1, partitions);
                    self.work(number + 1, partitions, begin, operations, &mut go_on)
                });
            }
            let partitions = std::slice::from_mut(first);
            self.begin(0, partitions);
            self.work(0, partitions, begin, operations, progress)
        });
        let completed = match outcome {
            Outcome::Completed(completed) => completed,
            Outcome::Starved(position) => {
                match self.work(0, &mut partitions, position, operations, progress) {
                    Outcome::Completed(completed) => completed,
                    Outcome::Starved(_) => unreachable!("one thread waits for no other"),
                }
            }
        };
        // The first one, whichever partition has met it.
        let faults = partitions.iter_mut().filter_map(|it| it.fault.take());
        match faults.min_by_key(|(time, _)| *time) {
            Some((_, fault)) => Err(fault),
            None => Ok((partitions, completed)),
        }
    }

    /// Begins the run of a thread's partitions, from number `first` on.
    fn begin<const EXTENDED: bool>(&self, first: usize, partitions: &mut [Partition<EXTENDED>]) {
        let _ = self.sleepers[first].thread.set(std::thread::current());
        let _release = Release(self);
        for (number, partition) in partitions.iter_mut().enumerate() {
            partition.start();
            self.report(0, first + number, partition, (false, false));
        }
    }

    /// The work of one thread, which has all partitions or one, from number `first` on.
    fn work<const EXTENDED: bool>(
        &self,
        first: usize,
        partitions: &mut [Partition<EXTENDED>],
        from: Position,
        operations: usize,
        progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Outcome {
        let _release = Release(self);
        let all = partitions.len() == self.delivered.len();
        let alone = self.delivered.len() == 1;
        let mut starvation = Starvation::new();
        let mut events = 0;
        let mut stop = false;
        let Position {
            mut step,
            mut limit,
            mut sent,
        } = from;
        loop {
            // Who has all partitions waits for no report.
            let known = match all {
                true => step,
                false => step.saturating_sub(1),
            };
            let reports = self.collect(known, first, partitions);
            let next = reports.next.min(sent);
            sent = reports.sent;
            if reports.stop {
                return Outcome::Completed(Completed::Stopped(match alone {
                    true => next,
                    false => next.max(limit),
                }));
            }
            if operations > 0 && reports.operations == operations {
                // However the network is split, this much has happened.
                for partition in partitions {
                    let end = Time(reports.last_ps + self.cable_ps + 1);
                    partition.run(end, u64::MAX);
                }
                return Outcome::Completed(Completed::Program);
            }
            // Ports that sleep may refresh for ever.
            if next == u64::MAX || reports.awaited == 0 {
                return Outcome::Completed(Completed::Nothing);
            }
            if self.duration_ps.is_some_and(|duration| next > duration) {
                return Outcome::Completed(Completed::Duration);
            }
            if reports.starved && !all {
                return Outcome::Starved(Position { step, limit, sent });
            }
            let end = self.duration_ps.map_or(u64::MAX, |duration| duration + 1);
            limit = match (alone, all) {
                (true, _) => end,
                // No further than what others may send from now on reaches,
                (false, true) => next.saturating_add(self.cable_ps).min(end),
                // nor much further than they are.
                (false, false) => (next.saturating_add(self.cable_ps))
                    .min(next.max(limit).saturating_add(self.cable_ps.div_ceil(2)))
                    .min(end),
            };
            // With several partitions all must reach the limit; a single one may stop before, to
            // report its progress.
            let most = match alone {
                true => EVENTS_PER_REPORT,
                false => u64::MAX,
            };
            for partition in &mut *partitions {
                partition.run(Time(limit), most);
                stop |= partition.fault.is_some();
            }
            step += 1;
            let done: u64 = partitions.iter().map(|it| it.tally.events).sum();
            if done - events >= EVENTS_PER_REPORT {
                events = done;
                for (number, partition) in partitions.iter().enumerate() {
                    let packets = partition.tally.packets;
                    self.delivered[first + number].store(packets, Ordering::Relaxed);
                }
                let packets = self.delivered.iter();
                let now = Progress {
                    time_ps: next,
                    operations_finished: reports.operations,
                    operations,
                    packets: packets.map(|packets| packets.load(Ordering::Relaxed)).sum(),
                };
                stop |= progress(&now).is_break();
            }
            let starved = !all && starvation.look(step);
            for (number, partition) in partitions.iter_mut().enumerate() {
                self.report(step, first + number, partition, (stop, starved));
            }
        }
    }

    /// Reports what has come of a step, and hands over what the partition has for others.
    fn report<const EXTENDED: bool>(
        &self,
        step: usize,
        number: usize,
        partition: &mut Partition<EXTENDED>,
        (stop, starved): (bool, bool),
    ) {
        let report = &self.reports[step % self.reports.len()][number];
        let mut sent = u64::MAX;
        for (outbox, mailbox) in partition.outbox.iter_mut().zip(&report.mailboxes) {
            if let Some(earliest) = outbox.iter().map(RemoteEvent::time).min() {
                sent = sent.min(earliest.0);
                std::mem::swap(outbox, &mut mailbox.lock().expect("no thread panics here"));
            }
        }
        let next = partition.wheel.next_time().unwrap_or(Time::NEVER);
        report.next.store(next.0, Ordering::Relaxed);
        report.sent.store(sent, Ordering::Relaxed);
        report.awaited.store(partition.awaited(), Ordering::Relaxed);
        let operations = partition.operations_finished();
        report.operations.store(operations, Ordering::Relaxed);
        let last_ps = partition.tally.last_ps;
        report.last_ps.store(last_ps, Ordering::Relaxed);
        report.stop.store(stop, Ordering::Relaxed);
        report.starved.store(starved, Ordering::Relaxed);
        report.finished.store(step + 1, Ordering::Release);
        self.wake_all();
    }

    /// Waits for the reports of all partitions on a step, and takes what they have for
    /// `partitions`, from number `first` on.
    fn collect<const EXTENDED: bool>(
        &self,
        step: usize,
        first: usize,
        partitions: &mut [Partition<EXTENDED>],
    ) -> Reports {
        let mut sum = Reports {
            next: u64::MAX,
            sent: u64::MAX,
            awaited: 0,
            operations: 0,
            last_ps: 0,
            stop: false,
            starved: false,
        };
        let numbers: Range<usize> = first..first + partitions.len();
        for (number, report) in self.reports[step % self.reports.len()].iter().enumerate() {
            if !numbers.contains(&number) {
                self.wait(first, &report.finished, step);
            }
            let sent = report.sent.load(Ordering::Relaxed);
            if sent < u64::MAX {
                for (mailbox, partition) in report.mailboxes[numbers.clone()]
                    .iter()
                    .zip(&mut *partitions)
                {
                    let mut events = mailbox.lock().expect("no thread panics here");
                    events.drain(..).for_each(|event| partition.receive(event));
                }
            }
            sum.sent = sum.sent.min(sent);
            sum.next = sum.next.min(report.next.load(Ordering::Relaxed)).min(sent);
            sum.awaited += report.awaited.load(Ordering::Relaxed);
            sum.operations += report.operations.load(Ordering::Relaxed);
            sum.last_ps = sum.last_ps.max(report.last_ps.load(Ordering::Relaxed));
            sum.stop |= report.stop.load(Ordering::Relaxed);
            sum.starved |= report.starved.load(Ordering::Relaxed);
        }
        sum
    }

    /// Thread `number` waits for a partition to finish a step.
    fn wait(&self, number: usize, finished: &AtomicUsize, step: usize) {
        /// A step takes microseconds, and so does this on an idle core.
        const SPINS: u32 = 500;
        for _ in 0..SPINS {
            if finished.load(Ordering::Acquire) > step {
                return;
            }
            std::hint::spin_loop();
        }
        let sleeper = &self.sleepers[number];
        loop {
            sleeper.sleeps.store(true, Ordering::Relaxed);
            // Either this thread sees the report, or who reports sees it sleep.
            fence(Ordering::SeqCst);
            if finished.load(Ordering::Acquire) > step {
                sleeper.sleeps.store(false, Ordering::Relaxed);
                return;
            }
            if self.broken.load(Ordering::Acquire) {
                // The one that panicked has said why.
                std::panic::resume_unwind(Box::new("another thread panicked"));
            }
            std::thread::park();
        }
    }

    /// Wakes the threads that sleep.
    fn wake_all(&self) {
        if let [_] = &self.sleepers[..] {
            return;
        }
        fence(Ordering::SeqCst);
        for sleeper in &self.sleepers {
            if sleeper.sleeps.load(Ordering::Relaxed)
                && sleeper.sleeps.swap(false, Ordering::Relaxed)
            {
                sleeper.thread.get().inspect(|thread| thread.unpark());
            }
        }
    }
}

/// A thread that may sleep.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Sleeper {
    sleeps: AtomicBool,
    thread: OnceLock<Thread>,
}

/// Looks whether a thread gets enough of its core.
struct Starvation {
    /// The beginning of the present period, and the CPU time of the thread then.
    since: Instant,
    cpu: Option<Duration>,
}

impl Starvation {
    /// Two threads are 1.6 to 2.1 times as fast as one where each has its core (see the
    /// benchmarks): with less than this share of it, in per cent, one thread is faster.
    const LEAST_SHARE: u32 = 60;
    /// Steps from one look at the clock to the next.
    const STEPS: usize = 64;
    /// How long a period is: many times what a scheduler gives a process in one go.
    const PERIOD: Duration = Duration::from_millis(50);

    fn new() -> Self {
        Self {
            since: Instant::now(),
            cpu: cpu_time(),
        }
    }

    /// Whether the thread was starved in a period that ends now, with this step.
    fn look(&mut self, step: usize) -> bool {
        if !step.is_multiple_of(Self::STEPS) {
            return false;
        }
        #[cfg(test)]
        if tests::ALWAYS_STARVED.load(Ordering::Relaxed) {
            tests::STARVED.fetch_add(1, Ordering::Relaxed);
            return true;
        }
        let elapsed = self.since.elapsed();
        if elapsed < Self::PERIOD {
            return false;
        }
        let before = std::mem::replace(self, Self::new());
        let had = self.cpu.zip(before.cpu);
        let had = had.map(|(now, before)| now.saturating_sub(before));
        had.is_some_and(|had| had * 100 < elapsed * Self::LEAST_SHARE)
    }
}

/// CPU time of this thread; `None` where the system does not know it.
fn cpu_time() -> Option<Duration> {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID);
    time.map(Duration::from).ok()
}

/// Lets the other threads know if this one panics.
struct Release<'a>(&'a Threads);

impl Drop for Release<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(true, Ordering::Release);
            self.0.wake_all();
        }
    }
}

#[cfg(test)]
pub mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize};

    /// Threads are starved whenever they look. Other tests that run meanwhile have the same
    /// results, which is what this is for.
    pub static ALWAYS_STARVED: AtomicBool = AtomicBool::new(false);

    /// How often a thread was starved because of that.
    pub static STARVED: AtomicUsize = AtomicUsize::new(0);
}
