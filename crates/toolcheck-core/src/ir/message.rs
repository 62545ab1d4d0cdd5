//! The messages of a conversation, and the parts that they hold.

use std::borrow::Cow;
use std::ops::Range;

use toolcheck_json::{Document, JsonStr, Value};

use super::{Named, Place};
use crate::text::shorten;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The application, with authority over the user.
    System,
    /// The person, or what stands for one.
    User,
    /// The model.
    Assistant,
    /// A tool, where results have messages of their own.
    Tool,
    /// A role that the format does not know.
    Unknown,
}

/// What stands in the place of a message's or result's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Content {
    /// No such key.
    #[default]
    Missing,
    /// `null`
    Null,
    /// `""`
    EmptyText,
    /// `[]`
    EmptyList,
    /// Something.
    Filled,
}

impl Content {
    /// What `value` holds.
    #[must_use]
    pub fn of(value: Option<Value<'_, '_>>) -> Self {
        let Some(value) = value else { return Self::Missing };
        if value.is_null() {
            Self::Null
        } else if value.as_json_str().is_some_and(JsonStr::is_empty) {
            Self::EmptyText
        } else if value.is_array() && value.children().next().is_none() {
            Self::EmptyList
        } else {
            Self::Filled
        }
    }
}

/// One message of the conversation.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Message<'s> {
    /// Who speaks.
    pub role: Role,
    /// The role's name in the file; `None` where there is none.
    pub role_name: Option<Named<'s>>,
    /// The whole message.
    pub place: Place,
    /// Its number in the provider's list, which its error texts print.
    pub index: u32,
    /// Its parts in [`parts`](super::Transcript::parts).
    pub parts: Range<u32>,
    /// What stands in the place of its content.
    pub content: Content,
    /// Where the content is, or the message where it is missing.
    pub content_place: Place,
    /// Where an empty list of tool calls stands.
    pub empty_calls: Option<Place>,
    /// Whether the model is asked to go on with this message (a prefill that the format marks as such).
    pub is_prefix: bool,
    /// Whether it says nothing and only sets parameters from here on.
    pub is_directive: bool,
    /// Where a training example says how much the model learns from this message.
    pub weight: Option<Place>,
    /// Whether the message has a place for the model's reasoning, with an empty text in it.
    pub has_empty_reasoning: bool,
}

impl<'s> Message<'s> {
    /// The role's name in the file, for a provider's text; `?` where there is none.
    #[must_use]
    pub fn role_text(&self) -> &str {
        Named::text_or_unknown(self.role_name.as_ref())
    }

    /// A message without parts.
    #[must_use]
    pub fn new(role: Role, value: Value<'_, 's>, index: usize) -> Self {
        Self {
            role,
            role_name: None,
            place: Place::of(value),
            index: index as u32,
            parts: 0..0,
            content: Content::Missing,
            content_place: Place::of(value),
            empty_calls: None,
            is_prefix: false,
            is_directive: false,
            weight: None,
            has_empty_reasoning: false,
        }
    }
}

/// One thing that a message holds.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Part<'s> {
    /// The whole part.
    pub place: Place,
    /// Its number in its message's list, which error texts print.
    pub index: u32,
    /// What it is.
    pub body: Body<'s>,
}

impl<'s> Part<'s> {
    /// The part that `value` is.
    #[must_use]
    pub fn new(value: Value<'_, 's>, index: usize, body: Body<'s>) -> Self {
        Self { place: Place::of(value), index: index as u32, body }
    }
}

/// A text, with the string that it is.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Text<'s> {
    /// The string.
    pub string: JsonStr<'s>,
    /// The string's place, which may be inside the part.
    pub place: Place,
}

impl<'s> Text<'s> {
    /// The text that `value` is; `None` if it is no string.
    #[must_use]
    pub fn of(value: Value<'_, 's>) -> Option<Self> {
        Some(Self { string: value.as_json_str()?, place: Place::of(value) })
    }
}

