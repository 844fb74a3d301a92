//! Lock-step test: description against golden model.

use proptest::prelude::*;

use super::golden::{self, Operands};
use super::BudgetRate;
use crate::blocks::testing::Bench;
use crate::config::plan::RatePlan;
use crate::hdl::check;

fn plan() -> RatePlan {
    of_scale(1, -12)
}

fn of_scale(scale: u64, exponent: i32) -> RatePlan {
    let mut plan = RatePlan {
        bound: 42_949_673,
        hop_factor: 1 << 29,
        measures: false,
        scale,
        exponent,
        t_w_bits: 13,
        width: 1,
    };
    // The largest product, divided by the shortest t_w that the tests have.
    plan.width = (plan.quotient_steps() - 3).min(plan.product_bits() - 2);
    plan
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn description_and_golden_model_agree(
        computations in prop::collection::vec(
            (
                any::<u32>(),
                0..=1u32 << 31,
                prop_oneof![4u64..=8192, (2u32..=13).prop_map(|bits| 1 << bits)],
                100u32..140,
            ),
            1..6,
        ),
        (scale, exponent) in prop_oneof![
            (Just(1u64), -40i32..2),
            // Rates that the bench reads have 64 bits.
            ((1u64..50).prop_map(|half| 2 * half + 1), -40i32..-8),
        ],
        holds in any::<bool>(),
    ) {
        let plan = of_scale(scale, exponent);
        let mut golden = golden::BudgetRate::new(plan, 77);
        let mut bench = Bench::new(BudgetRate::new(&plan, 77, holds));
        let mut stands = holds;
        for (bound, hop_factor, t_w, cycles) in computations {
            // The operands hold until the rate stands, as the block asks.
            let mut start = true;
            let mut cycle = 0;
            while cycle < cycles || !golden.steady() {
                bench.drive(&[
                    ("start", start.into()),
                    ("bound", bound.into()),
                    ("hop_factor", hop_factor.into()),
                    ("t_w_last", t_w - 1),
                ]);
                stands = holds || (!start && (stands || golden.done()));
                if stands {
                    prop_assert_eq!(u128::from(bench.get("rate")), golden.rate());
                }
                prop_assert_eq!(bench.get("done"), u64::from(golden.done()));
                bench.clock();
                golden.clock(start.then_some(Operands { bound, hop_factor, t_w }));
                start = false;
                cycle += 1;
            }
        }
    }
}

/// By hand: 1 % over 4 hops, t_w = 4480 ticks: K / 2^51 is 0.01 / 4 / 4480, rounded up, to the
/// precision of the bound's 32 bits. A tick of 12 clock cycles is three times four: t_w is as many
/// times as long in cycles, and two halvings are in the exponent.
#[test]
fn one_percent_over_four_hops() {
    let exact = 0.01 / 4.0 / 4480.0;
    for (scale, exponent, t_w) in [(1, -12, 4480), (3, -10, 12 * 4480)] {
        let plan = of_scale(scale, exponent);
        let operands = Operands {
            bound: plan.bound,
            hop_factor: plan.hop_factor,
            t_w,
        };
        let rate = golden::BudgetRate::of(&plan, operands) as f64 / 2f64.powi(51);
        assert!((rate / exact - 1.0).abs() < 1e-8, "{rate} {exact}");
    }
    // 2^30 * 2^29 / 2^12 / 7 = 2^47 / 7 = 20105355479332.57...
    let operands = Operands {
        bound: 1 << 30,
        hop_factor: 1 << 29,
        t_w: 7,
    };
    assert_eq!(
        golden::BudgetRate::of(&plan(), operands),
        20_105_355_479_333
    );
}

#[test]
fn the_rate_comes_after_the_latency() {
    for plan in [plan(), of_scale(1, 3), of_scale(5, -7)] {
        let mut golden = golden::BudgetRate::new(plan, 0);
        let operands = Operands {
            bound: 1,
            hop_factor: 1,
            t_w: 4,
        };
        let mut cycles = 0;
        while !golden.done() {
            golden.clock((cycles == 0).then_some(operands));
            cycles += 1;
        }
        assert_eq!(cycles, super::latency(&plan));
    }
}

#[test]
fn emitted_verilog_agrees_with_the_description() {
    for plan in [plan(), of_scale(1, 3), of_scale(5, -7)] {
        check::agrees_with_verilog(|| BudgetRate::new(&plan, 5, true), 4000, 1).unwrap();
    }
}

#[test]
fn emitted_verilog_is_lint_clean() {
    for plan in [plan(), of_scale(1, 3), of_scale(5, -7)] {
        check::lint_block(&BudgetRate::new(&plan, 5, true)).unwrap();
    }
}
