//! What commands say and where: answers first, progress, notes, standard input.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::common::{linkdoze, run};

/// Two ranks of which one sends to the other twice.
const TRACE: &str = "num_ranks 2\nrank 0 {\na: send 1000b to 1 tag 1\nc: calc 10000\n\
                     b: send 1000b to 1 tag 2\nc requires a\nb requires c\n}\n\
                     rank 1 {\na: recv 1000b from 0 tag 1\nb: recv 1000b from 0 tag 2\n\
                     b requires a\n}\n";
const SCENARIO: &str = "[topology]\nkind = \"single-switch\"\nnodes = 2\n\
                        [traffic]\nfile = \"two.goal\"\n[power.port]\npolicy = \"perfbound\"\n";
const SWEEP: &str = "scenario = \"scenario.toml\"\nstates = [\"fast-wake\"]\n\
                     [fixed]\nt_pdt_ns = [1000]\n[perfbound]\npolicies = [\"perfbound\"]\n\
                     bounds = [0.01]\nhistograms = [\"clearing\"]\n";

/// Traffic of 16 nodes for so many ns.
fn uniform(duration_ns: &str) -> String {
    format!(
        "[topology]\nkind = \"single-switch\"\nnodes = 16\n[traffic]\nkind = \"uniform\"\n\
         load = 0.3\n[run]\nduration_ns = {duration_ns}\n"
    )
}

