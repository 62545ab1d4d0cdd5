//! One line of the file for each label, however long the file's own lines are.
//!
//! A transcript is often a single line of megabytes, so lines of the file are not shown as they are. The value at the
//! label is rewritten on one line of bounded width, without the parts that are not needed, under its true line and column.

use std::borrow::Cow;
use std::ops::Range;

use toolcheck_core::text::visible;
use toolcheck_json::{Document, Kind, NodeId, Span, Value};
use unicode_width::UnicodeWidthChar;

/// A line that shows one place of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Excerpt {
    /// The line, without control characters or line breaks.
    pub(crate) text: String,
    pub(crate) focus: Range<usize>,
}

/// The maximum number of values inside a label's value that are searched for the name to mark.
const VALUES_SEARCHED: usize = 200;
/// The minimum number of characters to mark.
const SHORTEST_MARK: usize = 4;
/// The minimum width that a string is cut to.
const SHORTEST_STRING: usize = 12;

/// The excerpt for a place: `span` inside the value `node` of the document, in at most `width` columns. If
/// possible, it marks the string that is one of `names`, and leaves room for a caption of `caption` columns under the mark.
pub(crate) fn excerpt(
    document: &Document<'_>,
    node: NodeId,
    span: Span,
    names: &[&str],
    (width, caption): (usize, usize),
) -> Excerpt {
    if node.index() >= document.value_count() {
        return raw(document.bytes(), span, width);
    }
    let value = document.value(node);
    if value.span() != span || value.kind() == Kind::Invalid {
        return raw(document.bytes(), span, width);
    }
    let named = names.iter().find_map(|name| find(value, name));
    // A finding about the whole text is not about its first value.
    let focus = named.unwrap_or_else(|| if node == NodeId::ROOT { value } else { first_scalar(value) });
    // The caption starts below the middle of the mark, after a short stroke.
    let fits = |shown: &Excerpt| {
        let before = shown.text[..shown.focus.start].chars().count();
        before + shown.text[shown.focus.clone()].chars().count() / 2 + 4 + caption <= width
    };
    let whole = line(value, focus, width, false);
    if fits(&whole) {
        return whole;
    }
    let mut short = line(value, focus, width, true);
    if !fits(&short) {
        // Marking only the beginning leaves room for the caption.
        let marked = short.text[short.focus.clone()].char_indices().nth(SHORTEST_MARK);
        short.focus.end = marked.map_or(short.focus.end, |(at, _)| short.focus.start + at);
    }
    short
}

/// The value on one line; with `is_short`, without the values before the focus.
fn line(value: Value<'_, '_>, focus: Value<'_, '_>, width: usize, is_short: bool) -> Excerpt {
    let mut line = Line { text: String::new(), width, focus, is_short, marked: 0..0 };
    line.value(value, width);
    if line.marked.is_empty() {
        line.marked = 0..line.text.len();
    }
    Excerpt { text: line.text, focus: line.marked }
}

/// The string inside `value` that equals `name`.
fn find<'d, 's>(value: Value<'d, 's>, name: &str) -> Option<Value<'d, 's>> {
    let mut open = std::collections::VecDeque::from([value]);
    for _ in 0..VALUES_SEARCHED {
        let value = open.pop_front()?;
        if value.as_json_str().is_some_and(|text| text.eq_str(name)) {
            return Some(value);
        }
        open.extend(value.children().take(VALUES_SEARCHED));
    }
    None
}

/// The first value inside that is neither array nor object, or the value itself.
fn first_scalar<'d, 's>(value: Value<'d, 's>) -> Value<'d, 's> {
    let is_scalar = |child: &Value<'_, '_>| !matches!(child.kind(), Kind::Array | Kind::Object);
    value.children().take(VALUES_SEARCHED).find(is_scalar).unwrap_or(value)
}

struct Line<'d, 's> {
    text: String,
    width: usize,
    focus: Value<'d, 's>,
    is_short: bool,
    marked: Range<usize>,
}

impl Line<'_, '_> {
    fn holds_focus(&self, value: Value<'_, '_>) -> bool {
        value.span().contains(self.focus.span()) && value.span() != self.focus.span()
    }

    /// Writes a value in about `room` columns.
    fn value(&mut self, value: Value<'_, '_>, room: usize) {
        let start = self.text.len();
        match value.kind() {
            Kind::Object if value.children().next().is_none() => self.text.push_str("{}"),
            Kind::Array if value.children().next().is_none() => self.text.push_str("[]"),
            Kind::Object => self.container(value, '{', '}', room),
            Kind::Array => self.container(value, '[', ']', room),
            Kind::String => {
                let raw = value.as_json_str().map(|text| text.raw()).unwrap_or_default();
                let text = String::from_utf8_lossy(raw);
                let cut = cut(&text, room.max(SHORTEST_STRING).saturating_sub(2));
                self.text.push('"');
                self.text.push_str(&cut);
                self.text.push('"');
            }
            _ => self.text.push_str(&cut(&String::from_utf8_lossy(value.raw()), room.max(SHORTEST_STRING))),
        }
        if value == self.focus {
            let quotes = usize::from(value.kind() == Kind::String && self.text.len() > start + 2);
            self.marked = start + quotes..self.text.len() - quotes;
        }
    }

