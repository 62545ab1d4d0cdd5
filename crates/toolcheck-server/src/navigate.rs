//! From a call to its result and back, and from a call to the definition of its tool.

use lsp_types::{DocumentHighlight, DocumentHighlightKind, Location, Position};

use crate::document::Document;
use crate::sites::{Site, Sites};

/// Where a call is answered, which call a result answers, and what the name of a tool stands for.
pub(crate) fn definition(document: &mut Document, position: Position) -> Vec<Location> {
    places(document, position, |sites, site, byte| match site {
        Site::Call(number) => match tool_named(sites, number, byte) {
            Some(tool) => vec![Site::Tool(tool)],
            None => sites.calls[number].results.iter().copied().map(Site::Result).collect(),
        },
        Site::Result(number) => sites.results[number].call.into_iter().map(Site::Call).collect(),
        Site::Tool(number) => vec![Site::Tool(number)],
    })
}

/// The call and its results, or the calls of a tool with its definition. A call is what its results refer to, as a tool is
/// what its calls do: it is left out if only those are wanted.
pub(crate) fn references(
    document: &mut Document,
    position: Position,
    includes_declaration: bool,
) -> Vec<Location> {
    places(document, position, |sites, site, byte| {
        let tool = if let Site::Call(number) = site { tool_named(sites, number, byte) } else { None };
        let site = tool.map_or(site, Site::Tool);
        let mut all = match site {
            Site::Tool(number) => {
                let calls = sites.calls_of(number).map(Site::Call);
                std::iter::once(site).chain(calls).collect()
            }
            site => sites.pair(site),
        };
        // A result without a call is nobody's declaration.
        let is_declared = matches!(all.first(), Some(Site::Tool(_) | Site::Call(_)));
        if is_declared && !includes_declaration {
            all.remove(0);
        }
        all
    })
}

/// The two ends of a pair.
pub(crate) fn highlights(document: &mut Document, position: Position) -> Vec<DocumentHighlight> {
    let pair = places(document, position, |sites, site, _| sites.pair(site));
    let highlight =
        |place: Location| DocumentHighlight { range: place.range, kind: Some(DocumentHighlightKind::TEXT) };
    // One alone is not a pair.
    if pair.len() > 1 { pair.into_iter().map(highlight).collect() } else { Vec::new() }
}

/// The tool of a call, if a byte is of its name.
fn tool_named(sites: &Sites, call: usize, byte: usize) -> Option<usize> {
    let call = &sites.calls[call];
    call.tool.filter(|_| call.name_place.as_ref().is_some_and(|name| name.contains(&byte)))
}

/// The places of the sites that belong to the one at a position.
fn places(
    document: &mut Document,
    position: Position,
    choose: impl Fn(&Sites, Site, usize) -> Vec<Site>,
) -> Vec<Location> {
    let part = document.part_at(position);
    let Some(sites) = document.sites(&part) else { return Vec::new() };
    let byte = document.text.byte(position).saturating_sub(part.start);
    let Some(site) = sites.at(byte) else { return Vec::new() };
    let location = |site| {
        let place = sites.place(site);
        let range = document.text.between(part.start + place.start..part.start + place.end);
        Location::new(document.uri.clone(), range)
    };
    choose(&sites, site, byte).into_iter().map(location).collect()
}
