//! The AXI4-Lite port: from five channels to one request after the other.

mod claims;
pub mod golden;
#[cfg(test)]
pub(crate) mod tests;

use self::claims::HandshakeClaims;
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

bundle! {
    /// The pins of an AXI4-Lite subordinate.
    pub struct AxiPins;

    /// With byte addresses of `address_width` bits.
    pub fn new(address_width: u32) {}

    {
        pub in awvalid: Bit("there is a write address"),
        pub out awready: Bit("it is taken"),
        pub in awaddr: Bits(address_width, "write address in bytes"),
        pub in awprot: Bits(3, "not read: everybody may write"),
        pub in wvalid: Bit("there is data to write"),
        pub out wready: Bit("it is taken"),
        pub in wdata: Bits(DATA_WIDTH, "data to write"),
        pub in wstrb: Bits(DATA_WIDTH / 8, "which of its bytes to write"),
        pub out bvalid: Bit("a write is answered"),
        pub in bready: Bit("the answer is taken"),
        pub out bresp: Bits(2, "0 done, 2 refused, 3 no such register"),
        pub in arvalid: Bit("there is a read address"),
        pub out arready: Bit("it is taken"),
        pub in araddr: Bits(address_width, "read address in bytes"),
        pub in arprot: Bits(3, "not read: everybody may read"),
        pub out rvalid: Bit("a read is answered"),
        pub in rready: Bit("the answer is taken"),
        pub out rdata: Bits(DATA_WIDTH, "data that was read"),
        pub out rresp: Bits(2, "0 done, 2 refused, 3 no such register"),
    }
}

bundle! {
    /// The pins by which registers are asked: a request in a cycle, the answer in the next. Two cycles
    /// before the request its address stands already.
    pub struct RegisterPins flips
    /// The pins of what asks registers.
    RegisterAccess;

    /// With addresses of `word_bits` bits, in words; `asked` says what `request` means, and
    /// `idle` what the answer is without one.
    pub fn new(word_bits: u32, asked: &str, idle: &str) {}

    {
        pub in ahead: Bit("two cycles from now there is a request with the address of this cycle"),
        pub in request: Bit(asked),
        pub in write: Bit("to write"),
        pub in word: Bits(word_bits, "address in words of 32 bits"),
        pub in write_data: Bits(DATA_WIDTH, "data to write"),
        pub in write_strobe: Bits(DATA_WIDTH / 8, "which of its bytes to write"),
        pub out read_data: Bits(DATA_WIDTH, format!("data read, the cycle after the request{idle}")),
        pub out answer: Bits(2, format!("answer, the cycle after the request{idle}")),
    }
}

/// What `request` means to registers that answer one in the next cycle.
pub const ASKED: &str = "the registers are asked in this cycle";

