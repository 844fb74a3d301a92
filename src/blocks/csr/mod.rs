//! Registers.
pub mod map;
