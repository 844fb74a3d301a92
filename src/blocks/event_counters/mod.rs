//! Counters of events, most of their bits in a memory.

#[cfg(test)]
mod tests;

use crate::hdl::prelude::*;

/// Width of a counter, in bits: at 1 GHz the time in a state overflows after 584 years.
pub const WIDTH: u32 = 64;

/// The low bits of a counter, which are a register. A bit above them says that they came around.
pub const LOW: u32 = 6;

/// Bits of the lower of a counter's two words.
const WORD: u32 = 32;

/// Bits of a counter's place in the memory.
pub const PLACE: u32 = 5;

/// Places in the memory.
pub const PLACES: u32 = 1 << PLACE;

/// Bits of the cycles for which a counter has called, as the claims count them.
const SINCE: u32 = LOW + 1;

/// Most places from the first counter to the last: a counter that calls is visited before its low bits
/// come around again, even if software asks for a counter in every second cycle.
pub const MOST_VISITED: u32 = 30;

// A visit comes after two cycles for each place, and two more.
const _: () = assert!(2 * MOST_VISITED + 2 < 1 << LOW);

block! {
    /// Counters of 64 bits for events that may come in every cycle. The low six bits of each are a
    /// register, the others a word of a memory. A seventh bit of the register says that the low bits came
    /// around: the counter calls, and is visited, which adds 1 to its word. While none calls, nothing
    /// moves but the registers of what happens.
    ///
    /// A counter that software asks for is visited at once, so that all its bits can be read together.
    pub struct EventCounters(clk, rst);

    /// Counters at these places in the memory (below [`PLACES`]), which follow each other but for
    /// gaps, the last place before the first; each with what it counts. The memory has `code`.
    ///
    /// # Panics
    /// If there are none, or they span more than [`MOST_VISITED`] places.
    pub fn new(counters: &[(u32, String)], code: Option<Code>) {
        let count = counters.len();
        let (first, places) = span(counters);
        let last = (first + places - 1) % PLACES;
    }

    about(
        "event_counters",
        "Counters of events. The low six bits of each are a register, so that all of them\n\
         can count in every cycle; the memory holds the 58 bits above. A seventh bit of a\n\
         register says that the low bits came around: the counter calls. While one calls,\n\
         the turn goes from counter to counter, and each that calls is visited, which\n\
         adds 1 to its word. A counter that software asks for is visited out of turn.",
    )

    {
        pub in happens[counter in counters.iter()]: Bit(counter.1.clone()),
        pub in clear: Bit("all counters become 0; what happens in this cycle is not counted"),
        pub in ask: Bit("software reads a counter in two cycles; not set in the cycle after"),
        pub in place: Bits(PLACE, "its place"),
        pub out count: Bits(
            WIDTH, "the counter asked for two cycles ago, as it was before the cycle in between"
        ),
        pub out memory_upset: Bits(2, "wrong bits in the words read: 1, put right; 2, not") if code.is_some(),
        choice coded(code.is_some()), // the memory has a code
        pub reg low[counter in counters.iter()]: Bits(
            LOW + 1, 0, format!("low bits of the counter, and whether they came around: {}", counter.1)
        ),
        reg known[counter in counters.iter()]: Bit(
            false, format!("its word means anything: {}", counter.1)
        ),
        memory counts: Memory(
            PLACES as usize, WIDTH - LOW, code, "the bits above the registers, as they were last visited"
        ),
        constant place_of[counter in counters.iter()]: Bits(
            PLACE, counter.0.into(), format!("place of the counter: {}", counter.1)
        ),
        constant first_place: Bits(PLACE, first.into(), "place of the first counter"),
        constant last_place: Bits(PLACE, last.into(), "place of the last counter"),
        constant low_bits: Number(LOW, "low bits of a counter: that of its register that says that they came around"),
        constant low_mask: Bits(LOW + 1, (1 << LOW) - 1, "the low bits of a counter, in its register"),
        constant middle_bits: Number(WORD - LOW, "bits of its lower word above the register"),
        number _count(count),
        // First cycle: what to visit, and its register.
        pub reg turn: Bits(PLACE, first.into(), "whose turn it is"),
        pub reg asks: Bit(false, "software has asked for a counter in the cycle before"),
        reg asked: Bits(PLACE, 0, "its place"),
        local asks_now: Bit("it does in this cycle"),
        local address: Bits(PLACE, "the counter that is visited"),
        local calls[counter in counters.iter()]: Bit(format!("it is to be visited: {}", counter.1)),
        local called[_ in 0..count + 1]: Bit("a counter is to be visited, found so far"),
        local visited_else: Bit("the counter whose turn it is was visited a cycle ago, or is in the next cycle"),
        local here[counter in counters.iter()]: Bit(format!("it counts: {}", counter.1)),
        local visits[counter in counters.iter()]: Bit(format!("its word is read: {}", counter.1)),
        local low_here[counter in counters.iter()]: Bits(
            LOW + 1, format!("its register, if it counts: {}", counter.1)
        ),
        local lows[_ in 0..count + 1]: Bits(LOW + 1, "its register, found so far"),
        local knows[_ in 0..count + 1]: Bit("its word means anything, found so far"),
        local visits_now: Bit("a word is read"),
        local left[counter in counters.iter()]: Bits(
            LOW + 1, format!("its register without what a visit carries: {}", counter.1)
        ),
        // Second cycle: its word comes and goes back.
        pub reg visiting: Bit(false, "a counter is visited"),
        pub reg at: Bits(PLACE, 0, "its place"),
        reg low_then: Bits(LOW + 1, 0, "its register, as it was"),
        reg known_then: Bit(false, "its word means anything"),
        local around: Bit("its low bits came around"),
        local middle_then: Bits(WORD - LOW, "the bits of its lower word above the register, as stored"),
        local upper_then: Bits(WIDTH - WORD, "its upper word, as stored"),
        local carries: Bit("the lower word came around, too"),
        local middle: Bits(WORD - LOW, "the bits of its lower word above the register"),
        local upper: Bits(WIDTH - WORD, "its upper word"),
        local high: Bits(WIDTH - LOW, "all bits above the register"),
        // For the proofs (docs/evidence/proofs.md).
        property no_carry_lost(
            "Every counter that came around is visited before it can come around again."
        ),
        property carry_reaches_all(
            "The bits above the register grow by one if it came around, whatever words they are in."
        ),
        property carry_moves(
            "What a word gains, the register loses in the cycle in which the word is read, and else nothing."
        ),
        property no_word_read_while_written("No word is read in the cycle that writes it."),
        invariant turn_in_span("The turn goes to places from the first to the last."),
        invariant asks_apart("A counter that was asked for is not the one that is visited."),
        invariant visited_in_time(
            "The cycles for which a counter has called, and those until it is visited, are bounded."
        ),
        invariant counts_since("A counter that calls has counted one in each cycle since, at most."),
        reg since[counter in counters.iter()]: Bits(
            SINCE, 0, format!("cycles for which it has called: {}", counter.1)
        ),
        local counted[_ in 0..count]: Bits(SINCE, "its low bits"),
        local turn_from_first: Bits(PLACE, "places from the first to the turn"),
        local turns_taken: Bits(SINCE, "the same"),
        local turns_left[_ in 0..count]: Bits(SINCE, "turns before its own"),
        local own_turn: Bits(SINCE, "cycles from a turn to the visit, at most"),
        local cycles_left[_ in 0..count]: Bits(SINCE, "cycles until the visit, at most"),
        constant from_first[counter in counters.iter()]: Bits(
            SINCE,
            ((counter.0 + PLACES - first) % PLACES).into(),
            format!("places from the first: {}", counter.1)
        ),
        constant places: Bits(SINCE, places.into(), "places that are visited"),
        constant longest: Bits(SINCE, (2 * places + 2).into(), "longest time until the visit"),
    }
}

