//! A port of Ethernet: the controller and both shims for low power idle, connected.

pub mod golden;
#[cfg(test)]
mod tests;

use crate::blocks::axi_lite::AxiPins;
use crate::blocks::csr::map;
use crate::blocks::fixed_point::Arithmetic;
use crate::blocks::lpi_fsm::{self, COPY_CODE};
use crate::blocks::lpi_hold_off::{self, LpiHoldOff};
use crate::blocks::lpi_rx::LpiRx;
use crate::blocks::lpi_tx::{self, LpiTx, LEAST_WAKE};
use crate::blocks::mii::Mii;
use crate::blocks::port::{Access, Port};
use crate::config::plan::{PortPlan, SleepTimes, HOPS_WIDTH};
use crate::hdl::prelude::*;

/// Bits of the times of the shims of a port of Ethernet.
pub fn shim_width(plan: &PortPlan) -> u32 {
    match plan.adjustable_times().is_empty() {
        true => plan.time_width,
        false => lpi_fsm::time_width(plan) + 1,
    }
}

/// The longest time, in clock cycles, that a frame waits until `mac_tx_enable` is 1, from `t_w_sys` words
/// after a reset on, where the shim has the controller's times: LPI begins up to `mac_latency` words after
/// it is asked for, and then lasts for `t_s` words; `t_w_sys` words follow
/// (`docs/how/ethernet.md`).
pub fn wait_bound(plan: &PortPlan, mac_latency: u32) -> u64 {
    let states = plan.slowest().used_sleep_states();
    let waits = states.iter().map(|it| it.t_s + it.t_w.max(LEAST_WAKE));
    waits.max().unwrap_or(0) + u64::from(mac_latency)
}

/// Clock cycles from the first in which a frame waits, while the direction sleeps, to the first in which
/// `mac_tx_enable` is 1, where the shim has the controller's times: one in which the controller sees the
/// frame, and `t_w`.
pub fn wake_latency(times: SleepTimes) -> u64 {
    1 + times.t_w.max(LEAST_WAKE)
}

/// Clock cycles from the first in which LPI is asked for to the first in which the word to the PHY is LPI,
/// if the MAC may have started a frame just before and has not.
pub fn lpi_latency(mac_latency: u32) -> u64 {
    u64::from(mac_latency) + lpi_tx::DELAY
}

