//! The PerfBound search (SPEC 7).

pub mod golden;
#[cfg(test)]
mod tests;

use crate::blocks::histogram::regular::halving_cycles;
use crate::blocks::histogram::{map, Shape};
use crate::config::plan::{BinScale, HistogramKind, PortPlan, Product};
use crate::hdl::prelude::*;

states! {
    /// Where the search stands.
    pub enum Search {
        Idle = "waiting for a sample",
        Multiply = "multiplying the window into a budget",
        Groups = "adding up whole groups from the highest down",
        Bins = "adding up the bins of the group that holds the answer",
        Entries = "all entries of a map tell the answer",
        Finish = "turning the bin into a time",
    }
}

/// Clock cycles of the multiplication, whatever the width of the window.
const MULTIPLY_CYCLES: u32 = 4;

/// Finds the threshold `t_PB` after each sample: the middle of the lowest bin such that
/// the samples in it and above are at most the packets that may be delayed (SPEC 7,
/// p000 2.4).
#[derive(LogicBlock)]
pub struct PerfBound {
    about: About,
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub ended: Signal<In, Bit>,
    pub cleared: Optional<Signal<In, Bit>>,
    pub sample_bin: Optional<Signal<In, Bits>>,
    pub halved: Optional<Signal<In, Bit>>,
    pub rate: Optional<Signal<In, Bits>>,
    pub live_window: Signal<In, Bits>,
    pub window_step: Optional<Signal<In, Bit>>,
    pub taken: Optional<Signal<In, Bit>>,
    pub group_sum: Optional<Signal<In, Bits>>,
    pub bin_count: Optional<Signal<In, Bits>>,
    pub arrived: Optional<Signal<In, Bits>>,
    pub read_group: Optional<Signal<Out, Bits>>,
    pub read_place: Optional<Signal<Out, Bits>>,
    pub searches: Optional<Signal<Out, Bit>>,
    pub map_found: Optional<Signal<In, Bits>>,
    pub update: Signal<Out, Bit>,
    pub t_pb: Signal<Out, Bits>,
    pub window: Signal<Out, Bits>,
    pub budget: Signal<Out, Bits>,
    clears: Constant<Bit>,
    halves_counts: Constant<Bit>,
    reads: Constant<Bit>,
    // The budget of a window that only grows.
    accumulates: Constant<Bit>,
    credit: Reg<Bits>,
    credit_part: Reg<Bits>,
    gain: Constant<Bits>,
    gain_part: Constant<Bits>,
    part_after_carry: Constant<Bits>,
    part_step: Signal<Local, Bits>,
    no_credit: Constant<Bits>,
    part_sign: Constant<Bits>,
    fractional: Constant<Bit>,
    carry: Signal<Local, Bit>,
    // The budget of any window.
    adjustable: Constant<Bit>,
    readable: Constant<Bit>,
    fixed_rate: Constant<Bits>,
    rate_taken: Reg<Bits>,
    factor: Signal<Local, Bits>,
    digits_left: Reg<Bits>,
    multiplicand: Reg<Bits>,
    product: Reg<Bits>,
    next_product: Signal<Local, Bits>,
    last_digit: Constant<Bits>,
    digit_bits: Constant<Bits>,
    lower_digits: Constant<Bits>,
    rate_fraction: Constant<Bits>,
    multiplied: Signal<Local, Bits>,
    // The search.
    state: Reg<Search>,
    pending: Reg<Bit>,
    group: Reg<Bits>,
    place: Reg<Bits>,
    reading: Reg<Bit>,
    arriving: Reg<Bit>,
    looking: Reg<Bit>,
    bin: Reg<Bits>,
    bin_group: Signal<Local, Bits>,
    bin_place: Signal<Local, Bits>,
    samples: Reg<Bits>,
    left: Reg<Bits>,
    rest: Signal<Local, Bits>,
    exceeds: Signal<Local, Bit>,
    borrow: Constant<Bits>,
    top_group: Constant<Bits>,
    // The answer.
    found: Reg<Bits>,
    above: Reg<Bit>,
    index: Signal<Local, Bits>,
    threshold: Signal<Local, Bits>,
    logarithmic: Constant<Bit>,
    halves: Constant<Bit>,
    half: Constant<Bits>,
    octave: Signal<Local, Bits>,
    exponent: Signal<Local, Bits>,
    low: Signal<Local, Bits>,
    odd: Signal<Local, Bits>,
    mantissa: Constant<Bits>,
    leading: Constant<Bits>,
    twice_middle: Signal<Local, Bits>,
    mantissa_bits: Constant<Bits>,
    one: Constant<Bits>,
    never_from: Constant<Bits>,
    max_value: Constant<Bits>,
    update_now: Reg<Bit>,
    pub threshold_now: Reg<Bits>,
    window_now: Reg<Bits>,
    budget_now: Reg<Bits>,
    bin_shift: Constant<Bits>,
    place_bits: Constant<Bits>,
    weight_bits: Constant<Bits>,
    top_place: Constant<Bits>,
    _budget_bits: usize,
    _digit: usize,
    _window_bits: usize,
    _product_bits: usize,
    _left_bits: usize,
    _samples_bits: usize,
    _rest_bits: usize,
    _found_bits: usize,
    _group_bits: usize,
    _place_bits: usize,
    _index_bits: usize,
    _exponent_bits: usize,
    _middle_bits: usize,
    _time_bits: usize,
}

