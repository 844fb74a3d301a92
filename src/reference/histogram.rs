//! The histograms of idle periods, as their definitions read (`docs/how/histograms.md`,
//! SPEC 6, PerfBound 3.2).

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::config::plan::{CircularWindow, HistogramKind};
use crate::config::Scale;

/// Generations of a `decaying` histogram; a sample of each weighs half of one of the next.
const GENERATIONS: usize = 4;

/// Parameters of a histogram (PerfBound Table 4). Times are in ticks.
#[derive(Clone, Debug)]
pub struct HistogramParameters {
    /// How the histogram forgets.
    pub kind: HistogramKind,
    /// How wide the bins are.
    pub scale: Scale,
    /// `n_bins`.
    pub bins: usize,
    /// `r_bin`: width of every linear bin, and of the lowest logarithmic ones.
    pub bin: u64,
    /// Largest count of a bin: there a regular histogram is halved, others saturate.
    pub max_count: u32,
    /// `h_maxN`.
    pub max_samples: u32,
    /// `TTL_hist`; `None` is as long as a window can be.
    pub ttl: Option<u64>,
    /// `h_maxval`.
    pub max_value: u64,
    /// Bins that a map holds.
    pub map_entries: usize,
    /// Largest window: there a regular histogram is halved, others saturate.
    pub max_window: u64,
    /// What the window of a circular histogram is.
    pub window: CircularWindow,
}

/// Which lengths fall into which bin.
#[derive(Clone, Debug)]
struct Bins {
    count: usize,
    /// Ticks in `r_bin`.
    unit: u64,
    /// `M` of logarithmic bins.
    mantissa: Option<u32>,
    max_value: u64,
}

impl Bins {
    fn new(parameters: &HistogramParameters) -> Bins {
        let longest = parameters.max_value / parameters.bin;
        let highest = parameters.bins as u64 - 1;
        Bins {
            count: parameters.bins,
            unit: parameters.bin,
            mantissa: match parameters.scale {
                Scale::Linear => None,
                // With that many bits every index below n_bins is u itself.
                Scale::Log => (0..=parameters.bins.ilog2())
                    .rev()
                    .find(|&m| logarithmic_index(longest, m) <= highest)
                    .or(Some(0)),
            },
            max_value: parameters.max_value,
        }
    }

    /// The bin of an idle period of `length` ticks.
    fn of(&self, length: u64) -> usize {
        let u = length / self.unit;
        let index = match self.mantissa {
            None => u,
            Some(m) => logarithmic_index(u, m),
        };
        let highest = self.count - 1;
        usize::try_from(index).map_or(highest, |index| index.min(highest))
    }

    /// The middle of a bin in whole ticks (SPEC 7.5).
    fn middle(&self, index: usize) -> u64 {
        if index == self.count {
            return self.max_value;
        }
        // First unit of the bin, and log2 of the units in it: no length reaches 2^64.
        let (low, e) = match self.mantissa {
            Some(m) if index >> m >= 2 => {
                let e = ((index >> m) - 1).min(64);
                let significant = (1u128 << m) + (index as u128 & ((1 << m) - 1));
                (significant << e, e)
            }
            _ => (index as u128, 0),
        };
        let unit = u128::from(self.unit);
        let middle = low.saturating_mul(unit).saturating_add((unit << e) / 2);
        u64::try_from(middle).map_or(self.max_value, |middle| middle.min(self.max_value))
    }
}

/// `M = m`: the bins of one octave are `2^m`.
fn logarithmic_index(u: u64, m: u32) -> u64 {
    if u >> m == 0 {
        return u;
    }
    let e = u.ilog2() - m;
    (u64::from(e) << m) + (u >> e)
}

/// The samples between two clears.
#[derive(Clone, Debug, Default)]
struct Generation {
    /// Populated bins.
    counts: BTreeMap<usize, u32>,
    samples: u32,
    /// Ticks that it lasts or lasted, at most its time to live.
    ticks: u64,
}

/// Counts of idle periods by length, and the window in which they were collected.
#[derive(Clone, Debug)]
pub(super) struct Histogram {
    parameters: HistogramParameters,
    bins: Bins,
    /// Where a generation's time stops. That of a regular histogram goes on beyond the largest
    /// window, until the next sample or twice as far.
    longest: u64,
    present: Generation,
    /// What a `decaying` histogram remembers, the latest first; empty for the others.
    past: VecDeque<Generation>,
    /// The stored lengths of a circular histogram, oldest first.
    stored: VecDeque<u64>,
    stored_total: u128,
    overflows: u64,
    /// The largest count of a regular histogram's bins.
    highest: u32,
    /// How often it was halved.
    halvings: u64,
}

