//! The outline of a file: its messages, with their calls and results.

use std::ops::Range;

use lsp_types::{DocumentSymbol, Position, SymbolKind};
use toolcheck_core::text::Counted;

use crate::document::Document;
use crate::sites::{CallSite, MessageSite, Sites};
use crate::text::Text;

/// The most messages of an outline.
const MOST: usize = 2000;

pub(crate) fn symbols(document: &mut Document) -> Vec<DocumentSymbol> {
    let mut all = Vec::new();
    let (mut line, mut messages) = (0, 0);
    while line < document.text.lines() as u32 && messages < MOST {
        let part = document.part_at(Position::new(line, 0));
        let has_all = part == (0..document.text.len());
        let sites = if part.is_empty() { None } else { document.sites(&part) };
        for transcript in sites.iter().flat_map(|sites| &sites.transcripts) {
            let sites = sites.as_deref().expect("the transcript is of these");
            let own = transcript.messages.iter().take(MOST.saturating_sub(messages));
            let mut own: Vec<DocumentSymbol> =
                own.map(|message| of_message(message, sites, &document.text, part.start)).collect();
            if let [next, .., last] | [next @ last] = &transcript.messages[own.len()..] {
                let more = Counted(transcript.messages.len() - own.len(), "more message");
                let place = next.place.start..last.place.end;
                let place = (&place, SymbolKind::NULL);
                let name = format!("{more} (not listed)");
                own.push(symbol(name, None, place, Vec::new(), (&document.text, part.start)));
            }
            messages += own.len().max(1);
            if has_all && sites.transcripts.len() == 1 {
                all.extend(own);
            } else {
                let number = all.len() + 1;
                let name = format!("conversation {number}");
                let detail = Counted(transcript.messages.len(), "message").to_string();
                let place = (&transcript.place, SymbolKind::NAMESPACE);
                all.push(symbol(name, Some(detail), place, own, (&document.text, part.start)));
            }
        }
        if has_all {
            break;
        }
        line += 1;
    }
    let rest = document.part_at(Position::new(line, 0));
    if messages >= MOST && !rest.is_empty() && rest != (0..document.text.len()) {
        let place = (&(0..rest.len()), SymbolKind::NULL);
        let name = "the lines from here (not listed)".to_owned();
        all.push(symbol(name, None, place, Vec::new(), (&document.text, rest.start)));
    }
    all
}

fn of_message(message: &MessageSite, sites: &Sites, text: &Text, start: usize) -> DocumentSymbol {
    let calls = message.calls.iter().map(|number| {
        let call = &sites.calls[*number];
        let detail = if call.results.is_empty() { Some("no result".to_owned()) } else { call.id.clone() };
        symbol(
            format!("→ {}", name(call)),
            detail,
            (&call.place, SymbolKind::FUNCTION),
            Vec::new(),
            (text, start),
        )
    });
    let results = message.results.iter().map(|number| {
        let result = &sites.results[*number];
        let call = result.call.map(|number| &sites.calls[number]);
        let title = format!("← {}", call.map_or("no call", name));
        let detail = call.and_then(|call| call.id.clone());
        symbol(title, detail, (&result.place, SymbolKind::EVENT), Vec::new(), (text, start))
    });
    let children: Vec<DocumentSymbol> = calls.chain(results).collect();
    let parts = [(message.calls.len(), "call"), (message.results.len(), "result")];
    let detail: Vec<String> = parts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, noun)| Counted(count, noun).to_string())
        .collect();
    let detail = (!detail.is_empty()).then(|| detail.join(", "));
    symbol(message.title.clone(), detail, (&message.place, SymbolKind::OBJECT), children, (text, start))
}

fn name(call: &CallSite) -> &str {
    call.name.as_deref().unwrap_or("(no name)")
}

fn symbol(
    name: String,
    detail: Option<String>,
    (place, kind): (&Range<usize>, SymbolKind),
    children: Vec<DocumentSymbol>,
    (text, start): (&Text, usize),
) -> DocumentSymbol {
    let range = text.between(start + place.start..start + place.end);
    #[expect(deprecated, reason = "the type has no other constructor")]
    DocumentSymbol {
        name,
        detail,
        kind,
        tags: None,
        deprecated: None,
        range,
        selection_range: range,
        children: Some(children),
    }
}
