//! What a port counts: events, and the cycles in every state of the link.

use crate::hdl::prelude::*;

/// Width of the event counters, in bits: at 1 GHz the time in a state overflows after 584
/// years.
const EVENT_WIDTH: u32 = 64;

block! {
    /// The counters of a port. Software makes them 0; an event in that cycle is not counted.
    pub struct Counters;

    /// The same of every port.
    pub fn new() {}

    {
        pub in hit: Bit("an idle period ended, the link stayed awake"),
        pub in miss: Bit("an idle period ended, the link had left wake"),
        pub in leaving: Bit("the link leaves wake at the end of this cycle"),
        pub in queue_nonempty: Bit("the output queue holds a packet"),
        pub in power_state: Bits(3, "state of the link"),
        pub in clears: Bit("the counters become 0"),
        pub reg periods: Bits(EVENT_WIDTH, 0, "idle periods that ended"),
        pub reg hits: Bits(EVENT_WIDTH, 0, "of them hits"),
        pub reg misses: Bits(EVENT_WIDTH, 0, "of them misses"),
        pub reg transitions: Bits(EVENT_WIDTH, 0, "times the link left wake"),
        pub reg wake: Bits(EVENT_WIDTH, 0, "cycles in wake"),
        pub reg going_down: Bits(EVENT_WIDTH, 0, "cycles going down"),
        pub reg fast_wake: Bits(EVENT_WIDTH, 0, "cycles in fast wake"),
        pub reg deep_sleep: Bits(EVENT_WIDTH, 0, "cycles in deep sleep"),
        pub reg refreshing: Bits(EVENT_WIDTH, 0, "cycles refreshing"),
        pub reg going_up: Bits(EVENT_WIDTH, 0, "cycles going up"),
        pub reg waits: Bits(EVENT_WIDTH, 0, "times that a packet waited for the link"),
        reg waited: Bit(false, "a packet has waited in this time that the link is not awake"),
        local waiting: Bit("or waits now"),
    }
}

impl Logic for Counters {
    #[hdl_gen]
    fn update(&mut self) {
        if self.hit.val() | self.miss.val() {
            self.periods.d.next = self.periods.q.val() + 1;
        }
        if self.hit.val() {
            self.hits.d.next = self.hits.q.val() + 1;
        }
        if self.miss.val() {
            self.misses.d.next = self.misses.q.val() + 1;
        }
        if self.leaving.val() {
            self.transitions.d.next = self.transitions.q.val() + 1;
        }
        if self.power_state.val() == 0 {
            self.wake.d.next = self.wake.q.val() + 1;
        }
        if self.power_state.val() == 1 {
            self.going_down.d.next = self.going_down.q.val() + 1;
        }
        if self.power_state.val() == 2 {
            self.fast_wake.d.next = self.fast_wake.q.val() + 1;
        }
        if self.power_state.val() == 3 {
            self.deep_sleep.d.next = self.deep_sleep.q.val() + 1;
        }
        if self.power_state.val() == 4 {
            self.refreshing.d.next = self.refreshing.q.val() + 1;
        }
        if self.power_state.val() == 5 {
            self.going_up.d.next = self.going_up.q.val() + 1;
        }
        self.waiting.next =
            !(self.power_state.val() == 0) & (self.waited.q.val() | self.queue_nonempty.val());
        self.waited.d.next = self.waiting.val();
        if self.waiting.val() & !self.waited.q.val() {
            self.waits.d.next = self.waits.q.val() + 1;
        }
        if self.clears.val() {
            self.periods.d.next = 0.into();
            self.hits.d.next = 0.into();
            self.misses.d.next = 0.into();
            self.transitions.d.next = 0.into();
            self.wake.d.next = 0.into();
            self.going_down.d.next = 0.into();
            self.fast_wake.d.next = 0.into();
            self.deep_sleep.d.next = 0.into();
            self.refreshing.d.next = 0.into();
            self.going_up.d.next = 0.into();
            self.waits.d.next = 0.into();
        }
    }
}
