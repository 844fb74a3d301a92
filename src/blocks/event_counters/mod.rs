//! Counters of events, most of their bits in a memory.

#[cfg(test)]
mod tests;

use crate::hdl::prelude::*;

/// Width of a counter, in bits: at 1 GHz the time in a state overflows after 584 years.
pub const WIDTH: u32 = 64;

/// The low bits of a counter, which are a register.
pub const LOW: u32 = 6;

/// Bits of the lower of a counter's two words.
const WORD: u32 = 32;

/// Bits of a counter's place in the memory.
pub const PLACE: u32 = 5;

/// Places in the memory.
pub const PLACES: u32 = 1 << PLACE;

/// Bits of cycles between two visits, as the claims count them.
const SINCE: u32 = LOW + 2;

/// Most places from the first counter to the last: each is visited before its low bits come around
/// twice, even if software asks for a counter in every second cycle.
pub const MOST_VISITED: u32 = 30;

// A visit comes after two cycles for each place, and two more.
const _: () = assert!(2 * MOST_VISITED + 2 < 1 << LOW);

block! {
    /// Counters of 64 bits for events that may come in every cycle. The low six bits of each are a
    /// register. All bits are in a memory, as they were when the counter was visited last; one
    /// counter is visited in every cycle, in turn, and carries from its register into the rest.
    ///
    /// A counter that software asks for is visited out of turn, so that all its bits can be read at
    /// once.
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
         can count in every cycle. The memory holds all 64 bits of each as they were when\n\
         it was visited last. In every cycle one counter is visited, in turn: where the\n\
         register is less than the low bits in the memory, it came around once, which\n\
         carries into the rest. A counter that software asks for is visited out of turn.",
    )

    {
        pub in happens[counter in counters.iter()]: Bit(counter.1.clone()),
        pub in clear: Bit("all counters become 0; what happens in this cycle is not counted"),
        pub in ask: Bit("two cycles from now software reads a counter; not in cycles that follow"),
        pub in place: Bits(PLACE, "its place"),
        pub out count: Bits(
            WIDTH, "the counter asked for two cycles ago, as it was before the cycle in between"
        ),
        pub out memory_upset: Bits(2, "wrong bits in the words read: 1, put right; 2, not") if code.is_some(),
        choice coded(code.is_some()), // the memory has a code
        pub reg low[counter in counters.iter()]: Bits(
            LOW, 0, format!("low bits of the counter: {}", counter.1)
        ),
        reg known[counter in counters.iter()]: Bit(
            false, format!("its word means anything: {}", counter.1)
        ),
        memory counts: Memory(
            PLACES as usize, WIDTH, code, "the counters as they were last visited"
        ),
        constant place_of[counter in counters.iter()]: Bits(
            PLACE, counter.0.into(), format!("place of the counter: {}", counter.1)
        ),
        constant first_place: Bits(PLACE, first.into(), "place of the first counter"),
        constant last_place: Bits(PLACE, last.into(), "place of the last counter"),
        constant low_bits: Number(LOW, "bits of the register of a counter"),
        constant word_bits: Number(WORD, "bits of its lower word"),
        number _count(count),
        number _end(count + 1),
        // First cycle: what to visit, and its register.
        pub reg turn: Bits(PLACE, first.into(), "whose turn it is"),
        pub reg asks: Bit(false, "software has asked for a counter in the cycle before"),
        reg asked: Bits(PLACE, 0, "its place"),
        local asks_now: Bit("it does in this cycle"),
        local address: Bits(PLACE, "the counter that is visited"),
        local visited_else: Bit("it is visited in the cycle before or after"),
        local visits_now: Bit("a word is read"),
        local here[counter in counters.iter()]: Bit(format!("it counts: {}", counter.1)),
        local low_here[counter in counters.iter()]: Bits(
            LOW, format!("its register, if it counts: {}", counter.1)
        ),
        local lows[_ in 0..count + 1]: Bits(LOW, "its register, found so far"),
        local knows[_ in 0..count + 1]: Bit("its word means anything, found so far"),
        // Second cycle: its word comes and goes back.
        pub reg visiting: Bit(false, "a counter is visited"),
        pub reg at: Bits(PLACE, 0, "its place"),
        reg low_then: Bits(LOW, 0, "its register, as it was"),
        reg known_then: Bit(false, "its word means anything"),
        local around: Bit("its register came around since"),
        local middle_then: Bits(WORD - LOW, "the bits of its lower word above the register, as stored"),
        local upper_then: Bits(WIDTH - WORD, "its upper word, as stored"),
        local carries: Bit("the lower word came around, too"),
        local middle: Bits(WORD - LOW, "the bits of its lower word above the register"),
        local upper: Bits(WIDTH - WORD, "its upper word"),
        // For the proofs (docs/evidence/proofs.md).
        property no_carry_lost(
            "Every counter is visited before its register can come around twice."
        ),
        property carry_reaches_all(
            "The bits above the register grow by one if it came around, whatever words they are in."
        ),
        property no_word_read_while_written("No word is read in the cycle that writes it."),
        invariant turn_in_span("The turn goes to places from the first to the last."),
        invariant asks_apart("A counter that was asked for is not the one that is visited."),
        invariant visited_in_time(
            "The cycles since a counter was visited, and those until it will be, are bounded."
        ),
        reg since[counter in counters.iter()]: Bits(
            SINCE, 0, format!("cycles since the visit: {}", counter.1)
        ),
        local high_then: Bits(WIDTH - LOW, "the bits above the register, as stored"),
        local high: Bits(WIDTH - LOW, "the same, as they go back"),
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
        constant most: Bits(SINCE, (1 << LOW) - 1, "most that a register counts without a carry"),
        constant longest: Bits(SINCE, (2 * places + 2).into(), "longest time between two visits"),
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

impl Logic for EventCounters {
    #[hdl_gen]
    fn update(&mut self) {
        comment!(
            "What software asks for is visited in the next cycle, and the turns wait for it. A"
        );
        comment!("word that is being written is not read: that counter's turn is left out.");
        self.asks_now.next = self.ask.val() & !self.asks.q.val();
        self.asks.d.next = self.asks_now.val();
        self.asked.d.next = self.place.val();
        if self.asks.q.val() {
            self.address.next = self.asked.q.val();
        } else {
            self.address.next = self.turn.q.val();
            if self.turn.q.val() == self.last_place.val() {
                self.turn.d.next = self.first_place.val();
            } else {
                self.turn.d.next = self.turn.q.val() + 1;
            }
        }
        self.visited_else.next = (self.asks_now.val() & (self.place.val() == self.turn.q.val()))
            | (self.visiting.q.val() & (self.at.q.val() == self.turn.q.val()));
        self.visits_now.next = self.asks.q.val() | !self.visited_else.val();
        self.visiting.d.next = self.visits_now.val();
        self.at.d.next = self.address.val();
        self.counts.read_address.next = self.address.val();

        comment!(
            "The register of the counter that is visited. What a clear finds on its way to the"
        );
        comment!("memory means nothing there: its counter is known no more.");
        self.lows[0].next = 0.into();
        self.knows[0].next = false;
        for i in 0..self._count {
            self.here[i].next = self.address.val() == self.place_of[i].val();
            self.low_here[i].next = 0.into();
            if self.here[i].val() {
                self.low_here[i].next = self.low[i].q.val();
            }
            self.lows[i + 1].next = self.lows[i].val() | self.low_here[i].val();
            self.knows[i + 1].next =
                self.knows[i].val() | (self.here[i].val() & self.known[i].q.val());
        }
        for i in self._count..self._end {
            self.low_then.d.next = self.lows[i].val();
            self.known_then.d.next = self.visits_now.val() & self.knows[i].val();
        }

        comment!("All its bits, which go back into the memory");
        self.around.next =
            self.low_then.q.val() < bit_cast(self.counts.read_data.val(), &self.low_then);
        comment!("The carry into the upper word is found beside the sum of the lower one.");
        self.middle_then.next = bit_cast(
            self.counts.read_data.val() >> self.low_bits.val(),
            &self.middle_then,
        );
        self.upper_then.next = bit_cast(
            self.counts.read_data.val() >> self.word_bits.val(),
            &self.upper_then,
        );
        self.carries.next = self.around.val() & self.middle_then.val().all();
        self.middle.next = 0.into();
        self.upper.next = 0.into();
        if self.known_then.q.val() {
            self.middle.next = self.middle_then.val() + bit_cast(self.around.val(), &self.middle);
            self.upper.next = self.upper_then.val() + bit_cast(self.carries.val(), &self.upper);
        }
        self.count.next = (bit_cast(self.upper.val(), 64) << self.word_bits.val())
            | (bit_cast(self.middle.val(), 64) << self.low_bits.val())
            | bit_cast(self.low_then.q.val(), 64);
        self.counts.write_enable.next = self.visiting.q.val();
        self.counts.write_address.next = self.at.q.val();
        self.counts.write_data.next = self.count.val();
        if self.coded {
            self.counts.read_valid.next = self.known_then.q.val();
            self.memory_upset.next = self.counts.upset.val();
        }

        for i in 0..self._count {
            if self.clear.val() {
                self.low[i].d.next = 0.into();
                self.known[i].d.next = false;
            } else {
                if self.happens[i].val() {
                    self.low[i].d.next = self.low[i].q.val() + 1;
                }
                if self.visits_now.val() & self.here[i].val() {
                    self.known[i].d.next = true;
                }
            }
        }

        self.high_then.next = bit_cast(
            self.counts.read_data.val() >> self.low_bits.val(),
            &self.high_then,
        );
        self.high.next = bit_cast(self.count.val() >> self.low_bits.val(), &self.high);
        self.carry_reaches_all.d.next = !self.known_then.q.val()
            | (self.high.val() == (self.high_then.val() + bit_cast(self.around.val(), &self.high)));
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
        for i in 0..self._count {
            self.turns_left[i].next = self.from_first[i].val() - self.turns_taken.val();
            if self.from_first[i].val() < self.turns_taken.val() {
                self.turns_left[i].next =
                    (self.places.val() + self.from_first[i].val()) - self.turns_taken.val();
            }
            self.cycles_left[i].next = (self.turns_left[i].val() << 1) + self.own_turn.val();
            self.since[i].d.next = self.since[i].q.val() + 1;
            if self.visits_now.val() & self.here[i].val() {
                self.since[i].d.next = 1.into();
                self.cycles_left[i].next = 0.into();
            }
            if self.visiting.q.val()
                & (self.at.q.val() == self.place_of[i].val())
                & !(self.since[i].q.val() == 1)
            {
                self.visited_in_time.d.next = false;
            }
            if self.since[i].q.val() > self.most.val() {
                self.no_carry_lost.d.next = false;
            }
            if (self.since[i].q.val() > self.longest.val())
                | ((self.since[i].q.val() + self.cycles_left[i].val()) > self.longest.val())
            {
                self.visited_in_time.d.next = false;
            }
        }
    }
}
