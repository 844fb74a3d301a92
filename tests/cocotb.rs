//! The emitted Verilog beside a model that was written in Python from the specification alone
//! (`testbench/cocotb`): two configurations and two wrong edits. `make cocotb` runs all.

use crate::common::part_of;

#[test]
fn the_verilog_does_what_a_model_from_the_specification_says() {
    let out = part_of("cocotb");
    let lines = |end: &str| out.lines().filter(|line| line.contains(end)).count();
    assert_eq!(lines(" differences 0"), 2, "{out}");
    assert_eq!(lines(" found: cycle "), 2, "{out}");
}
