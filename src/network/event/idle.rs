//! How long ports stand idle when links never sleep (SPEC 2, PerfBound Figure 1).
//!
//! A port is active while its output queue holds a packet, while it transmits, or while it
//! receives. An idle period lasts from the first idle cycle after an active one to the first
//! active cycle: the time before a port's first activity is none, and neither is the time
//! after its last one.

use serde::{Deserialize, Serialize};

use crate::network::RunSummary;

/// Idle periods of similar length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// How many.
    pub periods: u64,
    /// Clock cycles of all together.
    pub cycles: u64,
}

/// The idle periods of a port by length, and the rest of its run, in clock cycles.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct IdlePeriods {
    /// By the number of [`bin`]; those after the longest period are left out.
    pub bins: Vec<Count>,
    /// Active.
    pub busy: u64,
    /// Before the first activity; all of the run without one.
    pub before: u64,
    /// After the last activity.
    pub after: u64,
}

impl IdlePeriods {
    /// All idle periods.
    pub fn idle(&self) -> Count {
        self.bins.iter().fold(Count::default(), |sum, bin| Count {
            periods: sum.periods + bin.periods,
            cycles: sum.cycles + bin.cycles,
        })
    }

    /// All that was counted: the run.
    pub fn cycles(&self) -> u64 {
        self.before + self.busy + self.idle().cycles + self.after
    }

    fn add(&mut self, other: &IdlePeriods) {
        if self.bins.len() < other.bins.len() {
            self.bins.resize(other.bins.len(), Count::default());
        }
        for (sum, bin) in self.bins.iter_mut().zip(&other.bins) {
            sum.periods += bin.periods;
            sum.cycles += bin.cycles;
        }
        self.busy += other.busy;
        self.before += other.before;
        self.after += other.after;
    }
}

/// The bin of an idle period of `ps`: 0 below 1 ns, then from 1, 2, 5, 10, ... ns on.
pub fn bin(ps: u64) -> usize {
    if ps < 1000 {
        return 0;
    }
    let power = ps.ilog10();
    let digit = ps / 10_u64.pow(power);
    1 + 3 * (power as usize - 3) + usize::from(digit >= 2) + usize::from(digit >= 5)
}

/// The shortest period of a bin, in ns; that of the next one is the first longer than all.
pub fn bin_from_ns(bin: usize) -> f64 {
    match bin.checked_sub(1) {
        None => 0.0,
        // A power of ten and its multiples are exact as far as bins reach.
        Some(step) => [1.0, 2.0, 5.0][step % 3] * 10_f64.powi(step as i32 / 3),
    }
}

fn record(bins: &mut Vec<Count>, cycles: u64, clock_ps: u64) {
    let bin = bin(cycles * clock_ps);
    if bin >= bins.len() {
        bins.resize(bin + 1, Count::default());
    }
    bins[bin].periods += 1;
    bins[bin].cycles += cycles;
}

/// Watches a port whose link never sleeps. Calls come in order of `from`.
#[derive(Clone, Debug)]
pub struct IdleMeter {
    clock_ps: u64,
    /// The cycle of the first activity; `u64::MAX`: none yet.
    first: u64,
    /// Active up to this cycle, and further if a packet waits.
    until: u64,
    /// Active cycles before `until`.
    busy: u64,
    waiting: bool,
    bins: Vec<Count>,
}

impl IdleMeter {
    /// A port that has done nothing yet.
    pub fn new(clock_ps: u64) -> Self {
        Self {
            clock_ps,
            first: u64::MAX,
            until: 0,
            busy: 0,
            waiting: false,
            bins: Vec::new(),
        }
    }

    /// A packet leaves from cycle `from` until (without) `until`.
    #[inline]
    pub fn transmit(&mut self, from: u64, until: u64) {
        self.active(from, until);
        self.waiting = false;
    }

    /// A packet arrives from cycle `from` until (without) `until`.
    #[inline]
    pub fn receive(&mut self, from: u64, until: u64) {
        self.active(from, until);
    }

    /// From cycle `from` on a packet waits, until it leaves.
    pub fn wait(&mut self, from: u64) {
        self.active(from, from);
        self.waiting = true;
    }

    #[inline]
    fn active(&mut self, from: u64, until: u64) {
        let from = if self.waiting { self.until } else { from };
        if self.first == u64::MAX {
            self.first = from;
        } else if from > self.until {
            record(&mut self.bins, from - self.until, self.clock_ps);
        }
        self.busy += until.saturating_sub(from.max(self.until));
        self.until = self.until.max(until).max(from);
    }

    /// What the port did in the first `cycles` clock cycles.
    pub fn account(&self, cycles: u64) -> IdlePeriods {
        if self.first == u64::MAX {
            return IdlePeriods {
                before: cycles,
                ..IdlePeriods::default()
            };
        }
        let rest = cycles.saturating_sub(self.until);
        let (waits, after) = if self.waiting { (rest, 0) } else { (0, rest) };
        IdlePeriods {
            bins: self.bins.clone(),
            // The run may end within a packet.
            busy: self.busy + waits - self.until.saturating_sub(cycles),
            before: self.first,
            after,
        }
    }

    /// Where the next record goes, to fetch it early.
    #[inline]
    pub fn bins(&self) -> *const u8 {
        self.bins.as_ptr().cast()
    }
}

