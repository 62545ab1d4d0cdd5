//! Splits a file into its JSON texts, such as JSON Lines. The layout is detected from the content.

use crate::fault::{is_binary, other_encoding};
use crate::locate::Position;
use crate::{Arena, Document, Kind, SyntaxErrorKind, locate, parse};

/// The layout of the JSON texts in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One text.
    Single,
    /// One text per line; blank lines are skipped.
    Lines,
    /// One text after the other, each on any number of lines, as `jq .` prints them.
    Concatenated,
}

/// One JSON text of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'s> {
    /// Its number, from 0; blank lines are not counted.
    pub index: usize,
    /// Its bytes.
    pub bytes: &'s [u8],
    /// The offset of its bytes in the file.
    pub start: usize,
    /// The same offset as a line and column.
    pub position: Position,
}

impl Record<'_> {
    /// The position in the file of a position in the record.
    pub fn position_in_file(&self, position: Position) -> Position {
        Position {
            line: self.position.line + position.line - 1,
            column: if position.line == 1 {
                self.position.column + position.column - 1
            } else {
                position.column
            },
        }
    }
}

/// The texts of a file, one after the other.
#[derive(Debug)]
pub struct Records<'s> {
    bytes: &'s [u8],
    layout: Layout,
    at: usize,
    position: Position,
    index: usize,
    first_blank: Option<Record<'s>>,
    arena: Arena,
}

impl<'s> Records<'s> {
    /// The records of `bytes`, whose layout is detected.
    pub fn new(bytes: &'s [u8]) -> Self {
        Self::reading(bytes).0
    }

    /// The records of `bytes`, whose layout is detected. If that requires reading the first record, its document is
    /// returned as well.
    pub fn reading(bytes: &'s [u8]) -> (Self, Option<Document<'s>>) {
        let mut arena = Arena::default();
        let (layout, document) = detect(bytes, &mut arena);
        (Self { arena, ..Self::laid_out(bytes, layout) }, document)
    }

    /// The records of a text that is known to be JSON Lines, such as a part of a file.
    pub fn of_lines(bytes: &'s [u8]) -> Self {
        Self::laid_out(bytes, Layout::Lines)
    }

    /// The records of a text with a known layout.
    pub fn laid_out(bytes: &'s [u8], layout: Layout) -> Self {
        let position = Position { line: 1, column: 1 };
        Self { bytes, layout, at: 0, position, index: 0, first_blank: None, arena: Arena::default() }
    }

    /// Reads all records into one document: its root is an array that is not written, with an element for each record, so
    /// that spans are those of the file. The numbers of the elements are those of the records.
    pub fn document(self) -> Document<'s> {
        let bytes = self.bytes;
        let ranges = self.map(|record| record.start..record.start + record.bytes.len());
        parse::records(bytes, ranges, Arena::default())
    }

    /// The layout of the file.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The number of lines up to and including the last record that was returned.
    pub fn lines_passed(&self) -> u64 {
        self.position.line - 1
    }

    /// The first blank line so far, if the layout is [`Layout::Lines`]. Its number is that of the record after it.
    pub fn first_blank_line(&self) -> Option<Record<'s>> {
        self.first_blank
    }

    /// The record from here to `end`.
    fn emit(&mut self, end: usize) -> Record<'s> {
        self.index += 1;
        Record {
            index: self.index - 1,
            bytes: &self.bytes[self.at..end],
            start: self.at,
            position: self.position,
        }
    }

    /// Goes to the next line, which begins at `to`.
    fn next_line(&mut self, to: usize) {
        self.position = Position { line: self.position.line + 1, column: 1 };
        self.at = to;
    }

    fn advance(&mut self, to: usize) {
        let inside = locate(&self.bytes[self.at..to], &[to - self.at])[0];
        let column = if inside.line == 1 { self.position.column + inside.column - 1 } else { inside.column };
        self.position = Position { line: self.position.line + inside.line - 1, column };
        self.at = to;
    }
}

impl<'s> Iterator for Records<'s> {
    type Item = Record<'s>;

