//! The oracle of the tests: a packet simulation that clocks the controllers of all ports through
//! every cycle in which anything happens, written as plainly as possible. NICs, links, switches and
//! the replay that feeds them.
//!
//! A NIC cuts messages into packets in the order in which they were handed to it and takes
//! what arrives at line rate. A packet that finds its port idle leaves with the first
//! clock edge at which both ends of the link may carry data; packets that follow each
//! other need no edge.

mod divided;
pub mod link;
mod on_off_links;
mod selection;
mod switch;

use std::ops::ControlFlow;

use hdrhistogram::Histogram;

use super::event_queue::EventQueue;
use super::parameters::Parameters;
use super::queueing::Queues;
use super::replay::{Host, Message, Overheads, Replay, Source};
use super::run::{Ended, Latency, PortCycles, PortSummary, Progress, RunError, RunSummary};
use super::scenario::Scenario;
use super::topology::Topology;
use super::trace::info::check_times;
use super::trace::Program;
use super::workload::Workload;
use super::Error;
use crate::blocks::port::controller::PowerController;
pub use link::{ActivitySink, NoSink};
use link::{ControllerFault, Link};
use switch::{Grant, Packet, Packets, Pfc, Switch};

/// A packet may wait this long for its link before a controller counts as stuck: 1 s.
const STUCK_PS: u64 = 1_000_000_000_000;

/// What a run depends on, beside topology, program and controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Rates, latencies and buffers of switches and links.
    pub switch: Parameters,
    /// CPU time of sends and receives, in ps.
    pub overheads: Overheads,
    /// Clock period of the port controllers, in ps; at most the time of the shortest
    /// packet, so that no packet starts and ends unseen.
    pub clock_ps: u64,
    /// End of the run in ps; `None` runs the program to its end.
    pub duration_ps: Option<u64>,
    /// Packets handed to a NIC before this time, in ps, do not count in the latency.
    pub warm_up_ps: u64,
    /// The sink is brought up to date at least every so many clock cycles (>= 1).
    pub window_cycles: u64,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    /// The time of the operation that a CPU works on is over.
    Finish(u32),
    /// A message between ranks of one node.
    Local(u32),
    /// Packets may be waiting for the link.
    Poll(u32),
    /// The last byte of the packet on the way out has left the port.
    Sent(u32),
    /// The first byte of a packet arrives at a port.
    Head { port: u32, packet: u32 },
    /// The last byte of a packet arrives at a port.
    Tail { port: u32, packet: u32 },
    /// A packet that has arrived has gone through the pipeline of its switch or NIC.
    Ready { port: u32, packet: u32 },
    /// A message that was handed to its NIC has gone through the pipeline there.
    Queue(u32),
    /// The last byte of a packet has crossed a switch.
    Crossed { switch: u32, grant: Grant },
    /// Switches measure the load of their links.
    LookAtLoads,
    /// The other end of a port has turned its link on or off.
    LinkTurns { port: u32, on: bool },
    /// A pause frame arrives at a port.
    Pfc { port: u32, pfc: Pfc },
    /// Bytes have got free at the other end of a port's link.
    Credits { port: u32, queue: u8, bytes: u32 },
}

#[derive(Clone, Debug, Default)]
struct Port {
    link: u32,
    /// Which end of the link.
    end: usize,
    peer: u32,
    /// Bytes of the packet on the way out; 0 while the port does not transmit.
    sending: u32,
    /// When it has left, in ps.
    sent_at: u64,
    paused: bool,
    packets: u64,
    bytes: u64,
    pauses: u64,
    /// Since when a packet waits for the link to wake, in ps.
    waiting_since: Option<u64>,
    /// Waits that are over, and how long they were, in ps.
    waits: u64,
    waited: u64,
}

