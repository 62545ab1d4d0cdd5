//! The wire formats, one file each.
//!
//! Only these files know the field names of a provider. Adding a format takes a file and two lines here.

pub(crate) mod anthropic;
pub(crate) mod bedrock_converse;
mod cohere;
pub(crate) mod gemini;
mod gemini_interactions;
mod mistral;
mod ollama;
pub(crate) mod openai_chat;
pub(crate) mod openai_responses;

use std::borrow::Cow;

use foldhash::HashSet;
use serde_json::{Map, Value as Json};
use toolcheck_json::{Document, JsonStr, Kind, Value};

use crate::assembly::{Assembly, Completion, Locate, ReadReasoning};
use crate::claim::is_stored;
use crate::conversation::{Assistant, Conversation, Feature, ToolOutput, Turn};
use crate::fix_style::FixStyle;
use crate::ir::{
    Buffers, Content, FormatId, Message, Named, Place, ReasoningMode, ReasoningSetting, Role, ToolDef, Tools,
    Transcript,
};
use crate::names::words;
use crate::reply::{Event, Framing, Pieces, Reply};
use crate::route::Route;
use crate::{tools, unread};

/// A wire format.
#[derive(Debug)]
#[non_exhaustive]
pub struct Format {
    /// The id on the command line and in reports.
    pub id: &'static str,
    /// The display name.
    pub name: &'static str,
    /// Other names accepted for the id on the command line and in the configuration.
    pub aliases: &'static [&'static str],
    /// The name of the format's family. Formats of one family are dialects: a request in one can be sent unchanged to
    /// an API of another, and is then checked by that API's rules. Between families, a request has to be translated.
    pub family: &'static str,
    /// The paths to which requests in this format are posted.
    pub routes: &'static [Route],
    /// Marks that suggest that a record is in this format.
    pub marks: Marks,
    /// Returns how certain it is that a document is in this format, from 0 (certainly not) to 100 (certainly).
    pub sniff: for<'d, 's> fn(Value<'d, 's>) -> u8,
    /// Reads a document, reusing the buffers of an earlier transcript.
    pub read_with: for<'d, 's> fn(Value<'d, 's>, Buffers<'s>) -> Option<Transcript<'s>>,
    /// Reads a response that was not streamed.
    pub(crate) answers: for<'d, 's> fn(Value<'d, 's>) -> Option<Vec<Completion<'s>>>,
    /// Reads an event of a streamed response.
    pub(crate) event: for<'d, 's> fn(&mut Assembly, Value<'d, 's>, &Locate<'_, 'd, 's>),
    pub(crate) read_reasoning: ReadReasoning,
    /// The features of a conversation that a request can express.
    pub holds: &'static [Feature],
    /// Writes a request that declares tools with these names. The conversation holds only what the format can express.
    pub(crate) write_request: fn(&Conversation, &[&str]) -> Json,
    /// Writes a reply as a body. What it says is only what the format can express.
    pub(crate) write_reply: fn(&Reply) -> Json,
    /// Writes a reply as the events of a stream. What it says is only what the format can express.
    pub(crate) write_events: fn(&Reply, &Pieces) -> Vec<Event>,
    /// Writes the event of an error in a stream, after this many events; `None` if none is known.
    pub(crate) write_error: Option<fn(&str, usize) -> Event>,
    /// How the events of a stream are sent.
    pub framing: Framing,
    /// How it writes what a fix adds.
    pub fix_style: &'static FixStyle,
    /// Whether servers make Chat Completions of a request before a chat template sees it.
    pub is_made_chat: bool,
    /// Whether the API keeps responses that can be asked for later.
    pub keeps_responses: bool,
    /// The keys of a request that a response repeats.
    pub(crate) repeats: &'static [&'static str],
}

/// Quick signs that a record may be in a format: one of these keys is in the record, a message or a block, or the model
/// has one of these names. A block of a type other than text, or an unusual role, may belong to any format whose
/// marks don't list it as one that says nothing.
#[derive(Debug)]
pub struct Marks {
    /// Keys of a request body that few or no other formats have.
    pub body: &'static [&'static str],
    /// Keys of messages and blocks that few or no other formats have.
    pub message: &'static [&'static str],
    /// Keys that are together in a response, or in the first piece of one, of this format and few others. None if the
    /// keys of a response do not tell.
    pub answer: &'static [&'static str],
    /// The prefixes of the provider's own model names.
    pub models: &'static [&'static str],
    /// Whether many providers speak the format, each with models of its own.
    pub is_shared: bool,
    /// Unusual roles and types that nothing is sure of the format by, because others have them.
    pub says_nothing: &'static [&'static str],
}

