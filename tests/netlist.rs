//! `netlist`: what is synthesised does what the Verilog does, block by block; and what does not is
//! found. `make netlists` compares every preset and every kind of histogram.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{linkdoze, run, share};

/// A configuration of five blocks with short times. What its timer and its states count is narrow.
const CONFIG: &str = "\
[port]
time_width = 8
policy = \"fixed\"
t_pdt_ns = 9
t_backstop_ns = 60
sync_timeout_ns = 20
[states.fast-wake]
t_w_ns = 5
t_s_ns = 3
[states.deep-sleep]
t_w_ns = 12
t_s_ns = 7
[histogram]
max_value_ns = 200
";

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("port.toml"), CONFIG).unwrap();
    folder
}

fn netlist(path: &Path, target: &str, words: &[&str], status: i32) -> Value {
    let netlist = ["netlist", "port.toml", "--json", "--target", target];
    let (json, _) = run(linkdoze(path).args(netlist).args(words), status);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["equal"], status == 0, "{json}");
    json
}

/// Every block with its verdict.
fn verdicts(report: &Value) -> Vec<(&str, &str)> {
    let blocks = report["blocks"].as_array().unwrap().iter();
    blocks
        .map(|it| {
            (
                it["block"].as_str().unwrap(),
                it["verdict"].as_str().unwrap(),
            )
        })
        .collect()
}

/// Writes the Verilog to `rtl`, with one edit.
fn edited(path: &Path, file: &str, from: &str, to: &str) {
    let _ = fs::remove_dir_all(path.join("rtl"));
    run(
        linkdoze(path).args(["generate", "port.toml", "-o", "rtl"]),
        0,
    );
    let file = path.join("rtl").join(file);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(file, text.replacen(from, to, 1)).unwrap();
}

#[test]
fn every_block_s_netlist_does_what_its_verilog_does() {
    let folder = folder();
    let equal = ["port", "idle_meter", "pdt_timer", "lpi_fsm", "link_sync"].map(|it| (it, "equal"));
    for target in share(&["ice40", "generic"], 2) {
        let report = netlist(folder.path(), target, &[], 0);
        assert_eq!(verdicts(&report), equal, "{target}");
        // It is the whole block that is compared, registers and all.
        for block in report["blocks"].as_array().unwrap() {
            assert!(block["state_bits"].as_u64() >= Some(1), "{block}");
        }
    }
}

#[test]
fn a_netlist_of_other_verilog_differs_in_the_block_that_was_edited() {
    let folder = folder();
    let edits = [
        ("idle_meter.v", "~active & seen_active_q", "~active"),
        (
            "link_sync.v",
            "state_d = EXCHANGE_AWAIT_UP",
            "state_d = EXCHANGE_IDLE",
        ),
        (
            "port.v",
            ".active    (active)",
            ".active    (queue_nonempty)",
        ),
    ];
    for &(file, from, to) in share(&edits, 2) {
        edited(folder.path(), file, from, to);
        let report = netlist(folder.path(), "generic", &["--rtl", "rtl"], 1);
        for (block, verdict) in verdicts(&report) {
            let is_edited = file == format!("{block}.v");
            assert_eq!(verdict == "different", is_edited, "{file}: {report}");
            assert_eq!(verdict == "equal", !is_edited, "{file}: {report}");
        }
    }
}

#[test]
#[ignore = "long; make test-all runs it"]
fn a_netlist_is_co_simulated() {
    let folder = folder();
    let path = folder.path();
    let cosim = [
        "cosim",
        "port.toml",
        "--random",
        "--cycles",
        "20000",
        "--no-wave",
        "--rtl",
    ];
    netlist(path, "ice40", &["-o", "netlist"], 0);
    let (out, _) = run(linkdoze(path).args(cosim).arg("netlist"), 0);
    assert!(out.starts_with("mismatches: 0\n"), "{out}");
    // What it is made of is gone into it: no part of the Verilog is left.
    assert_eq!(fs::read_dir(path.join("netlist")).unwrap().count(), 1);

    edited(
        path,
        "pdt_timer.v",
        "expired = at_threshold;",
        "expired = 1'b0;",
    );
    netlist(path, "ice40", &["-o", "wrong", "--rtl", "rtl"], 1);
    let (out, _) = run(linkdoze(path).args(cosim).arg("wrong"), 1);
    assert!(out.starts_with("mismatches: 1\n"), "{out}");

    // The Verilog that is read stays.
    let over = ["netlist", "port.toml", "-o", "rtl", "--rtl", "rtl"];
    let (_, err) = run(linkdoze(path).args(over), 2);
    assert!(err.contains("rtl/port.v"), "{err}");
}
