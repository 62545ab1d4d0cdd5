//! The wire formats: one file each.
//!
//! Only these files know the field names of a provider. Adding a format is a file and two lines here.

mod anthropic;
mod bedrock_converse;
mod cohere;
mod gemini;
mod mistral;
mod ollama;
mod openai_chat;
mod openai_responses;

use serde_json::Value as Json;
use toolcheck_json::{Document, JsonStr, Kind, Value};

use crate::assembly::{Assembly, Completion, Locate};
use crate::conversation::{self, Assistant, Conversation, Feature, ToolOutput, Turn};
use crate::ir::{
    Buffers, Content, FormatId, Message, Named, Place, ReasoningMode, ReasoningSetting, Role, ToolDef,
    Transcript,
};
use crate::tools;
use crate::unread;

/// A wire format.
#[derive(Debug)]
#[non_exhaustive]
pub struct Format {
    /// The id on the command line and in reports.
    pub id: &'static str,
    /// The name in prose.
    pub name: &'static str,
    /// Other names that stand for the id on the command line and in the configuration.
    pub aliases: &'static [&'static str],
    /// The name of its shape. Formats of one family are dialects: a request in one can be sent to an API of another
    /// as it is, and is then read by that API's rules. Between families something translates.
    pub family: &'static str,
    /// What a record has that it is surely the format of.
    pub marks: Marks,
    /// How sure it is that a document is written in it: 0 for certainly not, 100 for certainly.
    pub sniff: for<'d, 's> fn(Value<'d, 's>) -> u8,
    /// Reads a document into the buffers of an earlier transcript.
    pub read_with: for<'d, 's> fn(Value<'d, 's>, Buffers<'s>) -> Option<Transcript<'s>>,
    /// Reads a response that came at once.
    pub(crate) answers: for<'d, 's> fn(Value<'d, 's>) -> Option<Vec<Completion<'s>>>,
    /// Reads an event of a response that is streamed.
    pub(crate) event: for<'d, 's> fn(&mut Assembly, Value<'d, 's>, &Locate<'_, 'd, 's>),
    /// Reads the reasoning that a part holds.
    pub(crate) read_reasoning: for<'d, 's> fn(Value<'d, 's>) -> conversation::Reasoning,
    /// What a request can hold of a conversation.
    pub holds: &'static [Feature],
    /// Writes a request that declares the tools of these names. It gets only what the format can hold.
    pub(crate) write_request: fn(&Conversation, &[&str]) -> Json,
    /// Writes a response that comes at once. It gets only what the format can hold.
    pub(crate) write_response: fn(&Assistant) -> Json,
}

/// What tells at a glance that a record may be of a format: one of its keys is in the record, in a message or in a
/// block, or the model has one of its names. A block of a type other than text, and a rarer role, may be of any format.
#[derive(Debug)]
pub struct Marks {
    /// Keys of a request body that other formats do not have, or not all.
    pub body: &'static [&'static str],
    /// Keys of messages and blocks that other formats do not have, or not all.
    pub message: &'static [&'static str],
    /// How the names of its own models begin.
    pub models: &'static [&'static str],
}

impl Marks {
    /// The keys that mark a format, of bodies, messages and blocks.
    pub fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.body.iter().chain(self.message).copied()
    }
}

impl Format {
    /// The names by which a transcript knows its format.
    #[must_use]
    pub const fn key(&self) -> FormatId {
        FormatId { id: self.id, family: self.family }
    }

    /// Reads a document; `None` where it holds no list of messages of this format.
    #[must_use]
    pub fn read<'s>(&self, root: Value<'_, 's>) -> Option<Transcript<'s>> {
        (self.read_with)(root, Buffers::default())
    }
}

/// All formats, by id.
pub static ALL: &[&Format] = &[
    &anthropic::FORMAT,
    &bedrock_converse::FORMAT,
    &cohere::FORMAT,
    &gemini::FORMAT,
    &mistral::FORMAT,
    &ollama::FORMAT,
    &openai_chat::FORMAT,
    &openai_responses::FORMAT,
];

