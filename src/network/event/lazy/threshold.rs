//! The threshold of a predicting policy, computed where it matters.
//!
//! An idle period at its end is a sample, and every sample leads to a new threshold some clock
//! cycles later. The threshold that governs an idle period matters only if the period outlasts
//! it. So samples are kept in a log, together with a [floor](Threshold::floor) under every
//! threshold that they may lead to. Only an idle period that reaches the floor has the golden
//! models of histogram, search and correction clocked through the log. When no further sample
//! has come for so long that all is settled again, the log is
//! [committed](Threshold::commit): what the clock edges did in sum has a closed form.
//!
//! The floor: while a search runs, counters only grow, and so does the budget. A search in
//! the counters before the log with the latest budget ends at or below every bin that may
//! come out. (What a circular histogram takes out lowers no sum by more than the samples
//! in the log.) A correction raises the threshold of a bin by a factor that only changes if
//! misses enter or leave the history. Where that does not help, as when a decaying histogram
//! decays during a search, the floor is what the lowest bin leads to.

use std::collections::VecDeque;
use std::sync::Arc;

use super::counters::Counters;
use super::hits::{Hit, Hits, BUFFERED};
use crate::blocks::corrector::golden::Corrector;
use crate::blocks::histogram::bin_meter::golden::Edges;
use crate::blocks::histogram::golden::{rounds_up, Contents, Histogram};
use crate::blocks::histogram::regular::halving_cycles;
use crate::blocks::histogram::Shape;
use crate::blocks::miss_history::golden::{MissHistory, Sample};
use crate::blocks::perfbound::golden::PerfBound;
use crate::blocks::port::settling::{longest_settling_cycles, settling_cycles};
use crate::config::plan::{BinScale, HistogramKind, PortPlan, GENERATIONS};
use crate::network::event::time::PortCycle;

/// Samples in a log at most: a burst without end is computed in portions.
const LONGEST_LOG: usize = 256;

/// Room for so many samples is kept after a burst.
const SHORT_LOG: usize = 16;

/// What all ports of one plan have in common.
#[derive(Debug)]
pub struct Numbers {
    plan: PortPlan,
    edges: Arc<Edges>,
    /// The threshold of every bin and of the one above the highest (SPEC 7.5), in ticks.
    middles: Vec<u64>,
    /// The highest bin that a sample can fall into.
    top: u64,
    /// Weight of a sample of the present generation.
    unit: u32,
    /// The largest count of a bin.
    largest: u32,
    /// The count of a bin of a regular histogram that asks for a halving; beyond all of others.
    full: u32,
    /// Clock cycles by which a halving of a regular histogram puts off the threshold; else 0.
    halving: u64,
    /// A generation's age in clock cycles at which it ends; of a regular histogram, that at
    /// which it is halved for the first time.
    lifetime: u64,
    /// Where the age of a generation stands still, in ticks.
    longest_age: u64,
    /// Clock cycles from a sample to the first in which all is settled, if it was when the
    /// sample came and no further one comes.
    alone: u64,
    /// The same, whatever was under way when the sample came.
    chained: u64,
    /// History and correction just after reset.
    correction: Option<(MissHistory, Corrector)>,
}

impl Numbers {
    /// The numbers of a plan that predicts; `None` if something but samples changes what is
    /// computed: software, or hops that are measured.
    pub fn new(plan: &PortPlan) -> Option<Self> {
        let histogram = &plan.histogram;
        let generations = match histogram.kind {
            HistogramKind::Decaying => GENERATIONS,
            _ => 1,
        };
        let unit = 1u32 << (generations - 1);
        // Every generation weighs less than twice the latest.
        let heaviest = u64::from(histogram.max_samples) * u64::from(2 * unit);
        let fits = generations == 1 || heaviest <= u64::from(u32::MAX);
        if plan.registers.is_some() || plan.budget.rate.is_some() || !fits {
            return None;
        }
        let edges = Edges::new(histogram);
        Some(Self {
            plan: *plan,
            middles: (0..=edges.len()).map(|bin| edges.middle(bin)).collect(),
            top: edges.top() as u64,
            edges: Arc::new(edges),
            unit,
            // A regular histogram's have room for what comes until they are halved.
            largest: match plan.halves() {
                true => u32::MAX >> 32u32.saturating_sub(Shape::of(plan).counter),
                false => u32::MAX >> (32 - histogram.counter_bits),
            },
            full: match plan.halves() {
                true => u32::MAX >> (32 - histogram.counter_bits),
                false => u32::MAX,
            },
            halving: match plan.halves() {
                true => halving_cycles(plan),
                false => 0,
            },
            lifetime: match histogram.ttl {
                _ if plan.halves() => (plan.max_window() + 1).saturating_mul(plan.clocks_per_tick),
                Some(ttl) => ttl.saturating_mul(plan.clocks_per_tick),
                None => u64::MAX,
            },
            longest_age: histogram.ttl.unwrap_or(plan.max_window()),
            alone: settling_cycles(plan),
            chained: longest_settling_cycles(plan),
            correction: plan
                .corrects()
                .then(|| (MissHistory::new(plan), Corrector::new(plan))),
        })
    }

