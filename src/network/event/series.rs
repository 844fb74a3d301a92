//! What a run does over time: samples of equal length, in each of which the time that link ends
//! sleep and what nodes receive are added up.
//!
//! Every figure is a sum of whole numbers, so that it does not depend on how the network is split
//! over threads. A port tells of its sleep when that ends, and the cost does not depend on
//! how many samples it lasted.

use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use super::time::{Cycle, Time};
use crate::blocks::port::pins::PowerState;

/// Most samples of a run: they are kept in memory.
pub const MAX_SAMPLES: u64 = 1_000_000;

/// What a run did over time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Series {
    /// Length of a sample in ps.
    pub sample_ps: u64,
    /// When the last sample ends, in ps, which may be shorter than the others: the time that those
    /// per power state add up to.
    pub end_ps: u64,
    /// The ends of links, by their class in the topology.
    pub classes: Vec<LinkClass>,
    /// What nodes received in each sample.
    pub received: Vec<Received>,
}

/// The ends of links of one class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LinkClass {
    /// The name of the class in the topology.
    pub name: String,
    /// Ends with a cable.
    pub ends: u64,
    /// How long these slept in each sample.
    pub slept: Vec<Slept>,
}

/// The time that ends of links slept, added up over them, in ps. Refreshes of deep sleep, which
/// draw full power, are no part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Slept {
    /// In fast wake.
    pub fast_wake_ps: u64,
    /// In deep sleep.
    pub deep_sleep_ps: u64,
}

impl Slept {
    /// In either state.
    pub fn ps(self) -> u64 {
        self.fast_wake_ps + self.deep_sleep_ps
    }
}

/// Packets that arrived completely.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Received {
    /// How many, those of the warm-up included.
    pub packets: u64,
    /// Their payload.
    pub bytes: u64,
    /// Their latencies added up, in ps.
    pub latency_ps: u128,
}

impl Received {
    fn add(&mut self, other: &Received) {
        self.packets += other.packets;
        self.bytes += other.bytes;
        self.latency_ps += other.latency_ps;
    }
}

impl Series {
    /// Length of a sample in ps.
    pub fn length_ps(&self, sample: usize) -> u64 {
        let from = sample as u64 * self.sample_ps;
        self.sample_ps.min(self.end_ps - from)
    }

    /// Adds up what the parts of a network have told until `end_ps`; `classes` are the names of
    /// those of link ends, and how many there are of each.
    pub fn new<'s>(
        sample_ps: u64,
        end_ps: u64,
        classes: Vec<(String, u64)>,
        parts: impl Iterator<Item = &'s Samples>,
    ) -> Self {
        let count = end_ps.div_ceil(sample_ps) as usize;
        let mut received = vec![Received::default(); count];
        let mut levels = vec![[Level::default(), Level::default()]; classes.len()];
        for part in parts {
            for (sample, of_part) in part.received.iter().enumerate() {
                // What arrives at the very end belongs to the last sample.
                received[sample.min(count - 1)].add(of_part);
            }
            let sleep = part.sleep.lock().unwrap_or_else(PoisonError::into_inner);
            for (level, of_part) in levels
                .iter_mut()
                .flatten()
                .zip(sleep.levels.iter().flatten())
            {
                level.add(of_part);
            }
        }
        let classes = classes.into_iter().zip(&levels).map(|((name, ends), of)| {
            let [fast_wake, deep_sleep] = of.each_ref().map(|level| level.over(sample_ps, count));
            let slept = fast_wake.into_iter().zip(deep_sleep);
            LinkClass {
                name,
                ends,
                slept: slept
                    .map(|(fast_wake_ps, deep_sleep_ps)| Slept {
                        fast_wake_ps,
                        deep_sleep_ps,
                    })
                    .collect(),
            }
        });
        Self {
            sample_ps,
            end_ps,
            classes: classes.collect(),
            received,
        }
    }
}

/// How many ends are in a state, as it changes.
#[derive(Clone, Debug, Default)]
struct Level(Vec<Change>);

/// How a level changes within a sample.
#[derive(Clone, Copy, Debug, Default)]
struct Change {
    /// What the ends that come and go within the sample add to its time, in ps.
    within: i64,
    /// How many more there are from the beginning of the next sample on.
    beyond: i64,
}

impl Level {
    /// One end is in the state from `from` until (without) `until`, in ps.
    fn span(&mut self, sample_ps: u64, from: u64, until: u64) {
        let [first, last] = [from, until].map(|time| (time / sample_ps) as usize);
        if self.0.len() <= last {
            self.0.resize(last + 1, Change::default());
        }
        // To the end of the sample in which it comes, and from the next one on; less what is left
        // of the sample in which it goes, and of those after it. Both are less than a sample, so
        // that the sum stays within the ends there are.
        let rest = |time: u64| (sample_ps - time % sample_ps) as i64;
        self.0[first].within += rest(from);
        self.0[first].beyond += 1;
        self.0[last].within -= rest(until);
        self.0[last].beyond -= 1;
    }

    fn add(&mut self, other: &Level) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), Change::default());
        }
        for (sum, change) in self.0.iter_mut().zip(&other.0) {
            sum.within += change.within;
            sum.beyond += change.beyond;
        }
    }

    /// The time that all ends together were in the state, in each of `count` samples, in ps.
    fn over(&self, sample_ps: u64, count: usize) -> Vec<u64> {
        let mut level = 0;
        let changes = self.0.iter().copied();
        let changes = changes.chain(std::iter::repeat(Change::default()));
        changes
            .take(count)
            .map(|change| {
                let time = level * sample_ps as i64 + change.within;
                level += change.beyond;
                time as u64
            })
            .collect()
    }
}

