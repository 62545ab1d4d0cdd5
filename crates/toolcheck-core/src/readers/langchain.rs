//! LangChain and LangGraph: lists of messages in states, checkpoints, streams and spans.
//!
//! A message is written in three ways: flat (`{"type": "ai", "content": ...}`), by `messages_to_dict` (`{"type": "ai",
//! "data": {...}}`) and by `dumpd` (`{"lc": 1, "id": [..., "AIMessage"], "kwargs": {...}}`). Its calls are in
//! `tool_calls`. The provider's form of them is kept beside, in `additional_kwargs` or in the content, and is read only
//! where it stands alone, as older versions write it.

use std::borrow::Cow;

use toolcheck_json::Value;

use super::nested::{self, List};
use super::parts::{call, id, is_media, reasoning, result};
use super::traces::{self, Side};
use super::{Conversation, ConversationEnd, LeftOut, Reader, Reading, lists};
use crate::ir::{
    Body, Details, MissingKey, Named, Place, Role, ToolKind, Transcript, UnpairedReason, WrongValue,
};
use crate::names::words;
use crate::unread::is_no_call;

pub(super) static READER: Reader = Reader::history(
    "langchain",
    "LangChain messages",
    |records| nested::certainty_of(&unwrapped(records), is_message),
    read,
);

/// The records, or the pairs of a message and its node that events of LangGraph's later versions have.
fn unwrapped<'d, 's>(records: &[Value<'d, 's>]) -> Vec<Value<'d, 's>> {
    let pair = |record: Value<'d, 's>| {
        let data = record.get("data").or_else(|| record.get("params")?.get("data"));
        data.filter(|data| data.is_array() && nested::beside_node(*data).is_some())
    };
    records.iter().map(|record| pair(*record).unwrap_or(*record)).collect()
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    let records = &*unwrapped(records);
    let Some(messages) = updates(records) else {
        let mut reading = nested::read(records, is_message, conversation);
        add_runs(records, &mut reading.conversations);
        reading.left_out.add("calls and results in intermediate steps", steps_of_n8n(records));
        return reading;
    };
    let mut reading = Reading::default();
    let title = "updates".to_owned();
    let mut conversation = conversation(List { title, messages, is_of_span: false }, &mut reading.left_out);
    conversation.transcript.settle_results_before_calls(UnpairedReason::Elsewhere);
    reading.conversations.push(conversation);
    reading
}

/// How many calls n8n tells of beside the messages, each with its result (`intermediateSteps` of an agent's output).
fn steps_of_n8n(records: &[Value<'_, '_>]) -> usize {
    let count = |record: &Value<'_, '_>| {
        let has_steps = memchr::memmem::find(record.raw(), b"\"intermediateSteps\"").is_some();
        if has_steps { memchr::memmem::find_iter(record.raw(), b"\"observation\"").count() } else { 0 }
    };
    records.iter().map(count).sum()
}

/// Adds what the runs that LangSmith exports say of their conversations, which are in the order of the file: their tools, and
/// whether the messages were sent to a model.
fn add_runs<'s>(records: &[Value<'_, 's>], conversations: &mut [Conversation<'s>]) {
    let mut runs: Vec<_> = lists::rows(records).collect();
    let begins_before = |one: &Conversation<'_>, at: u32| {
        one.transcript.messages.first().is_none_or(|first| first.place.span.start < at)
    };
    while let Some(run) = runs.pop() {
        runs.extend(run.list("child_runs"));
        let sides = ["inputs", "outputs"].into_iter().filter(|_| run.has("run_type"));
        for (key, value) in sides.filter_map(|key| Some((key, run.get(key)?))) {
            let span = value.span();
            let first = conversations.partition_point(|one| begins_before(one, span.start));
            let own = conversations[first..].partition_point(|one| begins_before(one, span.end));
            let own = &mut conversations[first..first + own];
            traces::add_tools(run, own);
            let side = Side::of(run, key).unwrap_or_default();
            for transcript in own.iter_mut().map(|one| &mut one.transcript) {
                transcript.details.is_answered = side.is_over(transcript);
            }
        }
    }
}

/// What the nodes of a graph add to its state, if the records are a stream of that: results come without their calls, and
/// nothing behind the first begins a conversation.
fn updates<'d, 's>(records: &[Value<'d, 's>]) -> Option<Vec<Value<'d, 's>>> {
    let rows: Vec<_> = if let [list] = records { list.elements().collect() } else { records.to_vec() };
    let (mut added, mut brings_results) = (Vec::new(), false);
    for node in rows.iter().flat_map(|row| row.get("data").unwrap_or(*row).members()) {
        let mut messages = node.list("messages").filter(|message| is_message(*message)).peekable();
        let Some(first) = messages.peek() else { continue };
        match kind_of(*first) {
            Kind::Of(Role::Tool) => brings_results |= !added.is_empty(),
            Kind::Of(Role::System | Role::User) if !added.is_empty() => return None,
            _ => {}
        }
        added.extend(messages);
    }
    Some(added).filter(|_| brings_results)
}

