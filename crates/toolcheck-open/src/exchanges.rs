//! From what a recording holds to the made text: a line for each exchange with an LLM.

use std::collections::BTreeMap;
use std::mem;
use std::ops::Range;
use std::sync::Arc;

use toolcheck_core::endpoint::{self, Purpose};
use toolcheck_core::readers;
use toolcheck_core::unsupported::{self, Relevance, Unsupported};
use toolcheck_core::{exchange, response};
use toolcheck_json::Document;
use toolcheck_json::origins::{Builder, LeftOut, Mapped, Opened, Origin, Unread};

use crate::budget::Budget;
use crate::container::Container;
use crate::reason::{Body, Reason};
use crate::tree::{Id, Tree};
use crate::written::quoted;
use crate::{Limits, decode, event_stream, needs};

/// An exchange in a file. Its bodies are not decoded before they are needed.
pub(crate) struct Recorded<'f> {
    /// The name of the request's body in the file.
    pub(crate) request_label: String,
    pub(crate) request: Encoded<'f>,
    /// The address, or its path; empty if it is not known.
    pub(crate) url: String,
    /// The name of the response's body in the file.
    pub(crate) response_label: String,
    pub(crate) response: Option<Encoded<'f>>,
    pub(crate) status: Option<u16>,
}

/// Decodes a body, if there is room for it.
pub(crate) type Encoded<'f> = Box<dyn FnOnce(&Budget) -> Body + 'f>;

/// The made text while it is written.
pub(crate) struct Maker {
    builder: Builder,
    most: usize,
    pub(crate) budget: Budget,
    count: usize,
    left_out: BTreeMap<Reason, usize>,
    /// The first request to an LLM API that holds messages or calls and is not read, and the number of them.
    unread: (Option<UnreadRequest>, usize),
    /// Whether what is added are lines of a batch, of which none goes on from another one.
    pub(crate) is_batch: bool,
    /// What was sent and answered in a protocol: in JSON-RPC over HTTP by its address, in a conversation that the server has
    /// by its id. It is read where a file has nothing else, because a log of a protocol is one file.
    messages: Vec<Log>,
    /// An exchange whose response is still made, and those after it: a later one may fetch what it has become.
    held: Vec<Made>,
}

/// What was sent and answered in one place of a protocol.
struct Log {
    key: String,
    messages: Vec<(String, Mapped)>,
    /// The number of messages before a request that was refused, if it is the last one.
    refused_at: Option<usize>,
    /// What it is in a file that has something else.
    reason: Reason,
}

/// An exchange as it is written.
struct Made {
    request: (String, Mapped),
    response: Option<(String, Mapped)>,
    status: Option<u16>,
    url: String,
    /// The id of the response, while it is still made.
    awaits: Option<String>,
}

/// A request to an LLM API that is not read.
struct UnreadRequest {
    label: String,
    at: usize,
    status: Option<u16>,
    kind: Option<&'static Unsupported>,
}

/// How many exchanges wait for one whose response is still made.
const MOST_HELD: usize = 1024;
/// How much of a response is kept that is neither JSON nor a stream.
const LONGEST_TEXT: usize = 2_000;

impl Maker {
    pub(crate) fn new(file: usize, limits: Limits) -> Self {
        Self {
            builder: Builder::default(),
            most: limits.most_bytes,
            budget: Budget::of_file(file, limits),
            count: 0,
            left_out: BTreeMap::new(),
            unread: (None, 0),
            is_batch: false,
            messages: Vec::new(),
            held: Vec::new(),
        }
    }

    /// How many more bytes may be made.
    fn room(&self) -> usize {
        let held: usize = self.held.iter().map(Made::len).sum();
        self.most.saturating_sub(self.builder.len() + held)
    }

    pub(crate) fn leave_out(&mut self, reason: Reason) {
        *self.left_out.entry(reason).or_default() += 1;
    }