    fn kind(&self) -> HistogramKind {
        self.plan.histogram.kind
    }

    /// Whole ticks in so many clock cycles.
    #[inline]
    pub fn ticks(&self, cycles: u64) -> u64 {
        let ticks = match self.plan.clocks_per_tick {
            1 => cycles,
            clocks => cycles / clocks,
        };
        ticks.min(self.plan.max_time())
    }

    /// The bin of an idle period of `ticks` (`docs/how/histograms.md`).
    fn bin(&self, ticks: u64) -> usize {
        let histogram = &self.plan.histogram;
        // What is longer than `h_maxval` falls into the highest bin, too.
        let units = ticks >> histogram.bin_shift;
        let bin = match histogram.scale {
            BinScale::Linear => units,
            BinScale::Log { mantissa_bits } => {
                let octave = units.max(1).ilog2().saturating_sub(mantissa_bits);
                (u64::from(octave) << mantissa_bits) + (units >> octave)
            }
        };
        bin.min(self.top) as usize
    }

    /// `N` for a window of `ticks` (SPEC 7.3).
    fn budget(&self, ticks: u64) -> u64 {
        let budget = &self.plan.budget;
        (u128::from(ticks) * budget.numerator / budget.denominator) as u64
    }
}

/// The lowest bin such that the samples in it and above weigh at most `budget`, and what they
/// weigh (SPEC 7.4); beginning at bin `index`, where they weigh `tail`.
#[inline]
fn search(
    weight: impl Fn(usize) -> u64,
    (mut index, mut tail): (usize, u64),
    budget: u64,
) -> (usize, u64) {
    while tail > budget {
        tail -= weight(index);
        index += 1;
    }
    while index > 0 {
        let more = tail + weight(index - 1);
        if more > budget {
            break;
        }
        tail = more;
        index -= 1;
    }
    (index, tail)
}

/// A sample and the clock cycle in which it came. The threshold that governed a hit is left out.
#[derive(Clone, Copy, Debug)]
struct Entry {
    cycle: PortCycle,
    sample: Sample,
}

impl Entry {
    /// A hit after so many idle cycles.
    #[inline]
    fn hit(numbers: &Numbers, cycle: PortCycle, cycles: u64) -> Self {
        let sample = Sample {
            ticks: numbers.ticks(cycles),
            t_pdt: 0,
            miss: false,
        };
        Self { cycle, sample }
    }
}

/// The threshold of one port. What is not about the log is as it was before it; what a hit
/// needs comes first.
#[derive(Debug)]
#[repr(C)]
pub struct Threshold {
    /// Under the threshold of every idle period that begins before the next sample.
    floor: u64,
    /// All is settled from this cycle on.
    settled_from: PortCycle,
    log: Vec<Entry>,
    /// In this cycle and later, a sample's budget is larger.
    grows_at: PortCycle,
    /// `i` of SPEC 7.4, and what the samples in that bin and above weigh.
    found: (usize, u64),
    /// `N` of SPEC 7.3.
    budget: u64,
    /// From this cycle on a sample ends the present generation.
    due_at: PortCycle,
    /// Samples of the present generation.
    samples: u64,
    /// PerfBound's threshold, in ticks.
    t_pb: u64,
    /// The threshold, in ticks.
    t_pdt: u64,
    /// Under every threshold of PerfBound that the log may lead to.
    low: u64,
    /// A sample in the log may end a generation, or clear.
    renews: bool,
    /// The log included: from this cycle on a sample ends the generation then present, and
    /// it is the sample after so many that does.
    renewal: (PortCycle, u64),
    /// A sample in the log changes the factor.
    refactors: bool,
    /// Earlier samples of the burst have been taken out of the log.
    shortened: bool,
    /// Bins with samples, of a map.
    populated: u32,
    /// The cycle whose end began the present generation.
    since: PortCycle,
    correction: Option<Box<(MissHistory, Corrector)>>,
    /// On the way through the log.
    live: Option<Box<Live>>,
    /// What the samples of each bin weigh.
    weights: Counters,
    /// Of a decaying histogram: counters per generation, the present one first.
    generations: VecDeque<Counters>,
    /// How long the generations before it lasted, in ticks, the latest first.
    lasted: VecDeque<u64>,
    /// The lengths that a circular histogram holds, the oldest first, in ticks.
    stored: VecDeque<u64>,
    stored_total: u128,
    /// The largest count of a bin of a regular histogram.
    highest: u32,
    /// Ticks that the halvings have taken off its window.
    forgotten: u64,
    /// There has been an odd number of them.
    odd_halvings: bool,
    /// What happened: golden models clocked, logs shortened, generations ended.
    #[cfg(test)]
    pub happened: [u64; 3],
}