/// The format of that id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Format> {
    ALL.iter().copied().find(|format| format.id == id)
}

/// The format of that id, or the one that has this alias.
#[must_use]
pub fn named(name: &str) -> Option<&'static Format> {
    find(name).or_else(|| ALL.iter().copied().find(|format| format.aliases.contains(&name)))
}

/// The ids and aliases of all formats.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|format| format.id).chain(ALL.iter().flat_map(|format| format.aliases.iter().copied()))
}

/// The text of a result's content, or that of its first block.
#[must_use]
pub fn text_of_result<'s>(content: Value<'_, 's>) -> Option<JsonStr<'s>> {
    content.as_json_str().or_else(|| content.elements().next()?.get("text").and_then(Value::as_json_str))
}

/// The list of messages of a document: the bare array, or the member of the request body with this key.
fn list_of<'d, 's>(root: Value<'d, 's>, key: &str) -> Option<Value<'d, 's>> {
    let list = if root.is_array() { Some(root) } else { root.get(key) };
    list.filter(|list| list.is_array())
}

/// The text of a string, of a block, or of a list of blocks.
pub(crate) fn text_of(value: Value<'_, '_>) -> String {
    match value.kind() {
        Kind::String => value.as_str().unwrap_or_default().into_owned(),
        Kind::Array => value.elements().map(text_of).collect(),
        Kind::Object => value.get_any(&["text", "parts", "content"]).map(text_of).unwrap_or_default(),
        _ => String::new(),
    }
}

/// All text of a result's content, whatever wraps it: tools answer in shapes of their own.
pub(crate) fn result_text(content: Value<'_, '_>) -> String {
    match content.kind() {
        Kind::String => content.as_str().unwrap_or_default().into_owned(),
        Kind::Array => content.elements().map(result_text).collect(),
        Kind::Object => {
            let is_text = |member: &Value<'_, '_>| !member.has_key("type") && !member.has_key("id");
            content.members().filter(is_text).map(result_text).collect()
        }
        _ => String::new(),
    }
}

/// Whether a block is one of those that datasets hold, whose every type has its content under one key. Providers name
/// the key by the type, and have no such messages.
fn is_of_no_provider(block: Value<'_, '_>) -> bool {
    let own_key = || block.get_str("type").is_some_and(|own| block.get(&own).is_some());
    block.get("value").is_some() && block.get("type").is_some() && !own_key()
}

/// Whether a definition of a tool has one of these keys, which other formats have.
fn has_key_of(tool: Value<'_, '_>, foreign: &[&str]) -> bool {
    tool.get_any(foreign).is_some_and(|spec| !spec.is_null())
}

/// Takes up the tools that a request declares. `tool` reads one definition, and a definition with one of the keys in
/// `foreign` is of another format.
fn declare_tools<'s>(
    transcript: &mut Transcript<'s>,
    declared: Option<Value<'_, 's>>,
    foreign: &[&str],
    tool: impl Fn(Value<'_, 's>) -> Option<ToolDef<'s>>,
) {
    let declared = declared.filter(|declared| !declared.is_null());
    transcript.request.tools.place = declared.map(Place::of);
    if let Some(tools) = declared.filter(|declared| declared.members().next().is_some()) {
        transcript.unread.push(unread::tools(tools));
        transcript.request.tools.in_text = tools::definition(tools).into_iter().collect();
        return;
    }
    let list = declared.filter(|declared| declared.is_array());
    // Data sets keep a definition as a JSON text where a table's column must have one type.
    let in_text = |value: Value<'_, 's>| value.as_str().and_then(|text| tools::read_text(&text));
    let is_foreign = |tool: Value<'_, 's>| {
        tool.as_json_str().is_some() && in_text(tool).is_none() || has_key_of(tool, foreign)
    };
    if let Some(list) = list.filter(|list| list.elements().any(is_foreign)) {
        // Whoever declares some tools in the shape of another format has still declared them: one fault is enough.
        transcript.unread.push(unread::tools(list));
        transcript.request.tools.in_text = tools::read(list).unwrap_or_default();
        return;
    }
    let mut texts = Vec::new();
    transcript.request.tools.list = list.map(|list| {
        let mut others = Vec::new();
        for value in list.elements() {
            match in_text(value) {
                Some(definition) => texts.push(definition),
                None => others.extend(tool(value)),
            }
        }
        others
    });
    if !texts.is_empty() {
        transcript.request.tools.list =
            transcript.request.tools.list.take().filter(|others| !others.is_empty());
        transcript.request.tools.in_text = texts;
    }
    if let Some((text, declared)) = declared.and_then(|declared| Some((declared.as_str()?, declared))) {
        let document = Document::read(text.as_bytes());
        match tools::read(document.root()) {
            Some(tools) => transcript.request.tools.in_text = tools,
            None if text.is_empty() => {}
            None => transcript.unread.push(unread::tools(declared)),
        }
    }
}

