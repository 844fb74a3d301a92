//! What the transmit shim promises to MAC and PHY, and what that follows from
//! (`docs/evidence/proofs.md`): a section of [`LpiTx`](super::LpiTx) that is no hardware.

use super::phase::Tx;
use crate::blocks::mii::{Mii, Word, IDLE, LPI};
use crate::hdl::prelude::*;

block! {
    /// Claims about the words to the PHY, told from those of the MAC the cycle before. The MAC
    /// keeps the rules with a start if it was allowed in that cycle, or in one of the
    /// `mac_latency` cycles before.
    pub struct TxClaims;

    /// The claims of a shim with these parameters.
    pub fn new(mii: Mii, time_width: u32, mac_latency: u32) {
        let (data, lanes) = (8 * mii.lanes(), mii.lanes());
        let waits = mac_latency > 0;
        let latency_width = clog2(u128::from(mac_latency) + 1);
        let idle = mii.filled(IDLE);
        let lpi = mii.filled(LPI);
        let all_control = u128::from(mii.all_control());
        let longest = u128::MAX >> (128 - time_width);
        let wide = time_width + 2;
    }

    {
        pub in mac_data: Bits(data, "bytes of the MAC's word"),
        pub in mac_control: Bits(lanes, "its control bits"),
        pub in lpi_request: Bit("the transmit direction is to sleep"),
        pub in tx_enable: Bit("the controller allows frames"),
        pub in link_fault: Bit("local or remote fault"),
        pub in t_s: Bits(time_width, "least words of LPI"),
        pub in t_w_sys: Bits(time_width, "least words from LPI to a start"),
        pub in enable: Bit("the MAC may start a frame"),
        pub in phy_data: Bits(data, "bytes of the word to the PHY"),
        pub in phy_control: Bits(lanes, "its control bits"),
        pub in lpi_active: Bit("it is said to be LPI in the place of idle"),
        pub in transmitting: Bit("it is said to have a part of a frame"),
        pub in early_start: Bit("a start in it is said to be too early"),
        pub in state: Tx("what passes"),
        pub in cycles: Bits(time_width, "words of this state to come, and some more"),
        pub in closed_for: Bits(latency_width, "cycles that the MAC has been held back") if waits,
        pub in in_frame: Bit("the MAC's word before ended within a frame"),
        property passes_unchanged(
            "A word to the PHY is the MAC's word of the cycle before, or LPI in every lane where \
                 that was idle in every lane.",
        ),
        property lpi_told("lpi_active says which words are LPI in the place of idle."),
        property frames_told("transmitting says which words have a part of a frame."),
        property lpi_between_frames("No LPI takes the place of a word within a frame."),
        property lpi_as_asked("LPI begins only if it is asked for, and never with a fault."),
        property lpi_lasts("LPI lasts t_s words at least, unless the MAC sends more than idle."),
        property start_awake(
            "A frame that the MAC was allowed to start comes t_w_sys words after LPI, or a reset, at \
                 least, and no less than two.",
        ),
        property early_start_told("A start that comes sooner is told, and no other is."),
        property opens_in_time(
            "A MAC whose direction is not asked to sleep is held back for t_s and t_w_sys words \
                 at most.",
        ),
        invariant frame_follows("The shim knows whether a frame is under way."),
        invariant state_follows(
            "The shim is asleep while the word to the PHY is LPI, and begins after reset."
        ),
        invariant asleep_adds_up("Words of LPI that were sent and that are to come are t_s."),
        invariant waking_adds_up("So are words after LPI, of t_w_sys."),
        invariant open_adds_up("Frames pass when t_w_sys is over."),
        invariant held_back("No frame is on its way from a MAC while frames must not pass."),
        invariant waits_explained("A MAC that is held back waits for LPI or for t_w_sys."),
        choice waits(waits), // the MAC takes time to react
        constant latency: Bits(
            latency_width, mac_latency.into(), "cycles that the MAC takes to react"
        ),
        constant longest: Bits(time_width, longest, "a count stops here"),
        constant idle_everywhere: Bits(data, idle, "idle in every lane"),
        constant lpi_everywhere: Bits(data, lpi, "LPI in every lane"),
        reg data_then: Bits(data, idle, "bytes of the MAC's word the cycle before"),
        reg control_then: Bits(lanes, all_control, "its control bits"),
        reg asked_then: Bit(false, "LPI was asked for, and there was no fault"),
        reg allowed_then: Bit(false, "the MAC kept the rules if it started a frame"),
        reg t_s_then: Bits(time_width, 0, "least words of LPI, the cycle before"),
        reg t_w_then: Bits(time_width, 0, "least words from LPI to a start, the cycle before"),
        named sent: Word(mii),
        local was_idle: Bit("the MAC's word was idle in every lane"),
        local is_lpi: Bit("the word to the PHY is LPI in every lane"),
        local ours: Bit("it is LPI in the place of idle"),
        reg fresh: Bit(true, "it is the first after reset, which may have come in the middle of LPI"),
        reg slept: Bit(false, "the one before was one of both"),
        local begun: Bit("LPI begins with this word"),
        reg lpi_words: Bits(time_width, 0, "words of LPI before this one"),
        local lpi_now: Bits(time_width, "and with it"),
        reg t_s_held: Bits(time_width, 0, "t_s of this LPI, or the last"),
        local t_s_now: Bits(time_width, "the same from its first word on"),
        reg awake_words: Bits(time_width, longest, "words since LPI before this one"),
        local awake_now: Bits(time_width, "and with it"),
        reg t_w_held: Bits(time_width, 0, "t_w_sys of the last LPI"),
        local t_w_now: Bits(time_width, "the same from the first word after it on"),
        local needed: Bits(time_width, "words from LPI to a start, at least"),
        local too_early: Bit("a frame starts sooner than that"),
        reg quiet_for: Bits(
            latency_width, mac_latency.into(), "cycles for which no start was allowed"
        ) if waits,
        local allowed: Bit("the MAC keeps the rules if it starts a frame now"),
        reg waiting: Bits(wide, 0, "cycles for which the MAC has been held back unasked"),
    }
}

