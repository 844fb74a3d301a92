//! The binary from outside: configurations, presets, estimates, predictions.

use std::fs;
use std::path::Path;

use predicates::prelude::*;
use tempfile::TempDir;

use crate::common::{linkdoze, run, without_notes};

const PRESETS: [&str; 7] = [
    "bxiv3-deep-sleep",
    "bxiv3-fast-wake",
    "bxiv3-hybrid",
    "10gbase-t",
    "25gbase-r",
    "100gbase-r",
    "400gbase-r",
];

const PREDICT: [&str; 6] = [
    "predict",
    "port.toml",
    "--periods",
    "p.csv",
    "--model",
    "reference",
];

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn write(folder: &TempDir, name: &str, content: impl AsRef<[u8]>) {
    fs::write(folder.path().join(name), content).unwrap();
}

fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn presets_are_listed_written_and_estimated() {
    let folder = folder();
    let list = linkdoze(folder.path()).arg("presets").assert().success();
    let list = String::from_utf8(list.get_output().stdout.clone()).unwrap();
    let names: Vec<&str> = list
        .lines()
        .map(|line| line.split_whitespace().next().unwrap())
        .collect();
    // A line each, for scripts that take the first word.
    assert_eq!(names, PRESETS);
    for preset in PRESETS {
        let file = format!("{preset}.toml");
        linkdoze(folder.path())
            .args(["init", "--preset", preset, "-o", &file])
            .assert()
            .success()
            .stdout("");
        let printed = linkdoze(folder.path())
            .args(["init", "--preset", preset])
            .assert()
            .success();
        let text = fs::read(folder.path().join(&file)).unwrap();
        assert_eq!(printed.get_output().stdout, text);
        linkdoze(folder.path())
            .args(["estimate", &file, "--all"])
            .assert()
            .success()
            .stdout(predicate::str::contains("28×10^6 s"));
    }
    assert_eq!(files(folder.path()).len(), PRESETS.len());
}

#[test]
fn init_names_the_nearest_preset_and_overwrites_nothing() {
    let folder = folder();
    linkdoze(folder.path())
        .args(["init", "--preset", "bxi3-hybrid", "-o", "port.toml"])
        .assert()
        .code(2)
        .stderr(predicate::str::contains("the nearest is \"bxiv3-hybrid\""));
    assert!(files(folder.path()).is_empty());
    write(&folder, "port.toml", "mine");
    let init = ["init", "--preset", "10gbase-t", "-o", "port.toml"];
    linkdoze(folder.path())
        .args(init)
        .assert()
        .code(2)
        .stderr(predicate::str::contains("exists already"));
    linkdoze(folder.path())
        .args([&init[..4], &["."]].concat())
        .assert()
        .code(2)
        .stderr(predicate::str::contains(
            ".: is a folder; name a file in it",
        ));
    let content = || fs::read_to_string(folder.path().join("port.toml")).unwrap();
    assert_eq!(content(), "mine");
    linkdoze(folder.path())
        .args(init)
        .arg("--force")
        .assert()
        .success();
    assert!(content().contains("10GBASE-T"));
    linkdoze(folder.path())
        .args([
            "init",
            "--preset",
            "10gbase-t",
            "-o",
            "port.toml/below.toml",
        ])
        .assert()
        .code(2)
        .stderr(predicate::str::diff(
            "error: port.toml: not a folder; name a folder to write to\n",
        ));
    assert_eq!(files(folder.path()), ["port.toml"]);
}