/// Opens a message that names its role and holds `content`. `role_of` knows the format's words for roles.
fn open_message<'s>(
    transcript: &mut Transcript<'s>,
    value: Value<'_, 's>,
    index: usize,
    content: Option<Value<'_, 's>>,
    role_of: impl Fn(Option<&str>) -> Role,
) {
    let role_name = value.get("role").and_then(Named::of);
    let role = role_of(role_name.as_ref().map(|role| &*role.text));
    let message = transcript.open_message(Message::new(role, value, index));
    message.role_name = role_name;
    message.content = Content::of(content);
    if let Some(content) = content {
        message.content_place = Place::of(content);
    }
}

/// Whether a setting with a type turns the model's reasoning on; `None` where it says nothing.
fn is_enabled(setting: Option<Value<'_, '_>>) -> Option<bool> {
    Some(setting?.get_str("type")? == "enabled")
}

/// How a setting with a type sets the model's reasoning, as far as its type is known.
fn reasoning_setting(setting: Value<'_, '_>) -> Option<ReasoningSetting> {
    let mode = match setting.get_str("type").as_deref() {
        Some("enabled") => ReasoningMode::Budget,
        Some("adaptive") => ReasoningMode::Adaptive,
        Some("disabled") => ReasoningMode::Off,
        _ => return None,
    };
    Some(ReasoningSetting { place: Place::of(setting), mode })
}

/// The role of a message in formats whose results are the user's.
fn role_of(role: Option<&str>) -> Role {
    match role {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        _ => Role::Unknown,
    }
}

/// Whether a mark for the cache asks for the long lifetime.
fn is_long_lived(mark: Value<'_, '_>) -> bool {
    mark.get_str("ttl").as_deref() == Some("1h")
}

/// Writes the turns of a conversation in a format whose results are the user's: those of one turn are one message.
/// `user` makes a message of its content, and `text` the content of a text.
fn write_turns(
    conversation: &Conversation,
    user: impl Fn(Json) -> Json,
    text: impl Fn(&str) -> Json,
    assistant: impl Fn(&Assistant) -> Json,
    result: impl Fn(&ToolOutput) -> Json,
) -> Vec<Json> {
    let message = |turn: &Turn| match turn {
        Turn::User(said) => user(text(said)),
        Turn::Assistant(said) => assistant(said),
        Turn::Results(outputs) => user(outputs.iter().map(&result).collect()),
    };
    conversation.turns.iter().map(message).collect()
}

/// Where a definition asks that calls keep to its schema exactly.
fn strict(definition: Value<'_, '_>) -> Option<Place> {
    definition.get("strict").filter(|strict| strict.as_bool() == Some(true)).map(Place::of_key)
}

/// The blocks of a message's content: a list of them, or one alone (as MCP has it).
fn blocks<'d, 's>(message: Value<'d, 's>, key: &str) -> impl Iterator<Item = Value<'d, 's>> {
    let content = message.get(key);
    let alone = content.filter(|content| content.is_object());
    alone.into_iter().chain(content.into_iter().flat_map(|content| content.elements()))
}
