//! Golden model of the histograms: an array of counters.

use std::collections::VecDeque;
use std::sync::{Arc, LazyLock};

use super::bin_meter::golden::Edges;
use super::Shape;
use crate::blocks::idle_meter::golden::whole_ticks;
use crate::blocks::queue::Queue;
use crate::config::plan::{HistogramKind, HistogramPlan, PortPlan, GENERATIONS, MAP_ENTRIES};

/// A change on its way into the counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Change {
    /// The cycle in which the counter is read; it is written two cycles later.
    read_in: u64,
    bin: usize,
    effect: Effect,
}

/// What a change does to a counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Effect {
    /// A sample.
    #[default]
    Add,
    /// A sample for a counter that is yet to be halved.
    AddTwice,
    /// A sample that gives way.
    Remove,
    /// Half of the samples; of an odd number, the larger half or the smaller one.
    HalveUp,
    HalveDown,
}

/// What a histogram holds while no sample is on its way into the counters.
#[derive(Clone, Debug)]
pub struct Contents {
    /// Counters per generation, the present one first.
    pub generations: Vec<Vec<u64>>,
    /// Samples of the present generation.
    pub samples: u64,
    /// The cycle whose end began the present generation.
    pub since: u64,
    /// How long the generations before it lasted, in ticks, the latest first.
    pub lasted: VecDeque<u64>,
    /// The lengths that a circular histogram holds, the oldest first, in ticks.
    pub stored: VecDeque<u64>,
    /// Ticks that the halvings have taken off the window of a regular histogram.
    pub forgotten: u64,
    /// There has been an odd number of them.
    pub odd_halvings: bool,
}

/// Cycle-exact model of the histograms of every kind (SPEC 6, `docs/how/histograms.md`).
///
/// Time is the caller's count of clock cycles since reset.
#[derive(Clone, Debug)]
pub struct Histogram {
    plan: HistogramPlan,
    edges: Arc<Edges>,
    /// Bins in a group: the search reads the histogram in two levels.
    group_size: usize,
    clocks_per_tick: u64,
    max_time: u64,
    /// The age at which the hardware stops counting, in ticks.
    oldest: u64,
    /// The time to live that software has set, in ticks, 0 for the longest: `None` if it sets none.
    ttl_set: Option<u64>,
    /// The next sample ends the present generation, whatever its age.
    renew: bool,
    /// Counters per generation, the present one first.
    generations: Vec<Vec<u64>>,
    /// Samples of the present generation.
    samples: u64,
    /// The cycle whose end began the present generation.
    since: u64,
    /// The age at which the time to live was last changed: a shorter one makes none younger.
    reached: u64,
    /// How long the generations before it lasted, in ticks, the latest first.
    lasted: VecDeque<u64>,
    /// The lengths that a circular histogram holds, the oldest first.
    stored: VecDeque<u64>,
    stored_total: u128,
    changes: Queue<Change, 4>,
    /// Bins with samples, of a map.
    populated: u32,
    /// Entries that the hardware of a map has.
    entries: usize,
    /// The largest window, in ticks.
    max_window: u64,
    /// Of a regular histogram.
    halving: Halving,
    /// A counter of the hardware counts no further: what it holds says enough.
    enough: u64,
}

/// Where a counter of the hardware stops, if it does so before its largest value (SPEC 6).
fn enough(plan: &PortPlan) -> u64 {
    let shape = Shape::of(plan);
    match shape.counts_enough {
        true => 1 << (shape.counter - 1),
        false => u64::MAX,
    }
}

/// Entries that the hardware of a map has: as many as can be in use, and two at least.
fn entries(plan: &PortPlan, edges: &Edges) -> usize {
    let most = (edges.top() as u64 + 1).min(plan.histogram.max_samples.into());
    u64::from(plan.histogram.map_entries).min(most).max(2) as usize
}

/// Bins in a group: half of the bits of a bin's number, rounded up, say which of the group it is.
fn group_size(edges: &Edges) -> usize {
    let index_bits = usize::BITS - (edges.len() - 1).leading_zeros();
    1 << index_bits.div_ceil(2)
}

/// Most bins of a histogram whose counters are compared: a word of its groups has 64 bits.
const MOST_COMPARED: usize = 1024;

