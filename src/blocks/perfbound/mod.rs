//! PerfBound: the threshold from the histogram (SPEC 7).

pub mod golden;
#[cfg(test)]
mod tests;

use crate::blocks::histogram::clearing::Shape;
use crate::config::plan::PortPlan;
use crate::hdl::prelude::*;

states! {
    /// Where the search stands.
    pub enum Search {
        Idle = "no sample to cover",
        Groups = "adding up groups, highest first",
        Bins = "adding up the bins of the group that does not fit",
        Finish = "turning the bin into a time",
    }
}

/// Finds the power-down threshold that delays at most a budget of packets (SPEC 7,
/// p000 2.4), in two levels: groups of bins first, then the bins of one group.
#[derive(LogicBlock)]
pub struct PerfBound {
    about: About,
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub ended: Signal<In, Bit>,
    pub cleared: Signal<In, Bit>,
    pub sample_bin: Signal<In, Bits>,
    pub live_window: Signal<In, Bits>,
    pub window_step: Signal<In, Bit>,
    pub group_sum: Signal<In, Bits>,
    pub group_mask: Signal<In, Bits>,
    pub bin_count: Signal<In, Bits>,
    pub read_group: Signal<Out, Bits>,
    pub read_place: Signal<Out, Bits>,
    pub update: Signal<Out, Bit>,
    pub t_pb: Signal<Out, Bits>,
    pub window: Signal<Out, Bits>,
    pub budget: Signal<Out, Bits>,
    // N, kept up to date with the window.
    credit: Reg<Bits>,
    credit_part: Reg<Bits>,
    gain: Constant<Bits>,
    gain_part: Constant<Bits>,
    carries_from: Constant<Bits>,
    fractional: Constant<Bit>,
    carry: Signal<Local, Bit>,
    // The search.
    state: Reg<Search>,
    pending: Reg<Bit>,
    group: Reg<Bits>,
    place: Reg<Bits>,
    reading: Reg<Bit>,
    mask: Reg<Bits>,
    passed: Reg<Bits>,
    index: Reg<Bits>,
    arrived_group: Signal<Local, Bits>,
    arrived_place: Signal<Local, Bits>,
    arrived: Signal<Local, Bits>,
    tail: Signal<Local, Bits>,
    exceeds: Signal<Local, Bit>,
    top_group: Constant<Bits>,
    // The answer.
    middle: Signal<Local, Bits>,
    threshold: Signal<Local, Bits>,
    clamps: Constant<Bit>,
    halves: Constant<Bit>,
    half: Constant<Bits>,
    bin_count_total: Constant<Bits>,
    max_value: Constant<Bits>,
    max_value_wide: Constant<Bits>,
    update_now: Reg<Bit>,
    threshold_now: Reg<Bits>,
    window_now: Reg<Bits>,
    budget_now: Reg<Bits>,
    bin_shift: Constant<Bits>,
    place_bits: Constant<Bits>,
    top_place: Constant<Bits>,
    _budget_bits: usize,
    _tail_bits: usize,
    _compare_bits: usize,
    _index_bits: usize,
    _middle_bits: usize,
    _time_bits: usize,
}

/// Reads of a search at most: every group, and of one group every bin but the lowest.
fn most_reads(plan: &PortPlan) -> (u64, u64) {
    let shape = Shape::of(&plan.histogram);
    (
        (shape.top_bin >> shape.place) + 1,
        u64::from(shape.group_size()) - 1,
    )
}

/// Clock cycles from the first active cycle after an idle period to the cycle in which
/// `update` is high, at most, if no further sample comes before (`docs/controller.md`):
/// two to record and start, a cycle per read, one for the last read of each level to
/// arrive, one to turn the bin into a time.
pub fn update_latency(plan: &PortPlan) -> u64 {
    let (groups, bins) = most_reads(plan);
    2 + (groups + 1) + (bins + 1) + 1
}

