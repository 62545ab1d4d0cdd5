//! The messages of a conversation and their parts.

use std::borrow::Cow;
use std::ops::Range;

use toolcheck_json::{Document, JsonStr, Value};

use super::{Named, Place};
use crate::names::names;
use crate::text::shorten;

/// The role of a message's author.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The application, with authority over the user.
    System,
    /// The user, a person or a program.
    User,
    /// The model.
    Assistant,
    /// A tool, in formats that give results messages of their own.
    Tool,
    /// A role that the format does not know.
    Unknown,
}

/// The form of a message's or a result's content.
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
    /// Anything else.
    Filled,
}

impl Content {
    /// Classifies `value`.
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
    /// The role of a message's author.
    pub role: Role,
    /// The role's name in the file, if there is one.
    pub role_name: Option<Named<'s>>,
    /// The whole message.
    pub place: Place,
    /// Its index in the provider's list, as the provider's error texts print it.
    pub index: u32,
    /// Its parts in [`parts`](super::Transcript::parts).
    pub parts: Range<u32>,
    /// The form of its content.
    pub content: Content,
    /// The place of the content, or of the message if the content is missing.
    pub content_place: Place,
    /// The place of an empty list of tool calls.
    pub empty_calls: Option<Place>,
    /// Whether the model is asked to continue this message (a prefill that the format marks as one).
    pub is_prefix: bool,
    /// Whether it has no content and only sets parameters for what follows, or is in a record that is not whole: it stands
    /// between no others.
    pub is_directive: bool,
    /// Whether the agent that wrote it leaves it out of what it sends: the model's turn was aborted.
    pub is_unsent: bool,
    /// The place of the message's weight in a training example.
    pub weight: Option<Place>,
    /// Whether the message has a reasoning field with an empty text.
    pub has_empty_reasoning: bool,
}

impl<'s> Message<'s> {
    /// The role's name in the file, for a provider's text; `?` if there is none.
    pub fn role_text(&self) -> &str {
        Named::text_or_unknown(self.role_name.as_ref())
    }

    /// Whether its calls are in a list beside its content, as in Chat Completions.
    pub fn lists_calls(&self, document: &Document<'_>) -> bool {
        document.value(self.place.node).has("tool_calls")
    }

    /// Who says it: the role's name in the file, or else the role; `None` if it has no role.
    pub fn speaker(&self) -> Option<&str> {
        Some(match (&self.role_name, self.role) {
            (Some(name), _) => &name.text,
            (None, Role::System) => "system",
            (None, Role::User) => "user",
            (None, Role::Assistant) => "assistant",
            (None, Role::Tool) => "tool",
            (None, Role::Unknown) => return None,
        })
    }

    /// Whether it is a result of a tool that is sent as what somebody else said.
    pub fn is_mislabelled_result(&self) -> bool {
        let is_other = |name: &str| matches!(name, "user" | "system" | "developer" | "assistant");
        self.role == Role::Tool && self.role_name.as_ref().is_some_and(|name| is_other(&name.text))
    }

    /// A message without parts.
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
            is_unsent: false,
            weight: None,
            has_empty_reasoning: false,
        }
    }
}

/// One part of a message.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Part<'s> {
    /// The whole part.
    pub place: Place,
    /// Its index in its message's list, as error texts print it.
    pub index: u32,
    /// Its content.
    pub body: Body<'s>,
}

impl<'s> Part<'s> {
    /// The part at `value`.
    pub fn new(value: Value<'_, 's>, index: usize, body: Body<'s>) -> Self {
        Self { place: Place::of(value), index: index as u32, body }
    }

    /// The call that it is.
    pub fn call(&self) -> Option<&Call<'s>> {
        if let Body::Call(call) = &self.body { Some(call) } else { None }
    }

    /// The result that it is.
    pub fn result(&self) -> Option<&ToolResult<'s>> {
        if let Body::Result(result) = &self.body { Some(result) } else { None }
    }
}

/// A text, with its string and place.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Text<'s> {
    /// The string.
    pub string: JsonStr<'s>,
    /// The string's place, which may be inside the part.
    pub place: Place,
}

impl<'s> Text<'s> {
    /// The text at `value`; `None` if it is not a string.
    pub fn of(value: Value<'_, 's>) -> Option<Self> {
        Some(Self { string: value.as_json_str()?, place: Place::of(value) })
    }
}

