//! The decaying histogram (`docs/histograms.md`).

use super::store::CounterStore;
use super::window::Window;
use super::Shape;
use crate::config::plan::{PortPlan, GENERATIONS};
use crate::hdl::prelude::*;

/// A histogram whose counters all halve where a clearing one is cleared: a sample weighs 1
/// in its own generation, 1/2, 1/4 and 1/8 in the three that follow, then nothing
/// (`docs/histograms.md`). Its golden model is [`super::golden::Histogram`].
#[derive(LogicBlock)]
pub struct DecayingHistogram {
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
    pub renewed: Optional<Signal<Out, Bit>>,
    pub window: Signal<Out, Bits>,
    pub taken: Signal<Out, Bit>,
    pub group_sum: Signal<Out, Bits>,
    pub bin_count: Signal<Out, Bits>,
    pub arrived: Signal<Out, Bits>,
    present: Reg<Bits>,
    present_then: Reg<Bits>,
    present_at_read: Reg<Bits>,
    halves: Signal<Local, Bit>,
    next_present: Signal<Local, Bits>,
    // How long the generations before the present one lasted, as they weigh.
    last: Reg<Bits>,
    last_but_one: Reg<Bits>,
    earlier: Reg<Bits>,
    age_now: Signal<Local, Bits>,
    total: Signal<Local, Bits>,
    max_time: Constant<Bits>,
    adjustable: Constant<Bit>,
    age: Window,
    stores: Vec<CounterStore>,
    older: Vec<Signal<Local, Bits>>,
    sums: Vec<Signal<Local, Bits>>,
    counts: Vec<Signal<Local, Bits>>,
    newest: Constant<Bits>,
    one: Constant<Bits>,
    two: Constant<Bits>,
    weight_bits: Constant<Bits>,
    _generations: usize,
    _total_bits: usize,
    _time_bits: usize,
}

impl DecayingHistogram {
    /// The histogram of `plan`.
    pub fn new(plan: &PortPlan) -> Self {
        let shape = Shape::of(plan);
        let adjustable = plan.ages() && plan.registers.is_some();
        let time = plan.time_width;
        let earlier = time + GENERATIONS;
        let generations = GENERATIONS as usize;
        let (sum, count) = (shape.weighed_sum(), shape.weighed_count());
        DecayingHistogram {
            about: About::new(
                "histogram_decaying",
                "Histogram of idle periods in which all counters halve when its present\n\
                 generation holds max_samples samples or is older than the time to live, just\n\
                 before the next sample.\n\
                 \n\
                 Four stores take turns as the present generation. Samples are added to one\n\
                 store alone; what is read is weighed: 8 for a sample of the present\n\
                 generation, 4, 2 and 1 for those before. The window weighs the time that the\n\
                 generations lasted in the same way.",
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
            renewed: Optional::when(adjustable, Signal::bit("a new generation begins")),
            window: Signal::bits(time, "ticks of all generations, weighed, one cycle late"),
            taken: Signal::bit("the search reads nothing in this cycle"),
            group_sum: Signal::bits(
                sum,
                "samples in the group read two cycles before, in eighths",
            ),
            bin_count: Signal::bits(
                count,
                "samples in the bin read two cycles before, in eighths",
            ),
            arrived: Signal::bits(shape.index(), "that bin"),
            present: Reg::bits(2, 0, "store of the present generation"),
            present_then: Reg::bits(2, 0, "the same the cycle before"),
            present_at_read: Reg::bits(2, 0, "the same two cycles before"),
            halves: Signal::bit("the sample begins a new generation"),
            next_present: Signal::bits(2, "store of the generation this sample belongs to"),
            last: Reg::bits(time, 0, "ticks of the last generation"),
            last_but_one: Reg::bits(time, 0, "ticks of the last generation but one"),
            earlier: Reg::bits(
                earlier,
                0,
                "ticks of the three last generations, in eighths",
            ),
            age_now: Signal::bits(time, "ticks of the present generation"),
            total: Signal::bits(earlier, "ticks of all generations, weighed"),
            max_time: Constant::bits(time, plan.max_time().into(), "the window saturates"),
            adjustable: Constant::bit(adjustable, "software decides when it is due"),
            age: Window::new(plan),
            stores: (0..generations).map(|_| CounterStore::new(plan)).collect(),
            older: (0..generations)
                .map(|_| Signal::bits(2, "generations since that of this store"))
                .collect(),
            sums: (0..=generations)
                .map(|_| Signal::bits(sum, "samples in the group, in eighths, so far"))
                .collect(),
            counts: (0..=generations)
                .map(|_| Signal::bits(count, "samples in the bin, in eighths, so far"))
                .collect(),
            newest: Constant::bits(
                2,
                u128::from(GENERATIONS) - 1,
                "log2 of the newest's weight",
            ),
            one: Constant::bits(2, 1, "log2 of 2"),
            two: Constant::bits(2, 2, "log2 of 4"),
            weight_bits: Constant::bits(2, 3, "log2 of the eighths in a sample"),
            _generations: generations,
            _total_bits: earlier as usize,
            _time_bits: time as usize,
        }
    }
}

impl Logic for DecayingHistogram {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clk,
            present,
            present_then,
            present_at_read,
            last,
            last_but_one,
            earlier
        );

