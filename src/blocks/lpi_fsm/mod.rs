//! The LPI state machine (SPEC 4).

pub mod golden;
