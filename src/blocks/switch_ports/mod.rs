//! All ports of a switch: a controller each, and one AXI4-Lite port for their registers.

#[cfg(test)]
mod tests;

use rust_hdl_core::direction::Direction;

use crate::blocks::axi_lite::{response, AxiLite, DATA_WIDTH};
use crate::blocks::csr::{map, WORD_BITS};
use crate::blocks::port::{pins, Access, Port};
use crate::config::plan::PortPlan;
use crate::hdl::prelude::*;

/// The most ports of one register space.
pub const MAX_PORTS: u32 = 64;

/// The controllers of all ports of a switch, behind one AXI4-Lite port: the page of port `k`
/// lies at `k * map::STRIDE`, the page of all ports behind them (`docs/registers.md`).
///
/// Every port has pins of its own, `tx_enable_0`, `tx_enable_1` and so on: they go to
/// different places in the floor plan, and a vector of wide pins such as `message_in` would
/// have to be taken apart again.
#[derive(LogicBlock)]
pub struct SwitchPorts {
    about: About,
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub s_axi_awvalid: Signal<In, Bit>,
    pub s_axi_awready: Signal<Out, Bit>,
    pub s_axi_awaddr: Signal<In, Bits>,
    pub s_axi_awprot: Signal<In, Bits>,
    pub s_axi_wvalid: Signal<In, Bit>,
    pub s_axi_wready: Signal<Out, Bit>,
    pub s_axi_wdata: Signal<In, Bits>,
    pub s_axi_wstrb: Signal<In, Bits>,
    pub s_axi_bvalid: Signal<Out, Bit>,
    pub s_axi_bready: Signal<In, Bit>,
    pub s_axi_bresp: Signal<Out, Bits>,
    pub s_axi_arvalid: Signal<In, Bit>,
    pub s_axi_arready: Signal<Out, Bit>,
    pub s_axi_araddr: Signal<In, Bits>,
    pub s_axi_arprot: Signal<In, Bits>,
    pub s_axi_rvalid: Signal<Out, Bit>,
    pub s_axi_rready: Signal<In, Bit>,
    pub s_axi_rdata: Signal<Out, Bits>,
    pub s_axi_rresp: Signal<Out, Bits>,
    pub queue_nonempty: Vec<Signal<In, Bit>>,
    pub transmitting: Vec<Signal<In, Bit>>,
    pub receiving: Vec<Signal<In, Bit>>,
    pub packet_valid: Vec<Signal<In, Bit>>,
    pub packet_hops: Vec<Signal<In, Bits>>,
    pub sleep_permit: Vec<Optional<Signal<In, Bit>>>,
    pub remote_down: Vec<Optional<Signal<In, Bit>>>,
    pub remote_up: Vec<Optional<Signal<In, Bit>>>,
    pub initiator: Vec<Optional<Signal<In, Bit>>>,
    pub message_in: Vec<Optional<Signal<In, Bits>>>,
    pub tx_enable: Vec<Signal<Out, Bit>>,
    pub power_state: Vec<Signal<Out, Bits>>,
    pub message_out: Vec<Optional<Signal<Out, Bits>>>,
    port: Vec<Port>,
    axi_lite: AxiLite,
    agrees: Constant<Bit>,
    page: Signal<Local, Bits>,
    place: Signal<Local, Bits>,
    errors: Vec<Signal<Local, Bits>>,
    all_errors: Signal<Local, Bits>,
    flags: Vec<Constant<Bits>>,
    read_data: Vec<Signal<Local, Bits>>,
    answer: Vec<Signal<Local, Bits>>,
    is_all: Signal<Local, Bit>,
    is_port: Signal<Local, Bit>,
    end_of_ports: Constant<Bits>,
    is_known: Signal<Local, Bit>,
    all_data: Signal<Local, Bits>,
    all_answer: Signal<Local, Bits>,
    all_data_now: Reg<Bits>,
    all_answer_now: Reg<Bits>,
    errors_high: Reg<Bits>,
    all_page: Constant<Bits>,
    at_errors_low: Constant<Bits>,
    at_errors_high: Constant<Bits>,
    identity: Vec<Constant<Bits>>,
    okay: Constant<Bits>,
    refused: Constant<Bits>,
    no_register: Constant<Bits>,
    page_bits: Constant<Bits>,
    upper_bits: Constant<Bits>,
    _ports: usize,
    _end: usize,
    _page_bits: usize,
    _word_bits: usize,
}

