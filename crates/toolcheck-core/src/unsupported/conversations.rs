//! Conversations with an LLM in protocols that no format and no reader reads yet.
//!
//! Each is told by keys that only it has, because a file that is named here is read as nothing else. Once one of them
//! can be read, its entry goes away.

use toolcheck_json::Value;

use super::{Relevance, Sniff, Unsupported, any_message, find_by_key, first, first_of, of_agent, other};
use crate::names::words;

/// All of them, the more telling first.
static ALL: &[Unsupported] = &[
    request("a request of Cohere's v1 API", is_of_cohere_v1)
        .advising("check what is sent to its v2 API, or leave the file out"),
    request("a request of Snowflake's Cortex API", is_of_snowflake).advising(
        "check what is sent to its endpoint in the form of OpenAI's or Anthropic's, or leave the file out",
    ),
    // https://yandex.cloud/en/docs/ai-studio/text-generation/api-ref/TextGeneration/completion
    request("a request of YandexGPT's own API", |root| root.has_all(&["modelUri", "messages"]))
        .advising("check what is sent to its endpoint in the form of OpenAI's, or leave the file out"),
    request("a request of Sber's GigaChat API", is_of_gigachat),
    // https://docs.ollama.com/api/create
    request("a request to Ollama that creates a model", |root| {
        root.has_all(&["model", "from"])
            && root.get_any(&["messages", "template", "parameters", "system", "files", "adapters"]).is_some()
            && root.has_text("from")
    }),
    // https://ai.google.dev/api/caching
    request("content for the cache of Gemini's API", |root| {
        root.has("contents") && root.get_any(&["ttl", "expireTime", "expire_time"]).is_some()
    })
    .advising("check the request that uses it, or leave the file out"),
    // https://developers.openai.com/api/reference/resources/conversations: the calls are in what the server keeps.
    request("a list of items for a conversation that OpenAI's API keeps", is_added_to_conversation)
        .advising("check a request with all of the conversation, or leave the file out"),
    // `types/shared/completion_message.py` of llama-stack-client 0.2.
    of_agent("messages of Llama Stack's own inference API", |root| any_message(root, is_of_llama_stack)),
    of_agent("messages of AgentScope", is_of_agentscope),
    request("a thread or run of OpenAI's Assistants API", is_of_assistants),
    of_agent("a conversation of the Agent2Agent protocol (A2A)", |root| {
        is_of_a2a(root) || is_rpc(root, is_message_of_a2a) || root.get("task").is_some_and(is_of_a2a)
    }),
    // JSON-RPC without its version.
    of_agent("a log of Codex's app server", is_of_app_server)
        .advising("check the session that Codex keeps: `~/.codex/sessions`"),
    // `InvokeAgent` of the Bedrock Agent Runtime.
    of_agent("a conversation with an agent of Amazon Bedrock", |root| {
        let list = root.get("traces").unwrap_or(root);
        is_of_bedrock_agent(root) || list.elements().take(LOOKED_AT).any(is_of_bedrock_agent)
    }),
    // The events of a session, alone or as a page of them.
    of_agent("a session of Anthropic's Managed Agents", |root| {
        let page = root.get("data").or_else(|| root.get("events")).unwrap_or(root);
        is_of_managed_agent(root) || page.elements().take(LOOKED_AT).any(is_of_managed_agent)
    }),
];

const fn request(name: &'static str, sniff: Sniff) -> Unsupported {
    Unsupported { relevance: Relevance::Request, ..other(name, sniff) }
}

pub(super) fn find(root: Value<'_, '_>) -> Option<&'static Unsupported> {
    const KEYS: [&str; 26] = words(
        "assistant_id chat_history contextId data events from history input items jsonrpc kind memory message messages method \
        object orchestrationTrace returnControl sessionState steps task tool_outputs trace traces ttl type",
    );
    find_by_key(ALL, &KEYS, root)
}

const LOOKED_AT: usize = 8;

/// Whether a document is only a list of items, with results and without any call.
pub(crate) fn is_added_to_conversation(root: Value<'_, '_>) -> bool {
    let is = |end: &str| {
        let items = root.list("items").take(MOST_ADDED);
        items.filter_map(|item| item.get_str("type")).any(|kind| kind.ends_with(end))
    };
    root.members().all(|member| member.has_key("items") || member.has_key("metadata"))
        && is("_call_output")
        && !is("_call")
}

/// The most items that are added to a conversation at once, by the reference of the API.
const MOST_ADDED: usize = 20;

fn is_of_llama_stack(message: Value<'_, '_>) -> bool {
    first_of(message, "tool_calls").is_some_and(|call| call.has_all(&["call_id", "tool_name", "arguments"]))
}

fn is_of_cohere_v1(root: Value<'_, '_>) -> bool {
    const ROLES: [&str; 4] = ["USER", "CHATBOT", "SYSTEM", "TOOL"];
    // SDKs spell them otherwise, with the same keys in a turn.
    let is_turn = |turn: Value<'_, '_>| {
        let role = turn.get_str("role");
        role.is_some_and(|role| ROLES.iter().any(|own| own.eq_ignore_ascii_case(&role)))
            && (turn.get_any(&["message", "tool_results"]).is_some() || turn.get("content").is_none())
    };
    let says = root.has_text("message");
    let has_turns = || first_of(root, "chat_history").is_some_and(is_turn);
    let has_tools = || {
        first_of(root, "tools").is_some_and(|tool| tool.has_all(&["name", "parameter_definitions"]))
            || first_of(root, "tool_results").is_some_and(|result| result.has_all(&["call", "outputs"]))
    };
    root.get("messages").is_none() && says && (has_turns() || has_tools())
}

