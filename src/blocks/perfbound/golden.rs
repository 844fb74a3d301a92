//! Golden model of the PerfBound search.

use crate::blocks::histogram::golden::Histogram;
use crate::blocks::queue::Queue;
use crate::config::plan::PortPlan;

/// Where the search stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Search {
    Idle,
    /// So many cycles until the budget is known.
    Multiply(u32),
    /// Adding up whole groups from the highest down.
    Groups,
    /// Adding up the bins of the group that holds the answer.
    Bins,
    /// All entries of a map compare.
    Entries,
    /// One of them tells the answer.
    Told,
    /// Turning the bin into a time.
    Finish,
}

/// Clock cycles from a read to the look at what it returns.
const READ_CYCLES: u64 = 3;

/// A read under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Read {
    /// The cycle in which it is looked at.
    due: u64,
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
    reads: Queue<Read, 4>,
    /// The group under search.
    group: usize,
    /// Weight of the samples in the bins passed so far.
    passed: u64,
    /// `i` of SPEC 7.4.
    index: usize,
    window: u64,
    /// `K` of SPEC 7.3 as it stands, where it changes at run time.
    rate: u128,
    /// `K` when the search under way began.
    rate_taken: u128,
    budget: u64,
    t_pb: u64,
    update: bool,
    /// Since this cycle no search has asked for the budget.
    budget_rests: u64,
}

impl PerfBound {
    /// A search just after reset.
    pub fn new(plan: PortPlan) -> Self {
        PerfBound {
            plan,
            search: Search::Idle,
            pending: false,
            next: None,
            reads: Queue::new(),
            group: 0,
            passed: 0,
            index: 0,
            window: 0,
            rate: plan.budget.product.map_or(0, |product| product.k),
            rate_taken: 0,
            budget: 0,
            t_pb: plan.t_pdt_init,
            update: false,
            budget_rests: 0,
        }
    }

    /// A search that rests, after it has found the threshold `t_pb`.
    pub fn resting(plan: PortPlan, t_pb: u64) -> Self {
        PerfBound {
            t_pb,
            ..PerfBound::new(plan)
        }
    }

    /// The threshold in ticks.
    #[inline]
    pub fn t_pb(&self) -> u64 {
        self.t_pb
    }

    /// `X` of the update under way, or of the last one, in ticks.
    #[inline]
    pub fn window(&self) -> u64 {
        self.window
    }

    /// `N` of the update under way, or of the last one, in packets.
    #[inline]
    pub fn budget(&self) -> u64 {
        self.budget
    }

    /// One cycle after an update: the three above are new.
    #[inline]
    pub fn update(&self) -> bool {
        self.update
    }

    /// The search reads the histogram, if nothing else does.
    #[inline]
    pub fn searches(&self) -> bool {
        matches!(self.search, Search::Groups | Search::Bins)
    }

    /// From now on the rate of the budget is `k` (SPEC 7.3).
    #[inline]
    pub fn set_rate(&mut self, k: u128) {
        self.rate = k;
    }

    /// Nothing changes while no sample comes.
    #[inline]
    pub fn steady(&self) -> bool {
        self.search == Search::Idle && !self.pending && !self.update
    }

    /// `N` for the window (SPEC 7.3).
    fn packets(&self) -> u64 {
        let budget = &self.plan.budget;
        if let (Some(_), Some(product)) = (budget.rate, budget.product) {
            return ((u128::from(self.window) * self.rate_taken) >> product.s) as u64;
        }
        (u128::from(self.window) * budget.numerator / budget.denominator) as u64
    }

