//! What the API answers to a request: a refusal, or a turn of the model. No sockets here.

use serde_json::{Value as Json, json};
use toolcheck_core::Level;
use toolcheck_core::conversation::{Assistant, Call, Conversation, Reasoning, Turn as Said};
use toolcheck_core::ir::{Place, TranscriptKind};
use toolcheck_core::reply::{Framing, Pieces, Reply, ServerCall, Stop};
use toolcheck_core::target::{self, ErrorBody, Evidence, Target};
use toolcheck_core::{Format, formats};
use toolcheck_json::Document;
use toolcheck_lint::{Category, Finding, Options, TargetRef, lint, rules};

use crate::arguments::arguments;
use crate::cut::cut;
use crate::route::{Route, Streaming, route};
use crate::script::{ScriptedStop, Turn};

/// How much must be known of a refusal for a request to be refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Strictness {
    /// Somebody has seen it, or a specification says so.
    #[default]
    Known,
    /// It follows from something else that is known.
    Likely,
}

/// An API: what it refuses, and what its model says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Provider {
    /// The target that the requests are checked against; by the format of each, if there is none.
    pub(crate) target: Option<TargetRef>,
    pub(crate) strictness: Strictness,
    /// What the model says; if it is empty, turns are made up.
    pub(crate) script: Vec<Turn>,
}

/// A request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request<'r> {
    pub(crate) path: &'r str,
    pub(crate) query: &'r str,
    pub(crate) body: &'r [u8],
    /// How often the same request was answered before.
    pub(crate) attempt: u32,
    /// The numbers of the turns that are given once, and were.
    pub(crate) given: &'r [usize],
    /// The body as JSON; a string if it is none.
    pub(crate) json: &'r Json,
}

/// A response.
#[derive(Debug, Clone, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// The frames of a stream in place of a body.
    pub(crate) frames: Option<Vec<Vec<u8>>>,
    /// Whether the connection is closed before the response is complete.
    pub(crate) is_cut: bool,
    /// What is recorded of it: the body as JSON, or the events of the stream.
    pub(crate) record: Json,
    /// Why the request is refused.
    pub(crate) refused: Option<Refused>,
    /// After how many seconds the client may try again.
    pub(crate) retry_after: Option<u64>,
    /// What of it must come back as it is.
    pub(crate) opaque: Vec<Opaque>,
    /// The number of its turn, if that is given only once.
    pub(crate) once: Option<usize>,
    /// The id of the format.
    pub(crate) format: &'static str,
}

/// What only the provider can read, and wants back as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Opaque {
    /// The text: a signature, encrypted reasoning, the id of a call that the provider has carried out.
    pub text: String,
    /// What stands in the same object as the text, in what is written as JSON; `None` if nothing does.
    pub beside: Option<String>,
    /// The id of what it is in, by which the provider may find it again; `None` if it has none of its own.
    pub id: Option<String>,
}

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refused {
    /// The id of the rule.
    pub rule: String,
    /// What is wrong.
    pub message: String,
    /// Where in the body: a JSON Pointer.
    pub place: String,
    /// What the API says; `None` if no text of it is known.
    pub text: Option<String>,
    /// The status.
    pub status: u16,
    /// Where somebody has seen that the API refuses this, or what says that it does.
    pub source: Option<String>,
}

/// The rule for a body that is not JSON.
const MALFORMED_JSON: &str = "malformed-json";
/// The text of an error whose words in the real API are not known.
const UNKNOWN_TEXT: &str = "The request is invalid.";

