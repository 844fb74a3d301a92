//! The README and the book in `docs/`: every command that they show runs, or at least is one
//! that linkdoze understands; every link leads to something; the pages that are made from the
//! program are current.
//!
//! A fenced block marked `sh` runs, with the blocks before it on the same page, in a folder of
//! its own in which `sim` is that of the project. Of a block marked `sh slow` (it takes long, or
//! needs programs that a test cannot expect) only the lines that begin with `linkdoze` or `make`
//! are checked: whether linkdoze takes these arguments, whether the Makefile has the target.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use tempfile::TempDir;

use crate::common;

/// Set to write the pages that are made from the program instead of comparing them.
const WRITE: &str = "LINKDOZE_WRITE_BOOK";

/// Kinds of blocks that hold no commands.
const KINDS: [&str; 7] = ["text", "toml", "rust", "json", "c", "csv", "bibtex"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files below a folder, in the order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found.sort();
    found
}

/// The README, CONTRIBUTING, and the pages of the book: path from the root, and text.
fn pages() -> Vec<(String, String)> {
    let mut paths = files(&root().join("docs"));
    paths.retain(|path| path.extension().is_some_and(|end| end == "md"));
    for page in [
        "README.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "sim/README.md",
    ] {
        paths.push(root().join(page));
    }
    let named = paths.into_iter().map(|path| {
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap();
        (name.to_owned(), fs::read_to_string(&path).unwrap())
    });
    named.collect()
}

/// A fenced block.
struct Block {
    /// The line of the page on which its text begins, from 1.
    line: usize,
    /// What stands behind the fence.
    kind: String,
    text: String,
}

