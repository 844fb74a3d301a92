//! What the AXI4-Lite port promises to both of its sides, and what that follows from
//! (`docs/evidence/proofs.md`): a section of [`AxiLite`](super::AxiLite) that is no hardware.

use crate::hdl::prelude::*;

/// Clock cycles for which a request with a place for its answer waits, at most.
const LONGEST_WAIT: u128 = 8;

block! {
    /// That the handshakes follow the rules (IHI 0022, A3), and that every transfer is answered
    /// once, with what the registers said of it.
    pub struct HandshakeClaims;

    /// The claims of a port with word addresses of `word` bits and words of `data_width` bits.
    pub fn new(word: u32, data_width: u32) {}

    {
        pub in takes_address: Bit("a write address is taken"),
        pub in address: Bits(word, "it, in words"),
        pub in takes_data: Bit("data to write is taken"),
        pub in data: Bits(data_width, "it"),
        pub in strobe: Bits(data_width / 8, "its bytes to write"),
        pub in takes_read: Bit("a read address is taken"),
        pub in read_address: Bits(word, "it, in words"),
        pub in bready: Bit("the answer to a write is taken"),
        pub in rready: Bit("the answer to a read is taken"),
        pub in writes: Bit("a write goes to the registers"),
        pub in reads: Bit("a read goes to the registers"),
        pub in word_asked: Bits(word, "its address"),
        pub in read_data: Bits(data_width, "data that the registers read"),
        pub in answer: Bits(2, "their answer"),
        pub in aw_full: Bit("a write address waits"),
        pub in aw_word: Bits(word, "it, in words"),
        pub in w_full: Bit("data to write waits"),
        pub in w_data: Bits(data_width, "data that goes to the registers"),
        pub in w_strobe: Bits(data_width / 8, "its bytes to write"),
        pub in b_full: Bit("the answer to a write waits"),
        pub in b_answer: Bits(2, "it"),
        pub in ar_full: Bit("a read address waits"),
        pub in ar_word: Bits(word, "it, in words"),
        pub in r_full: Bit("the answer to a read waits"),
        pub in r_data: Bits(data_width, "its data"),
        pub in r_answer: Bits(2, "it"),
        pub in ahead: Bit("the registers see the address of a request"),
        pub in nears: Bit("they look up what is there"),
        pub in asked: Bit("they answer"),
        pub in wrote_last: Bit("the last request that was chosen is a write"),
        property write_answer_kept(
            "An answer to a write waits, and does not change, until it is taken."
        ),
        property read_answer_kept(
            "An answer to a read and its data wait, and do not change, until they are taken."
        ),
        property writes_answered_once(
            "Every write is answered once: addresses taken, data taken and answers differ by \
                 what is under way.",
        ),
        property reads_answered_once("Every read is answered once."),
        property asked_as_taken(
            "The registers are asked for what was taken, address, data and strobes."
        ),
        property answered_as_told("An answer is what the registers said of that request."),
        property write_goes_in_time(
            "A write with address, data and a place for its answer waits eight cycles at most."
        ),
        property read_goes_in_time("So does a read."),
        invariant waits_as_taken("What waits is what was taken."),
        invariant chosen_stands("The registers see the address of the request that was chosen."),
        invariant place_for_answer("What the registers are asked has a place for its answer."),
        invariant one_under_way("One request is under way at most, and waits where it was chosen."),
        invariant turns_taken("Who waits longest is next."),
        reg b_waits: Bit(false, "an answer to a write was not taken the cycle before"),
        reg b_then: Bits(2, 0, "it"),
        reg r_waits: Bit(false, "an answer to a read was not taken the cycle before"),
        reg r_data_then: Bits(data_width, 0, "its data"),
        reg r_then: Bits(2, 0, "it"),
        reg addresses_open: Bits(3, 0, "write addresses taken and not answered"),
        reg data_open: Bits(3, 0, "data taken and not answered"),
        reg reads_open: Bits(3, 0, "read addresses taken and not answered"),
        reg taken_address: Bits(word, 0, "write address that was taken last"),
        reg taken_data: Bits(data_width, 0, "data that was taken last"),
        reg taken_strobe: Bits(data_width / 8, 0, "its bytes to write"),
        reg taken_read: Bits(word, 0, "read address that was taken last"),
        reg write_told: Bits(2, 0, "answer of the registers to the last write"),
        reg read_told: Bits(2, 0, "answer of the registers to the last read"),
        reg data_told: Bits(data_width, 0, "data of the last read"),
        reg write_wait: Bits(4, 0, "clock cycles for which a write could not go"),
        reg read_wait: Bits(4, 0, "clock cycles for which a read could not go"),
        local writing_now: Bit("the registers answer a write in this cycle"),
        local reading_now: Bit("the registers answer a read in this cycle"),
        local write_ready: Bit("a write has address, data and a place for its answer"),
        local read_ready: Bit("a read has address and a place for its answer"),
        local asking: Bit("the registers are asked in this cycle"),
        local word_chosen: Bits(word, "address that waits for the request chosen last"),
        local step: Bits(4, "cycles since a request was chosen that is under way, 0 if none is"),
        local chosen_limit: Bits(4, "what it can have waited for"),
        local write_limit: Bits(4, "what a write can have waited for, by whose turn it is"),
        local read_limit: Bits(4, "what a read can have waited for"),
        constant longest_wait: Bits(4, LONGEST_WAIT, "longest wait of a request"),
    }
}