impl Provider {
    /// The answer to a request; `None` if its path asks for no conversation.
    pub(crate) fn answer(&self, request: Request<'_>) -> Option<Answer> {
        let route = route(request.path, self.target.as_deref())?;
        let format = formats::find(route.format)?;
        let (refusal, target) = self.check(format, request.body);
        if let Some(refusal) = refusal {
            return Some(Answer { format: format.id, ..refusal });
        }
        let target = target.as_deref();
        let errors = target.and_then(|target| target.error.as_ref());
        let body = request.json;
        let tools = tools(request.body, format);
        let said = Conversation::read(body, format).unwrap_or_default();
        let number = said.turns.iter().filter(|turn| matches!(turn, Said::Assistant(_))).count();
        let made;
        let (at, turn) = match self.turn(number, &request) {
            Some(turn) => turn,
            None => {
                made = if self.script.is_empty() { made_up(&said, &tools) } else { Turn::text("Done.") };
                (0, &made)
            }
        };
        let once = turn.once.then_some(at);
        if let Some(status) = turn.status.map(|status| known_status(errors, status)) {
            let text = if turn.text.is_empty() { default_text(status) } else { &turn.text };
            let mut answer = error(errors, status, turn.texts.get(format.id).map_or(text, String::as_str));
            (answer.once, answer.format) = (once, format.id);
            // Where an API has no such header, nobody is told to wait.
            let after = turn.retry_after.filter(|_| errors.is_none_or(|errors| errors.retry_after));
            answer.headers.extend(after.map(|after| ("retry-after".to_owned(), after.to_string())));
            answer.retry_after = after;
            return Some(answer);
        }
        let reply = reply(turn, &Moment { number, body, tools: &tools, route: &route, target });
        let answer = write(format, &reply, turn, is_streamed(&route, body), request.query);
        Some(Answer { opaque: opaque(format, &reply), once, format: format.id, ..answer })
    }

    /// The refusal of a request in a format, if it is refused, and the target that it was checked against.
    pub(crate) fn check(&self, format: &'static Format, body: &[u8]) -> (Option<Answer>, Option<TargetRef>) {
        let options = Options::new().format(Some(format)).kind(TranscriptKind::Request);
        let options = match &self.target {
            Some(target) => options.target(Some(target.clone())),
            None => options,
        };
        let report = lint("request.json", body, &options);
        let of_format = || report.target.as_deref().and_then(target::find).map(TargetRef::from);
        let target = self.target.clone().or_else(of_format);
        let errors = target.as_deref().and_then(|target| target.error.as_ref());
        let refusing = report.findings.iter().filter(|finding| self.refuses(finding));
        let refusal = refusing.min_by_key(|finding| stage(finding)).map(|first| refusal(first, errors));
        (refusal, target)
    }

    /// What the script says to a history with this many turns of the model, and its number: an error takes no turn, and
    /// stands before the turn that it is given in place of.
    fn turn(&self, number: usize, request: &Request<'_>) -> Option<(usize, &Turn)> {
        // Up to and with one that was given once.
        let turns_until =
            |at: &usize| self.script.iter().take(*at + 1).filter(|turn| !turn.is_error()).count();
        let number = request.given.iter().map(turns_until).fold(number, usize::max);
        let mut said = 0;
        let mut given = 0;
        self.script.iter().enumerate().find(|(at, turn)| {
            if !turn.is_error() {
                said += 1;
                return said > number;
            }
            if turn.once {
                return said == number && !request.given.contains(at);
            }
            given += turn.attempts.filter(|_| said == number).unwrap_or_default();
            said == number && turn.attempts.is_none_or(|_| request.attempt < given)
        })
    }

    /// Whether the API refuses a request because of a finding.
    fn refuses(&self, finding: &Finding) -> bool {
        let Some(error) = &finding.provider_error else {
            // What is not JSON is read by nobody.
            return finding.level == Level::Error && finding.rule == MALFORMED_JSON;
        };
        let is_known = error.grounds.caution().is_none() && error.grounds.evidence > Evidence::Inferred;
        match self.strictness {
            Strictness::Known => is_known && error.only_warns.is_none(),
            Strictness::Likely => error.grounds.doubt.is_none(),
        }
    }
}

/// What the next turn depends on.
struct Moment<'r> {
    /// How many turns of the model the history holds: the turn is chosen by that, so that a retry gets the same answer.
    number: usize,
    body: &'r Json,
    tools: &'r [Tool],
    route: &'r Route,
    target: Option<&'r Target>,
}