/// The fenced blocks of a page.
fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in page.lines().enumerate() {
        match (line.trim_start().strip_prefix("```"), open.take()) {
            (Some(kind), None) => {
                open = Some(Block {
                    line: number + 2,
                    kind: kind.trim().to_owned(),
                    text: String::new(),
                });
            }
            (Some(_), Some(block)) => blocks.push(block),
            (None, Some(mut block)) => {
                block.text += line;
                block.text.push('\n');
                open = Some(block);
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a fence is not closed");
    blocks
}

/// The words of a line of shell, as far as the book's commands need: spaces, quotes, and a
/// comment to the end.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in line.chars() {
        match (quote, letter) {
            (Some(end), _) if end == letter => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            (None, '#') if word.is_none() => break,
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

/// The commands of a block, one to a line: continued lines are joined, redirections cut off.
fn commands(text: &str) -> Vec<Vec<String>> {
    let joined = text.replace("\\\n", " ");
    let lines = joined.lines().map(|line| {
        let mut words = words(line.trim());
        let end = words
            .iter()
            .position(|word| word.starts_with(['|', '>', '<', '&', ';']));
        words.truncate(end.unwrap_or(words.len()));
        words
    });
    lines.filter(|words| !words.is_empty()).collect()
}

/// A folder in which a page's commands run, and the programs' path.
fn folder() -> (TempDir, std::ffi::OsString) {
    let folder = TempDir::new().unwrap();
    std::os::unix::fs::symlink(root().join("sim"), folder.path().join("sim")).unwrap();
    let binary = Path::new(env!("CARGO_BIN_EXE_linkdoze"));
    let mut path = vec![binary.parent().unwrap().to_owned()];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
    (folder, std::env::join_paths(path).unwrap())
}

#[test]
fn commands_that_are_shown_run() {
    let ran = AtomicUsize::new(0);
    let run = |page: &str, blocks: &[Block]| {
        let (folder, path) = folder();
        for block in blocks.iter().filter(|block| block.kind == "sh") {
            let output = Command::new("sh")
                .args(["-eu", "-c", &block.text])
                .current_dir(folder.path())
                .env("PATH", &path)
                .output()
                .unwrap();
            assert!(
                output.status.success(),
                "{page}:{}: {}\n{}\n{}{}",
                block.line,
                output.status,
                block.text,
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
            ran.fetch_add(1, Ordering::Relaxed);
        }
    };
    std::thread::scope(|threads| {
        for (page, text) in pages() {
            let run = &run;
            let blocks = blocks(&text);
            if blocks.iter().any(|block| block.kind == "sh") {
                threads.spawn(move || run(&page, &blocks));
            }
        }
    });
    let ran = ran.into_inner();
    assert!(ran > 10, "only {ran} blocks ran");
}

#[test]
fn commands_that_are_shown_are_understood() {
    let mut wrong = String::new();
    let makefile = fs::read_to_string(root().join("Makefile")).unwrap();
    let targets: BTreeSet<&str> = makefile
        .lines()
        .filter_map(|line| line.split_once(':'))
        .filter(|(name, _)| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'))
        .map(|(name, _)| name)
        .collect();
    let mut checked = 0;
    for (page, text) in pages() {
        for block in blocks(&text) {
            let place = format!("{page}:{}", block.line);
            if !matches!(block.kind.as_str(), "sh" | "sh slow") {
                let shown = block.text.lines().any(|line| line.starts_with("linkdoze "));
                if shown || !KINDS.contains(&block.kind.as_str()) {
                    let kind = &block.kind;
                    let _ = writeln!(wrong, "{place}: a block of kind {kind:?}, not a known one");
                }
                continue;
            }
            for words in commands(&block.text) {
                match words[0].as_str() {
                    "linkdoze" => {
                        let taken = linkdoze::cli::command().try_get_matches_from(&words);
                        // Help and version are errors to clap.
                        if let Some(error) = taken.err().filter(clap::Error::use_stderr) {
                            let _ = writeln!(wrong, "{place}: {}: {error}", words.join(" "));
                        }
                        checked += 1;
                    }
                    "make" => {
                        let target = words.get(1).map_or("demo", String::as_str);
                        if !targets.contains(target) {
                            let _ = writeln!(wrong, "{place}: no target {target} in the Makefile");
                        }
                        checked += 1;
                    }
                    _ => {}
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(checked > 50, "only {checked} commands were found");
}

/// The anchor that mdBook and GitHub make of a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase();
    let kept = kept
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().replace(' ', "-")
}

/// The headings of a page, as anchors.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut fenced = false;
    let mut found = BTreeSet::new();
    for line in text.lines() {
        fenced ^= line.starts_with("```");
        if let Some(heading) = line.trim_start_matches('#').strip_prefix(' ') {
            if line.starts_with('#') && !fenced {
                found.insert(anchor(heading.trim()));
            }
        }
    }
    found
}

/// The targets of the links of a page that lead to files.
fn links(text: &str) -> Vec<&str> {
    let ends = text.match_indices("](");
    ends.filter_map(|(at, _)| text[at + 2..].split_once(')'))
        .map(|(target, _)| target)
        .filter(|target| !target.contains("://") && !target.contains(char::is_whitespace))
        .collect()
}

#[test]
fn links_lead_somewhere() {
    let mut lost = String::new();
    for (page, text) in pages() {
        let folder = root().join(&page).parent().unwrap().to_owned();
        for link in links(&text) {
            let (file, part) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => root().join(&page),
                _ => folder.join(file),
            };
            if !target.exists() {
                let _ = writeln!(lost, "{page}: {link}");
            } else if !part.is_empty() {
                let there = anchors(&fs::read_to_string(&target).unwrap());
                if !there.contains(part) {
                    let _ = writeln!(lost, "{page}: {link}: no such heading");
                }
            }
        }
    }
    assert!(lost.is_empty(), "links that lead nowhere:\n{lost}");
}

#[test]
fn the_summary_lists_every_page() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let listed: Vec<&str> = links(&summary);
    let once: BTreeSet<&str> = listed.iter().copied().collect();
    assert_eq!(once.len(), listed.len(), "a page is listed twice");
    for (page, _) in pages() {
        if let Some(page) = page.strip_prefix("docs/") {
            assert!(
                page == "SUMMARY.md" || once.contains(page),
                "docs/SUMMARY.md does not list {page}"
            );
        }
    }
}

/// The paths of files in a text: what looks like one and begins with one of the folders.
fn paths<'t>(text: &'t str, folders: &'t [&str]) -> impl Iterator<Item = &'t str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || "/-_.*+".contains(c)))
        .map(|path| path.trim_end_matches(['.', '/']))
        .filter(|path| folders.iter().any(|folder| path.starts_with(folder)))
}

/// Pages that send a reader to a file of the project send him to one that is there.
#[test]
fn files_that_the_pages_name_are_there() {
    let folders = ["src/", "tests/", "tools/", "testbench/", "sim/"];
    let mut stale = String::new();
    for (page, text) in pages() {
        for path in paths(&text, &folders) {
            // `NAME` stands for what the reader adds.
            let made = path.contains('*') || path.contains("NAME");
            if !made && !root().join(path).exists() {
                let _ = writeln!(stale, "{page} names {path}, which is not there");
            }
        }
    }
    assert!(stale.is_empty(), "{stale}");
}

/// Comments and messages that send a reader to a page of the book send him to one that is there.
#[test]
fn pages_that_the_sources_name_are_there() {
    let mut texts = pages();
    for folder in [
        "src",
        "tests",
        "benches",
        "tools",
        "sim",
        "testbench",
        "third_party",
    ] {
        for path in files(&root().join(folder)) {
            if let Ok(text) = fs::read_to_string(&path) {
                let name = path.strip_prefix(root()).unwrap().display().to_string();
                texts.push((name, text));
            }
        }
    }
    for file in ["Makefile", "Cargo.toml", "build.rs"] {
        let text = fs::read_to_string(root().join(file)).unwrap();
        texts.push((file.to_owned(), text));
    }
    let mut stale = String::new();
    for (name, text) in &texts {
        for page in paths(text, &["docs/"]) {
            if page.ends_with(".md") && !root().join(page).exists() {
                let _ = writeln!(stale, "{name} names {page}, which is not there");
            }
        }
    }
    assert!(stale.is_empty(), "{stale}");
}

/// Compares a page with what the program makes of it, or writes it.
fn current(page: &str, made: &str) {
    let path = root().join(page);
    if std::env::var_os(WRITE).is_some() {
        fs::write(&path, made).unwrap();
        return;
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    let at = there.lines().zip(made.lines()).position(|(a, b)| a != b);
    let at = at.unwrap_or(there.lines().count().min(made.lines().count())) + 1;
    assert!(
        there == made,
        "{page}:{at} is stale; `make reference` mends it"
    );
}

/// A command and its subcommands, as the program explains them.
fn explain(command: &clap::Command, page: &mut String) {
    let name = command.get_bin_name().unwrap_or("linkdoze").to_owned();
    let commands = command
        .get_subcommands()
        .filter(|sub| sub.get_name() != "help");
    let commands: Vec<_> = commands.collect();
    if commands.is_empty() || name == "linkdoze" {
        let help = command
            .clone()
            .term_width(90)
            .render_long_help()
            .to_string();
        let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
        let _ = write!(
            page,
            "\n## {name}\n\n```text\n{}\n```\n",
            lines.join("\n").trim_end()
        );
    }
    for sub in commands {
        explain(sub, page);
    }
}

#[test]
fn the_page_of_commands_is_current() {
    let mut command = linkdoze::cli::command();
    command.build();
    let mut page = "# Commands\n\n\
        What `linkdoze COMMAND --help` prints. This page is made from the program \
        (`make reference`).\n"
        .to_owned();
    explain(&command, &mut page);
    current("docs/reference/commands.md", &page);
}

/// A preset with everything: the correction, a guard, measured hop counts, registers.
fn preset_with_everything(folder: &Path) -> String {
    common::run(
        common::linkdoze(folder).args(["init", "--preset", "bxiv3-deep-sleep", "-o", "port.toml"]),
        0,
    );
    let mut text = fs::read_to_string(folder.join("port.toml")).unwrap();
    for (there, wanted) in [
        ("burst = 0", "burst = 4"),
        ("policy = \"perfbound\"", "policy = \"perfbound-correct\""),
        ("registers = false", "registers = true"),
        (
            "hops = [[2, 0.002], [4, 0.013], [5, 0.985]]",
            "hops = \"measured\"",
        ),
    ] {
        assert_eq!(text.matches(there).count(), 1, "{there} in the preset");
        text = text.replace(there, wanted);
    }
    text
}

#[test]
fn the_page_of_registers_is_current() {
    let folder = TempDir::new().unwrap();
    let preset = preset_with_everything(folder.path());
    fs::write(folder.path().join("port.toml"), preset).unwrap();
    common::run(
        common::linkdoze(folder.path()).args(["generate", "port.toml", "-o", "emitted"]),
        0,
    );
    let emitted = fs::read_to_string(folder.path().join("emitted/port_registers.md")).unwrap();
    let (_, registers) = emitted.split_once("\nAXI4-Lite").unwrap();
    let page = format!(
        "# Register map\n\n\
         The registers of one port, as `linkdoze generate` writes them beside the Verilog. This page\n\
         is made from the program (`make reference`), for the preset `bxiv3-deep-sleep` with\n\
         `perfbound-correct`, a guard of 4 packets, measured hop counts and registers.\n\
         [Registers](registers.md) explains them.\n\nAXI4-Lite{registers}"
    );
    current("docs/reference/register-map.md", &page);
}

/// Every key of an object, at any depth.
fn keys(value: &serde_json::Value, found: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::Object(entries) => {
            for (key, value) in entries {
                found.insert(key.clone());
                keys(value, found);
            }
        }
        serde_json::Value::Array(values) => {
            for value in values {
                keys(value, found);
            }
        }
        _ => {}
    }
}

/// The names in code font on the pages that explain the JSON.
fn explained() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for page in ["docs/reference/json.md", "docs/reference/metrics.md"] {
        let text = fs::read_to_string(root().join(page)).unwrap();
        for code in text.split('`').skip(1).step_by(2) {
            let parts = code.split(|c: char| !(c.is_ascii_alphanumeric() || "_-".contains(c)));
            names.extend(parts.map(str::to_owned));
        }
    }
    names
}

#[test]
fn keys_of_the_json_are_explained() {
    let folder = TempDir::new().unwrap();
    std::os::unix::fs::symlink(root().join("sim"), folder.path().join("sim")).unwrap();
    // `doctor` ends with 1 where a tool is missing.
    let run = |arguments: &str| {
        let mut command = common::linkdoze(folder.path());
        let output = command.args(arguments.split(' ')).output().unwrap();
        let status = output.status.code();
        assert!(status == Some(0) || arguments.starts_with("doctor") && status == Some(1));
        output.stdout
    };
    let guarded = preset_with_everything(folder.path())
        .replace("registers = true", "registers = false")
        .replace("hops = \"measured\"", "");
    fs::write(folder.path().join("guarded.toml"), guarded).unwrap();
    common::run(
        common::linkdoze(folder.path()).args([
            "init",
            "--preset",
            "bxiv3-deep-sleep",
            "-o",
            "pair.toml",
        ]),
        0,
    );
    let explained = explained();
    let mut missing = String::new();
    let fixed = "[port]\npolicy = \"fixed\"\nt_pdt_ns = 700\nsync = \"levels\"\n";
    fs::write(folder.path().join("fixed.toml"), fixed).unwrap();
    let ethernet = "[port]\nsync = \"lpi\"\n";
    fs::write(folder.path().join("ethernet.toml"), ethernet).unwrap();
    // Keys that are names of things: states of the link, classes of ports, corners, widths.
    let named = |key: &str| {
        let of_a_class = key.starts_with("asleep_") || key.starts_with("power_");
        let number = key.bytes().all(|b| b.is_ascii_digit());
        of_a_class || number || key.contains(['-', ' '])
    };
    for command in [
        "presets --json",
        "estimate port.toml --json",
        "estimate guarded.toml --json",
        "estimate ethernet.toml --ethernet xgmii64 --json",
        "cosim port.toml --engine native --random --cycles 2000 --json",
        "cosim pair.toml --engine native --pair --delay 1 --cycles 2000 --json",
        "verify fixed.toml --json",
        "netlist fixed.toml --target ice40 --json",
        "synth fixed.toml --target ice40 --seeds 1 --json",
        "doctor --json",
        "topology megafly --json",
        "simulate sim/lammps-lj-r8.toml --json",
        "trace info sim/lammps-lj-r8-s20.goal.zst --json",
        "trace fit sim/lammps-lj-r8-s20.goal.zst --json",
    ] {
        let command = command.replace("sim/lammps-lj-r8.toml", "scenario.toml");
        let scenario = "[topology]\nkind = \"single-switch\"\nnodes = 8\n\
            [traffic]\nkind = \"goal\"\nfile = \"sim/lammps-lj-r8-s20.goal.zst\"\n\
            [power]\ncontroller = \"guarded.toml\"\n\
            [run]\nsample_ns = 1000000\n";
        fs::write(folder.path().join("scenario.toml"), scenario).unwrap();
        let mut value: serde_json::Value = serde_json::from_slice(&run(&command)).unwrap();
        if let Some(coverage) = value.get_mut("coverage") {
            // By the names of corners.
            *coverage = serde_json::json!({"reached": {}, "unreached": {}});
        }
        if let Some(resources) = value.pointer_mut("/mappings/0/resources") {
            // By the names of cells.
            resources["cell_types"] = serde_json::Value::Null;
        }
        let mut found = BTreeSet::new();
        keys(&value, &mut found);
        for key in found.iter().filter(|key| !named(key)) {
            if !explained.contains(key) {
                let _ = writeln!(missing, "{key} of `linkdoze {command}`");
            }
        }
    }
    assert!(
        missing.is_empty(),
        "docs/reference/json.md does not explain\n{missing}"
    );
}
