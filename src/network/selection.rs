//! Which of several equally short ways a packet takes: the selection functions of POWAR 3 and 4.2.
//!
//! The routing function ([`Topology::route`](super::topology::Topology::route)) names one port, and
//! [`Topology::choices`](super::topology::Topology::choices) those that lead as near to the destination:
//! the ports up in a fat tree, parallel cables in a torus. With Duato's protocol
//! ([`super::queueing`]) there are those of every dimension that leads nearer, too
//! ([`Topology::nearer`](super::topology::Topology::nearer)). The selection function chooses one of them by
//! what the switch knows: which of them are busy, and which links are awake.

#[cfg(test)]
pub(super) mod log;

use std::cmp::Ordering;
use std::ops::Range;

use super::port_set::{ports, ports_from, set, set_of};

/// How a packet's port is chosen where several lead to its destination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// The one that the routing function names.
    #[default]
    Fixed,
    /// In turn, those that are busy left out (POWAR 4.2, Round-Robin).
    RoundRobin,
    /// In turn, one whose link is awake if there is any that is not busy (POWAR 4.2, First-On).
    FirstOn,
    /// The same among as many ports as the load needs (POWAR 3, Algorithms 1 to 3).
    Powar(Thresholds),
    /// In turn, those that are busy left out, of the links that a switch has on
    /// ([`super::on_off_links`]; Alonso 3).
    Alonso(Thresholds),
}

/// When a switch has packets take more or fewer ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// Utilisation of the ports in use above which there is one more, in millionths.
    pub on_millionths: u64,
    /// Utilisation below which there is one less, in millionths.
    pub off_millionths: u64,
    /// How often the utilisation is looked at, in ps.
    pub window_ps: u64,
}

impl Thresholds {
    /// Those of POWAR 4.2, `T_on` 0.5 and `T_off` 0.25. It names no window: in 10 us some 50 of the
    /// largest packets leave a port of 400 Gb/s.
    pub const DEFAULT: Thresholds = Thresholds {
        on_millionths: 500_000,
        off_millionths: 250_000,
        window_ps: 10_000_000,
    };

    /// What the utilisation of so many ports asks for that sent so many bytes in a window.
    pub fn compare(&self, ports: u32, bytes: u64, byte_ps: u64) -> Ordering {
        let used = u128::from(bytes) * u128::from(byte_ps) * 1_000_000;
        let room = u128::from(self.window_ps) * u128::from(ports);
        if used > room * u128::from(self.on_millionths) {
            Ordering::Greater
        } else if used < room * u128::from(self.off_millionths) {
            Ordering::Less
        } else {
            Ordering::Equal
        }
    }

    /// Whether ports do not go back and forth between in use and not (POWAR 3, Alonso 3).
    ///
    /// # Errors
    /// The threshold as scenarios name it, and what would be right.
    pub fn validate(&self) -> Result<(), (&'static str, String)> {
        let fail = |key, problem| Err((key, problem));
        let part = |millionths: u64| millionths as f64 / 1e6;
        if self.on_millionths >= 1_000_000 {
            let problem = "must be below 1: no link is busier than that (POWAR 3)".into();
            return fail("select_on", problem);
        }
        if self.off_millionths == 0 {
            let problem = "must be above 0: no link is less busy than that (POWAR 3)".into();
            return fail("select_off", problem);
        }
        if self.on_millionths < 2 * self.off_millionths {
            let problem = format!(
                "the load of a port doubles when one of two is taken away, so that select_on ({}) must \
                 be at least twice select_off ({}), or ports would come and go (POWAR 3, Alonso 3); at \
                 most {} will do",
                part(self.on_millionths),
                part(self.off_millionths),
                part(self.on_millionths / 2)
            );
            return fail("select_off", problem);
        }
        Ok(())
    }
}

impl Selection {
    /// As scenarios name them.
    pub const NAMES: [&'static str; 5] = ["fixed", "round-robin", "first-on", "powar", "alonso"];

    /// The thresholds, if it has any.
    pub fn thresholds(&self) -> Option<&Thresholds> {
        match self {
            Selection::Powar(thresholds) | Selection::Alonso(thresholds) => Some(thresholds),
            Selection::Fixed | Selection::RoundRobin | Selection::FirstOn => None,
        }
    }
}

/// What waits at a port of a switch.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    /// Bytes of the packets that are to leave by it and have not begun to.
    waiting: u64,
    /// The packet on the way out: its bytes, and when it began to leave and will have left, in ps.
    leaving: u32,
    busy_from: u64,
    busy_until: u64,
    /// With POWAR the first of the ports that it was chosen among, numbered through all switches.
    group: Option<u32>,
}

