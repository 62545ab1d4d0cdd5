//! Random numbers, for which the schema validator's hash maps ask.
//!
//! A module has none without a host, and by default `getrandom` would import them in a way that only the tools of one
//! JavaScript binding understand. A fixed sequence does: it decides nothing but the order inside hash maps, as that of the
//! standard library does on this platform.

use std::sync::atomic::{AtomicU64, Ordering};

static STATE: AtomicU64 = AtomicU64::new(0x243f_6a88_85a3_08d3);

/// Fills a buffer with the next numbers (SplitMix64).
#[unsafe(no_mangle)]
unsafe extern "Rust" fn __getrandom_v03_custom(
    buffer: *mut u8,
    length: usize,
) -> Result<(), getrandom::Error> {
    // SAFETY: `getrandom` promises that the buffer is valid for writes of this length. Its bytes need not be initialised, so
    // they are only written.
    let buffer =
        unsafe { std::slice::from_raw_parts_mut(buffer.cast::<std::mem::MaybeUninit<u8>>(), length) };
    for bytes in buffer.chunks_mut(8) {
        let mut next = STATE.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        next = (next ^ (next >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        next = (next ^ (next >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        next ^= next >> 31;
        for (byte, random) in bytes.iter_mut().zip(next.to_le_bytes()) {
            byte.write(random);
        }
    }
    Ok(())
}
