//! wave