/// Clock cycles that the budget is looked up in the histogram, at most, if a
/// number of reads takes `cycles_of` it: every group is read, and of one group every bin but
/// the lowest, and the last read of each level has to be looked at. A map needs one cycle.
fn search_cycles(plan: &PortPlan, cycles_of: impl Fn(u64) -> u64) -> u64 {
    if plan.histogram.kind == HistogramKind::Map {
        return 1;
    }
    let shape = Shape::of(plan);
    let groups = (shape.top_bin >> shape.place) + 1;
    let bins = u64::from(shape.group_size()) - 1;
    (cycles_of(groups) + 3) + (cycles_of(bins) + 3)
}

/// Clock cycles that the budget takes.
fn multiply_cycles(plan: &PortPlan) -> u64 {
    match plan.budget.product {
        Some(_) => MULTIPLY_CYCLES.into(),
        None => 0,
    }
}

/// Clock cycles from the first active cycle after an idle period to the cycle in which
/// `update` is high, at most, if no further sample comes before (`docs/controller.md`):
/// two to record and start, those of the multiplication and of the search, one to turn the
/// bin into a time.
pub fn update_latency(plan: &PortPlan) -> u64 {
    2 + multiply_cycles(plan) + search_cycles(plan, |reads| reads) + 1
}

/// Clock cycles between two updates, at most, under the hardest traffic (SPEC 10), in which
/// a sample comes every third cycle. Of every three cycles it takes one, and another if the
/// oldest sample is taken out. Otherwise as
/// [`update_latency`]; a sample that clears the histogram answers at once, the search for the
/// next sample begins two cycles later than after a search, and another clear in its last
/// cycle answers one cycle later than it would have.
///
/// A halving of all counters begins the search anew, at worst in its last cycle, and takes two
/// of three cycles like a search.
pub fn update_interval_at_line_rate(plan: &PortPlan) -> u64 {
    let slowed = |reads: u64| match plan.histogram.kind {
        HistogramKind::Circular => 3 * reads,
        _ => (3 * reads).div_ceil(2),
    };
    let search = multiply_cycles(plan) + search_cycles(plan, slowed);
    let interval = 1 + search + 1 + 2 + 1;
    match plan.halves() {
        true => interval + search + 2 + slowed(halving_cycles(plan)),
        false => interval,
    }
}