impl Load {
    /// Bytes of the packet on the way out that have not left at a time after its first (ps), a byte that is
    /// leaving included.
    fn left_at(&self, time: u64) -> u64 {
        let left = self.busy_until.saturating_sub(time);
        match u128::from(self.busy_until - self.busy_from) {
            0 => 0,
            // Not more than its bytes.
            all => (u128::from(self.leaving) * u128::from(left)).div_ceil(all) as u64,
        }
    }
}

/// Ports to choose from, as POWAR sees them.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    /// So many there are; 0: nothing was chosen yet.
    ports: u8,
    /// The first so many are selectable.
    selectable: u8,
    /// Bytes of the packets that have left or begun to, without those that left in earlier windows: POWAR
    /// counts the "flits forwarded" (POWAR 3.1).
    bytes: u64,
    /// When it ends, in ps.
    window_end: u64,
}

/// What Duato's protocol has a packet choose from in a switch (POWAR 3: "a set of adaptive ports/VCs and one
/// escape link/VC").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channels {
    /// The ports of the adaptive channels, as a set.
    pub nearer: u64,
    /// Their queue at the other end of the link.
    pub adaptive: u8,
    /// The port of the escape channel, or one of the cables to the same neighbour.
    pub escape: u8,
    /// Its queue at the other end of the link.
    pub escape_queue: u8,
}

/// A packet that asks for a port.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// When, in ps.
    pub now: u64,
    /// The switch that it is in.
    pub switch: usize,
    /// The port at which it came: circuits have a turn for each.
    #[cfg(test)]
    pub input: u8,
    /// The ports that the switch has on, as a set.
    pub on: u64,
    /// Its bytes on the wire.
    pub wire: u32,
}

/// The selection function of some switches, with what it remembers.
#[derive(Clone, Debug)]
pub struct Selector {
    selection: Selection,
    radix: usize,
    byte_ps: u64,
    /// By switch: the port whose turn it is.
    turns: Vec<u8>,
    /// The same of the cables of escape channels. POWAR's Algorithm 1 leaves its pointer where it is when a
    /// packet takes the deterministic port, and has "another arbitration" among the cables, which it omits.
    escape_turns: Vec<u8>,
    /// By port.
    loads: Vec<Load>,
    /// By the first port to choose from.
    groups: Vec<Group>,
}

impl Selector {
    /// One for so many switches whose ports are idle; `None` where the routing function decides.
    pub fn new(
        selection: Selection,
        switches: usize,
        radix: usize,
        byte_ps: u64,
    ) -> Option<Selector> {
        let ports = switches * radix;
        let groups = match selection {
            Selection::Fixed => return None,
            Selection::Powar(_) => vec![Group::default(); ports],
            Selection::RoundRobin | Selection::FirstOn | Selection::Alonso(_) => Vec::new(),
        };
        Some(Selector {
            selection,
            radix,
            byte_ps,
            turns: vec![0; switches],
            escape_turns: vec![0; switches],
            loads: vec![Load::default(); ports],
            groups,
        })
    }

    /// The port of `choices`, of which one at least is on, by which a packet leaves its switch. `is_awake` is
    /// asked whether the link of a port, numbered through all switches, lets packets leave.
    ///
    /// Where all are busy the paper has a packet wait for the first that is not. Here a packet has a
    /// virtual output queue from its arrival on: it takes the port that it can expect to be free first.
    pub fn choose(
        &mut self,
        request: Request,
        choices: Range<u8>,
        mut is_awake: impl FnMut(usize) -> bool,
    ) -> u8 {
        let mut chosen = choices.start;
        if choices.len() > 1 {
            let usable = self.usable(request, &choices, &mut is_awake);
            let turn = self.turns[request.switch];
            let free = self.free(request, ports_from(turn, usable), &mut is_awake);
            let soonest =
                || ports_from(turn, usable).min_by_key(|&port| self.backlog(request, port));
            chosen = free.or_else(soonest).unwrap_or(chosen);
            self.turns[request.switch] = chosen + 1;
            self.belongs_to(request, &choices, chosen);
            #[cfg(test)]
            log::Ask {
                adaptive: set(&choices),
                selectable: self.selectable(request, &choices),
                chosen,
                ..self.asked(request, set(&choices), &mut is_awake)
            }
            .note();
        }
        self.waits(request, chosen);
        chosen
    }

