//! The map histogram (SPEC 6): counters of populated bins only.

mod entry;
#[cfg(test)]
mod tests;

use super::bin_of;
use super::window::Window;
use crate::config::plan::PortPlan;
use crate::hdl::prelude::*;

use entry::{EntryShape, MapEntry};

/// Shape of the map histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Entries: `map_entries`, or fewer if not as many can ever be in use.
    pub entries: u32,
    /// Bins that a sample can fall into.
    pub bins: u64,
    /// A sample may find no free entry.
    pub overflows: bool,
    /// What the entries look like.
    pub entry: EntryShape,
}

impl Shape {
    /// The shape of `plan`'s histogram.
    pub fn of(plan: &PortPlan) -> Self {
        let plan = &plan.histogram;
        let bins = bin_of(plan, plan.max_value) + 1;
        let most = bins.min(plan.max_samples.into());
        let entries = u64::from(plan.map_entries).min(most);
        let largest_count = u64::from(u32::MAX >> (32 - plan.counter_bits));
        let samples = u64::from(plan.max_samples);
        Shape {
            // Two, lest one entry be the first and the last.
            entries: entries.max(2) as u32,
            bins,
            overflows: u64::from(plan.map_entries) < most,
            entry: EntryShape {
                key: clog2(u128::from(bins) + 1),
                tail: clog2(u128::from(samples.min(largest_count * entries)) + 1),
                largest_count: (largest_count < samples).then_some(largest_count),
            },
        }
    }
}

block! {
    /// A histogram that stores populated bins only (SPEC 6, PerfBound 3.2: "a map-like structure is
    /// ideal"), ordered by length, each with its tail sum: a sample is recorded in one cycle,
    /// and PerfBound's bin is found in two. Its golden model is [`super::golden::Histogram`].
    pub struct MapHistogram(clk, rst);

    /// The histogram of `plan`.
    pub fn new(plan: &PortPlan) {
        let shape = Shape::of(plan);
        let EntryShape { key, tail, .. } = shape.entry;
        let adjustable = plan.ages() && plan.registers.is_some();
        let budget = plan.budget.width;
        let upper = shape.entries as usize - 1;
        let largest_tail = u128::MAX >> (128 - tail);
        let clips = budget > tail;
    }

    about(
        "histogram_map",
        "Histogram of idle periods that stores populated bins only. It is cleared when it\n\
         holds max_samples samples, when its time to live has passed, or when all entries\n\
         are taken and a sample falls into another bin, in any case just before that\n\
         sample.\n\
         \n\
         The entries are ordered by bin, the highest first, and hold tail sums rather\n\
         than counters: the answer to a budget is the bin above the first entry that\n\
         exceeds it. All entries compare at once, and that one tells in the next cycle.",
    )

    {
        pub in ended: Bit("a sample: an idle period ended"),
        pub in active: Bit("the port is active in this cycle"),
        pub in grows: Bit("in the next cycle the idle period falls into the bin above"),
        pub in max_samples: Bits(32, "samples after which it is due") if adjustable,
        pub in ttl: Bits(plan.time_width, "time to live, in ticks; 0: the longest") if adjustable,
        pub in renew: Bit("it is due at once") if adjustable,
        pub in budget: Bits(budget, "packets that may be delayed"),
        pub out cleared: Bit("the sample clears the histogram"),
        pub out overflow: Bit("because it found no free entry"),
        pub out age: Bits(plan.time_width, "ticks since the clear, one cycle late"),
        pub out step: Bit("the age grows by a tick"),
        pub out found: Bits(
            key, "lowest bin whose tail sum was within the budget the cycle before"
        ),
        choice overflows(shape.overflows), // entries may run out
        choice clips(clips), // a budget may be more than any tail sum
        constant largest_tail: Bits(tail, largest_tail, "no tail sum is larger"),
        constant largest_tail_wide: Bits(
            budget, if clips { largest_tail } else { 0 }, "no tail sum is larger"
        ),
        reg sample: Bits(key, 1, "key of the idle period's bin: the bin plus one"),
        local next_sample: Bits(key, "the same in the next cycle"),
        local clear: Bit("a sample would clear the map"),
        local limit: Bits(tail, "the budget, or the largest tail sum"),
        local insert: Bit("the sample needs an entry of its own"),
        local gain: Bit("the counter of its bin has room for it"),
        local full: Bit("all entries are in use"),
        choice adjustable(adjustable), // software decides when it is due
        child window: Window(plan),
        child entries[_ in 0..upper]: MapEntry(shape.entry),
        child lowest: MapEntry(shape.entry),
        number _upper_entries(upper),
    }
}

