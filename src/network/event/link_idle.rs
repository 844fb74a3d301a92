//! How long links stand idle when they never sleep: what could be saved at all (SPEC 11, 13).
//!
//! A link sleeps as a whole, so its idle periods are not quite those of its ports
//! ([`super::idle`]). A link is *busy* while a packet is on it: from the first byte's leaving one
//! end to the last byte's arrival at the other. In between it is *idle*. An idle period belongs to
//! the end whose packet ends it: that packet would have waited for a link that slept. If packets
//! of both ends end it at the same time, it belongs to the first end, the one with the lower
//! number. The time before the first packet is an idle period like others, the time after the
//! last one is not: it ends with the run, and no packet waits.
//!
//! Where each direction of a link sleeps for itself (SPEC 14), each has idle periods of its own. A
//! direction is busy while the port that sends on it transmits, or holds a packet that a pause
//! frame stops; what is still on the cable is the receiver's. All its periods are ended by that
//! port.
//!
//! Times are exact, in ps. What is kept of the lengths is a histogram ([`Lengths`]).

use serde::Serialize;

use crate::config::{Config, Sync};

/// What goes to sleep and wakes as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sleeper {
    /// A link, both of its directions (SPEC 5): its two ends agree.
    Link,
    /// Each direction of a link for itself (SPEC 14): half a link.
    Direction,
}

impl Sleeper {
    /// Of links whose ports have this configuration.
    pub fn of(config: &Config) -> Self {
        match config.port.sync {
            Sync::Messages | Sync::Levels => Sleeper::Link,
            Sync::Lpi => Sleeper::Direction,
        }
    }

    /// Ends of links that sleep and wake together.
    pub fn ends(self) -> u64 {
        match self {
            Sleeper::Link => 2,
            Sleeper::Direction => 1,
        }
    }
}

/// Octave of the shortest length that has a bin of its own: 2^17 ps, 131 ns.
const FIRST_OCTAVE: u32 = 17;

/// log2 of the bins in an octave.
const BINS_LOG2: u32 = 4;

/// Idle periods of similar length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Bin {
    /// See [`Lengths::bin`].
    number: u32,
    /// How many.
    pub periods: u32,
    /// How long they are together, in ps; never 0.
    pub ps: u64,
}

impl Bin {
    /// The shortest length that belongs here, in ps.
    pub fn shortest_ps(&self) -> u64 {
        Lengths::shortest_ps(self.number)
    }

    /// The longest length that belongs here, in ps.
    pub fn longest_ps(&self) -> u64 {
        match self.number {
            Lengths::LAST => u64::MAX,
            number => Lengths::shortest_ps(number + 1) - 1,
        }
    }

    /// The mean length, in ps.
    pub fn mean_ps(&self) -> f64 {
        self.ps as f64 / f64::from(self.periods)
    }
}

/// Lengths of idle periods, sorted into sixteen bins to the octave, no wider than 1/16 of the
/// shortest length in them; those below 2^17 ps (131 ns) are in one bin. Number and sum of the
/// lengths in a bin are exact.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lengths {
    /// Those that are not empty, by rising length.
    bins: Vec<Bin>,
}

impl Lengths {
    /// The bin of the longest lengths.
    const LAST: u32 = ((63 - FIRST_OCTAVE) << BINS_LOG2) + (1 << BINS_LOG2);

    /// The bin of a length.
    fn bin(ps: u64) -> u32 {
        let octave = ps.checked_ilog2().unwrap_or(0);
        match octave.checked_sub(FIRST_OCTAVE) {
            None => 0,
            Some(above) => {
                let place = (ps >> (octave - BINS_LOG2)) as u32 - (1 << BINS_LOG2);
                1 + (above << BINS_LOG2) + place
            }
        }
    }

