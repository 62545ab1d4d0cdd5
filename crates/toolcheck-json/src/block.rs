//! Classifies the bytes of a string, many at a time and without branches.

use wide::u8x16;

/// The number of bytes in a block.
pub(crate) const BLOCK: usize = 32;

/// The special bytes of a block, as masks with one bit per byte.
pub(crate) struct Masks {
    pub(crate) quotes: u32,
    pub(crate) backslashes: u32,
    pub(crate) controls: u32,
}

impl Masks {
    #[inline]
    pub(crate) fn of(block: &[u8; BLOCK]) -> Self {
        let [low, high] = halves(block);
        let quotes = |half: u8x16| half.simd_eq(u8x16::splat(b'"'));
        let backslashes = |half: u8x16| half.simd_eq(u8x16::splat(b'\\'));
        let controls = |half: u8x16| half.min(u8x16::splat(0x1F)).simd_eq(half);
        Self {
            quotes: mask(quotes(low), quotes(high)),
            backslashes: mask(backslashes(low), backslashes(high)),
            controls: mask(controls(low), controls(high)),
        }
    }
}

/// The first special byte of a block, with its index.
#[inline]
pub(crate) fn first_special(block: &[u8; BLOCK]) -> Option<(usize, u8)> {
    let [low, high] = halves(block);
    let special = mask(is_special(low), is_special(high));
    let first = special.trailing_zeros() as usize;
    block.get(first).map(|byte| (first, *byte))
}

/// The same, for a string that mostly ends in the first half, as keys and words do.
#[inline]
pub(crate) fn first_special_near(block: &[u8; BLOCK]) -> Option<(usize, u8)> {
    let [low, high] = halves(block);
    let mut first = is_special(low).to_bitmask().trailing_zeros();
    if first == u32::BITS {
        first = 16 + is_special(high).to_bitmask().trailing_zeros();
    }
    block.get(first as usize).map(|byte| (first as usize, *byte))
}

/// The index of the first backslash. In JSON in a string it is usually near.
#[inline]
pub(crate) fn first_backslash(bytes: &[u8]) -> Option<usize> {
    let Some(near) = bytes.first_chunk::<{ BLOCK / 2 }>() else {
        return bytes.iter().position(|byte| *byte == b'\\');
    };
    match u8x16::new(*near).simd_eq(u8x16::splat(b'\\')).to_bitmask() {
        0 => memchr::memchr(b'\\', &bytes[near.len()..]).map(|at| near.len() + at),
        found => Some(found.trailing_zeros() as usize),
    }
}

/// The length up to which a text is searched here: to prepare a faster search costs as much as this one.
const LONG: usize = 4096;

/// Whether a text has these bytes. Most texts are short, and most words are looked for only once in each.
pub fn contains(text: &[u8], word: &[u8]) -> bool {
    const HALF: usize = BLOCK / 2;
    let (Some(first), Some(last)) = (word.first(), word.last()) else { return true };
    let distance = word.len() - 1;
    let Some(last_block) = text.len().checked_sub(HALF + distance) else {
        return text.windows(word.len()).any(|part| part == word);
    };
    if text.len() > LONG {
        return memchr::memmem::find(text, word).is_some();
    }
    let (first, last) = (u8x16::splat(*first), u8x16::splat(*last));
    let block = |at: usize| text.get(at..).and_then(|rest| rest.first_chunk::<HALF>());
    let mut at = 0;
    // The last block overlaps the one before it.
    while let Some((start, end)) = block(at).zip(block(at + distance)) {
        let is_end = u8x16::new(*end).simd_eq(last);
        let mut found = (u8x16::new(*start).simd_eq(first) & is_end).to_bitmask() & 0xFFFF;
        while found != 0 {
            if text[at + found.trailing_zeros() as usize..].starts_with(word) {
                return true;
            }
            found &= found - 1;
        }
        if at == last_block {
            break;
        }
        at = (at + HALF).min(last_block);
    }
    false
}

/// The letters after the backslash in the most common escapes of one character.
#[inline]
pub(crate) fn common_escapes(block: &[u8; BLOCK]) -> u32 {
    let [low, high] = halves(block);
    let is_one = |half: u8x16| {
        half.simd_eq(u8x16::splat(b'n')) | half.simd_eq(u8x16::splat(b't')) | half.simd_eq(u8x16::splat(b'r'))
    };
    mask(is_one(low), is_one(high))
}

