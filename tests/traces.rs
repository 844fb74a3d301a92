//! Traces that cannot be used: each ends with status 2 and says what to do.

use std::path::{Path, PathBuf};

use assert_cmd::Command;

fn trace_info(path: &Path) -> (Option<i32>, String, String) {
    let output = Command::cargo_bin("linkdoze")
        .unwrap()
        .args(["trace", "info"])
        .arg(path)
        .output()
        .unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join("broken.goal");
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// The command must fail on these bytes and say each of `expected`, at `place` if given.
    fn refuses(&self, bytes: &[u8], place: &str, expected: &[&str]) {
        let path = self.file(bytes);
        let (status, output, message) = trace_info(&path);
        assert_eq!(status, Some(2), "{message}");
        assert_eq!(output, "");
        let start = format!("error: {}{place}: ", path.display());
        assert!(message.starts_with(&start), "{message}");
        for part in expected {
            assert!(message.contains(part), "{message}");
        }
        assert!(!message.contains("panicked"), "{message}");
        let files: Vec<_> = std::fs::read_dir(self.0.path()).unwrap().collect();
        assert_eq!(files.len(), 1, "nothing is left behind");
    }
}

const GOOD: &str = "num_ranks 2\nrank 0 {\nl1: calc 1500\nl2: send 4096b to 1 tag 7\n\
                    l2 requires l1\n}\nrank 1 {\nl1: recv 4096b from 0 tag 7\n}\n";

#[test]
fn a_good_trace_is_described() {
    let folder = Folder::new();
    let path = folder.file(GOOD.as_bytes());
    let (status, output, message) = trace_info(&path);
    assert_eq!((status, message.as_str()), (Some(0), ""));
    assert!(output.contains("GOAL text"), "{output}");
    let json = Command::cargo_bin("linkdoze")
        .unwrap()
        .args(["trace", "info", "--json"])
        .arg(&path)
        .output()
        .unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["ranks"], 2);
    assert_eq!(
        (&json["calcs"], &json["sends"], &json["recvs"]),
        (&1.into(), &1.into(), &1.into())
    );
    assert_eq!(json["bytes_sent"], 4096);
    assert_eq!(json["calc_total_ns"], 1500);
    // 1500 + 200 + 1000 + 4096 * 0.02 ns.
    assert_eq!(json["ideal_time_ns"], 2781.92);
    assert_eq!(json["per_rank"][1]["bytes_received"], 4096);
}

#[test]
fn truncated() {
    let cut = &GOOD[..GOOD.find("rank 1").unwrap() - 2];
    Folder::new().refuses(
        cut.as_bytes(),
        ":5:1",
        &["the file ends inside rank 0", "`}` is missing", "truncated"],
    );
}

#[test]
fn a_rank_is_missing() {
    let cut = &GOOD[..GOOD.find("rank 1").unwrap()];
    Folder::new().refuses(
        cut.as_bytes(),
        ":6:1",
        &["after 1 of 2 ranks", "`num_ranks` is wrong"],
    );
}

#[test]
fn truncated_while_compressed() {
    let packed = zstd::encode_all(GOOD.as_bytes(), 3).unwrap();
    Folder::new().refuses(&packed[..packed.len() / 2], "", &["the file is truncated"]);
}

#[test]
fn wrong_unit_of_time() {
    let text = GOOD.replace("calc 1500", "calc 5 us");
    Folder::new().refuses(
        text.as_bytes(),
        ":3:10",
        &["unit `us`", "write `calc 5000`"],
    );
}

#[test]
fn wrong_unit_of_size() {
    let text = GOOD.replace("send 4096b", "send 4kb");
    Folder::new().refuses(text.as_bytes(), ":4:10", &["unit `kb`", "write `4000b`"]);
}

#[test]
fn negative() {
    let text = GOOD.replace("calc 1500", "calc -1500");
    Folder::new().refuses(text.as_bytes(), ":3:10", &["never negative", "`-1500`"]);
}

