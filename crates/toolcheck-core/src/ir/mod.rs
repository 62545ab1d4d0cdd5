//! The one representation that every format is read into.
//!
//! Neutral words, borrowed from the source, each part with the place that it came from. It does not derive
//! `Serialize`: what leaves the program has its own versioned shape.

mod details;
mod message;
mod place;
mod request;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use toolcheck_json::Value;

pub use details::{
    Bearer, CacheMark, DanglingReference, Image, Item, MissingKey, ProgrammaticCall, ToolChange, Unread, What,
};
pub use message::{
    Arguments, Body, Call, Content, Executor, Message, Part, Reasoning, Role, Signature, Text, ToolKind,
    ToolResult,
};
pub use place::{Instead, Named, Place};
pub use request::{ReasoningMode, ReasoningSetting, ToolChoice, ToolDef, Wanted};

use crate::tools::Definition;

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
