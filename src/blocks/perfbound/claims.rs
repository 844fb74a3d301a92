//! What the search promises, and what follows of its state (`docs/evidence/proofs.md`): sections
//! of [`PerfBound`](super::PerfBound) that are no hardware.

use super::budget::rate_width;
use super::latency::window_digits;
use super::state::Search;
use crate::blocks::digit_step::{DIGIT, STEP_BITS};
use crate::blocks::histogram::Shape;
use crate::config::plan::{HistogramKind, PortPlan, Product};
use crate::hdl::prelude::*;
use crate::hdl::MAX_WIDTH;

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
        let step = plan.budget.step_ticks;
    }

    {
        pub in starts: Bit("a search begins"),
        pub in window_step: Bit("the window grows by a tick"),
        pub in cleared: Bit("the histogram is cleared, and with it the window"),
        pub in carry: Bit("the parts make a whole packet"),
        pub in grows: Bit("ticks are added to the budget"),
        pub in whole_step: Bits(budget, "the whole packets of them"),
        pub in behind: Bit("the budget is that of whole steps alone") if step > 1,
        pub in pending: Bit("a sample came that no search covers yet") if step > 1,
        pub in ticks_added: Bits(clog2(u128::from(step) + 1), "ticks that are added if it is behind") if step > 1,
        pub in packets_of_ticks: Bits(budget, "the whole packets of them") if step > 1,
        pub in parts_of_ticks: Bits(
            part, "the part of a packet besides, less that of a tick"
        ) if step > 1 && part_gain > 0,
        pub in live_window: Bits(time, "window of the histogram, in ticks"),
        pub in credit: Bits(budget, "budget of the live window"),
        pub in credit_part: Bits(part, "its part of a packet, less what the next tick carries from"),
        pub in window_now: Bits(time, "window of the search"),
        pub in budget_now: Bits(budget, "budget of the search"),
        choice clears(plan.histogram.kind.clears()), // the histogram is cleared from time to time
        choice fractional(part_gain > 0), // a tick allows no whole number of packets
        choice in_steps(step > 1), // the budget is added up several ticks at a time
        property budget_exact("The budget of a search is l / t_w times its window, rounded down."),
        invariant part_fits("The part of a packet is less than one.") if part_gain > 0,
        invariant credit_exact("The live window allows whole packets and the part of one."),
        invariant never_behind_a_search(
            "No search waits for the budget while that is behind the window."
        ) if step > 1,
        invariant steps_told(
            "The tables hold what the ticks of a step allow: so many times what one does."
        ) if step > 1,
        invariant window_allows("Every tick of the live window allows l / t_w packets."),
        invariant packets_taken("Every packet of the live budget is a whole one."),
        invariant search_allows("The window of a search is one that was live."),
        invariant search_taken("So is its budget."),
        reg allowed: Bits(width, 0, "what the live window allows"),
        reg taken: Bits(width, 0, "what its whole packets are"),
        reg allowed_now: Bits(width, 0, "what the window of the search allows"),
        reg taken_now: Bits(width, 0, "what its whole packets are"),
        local credit_rest: Bits(part, "the part of a packet"),
        local gain_now: Bits(width, "what the whole packets grow by"),
        local ticks_open: Bits(step.ilog2().max(1), "ticks of a step that is not complete") if step > 1,
        local rest_added: Bits(part, "the part of a packet that is added") if step > 1,
        constant tick_part: Bits(part, part_gain, "the part that a tick allows"),
        local open: Bits(width, "what these allow, if the budget is behind"),
        constant no_rest: Bits(
            part, denominator - part_gain, "a whole packet less the part that a tick allows"
        ),
        constant whole_part: Bits(part, denominator, "a whole packet, as wide as a part"),
        constant per_tick: Bits(width, numerator, "l / t_w, in parts of a packet"),
        constant packet: Bits(width, denominator, "a whole packet, in parts"),
    }
}

