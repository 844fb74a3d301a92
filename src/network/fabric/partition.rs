//! A part of the network: some of its switches and NICs, with all that happens at them.
//!
//! What a part tells another one arrives a cable's delay later at the earliest, so all parts
//! can go on for that long on their own.

use std::collections::VecDeque;

use hdrhistogram::Histogram;
use strength_reduce::{StrengthReducedU32, StrengthReducedU64};

use super::cache::{near, near_lines};
use super::governor::Governor;
use super::packets::{List, Packet, Packets, NONE};
use super::port::{Port, MAX_LANES, MAX_RADIX, NEVER};
use super::rounds::{self, Rounds};
use super::series::Samples;
use super::wheel::{Event, Wheel, AHEAD};
use crate::blocks::port::pins::Message;
use crate::network::topology::Topology;
use crate::network::traffic::{Host, Outgoing, Traffic};
use crate::network::{PortCycles, PortSummary, RunError};
use crate::switch::{Aging, Overflow, Parameters, AGE_PS};

/// What happens, in the order in which it does at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum Kind {
    /// A pause frame arrives at a port.
    Pfc = 0,
    /// A message of the other end arrives at a port's governor.
    Hear,
    /// Timers of governors are to be looked at.
    Round,
    /// A governor is to be looked at.
    Attend,
    /// The first byte of a packet arrives at a port.
    Head,
    /// A packet has arrived at a port of a switch, and may cross it.
    Tail,
    /// A packet has arrived at its node.
    Deliver,
    /// A packet has crossed from an input that had stopped the other end.
    Release,
    /// Something that packets wait for inside a switch is free.
    Arbitrate,
    /// Traffic asked to be called for a node.
    Act,
    /// A message between ranks of one node.
    Local,
    /// A port of a switch may have a packet to send.
    Depart,
    /// A NIC may have a packet to send.
    Inject,
}

impl Kind {
    const ALL: [Kind; 13] = [
        Kind::Pfc,
        Kind::Hear,
        Kind::Round,
        Kind::Attend,
        Kind::Head,
        Kind::Tail,
        Kind::Deliver,
        Kind::Release,
        Kind::Arbitrate,
        Kind::Act,
        Kind::Local,
        Kind::Depart,
        Kind::Inject,
    ];

    /// Those at the end of a link, those that its governor hears of, those at a node, and those
    /// with a packet: a bit for each.
    const AT_END: u32 = !(Kind::AT_NODE
        | 1 << Kind::Round as u32
        | 1 << Kind::Arbitrate as u32
        | 1 << Kind::Deliver as u32);
    /// See `AT_END`.
    const AT_GOVERNOR: u32 = Kind::AT_END & !(1 << Kind::Tail as u32);
    /// See `AT_END`.
    const AT_NODE: u32 = 1 << Kind::Act as u32 | 1 << Kind::Local as u32;
    /// See `AT_END`.
    const WITH_PACKET: u32 = 1 << Kind::Tail as u32 | 1 << Kind::Deliver as u32;

    /// All ones if an event is of one of the kinds `among`, or zero; without a branch.
    #[inline]
    fn ones(event: &Event, among: u32) -> u32 {
        0u32.wrapping_sub(among >> (event.key >> PLACE_BITS) & 1)
    }
}

/// So many events before its turn, what an event leads to is fetched.
const NEAR_AHEAD: usize = 8;

/// Bits of an event's key that say where.
const PLACE_BITS: u32 = 28;

/// What an event is, and where.
#[inline]
fn kind_and_place(event: &Event) -> (Kind, u32) {
    let place = event.key & ((1 << PLACE_BITS) - 1);
    (Kind::ALL[(event.key >> PLACE_BITS) as usize], place)
}

/// When a packet was due to leave its NIC, as its age: in units that wrap after 4.3 s, so that ages
/// compare as long as no packet is 2.1 s older than another.
fn age_of(time: u64) -> u32 {
    (time / AGE_PS) as u32
}

/// What the event of an arriving packet's first byte is about: its bytes on the wire, and the
/// lane it comes by. The packet itself need not be looked at.
fn arriving(wire: u32, lane: u8) -> u32 {
    const { assert!(MAX_LANES <= 2) };
    wire << 1 | u32::from(lane)
}

fn event(time: u64, kind: Kind, place: u32, value: u32) -> Event {
    Event {
        time,
        key: (kind as u32) << PLACE_BITS | place,
        value,
    }
}

/// Something that another part is told.
#[derive(Clone, Copy, Debug)]
pub struct Parcel {
    event: Event,
    /// A packet, and what comes of its arrival.
    packet: Option<(Packet, Event)>,
}

impl Parcel {
    /// When it arrives, in ps.
    pub fn time(&self) -> u64 {
        self.event.time
    }
}

/// What all parts have in common.
pub struct Common<'a> {
    pub topology: &'a dyn Topology,
    pub parameters: Parameters,
    pub clock_ps: u64,
    /// Clock cycles that a message between governors takes.
    pub message_cycles: u64,
    pub warm_up_ps: u64,
}

/// A message that its NIC has not cut completely.
#[derive(Clone, Copy, Debug)]
struct Sending {
    message: Outgoing,
    generated: u64,
    /// Bytes not yet cut into packets.
    left: u64,
}

/// What a NIC has to send. The second of two lines is touched only if messages wait for each other.
#[derive(Debug, Default)]
#[repr(C, align(64))]
struct Nic {
    /// The oldest message, which is being cut.
    first: Option<Sending>,
    /// There are messages behind the first one.
    more: bool,
    /// When the last packet would have left if nothing had held up any.
    due: u64,
    /// The messages behind the first one, the oldest first.
    behind: VecDeque<Sending>,
    /// Messages to ranks of the same node, that arrive at once; the oldest first.
    local: VecDeque<Outgoing>,
}

const _: () = assert!(std::mem::size_of::<Nic>() == 128);

impl Nic {
    fn push(&mut self, message: Sending) {
        match self.first {
            None => self.first = Some(message),
            Some(_) => {
                self.behind.push_back(message);
                self.more = true;
            }
        }
    }

