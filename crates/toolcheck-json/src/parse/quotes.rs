//! Quotes that are missing, or that a string has without a backslash.

use super::Reader;
use crate::document::UNTERMINATED;
use crate::fault::{SyntaxError, SyntaxErrorKind};

/// How many bytes before a quote may belong to its fault.
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
        let near = start.saturating_sub(NEAR);
        let line = memchr::memrchr(b'\n', &self.bytes[near..start]).map_or(near, |at| near + at + 1);
        let mut first = start;
        while let Some(last) = self.own_faults().last()
            && may_be_quote(last.kind)
            && last.span.end as usize >= line
            && !self.closes_between(last, first)
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

    /// Whether an array or object ends between a fault and a place after it. Brackets in strings end none.
    fn closes_between(&self, fault: &SyntaxError, place: usize) -> bool {
        let mut is_string = fault.kind == SyntaxErrorKind::ControlCharacter;
        let mut between = self.bytes.get(fault.span.end as usize..place).unwrap_or_default().iter();
        while let Some(byte) = between.next() {
            match byte {
                b'"' => is_string = !is_string,
                b'\\' if is_string => drop(between.next()),
                b']' | b'}' if !is_string => return true,
                _ => {}
            }
        }
        false
    }

    /// Forgets what was found of a string that does not end, from the quote that opens it: a quote is missing before it, or
    /// at its end.
    #[cold]
    pub(super) fn forget_faults_from(&mut self, quote: usize) {
        while let Some(last) = self.own_faults().last()
            && last.span.start as usize >= quote
            && matches!(last.kind, SyntaxErrorKind::MissingComma | SyntaxErrorKind::ControlCharacter)
        {
            self.arena.faults.pop();
        }
    }

    /// Forgets the values from a place, and ends there what is open.
    fn forget_from(&mut self, place: usize) {
        self.key = None;
        while self.arena.nodes.len() > self.first
            && self.arena.nodes.last().is_some_and(|node| node.start as usize >= place)
        {
            self.arena.nodes.pop();
        }
        let next = self.arena.nodes.len() as u32;
        let kept = self.arena.nodes.get_mut(self.first..).unwrap_or_default();
        if let Some(last) = kept.last_mut()
            && last.end as usize > place
        {
            last.flags |= UNTERMINATED;
        }
        // What was closed, since a bracket seemed to be missing, is open here. What ended at the place may have had a value
        // without a length there.
        for node in kept {
            (node.end, node.next) = (node.end.min(place as u32), node.next.min(next));
        }
        while !self.arena.stack.is_empty() {
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
            | SyntaxErrorKind::MissingBracket
            | SyntaxErrorKind::MissingComma
            | SyntaxErrorKind::MissingColon
            | SyntaxErrorKind::MissingValue
    )
}
