//! Which links are on in a network whose switches turn them on and off: the rules of one switch.
//!
//! A switch decides about the links that it sends on; each direction of a cable is a link of its own.
//! Some stay on, so that there is always a way to every node. Of several ports that lead to the same
//! destinations a switch has as many on as their load needs.
//!
//! In a fat tree (Alonso 3) the links of the minimal tree stay on, and the ports of its switches that lead
//! up follow their load. Any other switch has only what it is reached by: a port up for
//! each link that comes from below, and all ports down as long as any link comes at all. So what a
//! switch turns off or on spreads: its neighbours hear of it, and follow.
//!
//! Where there are several cables between neighbours, as in the torus of POWAR 4.2 (after Alonso et al.
//! 2010), one of them stays on, and the others follow the load of all that are on.

use std::cmp::Ordering;
use std::ops::Range;

use super::port_set::{set, set_of};
use super::selection::Thresholds;
use super::topology::Topology;

/// The ports of a switch that it turns on and off, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// These are to carry packets again.
    pub on: u64,
    /// These are to carry no more packets than those that already wait for them.
    pub off: u64,
}

/// Ports that lead to the same destinations.
#[derive(Clone, Debug)]
struct Group {
    ports: Range<u8>,
    /// What left by them in the present window.
    bytes: u64,
}

/// One switch. Ports are bits of a word.
#[derive(Clone, Debug)]
pub struct OnOffSwitch {
    /// Ports of which as many are on as their load needs: those up in a fat tree, or the cables to each
    /// neighbour.
    groups: Vec<Group>,
    /// All ports with a cable.
    cabled: u64,
    /// It has on what it is reached by: a switch of a fat tree that is not in the minimal tree.
    follows: bool,
    /// Packets may be given to these.
    on: u64,
    /// Of the links that come in at these ports, packets may come.
    incoming: u64,
}

impl OnOffSwitch {
    /// A switch whose links are all on. `None` in a network that has none that could be off.
    pub fn new(topology: &dyn Topology, switch: usize) -> Option<OnOffSwitch> {
        let (radix, first) = (topology.radix(), switch * topology.radix());
        let ranges = (0..radix as u8).map(|port| topology.choices(switch, port));
        let mut ranges: Vec<Range<u8>> = ranges.filter(|ports| ports.len() > 1).collect();
        ranges.dedup();
        let cabled = |port: &u8| topology.peer(first + usize::from(*port)).is_some();
        let cabled = set_of((0..radix as u8).filter(cabled));
        Some(OnOffSwitch {
            groups: (ranges.into_iter())
                .map(|ports| Group { ports, bytes: 0 })
                .collect(),
            cabled,
            // All links down of the minimal tree's switches belong to it (Alonso 3).
            follows: !topology.stays_on(first)?,
            on: cabled,
            incoming: cabled,
        })
    }

    /// The ports that packets may be given to.
    pub fn on(&self) -> u64 {
        self.on
    }

    /// Whether the load of some of its ports is looked at.
    pub fn is_checked(&self) -> bool {
        !self.follows && !self.groups.is_empty()
    }

    /// A packet of `wire` bytes leaves by a port; whether the end of the window needs a look for it.
    pub fn departs(&mut self, port: u8, wire: u32) -> bool {
        if self.follows {
            return false;
        }
        let mut groups = self.groups.iter_mut();
        let group = groups.find(|group| group.ports.contains(&port));
        group.map(|group| group.bytes += u64::from(wire)).is_some()
    }

    /// At the end of a window: of each group one port more or less, if the utilisation of those that are on
    /// asks for it. The first one stays on. A byte takes `byte_ps` on a link.
    pub fn check(&mut self, thresholds: &Thresholds, byte_ps: u64) -> Change {
        let mut wanted = self.on;
        for group in &mut self.groups {
            let ports = set(&group.ports);
            let (on, off) = (wanted & ports, !wanted & ports);
            let bytes = std::mem::take(&mut group.bytes);
            match thresholds.compare(on.count_ones(), bytes, byte_ps) {
                // "The selected link is the one with lower index"; the first to go is the last (Alonso
                // 3).
                Ordering::Greater => wanted |= off & off.wrapping_neg(),
                Ordering::Less if on.count_ones() > 1 => {
                    wanted &= !(1 << (63 - on.leading_zeros()))
                }
                Ordering::Less | Ordering::Equal => {}
            }
        }
        self.turn(wanted)
    }

