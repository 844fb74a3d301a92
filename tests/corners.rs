//! Random activity reaches every corner of every preset, at the preset's own times.

mod common;

use std::fs;

use common::{linkdoze, run, PRESETS};
use serde_json::Value;

/// What the guide runs: 20 million clocked cycles, one seed.
#[test]
fn every_corner_of_every_preset_is_reached() {
    let folder = tempfile::tempdir().unwrap();
    for name in PRESETS {
        let file = format!("{name}.toml");
        let init = ["init", "--preset", name, "-o", &file];
        run(linkdoze(folder.path()).args(init), 0);
        let random = [
            "cosim",
            &file,
            "--random",
            "--cycles",
            "20M",
            "--all-corners",
        ];
        let (text, _) = run(linkdoze(folder.path()).args(random), 0);
        let last = text.lines().last().unwrap_or_default();
        let words: Vec<&str> = last.split(' ').collect();
        let all = matches!(words[..], ["corners:", a, "of", b, "reached"] if a == b);
        assert!(all, "{name}: {text}");
        // Idle time that would take hours to clock.
        assert!(text.contains("idle cycles not clocked"), "{name}: {text}");
    }
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
