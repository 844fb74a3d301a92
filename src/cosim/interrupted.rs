//! An activity whose stretches something else cuts short: the other end of the link, software, or what
//! moves further pins.

use super::{Activity, Stretch};
use crate::blocks::port::pins::PackedOutputs;

/// A stretch of idle time that is leapt over ends early when so many cycles of it had to be clocked
/// because of interruptions: an end that asks again and again would take all the cycles of a run.
const MOST_CLOCKED: u64 = 6_000;

/// An activity that goes on with what is left of a stretch where that was clocked in part.
pub struct Interrupted<A> {
    activity: A,
    /// What is left of the present stretch.
    rest: Option<Stretch>,
    /// Cycles of it that were clocked, and that were leapt over.
    clocked: u64,
    leapt: u64,
    /// The port's outputs when it was asked last.
    before: Option<PackedOutputs>,
}

impl<A> Interrupted<A> {
    /// Nothing has been clocked yet.
    pub fn new(activity: A) -> Self {
        Interrupted {
            activity,
            rest: None,
            clocked: 0,
            leapt: 0,
            before: None,
        }
    }
}

impl<A: Activity> Activity for Interrupted<A> {
    fn next(&mut self, outputs: &PackedOutputs) -> Option<Stretch> {
        let changed = self.before.replace(*outputs) != Some(*outputs);
        let too_dear = self.leapt > 0 && self.clocked > MOST_CLOCKED;
        let rest = self
            .rest
            .take()
            .filter(|rest| rest.cycles > 0 && !(rest.until_change && changed) && !too_dear);
        let stretch = match rest {
            Some(stretch) => stretch,
            None => {
                (self.clocked, self.leapt) = (0, 0);
                self.activity.next(outputs)?
            }
        };
        self.rest = Some(stretch);
        Some(stretch)
    }

    fn passed(&mut self, cycles: u64, leapt: u64) {
        self.clocked += cycles - leapt;
        self.leapt += leapt;
        self.activity.passed(cycles, leapt);
        if let Some(rest) = &mut self.rest {
            rest.cycles -= cycles;
        }
    }
}

/// What moves some pins of a port, whatever the activity is.
pub trait PinDriver {
    /// The inputs of a stretch with these pins moved, for no more cycles than they stay so.
    fn drive(&mut self, stretch: Stretch, outputs: &PackedOutputs) -> Stretch;

    /// So many cycles of it have passed, of which some were leapt over.
    fn passed(&mut self, cycles: u64, leapt: u64);
}

/// An activity some of whose pins a driver moves; without a driver it stays as it is.
pub struct Driven<A, D> {
    activity: Interrupted<A>,
    driver: Option<D>,
}

impl<A, D> Driven<A, D> {
    /// Nothing has been clocked yet.
    pub fn new(activity: A, driver: Option<D>) -> Self {
        Driven {
            activity: Interrupted::new(activity),
            driver,
        }
    }
}

impl<A: Activity, D: PinDriver> Activity for Driven<A, D> {
    fn next(&mut self, outputs: &PackedOutputs) -> Option<Stretch> {
        let stretch = self.activity.next(outputs)?;
        Some(match &mut self.driver {
            Some(driver) => driver.drive(stretch, outputs),
            None => stretch,
        })
    }

    fn passed(&mut self, cycles: u64, leapt: u64) {
        self.activity.passed(cycles, leapt);
        if let Some(driver) = &mut self.driver {
            driver.passed(cycles, leapt);
        }
    }
}