    /// Without a packet no further check changes anything.
    pub fn is_at_rest(&self) -> bool {
        let groups = self.groups.iter().map(|group| set(&group.ports));
        groups
            .map(|ports| self.on & ports)
            .all(|on| on.count_ones() <= 1)
    }

    /// The other end of a port has turned the link that comes in there on or off.
    pub fn hears(&mut self, port: u8, on: bool) -> Change {
        self.incoming = self.incoming & !(1 << port) | u64::from(on) << port;
        if !self.follows {
            return Change::default();
        }
        // The last switches of a fat tree have no ports up.
        let group = self.groups.first();
        let up = group.map_or(0, |group| set(&group.ports));
        let from_below = self.incoming & !up;
        // "the link attached to port i is being turned off, it turns off the up link i + k" (Alonso 3).
        let mut wanted = group.map_or(0, |group| from_below << group.ports.start) & up;
        if self.incoming != 0 {
            wanted |= self.cabled & !up;
        }
        self.turn(wanted)
    }

    /// Has these ports on, and no others.
    fn turn(&mut self, wanted: u64) -> Change {
        let change = Change {
            on: wanted & !self.on,
            off: self.on & !wanted,
        };
        self.on = wanted;
        change
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::blocks::selectable_ports::golden::SelectablePorts;
    use crate::blocks::tree_links::golden;
    use crate::config::plan::{SelectionKind, SelectionPlan};
    use crate::network::port_set::ports;
    use crate::network::topology::{ConfiguredTopology, Value, KINDS};

    const THRESHOLDS: Thresholds = Thresholds {
        on_millionths: 650_000,
        off_millionths: 300_000,
        window_ps: 1_000_000,
    };

    /// The 4-ary 3-tree of Alonso 3 and 4. Switches: 4 at the bottom and 4 in the middle of each of 4
    /// subtrees, then 16 at the top.
    fn tree() -> ConfiguredTopology {
        let kind = KINDS.iter().find(|kind| kind.name == "k-ary-n-tree");
        let shape = [("k", Value::Number(4)), ("n", Value::Number(3))];
        ConfiguredTopology::new(kind.unwrap(), &shape).unwrap()
    }

    /// Four cables between neighbours.
    fn torus() -> ConfiguredTopology {
        let kind = KINDS.iter().find(|kind| kind.name == "torus");
        let shape = [("dims", Value::List(vec![4, 4]))];
        ConfiguredTopology::new(kind.unwrap(), &shape).unwrap()
    }

    fn switch(number: usize) -> OnOffSwitch {
        OnOffSwitch::new(&*tree(), number).unwrap()
    }

    fn off(off: u64) -> Change {
        Change { on: 0, off }
    }

    fn on(on: u64) -> Change {
        Change { on, off: 0 }
    }

    /// Alonso 3: "The first link to be turned off is 2k - 1, then 2k - 2, and so on. The link k cannot be
    /// turned off"; "the selected link is the one with lower index".
    #[test]
    fn ports_up_follow_the_load() {
        let mut leaf = switch(0);
        assert!(leaf.is_checked());
        let mut load = |bytes: u32| {
            leaf.departs(4, bytes);
            // A link down is no load of the links up.
            leaf.departs(0, 1_000_000);
            let change = leaf.check(&THRESHOLDS, 1);
            (change, leaf.on(), leaf.is_at_rest())
        };
        // Four ports could send 4,000,000 bytes in a window: 30 % of that is not below U_off.
        assert_eq!(load(1_200_000), (off(0), 0xff, false));
        assert_eq!(load(1_199_999), (off(0x80), 0x7f, false));
        assert_eq!(load(899_999), (off(0x40), 0x3f, false));
        assert_eq!(load(0), (off(0x20), 0x1f, true));
        assert_eq!(load(0), (off(0), 0x1f, true));
        assert_eq!(load(650_000), (off(0), 0x1f, true));
        assert_eq!(load(650_001), (on(0x20), 0x3f, false));
        // What one port cannot carry, two can without being above U_on again.
        assert_eq!(load(1_000_000), (off(0), 0x3f, false));
        assert_eq!(load(1_300_001), (on(0x40), 0x7f, false));
    }

    /// Alonso 3: "the link attached to port i is being turned off, it turns off the up link i + k", and
    /// down links "are turned on/off all at once".
    #[test]
    fn what_is_turned_off_below_and_above_spreads() {
        // The second of the switches in the middle of the first subtree.
        let mut middle = switch(5);
        assert!(!middle.is_checked());
        assert!(!middle.departs(4, 1_000_000));
        assert_eq!(middle.hears(2, false), off(0x40));
        assert_eq!(middle.hears(0, false), off(0x10));
        // Nothing follows what comes from above, as long as anything comes.
        for port in 4..8 {
            assert_eq!(middle.hears(port, false), off(0));
        }
        assert_eq!(middle.hears(1, false), off(0x20));
        // The last link that could bring a packet: all of its own go.
        assert_eq!(middle.hears(3, false), off(0x8f));
        assert_eq!(middle.on(), 0);
        // From above: the links down, and none up.
        assert_eq!(middle.hears(6, true), on(0x0f));
        assert_eq!(middle.hears(1, true), on(0x20));
        assert_eq!(middle.hears(6, false), off(0));
        assert_eq!(middle.hears(1, false), off(0x2f));
    }

    /// POWAR 4.2 and 4.3, after Alonso et al. 2010: of the cables to each neighbour as many are on as
    /// their load needs, whatever the load of those to others, and one always is.
    #[test]
    fn cables_follow_the_load_of_their_link() {
        // Port 0 leads to the node, 1 to 4 up in the first dimension, 5 to 8 down in it, and so on.
        let mut switch = OnOffSwitch::new(&*torus(), 5).unwrap();
        assert!(switch.is_checked());
        assert_eq!(switch.hears(3, false), off(0));
        let mut load = |bytes: u32| {
            assert!(switch.departs(2, bytes));
            assert!(!switch.departs(0, 1_000_000));
            let change = switch.check(&THRESHOLDS, 1);
            (change, switch.is_at_rest())
        };
        let others = |port: u32| 1 << port << 4 | 1 << port << 8 | 1 << port << 12;
        assert_eq!(load(1_200_000), (off(others(4)), false));
        assert_eq!(load(1_199_999), (off(others(3) | 1 << 4), false));
        assert_eq!(load(899_999), (off(others(2) | 1 << 3), false));
        assert_eq!(load(0), (off(1 << 2), true));
        assert_eq!(load(650_001), (on(1 << 2), false));
        assert_eq!(switch.on(), 0b111 | others(1));
    }

    /// Alonso 3: the root of the minimal tree needs no mechanism; the other switches at the top have no
    /// links up.
    #[test]
    fn switches_at_the_top() {
        let (mut root, mut other) = (switch(32), switch(33));
        for port in 0..4 {
            assert_eq!(root.hears(port, false), off(0));
            let last = port == 3;
            assert_eq!(other.hears(port, false), off(if last { 0x0f } else { 0 }));
        }
        assert_eq!((root.on(), other.on()), (0x0f, 0));
        assert_eq!(other.hears(2, true), on(0x0f));
        assert!(!root.is_checked() && !other.is_checked());
    }

    /// Alonso 3, `p_min`: with no load at all, 168 of 384 links of a 4-ary 3-tree are on, 0.4375.
    #[test]
    fn without_a_load_the_minimal_tree_is_left() {
        let topology = tree();
        let radix = topology.radix();
        let mut switches: Vec<_> = (0..topology.switches()).map(switch).collect();
        let mut told = Vec::new();
        // More windows than there are ports up.
        for _ in 0..5 {
            let mut changes: Vec<(usize, Change)> = Vec::new();
            for (number, switch) in switches.iter_mut().enumerate() {
                if switch.is_checked() {
                    changes.push((number, switch.check(&THRESHOLDS, 1)));
                }
            }
            while let Some((number, change)) = changes.pop() {
                assert_eq!(change.on, 0);
                for port in (0..radix).filter(|port| change.off >> port & 1 == 1) {
                    let far = topology.peer(number * radix + port).unwrap();
                    told.push(far);
                    if let Some(switch) = switches.get_mut(far / radix) {
                        changes.push((far / radix, switch.hears((far % radix) as u8, false)));
                    }
                }
            }
        }
        let nodes = topology.nodes() as u32;
        let on: u32 = switches.iter().map(|switch| switch.on().count_ones()).sum();
        assert_eq!((on + nodes, told.len()), (168, 384 - 168));
        for (number, switch) in switches.iter().enumerate() {
            for port in 0..radix {
                let index = number * radix + port;
                let stays = topology.stays_on(index) == Some(true);
                assert_eq!(
                    switch.on() >> port & 1 == 1,
                    stays && topology.peer(index).is_some()
                );
            }
        }
    }

    /// The circuit of a switch of the tree, whose windows have the cycles of [`THRESHOLDS`].
    fn circuit(window: u64) -> golden::TreeLinks {
        golden::TreeLinks::new(&SelectionPlan {
            kind: SelectionKind::Alonso,
            ports_down: 4,
            ports_up: 4,
            window,
            on_millionths: THRESHOLDS.on_millionths,
            off_millionths: THRESHOLDS.off_millionths,
        })
    }

    /// The straps of a switch, with all links that come in on.
    fn straps(topology: &dyn Topology, number: usize) -> golden::Inputs {
        let first = number * topology.radix();
        let cabled = (0..8).filter(|port| topology.peer(first + port).is_some());
        golden::Inputs {
            minimal: topology.stays_on(first) == Some(true),
            cabled: cabled.map(|port| 1 << port).sum(),
            link_on_in: 0xff,
            ..golden::Inputs::default()
        }
    }

    /// The hardware of a switch (`blocks/tree_links`) turns the same links as these rules, whatever its
    /// neighbours do and however busy its links are: each of the 48 places of the tree, 200 windows.
    #[test]
    fn hardware_follows_the_same_rules() {
        const WINDOW: u64 = 40;
        let thresholds = Thresholds {
            window_ps: WINDOW,
            ..THRESHOLDS
        };
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let topology = tree();
        let (mut turned_on, mut turned_off) = (0, 0);
        for number in 0..topology.switches() {
            let (mut rules, mut circuit) = (switch(number), circuit(WINDOW));
            let mut inputs = straps(&*topology, number);
            for cycle in 0..200 * WINDOW {
                let before = rules.on();
                let busy = cycle / WINDOW % 5;
                inputs.transmitting = (4..8)
                    .filter(|_| random.random_range(0..4) < busy)
                    .map(|port| 1 << port)
                    .sum();
                circuit.clock(&inputs);
                for port in (4..8).filter(|port| inputs.transmitting >> port & 1 == 1) {
                    rules.departs(port, 1);
                }
                // The circuit looks at a window in its second cycle after it.
                match cycle % WINDOW {
                    0 if cycle > 0 => {
                        let (found, expected) = (circuit.on(&inputs), rules.on());
                        assert_eq!(found, expected, "switch {number}, cycle {cycle}");
                    }
                    at if at == WINDOW - 2 && rules.is_checked() => {
                        rules.check(&thresholds, 1);
                    }
                    // It has heard it a cycle later.
                    20 => {
                        let port = random.random_range(0..8);
                        let far = number * 8 + usize::from(port);
                        let on = random.random();
                        if topology.peer(far).is_some() {
                            inputs.link_on_in =
                                inputs.link_on_in & !(1 << port) | u64::from(on) << port;
                            rules.hears(port, on);
                        }
                    }
                    _ => {}
                }
                turned_on += (rules.on() & !before).count_ones();
                turned_off += (before & !rules.on()).count_ones();
            }
        }
        assert!(
            turned_on > 1_000 && turned_off > 1_000,
            "{turned_on}, {turned_off}"
        );
    }

    /// The circuit that counts for one link of several cables (`blocks/selectable_ports`) has the same cables
    /// on, however busy they are.
    #[test]
    fn hardware_has_the_same_cables_on() {
        const WINDOW: u64 = 40;
        let thresholds = Thresholds {
            window_ps: WINDOW,
            ..THRESHOLDS
        };
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut rules = OnOffSwitch::new(&*torus(), 5).unwrap();
        let mut circuit = SelectablePorts::new(&SelectionPlan {
            kind: SelectionKind::Powar,
            ports_down: 1,
            ports_up: 4,
            window: WINDOW,
            on_millionths: THRESHOLDS.on_millionths,
            off_millionths: THRESHOLDS.off_millionths,
        });
        // The cables of one link are ports 1 to 4.
        let cables = |rules: &OnOffSwitch| rules.on() >> 1 & 0b1111;
        let (mut turned_on, mut turned_off) = (0, 0);
        for cycle in 0..2_000 * WINDOW {
            let (before, busy) = (cables(&rules), cycle / WINDOW % 5);
            let sends = |port: &u8| before >> port & 1 == 1 && random.random_range(0..4) < busy;
            let sending = set_of((0..4).filter(sends));
            circuit.clock(sending);
            for port in ports(sending) {
                rules.departs(port + 1, 1);
            }
            match cycle % WINDOW {
                0 if cycle > 0 => assert_eq!(circuit.selectable(), before, "cycle {cycle}"),
                at if at == WINDOW - 2 => {
                    rules.check(&thresholds, 1);
                }
                _ => {}
            }
            turned_on += (cables(&rules) & !before).count_ones();
            turned_off += (before & !cables(&rules)).count_ones();
        }
        assert!(
            turned_on > 100 && turned_off > 100,
            "{turned_on}, {turned_off}"
        );
    }

    /// Alonso 3, `p_min`, of 48 such circuits that are told what their neighbours turn: without a load
    /// 168 of 384 links are left, with all ports busy all links are on.
    #[test]
    fn circuits_of_a_whole_tree_leave_the_minimal_tree() {
        const WINDOW: u64 = 40;
        let topology = tree();
        let radix = topology.radix();
        let mut circuits: Vec<_> = (0..topology.switches()).map(|_| circuit(WINDOW)).collect();
        let mut inputs: Vec<_> = (0..topology.switches())
            .map(|number| straps(&*topology, number))
            .collect();
        let nodes = topology.nodes() as u32;
        let mut run = |transmitting: u64| {
            let mut on = 0;
            for _ in 0..8 * WINDOW {
                let told: Vec<u64> = circuits
                    .iter()
                    .zip(&inputs)
                    .map(|(circuit, inputs)| circuit.link_on(inputs) & inputs.cabled)
                    .collect();
                on = told.iter().map(|links| links.count_ones()).sum::<u32>() + nodes;
                for (number, inputs) in inputs.iter_mut().enumerate() {
                    inputs.transmitting = transmitting;
                    // A NIC's link is always on; a port without a cable hears nothing.
                    let is_on = |port: usize| match topology.peer(number * radix + port) {
                        Some(far) if far < told.len() * radix => {
                            told[far / radix] >> (far % radix) & 1
                        }
                        Some(_) => 1,
                        None => 0,
                    };
                    inputs.link_on_in = (0..radix).map(|port| is_on(port) << port).sum();
                }
                for (circuit, inputs) in circuits.iter_mut().zip(&inputs) {
                    circuit.clock(inputs);
                }
            }
            on
        };
        assert_eq!([0, 0xff, 0].map(&mut run), [168, 384, 168]);
    }
}
