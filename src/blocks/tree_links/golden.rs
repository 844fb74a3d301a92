//! Golden model of the links of a fat tree's switch: port by port.

use crate::blocks::selectable_ports::golden::SelectablePorts;
use crate::config::plan::SelectionPlan;

/// What a switch sees in a cycle; ports are bits, those down first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inputs {
    /// It is one of the minimal tree.
    pub minimal: bool,
    /// Ports with a cable.
    pub cabled: u64,
    /// Links that come in and are on, as the other ends say.
    pub link_on_in: u64,
    /// Ports at which packets have come that were not given a port yet.
    pub unrouted: u64,
    /// Ports for which packets wait.
    pub waiting: u64,
    /// Ports by which packets are leaving.
    pub transmitting: u64,
}

impl Inputs {
    /// The pins by their names.
    pub fn pins(&self) -> [(&'static str, u64); 6] {
        [
            ("minimal", self.minimal.into()),
            ("cabled", self.cabled),
            ("link_on_in", self.link_on_in),
            ("unrouted", self.unrouted),
            ("waiting", self.waiting),
            ("transmitting", self.transmitting),
        ]
    }
}

/// What is known of one port.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// Packets may come by it.
    incoming: bool,
    /// It was on, or had something to carry, the cycle before.
    carries: bool,
}

/// Cycle-exact model of a switch's links (Alonso 3).
#[derive(Clone, Debug)]
pub struct TreeLinks {
    ports_down: usize,
    links: Vec<Link>,
    selectable: SelectablePorts,
}

impl TreeLinks {
    /// A switch just after reset: all links are on.
    pub fn new(plan: &SelectionPlan) -> TreeLinks {
        let links = plan.ports_down + plan.ports_up;
        let link = Link {
            incoming: true,
            carries: true,
        };
        TreeLinks {
            ports_down: plan.ports_down as usize,
            links: vec![link; links as usize],
            selectable: SelectablePorts::new(plan),
        }
    }

    /// Whether packets may be given to a port in this cycle.
    fn is_on(&self, port: usize, inputs: &Inputs) -> bool {
        let leads_down = port < self.ports_down;
        let wanted = match (inputs.minimal, leads_down) {
            (true, true) => true,
            (true, false) => self.selectable.selectable() >> (port - self.ports_down) & 1 == 1,
            (false, true) => self.links.iter().any(|link| link.incoming),
            // A port up without one below it is never reached.
            (false, false) => {
                let below = port - self.ports_down;
                below < self.ports_down && self.links[below].incoming
            }
        };
        wanted && inputs.cabled >> port & 1 == 1
    }

    fn bits(&self, is: impl Fn(usize) -> bool) -> u64 {
        (0..self.links.len())
            .map(|port| u64::from(is(port)) << port)
            .sum()
    }

    /// The ports that packets may be given to in this cycle.
    pub fn on(&self, inputs: &Inputs) -> u64 {
        self.bits(|port| self.is_on(port, inputs))
    }

    /// The links that are on.
    pub fn link_on(&self, inputs: &Inputs) -> u64 {
        self.bits(|port| self.is_on(port, inputs) || self.links[port].carries)
    }

    /// The clock edge at the end of this cycle.
    pub fn clock(&mut self, inputs: &Inputs) {
        let on = self.on(inputs);
        for (port, link) in self.links.iter_mut().enumerate() {
            let is = |ports: u64| ports >> port & 1 == 1;
            let told = is(inputs.link_on_in) && is(inputs.cabled);
            link.incoming = told || link.incoming && is(inputs.unrouted);
            let has_packets = is(inputs.waiting) || is(inputs.transmitting);
            link.carries = is(on) || link.carries && has_packets;
        }
        self.selectable
            .clock(inputs.transmitting >> self.ports_down);
    }
}
