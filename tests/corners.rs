//! Random activity reaches every corner of every preset, at the preset's own times.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{linkdoze, run, PRESETS};

/// Writes a preset, with some of its text in other words.
fn preset(folder: &Path, name: &str, edits: &[(&str, &str)]) {
    let init = ["init", "--preset", name, "-o", "port.toml", "--force"];
    run(linkdoze(folder).args(init), 0);
    let file = folder.join("port.toml");
    let mut text = fs::read_to_string(&file).unwrap();
    for (from, to) in edits {
        assert_eq!(text.matches(from).count(), 1, "{from}");
        text = text.replace(from, to);
    }
    fs::write(file, text).unwrap();
}

/// What the guide runs: 20 million clocked cycles, one seed.
fn reaches_every_corner(folder: &Path) {
    let random = [
        "cosim",
        "port.toml",
        "--random",
        "--cycles",
        "20M",
        "--all-corners",
    ];
    let (text, _) = run(linkdoze(folder).args(random), 0);
    let last = text.lines().last().unwrap_or_default();
    let words: Vec<&str> = last.split(' ').collect();
    let all = matches!(words[..], ["corners:", a, "of", b, "reached"] if a == b);
    assert!(all, "{text}");
    // Idle time that would take hours to clock.
    assert!(text.contains("idle cycles not clocked"), "{text}");
}

#[test]
fn every_corner_of_a_preset_is_reached() {
    let folder = tempfile::tempdir().unwrap();
    preset(folder.path(), PRESETS[0], &[]);
    reaches_every_corner(folder.path());
}

#[test]
#[ignore = "long; make test-all runs it"]
fn every_corner_of_every_preset_is_reached() {
    let folder = tempfile::tempdir().unwrap();
    for name in PRESETS {
        preset(folder.path(), name, &[]);
        reaches_every_corner(folder.path());
    }
}

/// Software sets everything that it can, the times of the link and the guard too. A short threshold
/// makes the guard refuse often; it gives tokens by the longest `t_w` that software can set, four times the
/// configured one.
#[test]
#[ignore = "long; make test-all runs it"]
fn every_corner_of_a_port_with_registers_and_a_guard_is_reached() {
    let folder = tempfile::tempdir().unwrap();
    let edits = [
        ("registers = false", "registers = true\ntiming_range = 4"),
        ("policy = \"perfbound\"", "policy = \"fixed\""),
        ("t_pdt_ns = 100000 ", "t_pdt_ns = 1000 "),
        ("burst = 0", "burst = 4"),
        ("bound = 0.01", "bound = 0.04"),
    ];
    preset(folder.path(), "bxiv3-deep-sleep", &edits);
    reaches_every_corner(folder.path());
}

/// A direction that sleeps for itself: software reads what the shims say of low power idle.
#[test]
fn every_corner_of_an_ethernet_port_with_registers_is_reached() {
    let folder = tempfile::tempdir().unwrap();
    let registers = "registers = true\ntiming_range = 4\ncontrol_pins = true";
    let edits = [("registers = false", registers)];
    preset(folder.path(), "10gbase-t", &edits);
    reaches_every_corner(folder.path());
}

/// Too few cycles for most corners: equal, and yet not enough.
#[test]
fn a_corner_that_is_not_reached_is_told_by_the_exit_status() {
    let folder = tempfile::tempdir().unwrap();
    let init = ["init", "--preset", "bxiv3-deep-sleep", "-o", "port.toml"];
    run(linkdoze(folder.path()).args(init), 0);
    let random = ["cosim", "port.toml", "--random", "--cycles", "20000"];
    run(linkdoze(folder.path()).args(random), 0);
    run(linkdoze(folder.path()).args(random).arg("--all-corners"), 1);
}

/// Lines that no input reaches are those of states that the configuration does not have.
#[test]
fn every_line_and_branch_is_reached_but_those_of_states_that_do_not_come_about() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let init = ["init", "--preset", "bxiv3-deep-sleep", "-o", "port.toml"];
    run(linkdoze(path).args(init), 0);
    run(
        linkdoze(path).args(["generate", "port.toml", "-o", "rtl"]),
        0,
    );
    let coverage = |cycles: &str| -> Value {
        let random = ["cosim", "port.toml", "--random", "--cycles", cycles];
        let words = ["--code-coverage", "--json"];
        let (json, _) = run(linkdoze(path).args(random).args(words), 0);
        let json: Value = serde_json::from_str(&json).unwrap();
        json["code_coverage"].clone()
    };
    // Lines that are not reached, and the number of branches that are not.
    let holes = |coverage: &Value| -> (Vec<String>, u64) {
        let mut lines = Vec::new();
        for hole in coverage["holes"].as_array().unwrap() {
            let text = |key: &str| hole[key].as_str().unwrap();
            if text("kind") == "line" {
                let file = path.join("rtl").join(format!("{}.v", text("module")));
                let at = hole["line"].as_u64().unwrap() as usize - 1;
                let line = fs::read_to_string(file).unwrap();
                lines.push(line.lines().nth(at).unwrap().trim().to_owned());
            }
        }
        let modules = coverage["modules"].as_object().unwrap().values();
        let open = modules.map(|it| {
            let branches = &it["branches"];
            branches["all"].as_u64().unwrap() - branches["reached"].as_u64().unwrap()
        });
        (lines, open.sum())
    };
    let all = coverage("5M");
    let (lines, branches) = holes(&all);
    assert_eq!(branches, 0, "{all}");
    // Fast wake and refresh; the search of a histogram of pairs, and of a budget at run time;
    // and, of both, what is no state at all.
    let unused = [
        "LINK_FAST_WAKE: begin",
        "LINK_REFRESH: begin",
        "default: begin",
        "SEARCH_MULTIPLY: begin",
        "SEARCH_ENTRIES: begin",
        "default: begin",
    ];
    assert_eq!(lines, unused, "{all}");
    for module in ["link_sync", "perfbound", "counter_store", "pdt_timer"] {
        assert!(
            all["modules"][module]["branches"]["all"].as_u64() >= Some(8),
            "{all}"
        );
    }
    // A run that is too short is seen to be.
    let (_, branches) = holes(&coverage("300"));
    assert!(branches > 20, "{branches}");
}