    pub(crate) fn add(&mut self, mut recorded: Recorded<'_>) {
        let purpose = endpoint::purpose(&recorded.url);
        if purpose == Purpose::Other {
            return self.leave_out(Reason::NotForLlm);
        }
        let request = mem::replace(&mut recorded.request, Box::new(|_| Err(Reason::NoBody)));
        let body = match request(&self.budget) {
            Ok(body) => body,
            Err(Reason::NoBody) => Mapped::default(),
            Err(reason) => return self.leave_out(reason),
        };
        let says = || Document::read(body.text()).root().has("inputs");
        if let Some(key) = exchange::conversation_at(&recorded.url).filter(|_| says()) {
            return self.add_messages(body, recorded, key, Reason::NotRead);
        }
        let request = match request_of(&body, &recorded.url, purpose) {
            Ok(()) if purpose == Purpose::Llm || !is_of_protocol(&Document::read(body.text())) => {
                trimmed(body)
            }
            Ok(()) | Err(Refused { reason: Reason::NotForLlm, .. })
                if self.is_message(&body, &recorded.url) =>
            {
                let key = recorded.url.clone();
                return self.add_messages(body, recorded, key, Reason::NotForLlm);
            }
            Ok(()) => trimmed(body),
            Err(Refused { reason: Reason::NoBody, .. }) => return self.add_fetched(recorded),
            Err(refused) => return self.add_unread(&body, recorded, refused),
        };
        let response = self.response(recorded.response);
        let awaits = response.as_ref().and_then(response_id).filter(|(_, is_made)| !is_made);
        let made = Made {
            request: (recorded.request_label, request),
            response: response.map(|response| (recorded.response_label, response)),
            status: recorded.status,
            url: recorded.url,
            awaits: awaits.map(|(id, _)| id),
        };
        if made.len() > self.room() {
            return self.leave_out(Reason::TooLarge);
        }
        self.count += 1;
        self.held.push(made);
        self.write_held(self.held.len() > MOST_HELD);
    }

    /// Adds the requests in a body that has many, which is none itself. That it was taken says nothing yet of them.
    fn add_unread(&mut self, body: &Mapped, recorded: Recorded<'_>, refused: Refused) {
        let parts = if refused.reason == Reason::NotRead { parts_of_batch(body) } else { Vec::new() };
        if !parts.is_empty() {
            return parts.iter().for_each(|part| self.add_record(recorded.request_label.clone(), part));
        }
        if refused.reason == Reason::NotJson && is_refused_request(body, recorded.status) {
            return self.add_broken(body, recorded);
        }
        self.leave_out(refused.reason);
        if let Some((at, kind)) = refused.unread {
            let (label, status) = (recorded.request_label, recorded.status);
            self.unread.0.get_or_insert(UnreadRequest { label, at, status, kind });
            self.unread.1 += 1;
        }
    }

    /// Adds a request with mistakes in its JSON by itself, as the one line that it then is.
    fn add_broken(&mut self, body: &Mapped, recorded: Recorded<'_>) {
        if body.text().len() > self.room() {
            return self.leave_out(Reason::TooLarge);
        }
        let mut line = Mapped::default();
        let mut at = 0;
        for piece in body.text().split_inclusive(|byte| *byte == b'\n') {
            let text = piece.strip_suffix(b"\n").unwrap_or(piece);
            line.push_part(body, at..at + text.len());
            at += piece.len();
            if text.len() < piece.len() {
                line.push_whole(b" ", body.source_of(at - 1..at).unwrap_or(0..0));
            }
        }
        self.count += 1;
        self.builder.value("", origin_of(recorded.request_label, recorded.status), &line);
        self.builder.glue("\n");
    }

    fn response(&mut self, response: Option<Encoded<'_>>) -> Option<Mapped> {
        let response = match response.map(|response| response(&self.budget)) {
            Some(Ok(body)) => response_of(&body),
            None | Some(Err(Reason::NoBody)) => Ok(None),
            Some(Err(reason)) => Err(reason),
        };
        response.unwrap_or_else(|reason| {
            self.leave_out(reason);
            None
        })
    }

    /// Puts a response that is fetched in place of the one that was not made yet.
    fn add_fetched(&mut self, recorded: Recorded<'_>) {
        if self.held.is_empty() {
            return self.leave_out(Reason::NoBody);
        }
        let fetched = self.response(recorded.response);
        let id = fetched.as_ref().and_then(response_id);
        let of =
            |(id, _): &(String, bool)| self.held.iter().position(|made| made.awaits.as_ref() == Some(id));
        let Some((at, (_, is_made))) = id.and_then(|id| Some((of(&id)?, id))) else {
            return self.leave_out(Reason::NoBody);
        };
        if fetched.as_ref().is_some_and(|response| response.text().len() > self.room()) {
            return self.leave_out(Reason::TooLarge);
        }
        if !is_made {
            return;
        }
        self.held[at].awaits = None;
        self.held[at].response = fetched.map(|response| (recorded.response_label, response));
        self.write_held(false);
    }

