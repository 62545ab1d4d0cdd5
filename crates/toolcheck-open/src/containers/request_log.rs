//! Logs of clients, proxies and gateways, whose records keep the bodies of requests as strings, and other files that have a
//! request and its response at places of their own: batches of Bedrock
//! (<https://docs.aws.amazon.com/bedrock/latest/userguide/batch-inference-results.html>), recordings of Azure's test proxy
//! (`Azure/azure-sdk-tools`, `Azure.Sdk.Tools.TestProxy.Common/RecordEntry.cs`), expectations of MockServer
//! (<https://www.mock-server.com/mock_server/creating_expectations.html>), frames of a WebSocket, batches of xAI
//! (<https://docs.x.ai/developers/advanced-api-usage/batch-api>), bodies of Cloudflare's universal endpoint
//! (<https://developers.cloudflare.com/ai-gateway/usage/universal/>), collections of Postman
//! (<https://schema.postman.com/collection/json/v2.1.0/draft-07/docs/index.html>), sessions of Charles, simulations of
//! Hoverfly (<https://docs.hoverfly.io/en/latest/pages/keyconcepts/simulations/simulations.html>), stubs of Mountebank
//! (<https://www.mbtest.org/docs/api/contracts>), cassettes of EasyVCR, and the logs of Kong
//! (<https://developer.konghq.com/ai-gateway/ai-audit-log-reference/>), Bedrock
//! (<https://docs.aws.amazon.com/bedrock/latest/userguide/model-invocation-logging.html>) and Vertex AI
//! (<https://docs.cloud.google.com/vertex-ai/generative-ai/docs/multimodal/request-response-logging>).

use toolcheck_core::exchange;
use toolcheck_json::origins::{Mapped, Opened};
use toolcheck_json::{Document, Value};

use super::{Container, HEAD, entries, first_line, head_has, lines};
use crate::exchanges::{Encoded, Maker, Recorded, is_json_rpc};
use crate::frames::{self, Frames};
use crate::needs::Needs;
use crate::reason::{Body, Reason};
use crate::tree::json_text;
use crate::{Limits, decode};

pub(super) static CONTAINER: Container =
    Container { id: "request-log", name: "log of requests", needs: Needs::Nothing, sniff, read };

/// The keys that lead to a value.
type Path = &'static [&'static str];

