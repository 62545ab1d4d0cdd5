//! Histories of frameworks whose messages are in no wire format: AutoGen, genai, Haystack, LangChain4j, LlamaIndex, Rig,
//! RubyLLM and Spring AI.
//!
//! `python/packages/autogen-core/src/autogen_core/models/_types.py` and
//! `python/packages/autogen-agentchat/src/autogen_agentchat/messages.py` of microsoft/autogen 0.7,
//! `src/chat/chat_message.rs` and `src/chat/tool` of jeremychone/rust-genai 0.7, `haystack/dataclasses/chat_message.py` of
//! deepset-ai/haystack 2, `ChatMessageSerializerTest.java` of langchain4j/langchain4j 1,
//! `llama-index-core/llama_index/core/base/llms/types.py` of run-llama/llama_index 0.14, `src/completion/message.rs` of
//! 0xPlaygrounds/rig 0.21 and 0.46, `lib/ruby_llm/message.rs` of crmne/ruby_llm 1, `AssistantMessage.java` and
//! `ToolResponseMessage.java` of spring-projects/spring-ai 1.

use toolcheck_json::Value;

use super::nested::{self, List};
use super::parts::{call, reasoning, result};
use super::{Conversation, ConversationEnd, LeftOut, Reader, Reading, parts, turns};
use crate::ir::{Body, Named, Place, Role, Transcript, Unread, UnreadKind};

pub(super) static READER: Reader = Reader::history(
    "framework-messages",
    "Messages of AutoGen, genai, Haystack, LangChain4j, LlamaIndex, Rig, RubyLLM and Spring AI",
    sniff,
    read,
);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framework {
    AutoGen,
    Genai,
    Haystack,
    LangChain4j,
    LlamaIndex,
    Rig,
    RubyLlm,
    SpringAi,
}

/// How many members of a record are looked at for a list of messages, and how many messages of it.
const MEMBERS_LOOKED_AT: usize = 8;
const MESSAGES_LOOKED_AT: usize = 3;

/// How many messages of a list are looked at for calls by their ids.
const CALLS_LOOKED_AT: usize = 16;

/// Keys of saved states, in which the messages stand deeper.
const STATES: [&str; 4] = ["llm_context", "agent_states", "chat_store", "store"];

/// What is left out of AutoGen's events that say nothing to a model.
const EVENTS: &str = "events beside messages";

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    // Every file is looked at: a glance at what is surely messages, and at what only states of these frameworks have.
    let is_message = |message: Value<'_, '_>| framework_of(message).is_some();
    // Without calls, messages of RubyLLM are like those of OpenAI.
    let is_list = |value: Value<'_, '_>| {
        value.elements().take(MESSAGES_LOOKED_AT).any(is_message)
            || value.elements().take(CALLS_LOOKED_AT).any(|message| has_calls_by_id(message))
    };
    let may_be = |record: &Value<'_, '_>| match record.is_array() {
        true => is_list(*record),
        false => {
            is_message(*record)
                || record.get_any(&STATES).is_some_and(Value::is_object)
                || record.members().take(MEMBERS_LOOKED_AT).any(is_list)
        }
    };
    if records.iter().take(MESSAGES_LOOKED_AT).any(may_be) {
        nested::certainty_of(records, is_message)
    } else {
        0
    }
}

/// A list of messages of a framework that holds calls, in a file of another kind: it is in no wire format.
pub(crate) fn unread_calls<'s>(list: Value<'_, 's>) -> Option<Unread<'s>> {
    if !list.elements().take(MESSAGES_LOOKED_AT).any(|message| framework_of(message).is_some()) {
        return None;
    }
    let own = List { title: String::new(), messages: list.elements().collect() };
    let read = conversation(&own, &mut LeftOut::default()).transcript;
    let holds_calls = read.parts.iter().any(|part| matches!(part.body, Body::Call(_)));
    let name = list.key_text().unwrap_or("messages".into());
    holds_calls.then(|| Unread { place: Place::of(list), what: UnreadKind::Calls, name, is_known: true })
}

