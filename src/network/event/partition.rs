//! A partition of the network: some of its switches and NICs, with all that happens at them.
//!
//! What one partition schedules in another happens a cable's delay later at the earliest, so all of
//! them can go on for that long on their own. This file has the state and the loop over events;
//! what happens at an event stands in the file named after where it happens: `link`, `crossbar`,
//! `output`, `nic`, `deadlines`; `buffers` where a queueing scheme divides them.

use strength_reduce::{StrengthReducedU32, StrengthReducedU64};

use super::controller::Controller;
use super::devices::{Crossbar, Nic, OnOffLinks, Sending, Waits};
use super::events::{event, kind_and_index, EventKind, RemoteEvent};
use super::extension::Extension;
use super::numbering::Numbering;
use super::packets::{Packets, NONE};
use super::port::{Port, MAX_LANES};
use super::queues::Buffers;
use super::rounds::Rounds;
use super::series::Samples;
use super::tally::Tally;
use super::time::{Cycle, Time};
use super::unfinished::Unfinished;
use super::wheel::{Event, Wheel};
use crate::network::parameters::{Lanes, Parameters, MAX_RADIX};
use crate::network::queueing::Queues;
use crate::network::selection::{Selector, Thresholds};
use crate::network::topology::Topology;
use crate::network::traffic::{Host, Outgoing, Traffic};
use crate::network::{PortCycles, PortSummary, RunError};

/// What all partitions have in common.
pub struct Common<'a> {
    pub topology: &'a dyn Topology,
    pub parameters: Parameters,
    pub clock_ps: u64,
    /// Clock cycles that a message between controllers takes.
    pub message_cycles: u64,
    /// Each direction of a link sleeps for itself.
    pub per_direction: bool,
    /// The queues of a buffer, if a scheme divides buffers.
    pub queues: Option<Queues<'a>>,
    /// Switches turn links on and off by these.
    pub turns_links: Option<Thresholds>,
    pub warm_up_ps: u64,
}

/// An end of a link. Port and controller lie side by side: in a large network nothing is in a
/// cache, and two places far from each other cost more than one.
#[derive(Debug)]
#[repr(C)]
pub(super) struct End {
    pub(super) port: Port,
    pub(super) controller: Controller,
}

impl End {
    /// Cache lines of a port.
    pub(super) const PORT: usize = std::mem::size_of::<Port>() / 64;
    /// Cache lines of a port and of what most calls of its controller touch.
    pub(super) const MOST: usize = End::PORT + 1;
}

/// A partition of the network; `EXTENDED` if the network has any [`Extension`], or lanes.
pub struct Partition<'a, const EXTENDED: bool> {
    pub(super) common: &'a Common<'a>,
    pub(super) numbering: &'a Numbering,
    pub(super) number: usize,
    pub(super) radix: u32,
    pub(super) lanes: u32,
    /// For divisions by the clock period and by the radix: several to a hop.
    pub(super) clock: StrengthReducedU64,
    pub(super) by_radix: StrengthReducedU32,
    /// Of the switches, then of the NICs.
    pub(super) ends: Vec<End>,
    /// How often each port was stopped.
    pub(super) pauses: Vec<u64>,
    /// What packets of each port waited for its link.
    pub(super) waits: Vec<Waits>,
    pub(super) crossbars: Vec<Crossbar>,
    /// What chooses among several ports, if the routing function does not.
    pub(super) selector: Extension<Selector, EXTENDED>,
    /// Messages of which packets are missing, if packets may overtake each other.
    pub(super) unfinished: Extension<Unfinished, EXTENDED>,
    /// What a queueing scheme makes of the buffers, if there is one.
    pub(super) buffers: Extension<Buffers<'a>, EXTENDED>,
    /// What turns links on and off, if their switches do.
    pub(super) links: Extension<OnOffLinks, EXTENDED>,
    pub(super) nics: Vec<Nic>,
    pub packets: Packets,
    pub wheel: Wheel,
    pub(super) rounds: Rounds,
    pub traffic: Option<Box<Traffic<'a>>>,
    /// For each partition.
    pub outbox: Vec<Vec<RemoteEvent>>,
    pub tally: Tally,
    /// What happened over time, if that is kept.
    pub samples: Option<Samples>,
    /// The first fault that was met here, and when.
    pub fault: Option<(Time, RunError)>,
    /// All operations of the program have finished, and all of them here.
    pub(super) complete: bool,
    /// Calls that the traffic has asked for and that have not come yet.
    pub(super) calls: u64,
    pub(super) now: Time,
}

