//! What the API answers to a request: a refusal, or a turn of the model. No sockets here.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value as Json;
use toolcheck_core::conversation::Conversation;
use toolcheck_core::reply::{Framing, Pieces, Reply};
use toolcheck_core::response::{self, KeptIds};
use toolcheck_core::route::Streaming;
use toolcheck_core::targets::{self, ErrorBody, Evidence, Target};
use toolcheck_core::{Format, Level, RuleId};
use toolcheck_core::{entries, formats};
use toolcheck_json::Document;
use toolcheck_lint::observe::{Context, Observer};
use toolcheck_lint::server_state::{RemoteHistory, ServerState, StoredAfterResponse};
use toolcheck_lint::{ChatTemplate, Finding, Options, TargetRef, lint_body};

use crate::answer::{Answer, Opaque, Refused, error, request_id};
use crate::body::{self, NoRequest};
use crate::content::Content;
use crate::cut::cut;
use crate::frames::{array, record};
use crate::ids::id_form;
use crate::model::{Asks, Moment, made_up, reply, tools};
use crate::recording::{self, Beside, Recorded, Recording};
use crate::refusal::{UNKNOWN_TEXT, stage};
use crate::route::{Route, is_at_home, of_client, route};
use crate::script::Turn;
use crate::script_turn;
use crate::stored::entries::Round;

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
    /// The targets that requests are checked against, each those to its own path; the one of each path, if there are none.
    pub(crate) targets: Vec<TargetRef>,
    /// Whether a target is asked about requests to any path.
    pub(crate) takes_all: bool,
    pub(crate) strictness: Strictness,
    /// The rules whose refusals are let through.
    pub(crate) allowed: Vec<RuleId>,
    /// What the model says; if it is empty, turns are made up.
    pub(crate) script: Vec<Turn>,
    /// The chat template of the model, whose refusals are answered too.
    pub(crate) template: Option<Arc<ChatTemplate>>,
    /// What an API has answered, which is answered again; nothing else is, but for refusals.
    pub(crate) recording: Option<Arc<Recording>>,
}

/// Where a request goes.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) route: Route,
    pub(crate) format: &'static Format,
    pub(crate) target: Option<TargetRef>,
    /// The same, if it is not only that of the format.
    named: Option<TargetRef>,
}

/// Why nobody answers at a path.
#[derive(Debug)]
pub(crate) enum Unserved {
    /// It asks for no conversation.
    Unknown,
    /// It is that of another API than those that are wanted.
    Unexpected(Box<Answer>),
}

#[derive(Debug)]
pub(crate) struct Checked {
    /// What it says; `None` if it is refused before that is known.
    said: Option<Asks>,
    pub(crate) request: Content,
    pub(crate) refused: Option<Refused>,
    pub(crate) allowed: Vec<Refused>,
}

/// The largest body whose status is asked for by itself.
pub(crate) const MOST_BODY: usize = 64 << 20;

/// The findings of a request that are looked at before all of them are: one of them is answered.
const MOST_FINDINGS: usize = 1_000;

/// The status that the API of a path answers to a body with this `Content-Encoding`, as a mock without targets does; `None`
/// if the path is that of no API.
///
/// ```
/// let status = |body: &[u8]| toolcheck_serve::status("/v1/chat/completions", None, body);
/// assert_eq!(status(br#"{"model": "m", "messages": [{"role": "user", "content": "Moin."}]}"#), Some(200));
/// assert_eq!(status(b"null"), Some(400));
/// ```
pub fn status(path: &str, encoding: Option<&str>, body: &[u8]) -> Option<u16> {
    let provider = Provider::default();
    let asked = provider.asked(path, "").ok()?;
    let server = ServerState::of_server();
    let checked = provider.check(&asked, Some(body), encoding, MOST_BODY, &server);
    Some(provider.answer(&asked, &checked, ("", &server), |turn| turn(0, &[])).status)
}

impl Asked {
    /// The same with the path and the format of another.
    pub(crate) fn in_format_of(self, other: &Self) -> Self {
        Self { route: other.route.clone(), format: other.format, ..self }
    }