/// Clock cycles by which an update comes later than [`update_latency`] says if its sample is
/// one before which all counters are halved: the search waits until they are. 0 if they never
/// are.
pub fn halving_delay(plan: &PortPlan) -> u64 {
    match plan.halves() {
        // Meanwhile the budget is multiplied.
        true => halving_cycles(plan).saturating_sub(1 + multiply_cycles(plan)),
        false => 0,
    }
}

impl PerfBound {
    /// The search of `plan`.
    pub fn new(plan: &PortPlan) -> Self {
        let histogram = &plan.histogram;
        let shape = Shape::of(plan);
        let time = plan.time_width;
        let budget = plan.budget.width;
        let left = budget + shape.fraction;
        let rest = left.max(shape.weighed_sum()).max(shape.weighed_count()) + 1;
        let index = shape.index() + 1;
        let maps = histogram.kind == HistogramKind::Map;
        let clears = maps || histogram.kind == HistogramKind::Clearing;
        let halves_counts = histogram.kind == HistogramKind::Regular;
        let accumulates = plan.budget.product.is_none();
        // A map tells the bin above the one that exceeds the budget.
        let found = match maps {
            true => map::Shape::of(plan).entry.key,
            false => shape.index(),
        };

        let part = clog2(plan.budget.denominator);
        let whole = plan.budget.numerator / plan.budget.denominator;
        let part_gain = plan.budget.numerator % plan.budget.denominator;
        let fraction = format!("/ {}", plan.budget.denominator);
        // Two's complement: negative until a tick makes a whole packet.
        let no_credit = (1u128 << (part + 1)) - (plan.budget.denominator - part_gain);

        let Product { k, s } = plan.budget.product.unwrap_or(Product { k: 0, s: 0 });
        let adjustable = plan.budget.rate.is_some();
        let rate = plan.budget.rate.map_or(product_bits(k), |rate| rate.width);
        let readable = plan.registers.is_some() && plan.reads_bins();
        let digit = time.div_ceil(MULTIPLY_CYCLES);
        let window = digit * MULTIPLY_CYCLES;
        let product = (budget + s).max(digit).min(128);

        let mantissa_bits = match histogram.scale {
            BinScale::Linear => 0,
            BinScale::Log { mantissa_bits } => mantissa_bits,
        };
        let logarithmic = histogram.scale != BinScale::Linear;
        let last_exponent = (shape.top_bin >> mantissa_bits) + u64::from(histogram.bin_shift);
        let exponent =
            clog2(u128::from(last_exponent) + 1).max(index.saturating_sub(mantissa_bits));
        let span = 1u128 << histogram.bin_shift;
        let top_middle = match histogram.scale {
            BinScale::Linear => u128::from(shape.top_bin) * span + span / 2,
            // Half of what the bin's octave begins with is the middle's place in it.
            BinScale::Log { mantissa_bits } => {
                let octave = (shape.top_bin >> mantissa_bits).max(1) as u32 - 1;
                let low = match shape.top_bin >> mantissa_bits {
                    0 => shape.top_bin,
                    _ => (1 << mantissa_bits) | (shape.top_bin & ((1 << mantissa_bits) - 1)),
                };
                (u128::from(2 * low + 1) << (octave + histogram.bin_shift)) >> 1
            }
        };
        let middle = match logarithmic {
            true => time + 1,
            false => (index + histogram.bin_shift).max(time),
        };
        let clamps = top_middle > u128::from(histogram.max_value);
        let amount =
            |value: u32, doc: &str| Constant::bits(clog2(u128::from(value) + 1), value.into(), doc);
        PerfBound {
            about: About::new(
                "perfbound",
                match maps {
                    true => {
                        "Finds the power-down threshold: the middle of the lowest bin such that the\n\
                         samples in it and above are at most the budget, the packets that may be\n\
                         delayed in the window of the histogram.\n\
                         \n\
                         The map tells the bin in the cycle after it was given the budget."
                    }
                    false => {
                        "Finds the power-down threshold: the middle of the lowest bin such that the\n\
                         samples in it and above are at most the budget, the packets that may be\n\
                         delayed in the window of the histogram.\n\
                         \n\
                         One word is read per cycle, from the highest group down, until a group does\n\
                         not fit into what is left of the budget; then the bins of that group, from\n\
                         the highest down. Samples that come during a search are covered by the next."
                    }
                },
            ),
            clk: Signal::clock("clock"),
            rst: Signal::bit("synchronous reset"),
            ended: Signal::bit("a sample is recorded"),
            cleared: Optional::when(clears, Signal::bit("that sample clears the histogram")),
            sample_bin: Optional::when(clears, Signal::bits(shape.index(), "bin of that sample")),
            halved: Optional::when(
                halves_counts,
                Signal::bit("counters and window are halved before that sample"),
            ),
            rate: Optional::when(
                adjustable,
                Signal::bits(
                    rate,
                    format!("packets that a tick of the window allows to delay, times 2^{s}"),
                ),
            ),
            live_window: Signal::bits(time, "window of the histogram, in ticks"),
            window_step: Optional::when(accumulates, Signal::bit("the window grows by a tick")),
            taken: Optional::when(
                !maps,
                Signal::bit("what is read in this cycle is not for the search"),
            ),
            group_sum: Optional::when(
                !maps,
                Signal::bits(
                    shape.weighed_sum(),
                    "samples in the group read two cycles before",
                ),
            ),
            bin_count: Optional::when(
                !maps,
                Signal::bits(
                    shape.weighed_count(),
                    "samples in the bin read two cycles before",
                ),
            ),
            arrived: Optional::when(!maps, Signal::bits(shape.index(), "that bin")),
            read_group: Optional::when(
                !maps,
                Signal::bits(shape.group, "group to read, or group of the bin to read"),
            ),
            read_place: Optional::when(
                !maps,
                Signal::bits(shape.place, "place in the group of the bin to read"),
            ),
            map_found: Optional::when(maps, Signal::bits(found, "bin found for the budget")),
            searches: Optional::when(
                readable,
                Signal::bit("the search may read in this cycle"),
            ),
            update: Signal::bit("t_pb, window and budget are new"),
            t_pb: Signal::bits(time, "threshold, in ticks"),
            window: Signal::bits(time, "window that t_pb was computed for, in ticks"),
            budget: Signal::bits(budget, "packets that may be delayed in it"),
            clears: Constant::bit(clears, "the histogram is cleared from time to time"),
            halves_counts: Constant::bit(halves_counts, "the counters are halved"),
            reads: Constant::bit(!maps, "the histogram is read word by word"),
            accumulates: Constant::bit(accumulates, "the window only grows"),
            credit: Reg::bits(budget, 0, "budget of the live window"),
            credit_part: Reg::bits(
                part + 1,
                no_credit,
                format!(
                    "and its part of a packet {fraction}, less what the next tick carries from"
                ),
            ),
            gain: Constant::bits(
                budget,
                if accumulates { whole } else { 0 },
                "packets that a tick of the window allows to delay, l / t_w:",
            ),
            gain_part: Constant::bits(
                part + 1,
                part_gain,
                format!("whole ones, and this {fraction}"),
            ),
            part_after_carry: Constant::bits(part + 1, no_credit, "that, less a whole packet"),
            part_step: Signal::bits(part + 1, "what a tick adds to the part"),
            no_credit: Constant::bits(part + 1, no_credit, "a part of 0"),
            part_sign: amount(part, "the sign of the part"),
            fractional: Constant::bit(part_gain > 0, "a tick allows no whole number of packets"),
            carry: Signal::bit("the parts make a whole packet"),
            adjustable: Constant::bit(adjustable, "the rate changes at run time"),
            readable: Constant::bit(readable, "software reads the bins too"),
            rate_taken: Reg::bits(rate, k, "rate when the multiplication began"),
            factor: Signal::bits(product, "the rate, as wide as the product"),
            fixed_rate: Constant::bits(
                product,
                if adjustable { 0 } else { k },
                format!("packets that a tick of the window allows to delay, times 2^{s}"),
            ),
            digits_left: Reg::bits(clog2(MULTIPLY_CYCLES.into()), 0, "digits left, less one"),
            multiplicand: Reg::bits(window, 0, "window, the next digit of it on top"),
            product: Reg::bits(product, 0, "rate times the digits so far"),
            next_product: Signal::bits(product, "and times the next digit"),
            last_digit: Constant::bits(
                clog2(MULTIPLY_CYCLES.into()),
                u128::from(MULTIPLY_CYCLES) - 1,
                "digits of the window, less one",
            ),
            digit_bits: amount(digit, "bits of a digit"),
            lower_digits: amount(window - digit, "bits of all digits but the highest"),
            rate_fraction: amount(s, "fraction bits of rate"),
            multiplied: Signal::bits(budget, "the whole packets of it"),
            state: Reg::state(Search::Idle, "where the search stands"),
            pending: Reg::bit(false, "a sample came that no search covers yet"),
            group: Reg::bits(shape.group, 0, "next group to read, or group of the bins"),
            place: Reg::bits(shape.place, 0, "next bin of the group to read"),
            reading: Reg::bit(false, "what was read the cycle before is the search's"),
            arriving: Reg::bit(false, "what arrives is the search's"),
            looking: Reg::bit(false, "samples is the search's"),
            bin: Reg::bits(
                shape.index(),
                0,
                "the bin that was read, or one of the group",
            ),
            bin_group: Signal::bits(shape.group, "its group"),
            bin_place: Signal::bits(shape.place, "its place in it"),
            samples: Reg::bits(rest - 1, 0, "samples in what was read"),
            left: Reg::bits(
                left,
                0,
                match shape.fraction {
                    0 => "budget left after the bins passed".to_string(),
                    bits => format!("budget left after the bins passed, in 1/{}", 1 << bits),
                },
            ),
            rest: Signal::bits(rest, "what they leave of the budget"),
            exceeds: Signal::bit("they exceed it"),
            borrow: amount(rest - 1, "the bit that says so"),
            top_group: Constant::bits(
                shape.group,
                u128::from(shape.top_bin >> shape.place),
                "highest group in use",
            ),
            found: Reg::bits(found, 0, "the bin found"),
            above: Reg::bit(false, "the answer is the bin above it"),
            index: Signal::bits(index, "the answer, the number of bins if none will do"),
            threshold: Signal::bits(time, "its middle, at most the longest threshold"),
            logarithmic: Constant::bit(logarithmic, "the scale is logarithmic"),
            halves: Constant::bit(histogram.bin_shift > 0, "a bin is longer than a tick"),
            half: Constant::bits(middle, span / 2, "half a bin"),
            octave: Signal::bits(index, "its octave, counted from 1; 0: the lowest bins"),
            exponent: Signal::bits(exponent, "log2 of the ticks in it"),
            low: Signal::bits(index, "its lowest unit, in units of its width"),
            odd: Signal::bits(middle, "twice that, and one"),
            mantissa: Constant::bits(
                index,
                (1u128 << mantissa_bits) - 1,
                "the bits of an index that tell the place in an octave",
            ),
            leading: Constant::bits(index, 1u128 << mantissa_bits, "the bit above them"),
            twice_middle: Signal::bits(middle, "twice its middle, in ticks"),
            mantissa_bits: amount(mantissa_bits, "log2 of the bins in an octave"),
            one: amount(1, "one"),
            never_from: Constant::bits(
                index,
                u128::from(shape.top_bin) + u128::from(!clamps),
                "from this bin on, the middle is not below the longest threshold",
            ),
            max_value: Constant::bits(
                time,
                histogram.max_value.into(),
                "longest threshold, in ticks",
            ),
            update_now: Reg::bit(false, "t_pb, window and budget are new"),
            threshold_now: Reg::bits(time, plan.t_pdt_init.into(), "the threshold"),
            window_now: Reg::bits(time, 0, "window of the search"),
            budget_now: Reg::bits(budget, 0, "budget of the search"),
            bin_shift: amount(
                histogram.bin_shift,
                match logarithmic {
                    true => "log2 of the ticks in the lowest bin",
                    false => "log2 of the ticks in a bin",
                },
            ),
            place_bits: amount(shape.place, "bits of a bin's place in its group"),
            weight_bits: amount(shape.fraction, "fraction bits of what is left"),
            top_place: Constant::bits(
                shape.place,
                u128::from(shape.group_size()) - 1,
                "highest place in a group",
            ),
            _budget_bits: budget as usize,
            _digit: digit as usize,
            _window_bits: window as usize,
            _product_bits: product as usize,
            _left_bits: left as usize,
            _samples_bits: rest as usize - 1,
            _rest_bits: rest as usize,
            _found_bits: found as usize,
            _group_bits: shape.group as usize,
            _place_bits: shape.place as usize,
            _index_bits: index as usize,
            _exponent_bits: exponent as usize,
            _middle_bits: middle as usize,
            _time_bits: time as usize,
        }
    }
}

