//! The one representation that every format is read into.
//!
//! Neutral words, borrowed from the source, each part with the place that it came from. It does not derive
//! `Serialize`: what leaves the program has its own versioned shape.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use toolcheck_json::{Document, JsonStr, NodeId, Span, Value};

use crate::tools::Definition;
use crate::unread::Unread;

/// A place in the document: the value it belongs to, and the bytes to point at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The value, which gives the JSON Pointer.
    pub node: NodeId,
    /// The bytes.
    pub span: Span,
}

impl Place {
    /// The whole of a value.
    #[must_use]
    pub fn of(value: Value<'_, '_>) -> Self {
        Self { node: value.id(), span: value.span() }
    }

    /// The key of a value, or the value where it has none.
    #[must_use]
    pub fn of_key(value: Value<'_, '_>) -> Self {
        Self { node: value.id(), span: value.key_span().unwrap_or(value.span()) }
    }
}

/// What a transcript is for, which decides whether it may end with a call that nothing answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TranscriptKind {
    /// A request about to be sent: it must be complete.
    #[default]
    Request,
    /// A recording: its end may be unfinished.
    Session,
    /// A training example: it may end with the calls that the model shall learn.
    Dataset,
}

impl TranscriptKind {
    /// The kinds, in the order of the documentation.
    pub const ALL: [Self; 3] = [Self::Request, Self::Session, Self::Dataset];

    /// The kind's name in reports and on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Session => "session",
            Self::Dataset => "dataset",
        }
    }
}

impl fmt::Display for TranscriptKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for TranscriptKind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.as_str() == name)
            .ok_or_else(|| format!("`{name}` is none of `request`, `session` and `dataset`"))
    }
}

/// A conversation.
#[derive(Debug, Clone)]
pub struct Transcript<'s> {
    /// The id of the format that it was read from.
    pub format: &'static str,
    /// What it is for.
    pub kind: TranscriptKind,
    /// The whole document.
    pub place: Place,
    /// The messages, in the order of the text.
    pub messages: Vec<Message<'s>>,
    /// The parts of all messages, one message after the other.
    pub parts: Vec<Part<'s>>,
    /// The tools that the request declares; `None` where it has no such list.
    pub tools: Option<Vec<ToolDef<'s>>>,
    /// The tools of a list that is not written as the format has it: as a JSON text, as a whole or each by itself, as
    /// data sets have them, or in the shape of another format.
    pub tools_in_text: Vec<Definition>,
    /// The tools that are defined among the messages, and not in the request's list.
    pub later_tools: Vec<Definition>,
    /// Where the tools stand, as a list or as anything else.
    pub tools_place: Option<Place>,
    /// Where a second list of tools stands, under the key of an older form.
    pub second_tools_place: Option<Place>,
    /// The model that the request names.
    pub model: Option<Cow<'s, str>>,
    /// Whether the document is a request body, and not only its list of messages.
    pub is_body: bool,
    /// Whether the conversation goes on from a state that the server holds, so that a result's call may be there.
    pub continues_remote_state: bool,
    /// Whether the conversation refers to items that the server holds, one of which may be a call.
    pub refers_to_stored_items: bool,
    /// Whether the request turns the model's visible reasoning on; `None` where it does not say.
    pub reasoning: Option<bool>,
    /// How the request sets the model's reasoning, where it says so.
    pub reasoning_setting: Option<ReasoningSetting>,
    /// What the request says of whether the model shall call a tool.
    pub tool_choice: Option<ToolChoice<'s>>,
    /// The application's text for the model, where it stands beside the messages.
    pub instructions: Option<Place>,
    /// The marks that divide the request for the provider's cache, in the order in which they count.
    pub cache_marks: Vec<CacheMark>,
    /// The tools that a search for tools left references to.
    pub tool_references: Vec<Named<'s>>,
    /// The blocks that add tools to the conversation or remove them.
    pub tool_changes: Vec<ToolChange<'s>>,
    /// The tools that are declared elsewhere than in the request's own list: in a namespace, in an item of the input, in
    /// the output of a search for tools. Their names are among [`Self::tool_references`] too.
    pub added_tools: Vec<ToolDef<'s>>,
    /// The first tool that the model sees only once a search has found it.
    pub deferred_tool: Option<Place>,
    /// The tool with which the model searches for deferred tools.
    pub tool_search: Option<Place>,
    /// Keys that an object needs because of another one, and does not have.
    pub missing_keys: Vec<MissingKey<'s>>,
    /// Items that must come last in the input, and do not.
    pub early_items: Vec<Place>,
    /// References inside results to parts that the results do not have.
    pub dangling_references: Vec<DanglingReference>,
    /// How much the model shall reason, in the words of the request.
    pub effort: Option<Named<'s>>,
    /// The id of the response that the request continues.
    pub previous_response: Option<Named<'s>>,
    /// The tools that are declared elsewhere than in the request's list: in a namespace, by an item of the conversation,
    /// in what a search for tools brought.
    pub tools_elsewhere: Vec<Named<'s>>,
    /// Whether there may be functions to call that the request does not show: those of a tool that this version does
    /// not know, or of a conversation that the server holds.
    pub hides_tools: bool,
    /// The calls that a program made which the provider runs.
    pub programmatic_calls: Vec<ProgrammaticCall<'s>>,
    /// Where the request names the container in which the provider runs programs.
    pub container: Option<Place>,
    /// The items of the input that have ids of their own, which do not pair calls.
    pub items: Vec<Item<'s>>,
    /// The images that are written out in the text.
    pub images: Vec<Image<'s>>,
    /// What the format passed over although it holds calls, results or tools.
    pub unread: Vec<Unread<'s>>,
    /// Which parts are documents, where the format tells them from other media. In the order of the text.
    pub documents: Vec<Place>,
    /// Which parts are signed reasoning whose text is only white space. In the order of the text.
    pub blank_reasoning: Vec<Place>,
    /// The blocks of messages that hold a file.
    pub files: Vec<Place>,
    /// Whether the format puts all results of a turn into one message (and not each into its own).
    pub batches_results: bool,
}