/// The framework whose message this surely is.
fn framework_of(message: Value<'_, '_>) -> Option<Framework> {
    let has = |key: &str| message.get(key).is_some();
    if !has("role") {
        let is_one_of =
            |key: &str, names: &[&str]| message.get_str(key).is_some_and(|name| names.contains(&&*name));
        return if is_one_of("type", &["FunctionExecutionResultMessage"])
            || has("source") && has("content") && is_one_of("type", &AUTOGEN)
        {
            Some(Framework::AutoGen)
        } else if (has("toolExecutionRequests") || has("contents") || has("toolName"))
            && is_one_of("type", &["USER", "AI", "TOOL_EXECUTION_RESULT"])
        {
            Some(Framework::LangChain4j)
        } else if is_one_of("messageType", &["USER", "ASSISTANT", "SYSTEM", "TOOL"]) {
            Some(Framework::SpringAi)
        } else {
            (has("_role") && has("_content")).then_some(Framework::Haystack)
        };
    }
    if let Some(blocks) = message.get("blocks").filter(|blocks| blocks.is_array()) {
        let is_own = blocks
            .elements()
            .next()
            .map_or_else(|| has("additional_kwargs"), |block| block.get("block_type").is_some());
        return is_own.then_some(Framework::LlamaIndex);
    }
    if has_calls_by_id(message) {
        return Some(Framework::RubyLlm);
    }
    let is_of_haystack = |block: Value<'_, '_>| {
        block.get("type").is_none()
            && (block.get("tool_call").is_some_and(|call| call.get("tool_name").is_some())
                || block.get("tool_call_result").is_some_and(|result| result.get("origin").is_some())
                || has("meta") && has("name") && block.get("text").is_some())
    };
    let mut blocks = blocks_of(message).take(MESSAGES_LOOKED_AT);
    blocks.find_map(|block| {
        if is_of_haystack(block) {
            Some(Framework::Haystack)
        } else if is_of_rig(block) || block.get("text").is_some() && is_of_rig_by_id(message) {
            Some(Framework::Rig)
        } else {
            block.get_any(&GENAI).is_some().then_some(Framework::Genai)
        }
    })
}

/// Whether a message of RubyLLM has calls.
fn has_calls_by_id(message: Value<'_, '_>) -> bool {
    let is_call = |call: Value<'_, '_>| ["id", "name", "arguments"].iter().all(|key| call.get(key).is_some());
    let calls = message.get("tool_calls").filter(|calls| calls.is_object());
    calls.and_then(|calls| calls.children().next()).is_some_and(is_call)
}

/// The blocks of a message's content, which may be one alone.
fn blocks_of<'d, 's>(message: Value<'d, 's>) -> impl Iterator<Item = Value<'d, 's>> {
    let content = message.get("content");
    content.filter(|content| content.is_object()).into_iter().chain(message.list("content"))
}

/// The keys that name what a block of genai is.
const GENAI: [&str; 6] = ["Text", "Binary", "ToolCall", "ToolCalls", "ToolResponse", "ToolResponses"];

/// Whether a block is a call or a result of Rig: calls had no type before 0.22.
fn is_of_rig(block: Value<'_, '_>) -> bool {
    match block.get_str("type").as_deref() {
        Some("toolcall") => block.get("function").is_some(),
        Some("toolresult") => block.get("content").is_some(),
        Some(_) => false,
        None => {
            block.get("id").is_some()
                && block.get("function").is_some_and(|function| function.get("arguments").is_some())
        }
    }
}

/// Whether a message of the model says that it has no id, as those of Rig did before 0.22.
fn is_of_rig_by_id(message: Value<'_, '_>) -> bool {
    message.get("id").is_some_and(Value::is_null)
        && message.get_str("role").as_deref() == Some("assistant")
        && message.list("content").all(|block| block.get("type").is_none())
}

/// The messages of AutoGen that name who said them.
const AUTOGEN: [&str; 7] = [
    "UserMessage",
    "AssistantMessage",
    "TextMessage",
    "MultiModalMessage",
    "ToolCallRequestEvent",
    "ToolCallExecutionEvent",
    "ToolCallSummaryMessage",
];

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    nested::read(
        records,
        |message| framework_of(message).is_some(),
        |list, left_out| conversation(&list, left_out),
    )
}