    /// Writes the children of a value: the one with the focus whole, others while there is room.
    fn container(&mut self, value: Value<'_, '_>, open: char, close: char, room: usize) {
        let end = self.text.chars().count() + room;
        self.text.push(open);
        let mut left_out = false;
        let mut is_first = true;
        let mut seen_focus = !(self.holds_focus(value));
        for child in value.children() {
            let is_focus = child == self.focus || self.holds_focus(child);
            let key = child.key().map(|key| cut(&String::from_utf8_lossy(key.raw()), 24).into_owned());
            let used = self.text.chars().count();
            // Values before the focus must leave room for it.
            let reserved = if seen_focus { 6 } else { 6 + self.width / 2 };
            let nested = matches!(child.kind(), Kind::Array | Kind::Object) && !is_focus;
            let least = key.as_ref().map_or(0, |key| key.chars().count() + 4)
                + if nested { 5 } else { child.raw().len().min(SHORTEST_STRING + 2) };
            let is_over = used + least + reserved > end || self.is_short && !seen_focus;
            if !is_focus && is_over {
                left_out = true;
                if seen_focus {
                    break;
                }
                continue;
            }
            if std::mem::take(&mut left_out) {
                self.text.push_str(if is_first { "..., " } else { ", ..., " });
            } else if !is_first {
                self.text.push_str(", ");
            }
            is_first = false;
            if let Some(key) = key {
                self.text.push('"');
                self.text.push_str(&key);
                self.text.push_str("\": ");
            }
            let room = end.saturating_sub(self.text.chars().count() + if is_focus { 6 } else { reserved });
            if nested && child.children().next().is_some() {
                self.text.push_str(if child.kind() == Kind::Object { "{...}" } else { "[...]" });
            } else {
                self.value(child, if is_focus { room } else { room.min(28) });
            }
            seen_focus |= is_focus;
        }
        if left_out {
            self.text.push_str(if is_first { "..." } else { ", ..." });
        }
        self.text.push(close);
    }
}

pub(crate) fn raw(bytes: &[u8], span: Span, width: usize) -> Excerpt {
    let line_end = |byte: &u8| *byte == b'\n' || *byte == b'\r';
    let end = (span.end as usize).min(bytes.len());
    let range = (span.start as usize).min(end)..end;
    let around = width / 3;
    // Only as much of the line is read as can be shown.
    let (least, most) = (range.start.saturating_sub(around), bytes.len().min(range.start + around));
    let mut from = bytes[least..range.start].iter().rposition(line_end).map_or(least, |at| least + at + 1);
    let mut to = bytes[range.start..most].iter().position(line_end).map_or(most, |at| range.start + at);
    // Don't begin inside a character.
    while from < range.start && bytes[from] & 0xC0 == 0x80 {
        from += 1;
    }
    while to > range.start && to < bytes.len() && bytes[to] & 0xC0 == 0x80 {
        to -= 1;
    }
    let show = |range: Range<usize>| -> String {
        let text = String::from_utf8_lossy(&bytes[range]);
        text.chars().flat_map(visible).collect()
    };
    let is_cut = |at: usize| at > 0 && at < bytes.len() && !line_end(&bytes[at - 1]) && !line_end(&bytes[at]);
    let mut text = String::from(if is_cut(from) { "\u{2026}" } else { "" });
    text.push_str(&show(from..range.start));
    let start = text.len();
    let end = range.end.clamp(range.start, to.max(range.start));
    text.push_str(&show(range.start..end));
    let focus = start..text.len();
    text.push_str(&show(end..to.max(end)));
    text.push_str(if is_cut(to.max(end)) { "\u{2026}" } else { "" });
    if text.is_empty() {
        text.push(' ');
    }
    // A place between two bytes is marked by the byte before it.
    let focus = if focus.is_empty() {
        let before = text[..start].char_indices().next_back().map_or(0, |(at, _)| at);
        before..text[before..].chars().next().map_or(before + 1, |first| before + first.len_utf8())
    } else {
        focus
    };
    Excerpt { text, focus }
}

/// At most `width` columns of the text, with control characters made visible.
fn cut(text: &str, width: usize) -> Cow<'_, str> {
    if text.len() <= width && text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') {
        return Cow::Borrowed(text);
    }
    let mut short = String::new();
    let mut used = 0;
    for character in text.chars().flat_map(visible) {
        let own = character.width().unwrap_or(0);
        if used + own > width.saturating_sub(3) {
            short.push_str("...");
            return Cow::Owned(short);
        }
        used += own;
        short.push(character);
    }
    Cow::Owned(short)
}