/// The kinds of part.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Body<'s> {
    /// Text that the other side reads.
    Text(Text<'s>),
    /// A call of a tool.
    Call(Call<'s>),
    /// The result of a call.
    Result(ToolResult<'s>),
    /// The model's reasoning.
    Reasoning(Reasoning<'s>),
    /// An image, a sound, a document.
    Media,
    /// Nothing: a part whose every key is missing.
    Empty,
    /// Something that this version does not know. It never fails the reading.
    Opaque,
}

/// Who carries a call out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Executor {
    /// The client, which owes a result.
    #[default]
    Client,
    /// The provider, which brings the result itself.
    Server,
}

/// What kind of tool is called; a result must be of the kind of its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ToolKind {
    /// A function with JSON arguments.
    #[default]
    Function,
    /// A function of the time before calls had ids: paired by position and name.
    LegacyFunction,
    /// A tool that takes free text.
    Custom,
    /// The screen, mouse and keyboard.
    Computer,
    /// A shell on the client's machine, in its first form.
    LocalShell,
    /// A shell.
    Shell,
    /// A patch of files.
    Patch,
    /// A search for tools.
    ToolSearch,
    /// A program that calls tools.
    Program,
    /// A person's consent to a call.
    Approval,
    /// A tool that the provider runs.
    BuiltIn,
    /// A tool of an MCP server that the provider calls.
    Mcp,
}

impl ToolKind {
    /// Whether a result of kind `result` answers a call of this kind.
    #[must_use]
    pub fn is_answered_by(self, result: Option<Self>) -> bool {
        // Clients in the field answer the first form of the shell tool and their own search for tools with a function's
        // result.
        let is_answered_by_function = matches!(self, Self::LocalShell | Self::ToolSearch);
        match result {
            Some(result) => self == result || is_answered_by_function && result == Self::Function,
            // The time before ids had a form of its own.
            None => self != Self::LegacyFunction,
        }
    }

    /// The kind in words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::LegacyFunction => "legacy function",
            Self::Custom => "custom tool",
            Self::Computer => "computer",
            Self::LocalShell => "local shell",
            Self::Shell => "shell",
            Self::Patch => "apply patch",
            Self::ToolSearch => "tool search",
            Self::Program => "program",
            Self::Approval => "approval",
            Self::BuiltIn => "built-in tool",
            Self::Mcp => "MCP tool",
        }
    }
}

impl<'s> Body<'s> {
    /// The text that `value` is, or something unknown if it is missing or no string.
    pub(crate) fn text(value: Option<Value<'_, 's>>) -> Self {
        value.and_then(Text::of).map_or(Self::Opaque, Self::Text)
    }
}

/// The arguments of a call, as they stand in the file.
#[derive(Debug, Clone, Copy)]
pub enum Arguments<'s> {
    /// No such key.
    Missing,
    /// `null`
    Null(Place),
    /// JSON written in a string.
    Text(JsonStr<'s>, Place),
    /// An object.
    Object(Place),
    /// Anything else.
    Other(Place),
}

impl<'s> Arguments<'s> {
    /// What `value` holds.
    #[must_use]
    pub fn of(value: Option<Value<'_, 's>>) -> Self {
        let Some(value) = value else { return Self::Missing };
        let place = Place::of(value);
        if value.is_null() {
            Self::Null(place)
        } else if value.is_object() {
            Self::Object(place)
        } else if let Some(text) = value.as_json_str() {
            Self::Text(text, place)
        } else {
            Self::Other(place)
        }
    }

    /// The arguments as a JSON text, which may be broken; empty where there are none.
    #[must_use]
    pub fn json(&self, document: &Document<'s>) -> Cow<'s, [u8]> {
        match *self {
            Self::Missing | Self::Null(_) => Cow::Borrowed(b""),
            Self::Text(text, _) => match text.decode() {
                Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                Cow::Owned(text) => Cow::Owned(text.into_bytes()),
            },
            Self::Object(place) | Self::Other(place) => Cow::Borrowed(document.value(place.node).raw()),
        }
    }

    /// Where the arguments stand.
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        match *self {
            Self::Missing => None,
            Self::Null(place) | Self::Text(_, place) | Self::Object(place) | Self::Other(place) => {
                Some(place)
            }
        }
    }
}

