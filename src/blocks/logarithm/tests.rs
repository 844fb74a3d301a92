//! The description against its Verilog, and against the real logarithm.

use super::{upper_from, Logarithm, LATENCY};
use crate::blocks::fixed_point::Arithmetic;
use crate::blocks::miss_history::tests::plan;
use crate::blocks::testing::Bench;
use crate::hdl::check;

#[test]
fn emitted_verilog_agrees_with_the_description() {
    for (time_width, fraction_bits) in [(8, 10), (12, 4), (32, 10), (48, 12), (64, 9)] {
        let plan = plan(time_width, 4, fraction_bits);
        check::agrees_with_verilog(|| Logarithm::new(&plan), 1000, 1).unwrap();
    }
}

/// Powers of two and their neighbours, one a cycle: each difference to the logarithm of 1
/// is the real one, within what `estimate` prints.
#[test]
fn differences_are_those_of_real_logarithms() {
    for (time_width, fraction_bits) in [(8, 6), (32, 10), (40, 12)] {
        let plan = plan(time_width, 4, fraction_bits);
        let numbers = Arithmetic::new(&plan);
        let mut values = vec![1, 0, 1];
        for exponent in 1..time_width {
            let power = 1u64 << exponent;
            values.extend([power - 1, power, power + 1, power + power / 3]);
        }
        values.push(plan.max_time());
        let mut bench = Bench::new(Logarithm::new(&plan));
        let mut logarithms = Vec::new();
        for cycle in 0..values.len() + LATENCY as usize {
            let value = values.get(cycle).copied().unwrap_or(1);
            bench.drive(&[
                ("value", value),
                ("upper", (value >> upper_from(&plan) != 0).into()),
            ]);
            if cycle >= LATENCY as usize {
                logarithms.push(bench.get("logarithm"));
            }
            bench.clock();
        }
        assert_eq!(logarithms[0], logarithms[1], "0 counts as 1");
        let allowed = numbers.logarithm.error.1 - numbers.logarithm.error.0;
        for (&value, &logarithm) in values.iter().zip(&logarithms).skip(2) {
            let got =
                (logarithm as f64 - logarithms[0] as f64) / f64::from(numbers.fraction).exp2();
            let error = got - (value as f64).log2();
            assert!(error.abs() <= allowed, "{value}: {error} of {allowed}");
        }
    }
}