/// The roles of Chat Completions, and the types of its tools and pictures.
const OF_CHAT: [&str; 4] = ["tool", "developer", "function", "image_url"];

impl Marks {
    /// All keys that mark the format, in bodies, messages and blocks.
    pub fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.body.iter().chain(self.message).copied()
    }

    /// Whether a response has the keys that show the format.
    pub fn shows_answer(&self, response: Value<'_, '_>) -> bool {
        !self.answer.is_empty() && self.answer.iter().all(|key| response.get(key).is_some())
    }

    /// Whether the provider has a model of this name.
    pub fn has_model(&self, name: &str) -> bool {
        self.models.iter().any(|prefix| name.starts_with(prefix))
    }

    /// Whether a model without one of the names is hardly one that the format is spoken with.
    pub fn has_own_models_only(&self) -> bool {
        !self.models.is_empty() && !self.is_shared
    }
}

impl Format {
    /// The id and family by which a transcript identifies its format.
    pub const fn key(&self) -> FormatId {
        FormatId { id: self.id, family: self.family }
    }

    /// Reads a document; `None` if it has no list of messages in this format.
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
    &gemini_interactions::FORMAT,
    &mistral::FORMAT,
    &ollama::FORMAT,
    &openai_chat::FORMAT,
    &openai_responses::FORMAT,
];

/// The format of the messages that chat templates read.
pub fn of_templates() -> &'static Format {
    &openai_chat::FORMAT
}

/// The format of the API that signs calls.
pub(crate) fn of_signed_calls() -> &'static Format {
    &gemini::FORMAT
}

/// Returns the format with this id.
pub fn find(id: &str) -> Option<&'static Format> {
    ALL.iter().copied().find(|format| format.id == id)
}

/// Returns the format with this id or alias.
pub fn named(name: &str) -> Option<&'static Format> {
    find(name).or_else(|| ALL.iter().copied().find(|format| format.aliases.contains(&name)))
}

/// The ids and aliases of all formats.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|format| format.id).chain(ALL.iter().flat_map(|format| format.aliases.iter().copied()))
}

/// The text of a result's content, or of its first block.
pub fn text_of_result<'s>(content: Value<'_, 's>) -> Option<JsonStr<'s>> {
    content.as_json_str().or_else(|| content.elements().next()?.get("text").and_then(Value::as_json_str))
}

/// The list of messages in a document: the bare array, or the member of the request body with this key.
fn list_of<'d, 's>(root: Value<'d, 's>, key: &str) -> Option<Value<'d, 's>> {
    let list = if root.is_array() { Some(root) } else { root.get(key) };
    list.filter(|list| list.is_array())
}

/// The messages by which a format with `messages` is recognised.
fn messages_of<'d, 's>(root: Value<'d, 's>) -> Option<Value<'d, 's>> {
    list_of(root, "messages").filter(|_| !root.is_object() || !is_stored(root))
}

/// Whether one key of a body that only this format has is the mistake: the model is plainly another provider's.
fn is_stray(root: Value<'_, '_>, own: &[&str], format: &Format) -> bool {
    let model = root.get_str("model").unwrap_or_default();
    let is_of_other = |other: &&Format| other.id != format.id && other.marks.has_model(&model);
    own.iter().filter(|key| root.has(key)).count() == 1 && ALL.iter().any(is_of_other)
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

/// How the text of a string is read.
pub(crate) type Decode = for<'s> fn(JsonStr<'s>) -> Cow<'s, str>;

/// What a result says: its text, also from blocks, or its JSON if it is data. Images and files have no text.
pub(crate) fn result_text(content: Value<'_, '_>, decode: Decode) -> String {
    /// Under what blocks, and objects around a result, keep it.
    const KEYS: [&str; 10] =
        ["text", "output", "error", "result", "content", "json", "value", "document", "resource", "data"];
    let is_file = |held: Value<'_, '_>| held.get_any(&["source", "mimeType", "mime_type"]).is_some();
    let is_block =
        |held: Value<'_, '_>| held.is_object() && (held.has("type") || held.members().nth(1).is_none());
    match content.kind() {
        Kind::Null | Kind::Invalid => String::new(),
        Kind::String => content.as_json_str().map(decode).unwrap_or_default().into_owned(),
        Kind::Array if content.elements().all(is_block) => {
            content.elements().map(|block| result_text(block, decode)).collect()
        }
        // What a document says is beside its id.
        Kind::Object if is_block(content) => match content
            .get_any(&KEYS)
            .map(|held| held.get("data").filter(|_| held.has_key("document")).unwrap_or(held))
        {
            Some(said) if !is_file(content) && !is_file(said) => result_text(said, decode),
            None if !content.children().all(Value::is_object) && content.get("type").is_none() => {
                json(content).to_string()
            }
            _ => String::new(),
        },
        _ => json(content).to_string(),
    }
}