/// The first place, which ends the longest gap between two places, and how many there are from it to
/// the last.
fn span(counters: &[(u32, String)]) -> (u32, u32) {
    let taken = |place: u32| counters.iter().any(|(taken, _)| *taken == place % PLACES);
    let visited = |first: u32| (1..=PLACES).filter(|&it| taken(first + it - 1)).max();
    let firsts = (0..PLACES).filter(|&place| taken(place));
    let spans = firsts.filter_map(|first| Some((visited(first)?, first)));
    let (places, first) = spans.min().expect("there are counters");
    assert!(places <= MOST_VISITED, "{places} places to visit");
    (first, places)
}

pieces! {
    impl Logic for EventCounters {
        Turns,
        Visits,
        Counts,
        LowBits,
        Claims,
    }
}

/// Whose turn it is, and what software asks for.
impl Piece<Turns> for EventCounters {
    #[hdl_gen]
    fn update(&mut self) {
        self.called[0].next = false;
        for i in 0..self._count {
            self.calls[i].next = self.low[i].q.val().get_bit(self.low_bits.val());
            self.called[i + 1].next = self.called[i].val() | self.calls[i].val();
        }
        comment!(
            "What software asks for is visited in the next cycle, and the turns wait for it. A"
        );
        comment!("word that is being written is not read: that counter's turn is left out.");
        self.asks_now.next = self.ask.val() & !self.asks.q.val();
        self.asks.d.next = self.asks_now.val();
        if self.asks_now.val() {
            self.asked.d.next = self.place.val();
        }
        self.address.next = self.turn.q.val();
        if self.asks.q.val() {
            self.address.next = self.asked.q.val();
        } else {
            if self.called[self._count].val() {
                if self.turn.q.val() == self.last_place.val() {
                    self.turn.d.next = self.first_place.val();
                } else {
                    self.turn.d.next = self.turn.q.val() + 1;
                }
            }
        }
        self.visited_else.next = (self.asks_now.val() & (self.place.val() == self.turn.q.val()))
            | (self.visiting.q.val() & (self.at.q.val() == self.turn.q.val()));
        self.counts.read_address.next = self.address.val();
    }
}

