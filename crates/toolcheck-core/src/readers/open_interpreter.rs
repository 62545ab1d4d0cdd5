//! Open Interpreter: a conversation, as it saves one in `conversations` and prints it (0.4.3 of OpenInterpreter/open-interpreter).
//!
//! Calls have no ids: the code of a message of the model is the call, and what the computer says after it is its result. Whatever
//! is missing is added before it is sent (`process_messages` in `interpreter/core/llm/run_tool_calling_llm.py`), and code that the
//! user did not let run has no output.

use toolcheck_json::Value;

use super::parts::{call, result};
use super::{Conversation, ConversationEnd, LOOKED_AT, Reader, Reading, own_shape};
use crate::ir::{Body, Call, Role, ToolKind, Transcript, UnpairedReason};

pub(super) static READER: Reader =
    Reader::log("open-interpreter", "Open Interpreter conversation", sniff, read).or_one_list();

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    own_shape(records, |record| is_own(record) || record.list("messages").take(LOOKED_AT).any(is_own))
}

/// Whether a message is code, or what running it has printed.
fn is_own(message: Value<'_, '_>) -> bool {
    // Most messages of others have no such key, and need not be looked at.
    if message.get("format").is_none() {
        return false;
    }
    let role = message.get_str("role");
    let is_of_role = matches!(
        (message.get_str("type").as_deref(), role.as_deref()),
        (Some("code"), Some("assistant" | "user")) | (Some("console"), Some("computer"))
    );
    is_of_role && message.get_str("format").is_some() && message.has("content")
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    let mut reading = Reading::default();
    let mut lines = Vec::new();
    for &record in records {
        match record.get("messages").filter(|list| list.is_array()) {
            Some(list) => conversation(record, list.elements(), &mut reading),
            None => lines.push(record),
        }
    }
    if let Some(&first) = lines.first() {
        conversation(first, lines.into_iter(), &mut reading);
    }
    super::parts::number_titles(&mut reading.conversations);
    reading
}

fn conversation<'d, 's: 'd>(
    root: Value<'d, 's>,
    messages: impl Iterator<Item = Value<'d, 's>>,
    reading: &mut Reading<'s>,
) {
    let mut transcript = Transcript::of_conversation(READER.key(), root);
    // Whether the last code has no output yet, and whether nothing but output came since.
    let (mut is_open, mut is_output) = (false, false);
    for message in messages {
        let content = message.get("content");
        let role = match message.get_str("role").as_deref() {
            Some("user") => Role::User,
            Some("computer") => Role::Tool,
            Some("system") => Role::System,
            _ => Role::Assistant,
        };
        match message.get_str("type").as_deref() {
            Some("code") if role == Role::Assistant => {
                let call = Call { kind: ToolKind::Custom, ..call(None, message.get("format"), content) };
                transcript.turn(role, message).part(message, Body::Call(call));
                (is_open, is_output) = (true, true);
            }
            Some("console") => {
                transcript.turn(Role::Tool, message);
                let body = if is_open || !is_output {
                    Body::Result(result(None, content, None))
                } else {
                    // It is printed in pieces, with images between them.
                    Body::text(content)
                };
                transcript.part(message, body);
                is_open = false;
            }
            Some("image" | "file") => {
                transcript.turn(role, message).part(message, Body::Media);
            }
            Some(kind @ ("message" | "code")) => {
                transcript.next_message(role, message).content(content, |_| Some(Body::Opaque));
                // What the user runs prints something too, which answers no call.
                (is_open, is_output) = (false, kind == "code");
            }
            Some("error" | "confirmation" | "review") => reading.leave_out("messages that are not sent"),
            _ => reading.leave_out_unknown("messages of other types", message),
        }
    }
    transcript.settle_calls_from(0, UnpairedReason::Elsewhere);
    reading.conversations.push(Conversation::new("main", transcript, ConversationEnd::Open));
}
