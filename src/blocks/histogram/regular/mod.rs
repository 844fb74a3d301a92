//! The regular histogram (SPEC 6).

use super::store::CounterStore;
use super::Shape;
use crate::config::plan::PortPlan;
use crate::hdl::prelude::*;

/// Clock cycles in which all counters are halved, if no sample comes meanwhile: a bin in each.
pub fn halving_cycles(plan: &PortPlan) -> u64 {
    Shape::of(plan).top_bin + 1
}

/// A histogram that forgets by halving alone: where a counter or the window would pass its
/// largest value, all counters and the window are halved (SPEC 6). Its golden model is
/// [`super::golden::Histogram`].
#[derive(LogicBlock)]
pub struct RegularHistogram {
    about: About,
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub ended: Signal<In, Bit>,
    pub sample_bin: Signal<In, Bits>,
    pub answers: Signal<In, Bit>,
    pub read_group: Signal<In, Bits>,
    pub read_place: Signal<In, Bits>,
    pub halved: Signal<Out, Bit>,
    pub window: Signal<Out, Bits>,
    pub taken: Signal<Out, Bit>,
    pub group_sum: Signal<Out, Bits>,
    pub bin_count: Signal<Out, Bits>,
    pub arrived: Signal<Out, Bits>,
    // The window.
    running: Reg<Bit>,
    prescaler: Reg<Bits>,
    tick: Signal<Local, Bit>,
    step: Signal<Local, Bit>,
    ticks: Reg<Bits>,
    elapsed: Signal<Local, Bits>,
    divides: Constant<Bit>,
    last_clock: Constant<Bits>,
    passed: Constant<Bits>,
    max_window: Constant<Bits>,
    one: Constant<Bits>,
    // When to halve.
    full: Reg<Bit>,
    answered: Reg<Bit>,
    due: Signal<Local, Bit>,
    starts: Signal<Local, Bit>,
    // The bins that are yet to be halved.
    halving: Reg<Bit>,
    next_bin: Reg<Bits>,
    odd: Reg<Bit>,
    lowest: Constant<Bits>,
    top_bin: Constant<Bits>,
    store: CounterStore,
    _time_bits: usize,
    _ticks_bits: usize,
}

impl RegularHistogram {
    /// The histogram of `plan`.
    pub fn new(plan: &PortPlan) -> Self {
        let shape = Shape::of(plan);
        let prescaler_width = clog2(plan.clocks_per_tick.into());
        let window_bits = clog2(u128::from(plan.max_window()) + 1);
        RegularHistogram {
            about: About::new(
                "histogram_regular",
                "Histogram of idle periods that is never cleared. When a counter is full, or the\n\
                 window has passed its largest value, the counters and the window are halved,\n\
                 just before the next sample: they age together.\n\
                 \n\
                 The window is halved at once, the counters bin by bin, in every cycle that is\n\
                 not a sample's. Until its bin's turn a sample counts twice. The search waits, as\n\
                 it does for samples. Between two halvings there is a threshold at least; counters\n\
                 have room for what comes until then.",
            ),
            clk: Signal::clock("clock"),
            rst: Signal::bit("synchronous reset"),
            ended: Signal::bit("a sample: an idle period ended"),
            sample_bin: Signal::bits(shape.index(), "bin of the sample"),
            answers: Signal::bit("a threshold comes out"),
            read_group: Signal::bits(shape.group, "group the search reads"),
            read_place: Signal::bits(shape.place, "bin of that group the search reads"),
            halved: Signal::bit("counters and window are halved before this sample"),
            window: Signal::bits(plan.time_width, "ticks of the window, one cycle late"),
            taken: Signal::bit("the search reads nothing in this cycle"),
            group_sum: Signal::bits(shape.sum, "samples in the group read two cycles before"),
            bin_count: Signal::bits(shape.counter, "samples in the bin read two cycles before"),
            arrived: Signal::bits(shape.index(), "that bin"),
            running: Reg::bit(false, "reset is over"),
            prescaler: Reg::bits(prescaler_width, 0, "clock cycles into the present tick"),
            tick: Signal::bit("a tick is complete"),
            step: Signal::bit("the window grows by it"),
            ticks: Reg::bits(
                window_bits + 1,
                0,
                "ticks of the window, one cycle late, and the bit by which it passes the largest",
            ),
            elapsed: Signal::bits(window_bits + 1, "the same in time"),
            divides: Constant::bit(plan.clocks_per_tick > 1, "a tick is longer than a clock"),
            last_clock: Constant::bits(
                prescaler_width,
                u128::from(plan.clocks_per_tick) - 1,
                "last clock cycle of a tick",
            ),
            passed: Constant::bits(
                clog2(u128::from(window_bits) + 1),
                window_bits.into(),
                "the bit that says that the window has passed its largest value",
            ),
            max_window: Constant::bits(plan.time_width, plan.max_window().into(), "that value"),
            one: Constant::bits(1, 1, "halves"),
            full: Reg::bit(false, "a counter is full"),
            answered: Reg::bit(true, "a threshold came out since the last halving began"),
            due: Signal::bit("counters and window are to be halved"),
            starts: Signal::bit("that begins with this sample"),
            halving: Reg::bit(false, "bins are yet to be halved"),
            next_bin: Reg::bits(shape.index(), 0, "the next of them"),
            odd: Reg::bit(false, "an odd number of halvings has begun"),
            lowest: Constant::bits(1, 0, "place of the bit that tells odd bins from even ones"),
            top_bin: Constant::bits(shape.index(), shape.top_bin.into(), "highest bin in use"),
            store: CounterStore::new(plan),
            _time_bits: plan.time_width as usize,
            _ticks_bits: window_bits as usize + 1,
        }
    }
}

impl Logic for RegularHistogram {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, running, prescaler, ticks, full, answered, halving, next_bin, odd);

        self.running.d.next = true;
        if self.divides.val() {
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
        self.step.next = self.tick.val() & !self.ticks.q.val().all();
        self.elapsed.next = self.ticks.q.val() + bit_cast(self.step.val(), self._ticks_bits);
        self.due.next = self.full.q.val() | self.elapsed.val().get_bit(self.passed.val());
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
            self.window.next = bit_cast(self.ticks.q.val(), self._time_bits);
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
        self.store.clk.next = self.clk.val();
        self.store.rst.next = self.rst.val();
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
        self.store.read_group.next = self.read_group.val();
        self.store.read_place.next = self.read_place.val();
        self.taken.next = self.store.taken.val();
        self.group_sum.next = self.store.group_sum.val();
        self.bin_count.next = self.store.bin_count.val();
        self.arrived.next = self.store.arrived.val();
    }
}