/// Which findings an API reports first: it reads the text, then the shape, then what the messages hold, and then what
/// belongs together.
fn stage(finding: &Finding) -> (u8, usize) {
    let category = rules::find(finding.rule).map(|rule| rule.category);
    let stage = match category {
        Some(Category::Files) => 0,
        Some(Category::Fields) => 1,
        Some(Category::Pairing | Category::Order | Category::Reasoning) => 3,
        _ => 2,
    };
    (stage, finding.spot.record_bytes.start)
}

fn refusal(finding: &Finding, errors: Option<&ErrorBody>) -> Answer {
    let known = finding.provider_error.as_ref();
    let text = known.and_then(|error| error.text.clone());
    let status = known.and_then(|error| error.status).unwrap_or(400);
    let mut answer = error(errors, status, text.as_deref().unwrap_or(UNKNOWN_TEXT));
    let refused = Refused {
        rule: finding.rule.to_owned(),
        message: finding.message.to_string(),
        place: finding.spot.pointer.to_string(),
        text,
        status,
        source: known.and_then(|error| error.grounds.source.as_deref().map(str::to_owned)),
    };
    let header = |name: &str, value: &str| (name.to_owned(), header_value(value));
    answer.headers.push(header("x-toolcheck-rule", &refused.rule));
    answer.headers.push(header("x-toolcheck-place", &refused.place));
    if let Some(source) = &refused.source {
        answer.headers.push(header("x-toolcheck-source", source));
    }
    if refused.text.is_none() {
        answer.headers.push(header("x-toolcheck-text", "unknown"));
    }
    answer.refused = Some(refused);
    answer
}

/// A text as a header may hold it, in bounds.
fn header_value(text: &str) -> String {
    text.chars().map(|one| if one.is_ascii_graphic() || one == ' ' { one } else { '?' }).take(1000).collect()
}

fn error(errors: Option<&ErrorBody>, status: u16, text: &str) -> Answer {
    const REQUEST_ID: &str = "req_toolcheck_1";
    let (record, headers) = match errors {
        Some(errors) => {
            let written = errors.write(status, text, REQUEST_ID);
            (written.body, written.headers)
        }
        None => (json!({"error": {"message": text}}), Vec::new()),
    };
    let json = ("content-type".to_owned(), "application/json".to_owned());
    Answer {
        status,
        headers: std::iter::once(json).chain(headers).collect(),
        body: record.to_string().into_bytes(),
        record,
        ..Answer::default()
    }
}

/// The status for an overloaded server: 529 is the word of few APIs for it.
fn known_status(errors: Option<&ErrorBody>, status: u16) -> u16 {
    let is_known = errors.is_some_and(|errors| errors.kinds.contains_key(&status.to_string()));
    if status == 529 && !is_known { 503 } else { status }
}

/// The text of an error that a script asks for.
fn default_text(status: u16) -> &'static str {
    match status {
        429 => "Rate limit reached. Please try again later.",
        503 | 529 => "Overloaded",
        500..=599 => "Internal server error",
        _ => UNKNOWN_TEXT,
    }
}

/// A turn that is made up: a call of the first tool of the request, and then an answer.
fn made_up(said: &Conversation, tools: &[Tool]) -> Turn {
    match said.turns.last() {
        Some(Said::User(_)) if !tools.is_empty() => Turn::calls([crate::script::ScriptedCall::default()]),
        _ => Turn::text("Done."),
    }
}

