//! Histories of frameworks whose messages are in no wire format, a file each.

mod autogen;
mod bee_ai;
mod elevenlabs;
mod fantasy;
mod genai;
mod haystack;
mod langchain4j;
mod langchaingo;
mod llama_index;
mod llama_index_ts;
mod rig;
mod ruby_llm;
mod spring_ai;
mod tanstack;
mod ultravox;

use toolcheck_json::Value;

use super::nested::{self, List};
use super::parts::{call, reasoning, result};
use super::{Conversation, ConversationEnd, LeftOut, Reader, Reading, parts, turns};
use crate::ir::{Body, Named, Place, Role, Transcript, Unread, UnreadKind};
use crate::unsupported::{SETTINGS, is_meant_as_request};

pub(super) static READER: Reader = Reader::history(
    "framework-messages",
    "Messages of frameworks, such as AutoGen, LlamaIndex, RubyLLM and Spring AI",
    sniff,
    read,
);

/// How a framework writes a message.
#[derive(Debug)]
struct Framework {
    /// Whether a message is surely one of it.
    is_own: fn(Value<'_, '_>) -> bool,
    /// Adds what a message says to the last of the transcript, which was opened with this role.
    add: for<'s> fn(&mut Transcript<'s>, Value<'_, 's>, Role),
}

static ALL: [&Framework; 15] = [
    &autogen::FRAMEWORK,
    &bee_ai::FRAMEWORK,
    &elevenlabs::FRAMEWORK,
    &fantasy::FRAMEWORK,
    &genai::FRAMEWORK,
    &haystack::FRAMEWORK,
    &langchain4j::FRAMEWORK,
    &langchaingo::FRAMEWORK,
    &llama_index::FRAMEWORK,
    &llama_index_ts::FRAMEWORK,
    &rig::FRAMEWORK,
    &ruby_llm::FRAMEWORK,
    &spring_ai::FRAMEWORK,
    &tanstack::FRAMEWORK,
    &ultravox::FRAMEWORK,
];

/// How many members of a record are looked at for a list of messages, how many messages of it, and how many blocks of them.
const MEMBERS_LOOKED_AT: usize = 8;
const LOOKED_AT: usize = 3;

/// How many messages of a list are looked at for what only those with calls show.
const CALLS_LOOKED_AT: usize = 16;

/// Keys of saved states, in which the messages stand deeper.
const STATES: [&str; 4] = ["llm_context", "agent_states", "chat_store", "store"];

/// Keys of what AG-UI has messages in.
const OF_AG_UI: [&str; 3] = ["type", "runId", "run_id"];

/// What is left out of AutoGen's events that say nothing to a model.
const EVENTS: &str = "events beside messages";

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    // Every file is looked at: a glance at what is surely messages, and at what only states of these frameworks have.
    let has_calls = |message: Value<'_, '_>| {
        ruby_llm::has_calls(message)
            || llama_index_ts::has_tools(message)
            || bee_ai::has_tools(message)
            || tanstack::has_tools(message)
    };
    let is_message = |message: Value<'_, '_>| framework_of(message).is_some();
    let is_list = |value: Value<'_, '_>| {
        value.elements().take(LOOKED_AT).any(is_message)
            || value.elements().take(CALLS_LOOKED_AT).any(has_calls)
    };
    let may_be = |record: &Value<'_, '_>| match record.is_array() {
        true => is_list(*record),
        false => {
            is_message(*record)
                || record.get_any(&STATES).is_some_and(Value::is_object)
                || record.members().take(MEMBERS_LOOKED_AT).any(is_list)
                // Of ElevenLabs, as its API returns them and as its webhooks bring them.
                || record.get("data").unwrap_or(*record).get("transcript").is_some_and(is_list)
        }
    };
    let looked_at = &records[..records.len().min(LOOKED_AT)];
    let is_on_lines = || records.iter().take(CALLS_LOOKED_AT).any(|record| has_calls(*record));
    if (looked_at.iter().any(may_be) || is_on_lines()) && !are_of_api(looked_at.iter().copied()) {
        nested::certainty_of(records, is_message)
    } else {
        0
    }
}

