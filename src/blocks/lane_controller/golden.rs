//! Golden model of the lane controller: since when its port has done what.

use crate::config::plan::LanePlan;

/// What a port does with its lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// All are on.
    All,
    /// All but the low ones are being turned off.
    Fewer,
    /// The low ones are on.
    Low,
    /// All are being turned on.
    More,
}

/// Cycle-exact model of the lane controller.
#[derive(Clone, Debug)]
pub struct LaneController {
    plan: LanePlan,
    lanes: Lanes,
    /// Clock cycles for which the port has been idle, or for which its lanes have been changing.
    passed: u64,
}

impl LaneController {
    /// A controller just after reset.
    pub fn new(plan: &LanePlan) -> LaneController {
        LaneController {
            plan: *plan,
            lanes: Lanes::All,
            passed: 0,
        }
    }

    /// What the lanes do in the present cycle.
    pub fn lanes(&self) -> Lanes {
        self.lanes
    }

    /// Whether a packet may start in the present cycle, in which so many bytes wait.
    pub fn may_send(&self, backlog: u64) -> bool {
        match self.lanes {
            Lanes::All => true,
            Lanes::Low => backlog <= self.plan.level,
            Lanes::Fewer | Lanes::More => false,
        }
    }

    /// Clock cycles, the present one included, after which the lanes do something else if these inputs
    /// hold; `None`: never.
    pub fn changes_in(&self, active: bool, transmitting: bool, backlog: u64) -> Option<u64> {
        let waits_for = match self.lanes {
            Lanes::All if active => return None,
            Lanes::All => self.plan.t_down,
            Lanes::Fewer => self.plan.t_narrow,
            Lanes::Low if !transmitting && backlog > self.plan.level => return Some(1),
            Lanes::Low => return None,
            Lanes::More => self.plan.t_widen,
        };
        Some(waits_for - self.passed)
    }

    /// So many clock edges at the end of cycles with these inputs; at most
    /// [`LaneController::changes_in`].
    pub fn clock(&mut self, cycles: u64, active: bool, transmitting: bool, backlog: u64) {
        let changes = self.changes_in(active, transmitting, backlog);
        if changes == Some(cycles) {
            self.passed = 0;
            self.lanes = match self.lanes {
                Lanes::All => Lanes::Fewer,
                Lanes::Fewer => Lanes::Low,
                Lanes::Low => Lanes::More,
                Lanes::More => Lanes::All,
            };
        } else {
            self.passed = match (self.lanes, changes) {
                (Lanes::Low, _) | (_, None) => 0,
                _ => self.passed + cycles,
            };
        }
    }
}
