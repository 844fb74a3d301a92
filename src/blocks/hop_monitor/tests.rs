//! Lock-step test: description against golden model; the factor against real numbers.

use proptest::prelude::*;

use super::{golden, HopMonitor};
use crate::blocks::testing::Bench;
use crate::hdl::check;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn description_and_golden_model_agree(
        window_log2 in 1u32..6,
        cycles in prop::collection::vec(
            (prop::bool::weighted(0.8), prop_oneof![0u8..4, 0u8..64], prop::bool::weighted(0.02), 0u8..6),
            1..400,
        ),
    ) {
        let mut golden = golden::HopMonitor::new(window_log2);
        let mut bench = Bench::new(HopMonitor::new(window_log2));
        let mut count = 0;
        for (valid, hops, clear, read) in cycles {
            bench.drive(&[
                ("packet_valid", valid.into()),
                ("packet_hops", hops.into()),
                ("clear", clear.into()),
                ("read_hops", read.into()),
            ]);
            prop_assert_eq!(bench.get("factor"), golden.factor());
            prop_assert_eq!(bench.get("measured"), u64::from(golden.measured()));
            prop_assert_eq!(bench.get("count"), count);
            count = golden.count(read).into();
            bench.clock();
            golden.clock(valid.then_some(hops), clear);
        }
    }

    /// SPEC 7.2: sum(p_i / h_i). Every term is cut by less than one unit of 2^-16.
    #[test]
    fn the_factor_is_the_mean_of_the_reciprocals(hops in prop::collection::vec(1u8..64, 64)) {
        let mut golden = golden::HopMonitor::new(6);
        for &hops in &hops {
            golden.clock(Some(hops), false);
        }
        golden.clock(None, false);
        prop_assert!(golden.measured());
        let exact = hops.iter().map(|&h| 1.0 / f64::from(h)).sum::<f64>() / 64.0;
        let measured = golden.factor() as f64 / 65536.0;
        prop_assert!(measured <= exact && exact < measured + 2.0 / 65536.0);
    }
}

#[test]
fn before_the_first_window_every_packet_is_taken_to_travel_farthest() {
    assert_eq!(crate::config::plan::INITIAL_HOP_FACTOR, 65536 / 63);
    assert_eq!(golden::HopMonitor::new(4).factor(), 65536 / 63);
}

#[test]
fn emitted_verilog_agrees_with_the_description() {
    check::agrees_with_verilog(|| HopMonitor::new(3), 4000, 1).unwrap();
}

#[test]
fn emitted_verilog_is_lint_clean() {
    check::lint_block(&HopMonitor::new(12)).unwrap();
}
