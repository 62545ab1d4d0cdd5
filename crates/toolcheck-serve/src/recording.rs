//! What an API has answered, to answer the same again.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Map, Value as Json};
use toolcheck_core::conversation::{Assistant, Call, Conversation, Reasoning, Turn};
use toolcheck_core::detection::{Candidate, Detection};
use toolcheck_core::endpoint::Endpoint;
use toolcheck_core::exchange::{self, Exchange};
use toolcheck_core::formats::{self, Format};
use toolcheck_core::ir::{Body, Transcript};
use toolcheck_core::reply::{Event, Pieces, Reply};
use toolcheck_core::response;
use toolcheck_core::targets::{self, Target};
use toolcheck_core::text::Counted;
use toolcheck_json::{Document, Records, Value};
use toolcheck_open::Limits;

use crate::answer::Answer;
use crate::frames::{array, record};
use crate::received::events_in;
use crate::route::route;
use toolcheck_core::Error;

/// Exchanges with an API: what was sent and what it answered.
///
/// Which of them answers a request is decided by what the request says: the same system text, texts, calls and results,
/// whatever the ids of the calls, the model and the parameters are. If there is none, the system text and the texts of results
/// may differ too, in which there may be a time. The same request again gets the next one that fits.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    exchanges: Vec<Recorded>,
    /// The numbers of the exchanges by what their requests say, exactly and roughly.
    by_content: HashMap<u64, Vec<usize>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Recorded {
    pub(crate) format: &'static Format,
    /// The API that it was sent to, by its host, or by the format if the host is not recorded.
    pub(crate) target: Option<&'static Target>,
    /// The path of the request; empty if it is not known.
    pub(crate) path: String,
    pub(crate) request: Box<str>,
    pub(crate) status: u16,
    /// How many seconds the API asked to wait.
    retry_after: Option<f64>,
    is_cut: bool,
    body: Answered,
    /// What each turn of the request says, roughly.
    turns: Vec<u64>,
}

#[derive(Debug, Clone)]
enum Answered {
    Whole(Json),
    /// The events of a stream, each with its name, if it is known.
    Events(Vec<(String, Json)>),
    Text(String),
}

impl Recording {
    /// Reads exchanges: JSON as `toolcheck lint` reads it, or a recording of HTTP traffic such as a HAR archive or a cassette.
    ///
    /// # Errors
    ///
    /// There is no exchange with a response in it.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        let opened = toolcheck_open::open(bytes, Limits::default());
        let text = opened.as_ref().map_or(bytes, |opened| &opened.text);
        let mut recording = Self::default();
        let mut left_out = 0;
        for record in Records::new(text) {
            let document = Document::read(record.bytes);
            for exchange in exchange::exchanges(document.root()).into_iter().flatten() {
                match Recorded::of(&exchange) {
                    Some((recorded, keys)) => recording.add(recorded, keys),
                    None => left_out += 1,
                }
            }
        }
        if recording.exchanges.is_empty() {
            let others = match left_out {
                0 => String::new(),
                many => format!("; {} without a response, or of no known format", Counted(many, "exchange")),
            };
            return Err(Error::new(format!("it has no exchange with a request and its response{others}")));
        }
        Ok(recording)
    }

    /// The number of exchanges that can be answered again.
    pub fn exchanges(&self) -> usize {
        self.exchanges.len()
    }

    pub(crate) fn all(&self) -> &[Recorded] {
        &self.exchanges
    }

    fn add(&mut self, recorded: Recorded, keys: [u64; 2]) {
        for key in keys {
            self.by_content.entry(key).or_default().push(self.exchanges.len());
        }
        self.exchanges.push(recorded);
    }

    /// The number of the exchange that answers a request which has been sent this often before.
    pub(crate) fn find(&self, keys: [u64; 2], attempt: u32) -> Option<usize> {
        let known = keys.iter().find_map(|key| self.by_content.get(key))?;
        known.get(attempt as usize).or(known.last()).copied()
    }

    /// Why nothing answers a request: which exchange is the nearest, and where it differs.
    pub(crate) fn miss(&self, format: &Format, said: &Conversation) -> String {
        const NOTHING: &str = "nothing in the recording answers this request";
        let turns: Vec<u64> = said.turns.iter().map(|turn| hash_of_turn(turn, false)).collect();
        let alike =
            |recorded: &Recorded| recorded.turns.iter().zip(&turns).take_while(|(a, b)| a == b).count();
        let of_format =
            self.exchanges.iter().enumerate().filter(|(_, recorded)| recorded.format.id == format.id);
        let all = of_format
            .map(|(number, recorded)| (alike(recorded), std::cmp::Reverse(number), recorded.turns.len()));
        let Some((alike, std::cmp::Reverse(number), length)) = all.max() else {
            return format!("{NOTHING}: it has none of {}", format.id);
        };
        let number = number + 1;
        match (turns.len(), length) {
            _ if alike == 0 => format!("{NOTHING}: none begins with the same turn"),
            (own, recorded) if alike == own && alike == recorded => {
                format!(
                    "{NOTHING}: exchange {number} has the same content, but continues from another response"
                )
            }
            (own, _) if alike == own => {
                format!("{NOTHING}: exchange {number} begins with it, and has more turns")
            }
            (_, recorded) if alike == recorded => format!(
                "{NOTHING}: exchange {number} is the nearest, and ends before turn {} of this",
                alike + 1
            ),
            _ => {
                format!("{NOTHING}: exchange {number} is the most similar, but turn {} differs", alike + 1)
            }
        }
    }

    pub(crate) fn get(&self, number: usize) -> Option<&Recorded> {
        self.exchanges.get(number)
    }
}

