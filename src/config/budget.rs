//! The constants of the packet budget `N = floor(l * X / t_w)` (SPEC 7.3).

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};

use super::plan::{BudgetPlan, Product, RatePlan};

/// Significant bits that SPEC 7.3 asks of `k`.
const SIGNIFICANT_BITS: u64 = 16;

/// Why no pair of constants exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BudgetError {
    /// No shift gives the exact floor within a product of 128 bits.
    #[error(
        "the packet budget l * X / t_w needs numbers of more than 128 bits to be exact for \
         every X up to {largest_window} ticks"
    )]
    TooFine {
        /// The largest `X` in ticks.
        largest_window: u64,
    },
    /// The largest `N` does not fit 64 bits.
    #[error(
        "the packet budget l * X / t_w needs more than 64 bits for X = {largest_window} ticks"
    )]
    TooLarge {
        /// The largest `X` in ticks.
        largest_window: u64,
    },
}

impl BudgetPlan {
    /// The constants of a controller that has no use for a budget.
    pub const UNUSED: BudgetPlan = BudgetPlan {
        numerator: 0,
        denominator: 1,
        product: None,
        width: 1,
        step_ticks: 1,
        rate: None,
    };

    /// The constants for `rate`, `l / t_w` in packets per tick, which is positive, and for
    /// windows of at most `largest_window` ticks; those of the multiplication too if the
    /// controller `multiplies`.
    ///
    /// # Errors
    /// If the numbers do not fit 128 bits, or the largest `N` 64 bits.
    pub fn new(
        rate: &BigRational,
        largest_window: u64,
        multiplies: bool,
    ) -> Result<BudgetPlan, BudgetError> {
        let window = BigInt::from(largest_window);
        if !rate.is_positive() {
            return Err(BudgetError::TooFine { largest_window });
        }
        let width = (rate * &window).floor().to_integer().bits().max(1);
        if width > 64 {
            return Err(BudgetError::TooLarge { largest_window });
        }
        let too_fine = BudgetError::TooFine { largest_window };
        if (rate.numer() * &window).bits() > 128 || rate.denom().bits() > 127 {
            return Err(too_fine);
        }
        let (Some(numerator), Some(denominator)) = (rate.numer().to_u128(), rate.denom().to_u128())
        else {
            return Err(too_fine);
        };
        Ok(BudgetPlan {
            numerator,
            denominator,
            product: match multiplies {
                true => Some(Product::new(rate, largest_window)?),
                false => None,
            },
            // `width` is at most 64.
            width: width as u32,
            step_ticks: 1,
            rate: None,
        })
    }

    /// As [`BudgetPlan::new`], for a controller whose `l` and `t_w` change while it runs:
    /// `rate` is in force until they first do, and the widths are those of the largest.
    ///
    /// # Errors
    /// As there.
    pub fn adjustable(
        rate: &BigRational,
        largest_window: u64,
        parts: &Adjustable,
    ) -> Result<BudgetPlan, BudgetError> {
        let too_fine = || BudgetError::TooFine { largest_window };
        let plan = BudgetPlan::new(rate, largest_window, true)?;
        let product = plan.product.ok_or_else(too_fine)?;
        let fixed = |value: &BigRational, fraction: u32| {
            (value * (BigInt::one() << fraction))
                .round()
                .to_u32()
                .unwrap_or(u32::MAX)
        };
        let halvings = parts.clocks_per_tick.trailing_zeros();
        let plan_of_rate = RatePlan {
            bound: fixed(&parts.bound, 32),
            hop_factor: fixed(&parts.hop_factor, 31),
            measures: parts.measures,
            scale: parts.clocks_per_tick >> halvings,
            // Neither has more than seven bits.
            exponent: (product.s + halvings) as i32 - 63,
            t_w_bits: (u64::BITS - (parts.longest_t_w - 1).leading_zeros()).max(1),
            width: 1,
        };
        let (bits, steps) = (plan_of_rate.product_bits(), plan_of_rate.quotient_steps());
        if !(1..=128).contains(&steps) || bits > 128 {
            return Err(too_fine());
        }
        // A bound below 1 and one link to every destination.
        let largest = (BigInt::from(u32::MAX) << 31u32) * plan_of_rate.scale;
        let largest = BigRational::from(largest << steps)
            / BigRational::from(BigInt::from(parts.shortest_t_w) << bits);
        let largest = (largest.ceil().to_integer().to_u128())
            .ok_or_else(too_fine)?
            .max(product.k);
        let width = 128 - largest.leading_zeros();
        // The quotient takes the place of the product, and is doubled twice to be rounded.
        if width + 2 > bits {
            return Err(too_fine());
        }
        let most = BigInt::from(largest) * largest_window;
        if most.bits() > 128 {
            return Err(too_fine());
        }
        let budget_width = (most >> product.s).bits().max(1);
        if budget_width > 64 {
            return Err(BudgetError::TooLarge { largest_window });
        }
        Ok(BudgetPlan {
            // At most 64.
            width: budget_width as u32,
            rate: Some(RatePlan {
                width,
                ..plan_of_rate
            }),
            ..plan
        })
    }
}

/// What the rate of an adjustable budget is made of.
#[derive(Clone, Debug)]
pub struct Adjustable {
    /// The admitted degradation, below 1.
    pub bound: BigRational,
    /// `sum(p_i / h_i)`, at most 1.
    pub hop_factor: BigRational,
    /// The hop factor is measured.
    pub measures: bool,
    /// Clock cycles in a tick.
    pub clocks_per_tick: u64,
    /// The shortest `t_w` that there can be, in clock cycles.
    pub shortest_t_w: u64,
    /// The longest, in clock cycles.
    pub longest_t_w: u64,
}

