//! How the formats write what a fixed conversation needs: results, and texts in the place of results.

use std::borrow::Cow;

use toolcheck_json::edit::Piece;
use toolcheck_json::{JsonStr, NodeId, Records, Value};

use crate::ir::ToolKind;
use crate::names::words;
use crate::setters;

/// How a format writes what a fix adds.
#[derive(Debug)]
#[non_exhaustive]
pub struct FixStyle {
    /// The key of a message's list of blocks, if results are blocks; `None` if each result is a message or an item.
    pub blocks: Option<&'static str>,
    /// The keys of a message's list of calls and of its text, if calls are not blocks.
    pub calls: Option<(&'static str, &'static str)>,
    /// The keys under which a message has what the model thought or planned, as one string.
    pub thoughts: &'static [&'static str],
    /// The blocks that only a result may have, by their `type` or by the key that says what they are.
    pub only_in_results: &'static [&'static str],
    /// Whether a call or a result is the one object in a block.
    pub is_wrapped: bool,
    /// The key under which a result names its call, in the [own object](Self::own) of the result; `None` if there is none.
    pub result_id: Option<&'static str>,
    /// The key under which a call has its id, in the own object of the call; `None` if calls need none.
    pub call_id: Option<&'static str>,
    /// The key of a result's content, and the JSON of content that says that there was none.
    pub no_output: (&'static str, &'static str),
    /// Whether a message may have several texts.
    pub takes_lists: bool,
    /// Writes the result of a call that has none; `None` if there is no honest form of it.
    pub result: fn(&Missing) -> Option<Piece>,
    /// Writes a block of text, from its string.
    pub text: fn(Piece) -> Piece,
    /// A block with a picture of a `KIND` and with `DATA` in base64; `None` if there is none.
    pub picture: Option<&'static str>,
    /// The definition of a tool, with `NAME`, `ABOUT` and `SCHEMA` as JSON.
    pub tool: &'static str,
    /// Where a request has the choice of a tool, with dots between the keys.
    pub choice: &'static str,
    /// The choices that the model decides, of some tool, of none, and of the tool `NAME`; empty if there is none.
    pub choices: [&'static str; 4],
    /// Writes a message of the user with these blocks.
    pub user: fn(Vec<Piece>) -> Piece,
    /// Writes a message of the user with one text, from its string.
    pub said: fn(Piece) -> Piece,
}

impl FixStyle {
    /// What most formats and programs write: texts with a `type` in a list. There are no results.
    pub(crate) const OF_PROGRAM: Self = Self {
        blocks: None,
        calls: None,
        thoughts: &[],
        only_in_results: &[],
        is_wrapped: false,
        result_id: None,
        call_id: None,
        no_output: NO_OUTPUT,
        takes_lists: true,
        result: |_| None,
        text: typed_text,
        picture: None,
        tool: r#"{"name": NAME, "description": ABOUT, "parameters": SCHEMA}"#,
        choice: "tool_choice",
        choices: [""; 4],
        user: user_content,
        said: |text| user_content(vec![typed_text(text)]),
    };

    /// What the dialects of Chat Completions have in common.
    pub(crate) const CHAT: Self = Self {
        calls: Some(("tool_calls", "content")),
        result_id: Some("tool_call_id"),
        call_id: Some("id"),
        result: |missing| tool_message(missing, None),
        said: user_text,
        tool: r#"{"type": "function", "function": {"name": NAME, "description": ABOUT, "parameters": SCHEMA}}"#,
        choices: [
            r#""auto""#,
            r#""required""#,
            r#""none""#,
            r#"{"type": "function", "function": {"name": NAME}}"#,
        ],
        picture: Some(r#"{"type": "image_url", "image_url": {"url": "data:image/KIND;base64,DATA"}}"#),
        ..Self::OF_PROGRAM
    };

    /// The object that has the keys of a call or a result: the block, or what is in it.
    pub fn own<'d, 's>(&self, block: Value<'d, 's>) -> Value<'d, 's> {
        let inner = || block.members().find(|member| member.is_object());
        self.is_wrapped.then(inner).flatten().unwrap_or(block)
    }

    /// Whether only a result may have a block.
    pub fn is_only_in_results(&self, block: Value<'_, '_>) -> bool {
        let kind = block.get_str("type");
        let is = |name: &&str| kind.as_deref() == Some(*name) || kind.is_none() && block.get(name).is_some();
        self.only_in_results.iter().any(is)
    }
}

/// What is said of a result that became text, if it has no call.
pub const NO_CALL: &str = "whose call is not in this conversation";

/// What a result without content says.
pub const SAID_NOTHING: &str = "(no output)";

/// The content of a result that is one text.
pub(crate) const NO_OUTPUT: (&str, &str) = ("content", r#""(no output)""#);

/// A result that is missing.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Missing {
    /// The id of its call, as a string.
    pub id: Option<Piece>,
    /// The name of its tool, as a string.
    pub name: Option<Piece>,
    /// What says that a program made the call.
    pub caller: Option<Piece>,
    /// The kind of its tool.
    pub kind: ToolKind,
    /// What it says.
    pub text: String,
}

impl Missing {
    /// The result of a function.
    pub fn new(kind: ToolKind, text: impl Into<String>) -> Self {
        Self { id: None, name: None, caller: None, kind, text: text.into() }
    }

