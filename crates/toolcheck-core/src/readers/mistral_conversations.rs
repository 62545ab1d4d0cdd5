//! Mistral's Conversations API: what is sent to begin or to go on with a conversation, what comes back, and its history,
//! all of which are entries.
//!
//! The conversation is on the server, so that a file seldom has all of it.

use std::borrow::Cow;

use foldhash::{HashMap, HashSet};
use toolcheck_json::Value;

use super::parts::{call, reasoning, result};
use super::{Conversation, ConversationEnd, LOOKED_AT, Reader, Reading};
use crate::claim::certainty;
use crate::exchange::{conversation_id, status};
use crate::ir::{Arguments, Body, FormatId, Named, Place, Role, ToolDef, Transcript, UnpairedReason};
use crate::names::words;

pub(super) static READER: Reader =
    Reader::protocol("mistral-conversations", "Mistral Conversations", sniff, read).or_one_list();

/// The SDK for JavaScript prints its keys in camel case.
const CALL_ID: [&str; 2] = ["tool_call_id", "toolCallId"];
const LISTS: [&str; 3] = ["inputs", "outputs", "entries"];

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    let is_own = |record: Value<'_, '_>| {
        let is_one = |value| is_entry(value) || is_event(value);
        is_one(record)
            || record.elements().take(LOOKED_AT).any(is_one)
            || record.get_str("object").is_some_and(|object| object.starts_with("conversation."))
            || LISTS
                .iter()
                .any(|key| record.get(key).is_some_and(|list| list.elements().take(LOOKED_AT).any(is_entry)))
            || is_start(record)
    };
    // Other exchanges have other readers.
    let is_exchange = |record: &Value<'_, '_>| {
        let sides = exchanged(*record).map(|sides| sides.into_iter().flatten());
        sides.is_some_and(|mut sides| is_of_api(*record) || sides.any(is_own))
    };
    let is_one = records.iter().any(|record| is_own(*record))
        || !records.is_empty() && records.iter().all(is_exchange);
    if is_one { certainty::OWN_SHAPE } else { 0 }
}

/// The request and the response of an exchange, if a record is one; neither if it was refused.
fn exchanged<'d, 's>(record: Value<'d, 's>) -> Option<[Option<Value<'d, 's>>; 2]> {
    let (request, response) = (record.get("request")?, record.get("response"));
    if is_of_api(record) && record.get("status").and_then(status)? >= 400 {
        return Some([None, None]);
    }
    request.get("inputs")?;
    (is_of_api(record) || response.is_some_and(Value::is_object)).then_some([Some(request), response])
}

fn is_of_api(record: Value<'_, '_>) -> bool {
    record.get("path").and_then(Value::as_str).is_some_and(|path| path.contains("/conversations"))
}

/// A record, or what is in it of an exchange.
fn opened<'d, 's>(record: Value<'d, 's>) -> impl Iterator<Item = Value<'d, 's>> {
    exchanged(record).unwrap_or([Some(record), None]).into_iter().flatten()
}

/// Whether a record begins a conversation, by a key that only such a request has: what is said may be anything's.
fn is_start(record: Value<'_, '_>) -> bool {
    const OWN: [&str; 6] =
        words("completion_args agent_version handoff_execution completionArgs agentVersion handoffExecution");
    let is_connector = |tool: Value<'_, '_>| {
        tool.get_str("type")
            .is_some_and(|kind| ["web_search", "document_library", "code_interpreter"].contains(&&*kind))
    };
    let says = |inputs: Value<'_, '_>| {
        inputs.is_string() || inputs.elements().next().is_some_and(|entry| entry.has("role"))
    };
    record.get("inputs").is_some_and(says)
        && (record.get_any(&OWN).is_some()
            || record.get_any(&["agent_id", "agentId"]).is_some() && record.get("messages").is_none()
            || record.has("model") && record.list("tools").any(is_connector))
}

/// An event of a stream, and its type. Some programs keep its name beside its data.
fn event_of<'d, 's>(event: Value<'d, 's>) -> Option<(Value<'d, 's>, Cow<'s, str>)> {
    let data = event.get("data").filter(|data| data.is_object()).unwrap_or(event);
    let kind = data.get_str("type").or_else(|| event.get_str("event"))?;
    let is_own = matches!(&*kind, "message.output.delta" | "function.call.delta")
        || ["conversation.response.", "tool.execution.", "agent.handoff."]
            .iter()
            .any(|start| kind.starts_with(start));
    is_own.then_some((data, kind))
}