    fn pop(&mut self) {
        self.first = None;
        if self.more {
            self.first = self.behind.pop_front();
            self.more = !self.behind.is_empty();
        }
    }
}

/// Inside a switch, beside its ports.
#[derive(Clone, Debug)]
struct Crossbar {
    /// Outputs that packets want to cross to.
    wanted: u64,
    /// Those of them where packets wait behind one that does not fit.
    held: u64,
    /// Next time to look again; [`NEVER`]: nothing waits for time to pass.
    arbitrates_at: u64,
    arrivals: u32,
}

/// A packet that may cross.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    packet: u32,
    /// The packet before it in the list of its output.
    before: Option<u32>,
    /// Place of its output.
    output: u32,
    age: u32,
}

impl Candidate {
    /// It is older than `other`.
    fn is_older(&self, other: &Candidate) -> bool {
        is_older(self.age, other.age)
    }
}

/// Whether one of two ages, which go round, is that of the older packet.
fn is_older(age: u32, other: u32) -> bool {
    (age.wrapping_sub(other) as i32) < 0
}

/// Sums of what happened.
#[derive(Clone, Debug)]
pub struct Tally {
    /// Messages that nodes sent.
    pub offered_messages: u64,
    /// Payload bytes of those for other nodes.
    pub offered_bytes: u64,
    pub messages: u64,
    pub packets: u64,
    pub bytes: u64,
    pub packet_hops: u64,
    pub latency: Histogram<u64>,
    pub latency_sum: u128,
    pub latency_max: u64,
    /// Without those in which a governor was only looked at.
    pub events: u64,
    /// When the last message arrived or the traffic did something, in ps.
    pub last_ps: u64,
}

impl Tally {
    fn new() -> Self {
        Self {
            offered_messages: 0,
            offered_bytes: 0,
            messages: 0,
            packets: 0,
            bytes: 0,
            packet_hops: 0,
            latency: Histogram::new(3).expect("three digits"),
            latency_sum: 0,
            latency_max: 0,
            events: 0,
            last_ps: 0,
        }
    }
}

/// Which part every switch and node belongs to, and its place there.
#[derive(Debug)]
pub struct Places {
    /// Part and place of each switch.
    pub switches: Vec<(u16, u32)>,
    /// Part and place of each node.
    pub nodes: Vec<(u16, u32)>,
    /// Switches of each part.
    pub switches_of: Vec<Vec<u32>>,
    /// Nodes of each part.
    pub nodes_of: Vec<Vec<u32>>,
    radix: usize,
}

impl Places {
    /// Splits a network into `parts`: groups stay together, and every part gets its share of
    /// every stretch of the numbering, so that no part has all the spines.
    pub fn new(topology: &dyn Topology, parts: usize) -> Self {
        let count = topology.switches();
        let group = topology.group_size();
        // Sixteen blocks to a part, or as many as there are groups; what is left is split.
        let block = (count / (16 * parts) / group).max(1) * group;
        let dealt = count / (block * parts) * block * parts;
        let mut switches = Vec::with_capacity(count);
        let mut switches_of: Vec<Vec<u32>> = vec![Vec::new(); parts];
        for number in 0..count {
            let part = match number < dealt {
                true => number / block % parts,
                false => (number - dealt) * parts / (count - dealt),
            };
            switches.push((part as u16, switches_of[part].len() as u32));
            switches_of[part].push(number as u32);
        }
        let mut nodes = Vec::with_capacity(topology.nodes());
        let mut nodes_of: Vec<Vec<u32>> = vec![Vec::new(); parts];
        let radix = topology.radix();
        let first_nic = topology.switches() * radix;
        for node in 0..topology.nodes() {
            // With its switch.
            let switch = topology
                .peer(first_nic + node)
                .map_or(0, |port| port / radix);
            let part = switches[switch].0;
            nodes.push((part, nodes_of[part as usize].len() as u32));
            nodes_of[part as usize].push(node as u32);
        }
        Self {
            switches,
            nodes,
            switches_of,
            nodes_of,
            radix,
        }
    }

    /// Part of a port of the topology, and its place there.
    pub fn port(&self, port: usize) -> (u16, u32) {
        let first_nic = self.switches.len() * self.radix;
        if port >= first_nic {
            let (part, node) = self.nodes[port - first_nic];
            let switches = self.switches_of[part as usize].len();
            return (part, (switches * self.radix) as u32 + node);
        }
        let (part, switch) = self.switches[port / self.radix];
        let place = switch as usize * self.radix + port % self.radix;
        (part, place as u32)
    }

    /// The port of the topology at a place of a part.
    pub fn number(&self, part: usize, place: usize) -> usize {
        let switch_ports = self.switches_of[part].len() * self.radix;
        if place >= switch_ports {
            let first_nic = self.switches.len() * self.radix;
            return first_nic + self.nodes_of[part][place - switch_ports] as usize;
        }
        self.switches_of[part][place / self.radix] as usize * self.radix + place % self.radix
    }
}

/// An end of a link. Port and governor lie side by side: in a large network nothing is in a
/// cache, and two places far from each other cost more than one.
#[derive(Debug)]
#[repr(C)]
struct End {
    port: Port,
    governor: Governor,
}

impl End {
    /// Cache lines of a port.
    const PORT: usize = std::mem::size_of::<Port>() / 64;
    /// Cache lines of a port and of what most calls of its governor touch.
    const MOST: usize = End::PORT + 1;
}

/// Packets that could have left a port, had its governor let them: while its link slept, or was
/// on its way down or up, or its ends were agreeing about that.
#[derive(Clone, Copy, Debug, Default)]
struct Waits {
    /// One of them waits since then, in ps.
    since: Option<u64>,
    /// How often one had to wait; those behind it do not count.
    count: u64,
    /// How long, in ps, without the present wait.
    ps: u64,
}

