//! Outcomes of more idle periods than a vector holds.

use crate::hdl::prelude::*;

/// Hits and misses of the last `n_R` idle periods, in a memory: where `n_R` is more than a
/// register has bits.
#[derive(LogicBlock)]
pub struct Outcomes {
    about: About,
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub shift: Signal<In, Bit>,
    pub miss: Signal<In, Bit>,
    pub oldest: Signal<Out, Bit>,
    place: Reg<Bits>,
    full: Reg<Bit>,
    last_place: Constant<Bits>,
    misses: Memory,
}

impl Outcomes {
    /// Outcomes of `history` idle periods, at least 2.
    pub fn new(history: u32) -> Self {
        let address = clog2(history.into());
        Outcomes {
            about: About::new(
                "outcomes",
                format!(
                    "A shift register of {history} bits, in a memory: the place that is read is the\n\
                     place that is written next. A shift comes every second cycle at most."
                ),
            ),
            clk: Signal::clock("clock"),
            rst: Signal::bit("synchronous reset"),
            shift: Signal::bit("shift"),
            miss: Signal::bit("shifted in: the idle period was a miss"),
            oldest: Signal::bit("shifted out"),
            place: Reg::bits(address, 0, "place of the oldest outcome"),
            full: Reg::bit(false, "every place has been written"),
            last_place: Constant::bits(address, u128::from(history) - 1, "the last place"),
            misses: Memory::new(history as usize, 1, "1 is a miss"),
        }
    }
}

impl Logic for Outcomes {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, place, full);
        clock!(self, clk, misses);

        self.misses.read_address.next = self.place.q.val();
        self.misses.write_enable.next = self.shift.val();
        self.misses.write_address.next = self.place.q.val();
        self.misses.write_data.next = bit_cast(self.miss.val(), 1);
        self.oldest.next = self.full.q.val() & self.misses.read_data.val().get_bit(0);
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
