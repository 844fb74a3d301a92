//! The window of a histogram: how long ago it began, and whether it is over (SPEC 6, 7.1).

use crate::config::plan::PortPlan;
use crate::hdl::prelude::*;

block! {
    /// Measures the window of a histogram that begins anew from time to time: its age in
    /// ticks and its samples (SPEC 6, 7.1; PerfBound 3.2). Its golden model is part of
    /// [`super::golden`].
    pub struct Window(clk, rst);

    /// The window of `plan`'s histogram.
    pub fn new(plan: &PortPlan) {
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
    }

    about(
        "histogram_window",
        "The window of a histogram: its age in ticks, and whether it is due to end\n\
         because it holds max_samples samples or its time to live has passed.\n\
         \n\
         The age is one cycle late, so that the cycle after a sample sees it as it\n\
         was when the sample came.",
    )

    {
        pub in ended: Bit("a sample: an idle period ended"),
        pub in restart: Bit("the window begins anew, with that sample"),
        pub in max_samples: Bits(32, "samples that fill the window") if adjustable,
        pub in ttl: Bits(plan.time_width, "time to live, in ticks; 0: the longest") if adjustable,
        pub in renew: Bit("the window is to end") if adjustable,
        pub out due: Bit("the next sample is to begin a new window"),
        pub out age: Bits(plan.time_width, "ticks since it began, one cycle late"),
        pub out step: Bit("the age grows by a tick"),
        reg running: Bit(false, "reset is over"),
        reg prescaler: Bits(prescaler_width, 0, "clock cycles into the present tick"),
        reg ticks: Bits(width, 0, "ticks since it began, one cycle late"),
        reg last_tick: Bit(max_ticks == 1, "one tick is left"),
        reg over: Bit(false, "none is left: the age stands still"),
        reg samples: Bits(samples_width, 0, "samples since it began"),
        reg full: Bit(false, "it holds all its samples, one cycle late"),
        local tick: Bit("a tick is complete"),
        local old: Bit("its time to live has passed"),
        choice divides(plan.clocks_per_tick > 1), // a tick is longer than a clock
        choice counts(histogram.kind.ages()), // it holds so many samples at most
        choice ages(ages), // it has a time to live
        constant last_clock: Bits(
            prescaler_width, u128::from(plan.clocks_per_tick) - 1, "last clock cycle of a tick"
        ),
        // Where the first tick is the last, `over` follows it whatever this is.
        constant last_but_one: Bits(
            width,
            max_ticks.saturating_sub(2).into(),
            if ages {
                "the time to live less two ticks"
            } else {
                "the largest age less two ticks"
            },
        ),
        constant samples_built: Bits(
            samples_width, histogram.max_samples.into(), "samples that fill the window"
        ),
        local samples_wanted: Bits(samples_width, "samples that fill the window"),
        choice adjustable(adjustable), // software decides when it is due
        local next_age: Bits(
            plan.time_width, "ticks since it began, in the next cycle if it goes on"
        ) if adjustable,
        reg stands: Bit(false, "its age has reached the time to live") if adjustable,
        reg reaches: Bit(false, "it does so with the next tick") if adjustable,
        choice short(max_ticks == 1), // the first tick is the last
        invariant age_told("The age stands still at the largest one, and the flags tell."),
        invariant samples_fit(
            "The window holds no more samples than fill it."
        ) if histogram.kind.ages() && !adjustable,
        choice counts_built(histogram.kind.ages() && !adjustable), // so many as were built in
        constant longest_age: Bits(width, max_ticks.into(), "the largest age"),
        constant longest_but_one: Bits(
            width, u128::from(max_ticks) - 1, "the largest age less one tick"
        ),
    }
}

impl Logic for Window {
    #[hdl_gen]
    fn update(&mut self) {
        self.running.d.next = true;
        if self.divides {
            self.tick.next =
                self.running.q.val() & (self.prescaler.q.val() == self.last_clock.val());
        } else {
            self.tick.next = self.running.q.val();
        }
        if self.adjustable {
            self.step.next = self.tick.val() & !self.over.q.val() & !self.stands.q.val();
        } else {
            self.step.next = self.tick.val() & !self.over.q.val();
        }
        self.age.next = bit_cast(self.ticks.q.val(), &self.age);

        if self.adjustable {
            self.samples_wanted.next = bit_cast(self.max_samples.val(), &self.samples_wanted);
        } else {
            self.samples_wanted.next = self.samples_built.val();
        }
        if self.counts {
            comment!("In time: samples are two cycles apart at least.");
            self.full.d.next = self.samples.q.val() == self.samples_wanted.val();
        }
        if self.adjustable {
            comment!(
                "The window also ends at the largest age: it must not stop while counters go on."
            );
            self.old.next = self.stands.q.val()
                | self.over.q.val()
                | (self.step.val() & (self.last_tick.q.val() | self.reaches.q.val()));
            self.due.next = self.full.q.val() | self.old.val() | self.renew.val();
        } else {
            if self.ages {
                self.old.next = self.over.q.val() | (self.step.val() & self.last_tick.q.val());
            } else {
                self.old.next = false;
            }
            self.due.next = self.full.q.val() | self.old.val();
        }

        if self.divides {
            if self.restart.val() | self.tick.val() {
                self.prescaler.d.next = 0.into();
            } else if self.running.q.val() {
                self.prescaler.d.next = self.prescaler.q.val() + 1;
            }
        }
        if self.restart.val() {
            self.ticks.d.next = 0.into();
            self.last_tick.d.next = self.short;
            self.over.d.next = false;
        } else if self.step.val() {
            self.ticks.d.next = self.ticks.q.val() + 1;
            self.last_tick.d.next = self.ticks.q.val() == self.last_but_one.val();
            self.over.d.next = self.last_tick.q.val();
        }
        if self.adjustable {
            comment!("Compared a cycle ahead, with the time to live that is in force now. One tick is left if");
            comment!("the difference is -1.");
            self.next_age.next = bit_cast(self.ticks.q.val(), &self.ttl);
            if self.step.val() {
                self.next_age.next = bit_cast(self.ticks.q.val(), &self.ttl) + 1;
            }
            self.stands.d.next = (self.ttl.val() != 0) & (self.next_age.val() >= self.ttl.val());
            self.reaches.d.next = (self.next_age.val() - self.ttl.val()).all();
            if self.restart.val() {
                self.stands.d.next = false;
            }
        }
        if self.counts {
            if self.restart.val() {
                self.samples.d.next = 1.into();
            } else if self.ended.val() {
                self.samples.d.next = self.samples.q.val() + 1;
            }
        }

        if self.short {
            self.age_told.d.next = (self.ticks.q.val() <= self.longest_age.val())
                & (self.over.q.val() == (self.ticks.q.val() == self.longest_age.val()))
                & (self.over.q.val() | self.last_tick.q.val());
        } else {
            self.age_told.d.next = (self.ticks.q.val() <= self.longest_age.val())
                & (self.over.q.val() == (self.ticks.q.val() == self.longest_age.val()))
                & (self.last_tick.q.val() == (self.ticks.q.val() == self.longest_but_one.val()));
        }
        if self.counts_built {
            self.samples_fit.d.next = self.samples.q.val() <= self.samples_built.val();
        }
    }
}
