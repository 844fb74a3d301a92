//! The agreement about `Tw_sys_tx`, the time from the end of LPI to the first data: the state
//! diagrams of a transmitter (IEEE 802.3, Figure 78-6) and of a receiver (Figure 78-7).
//!
//! The standard leaves two functions to the implementation, `examine_Tx_change` and
//! `examine_Rx_change`, and when `local_system_change` is set. What this implementation does is
//! said there. Fields have the names of the standard's variables in Rust's spelling. Times are in
//! microseconds.
//!
//! The diagrams alone leave a race: a receiver that asks for more because the transmitter
//! advertises enough, and a transmitter that goes down to what was asked before, cross. So a
//! receiver here changes its request only when the last one has been echoed, and
//! [`Receiver::may_take`] counts no more than what was echoed. With both
//! [`Transmitter::wait`] is never less than the other end's `may_take`, whatever updates are lost.

use super::eee_tlv::EeeTlv;

/// What a system can do as a transmitter, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransmitNeeds {
    /// It waits so long in any case. Less than the PHY's wake value counts as that.
    pub own: u16,
    /// It cannot wait longer, because of its buffers, say. Less than `own` counts as that.
    pub most: u16,
}

/// What a system asks for as a receiver, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReceiveNeeds {
    /// So long would it like to take to wake. Less than the PHY's wake value counts as that.
    pub wish: u16,
    /// So long if it cannot have `wish`; more than `wish` counts as that.
    pub fallback: u16,
}

/// The transmitter's state diagram (Figure 78-6), in RUNNING between two calls.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Transmitter {
    phy_wake_value: u16,
    loc_tx_system_value: u16,
    rem_tx_system_value_echo: u16,
    rem_rx_system_value: u16,
    rem_fb_system_value: u16,
    loc_rx_system_value_echo: u16,
    loc_resolved_tx_system_value: u16,
    temp_rx_var: u16,
}

impl Transmitter {
    /// INITIALIZE: every value is the PHY's wake value.
    pub fn new(phy_wake_value: u16) -> Self {
        Transmitter {
            phy_wake_value,
            loc_tx_system_value: phy_wake_value,
            rem_tx_system_value_echo: phy_wake_value,
            rem_rx_system_value: phy_wake_value,
            rem_fb_system_value: phy_wake_value,
            loc_rx_system_value_echo: phy_wake_value,
            loc_resolved_tx_system_value: phy_wake_value,
            temp_rx_var: phy_wake_value,
        }
    }

    /// LocResolvedTxSystemValue: so long does this end wait behind LPI before it sends data.
    pub fn wait(&self) -> u16 {
        self.loc_resolved_tx_system_value
    }

    /// The other end has taken the advertised value into account (78.4.3.1: "in sync").
    pub fn in_sync(&self) -> bool {
        self.loc_tx_system_value == self.rem_tx_system_value_echo
    }

    fn hear(&mut self, tlv: &EeeTlv) {
        self.rem_rx_system_value = tlv.receive;
        self.rem_fb_system_value = tlv.fallback_receive;
        self.rem_tx_system_value_echo = tlv.echo_transmit;
    }

    /// examine_Tx_change: what the receiver asks for, or its fallback if that is too much, or as
    /// much as there can be; no less than this end waits in any case. It returns NEW_TX_VALUE.
    fn examine(&self, needs: &TransmitNeeds, request: u16) -> u16 {
        let own = needs.own.max(self.phy_wake_value);
        let most = needs.most.max(own);
        let accepted = match request <= most {
            true => request,
            false => self.rem_fb_system_value.min(most),
        };
        accepted.max(own)
    }

    /// The transitions that are due. local_system_change is set while the needs ask for another
    /// value than is advertised, and while an echo is owed for a request that LOCAL CHANGE took
    /// and left.
    fn step(&mut self, needs: &TransmitNeeds) {
        let echo_owed = self.temp_rx_var == self.rem_rx_system_value
            && self.loc_rx_system_value_echo != self.temp_rx_var;
        let changed = self.examine(needs, self.temp_rx_var) != self.loc_tx_system_value;
        let local_system_change = changed || echo_owed;
        let remote_change = self.rem_rx_system_value != self.temp_rx_var && self.in_sync();
        if !local_system_change && !remote_change {
            return;
        }
        // LOCAL CHANGE or REMOTE CHANGE
        self.temp_rx_var = self.rem_rx_system_value;
        let new_tx_value = self.examine(needs, self.temp_rx_var);
        if !self.in_sync() && new_tx_value >= self.loc_tx_system_value {
            return;
        }
        // TX UPDATE
        self.loc_tx_system_value = new_tx_value;
        if new_tx_value >= self.loc_resolved_tx_system_value || new_tx_value >= self.temp_rx_var {
            // SYSTEM REALLOCATION
            self.loc_resolved_tx_system_value = new_tx_value;
        }
        // MIRROR UPDATE
        self.loc_rx_system_value_echo = self.temp_rx_var;
    }
}

/// The receiver's state diagram (Figure 78-7), in RUNNING between two calls.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Receiver {
    phy_wake_value: u16,
    loc_rx_system_value: u16,
    rem_rx_system_value_echo: u16,
    rem_tx_system_value: u16,
    loc_tx_system_value_echo: u16,
    loc_resolved_rx_system_value: u16,
    loc_fb_system_value: u16,
    temp_tx_var: u16,
    /// The needs of which the transmitter has answered a request with less, and the least of these
    /// requests: the wish, or the fallback.
    refused: Option<(ReceiveNeeds, u16)>,
}

