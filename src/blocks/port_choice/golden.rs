//! Golden model of the selection function: ports asked one after the other.

use crate::config::plan::{SelectionKind, SelectionPlan};

/// What the selection function sees in a cycle; ports are bits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inputs {
    /// A packet takes the port that is chosen.
    pub choose: bool,
    /// Ports that lead to its destination.
    pub choices: u64,
    /// Ports that can take no packet.
    pub busy: u64,
    /// Ports whose link is awake.
    pub awake: u64,
    /// Of POWAR ports that are selectable, of Alonso links that are on.
    pub allowed: u64,
}

/// Cycle-exact model of the selection function (POWAR 3, Algorithm 1; POWAR 4.2; Alonso 4.3).
#[derive(Clone, Debug)]
pub struct PortChoice {
    kind: SelectionKind,
    ports: u32,
    turn: u32,
}

impl PortChoice {
    /// One just after reset.
    pub fn new(plan: &SelectionPlan) -> PortChoice {
        PortChoice {
            kind: plan.kind,
            ports: plan.ports_up,
            turn: 0,
        }
    }

    /// The port that a packet takes in this cycle, if it can have one.
    pub fn chosen(&self, inputs: &Inputs) -> Option<u32> {
        let is = |ports: u64, port: u32| ports >> port & 1 == 1;
        let in_turn = (0..self.ports).map(|later| (self.turn + later) % self.ports);
        let usable = in_turn.filter(|&port| {
            let allowed = match self.kind {
                SelectionKind::Powar | SelectionKind::Alonso => is(inputs.allowed, port),
                SelectionKind::RoundRobin | SelectionKind::FirstOn => true,
            };
            is(inputs.choices, port) && allowed
        });
        let mut free = usable.clone().filter(|&port| !is(inputs.busy, port));
        let mut free_awake = free.clone().filter(|&port| is(inputs.awake, port));
        match self.kind {
            SelectionKind::RoundRobin => free.next(),
            SelectionKind::FirstOn | SelectionKind::Powar => free_awake.next().or(free.next()),
            SelectionKind::Alonso => {
                let any_awake = usable.clone().any(|port| is(inputs.awake, port));
                match any_awake {
                    true => free_awake.next(),
                    false => free.next(),
                }
            }
        }
    }

    /// The clock edge at the end of this cycle.
    pub fn clock(&mut self, inputs: &Inputs) {
        if let Some(port) = self.chosen(inputs).filter(|_| inputs.choose) {
            self.turn = (port + 1) % self.ports;
        }
    }
}
