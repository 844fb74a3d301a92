//! The four histograms of idle periods, as their definitions read (SPEC 6, p000 3.2).

use std::collections::{BTreeMap, VecDeque};

use crate::config::plan::HistogramKind;

/// Parameters of a histogram (p000 Table 4). Times are in ticks.
#[derive(Clone, Debug)]
pub struct HistogramParameters {
    /// How the histogram forgets.
    pub kind: HistogramKind,
    /// `n_bins`.
    pub bins: usize,
    /// `r_bin`.
    pub bin: u64,
    /// Largest count of a bin; counters saturate there.
    pub max_count: u32,
    /// `h_maxN`.
    pub max_samples: u32,
    /// `TTL_hist`; `None` is for ever.
    pub ttl: Option<u64>,
    /// `h_maxval`.
    pub max_value: u64,
    /// Bins that a map holds.
    pub map_entries: usize,
    /// Largest window; it saturates there.
    pub max_time: u64,
}

/// Counts of idle periods by length, and the window in which they were collected.
#[derive(Clone, Debug)]
pub(super) struct Histogram {
    parameters: HistogramParameters,
    /// Populated bins.
    counts: BTreeMap<usize, u32>,
    samples: u32,
    /// Ticks since the window began; saturates.
    window: u64,
    /// The stored lengths of a circular histogram, oldest first.
    stored: VecDeque<u64>,
    stored_total: u128,
    overflows: u64,
}

impl Histogram {
    pub fn new(parameters: HistogramParameters) -> Histogram {
        Histogram {
            parameters,
            counts: BTreeMap::new(),
            samples: 0,
            window: 0,
            stored: VecDeque::new(),
            stored_total: 0,
            overflows: 0,
        }
    }

    /// Times that a map ran out of entries.
    pub fn overflows(&self) -> u64 {
        self.overflows
    }

    /// Records the length `t_inac` of an idle period that lasted `idle` ticks, after `busy`
    /// ticks of activity, and returns the window `X` (SPEC 7.1).
    pub fn record(&mut self, busy: u64, t_inac: u64, idle: u64) -> u64 {
        let bin = self.bin_of(t_inac);
        // The window runs on through the whole period, however much of it is recorded.
        self.window = self
            .window
            .saturating_add(busy)
            .saturating_add(idle)
            .min(self.parameters.max_time);
        match self.parameters.kind {
            HistogramKind::Regular => self.count(bin),
            HistogramKind::Clearing => {
                self.clear_if_due();
                self.count(bin);
            }
            HistogramKind::Map => {
                self.clear_if_due();
                let full = self.counts.len() == self.parameters.map_entries;
                if full && !self.counts.contains_key(&bin) {
                    self.overflows += 1;
                    self.clear();
                }
                self.count(bin);
            }
            // `docs/histograms.md`
            HistogramKind::Decaying => todo!(),
            HistogramKind::Circular => {
                if self.stored.len() == self.parameters.max_samples as usize {
                    self.evict();
                }
                self.stored.push_back(t_inac);
                self.stored_total += u128::from(t_inac);
                self.count(bin);
                // The buffer stores lengths, not dates: their sum stands for the window.
                return u64::try_from(self.stored_total)
                    .unwrap_or(u64::MAX)
                    .min(self.parameters.max_time);
            }
        }
        self.window
    }

    /// PerfBound's threshold for a budget of `budget` packets: the middle of the lowest
    /// bin whose tail sum is within the budget (SPEC 7.4 and 7.5), in whole ticks.
    pub fn threshold(&self, budget: u64) -> u64 {
        let HistogramParameters {
            bins,
            bin,
            max_value,
            ..
        } = self.parameters;
        // The highest populated bin at which the tail sum exceeds the budget: all bins
        // above it are within, down to the one next to it.
        let mut tail = 0;
        for (index, count) in self.counts.iter().rev() {
            tail += u64::from(*count);
            if tail > budget {
                let lowest = *index + 1;
                if lowest == bins {
                    return max_value;
                }
                return (lowest as u64 * bin + bin / 2).min(max_value);
            }
        }
        (bin / 2).min(max_value)
    }

    fn bin_of(&self, length: u64) -> usize {
        let highest = self.parameters.bins - 1;
        usize::try_from(length / self.parameters.bin).map_or(highest, |bin| bin.min(highest))
    }

    fn count(&mut self, bin: usize) {
        let count = self.counts.entry(bin).or_insert(0);
        *count = count.saturating_add(1).min(self.parameters.max_count);
        self.samples = self.samples.saturating_add(1);
    }

    /// The clear comes immediately before the sample that finds it due.
    fn clear_if_due(&mut self) {
        let full = self.samples >= self.parameters.max_samples;
        let old = self.parameters.ttl.is_some_and(|ttl| self.window >= ttl);
        if full || old {
            self.clear();
        }
    }

    fn clear(&mut self) {
        self.counts.clear();
        self.samples = 0;
        self.window = 0;
    }

    fn evict(&mut self) {
        let Some(oldest) = self.stored.pop_front() else {
            return;
        };
        self.stored_total -= u128::from(oldest);
        let bin = self.bin_of(oldest);
        if let Some(count) = self.counts.get_mut(&bin) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&bin);
            }
        }
    }
}