impl SwitchPorts {
    /// `ports` controllers of `plan`, 1 to [`MAX_PORTS`].
    ///
    /// # Panics
    /// If the plan has no registers.
    pub fn new(plan: &PortPlan, ports: u32) -> Self {
        let page = map::all_ports(plan, ports);
        let address = map::address_bits(ports);
        let number = address - map::PAGE_BITS;
        let agrees = plan.sync.is_some();
        fn bits<D: Direction>(count: u32, doc: &str) -> Vec<Signal<D, Bit>> {
            (0..count)
                .map(|port| Signal::bit(format!("port {port}: {doc}")))
                .collect()
        }
        fn vectors<D: Direction>(count: u32, width: u32, doc: &str) -> Vec<Signal<D, Bits>> {
            (0..count)
                .map(|port| Signal::bits(width, format!("port {port}: {doc}")))
                .collect()
        }
        fn when<T>(present: bool, pins: Vec<T>) -> Vec<Optional<T>> {
            pins.into_iter()
                .map(|pin| Optional::when(present, pin))
                .collect()
        }
        let at = |name: &str| {
            let register = page.register(name);
            Constant::bits(
                WORD_BITS,
                (register.offset / 4).into(),
                register.doc.clone(),
            )
        };
        SwitchPorts {
            about: About::new(
                "switch_ports",
                format!(
                    "Power controllers of {ports} ports, and one AXI4-Lite port for their registers:\n\
                     the page of port k lies at k * {:#x}, the page of all ports at {:#x}.",
                    map::STRIDE,
                    map::global_offset(ports)
                ),
            ),
            clk: Signal::clock("clock"),
            rst: Signal::bit("synchronous reset"),
            s_axi_awvalid: Signal::bit("there is a write address"),
            s_axi_awready: Signal::bit("it is taken"),
            s_axi_awaddr: Signal::bits(address, "write address in bytes"),
            s_axi_awprot: Signal::bits(3, "not read: everybody may write"),
            s_axi_wvalid: Signal::bit("there is data to write"),
            s_axi_wready: Signal::bit("it is taken"),
            s_axi_wdata: Signal::bits(DATA_WIDTH, "data to write"),
            s_axi_wstrb: Signal::bits(DATA_WIDTH / 8, "which of its bytes to write"),
            s_axi_bvalid: Signal::bit("a write is answered"),
            s_axi_bready: Signal::bit("the answer is taken"),
            s_axi_bresp: Signal::bits(2, "0 done, 2 refused, 3 no such register"),
            s_axi_arvalid: Signal::bit("there is a read address"),
            s_axi_arready: Signal::bit("it is taken"),
            s_axi_araddr: Signal::bits(address, "read address in bytes"),
            s_axi_arprot: Signal::bits(3, "not read: everybody may read"),
            s_axi_rvalid: Signal::bit("a read is answered"),
            s_axi_rready: Signal::bit("the answer is taken"),
            s_axi_rdata: Signal::bits(DATA_WIDTH, "data that was read"),
            s_axi_rresp: Signal::bits(2, "0 done, 2 refused, 3 no such register"),
            queue_nonempty: bits(ports, "the output queue holds a packet"),
            transmitting: bits(ports, "a packet is leaving over the link"),
            receiving: bits(ports, "a packet is arriving over the link"),
            packet_valid: bits(ports, "one cycle per packet sent"),
            packet_hops: vectors(ports, pins::HOPS_WIDTH, "hop count of that packet"),
            sleep_permit: when(!agrees, bits(ports, "the other end has nothing to send")),
            remote_down: when(!agrees, bits(ports, "the other end has begun to go down")),
            remote_up: when(!agrees, bits(ports, "the other end wants the link awake")),
            initiator: when(agrees, bits(ports, "strap, 1 at one end of the link")),
            message_in: when(agrees, vectors(ports, pins::MESSAGE_WIDTH, "message from the other end")),
            tx_enable: bits(ports, "it may start a packet"),
            power_state: vectors(ports, 3, "state of the link"),
            message_out: when(agrees, vectors(ports, pins::MESSAGE_WIDTH, "message to the other end")),
            port: (0..ports)
                .map(|_| Port::with_access(plan, Access::Shared))
                .collect(),
            axi_lite: AxiLite::new(address),
            agrees: Constant::bit(agrees, "the ends agree by messages"),
            page: Signal::bits(number, "page of the request"),
            place: Signal::bits(WORD_BITS, "word in that page"),
            errors: vectors(ports + 1, 64, "error flags of the ports below"),
            all_errors: Signal::bits(64, "error flags of all ports"),
            flags: (0..ports)
                .map(|port| Constant::bits(64, 1 << port, format!("the flag of port {port}")))
                .collect(),
            read_data: vectors(ports + 1, DATA_WIDTH, "what the ports below have read"),
            answer: vectors(ports + 1, 2, "what the ports below answer"),
            is_all: Signal::bit("it is the page of all ports"),
            is_port: Signal::bit("it is the page of a port"),
            end_of_ports: Constant::bits(number, ports.into(), "number of ports"),
            is_known: Signal::bit("there is a register at the address"),
            all_data: Signal::bits(DATA_WIDTH, "what the page of all ports holds there"),
            all_answer: Signal::bits(2, "what it answers"),
            all_data_now: Reg::bits(DATA_WIDTH, 0, "data read, 0 without a request"),
            all_answer_now: Reg::bits(2, 0, "answer, 0 without a request"),
            errors_high: Reg::bits(DATA_WIDTH, 0, "upper word of errors, as last read"),
            all_page: Constant::bits(
                number,
                (map::global_offset(ports) >> map::PAGE_BITS).into(),
                "page of all ports",
            ),
            at_errors_low: at("errors_low"),
            at_errors_high: at("errors_high"),
            identity: page.registers[..4]
                .iter()
                .map(|register| {
                    Constant::bits(
                        DATA_WIDTH,
                        register.reset().into(),
                        format!("{}: {}", register.name, register.doc),
                    )
                })
                .collect(),
            okay: Constant::bits(2, response::OKAY.into(), "done"),
            refused: Constant::bits(2, response::SLVERR.into(), "the register refuses"),
            no_register: Constant::bits(2, response::DECERR.into(), "there is no register"),
            page_bits: Constant::bits(4, WORD_BITS.into(), "bits of a word's place in a page"),
            upper_bits: Constant::bits(6, DATA_WIDTH.into(), "bits of a word"),
            _ports: ports as usize,
            _end: ports as usize + 1,
            _page_bits: number as usize,
            _word_bits: WORD_BITS as usize,
        }
    }
}

