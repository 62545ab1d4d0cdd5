//! Sessions of Google's Agent Development Kit: a session with its events, or the events alone, as its web server returns
//! them or as Python prints them.
//!
//! An event has a content of Gemini. The results of a turn are one event, which the agent is the author of. A tool that
//! runs long, or that a person must allow, answers twice: first that it waits, and later with its result.

use std::borrow::Cow;
use std::ops::Range;

use foldhash::{HashMap, HashSet};
use toolcheck_json::Value;

use super::parts::{call, reasoning, result};
use super::{Conversation, ConversationEnd, LOOKED_AT, Reader, Reading, own_shape};
use crate::ir::{
    Body, Call, Executor, Named, Place, Role, ToolKind, ToolResult, Transcript, UnpairedReason, Unread,
    UnreadKind,
};

pub(super) static READER: Reader =
    Reader::history("google-adk", "Google ADK session", sniff, read).with_texts();

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    own_shape(records, |record| {
        is_session(record)
            || is_event(record)
            || is_run(record)
            || cases_of(record).next().is_some()
            || record.is_array()
                && record.elements().take(LOOKED_AT).any(|one| is_event(one) || is_session(one))
    })
}

/// Whether a value is a session: the name of its program, or events that are of a session.
fn is_session(record: Value<'_, '_>) -> bool {
    events_of(record).is_some_and(|events| {
        events.is_array()
            && (record.get_any(&["appName", "app_name"]).is_some() && events.elements().next().is_none()
                || events.elements().take(LOOKED_AT).any(is_event))
    })
}

/// The cases of a set for evaluations, or the only one (`src/google/adk/evaluation/eval_case.py` of google/adk-python).
fn cases_of<'d, 's>(record: Value<'d, 's>) -> impl Iterator<Item = Value<'d, 's>> {
    let is_case = |case: &Value<'_, '_>| {
        case.get_any(&["eval_id", "evalId"]).is_some() && case.has_list("conversation")
    };
    let list = record.get_any(&["eval_cases", "evalCases"]).unwrap_or(record);
    list.elements().chain([record]).filter(is_case)
}

const STEPS: [&str; 2] = ["intermediate_data", "intermediateData"];
const RESPONSES: [&str; 2] = ["tool_responses", "toolResponses"];

/// Reads a case: what the user says, what the agent is to do, and its answer.
fn read_case<'s>(case: Value<'_, 's>, has_results: bool, reading: &mut Reading<'s>) {
    let mut session = Session::new(case);
    session.transcript.details.is_expected = true;
    for turn in case.list("conversation") {
        let content = |keys: [&str; 2]| turn.get_any(&keys).and_then(|content| content.get("parts"));
        let asked = content(["user_content", "userContent"]);
        asked.into_iter().flat_map(Value::elements).for_each(|part| session.part(part, Role::User));
        if let Some(steps) = turn.get_any(&STEPS) {
            session.steps(steps, has_results, reading);
        }
        let answer = content(["final_response", "finalResponse"]);
        session.transcript.details.answers.push(session.transcript.parts.len());
        answer.into_iter().flat_map(Value::elements).for_each(|part| session.part(part, Role::Assistant));
    }
    reading.conversations.push(session.end(String::new(), true));
}

/// The events of a session: the service of Vertex AI lists them under another key.
fn events_of<'d, 's>(record: Value<'d, 's>) -> Option<Value<'d, 's>> {
    record.get_any(&["events", "sessionEvents"]).filter(|events| events.is_array())
}

/// The event in a row of the kit's own table (`src/google/adk/sessions/schemas/v1.py`).
fn event_of<'d, 's>(row: Value<'d, 's>) -> Value<'d, 's> {
    row.get("event_data").filter(|event| event.is_object()).unwrap_or(row)
}

const SAID: [&str; 3] = ["content", "newMessage", "new_message"];

/// Whether a value asks the web server to run an agent, with what the user says or a tool that ran long has answered, or to
/// go on with what it did.
pub(super) fn is_run(request: Value<'_, '_>) -> bool {
    let has = |keys: &[&str]| request.get_any(keys).is_some();
    // A row of the kit's table has these keys too, and an event.
    let goes_on = || {
        has(&["invocationId", "invocation_id"])
            && has(&["appName", "app_name"])
            && !has(&["author", "content", "event_data", "actions"])
    };
    has(&["sessionId", "session_id"]) && (has(&SAID[1..]) || goes_on())
}

