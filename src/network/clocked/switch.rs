//! The packet model of one BXIv3 switch (PerfBound 2.5, 3, Table 6).
//!
//! Combined input-output queued: each input has a buffer with one virtual output queue
//! per output, each output has a buffer with one queue per input; a crossbar with
//! speed-up moves packets from the one to the other, also towards an output whose link
//! sleeps. What the PerfBound paper leaves open is decided here:
//!
//! - Store and forward: a packet asks for the crossbar when its last byte has arrived and
//!   [`Parameters::switch_ps`] have passed, and may leave the output when its last byte has
//!   crossed. The PerfBound paper's crossbar is 2.44 times as fast as a link; cutting through, it would run
//!   dry.
//! - Crossbar arbitration is by age: of the first packets of all virtual queues between free
//!   inputs and outputs the oldest goes first, by its time in this switch or in the network
//!   ([`Aging`]). If the oldest packet for an output does not fit into its buffer, younger
//!   ones do not overtake it there.
//! - The output port serves the queues of its inputs in turn (round-robin), packet by
//!   packet. There is one traffic class.
//! - A packet occupies its input buffer from its first byte on until it has crossed, and
//!   its output buffer from the grant on until its last byte has left.
//! - PFC counts whole input buffers. Pause frames take [`Parameters::pause_delay`], slip
//!   in between the bytes of a packet, and pass in every power state; they are no
//!   activity of a port.

use crate::network::parameters::{Aging, Parameters, AGE_PS, MAX_RADIX};
use crate::network::run::Overflow;

/// No packet.
pub const NO_PACKET: u32 = u32::MAX;

/// A packet under way.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// Bytes on the wire.
    pub wire: u32,
    /// Bytes of the message it carries.
    pub payload: u32,
    /// The message it belongs to.
    pub message: u32,
    /// Destination node.
    pub destination: u32,
    /// When its message was handed to the NIC, in ps.
    pub generated: u64,
    /// When it was due to leave its NIC, in ps ([`Aging::Network`]).
    pub due: u64,
    /// In a switch: the lower, the older the packet is, as [`Aging`] has it.
    age: u64,
    /// In a switch: order of arrival.
    arrival: u64,
    /// Links from source to destination.
    pub hops: u8,
    /// The next packet of the same queue, or of the list of free places.
    next: u32,
}

impl Packet {
    /// A packet that is in no queue and has not left its NIC.
    pub fn new(
        wire: u32,
        payload: u32,
        message: u32,
        destination: u32,
        generated: u64,
        hops: u8,
    ) -> Self {
        Self {
            wire,
            payload,
            message,
            destination,
            generated,
            due: 0,
            age: 0,
            arrival: 0,
            hops,
            next: NO_PACKET,
        }
    }
}

/// All packets under way; a packet is named by its place. Places are used again, so that
/// a run allocates no memory once it has reached its largest number of packets.
#[derive(Debug)]
pub struct Packets {
    places: Vec<Packet>,
    free: u32,
    live: usize,
}

impl Default for Packets {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            free: NO_PACKET,
            live: 0,
        }
    }
}

impl Packets {
    /// Adds a packet and names it.
    pub fn add(&mut self, packet: Packet) -> u32 {
        self.live += 1;
        if self.free == NO_PACKET {
            self.places.push(packet);
            self.places.len() as u32 - 1
        } else {
            let place = self.free;
            self.free = self.places[place as usize].next;
            self.places[place as usize] = packet;
            place
        }
    }

    /// Takes a packet out.
    pub fn remove(&mut self, packet: u32) -> Packet {
        let taken = self.places[packet as usize];
        self.places[packet as usize].next = self.free;
        self.free = packet;
        self.live -= 1;
        taken
    }

    /// Packets under way.
    pub fn len(&self) -> usize {
        self.live
    }

    /// No packet is under way.
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }
}

impl std::ops::Index<u32> for Packets {
    type Output = Packet;

    fn index(&self, packet: u32) -> &Packet {
        &self.places[packet as usize]
    }
}

/// A queue of packets, linked through [`Packet::next`].
#[derive(Clone, Copy, Debug)]
struct Fifo {
    first: u32,
    last: u32,
}

impl Fifo {
    const EMPTY: Fifo = Fifo {
        first: NO_PACKET,
        last: NO_PACKET,
    };

