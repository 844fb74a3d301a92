//! The time after a link has come up in which no low power idle may be sent (IEEE 802.3, 78.1.2.1.2).

pub mod golden;
#[cfg(test)]
mod tests;

use crate::hdl::prelude::*;

/// Bits of the time: a second at a period of 1 ps, the shortest that a configuration can have.
pub const WIDTH: u32 = 40;

block! {
    /// Counts from the last cycle without a link, or with a fault, or in reset.
    pub struct LpiHoldOff(clk, rst);

    /// The same of every port.
    pub(crate) fn new() {}

    about(
        "lpi_hold_off",
        "The time after a link has come up in which no low power idle (LPI) may be sent,\n\
         a second by IEEE 802.3, 78.1.2.1.2. It begins again with each cycle without a\n\
         link, or with a fault, and after a reset.",
    )

    {
        pub in link_fault: Bit("there is no link, or a fault"),
        pub in hold_off: Bits(WIDTH, "cycles after that, but one, in which no LPI may be sent"),
        pub out holds: Bit("no LPI may be sent"),
        reg passed: Bits(WIDTH, 0, "cycles since the link has come up, up to hold_off"),
        reg waits: Bit(true, "hold_off had not passed a cycle ago"),
        local counts: Bit("hold_off has not passed"),
        // For the proofs (docs/evidence/proofs.md).
        property held_exactly(
            "No LPI may be sent while there is no link, or a fault, nor for hold_off + 1 cycles after that, if \
             hold_off stays the same; afterwards it may."
        ),
        invariant counts_all("It counts the cycles since the link has come up, up to hold_off."),
        invariant waits_follow("It waits as long as they are no more than hold_off."),
        reg since: Bits(WIDTH + 1, 0, "cycles since the link has come up; the largest count stays"),
        reg hold_off_then: Bits(WIDTH, 0, "hold_off, a cycle ago"),
        reg same_since: Bit(false, "hold_off has been the same since the link came up"),
        local same: Bit("it is now, too"),
        local passed_wide: Bits(WIDTH + 1, "cycles that were counted"),
        local hold_off_wide: Bits(WIDTH + 1, "hold_off"),
        local then_wide: Bits(WIDTH + 1, "hold_off a cycle ago"),
        local counted: Bits(WIDTH + 1, "what is to be counted"),
    }
}

impl Logic for LpiHoldOff {
    #[hdl_gen]
    fn update(&mut self) {
        self.holds.next = self.link_fault.val() | self.waits.q.val();
        self.counts.next = self.passed.q.val() < self.hold_off.val();
        self.waits.d.next = self.link_fault.val() | self.counts.val();
        if self.link_fault.val() {
            self.passed.d.next = 0.into();
        } else if self.counts.val() {
            self.passed.d.next = self.passed.q.val() + 1;
        }

        self.passed_wide.next = bit_cast(self.passed.q.val(), &self.passed_wide);
        self.hold_off_wide.next = bit_cast(self.hold_off.val(), &self.hold_off_wide);
        self.then_wide.next = bit_cast(self.hold_off_then.q.val(), &self.then_wide);
        self.hold_off_then.d.next = self.hold_off.val();
        self.same.next = (self.since.q.val() == 0)
            | (self.same_since.q.val() & (self.hold_off.val() == self.hold_off_then.q.val()));
        self.same_since.d.next = self.same.val() & !self.link_fault.val();
        if self.link_fault.val() {
            self.since.d.next = 0.into();
        } else if !self.since.q.val().all() {
            self.since.d.next = self.since.q.val() + 1;
        }
        if self.same.val() {
            self.held_exactly.d.next = self.holds.val()
                == (self.link_fault.val() | (self.since.q.val() <= self.hold_off_wide.val()));
        }
        self.counted.next = self.since.q.val();
        if self.since.q.val() > self.then_wide.val() {
            self.counted.next = self.then_wide.val();
        }
        if self.same_since.q.val() {
            self.counts_all.d.next =
                self.since.q.val().any() & (self.passed_wide.val() == self.counted.val());
            self.waits_follow.d.next =
                self.waits.q.val() == (self.since.q.val() <= self.then_wide.val());
        }
        if self.since.q.val() == 0 {
            self.counts_all.d.next = !self.same_since.q.val() & (self.passed.q.val() == 0);
            self.waits_follow.d.next = self.waits.q.val();
        }
    }
}
