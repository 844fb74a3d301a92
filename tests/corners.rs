//! Random activity reaches every corner of every preset, at the preset's own times.

mod common;

use common::{linkdoze, run, PRESETS};

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
