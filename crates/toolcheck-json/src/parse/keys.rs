//! The keys of an object, as far as a glance at each tells.

/// Two filters with one bit for each key so far: a key that finds both of its bits set may be a repetition, and mostly is one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct KeysSeen([u64; 2]);

impl KeysSeen {
    /// Adds a key, and returns whether it may have been added before.
    #[inline]
    pub(super) fn may_repeat(&mut self, key: &[u8], is_escaped: bool) -> bool {
        let byte = |at: usize| u32::from(key.get(at).copied().unwrap_or(0));
        let (first, middle, last) = (byte(0), byte(key.len() / 2), byte(key.len().wrapping_sub(1)));
        let length = key.len() as u32;
        // An escaped key may be any key, so it sets every bit.
        let bit = |hash: u32| if is_escaped { u64::MAX } else { 1 << (hash & 63) };
        let bits = [bit(first * 31 + last * 7 + length), bit(middle * 5 + first + length * 11)];
        let may_repeat = self.0[0] & bits[0] != 0 && self.0[1] & bits[1] != 0;
        self.0[0] |= bits[0];
        self.0[1] |= bits[1];
        may_repeat
    }
}