/// A folder with a file of every kind.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let periods = "busy,idle\n".to_owned() + &"100,5000\n".repeat(1000);
    for (name, text) in [
        ("port.toml", ""),
        ("periods.csv", &periods),
        ("few.csv", "busy,idle\n10,50\n7,30\n"),
        ("two.goal", TRACE),
        ("uniform.toml", &uniform("1e6")),
        ("scenario.toml", SCENARIO),
        ("sweep.toml", SWEEP),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// A command line in `folder` that must succeed: what it prints, and to standard error.
fn done(folder: &Path, words: &str) -> (String, String) {
    run(linkdoze(folder).args(words.split(' ')), 0)
}

/// A trace that takes a while to read.
const TRACE_INFO: &str = concat!(
    "trace info ",
    env!("CARGO_MANIFEST_DIR"),
    "/sim/lammps-lj-r8-s20.goal.zst"
);

/// Commands that can take long, in the order in which they need each other's files.
const LONG: [&str; 9] = [
    "generate port.toml -o rtl",
    "estimate port.toml",
    "predict port.toml --periods periods.csv --model golden",
    "cosim port.toml --random --engine native --cycles 2e3",
    "cosim port.toml --pair --delay 1..2 --engine native --cycles 2e3",
    TRACE_INFO,
    "simulate uniform.toml",
    "sweep sweep.toml -o results",
    "report results",
];

#[test]
fn no_command_is_silent_for_long_without_a_terminal() {
    let folder = folder();
    for words in LONG {
        let begin = format!("{}: ", words.split(' ').next().unwrap());
        let mut said = String::new();
        // The shortest of them may end before the thread that prints has had its turn.
        let line = (0..20).find_map(|_| {
            let mut command = linkdoze(folder.path());
            command
                .args(words.split(' '))
                .env("LINKDOZE_PROGRESS", "0.0002");
            (_, said) = run(&mut command, 0);
            let mut lines = said.lines().filter(|line| line.starts_with(&begin));
            lines.next().map(str::to_owned)
        });
        let line = line.unwrap_or_else(|| panic!("{words}: no line of progress in {said}"));
        assert!(
            line.contains(" so far") || line.contains(" % done after "),
            "{line}"
        );
    }
}

#[test]
fn lines_of_progress_tell_the_share_done_and_the_time_left() {
    let folder = folder();
    fs::write(folder.path().join("uniform.toml"), uniform("1e7")).unwrap();
    let mut command = linkdoze(folder.path());
    command
        .args(["simulate", "uniform.toml"])
        .env("LINKDOZE_PROGRESS", "0.01");
    let (_, err) = run(&mut command, 0);
    let told = |line: &str| {
        let rest = line.strip_prefix("simulate: links always on: ")?;
        let (share, rest) = rest.split_once(" % done after ")?;
        rest.ends_with(" left").then(|| share.parse().unwrap())
    };
    let shares: Vec<u32> = err.lines().filter_map(told).collect();
    assert!(!shares.is_empty(), "{err}");
    assert!(
        shares.is_sorted() && shares.iter().all(|&share| share <= 100),
        "{err}"
    );
}

#[test]
fn progress_does_not_come_at_once_and_its_wait_is_a_number() {
    let folder = folder();
    let mut command = linkdoze(folder.path());
    command
        .args(["simulate", "scenario.toml"])
        .env_remove("LINKDOZE_PROGRESS");
    let (_, err) = run(&mut command, 0);
    assert!(!err.contains("simulate: "), "{err}");
    for wrong in ["soon", "0", "-1", "inf", "nan", ""] {
        let mut command = linkdoze(folder.path());
        command
            .args(["simulate", "scenario.toml"])
            .env("LINKDOZE_PROGRESS", wrong);
        let (out, err) = run(&mut command, 2);
        assert_eq!(out, "");
        assert!(
            err.contains("LINKDOZE_PROGRESS") && err.contains("such as 60"),
            "{err}"
        );
    }
}

#[test]
fn quiet_leaves_errors_alone_on_standard_error() {
    let folder = folder();
    for words in LONG {
        let mut command = linkdoze(folder.path());
        command
            .args(words.split(' '))
            .arg("--quiet")
            .env("LINKDOZE_PROGRESS", "0.0002");
        let (out, err) = run(&mut command, 0);
        assert_eq!(err, "", "{words}");
        assert!(!out.is_empty(), "{words}");
    }
    // Before the command, too; a failed check and an error are told.
    fs::write(folder.path().join("rtl/port.v"), "").unwrap();
    let check = ["-q", "generate", "port.toml", "-o", "rtl", "--check"];
    let (_, err) = run(linkdoze(folder.path()).args(check), 1);
    assert!(err.starts_with("stale or missing: rtl/port.v"), "{err}");
    let (_, err) = run(linkdoze(folder.path()).args(["-q", "estimate", "none"]), 2);
    assert!(err.starts_with("error: none: cannot read"), "{err}");
    // Corners are those of random activity.
    for activity in [&["--line-rate"][..], &["--pair", "--delay", "1"]] {
        let cosim = ["cosim", "port.toml", "--engine", "native", "--all-corners"];
        let (_, err) = run(linkdoze(folder.path()).args(cosim).args(activity), 2);
        assert!(err.contains("cannot be used with"), "{err}");
    }
    let both = ["-q", "-v", "estimate", "port.toml"];
    let (_, err) = run(linkdoze(folder.path()).args(both), 2);
    assert!(err.contains("cannot be used with"), "{err}");
}

#[test]
fn verbose_tells_how_long_each_step_takes() {
    let folder = folder();
    for (words, step) in [
        ("simulate scenario.toml -v", "links power saving"),
        ("sweep sweep.toml -o results -v", "experiments"),
        (
            "cosim port.toml --random --engine native --cycles 2000 -v",
            "random, seed 1",
        ),
    ] {
        let (_, err) = done(folder.path(), words);
        let begin = format!("linkdoze: {step}: ");
        let line = err.lines().find_map(|line| line.strip_prefix(&begin));
        let line = line.unwrap_or_else(|| panic!("{words}: {err}"));
        let seconds = line.strip_suffix(" s").unwrap();
        assert!(seconds.parse::<f64>().unwrap() >= 0.0, "{line}");
    }
}

/// The first 15 lines hold the answer; 100 columns hold every line.
#[test]
fn answers_come_first_and_fit_the_screen() {
    let folder = folder();
    for (words, first) in [
        ("estimate port.toml", "controller "),
        (
            "cosim port.toml --random --engine native --cycles 2000",
            "mismatches: 0",
        ),
        (
            "cosim port.toml --pair --delay 1..2 --engine native --cycles 2000",
            "mismatches: 0, broken promises: 0",
        ),
        ("simulate scenario.toml", "Bound "),
        ("sweep sweep.toml -o results", "Bound "),
        ("trace info two.goal", "two.goal: GOAL text"),
        ("topology dragonfly", "dragonfly"),
    ] {
        let (out, _) = done(folder.path(), words);
        assert!(out.starts_with(first), "{words}: {out}");
        let limit = if words.starts_with("t") { 30 } else { 15 };
        assert!(out.lines().count() <= limit, "{words}: {out}");
        let all = words.split(' ').next().unwrap() != "topology" && !words.starts_with("sweep");
        let more = all.then(|| done(folder.path(), &format!("{words} --all")).0);
        for text in std::iter::once(&out).chain(&more) {
            let wide = text.lines().find(|line| line.chars().count() > 100);
            assert_eq!(wide, None, "{words}");
            assert!(text.lines().all(|line| line == line.trim_end()), "{text}");
        }
        if let Some(more) = more {
            assert!(more.len() > out.len(), "{words}: {more}");
        }
    }
}

/// `-` is standard input, where a file is read: configuration, scenario, periods, trace.
#[test]
fn standard_input_stands_for_a_file() {
    let folder = folder();
    for (words, name) in [
        ("estimate FILE", "port.toml"),
        (
            "predict port.toml --periods FILE --model golden",
            "periods.csv",
        ),
        ("topology FILE", "scenario.toml"),
        ("trace info FILE", "two.goal"),
        (
            "cosim port.toml --engine native --json --periods FILE",
            "few.csv",
        ),
    ] {
        let text = fs::read(folder.path().join(name)).unwrap();
        let (file, _) = done(folder.path(), &words.replace("FILE", name));
        let mut command = linkdoze(folder.path());
        command
            .args(words.replace("FILE", "-").split(' '))
            .write_stdin(text);
        let (input, _) = run(&mut command, 0);
        let figures = |text: &str| {
            let lines = text.lines().map(|line| line.replace(name, "-"));
            let timed = |line: &String| line.contains("elapsed") || line.contains("per_second");
            lines.filter(|line| !timed(line)).collect::<Vec<_>>()
        };
        assert_eq!(figures(&input), figures(&file), "{words}");
    }
    let mut command = linkdoze(folder.path());
    command
        .args(["simulate", "-", "--json"])
        .write_stdin(SCENARIO);
    let (out, _) = run(&mut command, 0);
    assert!(out.contains("\"time_ns\""), "{out}");
    // A fault names its place.
    let mut command = linkdoze(folder.path());
    command
        .args(["estimate", "-"])
        .write_stdin("[port]\nslep = 1\n");
    let (_, err) = run(&mut command, 2);
    assert!(err.starts_with("error: -:2:1: "), "{err}");
}

#[test]
fn standard_input_cannot_stand_for_two_files() {
    let folder = folder();
    let mut command = linkdoze(folder.path());
    command
        .args(["predict", "-", "--periods", "-", "--model", "golden"])
        .write_stdin("");
    let (out, err) = run(&mut command, 2);
    assert_eq!(out, "");
    assert!(
        err.contains("standard input stands for one file only"),
        "{err}"
    );
}

/// `20M`, `1e6` and `1_000_000` wherever an option takes a number.
#[test]
fn numbers_may_be_written_as_people_write_them() {
    let folder = folder();
    for (cycles, seeds) in [("2k", "1..2"), ("2e3", "1..2e0"), ("2_000", "1..0.002k")] {
        let words = format!(
            "cosim port.toml --random --engine native --json --cycles {cycles} --seed {seeds}"
        );
        let (out, _) = done(folder.path(), &words);
        let json: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!(json["cycles"], 4000, "{words}");
    }
}

#[test]
fn no_threads_and_too_many_are_told_in_one_message() {
    let folder = folder();
    for (words, legal) in [
        ("simulate scenario.toml --threads 0", "from 1 to 64"),
        ("simulate scenario.toml --threads 65", "from 1 to 64"),
        ("sweep sweep.toml -o results --threads 0", "from 1 to 4096"),
        ("cosim port.toml --random --cycles 0", "from 1 on"),
        ("generate port.toml -o rtl --ports 65", "from 1 to 64"),
        ("verify port.toml --timeout 0", "from 1 to 1000000"),
        ("mutate port.toml --emit 0 --to there", "from 1 on"),
    ] {
        let (out, err) = run(linkdoze(folder.path()).args(words.split(' ')), 2);
        assert_eq!(out, "");
        assert!(err.contains(legal), "{words}: {err}");
    }
}

/// A negative number is a value that is out of range, not an option that nobody knows.
#[test]
fn negative_numbers_and_what_is_none_are_told_the_range() {
    let folder = folder();
    let part =
        "generate port.toml -o rtl --switch-part selectable-ports --ports-down 4 --ports-up 4";
    let lanes = "generate port.toml -o rtl --link-lanes 4";
    for (words, says) in [
        (
            "cosim port.toml --random --seed -1",
            "`-1` is not a seed: a whole number from 0",
        ),
        ("mutate port.toml --seed -1", "must be a whole number from 0 on"),
        (
            "generate port.toml -o rtl --ports -1",
            "must be a whole number from 1 to 64\n",
        ),
        (
            "cosim port.toml --scenario s.toml --wave w.vcd --wave-port -1",
            "must be a whole number from 0 on",
        ),
        (
            &format!("{part} --select-on -0.5"),
            "--select-on -0.5: must be a share of what the ports can carry, 0 to 1",
        ),
        (
            &format!("{part} --select-on nan"),
            "must be a share of what the ports can carry, 0 to 1, with six digits behind the point at \
             most, not inf or nan",
        ),
        (
            &format!("{part} --select-window-ns 1e20"),
            "whole clock cycles of the configuration, not a magnitude of 10^20 or more",
        ),
        (
            &format!("{lanes} --link-gbps inf"),
            "must be above 0 to 8000, with three digits behind the point at most, not inf or nan",
        ),
    ] {
        let (out, err) = run(linkdoze(folder.path()).args(words.split(' ')), 2);
        assert_eq!(out, "");
        assert!(err.contains(says), "{words}: {err}");
        assert!(!err.contains("tip:"), "{words}: {err}");
    }
}

/// The programs of others, and what they call themselves.
#[test]
fn verbose_tells_which_programs_run() {
    let folder = folder();
    let tool = folder.path().join("yosys");
    fs::write(
        &tool,
        "#!/bin/sh\necho 'Yosys 0.1 (a test)'\n[ \"$1\" = -V ]\n",
    )
    .unwrap();
    let mut permissions = fs::metadata(&tool).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    fs::set_permissions(&tool, permissions).unwrap();
    let synth = ["synth", "port.toml", "--target", "xilinx"];
    for (words, told) in [(&["-v"][..], true), (&[], false)] {
        let mut command = linkdoze(folder.path());
        command.args(synth).args(words).env("YOSYS", &tool);
        let (_, err) = run(&mut command, 2);
        let line = format!("linkdoze: {}: Yosys 0.1 (a test)\n", tool.display());
        assert_eq!(err.contains(&line), told, "{err}");
        let line = format!("linkdoze: running \"{}\" ", tool.display());
        assert_eq!(err.contains(&line), told, "{err}");
    }
}

#[test]
fn shells_complete_presets_targets_and_kinds_of_networks() {
    let folder = folder();
    for shell in ["bash", "zsh", "fish"] {
        let (script, _) = done(folder.path(), &format!("completions {shell}"));
        for value in ["bxiv3-hybrid", "ice40", "k-ary-n-tree"] {
            // The scripts of fish complete options only.
            let expected = (shell, value) != ("fish", "k-ary-n-tree");
            assert_eq!(script.contains(value), expected, "{shell}: {value}");
        }
    }
    // What is suggested is not all that is legal.
    let synth = ["synth", "port.toml", "--target", "ice41"];
    let (_, err) = run(linkdoze(folder.path()).args(synth), 2);
    assert!(
        err.contains("ice40, ecp5, xilinx, or liberty:FILE"),
        "{err}"
    );
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = folder();
    let (page, _) = done(folder.path(), "man");
    assert!(
        page.contains(".TH linkdoze 1") && page.contains("simulate"),
        "{page}"
    );
    let (list, _) = done(folder.path(), "man -o pages");
    let help = done(folder.path(), "--help").0;
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let (commands, _) = commands.split_once("\n\n").unwrap();
    let names = commands.lines().filter_map(|line| line.strip_prefix("  "));
    let names = names.filter(|line| !line.starts_with(' '));
    let names: Vec<&str> = names
        .filter_map(|line| line.split(' ').next())
        .filter(|name| *name != "help")
        .collect();
    assert!(names.len() > 12, "{names:?}");
    for name in names {
        let file = format!("pages/linkdoze-{name}.1");
        assert!(list.lines().any(|line| line == file), "{list}");
        let page = fs::read_to_string(folder.path().join(&file)).unwrap();
        assert!(page.contains(&format!(".TH linkdoze-{name} 1")), "{page}");
    }
    assert!(list.contains("pages/linkdoze-trace-info.1\n"), "{list}");
}

/// Two builds of one version can give other results.
#[test]
fn the_long_version_names_the_sources() {
    let folder = folder();
    let (short, _) = done(folder.path(), "-V");
    assert_eq!(short, format!("linkdoze {}\n", env!("CARGO_PKG_VERSION")));
    let (long, _) = done(folder.path(), "--version");
    let digest = long.trim_end().rsplit(' ').next().unwrap();
    assert!(long.starts_with(short.trim_end()), "{long}");
    assert!(
        digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit()),
        "{long}"
    );
}
