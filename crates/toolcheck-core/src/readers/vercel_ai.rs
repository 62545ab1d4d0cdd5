//! Vercel's AI SDK: `UIMessage`, as applications store it, and `ModelMessage` (before version 5: `CoreMessage`).
//!
//! A part of a `UIMessage` is a call together with its result. It becomes several messages when it is sent, divided at
//! `step-start`: what the model wrote, and then all results.
//!
//! TanStack AI's messages have parts as well, but a result is a part of its own (`activities/chat/messages.ts` in
//! `packages/typescript/ai/src` of TanStack/ai).

mod shapes;

use foldhash::HashSet;
use toolcheck_json::Value;

use super::nested::{self, List};
use super::parts::{call, id, is_media, reasoning, result};
use super::{Conversation, ConversationEnd, LeftOut, Reader, Reading, event_log, prefilter};
use crate::claim::certainty;
use crate::ir::{Arguments, Body, Executor, Named, Place, Role, Transcript, UnpairedReason};
use crate::{unread, unsupported};

pub(super) static READER: Reader =
    Reader::history("vercel-ai", "Vercel AI SDK messages", sniff, read).with_texts();

/// Keys that only requests have.
const SENT: [&str; 7] =
    ["max_tokens", "contents", "tool_choice", "temperature", "stream", "toolConfig", "inferenceConfig"];

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    let is_sent = |record: &&Value<'_, '_>| {
        SENT.iter().any(|key| record.get(key).is_some()) || record.has("model") && record.get("id").is_none()
    };
    if records.iter().any(|record| is_sent(&record) || unsupported::is_of_crush(*record)) {
        // Something that was written for an API, and holds blocks of another kind by mistake. Crush has parts too.
        return 0;
    }
    let is_in_text = |message: Value<'_, '_>| {
        let is_own = |said: Value<'_, '_>| said.elements().any(is_own_block) || said.has_list("parts");
        unread::is_content_in_text(message)
            && message.get("content").is_some_and(|content| unread::unwrapped(content, is_own))
    };
    let sure = nested::certainty_of(records, |message| is_message(message) || is_in_text(message));
    // Beside a stream, the reader of that reads the messages too.
    let is_streamed = || {
        records.iter().any(|record| prefilter::is_ui_chunk(*record))
            && event_log::sniff("vercel-ui-stream", records) > 0
    };
    if sure > 0 && is_streamed() {
        return 0;
    }
    if sure > 0 { sure } else { nested::certainty_of(records, is_plain_message).min(certainty::LIKELY) }
}

/// The parts of a `UIMessage`. Mastra keeps them in an object under `content`.
fn list_of_parts<'d, 's>(message: Value<'d, 's>) -> Option<Value<'d, 's>> {
    let parts = message.get("parts").or_else(|| message.get("content")?.get("parts"));
    parts.filter(|parts| parts.is_array())
}

fn parts<'d, 's>(message: Value<'d, 's>) -> impl Iterator<Item = Value<'d, 's>> {
    list_of_parts(message).into_iter().flat_map(|parts| parts.elements())
}

/// Whether a value is a message with a part that only the SDK writes.
fn is_message(value: Value<'_, '_>) -> bool {
    if !value.is_object() || value.get("role").is_none_or(|role| role.as_json_str().is_none()) {
        return false;
    }
    parts(value).any(is_own_part)
        || value.list("content").any(is_own_block)
        || value.has_list("toolInvocations")
}

fn is_own_part(part: Value<'_, '_>) -> bool {
    match part.get_str("type").as_deref() {
        Some("step-start" | "source-url" | "source-document") => true,
        Some("tool-invocation") => part.has("toolInvocation"),
        Some("tool-call") => part.get_any(&["toolCallId", "arguments"]).is_some(),
        Some(kind) => (kind == "dynamic-tool" || kind.starts_with("tool-")) && part.has("toolCallId"),
        None => false,
    }
}

fn is_own_block(block: Value<'_, '_>) -> bool {
    match block.get_str("type").as_deref() {
        Some("tool-call" | "tool-result") => block.has("toolCallId"),
        Some("tool-approval-request" | "tool-approval-response") => block.has("approvalId"),
        _ => false,
    }
}