fn reply(turn: &Turn, moment: &Moment<'_>) -> Reply {
    let mut raw = Vec::new();
    let mut signed = Vec::new();
    let mut made = Vec::new();
    for (number, call) in turn.calls.iter().enumerate() {
        let tool = match &*call.tool {
            "" => moment.tools.first(),
            name => moment.tools.iter().find(|(known, _)| known == name),
        };
        let name = tool.map_or(&*call.tool, |(name, _)| name);
        let arguments = call.arguments.clone().unwrap_or_else(|| {
            tool.and_then(|(_, schema)| schema.as_ref()).map(arguments).unwrap_or_default()
        });
        let id = call.id.clone().unwrap_or_else(|| id_of(moment, number));
        made.push(Call::new(id, name, arguments));
        raw.extend(call.raw.clone().map(|text| (number, text)));
        signed.extend(call.signed.then_some(number));
    }
    let mut said = Assistant::new(&*turn.text).with_calls(made);
    if let Some(reasoning) = &turn.reasoning {
        let signature = format!("c2ln{:04}", moment.number);
        said = said.with_reasoning(Reasoning::new(&**reasoning, Some(signature)));
    }
    let model = moment.route.model.as_deref().or_else(|| moment.body["model"].as_str()).unwrap_or("model");
    let mut reply = Reply::new(said).from_model(response_id(moment), model);
    for (number, text) in raw {
        reply = reply.with_raw_arguments(number, text);
    }
    for number in signed {
        // Base64, as it is read by clients that keep bytes.
        reply = reply.with_call_signature(number, format!("Y2Fs{:04}{number:04}", moment.number));
    }
    if turn.redacted {
        reply = reply.with_redacted(format!("cmVk{:04}", moment.number));
    }
    for (number, call) in turn.server_calls.iter().enumerate() {
        let id = format!("srvtoolu_{:024}", moment.number * 1000 + number + 1);
        let result = Json::Array(call.result.clone());
        reply = reply.with_server_call(ServerCall::new(id, &*call.tool, call.arguments.clone(), result));
    }
    reply.with_stop(match turn.stop {
        None => Stop::Natural,
        Some(ScriptedStop::End) => Stop::End,
        Some(ScriptedStop::Calls) => Stop::Calls,
        Some(ScriptedStop::Length) => Stop::Length,
        Some(ScriptedStop::Pause) => Stop::Pause,
    })
}

/// What of a reply must come back as it is, as far as the format has room for it.
fn opaque(format: &Format, reply: &Reply) -> Vec<Opaque> {
    let signatures = reply.said.reasoning.iter().filter_map(|block| block.signature.as_ref());
    let all: Vec<&str> = signatures
        .chain(&reply.redacted)
        .chain(reply.call_signatures.values())
        .chain(reply.server_calls.iter().map(|call| &call.id))
        .map(String::as_str)
        .collect();
    let mut found = Vec::new();
    if all.is_empty() {
        return found;
    }
    // Between the written parts, only a call tells its signature from another.
    let of_call = |text: &str| {
        let (number, _) = reply.call_signatures.iter().find(|(_, signature)| *signature == text)?;
        Some(Json::Object(reply.said.calls.get(*number)?.arguments.clone()).to_string())
    };
    let written = format.write_reply(reply);
    let mut open = vec![&written];
    while let Some(value) = open.pop() {
        match value {
            Json::Array(elements) => open.extend(elements.iter().rev()),
            Json::Object(members) => {
                let texts = members.values().filter_map(Json::as_str).filter(|text| all.contains(text));
                let kind = members.get("type").map(Json::to_string);
                let beside = |text: &str| kind.clone().or_else(|| of_call(text));
                let own = members.get("id").and_then(Json::as_str);
                found.extend(texts.map(|text| Opaque {
                    text: text.to_owned(),
                    beside: beside(text),
                    id: own.filter(|id| *id != text).map(str::to_owned),
                }));
                open.extend(members.values());
            }
            _ => {}
        }
    }
    found
}

/// The id of a call, in the form of the target: each call of a conversation has its own, and each run the same.
fn id_of(moment: &Moment<'_>, call: usize) -> String {
    let form = moment.target.and_then(|target| target.ids.made.as_deref()).unwrap_or("call_{24}");
    let number = moment.number * 1000 + call + 1;
    let Some((before, rest)) = form.split_once('{') else { return form.to_owned() };
    let (width, after) = rest.split_once('}').unwrap_or((rest, ""));
    let width: usize = width.parse().unwrap_or(24);
    format!("{before}{number:0>width$}{after}")
}

