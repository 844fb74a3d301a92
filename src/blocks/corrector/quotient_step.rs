//! One step of the correction's division.

use crate::hdl::prelude::*;

/// Finds the next two bits of the quotient. The differences to one, two and three times the
/// divisor stand beside each other: no bit waits for the one above it.
#[derive(LogicBlock)]
pub struct QuotientStep {
    about: About,
    pub remainder: Signal<In, Bits>,
    pub digit: Signal<In, Bits>,
    pub divisor: Signal<In, Bits>,
    pub thrice: Signal<In, Bits>,
    pub next_remainder: Signal<Out, Bits>,
    pub quotient: Signal<Out, Bits>,
    dividend: Signal<Local, Bits>,
    less_one: Signal<Local, Bits>,
    less_two: Signal<Local, Bits>,
    less_three: Signal<Local, Bits>,
    sign_at: Constant<Bits>,
    _divisor_bits: usize,
    _wide_bits: usize,
}

impl QuotientStep {
    /// A step for a divisor of so many bits.
    pub fn new(divisor: u32) -> Self {
        // Below four times the divisor, and a sign.
        let wide = divisor + 3;
        let difference = |to: &str| Signal::bits(wide, format!("that less {to}, two's complement"));
        QuotientStep {
            about: About::new(
                "quotient_step",
                "Moves the remainder up by the next two bits of the dividend and takes as many\n\
                 divisors out as fit: that is the next base-4 digit of the quotient."
                    .to_owned(),
            ),
            remainder: Signal::bits(divisor, "remainder"),
            digit: Signal::bits(2, "next two bits of the dividend"),
            divisor: Signal::bits(divisor, "divisor"),
            thrice: Signal::bits(divisor + 2, "three times that"),
            next_remainder: Signal::bits(divisor, "what is left"),
            quotient: Signal::bits(2, "next two bits of the quotient"),
            dividend: Signal::bits(wide, "remainder and the two bits"),
            less_one: difference("the divisor"),
            less_two: difference("twice the divisor"),
            less_three: difference("three times the divisor"),
            sign_at: Constant::bits(
                clog2(u128::from(wide)),
                u128::from(wide) - 1,
                "place of the sign",
            ),
            _divisor_bits: divisor as usize,
            _wide_bits: wide as usize,
        }
    }
}

impl Logic for QuotientStep {
    #[hdl_gen]
    fn update(&mut self) {
        self.dividend.next = (bit_cast(self.remainder.val(), self._wide_bits) << 2)
            | bit_cast(self.digit.val(), self._wide_bits);
        self.less_one.next = self.dividend.val() - bit_cast(self.divisor.val(), self._wide_bits);
        self.less_two.next =
            self.dividend.val() - (bit_cast(self.divisor.val(), self._wide_bits) << 1);
        self.less_three.next = self.dividend.val() - bit_cast(self.thrice.val(), self._wide_bits);
        if self.less_two.val().get_bit(self.sign_at.val()) {
            if self.less_one.val().get_bit(self.sign_at.val()) {
                self.quotient.next = 0.into();
                self.next_remainder.next = bit_cast(self.dividend.val(), self._divisor_bits);
            } else {
                self.quotient.next = 1.into();
                self.next_remainder.next = bit_cast(self.less_one.val(), self._divisor_bits);
            }
        } else {
            if self.less_three.val().get_bit(self.sign_at.val()) {
                self.quotient.next = 2.into();
                self.next_remainder.next = bit_cast(self.less_two.val(), self._divisor_bits);
            } else {
                self.quotient.next = 3.into();
                self.next_remainder.next = bit_cast(self.less_three.val(), self._divisor_bits);
            }
        }
    }
}
