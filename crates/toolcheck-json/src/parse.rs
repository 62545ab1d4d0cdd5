//! The reader: one pass over the bytes, without recursion; it never fails.

mod brackets;
mod keys;
mod quotes;
mod strings;

use std::ops::Range;

use self::keys::KeysSeen;
pub(crate) use self::keys::may_have;
use crate::document::{Arena, Document, ESCAPED, KEY_ESCAPED, KEYED, Kind, Node, Span, UNTERMINATED};
use crate::fault::{
    MOST_FAULTS, MOST_HALVES, SyntaxError, SyntaxErrorKind, begins_as_json, invalid_utf8, is_binary,
    other_encoding,
};

/// The most arrays and objects that are read inside one another. Nothing that is sent to an API comes near it; programs in
/// other languages give up far earlier.
pub const DEEPEST: usize = 10_000;

/// The most values that are read of one document. They take 24 bytes each, so 1.5 GiB at most.
pub const MOST_VALUES: usize = 64 << 20;

/// An open array or object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    node: u32,
    object: bool,
    keys: KeysSeen,
}

/// The next expected token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// A value, or the end of an array that was just opened.
    First,
    Value,
    /// A key, or the end of an object that was just opened.
    FirstKey,
    Key,
    /// A comma or a closing bracket.
    After,
}

/// Reads a text that consists of one value.
pub(crate) fn document(bytes: &[u8], arena: Arena) -> Document<'_> {
    read(bytes, arena, |reader| reader.whole())
}

/// Reads the texts at `records`, one after the other, as the elements of one array that is not written.
pub(crate) fn records(
    bytes: &[u8],
    records: impl Iterator<Item = Range<usize>>,
    arena: Arena,
) -> Document<'_> {
    read(bytes, arena, |reader| {
        let all = reader.push(0, Kind::Array, 0) as usize;
        for record in records {
            reader.at = record.start.max(reader.at);
            reader.bytes = &bytes[..record.end];
            reader.first = reader.arena.nodes.len();
            reader.first_fault = reader.arena.faults.len();
            (reader.doubled, reader.is_lost) = (0, false);
            reader.whole();
        }
        let (next, end) = (reader.arena.nodes.len() as u32, bytes.len() as u32);
        if let Some(array) = reader.arena.nodes.get_mut(all) {
            (array.next, array.end) = (next, end);
        }
    })
}

fn read<'s>(bytes: &'s [u8], mut arena: Arena, values: impl FnOnce(&mut Reader<'_, 's>)) -> Document<'s> {
    let mut left_out = 0;
    let Some(mut reader) = Reader::new(bytes, &mut arena, &mut left_out) else {
        return unread(bytes, SyntaxErrorKind::TooLong, 0, arena);
    };
    let is_no_text = || (!begins_as_json(bytes) && is_binary(bytes)).then_some(SyntaxErrorKind::Binary);
    if let Some(kind) = other_encoding(bytes).or_else(is_no_text) {
        return unread(bytes, kind, MARKED, arena);
    }
    if bytes.starts_with(b"\xEF\xBB\xBF") {
        reader.at = 3;
        reader.fault(SyntaxErrorKind::ByteOrderMark, 0, 3);
    }
    values(&mut reader);
    let text = simdutf8::basic::from_utf8(bytes).ok();
    if text.is_none() {
        if is_binary(bytes) {
            return unread(bytes, SyntaxErrorKind::Binary, MARKED, arena);
        }
        invalid_utf8(bytes, &mut arena.faults, &mut left_out);
    }
    crate::sort_by_positions(&mut arena.faults, |fault| (fault.span.start as usize, fault.span.end as usize));
    Document { bytes, text, arena, faults_left_out: left_out }
}

/// The number of bytes that a fault covers if the text is not read at all.
const MARKED: usize = 4;

