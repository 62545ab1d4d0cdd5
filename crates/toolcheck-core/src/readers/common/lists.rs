//! Lists of messages, wherever they stand, and what stands beside them.

use std::borrow::Cow;
use std::sync::LazyLock;

use foldhash::HashSet;
use memchr::memmem::Finder;
use toolcheck_json::{
    Decoded, Document, Expanded, NodeId, Said, Value, contains, origins::Mapped, sort_by_position,
};

use super::{Columns, LeftOut, bare_calls, described, literal, python, spans};
use crate::claim::certainty;
use crate::ir::{Body, Part, Place, Text, Transcript, UnreadKind};
use crate::names::words;
use crate::tools::{self, Definition};
use crate::{call_marks, unread, unsupported};

/// How many elements of a list are looked at to see whether it holds messages.
const LOOKED_AT: usize = 8;

/// The rows of a data set: its records, or the elements of those that are lists.
pub(crate) fn rows<'r, 'd, 's>(records: &'r [Value<'d, 's>]) -> impl Iterator<Item = Value<'d, 's>> + 'r {
    records.iter().flat_map(|record| {
        let alone = (!record.is_array()).then_some(*record);
        alone.into_iter().chain(record.elements())
    })
}

const ROWS_LOOKED_AT: usize = 4;

pub(crate) fn certainty_of_rows(records: &[Value<'_, '_>], is_row: impl Fn(Value<'_, '_>) -> bool) -> u8 {
    let is_own =
        |record: &Value<'_, '_>| is_row(*record) || record.elements().take(ROWS_LOOKED_AT).any(&is_row);
    if records.iter().any(is_own) { certainty::OWN_SHAPE } else { 0 }
}

/// Whether an object is a row with messages and without tools.
pub(super) fn are_in_row(row: Value<'_, '_>) -> bool {
    row.get_any(&TOOLS).is_none() && row.members().any(|member| unread::unwrapped(member, is_list))
}

/// Whether a list holds something like messages. The formats judge which.
pub(crate) fn is_list(list: Value<'_, '_>) -> bool {
    list.is_array() && list.elements().take(LOOKED_AT).any(is_message)
}

fn is_message(value: Value<'_, '_>) -> bool {
    let has = |key: &str| value.get(key).is_some();
    let says = |key: &str| value.has_text(key);
    let is_item = || {
        let kind = value.get_str("type");
        matches!(kind.as_deref(), Some("function_call" | "function_call_output"))
    };
    super::spans::is_wrapped(value)
        || says("role")
        || says("from") && (has("value") || has("content"))
        || is_item()
}

/// Whether a value is a message with a role and something that is said.
pub(crate) fn is_plain(value: Value<'_, '_>) -> bool {
    value.has_text("role") && value.get_any(&["content", "parts", "tool_calls"]).is_some()
}

/// The message that an entry of a list or a line of a log wraps: the only one under any of its keys, or beside something else
/// in a pair, as AgentScope has its marks (`InMemoryMemory.state_dict` in `src/agentscope/memory`). Spans overlap, so that
/// theirs are not one conversation.
pub(crate) fn wrapped<'d, 's>(entry: Value<'d, 's>) -> Option<Value<'d, 's>> {
    let is_pair = entry.elements().take(3).count() == 2;
    let inside = entry.children().filter(|_| is_pair || entry.is_object());
    let mut messages = inside.filter(|member| member.is_object() && is_plain(*member));
    let message = messages.next().filter(|_| messages.next().is_none())?;
    entry.get_any(&["role", "span_id", "spanId"]).is_none().then_some(message)
}

/// Whether entries wrap the messages of a conversation, in which more than one speaks: from the start, if not behind a header.
pub(crate) fn wrap<'d, 's: 'd>(entries: impl Iterator<Item = Value<'d, 's>> + Clone) -> bool {
    let mut roles = entries.clone().filter_map(wrapped).filter_map(|message| message.get_str("role"));
    entries.take(2).any(|entry| wrapped(entry).is_some())
        && roles.next().is_some_and(|first| roles.any(|role| role != first))
}

