//! Histories of Microsoft's frameworks: messages of Microsoft.Extensions.AI, which Agent Framework keeps too, those of Agent
//! Framework in Python, and `ChatHistory` of Semantic Kernel.
//!
//! A message has a list of contents, each with its class: `AIContent.cs` in `src/Libraries/Microsoft.Extensions.AI.Abstractions`
//! of dotnet/extensions 10, `KernelContent.cs` in `dotnet/src/SemanticKernel.Abstractions/Contents` of
//! microsoft/semantic-kernel 1, `python/packages/core/agent_framework/_types.py` of microsoft/agent-framework 1. How keys are
//! written is a setting of the serializer in .NET. Semantic Kernel in Python has `content_type` in place of a class
//! (`python/semantic_kernel/contents`).

use std::borrow::Cow;

use foldhash::HashSet;
use toolcheck_json::Value;

use super::nested::{self, List};
use super::parts::{call, reasoning, result};
use super::{Conversation, ConversationEnd, LeftOut, Reader, Reading};
use crate::ir::{Body, Named, Role, ToolKind, Transcript, UnpairedReason};

pub(super) static READER: Reader = Reader::history(
    "extensions-ai",
    "Messages of Microsoft.Extensions.AI, Agent Framework and Semantic Kernel",
    sniff,
    read,
);

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    // Every file is looked at, and most have no such key at their beginning, so that no value of them need be looked at.
    let has_key = |record: &Value<'_, '_>| {
        let start = &record.raw()[..record.raw().len().min(BYTES_LOOKED_AT)];
        let has = |key: &[u8]| memchr::memmem::find(start, key).is_some();
        // A request in which a key is misspelled is still one.
        let is_request = || record.has_all(&["model", "messages"]);
        // Apple's transcripts, which are named, have it too.
        let is_other = || has(b"\"FoundationModels.Transcript\"");
        has(b"\"$type\"") || has(b"\"content_type\"") || has(b"\"contents\"") && !is_request() && !is_other()
    };
    if records.iter().take(RECORDS_LOOKED_AT).any(has_key) {
        nested::certainty_of(records, is_message)
    } else {
        0
    }
}

/// How many records are looked at for a key, and how many bytes of each.
const RECORDS_LOOKED_AT: usize = 3;
const BYTES_LOOKED_AT: usize = 1 << 16;

/// What is left out of what a person is asked, and of the answer.
const CONSENT: &str = "requests for consent";

const CONTENTS: [&str; 4] = ["contents", "Contents", "Items", "items"];

fn role_of<'d, 's>(message: Value<'d, 's>) -> Option<Value<'d, 's>> {
    let role = message.get_any(&["role", "Role"])?;
    let role = role.get_any(&["Label", "label", "value"]).unwrap_or(role);
    Some(role).filter(|role| role.is_string())
}

fn contents<'d, 's>(message: Value<'d, 's>) -> impl Iterator<Item = Value<'d, 's>> {
    message.get_any(&CONTENTS).into_iter().flat_map(|contents| contents.elements())
}

fn is_message(value: Value<'_, '_>) -> bool {
    if !value.is_object() || role_of(value).is_none() {
        return false;
    }
    // Python's contents name their class as those of APIs do, but no API has such a list in a message.
    let is_of_python = value.has("contents");
    contents(value).any(|content| {
        let is_own = |class: &str| match class {
            "text" => content.has("text"),
            "function_call" | "function_result" => content.has("call_id"),
            _ => false,
        };
        content.get_str("$type").is_some()
            || is_of_kernel(value) && content.get_str("content_type").is_some()
            || is_of_python && content.get_str("type").is_some_and(|class| is_own(&class))
    })
}

fn is_of_kernel(message: Value<'_, '_>) -> bool {
    message.is("content_type", "message") && message.has("items")
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    nested::read(records, is_message, |list, left_out| conversation(&list, left_out))
}