    /// The shortest length of a bin, in ps.
    fn shortest_ps(bin: u32) -> u64 {
        match bin.checked_sub(1) {
            None => 0,
            Some(bin) => {
                let octave = FIRST_OCTAVE + (bin >> BINS_LOG2);
                let place = bin & ((1 << BINS_LOG2) - 1);
                u64::from((1 << BINS_LOG2) + place) << (octave - BINS_LOG2)
            }
        }
    }

    /// Takes in a period of so many ps (at least 1).
    pub fn record(&mut self, ps: u64) {
        let number = Self::bin(ps);
        match self.bins.binary_search_by_key(&number, |bin| bin.number) {
            Ok(place) => {
                let bin = &mut self.bins[place];
                bin.periods += 1;
                bin.ps += ps;
            }
            Err(place) => {
                let periods = 1;
                let bin = Bin {
                    number,
                    periods,
                    ps,
                };
                self.bins.insert(place, bin);
            }
        }
    }

    /// All periods of two histograms.
    #[must_use]
    pub fn with(&self, other: &Lengths) -> Lengths {
        let mut sum = self.clone();
        for bin in &other.bins {
            match sum.bins.binary_search_by_key(&bin.number, |bin| bin.number) {
                Ok(place) => {
                    sum.bins[place].periods += bin.periods;
                    sum.bins[place].ps += bin.ps;
                }
                Err(place) => sum.bins.insert(place, *bin),
            }
        }
        sum
    }

    /// The bins that are not empty, by rising length.
    pub fn bins(&self) -> &[Bin] {
        &self.bins
    }

    /// All periods together, in ps.
    pub fn ps(&self) -> u64 {
        self.bins.iter().map(|bin| bin.ps).sum()
    }
}

/// What a link, or one direction of it, did in a run in which it never slept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LinkIdle {
    /// It was busy for so many ps.
    pub busy_ps: u64,
    /// The idle periods that a packet of the first end has ended, and of the other end; of a
    /// direction the first end is the one that sends.
    pub ended_by: [Lengths; 2],
    /// Idle after the last packet until the end of the run, in ps; the run, without a packet.
    pub after_ps: u64,
}

impl LinkIdle {
    /// The run, in ps.
    pub fn run_ps(&self) -> u64 {
        self.busy_ps + self.ended_by.iter().map(Lengths::ps).sum::<u64>() + self.after_ps
    }
}

/// Watches a link that never sleeps, from its first end, or a direction, from the end that sends.
/// Calls come in the order in which packets begin at this end, to leave or to arrive.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct LinkMeter {
    cable_ps: u64,
    /// The latest idle period began here. It is not in `idle`: a packet of the other end may turn
    /// out to have ended it earlier.
    idle_from: u64,
    /// It ended here, when the latest packets came on the link.
    busy_from: u64,
    /// The end whose packet was the first of these: 0 for this one.
    by: usize,
    /// When these have left the link.
    busy_until: u64,
    /// Of a direction: a packet waits since then.
    waits: bool,
    /// What was before `idle_from`; `after_ps` is not used.
    before: LinkIdle,
}

impl LinkMeter {
    /// A link with nothing on it; a direction has no cable.
    pub fn new(cable_ps: u64) -> Self {
        Self {
            cable_ps,
            idle_from: 0,
            busy_from: 0,
            by: 0,
            busy_until: 0,
            waits: false,
            before: LinkIdle::default(),
        }
    }

    /// A packet leaves this end from `from` until `until` ps.
    #[inline]
    pub fn transmit(&mut self, from: u64, until: u64) {
        let waited = std::mem::take(&mut self.waits);
        let from = if waited { self.busy_until } else { from };
        self.carry(from, until + self.cable_ps, 0);
    }

    /// From `from` ps on a packet waits, until the next one leaves: a direction is busy.
    pub fn wait(&mut self, from: u64) {
        if !self.waits {
            self.carry(from, from, 0);
            self.waits = true;
        }
    }

    /// A packet arrives at this end from `from` until `until` ps.
    #[inline]
    pub fn receive(&mut self, from: u64, until: u64) {
        self.carry(from - self.cable_ps, until, 1);
    }