/// Whether an object has the messages of a conversation under their ids, and nothing else.
pub(crate) fn is_map(object: Value<'_, '_>) -> bool {
    let is_message = |member: Value<'_, '_>| member.is_object() && is_plain(member);
    let mut roles = object.members().filter_map(|message| message.get_str("role"));
    // Of answers to one prompt, the model learns one.
    let is_choice = || object.get_any(&CHOSEN).or_else(|| object.get_any(&REJECTED)).is_some();
    object.members().next().is_some_and(is_message)
        && object.members().all(is_message)
        && !is_choice()
        && roles.next().is_some_and(|first| roles.any(|role| role != first))
}

/// Whether a list that was read begins with the newest: each result stands before its call.
pub(crate) fn is_newest_first(transcript: &Transcript<'_>) -> bool {
    let (mut called, mut answered) = (HashSet::default(), HashSet::default());
    let mut has_pair = false;
    for part in &transcript.parts {
        match &part.body {
            Body::Call(call) => {
                let id = call.id.as_ref().map(|id| &id.text);
                has_pair |= id.is_some_and(|id| answered.contains(id));
                called.extend(id);
            }
            Body::Result(result) => {
                let id = result.call_id.as_ref().map(|id| &id.text);
                if id.is_some_and(|id| called.contains(id)) {
                    return false;
                }
                answered.extend(id);
            }
            _ => {}
        }
    }
    has_pair
}

/// Puts what was read of a list that begins with the newest in the order in which it was said.
pub(crate) fn reverse(transcript: &mut Transcript<'_>, list: Value<'_, '_>) {
    let starts: Vec<u32> = list.elements().map(|element| element.span().start).collect();
    let element_of = |part: &Part<'_>| starts.partition_point(|start| *start <= part.place.span.start);
    let parts = std::mem::take(&mut transcript.parts);
    transcript.messages.reverse();
    for message in &mut transcript.messages {
        let mut own = parts[message.parts.start as usize..message.parts.end as usize].to_vec();
        sort_by_position(&mut own, |part| usize::MAX - element_of(part));
        let start = transcript.parts.len() as u32;
        transcript.parts.extend(own);
        message.parts = start..transcript.parts.len() as u32;
    }
}

/// The keys by which the rows of a table name the conversation that they belong to.
pub(crate) const THREAD: [&str; 8] =
    words("chatId chat_id threadId thread_id conversationId conversation_id sessionId session_id");

/// The keys under which data sets have the tools of their rows.
pub(crate) const TOOLS: [&str; 16] = words(
    "tools functions tools_json available_tools availableTools tool_defs tool_definitions toolDefinitions \
    tool_schemas function_declarations functions_json tool_list tools_available gen_ai.tool.definitions \
    gen_ai.request.available_tools $ai_tools",
);

/// The keys under which rows of preferences have the message that the model learns to write.
pub(crate) const CHOSEN: [&str; 2] = ["chosen", "chosen_response"];
/// The keys of what it learns not to write.
pub(crate) const REJECTED: [&str; 4] =
    ["rejected", "rejected_response", "rejected_messages", "non_preferred_output"];

/// The message that a row of preferences has beside its conversation (LLaMA-Factory's `data/README.md`; When2Call).
pub(crate) fn chosen<'d, 's>(row: Value<'d, 's>) -> Option<Value<'d, 's>> {
    row.get_any(&CHOSEN).filter(|message| message.is_object() && is_message(*message))
}

/// Whether a member of a row is what the model learns not to write.
pub(crate) fn is_rejected(row: Value<'_, '_>, member: Value<'_, '_>) -> bool {
    REJECTED.iter().any(|key| member.has_key(key))
        && row.get_any(&["messages", "conversations", "chosen", "chosen_response"]).is_some()
}

