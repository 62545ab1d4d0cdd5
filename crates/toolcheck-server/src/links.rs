//! Links from each `$ref` in the schema of a tool to what it refers to.

use std::collections::HashSet;

use lsp_types::{DocumentLink, Position, Uri};
use percent_encoding::percent_decode_str;
use toolcheck_core::text::shorten;
use toolcheck_json::{Document as Json, Span, Value};

use crate::document::Document;

const MOST: usize = 300;

/// The largest file with links, in bytes: editors ask for them after each edit.
const LARGEST: usize = 4 << 20;

/// The links of a request. In JSON Lines, a schema and what it refers to are in one line.
pub(crate) fn links(document: &mut Document) -> Vec<DocumentLink> {
    let part = document.part_at(Position::new(0, 0));
    if part != (0..document.text.len()) || part.len() > LARGEST {
        return Vec::new();
    }
    let Some(sites) = document.sites(&part) else { return Vec::new() };
    let schemas: HashSet<Span> = sites
        .tools
        .iter()
        .filter_map(|tool| tool.schema.as_ref())
        .map(|place| Span::new(place.start as u32, place.end as u32))
        .collect();
    if schemas.is_empty() {
        return Vec::new();
    }
    let bytes = document.bytes_of(&part);
    let json = Json::read(&bytes);
    let mut links = Vec::new();
    let mut open = vec![(json.root(), None::<Value<'_, '_>>)];
    while let Some((value, schema)) = open.pop() {
        if links.len() == MOST {
            break;
        }
        let schema = schema.or_else(|| schemas.contains(&value.span()).then_some(value));
        if let Some(schema) = schema
            && value.has_key("$ref")
            && let Some(reference) = value.as_str()
            && let Some(target) = target(schema, &reference)
        {
            links.extend(link(document, value, target));
        }
        open.extend(value.children().map(|child| (child, schema)));
    }
    links.sort_by_key(|link| link.range.start);
    links
}

/// The value that a reference stands for, if it is in the same schema.
fn target<'d, 's>(schema: Value<'d, 's>, reference: &str) -> Option<Value<'d, 's>> {
    let pointer = percent_decode_str(reference.strip_prefix('#')?).decode_utf8().ok()?;
    let is_pointer = pointer.is_empty() || pointer.starts_with('/');
    schema.pointer(&pointer).filter(|_| is_pointer)
}

/// A link to a line of the same file, as editors write it: `file:///a.json#L7`.
fn link(document: &Document, from: Value<'_, '_>, to: Value<'_, '_>) -> Option<DocumentLink> {
    let line = document.text.position(to.span().start as usize).line + 1;
    let place = from.span().range();
    let target: Uri = format!("{}#L{line}", document.uri.as_str()).parse().ok()?;
    Some(DocumentLink {
        // Without the quotes; the last one may be missing.
        range: document.text.between(place.start + 1..(place.start + 1).max(place.end - 1)),
        target: Some(target),
        tooltip: to.key_text().map(|name| format!("{} in line {line}", shorten(&name))),
        data: None,
    })
}
