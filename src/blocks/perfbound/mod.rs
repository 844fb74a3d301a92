//! The PerfBound search (SPEC 7): the order in which the histogram is read is here, and what is
//! done with it in the sections.

mod budget;
mod claimed;
mod claims;
pub mod golden;
mod latency;
mod middle;
mod reading;
mod state;
#[cfg(test)]
mod tests;

use self::budget::{rate_width, AccumulatedBudget, MultipliedBudget};
use self::claims::{AccumulatedClaims, MultipliedClaims, SearchClaims};
pub use self::latency::{halving_delay, update_interval_at_line_rate, update_latency};
use self::middle::{index_width, Middle};
use self::reading::Reading;
use self::state::Search;
use crate::blocks::histogram::{map, Shape};
use crate::config::plan::{HistogramKind, PortPlan};
use crate::hdl::prelude::*;

block! {
    /// Finds the threshold `t_PB` after each sample: the middle of the lowest bin such that
    /// the samples in it and above are at most the packets that may be delayed (SPEC 7,
    /// PerfBound 2.4).
    pub struct PerfBound(clk, rst);

    /// The search of `plan`.
    pub fn new(plan: &PortPlan) {
        let histogram = &plan.histogram;
        let shape = Shape::of(plan);
        let time = plan.time_width;
        let budget = plan.budget.width;
        let maps = histogram.kind == HistogramKind::Map;
        let clears = histogram.kind.clears();
        let halves_counts = histogram.kind == HistogramKind::Regular;
        let accumulates = plan.budget.product.is_none();
        let adjustable = plan.budget.rate.is_some();
        let rate_fraction = plan.budget.product.map_or(0, |product| product.s);
        let readable = plan.registers.is_some() && plan.reads_bins();
        // A map tells the bin above the one that exceeds the budget.
        let found = if maps { map::Shape::of(plan).entry.key } else { shape.index() };
    }

    about(
        "perfbound",
        if maps {
                "Finds the power-down threshold: the middle of the lowest bin such that the\n\
         samples in it and above are at most the budget, the packets that may be\n\
         delayed in the window of the histogram.\n\
         \n\
         The map tells the bin two cycles after it was given the budget."
            } else {
                "Finds the power-down threshold: the middle of the lowest bin such that the\n\
         samples in it and above are at most the budget, the packets that may be\n\
         delayed in the window of the histogram.\n\
         \n\
         One word is read per cycle, from the highest group down, until a group does\n\
         not fit into what is left of the budget; then the bins of that group, from\n\
         the highest down. Samples that come during a search are covered by the next."
            },
    )

    {
        pub in ended: Bit("a sample is recorded"),
        pub in cleared: Bit("that sample clears the histogram") if clears,
        pub in sample_bin: Bits(shape.index(), "bin of that sample") if clears,
        pub in halved: Bit("counters and window are halved before that sample") if halves_counts,
        pub in rate: Bits(
            rate_width(plan),
            format!("packets that a tick of the window allows to delay, times 2^{rate_fraction}"),
        ) if adjustable,
        pub in live_window: Bits(time, "window of the histogram, in ticks"),
        pub in window_step: Bit("the window grows by a tick") if accumulates,
        pub in taken: Bit("what is read in this cycle is not for the search") if !maps,
        pub in group_sum: Bits(
            shape.weighed_sum(), "samples in the group read two cycles before"
        ) if !maps,
        pub in bin_count: Bits(
            shape.weighed_count(), "samples in the bin read two cycles before"
        ) if !maps,
        pub in arrived: Bits(shape.index(), "that bin") if !maps,
        pub out read_group: Bits(
            shape.group, "group to read, or group of the bin to read"
        ) if !maps,
        pub out read_place: Bits(shape.place, "place in the group of the bin to read") if !maps,
        pub out searches: Bit("the search may read in this cycle") if readable,
        pub in map_found: Bits(found, "bin found for the budget") if maps,
        pub out update: Bit("t_pb, window and budget are new"),
        pub out t_pb: Bits(time, "threshold, in ticks"),
        pub out window: Bits(time, "window that t_pb was computed for, in ticks"),
        pub out budget: Bits(budget, "packets that may be delayed in it"),
        choice clears(clears), // the histogram is cleared from time to time
        choice halves_counts(halves_counts), // the counters are halved
        choice reads(!maps), // the histogram is read word by word
        choice accumulates(accumulates), // the window only grows
        section accumulated: AccumulatedBudget(plan) if accumulates,
        choice adjustable(adjustable), // the rate changes at run time
        choice readable(readable), // software reads the bins too
        section computed: MultipliedBudget(plan) if !accumulates,
        // The search.
        reg state: Search(Search::Idle, "where the search stands"),
        reg pending: Bit(false, "a sample came that no search covers yet"),
        reg group: Bits(shape.group, 0, "next group to read, or group of the bins"),
        reg place: Bits(shape.place, 0, "next bin of the group to read"),
        reg reading: Bit(false, "what was read the cycle before is the search's"),
        reg arriving: Bit(false, "what arrives is the search's"),
        reg looking: Bit(false, "samples is the search's"),
        section read: Reading(plan) if !maps,
        reg compared: Bit(false, "the entries of the map compared the cycle before") if maps,
        constant top_group: Bits(
            shape.group, u128::from(shape.top_bin >> shape.place), "highest group in use"
        ),
        // The answer.
        reg found: Bits(found, 0, "the bin found"),
        reg above: Bit(false, "the answer is the bin above it"),
        local index: Bits(index_width(plan), "the answer, the number of bins if none will do"),
        section middle: Middle(plan),
        reg update_now: Bit(false, "t_pb, window and budget are new"),
        pub reg threshold_now: Bits(time, plan.t_pdt_init.into(), "the threshold"),
        reg window_now: Bits(time, 0, "window of the search"),
        reg budget_now: Bits(budget, 0, "budget of the search"),
        constant place_bits: Number(shape.place, "bits of a bin's place in its group"),
        constant weight_bits: Number(shape.fraction, "fraction bits of what is left"),
        constant top_place: Bits(
            shape.place, u128::from(shape.group_size()) - 1, "highest place in a group"
        ),
        // For the proofs (docs/evidence/proofs.md).
        section search_claims: SearchClaims(plan),
        choice tells_exactness(claims::tells_exactness(plan)), // the numbers fit a claim
        section accumulated_claims: AccumulatedClaims(plan) if claims::tells_exactness(plan),
        choice tells_product(claims::tells_product(plan)), // these numbers fit a claim
        section computed_claims: MultipliedClaims(plan) if claims::tells_product(plan),
        local starts: Bit("a search begins"),
        local multiplies: Bit("it multiplies"),
    }
}
pieces! {
    impl Logic for PerfBound {
        Allowance,
        Reads,
        Answer,
        Comparison,
        States,
        Samples,
        Outputs,
        ForSearchClaims,
        ForAccumulatedClaims,
        ForMultipliedClaims,
    }
}

