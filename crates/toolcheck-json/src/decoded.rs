//! Decoded strings, with a mapping back to the file.

use std::borrow::Cow;
use std::ops::Range;

use crate::{JsonStr, Span};

/// The decoded text of a string, with a mapping from every part of it to its place in the file.
#[derive(Debug)]
pub struct Decoded<'s> {
    text: Cow<'s, str>,
    /// For each byte of the text, its offset in the string; `None` if the offsets are the same.
    offsets: Option<Vec<u32>>,
    /// The span of the string without its quotes.
    inside: Span,
}

impl<'s> Decoded<'s> {
    /// Decodes a string whose opening quote is at `start`.
    #[must_use]
    pub fn new(string: JsonStr<'s>, start: u32) -> Self {
        let inside = Span::new(start + 1, start + 1 + string.raw().len() as u32);
        match std::str::from_utf8(string.raw()) {
            Ok(raw) if !string.is_escaped() => Self { text: Cow::Borrowed(raw), offsets: None, inside },
            _ => {
                let (text, offsets) = string.decode_with_offsets();
                Self { text: Cow::Owned(text), offsets: Some(offsets), inside }
            }
        }
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The span in the file of a range of the text's bytes. Beyond the end of the text it is the closing quote.
    #[must_use]
    pub fn span_of(&self, range: Range<usize>) -> Span {
        let in_file = |at: usize| match &self.offsets {
            Some(offsets) => offsets.get(at).map_or(self.inside.end, |offset| self.inside.start + offset),
            None => self.inside.end.min(self.inside.start + at as u32),
        };
        Span::new(in_file(range.start), in_file(range.end))
    }
}
