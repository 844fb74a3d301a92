//! Tells the program two digests, by which it knows whether results that it finds are of the same code:
//! of the code that can change the result of a simulation, for a sweep (`src/sweep`), and of all that
//! it is made of, for `mutate`.
//!
//! Comments, documentation, tests and the layout of a line change neither. What reads the command line,
//! draws, or emits Verilog does not change the result of a simulation.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use sha2::{Digest, Sha256};

/// The code that a simulation goes through: `sweep` and all that it imports (`tests/sources.rs`
/// reads the imports), and the versions of the libraries.
pub const SOURCES: [&str; 9] = [
    "Cargo.lock",
    "src/blocks",
    "src/config",
    "src/energy",
    "src/experiment",
    "src/hdl/values.rs",
    "src/input",
    "src/network",
    "src/sweep",
];

/// All that the program is made of.
pub const PROGRAM: [&str; 10] = [
    "Cargo.lock",
    "src",
    "testbench/coding.v",
    "testbench/harness.cpp",
    "testbench/histogram.v",
    "testbench/history.v",
    "testbench/pair.v",
    "testbench/pair_faults.v",
    "testbench/recovery.v",
    "testbench/voting.v",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // The code of a simulation is a part of it.
    for source in PROGRAM {
        println!("cargo::rerun-if-changed={source}");
    }
    let root = Path::new(".");
    let (simulation, program) = (digest(root, &SOURCES), digest(root, &PROGRAM));
    println!("cargo::rustc-env=LINKDOZE_SOURCES={simulation}");
    println!("cargo::rustc-env=LINKDOZE_PROGRAM={program}");
}

/// SHA-256, in hexadecimal, of the code in `sources` below `root`.
pub fn digest(root: &Path, sources: &[&str]) -> String {
    let mut digest = Sha256::new();
    for (file, content) in code(root, sources) {
        digest.update(format!("{} {}\n", file.display(), content.len()));
        digest.update(content);
    }
    format!("{:x}", digest.finalize())
}

/// The files in `sources` below `root` and what is in them, of Rust without documentation; files for tests only
/// are left out, and so is what is for tests in the others.
pub fn code(root: &Path, sources: &[&str]) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for &source in sources {
        collect(root, Path::new(source), &mut files);
    }
    files.sort();
    let mut tests = BTreeSet::new();
    let mut contents = Vec::new();
    for file in files {
        let content = std::fs::read(root.join(&file)).expect("a source can be read");
        if file.extension().is_some_and(|extension| extension == "rs") {
            let text = String::from_utf8(content).expect("a source is UTF-8");
            let code = text.parse().expect("a source is Rust");
            let mut test_modules = Vec::new();
            let code = without_tests(code, &mut test_modules);
            let folder = folder_of_modules(&file);
            tests.extend(test_modules.into_iter().map(|name| folder.join(name)));
            contents.push((file, code.to_string().into_bytes()));
        } else {
            contents.push((file, content));
        }
    }
    let is_test = |file: &Path| {
        let stem = file.with_extension("");
        stem.ancestors().any(|place| tests.contains(place))
    };
    contents.retain(|(file, _)| !is_test(file));
    contents
}

/// All files of a source, with their paths below `root`. `Cargo.lock` lies beside a program, not
/// beside a library that others depend on.
fn collect(root: &Path, source: &Path, files: &mut Vec<PathBuf>) {
    let place = root.join(source);
    if place.is_file() {
        files.push(source.to_owned());
    } else if place.is_dir() {
        for entry in std::fs::read_dir(place).expect("a folder of sources can be read") {
            let name = entry.expect("a folder of sources can be read").file_name();
            collect(root, &source.join(name), files);
        }
    }
}

/// Where the modules lie that a file declares.
fn folder_of_modules(file: &Path) -> PathBuf {
    match file.file_stem().is_some_and(|stem| stem == "mod") {
        true => file.parent().unwrap_or(Path::new("")).to_owned(),
        false => file.with_extension(""),
    }
}

/// The tokens without documentation and without what is compiled for tests only; the modules that
/// are declared so, by name.
pub fn without_tests(code: TokenStream, test_modules: &mut Vec<String>) -> TokenStream {
    let mut kept = Vec::new();
    let mut tokens = code.into_iter().peekable();
    while let Some(token) = tokens.next() {
        if matches!(&token, TokenTree::Punct(mark) if mark.as_char() == '#') {
            let inner = tokens
                .next_if(|next| matches!(next, TokenTree::Punct(mark) if mark.as_char() == '!'));
            let attribute = tokens.next_if(
                |next| matches!(next, TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket),
            );
            let text = attribute.as_ref().map_or(String::new(), |attribute| {
                let text = attribute.to_string();
                text.chars()
                    .filter(|letter| !letter.is_whitespace())
                    .collect()
            });
            if text.starts_with("[doc=") {
                continue;
            }
            if text == "[cfg(test)]" {
                skip_item(&mut tokens, test_modules);
                continue;
            }
            kept.push(token);
            kept.extend(inner);
            kept.extend(attribute);
            continue;
        }
        kept.push(match token {
            TokenTree::Group(group) => {
                let inside = without_tests(group.stream(), test_modules);
                Group::new(group.delimiter(), inside).into()
            }
            token => token,
        });
    }
    kept.into_iter().collect()
}

/// Passes over an item: to its end, which is a semicolon or what stands in braces.
fn skip_item(tokens: &mut impl Iterator<Item = TokenTree>, test_modules: &mut Vec<String>) {
    let mut is_module = false;
    let mut name = None;
    for token in tokens {
        match token {
            TokenTree::Ident(word) if is_module => name = Some(word.to_string()),
            TokenTree::Ident(word) => is_module = word == "mod",
            TokenTree::Punct(mark) if mark.as_char() == ';' => {
                test_modules.extend(name);
                return;
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => return,
            _ => {}
        }
    }
}