impl Recorded {
    fn of(exchange: &Exchange<'_, '_>) -> Option<(Self, [u64; 2])> {
        // A status of another kind is no answer.
        let status = Some(exchange.status.unwrap_or(200)).filter(|status| (200..600).contains(status))?;
        let url = exchange.url.and_then(|url| url.as_str()).unwrap_or_default();
        let path = path_of(&url);
        let by_path = route(path, None).and_then(|route| formats::find(route.format));
        // APIs share paths, so the request has a say, and then the response.
        let by_content = Detection::of_record(by_path, &Candidate::new(exchange.request)).0;
        let by_answer = || response::read_any(exchange.response?).map(|(format, ..)| format);
        let format = by_content.or(by_path).or_else(by_answer)?;
        let request = std::str::from_utf8(exchange.request.raw()).ok()?;
        let document = Document::read(request.as_bytes());
        let transcript = format.read(document.root())?;
        let said = Conversation::of(&transcript, &document);
        let keys = keys(format, &said, &Beside::of(&transcript, &document));
        let response = response::unwrapped(exchange.response?);
        let of_host = Endpoint::of(&url).target.filter(|target| target.format.as_deref() == Some(format.id));
        let recorded = Self {
            format,
            target: if url.contains("://") { of_host } else { targets::find(format.id) },
            path: path.to_owned(),
            request: request.into(),
            status,
            retry_after: exchange.retry_after,
            is_cut: exchange.is_cut,
            body: Answered::of(response)?,
            turns: said.turns.iter().map(|turn| hash_of_turn(turn, false)).collect(),
        };
        Some((recorded, keys))
    }

