//! Documents: an arena of nodes, and views of its values.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::ops::Range;

use foldhash::HashMap;

use crate::string::JsonStr;
use crate::{SyntaxError, parse};

/// A half-open range of bytes in the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    /// The span from `start` to `end`.
    pub fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// The span as a range of indices.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The smallest span that contains both.
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Whether `other` is inside this span.
    pub fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// The id of a value in its document. Ids are in the order of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(crate) u32);

impl NodeId {
    /// The document's outermost value.
    pub const ROOT: Self = Self(0);

    /// Its index among the values of its document.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The kind of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number, kept as written.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
    /// Something that is not a JSON value and is reported as a fault, or a missing value.
    Invalid,
}

impl Kind {
    /// The name of the kind in JSON Schema.
    pub fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "boolean",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
            Self::Invalid => "invalid",
        }
    }
}

/// A value in the arena.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// The key's span with its quotes; empty if the value has no key.
    pub(crate) key_start: u32,
    pub(crate) key_end: u32,
    /// The index of the node after this one and all its descendants.
    pub(crate) next: u32,
    pub(crate) kind: Kind,
    pub(crate) flags: u8,
    /// The keys of an object in short, and none for other values: see [`may_have`](crate::parse::may_have).
    pub(crate) keys: u16,
}

/// The string contains a backslash.
pub(crate) const ESCAPED: u8 = 1;
/// The key contains a backslash.
pub(crate) const KEY_ESCAPED: u8 = 2;
/// The string has no closing quote.
pub(crate) const UNTERMINATED: u8 = 4;
/// The value has a key.
pub(crate) const KEYED: u8 = 8;
/// Two keys of this object may be equal.
pub(crate) const MAYBE_DUPLICATE: u8 = 16;

/// The memory of a document, which is reused for the next one. What is small is kept when it is dropped, because most texts
/// that are read by themselves are short: the arguments of a call, or the tools of a row.
#[derive(Debug)]
pub struct Arena {
    pub(crate) nodes: Vec<Node>,
    pub(crate) stack: Vec<parse::Frame>,
    pub(crate) faults: Vec<SyntaxError>,
    /// Whether an object may have two equal keys.
    pub(crate) maybe_duplicate: bool,
    /// The most arrays and objects that are inside one another.
    pub(crate) depth: usize,
    /// How many halves of characters are not among the faults.
    pub(crate) halves_left_out: usize,
    /// The most values that are read.
    pub(crate) most_values: usize,
}

/// The memory for values and for open arrays and objects.
type Memory = (Vec<Node>, Vec<parse::Frame>);

/// The most memory of documents that a thread keeps, and the most values and open objects that there is room for in each.
const KEPT: usize = 4;
const MOST_KEPT_VALUES: usize = 4096;
const MOST_KEPT_DEPTH: usize = 256;

thread_local! {
    static FREE: RefCell<Vec<Memory>> = const { RefCell::new(Vec::new()) };
}

impl Default for Arena {
    fn default() -> Self {
        let free = FREE.try_with(|free| free.try_borrow_mut().ok()?.pop()).ok().flatten();
        let (nodes, stack) = free.unwrap_or_default();
        Self {
            nodes,
            stack,
            faults: Vec::new(),
            maybe_duplicate: false,
            depth: 0,
            halves_left_out: 0,
            most_values: parse::MOST_VALUES,
        }
    }
}

impl Arena {
    /// Memory for a document of which no more than so many values are read.
    pub fn of_most(values: usize) -> Self {
        let mut arena = Self::default();
        // Where there is room already, it is used.
        (arena.nodes, arena.most_values) = (Vec::new(), values);
        arena
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        let is_small = self.nodes.capacity() <= MOST_KEPT_VALUES && self.stack.capacity() <= MOST_KEPT_DEPTH;
        if self.nodes.capacity() == 0 || !is_small {
            return;
        }
        let memory = (std::mem::take(&mut self.nodes), std::mem::take(&mut self.stack));
        // A thread that ends keeps nothing.
        let _ = FREE.try_with(|free| {
            let Ok(mut free) = free.try_borrow_mut() else { return };
            if free.len() < KEPT {
                free.push(memory);
            }
        });
    }
}