#[test]
fn unknown_rank() {
    let text = GOOD.replace("to 1", "to 2");
    Folder::new().refuses(
        text.as_bytes(),
        ":4:19",
        &["rank 2 does not exist", "ranks 0 to 1"],
    );
}

#[test]
fn cyclic_dependency() {
    let text = GOOD.replace("l2 requires l1\n", "l2 requires l1\nl1 requires l2\n");
    Folder::new().refuses(
        text.as_bytes(),
        ":3:1",
        &["cyclic dependency", "l1 -> l2 -> l1"],
    );
}

#[test]
fn not_utf8() {
    let mut bytes = GOOD.as_bytes().to_vec();
    let at = GOOD.find("1500").unwrap();
    bytes[at] = 0xff;
    Folder::new().refuses(&bytes, ":3:10", &["not UTF-8"]);
}

#[test]
fn empty() {
    Folder::new().refuses(b"", "", &["the file is empty", "num_ranks"]);
}

#[test]
fn unknown_label() {
    let text = GOOD.replace("requires l1", "requires l3");
    Folder::new().refuses(
        text.as_bytes(),
        ":5:13",
        &["label `l3` is not defined above in rank 0"],
    );
}

#[test]
fn duplicate_label() {
    let text = GOOD.replace("l2: send", "l1: send");
    Folder::new().refuses(
        text.as_bytes(),
        ":4:1",
        &["`l1` is defined twice", "first on line 3"],
    );
}

#[test]
fn message_without_receive() {
    let text = GOOD.replace("from 0 tag 7", "from 0 tag 8");
    Folder::new().refuses(
        text.as_bytes(),
        "",
        &[
            "rank 1: 1 receive from rank 0 with tag 8",
            "without a message",
        ],
    );
}

#[test]
fn zero_bytes() {
    let text = GOOD.replace("4096b", "0b");
    Folder::new().refuses(text.as_bytes(), ":4:10", &["message of 0 bytes", "`1b`"]);
}

#[test]
fn number_too_large() {
    let text = GOOD.replace("1500", "99999999999999999999");
    Folder::new().refuses(
        text.as_bytes(),
        ":3:10",
        &["too large", "18446744073709551615"],
    );
}

#[test]
fn trailing_junk() {
    Folder::new().refuses(
        format!("{GOOD}rank 2 {{\n}}\n").as_bytes(),
        ":10:1",
        &["after the last rank", "ranks 0 to 1"],
    );
}

#[test]
fn missing_file_and_folder() {
    let folder = Folder::new();
    for (path, what) in [
        (folder.0.path().join("none.goal"), "cannot read"),
        // A folder can be a trace: the logs of its ranks.
        (folder.0.path().to_owned(), "holds no log of a rank"),
    ] {
        let (status, _, message) = trace_info(&path);
        assert_eq!(status, Some(2), "{message}");
        assert!(message.contains(&path.display().to_string()), "{message}");
        assert!(message.contains(what), "{message}");
    }
}

/// The summary of a run without what says how and of what it was made.
fn summary(scenario: &Path) -> serde_json::Value {
    let output = Command::cargo_bin("linkdoze")
        .unwrap()
        .args(["simulate", "--json", "--threads", "2"])
        .arg(scenario)
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{message}");
    let mut json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let all = json.as_object_mut().unwrap();
    for key in ["cpu_seconds", "peak_bytes", "inputs", "scenario"] {
        all.remove(key).unwrap();
    }
    let of_runs = [
        "/jobs/0/name",
        "/always_on/jobs/0/name",
        "/always_on/cpu_seconds",
    ];
    for place in of_runs {
        *json.pointer_mut(place).unwrap() = serde_json::Value::Null;
    }
    json
}

