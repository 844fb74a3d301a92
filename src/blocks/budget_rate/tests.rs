//! Lock-step test: description against golden model.

use proptest::prelude::*;

use super::golden::{self, Operands};
use super::BudgetRate;
use crate::blocks::testing::Bench;
use crate::config::plan::RatePlan;
use crate::hdl::check;

fn plan() -> RatePlan {
    RatePlan {
        bound: 42_949_673,
        hop_factor: 1 << 29,
        measures: false,
        inverse_fast_wake: 91_625_968_981,
        inverse_deep_sleep: 7_669_584_000,
        shift: 57,
        width: 50,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn description_and_golden_model_agree(
        computations in prop::collection::vec(
            (any::<u32>(), 0..=1u32 << 31, any::<bool>(), 100u32..140),
            1..6,
        ),
    ) {
        let mut golden = golden::BudgetRate::new(plan(), 77);
        let mut bench = Bench::new(BudgetRate::new(&plan(), 77));
        for (bound, hop_factor, deep, cycles) in computations {
            // The operands hold until the rate stands, as the block asks.
            let mut start = true;
            let mut cycle = 0;
            while cycle < cycles || !golden.steady() {
                bench.drive(&[
                    ("start", start.into()),
                    ("bound", bound.into()),
                    ("hop_factor", hop_factor.into()),
                    ("deep", deep.into()),
                ]);
                prop_assert_eq!(u128::from(bench.get("rate")), golden.rate());
                prop_assert_eq!(bench.get("done"), u64::from(golden.done()));
                bench.clock();
                golden.clock(start.then_some(Operands { bound, hop_factor, deep }));
                start = false;
                cycle += 1;
            }
        }
    }
}

/// 1 % over 4 hops, t_w = 4480 ticks of deep sleep: K / 2^S with S = 32 + 31 + 45 - 57 is
/// 0.01 / 4 / 4480, to the precision of the bound's 32 bits.
#[test]
fn one_percent_over_four_hops() {
    let plan = RatePlan {
        inverse_deep_sleep: (1u64 << 45) / 4480,
        ..plan()
    };
    let operands = Operands {
        bound: plan.bound,
        hop_factor: plan.hop_factor,
        deep: true,
    };
    let rate = golden::BudgetRate::of(&plan, operands) as f64 / 2f64.powi(51);
    let exact = 0.01 / 4.0 / 4480.0;
    assert!((rate / exact - 1.0).abs() < 1e-8, "{rate} {exact}");
}

#[test]
fn the_rate_comes_after_the_latency() {
    let mut golden = golden::BudgetRate::new(plan(), 0);
    let operands = Operands {
        bound: 1,
        hop_factor: 1,
        deep: false,
    };
    let mut cycles = 0;
    while !golden.done() {
        golden.clock((cycles == 0).then_some(operands));
        cycles += 1;
    }
    assert_eq!(cycles, super::LATENCY);
}

#[test]
fn emitted_verilog_agrees_with_the_description() {
    check::agrees_with_verilog(|| BudgetRate::new(&plan(), 5), 4000, 1).unwrap();
}

#[test]
fn emitted_verilog_is_lint_clean() {
    check::lint_block(&BudgetRate::new(&plan(), 5)).unwrap();
}
