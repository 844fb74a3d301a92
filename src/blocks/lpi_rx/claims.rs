//! What the receive shim promises to the MAC and to the controller, and what that follows from
//! (`docs/evidence/proofs.md`): a section of [`LpiRx`](super::LpiRx) that is no hardware.

use crate::blocks::mii::{Mii, Word, ERROR, IDLE};
use crate::hdl::prelude::*;

block! {
    /// A column as it was received and as it was handed on.
    struct ColumnClaims;

    /// Of an interface.
    fn new(mii: Mii) {
        let lanes = mii.column();
    }

    {
        in received[_ in 0..lanes]: Bits(8, "byte of a lane"),
        in received_control[_ in 0..lanes]: Bit("it was a control character"),
        in lpi[_ in 0..lanes]: Bit("it was LPI"),
        in given[_ in 0..lanes]: Bits(8, "byte of the lane to the MAC"),
        in given_control[_ in 0..lanes]: Bit("it is a control character"),
        in silent: Bit("the column was LPI, and no frame was under way"),
        number _lanes(lanes as usize),
        constant idle_character: Bits(8, IDLE.into(), "idle"),
        constant error_character: Bits(8, ERROR.into(), "error"),
        local kept_so_far[_ in 0..=lanes]: Bit("the lanes below are as they came, or had LPI"),
        local replaced_so_far[_ in 0..=lanes]: Bit("LPI in the lanes below is replaced"),
        local becomes[_ in 0..lanes]: Bits(8, "what takes the place of LPI"),
        local kept: Bit("what was no LPI is as it came"),
        local replaced: Bit("LPI is replaced"),
    }
}

impl Logic for ColumnClaims {
    #[hdl_gen]
    fn update(&mut self) {
        self.kept_so_far[0].next = true;
        self.replaced_so_far[0].next = true;
        for i in 0..self._lanes {
            self.kept_so_far[i + 1].next = self.kept_so_far[i].val()
                & (self.given_control[i].val() == self.received_control[i].val())
                & (self.lpi[i].val() | (self.given[i].val() == self.received[i].val()));
            self.becomes[i].next = self.error_character.val();
            if self.silent.val() {
                self.becomes[i].next = self.idle_character.val();
            }
            self.replaced_so_far[i + 1].next = self.replaced_so_far[i].val()
                & (!self.lpi[i].val() | (self.given[i].val() == self.becomes[i].val()));
        }
        self.kept.next = self.kept_so_far[self._lanes].val();
        self.replaced.next = self.replaced_so_far[self._lanes].val();
    }
}

block! {
    /// Claims about the words to the MAC, told from those of the PHY the cycle before.
    pub struct RxClaims;

    /// The claims of a shim for an interface.
    pub fn new(mii: Mii) {
        let (data, lanes, columns) = (8 * mii.lanes(), mii.lanes(), mii.columns());
        let idle = mii.filled(IDLE);
        let all_control = u128::from(mii.all_control());
    }

    {
        pub in phy_data: Bits(data, "bytes of the PHY's word"),
        pub in phy_control: Bits(lanes, "its control bits"),
        pub in mac_data: Bits(data, "bytes of the word to the MAC"),
        pub in mac_control: Bits(lanes, "its control bits"),
        pub in rx_lpi: Bit("the other end is said to send LPI"),
        pub in receiving: Bit("the word is said to have a part of a frame"),
        pub in lpi_error: Bit("it is said to be malformed"),
        pub in in_frame: Bit("the PHY's word before ended within a frame"),
        pub in lpi_before: Bit("its last column was LPI"),
        property frames_unchanged(
            "What is no LPI reaches the MAC as it came, lane by lane, one cycle later."
        ),
        property lpi_replaced(
            "A column of LPI outside of frames becomes idle, and any other LPI becomes error."
        ),
        property no_lpi_to_mac("No LPI reaches the MAC."),
        property lpi_told("rx_lpi says whether the last column was LPI outside of frames."),
        property frames_told("receiving says which words have a part of a frame."),
        property errors_told(
            "lpi_error tells of LPI in some lanes only, of LPI within a frame, and of a start \
                 right behind LPI, and of nothing else.",
        ),
        invariant frame_follows("The shim knows whether a frame is under way."),
        invariant lpi_follows("The shim knows whether the column before was LPI."),
        number _columns(columns as usize),
        number _column_lanes(mii.column() as usize),
        reg data_then: Bits(data, idle, "bytes of the PHY's word the cycle before"),
        reg control_then: Bits(lanes, all_control, "its control bits"),
        reg lpi_then: Bit(false, "the last column before it was LPI"),
        named received: Word(mii),
        named given: Word(mii),
        named compared[_ in 0..columns]: ColumnClaims(mii),
        local was_silent[_ in 0..columns]: Bit("the column was LPI outside of frames"),
        local followed_lpi[_ in 0..=columns]: Bit("the column before was LPI"),
        local was_wrong[_ in 0..=columns]: Bit("something was wrong in the columns before"),
        local kept[_ in 0..=columns]: Bit("the columns before are as they came, but for LPI"),
        local replaced[_ in 0..=columns]: Bit("LPI in the columns before is replaced"),
        local clean[_ in 0..=columns]: Bit("the columns before have no LPI"),
    }
}

