//! Lists of interactions, each with a request and a response, as most recorders write them.

use toolcheck_json::origins::Mapped;

use crate::budget::Budget;
use crate::container::Container;
use crate::exchanges::{Encoded, Maker, Recorded};
use crate::frames::Frames;
use crate::reason::{Body, Reason};
use crate::tree::{Id, Kind, Tree};
use crate::{Limits, Opened, decode, written};

/// Where a cassette has its requests and responses.
#[derive(Clone, Copy)]
pub(crate) enum Layout {
    /// In interactions, which are in one of these lists. The one without a name is the file.
    Interactions(&'static [&'static str]),
    /// In two lists, each response at the place of its request.
    TwoLists { requests: &'static str, responses: &'static str },
}

impl Layout {
    fn lists(&self) -> &[&'static str] {
        match self {
            Self::Interactions(lists) => lists,
            Self::TwoLists { requests, .. } => std::slice::from_ref(requests),
        }
    }
}

/// A request with its response, and their names in the file.
struct Interaction {
    request: (Id, String),
    response: Option<(Id, String)>,
}

pub(crate) fn open_cassette(
    container: &Container,
    layout: Layout,
    bytes: &[u8],
    limits: Limits,
) -> Option<Opened> {
    let tree = Tree::read(bytes)?;
    let list_of = |root: Id, list: &str| match list {
        "" => Some(root).filter(|root| !tree.items(*root).is_empty()),
        list => tree.get(root, list),
    };
    let has_list = |root: &Id| layout.lists().iter().any(|list| list_of(*root, list).is_some());
    if !tree.roots.iter().any(has_list) {
        return None;
    }
    let mut maker = Maker::new(bytes.len(), limits);
    for root in &tree.roots {
        for list in layout.lists() {
            let Some(items) = list_of(*root, list) else { continue };
            for (number, item) in tree.items(items).iter().enumerate() {
                if tree.is_exhausted() {
                    maker.leave_out(Reason::TooLarge);
                    continue;
                }
                let url =
                    tree.at(*item, &["connection", "url"]).and_then(|url| tree.str(url)).unwrap_or_default();
                // A connection of effect-http-recorder.
                if let Some(events) = tree.get(*item, "events") {
                    let label = format!("{list}[{number}].events");
                    if Frames::of(&tree, (events, "body"), &label, url, &mut maker).is_none() {
                        maker.leave_out(Reason::OddFrames);
                    }
                    continue;
                }
                let interaction = match layout {
                    // Those of pytest-llm-vcr (PyPI) have the parts of both in one object.
                    Layout::Interactions(_) if tree.get(*item, REQUEST_BODY).is_some() => {
                        let both = || (*item, format!("{list}[{number}]"));
                        Some(Interaction { request: both(), response: Some(both()) })
                    }
                    Layout::Interactions(_) => {
                        let part =
                            |key: &str| Some((tree.get(*item, key)?, format!("{list}[{number}].{key}")));
                        part("request").map(|request| Interaction { request, response: part("response") })
                    }
                    Layout::TwoLists { responses, .. } => {
                        let response = tree.get(*root, responses).and_then(|all| tree.items(all).get(number));
                        let response = response.map(|id| (*id, format!("{responses}[{number}]")));
                        Some(Interaction { request: (*item, format!("{list}[{number}]")), response })
                    }
                };
                if let Some(interaction) = interaction {
                    add_interaction(&tree, interaction, &mut maker);
                } else {
                    maker.leave_out(Reason::NoBody);
                }
            }
        }
    }
    Some(maker.finish(container, tree.broken_at))
}

fn add_interaction(tree: &Tree<'_>, interaction: Interaction, maker: &mut Maker) {
    let (request_id, request_name) = interaction.request;
    let response = interaction.response.as_ref().map(|(id, _)| *id);
    let (request_path, request) = place_of(tree, request_id, REQUEST_BODY);
    let (response_path, body) =
        response.map_or(("body", None), |response| place_of(tree, response, RESPONSE_BODY));
    let status = response.and_then(|response| {
        let places: [&[&str]; 5] =
            [&["status", "code"], &["status_code"], &["code"], &["status"], &["statusCode"]];
        places.iter().find_map(|path| tree.number(tree.at(response, path)?))
    });
    let response_name = interaction.response.map(|(_, name)| name).unwrap_or_default();
    maker.add(Recorded {
        request_label: label(&request_name, request_path),
        request: Box::new(move |budget| body_of(tree, request_id, (request_path, request), budget)),
        url: ["uri", "url"]
            .iter()
            .find_map(|key| tree.str(tree.get(request_id, key)?))
            .unwrap_or_default()
            .to_owned(),
        response_label: label(&response_name, response_path),
        response: response.map(|response| -> Encoded<'_> {
            Box::new(move |budget| {
                if body.is_none() && !has_place(tree, response) {
                    return Err(Reason::OddAnswer);
                }
                body_of(tree, response, (response_path, body), budget)
            })
        }),
        status,
    });
}

fn label(message: &str, path: &str) -> String {
    format!("{message}.{path}").trim_end_matches('.').to_owned()
}

/// The keys of the bodies where a request and its response are one object.
const REQUEST_BODY: &str = "request_body";
const RESPONSE_BODY: &str = "response_body";

