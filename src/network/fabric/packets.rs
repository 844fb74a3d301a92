//! Packets under way, and the lists they stand in.

/// No packet; the end of a list.
pub const NONE: u32 = u32::MAX;

/// A packet under way: a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Packet {
    /// When its message was handed to the NIC, in ps.
    pub generated: u64,
    /// Bytes of the whole message.
    pub message_bytes: u64,
    /// The next packet of the same list.
    next: u32,
    /// Bytes on the wire.
    pub wire: u32,
    /// Bytes of the message it carries.
    pub payload: u32,
    /// Destination node.
    pub destination: u32,
    /// The sending rank of the message.
    pub from: u32,
    /// Its receiving rank.
    pub to: u32,
    /// Its tag.
    pub tag: u32,
    /// In a switch: order of arrival.
    pub age: u32,
    /// In a switch: the port it came in by, and the one it leaves by.
    pub input: u8,
    /// See `input`.
    pub output: u8,
    /// Lane of the link it came by, and in a switch of the one it leaves by.
    pub lane: u8,
    /// See `lane`.
    pub next_lane: u8,
    /// Links from source to destination.
    pub hops: u8,
    /// The last packet of its message.
    pub last: bool,
}

/// All packets of a partition; a packet is named by its place. Places are used again, so
/// that a run allocates no memory once it has reached its largest number of packets.
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
            free: NONE,
            live: 0,
        }
    }
}

impl Packet {
    /// A packet at its source, in no list.
    pub fn new(destination: u32, wire: u32, payload: u32, hops: u8, generated: u64) -> Self {
        Self {
            generated,
            message_bytes: 0,
            next: NONE,
            wire,
            payload,
            destination,
            from: 0,
            to: 0,
            tag: 0,
            age: 0,
            input: 0,
            output: 0,
            lane: 0,
            next_lane: 0,
            hops,
            last: false,
        }
    }
}

impl Packets {
    /// Adds a packet and names it.
    #[inline]
    pub fn add(&mut self, packet: Packet) -> u32 {
        self.live += 1;
        if self.free == NONE {
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
    #[inline]
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

    /// Where a packet lies, to fetch it early.
    pub fn address(&self, packet: u32) -> *const Packet {
        self.places.as_ptr().wrapping_add(packet as usize)
    }
}

impl std::ops::Index<u32> for Packets {
    type Output = Packet;

    #[inline]
    fn index(&self, packet: u32) -> &Packet {
        &self.places[packet as usize]
    }
}

impl std::ops::IndexMut<u32> for Packets {
    #[inline]
    fn index_mut(&mut self, packet: u32) -> &mut Packet {
        &mut self.places[packet as usize]
    }
}

/// Packets in a row, the oldest first.
#[derive(Clone, Copy, Debug)]
pub struct List {
    first: u32,
    last: u32,
}

impl List {
    /// No packets.
    pub const EMPTY: List = List {
        first: NONE,
        last: NONE,
    };

    /// Adds a packet at the end.
    #[inline]
    pub fn push(&mut self, packets: &mut Packets, packet: u32) {
        packets[packet].next = NONE;
        if self.first == NONE {
            self.first = packet;
        } else {
            packets[self.last].next = packet;
        }
        self.last = packet;
    }

    /// Takes the first packet; there must be one.
    #[inline]
    pub fn pop(&mut self, packets: &Packets) -> u32 {
        let packet = self.first;
        self.first = packets[packet].next;
        packet
    }

    /// Takes the packet that follows `before`, or the first one.
    #[inline]
    pub fn take_after(&mut self, packets: &mut Packets, before: Option<u32>) -> u32 {
        let Some(before) = before else {
            return self.pop(packets);
        };
        let packet = packets[before].next;
        packets[before].next = packets[packet].next;
        if self.last == packet {
            self.last = before;
        }
        packet
    }

    /// No packets.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first == NONE
    }

    /// The packets, the oldest first.
    #[inline]
    pub fn iter<'p>(&self, packets: &'p Packets) -> impl Iterator<Item = u32> + 'p {
        let first = Some(self.first).filter(|first| *first != NONE);
        std::iter::successors(first, |&at| {
            Some(packets[at].next).filter(|next| *next != NONE)
        })
    }
}
