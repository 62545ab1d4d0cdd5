//! The blocks of code in Markdown: what stands between two fences.

use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Prose(Range<usize>),
    Block(Block),
}

/// A block of code, without its fences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) content: Range<usize>,
    pub(super) indent: usize,
    /// How many marks of a quotation each of its lines has.
    quotes: usize,
    /// Whether its fence says that it is JSON or JSON Lines.
    pub(super) is_json: bool,
}

struct Fence {
    mark: u8,
    length: usize,
    indent: usize,
    quotes: usize,
    is_json: bool,
}

/// Whether a text has a block, as far as it is shown.
pub(super) fn has_one(head: &[u8]) -> bool {
    parts(head).any(|part| matches!(part, Part::Block(_)))
}

/// The parts of a text, in order. A block without an end ends with the text.
pub(super) fn parts(bytes: &[u8]) -> impl Iterator<Item = Part> {
    let (mut at, mut next) = (0, None::<Block>);
    std::iter::from_fn(move || {
        if let Some(block) = next.take() {
            return Some(Part::Block(block));
        }
        let start = at;
        while at < bytes.len() {
            let line = line_at(bytes, at);
            if let Some(fence) = Fence::of(&bytes[line.clone()]) {
                let (block, end) = fence.block(bytes, line.end);
                at = end;
                if line.start == start {
                    return Some(Part::Block(block));
                }
                next = Some(block);
                return Some(Part::Prose(start..line.start));
            }
            at = line.end;
        }
        (start < at).then_some(Part::Prose(start..at))
    })
}

/// The line that starts at a byte, with its end.
fn line_at(bytes: &[u8], at: usize) -> Range<usize> {
    at..memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end + 1)
}

fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// The length of the blanks at the start of a line.
fn blanks(line: &[u8]) -> usize {
    line.iter().take_while(|byte| is_blank(byte)).count()
}

impl Fence {
    /// The fence that a line is, in a quotation or an item of a list too.
    fn of(line: &[u8]) -> Option<Self> {
        // Nearly no line has one.
        let first = memchr::memchr2(b'`', b'~', line)?;
        if line.get(first + 1) != Some(&line[first]) {
            return None;
        }
        // Joined files have a byte order mark in their middle.
        let (mut indent, mut quotes) = (if line.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 }, 0);
        let rest = loop {
            indent += blanks(&line[indent..]);
            let rest = &line[indent..];
            match rest.first()? {
                b'>' => (indent, quotes) = (indent + 1, quotes + 1),
                b'`' | b'~' => break rest,
                _ => indent += marker(rest)?,
            }
        };
        let mark = rest[0];
        let length = rest.iter().take_while(|byte| **byte == mark).count();
        let info = rest[length..].trim_ascii();
        // With other marks behind it, it is code in a line.
        let is_one = length >= 3 && !(mark == b'`' && info.contains(&b'`'));
        let name = info.iter().position(u8::is_ascii_alphanumeric).map_or(&info[..0], |at| &info[at..]);
        let is_json = name.get(..4).is_some_and(|name| name.eq_ignore_ascii_case(b"json"));
        is_one.then_some(Self { mark, length, indent, quotes, is_json })
    }

    /// The block that this begins, whose lines start at a byte, and where the text goes on.
    fn block(&self, bytes: &[u8], start: usize) -> (Block, usize) {
        let block = |end| {
            let (indent, quotes, is_json) = (self.indent, self.quotes, self.is_json);
            Block { content: start..end, indent, quotes, is_json }
        };
        let mut at = start;
        while at < bytes.len() {
            let line = line_at(bytes, at);
            let Some(skipped) = quote_marks(&bytes[line.clone()], self.quotes).last().unwrap_or(Some(0))
            else {
                return (block(at), at);
            };
            if self.is_ended_by(&bytes[line.start + skipped..line.end], skipped) {
                return (block(at), line.end);
            }
            at = line.end;
        }
        (block(at), at)
    }

    /// Whether the rest of a line, of which some bytes are skipped, ends the block.
    fn is_ended_by(&self, rest: &[u8], skipped: usize) -> bool {
        const FARTHEST: usize = 3;
        let indent = blanks(rest);
        let marks = rest[indent..].trim_ascii_end();
        marks.len() >= self.length
            && marks.iter().all(|byte| *byte == self.mark)
            && skipped + indent <= self.indent + FARTHEST
    }
}

