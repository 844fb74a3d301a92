//! The emitted Verilog beside a model that was written in Python from the specification alone
//! (`testbench/cocotb`): two configurations and two wrong edits. `make cocotb` runs all.

use std::path::Path;
use std::process::Command;

#[test]
fn the_verilog_does_what_a_model_from_the_specification_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new("sh")
        .arg("tools/cocotb.sh")
        .args([
            env!("CARGO_BIN_EXE_linkdoze"),
            "target/cocotb/part",
            "--part",
        ])
        .current_dir(root)
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{out}\n{err}");
    let lines = |end: &str| out.lines().filter(|line| line.contains(end)).count();
    assert_eq!(lines(" differences 0"), 2, "{out}");
    assert_eq!(lines(" found: cycle "), 2, "{out}");
}
