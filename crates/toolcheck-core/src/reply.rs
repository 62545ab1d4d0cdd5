//! What a model says, as an API returns it: at once, or as the events of a stream.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json};
use toolcheck_json::to_base64;

use crate::conversation::Assistant;

/// A turn of the model with what an API adds to it. [`Format::write_reply`](crate::Format::write_reply) writes it as a body, and
/// [`Format::write_stream`](crate::Format::write_stream) as the events of a stream.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Reply {
    /// The id of the response.
    pub id: String,
    /// The model that it names.
    pub model: String,
    /// What the model says.
    pub said: Assistant,
    /// The text that stands in place of the arguments of a call, by the call's number: arguments that are not an object,
    /// not JSON, or cut off.
    pub raw_arguments: BTreeMap<usize, String>,
    /// Whether the reasoning is sent without signatures in a format whose own API sends none, as compatible servers send it.
    pub has_plain_reasoning: bool,
    /// The signatures of calls, by the call's number, where the format has room for them.
    pub call_signatures: BTreeMap<usize, String>,
    /// The calls whose tool takes free text, by their numbers, where the format has room for them: it stands in place of
    /// the arguments.
    pub free_texts: BTreeSet<usize>,
    /// The namespaces of the tools of calls, by the call's number, where the format has room for them.
    pub namespaces: BTreeMap<usize, String>,
    /// Whether calls have their ids even in a format that needs none.
    pub has_call_ids: bool,
    /// Reasoning that the provider has encrypted as a whole, after the rest of it and where the format has room for it.
    pub redacted: Vec<String>,
    /// The calls that the provider has carried out itself, before the text and where the format has room for them.
    pub server_calls: Vec<ServerCall>,
    /// Why the model stopped.
    pub stop: Stop,
    /// The id of the response that the request goes on from, which the server keeps.
    pub previous_response: Option<String>,
    /// Whether the server keeps the response.
    pub is_kept: bool,
    /// What the response repeats of the request ([`Format::repeated`](crate::Format::repeated)).
    pub repeated: Map<String, Json>,
    /// Whether a stream says how many tokens there were, in formats in which it does only if it is asked to.
    pub streams_usage: bool,
    /// The tokens of the request, as the API counts them.
    pub input_tokens: u64,
    /// The tokens of the reply, as the API counts them.
    pub output_tokens: u64,
}

/// A call that the provider has carried out itself, with its result.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ServerCall {
    /// The id.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments.
    pub arguments: Map<String, Json>,
    /// What it has found, as the API writes it.
    pub result: Json,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Stop {
    /// It called tools, or if there is no call, it was done.
    #[default]
    Natural,
    /// It was done, whether or not there are calls.
    End,
    /// It called tools.
    Calls,
    /// It had no more tokens.
    Length,
    /// It is not done, and goes on if its turn is sent back; where the format has no word for that, it was done.
    Pause,
}

/// How a stream divides texts and arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pieces {
    /// The number of characters of each piece; at least 1.
    pub chars: usize,
    /// Whether the pieces of parallel calls take turns. Formats whose events have no room for that write one call after
    /// the other.
    pub interleaved: bool,
    /// Whether each call has the number 0, in formats whose calls are numbered among themselves and have ids.
    pub has_index_zero: bool,
    /// Whether the event is missing that says only that the stream has ended.
    pub lacks_end: bool,
}

/// An event of a stream.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Event {
    /// The name; empty if the events of the format have none.
    pub name: Cow<'static, str>,
    /// The data.
    pub data: Json,
}

impl Event {
    /// The data, under the name unless they say their type themselves.
    pub fn named(self) -> Json {
        if self.data.get("type").is_some() { self.data } else { serde_json::json!({&*self.name: self.data}) }
    }
}