/// The length of the mark of an item of a list, with its blank.
fn marker(rest: &[u8]) -> Option<usize> {
    const MOST_DIGITS: usize = 9;
    let digits = rest.iter().take(MOST_DIGITS).take_while(|byte| byte.is_ascii_digit()).count();
    let is_one = match rest.get(digits)? {
        b'.' | b')' => digits > 0,
        b'-' | b'*' | b'+' => digits == 0,
        _ => false,
    };
    (is_one && rest.get(digits + 1).is_some_and(is_blank)).then_some(digits + 2)
}

/// Where each mark of a quotation at the start of a line ends; `None` in place of one that is missing.
fn quote_marks(line: &[u8], count: usize) -> impl Iterator<Item = Option<usize>> {
    let mut at = 0;
    (0..count).map(move |_| {
        at += blanks(line.get(at..)?);
        (line.get(at) == Some(&b'>')).then(|| {
            at += 1;
            at
        })
    })
}

impl Block {
    pub(super) fn is_quoted(&self) -> bool {
        self.quotes > 0
    }

    /// Makes blanks of the marks of quotations before its lines.
    pub(super) fn unquote(&self, text: &mut [u8]) {
        let mut at = self.content.start;
        while at < self.content.end {
            let line = line_at(text, at);
            let marks: Vec<usize> = quote_marks(&text[line.clone()], self.quotes).flatten().collect();
            marks.into_iter().for_each(|end| text[at + end - 1] = b' ');
            at = line.end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(text: &str) -> Vec<&str> {
        let block = |part| match part {
            Part::Block(block) => Some(&text[block.content]),
            Part::Prose(_) => None,
        };
        parts(text.as_bytes()).filter_map(block).collect()
    }

    #[test]
    fn a_block_is_what_stands_between_two_fences() {
        for (text, expected) in [
            ("# A\n\n```json\na\nb\n```\nc\n~~~\nd\n~~~~\n", vec!["a\nb\n", "d\n"]),
            ("````md\n```\na\n```\n````\n", vec!["```\na\n```\n"]),
            ("1. x\n\n   ```\r\n   a\r\n   ```\r\n", vec!["   a\r\n"]),
            ("- ```\n  a\n  ```\n", vec!["  a\n"]),
            ("> ```\n> a\n> ```\n> b\n", vec!["> a\n"]),
            ("> > ```\n> > a\n> b\n", vec!["> > a\n"]),
            ("\u{feff}```\na\n```\n\u{feff}```\nb\n```\n", vec!["a\n", "b\n"]),
            ("```\na", vec!["a"]),
            ("```", vec![""]),
            ("```a``` and ``b``\n``\nc\n``\n", vec![]),
            ("a ```\nb\n```", vec![""]),
            ("~~~\n```\n~~~\n", vec!["```\n"]),
        ] {
            assert_eq!(contents(text), expected, "{text}");
        }
    }

    #[test]
    fn the_parts_of_a_text_follow_one_another() {
        let text = "a\n```json\nb\n```\n```JSONL x\nc\n```\nd";
        let all: Vec<Part> = parts(text.as_bytes()).collect();
        let is_json = |part: &Part| matches!(part, Part::Block(block) if block.is_json);
        assert_eq!(all.iter().map(is_json).collect::<Vec<_>>(), [false, true, true, false]);
        assert_eq!((&all[0], &all[3]), (&Part::Prose(0..2), &Part::Prose(text.len() - 1..text.len())));
    }
}
