//! Messages that hold calls, wherever they stand: the answers of models.

use toolcheck_json::Value;

use super::{Conversation, ConversationEnd, Reader, Reading, lists, parts, turns};
use crate::formats::{anthropic, bedrock_converse, gemini, openai_chat};
use crate::ir::{Body, Place, Role, Transcript};
use crate::{response, unsupported};

/// How the message of a wire format is read, which has a number.
pub(crate) type ReadMessage = for<'d, 's> fn(&mut Transcript<'s>, Value<'d, 's>, usize);

/// How to read a message outside of lists that holds calls, or an output with some.
pub(crate) fn reader_of_answer(value: Value<'_, '_>) -> Option<ReadMessage> {
    if lists::may_be_output(value) && lists::calls_of_output(value).next().is_some() {
        return Some(read_output);
    }
    let Some(role) = value.get("role") else {
        // DSPy's outputs, of which one with calls is an object.
        let is_output = value.has_all(&["tool_calls", "text"]);
        let read: ReadMessage = read_output;
        return (is_output && lists::calls_of_output(value).next().is_some()).then_some(read);
    };
    role.as_json_str()?;
    if has_calls_in_content(value) {
        Some(|transcript, message, _| read_calls_in_content(transcript, message))
    } else if is_of_blocks(value) {
        Some(|transcript, message, index| anthropic::read_message(transcript, message, index, false))
    } else if value.get("tool_calls").is_some_and(|calls| calls.elements().next().is_some_and(holds_call)) {
        Some(openai_chat::read_message)
    } else if calls_in_kwargs(value).is_some() {
        Some(read_own_calls)
    } else if has_blocks(value, "content", &["toolUse"]) {
        Some(bedrock_converse::read_message)
    } else if has_blocks(value, "parts", &["functionCall", "function_call"]) {
        Some(gemini::read_message)
    } else {
        None
    }
}

fn read_output<'s>(transcript: &mut Transcript<'s>, output: Value<'_, 's>, _: usize) {
    transcript.next_message(Role::Assistant, output);
    lists::calls_of_output(output).for_each(|call| turns::add_call(transcript, call));
}

pub(crate) fn has_blocks(message: Value<'_, '_>, key: &str, keys: &[&str]) -> bool {
    message.list(key).any(|block| block.get_any(keys).is_some_and(|call| call.is_object()))
}

/// The calls that LangChain had in a message before it had a key for them (`_convert_message_to_dict` in
/// `langfuse/langchain/CallbackHandler.py` of langfuse/langfuse-python).
fn calls_in_kwargs<'d, 's>(message: Value<'d, 's>) -> Option<Value<'d, 's>> {
    let calls = message.get("additional_kwargs")?.get("tool_calls")?;
    let is_own = message.has("role") && message.get_any(&["tool_calls", "blocks"]).is_none();
    Some(calls).filter(|calls| is_own && calls.elements().next().is_some_and(holds_call))
}

/// Whether a message has its calls as parts of its content, in the form of Chat Completions: PostHog writes
/// answers so (`format_openai_response` in `posthog/ai/openai/openai_converter.py` of PostHog/posthog-python), and Koog 0.3
/// what was called, with the role of results.
pub(crate) fn has_calls_in_content(message: Value<'_, '_>) -> bool {
    message.list("content").any(is_call_part)
}

pub(crate) fn is_call_part(part: Value<'_, '_>) -> bool {
    part.has("id") && part.is("type", "function") && part.get_in(&["function", "arguments"]).is_some()
}

fn read_calls_in_content<'s>(transcript: &mut Transcript<'s>, message: Value<'_, 's>) {
    transcript.next_message(Role::Assistant, message);
    let is_of_tool = message.is("role", "tool");
    message.list("content").for_each(|part| add_call_part(transcript, part, is_of_tool));
}

/// Adds such a part, or the text beside it. Where calls have the role of results, results have no ids.
pub(crate) fn add_call_part<'s>(transcript: &mut Transcript<'s>, part: Value<'_, 's>, is_of_tool: bool) {
    let called = part.get("function").filter(|_| is_call_part(part));
    let body = called.map(|called| {
        let id = part.get("id").filter(|_| !is_of_tool);
        Body::Call(parts::call(id, called.get("name"), called.get("arguments")))
    });
    transcript.part(part, body.unwrap_or_else(|| Body::text(part.get("text"))));
}

/// Whether a message has calls that [`read_own_calls`] reads.
pub(crate) fn has_own_calls(message: Value<'_, '_>) -> bool {
    calls_in_kwargs(message).is_some() || has_calls_in_content(message)
}

pub(crate) fn read_own_calls<'s>(transcript: &mut Transcript<'s>, message: Value<'_, 's>, number: usize) {
    if has_calls_in_content(message) {
        read_calls_in_content(transcript, message);
        return;
    }
    openai_chat::read_message(transcript, message, number);
    for call in calls_in_kwargs(message).into_iter().flat_map(|calls| calls.elements()) {
        turns::add_call(transcript, call);
    }
}

/// Whether the calls of a message are blocks of its content.
pub(crate) fn is_of_blocks(message: Value<'_, '_>) -> bool {
    let mut blocks = message.list("content");
    blocks.any(|block| block.is("type", "tool_use"))
}

pub(crate) fn holds_call<'d, 's>(value: Value<'d, 's>) -> bool {
    let is_call = |value: Value<'_, '_>| {
        let keys = ["name", "function", "toolName", "args", "arguments", "input", "tool", "tool_call_id"];
        value.get_any(&keys).is_some()
    };
    let first = |value: Value<'d, 's>| value.elements().next();
    is_call(value) || first(value).is_some_and(|one| is_call(first(one).unwrap_or(one)))
}

/// Whether an element is a message with LangChain's calls, or a record of a session of Strands Agents.
pub(crate) fn is_in_entry(entry: Value<'_, '_>) -> bool {
    let message = entry.get("message");
    message.is_some_and(|message| has_blocks(message, "content", &["toolUse", "toolResult"]))
        || calls_in_kwargs(entry).is_some()
}

/// Reads a list of responses of APIs: each is what a model said, and nothing that the next one goes on from.
pub(crate) fn read_responses<'s>(reader: &Reader, list: Value<'_, 's>, reading: &mut Reading<'s>) {
    for value in list.elements() {
        let Some((_, _, said)) = response::read_any(value).filter(|_| unsupported::is_response(value)) else {
            reading.leave_out_unknown("entries that are not responses", value);
            continue;
        };
        for mut transcript in said.into_iter().map(|said| said.transcript) {
            // It is no request, whatever the target is.
            (transcript.place, transcript.format) = (Place::of(value), Some(reader.key()));
            reading.conversations.push(Conversation::new("", transcript, ConversationEnd::Open));
        }
    }
}