impl Threshold {
    /// The threshold just after reset.
    pub fn new(numbers: &Numbers) -> Self {
        let bins = numbers.edges.len();
        let generations = match numbers.kind() {
            HistogramKind::Decaying => GENERATIONS,
            _ => 0,
        };
        // Every generation weighs less than twice the latest.
        let heaviest = match generations {
            0 => numbers.largest,
            _ => numbers.largest.saturating_mul(2 * numbers.unit),
        };
        let t_pdt = numbers.plan.t_pdt_init;
        Self {
            floor: t_pdt,
            settled_from: PortCycle(0),
            log: Vec::new(),
            grows_at: PortCycle(0),
            found: (0, 0),
            budget: 0,
            due_at: PortCycle(numbers.lifetime),
            samples: 0,
            weights: Counters::new(bins, heaviest),
            t_pb: t_pdt,
            t_pdt,
            low: t_pdt,
            renews: false,
            renewal: (
                PortCycle(numbers.lifetime),
                numbers.plan.histogram.max_samples.into(),
            ),
            refactors: false,
            shortened: false,
            populated: 0,
            since: PortCycle(0),
            generations: (0..generations)
                .map(|_| Counters::new(bins, numbers.largest))
                .collect(),
            lasted: VecDeque::new(),
            stored: VecDeque::new(),
            stored_total: 0,
            highest: 0,
            forgotten: 0,
            odd_halvings: false,
            correction: numbers.correction.clone().map(Box::new),
            live: None,
            #[cfg(test)]
            happened: [0; 3],
        }
    }

    /// From its beginning on, so many bytes are what hits may need.
    pub const TOUCHED: usize = std::mem::offset_of!(Self, generations);

    /// No idle period that begins before the next sample has a lower threshold, in ticks.
    #[inline]
    pub fn floor(&self) -> u64 {
        self.floor
    }

    /// Hits before a cycle, and so many of them, leave the floor where it is, or raise it: they
    /// end no generation, take no miss out of the history, and leave the budget as it is.
    pub fn floor_holds(&self, numbers: &Numbers) -> (PortCycle, usize) {
        let kind = numbers.kind();
        if kind == HistogramKind::Circular || self.renews || self.shortened {
            return (PortCycle(0), 0);
        }
        let mut until = self.grows_at.saturating_sub(numbers.chained);
        let mut left = BUFFERED;
        if kind.ages() {
            until = until.min(self.renewal.0);
            left = left.min(self.renewal.1 as usize);
        } else if kind == HistogramKind::Regular {
            until = until.min(self.due_at);
            let room = numbers.full.saturating_sub(self.highest) as usize;
            left = left.min(room.saturating_sub(self.log.len()));
        }
        if kind == HistogramKind::Map {
            let entries = numbers.plan.histogram.map_entries as usize;
            left = left.min(entries.saturating_sub(self.populated as usize + self.log.len()));
        }
        if let Some((history, _)) = self.correction.as_deref() {
            let in_log = self.log.len();
            if history.misses() > 0 {
                let later = (0..BUFFERED).find(|k| history.loses_a_miss(in_log + k));
                left = left.min(later.unwrap_or(BUFFERED));
            }
            // A miss in the log has yet to enter the history, and leaves it in its turn.
            if let Some(place) = self.log.iter().position(|entry| entry.sample.miss) {
                let leaves = place + numbers.plan.correction.history as usize;
                left = left.min(leaves.saturating_sub(in_log));
            }
        }
        (until, left)
    }

    /// Records hits that [`floor_holds`](Threshold::floor_holds) has let wait. No threshold of a cycle before
    /// `asked` will be asked for.
    pub fn catch_up(&mut self, numbers: &Numbers, mut hits: Hits, asked: PortCycle) {
        if !self.is_committed() {
            // Those that follow closely on the log.
            while let Some((cycle, cycles)) = hits.first().filter(|hit| hit.0 < self.settled_from) {
                self.record_hit(numbers, cycle, cycles);
                hits.hits = &hits.hits[1..];
            }
            if hits.first().map_or(asked, |hit| hit.0) < self.settled_from {
                return;
            }
            self.commit(numbers);
        }
        // From here on the budget, the generation and the factor stay as they are: wherever all
        // is settled again, only counters have changed.
        let settled = hits.settled((numbers.alone, numbers.chained), asked);
        if settled > 0 {
            self.absorb_hits(numbers, &hits.hits[..settled]);
            self.settle(numbers);
            hits.hits = &hits.hits[settled..];
        }
        while let Some((cycle, cycles)) = hits.first() {
            self.record_hit(numbers, cycle, cycles);
            hits.hits = &hits.hits[1..];
        }
    }