/// Configurations that must be refused: text, place of the fault, what the message says.
#[test]
fn bad_configurations_exit_with_2_and_a_way_out() {
    let cases: [(&[u8], &str, &[&str]); 27] = [
        (
            b"[port]\ntime_width = 70\n",
            "2:14",
            &["70", "8 to 64", "value is 64"],
        ),
        (
            b"[port]\ntime_width = 0\n",
            "2:14",
            &["8 to 64", "value is 8"],
        ),
        (
            b"[port]\ntime_width = -32\n",
            "2:14",
            &["-32", "value is 8"],
        ),
        (
            b"[port]\ntime_width = \"wide\"\n",
            "2:14",
            &["whole number", "not a string"],
        ),
        (b"[port]\ntime_width = 32.5\n", "2:14", &["whole number"]),
        (
            b"[port]\npolicy = \"perfbond\"\n",
            "2:10",
            &["nearest is \"perfbound\""],
        ),
        (
            b"[port]\nsleep = \"deep_sleep\"\n",
            "2:9",
            &["nearest is \"deep-sleep\""],
        ),
        (
            b"[port]\nslep = \"deep-sleep\"\n",
            "2:1",
            &["unknown key", "`sleep`"],
        ),
        (
            b"[histgram]\nbins = 4\n",
            "1:2",
            &["unknown table", "[histogram]"],
        ),
        (
            b"time_width = 32\n",
            "1:1",
            &["belongs in the table [port]"],
        ),
        (
            b"[clock]\ntick_ns = 1\ntick_ns = 2\n",
            "3:1",
            &["duplicate"],
        ),
        (b"[clock\ntick_ns = 1\n", "1:7", &["not valid TOML"]),
        (
            b"[clock]\nperiod_ps = 3000\ntick_ns = 10\n",
            "3:11",
            &["9 and 12"],
        ),
        (b"[clock]\ntick_ns = nan\n", "2:11", &["not inf or nan"]),
        (
            b"[clock]\ntick_ns = \"4-5 us\"\n",
            "2:11",
            &["not text that is no number"],
        ),
        (b"[histogram]\nbins = 5000\n", "2:8", &["4 to 4096"]),
        (b"[histogram]\nbin_ns = 1000\n", "2:10", &["512 and 1024"]),
        (b"[histogram]\nmax_samples = 0\n", "2:15", &["value is 1"]),
        (
            b"[port]\ntime_width = 16\n[histogram]\nbin_ns = 16384\n",
            "4:10",
            &["histogram.bins = 256", "port.time_width = 16", "is 256"],
        ),
        (
            b"[port]\ntime_width = 16\n[histogram]\nttl_ns = 1000000000\n",
            "4:10",
            &["65535", "port.time_width = 16"],
        ),
        (
            b"[states.fast-wake]\nt_w_ns = 0.3\n",
            "2:10",
            &["at least 1, of clock periods"],
        ),
        (
            b"[states.deep-sleep]\nt_q_ns = 20000\n",
            "2:10",
            &["t_r_ns", "both"],
        ),
        (
            b"[states.deep-sleep]\npower_w = 30\n",
            "2:11",
            &["states.wake.power_w = 24"],
        ),
        (b"[perfbound]\nbound = 1.5\n", "2:9", &["below 1"]),
        (
            b"[perfbound]\nhops = [[4, 0.7], [6, 0.4]]\n",
            "2:8",
            &["add up to 1", "1.1"],
        ),
        (
            b"[perfbound]\nhops = [[4, 1.0]]\nhop_factor = 0.0023\n",
            "3:14",
            &["perfbound.hops is there too"],
        ),
        (b"[port]\n# caf\xe9\n", "2:6", &["not UTF-8", "0xe9"]),
    ];
    let folder = folder();
    write(&folder, "p.csv", "busy,idle\n1,2\n");
    for (text, place, words) in cases {
        write(&folder, "port.toml", text);
        for command in [&["estimate", "port.toml", "--json"][..], &PREDICT] {
            let assert = linkdoze(folder.path())
                .args(command)
                .assert()
                .code(2)
                .stdout("")
                .stderr(predicate::str::starts_with(format!(
                    "error: port.toml:{place}: "
                )))
                .stderr(predicate::str::contains("panicked").not());
            let stderr = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
            for word in words {
                assert!(stderr.contains(word), "no {word} in {stderr}");
            }
        }
        assert_eq!(files(folder.path()), ["p.csv", "port.toml"]);
    }
}

#[test]
fn configurations_that_are_no_files() {
    let folder = folder();
    fs::create_dir(folder.path().join("folder.toml")).unwrap();
    for name in ["missing.toml", "folder.toml"] {
        linkdoze(folder.path())
            .args(["estimate", name])
            .assert()
            .code(2)
            .stderr(predicate::str::starts_with(format!(
                "error: {name}: cannot read"
            )));
    }
}

#[test]
fn an_empty_configuration_is_all_defaults() {
    let folder = folder();
    write(&folder, "empty.toml", "");
    let output = linkdoze(folder.path())
        .args(["estimate", "empty.toml", "--json"])
        .assert()
        .success()
        .stderr(predicate::str::is_match("^(note: .*\n)*$").unwrap());
    let json: serde_json::Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
    assert_eq!(json["max_time"]["seconds"], 4.294967296);
    assert_eq!(json["table5_max_time_s"]["16"][0], 6.5536e-05);
}

