//! A file of YAML or JSON as a tree, whose texts know their places in the file.

#[cfg(feature = "yaml")]
mod yaml;

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;

use toolcheck_json::origins::Mapped;
use toolcheck_json::{Decoded, Document, Value};

use crate::budget::Budget;
use crate::decode;
use crate::reason::{Body, Reason};

/// A file of YAML or JSON.
pub(crate) struct Tree<'s> {
    pub(crate) source: &'s [u8],
    pub(crate) nodes: Vec<Node<'s>>,
    pub(crate) roots: Vec<Id>,
    /// Where the file stops being YAML or JSON, if it does.
    pub(crate) broken_at: Option<usize>,
    /// The number of keys that were looked at so far.
    pub(crate) looked_at: Cell<usize>,
}

pub(crate) type Id = usize;

#[derive(Debug)]
pub(crate) struct Node<'s> {
    pub(crate) kind: Kind<'s>,
    pub(crate) span: Range<usize>,
}

#[derive(Debug)]
pub(crate) enum Kind<'s> {
    Scalar(Scalar<'s>),
    List(Vec<Id>),
    Map(Vec<(Id, Id)>),
    /// Another name for an earlier node.
    #[cfg_attr(not(feature = "yaml"), expect(dead_code, reason = "only YAML has them"))]
    Alias(Id),
}

#[derive(Debug)]
pub(crate) struct Scalar<'s> {
    pub(crate) text: Cow<'s, str>,
    pub(crate) style: Style,
    /// Whether it is base64, by its tag.
    pub(crate) is_binary: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    #[cfg(feature = "yaml")]
    SingleQuoted,
    #[cfg(feature = "yaml")]
    DoubleQuoted,
    /// With its lines as they are, or folded.
    #[cfg(feature = "yaml")]
    Block,
    /// A string of a JSON file.
    Json,
}

/// How many aliases of aliases are followed.
const MOST_ALIASES: usize = 32;
/// How often the keys of a map are looked at on average; without aliases it is about 20 times.
const MOST_LOOKS: usize = 64;

impl<'s> Tree<'s> {
    /// Reads YAML; `None` if it is not UTF-8, or too large.
    #[cfg(feature = "yaml")]
    pub(crate) fn yaml(source: &'s [u8]) -> Option<Self> {
        yaml::read(source)
    }

    #[cfg(not(feature = "yaml"))]
    pub(crate) fn yaml(_: &'s [u8]) -> Option<Self> {
        None
    }

    pub(crate) fn read(source: &'s [u8]) -> Option<Self> {
        let text = source.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(source);
        let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
        if matches!(first, Some(b'{' | b'[')) { Self::json(source) } else { Self::yaml(source) }
    }

    pub(crate) fn json(source: &'s [u8]) -> Option<Self> {
        let document = Document::read(source);
        let cut = document.faults().iter().find(|fault| !fault.kind.is_harmless());
        let broken_at = cut.map(|fault| fault.span.start as usize);
        let mut nodes: Vec<Node<'s>> = Vec::with_capacity(document.value_count());
        // The values of a document are numbered in the order of the text, so a node comes after what it is in.
        let mut open = vec![(document.root(), None::<(Id, Option<Id>)>)];
        while let Some((value, parent)) = open.pop() {
            let id = nodes.len();
            nodes.push(Node { kind: of_json(value), span: value.span().range() });
            match parent {
                Some((parent, Some(key))) => {
                    if let Kind::Map(entries) = &mut nodes[parent].kind {
                        entries.push((key, id));
                    }
                }
                Some((parent, None)) => {
                    if let Kind::List(items) = &mut nodes[parent].kind {
                        items.push(id);
                    }
                }
                None => {}
            }
            let children: Vec<_> = value.children().collect();
            let mut inner = Vec::with_capacity(children.len());
            for child in children {
                let key = child.key_text().map(|text| {
                    let scalar = Scalar { text, style: Style::Json, is_binary: false };
                    let span = child.key_span().map_or(child.span(), |span| span).range();
                    nodes.push(Node { kind: Kind::Scalar(scalar), span });
                    nodes.len() - 1
                });
                inner.push((child, Some((id, key))));
            }
            open.extend(inner.into_iter().rev());
        }
        Some(Self { source, nodes, roots: vec![0], broken_at, looked_at: Cell::new(0) })
    }

