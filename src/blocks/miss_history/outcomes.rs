//! Outcomes of more idle periods than a vector holds.

use crate::hdl::prelude::*;

block! {
    /// Hits and misses of the last `n_R` idle periods, in a memory: where `n_R` is more than a
    /// register has bits.
    pub struct Outcomes(clk, rst);

    /// Outcomes of `history` idle periods, at least 2, in a memory with `code`.
    pub fn new(history: u32, code: Option<Code>) {
        let address = clog2(history.into());
    }

    about(
        "outcomes",
        format!(
            "A shift register of {history} bits, in a memory: the place that is read is the\n\
             place that is written next. A shift comes every second cycle at most."
        ),
    )

    {
        pub in shift: Bit("shift"),
        pub in miss: Bit("shifted in: the idle period was a miss"),
        pub out oldest: Bit("shifted out"),
        pub out memory_upset: Bits(2, "wrong bits in the words read: 1, put right; 2, not") if code.is_some(),
        choice coded(code.is_some()), // the memory has a code
        reg place: Bits(address, 0, "place of the oldest outcome"),
        reg full: Bit(false, "every place has been written"),
        reg oldest_read: Bit(false, "the word read is the oldest outcome") if code.is_some(),
        constant last_place: Bits(address, u128::from(history) - 1, "the last place"),
        memory misses: Memory(history as usize, 1, code, "1 is a miss"),
    }
}

impl Logic for Outcomes {
    #[hdl_gen]
    fn update(&mut self) {
        self.misses.read_address.next = self.place.q.val();
        self.misses.write_enable.next = self.shift.val();
        self.misses.write_address.next = self.place.q.val();
        self.misses.write_data.next = bit_cast(self.miss.val(), 1);
        self.oldest.next = self.full.q.val() & self.misses.read_data.val().get_bit(0);
        if self.coded {
            comment!("Not after a shift, which wrote the place that was read.");
            self.oldest_read.d.next = self.full.q.val() & !self.shift.val();
            self.misses.read_valid.next = self.oldest_read.q.val();
            self.memory_upset.next = self.misses.upset.val();
        }
        if self.shift.val() {
            if self.place.q.val() == self.last_place.val() {
                self.place.d.next = 0.into();
                self.full.d.next = true;
            } else {
                self.place.d.next = self.place.q.val() + 1;
            }
        }
    }
}