impl<'a, const EXTENDED: bool> Partition<'a, EXTENDED> {
    /// A partition with nothing under way. `controllers` in the order of its ports.
    pub fn new(
        common: &'a Common<'a>,
        numbering: &'a Numbering,
        number: usize,
        controllers: Vec<Controller>,
        traffic: Traffic<'a>,
        samples: Option<Samples>,
    ) -> Self {
        let topology = common.topology;
        let radix = topology.radix();
        let lanes = topology.lanes();
        assert!(radix <= MAX_RADIX && lanes <= MAX_LANES);
        let switches = numbering.switches_of[number].len();
        let nodes = numbering.nodes_of[number].len();
        let count = switches * radix + nodes;
        let ends = controllers
            .into_iter()
            .enumerate()
            .map(|(index, controller)| {
                let peer = topology.peer(numbering.number(number, index));
                let (partition, peer) = peer.map_or((0, NONE), |peer| numbering.port(peer));
                let port = Port::new(partition, peer);
                End { port, controller }
            })
            .collect::<Vec<_>>();
        assert_eq!(ends.len(), count);
        let selector = Selector::new(
            common.parameters.selection,
            switches,
            radix,
            common.parameters.byte_ps,
        );
        Self {
            common,
            numbering,
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
                    arbitrates_at: Time::NEVER,
                    arrivals: 0,
                };
                switches
            ],
            unfinished: Extension::new(selector.as_ref().map(|_| Unfinished::default())),
            selector: Extension::new(selector),
            buffers: Extension::new(common.queues.map(|queues| {
                let to_node = |index: usize| {
                    let peer = topology.peer(numbering.number(number, index));
                    peer.is_some_and(|peer| peer >= topology.switch_ports())
                };
                let to_node = (0..count).map(to_node);
                Buffers::new(queues, &common.parameters, nodes, to_node)
            })),
            links: Extension::new(common.turns_links.and_then(|thresholds| {
                let switches = &numbering.switches_of[number];
                OnOffLinks::new(topology, switches, thresholds)
            })),
            nics: (0..nodes).map(|_| Nic::default()).collect(),
            packets: Packets::default(),
            wheel: Wheel::new(),
            rounds: Rounds::default(),
            traffic: Some(Box::new(traffic)),
            outbox: vec![Vec::new(); numbering.switches_of.len()],
            tally: Tally::new(),
            samples,
            fault: None,
            complete: false,
            calls: 0,
            now: Time(0),
        }
    }

    /// Begins: the controllers' first deadlines are scheduled, and traffic sends what it has.
    pub fn start(&mut self) {
        self.start_on_off_links();
        for port in 0..self.ends.len() as u32 {
            if self.ends[port as usize].port.peer != NONE {
                self.reschedule(port);
            }
        }
        if let Some(mut traffic) = self.traffic.take() {
            traffic.start(self);
            self.traffic = Some(traffic);
        }
    }

    /// Schedules an event that comes from another partition.
    pub fn receive(&mut self, remote: RemoteEvent) {
        let RemoteEvent { event, packet } = remote;
        self.wheel.schedule(event);
        if let Some((packet, last)) = packet {
            self.wheel.schedule(Event {
                value: self.packets.add(packet),
                ..last
            });
        }
    }

    /// Does all that happens before `limit`; stops early at a fault, and if `most` events
    /// are set a limit, after these or when the program is complete.
    pub fn run(&mut self, limit: Time, most: u64) {
        let mut left = most;
        // How many deadlines there are depends on the kind of the controllers, not on the traffic.
        let mut looks = 0;
        while left > 0 && self.fault.is_none() && !(self.complete && most < u64::MAX) {
            let Some(event) = self.wheel.next_before(limit) else {
                break;
            };
            left -= 1;
            self.prefetch();
            self.now = event.time;
            let (kind, index) = kind_and_index(&event);
            match kind {
                EventKind::FlowControl => match self.buffers.is_some() {
                    true => self.credits_arrive(index, event.value),
                    false => self.pause_frame_arrives(index, event.value),
                },
                EventKind::Message => self.message_arrives(index, event.value),
                EventKind::DeadlineRound => {
                    looks += 1;
                    self.deadline_round();
                }
                EventKind::Deadline => {
                    looks += 1;
                    self.deadline_reached(index);
                }
                EventKind::Head => self.first_byte_arrives(index, event.value),
                EventKind::Tail => self.packet_arrives(index, event.value),
                EventKind::LinkTurns => self.hear_of_link(index, event.value == 1),
                EventKind::WindowEnds => self.window_ends(index),
                EventKind::Drained => self.drained(index),
                EventKind::Deliver => self.deliver(event.value),
                EventKind::Release => self.release(index),
                EventKind::Arbitrate => {
                    if self.crossbars[index as usize].arbitrates_at == self.now {
                        self.crossbars[index as usize].arbitrates_at = Time::NEVER;
                        self.arbitrate(index);
                    }
                }
                EventKind::Act => self.call_traffic(index, event.value),
                EventKind::Local => self.deliver_local(index),
                EventKind::Depart | EventKind::Inject => {
                    if self.ends[index as usize].port.departs_at == self.now {
                        self.ends[index as usize].port.departs_at = Time::NEVER;
                        self.depart(index);
                    }
                }
            }
        }
        self.tally.events += most - left - looks;
    }

    /// Lanes that links turn off and on, if they do.
    #[inline(always)]
    pub(super) fn link_lanes(&self) -> Option<Lanes> {
        match EXTENDED {
            true => self.common.parameters.link_lanes,
            false => None,
        }
    }

    pub(super) fn switch_ports(&self) -> u32 {
        self.crossbars.len() as u32 * self.radix
    }

    /// The clock cycle of the first edge at or after `time`.
    #[inline]
    pub(super) fn cycle(&self, time: Time) -> Cycle {
        Cycle((time.0 + (self.common.clock_ps - 1)) / self.clock)
    }

    /// The first clock edge at or after `time`.
    pub(super) fn edge(&self, time: Time) -> Time {
        self.begin_of(self.cycle(time))
    }

    /// The clock cycle that begins now, if one does, or the one that has begun.
    #[inline]
    pub(super) fn present_cycle(&self) -> Cycle {
        Cycle(self.now.0 / self.clock)
    }

    /// When a clock cycle begins.
    #[inline]
    pub(super) fn begin_of(&self, cycle: Cycle) -> Time {
        cycle.begin(self.common.clock_ps)
    }

    /// Operations of a program that have finished here.
    pub fn operations_finished(&self) -> usize {
        match self.traffic.as_deref() {
            Some(Traffic::Programs(ranks)) => ranks.operations_finished(),
            _ => 0,
        }
    }

    /// What the traffic waits for: calls here and messages that were sent here, less those that have
    /// arrived here from anywhere. The sum over all partitions is 0 if no traffic will ever come about
    /// any more, whatever controllers and switches go on doing.
    pub fn awaited(&self) -> i64 {
        let tally = &self.tally;
        (self.calls + tally.offered_messages) as i64 - tally.messages as i64
    }

    /// Ports whose packets wait for a link that sleeps; the first of them.
    pub fn stuck(&self) -> Option<usize> {
        (0..self.ends.len())
            .find(|&port| self.ends[port].port.waits && self.ends[port].port.paused == 0)
            .map(|port| self.numbering.number(self.number, port))
    }

    /// What a port did in the first `cycles` clock cycles.
    pub fn port_summary(
        &mut self,
        index: usize,
        name: String,
        cabled: bool,
        cycles: u64,
    ) -> PortSummary {
        let End { port, controller } = &mut self.ends[index];
        let run_ps = cycles * self.common.clock_ps;
        PortSummary {
            name,
            cabled,
            cycles: match cabled {
                true => controller.account(cycles),
                false => PortCycles::default(),
            },
            packets_sent: port.packets,
            bytes_sent: port.bytes,
            pauses: self.pauses[index],
            highest_input: port.highest_input,
            highest_output: port.highest_output,
            sleep_waits: self.waits[index].count,
            sleep_delay_ps: self.waits[index].until(Time(run_ps)),
            idle: controller.idle_periods(cycles),
            link_idle: controller.link_idle(run_ps),
        }
    }
}