impl Port {
    /// The link lets packets leave.
    fn end_wait(&mut self, now: u64) {
        if let Some(since) = self.waiting_since.take() {
            self.waits += 1;
            self.waited += now - since;
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct UnderWay {
    message: Message,
    generated: u64,
    /// Bytes not yet cut into packets.
    to_send: u64,
    /// Bytes not yet arrived.
    to_arrive: u64,
    next: u32,
}

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Nic {
    first: u32,
    last: u32,
    /// When the last packet would have left if nothing had held up any, in ps.
    due: u64,
}

/// All but the replay, which calls it.
struct Network<'a> {
    topology: &'a dyn Topology,
    settings: Settings,
    now: u64,
    queue: EventQueue<Event>,
    packets: Packets,
    messages: Vec<UnderWay>,
    free_message: u32,
    switches: Vec<Switch>,
    ports: Vec<Port>,
    nics: Vec<Nic>,
    links: Vec<Link>,
    /// Node of each rank.
    nodes: &'a [u32],
    sink: &'a mut dyn ActivitySink,
    fault: Option<RunError>,
    latency: Histogram<u64>,
    latency_sum: u128,
    latency_max: u64,
    offered_messages: u64,
    offered_bytes: u64,
    delivered_messages: u64,
    delivered_packets: u64,
    delivered_bytes: u64,
    packet_hops: u64,
    pauses_asleep: u64,
    memory: selection::Memory,
    tree: on_off_links::Links,
    /// Where a scheme divides buffers into queues.
    divided: Option<divided::Divided<'a>>,
    /// The queue of each packet on the link it is on.
    queue_of: divided::QueueOf,
}

/// The controllers of all ports, numbered as [`Topology`] numbers ports: the
/// switch ports, then the NICs.
pub struct Controllers {
    /// Clock period in ps.
    pub clock_ps: u64,
    /// One controller per port.
    pub ports: Vec<Box<dyn PowerController + Send>>,
}

/// Runs a scenario's program with controllers that are clocked through every cycle in which
/// anything happens; the sink hears every cycle of every port. `progress` is called once per
/// window and may stop the run.
///
/// # Errors
/// If the program does not fit the network, or the run fails.
pub fn run(
    scenario: &Scenario,
    workload: &Workload,
    controllers: Controllers,
    sink: &mut dyn ActivitySink,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<RunSummary, Error> {
    let settings = Settings {
        switch: scenario.switch,
        overheads: workload.overheads,
        clock_ps: controllers.clock_ps,
        duration_ps: scenario.duration_ps,
        warm_up_ps: scenario.warm_up_ps,
        window_cycles: 1 << 16,
    };
    let joined;
    let program = match &*workload.jobs {
        [one] => one.program.source(),
        several => {
            let recorded = several.iter().map(|job| job.program.recorded());
            joined = recorded
                .collect::<Result<Vec<_>, _>>()
                .and_then(|programs| {
                    let programs: Vec<_> = programs.iter().map(|program| &**program).collect();
                    Program::join(&programs)
                })
                .map_err(|problem| Error::Mapping {
                    scenario: scenario.path.clone(),
                    problem,
                })?;
            (&joined).into()
        }
    };
    simulate(
        &*scenario.topology,
        program,
        &workload.nodes,
        &settings,
        controllers.ports,
        sink,
        progress,
    )
    .map_err(|problem| super::failed(problem, scenario, Some(workload)))
}

/// Runs a program on a network. `nodes` holds the node of each rank, `controllers` one
/// controller per port, numbered as [`Topology`] numbers ports.
///
/// # Errors
/// If program, mapping, controllers and network do not fit; if the ranks wait for each
/// other for ever; if a controller breaks the rules; if a packet would be lost.
pub fn simulate<'p>(
    topology: &dyn Topology,
    program: impl Into<Source<'p>>,
    nodes: &[u32],
    settings: &Settings,
    controllers: Vec<Box<dyn PowerController + Send>>,
    sink: &mut dyn ActivitySink,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<RunSummary, RunError> {
    let program = program.into();
    check(topology, program, nodes, settings, controllers.len())?;
    let mut network = Network::new(topology, nodes, settings, controllers, sink);
    let queues = Queues::of(topology, &settings.switch)?;
    network.divided =
        queues.map(|queues| divided::Divided::new(queues, &network, &settings.switch));
    if network.links.iter().any(Link::can_be_kept_awake) {
        network.start_links();
    }
    let mut replay = Replay::new(program, settings.overheads);
    replay.start(&mut network);

    let window_ps = settings.clock_ps.saturating_mul(settings.window_cycles);
    let mut next_window = window_ps;
    let limit = settings.duration_ps.unwrap_or(u64::MAX);
    let mut completed_at = 0;
    let mut reported = 0;
    let ended = loop {
        let next = network.queue.next_time();
        if let Some(fault) = network.fault.take() {
            return Err(fault);
        }
        let Some(time) = next.filter(|&time| time <= limit) else {
            if replay.is_complete() && next.is_none() {
                break Ended::Complete;
            }
            if next.is_some() {
                break Ended::Duration;
            }
            let what = network.deadlock(&replay);
            return Err(RunError::Deadlock {
                time_ps: network.now,
                what,
            });
        };
        if time >= next_window {
            // No link is ahead of the cycle that sees the last event, and what comes at
            // `time` or later is seen in this cycle or a later one.
            let cycle = (time / settings.clock_ps).max(network.cycle());
            network.bring_up_to(cycle)?;
            reported = cycle;
            next_window = (cycle * settings.clock_ps).saturating_add(window_ps);
            let now = Progress {
                time_ps: time,
                operations_finished: replay.operations_finished(),
                operations: program.operations(),
                packets: network.delivered_packets,
            };
            if network.sink.window(cycle).is_break() || progress(&now).is_break() {
                break Ended::Stopped;
            }
        }
        let (time, event) = network.queue.pop().expect("looked at above");
        network.now = time;
        match event {
            Event::Finish(cpu) => {
                completed_at = time;
                replay.finish(cpu, &mut network);
            }
            Event::Local(message) => network.arrive(message, &mut replay),
            Event::Tail { port, packet } => {
                if let Some(message) = network.tail(port, packet) {
                    completed_at = time;
                    network.arrive(message, &mut replay);
                }
            }
            Event::Ready { port, packet } => {
                if let Some(message) = network.ready(port, packet) {
                    completed_at = time;
                    network.arrive(message, &mut replay);
                }
            }
            event => network.handle(event),
        }
    };
    let end = match ended {
        Ended::Duration => limit,
        Ended::Complete => network.now,
        Ended::Stopped => reported * settings.clock_ps,
    };
    let cycles = end.div_ceil(settings.clock_ps).max(1);
    network.bring_up_to(cycles)?;
    if ended != Ended::Stopped {
        // The run is over: whether the sink would stop it does not matter.
        let _ = network.sink.window(cycles);
    }
    let time_ps = if ended == Ended::Complete {
        completed_at
    } else {
        end
    };
    Ok(network.summary(ended, time_ps, cycles, &replay, program))
}

fn check(
    topology: &dyn Topology,
    program: Source,
    nodes: &[u32],
    settings: &Settings,
    controllers: usize,
) -> Result<(), RunError> {
    let unfit = |what: String| Err(RunError::Unfit(what));
    let settings_fault = |what: String| Err(RunError::Settings(what));
    settings.switch.validate()?;
    if nodes.len() != program.ranks() {
        return unfit(format!(
            "the mapping places {} ranks, the program has {}",
            nodes.len(),
            program.ranks()
        ));
    }
    if let Some(node) = nodes
        .iter()
        .find(|&&node| node as usize >= topology.nodes())
    {
        return unfit(format!(
            "the mapping names node {node}; the network has nodes 0 to {}",
            topology.nodes() - 1
        ));
    }
    if topology.lanes() > 1 && settings.switch.queueing.is_none() {
        return settings_fault(format!(
            "the network needs {} lanes to be free of deadlock; switches have one",
            topology.lanes()
        ));
    }
    if controllers != topology.ports() {
        return unfit(format!(
            "{controllers} power controllers for {} ports",
            topology.ports()
        ));
    }
    let shortest = settings.switch.link_time(settings.switch.min_packet);
    if settings.clock_ps == 0 || settings.clock_ps > shortest {
        return settings_fault(format!(
            "a clock period of {} ps: it must be at least 1 ps and at most {shortest} ps, the \
             time of the shortest packet ({} bytes) on the link, so that the controllers see \
             every packet",
            settings.clock_ps, settings.switch.min_packet
        ));
    }
    if settings.window_cycles == 0 {
        return settings_fault("a window of 0 clock cycles: at least 1".into());
    }
    let Source::Recorded(program) = program else {
        // What a skeleton makes was checked when it was made.
        return Ok(());
    };
    if let Err(problem) = check_times(&[program]) {
        return unfit(problem);
    }
    if let Some(number) = program.ops().iter().position(|op| op.nic > 0) {
        let op = program.ops()[number];
        return unfit(format!(
            "rank {}: `{op}` names nic {}: a node has one NIC, number 0",
            program.rank_of(number as u32),
            op.nic
        ));
    }
    Ok(())
}

impl<'a> Network<'a> {
    fn new(
        topology: &'a dyn Topology,
        nodes: &'a [u32],
        settings: &Settings,
        controllers: Vec<Box<dyn PowerController + Send>>,
        sink: &'a mut dyn ActivitySink,
    ) -> Self {
        let mut controllers: Vec<_> = controllers.into_iter().map(Some).collect();
        let mut ports = vec![Port::default(); topology.ports()];
        let mut links = Vec::new();
        let message_delay = settings.switch.pause_delay().div_ceil(settings.clock_ps);
        for a in 0..ports.len() {
            // A port without a cable has no link; its controller is never clocked.
            let Some(b) = topology.peer(a).filter(|&b| b > a) else {
                continue;
            };
            let link = links.len() as u32;
            for (end, (port, peer)) in [(a, b), (b, a)].into_iter().enumerate() {
                ports[port].link = link;
                ports[port].end = end;
                ports[port].peer = peer as u32;
            }
            let of = |port: usize, all: &mut Vec<Option<_>>| {
                all[port].take().expect("each port has one cable")
            };
            let pair = [of(a, &mut controllers), of(b, &mut controllers)];
            links.push(Link::new([a, b], pair, message_delay));
        }
        Self {
            topology,
            settings: *settings,
            now: 0,
            queue: EventQueue::default(),
            packets: Packets::default(),
            messages: Vec::new(),
            free_message: NONE,
            switches: (0..topology.switches())
                .map(|_| Switch::new(topology.radix(), &settings.switch))
                .collect(),
            ports,
            nics: vec![
                Nic {
                    first: NONE,
                    last: NONE,
                    due: 0,
                };
                topology.nodes()
            ],
            links,
            nodes,
            sink,
            fault: None,
            latency: Histogram::new(3).expect("3 digits are legal"),
            latency_sum: 0,
            latency_max: 0,
            offered_messages: 0,
            offered_bytes: 0,
            delivered_messages: 0,
            delivered_packets: 0,
            delivered_bytes: 0,
            packet_hops: 0,
            pauses_asleep: 0,
            memory: selection::Memory::default(),
            tree: on_off_links::Links::default(),
            divided: None,
            queue_of: divided::QueueOf::new(),
        }
    }

    /// Number of switch ports: the NICs are numbered from here.
    fn first_nic(&self) -> usize {
        self.topology.switches() * self.topology.radix()
    }

    /// Switch and port of it, or `None` for a NIC.
    fn switch_port(&self, port: u32) -> Option<(usize, u32)> {
        let radix = self.topology.radix();
        let switch = port as usize / radix;
        (switch < self.switches.len()).then(|| (switch, port % radix as u32))
    }

    /// The cycle in which what happens now is seen.
    fn cycle(&self) -> u64 {
        self.now.div_ceil(self.settings.clock_ps)
    }

    fn controller_fault(&mut self, fault: ControllerFault) {
        let ControllerFault {
            port,
            cycle,
            what,
            settings,
        } = fault;
        let port = self.topology.port_name(port);
        self.fault.get_or_insert(match settings {
            true => RunError::Settings(format!("{port}: {what}")),
            false => RunError::Controller { port, cycle, what },
        });
    }

    /// Clocks the controllers of a port's link up to the cycle in which a change now is
    /// seen, and changes what their inputs depend on.
    fn change(&mut self, port: u32, change: impl FnOnce(&mut Link, usize)) {
        let cycle = self.cycle();
        let Port { link, end, .. } = self.ports[port as usize];
        let link = &mut self.links[link as usize];
        if let Err(fault) = link.advance_to(cycle, self.sink) {
            self.controller_fault(fault);
            return;
        }
        change(link, end);
    }

    /// Looks at a link at the next clock edge (or this very one).
    fn poll_soon(&mut self, link: u32) {
        let at = self.cycle() * self.settings.clock_ps;
        let place = &mut self.links[link as usize];
        if place.poll_at != at {
            place.poll_at = at;
            self.queue.schedule(at, Event::Poll(link));
        }
    }

    /// Starts what can start, and finds out when to look again for what cannot.
    fn poll(&mut self, link: u32) {
        let cycle = self.cycle();
        let place = &mut self.links[link as usize];
        if place.poll_at != self.now {
            return;
        }
        place.poll_at = u64::MAX;
        if let Err(fault) = place.advance_to(cycle, self.sink) {
            return self.controller_fault(fault);
        }
        let ports = [0, 1].map(|end| {
            let port = place.ends[end].port as u32;
            (port, place.ends[end].queue, place.enabled(end))
        });
        let mut waits = false;
        for (port, queue, enabled) in ports {
            let stopped = queue && self.finds_no_room(port);
            let state = &mut self.ports[port as usize];
            if !queue || state.sending > 0 {
                continue;
            }
            if enabled {
                state.end_wait(self.now);
                if !stopped {
                    self.begin(port);
                }
                continue;
            }
            if stopped && state.waiting_since.is_none() {
                continue;
            }
            waits = true;
            let since = *state.waiting_since.get_or_insert(self.now);
            if self.now - since > STUCK_PS {
                return self.controller_fault(ControllerFault {
                    port: port as usize,
                    cycle,
                    what: "a packet has waited for the link for 1 s: a controller is stuck".into(),
                    settings: false,
                });
            }
        }
        if waits {
            // For ever quiet: only a change of the inputs can help, and each one polls.
            let quiet = self.links[link as usize].quiet();
            let at = cycle
                .checked_add(quiet)
                .and_then(|cycle| cycle.checked_mul(self.settings.clock_ps));
            if let Some(at) = at {
                self.links[link as usize].poll_at = at;
                self.queue.schedule(at, Event::Poll(link));
            }
        }
    }

    /// Tells the lane controller of a port, where links have lanes, how many bytes wait there.
    fn tell_backlog(&mut self, port: u32) {
        if self.settings.switch.link_lanes.is_none() {
            return;
        }
        let bytes = match self.switch_port(port) {
            Some((switch, out)) => {
                let sending = self.ports[port as usize].sending;
                let filled = self.filled_by_queues(switch, out);
                u64::from(filled.unwrap_or(self.switches[switch].filled(out)) - sending)
            }
            None => {
                let queued = self.queued_messages(port as usize - self.first_nic());
                let mut bytes = queued.map(|it| self.messages[it as usize].to_send).sum();
                let mut number = self.nics[port as usize - self.first_nic()].first;
                while number != NONE {
                    let message = &self.messages[number as usize];
                    bytes += message.to_send;
                    number = message.next;
                }
                bytes
            }
        };
        self.change(port, |link, end| link.set_backlog(end, bytes));
        self.poll_soon(self.ports[port as usize].link);
    }

    /// A packet has reached the queue of a port.
    fn queued(&mut self, port: u32) {
        let Port {
            link, end, sending, ..
        } = self.ports[port as usize];
        if !self.links[link as usize].ends[end].queue {
            self.change(port, |link, end| link.ends[end].queue = true);
        }
        if sending == 0 {
            self.poll_soon(link);
        }
    }

    /// Sends the next packet of a port, which has one and is allowed to.
    fn begin(&mut self, port: u32) {
        let packet = match self.switch_port(port) {
            Some((switch, out)) if self.divided.is_some() => {
                let next = self.next_of_queues(switch, out, port);
                next.map(|(packet, queue)| {
                    self.take_room(port, packet, queue);
                    packet
                })
            }
            Some((switch, out)) => self.switches[switch].next_departure(&self.packets, out),
            None => self.cut_packet(port),
        };
        let Some(packet) = packet else {
            return;
        };
        let Packet { wire, hops, .. } = self.packets[packet];
        self.change(port, |link, end| {
            link.ends[end].transmitting = true;
            link.ends[end].start = Some(hops);
            link.ends[1 - end].arriving += 1;
        });
        let state = &mut self.ports[port as usize];
        state.sending = wire;
        state.packets += 1;
        state.bytes += u64::from(wire);
        let peer = state.peer;
        self.counts_as_load(port, wire);
        let state = &mut self.ports[port as usize];
        let mut time = self.settings.switch.link_time(wire);
        if let Some(lanes) = self.settings.switch.link_lanes {
            if self.links[state.link as usize].is_low(state.end) {
                time = lanes.by_low(time);
            }
        }
        let sent = self.now + time;
        state.sent_at = sent;
        self.counts_for_powar(port, wire, sent);
        self.tell_backlog(port);
        let cable = self.settings.switch.cable_ps;
        self.queue.schedule(sent, Event::Sent(port));
        let head = Event::Head { port: peer, packet };
        self.queue.schedule(self.now + cable, head);
        let tail = Event::Tail { port: peer, packet };
        self.queue.schedule(sent + cable, tail);
    }

    /// A message may leave its NIC, behind those before it.
    fn queue_message(&mut self, number: u32) {
        let node = self.nodes[self.messages[number as usize].message.from as usize];
        if !self.queue_by_scheme(number) {
            let nic = &mut self.nics[node as usize];
            if nic.first == NONE {
                nic.first = number;
            } else {
                self.messages[nic.last as usize].next = number;
            }
            nic.last = number;
        }
        self.tell_backlog(self.first_nic() as u32 + node);
        self.queued(self.first_nic() as u32 + node);
    }

    /// The next packet of a NIC's first message.
    fn cut_packet(&mut self, port: u32) -> Option<u32> {
        let node = port as usize - self.first_nic();
        let by_scheme = match self.divided.is_some() {
            true => Some(self.next_message(port)?),
            false => None,
        };
        let nic = &mut self.nics[node];
        let number = by_scheme.map_or(nic.first, |(number, _)| number);
        if number == NONE {
            return None;
        }
        let parameters = &self.settings.switch;
        let message = &mut self.messages[number as usize];
        let payload = message.to_send.min(parameters.payload().into()) as u32;
        message.to_send -= u64::from(payload);
        let is_cut = message.to_send == 0;
        if is_cut && by_scheme.is_none() {
            nic.first = message.next;
        }
        let wire = parameters.wire(payload);
        let due = nic.due.max(message.generated + parameters.nic_ps);
        nic.due = due + parameters.link_time(wire);
        let destination = self.nodes[message.message.to as usize];
        let hops = self.topology.hops(node, destination as usize);
        let mut packet = Packet::new(wire, payload, number, destination, message.generated, hops);
        packet.due = due;
        let packet = self.packets.add(packet);
        if let Some((_, queue)) = by_scheme {
            if is_cut {
                self.message_is_cut(node, queue);
            }
            self.take_room(port, packet, queue);
        }
        Some(packet)
    }

    fn has_packet(&self, port: u32) -> bool {
        match self.switch_port(port) {
            Some((switch, out)) => (self.waits_in_queues(switch, out))
                .unwrap_or_else(|| self.switches[switch].has_departure(out)),
            None => {
                let node = port as usize - self.first_nic();
                self.nics[node].first != NONE || self.queued_messages(node).next().is_some()
            }
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Poll(link) => self.poll(link),
            Event::Sent(port) => self.sent(port),
            Event::Head { port, packet } => self.head(port, packet),
            Event::Crossed { switch, grant } => self.crossed(switch, grant),
            Event::Pfc { port, pfc } => {
                let state = &mut self.ports[port as usize];
                state.paused = pfc == Pfc::Stop;
                state.pauses += u64::from(pfc == Pfc::Stop);
                let (link, idle) = (state.link, state.sending == 0);
                if pfc == Pfc::Go && idle && self.has_packet(port) {
                    self.poll_soon(link);
                }
            }
            Event::Credits { port, queue, bytes } => self.hear_of_room(port, queue, bytes),
            Event::LookAtLoads => self.look_at_loads(),
            Event::LinkTurns { port, on } => self.hear(port, on),
            Event::Queue(message) => self.queue_message(message),
            Event::Finish(_) | Event::Local(_) | Event::Tail { .. } | Event::Ready { .. } => {
                unreachable!("the main loop handles what concerns the replay")
            }
        }
    }

    fn sent(&mut self, port: u32) {
        let state = &mut self.ports[port as usize];
        let wire = std::mem::take(&mut state.sending);
        let link = state.link;
        // What may cross into its room does so first: it counts for what follows.
        if let Some((switch, out)) = self.switch_port(port) {
            if !self.has_left(switch, out) {
                self.switches[switch].departed(out, wire);
            }
            self.leave(port);
            self.arbitrate(switch);
        }
        let more = self.has_packet(port);
        let paused = more && self.finds_no_room(port);
        let mut follows = false;
        self.change(port, |link, end| {
            follows = more && !paused && link.enabled(end);
            let end = &mut link.ends[end];
            end.queue = more;
            end.transmitting = follows;
        });
        if follows {
            self.begin(port);
        } else if more && !paused {
            // It could leave now, and waits for its link.
            let now = self.now;
            self.ports[port as usize].waiting_since.get_or_insert(now);
            self.poll_soon(link);
        }
    }

    fn head(&mut self, port: u32, packet: u32) {
        self.change(port, |link, end| link.ends[end].receiving = true);
        let Some((switch, input)) = self.switch_port(port) else {
            return;
        };
        let wire = self.packets[packet].wire;
        if let Some(used) = self.takes_place(switch, input, wire) {
            assert!(
                used <= self.settings.switch.queue,
                "credits beyond the buffer"
            );
            return;
        }
        match self.switches[switch].begin_arrival(input, wire) {
            Ok(pfc) => {
                let Port { link, end, .. } = self.ports[port as usize];
                let asleep = pfc.is_some() && self.links[link as usize].sleeps_alone(end);
                self.pauses_asleep += u64::from(asleep);
                self.signal_sender(port, pfc);
            }
            Err(overflow) => {
                self.fault.get_or_insert(RunError::Overflow {
                    time_ps: self.now,
                    overflow,
                });
            }
        }
    }

    /// Sends a pause frame from the input at `port` to the other end of its link.
    fn signal_sender(&mut self, port: u32, pfc: Option<Pfc>) {
        if let Some(pfc) = pfc {
            let at = self.now + self.settings.switch.pause_delay();
            let port = self.ports[port as usize].peer;
            self.queue.schedule(at, Event::Pfc { port, pfc });
        }
    }

    /// The last byte of a packet arrives. Returns its message if that is now complete.
    fn tail(&mut self, port: u32, packet: u32) -> Option<u32> {
        self.change(port, |link, end| {
            link.ends[end].receiving = false;
            link.ends[end].arriving -= 1;
        });
        let parameters = &self.settings.switch;
        let delay = match self.switch_port(port) {
            Some(_) => parameters.switch_ps,
            None => parameters.nic_ps,
        };
        if delay == 0 {
            return self.ready(port, packet);
        }
        let ready = Event::Ready { port, packet };
        self.queue.schedule(self.now + delay, ready);
        None
    }

    /// A packet may cross the switch, or is handed to its node. Returns its message if that is now
    /// complete.
    fn ready(&mut self, port: u32, packet: u32) -> Option<u32> {
        self.packet_hops += 1;
        if let Some((switch, input)) = self.switch_port(port) {
            if self.queue_in_switch(switch, input, packet) {
                self.arbitrate(switch);
                return None;
            }
            let destination = self.packets[packet].destination as usize;
            let hop = self.topology.route(switch, input as usize, 0, destination);
            let output = self.select(switch, hop.port).into();
            self.switches[switch].end_arrival(&mut self.packets, packet, input, output);
            self.arbitrate(switch);
            return None;
        }
        let packet = self.packets.remove(packet);
        self.delivered_packets += 1;
        self.delivered_bytes += u64::from(packet.payload);
        if packet.generated >= self.settings.warm_up_ps {
            let latency = self.now - packet.generated;
            self.latency.record(latency).expect("it grows as needed");
            self.latency_sum += u128::from(latency);
            self.latency_max = self.latency_max.max(latency);
        }
        let message = &mut self.messages[packet.message as usize];
        message.to_arrive -= u64::from(packet.payload);
        (message.to_arrive == 0).then_some(packet.message)
    }

    /// A message has arrived completely.
    fn arrive(&mut self, number: u32, replay: &mut Replay) {
        let place = &mut self.messages[number as usize];
        let message = place.message;
        place.next = self.free_message;
        self.free_message = number;
        self.delivered_messages += 1;
        replay.deliver(message, self);
    }

    fn arbitrate(&mut self, switch: usize) {
        while let Some(grant) = match self.divided.is_some() {
            true => self.grant_of_queues(switch),
            false => self.switches[switch].arbitrate(&self.packets),
        } {
            let time = self
                .settings
                .switch
                .crossbar_time(self.packets[grant.packet].wire);
            self.tell_backlog((switch * self.topology.radix()) as u32 + grant.output);
            let switch = switch as u32;
            self.queue
                .schedule(self.now + time, Event::Crossed { switch, grant });
        }
    }

    fn crossed(&mut self, switch: u32, grant: Grant) {
        let first = switch * self.topology.radix() as u32;
        if !self.has_crossed(switch as usize, grant) {
            let pfc = self.switches[switch as usize].crossed(&mut self.packets, grant);
            self.signal_sender(first + grant.input, pfc);
        }
        self.queued(first + grant.output);
        self.arbitrate(switch as usize);
    }

    /// Clocks all controllers to the beginning of `cycle` and tells the sink.
    fn bring_up_to(&mut self, cycle: u64) -> Result<(), RunError> {
        for link in 0..self.links.len() {
            let link = &mut self.links[link];
            if let Err(fault) = link.advance_to(cycle, self.sink) {
                self.controller_fault(fault);
                break;
            }
            link.flush(self.sink);
        }
        self.fault.take().map_or(Ok(()), Err)
    }

    fn deadlock(&self, replay: &Replay) -> String {
        for link in &self.links {
            for (side, end) in link.ends.iter().enumerate() {
                if end.queue && !self.finds_no_room(end.port as u32) && !link.enabled(side) {
                    return format!(
                        "{} has a packet to send, but its link sleeps and no controller will \
                         ever wake it",
                        self.topology.port_name(end.port)
                    );
                }
            }
        }
        if !self.packets.is_empty() {
            return format!(
                "{} packets are stuck in the network; {}",
                self.packets.len(),
                replay.deadlock()
            );
        }
        replay.deadlock()
    }

    fn summary(
        &self,
        ended: Ended,
        time_ps: u64,
        cycles: u64,
        replay: &Replay,
        program: Source,
    ) -> RunSummary {
        let count = self.latency.len();
        let end_ps = cycles * self.settings.clock_ps;
        let mut calc_ps = vec![0; self.topology.nodes()];
        let mut cpus = vec![0; self.topology.nodes()];
        for ((&node, time), count) in self
            .nodes
            .iter()
            .zip(replay.calc_times(time_ps))
            .zip(replay.processors())
        {
            calc_ps[node as usize] += time;
            cpus[node as usize] += count;
        }
        let ports = (0..self.ports.len())
            .map(|number| {
                let port = &self.ports[number];
                let cabled = self.topology.peer(number).is_some();
                let cycles = if cabled {
                    self.links[port.link as usize].ends[port.end].cycles
                } else {
                    PortCycles::default()
                };
                let (highest_input, highest_output) = match self.switch_port(number as u32) {
                    Some((switch, port)) => (self.highest_of_queues(switch, port))
                        .unwrap_or_else(|| self.switches[switch].highest(port)),
                    None => (0, 0),
                };
                PortSummary {
                    name: self.topology.port_name(number),
                    cabled,
                    cycles,
                    packets_sent: port.packets,
                    bytes_sent: port.bytes,
                    pauses: port.pauses,
                    highest_input,
                    highest_output,
                    sleep_waits: port.waits + u64::from(port.waiting_since.is_some()),
                    sleep_delay_ps: port.waited
                        + port
                            .waiting_since
                            .map_or(0, |since| end_ps - since.min(end_ps)),
                    idle: None,
                    link_idle: None,
                }
            })
            .collect();
        RunSummary {
            ended,
            time_ps,
            cycles,
            clock_ps: self.settings.clock_ps,
            offered_messages: self.offered_messages,
            offered_bytes: self.offered_bytes,
            messages: self.delivered_messages,
            packets: self.delivered_packets,
            delivered_bytes: self.delivered_bytes,
            packet_hops: self.packet_hops,
            pauses_asleep: self.pauses_asleep,
            packets_in_flight: self.packets.len(),
            latency: Latency {
                packets: count,
                mean_ps: if count == 0 {
                    0.0
                } else {
                    self.latency_sum as f64 / count as f64
                },
                p50_ps: self.latency.value_at_quantile(0.50).min(self.latency_max),
                p99_ps: self.latency.value_at_quantile(0.99).min(self.latency_max),
                max_ps: self.latency_max,
            },
            sizes_differ: replay.sizes_differ(),
            operations_finished: replay.operations_finished(),
            operations: program.operations(),
            jobs_ps: vec![(ended == Ended::Complete).then_some(time_ps)],
            calc_ps,
            cpus,
            ports,
            series: None,
            events: self.queue.scheduled(),
        }
    }
}

impl Host for Network<'_> {
    fn now(&self) -> u64 {
        self.now
    }

    fn after(&mut self, delay: u64, _: usize, cpu: u32) {
        self.queue.schedule(self.now + delay, Event::Finish(cpu));
    }

    fn send(&mut self, message: Message) {
        self.offered_messages += 1;
        let entry = UnderWay {
            message,
            generated: self.now,
            to_send: message.bytes,
            to_arrive: message.bytes,
            next: NONE,
        };
        let number = if self.free_message == NONE {
            self.messages.push(entry);
            self.messages.len() as u32 - 1
        } else {
            let number = self.free_message;
            self.free_message = self.messages[number as usize].next;
            self.messages[number as usize] = entry;
            number
        };
        let node = self.nodes[message.from as usize];
        if node == self.nodes[message.to as usize] {
            // Within a node a message does not touch the network, and takes no time.
            self.queue.schedule(self.now, Event::Local(number));
            return;
        }
        self.offered_bytes += message.bytes;
        match self.settings.switch.nic_ps {
            0 => self.queue_message(number),
            delay => self.queue.schedule(self.now + delay, Event::Queue(number)),
        }
    }
}

#[cfg(test)]
mod tests;