fn conversation<'s>(list: &List<'_, 's>, left_out: &mut LeftOut) -> Conversation<'s> {
    let root = list.messages[0].document().root();
    let mut transcript = Transcript::of_conversation(READER.key(), root);
    // Of a list that has a message of a framework, the others are of it too.
    let framework = list.messages.iter().find_map(|message| framework_of(*message));
    for &message in &list.messages {
        let name = ["role", "_role", "messageType", "type"].iter().find_map(|key| message.get_str(key));
        let role = match name.as_deref().unwrap_or_default() {
            "TextMessage" | "MultiModalMessage" if message.get_str("source").as_deref() == Some("user") => {
                Role::User
            }
            "user" | "User" | "USER" | "UserMessage" => Role::User,
            "system" | "System" | "developer" | "SYSTEM" | "SystemMessage" => Role::System,
            "tool" | "Tool" | "function" | "TOOL" | "TOOL_EXECUTION_RESULT" => Role::Tool,
            "FunctionExecutionResultMessage" | "ToolCallExecutionEvent" => Role::Tool,
            "assistant" | "Assistant" | "chatbot" | "model" | "ASSISTANT" | "AI" | "AssistantMessage" => {
                Role::Assistant
            }
            "ToolCallRequestEvent" | "HandoffMessage" => Role::Assistant,
            name if name.ends_with("Message") => Role::Assistant,
            name if name.ends_with("Event") || name == "CUSTOM" => {
                left_out.add(EVENTS, 1);
                continue;
            }
            _ => Role::Unknown,
        };
        transcript.next_message(role, message);
        match framework {
            Some(Framework::AutoGen) => autogen(&mut transcript, message),
            Some(Framework::Genai) => genai(&mut transcript, message),
            Some(Framework::Haystack) => haystack(&mut transcript, message),
            Some(Framework::LangChain4j) => langchain4j(&mut transcript, message),
            Some(Framework::LlamaIndex) => llama_index(&mut transcript, message, role),
            Some(Framework::Rig) => rig(&mut transcript, message),
            Some(Framework::RubyLlm) => ruby_llm(&mut transcript, message, role),
            Some(Framework::SpringAi) => spring_ai(&mut transcript, message),
            None => {}
        }
    }
    Conversation { title: list.title.clone(), transcript, end: ConversationEnd::Open }
}

/// The result of a tool whose name stands beside its id.
fn named_result<'s>(
    [id, name, content]: [Option<Value<'_, 's>>; 3],
    is_error: Option<Value<'_, '_>>,
) -> Body<'s> {
    let mut result = result(id, content, is_error.and_then(Value::as_bool));
    result.name = name.and_then(Named::of);
    Body::Result(result)
}

fn autogen<'s>(transcript: &mut Transcript<'s>, message: Value<'_, 's>) {
    transcript.content(message.get("content"), |block| {
        let get = |key| block.get(key);
        Some(if block.get("call_id").is_some() {
            named_result([get("call_id"), get("name"), get("content")], get("is_error"))
        } else if block.get("arguments").is_some() {
            Body::Call(call(get("id"), get("name"), get("arguments")))
        } else {
            Body::Media
        })
    });
}

fn genai<'s>(transcript: &mut Transcript<'s>, message: Value<'_, 's>) {
    transcript.content(message.get("content").filter(|content| content.as_json_str().is_some()), |_| None);
    for block in blocks_of(message) {
        let Some(own) = block.get_any(&GENAI) else {
            transcript.unknown(block);
            continue;
        };
        let key = own.key_text().unwrap_or_default();
        match &*key {
            "Text" => drop(transcript.part(own, Body::text(Some(own)))),
            "Binary" => drop(transcript.part(own, Body::Media)),
            // Before 0.5, all calls or results of a message were in one list.
            _ => {
                let alone = own.is_object().then_some(own);
                for own in alone.into_iter().chain(own.elements()) {
                    transcript.part(own, genai_tool(own, key.starts_with("ToolResponse")));
                }
            }
        }
    }
}

fn genai_tool<'s>(own: Value<'_, 's>, is_result: bool) -> Body<'s> {
    if is_result {
        Body::Result(result(own.get("call_id"), own.get("content"), None))
    } else {
        Body::Call(call(own.get("call_id"), own.get("fn_name"), own.get("fn_arguments")))
    }
}

