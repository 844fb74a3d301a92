//! Ports of a switch as bits of a word.

use std::ops::Range;

/// These ports as a set.
pub(super) fn set_of(ports: impl Iterator<Item = u8>) -> u64 {
    ports.fold(0, |set, port| set | 1 << port)
}

/// The ports of a range as a set.
pub(super) fn set(ports: &Range<u8>) -> u64 {
    set_of(ports.clone())
}

/// The ports of a set, the lowest first.
pub(super) fn ports(mut set: u64) -> impl Iterator<Item = u8> + Clone {
    std::iter::from_fn(move || {
        let port = (set != 0).then(|| set.trailing_zeros() as u8);
        set &= set.wrapping_sub(1);
        port
    })
}

/// The ports of a set, those from `first` on before the others.
pub(super) fn ports_from(first: u8, set: u64) -> impl Iterator<Item = u8> + Clone {
    let later = u64::MAX.checked_shl(first.into()).unwrap_or(0);
    ports(set & later).chain(ports(set & !later))
}