fn is_event(event: Value<'_, '_>) -> bool {
    event_of(event).is_some()
}

fn is_entry(entry: Value<'_, '_>) -> bool {
    entry.get_str("type").is_some_and(|kind| match &*kind {
        "message.input" | "message.output" | "agent.handoff" => true,
        "function.call" | "function.result" => entry.get_any(&CALL_ID).is_some(),
        "tool.execution" => entry.has("name"),
        _ => false,
    })
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    let mut reading = Reading::default();
    let mut conversations: Vec<Known<'s>> = Vec::new();
    let records: Vec<Value<'_, 's>> = records.iter().flat_map(|record| opened(*record)).collect();
    for (number, record) in records.iter().enumerate() {
        // Only the response to a request says of which conversation it is.
        let answer = if record.has("inputs") { records.get(number + 1) } else { Some(record) };
        let id = answer.and_then(|answer| conversation_id(*answer));
        let is_other = |known: &Known<'_>| id.is_some() && known.id.is_some() && known.id != id;
        if conversations.last().is_none_or(is_other) {
            let mut transcript = Transcript::of_conversation(READER.key(), *record);
            transcript.details.results_may_wait = true;
            conversations.push(Known::new(transcript));
        }
        let Some(known) = conversations.last_mut() else { continue };
        known.id = id.or(known.id.take());
        known.record(*record, &mut reading);
    }
    conversations.iter_mut().for_each(|known| known.end_stream(false));
    let conversations = conversations
        .into_iter()
        .map(|known| Conversation::new("conversation", known.transcript, ConversationEnd::Open));
    reading.conversations.extend(conversations);
    reading
}

struct Known<'s> {
    transcript: Transcript<'s>,
    id: Option<String>,
    calls: HashSet<Cow<'s, str>>,
    streamed: HashMap<Cow<'s, str>, Streamed>,
    tools: HashSet<Cow<'s, str>>,
}

/// A call of a stream that goes on.
struct Streamed {
    part: usize,
    text: String,
    is_in_pieces: bool,
}

/// A request with all entries of its conversation before it.
pub(crate) fn request<'s>(format: FormatId, root: Value<'_, 's>) -> Transcript<'s> {
    let mut known = Known::new(Transcript::new(format, root));
    known.record(root, &mut Reading::default());
    known.transcript
}

impl<'s> Known<'s> {
    fn new(transcript: Transcript<'s>) -> Self {
        let (calls, tools, streamed) = Default::default();
        Self { transcript, id: None, calls, tools, streamed }
    }

    fn record(&mut self, record: Value<'_, 's>, reading: &mut Reading<'s>) {
        if let Some(tools) = record.get("tools").filter(|tools| tools.is_array()) {
            self.declare(tools);
        }
        if record.is_array() {
            record.elements().for_each(|entry| self.entry_or_event(entry, reading));
            return self.end_stream(false);
        }
        if is_entry(record) || is_event(record) {
            return self.entry_or_event(record, reading);
        }
        let mut lists = LISTS.iter().filter_map(|key| record.get(key)).peekable();
        if lists.peek().is_none() {
            return reading.leave_out_unknown("records without entries", record);
        }
        for list in lists {
            if list.is_string() {
                self.transcript.next_message(Role::User, record).part(list, Body::text(Some(list)));
            }
            list.elements().for_each(|entry| self.entry(entry, reading));
        }
    }

    fn entry_or_event(&mut self, record: Value<'_, 's>, reading: &mut Reading<'s>) {
        match event_of(record) {
            Some((event, kind)) => self.event(event, &kind, reading),
            None => self.entry(record, reading),
        }
    }