    fn record_hit(&mut self, numbers: &Numbers, cycle: PortCycle, cycles: u64) {
        self.record(numbers, cycle, Entry::hit(numbers, cycle, cycles).sample);
    }

    /// A sample that came in `cycle`; the threshold that governed a hit does not matter.
    #[inline]
    pub fn record(&mut self, numbers: &Numbers, cycle: PortCycle, sample: Sample) {
        if cycle >= self.settled_from {
            self.commit(numbers);
        }
        let alone = self.is_committed();
        let entry = Entry { cycle, sample };
        let renews = match numbers.kind() {
            HistogramKind::Regular => self.may_halve(numbers, cycle),
            kind => kind.ages() && self.may_renew(numbers, &entry),
        };
        let refactors = match &self.correction {
            Some(correction) => sample.miss || correction.0.loses_a_miss(self.log.len()),
            None => false,
        };
        // In this cycle or before, what the last search takes for now has been.
        let halving = match renews || self.renews {
            true => numbers.halving,
            false => 0,
        };
        let latest = match alone {
            true => cycle,
            false => cycle + numbers.chained + halving,
        };
        self.settled_from = match alone {
            true => cycle + numbers.alone + halving,
            false => latest,
        };
        let grows = latest >= self.grows_at || numbers.kind() == HistogramKind::Circular;
        if renews || refactors || grows {
            self.renews |= renews;
            self.refactors |= refactors;
            self.lower(numbers, &entry, (alone, renews), latest);
        }
        self.log.push(entry);
        if self.log.len() >= LONGEST_LOG {
            self.shorten(numbers);
        }
    }

    /// The threshold in `cycle`, not earlier than the last one asked for, nor than the
    /// last sample.
    pub fn at(&mut self, numbers: &Numbers, cycle: PortCycle) -> u64 {
        if cycle >= self.settled_from {
            self.commit(numbers);
        }
        match self.log[..] {
            [] if !self.shortened => return self.t_pdt,
            // Nothing but the old threshold and the new one, so if they are the same ...
            [entry] if !self.shortened && !self.refactors => {
                let new = self
                    .expected(numbers, &entry)
                    .map(|t_pb| self.correct(t_pb));
                if new == Some(self.t_pdt) {
                    return self.t_pdt;
                }
            }
            _ => {}
        }
        let live = self.emulate(numbers, cycle);
        live.t_pdt()
    }

    /// PerfBound's threshold, corrected by the factor as it is.
    fn correct(&self, t_pb: u64) -> u64 {
        match &self.correction {
            Some(correction) => correction.1.times(t_pb),
            None => t_pb,
        }
    }

    /// Lowers the floor for a sample, which comes alone or with others, and ends a generation
    /// or not; the search that covers it takes `X` as it stands at `latest` or before.
    fn lower(
        &mut self,
        numbers: &Numbers,
        entry: &Entry,
        (alone, renews): (bool, bool),
        latest: PortCycle,
    ) {
        let circular = numbers.kind() == HistogramKind::Circular;
        let lowest = numbers.middles[0];
        let clears = match numbers.kind() {
            HistogramKind::Clearing => renews,
            // With a log, it may.
            HistogramKind::Map => renews && alone,
            _ => false,
        };
        let low = if clears {
            // This bin exceeds a budget that is 0.
            self.grows_at = self.growth(numbers, 0, entry.cycle);
            numbers.middles[numbers.bin(entry.sample.ticks) + 1]
        } else if renews {
            self.grows_at = PortCycle(0);
            lowest
        } else if circular && alone {
            self.expected(numbers, entry).unwrap_or(lowest)
        } else if latest < self.grows_at && !circular {
            self.low
        } else if self.shortened || self.renews {
            lowest
        } else {
            let (window, taken) = match circular {
                true if !numbers.plan.histogram.sums_lengths() => {
                    (self.window(numbers, latest), self.log.len() + 1)
                }
                true => {
                    let lengths = self.log.iter().chain([entry]);
                    let added = lengths.map(|entry| u128::from(entry.sample.ticks));
                    (self.stored_total + added.sum::<u128>(), self.log.len() + 1)
                }
                false => (self.window(numbers, latest), 0),
            };
            let ticks = window.min(numbers.plan.max_window().into()) as u64;
            let budget = numbers.budget(ticks).saturating_add(taken as u64);
            let budget = budget.saturating_mul(numbers.unit.into()).max(self.found.1);
            let weight = |bin: usize| u64::from(self.weights.get(bin));
            numbers.middles[search(weight, self.found, budget).0]
        };
        self.low = self.low.min(low);
        self.floor = match numbers.plan.correction.at_least_one || !self.refactors {
            true if self.refactors => self.low.min(self.t_pdt),
            true => self.correct(self.low).min(self.t_pdt),
            false => 0,
        };
    }

