//! What a file is that holds no request: logs, traces, recordings, responses, data sets in other shapes.
//!
//! They are recognised so that no file is skipped silently: the report names the kind of file, and says how to
//! get at the requests in it. What `toolcheck-open` opens is named here for programs that do not use it.

use toolcheck_json::{Kind, Value};

use crate::claim::{self, certainty};
use crate::formats::{self, Format, gemini, openai_chat};
use crate::names::words;
use crate::suggest::similar;
use crate::tools;
use crate::unread::LISTS;

mod agents;
mod apps;
mod conversations;
mod languages;
mod lines;
mod texts;

pub(crate) use agents::is_of_crush;
pub(crate) use conversations::is_added_to_conversation;
pub use texts::{Text, is_recording, of_table, of_text};

/// A kind of document that is not read.
#[derive(Debug)]
#[non_exhaustive]
pub struct Unsupported {
    /// What it is, with its article: "an OpenAI Batch file".
    pub name: &'static str,
    /// What to do; `None` where there is no short way to a request.
    pub advice: Option<&'static str>,
    /// What it is to toolcheck.
    pub relevance: Relevance,
    sniff: Sniff,
}

type Sniff = fn(Value<'_, '_>) -> bool;

/// What a kind of document that is not read is to toolcheck.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relevance {
    /// A request to an LLM in a protocol that is not read yet: it should be checked, and is not.
    Request,
    /// What was said to an LLM, or by it, in such a protocol.
    Conversation,
    /// Something else.
    Other,
}

impl Unsupported {
    const fn advising(self, advice: &'static str) -> Self {
        Self { advice: Some(advice), ..self }
    }

    /// What a document of this kind is, as a message says it.
    pub fn describe(&self) -> String {
        match self.relevance {
            Relevance::Other => format!("not a request, but {}", self.name),
            Relevance::Request | Relevance::Conversation => {
                format!("this is {}, which toolcheck cannot read yet", self.name)
            }
        }
    }
}

/// The kind that a document is of, where it is one of those that are not read.
pub fn find(root: Value<'_, '_>) -> Option<&'static Unsupported> {
    if !matches!(root.kind(), Kind::Object | Kind::Array) {
        return None;
    }
    let known = conversations::find(root).or_else(|| agents::find(root)).or_else(|| apps::find(root));
    known.or_else(|| find_in(KINDS, root))
}

fn find_in(kinds: &'static [Unsupported], root: Value<'_, '_>) -> Option<&'static Unsupported> {
    kinds.iter().find(|kind| (kind.sniff)(root))
}

/// The first of these kinds, in a document that has one of their keys: a glance, because every file is looked at.
fn find_by_key(
    kinds: &'static [Unsupported],
    keys: &[&str],
    root: Value<'_, '_>,
) -> Option<&'static Unsupported> {
    let has_key = || root.members().any(|member| keys.iter().any(|key| member.has_key(key)));
    if root.is_array() || has_key() { find_in(kinds, root) } else { None }
}

/// The protocol of a conversation that is not read yet, of a document or of the request or response in it.
pub fn conversation(root: Value<'_, '_>) -> Option<&'static Unsupported> {
    let inside = || root.get_any(&["request", "response"]).filter(|value| value.is_object());
    let known = conversations::find(root).or_else(|| agents::find(root)).or_else(|| apps::find(root));
    known.or_else(|| inside().and_then(conversations::find))
}

const fn other(name: &'static str, sniff: Sniff) -> Unsupported {
    Unsupported { name, advice: None, relevance: Relevance::Other, sniff }
}

const fn of_agent(name: &'static str, sniff: Sniff) -> Unsupported {
    Unsupported { relevance: Relevance::Conversation, ..other(name, sniff) }
}

