//! The keys of an object, as far as a glance at each tells.

use super::Reader;
use crate::document::{ESCAPED, KEY_ESCAPED, KEYED, MAYBE_DUPLICATE};

/// Two filters with one bit for each key so far: a key that finds both of its bits set may be a repetition, and mostly is one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct KeysSeen([u64; 2]);

impl KeysSeen {
    /// Adds a key, and returns whether it may have been added before.
    #[inline]
    pub(super) fn may_repeat(&mut self, key: &[u8], is_escaped: bool) -> bool {
        let bits = match key {
            [] => [1, 1],
            // An escaped key may be any key, so it sets every bit.
            _ if is_escaped => [u64::MAX; 2],
            [first, ..] => {
                let middle = u32::from(key[key.len() / 2]);
                let other = middle * 5 + u32::from(*first) + key.len() as u32 * 11;
                [1 << (ends(key) & 63), 1 << (other & 63)]
            }
        };
        let may_repeat = self.0[0] & bits[0] != 0 && self.0[1] & bits[1] != 0;
        self.0[0] |= bits[0];
        self.0[1] |= bits[1];
        may_repeat
    }

    /// Notes that there is a key that was not added, which may be any.
    pub(super) fn add_any(&mut self) {
        self.0[0] = u64::MAX;
    }

    /// The keys so far, for [`may_have`].
    #[inline]
    pub(super) fn in_short(self) -> u16 {
        let bits = self.0[0] | self.0[0] >> 32;
        (bits | bits >> 16) as u16
    }
}

/// Whether an object with these keys in short may have this one. Of keys that it doesn't have, most are ruled out.
#[inline]
pub(crate) fn may_have(keys: u16, key: &str) -> bool {
    keys & 1 << (ends(key.as_bytes()) & 15) != 0
}

/// A number of the first and the last byte and the length.
#[inline]
fn ends(key: &[u8]) -> u32 {
    let (first, last) = key.first().zip(key.last()).map_or((0, 0), |(first, last)| (*first, *last));
    u32::from(first) * 31 + u32::from(last) * 7 + key.len() as u32
}

impl Reader<'_, '_> {
    /// Stores the key, and marks the object if it may have it already.
    #[inline]
    pub(super) fn note_key(&mut self, start: usize, end: usize, flags: u8) {
        let escaped = if flags & ESCAPED != 0 { KEY_ESCAPED } else { 0 };
        self.key = Some((start as u32, end as u32, KEYED | escaped));
        let inside = &self.bytes[start + 1..end.max(start + 2) - 1];
        if let Some(frame) = self.arena.stack.last_mut()
            && frame.keys.may_repeat(inside, escaped != 0)
        {
            self.arena.nodes[frame.node as usize].flags |= MAYBE_DUPLICATE;
            self.arena.maybe_duplicate = true;
        }
    }
}
