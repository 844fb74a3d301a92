//! Golden model of the power-down timer.

/// Cycle-exact model of the power-down timer (SPEC 3).
#[derive(Clone, Debug)]
pub struct PdtTimer {
    /// The threshold that governs the present idle period, or the next, in ticks.
    in_force: u64,
    /// This port was the last transmitter.
    armed: bool,
}

impl PdtTimer {
    /// A timer just after reset, with the threshold before the first sample.
    pub fn new(t_pdt_init: u64) -> Self {
        PdtTimer {
            in_force: t_pdt_init,
            armed: false,
        }
    }

    /// The threshold in force, in ticks.
    pub fn in_force(&self) -> u64 {
        self.in_force
    }

    /// Which tick of the idle period (from 1), once complete, expires the timer:
    /// a period is a miss iff it is longer than the threshold. `None` while not armed.
    pub fn expiring_tick(&self) -> Option<u64> {
        if self.armed {
            self.in_force.checked_add(1)
        } else {
            None
        }
    }

    /// Nothing changes while these inputs hold.
    pub fn steady(&self, active: bool, transmitting: bool, t_pdt: u64) -> bool {
        !active || (self.in_force == t_pdt && self.armed == transmitting)
    }

    /// The clock edge at the end of a cycle.
    pub fn clock(&mut self, active: bool, transmitting: bool, t_pdt: u64) {
        if active {
            self.in_force = t_pdt;
            self.armed = transmitting;
        }
    }
}
