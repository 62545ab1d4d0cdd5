//! Changes to a document that keep every byte which is not changed.
//!
//! An [`Edits`] says what some values become: another value, or a list or an object with other children. Children may be
//! values of the document from anywhere in it, so what is moved keeps its spelling, and what is changed inside it is
//! changed there. The text is written once, at the end.

use std::borrow::Cow;

use foldhash::HashMap;

use crate::document::{Document, Kind, NodeId, Span, Value};

/// A value that is written into a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// A value of the document, as it is written there, with its own changes.
    Node(NodeId),
    /// JSON text, written as it is.
    Raw(Vec<u8>),
    /// A list. It is spaced like its neighbours.
    List(Vec<Self>),
    /// An object. It is spaced like its neighbours.
    Object(Vec<(Cow<'static, str>, Self)>),
}

impl Piece {
    /// A string. All but ASCII is written as it is.
    pub fn text(text: &str) -> Self {
        let mut raw = Vec::with_capacity(text.len() + 2);
        write_string(text, &mut raw);
        Self::Raw(raw)
    }

    /// An object with these members.
    pub fn object<const N: usize>(members: [(&'static str, Self); N]) -> Self {
        Self::Object(members.into_iter().map(|(key, value)| (Cow::Borrowed(key), value)).collect())
    }

    /// The JSON text of it on one line; `None` if it has a value of a document.
    pub fn json(&self) -> Option<String> {
        let inner =
            |pieces: Vec<Option<String>>| Some(pieces.into_iter().collect::<Option<Vec<_>>>()?.join(", "));
        match self {
            Self::Node(_) => None,
            Self::Raw(raw) => Some(String::from_utf8_lossy(raw).into_owned()),
            Self::List(elements) => Some(format!("[{}]", inner(elements.iter().map(Self::json).collect())?)),
            Self::Object(members) => {
                let member = |(key, value): &(Cow<'static, str>, Self)| {
                    Some(format!("{}: {}", Self::text(key).json()?, value.json()?))
                };
                Some(format!("{{{}}}", inner(members.iter().map(member).collect())?))
            }
        }
    }
}

/// Writes a string with its quotes.
fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for character in text.chars() {
        match character {
            '"' => out.extend_from_slice(b"\\\""),
            '\\' => out.extend_from_slice(b"\\\\"),
            '\n' => out.extend_from_slice(b"\\n"),
            '\r' => out.extend_from_slice(b"\\r"),
            '\t' => out.extend_from_slice(b"\\t"),
            control if u32::from(control) < 0x20 => {
                out.extend_from_slice(format!("\\u{:04x}", u32::from(control)).as_bytes());
            }
            other => out.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
}

/// A member of an object that is written anew.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Entry {
    /// A child of the document: an element, or a member with its key.
    Old(NodeId),
    /// A child of the document, with another key.
    Renamed(NodeId, Cow<'static, str>),
    /// A child of the document that is removed. Its place shows where its siblings are.
    Gone(NodeId),
    /// A value without a key, in a list.
    Element(Piece),
    Member(Cow<'static, str>, Piece),
}

/// What a value becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Change {
    Value(Piece),
    Children(Vec<Entry>),
}

/// Changes to a document. A change that a value doesn't allow, such as a new member of a string, changes nothing: what
/// stands in a document may be anything.
#[derive(Debug, Clone)]
pub struct Edits<'d, 's> {
    document: &'d Document<'s>,
    changes: HashMap<NodeId, Change>,
}

impl<'d, 's> Edits<'d, 's> {
    /// No changes to a document.
    pub fn new(document: &'d Document<'s>) -> Self {
        Self { document, changes: HashMap::default() }
    }

    /// Whether nothing is changed.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Replaces a value. Its key stays. A later change of the same value takes the place of this one.
    pub fn replace(&mut self, node: NodeId, piece: Piece) {
        self.changes.insert(node, Change::Value(piece));
    }

    /// Sets the elements of a list, in their order. Those that it had and that are not among them are removed.
    pub fn set_elements(&mut self, list: NodeId, elements: impl IntoIterator<Item = Piece>) {
        if !self.document.value(list).is_array() {
            return;
        }
        let entry = |piece| match piece {
            Piece::Node(node) if self.document.value(node).key_span().is_none() => Entry::Old(node),
            piece => Entry::Element(piece),
        };
        let entries = elements.into_iter().map(entry).collect();
        self.changes.insert(list, Change::Children(entries));
    }

    /// Adds a member to an object, after all others. If it has one with this key, or is to have one, that gets the value
    /// instead.
    pub fn set_member(&mut self, object: NodeId, key: impl Into<Cow<'static, str>>, piece: Piece) {
        let (key, document) = (key.into(), self.document);
        if !self.changes.contains_key(&object)
            && let Some(old) = document.value(object).get(&key)
        {
            return self.replace(old.id(), piece);
        }
        let Some(entries) = self.entries(object) else { return };
        let has_key = |entry: &&mut Entry| match &**entry {
            Entry::Old(node) => document.value(*node).key_text().is_some_and(|own| own == key),
            Entry::Renamed(_, own) | Entry::Member(own, _) => *own == key,
            Entry::Element(_) | Entry::Gone(_) => false,
        };
        // Of members with the same key, the last one counts.
        match entries.iter_mut().rev().find(has_key) {
            Some(Entry::Old(node) | Entry::Renamed(node, _)) => {
                let node = *node;
                self.replace(node, piece);
            }
            Some(Entry::Member(_, own)) => *own = piece,
            _ => entries.push(Entry::Member(key, piece)),
        }
    }

    /// Removes a member of an object, with its key.
    pub fn remove_member(&mut self, object: NodeId, member: NodeId) {
        if let Some(entry) = self.entry(object, member) {
            *entry = Entry::Gone(member);
        }
    }

    /// Gives a member of an object another key.
    pub fn rename_member(&mut self, object: NodeId, member: NodeId, key: impl Into<Cow<'static, str>>) {
        if let Some(entry) = self.entry(object, member).filter(|entry| **entry == Entry::Old(member)) {
            *entry = Entry::Renamed(member, key.into());
        }
    }

    /// The entry of a member. Those of the document are in its order, before all others.
    fn entry(&mut self, object: NodeId, member: NodeId) -> Option<&mut Entry> {
        let number = |entry: &Entry| match entry {
            Entry::Old(node) | Entry::Renamed(node, _) | Entry::Gone(node) => Some(*node),
            Entry::Element(_) | Entry::Member(..) => None,
        };
        let entries = self.entries(object)?;
        let at = entries.partition_point(|entry| number(entry).is_some_and(|own| own < member));
        entries.get_mut(at).filter(|entry| number(entry) == Some(member))
    }

    /// The members that an object is to have. `None` if the value is not one.
    fn entries(&mut self, object: NodeId) -> Option<&mut Vec<Entry>> {
        let value = Some(self.document.value(object)).filter(|value| value.is_object())?;
        let all = || Change::Children(value.members().map(|member| Entry::Old(member.id())).collect());
        let change = self.changes.entry(object).or_insert_with(all);
        if !matches!(change, Change::Children(_)) {
            *change = all();
        }
        match change {
            Change::Children(entries) => Some(entries),
            Change::Value(_) => None,
        }
    }

    /// The changed text; the document's own if nothing is changed.
    pub fn apply(&self) -> Cow<'s, [u8]> {
        let bytes = self.document.bytes();
        if self.is_empty() {
            return Cow::Borrowed(bytes);
        }
        let mut nodes: Vec<NodeId> = self.changes.keys().copied().collect();
        nodes.sort_unstable();
        let writer = Writer { edits: self, nodes, bytes };
        let mut out = Vec::with_capacity(bytes.len() + bytes.len() / 8 + 64);
        writer.copy(Span::new(0, bytes.len() as u32), NodeId::ROOT, &mut out);
        Cow::Owned(out)
    }
}

/// How the children of a new value are spaced.
#[derive(Debug, Clone, Copy)]
struct Spacing<'s> {
    /// What a line begins with, before the indentation of the children; `None` if all is on one line.
    line: Option<&'s [u8]>,
    step: &'s [u8],
    /// What is between a key and its value.
    colon: &'s [u8],
    /// What is between two children on one line.
    comma: &'s [u8],
}

struct Writer<'e, 'd, 's> {
    edits: &'e Edits<'d, 's>,
    /// The changed values, in the order of the text.
    nodes: Vec<NodeId>,
    bytes: &'s [u8],
}

impl<'s> Writer<'_, '_, 's> {
    fn value(&self, node: NodeId) -> Value<'_, 's> {
        self.edits.document.value(node)
    }

    /// Copies a part of the text, with the changes of the values in it. `from` is the first of these values.
    fn copy(&self, span: Span, from: NodeId, out: &mut Vec<u8>) {
        let mut at = span.start;
        let first = self.nodes.partition_point(|node| *node < from);
        for &node in &self.nodes[first..] {
            let own = self.value(node).span();
            if own.start >= span.end {
                break;
            }
            if own.start < at {
                continue;
            }
            out.extend_from_slice(&self.bytes[at as usize..own.start as usize]);
            self.changed(node, out);
            at = own.end.max(at);
        }
        out.extend_from_slice(&self.bytes[(at as usize).min(span.end as usize)..span.end as usize]);
    }

    /// Writes a value that is changed.
    fn changed(&self, node: NodeId, out: &mut Vec<u8>) {
        match &self.edits.changes[&node] {
            Change::Value(piece) => self.piece(piece, self.spacing_of(self.value(node)), 0, out),
            Change::Children(entries) => {
                let is_left = |entry: &&Entry| !matches!(entry, Entry::Gone(_));
                let left: Vec<&Entry> = entries.iter().filter(is_left).collect();
                self.children(self.value(node), &left, out);
            }
        }
    }

    /// The span of a child with its key.
    fn span_of(&self, node: NodeId) -> Span {
        self.value(node).member_span()
    }

    /// Writes a list or an object with other children. What is between two children that stay side by side stays too.
    fn children(&self, parent: Value<'_, 's>, entries: &[&Entry], out: &mut Vec<u8>) {
        let whole = parent.span();
        let old: Vec<Span> = parent.children().map(Value::member_span).collect();
        let (Some(first), Some(last)) = (old.first(), old.last()) else {
            return self.fill_empty(parent, entries, out);
        };
        if parent.is_array() && (parent.raw().first() != Some(&b'[') || first.start == whole.start) {
            return self.records(parent, &old, entries, out);
        }
        let raw = |start: u32, end: u32| &self.bytes[start as usize..end as usize];
        let lead = raw(whole.start, first.start);
        if entries.is_empty() {
            out.extend_from_slice(&lead[..1]);
            out.push(self.bytes[whole.end as usize - 1]);
            return;
        }
        let gap_before: HashMap<u32, &[u8]> =
            old.windows(2).map(|pair| (pair[1].start, raw(pair[0].end, pair[1].start))).collect();
        let gap_after: HashMap<u32, &[u8]> =
            old.windows(2).map(|pair| (pair[0].start, raw(pair[0].end, pair[1].start))).collect();
        let spacing = self.spacing_in(parent);
        let alone: Vec<u8> =
            if lead.len() > 1 { [b",", &lead[1..]].concat() } else { spacing.comma.to_vec() };
        let usual = match old.get(1) {
            Some(second) => raw(first.end, second.start),
            None => &alone,
        };
        out.extend_from_slice(lead);
        let mut before: Option<u32> = None;
        for (number, entry) in entries.iter().enumerate() {
            let start = match entry {
                Entry::Old(node) | Entry::Renamed(node, _) => Some(self.span_of(*node).start),
                _ => None,
            };
            if number > 0 {
                let own = start.and_then(|start| gap_before.get(&start).copied());
                let gap = own.or_else(|| before.and_then(|before| gap_after.get(&before).copied()));
                out.extend_from_slice(gap.filter(|gap| is_comma(gap)).unwrap_or(if is_comma(usual) {
                    usual
                } else {
                    b","
                }));
            }
            self.entry(entry, spacing, out);
            before = start;
        }
        out.extend_from_slice(raw(last.end, whole.end));
    }

    /// Writes other records than a file has. Each is on a line of its own.
    fn records(&self, all: Value<'_, 's>, old: &[Span], entries: &[&Entry], out: &mut Vec<u8>) {
        let whole = all.span();
        let (first, last) = (old[0], old[old.len() - 1]);
        let raw = |start: u32, end: u32| &self.bytes[start as usize..end as usize];
        let gap_before: HashMap<u32, &[u8]> =
            old.windows(2).map(|pair| (pair[1].start, raw(pair[0].end, pair[1].start))).collect();
        let tail = raw(last.end, whole.end);
        let is_windows =
            gap_before.get(&old.get(1).unwrap_or(&first).start).unwrap_or(&tail).ends_with(b"\r\n");
        let line_end: &[u8] = if is_windows { b"\r\n" } else { b"\n" };
        let spacing = Spacing { line: None, ..self.spacing_of(all) };
        out.extend_from_slice(raw(whole.start, first.start));
        for (number, entry) in entries.iter().enumerate() {
            let gap = match entry {
                Entry::Old(node) => gap_before.get(&self.span_of(*node).start).copied(),
                _ => None,
            };
            if number > 0 {
                out.extend_from_slice(gap.filter(|gap| gap.contains(&b'\n')).unwrap_or(line_end));
            }
            self.entry(entry, spacing, out);
        }
        out.extend_from_slice(tail);
    }

    /// Writes the children of a list or an object that has none.
    fn fill_empty(&self, parent: Value<'_, 's>, entries: &[&Entry], out: &mut Vec<u8>) {
        let raw = parent.raw();
        if entries.is_empty() || raw.len() < 2 {
            out.extend_from_slice(raw);
            return;
        }
        let spacing = self.spacing_of(parent);
        out.push(raw[0]);
        for (number, entry) in entries.iter().enumerate() {
            if number > 0 {
                out.extend_from_slice(spacing.comma);
            }
            self.entry(entry, Spacing { line: None, ..spacing }, out);
        }
        out.push(raw[raw.len() - 1]);
    }

    fn entry(&self, entry: &Entry, spacing: Spacing<'_>, out: &mut Vec<u8>) {
        match entry {
            Entry::Old(node) => self.copy(self.span_of(*node), *node, out),
            Entry::Renamed(node, key) => {
                write_string(key, out);
                let span = self.span_of(*node);
                let after_key = self.value(*node).key_span().map_or(span.start, |key| key.end);
                self.copy(Span::new(after_key, span.end), *node, out);
            }
            Entry::Gone(_) => {}
            Entry::Element(piece) => self.piece(piece, spacing, 0, out),
            Entry::Member(key, piece) => {
                write_string(key, out);
                out.extend_from_slice(spacing.colon);
                self.piece(piece, spacing, 0, out);
            }
        }
    }

    fn piece(&self, piece: &Piece, spacing: Spacing<'_>, depth: usize, out: &mut Vec<u8>) {
        match piece {
            Piece::Node(node) => {
                // The value itself may be the one that is changed into this: then it is written as it was. JSON text has no values
                // of the document in it.
                let span = self.value(*node).span();
                let change = self.edits.changes.get(node);
                if matches!(change, Some(Change::Value(piece)) if !matches!(piece, Piece::Raw(_))) {
                    out.extend_from_slice(&self.bytes[span.range()]);
                } else {
                    self.copy(span, *node, out);
                }
            }
            Piece::Raw(raw) => out.extend_from_slice(raw),
            Piece::List(items) => {
                self.bracketed(b"[]", items.len(), spacing, depth, out, |number, out| {
                    self.piece(&items[number], spacing, depth + 1, out);
                });
            }
            Piece::Object(members) => {
                self.bracketed(b"{}", members.len(), spacing, depth, out, |number, out| {
                    let (key, value) = &members[number];
                    write_string(key, out);
                    out.extend_from_slice(spacing.colon);
                    self.piece(value, spacing, depth + 1, out);
                });
            }
        }
    }

    fn bracketed(
        &self,
        brackets: &[u8; 2],
        count: usize,
        spacing: Spacing<'_>,
        depth: usize,
        out: &mut Vec<u8>,
        write: impl Fn(usize, &mut Vec<u8>),
    ) {
        let new_line = |depth: usize, out: &mut Vec<u8>| {
            if let Some(line) = spacing.line.filter(|_| count > 0) {
                out.extend_from_slice(line);
                (0..depth).for_each(|_| out.extend_from_slice(spacing.step));
            }
        };
        out.push(brackets[0]);
        for number in 0..count {
            if number > 0 {
                out.extend_from_slice(if spacing.line.is_some() { b"," } else { spacing.comma });
            }
            new_line(depth + 1, out);
            write(number, out);
        }
        new_line(depth, out);
        out.push(brackets[1]);
    }

    /// How a new child of a list or an object is spaced: like the first child that has children.
    fn spacing_in(&self, parent: Value<'_, 's>) -> Spacing<'s> {
        let model = parent.children().find(|child| child.children().next().is_some());
        let own = |parent: Value<'_, 's>| {
            let first = parent.children().next()?;
            self.line_before(first.member_span().start)
        };
        let Some(model) = model else {
            return Spacing { line: None, ..self.spacing_of(parent) };
        };
        let spacing = self.spacing_of(model);
        let (Some(inner), Some(outer)) = (own(model), own(parent)) else {
            return Spacing { line: None, ..spacing };
        };
        // The children's lines are indented one step more than the line of their parent.
        match inner.strip_prefix(outer) {
            Some(step) if !step.is_empty() => Spacing { line: Some(outer), step, ..spacing },
            _ => Spacing { line: None, ..spacing },
        }
    }

    /// The line break and the indentation right before a place, if only that is before it in its line.
    fn line_before(&self, start: u32) -> Option<&'s [u8]> {
        let before = &self.bytes[..start as usize];
        let blank = before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let at = before.len() - blank;
        match before[..at] {
            [.., b'\r', b'\n'] => Some(&before[at - 2..]),
            [.., b'\n'] => Some(&before[at - 1..]),
            _ => None,
        }
    }

    /// How keys and values are spaced near a value: as in the first object of several members around it or in the text.
    fn spacing_of(&self, near: Value<'_, 's>) -> Spacing<'s> {
        let usual = Spacing { line: None, step: b"", colon: b": ", comma: b", " };
        let root = self.edits.document.root();
        let sample = [near, root]
            .into_iter()
            .find(|value| matches!(value.kind(), Kind::Object) && value.members().next().is_some());
        let elements = || root.elements().find(|value| value.members().next().is_some());
        let Some(sample) = sample.or_else(elements) else { return usual };
        let mut members = sample.members();
        let Some(first) = members.next() else { return usual };
        let after_key =
            first.key_span().map(|key| &self.bytes[key.end as usize..first.span().start as usize]);
        let colon = after_key.filter(|gap| gap.contains(&b':') && gap.len() <= 4 && is_blank_but(gap, b':'));
        let is_tight = colon.is_some_and(|gap| gap == b":");
        Spacing {
            colon: colon.unwrap_or(usual.colon),
            comma: if is_tight { b"," } else { usual.comma },
            ..usual
        }
    }
}

/// Whether what is between two children is a comma and whitespace.
fn is_comma(gap: &[u8]) -> bool {
    is_blank_but(gap, b',')
}

/// Whether a text is whitespace with one such byte.
fn is_blank_but(gap: &[u8], other: u8) -> bool {
    gap.iter().filter(|byte| **byte == other).count() == 1
        && gap.iter().all(|byte| *byte == other || byte.is_ascii_whitespace())
}
