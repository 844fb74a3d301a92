//! One step of the logarithm's priority encoder.

use crate::hdl::prelude::*;

/// One step of a search for the highest 1: finds out whether it is among the top bits, and
/// moves the value up if it is not.
#[derive(LogicBlock)]
pub struct Normalise {
    about: About,
    pub value: Signal<In, Bits>,
    pub exponent: Optional<Signal<In, Bits>>,
    pub upper: Optional<Signal<In, Bit>>,
    pub normalised: Signal<Out, Bits>,
    pub whole: Signal<Out, Bits>,
    among_top: Signal<Local, Bit>,
    below_top: Constant<Bits>,
    goes_on: Constant<Bit>,
    drops: Constant<Bits>,
    moves_up: Constant<Bit>,
    up: Constant<Bits>,
    down: Constant<Bits>,
    _kept_bits: usize,
    _whole_bits: usize,
}

impl Normalise {
    /// A step that moves by `span` bits; `found` bits of the whole part come from the steps
    /// before. The first step is told whether its top bits, half of all, hold a 1. Of the `width` bits of the value the lowest `drops` are dropped, and of a
    /// last step's result the highest, which is known to be 1.
    pub fn new(width: u32, span: u32, found: u32, drops: u32, last: bool) -> Self {
        let kept = width - drops - u32::from(last);
        let amount =
            |value: u32, doc: &str| Constant::bits(clog2(u128::from(value) + 1), value.into(), doc);
        Normalise {
            about: About::new(
                format!("normalise_{span}"),
                format!(
                    "Moves a value up by {span} bits if its top {span} bits are 0, and says so\n\
                     in the lowest bit of the whole part of its logarithm."
                ),
            ),
            value: Signal::bits(width, "value"),
            exponent: Optional::when(
                found > 0,
                Signal::bits(found.max(1), "whole part of the logarithm so far"),
            ),
            upper: Optional::when(
                found == 0,
                Signal::bit("one of the upper half of its bits is 1"),
            ),
            normalised: Signal::bits(kept, "the value, moved"),
            whole: Signal::bits(found + 1, "the whole part with this step's bit"),
            among_top: Signal::bit("the highest 1 is among the top bits"),
            below_top: amount(width - span, "bits below the top bits"),
            goes_on: Constant::bit(found > 0, "a step came before"),
            drops: amount(drops, "low bits that no later step needs"),
            moves_up: Constant::bit(span >= drops, "the move is longer than the drop"),
            up: amount(span.saturating_sub(drops), "move up, less the drop"),
            down: amount(drops.saturating_sub(span), "drop, less the move up"),
            _kept_bits: kept as usize,
            _whole_bits: found as usize + 1,
        }
    }
}

impl Logic for Normalise {
    #[hdl_gen]
    fn update(&mut self) {
        if self.goes_on.val() {
            self.among_top.next = (self.value.val() >> self.below_top.val()).any();
        } else {
            self.among_top.next = self.upper.val();
        }
        if self.among_top.val() {
            self.normalised.next = bit_cast(self.value.val() >> self.drops.val(), self._kept_bits);
        } else {
            if self.moves_up.val() {
                self.normalised.next = bit_cast(self.value.val() << self.up.val(), self._kept_bits);
            } else {
                self.normalised.next =
                    bit_cast(self.value.val() >> self.down.val(), self._kept_bits);
            }
        }
        if self.goes_on.val() {
            self.whole.next = (bit_cast(self.exponent.val(), self._whole_bits) << 1)
                | bit_cast(self.among_top.val(), self._whole_bits);
        } else {
            self.whole.next = bit_cast(self.among_top.val(), self._whole_bits);
        }
    }
}
