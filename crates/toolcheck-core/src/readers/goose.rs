//! goose: a session, as a file with a message per line or as one exported document, and what `goose run` prints: all of the
//! session as `json` (`GooseBatchOutput`), or what is new in it as `stream-json`, in pieces.
//!
//! Messages that the model no longer sees, because a summary took their place, are kept with a mark. What is seen is
//! sent next, after goose has left out what has no other side (`fix_conversation`).

use toolcheck_json::Value;
use toolcheck_json::edit::Piece;

use super::file_style::{self, FileFixStyle};
use super::parts::{self};
use super::{ConversationEnd, Reader, Reading};
use crate::claim::certainty;
use crate::fix_style::{FixStyle, Missing};
use crate::ir::{Body, Role, ToolKind, Transcript};

pub(super) static READER: Reader =
    Reader::log("goose", "goose session", sniff, read).or_one_list().fixed_by(&FILE_STYLE);

static FILE_STYLE: FileFixStyle = FileFixStyle {
    stamps: &STAMPS,
    record: |added| file_style::stamped(added, &STAMPS),
    ..FileFixStyle::plain(&FIX_STYLE)
};

/// A message has its time, and who sees it.
const STAMPS: [&str; 2] = ["created", "metadata"];

static FIX_STYLE: FixStyle = FixStyle {
    blocks: Some("content"),
    only_in_results: &["resource"],
    result_id: Some("id"),
    result,
    ..FixStyle::OF_PROGRAM
};

fn result(missing: &Missing) -> Option<Piece> {
    let id = missing.id.clone().filter(|_| missing.kind == ToolKind::Function)?;
    let outcome = Piece::object([("status", Piece::text("error")), ("error", missing.said())]);
    Some(Piece::object([("type", Piece::text("toolResponse")), ("id", id), ("toolResult", outcome)]))
}

const LOOKED_AT: usize = 32;

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    let is_export = |record: &Value<'_, '_>| {
        let is_own = || record.get_any(&["working_dir", "extension_data", "session_type"]).is_some();
        record.get("conversation").is_some_and(|list| {
            let is_empty = list.elements().next().is_none();
            list.is_array() && list.elements().take(LOOKED_AT).all(is_message) && (!is_empty || is_own())
        })
    };
    let is_printed = |record: &Value<'_, '_>| {
        streamed(*record)
            .is_some_and(|message| message.has("metadata") || message.list("content").any(is_own_block))
            || printed(*record).is_some_and(|list| {
                list.elements().next().is_some() && list.elements().take(LOOKED_AT).all(is_message)
            })
    };
    let is_header = |record: &Value<'_, '_>| {
        record.get("role").is_none()
            && record.has("working_dir")
            && record.get_any(&["message_count", "description", "total_tokens"]).is_some()
    };
    let has_own_block =
        |record: &Value<'_, '_>| is_message(*record) && record.list("content").any(is_own_block);
    let is_log = || match records {
        [header] => is_header(header) && header.get("conversation").is_none(),
        // The first of the messages may be cut off.
        [header, messages @ ..] if is_header(header) => messages.iter().any(|message| is_message(*message)),
        _ => records.iter().any(has_own_block),
    };
    if records.iter().any(is_export) || records.iter().any(is_printed) || is_log() {
        certainty::OWN_SHAPE
    } else {
        0
    }
}

/// The messages of what `goose run --output-format json` prints.
fn printed<'d, 's>(record: Value<'d, 's>) -> Option<Value<'d, 's>> {
    record.get("metadata").filter(|metadata| metadata.is_object())?;
    record.get("messages").filter(|list| list.is_array() && record.get("model").is_none())
}

/// The message in an event of `goose run --output-format stream-json`.
fn streamed<'d, 's>(record: Value<'d, 's>) -> Option<Value<'d, 's>> {
    let message = record.get("message").filter(|message| is_message(*message));
    message.filter(|_| record.is("type", "message"))
}

/// Whether a record is a message: goose writes when it was created, and always a list of blocks.
fn is_message(record: Value<'_, '_>) -> bool {
    record.has_all(&["role", "created"]) && record.has_list("content")
}

