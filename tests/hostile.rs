//! The binary under a hostile hand: closed and full outputs, signals, devices, tools that
//! are none.

#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

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
        ("port.toml/x", "cannot be made"),
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

#[test]
fn ctrl_c_leaves_nothing_half_written() {
    let folder = folder();
    // The compilation of a model takes seconds; the signal goes to the whole group, as the
    // terminal sends it.
    let child = linkdoze(folder.path())
        .args([
            "predict",
            "port.toml",
            "--periods",
            "p.csv",
            "--model",
            "rtl",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    let cache = folder.path().join("cache");
    let began = Instant::now();
    while !names(&cache).iter().any(|name| name.starts_with(".build-")) {
        assert!(began.elapsed() < Duration::from_secs(60), "no build began");
        std::thread::sleep(Duration::from_millis(20));
    }
    let killed = Command::new("kill")
        .args(["-INT", "--", &format!("-{}", child.id())])
        .status()
        .unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert!(error(&output).contains("interrupted"), "{}", error(&output));
    let left = names(&cache);
    assert!(left.iter().all(|name| !name.starts_with('.')), "{left:?}");
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
