//! Events that software learns of by an interrupt.

use super::layout::Request;
use super::map::{Field, Map};
use crate::blocks::axi_lite::DATA_WIDTH;
use crate::hdl::prelude::*;

/// The events of a port but for its error flags, which have a register of their own: the fields of
/// `events` that this configuration has.
pub(super) fn of(page: &Map) -> Vec<Field> {
    let events = page.register("events").fields.iter();
    events
        .filter(|field| field.access.writable())
        .cloned()
        .collect()
}

/// Bits of `events`, from the lowest to the highest that this configuration has.
pub(super) fn width(page: &Map) -> u32 {
    let last = page.register("events").fields.last();
    last.map_or(1, |last| last.low + last.width)
}

block! {
    /// A flag for each event, which software clears by writing 1; the interrupt is raised while one
    /// is set that software has enabled.
    pub struct Interrupts;

    /// Those of the registers of `page`.
    pub fn new(page: &Map) {
        let events = of(page);
        let count = events.len();
        let width = width(page);
        let enables = page.register("interrupt_enable").writable_bits();
    }

    {
        pub alias asked: Request(),
        pub in flags: Bits(width, "the register events"),
        pub in happens[event in events.iter()]: Bit(event.doc.clone()),
        pub reg enabled: Bits(width, 0, "the register interrupt_enable"),
        pub reg raised: Bit(false, "the interrupt"),
        pub reg happened[event in events.iter()]: Bit(false, event.doc.clone()),
        pub constant flag[event in events.iter()]: Bits(
            width, event.mask().into(), format!("events.{}", event.name)
        ),
        constant legal: Bits(DATA_WIDTH, enables.into(), "bits of interrupt_enable"),
        number _count(count),
    }
}

impl Logic for Interrupts {
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..self._count {
            if self.asked.is_write.val()
                & self.asked.is_events.val()
                & (bit_cast(self.asked.set_bits.val(), &self.flags) & self.flag[i].val()).any()
            {
                self.happened[i].d.next = false;
            }
            if self.happens[i].val() {
                self.happened[i].d.next = true;
            }
        }
        if self.asked.is_write.val() & self.asked.is_interrupt_enable.val() {
            self.enabled.d.next =
                bit_cast(self.asked.merged.val() & self.legal.val(), &self.enabled);
        }
        self.raised.d.next = (self.flags.val() & self.enabled.q.val()).any();
    }
}
