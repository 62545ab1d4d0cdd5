//! Calls, results and tools written in a way that the chosen format does not read.
//!
//! Anything that is not read is not checked, and must not look clean. The formats use this module to report what they
//! skip: a key of a message, a block, a list of tools. The keys and types come from all formats and from common
//! frameworks.

use std::borrow::Cow;

use toolcheck_json::{Document, NodeId, Said, Value, contains};

use crate::ir::{Body, Named, Place, Transcript, Unread, UnreadKind};
use crate::names::words;

mod hidden;

pub(crate) use self::hidden::hidden;

/// Classifies a key of a message, or of a block without a type: a name of calls or results in any spelling.
fn of_key(key: &str, value: Value<'_, '_>) -> Option<UnreadKind> {
    if !may_be_called(key.as_bytes()) {
        return None;
    }
    Some(match &*letters(key) {
        "toolcalls" | "toolcall" | "functioncalls" | "functioncall" | "tooluse" | "tooluses"
        | "toolrequest" | "toolrequests" | "toolinvocations" | "intermediatesteps" => UnreadKind::Calls,
        "toolresults" | "toolresult" | "functionresponse" | "functionresponses" | "tooloutputs"
        | "toolresponses" | "toolresponse" | "functioncalloutput" => UnreadKind::Results,
        letters if letters.starts_with("tool") && holds_calls(value) => UnreadKind::Calls,
        _ => return None,
    })
}

/// Whether a list has calls as Chat Completions writes them.
fn holds_calls(list: Value<'_, '_>) -> bool {
    let is_call = |call: Value<'_, '_>| call.get_in(&["function", "arguments"]).is_some();
    list.elements().next().is_some() && list.elements().all(is_call)
}