/// Bits of a constant rate.
fn product_bits(k: u128) -> u32 {
    (128 - k.leading_zeros()).max(1)
}

impl Logic for PerfBound {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clk,
            credit,
            credit_part,
            digits_left,
            multiplicand,
            product,
            rate_taken,
            state,
            pending,
            group,
            place,
            reading,
            arriving,
            looking,
            bin,
            samples,
            left,
            found,
            above,
            update_now,
            threshold_now,
            window_now,
            budget_now
        );

        if self.accumulates.val() {
            comment!("The budget l / t_w * X as a whole number and a fraction, both exact.");
            if self.fractional.val() {
                self.carry.next = !self.credit_part.q.val().get_bit(self.part_sign.val());
                if self.carry.val() {
                    self.part_step.next = self.part_after_carry.val();
                } else {
                    self.part_step.next = self.gain_part.val();
                }
                if self.window_step.val() {
                    self.credit_part.d.next = self.credit_part.q.val() + self.part_step.val();
                }
            } else {
                self.carry.next = false;
            }
            if self.window_step.val() {
                self.credit.d.next = self.credit.q.val()
                    + self.gain.val()
                    + bit_cast(self.carry.val(), self._budget_bits);
            }
            if self.clears.val() {
                if self.cleared.val() {
                    self.credit.d.next = 0.into();
                    self.credit_part.d.next = self.no_credit.val();
                }
            }
        } else {
            comment!(
                "The window times l / t_w, a digit of the window per cycle, the highest first."
            );
            if self.adjustable.val() {
                self.factor.next = bit_cast(self.rate_taken.q.val(), self._product_bits);
            } else {
                self.factor.next = self.fixed_rate.val();
            }
            self.next_product.next = (self.product.q.val() << self.digit_bits.val())
                + (self.factor.val()
                    * bit_cast(
                        self.multiplicand.q.val() >> self.lower_digits.val(),
                        self._product_bits,
                    ));
            self.multiplied.next = bit_cast(
                self.next_product.val() >> self.rate_fraction.val(),
                self._budget_bits,
            );
        }

        if self.reads.val() {
            if self.readable.val() {
                self.searches.next =
                    (self.state.q.val() == Search::Groups) | (self.state.q.val() == Search::Bins);
            }
            self.read_group.next = self.group.q.val();
            self.read_place.next = self.place.q.val();
            self.arriving.d.next = self.reading.q.val();
            self.looking.d.next = self.arriving.q.val();
            self.bin.d.next = self.arrived.val();
            if self.state.q.val() == Search::Groups {
                self.samples.d.next = bit_cast(self.group_sum.val(), self._samples_bits);
            } else {
                self.samples.d.next = bit_cast(self.bin_count.val(), self._samples_bits);
            }
            self.bin_group.next =
                bit_cast(self.bin.q.val() >> self.place_bits.val(), self._group_bits);
            self.bin_place.next = bit_cast(self.bin.q.val(), self._place_bits);
            self.rest.next = bit_cast(self.left.q.val(), self._rest_bits)
                - bit_cast(self.samples.q.val(), self._rest_bits);
            self.exceeds.next = self.rest.val().get_bit(self.borrow.val());
        }

        self.index.next = bit_cast(self.found.q.val(), self._index_bits)
            + bit_cast(self.above.q.val(), self._index_bits);
        if self.logarithmic.val() {
            comment!("A bin of an octave begins at its mantissa, a one on top, times its width.");
            self.octave.next = self.index.val() >> self.mantissa_bits.val();
            if self.octave.val() == 0 {
                self.exponent.next = bit_cast(self.bin_shift.val(), self._exponent_bits);
            } else {
                self.exponent.next = bit_cast(self.octave.val(), self._exponent_bits)
                    + bit_cast(self.bin_shift.val(), self._exponent_bits)
                    - 1;
            }
            self.low.next = self.index.val() & self.mantissa.val();
            if self.octave.val() > 0 {
                self.low.next = (self.index.val() & self.mantissa.val()) | self.leading.val();
            }
            self.odd.next = (bit_cast(self.low.val(), self._middle_bits) << self.one.val()) | 1;
            self.twice_middle.next = self.odd.val() << self.exponent.val();
            self.threshold.next =
                bit_cast(self.twice_middle.val() >> self.one.val(), self._time_bits);
        } else {
            self.threshold.next = bit_cast(
                bit_cast(self.index.val(), self._middle_bits) << self.bin_shift.val(),
                self._time_bits,
            );
            if self.halves.val() {
                self.threshold.next = bit_cast(
                    (bit_cast(self.index.val(), self._middle_bits) << self.bin_shift.val())
                        | self.half.val(),
                    self._time_bits,
                );
            }
        }
        if self.index.val() >= self.never_from.val() {
            self.threshold.next = self.max_value.val();
        }

        if self.reads.val() {
            comment!(
                "What the search goes by follows the state alone: whether samples fit is known"
            );
            comment!("late in a cycle.");
            if self.state.q.val() == Search::Bins {
                if !self.taken.val() {
                    self.place.d.next = self.place.q.val() - 1;
                }
                if self.looking.q.val() {
                    self.found.d.next = self.bin.q.val();
                    self.above.d.next = self.exceeds.val();
                }
            } else {
                self.place.d.next = self.top_place.val();
            }
            if self.state.q.val() == Search::Groups {
                self.found.d.next = 0.into();
                self.above.d.next = false;
            }
            if (self.state.q.val() == Search::Groups) | (self.state.q.val() == Search::Bins) {
                if self.looking.q.val() & !self.exceeds.val() {
                    self.left.d.next = bit_cast(self.rest.val(), self._left_bits);
                }
            } else if self.accumulates.val() {
                self.left.d.next = bit_cast(self.credit.q.val(), self._left_bits);
            } else {
                self.left.d.next =
                    bit_cast(self.multiplied.val(), self._left_bits) << self.weight_bits.val();
            }
        }

        self.reading.d.next = false;
        self.update_now.d.next = false;
        match self.state.q.val() {
            Search::Idle => {
                if self.pending.q.val() {
                    self.pending.d.next = false;
                    self.window_now.d.next = self.live_window.val();
                    if self.reads.val() {
                        self.group.d.next = self.top_group.val();
                    }
                    if self.accumulates.val() {
                        self.budget_now.d.next = self.credit.q.val();
                        if self.reads.val() {
                            self.state.d.next = Search::Groups;
                        } else {
                            self.state.d.next = Search::Entries;
                        }
                    } else {
                        self.state.d.next = Search::Multiply;
                        self.digits_left.d.next = self.last_digit.val();
                        self.multiplicand.d.next =
                            bit_cast(self.live_window.val(), self._window_bits);
                        self.product.d.next = 0.into();
                        if self.adjustable.val() {
                            self.rate_taken.d.next = self.rate.val();
                        }
                    }
                }
            }
            Search::Multiply => {
                if self.accumulates.val() {
                    comment!("Not used in this configuration.");
                    self.state.d.next = Search::Idle;
                } else {
                    self.digits_left.d.next = self.digits_left.q.val() - 1;
                    self.multiplicand.d.next = self.multiplicand.q.val() << self.digit_bits.val();
                    self.product.d.next = self.next_product.val();
                    if self.digits_left.q.val() == 0 {
                        self.budget_now.d.next = self.multiplied.val();
                        if self.reads.val() {
                            self.state.d.next = Search::Groups;
                        } else {
                            self.state.d.next = Search::Entries;
                        }
                    }
                }
            }
            Search::Groups => {
                if self.reads.val() {
                    if self.looking.q.val() & self.exceeds.val() {
                        comment!("What was read since is not needed.");
                        self.state.d.next = Search::Bins;
                        self.arriving.d.next = false;
                        self.looking.d.next = false;
                        self.group.d.next = self.bin_group.val();
                    } else if self.looking.q.val() & (self.bin_group.val() == 0) {
                        comment!("All samples fit: even the lowest bin will do.");
                        self.state.d.next = Search::Finish;
                        self.arriving.d.next = false;
                        self.looking.d.next = false;
                    } else if !self.taken.val() {
                        self.reading.d.next = true;
                        self.group.d.next = self.group.q.val() - 1;
                    }
                } else {
                    comment!("Not used in this configuration.");
                    self.state.d.next = Search::Idle;
                }
            }
            Search::Bins => {
                if self.reads.val() {
                    comment!(
                        "The group exceeds the budget: if its other bins fit, the lowest does not."
                    );
                    if self.looking.q.val() & (self.exceeds.val() | (self.bin_place.val() == 1)) {
                        self.state.d.next = Search::Finish;
                        self.arriving.d.next = false;
                        self.looking.d.next = false;
                    } else if !self.taken.val() {
                        self.reading.d.next = true;
                    }
                } else {
                    comment!("Not used in this configuration.");
                    self.state.d.next = Search::Idle;
                }
            }
            Search::Entries => {
                if self.reads.val() {
                    comment!("Not used in this configuration.");
                    self.state.d.next = Search::Idle;
                } else {
                    self.state.d.next = Search::Finish;
                    self.found.d.next = self.map_found.val();
                    self.above.d.next = false;
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
        if self.ended.val() {
            self.pending.d.next = true;
        }
        if self.clears.val() {
            comment!("A sample that clears is alone in the histogram, with a budget of 0: the bin");
            comment!("above it is the answer. It replaces whatever search is under way.");
            if self.cleared.val() {
                self.state.d.next = Search::Finish;
                self.pending.d.next = false;
                self.reading.d.next = false;
                self.arriving.d.next = false;
                self.looking.d.next = false;
                self.update_now.d.next = false;
                self.threshold_now.d.next = self.threshold_now.q.val();
                self.found.d.next = bit_cast(self.sample_bin.val(), self._found_bits);
                self.above.d.next = true;
                self.window_now.d.next = 0.into();
                self.budget_now.d.next = 0.into();
            }
        }

        if self.halves_counts.val() {
            comment!("Counters and window are halved: a search under way began before, and begins");
            comment!("anew.");
            if self.halved.val() {
                self.state.d.next = Search::Idle;
                self.pending.d.next = true;
                self.reading.d.next = false;
                self.arriving.d.next = false;
                self.looking.d.next = false;
                self.update_now.d.next = false;
                self.threshold_now.d.next = self.threshold_now.q.val();
                self.window_now.d.next = self.window_now.q.val();
                self.budget_now.d.next = self.budget_now.q.val();
            }
        }

        self.update.next = self.update_now.q.val();
        self.t_pb.next = self.threshold_now.q.val();
        self.window.next = self.window_now.q.val();
        self.budget.next = self.budget_now.q.val();
    }
}
