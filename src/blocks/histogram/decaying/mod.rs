//! The decaying histogram (`docs/how/histograms.md`).

use super::store::CounterStore;
use super::window::Window;
use super::{FoundPins, ReadPins, Shape};
use crate::blocks::memory_code;
use crate::config::plan::{PortPlan, GENERATIONS};
use crate::hdl::prelude::*;

block! {
    /// A histogram whose counters all halve where a clearing one is cleared: a sample weighs 1
    /// in its own generation, 1/2, 1/4 and 1/8 in the three that follow, then nothing
    /// (`docs/how/histograms.md`). Its golden model is [`super::golden::Histogram`].
    pub struct DecayingHistogram(clk, rst);

    /// The histogram of `plan`.
    pub fn new(plan: &PortPlan) {
        let shape = Shape::of(plan);
        let adjustable = plan.ages() && plan.registers.is_some();
        let time = plan.time_width;
        let earlier = time + GENERATIONS;
        let generations = GENERATIONS as usize;
        let (sum, count) = (shape.weighed_sum(), shape.weighed_count());
    }

    about(
        "histogram_decaying",
        "Histogram of idle periods in which all counters halve when its present\n\
         generation holds max_samples samples or is older than the time to live, just\n\
         before the next sample.\n\
         \n\
         Four stores take turns as the present generation. Samples are added to one\n\
         store alone; what is read is weighed: 8 for a sample of the present\n\
         generation, 4, 2 and 1 for those before. The window weighs the time that the\n\
         generations lasted in the same way.",
    )

    {
        pub in ended: Bit("a sample: an idle period ended"),
        pub in sample_bin: Bits(shape.index(), "bin of the sample"),
        pub in max_samples: Bits(32, "samples after which it is due") if adjustable,
        pub in ttl: Bits(plan.time_width, "time to live, in ticks; 0: the longest") if adjustable,
        pub in renew: Bit("it is due at once") if adjustable,
        pub flat read: ReadPins(&shape),
        pub out renewed: Bit("a new generation begins") if adjustable,
        pub out window: Bits(time, "ticks of all generations, weighed, one cycle late"),
        pub flat found: FoundPins(&shape, ", in eighths"),
        pub out memory_upset: Bits(2, "wrong bits in the words read: 1, put right; 2, not") if memory_code(plan).is_some(),
        choice coded(memory_code(plan).is_some()), // the memories have a code
        reg present: Bits(2, 0, "store of the present generation"),
        reg present_then: Bits(2, 0, "the same the cycle before"),
        reg present_at_read: Bits(2, 0, "the same two cycles before"),
        local halves: Bit("the sample begins a new generation"),
        local next_present: Bits(2, "store of the generation this sample belongs to"),
        // How long the generations before the present one lasted, as they weigh.
        reg last: Bits(time, 0, "ticks of the last generation"),
        reg two_last: Bits(time + 2, 0, "ticks of the two last generations, in quarters"),
        reg earlier: Bits(earlier, 0, "ticks of the three last generations, in eighths"),
        local age_now: Bits(time, "ticks of the present generation"),
        local total: Bits(earlier, "ticks of all generations, weighed"),
        constant max_time: Bits(time, plan.max_time().into(), "the window saturates"),
        choice adjustable(adjustable), // software decides when it is due
        child age: Window(plan),
        child stores[_ in 0..generations]: CounterStore(plan),
        local older[_ in 0..generations]: Bits(2, "generations since that of this store"),
        local sums[_ in 0..=generations]: Bits(sum, "samples in the group, in eighths, so far"),
        local counts[_ in 0..=generations]: Bits(count, "samples in the bin, in eighths, so far"),
        constant newest: Bits(2, u128::from(GENERATIONS) - 1, "log2 of the newest's weight"),
        constant one: Bits(2, 1, "log2 of 2"),
        constant two: Bits(2, 2, "log2 of 4"),
        constant weight_bits: Bits(2, 3, "log2 of the eighths in a sample"),
        number _generations(generations),
    }
}

impl Logic for DecayingHistogram {
    #[hdl_gen]
    fn update(&mut self) {
        self.age.ended.next = self.ended.val();
        if self.adjustable {
            self.age.max_samples.next = self.max_samples.val();
            self.age.ttl.next = self.ttl.val();
            self.age.renew.next = self.renew.val();
        }
        self.halves.next = self.ended.val() & self.age.due.val();
        self.age.restart.next = self.halves.val();
        if self.adjustable {
            self.renewed.next = self.halves.val();
        }

        comment!("The store of the oldest generation becomes that of the newest.");
        self.next_present.next = self.present.q.val();
        if self.halves.val() {
            self.next_present.next = self.present.q.val() + 1;
        }
        self.present.d.next = self.next_present.val();
        self.present_then.d.next = self.present.q.val();
        self.present_at_read.d.next = self.present_then.q.val();

        comment!("The window: the ticks of this generation, half those of the last, and so on.");
        self.age_now.next = self.age.age.val() + bit_cast(self.age.step.val(), &self.age_now);
        if self.halves.val() {
            self.last.d.next = self.age_now.val();
            self.two_last.d.next = (bit_cast(self.age_now.val(), &self.two_last) << self.one.val())
                + bit_cast(self.last.q.val(), &self.two_last);
            self.earlier.d.next = (bit_cast(self.age_now.val(), &self.earlier) << self.two.val())
                + bit_cast(self.two_last.q.val(), &self.earlier);
        }
        self.total.next = bit_cast(self.age.age.val(), &self.total)
            + (self.earlier.q.val() >> self.weight_bits.val());
        if self.total.val() > bit_cast(self.max_time.val(), &self.earlier) {
            self.window.next = self.max_time.val();
        } else {
            self.window.next = bit_cast(self.total.val(), &self.window);
        }

        self.found.taken.next = self.stores[0].found.taken.val()
            | self.stores[1].found.taken.val()
            | self.stores[2].found.taken.val()
            | self.stores[3].found.taken.val();
        self.sums[0].next = 0.into();
        self.counts[0].next = 0.into();
        for i in 0..self._generations {
            self.stores[i].clear.next = self.halves.val() & (self.next_present.val() == i);
            self.stores[i].add.next = self.ended.val() & (self.next_present.val() == i);
            self.stores[i].bin.next = self.sample_bin.val();
            self.stores[i].read.read_group.next = self.read.read_group.val();
            self.stores[i].read.read_place.next = self.read.read_place.val();
            self.older[i].next = self.present_at_read.q.val() - i;
            self.sums[i + 1].next = self.sums[i].val()
                + (self.stores[i].found.group_sum.val()
                    << (self.newest.val() - self.older[i].val()));
            self.counts[i + 1].next = self.counts[i].val()
                + (self.stores[i].found.bin_count.val()
                    << (self.newest.val() - self.older[i].val()));
        }
        self.found.group_sum.next = self.sums[4].val();
        self.found.bin_count.next = self.counts[4].val();
        self.found.arrived.next = self.stores[0].found.arrived.val();
        if self.coded {
            self.memory_upset.next = self.stores[0].memory_upset.val()
                | self.stores[1].memory_upset.val()
                | self.stores[2].memory_upset.val()
                | self.stores[3].memory_upset.val();
        }
    }
}
