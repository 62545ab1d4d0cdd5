//! Messages as traces have them: with parts of their own (OpenTelemetry), or with a key for each value (OpenInference,
//! OpenLLMetry).

use std::borrow::Cow;
use std::collections::BTreeMap;

use foldhash::HashSet;
use toolcheck_json::{Said, Value};

use super::answers::{add_call_part, is_call_part};
use super::{Conversation, lists, parts, traces};
use crate::formats::anthropic;
use crate::ir::{Body, Executor, Named, Part, Role, Text, Transcript, UnpairedReason};
use crate::unread;

/// Whether a list holds messages with OpenTelemetry's parts.
pub(crate) fn has_parts(list: Value<'_, '_>) -> bool {
    list.elements().take(LOOKED_AT).any(|message| {
        message.has("role") && message.get("parts").is_some_and(|parts| parts.elements().any(is_part))
    })
}

const LOOKED_AT: usize = 8;

fn is_part(part: Value<'_, '_>) -> bool {
    let kind = part.get_str("type");
    match kind.as_deref() {
        // Crush has calls with other keys.
        Some("tool_call") => part.get_any(&["tool_call_id", "data"]).is_none(),
        Some("tool_call_response" | "server_tool_call" | "server_tool_call_response") => true,
        Some("text" | "reasoning") => part.has("content"),
        _ => is_consent(part),
    }
}

/// Whether a part is what Agent Framework asks a person, or what it is told, with a call that stands elsewhere
/// (`python/packages/core/agent_framework/observability.py` of microsoft/agent-framework).
fn is_consent(part: Value<'_, '_>) -> bool {
    let kind = part.get_str("type");
    matches!(kind.as_deref(), Some("function_approval_request" | "function_approval_response"))
}

fn role_of(name: &str) -> Role {
    match name {
        "system" | "developer" => Role::System,
        "user" | "human" => Role::User,
        "assistant" | "model" | "ai" => Role::Assistant,
        "tool" | "function" => Role::Tool,
        _ => Role::Unknown,
    }
}

fn open<'s>(transcript: &mut Transcript<'s>, name: Option<Named<'s>>, place: Value<'_, 's>) -> Role {
    let role = name.as_ref().map_or(Role::Unknown, |name| role_of(&name.text));
    transcript.next_message(role, place);
    if let Some(message) = transcript.messages.last_mut() {
        message.role_name = name;
    }
    role
}

/// A list of results alone is what was new in a step: the calls are in an earlier one.
pub(crate) fn settle_beginning(transcript: &mut Transcript<'_>) {
    let parts = transcript.messages.first().map(|message| message.parts.clone()).unwrap_or_default();
    let is_result = |at: u32| matches!(transcript.parts[at as usize].body, Body::Result(_));
    if parts.clone().all(is_result) {
        // All results before the first message of another role.
        for part in &mut transcript.parts {
            match &mut part.body {
                Body::Result(result) => result.unpaired = Some(UnpairedReason::Elsewhere),
                _ => break,
            }
        }
    }
}

pub(crate) fn read_parts<'s>(transcript: &mut Transcript<'s>, list: Value<'_, 's>) {
    for message in list.elements() {
        let is_own = |part: &Value<'_, '_>| !is_consent(*part);
        // What a person only consents to is no message to the model.
        let mut parts = message.list("parts").filter(is_own).peekable();
        if parts.peek().is_none() && message.list("parts").next().is_some() {
            continue;
        }
        open(transcript, message.get("role").and_then(Named::of), message);
        for part in parts {
            let body = body_of(part);
            if matches!(body, Body::Opaque) {
                transcript.unread.extend(unread::block(part));
            }
            transcript.part(part, body);
        }
    }
    settle_ids_of_items(transcript);
}

/// Pairs calls that have the ids of their items with the results behind them, which have those of the calls: so
/// `opentelemetry-instrumentation-openai-agents` (0.62) writes what the Responses API has.
fn settle_ids_of_items(transcript: &mut Transcript<'_>) {
    let starts = |id: &Option<Named<'_>>, with| id.as_ref().is_some_and(|id| id.text.starts_with(with));
    let sites = transcript.parts.iter().enumerate().filter_map(|(number, part)| match &part.body {
        Body::Call(call) => Some((number, false, starts(&call.id, "fc_"))),
        Body::Result(result) => Some((number, true, starts(&result.call_id, "call_"))),
        _ => None,
    });
    let sites: Vec<(usize, bool, bool)> = sites.collect();
    for group in sites.chunk_by(|(_, is_result, _), next| !is_result || next.1) {
        let results = group.iter().filter(|(_, is_result, _)| *is_result).count();
        if results * 2 != group.len() || !group.iter().all(|(.., is_other_id)| *is_other_id) {
            continue;
        }
        for (number, ..) in group {
            match &mut transcript.parts[*number].body {
                Body::Call(call) => call.unpaired = Some(UnpairedReason::UnknownId),
                Body::Result(result) => result.unpaired = Some(UnpairedReason::UnknownId),
                _ => {}
            }
        }
    }
}

