//! Packets under way, and the lists they stand in.

use super::time::Time;

/// No packet; the end of a list.
pub const NONE: u32 = u32::MAX;

/// A packet under way: a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Packet {
    /// When its message was handed to the NIC.
    pub generated: Time,
    /// Bytes of the whole message.
    pub message_bytes: u64,
    /// The next packet of the same list.
    next: u32,
    /// Of the first packet of a queue: the last one of it, and the first one of the next queue.
    last: u32,
    /// See `last`.
    next_queue: u32,
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
    /// The lower bits of [`Packet::age`].
    age_low: u32,
    /// In a switch: the port it came in by, and the one it leaves by.
    pub input: u8,
    /// See `input`.
    pub output: u8,
    /// Lane of the link it came by, and in a switch of the one it leaves by; where buffers have queues
    /// ([`queues`](super::queues)), the queues at the ends of these links.
    pub lane: u8,
    /// See `lane`.
    pub next_lane: u8,
    /// Links from source to destination.
    pub hops: u8,
    /// Of a packet in a queue: which one.
    queue: u8,
    /// The last packet of its message.
    pub ends_message: bool,
    /// The upper bits of [`Packet::age`].
    age_high: u8,
}

const _: () = assert!(std::mem::size_of::<Packet>() == 64);

/// All packets of a partition; a packet is named by its slot. Slots are used again, so
/// that a run allocates no memory once it has reached its largest number of packets.
#[derive(Debug)]
pub struct Packets {
    slots: Vec<Packet>,
    free: u32,
    live: usize,
}

impl Default for Packets {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            free: NONE,
            live: 0,
        }
    }
}

impl Packet {
    /// A packet at its source, in no list.
    pub fn new(destination: u32, wire: u32, payload: u32, hops: u8, generated: Time) -> Self {
        Self {
            generated,
            message_bytes: 0,
            next: NONE,
            last: NONE,
            next_queue: NONE,
            wire,
            payload,
            destination,
            from: 0,
            to: 0,
            tag: 0,
            age_low: 0,
            input: 0,
            output: 0,
            lane: 0,
            next_lane: 0,
            hops,
            queue: 0,
            ends_message: false,
            age_high: 0,
        }
    }

    /// The lower, the older: order of arrival in a switch, or when the packet was due to leave its
    /// NIC, as [`Aging`](crate::network::parameters::Aging) has it.
    #[inline]
    pub fn age(&self) -> Age {
        Age(u64::from(self.age_high) << 32 | u64::from(self.age_low))
    }

    /// Sets the age; of the order or time the lower 40 bits count.
    #[inline]
    pub fn set_age(&mut self, age: u64) {
        self.age_low = age as u32;
        self.age_high = (age >> 32) as u8;
    }
}

/// The age of a packet, in 40 bits that go round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Age(u64);

impl Age {
    /// Whether this is that of the older packet of two, of which one has half of all ages after it.
    #[inline]
    pub fn is_before(self, other: Age) -> bool {
        ((self.0.wrapping_sub(other.0) << 24) as i64) < 0
    }
}

impl Packets {
    /// Adds a packet and names it.
    #[inline]
    pub fn add(&mut self, packet: Packet) -> u32 {
        self.live += 1;
        if self.free == NONE {
            self.slots.push(packet);
            self.slots.len() as u32 - 1
        } else {
            let slot = self.free;
            self.free = self.slots[slot as usize].next;
            self.slots[slot as usize] = packet;
            slot
        }
    }

    /// Takes a packet out.
    #[inline]
    pub fn remove(&mut self, packet: u32) -> Packet {
        let taken = self.slots[packet as usize];
        self.slots[packet as usize].next = self.free;
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
        self.slots.as_ptr().wrapping_add(packet as usize)
    }
}

impl std::ops::Index<u32> for Packets {
    type Output = Packet;

    #[inline]
    fn index(&self, packet: u32) -> &Packet {
        &self.slots[packet as usize]
    }
}

