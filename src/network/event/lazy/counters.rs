//! The counters of a histogram, as narrow as they may be: in a large network they take much of
//! the cache.

use std::ops::AddAssign;

/// So many counters of a byte lie where they belong, and not elsewhere.
const FEW: usize = 256;

/// Counters that nobody lets grow beyond their width.
#[derive(Clone, Debug)]
// One per port: what is elsewhere costs more than the room.
#[allow(clippy::large_enum_variant)]
pub enum Counters {
    /// A byte for each bin.
    Bytes([u8; FEW]),
    /// A word for each bin.
    Words(Box<[u32]>),
}

impl Counters {
    /// Counters of so many bins that grow to `largest`.
    pub fn new(bins: usize, largest: u32) -> Self {
        match bins <= FEW && largest <= u32::from(u8::MAX) {
            true => Counters::Bytes([0; FEW]),
            false => Counters::Words(vec![0; bins].into()),
        }
    }

    /// The counter of a bin.
    #[inline]
    pub fn get(&self, bin: usize) -> u32 {
        match self {
            Counters::Bytes(counters) => counters[bin].into(),
            Counters::Words(counters) => counters[bin],
        }
    }

    /// Sets the counter of a bin.
    ///
    /// # Panics
    /// If it is larger than they were sent to grow.
    #[inline]
    pub fn set(&mut self, bin: usize, count: u32) {
        match self {
            Counters::Bytes(counters) => {
                counters[bin] = u8::try_from(count).expect("counters grow to their largest value");
            }
            Counters::Words(counters) => counters[bin] = count,
        }
    }

    /// Counts one more in each of `bins`; how many of these are `from` or above. No counter may
    /// exceed the largest value by it.
    #[inline]
    pub fn count(&mut self, bins: impl Iterator<Item = usize>, from: usize) -> u64 {
        match self {
            Counters::Bytes(counters) => count(counters, bins, from),
            Counters::Words(counters) => count(counters, bins, from),
        }
    }

    /// Sets all of them to 0.
    pub fn clear(&mut self) {
        match self {
            Counters::Bytes(counters) => counters.fill(0),
            Counters::Words(counters) => counters.fill(0),
        }
    }
}

#[inline]
fn count<T: AddAssign + From<u8>>(
    counters: &mut [T],
    bins: impl Iterator<Item = usize>,
    from: usize,
) -> u64 {
    let mut above = 0;
    for bin in bins {
        counters[bin] += T::from(1);
        above += u64::from(bin >= from);
    }
    above
}
