//! The history of misses and their ratios (SPEC 8).

pub mod golden;
mod outcomes;
#[cfg(test)]
pub(crate) mod tests;

use self::outcomes::Outcomes;
use crate::blocks::fixed_point::{Arithmetic, ARRIVAL_CYCLES};
use crate::blocks::logarithm::{self, Logarithm};
use crate::blocks::memory_code;
use crate::config::plan::PortPlan;
use crate::hdl::prelude::*;

/// The longest history that is a register; a longer one is a memory.
pub const LONGEST_REGISTER: u32 = 128;

/// Samples are under way for so many cycles: through the logarithm, the difference, and
/// two steps of the sum.
pub const STAGES: u32 = logarithm::LATENCY as u32 + 2;

// The sum is new in the cycle after the last stage.
const _: () = assert!(STAGES as u64 + 1 == ARRIVAL_CYCLES);

block! {
    /// Remembers which of the last `n_R` idle periods were misses, and of each miss by how much
    /// the period exceeded the threshold (SPEC 8, PerfBound 3.4). Takes an idle period every second
    /// cycle for ever.
    pub struct MissHistory(clk, rst);

    /// The history of `plan`.
    pub fn new(plan: &PortPlan) {
        let numbers = Arithmetic::new(plan);
        let history = numbers.history;
        let long = history > LONGEST_REGISTER;
        let outcomes = if long { 1 } else { history };
        let places = history.max(2);
        let address = clog2(places.into());
        let logarithm = numbers.exponent_bits + 1 + numbers.fraction;
        let ratio = numbers.ratio_bits();
        let count = numbers.count_bits();
        let code = memory_code(plan);
    }

    about(
        "miss_history",
        format!(
            "The last {history} idle periods: which of them were misses, and the sum over the\n\
             misses of log2(t_inac / t_pdt).\n\
             \n\
             One logarithm serves both times: while the port is idle the threshold in force\n\
             goes in, and when the idle period has ended its length; the cycle before that\n\
             is always idle. {STAGES} cycles later the oldest idle period is taken out and,\n\
             one cycle after that, the new one added. A ratio is stored with\n\
             2^{} added to its logarithm, so that it is positive.",
            numbers.exponent_bits
        ),
    )

    {
        pub in ended: Bit("an idle period ends"),
        pub in miss: Bit("the link left wake in it"),
        pub in ticks: Bits(plan.time_width, "its length"),
        pub in t_pdt_in_force: Bits(plan.time_width, "threshold that governed it"),
        pub out sum: Bits(numbers.sum_bits(), "sum of the stored ratios"),
        pub out misses: Bits(count, "number of them"),
        pub out under_way: Bits(
            STAGES, "idle periods that sum and misses do not cover yet, the youngest lowest"
        ),
        pub out memory_upset: Bits(2, "wrong bits in the words read: 1, put right; 2, not") if code.is_some(),
        choice coded(code.is_some()), // the memories have a code
        child logarithm: Logarithm(plan),
        constant upper_from: Number(
            logarithm::upper_from(plan), "lowest of the upper half of a time's bits"
        ),
        // What goes with the values through the logarithm.
        pub reg samples: Bits(STAGES, 0, "idle periods under way"),
        pub reg missed: Bits(STAGES, 0, "which of them were misses"),
        reg before: Bits(logarithm, 0, "logarithm of the threshold that governed it"),
        constant subtract_at: Number(STAGES - 3, "stage in which both logarithms stand"),
        constant take_at: Number(STAGES - 2, "stage in which the ratio stands"),
        constant add_at: Number(STAGES - 1, "last stage"),
        local subtracting: Bit("the ratio is computed"),
        local taking: Bit("the oldest idle period is taken out"),
        local adding: Bit("the new one is added"),
        reg ratio: Bits(ratio, 0, "logarithm of the ratio of the two"),
        constant guard: Number(
            numbers.fraction - numbers.ratio_fraction, "fraction bits that are not stored"
        ),
        constant bias: Bits(
            ratio,
            1 << (numbers.exponent_bits + numbers.ratio_fraction),
            "added to a stored logarithm",
        ),
        // The outcomes, and the ratios of the misses among them.
        choice long(long), // the outcomes are a memory
        reg outcomes: Bits(outcomes, 0, "1 is a miss; the oldest is highest"),
        child long_outcomes: Outcomes(history.max(2), code) if long,
        constant oldest_at: Number(outcomes - 1, "place of the oldest outcome"),
        local oldest: Bit("the oldest idle period was a miss"),
        memory ratios: Memory(places as usize, ratio, code, "the ratios of the misses"),
        reg head: Bits(address, 0, "place of the oldest ratio"),
        reg tail: Bits(address, 0, "place of the next ratio"),
        // The last place is not the last address.
        choice wraps(!history.is_power_of_two() || history == 1),
        constant last_place: Bits(address, u128::from(history) - 1, "last place"),
        local addend: Bits(
            numbers.sum_bits() + 1, "added to the sum, with a bit below for the carry"
        ),
        local change: Bits(count, "added to the number of misses"),
        constant minus_one: Bits(count, (1 << count) - 1, "-1"),
        reg sum_now: Bits(numbers.sum_bits(), 0, "sum of the ratios"),
        reg misses_now: Bits(count, 0, "number of misses"),
    }
}