/// Clock cycles between two updates, at most, under the hardest traffic (SPEC 10), in
/// which a sample takes every third read cycle: one to start, a cycle per read and per lost
/// cycle, one for the last read of each level to arrive, one to turn the bin into a time.
/// A sample that clears the histogram answers at once; the search for the next sample
/// begins two cycles later than after a search, and another clear in its last cycle
/// answers one cycle later than it would have.
pub fn update_interval_at_line_rate(plan: &PortPlan) -> u64 {
    let (groups, bins) = most_reads(plan);
    let slowed = |reads: u64| (3 * reads).div_ceil(2);
    1 + (slowed(groups) + 1) + (slowed(bins) + 1) + 1 + 2 + 1
}

impl PerfBound {
    /// The search of `plan`.
    pub fn new(plan: &PortPlan) -> Self {
        let histogram = &plan.histogram;
        let shape = Shape::of(histogram);
        let time = plan.time_width;
        let tail = shape.counter + shape.index() + 1;
        let compare = tail.max(plan.budget.width);
        let index = shape.index() + 1;
        let part = clog2(plan.budget.denominator);
        let whole = plan.budget.numerator / plan.budget.denominator;
        let rest = plan.budget.numerator % plan.budget.denominator;
        let fraction = format!("/ {}", plan.budget.denominator);
        let span = 1u128 << histogram.bin_shift;
        let middle = (index + histogram.bin_shift).max(time);
        let last_middle = u128::from(histogram.bins - 1) * span + span / 2;
        let amount =
            |value: u32, doc: &str| Constant::bits(clog2(u128::from(value) + 1), value.into(), doc);
        PerfBound {
            about: About::new(
                "perfbound",
                "Finds the power-down threshold: the middle of the lowest bin such that the\n\
                 samples in it and above are at most the budget, the packets that may be\n\
                 delayed in the window of the histogram.\n\
                 \n\
                 One word is read per cycle, from the highest group down, until a group does\n\
                 not fit into the budget; then the bins of that group, from the highest down.\n\
                 A cycle with a sample is not available for reading. Samples that come during\n\
                 a search are covered by the next. A sample that clears the histogram is\n\
                 alone in it, with a budget of 0: the bin above it is the answer.",
            ),
            clk: Signal::clock("clock"),
            rst: Signal::bit("synchronous reset"),
            ended: Signal::bit("a sample is recorded; the histogram reads for it"),
            cleared: Signal::bit("that sample clears the histogram"),
            sample_bin: Signal::bits(shape.index(), "bin of that sample"),
            live_window: Signal::bits(time, "ticks since the clear, one cycle late"),
            window_step: Signal::bit("the window grows by a tick"),
            group_sum: Signal::bits(shape.sum(), "samples in the group read the cycle before"),
            group_mask: Signal::bits(shape.group_size(), "which of its bins hold samples"),
            bin_count: Signal::bits(shape.counter, "counter read the cycle before"),
            read_group: Signal::bits(shape.group, "group to read, or group of the bin to read"),
            read_place: Signal::bits(shape.place, "place in the group of the bin to read"),
            update: Signal::bit("t_pb, window and budget are new"),
            t_pb: Signal::bits(time, "threshold, in ticks"),
            window: Signal::bits(time, "window that t_pb was computed for, in ticks"),
            budget: Signal::bits(plan.budget.width, "packets that may be delayed in it"),
            credit: Reg::bits(plan.budget.width, 0, "budget of the live window"),
            credit_part: Reg::bits(part, 0, format!("and this {fraction}")),
            gain: Constant::bits(
                plan.budget.width,
                whole,
                "packets that a tick of the window allows to delay, l / t_w:",
            ),
            gain_part: Constant::bits(part, rest, format!("whole ones, and this {fraction}")),
            carries_from: Constant::bits(
                part,
                plan.budget.denominator - rest.max(1),
                "a part from which the next tick makes a whole packet",
            ),
            fractional: Constant::bit(rest > 0, "a tick allows no whole number of packets"),
            carry: Signal::bit("the parts make a whole packet"),
            state: Reg::state(Search::Idle, "where the search stands"),
            pending: Reg::bit(false, "a sample came that no search covers yet"),
            group: Reg::bits(shape.group, 0, "next group to read, or group of the bins"),
            place: Reg::bits(shape.place, 0, "next bin of the group to read"),
            reading: Reg::bit(false, "what was read the cycle before is the search's"),
            mask: Reg::bits(shape.group_size(), 0, "bins of the group that held samples"),
            passed: Reg::bits(tail, 0, "samples in the bins passed"),
            index: Reg::bits(index, 0, "the bin found"),
            arrived_group: Signal::bits(shape.group, "group read the cycle before"),
            arrived_place: Signal::bits(shape.place, "bin of the group read the cycle before"),
            arrived: Signal::bits(tail, "samples in it"),
            tail: Signal::bits(tail, "samples in it and in what was passed"),
            exceeds: Signal::bit("they are more than the budget"),
            top_group: Constant::bits(
                shape.group,
                u128::from(shape.top_bin >> shape.place),
                "highest group in use",
            ),
            middle: Signal::bits(middle, "middle of the bin found, in ticks"),
            threshold: Signal::bits(time, "that, at most the longest threshold"),
            clamps: Constant::bit(
                last_middle > histogram.max_value.into(),
                "a bin's middle may be above the longest threshold",
            ),
            halves: Constant::bit(histogram.bin_shift > 0, "a bin is longer than a tick"),
            half: Constant::bits(middle, span / 2, "half a bin"),
            bin_count_total: Constant::bits(index, histogram.bins.into(), "number of bins"),
            max_value: Constant::bits(
                time,
                histogram.max_value.into(),
                "longest threshold, in ticks",
            ),
            max_value_wide: Constant::bits(
                middle,
                histogram.max_value.into(),
                "the same, as wide as the middle of a bin",
            ),
            update_now: Reg::bit(false, "t_pb, window and budget are new"),
            threshold_now: Reg::bits(time, plan.t_pdt_init.into(), "the threshold"),
            window_now: Reg::bits(time, 0, "window of the search"),
            budget_now: Reg::bits(plan.budget.width, 0, "budget of the search"),
            bin_shift: amount(histogram.bin_shift, "log2 of the ticks in a bin"),
            place_bits: amount(shape.place, "bits of a bin's place in its group"),
            top_place: Constant::bits(
                shape.place,
                u128::from(shape.group_size()) - 1,
                "highest place in a group",
            ),
            _budget_bits: plan.budget.width as usize,
            _tail_bits: tail as usize,
            _compare_bits: compare as usize,
            _index_bits: index as usize,
            _middle_bits: middle as usize,
            _time_bits: time as usize,
        }
    }
}