/// A value of a document as `serde_json` has it.
pub(crate) fn json(value: Value<'_, '_>) -> Json {
    match value.kind() {
        Kind::Bool => Json::Bool(value.as_bool().unwrap_or_default()),
        Kind::Number => serde_json::from_slice(value.raw()).unwrap_or_default(),
        Kind::String => Json::String(value.as_str().unwrap_or_default().into_owned()),
        Kind::Array => value.elements().map(json).collect(),
        Kind::Object => Json::Object(object(value)),
        Kind::Null | Kind::Invalid => Json::Null,
    }
}

/// An object of a document as `serde_json` has it.
pub(crate) fn object(value: Value<'_, '_>) -> Map<String, Json> {
    value.members().filter_map(|member| Some((member.key_text()?.into_owned(), json(member)))).collect()
}

/// Whether a block is in a form that only datasets use, where blocks of every type keep their content under the same
/// key. Providers name that key after the type.
pub(crate) fn is_of_no_provider(block: Value<'_, '_>) -> bool {
    let own_key = || block.get_str("type").is_some_and(|own| block.get(&own).is_some());
    block.has_all(&["value", "type"]) && !own_key()
}

/// Whether one of the first tools of a body is defined under this key.
fn declares(root: Value<'_, '_>, key: &str) -> bool {
    root.list("tools").take(8).any(|tool| tool.get(key).is_some())
}

/// Whether a tool definition has one of these keys, which belong to other formats.
fn has_key_of(tool: Value<'_, '_>, foreign: &[&str]) -> bool {
    tool.get_any(foreign).is_some_and(|spec| !spec.is_null())
}

/// No more tools of a request are held.
pub(super) const MOST_TOOLS: usize = 1 << 16;

/// Whether a list has more tools than are held.
fn has_more_tools(list: Value<'_, '_>) -> bool {
    list.elements().nth(MOST_TOOLS).is_some()
}

/// Adds the tools that a request declares. `tool` reads one definition; a definition with one of the keys in `foreign`
/// is in another format.
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
    // Datasets store a definition as a string of JSON if a table's column must have a single type.
    let in_text = |value: Value<'_, 's>| value.as_str().and_then(|text| tools::read_text(&text, |_| None));
    let is_foreign =
        |tool: Value<'_, 's>| tool.is_string() && in_text(tool).is_none() || has_key_of(tool, foreign);
    if let Some(list) = list.filter(|list| list.elements().any(is_foreign)) {
        // Tools declared in the shape of another format are still declared: one finding is enough.
        transcript.unread.push(unread::tools(list));
        transcript.request.tools.in_text = tools::read(list).unwrap_or_default();
        return;
    }
    let mut texts = Vec::new();
    transcript.request.tools.list = list.map(|list| {
        let mut others = Vec::new();
        for value in list.elements().take(MOST_TOOLS) {
            match in_text(value) {
                Some(definition) => texts.push(definition),
                None => others.extend(tool(value)),
            }
        }
        others
    });
    transcript.request.tools.hides_some |= list.is_some_and(has_more_tools);
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

/// The first of these names that no declared tool has; `None` if all are declared, or not all tools are known.
fn undeclared<'s>(names: Option<Value<'_, 's>>, tools: &Tools<'s>) -> Option<Named<'s>> {
    let declared = tools.list.as_ref().filter(|_| !tools.hides_some && tools.in_text.is_empty())?;
    let declared: HashSet<&str> =
        declared.iter().filter_map(|tool| Some(&*tool.name.as_ref()?.text)).collect();
    names?.elements().filter_map(Named::of).find(|name| !declared.contains(&*name.text))
}

/// Opens a message with a `role` member and `content`. `role_of` maps the format's names of roles.
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

/// Whether a setting with a `type` turns on the model's reasoning; `None` if it does not say.
fn is_enabled(setting: Option<Value<'_, '_>>) -> Option<bool> {
    Some(setting?.get_str("type")? == "enabled")
}