/// The document of a text that is not read, because of this fault.
fn unread(bytes: &[u8], kind: SyntaxErrorKind, marked: usize, mut arena: Arena) -> Document<'_> {
    let span = Span::new(0, bytes.len().min(marked) as u32);
    arena.nodes.clear();
    arena.maybe_duplicate = false;
    arena.halves_left_out = 0;
    arena.nodes.push(Node {
        start: 0,
        end: 0,
        key_start: 0,
        key_end: 0,
        next: 1,
        kind: Kind::Invalid,
        flags: 0,
        keys: 0,
    });
    arena.faults.clear();
    arena.faults.push(SyntaxError { kind, span, opened_at: None });
    Document { bytes: &bytes[..0], text: Some(""), arena, faults_left_out: 0 }
}

/// The length in bytes of the first value, including the whitespace before it, and whether it is an
/// array or object without a fault in its structure.
pub(crate) fn extent(bytes: &[u8], arena: &mut Arena) -> (usize, bool) {
    let mut left_out = 0;
    let Some(mut reader) = Reader::new(bytes, arena, &mut left_out) else { return (bytes.len(), false) };
    reader.is_glance = true;
    reader.run();
    let end = reader.at;
    let whole = arena.faults.iter().all(|fault| fault.kind.is_in_text())
        && arena.nodes.first().is_some_and(|node| matches!(node.kind, Kind::Array | Kind::Object));
    (end, whole)
}

struct Reader<'a, 's> {
    bytes: &'s [u8],
    at: usize,
    arena: &'a mut Arena,
    left_out: &'a mut usize,
    /// How many of the faults are halves of characters.
    halves: usize,
    /// The key that the next value belongs to: its span with quotes, and its flags.
    key: Option<(u32, u32, u8)>,
    /// The number of values before the text that is read.
    first: usize,
    /// The number of faults before it.
    first_fault: usize,
    /// How many brackets that are there twice may have their second end yet.
    doubled: usize,
    /// Whether brackets don't fit, so that those after it may not fit either, which is the same fault.
    is_lost: bool,
    /// Whether only the end of a value is looked for, and so the whole text is read.
    is_glance: bool,
}

impl<'a, 's> Reader<'a, 's> {
    /// `None` if the text is longer than a span can address.
    fn new(bytes: &'s [u8], arena: &'a mut Arena, left_out: &'a mut usize) -> Option<Self> {
        arena.nodes.clear();
        arena.stack.clear();
        arena.faults.clear();
        arena.maybe_duplicate = false;
        arena.depth = 0;
        arena.halves_left_out = 0;
        u32::try_from(bytes.len()).ok()?;
        Some(Self {
            bytes,
            at: 0,
            arena,
            left_out,
            key: None,
            first: 0,
            first_fault: 0,
            halves: 0,
            doubled: 0,
            is_lost: false,
            is_glance: false,
        })
    }

    /// Reads a whole text. There is a value afterwards, if only an invalid one.
    fn whole(&mut self) {
        if self.run() && self.is_value() {
            self.nothing_follows();
        }
        if self.arena.nodes.len() == self.first {
            self.push(self.at, Kind::Invalid, 0);
        }
    }

    /// Reads one value. Returns whether the value is complete before the end of the text.
    fn run(&mut self) -> bool {
        self.skip_space();
        if self.at == self.bytes.len() {
            self.fault(SyntaxErrorKind::Empty, self.at, self.at);
            return false;
        }
        let mut state = State::Value;
        loop {
            self.skip_space();
            let Some(&byte) = self.bytes.get(self.at) else { break };
            state = match state {
                State::First if byte == b']' => self.close(byte),
                State::First | State::Value => self.value(byte),
                State::FirstKey if byte == b'}' => self.close(byte),
                State::FirstKey | State::Key => self.member_key(byte),
                State::After => self.after(byte),
            };
            if self.arena.stack.is_empty() && state == State::After {
                if self.arena.nodes.len() > self.first {
                    return true;
                }
                // Stray brackets before the value have been reported; the value may still follow.
                state = State::Value;
            }
        }
        // The text ends inside the value: one fault at the end, however many containers are open.
        if self.key.is_some() {
            self.push(self.at, Kind::Invalid, 0);
        }
        let length = self.bytes.len();
        let last = self.own_faults().last();
        let reported = last.is_some_and(|fault| fault.span.end as usize == length || fault.kind.is_cut());
        if !reported && let Some(outermost) = self.arena.stack.first() {
            let opened_at = self.arena.nodes.get(outermost.node as usize).map(|node| node.start);
            self.fault_from(SyntaxErrorKind::Unclosed, length, length, opened_at);
        }
        while !self.arena.stack.is_empty() {
            self.pop(length);
        }
        false
    }

