//! One step of the logarithm's priority encoder.

use crate::hdl::prelude::*;

block! {
    /// One step of a search for the highest 1: finds out whether it is among the top bits, and
    /// moves the value up if it is not.
    pub struct Normalise;

    /// Step number `step`, from 0, of `steps`, which find a bit of the whole part each: it takes
    /// a value of `width` bits and leaves one of `left` bits. The first is told whether its top
    /// bits, half of all, hold a 1. What it drops is the lowest bits, and of the last step's
    /// result the highest, which is known to be 1.
    pub fn new(width: u32, left: u32, step: u32, steps: u32) {
        let span = 1 << (steps - 1 - step);
        let drops = width - left;
        let kept = left - u32::from(step + 1 == steps);
    }

    about(
        format!("normalise_{span}"),
        format!(
            "Moves a value up by {span} bits if its top {span} bits are 0, and says so\n\
             in the lowest bit of the whole part of its logarithm."
        ),
    )

    {
        pub in value: Bits(width, "value"),
        pub in exponent: Bits(step.max(1), "whole part of the logarithm so far") if step > 0,
        pub in upper: Bit("one of the upper half of its bits is 1") if step == 0,
        pub out normalised: Bits(kept, "the value, moved"),
        pub out whole: Bits(step + 1, "the whole part with this step's bit"),
        local among_top: Bit("the highest 1 is among the top bits"),
        constant below_top: Number(width - span, "bits below the top bits"),
        choice goes_on(step > 0), // a step came before
        constant drops: Number(drops, "low bits that no later step needs"),
        choice moves_up(span >= drops), // the move is longer than the drop
        constant up: Number(span.saturating_sub(drops), "move up, less the drop"),
        constant down: Number(drops.saturating_sub(span), "drop, less the move up"),
    }
}

impl Logic for Normalise {
    #[hdl_gen]
    fn update(&mut self) {
        if self.goes_on {
            self.among_top.next = (self.value.val() >> self.below_top.val()).any();
        } else {
            self.among_top.next = self.upper.val();
        }
        if self.among_top.val() {
            self.normalised.next = bit_cast(self.value.val() >> self.drops.val(), &self.normalised);
        } else {
            if self.moves_up {
                self.normalised.next =
                    bit_cast(self.value.val() << self.up.val(), &self.normalised);
            } else {
                self.normalised.next =
                    bit_cast(self.value.val() >> self.down.val(), &self.normalised);
            }
        }
        if self.goes_on {
            self.whole.next = (bit_cast(self.exponent.val(), &self.whole) << 1)
                | bit_cast(self.among_top.val(), &self.whole);
        } else {
            self.whole.next = bit_cast(self.among_top.val(), &self.whole);
        }
    }
}
