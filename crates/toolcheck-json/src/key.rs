//! Keys, compared by a hash first: the reader computes it in passing, and most lookups need nothing else.

/// A hash of a key. Equal keys have equal hashes; different keys mostly have different ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct KeyHash(pub(crate) u16);

impl KeyHash {
    /// The hash of a key's text.
    ///
    /// Keys differ in their length, in their first and in their last characters; what is between is not looked at, so that
    /// a long key costs as much as a short one.
    #[must_use]
    #[inline]
    pub fn of(key: &[u8]) -> Self {
        let length = key.len();
        let ends = match (key.first(), key.last()) {
            (Some(first), Some(last)) => u32::from(*first) * 31 + u32::from(*last) * 7,
            _ => 0,
        };
        let inner = key.get(length / 2).map_or(0, |byte| u32::from(*byte) * 251);
        Self((ends + inner + length as u32) as u16)
    }

    /// The hash as a number, of which the lowest bits differ most.
    #[must_use]
    #[inline]
    pub fn number(self) -> usize {
        usize::from(self.0)
    }
}

/// Whether two short texts are equal, without a call: keys are compared so often that it would show.
#[must_use]
#[inline]
pub fn same_key(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    match (one.first_chunk::<8>(), other.first_chunk::<8>()) {
        (Some(start), Some(other_start)) => {
            let ends = || one.last_chunk::<8>() == other.last_chunk::<8>();
            u64::from_ne_bytes(*start) == u64::from_ne_bytes(*other_start)
                && if one.len() <= 16 { ends() } else { one == other }
        }
        _ => match (one.first_chunk::<4>(), other.first_chunk::<4>()) {
            (Some(start), Some(other_start)) => {
                u32::from_ne_bytes(*start) == u32::from_ne_bytes(*other_start)
                    && one.last_chunk::<4>() == other.last_chunk::<4>()
            }
            _ => one.iter().eq(other),
        },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{KeyHash, same_key};

    proptest! {
        #[test]
        fn keys_are_the_same_if_their_bytes_are(one in "[ab]{0,20}", other in "[ab]{0,20}") {
            prop_assert_eq!(same_key(one.as_bytes(), other.as_bytes()), one == other);
            prop_assert!(same_key(one.as_bytes(), one.as_bytes()));
            if one == other {
                prop_assert_eq!(KeyHash::of(one.as_bytes()), KeyHash::of(other.as_bytes()));
            }
        }
    }

    #[test]
    fn a_change_at_any_place_is_seen() {
        for length in 1..40 {
            let key = vec![b'k'; length];
            for at in 0..length {
                let mut other = key.clone();
                other[at] = b'x';
                assert!(!same_key(&key, &other), "{length} {at}");
            }
        }
    }
}