    fn next(&mut self) -> Option<Record<'s>> {
        match self.layout {
            Layout::Single => (self.index == 0).then(|| self.emit(self.bytes.len())),
            Layout::Lines => {
                while self.at < self.bytes.len() {
                    let length = memchr::memchr(b'\n', &self.bytes[self.at..]);
                    let end = length.map_or(self.bytes.len(), |length| self.at + length);
                    let next = (end + 1).min(self.bytes.len());
                    let line = &self.bytes[self.at..end];
                    let record = (!is_blank(line)).then(|| self.emit(end));
                    if record.is_none() && self.first_blank.is_none() {
                        let (index, start, position) = (self.index, self.at, self.position);
                        self.first_blank = Some(Record { index, bytes: line, start, position });
                    }
                    self.next_line(next);
                    if record.is_some() {
                        return record;
                    }
                }
                None
            }
            Layout::Concatenated => {
                let is_between = |byte: &u8| byte.is_ascii_whitespace() || *byte == RECORD_SEPARATOR;
                let skipped = self.bytes[self.at..].iter().position(|byte| !is_between(byte))?;
                self.advance(self.at + skipped);
                let mut rest = &self.bytes[self.at..];
                if self.bytes.first() == Some(&RECORD_SEPARATOR) {
                    // A text that was cut off ends there too.
                    rest = &rest[..memchr::memchr(RECORD_SEPARATOR, rest).unwrap_or(rest.len())];
                }
                let (length, _) = parse::extent(rest, &mut self.arena);
                let record = self.emit(self.at + length);
                self.advance(self.at + length);
                Some(record)
            }
        }
    }
}

/// What each text of a sequence begins with (RFC 7464), as `jq --seq` writes them.
const RECORD_SEPARATOR: u8 = 0x1E;

/// The number of lines that are checked if the first one does not decide the layout.
const LINES_LOOKED_AT: usize = 8;

fn detect<'s>(bytes: &'s [u8], arena: &mut Arena) -> (Layout, Option<Document<'s>>) {
    if other_encoding(bytes).is_some() || is_binary(bytes) {
        // Its bytes are not lines.
        return (Layout::Single, None);
    }
    if bytes.first() == Some(&RECORD_SEPARATOR) {
        return (Layout::Concatenated, None);
    }
    let mut lines = Records::of_lines(bytes).map(|record| record.bytes).take(LINES_LOOKED_AT + 1);
    let (Some(first), Some(second)) = (lines.next(), lines.next()) else { return (Layout::Single, None) };
    let is_text = |line: &[u8], arena: &mut Arena| {
        let (end, whole) = parse::extent(line, arena);
        whole && is_blank(&line[end..])
    };
    if is_text(strip_mark(first), arena) {
        return (Layout::Lines, None);
    }
    let document = Document::read_in(bytes, std::mem::take(arena));
    let rest = end_of_container(&document).map(|end| &bytes[end..]);
    if rest.is_some_and(is_blank) {
        return (Layout::Single, Some(document));
    }
    // A broken first line among good ones, or one broken text over many lines?
    let following: Vec<&[u8]> = std::iter::once(second).chain(lines).collect();
    let good = following.iter().filter(|line| is_text(line, arena)).count();
    if good * 2 > following.len() {
        return (Layout::Lines, None);
    }
    let next = rest.and_then(|rest| rest.iter().find(|byte| !byte.is_ascii_whitespace()));
    if matches!(next, Some(b'{' | b'[')) {
        *arena = document.into_arena();
        return (Layout::Concatenated, None);
    }
    (Layout::Single, Some(document))
}

/// The end of the array or object of a document, if there is no fault in its structure.
fn end_of_container(document: &Document<'_>) -> Option<usize> {
    let is_harmless = |kind: SyntaxErrorKind| {
        kind.is_in_text() || matches!(kind, SyntaxErrorKind::ByteOrderMark | SyntaxErrorKind::TrailingContent)
    };
    let is_whole = document.faults().iter().all(|fault| is_harmless(fault.kind));
    let root =
        Some(document.root()).filter(|root| is_whole && matches!(root.kind(), Kind::Array | Kind::Object))?;
    Some(root.span().end as usize)
}

fn strip_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(u8::is_ascii_whitespace)
}
