//! Golden model of the clearing histogram: an array of counters.

use crate::config::plan::HistogramPlan;

/// Cycle-exact model of the clearing histogram (SPEC 6).
///
/// Time is the caller's count of clock cycles since reset.
#[derive(Clone, Debug)]
pub struct Clearing {
    plan: HistogramPlan,
    clocks_per_tick: u64,
    /// Where the window stops counting: at the time to live, or at the largest time.
    window_max: u64,
    counts: Vec<u64>,
    samples: u64,
    /// The cycle whose end began the window.
    window_since: u64,
    /// A sample is read in one cycle and counted at the end of the next.
    recording: Option<usize>,
}

impl Clearing {
    /// An empty histogram just after reset. `max_time` is the largest time in ticks.
    pub fn new(plan: HistogramPlan, clocks_per_tick: u64, max_time: u64) -> Self {
        Clearing {
            plan,
            clocks_per_tick,
            window_max: plan.ttl.unwrap_or(max_time),
            counts: vec![0; plan.bins as usize],
            samples: 0,
            window_since: 0,
            recording: None,
        }
    }

    /// Bins in a group: the search reads the histogram in two levels.
    pub fn group_size(&self) -> usize {
        let index_bits = usize::BITS - (self.counts.len() - 1).leading_zeros();
        1 << index_bits.div_ceil(2)
    }

    /// The bin of an idle period of `t_inac` ticks.
    pub fn bin(&self, t_inac: u64) -> usize {
        let bin = t_inac.min(self.plan.max_value) >> self.plan.bin_shift;
        bin.min(self.counts.len() as u64 - 1) as usize
    }

    /// The highest bin that a sample can fall into.
    pub fn top_bin(&self) -> usize {
        self.bin(u64::MAX)
    }

    /// `X` in cycle `now`: whole ticks since the window began.
    pub fn window(&self, now: u64) -> u64 {
        ((now - self.window_since) / self.clocks_per_tick).min(self.window_max)
    }

    /// The same one cycle earlier: what the cycle after a sample sees.
    pub fn window_before(&self, now: u64) -> u64 {
        let cycles = now.saturating_sub(self.window_since + 1);
        (cycles / self.clocks_per_tick).min(self.window_max)
    }

    /// A sample in cycle `now` clears the histogram first.
    pub fn clears(&self, now: u64) -> bool {
        self.samples == u64::from(self.plan.max_samples)
            || self.plan.ttl.is_some_and(|ttl| self.window(now) >= ttl)
    }

    /// The counter of a bin, as a read in this cycle returns it.
    pub fn count(&self, bin: usize) -> u64 {
        self.counts[bin]
    }

    /// The counters of a group of bins, lowest first, as a read in this cycle sees them.
    pub fn group(&self, group: usize) -> &[u64] {
        let size = self.group_size();
        let end = ((group + 1) * size).min(self.counts.len());
        &self.counts[group * size..end]
    }

    /// No sample is on its way into the counters.
    pub fn steady(&self) -> bool {
        self.recording.is_none()
    }

    /// The clock edge at the end of cycle `now`, with the idle period that ended in it.
    pub fn clock(&mut self, now: u64, sample: Option<u64>) {
        if let Some(bin) = self.recording.take() {
            let largest = u64::MAX >> (64 - self.plan.counter_bits);
            self.counts[bin] = (self.counts[bin] + 1).min(largest);
        }
        if let Some(t_inac) = sample {
            if self.clears(now) {
                self.counts.fill(0);
                self.samples = 0;
                self.window_since = now;
            }
            self.samples += 1;
            self.recording = Some(self.bin(t_inac));
        }
    }
}