block! {
    /// The controller of a port and the shims between its MAC and its PHY
    /// (`docs/how/ethernet.md`): all that a MAC which knows nothing of low power idle needs.
    pub struct EthernetPort(clk, rst);

    /// The port of `plan` on an interface. The MAC may start a frame up to `mac_latency` cycles
    /// after `mac_tx_enable` fell.
    pub fn new(plan: &PortPlan, mii: Mii, mac_latency: u32) {
        let (data, lanes) = (8 * mii.lanes(), mii.lanes());
        let width = plan.time_width;
        let registers = plan.registers.is_some();
        let follows = !plan.adjustable_times().is_empty();
        let words = shim_width(plan);
        let predicts = plan.predicts();
        let corrects = plan.corrects();
        let controlled = plan.control_pins;
        let votes = plan.triple_redundancy;
        let coded = plan.codes_memories();
        let numbers = Arithmetic::new(plan);
    }

    about(
        "ethernet_port",
        "A port of Ethernet that sends low power idle (LPI) while it sleeps: the power\n\
         controller, and the shims that stand between the MAC and the PHY. The MAC knows\n\
         nothing of LPI; it starts no frame while mac_tx_enable is 0.",
    )

    {
        pub in queue_nonempty: Bit("a frame waits, or is in the MAC: until transmitting is 1"),
        pub in packet_valid: Bit("one cycle per frame sent"),
        pub in packet_hops: Bits(HOPS_WIDTH, "hop count of that frame"),
        pub in mac_tx_data: Bits(data, "bytes of the word that the MAC sends, lane 0 lowest"),
        pub in mac_tx_control: Bits(lanes, "which of them are control characters"),
        pub in phy_rx_data: Bits(data, "bytes of the word that the PHY received"),
        pub in phy_rx_control: Bits(lanes, "which of them are control characters"),
        pub in enable: Bit("the direction may go to sleep") if controlled,
        pub in force_wake: Bit("it is to wake, and to stay awake") if controlled,
        pub in link_up: Bit("the PHY has a link") if controlled,
        pub in inject_upset: Bits(COPY_CODE, "a test of the copies of registers") if votes,
        pub in link_fault: Bit("local or remote fault: no LPI, the direction wakes and stays awake"),
        pub in hold_off: Bits(
            lpi_hold_off::WIDTH, "clock cycles after the link has come up in which no LPI is sent: a second"
        ),
        pub in t_s: Bits(words, "least words of LPI") if !follows,
        pub in t_w_sys: Bits(words, "least words from LPI to the start of a frame") if !follows,
        pub out mac_tx_enable: Bit("the MAC may start a frame"),
        pub out phy_tx_data: Bits(data, "bytes of the word to the PHY"),
        pub out phy_tx_control: Bits(lanes, "which of them are control characters"),
        pub out mac_rx_data: Bits(data, "bytes of the word to the MAC"),
        pub out mac_rx_control: Bits(lanes, "which of them are control characters"),
        pub out tx_enable: Bit("the controller allows frames"),
        pub out power_state: Bits(
            3, "0 wake, 1 going down, 2 fast wake, 3 deep sleep, 4 refresh, 5 going up"
        ),
        pub out lpi_request: Bit("low power idle is to be sent"),
        pub out hit: Bit("an idle period ended, the direction stayed awake"),
        pub out miss: Bit("an idle period ended, the direction had left wake"),
        pub out t_pdt: Bits(width, "threshold in force, in ticks"),
        pub out update: Bit("there is a new threshold") if predicts,
        pub out t_pb: Bits(width, "PerfBound's threshold, in ticks") if predicts,
        pub out window: Bits(width, "window it was computed for, in ticks") if predicts,
        pub out budget: Bits(plan.budget.width, "frames that may be delayed in it") if predicts,
        pub out log2_cf: Bits(
            numbers.log2_cf_bits(),
            format!("log2 of the correction factor, two's complement, {} fraction bits", numbers.fraction),
        ) if corrects,
        pub out upset: Bit("a copy of a register was outvoted") if votes,
        pub out memory_upset: Bits(
            2, "wrong bits in words of a memory: 1, put right; 2, not"
        ) if coded,
        pub out irq: Bit("an event that software has enabled has happened") if registers,
        pub out transmitting: Bit("the word to the PHY has a frame, or a part of one"),
        pub out lpi_active: Bit("the word to the PHY is LPI in the place of idle"),
        pub out early_start: Bit("in the word to the PHY starts a frame too early behind LPI"),
        pub out receiving: Bit("the word to the MAC has a frame, or a part of one"),
        pub out rx_lpi: Bit("LP_IDLE.indication: the other end sends LPI"),
        pub out lpi_error: Bit("LPI received was malformed, or a frame starts right behind it"),
        // The registers of the controller.
        pub pins s_axi: AxiPins(map::PAGE_BITS) if registers,
        choice registers(registers), // software sets the parameters
        choice votes(votes), // registers are kept in three copies
        choice coded(coded), // memories have a code
        choice controlled(controlled), // pins say whether the link may sleep, and whether there is one
        choice predicts(predicts), // the threshold is predicted
        choice corrects(corrects), // the prediction is corrected
        choice follows(follows), // the shim takes t_s and t_w of the registers
        child port: Port::with_access(plan, Access::Ethernet),
        local no_lpi: Bit("no LPI may be sent"),
        child lpi_hold_off: LpiHoldOff(),
        child lpi_tx: LpiTx(mii, words, mac_latency),
        child lpi_rx: LpiRx(mii),
    }
}

