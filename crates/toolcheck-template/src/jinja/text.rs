//! Texts that know which part of the request they come from.

use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use super::budget::{PER_STEP, work};

/// A part of a text that comes from a part of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) source: u32,
    /// The byte of the part's text that it starts with; [`INEXACT`] if the text was changed on the way.
    pub(crate) from: u32,
}

/// The text is not a copy of bytes of the part, so it stands for the whole part.
pub(crate) const INEXACT: u32 = u32::MAX;

#[derive(Debug, Default, PartialEq)]
struct Extra {
    marks: Vec<Mark>,
    /// Whether the filter `safe` was applied: adding another text escapes that.
    is_markup: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Text {
    text: Arc<str>,
    extra: Option<Rc<Extra>>,
}

impl From<Arc<str>> for Text {
    fn from(text: Arc<str>) -> Self {
        Self { text, extra: None }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self { text: text.into(), extra: None }
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self { text: text.into(), extra: None }
    }
}

impl Text {
    pub(crate) fn of_source(text: Arc<str>, source: u32) -> Self {
        let mark = Mark { start: 0, end: text.len() as u32, source, from: 0 };
        Self { text, extra: Some(Rc::new(Extra { marks: vec![mark], is_markup: false })) }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.text.len() == other.text.len() && {
            work(self.text.len() / PER_STEP);
            self.text == other.text
        }
    }

    /// The characters, which are not copied.
    pub(crate) fn shared(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }

    pub(crate) fn marks(&self) -> &[Mark] {
        self.extra.as_ref().map_or(&[], |extra| &extra.marks)
    }

    pub(crate) fn is_markup(&self) -> bool {
        self.extra.as_ref().is_some_and(|extra| extra.is_markup)
    }

    pub(crate) fn with_markup(&self, is_markup: bool) -> Self {
        work(self.marks().len());
        let extra = Extra { marks: self.marks().to_vec(), is_markup };
        Self { text: self.text.clone(), extra: Some(Rc::new(extra)) }
    }

    pub(crate) fn part(&self, range: Range<usize>) -> Self {
        if range.len() == self.text.len() {
            return self.clone();
        }
        if self.marks().is_empty() {
            return Self::from(&self.text[range]);
        }
        let mut part = Builder::default();
        part.push_part(self, range);
        part.finish()
    }

    /// The text after a change of its characters: what each mark covered, the whole text covers now.
    pub(crate) fn changed(&self, text: String) -> Self {
        let mut changed = Builder::default();
        changed.push_changed(&text, self.marks());
        changed.finish()
    }

    /// A character at a time, each as a text.
    pub(crate) fn characters(&self) -> impl Iterator<Item = Self> + '_ {
        self.text.char_indices().map(|(at, character)| self.part(at..at + character.len_utf8()))
    }
}

#[derive(Debug, Default)]
pub(crate) struct Builder {
    pub(crate) text: String,
    pub(crate) marks: Vec<Mark>,
}

impl Builder {
    pub(crate) fn push_str(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(crate) fn push(&mut self, text: &Text) {
        self.push_part(text, 0..text.text.len());
    }

    pub(crate) fn push_part(&mut self, text: &Text, range: Range<usize>) {
        let (shift, start, end) = (self.text.len() as u32, range.start as u32, range.end as u32);
        self.text.push_str(&text.text[range]);
        // A short text may have many marks.
        let marks = if work(text.marks().len() / PER_STEP) { text.marks() } else { &[] };
        for mark in marks {
            let (from, to) = (mark.start.max(start), mark.end.min(end));
            if from >= to {
                continue;
            }
            let offset = if mark.from == INEXACT { INEXACT } else { mark.from + (from - mark.start) };
            self.push_mark(Mark {
                start: from - start + shift,
                end: to - start + shift,
                source: mark.source,
                from: offset,
            });
        }
    }

    fn push_mark(&mut self, mark: Mark) {
        if let Some(last) = self.marks.last_mut()
            && (last.end, last.source) == (mark.start, mark.source)
            && (last.from == INEXACT && mark.from == INEXACT
                || last.from != INEXACT && last.from + (last.end - last.start) == mark.from)
        {
            last.end = mark.end;
            return;
        }
        if work(1) {
            self.marks.push(mark);
        }
    }

    /// Appends a text that stands for these marks as a whole.
    pub(crate) fn push_changed(&mut self, text: &str, marks: &[Mark]) {
        let start = self.text.len() as u32;
        self.text.push_str(text);
        let end = self.text.len() as u32;
        work(marks.len());
        let mut seen = BTreeSet::new();
        for mark in marks {
            if end > start && seen.insert(mark.source) {
                self.push_mark(Mark { start, end, source: mark.source, from: INEXACT });
            }
        }
    }

    /// Says that what was appended since `start` comes from a part of the request, where no smaller part is known.
    pub(crate) fn cover(&mut self, start: usize, source: u32) {
        let mark = Mark { start: start as u32, end: self.text.len() as u32, source, from: INEXACT };
        let at = self.marks.partition_point(|own| (own.start as usize) < start);
        self.marks.insert(at, mark);
    }

    pub(crate) fn finish(self) -> Text {
        let extra = (!self.marks.is_empty()).then(|| Rc::new(Extra { marks: self.marks, is_markup: false }));
        Text { text: self.text.into(), extra }
    }
}