impl Waits {
    /// A packet has to wait, from `now` on if none does yet.
    fn begin(&mut self, now: u64) {
        if self.since.is_none() {
            self.since = Some(now);
            self.count += 1;
        }
    }

    /// The governor lets packets leave.
    fn end(&mut self, now: u64) {
        if let Some(since) = self.since.take() {
            self.ps += now - since;
        }
    }

    /// How long packets have waited by `end`, in ps.
    fn until(&self, end: u64) -> u64 {
        self.ps + self.since.map_or(0, |since| end.saturating_sub(since))
    }
}

/// A part of the network.
pub struct Partition<'a> {
    common: &'a Common<'a>,
    places: &'a Places,
    number: usize,
    radix: u32,
    lanes: u32,
    /// For divisions by the clock period and by the radix: several to a hop.
    clock: StrengthReducedU64,
    by_radix: StrengthReducedU32,
    /// Of the switches, then of the NICs.
    ends: Vec<End>,
    /// How often each port was stopped.
    pauses: Vec<u64>,
    /// What packets of each port waited for its link.
    waits: Vec<Waits>,
    crossbars: Vec<Crossbar>,
    nics: Vec<Nic>,
    pub packets: Packets,
    pub wheel: Wheel,
    rounds: Rounds,
    pub traffic: Option<Box<Traffic<'a>>>,
    /// For each part.
    pub outgoing: Vec<Vec<Parcel>>,
    pub tally: Tally,
    /// What happened over time, if that is kept.
    pub samples: Option<Samples>,
    /// The first fault that was met here, and when, in ps.
    pub fault: Option<(u64, RunError)>,
    /// All operations of the program have finished, and all of them here.
    complete: bool,
    now: u64,
}

impl<'a> Partition<'a> {
    /// A part with nothing under way. `governors` in the order of its ports.
    pub fn new(
        common: &'a Common<'a>,
        places: &'a Places,
        number: usize,
        governors: Vec<Governor>,
        traffic: Traffic<'a>,
        samples: Option<Samples>,
    ) -> Self {
        let topology = common.topology;
        let radix = topology.radix();
        let lanes = topology.lanes();
        assert!(radix <= MAX_RADIX && lanes <= MAX_LANES);
        let switches = places.switches_of[number].len();
        let nodes = places.nodes_of[number].len();
        let count = switches * radix + nodes;
        let ends = governors
            .into_iter()
            .enumerate()
            .map(|(place, governor)| {
                let peer = topology.peer(places.number(number, place));
                let (partition, peer) = peer.map_or((0, NONE), |peer| places.port(peer));
                let port = Port::new(partition, peer);
                End { port, governor }
            })
            .collect::<Vec<_>>();
        assert_eq!(ends.len(), count);
        Self {
            common,
            places,
            number,
            radix: radix as u32,
            lanes: lanes as u32,
            clock: StrengthReducedU64::new(common.clock_ps),
            by_radix: StrengthReducedU32::new(radix as u32),
            ends,
            pauses: vec![0; count],
            waits: vec![Waits::default(); count],
            crossbars: vec![
                Crossbar {
                    wanted: 0,
                    held: 0,
                    arbitrates_at: NEVER,
                    arrivals: 0,
                };
                switches
            ],
            nics: (0..nodes).map(|_| Nic::default()).collect(),
            packets: Packets::default(),
            wheel: Wheel::new(),
            rounds: Rounds::default(),
            traffic: Some(Box::new(traffic)),
            outgoing: vec![Vec::new(); places.switches_of.len()],
            tally: Tally::new(),
            samples,
            fault: None,
            complete: false,
            now: 0,
        }
    }

    /// Begins: governors say when they want to be looked at, traffic sends what it has.
    pub fn start(&mut self) {
        for port in 0..self.ends.len() as u32 {
            if self.ends[port as usize].port.peer != NONE {
                self.attend(port);
            }
        }
        if let Some(mut traffic) = self.traffic.take() {
            traffic.start(self);
            self.traffic = Some(traffic);
        }
    }

    /// Takes what another part has told.
    pub fn receive(&mut self, parcel: Parcel) {
        let Parcel { event, packet } = parcel;
        self.wheel.schedule(event);
        if let Some((packet, last)) = packet {
            self.wheel.schedule(Event {
                value: self.packets.add(packet),
                ..last
            });
        }
    }

    /// Does all that happens before `limit` ps; stops early at a fault, and if `most` events
    /// are set a limit, after these or when the program is complete.
    pub fn run(&mut self, limit: u64, most: u64) {
        let mut left = most;
        // How often governors want to be looked at is their own affair.
        let mut looks = 0;
        while left > 0 && self.fault.is_none() && !(self.complete && most < u64::MAX) {
            let Some(event) = self.wheel.next_before(limit) else {
                break;
            };
            left -= 1;
            self.fetch();
            self.now = event.time;
            let (kind, place) = kind_and_place(&event);
            match kind {
                Kind::Pfc => self.pause(place, event.value),
                Kind::Hear => self.hear(place, event.value),
                Kind::Round => {
                    looks += 1;
                    self.round();
                }
                Kind::Attend => {
                    looks += 1;
                    self.attend_now(place);
                }
                Kind::Head => self.head(place, event.value),
                Kind::Tail => self.tail(place, event.value),
                Kind::Deliver => self.deliver(event.value),
                Kind::Release => self.release(place),
                Kind::Arbitrate => {
                    if self.crossbars[place as usize].arbitrates_at == self.now {
                        self.crossbars[place as usize].arbitrates_at = NEVER;
                        self.arbitrate(place);
                    }
                }
                Kind::Act => self.act(place, event.value),
                Kind::Local => self.local(place),
                Kind::Depart | Kind::Inject => {
                    if self.ends[place as usize].port.departs_at == self.now {
                        self.ends[place as usize].port.departs_at = NEVER;
                        self.depart(place);
                    }
                }
            }
        }
        self.tally.events += most - left - looks;
    }