fn is_event(row: Value<'_, '_>) -> bool {
    let event = event_of(row);
    // SQLite has it as the text of JSON.
    if row.get("invocation_id").and(row.get("event_data")).is_some_and(|event| event.is_string()) {
        return true;
    }
    let has = |keys: &[&str]| event.get_any(keys).is_some();
    event.get_str("author").is_some() && has(&["invocationId", "invocation_id"])
        || has(&["longRunningToolIds", "long_running_tool_ids"])
            && event.get_in(&["content", "parts"]).is_some()
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    let mut reading = Reading::default();
    let has_events = |record: &Value<'_, '_>| events_of(*record).is_some();
    let cases: Vec<_> = records.iter().flat_map(|record| cases_of(*record)).collect();
    let has_results = cases.iter().flat_map(|case| case.list("conversation")).any(|turn| {
        let steps = turn.get_any(&STEPS);
        steps
            .and_then(|steps| steps.get_any(&RESPONSES))
            .is_some_and(|results| results.elements().next().is_some())
    });
    cases.into_iter().for_each(|case| read_case(case, has_results, &mut reading));
    let others = records.iter().filter(|record| cases_of(**record).next().is_none());
    let all = others.flat_map(|record| lists_of(*record));
    let (sessions, loose): (Vec<_>, Vec<_>) = all.partition(has_events);
    for session in sessions {
        let events: Vec<_> = events_of(session).into_iter().flat_map(Value::elements).collect();
        read_events(&events, |_| session, &mut reading);
    }
    for events in by_session(loose) {
        read_events(&events, |event| event, &mut reading);
    }
    reading.in_order()
}

/// The events of each session: a request to run an agent says of which it is, and so is what follows.
fn by_session<'d, 's>(events: Vec<Value<'d, 's>>) -> Vec<Vec<Value<'d, 's>>> {
    const KEYS: [[&str; 2]; 3] =
        [["appName", "app_name"], ["userId", "user_id"], ["sessionId", "session_id"]];
    let (mut known, mut sessions, mut at) = (HashMap::default(), vec![Vec::new()], 0);
    for event in events {
        if is_run(event) {
            let next = known.len();
            let key = KEYS.map(|keys| event.get_any(&keys).and_then(Value::as_str));
            at = *known.entry(key).or_insert(next);
            sessions.resize_with(known.len(), Vec::new);
        }
        sessions[at].push(event);
    }
    sessions
}

/// Reads events that belong together; `of` is the record that one is in. What was taken back is a part of its own, which the
/// kit leaves out of what it sends (`src/google/adk/flows/llm_flows/contents.py`).
fn read_events<'d, 's>(
    events: &[Value<'d, 's>],
    of: impl Fn(Value<'d, 's>) -> Value<'d, 's>,
    reading: &mut Reading<'s>,
) {
    let mut branches = Branches::default();
    let mut at = 0;
    for taken_back in taken_back(events) {
        events[at..taken_back.start].iter().for_each(|event| branches.add(of(*event), *event, reading));
        let mut replaced = Branches::default();
        events[taken_back.clone()].iter().for_each(|event| replaced.add(of(*event), *event, reading));
        at = taken_back.end;
        let first = reading.conversations.len();
        replaced.end(reading);
        reading.conversations[first..].iter_mut().for_each(|one| one.end = ConversationEnd::Replaced);
    }
    events[at..].iter().for_each(|event| branches.add(of(*event), *event, reading));
    branches.end(reading);
}

/// The events that were taken back, in their order, each with those that follow it up to the one that says so. The last one
/// that goes back counts first.
fn taken_back(events: &[Value<'_, '_>]) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    if !events.iter().any(|event| goes_back_to(*event).is_some()) {
        return ranges;
    }
    let mut firsts = HashMap::default();
    for (number, event) in events.iter().enumerate() {
        if let Some(id) = event.get_any(&["invocationId", "invocation_id"]).and_then(Value::as_str) {
            firsts.entry(id).or_insert(number);
        }
    }
    let mut at = events.len();
    while at > 0 {
        at -= 1;
        let first = goes_back_to(events[at]).and_then(|id| firsts.get(&id).copied());
        if let Some(first) = first.filter(|first| *first < at) {
            ranges.push(first..at);
            at = first;
        }
    }
    ranges.reverse();
    ranges
}

/// The id of the invocation before which an event goes back.
fn goes_back_to<'s>(event: Value<'_, 's>) -> Option<Cow<'s, str>> {
    event.get("actions")?.get_any(&["rewindBeforeInvocationId", "rewind_before_invocation_id"])?.as_str()
}

