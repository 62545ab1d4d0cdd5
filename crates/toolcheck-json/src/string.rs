//! Strings as they are written in the source, decoded on demand.

use std::borrow::Cow;

use crate::block::contains;
use crate::unescape::{Jump, code_unit, escape};
use crate::{embedded, unescape};

/// The inside of a JSON string, without its quotes, as it is written in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonStr<'s> {
    raw: &'s [u8],
    escaped: bool,
}

impl<'s> JsonStr<'s> {
    pub(crate) fn new(raw: &'s [u8], escaped: bool) -> Self {
        Self { raw, escaped }
    }

    /// A part of the string, by its bytes between the quotes. It must not begin or end inside an escape.
    pub fn slice(self, range: std::ops::Range<usize>) -> Self {
        Self { raw: self.raw.get(range).unwrap_or_default(), escaped: self.escaped }
    }

    /// The bytes between the quotes, escapes untouched.
    pub fn raw(self) -> &'s [u8] {
        self.raw
    }

    /// Whether the string contains a backslash, so that its text differs from its bytes.
    pub fn is_escaped(self) -> bool {
        self.escaped
    }

    /// Whether the string is empty.
    pub fn is_empty(self) -> bool {
        self.raw.is_empty()
    }

    /// Whether the string consists only of whitespace, or is empty.
    pub fn is_blank(self) -> bool {
        // The first character is nearly always enough.
        match self.raw.first() {
            None => true,
            Some(byte) if byte.is_ascii_graphic() && *byte != b'\\' => false,
            Some(_) => self.decode().trim().is_empty(),
        }
    }

    /// Whether the text is certainly a JSON object, checked without decoding it. `false` means that it is not known: the
    /// text may be an object in an unusual notation.
    pub fn is_surely_object(self) -> bool {
        embedded::is_surely_object(self.raw)
    }

    /// The text, borrowed if it has no escapes. A lone surrogate and a byte that is not UTF-8
    /// become U+FFFD.
    pub fn decode(self) -> Cow<'s, str> {
        if !self.escaped {
            return String::from_utf8_lossy(self.raw);
        }
        let mut bytes = Vec::new();
        unescape::append(self.raw, &mut bytes, |_| {});
        Cow::Owned(String::from_utf8(bytes).unwrap_or_else(|_| self.decode_with_offsets().0))
    }

    /// Appends the text that [`Self::decode`] returns to `text`, a buffer that can be used for many strings.
    pub fn decode_into(self, text: &mut String) {
        if !self.escaped || !text.is_empty() {
            text.push_str(&self.decode());
            return;
        }
        let mut bytes = std::mem::take(text).into_bytes();
        unescape::append(self.raw, &mut bytes, |_| {});
        *text = String::from_utf8(bytes).unwrap_or_else(|_| self.decode_with_offsets().0);
    }

    /// Whether [`Self::decode`] returns the very text: the string has no lone surrogate, no other escape that means
    /// nothing, and no byte that is not UTF-8.
    pub fn is_text(self) -> bool {
        let mut raw = self.raw;
        while let Some(run) = memchr::memchr(b'\\', raw).filter(|_| self.escaped) {
            let (character, length) = escape(&raw[run..]);
            if character == char::REPLACEMENT_CHARACTER && code_unit(&raw[run + 2..]) != Some(0xFFFD) {
                return false;
            }
            raw = &raw[run + length..];
        }
        std::str::from_utf8(self.raw).is_ok()
    }

    /// The number of characters (Unicode scalar values) of the text, counted without decoding it.
    pub fn char_count(self) -> usize {
        let (mut raw, mut count) = (self.raw, 0);
        while let Some(run) = memchr::memchr(b'\\', raw) {
            count += count_chars(&raw[..run]) + 1;
            let (_, length) = escape(&raw[run..]);
            raw = &raw[run + length..];
        }
        count + count_chars(raw)
    }

    /// Appends the bytes of the text to `bytes`, like [`Self::decode`], but bytes that are not UTF-8 are kept. For parsers of
    /// JSON in a string, which read bytes anyway.
    pub fn decode_bytes_into(self, bytes: &mut Vec<u8>) {
        if self.escaped {
            unescape::append(self.raw, bytes, |_| {});
        } else {
            bytes.extend_from_slice(self.raw);
        }
    }

    /// The text, and for each of its bytes the offset in [`Self::raw`] that it comes from.
    ///
    /// With it, a place in JSON in a string can be mapped to a place in the file.
    pub fn decode_with_offsets(self) -> (String, Vec<u32>) {
        let mut offsets = Vec::with_capacity(self.raw.len());
        let mut text = String::with_capacity(self.raw.len());
        unescape(self.raw, &mut text, |at, length| {
            offsets.extend(std::iter::repeat_n(at, length));
        });
        (text, offsets)
    }

    /// The text, in which each half of a character is one for private use: its code unit above [`Self::HALVES`].
    pub fn decode_halves(self) -> Cow<'s, str> {
        if self.is_text() {
            return self.decode();
        }
        let (text, offsets) = self.decode_with_offsets();
        let with_half = |(at, character): (usize, char)| {
            let escape =
                self.raw.get(offsets[at] as usize..).filter(|_| character == char::REPLACEMENT_CHARACTER);
            let unit = escape.and_then(|raw| code_unit(raw.strip_prefix(b"\\u")?));
            let half = unit.filter(|unit| (0xD800..=0xDFFF).contains(unit));
            half.and_then(|unit| char::from_u32(Self::HALVES + u32::from(unit))).unwrap_or(character)
        };
        Cow::Owned(text.char_indices().map(with_half).collect())
    }

    /// What [`Self::decode_halves`] adds to the halves of characters.
    pub const HALVES: u32 = 0x10_0000;

    /// The text, and where it and [`Self::raw`] continue after each escape.
    pub(crate) fn decode_with_jumps(self) -> (String, Vec<Jump>) {
        let (mut bytes, mut jumps) = (Vec::new(), Vec::with_capacity(32));
        unescape::append(self.raw, &mut bytes, |jump| jumps.push(jump));
        if let Ok(text) = String::from_utf8(bytes) {
            return (text, jumps);
        }
        jumps.clear();
        let mut text = String::with_capacity(self.raw.len());
        let (mut at, mut last) = (0, Jump::default());
        unescape(self.raw, &mut text, |raw, length| {
            if raw - last.raw != at - last.text {
                last = Jump { text: at, raw };
                jumps.push(last);
            }
            at += length as u32;
        });
        (text, jumps)
    }

    /// Whether the decoded text may have a word of ASCII letters: a glance, without decoding it.
    pub fn may_have(self, word: &str) -> bool {
        // Letters are hardly ever escaped, but may be.
        contains(self.raw, word.as_bytes()) || self.escaped && contains(self.raw, b"\\u00")
    }

    /// Whether the decoded text may begin with one of these characters, after white space: a glance, without decoding it.
    pub fn may_begin_with(self, characters: &[u8]) -> bool {
        let first = self.raw.trim_ascii_start().first();
        first.is_some_and(|first| *first == b'\\' || characters.contains(first))
    }

    /// Whether the decoded text equals `other`. A string without escapes is not decoded.
    pub fn eq_str(self, other: &str) -> bool {
        if !self.escaped && self.raw == other.as_bytes() {
            return true;
        }
        // Without escapes, the text differs from the bytes only if they are not UTF-8.
        let has_replacement = || !other.is_ascii() && other.contains(char::REPLACEMENT_CHARACTER);
        let differs = self.escaped || has_replacement();
        differs && self.decode() == other
    }
}