/// Where a record may have the body of its request, where that of its response then is, and what is special there.
struct Place(Path, &'static [Path], Special);

#[derive(PartialEq)]
enum Special {
    Nothing,
    /// What has its body there as an object is an exchange, which is no log unless something else shows one.
    Exchange,
    /// The body alone may be anything's: one of these keys is beside it.
    Beside(Path),
    /// The request may be one of JSON-RPC.
    JsonRpc,
    /// The address is not in the log: that of `request` is what the client called.
    NoAddress,
    /// The record is one of a batch.
    Batch,
    /// The record has no status, and an answer only if the request was accepted.
    NoStatus,
}

const PLACES: &[Place] = &[
    Place(
        &["request", "body", "b64"],
        &[&["response", "body", "b64"], &["response", "body"], &["chunks"]],
        Special::Nothing,
    ),
    Place(&["request", "body", "raw"], &[&["response", "body"]], Special::Nothing),
    Place(&["request", "body", "text"], &[&["response", "body", "text"]], Special::Nothing),
    Place(&["request", "body", "value"], OF_KIND, Special::Nothing),
    // What Kong sends.
    Place(
        &["ai", "proxy", "payload", "request"],
        &[&["ai", "proxy", "payload", "response"]],
        Special::NoAddress,
    ),
    Place(&["request", "body"], &[&["response", "body"], &["response"]], Special::Exchange),
    // What MCP Inspector exports of its network requests.
    Place(&["requestBody"], &[&["responseBody"]], Special::JsonRpc),
    Place(&["request_body"], &[&["response_body"], &["response"]], Special::Nothing),
    Place(&["request"], &[&["response", "body"], &["response"]], Special::Exchange),
    Place(
        &["body"],
        &[&["response", "body"], &["response_body"], &["response"]],
        Special::Beside(&["url", "uri", "path", "method"]),
    ),
    Place(&["httpRequest", "body", "json"], OF_MOCK, Special::Nothing),
    Place(&["httpRequest", "body", "string"], OF_MOCK, Special::Nothing),
    Place(&["RequestBody"], &[&["ResponseBody"]], Special::Nothing),
    Place(&["modelInput"], &[&["modelOutput"], &["error"]], Special::Batch),
    Place(&["batch_request", "chat_get_completion"], &[], Special::Batch),
    Place(&["query"], &[], Special::Beside(&["provider"])),
    Place(&["Request", "Body"], &[&["Response", "Body"]], Special::Nothing),
    Place(&["predicates", "deepEquals", "body"], OF_STUB, Special::Nothing),
    Place(&["predicates", "equals", "body"], OF_STUB, Special::Nothing),
    Place(&["input", "inputBodyJson"], &[&["output", "outputBodyJson"]], Special::NoStatus),
    Place(&["full_request"], &[&["full_response"]], Special::NoStatus),
    Place(&["raw_request"], &[&["raw_response"]], Special::NoStatus),
    // Tapes of talkback (ijpiantanida/talkback), and loggers that shorten the words as it does.
    Place(&["req", "body"], &[&["res", "body"], &["res", "body_raw"]], Special::Nothing),
];

/// Where seinfeld (`braintrustdata/braintrust-sdk-javascript`) has the response, by its kind.
const OF_KIND: &[Path] =
    &[&["response", "body", "value"], &["response", "body", "chunks"], &["response", "body"]];

const OF_STUB: &[Path] = &[&["responses", "is", "body"]];

/// Where an expectation of MockServer may have its response.
const OF_MOCK: &[Path] =
    &[&["httpResponse", "body", "json"], &["httpResponse", "body", "string"], &["httpResponse", "body"]];

/// The lists of records in a document: of Azure's test proxy, of xAI, of Hoverfly, of Postman and Mountebank, whose folders
/// have lists of their own, of Vercel's AI SDK, and of recorders that people wrote for themselves.
const LISTS: [&str; 9] =
    ["Entries", "batch_requests", "pairs", "item", "imposters", "calls", "entries", "exchanges", "records"];
const FOLDERS: [&str; 2] = ["item", "stubs"];

/// How far from its start a file with one of these has it: they are the first key, and `"modelInput"` of a line the first
/// or the second.
const START: usize = 128;
const FIRST: [&[u8]; 4] = [b"\"Entries\"", b"\"modelInput\"", b"\"batch_requests\"", b"\"provider\""];
/// Keys that the first record has further on.
const EARLY_START: usize = 2 << 10;
const EARLY: [&[u8]; 5] =
    [b"\"Request\"", b"\"inputBodyJson\"", b"\"full_request\"", b"\"raw_request\"", b"\"req\""];

/// How many records of a list are looked at, and how deep folders may be.
const LOOKED_AT: usize = 16;

fn sniff(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(HEAD)];
    if head_has(&bytes[..bytes.len().min(super::START)], b"response.create") {
        let is_frame = |text: &[u8]| {
            let document = Document::read(text);
            let (root, list) = (document.root(), document.root().elements());
            frames::is_request(root) || list.take(LOOKED_AT).any(frames::is_request)
        };
        if lines(head).take(LOOKED_AT).any(is_frame) || is_frame(head) {
            return true;
        }
    }
    // Most files have no such key, and need not be read.
    let starts = |key: &[u8]| memchr::memmem::find(&head[..head.len().min(START)], key).is_some();
    if ![&b"\"request"[..], b"\"body\""].iter().any(|key| head_has(bytes, key))
        && !FIRST.into_iter().any(starts)
        && !EARLY.into_iter().any(|key| head_has(&bytes[..bytes.len().min(EARLY_START)], key))
    {
        return false;
    }
    let line = first_line(head).unwrap_or_default();
    let times = lines(head).filter(|line| !line.trim_ascii().is_empty());
    let times = times.map(|line| entries::time_of(Document::read(line).root()));
    let is_newest_first = entries::is_newest_first(times);
    // A long record may be cut; what is there says enough.
    let holds = |text| holds_record(Document::read(text).root(), LOOKED_AT, is_newest_first);
    [line, head].into_iter().any(holds)
}

/// Whether a value is a record, or a list with one. A log is known by its first record.
fn holds_record(root: Value<'_, '_>, depth: usize, takes_exchanges: bool) -> bool {
    if root.is_array() {
        let takes_exchanges =
            takes_exchanges || entries::is_newest_first(root.elements().map(entries::time_of));
        return root.elements().next().is_some_and(|first| is_record(first, takes_exchanges));
    }
    match root.get_any(&FOLDERS).unwrap_or_else(|| list_of(root)) {
        list if depth > 0 && list.is_array() => {
            list.elements().take(LOOKED_AT).any(|inner| holds_record(inner, depth - 1, true))
        }
        _ => is_record(root, takes_exchanges),
    }
}

