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