/// All kinds, the more telling first.
static KINDS: &[Unsupported] = &[
    // It quotes requests, whole ones too.
    other("a report of toolcheck", is_own_report),
    other("texts to embed or to moderate", |root| {
        let is_text = |value: Value<'_, '_>| !value.is_object();
        let has_texts = root
            .get("input")
            .is_some_and(|input| input.elements().next().is_some() && input.elements().all(is_text));
        // With a model that converses, the elements are a mistake.
        has_texts && !openai_chat::is_own_model(root) && root.get("messages").is_none()
    }),
    other("an OpenAI Batch file", |root| root.has_all(&["custom_id", "body", "url"]))
        .advising("check the requests in it: `jq -c .body FILE | toolcheck lint -`"),
    other("the results of an OpenAI batch: responses", |root| root.has_all(&["custom_id", "response"])),
    other("an Anthropic batch", |root| {
        let is_entry = |entry: Value<'_, '_>| entry.has_all(&["custom_id", "params"]);
        is_entry(root) || first_of(root, "requests").is_some_and(is_entry)
    })
    .advising("check the requests in it: `jq -c '(.requests // [.])[].params' FILE | toolcheck lint -`"),
    other("the results of an Anthropic batch: responses", |root| root.has_all(&["custom_id", "result"])),
    other("a HAR archive of HTTP requests", |root| {
        root.get("log").is_some_and(|log| log.has_list("entries"))
    })
    .advising(
        "check the bodies in it: \
        `jq -c '.log.entries[].request.postData.text | fromjson' FILE | toolcheck lint -`",
    ),
    other("a cassette of recorded HTTP requests", |root| {
        root.has_list("interactions") || root.has_list("http_interactions")
    }),
    other("an OpenTelemetry trace in which no messages were found", |root| {
        root.has_list("resourceSpans")
            || root.has_list("scopeSpans")
            || root.has("attributes")
                    && root.get_any(&["traceId", "trace_id", "spanId", "span_id", "context"]).is_some()
                    // Some tracers keep what was sent beside the attributes.
                    && !has_list_of_messages(root, DEEPEST_MESSAGES)
    }),
    other("a Langfuse trace without messages", |root| {
        const TYPES: [&str; 8] = words("GENERATION SPAN EVENT AGENT TOOL CHAIN RETRIEVER EVALUATOR");
        root.has_all(&["trace", "observations"])
            || root.is_one_of("type", &TYPES) && root.get_any(&["input", "output"]).is_some()
    }),
    // Runs of a client that was wrapped have its messages.
    other("a LangSmith run", |root| {
        root.has_all(&["run_type", "inputs"]) && !has_list_of_messages(root, DEEPEST_MESSAGES)
    }),
    other("a DeepEval trace", |root| root.has_all(&["baseSpans", "llmSpans"])),
    other("OpenTelemetry log records without messages", |root| {
        root.has_list("resourceLogs") || root.has_list("scopeLogs")
    }),
    // What `berkeley-function-call-leaderboard/bfcl_eval/model_handler/base_handler.py` of ShishirPatil/gorilla writes: calls
    // stand in texts, or as objects with one key each.
    of_agent("a log of the Berkeley Function-Calling Leaderboard", |root| {
        let mut turns = root.list("inference_log");
        turns.any(|turn| turn.has("begin_of_turn_query"))
    }),
    other("a session of GitHub Copilot Chat in VS Code", |root| {
        // Newer versions write the session and then its changes, one on each line.
        let begun = root.get("v").filter(|_| root.get("kind").and_then(Value::as_u64) == Some(0));
        begun.is_some_and(|session| session.has_list("requests"))
            || root.has_list("requests")
                && root.get_any(&["requesterUsername", "responderUsername"]).is_some()
    }),
    other("a preference data set of texts", |root| {
        // Not a table with a column of lists.
        let is_of_texts = |row: Value<'_, '_>, key: &str| {
            row.get(key).is_some_and(|answer| !answer.children().next().is_some_and(Value::is_array))
        };
        let is_row = |row| {
            let has = |chosen, rejected| is_of_texts(row, chosen) && row.has_all(&[rejected]);
            has("chosen", "rejected") || has("preferred_output", "non_preferred_output")
        };
        is_row(root) || first(root).is_some_and(is_row)
    }),
    other("a JSON-RPC message", |root| {
        root.get_str("jsonrpc").is_some()
            || first(root).is_some_and(|value| value.get_str("jsonrpc").is_some())
    }),
    other("part of a streamed response", is_event),
    other("a response", is_response).advising(AS_EXCHANGE),
    other("an error response from an API", is_error)
        .advising("`toolcheck explain --error TEXT REQUEST` finds what it is about in the request"),
];

