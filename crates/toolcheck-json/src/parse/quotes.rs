//! Quotes that are missing, or that a string has without a backslash.

use super::Reader;
use crate::document::{MAYBE_DUPLICATE, UNTERMINATED};
use crate::fault::SyntaxErrorKind;

/// The most bytes between two faults that are one.
const NEAR: usize = 256;

impl Reader<'_, '_> {
    /// Ends the text where the word from `start` touches a quote, and returns whether it does: what follows has strings in
    /// place of structure, and structure in place of strings, so that each token of it would be a fault.
    #[cold]
    pub(super) fn ends_at_quote(&mut self, start: usize) -> bool {
        let is_quote = |at: Option<usize>| at.and_then(|at| self.bytes.get(at)) == Some(&b'"');
        let is_inside = !self.is_glance && !self.arena.stack.is_empty();
        if !is_inside || !is_quote(start.checked_sub(1)) && !is_quote(Some(self.at)) {
            return false;
        }
        // What was found of it before, in the same line, is the same fault, and so is the line feed at the end of a string.
        let line = memchr::memrchr(b'\n', &self.bytes[..start]).map_or(0, |at| at + 1);
        let mut first = start;
        while let Some(last) = self.own_faults().last()
            && may_be_quote(last.kind)
            && last.span.end as usize >= line.max(first.saturating_sub(NEAR))
            && !self.closes_between(last.span.end as usize, first)
        {
            first = first.min(last.span.start as usize);
            self.arena.faults.pop();
        }
        let marked = &self.bytes[first..self.at];
        let end = first + memchr::memchr(b'\n', marked).unwrap_or(marked.len());
        self.forget_from(first);
        self.fault(SyntaxErrorKind::MissingQuote, first, end);
        self.at = self.bytes.len();
        true
    }

    /// Whether there may be the end of an array or object between two places.
    fn closes_between(&self, from: usize, to: usize) -> bool {
        self.bytes.get(from..to).is_some_and(|between| memchr::memchr2(b']', b'}', between).is_some())
    }

    /// Forgets the values from a place, and ends there what is open.
    fn forget_from(&mut self, place: usize) {
        self.key = None;
        while self.arena.nodes.len() > self.first
            && self.arena.nodes.last().is_some_and(|node| node.start as usize >= place)
        {
            self.arena.nodes.pop();
        }
        if let Some(last) = self.arena.nodes.get_mut(self.first..).and_then(<[_]>::last_mut)
            && last.end as usize > place
        {
            (last.end, last.flags) = (place as u32, last.flags | UNTERMINATED);
        }
        while let Some(frame) = self.arena.stack.last() {
            // Some of its keys may be none.
            if let Some(node) = self.arena.nodes.get_mut(frame.node as usize) {
                node.flags &= !MAYBE_DUPLICATE;
            }
            self.pop(place);
        }
    }
}

/// Whether a fault may be one of a quote. It has been told where it was found, and is one of many then.
fn may_be_quote(kind: SyntaxErrorKind) -> bool {
    matches!(
        kind,
        SyntaxErrorKind::ControlCharacter
            | SyntaxErrorKind::InvalidKey
            | SyntaxErrorKind::InvalidValue
            | SyntaxErrorKind::InvalidNumber
            | SyntaxErrorKind::MissingComma
            | SyntaxErrorKind::MissingColon
            | SyntaxErrorKind::MissingValue
    )
}
