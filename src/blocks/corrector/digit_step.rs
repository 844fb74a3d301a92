//! One step of the correction's multiplication.

use crate::blocks::fixed_point::DIGIT_BITS;
use crate::hdl::prelude::*;

/// Multiplies the lowest digit of the multiplier and adds it to the product. In base 4, with
/// digits -1, 0, 1 and 2, no multiple of the factor needs an adder of its own; a digit of 3
/// is -1 and a carry.
#[derive(LogicBlock)]
pub struct DigitStep {
    about: About,
    pub factor: Signal<In, Bits>,
    pub product: Signal<In, Bits>,
    pub multiplier: Signal<In, Bits>,
    pub carry: Signal<In, Bit>,
    pub next_product: Signal<Out, Bits>,
    pub next_multiplier: Signal<Out, Bits>,
    pub next_carry: Signal<Out, Bit>,
    low: Signal<Local, Bit>,
    high: Signal<Local, Bit>,
    odd: Signal<Local, Bit>,
    other: Signal<Local, Bit>,
    multiple: Signal<Local, Bits>,
    extended: Signal<Local, Bits>,
    total: Signal<Local, Bits>,
    lowest: Constant<Bits>,
    second: Constant<Bits>,
    digits_above: Constant<Bits>,
    extension: Constant<Bits>,
    sign_at: Constant<Bits>,
    _multiplier_bits: usize,
    _product_bits: usize,
    _total_bits: usize,
}

impl DigitStep {
    /// A step for a factor and a multiplier of so many bits.
    pub fn new(factor: u32, multiplier: u32) -> Self {
        let product = factor + 1;
        let total = factor + DIGIT_BITS;
        let amount =
            |value: u32, doc: &str| Constant::bits(clog2(u128::from(value) + 1), value.into(), doc);
        DigitStep {
            about: About::new(
                "digit_step",
                "Multiplies the lowest two bits of the multiplier, adds that to the product and\n\
                 moves both down: what the product shifts out is final and goes into the\n\
                 multiplier from above. A digit of 3 counts as -1 and carries, so that every\n\
                 multiple of the factor is the factor itself, moved up or inverted."
                    .to_owned(),
            ),
            factor: Signal::bits(factor, "factor"),
            product: Signal::bits(product, "upper part of the product, two's complement"),
            multiplier: Signal::bits(multiplier, "digits left, above them the product's"),
            carry: Signal::bit("1 more in the lowest digit"),
            next_product: Signal::bits(product, "the product with the digit"),
            next_multiplier: Signal::bits(multiplier, "the digits left then"),
            next_carry: Signal::bit("1 more in the lowest of them"),
            low: Signal::bit("lower bit of the digit"),
            high: Signal::bit("upper bit of the digit"),
            odd: Signal::bit("the digit is 1 or -1"),
            other: Signal::bit("it is -1, or 2"),
            multiple: Signal::bits(total, "digit times factor, with a bit below for the carry"),
            extended: Signal::bits(total, "the product, as wide as that"),
            total: Signal::bits(total, "both, with the bit for the carry"),
            lowest: amount(0, "place of the lower bit"),
            second: amount(1, "place of the upper bit"),
            digits_above: amount(multiplier - 2, "bits of the other digits"),
            extension: Constant::bits(total, 0xf << factor, "sign of a negative product"),
            sign_at: amount(factor, "place of the product's sign"),
            _multiplier_bits: multiplier as usize,
            _product_bits: product as usize,
            _total_bits: total as usize,
        }
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
                self.multiple.next = (!bit_cast(self.factor.val(), self._total_bits) << 1) | 1;
            } else {
                self.multiple.next = bit_cast(self.factor.val(), self._total_bits) << 1;
            }
        } else {
            if self.other.val() {
                self.multiple.next = bit_cast(self.factor.val(), self._total_bits) << 2;
            } else {
                self.multiple.next = 0.into();
            }
        }
        self.extended.next = bit_cast(self.product.val(), self._total_bits);
        if self.product.val().get_bit(self.sign_at.val()) {
            self.extended.next =
                bit_cast(self.product.val(), self._total_bits) | self.extension.val();
        }
        self.total.next = ((self.extended.val() << 1) | 1) + self.multiple.val();
        self.next_product.next = bit_cast(self.total.val() >> 3, self._product_bits);
        self.next_multiplier.next = (self.multiplier.val() >> 2)
            | (bit_cast(bit_cast(self.total.val() >> 1, 2), self._multiplier_bits)
                << self.digits_above.val());
    }
}
