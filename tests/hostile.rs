//! The binary under a hostile hand: closed and full outputs, signals, devices, tools that
//! are none.

#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::fcntl::{Flock, FlockArg};
use tempfile::TempDir;

use crate::common::share;

/// A folder with a configuration, idle periods, and a cache of compiled models.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let written = linkdoze(folder.path())
        .args(["init", "--preset", "bxiv3-deep-sleep", "-o", "port.toml"])
        .output()
        .unwrap();
    assert!(written.status.success(), "{written:?}");
    fs::write(folder.path().join("p.csv"), "busy,idle\n100,5000\n").unwrap();
    folder
}

fn linkdoze(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linkdoze"));
    command
        .current_dir(folder)
        .env("LINKDOZE_CACHE", folder.join("cache"))
        // A compiler that is one process can be seen to end with its caller.
        .env_remove("COMPILED_HEADERS")
        .stdin(Stdio::null());
    command
}

/// Standard error without the notes on the configuration.
fn error(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let lines = text.split_inclusive('\n');
    lines.filter(|line| !line.starts_with("note: ")).collect()
}

/// The names in a folder, which need not exist.
fn names(folder: &Path) -> Vec<String> {
    if !folder.exists() {
        return Vec::new();
    }
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Everything that prints to standard output and needs no tools.
const PRINTING: [&[&str]; 9] = [
    &["--help"],
    &["--version"],
    &["estimate", "--help"],
    &["presets"],
    &["init", "--preset", "10gbase-t"],
    &["estimate", "port.toml", "--json"],
    &["generate", "port.toml", "-o", "rtl"],
    &["completions", "bash"],
    &[
        "predict",
        "port.toml",
        "--periods",
        "p.csv",
        "--model",
        "golden",
    ],
];

#[test]
fn a_full_standard_output_is_an_error() {
    let folder = folder();
    for arguments in PRINTING {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = linkdoze(folder.path())
            .args(arguments)
            .stdout(full)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?} {output:?}");
        let text = error(&output);
        assert!(
            text.starts_with("error: cannot write to standard output: "),
            "{arguments:?}: {text}"
        );
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = folder();
    for arguments in PRINTING {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = linkdoze(folder.path())
            .args(arguments)
            .stdout(writer)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?} {output:?}");
        assert_eq!(error(&output), "", "{arguments:?}");
    }
}

#[test]
fn messages_that_nobody_can_read_change_no_status() {
    let folder = folder();
    for (arguments, status) in [
        (&["estimate", "missing.toml"][..], 2),
        (&["generate", "port.toml", "-o", "missing", "--check"], 1),
        (&["init", "--preset", "10gbase-t", "-o", "new.toml"], 0),
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let ended = linkdoze(folder.path())
            .args(arguments)
            .stderr(full)
            .status()
            .unwrap();
        assert_eq!(ended.code(), Some(status), "{arguments:?}");
    }
}

#[test]
fn only_regular_files_are_replaced() {
    let folder = folder();
    // A socket stands for every special file: were the check to go, a device of the machine
    // would be lost to the test.
    let _socket = UnixListener::bind(folder.path().join("socket")).unwrap();
    for (place, what) in [
        ("socket", "not a regular file"),
        ("cache/", "the name is that of a folder"),
        (
            "port.toml/x",
            "error: port.toml: not a folder; name a folder to write to",
        ),
        (
            "/proc/k",
            "there; nothing was left behind: name another file\n",
        ),
    ] {
        let output = linkdoze(folder.path())
            .args(["init", "--preset", "10gbase-t", "--force", "-o", place])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{place}: {output:?}");
        assert!(error(&output).contains(what), "{place}: {}", error(&output));
    }
    assert_eq!(names(folder.path()), ["p.csv", "port.toml", "socket"]);
}

