//! Kimi CLI: the context of a session (`context.jsonl`) and what it sends to its interface (`wire.jsonl`).

use toolcheck_json::Value;

use super::file_style::FileFixStyle;
use super::threads::{Thread, Threads};
use super::{ConversationEnd, Reader, Reading, broken, next, parts};
use crate::claim::certainty;
use crate::formats::openai_chat;
use crate::ir::{Arguments, Body, Content, Place, Role, Transcript};
use crate::names::words;

pub(super) static READER: Reader =
    Reader::log("kimi-cli", "Kimi CLI session", sniff, read).or_one_list().fixed_by(&FILE_STYLE);

/// The messages of the context are those of Chat Completions.
static FILE_STYLE: FileFixStyle =
    FileFixStyle { format: Some(&openai_chat::FORMAT), ..FileFixStyle::plain(openai_chat::FORMAT.fix_style) };

/// The types of messages to the interface that tell a file from others.
const OWN_TYPES: [&str; 8] = words(
    "TurnBegin TurnEnd StepBegin StepInterrupted StatusUpdate ContentPart SubagentEvent CompactionBegin",
);

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    let is_own = |record: &Value<'_, '_>| {
        let is_marker = || record.get_str("role").is_some_and(|role| is_marker(&role));
        let is_header = || {
            let is_metadata = record.get_str("type").as_deref() == Some("metadata");
            // That of Kimi Code says when it was made.
            is_metadata && record.has("protocol_version") && record.get("created_at").is_none()
        };
        let is_message = || {
            envelope(*record).is_some_and(|(kind, _)| record.has("timestamp") && OWN_TYPES.contains(&&*kind))
        };
        is_marker() || is_header() || is_message()
    };
    if records.iter().any(is_own) { certainty::OWN_SHAPE } else { 0 }
}

/// Whether a role in the context is that of a record of the agent's own.
fn is_marker(role: &str) -> bool {
    // `_checkpoint`, `_usage`, `_system_prompt`, or what is left of them where a line is cut off.
    role.starts_with('_')
}

/// The type and the content of a message to the interface.
fn envelope<'d, 's>(record: Value<'d, 's>) -> Option<(String, Value<'d, 's>)> {
    let message = record.get("message")?;
    Some((message.get_str("type")?.into_owned(), message.get("payload")?))
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    let mut log = Log(Threads::new(&READER));
    for &record in records {
        if let Some((kind, payload)) = envelope(record) {
            log.add_event("main".to_owned(), &kind, record, payload, 0);
        } else if let Some(role) = record.get_str("role") {
            log.add_message(&role, record);
        } else {
            // It may be a piece of arguments, so that those before it are not whole.
            if broken::is_broken(record) {
                log.thread("main".to_owned(), record).continue_call();
            }
            log.0.leave_out_unknown("records that are not messages", record);
        }
    }
    let mut reading = log.0.finish();
    // What it tells its interface is no part of what it sends.
    if records.iter().any(|record| record.has("role")) {
        next::mark(&mut reading.conversations, "main", READER.id);
    }
    reading
}

/// A session while it is read, with its sub-agents.
struct Log<'s>(Threads<'s, Step>);

#[derive(Default)]
struct Step {
    /// Whether what the model says next belongs to its last message.
    goes_on: bool,
}

/// How deep sub-agents may have sub-agents.
const DEEPEST: usize = 8;

impl<'s> Log<'s> {
    fn leave_out(&mut self, what: &'static str) {
        self.0.leave_out(what);
    }