    /// Whether a regular histogram may be halved before a sample that comes in `cycle`, after
    /// the log.
    #[inline]
    fn may_halve(&self, numbers: &Numbers, cycle: PortCycle) -> bool {
        let more = self.log.len() as u32;
        self.renews
            || self.shortened
            || cycle >= self.due_at
            || self.highest.saturating_add(more) >= numbers.full
    }

    /// Whether a sample that follows the log ends a generation. With a log, that of a map may.
    #[inline]
    fn may_renew(&mut self, numbers: &Numbers, entry: &Entry) -> bool {
        let (due_at, left) = &mut self.renewal;
        let due = *left == 0 || entry.cycle >= *due_at;
        if due {
            *left = numbers.plan.histogram.max_samples.into();
            *due_at = entry.cycle.saturating_add(numbers.lifetime);
        }
        *left = left.saturating_sub(1);
        due || (numbers.kind() == HistogramKind::Map && self.may_overflow(numbers, entry))
    }

    fn may_overflow(&self, numbers: &Numbers, entry: &Entry) -> bool {
        let most = self.populated as usize + self.log.len();
        // After a clear in the log the weights tell nothing.
        most >= numbers.plan.histogram.map_entries as usize
            && (self.renews || self.weights.get(numbers.bin(entry.sample.ticks)) == 0)
    }

    /// PerfBound's threshold after the only sample in the log, if that is easily told.
    fn expected(&self, numbers: &Numbers, entry: &Entry) -> Option<u64> {
        let kind = numbers.kind();
        let bin = numbers.bin(entry.sample.ticks);
        if self.renews {
            // A clear: it is alone in its histogram, and its budget is 0.
            return kind.clears().then(|| numbers.middles[bin + 1]);
        }
        let oldest = self.leaving(numbers);
        let gone = oldest.map(|length| numbers.bin(length));
        let count = match self.generations.front() {
            Some(present) => present.get(bin),
            None => self.weights.get(bin) - u32::from(gone == Some(bin)),
        };
        let more = match count < numbers.largest {
            true => u64::from(numbers.unit),
            false => 0,
        };
        let window = match numbers.plan.histogram.sums_lengths() {
            true => {
                let gained = self.stored_total + u128::from(self.length(numbers, entry));
                gained - u128::from(oldest.unwrap_or(0))
            }
            false => self.window(numbers, entry.cycle),
        };
        let weight = |at: usize| {
            let added = if at == bin { more } else { 0 };
            u64::from(self.weights.get(at)) + added - u64::from(gone == Some(at))
        };
        let (index, tail) = self.found;
        let tail = tail + if bin >= index { more } else { 0 }
            - u64::from(gone.is_some_and(|gone| gone >= index));
        let ticks = window.min(numbers.plan.max_window().into()) as u64;
        let budget = numbers.budget(ticks).saturating_mul(numbers.unit.into());
        let (index, _) = search(weight, (index, tail), budget);
        Some(numbers.middles[index])
    }

    /// What a circular histogram stores of a sample.
    fn length(&self, numbers: &Numbers, entry: &Entry) -> u64 {
        entry.sample.ticks.min(numbers.plan.histogram.max_value)
    }

    /// The length that a circular histogram gives up when one more comes.
    fn leaving(&self, numbers: &Numbers) -> Option<u64> {
        let full = numbers.kind() == HistogramKind::Circular
            && self.stored.len() >= numbers.plan.histogram.max_samples as usize;
        match full {
            true => self.stored.front().copied(),
            false => None,
        }
    }

    /// `X` of a search that begins after `cycle`, in ticks; not yet saturated.
    fn window(&self, numbers: &Numbers, cycle: PortCycle) -> u128 {
        match numbers.plan.histogram.sums_lengths() {
            true => self.stored_total,
            false => u128::from(self.age(numbers, cycle)) + self.lasted_window(),
        }
    }

    /// Whole ticks that the present generation has lasted.
    fn age(&self, numbers: &Numbers, cycle: PortCycle) -> u64 {
        let ticks = (cycle - self.since) / numbers.plan.clocks_per_tick - self.forgotten;
        ticks.min(numbers.longest_age)
    }

    /// What the generations before the present one add to `X`, in ticks.
    fn lasted_window(&self) -> u128 {
        let lasted = self.lasted.iter().enumerate();
        let weighed = lasted.map(|(place, &ticks)| (u128::from(ticks) * 4) >> place);
        weighed.sum::<u128>() / 8
    }

