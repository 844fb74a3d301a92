//! What the tools say is understood; the proofs themselves are in `tests/verify.rs`.
