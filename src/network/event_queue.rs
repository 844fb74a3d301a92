//! The event queue: integer picoseconds, ties in the order of scheduling.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Events in order of time; events of the same time in the order in which they were
/// scheduled, so that a run repeats exactly.
#[derive(Debug)]
pub struct EventQueue<E> {
    heap: BinaryHeap<Reverse<Entry<E>>>,
    scheduled: u64,
}

#[derive(Debug)]
struct Entry<E> {
    /// Time in picoseconds, then the number of scheduling.
    key: u128,
    event: E,
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self {
            heap: BinaryHeap::new(),
            scheduled: 0,
        }
    }
}

impl<E> EventQueue<E> {
    /// Schedules `event` at `at` ps.
    pub fn schedule(&mut self, at: u64, event: E) {
        let key = u128::from(at) << 64 | u128::from(self.scheduled);
        self.scheduled += 1;
        self.heap.push(Reverse(Entry { key, event }));
    }

    /// Time of the next event in ps.
    pub fn next_time(&self) -> Option<u64> {
        self.heap
            .peek()
            .map(|Reverse(entry)| (entry.key >> 64) as u64)
    }

    /// Takes the next event and its time in ps.
    pub fn pop(&mut self) -> Option<(u64, E)> {
        self.heap
            .pop()
            .map(|Reverse(entry)| ((entry.key >> 64) as u64, entry.event))
    }

    /// Events scheduled so far.
    pub fn scheduled(&self) -> u64 {
        self.scheduled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_time_then_scheduling() {
        let mut queue = EventQueue::default();
        for (at, event) in [(5, 'c'), (3, 'a'), (5, 'd'), (3, 'b'), (u64::MAX, 'e')] {
            queue.schedule(at, event);
        }
        let order: String = std::iter::from_fn(|| queue.pop().map(|(_, event)| event)).collect();
        assert_eq!(order, "abcde");
    }
}
