//! The event queue: a timing wheel. Events of the near future lie in slots by time, those
//! further away in a heap; scheduling and taking cost the same however many are pending.
//!
//! Events are ordered by time, then by what they are and where ([`Event::key`]), and never by
//! the order in which they were scheduled: a run is the same however it is split over threads.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::cache::prefetch_lines;
use super::time::Time;

/// The wheel spans `2^SPAN` ps, 34 us: longer than most ports wait before they let their link sleep.
const SPAN: u32 = 25;

/// A slot spans `2^SHIFT` ps, a ns: enough events of a large network to fetch early what those
/// that come next touch, and not too many to sort.
const SHIFT: u32 = 10;

/// Slots; a power of two.
const SLOTS: usize = 1 << (SPAN - SHIFT);

/// No chunk.
const NONE: u32 = u32::MAX;

/// Events in a chunk, which is four cache lines.
const CHUNK: usize = 16;

/// The event that comes so many after the next one is known, unless it is more than half of
/// [`REACH`] away.
pub const AHEAD: usize = 20;

/// Before an event is taken so many are in order, and where there are so many, no fewer are put in
/// order together: up to 20 the standard library sorts with branches that nobody can guess.
const ENOUGH: usize = AHEAD + 2;

/// Slots that are in order at most: what is scheduled there later is put between the others.
const REACH: u64 = 1 << 3;

/// Bits of a word that say which event it stands for, beside its time in the slots that are put
/// in order together, and its key.
const PLACE_BITS: u32 = u64::BITS - u32::BITS - SHIFT - REACH.ilog2();

/// So many events that have been taken stay until the others move up.
const KEPT: usize = 1024;

/// Of the slot that comes next, a chunk is fetched with every so many events.
const FETCH: usize = 8;

/// Something that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    /// When.
    pub time: Time,
    /// What and where. No two events of the same time and key differ in what they lead to.
    pub key: u32,
    /// What it is about.
    pub value: u32,
}

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Chunk([Event; CHUNK]);

/// The events of a slot: those of its newest chunk, and all of the chunks before that.
#[derive(Clone, Copy, Debug)]
struct Slot {
    newest: u32,
    /// Events in the newest chunk.
    len: u32,
}

impl Slot {
    /// No events: no chunk that has room.
    const EMPTY: Slot = Slot {
        newest: NONE,
        len: CHUNK as u32,
    };
}

const EMPTY: Event = Event {
    time: Time(0),
    key: 0,
    value: 0,
};

/// Pending events.
#[derive(Debug)]
pub struct Wheel {
    slots: Vec<Slot>,
    /// A bit per slot that holds events.
    filled: Vec<u64>,
    /// Slots are named by time: those from here on, for one turn of the wheel, are in it.
    turn: u64,
    chunks: Vec<Chunk>,
    /// Of each chunk, the one before it in its slot, or the next free one.
    links: Vec<u32>,
    /// Chunks used last are used again first: they are in the cache.
    free: u32,
    /// The events of a slot as they come out of it, and a word for each to sort them by.
    gathered: Vec<Event>,
    order: Vec<u64>,
    /// The events of all slots before `turn`, in order, and how many of them are done.
    present: Vec<Event>,
    done: usize,
    /// A chunk of the slot that comes next, that is being fetched.
    fetched: u32,
    far: BinaryHeap<Reverse<Event>>,
}

impl Wheel {
    /// An empty wheel.
    pub fn new() -> Self {
        Self {
            slots: vec![Slot::EMPTY; SLOTS],
            filled: vec![0; SLOTS / 64],
            turn: 0,
            chunks: Vec::new(),
            links: Vec::new(),
            free: NONE,
            gathered: Vec::new(),
            order: Vec::new(),
            present: Vec::new(),
            done: 0,
            fetched: NONE,
            far: BinaryHeap::new(),
        }
    }

    /// Schedules an event, not before the last one taken.
    #[inline]
    pub fn schedule(&mut self, event: Event) {
        let slot = event.time.0 >> SHIFT;
        if slot < self.turn {
            // In a slot that is in order.
            let rest = &self.present[self.done..];
            let place = self.done + rest.partition_point(|other| *other < event);
            self.present.insert(place, event);
        } else if slot - self.turn < SLOTS as u64 {
            self.put(slot, event);
        } else {
            self.far.push(Reverse(event));
        }
    }