#[test]
fn an_input_is_not_replaced_by_an_output() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("io")).unwrap();
    let scenario = "[topology]\nkind = \"single-switch\"\nnodes = 2\n\
                    [traffic]\nkind = \"skeleton\"\nprogram = \"lammps\"\nranks = 2\nsteps = 1\n";
    for name in ["io/summary.json", "io/ports.csv", "scenario.toml"] {
        fs::write(at(name), scenario).unwrap();
    }
    fs::copy(at("port.toml"), at("io/port.v")).unwrap();
    std::os::unix::fs::symlink("../scenario.toml", at("io/link.goal")).unwrap();
    fs::hard_link(at("scenario.toml"), at("io/hard.goal")).unwrap();
    let before = names(&at("io"));
    for arguments in [
        &["simulate", "io/summary.json", "-o", "io"][..],
        &["simulate", "io/ports.csv", "-o", "io/../io"],
        &["generate", "io/port.v", "-o", "io"],
        &["trace", "export", "scenario.toml", "-o", "scenario.toml"],
        &["trace", "export", "scenario.toml", "-o", "io/link.goal"],
        &["trace", "export", "scenario.toml", "-o", "io/hard.goal"],
    ] {
        let output = linkdoze(folder.path()).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?} {output:?}");
        let text = error(&output);
        assert!(
            text.contains("an input of this run"),
            "{arguments:?}: {text}"
        );
        assert_eq!(names(&at("io")), before, "{arguments:?}");
    }
    assert_eq!(fs::read_to_string(at("scenario.toml")).unwrap(), scenario);
    assert_eq!(fs::read_to_string(at("io/summary.json")).unwrap(), scenario);
}

/// Nothing of a user's is lost to results, and a folder that cannot be written is told before the run
/// that would take its time.
#[test]
fn results_take_the_place_of_nothing_but_results() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let scenario = "[topology]\nkind = \"single-switch\"\nnodes = 2\n\
                    [traffic]\nkind = \"skeleton\"\nprogram = \"lammps\"\nranks = 2\nsteps = 1\n";
    fs::write(at("scenario.toml"), scenario).unwrap();
    let refused = |arguments: &[&str], says: &str| {
        let output = linkdoze(folder.path()).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?} {output:?}");
        let text = error(&output);
        assert!(text.contains(says), "{arguments:?}: {text}");
    };
    let simulate = |more: &[&str]| {
        let mut command = linkdoze(folder.path());
        let output = command.args(["simulate", "scenario.toml", "-o", "out"]);
        let output = output.args(more).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        error(&output)
    };
    // Of the user's own, with a summary of somebody else's or without.
    fs::create_dir(at("out")).unwrap();
    fs::write(at("out/idle.csv"), "mine").unwrap();
    let simulated = ["simulate", "scenario.toml", "-o", "out"];
    refused(
        &simulated,
        "error: out/idle.csv: would be replaced or removed, and no summary.json of linkdoze",
    );
    fs::write(at("out/summary.json"), "{\"inputs\": 1}").unwrap();
    refused(
        &simulated,
        "error: out/summary.json, out/idle.csv: would be",
    );
    assert_eq!(names(&at("out")), ["idle.csv", "summary.json"]);
    assert_eq!(fs::read_to_string(at("out/idle.csv")).unwrap(), "mine");
    // Those of an earlier run, and what is left of it.
    fs::remove_dir_all(at("out")).unwrap();
    assert_eq!(simulate(&[]), "");
    fs::write(at("out/notes.txt"), "mine").unwrap();
    fs::write(at("out/series.parquet"), "of an earlier run").unwrap();
    assert_eq!(
        simulate(&[]),
        "removed, of an earlier run: out/series.parquet\n"
    );
    let kept = ["idle.csv", "notes.txt", "ports.csv", "summary.json"];
    assert_eq!(names(&at("out")), kept);
    // Before the run: no line of progress, no file.
    let nowhere = "no file or folder can be made there; name another";
    refused(&["simulate", "scenario.toml", "-o", "/proc/k"], nowhere);
    let file = "port.toml: not a folder; name a folder to write to";
    refused(&["simulate", "scenario.toml", "-o", "port.toml"], file);
    refused(&["verify", "port.toml", "--traces", "/proc/k"], nowhere);
    refused(&["verify", "port.toml", "--traces", "port.toml"], file);
    refused(
        &["mutate", "port.toml", "--no-equivalence", "-o", "/proc/k"],
        "/proc/k: cannot write: no file or folder can be made there",
    );
    // A page is HTML, and a name says how a trace is compressed.
    refused(
        &["report", "out", "-o", "scenario.toml"],
        "scenario.toml: the page is HTML, and this is not the name of such a file; end it with .html",
    );
    for end in ["gz", "bz2", "xz"] {
        let name = format!("program.goal.{end}");
        refused(
            &["trace", "export", "scenario.toml", "-o", &name],
            &format!("{name}: nothing is compressed as .{end} here; end the name with .zst"),
        );
    }
    let inputs = ["out", "p.csv", "port.toml", "scenario.toml"];
    assert_eq!(names(folder.path()), inputs);
    assert_eq!(fs::read_to_string(at("scenario.toml")).unwrap(), scenario);
}