/// The letters and digits of a name, in lower case.
fn letters(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// Classifies the type of a block, with a flag for whether the type is known.
fn of_type(kind: &str) -> Option<(UnreadKind, bool)> {
    const CALLS: [&str; 10] = words(
        "tool_use tool_call tool-call toolCall toolUse function_call functionCall custom_tool_call server_tool_use \
        mcp_tool_use",
    );
    const RESULTS: [&str; 10] = words(
        "tool_result tool-result toolResult tool_response tool_call_response function_call_output functionResponse \
        function_response custom_tool_call_output function_result",
    );
    Some(match kind {
        known if CALLS.contains(&known) => (UnreadKind::Calls, true),
        known if RESULTS.contains(&known) => (UnreadKind::Results, true),
        other if other.ends_with("_call_output") || other.ends_with("_tool_result") => {
            (UnreadKind::Results, false)
        }
        other if other.ends_with("_tool_use") || other.ends_with("_call") => (UnreadKind::Calls, false),
        _ => return None,
    })
}

/// Classifies a key of a request body that no format reads there.
fn of_body_key(key: &str) -> Option<UnreadKind> {
    const KEYS: [&str; 12] = words(
        "tools_json available_tools availableTools tool_definitions toolDefinitions tool_schemas functions_json \
        function_declarations functionDeclarations tool_list toolSpecs tool_specs",
    );
    KEYS.contains(&key).then_some(UnreadKind::Tools)
}

/// Whether a value is a non-empty string, array or object.
pub(crate) fn is_filled(value: Value<'_, '_>) -> bool {
    if let Some(text) = value.as_json_str() {
        return !text.is_empty();
    }
    value.children().next().is_some()
}

/// Calls or results under a key of a message that its format does not read.
pub(crate) fn member<'s>(value: Value<'_, 's>) -> Option<Unread<'s>> {
    let key = value.key_text()?;
    if key == "parts" {
        return value.elements().find_map(block);
    }
    // What Python prints where there are none, as Sentry's spans have it.
    let is_none = || value.as_json_str().is_some_and(|text| text.eq_str("None"));
    let is_said = || is_filled(value) && !is_none() && !is_settings(value);
    let what = of_key(&key, value).filter(|_| is_said())?;
    Some(Unread { place: Place::of(value), what, name: key, is_known: true })
}

/// Whether a value under the key of calls has what may be called, as in the runs of Toolathlon.
pub(crate) fn is_settings(value: Value<'_, '_>) -> bool {
    !value.is_array() && unwrapped(value, |value| value.has_list("tools"))
}

pub(crate) fn text_in_place_of_call<'s>(value: Value<'_, 's>) -> Option<Unread<'s>> {
    value.as_json_str().filter(|text| !text.is_empty())?;
    let (place, name) = (Place::of(value), Cow::Borrowed("tool_calls"));
    Some(Unread { place, what: UnreadKind::Calls, name, is_known: true })
}

/// A block or item with calls or results that its format does not know.
pub(crate) fn block<'s>(value: Value<'_, 's>) -> Option<Unread<'s>> {
    let place = Place::of(value);
    if let Some(kind) = value.get_str("type") {
        // A tool has the same type, and parameters.
        let is_call = kind == "function"
            && value.get("function").is_some_and(|function| function.has_all(&["name", "arguments"]));
        let (what, is_known) = if is_call { (UnreadKind::Calls, true) } else { of_type(&kind)? };
        // An unknown type counts only if other keys fit: providers have similar types for built-in searches.
        let is_like =
            || value.get_any(&["arguments", "args", "input", "call_id", "tool_use_id", "content"]).is_some();
        if !is_known && !is_like() {
            return None;
        }
        return Some(Unread { place, what, name: kind, is_known });
    }
    let found = value.members().find_map(member)?;
    Some(Unread { place, ..found })
}

pub(crate) const KINDS: [&str; 3] = ["type", "part_kind", "kind"];
/// Whether nothing is known of the kind of a part that an API returns, by its type or, where parts have none, by its keys.
pub(crate) fn is_unknown(part: Value<'_, '_>) -> bool {
    const KNOWN: [&str; 13] = words(
        "additional_tools cachePoint citationsContent compaction compaction_summary configuration_update fallback \
        item_reference mcp_list_tools mcp_tool_listing mid_conv_system reference videoMetadata",
    );
    let is_new = |kind: Cow<'_, str>| !KNOWN.contains(&&*kind);
    match part.get_str("type") {
        Some(kind) => is_new(kind),
        None => part.members().filter(|key| key.is_object()).filter_map(Value::key_text).any(is_new),
    }
}

/// What is a call in all but its type, of what was not read in a response.
pub fn unread_calls<'t, 's>(
    said: &'t Transcript<'s>,
    document: &'t Document<'_>,
) -> impl Iterator<Item = &'t Unread<'s>> {
    said.unread.iter().filter(|unread| {
        let value = document.value(unread.place.node);
        let has_id = has_any(value, &CALL_IDS) || value.has("id");
        unread.what == UnreadKind::Calls && has_id && has_any(value, &NAMES) && has_any(value, &ARGUMENTS)
    })
}

const CALL_IDS: [&str; 8] =
    ["tool_use_id", "toolUseId", "tool_call_id", "toolCallId", "call_id", "callId", "callID", "toolCallID"];
const NAMES: [&str; 6] = ["name", "tool_name", "toolName", "tool", "function", "functionName"];
const ARGUMENTS: [&str; 5] = ["input", "args", "arguments", "parameters", "rawInput"];
const OUTPUTS: [&str; 4] = ["output", "result", "response", "content"];

/// Calls of tools that a provider hosts, and what it gives of them.
const HOSTED: [&str; 5] =
    words("web_search_call file_search_call code_interpreter_call image_generation_call tool_reference");

/// Whether a type is known to be no call of a client's tool: the provider runs it, or it only tells of a call.
pub(crate) fn is_no_call(kind: &str) -> bool {
    const BEGINNINGS: [&str; 3] = ["server_tool", "mcp_", "data-"];
    const WORDS: [&str; 9] =
        ["approval", "confirm", "permission", "delta", "progress", "partial", "chunk", "summary", "_code_"];
    BEGINNINGS.iter().any(|beginning| kind.starts_with(beginning))
        || kind.ends_with("_tool_result")
        || HOSTED.contains(&kind)
        || WORDS.iter().any(|word| kind.to_ascii_lowercase().contains(word))
}

/// Classifies a type that no reader knows by the words in it: `tool_call_v2`, `toolRequestNew`.
fn of_words(kind: &str) -> Option<UnreadKind> {
    const CALLS: [&str; 7] =
        words("toolcall tooluse toolrequest toolinvocation toolexecution functioncall functioninvocation");
    const RESULTS: [&str; 8] = words(
        "toolresult toolresponse toolreturn tooloutput functionresult functionresponse calloutput callresult",
    );
    // Longer types are texts.
    if kind.len() > 64 {
        return None;
    }
    let plain = letters(kind);
    let is_one_of = |words: &[&str]| words.iter().any(|word| plain.contains(word));
    if is_one_of(&RESULTS) {
        Some(UnreadKind::Results)
    } else {
        is_one_of(&CALLS).then_some(UnreadKind::Calls)
    }
}

fn has_any(value: Value<'_, '_>, keys: &[&str]) -> bool {
    value.get_any(keys).is_some()
}

/// A part of a log or a data set that its reader does not know, if it looks like a call or a result.
///
/// A request with an unknown block has its own rules. A reader has none: what it skips would look clean.
pub(crate) fn part<'s>(value: Value<'_, 's>) -> Option<Unread<'s>> {
    if !value.is_object() {
        return None;
    }
    let kind = value.get_any(&KINDS).and_then(Value::as_str);
    if kind.as_deref().is_some_and(is_no_call) {
        return None;
    }
    if let Some(known) = block(value) {
        return Some(known);
    }
    let of_kind = kind.as_deref().and_then(of_words);
    let (has_id, is_named) = (has_any(value, &CALL_IDS), has_any(value, &NAMES));
    let has_arguments = has_any(value, &ARGUMENTS);
    let is_call = is_named && has_arguments && (has_id || value.has("id"));
    let is_result = has_id && has_any(value, &OUTPUTS) && !has_arguments;
    let what = match of_kind {
        Some(what) if is_call || is_result || is_named || has_id => what,
        // What is called may stand one level down.
        Some(what) if value.members().any(|member| member.is_object()) => what,
        Some(_) => return None,
        None if is_call => UnreadKind::Calls,
        None if is_result => UnreadKind::Results,
        None => return None,
    };
    // What has no type is named by an event, or by what it gives.
    let given = || value.get_any(if is_call { &ARGUMENTS[..] } else { &OUTPUTS })?.key_text();
    let name = kind.or_else(|| value.get_str("event")).or_else(given).unwrap_or_default();
    Some(Unread { place: Place::of(value), what, name, is_known: is_call || is_result })
}

/// A turn of a data set whose speaker its reader does not know, if it looks like a call or a result.
pub(crate) fn turn<'s>(turn: Value<'_, 's>, speaker: &str, text: Value<'_, 's>) -> Option<Unread<'s>> {
    let is_call = |value: Value<'_, '_>| has_any(value, &NAMES) && has_any(value, &ARGUMENTS);
    let holds_call = |value: Value<'_, '_>| is_call(value) || value.elements().next().is_some_and(is_call);
    let in_text = || {
        let text = text.as_str().filter(|text| text.trim_start().starts_with(['{', '[']))?;
        Some(holds_call(Document::read(text.as_bytes()).root()))
    };
    let is_called = holds_call(text) || in_text() == Some(true);
    let what = of_words(speaker).or(is_called.then_some(UnreadKind::Calls))?;
    let name = Cow::Owned(speaker.to_owned());
    Some(Unread { place: Place::of(turn), what, name, is_known: true })
}

/// The keys under which a record has its message.
const MESSAGES: [&str; 4] = ["message", "data", "payload", "item"];
/// The keys under which a message has its parts.
const PARTS: [&str; 3] = ["content", "parts", "blocks"];

/// A record of a log that its reader does not know, if it holds calls or results.
pub(crate) fn record<'s>(record: Value<'_, 's>) -> Option<Unread<'s>> {
    let inner = record.get_any(&MESSAGES).filter(|message| message.is_object());
    [Some(record), inner]
        .into_iter()
        .flatten()
        .find_map(|message| {
            let blocks = || message.get_any(&PARTS).into_iter().flat_map(|parts| parts.elements());
            let member = || message.members().find_map(called_member);
            // An event about a call names it too, but has no role.
            let is_own = |unread: &Unread<'_>| {
                unread.what == UnreadKind::Calls || of_words(&unread.name).is_some() || message.has("role")
            };
            part(message).filter(is_own).or_else(member).or_else(|| blocks().find_map(part))
        })
        .or_else(|| in_list(record))
}

