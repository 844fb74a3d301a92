//! The AXI4-Lite port: from five channels to one request after the other.

pub mod golden;
#[cfg(test)]
pub(crate) mod tests;

use crate::hdl::prelude::*;

/// Width of data and addresses' unit: a register, in bits.
pub const DATA_WIDTH: u32 = 32;

/// The answers of AXI4 (IHI 0022, A3.4.4), as `bresp` and `rresp` encode them.
pub mod response {
    /// Done.
    pub const OKAY: u8 = 0;
    /// The register exists and refuses.
    pub const SLVERR: u8 = 2;
    /// There is no register at the address.
    pub const DECERR: u8 = 3;
}

/// An AXI4-Lite subordinate (IHI 0022, B1) in front of registers that take one request at a
/// time and answer in the next cycle.
///
/// The five channels are independent: an address may come before or after its data, a read
/// while a write waits for `bready`, and every channel has a place to hold one transfer, so
/// that no `ready` depends on a `valid` within a cycle. Reads and writes take turns.
#[derive(LogicBlock)]
pub struct AxiLite {
    about: About,
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub awvalid: Signal<In, Bit>,
    pub awready: Signal<Out, Bit>,
    pub awaddr: Signal<In, Bits>,
    pub wvalid: Signal<In, Bit>,
    pub wready: Signal<Out, Bit>,
    pub wdata: Signal<In, Bits>,
    pub wstrb: Signal<In, Bits>,
    pub bvalid: Signal<Out, Bit>,
    pub bready: Signal<In, Bit>,
    pub bresp: Signal<Out, Bits>,
    pub arvalid: Signal<In, Bit>,
    pub arready: Signal<Out, Bit>,
    pub araddr: Signal<In, Bits>,
    pub rvalid: Signal<Out, Bit>,
    pub rready: Signal<In, Bit>,
    pub rdata: Signal<Out, Bits>,
    pub rresp: Signal<Out, Bits>,
    // Towards the registers.
    pub request: Signal<Out, Bit>,
    pub write: Signal<Out, Bit>,
    pub word: Signal<Out, Bits>,
    pub write_data: Signal<Out, Bits>,
    pub write_strobe: Signal<Out, Bits>,
    pub read_data: Signal<In, Bits>,
    pub answer: Signal<In, Bits>,
    aw_full: Reg<Bit>,
    aw_word: Reg<Bits>,
    w_full: Reg<Bit>,
    w_data: Reg<Bits>,
    w_strobe: Reg<Bits>,
    b_full: Reg<Bit>,
    b_answer: Reg<Bits>,
    ar_full: Reg<Bit>,
    ar_word: Reg<Bits>,
    r_full: Reg<Bit>,
    r_data: Reg<Bits>,
    r_answer: Reg<Bits>,
    asked: Reg<Bit>,
    wrote_last: Reg<Bit>,
    may_write: Signal<Local, Bit>,
    may_read: Signal<Local, Bit>,
    writes: Signal<Local, Bit>,
    reads: Signal<Local, Bit>,
    byte_bits: Constant<Bits>,
    _word_bits: usize,
}

impl AxiLite {
    /// A port with byte addresses of `address_width` bits.
    pub fn new(address_width: u32) -> Self {
        let word = address_width - 2;
        AxiLite {
            about: About::new(
                "axi_lite",
                "AXI4-Lite subordinate. Every channel holds one transfer, so that the channels\n\
                 are independent and no ready depends on a valid of the same cycle. The\n\
                 registers behind it get one request at a time, reads and writes in turn, and\n\
                 answer in the cycle after.",
            ),
            clk: Signal::clock("clock"),
            rst: Signal::bit("synchronous reset"),
            awvalid: Signal::bit("there is a write address"),
            awready: Signal::bit("it is taken"),
            awaddr: Signal::bits(address_width, "write address in bytes"),
            wvalid: Signal::bit("there is data to write"),
            wready: Signal::bit("it is taken"),
            wdata: Signal::bits(DATA_WIDTH, "data to write"),
            wstrb: Signal::bits(DATA_WIDTH / 8, "which of its bytes to write"),
            bvalid: Signal::bit("a write is answered"),
            bready: Signal::bit("the answer is taken"),
            bresp: Signal::bits(2, "0 done, 2 refused, 3 no such register"),
            arvalid: Signal::bit("there is a read address"),
            arready: Signal::bit("it is taken"),
            araddr: Signal::bits(address_width, "read address in bytes"),
            rvalid: Signal::bit("a read is answered"),
            rready: Signal::bit("the answer is taken"),
            rdata: Signal::bits(DATA_WIDTH, "data that was read"),
            rresp: Signal::bits(2, "0 done, 2 refused, 3 no such register"),
            request: Signal::bit("the registers are asked in this cycle"),
            write: Signal::bit("to write"),
            word: Signal::bits(word, "address in words of 32 bits"),
            write_data: Signal::bits(DATA_WIDTH, "data to write"),
            write_strobe: Signal::bits(DATA_WIDTH / 8, "which of its bytes to write"),
            read_data: Signal::bits(DATA_WIDTH, "data read, the cycle after the request"),
            answer: Signal::bits(2, "answer, the cycle after the request"),
            aw_full: Reg::bit(false, "a write address waits"),
            aw_word: Reg::bits(word, 0, "it"),
            w_full: Reg::bit(false, "data to write waits"),
            w_data: Reg::bits(DATA_WIDTH, 0, "it"),
            w_strobe: Reg::bits(DATA_WIDTH / 8, 0, "its bytes to write"),
            b_full: Reg::bit(false, "the answer to a write waits"),
            b_answer: Reg::bits(2, 0, "it"),
            ar_full: Reg::bit(false, "a read address waits"),
            ar_word: Reg::bits(word, 0, "it"),
            r_full: Reg::bit(false, "the answer to a read waits"),
            r_data: Reg::bits(DATA_WIDTH, 0, "its data"),
            r_answer: Reg::bits(2, 0, "it"),
            asked: Reg::bit(false, "the registers answer in this cycle"),
            wrote_last: Reg::bit(false, "the last request was a write"),
            may_write: Signal::bit("a write could go to the registers"),
            may_read: Signal::bit("a read could go to the registers"),
            writes: Signal::bit("a write goes to the registers"),
            reads: Signal::bit("a read goes to the registers"),
            byte_bits: Constant::bits(2, 2, "bits of a byte's place in a word"),
            _word_bits: word as usize,
        }
    }
}

