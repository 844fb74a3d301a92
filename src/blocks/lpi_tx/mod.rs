//! The transmit side of low power idle: a shim between MAC and PHY.

mod claims;
pub mod golden;
mod phase;
#[cfg(test)]
mod tests;

use crate::blocks::mii::{Mii, Word, IDLE, LPI};
use crate::hdl::prelude::*;

use claims::TxClaims;
use phase::Tx;

/// Clock cycles from a word of the MAC to the same word to the PHY: it passes through a register.
pub const DELAY: u64 = 1;

/// The least `t_w_sys` in words: a shorter one counts as so many.
pub const LEAST_WAKE: u64 = 2;

block! {
    /// Puts LPI in the place of idle while the transmit direction is to sleep (IEEE 802.3, 46.4.2,
    /// 78.1.3.1), and holds the MAC back until the other end is awake. Every other word passes as
    /// it came, one cycle later.
    pub struct LpiTx(clk, rst);

    /// A shim for an interface. Times have `time_width` bits (2 or more), in clock cycles, which
    /// are words. The MAC may start a frame up to `mac_latency` cycles after `mac_tx_enable` fell.
    pub fn new(mii: Mii, time_width: u32, mac_latency: u32) {
        let (data, lanes) = (8 * mii.lanes(), mii.lanes());
        let waits = mac_latency > 0;
        let latency_width = clog2(u128::from(mac_latency) + 1);
        let all_control = u128::from(mii.all_control());
        let idle = mii.filled(IDLE);
        let lpi = mii.filled(LPI);
    }

    about(
        "lpi_tx",
        "Low power idle (LPI), transmit side: between the transmit words of a MAC and\n\
         those of a PHY. A word that is idle in every lane becomes LPI while that is asked\n\
         for; every other word passes as it came, one cycle later. LPI begins outside of\n\
         frames only, when the MAC has been held back for as long as it may take to react,\n\
         and lasts at least t_s words. Behind it the MAC is held back until t_w_sys words\n\
         have passed; so it is after reset, which may come in the middle of LPI. A frame\n\
         that the MAC starts all the same is not held up: it passes, and early_start tells\n\
         of it.",
    )

    {
        pub in mac_data: Bits(data, "bytes of the MAC's word, lane 0 lowest"),
        pub in mac_control: Bits(lanes, "which of them are control characters"),
        pub in lpi_request: Bit("the transmit direction is to sleep"),
        pub in tx_enable: Bit("the controller allows frames"),
        pub in link_fault: Bit("local or remote fault: LPI is not to be sent"),
        pub in t_s: Bits(time_width, "least words of LPI, sampled when it begins; 0 counts as 1"),
        pub in t_w_sys: Bits(
            time_width,
            "least words from LPI to the start of a frame, sampled when LPI ends; \
             less than 2 counts as 2",
        ),
        pub out phy_data: Bits(data, "bytes of the word to the PHY"),
        pub out phy_control: Bits(lanes, "which of them are control characters"),
        pub out mac_tx_enable: Bit("the MAC may start a frame"),
        pub out transmitting: Bit("the word to the PHY has a frame, or a part of one"),
        pub out lpi_active: Bit("the word to the PHY is LPI in the place of idle"),
        pub out early_start: Bit("in the word to the PHY starts a frame too early behind LPI"),
        constant idle_word: Bits(data, idle, "idle in every lane"),
        constant lpi_word: Bits(data, lpi, "LPI in every lane"),
        constant all_control: Bits(lanes, all_control, "control characters alone"),
        choice waits(waits), // the MAC takes time to react
        constant mac_latency: Bits(
            latency_width, mac_latency.into(), "cycles that the MAC takes to react"
        ),
        section word: Word(mii),
        pub reg state: Tx(Tx::Reset, "what passes"),
        pub reg cycles: Bits(time_width, 0, "words of this state to come, and some more"),
        // After reset no frame is on its way.
        reg closed_for: Bits(
            latency_width, mac_latency.into(), "cycles that the MAC has been held back"
        ) if waits,
        reg sent_data: Bits(data, idle, "bytes of the word to the PHY"),
        reg sent_control: Bits(lanes, all_control, "its control bits"),
        reg carries: Bit(false, "it has a frame, or a part of one"),
        reg sends_lpi: Bit(false, "it is LPI in the place of idle"),
        reg starts_early: Bit(false, "a frame starts in it too early"),
        local enable: Bit("the MAC may start a frame"),
        local wanted: Bit("LPI is asked for, and nothing speaks against it"),
        local closed: Bit("no frame can be on its way from the MAC"),
        local replaces: Bit("LPI takes the place of this word"),
        section claims: TxClaims(mii, time_width, mac_latency),
    }
}

