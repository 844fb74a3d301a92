//! The idle meter: length of idle periods (SPEC 2).

pub mod golden;
