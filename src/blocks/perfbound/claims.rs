//! What the search promises, and what follows of its state (`docs/evidence/proofs.md`): sections
//! of [`PerfBound`](super::PerfBound) that are no hardware.

use super::budget::rate_width;
use super::state::Search;
use crate::blocks::histogram::Shape;
use crate::config::plan::{HistogramKind, PortPlan, Product};
use crate::hdl::prelude::*;

/// Bits of the numbers that tell whether an accumulated budget is exact: none of them wraps.
fn exact_bits(plan: &PortPlan) -> u32 {
    let budget = plan.budget.width + clog2(plan.budget.denominator);
    budget.max(plan.time_width + clog2(plan.budget.numerator + 1)) + 1
}

/// Whether claims about an accumulated budget fit the widest number that there is.
pub fn tells_exactness(plan: &PortPlan) -> bool {
    plan.budget.product.is_none() && exact_bits(plan) <= 128
}

block! {
    /// That the budget of a window that only grows is exact.
    pub struct AccumulatedClaims;

    /// The claims of `plan`.
    pub fn new(plan: &PortPlan) {
        let time = plan.time_width;
        let budget = plan.budget.width;
        let denominator = plan.budget.denominator;
        let numerator = plan.budget.numerator;
        let part_gain = numerator % denominator;
        let part = clog2(denominator) + 1;
        let width = exact_bits(plan);
    }

    {
        pub in starts: Bit("a search begins"),
        pub in window_step: Bit("the window grows by a tick"),
        pub in cleared: Bit("the histogram is cleared, and with it the window"),
        pub in carry: Bit("the parts make a whole packet"),
        pub in live_window: Bits(time, "window of the histogram, in ticks"),
        pub in credit: Bits(budget, "budget of the live window"),
        pub in credit_part: Bits(part, "its part of a packet, less what the next tick carries from"),
        pub in window_now: Bits(time, "window of the search"),
        pub in budget_now: Bits(budget, "budget of the search"),
        choice clears(plan.histogram.kind.clears()), // the histogram is cleared from time to time
        choice fractional(part_gain > 0), // a tick allows no whole number of packets
        property budget_exact("The budget of a search is l / t_w times its window, rounded down."),
        invariant part_fits("The part of a packet is less than one.") if part_gain > 0,
        invariant credit_exact("The live window allows whole packets and the part of one."),
        invariant window_allows("Every tick of the live window allows l / t_w packets."),
        invariant packets_taken("Every packet of the live budget is a whole one."),
        invariant search_allows("The window of a search is one that was live."),
        invariant search_taken("So is its budget."),
        reg allowed: Bits(width, 0, "what the live window allows"),
        reg taken: Bits(width, 0, "what its whole packets are"),
        reg allowed_now: Bits(width, 0, "what the window of the search allows"),
        reg taken_now: Bits(width, 0, "what its whole packets are"),
        local credit_rest: Bits(part, "the part of a packet"),
        local gain_now: Bits(width, "what the whole packets grow by with a tick"),
        constant no_rest: Bits(
            part, denominator - part_gain, "a whole packet less the part that a tick allows"
        ),
        constant whole_part: Bits(part, denominator, "a whole packet, as wide as a part"),
        constant per_tick: Bits(width, numerator, "l / t_w, in parts of a packet"),
        constant whole_gain: Bits(
            width, numerator - part_gain, "the whole packets of it, in parts of a packet"
        ),
        constant packet: Bits(width, denominator, "a whole packet, in parts"),
    }
}

impl Logic for AccumulatedClaims {
    #[hdl_gen]
    fn update(&mut self) {
        self.credit_rest.next = 0.into();
        self.gain_now.next = self.whole_gain.val();
        if self.fractional {
            self.credit_rest.next = self.credit_part.val() + self.no_rest.val();
            self.part_fits.d.next = self.credit_rest.val() < self.whole_part.val();
            if self.carry.val() {
                self.gain_now.next = self.whole_gain.val() + self.packet.val();
            }
        }
        if self.window_step.val() {
            self.allowed.d.next = self.allowed.q.val() + self.per_tick.val();
            self.taken.d.next = self.taken.q.val() + self.gain_now.val();
        }
        if self.starts.val() {
            self.allowed_now.d.next = self.allowed.q.val();
            self.taken_now.d.next = self.taken.q.val();
        }
        if self.clears {
            if self.cleared.val() {
                self.allowed.d.next = 0.into();
                self.taken.d.next = 0.into();
                self.allowed_now.d.next = 0.into();
                self.taken_now.d.next = 0.into();
            }
        }
        self.credit_exact.d.next = (self.taken.q.val()
            + bit_cast(self.credit_rest.val(), &self.taken))
            == self.allowed.q.val();
        self.window_allows.d.next = (bit_cast(self.live_window.val(), &self.taken)
            * self.per_tick.val())
            == self.allowed.q.val();
        self.packets_taken.d.next =
            (bit_cast(self.credit.val(), &self.taken) * self.packet.val()) == self.taken.q.val();
        self.search_allows.d.next = (bit_cast(self.window_now.val(), &self.taken)
            * self.per_tick.val())
            == self.allowed_now.q.val();
        self.search_taken.d.next = (bit_cast(self.budget_now.val(), &self.taken)
            * self.packet.val())
            == self.taken_now.q.val();
        self.budget_exact.d.next = (self.taken_now.q.val() <= self.allowed_now.q.val())
            & ((self.allowed_now.q.val() - self.taken_now.q.val()) < self.packet.val());
    }
}

