//! The text of an open file, and the places in it as editors count them.

use std::ops::Range;

use lsp_types::{Position, PositionEncodingKind, Range as Between, TextDocumentContentChangeEvent};
use ropey::Rope;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Encoding {
    Utf8,
    /// What every editor has.
    #[default]
    Utf16,
    Utf32,
}

impl Encoding {
    /// The best one that the editor offers: bytes need no counting.
    pub(crate) fn chosen(offered: Option<&[PositionEncodingKind]>) -> Self {
        let has = |kind: &PositionEncodingKind| offered.is_some_and(|offered| offered.contains(kind));
        if has(&PositionEncodingKind::UTF8) {
            Self::Utf8
        } else if has(&PositionEncodingKind::UTF32) && !has(&PositionEncodingKind::UTF16) {
            Self::Utf32
        } else {
            Self::Utf16
        }
    }

    pub(crate) fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
            Self::Utf32 => PositionEncodingKind::UTF32,
        }
    }
}

/// A text in which an edit and a place cost little, however long it is.
///
/// A line ends with `\n` or `\r\n`. The protocol also has `\r` alone, which editors change when they open a file.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    rope: Rope,
    encoding: Encoding,
    /// Whether an edit was not understood: the editor's text is another one, until it is sent as a whole.
    pub(crate) is_lost: bool,
}

/// The lines that an edit has changed: these became that many others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edited {
    pub(crate) lines: Range<usize>,
    pub(crate) count: usize,
}

impl Text {
    pub(crate) fn new(text: &str, encoding: Encoding) -> Self {
        Self { rope: Rope::from_str(text), encoding, is_lost: false }
    }

    pub(crate) fn len(&self) -> usize {
        self.rope.len_bytes()
    }

    /// The number of lines, each with its line feed; what follows the last one is a line too.
    pub(crate) fn lines(&self) -> usize {
        self.rope.len_lines()
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len());
        self.rope.chunks().for_each(|chunk| bytes.extend_from_slice(chunk.as_bytes()));
        bytes
    }

    /// The bytes of a part; it begins and ends with whole characters.
    pub(crate) fn slice(&self, bytes: Range<usize>) -> Vec<u8> {
        let mut slice = Vec::with_capacity(bytes.len());
        let part = self.rope.byte_slice(bytes);
        part.chunks().for_each(|chunk| slice.extend_from_slice(chunk.as_bytes()));
        slice
    }

    /// The character that a byte belongs to.
    pub(crate) fn character(&self, byte: usize) -> Option<char> {
        let at = self.rope.byte_to_char(byte.min(self.len()));
        self.rope.get_char(at)
    }

    /// The bytes of a line, with its line feed.
    pub(crate) fn line(&self, line: usize) -> Vec<u8> {
        self.slice(self.start_of(line)..self.start_of(line + 1))
    }

    /// Where a line starts, in bytes.
    pub(crate) fn start_of(&self, line: usize) -> usize {
        self.rope.line_to_byte(line.min(self.rope.len_lines()))
    }

    pub(crate) fn line_at(&self, position: Position) -> usize {
        (position.line as usize).min(self.rope.len_lines() - 1)
    }

    /// The place of a byte; a byte inside a character is the character's.
    pub(crate) fn position(&self, byte: usize) -> Position {
        let byte = byte.min(self.rope.len_bytes());
        let line = self.rope.byte_to_line(byte);
        let at = self.rope.byte_to_char(byte);
        let start = self.rope.line_to_char(line);
        let column = match self.encoding {
            Encoding::Utf8 => self.rope.char_to_byte(at) - self.rope.line_to_byte(line),
            Encoding::Utf16 => self.rope.char_to_utf16_cu(at) - self.rope.char_to_utf16_cu(start),
            Encoding::Utf32 => at - start,
        };
        Position::new(clamped(line), clamped(column))
    }

    pub(crate) fn between(&self, bytes: Range<usize>) -> Between {
        Between::new(self.position(bytes.start), self.position(bytes.end))
    }

    /// The byte of a place. A place behind the end of its line is the end, as the protocol has it; one behind the text is
    /// the end of that.
    pub(crate) fn byte(&self, position: Position) -> usize {
        let line = position.line as usize;
        if line >= self.rope.len_lines() {
            return self.rope.len_bytes();
        }
        let start = self.rope.line_to_char(line);
        let end = self.end_of(line);
        let column = position.character as usize;
        let at = match self.encoding {
            Encoding::Utf8 => {
                let (first, last) = (self.rope.char_to_byte(start), self.rope.char_to_byte(end));
                return self.rope.char_to_byte(self.rope.byte_to_char((first + column).min(last)));
            }
            Encoding::Utf16 => {
                let (first, last) = (self.rope.char_to_utf16_cu(start), self.rope.char_to_utf16_cu(end));
                self.rope.utf16_cu_to_char(first.saturating_add(column).min(last))
            }
            Encoding::Utf32 => start.saturating_add(column).min(end),
        };
        self.rope.char_to_byte(at)
    }

    /// The number of the character at which the end of a line begins.
    fn end_of(&self, line: usize) -> usize {
        let start = self.rope.line_to_char(line);
        let mut end = self.rope.line_to_char((line + 1).min(self.rope.len_lines()));
        if end > start && self.rope.char(end - 1) == '\n' {
            end -= 1;
            if end > start && self.rope.char(end - 1) == '\r' {
                end -= 1;
            }
        }
        end
    }

    /// The byte at which the line of a byte ends.
    pub(crate) fn end_of_line(&self, byte: usize) -> usize {
        self.rope.char_to_byte(self.end_of(self.rope.byte_to_line(byte.min(self.len()))))
    }

    /// The start of the character that a byte belongs to.
    pub(crate) fn floor(&self, byte: usize) -> usize {
        self.rope.char_to_byte(self.rope.byte_to_char(byte.min(self.len())))
    }

    /// The bytes from a character of a line to the end of the line.
    pub(crate) fn rest_of_line(&self, line: usize, character: usize) -> Range<usize> {
        let line = line.min(self.rope.len_lines() - 1);
        let end = self.end_of(line);
        let start = self.rope.line_to_char(line).saturating_add(character).min(end);
        self.rope.char_to_byte(start)..self.rope.char_to_byte(end)
    }

    /// Applies an edit, and says which lines it has changed; `None` if the whole text is new.
    pub(crate) fn edit(&mut self, change: &TextDocumentContentChangeEvent) -> Option<Edited> {
        let Some(range) = change.range else {
            *self = Self::new(&change.text, self.encoding);
            return None;
        };
        let start = self.byte(range.start);
        let end = self.byte(range.end).max(start);
        let first = self.rope.byte_to_line(start);
        let last = self.rope.byte_to_line(end);
        let before = self.rope.len_lines();
        let (from, to) = (self.rope.byte_to_char(start), self.rope.byte_to_char(end));
        if from < to {
            self.rope.remove(from..to);
        }
        self.rope.insert(from, &change.text);
        let lines = first..last + 1;
        let count = lines.len() + self.rope.len_lines() - before;
        Some(Edited { lines, count })
    }
}

