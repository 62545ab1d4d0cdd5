//! Recordings of httpmock: YAML documents, one for each exchange.

use super::{Container, outer_keys};
use crate::budget::Budget;
use crate::exchanges::{Maker, Recorded};
use crate::needs::Needs;
use crate::reason::{Body, Reason};
use crate::tree::{Id, Tree};
use crate::{Limits, Opened, decode, written};

pub(super) static CONTAINER: Container =
    Container { id: "httpmock", name: "httpmock recording", needs: Needs::Yaml, sniff, read };

fn sniff(bytes: &[u8]) -> bool {
    let keys: Vec<&[u8]> = outer_keys(bytes).take(64).collect();
    // The start may end inside the first request.
    keys.first() == Some(&&b"when"[..]) && keys.iter().all(|key| matches!(*key, b"when" | b"then"))
}

fn read(bytes: &[u8], limits: Limits) -> Option<Opened> {
    let tree = Tree::yaml(bytes)?;
    let mut maker = Maker::new(bytes.len(), limits);
    for (number, root) in tree.roots.iter().enumerate() {
        let Some(when) = tree.get(*root, "when") else { continue };
        let then = tree.get(*root, "then");
        if tree.is_exhausted() {
            maker.leave_out(Reason::TooLarge);
            continue;
        }
        let tree = &tree;
        let request = place_of(tree, when);
        let response = then.map_or(("body", None), |then| place_of(tree, then));
        let status = then.and_then(|then| tree.number(tree.get(then, "status")?));
        maker.add(Recorded {
            request_label: format!("[{number}].when.{}", request.0),
            request: Box::new(move |budget| body_of(tree, request, budget)),
            url: tree.get(when, "path").and_then(|path| tree.str(path)).unwrap_or_default().to_owned(),
            response_label: format!("[{number}].then.{}", response.0),
            response: Some(Box::new(move |budget| body_of(tree, response, budget))),
            status,
        });
    }
    Some(maker.finish(&CONTAINER, tree.broken_at))
}

/// The key of a body, and the body.
fn place_of(tree: &Tree<'_>, side: Id) -> (&'static str, Option<Id>) {
    let places = ["json_body", "body", "body_base64"];
    let found = places.iter().find_map(|name| {
        let node = tree.get(side, name).filter(|node| !tree.is_null(*node))?;
        // Only the first of them is not a text.
        (*name == "json_body" || tree.str(node).is_some()).then_some((*name, Some(node)))
    });
    found.unwrap_or(("body", None))
}

fn body_of(tree: &Tree<'_>, (name, node): (&str, Option<Id>), budget: &Budget) -> Body {
    let node = node.ok_or(Reason::NoBody)?;
    if name == "json_body" {
        return written::body(tree, node, budget);
    }
    let body = tree.text(node, budget)?;
    let body = if name == "body_base64" { decode::base64(&body).ok_or(Reason::NotJson)? } else { body };
    decode::decompressed(body, None, budget)
}