    /// The first cycle in which `N` exceeds `packets`, if the present generation began at the
    /// end of `since`.
    fn growth(&self, numbers: &Numbers, packets: u64, since: PortCycle) -> PortCycle {
        let budget = &numbers.plan.budget;
        let never = PortCycle::NEVER;
        if budget.numerator == 0 {
            return never;
        }
        let packets = u128::from(packets) + 1;
        let Some(product) = packets.checked_mul(budget.denominator) else {
            // Early is safe.
            return PortCycle(0);
        };
        let window = product.div_ceil(budget.numerator);
        let age = window.saturating_sub(self.lasted_window());
        let (longest, oldest) = (numbers.plan.max_window(), numbers.longest_age);
        if window > u128::from(longest) || age > u128::from(oldest) {
            return never;
        }
        let ticks = age + u128::from(self.forgotten);
        let cycle = ticks * u128::from(numbers.plan.clocks_per_tick) + u128::from(since.0);
        u64::try_from(cycle).map_or(never, PortCycle)
    }

    /// Computes `N` for a search that begins after `cycle`, if it may have changed.
    fn grow(&mut self, numbers: &Numbers, cycle: PortCycle) {
        if cycle >= self.grows_at || numbers.kind() == HistogramKind::Circular {
            let window = self.window(numbers, cycle);
            let ticks = window.min(numbers.plan.max_window().into()) as u64;
            self.budget = numbers.budget(ticks);
            self.grows_at = self.growth(numbers, self.budget, self.since);
        }
    }

    /// No sample is left to take in: all has been settled since the latest.
    #[inline]
    fn is_committed(&self) -> bool {
        self.log.is_empty() && !self.shortened
    }

    /// All is settled: takes the samples of the log in.
    #[inline]
    fn commit(&mut self, numbers: &Numbers) {
        match self.log[..] {
            [] if !self.shortened => {}
            [entry] if !self.shortened => {
                self.absorb(numbers, &entry);
                self.grow(numbers, entry.cycle);
                self.settle(numbers);
            }
            _ => self.commit_burst(numbers),
        }
    }

    #[cold]
    fn commit_burst(&mut self, numbers: &Numbers) {
        // The search that covers the last sample begins some time after it: does it matter
        // when?
        let held = numbers.plan.histogram.sums_lengths();
        let mut emulated = self.live.is_some() || (self.renews && !held);
        if let (Some(&last), false) = (self.log.last(), emulated || held) {
            self.grow(numbers, last.cycle);
            emulated = last.cycle + numbers.chained >= self.grows_at;
        }
        let outcome = emulated.then(|| {
            let settled_from = self.settled_from;
            let live = self.emulate(numbers, settled_from);
            assert!(live.settled(), "a threshold took longer than it may");
            (live.perfbound.budget(), live.t_pdt())
        });
        let log = std::mem::take(&mut self.log);
        for entry in &log {
            self.absorb(numbers, entry);
        }
        if outcome.is_some() && numbers.kind() == HistogramKind::Regular {
            self.adopt(numbers);
        }
        match outcome {
            Some((budget, _)) => {
                self.budget = budget;
                self.grows_at = self.growth(numbers, self.budget, self.since);
            }
            None => self.grow(numbers, log.last().map_or(PortCycle(0), |last| last.cycle)),
        }
        self.log = log;
        self.settle(numbers);
        if let Some((_, t_pdt)) = outcome {
            assert_eq!(self.t_pdt, t_pdt, "the closed form is another one");
        }
    }

    /// Takes in hits that end no generation, all but the search and the factor.
    #[inline]
    fn absorb_hits(&mut self, numbers: &Numbers, hits: &[Hit]) {
        let samples = self.samples + hits.len() as u64;
        let only_counters = self.generations.is_empty()
            && self.correction.is_none()
            && !matches!(numbers.kind(), HistogramKind::Map | HistogramKind::Regular)
            && samples <= u64::from(numbers.largest);
        if only_counters {
            let bins = hits.iter().map(|&(_, cycles)| {
                let ticks = numbers.ticks(cycles.into());
                numbers.bin(ticks)
            });
            self.found.1 += self.weights.count(bins, self.found.0);
            self.samples = samples;
        } else {
            for &(_, cycles) in hits {
                self.absorb(numbers, &Entry::hit(numbers, self.since, cycles.into()));
            }
        }
    }