/// Reads a reasoning setting with a `type`; `None` if the type is unknown.
fn reasoning_setting(setting: Value<'_, '_>) -> Option<ReasoningSetting> {
    let mode = match setting.get_str("type").as_deref() {
        Some("enabled") => ReasoningMode::Budget,
        Some("adaptive") => ReasoningMode::Adaptive,
        Some("disabled") => ReasoningMode::Off,
        _ => return None,
    };
    Some(ReasoningSetting { place: Place::of(setting), mode })
}

/// The role of a message in formats that send results in user messages.
fn role_of(role: Option<&str>) -> Role {
    match role {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        _ => Role::Unknown,
    }
}

/// The role of a message in formats that give results messages of their own.
pub(crate) fn role_in_chat(role: Option<&str>) -> Role {
    match role {
        Some("tool") => Role::Tool,
        other => role_of(other),
    }
}

/// The setting that asks for an answer in JSON, if none of what is said to the model under these keys has the word.
fn unsaid_json(format: Value<'_, '_>, root: Value<'_, '_>, keys: &[&str]) -> Option<Place> {
    let kind = format.get("type")?;
    let asks = kind.as_json_str().is_some_and(|kind| kind.eq_str("json_object"));
    // A prompt that the server keeps may have the word.
    if !asks || root.get("prompt").is_some_and(|prompt| !prompt.is_null()) {
        return None;
    }
    // A letter may be written as an escape.
    let is_word = |text: &[u8]| text.eq_ignore_ascii_case(b"json") || text == br"\u00";
    let mut said = keys.iter().filter_map(|key| root.get(key)).peekable();
    let is_unsaid = said.peek().is_some() && !said.any(|value| value.raw().windows(4).any(is_word));
    is_unsaid.then(|| Place::of(kind))
}

/// Where requests of any format have the schema of their answer, as an object or as its text.
const ANSWER_SCHEMAS: [&str; 12] = words(
    "text.format.schema response_format.json_schema.schema response_format.json_schema response_format.schema \
    output_config.format.schema output_format.schema generationConfig.responseSchema \
    generationConfig.responseJsonSchema generationConfig._responseJsonSchema \
    generationConfig.responseFormat.text.schema outputConfig.textFormat.structure.jsonSchema.schema format",
);

/// Where requests of any format ask for JSON of any kind.
const JSON_MODES: [&str; 4] =
    ["text.format.type", "response_format.type", "generationConfig.responseMimeType", "format"];

/// The schema that the answer to a request is to fit, be it strict or not: one of any object, if it only is to be JSON.
pub fn answer_schema(root: Value<'_, '_>) -> Option<Json> {
    let at = |path: &&str| path.split('.').try_fold(root, |value, key| value.get(key));
    let schema = |value| match json(value) {
        Json::String(text) => serde_json::from_str(&text).ok().filter(Json::is_object),
        other => Some(other).filter(Json::is_object),
    };
    let is_json = |mode: Value<'_, '_>| {
        mode.as_str().is_some_and(|mode| matches!(&*mode, "json_object" | "application/json" | "json"))
    };
    let any = || JSON_MODES.iter().filter_map(at).any(is_json).then(|| serde_json::json!({"type": "object"}));
    ANSWER_SCHEMAS.iter().filter_map(at).find_map(schema).or_else(any)
}

/// Whether a cache mark asks for the longer of the two lifetimes; `None` if it asks for neither.
fn is_long_lived(mark: Value<'_, '_>) -> Option<bool> {
    match mark.get("ttl").filter(|ttl| !ttl.is_null()) {
        None => Some(false),
        Some(ttl) => match ttl.as_str().as_deref() {
            Some("1h") => Some(true),
            Some("5m") => Some(false),
            _ => None,
        },
    }
}

/// Writes the turns of a conversation in a format that sends results in user messages: the results of one turn share a
/// message. `user` makes a message from its content, and `text` makes content from a string.
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

/// The place of a definition's `strict: true`, which requires calls to match its schema exactly.
fn strict(definition: Value<'_, '_>) -> Option<Place> {
    definition.get("strict").filter(|strict| strict.as_bool() == Some(true)).map(Place::of_key)
}

/// The blocks of a message's content: a list, or a single block (as in MCP).
fn blocks<'d, 's>(message: Value<'d, 's>, key: &str) -> impl Iterator<Item = Value<'d, 's>> {
    let content = message.get(key);
    let alone = content.filter(|content| content.is_object());
    alone.into_iter().chain(content.into_iter().flat_map(|content| content.elements()))
}