    /// Whether a valid value was read. Anything after an invalid one belongs to the same fault.
    fn is_value(&self) -> bool {
        self.arena.nodes.get(self.first).is_some_and(|node| node.kind != Kind::Invalid)
    }

    /// The faults of the text that is read.
    fn own_faults(&self) -> &[SyntaxError] {
        self.arena.faults.get(self.first_fault..).unwrap_or_default()
    }

    /// Reports content after the outermost value.
    fn nothing_follows(&mut self) {
        self.skip_space();
        while self.doubled > 0 && self.bytes.get(self.at) == Some(&b'}') {
            self.doubled -= 1;
            self.at += 1;
            self.skip_space();
        }
        while self.bytes.get(self.at) == Some(&b'/') && self.comment() {
            self.skip_space();
        }
        if self.at < self.bytes.len() && self.doubled == 0 {
            self.lost(SyntaxErrorKind::TrailingContent, self.at, self.bytes.len());
        }
    }

    #[inline]
    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    #[cold]
    fn fault(&mut self, kind: SyntaxErrorKind, start: usize, end: usize) {
        self.fault_from(kind, start, end, None);
    }

    #[cold]
    fn fault_from(&mut self, kind: SyntaxErrorKind, start: usize, end: usize, opened_at: Option<u32>) {
        let is_half = kind == SyntaxErrorKind::LoneSurrogate;
        let is_kept = match is_half {
            true => self.halves < MOST_HALVES,
            false => self.arena.faults.len() - self.halves < MOST_FAULTS,
        };
        if is_kept {
            self.halves += usize::from(is_half);
            let span = Span::new(start as u32, end as u32);
            self.arena.faults.push(SyntaxError { kind, span, opened_at });
        } else if is_half {
            self.arena.halves_left_out += 1;
        } else {
            *self.left_out += 1;
        }
    }

    /// Adds a value.
    #[inline]
    fn push(&mut self, start: usize, kind: Kind, flags: u8) -> u32 {
        if self.arena.nodes.len() == self.arena.nodes.capacity() && !self.grow() {
            return self.stop(SyntaxErrorKind::TooManyValues, start);
        }
        let (key_start, key_end, key_flags) = self.key.take().unwrap_or_default();
        let id = self.arena.nodes.len() as u32;
        self.arena.nodes.push(Node {
            start: start as u32,
            end: self.at as u32,
            key_start,
            key_end,
            next: id + 1,
            kind,
            flags: flags | key_flags,
            // Which an object has is known at its end.
            keys: if kind == Kind::Object { u16::MAX } else { 0 },
        });
        id
    }

    /// Makes room for more values, and returns whether there is any.
    #[cold]
    fn grow(&mut self) -> bool {
        let count = self.arena.nodes.len();
        let room = self.arena.most_values.saturating_sub(count);
        // Most texts that are read by themselves are short, and what is small is cheap to allocate.
        let first = (self.bytes.len() / 16).clamp(64, 256);
        self.arena.stack.reserve(16);
        room > 0 && self.arena.nodes.try_reserve_exact(count.max(first).min(room)).is_ok()
    }

    /// Ends the text here, and returns the last value in place of the one that can't be read.
    #[cold]
    fn stop(&mut self, kind: SyntaxErrorKind, start: usize) -> u32 {
        let is_stopped = |fault: &SyntaxError| {
            matches!(fault.kind, SyntaxErrorKind::TooDeep | SyntaxErrorKind::TooManyValues)
        };
        if !self.arena.faults.iter().any(is_stopped) {
            // It counts more than others, of which only so many are kept.
            let span = Span::new(start as u32, (start + 1).min(self.bytes.len()) as u32);
            self.arena.faults.push(SyntaxError { kind, span, opened_at: None });
        }
        self.at = self.bytes.len();
        self.key = None;
        (self.arena.nodes.len() as u32).saturating_sub(1)
    }