    /// Takes a sample in, all but the search and the factor.
    #[inline]
    fn absorb(&mut self, numbers: &Numbers, entry: &Entry) {
        let kind = numbers.kind();
        let bin = numbers.bin(entry.sample.ticks);
        if kind.ages() {
            let histogram = &numbers.plan.histogram;
            let due =
                self.samples == u64::from(histogram.max_samples) || entry.cycle >= self.due_at;
            let overflows = kind == HistogramKind::Map
                && self.populated == histogram.map_entries
                && self.weights.get(bin) == 0;
            if due || overflows {
                self.renew(numbers, entry.cycle);
            }
        } else if kind == HistogramKind::Regular
            && (self.highest >= numbers.full || entry.cycle >= self.due_at)
        {
            self.halve(numbers, entry.cycle);
        }
        if kind == HistogramKind::Circular {
            // The oldest leaves first: a counter that is full may count the new one.
            if let Some(oldest) = self.leaving(numbers) {
                self.stored.pop_front();
                self.stored_total -= u128::from(oldest);
                let bin = numbers.bin(oldest);
                self.weights.set(bin, self.weights.get(bin) - 1);
                self.found.1 -= u64::from(bin >= self.found.0);
            }
            let length = self.length(numbers, entry);
            self.stored.push_back(length);
            self.stored_total += u128::from(length);
        }
        self.samples += 1;
        self.populated += u32::from(self.weights.get(bin) == 0);
        let present = self.generations.front_mut().unwrap_or(&mut self.weights);
        let count = present.get(bin);
        if count < numbers.largest {
            present.set(bin, count + 1);
            if kind == HistogramKind::Regular {
                self.highest = self.highest.max(count + 1);
            } else if kind == HistogramKind::Decaying {
                self.weights.set(bin, self.weights.get(bin) + numbers.unit);
            }
            if bin >= self.found.0 {
                self.found.1 += u64::from(numbers.unit);
            }
        }
        if let Some(correction) = &mut self.correction {
            correction.0.settle(&entry.sample);
        }
    }

    /// Halves the counters and the window of a regular histogram, at the end of `cycle`.
    #[cold]
    fn halve(&mut self, numbers: &Numbers, cycle: PortCycle) {
        #[cfg(test)]
        {
            self.happened[2] += 1;
        }
        let ticks = cycle.0 / numbers.plan.clocks_per_tick;
        let window = (ticks - self.forgotten).min(2 * numbers.plan.max_window() + 1);
        self.odd_halvings = !self.odd_halvings;
        self.highest = 0;
        for bin in 0..numbers.edges.len() {
            let up = u32::from(rounds_up(bin, self.odd_halvings));
            let half = self.weights.get(bin).saturating_add(up) / 2;
            self.weights.set(bin, half);
            self.highest = self.highest.max(half);
        }
        self.forget(numbers, ticks - window / 2);
    }

    /// Takes over what the golden models hold of a regular histogram: in a burst, a halving
    /// may wait for a threshold.
    #[cold]
    fn adopt(&mut self, numbers: &Numbers) {
        let Some(live) = self.live.take() else { return };
        let (counts, forgotten, odd_halvings) = live.histogram.present();
        self.odd_halvings = odd_halvings;
        self.highest = 0;
        for (bin, &count) in counts.iter().enumerate() {
            self.weights.set(bin, count as u32);
            self.highest = self.highest.max(count as u32);
        }
        self.forget(numbers, forgotten);
    }

    /// The window of a regular histogram has lost so many ticks in all; its counters have
    /// changed.
    fn forget(&mut self, numbers: &Numbers, forgotten: u64) {
        self.forgotten = forgotten;
        let clocks = numbers.plan.clocks_per_tick;
        self.due_at = PortCycle(numbers.lifetime).saturating_add(forgotten * clocks);
        self.grows_at = PortCycle(0);
        let above = self.found.0..numbers.edges.len();
        self.found.1 = above.map(|bin| u64::from(self.weights.get(bin))).sum();
    }

    /// Ends the present generation, at the end of `cycle`.
    #[cold]
    fn renew(&mut self, numbers: &Numbers, cycle: PortCycle) {
        #[cfg(test)]
        {
            self.happened[2] += 1;
        }
        if let Some(mut present) = self.generations.pop_back() {
            self.lasted.push_front(self.age(numbers, cycle));
            self.lasted.truncate(GENERATIONS as usize - 1);
            present.clear();
            self.generations.push_front(present);
            for bin in 0..numbers.edges.len() {
                let counts = self.generations.iter().enumerate();
                let weight = counts
                    .map(|(age, counts)| counts.get(bin) * (numbers.unit >> age))
                    .sum();
                self.weights.set(bin, weight);
            }
        } else {
            self.weights.clear();
        }
        let above = self.found.0..numbers.edges.len();
        self.found.1 = above.map(|bin| u64::from(self.weights.get(bin))).sum();
        self.samples = 0;
        self.populated = 0;
        self.since = cycle;
        self.due_at = cycle.saturating_add(numbers.lifetime);
        self.grows_at = PortCycle(0);
    }

