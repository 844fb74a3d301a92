//! The selection function of a switch (POWAR 3, Algorithm 1).

pub mod golden;
#[cfg(test)]
mod tests;

use crate::config::plan::{SelectionKind, SelectionPlan};
use crate::hdl::prelude::*;

block! {
    /// Chooses a port for a packet among those that lead to its destination: in turn, by what is busy,
    /// awake and selectable (POWAR 3, Algorithm 1; POWAR 4.2 for the others). Where none can be had it
    /// chooses none, and the packet asks again.
    pub struct PortChoice(clk, rst);

    /// The selection function among the ports up of `plan`.
    pub fn new(plan: &SelectionPlan) {
        let ports = plan.ports_up;
        let turn = clog2(ports.into());
        let by_state = plan.kind != SelectionKind::RoundRobin;
        let waits_for_awake = plan.kind == SelectionKind::Alonso;
        let limited = matches!(plan.kind, SelectionKind::Powar | SelectionKind::Alonso);
        let allowed = match waits_for_awake {
            true => "ports whose link is on (tree_links)",
            false => "ports that the load needs (selectable_ports)",
        };
        let rule = match plan.kind {
            SelectionKind::RoundRobin => "in turn, those that are busy left out.",
            SelectionKind::FirstOn => {
                "in turn, one that is free and awake if there\n\
                 is any, or else one that is free."
            }
            SelectionKind::Powar => {
                "in turn, of those that the load needs\n\
                 one that is free and awake if there is any, or else one that is free."
            }
            SelectionKind::Alonso => {
                "in turn, of the links that are on one that\n\
                 is free. A link on its way up takes packets only where no other is on."
            }
        };
    }

    about(
        "port_choice",
        format!("Chooses one of {ports} ports for a packet: {rule}"),
    )

    {
        pub in choose: Bit("a packet takes the port that is chosen in this cycle"),
        pub in choices: Bits(ports, "ports that lead to its destination"),
        pub in busy: Bits(ports, "ports that can take no packet now"),
        pub in awake: Bits(ports, "ports whose link is awake") if by_state,
        pub in allowed: Bits(ports, allowed) if limited,
        pub out chosen: Bits(ports, "the port that the packet takes, as a bit; 0 if there is none"),
        pub out found: Bit("there is one"),
        pub reg turn: Bits(turn, 0, "the port whose turn it is"),
        local usable: Bits(ports, "ports that may be taken"),
        local free: Bits(ports, "those of them that are free"),
        local usable_awake: Bits(ports, "ports that may be taken, and are awake") if by_state,
        local free_awake: Bits(ports, "those of them that are free") if by_state,
        local candidates: Bits(ports, "ports that are chosen among"),
        local not_passed: Bits(ports, "ports from the turn on"),
        local in_turn: Bits(ports, "candidates among them"),
        local first: Bits(ports, "candidates, without those before the turn if any comes after it"),
        local places[_ in 0..ports + 1]: Bits(turn, "the place of the port chosen, found so far"),
        constant place[port in 0..ports]: Bits(turn, port.into(), format!("place of port {port}")),
        constant last_port: Bits(turn, u128::from(ports) - 1, "place of the last port"),
        constant all_ports: Bits(ports, u128::MAX >> (128 - ports), "all ports"),
        choice limited(limited), // not all ports may be taken
        choice by_state(by_state), // links that are awake come first
        choice waits_for_awake(waits_for_awake), // also where one that is awake is busy
        number _ports(ports),
        // For the proofs (docs/evidence/proofs.md).
        property chosen_fits("A port that is chosen leads to the destination, and is free."),
        property one_chosen("No more than one port is chosen."),
        property found_if_any(match waits_for_awake {
            true => "A port is found wherever one is free, unless it sleeps and a busy one does not.",
            false => "A port is found wherever one is free.",
        }),
        property awake_first("No port that sleeps is chosen where one that is awake may be taken.") if by_state,
        property turns_come(
            "A port that could have been chosen each time is passed over by each other port at most once."
        ),
        invariant turn_in_range("The turn is that of a port."),
        invariant turn_nears("A port that was passed over so often waits for no more turns than are left."),
        local after[_ in 0..ports]: Bits(turn + 1, "turns before its own"),
        local before_turn[_ in 0..ports]: Bit("the turn has passed its place"),
        reg passed_over[port in 0..ports]: Bits(
            turn + 1, 0, format!("so often in a row port {port} could have been chosen, and was not")
        ),
        constant wide_place[port in 0..ports]: Bits(turn + 1, port.into(), format!("place of port {port}")),
        constant ports: Bits(turn + 1, ports.into(), "number of ports"),
        local wide_turn: Bits(turn + 1, "the turn"),
    }
}

