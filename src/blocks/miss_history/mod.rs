//! The history of misses and their ratios (SPEC 8).

pub mod golden;
mod outcomes;
#[cfg(test)]
pub(crate) mod tests;

use self::outcomes::Outcomes;
use crate::blocks::fixed_point::{Arithmetic, ARRIVAL_CYCLES};
use crate::blocks::logarithm::{self, Logarithm};
use crate::config::plan::PortPlan;
use crate::hdl::prelude::*;

/// The longest history that is a register; a longer one is a memory.
const LONGEST_REGISTER: u32 = 128;

/// Samples are under way for so many cycles: through the logarithm, the difference, and
/// two steps of the sum.
pub const STAGES: u32 = logarithm::LATENCY as u32 + 2;

// The sum is new in the cycle after the last stage.
const _: () = assert!(STAGES as u64 + 1 == ARRIVAL_CYCLES);

/// Remembers which of the last `n_R` idle periods were misses, and of each miss by how much
/// the period exceeded the threshold (SPEC 8, p000 3.4). Takes an idle period every second
/// cycle for ever.
#[derive(LogicBlock)]
pub struct MissHistory {
    about: About,
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub ended: Signal<In, Bit>,
    pub miss: Signal<In, Bit>,
    pub ticks: Signal<In, Bits>,
    pub t_pdt_in_force: Signal<In, Bits>,
    pub sum: Signal<Out, Bits>,
    pub misses: Signal<Out, Bits>,
    pub under_way: Signal<Out, Bits>,
    logarithm: Logarithm,
    upper_from: Constant<Bits>,
    // What goes with the values through the logarithm.
    samples: Reg<Bits>,
    missed: Reg<Bits>,
    before: Reg<Bits>,
    subtract_at: Constant<Bits>,
    take_at: Constant<Bits>,
    add_at: Constant<Bits>,
    subtracting: Signal<Local, Bit>,
    taking: Signal<Local, Bit>,
    adding: Signal<Local, Bit>,
    ratio: Reg<Bits>,
    guard: Constant<Bits>,
    bias: Constant<Bits>,
    // The outcomes, and the ratios of the misses among them.
    long: Constant<Bit>,
    outcomes: Reg<Bits>,
    long_outcomes: Optional<Outcomes>,
    oldest_at: Constant<Bits>,
    oldest: Signal<Local, Bit>,
    ratios: Memory,
    head: Reg<Bits>,
    tail: Reg<Bits>,
    wraps: Constant<Bit>,
    last_place: Constant<Bits>,
    addend: Signal<Local, Bits>,
    change: Signal<Local, Bits>,
    minus_one: Constant<Bits>,
    sum_now: Reg<Bits>,
    misses_now: Reg<Bits>,
    _ratio_bits: usize,
    _sum_bits: usize,
    _addend_bits: usize,
    _outcome_bits: usize,
    _stages: usize,
}

