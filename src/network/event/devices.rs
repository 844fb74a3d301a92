//! What switches and NICs hold beside their ports.

use std::collections::VecDeque;

use super::time::Time;
use crate::network::on_off_links::OnOffSwitch;
use crate::network::selection::Thresholds;
use crate::network::topology::Topology;
use crate::network::traffic::Outgoing;

/// Inside a switch, beside its ports.
#[derive(Clone, Debug)]
pub(super) struct Crossbar {
    /// Outputs that packets want to cross to.
    pub(super) wanted: u64,
    /// Those of them where packets wait behind one that does not fit.
    pub(super) held: u64,
    /// Next time to look again; [`Time::NEVER`]: nothing waits for time to pass.
    pub(super) arbitrates_at: Time,
    pub(super) arrivals: u64,
}

/// A message that its NIC has not cut completely.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sending {
    pub(super) message: Outgoing,
    pub(super) generated: Time,
    /// Bytes not yet cut into packets.
    pub(super) left: u64,
}

/// What a NIC has to send. The second of two lines is touched only if messages wait for each other.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(super) struct Nic {
    /// The oldest message, which is being cut.
    pub(super) first: Option<Sending>,
    /// There are messages behind the first one.
    pub(super) more: bool,
    /// When the last packet would have left if nothing had held up any.
    pub(super) due: Time,
    /// The messages behind the first one, the oldest first.
    pub(super) behind: VecDeque<Sending>,
    /// Messages to ranks of the same node, that arrive at once; the oldest first.
    pub(super) local: VecDeque<Outgoing>,
}

const _: () = assert!(std::mem::size_of::<Nic>() == 128);

impl Nic {
    #[inline]
    pub(super) fn push(&mut self, message: Sending) {
        match self.first {
            None => self.first = Some(message),
            Some(_) => {
                self.behind.push_back(message);
                self.more = true;
            }
        }
    }

    #[inline]
    pub(super) fn pop(&mut self) {
        self.first = None;
        if self.more {
            self.first = self.behind.pop_front();
            self.more = !self.behind.is_empty();
        }
    }
}

/// Packets that could have left a port, had its controller let them: while its link slept, or was
/// on its way down or up, or its ends were agreeing about that.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waits {
    /// One of them waits since then, in ps.
    pub(super) since: Option<Time>,
    /// How often one had to wait; those behind it do not count.
    pub(super) count: u64,
    /// How long, in ps, without the present wait.
    pub(super) ps: u64,
}

impl Waits {
    /// A packet has to wait, from `now` on if none does yet.
    pub(super) fn begin(&mut self, now: Time) {
        if self.since.is_none() {
            self.since = Some(now);
            self.count += 1;
        }
    }

    /// The controller lets packets leave.
    pub(super) fn end(&mut self, now: Time) {
        if let Some(since) = self.since.take() {
            self.ps += now - since;
        }
    }

    /// How long packets have waited by `end`, in ps.
    pub(super) fn until(&self, end: Time) -> u64 {
        self.ps + self.since.map_or(0, |since| end.max(since) - since)
    }
}

/// Switches that turn links on and off.
#[derive(Debug)]
pub(super) struct OnOffLinks {
    pub(super) thresholds: Thresholds,
    pub(super) switches: Vec<TurningSwitch>,
}

/// One of them.
#[derive(Debug)]
pub(super) struct TurningSwitch {
    pub(super) rules: OnOffSwitch,
    /// Ports that are off for what comes, but still carry what waits for them, as bits.
    pub(super) draining: u64,
    /// The end of the present window will be looked at.
    pub(super) is_watched: bool,
}

impl OnOffLinks {
    /// Of the switches with these numbers; `None` if no link of the network could be off.
    pub(super) fn new(
        topology: &dyn Topology,
        switches: &[u32],
        thresholds: Thresholds,
    ) -> Option<OnOffLinks> {
        let turning = |&switch: &u32| {
            Some(TurningSwitch {
                rules: OnOffSwitch::new(topology, switch as usize)?,
                draining: 0,
                is_watched: false,
            })
        };
        let switches = switches.iter().map(turning).collect::<Option<_>>()?;
        Some(OnOffLinks {
            thresholds,
            switches,
        })
    }
}