impl Logic for PerfBound {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clk,
            credit,
            credit_part,
            state,
            pending,
            group,
            place,
            reading,
            mask,
            passed,
            index,
            update_now,
            threshold_now,
            window_now,
            budget_now
        );

        comment!("The budget l / t_w * X as a whole number and a fraction, both exact.");
        if self.fractional.val() {
            self.carry.next = !(self.credit_part.q.val() < self.carries_from.val());
            if self.cleared.val() {
                self.credit_part.d.next = 0.into();
            } else if self.window_step.val() {
                if self.carry.val() {
                    self.credit_part.d.next = self.credit_part.q.val() - self.carries_from.val();
                } else {
                    self.credit_part.d.next = self.credit_part.q.val() + self.gain_part.val();
                }
            }
        } else {
            self.carry.next = false;
        }
        if self.cleared.val() {
            self.credit.d.next = 0.into();
        } else if self.window_step.val() {
            self.credit.d.next = self.credit.q.val()
                + self.gain.val()
                + bit_cast(self.carry.val(), self._budget_bits);
        }

        comment!("The address counts down with every read, so what arrives is one above it.");
        self.read_group.next = self.group.q.val();
        self.read_place.next = self.place.q.val();
        self.arrived_group.next = self.group.q.val() + 1;
        self.arrived_place.next = self.place.q.val() + 1;

        if self.state.q.val() == Search::Groups {
            self.arrived.next = bit_cast(self.group_sum.val(), self._tail_bits);
        } else if self.mask.q.val().get_bit(self.arrived_place.val()) {
            self.arrived.next = bit_cast(self.bin_count.val(), self._tail_bits);
        } else {
            self.arrived.next = 0.into();
        }
        self.tail.next = self.passed.q.val() + self.arrived.val();
        self.exceeds.next = bit_cast(self.tail.val(), self._compare_bits)
            > bit_cast(self.budget_now.q.val(), self._compare_bits);

        self.middle.next = bit_cast(self.index.q.val(), self._middle_bits) << self.bin_shift.val();
        if self.halves.val() {
            self.middle.next = (bit_cast(self.index.q.val(), self._middle_bits)
                << self.bin_shift.val())
                | self.half.val();
        }
        if self.clamps.val() {
            if self.middle.val() > self.max_value_wide.val() {
                self.threshold.next = self.max_value.val();
            } else {
                self.threshold.next = bit_cast(self.middle.val(), self._time_bits);
            }
        } else {
            comment!("Above the highest bin: never, as far as the histogram can tell.");
            if self.index.q.val() == self.bin_count_total.val() {
                self.threshold.next = self.max_value.val();
            } else {
                self.threshold.next = bit_cast(self.middle.val(), self._time_bits);
            }
        }

        self.reading.d.next = false;
        self.update_now.d.next = false;
        match self.state.q.val() {
            Search::Idle => {
                if self.pending.q.val() {
                    self.state.d.next = Search::Groups;
                    self.pending.d.next = false;
                    self.window_now.d.next = self.live_window.val();
                    self.budget_now.d.next = self.credit.q.val();
                    self.passed.d.next = 0.into();
                    self.group.d.next = self.top_group.val();
                }
            }
            Search::Groups => {
                if self.reading.q.val() & self.exceeds.val() {
                    self.state.d.next = Search::Bins;
                    self.group.d.next = self.arrived_group.val();
                    self.place.d.next = self.top_place.val();
                    self.mask.d.next = self.group_mask.val();
                } else if self.reading.q.val() & (self.arrived_group.val() == 0) {
                    comment!("All samples fit: even the lowest bin will do.");
                    self.state.d.next = Search::Finish;
                    self.index.d.next = 0.into();
                } else {
                    if self.reading.q.val() {
                        self.passed.d.next = self.tail.val();
                    }
                    if !self.ended.val() {
                        self.reading.d.next = true;
                        self.group.d.next = self.group.q.val() - 1;
                    }
                }
            }
            Search::Bins => {
                comment!(
                    "The group exceeds the budget: if its other bins fit, the lowest does not."
                );
                if self.reading.q.val() & (self.exceeds.val() | (self.arrived_place.val() == 1)) {
                    self.state.d.next = Search::Finish;
                    self.index.d.next = ((bit_cast(self.group.q.val(), self._index_bits)
                        << self.place_bits.val())
                        | bit_cast(self.arrived_place.val(), self._index_bits))
                        + bit_cast(self.exceeds.val(), self._index_bits);
                } else {
                    if self.reading.q.val() {
                        self.passed.d.next = self.tail.val();
                    }
                    if !self.ended.val() {
                        self.reading.d.next = true;
                        self.place.d.next = self.place.q.val() - 1;
                    }
                }
            }
            Search::Finish => {
                self.state.d.next = Search::Idle;
                self.threshold_now.d.next = self.threshold.val();
                self.update_now.d.next = true;
            }
            _ => {
                self.state.d.next = Search::Idle;
            }
        }
        comment!("A sample that clears replaces whatever search is under way.");
        if self.cleared.val() {
            self.state.d.next = Search::Finish;
            self.pending.d.next = false;
            self.reading.d.next = false;
            self.update_now.d.next = false;
            self.threshold_now.d.next = self.threshold_now.q.val();
            self.index.d.next = bit_cast(self.sample_bin.val(), self._index_bits) + 1;
            self.window_now.d.next = 0.into();
            self.budget_now.d.next = 0.into();
        } else if self.ended.val() {
            self.pending.d.next = true;
        }

        self.update.next = self.update_now.q.val();
        self.t_pb.next = self.threshold_now.q.val();
        self.window.next = self.window_now.q.val();
        self.budget.next = self.budget_now.q.val();
    }
}