fn is_own_block(block: Value<'_, '_>) -> bool {
    let is_own = |kind: &str| {
        matches!(kind, "toolRequest" | "toolResponse" | "frontendToolRequest" | "toolConfirmationRequest")
    };
    block.get_str("type").is_some_and(|kind| is_own(&kind))
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    let mut reading = Reading::default();
    let (mut lines, mut events) = (Vec::new(), Vec::new());
    for &record in records {
        let list = record.get("conversation").filter(|list| list.is_array()).or_else(|| printed(record));
        if let Some(list) = list {
            let id = record.get_str("id").filter(|_| records.len() > 1);
            let hidden =
                read_session(id.as_deref().unwrap_or("main"), list.elements().collect(), &mut reading);
            reading.left_out.add(HIDDEN, hidden);
        } else if record.has("role") {
            lines.push(record);
        } else if let Some(message) = streamed(record) {
            events.push(message);
        } else {
            reading.leave_out_unknown("records that are not messages", record);
        }
    }
    for messages in [lines, events] {
        let hidden = read_session("main", messages, &mut reading);
        reading.left_out.add(HIDDEN, hidden);
    }
    reading.in_order()
}

const HIDDEN: &str = "messages that the model no longer sees";

/// Reads the messages of a session, and returns how many of them are hidden.
fn read_session<'s>(title: &str, messages: Vec<Value<'_, 's>>, reading: &mut Reading<'s>) -> usize {
    let (kept, hidden): (Vec<_>, Vec<_>) = messages.into_iter().partition(|message| is_seen(*message));
    conversation(title, &hidden, ConversationEnd::Replaced, reading);
    conversation(title, &kept, ConversationEnd::Open, reading);
    hidden.len()
}

fn is_seen(message: Value<'_, '_>) -> bool {
    let seen = message.get_in(&["metadata", "agentVisible"]);
    seen.and_then(Value::as_bool) != Some(false)
}

fn conversation<'s>(
    title: &str,
    messages: &[Value<'_, 's>],
    end: ConversationEnd,
    reading: &mut Reading<'s>,
) {
    let Some(first) = messages.first() else { return };
    let mut transcript = Transcript::of_conversation(READER.key(), first.document().root());
    transcript.batches_results = true;
    let mut piece_of = None;
    for message in messages {
        // What goose only asks or shows the user is no message.
        if message.list("content").next().is_some()
            && message.list("content").all(|block| body(block).is_none())
        {
            continue;
        }
        let role = match message.get_str("role").as_deref() {
            Some("assistant") => Role::Assistant,
            Some("system") => Role::System,
            _ => Role::User,
        };
        // A message comes in pieces that have its id.
        let id = message.get("id").map(Value::raw).filter(|_| role == Role::Assistant);
        if id.is_none() || piece_of != id {
            transcript.next_message(role, *message);
        }
        // Without ids, each is whole.
        if id == Some(b"null") || piece_of != id {
            transcript.details.answers.push(transcript.parts.len());
        }
        piece_of = id;
        for block in message.list("content") {
            match body(block) {
                Some(Body::Opaque) => transcript.unknown(block),
                Some(body) => transcript.part(block, body),
                None => &mut transcript,
            };
        }
    }
    reading.add_log(&READER, title, transcript, end);
}

fn body<'s>(block: Value<'_, 's>) -> Option<Body<'s>> {
    Some(match block.get_str("type").as_deref() {
        Some("text" | "reasoning") => Body::text(block.get("text")),
        Some("thinking") => parts::reasoning(block.get("signature")),
        Some("redactedThinking") => parts::reasoning(block.get("data")),
        Some("image") => Body::Media,
        Some("toolRequest" | "frontendToolRequest") => {
            // A call that goose could not read has only an error, which its result repeats.
            let call = block.get("toolCall");
            let call = call.and_then(|call| call.get("value")).or(call);
            Body::Call(parts::call(
                block.get("id"),
                call.and_then(|call| call.get("name")),
                call.and_then(|call| call.get("arguments")),
            ))
        }
        Some("toolResponse") => {
            let outcome = block.get("toolResult");
            let value = outcome.and_then(|outcome| outcome.get("value"));
            let content = value.and_then(|value| value.get("content")).or(value);
            let error = outcome.and_then(|outcome| outcome.get("error"));
            let is_error = value.and_then(|value| value.get("isError")).and_then(Value::as_bool);
            let is_error = if error.is_some() { Some(true) } else { is_error };
            Body::Result(parts::result(block.get("id"), content.or(error), is_error))
        }
        // What goose asks and shows the user.
        Some("toolConfirmationRequest" | "actionRequired" | "systemNotification") => return None,
        _ => Body::Opaque,
    })
}
