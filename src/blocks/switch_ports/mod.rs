//! All ports of a switch: a controller each, and one AXI4-Lite port for their registers.

pub mod golden;
#[cfg(test)]
mod tests;

use crate::blocks::axi_lite::{response, AxiLite, AxiPins, DATA_WIDTH};
pub use crate::blocks::csr::map::MAX_PORTS;
use crate::blocks::csr::{map, reset_of, WORD_BITS};
use crate::blocks::lpi_fsm::COPY_CODE;
use crate::blocks::port::{pins, Access, Port};
use crate::config::plan::{PortPlan, SyncPlan, HOPS_WIDTH};
use crate::hdl::prelude::*;

block! {
    /// The controllers of all ports of a switch, behind one AXI4-Lite port: the page of port `k`
    /// lies at `k * map::STRIDE`, the page of all ports behind them (`docs/reference/registers.md`).
    ///
    /// Every port has pins of its own, `tx_enable_0`, `tx_enable_1` and so on: they go to
    /// different places in the floor plan, and a vector of wide pins such as `message_in` would
    /// have to be taken apart again.
    pub struct SwitchPorts(clk, rst);

    /// `ports` controllers of `plan`, 1 to [`MAX_PORTS`].
    ///
    /// # Panics
    /// If the plan has no registers.
    pub fn new(plan: &PortPlan, ports: u32) {
        let page = map::all_ports(plan, ports);
        let address = map::address_bits(ports);
        let number = address - map::PAGE_BITS;
        let agrees = plan.messages().is_some();
        let levels = plan.sync == SyncPlan::Levels;
        let per_direction = plan.per_direction();
        let at = |name: &str| {
            let register = page.register(name);
            Constant::bits(
                WORD_BITS,
                (register.offset / 4).into(),
                register.doc.clone(),
            )
        };
    }

    about(
        "switch_ports",
        format!(
            "Power controllers of {ports} ports, and one AXI4-Lite port for their registers:\n\
             the page of port k lies at k * {:#x}, the page of all ports at {:#x}.",
            map::STRIDE,
            map::global_offset(ports)
        ),
    )

    {
        pub pins s_axi: AxiPins(address),
        pub in queue_nonempty[port in 0..ports]: Bit(
            format!("port {port}: the output queue holds a packet")
        ),
        pub in transmitting[port in 0..ports]: Bit(
            format!("port {port}: a packet is leaving over the link")
        ),
        pub in receiving[port in 0..ports]: Bit(
            format!("port {port}: a packet is arriving over the link")
        ) if !per_direction,
        pub in packet_valid[port in 0..ports]: Bit(
            format!("port {port}: one cycle per packet sent")
        ),
        pub in packet_hops[port in 0..ports]: Bits(
            HOPS_WIDTH, format!("port {port}: hop count of that packet")
        ),
        pub in sleep_permit[port in 0..ports]: Bit(
            format!("port {port}: the other end is idle, and nothing is on its way from there")
        ) if levels,
        pub in remote_down[port in 0..ports]: Bit(
            format!("port {port}: the other end goes down or sleeps, its last packet is here")
        ) if levels,
        pub in remote_up[port in 0..ports]: Bit(
            format!("port {port}: the other end has a packet, and an end is not awake")
        ) if levels,
        pub in initiator[port in 0..ports]: Bit(
            format!("port {port}: strap, 1 at one end of the link")
        ) if agrees,
        pub in message_in[port in 0..ports]: Bits(
            pins::MESSAGE_WIDTH, format!("port {port}: message from the other end")
        ) if agrees,
        pub in enable[port in 0..ports]: Bit(
            format!("port {port}: the link may go to sleep")
        ) if plan.control_pins,
        pub in force_wake[port in 0..ports]: Bit(
            format!("port {port}: the link is to wake, and to stay awake")
        ) if plan.control_pins,
        pub in link_up[port in 0..ports]: Bit(
            format!("port {port}: the PHY has a link")
        ) if plan.control_pins,
        pub in rx_lpi[port in 0..ports]: Bit(
            format!("port {port}: for software: the other end sends low power idle")
        ) if plan.counts_lpi(),
        pub in lpi_active[port in 0..ports]: Bit(
            format!("port {port}: for software: this end sends it")
        ) if plan.counts_lpi(),
        pub in lpi_error[port in 0..ports]: Bit(
            format!("port {port}: for software: the other end does so malformed, or a frame comes right behind it")
        ) if plan.counts_lpi(),
        pub in early_start[port in 0..ports]: Bit(
            format!("port {port}: for software: a frame is sent before the other end is awake")
        ) if plan.counts_lpi(),
        choice receives(plan.counts_lpi()), // software learns of low power idle from the shims
        pub in inject_upset[port in 0..ports]: Bits(
            COPY_CODE, format!("port {port}: a test of the copies of registers")
        ) if plan.triple_redundancy,
        pub out upset[port in 0..ports]: Bit(
            format!("port {port}: a copy of a register was outvoted")
        ) if plan.triple_redundancy,
        pub out memory_upset[port in 0..ports]: Bits(
            2, format!("port {port}: wrong bits in words of a memory: 1, put right; 2, not")
        ) if plan.codes_memories(),
        pub out irq: Bit("one cycle after a port has raised its interrupt"),
        pub out tx_enable[port in 0..ports]: Bit(format!("port {port}: it may start a packet")),
        pub out power_state[port in 0..ports]: Bits(3, format!("port {port}: state of the link")),
        pub out message_out[port in 0..ports]: Bits(
            pins::MESSAGE_WIDTH, format!("port {port}: message to the other end")
        ) if agrees,
        pub out lpi_request[port in 0..ports]: Bit(
            format!("port {port}: low power idle is to be sent")
        ) if per_direction,
        child port[_ in 0..ports]: Port::with_access(plan, Access::Shared),
        child axi_lite: AxiLite(address),
        choice agrees(agrees), // the ends agree by messages
        choice controlled(plan.control_pins), // the ports have control pins
        choice votes(plan.triple_redundancy), // registers are kept in three copies
        choice coded(plan.codes_memories()), // memories have a code
        choice per_direction(per_direction), // each direction of a link sleeps for itself
        local page: Bits(number, "page of the request"),
        local place: Bits(WORD_BITS, "word in that page"),
        local errors[port in 0..ports + 1]: Bits(
            64, format!("port {port}: error flags of the ports below")
        ),
        local interrupts[port in 0..ports + 1]: Bits(
            64, format!("port {port}: interrupts of the ports below")
        ),
        local all_errors: Bits(64, "error flags of all ports"),
        local all_interrupts: Bits(64, "interrupts of all ports"),
        reg interrupts_now: Bit(false, "a port raises its interrupt"),
        constant flags[port in 0..ports]: Bits(64, 1 << port, format!("the flag of port {port}")),
        local read_data[port in 0..ports + 1]: Bits(
            DATA_WIDTH, format!("port {port}: what the ports below have read")
        ),
        local answer[port in 0..ports + 1]: Bits(
            2, format!("port {port}: what the ports below answer")
        ),
        local is_all: Bit("it is the page of all ports"),
        local is_port: Bit("it is the page of a port"),
        constant end_of_ports: Bits(number, ports.into(), "number of ports"),
        local wide: Bits(64, "value of the pair of registers, one bit for each port"),
        local is_low: Bit("the address is that of a pair's lower word"),
        local is_high: Bit("of its upper word"),
        local is_known: Bit("there is a register at the address"),
        local all_data: Bits(DATA_WIDTH, "what the page of all ports holds there"),
        local all_answer: Bits(2, "what it answers"),
        reg all_data_now: Bits(DATA_WIDTH, 0, "data read, 0 without a request"),
        reg all_answer_now: Bits(2, 0, "answer, 0 without a request"),
        reg upper_word: Bits(DATA_WIDTH, 0, "upper word of the pair last read"),
        constant all_page: Bits(
            number, (map::global_offset(ports) >> map::PAGE_BITS).into(), "page of all ports"
        ),
        constant at_errors_low: at("errors_low"),
        constant at_errors_high: at("errors_high"),
        constant at_interrupts_low: at("interrupts_low"),
        constant at_interrupts_high: at("interrupts_high"),
        constant identity[register in page.registers[..4].iter()]: reset_of(register),
        constant okay: Bits(2, response::OKAY.into(), "done"),
        constant refused: Bits(2, response::SLVERR.into(), "the register refuses"),
        constant no_register: Bits(2, response::DECERR.into(), "there is no register"),
        constant page_bits: Bits(4, WORD_BITS.into(), "bits of a word's place in a page"),
        constant upper_bits: Bits(6, DATA_WIDTH.into(), "bits of a word"),
        number _ports(ports),
    }
}