impl MissHistory {
    /// The history of `plan`.
    pub fn new(plan: &PortPlan) -> Self {
        let numbers = Arithmetic::new(plan);
        let history = numbers.history;
        let long = history > LONGEST_REGISTER;
        let outcomes = if long { 1 } else { history };
        let places = history.max(2);
        let address = clog2(places.into());
        let logarithm = numbers.exponent_bits + 1 + numbers.fraction;
        let ratio = numbers.ratio_bits();
        let count = numbers.count_bits();
        let amount =
            |value: u32, doc: &str| Constant::bits(clog2(u128::from(value) + 1), value.into(), doc);
        MissHistory {
            about: About::new(
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
            ),
            clk: Signal::clock("clock"),
            rst: Signal::bit("synchronous reset"),
            ended: Signal::bit("an idle period ends"),
            miss: Signal::bit("the link left wake in it"),
            ticks: Signal::bits(plan.time_width, "its length"),
            t_pdt_in_force: Signal::bits(plan.time_width, "threshold that governed it"),
            sum: Signal::bits(numbers.sum_bits(), "sum of the stored ratios"),
            misses: Signal::bits(count, "number of them"),
            under_way: Signal::bits(
                STAGES,
                "idle periods that sum and misses do not cover yet, the youngest lowest",
            ),
            logarithm: Logarithm::new(plan),
            upper_from: amount(
                logarithm::upper_from(plan),
                "lowest of the upper half of a time's bits",
            ),
            samples: Reg::bits(STAGES, 0, "idle periods under way"),
            missed: Reg::bits(STAGES, 0, "which of them were misses"),
            before: Reg::bits(logarithm, 0, "logarithm of the threshold that governed it"),
            subtract_at: amount(STAGES - 3, "stage in which both logarithms stand"),
            take_at: amount(STAGES - 2, "stage in which the ratio stands"),
            add_at: amount(STAGES - 1, "last stage"),
            subtracting: Signal::bit("the ratio is computed"),
            taking: Signal::bit("the oldest idle period is taken out"),
            adding: Signal::bit("the new one is added"),
            ratio: Reg::bits(ratio, 0, "logarithm of the ratio of the two"),
            guard: amount(
                numbers.fraction - numbers.ratio_fraction,
                "fraction bits that are not stored",
            ),
            bias: Constant::bits(
                ratio,
                1 << (numbers.exponent_bits + numbers.ratio_fraction),
                "added to a stored logarithm",
            ),
            long: Constant::bit(long, "the outcomes are a memory"),
            outcomes: Reg::bits(outcomes, 0, "1 is a miss; the oldest is highest"),
            long_outcomes: Optional::when(long, Outcomes::new(history.max(2))),
            oldest_at: amount(outcomes - 1, "place of the oldest outcome"),
            oldest: Signal::bit("the oldest idle period was a miss"),
            ratios: Memory::new(places as usize, ratio, "the ratios of the misses"),
            head: Reg::bits(address, 0, "place of the oldest ratio"),
            tail: Reg::bits(address, 0, "place of the next ratio"),
            wraps: Constant::bit(
                !history.is_power_of_two() || history == 1,
                "the last place is not the last address",
            ),
            last_place: Constant::bits(address, u128::from(history) - 1, "last place"),
            addend: Signal::bits(
                numbers.sum_bits() + 1,
                "added to the sum, with a bit below for the carry",
            ),
            change: Signal::bits(count, "added to the number of misses"),
            minus_one: Constant::bits(count, (1 << count) - 1, "-1"),
            sum_now: Reg::bits(numbers.sum_bits(), 0, "sum of the ratios"),
            misses_now: Reg::bits(count, 0, "number of misses"),
            _ratio_bits: ratio as usize,
            _sum_bits: numbers.sum_bits() as usize,
            _addend_bits: numbers.sum_bits() as usize + 1,
            _outcome_bits: outcomes as usize,
            _stages: STAGES as usize,
        }
    }
}

impl Logic for MissHistory {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clk, samples, missed, before, ratio, outcomes, head, tail, sum_now, misses_now
        );
        clock!(self, clk, ratios);

        self.samples.d.next =
            (self.samples.q.val() << 1) | bit_cast(self.ended.val(), self._stages);
        self.missed.d.next =
            (self.missed.q.val() << 1) | bit_cast(self.ended.val() & self.miss.val(), self._stages);
        self.subtracting.next = self.samples.q.val().get_bit(self.subtract_at.val());
        self.taking.next = self.samples.q.val().get_bit(self.take_at.val());
        self.adding.next = self.missed.q.val().get_bit(self.add_at.val());
        self.under_way.next = self.samples.q.val();

        self.logarithm.clk.next = self.clk.val();
        self.logarithm.rst.next = self.rst.val();
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
                self._ratio_bits,
            ) + self.bias.val();
        }

        if self.long.val() {
            self.long_outcomes.clk.next = self.clk.val();
            self.long_outcomes.rst.next = self.rst.val();
            self.long_outcomes.shift.next = self.taking.val();
            self.long_outcomes.miss.next = self.missed.q.val().get_bit(self.take_at.val());
            self.oldest.next = self.taking.val() & self.long_outcomes.oldest.val();
        } else {
            if self.taking.val() {
                self.outcomes.d.next = (self.outcomes.q.val() << 1)
                    | bit_cast(
                        self.missed.q.val().get_bit(self.take_at.val()),
                        self._outcome_bits,
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
        if self.wraps.val() {
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
            self.addend.next = (!bit_cast(self.ratios.read_data.val(), self._addend_bits) << 1) | 1;
            self.change.next = self.minus_one.val();
        } else {
            self.addend.next = bit_cast(self.ratio.q.val(), self._addend_bits) << 1;
            self.change.next = 1.into();
        }
        if self.oldest.val() | self.adding.val() {
            self.sum_now.d.next = bit_cast(
                (((bit_cast(self.sum_now.q.val(), self._addend_bits) << 1) | 1)
                    + self.addend.val())
                    >> 1,
                self._sum_bits,
            );
            self.misses_now.d.next = self.misses_now.q.val() + self.change.val();
        }
        self.sum.next = self.sum_now.q.val();
        self.misses.next = self.misses_now.q.val();
    }
}