impl Logic for SwitchPorts {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, all_data_now, all_answer_now, errors_high);

        self.axi_lite.clk.next = self.clk.val();
        self.axi_lite.rst.next = self.rst.val();
        self.axi_lite.awvalid.next = self.s_axi_awvalid.val();
        self.axi_lite.awaddr.next = self.s_axi_awaddr.val();
        self.axi_lite.wvalid.next = self.s_axi_wvalid.val();
        self.axi_lite.wdata.next = self.s_axi_wdata.val();
        self.axi_lite.wstrb.next = self.s_axi_wstrb.val();
        self.axi_lite.bready.next = self.s_axi_bready.val();
        self.axi_lite.arvalid.next = self.s_axi_arvalid.val();
        self.axi_lite.araddr.next = self.s_axi_araddr.val();
        self.axi_lite.rready.next = self.s_axi_rready.val();
        self.s_axi_awready.next = self.axi_lite.awready.val();
        self.s_axi_wready.next = self.axi_lite.wready.val();
        self.s_axi_bvalid.next = self.axi_lite.bvalid.val();
        self.s_axi_bresp.next = self.axi_lite.bresp.val();
        self.s_axi_arready.next = self.axi_lite.arready.val();
        self.s_axi_rvalid.next = self.axi_lite.rvalid.val();
        self.s_axi_rdata.next = self.axi_lite.rdata.val();
        self.s_axi_rresp.next = self.axi_lite.rresp.val();

        self.page.next = bit_cast(
            self.axi_lite.word.val() >> self.page_bits.val(),
            self._page_bits,
        );
        self.place.next = bit_cast(self.axi_lite.word.val(), self._word_bits);

        self.is_all.next = self.page.val() == self.all_page.val();
        self.is_port.next = self.page.val() < self.end_of_ports.val();

        comment!("A port that is not asked answers 0: the answers are joined.");
        self.errors[0].next = 0.into();
        self.read_data[0].next = self.all_data_now.q.val();
        self.answer[0].next = self.all_answer_now.q.val();
        for i in 0..self._ports {
            self.port[i].clk.next = self.clk.val();
            self.port[i].rst.next = self.rst.val();
            self.port[i].request.next = self.axi_lite.request.val() & (self.page.val() == i);
            self.port[i].write.next = self.axi_lite.write.val();
            self.port[i].word.next = self.place.val();
            self.port[i].write_data.next = self.axi_lite.write_data.val();
            self.port[i].write_strobe.next = self.axi_lite.write_strobe.val();
            self.read_data[i + 1].next = self.read_data[i].val() | self.port[i].read_data.val();
            self.answer[i + 1].next = self.answer[i].val() | self.port[i].answer.val();
            self.errors[i + 1].next = self.errors[i].val();
            if self.port[i].error_flag.val() {
                self.errors[i + 1].next = self.errors[i].val() | self.flags[i].val();
            }
            self.port[i].queue_nonempty.next = self.queue_nonempty[i].val();
            self.port[i].transmitting.next = self.transmitting[i].val();
            self.port[i].receiving.next = self.receiving[i].val();
            self.port[i].packet_valid.next = self.packet_valid[i].val();
            self.port[i].packet_hops.next = self.packet_hops[i].val();
            if self.agrees.val() {
                self.port[i].initiator.next = self.initiator[i].val();
                self.port[i].message_in.next = self.message_in[i].val();
                self.message_out[i].next = self.port[i].message_out.val();
            } else {
                self.port[i].sleep_permit.next = self.sleep_permit[i].val();
                self.port[i].remote_down.next = self.remote_down[i].val();
                self.port[i].remote_up.next = self.remote_up[i].val();
            }
            self.tx_enable[i].next = self.port[i].tx_enable.val();
            self.power_state[i].next = self.port[i].power_state.val();
        }
        for i in self._ports..self._end {
            self.axi_lite.read_data.next = self.read_data[i].val();
            self.axi_lite.answer.next = self.answer[i].val();
            self.all_errors.next = self.errors[i].val();
        }

        comment!("The page of all ports, and what is no page");
        self.all_data.next = 0.into();
        if self.place.val() == self.at_errors_low.val() {
            self.all_data.next = bit_cast(self.all_errors.val(), 32);
        } else if self.place.val() == self.at_errors_high.val() {
            self.all_data.next = self.errors_high.q.val();
        }
        for i in 0..4 {
            if self.place.val() == i {
                self.all_data.next = self.identity[i].val();
            }
        }
        if self.axi_lite.request.val()
            & !self.axi_lite.write.val()
            & self.is_all.val()
            & (self.place.val() == self.at_errors_low.val())
        {
            self.errors_high.d.next = bit_cast(self.all_errors.val() >> self.upper_bits.val(), 32);
        }
        self.is_known.next = (self.place.val() <= 3)
            | (self.place.val() == self.at_errors_low.val())
            | (self.place.val() == self.at_errors_high.val());
        if !self.is_all.val() | !self.is_known.val() {
            self.all_answer.next = self.no_register.val();
        } else if self.axi_lite.write.val() {
            self.all_answer.next = self.refused.val();
        } else {
            self.all_answer.next = self.okay.val();
        }
        self.all_data_now.d.next = 0.into();
        self.all_answer_now.d.next = 0.into();
        if self.axi_lite.request.val() & !self.is_port.val() {
            self.all_answer_now.d.next = self.all_answer.val();
            if self.is_all.val() & !self.axi_lite.write.val() {
                self.all_data_now.d.next = self.all_data.val();
            }
        }
    }
}