impl Logic for SwitchPorts {
    #[hdl_gen]
    fn update(&mut self) {
        AxiPins::link(&mut self.s_axi, &mut self.axi_lite.axi);

        self.page.next = bit_cast(
            self.axi_lite.registers.word.val() >> self.page_bits.val(),
            &self.page,
        );
        self.place.next = bit_cast(self.axi_lite.registers.word.val(), &self.place);

        self.is_all.next = self.page.val() == self.all_page.val();
        self.is_port.next = self.page.val() < self.end_of_ports.val();

        comment!("A port that is not asked answers 0: the answers are joined.");
        self.errors[0].next = 0.into();
        self.interrupts[0].next = 0.into();
        self.read_data[0].next = self.all_data_now.q.val();
        self.answer[0].next = self.all_answer_now.q.val();
        for i in 0..self._ports {
            self.port[i].shared.ahead.next =
                self.axi_lite.registers.ahead.val() & (self.page.val() == i);
            self.port[i].shared.request.next =
                self.axi_lite.registers.request.val() & (self.page.val() == i);
            self.port[i].shared.write.next = self.axi_lite.registers.write.val();
            self.port[i].shared.word.next = self.place.val();
            self.port[i].shared.write_data.next = self.axi_lite.registers.write_data.val();
            self.port[i].shared.write_strobe.next = self.axi_lite.registers.write_strobe.val();
            self.read_data[i + 1].next =
                self.read_data[i].val() | self.port[i].shared.read_data.val();
            self.answer[i + 1].next = self.answer[i].val() | self.port[i].shared.answer.val();
            self.errors[i + 1].next = self.errors[i].val();
            if self.port[i].error_flag.val() {
                self.errors[i + 1].next = self.errors[i].val() | self.flags[i].val();
            }
            self.interrupts[i + 1].next = self.interrupts[i].val();
            if self.port[i].irq.val() {
                self.interrupts[i + 1].next = self.interrupts[i].val() | self.flags[i].val();
            }
            self.port[i].queue_nonempty.next = self.queue_nonempty[i].val();
            self.port[i].transmitting.next = self.transmitting[i].val();
            if !self.per_direction {
                self.port[i].receiving.next = self.receiving[i].val();
            }
            self.port[i].packet_valid.next = self.packet_valid[i].val();
            self.port[i].packet_hops.next = self.packet_hops[i].val();
            if self.agrees {
                self.port[i].initiator.next = self.initiator[i].val();
                self.port[i].message_in.next = self.message_in[i].val();
                self.message_out[i].next = self.port[i].message_out.val();
            } else if self.per_direction {
                self.lpi_request[i].next = self.port[i].lpi_request.val();
            } else {
                self.port[i].sleep_permit.next = self.sleep_permit[i].val();
                self.port[i].remote_down.next = self.remote_down[i].val();
                self.port[i].remote_up.next = self.remote_up[i].val();
            }
            if self.controlled {
                self.port[i].enable.next = self.enable[i].val();
                self.port[i].force_wake.next = self.force_wake[i].val();
                self.port[i].link_up.next = self.link_up[i].val();
                if self.agrees {
                    comment!("Software sees and clears a flag of its own.");
                    self.port[i].clear_error.next = false;
                }
            }
            if self.receives {
                self.port[i].rx_lpi.next = self.rx_lpi[i].val();
                self.port[i].lpi_active.next = self.lpi_active[i].val();
                self.port[i].lpi_error.next = self.lpi_error[i].val();
                self.port[i].early_start.next = self.early_start[i].val();
            }
            if self.votes {
                self.port[i].inject_upset.next = self.inject_upset[i].val();
                self.upset[i].next = self.port[i].upset.val();
            }
            if self.coded {
                self.memory_upset[i].next = self.port[i].memory_upset.val();
            }
            self.tx_enable[i].next = self.port[i].tx_enable.val();
            self.power_state[i].next = self.port[i].power_state.val();
        }
        self.axi_lite.registers.read_data.next = self.read_data[self._ports].val();
        self.axi_lite.registers.answer.next = self.answer[self._ports].val();
        self.all_errors.next = self.errors[self._ports].val();
        self.all_interrupts.next = self.interrupts[self._ports].val();
        self.interrupts_now.d.next = self.all_interrupts.val().any();
        self.irq.next = self.interrupts_now.q.val();

        comment!("The page of all ports, and what is no page");
        self.is_low.next = (self.place.val() == self.at_errors_low.val())
            | (self.place.val() == self.at_interrupts_low.val());
        self.is_high.next = (self.place.val() == self.at_errors_high.val())
            | (self.place.val() == self.at_interrupts_high.val());
        if self.place.val() == self.at_errors_low.val() {
            self.wide.next = self.all_errors.val();
        } else {
            self.wide.next = self.all_interrupts.val();
        }
        self.all_data.next = 0.into();
        if self.is_low.val() {
            self.all_data.next = bit_cast(self.wide.val(), 32);
        } else if self.is_high.val() {
            self.all_data.next = self.upper_word.q.val();
        }
        for i in 0..4 {
            if self.place.val() == i {
                self.all_data.next = self.identity[i].val();
            }
        }
        if self.axi_lite.registers.request.val()
            & !self.axi_lite.registers.write.val()
            & self.is_all.val()
            & self.is_low.val()
        {
            self.upper_word.d.next = bit_cast(self.wide.val() >> self.upper_bits.val(), 32);
        }
        self.is_known.next = (self.place.val() <= 3) | self.is_low.val() | self.is_high.val();
        if !self.is_all.val() | !self.is_known.val() {
            self.all_answer.next = self.no_register.val();
        } else if self.axi_lite.registers.write.val() {
            self.all_answer.next = self.refused.val();
        } else {
            self.all_answer.next = self.okay.val();
        }
        self.all_data_now.d.next = 0.into();
        self.all_answer_now.d.next = 0.into();
        if self.axi_lite.registers.request.val() & !self.is_port.val() {
            self.all_answer_now.d.next = self.all_answer.val();
            if self.is_all.val() & !self.axi_lite.registers.write.val() {
                self.all_data_now.d.next = self.all_data.val();
            }
        }
    }
}