block! {
    /// An AXI4-Lite subordinate (IHI 0022, B1) in front of registers that take one request at a
    /// time and answer in the next cycle. They see its address two cycles before, in which they
    /// look up what is in a memory.
    ///
    /// The five channels are independent: an address may come before or after its data, a read
    /// while a write waits for `bready`, and every channel has a place to hold one transfer, so
    /// that no `ready` depends on a `valid` within a cycle. Reads and writes take turns.
    pub struct AxiLite(clk, rst);

    /// A port with byte addresses of `address_width` bits.
    pub fn new(address_width: u32) {
        let word = address_width - 2;
    }

    about(
        "axi_lite",
        "AXI4-Lite subordinate. Every channel holds one transfer, so that the channels\n\
         are independent and no ready depends on a valid of the same cycle. The\n\
         registers behind it get one request at a time, reads and writes in turn: its\n\
         address first, two cycles later the request, and they answer in the cycle after.",
    )

    {
        pub flat axi: AxiPins(address_width),
        // Towards the registers.
        pub flat registers: RegisterAccess(word, ASKED, ""),
        reg aw_full: Bit(false, "a write address waits"),
        reg aw_word: Bits(word, 0, "it"),
        reg w_full: Bit(false, "data to write waits"),
        reg w_data: Bits(DATA_WIDTH, 0, "it"),
        reg w_strobe: Bits(DATA_WIDTH / 8, 0, "its bytes to write"),
        reg b_full: Bit(false, "the answer to a write waits"),
        reg b_answer: Bits(2, 0, "it"),
        reg ar_full: Bit(false, "a read address waits"),
        reg ar_word: Bits(word, 0, "it"),
        reg r_full: Bit(false, "the answer to a read waits"),
        reg r_data: Bits(DATA_WIDTH, 0, "its data"),
        reg r_answer: Bits(2, 0, "it"),
        reg ahead: Bit(false, "the registers see the address of a request"),
        reg nears: Bit(false, "they look up what is there"),
        reg asks: Bit(false, "they are asked"),
        reg asked: Bit(false, "they answer"),
        reg wrote_last: Bit(false, "the last request that was chosen is a write"),
        reg word: Bits(word, 0, "its address"),
        local free: Bit("no request is under way"),
        local may_write: Bit("a write could be chosen"),
        local may_read: Bit("a read could be chosen"),
        local chooses_write: Bit("a write is chosen"),
        local chooses: Bit("a request is chosen"),
        local writes: Bit("a write goes to the registers"),
        local reads: Bit("a read goes to the registers"),
        constant byte_bits: Bits(2, 2, "bits of a byte's place in a word"),
        // For the proofs (docs/evidence/proofs.md).
        section claims: HandshakeClaims(word, DATA_WIDTH),
        local takes_address: Bit("a write address is taken"),
        local address: Bits(word, "it, in words"),
        local takes_data: Bit("data to write is taken"),
        local takes_read: Bit("a read address is taken"),
        local read_address: Bits(word, "it, in words"),
    }
}

impl Logic for AxiLite {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("A request needs a place for its answer, and none may be under way.");
        self.free.next =
            !(self.ahead.q.val() | self.nears.q.val() | self.asks.q.val() | self.asked.q.val());
        self.may_write.next = self.aw_full.q.val() & self.w_full.q.val() & !self.b_full.q.val();
        self.may_read.next = self.ar_full.q.val() & !self.r_full.q.val();
        self.chooses_write.next =
            self.may_write.val() & (!self.may_read.val() | !self.wrote_last.q.val());
        self.chooses.next = self.free.val() & (self.may_write.val() | self.may_read.val());
        if self.chooses.val() {
            self.wrote_last.d.next = self.chooses_write.val();
            if self.chooses_write.val() {
                self.word.d.next = self.aw_word.q.val();
            } else {
                self.word.d.next = self.ar_word.q.val();
            }
        }
        self.ahead.d.next = self.chooses.val();
        self.nears.d.next = self.ahead.q.val();
        self.asks.d.next = self.nears.q.val();
        self.asked.d.next = self.asks.q.val();
        self.writes.next = self.asks.q.val() & self.wrote_last.q.val();
        self.reads.next = self.asks.q.val() & !self.wrote_last.q.val();
        self.registers.ahead.next = self.ahead.q.val();
        self.registers.request.next = self.asks.q.val();
        self.registers.write.next = self.wrote_last.q.val();
        self.registers.word.next = self.word.q.val();
        self.registers.write_data.next = self.w_data.q.val();
        self.registers.write_strobe.next = self.w_strobe.q.val();

        comment!("Write address");
        if self.writes.val() {
            self.aw_full.d.next = false;
        } else if self.axi.awvalid.val() & !self.aw_full.q.val() {
            self.aw_full.d.next = true;
            self.aw_word.d.next =
                bit_cast(self.axi.awaddr.val() >> self.byte_bits.val(), &self.aw_word);
        }
        self.axi.awready.next = !self.aw_full.q.val();