    /// Calls `visit` with the registers that time changes: the budget of a window that only grows,
    /// at the beginning of cycle `now`.
    pub fn time_registers(
        &self,
        now: u64,
        histogram: &Histogram,
        visit: &mut impl FnMut(&'static str, u64),
    ) {
        let budget = &self.plan.budget;
        if budget.product.is_some() {
            return;
        }
        let mut ticks = histogram.registered_age(now);
        if budget.step_ticks > 1 {
            // Where a search takes it, the budget is up to date; a step that is complete since then
            // leaves it behind the window by the ticks of the next.
            let step = u64::from(budget.step_ticks);
            let behind = ticks / step * step > histogram.registered_age(self.budget_rests);
            visit("u_perfbound.behind_q", behind.into());
            if behind {
                ticks -= ticks % step;
            }
        }
        let packets = u128::from(ticks) * budget.numerator;
        let mask = |bits: u32| u128::MAX >> (128 - bits);
        let credit = (packets / budget.denominator) & mask(budget.width);
        visit("u_perfbound.credit_q", credit as u64);
        let gain = budget.numerator % budget.denominator;
        if gain > 0 {
            // In two's complement: negative until a tick makes a whole packet. A register of at
            // most 64 bits, or nobody asks.
            let part = packets % budget.denominator;
            let less = budget.denominator - gain;
            let bits = crate::hdl::clog2(budget.denominator) + 1;
            let part = part.wrapping_sub(less) & mask(bits);
            visit("u_perfbound.credit_part_q", part as u64);
        }
    }

    /// The clock edge at the end of cycle `now`; `histogram` as it is in that cycle.
    #[inline]
    pub fn clock(&mut self, now: u64, histogram: &Histogram, sample: Option<u64>) {
        self.update = false;
        if self.pending || sample.is_some() {
            self.budget_rests = now + 1;
        }

        // A sample that clears is alone in its histogram and the budget is 0:
        // the bin above it is the answer, and what was under way is out of date.
        if let Some(t_inac) = sample.filter(|&t_inac| histogram.clears(now, t_inac)) {
            self.search = Search::Finish;
            self.pending = false;
            self.reads.clear();
            self.index = histogram.edges().bin(t_inac) + 1;
            self.window = 0;
            self.budget = 0;
            return;
        }

        // Counters and window halve: a search under way began before they did. It begins anew.
        if sample.is_some() && histogram.halves(now) {
            self.search = Search::Idle;
            self.pending = true;
            self.reads.clear();
            return;
        }

        let arrived = match self.reads.front() {
            Some(read) if read.due == now => self.reads.pop_front(),
            _ => None,
        };
        match self.search {
            Search::Idle if self.pending => {
                self.pending = false;
                self.window = histogram.window(now);
                self.rate_taken = self.rate;
                if self.plan.budget.product.is_some() {
                    // Two bits of the window in each cycle, and what its highest two may carry; then the
                    // product is taken.
                    self.search = Search::Multiply(self.plan.time_width / 2 + 1 + 1);
                } else {
                    self.begin(histogram);
                }
            }
            Search::Idle => {}
            Search::Multiply(1) => self.begin(histogram),
            Search::Multiply(left) => self.search = Search::Multiply(left - 1),
            Search::Finish => {
                self.search = Search::Idle;
                self.t_pb = histogram.edges().middle(self.index);
                self.update = true;
            }
            Search::Entries => {
                self.search = Search::Told;
                self.index = histogram.look_up(self.budget);
            }
            Search::Told => self.search = Search::Finish,
            Search::Groups => {
                self.look_at_group(histogram, arrived);
                if self.search == Search::Groups && !histogram.taken(now, sample.is_some()) {
                    self.read_group(now, histogram);
                }
            }
            Search::Bins => {
                self.look_at_bin(histogram, arrived);
                if self.search == Search::Bins && !histogram.taken(now, sample.is_some()) {
                    self.read_bin(now, histogram);
                }
            }
        }
        self.pending |= sample.is_some();
    }

    fn begin(&mut self, histogram: &Histogram) {
        self.budget = self.packets();
        self.passed = 0;
        self.search = if histogram.is_map() {
            Search::Entries
        } else {
            Search::Groups
        };
        self.next = Some(histogram.edges().top() / histogram.group_size());
    }

    /// What was passed and `weight` more exceed the budget.
    fn exceeds(&self, histogram: &Histogram, weight: u64) -> bool {
        let budget = u128::from(self.budget) * u128::from(histogram.unit());
        u128::from(self.passed + weight) > budget
    }

    fn look_at_group(&mut self, histogram: &Histogram, arrived: Option<Read>) {
        let Some(group) = arrived else { return };
        if self.exceeds(histogram, group.value) {
            self.search = Search::Bins;
            self.reads.clear();
            self.group = group.index;
            self.next = Some(histogram.group_size() - 1);
        } else if group.index == 0 {
            self.finish(0);
        } else {
            self.passed += group.value;
        }
    }

    fn read_group(&mut self, now: u64, histogram: &Histogram) {
        if let Some(index) = self.next {
            let value = histogram.group(now, index);
            self.ask(now, index, value);
            self.next = index.checked_sub(1);
        }
    }

    fn ask(&mut self, now: u64, index: usize, value: u64) {
        let due = now + READ_CYCLES;
        self.reads.push_back(Read { due, index, value });
    }

    /// Bin `index` is the answer; what was read since is not needed.
    fn finish(&mut self, index: usize) {
        self.search = Search::Finish;
        self.index = index;
        self.reads.clear();
    }

    fn look_at_bin(&mut self, histogram: &Histogram, arrived: Option<Read>) {
        let Some(bin) = arrived else { return };
        let base = self.group * histogram.group_size();
        if self.exceeds(histogram, bin.value) {
            self.finish(base + bin.index + 1);
        } else if bin.index == 1 {
            // The group exceeds the budget and its other bins do not: the lowest does.
            self.finish(base + 1);
        } else {
            self.passed += bin.value;
        }
    }

    fn read_bin(&mut self, now: u64, histogram: &Histogram) {
        if let Some(index) = self.next {
            let bin = self.group * histogram.group_size() + index;
            let value = if bin < histogram.edges().len() {
                histogram.count(now, bin)
            } else {
                0
            };
            self.ask(now, index, value);
            self.next = if index > 1 { Some(index - 1) } else { None };
        }
    }
}
