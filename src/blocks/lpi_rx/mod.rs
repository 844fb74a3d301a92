//! The receive side of low power idle: a shim between PHY and MAC.

mod claims;
pub mod golden;
#[cfg(test)]
mod tests;

use crate::blocks::mii::{Mii, Word, ERROR, IDLE, LPI};
use crate::hdl::prelude::*;

use claims::RxClaims;

/// Clock cycles from a word of the PHY to the same word to the MAC: it passes through a register.
pub const DELAY: u64 = 1;

block! {
    /// What takes the place of LPI in a column: the bits that make another character of it.
    struct Mended;

    /// Of column `at` of an interface.
    fn new(mii: Mii, at: u32) {
        let data = 8 * mii.lanes();
        let first = at * mii.column();
        // Idle and error have every bit of LPI and some more.
        let more = move |character: u8| {
            move |lane: u32| {
                let bits = u128::from(character & !LPI) << (8 * (first + lane));
                Constant::bits(data, bits, "bits that LPI lacks")
            }
        };
        let (idle, error) = (more(IDLE), more(ERROR));
    }

    {
        in lpi[_ in 0..mii.column()]: Bit("the lane has LPI"),
        in silent: Bit("the column is LPI, and no frame is under way"),
        number _lanes(mii.column() as usize),
        constant to_idle[lane in 0..mii.column()]: idle(lane),
        constant to_error[lane in 0..mii.column()]: error(lane),
        local added[_ in 0..mii.column()]: Bits(data, "bits for the lane"),
        local joined[_ in 0..=mii.column()]: Bits(data, "bits for the lanes below"),
        local bits: Bits(data, format!("bits that column {at} gets")),
    }
}

impl Logic for Mended {
    #[hdl_gen]
    fn update(&mut self) {
        self.joined[0].next = 0.into();
        for i in 0..self._lanes {
            self.added[i].next = 0.into();
            if self.lpi[i].val() {
                if self.silent.val() {
                    self.added[i].next = self.to_idle[i].val();
                } else {
                    self.added[i].next = self.to_error[i].val();
                }
            }
            self.joined[i + 1].next = self.joined[i].val() | self.added[i].val();
        }
        self.bits.next = self.joined[self._lanes].val();
    }
}

block! {
    /// Takes LPI out of the words that a PHY received, so that a MAC that does not know it finds
    /// idle (IEEE 802.3, 46.4, 78.1.3.2), and tells of it. Every other word passes as it came,
    /// one cycle later.
    pub struct LpiRx(clk, rst);

    /// A shim for an interface.
    pub fn new(mii: Mii) {
        let (data, lanes, columns) = (8 * mii.lanes(), mii.lanes(), mii.columns());
        let idle = mii.filled(IDLE);
        let all_control = u128::from(mii.all_control());
    }

    about(
        "lpi_rx",
        "Low power idle (LPI), receive side: between the receive words of a PHY and those\n\
         of a MAC. A column that is LPI in every lane becomes idle, and rx_lpi tells of\n\
         it; every other word passes as it came, one cycle later. LPI in some lanes of a\n\
         column only, and LPI within a frame, become error characters, and lpi_error\n\
         tells of it, as of a frame that starts right behind LPI.",
    )

    {
        pub in phy_data: Bits(data, "bytes of the PHY's word, lane 0 lowest"),
        pub in phy_control: Bits(lanes, "which of them are control characters"),
        pub out mac_data: Bits(data, "bytes of the word to the MAC"),
        pub out mac_control: Bits(lanes, "which of them are control characters"),
        pub out rx_lpi: Bit("LP_IDLE.indication: the other end sends LPI"),
        pub out receiving: Bit("the word to the MAC has a frame, or a part of one"),
        pub out lpi_error: Bit("its LPI was malformed, or a frame starts right behind LPI"),
        number _columns(columns as usize),
        number _column_lanes(mii.column() as usize),
        section word: Word(mii),
        named mended[at in 0..columns]: Mended(mii, at),
        local silent[at in 0..columns]: Bit(format!("column {at} is LPI outside of frames")),
        local malformed[at in 0..columns]: Bit(format!("column {at} has LPI that must not be")),
        local after_lpi[_ in 0..=columns]: Bit("the column before is LPI"),
        local wrong[_ in 0..=columns]: Bit("something is wrong in the columns before"),
        local more_bits[_ in 0..=columns]: Bits(data, "bits that the columns before get"),
        reg lpi_before: Bit(false, "the last column of the word before was LPI"),
        reg given_data: Bits(data, idle, "bytes of the word to the MAC"),
        reg given_control: Bits(lanes, all_control, "its control bits"),
        reg indication: Bit(false, "its last column was LPI"),
        reg carries: Bit(false, "it has a frame, or a part of one"),
        reg error: Bit(false, "something was wrong with it"),
        section claims: RxClaims(mii),
    }
}

impl Logic for LpiRx {
    #[hdl_gen]
    fn update(&mut self) {
        self.word.data.next = self.phy_data.val();
        self.word.control.next = self.phy_control.val();
        self.after_lpi[0].next = self.lpi_before.q.val();
        self.wrong[0].next = false;
        self.more_bits[0].next = 0.into();
        for i in 0..self._columns {
            self.silent[i].next = self.word.columns[i].lpi.val() & !self.word.open[i].val();
            self.malformed[i].next = self.word.columns[i].has_lpi.val() & !self.silent[i].val();
            self.wrong[i + 1].next = self.wrong[i].val()
                | self.malformed[i].val()
                | (self.word.columns[i].starts.val() & self.after_lpi[i].val());
            self.after_lpi[i + 1].next = self.word.columns[i].lpi.val();
            self.mended[i].silent.next = self.silent[i].val();
            for j in 0..self._column_lanes {
                self.mended[i].lpi[j].next = self.word.columns[i].lanes[j].lpi.val();
            }
            self.more_bits[i + 1].next = self.more_bits[i].val() | self.mended[i].bits.val();
        }
        self.given_control.d.next = self.phy_control.val();
        self.carries.d.next = self.word.carries.val();
        comment!("Idle and error have every bit of LPI and some more.");
        self.given_data.d.next = self.phy_data.val() | self.more_bits[self._columns].val();
        self.lpi_before.d.next = self.after_lpi[self._columns].val();
        self.indication.d.next = self.silent[self._columns - 1].val();
        self.error.d.next = self.wrong[self._columns].val();
        self.mac_data.next = self.given_data.q.val();
        self.mac_control.next = self.given_control.q.val();
        self.rx_lpi.next = self.indication.q.val();
        self.receiving.next = self.carries.q.val();
        self.lpi_error.next = self.error.q.val();

        self.claims.phy_data.next = self.phy_data.val();
        self.claims.phy_control.next = self.phy_control.val();
        self.claims.mac_data.next = self.given_data.q.val();
        self.claims.mac_control.next = self.given_control.q.val();
        self.claims.rx_lpi.next = self.indication.q.val();
        self.claims.receiving.next = self.carries.q.val();
        self.claims.lpi_error.next = self.error.q.val();
        self.claims.in_frame.next = self.word.in_frame.q.val();
        self.claims.lpi_before.next = self.lpi_before.q.val();
    }
}