fn is_own_type(kind: &str) -> bool {
    matches!(kind, "human" | "ai") || kind.ends_with("MessageChunk")
}

/// The name of the class of a message that `dumpd` wrote.
fn class<'s>(message: Value<'_, 's>) -> Option<Cow<'s, str>> {
    message.get("lc")?;
    let class = message.get("id")?.elements().last()?.as_str()?;
    class.strip_suffix("Chunk").unwrap_or(&class).ends_with("Message").then_some(class)
}

fn is_message(value: Value<'_, '_>) -> bool {
    if !value.is_object() {
        return false;
    }
    if class(value).is_some() {
        return true;
    }
    let Some(kind) = value.get_str("type") else { return false };
    if value.get_in(&["data", "content"]).is_some() {
        let others = ["system", "tool", "function", "chat", "developer", "remove"];
        return (is_own_type(&kind) || others.contains(&&*kind)) && !value.has("role");
    }
    let has_own_key = || value.has("additional_kwargs") || value.has("response_metadata");
    value.has("content")
        && match &*kind {
            "tool" => value.has("tool_call_id") && !value.has("role"),
            "chat" => has_own_key(),
            "system" | "function" | "developer" => has_own_key() && !value.has("role"),
            kind => is_own_type(kind) && !value.has("role"),
        }
}

/// What is written twice.
const COPIES: &str = "copies of tool calls";

fn conversation<'s>(list: List<'_, 's>, left_out: &mut LeftOut) -> Conversation<'s> {
    let root = list.messages[0].document().root();
    let mut transcript = Transcript::of_conversation(READER.key(), root);
    let mut streamed: Option<&[u8]> = None;
    let mut messages = list.messages.iter().copied().peekable();
    while let Some(message) = messages.next() {
        let next = messages.peek().and_then(|next| chunk_id(*next));
        let own = chunk_id(message);
        let state =
            Stream { continues: own.is_some() && own == streamed, goes_on: own.is_some() && own == next };
        read_message(&mut transcript, message, &state, left_out);
        streamed = own;
    }
    // What a node adds to the state: the calls of these results are in an earlier list.
    let is_delta = transcript.counts().0 == 0
        && transcript.messages.first().is_none_or(|first| !matches!(first.role, Role::System | Role::User));
    if is_delta {
        transcript.settle_results(UnpairedReason::Elsewhere);
    }
    Conversation { title: list.title, transcript, end: ConversationEnd::Open }
}

/// The id of the message that a chunk of a stream belongs to.
fn chunk_id<'s>(message: Value<'_, 's>) -> Option<&'s [u8]> {
    let is_chunk = match class(message) {
        Some(class) => class.ends_with("Chunk"),
        None => message.get_str("type").is_some_and(|kind| kind.ends_with("Chunk")),
    };
    let id = fields(message)?.get("id").filter(|id| is_chunk && !id.is_null())?;
    Some(id.raw())
}

fn fields<'d, 's>(message: Value<'d, 's>) -> Option<Value<'d, 's>> {
    if message.has("lc") {
        return message.get("kwargs").filter(|kwargs| kwargs.is_object());
    }
    let data = message.get("data").filter(|data| data.is_object() && message.get("content").is_none());
    data.or_else(|| Some(message).filter(|message| message.is_object()))
}

/// Whether a message is a part of a streamed one.
struct Stream {
    /// It continues the message before.
    continues: bool,
    /// The message after continues it.
    goes_on: bool,
}

enum Kind {
    Of(Role),
    /// The result of a function, in the form before tools.
    Function,
    Removal,
}

fn kind_of(message: Value<'_, '_>) -> Kind {
    let name = class(message).or_else(|| message.get_str("type"));
    let name = name.filter(|name| !matches!(&**name, "chat" | "ChatMessage" | "ChatMessageChunk"));
    // Lists may hold messages as APIs write them, and messages with a role of their own.
    let name = name.or_else(|| fields(message)?.get_str("role")).unwrap_or_default();
    match name.strip_suffix("MessageChunk").or_else(|| name.strip_suffix("Message")).unwrap_or(&name) {
        "human" | "Human" | "user" => Kind::Of(Role::User),
        "ai" | "AI" | "assistant" => Kind::Of(Role::Assistant),
        "system" | "System" | "developer" => Kind::Of(Role::System),
        "tool" | "Tool" => Kind::Of(Role::Tool),
        "function" | "Function" => Kind::Function,
        "remove" | "Remove" => Kind::Removal,
        _ => Kind::Of(Role::Unknown),
    }
}

