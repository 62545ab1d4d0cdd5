//! Documents in which strings are replaced by the JSON that they say.
//!
//! A row of a data set has its calls as texts in its strings. Such a text is read once, by itself: its values are moved to
//! where they would be if the row were read again with the text in the place of its string.

use std::cell::{OnceCell, RefCell};

use crate::Decoded;
use crate::document::{Arena, Document, KEY_ESCAPED, KEYED, Node, NodeId, Span, Value};
use crate::encoded::put_on_one_line;
use crate::origins::Mapped;
use crate::parse::DEEPEST;

/// What a string says, read as JSON.
#[derive(Debug)]
pub struct Said<'s> {
    string: NodeId,
    span: Span,
    decoded: Decoded<'s>,
    nodes: Vec<Node>,
    maybe_duplicate: bool,
    depth: usize,
}

impl<'s> Said<'s> {
    /// What a string says, if that is JSON without a fault and as it is wanted: an array, an object or a string.
    pub fn wanted(value: Value<'_, 's>, is_wanted: impl FnOnce(Value<'_, '_>) -> bool) -> Option<Self> {
        let decoded = Decoded::new(value.as_json_str()?, value.span().start);
        if !decoded.text().trim_start().starts_with(['[', '{', '"']) {
            return None;
        }
        let document = Document::read(decoded.text().as_bytes());
        if !document.faults().is_empty() || !is_wanted(document.root()) {
            return None;
        }
        let arena = document.into_arena();
        // There may be many of them, so that each takes no more memory than it needs.
        let nodes = arena.nodes.to_vec();
        let Arena { maybe_duplicate, depth, .. } = arena;
        Some(Self { string: value.id(), span: value.span(), decoded, nodes, maybe_duplicate, depth })
    }

    /// The id of the string.
    pub fn string(&self) -> NodeId {
        self.string
    }
}

/// The text of a document with what some of its strings say in their places. Line ends become spaces, so that everything
/// stays on its line: in JSON, they are only white space.
///
/// ```
/// use toolcheck_json::{Document, Expanded, Said};
///
/// let document = Document::read(br#"{"messages": "[{\"role\": \"user\"}]"}"#);
/// let messages = document.root().get("messages").expect("the key is there");
/// let said = Said::wanted(messages, |said| said.is_array()).expect("it is a list");
/// let expanded = Expanded::new(&document, vec![said]);
/// assert_eq!(expanded.text(), br#"{"messages": [{"role": "user"}]}"#);
/// let opened = expanded.document();
/// let role = opened.root().get("messages").and_then(|list| list.elements().next()?.get("role"));
/// assert_eq!(role.and_then(|role| role.as_str()).as_deref(), Some("user"));
/// // The name of the role, with its quotes.
/// assert_eq!(expanded.mapped().source_of(23..29), Some(26..34));
/// ```
#[derive(Debug)]
pub struct Expanded<'s> {
    text: Vec<u8>,
    /// The bytes of the document, and what its strings say.
    bytes: &'s [u8],
    said: Vec<Said<'s>>,
    mapped: OnceCell<Mapped>,
    /// The values, until they are taken.
    arena: RefCell<Option<Arena>>,
}

impl<'s> Expanded<'s> {
    /// The text of a document with what these strings say, which are in the order of the text.
    pub fn new(document: &Document<'s>, mut said: Vec<Said<'s>>) -> Self {
        let bytes = document.bytes();
        let mut text = Vec::with_capacity(bytes.len());
        let mut at = 0;
        for one in &said {
            text.extend_from_slice(&bytes[at..one.span.start as usize]);
            let from = text.len();
            text.extend_from_slice(one.decoded.text().as_bytes());
            put_on_one_line(&mut text[from..]);
            at = one.span.end as usize;
        }
        text.extend_from_slice(&bytes[at..]);
        let arena = may_be_moved(document, &said, text.len()).then(|| moved(document, &said));
        said.iter_mut().for_each(|one| one.nodes = Vec::new());
        Self { text, bytes, said, mapped: OnceCell::new(), arena: RefCell::new(arena) }
    }

    /// The text.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The document of the text. It is read again if its memory was taken, and not put back.
    pub fn document(&self) -> Document<'_> {
        match self.arena.take() {
            Some(arena) => Document::of_arena(&self.text, arena),
            None => Document::read(&self.text),
        }
    }

    /// Puts the memory of the document back, for the next who asks for it.
    pub fn put_back(&self, arena: Arena) {
        self.arena.replace(Some(arena));
    }

    /// The text with the place of each of its bytes in the document.
    pub fn mapped(&self) -> &Mapped {
        self.mapped.get_or_init(|| match &self.said[..] {
            [] => Mapped::same(self.bytes, 0),
            said => Mapped::replaced(self.bytes, said.iter().map(|one| (one.span, &one.decoded))),
        })
    }

    /// The same, without the document.
    pub fn into_mapped(self) -> Mapped {
        self.mapped();
        self.mapped.into_inner().unwrap_or_default()
    }
}