block! {
    /// That a budget that is a product is that of the window and the rate.
    pub struct MultipliedClaims;

    /// The claims of `plan`.
    pub fn new(plan: &PortPlan) {
        let budget = plan.budget.width;
        let Product { k, s } = plan.budget.product.unwrap_or(Product { k: 0, s: 0 });
        let adjustable = plan.budget.rate.is_some();
        let rate = rate_width(plan);
        let window = plan.time_width;
        let product = (budget + s).min(128);
        let place = clog2(window.into());
    }

    {
        pub in multiplies: Bit("it multiplies"),
        pub in cleared: Bit("the histogram is cleared, and with it the window"),
        pub in halved: Bit("counters and window are halved before that sample"),
        pub in rate_taken: Bits(rate, "rate when the multiplication began"),
        pub in bits_left: Bits(place, "bits of the window left, less one"),
        pub in multiplicand: Bits(window, "window, the next bit of it on top"),
        pub in product: Bits(product, "rate times the bits so far"),
        pub in window_now: Bits(window, "window of the search"),
        pub in budget_now: Bits(budget, "budget of the search"),
        choice clears(plan.histogram.kind.clears()), // the histogram is cleared from time to time
        choice halves_counts(plan.histogram.kind == HistogramKind::Regular), // the counters are halved
        choice adjustable(adjustable), // the rate changes at run time
        property budget_is_product(
            "The budget that comes out is the rate times the window, its fraction cut off."
        ),
        invariant bits_of_window("The bits that are left are those of the window."),
        invariant product_of_bits("The product is the rate times the bits so far."),
        reg sum: Bits(product, 0, "rate times the bits so far"),
        reg budget_then: Bits(budget, 0, "the whole packets of it"),
        local next_sum: Bits(product, "rate times the bits so far, and the next"),
        local to_come: Bits(window, "window without the bits so far"),
        constant claimed_rate: Bits(product, if adjustable { 0 } else { k }, "the rate"),
        local claimed_factor: Bits(product, "the rate, as wide as the product"),
        constant lower_bits: Number(window - 1, "bits of the window but the highest"),
        constant first_bit: Bits(place, u128::from(window) - 1, "bits of the window, less one"),
        local bits_taken: Bits(place, "the bits so far"),
        constant sum_fraction: Number(s, "fraction bits of the rate"),
    }
}

impl Logic for MultipliedClaims {
    #[hdl_gen]
    fn update(&mut self) {
        if self.adjustable {
            self.claimed_factor.next = bit_cast(self.rate_taken.val(), &self.claimed_factor);
        } else {
            self.claimed_factor.next = self.claimed_rate.val();
        }
        self.next_sum.next = (self.sum.q.val() << 1)
            + (self.claimed_factor.val()
                * bit_cast(self.multiplicand.val() >> self.lower_bits.val(), &self.sum));
        if self.multiplies.val() {
            self.sum.d.next = self.next_sum.val();
            if self.bits_left.val() == 0 {
                self.budget_then.d.next = bit_cast(
                    self.next_sum.val() >> self.sum_fraction.val(),
                    &self.budget_then,
                );
            }
        } else {
            self.sum.d.next = 0.into();
        }
        if self.clears {
            if self.cleared.val() {
                self.budget_then.d.next = 0.into();
            }
        }
        if self.halves_counts {
            if self.halved.val() {
                self.budget_then.d.next = self.budget_then.q.val();
            }
        }
        self.bits_taken.next = self.first_bit.val() - self.bits_left.val();
        self.to_come.next = self.window_now.val() << self.bits_taken.val();
        self.bits_of_window.d.next = !self.multiplies.val()
            | ((self.bits_left.val() <= self.first_bit.val())
                & (self.multiplicand.val() == self.to_come.val()));
        self.product_of_bits.d.next =
            !self.multiplies.val() | (self.product.val() == self.sum.q.val());
        self.budget_is_product.d.next = self.budget_now.val() == self.budget_then.q.val();
    }
}