/// The keys under which a request has its messages.
pub(crate) const LISTS: [&str; 3] = ["messages", "contents", "input"];
const MESSAGES_LOOKED_AT: usize = 64;

/// The first calls or results in the messages of a request among the records of a log.
fn in_list<'s>(record: Value<'_, 's>) -> Option<Unread<'s>> {
    let messages = record.get_any(&LISTS)?.elements().take(MESSAGES_LOOKED_AT);
    messages.filter(|message| message.is_object()).find_map(|message| {
        let blocks = || message.get_any(&PARTS).into_iter().flat_map(|parts| parts.elements());
        message
            .members()
            .find_map(called_member)
            .or_else(|| blocks().find_map(part))
            .or_else(|| part(message))
    })
}

/// The members of a message that hold calls or results which its reader has not read.
pub(crate) fn members<'d, 's>(message: Value<'d, 's>) -> impl Iterator<Item = Unread<'s>> + use<'d, 's> {
    let inner = message.get_any(&MESSAGES).filter(|message| message.is_object());
    [Some(message), inner]
        .into_iter()
        .flatten()
        .flat_map(|message| message.members())
        .filter(|member| member.plain_key().is_none_or(may_be_called))
        .filter_map(called_member)
}

/// Whether a key may be one of calls or results. Most are ruled out by their length or their first letter.
fn may_be_called(key: &[u8]) -> bool {
    (7..32).contains(&key.len()) && matches!(key[0] | 0x20, b't' | b'f' | b'i') || key == b"parts"
}