/// How the events of a stream are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Framing {
    /// Server-sent events; the text is the data of a last one, if there is one.
    ServerSent(Option<&'static str>),
    /// One array of all events; server-sent events if the query has this.
    ArrayUnless(&'static str),
    /// One JSON value per line.
    Lines,
    /// Messages of Amazon's binary event stream.
    Binary,
    /// The same, each of which has the bytes of an event of another API in base64.
    Chunks,
}

/// The time at which replies say that they were made, in seconds since 1970: replies are the same in each run.
pub(crate) const CREATED: u64 = 1_767_225_600;
/// The same time as text.
pub(crate) const CREATED_AT: &str = "2026-01-01T00:00:00Z";

impl Reply {
    /// A reply in which the model says this.
    pub fn new(said: Assistant) -> Self {
        let length = |text: &str| text.chars().count() as u64;
        let calls = said.calls.iter().map(|call| call.name.len() as u64 + 4 * call.arguments.len() as u64);
        let output_tokens = 1 + length(&said.text) / 4 + calls.sum::<u64>();
        Self {
            id: "reply_1".to_owned(),
            model: "model".to_owned(),
            said,
            raw_arguments: BTreeMap::new(),
            has_plain_reasoning: false,
            call_signatures: BTreeMap::new(),
            free_texts: BTreeSet::new(),
            namespaces: BTreeMap::new(),
            has_call_ids: false,
            redacted: Vec::new(),
            server_calls: Vec::new(),
            stop: Stop::Natural,
            previous_response: None,
            is_kept: false,
            repeated: Map::new(),
            streams_usage: false,
            input_tokens: 1,
            output_tokens,
        }
    }

    /// The reply with this id of the response, from this model.
    pub fn from_model(mut self, id: impl Into<String>, model: impl Into<String>) -> Self {
        (self.id, self.model) = (id.into(), model.into());
        self
    }

    /// The reply to a request that goes on from this response, if from any, and whether the server keeps it.
    pub fn with_state(mut self, previous_response: Option<String>, is_kept: bool) -> Self {
        (self.previous_response, self.is_kept) = (previous_response, is_kept);
        self
    }

    /// The reply that repeats this of its request.
    pub fn with_repeated(mut self, repeated: Map<String, Json>) -> Self {
        self.repeated = repeated;
        self
    }

    /// The reply whose stream says how many tokens there were.
    pub fn with_streamed_usage(mut self) -> Self {
        self.streams_usage = true;
        self
    }

    /// The reply whose calls have their ids even in a format that needs none.
    pub fn with_call_ids(mut self) -> Self {
        self.has_call_ids = true;
        self
    }

    /// The reply whose reasoning is sent even in a format whose own API sends none.
    pub fn with_plain_reasoning(mut self) -> Self {
        self.has_plain_reasoning = true;
        self
    }

    /// The reply with this number of tokens of the request.
    pub fn with_input_tokens(mut self, tokens: u64) -> Self {
        self.input_tokens = tokens;
        self
    }

    /// The reply with this reason to stop.
    pub fn with_stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// The reply with this text in place of the arguments of a call.
    pub fn with_raw_arguments(mut self, call: usize, text: impl Into<String>) -> Self {
        self.raw_arguments.insert(call, text.into());
        self
    }

    /// The reply with this signature of a call.
    pub fn with_call_signature(mut self, call: usize, signature: impl Into<String>) -> Self {
        self.call_signatures.insert(call, signature.into());
        self
    }

    /// The reply with a call of a tool that takes this text.
    pub fn with_free_text(mut self, call: usize, text: impl Into<String>) -> Self {
        self.free_texts.insert(call);
        self.with_raw_arguments(call, text)
    }

    /// The reply with this namespace of the tool of a call.
    pub fn with_namespace(mut self, call: usize, namespace: impl Into<String>) -> Self {
        self.namespaces.insert(call, namespace.into());
        self
    }

    /// The reply with this encrypted reasoning after what it has.
    pub fn with_redacted(mut self, data: impl Into<String>) -> Self {
        self.redacted.push(data.into());
        self
    }

    /// The reply with this call of the provider after those it has.
    pub fn with_server_call(mut self, call: ServerCall) -> Self {
        self.server_calls.push(call);
        self
    }

    /// The arguments of a call as a stream sends them; empty if there is no such call.
    pub fn arguments_of(&self, call: usize) -> String {
        self.arguments_text(call).into_owned()
    }

    pub(crate) fn arguments_text(&self, call: usize) -> Cow<'_, str> {
        match (self.raw_arguments.get(&call), self.said.calls.get(call)) {
            (Some(raw), _) => Cow::Borrowed(raw),
            (None, Some(call)) => Cow::Owned(Json::Object(call.arguments.clone()).to_string()),
            (None, None) => Cow::Borrowed(""),
        }
    }

    /// The arguments of a call as a value; what is not JSON is a string.
    pub(crate) fn arguments_value(&self, call: usize) -> Json {
        match (self.raw_arguments.get(&call), self.said.calls.get(call)) {
            (Some(raw), _) => serde_json::from_str(raw).unwrap_or_else(|_| Json::from(&**raw)),
            (None, Some(call)) => Json::Object(call.arguments.clone()),
            (None, None) => Json::Null,
        }
    }

    /// The word of these for why the model stopped: done, calls, no more tokens.
    pub(crate) fn reason(&self, [end, calls, length]: [&'static str; 3]) -> &'static str {
        match self.stop {
            Stop::Natural if self.said.calls.is_empty() => end,
            Stop::Natural | Stop::Calls => calls,
            Stop::End | Stop::Pause => end,
            Stop::Length => length,
        }
    }
}

impl ServerCall {
    /// A call with its result.
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: Map<String, Json>,
        result: Json,
    ) -> Self {
        Self { id: id.into(), name: name.into(), arguments, result }
    }
}

impl Pieces {
    /// Pieces of this many characters, at least one.
    pub const fn of(chars: usize) -> Self {
        let chars = if chars == 0 { 1 } else { chars };
        Self { chars, interleaved: false, has_index_zero: false, lacks_end: false }
    }

    /// The same, in which the pieces of parallel calls take turns.
    pub const fn interleaved(self) -> Self {
        Self { interleaved: true, ..self }
    }

    /// The same, in which each call has the number 0.
    pub const fn with_index_zero(self) -> Self {
        Self { has_index_zero: true, ..self }
    }

    /// The same, without the event that says only that the stream has ended. What stands after the events of a format
    /// belongs to its [`Framing`].
    pub const fn without_end(self) -> Self {
        Self { lacks_end: true, ..self }
    }

    pub(crate) const fn index(&self, call: usize) -> usize {
        if self.has_index_zero { 0 } else { call }
    }

    pub(crate) fn divide<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.char_indices().nth(self.chars.max(1)).map_or(rest.len(), |(at, _)| at);
            let (piece, after) = rest.split_at(end);
            pieces.push(piece);
            rest = after;
        }
        pieces
    }

    /// Divides texts, and returns the pieces with the number of their text, in the order in which they are sent.
    pub(crate) fn divide_all<'t>(&self, texts: &'t [Cow<'_, str>]) -> Vec<(usize, &'t str)> {
        let mut pieces: Vec<(usize, usize, &str)> = Vec::new();
        for (number, text) in texts.iter().enumerate() {
            pieces.extend(
                self.divide(text).into_iter().enumerate().map(|(place, piece)| (number, place, piece)),
            );
        }
        // Pieces without a number of their own belong to the call before them.
        if self.interleaved && !self.has_index_zero {
            toolcheck_json::sort_by_positions(&mut pieces, |(number, place, _)| (*place, *number));
        }
        pieces.into_iter().map(|(number, _, piece)| (number, piece)).collect()
    }
}