fn body_of<'s>(part: Value<'_, 's>) -> Body<'s> {
    let (kind, content) = (part.get_str("type"), part.get("content"));
    let ids = ["id", "call_id"];
    // Azure AI Projects has a call or a result as the Responses API writes it in there (`azure-ai-projects` in
    // Azure/azure-sdk-for-python).
    let part = content.filter(|inner| inner.get("type").and(inner.get_any(&ids)).is_some()).unwrap_or(part);
    // Since semantic conventions 1.38, the provider's own tools have kinds of their own, with the details below.
    let of_call = |key: &str| part.get(key).filter(|inner| inner.is_object()).unwrap_or(part);
    match kind.as_deref() {
        Some("text") => Body::text(content),
        Some("tool_call") => {
            let spec = of_call("function");
            let input = spec.get_any(&["arguments", "input"]);
            Body::Call(parts::call(part.get_any(&ids), spec.get("name"), input))
        }
        Some("tool_call_response" | "tool_call_output") => {
            let said = part.get_any(&["response", "result", "content", "output"]);
            Body::Result(parts::result(part.get_any(&ids), said, None))
        }
        Some("server_tool_call") => {
            let spec = of_call("server_tool_call");
            let mut call = parts::call(part.get("id"), part.get("name"), spec.get("arguments"));
            call.executor = Executor::Server;
            Body::Call(call)
        }
        Some("server_tool_call_response") => {
            let spec = of_call("server_tool_call_response");
            let mut result = parts::result(part.get("id"), spec.get_any(&["response", "result"]), None);
            result.executor = Executor::Server;
            Body::Result(result)
        }
        Some("reasoning" | "thinking") => parts::reasoning(None),
        Some("blob" | "file" | "uri" | "image" | "audio" | "video") => Body::Media,
        _ => Body::Opaque,
    }
}

/// The beginnings of the keys of flat messages, and of the tools beside them.
const FLAT: [&str; 4] =
    ["llm.input_messages.", "llm.output_messages.", "gen_ai.prompt.", "gen_ai.completion."];
const FLAT_TOOLS: [&str; 2] = ["llm.tools.", "llm.request.functions."];

/// Whether a key belongs to messages that are written with a key for each value.
pub(crate) fn is_flat_key(key: &str) -> bool {
    let key = attribute_name(key);
    let is_numbered = |start: &str| {
        key.strip_prefix(start).is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
    };
    FLAT.iter().any(|start| is_numbered(start))
}

/// What the text of an attribute of a flat message says, if that is its calls or its blocks. Atla's instrumentor of LiteLLM
/// writes the list of calls (`llm_providers/instrumentors/litellm.py` of atla-ai/atla-insights-sdk), and OpenLLMetry's of
/// Anthropic the content (`opentelemetry-instrumentation-anthropic` before 0.62).
pub(crate) fn said_in_flat<'s>(attribute: Value<'_, 's>) -> Option<Said<'s>> {
    let is_wanted = |key: &str| (key.ends_with(CALLS) || key.ends_with(CONTENT)) && is_flat_key(key);
    let (key, text) = if attribute.is_string() {
        (attribute.key_text().filter(|key| is_wanted(key))?, attribute)
    } else {
        let key = attribute.get_str("key").filter(|key| is_wanted(key))?;
        let value = attribute.get("value")?;
        (key, value.get_any(&TEXTS).unwrap_or(value))
    };
    if key.ends_with(CALLS) {
        return lists::calls_in_text(text);
    }
    if toolcheck_json::contains(text.raw(), br#"\"function\""#) {
        return unread::said_in(text, |said| said.elements().any(is_call_part));
    }
    toolcheck_json::contains(text.raw(), b"tool_use").then(|| unread::blocks_in_text(text, false))?
}

const CALLS: &str = ".tool_calls";
const CONTENT: &str = ".content";

