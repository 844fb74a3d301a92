//! The window of a histogram: how long ago it began, and whether it is over (SPEC 6, 7.1).

use crate::config::plan::PortPlan;
use crate::hdl::prelude::*;

/// Measures the window of a histogram that begins anew from time to time: its age in
/// ticks and its samples (SPEC 6, 7.1; p000 3.2). Its golden model is part of
/// [`super::golden`].
#[derive(LogicBlock)]
pub struct Window {
    about: About,
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub ended: Signal<In, Bit>,
    pub restart: Signal<In, Bit>,
    pub max_samples: Optional<Signal<In, Bits>>,
    pub ttl: Optional<Signal<In, Bits>>,
    pub renew: Optional<Signal<In, Bit>>,
    pub due: Signal<Out, Bit>,
    pub age: Signal<Out, Bits>,
    pub step: Signal<Out, Bit>,
    running: Reg<Bit>,
    prescaler: Reg<Bits>,
    ticks: Reg<Bits>,
    last_tick: Reg<Bit>,
    over: Reg<Bit>,
    samples: Reg<Bits>,
    full: Reg<Bit>,
    tick: Signal<Local, Bit>,
    old: Signal<Local, Bit>,
    divides: Constant<Bit>,
    counts: Constant<Bit>,
    ages: Constant<Bit>,
    last_clock: Constant<Bits>,
    max_ticks: Constant<Bits>,
    samples_built: Constant<Bits>,
    samples_wanted: Signal<Local, Bits>,
    adjustable: Constant<Bit>,
    mortal: Signal<Local, Bit>,
    stands: Signal<Local, Bit>,
    short: Constant<Bit>,
    _time_bits: usize,
    _samples_bits: usize,
}

impl Window {
    /// The window of `plan`'s histogram.
    pub fn new(plan: &PortPlan) -> Self {
        let histogram = &plan.histogram;
        let adjustable = plan.ages() && plan.registers.is_some();
        let ages = histogram.ttl.is_some() && !adjustable;
        let prescaler_width = clog2(plan.clocks_per_tick.into());
        let max_ticks = histogram
            .ttl
            .filter(|_| !adjustable)
            .unwrap_or(plan.max_time());
        let width = clog2(u128::from(max_ticks) + 1);
        let samples_width = clog2(u128::from(histogram.max_samples) + 1);
        Window {
            about: About::new(
                "histogram_window",
                "The window of a histogram: its age in ticks, and whether it is due to end\n\
                 because it holds max_samples samples or its time to live has passed.\n\
                 \n\
                 The age is one cycle late, so that the cycle after a sample sees it as it\n\
                 was when the sample came.",
            ),
            clk: Signal::clock("clock"),
            rst: Signal::bit("synchronous reset"),
            ended: Signal::bit("a sample: an idle period ended"),
            restart: Signal::bit("the window begins anew, with that sample"),
            max_samples: Optional::when(
                adjustable,
                Signal::bits(32, "samples that fill the window"),
            ),
            ttl: Optional::when(
                adjustable,
                Signal::bits(plan.time_width, "time to live, in ticks; 0: for ever"),
            ),
            renew: Optional::when(adjustable, Signal::bit("the window is to end")),
            due: Signal::bit("the next sample is to begin a new window"),
            age: Signal::bits(plan.time_width, "ticks since it began, one cycle late"),
            step: Signal::bit("the age grows by a tick"),
            running: Reg::bit(false, "reset is over"),
            prescaler: Reg::bits(prescaler_width, 0, "clock cycles into the present tick"),
            ticks: Reg::bits(width, 0, "ticks since it began, one cycle late"),
            last_tick: Reg::bit(max_ticks == 1, "one tick is left"),
            over: Reg::bit(false, "none is left: the age stands still"),
            samples: Reg::bits(samples_width, 0, "samples since it began"),
            full: Reg::bit(false, "it holds all its samples, one cycle late"),
            tick: Signal::bit("a tick is complete"),
            old: Signal::bit("its time to live has passed"),
            divides: Constant::bit(plan.clocks_per_tick > 1, "a tick is longer than a clock"),
            counts: Constant::bit(histogram.kind.ages(), "it holds so many samples at most"),
            ages: Constant::bit(ages, "it has a time to live"),
            last_clock: Constant::bits(
                prescaler_width,
                u128::from(plan.clocks_per_tick) - 1,
                "last clock cycle of a tick",
            ),
            max_ticks: Constant::bits(
                width,
                max_ticks.into(),
                match ages {
                    true => "time to live, in ticks: the age stops there",
                    false => "the age saturates",
                },
            ),
            samples_built: Constant::bits(
                samples_width,
                histogram.max_samples.into(),
                "samples that fill the window",
            ),
            samples_wanted: Signal::bits(samples_width, "samples that fill the window"),
            adjustable: Constant::bit(adjustable, "software decides when it is due"),
            mortal: Signal::bit("it has a time to live"),
            stands: Signal::bit("its age has reached it"),
            short: Constant::bit(max_ticks == 1, "the first tick is the last"),
            _time_bits: plan.time_width as usize,
            _samples_bits: samples_width as usize,
        }
    }
}

impl Logic for Window {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, running, prescaler, ticks, last_tick, over, samples, full);

        self.running.d.next = true;
        if self.divides.val() {
            self.tick.next =
                self.running.q.val() & (self.prescaler.q.val() == self.last_clock.val());
        } else {
            self.tick.next = self.running.q.val();
        }
        if self.adjustable.val() {
            self.mortal.next = self.ttl.val() != 0;
            self.stands.next = self.mortal.val()
                & (bit_cast(self.ticks.q.val(), self._time_bits) >= self.ttl.val());
            self.step.next = self.tick.val() & !self.over.q.val() & !self.stands.val();
        } else {
            self.step.next = self.tick.val() & !self.over.q.val();
        }
        self.age.next = bit_cast(self.ticks.q.val(), self._time_bits);

        if self.adjustable.val() {
            self.samples_wanted.next = bit_cast(self.max_samples.val(), self._samples_bits);
        } else {
            self.samples_wanted.next = self.samples_built.val();
        }
        if self.counts.val() {
            comment!("In time: samples are two cycles apart at least.");
            self.full.d.next = self.samples.q.val() == self.samples_wanted.val();
        }
        if self.adjustable.val() {
            self.old.next = self.stands.val()
                | (self.step.val()
                    & ((bit_cast(self.ticks.q.val(), self._time_bits) + 1) == self.ttl.val()));
            self.due.next = self.full.q.val() | self.old.val() | self.renew.val();
        } else {
            if self.ages.val() {
                self.old.next = self.over.q.val() | (self.step.val() & self.last_tick.q.val());
            } else {
                self.old.next = false;
            }
            self.due.next = self.full.q.val() | self.old.val();
        }

        if self.divides.val() {
            if self.restart.val() | self.tick.val() {
                self.prescaler.d.next = 0.into();
            } else if self.running.q.val() {
                self.prescaler.d.next = self.prescaler.q.val() + 1;
            }
        }
        if self.restart.val() {
            self.ticks.d.next = 0.into();
            self.last_tick.d.next = self.short.val();
            self.over.d.next = false;
        } else if self.step.val() {
            self.ticks.d.next = self.ticks.q.val() + 1;
            self.last_tick.d.next = self.ticks.q.val() == self.max_ticks.val() - 2;
            self.over.d.next = self.last_tick.q.val();
        }
        if self.counts.val() {
            if self.restart.val() {
                self.samples.d.next = 1.into();
            } else if self.ended.val() {
                self.samples.d.next = self.samples.q.val() + 1;
            }
        }
    }
}