impl Histogram {
    pub fn new(parameters: HistogramParameters) -> Histogram {
        Histogram {
            bins: Bins::new(&parameters),
            longest: match parameters.ttl {
                Some(ttl) if parameters.kind.ages() => ttl,
                _ if parameters.kind == HistogramKind::Regular => {
                    parameters.max_window.saturating_mul(2).saturating_add(1)
                }
                _ => parameters.max_window,
            },
            parameters,
            present: Generation::default(),
            past: VecDeque::new(),
            stored: VecDeque::new(),
            stored_total: 0,
            overflows: 0,
            highest: 0,
            halvings: 0,
        }
    }

    /// Times that a map ran out of entries.
    pub fn overflows(&self) -> u64 {
        self.overflows
    }

    /// Records the length `t_inac` of an idle period that lasted `idle` ticks, after `busy`
    /// ticks of activity, and returns the window `X` (SPEC 7.1).
    pub fn record(&mut self, busy: u64, t_inac: u64, idle: u64) -> u64 {
        let bin = self.bins.of(t_inac);
        // The window runs on through the whole period, however much of it is recorded.
        let ticks = &mut self.present.ticks;
        *ticks = ticks
            .saturating_add(busy)
            .saturating_add(idle)
            .min(self.longest);
        match self.parameters.kind {
            HistogramKind::Regular => {
                let window = self.present.ticks;
                if self.highest >= self.parameters.max_count || window > self.parameters.max_window
                {
                    self.halve();
                }
            }
            HistogramKind::Clearing => {
                if self.is_due() {
                    self.present = Generation::default();
                }
            }
            HistogramKind::Map => {
                let full = self.present.counts.len() == self.parameters.map_entries;
                if self.is_due() {
                    self.present = Generation::default();
                } else if full && !self.present.counts.contains_key(&bin) {
                    self.overflows += 1;
                    self.present = Generation::default();
                }
            }
            HistogramKind::Decaying => {
                if self.is_due() {
                    self.past.push_front(std::mem::take(&mut self.present));
                    self.past.truncate(GENERATIONS - 1);
                }
            }
            HistogramKind::Circular => {
                if self.stored.len() == self.parameters.max_samples as usize {
                    self.evict();
                }
                self.stored.push_back(t_inac);
                self.stored_total += u128::from(t_inac);
            }
        }
        self.count(bin);
        self.window()
    }

    /// `X` (SPEC 7.1): a `decaying` histogram weighs its time as its samples.
    fn window(&self) -> u64 {
        let window = match self.parameters.kind {
            // The buffer stores lengths, not dates: their sum stands for the window.
            HistogramKind::Circular if self.parameters.window == CircularWindow::Held => {
                self.stored_total
            }
            _ => self.weighted(|generation| generation.ticks) >> (GENERATIONS - 1),
        };
        u64::try_from(window)
            .unwrap_or(u64::MAX)
            .min(self.parameters.max_window)
    }

    /// The sum over the generations in eighths: the present one weighs 8, the one before
    /// it 4, then 2, then 1.
    fn weighted(&self, of: impl Fn(&Generation) -> u64) -> u128 {
        std::iter::once(&self.present)
            .chain(&self.past)
            .enumerate()
            .map(|(age, generation)| u128::from(of(generation)) << (GENERATIONS - 1 - age))
            .sum()
    }

    /// PerfBound's threshold for a budget of `budget` packets: the middle of the lowest
    /// bin whose tail sum is within the budget (SPEC 7.4 and 7.5), in whole ticks.
    pub fn threshold(&self, budget: u64) -> u64 {
        let generations = || std::iter::once(&self.present).chain(&self.past);
        let populated: BTreeSet<usize> = generations()
            .flat_map(|generation| generation.counts.keys().copied())
            .collect();
        // The highest populated bin at which the tail sum exceeds the budget: all bins
        // above it are within, down to the one next to it.
        let budget = u128::from(budget) << (GENERATIONS - 1);
        let mut tail = 0;
        for index in populated.into_iter().rev() {
            tail += self
                .weighted(|generation| generation.counts.get(&index).copied().map_or(0, u64::from));
            if tail > budget {
                return self.bins.middle(index + 1);
            }
        }
        self.bins.middle(0)
    }

    fn count(&mut self, bin: usize) {
        let count = self.present.counts.entry(bin).or_insert(0);
        // One of a regular histogram that is full is halved before the next sample; half of 1 may be 1,
        // and no sample is lost.
        let largest = match self.parameters.kind {
            HistogramKind::Regular => u32::MAX,
            _ => self.parameters.max_count,
        };
        *count = count.saturating_add(1).min(largest);
        self.highest = self.highest.max(*count);
        self.present.samples = self.present.samples.saturating_add(1);
    }