/// Whether a record holds a request to an LLM as a string, or under a key that only logs have. What is an exchange
/// already is read as that, unless the newest comes first or a list around it has a name.
fn is_record(record: Value<'_, '_>, takes_exchanges: bool) -> bool {
    let Some((Place(path, _, special), body, _)) = bodies(record) else { return false };
    if let Special::Beside(keys) = special
        && record.get_any(keys).is_none()
    {
        return false;
    }
    let Some(text) = body.as_str() else {
        return (takes_exchanges || *special != Special::Exchange) && exchange::is_request(body);
    };
    let text = decoded(Mapped::same(text.as_bytes(), 0), path);
    text.is_ok_and(|text| {
        text.text().trim_ascii_start().starts_with(b"{") && {
            let document = Document::read(text.text());
            exchange::is_request(document.root()) || *special == Special::JsonRpc && is_json_rpc(&document)
        }
    })
}

fn bodies<'d, 's>(record: Value<'d, 's>) -> Option<(&'static Place, Value<'d, 's>, Response<'d, 's>)> {
    PLACES.iter().find_map(|place| {
        let Place(path, responses, _) = place;
        let is_body = |body: &Value<'_, '_>| body.is_object() || body.is_string();
        let body = at(record, path).filter(is_body)?;
        let is_answer = |body: &Value<'_, '_>| is_body(body) || body.is_array();
        let found = |path: &Path| Some((*path, at(record, path).filter(is_answer)?));
        Some((place, body, responses.iter().find_map(found)))
    })
}

/// The body of a response, with its path.
type Response<'d, 's> = Option<(Path, Value<'d, 's>)>;

/// The value at a path, where the first of a list stands for it.
fn at<'d, 's>(record: Value<'d, 's>, path: &[&str]) -> Option<Value<'d, 's>> {
    path.iter().try_fold(record, |value, key| value.elements().next().unwrap_or(value).get(key))
}

fn read(bytes: &[u8], limits: Limits) -> Option<Opened> {
    let mut maker = Maker::new(bytes.len(), limits);
    let mut frames = Frames::to(String::new());
    entries::each(bytes, &mut maker, list_of, |maker, at, entry| {
        let may_be = frames.is_open() || frames::is_request(entry);
        let frame = frames::frame_of(entry);
        let label = at.label(&frame.key_text().unwrap_or_default());
        let frame = may_be.then(|| text(bytes, at.start, frame).ok()).flatten();
        if frame.is_some_and(|frame| frames.see(label.trim_end_matches('.').to_owned(), &frame, maker)) {
            return;
        }
        // A folder has a list of its own.
        let mut open = vec![(String::new(), entry)];
        while let Some((path, entry)) = open.pop() {
            let Some(folder) = entry.get_any(&FOLDERS) else {
                add(bytes, at, (&path, entry), maker);
                continue;
            };
            let key = folder.key_text().unwrap_or_default();
            let inner = (0..).zip(folder.elements());
            let before = open.len();
            open.extend(inner.map(|(number, entry)| (format!("{path}{key}[{number}]."), entry)));
            open[before..].reverse();
        }
    });
    frames.finish(&mut maker);
    Some(maker.finish(&CONTAINER, None))
}

fn list_of<'d, 's>(root: Value<'d, 's>) -> Value<'d, 's> {
    let holder = root.get("data").filter(|data| data.has("pairs")).unwrap_or(root);
    let mut lists = LISTS.iter().filter_map(|key| holder.get(key));
    lists.find(|list| list.is_array()).unwrap_or(root)
}

/// Adds a record, which has a path in its entry.
fn add(bytes: &[u8], at: &entries::Entry, (inside, entry): (&str, Value<'_, '_>), maker: &mut Maker) {
    let Some((Place(path, _, special), body, response)) = bodies(entry) else {
        return maker.leave_out(Reason::NoBody);
    };
    let text = |value: Value<'_, '_>, path: &[&str]| decoded(text(bytes, at.start, value)?, path);
    let label = |path: &[&str]| at.label(&format!("{inside}{}", path.join(".")));
    maker.is_batch = *special == Special::Batch;
    let is_answer = |body: Value<'_, '_>| body.get_any(&["error", "errorCode", "message"]).is_none();
    let is_accepted = *special == Special::NoStatus && response.is_some_and(|it| is_answer(it.1));
    maker.add(Recorded {
        request_label: label(path),
        request: Box::new(move |_| text(body, path)),
        url: if *special == Special::NoAddress { String::new() } else { url_of(entry) },
        response_label: label(response.map_or(&["response"], |it| it.0)),
        response: response.map(|(path, body)| -> Encoded<'_> {
            Box::new(move |budget| {
                let text = text(body, path)?;
                // Nock writes the bytes of a compressed response as hexadecimal digits, in pieces.
                match decode::hexadecimal(&text).filter(|_| body.is_array()) {
                    Some(packed) => decode::decompressed(packed, encoding_of(entry).as_deref(), budget),
                    None => Ok(text),
                }
            })
        }),
        status: status_of(entry).or(is_accepted.then_some(200)),
    });
}