    pub(crate) fn answer(&self, is_streamed: bool, query: &str) -> Answer {
        let format = self.format;
        match &self.body {
            Answered::Text(text) => self.whole("text/plain; charset=utf-8", text.clone()),
            Answered::Whole(body) if self.status >= 400 || !is_streamed => {
                self.whole("application/json", body.to_string())
            }
            Answered::Events(events) if self.status >= 400 => {
                let list: Json = events.iter().map(|(_, data)| data.clone()).collect();
                self.whole("application/json", list.to_string())
            }
            Answered::Events(events) if is_streamed => {
                let named = |(name, data): &(String, Json)| Event::new(name.clone(), data.clone());
                self.streamed(&events.iter().map(named).collect::<Vec<_>>(), query)
            }
            // It was streamed and shall not be now, or the other way round.
            Answered::Whole(body) => match reply(format, body) {
                Some(reply) => self.streamed(&format.write_stream(&reply, Pieces::of(16)), query),
                None => self.whole("application/json", body.to_string()),
            },
            // Nobody knows what the whole would have been.
            Answered::Events(_) if self.is_cut => self.whole("application/json", String::new()),
            Answered::Events(events) => {
                let list: Json = events.iter().map(|(_, data)| data.clone()).collect();
                let body = reply(format, &list).map_or(list, |reply| format.write_reply(&reply));
                self.whole("application/json", body.to_string())
            }
        }
    }

    /// What is recorded of the response: the value that it was read from.
    pub(crate) fn value(&self) -> Json {
        match &self.body {
            Answered::Whole(body) => body.clone(),
            Answered::Events(events) => events.iter().map(|(_, data)| data.clone()).collect(),
            Answered::Text(text) => Json::from(&**text),
        }
    }

    fn whole(&self, kind: &str, body: String) -> Answer {
        let retry = self.retry_after.map(|after| ("retry-after".to_owned(), after.to_string()));
        let kind = ("content-type".to_owned(), kind.to_owned());
        let headers = std::iter::once(kind).chain(retry).collect();
        let retry_after = self.retry_after.map(|after| after as u64);
        let mut answer = Answer { status: self.status, headers, retry_after, ..Answer::default() };
        if self.is_cut {
            (answer.record, answer.is_cut) = (Some(self.value()), true);
            answer.frames = Some(vec![body.into_bytes()]);
        } else {
            answer.body = body.into_bytes();
        }
        answer
    }

    fn streamed(&self, events: &[Event], query: &str) -> Answer {
        let framing = self.format.framing;
        let (kind, frames) = if framing.is_array(query) {
            ("application/json", array(events, self.is_cut))
        } else if self.is_cut {
            (framing.content_type(), events.iter().map(|event| framing.frame(event)).collect())
        } else {
            (framing.content_type(), framing.frames(events))
        };
        let headers = vec![("content-type".to_owned(), kind.to_owned())];
        let record = Some(record(framing, events));
        let is_cut = self.is_cut;
        Answer { status: self.status, headers, frames: Some(frames), is_cut, record, ..Answer::default() }
    }
}

impl Answered {
    fn of(value: Value<'_, '_>) -> Option<Self> {
        let json = |value: Value<'_, '_>| serde_json::from_slice::<Json>(value.raw()).ok();
        if value.is_object() {
            return json(value).map(Self::Whole);
        }
        let Some(text) = value.as_str() else {
            return Some(Self::Events(
                value.elements().filter_map(|event| json(event).map(event_of)).collect(),
            ));
        };
        let mut values: Vec<Json> = events_in(&text).collect();
        let is_stream = text.contains("data:") || values.len() > 1;
        Some(match values.len() {
            0 => Self::Text(text.into_owned()),
            1 if !is_stream => Self::Whole(values.swap_remove(0)),
            _ => Self::Events(values.into_iter().map(event_of).collect()),
        })
    }
}

/// The name of an event and its data: it names itself, it has a name beside its data, or the name is its only key. A name has
/// no line breaks, which would end it where it is sent.
fn event_of(value: Json) -> (String, Json) {
    let (name, data) = named_event(value);
    (name.chars().filter(|one| !one.is_control()).take(200).collect(), data)
}

fn named_event(value: Json) -> (String, Json) {
    let text = |value: &Json, key: &str| value.get(key).and_then(Json::as_str).map(str::to_owned);
    if let (Some(name), Some(data)) = (text(&value, "event"), value.get("data")) {
        let data =
            data.as_str().and_then(|data| serde_json::from_str(data).ok()).unwrap_or_else(|| data.clone());
        return (name, data);
    }
    match value {
        Json::Object(members) if members.len() == 1 && members.values().all(Json::is_object) => {
            let (name, data) = members.into_iter().next().unwrap_or_default();
            (name, data)
        }
        value => {
            let name = text(&value, "type").or_else(|| text(&value, "event_type"));
            (name.unwrap_or_default(), value)
        }
    }
}