/// The keys of a text in an attribute of a list.
const TEXTS: [&str; 3] = ["stringValue", "string_value", "Value"];

/// The name of an attribute: tables of spans have it behind a word.
pub(crate) fn attribute_name(key: &str) -> &str {
    key.strip_prefix("attributes.").unwrap_or(key)
}

/// The attributes of a span with their names: the members of an object, or a list of keys and values.
pub(crate) fn attributes<'d, 's>(
    value: Value<'d, 's>,
) -> impl Iterator<Item = (Cow<'s, str>, Value<'d, 's>)> {
    let members = value.members().filter_map(|member| Some((member.key_text()?, member)));
    let listed = value.elements().filter_map(|entry| {
        let value = entry.get("value")?;
        let inner = value.get_any(&TEXTS).unwrap_or(value);
        Some((entry.get_str("key")?, inner))
    });
    members.chain(listed)
}

/// A message that is written with a key for each value.
#[derive(Default)]
struct Flat<'d, 's> {
    first: Option<Value<'d, 's>>,
    role: Option<Value<'d, 's>>,
    content: Vec<Value<'d, 's>>,
    call_id: Option<Value<'d, 's>>,
    name: Option<Value<'d, 's>>,
    calls: BTreeMap<u32, FlatCall<'d, 's>>,
}

#[derive(Default)]
struct FlatCall<'d, 's> {
    /// The call, if it is an object.
    whole: Option<Value<'d, 's>>,
    id: Option<Value<'d, 's>>,
    name: Option<Value<'d, 's>>,
    arguments: Option<Value<'d, 's>>,
}

impl<'d, 's> FlatCall<'d, 's> {
    /// A call that is an object, with keys like `name` or `tool_call.function.name`.
    fn of(call: Value<'d, 's>) -> Self {
        let inner = call.get("tool_call").unwrap_or(call);
        let function = inner.get("function").unwrap_or(inner);
        let of = |short: &str, long: &str| function.get(short).or_else(|| inner.get(long));
        Self {
            whole: Some(inner),
            id: inner.get_any(&["id", "tool_call.id"]),
            name: of("name", "tool_call.function.name"),
            arguments: of("arguments", "tool_call.function.arguments"),
        }
    }
}

impl<'d, 's> Flat<'d, 's> {
    /// Adds the value of a key, which is a path below the message.
    fn add(&mut self, path: &str, value: Value<'d, 's>) {
        self.first.get_or_insert(value);
        let path = path.strip_prefix("message.").unwrap_or(path);
        match path {
            "role" => self.role = Some(value),
            "content" => self.content.push(value),
            "tool_call_id" => self.call_id = Some(value),
            "name" => self.name = Some(value),
            "tool_calls" => self.calls.extend((0..).zip(value.elements().map(FlatCall::of))),
            "function_call_name" => self.calls.entry(0).or_default().name = Some(value),
            "function_call_arguments_json" => self.calls.entry(0).or_default().arguments = Some(value),
            _ => {
                if path.starts_with("contents.") && path.ends_with(".text") {
                    self.content.push(value);
                } else if let Some((number, key)) = path.strip_prefix("tool_calls.").and_then(numbered) {
                    let call = self.calls.entry(number).or_default();
                    let key = key.strip_prefix("tool_call.").unwrap_or(key);
                    match key.strip_prefix("function.").unwrap_or(key) {
                        "id" => call.id = Some(value),
                        "name" => call.name = Some(value),
                        "arguments" => call.arguments = Some(value),
                        _ => {}
                    }
                }
            }
        }
    }

    fn write(self, transcript: &mut Transcript<'s>) {
        let is_empty = self.content.is_empty() && self.calls.is_empty() && self.call_id.is_none();
        let Some(place) = self.role.or(self.first.filter(|_| !is_empty)) else { return };
        let role = open(transcript, self.role.and_then(Named::of), place);
        if let Some(called) = self.content.first().filter(|content| content.elements().any(is_call_part)) {
            if let Some(message) = transcript.messages.last_mut() {
                message.role = Role::Assistant;
            }
            return called.elements().for_each(|part| add_call_part(transcript, part, role == Role::Tool));
        }
        // OpenInference's instrumentors of Anthropic leave a result in the message of the user that brought it.
        if role == Role::Tool || self.call_id.is_some() && self.calls.is_empty() {
            if role != Role::Tool {
                settle_other_calls(transcript, self.call_id.and_then(Value::as_str).as_deref());
            }
            let mut result = parts::result(self.call_id, self.content.first().copied(), None);
            result.name = self.name.and_then(Named::of);
            let place = self.call_id.or(self.content.first().copied()).unwrap_or(place);
            transcript.part(place, Body::Result(result));
            return;
        }
        for content in self.content {
            if !content.is_array() {
                transcript.part(content, Text::of(content).map_or(Body::Opaque, Body::Text));
            }
            for block in content.elements() {
                let body = anthropic::block(block);
                // The calls have keys of their own, mostly.
                let is_call = matches!(&body, Body::Call(call) if call.executor == Executor::Client);
                if !is_call || self.calls.is_empty() {
                    transcript.part(block, body);
                }
            }
        }
        for call in self.calls.into_values() {
            if let Some(place) = call.whole.or(call.id).or(call.name).or(call.arguments) {
                transcript.part(place, Body::Call(parts::call(call.id, call.name, call.arguments)));
            }
        }
    }
}