/// A number of the protocol, which has 32 bits.
fn clamped(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ENCODINGS: [Encoding; 3] = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32];

    /// The slow way: the column of each character, one after the other.
    fn places(text: &str, encoding: Encoding) -> Vec<(usize, Position)> {
        let (mut line, mut column) = (0, 0);
        let mut places = Vec::new();
        for (byte, letter) in text.char_indices() {
            places.push((byte, Position::new(line, column)));
            column += match encoding {
                Encoding::Utf8 => letter.len_utf8(),
                Encoding::Utf16 => letter.len_utf16(),
                Encoding::Utf32 => 1,
            } as u32;
            if letter == '\n' {
                (line, column) = (line + 1, 0);
            }
        }
        places.push((text.len(), Position::new(line, column)));
        places
    }

    fn texts() -> impl Strategy<Value = String> {
        "[a\t{}\"é☃😀\r\n]{0,30}"
    }

    proptest! {
        #[test]
        fn places_are_those_of_a_slow_count(text in texts()) {
            for encoding in ENCODINGS {
                let quick = Text::new(&text, encoding);
                for (byte, position) in places(&text, encoding) {
                    prop_assert_eq!(quick.position(byte), position);
                    // The end of a line may have two characters: a place between them is before both.
                    let is_inside = text.as_bytes().get(byte) == Some(&b'\n') && byte > 0
                        && text.as_bytes()[byte - 1] == b'\r';
                    prop_assert_eq!(quick.byte(position), if is_inside { byte - 1 } else { byte });
                }
            }
        }

        #[test]
        fn any_place_is_a_character_of_the_text(text in texts(), line in 0..40_u32, character in any::<u32>()) {
            for encoding in ENCODINGS {
                let byte = Text::new(&text, encoding).byte(Position::new(line, character));
                prop_assert!(text.is_char_boundary(byte));
            }
        }

        #[test]
        fn edits_are_those_of_a_string(
            text in texts(), edits in proptest::collection::vec((0..40_usize, 0..40_usize, texts()), 1..6),
        ) {
            for encoding in ENCODINGS {
                let mut whole = text.clone();
                let mut quick = Text::new(&text, encoding);
                for (one, other, new) in &edits {
                    let all = places(&whole, encoding);
                    let (one, other) = (one % all.len(), other % all.len());
                    let (start, end) = (one.min(other), one.max(other));
                    let range = Between::new(all[start].1, all[end].1);
                    let bytes = quick.byte(range.start)..quick.byte(range.end);
                    let lines: Vec<String> = whole.split('\n').map(str::to_owned).collect();
                    whole.replace_range(bytes, new);
                    let edited = quick.edit(&TextDocumentContentChangeEvent {
                        range: Some(range), range_length: None, text: new.clone(),
                    }).expect("it has a range");
                    prop_assert_eq!(&quick.bytes(), whole.as_bytes());
                    let now: Vec<&str> = whole.split('\n').collect();
                    prop_assert_eq!(quick.lines(), now.len());
                    let behind = lines.len() - edited.lines.end;
                    prop_assert_eq!(edited.lines.start + edited.count + behind, now.len());
                    prop_assert_eq!(&lines[..edited.lines.start], &now[..edited.lines.start]);
                    prop_assert_eq!(&lines[edited.lines.end..], &now[now.len() - behind..]);
                }
            }
        }
    }
}