    fn errors(&self) -> Option<&ErrorBody> {
        let own = self.route.errors_of.and_then(targets::find);
        own.or(self.target.as_deref()).and_then(|target| target.error.as_ref())
    }

    pub(crate) fn refuse(&self, refused: Refused) -> Answer {
        refused.answer(self.errors())
    }

    /// A request to an API that keeps conversations as entries.
    pub(crate) fn of_entries() -> Self {
        let format = &entries::FORMAT;
        let target = Some(TargetRef::from(&*entries::TARGET));
        Self { route: Route::of(format), format, named: target.clone(), target }
    }

    /// The answer to who asks for what is not there.
    pub(crate) fn missing(&self) -> Answer {
        error(self.errors(), 404, UNKNOWN_TEXT)
    }
}

impl Provider {
    /// Where a request goes by its path, and by the name that its client has. A path that APIs share is that of the target
    /// that is wanted, or of the API whose own client it is.
    pub(crate) fn asked(&self, path: &str, agent: &str) -> Result<Asked, Unserved> {
        let wanted = self.targets.iter().find(|target| self.takes_all || is_at_home(path, target)).cloned();
        let is_wanted = self.targets.is_empty() || wanted.is_some();
        let named = wanted.or_else(|| of_client(path, agent).map(TargetRef::from));
        let route = route(path, named.as_deref()).ok_or(Unserved::Unknown)?;
        let format = formats::find(route.format).ok_or(Unserved::Unknown)?;
        let target = named.clone().or_else(|| targets::find(format.id).map(TargetRef::from));
        let asked = Asked { route, format, target, named };
        if is_wanted { Ok(asked) } else { Err(self.unexpected(path, &asked)) }
    }

    /// The APIs that may be asked about something else than a conversation: those that are wanted, or the one whose own
    /// client it is; any, if there are none.
    pub(crate) fn at_hand(&self, agent: &str) -> Vec<&Target> {
        match &self.targets[..] {
            [] => targets::all().find(|target| target.has_client(agent)).into_iter().collect(),
            own => own.iter().map(|target| &**target).collect(),
        }
    }

    /// What is said to a request to an API that is not wanted.
    fn unexpected(&self, path: &str, asked: &Asked) -> Unserved {
        let own: Vec<&str> = self.targets.iter().map(|target| &*target.id).collect();
        let text = format!(
            "toolcheck serve: this mock is {} only, and {path} is a path of {}: name the target of that API too, or none",
            own.join(" and "),
            asked.format.id
        );
        Unserved::Unexpected(Box::new(error(asked.errors(), 404, &text)))
    }

    /// Checks the body of a request, in this `Content-Encoding`.
    pub(crate) fn check(
        &self,
        asked: &Asked,
        sent: Option<&[u8]>,
        encoding: Option<&str>,
        most: usize,
        server: &ServerState,
    ) -> Checked {
        let Some(sent) = sent else { return Checked::no_request(b"", body::too_large(most)) };
        let plain = match body::plain(sent, encoding, most) {
            Ok(plain) => plain,
            Err(why) => return Checked::no_request(sent, why),
        };
        let text = match body::object(&plain) {
            Ok(text) => text,
            Err(why) => return Checked::no_request(&plain, why),
        };
        let Route { model, deployment, .. } = &asked.route;
        let options = Options::new().keeps_source(false).path_model(model.as_deref());
        let options = options
            .names_model(model.is_some() || deployment.is_some())
            .target(asked.named.clone())
            .template(self.template.clone());
        let replays = self.recording.is_some();
        let reader = || Reader { asks: Asks::default(), format: asked.format, replays };
        let mut asks = reader();
        let few = options.clone().max_findings(MOST_FINDINGS);
        let mut report = lint_body(text.as_bytes(), asked.format, &few, Some(server), &mut asks);
        // What is only counted says nothing, and may be all that is refused.
        if report.left_out() > 0 && !report.findings.iter().any(|finding| self.is_refused(finding)) {
            asks = reader();
            report = lint_body(text.as_bytes(), asked.format, &options, Some(server), &mut asks);
        }
        let refusing = report.findings.iter().filter(|finding| self.refuses(finding));
        let (allowed, refusing): (Vec<&Finding>, Vec<&Finding>) =
            refusing.partition(|finding| !self.is_refused(finding));
        let refused = refusing.into_iter().min_by_key(|finding| stage(finding));
        let target = asked.target.as_deref();
        let refused = refused.map(|finding| Refused::of(finding, target, text));
        let mut let_through: Vec<Refused> = Vec::new();
        for finding in allowed.into_iter().filter(|_| refused.is_none()) {
            if !let_through.iter().any(|known| known.rule == finding.rule) {
                let_through.push(Refused::of(finding, target, text));
            }
        }
        let request = Content::of_json(text);
        Checked { said: Some(asks.asks), request, refused, allowed: let_through }
    }

