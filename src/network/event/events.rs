//! What happens in a partition, in the order in which it does at the same time.

use super::packets::Packet;
use super::port::MAX_LANES;
use super::time::Time;
use super::wheel::Event;

/// What happens, in the order in which it does at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum EventKind {
    /// A window ends in which a switch measures the load of its links.
    WindowEnds = 0,
    /// A pause frame arrives at a port, or credits do.
    FlowControl,
    /// A message of the other end arrives at a port's controller.
    Message,
    /// Deadlines of many controllers are near ([`Rounds`](super::rounds::Rounds)).
    DeadlineRound,
    /// A controller's deadline.
    Deadline,
    /// The first byte of a packet arrives at a port.
    Head,
    /// A packet has arrived at a port of a switch, and may cross it.
    Tail,
    /// The other end of a port has turned its link on or off.
    LinkTurns,
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
    /// A port whose link is turned off may have sent all that waited for it.
    Drained,
}

impl EventKind {
    const ALL: [EventKind; 16] = [
        EventKind::WindowEnds,
        EventKind::FlowControl,
        EventKind::Message,
        EventKind::DeadlineRound,
        EventKind::Deadline,
        EventKind::Head,
        EventKind::Tail,
        EventKind::LinkTurns,
        EventKind::Deliver,
        EventKind::Release,
        EventKind::Arbitrate,
        EventKind::Act,
        EventKind::Local,
        EventKind::Depart,
        EventKind::Inject,
        EventKind::Drained,
    ];
}

/// Bits of an event's key that say where.
pub(super) const INDEX_BITS: u32 = 28;

/// What an event is, and where.
#[inline]
pub(super) fn kind_and_index(event: &Event) -> (EventKind, u32) {
    let index = event.key & ((1 << INDEX_BITS) - 1);
    (EventKind::ALL[(event.key >> INDEX_BITS) as usize], index)
}

/// What the event of an arriving packet's first byte is about: its bytes on the wire, and the
/// lane it comes by. The packet itself need not be looked at.
pub(super) fn arriving(wire: u32, lane: u8) -> u32 {
    const { assert!(MAX_LANES <= 2) };
    wire << 1 | u32::from(lane)
}

pub(super) fn event(time: Time, kind: EventKind, index: u32, value: u32) -> Event {
    Event {
        time,
        key: (kind as u32) << INDEX_BITS | index,
        value,
    }
}

/// What happens in another partition.
#[derive(Clone, Copy, Debug)]
pub struct RemoteEvent {
    pub(super) event: Event,
    /// If it is the arrival of a packet's first byte: the packet, and the event of its last byte.
    pub(super) packet: Option<(Packet, Event)>,
}

impl RemoteEvent {
    /// When it happens.
    pub fn time(&self) -> Time {
        self.event.time
    }
}
