//! The clearing histogram (SPEC 6).

pub mod golden;
