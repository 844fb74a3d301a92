//! The power-down timer (SPEC 3).

pub mod golden;
