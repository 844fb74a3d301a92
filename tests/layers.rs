//! The imports of the sources, read: they run in one direction, between folders and between files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;

/// The top folders and files of `src`, each with those that it may import.
/// `docs/contributing/layers.md` says why.
const LAYERS: [(&str, &[&str]); 30] = [
    ("files", &[]),
    ("tools", &[]),
    ("usage", &[]),
    ("words", &[]),
    ("periods", &["files"]),
    ("ethernet", &[]),
    ("hdl", &["files"]),
    ("input", &["files"]),
    ("config", &["input"]),
    ("reference", &["config"]),
    ("blocks", &["config", "hdl"]),
    ("constraints", &["files", "hdl"]),
    ("wrapper", &["hdl"]),
    ("registers", &["blocks", "config", "files"]),
    ("handover", &["blocks", "config", "files", "hdl"]),
    (
        "rtl",
        &[
            "blocks",
            "config",
            "constraints",
            "handover",
            "hdl",
            "registers",
            "wrapper",
        ],
    ),
    ("estimate", &["blocks", "config", "hdl", "rtl"]),
    (
        "datasheet",
        &[
            "blocks",
            "config",
            "estimate",
            "hdl",
            "registers",
            "rtl",
            "words",
        ],
    ),
    (
        "synth",
        &["config", "constraints", "files", "hdl", "rtl", "tools"],
    ),
    ("verify", &["blocks", "config", "files", "hdl", "tools"]),
    (
        "network",
        &["blocks", "config", "files", "input", "tools", "words"],
    ),
    ("energy", &["blocks", "config", "network"]),
    (
        "cosim",
        &[
            "blocks", "config", "files", "hdl", "network", "periods", "rtl", "tools",
        ],
    ),
    (
        "mutate",
        &["config", "cosim", "files", "hdl", "rtl", "synth", "verify"],
    ),
    (
        "experiment",
        &["blocks", "config", "energy", "input", "network"],
    ),
    (
        "sweep",
        &[
            "config",
            "energy",
            "experiment",
            "files",
            "input",
            "network",
            "usage",
            "words",
        ],
    ),
    (
        "report",
        &[
            "config",
            "energy",
            "experiment",
            "files",
            "network",
            "sweep",
            "words",
        ],
    ),
    ("cli", &["*"]),
    ("main", &["*"]),
    ("", &["*"]),
];

/// A file of the library: its module path, and its text without tests and comments.
struct File {
    text: String,
    /// `mod.rs`: what it re-exports it does not use.
    is_folder: bool,
}

/// Every file but those that hold tests alone.
fn files(folder: &Path, path: &[String], found: &mut BTreeMap<Vec<String>, File>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap().path();
        let name = entry.file_stem().unwrap().to_str().unwrap().to_owned();
        if entry.is_dir() {
            let below = [path, &[name]].concat();
            files(&entry, &below, found);
        } else if entry.extension().is_some_and(|end| end == "rs") {
            let is_folder = name == "mod" || name == "lib";
            let module = match is_folder {
                true => path.to_vec(),
                false => [path, &[name]].concat(),
            };
            let text = without_tests(&fs::read_to_string(&entry).unwrap());
            found.insert(module, File { text, is_folder });
        }
    }
}

fn without_tests(text: &str) -> String {
    let mut kept = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.trim() == "#[cfg(test)]" {
            let item = lines.next().unwrap_or_default();
            let indent = item.len() - item.trim_start().len();
            if item.ends_with('{') {
                let end = format!("{}}}", " ".repeat(indent));
                let _: Vec<_> = lines.by_ref().take_while(|line| *line != end).collect();
            }
            continue;
        }
        kept += line.split("//").next().unwrap_or_default();
        kept.push('\n');
    }
    kept
}

/// Modules that are compiled for tests only: declared so in the text that is left out.
fn test_modules(root: &Path) -> BTreeSet<Vec<String>> {
    fn look(folder: &Path, path: &[String], found: &mut BTreeSet<Vec<String>>) {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap().path();
            let name = entry.file_stem().unwrap().to_str().unwrap().to_owned();
            let below = match name.as_str() {
                "mod" | "lib" => path.to_vec(),
                _ => [path, &[name]].concat(),
            };
            if entry.is_dir() {
                look(&entry, &below, found);
            } else if let Ok(text) = fs::read_to_string(&entry) {
                let mut lines = text.lines();
                while let Some(line) = lines.next() {
                    if line.trim() != "#[cfg(test)]" {
                        continue;
                    }
                    let item = lines.next().unwrap_or_default();
                    if let Some((_, name)) = item.split_once("mod ") {
                        let name = name.trim_end_matches([';', '{', ' ']).to_owned();
                        found.insert([&below[..], &[name]].concat());
                    }
                }
            }
        }
    }
    let mut found = BTreeSet::new();
    look(root, &[], &mut found);
    found
}