/// What an accumulated budget goes by.
impl Piece<Allowance> for PerfBound {
    #[hdl_gen]
    fn update(&mut self) {
        if self.accumulates {
            self.accumulated.window_step.next = self.window_step.val();
            if self.clears {
                self.accumulated.cleared.next = self.cleared.val();
            }
            if self.accumulated.in_steps {
                self.accumulated.live_window.next = self.live_window.val();
                self.accumulated.ended.next = self.ended.val();
                self.accumulated.pending.next = self.pending.q.val();
            }
        }
    }
}

/// What is read of the histogram, and when it arrives.
impl Piece<Reads> for PerfBound {
    #[hdl_gen]
    fn update(&mut self) {
        if self.reads {
            if self.readable {
                self.searches.next =
                    (self.state.q.val() == Search::Groups) | (self.state.q.val() == Search::Bins);
            }
            self.read_group.next = self.group.q.val();
            self.read_place.next = self.place.q.val();
            self.arriving.d.next = self.reading.q.val();
            self.looking.d.next = self.arriving.q.val();
            self.read.state.next = self.state.q.val();
            self.read.group_sum.next = self.group_sum.val();
            self.read.bin_count.next = self.bin_count.val();
            self.read.arrived.next = self.arrived.val();
            self.read.place_bits.next = self.place_bits.val();
        }
    }
}

/// The threshold of the bin found.
impl Piece<Answer> for PerfBound {
    #[hdl_gen]
    fn update(&mut self) {
        self.index.next =
            bit_cast(self.found.q.val(), &self.index) + bit_cast(self.above.q.val(), &self.index);
        self.middle.index.next = self.index.val();
    }
}

/// What a search that reads goes by: the next bin, the answer so far, and what is left of the budget.
impl Piece<Comparison> for PerfBound {
    #[hdl_gen]
    fn update(&mut self) {
        if self.reads {
            comment!(
                "What the search goes by follows the state alone: whether samples fit is known"
            );
            comment!("late in a cycle.");
            if self.state.q.val() == Search::Bins {
                if !self.taken.val() {
                    self.place.d.next = self.place.q.val() - 1;
                }
                self.found.d.next = self.read.bin.q.val();
                self.above.d.next = self.read.exceeds.val();
            } else {
                self.place.d.next = self.top_place.val();
            }
            if (self.state.q.val() == Search::Groups) | (self.state.q.val() == Search::Bins) {
                if self.looking.q.val() & !self.read.exceeds.val() {
                    self.read.left.d.next = bit_cast(self.read.rest.val(), &self.read.left);
                }
            } else if self.accumulates {
                self.read.left.d.next = bit_cast(self.accumulated.credit.q.val(), &self.read.left);
            } else {
                self.read.left.d.next = bit_cast(self.computed.multiplied.val(), &self.read.left)
                    << self.weight_bits.val();
            }
        }
    }
}