/// A JSON text that has been read: a flat arena of values, each with its span.
pub struct Document<'s> {
    pub(crate) bytes: &'s [u8],
    /// The same bytes as text, if all of them are UTF-8.
    pub(crate) text: Option<&'s str>,
    pub(crate) arena: Arena,
    pub(crate) faults_left_out: usize,
}

impl fmt::Debug for Document<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Document")
            .field("bytes", &self.bytes.len())
            .field("nodes", &self.arena.nodes.len())
            .field("faults", &self.arena.faults)
            .finish()
    }
}

impl<'s> Document<'s> {
    /// Reads one JSON text. This never fails: see [`Self::faults`].
    pub fn read(bytes: &'s [u8]) -> Self {
        Self::read_in(bytes, Arena::default())
    }

    /// Reads one JSON text into the memory of an earlier document.
    pub fn read_in(bytes: &'s [u8], arena: Arena) -> Self {
        parse::document(bytes, arena)
    }

    /// The document of a text without faults whose values are known.
    pub(crate) fn of_arena(bytes: &'s [u8], arena: Arena) -> Self {
        Self { bytes, text: simdutf8::basic::from_utf8(bytes).ok(), arena, faults_left_out: 0 }
    }

    /// The memory of the document, for the next one.
    pub fn into_arena(self) -> Arena {
        self.arena
    }

    /// The text that was read.
    pub fn bytes(&self) -> &'s [u8] {
        self.bytes
    }

    /// The faults of the text, in the order of the text.
    pub fn faults(&self) -> &[SyntaxError] {
        &self.arena.faults
    }

    /// The number of further faults, which are not kept.
    pub fn faults_left_out(&self) -> usize {
        self.faults_left_out
    }

    /// The number of further halves of characters, which are not kept as faults.
    pub fn halves_left_out(&self) -> usize {
        self.arena.halves_left_out
    }

    /// The outermost value. If the text has no value, it is one of [`Kind::Invalid`], and a fault says why.
    pub fn root(&self) -> Value<'_, 's> {
        Value { document: self, id: NodeId::ROOT.0 }
    }

    /// The value with this id, which must come from this document.
    #[inline]
    pub fn value(&self, id: NodeId) -> Value<'_, 's> {
        assert!((id.0 as usize) < self.arena.nodes.len(), "the node belongs to another document");
        Value { document: self, id: id.0 }
    }

    /// The innermost value that contains the byte at `offset`; at the end of the text, the byte before it.
    pub fn innermost(&self, offset: u32) -> NodeId {
        let offset = offset.min((self.bytes.len() as u32).saturating_sub(1));
        let mut at = self.root();
        while let Some(inner) =
            at.children().find(|child| child.span().start <= offset && offset < child.span().end)
        {
            at = inner;
        }
        NodeId(at.id)
    }

    /// The last value that starts at this byte or before it: the string that the byte is in, or the value that starts
    /// there.
    pub fn last_at(&self, offset: u32) -> NodeId {
        // Values are in the order of the text.
        let next = self.arena.nodes.partition_point(|node| node.start <= offset);
        NodeId(next.saturating_sub(1) as u32)
    }

    /// The number of values: at least one.
    pub fn value_count(&self) -> usize {
        self.arena.nodes.len()
    }

    /// The members with the same key as an earlier member of their object, as pairs of the earlier and the later one.
    ///
    /// Linear in the number of members. Reading the text already rules out most objects.
    pub fn duplicate_keys(&self) -> Vec<(Value<'_, 's>, Value<'_, 's>)> {
        let mut found = Vec::new();
        if !self.arena.maybe_duplicate {
            return found;
        }
        for (id, node) in self.arena.nodes.iter().enumerate() {
            if node.flags & MAYBE_DUPLICATE == 0 {
                continue;
            }
            let object = Value { document: self, id: id as u32 };
            let mut seen: HashMap<Cow<'s, str>, Value<'_, 's>> = HashMap::default();
            for member in object.children() {
                let Some(key) = member.key() else { continue };
                match seen.entry(key.decode()) {
                    std::collections::hash_map::Entry::Occupied(first) => found.push((*first.get(), member)),
                    std::collections::hash_map::Entry::Vacant(entry) => {
                        entry.insert(member);
                    }
                }
            }
        }
        crate::sort_by_position(&mut found, |(_, again)| again.id as usize);
        found
    }

    #[inline]
    fn node(&self, id: u32) -> &Node {
        &self.arena.nodes[id as usize]
    }

    /// The number of the member of an object with this key, the last one if there are several; that of the root, which is
    /// no member, if there is none.
    #[inline(never)]
    fn find(&self, object: u32, key: &str) -> u32 {
        let (nodes, object_node) = (&*self.arena.nodes, self.node(object));
        // The quotes are a part of its span.
        let length = key.len() as u32 + 2;
        let (mut at, mut found) = (object + 1, NodeId::ROOT.0);
        while at < object_node.next
            && let Some(member) = nodes.get(at as usize)
        {
            let is_it = if member.flags & KEY_ESCAPED != 0 {
                Value { document: self, id: at }.has_key(key)
            } else {
                let start = member.key_start as usize + 1;
                member.key_end.wrapping_sub(member.key_start) == length
                    && self.bytes.get(start..start + key.len()).is_some_and(|own| same(own, key.as_bytes()))
            };
            if is_it {
                if object_node.flags & MAYBE_DUPLICATE == 0 && object_node.keys != u16::MAX {
                    return at;
                }
                found = at;
            }
            at = member.next;
        }
        found
    }

    #[inline]
    fn string(&self, span: Span, flags: (bool, bool)) -> JsonStr<'s> {
        let (escaped, unterminated) = flags;
        let end = if unterminated { span.end } else { span.end.saturating_sub(1) };
        JsonStr::new(self.bytes.get(span.start as usize + 1..end as usize).unwrap_or_default(), escaped)
    }
}