/// Whether a value is a message whose parts say nothing else than text, as the SDK writes them.
fn is_plain_message(value: Value<'_, '_>) -> bool {
    value.is_object()
        && value.has_text("id")
        && value.has_text("role")
        && parts(value).any(|part| {
            matches!(part.get_str("type").as_deref(), Some("text" | "reasoning")) && part.has("text")
                || part.is("type", "file") && part.has("mediaType")
        })
}

/// Whether a value is the request of a front end, which gets a stream.
pub(super) fn is_chat(request: Value<'_, '_>) -> bool {
    let mut messages = request.list("messages").take(LOOKED_AT);
    messages.any(|message| message.has("role") && list_of_parts(message).is_some())
}

/// Whether a list holds messages that only the SDK writes.
pub(super) fn is_list(list: Value<'_, '_>) -> bool {
    list.elements().take(LOOKED_AT).any(|message| list_of_parts(message).is_none() && is_message(message))
}

const LOOKED_AT: usize = 16;

/// Adds the messages of a list, as the SDK sends them.
pub(super) fn read_list<'s>(transcript: &mut Transcript<'s>, list: Value<'_, 's>) {
    let messages = list.elements().collect();
    read_messages(transcript, &List { messages, ..List::default() }, &mut LeftOut::default());
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    let mut reading = Reading::default();
    let found = nested::find(records, |value| is_message(value) || is_plain_message(value));
    for mut list in found.lists {
        reading.left_out.add("earlier states of messages", drop_earlier(&mut list.messages));
        reading.conversations.push(conversation(list, &mut reading.left_out));
    }
    reading.left_out.add("messages outside of lists", found.alone);
    reading.left_out.add("requests of steps, whose answers are read", requests_of_steps(records));
    found.others.iter().for_each(|record| reading.leave_out_unknown("lines that are not messages", *record));
    reading
}

/// How many steps of a result (`result.steps`) have the body of their request beside the messages that came of it.
fn requests_of_steps(records: &[Value<'_, '_>]) -> usize {
    let in_list = records.iter().filter(|record| record.is_array()).flat_map(|list| list.elements());
    let steps = in_list.chain(records.iter().flat_map(|record| record.list("steps")));
    let has_body = |step: &Value<'_, '_>| {
        let body = step.get_in(&["request", "body"]);
        step.has("finishReason") && body.is_some_and(Value::is_object)
    };
    steps.filter(has_body).count()
}

/// Drops the states of a message that a later state comes after, with the same id and all of its calls, as a program that
/// stores each change has them. Returns how many.
fn drop_earlier(messages: &mut Vec<Value<'_, '_>>) -> usize {
    let count = messages.len();
    let ids = |message: Value<'_, '_>| -> HashSet<Vec<u8>> {
        parts(message).filter_map(|part| Some(Invocation::of(part)?.id()?.raw().to_vec())).collect()
    };
    let is_of_model = |message: Value<'_, '_>| message.is("role", "assistant");
    // A state comes right before the next one.
    let is_earlier = |[before, after]: [Value<'_, '_>; 2]| {
        let id = before.get("id").filter(|id| id.as_json_str().is_some_and(|id| !id.is_empty()));
        id.is_some_and(|id| after.get("id").is_some_and(|other| other.raw() == id.raw()))
            && is_of_model(before)
            && is_of_model(after)
            && list_of_parts(before).is_some()
            && ids(before).is_subset(&ids(after))
    };
    let earlier: Vec<bool> = messages.windows(2).map(|pair| is_earlier([pair[0], pair[1]])).collect();
    let mut earlier = earlier.into_iter();
    messages.retain(|_| !earlier.next().unwrap_or_default());
    count - messages.len()
}

fn conversation<'s>(list: List<'_, 's>, left_out: &mut LeftOut) -> Conversation<'s> {
    let root = list.messages[0].document().root();
    let mut transcript = Transcript::of_conversation(READER.key(), root);
    read_messages(&mut transcript, &list, left_out);
    Conversation { title: list.title, transcript, end: ConversationEnd::Open }
}

