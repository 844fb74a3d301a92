//! Golden model of the PerfBound search.

use crate::blocks::histogram::clearing::golden::Clearing;
use crate::config::plan::PortPlan;

/// Where the search stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Search {
    Idle,
    /// Adding up whole groups from the highest down.
    Groups,
    /// Adding up the bins of the group that holds the answer.
    Bins,
    /// Turning the bin into a time.
    Finish,
}

/// A read under way: what was asked for in the cycle before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Read {
    index: usize,
    value: u64,
}

/// Cycle-exact model of PerfBound (SPEC 7).
#[derive(Clone, Debug)]
pub struct PerfBound {
    plan: PortPlan,
    search: Search,
    /// A sample has been recorded that no search covers yet.
    pending: bool,
    /// The next group, or bin of the group, to read; `None` when all are read.
    next: Option<usize>,
    read: Option<Read>,
    /// Bins of the group last read that were populated then.
    populated: Vec<bool>,
    /// First bin of the group under search.
    base: usize,
    /// Samples in the bins passed so far.
    passed: u64,
    /// `i` of SPEC 7.4.
    index: usize,
    window: u64,
    budget: u64,
    t_pb: u64,
    update: bool,
}

impl PerfBound {
    /// A search just after reset.
    pub fn new(plan: PortPlan) -> Self {
        PerfBound {
            plan,
            search: Search::Idle,
            pending: false,
            next: None,
            read: None,
            populated: Vec::new(),
            base: 0,
            passed: 0,
            index: 0,
            window: 0,
            budget: 0,
            t_pb: plan.t_pdt_init,
            update: false,
        }
    }

    /// The threshold in ticks.
    pub fn t_pb(&self) -> u64 {
        self.t_pb
    }

    /// `X` of the update under way, or of the last one, in ticks.
    pub fn window(&self) -> u64 {
        self.window
    }

    /// `N` of the update under way, or of the last one, in packets.
    pub fn budget(&self) -> u64 {
        self.budget
    }

    /// One cycle after an update: the three above are new.
    pub fn update(&self) -> bool {
        self.update
    }

    /// Nothing changes while no sample comes.
    pub fn steady(&self) -> bool {
        self.search == Search::Idle && !self.pending && !self.update
    }

    /// `N` for a window of `x` ticks.
    fn packets(&self, x: u64) -> u64 {
        (u128::from(x) * self.plan.budget.numerator / self.plan.budget.denominator) as u64
    }

    /// The middle of bin `index`, at most `h_maxval` (SPEC 7.5).
    fn middle(&self, index: usize) -> u64 {
        let histogram = &self.plan.histogram;
        if index as u64 == u64::from(histogram.bins) {
            return histogram.max_value;
        }
        let span = 1u128 << histogram.bin_shift;
        let middle = index as u128 * span + span / 2;
        middle.min(u128::from(histogram.max_value)) as u64
    }

    /// The clock edge at the end of cycle `now`; `histogram` as it is in that cycle.
    pub fn clock(&mut self, now: u64, histogram: &Clearing, sample: Option<u64>) {
        self.update = false;

        // A sample that clears is alone in its histogram and the budget is 0:
        // the bin above it is the answer, and what was under way is out of date.
        if let Some(t_inac) = sample.filter(|_| histogram.clears(now)) {
            self.search = Search::Finish;
            self.pending = false;
            self.read = None;
            self.index = histogram.bin(t_inac) + 1;
            self.window = 0;
            self.budget = 0;
            return;
        }

        let arrived = self.read.take();
        match self.search {
            Search::Idle if self.pending => {
                self.pending = false;
                self.window = histogram.window_before(now);
                self.budget = self.packets(self.window);
                self.passed = 0;
                self.search = Search::Groups;
                self.next = Some(histogram.top_bin() / histogram.group_size());
            }
            Search::Idle => {}
            Search::Finish => {
                self.search = Search::Idle;
                self.t_pb = self.middle(self.index);
                self.update = true;
            }
            Search::Groups => {
                self.look_at_group(histogram, arrived);
                if self.search == Search::Groups && sample.is_none() {
                    self.read_group(histogram);
                }
            }
            Search::Bins => {
                self.look_at_bin(arrived);
                if self.search == Search::Bins && sample.is_none() {
                    self.read_bin(histogram);
                }
            }
        }
        self.pending |= sample.is_some();
    }

    fn look_at_group(&mut self, histogram: &Clearing, arrived: Option<Read>) {
        let Some(group) = arrived else { return };
        if self.passed + group.value > self.budget {
            self.search = Search::Bins;
            self.base = group.index * histogram.group_size();
            self.next = Some(histogram.group_size() - 1);
        } else if group.index == 0 {
            self.search = Search::Finish;
            self.index = 0;
        } else {
            self.passed += group.value;
        }
    }

    fn read_group(&mut self, histogram: &Clearing) {
        if let Some(index) = self.next {
            let group = histogram.group(index);
            self.populated.clear();
            self.populated.extend(group.iter().map(|&count| count != 0));
            self.read = Some(Read {
                index,
                value: group.iter().sum(),
            });
            self.next = index.checked_sub(1);
        }
    }

    fn look_at_bin(&mut self, arrived: Option<Read>) {
        let Some(bin) = arrived else { return };
        if self.passed + bin.value > self.budget {
            self.search = Search::Finish;
            self.index = self.base + bin.index + 1;
        } else if bin.index == 1 {
            // The group exceeds the budget and its other bins do not: the lowest does.
            self.search = Search::Finish;
            self.index = self.base + 1;
        } else {
            self.passed += bin.value;
        }
    }

    fn read_bin(&mut self, histogram: &Clearing) {
        if let Some(index) = self.next {
            let populated = self.populated.get(index).copied().unwrap_or(false);
            let value = if populated {
                histogram.count(self.base + index)
            } else {
                0
            };
            self.read = Some(Read { index, value });
            self.next = if index > 1 { Some(index - 1) } else { None };
        }
    }
}