    /// Fetches what later events will touch, in two steps: what an event names, and when that is
    /// near, what it leads to. In a network that fits into a cache a branch guessed wrong costs
    /// more than a line fetched in vain: little here depends on the kind of an event.
    #[inline]
    fn fetch(&self) {
        if let Some(event) = self.wheel.ahead(AHEAD) {
            let end = self.end_of(event);
            self.fetch_end(end, 0..End::MOST);
            near(
                self.packets
                    .address(event.value & Kind::ones(event, Kind::WITH_PACKET)),
            );
            let node = end.saturating_sub(self.switch_ports());
            near(self.nics.as_ptr().wrapping_add(node as usize));
        }
        if let Some(event) = self.wheel.ahead(NEAR_AHEAD) {
            self.fetch_next(event);
        }
    }

    /// The place of the end of a link that an event is about; 0 if it is about none.
    #[inline]
    fn end_of(&self, event: &Event) -> u32 {
        let (_, place) = kind_and_place(event);
        let at_node = Kind::ones(event, Kind::AT_NODE);
        (place & (Kind::ones(event, Kind::AT_END) | at_node)) + (self.switch_ports() & at_node)
    }

    /// Fetches what an event leads to.
    #[inline]
    fn fetch_next(&self, event: &Event) {
        let (kind, place) = kind_and_place(event);
        let end = place & Kind::ones(event, Kind::AT_GOVERNOR);
        let End { port, governor } = &self.ends[end as usize];
        governor.fetch();
        for packet in [port.crossed.first(), port.coming] {
            let packet = if packet == NONE { 0 } else { packet };
            near(self.packets.address(packet));
        }
        if kind == Kind::Tail {
            let switch = place / self.by_radix;
            let output = switch * self.radix + u32::from(self.packets[event.value].output);
            self.fetch_end(output, 0..End::PORT);
            near(self.crossbars.as_ptr().wrapping_add(switch as usize));
        } else if kind == Kind::Act {
            self.fetch_behind(place);
            if let Some(source) = self
                .traffic
                .as_ref()
                .and_then(|it| it.source(place as usize))
            {
                near(source);
            }
        } else if kind == Kind::Inject {
            self.fetch_behind(place - self.switch_ports());
        }
    }

    /// Asks for the messages that wait in a NIC behind the first one.
    #[inline]
    fn fetch_behind(&self, node: u32) {
        let nic = &self.nics[node as usize];
        if nic.more {
            near(nic.behind.as_slices().0.as_ptr());
        }
    }

    /// Asks for cache lines of the end of a link.
    #[inline]
    fn fetch_end(&self, place: u32, lines: std::ops::Range<usize>) {
        let end = self.ends.as_ptr().wrapping_add(place as usize).cast::<u8>();
        near_lines(end.wrapping_add(64 * lines.start), lines.len());
    }

    fn switch_ports(&self) -> u32 {
        self.crossbars.len() as u32 * self.radix
    }

    /// The clock cycle of the first edge at or after `time`.
    #[inline]
    fn cycle(&self, time: u64) -> u64 {
        (time + (self.common.clock_ps - 1)) / self.clock
    }

    /// The first clock edge at or after `time`.
    fn edge(&self, time: u64) -> u64 {
        self.cycle(time) * self.common.clock_ps
    }

    /// Tells the other end of a port's link.
    fn tell_peer(&mut self, port: u32, time: u64, kind: Kind, value: u32) {
        let place = &self.ends[port as usize].port;
        let event = event(time, kind, place.peer, value);
        let part = place.peer_partition as usize;
        if part == self.number {
            self.wheel.schedule(event);
        } else {
            self.outgoing[part].push(Parcel {
                event,
                packet: None,
            });
        }
    }

    // Governors.

    /// A governor has been told something, or has gone on: what does it say, and when does it
    /// want to be looked at?
    #[inline]
    fn attend(&mut self, port: u32) {
        let is_silent = self.ends[port as usize].governor.is_silent();
        if !is_silent {
            self.listen(port);
        }
        let now = self.cycle(self.now);
        let governor = &mut self.ends[port as usize].governor;
        let next = governor.next();
        let Some(appointment) = governor.appointment().filter(|at| next < **at) else {
            return;
        };
        // While it is silent, most packets put off what it wants to be looked at for.
        let round = rounds::before(now, next).filter(|_| is_silent);
        let cycle = round.unwrap_or(next);
        *appointment = cycle;
        let (kind, place) = match round {
            None => (Kind::Attend, port),
            Some(_) if self.rounds.join(cycle, port) => (Kind::Round, 0),
            Some(_) => return,
        };
        if let Some(time) = cycle.checked_mul(self.common.clock_ps) {
            self.wheel.schedule(event(time, kind, place, 0));
        }
    }

    /// Looks at the governors of a round.
    fn round(&mut self) {
        let cycle = self.now / self.clock;
        let ports = self.rounds.leave(cycle);
        for (place, &port) in ports.iter().enumerate() {
            if let Some(&port) = ports.get(place + NEAR_AHEAD) {
                self.fetch_end(port, End::PORT..End::MOST);
            }
            let governor = &mut self.ends[port as usize].governor;
            if let Some(appointment) = governor.appointment().filter(|at| **at == cycle) {
                *appointment = u64::MAX;
                self.attend(port);
            }
        }
        self.rounds.recycle(ports);
    }

    /// Takes down what a governor says.
    fn listen(&mut self, port: u32) {
        let governor = &mut self.ends[port as usize].governor;
        if let Some(message) = governor.said() {
            let cycle = self.cycle(self.now) + self.common.message_cycles;
            let time = cycle * self.common.clock_ps;
            self.tell_peer(port, time, Kind::Hear, message as u32);
        }
        let governor = &self.ends[port as usize].governor;
        if let Some(fault) = governor.fault() {
            let name = self.places.number(self.number, port as usize);
            self.fault.get_or_insert((
                self.now,
                RunError::Controller {
                    port: self.common.topology.port_name(name),
                    cycle: fault.cycle,
                    what: fault.what.clone(),
                },
            ));
        }
    }