/// The names of the counters in the hardware, of a clearing, a circular and a regular histogram, for
/// each number of bits of a bin's place in its group: `store.counters[group][place]`.
static COUNTERS: LazyLock<[Vec<Vec<String>>; 3]> = LazyLock::new(|| {
    ["u_clearing", "u_circular", "u_regular"].map(|instance| {
        let name = |bin: usize, place: u32| {
            format!(
                "{instance}.u_store.counters[{}][{}]",
                bin >> place,
                bin % (1 << place)
            )
        };
        let names = |place| {
            (0..MOST_COMPARED)
                .map(move |bin| name(bin, place))
                .collect()
        };
        (0..=5).map(names).collect()
    })
});

/// The place of a map's lowest entry in [`ENTRIES`].
const LOWEST: usize = *MAP_ENTRIES.end() as usize;

/// The names of the registers in a map's entries that compare their bins with the idle period's.
static ENTRIES: LazyLock<Vec<[String; 2]>> = LazyLock::new(|| {
    let upper = (0..LOWEST).map(|entry| format!("u_map.u_entries_{entry}"));
    let names = upper.chain(["u_map.u_lowest".to_owned()]);
    let registers = names.map(|name| [format!("{name}.holds_q"), format!("{name}.precedes_q")]);
    registers.collect()
});

/// How far the halving of a regular histogram is.
#[derive(Clone, Copy, Debug)]
struct Halving {
    /// A counter has reached its largest value since the last one began.
    full: bool,
    /// Ticks that all of them have taken off the window.
    forgotten: u64,
    /// There has been an odd number of them.
    odd: bool,
    /// A threshold has come out since the last one began: there may be another.
    answered: bool,
    /// One comes out in this cycle.
    answers: bool,
    /// The next bin to halve; `None`: all are.
    next: Option<usize>,
}

/// Half of an odd count is rounded up in every second bin, and in the others with the next
/// halving: what is lost here is gained there.
pub fn rounds_up(bin: usize, odd_halving: bool) -> bool {
    (bin % 2 == 1) == odd_halving
}

/// The largest age that the hardware counts to, in ticks: the time to live, unless software may
/// change it.
fn oldest(plan: &PortPlan) -> u64 {
    let ttl = plan.histogram.ttl.filter(|_| !adjustable(plan));
    ttl.unwrap_or(plan.max_time())
}

/// Software may change when the histogram ages.
fn adjustable(plan: &PortPlan) -> bool {
    plan.ages() && plan.registers.is_some()
}

impl Halving {
    /// None is under way.
    fn rests(forgotten: u64, odd: bool, full: bool) -> Self {
        Halving {
            full,
            forgotten,
            odd,
            answered: true,
            answers: false,
            next: None,
        }
    }
}

impl Histogram {
    /// An empty histogram just after reset.
    pub fn new(plan: &PortPlan) -> Self {
        let edges = Edges::new(&plan.histogram);
        let generations = match plan.histogram.kind {
            HistogramKind::Decaying => GENERATIONS,
            _ => 1,
        };
        Histogram {
            plan: plan.histogram,
            clocks_per_tick: plan.clocks_per_tick,
            max_time: plan.max_time(),
            oldest: oldest(plan),
            ttl_set: adjustable(plan).then_some(plan.histogram.ttl.unwrap_or(0)),
            renew: false,
            generations: (0..generations).map(|_| vec![0; edges.len()]).collect(),
            group_size: group_size(&edges),
            entries: entries(plan, &edges),
            edges: Arc::new(edges),
            samples: 0,
            since: 0,
            reached: 0,
            lasted: VecDeque::new(),
            stored: VecDeque::new(),
            stored_total: 0,
            changes: Queue::new(),
            populated: 0,
            max_window: plan.max_window(),
            halving: Halving::rests(0, false, false),
            enough: enough(plan),
        }
    }

