//! One step of the correction's division.

use crate::hdl::prelude::*;

block! {
    /// Finds the next two bits of the quotient. The differences to one, two and three times the
    /// divisor stand beside each other: no bit waits for the one above it.
    pub struct QuotientStep;

    /// A step for a divisor of so many bits.
    pub fn new(divisor: u32) {
        // Below four times the divisor, and a sign.
        let wide = divisor + 3;
    }

    about(
        "quotient_step",
        "Moves the remainder up by the next two bits of the dividend and takes as many\n\
         divisors out as fit: that is the next base-4 digit of the quotient.",
    )

    {
        pub in remainder: Bits(divisor, "remainder"),
        pub in digit: Bits(2, "next two bits of the dividend"),
        pub in divisor: Bits(divisor, "divisor"),
        pub in thrice: Bits(divisor + 2, "three times that"),
        pub out next_remainder: Bits(divisor, "what is left"),
        pub out quotient: Bits(2, "next two bits of the quotient"),
        local dividend: Bits(wide, "remainder and the two bits"),
        local less_one: Bits(wide, "that less the divisor, two's complement"),
        local less_two: Bits(wide, "that less twice the divisor, two's complement"),
        local less_three: Bits(wide, "that less three times the divisor, two's complement"),
        constant sign_at: Bits(clog2(u128::from(wide)), u128::from(wide) - 1, "place of the sign"),
    }
}

impl Logic for QuotientStep {
    #[hdl_gen]
    fn update(&mut self) {
        self.dividend.next = (bit_cast(self.remainder.val(), &self.dividend) << 2)
            | bit_cast(self.digit.val(), &self.dividend);
        self.less_one.next = self.dividend.val() - bit_cast(self.divisor.val(), &self.less_one);
        self.less_two.next =
            self.dividend.val() - (bit_cast(self.divisor.val(), &self.less_two) << 1);
        self.less_three.next = self.dividend.val() - bit_cast(self.thrice.val(), &self.less_three);
        if self.less_two.val().get_bit(self.sign_at.val()) {
            if self.less_one.val().get_bit(self.sign_at.val()) {
                self.quotient.next = 0.into();
                self.next_remainder.next = bit_cast(self.dividend.val(), &self.next_remainder);
            } else {
                self.quotient.next = 1.into();
                self.next_remainder.next = bit_cast(self.less_one.val(), &self.next_remainder);
            }
        } else {
            if self.less_three.val().get_bit(self.sign_at.val()) {
                self.quotient.next = 2.into();
                self.next_remainder.next = bit_cast(self.less_two.val(), &self.next_remainder);
            } else {
                self.quotient.next = 3.into();
                self.next_remainder.next = bit_cast(self.less_three.val(), &self.next_remainder);
            }
        }
    }
}
