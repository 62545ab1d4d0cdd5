//! pydantic-ai: the list of messages that `all_messages_json()` writes.

use toolcheck_json::Value;

use super::nested::{self, List};
use super::parts::{call, id, reasoning, result};
use super::{Conversation, ConversationEnd, Reader};
use crate::ir::{Body, Call, Executor, Named, Role, ToolResult, Transcript};

pub(super) static READER: Reader = Reader::history(
    "pydantic-ai",
    "pydantic-ai message history",
    |records| nested::certainty_of(records, is_message),
    |records| nested::read(records, is_message, |list, _| conversation(list)),
);

fn is_message(value: Value<'_, '_>) -> bool {
    let Some(parts) = value.get("parts").filter(|parts| parts.is_array()) else { return false };
    match parts.elements().next() {
        Some(part) => part.has("part_kind"),
        None => matches!(value.get_str("kind").as_deref(), Some("request" | "response")),
    }
}

fn conversation<'s>(list: List<'_, 's>) -> Conversation<'s> {
    let root = list.messages[0].document().root();
    let mut transcript = Transcript::of_conversation(READER.key(), root);
    transcript.batches_results = true;
    // Where a response follows one.
    let mut starts = Vec::new();
    for &message in &list.messages {
        let parts = message.list("parts");
        if is_response(message) {
            if transcript.messages.last().is_some_and(|last| last.role == Role::Assistant) {
                starts.push(transcript.parts.len());
            }
            transcript.next_message(Role::Assistant, message);
            parts.for_each(|part| read_part(&mut transcript, part));
            if matches!(message.get_str("state").as_deref(), Some("interrupted" | "suspended")) {
                transcript.abort_calls_of_last();
            }
        } else {
            // A request has parts of several roles, in the order in which they are sent.
            for part in parts {
                transcript.turn(role_of(part), message);
                read_part(&mut transcript, part);
            }
        }
    }
    transcript.divide(|number, _| starts.contains(&number));
    Conversation { title: list.title, transcript, end: ConversationEnd::Open }
}

fn is_response(message: Value<'_, '_>) -> bool {
    match message.get_str("kind").as_deref() {
        Some(kind) => kind == "response",
        None => message.has("model_name"),
    }
}

fn role_of(part: Value<'_, '_>) -> Role {
    match part.get_str("part_kind").as_deref() {
        Some("system-prompt") => Role::System,
        Some("retry-prompt") if !answers_call(part) => Role::User,
        Some("retry-prompt") => Role::Tool,
        Some(kind) if kind.ends_with("tool-return") => Role::Tool,
        _ => Role::User,
    }
}

/// Whether a prompt to try again is about a call, and not about a text of the model.
fn answers_call(part: Value<'_, '_>) -> bool {
    part.get("tool_name").is_some_and(|name| !name.is_null())
}

fn read_part<'s>(transcript: &mut Transcript<'s>, part: Value<'_, 's>) {
    let kind = part.get_str("part_kind").unwrap_or_default();
    let content = part.get("content");
    let body = match &*kind {
        "user-prompt" if content.is_some_and(Value::is_array) => {
            transcript
                .content(content, |item| Some(if item.is_object() { Body::Media } else { Body::Opaque }));
            return;
        }
        "text" | "user-prompt" | "system-prompt" => Body::text(content),
        "retry-prompt" if !answers_call(part) => Body::text(content),
        // Since version 2: what is said in place of a prompt without a tool, and the words of what was spoken.
        "retry-feedback" => Body::text(content),
        "speech" => Body::text(part.get("transcript")),
        "instruction-baseline" => Body::Empty,
        "thinking" => reasoning(part.get("signature")),
        "retry-prompt" => Body::Result(result_of(part, Some(true))),
        "tool-return" => {
            let is_error = part.get_str("outcome").map(|outcome| outcome != "success");
            Body::Result(result_of(part, is_error))
        }
        "tool-call" => Body::Call(call_of(part)),
        // The provider ran the tool: `builtin-tool-call` or `native-tool-call`.
        kind if kind.ends_with("tool-call") => {
            Body::Call(Call { executor: Executor::Server, ..call_of(part) })
        }
        kind if kind.ends_with("tool-return") => {
            Body::Result(ToolResult { executor: Executor::Server, ..result_of(part, None) })
        }
        "file" => Body::Media,
        _ => Body::Opaque,
    };
    transcript.part(part, body);
}

fn call_of<'s>(part: Value<'_, 's>) -> Call<'s> {
    call(id(part.get("tool_call_id")), part.get("tool_name"), part.get("args"))
}

fn result_of<'s>(part: Value<'_, 's>, is_error: Option<bool>) -> ToolResult<'s> {
    let mut result = result(id(part.get("tool_call_id")), part.get("content"), is_error);
    result.name = part.get("tool_name").and_then(Named::of);
    result
}
