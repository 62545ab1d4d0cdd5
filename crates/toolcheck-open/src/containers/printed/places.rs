//! Where in a text a program may have printed a value.

use super::blocks::Block;

/// How much of the text before a value is looked at.
const LONGEST_PREFIX: usize = 400;
/// The longest mark of a reference, and the whitespace around it.
const LONGEST_REFERENCE: usize = 24;

pub(super) struct Places<'t> {
    text: &'t [u8],
    block: Option<&'t Block>,
    /// Where the text begins that is not whitespace.
    first: usize,
    start: usize,
    /// Where the last value ended, or the part begins.
    end: usize,
    /// How far nothing follows there but what is between two values.
    filled: usize,
}

impl<'t> Places<'t> {
    pub(super) fn new(text: &'t [u8], start: usize, block: Option<&'t Block>) -> Self {
        let is_text = |byte: &u8| !byte.is_ascii_whitespace();
        let first = text.iter().position(is_text).unwrap_or(text.len());
        let mut places = Self { text, block, first, start, end: 0, filled: 0 };
        places.is_after(start);
        places
    }

    pub(super) fn is_after(&mut self, end: usize) {
        let is_filler =
            |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b';' | b')' | 0xEF | 0xBB | 0xBF);
        self.end = end;
        let filled = self.text[end..].iter().position(|byte| !is_filler(byte));
        self.filled = filled.map_or(self.text.len(), |filled| end + filled);
    }

    /// Whether nothing stands before a value but other values.
    pub(super) fn is_next(&self, start: usize) -> bool {
        start <= self.filled
    }

    /// Whether a program may have printed a value at a place: at the beginning of the text or after another value, also in
    /// a line of its own, behind a name and a colon or an equals sign, or in a line of a log. Anywhere else it may be an
    /// example in a text that people read. In a block of Markdown, a value may also be what a line of code passes on, or
    /// follow the head of an HTTP message.
    pub(super) fn has(&self, start: usize) -> bool {
        // `<ref *1> {` is how Node.js begins an object that holds itself.
        let between = &self.text[self.end..start];
        let is_reference =
            || between.len() <= LONGEST_REFERENCE && between.trim_ascii().starts_with(b"<ref *");
        if self.is_next(start) || is_reference() {
            return true;
        }
        let window = &self.text[start.saturating_sub(LONGEST_PREFIX)..start];
        let line = |text: &'_ [u8]| text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let prefix = &window[line(window)..];
        if prefix.trim_ascii().is_empty() {
            let above = window.trim_ascii_end();
            let above = &above[line(above)..];
            return is_introduction(above) && (is_of_log(above) || is_assignment(above))
                || self.block.is_some_and(|block| prefix.len() <= block.indent)
                || self.end > self.start && prefix.is_empty()
                || self.end == 0 && prefix.is_empty() && is_introduced(&self.text[..start]);
        }
        let is_first_line = start - self.first.min(start) <= prefix.trim_ascii_start().len();
        let is_separate = is_introduction(prefix) || prefix.ends_with(b" ") || prefix.ends_with(b"\t");
        let is_plain = || !prefix.iter().any(|byte| matches!(byte, b'{' | b'\'' | b'"'));
        // `-d '` is how a shell passes a body on.
        (is_first_line || self.block.is_some()) && is_introduction(prefix) && is_plain()
            || is_separate && is_of_log(prefix)
            || is_assignment(prefix)
            || self.block.is_some() && prefix.ends_with(b"'")
    }
}

/// Whether a text before a value is no more than a line that introduces it.
fn is_introduced(before: &[u8]) -> bool {
    if before.len() > LONGEST_PREFIX {
        return false;
    }
    let text = before.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(before).trim_ascii();
    is_introduction(text) && !text.contains(&b'\n')
}

fn is_introduction(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    line.ends_with(b":") || line.ends_with(b"=") || line.ends_with(b"(")
}

/// Whether a line is one of a log: it begins with a time, or names a level.
fn is_of_log(line: &[u8]) -> bool {
    const LEVELS: [&[u8]; 7] = [b"DEBUG", b"INFO", b"WARN", b"ERROR", b"TRACE", b"CRITICAL", b"FATAL"];
    let line = line.trim_ascii_start();
    let time = line.strip_prefix(b"[").unwrap_or(line);
    let is_time = time.len() > 4 && time[..4].iter().filter(|byte| byte.is_ascii_digit()).count() >= 2;
    is_time && time[0].is_ascii_digit()
        || LEVELS.iter().any(|level| memchr::memmem::find(line, level).is_some())
}

/// Whether a line begins with a name and an equals sign or a colon.
fn is_assignment(prefix: &[u8]) -> bool {
    let prefix = prefix.trim_ascii();
    let is_name = |name: &[u8]| {
        !name.is_empty()
            && name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'))
    };
    let name = prefix.strip_suffix(b"=").or_else(|| prefix.strip_suffix(b":"));
    name.is_some_and(|name| is_name(name.trim_ascii_end()))
}