    fn open(&mut self, kind: Kind) -> State {
        let start = self.at;
        if self.arena.stack.len() == DEEPEST {
            self.stop(SyntaxErrorKind::TooDeep, start);
            return State::After;
        }
        self.at += 1;
        let node = self.push(start, kind, 0);
        self.arena.stack.push(Frame { node, object: kind == Kind::Object, keys: KeysSeen::default() });
        self.arena.depth = self.arena.depth.max(self.arena.stack.len());
        if kind == Kind::Object { State::FirstKey } else { State::First }
    }

    fn close(&mut self, byte: u8) -> State {
        let start = self.at;
        self.at += 1;
        let object = byte == b'}';
        let is_open = self.arena.stack.last().is_some_and(|frame| frame.object == object);
        if !is_open && !self.mismatched(start, object) {
            return State::After;
        }
        self.pop(self.at);
        State::After
    }

    fn pop(&mut self, end: usize) {
        if let Some(frame) = self.arena.stack.pop() {
            let next = self.arena.nodes.len() as u32;
            if let Some(node) = self.arena.nodes.get_mut(frame.node as usize) {
                node.end = end as u32;
                node.next = next;
                node.keys = frame.keys.in_short();
            }
        }
    }

    #[inline]
    fn value(&mut self, byte: u8) -> State {
        let start = self.at;
        match byte {
            b'"' => {
                let flags = self.string();
                self.push(start, Kind::String, flags);
                State::After
            }
            b'{' => self.open(Kind::Object),
            b'[' => self.open(Kind::Array),
            b'-' | b'0'..=b'9' => {
                if !self.number() {
                    return self.no_number(start);
                }
                self.push(start, Kind::Number, 0);
                State::After
            }
            b't' if self.word(b"true") => {
                self.push(start, Kind::Bool, 0);
                State::After
            }
            b'f' if self.word(b"false") => {
                self.push(start, Kind::Bool, 0);
                State::After
            }
            b'n' if self.word(b"null") => {
                self.push(start, Kind::Null, 0);
                State::After
            }
            _ => self.no_value(byte),
        }
    }

    /// Handles anything else in place of a value.
    #[cold]
    fn no_value(&mut self, byte: u8) -> State {
        let start = self.at;
        match byte {
            b'/' if self.comment() => State::Value,
            0 => {
                let rest = &self.bytes[start..];
                self.at += rest.iter().position(|byte| *byte != 0).unwrap_or(rest.len());
                self.fault(SyntaxErrorKind::NulBytes, start, self.at);
                State::Value
            }
            b']' | b'}' => {
                if self.key.is_some() {
                    self.missing_value();
                } else if self.arena.stack.is_empty() {
                    self.fault(SyntaxErrorKind::MismatchedBracket, start, start + 1);
                    self.at += 1;
                    return State::Value;
                } else if self.arena.stack.last().is_some_and(|frame| !frame.object && byte == b']') {
                    self.trailing_comma();
                }
                self.close(byte)
            }
            b',' | b':' => {
                self.fault(SyntaxErrorKind::MissingValue, start, start + 1);
                self.at += 1;
                if byte == b',' && self.key.is_some() {
                    self.push(start, Kind::Invalid, 0);
                    return State::Key;
                }
                State::Value
            }
            b'\'' => {
                let flags = self.single_quoted();
                self.push(start, Kind::String, flags);
                State::After
            }
            _ => {
                self.skip_bare_word();
                let kind = match &self.bytes[start..self.at] {
                    b"NaN" | b"Infinity" => SyntaxErrorKind::NotANumber,
                    _ => SyntaxErrorKind::InvalidValue,
                };
                if self.ends_at_quote(start) {
                    return State::After;
                }
                self.fault(kind, start, self.at);
                self.push(start, Kind::Invalid, 0);
                State::After
            }
        }
    }