fn response_id(moment: &Moment<'_>) -> String {
    let prefix = moment.target.and_then(|target| target.ids.response_prefix.as_deref()).unwrap_or("reply_");
    format!("{prefix}{:024}", moment.number + 1)
}

/// The name of a tool, and its schema.
type Tool = (String, Option<Json>);

/// The tools that a request declares.
fn tools(body: &[u8], format: &Format) -> Vec<Tool> {
    let document = Document::read(body);
    let Some(transcript) = format.read(document.root()) else { return Vec::new() };
    let json = |place: Place| serde_json::from_slice(document.value(place.node).raw()).ok();
    let listed = transcript.request.tools.listed().iter();
    listed
        .filter_map(|tool| Some((tool.name.as_ref()?.text.to_string(), tool.schema.and_then(json))))
        .collect()
}

fn is_streamed(route: &Route, body: &Json) -> bool {
    match route.streaming {
        Streaming::Path(is_streamed) => is_streamed,
        Streaming::Body(unless_said) => body.get("stream").and_then(Json::as_bool).unwrap_or(unless_said),
    }
}

fn write(format: &Format, reply: &Reply, turn: &Turn, is_streamed: bool, query: &str) -> Answer {
    let header = |value: &str| vec![("content-type".to_owned(), value.to_owned())];
    if !is_streamed {
        let record = format.write_reply(reply);
        let body = record.to_string().into_bytes();
        return Answer {
            status: 200,
            headers: header("application/json"),
            body,
            record,
            ..Answer::default()
        };
    }
    let mut pieces = Pieces::of(turn.pieces.unwrap_or(16));
    if turn.interleaved {
        pieces = pieces.interleaved();
    }
    if turn.index_zero {
        pieces = pieces.with_index_zero();
    }
    if turn.without_end {
        pieces = pieces.without_end();
    }
    let mut events = format.write_stream(reply, pieces);
    let cut = cut(format, reply, turn, pieces, &events);
    events.truncate(cut.unwrap_or(usize::MAX));
    let mut is_cut = cut.is_some() && !turn.clean_end;
    if let Some(after) = turn.error_after {
        // The last event says that all is well.
        events.truncate(after.min(events.len().saturating_sub(1)));
        let error = format.write_stream_error(default_text(529), events.len());
        // Where nobody knows how an API says it, the connection breaks.
        is_cut = error.is_none();
        events.extend(error);
    }
    let is_open = is_cut || cut.is_some() || turn.without_end || turn.error_after.is_some();
    let record = events.iter().map(|event| match format.framing {
        Framing::Binary => json!({event.name: event.data}),
        _ => event.data.clone(),
    });
    let record = record.collect();
    let framing = format.framing;
    // Without `alt=sse`, Gemini streams one array.
    let is_array = format.id == "gemini" && !query.split('&').any(|pair| pair == "alt=sse");
    let (content_type, frames) = if is_array {
        ("application/json", array(&events, is_open))
    } else if is_open {
        (framing.content_type(), events.iter().map(|event| framing.frame(event)).collect())
    } else {
        (framing.content_type(), framing.frames(&events))
    };
    Answer {
        status: 200,
        headers: header(content_type),
        frames: Some(frames),
        is_cut,
        record,
        ..Answer::default()
    }
}

/// The events as one array, which comes in pieces.
fn array(events: &[toolcheck_core::reply::Event], is_open: bool) -> Vec<Vec<u8>> {
    let mut frames: Vec<Vec<u8>> = Vec::new();
    for (number, event) in events.iter().enumerate() {
        let before = if number == 0 { "[" } else { "," };
        frames.push(format!("{before}{}\r\n", event.data).into_bytes());
    }
    if !is_open {
        frames.push(b"]".to_vec());
    }
    frames
}
