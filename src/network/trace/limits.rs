//! How much a program may do.

/// The most that all calcs together may last, so that 64 bits of picoseconds suffice.
pub const MAX_CALC_NS: u64 = u64::MAX / 1000 / 16;
/// The most that all messages together may hold, for the same reason (1 PiB).
pub const MAX_BYTES: u64 = 1 << 50;
