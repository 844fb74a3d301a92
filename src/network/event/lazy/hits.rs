//! Idle periods that ended in hits, kept until the threshold has to know of them.

use crate::network::event::time::PortCycle;

/// Most hits that are kept.
pub const BUFFERED: usize = 32;

/// How many cycles after the one before it a hit came, and how many idle cycles it ended.
pub type Hit = (u16, u16);

/// Hits that came one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Hits<'a> {
    /// How many cycles after the one before it the first came does not matter.
    pub hits: &'a [Hit],
    /// The cycle in which the latest came.
    pub latest: PortCycle,
}

impl Hits<'_> {
    /// The cycle in which the first hit came, and how many idle cycles it ended.
    pub fn first(&self) -> Option<(PortCycle, u64)> {
        let ((_, cycles), later) = self.hits.split_first()?;
        let since: u64 = later.iter().map(|&(cycles, _)| u64::from(cycles)).sum();
        Some((self.latest - since, (*cycles).into()))
    }

    /// Hits after which all is settled again before the next one comes, or `asked`, if it was
    /// when the first one came. That takes `alone` clock cycles from a hit if all was settled then,
    /// and `chained` otherwise.
    pub fn settled(&self, (alone, chained): (u64, u64), asked: PortCycle) -> usize {
        // After a gap like this all is settled, whatever was under way.
        let mut sure = self.hits.len();
        let mut gap = asked.since(self.latest);
        while sure > 0 && gap < chained {
            sure -= 1;
            gap = self.hits[sure].0.into();
        }
        // From there on, one hit follows the other.
        let mut settled = sure;
        let mut was_settled = true;
        for number in sure..self.hits.len() {
            let under_way = if was_settled { alone } else { chained };
            let gap = match self.hits.get(number + 1) {
                Some(&(cycles, _)) => cycles.into(),
                None => asked.since(self.latest),
            };
            was_settled = gap >= under_way;
            if was_settled {
                settled = number + 1;
            }
        }
        settled
    }
}