    /// The port and the queue at its other end by which a packet leaves its switch by Duato's protocol (POWAR
    /// Algorithm 1): that of an adaptive channel which is not busy, or else that of the escape channel if it
    /// is not. Where all are busy, the one that it can expect to be free first.
    ///
    /// Of an adaptive channel `credits` tells the bytes that are free at the other end. It has to have room
    /// for the packet and for all that waits for its port: so no packet waits for an adaptive channel that
    /// others may keep from it. `choices` tells of a port all that lead to the same neighbour.
    pub fn choose_channel(
        &mut self,
        request: Request,
        channels: Channels,
        credits: impl Fn(u8) -> u32,
        choices: impl Fn(u8) -> Range<u8>,
        mut is_awake: impl FnMut(usize) -> bool,
    ) -> (u8, u8) {
        let (mut left, mut adaptive) = (channels.nearer, 0);
        while left != 0 {
            let link = choices(left.trailing_zeros() as u8);
            adaptive |= self.usable(request, &link, &mut is_awake);
            left &= !set(&link);
        }
        let has_room = |port: &u8| {
            let waiting = self.loads[self.number(request.switch, *port)].waiting;
            u64::from(credits(*port)) >= waiting + u64::from(request.wire)
        };
        let adaptive = set_of(ports(adaptive).filter(has_room));
        let cables = choices(channels.escape);
        let escape = self.usable(request, &cables, &mut is_awake);
        let queues = [
            (
                ports_from(self.turns[request.switch], adaptive),
                channels.adaptive,
            ),
            (
                ports_from(self.escape_turns[request.switch], escape),
                channels.escape_queue,
            ),
        ];
        let free = queues.iter().find_map(|(ports, queue)| {
            let port = self.free(request, ports.clone(), &mut is_awake)?;
            Some((port, *queue))
        });
        let soonest = || {
            let all = (queues.iter())
                .flat_map(|(ports, queue)| ports.clone().map(move |port| (port, *queue)));
            all.min_by_key(|&(port, _)| self.backlog(request, port))
        };
        let chosen = free.or_else(soonest);
        let (port, queue) = chosen.unwrap_or((channels.escape, channels.escape_queue));
        let by_escape = queue == channels.escape_queue;
        match by_escape {
            true => self.escape_turns[request.switch] = port + 1,
            false => self.turns[request.switch] = port + 1,
        }
        self.belongs_to(request, &choices(port), port);
        #[cfg(test)]
        {
            let all = channels.nearer | set(&cables);
            let links = ports(all).map(&choices);
            log::Ask {
                adaptive: channels.nearer,
                escape: set(&cables),
                credits: ports(channels.nearer)
                    .map(|port| (port, credits(port)))
                    .collect(),
                selectable: (links.map(|link| self.selectable(request, &link)))
                    .fold(0, |all, link| all | link),
                chosen: port,
                by_escape,
                ..self.asked(request, all, &mut is_awake)
            }
            .note();
        }
        self.waits(request, port);
        (port, queue)
    }

    /// Which of the ports to one neighbour, or up, a packet may take, as a set.
    fn usable(
        &mut self,
        request: Request,
        choices: &Range<u8>,
        is_awake: &mut impl FnMut(usize) -> bool,
    ) -> u64 {
        let usable = self.selectable(request, choices) & request.on;
        let Selection::Alonso(_) = self.selection else {
            return usable;
        };
        // A link on its way up takes packets only where no other is to be had (Alonso 4.3).
        let is_awake = |&port: &u8| is_awake(self.number(request.switch, port));
        match set_of(ports(usable).filter(is_awake)) {
            0 => usable,
            awake => awake,
        }
    }