/// The paths of a `use`, one by one: `a::{b, c::d}` is `a::b` and `a::c::d`.
fn expand(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((prefix, rest)) = tree.split_once('{') else {
        return vec![tree.split(" as ").next().unwrap_or_default().trim().into()];
    };
    let body = rest.strip_suffix('}').unwrap_or(rest);
    let (mut depth, mut begin, mut paths) = (0, 0, Vec::new());
    for (at, letter) in body.char_indices().chain([(body.len(), ',')]) {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let one = body[begin..at].trim();
                if !one.is_empty() {
                    paths.extend(expand(&format!("{prefix}{one}")));
                }
                begin = at + 1;
            }
            _ => {}
        }
    }
    paths
}

/// What a file names of the library, as paths.
fn named(file: &File) -> Vec<String> {
    let mut paths = Vec::new();
    let mut rest = String::new();
    for statement in file.text.split_inclusive(';') {
        let begin = statement.rfind("use ").filter(|&at| {
            let before = statement[..at].trim_end_matches(|letter| letter != '\n');
            let line = statement[before.len()..at].trim();
            line.is_empty() || line.starts_with("pub")
        });
        let Some(at) = begin else {
            rest += statement;
            continue;
        };
        rest += &statement[..at];
        let public = statement[..at].trim_end().ends_with("pub");
        if !(public && file.is_folder) {
            paths.extend(expand(statement[at + 4..].trim_end_matches(';')));
        }
    }
    let word = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    for path in rest.split(|letter| !word(letter)) {
        if path.starts_with("crate::") || path.starts_with("super::") {
            paths.push(path.into());
        }
    }
    paths
}

/// The module that a path leads to, seen from `module`; `None` if it leads out of the library.
fn target(
    module: &[String],
    path: &str,
    files: &BTreeMap<Vec<String>, File>,
) -> Option<Vec<String>> {
    let mut parts = path.split("::").map(str::trim).peekable();
    let mut at = match *parts.peek()? {
        "crate" => {
            parts.next();
            vec![]
        }
        "super" | "self" => module.to_vec(),
        _ => module.to_vec(),
    };
    while let Some(part @ ("super" | "self")) = parts.peek().copied() {
        parts.next();
        if part == "super" {
            at.pop();
        }
    }
    for part in parts {
        let below = [&at[..], &[part.to_owned()]].concat();
        if !files.contains_key(&below) {
            break;
        }
        at = below;
    }
    (at != module).then_some(at)
}

fn imports() -> Vec<(Vec<String>, Vec<String>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = BTreeMap::new();
    files(&root, &[], &mut found);
    let tests = test_modules(&root);
    let is_test =
        |module: &Vec<String>| (1..=module.len()).any(|end| tests.contains(&module[..end]));
    let mut edges = Vec::new();
    for (module, file) in &found {
        if is_test(module) {
            continue;
        }
        for path in named(file) {
            if let Some(to) = target(module, &path, &found) {
                if !is_test(&to) && !to.is_empty() {
                    edges.push((module.clone(), to));
                }
            }
        }
    }
    assert!(edges.len() > 500, "{} imports read", edges.len());
    edges
}

#[test]
fn no_import_runs_against_the_layers() {
    let mut wrong = Vec::new();
    for (from, to) in imports() {
        let top = |module: &[String]| module.first().cloned().unwrap_or_default();
        let (from_top, to_top) = (top(&from), top(&to));
        let (_, may) = LAYERS
            .iter()
            .find(|(name, _)| *name == from_top)
            .unwrap_or_else(|| panic!("src/{from_top} is in no layer: give it one here"));
        if from_top != to_top && !may.contains(&"*") && !may.contains(&&*to_top) {
            wrong.push(format!("{} imports {}", from.join("::"), to.join("::")));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let edges = imports();
    let names: BTreeSet<String> = edges
        .iter()
        .flat_map(|(from, to)| [from.join("::"), to.join("::")])
        .collect();
    let graph = DiGraphMap::<&str, ()>::from_edges(edges.iter().map(|(from, to)| {
        let name = |module: &[String]| names.get(&module.join("::")).unwrap().as_str();
        (name(from), name(to))
    }));
    let circles: Vec<_> = tarjan_scc(&graph)
        .into_iter()
        .filter(|files| files.len() > 1)
        .collect();
    assert_eq!(circles, Vec::<Vec<&str>>::new());
}

/// The reader of imports sees what is there.
#[test]
fn imports_of_all_forms_are_read() {
    let file = |text: &str, is_folder| File {
        text: without_tests(text),
        is_folder,
    };
    let text = "use crate::a::{b::{C, D as E}, f};\npub use super::g;\n// use crate::h;\n\
                fn i() { crate::j::k(); }\n#[cfg(test)]\nmod tests {\n    use crate::l;\n}\n";
    let found = named(&file(text, false));
    let expected = [
        "crate::a::b::C",
        "crate::a::b::D",
        "crate::a::f",
        "super::g",
        "crate::j::k",
    ];
    assert_eq!(found, expected);
    assert!(!named(&file(text, true)).contains(&"super::g".to_owned()));
}
