//! The text of a string, and the way from it back to the file.

use std::borrow::Cow;
use std::ops::Range;

use crate::{JsonStr, Span};

/// The text of a string of the document, of which every part can be found again in the file.
#[derive(Debug)]
pub struct Decoded<'s> {
    text: Cow<'s, str>,
    /// For each byte of the text, where in the string it comes from; `None` where it stands at its own number.
    offsets: Option<Vec<u32>>,
    /// The inside of the string, without its quotes.
    inside: Span,
}

impl<'s> Decoded<'s> {
    /// The text of a string whose value begins at `start`, with its quote.
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

    /// Where a range of the text's bytes stands in the file. Beyond its end it stands at the closing quote.
    #[must_use]
    pub fn span_of(&self, range: Range<usize>) -> Span {
        let in_file = |at: usize| match &self.offsets {
            Some(offsets) => offsets.get(at).map_or(self.inside.end, |offset| self.inside.start + offset),
            None => self.inside.end.min(self.inside.start + at as u32),
        };
        Span::new(in_file(range.start), in_file(range.end))
    }
}
