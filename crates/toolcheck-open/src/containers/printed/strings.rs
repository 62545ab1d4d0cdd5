//! Bodies that were encoded more than once: JSON in a string, or in a string in a string, alone or one on each line.

use toolcheck_json::Document;
use toolcheck_json::origins::Mapped;

use super::{WORDS, is_conversation};
use crate::containers::HEAD;
use crate::tree::json_text;

/// How many strings are opened that are inside one another.
const MOST_STRINGS: usize = 8;
/// How many lines are tried before a text is none of these.
const MOST_LINES: usize = 16;

pub(super) struct Encoded {
    pub(super) json: Mapped,
    pub(super) times: usize,
}

/// Whether a text may begin with a string that holds JSON: a glance, since every file is looked at.
pub(super) fn may_begin(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text).trim_ascii_start();
    let mut inside = text.iter().skip_while(|byte| matches!(byte, b'"' | b'\\'));
    text.first() == Some(&b'"') && matches!(inside.next(), Some(b'{' | b'['))
}

/// Whether one of the first lines is such a string. The last one may be cut where the start of a file ends.
pub(super) fn begin(bytes: &[u8]) -> bool {
    lines(bytes, 0).take(MOST_LINES).any(|(start, line)| {
        let is_cut = start + line.len() >= bytes.len() && line.len() > HEAD && !line.ends_with(b"\"");
        let has_word = || WORDS.iter().any(|word| memchr::memmem::find(&line[..HEAD], word).is_some());
        is_cut && has_word() || read(line, start).is_some()
    })
}

/// The lines of a text from a byte on that are not blank, each with where it starts.
pub(super) fn lines(text: &[u8], start: usize) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = start;
    let lines = text[start..].split_inclusive(|byte| *byte == b'\n').map(move |line| {
        let before = at;
        at += line.len();
        let text = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii_start();
        (before + line.len() - text.len(), text.trim_ascii_end())
    });
    lines.filter(|(_, line)| !line.is_empty())
}

pub(super) fn read(line: &[u8], start: usize) -> Option<Encoded> {
    if !may_begin(line) {
        return None;
    }
    let mut json = Mapped::same(line, start);
    for times in 2..=MOST_STRINGS + 1 {
        json = decoded(&json)?;
        if json.text().trim_ascii_start().first() != Some(&b'"') {
            let is_one = is_conversation(Document::read(json.text()).root());
            return is_one.then_some(Encoded { json, times });
        }
    }
    None
}

fn decoded(outer: &Mapped) -> Option<Mapped> {
    let document = Document::read(outer.text());
    let root = document.root();
    let span = root.span().range();
    let is_all = document.faults().is_empty() && outer.text().get(span.end..)?.trim_ascii().is_empty();
    let text = root.as_str().filter(|_| is_all)?;
    Some(json_text(outer.text(), &span, &text).through(outer))
}