impl Logic for MapHistogram {
    #[hdl_gen]
    fn update(&mut self) {
        self.window.ended.next = self.ended.val();
        if self.adjustable {
            self.window.max_samples.next = self.max_samples.val();
            self.window.ttl.next = self.ttl.val();
            self.window.renew.next = self.renew.val();
        }
        if self.overflows {
            self.full.next = self.lowest.key.val().any();
            self.clear.next = self.window.due.val() | (self.full.val() & !self.lowest.known.val());
            self.overflow.next = self.ended.val() & self.clear.val() & !self.window.due.val();
        } else {
            comment!("There are entries for all bins, or for all samples.");
            self.clear.next = self.window.due.val();
            self.overflow.next = false;
        }
        self.cleared.next = self.ended.val() & self.clear.val();
        self.window.restart.next = self.cleared.val();
        self.age.next = self.window.age.val();
        self.step.next = self.window.step.val();

        comment!(
            "The entries compare the bin a cycle ahead: a sample is two cycles after the last."
        );
        if self.active.val() {
            self.next_sample.next = 1.into();
        } else if self.grows.val() {
            self.next_sample.next = self.sample.q.val() + 1;
        } else {
            self.next_sample.next = self.sample.q.val();
        }
        self.sample.d.next = self.next_sample.val();
        self.insert.next = self.window.due.val() | !self.lowest.known.val();
        self.gain.next = !self.lowest.saturated.val();
        if self.clips {
            if self.budget.val() > self.largest_tail_wide.val() {
                self.limit.next = self.largest_tail.val();
            } else {
                self.limit.next = bit_cast(self.budget.val(), &self.limit);
            }
        } else {
            self.limit.next = bit_cast(self.budget.val(), &self.limit);
        }

        comment!("Nothing is above the first entry: its place is below all that stays.");
        self.entries[0].above_key.next = 0.into();
        self.entries[0].above_tail.next = 0.into();
        self.entries[0].above_stays.next = true;
        self.entries[0].above_known.next = false;
        self.entries[0].above_saturated.next = false;
        self.entries[0].above_exceeds.next = false;
        self.entries[0].above_answers.next = false;
        self.entries[0].above_found.next = 0.into();
        for i in 1..self._upper_entries {
            self.entries[i].above_key.next = self.entries[i - 1].key.val();
            self.entries[i].above_tail.next = self.entries[i - 1].tail.val();
            self.entries[i].above_stays.next = self.entries[i - 1].stays.val();
            self.entries[i].above_known.next = self.entries[i - 1].known.val();
            self.entries[i].above_saturated.next = self.entries[i - 1].saturated.val();
            self.entries[i].above_exceeds.next = self.entries[i - 1].exceeds.val();
            self.entries[i].above_answers.next = self.entries[i - 1].answers.val();
            self.entries[i].above_found.next = self.entries[i - 1].found.val();
        }
        for i in 0..self._upper_entries {
            self.entries[i].record.next = self.ended.val();
            self.entries[i].clear.next = self.clear.val();
            self.entries[i].insert.next = self.insert.val();
            self.entries[i].gain.next = self.gain.val();
            self.entries[i].sample.next = self.sample.q.val();
            self.entries[i].next_sample.next = self.next_sample.val();
            self.entries[i].limit.next = self.limit.val();
        }
        self.lowest.record.next = self.ended.val();
        self.lowest.clear.next = self.clear.val();
        self.lowest.insert.next = self.insert.val();
        self.lowest.gain.next = self.gain.val();
        self.lowest.sample.next = self.sample.q.val();
        self.lowest.next_sample.next = self.next_sample.val();
        self.lowest.limit.next = self.limit.val();
        self.lowest.above_key.next = self.entries[self._upper_entries - 1].key.val();
        self.lowest.above_tail.next = self.entries[self._upper_entries - 1].tail.val();
        self.lowest.above_stays.next = self.entries[self._upper_entries - 1].stays.val();
        self.lowest.above_known.next = self.entries[self._upper_entries - 1].known.val();
        self.lowest.above_saturated.next = self.entries[self._upper_entries - 1].saturated.val();
        self.lowest.above_exceeds.next = self.entries[self._upper_entries - 1].exceeds.val();
        self.lowest.above_answers.next = self.entries[self._upper_entries - 1].answers.val();
        self.lowest.above_found.next = self.entries[self._upper_entries - 1].found.val();
        self.found.next = self.lowest.found.val();
    }
}