/// Where a message of a user has a result, it had one for each call before it, under the same keys: only the last is left.
fn settle_other_calls(transcript: &mut Transcript<'_>, answered: Option<&str>) {
    let [.., before, _] = &transcript.messages[..] else { return };
    let parts = before.parts.start as usize..before.parts.end as usize;
    for part in &mut transcript.parts[parts] {
        if let Body::Call(call) = &mut part.body
            && call.id.as_ref().map(|id| &*id.text) != answered
        {
            call.unpaired.get_or_insert(UnpairedReason::Elsewhere);
        }
    }
}

/// A number at the start of a path, and the rest of it.
fn numbered(path: &str) -> Option<(u32, &str)> {
    let (number, rest) = path.split_once('.')?;
    Some((number.parse().ok()?, rest))
}

/// Adds the messages whose values are attributes of a span: what was sent, and then what was answered.
/// `around` is the span of these attributes.
pub(crate) fn read_flat<'s>(
    transcript: &mut Transcript<'s>,
    span: Value<'_, 's>,
    around: Option<Value<'_, 's>>,
) {
    let mut messages: BTreeMap<(usize, u32), Flat<'_, 's>> = BTreeMap::new();
    let mut tools: BTreeMap<u32, Vec<(String, Value<'_, 's>)>> = BTreeMap::new();
    for (key, value) in attributes(span) {
        let key = attribute_name(&key);
        let under = |starts: &[&str]| {
            let paths = starts.iter().enumerate();
            paths.filter_map(|(kind, start)| Some((kind, numbered(key.strip_prefix(start)?)?))).next()
        };
        if let Some((kind, (number, path))) = under(&FLAT) {
            messages.entry((kind, number)).or_default().add(path, value);
        } else if let Some((_, (number, path))) = under(&FLAT_TOOLS) {
            tools.entry(number).or_default().push((path.to_owned(), value));
        }
    }
    for message in messages.into_values() {
        message.write(transcript);
    }
    let is_whole = around.is_none_or(traces::is_whole) && traces::is_request(span);
    transcript.details.is_answered = is_whole && traces::lacks_result(transcript);
    for tool in tools.into_values() {
        let of = |path: &str| tool.iter().find(|(own, _)| own == path).map(|(_, value)| *value);
        let schema =
            of("tool.json_schema").and_then(|text| crate::tools::read_text(&text.as_str()?, |_| None));
        let named = || {
            let name = of("name")?.as_str()?.into_owned();
            let schema = of("parameters")
                .and_then(|schema| schema.as_str())
                .map(|text| text.into_owned().into_bytes());
            Some(crate::tools::Definition { name, schema })
        };
        transcript.request.tools.in_text.extend(schema.or_else(named));
        transcript.request.tools.place =
            transcript.request.tools.place.or(tool.first().map(|(_, value)| crate::ir::Place::of(*value)));
    }
}