/// A body as it is at a path: req_llm has those of requests, and the pieces of streams, in Base64 (`agentjido/req_llm`, `test/support/fixtures`).
fn decoded(body: Mapped, path: &[&str]) -> Body {
    if path.last() == Some(&"b64") { decode::base64(&body).ok_or(Reason::NotJson) } else { Ok(body) }
}

/// How the headers of a response, which nock has in a list or an object, say that it is compressed.
fn encoding_of(entry: Value<'_, '_>) -> Option<String> {
    let headers = entry.get("rawHeaders")?;
    let is_name = |name: &str| name.eq_ignore_ascii_case("content-encoding");
    let named = headers.members().find(|header| header.key_text().is_some_and(|key| is_name(&key)));
    let listed =
        || headers.elements().skip_while(|name| !name.as_str().is_some_and(|name| is_name(&name))).nth(1);
    named.or_else(listed)?.as_str().map(|encoding| encoding.to_ascii_lowercase())
}

/// The text of a body, in a record that starts at a byte of the file.
pub(super) fn text(file: &[u8], start: usize, value: Value<'_, '_>) -> Body {
    let span = value.span().range();
    let span = start + span.start..start + span.end;
    if let Some(text) = value.as_str() {
        return Ok(json_text(file, &span, &text));
    }
    // Azure's test proxy has a list of the lines of a text, each with its end, and req_llm one of the pieces of a stream.
    let pieces = || value.elements().map(|line| (line, line.get("b64").unwrap_or(line)));
    if !value.is_array() || pieces().any(|(_, piece)| piece.as_json_str().is_none()) {
        return Ok(Mapped::same(value.raw(), span.start));
    }
    let mut whole = Mapped::default();
    for (line, piece) in pieces() {
        let path: &[&str] = if line.is_object() { &["b64"] } else { &[] };
        let line = decoded(text(file, start, piece)?, path)?;
        // Some keep the events of a stream without what is between them.
        if line.text().starts_with(b"data:") && !matches!(whole.text().last(), None | Some(b'\n')) {
            let end = start + piece.span().start as usize;
            whole.push_whole(b"\n\n", end..end);
        }
        whole.push_part(&line, 0..line.text().len());
    }
    Ok(whole)
}

fn url_of(entry: Value<'_, '_>) -> String {
    let request =
        entry.get_any(&["request", "httpRequest", "Request", "req"]).filter(|request| request.is_object());
    let places = [request, Some(entry), at(entry, &["predicates", "deepEquals"])];
    // Nock has the host apart.
    if let Some((scope, path)) = entry.get_str("scope").zip(entry.get_str("path")) {
        return format!("{scope}{path}");
    }
    let keys = ["url", "uri", "path", "RequestUri", "Uri"];
    let urls = places.into_iter().flatten().filter_map(|it| it.get_any(&keys));
    let texts = urls.filter_map(|url| url.get("raw").or_else(|| at(url, &["value"])).unwrap_or(url).as_str());
    texts.into_iter().next().unwrap_or_default().into_owned()
}

fn status_of(entry: Value<'_, '_>) -> Option<u16> {
    const NAMES: [&str; 7] =
        ["status", "status_code", "statusCode", "response_status", "responseStatus", "StatusCode", "code"];
    const PLACES: [&[&str]; 5] =
        [&["response"], &["httpResponse"], &["responses", "is"], &["Response"], &["res"]];
    let inside = PLACES.iter().filter_map(|path| at(entry, path));
    let places = inside.map(|response| response.elements().next().unwrap_or(response));
    let named = [entry].into_iter().chain(places).find_map(|value| exchange::status(value.get_any(&NAMES)?));
    named.or_else(|| exchange::status(at(entry, &["Response", "Status", "Code"])?))
}