/// The path of a body in its message, and the body. `own` is its key if the message is the other one too.
fn place_of(tree: &Tree<'_>, message: Id, own: &'static str) -> (&'static str, Option<Id>) {
    // mcp-recorder (PyPI) has the messages of MCP themselves.
    if tree.get(message, "jsonrpc").is_some() {
        return ("", Some(message));
    }
    let parsed =
        ["parsed_body", "body_json"].into_iter().find_map(|key| Some((key, tree.get(message, key)?)));
    if let Some((key, body)) = parsed.filter(|(_, body)| !tree.is_null(*body)) {
        return (key, Some(body));
    }
    // Replays of Google's SDKs (`python-genai`, `google/genai/_replay_api_client.py`) have a list, of a stream with more than one.
    for (key, first) in SEGMENTS {
        match tree.get(message, key).map(|segments| (tree.items(segments), segments)) {
            Some(([only], _)) => return (first, Some(*only)),
            Some((_, segments)) => return (key, Some(segments)),
            None => {}
        }
    }
    // Pact 4 says what sort of body it is, and cassetter (PyPI) too.
    let sort = || tree.str(tree.at(message, &["body", "type"])?);
    let is_sorted =
        tree.at(message, &["body", "contentType"]).is_some() || matches!(sort(), Some("json" | "text"));
    let content =
        tree.at(message, &["body", "content"]).filter(|content| is_sorted && !tree.is_null(*content));
    if let Some(body) = content {
        return ("body.content", Some(body));
    }
    // Some recorders have no object around the text.
    let places: [(&'static str, &[&str]); 8] = [
        (own, &[own]),
        // A buffer of Python.
        ("body.state", &["body", "state"]),
        ("body.string", &["body", "string"]),
        ("body.base64_string", &["body", "base64_string"]),
        // `lostbean/req_cassette`.
        ("body_blob", &["body_blob"]),
        ("body", &["body"]),
        // What VCR.py wrote of httpx before version 6 (`vcr/stubs/httpx_stubs.py`).
        ("content", &["content"]),
        // The pieces of a stream.
        ("chunks", &["chunks"]),
    ];
    let found = places.iter().find_map(|(name, path)| {
        let node = tree.at(message, path).filter(|node| !tree.is_null(*node))?;
        let is_parsed = || matches!(tree.kind(node), Some(Kind::Map(_) | Kind::List(_)));
        (*name != "content" || !is_parsed()).then_some((*name, Some(node)))
    });
    // Some have the bodies in place of the messages of HTTP.
    let is_body = || BODIES.iter().any(|key| tree.get(message, key).is_some());
    found.unwrap_or_else(|| if is_body() { ("", Some(message)) } else { ("body", None) })
}

/// Keys of which a body has one where it stands for the message.
const BODIES: [&str; 6] = ["messages", "contents", "choices", "candidates", "model", "output"];

/// The keys of a list of bodies that were parsed, and the names of its only one.
const SEGMENTS: [(&str, &str); 2] =
    [("bodySegments", "bodySegments[0]"), ("body_segments", "body_segments[0]")];

/// Whether a response has a key for its body, or nothing at all.
fn has_place(tree: &Tree<'_>, response: Id) -> bool {
    const KEYS: [&str; 7] =
        ["parsed_body", "body_json", RESPONSE_BODY, "body", "body_blob", "content", "chunks"];
    let mut keys = KEYS.into_iter().chain(SEGMENTS.map(|(key, _)| key));
    tree.entries(response).is_empty() || keys.any(|key| tree.get(response, key).is_some())
}

fn body_of(tree: &Tree<'_>, message: Id, (name, node): (&str, Option<Id>), budget: &Budget) -> Body {
    let node = node.ok_or(Reason::NoBody)?;
    let is_parsed = match name {
        "" | "parsed_body" | "body_json" => true,
        _ if SEGMENTS.iter().any(|(key, only)| name == *key || name == *only) => true,
        // An object or a list is a body that was parsed.
        "body" | "body.content" | REQUEST_BODY | RESPONSE_BODY => {
            matches!(tree.kind(node), Some(Kind::Map(_) | Kind::List(_)))
        }
        _ => false,
    };
    if is_parsed {
        return if name == "body" {
            written_body(tree, node, budget)
        } else {
            written::json(tree, node, budget)
        };
    }
    let node = if name == "body.state" { tree.items(node).first().copied().unwrap_or(node) } else { node };
    let mut text = Mapped::default();
    for piece in if name == "chunks" { tree.items(node) } else { std::slice::from_ref(&node) } {
        let piece = tree.text(*piece, budget)?;
        text.push_part(&piece, 0..piece.text().len());
    }
    let text = if matches!(name, "body.base64_string" | "body_blob") {
        decode::base64(&text).ok_or(Reason::NotJson)?
    } else {
        text
    };
    // The client had decompressed it already, whatever the headers say.
    if name == "content" {
        return Ok(text);
    }
    decode::decompressed(text, encoding_of(tree, message).as_deref(), budget)
}

/// A body that was parsed, unless it only says how the text is encoded.
fn written_body(tree: &Tree<'_>, node: Id, budget: &Budget) -> Body {
    let is_empty =
        tree.entries(node).iter().all(|(key, _)| matches!(tree.str(*key), Some("encoding" | "string")));
    if is_empty && tree.items(node).is_empty() {
        return Err(Reason::NoBody);
    }
    written::json(tree, node, budget)
}

fn encoding_of(tree: &Tree<'_>, message: Id) -> Option<String> {
    let headers = tree.get(message, "headers")?;
    let (_, value) = tree.entries(headers).iter().find(|(name, _)| {
        tree.str(*name).is_some_and(|name| name.eq_ignore_ascii_case("content-encoding"))
    })?;
    let value = tree.items(*value).first().copied().unwrap_or(*value);
    tree.str(value).map(str::to_ascii_lowercase)
}