/// The keys under which data sets have the system text of their rows.
pub(crate) const SYSTEM: [&str; 4] = ["system", "system_prompt", "system_message", "systemPrompt"];

/// Adds the tools and the system text that stand beside a list of messages, unless the request has its own.
pub(crate) fn add_beside<'s>(transcript: &mut Transcript<'s>, row: Value<'_, 's>) {
    Beside::of(row).add_to(transcript);
}

/// What stands beside the messages of a row. Whoever writes calls as text describes the tools in a text, too, so that nothing
/// may stand there.
#[derive(Clone, Copy, Default)]
pub(crate) struct Beside<'d, 's> {
    tools: Option<Value<'d, 's>>,
    system: Option<Value<'d, 's>>,
}

impl<'d, 's> Beside<'d, 's> {
    pub(crate) fn of(row: Value<'d, 's>) -> Self {
        let says = |value: &Value<'_, '_>| value.as_json_str().is_some_and(|text| !text.is_empty());
        let system = SYSTEM.iter().filter_map(|key| row.get(key)).find(says);
        // A `function` may be anything: a name, or a call.
        let declares = |list: &Value<'_, '_>| {
            let first = list.elements().next();
            first.is_some_and(|tool| tool.has_all(&["name", "parameters"]))
        };
        let tools = tools_under(row, &TOOLS).or_else(|| row.get("function").filter(declares));
        Self { tools, system }
    }

    pub(crate) fn with_tools(self, tools: Value<'d, 's>) -> Self {
        Self { tools: Some(tools), ..self }
    }

    /// The same with other tools where there are none.
    pub(crate) fn or_tools(self, tools: Option<Value<'d, 's>>) -> Self {
        Self { tools: self.tools.or(tools), ..self }
    }

    /// The same with tools of a span, if it is known how they are written.
    pub(crate) fn or_known_tools(self, tools: Option<Value<'d, 's>>) -> Self {
        let is_known = |tools: &Value<'d, 's>| self.tools.is_none() && definitions(*tools, 0).is_some();
        self.or_tools(tools.filter(is_known))
    }

    pub(crate) fn size(self) -> usize {
        self.tools.map_or(0, |tools| tools.raw().len())
    }

    pub(crate) fn add_to(self, transcript: &mut Transcript<'s>) {
        add_definitions(transcript, self.tools);
        if transcript.request.instructions.is_none() {
            transcript.request.instructions = self.system.map(Place::of);
        }
        described::add(transcript, self.system.and_then(Text::of));
    }
}

/// The same, with the keys that the user has named before the usual ones.
pub(crate) fn add_columns<'s>(transcript: &mut Transcript<'s>, row: Value<'_, 's>, columns: &Columns) {
    let tools: Vec<&str> = columns.tools.iter().map(String::as_str).collect();
    add_tools(transcript, row, &tools);
    let system = columns.system.iter().find_map(|key| row.get(key));
    if transcript.request.instructions.is_none() {
        transcript.request.instructions = system.filter(|text| text.is_string()).map(Place::of);
    }
    add_beside(transcript, row);
}

/// Adds the tools under the first of these keys that has some, unless the request has its own.
pub(crate) fn add_tools<'s>(transcript: &mut Transcript<'s>, row: Value<'_, 's>, keys: &[&str]) {
    let document = row.document();
    // A row whose tools have texts for schemas is read as one with a text for all of them.
    let is_text = |schema: Place| tools::schema_in_text(document.value(schema.node)).is_some();
    let own = &mut transcript.request.tools;
    if own.listed().iter().any(|tool| tool.schema.is_some_and(is_text))
        && let Some(tools) = own.place.and_then(|list| definitions(document.value(list.node), 0))
    {
        (own.list, own.in_text) = (None, tools);
    }
    add_definitions(transcript, tools_under(row, keys));
}