fn read_message<'s>(
    transcript: &mut Transcript<'s>,
    message: Value<'_, 's>,
    stream: &Stream,
    left_out: &mut LeftOut,
) {
    let Some(fields) = fields(message) else {
        left_out.add("messages that were not written", 1);
        return;
    };
    let role = match kind_of(message) {
        Kind::Removal => {
            left_out.add("messages that remove others", 1);
            return;
        }
        Kind::Function => {
            let mut result = result(None, fields.get("content"), None);
            result.name = fields.get("name").and_then(Named::of);
            result.kind = Some(ToolKind::LegacyFunction);
            transcript.next_message(Role::Tool, message).part(message, Body::Result(result));
            return;
        }
        Kind::Of(role) => role,
    };
    if !stream.continues {
        transcript.next_message(role, message);
    }
    if role == Role::Tool {
        let is_error = fields.get_str("status").map(|status| status == "error");
        let mut result = result(id(fields.get("tool_call_id")), fields.get("content"), is_error);
        result.name = fields.get("name").and_then(Named::of);
        transcript.part(message, Body::Result(result));
        return;
    }
    transcript.content(fields.get("content"), |block| match &*block.get_str("type").unwrap_or_default() {
        // Read below.
        "tool_call_chunk" => None,
        kind if CALLS.contains(&kind) => None,
        "thinking" | "redacted_thinking" | "reasoning" | "reasoning_content" => {
            Some(reasoning(block.get("signature")))
        }
        kind if is_media(kind) => Some(Body::Media),
        kind => {
            let is_call = kind.ends_with("_call") || kind.ends_with("_tool_use");
            left_out.add("calls that the provider ran", usize::from(is_call && is_no_call(kind)));
            Some(Body::Opaque)
        }
    });
    if role == Role::Assistant {
        read_calls(transcript, fields, stream, left_out);
    }
}

/// The types of blocks that are calls. That of Gemini has the call under its type.
const CALLS: [&str; 5] = words("tool_use tool_call function_call functionCall invalid_tool_call");

/// Reads the calls of a message from where they stand, and counts the copies of them.
fn read_calls<'s>(
    transcript: &mut Transcript<'s>,
    fields: Value<'_, 's>,
    stream: &Stream,
    left_out: &mut LeftOut,
) {
    let is_call = |block: &Value<'_, '_>| block.is_one_of("type", &CALLS);
    let blocks = || fields.list("content").filter(is_call);
    let extra = fields.get("additional_kwargs");
    let sources = [filled(fields.get("tool_calls")), filled(fields.get("invalid_tool_calls"))];
    let copies = filled(extra.and_then(|extra| extra.get("tool_calls")));
    let legacy = extra.and_then(|extra| extra.get("function_call")).filter(|call| call.is_object());
    if sources.iter().any(Option::is_some) {
        let copies = copies.map_or(0, |copies| copies.elements().count()) + blocks().count();
        left_out.add(COPIES, copies);
        let own = fields.list("tool_calls").filter(|call| call.is_object());
        own.for_each(|call| check_call(&mut transcript.details, call));
        for source in sources.into_iter().flatten() {
            // Of a chunk in the middle of a stream, only what begins a call names it.
            let is_whole =
                |one: &Value<'_, '_>| !stream.continues || id(one.get("id")).is_some_and(|id| !id.is_null());
            source.elements().filter(is_whole).for_each(|one| read_call(transcript, one, stream.goes_on));
        }
    } else if let Some(calls) = copies {
        left_out.add(COPIES, blocks().count());
        calls.elements().for_each(|one| read_call(transcript, one, stream.goes_on));
    } else if let Some(one) = legacy {
        let mut call = call(None, one.get("name"), one.get("arguments"));
        call.kind = ToolKind::LegacyFunction;
        transcript.part(one, Body::Call(call));
    } else {
        blocks().for_each(|block| read_call(transcript, block, stream.goes_on));
    }
}

fn filled<'d, 's>(list: Option<Value<'d, 's>>) -> Option<Value<'d, 's>> {
    list.filter(|list| list.elements().next().is_some())
}

/// Checks a call of a message as `AIMessage` of `langchain-core` does, run in version 1.8.3: what has the form of OpenAI lacks
/// both keys, which is one mistake.
fn check_call(details: &mut Details<'_>, call: Value<'_, '_>) {
    let place = Place::of(call);
    if let Some(key) = ["name", "args"].into_iter().find(|key| call.get(key).is_none()) {
        details.missing_keys.push(MissingKey { case: "response", key, place, name: None, because: None });
    } else if let Some(args) = call.get("args").filter(|args| !args.is_object()) {
        let place = Place::of(args);
        details.wrong_values.push(WrongValue { place, key: "args", wants: "an object", is_doubtful: false });
    }
}

/// Reads a call in the form of LangChain or of a provider.
fn read_call<'s>(transcript: &mut Transcript<'s>, value: Value<'_, 's>, is_partial: bool) {
    if !value.is_object() {
        transcript.part(value, Body::Opaque);
        return;
    }
    let function = value.get_any(&["function", "functionCall"]).unwrap_or(value);
    let arguments = function.get_any(&["args", "arguments", "input"]).filter(|_| !is_partial);
    let id = id(value.get("call_id").or_else(|| value.get("id")).or_else(|| function.get("id")));
    transcript.part(value, Body::Call(call(id, function.get("name"), arguments)));
}
