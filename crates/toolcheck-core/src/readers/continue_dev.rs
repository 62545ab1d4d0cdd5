//! Continue: a session.
//!
//! What it sends is made of the calls of the model and of what it knows of each: a result is never missing, and messages of
//! tools are not sent (`gui/src/redux/util/constructMessages.ts` of continuedev/continue, at 049f34b). So a call that has a
//! state needs no message with its result. It sends only what follows the last item with a summary, after the summary.

use toolcheck_json::Value;

use super::{Conversation, ConversationEnd, Reader, Reading, own_shape, parts};
use crate::ir::{Arguments, Body, Role, Transcript, UnpairedReason};

pub(super) static READER: Reader =
    Reader::log("continue-dev", "Continue session", |records| own_shape(records, is_session), read);

fn is_session(record: Value<'_, '_>) -> bool {
    let is_item =
        |item: Value<'_, '_>| item.has("contextItems") && item.get_in(&["message", "role"]).is_some();
    record.has("sessionId")
        && record.get("history").and_then(|history| history.elements().next()).is_some_and(is_item)
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    Reading::of_sessions(records, |record, reading| {
        if !is_session(record) {
            return false;
        }
        let mut transcript = Transcript::of_conversation(READER.key(), record);
        let items: Vec<_> = record.list("history").collect();
        let summary =
            |item: &Value<'_, '_>| item.get_str("conversationSummary").is_some_and(|text| !text.is_empty());
        let last = items.iter().rposition(summary);
        for (number, &item) in items.iter().enumerate() {
            match item.get("message") {
                Some(message) => add(&mut transcript, item, message),
                None => reading.leave_out_unknown("items that are not messages", item),
            }
            if last == Some(number) {
                let next = Transcript::of_conversation(READER.key(), record);
                end(std::mem::replace(&mut transcript, next), ConversationEnd::Compacted, reading);
                transcript.next_message(Role::System, item);
                transcript.content(item.get("conversationSummary"), |_| None);
            }
        }
        end(transcript, ConversationEnd::Open, reading);
        true
    })
}

fn end<'s>(mut transcript: Transcript<'s>, end: ConversationEnd, reading: &mut Reading<'s>) {
    transcript.settle_results_of_first(UnpairedReason::Elsewhere);
    transcript.sent_next_by = (end == ConversationEnd::Open).then_some(READER.id);
    reading.conversations.push(Conversation::new("main", transcript, end));
}

fn add<'s>(transcript: &mut Transcript<'s>, item: Value<'_, 's>, message: Value<'_, 's>) {
    let content = message.get("content");
    let role = match message.get_str("role").as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        Some("tool") => {
            let result = parts::result(message.get("toolCallId"), content, None);
            transcript.turn(Role::Tool, message).part(message, Body::Result(result));
            return;
        }
        Some("thinking") => {
            transcript
                .next_message(Role::Assistant, message)
                .part(message, parts::reasoning(message.get("signature")));
            return;
        }
        _ => Role::Unknown,
    };
    transcript.next_message(role, message);
    transcript.content(content, |part| {
        let is_image = part.is("type", "imageUrl");
        Some(if is_image { Body::Media } else { Body::Opaque })
    });
    let calls: Vec<_> = message.list("toolCalls").collect();
    let known = item.list("toolCallStates").filter(|_| calls.is_empty());
    for one in calls.iter().copied().chain(known.filter_map(|state| state.get("toolCall"))) {
        let function = one.get("function");
        let of_function = |key: &str| function.and_then(|function| function.get(key));
        let mut call = parts::call(one.get("id"), of_function("name"), of_function("arguments"));
        if let Some(state) = state_of(item, one) {
            let status = state.get_str("status");
            call.unpaired = Some(match status.as_deref() {
                Some("canceled") => UnpairedReason::Aborted,
                Some("generated") => UnpairedReason::Consent,
                Some("generating" | "calling") => UnpairedReason::Open,
                _ => UnpairedReason::Elsewhere,
            });
            // The model was stopped while it wrote them.
            if matches!(status.as_deref(), Some("canceled" | "generating")) {
                call.arguments = Arguments::Missing;
            }
        }
        transcript.part(one, Body::Call(call));
    }
}

/// What is known of a call. Older versions know of one in each item.
fn state_of<'d, 's>(item: Value<'d, 's>, call: Value<'_, '_>) -> Option<Value<'d, 's>> {
    let id = call.get("id").map(Value::raw);
    let states = item.list("toolCallStates");
    let mut states = states.chain(item.get("toolCallState"));
    states.find(|state| id.is_some() && state.get("toolCallId").map(Value::raw) == id)
}