    /// A packet of the end `by` is on the link. It may begin before those that are known, but not
    /// before what came before these: they have been on the link for a cable's delay at least.
    #[inline]
    fn carry(&mut self, from: u64, until: u64, by: usize) {
        if from > self.busy_until {
            self.settle();
            self.idle_from = self.busy_until;
            (self.busy_from, self.by, self.busy_until) = (from, by, until);
            return;
        }
        if from < self.busy_from {
            (self.busy_from, self.by) = (from.max(self.idle_from), by);
        }
        self.busy_until = self.busy_until.max(until);
    }

    /// Nothing changes the latest idle period, nor when the packets after it have left.
    fn settle(&mut self) {
        let idle = self.busy_from - self.idle_from;
        if idle > 0 {
            self.before.ended_by[self.by].record(idle);
        }
        self.before.busy_ps += self.busy_until - self.busy_from;
    }

    /// What the link did in the first `run` ps.
    pub fn account(&self, run: u64) -> LinkIdle {
        let mut to_the_end = self.clone();
        // The run may end within a packet.
        to_the_end.busy_from = self.busy_from.min(run);
        to_the_end.busy_until = match self.waits {
            true => run,
            false => self.busy_until.min(run),
        };
        to_the_end.settle();
        LinkIdle {
            after_ps: run - to_the_end.busy_until,
            ..to_the_end.before
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lengths(all: &[u64]) -> Lengths {
        let mut lengths = Lengths::default();
        all.iter().for_each(|&ps| lengths.record(ps));
        lengths
    }

    #[test]
    fn bins_are_a_sixteenth_wide() {
        for ps in [
            0,
            1,
            (1 << 17) - 1,
            1 << 17,
            (1 << 17) + (1 << 13) - 1,
            (1 << 17) + (1 << 13),
            6_480_000,
            1_000_000_000_000,
            u64::MAX,
        ] {
            let number = Lengths::bin(ps);
            let bin = lengths(&[ps.max(1)]).bins()[0];
            assert_eq!(bin.number, number);
            assert!((bin.shortest_ps()..=bin.longest_ps()).contains(&ps), "{ps}");
            if number > 0 {
                let width =
                    bin.longest_ps() - bin.shortest_ps() + u64::from(number < Lengths::LAST);
                assert!(width <= bin.shortest_ps() / 16, "{ps}: {width}");
            }
        }
        assert_eq!(Lengths::bin((1 << 17) - 1), 0);
        assert_eq!(Lengths::bin(1 << 17), 1);
        assert_eq!(Lengths::bin(1 << 18), 17);
        assert_eq!(Lengths::bin(u64::MAX), Lengths::LAST);
    }

    #[test]
    fn histograms_add_up() {
        let (one, other) = (lengths(&[5, 200_000]), lengths(&[7, 200_001, 1 << 40]));
        let sum = one.with(&other);
        assert_eq!(sum, lengths(&[200_001, 1 << 40, 7, 5, 200_000]));
        let bins: Vec<(u32, u64)> = sum.bins().iter().map(|bin| (bin.periods, bin.ps)).collect();
        assert_eq!(bins, [(2, 12), (2, 400_001), (1, 1 << 40)]);
    }

    /// The example of docs/reference/metrics.md: a cable of 15 ns, packets of 10 ns.
    #[test]
    fn a_period_belongs_to_the_end_whose_packet_ends_it() {
        let mut link = LinkMeter::new(15_000);
        // Seen from the first end: its packet leaves from 100 to 110 ns; the other one's arrives
        // from 1,115 to 1,125 ns, so it left at 1,100 ns.
        link.transmit(100_000, 110_000);
        link.receive(1_115_000, 1_125_000);
        // Both send: the other one at 5,000 ns, which shows here after the own packet.
        link.transmit(5_010_000, 5_020_000);
        link.receive(5_015_000, 5_025_000);
        let found = link.account(6_000_000);
        // 0 to 100 ns; 125 to 1,100 ns; 1,125 to 5,000 ns; from 5,035 ns on.
        let expected = LinkIdle {
            busy_ps: 25_000 + 25_000 + 35_000,
            ended_by: [lengths(&[100_000]), lengths(&[975_000, 3_875_000])],
            after_ps: 965_000,
        };
        assert_eq!(found, expected);
        assert_eq!(found.run_ps(), 6_000_000);
        // Cut while the last packets are on the link.
        let cut = link.account(5_020_000);
        assert_eq!((cut.after_ps, cut.run_ps()), (0, 5_020_000));
        // Without a packet all of the run is left.
        let unused = LinkMeter::new(15_000).account(77);
        assert_eq!(
            (unused.after_ps, unused.busy_ps, unused.run_ps()),
            (77, 0, 77)
        );
    }

    /// Packets of 10 ns; one that waits makes its direction busy, and one waits for ever.
    #[test]
    fn a_direction_is_busy_while_a_packet_is_sent_or_waits() {
        let mut direction = LinkMeter::new(0);
        direction.transmit(100_000, 110_000);
        direction.transmit(110_000, 120_000);
        direction.wait(500_000);
        direction.wait(510_000);
        direction.transmit(700_000, 710_000);
        let found = direction.account(1_000_000);
        let expected = LinkIdle {
            busy_ps: 20_000 + 210_000,
            ended_by: [lengths(&[100_000, 380_000]), lengths(&[])],
            after_ps: 290_000,
        };
        assert_eq!(found, expected);
        assert_eq!(found.run_ps(), 1_000_000);
        direction.wait(900_000);
        let stuck = direction.account(1_000_000);
        assert_eq!(stuck.busy_ps, 20_000 + 210_000 + 100_000);
        assert_eq!((stuck.after_ps, stuck.run_ps()), (0, 1_000_000));
    }

    #[test]
    fn what_begins_at_both_ends_at_once_is_the_first_end_s() {
        let mut link = LinkMeter::new(15);
        link.transmit(1000, 1010);
        link.receive(1015, 1025);
        assert_eq!(
            link.account(2000).ended_by,
            [lengths(&[1000]), lengths(&[])]
        );
    }

    proptest! {
        /// Random packets of both ends, and the link ps by ps.
        #[test]
        fn the_meter_counts_every_picosecond(
            cable in 0_u64..20,
            gaps in proptest::collection::vec((0_u64..60, 1_u64..9, any::<bool>()), 1..40),
        ) {
            let mut sent: [Vec<(u64, u64)>; 2] = Default::default();
            let mut free = [0, 0];
            for (gap, length, second) in gaps {
                let end = usize::from(second);
                let from = free[end] + gap;
                sent[end].push((from, from + length));
                free[end] = from + length;
            }
            let run = free[0].max(free[1]) + cable + 5;
            // On the link from the first byte's leaving to the last byte's arrival.
            let mut expected = LinkIdle::default();
            let mut idle = 0;
            for at in 0..run {
                let carries = |&(from, until): &(u64, u64)| (from..until + cable).contains(&at);
                if !sent.iter().flatten().any(carries) {
                    idle += 1;
                    continue;
                }
                expected.busy_ps += 1;
                if idle > 0 {
                    let first = sent[0].iter().any(|&(from, _)| from == at);
                    expected.ended_by[usize::from(!first)].record(idle);
                }
                idle = 0;
            }
            expected.after_ps = idle;
            // In the order in which they show at the first end.
            let own = sent[0].iter().map(|&(from, until)| (from, 0, until));
            let others = sent[1].iter().map(|&(from, until)| (from + cable, 1, until + cable));
            let mut seen: Vec<(u64, usize, u64)> = own.chain(others).collect();
            seen.sort_unstable();
            let mut link = LinkMeter::new(cable);
            for (from, end, until) in seen {
                match end {
                    0 => link.transmit(from, until),
                    _ => link.receive(from, until),
                }
            }
            prop_assert_eq!(link.account(run), expected);
        }
    }
}
