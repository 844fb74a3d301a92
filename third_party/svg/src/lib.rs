//! Empty on purpose: see the `[patch.crates-io]` section of the root `Cargo.toml`.