    fn attend_now(&mut self, port: u32) {
        let cycle = self.now / self.clock;
        let governor = &mut self.ends[port as usize].governor;
        let Some(appointment) = governor.appointment().filter(|at| **at == cycle) else {
            return;
        };
        *appointment = u64::MAX;
        governor.advance(cycle);
        self.attend(port);
        self.retry(port);
    }

    fn hear(&mut self, port: u32, message: u32) {
        let cycle = self.now / self.clock;
        let message = Message::decode(message as u8);
        self.ends[port as usize].governor.hear(cycle, message);
        self.attend(port);
        self.retry(port);
    }

    /// Sends a packet that has waited for the governor, if it may go now.
    fn retry(&mut self, port: u32) {
        if self.ends[port as usize].port.waits && self.ends[port as usize].governor.tx_enable() {
            self.end_wait(port);
            self.depart(port);
        }
    }

    // Links.

    fn pause(&mut self, port: u32, value: u32) {
        let (lane, stop) = (value >> 1, value & 1 == 1);
        let place = &mut self.ends[port as usize].port;
        if stop {
            place.paused |= 1 << lane;
            self.pauses[port as usize] += 1;
        } else {
            place.paused &= !(1 << lane);
            if place.waits {
                let time = self.edge(self.now);
                self.depart_at(port, time);
            }
        }
    }

    /// Has the port look for a packet to send at `time`, or earlier.
    #[inline]
    fn depart_at(&mut self, port: u32, time: u64) {
        let place = &mut self.ends[port as usize].port;
        if time < place.departs_at {
            place.departs_at = time;
            let kind = match port < self.switch_ports() {
                true => Kind::Depart,
                false => Kind::Inject,
            };
            self.wheel.schedule(event(time, kind, port, 0));
        }
    }

    /// Sends a packet if there is one and it may go.
    fn depart(&mut self, port: u32) {
        let now = self.now;
        if self.ends[port as usize].port.busy_until > now {
            let time = self.ends[port as usize].port.busy_until;
            return self.depart_at(port, time);
        }
        let is_switch = port < self.switch_ports();
        let direct = is_switch && self.comes_directly(port);
        let has = match is_switch {
            true => direct || self.settle_output(port),
            false => match self.nics[(port - self.switch_ports()) as usize].first {
                Some(first) => {
                    let ready = first.generated + self.common.parameters.nic_ps;
                    if ready > now {
                        let time = self.edge(ready);
                        self.depart_at(port, time);
                    }
                    ready <= now
                }
                None => false,
            },
        };
        if !has {
            return;
        }
        let place = &self.ends[port as usize].port;
        let next = match is_switch {
            true if direct => Some(place.coming),
            true => place.crossed.next(&self.packets, place.paused),
            // The packet has not been cut yet.
            false => Some(NONE).filter(|_| place.paused & 1 == 0),
        };
        let cycle = self.cycle(now);
        let End {
            port: place,
            governor,
        } = &mut self.ends[port as usize];
        let is_paused = next.is_none();
        let Some(next) = next.filter(|_| governor.may_send(cycle)) else {
            // The pause or the governor will have the port look again.
            place.waits = true;
            governor.wait(cycle);
            if !is_paused {
                self.begin_wait(port);
            }
            if direct {
                self.settle_coming(port);
            }
            return self.attend(port);
        };
        let packet = match is_switch {
            true => {
                self.take(port, next);
                next
            }
            false => self.cut(port),
        };
        self.send(port, packet, cycle);
    }

    /// A packet that could leave has to wait for the governor.
    #[cold]
    fn begin_wait(&mut self, port: u32) {
        self.waits[port as usize].begin(self.now);
    }

    /// The governor lets packets leave.
    #[cold]
    fn end_wait(&mut self, port: u32) {
        self.waits[port as usize].end(self.now);
    }

    /// Puts the packet on the link, from clock cycle `from` on.
    fn send(&mut self, port: u32, packet: u32, from: u64) {
        let now = self.now;
        let Packet { wire, hops, .. } = self.packets[packet];
        let end = now + self.common.parameters.link_time(wire);
        let cable = self.common.parameters.cable_ps;
        if self.ends[port as usize].port.waits {
            self.end_wait(port);
        }
        let place = &mut self.ends[port as usize].port;
        place.waits = false;
        place.busy_until = end;
        place.packets += 1;
        place.bytes += u64::from(wire);
        let (part, peer) = (place.peer_partition as usize, place.peer);
        let until = self.cycle(end);
        let governor = &mut self.ends[port as usize].governor;
        if governor.transmit(from, until, (now, end), hops) {
            self.attend(port);
        }
        let (last, delay) = self.direct(packet, part, peer);
        let ready = end + cable + delay;
        let at = &self.packets[packet];
        let head = event(now + cable, Kind::Head, peer, arriving(wire, at.lane));
        if part == self.number {
            self.wheel.schedule(head);
            self.wheel.schedule(event(ready, last, peer, packet));
        } else {
            let packet = self.packets.remove(packet);
            self.outgoing[part].push(Parcel {
                event: head,
                packet: Some((packet, event(ready, last, peer, 0))),
            });
        }
        if port >= self.switch_ports() {
            let nic = (port - self.switch_ports()) as usize;
            if self.nics[nic].first.is_some() {
                self.depart_at(port, end);
            }
            return;
        }
        let place = &self.ends[port as usize].port;
        if !place.crossed.is_empty() {
            self.depart_at(port, end);
        } else if place.coming != NONE {
            let time = self.leaves_at(port);
            self.depart_at(port, time);
        }
        if self.ends[port as usize].port.is_wanted() {
            // A packet may wait for the room that this one leaves behind.
            self.arbitrate_at(port / self.by_radix, end);
        }
    }

    /// When the packet that crosses to an output can leave by it: right behind the one
    /// before it, or with a clock edge.
    fn leaves_at(&self, port: u32) -> u64 {
        let place = &self.ends[port as usize].port;
        if place.output_busy_until <= place.busy_until {
            place.busy_until
        } else {
            self.edge(place.output_busy_until)
        }
    }