impl Logic for MissHistory {
    #[hdl_gen]
    fn update(&mut self) {
        self.samples.d.next =
            (self.samples.q.val() << 1) | bit_cast(self.ended.val(), &self.samples);
        self.missed.d.next =
            (self.missed.q.val() << 1) | bit_cast(self.ended.val() & self.miss.val(), &self.missed);
        self.subtracting.next = self.samples.q.val().get_bit(self.subtract_at.val());
        self.taking.next = self.samples.q.val().get_bit(self.take_at.val());
        self.adding.next = self.missed.q.val().get_bit(self.add_at.val());
        self.under_way.next = self.samples.q.val();

        if self.ended.val() {
            self.logarithm.value.next = self.ticks.val();
            self.logarithm.upper.next = (self.ticks.val() >> self.upper_from.val()).any();
        } else {
            self.logarithm.value.next = self.t_pdt_in_force.val();
            self.logarithm.upper.next = (self.t_pdt_in_force.val() >> self.upper_from.val()).any();
        }
        self.before.d.next = self.logarithm.logarithm.val();
        if self.subtracting.val() {
            self.ratio.d.next = bit_cast(
                (self.logarithm.logarithm.val() - self.before.q.val()) >> self.guard.val(),
                &self.ratio,
            ) + self.bias.val();
        }

        if self.long {
            self.long_outcomes.shift.next = self.taking.val();
            self.long_outcomes.miss.next = self.missed.q.val().get_bit(self.take_at.val());
            self.oldest.next = self.taking.val() & self.long_outcomes.oldest.val();
        } else {
            if self.taking.val() {
                self.outcomes.d.next = (self.outcomes.q.val() << 1)
                    | bit_cast(
                        self.missed.q.val().get_bit(self.take_at.val()),
                        &self.outcomes,
                    );
            }
            self.oldest.next =
                self.taking.val() & self.outcomes.q.val().get_bit(self.oldest_at.val());
        }

        comment!("A ratio is written while the oldest is read, which may have the same place.");
        self.ratios.read_address.next = self.head.q.val();
        self.ratios.write_enable.next = self.missed.q.val().get_bit(self.take_at.val());
        self.ratios.write_address.next = self.tail.q.val();
        self.ratios.write_data.next = self.ratio.q.val();
        if self.oldest.val() {
            self.head.d.next = self.head.q.val() + 1;
        }
        if self.missed.q.val().get_bit(self.take_at.val()) {
            self.tail.d.next = self.tail.q.val() + 1;
        }
        if self.wraps {
            if self.oldest.val() & (self.head.q.val() == self.last_place.val()) {
                self.head.d.next = 0.into();
            }
            if self.missed.q.val().get_bit(self.take_at.val())
                & (self.tail.q.val() == self.last_place.val())
            {
                self.tail.d.next = 0.into();
            }
        }

        comment!("One adder takes out and adds: a - b is a + ~b + 1, and two 1s below carry.");
        if self.oldest.val() {
            self.addend.next = (!bit_cast(self.ratios.read_data.val(), &self.addend) << 1) | 1;
            self.change.next = self.minus_one.val();
        } else {
            self.addend.next = bit_cast(self.ratio.q.val(), &self.addend) << 1;
            self.change.next = 1.into();
        }
        if self.oldest.val() | self.adding.val() {
            self.sum_now.d.next = bit_cast(
                (((bit_cast(self.sum_now.q.val(), &self.addend) << 1) | 1) + self.addend.val())
                    >> 1,
                &self.sum_now,
            );
            self.misses_now.d.next = self.misses_now.q.val() + self.change.val();
        }
        self.sum.next = self.sum_now.q.val();
        self.misses.next = self.misses_now.q.val();
        if self.coded {
            comment!("A ratio that is taken out was written before it was read.");
            self.ratios.read_valid.next = self.oldest.val();
            if self.long {
                self.memory_upset.next =
                    self.ratios.upset.val() | self.long_outcomes.memory_upset.val();
            } else {
                self.memory_upset.next = self.ratios.upset.val();
            }
        }
    }
}