#[test]
fn reference_predictions_are_the_definition() {
    let folder = folder();
    // l / t_w = 0.1 per tick, bins of 8 ticks: computed by hand in the reference's tests.
    write(
        &folder,
        "port.toml",
        "[states.deep-sleep]\nt_w_ns = 5\n[perfbound]\nhop_factor = 0.5\n\
         [histogram]\nbins = 4\nbin_ns = 8\nmax_samples = 3\nttl_ns = 0\n",
    );
    write(
        &folder,
        "p.csv",
        "busy,idle\n2,5\n3,20\n1,4\n5,40\n6,15\n1,6\n",
    );
    linkdoze(folder.path())
        .args(PREDICT)
        .assert()
        .success()
        .stderr("")
        .stdout(
            "period,t_inac,miss,window,budget,t_pb,cf,t_pdt\n\
             0,5,0,7,0,12,1,12\n\
             1,20,1,30,3,4,1,4\n\
             2,4,0,35,3,4,1,4\n\
             3,32,1,0,0,32,1,32\n\
             4,15,0,21,2,4,1,4\n\
             5,6,1,28,2,12,1,12\n",
        );
}

#[test]
fn corrected_thresholds_read_back() {
    let folder = folder();
    write(
        &folder,
        "port.toml",
        "[port]\npolicy = \"perfbound-correct\"\n[correction]\nhistory = 3\nmode = \"raw\"\n",
    );
    let mut periods = String::from("busy,idle\n");
    for index in 0..50u32 {
        periods += &format!("{},{}\n", 100_000_000 + index, 7 + index * 997 % 30_011);
    }
    write(&folder, "p.csv", periods);
    let output = linkdoze(folder.path()).args(PREDICT).assert().success();
    let text = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    let mut corrected = 0;
    for line in text.lines().skip(1) {
        let fields: Vec<f64> = line.split(',').map(|f| f.parse().unwrap()).collect();
        let (t_pb, cf, t_pdt) = (fields[5], fields[6], fields[7]);
        assert_eq!(t_pdt, (t_pb * cf).min(4_194_304.0), "{line}");
        corrected += u32::from(cf != 1.0);
    }
    assert_eq!(text.lines().count(), 51);
    assert!(corrected > 5, "{text}");
}

#[test]
fn bad_periods_exit_with_2_and_the_line() {
    let folder = folder();
    write(&folder, "port.toml", "");
    let cases: [(&[u8], &str); 8] = [
        (b"", "p.csv:1: the first line must be"),
        (b"idle,busy\n1,2\n", "p.csv:1: the first line must be"),
        (b"busy,idle\n", "p.csv: no periods"),
        (b"busy,idle\n1,2\n1,-2\n", "p.csv:3: idle = \"-2\""),
        (b"busy,idle\n1,2us\n", "p.csv:2: idle = \"2us\""),
        (b"busy,idle\n1,2\n1\n", "p.csv:3: 1 fields"),
        (b"busy,idle\n0,2\n", "p.csv:2: busy = \"0\""),
        (b"busy,idle\n1,\xfe\n", "p.csv:2: not UTF-8"),
    ];
    for (text, message) in cases {
        write(&folder, "p.csv", text);
        let (out, err) = run(linkdoze(folder.path()).args(PREDICT), 2);
        // Not even the header: who reads on would take the rows before the fault for all.
        assert_eq!(out, "");
        let begin = format!("error: {message}");
        assert!(without_notes(&err).starts_with(&begin), "{err}");
    }
    fs::remove_file(folder.path().join("p.csv")).unwrap();
    linkdoze(folder.path())
        .args(PREDICT)
        .assert()
        .code(2)
        .stderr(predicate::str::contains("p.csv: cannot read"));
    // The cause is said once.
    fs::create_dir(folder.path().join("p.csv")).unwrap();
    linkdoze(folder.path())
        .args(PREDICT)
        .assert()
        .code(2)
        .stderr(predicate::str::contains("directory").count(1));
    fs::remove_dir(folder.path().join("p.csv")).unwrap();
    // No packets are told: the hop factor stays where it begins.
    write(&folder, "port.toml", "[perfbound]\nhops = \"measured\"\n");
    write(&folder, "p.csv", "busy,idle\n1,2\n");
    linkdoze(folder.path()).args(PREDICT).assert().success();
}