/// The room that one transcript leaves to the next.
#[derive(Debug, Default)]
pub struct Room<'s> {
    messages: Vec<Message<'s>>,
    parts: Vec<Part<'s>>,
}

impl<'s> Transcript<'s> {
    /// A transcript without messages.
    #[must_use]
    pub fn new(format: &'static str, root: Value<'_, 's>) -> Self {
        Self::new_in(format, root, Room::default())
    }

    /// A transcript without messages, in room that another one has left.
    #[must_use]
    pub fn new_in(format: &'static str, root: Value<'_, 's>, mut room: Room<'s>) -> Self {
        // A message takes about eight values in every format, a part about five: growing would copy what is there
        // again and again.
        let expected = root.count();
        room.messages.reserve(expected / 8);
        room.parts.reserve(expected / 5);
        Self {
            format,
            kind: TranscriptKind::default(),
            place: Place::of(root),
            messages: room.messages,
            parts: room.parts,
            tools: None,
            tools_in_text: Vec::new(),
            later_tools: Vec::new(),
            tools_place: None,
            second_tools_place: None,
            model: None,
            is_body: root.is_object(),
            continues_remote_state: false,
            refers_to_stored_items: false,
            reasoning: None,
            reasoning_setting: None,
            tool_choice: None,
            instructions: None,
            cache_marks: Vec::new(),
            tool_references: Vec::new(),
            tool_changes: Vec::new(),
            added_tools: Vec::new(),
            deferred_tool: None,
            tool_search: None,
            missing_keys: Vec::new(),
            early_items: Vec::new(),
            dangling_references: Vec::new(),
            effort: None,
            previous_response: None,
            tools_elsewhere: Vec::new(),
            hides_tools: false,
            programmatic_calls: Vec::new(),
            container: None,
            items: Vec::new(),
            images: Vec::new(),
            unread: Vec::new(),
            documents: Vec::new(),
            blank_reasoning: Vec::new(),
            files: Vec::new(),
            batches_results: false,
        }
    }