    #[inline]
    fn put(&mut self, slot: u64, event: Event) {
        let place = slot as usize % SLOTS;
        let slot = &mut self.slots[place];
        if (slot.len as usize) < CHUNK {
            self.chunks[slot.newest as usize].0[slot.len as usize] = event;
            slot.len += 1;
            return;
        }
        let fresh = self.free;
        if fresh == NONE {
            let fresh = self.chunks.len() as u32;
            self.chunks.push(Chunk([EMPTY; CHUNK]));
            self.links.push(slot.newest);
            slot.newest = fresh;
        } else {
            self.free = std::mem::replace(&mut self.links[fresh as usize], slot.newest);
            slot.newest = fresh;
        }
        slot.len = 1;
        self.chunks[slot.newest as usize].0[0] = event;
        self.filled[place / 64] |= 1 << (place % 64);
    }

    /// The first filled slot, as a time.
    fn next_slot(&self) -> Option<u64> {
        let start = self.turn as usize % SLOTS;
        let word = start / 64;
        let first = self.filled[word] & (u64::MAX << (start % 64));
        let place = if first != 0 {
            word * 64 + first.trailing_zeros() as usize
        } else {
            let words = self.filled.len();
            // The word of the start comes again at the end, for the slots before the start.
            let later = (1..=words).find(|step| self.filled[(word + step) % words] != 0)?;
            let word = (word + later) % words;
            word * 64 + self.filled[word].trailing_zeros() as usize
        };
        Some(self.turn + (place.wrapping_sub(start) % SLOTS) as u64)
    }

    /// The slot of the first event of the heap.
    fn far_slot(&self) -> Option<u64> {
        self.far.peek().map(|Reverse(event)| event.time.0 >> SHIFT)
    }

    /// Puts further slots in order; whether there is an event. If none is in order, only slots
    /// that begin before `limit` are looked for.
    fn fill(&mut self, limit: Time) -> bool {
        if self.done == self.present.len() {
            let slot = match (self.next_slot(), self.far_slot()) {
                (Some(near), Some(far)) => near.min(far),
                (Some(slot), None) | (None, Some(slot)) => slot,
                (None, None) => return false,
            };
            if slot << SHIFT >= limit.0 {
                return false;
            }
            self.turn = slot;
        }
        let next = self.present.get(self.done);
        let until = next.map_or(self.turn, |event| event.time.0 >> SHIFT) + REACH;
        // Where slots have few events, not after every single one.
        if self.turn + REACH / 2 > until {
            return true;
        }
        let first = self.turn;
        self.gathered.clear();
        while self.turn < until && self.gathered.len() < ENOUGH {
            self.gather();
        }
        self.sort(first);
        let place = self.turn as usize % SLOTS;
        self.fetch_chunk(self.slots[place].newest);
        true
    }

    /// Takes the events of the next slot out of it.
    fn gather(&mut self) {
        let slot = self.turn;
        self.turn += 1;
        let place = slot as usize % SLOTS;
        let bit = 1 << (place % 64);
        if self.filled[place / 64] & bit != 0 {
            self.filled[place / 64] &= !bit;
            let Slot { newest, len } = std::mem::replace(&mut self.slots[place], Slot::EMPTY);
            let (mut chunk, mut len) = (newest, len as usize);
            while chunk != NONE {
                let events = &self.chunks[chunk as usize].0[..len];
                self.gathered.extend_from_slice(events);
                len = CHUNK;
                let before = std::mem::replace(&mut self.links[chunk as usize], self.free);
                self.free = std::mem::replace(&mut chunk, before);
            }
        }
        while self.far_slot() == Some(slot) {
            self.gathered
                .extend(self.far.pop().map(|Reverse(event)| event));
        }
    }

    /// Puts the gathered events, of slots from `slot` on, behind the present ones, in order. Words
    /// are sorted several times faster than events: time, key, and where the event is.
    fn sort(&mut self, slot: u64) {
        if self.done > KEPT {
            self.present.drain(..self.done);
            self.done = 0;
        }
        let first = self.present.len();
        if self.gathered.len() >> PLACE_BITS > 0 {
            self.present.append(&mut self.gathered);
            return self.present[first..].sort_unstable();
        }
        let start = Time(slot << SHIFT);
        self.order.clear();
        self.order
            .extend(self.gathered.iter().zip(0..).map(|(event, place)| {
                (event.time - start) << (PLACE_BITS + u32::BITS)
                    | u64::from(event.key) << PLACE_BITS
                    | place
            }));
        self.order.sort_unstable();
        let place = |word: u64| (word & ((1 << PLACE_BITS) - 1)) as usize;
        let events = self.order.iter().map(|&word| self.gathered[place(word)]);
        self.present.extend(events);
        let alike = |pair: &[u64]| pair[0] >> PLACE_BITS == pair[1] >> PLACE_BITS;
        if self.order.windows(2).any(alike) {
            self.present[first..].sort_unstable();
        }
    }

