//! One step of a multiplication: that of the correction, and that of PerfBound's budget.

use crate::hdl::prelude::*;

/// Bits of a digit.
pub const DIGIT: u32 = 2;

/// Bits that a step needs beside the factor's: the product is below 8/3 of it, with a sign, and there is one
/// for the carry.
pub const STEP_BITS: u32 = 4;

block! {
    /// Multiplies the lowest digit of the multiplier and adds it to the product. In base 4, with
    /// digits -1, 0, 1 and 2, no multiple of the factor needs an adder of its own; a digit of 3
    /// is -1 and a carry. The lowest digit comes first, so that the adder is no wider than the
    /// factor: what the product shifts out is final.
    pub struct DigitStep;

    /// A step for a factor and a multiplier of so many bits.
    pub fn new(factor: u32, multiplier: u32) {
        let product = factor + 1;
        let total = factor + STEP_BITS;
    }

    about(
        "digit_step",
        "Multiplies the lowest two bits of the multiplier, adds that to the product and\n\
         moves both down: what the product shifts out is final and goes into the\n\
         multiplier from above. A digit of 3 counts as -1 and carries, so that every\n\
         multiple of the factor is the factor itself, moved up or inverted."
            .to_owned(),
    )

    {
        pub in factor: Bits(factor, "factor"),
        pub in product: Bits(product, "upper part of the product, two's complement"),
        pub in multiplier: Bits(multiplier, "digits left, above them the product's"),
        pub in carry: Bit("1 more in the lowest digit"),
        pub out next_product: Bits(product, "the product with the digit"),
        pub out next_multiplier: Bits(multiplier, "the digits left then"),
        pub out next_carry: Bit("1 more in the lowest of them"),
        local low: Bit("lower bit of the digit"),
        local high: Bit("upper bit of the digit"),
        local odd: Bit("the digit is 1 or -1"),
        local other: Bit("it is -1, or 2"),
        local multiple: Bits(total, "digit times factor, with a bit below for the carry"),
        local extended: Bits(total, "the product, as wide as that"),
        local total: Bits(total, "both, with the bit for the carry"),
        constant lowest: Number(0, "place of the lower bit"),
        constant second: Number(1, "place of the upper bit"),
        constant digits_above: Number(multiplier - DIGIT, "bits of the other digits"),
        constant extension: Bits(total, 0xf << factor, "sign of a negative product"),
        constant sign_at: Number(factor, "place of the product's sign"),
    }
}

impl Logic for DigitStep {
    #[hdl_gen]
    fn update(&mut self) {
        self.low.next = self.multiplier.val().get_bit(self.lowest.val());
        self.high.next = self.multiplier.val().get_bit(self.second.val());
        self.odd.next = self.low.val() ^ self.carry.val();
        self.other.next = self.high.val() ^ (self.low.val() & self.carry.val());
        self.next_carry.next = self.high.val() & (self.low.val() | self.carry.val());

        comment!("-x is ~x + 1, and two 1s below carry.");
        if self.odd.val() {
            if self.other.val() {
                self.multiple.next = (!bit_cast(self.factor.val(), &self.multiple) << 1) | 1;
            } else {
                self.multiple.next = bit_cast(self.factor.val(), &self.multiple) << 1;
            }
        } else {
            if self.other.val() {
                self.multiple.next = bit_cast(self.factor.val(), &self.multiple) << 2;
            } else {
                self.multiple.next = 0.into();
            }
        }
        self.extended.next = bit_cast(self.product.val(), &self.extended);
        if self.product.val().get_bit(self.sign_at.val()) {
            self.extended.next =
                bit_cast(self.product.val(), &self.extended) | self.extension.val();
        }
        self.total.next = ((self.extended.val() << 1) | 1) + self.multiple.val();
        self.next_product.next = bit_cast(self.total.val() >> 3, &self.next_product);
        self.next_multiplier.next = (self.multiplier.val() >> 2)
            | (bit_cast(bit_cast(self.total.val() >> 1, 2), &self.next_multiplier)
                << self.digits_above.val());
    }
}