/// The calls or results in the event of another program that a message keeps.
pub(crate) fn raw<'s>(message: Value<'_, 's>) -> Option<Unread<'s>> {
    message.get("raw").filter(|event| event.is_object()).and_then(record)
}

/// The first calls or results that entries have beside the messages that they wrap, but for copies of what was read.
pub(crate) fn beside_messages<'d, 's: 'd>(
    entries: impl Iterator<Item = Value<'d, 's>>,
    transcript: &Transcript<'s>,
) -> Option<Unread<'s>> {
    let wraps = |entry: &Value<'_, '_>| {
        entry.get("role").is_none() && entry.get_any(&MESSAGES).is_some_and(|message| message.has("role"))
    };
    // What only counts calls is no list, and no call.
    let holds = |value: &Value<'_, '_>| value.is_array() || has_any(*value, &NAMES);
    let beside = entries.filter(wraps).flat_map(|entry| entry.members()).filter(holds);
    let found = beside.filter_map(|member| Some((called_member(member)?, member)));
    found
        .take(MESSAGES_LOOKED_AT)
        .find(|(found, list)| !is_copy(found, *list, transcript, true))
        .map(|it| it.0)
}

/// The same as [`member`], if there is an object in the value, or JSON as a text: a program may only count its calls.
fn called_member<'s>(value: Value<'_, 's>) -> Option<Unread<'s>> {
    let is_json = |text: &str| text.trim_start().starts_with(['{', '[']);
    let is_filled = || {
        value.is_object()
            || value.elements().any(|one| one.elements().next().unwrap_or(one).is_object())
            || value.as_str().is_some_and(|text| is_json(&text))
    };
    member(value).filter(|_| is_filled())
}

/// The keys under which a row has what the model answered, beside the request.
const ANSWERS: [&str; 10] =
    words("response output outputs completion reply answer choices generation generations prediction");
const ANSWER_LOOKED_AT: usize = 4096;

/// The first call in an answer beside a request. It may be a message, a list of items or a response of any API.
pub(crate) fn in_answer<'s>(value: Value<'_, 's>) -> Option<Unread<'s>> {
    let mut stack = vec![value];
    for _ in 0..ANSWER_LOOKED_AT {
        let value = stack.pop()?;
        let is_call = |found: &Unread<'_>| found.what == UnreadKind::Calls;
        if let Some(found) = value.is_object().then(|| called(value)).flatten().filter(is_call) {
            return Some(found);
        }
        let filled = value.children().filter(|child| child.children().next().is_some());
        let inside: Vec<Value<'_, '_>> = filled.take(ANSWER_LOOKED_AT).collect();
        stack.extend(inside.into_iter().rev());
    }
    None
}

/// Whether a value is a call of which only the name and the arguments are kept, as data sets have what is to be called, a list
/// of nothing else, or the text of one.
pub(crate) fn is_flat(value: Value<'_, '_>) -> bool {
    let is_call = |call: Value<'_, '_>| {
        call.get("arguments").is_some_and(|given| given.is_object() || json_of(given, b"{").is_some())
            && call.get_str("name").is_some_and(|name| !name.is_empty())
            && call.get_any(&["description", "role", "type"]).is_none()
    };
    unwrapped(value, |value| {
        is_call(value) || value.elements().next().is_some() && value.elements().all(is_call)
    })
}

/// Whether what stands beside messages for a grader is such calls, or the text of any.
pub(crate) fn is_expected(member: Value<'_, '_>) -> bool {
    is_flat(member) || in_text(member, |expected| in_answer(expected).is_some())
}