/// A reader that goes away early is no fault and no panic.
#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_fault() {
    let folder = folder();
    write(&folder, "port.toml", "");
    let mut periods = String::from("busy,idle\n");
    for _ in 0..50_000 {
        periods += "1000,5000\n";
    }
    write(&folder, "p.csv", periods);
    let program = assert_cmd::cargo::cargo_bin("linkdoze");
    let mut child = std::process::Command::new(program)
        .args(PREDICT)
        .current_dir(folder.path())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(without_notes(&err), "");
}

#[test]
fn usage_errors_exit_with_2() {
    let folder = folder();
    for arguments in [
        &["nap"][..],
        &[],
        &["estimate"],
        &[
            "predict",
            "a.toml",
            "--periods",
            "b.csv",
            "--model",
            "oracle",
        ],
        &["completions", "tcsh"],
    ] {
        linkdoze(folder.path()).args(arguments).assert().code(2);
    }
    for shell in ["bash", "zsh", "fish"] {
        linkdoze(folder.path())
            .args(["completions", shell])
            .assert()
            .success()
            .stdout(predicate::str::contains("estimate"));
    }
}

/// With registers the description of the register map lies beside the Verilog; without,
/// nothing does. `--check` sees an edited header.
#[test]
fn registers_come_with_their_description() {
    let folder = folder();
    let names = |output: &str| -> Vec<String> {
        let mut names = files(&folder.path().join(output));
        names.retain(|name| name.contains("registers"));
        names
    };
    write(&folder, "plain.toml", "[port]\npolicy = \"fixed\"\n");
    write(
        &folder,
        "port.toml",
        "[port]\npolicy = \"fixed\"\nregisters = true\n",
    );
    let generate = |arguments: &[&str]| {
        let mut command = linkdoze(folder.path());
        command.arg("generate").args(arguments);
        command.assert()
    };
    generate(&["plain.toml", "-o", "plain"]).success();
    assert_eq!(names("plain"), [""; 0]);
    generate(&["port.toml", "-o", "one"]).success();
    assert_eq!(
        names("one"),
        [
            "port_registers.h",
            "port_registers.md",
            "port_registers.rdl"
        ]
    );
    // Several ports have registers whatever the configuration says.
    generate(&["plain.toml", "--ports", "2", "-o", "two"]).success();
    assert_eq!(
        names("two"),
        [
            "switch_ports_registers.h",
            "switch_ports_registers.md",
            "switch_ports_registers.rdl"
        ]
    );
    let check = ["plain.toml", "--ports", "2", "-o", "two", "--check"];
    generate(&check).success();
    fs::write(folder.path().join("two/switch_ports_registers.h"), "").unwrap();
    generate(&check).code(1).stderr(predicate::str::contains(
        "generate plain.toml --ports 2 -o two",
    ));
    for ports in ["0", "65", "many"] {
        generate(&["plain.toml", "--ports", ports, "-o", "bad"])
            .code(2)
            .stderr(predicate::str::contains("--ports"));
    }
    assert!(!folder.path().join("bad").exists());
}

