//! The digests of the code that a sweep's results depend on, and those of `mutate` (`build.rs`): an edited
//! comment must not cost the results of a night, and an edited formula must not pass for the old one.

#[path = "../build.rs"]
#[allow(dead_code, reason = "main is the build script's")]
mod build;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};

const CODE: &str = "//! A file.\n\n/// Doubles.\npub fn double(x: u64) -> u64 {\n    2 * x\n}\n\n\
                    #[cfg(test)]\nmod tests {\n    #[test]\n    fn two() {}\n}\n";

/// A folder of sources.
fn sources() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("Cargo.lock", "[[package]]\nname = \"rand\"\n"),
        ("src/network/engine.rs", CODE),
        (
            "src/network/mod.rs",
            "mod engine;\n#[cfg(test)]\nmod checks;\n",
        ),
        ("src/network/checks.rs", "fn helper() {}\n"),
        ("src/network/checks/more.rs", "fn helper() {}\n"),
        ("src/config/preset.toml", "[port]\n"),
        ("src/cli/mod.rs", CODE),
        ("testbench/harness.cpp", ""),
    ] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// Whether the digest of a simulation changes with the text of a file.
fn changes(file: &str, text: &str) -> bool {
    digest_changes(&build::SOURCES, file, text)
}

fn digest_changes(of: &[&str], file: &str, text: &str) -> bool {
    let folder = sources();
    let before = build::digest(folder.path(), of);
    fs::write(folder.path().join(file), text).unwrap();
    build::digest(folder.path(), of) != before
}

/// What `mutate` finds depends on the co-simulation, the solvers and the test bench, too.
#[test]
fn all_code_changes_the_digest_of_the_program() {
    let changes = |file, text: &str| digest_changes(&build::PROGRAM, file, text);
    assert!(changes("src/cli/mod.rs", &CODE.replace('2', "3")));
    assert!(changes("testbench/harness.cpp", "int main() {}\n"));
    assert!(!changes("src/cli/mod.rs", &CODE.replace("Doubles", "Adds")));
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for source in build::PROGRAM {
        assert!(root.join(source).exists(), "{source}");
    }
    // Files that the code has as texts lie below the root, or are named.
    let mut texts = BTreeSet::new();
    texts_of(&root.join("src"), &mut texts);
    let missing: Vec<&String> = texts
        .iter()
        .filter(|text| !build::PROGRAM.contains(&text.as_str()))
        .collect();
    assert!(texts.len() > 5 && missing.is_empty(), "{missing:?}");
}

/// What of the folder `testbench` stands in the program.
fn texts_of(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts_of(&path, found);
            continue;
        }
        let text = fs::read_to_string(&path).unwrap_or_default();
        for part in text.split("include_str!(\"").skip(1) {
            let name = part.split('"').next().unwrap().trim_start_matches("../");
            if name.starts_with("testbench/") {
                found.insert(name.to_owned());
            }
        }
    }
}

#[test]
fn an_edited_comment_or_test_does_not_change_the_digest() {
    for (from, to) in [
        ("//! A file.", "//! Another text."),
        (
            "/// Doubles.\n",
            "/// Twice `x`.\n///\n/// # Panics\n/// Never.\n",
        ),
        ("    2 * x", "    // Twice.\n    2 * x /* x */"),
        ("{\n    2 * x\n}", "{ 2 * x }"),
        ("fn two() {}", "fn three() { assert!(true); }"),
        (
            "#[cfg(test)]\nmod tests {\n    #[test]\n    fn two() {}\n}\n",
            "",
        ),
    ] {
        assert!(CODE.contains(from), "{from}");
        let text = CODE.replace(from, to);
        assert!(!changes("src/network/engine.rs", &text), "{text}");
    }
    assert!(!changes("src/network/checks.rs", "fn other() {}\n"));
    assert!(!changes("src/network/checks/more.rs", "fn other() {}\n"));
    assert!(!changes("src/cli/mod.rs", &CODE.replace('2', "3")));
}

#[test]
fn what_can_change_a_result_changes_the_digest() {
    assert!(changes("src/network/engine.rs", &CODE.replace('2', "3")));
    let attribute = CODE.replace("pub fn", "#[inline]\npub fn");
    assert!(changes("src/network/engine.rs", &attribute));
    assert!(changes("src/network/mod.rs", "mod engine;\nmod checks;\n"));
    assert!(changes("src/network/new.rs", ""));
    assert!(changes("src/config/preset.toml", "[port]\n# other\n"));
    assert!(changes("Cargo.lock", "[[package]]\nname = \"rand_pcg\"\n"));
}

/// The names behind `crate::`.
fn imports(code: TokenStream, found: &mut BTreeSet<String>) {
    let tokens: Vec<TokenTree> = code.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => imports(group.stream(), found),
            TokenTree::Ident(word) if word == "crate" => match tokens.get(at + 3) {
                Some(TokenTree::Ident(name)) => {
                    found.insert(name.to_string());
                }
                Some(TokenTree::Group(group)) => {
                    // `use crate::{a, b::c}`: the first of each path.
                    let mut first = true;
                    for token in group.stream() {
                        match token {
                            TokenTree::Ident(name) if first => {
                                found.insert(name.to_string());
                                first = false;
                            }
                            TokenTree::Punct(mark) if mark.as_char() == ',' => first = true,
                            _ => {}
                        }
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }
}

#[test]
fn no_code_of_a_simulation_is_missing_from_the_digest() {
    let mut found = BTreeSet::new();
    let mut known = BTreeSet::new();
    for source in build::SOURCES {
        if let Some(name) = source
            .strip_prefix("src/")
            .filter(|name| !name.contains('/'))
        {
            known.insert(name.to_owned());
            for (file, code) in build::code(Path::new(""), &[source]) {
                if file.extension().is_some_and(|extension| extension == "rs") {
                    let code = String::from_utf8(code).unwrap();
                    imports(code.parse().unwrap(), &mut found);
                }
            }
        }
    }
    // They read, write, run programs of others, ask for the time and word messages; `hdl` describes the
    // hardware, and its one function that golden models call is in the digest.
    known.extend(["files", "tools", "usage", "words", "hdl"].map(str::to_owned));
    let missing: Vec<_> = found.difference(&known).collect();
    assert!(
        missing.is_empty(),
        "{missing:?}: add them to SOURCES of build.rs"
    );
    assert!(
        found.contains("network") && found.contains("config"),
        "{found:?}"
    );
}