    /// Checks a request with the conversation that it is of, and returns what it is with that.
    pub(crate) fn check_round<'b>(
        &self,
        asked: &Asked,
        round: &Round,
        sent: &Json,
        server: &ServerState,
    ) -> (Checked, Option<Cow<'b, [u8]>>) {
        let whole = round.whole(sent).into_bytes();
        let mut checked = self.check(asked, Some(&whole), None, usize::MAX, server);
        for refused in checked.refused.iter_mut().chain(&mut checked.allowed) {
            refused.place = round.place(&refused.place);
        }
        checked.refused = checked.refused.filter(|refused| !round.takes(refused.rule));
        match round.refused.clone() {
            Some(refused) if self.allowed.contains(&refused.rule) => checked.allowed.push(refused),
            Some(refused) => checked.refused = Some(refused),
            None => {}
        }
        checked.request = Content::of(sent);
        (checked, Some(Cow::Owned(whole)))
    }

    /// Whether an API of these keeps conversations as entries. A recording answers for itself.
    pub(crate) fn keeps_entries(&self, apis: &[&Target]) -> bool {
        self.recording.is_none() && apis.iter().any(|api| entries::are_of(api))
    }

    /// Whether a finding is answered with an error, and not allowed.
    fn is_refused(&self, finding: &Finding) -> bool {
        self.refuses(finding) && !self.allowed.contains(&finding.rule)
    }

    /// What the API answers to a request that was checked; `choose` chooses the turn.
    pub(crate) fn answer(
        &self,
        asked: &Asked,
        checked: &Checked,
        (query, server): (&str, &ServerState),
        choose: impl FnOnce(&dyn Fn(u32, &[usize]) -> Option<usize>) -> Option<usize>,
    ) -> Answer {
        let nothing = Asks::default();
        let said = checked.said.as_ref().unwrap_or(&nothing);
        let Asked { route, format, target, .. } = asked;
        let is_streamed = match route.streaming {
            Streaming::Path(is_streamed) => is_streamed,
            Streaming::Body(unless_said) => said.stream.unwrap_or(unless_said),
        };
        if let Some(recording) = &self.recording {
            let keys = recording::keys(format, &said.conversation, &said.beside);
            let recorded = choose(&|attempt, _| recording.find(keys, attempt));
            // What an API has answered to the very request counts more than what is known of it.
            let is_same = |recorded: &&Recorded| {
                checked.refused.is_none() || *recorded.request == *checked.request.text()
            };
            if let Some(recorded) = recorded.and_then(|number| recording.get(number)).filter(is_same) {
                if let Some(sent) = said.sent.clone().filter(|_| recorded.status < 400) {
                    keep(server, sent, format, &recorded.value(), false);
                }
                return recorded.answer(is_streamed, query);
            }
            if let Some(refused) = &checked.refused {
                return asked.refuse(refused.clone());
            }
            let missed = recording.miss(format, &said.conversation);
            let answer = error(asked.errors(), 404, &format!("toolcheck serve: {missed}"));
            return Answer { missed: Some(missed), ..answer };
        }
        if let Some(refused) = &checked.refused {
            return asked.refuse(refused.clone());
        }
        let form = id_form(target.as_deref());
        let number = script_turn::number(&self.script, form, &said.conversation.turns, said.turns_before);
        let made;
        // Once the context is nearly full, a request without tools is one for a summary: it gets no calls.
        let is_summary = |at: usize, given: &[usize]| {
            let is_full = given.iter().any(|at| self.script[*at].tokens.is_some());
            is_full && said.tools.is_empty() && self.script[at].once && !self.script[at].calls.is_empty()
        };
        let next =
            |attempt, given: &[usize]| self.turn(number, attempt, given).filter(|at| !is_summary(*at, given));
        let turn = match choose(&next) {
            Some(at) => &self.script[at],
            None => {
                made = if self.script.is_empty() { made_up(said) } else { Turn::text("Done.") };
                &made
            }
        };
        let mut answer = match turn.status {
            Some(status) => scripted_error(turn, status, asked),
            None => {
                // What the server keeps is found by its id, so each conversation has its own.
                let own = said.sent.as_ref().filter(|sent| sent.is_kept()).map(|_| checked.request.text());
                let moment = Moment { number, said, route, target: target.as_deref(), own };
                let reply = reply(turn, &moment);
                let mut answer = write((format, route.framing), &reply, turn, is_streamed, query);
                if let Some(name) = asked.errors().and_then(ErrorBody::request_header) {
                    answer.tell(name, &request_id());
                }
                if let Some(sent) = said.sent.clone().filter(|_| turn.error_after.is_none()) {
                    let is_cut = turn.cut_after.is_some() || turn.cut_in.is_some();
                    let response = format.write_reply(&reply);
                    keep(server, sent.after_turns(number + 1), format, &response, is_cut);
                    answer.stored = Some(response).filter(|_| format.keeps_responses);
                }
                Answer { opaque: opaque(format, &reply), ..answer }
            }
        };
        for allowed in &checked.allowed {
            answer.tell("x-toolcheck-allowed", allowed.rule.as_str());
        }
        answer
    }

    /// Whether a turn is given only once.
    pub(crate) fn is_once(&self, at: usize) -> bool {
        self.script.get(at).is_some_and(|turn| turn.once)
    }

    /// The number of what the script says to a history with this many turns of the model: an error takes no turn, and
    /// stands before the turn that it is given in place of.
    fn turn(&self, number: usize, attempt: u32, given: &[usize]) -> Option<usize> {
        // Up to and with one that was given once.
        let turns_until =
            |at: &usize| self.script.iter().take(*at + 1).filter(|turn| !turn.is_error()).count();
        let number = given.iter().map(turns_until).fold(number, usize::max);
        let mut said = 0;
        let mut passed = 0;
        self.script.iter().enumerate().position(|(at, turn)| {
            if !turn.is_error() {
                said += 1;
                return said > number;
            }
            if turn.once {
                return said == number && !given.contains(&at);
            }
            passed += turn.attempts.filter(|_| said == number).unwrap_or_default();
            said == number && turn.attempts.is_none_or(|_| attempt < passed)
        })
    }

    /// Whether the API refuses a request because of a finding.
    fn refuses(&self, finding: &Finding) -> bool {
        if finding.rule == RuleId::TemplateRefuses {
            return finding.level == Level::Error;
        }
        let Some(error) = &finding.provider_error else { return false };
        let is_known = error.grounds.caution().is_none() && error.grounds.evidence > Evidence::Inferred;
        match self.strictness {
            Strictness::Known => is_known && error.only_warns.is_none(),
            Strictness::Likely => error.grounds.doubt.is_none(),
        }
    }
}