    fn push(&mut self, packets: &mut Packets, packet: u32) {
        packets.places[packet as usize].next = NO_PACKET;
        if self.first == NO_PACKET {
            self.first = packet;
        } else {
            packets.places[self.last as usize].next = packet;
        }
        self.last = packet;
    }

    fn pop(&mut self, packets: &Packets) -> u32 {
        let packet = self.first;
        self.first = packets[packet].next;
        packet
    }

    fn is_empty(&self) -> bool {
        self.first == NO_PACKET
    }
}

#[derive(Clone, Debug, Default)]
struct Input {
    /// Bytes in the buffer.
    used: u32,
    highest: u32,
    /// A pause frame has been sent and not taken back.
    stopped: bool,
}

#[derive(Clone, Debug, Default)]
struct Output {
    /// Bytes in the buffer, those granted included.
    used: u32,
    highest: u32,
    /// Inputs with packets for it in their virtual queue.
    wanted: u64,
    /// Inputs with packets in this buffer.
    filled: u64,
    /// The input whose turn it is.
    turn: u32,
}

/// What PFC tells the sender on the other end of an input's link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pfc {
    /// Send nothing more than what is on the wire.
    Stop,
    /// Send again.
    Go,
}

/// A packet may cross from `input` to `output` now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Port at whose input buffer the packet waits.
    pub input: u32,
    /// Port to whose output buffer it goes.
    pub output: u32,
    /// Its place in [`Packets`].
    pub packet: u32,
}

/// One switch.
#[derive(Clone, Debug)]
pub struct Switch {
    radix: usize,
    queue: u32,
    stop: u32,
    go: u32,
    aging: Aging,
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    /// By input, then output.
    virtual_queues: Vec<Fifo>,
    /// By output, then input.
    output_queues: Vec<Fifo>,
    /// Inputs that are not sending into the crossbar, outputs not receiving from it.
    free_inputs: u64,
    free_outputs: u64,
    /// Outputs that some virtual queue holds a packet for.
    wanted_outputs: u64,
    arrivals: u64,
}

impl Switch {
    /// An empty switch with `radix` ports.
    ///
    /// # Panics
    /// If `radix` is 0 or more than [`MAX_RADIX`].
    pub fn new(radix: usize, parameters: &Parameters) -> Self {
        assert!((1..=MAX_RADIX).contains(&radix), "radix {radix}");
        let all = u64::MAX >> (64 - radix);
        Self {
            radix,
            queue: parameters.queue,
            stop: parameters.pfc_stop,
            go: parameters.pfc_go,
            aging: parameters.aging,
            inputs: vec![Input::default(); radix],
            outputs: vec![Output::default(); radix],
            virtual_queues: vec![Fifo::EMPTY; radix * radix],
            output_queues: vec![Fifo::EMPTY; radix * radix],
            free_inputs: all,
            free_outputs: all,
            wanted_outputs: 0,
            arrivals: 0,
        }
    }

    /// The first byte of a packet arrives: its room is taken. Returns what PFC has to say.
    ///
    /// # Errors
    /// If the buffer has no room.
    pub fn begin_arrival(&mut self, input: u32, wire: u32) -> Result<Option<Pfc>, Overflow> {
        let place = &mut self.inputs[input as usize];
        let used = u64::from(place.used) + u64::from(wire);
        if used > u64::from(self.queue) {
            return Err(Overflow {
                input,
                used,
                capacity: self.queue,
            });
        }
        place.used = used as u32;
        place.highest = place.highest.max(place.used);
        if place.used >= self.stop && !place.stopped {
            place.stopped = true;
            return Ok(Some(Pfc::Stop));
        }
        Ok(None)
    }

    /// A packet that has arrived asks for the crossbar.
    pub fn end_arrival(&mut self, packets: &mut Packets, packet: u32, input: u32, output: u32) {
        self.arrivals += 1;
        let place = &mut packets.places[packet as usize];
        place.arrival = self.arrivals;
        place.age = match self.aging {
            Aging::Switch => self.arrivals,
            Aging::Network => place.due / AGE_PS,
        };
        self.virtual_queues[input as usize * self.radix + output as usize].push(packets, packet);
        self.outputs[output as usize].wanted |= 1 << input;
        self.wanted_outputs |= 1 << output;
    }

