//! Brackets that are missing, or written once too often.

use super::{Reader, State};
use crate::document::{KEY_ESCAPED, KEYED, Kind, UNTERMINATED};
use crate::fault::{SyntaxError, SyntaxErrorKind};

impl Reader<'_, '_> {
    /// Reads on where an object begins in place of a key, and returns what is expected then. `None` if it can't be told what
    /// was meant.
    #[cold]
    pub(super) fn object_for_key(&mut self) -> Option<State> {
        let frame = *self.arena.stack.last()?;
        let start = self.at;
        if frame.node as usize + 1 == self.arena.nodes.len() {
            // `{{`, as in the templates of Python: only the inner one is read.
            self.fault(SyntaxErrorKind::RepeatedBracket, start, start + 1);
            self.arena.stack.pop();
            let outer = self.arena.nodes.pop()?;
            self.key = (outer.flags & KEYED != 0).then_some((
                outer.key_start,
                outer.key_end,
                outer.flags & (KEYED | KEY_ESCAPED),
            ));
            self.doubled += 1;
            return Some(self.value(b'{'));
        }
        // `[{"a": 1, {"b": 2}]`
        let outer = self.arena.stack.len().checked_sub(2).and_then(|outer| self.arena.stack.get(outer))?;
        if outer.object {
            return None;
        }
        let before = self.end_before(start);
        self.missing_bracket(before, before);
        self.pop(before);
        Some(self.value(b'{'))
    }

    /// Reads on where a colon follows an element of an array, and returns what is expected then. `None` if the element is no
    /// key of the object around the array.
    #[cold]
    pub(super) fn key_in_array(&mut self) -> Option<State> {
        let [.., outer, array] = self.arena.stack[..] else { return None };
        let element = *self.arena.nodes.last()?;
        let is_element = element.kind == Kind::String
            && element.flags & UNTERMINATED == 0
            && self.bytes[element.end as usize..self.at].iter().all(u8::is_ascii_whitespace);
        let is_first = self.arena.nodes.len() == array.node as usize + 2;
        if array.object || !outer.object || !is_element || is_first {
            return None;
        }
        // `{"a": [1, "b": 2}`
        self.arena.nodes.pop();
        let end = self.end_before(element.start as usize);
        if !self.is_lost {
            self.missing_bracket(end, end);
        }
        self.pop(end);
        self.note_key(element.start as usize, element.end as usize, element.flags);
        Some(self.colon())
    }

    /// Ends arrays and objects at a closing bracket of the wrong kind, and returns whether the innermost open one is ended
    /// by it then.
    #[cold]
    pub(super) fn mismatched(&mut self, start: usize, object: bool) -> bool {
        if object && self.doubled > 0 && self.bytes[..start].trim_ascii_end().ends_with(b"}") {
            // The end of `{{`, which has been reported.
            self.doubled -= 1;
            return false;
        }
        let depth = self.arena.stack.iter().rposition(|frame| frame.object == object);
        // If an outer bracket matches, the inner ones were left open, unless more of the inner ones follows.
        let Some(depth) = depth.filter(|_| !object || !self.an_object_follows()) else {
            self.lost(SyntaxErrorKind::MismatchedBracket, start, start + 1);
            return false;
        };
        if !self.is_lost {
            self.missing_bracket(start, start + 1);
        }
        while self.arena.stack.len() > depth + 1 {
            self.pop(start);
        }
        true
    }

    /// Whether a comma and an object are next, which no member of an object is.
    fn an_object_follows(&self) -> bool {
        let rest = self.bytes[self.at..].trim_ascii_start().strip_prefix(b",");
        rest.is_some_and(|rest| rest.trim_ascii_start().starts_with(b"{"))
    }

    /// Where the last value, which is before this place, ends, with a comma or without.
    fn end_before(&self, place: usize) -> usize {
        let before = self.bytes[..place].trim_ascii_end();
        let end = before.strip_suffix(b",").unwrap_or(before).trim_ascii_end().len();
        // What is no value may end with the space after it.
        self.arena.nodes.last().map_or(end, |last| end.max(last.end as usize))
    }

    /// Reports that the innermost open array or object ends too late.
    fn missing_bracket(&mut self, start: usize, end: usize) {
        let is_comma = |last: &SyntaxError| last.kind == SyntaxErrorKind::MissingComma;
        if self.own_faults().last().is_some_and(|last| is_comma(last) && last.span.end as usize >= start) {
            // It is missing too.
            self.arena.faults.pop();
        }
        let innermost = self.arena.stack.last();
        let opened_at =
            innermost.and_then(|frame| self.arena.nodes.get(frame.node as usize)).map(|node| node.start);
        self.fault_from(SyntaxErrorKind::MissingBracket, start, end, opened_at);
        self.is_lost = true;
    }

    /// Reports what is left of brackets that don't fit, unless that has been told.
    #[cold]
    pub(super) fn lost(&mut self, kind: SyntaxErrorKind, start: usize, end: usize) {
        if !self.is_lost {
            self.fault(kind, start, end);
        }
        self.is_lost = true;
    }
}
