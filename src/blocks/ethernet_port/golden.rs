//! Golden model of a port of Ethernet: those of the controller and of both shims, connected.

use crate::blocks::lpi_rx::golden::{LpiRx, Outputs as Received};
use crate::blocks::lpi_tx::golden::{Inputs as Sending, LpiTx, Outputs as Sent};
use crate::blocks::mii::golden::Lanes;
use crate::blocks::mii::Mii;
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
    port: Port,
    lpi_tx: LpiTx,
    lpi_rx: LpiRx,
}

impl EthernetPort {
    /// The port of `plan` on an interface, just after reset.
    pub fn new(plan: &PortPlan, mii: Mii, mac_latency: u32) -> Self {
        EthernetPort {
            follows: !plan.adjustable_times().is_empty(),
            port: Port::new(plan),
            lpi_tx: LpiTx::new(mii, mac_latency),
            lpi_rx: LpiRx::new(mii),
        }
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
            link_fault: inputs.link_fault,
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

    /// The clock edge at the end of a cycle.
    pub fn clock(&mut self, inputs: &Inputs) {
        let sending = self.sending(inputs);
        let (sent, received) = (self.lpi_tx.outputs(), self.lpi_rx.outputs());
        self.port.clock(&pins::Inputs {
            queue_nonempty: inputs.port.queue_nonempty || inputs.link_fault,
            transmitting: sent.transmitting,
            rx_lpi: received.rx_lpi,
            lpi_active: sent.lpi_active,
            lpi_error: received.lpi_error,
            early_start: sent.early_start,
            ..inputs.port
        });
        self.lpi_tx.clock(&sending);
        self.lpi_rx.clock(inputs.phy_word);
    }
}
