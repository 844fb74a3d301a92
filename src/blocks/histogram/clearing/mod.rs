//! The clearing histogram (SPEC 6).

use super::store::CounterStore;
use super::window::Window;
use super::{FoundPins, ReadPins, Shape};
use crate::blocks::memory_code;
use crate::config::plan::PortPlan;
use crate::hdl::prelude::*;

block! {
    /// A histogram that is cleared when it is full or old (SPEC 6, PerfBound 3.2). Its golden model
    /// is [`super::golden::Histogram`].
    pub struct ClearingHistogram(clk, rst);

    /// The histogram of `plan`.
    pub fn new(plan: &PortPlan) {
        let shape = Shape::of(plan);
        let adjustable = plan.ages() && plan.registers.is_some();
    }

    about(
        "histogram_clearing",
        "Histogram of idle periods, cleared when it holds max_samples samples or when\n\
         its time to live has passed, in either case just before the next sample.",
    )

    {
        pub in ended: Bit("a sample: an idle period ended"),
        pub in sample_bin: Bits(shape.index(), "bin of the sample"),
        pub in max_samples: Bits(32, "samples after which it is due") if adjustable,
        pub in ttl: Bits(plan.time_width, "time to live, in ticks; 0: the longest") if adjustable,
        pub in renew: Bit("it is due at once") if adjustable,
        pub flat read: ReadPins(&shape),
        pub out cleared: Bit("the sample clears the histogram"),
        pub out age: Bits(plan.time_width, "ticks since the clear, one cycle late"),
        pub out step: Bit("the age grows by a tick"),
        pub flat found: FoundPins(&shape, ""),
        pub out memory_upset: Bits(2, "wrong bits in the words read: 1, put right; 2, not") if memory_code(plan).is_some(),
        choice coded(memory_code(plan).is_some()), // the memories have a code
        choice adjustable(adjustable), // software decides when it is due
        child window: Window(plan),
        child store: CounterStore(plan),
    }
}

impl Logic for ClearingHistogram {
    #[hdl_gen]
    fn update(&mut self) {
        self.window.ended.next = self.ended.val();
        if self.adjustable {
            self.window.max_samples.next = self.max_samples.val();
            self.window.ttl.next = self.ttl.val();
            self.window.renew.next = self.renew.val();
        }
        self.cleared.next = self.ended.val() & self.window.due.val();
        self.window.restart.next = self.cleared.val();
        self.age.next = self.window.age.val();
        self.step.next = self.window.step.val();

        self.store.clear.next = self.cleared.val();
        self.store.add.next = self.ended.val();
        self.store.bin.next = self.sample_bin.val();
        ReadPins::link(&mut self.read, &mut self.store.read);
        FoundPins::link(&mut self.found, &mut self.store.found);
        if self.coded {
            self.memory_upset.next = self.store.memory_upset.val();
        }
    }
}
