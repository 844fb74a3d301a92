//! Tells the program the digest of its own sources, by which a sweep knows whether results that
//! lie in its folder are of the same build (`src/sweep`).

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

fn main() {
    let mut files = vec![PathBuf::from("Cargo.lock")];
    collect(Path::new("src"), &mut files);
    files.sort();
    let mut digest = Sha256::new();
    // Cargo.lock lies beside a program, not beside a library that others depend on.
    for file in files.iter().filter(|file| file.exists()) {
        let content = std::fs::read(file).expect("a source can be read");
        digest.update(format!("{} {}\n", file.display(), content.len()));
        digest.update(content);
    }
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rerun-if-changed=Cargo.lock");
    println!("cargo::rustc-env=LINKDOZE_SOURCES={:x}", digest.finalize());
}

/// All files in a folder and its folders.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the sources lie in src") {
        let path = entry.expect("the sources lie in src").path();
        match path.is_dir() {
            true => collect(&path, files),
            false => files.push(path),
        }
    }
}