/// Such calls under a key of a row that says so: under any other, names with arguments may say how the row was made.
pub(crate) fn flat<'s>(member: Value<'_, 's>) -> Option<Unread<'s>> {
    const OF_CALLS: [&str; 10] =
        words("call tool action output response answer completion chosen generation rejected");
    let name = member.key_text().unwrap_or_default();
    let key = name.to_ascii_lowercase();
    let is_own = OF_CALLS.iter().any(|word| key.contains(word)) && is_flat(member);
    is_own.then(|| Unread { place: Place::of(member), what: UnreadKind::Calls, name, is_known: true })
}

/// The calls or results of an object: it is one, or has a key that holds some.
pub(crate) fn called<'s>(value: Value<'_, 's>) -> Option<Unread<'s>> {
    let is_one = value.get_any(&NAMES).is_some() || has_any(value, &CALL_IDS);
    let typed = || block(value).filter(|_| value.has("type") && is_one);
    value.members().find_map(called_member).or_else(typed)
}

/// The members of a request that hold tools under a key that no format reads, or calls that answer it.
pub(crate) fn body<'d, 's>(root: Value<'d, 's>) -> impl Iterator<Item = Unread<'s>> + use<'d, 's> {
    root.members().filter_map(|value| {
        let key = value.key_text()?;
        if ANSWERS.contains(&&*key) {
            return in_answer(value).or_else(|| flat(value));
        }
        let what = of_body_key(&key).filter(|_| is_filled(value))?;
        Some(Unread { place: Place::of(value), what, name: key, is_known: true })
    })
}

/// The calls or results that a row of a data set has beside its messages, but for copies of what was read.
pub(crate) fn beside<'s>(member: Value<'_, 's>, transcript: &Transcript<'s>) -> Option<Unread<'s>> {
    let in_text = || {
        let is_list = member.as_json_str().is_some_and(|text| text.may_begin_with(b"["));
        let is_unread = || transcript.counts().0 == 0 && unwrapped(member, |list| in_answer(list).is_some());
        let name = (is_list && is_unread()).then(|| member.key_text().unwrap_or_default())?;
        Some(Unread { place: Place::of(member), what: UnreadKind::Calls, name, is_known: true })
    };
    let found = called_member(member).or_else(|| in_answer(member)).or_else(in_text);
    let is_known = found.is_some();
    let found = found.or_else(|| flat(member))?;
    let value = member.document().value(found.place.node);
    let is_read = is_copy(&found, value, transcript, is_known);
    (!is_read && transcript.unread.iter().all(|unread| unread.place.node != found.place.node))
        .then_some(found)
}

/// Whether what was found is a copy of what was read. Where calls have no ids, `is_known` says that they are some whatever
/// they call.
fn is_copy(found: &Unread<'_>, value: Value<'_, '_>, transcript: &Transcript<'_>, is_known: bool) -> bool {
    let first = value.elements().next().unwrap_or(value);
    let id = first.get("id").or_else(|| first.get_any(&CALL_IDS)).and_then(Value::as_str);
    let name = first.get_str("name").filter(|_| !is_known);
    transcript.parts.iter().any(|part| match &part.body {
        Body::Call(call) => {
            let is_own =
                |own: &Option<Named<'_>>, id: &Cow<'_, str>| own.as_ref().is_some_and(|own| own.text == *id);
            id.as_ref().is_none_or(|id| is_own(&call.id, id))
                && name.as_ref().is_none_or(|name| is_own(&call.name, name))
        }
        Body::Result(_) => found.what == UnreadKind::Results,
        _ => false,
    })
}

/// The tools of a request, if its format does not read them.
pub(crate) fn tools<'s>(value: Value<'_, 's>) -> Unread<'s> {
    let name = value.key_text().unwrap_or(Cow::Borrowed("tools"));
    Unread { place: Place::of(value), what: UnreadKind::Tools, name, is_known: true }
}

pub(crate) fn is_content_in_text(message: Value<'_, '_>) -> bool {
    content_in_text(message).is_some()
}