fn lists_of<'d, 's>(record: Value<'d, 's>) -> impl Iterator<Item = Value<'d, 's>> {
    let whole = Some(record).filter(|record| !record.is_array());
    whole.into_iter().chain(record.elements()).map(event_of)
}

/// A session, as far as it was read: agents that work at the same time have branches of their own, and no agent sees the
/// events of another branch.
#[derive(Default)]
struct Branches<'s>(Vec<(String, Session<'s>)>);

impl<'s> Branches<'s> {
    fn add(&mut self, session: Value<'_, 's>, event: Value<'_, 's>, reading: &mut Reading<'s>) {
        let branch = event.get_str("branch").unwrap_or_default();
        let known = self.0.iter().position(|(name, _)| *name == *branch);
        let at = known.unwrap_or_else(|| {
            // Of so many, the last ones are read as one.
            if self.0.len() < MOST_BRANCHES {
                self.0.push((branch.into_owned(), Session::new(session)));
            }
            self.0.len() - 1
        });
        self.0[at].1.add(event, reading);
    }

    fn end(self, reading: &mut Reading<'s>) {
        reading.conversations.extend(self.0.into_iter().map(|(name, session)| session.end(name, false)));
    }
}

const MOST_BRANCHES: usize = 64;

struct Session<'s> {
    transcript: Transcript<'s>,
    /// The ids of the calls that may answer twice, each with whether a person is asked.
    twice: HashMap<String, bool>,
    answered: HashSet<String>,
    /// How many messages there were before the event.
    before: usize,
}

/// The tools by which the kit itself asks the user for something.
const ASKS: [&str; 3] = ["adk_request_confirmation", "adk_request_credential", "adk_request_input"];

impl<'s> Session<'s> {
    fn new(record: Value<'_, 's>) -> Self {
        Self {
            transcript: Transcript::of_conversation(READER.key(), record),
            twice: HashMap::default(),
            answered: HashSet::default(),
            before: 0,
        }
    }

