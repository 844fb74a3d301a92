//! Two ports joined by a cable, from outside: a slice of what `make pair` runs in full.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{linkdoze, run, PRESETS};

/// Times so short that some ten thousand cycles see dozens of transitions.
const CONFIG: &str = "\
[port]
time_width = 16
policy = \"fixed\"
sleep = \"hybrid\"
t_pdt_ns = 40
hybrid_hold_ns = 60
sync = \"messages\"
sync_timeout_ns = 90
[states.fast-wake]
t_w_ns = 30
t_s_ns = 20
[states.deep-sleep]
t_w_ns = 90
t_s_ns = 60
t_q_ns = 200
t_r_ns = 25
";

fn pair(path: &Path, words: &[&str], status: i32) -> Value {
    let pair = ["cosim", "port.toml", "--pair", "--json"];
    let (json, _) = run(linkdoze(path).args(pair).args(words), status);
    serde_json::from_str(&json).unwrap()
}

#[test]
fn every_short_delay_with_every_kind_of_other_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("port.toml"), CONFIG).unwrap();
    for (peer, together) in [
        ("answers", 2000),
        ("silent", 0),
        ("stops", 500),
        ("resets", 100),
    ] {
        let words = ["--delay", "0..44", "--cycles", "20000", "--peer", peer];
        let report = pair(path, &words, 0);
        assert_eq!(report["mismatches"], 0, "{peer}");
        assert_eq!(report["broken_promises"], 0, "{peer}");
        assert_eq!(report["runs"], 45, "{peer}");
        assert_eq!(report["cycles"], 45 * 2 * 20_000, "{peer}");
        assert_eq!(report["largest_skew_cycles"], 0, "{peer}");
        for transitions in ["transitions_down", "transitions_up"] {
            let count = report[transitions].as_u64().unwrap();
            // Nobody sleeps who has no answer (SPEC 5).
            let right = if peer == "silent" {
                count == 0
            } else {
                count >= together
            };
            assert!(right, "{peer}: {report}");
        }
        let figure = |name: &str| report[name].as_u64().unwrap();
        assert!(
            figure("longest_wait_cycles") <= figure("wait_bound_cycles"),
            "{peer}"
        );
    }
}

#[test]
#[ignore = "long; make test-all runs it"]
fn every_preset_at_some_delays() {
    for preset in PRESETS {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        run(
            linkdoze(path).args(["init", "--preset", preset, "-o", "port.toml"]),
            0,
        );
        // The ports of Ethernet agree about nothing by themselves.
        let file = path.join("port.toml");
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replace("sync = \"lpi\"", "sync = \"messages\"")).unwrap();
        for delay in ["0..3", "1998..2000"] {
            let report = pair(path, &["--delay", delay, "--cycles", "4000000"], 0);
            assert_eq!(report["mismatches"], 0, "{preset}");
            assert_eq!(report["broken_promises"], 0, "{preset}");
            assert!(
                report["transitions_down"].as_u64().unwrap() > 5,
                "{preset}: {report}"
            );
        }
    }
}

/// A pair whose Verilog somebody has edited: the two golden models agree, the hardware does
/// not.
#[test]
fn an_edit_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("port.toml"), CONFIG).unwrap();
    run(
        linkdoze(path).args(["generate", "port.toml", "-o", "rtl"]),
        0,
    );
    let file = path.join("rtl/link_sync.v");
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text.matches("half = count_q >> ONE").count(), 1);
    fs::write(
        &file,
        text.replace("half = count_q >> ONE", "half = count_q"),
    )
    .unwrap();
    let words = ["--delay", "5", "--rtl", "rtl"];
    let report = pair(path, &words, 1);
    assert_eq!(
        (&report["mismatches"], &report["mismatch"]["delay"]),
        (&1.into(), &5.into())
    );
    let again = report["command"].as_str().unwrap();
    assert!(
        again.contains("--pair --delay 5 --peer answers --seed 1"),
        "{again}"
    );
    let again: Vec<&str> = again.split(' ').skip(1).collect();
    let (text, _) = run(linkdoze(path).args(again), 1);
    assert!(text.contains("mismatches: 1, broken promises: 0"), "{text}");
}

#[test]
fn what_cannot_be_a_pair_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("port.toml"), CONFIG).unwrap();
    let cosim = ["cosim", "port.toml", "--pair"];
    let refused = |words: &[&str], why: &str| {
        let (out, err) = run(linkdoze(path).args(cosim).args(words), 2);
        assert_eq!(out, "");
        assert!(err.contains(why), "{err}");
    };
    refused(&["--delay", "45"], "--delay at most 44");
    refused(&["--delay", "7..3"], "write 3..7");
    refused(&["--delay", "x"], "not a delay");
    refused(
        &["--delay", "1", "--wave", "w.fst"],
        "--wave shows one port",
    );
    let levels = CONFIG.replace("\"messages\"", "\"levels\"");
    fs::write(path.join("port.toml"), levels).unwrap();
    refused(&["--delay", "1"], "write sync = \"messages\"");
}