fn conversation<'s>(list: &List<'_, 's>, left_out: &mut LeftOut) -> Conversation<'s> {
    let root = list.messages[0].document().root();
    let mut transcript = Transcript::of_conversation(READER.key(), root);
    let (mut asked, mut agreed, mut done) = <(HashSet<_>, HashSet<_>, HashSet<_>)>::default();
    for &message in &list.messages {
        let role = role_of(message).and_then(|role| role.as_str()).map(|role| role.to_ascii_lowercase());
        let role = match role.as_deref() {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            Some("system" | "developer") => Role::System,
            Some("tool") => Role::Tool,
            _ => Role::Unknown,
        };
        let bodies: Vec<_> = contents(message).map(|content| (content, body(content, &mut asked))).collect();
        // A call that a person has agreed to has its result before the model says more.
        let is_agreed = |content: &Value<'_, '_>| content.is_true("approved");
        if role == Role::Assistant && bodies.iter().any(|(_, body)| matches!(body, Ok(Body::Text(_)))) {
            done.extend(agreed.drain());
        }
        agreed.extend(contents(message).filter(is_agreed).filter_map(called));
        // What a person only consents to is no message to the model: the framework takes it out.
        let is_consent = !bodies.is_empty() && bodies.iter().all(|(_, body)| matches!(body, Err(CONSENT)));
        if role != Role::User || !is_consent {
            transcript.next_message(role, message);
        }
        for (content, body) in bodies {
            match body {
                Ok(body) => _ = transcript.part(content, body),
                Err(what) => left_out.add(what, 1),
            }
        }
    }
    // Of what a person was asked about, the call may only be in the question.
    let waiting = asked.difference(&done).cloned().collect();
    for call in transcript.calls_with_ids(&waiting) {
        call.unpaired.get_or_insert(UnpairedReason::Consent);
    }
    transcript.settle_results_if(|id| id.is_some_and(|id| asked.contains(id)), UnpairedReason::Elsewhere);
    Conversation { title: list.title.clone(), transcript, end: ConversationEnd::Open }
}

/// The id of the call that a person is asked about.
fn called(content: Value<'_, '_>) -> Option<String> {
    let call = content.get_any(&["functionCall", "toolCall", "function_call"]);
    call.and_then(call_id)?.as_str().map(Cow::into_owned)
}

fn call_id<'d, 's>(value: Value<'d, 's>) -> Option<Value<'d, 's>> {
    value.get_any(&["callId", "CallId", "call_id", "id", "Id"])
}

/// What a content is, or what it is left out as. `asked` gets the ids of the calls that a person is asked about.
fn body<'s>(content: Value<'_, 's>, asked: &mut HashSet<String>) -> Result<Body<'s>, &'static str> {
    let class = ["$type", "content_type", "type"].iter().find_map(|key| content.get_str(key));
    let class = class.unwrap_or(Cow::Borrowed(""));
    // In Python, Semantic Kernel has the id of the call under `id`, and one of the Responses API under `call_id`.
    let is_of_kernel = content.has("content_type");
    // The classes of Semantic Kernel have their whole name.
    Ok(match class.strip_suffix("Content").unwrap_or(&class) {
        "text" | "Text" => Body::text(content.get_any(&["text", "Text"])),
        "reasoning" | "text_reasoning" | "Reasoning" => reasoning(None),
        "functionCall" | "function_call" | "FunctionCall" => {
            let name = content.get_any(&["name", "Name", "functionName", "FunctionName"]);
            let id = if is_of_kernel { content.get("id") } else { call_id(content) };
            let mut call = call(id, name, content.get_any(&["arguments", "Arguments"]));
            let is_past = content.get_any(&["informationalOnly", "InformationalOnly", "informational_only"]);
            if is_past.and_then(Value::as_bool) == Some(true) {
                // It has been run already, perhaps by the service itself.
                call.unpaired = Some(UnpairedReason::Elsewhere);
            }
            Body::Call(call)
        }
        "functionResult" | "function_result" | "FunctionResult" => {
            let returned = content.get_any(&["result", "Result", "exception"]);
            let ids: &[&str] = if is_of_kernel { &["id"] } else { &["callId", "CallId", "call_id"] };
            let names: &[&str] = if is_of_kernel { &["name"] } else { &["functionName", "FunctionName"] };
            let mut result = result(content.get_any(ids), returned, None);
            result.name = content.get_any(names).and_then(Named::of);
            Body::Result(result)
        }
        class
            if ["ApprovalRequest", "ApprovalResponse", "_approval_request", "_approval_response"]
                .iter()
                .any(|end| class.ends_with(end)) =>
        {
            asked.extend(called(content));
            return Err(CONSENT);
        }
        // The client moves the mouse, as with the Responses API.
        "computer_tool_call" => {
            let mut call = call(content.get("call_id"), None, content.get("actions"));
            call.kind = ToolKind::Computer;
            Body::Call(call)
        }
        "computer_tool_result" => {
            let mut result = result(content.get("call_id"), content.get("screenshot"), None);
            result.kind = Some(ToolKind::Computer);
            Body::Result(result)
        }
        class
            if ["ToolCall", "ToolResult", "_tool_call", "_tool_result"]
                .iter()
                .any(|end| class.ends_with(end)) =>
        {
            return Err("calls that the provider ran");
        }
        "annotation" | "file_reference" if is_of_kernel => {
            return Err("references to files");
        }
        "usage" | "error" => return Err("notes on usage and errors"),
        "data" | "uri" | "image" | "audio" | "hostedFile" | "hosted_file" | "Image" | "Audio" | "Binary" => {
            Body::Media
        }
        _ => Body::Opaque,
    })
}