impl<const EXTENDED: bool> Host for Partition<'_, EXTENDED> {
    fn now(&self) -> u64 {
        self.now.0
    }

    fn call(&mut self, delay: u64, node: u32, value: u32) {
        let time = self.now + delay;
        self.calls += 1;
        self.wheel
            .schedule(event(time, EventKind::Act, node, value));
    }

    fn send(&mut self, node: u32, message: Outgoing) {
        let source = self.numbering.nodes_of[self.number][node as usize];
        self.tally.offered_messages += 1;
        if source == message.destination {
            // Within a node a message does not touch the network, and takes no time.
            self.nics[node as usize].local.push_back(message);
            let local = event(self.now, EventKind::Local, node, 0);
            return self.wheel.schedule(local);
        }
        self.tally.offered_bytes += message.bytes;
        let sending = Sending {
            message,
            generated: self.now,
            left: message.bytes,
        };
        let port = self.switch_ports() + node;
        let state = &self.ends[port as usize].port;
        let mut may_go = !state.waits;
        match self.buffers.as_mut() {
            None => self.nics[node as usize].push(sending),
            Some(buffers) => {
                buffers.push_message(source as usize, node, sending);
                // What waits for room may be of other queues.
                may_go |= state.paused != 0;
            }
        }
        if may_go {
            let ready = self.now + self.common.parameters.nic_ps;
            let time = match ready <= state.busy_until {
                true => state.busy_until,
                false => self.edge(ready),
            };
            self.depart_at(port, time);
        }
    }
}