    /// Fetches a chunk early.
    #[inline]
    fn fetch_chunk(&mut self, chunk: u32) {
        self.fetched = chunk;
        if chunk != NONE {
            let address = self.chunks.as_ptr().wrapping_add(chunk as usize);
            prefetch_lines(address.cast(), std::mem::size_of::<Chunk>() / 64);
        }
    }

    /// Takes the next event before `limit`.
    #[inline]
    pub fn next_before(&mut self, limit: Time) -> Option<Event> {
        if self.present.len() - self.done < ENOUGH && !self.fill(limit) {
            return None;
        }
        let event = self.present[self.done];
        if event.time >= limit {
            return None;
        }
        self.done += 1;
        if self.done.is_multiple_of(FETCH) && self.fetched != NONE {
            self.fetch_chunk(self.links[self.fetched as usize]);
        }
        Some(event)
    }

    /// The event that will be taken `ahead` (0 to [`AHEAD`]) events after the next one, if that
    /// is known.
    #[inline]
    pub fn ahead(&self, ahead: usize) -> Option<&Event> {
        self.present.get(self.done + ahead)
    }

    /// Time of the next event.
    pub fn next_time(&mut self) -> Option<Time> {
        if self.done == self.present.len() && !self.fill(Time::NEVER) {
            return None;
        }
        Some(self.present[self.done].time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};

    #[test]
    fn order_is_that_of_a_sorted_list() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(5);
        for _ in 0..3 {
            let mut wheel = Wheel::new();
            let mut pending: Vec<Event> = Vec::new();
            let mut now = Time(0);
            let mut taken = 0u32;
            for step in 0..200_000u32 {
                if pending.len() < 300 && random.random_bool(0.52) {
                    // Near and far, and often the same instant.
                    let delay = match random.random_range(0..10) {
                        0 => 0,
                        1..6 => random.random_range(0..300),
                        6..9 => random.random_range(0..200_000),
                        _ => random.random_range(0..1 << 34),
                    };
                    let event = Event {
                        time: now + delay,
                        key: random.random_range(0..50),
                        value: step,
                    };
                    wheel.schedule(event);
                    pending.push(event);
                } else {
                    let limit = match random.random_bool(0.3) {
                        true => now + random.random_range(0..5000),
                        false => Time::NEVER,
                    };
                    let expected = pending.iter().min().copied();
                    let expected = expected.filter(|event| event.time < limit);
                    let next = wheel.next_before(limit);
                    assert_eq!(next, expected);
                    if let Some(event) = next {
                        pending.retain(|other| *other != event);
                        now = event.time;
                        taken += 1;
                    }
                }
            }
            assert!(taken > 50_000, "{taken}");
        }
    }

    #[test]
    fn what_comes_next_is_known_ahead() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(6);
        // Mean times between events of a small network and of a large one, in ps.
        for gap in [2000, 100, 3] {
            let mut wheel = Wheel::new();
            let mut pending = std::collections::BTreeSet::new();
            let mut known = 0;
            for step in 0..20_000 {
                while pending.len() < 200 {
                    let event = Event {
                        time: Time(step * gap) + random.random_range(0..400 * gap),
                        key: random.random_range(0..1 << 31),
                        value: 0,
                    };
                    pending.insert(event);
                    wheel.schedule(event);
                }
                let next = pending.pop_first();
                assert_eq!(wheel.next_before(Time::NEVER), next);
                let slot = next.map_or(0, |event| event.time.0 >> SHIFT);
                for (ahead, event) in pending.iter().enumerate().take(AHEAD + 1) {
                    match wheel.ahead(ahead) {
                        Some(found) => assert_eq!(found, event),
                        None => assert!((event.time.0 >> SHIFT) - slot > REACH / 2),
                    }
                    known += usize::from(wheel.ahead(ahead).is_some());
                }
            }
            let share = known as f64 / (20_000 * (AHEAD + 1)) as f64;
            assert!(
                share > if gap == 2000 { 0.1 } else { 0.99 },
                "{gap}: {share}"
            );
        }
    }

    #[test]
    fn the_next_time_is_known_without_taking() {
        let mut wheel = Wheel::new();
        assert_eq!(wheel.next_time(), None);
        for time in [70_000_000, 40].map(Time) {
            wheel.schedule(Event {
                time,
                key: 1,
                value: 0,
            });
        }
        assert_eq!(wheel.next_time(), Some(Time(40)));
        assert_eq!(
            wheel.next_before(Time(41)).map(|event| event.time),
            Some(Time(40))
        );
        assert_eq!(wheel.next_before(Time(70_000_000)), None);
        assert_eq!(wheel.next_time(), Some(Time(70_000_000)));
    }
}