const AS_EXCHANGE: &str = "check the request that follows it, or both as one: `{\"request\": ..., \"response\": ...}` (see docs/exchanges.md)";

/// What holds messages or calls in requests, also in those that no format reads.
const KEYS_OF_CONVERSATIONS: [&str; 7] =
    ["chat_history", "function_call", "messages", "toolUse", "tool_calls", "tool_outputs", "tool_results"];

const TYPES_OF_CALLS: [&str; 4] = ["function_call", "function_result", "tool_result", "tool_use"];

/// Whether a body that no format reads holds messages or calls.
pub fn holds_messages(root: Value<'_, '_>) -> bool {
    let mut open = vec![root];
    while let Some(value) = open.pop() {
        if KEYS_OF_CONVERSATIONS.iter().any(|key| value.get(key).is_some_and(|held| !held.is_null()))
            || value.is_one_of("type", &TYPES_OF_CALLS)
        {
            return true;
        }
        // What tools take is not a conversation, whatever it is called.
        open.extend(value.children().filter(|child| child.key_text().as_deref() != Some("tools")));
    }
    false
}

/// Whether a document is what a command of this program has written as JSON: the keys of each are in `schemas`.
fn is_own_report(root: Value<'_, '_>) -> bool {
    const OF_COMMANDS: [&[&str]; 7] = [
        &["toolcheck", "set", "runs"],
        &["cases", "found", "stale"],
        &["clients", "scenarios"],
        &["tool", "files", "findings", "summary"],
        &["rows", "unread", "transcripts", "rules"],
        &["before", "after", "counts", "changes"],
        &["files"],
    ];
    const OF_FINDING: [&str; 5] = ["rule", "level", "message", "pointer", "byte_start"];
    let is_own = |keys: &&[&str]| match keys {
        // A plan of fixes.
        ["files"] => first_of(root, "files").is_some_and(|file| file.has_all(&["applied", "skipped"])),
        keys => root.has_all(keys),
    };
    root.get("version").and_then(Value::as_u64).is_some() && OF_COMMANDS.iter().any(is_own)
        || root.has_all(&OF_FINDING)
}

fn first<'d, 's>(value: Value<'d, 's>) -> Option<Value<'d, 's>> {
    value.elements().next()
}

fn first_of<'d, 's>(value: Value<'d, 's>, key: &str) -> Option<Value<'d, 's>> {
    value.get(key).and_then(first)
}

/// How many messages are looked at for the marks of a framework.
const MESSAGES_LOOKED_AT: usize = 16;

/// Whether a document is a message as wanted, or a list of messages with one, as frameworks store them.
fn any_message(root: Value<'_, '_>, is_wanted: Sniff) -> bool {
    let list = if root.is_array() { Some(root) } else { root.get_any(&["messages", "chat_history"]) };
    let in_list = || {
        let mut messages = list.into_iter().flat_map(|list| list.elements()).take(MESSAGES_LOOKED_AT);
        messages.any(is_wanted)
    };
    is_wanted(root) || in_list()
}

/// The most chats of an export, and the most nodes of a chat, that are looked at.
const NODES_LOOKED_AT: usize = 8;

/// Whether a document is a chat whose messages are nodes of a tree, of which one is as wanted, or a list of chats with such a one.
fn any_node(root: Value<'_, '_>, is_wanted: Sniff) -> bool {
    let is_one = |chat: Value<'_, '_>| {
        chat.get("mapping").is_some_and(|nodes| nodes.members().take(NODES_LOOKED_AT).any(is_wanted))
    };
    is_one(root) || root.elements().take(NODES_LOOKED_AT).any(is_one)
}

/// How deep messages may be in a record of a tracer.
const DEEPEST_MESSAGES: usize = 4;