    /// Notes how a packet goes on at the other end of the link, a place of a part: later it
    /// would have to be fetched for that. What happens when its last byte is there, and how much
    /// later.
    #[inline]
    fn direct(&mut self, packet: u32, part: usize, port: u32) -> (Kind, u64) {
        let (switch, input) = StrengthReducedU32::div_rem(port, self.by_radix);
        let Some(&number) = self.places.switches_of[part].get(switch as usize) else {
            return (Kind::Deliver, self.common.parameters.nic_ps);
        };
        let place = &mut self.packets[packet];
        let hop = self.common.topology.route(
            number as usize,
            input as usize,
            place.lane,
            place.destination as usize,
        );
        place.input = input as u8;
        place.output = hop.port;
        place.next_lane = hop.lane;
        (Kind::Tail, self.common.parameters.switch_ps)
    }

    fn head(&mut self, port: u32, value: u32) {
        let now = self.now;
        let (wire, lane) = (value >> 1, (value & 1) as u8);
        let end = now + self.common.parameters.link_time(wire);
        let (from, until) = (self.cycle(now), self.cycle(end));
        let governor = &mut self.ends[port as usize].governor;
        if governor.receive(from, until, (now, end)) {
            self.attend(port);
        }
        if port >= self.switch_ports() {
            return;
        }
        let parameters = &self.common.parameters;
        let place = &mut self.ends[port as usize].port;
        place.settle_input(now);
        let used = &mut place.input_used[lane as usize];
        *used += wire;
        let used = *used;
        place.highest_input = place.highest_input.max(used);
        if used > parameters.queue {
            self.fault.get_or_insert((
                now,
                RunError::Overflow {
                    time_ps: now,
                    overflow: Overflow {
                        input: port % self.by_radix,
                        used: used.into(),
                        capacity: parameters.queue,
                    },
                },
            ));
        }
        if used >= parameters.pfc_stop && place.stopped & (1 << lane) == 0 {
            place.stopped |= 1 << lane;
            let release = (place.crossing > 0).then_some(place.input_busy_until);
            let time = now + parameters.pause_delay();
            self.tell_peer(port, time, Kind::Pfc, u32::from(lane) << 1 | 1);
            if let Some(time) = release {
                self.wheel.schedule(event(time, Kind::Release, port, 0));
            }
        }
    }

    fn release(&mut self, port: u32) {
        let now = self.now;
        let parameters = &self.common.parameters;
        let (go, delay) = (parameters.pfc_go, parameters.pause_delay());
        for lane in 0..self.lanes as usize {
            let place = &mut self.ends[port as usize].port;
            place.settle_input(now);
            if place.stopped & (1 << lane) != 0 && place.input_used[lane] <= go {
                place.stopped &= !(1 << lane);
                self.tell_peer(port, now + delay, Kind::Pfc, (lane as u32) << 1);
            }
        }
    }

    fn tail(&mut self, port: u32, packet: u32) {
        self.tally.packet_hops += 1;
        let switch = port / self.by_radix;
        let crossbar = &mut self.crossbars[switch as usize];
        let place = &mut self.packets[packet];
        if self.common.parameters.aging == Aging::Switch {
            place.age = crossbar.arrivals;
        }
        crossbar.arrivals = crossbar.arrivals.wrapping_add(1);
        crossbar.wanted |= 1 << place.output;
        let output = switch * self.radix + u32::from(place.output);
        let lane = place.next_lane as usize;
        let output_port = &mut self.ends[output as usize].port;
        output_port.wanted_by[lane].push(&mut self.packets, packet);
        self.arbitrate_output(switch, output);
    }

    // Inside a switch.

    /// Has a switch look at `time`, or earlier, what may cross.
    fn arbitrate_at(&mut self, switch: u32, time: u64) {
        let crossbar = &mut self.crossbars[switch as usize];
        if time < crossbar.arbitrates_at {
            crossbar.arbitrates_at = time;
            self.wheel.schedule(event(time, Kind::Arbitrate, switch, 0));
        }
    }

    /// Lets packets cross, the oldest first, until none can; and sees to it that the rest
    /// is looked at again when an input or an output gets free.
    fn arbitrate(&mut self, switch: u32) {
        let first = switch * self.radix;
        loop {
            // The oldest packet of each output that may cross, and the oldest of these.
            let mut best: Option<Candidate> = None;
            let mut next = NEVER;
            let mut wanted = self.crossbars[switch as usize].wanted;
            while wanted != 0 {
                let output = first + wanted.trailing_zeros();
                wanted &= wanted - 1;
                match self.oldest(switch, output) {
                    Ok(candidate) => {
                        if best.is_none_or(|best| candidate.is_older(&best)) {
                            best = Some(candidate);
                        }
                    }
                    Err(time) => next = next.min(time),
                }
            }
            let Some(best) = best else {
                if next != NEVER {
                    self.arbitrate_at(switch, next);
                }
                return;
            };
            self.grant(switch, best);
            if self.crossbars[switch as usize].wanted == 0 {
                return;
            }
        }
    }

    /// A packet that wants to cross to `output` has arrived. Those for other outputs still wait
    /// for what they have waited for: until a time at which they are looked at, or for an older
    /// packet that does not fit, unless the input of that one gets busy now.
    fn arbitrate_output(&mut self, switch: u32, output: u32) {
        if self.crossbars[switch as usize].arbitrates_at <= self.now {
            return self.arbitrate(switch);
        }
        let next = match self.oldest(switch, output) {
            Ok(candidate) => {
                self.grant(switch, candidate);
                if self.crossbars[switch as usize].held != 0 {
                    return self.arbitrate(switch);
                }
                let place = &self.ends[output as usize].port;
                match place.is_wanted() {
                    true => place.output_busy_until,
                    false => NEVER,
                }
            }
            Err(time) => time,
        };
        if next != NEVER {
            self.arbitrate_at(switch, next);
        }
    }

