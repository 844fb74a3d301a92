//! Runs one of [`entries::TARGETS`] and [`entries::CONTROLS`] under libFuzzer; `LINKDOZE_FUZZ` names it (`tools/fuzz.sh`).

#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};

mod entries;
mod mutate;

/// The target that the environment names.
fn target() -> &'static entries::Target {
    static TARGET: OnceLock<&entries::Target> = OnceLock::new();
    TARGET.get_or_init(|| {
        let name = std::env::var("LINKDOZE_FUZZ").unwrap_or_default();
        let mut all = entries::TARGETS.iter().chain(&entries::CONTROLS);
        let found = all.find(|target| target.name == name);
        found.unwrap_or_else(|| {
            let names = entries::TARGETS.each_ref().map(|target| target.name);
            eprintln!(
                "LINKDOZE_FUZZ is \"{name}\": it must be one of {}",
                names.join(", ")
            );
            std::process::exit(2)
        })
    })
}

fuzz_target!(|bytes: &[u8]| {
    (target().check)(bytes);
});

fuzz_mutator!(|bytes: &mut [u8], size: usize, most: usize, seed: u32| {
    mutate::mutate(target().name, bytes, size, most, seed)
});