/// Whether an object holds a list of messages under a key that requests have.
fn has_list_of_messages(value: Value<'_, '_>, depth: usize) -> bool {
    let is_message = |first: Value<'_, '_>| first.get_any(&["role", "call_id"]).is_some();
    ["messages", "input"].into_iter().filter_map(|key| first_of(value, key)).any(is_message)
        || depth > 0
            && value
                .children()
                .take(VALUES_LOOKED_AT)
                .any(|child| child.is_object() && has_list_of_messages(child, depth - 1))
}

const EVENTS_OF_CONVERSE: [&str; 5] =
    words("messageStart contentBlockStart contentBlockDelta contentBlockStop messageStop");

/// Whether a document is an event of a streamed response.
pub(crate) fn is_event(root: Value<'_, '_>) -> bool {
    if root.get_any(&["messages", "input", "contents"]).is_some() {
        return false;
    }
    let has_name = root.get_str("type").is_some_and(|kind| {
        // Events of the Realtime API name their response.
        kind.starts_with("response.") && root.get("response_id").is_none()
            || kind.starts_with("content_block_")
            || matches!(&*kind, "message_start" | "message_delta" | "message_stop" | "ping")
            || matches!(&*kind, "message-start" | "message-end" | "tool-plan-delta")
            || ["content", "tool-call"].iter().any(|what| {
                let step = kind.strip_prefix(what).unwrap_or_default();
                matches!(step, "-start" | "-delta" | "-end")
            })
    });
    let has_kind = root.get_str("event_type").is_some_and(|kind| {
        ["interaction.", "step.", "content."].iter().any(|start| kind.starts_with(start))
    });
    has_name
        || has_kind
        || root.is("object", "chat.completion.chunk")
        || root.get_any(&EVENTS_OF_CONVERSE).is_some()
        || root.has("choices") && first_of(root, "choices").is_some_and(|choice| choice.has("delta"))
}

/// Whether a document is the data of an event of a streamed response, as far as one can tell from it alone.
pub fn is_of_stream(root: Value<'_, '_>) -> bool {
    // Some APIs stream objects that look like whole responses.
    let is_piece = || {
        is_of_gemini(root) && root.get("contents").is_none()
            || root.has_all(&["message", "created_at", "done"])
    };
    is_event(root) || is_piece()
}

fn is_of_gemini(root: Value<'_, '_>) -> bool {
    root.has_list("candidates") || gemini::is_blocked(root)
}

/// Whether a document is the response of an API, by itself.
pub fn is_response(root: Value<'_, '_>) -> bool {
    if !root.is_object() || root.get_any(&["messages", "contents", "request"]).is_some() {
        return false;
    }
    let is_answer = root.is("type", "message") && root.has("stop_reason");
    is_answer
        || root.is_one_of("object", &["chat.completion", "response", "interaction"])
        || root.has_list("choices") && first_of(root, "choices").is_some_and(|choice| choice.has("message"))
        || is_of_gemini(root)
        || root.get("input").is_none() && root.has_all(&["stopReason", "output"])
        || root.has_all(&["message", "done"])
        || root.has_all(&["message", "finish_reason"])
}

fn is_error(root: Value<'_, '_>) -> bool {
    let error = root.get("error").filter(|error| error.is_object());
    error.is_some_and(|error| error.get_str("message").is_some())
        && root.get_any(&["messages", "input", "contents", "request", "output"]).is_none()
}

/// How many values of a document are looked at for a request that is not at its top.
const VALUES_LOOKED_AT: usize = 64;

/// A request or list of messages inside a document, at a place where none is looked for.
#[derive(Debug)]
pub struct Nested<'d, 's> {
    /// Where it is.
    pub value: Value<'d, 's>,
    /// The format that recognises it.
    pub format: &'static Format,
    /// The keys that lead to it, as `jq` writes a path: `.body`, `.[].history`. `None` where a key would need quotes.
    pub path: Option<String>,
}