    /// A histogram that holds `contents`, and no sample on its way into the counters.
    pub fn holding(plan: &PortPlan, edges: Arc<Edges>, contents: Contents) -> Self {
        let populated = contents.generations[0].iter().filter(|count| **count > 0);
        let largest = u64::MAX >> (64 - plan.histogram.counter_bits);
        let full = contents.generations[0]
            .iter()
            .any(|count| *count >= largest);
        Histogram {
            plan: plan.histogram,
            group_size: group_size(&edges),
            entries: entries(plan, &edges),
            edges,
            clocks_per_tick: plan.clocks_per_tick,
            max_time: plan.max_time(),
            oldest: oldest(plan),
            ttl_set: adjustable(plan).then_some(plan.histogram.ttl.unwrap_or(0)),
            renew: false,
            populated: populated.count() as u32,
            generations: contents.generations,
            samples: contents.samples,
            since: contents.since,
            reached: 0,
            lasted: contents.lasted,
            stored_total: contents.stored.iter().copied().map(u128::from).sum(),
            stored: contents.stored,
            changes: Queue::new(),
            max_window: plan.max_window(),
            halving: Halving::rests(contents.forgotten, contents.odd_halvings, full),
            enough: enough(plan),
        }
    }

    /// The counters of the present generation, while all is steady; of a regular histogram,
    /// the ticks that the halvings have taken off the window, and whether their number is odd.
    pub fn present(&self) -> (&[u64], u64, bool) {
        let Halving { forgotten, odd, .. } = self.halving;
        (&self.generations[0], forgotten, odd)
    }

    /// The bins.
    #[inline]
    pub fn edges(&self) -> &Edges {
        &self.edges
    }

    /// Bins in a group: the search reads the histogram in two levels.
    #[inline]
    pub fn group_size(&self) -> usize {
        self.group_size
    }

    /// Weight of a sample of the present generation.
    #[inline]
    pub fn unit(&self) -> u64 {
        1 << (self.generations.len() - 1)
    }

    /// Whole ticks in `cycles` of the present generation.
    #[inline]
    fn age(&self, cycles: u64) -> u64 {
        let longest = self.plan.ttl.unwrap_or(self.max_time).max(self.reached);
        whole_ticks(cycles, self.clocks_per_tick).min(longest)
    }

    /// `X` as cycle `now` sees it: as it was in the cycle before.
    #[inline]
    pub fn window(&self, now: u64) -> u64 {
        let ticks: u128 = match self.plan.kind {
            _ if self.plan.sums_lengths() => self.stored_total,
            HistogramKind::Regular => self.elapsed(now.saturating_sub(1)).into(),
            _ => {
                let present = self.age(now.saturating_sub(self.since + 1));
                let lasted = self.lasted.iter().enumerate();
                let weighed: u128 = lasted
                    .map(|(place, &ticks)| (u128::from(ticks) * 4) >> place)
                    .sum();
                u128::from(present) + weighed / 8
            }
        };
        ticks.min(self.max_window.into()) as u64
    }

    /// The window of a regular histogram at the end of cycle `now`, in ticks. It counts on
    /// beyond the largest window until the next sample.
    #[inline]
    fn elapsed(&self, now: u64) -> u64 {
        let ticks = whole_ticks(now, self.clocks_per_tick) - self.halving.forgotten;
        ticks.min(2 * self.max_window + 1)
    }

    /// The largest value of a counter.
    fn largest(&self) -> u64 {
        u64::MAX >> (64 - self.plan.counter_bits)
    }

    /// Before a sample in cycle `now` is recorded, all counters and the window halve (SPEC 6).
    #[inline]
    pub fn halves(&self, now: u64) -> bool {
        self.plan.kind == HistogramKind::Regular
            && self.halving.answered
            && (self.halving.full || self.elapsed(now) > self.max_window)
    }

    /// Whether a threshold comes out in the cycle that is clocked next.
    #[inline]
    pub fn answers(&mut self, update: bool) {
        self.halving.answers = update;
    }

    /// From the end of cycle `now` on, generations end by these parameters, `ttl` in ticks and 0
    /// for the longest; the present one with the next sample if `renew`.
    pub fn set_parameters(&mut self, now: u64, max_samples: u32, ttl: u64, renew: bool) {
        self.renew = renew;
        self.ttl_set = Some(ttl);
        let ttl = match ttl {
            0 => Some(self.max_time),
            ttl => Some(ttl),
        };
        if (self.plan.max_samples, self.plan.ttl) != (max_samples, ttl) {
            // An age that stood still goes on from where it stood.
            let elapsed = now.saturating_sub(self.since);
            self.reached = self.age(elapsed);
            let stood = elapsed / self.clocks_per_tick - self.reached;
            self.since += stood * self.clocks_per_tick;
            self.plan.max_samples = max_samples;
            self.plan.ttl = ttl;
        }
    }