    setters! {
        /// The id of the call.
        id: Option<Piece>,
        /// The name of the tool.
        name: Option<Piece>,
        /// What says that a program made the call.
        caller: Option<Piece>,
    }

    pub(crate) fn said(&self) -> Piece {
        Piece::text(&self.text)
    }
}

/// An object with these members; those without a value are left out.
pub(crate) fn object<const N: usize>(members: [(&'static str, Option<Piece>); N]) -> Piece {
    let given = members.into_iter().filter_map(|(key, value)| Some((Cow::Borrowed(key), value?)));
    Piece::Object(given.collect())
}

/// A block of text with a `type`.
pub(crate) fn typed_text(text: Piece) -> Piece {
    Piece::object([("type", Piece::text("text")), ("text", text)])
}

pub(crate) fn user_content(content: Vec<Piece>) -> Piece {
    Piece::object([("role", Piece::text("user")), ("content", Piece::List(content))])
}

/// A message of the user with a string as its content.
pub(crate) fn user_text(text: Piece) -> Piece {
    Piece::object([("role", Piece::text("user")), ("content", text)])
}

/// A message of a tool, whose result names its call under `tool_call_id`.
pub(crate) fn tool_message(missing: &Missing, name: Option<&'static str>) -> Option<Piece> {
    if missing.kind == ToolKind::LegacyFunction {
        let name = Some(missing.name.clone()?);
        return Some(object([
            ("role", Some(Piece::text("function"))),
            ("name", name),
            ("content", Some(missing.said())),
        ]));
    }
    let id = missing.id.clone().map(|id| (Cow::Borrowed("tool_call_id"), id));
    let name = name.and_then(|key| Some((Cow::Borrowed(key), missing.name.clone()?)));
    if id.is_none() && name.is_none() {
        return None;
    }
    let mut members = vec![(Cow::Borrowed("role"), Piece::text("tool"))];
    members.extend(id.into_iter().chain(name));
    members.push((Cow::Borrowed("content"), missing.said()));
    Some(Piece::Object(members))
}

/// The result of a call that has no id, where results have the name of their tool instead.
pub fn named_message(missing: &Missing) -> Option<Piece> {
    tool_message(missing, Some("name"))
}

/// A written result with the keys of another one, whose id is this node: it may be under another key, and the results of
/// tau2-bench say as their calls do who asked for them (`ToolMessage` in `src/tau2/data_model/message.py`).
pub fn with_keys_of(result: Piece, other: Value<'_, '_>, id: NodeId, call: Value<'_, '_>) -> Piece {
    let key = other.members().find(|member| member.id() == id).and_then(Value::key_text);
    let Some(key) = key.filter(|key| key != "tool_call_id") else { return result };
    let Piece::Object(members) = result else { return result };
    let is_known = |name: &str| !matches!(name, "name" | "tool_name") || other.get(name).is_some();
    let members = members.into_iter().filter(|(name, _)| is_known(name));
    let asked_by = other.get("requestor").and_then(|_| call.get("requestor"));
    let asked_by = asked_by.map(|side| (Cow::Borrowed("requestor"), Piece::Node(side.id())));
    let renamed = members.map(|(name, value)| match &*name {
        "tool_call_id" => (Cow::Owned(key.to_string()), value),
        _ => (name, value),
    });
    Piece::Object(renamed.chain(asked_by).collect())
}

/// The keys of a result that say what it is, when it came and how it went.
const ABOUT: [&str; 12] =
    words("role type id name status success is_error isError cache_control created_at timestamp ts");

/// The JSON of a value on one line, whatever the file writes between its parts.
pub fn on_one_line(value: Value<'_, '_>) -> String {
    let raw = String::from_utf8_lossy(value.raw());
    let (mut line, mut is_in_text, mut is_escaped) = (String::with_capacity(raw.len()), false, false);
    for character in raw.chars() {
        match character {
            '"' if !is_escaped => is_in_text = !is_in_text,
            ' ' | '\t' | '\r' | '\n' if !is_in_text => continue,
            _ => {}
        }
        is_escaped = character == '\\' && !is_escaped;
        line.push(character);
        if !is_in_text && matches!(character, ',' | ':') {
            line.push(' ');
        }
    }
    line
}

/// The members of a result that are lost if only the values at `known` are kept, but for what another result has too.
pub fn beside<'d, 's>(
    result: Value<'d, 's>,
    known: &[NodeId],
    other: Option<Value<'d, 's>>,
) -> Vec<Value<'d, 's>> {
    let is_more = |member: &Value<'d, 's>| {
        let is_empty = match member.as_json_str() {
            Some(text) => text.is_empty(),
            None if member.is_object() || member.is_array() => member.children().next().is_none(),
            None => member.is_null(),
        };
        let is_known = || {
            let node = |node: &NodeId| member.span().contains(result.document().value(*node).span());
            ABOUT.iter().any(|key| member.has_key(key)) || known.iter().any(node)
        };
        let is_same = || {
            let key = member.key_text();
            let same = key.zip(other).and_then(|(key, other)| other.get(&key));
            same.is_some_and(|same| same.raw() == member.raw())
        };
        !is_empty && !is_known() && !is_same()
    };
    result.members().filter(is_more).collect()
}

/// Whether a value of a list of texts and blocks says nothing.
pub fn is_blank(block: Value<'_, '_>) -> bool {
    let text = if block.is_object() { block.get("text") } else { Some(block) };
    text.is_some_and(|text| text.as_json_str().is_some_and(JsonStr::is_blank))
}

/// The keys whose values name something: a role, a kind, a call.
const NAMES: [&str; 15] = words(
    "role type id name call_id tool_call_id tool_use_id toolUseId tool_name status is_error uuid parentUuid \
    sourceToolAssistantUUID timestamp",
);

/// The keys below which everything is what the model or a tool said.
const SAID: [&str; 9] =
    ["input", "arguments", "args", "response", "parameters", "output", "json", "data", "toolUseResult"];

/// The longest text that is taken for a name.
const LONGEST_NAME: usize = 128;

/// Whether a value may be a name: what has a space in it is something that was said.
fn is_name(value: Value<'_, '_>) -> bool {
    let raw = value.raw();
    raw.len() <= LONGEST_NAME && raw.iter().all(u8::is_ascii_graphic)
}

/// Whether a value is the list of messages or items that an API has under a key of what is said.
fn is_of_items(value: Value<'_, '_>) -> bool {
    let is_item = |item: Value<'_, '_>| {
        let kind = item.get("role").or_else(|| item.get("type"));
        kind.is_some_and(|kind| kind.is_string() && is_name(kind))
    };
    let is_list = value.is_array() && (value.has_key("input") || value.has_key("output"));
    is_list && value.elements().next().is_some() && value.elements().all(is_item)
}

/// A text of JSON without the texts, arguments and results in it, line by line as it was. Of a line that is no JSON, nothing
/// is shown.
pub fn without_values(bytes: &[u8]) -> Vec<u8> {
    if let Some(rest) = bytes.strip_prefix(BYTE_ORDER_MARK) {
        return [BYTE_ORDER_MARK, &without_values(rest)].concat();
    }
    if let Some(whole) = without_values_of_json(bytes) {
        return whole;
    }
    let mut out = Vec::with_capacity(bytes.len());
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        out.extend(without_values_of_json(line).unwrap_or_else(|| hidden(line)));
    }
    out
}

/// What a text may begin with that is no part of it.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// What stands for a text that is not shown, with its ends of lines.
fn hidden(text: &[u8]) -> Vec<u8> {
    let ends = text.iter().filter(|byte| **byte == b'\n').count();
    let text = format!("\"\u{2026} {} bytes\"{}", text.len() - ends, "\n".repeat(ends));
    text.into_bytes()
}

/// The same, if it is whole JSON.
fn without_values_of_json(bytes: &[u8]) -> Option<Vec<u8>> {
    let document = Records::new(bytes).document();
    if document.faults().iter().any(|fault| !fault.kind.is_in_text()) {
        return None;
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    // Each value with whether all of it was said.
    let mut open = vec![(document.root(), false)];
    while let Some((value, is_said)) = open.pop() {
        let is = |keys: &[&str]| keys.iter().any(|key| value.has_key(key));
        // What a tool is given has keys of its own, which may say as much as its values.
        if let Some(key) = value.key_span().filter(|_| is_said) {
            let raw = &bytes[key.range()];
            out.extend_from_slice(&bytes[at..key.start as usize]);
            out.extend_from_slice("\"\u{2026}\"".as_bytes());
            out.extend(raw.iter().filter(|byte| **byte == b'\n'));
            at = key.end as usize;
        }
        let is_said = is_said || is(&SAID) && !is_of_items(value);
        let span = value.span().range();
        if value.is_object() || value.is_array() {
            let inner: Vec<_> = value.children().collect();
            open.extend(inner.into_iter().rev().map(|child| (child, is_said)));
        } else if is_said || !(value.is_null() || is(&NAMES) && is_name(value)) {
            out.extend_from_slice(&bytes[at..span.start]);
            out.extend(hidden(&bytes[span.clone()]));
            at = span.end;
        }
    }
    out.extend_from_slice(&bytes[at..]);
    Some(out)
}

/// Whether what is under a key of a request is read by the model, so that no fix leaves it out as a setting.
pub fn says_something(key: &str) -> bool {
    const KEYS: [&str; 21] = crate::names::words(
        "cachedContent contents documents functions input inputSchema input_schema instructions messages parameters \
         parametersJsonSchema prompt promptVariables schema suffix system systemInstruction system_instruction toolConfig \
         tool_config tools",
    );
    KEYS.contains(&key)
}
