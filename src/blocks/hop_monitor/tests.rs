//! Lock-step test: description against golden model; the factor against real numbers.

use proptest::prelude::*;

use super::{golden, HopMonitor};
use crate::blocks::testing::{cases, Bench};
use crate::hdl::check;

proptest! {
    #![proptest_config(cases(180))]

    #[test]
    fn description_and_golden_model_agree(
        window_log2 in 1u32..6,
        // Narrow ones are soon full.
        counter_width in prop_oneof![1u32..5, Just(32)],
        cycles in prop::collection::vec(
            (prop::bool::weighted(0.8), prop_oneof![0u8..4, 0u8..64], prop::bool::weighted(0.02), 0u8..6),
            1..400,
        ),
    ) {
        let mut golden = golden::HopMonitor::new(window_log2, counter_width);
        let mut bench = Bench::new(HopMonitor::new(window_log2, counter_width, None));
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
        let mut golden = golden::HopMonitor::new(6, 32);
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
    assert_eq!(golden::HopMonitor::new(4, 32).factor(), 65536 / 63);
}

/// A counter does not begin anew after its largest value.
#[test]
fn a_full_counter_stays_full() {
    let mut golden = golden::HopMonitor::new(4, 3);
    let mut bench = Bench::new(HopMonitor::new(4, 3, None));
    for packets in 0..20 {
        for _ in 0..2 {
            bench.drive(&[
                ("packet_valid", 1),
                ("packet_hops", 5),
                ("clear", 0),
                ("read_hops", 5),
            ]);
            bench.clock();
            golden.clock(Some(5), false);
        }
        if packets > 4 {
            assert_eq!((bench.get("count"), golden.count(5)), (7, 7));
        }
    }
}

#[test]
fn emitted_verilog_agrees_with_the_description() {
    check::agrees_with_verilog(|| HopMonitor::new(3, 2, None), 4000, 1).unwrap();
}

#[test]
fn emitted_verilog_is_lint_clean() {
    check::lint_block(&HopMonitor::new(12, 32, None)).unwrap();
}
