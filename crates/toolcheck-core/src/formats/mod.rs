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

use toolcheck_json::{Document, Value};

use crate::exchange;
use crate::ir::{Content, Message, Named, Place, Role, Room, ToolDef, Transcript};
use crate::response::{Assembly, Locate, Said};
use crate::tools;

/// A wire format.
#[derive(Debug)]
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
    /// How sure it is that a document is written in it: 0 for certainly not, 100 for certainly.
    pub sniff: for<'d, 's> fn(Value<'d, 's>) -> u8,
    /// Reads a document into the room that another transcript has left.
    pub read_in: for<'d, 's> fn(Value<'d, 's>, Room<'s>) -> Option<Transcript<'s>>,
    /// Reads a response that came at once.
    pub(crate) answers: for<'d, 's> fn(Value<'d, 's>) -> Option<Vec<Said<'s>>>,
    /// Reads an event of a response that is streamed.
    pub(crate) event: for<'d, 's> fn(&mut Assembly, Value<'d, 's>, &Locate<'_, 'd, 's>),
}

impl Format {
    /// Reads a document; `None` where it holds no list of messages of this format.
    #[must_use]
    pub fn read<'s>(&self, root: Value<'_, 's>) -> Option<Transcript<'s>> {
        (self.read_in)(root, Room::default())
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

/// Whether two formats, by their ids, are of one family.
#[must_use]
pub fn are_dialects(one: &str, other: &str) -> bool {
    one == other || find(one).zip(find(other)).is_some_and(|(one, other)| one.family == other.family)
}

/// Finds out which format documents are written in, from what they hold.
#[derive(Debug)]
pub struct Detection {
    /// For each format of [`ALL`], how sure it is of the documents together.
    sure: Vec<u32>,
    /// How sure the surest was of one document.
    surest: u8,
}

impl Default for Detection {
    fn default() -> Self {
        Self { sure: vec![0; ALL.len()], surest: 0 }
    }
}

impl Detection {
    /// Looks at one more document.
    pub fn look(&mut self, document: &Document<'_>) {
        let Some(root) = document.root() else { return };
        match exchange::exchanges(root) {
            Some(exchanges) => {
                exchanges
                    .iter()
                    .take(EXCHANGES_LOOKED_AT)
                    .for_each(|exchange| self.look_at(exchange.request));
            }
            None => self.look_at(root),
        }
    }

    fn look_at(&mut self, root: Value<'_, '_>) {
        for (format, sum) in ALL.iter().zip(&mut self.sure) {
            let sure = (format.sniff)(root);
            *sum += u32::from(sure);
            self.surest = self.surest.max(sure);
        }
    }

    /// The format of one request where that is surely another one than `usual`: the log of a gateway holds several.
    #[must_use]
    pub fn other_than(usual: &'static Format, request: Value<'_, '_>) -> Option<&'static Format> {
        if (usual.sniff)(request) >= SURE {
            return None;
        }
        let sure = ALL.iter().map(|format| ((format.sniff)(request), *format));
        let (sure, best) = sure.max_by_key(|(sure, _)| *sure)?;
        (sure >= SURELY_OTHER && best.id != usual.id).then_some(best)
    }

    /// Whether a document has been seen that only one format writes, so that no other need be looked at.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        self.surest >= 90
    }

    /// The format with this id, where it may be it and no other is sure: a text alone is written alike in many formats,
    /// and whoever names a target knows better.
    #[must_use]
    pub fn likely(&self, id: &str) -> Option<&'static Format> {
        let index = ALL.iter().position(|format| format.id == id)?;
        (self.sure[index] > 0 && self.surest < SURE).then(|| ALL[index])
    }

    /// The format that is surest of the documents together; `None` where none recognises any.
    #[must_use]
    pub fn best(&self) -> Option<&'static Format> {
        // Of equals the first: they are equal only where no document shows a difference.
        let (index, sure) = self.sure.iter().enumerate().rev().max_by_key(|(_, sure)| **sure)?;
        (*sure > 0).then(|| ALL[index])
    }
}

/// How sure a format is of what it alone writes so.
const SURE: u8 = 40;

/// How sure a format must be of a request that stands among those of another one.
const SURELY_OTHER: u8 = 70;

/// How many exchanges of a document are looked at to recognise their format.
const EXCHANGES_LOOKED_AT: usize = 16;

/// How many messages a format looks at to recognise a document.
const MESSAGES_LOOKED_AT: usize = 200;

/// The list of messages of a document: the bare array, or the member of the request body with this key.
fn list_of<'d, 's>(root: Value<'d, 's>, key: &str) -> Option<Value<'d, 's>> {
    let list = if root.is_array() { Some(root) } else { root.get(key) };
    list.filter(|list| list.is_array())
}

/// Whether a block is one of those that datasets hold, whose every type has its content under one key. Providers name
/// the key by the type, and have no such messages.
fn is_of_no_provider(block: Value<'_, '_>) -> bool {
    let own_key = || block.get_str("type").is_some_and(|own| block.get(&own).is_some());
    block.get("value").is_some() && block.get("type").is_some() && !own_key()
}

/// Takes up the tools that a request declares. `tool` reads one definition.
fn declare_tools<'s>(
    transcript: &mut Transcript<'s>,
    declared: Option<Value<'_, 's>>,
    tool: impl Fn(Value<'_, 's>) -> Option<ToolDef<'s>>,
) {
    let declared = declared.filter(|declared| !declared.is_null());
    transcript.tools_place = declared.map(Place::of);
    let list = declared.filter(|declared| declared.is_array());
    transcript.tools = list.map(|list| list.elements().filter_map(tool).collect());
    if let Some(text) = declared.and_then(Value::as_str) {
        let document = Document::read(text.as_bytes());
        transcript.tools_in_text = document.root().and_then(tools::read).unwrap_or_default();
    }
}

/// How sure the surest message makes a format of its document, given what one message says.
fn surest_message<'d, 's>(list: Value<'d, 's>, sure: impl Fn(Value<'d, 's>) -> u8) -> u8 {
    let mut surest = 0;
    for message in list.elements().take(MESSAGES_LOOKED_AT) {
        if blocks(message, "content").any(is_of_no_provider) {
            return 0;
        }
        surest = surest.max(sure(message));
        if surest >= 90 {
            break;
        }
    }
    surest
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

/// The blocks of a message's content: a list of them, or one alone (as MCP has it).
fn blocks<'d, 's>(message: Value<'d, 's>, key: &str) -> impl Iterator<Item = Value<'d, 's>> {
    let content = message.get(key);
    let alone = content.filter(|content| content.is_object());
    alone.into_iter().chain(content.into_iter().flat_map(|content| content.elements()))
}