        comment!("Write data");
        if self.writes.val() {
            self.w_full.d.next = false;
        } else if self.axi.wvalid.val() & !self.w_full.q.val() {
            self.w_full.d.next = true;
            self.w_data.d.next = self.axi.wdata.val();
            self.w_strobe.d.next = self.axi.wstrb.val();
        }
        self.axi.wready.next = !self.w_full.q.val();

        comment!("Write answer");
        if self.asked.q.val() & self.wrote_last.q.val() {
            self.b_full.d.next = true;
            self.b_answer.d.next = self.registers.answer.val();
        } else if self.axi.bready.val() {
            self.b_full.d.next = false;
        }
        self.axi.bvalid.next = self.b_full.q.val();
        self.axi.bresp.next = self.b_answer.q.val();

        comment!("Read address");
        if self.reads.val() {
            self.ar_full.d.next = false;
        } else if self.axi.arvalid.val() & !self.ar_full.q.val() {
            self.ar_full.d.next = true;
            self.ar_word.d.next =
                bit_cast(self.axi.araddr.val() >> self.byte_bits.val(), &self.ar_word);
        }
        self.axi.arready.next = !self.ar_full.q.val();

        comment!("Read answer");
        if self.asked.q.val() & !self.wrote_last.q.val() {
            self.r_full.d.next = true;
            self.r_data.d.next = self.registers.read_data.val();
            self.r_answer.d.next = self.registers.answer.val();
        } else if self.axi.rready.val() {
            self.r_full.d.next = false;
        }
        self.axi.rvalid.next = self.r_full.q.val();
        self.axi.rdata.next = self.r_data.q.val();
        self.axi.rresp.next = self.r_answer.q.val();

        self.takes_address.next = self.axi.awvalid.val() & self.axi.awready.val();
        self.address.next = bit_cast(self.axi.awaddr.val() >> self.byte_bits.val(), &self.aw_word);
        self.takes_data.next = self.axi.wvalid.val() & self.axi.wready.val();
        self.takes_read.next = self.axi.arvalid.val() & self.axi.arready.val();
        self.read_address.next =
            bit_cast(self.axi.araddr.val() >> self.byte_bits.val(), &self.ar_word);
        self.claims.takes_address.next = self.takes_address.val();
        self.claims.address.next = self.address.val();
        self.claims.takes_data.next = self.takes_data.val();
        self.claims.data.next = self.axi.wdata.val();
        self.claims.strobe.next = self.axi.wstrb.val();
        self.claims.takes_read.next = self.takes_read.val();
        self.claims.read_address.next = self.read_address.val();
        self.claims.bready.next = self.axi.bready.val();
        self.claims.rready.next = self.axi.rready.val();
        self.claims.writes.next = self.writes.val();
        self.claims.reads.next = self.reads.val();
        self.claims.word_asked.next = self.registers.word.val();
        self.claims.read_data.next = self.registers.read_data.val();
        self.claims.answer.next = self.registers.answer.val();
        self.claims.aw_full.next = self.aw_full.q.val();
        self.claims.aw_word.next = self.aw_word.q.val();
        self.claims.ar_word.next = self.ar_word.q.val();
        self.claims.w_full.next = self.w_full.q.val();
        self.claims.w_data.next = self.registers.write_data.val();
        self.claims.w_strobe.next = self.registers.write_strobe.val();
        self.claims.b_full.next = self.axi.bvalid.val();
        self.claims.b_answer.next = self.axi.bresp.val();
        self.claims.ar_full.next = self.ar_full.q.val();
        self.claims.r_full.next = self.axi.rvalid.val();
        self.claims.r_data.next = self.axi.rdata.val();
        self.claims.r_answer.next = self.axi.rresp.val();
        self.claims.ahead.next = self.ahead.q.val();
        self.claims.nears.next = self.nears.q.val();
        self.claims.asked.next = self.asked.q.val();
        self.claims.wrote_last.next = self.wrote_last.q.val();
    }
}