    /// Reports a missing value. The member keeps its key.
    #[cold]
    fn missing_value(&mut self) {
        let colon = |last: &SyntaxError| {
            last.kind == SyntaxErrorKind::MissingColon && last.span.end as usize == self.at
        };
        if !self.own_faults().last().is_some_and(colon) {
            self.fault(SyntaxErrorKind::MissingValue, self.at, self.at);
        }
        self.push(self.at, Kind::Invalid, 0);
    }

    /// Reports the comma before the closing bracket at the current place.
    #[cold]
    fn trailing_comma(&mut self) {
        // It is after the last value, if there is one; before that may be the whole text.
        let from = self.arena.nodes.last().map_or(0, |last| last.end as usize).min(self.at);
        let comma = self.bytes[from..self.at].iter().rposition(|byte| *byte == b',');
        let comma = comma.map_or(self.at, |comma| from + comma);
        self.fault(SyntaxErrorKind::TrailingComma, comma, comma + 1);
    }

    #[inline]
    fn member_key(&mut self, byte: u8) -> State {
        if byte != b'"' {
            return self.no_key(byte);
        }
        let start = self.at;
        let flags = self.string();
        let end = self.at;
        self.note_key(start, end, flags);
        if flags & UNTERMINATED != 0 {
            // The text ends inside a key: there is no member.
            self.key = None;
            return State::After;
        }
        self.colon()
    }

    /// Skips a colon and reads the value after it, without another turn of the loop.
    #[inline]
    fn colon(&mut self) -> State {
        self.skip_space();
        match self.bytes.get(self.at) {
            Some(b':') => self.at += 1,
            Some(_) => self.fault(SyntaxErrorKind::MissingColon, self.at, self.at),
            None => {}
        }
        self.skip_space();
        self.bytes.get(self.at).map_or(State::Value, |byte| self.value(*byte))
    }

    /// Handles anything else in place of a key.
    #[cold]
    fn no_key(&mut self, byte: u8) -> State {
        let start = self.at;
        match byte {
            b'/' if self.comment() => State::Key,
            b'}' => {
                self.trailing_comma();
                self.close(byte)
            }
            b']' => self.close(byte),
            b',' => {
                self.fault(SyntaxErrorKind::MissingValue, start, start + 1);
                self.at += 1;
                State::Key
            }
            b'{' | b'[' => {
                if byte == b'{'
                    && let Some(state) = self.object_for_key()
                {
                    return state;
                }
                // Instead of a bracket that is repeated, another may have been meant.
                self.is_lost |= self.doubled > 0;
                self.lost(SyntaxErrorKind::InvalidKey, start, start + 1);
                self.value(byte)
            }
            b':' => {
                self.fault(SyntaxErrorKind::InvalidKey, start, start);
                self.colon()
            }
            _ => {
                if byte == b'\'' {
                    let flags = self.single_quoted();
                    let escaped = if flags & ESCAPED != 0 { KEY_ESCAPED } else { 0 };
                    self.key = (flags & UNTERMINATED == 0).then_some((
                        start as u32,
                        self.at as u32,
                        KEYED | escaped,
                    ));
                    // It is a fault already, and not compared with the others.
                    self.arena.stack.last_mut().into_iter().for_each(|frame| frame.keys.add_any());
                } else {
                    self.skip_bare_word();
                    if self.ends_at_quote(start) {
                        return State::After;
                    }
                    if !self.is_lost {
                        self.fault(SyntaxErrorKind::InvalidKey, start, self.at);
                    }
                }
                self.skip_space();
                if self.bytes.get(self.at) == Some(&b':') {
                    self.at += 1;
                    return State::Value;
                }
                self.push(start, Kind::Invalid, 0);
                State::After
            }
        }
    }

    #[inline]
    fn after(&mut self, byte: u8) -> State {
        let in_object = self.arena.stack.last().is_some_and(|frame| frame.object);
        match byte {
            b',' => {
                self.at += 1;
                if !in_object {
                    return State::Value;
                }
                self.skip_space();
                self.bytes.get(self.at).map_or(State::Key, |byte| self.member_key(*byte))
            }
            b']' | b'}' => self.close(byte),
            b'/' if self.comment() => State::After,
            b':' => self.key_in_array().unwrap_or_else(|| {
                self.lost(SyntaxErrorKind::InvalidValue, self.at, self.at + 1);
                self.at += 1;
                State::Value
            }),
            b'"' if is_word(self.bytes[self.at - 1]) && self.ends_at_quote(self.at) => State::After,
            _ => {
                self.fault(SyntaxErrorKind::MissingComma, self.at, self.at);
                if in_object { State::Key } else { State::Value }
            }
        }
    }