/// The register of the counter that is visited.
impl Piece<Visits> for EventCounters {
    #[hdl_gen]
    fn update(&mut self) {
        comment!(
            "The register of the counter that is visited. What a clear finds on its way to the"
        );
        comment!("memory means nothing there: its counter is known no more.");
        self.lows[0].next = 0.into();
        self.knows[0].next = false;
        for i in 0..self._count {
            self.here[i].next = self.address.val() == self.place_of[i].val();
            self.visits[i].next = self.here[i].val()
                & (self.asks.q.val() | (self.calls[i].val() & !self.visited_else.val()));
            self.low_here[i].next = 0.into();
            if self.here[i].val() {
                self.low_here[i].next = self.low[i].q.val();
            }
            self.lows[i + 1].next = self.lows[i].val() | self.low_here[i].val();
            self.knows[i + 1].next =
                self.knows[i].val() | (self.here[i].val() & self.known[i].q.val());
        }
        self.visits_now.next = self.asks.q.val()
            | (self.lows[self._count].val().get_bit(self.low_bits.val())
                & !self.visited_else.val());
        self.visiting.d.next = self.visits_now.val();
        if self.visits_now.val() {
            self.at.d.next = self.address.val();
            self.low_then.d.next = self.lows[self._count].val();
        }
        self.known_then.d.next = self.visits_now.val() & self.knows[self._count].val();
    }
}

/// All bits of a counter, and those that go back into the memory.
impl Piece<Counts> for EventCounters {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("All its bits, and those that go back into the memory");
        self.around.next = self.low_then.q.val().get_bit(self.low_bits.val());
        comment!("The carry into the upper word is found beside the sum of the lower one.");
        self.middle_then.next = bit_cast(self.counts.read_data.val(), &self.middle_then);
        self.upper_then.next = bit_cast(
            self.counts.read_data.val() >> self.middle_bits.val(),
            &self.upper_then,
        );
        self.carries.next = self.around.val() & self.middle_then.val().all();
        if self.known_then.q.val() {
            self.middle.next = self.middle_then.val() + bit_cast(self.around.val(), &self.middle);
            self.upper.next = self.upper_then.val() + bit_cast(self.carries.val(), &self.upper);
        } else {
            self.middle.next = bit_cast(self.around.val(), &self.middle);
            self.upper.next = 0.into();
        }
        self.high.next = (bit_cast(self.upper.val(), &self.high) << self.middle_bits.val())
            | bit_cast(self.middle.val(), &self.high);
        self.count.next = (bit_cast(self.high.val(), 64) << self.low_bits.val())
            | bit_cast(self.low_then.q.val() & self.low_mask.val(), 64);
        self.counts.write_enable.next = self.visiting.q.val();
        self.counts.write_address.next = self.at.q.val();
        self.counts.write_data.next = self.high.val();
        if self.coded {
            self.counts.read_valid.next = self.known_then.q.val();
            self.memory_upset.next = self.counts.upset.val();
        }
    }
}