/// A span of an agent has all answers of its run, and those of the tools have the results
/// (`openinference-instrumentation-claude-agent-sdk` of Arize-ai/openinference, `_wrappers.py`): a call with such a span, or
/// one whose trace is in other records, does not lack its result.
pub(crate) fn settle_agents<'s>(root: Value<'_, 's>, conversations: &mut [Conversation<'s>]) {
    let is_of_agent = |conversation: &&mut Conversation<'s>| {
        let span = root.document().value(conversation.transcript.place.node);
        let is_result = |part: &Part<'_>| matches!(part.body, Body::Result(_));
        attributes(span).any(|(key, value)| {
            attribute_name(&key) == "openinference.span.kind" && value.as_str().as_deref() == Some("AGENT")
        }) && !conversation.transcript.parts.iter().any(is_result)
    };
    let mut agents = conversations.iter_mut().filter(is_of_agent).peekable();
    if agents.peek().is_none() {
        return;
    }
    let is_alone = root.is_object()
        && root.get_any(&["resourceSpans", "resource_spans", "scopeSpans", "spans"]).is_none();
    let mut answered = HashSet::default();
    let mut stack = vec![root];
    while let Some(value) = stack.pop() {
        let ids = attributes(value).filter(|(key, _)| attribute_name(key) == "tool.id");
        answered.extend(ids.filter_map(|(_, id)| id.as_str()));
        stack.extend(value.children().filter(|child| child.children().next().is_some()));
    }
    for part in agents.flat_map(|agent| &mut agent.transcript.parts) {
        if let Body::Call(call) = &mut part.body
            && call.id.as_ref().is_some_and(|id| is_alone || answered.contains(&*id.text))
        {
            call.unpaired = Some(UnpairedReason::Elsewhere);
        }
    }
}

/// Whether a list holds messages of OpenInference that are objects: `{"message": {"role": ...}}`, or with keys like
/// `message.role`.
pub(crate) fn has_wrapped(list: Value<'_, '_>) -> bool {
    list.elements().take(LOOKED_AT).any(is_wrapped)
}

/// Whether a value is such a message, and not the choice of a response.
pub(crate) fn is_wrapped(entry: Value<'_, '_>) -> bool {
    entry.has("message.role")
        || entry.get_in(&["message", "role"]).is_some() && entry.get("finish_reason").is_none()
}

/// The keys of such lists: of what was sent, and of what was answered.
pub(crate) const WRAPPED: [[&str; 2]; 3] = [
    ["input_messages", "output_messages"],
    ["llm.input_messages", "llm.output_messages"],
    ["attributes.llm.input_messages", "attributes.llm.output_messages"],
];

/// The messages of a list, and those of the answer beside it.
pub(crate) fn with_answer<'d, 's>(list: Value<'d, 's>, span: Option<Value<'d, 's>>) -> Vec<Value<'d, 's>> {
    let key = WRAPPED.iter().find(|[sent, _]| list.has_key(sent));
    let answer = span.zip(key).and_then(|(span, [_, said])| span.get(said));
    list.elements().chain(answer.into_iter().flat_map(|answer| answer.elements())).collect()
}

/// Adds such messages.
pub(crate) fn read_wrapped<'s>(transcript: &mut Transcript<'s>, entries: &[Value<'_, 's>]) {
    for entry in entries {
        let mut flat = Flat::default();
        let message = entry.get("message").filter(|message| message.is_object());
        flat.first = Some(message.unwrap_or(*entry));
        for member in message.unwrap_or(*entry).members() {
            let Some(key) = member.key_text() else { continue };
            match key.strip_prefix("message.").unwrap_or(&key) {
                "contents" => flat.content.extend(member.elements().filter_map(|block| {
                    let inner = block.get("message_content").unwrap_or(block);
                    inner.get_any(&["text", "message_content.text"])
                })),
                path => flat.add(path, member),
            }
        }
        flat.write(transcript);
    }
}

/// Adds messages that are in objects of their own, with blocks as Anthropic has them.
pub(crate) fn read_blocks<'s>(transcript: &mut Transcript<'s>, entries: &[Value<'_, 's>]) {
    transcript.batches_results = true;
    for (index, message) in entries.iter().filter_map(|entry| entry.get("message")).enumerate() {
        let role = message.get_str("role").map_or(Role::Unknown, |name| role_of(&name));
        let joins = transcript.messages.last().is_some_and(|last| last.role == role);
        anthropic::read_message(transcript, message, index, joins);
    }
}

/// Whether the values of messages are attributes of a span.
pub(crate) fn has_flat_keys(value: Value<'_, '_>) -> bool {
    value.members().any(|member| member.key_text().is_some_and(|key| is_flat_key(&key)))
        || value.elements().any(|entry| entry.get_str("key").is_some_and(|key| is_flat_key(&key)))
}

/// Whether an object is the attributes of a span that hold messages.
pub(crate) fn is_span(value: Value<'_, '_>) -> bool {
    let is_messages = |(key, value): (Cow<'_, str>, Value<'_, '_>)| {
        key.starts_with("gen_ai.") && unread::unwrapped(value, has_parts)
    };
    has_flat_keys(value) || attributes(value).any(is_messages)
}