impl Logic for RxClaims {
    #[hdl_gen]
    fn update(&mut self) {
        self.data_then.d.next = self.phy_data.val();
        self.control_then.d.next = self.phy_control.val();
        self.received.data.next = self.data_then.q.val();
        self.received.control.next = self.control_then.q.val();
        self.given.data.next = self.mac_data.val();
        self.given.control.next = self.mac_control.val();
        self.followed_lpi[0].next = self.lpi_then.q.val();
        self.was_wrong[0].next = false;
        self.kept[0].next = true;
        self.replaced[0].next = true;
        self.clean[0].next = true;
        for i in 0..self._columns {
            self.was_silent[i].next =
                self.received.columns[i].lpi.val() & !self.received.open[i].val();
            self.followed_lpi[i + 1].next = self.received.columns[i].lpi.val();
            self.was_wrong[i + 1].next = self.was_wrong[i].val()
                | (self.received.columns[i].has_lpi.val() & !self.was_silent[i].val())
                | (self.received.columns[i].starts.val() & self.followed_lpi[i].val());
            self.compared[i].silent.next = self.was_silent[i].val();
            for j in 0..self._column_lanes {
                self.compared[i].received[j].next = self.received.columns[i].lanes[j].content.val();
                self.compared[i].received_control[j].next =
                    self.received.columns[i].lanes[j].is_control.val();
                self.compared[i].lpi[j].next = self.received.columns[i].lanes[j].lpi.val();
                self.compared[i].given[j].next = self.given.columns[i].lanes[j].content.val();
                self.compared[i].given_control[j].next =
                    self.given.columns[i].lanes[j].is_control.val();
            }
            self.kept[i + 1].next = self.kept[i].val() & self.compared[i].kept.val();
            self.replaced[i + 1].next = self.replaced[i].val() & self.compared[i].replaced.val();
            self.clean[i + 1].next = self.clean[i].val() & !self.given.columns[i].has_lpi.val();
        }
        self.lpi_then.d.next = self.followed_lpi[self._columns].val();
        self.frames_unchanged.d.next = self.kept[self._columns].val();
        self.lpi_replaced.d.next = self.replaced[self._columns].val();
        self.no_lpi_to_mac.d.next = self.clean[self._columns].val();
        self.lpi_told.d.next = self.rx_lpi.val() == self.was_silent[self._columns - 1].val();
        self.errors_told.d.next = self.lpi_error.val() == self.was_wrong[self._columns].val();
        self.lpi_follows.d.next = self.lpi_before.val() == self.followed_lpi[self._columns].val();
        self.frames_told.d.next = self.receiving.val() == self.received.carries.val();
        self.frame_follows.d.next = self.in_frame.val() == self.received.in_frame_next.val();
    }
}