impl Logic for AccumulatedClaims {
    #[hdl_gen]
    fn update(&mut self) {
        self.credit_rest.next = 0.into();
        self.gain_now.next = bit_cast(self.whole_step.val(), &self.taken) * self.packet.val();
        if self.fractional {
            self.credit_rest.next = self.credit_part.val() + self.no_rest.val();
            self.part_fits.d.next = self.credit_rest.val() < self.whole_part.val();
            if self.carry.val() {
                self.gain_now.next = bit_cast(self.whole_step.val(), &self.taken)
                    * self.packet.val()
                    + self.packet.val();
            }
        }
        self.open.next = 0.into();
        if self.in_steps {
            self.ticks_open.next = bit_cast(self.live_window.val(), &self.ticks_open);
            if self.behind.val() {
                self.open.next = bit_cast(self.ticks_open.val(), &self.taken) * self.per_tick.val();
            }
            self.rest_added.next = 0.into();
            if self.fractional {
                self.rest_added.next = self.parts_of_ticks.val() + self.tick_part.val();
            }
            self.steps_told.d.next = (bit_cast(self.packets_of_ticks.val(), &self.taken)
                * self.packet.val()
                + bit_cast(self.rest_added.val(), &self.taken))
                == (bit_cast(self.ticks_added.val(), &self.taken) * self.per_tick.val());
            self.never_behind_a_search.d.next = !(self.behind.val() & self.pending.val());
        }
        if self.window_step.val() {
            self.allowed.d.next = self.allowed.q.val() + self.per_tick.val();
        }
        if self.grows.val() {
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
        self.credit_exact.d.next =
            (self.taken.q.val() + bit_cast(self.credit_rest.val(), &self.taken) + self.open.val())
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

/// Bits of the numbers that tell whether a multiplied budget is the product.
fn product_bits(plan: &PortPlan) -> u32 {
    rate_width(plan) + DIGIT * window_digits(plan) + DIGIT
}

/// Whether claims about a multiplied budget fit the widest number that there is.
pub fn tells_product(plan: &PortPlan) -> bool {
    plan.budget.product.is_some() && product_bits(plan) <= MAX_WIDTH
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
        let digits = window_digits(plan);
        let multiplier = DIGIT * digits;
        let left = clog2(u128::from(digits) + 1);
        let width = product_bits(plan);
        let step = rate + STEP_BITS;
        let fixed_rate = if adjustable { 0 } else { k };
    }

    {
        pub in multiplies: Bit("it multiplies"),
        pub in cleared: Bit("the histogram is cleared, and with it the window"),
        pub in halved: Bit("counters and window are halved before that sample"),
        pub in rate_taken: Bits(rate, "rate when the multiplication began"),
        pub in steps_left: Bits(left, "digits of the window left to multiply"),
        pub in multiplier: Bits(multiplier, "digits left of the window, above them the product's"),
        pub in carry: Bit("1 more in the lowest of them"),
        pub in product: Bits(rate + 1, "upper part of the product, two's complement"),
        pub in next_multiplier: Bits(multiplier, "the digits left then"),
        pub in next_carry: Bit("1 more in the lowest of them"),
        pub in next_product: Bits(rate + 1, "the product with the digit"),
        pub in window_now: Bits(plan.time_width, "window of the search"),
        pub in budget_now: Bits(budget, "budget of the search"),
        choice clears(plan.histogram.kind.clears()), // the histogram is cleared from time to time
        choice halves_counts(plan.histogram.kind == HistogramKind::Regular), // the counters are halved
        choice adjustable(adjustable), // the rate changes at run time
        property budget_is_product(
            "The budget that comes out is the rate times the window, its fraction cut off."
        ),
        invariant digit_added("A step adds the next digit times the rate, and what is carried to it."),
        invariant digits_of_window("The digits that are left are those of the window."),
        invariant product_of_digits("The product is the rate times the digits so far."),
        local step_rate: Bits(step, "the rate, as wide as a step of the multiplication"),
        local step_from: Bits(step, "the product before it"),
        local step_to: Bits(step, "the product with the digit, and the two bits that it shifts out"),
        local step_digit: Bits(step, "the next digit, and what is carried to it"),
        local step_carried: Bits(step, "the rate times what it carries"),
        constant upper_digits: Number(multiplier - DIGIT, "bits of all digits but one"),
        constant sign_of_step: Bits(step, 0xf << rate, "sign of a negative product before it"),
        constant sign_after_step: Bits(step, 3 << (rate + DIGIT), "sign of a negative product after it"),
        reg sum: Bits(width, 0, "rate times the digits so far, which moves down with the digits"),
        reg budget_then: Bits(budget, 0, "the whole packets of it"),
        local places_taken: Bits(left + 1, "bits of the digits so far"),
        local places_open: Bits(multiplier, "the places of the digits left"),
        local digits_open: Bits(multiplier, "the digits left, of the window"),
        local digit: Bits(width, "the next digit, 0 to 3"),
        local next_sum: Bits(width, "rate times the digits so far, and the next"),
        local carried: Bits(width, "the rate times what the digits so far carry into the next"),
        local told: Bits(width, "the product with its digits left, as wide"),
        constant claimed_rate: Bits(rate, fixed_rate, "the rate"),
        local claimed_factor: Bits(rate, "the rate"),
        local next_place: Bits(width, "the rate in the place of what the digits carry"),
        constant all_digits: Bits(left, digits.into(), "digits of the window"),
        constant all_places: Bits(multiplier, (1 << multiplier) - 1, "their places"),
        constant bits_below: Number(multiplier, "bits of the digits"),
        constant product_sign: Number(rate, "sign of the upper part of the product"),
        constant told_sign: Bits(width, 3 << (width - DIGIT), "sign of a negative product"),
        constant sum_fraction: Number(s, "fraction bits of the rate"),
    }
}

impl Logic for MultipliedClaims {
    #[hdl_gen]
    fn update(&mut self) {
        if self.adjustable {
            self.claimed_factor.next = self.rate_taken.val();
        } else {
            self.claimed_factor.next = self.claimed_rate.val();
        }
        self.step_rate.next = bit_cast(self.claimed_factor.val(), &self.step_rate);
        self.step_from.next = bit_cast(self.product.val(), &self.step_from);
        if self.product.val().get_bit(self.product_sign.val()) {
            self.step_from.next =
                bit_cast(self.product.val(), &self.step_from) | self.sign_of_step.val();
        }
        self.step_to.next = (bit_cast(self.next_product.val(), &self.step_to) << 2)
            | bit_cast(
                self.next_multiplier.val() >> self.upper_digits.val(),
                &self.step_to,
            );
        if self.next_product.val().get_bit(self.product_sign.val()) {
            self.step_to.next = (bit_cast(self.next_product.val(), &self.step_to) << 2)
                | bit_cast(
                    self.next_multiplier.val() >> self.upper_digits.val(),
                    &self.step_to,
                )
                | self.sign_after_step.val();
        }
        self.step_digit.next = bit_cast(bit_cast(self.multiplier.val(), 2), &self.step_digit)
            + bit_cast(self.carry.val(), &self.step_digit);
        self.step_carried.next = 0.into();
        if self.next_carry.val() {
            self.step_carried.next = self.step_rate.val() << 2;
        }
        self.digit_added.d.next = (self.step_to.val() + self.step_carried.val())
            == (self.step_from.val() + self.step_rate.val() * self.step_digit.val());
        self.next_place.next =
            bit_cast(self.claimed_factor.val(), &self.next_place) << self.bits_below.val();
        self.digit.next = bit_cast(bit_cast(self.multiplier.val(), 2), &self.digit);
        self.next_sum.next = self.sum.q.val() + (self.next_place.val() * self.digit.val());
        if self.multiplies.val() {
            self.sum.d.next = self.next_sum.val() >> 2;
            if !self.steps_left.val().any() {
                self.budget_then.d.next = bit_cast(
                    self.sum.q.val() >> self.sum_fraction.val(),
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
        self.places_taken.next = bit_cast(
            self.all_digits.val() - self.steps_left.val(),
            &self.places_taken,
        ) << 1;
        self.places_open.next = self.all_places.val() >> self.places_taken.val();
        self.digits_open.next =
            bit_cast(self.window_now.val(), &self.digits_open) >> self.places_taken.val();
        self.digits_of_window.d.next = !self.multiplies.val()
            | ((self.steps_left.val() <= self.all_digits.val())
                & ((self.multiplier.val() & self.places_open.val()) == self.digits_open.val()));
        self.carried.next = 0.into();
        if self.carry.val() {
            self.carried.next = self.next_place.val();
        }
        self.told.next = (bit_cast(self.product.val(), &self.told) << self.bits_below.val())
            | bit_cast(self.multiplier.val(), &self.told);
        if self.product.val().get_bit(self.product_sign.val()) {
            self.told.next = (bit_cast(self.product.val(), &self.told) << self.bits_below.val())
                | bit_cast(self.multiplier.val(), &self.told)
                | self.told_sign.val();
        }
        comment!("The digits so far are those of the window less what they carry.");
        self.product_of_digits.d.next = !self.multiplies.val()
            | (((self.told.val() + self.carried.val())
                == (self.sum.q.val() + bit_cast(self.digits_open.val(), &self.sum)))
                & !(self.sum.q.val() & bit_cast(self.places_open.val(), &self.sum)).any()
                & (self.steps_left.val().any() | !self.carry.val()));
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
        pub in compared: Bit("the entries of the map compared the cycle before") if !reads,
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
        invariant compared_in_search("The entries of a map compare for a search.") if !reads,
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
        if !self.reads {
            self.compared_in_search.d.next =
                !self.compared.val() | (self.state.val() == Search::Entries);
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
