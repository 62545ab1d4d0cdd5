//! Texts in which JSON that was written into strings stands as JSON.

use std::ops::Range;

use crate::{Decoded, Document, NodeId};

/// A text in which some strings of another text are replaced by what they say, with the way back.
///
/// ```
/// use toolcheck_json::{Document, Expanded};
///
/// let document = Document::read(br#"{"messages": "[{\"role\": \"user\"}]"}"#);
/// let string = document.root().get("messages").expect("the key is there");
/// let opened = Expanded::new(&document, &[string.id()]);
/// assert_eq!(opened.text(), br#"{"messages": [{"role": "user"}]}"#);
/// // The name of the role, with its quotes.
/// assert_eq!(opened.source_of(23..29), 26..34);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expanded {
    text: Vec<u8>,
    runs: Vec<Run>,
}

/// Some consecutive bytes, up to the next run: either the very bytes of the source, or what one escape stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    made: u32,
    source: u32,
    end: u32,
}

impl Expanded {
    /// The text of a document in which these strings, in the order of the text, are replaced by what they say. Line ends
    /// become spaces, so that everything stays on its line: in JSON, they are only whitespace.
    pub fn new(document: &Document<'_>, strings: &[NodeId]) -> Self {
        let bytes = document.bytes();
        let mut opened = Self { text: Vec::with_capacity(bytes.len()), runs: Vec::new() };
        let mut at = 0;
        for id in strings {
            let value = document.value(*id);
            let Some(string) = value.as_json_str() else { continue };
            let span = value.span();
            opened.push(&bytes[at as usize..span.start as usize], at, span.start);
            opened.push_decoded(&Decoded::new(string, span.start));
            at = span.end;
        }
        opened.push(&bytes[at as usize..], at, bytes.len() as u32);
        opened
    }

    /// The text that was made of this one's, with the way back to this one's source.
    pub fn then(&self, next: Self) -> Self {
        let mut runs = Vec::with_capacity(next.runs.len());
        let mut first = 0;
        for (number, run) in next.runs.iter().enumerate() {
            let end = next.runs.get(number + 1).map_or(next.text.len() as u32, |next| next.made);
            if end - run.made != run.end - run.source {
                let source = self.source_of(run.source as usize..run.end as usize);
                runs.push(Run { made: run.made, source: source.start as u32, end: source.end as u32 });
                continue;
            }
            // The runs of this text that the bytes are in.
            while self.runs.get(first + 1).is_some_and(|own| own.made <= run.source) {
                first += 1;
            }
            for (own, end) in self.ends(first) {
                if own.made >= run.end {
                    break;
                }
                let (from, to) = (own.made.max(run.source), end.min(run.end));
                let source = self.source_of(from as usize..to as usize);
                let made = run.made + (from - run.source);
                runs.push(Run { made, source: source.start as u32, end: source.end as u32 });
            }
        }
        Self { text: next.text, runs }
    }

    /// The text.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The bytes of the source for a range of the text.
    pub fn source_of(&self, range: Range<usize>) -> Range<usize> {
        let at = |offset: usize| {
            let number = self.runs.partition_point(|run| run.made as usize <= offset).saturating_sub(1);
            (number, self.runs.get(number).copied().unwrap_or(Run { made: 0, source: 0, end: 0 }))
        };
        let (_, run) = at(range.start);
        let start = (run.source as usize + (range.start - run.made as usize)).min(run.end as usize);
        if range.end <= range.start {
            return start..start;
        }
        let (number, run) = at(range.end - 1);
        let made_end = self.runs.get(number + 1).map_or(self.text.len(), |next| next.made as usize);
        let end = if made_end == range.end {
            run.end as usize
        } else {
            (run.source as usize + (range.end - run.made as usize)).min(run.end as usize)
        };
        start..end.max(start)
    }

    /// The runs from this number on, each with its end in the text.
    fn ends(&self, first: usize) -> impl Iterator<Item = (Run, u32)> + '_ {
        let end = |number: usize| self.runs.get(number + 1).map_or(self.text.len() as u32, |next| next.made);
        self.runs.iter().enumerate().skip(first).map(move |(number, run)| (*run, end(number)))
    }

    fn push(&mut self, bytes: &[u8], source: u32, end: u32) {
        if !bytes.is_empty() {
            self.runs.push(Run { made: self.text.len() as u32, source, end });
            self.text.extend_from_slice(bytes);
        }
    }

    /// Adds what a string says.
    fn push_decoded(&mut self, decoded: &Decoded<'_>) {
        let text = decoded.text();
        for run in decoded.runs() {
            self.push(&text.as_bytes()[run.text], run.place.start, run.place.end);
        }
        let from = self.text.len() - text.len();
        let breaks = self.text[from..].iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r'));
        breaks.for_each(|byte| *byte = b' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Opens all strings below these keys, level by level.
    fn open(text: &[u8], levels: usize) -> Expanded {
        let document = Document::read(text);
        let strings = |document: &Document<'_>| -> Vec<NodeId> {
            let root = document.root();
            root.elements().filter(|value| value.as_json_str().is_some()).map(|value| value.id()).collect()
        };
        let mut opened = Expanded::new(&document, &strings(&document));
        for _ in 1..levels {
            let inner = opened.text().to_vec();
            let document = Document::read(&inner);
            opened = opened.then(Expanded::new(&document, &strings(&document)));
        }
        opened
    }

    #[test]
    fn what_a_string_says_stands_in_its_place() {
        let text = br#"[1, "[{\"a\": \"\\\"\u00e9\"}]", 2]"#;
        let opened = open(text, 1);
        assert_eq!(String::from_utf8_lossy(opened.text()), "[1, [{\"a\": \"\\\"\u{e9}\"}], 2]");
        assert_eq!(opened.source_of(0..2), 0..2);
        let end = opened.text().len();
        assert_eq!(opened.source_of(0..end), 0..text.len());
        assert_eq!(opened.source_of(end - 2..end - 1), text.len() - 2..text.len() - 1);
        // `"a"` with its quotes, which are escapes.
        assert_eq!(&text[opened.source_of(6..9)], br#"\"a\""#);
        // The escape for a quote, and the letter.
        assert_eq!(&text[opened.source_of(12..14)], br#"\\\""#);
        assert_eq!(&text[opened.source_of(14..16)], br"\u00e9");
    }

    #[test]
    fn a_string_in_a_string_leads_back_to_the_file() {
        let inner = serde_json::to_string("[\"x\"]").unwrap_or_default();
        let text = serde_json::to_string(&[inner]).unwrap_or_default();
        assert_eq!(text, r#"["\"[\\\"x\\\"]\""]"#);
        let opened = open(text.as_bytes(), 2);
        assert_eq!(opened.text(), br#"[["x"]]"#);
        assert_eq!(&text[opened.source_of(2..5)], r#"\\\"x\\\""#);
        assert_eq!(&text[opened.source_of(3..4)], "x");
    }

    proptest! {
        #[test]
        fn every_range_leads_into_the_source(text in ".{0,40}", levels in 1usize..4) {
            let mut written = text;
            for _ in 0..levels {
                written = serde_json::to_string(&written).unwrap_or_default();
            }
            let written = format!("[1, {written}]");
            let opened = open(written.as_bytes(), levels);
            let length = opened.text().len();
            let mut before = 0;
            for at in 0..length {
                let source = opened.source_of(at..at + 1);
                prop_assert!(source.start < source.end && source.end <= written.len());
                prop_assert!(source.start >= before);
                before = source.start;
            }
            prop_assert_eq!(opened.source_of(0..length), 0..written.len());
        }
    }
}