    /// Writes the exchanges that wait for nothing, or all of them.
    fn write_held(&mut self, all: bool) {
        let waits = |made: &Made| made.awaits.is_some() && !all;
        let ready = self.held.iter().position(waits).unwrap_or(self.held.len());
        let left = self.held.split_off(ready);
        mem::replace(&mut self.held, left).into_iter().for_each(|made| self.write(made));
    }

    fn write(&mut self, made: Made) {
        let origin = |label| origin_of(label, made.status);
        self.builder.glue("{\"request\": ");
        self.builder.value("/request", origin(made.request.0), &made.request.1);
        if let Some((label, response)) = made.response {
            self.builder.glue(", \"response\": ");
            self.builder.value("/response", origin(label), &response);
        }
        if let Some(status) = made.status {
            self.builder.glue(&format!(", \"status\": {status}"));
        }
        if !made.url.is_empty() {
            self.builder.glue(&format!(", \"url\": {}", quoted(&made.url)));
        }
        if self.is_batch {
            self.builder.glue(", \"recordId\": null");
        }
        self.builder.glue("}\n");
    }

    /// Whether the body of a request is a message of a protocol: one that tells which, or that goes where such one went.
    fn is_message(&self, body: &Mapped, url: &str) -> bool {
        let is_known = self.messages.iter().any(|log| log.key == url);
        is_known && is_json_rpc(&Document::read(body.text()))
            || self.messages.len() < MOST_ADDRESSES && {
                let document = Document::read(body.text());
                is_of_protocol(&document) || readers::asks_for_events(document.root())
            }
    }

    /// Adds what was sent in a message and what was answered. What is accepted is answered on another connection.
    fn add_messages(&mut self, body: Mapped, of: Recorded<'_>, key: String, reason: Reason) {
        let answer = of.response.and_then(|response| response_of(&response(&self.budget).ok()?).ok()?);
        let is_rpc = reason == Reason::NotForLlm;
        let is_own = |answer: &Mapped| {
            let document = Document::read(answer.text());
            is_json_rpc(&document)
                || is_of_protocol(&document)
                || readers::streamed(document.root()).is_some()
        };
        let answer = answer.filter(|answer| !is_rpc || is_own(answer));
        let own = answer.as_ref().and_then(|it| exchange::conversation_id(Document::read(it.text()).root()));
        let key = own.filter(|_| !is_rpc).unwrap_or(key);
        let sent = trimmed(body);
        let length = sent.text().len() + answer.as_ref().map_or(0, |answer| answer.text().len());
        let number = self.messages.iter().position(|log| log.key == key);
        let number = number.unwrap_or(self.messages.len());
        if length > self.room() || number == MOST_ADDRESSES {
            return self.leave_out(if number == MOST_ADDRESSES { reason } else { Reason::TooLarge });
        }
        if number == self.messages.len() {
            self.messages.push(Log { key, messages: Vec::new(), refused_at: None, reason });
        }
        let log = &mut self.messages[number];
        // It is sent again as it should be.
        if let Some(at) = log.refused_at.take() {
            log.messages.truncate(at);
            *self.left_out.entry(reason).or_default() += 1;
        }
        let is_refused = !is_rpc && of.status.is_some_and(|status| status >= 400);
        log.refused_at = is_refused.then_some(log.messages.len());
        if answer.is_some() || of.status != Some(ACCEPTED) {
            log.messages.push((of.request_label, sent));
        }
        let Some(answer) = answer else { return };
        // Each event of a stream is a message.
        let document = Document::read(answer.text());
        let events: Vec<_> = document.root().elements().map(|event| event.span().range()).collect();
        let events = events.into_iter().filter(|_| is_rpc).map(|event| part_of(&answer, event));
        let mut messages: Vec<_> = events.map(|event| (of.response_label.clone(), event)).collect();
        if messages.is_empty() {
            messages.push((of.response_label, answer));
        }
        log.messages.extend(messages);
    }

    /// Adds the frames of a connection, which have their texts under this key; `false` if they are of no protocol.
    pub(crate) fn add_frames(&mut self, tree: &Tree<'_>, of: (Id, &str), label: &str, url: &str) -> bool {
        let message = |(number, frame): (usize, &Id)| {
            let text = tree.text(tree.get(*frame, of.1)?, &self.budget).ok()?;
            // A frame that is binary is in base64.
            let text = if text.text().starts_with(b"{") { text } else { decode::base64(&text)? };
            Some((format!("{label}[{number}].{}", of.1), text))
        };
        let messages: Vec<_> = tree.items(of.0).iter().enumerate().filter_map(message).collect();
        let length: usize = messages.iter().map(|(_, text)| text.text().len()).sum();
        let is_log =
            messages.iter().take(LOOKED_AT).any(|(_, text)| is_of_protocol(&Document::read(text.text())));
        if !is_log || length > self.room() {
            return false;
        }
        let (key, reason) = (url.to_owned(), Reason::NotForLlm);
        self.messages.push(Log { key, messages, refused_at: None, reason });
        true
    }