    /// The first of these ports that is not busy; where that makes a difference, one that is awake if there
    /// is any.
    fn free(
        &self,
        request: Request,
        ports: impl Iterator<Item = u8> + Clone,
        is_awake: &mut impl FnMut(usize) -> bool,
    ) -> Option<u8> {
        let mut free = ports.filter(|&port| self.backlog(request, port) == 0);
        match self.selection {
            Selection::Fixed | Selection::RoundRobin | Selection::Alonso(_) => free.next(),
            Selection::FirstOn | Selection::Powar(_) => {
                let asleep = free.clone().next();
                let awake = free.find(|&port| is_awake(self.number(request.switch, port)));
                awake.or(asleep)
            }
        }
    }

    /// A port of a switch, numbered through all switches.
    fn number(&self, switch: usize, port: u8) -> usize {
        switch * self.radix + usize::from(port)
    }

    /// How long a port takes to send what waits for it, in ps.
    fn backlog(&self, Request { now, switch, .. }: Request, port: u8) -> u64 {
        let load = &self.loads[self.number(switch, port)];
        load.waiting * self.byte_ps + load.busy_until.saturating_sub(now)
    }

    /// A packet waits for a port of its switch.
    pub fn waits(&mut self, request: Request, port: u8) {
        let port = self.number(request.switch, port);
        self.loads[port].waiting += u64::from(request.wire);
        #[cfg(test)]
        {
            let wire = request.wire;
            log::Event::Waits { port, wire }.note();
        }
    }

    /// A packet has got a port of `choices`: what leaves by it is a load of these.
    fn belongs_to(&mut self, request: Request, choices: &Range<u8>, port: u8) {
        if let Selection::Powar(_) = self.selection {
            let group = self.number(request.switch, choices.start) as u32;
            let port = self.number(request.switch, port);
            self.loads[port].group = Some(group);
        }
    }

    /// Which of `choices`, the first ones, a packet may take, as a set (POWAR Algorithms 2 and 3).
    fn selectable(&mut self, request: Request, choices: &Range<u8>) -> u64 {
        let Selection::Powar(thresholds) = self.selection else {
            return set(choices);
        };
        let number = self.number(request.switch, choices.start);
        let group = &mut self.groups[number];
        if group.ports == 0 {
            group.ports = choices.len() as u8;
            group.selectable = group.ports;
            group.window_end = thresholds.window_ps;
        }
        self.look_at(number, request.now);
        set(&(choices.start..choices.start + self.groups[number].selectable))
    }

    /// Looks at the windows of a group that have ended by `now` (POWAR Algorithms 2 and 3). Those in which
    /// nothing left are made up for.
    fn look_at(&mut self, number: usize, now: u64) {
        let Selection::Powar(thresholds) = self.selection else {
            return;
        };
        while now >= self.groups[number].window_end {
            let Group {
                ports, window_end, ..
            } = self.groups[number];
            let loads = &self.loads[number..number + usize::from(ports)];
            let later: u64 = loads.iter().map(|load| load.left_at(window_end)).sum();
            let group = &mut self.groups[number];
            let bytes = group.bytes - later;
            group.selectable =
                match thresholds.compare(group.selectable.into(), bytes, self.byte_ps) {
                    Ordering::Greater => (group.selectable + 1).min(ports),
                    Ordering::Less => (group.selectable - 1).max(1),
                    Ordering::Equal => group.selectable,
                };
            #[cfg(test)]
            log::Event::Window {
                group: number,
                end: window_end,
                bytes,
                selectable: group.selectable,
            }
            .note();
            group.bytes = later;
            group.window_end += thresholds.window_ps;
            if later == 0 && now >= group.window_end {
                let idle = (now - group.window_end) / thresholds.window_ps + 1;
                let less = u8::try_from(idle).unwrap_or(u8::MAX);
                group.selectable = group.selectable.saturating_sub(less).max(1);
                group.window_end += idle * thresholds.window_ps;
            }
        }
    }

    /// A packet of `wire` bytes begins to leave by `port`, numbered through all switches, at `from`, and has
    /// left at `until` (ps).
    pub fn departs(&mut self, port: usize, wire: u32, from: u64, until: u64) {
        if let Some(group) = self.loads[port].group {
            // What left before belongs to the windows that have ended.
            self.look_at(group as usize, from);
            self.groups[group as usize].bytes += u64::from(wire);
        }
        let load = &mut self.loads[port];
        load.waiting -= u64::from(wire);
        load.leaving = wire;
        load.busy_from = from;
        load.busy_until = until;
        #[cfg(test)]
        log::Event::Leaves { port, from, until }.note();
    }