fn read_messages<'s>(transcript: &mut Transcript<'s>, list: &List<'_, 's>, left_out: &mut LeftOut) {
    transcript.batches_results = true;
    let last = list.messages.len() - 1;
    let mut blocks = list.messages.iter().flat_map(|message| message.list("content"));
    let is_new = blocks.any(shapes::is_new);
    let is_new_ui = list.messages.iter().flat_map(|message| parts(*message)).any(shapes::is_new_part);
    // The calls that wait for consent, until somebody says something else.
    let mut asked = HashSet::default();
    for (number, &message) in list.messages.iter().enumerate() {
        let role = match message.get_str("role").as_deref() {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            Some("system" | "developer") => Role::System,
            Some("tool") => Role::Tool,
            Some("data") => {
                left_out.add("messages of data", 1);
                continue;
            }
            _ => Role::Unknown,
        };
        if role != Role::Tool {
            asked.clear();
        }
        let is_of_ui = list_of_parts(message).is_some() || message.has("toolInvocations");
        if role == Role::Assistant && is_of_ui {
            read_ui_message(transcript, message, number == last, left_out);
        } else if list_of_parts(message).is_some() {
            transcript.next_message(role, message);
            parts(message).for_each(|part| read_part(transcript, part));
        } else if role == Role::Tool && is_consent(message) {
            left_out.add("answers to requests for consent", 1);
        } else {
            read_model_message(transcript, role, message, &mut asked);
            if is_new_ui {
                shapes::check_parts(&mut transcript.details, role, message);
            } else if is_new {
                shapes::check(&mut transcript.details, role, message);
            }
        }
    }
    // Those that a person was asked about, where nobody said anything else since.
    for call in transcript.calls_with_ids(&asked) {
        call.unpaired.get_or_insert(UnpairedReason::Consent);
    }
}

fn read_part<'s>(transcript: &mut Transcript<'s>, part: Value<'_, 's>) {
    let body = match part.get_str("type").as_deref() {
        Some("text") => Body::text(part.get_any(&["text", "content"])),
        Some("reasoning" | "thinking") => reasoning(None),
        Some(kind) if is_media(kind) => Body::Media,
        _ => Body::Opaque,
    };
    transcript.part(part, body);
}

/// Whether a part is nothing but a result, and no call of a tool with that name.
fn is_result(part: Value<'_, '_>) -> bool {
    part.is("type", "tool-result") && part.get("input").is_none()
}

/// A call of a `UIMessage`: where it stands, and the object with its keys.
#[derive(Clone, Copy)]
struct Invocation<'d, 's> {
    part: Value<'d, 's>,
    fields: Value<'d, 's>,
}

impl<'d, 's> Invocation<'d, 's> {
    fn of(part: Value<'d, 's>) -> Option<Self> {
        let kind = part.get_str("type")?;
        let inner = part.get("toolInvocation").filter(|_| kind == "tool-invocation");
        let is_call =
            inner.is_some() || kind == "dynamic-tool" || kind.starts_with("tool-") && !is_result(part);
        is_call.then(|| Self { part, fields: inner.unwrap_or(part) })
    }

    fn id(self) -> Option<Value<'d, 's>> {
        self.fields.get_any(&["toolCallId", "id"])
    }

    fn is_of_server(self) -> bool {
        self.fields.is_true("providerExecuted")
    }

    /// Adds the call. `is_last` says whether its message is the last one, where it may be under way, as those of its last
    /// step are.
    fn add_call(self, transcript: &mut Transcript<'s>, is_last: bool, is_last_step: bool) {
        let fields = self.fields;
        let input = fields.get_any(&["input", "args", "rawInput", "arguments"]);
        let mut call = call(id(self.id()), fields.get_any(&["toolName", "name"]), input);
        if call.name.is_none() {
            call.name = self.part.get("type").and_then(Named::of).map(|mut name| {
                name.text = name.text.trim_start_matches("tool-").to_owned().into();
                name
            });
        }
        call.executor = if self.is_of_server() { Executor::Server } else { Executor::Client };
        call.unpaired = match fields.get_str("state").as_deref() {
            // The SDK leaves it out when it sends the message.
            Some("input-streaming" | "partial-call" | "awaiting-input") => {
                call.arguments = Arguments::Missing;
                Some(UnpairedReason::Aborted)
            }
            Some("input-available" | "input-complete" | "call") if is_last && is_last_step => {
                Some(UnpairedReason::Open)
            }
            Some("approval-requested" | "approval-responded") if is_last => Some(UnpairedReason::Consent),
            _ => None,
        };
        if !shapes::check_call(&mut transcript.details, self.part) {
            // What is wrong is the state, whatever its result would be.
            call.unpaired = Some(UnpairedReason::Elsewhere);
        }
        transcript.part(self.part, Body::Call(call));
    }