#[test]
fn two_processes_do_not_generate_into_one_folder() {
    let folder = folder();
    fs::create_dir(folder.path().join("rtl")).unwrap();
    let generate = || {
        linkdoze(folder.path())
            .args(["generate", "port.toml", "-o", "rtl", "--constraints", "sdc"])
            .output()
            .unwrap()
    };
    // As another process holds it.
    let open = File::open(folder.path().join("rtl")).unwrap();
    let held = Flock::lock(open, FlockArg::LockExclusiveNonblock).unwrap();
    let refused = generate();
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    let text = error(&refused);
    assert!(
        text.contains("rtl: another linkdoze writes into this folder"),
        "{text}"
    );
    assert_eq!(names(&folder.path().join("rtl")), Vec::<String>::new());
    drop(held);
    assert_eq!(generate().status.code(), Some(0));
    // The folder of the constraints, too.
    let open = File::open(folder.path().join("sdc")).unwrap();
    let _held = Flock::lock(open, FlockArg::LockExclusiveNonblock).unwrap();
    assert_eq!(generate().status.code(), Some(2));
}

#[test]
fn devices_without_end_are_refused() {
    let folder = folder();
    let predict = [
        "predict",
        "port.toml",
        "--model",
        "golden",
        "--periods",
        "/dev/zero",
    ];
    for arguments in [
        &["estimate", "/dev/zero"][..],
        &["trace", "info", "/dev/zero"],
        &["cosim", "port.toml", "--scenario", "/dev/zero"],
        &predict,
    ] {
        let output = linkdoze(folder.path()).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?} {output:?}");
        assert!(error(&output).contains("longer than"), "{}", error(&output));
    }
}