impl Checked {
    /// Whether all that it goes on from is known.
    pub(crate) fn is_clear(&self) -> bool {
        !self.said.as_ref().is_some_and(|said| said.is_unclear)
    }

    /// Whether it goes on from something that the server keeps.
    pub(crate) fn goes_on(&self) -> bool {
        self.said.as_ref().is_some_and(|said| said.turns_before.is_some())
    }

    pub(crate) fn take_prompt(&mut self) -> Option<String> {
        self.said.as_mut()?.prompt.take()
    }

    /// What it leaves on the server once it is answered.
    pub(crate) fn sent(&self) -> Option<StoredAfterResponse> {
        self.said.as_ref()?.sent.clone()
    }

    fn no_request(body: &[u8], why: NoRequest) -> Self {
        let refused = Some(Refused::of_no_request(why));
        Self { said: None, request: Content::of_bytes(body), refused, allowed: Vec::new() }
    }
}

/// Reads what the answer depends on, while a request is linted.
struct Reader {
    asks: Asks,
    format: &'static Format,
    /// Whether a recording is answered from.
    replays: bool,
}

impl Observer for Reader {
    fn transcript(&mut self, context: &Context<'_, '_>, _: usize, _: bool) {
        let root = context.document.root();
        let request = &context.transcript.request;
        let stream_options = root.get("stream_options");
        self.asks = Asks {
            conversation: Conversation::of(context.transcript, context.document),
            tools: tools(context),
            answer_schema: formats::answer_schema(root),
            model: root.get_str("model").map(|model| model.into_owned()),
            reasons: request.reasoning,
            streams_usage: stream_options.and_then(|options| options.get("include_usage")?.as_bool())
                == Some(true),
            stream: root.get("stream").and_then(|value| value.as_bool()),
            turns_before: context.continued().and_then(RemoteHistory::turns),
            is_unclear: context.continued().is_some_and(|before| !before.is_clear()),
            previous_response: request.previous_response.as_ref().map(|named| named.text.to_string()),
            repeated: self.format.repeated(root),
            // Images may be large, and only a recording asks for them.
            beside: if self.replays {
                Beside::of(context.transcript, context.document)
            } else {
                Beside::default()
            },
            sent: ServerState::sent(context.transcript, context.continued()),
            prompt: context.prompt(),
        };
    }
}

