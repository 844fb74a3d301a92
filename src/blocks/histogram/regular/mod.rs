//! The regular histogram (SPEC 6).

use super::store::CounterStore;
use super::{FoundPins, ReadPins, Shape};
use crate::blocks::memory_code;
use crate::config::plan::PortPlan;
use crate::hdl::prelude::*;

/// Clock cycles in which all counters are halved, if no sample comes meanwhile: a bin in each.
pub fn halving_cycles(plan: &PortPlan) -> u64 {
    Shape::of(plan).top_bin + 1
}

block! {
    /// A histogram that forgets by halving alone: where a counter or the window would pass its
    /// largest value, all counters and the window are halved (SPEC 6). Its golden model is
    /// [`super::golden::Histogram`].
    pub struct RegularHistogram(clk, rst);

    /// The histogram of `plan`.
    pub fn new(plan: &PortPlan) {
        let shape = Shape::of(plan);
        let prescaler_width = clog2(plan.clocks_per_tick.into());
        let window_bits = clog2(u128::from(plan.max_window()) + 1);
    }

    about(
        "histogram_regular",
        "Histogram of idle periods that is never cleared. When a counter is full, or the\n\
         window has passed its largest value, the counters and the window are halved,\n\
         just before the next sample: they age together.\n\
         \n\
         The window is halved at once, the counters bin by bin, in every cycle that is\n\
         not a sample's. Until its bin's turn a sample counts twice. The search waits, as\n\
         it does for samples. Between two halvings there is a threshold at least; counters\n\
         have room for what comes until then.",
    )

    {
        pub in ended: Bit("a sample: an idle period ended"),
        pub in sample_bin: Bits(shape.index(), "bin of the sample"),
        pub in answers: Bit("a threshold comes out"),
        pub flat read: ReadPins(&shape),
        pub out halved: Bit("counters and window are halved before this sample"),
        pub out window: Bits(plan.time_width, "ticks of the window, one cycle late"),
        pub flat found: FoundPins(&shape, ""),
        pub out memory_upset: Bits(2, "wrong bits in the words read: 1, put right; 2, not") if memory_code(plan).is_some(),
        choice coded(memory_code(plan).is_some()), // the memories have a code
        // The window.
        reg running: Bit(false, "reset is over"),
        reg prescaler: Bits(prescaler_width, 0, "clock cycles into the present tick"),
        local tick: Bit("a tick is complete"),
        local lower: Bits(window_bits, "the window without that bit"),
        local at_last: Bit("the window, as far as these bits tell, is at its largest value"),
        reg ticks: Bits(
            window_bits + 1,
            0,
            "ticks of the window, one cycle late, and the bit by which it passes the largest",
        ),
        local elapsed: Bits(window_bits + 1, "the same in time"),
        local passes: Bit("it has passed its largest value, or does"),
        choice divides(plan.clocks_per_tick > 1), // a tick is longer than a clock
        constant last_clock: Bits(
            prescaler_width, u128::from(plan.clocks_per_tick) - 1, "last clock cycle of a tick"
        ),
        constant passed: Number(
            window_bits, "the bit that says that the window has passed its largest value"
        ),
        constant max_window: Bits(plan.time_width, plan.max_window().into(), "that value"),
        constant one: Bits(1, 1, "halves"),
        // When to halve.
        reg full: Bit(false, "a counter is full"),
        reg answered: Bit(true, "a threshold came out since the last halving began"),
        local due: Bit("counters and window are to be halved"),
        local starts: Bit("that begins with this sample"),
        // The bins that are yet to be halved.
        reg halving: Bit(false, "bins are yet to be halved"),
        reg next_bin: Bits(shape.index(), 0, "the next of them"),
        reg odd: Bit(false, "an odd number of halvings has begun"),
        constant lowest: Bits(1, 0, "place of the bit that tells odd bins from even ones"),
        constant top_bin: Bits(shape.index(), shape.top_bin.into(), "highest bin in use"),
        child store: CounterStore(plan),
    }
}

impl Logic for RegularHistogram {
    #[hdl_gen]
    fn update(&mut self) {
        self.running.d.next = true;
        if self.divides {
            self.tick.next =
                self.running.q.val() & (self.prescaler.q.val() == self.last_clock.val());
            if self.tick.val() {
                self.prescaler.d.next = 0.into();
            } else if self.running.q.val() {
                self.prescaler.d.next = self.prescaler.q.val() + 1;
            }
        } else {
            self.tick.next = self.running.q.val();
        }

        comment!("Beyond its largest value the window counts on, until the next sample.");
        self.lower.next = bit_cast(self.ticks.q.val(), &self.lower);
        self.at_last.next = self.lower.val().all();
        self.elapsed.next = self.ticks.q.val();
        if self.tick.val() & !(self.at_last.val() & self.ticks.q.val().get_bit(self.passed.val())) {
            self.elapsed.next = self.ticks.q.val() + 1;
        }
        self.passes.next =
            self.ticks.q.val().get_bit(self.passed.val()) | (self.tick.val() & self.at_last.val());
        self.due.next = self.full.q.val() | self.passes.val();
        self.starts.next = self.ended.val() & self.due.val() & self.answered.q.val();
        self.halved.next = self.starts.val();
        if self.starts.val() {
            self.ticks.d.next = self.elapsed.val() >> self.one.val();
        } else {
            self.ticks.d.next = self.elapsed.val();
        }
        if self.ticks.q.val().get_bit(self.passed.val()) {
            self.window.next = self.max_window.val();
        } else {
            self.window.next = bit_cast(self.ticks.q.val(), &self.window);
        }

        self.full.d.next = (self.full.q.val() | self.store.full.val()) & !self.starts.val();
        self.answered.d.next = (self.answered.q.val() | self.answers.val()) & !self.starts.val();

        comment!("Samples go first.");
        if self.starts.val() {
            self.halving.d.next = true;
            self.next_bin.d.next = 0.into();
            self.odd.d.next = !self.odd.q.val();
        } else if self.halving.q.val() & !self.ended.val() {
            self.halving.d.next = !(self.next_bin.q.val() == self.top_bin.val());
            self.next_bin.d.next = self.next_bin.q.val() + 1;
        }
        self.store.clear.next = false;
        self.store.add.next = self.ended.val();
        self.store.halve.next = self.halving.q.val() & !self.ended.val();
        comment!(
            "Halves of odd counts are rounded up in every second bin, and in the others the next"
        );
        comment!("time.");
        self.store.up.next = !(self.next_bin.q.val().get_bit(self.lowest.val()) ^ self.odd.q.val());
        self.store.twice.next = self.starts.val()
            | (self.halving.q.val() & (self.sample_bin.val() >= self.next_bin.q.val()));
        if self.ended.val() {
            self.store.bin.next = self.sample_bin.val();
        } else {
            self.store.bin.next = self.next_bin.q.val();
        }
        ReadPins::link(&mut self.read, &mut self.store.read);
        FoundPins::link(&mut self.found, &mut self.store.found);
        if self.coded {
            self.memory_upset.next = self.store.memory_upset.val();
        }
    }
}