    /// Leaves its room to the next transcript.
    #[must_use]
    pub fn into_room(mut self) -> Room<'s> {
        self.messages.clear();
        self.parts.clear();
        Room { messages: self.messages, parts: self.parts }
    }

    /// The parts of a message.
    #[must_use]
    pub fn parts_of(&self, message: &Message<'s>) -> &[Part<'s>] {
        &self.parts[message.parts.start as usize..message.parts.end as usize]
    }

    /// The messages, each with its parts.
    pub fn messages_with_parts(&self) -> impl Iterator<Item = (&Message<'s>, &[Part<'s>])> + Clone {
        self.messages.iter().map(|message| (message, self.parts_of(message)))
    }

    /// Opens a message; parts pushed from here on belong to it.
    pub fn open_message(&mut self, message: Message<'s>) -> &mut Message<'s> {
        let start = self.parts.len() as u32;
        self.messages.push(Message { parts: start..start, ..message });
        self.messages.last_mut().expect("a message has just been pushed")
    }

    /// Adds a part to the last message.
    pub fn push(&mut self, part: Part<'s>) {
        self.parts.push(part);
        if let Some(message) = self.messages.last_mut() {
            message.parts.end = self.parts.len() as u32;
        }
    }

    /// How many tools the request declares; `None` where something stands in their place that is not read, so that nobody
    /// knows.
    #[must_use]
    pub fn declared_tools(&self) -> Option<usize> {
        match &self.tools {
            Some(tools) => Some(tools.len() + self.tools_in_text.len()),
            None if self.tools_in_text.is_empty() => self.tools_place.is_none().then_some(0),
            None => Some(self.tools_in_text.len()),
        }
    }

    /// How many calls and how many results there are.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        let (mut calls, mut results) = (0, 0);
        for part in &self.parts {
            calls += usize::from(matches!(part.body, Body::Call(_)));
            results += usize::from(matches!(part.body, Body::Result(_)));
        }
        (calls, results)
    }
}

/// What a request says of whether the model shall call a tool.
#[derive(Debug, Clone)]
pub struct ToolChoice<'s> {
    /// Where it says so.
    pub place: Place,
    /// What it says.
    pub wanted: Wanted<'s>,
}

/// Whether the model shall call a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted<'s> {
    /// As it likes.
    Free,
    /// None at all.
    Nothing,
    /// One of them.
    Any,
    /// This one.
    Tool(Named<'s>),
    /// In a way that needs no tool declared here, or that this version does not know.
    Other,
    /// Something that is no choice in this format.
    Invalid,
}

/// How a request sets the model's reasoning.
#[derive(Debug, Clone, Copy)]
pub struct ReasoningSetting {
    /// The setting.
    pub place: Place,
    /// What it asks for.
    pub mode: ReasoningMode,
}

/// What a request asks of the model's reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReasoningMode {
    /// Reasoning within a fixed number of tokens.
    Budget,
    /// As much as the model finds right.
    Adaptive,
    /// None.
    Off,
}

/// A block that adds a tool to the conversation or removes one.
#[derive(Debug, Clone)]
pub struct ToolChange<'s> {
    /// The block.
    pub place: Place,
    /// The number of its message in [`Transcript::messages`].
    pub message_number: u32,
    /// The declared tool that it names; `None` where it defines the tool itself.
    pub tool: Option<Named<'s>>,
}

/// A mark that divides a request for the provider's cache.
#[derive(Debug, Clone, Copy)]
pub struct CacheMark {
    /// The mark.
    pub place: Place,
    /// Whether it asks for the longer of the two lives.
    pub is_long_lived: bool,
    /// What it stands on.
    pub bearer: Bearer,
    /// The provider's numbers of the message and the block, where it stands in a message.
    pub at: Option<(u32, u32)>,
}