fn scripted_error(turn: &Turn, status: u16, asked: &Asked) -> Answer {
    let errors = asked.errors();
    let status = known_status(errors, status);
    let text = if turn.text.is_empty() { default_text(status) } else { &turn.text };
    let mut answer = error(errors, status, turn.texts.get(asked.format.id).map_or(text, String::as_str));
    // Where an API has no such header, nobody is told to wait.
    let after = turn.retry_after.filter(|_| errors.is_none_or(|errors| errors.retry_after));
    answer.headers.extend(after.map(|after| ("retry-after".to_owned(), after.to_string())));
    answer.retry_after = after;
    answer
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

/// Has the server keep what a request and its response leave there. Of a response that broke off on the way, the client
/// knows a part only, and nobody says what the server has of it.
pub(crate) fn keep(
    server: &ServerState,
    sent: StoredAfterResponse,
    format: &Format,
    response: &Json,
    is_cut: bool,
) {
    let body = response.to_string();
    let body = Document::read(body.as_bytes());
    let (answers, _) =
        if is_cut { Default::default() } else { response::read(format, body.root()).unwrap_or_default() };
    server.keep(sent, &KeptIds::of(body.root()), &answers, None);
}

fn write(
    (format, framing): (&Format, Framing),
    reply: &Reply,
    turn: &Turn,
    is_streamed: bool,
    query: &str,
) -> Answer {
    let header = |value: &str| vec![("content-type".to_owned(), value.to_owned())];
    if !is_streamed {
        let body = format.write_reply(reply).to_string().into_bytes();
        return Answer { status: 200, headers: header("application/json"), body, ..Answer::default() };
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
        let error = error.filter(|_| framing == format.framing);
        // Where nobody knows how an API says it, the connection breaks.
        is_cut = error.is_none();
        events.extend(error);
    }
    let is_open = is_cut || cut.is_some() || turn.without_end || turn.error_after.is_some();
    let record = record(framing, &events);
    let (content_type, frames) = if framing.is_array(query) {
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
        record: Some(record),
        ..Answer::default()
    }
}