#[inline]
fn is_special(half: u8x16) -> u8x16 {
    half.simd_eq(u8x16::splat(b'"'))
        | half.simd_eq(u8x16::splat(b'\\'))
        | half.min(u8x16::splat(0x1F)).simd_eq(half)
}

#[inline]
fn halves(block: &[u8; BLOCK]) -> [u8x16; 2] {
    // No copying from a slice, and no `map`: each would be a call for every half.
    const HALF: usize = BLOCK / 2;
    let low = block.first_chunk::<HALF>().unwrap_or(&[0; HALF]);
    let high = block.last_chunk::<HALF>().unwrap_or(&[0; HALF]);
    [u8x16::new(*low), u8x16::new(*high)]
}

#[inline]
fn mask(low: u8x16, high: u8x16) -> u32 {
    low.to_bitmask() | high.to_bitmask() << 16
}

/// A mask of the escaped bytes, and whether (1 or 0) the first byte of the next block is escaped. `is_open` says the same
/// of this block.
///
/// In a run of backslashes, the first one escapes the second, the third one the fourth, and so on. Subtracting a run from
/// the bits after each of its bytes borrows through the whole run. If the odd bits are set before, the bits that change
/// are the backslashes that escape, and the byte after a run of odd length.
#[inline]
pub(crate) fn escaped(backslashes: u32, is_open: u32) -> (u32, u32) {
    /// The bits of odd positions.
    const ODD: u32 = 0xAAAA_AAAA;
    let may_escape = backslashes & !is_open;
    let behind = may_escape << 1;
    let escapes = ((behind | ODD).wrapping_sub(may_escape)) ^ ODD;
    let escaped = escapes ^ (backslashes | is_open);
    (escaped, (escapes & backslashes) >> 31)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same, byte by byte.
    fn escaped_one_by_one(backslashes: u32, mut is_open: u32) -> (u32, u32) {
        let mut escaped = 0;
        for bit in 0..BLOCK {
            escaped |= is_open << bit;
            is_open = (backslashes >> bit & 1) & !is_open;
        }
        (escaped, is_open)
    }

    proptest! {
        #[test]
        fn escaped_bytes_are_found(one: u32, other: u32, is_open in 0..=1u32) {
            for backslashes in [one, one & other, one | other] {
                prop_assert_eq!(escaped(backslashes, is_open), escaped_one_by_one(backslashes, is_open));
            }
        }

        #[test]
        fn the_first_backslash_is_found(before in "[a-z]{0,40}", after in "[a-z\\\\]{0,40}") {
            let text = before + &after;
            prop_assert_eq!(first_backslash(text.as_bytes()), text.find('\\'));
        }

        #[test]
        fn words_are_found(text in "[ab]{0,80}", at in 0usize..80, length in 0usize..24, other in "[ab]{0,20}") {
            let end = (at + length).min(text.len());
            prop_assert!(contains(text.as_bytes(), &text.as_bytes()[at.min(end)..end]));
            prop_assert_eq!(contains(text.as_bytes(), other.as_bytes()), text.contains(&other));
        }

        #[test]
        fn special_bytes_are_found(bytes: [u8; BLOCK]) {
            let Masks { quotes, backslashes, controls } = Masks::of(&bytes);
            let of = |is_one: fn(u8) -> bool| {
                (0..BLOCK).filter(|at| is_one(bytes[*at])).fold(0, |mask, at| mask | 1 << at)
            };
            prop_assert_eq!(quotes, of(|byte| byte == b'"'));
            prop_assert_eq!(backslashes, of(|byte| byte == b'\\'));
            prop_assert_eq!(controls, of(|byte| byte < 0x20));
            prop_assert_eq!(common_escapes(&bytes), of(|byte| b"ntr".contains(&byte)));
            let special = (quotes | backslashes | controls).trailing_zeros() as usize;
            prop_assert_eq!(first_special(&bytes), bytes.get(special).map(|byte| (special, *byte)));
            prop_assert_eq!(first_special_near(&bytes), first_special(&bytes));
        }
    }
}
