//! Fetching early what later events will touch: in a large network nothing is in a cache.
//!
//! This is all that is done for it, together with the order of fields in [`Port`](super::port::Port),
//! [`Packet`](super::packets::Packet) and the lazy controllers; without it, results are the same.

use super::cache::{prefetch, prefetch_lines};
use super::events::{kind_and_index, EventKind, INDEX_BITS};
use super::packets::NONE;
use super::partition::{End, Partition};
use super::wheel::{Event, AHEAD};

/// So many events before its turn, what an event leads to is fetched.
pub(super) const NEAR_AHEAD: usize = 8;

impl EventKind {
    /// Those at the end of a link, those that its controller hears of, those at a node, and those
    /// with a packet: a bit for each.
    const AT_END: u32 = !(EventKind::AT_NODE
        | 1 << EventKind::DeadlineRound as u32
        | 1 << EventKind::Arbitrate as u32
        | 1 << EventKind::Deliver as u32);
    /// See `AT_END`.
    const AT_GOVERNOR: u32 = EventKind::AT_END & !(1 << EventKind::Tail as u32);
    /// See `AT_END`.
    const AT_NODE: u32 = 1 << EventKind::Act as u32 | 1 << EventKind::Local as u32;
    /// See `AT_END`.
    const WITH_PACKET: u32 = 1 << EventKind::Tail as u32 | 1 << EventKind::Deliver as u32;

    /// All ones if an event is of one of the kinds `among`, or zero; without a branch.
    #[inline]
    fn ones(event: &Event, among: u32) -> u32 {
        0u32.wrapping_sub(among >> (event.key >> INDEX_BITS) & 1)
    }
}

impl<const EXTENDED: bool> Partition<'_, EXTENDED> {
    /// Fetches what later events will touch, in two steps: what an event names, and when that is
    /// near, what it leads to. In a network that fits into a cache a branch guessed wrong costs
    /// more than a line fetched in vain: little here depends on the kind of an event.
    #[inline]
    pub(super) fn prefetch(&self) {
        if let Some(event) = self.wheel.ahead(AHEAD) {
            let end = self.end_of(event);
            self.prefetch_end(end, 0..End::MOST);
            prefetch(
                self.packets
                    .address(event.value & EventKind::ones(event, EventKind::WITH_PACKET)),
            );
            let node = end.saturating_sub(self.switch_ports());
            prefetch(self.nics.as_ptr().wrapping_add(node as usize));
        }
        if let Some(event) = self.wheel.ahead(NEAR_AHEAD) {
            self.prefetch_next(event);
        }
    }

    /// The index of the end of a link that an event is about; 0 if it is about none.
    #[inline]
    pub(super) fn end_of(&self, event: &Event) -> u32 {
        let (_, index) = kind_and_index(event);
        let at_node = EventKind::ones(event, EventKind::AT_NODE);
        (index & (EventKind::ones(event, EventKind::AT_END) | at_node))
            + (self.switch_ports() & at_node)
    }

    /// Fetches what an event leads to.
    #[inline]
    pub(super) fn prefetch_next(&self, event: &Event) {
        let (kind, index) = kind_and_index(event);
        let end = index & EventKind::ones(event, EventKind::AT_GOVERNOR);
        let End { port, controller } = &self.ends[end as usize];
        controller.prefetch();
        for packet in [port.crossed.first(), port.coming] {
            let packet = if packet == NONE { 0 } else { packet };
            prefetch(self.packets.address(packet));
        }
        if kind == EventKind::Tail {
            let switch = index / self.by_radix;
            let output = switch * self.radix + u32::from(self.packets[event.value].output);
            self.prefetch_end(output, 0..End::PORT);
            prefetch(self.crossbars.as_ptr().wrapping_add(switch as usize));
        } else if kind == EventKind::Act {
            self.prefetch_behind(index);
            if let Some(source) = self
                .traffic
                .as_ref()
                .and_then(|it| it.source(index as usize))
            {
                prefetch(source);
            }
        } else if kind == EventKind::Inject {
            self.prefetch_behind(index - self.switch_ports());
        }
    }

    /// Asks for the messages that wait in a NIC behind the first one.
    #[inline]
    pub(super) fn prefetch_behind(&self, node: u32) {
        let nic = &self.nics[node as usize];
        if nic.more {
            prefetch(nic.behind.as_slices().0.as_ptr());
        }
    }

    /// Asks for cache lines of the end of a link.
    #[inline]
    pub(super) fn prefetch_end(&self, index: u32, lines: std::ops::Range<usize>) {
        let end = self.ends.as_ptr().wrapping_add(index as usize).cast::<u8>();
        prefetch_lines(end.wrapping_add(64 * lines.start), lines.len());
    }
}