    /// These are the parameters that were set last, or none are ever set.
    pub fn ages_by(&self, max_samples: u32, ttl: u64) -> bool {
        self.ttl_set
            .is_none_or(|set| (self.plan.max_samples, set) == (max_samples, ttl))
    }

    /// A sample in cycle `now` ends the present generation first.
    #[inline]
    fn due(&self, now: u64) -> bool {
        self.plan.kind.ages()
            && (self.renew
                || self.samples == u64::from(self.plan.max_samples)
                || self
                    .plan
                    .ttl
                    .is_some_and(|ttl| self.age(now - self.since) >= ttl))
    }

    /// A sample of `t_inac` ticks in cycle `now` finds no free entry in the map.
    #[inline]
    pub fn overflows(&self, now: u64, t_inac: u64) -> bool {
        self.is_map()
            && !self.due(now)
            && self.populated == self.plan.map_entries
            && self.generations[0][self.edges.bin(t_inac)] == 0
    }

    /// A sample of `t_inac` ticks in cycle `now` is alone in the histogram, and its window
    /// is 0.
    #[inline]
    pub fn clears(&self, now: u64, t_inac: u64) -> bool {
        (self.plan.kind != HistogramKind::Decaying && self.due(now)) || self.overflows(now, t_inac)
    }

    /// All entries tell at once what the search asks for: it does not read.
    #[inline]
    pub fn is_map(&self) -> bool {
        self.plan.kind == HistogramKind::Map
    }

    /// The lowest bin of a map such that the samples in it and above are at most `budget`
    /// (SPEC 7.4).
    pub fn look_up(&self, budget: u64) -> usize {
        let mut tail = 0;
        let highest = self.generations[0].iter().rposition(|count| {
            tail += count;
            tail > budget
        });
        highest.map_or(0, |bin| bin + 1)
    }

    /// A sample in cycle `now` ends the present generation, or the only one.
    #[inline]
    pub fn renews(&self, now: u64) -> bool {
        self.due(now)
    }

    /// What the samples of a bin weigh, as a read in cycle `now` returns it: with what is
    /// being written in that cycle, and in a circular histogram with what will be in the
    /// next.
    #[inline]
    pub fn count(&self, now: u64, bin: usize) -> u64 {
        let unit = self.unit();
        let under_way = match self.plan.kind {
            HistogramKind::Circular | HistogramKind::Regular => 1,
            _ => 2,
        };
        let mut present = self.generations[0][bin];
        for change in self.changes.iter() {
            if change.bin == bin && change.read_in.saturating_add(under_way) <= now {
                present = self.changed(present, change.effect);
            }
        }
        let earlier = self.generations.iter().enumerate().skip(1);
        present * unit
            + earlier
                .map(|(age, counts)| counts[bin] * (unit >> age))
                .sum::<u64>()
    }

    /// A counter after a change. That of a regular histogram does not saturate: it has room
    /// until the halving that it asks for. Nor does that of a circular one: it holds all samples,
    /// but for the cycle in which the new one is there and the oldest is yet to go.
    #[inline]
    fn changed(&self, count: u64, effect: Effect) -> u64 {
        match (effect, self.plan.kind) {
            (Effect::Add, HistogramKind::Regular | HistogramKind::Circular) => count + 1,
            (effect, _) => self.saturating(count, effect),
        }
    }

    #[inline]
    fn saturating(&self, count: u64, effect: Effect) -> u64 {
        match effect {
            Effect::Add => (count + 1).min(self.largest()),
            Effect::AddTwice => count + 2,
            Effect::Remove => count - 1,
            Effect::HalveUp => count.div_ceil(2),
            Effect::HalveDown => count / 2,
        }
    }

