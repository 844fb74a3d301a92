//! Golden model of the time after a link has come up in which no low power idle may be sent.

/// Cycle-exact model of the hold-off.
#[derive(Clone, Debug)]
pub struct LpiHoldOff {
    /// The cycles of the hold-off that have passed since the link came up.
    passed: u64,
    /// It had not passed a cycle ago.
    waits: bool,
}

impl Default for LpiHoldOff {
    /// Just after reset, from when on it counts as well.
    fn default() -> Self {
        LpiHoldOff {
            passed: 0,
            waits: true,
        }
    }
}

impl LpiHoldOff {
    /// Whether no LPI may be sent in this cycle; without a link, or with a fault, it may not.
    pub fn holds(&self, link_fault: bool) -> bool {
        link_fault || self.waits
    }

    /// The clock edge at the end of a cycle.
    pub fn clock(&mut self, link_fault: bool, hold_off: u64) {
        self.pass(link_fault, hold_off, 1);
    }

    /// So many clock edges one after the other with the same inputs.
    pub fn pass(&mut self, link_fault: bool, hold_off: u64, cycles: u64) {
        if cycles == 0 {
            return;
        }
        if link_fault {
            *self = LpiHoldOff::default();
            return;
        }
        let left = hold_off.saturating_sub(self.passed);
        self.waits = cycles - 1 < left;
        self.passed += cycles.min(left);
    }

    /// Cycles, the present one included, for which [`holds`](Self::holds) stays as it is if the inputs do;
    /// `u64::MAX` is for ever.
    pub fn quiet_cycles(&self, link_fault: bool, hold_off: u64) -> u64 {
        let left = hold_off.saturating_sub(self.passed);
        match (link_fault, self.waits) {
            (true, _) => u64::MAX,
            (false, true) => left + 1,
            // The time has become longer.
            (false, false) if left > 0 => 1,
            (false, false) => u64::MAX,
        }
    }
}
