//! Writes what a string says, a block of bytes at a time.

use wide::u8x16;

/// Where a text and the string that it is written as continue, after what is longer in one of them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Jump {
    pub(crate) text: u32,
    pub(crate) raw: u32,
}

/// The number of bytes that are copied at once. JSON in a string has an escape in most blocks, so that longer ones would be
/// copied for nothing.
const BLOCK: usize = 16;

/// Appends what a string says to `text`, and calls `jump` after each escape with where both continue. Bytes that are not UTF-8
/// are kept.
#[inline]
pub(crate) fn append(raw: &[u8], text: &mut Vec<u8>, mut jump: impl FnMut(Jump)) {
    let start = text.len();
    // There is always room for the rest of the string and a block.
    text.resize(start + raw.len() + BLOCK, 0);
    let (mut from, mut to) = (0, start);
    loop {
        let mut last = [0; BLOCK];
        let rest = &raw[from..];
        let (block, length) = match rest.first_chunk::<BLOCK>() {
            Some(block) => (block, BLOCK),
            None => {
                last[..rest.len()].copy_from_slice(rest);
                (&last, rest.len())
            }
        };
        if let Some(room) = text.get_mut(to..).and_then(|room| room.first_chunk_mut::<BLOCK>()) {
            *room = *block;
        }
        let mut found = u8x16::new(*block).simd_eq(u8x16::splat(b'\\')).to_bitmask() & 0xFFFF;
        if found == 0 {
            (from, to) = (from + length, to + length);
            if length < BLOCK {
                break;
            }
            continue;
        }
        found = found.trailing_zeros();
        (from, to) = (from + found as usize, to + found as usize);
        if let Some(simple @ (b'"' | b'\\' | b'/')) = raw.get(from + 1) {
            text[to] = *simple;
            (from, to) = (from + 2, to + 1);
        } else {
            let (character, length) = escape(&raw[from..]);
            let written = character.len_utf8();
            if written > length {
                // An escape without its digits is shorter than what stands for it.
                text.resize(text.len() + written - length, 0);
            }
            character.encode_utf8(&mut text[to..]);
            (from, to) = (from + length, to + written);
        }
        jump(Jump { text: (to - start) as u32, raw: from as u32 });
    }
    text.truncate(to);
}

/// The character of the escape at the start of `raw`, and the escape's length in bytes.
pub(crate) fn escape(raw: &[u8]) -> (char, usize) {
    let simple = |character| (character, 2);
    match raw.get(1) {
        Some(b'"') => simple('"'),
        Some(b'\\') => simple('\\'),
        Some(b'/') => simple('/'),
        Some(b'b') => simple('\u{8}'),
        Some(b'f') => simple('\u{c}'),
        Some(b'n') => simple('\n'),
        Some(b'r') => simple('\r'),
        Some(b't') => simple('\t'),
        Some(b'u') => match code_unit(&raw[2..]) {
            Some(high @ 0xD800..=0xDBFF) => match raw.get(6..8).and_then(|_| low_surrogate(&raw[6..])) {
                Some(low) => {
                    let scalar = 0x1_0000 + ((u32::from(high) - 0xD800) << 10) + (u32::from(low) - 0xDC00);
                    (char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER), 12)
                }
                None => (char::REPLACEMENT_CHARACTER, 6),
            },
            Some(unit) => (char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER), 6),
            None => (char::REPLACEMENT_CHARACTER, 2),
        },
        // Reading has reported the invalid escape; its text is kept.
        Some(_) | None => ('\\', 1),
    }
}

/// The value of the four hex digits at the start of `digits`.
pub(crate) fn code_unit(digits: &[u8]) -> Option<u16> {
    let mut unit = 0u16;
    for digit in digits.get(..4)? {
        unit = unit << 4 | u16::from(char::from(*digit).to_digit(16)? as u8);
    }
    Some(unit)
}

/// The low surrogate, if `raw` begins with its escape.
pub(crate) fn low_surrogate(raw: &[u8]) -> Option<u16> {
    if raw.starts_with(b"\\u") {
        code_unit(&raw[2..]).filter(|unit| (0xDC00..=0xDFFF).contains(unit))
    } else {
        None
    }
}
