//! What a port counts: events, and the cycles in every state of the link.

use super::map::Map;
use crate::blocks::event_counters::PLACES;
use crate::config::plan::PortPlan;
use crate::hdl::prelude::*;

/// The counters that every port has, by the names of their registers.
const ALWAYS: [&str; 11] = [
    "periods",
    "hits",
    "misses",
    "transitions",
    "wake",
    "going_down",
    "fast_wake",
    "deep_sleep",
    "refresh",
    "going_up",
    "waits",
];

/// How many counters there are before those of messages.
pub(super) const BEFORE_MESSAGES: usize = ALWAYS.len();

/// Those of ends that agree by messages.
pub(super) const MESSAGES: [&str; 5] = ["requests", "nacks", "withdrawn", "crossed", "time_outs"];

/// Those of a direction that sleeps for itself: no such port exchanges messages, so that they stand
/// where those of messages would.
pub(super) const LOW_POWER_IDLE: [&str; 6] = [
    "rx_lpi_transitions",
    "rx_lpi",
    "tx_lpi_transitions",
    "tx_lpi",
    "lpi_errors",
    "early_starts",
];

/// The counters of a port of `plan`: the place of each in the memory of
/// [`EventCounters`](crate::blocks::event_counters::EventCounters), which is the end of its
/// register's address, and what it counts.
pub(super) fn of(plan: &PortPlan, page: &Map) -> Vec<(u32, String)> {
    let mut names = ALWAYS.to_vec();
    if plan.messages().is_some() {
        names.extend(MESSAGES);
    }
    if plan.counts_lpi() {
        names.extend(LOW_POWER_IDLE);
    }
    if !plan.per_direction() {
        names.push("backstops");
    }
    if plan.guard.is_some() {
        names.push("guard_refusals");
    }
    if plan.maps() {
        names.push("map_overflows");
    }
    let counters = names.into_iter().map(|name| {
        let register = page.register(&format!("{name}_low"));
        let doc = register
            .doc
            .split(", lower word")
            .next()
            .unwrap_or_default();
        (register.offset / 8 % PLACES, doc.to_owned())
    });
    counters.collect()
}

block! {
    /// When a packet begins to wait for the link.
    pub struct Waits;

    /// The same of every port.
    pub fn new() {}

    {
        pub in queue_nonempty: Bit("the output queue holds a packet"),
        pub in power_state: Bits(3, "state of the link"),
        pub local begins: Bit("a packet begins to wait for the link"),
        reg waited: Bit(false, "a packet has waited in this time that the link is not awake"),
        local waiting: Bit("or waits now"),
    }
}

impl Logic for Waits {
    #[hdl_gen]
    fn update(&mut self) {
        self.waiting.next =
            !(self.power_state.val() == 0) & (self.waited.q.val() | self.queue_nonempty.val());
        self.waited.d.next = self.waiting.val();
        self.begins.next = self.waiting.val() & !self.waited.q.val();
    }
}
