//! HAR archives, as browsers, proxies and test tools write them.

use toolcheck_json::Document;
use toolcheck_json::origins::Mapped;

use super::{Container, json_starts};
use crate::budget::Budget;
use crate::exchanges::{Encoded, Maker, Recorded};
use crate::frames::Frames;
use crate::needs::Needs;
use crate::reason::{Body, Reason};
use crate::tree::{Id, Tree};
use crate::{Limits, Opened, decode};

pub(super) static CONTAINER: Container =
    Container { id: "har", name: "HAR archive", needs: Needs::Nothing, sniff, read };

fn sniff(bytes: &[u8]) -> bool {
    json_starts(bytes, "\"log\"", |root| {
        let log = root.get("log");
        log.is_some_and(|log| log.get_any(&["entries", "creator", "pages"]).is_some())
    })
}

fn read(bytes: &[u8], limits: Limits) -> Option<Opened> {
    let tree = Tree::json(bytes)?;
    let root = *tree.roots.first()?;
    let entries = tree.at(root, &["log", "entries"])?;
    let mut maker = Maker::new(bytes.len(), limits);
    let mut entries: Vec<(usize, Id)> = tree.items(entries).iter().copied().enumerate().collect();
    // The times are ISO 8601, mostly of one time zone; a browser sorts by when the connection was made.
    let time =
        |entry: Id| tree.get(entry, "startedDateTime").and_then(|time| tree.str(time)).unwrap_or_default();
    entries.sort_by(|(_, one), (_, other)| time(*one).cmp(time(*other)));
    for (number, entry) in entries {
        add(&tree, entry, number, &mut maker);
    }
    Some(maker.finish(&CONTAINER, tree.broken_at))
}

fn add(tree: &Tree<'_>, entry: Id, number: usize, maker: &mut Maker) {
    let body = |content: &'static [&'static str], headers: &'static [&'static str]| -> Encoded<'_> {
        Box::new(move |budget| match tree.at(entry, content) {
            Some(data) => body_of(tree, data, tree.at(entry, headers), budget),
            None => Err(Reason::NoBody),
        })
    };
    let url =
        tree.at(entry, &["request", "url"]).and_then(|url| tree.str(url)).unwrap_or_default().to_owned();
    let label = format!("log.entries[{number}]._webSocketMessages");
    let messages = tree.get(entry, "_webSocketMessages");
    if messages.and_then(|list| Frames::of(tree, (list, "data"), &label, &url, maker)).is_some()
        || messages.is_some_and(|list| maker.add_frames(tree, (list, "data"), &label, &url))
    {
        return;
    }
    maker.add(Recorded {
        request_label: format!("log.entries[{number}].request.postData.text"),
        request: body(&["request", "postData"], &["request", "headers"]),
        url,
        response_label: format!("log.entries[{number}].response.content.text"),
        response: Some(body(&["response", "content"], &["response", "headers"])),
        status: tree.at(entry, &["response", "status"]).and_then(|status| tree.number(status)),
    });
}

fn body_of(tree: &Tree<'_>, data: Id, headers: Option<Id>, budget: &Budget) -> Body {
    let Some(text) = tree.get(data, "text").and_then(|text| tree.text(text, budget).ok()) else {
        let is_elsewhere = tree.get(data, "_file").is_some();
        return Err(if is_elsewhere { Reason::Elsewhere } else { Reason::NoBody });
    };
    let encoding = tree.get(data, "encoding").and_then(|name| tree.str(name));
    let text = if encoding == Some("base64") { base64(&text).ok_or(Reason::NotJson)? } else { text };
    let compression = headers.and_then(|headers| {
        let is_it = |header: &&Id| {
            let name = tree.get(**header, "name").and_then(|name| tree.str(name));
            name.is_some_and(|name| name.eq_ignore_ascii_case("content-encoding"))
        };
        let header = tree.items(headers).iter().find(is_it)?;
        tree.get(*header, "value").and_then(|value| tree.str(value))
    });
    decode::decompressed(text, compression, budget)
}

/// A body in base64, or in a list of parts in base64, as Polly.JS writes it.
fn base64(text: &Mapped) -> Option<Mapped> {
    if !text.text().starts_with(b"[") {
        return decode::base64(text);
    }
    let document = Document::read(text.text());
    let mut bytes = Vec::new();
    for part in document.root().elements() {
        bytes.extend(toolcheck_json::from_base64(part.as_str()?.as_bytes())?);
    }
    let span = text.source_of(0..text.text().len())?;
    Some(Mapped::whole(bytes, span))
}