/// Idle periods from `from_ns` on, shorter than `to_ns`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct IdleBin {
    /// The shortest that belongs here, in ns.
    pub from_ns: f64,
    /// The shortest that no longer does, in ns.
    pub to_ns: f64,
    /// How many there were.
    pub periods: u64,
    /// How long they lasted together, in ns.
    pub idle_ns: f64,
}

/// The idle periods of ports together, to read. All times are sums over the ports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IdleTable {
    /// From the shortest period to the longest, without gaps.
    pub bins: Vec<IdleBin>,
    /// Periods in all bins.
    pub periods: u64,
    /// Time in all bins.
    pub idle_ns: f64,
    /// Active.
    pub busy_ns: f64,
    /// Idle before the first activity of a port.
    pub before_first_ns: f64,
    /// Idle after the last activity of a port.
    pub after_last_ns: f64,
}

impl IdleTable {
    /// Of one port, or a sum.
    pub fn new(periods: &IdlePeriods, clock_ps: u64) -> Self {
        let ns = |cycles: u64| (u128::from(cycles) * u128::from(clock_ps)) as f64 / 1e3;
        let idle = periods.idle();
        let first = periods.bins.iter().position(|bin| bin.periods > 0);
        let bins = periods.bins.iter().enumerate().skip(first.unwrap_or(0));
        let bins = bins.map(|(number, bin)| IdleBin {
            from_ns: bin_from_ns(number),
            to_ns: bin_from_ns(number + 1),
            periods: bin.periods,
            idle_ns: ns(bin.cycles),
        });
        Self {
            bins: bins.collect(),
            periods: idle.periods,
            idle_ns: ns(idle.cycles),
            busy_ns: ns(periods.busy),
            before_first_ns: ns(periods.before),
            after_last_ns: ns(periods.after),
        }
    }

    /// Of all ports of a run; `None` if it did not record them.
    pub fn of(run: &RunSummary) -> Option<Self> {
        let mut sum = None;
        for idle in run.ports.iter().filter_map(|port| port.idle.as_ref()) {
            sum.get_or_insert_with(IdlePeriods::default).add(idle);
        }
        sum.map(|sum| Self::new(&sum, run.clock_ps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_those_of_a_ruler() {
        let edges: Vec<f64> = (0..9).map(bin_from_ns).collect();
        assert_eq!(edges, [0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0]);
        assert_eq!(bin_from_ns(28), 1e9);
        for ps in [
            0,
            999,
            1000,
            1999,
            2000,
            4999,
            5000,
            9999,
            10_000,
            123_456_789,
            999_999_999_999,
            1_000_000_000_000,
            u64::MAX,
        ] {
            let bin = bin(ps);
            let ns = ps as f64 / 1e3;
            assert!(bin_from_ns(bin) <= ns && ns < bin_from_ns(bin + 1), "{ps}");
        }
    }

    /// A meter and the port's cycles one by one.
    #[test]
    fn idle_periods_lie_between_activities() {
        let mut meter = IdleMeter::new(1000);
        assert_eq!(meter.account(7).before, 7);
        meter.receive(10, 20); // the first activity
        meter.transmit(15, 30); // both at once
        meter.receive(30, 31); // no idle cycle in between
        meter.transmit(32, 40); // 1 idle cycle
        meter.wait(45); // 5 idle cycles, then a packet waits
        meter.receive(50, 52);
        meter.transmit(60, 70); // busy from 45 to 70
        meter.receive(370, 400); // 300 idle cycles
        let done = meter.account(1000);
        let mut bins = vec![Count::default(); 9];
        for (ps, cycles) in [(1000, 1), (5000, 5), (300_000, 300)] {
            bins[bin(ps)] = Count { periods: 1, cycles };
        }
        assert_eq!(done.bins, bins);
        assert_eq!((done.before, done.after), (10, 600));
        assert_eq!(done.busy, (31 - 10) + (40 - 32) + (70 - 45) + (400 - 370));
        assert_eq!(done.cycles(), 1000);
        // Cut within the last packet, and just as it begins.
        for cycles in [380, 370] {
            let cut = meter.account(cycles);
            assert_eq!((cut.busy, cut.after), (54 + cycles - 370, 0));
            assert_eq!(cut.cycles(), cycles);
        }
        // A packet that never leaves.
        meter.wait(500);
        let stuck = meter.account(900);
        assert_eq!((stuck.idle().cycles, stuck.after), (406, 0));
        assert_eq!((stuck.busy, stuck.cycles()), (84 + 400, 900));
    }

    #[test]
    fn a_table_has_no_gaps_and_the_sums() {
        let mut periods = IdlePeriods {
            busy: 3,
            before: 4,
            after: 5,
            ..IdlePeriods::default()
        };
        for cycles in [5, 7, 9, 30] {
            record(&mut periods.bins, cycles, 2000);
        }
        let table = IdleTable::new(&periods, 2000);
        let bins: Vec<(f64, f64, u64, f64)> = table
            .bins
            .iter()
            .map(|bin| (bin.from_ns, bin.to_ns, bin.periods, bin.idle_ns))
            .collect();
        let expected = [
            (10.0, 20.0, 3, 42.0),
            (20.0, 50.0, 0, 0.0),
            (50.0, 100.0, 1, 60.0),
        ];
        assert_eq!(bins, expected);
        assert_eq!((table.periods, table.idle_ns), (4, 102.0));
        assert_eq!(table.busy_ns + table.before_first_ns, 14.0);
        assert_eq!(table.after_last_ns, 10.0);
    }
}