    pub(crate) fn add_record(&mut self, label: String, body: &Mapped) {
        if body.text().len() > self.room() {
            return self.leave_out(Reason::TooLarge);
        }
        self.count += 1;
        self.builder.value("", Arc::new(Origin::new(label)), body);
        self.builder.glue("\n");
    }

    pub(crate) fn add_response(&mut self, label: String, body: &Mapped) {
        let response = response_of(body).ok().flatten();
        let response = response.filter(|response| response.text().len() <= self.room());
        let Some(response) = response else { return self.leave_out(Reason::OddAnswer) };
        let document = Document::read(response.text());
        // What a server of agents streams is no response of an API.
        if readers::streamed(document.root()).is_some() {
            return self.add_record(label, &response);
        }
        if response::read_any(document.root()).is_none() {
            return self.leave_out(Reason::OddAnswer);
        }
        self.count += 1;
        self.builder.glue("{\"response\": ");
        self.builder.value("/response", Arc::new(Origin::new(label)), &response);
        self.builder.glue("}\n");
    }

    pub(crate) fn finish(mut self, container: &Container, broken_at: Option<usize>) -> Opened {
        self.write_held(true);
        let is_log = self.count == 0;
        for log in mem::take(&mut self.messages) {
            for (label, message) in log.messages {
                if is_log {
                    self.add_record(label, &message);
                } else {
                    self.leave_out(log.reason);
                }
            }
        }
        let (text, origins) = self.builder.finish();
        let not_built = self.left_out.contains_key(&Reason::NotBuilt).then_some(needs::COMPRESSED);
        let (first, count) = self.unread;
        let unread = first.map(|first| Unread {
            what: match (count, first.kind) {
                (1, Some(kind)) => kind.describe(),
                (1, None) => "a request to an LLM API is in an unsupported format".to_owned(),
                (_, Some(kind)) => {
                    format!("{count} requests to an LLM API are not read: {}", kind.describe())
                }
                (_, None) => format!("{count} requests to an LLM API are in an unsupported format"),
            },
            at: first.at,
            origin: Some(origin_of(first.label, first.status)),
            advice: first.kind.and_then(|kind| kind.advice).map(str::to_owned),
        });
        let left_out = self.left_out.into_iter().map(|(reason, count)| {
            let (one, what) = reason.describe();
            LeftOut { one, what, count }
        });
        Opened {
            text,
            origins,
            exchanges: self.count,
            left_out: left_out.collect(),
            broken_at,
            unread,
            not_built,
            ..container.opened()
        }
    }
}

impl Made {
    fn len(&self) -> usize {
        self.request.1.text().len() + self.response.as_ref().map_or(0, |(_, response)| response.text().len())
    }
}

/// The id of a response that is alone, and whether it is made.
fn response_id(response: &Mapped) -> Option<(String, bool)> {
    response::id_and_progress(Document::read(response.text()).root())
}

/// The requests in the body of one that sends many at once.
fn parts_of_batch(body: &Mapped) -> Vec<Mapped> {
    let document = Document::read(body.text());
    let all = document.root().list("requests");
    let all = all.filter_map(|entry| entry.get("params")).filter(|params| exchange::is_request(*params));
    all.map(|params| part_of(body, params.span().range())).collect()
}

fn part_of(body: &Mapped, range: Range<usize>) -> Mapped {
    let mut inner = Mapped::default();
    inner.push_part(body, range);
    inner
}

fn origin_of(label: String, status: Option<u16>) -> Arc<Origin> {
    let mut origin = Origin::new(label);
    origin.status = status;
    Arc::new(origin)
}