/// The kinds of part.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Body<'s> {
    /// Text for the other side of the conversation.
    Text(Text<'s>),
    /// A call of a tool.
    Call(Call<'s>),
    /// The result of a call.
    Result(ToolResult<'s>),
    /// The model's reasoning.
    Reasoning(Reasoning<'s>),
    /// An image, audio or a document.
    Media,
    /// An empty part: all of its keys are missing.
    Empty,
    /// Something that this version does not know. It never makes reading fail.
    Opaque,
}

/// Who runs a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Executor {
    /// The client, which must send a result.
    #[default]
    Client,
    /// The provider, which adds the result itself.
    Server,
}

/// Why a call may be without a result, or a result without a call. Logs say so; requests never do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UnpairedReason {
    /// The call is still running, or runs in the background.
    Open,
    /// The user or an error ended the turn before there was a result.
    Aborted,
    /// The other side is not in the file, or in another conversation of it: before a compaction, or in a file of its own.
    Elsewhere,
    /// The other side may be in a record of a log that is not whole, with its fault at this offset.
    Broken(u32),
    /// The call waits for a person's consent.
    Consent,
    /// The agent wrote the result as text for the model.
    AsText,
    /// Its id was taken out of the file, so nobody can tell what it belongs to. It is not paired at all.
    UnknownId,
    /// It was taken out of the conversation later, or is in a record that is not whole, so that nothing belongs to it. It is
    /// not paired either.
    Deleted,
}

names! {
    /// The kind of a called tool. A result must have the same kind as its call.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    #[non_exhaustive]
    pub enum ToolKind {
        /// A function with JSON arguments.
        #[default]
        Function = "function",
        /// A function in the older form without call ids: paired by position and name.
        LegacyFunction = "legacy function",
        /// A tool that takes free text.
        Custom = "custom tool",
        /// The screen, mouse and keyboard.
        Computer = "computer",
        /// A shell on the client's machine, in the first version of that tool.
        LocalShell = "local shell",
        /// A shell.
        Shell = "shell",
        /// A patch to files.
        Patch = "apply patch",
        /// A search for tools.
        ToolSearch = "tool search",
        /// A program that calls tools.
        Program = "program",
        /// A person's approval of a call.
        Approval = "approval",
        /// A tool that the provider runs.
        BuiltIn = "built-in tool",
        /// A tool of an MCP server that the provider calls.
        Mcp = "MCP tool",
    }
    /// The kind's name in prose.
    name
}

impl ToolKind {
    /// Whether a result of kind `result` answers a call of this kind.
    pub fn is_answered_by(self, result: Option<Self>) -> bool {
        // In practice, clients answer the first version of the shell tool and their own tool search with a function's
        // result.
        let is_answered_by_function = matches!(self, Self::LocalShell | Self::ToolSearch);
        match result {
            Some(result) => self == result || is_answered_by_function && result == Self::Function,
            // Calls without ids have a result form of their own.
            None => self != Self::LegacyFunction,
        }
    }
}

impl<'s> Body<'s> {
    /// The text at `value`, or an unknown part if it is missing or not a string.
    pub(crate) fn text(value: Option<Value<'_, 's>>) -> Self {
        value.and_then(Text::of).map_or(Self::Opaque, Self::Text)
    }
}

/// The arguments of a call, as written in the file.
#[derive(Debug, Clone, Copy)]
pub enum Arguments<'s> {
    /// No such key.
    Missing,
    /// `null`
    Null(Place),
    /// JSON in a string.
    Text(JsonStr<'s>, Place),
    /// An object.
    Object(Place),
    /// Anything else.
    Other(Place),
}

impl<'s> Arguments<'s> {
    /// Whether there are none: no such key, or `null`.
    pub fn are_absent(&self) -> bool {
        matches!(self, Self::Missing | Self::Null(_))
    }

    /// Classifies `value`.
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

    /// The arguments as JSON text, which may be invalid; empty if there are none.
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

    /// The place of the arguments.
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
    /// Who runs it.
    pub executor: Executor,
    /// The kind of tool it calls.
    pub kind: ToolKind,
    /// The model's signature over the reasoning that led to it.
    pub signature: Signature,
    /// Why it may be without a result, if the file says so.
    pub unpaired: Option<UnpairedReason>,
}

impl<'s> Call<'s> {
    /// A call of a client's function.
    #[inline]
    pub(crate) fn new(
        id: Option<Value<'_, 's>>,
        name: Option<Value<'_, 's>>,
        arguments: Option<Value<'_, 's>>,
    ) -> Self {
        Self {
            id: id.and_then(Named::of),
            name: name.and_then(Named::of),
            arguments: Arguments::of(arguments),
            executor: Executor::Client,
            kind: ToolKind::Function,
            signature: Signature::Missing,
            unpaired: None,
        }
    }

    /// Whether it calls a client function, whose arguments are a JSON object.
    pub fn is_of_function(&self) -> bool {
        self.executor == Executor::Client
            && matches!(self.kind, ToolKind::Function | ToolKind::LegacyFunction)
    }

    /// The call's id in backticks, or a description if it has none, for a message.
    pub fn title(&self) -> String {
        title(self.id.as_ref(), self.name.as_ref())
    }
}

/// The result of a call.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolResult<'s> {
    /// The id of the call that it answers.
    pub call_id: Option<Named<'s>>,
    /// The tool's name, if the format repeats it.
    pub name: Option<Named<'s>>,
    /// Whether the tool failed; `None` if the format does not say.
    pub is_error: Option<bool>,
    /// The form of its content.
    pub content: Content,
    /// The place of the content.
    pub content_place: Option<Place>,
    /// The JSON of the content; empty if there is none.
    pub content_json: &'s [u8],
    /// The place of the JSON that it has beside its content for programs, which the tool's schema of results describes.
    pub structured: Option<Place>,
    /// Whether it contains something other than text, such as an image or a document.
    pub has_media: bool,
    /// The type of a block in it that is never valid in a result, such as reasoning or a call.
    pub foreign: Option<&'static str>,
    /// The type of the result itself, if the format has a type for each kind of tool.
    pub block: Option<JsonStr<'s>>,
    /// Whether its JSON is not an object, in formats with a field for JSON.
    pub has_bare_json: bool,
    /// Who produced it.
    pub executor: Executor,
    /// The kind of tool it comes from; `None` if the format has one form for all.
    pub kind: Option<ToolKind>,
    /// Why it may be without a call, if the file says so.
    pub unpaired: Option<UnpairedReason>,
}

