//! Reads YAML into a tree, and finds each character of a scalar in the file.

mod align;
mod repair;

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;

use granit_parser::{ErrorKind, Event, Options, Parser, ScalarStyle};

use crate::tree::{Id, Kind, Node, Scalar, Style, Tree};

pub(crate) use align::mapped;
use repair::Repaired;

struct Open {
    id: Id,
    key: Option<Id>,
    is_map: bool,
}

/// Reads YAML, up to the first error in it; `None` if it is not UTF-8.
pub(crate) fn read(source: &[u8]) -> Option<Tree<'_>> {
    let text = std::str::from_utf8(source).ok()?;
    let mut repaired = Repaired::default();
    let mut reader = Reader::new(source);
    let mut error = reader.read(text, &repaired, &|text| text);
    while let Some(at) = error.filter(|_| repaired.repair(text, error)) {
        let longer = repaired.apply(text);
        reader = Reader::new(source);
        error = reader.read(&longer, &repaired, &|text| Cow::Owned(text.into_owned()));
        if error.is_some_and(|next| next.at <= at.at) {
            break;
        }
    }
    reader.tree.broken_at = error.map(|error| error.at);
    Some(reader.tree)
}

#[derive(Clone, Copy)]
struct Broken {
    at: usize,
    is_indent: bool,
}

struct Reader<'s> {
    tree: Tree<'s>,
    open: Vec<Open>,
    anchors: Vec<(usize, Id)>,
}

impl<'s> Reader<'s> {
    fn new(source: &'s [u8]) -> Self {
        let tree =
            Tree { source, nodes: Vec::new(), roots: Vec::new(), broken_at: None, looked_at: Cell::new(0) };
        Self { tree, open: Vec::new(), anchors: Vec::new() }
    }

    /// Reads a text, and returns the error that it ends with.
    fn read<'t>(
        &mut self,
        text: &'t str,
        repaired: &Repaired,
        keep: &dyn Fn(Cow<'t, str>) -> Cow<'s, str>,
    ) -> Option<Broken> {
        let mut options = Options::default();
        options.set_emit_comments(false);
        options.emit_unresolved_aliases = true;
        let most = self.tree.source.len();
        let in_file = |at: usize| repaired.in_file(at).min(most);
        for event in Parser::new_from_str_with_options(text, options) {
            match event {
                Ok((event, span)) => {
                    let span = span.byte_range().unwrap_or(0..0);
                    let end = in_file(span.end);
                    self.add(event, in_file(span.start).min(end)..end, keep);
                }
                Err(error) => {
                    let at = in_file(error.marker().byte_offset().unwrap_or(text.len()));
                    let is_indent = matches!(error.kind(), ErrorKind::InvalidQuotedScalarIndent);
                    return Some(Broken { at, is_indent });
                }
            }
        }
        None
    }

    fn add<'t>(&mut self, event: Event<'t>, span: Range<usize>, keep: &dyn Fn(Cow<'t, str>) -> Cow<'s, str>) {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_binary =
                    tag.is_some_and(|tag| tag.suffix() == "binary" || tag.suffix().ends_with(":binary"));
                let style = match style {
                    ScalarStyle::Plain => Style::Plain,
                    ScalarStyle::SingleQuoted => Style::SingleQuoted,
                    ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
                    ScalarStyle::Literal | ScalarStyle::Folded => Style::Block,
                };
                self.node(Kind::Scalar(Scalar { text: keep(text), style, is_binary }), span, anchor);
            }
            Event::SequenceStart(_, anchor, _) => {
                let id = self.node(Kind::List(Vec::new()), span, anchor);
                self.open.push(Open { id, key: None, is_map: false });
            }
            Event::MappingStart(_, anchor, _) => {
                let id = self.node(Kind::Map(Vec::new()), span, anchor);
                self.open.push(Open { id, key: None, is_map: true });
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(open) = self.open.pop() {
                    let node = &mut self.tree.nodes[open.id];
                    node.span.end = node.span.end.max(span.start);
                }
            }
            Event::Alias(anchor) => {
                let known = self.anchors.binary_search_by_key(&anchor, |(number, _)| *number);
                let known = known.ok().map(|at| self.anchors[at].1);
                // A collection that is inside itself has no end.
                let known = known.filter(|id| !self.open.iter().any(|open| open.id == *id));
                self.node(known.map_or_else(nothing, Kind::Alias), span, 0);
            }
            Event::UnresolvedAlias(_) => {
                self.node(nothing(), span, 0);
            }
            _ => {}
        }
    }

    fn node(&mut self, kind: Kind<'s>, span: Range<usize>, anchor: usize) -> Id {
        let id = self.tree.nodes.len();
        self.tree.nodes.push(Node { kind, span });
        if anchor > 0 && self.anchors.last().is_none_or(|(last, _)| *last < anchor) {
            self.anchors.push((anchor, id));
        }
        match self.open.last_mut() {
            None => self.tree.roots.push(id),
            Some(open) if open.is_map => match open.key.take() {
                None => open.key = Some(id),
                Some(key) => {
                    if let Kind::Map(entries) = &mut self.tree.nodes[open.id].kind {
                        entries.push((key, id));
                    }
                }
            },
            Some(open) => {
                if let Kind::List(items) = &mut self.tree.nodes[open.id].kind {
                    items.push(id);
                }
            }
        }
        id
    }
}

fn nothing<'s>() -> Kind<'s> {
    Kind::Scalar(Scalar { text: "".into(), style: Style::Plain, is_binary: false })
}
