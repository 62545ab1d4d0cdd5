//! Finds each character of a scalar in the file.

use std::ops::Range;

use toolcheck_json::origins::Mapped;

use crate::tree::{Style, push_decoded};

/// The text of a scalar with the place of each character. If they do not fit together, all of it is at the scalar.
pub(crate) fn mapped(source: &[u8], span: &Range<usize>, text: &str, style: Style) -> Mapped {
    let inside = match style {
        Style::SingleQuoted | Style::DoubleQuoted => {
            (span.start + 1).min(span.end)..span.end.saturating_sub(1).max(span.start)
        }
        _ => span.clone(),
    };
    let mut aligned =
        Alignment { source, at: inside.start, end: inside.end, text, done: 0, mapped: Mapped::default() };
    let is_whole = match style {
        Style::Block => aligned.block(),
        _ => aligned.flow(style),
    };
    if is_whole { aligned.mapped } else { Mapped::whole(text.as_bytes().to_vec(), span.clone()) }
}

/// A scalar and its text, side by side.
struct Alignment<'s> {
    source: &'s [u8],
    at: usize,
    end: usize,
    text: &'s str,
    /// The number of bytes of the text so far.
    done: usize,
    mapped: Mapped,
}

impl Alignment<'_> {
    fn rest(&self) -> &[u8] {
        &self.text.as_bytes()[self.done..]
    }

    fn raw(&self) -> &[u8] {
        self.source.get(self.at..self.end).unwrap_or_default()
    }

    fn same(&mut self, count: usize) -> bool {
        let (raw, rest) = (self.raw(), self.rest());
        if count == 0 || raw.len() < count || rest.len() < count || raw[..count] != rest[..count] {
            return false;
        }
        self.mapped.push_same(&self.source[self.at..self.at + count], self.at);
        self.at += count;
        self.done += count;
        true
    }

    /// Takes some bytes of the file, which stand for some of the text.
    fn whole(&mut self, raw: usize, count: usize) {
        let text = &self.text.as_bytes()[self.done..self.done + count];
        self.mapped.push_whole(text, self.at..self.at + raw);
        self.at += raw;
        self.done += count;
    }

    fn flow(&mut self, style: Style) -> bool {
        while self.done < self.text.len() {
            let raw = self.raw();
            let plain = raw
                .iter()
                .take_while(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'\\' | b'\''))
                .count();
            if plain > 0 {
                if !self.same(plain) {
                    return false;
                }
                continue;
            }
            let is_fine = match raw.first() {
                Some(b'\\') if style == Style::DoubleQuoted => self.escape(),
                Some(b'\'') if style == Style::SingleQuoted && raw.get(1) == Some(&b'\'') => {
                    self.at += 1;
                    self.same(1)
                }
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.space(),
                Some(_) => self.same(1),
                None => false,
            };
            if !is_fine {
                return false;
            }
        }
        true
    }

    /// Whitespace, which is folded if there is a line break in it.
    fn space(&mut self) -> bool {
        let raw = self.raw();
        let length = raw.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')).count();
        let breaks = raw[..length].iter().filter(|byte| **byte == b'\n').count();
        if breaks == 0 {
            return self.same(length);
        }
        let wanted: &[u8] = if breaks == 1 { b" " } else { b"\n" };
        let count = if breaks == 1 { 1 } else { breaks - 1 };
        if !self.rest().starts_with(wanted) || self.rest().len() < count {
            // A break after an escaped one stands for nothing.
            self.at += length;
            return breaks == 1;
        }
        if !self.rest()[..count].iter().all(|byte| [*byte] == *wanted) {
            return false;
        }
        self.whole(length, count);
        true
    }

    fn escape(&mut self) -> bool {
        let raw = self.raw();
        let length = match raw.get(1) {
            Some(b'\r' | b'\n') => {
                // The line goes on, behind its indentation.
                let space =
                    raw[1..].iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')).count();
                let breaks = raw[1..=space].iter().filter(|byte| **byte == b'\n').count().saturating_sub(1);
                if !self.rest().iter().take(breaks).all(|byte| *byte == b'\n') || self.rest().len() < breaks {
                    return false;
                }
                self.whole(1 + space, breaks);
                return true;
            }
            Some(b'x') => 4,
            Some(b'u') => self.unicode(),
            Some(b'U') => 10,
            Some(_) => 2,
            None => return false,
        };
        let Some(character) = self.text[self.done..].chars().next() else { return false };
        if raw.len() < length {
            return false;
        }
        let (at, count) = (self.at, character.len_utf8());
        let bytes = &self.text.as_bytes()[self.done..self.done + count];
        push_decoded(&mut self.mapped, self.source, bytes, at..at + length);
        self.at += length;
        self.done += count;
        true
    }

    /// The length of an escape `\u....`, which may be the first of a pair.
    fn unicode(&self) -> usize {
        let raw = self.raw();
        let is_pair = matches!(raw.get(2..4), Some([b'd' | b'D', b'8'..=b'9' | b'a'..=b'b' | b'A'..=b'B']))
            && raw.get(6..8) == Some(b"\\u");
        if is_pair { 12 } else { 6 }
    }

    fn block(&mut self) -> bool {
        // The parser gives the block with its header or without.
        if matches!(self.raw().first(), Some(b'|' | b'>')) {
            let Some(length) = memchr::memchr(b'\n', self.raw()) else { return self.text.is_empty() };
            self.at += length + 1;
        }
        // The span may begin in the first line, behind its indentation.
        while self.at > 0 && self.source[self.at - 1] == b' ' {
            self.at -= 1;
        }
        let Some(indent) = self.indent() else { return false };
        while self.done < self.text.len() {
            self.at += self.raw().iter().take(indent).take_while(|byte| **byte == b' ').count();
            let raw = self.raw();
            let length = memchr::memchr2(b'\n', b'\r', raw).unwrap_or(raw.len());
            if length > 0 && !self.same(length) {
                return false;
            }
            if self.done == self.text.len() {
                break;
            }
            if self.raw().first() == Some(&b'\r') {
                self.at += 1;
            }
            match (self.raw().first(), self.rest().first()) {
                (Some(b'\n'), Some(b'\n')) => {
                    if !self.same(1) {
                        return false;
                    }
                }
                (Some(b'\n'), Some(b' ')) => self.whole(1, 1),
                // Of the breaks between folded lines, the first one stands for nothing.
                (Some(b'\n'), _) => self.at += 1,
                // The last line may end with the file.
                (None, Some(b'\n')) => self.whole(0, 1),
                _ => return false,
            }
        }
        true
    }

    /// The indentation of a block: what its first line has more than its text.
    fn indent(&self) -> Option<usize> {
        let spaces = |line: &[u8]| line.iter().take_while(|byte| **byte == b' ').count();
        let is_text = |line: &&[u8]| line.iter().any(|byte| !matches!(byte, b' ' | b'\r'));
        let raw = self.raw().split(|byte| *byte == b'\n').find(is_text)?;
        let text = self.text.as_bytes().split(|byte| *byte == b'\n').find(is_text)?;
        spaces(raw).checked_sub(spaces(text))
    }
}
