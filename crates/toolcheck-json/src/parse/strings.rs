//! Strings, from their opening quotes to their ends.

use super::Reader;
use crate::block::{self, BLOCK, Masks};
use crate::document::{ESCAPED, UNTERMINATED};
use crate::fault::SyntaxErrorKind;
use crate::unescape::{code_unit, low_surrogate};

impl Reader<'_, '_> {
    /// Skips a string, from its opening quote, and returns its flags.
    #[inline]
    pub(super) fn string(&mut self) -> u8 {
        // Most are keys and words: they end in the first block, which is looked at without a call.
        let block = self.bytes.get(self.at + 1..).and_then(|rest| rest.first_chunk::<BLOCK>());
        if let Some((length, b'"')) = block.and_then(block::first_special_near) {
            self.at += length + 2;
            return 0;
        }
        self.long_string()
    }

    #[inline(never)]
    fn long_string(&mut self) -> u8 {
        let start = self.at;
        self.at += 1;
        let mut flags = 0;
        loop {
            if self.plain_blocks(&mut flags) {
                return flags;
            }
            match self.bytes.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return flags;
                }
                Some(b'\\') => {
                    flags |= ESCAPED;
                    self.escape();
                }
                Some(byte) if *byte < 0x20 => self.control_characters(),
                // Fewer bytes are left than a block has.
                Some(_) => self.at += plain_bytes(&self.bytes[self.at..]),
                None => {
                    self.forget_faults_from(start);
                    let (kind, opened_at) = (SyntaxErrorKind::UnterminatedString, Some(start as u32));
                    self.fault_from(kind, self.at, self.at, opened_at);
                    return flags | UNTERMINATED;
                }
            }
        }
    }

    /// Skips the plain part of a string, one block at a time, and returns whether the string ended. Otherwise it stops
    /// before a byte that is handled alone: a rare escape, a control character, or one of the last bytes of the text.
    ///
    /// Texts with several lines and JSON in a string are full of escapes. Here they are bits of a block's masks, and no
    /// branch depends on their positions: a mispredicted branch would cost more than the rest of the work for a block.
    #[inline]
    fn plain_blocks(&mut self, flags: &mut u8) -> bool {
        let mut at = self.at;
        // Whether the last block ended with a backslash that escapes the first byte of this one.
        let mut is_open = 0;
        while let Some(block) = self.bytes.get(at..).and_then(|rest| rest.first_chunk::<BLOCK>()) {
            if is_open == 0 {
                // Most blocks are plain, at least up to the end of the string.
                match block::first_special(block) {
                    None => {
                        at += BLOCK;
                        continue;
                    }
                    Some((first, b'"')) => {
                        self.at = at + first + 1;
                        return true;
                    }
                    Some(_) => {}
                }
            }
            let Masks { quotes, backslashes, controls } = Masks::of(block);
            let (escaped, opens) = block::escaped(backslashes, is_open);
            let odd = controls | escaped & !(quotes | backslashes | block::common_escapes(block));
            let stops = odd | quotes & !escaped;
            let before_stop = stops.wrapping_sub(1) & !stops;
            *flags |= if (backslashes | is_open) & before_stop == 0 { 0 } else { ESCAPED };
            if stops == 0 {
                at += BLOCK;
                is_open = opens;
                continue;
            }
            let stop = stops.trailing_zeros();
            let is_end = odd >> stop & 1 == 0;
            // An escape begins with its backslash.
            self.at = at + stop as usize + usize::from(is_end) - (escaped >> stop & 1) as usize;
            return is_end;
        }
        self.at = at - is_open as usize;
        false
    }

    /// Reports a run of raw control characters as one fault. At the end of a text, it is the end of its last line, and the
    /// string is only cut off.
    #[cold]
    fn control_characters(&mut self) {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(|byte| *byte < 0x20) {
            self.at += 1;
        }
        let blanks = self.bytes[self.at..].iter().take_while(|byte| **byte == b' ').count();
        if self.at + blanks < self.bytes.len() {
            self.fault(SyntaxErrorKind::ControlCharacter, start, self.at);
        }
    }

    /// Skips an escape, from its backslash.
    fn escape(&mut self) {
        match self.bytes.get(self.at + 1) {
            Some(byte) if IS_SIMPLE_ESCAPE[usize::from(*byte)] => self.at += 2,
            Some(b'u') => self.unicode_escape(),
            None => self.at += 1,
            Some(_) => {
                self.fault(SyntaxErrorKind::InvalidEscape, self.at, self.at + 2);
                self.at += 1;
            }
        }
    }

    fn unicode_escape(&mut self) {
        let start = self.at;
        let unit = code_unit(&self.bytes[start + 2..]);
        let paired = unit.is_some_and(|unit| (0xD800..=0xDBFF).contains(&unit))
            && low_surrogate(&self.bytes[start + 6..]).is_some();
        self.at += match unit {
            Some(_) if paired => 12,
            Some(_) => 6,
            None => 2,
        };
        let lone = !paired && unit.is_some_and(|unit| (0xD800..=0xDFFF).contains(&unit));
        if (lone || unit.is_none()) && !self.is_cut_within(start, 12) {
            let kind = if lone { SyntaxErrorKind::LoneSurrogate } else { SyntaxErrorKind::InvalidEscape };
            self.fault(kind, start, self.at);
        }
    }

    /// Whether the text ends fewer than `length` bytes after `start`, inside the string: an escape that looks invalid there
    /// is only cut off.
    #[cold]
    fn is_cut_within(&self, start: usize, length: usize) -> bool {
        let rest = &self.bytes[start..];
        rest.len() < length && !rest.contains(&b'"')
    }
}

/// How many bytes of a string stand for themselves, up to the first that does not.
fn plain_bytes(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | ..0x20)).count()
}

/// The bytes that, after a backslash, are an escape of one character.
const IS_SIMPLE_ESCAPE: [bool; 256] = {
    let mut table = [false; 256];
    let mut rest: &[u8] = br#""\/bfnrt"#;
    while let [byte, after @ ..] = rest {
        table[*byte as usize] = true;
        rest = after;
    }
    table
};
