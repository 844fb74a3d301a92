//! A short queue in place, for what is under way in a golden model.

/// At most `N` things, the oldest first. `N` is a power of two.
#[derive(Clone, Debug)]
pub struct Queue<T, const N: usize> {
    places: [T; N],
    /// The place of the oldest, and how many there are.
    first: usize,
    len: usize,
}

impl<T: Copy + Default, const N: usize> Queue<T, N> {
    /// An empty queue.
    pub fn new() -> Self {
        const { assert!(N.is_power_of_two()) };
        Queue {
            places: [T::default(); N],
            first: 0,
            len: 0,
        }
    }

    /// Whether there is nothing in it.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Takes everything out.
    #[inline]
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// The oldest.
    #[inline]
    pub fn front(&self) -> Option<T> {
        (self.len > 0).then(|| self.places[self.first % N])
    }

    /// Takes the oldest out.
    #[inline]
    pub fn pop_front(&mut self) -> Option<T> {
        let front = self.front()?;
        self.first = (self.first + 1) % N;
        self.len -= 1;
        Some(front)
    }

    /// Puts a new one in.
    ///
    /// # Panics
    /// If there are `N` already.
    #[inline]
    pub fn push_back(&mut self, new: T) {
        assert!(self.len < N, "the queue is full");
        self.places[(self.first + self.len) % N] = new;
        self.len += 1;
    }

    /// All of them, the oldest first.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &T> + Clone {
        (self.first..self.first + self.len).map(|place| &self.places[place % N])
    }
}

impl<T: Copy + Default, const N: usize> Default for Queue<T, N> {
    fn default() -> Self {
        Queue::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_leaves_first_wherever_the_queue_begins() {
        for begin in 0..4 {
            let mut queue = Queue::<u32, 4>::new();
            for _ in 0..begin {
                queue.push_back(0);
                queue.pop_front();
            }
            assert!(queue.is_empty());
            for value in 1..=4 {
                queue.push_back(value);
            }
            assert_eq!(queue.iter().copied().collect::<Vec<_>>(), [1, 2, 3, 4]);
            assert_eq!(queue.pop_front(), Some(1));
            queue.push_back(5);
            assert_eq!(queue.front(), Some(2));
            assert_eq!(queue.iter().copied().collect::<Vec<_>>(), [2, 3, 4, 5]);
            queue.clear();
            assert_eq!(queue.front(), None);
            assert_eq!(queue.iter().count(), 0);
        }
    }

    #[test]
    #[should_panic(expected = "the queue is full")]
    fn a_full_queue_takes_nothing() {
        let mut queue = Queue::<u32, 2>::new();
        for value in 0..3 {
            queue.push_back(value);
        }
    }
}
