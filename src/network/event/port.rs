//! One port: what its two buffers hold, and until when it is busy.
//!
//! What happens at a time that is known when it begins, and is looked at only by what comes
//! later, has no event: the last byte leaves the port ([`Port::busy_until`]), or has crossed
//! the switch ([`Port::input_busy_until`], [`Port::output_busy_until`]).

use super::packets::{List, Queues, NONE};
use super::time::Time;

/// Most lanes (PFC priorities with buffers of their own) that a link has.
pub const MAX_LANES: usize = 2;

/// A port of a switch, or that of a NIC. Times in ps, sizes in bytes.
///
/// In a large network nothing is in a cache: a port is two lines, and a packet that arrives
/// touches the second one only.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Port {
    // What the output of the crossbar and the link's sending end need.
    /// The packet on the way out has left by then.
    pub busy_until: Time,
    /// When to look for the next packet to send; [`Time::NEVER`]: nothing to look for.
    pub departs_at: Time,
    /// A packet crosses to this output until then.
    pub output_busy_until: Time,
    /// In the buffer of each lane, packets granted and departing included.
    pub output_used: [u32; MAX_LANES],
    /// Packets that have crossed, in a queue for each lane and input.
    pub crossed: Queues,
    /// Packets in this switch that want to cross to this output, for each lane by arrival.
    pub wanted_by: [List; MAX_LANES],
    /// The packet that crosses, until it is put into its queue.
    pub coming: u32,
    /// Bytes of the packet on the way out that still count in `output_used`.
    pub departing: u32,

    // As an input of the crossbar.
    /// A packet crosses from this input until then.
    pub input_busy_until: Time,
    /// Bytes of that packet that still count in `input_used`.
    pub crossing: u32,
    /// In the buffer of each lane.
    pub input_used: [u32; MAX_LANES],
    pub highest_input: u32,
    pub crossing_lane: u8,
    /// Lanes that this end has stopped at the other end.
    pub stopped: u8,

    // As the end of a link.
    /// Lanes that the other end has stopped.
    pub paused: u8,
    /// A packet waits for the controller, or for the other end to take the pause back.
    pub waits: bool,
    /// The other end: its number in its partition, and that partition.
    pub peer: u32,
    /// See `peer`.
    pub peer_partition: u16,

    // Of the output again.
    pub departing_lane: u8,
    /// The queue of the packet that crosses.
    pub coming_queue: u8,
    pub highest_output: u32,

    // What was sent.
    pub packets: u64,
    pub bytes: u64,
}

const _: () = assert!(std::mem::size_of::<Port>() == 128);

impl Port {
    /// A port with nothing in it.
    pub fn new(peer_partition: u16, peer: u32) -> Self {
        Self {
            busy_until: Time(0),
            departs_at: Time::NEVER,
            output_busy_until: Time(0),
            output_used: [0; MAX_LANES],
            crossed: Queues::EMPTY,
            wanted_by: [List::EMPTY; MAX_LANES],
            coming: NONE,
            departing: 0,
            input_busy_until: Time(0),
            crossing: 0,
            input_used: [0; MAX_LANES],
            highest_input: 0,
            crossing_lane: 0,
            stopped: 0,
            paused: 0,
            waits: false,
            peer,
            peer_partition,
            departing_lane: 0,
            coming_queue: 0,
            highest_output: 0,
            packets: 0,
            bytes: 0,
        }
    }

    /// Packets want to cross to this output.
    #[inline]
    pub fn is_wanted(&self) -> bool {
        !self.wanted_by.iter().all(List::is_empty)
    }

    /// Lets go of the packet that has crossed from this input by now.
    #[inline]
    pub fn settle_input(&mut self, now: Time) {
        if self.crossing > 0 && self.input_busy_until <= now {
            self.input_used[self.crossing_lane as usize] -= self.crossing;
            self.crossing = 0;
        }
    }

    /// Lets go of the packet that has left by now; returns its bytes, 0 if there is none.
    #[inline]
    pub fn settle_output(&mut self, now: Time) -> u32 {
        if self.departing > 0 && self.busy_until <= now {
            self.output_used[self.departing_lane as usize] -= self.departing;
            return std::mem::take(&mut self.departing);
        }
        0
    }
}