impl Logic for PortChoice {
    #[hdl_gen]
    fn update(&mut self) {
        if self.limited {
            self.usable.next = self.choices.val() & self.allowed.val();
        } else {
            self.usable.next = self.choices.val();
        }
        self.free.next = self.usable.val() & !self.busy.val();
        if self.by_state {
            self.usable_awake.next = self.usable.val() & self.awake.val();
            self.free_awake.next = self.free.val() & self.awake.val();
            self.candidates.next = self.free.val();
            if self.waits_for_awake {
                if self.usable_awake.val().any() {
                    self.candidates.next = self.free_awake.val();
                }
            } else {
                if self.free_awake.val().any() {
                    self.candidates.next = self.free_awake.val();
                }
            }
        } else {
            self.candidates.next = self.free.val();
        }

        comment!("The first candidate from the turn on, or else the first of all: the lowest bit.");
        self.not_passed.next = self.all_ports.val() << self.turn.q.val();
        self.in_turn.next = self.candidates.val() & self.not_passed.val();
        self.first.next = self.candidates.val();
        if self.in_turn.val().any() {
            self.first.next = self.in_turn.val();
        }
        self.chosen.next = self.first.val() & !(self.first.val() - 1);
        self.found.next = self.candidates.val().any();

        self.places[0].next = 0.into();
        for i in 0..self._ports {
            self.places[i + 1].next = self.places[i].val();
            if self.chosen.val().get_bit(i) {
                self.places[i + 1].next = self.place[i].val();
            }
        }
        if self.choose.val() & self.found.val() {
            if self.places[self._ports].val() == self.last_port.val() {
                self.turn.d.next = 0.into();
            } else {
                self.turn.d.next = self.places[self._ports].val() + 1;
            }
        }

        self.chosen_fits.d.next =
            !(self.chosen.val() & !(self.choices.val() & !self.busy.val())).any();
        if self.limited {
            self.chosen_fits.d.next = !(self.chosen.val()
                & !(self.choices.val() & self.allowed.val() & !self.busy.val()))
            .any();
        }
        if self.waits_for_awake {
            self.found_if_any.d.next = self.found.val()
                | !self.free.val().any()
                | (self.usable.val() & self.awake.val()).any();
            self.awake_first.d.next = !(self.chosen.val() & !self.awake.val()).any()
                | !(self.usable.val() & self.awake.val()).any();
        } else {
            self.found_if_any.d.next = self.found.val() | !self.free.val().any();
            if self.by_state {
                self.awake_first.d.next = !(self.chosen.val() & !self.awake.val()).any()
                    | !(self.free.val() & self.awake.val()).any();
            }
        }
        self.one_chosen.d.next = !(self.chosen.val() & (self.chosen.val() - 1)).any();
        self.turn_in_range.d.next = self.turn.q.val() <= self.last_port.val();
        self.wide_turn.next = bit_cast(self.turn.q.val(), &self.wide_turn);
        self.turns_come.d.next = true;
        self.turn_nears.d.next = true;
        for i in 0..self._ports {
            self.before_turn[i].next = self.wide_place[i].val() < self.wide_turn.val();
            self.after[i].next = self.wide_place[i].val() - self.wide_turn.val();
            if self.before_turn[i].val() {
                self.after[i].next =
                    (self.wide_place[i].val() + self.ports.val()) - self.wide_turn.val();
            }
            if self.choose.val() & self.found.val() {
                if self.candidates.val().get_bit(i) & !self.chosen.val().get_bit(i) {
                    self.passed_over[i].d.next = self.passed_over[i].q.val() + 1;
                } else {
                    self.passed_over[i].d.next = 0.into();
                }
            }
            if self.passed_over[i].q.val() >= self.ports.val() {
                self.turns_come.d.next = false;
            }
            if (self.passed_over[i].q.val() + self.after[i].val()) >= self.ports.val() {
                self.turn_nears.d.next = false;
            }
        }
    }
}
