//! Logs of clients, proxies and gateways, whose records keep the bodies of requests as strings.

use toolcheck_core::exchange;
use toolcheck_json::origins::{Mapped, Opened};
use toolcheck_json::{Document, Value};

use super::{Container, HEAD, entries, first_line, head_has};
use crate::Limits;
use crate::exchanges::{Encoded, Maker, Recorded};
use crate::needs::Needs;
use crate::reason::{Body, Reason};
use crate::tree::json_text;

pub(super) static CONTAINER: Container =
    Container { id: "request-log", name: "log of requests", needs: Needs::Nothing, sniff, read };

/// Where a record may have the body of its request, and where that of its response then is: paths of keys.
const PLACES: [(&[&str], &[&[&str]]); 4] = [
    (&["request", "body"], &[&["response", "body"], &["response"]]),
    (&["request_body"], &[&["response_body"], &["response"]]),
    (&["request"], &[&["response", "body"], &["response"]]),
    (&["body"], &[&["response", "body"], &["response_body"], &["response"]]),
];

fn sniff(bytes: &[u8]) -> bool {
    // Most files have no such key, and need not be read.
    if ![&b"\"request"[..], b"\"body\""].iter().any(|key| head_has(bytes, key)) {
        return false;
    }
    let head = &bytes[..bytes.len().min(HEAD)];
    let line = first_line(head).unwrap_or_default();
    // A long record may be cut; what is there says enough.
    [line, head].into_iter().any(|text| {
        let document = Document::read(text);
        let root = document.root();
        is_record(root.elements().next().unwrap_or(root))
    })
}

/// Whether a record holds a request to an LLM as a string, or under a key that only logs have. What is an exchange
/// already is read as that.
fn is_record(record: Value<'_, '_>) -> bool {
    let Some((path, body, _)) = bodies(record) else { return false };
    // A body alone may be anything's.
    if path == ["body"] && record.get_any(&["url", "uri", "path", "method"]).is_none() {
        return false;
    }
    let Some(text) = body.as_str() else {
        return matches!(path, ["body" | "request_body"]) && exchange::is_request(body);
    };
    text.trim_ascii_start().starts_with('{') && exchange::is_request(Document::read(text.as_bytes()).root())
}

/// The body of a record's request, with its path, and that of its response.
fn bodies<'d, 's>(
    record: Value<'d, 's>,
) -> Option<(&'static [&'static str], Value<'d, 's>, Response<'d, 's>)> {
    PLACES.iter().find_map(|(path, responses)| {
        let is_body = |body: &Value<'_, '_>| body.is_object() || body.as_json_str().is_some();
        let body = at(record, path).filter(is_body)?;
        let is_answer = |body: &Value<'_, '_>| is_body(body) || body.is_array();
        let found = |path: &&'static [&'static str]| Some((*path, at(record, path).filter(is_answer)?));
        Some((*path, body, responses.iter().find_map(found)))
    })
}

/// The body of a response, with its path.
type Response<'d, 's> = Option<(&'static [&'static str], Value<'d, 's>)>;

fn at<'d, 's>(record: Value<'d, 's>, path: &[&str]) -> Option<Value<'d, 's>> {
    path.iter().try_fold(record, |value, key| value.get(key))
}

fn read(bytes: &[u8], limits: Limits) -> Option<Opened> {
    let mut maker = Maker::new(bytes.len(), limits);
    entries::each(
        bytes,
        &mut maker,
        |root| root,
        |maker, at, entry| {
            let Some((path, body, response)) = bodies(entry) else {
                return maker.leave_out(Reason::NoBody);
            };
            let text = |value: Value<'_, '_>| text(bytes, at.start, value);
            maker.add(Recorded {
                request_label: at.label(&path.join(".")),
                request: Box::new(move |_| text(body)),
                url: url_of(entry),
                response_label: at.label(&response.map_or(&["response"][..], |it| it.0).join(".")),
                response: response.map(|(_, body)| -> Encoded<'_> { Box::new(move |_| text(body)) }),
                status: status_of(entry),
            });
        },
    );
    Some(maker.finish(&CONTAINER, None))
}

/// The text of a body, in a record that starts at a byte of the file.
pub(super) fn text(file: &[u8], start: usize, value: Value<'_, '_>) -> Body {
    let span = value.span().range();
    let span = start + span.start..start + span.end;
    Ok(match value.as_str() {
        Some(text) => json_text(file, &span, &text),
        None => Mapped::same(value.raw(), span.start),
    })
}

fn url_of(entry: Value<'_, '_>) -> String {
    let request = entry.get("request").filter(|request| request.is_object());
    let places = [request, Some(entry)];
    let url = places.into_iter().flatten().find_map(|value| value.get_any(&["url", "uri", "path"])?.as_str());
    url.unwrap_or_default().into_owned()
}

fn status_of(entry: Value<'_, '_>) -> Option<u16> {
    let names = ["status", "status_code", "statusCode", "response_status"];
    let inside = || entry.get("response").and_then(|response| response.get_any(&names));
    let status = entry.get_any(&names).or_else(inside)?.as_u64()?;
    u16::try_from(status).ok().filter(|status| (100..600).contains(status))
}