impl Logic for EthernetPort {
    #[hdl_gen]
    fn update(&mut self) {
        if self.registers {
            AxiPins::link(&mut self.s_axi, &mut self.port.s_axi);
            self.port.rx_lpi.next = self.lpi_rx.rx_lpi.val();
            self.port.lpi_active.next = self.lpi_tx.lpi_active.val();
            self.port.lpi_error.next = self.lpi_rx.lpi_error.val();
            self.port.early_start.next = self.lpi_tx.early_start.val();
            self.irq.next = self.port.irq.val();
        }
        if self.votes {
            self.port.inject_upset.next = self.inject_upset.val();
            self.upset.next = self.port.upset.val();
        }
        if self.coded {
            self.memory_upset.next = self.port.memory_upset.val();
        }
        comment!("Where the PHY may get no LPI, the direction is awake, as if a frame waited.");
        if self.controlled {
            self.lpi_hold_off.link_fault.next = self.link_fault.val() | !self.link_up.val();
        } else {
            self.lpi_hold_off.link_fault.next = self.link_fault.val();
        }
        self.lpi_hold_off.hold_off.next = self.hold_off.val();
        self.no_lpi.next = self.lpi_hold_off.holds.val();
        self.port.queue_nonempty.next = self.queue_nonempty.val() | self.no_lpi.val();
        self.port.transmitting.next = self.lpi_tx.transmitting.val();
        self.port.packet_valid.next = self.packet_valid.val();
        self.port.packet_hops.next = self.packet_hops.val();
        if self.controlled {
            self.port.enable.next = self.enable.val();
            self.port.force_wake.next = self.force_wake.val();
            self.port.link_up.next = self.link_up.val();
        }
        self.tx_enable.next = self.port.tx_enable.val();
        self.power_state.next = self.port.power_state.val();
        self.lpi_request.next = self.port.lpi_request.val();
        self.hit.next = self.port.hit.val();
        self.miss.next = self.port.miss.val();
        self.t_pdt.next = self.port.t_pdt.val();
        if self.predicts {
            self.update.next = self.port.update.val();
            self.t_pb.next = self.port.t_pb.val();
            self.window.next = self.port.window.val();
            self.budget.next = self.port.budget.val();
        }
        if self.corrects {
            self.log2_cf.next = self.port.log2_cf.val();
        }

        self.lpi_tx.mac_data.next = self.mac_tx_data.val();
        self.lpi_tx.mac_control.next = self.mac_tx_control.val();
        self.lpi_tx.lpi_request.next = self.port.lpi_request.val();
        self.lpi_tx.tx_enable.next = self.port.tx_enable.val();
        self.lpi_tx.link_fault.next = self.no_lpi.val();
        if self.follows {
            comment!("t_s and t_w of the registers count for the controller and for the shim.");
            self.lpi_tx.t_s.next = bit_cast(self.port.t_s_in_force.val(), &self.lpi_tx.t_s) + 1;
            self.lpi_tx.t_w_sys.next =
                bit_cast(self.port.t_w_in_force.val(), &self.lpi_tx.t_w_sys) + 1;
        } else {
            self.lpi_tx.t_s.next = self.t_s.val();
            self.lpi_tx.t_w_sys.next = self.t_w_sys.val();
        }
        self.mac_tx_enable.next = self.lpi_tx.mac_tx_enable.val();
        self.phy_tx_data.next = self.lpi_tx.phy_data.val();
        self.phy_tx_control.next = self.lpi_tx.phy_control.val();
        self.transmitting.next = self.lpi_tx.transmitting.val();
        self.lpi_active.next = self.lpi_tx.lpi_active.val();
        self.early_start.next = self.lpi_tx.early_start.val();

        self.lpi_rx.phy_data.next = self.phy_rx_data.val();
        self.lpi_rx.phy_control.next = self.phy_rx_control.val();
        self.mac_rx_data.next = self.lpi_rx.mac_data.val();
        self.mac_rx_control.next = self.lpi_rx.mac_control.val();
        self.receiving.next = self.lpi_rx.receiving.val();
        self.rx_lpi.next = self.lpi_rx.rx_lpi.val();
        self.lpi_error.next = self.lpi_rx.lpi_error.val();
    }
}