    /// The next packet to cross, if any may. Call it until it returns `None` after each
    /// arrival, crossing and departure.
    pub fn arbitrate(&mut self, packets: &Packets) -> Option<Grant> {
        let mut best: Option<(u64, Grant)> = None;
        for output in bits(self.free_outputs & self.wanted_outputs) {
            let place = &self.outputs[output as usize];
            let mut oldest: Option<((u64, u64), Grant)> = None;
            for input in bits(place.wanted & self.free_inputs) {
                let queue = &self.virtual_queues[input as usize * self.radix + output as usize];
                let packet = queue.first;
                let Packet { age, arrival, .. } = packets[packet];
                let age = (age, arrival);
                if oldest.is_none_or(|(other, _)| age < other) {
                    let grant = Grant {
                        input,
                        output,
                        packet,
                    };
                    oldest = Some((age, grant));
                }
            }
            if let Some(((age, _), grant)) = oldest {
                let fits = place.used + packets[grant.packet].wire <= self.queue;
                if fits && best.is_none_or(|(other, _)| age < other) {
                    best = Some((age, grant));
                }
            }
        }
        let (_, grant) = best?;
        let Grant {
            input,
            output,
            packet,
        } = grant;
        let queue = &mut self.virtual_queues[input as usize * self.radix + output as usize];
        queue.pop(packets);
        if queue.is_empty() {
            let wanted = &mut self.outputs[output as usize].wanted;
            *wanted &= !(1 << input);
            if *wanted == 0 {
                self.wanted_outputs &= !(1 << output);
            }
        }
        let place = &mut self.outputs[output as usize];
        place.used += packets[packet].wire;
        place.highest = place.highest.max(place.used);
        self.free_inputs &= !(1 << input);
        self.free_outputs &= !(1 << output);
        Some(grant)
    }

    /// The last byte of a granted packet has crossed. Returns what PFC has to say.
    pub fn crossed(&mut self, packets: &mut Packets, grant: Grant) -> Option<Pfc> {
        let Grant {
            input,
            output,
            packet,
        } = grant;
        self.free_inputs |= 1 << input;
        self.free_outputs |= 1 << output;
        self.output_queues[output as usize * self.radix + input as usize].push(packets, packet);
        self.outputs[output as usize].filled |= 1 << input;
        let place = &mut self.inputs[input as usize];
        place.used -= packets[packet].wire;
        if place.stopped && place.used <= self.go {
            place.stopped = false;
            return Some(Pfc::Go);
        }
        None
    }

    /// Takes the next packet to leave through `output`.
    pub fn next_departure(&mut self, packets: &Packets, output: u32) -> Option<u32> {
        let place = &mut self.outputs[output as usize];
        if place.filled == 0 {
            return None;
        }
        // The first filled queue from the one whose turn it is, going round.
        let later = place.filled & (u64::MAX << place.turn);
        let input = if later == 0 { place.filled } else { later }.trailing_zeros();
        place.turn = if input as usize + 1 == self.radix {
            0
        } else {
            input + 1
        };
        let queue = &mut self.output_queues[output as usize * self.radix + input as usize];
        let packet = queue.pop(packets);
        if queue.is_empty() {
            place.filled &= !(1 << input);
        }
        Some(packet)
    }

    /// The last byte of a packet with `wire` bytes has left through `output`.
    pub fn departed(&mut self, output: u32, wire: u32) {
        self.outputs[output as usize].used -= wire;
    }

    /// Bytes that are in the switch to leave through `output`, those on the way out included.
    pub fn bytes_for(&self, packets: &Packets, output: u32) -> u64 {
        let mut bytes = u64::from(self.outputs[output as usize].used);
        for input in 0..self.radix {
            let queue = &self.virtual_queues[input * self.radix + output as usize];
            let mut packet = queue.first;
            while packet != NO_PACKET {
                bytes += u64::from(packets[packet].wire);
                packet = packets[packet].next;
            }
        }
        bytes
    }

    /// Bytes in the buffer of `output`, those granted and those on the way out included.
    pub fn filled(&self, output: u32) -> u32 {
        self.outputs[output as usize].used
    }

    /// Packets wait in the buffer of `output`.
    pub fn has_departure(&self, output: u32) -> bool {
        self.outputs[output as usize].filled != 0
    }

    /// Most bytes that the input and the output buffer of a port ever held.
    pub fn highest(&self, port: u32) -> (u32, u32) {
        (
            self.inputs[port as usize].highest,
            self.outputs[port as usize].highest,
        )
    }
}

/// The places of the ones in `word`, lowest first.
fn bits(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        if word == 0 {
            return None;
        }
        let place = word.trailing_zeros();
        word &= word - 1;
        Some(place)
    })
}

#[cfg(test)]
mod tests;