fn export(scenario: &Path, out: &Path) -> assert_cmd::assert::Assert {
    Command::cargo_bin("linkdoze")
        .unwrap()
        .args(["trace", "export"])
        .arg(scenario)
        .arg("-o")
        .arg(out)
        .assert()
}

/// `trace export` writes the program of a skeleton; replayed, it gives the same run.
#[test]
fn what_is_exported_runs_as_the_skeleton_does() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let rest = "mapping = \"random\"\nranks_per_node = 2\ncpu_speed = 2.5\n[topology]\nnodes = \
                9\n[power.port]\npolicy = \"perfbound-correct\"\n[run]\nseed = 5\n";
    for keys in [
        "program = \"lammps\"\nranks = 13\nsteps = 21\n",
        "program = \"allreduce-hierarchical\"\nranks = 12\nsteps = 1\ngradient_bytes = 2000000\n",
    ] {
        let made = format!("[traffic]\nkind = \"skeleton\"\n{keys}{rest}");
        let replayed = format!("[traffic]\nfile = \"program.goal.zst\"\n{rest}");
        std::fs::write(at("made.toml"), made).unwrap();
        std::fs::write(at("replayed.toml"), replayed).unwrap();
        export(&at("made.toml"), &at("program.goal.zst")).success();
        let expected = summary(&at("made.toml"));
        assert_eq!(expected["ended"], "complete");
        assert_eq!(summary(&at("replayed.toml")), expected);
        // A trace is exported as well, here without compression.
        export(&at("replayed.toml"), &at("again.goal")).success();
        let plain = zstd::decode_all(&*std::fs::read(at("program.goal.zst")).unwrap()).unwrap();
        let operations = |text: &[u8]| {
            let mut lines: Vec<Vec<u8>> = text.split(|c| *c == b'\n').map(<[u8]>::to_vec).collect();
            lines.sort();
            lines
        };
        assert_eq!(
            operations(&std::fs::read(at("again.goal")).unwrap()),
            operations(&plain)
        );
    }
}

#[test]
fn what_cannot_be_exported_is_refused_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let refused = |text: &str, expected: &str| {
        std::fs::write(at("s.toml"), text).unwrap();
        let run = export(&at("s.toml"), &at("out.goal")).code(2);
        let message = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        assert!(message.contains(expected), "{message}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    };
    refused(
        "[traffic]\nkind = \"uniform\"\n[run]\nduration_ns = 1\n",
        "is a pattern",
    );
    refused(
        "[traffic]\nkind = \"skeleton\"\nprogram = \"lammps\"\nsteps = 4000000000\n",
        "the most steps with these parameters are about",
    );
    export(&at("missing.toml"), &at("out.goal")).code(2);
}

/// What `trace fit` prints of a trace of LAMMPS (the figures are checked against the skeleton's
/// beside the code).
#[test]
fn the_step_of_a_trace_is_printed() {
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("sim/lammps-lj-r8-s20.goal.zst");
    let fit = |form: &[&str]| {
        let output = Command::cargo_bin("linkdoze")
            .unwrap()
            .args(["trace", "fit"])
            .args(form)
            .arg(&trace)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stdout).unwrap()
    };
    let json: serde_json::Value = serde_json::from_str(&fit(&["--json"])).unwrap();
    // Six exchanges forth, six back; on 2 x 2 x 2 ranks with three neighbours.
    assert_eq!(
        (&json["period"], &json["ranks_alike"]),
        (&24.into(), &8.into())
    );
    for rank in json["per_rank"].as_array().unwrap() {
        let neighbours = rank["neighbours"].as_array().unwrap();
        let messages: Vec<_> = neighbours
            .iter()
            .map(|to| to["messages"].as_u64())
            .collect();
        assert_eq!(messages, [Some(4); 3]);
    }
    // A long path of the trace breaks the line elsewhere.
    let text = fit(&[]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("a step of 24 communications, alike on 8 of 8 ranks"),
        "{text}"
    );
}