fn tools_under<'d, 's>(row: Value<'d, 's>, keys: &[&str]) -> Option<Value<'d, 's>> {
    let filled = |value: &Value<'_, '_>| {
        value.children().next().is_some() || value.as_json_str().is_some_and(|text| !text.is_empty())
    };
    let under = |row: Value<'d, 's>| keys.iter().filter_map(|key| row.get(key)).find(filled);
    // SmolTalk2 and the template of SmolLM3.
    let of_template = || row.get("chat_template_kwargs")?.get("xml_tools").filter(filled);
    // Rows of GLM-4 and OLMo 3 have the tools in the system message (`finetune_demo/README.md` of THUDM/GLM-4; the chat
    // template of allenai/Olmo-3-7B-Instruct).
    let first = || {
        let first = row.get("messages")?.elements().next()?;
        under(first).filter(|_| first.is("role", "system"))
    };
    let of_converse = || row.get("toolConfig").filter(|config| holds_tools(*config));
    let of_settings = || row.get("tool_calls").filter(|calls| unread::is_settings(*calls));
    // DSPy's `history` (`dspy/clients/base_lm.py` of stanfordnlp/dspy).
    let of_settings = || of_settings().or_else(|| under(row.get("kwargs")?));
    under(row).or_else(of_template).or_else(of_converse).or_else(of_settings).or_else(first)
}

/// Whether a value is what Converse has around its tools, or its text: Gemini has other settings under the same key.
pub(crate) fn holds_tools(config: Value<'_, '_>) -> bool {
    unread::unwrapped(config, |config| config.has("tools"))
}

/// Counts the tools and the calls that rows of a data set have where nobody reads them.
pub(crate) fn count_unread<'d, 't, 's: 'd + 't>(
    left_out: &mut LeftOut,
    rows: impl Iterator<Item = Value<'d, 's>>,
    said: impl Iterator<Item = &'t Transcript<'s>> + Clone,
) {
    if said.clone().all(|said| said.request.tools.count() == Some(0)) {
        left_out.add("lists of tools under keys that are not known", rows.map(tools_elsewhere).sum());
    }
    let count = |said| call_marks::count_unread(said).max(bare_calls::count_unread(said));
    left_out.add("texts that look like calls", said.map(count).sum());
}

/// How many members of a row, or of an object in it, are beyond doubt lists of tools, under a key that nobody reads.
fn tools_elsewhere(row: Value<'_, '_>) -> usize {
    let is_read = |member: &Value<'_, '_>| TOOLS.iter().chain(&unread::LISTS).any(|key| member.has_key(key));
    let may_hold = |member: &Value<'_, '_>| member.is_object() || may_be_json(*member, b"{");
    let inside = row.members().filter(may_hold).map(|member| {
        unread::unwrapped(member, |object| object.members().filter(|inner| are_tools(*inner)).count())
    });
    let own = row.members().filter(|member| !is_read(member) && are_tools(*member)).count();
    own + inside.sum::<usize>()
}

/// Whether a value is beyond doubt a list of tools, or the text of one.
fn are_tools(list: Value<'_, '_>) -> bool {
    let has_schemas =
        |tools: Vec<Definition>| !tools.is_empty() && tools.iter().all(|tool| tool.schema.is_some());
    (list.is_array() || may_be_json(list, b"[")) && definitions(list, 0).is_some_and(has_schemas)
}

/// Whether a string may be the text of JSON that begins like this and has names in it.
fn may_be_json(value: Value<'_, '_>, start: &[u8]) -> bool {
    let has_name = || contains(value.raw(), b"name");
    value.as_json_str().is_some_and(|text| text.may_begin_with(start)) && has_name()
}