    fn has_result(self) -> bool {
        match self.fields.get_str("state").as_deref() {
            Some("output-available" | "output-error" | "output-denied" | "result") => true,
            Some("input-complete") | None => {
                self.fields.get_any(&["output", "result", "errorText"]).is_some()
            }
            Some(_) => false,
        }
    }

    fn add_result(self, transcript: &mut Transcript<'s>) {
        let fields = self.fields;
        let state = fields.get_str("state");
        let content = match state.as_deref() {
            // Some databases keep no state.
            Some("input-complete") | None => fields.get_any(&["output", "result", "errorText"]),
            Some("output-available" | "result") => fields.get_any(&["output", "result"]),
            Some("output-error") => fields.get("errorText"),
            Some("output-denied") => fields.get("approval"),
            _ => return,
        };
        let is_error = matches!(state.as_deref(), Some("output-error" | "output-denied"));
        let mut result = result(id(self.id()), content, Some(is_error));
        result.executor = if self.is_of_server() { Executor::Server } else { Executor::Client };
        transcript.part(self.part, Body::Result(result));
    }
}

fn read_ui_message<'s>(
    transcript: &mut Transcript<'s>,
    message: Value<'_, 's>,
    is_last: bool,
    left_out: &mut LeftOut,
) {
    let mirrors = message.get("toolInvocations").or_else(|| message.get("content")?.get("toolInvocations"));
    let has_calls = parts(message).any(|part| Invocation::of(part).is_some());
    if has_calls {
        left_out.add("copies of tool calls", mirrors.map_or(0, |mirrors| mirrors.elements().count()));
    }
    transcript.next_message(Role::Assistant, message);
    if list_of_parts(message).is_none() {
        transcript.content(message.get("content"), |_| Some(Body::Opaque));
    }
    let mut step: Vec<Invocation<'_, 's>> = Vec::new();
    let answered: HashSet<&[u8]> = parts(message)
        .filter(|part| is_result(*part))
        .filter_map(|part| part.get("toolCallId").map(Value::raw))
        .collect();
    let is_start = |part: Value<'_, '_>| part.is("type", "step-start");
    let steps = parts(message).filter(|part| is_start(*part)).count();
    let mut started = 0;
    for part in parts(message) {
        if is_result(part) {
            transcript.turn(Role::Tool, message).part(part, Body::Result(result_of(part)));
            continue;
        }
        transcript.turn(Role::Assistant, message);
        if is_start(part) {
            end_step(transcript, message, &mut step);
            transcript.details.answers.push(transcript.parts.len());
            started += 1;
        } else if let Some(invocation) = Invocation::of(part) {
            invocation.add_call(transcript, is_last, started == steps);
            if invocation.is_of_server() {
                invocation.add_result(transcript);
            } else if invocation.id().is_none_or(|id| !answered.contains(id.raw())) {
                step.push(invocation);
            }
        } else {
            // Between a result and what the model said next, older versions write no mark.
            if part.is("type", "text") {
                end_step(transcript, message, &mut step);
            }
            read_part(transcript, part);
        }
    }
    if !has_calls {
        for part in mirrors.into_iter().flat_map(|mirrors| mirrors.elements()) {
            let invocation = Invocation { part, fields: part };
            invocation.add_call(transcript, is_last, true);
            step.push(invocation);
        }
    }
    add_results(transcript, message, &step);
}

/// Ends a step of the model: its results, and then a new message of the model.
fn end_step<'s>(transcript: &mut Transcript<'s>, message: Value<'_, 's>, step: &mut Vec<Invocation<'_, 's>>) {
    if !step.is_empty() {
        add_results(transcript, message, step);
        transcript.turn(Role::Assistant, message);
        step.clear();
    }
}

