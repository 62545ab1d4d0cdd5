//! The common representation that every format is read into.
//!
//! It uses provider-neutral terms, borrows from the source, and keeps the place of each part. It does not derive
//! `Serialize`: output has its own versioned shape.

mod contents;
mod details;
mod message;
mod place;
mod request;

use toolcheck_json::{NodeId, Value};

use crate::names::names;

pub use contents::Contents;
pub use details::{
    AutomaticCacheMark, BlankInstructions, CacheMark, CacheMarkTarget, DanglingReference, Details, Image,
    Item, Malformation, MalformedTextCall, MisplacedEvent, Misplacement, MissingKey, ProgrammaticCall,
    Unread, UnreadKind, WrongValue,
};
pub use message::{
    Arguments, Body, Call, Content, Executor, Message, Part, Reasoning, Role, Signature, Text, ToolKind,
    ToolResult, UnpairedReason,
};
pub use place::{Instead, Named, Place};
pub use request::{
    ReasoningMode, ReasoningSetting, Request, ToolChange, ToolChoice, ToolChoiceMode, ToolDef, Tools,
};

names! {
    /// What a transcript is for. This decides whether it may end with an unanswered call.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    #[non_exhaustive]
    pub enum TranscriptKind {
        /// A request about to be sent: it must be complete.
        #[default]
        Request = "request",
        /// A recording: its end may be unfinished.
        Session = "session",
        /// A training example: it may end with the calls that the model should learn.
        Dataset = "dataset",
    }
    /// The kind's name in reports and on the command line.
    as_str, "not one of `request`, `session` and `dataset`"
}

/// The format that a transcript was read from, by its names in the table of formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct FormatId {
    /// The id of the format.
    pub id: &'static str,
    /// The name of its shape, which dialects share.
    pub family: &'static str,
}

/// Where a record of a log is lost that the next one names: an agent goes back no further than there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gap {
    /// The number of the first message behind it.
    pub message: usize,
    /// The id of the record that is lost, where the record behind it names it.
    pub lost: NodeId,
    /// The id of the last record before it.
    pub before: NodeId,
}

/// A conversation, with the request that it is part of.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Transcript<'s> {
    /// The format that it was read from; `None` if no format matched, in which case it is empty.
    pub format: Option<FormatId>,
    /// What it is for.
    pub kind: TranscriptKind,
    /// The whole document.
    pub place: Place,
    /// The messages, in document order.
    pub messages: Vec<Message<'s>>,
    /// The parts of all messages, one message after the other. [`push`](Self::push) adds to them.
    pub parts: Vec<Part<'s>>,
    /// Whether the document is a whole request body, rather than only a list of messages.
    pub is_body: bool,
    /// Whether it is a body without a list of messages: the list is missing or cannot be read, or it is empty because a
    /// stored prompt has them.
    pub lacks_messages: bool,
    /// Whether the format puts all results of a turn into one message, rather than each into its own.
    pub batches_results: bool,
    /// The id of the agent that sends it next, if it was put together from a log by the rules of that agent: what the log
    /// has elsewhere is missing from the request.
    pub sent_next_by: Option<&'static str>,
    /// The id of the target that it is sent to next, if that is known.
    pub sent_next_to: Option<&'static str>,
    /// Where records are lost, in order: the agent sends what is behind the last of them.
    pub gaps: Vec<Gap>,
    /// The request, apart from its messages.
    pub request: Request<'s>,
    /// Details that only some formats have and only some rules check.
    pub details: Details<'s>,
    /// What the format skipped although it contains calls, results or tools.
    pub unread: Vec<Unread<'s>>,
    /// The first message or part that is not held, as there are too many.
    pub left_out: Option<Place>,
    /// The message that was opened last, if it is not held.
    spare: Option<Box<Message<'s>>>,
    of_parts: Contents,
    /// The number of calls and the number of results.
    pub(crate) counts: (usize, usize),
}

/// No more messages and no more parts are held, as each takes a hundred times as much as the element of a list may take in a
/// file.
pub const MOST_HELD: usize = 1 << 19;

/// Buffers reused from one transcript to the next.
#[derive(Debug, Default)]
pub struct Buffers<'s> {
    messages: Vec<Message<'s>>,
    parts: Vec<Part<'s>>,
}

impl<'s> Transcript<'s> {
    /// A transcript without messages.
    pub fn new(format: FormatId, root: Value<'_, 's>) -> Self {
        Self::with_buffers(format, root, Buffers::default())
    }

    /// A transcript without messages, in the buffers of an earlier one.
    pub(crate) fn with_buffers(format: FormatId, root: Value<'_, 's>, buffers: Buffers<'s>) -> Self {
        Self::with(Some(format), root, buffers)
    }

    /// A transcript of a body without messages.
    pub fn without_messages(format: FormatId, root: Value<'_, 's>) -> Self {
        Self { lacks_messages: true, ..Self::new(format, root) }
    }

    /// A transcript without messages that is one of the conversations of a file.
    pub fn of_conversation(format: FormatId, root: Value<'_, 's>) -> Self {
        Self { is_body: false, ..Self::with_room(Some(format), root, Buffers::default(), 0) }
    }

    /// An empty transcript of a document that no format knows.
    pub fn unrecognised(root: Value<'_, 's>) -> Self {
        Self::with(None, root, Buffers::default())
    }

    fn with(format: Option<FormatId>, root: Value<'_, 's>, buffers: Buffers<'s>) -> Self {
        Self::with_room(format, root, buffers, root.count())
    }