/// Why the body of a request is not in the made text.
struct Refused {
    reason: Reason,
    unread: Option<(usize, Option<&'static Unsupported>)>,
}

impl From<Reason> for Refused {
    fn from(reason: Reason) -> Self {
        Self { reason, unread: None }
    }
}

/// Whether the body of a request whose JSON has mistakes shows enough of one to an LLM, and the API refused it: what it
/// accepted was changed since.
fn is_refused_request(body: &Mapped, status: Option<u16>) -> bool {
    status.is_some_and(|status| status >= 400) && exchange::is_request(Document::read(body.text()).root())
}

const MOST_ADDRESSES: usize = 64;

/// The status of what is answered on another connection, if it is.
const ACCEPTED: u16 = 202;

/// The frames of which one tells the protocol.
const LOOKED_AT: usize = 16;

/// Whether a text is a message of a protocol, or a list of some.
fn is_of_protocol(document: &Document<'_>) -> bool {
    readers::of_protocol(document.root()).is_some()
}

/// Whether a text is a message of JSON-RPC, or a list of some.
pub(crate) fn is_json_rpc(document: &Document<'_>) -> bool {
    let root = document.root();
    root.elements().next().unwrap_or(root).has("jsonrpc")
}

fn request_of(body: &Mapped, url: &str, purpose: Purpose) -> Result<(), Refused> {
    let text = body.text();
    if text.iter().all(u8::is_ascii_whitespace) {
        return Err(Reason::NoBody.into());
    }
    let document = Document::read(text);
    if let Some(fault) = document.faults().iter().find(|fault| !fault.kind.is_in_text()) {
        let is_cut = fault.kind.is_cut() && document.root().is_object();
        return Err(if is_cut { Reason::CutOff } else { Reason::NotJson }.into());
    }
    let root = document.root();
    if let Some(items) = exchange::put_items(url, root) {
        return if items.elements().next().is_some() { Ok(()) } else { Err(Reason::NotForLlm.into()) };
    }
    if purpose != Purpose::NotRead && exchange::is_request(root) {
        return Ok(());
    }
    let kind = unsupported::conversation(root).filter(|kind| kind.relevance == Relevance::Request);
    if !(matches!(purpose, Purpose::Llm | Purpose::NotRead) || kind.is_some()) || !root.is_object() {
        return Err(Reason::NotForLlm.into());
    }
    let place = || body.source_of(0..text.len()).map_or(0, |span| span.start);
    let is_unread = kind.is_some() || unsupported::holds_messages(root);
    Err(Refused { reason: Reason::NotRead, unread: is_unread.then(|| (place(), kind)) })
}

fn trimmed(body: Mapped) -> Mapped {
    let text = body.text();
    let is_space = |byte: &u8| byte.is_ascii_whitespace();
    let start = text.iter().take_while(|byte| is_space(byte)).count();
    let end = text.len() - text[start..].iter().rev().take_while(|byte| is_space(byte)).count();
    if start == 0 && end == text.len() {
        return body;
    }
    part_of(&body, start..end)
}

/// The events of an event stream of AWS, which some recorders keep in base64; `None` if it is something else.
fn binary_events(body: &Mapped) -> Option<Result<String, Reason>> {
    let bytes = body.text();
    // The length of a frame, which is never so long that its first three bytes are not 0.
    let decoded = if bytes.starts_with(b"AAA") { toolcheck_json::from_base64(bytes) } else { None };
    let bytes = decoded.as_deref().unwrap_or(bytes);
    event_stream::is_stream(bytes).then(|| event_stream::json(bytes).ok_or(Reason::Damaged))
}

/// A response as JSON: a value, or the list of the events of a stream; `None` if it is empty.
fn response_of(body: &Mapped) -> Result<Option<Mapped>, Reason> {
    let bytes = body.text();
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    if let Some(events) = binary_events(body) {
        let place = body.source_of(0..bytes.len()).unwrap_or(0..0);
        return Ok(Some(Mapped::whole(events?.into_bytes(), place)));
    }
    let document = Document::read(bytes);
    let root = document.root();
    if (root.is_object() || root.is_array()) && document.faults().iter().all(|fault| fault.kind.is_in_text())
    {
        return Ok(Some(trimmed(body.clone())));
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return Err(Reason::OddResponse) };
    let events = response::values_in(text);
    if events.is_empty() {
        let start: String = text.chars().take(LONGEST_TEXT).collect();
        let place = body.source_of(0..bytes.len()).unwrap_or(0..0);
        return Ok(Some(Mapped::whole(quoted(&start).into_bytes(), place)));
    }
    let mut list = Mapped::default();
    let place = body.source_of(0..bytes.len()).unwrap_or(0..0);
    for (number, event) in events.into_iter().enumerate() {
        list.push_whole(if number == 0 { b"[" } else { b"," }, place.clone());
        for (number, line) in event.into_iter().enumerate() {
            if number > 0 {
                list.push_whole(b" ", place.clone());
            }
            list.push_part(body, line);
        }
    }
    list.push_whole(b"]", place);
    Ok(Some(list))
}