/// Whether requests, or rows for fine-tuning, have parts or keys of BeeAI or TanStack by mistake: these send their own in the
/// form of an API. The events and inputs of AG-UI have TanStack's keys too.
fn are_of_api<'d, 's: 'd>(mut records: impl Iterator<Item = Value<'d, 's>> + Clone) -> bool {
    let any = |record: Value<'_, '_>, is: fn(Value<'_, '_>) -> bool| {
        let list = record.get("messages").unwrap_or(record);
        list.elements().take(CALLS_LOOKED_AT).any(is)
    };
    let has_own_keys = |message: Value<'_, '_>| message.get_any(&["tool_calls", "tool_call_id"]).is_some();
    let is_own = || records.clone().any(|record| any(record, has_own_keys));
    let is_of_tanstack = records.clone().any(|record| any(record, tanstack::has_tools));
    is_of_tanstack && is_own()
        || records.any(|record| {
            let has_settings = || record.get("tools").or_else(|| record.get_any(&SETTINGS)).is_some();
            let is_meant = || is_meant_as_request(record) || record.get_any(&OF_AG_UI).is_some();
            any(record, bee_ai::has_tools) && is_meant()
                || any(record, tanstack::has_tools) && (has_settings() || is_meant())
        })
}

/// A list of messages of a framework that holds calls, in a file of another kind: it is in no wire format.
/// `row` is the object around it.
pub(crate) fn unread_calls<'s>(list: Value<'_, 's>, row: Option<Value<'_, 's>>) -> Option<Unread<'s>> {
    let is_own = list.elements().take(LOOKED_AT).any(|message| framework_of(message).is_some());
    if !is_own || are_of_api([Some(list), row].into_iter().flatten()) {
        return None;
    }
    let own = List { messages: list.elements().collect(), ..List::default() };
    let read = conversation(&own, &mut LeftOut::default()).transcript;
    let holds_calls = read.parts.iter().any(|part| matches!(part.body, Body::Call(_)));
    let name = list.key_text().unwrap_or("messages".into());
    holds_calls.then(|| Unread { place: Place::of(list), what: UnreadKind::Calls, name, is_known: true })
}

/// The framework whose message this surely is.
fn framework_of(message: Value<'_, '_>) -> Option<&'static Framework> {
    ALL.into_iter().find(|framework| (framework.is_own)(message))
}

/// The blocks of a message's content, which may be one alone.
fn blocks_of<'d, 's>(message: Value<'d, 's>) -> impl Iterator<Item = Value<'d, 's>> {
    let content = message.get("content");
    content.filter(|content| content.is_object()).into_iter().chain(message.list("content"))
}

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
    let is_of_call = framework.is_some_and(|own| std::ptr::eq(own, &elevenlabs::FRAMEWORK));
    let ordered = if is_of_call { Some(elevenlabs::in_order(&list.messages)) } else { None };
    for &message in ordered.as_ref().unwrap_or(&list.messages) {
        let name = ["role", "_role", "messageType", "type"].iter().find_map(|key| message.get_str(key));
        let role = match name.as_deref().unwrap_or_default() {
            "TextMessage" | "MultiModalMessage" if message.is("source", "user") => Role::User,
            "user" | "User" | "USER" | "human" | "UserMessage" | "MESSAGE_ROLE_USER" => Role::User,
            "system" | "System" | "developer" | "SYSTEM" | "SystemMessage" => Role::System,
            "tool" | "Tool" | "function" | "TOOL" | "TOOL_EXECUTION_RESULT" => Role::Tool,
            "FunctionExecutionResultMessage" | "ToolCallExecutionEvent" | "MESSAGE_ROLE_TOOL_RESULT" => {
                Role::Tool
            }
            "assistant" | "Assistant" | "chatbot" | "model" | "ASSISTANT" | "ai" | "AI"
            | "AssistantMessage" => Role::Assistant,
            "agent" | "MESSAGE_ROLE_AGENT" | "MESSAGE_ROLE_TOOL_CALL" => Role::Assistant,
            "ToolCallRequestEvent" | "HandoffMessage" => Role::Assistant,
            name if name.ends_with("Message") => Role::Assistant,
            name if name.ends_with("Event") || name == "CUSTOM" => {
                left_out.add(EVENTS, 1);
                continue;
            }
            _ => Role::Unknown,
        };
        transcript.next_message(role, message);
        if let Some(framework) = framework {
            (framework.add)(&mut transcript, message, role);
        }
    }
    Conversation { title: list.title.clone(), transcript, end: ConversationEnd::Open }
}

/// The blocks by which a message is recognised.
fn first_blocks<'d, 's>(message: Value<'d, 's>) -> impl Iterator<Item = Value<'d, 's>> {
    blocks_of(message).take(LOOKED_AT)
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