impl From<Mapped> for Expanded<'_> {
    fn from(mapped: Mapped) -> Self {
        Self {
            text: mapped.text().to_vec(),
            bytes: &[],
            said: Vec::new(),
            mapped: OnceCell::from(mapped),
            arena: RefCell::new(None),
        }
    }
}

/// Whether a text of this length has just the values of a document and of what its strings say.
fn may_be_moved(document: &Document<'_>, said: &[Said<'_>], length: usize) -> bool {
    let arena = &document.arena;
    let depth = said.iter().map(|one| one.depth).max().unwrap_or_default();
    let values = said.iter().map(|one| one.nodes.len()).sum::<usize>();
    arena.faults.is_empty()
        && arena.depth + depth <= DEEPEST
        && arena.nodes.len() + values <= arena.most_values
        && u32::try_from(length).is_ok()
}

/// By how much the values after a number of strings are moved. The sums wrap, as a text may become shorter.
#[derive(Debug, Clone, Copy, Default)]
struct Shift {
    bytes: u32,
    values: u32,
}

impl Node {
    fn moved(self, to: Shift, end: Shift) -> Self {
        let key = if self.flags & KEYED == 0 { 0 } else { to.bytes };
        Self {
            start: self.start.wrapping_add(to.bytes),
            end: self.end.wrapping_add(end.bytes),
            key_start: self.key_start.wrapping_add(key),
            key_end: self.key_end.wrapping_add(key),
            next: self.next.wrapping_add(end.values),
            ..self
        }
    }
}