/// A value of a document.
#[derive(Clone, Copy)]
pub struct Value<'d, 's> {
    document: &'d Document<'s>,
    id: u32,
}

impl fmt::Debug for Value<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(self.raw()))
    }
}

impl PartialEq for Value<'_, '_> {
    /// Whether both are the same value of the same document.
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.document, other.document) && self.id == other.id
    }
}

impl<'d, 's> Value<'d, 's> {
    #[inline]
    fn node(self) -> &'d Node {
        self.document.node(self.id)
    }

    /// The document that the value belongs to.
    pub fn document(self) -> &'d Document<'s> {
        self.document
    }

    /// The id of the value in its document.
    pub fn id(self) -> NodeId {
        NodeId(self.id)
    }

    /// The kind of the value.
    #[inline]
    pub fn kind(self) -> Kind {
        self.node().kind
    }

    /// The span of the value, including quotes and brackets.
    #[inline]
    pub fn span(self) -> Span {
        let node = self.node();
        Span::new(node.start, node.end)
    }

    /// The span of the key, including quotes.
    pub fn key_span(self) -> Option<Span> {
        let node = self.node();
        (node.flags & KEYED != 0).then(|| Span::new(node.key_start, node.key_end))
    }

    /// The span of the member: key, colon and value. Only the value if it has no key.
    pub fn member_span(self) -> Span {
        self.key_span().map_or(self.span(), |key| key.to(self.span()))
    }

    /// The value as it is written in the text.
    pub fn raw(self) -> &'s [u8] {
        &self.document.bytes[self.span().range()]
    }

    /// The key, if the value is a member of an object.
    pub fn key(self) -> Option<JsonStr<'s>> {
        let flags = self.node().flags;
        self.key_span().map(|span| self.document.string(span, (flags & KEY_ESCAPED != 0, false)))
    }

    /// The key's text, if the value is a member of an object.
    #[inline]
    pub fn key_text(self) -> Option<Cow<'s, str>> {
        let node = self.node();
        if node.flags & (KEYED | KEY_ESCAPED) == KEYED
            && let Some(text) = self.document.text
        {
            return text.get(node.key_start as usize + 1..node.key_end as usize - 1).map(Cow::Borrowed);
        }
        self.key().map(JsonStr::decode)
    }

    /// The bytes of the key, if the value is a member and its key has no escapes: cheaper than its text.
    #[inline]
    pub fn plain_key(self) -> Option<&'s [u8]> {
        let node = self.node();
        let is_plain = node.flags & (KEYED | KEY_ESCAPED) == KEYED;
        is_plain.then(|| &self.document.bytes[node.key_start as usize + 1..node.key_end as usize - 1])
    }

    /// Whether the value is a member with this key.
    #[inline]
    pub fn has_key(self, key: &str) -> bool {
        let node = self.node();
        if node.flags & (KEYED | KEY_ESCAPED) == KEYED {
            let (start, end) = (node.key_start as usize + 1, node.key_end as usize - 1);
            return end - start == key.len() && same(&self.document.bytes[start..end], key.as_bytes());
        }
        self.key().is_some_and(|own| own.eq_str(key))
    }

    /// Whether it is `null`, or a text, a list or an object without anything in it.
    pub fn says_nothing(self) -> bool {
        match self.kind() {
            Kind::Null => true,
            Kind::String => self.as_json_str().is_some_and(|text| text.is_empty()),
            Kind::Array | Kind::Object => self.children().next().is_none(),
            _ => false,
        }
    }

    /// Whether the value is written like this in the text.
    #[inline]
    pub fn is_written(self, raw: &[u8]) -> bool {
        let node = self.node();
        (node.end - node.start) as usize == raw.len()
            && same(&self.document.bytes[node.start as usize..node.end as usize], raw)
    }

    /// The string, if the value is one.
    #[inline]
    pub fn as_json_str(self) -> Option<JsonStr<'s>> {
        let node = self.node();
        (node.kind == Kind::String).then(|| {
            self.document.string(self.span(), (node.flags & ESCAPED != 0, node.flags & UNTERMINATED != 0))
        })
    }

    /// The string's text, if the value is one.
    #[inline]
    pub fn as_str(self) -> Option<Cow<'s, str>> {
        let node = self.node();
        if node.kind == Kind::String
            && node.flags & (ESCAPED | UNTERMINATED) == 0
            && let Some(text) = self.document.text
        {
            return text.get(node.start as usize + 1..node.end as usize - 1).map(Cow::Borrowed);
        }
        self.as_json_str().map(JsonStr::decode)
    }

    /// The Boolean, if the value is one.
    pub fn as_bool(self) -> Option<bool> {
        (self.kind() == Kind::Bool).then(|| self.raw() == b"true")
    }

    /// The number, if the value is an integer that fits into a `u64`.
    pub fn as_u64(self) -> Option<u64> {
        let digits = std::str::from_utf8(self.raw()).ok().filter(|_| self.kind() == Kind::Number)?;
        digits.parse().ok()
    }

    /// Whether the value is `null`.
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// Whether the value is a string.
    pub fn is_string(self) -> bool {
        self.as_json_str().is_some()
    }

    /// Whether the value is an object.
    pub fn is_object(self) -> bool {
        self.kind() == Kind::Object
    }

    /// Whether the value is an array.
    pub fn is_array(self) -> bool {
        self.kind() == Kind::Array
    }

    /// The number of values in it, including itself.
    pub fn count(self) -> usize {
        let node = self.node();
        if matches!(node.kind, Kind::Array | Kind::Object) { (node.next - self.id) as usize } else { 1 }
    }

    /// The elements of an array or the members of an object; nothing for other values.
    #[inline]
    pub fn children(self) -> Children<'d, 's> {
        let node = self.node();
        let end = if matches!(node.kind, Kind::Array | Kind::Object) { node.next } else { self.id + 1 };
        Children { document: self.document, at: self.id + 1, end }
    }

    /// The elements of an array; nothing for other values.
    #[inline]
    pub fn elements(self) -> Children<'d, 's> {
        let mut children = self.children();
        if self.kind() != Kind::Array {
            children.at = children.end;
        }
        children
    }

    /// The members of an object; nothing for other values.
    #[inline]
    pub fn members(self) -> Children<'d, 's> {
        let mut children = self.children();
        if self.kind() != Kind::Object {
            children.at = children.end;
        }
        children
    }

    /// Whether two members may have one key. Otherwise, none have.
    #[inline]
    pub fn may_repeat_keys(self) -> bool {
        self.node().flags & MAYBE_DUPLICATE != 0
    }

    /// The member with this key. If there are several, the last one, as in `JSON.parse` and Python's
    /// `json`.
    #[inline]
    pub fn get(self, key: &str) -> Option<Self> {
        // Most keys that are asked for are not there: the glance is a part of the caller, who knows the key.
        if !parse::may_have(self.node().keys, key) {
            return None;
        }
        let id = self.document.find(self.id, key);
        (id != NodeId::ROOT.0).then_some(Value { document: self.document, id })
    }

    /// The member with the first of these keys that exists.
    #[inline]
    pub fn get_any(self, keys: &[&str]) -> Option<Self> {
        keys.iter().find_map(|key| self.get(key))
    }

    /// What these keys lead to, each in the member of the one before it.
    pub fn get_in(self, keys: &[&str]) -> Option<Self> {
        keys.iter().try_fold(self, |value, key| value.get(key))
    }

    /// The elements of the array under a key; nothing if there is none.
    pub fn list(self, key: &str) -> Children<'d, 's> {
        let children = self.children();
        self.get(key).map_or(Children { at: children.end, ..children }, Self::elements)
    }

    /// The text of the member with this key, if it is a string.
    pub fn get_str(self, key: &str) -> Option<Cow<'s, str>> {
        self.get(key)?.as_str()
    }

    /// Whether the member with this key is this text.
    pub fn is(self, key: &str, text: &str) -> bool {
        self.get_str(key).is_some_and(|own| own == text)
    }

    /// Whether the member with this key is one of these texts.
    pub fn is_one_of(self, key: &str, texts: &[&str]) -> bool {
        self.get_str(key).is_some_and(|own| texts.contains(&&*own))
    }

    /// Whether the member with this key is `true`.
    pub fn is_true(self, key: &str) -> bool {
        self.get(key).and_then(Self::as_bool) == Some(true)
    }

    /// Whether the member with this key is an array.
    pub fn has_list(self, key: &str) -> bool {
        self.get(key).is_some_and(Self::is_array)
    }

    /// Whether the member with this key is an object.
    pub fn has_object(self, key: &str) -> bool {
        self.get(key).is_some_and(Self::is_object)
    }

    /// Whether the member with this key is a string.
    pub fn has_text(self, key: &str) -> bool {
        self.get(key).is_some_and(Self::is_string)
    }

    /// Whether there is a member with this key.
    #[inline]
    pub fn has(self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Whether there is a member with each of these keys.
    pub fn has_all(self, keys: &[&str]) -> bool {
        keys.iter().all(|key| self.has(key))
    }
}

/// Whether two texts are equal. Most are as short as a key, and a call for each would show.
#[inline]
fn same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    match (one.first_chunk::<8>(), other.first_chunk::<8>()) {
        (Some(start), Some(other_start)) if one.len() <= 16 => {
            start == other_start && one.last_chunk::<8>() == other.last_chunk::<8>()
        }
        (Some(_), Some(_)) => one == other,
        _ => match (one.first_chunk::<4>(), other.first_chunk::<4>()) {
            (Some(start), Some(other_start)) => {
                start == other_start && one.last_chunk::<4>() == other.last_chunk::<4>()
            }
            _ => one.iter().zip(other).all(|(one, other)| one == other),
        },
    }
}

/// The children of a value, in the order of the text.
#[derive(Clone)]
pub struct Children<'d, 's> {
    document: &'d Document<'s>,
    at: u32,
    end: u32,
}

impl<'d, 's> Iterator for Children<'d, 's> {
    type Item = Value<'d, 's>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.end {
            return None;
        }
        let value = Value { document: self.document, id: self.at };
        self.at = self.document.node(self.at).next;
        Some(value)
    }
}
