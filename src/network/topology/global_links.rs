//! The cables between the groups of a Megafly or a Dragonfly.

/// Every two groups are connected by equally many cables. Within a group the ports for them
/// are numbered through, switch by switch; all groups look the same, so that what holds for
/// one holds for all.
///
/// Port `q` leads to the group `q % (groups - 1) + 1` further on, and is the
/// `q / (groups - 1)`th cable of the two; ports beyond the last whole round have no cable.
#[derive(Clone, Copy, Debug)]
pub(super) struct GlobalLinks {
    groups: usize,
    /// Ports of a switch.
    per_switch: usize,
    /// Cables between two groups.
    cables: usize,
}

impl GlobalLinks {
    /// For groups that have `switches` switches with `per_switch` such ports each; `None` if
    /// those are too few to reach every other group.
    pub(super) fn new(groups: usize, switches: usize, per_switch: usize) -> Option<Self> {
        let cables = match groups - 1 {
            0 => 0,
            others => switches * per_switch / others,
        };
        (groups == 1 || cables > 0).then_some(Self {
            groups,
            per_switch,
            cables,
        })
    }

    /// How many groups further on `to` is than `from`: 1 to groups - 1.
    pub(super) fn distance(&self, from: usize, to: usize) -> usize {
        if to > from {
            to - from
        } else {
            to + self.groups - from
        }
    }

    /// Group and port at the other end of the cable at port `q` of `group`.
    pub(super) fn peer(&self, group: usize, q: usize) -> Option<(usize, usize)> {
        let others = self.groups - 1;
        if q >= self.cables * others {
            return None;
        }
        let (cable, distance) = (q / others, q % others + 1);
        let back = cable * others + (self.groups - distance - 1);
        Some(((group + distance) % self.groups, back))
    }

    /// The port of a group through which packets for `destination`, `distance` groups
    /// further on, leave unless they come by one that leads there, too.
    pub(super) fn port(&self, distance: usize, destination: usize) -> usize {
        destination % self.cables * (self.groups - 1) + distance - 1
    }

    /// The port of a switch itself that leads so far, chosen by destination if there are
    /// more than one.
    #[inline]
    pub(super) fn own_port(
        &self,
        switch: usize,
        distance: usize,
        destination: usize,
    ) -> Option<usize> {
        let others = self.groups - 1;
        let first = switch * self.per_switch;
        let end = (first + self.per_switch).min(self.cables * others);
        // The first port from `first` on that leads there.
        let own = first + (distance - 1 + others - first % others) % others;
        if own >= end {
            return None;
        }
        let count = (end - own).div_ceil(others);
        Some(own + destination % count * others)
    }
}
