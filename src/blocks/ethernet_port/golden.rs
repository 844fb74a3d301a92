//! Golden model of a port of Ethernet: those of the controller and of both shims, connected.

use crate::blocks::lpi_hold_off::golden::LpiHoldOff;
use crate::blocks::lpi_rx::golden::{LpiRx, Outputs as Received};
use crate::blocks::lpi_tx::golden::{Inputs as Sending, LpiTx, Outputs as Sent};
use crate::blocks::mii::golden::Lanes;
use crate::blocks::mii::Mii;
use crate::blocks::port::controller::PowerController as _;
use crate::blocks::port::golden::Port;
use crate::blocks::port::model::Model;
use crate::blocks::port::pins::{self, Outputs as Controlled};
use crate::config::plan::PortPlan;

/// The inputs of a cycle.
#[derive(Clone, Copy, Debug)]
pub struct Inputs {
    /// Those of the controller; `transmitting`, and what the shims say of low power idle, are no inputs
    /// of the port, and play no part.
    pub port: pins::Inputs,
    /// The word that the MAC sends.
    pub mac_word: Lanes,
    /// The word that the PHY received.
    pub phy_word: Lanes,
    /// Local or remote fault.
    pub link_fault: bool,
    /// Cycles after the link has come up in which no LPI is sent.
    pub hold_off: u64,
    /// Least words of LPI, unless a register says it.
    pub t_s: u64,
    /// Least words from LPI to the start of a frame, unless a register says it.
    pub t_w_sys: u64,
}

/// The outputs of a cycle.
#[derive(Clone, Copy, Debug)]
pub struct Outputs {
    /// Those of the controller.
    pub port: Controlled,
    /// The MAC may start a frame.
    pub mac_tx_enable: bool,
    /// To the PHY, and what is told of it.
    pub sent: Sent,
    /// To the MAC, and what is told of it.
    pub received: Received,
}

/// Cycle-exact model of a port of Ethernet.
#[derive(Clone, Debug)]
pub struct EthernetPort {
    /// Registers say the times of the link, to the shim, too.
    follows: bool,
    /// The pin `link_up` counts.
    controlled: bool,
    port: Port,
    hold_off: LpiHoldOff,
    lpi_tx: LpiTx,
    lpi_rx: LpiRx,
}

impl EthernetPort {
    /// The port of `plan` on an interface, just after reset.
    pub fn new(plan: &PortPlan, mii: Mii, mac_latency: u32) -> Self {
        EthernetPort {
            follows: !plan.adjustable_times().is_empty(),
            controlled: plan.control_pins,
            port: Port::new(plan),
            hold_off: LpiHoldOff::default(),
            lpi_tx: LpiTx::new(mii, mac_latency),
            lpi_rx: LpiRx::new(mii),
        }
    }

    /// There is no link, or a fault.
    fn link_fault(&self, inputs: &Inputs) -> bool {
        inputs.link_fault || (self.controlled && !inputs.port.link_up)
    }

    /// No LPI may be sent in this cycle.
    fn no_lpi(&self, inputs: &Inputs) -> bool {
        self.hold_off.holds(self.link_fault(inputs))
    }

    /// What the transmit side sees in this cycle.
    fn sending(&self, inputs: &Inputs) -> Sending {
        let port = self.port.outputs();
        let [t_s, t_w_sys] = match self.follows {
            true => self.port.link_times(),
            false => [inputs.t_s, inputs.t_w_sys],
        };
        Sending {
            word: inputs.mac_word,
            lpi_request: port.lpi_request,
            tx_enable: port.tx_enable,
            link_fault: self.no_lpi(inputs),
            t_s,
            t_w_sys,
        }
    }

    /// The outputs of this cycle.
    pub fn outputs(&self, inputs: &Inputs) -> Outputs {
        Outputs {
            port: self.port.outputs(),
            mac_tx_enable: self.lpi_tx.mac_tx_enable(&self.sending(inputs)),
            sent: self.lpi_tx.outputs(),
            received: self.lpi_rx.outputs(),
        }
    }

    /// What the controller sees in this cycle.
    fn controlling(&self, inputs: &Inputs) -> pins::Inputs {
        let (sent, received) = (self.lpi_tx.outputs(), self.lpi_rx.outputs());
        pins::Inputs {
            queue_nonempty: inputs.port.queue_nonempty || self.no_lpi(inputs),
            transmitting: sent.transmitting,
            rx_lpi: received.rx_lpi,
            lpi_active: sent.lpi_active,
            lpi_error: received.lpi_error,
            early_start: sent.early_start,
            ..inputs.port
        }
    }

    /// The clock edge at the end of a cycle.
    pub fn clock(&mut self, inputs: &Inputs) {
        let sending = self.sending(inputs);
        self.port.clock(&self.controlling(inputs));
        (self.hold_off).clock(self.link_fault(inputs), inputs.hold_off);
        self.lpi_tx.clock(&sending);
        self.lpi_rx.clock(inputs.phy_word);
    }

    /// Cycles, the present one included, for which the outputs will certainly stay as they are if
    /// `inputs` hold (a lower bound >= 1; `u64::MAX` is for ever).
    pub fn quiet_cycles(&self, inputs: &Inputs) -> u64 {
        let controller = self.port.quiet_cycles(&self.controlling(inputs));
        let sent = self.lpi_tx.quiet_cycles(&self.sending(inputs));
        let received = self.lpi_rx.quiet_cycles(inputs.phy_word);
        let held = (self.hold_off).quiet_cycles(self.link_fault(inputs), inputs.hold_off);
        controller.min(sent).min(received).min(held)
    }

    /// So many clock edges one after the other with the same inputs, as many as
    /// [`quiet_cycles`](Self::quiet_cycles) has at most.
    pub fn pass(&mut self, inputs: &Inputs, cycles: u64) {
        // What one of the three tells the others stays as it is meanwhile.
        let (controlling, sending) = (self.controlling(inputs), self.sending(inputs));
        let mut left = cycles;
        while left > 0 {
            left -= self.port.advance(&controlling, left);
        }
        (self.hold_off).pass(self.link_fault(inputs), inputs.hold_off, cycles);
        self.lpi_tx.pass(&sending, cycles);
        if cycles > 0 {
            self.lpi_rx.clock(inputs.phy_word);
        }
    }
}