impl Logic for HandshakeClaims {
    #[hdl_gen]
    fn update(&mut self) {
        self.writing_now.next = self.asked.val() & self.wrote_last.val();
        self.reading_now.next = self.asked.val() & !self.wrote_last.val();

        self.b_waits.d.next = self.b_full.val() & !self.bready.val();
        self.b_then.d.next = self.b_answer.val();
        self.write_answer_kept.d.next = !self.b_waits.q.val()
            | (self.b_full.val() & (self.b_answer.val() == self.b_then.q.val()));
        self.r_waits.d.next = self.r_full.val() & !self.rready.val();
        self.r_data_then.d.next = self.r_data.val();
        self.r_then.d.next = self.r_answer.val();
        self.read_answer_kept.d.next = !self.r_waits.q.val()
            | (self.r_full.val()
                & (self.r_answer.val() == self.r_then.q.val())
                & (self.r_data.val() == self.r_data_then.q.val()));

        self.addresses_open.d.next = (self.addresses_open.q.val()
            + bit_cast(self.takes_address.val(), &self.addresses_open))
            - bit_cast(self.b_full.val() & self.bready.val(), &self.addresses_open);
        self.data_open.d.next = (self.data_open.q.val()
            + bit_cast(self.takes_data.val(), &self.data_open))
            - bit_cast(self.b_full.val() & self.bready.val(), &self.data_open);
        self.reads_open.d.next = (self.reads_open.q.val()
            + bit_cast(self.takes_read.val(), &self.reads_open))
            - bit_cast(self.r_full.val() & self.rready.val(), &self.reads_open);
        self.writes_answered_once.d.next = (self.addresses_open.q.val()
            == (bit_cast(self.aw_full.val(), &self.addresses_open)
                + bit_cast(self.writing_now.val(), &self.addresses_open)
                + bit_cast(self.b_full.val(), &self.addresses_open)))
            & (self.data_open.q.val()
                == (bit_cast(self.w_full.val(), &self.data_open)
                    + bit_cast(self.writing_now.val(), &self.data_open)
                    + bit_cast(self.b_full.val(), &self.data_open)));
        self.reads_answered_once.d.next = self.reads_open.q.val()
            == (bit_cast(self.ar_full.val(), &self.reads_open)
                + bit_cast(self.reading_now.val(), &self.reads_open)
                + bit_cast(self.r_full.val(), &self.reads_open));

        if self.takes_address.val() {
            self.taken_address.d.next = self.address.val();
        }
        if self.takes_data.val() {
            self.taken_data.d.next = self.data.val();
            self.taken_strobe.d.next = self.strobe.val();
        }
        if self.takes_read.val() {
            self.taken_read.d.next = self.read_address.val();
        }
        self.asked_as_taken.d.next = (!self.writes.val()
            | ((self.word_asked.val() == self.taken_address.q.val())
                & (self.w_data.val() == self.taken_data.q.val())
                & (self.w_strobe.val() == self.taken_strobe.q.val())))
            & (!self.reads.val() | (self.word_asked.val() == self.taken_read.q.val()));
        self.asking.next = self.writes.val() | self.reads.val();
        if self.wrote_last.val() {
            self.word_chosen.next = self.aw_word.val();
        } else {
            self.word_chosen.next = self.ar_word.val();
        }
        self.chosen_stands.d.next = !(self.ahead.val() | self.nears.val() | self.asking.val())
            | (self.word_asked.val() == self.word_chosen.val());
        self.waits_as_taken.d.next = (!self.aw_full.val()
            | (self.aw_word.val() == self.taken_address.q.val()))
            & (!self.w_full.val()
                | ((self.w_data.val() == self.taken_data.q.val())
                    & (self.w_strobe.val() == self.taken_strobe.q.val())))
            & (!self.ar_full.val() | (self.ar_word.val() == self.taken_read.q.val()));

        if self.writing_now.val() {
            self.write_told.d.next = self.answer.val();
        }
        if self.reading_now.val() {
            self.read_told.d.next = self.answer.val();
            self.data_told.d.next = self.read_data.val();
        }
        self.answered_as_told.d.next = (!self.b_full.val()
            | (self.b_answer.val() == self.write_told.q.val()))
            & (!self.r_full.val()
                | ((self.r_answer.val() == self.read_told.q.val())
                    & (self.r_data.val() == self.data_told.q.val())));

        self.write_ready.next = self.aw_full.val() & self.w_full.val() & !self.b_full.val();
        self.read_ready.next = self.ar_full.val() & !self.r_full.val();
        self.write_wait.d.next = 0.into();
        if self.write_ready.val() & !self.writes.val() {
            self.write_wait.d.next = self.write_wait.q.val() + 1;
        }
        self.read_wait.d.next = 0.into();
        if self.read_ready.val() & !self.reads.val() {
            self.read_wait.d.next = self.read_wait.q.val() + 1;
        }
        self.write_goes_in_time.d.next = self.write_wait.q.val() <= self.longest_wait.val();
        self.read_goes_in_time.d.next = self.read_wait.q.val() <= self.longest_wait.val();
        self.place_for_answer.d.next = (!self.writing_now.val() | !self.b_full.val())
            & (!self.reading_now.val() | !self.r_full.val());
        self.step.next = bit_cast(self.ahead.val(), &self.step)
            | (bit_cast(self.nears.val(), &self.step) << 1)
            | (bit_cast(self.asked.val(), &self.step) << 2);
        if self.asking.val() {
            self.step.next = 3.into();
        }
        self.one_under_way.d.next = !(self.ahead.val()
            & (self.nears.val() | self.asking.val() | self.asked.val()))
            & !(self.nears.val() & (self.asking.val() | self.asked.val()))
            & !(self.asking.val() & self.asked.val())
            & (!(self.ahead.val() | self.nears.val() | self.asking.val())
                | (self.wrote_last.val()
                    & self.aw_full.val()
                    & self.w_full.val()
                    & !self.b_full.val())
                | (!self.wrote_last.val() & self.ar_full.val() & !self.r_full.val()));
        comment!("Five cycles for the other request before it, and its own steps; the other one waits as");
        comment!("long as this one is under way.");
        self.chosen_limit.next = self.step.val() + 5;
        if self.asked.val() {
            self.chosen_limit.next = 0.into();
        }
        self.write_limit.next = self.step.val();
        self.read_limit.next = self.step.val();
        if self.step.val() == 0 {
            if self.wrote_last.val() {
                self.read_limit.next = 5.into();
            } else {
                self.write_limit.next = 5.into();
            }
        } else if self.wrote_last.val() {
            self.write_limit.next = self.chosen_limit.val();
        } else {
            self.read_limit.next = self.chosen_limit.val();
        }
        self.turns_taken.d.next = ((self.write_wait.q.val() == 0)
            | (self.write_ready.val() & (self.write_wait.q.val() <= self.write_limit.val())))
            & ((self.read_wait.q.val() == 0)
                | (self.read_ready.val() & (self.read_wait.q.val() <= self.read_limit.val())));
    }
}