    /// The oldest packet that may cross to `output` now, or when to look again; [`NEVER`]: when
    /// a packet has departed.
    #[inline]
    fn oldest(&mut self, switch: u32, output: u32) -> Result<Candidate, u64> {
        let now = self.now;
        let place = &mut self.ends[output as usize].port;
        if place.output_busy_until > now {
            return Err(place.output_busy_until);
        }
        place.settle_output(now);
        let place = &self.ends[output as usize].port;
        let mut next = NEVER;
        let mut best: Option<Candidate> = None;
        let mut held = false;
        for (list, used) in place.wanted_by.iter().zip(place.output_used) {
            let mut before = None;
            for mut packet in list.iter(&self.packets) {
                let at = &self.packets[packet];
                let input = switch * self.radix + u32::from(at.input);
                let input_busy_until = self.ends[input as usize].port.input_busy_until;
                if input_busy_until > now {
                    next = next.min(input_busy_until);
                    before = Some(packet);
                    continue;
                }
                // The list is in the order of arrival, which is that of age in this switch.
                if self.common.parameters.aging == Aging::Network {
                    let (first, free) = self.oldest_first((before, packet), list, switch);
                    (before, packet) = first;
                    next = next.min(free);
                }
                let at = &self.packets[packet];
                if used + at.wire > self.common.parameters.queue {
                    // Younger ones do not overtake it: the next departure makes room, and has
                    // the switch look again. Those for another lane do, or lanes would block
                    // each other.
                    if place.departing > 0 {
                        next = next.min(place.busy_until);
                    }
                    held = true;
                    break;
                }
                let candidate = Candidate {
                    packet,
                    before,
                    output,
                    age: at.age,
                };
                if best.is_none_or(|best| candidate.is_older(&best)) {
                    best = Some(candidate);
                }
                break;
            }
        }
        let bit = 1 << (output - switch * self.radix);
        let crossbar = &mut self.crossbars[switch as usize];
        crossbar.held = match held {
            true => crossbar.held | bit,
            false => crossbar.held & !bit,
        };
        best.ok_or(next)
    }

    /// Of the packets in the list of an output the oldest that is the first of its input and whose
    /// input is free, behind the one before it in the list; `oldest` is the first one with a free
    /// input. And the earliest time at which an input gets free that holds some of them.
    #[cold]
    #[inline(never)]
    fn oldest_first(
        &self,
        mut oldest: (Option<u32>, u32),
        list: &List,
        switch: u32,
    ) -> ((Option<u32>, u32), u64) {
        let mut next = NEVER;
        let mut before = None;
        // Inputs of which the list has had a packet.
        let mut had = 0u64;
        for packet in list.iter(&self.packets) {
            let at = &self.packets[packet];
            let behind = before.replace(packet);
            let input = switch * self.radix + u32::from(at.input);
            let busy_until = self.ends[input as usize].port.input_busy_until;
            if busy_until > self.now {
                next = next.min(busy_until);
                continue;
            }
            let first = had & (1 << at.input) == 0;
            had |= 1 << at.input;
            if first && is_older(at.age, self.packets[oldest.1].age) {
                oldest = (behind, packet);
            }
        }
        (oldest, next)
    }

    /// Lets a packet cross.
    fn grant(&mut self, switch: u32, candidate: Candidate) {
        let Candidate {
            packet,
            before,
            output,
            ..
        } = candidate;
        let now = self.now;
        let at = self.packets[packet];
        let until = now + self.common.parameters.crossbar_time(at.wire);
        let place = &mut self.ends[output as usize].port;
        place.wanted_by[at.next_lane as usize].take_after(&mut self.packets, before);
        if !place.is_wanted() {
            let bit = 1 << (output - switch * self.radix);
            self.crossbars[switch as usize].wanted &= !bit;
        }
        let input = switch * self.radix + u32::from(at.input);
        let place = &mut self.ends[input as usize].port;
        place.settle_input(now);
        place.input_busy_until = until;
        place.crossing = at.wire;
        place.crossing_lane = at.lane;
        if place.stopped != 0 {
            self.wheel.schedule(event(until, Kind::Release, input, 0));
        }
        self.settle_coming(output);
        let place = &mut self.ends[output as usize].port;
        place.output_busy_until = until;
        place.coming = packet;
        place.coming_queue = at.next_lane * self.radix as u8 + at.input;
        let used = &mut place.output_used[at.next_lane as usize];
        *used += at.wire;
        place.highest_output = place.highest_output.max(*used);
        if !place.waits || self.lanes > 1 {
            let time = self.leaves_at(output);
            self.depart_at(output, time);
        }
    }

    /// Puts the packet that has crossed to an output into its queue.
    fn settle_coming(&mut self, output: u32) {
        let count = self.queues();
        let place = &mut self.ends[output as usize].port;
        if place.coming == NONE || place.output_busy_until > self.now {
            return;
        }
        let packet = std::mem::replace(&mut place.coming, NONE);
        let queue = place.coming_queue;
        place.crossed.push(&mut self.packets, packet, queue, count);
    }

    /// Queues of an output.
    fn queues(&self) -> u8 {
        (self.lanes * self.radix) as u8
    }

    /// Brings the buffer of an output up to date; whether it holds a packet.
    fn settle_output(&mut self, output: u32) -> bool {
        self.ends[output as usize].port.settle_output(self.now);
        self.settle_coming(output);
        let place = &self.ends[output as usize].port;
        if place.crossed.is_empty() && place.coming != NONE {
            let time = self.leaves_at(output);
            self.depart_at(output, time);
        }
        !self.ends[output as usize].port.crossed.is_empty()
    }

    /// Takes the packet that is next, to send it.
    fn take(&mut self, output: u32, packet: u32) {
        let count = self.queues();
        let place = &mut self.ends[output as usize].port;
        if packet == place.coming {
            place.coming = NONE;
            place.crossed.pass(place.coming_queue, count);
        } else {
            place.crossed.take(&mut self.packets, packet, count);
        }
        let at = &mut self.packets[packet];
        at.lane = at.next_lane;
        place.departing = at.wire;
        place.departing_lane = at.lane;
    }

