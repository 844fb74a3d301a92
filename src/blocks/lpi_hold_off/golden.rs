//! Golden model of the time after a link has come up in which no low power idle may be sent.

/// Cycle-exact model of the hold-off.
#[derive(Clone, Debug, Default)]
pub struct LpiHoldOff {
    /// The cycles of the hold-off that have passed since the link came up.
    passed: u64,
}

impl LpiHoldOff {
    /// Just after reset, from when on it counts as well.
    pub fn new() -> Self {
        LpiHoldOff::default()
    }

    /// Whether no LPI may be sent in this cycle; without a link, or with a fault, it may not.
    pub fn holds(&self, link_fault: bool, hold_off: u64) -> bool {
        link_fault || self.passed < hold_off
    }

    /// The clock edge at the end of a cycle.
    pub fn clock(&mut self, link_fault: bool, hold_off: u64) {
        self.pass(link_fault, hold_off, 1);
    }

    /// So many clock edges one after the other with the same inputs.
    pub fn pass(&mut self, link_fault: bool, hold_off: u64, cycles: u64) {
        if link_fault && cycles > 0 {
            self.passed = 0;
        } else {
            self.passed += cycles.min(hold_off.saturating_sub(self.passed));
        }
    }

    /// Cycles, the present one included, for which [`holds`](Self::holds) stays as it is if the inputs do;
    /// `u64::MAX` is for ever.
    pub fn quiet_cycles(&self, link_fault: bool, hold_off: u64) -> u64 {
        match hold_off.saturating_sub(self.passed) {
            left if left > 0 && !link_fault => left,
            _ => u64::MAX,
        }
    }
}
