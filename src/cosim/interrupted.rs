//! An activity whose stretches something else cuts short: the other end of the link, or software.

use super::{Activity, Stretch};
use crate::blocks::port::pins::Outputs;

/// An activity that goes on with what is left of a stretch where that was clocked in part.
pub struct Interrupted<A> {
    activity: A,
    /// What is left of the present stretch.
    rest: Option<Stretch>,
    /// The port's outputs when it was asked last.
    before: Option<Outputs>,
}

impl<A> Interrupted<A> {
    /// Nothing has been clocked yet.
    pub fn new(activity: A) -> Self {
        Interrupted {
            activity,
            rest: None,
            before: None,
        }
    }
}

impl<A: Activity> Activity for Interrupted<A> {
    fn next(&mut self, outputs: &Outputs) -> Option<Stretch> {
        let changed = self.before.replace(*outputs) != Some(*outputs);
        let rest = self
            .rest
            .take()
            .filter(|rest| rest.cycles > 0 && !(rest.until_change && changed));
        let stretch = match rest {
            Some(stretch) => stretch,
            None => self.activity.next(outputs)?,
        };
        self.rest = Some(stretch);
        Some(stretch)
    }

    fn clocked(&mut self, cycles: u64) {
        self.activity.clocked(cycles);
        if let Some(rest) = &mut self.rest {
            rest.cycles -= cycles;
        }
    }
}