impl Logic for LpiTx {
    #[hdl_gen]
    fn update(&mut self) {
        self.word.data.next = self.mac_data.val();
        self.word.control.next = self.mac_control.val();

        self.enable.next =
            (self.state.q.val() == Tx::Open) & self.tx_enable.val() & !self.lpi_request.val();
        self.mac_tx_enable.next = self.enable.val();
        if self.waits {
            self.closed.next = self.closed_for.q.val() == self.mac_latency.val();
            if self.enable.val() {
                self.closed_for.d.next = 0.into();
            } else if !self.closed.val() {
                self.closed_for.d.next = self.closed_for.q.val() + 1;
            }
        } else {
            self.closed.next = true;
        }

        self.wanted.next = self.lpi_request.val() & !self.link_fault.val();
        self.replaces.next = false;
        if self.cycles.q.val() > 1 {
            self.cycles.d.next = self.cycles.q.val() - 1;
        }
        match self.state.q.val() {
            Tx::Open => {
                if self.wanted.val()
                    & self.closed.val()
                    & self.word.idle.val()
                    & !self.word.in_frame.q.val()
                {
                    self.replaces.next = true;
                    self.state.d.next = Tx::Asleep;
                    self.cycles.d.next = self.t_s.val();
                }
            }
            Tx::Asleep => {
                comment!("Whatever the MAC sends but idle passes, and with it LPI is over.");
                if self.word.idle.val() & (self.wanted.val() | (self.cycles.q.val() > 1)) {
                    self.replaces.next = true;
                } else {
                    self.state.d.next = Tx::Waking;
                    self.cycles.d.next = self.t_w_sys.val();
                }
            }
            Tx::Waking => {
                if self.cycles.q.val() <= 2 {
                    self.state.d.next = Tx::Open;
                }
            }
            _ => {
                comment!("After reset the other end may be asleep, as in the middle of LPI.");
                self.state.d.next = Tx::Waking;
                self.cycles.d.next = self.t_w_sys.val();
            }
        }

        if self.replaces.val() {
            self.sent_data.d.next = self.lpi_word.val();
            self.sent_control.d.next = self.all_control.val();
        } else {
            self.sent_data.d.next = self.mac_data.val();
            self.sent_control.d.next = self.mac_control.val();
        }
        self.sends_lpi.d.next = self.replaces.val();
        self.carries.d.next = self.word.carries.val();
        self.starts_early.d.next = self.word.starts.val() & !(self.state.q.val() == Tx::Open);
        self.phy_data.next = self.sent_data.q.val();
        self.phy_control.next = self.sent_control.q.val();
        self.lpi_active.next = self.sends_lpi.q.val();
        self.transmitting.next = self.carries.q.val();
        self.early_start.next = self.starts_early.q.val();

        self.claims.mac_data.next = self.mac_data.val();
        self.claims.mac_control.next = self.mac_control.val();
        self.claims.lpi_request.next = self.lpi_request.val();
        self.claims.tx_enable.next = self.tx_enable.val();
        self.claims.link_fault.next = self.link_fault.val();
        self.claims.t_s.next = self.t_s.val();
        self.claims.t_w_sys.next = self.t_w_sys.val();
        self.claims.enable.next = self.enable.val();
        self.claims.phy_data.next = self.sent_data.q.val();
        self.claims.phy_control.next = self.sent_control.q.val();
        self.claims.lpi_active.next = self.sends_lpi.q.val();
        self.claims.transmitting.next = self.carries.q.val();
        self.claims.early_start.next = self.starts_early.q.val();
        self.claims.state.next = self.state.q.val();
        self.claims.cycles.next = self.cycles.q.val();
        if self.waits {
            self.claims.closed_for.next = self.closed_for.q.val();
        }
        self.claims.in_frame.next = self.word.in_frame.q.val();
    }
}