pub(crate) fn add_definitions<'s>(transcript: &mut Transcript<'s>, tools: Option<Value<'_, 's>>) {
    let own = &transcript.request.tools;
    // Whose schemas are under the key of another API, or of a framework.
    let are_bare = own.in_text.is_empty() && own.listed().iter().all(|tool| tool.schema.is_none());
    // What it says is not what a reader of JSON makes of it.
    let is_literal = own.list.is_none() && tools.is_some_and(literal::is_like_one);
    let may_be_read = is_literal || own.count().unwrap_or_default() == 0 || own.list.is_some() && are_bare;
    let Some(value) = tools.filter(|_| may_be_read) else { return };
    let has_own = own.count() != Some(0);
    match definitions(value, 0) {
        Some(tools) if tools.is_empty() || has_own && tools.iter().any(|tool| tool.schema.is_none()) => {}
        Some(tools) => {
            let declared = &mut transcript.request.tools;
            (declared.place, declared.list) = (Some(Place::of(value)), None);
            declared.in_text = tools;
            transcript.unread.retain(|unread| unread.what != UnreadKind::Tools);
        }
        None if has_own || transcript.unread.iter().any(|unread| unread.what == UnreadKind::Tools) => {}
        None => transcript.unread.push(unread::tools(value)),
    }
}

/// The tools that a value declares: a list, the text of one, or a list of texts. Empty if it only names them.
fn definitions(value: Value<'_, '_>, depth: usize) -> Option<Vec<Definition>> {
    if let Some(text) = literal::json(value).map(Cow::Owned).or_else(|| value.as_str()) {
        let document = Document::read(text.as_bytes());
        let is_json = document.faults().iter().all(|fault| fault.kind.is_in_text());
        return if is_json && depth < DEEPEST_TEXT { definitions(document.root(), depth + 1) } else { None };
    }
    let is_text = |tool: &Value<'_, '_>| tool.is_string();
    if value.elements().any(|tool| is_text(&tool)) {
        let texts = value.elements().filter_map(|tool| tool.as_str());
        return Some(texts.filter_map(|text| tools::read_text(&text, python::schema_of)).collect());
    }
    // An empty list, an object without members, or a list of what was called, declares nothing.
    if value.children().next().is_none() || value.elements().any(|tool| tool.has("tool_args")) {
        return Some(Vec::new());
    }
    python::tools(value)
}

/// How often JSON may be a text inside of a text.
const DEEPEST_TEXT: usize = 3;

/// A string to open, with what it says if it has been read.
type ToOpen<'s> = (NodeId, Option<Said<'s>>);

/// The rows of a table of messages with the calls and the contents that they have as the text of JSON; `None` if there are none.
pub(crate) fn opened_rows<'s>(document: &Document<'s>) -> Option<Expanded<'s>> {
    let records: Vec<_> = document.root().elements().collect();
    let mut strings = Vec::new();
    for row in rows(&records) {
        strings_of_message(row.get("message").unwrap_or(row), &mut strings);
        let event = row.get("event_data").filter(|event| event.is_string());
        strings.extend(event.map(|event| (event.id(), None)));
    }
    (!strings.is_empty()).then(|| expanded(document, strings))
}

/// The document with the lists of messages that it has in strings as lists; `None` if it has none.
pub(crate) fn opened<'s>(document: &Document<'s>) -> Option<Expanded<'s>> {
    let strings = strings_with_lists(document.root());
    if strings.is_empty() {
        return None;
    }
    let has_inner = strings.iter().any(|(string, _)| may_hold_text(document.value(*string)));
    let mut opened = expanded(document, strings);
    for _ in 1..if has_inner { DEEPEST_TEXT } else { 1 } {
        let inner = opened.document();
        let strings = strings_with_lists(inner.root());
        if strings.is_empty() {
            let arena = inner.into_arena();
            opened.put_back(arena);
            break;
        }
        opened = expanded(&inner, strings).mapped().through(opened.mapped()).into();
    }
    Some(opened)
}

fn expanded<'s>(document: &Document<'s>, strings: Vec<ToOpen<'s>>) -> Expanded<'s> {
    let ids: Vec<NodeId> = strings.iter().map(|(id, _)| *id).collect();
    if let Some(said) = strings.into_iter().map(|(_, said)| said).collect() {
        return Expanded::new(document, said);
    }
    if !ids.iter().any(|id| literal::is_like_one(document.value(*id))) {
        return Mapped::expanded(document, &ids).into();
    }
    let write =
        |mapped: &mut Mapped, decoded: &Decoded<'_>| literal::write(mapped, document.bytes(), decoded);
    Mapped::rewritten(document, &ids, write).into()
}