impl Receiver {
    /// INITIALIZE: every value is the PHY's wake value.
    pub fn new(phy_wake_value: u16) -> Self {
        Receiver {
            phy_wake_value,
            loc_rx_system_value: phy_wake_value,
            rem_rx_system_value_echo: phy_wake_value,
            rem_tx_system_value: phy_wake_value,
            loc_tx_system_value_echo: phy_wake_value,
            loc_resolved_rx_system_value: phy_wake_value,
            loc_fb_system_value: phy_wake_value,
            temp_tx_var: phy_wake_value,
            refused: None,
        }
    }

    /// LocResolvedRxSystemValue: what this end takes the other for, by the diagram alone.
    pub fn resolved(&self) -> u16 {
        self.loc_resolved_rx_system_value
    }

    /// So long may this end take to wake: the resolved value, but no more than the transmitter has
    /// advertised (78.4.2.5) and has echoed of the requests.
    pub fn may_take(&self) -> u16 {
        self.loc_resolved_rx_system_value
            .min(self.loc_tx_system_value_echo)
            .min(self.rem_rx_system_value_echo)
    }

    /// The other end has taken the request into account (78.4.3.2: "in sync").
    pub fn in_sync(&self) -> bool {
        self.loc_rx_system_value == self.rem_rx_system_value_echo
    }

    fn hear(&mut self, tlv: &EeeTlv) {
        self.rem_tx_system_value = tlv.transmit;
        self.rem_rx_system_value_echo = tlv.echo_receive;
    }

    /// What the needs count as: the wish and the fallback.
    fn within_reach(&self, needs: &ReceiveNeeds) -> (u16, u16) {
        let wish = needs.wish.max(self.phy_wake_value);
        (wish, needs.fallback.clamp(self.phy_wake_value, wish))
    }

    /// examine_Rx_change: the wish, until the transmitter has answered it with less; then the
    /// fallback, even if less than that is advertised, because the transmitter may have known another
    /// fallback; and the PHY's wake value if it has answered that with less, too. Nothing tells of a
    /// transmitter that could wait longer by now, so the wish is asked for again when the needs change,
    /// and either is granted when as much is advertised for another reason. A request that has not been
    /// echoed stands. It returns NEW_RX_VALUE.
    fn examine(&mut self, needs: &ReceiveNeeds) -> u16 {
        if !self.in_sync() {
            return self.loc_rx_system_value;
        }
        let (wish, fallback) = self.within_reach(needs);
        let (requested, advertised) = (self.loc_rx_system_value, self.rem_tx_system_value);
        let answered_with_less = |request| requested == request && advertised < request;
        let of_these = self.refused.filter(|(of, _)| of == needs);
        let mut refused = of_these.map(|(_, least)| least);
        if answered_with_less(wish) {
            refused = Some(wish);
        }
        if refused.is_some() && answered_with_less(fallback) {
            refused = Some(fallback);
        }
        let Some(least) = refused else {
            return wish;
        };
        self.refused = Some((*needs, least));
        if advertised >= wish {
            wish
        } else if advertised >= fallback || least > fallback {
            fallback
        } else {
            self.phy_wake_value
        }
    }

    /// The transitions that are due. local_system_change is set while the needs ask for another
    /// value than is requested.
    fn step(&mut self, needs: &ReceiveNeeds) {
        self.loc_fb_system_value = self.within_reach(needs).1;
        let new_rx_value = self.examine(needs);
        let local_system_change = new_rx_value != self.loc_rx_system_value;
        if !local_system_change && self.rem_tx_system_value == self.temp_tx_var {
            return;
        }
        // CHANGE
        self.temp_tx_var = self.rem_tx_system_value;
        if new_rx_value <= self.loc_resolved_rx_system_value || new_rx_value <= self.temp_tx_var {
            // SYSTEM REALLOCATION
            self.loc_resolved_rx_system_value = new_rx_value;
        }
        // RX UPDATE
        self.loc_rx_system_value = new_rx_value;
        // UPDATE MIRROR
        self.loc_tx_system_value_echo = self.temp_tx_var;
    }
}

/// One end of a link: a transmitter and a receiver, each of which agrees with its counterpart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct End {
    /// Its transmit direction.
    pub transmitter: Transmitter,
    /// Its receive direction.
    pub receiver: Receiver,
}

impl End {
    /// An end whose PHY needs `phy_wake_value` microseconds (PHY WAKE VALUE, 78.4.2.2: `Tw_sys_tx`
    /// (min) of Table 78-4, rounded up).
    pub fn new(phy_wake_value: u16) -> Self {
        End {
            transmitter: Transmitter::new(phy_wake_value),
            receiver: Receiver::new(phy_wake_value),
        }
    }

    /// Goes on with what the system needs now and, if there is one, with a TLV of the other end.
    pub fn step(&mut self, transmit: &TransmitNeeds, receive: &ReceiveNeeds, tlv: Option<&EeeTlv>) {
        if let Some(tlv) = tlv {
            self.transmitter.hear(tlv);
            self.receiver.hear(tlv);
        }
        self.transmitter.step(transmit);
        self.receiver.step(receive);
    }

    /// The TLV that it sends.
    pub fn tlv(&self) -> EeeTlv {
        EeeTlv {
            transmit: self.transmitter.loc_tx_system_value,
            receive: self.receiver.loc_rx_system_value,
            fallback_receive: self.receiver.loc_fb_system_value,
            echo_transmit: self.receiver.loc_tx_system_value_echo,
            echo_receive: self.transmitter.loc_rx_system_value_echo,
        }
    }
}