/// The values of a document with those of what strings say in the places of these.
fn moved(document: &Document<'_>, said: &[Said<'_>]) -> Arena {
    let outer = &document.arena.nodes;
    let mut arena = Arena::default();
    arena.maybe_duplicate = document.arena.maybe_duplicate || said.iter().any(|one| one.maybe_duplicate);
    arena.depth = document.arena.depth;
    arena.nodes.clear();
    arena.nodes.reserve(outer.len() + said.iter().map(|one| one.nodes.len()).sum::<usize>());
    let mut shifts = Vec::with_capacity(said.len() + 1);
    shifts.push(Shift::default());
    for one in said {
        let Shift { bytes, values } = shifts.last().copied().unwrap_or_default();
        let longer = (one.decoded.text().len() as u32).wrapping_sub(one.span.end - one.span.start);
        let more = (one.nodes.len() as u32).wrapping_sub(1);
        shifts.push(Shift { bytes: bytes.wrapping_add(longer), values: values.wrapping_add(more) });
    }
    // What a value contains is before the node after it.
    let shift_of_end = |node: &Node, before: usize| {
        let inside = said[before..].partition_point(|one| one.string.0 < node.next);
        shifts[before + inside]
    };
    let mut at = 0;
    for (number, shift) in shifts.iter().enumerate() {
        let string = said.get(number).map_or(outer.len(), |one| one.string.index());
        for node in &outer[at..string] {
            let is_leaf = node.next as usize <= string;
            let end = if is_leaf { *shift } else { shift_of_end(node, number) };
            arena.nodes.push(node.moved(*shift, end));
        }
        let Some(one) = said.get(number) else { break };
        let to = Shift { bytes: one.span.start.wrapping_add(shift.bytes), values: arena.nodes.len() as u32 };
        let root = arena.nodes.len();
        arena.nodes.extend(one.nodes.iter().map(|node| node.moved(to, to)));
        let string_node = outer[string].moved(*shift, *shift);
        if let Some(root) = arena.nodes.get_mut(root) {
            (root.key_start, root.key_end) = (string_node.key_start, string_node.key_end);
            root.flags |= string_node.flags & (KEYED | KEY_ESCAPED);
        }
        arena.depth = arena.depth.max(document.arena.depth + one.depth);
        at = string + 1;
    }
    arena
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// JSON of a few values, whose strings have what is written in other ways.
    fn json() -> impl Strategy<Value = String> {
        let string = prop::collection::vec(
            prop::sample::select(vec![
                "a",
                "\u{e9}",
                "\u{1F600}",
                "\\n",
                "\\\"",
                "\\\\",
                "\\u00e9",
                " ",
                "b~/",
            ]),
            0..5,
        )
        .prop_map(|parts| format!("\"{}\"", parts.concat()));
        let leaf = prop_oneof![
            string.clone(),
            prop::sample::select(vec!["1", "-2.5e3", "true", "null", "[]", "{}", "\"\\ud83d\\ude00\""])
                .prop_map(str::to_owned)
        ];
        leaf.prop_recursive(3, 24, 5, move |inner| {
            let space = prop::sample::select(vec!["", " ", "\n", "\r\n\t"]);
            let members = prop::collection::vec((string.clone(), space.clone(), inner.clone()), 0..5);
            let object = members.prop_map(|members| {
                let member = |(key, space, value)| format!("{space}{key}{space}:{space}{value}");
                format!("{{{}}}", members.into_iter().map(member).collect::<Vec<_>>().join(","))
            });
            let array = prop::collection::vec(inner, 0..5);
            let array = (array, space)
                .prop_map(|(values, space)| format!("[{space}{}{space}]", values.join(&format!("{space},"))));
            prop_oneof![object, array]
        })
    }

    /// A text as a JSON string, all of whose characters may be escapes.
    fn written(text: &str, is_ascii: bool) -> String {
        let json = serde_json::to_string(text).unwrap_or_default();
        let escaped = |character: char| {
            let mut units = [0; 2];
            let units = character.encode_utf16(&mut units).iter();
            units.map(|unit| format!("\\u{unit:04x}")).collect::<String>()
        };
        let each = |character: char| {
            if is_ascii && !character.is_ascii() { escaped(character) } else { character.to_string() }
        };
        json.chars().map(each).collect()
    }

    /// All that is known of the values of a document.
    fn values(document: &Document<'_>) -> String {
        format!("{:?} {}", document.arena.nodes, document.arena.maybe_duplicate)
    }

    proptest! {
        /// The values are those of the text when it is read, and have the places of the characters that they were made of.
        #[test]
        fn values_are_where_they_are_when_the_text_is_read(
            texts in prop::collection::vec((json(), any::<bool>(), any::<bool>()), 1..5),
            before in json(),
        ) {
            let mut row = format!("{{\"before\":{before},\"list\":[");
            for (number, (text, is_ascii, is_member)) in texts.iter().enumerate() {
                let is_read = text.starts_with(['[', '{', '"']);
                let string = written(&if is_read { text.clone() } else { format!(" [{text}]") }, *is_ascii);
                let comma = if number > 0 { ", " } else { "" };
                let key = if *is_member { format!("{{\"\\u006b\":{string}, \"x\":[]}}") } else { string };
                row += &format!("{comma}{key}");
            }
            row += "], \"after\": [\"\\n\", {}]} ";
            let document = Document::read(row.as_bytes());
            prop_assert_eq!(document.faults(), &[]);
            let list = document.root().get("list").expect("the key is there");
            let strings = list.elements().map(|one| one.get("k").unwrap_or(one));
            let ids: Vec<NodeId> = strings.clone().map(|one| one.id()).collect();
            let said: Vec<Said<'_>> = strings.filter_map(|one| Said::wanted(one, |_| true)).collect();
            prop_assert_eq!(said.len(), texts.len());
            let expanded = Expanded::new(&document, said);
            prop_assert!(expanded.arena.borrow().is_some());
            let read = Document::read(expanded.text());
            prop_assert_eq!(values(&expanded.document()), values(&read));
            let mapped = Mapped::expanded(&document, &ids);
            prop_assert_eq!(mapped.text(), expanded.text());
            prop_assert_eq!(&mapped, expanded.mapped());
            // The taken values are read again.
            let again = expanded.document();
            prop_assert_eq!(values(&again), values(&read));
            // What each value is written as in the row says what it says in the text.
            for one in std::iter::successors(Some(again.root()), |one| {
                (one.id().index() + 1 < again.value_count()).then(|| again.value(NodeId(one.id().0 + 1)))
            }) {
                let place = mapped.source_of(one.span().range()).expect("it comes from the row");
                if let Some(string) = one.as_json_str().filter(|_| ids.iter().any(|id| {
                    let outer = document.value(*id).span().range();
                    outer.start < place.start && place.end < outer.end
                })) {
                    let inside = format!("\"{}\"", &row[place]);
                    let inside = Document::read(inside.as_bytes());
                    let text = inside.root().as_str().unwrap_or_default();
                    prop_assert_eq!(text.as_bytes(), [b"\"", string.raw(), b"\""].concat());
                }
            }
        }
    }

    #[test]
    fn a_half_of_a_character_has_the_place_of_its_escape() {
        let row = r#"{"a": "\ud800", "b": "{\"c\": \"\\ud83d\\ude00 \\udc00\", \"d\": \"\u00e9\"}", "e": 1}"#;
        let document = Document::read(row.as_bytes());
        let string = document.root().get("b").expect("the key is there");
        assert!(Said::wanted(string, |_| true).is_none(), "the text has a fault");
        let row = row.replace(" \\\\udc00", "");
        let document = Document::read(row.as_bytes());
        let string = document.root().get("b").expect("the key is there");
        let said = Said::wanted(string, |said| said.is_object()).expect("it is an object");
        let expanded = Expanded::new(&document, vec![said]);
        assert!(expanded.arena.borrow().is_none(), "the row has a fault");
        let opened = expanded.document();
        let (fault, inner) = (opened.faults()[0].span, opened.root().get("b").expect("the key is there"));
        let source = |span: Span| expanded.mapped().source_of(span.range()).map(|place| &row[place]);
        assert_eq!(source(fault), Some("\\ud800"));
        assert_eq!(inner.get("c").and_then(|one| source(one.span())), Some(r#"\"\\ud83d\\ude00\""#));
        assert_eq!(inner.get("d").and_then(|one| source(one.span())), Some(r#"\"\u00e9\""#));
        assert_eq!(opened.root().get("e").and_then(|one| source(one.span())), Some("1"));
    }
}
