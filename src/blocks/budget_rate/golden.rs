//! Golden model of the rate's computation.

use crate::config::plan::RatePlan;

/// Cycle-exact model of the computation of `K` (SPEC 7.3).
#[derive(Clone, Debug)]
pub struct BudgetRate {
    plan: RatePlan,
    /// The rate under way, and clock edges until it stands.
    under_way: Option<(u128, u32)>,
    rate: u128,
    done: bool,
}

/// What a rate is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operands {
    /// In units of `2^-32`.
    pub bound: u32,
    /// In units of `2^-31`, at most 1.
    pub hop_factor: u32,
    /// In clock cycles, at least 1.
    pub t_w: u64,
}

impl BudgetRate {
    /// A computation just after reset; `initial` is the rate before the first.
    pub fn new(plan: RatePlan, initial: u128) -> Self {
        BudgetRate {
            plan,
            under_way: None,
            rate: initial,
            done: false,
        }
    }

    /// The last rate computed.
    pub fn rate(&self) -> u128 {
        self.rate
    }

    /// One cycle: the rate is new.
    pub fn done(&self) -> bool {
        self.done
    }

    /// Nothing changes while nothing is started.
    pub fn steady(&self) -> bool {
        self.under_way.is_none() && !self.done
    }

    /// `ceil(bound * hop_factor * scale * 2^exponent / t_w)`.
    pub fn of(plan: &RatePlan, operands: Operands) -> u128 {
        let product =
            u128::from(operands.bound) * u128::from(operands.hop_factor) * u128::from(plan.scale);
        let (numerator, denominator) = match u32::try_from(plan.exponent) {
            Ok(doublings) => (product << doublings, u128::from(operands.t_w)),
            Err(_) => (
                product,
                u128::from(operands.t_w) << plan.exponent.unsigned_abs(),
            ),
        };
        numerator.div_ceil(denominator)
    }

    /// Clock edges from the one that takes the operands to the one that delivers the rate: one for
    /// each of the hop factor's 32 bits and of the quotient's, one to see whether anything is left, and one
    /// to round.
    fn duration(plan: &RatePlan) -> u32 {
        32 + plan.quotient_steps() + 2
    }

    /// The clock edge at the end of a cycle in which a computation is started or not.
    pub fn clock(&mut self, start: Option<Operands>) {
        self.done = false;
        match &mut self.under_way {
            Some((rate, 1)) => {
                self.rate = *rate;
                self.done = true;
                self.under_way = None;
            }
            Some((_, left)) => *left -= 1,
            None => {
                self.under_way = start.map(|operands| {
                    let rate = Self::of(&self.plan, operands);
                    (rate, Self::duration(&self.plan))
                });
            }
        }
    }
}