    fn thread(&mut self, title: String, record: Value<'_, 's>) -> &mut Thread<'s, Step> {
        let number = self.0.number(title, record);
        self.0.get(number)
    }

    fn add_message(&mut self, role: &str, record: Value<'_, 's>) {
        if is_marker(role) && role != "_system_prompt" {
            self.leave_out("records that are not messages");
            return;
        }
        let transcript = &mut self.thread("main".to_owned(), record).transcript;
        let content = record.get("content");
        match role {
            "tool" => {
                let result = parts::result(record.get("tool_call_id"), content, None);
                transcript.next_message(Role::Tool, record).part(record, Body::Result(result));
                return;
            }
            "assistant" => transcript.next_message(Role::Assistant, record),
            "system" | "developer" | "_system_prompt" => transcript.next_message(Role::System, record),
            _ => transcript.next_message(Role::User, record),
        };
        if let (Some(content), Some(message)) = (content, transcript.messages.last_mut()) {
            (message.content, message.content_place) = (Content::of(Some(content)), Place::of(content));
        }
        if let Some(content) = content {
            add_content(transcript, content);
        }
        for call in record.list("tool_calls") {
            transcript.part(call, call_of(call));
        }
    }

    /// Adds a message to the interface. `depth` is the number of agents round it.
    fn add_event(
        &mut self,
        title: String,
        kind: &str,
        record: Value<'_, 's>,
        payload: Value<'_, 's>,
        depth: usize,
    ) {
        let inner = |key: &str| payload.get_str(key);
        match kind {
            "TurnBegin" | "SteerInput" => {
                let thread = self.thread(title, record);
                thread.transcript.next_message(Role::User, record);
                (thread.is_aborted, thread.own.goes_on) = (false, false);
                if let Some(input) = payload.get("user_input") {
                    add_content(&mut thread.transcript, input);
                }
                thread.turn = thread.transcript.parts.len();
            }
            "StepBegin" => {
                let thread = self.thread(title, record);
                (thread.turn, thread.own.goes_on) = (thread.transcript.parts.len(), false);
            }
            "ContentPart" | "TextPart" | "ThinkPart" => {
                add_block(self.thread(title, record).say(record), payload);
            }
            "ToolCall" => {
                self.thread(title, record).say(record).part(payload, call_of(payload));
            }
            "ToolCallPart" => self.thread(title, record).continue_call(),
            "ToolResult" => self.thread(title, record).add_result(record, payload),
            "StepInterrupted" => {
                let thread = self.thread(title, record);
                thread.transcript.abort_calls_from(thread.turn);
                thread.turn = thread.transcript.parts.len();
                (thread.is_aborted, thread.own.goes_on) = (true, false);
            }
            "CompactionEnd" => {
                let number = self.0.number(title, record);
                self.0.divide(number, ConversationEnd::Compacted);
            }
            "SubagentEvent" if depth < DEEPEST => {
                let parent = inner("parent_tool_call_id").or_else(|| inner("task_tool_call_id"));
                let title = match (inner("agent_id"), parent) {
                    (Some(agent), _) => format!("agent {agent}"),
                    (None, Some(parent)) => format!("agent of {parent}"),
                    (None, None) => "agents".to_owned(),
                };
                let event = payload.get("event");
                let kind = event.and_then(|event| event.get_str("type"));
                match (kind, event.and_then(|event| event.get("payload"))) {
                    (Some(kind), Some(payload)) => self.add_event(title, &kind, record, payload, depth + 1),
                    _ => self.leave_out("events of the session"),
                }
            }
            _ => self.0.leave_out_unknown("events of the session", record),
        }
    }
}

impl<'s> Thread<'s, Step> {
    fn say(&mut self, record: Value<'_, 's>) -> &mut Transcript<'s> {
        if std::mem::replace(&mut self.own.goes_on, true) {
            self.transcript.turn(Role::Assistant, record)
        } else {
            self.transcript.next_message(Role::Assistant, record)
        }
    }

    /// The arguments of the last call go on in another record, so that they are not whole in this one.
    fn continue_call(&mut self) {
        if let Some(Body::Call(call)) = self.transcript.parts.last_mut().map(|part| &mut part.body) {
            call.arguments = Arguments::Missing;
        }
    }

    fn add_result(&mut self, record: Value<'_, 's>, payload: Value<'_, 's>) {
        let value = payload.get_any(&["return_value", "result"]);
        let content = value.and_then(|value| value.get_any(&["output", "message"]));
        let is_error = value.and_then(|value| value.get("is_error")).and_then(Value::as_bool);
        let result = parts::result(payload.get("tool_call_id"), content, is_error);
        self.transcript.next_message(Role::Tool, record).part(payload, Body::Result(result));
    }
}

fn call_of<'s>(call: Value<'_, 's>) -> Body<'s> {
    let function = call.get("function");
    Body::Call(parts::call(
        call.get("id"),
        function.and_then(|function| function.get("name")),
        function.and_then(|function| function.get("arguments")),
    ))
}

fn add_content<'s>(transcript: &mut Transcript<'s>, content: Value<'_, 's>) {
    if content.is_string() {
        transcript.part(content, Body::text(Some(content)));
    }
    content.elements().for_each(|block| add_block(transcript, block));
}

pub(super) fn add_block<'s>(transcript: &mut Transcript<'s>, block: Value<'_, 's>) {
    let body = match block.get_str("type").as_deref() {
        Some("text") => Body::text(block.get("text")),
        Some("think") => parts::reasoning(block.get("encrypted")),
        Some("image_url" | "audio_url" | "video_url") => Body::Media,
        _ => {
            transcript.unknown(block);
            return;
        }
    };
    transcript.part(block, body);
}