impl Logic for AxiLite {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clk, aw_full, aw_word, w_full, w_data, w_strobe, b_full, b_answer, ar_full,
            ar_word, r_full, r_data, r_answer, asked, wrote_last
        );

        comment!("A request needs a place for its answer, and none may be under way.");
        self.may_write.next =
            self.aw_full.q.val() & self.w_full.q.val() & !self.b_full.q.val() & !self.asked.q.val();
        self.may_read.next = self.ar_full.q.val() & !self.r_full.q.val() & !self.asked.q.val();
        self.writes.next = self.may_write.val() & (!self.may_read.val() | !self.wrote_last.q.val());
        self.reads.next = self.may_read.val() & !self.writes.val();
        self.asked.d.next = self.writes.val() | self.reads.val();
        if self.writes.val() | self.reads.val() {
            self.wrote_last.d.next = self.writes.val();
        }
        self.request.next = self.writes.val() | self.reads.val();
        self.write.next = self.writes.val();
        if self.writes.val() {
            self.word.next = self.aw_word.q.val();
        } else {
            self.word.next = self.ar_word.q.val();
        }
        self.write_data.next = self.w_data.q.val();
        self.write_strobe.next = self.w_strobe.q.val();

        comment!("Write address");
        if self.writes.val() {
            self.aw_full.d.next = false;
        } else if self.awvalid.val() & !self.aw_full.q.val() {
            self.aw_full.d.next = true;
            self.aw_word.d.next =
                bit_cast(self.awaddr.val() >> self.byte_bits.val(), self._word_bits);
        }
        self.awready.next = !self.aw_full.q.val();

        comment!("Write data");
        if self.writes.val() {
            self.w_full.d.next = false;
        } else if self.wvalid.val() & !self.w_full.q.val() {
            self.w_full.d.next = true;
            self.w_data.d.next = self.wdata.val();
            self.w_strobe.d.next = self.wstrb.val();
        }
        self.wready.next = !self.w_full.q.val();

        comment!("Write answer");
        if self.asked.q.val() & self.wrote_last.q.val() {
            self.b_full.d.next = true;
            self.b_answer.d.next = self.answer.val();
        } else if self.bready.val() {
            self.b_full.d.next = false;
        }
        self.bvalid.next = self.b_full.q.val();
        self.bresp.next = self.b_answer.q.val();

        comment!("Read address");
        if self.reads.val() {
            self.ar_full.d.next = false;
        } else if self.arvalid.val() & !self.ar_full.q.val() {
            self.ar_full.d.next = true;
            self.ar_word.d.next =
                bit_cast(self.araddr.val() >> self.byte_bits.val(), self._word_bits);
        }
        self.arready.next = !self.ar_full.q.val();

        comment!("Read answer");
        if self.asked.q.val() & !self.wrote_last.q.val() {
            self.r_full.d.next = true;
            self.r_data.d.next = self.read_data.val();
            self.r_answer.d.next = self.answer.val();
        } else if self.rready.val() {
            self.r_full.d.next = false;
        }
        self.rvalid.next = self.r_full.q.val();
        self.rdata.next = self.r_data.q.val();
        self.rresp.next = self.r_answer.q.val();
    }
}