        self.age.clk.next = self.clk.val();
        self.age.rst.next = self.rst.val();
        self.age.ended.next = self.ended.val();
        if self.adjustable.val() {
            self.age.max_samples.next = self.max_samples.val();
            self.age.ttl.next = self.ttl.val();
            self.age.renew.next = self.renew.val();
        }
        self.halves.next = self.ended.val() & self.age.due.val();
        self.age.restart.next = self.halves.val();
        if self.adjustable.val() {
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
        self.age_now.next = self.age.age.val() + bit_cast(self.age.step.val(), self._time_bits);
        if self.halves.val() {
            self.last.d.next = self.age_now.val();
            self.last_but_one.d.next = self.last.q.val();
            self.earlier.d.next = (bit_cast(self.age_now.val(), self._total_bits)
                << self.two.val())
                + (bit_cast(self.last.q.val(), self._total_bits) << self.one.val())
                + bit_cast(self.last_but_one.q.val(), self._total_bits);
        }
        self.total.next = bit_cast(self.age.age.val(), self._total_bits)
            + (self.earlier.q.val() >> self.weight_bits.val());
        if self.total.val() > bit_cast(self.max_time.val(), self._total_bits) {
            self.window.next = self.max_time.val();
        } else {
            self.window.next = bit_cast(self.total.val(), self._time_bits);
        }

        self.taken.next = self.stores[0].taken.val()
            | self.stores[1].taken.val()
            | self.stores[2].taken.val()
            | self.stores[3].taken.val();
        self.sums[0].next = 0.into();
        self.counts[0].next = 0.into();
        for i in 0..self._generations {
            self.stores[i].clk.next = self.clk.val();
            self.stores[i].rst.next = self.rst.val();
            self.stores[i].clear.next = self.halves.val() & (self.next_present.val() == i);
            self.stores[i].add.next = self.ended.val() & (self.next_present.val() == i);
            self.stores[i].bin.next = self.sample_bin.val();
            self.stores[i].read_group.next = self.read_group.val();
            self.stores[i].read_place.next = self.read_place.val();
            self.older[i].next = self.present_at_read.q.val() - i;
            self.sums[i + 1].next = self.sums[i].val()
                + (self.stores[i].group_sum.val() << (self.newest.val() - self.older[i].val()));
            self.counts[i + 1].next = self.counts[i].val()
                + (self.stores[i].bin_count.val() << (self.newest.val() - self.older[i].val()));
        }
        self.group_sum.next = self.sums[4].val();
        self.bin_count.next = self.counts[4].val();
        self.arrived.next = self.stores[0].arrived.val();
    }
}
