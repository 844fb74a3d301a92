//! What the black-box tests share.

use std::path::Path;

use assert_cmd::Command;
use tempfile::TempDir;

/// The presets by name.
pub const PRESETS: [&str; 7] = [
    "bxiv3-deep-sleep",
    "bxiv3-fast-wake",
    "bxiv3-hybrid",
    "10gbase-t",
    "25gbase-r",
    "100gbase-r",
    "400gbase-r",
];

/// A small port with times so short that a few million cycles see the histogram expire, counters and the
/// idle meter saturate, both sleep states and refresh, over and over.
pub const SHORT_TIMES: &str = "\
[clock]
tick_ns = 3
[port]
time_width = 16
policy = \"perfbound\"
sleep = \"hybrid\"
t_pdt_init_ns = 600
hybrid_hold_ns = 150
sync = \"levels\"
[states.fast-wake]
t_w_ns = 30
t_s_ns = 20
[states.deep-sleep]
t_w_ns = 90
t_s_ns = 60
t_q_ns = 200
t_r_ns = 25
[histogram]
bins = 32
bin_ns = 48
counter_bits = 4
max_samples = 40
ttl_ns = 12000
max_value_ns = 1536
[perfbound]
hop_factor = 0.1
";

/// The binary, in `folder`. However busy the machine is, no line of progress comes between what a
/// test expects. The Makefile says where models are kept, and how they are compiled.
pub fn linkdoze(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linkdoze"));
    command.current_dir(folder).env("LINKDOZE_PROGRESS", "1e6");
    command
}

/// A folder with `port.toml`, the configuration of this preset.
pub fn folder_of(preset: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let init = ["init", "--preset", preset, "-o", "port.toml"];
    run(linkdoze(folder.path()).args(init), 0);
    folder
}

/// Standard error without what a configuration is told before all else (SPEC 6).
pub fn without_notes(err: &str) -> String {
    let lines = err.split_inclusive('\n');
    lines.filter(|line| !line.starts_with("note: ")).collect()
}

/// One in `step` of what is tested alike; all of it with `make test-all`.
pub fn share<T>(all: &[T], step: usize) -> Vec<&T> {
    let step = if every_case() { 1 } else { step };
    all.iter().step_by(step).collect()
}

/// Whether this is `make test-all`, which leaves out no case.
pub fn every_case() -> bool {
    std::env::var_os("LINKDOZE_ALL_CASES").is_some()
}

/// Runs a command that must end with `status` and returns its standard output and error.
pub fn run(command: &mut Command, status: i32) -> (String, String) {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert_eq!(
        output.status.code(),
        Some(status),
        "{command:?}\n{out}\n{err}"
    );
    (out, err)
}

/// Runs the part of `tools/NAME.sh` that is meant for the tests, which must end well, and returns its
/// standard output. What it needs comes from PyPI, which must be within reach the first time.
pub fn part_of(name: &str) -> String {
    let output = std::process::Command::new("sh")
        .arg(format!("tools/{name}.sh"))
        .arg(env!("CARGO_BIN_EXE_linkdoze"))
        .args([&format!("target/{name}/part"), "--part"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{out}\n{err}");
    out
}

/// Proving a block that stands for itself.
pub mod block {
    use linkdoze::hdl::verilog::{self, Header};
    use linkdoze::hdl::Design;
    use linkdoze::verify::{self, TaskReport, Tools};

    /// The files of a design and its checkers.
    pub fn files(design: &Design) -> Vec<(String, String)> {
        let mut files = verilog::print(design, &header());
        files.extend(verilog::checkers(design, &header()));
        files
    }

    /// The head of files that belong to no configuration.
    pub fn header() -> Header {
        Header {
            config_text: String::new(),
            hash: "none".into(),
        }
    }

    /// Proves what the files claim, or looks for what breaks it within `depth` cycles.
    pub fn prove(design: &Design, files: &[(String, String)], depth: u32) -> TaskReport {
        let tools = Tools::find(None, 100).unwrap();
        let task = verify::block_task(design, files, "a block").unwrap();
        verify::prove(&task, &tools, depth, &|_| {}).unwrap()
    }
}
