//! Asking for cache lines before they are needed.

/// Asks for the cache line at an address.
#[inline]
pub fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        // SAFETY: prefetching has no effect but on the cache, whatever the address.
        unsafe { _mm_prefetch(address.cast::<i8>(), _MM_HINT_T0) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Asks for so many cache lines from an address on.
#[inline]
pub fn prefetch_lines(address: *const u8, lines: usize) {
    for line in 0..lines {
        prefetch(address.wrapping_add(64 * line));
    }
}
