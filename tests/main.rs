//! All tests of the whole tool, in one program: linking takes longer than running most of them. A
//! file's tests alone: `cargo test --release --test all NAME::`.

mod asic;
mod book;
mod cli;
mod cocotb;
mod common;
mod configurations;
mod constraints;
mod corners;
mod datasheet;
mod dependencies;
mod end_to_end;
mod ethernet;
mod fuzz;
mod golden_mutants;
mod handover;
mod hardware;
mod hostile;
mod lammps;
mod lanes;
mod latency;
mod layers;
mod matrix;
mod memories;
mod mutate;
mod mutations;
mod netlist;
mod output;
mod pair;
mod papers;
mod predict;
mod schema;
mod selection;
mod simulate;
mod sources;
mod sweep;
mod switch;
mod topology;
mod traces;
mod trends;
mod upsets;
mod verify;
mod wrapper;

/// A file that is not named above would not be compiled, and its tests not be run.
#[test]
fn every_file_is_part_of_this_program() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let text = include_str!("main.rs");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.strip_suffix(".rs").unwrap_or(&name);
        let named = text.lines().any(|line| line == format!("mod {module};"));
        assert!(
            named || name == "main.rs",
            "tests/{name} is not in tests/main.rs"
        );
    }
}