    /// The packet that has just crossed to an output is alone there and may depart: it need
    /// not be put into its queue.
    #[inline]
    fn comes_directly(&mut self, output: u32) -> bool {
        let place = &mut self.ends[output as usize].port;
        place.settle_output(self.now);
        let lane = u32::from(place.coming_queue) / self.by_radix;
        place.crossed.is_empty()
            && place.coming != NONE
            && place.output_busy_until <= self.now
            && place.paused & (1 << lane) == 0
    }

    // Nodes.

    /// The next packet of a NIC's first message.
    fn cut(&mut self, port: u32) -> u32 {
        let node = (port - self.switch_ports()) as usize;
        let parameters = &self.common.parameters;
        let nic = &mut self.nics[node];
        let sending = nic.first.as_mut().expect("looked at by the caller");
        let payload = sending.left.min(parameters.payload().into()) as u32;
        sending.left -= u64::from(payload);
        let last = sending.left == 0;
        let Sending {
            message, generated, ..
        } = *sending;
        let wire = parameters.wire(payload);
        let due = nic.due.max(generated + parameters.nic_ps);
        nic.due = due + parameters.link_time(wire);
        if last {
            nic.pop();
        }
        let source = self.places.nodes_of[self.number][node] as usize;
        let hops = self
            .common
            .topology
            .hops(source, message.destination as usize);
        let mut packet = Packet::new(message.destination, wire, payload, hops, generated);
        packet.message_bytes = message.bytes;
        packet.from = message.from;
        packet.to = message.to;
        packet.tag = message.tag;
        packet.ends_message = last;
        packet.age = age_of(due);
        self.packets.add(packet)
    }

    /// A packet has arrived at its node.
    fn deliver(&mut self, packet: u32) {
        let packet = self.packets.remove(packet);
        let tally = &mut self.tally;
        tally.packet_hops += 1;
        tally.packets += 1;
        tally.bytes += u64::from(packet.payload);
        let latency = self.now - packet.generated;
        if let Some(samples) = &mut self.samples {
            samples.received(self.now, packet.payload, latency);
        }
        if packet.generated >= self.common.warm_up_ps {
            tally.latency.record(latency).expect("it grows as needed");
            tally.latency_sum += u128::from(latency);
            tally.latency_max = tally.latency_max.max(latency);
        }
        if packet.ends_message {
            let message = Outgoing {
                destination: packet.destination,
                bytes: packet.message_bytes,
                from: packet.from,
                to: packet.to,
                tag: packet.tag,
            };
            self.arrived(message);
        }
    }

    /// A message has arrived completely at a node of this part.
    fn arrived(&mut self, message: Outgoing) {
        self.tally.messages += 1;
        self.tally.last_ps = self.now;
        if let Some(mut traffic) = self.traffic.take() {
            traffic.arrived(message, self);
            self.complete = traffic.is_complete();
            self.traffic = Some(traffic);
        }
    }

    fn act(&mut self, node: u32, value: u32) {
        self.tally.last_ps = self.now;
        if let Some(mut traffic) = self.traffic.take() {
            traffic.act(node, value, self);
            self.complete = traffic.is_complete();
            self.traffic = Some(traffic);
        }
    }

    fn local(&mut self, node: u32) {
        if let Some(message) = self.nics[node as usize].local.pop_front() {
            self.arrived(message);
        }
    }

    /// Operations of a program that have finished here.
    pub fn operations_finished(&self) -> usize {
        match self.traffic.as_deref() {
            Some(Traffic::Programs(ranks)) => ranks.operations_finished(),
            _ => 0,
        }
    }

    /// Ports whose packets wait for a link that sleeps; the first of them.
    pub fn stuck(&self) -> Option<usize> {
        (0..self.ends.len())
            .find(|&port| self.ends[port].port.waits && self.ends[port].port.paused == 0)
            .map(|port| self.places.number(self.number, port))
    }

    /// What a port did in the first `cycles` clock cycles.
    pub fn port_summary(
        &mut self,
        place: usize,
        name: String,
        cabled: bool,
        cycles: u64,
    ) -> PortSummary {
        let End { port, governor } = &mut self.ends[place];
        let run_ps = cycles * self.common.clock_ps;
        PortSummary {
            name,
            cabled,
            cycles: match cabled {
                true => governor.account(cycles),
                false => PortCycles::default(),
            },
            packets_sent: port.packets,
            bytes_sent: port.bytes,
            pauses: self.pauses[place],
            highest_input: port.highest_input,
            highest_output: port.highest_output,
            sleep_waits: self.waits[place].count,
            sleep_delay_ps: self.waits[place].until(run_ps),
            idle: governor.idle_periods(cycles),
            link_idle: governor.link_idle(run_ps),
        }
    }
}

impl Host for Partition<'_> {
    fn now(&self) -> u64 {
        self.now
    }

    fn call(&mut self, delay: u64, node: u32, value: u32) {
        let time = self.now + delay;
        self.wheel.schedule(event(time, Kind::Act, node, value));
    }

    fn send(&mut self, node: u32, message: Outgoing) {
        let source = self.places.nodes_of[self.number][node as usize];
        self.tally.offered_messages += 1;
        if source == message.destination {
            // Within a node a message does not touch the network, and takes no time.
            self.nics[node as usize].local.push_back(message);
            let local = event(self.now, Kind::Local, node, 0);
            return self.wheel.schedule(local);
        }
        self.tally.offered_bytes += message.bytes;
        self.nics[node as usize].push(Sending {
            message,
            generated: self.now,
            left: message.bytes,
        });
        let port = self.switch_ports() + node;
        let place = &self.ends[port as usize].port;
        if !place.waits {
            let ready = self.now + self.common.parameters.nic_ps;
            let time = match ready <= place.busy_until {
                true => place.busy_until,
                false => self.edge(ready),
            };
            self.depart_at(port, time);
        }
    }
}