    /// A transcript with room for the messages that so many values usually are.
    fn with_room(
        format: Option<FormatId>,
        root: Value<'_, 's>,
        mut buffers: Buffers<'s>,
        expected: usize,
    ) -> Self {
        // A message takes about eight values in every format, a part about five. Reserving avoids copying as the
        // buffers grow.
        buffers.messages.reserve(expected / 8);
        buffers.parts.reserve(expected / 5);
        Self {
            format,
            kind: TranscriptKind::default(),
            place: Place::of(root),
            messages: buffers.messages,
            parts: buffers.parts,
            is_body: root.is_object(),
            lacks_messages: false,
            batches_results: false,
            sent_next_by: None,
            sent_next_to: None,
            gaps: Vec::new(),
            request: Request::default(),
            details: Details::default(),
            unread: Vec::new(),
            left_out: None,
            spare: None,
            of_parts: Contents::ANYTHING,
            counts: (0, 0),
        }
    }

    /// Returns its buffers, for the next transcript.
    pub fn into_buffers(mut self) -> Buffers<'s> {
        self.messages.clear();
        self.parts.clear();
        Buffers { messages: self.messages, parts: self.parts }
    }

    /// The number of the first message that an agent sends next.
    pub fn first_sent(&self) -> usize {
        self.gaps.last().map_or(0, |gap| gap.message)
    }

    /// The parts of a message.
    pub fn parts_of(&self, message: &Message<'s>) -> &[Part<'s>] {
        &self.parts[message.parts.start as usize..message.parts.end as usize]
    }

    /// The messages, each with its parts.
    pub fn messages_with_parts(&self) -> impl Iterator<Item = (&Message<'s>, &[Part<'s>])> + Clone {
        self.messages.iter().map(|message| (message, self.parts_of(message)))
    }

    /// All parts, each with its message and the number of that.
    pub fn sites(&self) -> impl Iterator<Item = (usize, &Message<'s>, &Part<'s>)> {
        let of_messages = self.messages_with_parts().enumerate();
        of_messages
            .flat_map(|(number, (message, parts))| parts.iter().map(move |part| (number, message, part)))
    }

    /// Opens a message; parts pushed from here on belong to it.
    pub fn open_message(&mut self, message: Message<'s>) -> &mut Message<'s> {
        if self.messages.len() >= MOST_HELD {
            self.left_out.get_or_insert(message.place);
            return self.spare.insert(Box::new(message));
        }
        let start = self.parts.len() as u32;
        self.messages.push(Message { parts: start..start, ..message });
        self.messages.last_mut().expect("a message has just been pushed")
    }

    /// Adds a part to the last message.
    pub fn push(&mut self, part: Part<'s>) {
        if self.spare.is_some() || self.parts.len() >= MOST_HELD {
            self.left_out.get_or_insert(part.place);
            return;
        }
        self.of_parts = self.of_parts.and(Contents::of_part(&part.body));
        self.counts.0 += usize::from(matches!(part.body, Body::Call(_)));
        self.counts.1 += usize::from(matches!(part.body, Body::Result(_)));
        self.parts.push(part);
        if let Some(message) = self.messages.last_mut() {
            message.parts.end = self.parts.len() as u32;
        }
    }

    /// Takes the messages from a number on away, with their parts.
    pub(crate) fn split_off(&mut self, message: usize) -> Vec<(Message<'s>, Vec<Part<'s>>)> {
        let Some(first) = self.messages.get(message) else { return Vec::new() };
        let mut parts = self.parts.split_off(first.parts.start as usize).into_iter();
        let messages = self.messages.split_off(message).into_iter();
        let taken = messages.map(|message| {
            let parts = parts.by_ref().take(message.parts.len()).collect();
            (message, parts)
        });
        let taken = taken.collect();
        let count = |is: fn(&Body<'_>) -> bool| self.parts.iter().filter(|part| is(&part.body)).count();
        self.counts =
            (count(|body| matches!(body, Body::Call(_))), count(|body| matches!(body, Body::Result(_))));
        taken
    }

    pub(crate) fn append(&mut self, messages: Vec<(Message<'s>, Vec<Part<'s>>)>) {
        for (message, parts) in messages {
            let index = self.messages.len() as u32;
            self.open_message(Message { index, ..message });
            parts.into_iter().for_each(|part| self.push(part));
        }
    }

    /// The ids of its calls, in their order.
    pub fn call_ids(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| Some(&*part.call()?.id.as_ref()?.text))
    }

    /// The ids that its results name, in their order.
    pub fn result_ids(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| Some(&*part.result()?.call_id.as_ref()?.text))
    }

    /// The number of calls and the number of results.
    pub fn counts(&self) -> (usize, usize) {
        self.counts
    }

    /// What the transcript contains.
    pub fn contents(&self) -> Contents {
        self.of_parts
            .and_if(!self.details.files.is_empty() || !self.details.images.is_empty(), Contents::MEDIA)
            .and_if(!self.request.tools.is_empty(), Contents::TOOLS)
            .and_if(self.request.has_parameters(), Contents::PARAMETERS)
            .and_if(!self.details.items.is_empty(), Contents::ITEMS)
            .and_if(self.request.previous_response.is_some(), Contents::ITEMS)
            .and_if(
                self.request.continues_remote_state || !self.details.stored_items.is_empty(),
                Contents::KEPT,
            )
            .and_if(!self.details.cache_marks.is_empty(), Contents::CACHE_MARKS)
            .and_if(!self.details.blank_instructions.is_empty(), Contents::TEXT)
            .and_if(!self.details.filled_forms.is_empty(), Contents::RESULTS)
    }
}