/// What a mark for the cache stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Bearer {
    /// A block or a tool like any other.
    #[default]
    Usual,
    /// A tool that is loaded only once the model asks for it.
    DeferredTool,
    /// A message that the provider drops again later.
    PassingMessage,
}

/// A call that a program made which the provider runs.
#[derive(Debug, Clone)]
pub struct ProgrammaticCall<'s> {
    /// Where the call stands.
    pub place: Place,
    /// The id of the provider's own call that runs the program.
    pub program: Named<'s>,
}

/// A key that an object needs because of another one, and does not have.
#[derive(Debug, Clone)]
pub struct MissingKey<'s> {
    /// Which of the cases of the rule it is.
    pub case: &'static str,
    /// The key.
    pub key: &'static str,
    /// The object without it.
    pub place: Place,
    /// The tool that the object names.
    pub name: Option<Named<'s>>,
    /// What makes the key necessary, where that stands elsewhere in the request.
    pub because: Option<Place>,
}

/// A reference inside a result to a part that the result does not have.
#[derive(Debug, Clone, Copy)]
pub struct DanglingReference {
    /// The reference.
    pub place: Place,
    /// The provider's numbers of the message and the part.
    pub at: (u32, u32),
}

/// An item of the input with an id of its own.
#[derive(Debug, Clone)]
pub struct Item<'s> {
    /// The id.
    pub id: Named<'s>,
    /// The item's type in the words of the wire format.
    pub kind: Cow<'s, str>,
    /// Its number in the input.
    pub index: u32,
}

/// An image that is written out in the text.
#[derive(Debug, Clone)]
pub struct Image<'s> {
    /// The media type that it says it is of.
    pub media_type: Named<'s>,
    /// Its bytes in Base64.
    pub data: JsonStr<'s>,
    /// The provider's numbers of the message and the block.
    pub at: (u32, u32),
}

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
pub struct Message<'s> {
    /// Who speaks.
    pub role: Role,
    /// The role's name in the file; `None` where there is none.
    pub role_name: Option<Named<'s>>,
    /// The whole message.
    pub place: Place,
    /// Its number in the provider's list, which its error texts print.
    pub index: u32,
    /// Its parts in [`Transcript::parts`].
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
        self.role_name.as_ref().map_or("?", |role| &role.text)
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

/// The kinds of part.
#[derive(Debug, Clone)]
pub enum Body<'s> {
    /// Text that the other side reads.
    Text(JsonStr<'s>),
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

/// What names something in the file, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named<'s> {
    /// The text.
    pub text: Cow<'s, str>,
    /// Where it stands.
    pub place: Place,
    /// What stands there in place of a string, where its text is only how that is written.
    pub instead: Option<Instead>,
}

/// What may stand where a string should.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Instead {
    /// `true` or `false`.
    Boolean,
    /// A whole number.
    Integer,
    /// Another number.
    Number,
    /// A list.
    Array,
    /// An object.
    Object,
}

impl Instead {
    /// What `value` is, where it is no string.
    fn of(value: Value<'_, '_>) -> Option<Self> {
        match value.raw().first()? {
            b'"' => None,
            b'[' => Some(Self::Array),
            b'{' => Some(Self::Object),
            b't' | b'f' => Some(Self::Boolean),
            _ if value.raw().iter().any(|byte| b".eE".contains(byte)) => Some(Self::Number),
            _ => Some(Self::Integer),
        }
    }

    /// It in words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Boolean => "a boolean",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }

    /// The JSON type.
    #[must_use]
    pub fn json_type(self) -> &'static str {
        match self {
            Self::Boolean => "bool",
            Self::Integer | Self::Number => "number",
            Self::Array => "array",
            Self::Object => "object",
        }
    }

    /// Whether it is short and holds nothing, so that a message may quote it.
    #[must_use]
    pub fn is_scalar(self) -> bool {
        !matches!(self, Self::Array | Self::Object)
    }
}