impl Product {
    /// The smallest `s` for which `k = round(rate * 2^s)` has at least 16 significant
    /// bits, is not below `rate * 2^s`, and gives the exact floor for every window up to
    /// `largest_window` ticks.
    ///
    /// Why the floor is exact: with `rate = a/b` in lowest terms, the fractional part of
    /// `X * rate` is at most `1 - 1/b`, so that adding an excess below `1/b` never reaches
    /// the next integer. The excess is `X * (k/2^s - rate)`, which grows with `X`.
    fn new(rate: &BigRational, largest_window: u64) -> Result<Product, BudgetError> {
        let window = BigInt::from(largest_window);
        let tolerance = BigRational::new(BigInt::one(), rate.denom().clone());
        for s in 0.. {
            let scaled: BigRational = rate * (BigInt::one() << s);
            let k = scaled.round().to_integer();
            if (&k * &window).bits() > 128 || k.bits() > 128 {
                break;
            }
            let excess = BigRational::from(k.clone()) - scaled;
            if k.bits() < SIGNIFICANT_BITS || excess.is_negative() {
                continue;
            }
            let error: BigRational = excess * &window / (BigInt::one() << s);
            if error.is_zero() || error < tolerance {
                let k = k.to_u128().expect("k has at most 128 bits");
                return Ok(Product { k, s });
            }
        }
        Err(BudgetError::TooFine { largest_window })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ratio(numerator: u64, denominator: u64) -> BigRational {
        BigRational::new(numerator.into(), denominator.into())
    }

    fn budget(plan: &BudgetPlan, window: u64) -> u128 {
        let window = u128::from(window);
        let product = plan.product.unwrap();
        let budget = (window * product.k) >> product.s;
        assert_eq!(budget, window * plan.numerator / plan.denominator);
        budget
    }

    /// 1 % over 4 hops, t_w = 4480 ticks: r = 1/1792000. k = round(2^s / 1792000).
    #[test]
    fn one_percent_over_four_hops() {
        let plan = BudgetPlan::new(&ratio(1, 1_792_000), 1_000_000_000, true).unwrap();
        assert_eq!(budget(&plan, 1_791_999), 0);
        assert_eq!(budget(&plan, 1_792_000), 1);
        assert_eq!(budget(&plan, 1_000_000_000), 558); // 558.03...
        assert_eq!(plan.width, 10);
        assert!(plan.product.unwrap().k >= 1 << 15);
    }

    #[test]
    fn a_power_of_two_is_exact_with_sixteen_bits() {
        let plan = BudgetPlan::new(&ratio(1, 1 << 20), u64::MAX, true).unwrap();
        let product = Product { k: 1 << 15, s: 35 };
        assert_eq!((plan.product, plan.width), (Some(product), 44));
    }

    #[test]
    fn refuses_what_does_not_fit() {
        // 0.1 / 3 * 2^64 with nine more digits: the product would need about 190 bits.
        let fine = ratio(123_456_789_123_457, 10_000_000_000_000_000);
        assert!(matches!(
            BudgetPlan::new(&fine, u64::MAX, true),
            Err(BudgetError::TooFine { .. })
        ));
        // The fraction itself has 111 bits.
        assert!(BudgetPlan::new(&fine, u64::MAX, false).is_ok());
        assert!(matches!(
            BudgetPlan::new(&ratio(3, 1), u64::MAX, false),
            Err(BudgetError::TooLarge { .. })
        ));
    }

    proptest! {
        /// Against exact rational arithmetic, at random windows and at the ones around
        /// every step of the floor that is most easily missed.
        #[test]
        fn floor_is_exact(
            numerator in 1u64..100_000,
            denominator in 1u64..20_000_000_000,
            width in 8u32..=48,
            windows in proptest::collection::vec(any::<u64>(), 32),
        ) {
            let rate = ratio(numerator, denominator);
            let largest = u64::MAX >> (64 - width);
            let plan = BudgetPlan::new(&rate, largest, true).unwrap();
            prop_assert!(plan.product.unwrap().k >= 1 << 15);
            let exact = |x: u64| (&rate * BigInt::from(x)).floor().to_integer();
            prop_assert_eq!(u64::from(plan.width), exact(largest).bits().max(1));
            for window in windows {
                let window = window & largest;
                // The last window before a step, and the step.
                let step = (rate.recip() * (exact(window) + 1u32)).ceil().to_integer();
                let step = step.to_u64().unwrap_or(largest).min(largest);
                for x in [window, step.saturating_sub(1), step, largest] {
                    prop_assert_eq!(BigInt::from(budget(&plan, x)), exact(x));
                }
            }
        }

        /// Any smaller shift breaks one of the three conditions.
        #[test]
        fn shift_is_smallest(numerator in 1u64..1000, denominator in 1u64..5_000_000) {
            let rate = ratio(numerator, denominator);
            let largest = u64::from(u32::MAX);
            let plan = BudgetPlan::new(&rate, largest, true).unwrap();
            for s in 0..plan.product.unwrap().s {
                let scaled: BigRational = &rate * (BigInt::one() << s);
                let k = scaled.round();
                let excess = (&k - &scaled) / (BigInt::one() << s) * BigInt::from(largest);
                let legal = k.to_integer().bits() >= 16
                    && !excess.is_negative()
                    && excess < BigRational::new(1.into(), rate.denom().clone());
                prop_assert!(!legal, "s = {} would do", s);
            }
        }
    }
}
