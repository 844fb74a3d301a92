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
        &["rank 1 from rank 0 with tag 8", "no message"],
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