/// SPEC 6: every command that reads a configuration whose bins end before t_w / l says so in one
/// line, with the smallest bin that would do; those that have JSON have it in `notes`.
#[test]
fn bounds_that_cannot_be_kept_are_told_by_every_command() {
    let folder = folder();
    let histogram = "bins = 128\nbin_ns = 1\nmax_value_ns = 4194304\n";
    write(&folder, "port.toml", format!("[histogram]\n{histogram}"));
    write(&folder, "p.csv", "busy,idle\n500,5\n500,6\n");
    let scenario = |power: &str| {
        format!(
            "[topology]\nkind = \"single-switch\"\nnodes = 2\n[traffic]\nkind = \"uniform\"\n\
             [run]\nduration_ns = 1000\n{power}"
        )
    };
    let file = "[power]\ncontroller = \"port.toml\"\n";
    write(&folder, "file.toml", scenario(file));
    let inline = format!("[power.histogram]\n{histogram}");
    write(&folder, "inline.toml", scenario(&inline));
    let sweep = "scenario = \"file.toml\"\nstates = [\"deep-sleep\"]\n[fixed]\nt_pdt_ns = []\n\
                 [perfbound]\npolicies = [\"perfbound\"]\nbounds = [0.01]\n\
                 histograms = [\"clearing\"]\n";
    write(&folder, "sweep.toml", sweep);
    let line = "note: perfbound.bound cannot be kept: misses become as rare as it asks only with \
                thresholds of up to t_w / l = 2226087 ns, and the 128 bins of histogram.bin_ns = 1 \
                reach 128 ns; the smallest histogram.bin_ns that would do is 32768\n";
    // In a network the hop counts are those of its routing: 2 links from node to node.
    let in_network = line
        .replace("2226087", "896000")
        .replace("do is 32768", "do is 8192");
    for command in [
        "generate port.toml -o rtl",
        "estimate port.toml --json",
        "predict port.toml --periods p.csv --model golden",
        "cosim port.toml --engine native --random --cycles 2000 --json",
        "cosim port.toml --engine native --pair --delay 1 --cycles 2000 --json",
        "simulate file.toml --json",
        "simulate inline.toml --json",
        "sweep sweep.toml -o results",
    ] {
        let runs_network = command.starts_with("simulate") || command.starts_with("sweep");
        let line = if runs_network { &*in_network } else { line };
        let note = line.trim_start_matches("note: ").trim_end();
        let done = linkdoze(folder.path())
            .args(command.split(' '))
            .assert()
            .success()
            .stderr(predicate::str::contains(line).count(1));
        if command.ends_with("--json") {
            let out = String::from_utf8(done.get_output().stdout.clone()).unwrap();
            let json: serde_json::Value = serde_json::from_str(&out).unwrap();
            let notes = json["notes"].as_array().unwrap();
            assert!(
                notes.iter().any(|told| told == note),
                "{command}: {notes:?}"
            );
        }
    }
    // A threshold that is fixed has no bound to keep.
    write(
        &folder,
        "port.toml",
        format!("[port]\npolicy = \"fixed\"\n[histogram]\n{histogram}"),
    );
    linkdoze(folder.path())
        .args(["generate", "port.toml", "-o", "rtl"])
        .assert()
        .success()
        .stderr(predicate::str::contains("note:").not());
}

/// A machine without any of the programs is told all of them, and how to install each; what a
/// variable names is looked at in place of the usual name.
#[test]
fn doctor_tells_what_is_missing() {
    let folder = folder();
    let mut bare = linkdoze(folder.path());
    bare.arg("doctor")
        .env("PATH", folder.path())
        .env_remove("CXX");
    let (text, _) = run(&mut bare, 1);
    assert!(text.starts_with("MISSING: 13 of 13 programs\n"), "{text}");
    assert!(
        text.contains("Verilator: apt-get install verilator"),
        "{text}"
    );

    let program = folder.path().join("some-yosys");
    fs::write(&program, "#!/bin/sh\necho Yosys 9.9 of nobody\n").unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&program, executable).unwrap();
    let mut one = linkdoze(folder.path());
    one.args(["doctor", "--json"])
        .env("PATH", folder.path())
        .env_remove("CXX");
    let (text, _) = run(one.env("YOSYS", &program), 1);
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let programs = report["programs"].as_array().unwrap();
    let yosys = programs.iter().find(|it| it["program"] == "Yosys").unwrap();
    assert_eq!(yosys["version"], "Yosys 9.9 of nobody");
    assert_eq!(report["missing"].as_array().unwrap().len(), 12);

    // To install what a variable keeps from being found would not help.
    let mut gone = linkdoze(folder.path());
    gone.arg("doctor").env("YOSYS", "/gone/yosys");
    let (text, _) = run(&mut gone, 1);
    let says = "Yosys: mend or unset the environment variable YOSYS (tried `/gone/yosys`";
    assert!(text.contains(says), "{text}");

    // A Z3 that `verify` does not take stands for no solver, and does not replace the others.
    for (version, missing) in [("4.8.12", 13), ("4.13.0", 10)] {
        let program = folder.path().join("z3");
        fs::write(
            &program,
            format!("#!/bin/sh\necho Z3 version {version} - 64 bit\n"),
        )
        .unwrap();
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&program, executable).unwrap();
        let mut old = linkdoze(folder.path());
        old.arg("doctor")
            .env("PATH", folder.path())
            .env_remove("CXX");
        let (text, _) = run(&mut old, 1);
        let says = format!("MISSING: {missing} of 13 programs\n");
        assert!(text.starts_with(&says), "{text}");
    }
}