    /// The search and the factor, when all samples are in the counters and the budget stands.
    #[inline]
    fn settle(&mut self, numbers: &Numbers) {
        let budget = self.budget.saturating_mul(numbers.unit.into());
        let weight = |bin: usize| u64::from(self.weights.get(bin));
        self.found = search(weight, self.found, budget);
        let t_pb = numbers.middles[self.found.0];
        match &mut self.correction {
            Some(correction) => {
                let (history, corrector) = &mut **correction;
                if self.refactors {
                    corrector.settle_factor(history);
                }
                corrector.settle_threshold(t_pb);
                self.t_pdt = corrector.t_pdt();
            }
            None => self.t_pdt = t_pb,
        }
        self.t_pb = t_pb;
        self.low = t_pb;
        self.floor = self.t_pdt;
        let most = u64::from(numbers.plan.histogram.max_samples);
        self.renewal = (self.due_at, most.saturating_sub(self.samples));
        self.renews = false;
        self.refactors = false;
        self.shortened = false;
        self.live = None;
        self.log.clear();
        self.log.shrink_to(SHORT_LOG);
    }

    /// Takes all samples out of a log that has become too long.
    #[cold]
    fn shorten(&mut self, numbers: &Numbers) {
        #[cfg(test)]
        {
            self.happened[1] += 1;
        }
        if let Some(last) = self.log.last().copied() {
            self.emulate(numbers, last.cycle + 1);
        }
        let log = std::mem::take(&mut self.log);
        for entry in &log {
            self.absorb(numbers, entry);
        }
        if let Some(live) = &mut self.live {
            live.fed = 0;
        }
        self.shortened = true;
    }

    /// The golden models at the beginning of `cycle`.
    fn emulate(&mut self, numbers: &Numbers, cycle: PortCycle) -> &Live {
        #[cfg(test)]
        {
            self.happened[0] += 1;
        }
        let live = match self.live.take() {
            Some(live) => live,
            None => Box::new(self.live(numbers)),
        };
        let live = self.live.insert(live);
        live.run(&self.log, cycle);
        live
    }

    /// The golden models as they were before the log.
    fn live(&self, numbers: &Numbers) -> Live {
        let bins = 0..numbers.edges.len();
        let wide = |counts: &Counters| bins.clone().map(|bin| counts.get(bin).into()).collect();
        let contents = Contents {
            generations: match numbers.kind() {
                HistogramKind::Decaying => self.generations.iter().map(wide).collect(),
                _ => [wide(&self.weights)].into(),
            },
            samples: self.samples,
            since: self.since.0,
            lasted: self.lasted.clone(),
            stored: self.stored.clone(),
            forgotten: self.forgotten,
            odd_halvings: self.odd_halvings,
        };
        Live {
            histogram: Histogram::holding(&numbers.plan, numbers.edges.clone(), contents),
            perfbound: PerfBound::resting(numbers.plan, self.t_pb),
            correction: self.correction.as_deref().cloned(),
            now: self.log.first().map_or(PortCycle(0), |entry| entry.cycle),
            fed: 0,
        }
    }
}

/// The golden models somewhere in a log.
#[derive(Debug)]
struct Live {
    histogram: Histogram,
    perfbound: PerfBound,
    correction: Option<(MissHistory, Corrector)>,
    /// They stand at the beginning of this cycle.
    now: PortCycle,
    /// Samples of the log that they have been given.
    fed: usize,
}

impl Live {
    fn t_pdt(&self) -> u64 {
        match &self.correction {
            Some((_, corrector)) => corrector.t_pdt(),
            None => self.perfbound.t_pb(),
        }
    }

    fn settled(&self) -> bool {
        let correction = self.correction.as_ref();
        self.histogram.steady()
            && self.perfbound.steady()
            && correction.is_none_or(|(history, corrector)| history.steady() && corrector.steady())
    }

    /// Clocks them up to the beginning of cycle `to`, in the order of `port::golden`.
    fn run(&mut self, log: &[Entry], to: PortCycle) {
        while self.now < to {
            let entry = log.get(self.fed);
            let sample = entry.filter(|entry| entry.cycle == self.now);
            if sample.is_none() && self.settled() {
                self.now = entry.map_or(to, |entry| entry.cycle.min(to));
                continue;
            }
            let sample = sample.map(|entry| entry.sample);
            self.fed += usize::from(sample.is_some());
            if let Some((history, corrector)) = &mut self.correction {
                let (t_pb, update) = (self.perfbound.t_pb(), self.perfbound.update());
                corrector.clock(self.now.0, history, t_pb, update);
                history.clock(self.now.0, sample);
            }
            let ticks = sample.map(|sample| sample.ticks);
            self.histogram.answers(self.perfbound.update());
            self.perfbound.clock(self.now.0, &self.histogram, ticks);
            self.histogram.clock(self.now.0, ticks);
            self.now += 1;
        }
    }
}