fn haystack<'s>(transcript: &mut Transcript<'s>, message: Value<'_, 's>) {
    transcript.content(message.get_any(&["content", "_content"]), |block| {
        Some(if let Some(own) = block.get("tool_call") {
            Body::Call(call(own.get("id"), own.get("tool_name"), own.get("arguments")))
        } else if let Some(own) = block.get("tool_call_result") {
            let of_call = |key| own.get("origin").and_then(|origin| origin.get(key));
            named_result([of_call("id"), of_call("tool_name"), own.get("result")], own.get("error"))
        } else if block.get("reasoning").is_some() {
            reasoning(None)
        } else if block.get_any(&["image", "file"]).is_some() {
            Body::Media
        } else {
            Body::Opaque
        })
    });
}

fn langchain4j<'s>(transcript: &mut Transcript<'s>, message: Value<'_, 's>) {
    let content = message.get_any(&["contents", "text"]);
    if let Some(name) = message.get("toolName") {
        let body = named_result([message.get("id"), Some(name), content], message.get("isError"));
        transcript.part(message, body);
        return;
    }
    transcript.content(content, |block| {
        Some(if block.get("text").is_some() { Body::text(block.get("text")) } else { Body::Media })
    });
    for own in message.list("toolExecutionRequests") {
        turns::add_call(transcript, own);
    }
}

fn rig<'s>(transcript: &mut Transcript<'s>, message: Value<'_, 's>) {
    transcript.content(message.get("content"), |block| {
        let kind = block.get_str("type");
        Some(if let Some(function) = block.get("function") {
            let get = |key| function.get(key);
            Body::Call(call(block.get("id").and_then(id_of_rig), get("name"), get("arguments")))
        } else if kind.as_deref() == Some("toolresult") {
            let own = block.get_any(&["call", "id"]).and_then(id_of_rig);
            named_result([own, block.get("name"), block.get("content")], None)
        } else if block.get("reasoning").is_some() || kind.as_deref() == Some("reasoning") {
            reasoning(None)
        } else if kind.as_deref().is_some_and(parts::is_media) {
            Body::Media
        } else {
            Body::Opaque
        })
    });
}

/// Since 0.22, an id names who gave it.
fn id_of_rig<'d, 's>(id: Value<'d, 's>) -> Option<Value<'d, 's>> {
    if id.is_object() { id.children().next() } else { Some(id) }
}

fn ruby_llm<'s>(transcript: &mut Transcript<'s>, message: Value<'_, 's>, role: Role) {
    let content = message.get("content");
    if role == Role::Tool {
        transcript.part(message, Body::Result(result(message.get("tool_call_id"), content, None)));
        return;
    }
    transcript.content(content, |_| Some(Body::Opaque));
    // By their ids.
    for own in message.get("tool_calls").into_iter().flat_map(Value::children) {
        turns::add_call(transcript, own);
    }
}

fn spring_ai<'s>(transcript: &mut Transcript<'s>, message: Value<'_, 's>) {
    transcript.content(message.get_any(&["text", "textContent", "content"]), |_| Some(Body::Opaque));
    for own in message.list("toolCalls") {
        turns::add_call(transcript, own);
    }
    for own in message.get_any(&["responses", "toolResponses"]).into_iter().flat_map(Value::elements) {
        transcript.part(own, named_result([own.get("id"), own.get("name"), own.get("responseData")], None));
    }
    for media in message.list("media") {
        transcript.part(media, Body::Media);
    }
}

fn llama_index<'s>(transcript: &mut Transcript<'s>, message: Value<'_, 's>, role: Role) {
    let beside = message.get("additional_kwargs");
    let kept = |key| beside.and_then(|beside| beside.get(key));
    let content = message.get_any(&["blocks", "content"]);
    if role == Role::Tool {
        let body = named_result([kept("tool_call_id"), kept("name"), content], None);
        transcript.part(message, body);
        return;
    }
    let mut has_calls = false;
    transcript.content(content, |block| {
        Some(match block.get_str("block_type").as_deref() {
            Some("text") => Body::text(block.get("text")),
            Some("tool_call") => {
                has_calls = true;
                Body::Call(call(block.get("tool_call_id"), block.get("tool_name"), block.get("tool_kwargs")))
            }
            Some("thinking") => reasoning(None),
            Some("image" | "audio" | "video" | "document") => Body::Media,
            _ => Body::Opaque,
        })
    });
    // A message keeps the calls of the API as they came, if its blocks have none.
    for own in kept("tool_calls").filter(|_| !has_calls).into_iter().flat_map(Value::elements) {
        turns::add_call(transcript, own);
    }
}
