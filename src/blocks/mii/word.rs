//! What a word holds: sections of the shims.

use super::{filled, Mii, IDLE, LPI, START, TERMINATE};
use crate::hdl::prelude::*;

block! {
    /// A lane of a word.
    pub struct Lane;

    /// Lane `at` of an interface.
    pub fn new(mii: Mii, at: u32) {}

    {
        pub in data: Bits(8 * mii.lanes(), "bytes of the word"),
        pub in control: Bits(mii.lanes(), "control bits of the word"),
        constant data_place: Number(8 * at, format!("lowest bit of lane {at}")),
        constant control_place: Number(at, format!("control bit of lane {at}")),
        constant end_character: Bits(8, TERMINATE.into(), "the end of a frame"),
        constant lpi_character: Bits(8, LPI.into(), "low power idle"),
        pub local content: Bits(8, format!("byte of lane {at}")),
        pub local is_control: Bit(format!("lane {at} has a control character")),
        pub local ends: Bit(format!("a frame ends in lane {at}")),
        pub local lpi: Bit(format!("lane {at} has LPI")),
    }
}

impl Logic for Lane {
    #[hdl_gen]
    fn update(&mut self) {
        self.content.next = bit_cast(self.data.val() >> self.data_place.val(), 8);
        self.is_control.next = self.control.val().get_bit(self.control_place.val());
        self.ends.next = self.is_control.val() & (self.content.val() == self.end_character.val());
        self.lpi.next = self.is_control.val() & (self.content.val() == self.lpi_character.val());
    }
}

block! {
    /// A column of a word, and whether a frame is under way behind it.
    pub struct Column;

    /// Column `at` of an interface.
    pub fn new(mii: Mii, at: u32) {
        let lanes = mii.column();
        let first = at * lanes;
    }

    {
        pub in data: Bits(8 * mii.lanes(), "bytes of the word"),
        pub in control: Bits(mii.lanes(), "control bits of the word"),
        pub in was_open: Bit("a frame is under way before the column"),
        number _lanes(lanes as usize),
        constant data_place: Number(8 * first, format!("lowest data bit of column {at}")),
        constant control_place: Number(first, format!("lowest control bit of column {at}")),
        constant start_character: Bits(8, START.into(), "the start of a frame"),
        constant idle_lanes: Bits(8 * lanes, filled(lanes, IDLE), "idle in every lane"),
        constant lpi_lanes: Bits(8 * lanes, filled(lanes, LPI), "LPI in every lane"),
        pub named lanes[lane in 0..lanes]: Lane(mii, first + lane),
        local bytes: Bits(8 * lanes, format!("bytes of column {at}")),
        local all_control: Bit(format!("column {at} has control characters alone")),
        local ended[_ in 0..=lanes]: Bit("a frame ends in the lanes below"),
        local some_lpi[_ in 0..=lanes]: Bit("there is LPI in the lanes below"),
        local ends: Bit(format!("a frame ends in column {at}")),
        pub local starts: Bit(format!("a frame starts in column {at}")),
        pub local idle: Bit(format!("column {at} is idle")),
        pub local lpi: Bit(format!("column {at} is LPI")),
        pub local has_lpi: Bit(format!("column {at} has LPI in some lane")),
        pub local open: Bit(format!("a frame is under way behind column {at}")),
        pub local carries: Bit(format!("column {at} has a part of a frame")),
    }
}

impl Logic for Column {
    #[hdl_gen]
    fn update(&mut self) {
        self.ended[0].next = false;
        self.some_lpi[0].next = false;
        for i in 0..self._lanes {
            self.lanes[i].data.next = self.data.val();
            self.lanes[i].control.next = self.control.val();
            self.ended[i + 1].next = self.ended[i].val() | self.lanes[i].ends.val();
            self.some_lpi[i + 1].next = self.some_lpi[i].val() | self.lanes[i].lpi.val();
        }
        self.ends.next = self.ended[self._lanes].val();
        self.has_lpi.next = self.some_lpi[self._lanes].val();
        self.bytes.next = bit_cast(self.data.val() >> self.data_place.val(), &self.bytes);
        self.all_control.next =
            bit_cast(self.control.val() >> self.control_place.val(), self._lanes).all();
        self.starts.next = self.lanes[0].is_control.val()
            & (self.lanes[0].content.val() == self.start_character.val());
        self.idle.next = self.all_control.val() & (self.bytes.val() == self.idle_lanes.val());
        self.lpi.next = self.all_control.val() & (self.bytes.val() == self.lpi_lanes.val());
        comment!("A column of idle or LPI ends a frame that was broken off.");
        self.open.next = (self.was_open.val() | self.starts.val())
            & !self.ends.val()
            & !self.idle.val()
            & !self.lpi.val();
        self.carries.next =
            (self.was_open.val() & !self.idle.val() & !self.lpi.val()) | self.starts.val();
    }
}

block! {
    /// What a word holds, and the frame under way from one word to the next.
    pub struct Word;

    /// A word of an interface.
    pub fn new(mii: Mii) {
        let columns = mii.columns();
    }

    {
        pub in data: Bits(8 * mii.lanes(), "bytes of the word"),
        pub in control: Bits(mii.lanes(), "control bits of the word"),
        number _columns(columns as usize),
        pub named columns[at in 0..columns]: Column(mii, at),
        pub reg in_frame: Bit(false, "the word before ended within a frame"),
        pub local open[_ in 0..=columns]: Bit("a frame is under way behind the columns before"),
        local started[_ in 0..=columns]: Bit("a frame starts in the columns before"),
        local carried[_ in 0..=columns]: Bit("the columns before have a part of a frame"),
        local idled[_ in 0..=columns]: Bit("the columns before are idle"),
        pub local starts: Bit("a frame starts in the word"),
        pub local carries: Bit("the word has a frame, or a part of one"),
        pub local idle: Bit("the word is idle in every lane"),
        pub local in_frame_next: Bit("the word ends within a frame"),
    }
}

impl Logic for Word {
    #[hdl_gen]
    fn update(&mut self) {
        self.open[0].next = self.in_frame.q.val();
        self.started[0].next = false;
        self.carried[0].next = false;
        self.idled[0].next = true;
        for i in 0..self._columns {
            self.columns[i].data.next = self.data.val();
            self.columns[i].control.next = self.control.val();
            self.columns[i].was_open.next = self.open[i].val();
            self.open[i + 1].next = self.columns[i].open.val();
            self.started[i + 1].next = self.started[i].val() | self.columns[i].starts.val();
            self.carried[i + 1].next = self.carried[i].val() | self.columns[i].carries.val();
            self.idled[i + 1].next = self.idled[i].val() & self.columns[i].idle.val();
        }
        self.in_frame_next.next = self.open[self._columns].val();
        self.starts.next = self.started[self._columns].val();
        self.carries.next = self.carried[self._columns].val();
        self.idle.next = self.idled[self._columns].val();
        self.in_frame.d.next = self.in_frame_next.val();
    }
}