    /// The same of a group of bins.
    #[inline]
    pub fn group(&self, now: u64, group: usize) -> u64 {
        let size = self.group_size();
        let bins = group * size..((group + 1) * size).min(self.edges.len());
        let unit = self.unit();
        let weigh = |(age, counts): (usize, &Vec<u64>)| {
            let samples: u64 = counts[bins.clone()].iter().sum();
            samples * (unit >> age)
        };
        let mut weight: u64 = self.generations.iter().enumerate().map(weigh).sum();
        // Few bins are being changed: of these the counts are as a read of the bin finds them.
        for (place, change) in self.changes.iter().enumerate() {
            let bin = change.bin;
            let earlier = || self.changes.iter().take(place).any(|it| it.bin == bin);
            if bins.contains(&bin) && !earlier() {
                let written: u64 = (self.generations.iter().enumerate())
                    .map(|(age, counts)| counts[bin] * (unit >> age))
                    .sum();
                weight = weight - written + self.count(now, bin);
            }
        }
        weight
    }

    /// The search cannot read in cycle `now`: a change does.
    #[inline]
    pub fn taken(&self, now: u64, sample: bool) -> bool {
        sample
            || self.halving.next.is_some()
            || self.changes.iter().any(|change| change.read_in == now)
    }

    /// Calls `visit` with the registers that count the time of the window, as they are at the
    /// beginning of cycle `now`: they are a cycle late.
    pub fn time_registers(&self, now: u64, visit: &mut impl FnMut(&'static str, u64)) {
        let [prescaler, ticks, last_tick, over, stands, reaches] = match self.plan.kind {
            HistogramKind::Circular if self.plan.sums_lengths() => return,
            HistogramKind::Regular => {
                if self.clocks_per_tick > 1 {
                    let into = now.saturating_sub(1) % self.clocks_per_tick;
                    visit("u_regular.prescaler_q", into);
                }
                visit("u_regular.ticks_q", self.elapsed(now.saturating_sub(1)));
                return;
            }
            HistogramKind::Clearing => [
                "u_clearing.u_window.prescaler_q",
                "u_clearing.u_window.ticks_q",
                "u_clearing.u_window.last_tick_q",
                "u_clearing.u_window.over_q",
                "u_clearing.u_window.stands_q",
                "u_clearing.u_window.reaches_q",
            ],
            HistogramKind::Map => [
                "u_map.u_window.prescaler_q",
                "u_map.u_window.ticks_q",
                "u_map.u_window.last_tick_q",
                "u_map.u_window.over_q",
                "u_map.u_window.stands_q",
                "u_map.u_window.reaches_q",
            ],
            HistogramKind::Circular => [
                "u_circular.u_age.prescaler_q",
                "u_circular.u_age.ticks_q",
                "u_circular.u_age.last_tick_q",
                "u_circular.u_age.over_q",
                "u_circular.u_age.stands_q",
                "u_circular.u_age.reaches_q",
            ],
            HistogramKind::Decaying => [
                "u_decaying.u_age.prescaler_q",
                "u_decaying.u_age.ticks_q",
                "u_decaying.u_age.last_tick_q",
                "u_decaying.u_age.over_q",
                "u_decaying.u_age.stands_q",
                "u_decaying.u_age.reaches_q",
            ],
        };
        let cycles = now.saturating_sub(self.since + 1);
        let age = self.age(cycles);
        if self.clocks_per_tick > 1 {
            visit(prescaler, cycles % self.clocks_per_tick);
        }
        visit(ticks, age);
        visit(
            last_tick,
            (age + 1 == self.oldest || self.oldest == 1).into(),
        );
        visit(over, (age == self.oldest).into());
        if let Some(ttl) = self.ttl_set {
            visit(stands, (ttl > 0 && age >= ttl).into());
            let mask = self.max_time;
            visit(reaches, (age.wrapping_sub(ttl) & mask == mask).into());
        }
    }

    /// Calls `visit` with the registers of a map that compare its entries with the bin after `ticks`
    /// idle ticks.
    pub fn entry_registers(&self, ticks: u64, visit: &mut impl FnMut(&'static str, u64)) {
        if !self.is_map() {
            return;
        }
        let sample = self.edges.bin(ticks) as u64 + 1;
        visit("u_map.sample_q", sample);
        let counts = self.generations[0].iter().enumerate().rev();
        let in_use = counts.filter(|(_, &count)| count > 0);
        let mut keys = in_use.map(|(bin, _)| bin as u64 + 1);
        for names in (ENTRIES.iter().take(self.entries - 1)).chain([&ENTRIES[LOWEST]]) {
            let key = keys.next().unwrap_or(0);
            visit(&names[0], (key == sample).into());
            visit(&names[1], (key > sample).into());
        }
    }

    /// Calls `visit` with what the counters hold while no change is on its way, of the kinds of
    /// histograms that have one memory of them. The search needs them all but for the lowest bin of
    /// each group, so that a wrong one may never show on a pin.
    pub fn counter_registers(&self, visit: &mut impl FnMut(&'static str, u64)) {
        let kind = match self.plan.kind {
            HistogramKind::Clearing => 0,
            HistogramKind::Circular => 1,
            HistogramKind::Regular => 2,
            HistogramKind::Decaying | HistogramKind::Map => return,
        };
        let place = self.group_size().ilog2() as usize;
        let counts = &self.generations[0];
        if counts.len() > MOST_COMPARED {
            return;
        }
        for (name, &count) in COUNTERS[kind][place].iter().zip(counts) {
            visit(name, count.min(self.enough));
        }
    }

    /// How old the present generation is, as the registers have it at the beginning of cycle
    /// `now`, in ticks.
    pub fn registered_age(&self, now: u64) -> u64 {
        self.age(now.saturating_sub(self.since + 1))
    }

    /// No change is on its way into the counters.
    #[inline]
    pub fn steady(&self) -> bool {
        self.changes.is_empty() && self.halving.next.is_none()
    }

    /// The clock edge at the end of cycle `now`, with the length of the idle period that
    /// ended in it.
    #[inline]
    pub fn clock(&mut self, now: u64, sample: Option<u64>) {
        let halves = sample.is_some() && self.halves(now);
        if let Some(change) = self.changes.front() {
            if now.checked_sub(change.read_in) == Some(2) {
                self.changes.pop_front();
                let count = self.changed(self.generations[0][change.bin], change.effect);
                self.generations[0][change.bin] = count;
                self.halving.full |= count >= self.largest() && change.effect != Effect::AddTwice;
            }
        }
        self.halving.answered |= self.halving.answers;
        if halves {
            let window = self.elapsed(now);
            self.halving = Halving {
                full: false,
                forgotten: now / self.clocks_per_tick - window / 2,
                odd: !self.halving.odd,
                answered: false,
                answers: false,
                next: Some(0),
            };
        }
        let Some(t_inac) = sample else {
            if let Some(bin) = self.halving.next {
                self.changes.push_back(Change {
                    read_in: now,
                    bin,
                    effect: if rounds_up(bin, self.halving.odd) {
                        Effect::HalveUp
                    } else {
                        Effect::HalveDown
                    },
                });
                self.halving.next = (bin < self.edges.top()).then_some(bin + 1);
            }
            return;
        };
        if self.due(now) || self.overflows(now, t_inac) {
            self.lasted.push_front(self.age(now - self.since));
            self.lasted.truncate(self.generations.len() - 1);
            self.generations.rotate_right(1);
            self.generations[0].fill(0);
            self.samples = 0;
            self.populated = 0;
            self.since = now;
            self.reached = 0;
        }
        self.samples += 1;
        if self.is_map() {
            // In one cycle: its entries are registers.
            let largest = self.largest();
            let count = &mut self.generations[0][self.edges.bin(t_inac)];
            self.populated += u32::from(*count == 0);
            *count = (*count + 1).min(largest);
            return;
        }
        let bin = self.edges.bin(t_inac);
        let effect = match self.halving.next {
            Some(next) if bin >= next => Effect::AddTwice,
            _ => Effect::Add,
        };
        self.changes.push_back(Change {
            read_in: now,
            bin,
            effect,
        });
        if self.plan.kind == HistogramKind::Circular {
            let length = t_inac.min(self.plan.max_value);
            self.stored.push_back(length);
            self.stored_total += u128::from(length);
            if self.stored.len() > self.plan.max_samples as usize {
                let oldest = self.stored.pop_front().unwrap_or_default();
                self.stored_total -= u128::from(oldest);
                self.changes.push_back(Change {
                    read_in: now.saturating_add(1),
                    bin: self.edges.bin(oldest),
                    effect: Effect::Remove,
                });
            }
        }
    }
}
