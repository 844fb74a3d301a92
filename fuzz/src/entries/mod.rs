//! What is fuzzed: for every kind of input a function that takes any bytes and checks what must
//! hold whatever they are. `src/main.rs` calls them under libFuzzer, `tests/fuzz.rs` of the program
//! with the inputs that are kept in `corpus`.
//!
//! Bytes go through files, as a user's do: so what opens, recognises and unpacks them is fuzzed as
//! well. `make fuzz` has these files in memory (`TMPDIR`).

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use linkdoze::config::{Config, InputError};

mod network;
mod port;
mod trace;

/// A kind of input.
pub struct Target {
    /// Its name, which is also that of its folder in `corpus`.
    pub name: &'static str,
    /// Checks what must hold of any bytes. Returns whether they were accepted and used, not refused.
    ///
    /// # Panics
    /// If something of it does not hold.
    pub check: fn(&[u8]) -> bool,
}

/// Every kind of input.
pub const TARGETS: [Target; 15] = [
    target("configuration", port::configuration),
    target("scenario", network::scenario),
    target("sweep", network::sweep),
    target("goal", trace::goal),
    target("goal-binary", trace::goal_binary),
    target("mpilog", trace::mpilog),
    target("dumpi", trace::dumpi),
    target("vef", trace::vef),
    target("liballprof", trace::liballprof),
    target("otf2", trace::otf2),
    target("chakra", trace::chakra),
    target("archive", trace::archive),
    target("periods", port::periods),
    target("axi", port::axi),
    target("simulation", network::simulation),
];

/// Faults that are put in on purpose, for fuzzing to find: behind four bytes, and behind a number in
/// a trace.
pub const CONTROLS: [Target; 2] = [
    target("control-bytes", |bytes| {
        let first = bytes.first_chunk().map(|first| u32::from_le_bytes(*first));
        assert!(first != Some(0x4950_4c7f), "put in on purpose");
        true
    }),
    target("control-text", trace::control),
];

const fn target(name: &'static str, check: fn(&[u8]) -> bool) -> Target {
    Target { name, check }
}

/// What stands between two files of an input that consists of several.
pub const NEXT_FILE: &[u8] = b"\n%%%%\n";

/// Most files of an input: more of them are more work, and nothing new.
const MOST_FILES: usize = 8;

/// The files of an input that consists of several.
fn pieces(bytes: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    let mut rest = bytes;
    while pieces.len() + 1 < MOST_FILES {
        let Some(at) = rest.windows(NEXT_FILE.len()).position(|it| it == NEXT_FILE) else {
            break;
        };
        pieces.push(&rest[..at]);
        rest = &rest[at + NEXT_FILE.len()..];
    }
    pieces.push(rest);
    pieces
}

/// A folder with the files of one input.
struct Folder(PathBuf);

thread_local! {
    /// Holds what is written; emptied for every input.
    static SCRATCH: TempDir = tempfile::tempdir().expect("a temporary folder can be made");
}

impl Folder {
    /// The files of this input, and no others.
    fn of<N: AsRef<Path>>(files: impl IntoIterator<Item = (N, impl AsRef<[u8]>)>) -> Folder {
        let folder = SCRATCH.with(|scratch| scratch.path().to_owned());
        for entry in fs::read_dir(&folder).expect("the folder is there") {
            let _ = fs::remove_file(entry.expect("the folder can be read").path());
        }
        for (name, bytes) in files {
            fs::write(folder.join(name), bytes).expect("the folder can be written to");
        }
        Folder(folder)
    }

    fn file(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.join(name)
    }
}

/// Longest line of a message, in characters: a message repeats some of the input, never all of it.
const LONGEST_LINE: usize = 2000;

/// A message says something, in lines that can be read.
fn check_message(message: &str) {
    assert!(!message.trim().is_empty(), "an empty message");
    for line in message.lines() {
        let length = line.chars().count();
        assert!(
            length <= LONGEST_LINE,
            "a line of {length} characters in a message: {}",
            line.chars().take(200).collect::<String>()
        );
    }
}

/// A place that a message names is in the text, or just behind its end.
fn check_place(text: &str, line: usize, column: usize, message: &str) {
    let lines: Vec<&str> = text.split('\n').collect();
    assert!(
        (1..=lines.len() + 1).contains(&line),
        "line {line} of {}: {message}",
        lines.len()
    );
    let characters = lines.get(line - 1).map_or(0, |line| line.chars().count());
    assert!(
        (1..=characters + 1).contains(&column),
        "column {column} of {characters} in line {line}: {message}"
    );
}

/// Every fault has a place in the text and says something; they come in the order of the text.
/// Returns that the text is not accepted.
fn check_faults(error: &InputError, text: &[u8]) -> bool {
    check_message(&error.to_string());
    let InputError::Invalid { diagnostics, .. } = error else {
        return false;
    };
    assert!(!diagnostics.is_empty(), "refused, and nothing is wrong");
    let text = String::from_utf8_lossy(text);
    let mut before = (0, 0);
    for fault in diagnostics {
        check_message(&fault.message);
        check_place(&text, fault.line, fault.column, &fault.message);
        assert!(
            before <= (fault.line, fault.column),
            "not in the order of the text: {error}"
        );
        before = (fault.line, fault.column);
    }
    false
}

/// A configuration that was accepted says all of itself: its text is read as the same one.
fn check_written(config: &Config) {
    let text = config.canonical();
    let again = Config::parse(&text, "canonical")
        .unwrap_or_else(|error| panic!("what was written is refused: {error}\n{text}"));
    assert_eq!(&again, config, "what was written is another one:\n{text}");
    assert_eq!(again.canonical(), text);
    assert_eq!(again.hash(), config.hash());
}