impl Logic for TxClaims {
    #[hdl_gen]
    fn update(&mut self) {
        self.data_then.d.next = self.mac_data.val();
        self.control_then.d.next = self.mac_control.val();
        self.asked_then.d.next = self.lpi_request.val() & !self.link_fault.val();
        self.t_s_then.d.next = self.t_s.val();
        self.t_w_then.d.next = self.t_w_sys.val();
        self.sent.data.next = self.phy_data.val();
        self.sent.control.next = self.phy_control.val();

        self.was_idle.next = self.control_then.q.val().all()
            & (self.data_then.q.val() == self.idle_everywhere.val());
        self.is_lpi.next =
            self.phy_control.val().all() & (self.phy_data.val() == self.lpi_everywhere.val());
        self.ours.next = self.is_lpi.val() & self.was_idle.val();
        self.fresh.d.next = false;
        self.slept.d.next = self.ours.val() | self.fresh.q.val();
        self.begun.next = self.ours.val() & !self.slept.q.val();

        self.passes_unchanged.d.next = self.ours.val()
            | ((self.phy_data.val() == self.data_then.q.val())
                & (self.phy_control.val() == self.control_then.q.val()));
        self.lpi_told.d.next = self.lpi_active.val() == self.ours.val();
        self.frames_told.d.next = self.transmitting.val() == self.sent.carries.val();
        self.lpi_between_frames.d.next = !self.ours.val() | !self.sent.in_frame.q.val();
        self.lpi_as_asked.d.next = !self.begun.val() | self.asked_then.q.val();

        self.lpi_now.next = self.lpi_words.q.val();
        if !self.ours.val() {
            self.lpi_now.next = 0.into();
        } else if !(self.lpi_words.q.val() == self.longest.val()) {
            self.lpi_now.next = self.lpi_words.q.val() + 1;
        }
        self.lpi_words.d.next = self.lpi_now.val();
        self.t_s_now.next = self.t_s_held.q.val();
        if self.begun.val() {
            self.t_s_now.next = self.t_s_then.q.val();
        }
        self.t_s_held.d.next = self.t_s_now.val();
        self.lpi_lasts.d.next = !self.slept.q.val()
            | self.ours.val()
            | !self.was_idle.val()
            | (self.lpi_words.q.val() >= self.t_s_held.q.val());

        self.awake_now.next = self.awake_words.q.val();
        if self.ours.val() | self.fresh.q.val() {
            self.awake_now.next = 0.into();
        } else if !(self.awake_words.q.val() == self.longest.val()) {
            self.awake_now.next = self.awake_words.q.val() + 1;
        }
        self.awake_words.d.next = self.awake_now.val();
        self.t_w_now.next = self.t_w_held.q.val();
        if self.slept.q.val() & !self.ours.val() {
            self.t_w_now.next = self.t_w_then.q.val();
        }
        self.t_w_held.d.next = self.t_w_now.val();
        self.needed.next = self.t_w_now.val();
        if self.t_w_now.val() <= 2 {
            self.needed.next = 2.into();
        }
        self.too_early.next =
            self.sent.starts.val() & (self.awake_words.q.val() < self.needed.val());
        if self.waits {
            self.allowed.next = self.enable.val() | !(self.quiet_for.q.val() == self.latency.val());
            if self.enable.val() {
                self.quiet_for.d.next = 0.into();
            } else if !(self.quiet_for.q.val() == self.latency.val()) {
                self.quiet_for.d.next = self.quiet_for.q.val() + 1;
            }
            self.held_back.d.next = (self.quiet_for.q.val() == self.closed_for.val())
                & ((self.state.val() == Tx::Open) | (self.quiet_for.q.val() == self.latency.val()));
        } else {
            self.allowed.next = self.enable.val();
            self.held_back.d.next = true;
        }
        self.allowed_then.d.next = self.allowed.val();
        self.start_awake.d.next = !self.allowed_then.q.val() | !self.too_early.val();
        self.early_start_told.d.next = self.early_start.val() == self.too_early.val();

        self.waiting.d.next = 0.into();
        if self.tx_enable.val() & !self.lpi_request.val() & !self.enable.val() {
            self.waiting.d.next = self.waiting.q.val() + 1;
        }
        self.opens_in_time.d.next = self.waiting.q.val()
            <= (bit_cast(self.t_s_now.val(), &self.waiting)
                + bit_cast(self.needed.val(), &self.waiting));

        self.frame_follows.d.next = self.in_frame.val() == self.sent.in_frame_next.val();
        self.state_follows.d.next = ((self.state.val() == Tx::Asleep) == self.ours.val())
            & ((self.state.val() == Tx::Reset) == self.fresh.q.val());
        self.asleep_adds_up.d.next = true;
        self.waking_adds_up.d.next = true;
        self.open_adds_up.d.next = true;
        self.waits_explained.d.next = true;
        match self.state.val() {
            Tx::Open => {
                self.open_adds_up.d.next = self.awake_now.val() >= self.needed.val();
                self.waits_explained.d.next = self.waiting.q.val()
                    <= (bit_cast(self.t_s_now.val(), &self.waiting)
                        + bit_cast(self.needed.val(), &self.waiting));
            }
            Tx::Asleep => {
                if self.cycles.val() > 1 {
                    self.asleep_adds_up.d.next = (self.lpi_now.val() < self.t_s_now.val())
                        & ((self.cycles.val() + (self.lpi_now.val() - 1)) == self.t_s_now.val());
                } else {
                    self.asleep_adds_up.d.next = self.lpi_now.val() >= self.t_s_now.val();
                }
                self.waits_explained.d.next = (self.waiting.q.val() == 0)
                    | ((self.waiting.q.val() < bit_cast(self.lpi_now.val(), &self.waiting))
                        & (self.lpi_now.val() <= self.t_s_now.val()));
            }
            Tx::Waking => {
                if self.cycles.val() > 2 {
                    self.waking_adds_up.d.next = (self.awake_now.val() < self.needed.val())
                        & ((self.cycles.val() + (self.awake_now.val() - 1)) == self.needed.val());
                } else {
                    self.waking_adds_up.d.next = self.awake_now.val().any()
                        & (self.awake_now.val() + 1 == self.needed.val());
                }
                self.waits_explained.d.next = self.waiting.q.val()
                    <= (bit_cast(self.t_s_now.val(), &self.waiting)
                        + bit_cast(self.awake_now.val(), &self.waiting));
            }
            _ => {
                self.waits_explained.d.next = self.waiting.q.val() == 0;
            }
        }
    }
}