/// Whether what a string says may have JSON in its strings: that has quotes, whose backslashes are escaped here, or is a
/// literal of Python.
fn may_hold_text(value: Value<'_, '_>) -> bool {
    static WORDS: LazyLock<[Finder<'_>; 5]> =
        LazyLock::new(|| [r#"\\""#, r"\\u00", r"\u005", "{'", r"{\u0027"].map(Finder::new));
    WORDS.iter().any(|word| word.find(value.raw()).is_some())
}

/// The strings to open, in the order of the text.
fn strings_with_lists<'s>(root: Value<'_, 's>) -> Vec<ToOpen<'s>> {
    let mut found = Vec::new();
    let mut stack = Vec::with_capacity(16);
    stack.push(root);
    while let Some(value) = stack.pop() {
        if let Some(said) = spans::said_in_flat(value) {
            found.push(opening(said));
        } else if value.is_string() {
            let is_said = may_be_output(value);
            let said = with_text(value, |inner| {
                holds_list(inner, 0)
                    || calls_of_output(inner).next().is_some()
                    || is_said && (unsupported::is_response(inner) || is_plain(inner))
            });
            found.extend(said.map(opening));
        } else if is_list(value) {
            value.elements().for_each(|message| strings_of_message(message, &mut found));
        } else if value.is_array()
            && value.elements().next().is_some_and(|first| with_text(first, is_message).is_some())
        {
            // Each message as a text.
            let texts = value.elements().filter(|message| message.is_string());
            found.extend(texts.map(|text| (text.id(), None)));
        } else {
            stack.extend(value.children());
        }
        if let Some(chosen) = chosen(value) {
            strings_of_message(chosen, &mut found);
        }
        // Calls without a conversation: questions with the calls that answer them.
        if value.is_object() && value.has("query") {
            found.extend(value.get_any(&ANSWERS).and_then(calls_in_text).map(opening));
        }
    }
    if !found.is_sorted_by_key(|(id, _)| *id) {
        sort_by_position(&mut found, |(id, _)| id.index());
    }
    found.dedup_by_key(|(id, _)| *id);
    found
}

fn opening(said: Said<'_>) -> ToOpen<'_> {
    (said.string(), Some(said))
}

/// The keys under which questions have the calls that answer them, or rows for Azure's evaluators those that were made.
pub(crate) const ANSWERS: [&str; 3] = ["answers", "answer", "tool_calls"];

fn strings_of_message<'s>(message: Value<'_, 's>, found: &mut Vec<ToOpen<'s>>) {
    let mut is_call = None;
    for member in message.members() {
        let is_wanted = member.has_key("tool_calls")
            || *is_call.get_or_insert_with(|| super::turns::is_call(message))
                && super::turns::TEXTS.iter().any(|key| member.has_key(key));
        let said = if is_wanted { calls_in_text(member).map(opening) } else { None };
        let is_literal = || is_wanted && message.has("role") && literal::holds(member, is_calls);
        let of_content = || {
            let content = member.has_key("content").then_some(message)?;
            unread::content_in_text(content).map(opening).or_else(|| unread::carried_tools(content))
        };
        let opened = said.or_else(|| is_literal().then_some((member.id(), None))).or_else(of_content);
        // Of two members with one key, both are opened.
        found.extend(opened.map(|(id, said)| (member.id(), said.filter(|_| id == member.id()))));
        // A table has each call of a list as a text.
        if member.has_key("tool_calls") {
            found.extend(member.elements().filter_map(calls_in_text).map(opening));
        }
        // Calls in blocks of their own.
        let values = member.elements().filter(|block| super::turns::is_call_block(*block));
        let values = values.filter_map(|block| block.get("value"));
        found.extend(values.filter_map(calls_in_text).map(opening));
    }
}

/// What a string says, if it is the text of calls.
pub(crate) fn calls_in_text<'s>(value: Value<'_, 's>) -> Option<Said<'s>> {
    unread::said_in(value, is_calls)
}

pub(crate) fn holds_calls_in_text(value: Value<'_, '_>) -> bool {
    unread::in_text(value, is_calls)
}

fn is_calls(value: Value<'_, '_>) -> bool {
    let is_call = |call: Value<'_, '_>| call.is_object() && call.get_any(&["name", "function"]).is_some();
    is_call(value) || value.elements().next().is_some() && value.elements().all(is_call)
}

/// What the text of a list of messages has.
static OF_LIST: LazyLock<[Finder<'static>; 3]> =
    LazyLock::new(|| [r"role\", r"from\", "function_call"].map(Finder::new));
/// What that of an output has.
static OF_OUTPUT: LazyLock<[Finder<'static>; 2]> =
    LazyLock::new(|| [r"toolName\", r"tool_use\"].map(Finder::new));

/// What a string says, if it is the text of JSON that is as wanted.
fn with_text<'s>(value: Value<'_, 's>, is_wanted: impl Fn(Value<'_, '_>) -> bool) -> Option<Said<'s>> {
    let string = value.as_json_str().filter(|text| text.may_begin_with(b"[{"))?;
    // Most strings are ruled out by a glance. What ends with a quote goes on with the backslash of its escape.
    let has = |word: &Finder<'_>| word.find(string.raw()).is_some();
    let may_have_list = OF_LIST.iter().any(has) || may_be_output(value) && OF_OUTPUT.iter().any(has);
    may_have_list.then(|| unread::said_in(value, is_wanted))?
}

/// Whether a value may be what a span has as its output: MLflow's, the AI SDK's (`packages/ai/src/telemetry` of vercel/ai), or
/// that of an attribute of OpenTelemetry.
pub(crate) fn may_be_output(value: Value<'_, '_>) -> bool {
    // Each value is asked: its key is compared as it is written.
    matches!(
        value.plain_key(),
        Some(b"output" | b"mlflow.spanOutputs" | b"ai.response.toolCalls" | b"stringValue" | b"value")
    )
}

/// The calls in what a span has as its output, where that is no message: LangChain's handlers write the `additional_kwargs`
/// of one, and the AI SDK its content or its parts (`packages/devtools/src/middleware.ts` of vercel/ai).
pub(crate) fn calls_of_output<'d, 's>(output: Value<'d, 's>) -> impl Iterator<Item = Value<'d, 's>> {
    let is_alone = output.get_any(&["role", "object", "choices"]).is_none();
    let lists = ["tool_calls", "toolCalls", "content"].into_iter().filter_map(move |key| output.get(key));
    let is_call = |call: &Value<'_, '_>| match call.get_str("type").as_deref() {
        Some("tool_use") => call.has("input"),
        Some("function") => call.get_in(&["function", "arguments"]).is_some(),
        _ => call.has("toolName") && call.get_any(&["input", "args"]).is_some(),
    };
    let lists = lists.chain(Some(output)).filter(move |_| is_alone);
    lists.flat_map(|list| list.elements()).filter(is_call)
}

/// How deep a list of messages may be in a text.
const DEEPEST_LIST: usize = 4;
/// How many values of each object or list in a text are looked at for a list of messages.
const VALUES_LOOKED_AT: usize = 64;

fn holds_list(value: Value<'_, '_>, depth: usize) -> bool {
    if value.is_string() {
        return depth < DEEPEST_LIST && with_text(value, |inner| holds_list(inner, depth + 1)).is_some();
    }
    is_list(value)
        || depth < DEEPEST_LIST
            && value.children().take(VALUES_LOOKED_AT).any(|child| holds_list(child, depth + 1))
}