impl std::ops::IndexMut<u32> for Packets {
    #[inline]
    fn index_mut(&mut self, packet: u32) -> &mut Packet {
        &mut self.slots[packet as usize]
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

    /// Adds a packet before the first one that it goes before.
    pub fn insert(
        &mut self,
        packets: &mut Packets,
        packet: u32,
        goes_before: impl Fn(&Packet, &Packet) -> bool,
    ) {
        let (mut before, mut at) = (NONE, self.first);
        while at != NONE && !goes_before(&packets[packet], &packets[at]) {
            (before, at) = (at, packets[at].next);
        }
        if at == NONE {
            return self.push(packets, packet);
        }
        packets[packet].next = at;
        match before {
            NONE => self.first = packet,
            _ => packets[before].next = packet,
        }
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

/// Queues that take turns: each sends a packet, if it has one that may go, then it is the turn of
/// the next one. Only queues with packets cost memory, and it is that of their packets.
#[derive(Clone, Copy, Debug)]
pub struct Queues {
    /// The first packet of the first queue with packets, from the one whose turn it is on, and
    /// that of the last one.
    first: u32,
    /// See `first`.
    last: u32,
    /// The queue whose turn it is.
    turn: u8,
}

impl Queues {
    /// No packets.
    pub const EMPTY: Queues = Queues {
        first: NONE,
        last: NONE,
        turn: 0,
    };

    /// No packets.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first == NONE
    }

    /// The first packet of the first queue, or [`NONE`].
    #[inline]
    pub fn first(&self) -> u32 {
        self.first
    }

    /// How many turns of `count` queues before it is that of `queue`.
    #[inline]
    fn turns_to(&self, queue: u8, count: u8) -> u8 {
        match queue >= self.turn {
            true => queue - self.turn,
            false => queue + (count - self.turn),
        }
    }

    /// Adds a packet at the end of `queue`, of `count`.
    #[inline]
    pub fn push(&mut self, packets: &mut Packets, packet: u32, queue: u8, count: u8) {
        let new = &mut packets[packet];
        new.next = NONE;
        new.last = packet;
        new.queue = queue;
        let turns = self.turns_to(queue, count);
        let (mut before, mut at) = (NONE, self.first);
        while at != NONE && self.turns_to(packets[at].queue, count) < turns {
            (before, at) = (at, packets[at].next_queue);
        }
        if at != NONE && packets[at].queue == queue {
            let last = std::mem::replace(&mut packets[at].last, packet);
            packets[last].next = packet;
            return;
        }
        packets[packet].next_queue = at;
        match before {
            NONE => self.first = packet,
            _ => packets[before].next_queue = packet,
        }
        if at == NONE {
            self.last = packet;
        }
    }

    /// The packet that is next, of those that may go.
    #[inline]
    pub fn next(&self, packets: &Packets, may_go: impl Fn(&Packet) -> bool) -> Option<u32> {
        let mut at = self.first;
        while at != NONE && !may_go(&packets[at]) {
            at = packets[at].next_queue;
        }
        Some(at).filter(|at| *at != NONE)
    }

    /// Takes `packet`, which is the next one.
    #[inline]
    pub fn take(&mut self, packets: &mut Packets, packet: u32, count: u8) {
        let Packet {
            next,
            last,
            next_queue,
            queue,
            ..
        } = packets[packet];
        let (first, end) = (self.first, self.last);
        self.pass(queue, count);
        (self.first, self.last) = (NONE, NONE);
        if next_queue != NONE {
            self.append(packets, next_queue, end);
        }
        if first != packet {
            // Those that had to let it pass have had their turn.
            let mut before = first;
            while packets[before].next_queue != packet {
                before = packets[before].next_queue;
            }
            self.append(packets, first, before);
        }
        if next != NONE {
            packets[next].last = last;
            self.append(packets, next, next);
        }
    }

    /// `queue`, of `count`, has had its turn.
    #[inline]
    pub fn pass(&mut self, queue: u8, count: u8) {
        self.turn = match queue + 1 == count {
            true => 0,
            false => queue + 1,
        };
    }

    /// Adds queues at the end.
    #[inline]
    fn append(&mut self, packets: &mut Packets, first: u32, last: u32) {
        match self.last {
            NONE => self.first = first,
            end => packets[end].next_queue = first,
        }
        packets[last].next_queue = NONE;
        self.last = last;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use std::collections::VecDeque;

    #[test]
    fn ages_compare_across_the_place_where_they_go_round() {
        let of = |age: u64| {
            let mut packet = Packet::new(0, 0, 0, 0, Time(0));
            packet.set_age(age);
            packet.age()
        };
        // 549 s in nanoseconds, less one.
        let far = (1 << 39) - 1;
        for age in [0, 1, 5_000_000_000, (1 << 40) - 1, 1 << 40, 1 << 41] {
            assert!(of(age).is_before(of(age + 1)), "{age}");
            assert!(of(age).is_before(of(age + far)), "{age}");
            assert!(!of(age + far).is_before(of(age)), "{age}");
            assert!(!of(age).is_before(of(age)), "{age}");
        }
    }

    #[test]
    fn queues_take_turns() {
        // Against an array of queues and a finger, with two lanes of three inputs.
        const COUNT: usize = 6;
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(7);
        let mut packets = Packets::default();
        let mut queues = Queues::EMPTY;
        let mut model: [VecDeque<u32>; COUNT] = Default::default();
        let (mut turn, mut taken, mut passed) = (0, 0, 0);
        for step in 0..20_000 {
            if random.random_bool(if step % 1000 < 500 { 0.6 } else { 0.4 }) {
                let queue = random.random_range(0..COUNT);
                let mut packet = Packet::new(0, 64, 0, 1, Time(0));
                packet.next_lane = (queue / 3) as u8;
                let packet = packets.add(packet);
                queues.push(&mut packets, packet, queue as u8, COUNT as u8);
                model[queue].push_back(packet);
            } else {
                let paused = [0, 0, 1, 2, 3][random.random_range(0..5)];
                let queue = (0..COUNT)
                    .map(|later| (turn + later) % COUNT)
                    .find(|&queue| paused & (1 << (queue / 3)) == 0 && !model[queue].is_empty());
                let next = queues.next(&packets, |it| paused & (1 << it.next_lane) == 0);
                assert_eq!(next, queue.map(|queue| model[queue][0]), "step {step}");
                if let (Some(next), Some(queue)) = (next, queue) {
                    passed += usize::from(next != queues.first());
                    taken += 1;
                    queues.take(&mut packets, next, COUNT as u8);
                    packets.remove(next);
                    model[queue].pop_front();
                    turn = (queue + 1) % COUNT;
                }
            }
            assert_eq!(queues.is_empty(), model.iter().all(VecDeque::is_empty));
        }
        assert!(taken > 5000 && passed > 1000, "{taken} {passed}");
    }
}