    /// All counters and the window (SPEC 6). Half of an odd count is rounded up in every second
    /// bin, odd ones the first time, the others the next: what is lost here is gained there.
    fn halve(&mut self) {
        self.halvings += 1;
        let first = self.halvings % 2 == 1;
        self.present.counts.retain(|bin, count| {
            *count = match (bin % 2 == 1) == first {
                true => count.div_ceil(2),
                false => *count / 2,
            };
            *count > 0
        });
        self.present.ticks /= 2;
        self.highest = self.present.counts.values().copied().max().unwrap_or(0);
    }

    /// The present generation is full or old: it ends immediately before the next sample.
    fn is_due(&self) -> bool {
        let Generation { samples, ticks, .. } = self.present;
        samples >= self.parameters.max_samples
            || ticks >= self.parameters.ttl.unwrap_or(self.parameters.max_window)
    }

    /// The counts of all bins.
    #[cfg(test)]
    pub fn counts(&self) -> Vec<u32> {
        let of = |bin| self.present.counts.get(&bin).copied().unwrap_or(0);
        (0..self.bins.count).map(of).collect()
    }

    fn evict(&mut self) {
        let Some(oldest) = self.stored.pop_front() else {
            return;
        };
        self.stored_total -= u128::from(oldest);
        let bin = self.bins.of(oldest);
        if let Some(count) = self.present.counts.get_mut(&bin) {
            *count -= 1;
            if *count == 0 {
                self.present.counts.remove(&bin);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::config::plan::BinScale;
    use crate::config::Config;
    use crate::reference::tests::parameters;

    proptest! {
        #[test]
        fn the_plan_has_as_many_mantissa_bits(
            bins in 4u32..300,
            max_value in prop_oneof![1u64..600, 1u64..1 << 32],
        ) {
            let text = format!(
                "[histogram]\nbin_scale = \"log\"\nbins = {bins}\nbin_ns = 1\n\
                 max_value_ns = {max_value}\nttl_ns = 0"
            );
            let config = Config::parse(&text, "a").unwrap();
            let mut parameters = parameters(HistogramKind::Regular).histogram;
            parameters.scale = Scale::Log;
            parameters.bins = bins as usize;
            parameters.bin = 1;
            parameters.max_value = max_value;
            let Some(mantissa_bits) = Bins::new(&parameters).mantissa else {
                return Err(TestCaseError::fail("no mantissa"));
            };
            let plan = config.plan().unwrap().histogram;
            prop_assert_eq!(plan.scale, BinScale::Log { mantissa_bits });
        }

        /// A bin spans at most 2^-M of its lowest length (or one `r_bin`), bins rise with the
        /// length, the largest length fits, and one more bit of M would not.
        #[test]
        fn logarithmic_bins_are_relative(
            bins in 4usize..=4096,
            unit_shift in 0u32..8,
            longest in 1u64..u64::MAX,
            lengths in prop::collection::vec((0u32..64, any::<u64>()), 50),
        ) {
            let unit = 1u64 << unit_shift;
            let mut parameters = parameters(HistogramKind::Regular).histogram;
            parameters.scale = Scale::Log;
            parameters.bins = bins;
            parameters.bin = unit;
            parameters.max_value = longest;
            let bins_of = Bins::new(&parameters);
            let m = bins_of.mantissa.unwrap();
            let highest = longest / unit;
            prop_assert!(m == 0 || logarithmic_index(highest, m) < bins as u64);
            if highest >= bins as u64 {
                prop_assert!(logarithmic_index(highest, m + 1) >= bins as u64);
            }
            let fits = logarithmic_index(highest, m) < bins as u64;
            let mut lengths: Vec<u64> = lengths
                .into_iter()
                .map(|(shift, length)| (length >> shift).min(longest))
                .collect();
            lengths.sort_unstable();
            let mut below = 0;
            for length in lengths {
                let bin = bins_of.of(length);
                prop_assert!(bin >= below && bin < bins);
                below = bin;
                if fits {
                    // The middle lies in the same bin, and within half of 2^-M of the length.
                    let middle = bins_of.middle(bin);
                    prop_assert_eq!(bins_of.of(middle), bin);
                    let distance = u128::from(middle.abs_diff(length));
                    let allowed = (u128::from(length) >> m).max(u128::from(unit));
                    prop_assert!(distance <= allowed, "{} {} {}", middle, length, m);
                }
            }
        }
    }
}
