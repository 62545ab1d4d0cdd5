//! ZeroClaw: the log of a session, whose messages have a role and a text and nothing else.
//!
//! A call and a result are the text of an object (`crates/zeroclaw-api/src/tool_carrier.rs` of zeroclaw-labs/zeroclaw), or,
//! in the store of its ACP server, a message of a type of its own (`ConversationMessage` in `model_provider.rs` there).

use toolcheck_json::Value;

use super::parts::{self};
use super::{Conversation, ConversationEnd, Reader, Reading, own_shape};
use crate::ir::{Body, Role, Transcript, UnpairedReason};
use crate::unread;

pub(super) static READER: Reader =
    Reader::log("zeroclaw", "ZeroClaw session", |records| own_shape(records, is_own), read).with_texts();

fn is_own(record: Value<'_, '_>) -> bool {
    let first = record.list("messages").next().filter(|_| record.has("session_id"));
    is_of_server(first.unwrap_or(record)) || unread::carries_tools(record)
}

/// Whether a message is one of the ACP server.
fn is_of_server(message: Value<'_, '_>) -> bool {
    let Some(data) = message.get("data") else { return false };
    match message.get_str("type").as_deref() {
        Some("Chat") => data.has("role"),
        Some("AssistantToolCalls") => data.has("tool_calls"),
        Some("ToolResults") => data.elements().all(|result| result.has("tool_call_id")),
        _ => false,
    }
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    let mut reading = Reading::default();
    let Some(first) = records.first() else { return reading };
    let new = |value| Transcript::of_conversation(READER.key(), value);
    let mut main = new(*first);
    for record in records {
        if let Some(messages) = record.get("messages").filter(|messages| messages.is_array()) {
            let mut transcript = new(*record);
            messages.elements().for_each(|message| add(&mut transcript, message, &mut reading));
            end(transcript, &mut reading);
        } else {
            add(&mut main, *record, &mut reading);
        }
    }
    end(main, &mut reading);
    parts::number_titles(&mut reading.conversations);
    reading
}

fn end<'s>(mut transcript: Transcript<'s>, reading: &mut Reading<'s>) {
    if !transcript.messages.is_empty() {
        // Old messages are dropped where there are too many.
        transcript.settle_results_of_first(UnpairedReason::Elsewhere);
        transcript.sent_next_by = Some(READER.id);
        reading.conversations.push(Conversation::new("main", transcript, ConversationEnd::Open));
    }
}

fn add<'s>(transcript: &mut Transcript<'s>, record: Value<'_, 's>, reading: &mut Reading<'s>) {
    match (record.get_str("type").as_deref(), record.get("data")) {
        (Some("AssistantToolCalls"), Some(data)) => add_calls(transcript, record, data, data.get("text")),
        (Some("ToolResults"), Some(data)) => data.elements().for_each(|result| {
            transcript.next_message(Role::Tool, record);
            add_result(transcript, result);
        }),
        (Some("Chat"), Some(message)) => add_chat(transcript, record, message),
        _ if record.has("role") => add_chat(transcript, record, record),
        _ => reading.leave_out_unknown("lines that are not messages", record),
    }
}

fn add_chat<'s>(transcript: &mut Transcript<'s>, record: Value<'_, 's>, message: Value<'_, 's>) {
    let content = message.get("content");
    let carried = content.filter(|content| content.is_object());
    match message.get_str("role").as_deref() {
        Some("assistant") if let Some(said) = carried => {
            add_calls(transcript, record, said, said.get("content"));
            return;
        }
        Some("tool") => {
            transcript.next_message(Role::Tool, record);
            add_result(transcript, carried.unwrap_or(message));
            return;
        }
        Some("system") => transcript.next_message(Role::System, record),
        Some("assistant") => transcript.next_message(Role::Assistant, record),
        _ => transcript.next_message(Role::User, record),
    };
    transcript.content(content, |_| None);
}

fn add_calls<'s>(
    transcript: &mut Transcript<'s>,
    record: Value<'_, 's>,
    said: Value<'_, 's>,
    text: Option<Value<'_, 's>>,
) {
    transcript.next_message(Role::Assistant, record);
    transcript.content(text, |_| None);
    for call in said.list("tool_calls") {
        let body = parts::call(call.get("id"), call.get("name"), call.get("arguments"));
        transcript.part(call, Body::Call(body));
    }
}

fn add_result<'s>(transcript: &mut Transcript<'s>, said: Value<'_, 's>) {
    let result = parts::result(said.get("tool_call_id"), said.get("content"), None);
    transcript.part(said, Body::Result(result));
}