    /// Skips `word`, if it is next and is a whole word.
    #[inline]
    fn word(&mut self, word: &[u8]) -> bool {
        let rest = &self.bytes[self.at..];
        let found = rest.starts_with(word) && !rest.get(word.len()).is_some_and(|byte| is_word(*byte));
        if found {
            self.at += word.len();
        }
        found
    }

    #[cold]
    fn skip_bare_word(&mut self) {
        self.at += 1;
        while self.bytes.get(self.at).is_some_and(|byte| is_word(*byte)) {
            self.at += 1;
        }
    }

    /// Skips a string in single quotes, as Python prints it, and returns its flags. Only the first one is reported: a text
    /// with one usually has many.
    #[cold]
    fn single_quoted(&mut self) -> u8 {
        let start = self.at;
        let mut flags = UNTERMINATED;
        self.at += 1;
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'\'' => {
                    flags &= !UNTERMINATED;
                    break;
                }
                b'\\' if self.at < self.bytes.len() => {
                    flags |= ESCAPED;
                    self.at += 1;
                }
                b'\n' => break,
                _ => {}
            }
        }
        if !self.own_faults().iter().any(|fault| fault.kind == SyntaxErrorKind::SingleQuotes) {
            self.fault(SyntaxErrorKind::SingleQuotes, start, self.at);
        }
        flags
    }

    /// Skips a comment and reports it. Returns `false` if there is none.
    #[cold]
    fn comment(&mut self) -> bool {
        let start = self.at;
        let rest = &self.bytes[start..];
        let length = if rest.starts_with(b"//") {
            memchr::memchr(b'\n', rest).unwrap_or(rest.len())
        } else if rest.starts_with(b"/*") {
            memchr::memmem::find(rest, b"*/").map_or(rest.len(), |end| end + 2)
        } else {
            return false;
        };
        self.at += length;
        self.fault(SyntaxErrorKind::Comment, start, self.at);
        true
    }

    /// Skips a number, and returns whether it is one.
    #[inline]
    fn number(&mut self) -> bool {
        let start = self.at;
        let mut at = start;
        let digits = |mut at: usize| {
            let from = at;
            while self.bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
            (at, at - from)
        };
        if self.bytes[at] == b'-' {
            at += 1;
        }
        let first = at;
        let (end, count) = digits(at);
        let mut fine = count == 1 || count > 1 && self.bytes[first] != b'0';
        at = end;
        if self.bytes.get(at) == Some(&b'.') {
            let (end, count) = digits(at + 1);
            fine &= count > 0;
            at = end;
        }
        if let Some(b'e' | b'E') = self.bytes.get(at) {
            at += 1;
            if let Some(b'+' | b'-') = self.bytes.get(at) {
                at += 1;
            }
            let (end, count) = digits(at);
            fine &= count > 0;
            at = end;
        }
        self.at = at;
        fine && !self.bytes.get(at).is_some_and(|byte| is_word(*byte))
    }

    #[cold]
    fn no_number(&mut self, start: usize) -> State {
        while self.bytes.get(self.at).is_some_and(|byte| is_word(*byte)) {
            self.at += 1;
        }
        if self.ends_at_quote(start) {
            return State::After;
        }
        let kind = match &self.bytes[start..self.at] {
            b"-Infinity" | b"-NaN" => SyntaxErrorKind::NotANumber,
            _ => SyntaxErrorKind::InvalidNumber,
        };
        self.fault(kind, start, self.at);
        self.push(start, Kind::Invalid, 0);
        State::After
    }
}

/// Whether the byte continues the word or number before it, so that each invalid word is one fault.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80 || matches!(byte, b'_' | b'-' | b'+' | b'.' | b'$')
}