impl Event {
    /// An event with this name, which is empty if the events of the format have none.
    pub fn new(name: impl Into<Cow<'static, str>>, data: Json) -> Self {
        Self { name: name.into(), data }
    }
}

impl Framing {
    /// Whether the events of a stream are one array, if this is the query.
    pub fn is_array(self, query: &str) -> bool {
        matches!(self, Self::ArrayUnless(sent) if !query.split('&').any(|pair| pair == sent))
    }

    /// The type of the content.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::ServerSent(_) | Self::ArrayUnless(_) => "text/event-stream",
            Self::Lines => "application/x-ndjson",
            Self::Binary | Self::Chunks => "application/vnd.amazon.eventstream",
        }
    }

    /// The bytes of each event, and of what ends the stream.
    pub fn frames(self, events: &[Event]) -> Vec<Vec<u8>> {
        let mut frames: Vec<Vec<u8>> = events.iter().map(|event| self.frame(event)).collect();
        if let Self::ServerSent(Some(end)) = self {
            frames.push(format!("data: {end}\n\n").into_bytes());
        }
        frames
    }

    /// The bytes of an event.
    pub fn frame(self, event: &Event) -> Vec<u8> {
        let data = event.data.to_string();
        match self {
            Self::ServerSent(_) | Self::ArrayUnless(_) => match &*event.name {
                "" => format!("data: {data}\n\n").into_bytes(),
                name => format!("event: {name}\ndata: {data}\n\n").into_bytes(),
            },
            Self::Lines => (data + "\n").into_bytes(),
            Self::Binary => binary(&event.name, data.as_bytes()),
            Self::Chunks => {
                let data = to_base64(event.clone().named().to_string().as_bytes());
                binary("chunk", format!(r#"{{"bytes":"{data}"}}"#).as_bytes())
            }
        }
    }
}

/// A message of Amazon's event stream: the lengths of the whole and of the headers with a checksum, the headers, the
/// payload, and the checksum of all that (<https://smithy.io/2.0/aws/amazon-eventstream.html>).
fn binary(name: &str, payload: &[u8]) -> Vec<u8> {
    /// The type of a header whose value is text.
    const TEXT: u8 = 7;
    let mut headers = Vec::new();
    let (key, kind) =
        if name.ends_with("Exception") { (":exception-type", "exception") } else { (":event-type", "event") };
    for (key, value) in [(key, name), (":content-type", "application/json"), (":message-type", kind)] {
        headers.push(key.len() as u8);
        headers.extend(key.as_bytes());
        headers.push(TEXT);
        headers.extend((value.len() as u16).to_be_bytes());
        headers.extend(value.as_bytes());
    }
    let mut message = Vec::with_capacity(16 + headers.len() + payload.len());
    message.extend(((16 + headers.len() + payload.len()) as u32).to_be_bytes());
    message.extend((headers.len() as u32).to_be_bytes());
    message.extend(crc32fast::hash(&message).to_be_bytes());
    message.extend(headers);
    message.extend(payload);
    message.extend(crc32fast::hash(&message).to_be_bytes());
    message
}