/// Whether a document is a body of `cortex/inference:complete` with tools: what the model takes is OpenAI's.
fn is_of_snowflake(root: Value<'_, '_>) -> bool {
    let has_list = |message: Value<'_, '_>| message.has_list("content_list");
    root.get("messages").is_some_and(|messages| messages.elements().take(LOOKED_AT).any(has_list))
        || first_of(root, "tools").is_some_and(|tool| tool.has_object("tool_spec"))
}

/// Arguments are objects there, and a state leads back to what was called (`gigachat/models` of ai-forever/gigachat).
fn is_of_gigachat(root: Value<'_, '_>) -> bool {
    let mut messages = root.list("messages");
    messages.any(|message| message.get_any(&["functions_state_id", "tools_state_id"]).is_some())
}

/// Whether results name their call as calls do (`src/agentscope/message/_message_block.py` of agentscope-ai/agentscope).
fn is_of_agentscope(root: Value<'_, '_>) -> bool {
    let list = root.get("messages").or_else(|| root.get("memory")?.get("content")).unwrap_or(root);
    let mut blocks = list.elements().filter_map(|message| message.get("content")).flat_map(Value::elements);
    let is_result =
        |block: Value<'_, '_>| block.is("type", "tool_result") && block.has_all(&["id", "output"]);
    let is_own =
        |message: Value<'_, '_>| message.has_all(&["id", "name", "role", "content", "metadata", "timestamp"]);
    root.get("model").is_none() && (blocks.any(is_result) || list.elements().next().is_some_and(is_own))
}

fn is_of_assistants(root: Value<'_, '_>) -> bool {
    let is_object = |value: Value<'_, '_>| {
        value.is_one_of("object", &["thread", "thread.run", "thread.run.step", "thread.message"])
    };
    let in_list = || root.is("object", "list") && first_of(root, "data").is_some_and(is_object);
    is_object(root)
        || first(root).is_some_and(is_object)
        || in_list()
        || root.get_str("assistant_id").is_some_and(|id| id.starts_with("asst_"))
        || first_of(root, "tool_outputs").is_some_and(|output| output.has_all(&["tool_call_id", "output"]))
            && root.get_any(&["messages", "input", "request"]).is_none()
}

/// Whether a document is a message of JSON-RPC as wanted, or a list that starts with one.
fn is_rpc(root: Value<'_, '_>, is_wanted: Sniff) -> bool {
    let is_own = |value: Value<'_, '_>| value.get_str("jsonrpc").is_some() && is_wanted(value);
    is_own(root) || root.elements().take(LOOKED_AT).any(is_own)
}

fn is_message_of_a2a(message: Value<'_, '_>) -> bool {
    let is_own = |method: &str| {
        matches!(method, "message/send" | "message/stream" | "SendMessage" | "SendStreamingMessage")
            || method.starts_with("tasks/") && message.get_in(&["params", "id"]).is_some()
    };
    message.get_str("method").is_some_and(|method| is_own(&method))
        || message.get("result").is_some_and(is_of_a2a)
}

fn is_of_a2a(root: Value<'_, '_>) -> bool {
    let is_message =
        |value: Value<'_, '_>| value.is("kind", "message") && value.has_all(&["messageId", "parts"]);
    // In version 1, the names of values are those of Protocol Buffers.
    let is_new_message = |value: Value<'_, '_>| {
        value.is_one_of("role", &["ROLE_USER", "ROLE_AGENT"]) && value.has("messageId")
    };
    let state = root.get("status").and_then(|status| status.get_str("state"));
    is_message(root)
        || is_new_message(root)
        || root.has("contextId") && state.is_some_and(|state| state.starts_with("TASK_STATE_"))
        || root.has_all(&["contextId", "status"]) && root.is_one_of("kind", &["task", "status-update"])
        || first_of(root, "history").is_some_and(is_message)
}

fn is_of_bedrock_agent(root: Value<'_, '_>) -> bool {
    let inside = |outer: &str, key: &str| root.get_in(&[outer, key]);
    const TRACES: [&str; 4] =
        ["orchestrationTrace", "preProcessingTrace", "postProcessingTrace", "routingClassifierTrace"];
    let is_trace = |trace: Value<'_, '_>| trace.get_any(&TRACES).is_some_and(Value::is_object);
    // An event of the stream has the trace with what it is of, which programs keep alone too.
    is_trace(root)
        || root.get("trace").is_some_and(is_trace) && root.get("messages").is_none()
        || inside("trace", "trace").is_some_and(is_trace)
        || inside("returnControl", "invocationInputs").is_some_and(Value::is_array)
        || inside("sessionState", "returnControlInvocationResults").is_some_and(Value::is_array)
}

fn is_of_managed_agent(event: Value<'_, '_>) -> bool {
    let is_own = |kind: &str| {
        matches!(kind.split('.').next(), Some("agent" | "session" | "span" | "system" | "user"))
            && kind.contains('.')
    };
    event.get_str("id").is_some_and(|id| id.starts_with("sevt_"))
        && event.get_str("type").is_some_and(|kind| is_own(&kind))
}

fn is_of_app_server(message: Value<'_, '_>) -> bool {
    let is_own = |method: &str| match method.split('/').next() {
        Some("thread" | "turn" | "item") => method.contains('/'),
        Some("initialize") => message
            .get("params")
            .is_some_and(|params| params.has("clientInfo") && !params.has("protocolVersion")),
        _ => false,
    };
    message.get("jsonrpc").is_none()
        && message.get_any(&["id", "params"]).is_some()
        && message.get_str("method").is_some_and(|method| is_own(&method))
}