/// The path of an address, which may be only that.
fn path_of(url: &str) -> &str {
    let behind = url.split_once("://").map_or(url, |(_, rest)| rest.find('/').map_or("", |at| &rest[at..]));
    behind.split(['?', '#']).next().unwrap_or_default()
}

/// What an API has answered, as a reply that can be written in another way.
pub(crate) fn reply(format: &Format, body: &Json) -> Option<Reply> {
    let text = body.to_string();
    let document = Document::read(text.as_bytes());
    let (mut choices, _) = response::read(format, document.root())?;
    let choice = if choices.is_empty() { return None } else { choices.swap_remove(0) };
    let mut raw = Vec::new();
    let calls = choice.calls.into_iter().enumerate().map(|(number, call)| {
        let arguments = serde_json::from_str::<Map<String, Json>>(&call.arguments);
        if arguments.is_err() {
            raw.push((number, call.arguments));
        }
        Call::new(call.id.unwrap_or_default(), call.name.unwrap_or_default(), arguments.unwrap_or_default())
    });
    let mut said = Assistant::new(choice.text).with_calls(calls.collect());
    for block in choice.reasoning {
        said = said.with_reasoning(Reasoning::new(block.text, block.signature));
    }
    let ids = response::KeptIds::of(document.root());
    let own = body.get("id").and_then(Json::as_str).map(str::to_owned);
    let model = body.get("model").and_then(Json::as_str).unwrap_or("model");
    let reply = Reply::new(said).from_model(ids.response.or(own).unwrap_or_default(), model);
    let mut reply = reply.with_repeated(format.repeated(document.root()));
    for (number, text) in raw {
        reply = reply.with_raw_arguments(number, text);
    }
    Some(reply)
}

/// What a request says that is not in its conversation: what it goes on from, and the bytes of its media.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Beside {
    before: [Option<String>; 2],
    media: u64,
}

impl Beside {
    pub(crate) fn of(transcript: &Transcript<'_>, document: &Document<'_>) -> Self {
        let mut hasher = DefaultHasher::new();
        for part in &transcript.parts {
            if matches!(part.body, Body::Media) {
                document.value(part.place.node).raw().hash(&mut hasher);
            }
        }
        let before = [&transcript.request.previous_response, &transcript.request.conversation];
        let before = before.map(|named| named.as_ref().map(|named| named.text.to_string()));
        Self { before, media: hasher.finish() }
    }
}

/// What a request says, exactly and roughly.
pub(crate) fn keys(format: &Format, said: &Conversation, beside: &Beside) -> [u64; 2] {
    [true, false].map(|is_exact| {
        let mut hasher = DefaultHasher::new();
        (format.id, beside, is_exact).hash(&mut hasher);
        if is_exact {
            said.system.hash(&mut hasher);
        }
        for turn in &said.turns {
            hash_of_turn(turn, is_exact).hash(&mut hasher);
        }
        hasher.finish()
    })
}

fn hash_of_turn(turn: &Turn, is_exact: bool) -> u64 {
    let mut hasher = DefaultHasher::new();
    match turn {
        Turn::User(text) => ("user", text).hash(&mut hasher),
        Turn::Assistant(said) => {
            ("assistant", &said.text, &said.server_tools).hash(&mut hasher);
            for call in &said.calls {
                (&call.name, Json::Object(call.arguments.clone()).to_string()).hash(&mut hasher);
            }
        }
        Turn::Results(results) => {
            for result in results {
                ("result", &result.name, result.failed).hash(&mut hasher);
                is_exact.then_some(&result.text).hash(&mut hasher);
            }
        }
        _ => {}
    }
    hasher.finish()
}