block! {
    /// In which states the search can be.
    pub struct SearchClaims;

    /// The claims of `plan`.
    pub fn new(plan: &PortPlan) {
        let shape = Shape::of(plan);
        let time = plan.time_width;
        let reads = plan.reads_bins();
        let accumulates = plan.budget.product.is_none();
    }

    {
        pub in state: Search("where the search stands"),
        pub in update_now: Bit("t_pb, window and budget are new"),
        pub in threshold_now: Bits(time, "the threshold"),
        pub in reading: Bit("what was read the cycle before is the search's") if reads,
        pub in arriving: Bit("what arrives is the search's") if reads,
        pub in looking: Bit("samples is the search's") if reads,
        pub in group: Bits(shape.group, "next group to read, or group of the bins") if reads,
        pub in place: Bits(shape.place, "next bin of the group to read") if reads,
        pub in arrived: Bits(shape.index(), "the bin read two cycles before") if reads,
        pub in bin: Bits(shape.index(), "the bin read three cycles before") if reads,
        pub in place_bits: Bits(32, "bits of a bin's place in its group") if reads,
        choice reads(reads), // the histogram is read word by word
        choice accumulates(accumulates), // the window only grows
        property t_pb_in_range(
            "No threshold is longer than h_maxval but that before the first sample."
        ),
        invariant legal_state("The search is in a state that this configuration has."),
        invariant told_at_rest("A threshold comes out when the search is over."),
        invariant reads_in_search(
            "Only a search reads, and what is left on its way at the end is gone before the next."
        ) if reads,
        invariant groups_in_order(
            "What is looked at are the groups from the highest down, as they were read."
        ) if reads,
        invariant bins_in_order(
            "Then the bins of one group from the highest down, as they were read."
        ) if reads,
        local searches_now: Bit("the search reads"),
        local arrived_group: Bits(shape.group, "group of the bin read two cycles before") if reads,
        local looked_group: Bits(shape.group, "of the bin read three cycles before") if reads,
        local group_read: Bits(shape.group, "group read last") if reads,
        local group_arrived: Bits(shape.group, "group of what arrived last") if reads,
        local place_read: Bits(shape.place, "place read last") if reads,
        local place_arrived: Bits(shape.place, "place of what arrived last") if reads,
        constant longest: Bits(time, plan.histogram.max_value.into(), "h_maxval, in ticks"),
        constant before_first: Bits(
            time, plan.t_pdt_init.into(), "the threshold before the first sample"
        ),
    }
}

impl Logic for SearchClaims {
    #[hdl_gen]
    fn update(&mut self) {
        self.t_pb_in_range.d.next = (self.threshold_now.val() <= self.longest.val())
            | (self.threshold_now.val() == self.before_first.val());
        self.searches_now.next =
            (self.state.val() == Search::Groups) | (self.state.val() == Search::Bins);
        self.legal_state.d.next =
            (self.state.val() == Search::Idle) | (self.state.val() == Search::Finish);
        if self.reads {
            if self.searches_now.val() {
                self.legal_state.d.next = true;
            }
        } else if self.state.val() == Search::Entries {
            self.legal_state.d.next = true;
        }
        if !self.accumulates {
            if self.state.val() == Search::Multiply {
                self.legal_state.d.next = true;
            }
        }
        self.told_at_rest.d.next = !self.update_now.val() | (self.state.val() == Search::Idle);
        if self.reads {
            self.reads_in_search.d.next = self.searches_now.val()
                | !(self.reading.val()
                    | (self.arriving.val() & (self.state.val() != Search::Finish))
                    | (self.looking.val() & (self.state.val() == Search::Multiply)));
            self.arrived_group.next = bit_cast(
                self.arrived.val() >> self.place_bits.val(),
                &self.arrived_group,
            );
            self.looked_group.next =
                bit_cast(self.bin.val() >> self.place_bits.val(), &self.looked_group);
            self.group_read.next = self.group.val() + 1;
            self.group_arrived.next =
                self.group_read.val() + bit_cast(self.reading.val(), &self.group_read);
            self.place_read.next = self.place.val() + 1;
            self.place_arrived.next =
                self.place_read.val() + bit_cast(self.reading.val(), &self.place_read);
            if self.state.val() == Search::Groups {
                self.groups_in_order.d.next = (!self.arriving.val()
                    | (self.arrived_group.val() == self.group_arrived.val()))
                    & (!self.looking.val()
                        | (self.looked_group.val()
                            == (self.group_arrived.val()
                                + bit_cast(self.arriving.val(), &self.group_read))));
            }
            if self.state.val() == Search::Bins {
                self.bins_in_order.d.next = (!self.arriving.val()
                    | ((self.arrived_group.val() == self.group.val())
                        & (bit_cast(self.arrived.val(), &self.place_read)
                            == self.place_arrived.val())))
                    & (!self.looking.val()
                        | ((self.looked_group.val() == self.group.val())
                            & (bit_cast(self.bin.val(), &self.place_read)
                                == (self.place_arrived.val()
                                    + bit_cast(self.arriving.val(), &self.place_read)))));
            }
        }
    }
}
