//! The links of a fat tree's switch, turned on and off (Alonso 3).

pub mod golden;
#[cfg(test)]
mod tests;

use crate::blocks::selectable_ports::SelectablePorts;
use crate::config::plan::SelectionPlan;
use crate::hdl::prelude::*;

block! {
    /// Turns the links on which a switch of a fat tree sends on and off (Alonso 3). Those of the minimal
    /// tree stay on, so that there is always a way to every node. A switch of that tree has as many ports
    /// up as its load needs; any other switch has only what it is reached by.
    ///
    /// One circuit serves every place of the tree: straps say which. A port's controller is kept awake
    /// (`force_wake`) while its link is on, and sleeps at once, with `t_pdt` 0, while it is off.
    pub struct TreeLinks(clk, rst);

    /// The links of a switch with the ports of `plan`: those down first, then those up.
    pub fn new(plan: &SelectionPlan) {
        let (down, up) = (plan.ports_down, plan.ports_up);
        let ports = down + up;
        let all = u128::MAX >> (128 - ports);
        let down_ports = u128::MAX >> (128 - down);
    }

    about(
        "tree_links",
        format!(
            "Turns the links on which a switch of a fat tree sends on and off. Ports 0 to {} lead\n\
             down, ports {down} to {} up. All links down of a switch of the minimal tree are on,\n\
             and of the links up the first ones, as many as their load needs. In any other switch\n\
             a link up is on while the link that comes in at the port below it is, and the links\n\
             down are on while any link that comes in is. A link that is turned off carries what\n\
             waits for it first, and only then the other end is told.",
            down - 1, ports - 1
        ),
    )

    {
        pub in minimal: Bit("strap: this switch is one of the minimal tree"),
        pub in cabled: Bits(ports, "straps: ports with a cable; of those up all have one, or none"),
        pub in link_on_in: Bits(ports, "ports whose other end says that the link from there is on"),
        pub in unrouted: Bits(
            ports, "ports at which packets have come that were not given a port yet"
        ),
        pub in waiting: Bits(
            ports, "ports that packets were given to that have not begun to leave, from the next cycle on"
        ),
        pub in transmitting: Bits(ports, "the ports by which a packet is leaving in this cycle"),
        pub out on: Bits(ports, "ports that packets may be given to"),
        pub out link_on: Bits(
            ports, "links that are on, to be told to the other end and kept awake (force_wake)"
        ),
        child selectable_ports: SelectablePorts(plan),
        pub reg incoming: Bits(ports, all, "links by which packets may come"),
        pub reg carries: Bits(ports, all, "links that were on, or had to carry something, the cycle before"),
        local from_below: Bits(ports, "of those, the ones from below, at the ports above them"),
        local ports_up: Bits(ports, "ports up that are wanted"),
        local ports_down: Bits(ports, "ports down that are wanted"),
        constant shift: Number(down, "from a port down to the port up that follows it"),
        constant lower: Bits(ports, down_ports, "all ports down"),
        constant upper: Bits(ports, all & !down_ports, "all ports up"),
        // For the proofs (docs/evidence/proofs.md).
        property way_down(
            "While any link comes in by which packets may come, they may be given to every port down."
        ),
        property way_up(
            "While packets may come from below, they may be given to a port up: to the first in a switch \
             of the minimal tree, to the one above the port where they come in any other."
        ),
        property tree_kept("The links of the minimal tree are on."),
        property kept_for_packets("A link is on while a packet that was given to it is there."),
        property on_is_told("Ports that packets may be given to are links that are on."),
        property incoming_kept(
            "A link that brought a packet is taken for on until that has been given a port."
        ),
        local first_up: Bits(ports, "the first port up"),
        reg needed_then: Bits(ports, 0, "links that had to carry something the cycle before"),
        reg unrouted_then: Bits(ports, 0, "packets of the cycle before that had been given no port"),
        constant one: Bits(ports, 1, "a port"),
    }
}

impl Logic for TreeLinks {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("A link that is turned off may have brought what has to find a way yet.");
        self.incoming.d.next = (self.link_on_in.val() & self.cabled.val())
            | (self.incoming.q.val() & self.unrouted.val());

        self.selectable_ports.transmitting.next = bit_cast(
            self.transmitting.val() >> self.shift.val(),
            &self.selectable_ports.transmitting,
        );
        self.from_below.next = (self.incoming.q.val() & self.lower.val()) << self.shift.val();
        if self.minimal.val() {
            self.ports_up.next = bit_cast(self.selectable_ports.selectable.val(), &self.from_below)
                << self.shift.val();
            self.ports_down.next = self.lower.val();
        } else {
            self.ports_up.next = self.from_below.val() & self.upper.val();
            self.ports_down.next = 0.into();
            if self.incoming.q.val().any() {
                self.ports_down.next = self.lower.val();
            }
        }
        self.on.next = (self.ports_up.val() | self.ports_down.val()) & self.cabled.val();

        comment!(
            "A packet that was given to a port in the last cycle in which it was on waits by now."
        );
        self.link_on.next = self.on.val() | self.carries.q.val();
        self.carries.d.next =
            self.on.val() | (self.carries.q.val() & (self.waiting.val() | self.transmitting.val()));

        self.way_down.d.next = !self.incoming.q.val().any()
            | !(self.lower.val() & self.cabled.val() & !self.on.val()).any();
        self.first_up.next = self.one.val() << self.shift.val();
        if self.minimal.val() {
            self.way_up.d.next = !(self.first_up.val() & self.cabled.val() & !self.on.val()).any();
        } else {
            self.way_up.d.next =
                !(self.from_below.val() & self.upper.val() & self.cabled.val() & !self.on.val())
                    .any();
        }
        self.tree_kept.d.next = !self.minimal.val()
            | !((self.lower.val() | self.first_up.val()) & self.cabled.val() & !self.link_on.val())
                .any();
        self.needed_then.d.next =
            self.link_on.val() & (self.waiting.val() | self.transmitting.val());
        self.kept_for_packets.d.next = !(self.needed_then.q.val() & !self.link_on.val()).any();
        self.on_is_told.d.next = !(self.on.val() & !self.link_on.val()).any();
        self.unrouted_then.d.next = self.incoming.q.val() & self.unrouted.val();
        self.incoming_kept.d.next = !(self.unrouted_then.q.val() & !self.incoming.q.val()).any();
    }
}