    fn node(&self, id: Id) -> Option<&Node<'s>> {
        let mut node = self.nodes.get(id)?;
        for _ in 0..MOST_ALIASES {
            match node.kind {
                Kind::Alias(other) => node = self.nodes.get(other)?,
                _ => return Some(node),
            }
        }
        None
    }

    pub(crate) fn kind(&self, id: Id) -> Option<&Kind<'s>> {
        self.node(id).map(|node| &node.kind)
    }

    pub(crate) fn span(&self, id: Id) -> Range<usize> {
        self.node(id).map_or(0..0, |node| node.span.clone())
    }

    pub(crate) fn get(&self, id: Id, key: &str) -> Option<Id> {
        let entries = self.entries(id);
        self.looked_at.set(self.looked_at.get().saturating_add(entries.len()));
        entries.iter().find(|(name, _)| self.str(*name) == Some(key)).map(|(_, value)| *value)
    }

    /// Whether so many keys were looked at that some are named again and again: an alias of a large map costs as much as
    /// the map.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.looked_at.get() > self.nodes.len().saturating_mul(MOST_LOOKS).saturating_add(1 << 20)
    }

    pub(crate) fn at(&self, id: Id, path: &[&str]) -> Option<Id> {
        path.iter().try_fold(id, |id, key| self.get(id, key))
    }

    pub(crate) fn entries(&self, id: Id) -> &[(Id, Id)] {
        match self.kind(id) {
            Some(Kind::Map(entries)) => entries,
            _ => &[],
        }
    }

    pub(crate) fn items(&self, id: Id) -> &[Id] {
        match self.kind(id) {
            Some(Kind::List(items)) => items,
            _ => &[],
        }
    }

    pub(crate) fn str(&self, id: Id) -> Option<&str> {
        match self.kind(id)? {
            Kind::Scalar(scalar) => Some(&scalar.text),
            _ => None,
        }
    }

    /// The number that a scalar starts with, such as the status in `200 OK`.
    pub(crate) fn number(&self, id: Id) -> Option<u16> {
        let text = self.str(id)?.trim_start();
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        text[..digits].parse().ok()
    }

    /// Whether a value is missing: `null`, or nothing at all.
    pub(crate) fn is_null(&self, id: Id) -> bool {
        match self.kind(id) {
            Some(Kind::Scalar(scalar)) => {
                matches!(scalar.style, Style::Plain)
                    && matches!(&*scalar.text, "" | "~" | "null" | "Null" | "NULL")
            }
            Some(_) => false,
            None => true,
        }
    }

    /// The text of a scalar, with its places; decoded if its tag says that it is base64.
    pub(crate) fn text(&self, id: Id, budget: &Budget) -> Body {
        let node = self.node(id).ok_or(Reason::NotJson)?;
        let Kind::Scalar(scalar) = &node.kind else { return Err(Reason::NotJson) };
        if self.is_null(id) {
            return Err(Reason::NotJson);
        }
        // The same text may be named many times.
        budget.write(scalar.text.len())?;
        let text = match scalar.style {
            Style::Json => json_text(self.source, &node.span, &scalar.text),
            #[cfg(feature = "yaml")]
            style => yaml::mapped(self.source, &node.span, &scalar.text, style),
            #[cfg(not(feature = "yaml"))]
            Style::Plain => Mapped::same(&self.source[node.span.clone()], node.span.start),
        };
        if scalar.is_binary { decode::base64(&text).ok_or(Reason::NotJson) } else { Ok(text) }
    }
}

fn of_json<'s>(value: Value<'_, 's>) -> Kind<'s> {
    if value.is_object() {
        return Kind::Map(Vec::new());
    }
    if value.is_array() {
        return Kind::List(Vec::new());
    }
    let (text, style) = match value.as_str() {
        Some(text) => (text, Style::Json),
        None => (String::from_utf8_lossy(value.raw()), Style::Plain),
    };
    Kind::Scalar(Scalar { text, style, is_binary: false })
}

/// The text of a JSON string with its places.
pub(crate) fn json_text(source: &[u8], span: &Range<usize>, text: &str) -> Mapped {
    let document = Document::read(&source[span.clone()]);
    let Some(string) = document.root().as_json_str() else {
        return Mapped::whole(text.as_bytes().to_vec(), span.clone());
    };
    let decoded = Decoded::new(string, 0);
    if !string.is_escaped() && decoded.text().len() == string.raw().len() {
        return Mapped::same(string.raw(), span.start + 1);
    }
    let mut mapped = Mapped::default();
    let text = decoded.text();
    for (at, character) in text.char_indices() {
        let end = at + character.len_utf8();
        let here = decoded.span_of(at..end);
        let (start, stop) = (span.start + here.start as usize, span.start + here.end as usize);
        push_decoded(&mut mapped, source, &text.as_bytes()[at..end], start..stop);
    }
    mapped
}

/// Adds a character that some bytes of the file stand for. An escape like `\"` ends with the very character.
pub(crate) fn push_decoded(mapped: &mut Mapped, source: &[u8], character: &[u8], span: Range<usize>) {
    let raw = &source[span.clone()];
    if raw.ends_with(character) && (raw.len() == character.len() || !character[0].is_ascii_alphanumeric()) {
        mapped.push_same(character, span.end - character.len());
    } else {
        mapped.push_whole(character, span);
    }
}