    /// `is_whole` is whether nothing came before.
    fn end(mut self, branch: String, is_whole: bool) -> Conversation<'s> {
        for part in &mut self.transcript.parts {
            let Body::Call(call) = &mut part.body else { continue };
            // The kit sends what runs long and has not even said that it waits, too.
            let waits =
                |id: &str| self.twice.get(id).is_some_and(|is_asked| *is_asked || self.answered.contains(id));
            let is_long = call.id.as_ref().is_some_and(|id| waits(&id.text));
            let asks = call.name.as_ref().is_some_and(|name| ASKS.contains(&&*name.text));
            if asks {
                call.unpaired = Some(UnpairedReason::Consent);
            } else if is_long {
                call.unpaired = Some(UnpairedReason::Open);
            }
        }
        // Events that were exported by themselves may begin after a call.
        if !is_whole {
            self.transcript.settle_results_of_first(UnpairedReason::Elsewhere);
        }
        let title = if branch.is_empty() { "session".to_owned() } else { branch };
        Conversation { title, transcript: self.transcript, end: ConversationEnd::Open }
    }

    fn add(&mut self, event: Value<'_, 's>, reading: &mut Reading<'s>) {
        if event.is_true("partial") {
            return reading.leave_out("pieces of answers, which are whole in a later event");
        }
        let said = event.get_any(&SAID);
        let Some(parts) = said.and_then(|content| content.get("parts")) else {
            let text = event.get("content").filter(|content| content.is_string());
            let text = text.filter(|text| text.as_json_str().is_some_and(|text| text.may_have("unction")));
            return if let Some(place) = text.map(Place::of) {
                // The first tables of the kit have it as the text of JSON.
                let (what, name) = (UnreadKind::Calls, "content".into());
                reading.unread.push(Unread { place, what, name, is_known: true });
            } else if is_event(event) || is_run(event) {
                reading.leave_out("events without content");
            } else {
                reading.leave_out_unknown("records that are not events", event);
            };
        };
        self.allow_twice(event);
        let role = match said.and_then(|content| content.get_str("role")).as_deref() {
            Some("user") => Role::User,
            _ if is_run(event) => Role::User,
            _ => Role::Assistant,
        };
        // Each event of a model is an answer of its own, but where it is heard and speaks at the same time.
        let is_live = event.get_any(&["turnComplete", "turn_complete"]).is_some_and(|live| !live.is_null());
        if role == Role::Assistant && !is_live {
            self.transcript.details.answers.push(self.transcript.parts.len());
        }
        self.before = self.transcript.messages.len();
        parts.elements().for_each(|part| self.part(part, role));
    }

    /// Reads what an agent does in a case: its events, or its calls and what they return, which cases mostly do not have.
    fn steps(&mut self, steps: Value<'_, 's>, has_results: bool, reading: &mut Reading<'s>) {
        if let Some(events) = steps.get_any(&["invocation_events", "invocationEvents"]) {
            events.elements().for_each(|event| self.add(event, reading));
            return;
        }
        let list = |keys: [&str; 2]| steps.get_any(&keys).into_iter().flat_map(Value::elements);
        for called in list(["tool_uses", "toolUses"]) {
            let mut call = call(called.get("id"), called.get("name"), called.get("args"));
            call.unpaired = (!has_results).then_some(UnpairedReason::Elsewhere);
            self.transcript.turn(Role::Assistant, steps).part(called, Body::Call(call));
        }
        for answer in list(RESPONSES) {
            let result = result(answer.get("id"), answer.get("response"), None);
            self.transcript.turn(Role::Tool, steps).part(answer, Body::Result(result));
        }
    }

    /// Remembers the calls that an event says may be answered twice.
    fn allow_twice(&mut self, event: Value<'_, 's>) {
        let ids = event.get_any(&["longRunningToolIds", "long_running_tool_ids"]);
        for id in ids.iter().flat_map(|ids| ids.elements()).filter_map(Value::as_str) {
            self.twice.entry(id.into_owned()).or_insert(false);
        }
        let actions = event.get("actions");
        for keys in [
            ["requestedToolConfirmations", "requested_tool_confirmations"],
            ["requestedAuthConfigs", "requested_auth_configs"],
        ] {
            let asked = actions.and_then(|actions| actions.get_any(&keys));
            let ids = asked.iter().flat_map(|asked| asked.members()).filter_map(Value::key_text);
            self.twice.extend(ids.map(|id| (id.into_owned(), true)));
        }
    }

    fn part(&mut self, part: Value<'_, 's>, role: Role) {
        if let Some(called) = part.get_any(&["functionCall", "function_call"]).filter(|call| call.is_object())
        {
            // What the kit asks the user for, it asks for the sake of another call.
            let args = called.get("args");
            let original = args.and_then(|args| args.get("originalFunctionCall")?.get_str("id"));
            let waits = args.and_then(|args| args.get_any(&["functionCallId", "function_call_id"])?.as_str());
            self.twice.extend(original.into_iter().chain(waits).map(|id| (id.into_owned(), true)));
            let call = call(called.get("id"), called.get("name"), called.get("args"));
            self.transcript.turn(Role::Assistant, part).part(called, Body::Call(call));
        } else if let Some(answer) =
            part.get_any(&["functionResponse", "function_response"]).filter(|answer| answer.is_object())
        {
            let id = answer.get_str("id").map(String::from);
            if let Some(id) = id
                && !self.answered.insert(id.clone())
                && self.twice.contains_key(&id)
            {
                return;
            }
            let mut result = result(answer.get("id"), answer.get("response"), None);
            result.name = answer.get("name").and_then(Named::of);
            // The results of an event are sent together.
            if self.transcript.messages.len() == self.before {
                self.transcript.next_message(Role::Tool, part);
            }
            self.transcript.turn(Role::Tool, part).part(answer, Body::Result(result));
        } else if let Some(called) = part.get_any(&["toolCall", "tool_call"]).filter(|call| call.is_object())
        {
            // Gemini runs its own tools, which have a type in place of a name.
            let kind = called.get_any(&["toolType", "tool_type"]);
            let call = call(called.get("id"), kind, called.get("args"));
            let body = Body::Call(Call { executor: Executor::Server, kind: ToolKind::BuiltIn, ..call });
            self.transcript.turn(Role::Assistant, part).part(called, body);
        } else if let Some(answer) =
            part.get_any(&["toolResponse", "tool_response"]).filter(|it| it.is_object())
        {
            let result = result(answer.get("id"), answer.get("response"), None);
            let own = ToolResult { executor: Executor::Server, kind: Some(ToolKind::BuiltIn), ..result };
            self.transcript.turn(role, part).part(answer, Body::Result(own));
        } else if part.is_true("thought") {
            let signature = part.get_any(&["thoughtSignature", "thought_signature"]);
            self.transcript.turn(role, part).part(part, reasoning(signature));
        } else if let Some(text) = part.get("text").filter(|text| text.is_string()) {
            self.transcript.turn(role, part).part(text, Body::text(Some(text)));
        } else if part.is_object() {
            self.transcript.turn(role, part).unknown(part);
        }
    }
}