/// An executable script in `folder`.
fn script(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Waits until `path` has a number, and returns it.
fn number_in(path: &Path) -> u32 {
    let began = Instant::now();
    loop {
        let number = fs::read_to_string(path).unwrap_or_default();
        if let Ok(number) = number.trim().parse() {
            return number;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{path:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn kill(signal: &str, process: u32) -> bool {
    let sent = Command::new("kill")
        .args([signal, &process.to_string()])
        .stderr(Stdio::null())
        .status();
    sent.unwrap().success()
}

/// Programs that never end: they say who they are, and wait for a child of their own.
const HANGS: &str = "sleep 600 &\necho $! >child.new; mv child.new \"$CHILD\"; wait\n";

/// The commands that wait for such a program, as they are started.
fn hanging(folder: &Path) -> [Command; 3] {
    fs::create_dir_all(folder.join("tmp")).unwrap();
    script(
        folder,
        "verilator",
        &format!("case $1 in --version|--getenv) exec verilator \"$@\";; esac\n{HANGS}"),
    );
    script(
        folder,
        "yosys",
        &format!("case $1 in -V) echo Yosys 0.23; exit;; esac\n{HANGS}"),
    );
    [
        &["cosim", "port.toml", "--random"][..],
        &[
            "predict",
            "port.toml",
            "--periods",
            "p.csv",
            "--model",
            "rtl",
        ],
        &["synth", "port.toml", "--target", "ice40"],
    ]
    .map(|arguments| {
        let mut command = linkdoze(folder);
        command
            .args(arguments)
            .env("TMPDIR", folder.join("tmp"))
            .env("CHILD", folder.join("child"))
            .env("VERILATOR", folder.join("verilator"))
            .env("YOSYS", folder.join("yosys"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    })
}

#[test]
fn signals_leave_no_program_and_no_temporary_file_behind() {
    let folder = folder();
    // Each to the process alone, as batch systems send them.
    let mut signals = vec!["-INT", "-TERM"];
    if !hangups_are_ignored() {
        signals.push("-HUP");
    }
    for signal in signals {
        for mut command in hanging(folder.path()) {
            let process = command.spawn().unwrap();
            let child = number_in(&folder.path().join("child"));
            assert!(kill("-0", child));
            assert!(kill(signal, process.id()));
            let output = process.wait_with_output().unwrap();
            assert_eq!(output.status.code(), Some(130), "{command:?} {output:?}");
            assert!(error(&output).contains("interrupted"), "{output:?}");
            assert!(!kill("-0", child), "{signal}: {command:?} left a program");
            for place in ["cache", "tmp"] {
                let left = names(&folder.path().join(place));
                assert_eq!(left, Vec::<String>::new(), "{signal}: {command:?}");
            }
            fs::remove_file(folder.path().join("child")).unwrap();
        }
    }
}

/// The tests run under `nohup`, and so does what they start.
fn hangups_are_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // SIGHUP is number 1.
    mask.is_some_and(|mask| mask & 1 != 0)
}

#[test]
fn nohup_is_heeded() {
    let folder = folder();
    let [command, ..] = hanging(folder.path());
    let mut nohup = Command::new("sh");
    let environment = command
        .get_envs()
        .filter_map(|(name, value)| Some((name, value?)));
    nohup
        .current_dir(folder.path())
        .args(["-c", "trap '' HUP; exec \"$@\"", "sh"])
        .arg(command.get_program())
        .args(command.get_args())
        .envs(environment)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut process = nohup.spawn().unwrap();
    number_in(&folder.path().join("child"));
    assert!(kill("-HUP", process.id()));
    std::thread::sleep(Duration::from_millis(300));
    assert!(process.try_wait().unwrap().is_none());
    assert!(kill("-TERM", process.id()));
    assert_eq!(process.wait().unwrap().code(), Some(130));
}

#[test]
fn a_killed_run_leaves_nothing_that_the_next_one_does_not_remove() {
    let folder = folder();
    let cache = folder.path().join("cache");
    let [mut command, ..] = hanging(folder.path());
    let mut process = command.spawn().unwrap();
    let child = number_in(&folder.path().join("child"));
    let building = |name: &String| name.starts_with(".build-");
    assert_eq!(
        names(&cache).iter().filter(|name| building(name)).count(),
        1
    );
    // While it lives another run leaves its folder alone.
    fs::remove_file(folder.path().join("child")).unwrap();
    let mut other = command.spawn().unwrap();
    let others = number_in(&folder.path().join("child"));
    assert_eq!(
        names(&cache).iter().filter(|name| building(name)).count(),
        2
    );
    process.kill().unwrap();
    process.wait().unwrap();
    other.kill().unwrap();
    other.wait().unwrap();
    assert!(kill("-KILL", child) && kill("-KILL", others));
    assert_eq!(
        names(&cache).iter().filter(|name| building(name)).count(),
        2
    );
    let failing = "case $1 in --version|--getenv) exec verilator \"$@\";; esac\nexit 1\n";
    script(folder.path(), "verilator", failing);
    let verilator = folder.path().join("verilator");
    let ended = command.env("VERILATOR", verilator).output().unwrap();
    assert_eq!(ended.status.code(), Some(2), "{ended:?}");
    assert_eq!(names(&cache), Vec::<String>::new());
}

#[test]
fn a_waveform_that_does_not_fit_on_the_disk_is_an_error_and_leaves_nothing() {
    let folder = folder();
    let writers = [
        ("w.vcd", "verilator"),
        ("w.fst", "verilator"),
        ("w.vcd", "native"),
    ];
    for &(wave, engine) in share(&writers, 2) {
        let arguments = ["cosim", "port.toml", "--line-rate", "--cycles", "20000"];
        let run = |limit: &str| {
            // No file may be longer than the limit, in blocks of 512 bytes: writing fails in the
            // middle, as it does on a full disk.
            Command::new("sh")
                .current_dir(folder.path())
                .args([
                    "-c",
                    "trap '' XFSZ; ulimit -f \"$1\"; shift; exec \"$@\"",
                    "sh",
                    limit,
                ])
                .arg(env!("CARGO_BIN_EXE_linkdoze"))
                .args(arguments)
                .args(["--engine", engine, "--wave", wave])
                .output()
                .unwrap()
        };
        // The model is compiled without a limit.
        let whole = run("unlimited");
        assert_eq!(whole.status.code(), Some(0), "{whole:?}");
        let length = fs::metadata(folder.path().join(wave)).unwrap().len();
        assert!(length > 200_000, "{length}");
        fs::remove_file(folder.path().join(wave)).unwrap();
        let cut = run("200");
        assert_eq!(cut.status.code(), Some(2), "{wave} {engine}: {cut:?}");
        let text = error(&cut);
        assert!(text.contains("the waveform cannot be written"), "{text}");
        assert!(text.contains(wave), "{text}");
        assert_eq!(
            names(folder.path()),
            ["p.csv", "port.toml"],
            "{wave} {engine}"
        );
    }
}

#[test]
fn a_compiler_that_writes_nothing_is_named_and_not_kept() {
    let folder = folder();
    let output = linkdoze(folder.path())
        .args(["cosim", "port.toml", "--random", "--cycles", "1000"])
        .env("CXX", "true")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let text = error(&output);
    assert!(
        text.contains("`true` reports no error, but writes no"),
        "{text}"
    );
    assert!(text.contains("CXX"), "{text}");
    assert_eq!(names(&folder.path().join("cache")), Vec::<String>::new());
}

#[test]
fn broken_verilog_is_refused_with_the_place() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let cosim = |expected: &str| {
        let output = linkdoze(folder.path())
            .args([
                "cosim",
                "port.toml",
                "--random",
                "--cycles",
                "1000",
                "--rtl",
                "rtl",
            ])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(error(&output).contains(expected), "{}", error(&output));
    };
    let emitted = linkdoze(folder.path())
        .args(["generate", "port.toml", "-o", "rtl"])
        .output()
        .unwrap();
    assert!(emitted.status.success());
    let port = fs::read_to_string(at("rtl/port.v")).unwrap();

    // An old copy beside the new one: neither may pass for the other.
    fs::write(at("rtl/port_old.v"), &port).unwrap();
    cosim("Duplicate declaration of module: 'port'");
    fs::remove_file(at("rtl/port_old.v")).unwrap();

    let looping = port.replace(
        "endmodule",
        "    wire a, b;\n    assign a = ~b ^ receiving;\n    assign b = a ^ transmitting;\n    \
         reg k;\n    always @(posedge clk) k <= a;\n    \
         always @(posedge clk) if (k) $display(\"k\");\nendmodule",
    );
    fs::write(at("rtl/port.v"), looping).unwrap();
    cosim("did not converge");

    fs::write(at("rtl/port.v"), b"module port; // \xff").unwrap();
    cosim("rtl/port.v: not UTF-8 at byte 16");
    fs::remove_file(at("rtl/port.v")).unwrap();
    cosim("no module `port`");
    fs::remove_dir_all(at("rtl")).unwrap();
    cosim("rtl: cannot read: No such file or directory");
}