    /// What a packet that asks among these ports finds, for the log of tests.
    #[cfg(test)]
    fn asked(
        &self,
        request: Request,
        all: u64,
        is_awake: &mut impl FnMut(usize) -> bool,
    ) -> log::Ask {
        let is_awake = |&port: &u8| is_awake(self.number(request.switch, port));
        log::Ask {
            request: Some(request),
            awake: match log::is_kept() {
                true => set_of(ports(all).filter(is_awake)),
                false => 0,
            },
            ..log::Ask::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::blocks::port_choice::golden::{Inputs, PortChoice};
    use crate::blocks::selectable_ports::golden::SelectablePorts;
    use crate::config::plan::{SelectionKind, SelectionPlan};

    const POWAR: Selection = Selection::Powar(Thresholds::DEFAULT);

    /// All ports of a switch.
    const ALL: u64 = u64::MAX;

    /// A packet in that switch.
    fn request(now: u64, on: u64, wire: u32) -> Request {
        Request {
            now,
            switch: 0,
            input: 0,
            on,
            wire,
        }
    }

    /// One switch of 8 ports of which 4 lead up, at 1 ps a byte.
    fn selector(selection: Selection) -> Selector {
        Selector::new(selection, 1, 8, 1).unwrap()
    }

    /// POWAR 3: round-robin "tries to balance network traffic"; a busy port is left out.
    #[test]
    fn ports_take_turns_and_busy_ones_are_left_out() {
        let mut selector = selector(Selection::RoundRobin);
        let mut choose = |now| selector.choose(request(now, ALL, 100), 4..8, |_| unreachable!());
        assert_eq!([0; 4].map(&mut choose), [4, 5, 6, 7]);
        // All have 100 bytes to send: the first in turn, which then has 200.
        assert_eq!([0; 5].map(&mut choose), [4, 5, 6, 7, 4]);
        selector.departs(5, 100, 900, 1000);
        selector.departs(5, 100, 1900, 2000);
        // Port 5 has sent what it had, but for the last packet, which leaves until 2000.
        let mut choose = |now| selector.choose(request(now, ALL, 100), 4..8, |_| unreachable!());
        assert_eq!(choose(1900), 5);
        assert_eq!(choose(1900), 6);
    }

    /// POWAR 3: "a sleep port will be chosen only when there are no wake-up ports in the port set or all
    /// the wake-up ports are busy".
    #[test]
    fn awake_links_come_first() {
        for selection in [Selection::FirstOn, POWAR] {
            let mut selector = selector(selection);
            let awake = |port| port == 6;
            assert_eq!(selector.choose(request(0, ALL, 100), 4..8, awake), 6);
            // It is busy now, no other link is awake.
            assert_eq!(selector.choose(request(0, ALL, 100), 4..8, awake), 7);
            selector.departs(6, 100, 0, 100);
            assert_eq!(selector.choose(request(99, ALL, 100), 4..8, awake), 4);
            assert_eq!(selector.choose(request(100, ALL, 100), 4..8, awake), 6);
        }
    }

    /// POWAR Algorithm 2: below `T_off` the last selectable port is none any more, above `T_on` the next
    /// one is, and one always is.
    #[test]
    fn as_many_ports_are_selectable_as_the_load_needs() {
        let mut selector = selector(POWAR);
        let window = Thresholds::DEFAULT.window_ps;
        let mut port = |now, wire| {
            let chosen = selector.choose(request(now, ALL, wire), 4..8, |_| true);
            selector.departs(usize::from(chosen), wire, now, now);
            chosen
        };
        let ports = |port: &mut dyn FnMut(u64, u32) -> u8, now| {
            let mut ports: Vec<u8> = (0..8).map(|_| port(now, 1)).collect();
            ports.sort_unstable();
            ports.dedup();
            ports
        };
        assert_eq!(ports(&mut port, 0), [4, 5, 6, 7]);
        assert_eq!(ports(&mut port, window - 1), [4, 5, 6, 7]);
        // Next to nothing came: one less with each window, those without a packet as well.
        assert_eq!(ports(&mut port, window), [4, 5, 6]);
        assert_eq!(ports(&mut port, 2 * window), [4, 5]);
        assert_eq!(ports(&mut port, 1000 * window), [4]);
        // One port may carry a window's bytes. Of that, half and no more leaves it alone.
        let half = (window / 2) as u32;
        port(1001 * window, half);
        assert_eq!(ports(&mut port, 1002 * window - 1), [4]);
        // 8 bytes more than half: one more port. They carry a quarter of what they could: both stay.
        assert_eq!(ports(&mut port, 1002 * window), [4, 5]);
        port(1002 * window, half - 8);
        assert_eq!(ports(&mut port, 1003 * window), [4, 5]);
        port(1003 * window, half - 9);
        assert_eq!(ports(&mut port, 1004 * window), [4]);
    }

    /// POWAR 3.1 counts the flits that were forwarded: bytes that wait for a link to wake are none yet, and
    /// those of a packet that is leaving at the end of a window belong to both.
    #[test]
    fn bytes_count_when_they_leave() {
        let mut selector = selector(POWAR);
        let window = Thresholds::DEFAULT.window_ps;
        let bytes = |windows: f64| (windows * window as f64) as u32;
        let selectable = |selector: &mut Selector, now| {
            let ports = selector.selectable(request(now, ALL, 1), &(4..8));
            ports.count_ones()
        };
        // Given a port in the first window, and on its way out for one and three quarters from the middle of
        // the fourth: that is 0.5, 1 and 0.25 of what a port can carry.
        let wire = bytes(1.75);
        let port = usize::from(selector.choose(request(0, ALL, wire), 4..8, |_| true));
        let from = 3 * window + window / 2;
        assert_eq!(selectable(&mut selector, 3 * window), 1);
        selector.departs(port, wire, from, from + u64::from(wire));
        let after = |selector: &mut Selector, windows| selectable(selector, windows * window);
        // 0.5 of one port is not above T_on, 1 is, and 0.25 of two ports is below T_off.
        assert_eq!(
            [4, 5, 6, 7].map(|end| after(&mut selector, end)),
            [1, 2, 1, 1]
        );
        // A byte more that has left before the window ends is above; one that is leaving then is not.
        for (early, expected) in [(1, 2), (0, 1)] {
            let (from, wire) = (9 * window + window / 2 - early, bytes(0.75));
            let mut selector = self::selector(POWAR);
            let port = selector.choose(request(9 * window, ALL, wire), 4..8, |_| true);
            selector.departs(port.into(), wire, from, from + u64::from(wire));
            assert_eq!(after(&mut selector, 10), expected);
        }
    }

    /// POWAR Algorithm 1: the pointer goes on where a packet takes an adaptive port, and stays where it takes
    /// the deterministic one; the arbitration among the cables of that one is another.
    #[test]
    fn packets_on_the_escape_channel_leave_the_turn_as_it_is() {
        let mut selector = selector(Selection::RoundRobin);
        let channels = Channels {
            nearer: 0b1111_0000,
            adaptive: 0,
            escape: 4,
            escape_queue: 1,
        };
        let cables = |port: u8| (port & !1)..(port & !1) + 2;
        let mut choose = |now, credits: u32| {
            let request = request(now, ALL, 100);
            let chosen = selector.choose_channel(request, channels, |_| credits, cables, |_| true);
            selector.departs(chosen.0.into(), 100, now, now + 1);
            chosen
        };
        assert_eq!(choose(0, 9999), (4, 0));
        // Without room there is the escape channel alone.
        assert_eq!(
            [1, 2, 3].map(|now| choose(now, 0)),
            [(4, 1), (5, 1), (4, 1)]
        );
        assert_eq!([4, 5].map(|now| choose(now, 9999)), [(5, 0), (6, 0)]);
    }

    /// Alonso 4.3: "the new link is available to messages after T_on cycles".
    #[test]
    fn links_that_are_on_take_turns_those_on_their_way_up_last() {
        let mut selector = selector(Selection::Alonso(Thresholds::DEFAULT));
        let on = 1 << 4 | 1 << 5 | 1 << 7;
        let mut choose = |on, awake: &[usize]| {
            let port = selector.choose(request(0, on, 100), 4..8, |port| awake.contains(&port));
            selector.departs(port.into(), 100, 0, 0);
            port
        };
        let awake = [4, 5, 6];
        assert_eq!([(); 4].map(|()| choose(on, &awake)), [4, 5, 4, 5]);
        assert_eq!(choose(on, &[4, 5, 7]), 7);
        assert_eq!([(); 3].map(|()| choose(on, &[6])), [4, 5, 7]);
    }

    /// The hardware of a switch (`blocks/port_choice`) gives a packet the same port wherever it gives it
    /// one: where all are busy, a packet of the network has its virtual output queue already.
    #[test]
    fn hardware_chooses_the_same_ports() {
        let kinds = [
            (Selection::RoundRobin, SelectionKind::RoundRobin),
            (Selection::FirstOn, SelectionKind::FirstOn),
            (
                Selection::Alonso(Thresholds::DEFAULT),
                SelectionKind::Alonso,
            ),
        ];
        for (selection, kind) in kinds {
            let mut selector = selector(selection);
            let mut circuit = PortChoice::new(&SelectionPlan {
                kind,
                ports_down: 4,
                ports_up: 4,
                window: 100,
                on_millionths: 500_000,
                off_millionths: 250_000,
            });
            let mut random = ChaCha8Rng::seed_from_u64(1);
            let (mut busy, mut found) = ([0u64; 4], 0);
            for now in 0..20_000 {
                let awake: u64 = random.random_range(0..16);
                let allowed = match selection {
                    Selection::Alonso(_) => random.random_range(1..16),
                    _ => 15,
                };
                let ports = (0..4).filter(|&port| busy[port] > now);
                let inputs = Inputs {
                    choose: true,
                    choices: 15,
                    busy: ports.map(|port| 1 << port).sum(),
                    awake,
                    allowed,
                };
                // The network gives no port to packets that the circuit has wait.
                if let Some(port) = circuit.chosen(&inputs) {
                    let is_awake = |port: usize| awake >> (port - 4) & 1 == 1;
                    let chosen = selector.choose(request(now, allowed << 4, 100), 4..8, is_awake);
                    assert_eq!(u32::from(chosen), 4 + port, "{selection:?}, {inputs:?}");
                    busy[port as usize] = now + random.random_range(1..8);
                    selector.departs(chosen.into(), 100, now, busy[port as usize]);
                    found += 1;
                }
                circuit.clock(&inputs);
            }
            assert!((5_000..20_000).contains(&found), "{selection:?}: {found}");
        }
    }

    /// The hardware of a switch (`blocks/selectable_ports`) counts the windows from reset on, also those
    /// before the first packet.
    #[test]
    fn as_many_ports_are_selectable_as_the_hardware_says() {
        let thresholds = Thresholds::DEFAULT;
        for first in 0..6 {
            let mut selector = selector(POWAR);
            // A cycle is a tenth of a window.
            let mut circuit = SelectablePorts::new(&SelectionPlan {
                kind: SelectionKind::Powar,
                ports_down: 4,
                ports_up: 4,
                window: 10,
                on_millionths: thresholds.on_millionths,
                off_millionths: thresholds.off_millionths,
            });
            for cycle in 0..100 {
                let now = cycle * thresholds.window_ps / 10;
                if cycle % 10 == 5 && cycle / 10 >= first {
                    let chosen = selector.selectable(request(now, ALL, 1), &(4..8));
                    assert_eq!(chosen >> 4, circuit.selectable(), "{first}, {cycle}");
                }
                circuit.clock(0);
            }
            assert_eq!(circuit.selectable(), 1);
        }
    }

    #[test]
    fn thresholds_between_which_ports_would_come_and_go_are_refused() {
        let with = |on_millionths, off_millionths| {
            let thresholds = Thresholds {
                on_millionths,
                off_millionths,
                ..Thresholds::DEFAULT
            };
            thresholds.validate().map_err(|(key, _)| key)
        };
        assert_eq!(Thresholds::DEFAULT.validate(), Ok(()));
        assert_eq!(with(500_000, 250_001), Err("select_off"));
        assert_eq!(with(500_000, 0), Err("select_off"));
        assert_eq!(with(1_000_000, 250_000), Err("select_on"));
        assert_eq!(with(999_999, 499_999), Ok(()));
    }
}