impl<'s> ToolResult<'s> {
    /// Whether a client has put a text in its place to save room, as the middleware of LangChain does for old results
    /// (`ClearToolUsesEdit` in `libs/langchain_v1/langchain/agents/middleware/context_editing.py`).
    pub fn is_cleared(&self) -> bool {
        const MOST: usize = 128;
        self.content_json.len() < MOST && toolcheck_json::contains(self.content_json, b"\"[cleared]\"")
    }

    /// The result of a client's tool.
    #[inline]
    pub(crate) fn new(id: Option<Value<'_, 's>>, content: Option<Value<'_, 's>>) -> Self {
        Self {
            call_id: id.and_then(Named::of),
            name: None,
            is_error: None,
            content: Content::of(content),
            content_place: content.map(Place::of),
            content_json: content.map_or(&[], Value::raw),
            structured: None,
            has_media: false,
            foreign: None,
            block: None,
            has_bare_json: false,
            executor: Executor::Client,
            kind: None,
            unpaired: None,
        }
    }

    /// The id of the result's call in backticks, or a description if it has none, for a message.
    pub fn title(&self) -> String {
        title(self.call_id.as_ref(), self.name.as_ref())
    }
}

/// The name of a call or result in messages: its id, or its tool if it has no id.
fn title(id: Option<&Named<'_>>, name: Option<&Named<'_>>) -> String {
    match (id, name) {
        (Some(id), _) => format!("`{}`", shorten(&id.text)),
        (None, Some(name)) => format!("`{}` (no id)", shorten(&name.text)),
        (None, None) => "(no id)".to_owned(),
    }
}

/// The state of the provider's signature on reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Signature {
    /// No such key.
    #[default]
    Missing,
    /// `""`.
    Empty,
    /// `null`.
    Null,
    /// Anything else.
    Present,
}

impl Signature {
    /// Classifies `value`.
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
    /// Its id, if the provider stores it under one.
    pub id: Option<Named<'s>>,
    /// Its signature.
    pub signature: Signature,
    /// Whether it is entirely encrypted, and so has no separate signature.
    pub is_redacted: bool,
}