fn add_results<'s>(transcript: &mut Transcript<'s>, message: Value<'_, 's>, step: &[Invocation<'_, 's>]) {
    for invocation in step.iter().filter(|one| one.has_result()) {
        invocation.add_result(transcript.turn(Role::Tool, message));
    }
}

/// Whether a message says nothing else than whether calls may be run. The SDK takes it out before it sends the results,
/// which it joins (`convertToLanguageModelPrompt`).
fn is_consent(message: Value<'_, '_>) -> bool {
    let is_own = |block: Value<'_, '_>| block.is("type", "tool-approval-response");
    message.list("content").next().is_some() && message.list("content").all(is_own)
}

/// Reads a `ModelMessage`. `asked` gets the ids of the calls that a person is asked about.
fn read_model_message<'s>(
    transcript: &mut Transcript<'s>,
    role: Role,
    message: Value<'_, 's>,
    asked: &mut HashSet<String>,
) {
    transcript.next_message(role, message);
    let is_result = |block: &Value<'_, 's>| block.is("type", "tool-result");
    // Codebuff has the id at the message, and the output in its parts (`common/src/types/messages` of CodebuffAI/codebuff).
    let answered = message.get("toolCallId").filter(|_| role == Role::Tool);
    if let Some(called) = answered.filter(|_| !message.list("content").any(|block| is_result(&block))) {
        let body = result(id(Some(called)), message.get("content"), None);
        transcript.part(message, Body::Result(body));
        return;
    }
    // What the model's own message answers was run by the provider.
    let answered: HashSet<&[u8]> = message
        .list("content")
        .filter(|block| role == Role::Assistant && is_result(block))
        .filter_map(|block| block.get("toolCallId").map(Value::raw))
        .collect();
    let is_of_server = |block: Value<'_, 's>| {
        block.is_true("providerExecuted")
            || block.get("toolCallId").is_some_and(|id| answered.contains(id.raw()))
    };
    // The calls that hold their results, as those of assistant-ui do.
    let whole: Vec<Value<'_, 's>> =
        message.list("content").filter(|block| holds_result(*block) && !is_of_server(*block)).collect();
    transcript.content(message.get("content"), |block| {
        Some(match &*block.get_str("type").unwrap_or_default() {
            "tool-call" => {
                let input = block.get_any(&["input", "args"]);
                let mut call = call(id(block.get("toolCallId")), block.get("toolName"), input);
                if is_of_server(block) {
                    call.executor = Executor::Server;
                }
                Body::Call(call)
            }
            "tool-result" => {
                let mut result = result_of(block);
                if is_of_server(block) {
                    result.executor = Executor::Server;
                }
                Body::Result(result)
            }
            "tool-approval-request" => {
                asked.extend(block.get_str("toolCallId").map(|id| id.into_owned()));
                Body::Opaque
            }
            "reasoning" | "redacted-reasoning" => reasoning(block.get("signature")),
            "tool-approval-response" => return None,
            kind if is_media(kind) => Body::Media,
            _ => Body::Opaque,
        })
    });
    for block in whole {
        transcript.turn(Role::Tool, message).part(block, Body::Result(result_of(block)));
    }
}

/// Whether a call holds its result. One that is under way has none, or `null` in a table.
fn holds_result(block: Value<'_, '_>) -> bool {
    let result = block.get("result").filter(|_| block.is("type", "tool-call"));
    result.is_some_and(|result| !result.is_null() || block.has("isError"))
}

fn result_of<'s>(block: Value<'_, 's>) -> crate::ir::ToolResult<'s> {
    let output = block.get("output").filter(|output| output.has("type"));
    let kind = output.and_then(|output| output.get_str("type"));
    let is_error = match kind.as_deref() {
        Some(kind) => Some(kind.starts_with("error") || kind == "execution-denied"),
        None if block.is("state", "error") => Some(true),
        None => block.get("isError").and_then(Value::as_bool),
    };
    let content = match output {
        Some(output) => output.get_any(&["value", "reason"]),
        None => block.get_any(&["output", "result", "content"]),
    };
    let mut result = result(id(block.get("toolCallId")), content, is_error);
    result.content_place = result.content_place.or(Some(Place::of(block)));
    result.name = block.get("toolName").and_then(Named::of);
    result
}