/// The low bits of every counter.
impl Piece<LowBits> for EventCounters {
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..self._count {
            self.left[i].next = self.low[i].q.val();
            if self.visits[i].val() {
                self.left[i].next = self.low[i].q.val() & self.low_mask.val();
            }
            if self.clear.val() {
                self.low[i].d.next = 0.into();
                self.known[i].d.next = false;
            } else {
                self.low[i].d.next = self.left[i].val();
                if self.happens[i].val() {
                    self.low[i].d.next = self.left[i].val() + 1;
                }
                if self.visits[i].val() {
                    self.known[i].d.next = true;
                }
            }
        }
    }
}

/// What the claims say.
impl Piece<Claims> for EventCounters {
    #[hdl_gen]
    fn update(&mut self) {
        self.carry_reaches_all.d.next = !self.known_then.q.val()
            | (self.high.val()
                == (self.counts.read_data.val() + bit_cast(self.around.val(), &self.high)));
        self.turn_from_first.next = self.turn.q.val() - self.first_place.val();
        self.turns_taken.next = bit_cast(self.turn_from_first.val(), &self.places);
        self.turn_in_span.d.next = self.turns_taken.val() < self.places.val();
        self.asks_apart.d.next =
            !(self.asks.q.val() & self.visiting.q.val() & (self.asked.q.val() == self.at.q.val()));
        self.no_word_read_while_written.d.next = !(self.visits_now.val()
            & self.visiting.q.val()
            & (self.address.val() == self.at.q.val()));
        comment!("Each turn may wait a cycle for software, as the visit itself may.");
        self.own_turn.next = bit_cast(self.asks.q.val(), &self.places) + 1;
        self.no_carry_lost.d.next = true;
        self.visited_in_time.d.next = true;
        self.counts_since.d.next = true;
        self.carry_moves.d.next = true;
        for i in 0..self._count {
            self.turns_left[i].next = self.from_first[i].val() - self.turns_taken.val();
            if self.from_first[i].val() < self.turns_taken.val() {
                self.turns_left[i].next =
                    (self.places.val() + self.from_first[i].val()) - self.turns_taken.val();
            }
            if self.visits[i].val() != (self.here[i].val() & self.visits_now.val()) {
                self.carry_moves.d.next = false;
            }
            self.cycles_left[i].next = (self.turns_left[i].val() << 1) + self.own_turn.val();
            if self.visits[i].val() {
                self.cycles_left[i].next = 0.into();
            }
            self.counted[i].next = self.low[i].q.val() & self.low_mask.val();
            self.since[i].d.next = 0.into();
            if self.calls[i].val() & !self.visits[i].val() & !self.clear.val() {
                self.since[i].d.next = self.since[i].q.val() + 1;
            }
            if self.low[i].q.val().all() & self.happens[i].val() & !self.visits[i].val() {
                self.no_carry_lost.d.next = self.clear.val();
            }
            if self.visiting.q.val()
                & (self.at.q.val() == self.place_of[i].val())
                & self.since[i].q.val().any()
            {
                self.visited_in_time.d.next = false;
            }
            if self.calls[i].val() {
                if (self.since[i].q.val() > self.longest.val())
                    | ((self.since[i].q.val() + self.cycles_left[i].val()) > self.longest.val())
                {
                    self.visited_in_time.d.next = false;
                }
                if self.counted[i].val() > self.since[i].q.val() {
                    self.counts_since.d.next = false;
                }
            }
        }
    }
}
