//! Golden model of the manager of selectable ports: bytes of a window against what could be sent.

use std::cmp::Ordering;

use crate::config::plan::SelectionPlan;

/// Cycle-exact model of the manager (POWAR 3, Algorithms 2 and 3).
#[derive(Clone, Debug)]
pub struct SelectablePorts {
    plan: SelectionPlan,
    /// The first so many ports may be taken.
    selectable: u32,
    /// Clock cycles since reset.
    now: u64,
    /// Ports that were sending in the cycle before, and in the cycles of the window before that.
    sending: u32,
    busy: u64,
}

impl SelectablePorts {
    /// A manager just after reset: all ports may be taken.
    pub fn new(plan: &SelectionPlan) -> SelectablePorts {
        SelectablePorts {
            plan: *plan,
            selectable: plan.ports_up,
            now: 0,
            sending: 0,
            busy: 0,
        }
    }

    /// The ports that packets may take in the present cycle, as bits.
    pub fn selectable(&self) -> u64 {
        (0..self.selectable).map(|port| 1 << port).sum()
    }

    /// The clock edge at the end of a cycle in which these ports are sending.
    pub fn clock(&mut self, transmitting: u64) {
        if self.now > 0 && self.now.is_multiple_of(self.plan.window) {
            let busy = std::mem::take(&mut self.busy);
            match self.asks_for(busy) {
                Ordering::Greater if self.selectable < self.plan.ports_up => self.selectable += 1,
                Ordering::Less if self.selectable > 1 => self.selectable -= 1,
                _ => {}
            }
        }
        self.busy += u64::from(self.sending);
        self.sending = transmitting.count_ones();
        self.now += 1;
    }

    /// What so many cycles of sending ask for: more ports, less, or as many.
    fn asks_for(&self, busy: u64) -> Ordering {
        let used = u128::from(busy) * 1_000_000;
        let room = u128::from(self.plan.window) * u128::from(self.selectable);
        let above = used > room * u128::from(self.plan.on_millionths);
        let below = used < room * u128::from(self.plan.off_millionths);
        i32::from(above).cmp(&i32::from(below))
    }
}