/// What the content of a message says, if it is the text of blocks with calls or results, as a table has them, or of Mastra's
/// object with parts (`packages/core/src/agent/message-list` of mastra-ai/mastra). What a tool says may look like the blocks of
/// a model.
pub(crate) fn content_in_text<'s>(message: Value<'_, 's>) -> Option<Said<'s>> {
    let content = message.get("content")?;
    // Most contents are ruled out by their first letter.
    content.as_json_str().filter(|text| text.may_begin_with(b"[{"))?;
    let is_of_tool = message.is("role", "tool");
    // HoneyHive's exports have the blocks of Strands Agents so.
    if is_of_tool && contains(content.raw(), b"toolUseId") && message.get("tool_call_id").is_none() {
        return said_in(content, |said| said.get_in(&["toolResult", "toolUseId"]).is_some());
    }
    blocks_in_text(content, is_of_tool)
}

/// The same for a content, which may be that of a tool.
pub(crate) fn blocks_in_text<'s>(content: Value<'_, 's>, is_of_tool: bool) -> Option<Said<'s>> {
    let has = |word: &[u8]| contains(content.raw(), word);
    let is_block = |block: Value<'_, '_>| match block.get_str("type").as_deref() {
        Some("tool_use") => !is_of_tool && block.has_all(&["id", "input"]),
        Some("tool_result") => !is_of_tool && block.has("tool_use_id"),
        Some("tool-call") => !is_of_tool && block.has("toolCallId"),
        Some("tool-result") => block.has("toolCallId"),
        _ => false,
    };
    let is_part = |part: Value<'_, '_>| part.has("type");
    if !has(br#"tool"#) && !has(br#"parts\""#) {
        return None;
    }
    said_in(content, |said| match said.get("parts").filter(|_| said.has("format")) {
        Some(parts) => parts.elements().next().is_some_and(is_part),
        None => said.elements().any(is_block),
    })
}

/// What a string says, if it may be the text of JSON.
fn json_of<'s>(value: Value<'_, 's>, starts: &[u8]) -> Option<Cow<'s, str>> {
    let text = value.as_json_str().filter(|text| text.may_begin_with(starts))?.decode();
    Some(text).filter(|text| text.trim_start().starts_with(['[', '{', '"']))
}

/// Whether the content of a message is the text of ZeroClaw's object with calls, or with a result and the id of its call.
pub(crate) fn carries_tools(message: Value<'_, '_>) -> bool {
    carried_tools(message).is_some()
}

/// The same, with what the content says if it is a text.
pub(crate) fn carried_tools<'s>(message: Value<'_, 's>) -> Option<(NodeId, Option<Said<'s>>)> {
    // Most contents are ruled out by their first letter.
    let may_be = |content: &Value<'_, '_>| {
        content.as_json_str().map_or(content.is_object(), |text| text.may_begin_with(b"{"))
    };
    let content = message.get("content").filter(may_be)?;
    let has_all = |value: Value<'_, '_>, keys: &[&str]| keys.iter().all(|key| value.get(key).is_some());
    let is_wanted = |said: Value<'_, '_>| match message.get_str("role").as_deref() {
        Some("assistant") => said.list("tool_calls").any(|call| has_all(call, &["id", "name", "arguments"])),
        Some("tool") => !has_all(message, &["tool_call_id"]) && has_all(said, &["tool_call_id", "content"]),
        _ => false,
    };
    if !contains(content.raw(), b"tool_call") {
        return None;
    }
    if content.is_object() {
        return is_wanted(content).then(|| (content.id(), None));
    }
    said_in(content, is_wanted).map(|said| (content.id(), Some(said)))
}

/// Whether a string is the text of JSON that is as wanted.
pub(crate) fn in_text(value: Value<'_, '_>, is_wanted: impl Fn(Value<'_, '_>) -> bool) -> bool {
    let Some(text) = json_of(value, b"[{") else { return false };
    let document = Document::read(text.as_bytes());
    document.faults().is_empty() && is_wanted(document.root())
}

/// What such a string says.
pub(crate) fn said_in<'s>(
    value: Value<'_, 's>,
    is_wanted: impl Fn(Value<'_, '_>) -> bool,
) -> Option<Said<'s>> {
    value.as_json_str().filter(|text| text.may_begin_with(b"[{"))?;
    Said::wanted(value, is_wanted)
}

/// Calls `see` with a value, or with what it says if it is the text of JSON.
pub(crate) fn unwrapped<R>(value: Value<'_, '_>, see: impl FnOnce(Value<'_, '_>) -> R) -> R {
    let Some(text) = json_of(value, b"[{\"") else { return see(value) };
    let document = Document::read(text.as_bytes());
    let Some(inner) = document.root().as_str() else { return see(document.root()) };
    let document = Document::read(inner.as_bytes());
    see(document.root())
}