/// A call of a tool.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Call<'s> {
    /// The id that its result will name; formats that pair by position have none.
    pub id: Option<Named<'s>>,
    /// The tool's name.
    pub name: Option<Named<'s>>,
    /// The arguments.
    pub arguments: Arguments<'s>,
    /// Who carries it out.
    pub executor: Executor,
    /// What kind of tool it calls.
    pub kind: ToolKind,
    /// Whether it carries the model's signature over the reasoning that led to it.
    pub signature: Signature,
}

impl Call<'_> {
    /// Whether it calls a function of the client's, whose arguments are a JSON object.
    #[must_use]
    pub fn is_of_function(&self) -> bool {
        self.executor == Executor::Client
            && matches!(self.kind, ToolKind::Function | ToolKind::LegacyFunction)
    }

    /// The call's id in backticks, or a description if it has none, for a message.
    #[must_use]
    pub fn title(&self) -> String {
        title(self.id.as_ref(), self.name.as_ref(), "to")
    }
}

/// The result of a call.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolResult<'s> {
    /// The id of the call that it answers.
    pub call_id: Option<Named<'s>>,
    /// The tool's name, where the format repeats it.
    pub name: Option<Named<'s>>,
    /// Whether the tool failed; `None` where the format does not say.
    pub is_error: Option<bool>,
    /// What stands in the place of its content.
    pub content: Content,
    /// Where the content is.
    pub content_place: Option<Place>,
    /// Whether it holds something other than text: an image, a document.
    pub has_media: bool,
    /// The type of a block in it that never stands in a result, such as reasoning or a call.
    pub foreign: Option<&'static str>,
    /// The type of the result itself, where the format has a type for each kind of tool.
    pub block: Option<JsonStr<'s>>,
    /// Whether it holds JSON that is no object, where the format has a place for JSON.
    pub has_bare_json: bool,
    /// Who brought it.
    pub executor: Executor,
    /// What kind of tool it comes from; `None` where the format has one form for all.
    pub kind: Option<ToolKind>,
}

impl ToolResult<'_> {
    /// The id of the result's call in backticks, or a description if it has none, for a message.
    #[must_use]
    pub fn title(&self) -> String {
        title(self.call_id.as_ref(), self.name.as_ref(), "of")
    }
}

/// How messages name a call or a result: by its id, or if it has none, by its tool.
fn title(id: Option<&Named<'_>>, name: Option<&Named<'_>>, preposition: &str) -> String {
    match (id, name) {
        (Some(id), _) => format!("`{}`", shorten(&id.text)),
        (None, Some(name)) => format!("{preposition} `{}` (without an id)", shorten(&name.text)),
        (None, None) => "without an id".to_owned(),
    }
}

/// Whether reasoning carries the provider's signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Signature {
    /// No such key.
    #[default]
    Missing,
    /// `""`.
    Empty,
    /// `null`.
    Null,
    /// Something.
    Present,
}

impl Signature {
    /// What `value` holds.
    #[must_use]
    pub fn of(value: Option<Value<'_, '_>>) -> Self {
        match Content::of(value) {
            Content::Missing => Self::Missing,
            Content::EmptyText => Self::Empty,
            Content::Null => Self::Null,
            Content::EmptyList | Content::Filled => Self::Present,
        }
    }
}

/// The model's reasoning.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Reasoning<'s> {
    /// Its own id, where the provider keeps it under one.
    pub id: Option<Named<'s>>,
    /// Its signature.
    pub signature: Signature,
    /// Whether it is encrypted as a whole, so that it carries no signature of its own.
    pub is_redacted: bool,
}