impl<'s> Named<'s> {
    /// The name that `value` is; `None` for `null`. What is no string is taken as written.
    #[must_use]
    pub fn of(value: Value<'_, 's>) -> Option<Self> {
        if value.is_null() {
            return None;
        }
        let place = Place::of(value);
        if let Some(text) = value.as_str() {
            return Some(Self { text, place, instead: None });
        }
        Some(Self { text: String::from_utf8_lossy(value.raw()), place, instead: Instead::of(value) })
    }
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
    /// Whether it holds a block that never stands in a result, such as reasoning or a call.
    pub has_foreign: bool,
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

/// The longest name that a message prints: a file may hold a megabyte where an id should stand.
const LONGEST_NAME: usize = 80;

/// A name for a message: one line, bounded.
#[must_use]
pub fn shorten(name: &str) -> Cow<'_, str> {
    let is_plain = name.len() <= LONGEST_NAME && !name.chars().any(is_hidden);
    if is_plain {
        return Cow::Borrowed(name);
    }
    let mut short: String =
        name.chars().take(LONGEST_NAME).flat_map(|character| character.escape_debug()).collect();
    if name.chars().nth(LONGEST_NAME).is_some() {
        short.push('\u{2026}');
    }
    Cow::Owned(short)
}

/// Whether the character hides what stands there, and so must be shown by its number: a terminal would obey a control
/// character, others change the direction of the text, and those that Unicode lets a program ignore are not seen at
/// all, though a model reads what they spell. The one that turns a sign into its emoji spells nothing.
#[must_use]
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{061C}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}')
        || matches!(
            character,
            '\u{AD}' | '\u{034F}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{3164}'
        )
        || matches!(character, '\u{180B}'..='\u{180F}' | '\u{FE00}'..='\u{FE0E}' | '\u{FEFF}' | '\u{FFA0}')
        || matches!(character, '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}')
        || matches!(character, '\u{E0000}'..='\u{E0FFF}')
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
pub struct Reasoning<'s> {
    /// Its own id, where the provider keeps it under one.
    pub id: Option<Named<'s>>,
    /// Its signature.
    pub signature: Signature,
    /// Whether it is encrypted as a whole, so that it carries no signature of its own.
    pub is_redacted: bool,
}

/// A tool that the request declares.
#[derive(Debug, Clone)]
pub struct ToolDef<'s> {
    /// The whole definition.
    pub place: Place,
    /// The tool's name; built-in tools may have none.
    pub name: Option<Named<'s>>,
    /// Where the schema of its arguments is.
    pub schema: Option<Place>,
    /// Who carries it out.
    pub executor: Executor,
    /// Its type in the words of the wire format, where it names one.
    pub kind: Option<Named<'s>>,
    /// The model that works behind it, where it names one.
    pub model: Option<Named<'s>>,
    /// Where the definition asks that calls keep to the schema exactly.
    pub strict: Option<Place>,
    /// Whether it is loaded only once the model asks for it.
    pub is_deferred: bool,
}

impl ToolDef<'_> {
    /// A tool of the client's that nothing more is known of.
    #[must_use]
    pub fn new(place: Place) -> Self {
        Self {
            place,
            name: None,
            schema: None,
            executor: Executor::Client,
            kind: None,
            model: None,
            strict: None,
            is_deferred: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_hidden() {
        // Tags and selectors spell words that a model reads; the others have no width, or turn the text.
        for hidden in "\u{1b}\u{9b}\u{7f}\n\u{ad}\u{200b}\u{202e}\u{2060}\u{2066}\u{3164}\u{fe00}\u{feff}\u{e0041}\u{e0101}".chars() {
            assert!(is_hidden(hidden), "{hidden:?}");
        }
        for seen in "aß漢 \u{a0}\u{301}\u{2764}\u{fe0f}\u{1f600}\u{fffd}".chars() {
            assert!(!is_hidden(seen), "{seen:?}");
        }
    }
}