/// The states of a search.
impl Piece<States> for PerfBound {
    #[hdl_gen]
    fn update(&mut self) {
        self.reading.d.next = false;
        self.update_now.d.next = false;
        match self.state.q.val() {
            Search::Idle => {
                if self.reads {
                    self.group.d.next = self.top_group.val();
                    self.found.d.next = 0.into();
                    self.above.d.next = false;
                }
                if self.pending.q.val() {
                    self.pending.d.next = false;
                    self.window_now.d.next = self.live_window.val();
                    if self.accumulates {
                        self.budget_now.d.next = self.accumulated.credit.q.val();
                        if self.reads {
                            self.state.d.next = Search::Groups;
                        } else {
                            self.state.d.next = Search::Entries;
                        }
                    } else {
                        self.state.d.next = Search::Multiply;
                        self.computed.steps_left.d.next = self.computed.steps.val();
                        self.computed.multiplier.d.next =
                            bit_cast(self.live_window.val(), &self.computed.multiplier);
                        self.computed.product.d.next = 0.into();
                        self.computed.carry.d.next = false;
                        if self.adjustable {
                            self.computed.rate_taken.d.next = self.rate.val();
                        }
                    }
                }
            }
            Search::Multiply => {
                if self.accumulates {
                    comment!("Not used in this configuration.");
                    self.state.d.next = Search::Idle;
                } else {
                    if self.computed.steps_left.q.val().any() {
                        self.computed.steps_left.d.next = self.computed.steps_left.q.val() - 1;
                        self.computed.multiplier.d.next =
                            self.computed.digit_step.next_multiplier.val();
                        self.computed.product.d.next = self.computed.digit_step.next_product.val();
                        self.computed.carry.d.next = self.computed.digit_step.next_carry.val();
                    } else {
                        self.budget_now.d.next = self.computed.multiplied.val();
                        if self.reads {
                            self.state.d.next = Search::Groups;
                        } else {
                            self.state.d.next = Search::Entries;
                        }
                    }
                }
            }
            Search::Groups => {
                if self.reads {
                    if self.looking.q.val() & self.read.exceeds.val() {
                        comment!("What was read since is not needed.");
                        self.state.d.next = Search::Bins;
                        self.arriving.d.next = false;
                        self.looking.d.next = false;
                        self.group.d.next = self.read.bin_group.val();
                    } else if self.looking.q.val() & (self.read.bin_group.val() == 0) {
                        comment!("All samples fit: even the lowest bin will do.");
                        self.state.d.next = Search::Finish;
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
                if self.reads {
                    comment!(
                        "The group exceeds the budget: if its other bins fit, the lowest does not."
                    );
                    if self.looking.q.val()
                        & (self.read.exceeds.val() | (self.read.bin_place.val() == 1))
                    {
                        self.state.d.next = Search::Finish;
                    } else if !self.taken.val() {
                        self.reading.d.next = true;
                    }
                } else {
                    comment!("Not used in this configuration.");
                    self.state.d.next = Search::Idle;
                }
            }
            Search::Entries => {
                if self.reads {
                    comment!("Not used in this configuration.");
                    self.state.d.next = Search::Idle;
                } else {
                    self.compared.d.next = !self.compared.q.val();
                    if self.compared.q.val() {
                        self.state.d.next = Search::Finish;
                    }
                    self.found.d.next = self.map_found.val();
                    self.above.d.next = false;
                }
            }
            Search::Finish => {
                comment!("What was read for the search and not used is gone before the next.");
                self.state.d.next = Search::Idle;
                self.threshold_now.d.next = self.middle.threshold.val();
                self.update_now.d.next = true;
            }
            _ => {
                self.state.d.next = Search::Idle;
            }
        }
    }
}

/// Samples that come during a search.
impl Piece<Samples> for PerfBound {
    #[hdl_gen]
    fn update(&mut self) {
        if self.ended.val() {
            self.pending.d.next = true;
        }
        if self.clears {
            comment!("A sample that clears is alone in the histogram, with a budget of 0: the bin");
            comment!("above it is the answer. It replaces whatever search is under way.");
            if self.cleared.val() {
                self.state.d.next = Search::Finish;
                self.pending.d.next = false;
                self.reading.d.next = false;
                if !self.reads {
                    self.compared.d.next = false;
                }
                self.update_now.d.next = false;
                self.threshold_now.d.next = self.threshold_now.q.val();
                self.found.d.next = bit_cast(self.sample_bin.val(), &self.found);
                self.above.d.next = true;
                self.window_now.d.next = 0.into();
                self.budget_now.d.next = 0.into();
            }
        }

        if self.halves_counts {
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
    }
}

/// The answer, and what it was computed for.
impl Piece<Outputs> for PerfBound {
    #[hdl_gen]
    fn update(&mut self) {
        self.update.next = self.update_now.q.val();
        self.t_pb.next = self.threshold_now.q.val();
        self.window.next = self.window_now.q.val();
        self.budget.next = self.budget_now.q.val();
    }
}
