//! Lock-step test: description against golden model, and the emitted Verilog against both.

use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{golden, LpiHoldOff};
use crate::blocks::mii::testing::{every_fault, Pins};
use crate::blocks::testing::{cases, cycles, Bench};
use crate::hdl::check;

proptest! {
    #![proptest_config(cases(200))]

    /// Faults that come at any time, and a time that is changed now and then.
    #[test]
    fn description_and_golden_model_agree(
        stretches in prop::collection::vec((any::<bool>(), 0u64..20, 1u64..30), 1..40),
    ) {
        let mut golden = golden::LpiHoldOff::default();
        let mut bench = Bench::new(LpiHoldOff::new());
        let mut cycle = 0;
        for (link_fault, hold_off, lasts) in stretches {
            let quiet = golden.quiet_cycles(link_fault, hold_off);
            let holds = golden.holds(link_fault);
            let mut passed = golden.clone();
            passed.pass(link_fault, hold_off, lasts);
            for at in 0..lasts {
                bench.drive(&[("link_fault", link_fault.into()), ("hold_off", hold_off)]);
                bench.check(cycle, &[("holds", golden.holds(link_fault).into())])?;
                if at < quiet {
                    prop_assert_eq!(golden.holds(link_fault), holds);
                }
                bench.clock();
                golden.clock(link_fault, hold_off);
                cycle += 1;
            }
            // Many cycles at once are as many one by one.
            prop_assert_eq!(passed.quiet_cycles(false, 40), golden.quiet_cycles(false, 40));
        }
    }
}

/// IEEE 802.3, 78.1.2.1.2: a second, at the clock of 10GBASE-T, begins with a reset and with each fault.
#[test]
fn a_second_is_held() {
    let second = 156_250_000;
    let mut golden = golden::LpiHoldOff::default();
    assert_eq!(golden.quiet_cycles(false, second), second + 1);
    golden.pass(false, second, second);
    assert!(golden.holds(false));
    golden.clock(false, second);
    assert!(!golden.holds(false));
    golden.clock(true, second);
    assert_eq!(golden.quiet_cycles(false, second), second + 1);
}

/// Every single fault shows at an output, or is proved to be none.
#[test]
fn every_fault_shows() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut golden = golden::LpiHoldOff::default();
    let (mut link_fault, mut hold_off) = (false, 0);
    let cycles: Vec<(Pins, Pins)> = (0..20_000)
        .map(|_| {
            let rst = rng.random_ratio(1, 200);
            if rng.random_ratio(1, 20) {
                link_fault = rng.random_ratio(1, 8);
            }
            if rng.random_ratio(1, 50) {
                hold_off = rng.random_range(0..40);
            }
            let driven = vec![
                ("rst", rst.into()),
                ("link_fault", link_fault.into()),
                ("hold_off", hold_off.into()),
            ];
            let expected = vec![("holds", golden.holds(link_fault).into())];
            golden.clock(link_fault, hold_off);
            if rst {
                golden = golden::LpiHoldOff::default();
            }
            (driven, expected)
        })
        .collect();
    every_fault("lpi_hold_off", &LpiHoldOff::new(), &cycles);
}

#[test]
fn emitted_verilog_agrees_with_the_description() {
    check::agrees_with_verilog(LpiHoldOff::new, cycles(4000), 1).unwrap();
}

#[test]
fn emitted_verilog_is_lint_clean() {
    check::lint_block(&LpiHoldOff::new()).unwrap();
}