/// What the ends of one part of a network have told of their sleep.
#[derive(Debug)]
struct Sleep {
    sample_ps: u64,
    /// Fast wake and deep sleep, by the class of the end.
    levels: Vec<[Level; 2]>,
}

/// The samples of one part of a network.
#[derive(Debug)]
pub struct Samples {
    sample_ps: u64,
    received: Vec<Received>,
    sleep: Arc<Mutex<Sleep>>,
}

impl Samples {
    /// Before the run, for so many classes of link ends.
    pub fn new(sample_ps: u64, classes: usize) -> Self {
        let levels = vec![[Level::default(), Level::default()]; classes];
        Self {
            sample_ps,
            received: Vec::new(),
            sleep: Arc::new(Mutex::new(Sleep { sample_ps, levels })),
        }
    }

    /// What an end of a link of this class tells.
    pub fn sampler(&self, class: usize, clock_ps: u64) -> Sampler {
        Sampler {
            class,
            clock_ps,
            sleep: Arc::clone(&self.sleep),
        }
    }

    /// A packet has arrived at time `now`. Not inlined: runs without samples are the faster,
    /// the less there is beside their own work.
    #[inline(never)]
    pub fn received(&mut self, now: Time, bytes: u32, latency_ps: u64) {
        let sample = (now.0 / self.sample_ps) as usize;
        if self.received.len() <= sample {
            self.received.resize(sample + 1, Received::default());
        }
        self.received[sample].add(&Received {
            packets: 1,
            bytes: bytes.into(),
            latency_ps: latency_ps.into(),
        });
    }
}

/// Takes down how long an end of a link sleeps.
#[derive(Clone, Debug)]
pub struct Sampler {
    class: usize,
    clock_ps: u64,
    /// Only one thread has to do with the ends of a part.
    sleep: Arc<Mutex<Sleep>>,
}

impl Sampler {
    /// The end was in `state` from clock cycle `from` until (without) `until` of the simulation.
    pub fn was(&self, state: PowerState, from: Cycle, until: Cycle) {
        let level = match state {
            PowerState::FastWake => 0,
            PowerState::DeepSleep => 1,
            PowerState::Wake
            | PowerState::GoingDown
            | PowerState::GoingUp
            | PowerState::Refresh => return,
        };
        let mut sleep = self.sleep.lock().unwrap_or_else(PoisonError::into_inner);
        let sample_ps = sleep.sample_ps;
        let (from, until) = (from.begin(self.clock_ps), until.begin(self.clock_ps));
        sleep.levels[self.class][level].span(sample_ps, from.0, until.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};

    /// Spans of any length, told in any order and by any of three parts, against a count of each
    /// picosecond.
    #[test]
    fn time_falls_into_the_samples_in_which_it_passes() {
        const END: u64 = 1003;
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(5);
        for sample_ps in [1, 7, 10, 500, 1003, 5000] {
            let parts: Vec<Samples> = (0..3).map(|_| Samples::new(sample_ps, 2)).collect();
            let count = END.div_ceil(sample_ps) as usize;
            let mut expected = vec![[[0_u64; 2]; 2]; count];
            for _ in 0..300 {
                let mut times = [0, 0].map(|_: u64| random.random_range(0..=END / 17));
                times.sort_unstable();
                let class = random.random_range(0..2);
                let (state, place) = match random.random_range(0..3) {
                    0 => (PowerState::FastWake, Some(0)),
                    1 => (PowerState::DeepSleep, Some(1)),
                    _ => (PowerState::Refresh, None),
                };
                let sampler = parts[random.random_range(0..3)].sampler(class, 17);
                sampler.was(state, Cycle(times[0]), Cycle(times[1]));
                for ps in 17 * times[0]..17 * times[1] {
                    if let Some(place) = place {
                        expected[(ps / sample_ps) as usize][class][place] += 1;
                    }
                }
            }
            let classes = vec![("a".to_owned(), 1), ("b".to_owned(), 2)];
            let series = Series::new(sample_ps, END, classes, parts.iter());
            let lengths = (0..count).map(|sample| series.length_ps(sample));
            assert_eq!(lengths.sum::<u64>(), END);
            for (sample, expected) in expected.iter().enumerate() {
                for (class, expected) in series.classes.iter().zip(expected) {
                    let found = class.slept[sample];
                    assert_eq!([found.fast_wake_ps, found.deep_sleep_ps], *expected);
                }
            }
        }
    }

    #[test]
    fn what_arrives_at_the_end_belongs_to_the_last_sample() {
        let mut samples = Samples::new(10, 0);
        for (now, bytes) in [(0, 1), (9, 2), (10, 4), (25, 8), (30, 16)] {
            samples.received(Time(now), bytes, now);
        }
        let series = Series::new(10, 30, Vec::new(), [&samples].into_iter());
        let bytes: Vec<u64> = series.received.iter().map(|it| it.bytes).collect();
        assert_eq!(bytes, [3, 4, 24]);
        assert_eq!(series.received[2].latency_ps, 55);
        assert_eq!(series.received[2].packets, 2);
    }
}
