//! Decoded strings, with a mapping back to the file.

use std::borrow::Cow;
use std::ops::Range;

use crate::unescape::Jump;
use crate::{JsonStr, Span};

/// The decoded text of a string, with a mapping from every part of it to its place in the file.
#[derive(Debug)]
pub struct Decoded<'s> {
    text: Cow<'s, str>,
    /// Where the text and the string continue after what is longer in one of them.
    jumps: Vec<Jump>,
    /// The span of the string without its quotes.
    inside: Span,
}

/// A part of a text, and its place in the file.
pub(crate) struct Run {
    pub(crate) text: Range<usize>,
    pub(crate) place: Span,
}

impl<'s> Decoded<'s> {
    /// Decodes a string whose opening quote is at `start`.
    pub fn new(string: JsonStr<'s>, start: u32) -> Self {
        let inside = Span::new(start + 1, start + 1 + string.raw().len() as u32);
        match std::str::from_utf8(string.raw()) {
            Ok(raw) if !string.is_escaped() => Self { text: Cow::Borrowed(raw), jumps: Vec::new(), inside },
            _ => {
                let (text, jumps) = string.decode_with_jumps();
                Self { text: Cow::Owned(text), jumps, inside }
            }
        }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The span in the file of a range of the text's bytes. Beyond the end of the text it is the closing quote.
    pub fn span_of(&self, range: Range<usize>) -> Span {
        Span::new(self.in_file(range.start), self.in_file(range.end))
    }

    /// The runs that the text consists of: characters that are written as they are, or one that is not.
    pub(crate) fn runs(&self) -> impl Iterator<Item = Run> {
        let run = |text: Range<usize>, start: u32, end: u32| Run {
            text,
            place: Span::new(self.inside.start + start, self.inside.start + end),
        };
        let mut last = Jump::default();
        let to_jumps = self.jumps.iter().flat_map(move |jump| {
            let before = std::mem::replace(&mut last, *jump);
            let end = jump.text as usize;
            let start = end - self.text[..end].chars().next_back().map_or(0, char::len_utf8);
            let raw = before.raw + (start as u32 - before.text);
            [run(before.text as usize..start, before.raw, raw), run(start..end, raw, jump.raw)]
        });
        let Jump { text, raw } = self.jumps.last().copied().unwrap_or_default();
        let rest = run(text as usize..self.text.len(), raw, self.inside.end - self.inside.start);
        to_jumps.chain([rest])
    }

    /// Where a byte of the text is in the file: where its character begins, however that is written.
    fn in_file(&self, at: usize) -> u32 {
        if at >= self.text.len() {
            return self.inside.end;
        }
        let at = (0..=at).rev().find(|at| self.text.is_char_boundary(*at)).unwrap_or_default() as u32;
        let before = self.jumps.partition_point(|jump| jump.text <= at);
        let Jump { text, raw } = before.checked_sub(1).map_or(Jump::default(), |last| self.jumps[last]);
        self.inside.start + raw + (at - text)
    }
}
