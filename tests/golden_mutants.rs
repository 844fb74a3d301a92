//! The crate that `make golden-mutants` puts together of the golden models.

use std::path::Path;
use std::process::Command;

use linkdoze::config::{Config, PRESETS};
use linkdoze::cosim::port::PortDesign;
use linkdoze::cosim::Design;

/// Whatever a golden model has come to need is in the list of `assemble.py`, and plans can be read as Rust.
#[test]
fn it_compiles() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let runs = folder.path().join("runs");
    std::fs::create_dir(&runs).unwrap();
    for preset in PRESETS {
        let config = Config::parse(preset.text, preset.name).unwrap();
        let design = PortDesign::new(&config).unwrap();
        let told = format!("{:?}, &[], &[]\n", design.plan());
        std::fs::write(runs.join(format!("{}.rs", preset.name)), told).unwrap();
    }
    let assembled = folder.path().join("crate");
    let mut assemble = Command::new("python3");
    assemble
        .arg(root.join("testbench/golden-mutants/assemble.py"))
        .args([root, &assembled])
        .args(PRESETS.map(|preset| preset.name));
    let mut check = Command::new(env!("CARGO"));
    check
        .args(["check", "--quiet", "--offline", "--manifest-path"])
        .arg(assembled.join("Cargo.toml"))
        .env(
            "CARGO_TARGET_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden-mutants"),
        );
    for mut command in [assemble, check] {
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
    }
}
