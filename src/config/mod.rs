//! The one TOML file: units, validation, defaults, presets.

pub mod plan;