/// The first request that stands one or two levels below the top of a document.
pub fn nested<'d, 's>(root: Value<'d, 's>) -> Option<Nested<'d, 's>> {
    let below = |value: Value<'d, 's>| -> Vec<Value<'d, 's>> {
        // Of an array the first element stands for all.
        let most = if value.is_array() { 1 } else { VALUES_LOOKED_AT };
        value
            .children()
            .take(most)
            .filter(|child| matches!(child.kind(), Kind::Object | Kind::Array))
            .collect()
    };
    for one in below(root) {
        let path = step(one);
        if let Some(format) = recognised(one) {
            return Some(Nested { value: one, format, path: path.map(from_top) });
        }
        for two in below(one) {
            if let Some(format) = recognised(two) {
                let path = path.as_ref().zip(step(two)).map(|(one, two)| from_top(format!("{one}{two}")));
                return Some(Nested { value: two, format, path });
            }
        }
    }
    None
}

/// One step of a path for `jq`. It stands in a command that people copy, so a key that a shell or `jq` may read as
/// anything else has none.
fn step(value: Value<'_, '_>) -> Option<String> {
    let Some(key) = value.key_text() else { return Some("[]".to_owned()) };
    let is_plain = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let is_name = key.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    (is_name && key.len() <= LONGEST_KEY && key.chars().all(is_plain)).then(|| format!(".{key}"))
}

const LONGEST_KEY: usize = 60;

fn from_top(path: String) -> String {
    if path.starts_with('[') { format!(".{path}") } else { path }
}

/// How sure a format must be of a part of a document for a person to be sent there.
const SURE_OF_PART: u8 = certainty::TEXT - 5;

fn recognised(value: Value<'_, '_>) -> Option<&'static Format> {
    let sure = formats::ALL.iter().map(|format| ((format.sniff)(value), *format));
    let (sure, format) = sure.max_by_key(|(sure, _)| *sure)?;
    (sure >= SURE_OF_PART).then_some(format)
}

/// What a document holds in place of a request that can be told although no kind above fits.
pub fn describe(root: Value<'_, '_>) -> Option<&'static str> {
    match root.kind() {
        Kind::Object if root.members().next().is_none() => Some("an empty object"),
        Kind::Array if root.children().next().is_none() => Some("an empty list"),
        Kind::Object if lists_tools(root) && root.members().any(is_asked) => {
            Some("a row with tools, but with texts in place of messages")
        }
        Kind::Object | Kind::Array
            if list_of(root).is_none() && root.get("model").is_none() && lists_tools(root) =>
        {
            Some("a list of tool definitions (pass it with `--tools FILE`)")
        }
        Kind::Object if is_message(root) => {
            Some("a single message (`jq -s .` makes a list of messages that are one per line)")
        }
        Kind::String => Some("a JSON string (`jq -r . FILE` prints what is in it)"),
        Kind::Number | Kind::Bool | Kind::Null => Some("a single JSON value"),
        _ => None,
    }
}

fn lists_tools(root: Value<'_, '_>) -> bool {
    tools::read(root).is_some_and(|tools| tools.iter().any(|tool| tool.schema.is_some()))
}

/// Whether a member of a row of a benchmark is what is asked, or the answer: `user_query`, `ground_truth`.
fn is_asked(member: Value<'_, '_>) -> bool {
    const WORDS: [&str; 8] = words("query question prompt instruction answer answers response truth");
    member.key_text().is_some_and(|key| key.rsplit('_').next().is_some_and(|last| WORDS.contains(&last)))
}

fn is_message(value: Value<'_, '_>) -> bool {
    value.get_str("role").is_some() && value.get_any(&["content", "parts", "tool_calls"]).is_some()
}

/// Whether requests have their messages under a key, whatever its case.
pub fn is_list_key(key: &str) -> bool {
    LISTS.iter().any(|list| key.eq_ignore_ascii_case(list))
}

/// What a request body has as its messages: a list of objects, or the text of a list.
pub fn messages_of<'d, 's>(root: Value<'d, 's>) -> Option<Value<'d, 's>> {
    let is_list = |value: &Value<'_, '_>| {
        value.elements().any(|message| message.is_object())
            || value.as_str().is_some_and(|text| text.trim_start().starts_with('['))
    };
    root.get_any(&LISTS).filter(is_list)
}

