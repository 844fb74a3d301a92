//! The clearing histogram (SPEC 6).

use super::store::CounterStore;
use super::window::Window;
use super::Shape;
use crate::config::plan::PortPlan;
use crate::hdl::prelude::*;

/// A histogram that is cleared when it is full or old (SPEC 6, p000 3.2). Its golden model is [`super::golden::Histogram`].
#[derive(LogicBlock)]
pub struct ClearingHistogram {
    about: About,
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub ended: Signal<In, Bit>,
    pub sample_bin: Signal<In, Bits>,
    pub max_samples: Optional<Signal<In, Bits>>,
    pub ttl: Optional<Signal<In, Bits>>,
    pub renew: Optional<Signal<In, Bit>>,
    pub read_group: Signal<In, Bits>,
    pub read_place: Signal<In, Bits>,
    pub cleared: Signal<Out, Bit>,
    pub age: Signal<Out, Bits>,
    pub step: Signal<Out, Bit>,
    pub taken: Signal<Out, Bit>,
    pub group_sum: Signal<Out, Bits>,
    pub bin_count: Signal<Out, Bits>,
    pub arrived: Signal<Out, Bits>,
    adjustable: Constant<Bit>,
    window: Window,
    store: CounterStore,
}

impl ClearingHistogram {
    /// The histogram of `plan`.
    pub fn new(plan: &PortPlan) -> Self {
        let shape = Shape::of(plan);
        let adjustable = plan.ages() && plan.registers.is_some();
        ClearingHistogram {
            about: About::new(
                "histogram_clearing",
                "Histogram of idle periods, cleared when it holds max_samples samples or when\n\
                 its time to live has passed, in either case just before the next sample.",
            ),
            clk: Signal::clock("clock"),
            rst: Signal::bit("synchronous reset"),
            ended: Signal::bit("a sample: an idle period ended"),
            sample_bin: Signal::bits(shape.index(), "bin of the sample"),
            max_samples: Optional::when(
                adjustable,
                Signal::bits(32, "samples after which it is due"),
            ),
            ttl: Optional::when(
                adjustable,
                Signal::bits(plan.time_width, "time to live, in ticks; 0: for ever"),
            ),
            renew: Optional::when(adjustable, Signal::bit("it is due at once")),
            read_group: Signal::bits(shape.group, "group the search reads"),
            read_place: Signal::bits(shape.place, "bin of that group the search reads"),
            cleared: Signal::bit("the sample clears the histogram"),
            age: Signal::bits(plan.time_width, "ticks since the clear, one cycle late"),
            step: Signal::bit("the age grows by a tick"),
            taken: Signal::bit("the search reads nothing in this cycle"),
            group_sum: Signal::bits(shape.sum, "samples in the group read two cycles before"),
            bin_count: Signal::bits(shape.counter, "samples in the bin read two cycles before"),
            arrived: Signal::bits(shape.index(), "that bin"),
            adjustable: Constant::bit(adjustable, "software decides when it is due"),
            window: Window::new(plan),
            store: CounterStore::new(plan),
        }
    }
}

impl Logic for ClearingHistogram {
    #[hdl_gen]
    fn update(&mut self) {
        self.window.clk.next = self.clk.val();
        self.window.rst.next = self.rst.val();
        self.window.ended.next = self.ended.val();
        if self.adjustable.val() {
            self.window.max_samples.next = self.max_samples.val();
            self.window.ttl.next = self.ttl.val();
            self.window.renew.next = self.renew.val();
        }
        self.cleared.next = self.ended.val() & self.window.due.val();
        self.window.restart.next = self.cleared.val();
        self.age.next = self.window.age.val();
        self.step.next = self.window.step.val();

        self.store.clk.next = self.clk.val();
        self.store.rst.next = self.rst.val();
        self.store.clear.next = self.cleared.val();
        self.store.add.next = self.ended.val();
        self.store.bin.next = self.sample_bin.val();
        self.store.read_group.next = self.read_group.val();
        self.store.read_place.next = self.read_place.val();
        self.taken.next = self.store.taken.val();
        self.group_sum.next = self.store.group_sum.val();
        self.bin_count.next = self.store.bin_count.val();
        self.arrived.next = self.store.arrived.val();
    }
}
