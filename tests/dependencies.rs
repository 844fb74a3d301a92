//! The packages of others: their licences, where they come from, how many versions of one there
//! are, and whether each is used.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Licences that go with Apache-2.0 OR MIT, none of which asks for more than a notice.
const LICENCES: [&str; 11] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Packages that others ask for in several versions.
const SEVERAL_VERSIONS: [&str; 10] = [
    "cpufeatures",
    "getrandom",
    "miniz_oxide",
    "num-bigint",
    "rand",
    "rand_chacha",
    "rand_core",
    "syn",
    "vcd",
    "winnow",
];

/// What Cargo says of every package that is built on this machine.
fn packages() -> Vec<Value> {
    let text = |command: &mut Command| -> String {
        let output = command.output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?}: {err}");
        String::from_utf8(output.stdout).unwrap()
    };
    let version = text(Command::new("rustc").arg("-vV"));
    let host = version.lines().find_map(|it| it.strip_prefix("host: "));
    let metadata = text(
        Command::new(env!("CARGO"))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(["metadata", "--locked", "--format-version", "1"])
            .args(["--filter-platform", host.unwrap()]),
    );
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// Whether an expression of licences can be met with those of the list.
fn allowed(licence: &str) -> bool {
    let licence = licence.replace(['(', ')'], "").replace('/', " OR ");
    licence.split(" AND ").all(|all| {
        let mut any = all.split(" OR ");
        any.any(|one| LICENCES.contains(&one.trim()))
    })
}

#[test]
fn every_licence_is_on_the_list() {
    assert!(allowed("(MIT OR GPL-3.0) AND Unicode-3.0"));
    for refused in ["", "GPL-3.0-only", "MIT AND GPL-2.0", "MPL-2.0"] {
        assert!(!allowed(refused), "{refused}");
    }
    for package in packages() {
        let licence = text(&package, "license");
        assert!(allowed(licence), "{}: {licence}", package["name"]);
    }
}

#[test]
fn packages_come_from_crates_io_or_lie_here() {
    let root = env!("CARGO_MANIFEST_DIR");
    for package in packages() {
        let source = text(&package, "source");
        let here = text(&package, "manifest_path").starts_with(root);
        let from_crates_io = source.contains("github.com/rust-lang/crates.io-index");
        assert!(here || from_crates_io, "{}: {source}", package["name"]);
    }
}

#[test]
fn no_package_comes_in_more_versions_than_it_must() {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in packages() {
        let version = text(&package, "version").to_owned();
        let of = versions.entry(text(&package, "name").to_owned());
        of.or_default().insert(version);
    }
    let several = versions.iter().filter(|(_, versions)| versions.len() > 1);
    let several: Vec<&str> = several.map(|(name, _)| name.as_str()).collect();
    assert_eq!(several, SEVERAL_VERSIONS);
}

/// All Rust files below some folders, and some files.
fn sources(places: &[&str]) -> String {
    fn collect(path: &Path, into: &mut String) {
        if path.is_dir() {
            for entry in fs::read_dir(path).unwrap() {
                collect(&entry.unwrap().path(), into);
            }
        } else if path.extension().is_some_and(|it| it == "rs") {
            *into += &fs::read_to_string(path).unwrap();
        }
    }
    let mut text = String::new();
    for place in places {
        collect(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join(place),
            &mut text,
        );
    }
    text
}

/// Whether a path begins with the name of the package.
fn uses(text: &str, package: &str) -> bool {
    let name = package.replace('-', "_");
    text.match_indices(&name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].trim_start_matches(' ');
        let begins = !before.is_some_and(|it| it.is_alphanumeric() || "_:.\"/-".contains(it));
        begins && (after.starts_with("::") || after.starts_with(';'))
    })
}

#[test]
fn every_dependency_is_used() {
    assert!(uses("use serde_json::Value;", "serde-json"));
    assert!(!uses("let rand = 1; operand::of(my_rand::x)", "rand"));
    let packages = packages();
    let own = packages.iter().find(|it| it["name"] == "linkdoze").unwrap();
    let library = sources(&["src"]);
    let tests = sources(&["src", "tests", "benches"]);
    let build = sources(&["build.rs"]);
    for dependency in own["dependencies"].as_array().unwrap() {
        let name = text(dependency, "name");
        let (kind, sources) = match dependency["kind"].as_str() {
            Some("dev") => ("tests", &tests),
            Some("build") => ("build.rs", &build),
            _ => ("src", &library),
        };
        assert!(uses(sources, name), "{name} is not used in {kind}");
    }
}
