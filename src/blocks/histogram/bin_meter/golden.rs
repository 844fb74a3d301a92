//! Golden model of the bins: a list of where they begin.

use crate::config::plan::{BinScale, HistogramPlan};

/// The bins of a histogram (SPEC 6, `docs/how/histograms.md`).
#[derive(Clone, Debug)]
pub struct Edges {
    /// Where each bin begins, in ticks, and where the highest would end.
    edges: Vec<u128>,
    /// Where the bins above the lowest begin, as far up as samples can fall.
    begins: Vec<u64>,
    max_value: u64,
}

impl Edges {
    /// The bins of `plan`'s histogram.
    pub fn new(plan: &HistogramPlan) -> Self {
        let mut width = 1u128 << plan.bin_shift;
        let mut edges = vec![0];
        let mut edge = 0u128;
        for next in 1..=plan.bins {
            edge = edge.saturating_add(width);
            edges.push(edge);
            if let BinScale::Log { mantissa_bits } = plan.scale {
                let octave = 1u32 << mantissa_bits;
                if next >= 2 * octave && next % octave == 0 {
                    width = width.checked_mul(2).unwrap_or(u128::MAX / 2);
                }
            }
        }
        let highest = edges.len() - 2;
        let reached = edges[1..=highest].iter();
        Edges {
            begins: reached
                .map_while(|&edge| u64::try_from(edge).ok().filter(|it| *it <= plan.max_value))
                .collect(),
            edges,
            max_value: plan.max_value,
        }
    }

    /// The number of bins.
    #[inline]
    pub fn len(&self) -> usize {
        self.edges.len() - 1
    }

    /// Whether there are none: never.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The bin of an idle period of `ticks`.
    #[inline]
    pub fn bin(&self, ticks: u64) -> usize {
        match self.begins.first() {
            Some(&second) if ticks >= second => self.begins.partition_point(|&it| it <= ticks),
            // Most idle periods are short: there is nothing to search.
            _ => 0,
        }
    }

    /// The highest bin that a sample can fall into.
    #[inline]
    pub fn top(&self) -> usize {
        self.begins.len()
    }

    /// The shortest idle period of bin `index`, in ticks.
    pub fn low(&self, index: usize) -> u64 {
        let low = self.edges.get(index).copied().unwrap_or(u128::MAX);
        u64::try_from(low).unwrap_or(u64::MAX)
    }

    /// Calls `visit` with the registers that count along with the idle time, where the bin follows it
    /// tick by tick, after `ticks` idle ticks. On a logarithmic scale one of them is a time, of
    /// `extent_bits`.
    pub fn time_registers(
        &self,
        ticks: u64,
        extent_bits: Option<u32>,
        visit: &mut impl FnMut(&'static str, u64),
    ) {
        let bin = self.bin(ticks);
        visit("u_bin_meter.present_q", bin as u64);
        if let Some(bits) = extent_bits {
            let extent = self.edges[bin + 1] - self.edges[bin] - 1;
            let extent = extent.min(u128::MAX >> (128 - bits)) as u64;
            visit("u_bin_meter.extent_q", extent);
        }
    }

    /// The middle of bin `index` in ticks, at most `h_maxval`; `h_maxval` above the highest
    /// bin (SPEC 7.5).
    #[inline]
    pub fn middle(&self, index: usize) -> u64 {
        match (self.edges.get(index), self.edges.get(index + 1)) {
            (Some(low), Some(high)) => (low + (high - low) / 2).min(self.max_value.into()) as u64,
            _ => self.max_value,
        }
    }
}