/// The number of characters; each invalid UTF-8 sequence counts as one.
fn count_chars(bytes: &[u8]) -> usize {
    let count = |chunk: std::str::Utf8Chunk<'_>| {
        chunk.valid().chars().count() + usize::from(!chunk.invalid().is_empty())
    };
    bytes.utf8_chunks().map(count).sum()
}

/// Unescapes `raw`, and calls `wrote` for each character with its offset in `raw` and its length in the text.
fn unescape(raw: &[u8], text: &mut String, mut wrote: impl FnMut(u32, usize)) {
    let mut at = 0;
    while at < raw.len() {
        let run = memchr::memchr(b'\\', &raw[at..]).unwrap_or(raw.len() - at);
        if run > 0 {
            let mut offset = at;
            for chunk in raw[at..at + run].utf8_chunks() {
                for character in chunk.valid().chars() {
                    wrote(offset as u32, character.len_utf8());
                    offset += character.len_utf8();
                }
                text.push_str(chunk.valid());
                if !chunk.invalid().is_empty() {
                    wrote(offset as u32, char::REPLACEMENT_CHARACTER.len_utf8());
                    text.push(char::REPLACEMENT_CHARACTER);
                    offset += chunk.invalid().len();
                }
            }
            at += run;
        }
        if at == raw.len() {
            break;
        }
        let (character, length) = escape(&raw[at..]);
        wrote(at as u32, character.len_utf8());
        text.push(character);
        at += length;
    }
}