    /// Adds what an event of a stream brings: a message or a call in pieces.
    fn event(&mut self, event: Value<'_, 's>, kind: &str, reading: &mut Reading<'s>) {
        match kind {
            "message.output.delta" => self.message(event),
            "function.call.delta" => {
                let Some(id) = event.get_any(&CALL_ID).and_then(Named::of) else { return };
                let piece = event.get("arguments");
                let text = piece.and_then(Value::as_str).unwrap_or_default();
                if let Some(call) = self.streamed.get_mut(&id.text) {
                    call.is_in_pieces = true;
                    return call.text.push_str(&text);
                }
                let part = self.transcript.parts.len();
                let text = text.into_owned();
                self.streamed.insert(id.text, Streamed { part, text, is_in_pieces: false });
                self.call(event);
            }
            "conversation.response.done" => self.end_stream(true),
            "conversation.response.error" | "conversation.response.started" => self.end_stream(false),
            "tool.execution.started" => reading.leave_out("tools that the server ran"),
            "agent.handoff.started" => reading.leave_out("hand-overs to another agent"),
            _ => {}
        }
    }

    /// Ends a stream. The calls of one that broke off are not whole, and nobody runs them.
    fn end_stream(&mut self, is_whole: bool) {
        for streamed in std::mem::take(&mut self.streamed).into_values() {
            let part = self.transcript.parts.get_mut(streamed.part).map(|part| &mut part.body);
            let Some(Body::Call(call)) = part else { continue };
            if !is_whole {
                call.unpaired = Some(UnpairedReason::Aborted);
                call.arguments = Arguments::Missing;
            } else if streamed.is_in_pieces {
                call.arguments = Arguments::Missing;
                self.transcript.details.streamed_arguments.insert(streamed.part, streamed.text);
            }
        }
    }

    fn entry(&mut self, entry: Value<'_, 's>, reading: &mut Reading<'s>) {
        match entry.get_str("type").as_deref() {
            Some("function.call") => self.call(entry),
            Some("function.result") => {
                let mut result = result(entry.get_any(&CALL_ID), entry.get("result"), None);
                let is_known = result.call_id.as_ref().is_some_and(|id| self.calls.contains(&id.text));
                // Without a call before it, the conversation began elsewhere.
                result.unpaired = (!is_known && self.calls.is_empty()).then_some(UnpairedReason::Elsewhere);
                self.transcript.turn(Role::Tool, entry).part(entry, Body::Result(result));
            }
            Some("tool.execution") => reading.leave_out("tools that the server ran"),
            Some("agent.handoff") => reading.leave_out("hand-overs to another agent"),
            Some("message.input" | "message.output") | None => self.message(entry),
            Some(_) => reading.leave_out_unknown("entries of other types", entry),
        }
    }

    fn call(&mut self, entry: Value<'_, 's>) {
        let id = entry.get_any(&CALL_ID);
        self.calls.extend(id.and_then(Named::of).map(|id| id.text));
        let mut call = call(id, entry.get("name"), entry.get("arguments"));
        let status = entry.get_any(&["confirmation_status", "confirmationStatus"]).and_then(Value::as_str);
        if status.is_some_and(|status| status != "allowed") {
            call.unpaired = Some(UnpairedReason::Consent);
        }
        self.transcript.turn(Role::Assistant, entry).part(entry, Body::Call(call));
    }

    fn message(&mut self, entry: Value<'_, 's>) {
        let is_output = entry.get_str("type").is_some_and(|kind| kind.starts_with("message.output"));
        let is_of_assistant = entry.is("role", "assistant");
        let role = if is_output || is_of_assistant { Role::Assistant } else { Role::User };
        self.transcript.turn(role, entry).content(entry.get("content"), |chunk| {
            match &*chunk.get_str("type").unwrap_or_default() {
                "thinking" => Some(reasoning(chunk.get("signature"))),
                "document_url" | "image_url" | "input_audio" | "tool_file" | "tool_reference" => {
                    Some(Body::Media)
                }
                _ => None,
            }
        });
    }

    fn declare(&mut self, list: Value<'_, 's>) {
        let tools = &mut self.transcript.request.tools;
        tools.place.get_or_insert(Place::of(list));
        let known = tools.list.get_or_insert_default();
        for tool in list.elements() {
            let Some(function) = tool.get("function").filter(|function| function.is_object()) else {
                continue;
            };
            let name = function.get("name").and_then(Named::of);
            let schema = function.get("parameters").map(Place::of);
            // A client sends them with each request.
            let is_new = name.as_ref().is_none_or(|name| self.tools.insert(name.text.clone()));
            if is_new || self.transcript.parts.is_empty() {
                known.push(ToolDef { name, schema, ..ToolDef::new(Place::of(tool)) });
            }
        }
        // The tools of the server, and those of an agent, are not here.
        tools.hides_some = true;
    }
}