/// What is under the key that requests have their messages under, whatever it is.
pub fn list_of<'d, 's>(root: Value<'d, 's>) -> Option<Value<'d, 's>> {
    let is_list = |member: &Value<'_, '_>| member.key_text().is_some_and(|key| is_list_key(&key));
    root.get_any(&LISTS).or_else(|| root.members().find(is_list)).or_else(|| misnamed_list(root))
}

/// The messages that a request has under another key than the one that is meant: a misspelt one, or a word that others use.
/// Rows of data sets have such words too: a request is told by its model and its settings.
pub fn misnamed_list<'d, 's>(root: Value<'d, 's>) -> Option<Value<'d, 's>> {
    const OF_CONVERSE: [&str; 3] = ["toolConfig", "inferenceConfig", "additionalModelRequestFields"];
    const OF_GEMINI: [&str; 5] =
        words("generationConfig generation_config safetySettings systemInstruction system_instruction");
    const OF_RESPONSES: [&str; 5] =
        words("instructions max_output_tokens previous_response_id store truncation");
    const FUNCTIONS: [&str; 2] = ["functionDeclarations", "function_declarations"];
    let has = |keys: &[&str]| root.get_any(keys).is_some();
    let model = root.get_str("model");
    let is_of_gemini =
        || has(&OF_GEMINI) || root.list("tools").take(1).any(|tool| tool.get_any(&FUNCTIONS).is_some());
    let is_named = model.is_some() || root.get_str("modelId").is_some();
    if root.get_any(&LISTS).is_some() || !(is_named || has(&OF_CONVERSE) || is_of_gemini()) {
        return None;
    }
    let is_of_items = openai_chat::is_own_model(root) && has(&OF_RESPONSES)
        || model.is_some_and(|model| model.starts_with("gemini-"));
    root.members().find(|member| {
        let is_meant = || match &*member.key_text().unwrap_or_default() {
            "prompt" => has(&["max_tokens", "tools"]) || has(&OF_CONVERSE),
            "message" | "msgs" => has(&["max_tokens", "tools", "temperature", "stream"]) || has(&OF_CONVERSE),
            "content" => is_of_gemini(),
            "inputs" => is_of_items,
            key => is_misspelt_list(key),
        };
        // Items have a type in place of a role.
        let is_message = |message: Value<'_, '_>| {
            message.get_str("role").is_some() || is_of_items && message.get_str("type").is_some()
        };
        let messages = member.elements();
        member.is_array()
            && is_meant()
            && messages.clone().next().is_some()
            && messages.clone().all(is_message)
    })
}

/// Whether a key is one of those that requests have their messages under, with a mistake in it.
pub fn is_misspelt_list(key: &str) -> bool {
    let is_word = key.bytes().all(|byte| byte.is_ascii_lowercase()) && !matches!(key, "message" | "content");
    is_word && similar(key, ["messages", "contents"]).name().is_some_and(|meant| meant != key)
}

/// Whether a document is a request in a protocol that is not read yet.
pub fn is_unread_request(root: Value<'_, '_>) -> bool {
    conversation(root).is_some_and(|kind| kind.relevance == Relevance::Request)
}

/// What requests to Chat Completions may have beside the model, and histories and rows for training have not.
pub(crate) const SETTINGS: [&str; 9] = words(
    "tool_choice temperature top_p max_tokens max_completion_tokens stream stream_options response_format \
    parallel_tool_calls",
);

/// Whether a document is meant to be a request: it has settings of an API beside something in the place of messages.
pub fn is_meant_as_request(root: Value<'_, '_>) -> bool {
    let has_settings = root.get_any(&["model", "modelId", "toolConfig", "max_tokens"]).is_some();
    has_settings && messages_of(root).is_some() && find(root).is_none() && !claim::is_stored(root)
}

/// Whether the messages of an object are a text because it is a row of a table, and not by mistake.
pub fn is_row_with_text(root: Value<'_, '_>) -> bool {
    messages_of(root).is_some_and(|messages| messages.is_string()) && lines::is_row(root)
}
