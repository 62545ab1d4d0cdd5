//! A transcript as a sequence of events: what is said and done, without messages.

use std::borrow::Cow;

use toolcheck_json::{Document, Span, Value};

use super::canonical;
use super::content::{self, Content};
use crate::conversation::Feature;
use crate::formats::{self, Format};
use crate::ir::{
    Arguments, Body, Call, Executor, Named, Part, Place, Reasoning, Role, Signature, ToolKind, ToolResult,
    Transcript, UnpairedReason,
};
use crate::matching::{Half, Matches, Position};
use crate::pairing::Binding;
use crate::response::Choice;

/// One side of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct Side<'t, 's> {
    pub(super) transcript: &'t Transcript<'s>,
    /// What the model answered to it, in the same document.
    pub(super) answers: &'t [Answer<'s>],
    pub(super) document: &'t Document<'s>,
    /// How results belong to calls.
    pub(super) binding: Binding,
    /// The id of the format whose names of parameters count beside those of its own.
    pub(super) named_as: Option<&'static str>,
}

impl<'t, 's> Side<'t, 's> {
    /// A transcript, which was read from `document`. Results belong to calls as in its own format.
    pub fn new(transcript: &'t Transcript<'s>, document: &'t Document<'s>) -> Self {
        let format = transcript.format.and_then(|format| formats::find(format.id));
        Self { transcript, answers: &[], document, binding: Binding::of(format), named_as: None }
    }

    /// The same, with what the model answered, which was read from the same document.
    pub(super) fn answered(self, answers: &'t [Answer<'s>]) -> Self {
        Self { answers, ..self }
    }

    /// The same, but results belong to calls as in requests of this format, and parameters may have its names.
    pub fn bound_as(self, format: &Format) -> Self {
        Self { binding: Binding::of(Some(format)), named_as: Some(format.id), ..self }
    }

    /// The results, each with the call that it answers, as they are compared.
    pub fn results(&self) -> Vec<(Place, Option<Place>)> {
        let events = Events::of(self).all;
        let results = events.iter().filter(|event| event.sort == EventKind::Result);
        results.map(|result| (result.place, result.owner.map(|call| events[call].place))).collect()
    }

    /// The wire format, if it is one.
    pub(super) fn format(&self) -> Option<&'static Format> {
        self.transcript.format.and_then(|format| formats::find(format.id))
    }

    /// Whether its format can say something. What is not a request may say anything.
    pub(super) fn can_hold(&self, feature: Feature) -> bool {
        self.format().is_none_or(|format| format.can_hold(feature))
    }

    pub(super) fn family(&self) -> Option<&'static str> {
        self.transcript.format.map(|format| format.family)
    }
}

#[derive(Debug)]
pub(super) enum Answer<'s> {
    Whole(Box<Transcript<'s>>),
    /// In pieces: what they make together, and where they are.
    Streamed(Choice, Place),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum EventKind {
    Text,
    Call,
    Result,
    Reasoning,
    Media,
    /// A call that the provider runs.
    ServerCall,
    ServerResult,
    /// A part that this version does not know.
    Part,
}

#[derive(Debug)]
pub(super) struct Event<'s> {
    pub(super) sort: EventKind,
    pub(super) speaker: Role,
    pub(super) place: Place,
    pub(super) message: usize,
    /// The number of its turn: consecutive events of one speaker are one.
    pub(super) turn: usize,
    /// The number of the turn of its message: consecutive messages of one role are one.
    pub(super) message_turn: usize,
    /// A hash of what it says, which does not depend on the speaker.
    pub(super) key: u64,
    pub(super) text: Cow<'s, str>,
    /// The id of a call, or of the call that a result names.
    pub(super) id: Option<Cow<'s, str>>,
    pub(super) name: Option<Cow<'s, str>>,
    /// A hash of the arguments of a call.
    pub(super) arguments: u64,
    /// Whether a call has no arguments, not even empty ones.
    pub(super) lacks_arguments: bool,
    /// Whether the API describes what a call says, and not the tool.
    pub(super) is_described: bool,
    pub(super) content: Content<'s>,
    pub(super) failed: bool,
    /// A hash of the signature of reasoning or of a call.
    pub(super) signature: Option<u64>,
    /// The result that a medium is in; the call that a result answers.
    pub(super) owner: Option<usize>,
    pub(super) results: Vec<usize>,
}

impl<'s> Event<'s> {
    fn new(sort: EventKind, speaker: Role, place: Place) -> Self {
        Self {
            sort,
            speaker,
            place,
            message: 0,
            turn: 0,
            message_turn: 0,
            key: 0,
            text: Cow::Borrowed(""),
            id: None,
            name: None,
            arguments: 0,
            lacks_arguments: false,
            is_described: false,
            content: Content::default(),
            failed: false,
            signature: None,
            owner: None,
            results: Vec::new(),
        }
    }

    fn text(speaker: Role, place: Place, text: Cow<'s, str>) -> Self {
        let key = canonical::of_bytes(b't', text.as_bytes());
        Self { key, text, ..Self::new(EventKind::Text, speaker, place) }
    }
}

#[derive(Debug)]
pub(super) struct Events<'s> {
    pub(super) all: Vec<Event<'s>>,
    pub(super) turns: usize,
}

impl<'s> Events<'s> {
    pub(super) fn of(side: &Side<'_, 's>) -> Self {
        let mut reading = Reading { side, all: Vec::new(), message: 0, turn: 0, role: None };
        let transcript = side.transcript;
        if let Some(place) = transcript.request.instructions {
            let value = side.document.value(place.node);
            let parts =
                value.elements().map(|one| quoted_block(one).unwrap_or_else(|| formats::text_of(one)));
            let text = if value.is_array() { parts.collect() } else { formats::text_of(value) };
            reading.text(Role::System, place, Cow::Owned(text));
        }
        reading.messages(transcript);
        for answer in side.answers {
            match answer {
                Answer::Whole(transcript) => reading.messages(transcript),
                Answer::Streamed(choice, place) => reading.streamed(choice, *place),
            }
        }
        let mut all = reading.all;
        let mut turns = 0;
        let mut last = None;
        for event in &mut all {
            if last.replace(event.speaker).is_some_and(|last| last != event.speaker) {
                turns += 1;
            }
            event.turn = turns;
        }
        bind(&mut all, side.binding);
        Self { all, turns: turns + 1 }
    }
}

/// A call or a result among the events.
struct EventHalf<'e, 's> {
    event: &'e Event<'s>,
    number: usize,
    has_id: bool,
}

impl Half for EventHalf<'_, '_> {
    fn id(&self) -> Option<&str> {
        self.event.id.as_deref().filter(|_| self.has_id)
    }

    fn name(&self) -> Option<&str> {
        self.event.name.as_deref()
    }

    fn position(&self) -> Position {
        Position { turn: self.event.message_turn, message: self.event.message, part: self.number }
    }

    fn span(&self) -> Option<Span> {
        Some(self.event.place.span)
    }

    fn says_same(&self, other: &Self) -> bool {
        self.event.content.exact == other.event.content.exact
    }
}

/// Says of each result which call it answers, and of each call which results it has.
fn bind(events: &mut [Event<'_>], binding: Binding) {
    let has_id = binding != Binding::Position;
    let of = |sort: EventKind| {
        let halves = events.iter().enumerate().filter(move |(_, event)| event.sort == sort);
        halves.map(move |(number, event)| EventHalf { event, number, has_id }).collect::<Vec<_>>()
    };
    let (calls, results) = (of(EventKind::Call), of(EventKind::Result));
    let matches = Matches::of(&calls, &results, binding.how());
    let pairs: Vec<(usize, usize)> = (results.iter().zip(matches.paired_with))
        .filter_map(|(result, paired_with)| Some((result.number, calls[paired_with.call()?].number)))
        .collect();
    for (result, call) in pairs {
        events[result].owner = Some(call);
        events[call].results.push(result);
    }
}

struct Reading<'r, 't, 's> {
    side: &'r Side<'t, 's>,
    all: Vec<Event<'s>>,
    message: usize,
    /// The number of the turn of the message, and its role.
    turn: usize,
    role: Option<Role>,
}

impl<'s> Reading<'_, '_, 's> {
    fn push(&mut self, event: Event<'s>) {
        self.all.push(Event { message: self.message, message_turn: self.turn, ..event });
    }

    fn value(&self, place: Place) -> Value<'_, 's> {
        self.side.document.value(place.node)
    }

    fn messages(&mut self, transcript: &Transcript<'s>) {
        for (message, parts) in transcript.messages_with_parts() {
            if !message.is_directive && self.role.replace(message.role) != Some(message.role) {
                self.turn += 1;
            }
            if message.role != Role::Unknown || !self.unread_result(message.place, parts) {
                parts.iter().for_each(|part| self.part(message.role, part.place, &part.body));
            }
            self.message += 1;
        }
    }

    /// Adds a message as a result if it names its call, although its role is none of results.
    fn unread_result(&mut self, place: Place, parts: &[Part<'s>]) -> bool {
        let is_of_model = |part: &Part<'s>| matches!(part.body, Body::Call(_) | Body::Result(_));
        let value = self.value(place);
        let id = value.get("tool_call_id").and_then(Value::as_str).filter(|id| !id.is_empty());
        if id.is_none() || parts.iter().any(is_of_model) {
            return false;
        }
        let (content, name) = (Content::of(value.get("content"), value), value.get_str("name"));
        self.answered(content, Event { id, name, ..Event::new(EventKind::Result, Role::Tool, place) });
        true
    }

    fn streamed(&mut self, choice: &Choice, place: Place) {
        self.text(Role::Assistant, place, Cow::Owned(choice.text.clone()));
        for call in &choice.calls {
            let name: Option<Cow<'s, str>> = call.name.clone().map(Cow::Owned);
            if call.executor != Executor::Client {
                let key = canonical::of_string(&call.arguments);
                self.push(Event {
                    key,
                    name,
                    ..Event::new(EventKind::ServerCall, Role::Assistant, call.place)
                });
                continue;
            }
            let arguments = arguments_in(&call.arguments);
            let key = canonical::of_all(b'c', &[name_hash(name.as_deref()), arguments]);
            let id = call.id.clone().filter(|id| !id.is_empty()).map(Cow::Owned);
            let event = Event::new(EventKind::Call, Role::Assistant, call.place);
            self.push(Event { key, name, arguments, id, ..event });
        }
        self.message += 1;
    }

    /// Adds a text. Nobody loses a text of whitespace.
    fn text(&mut self, speaker: Role, place: Place, text: Cow<'s, str>) {
        let text = quoted_block(self.value(place)).map_or(text, Cow::Owned);
        if !text.trim().is_empty() {
            self.push(Event::text(speaker, place, text));
        }
    }

    fn part(&mut self, speaker: Role, place: Place, body: &Body<'s>) {
        match body {
            Body::Text(text) => self.text(speaker, text.place, text.string.decode()),
            Body::Call(call) if call.executor == Executor::Client => self.call(place, call),
            Body::Call(call) => {
                let name = text_of(call.name.as_ref());
                let key = canonical::of_value(self.value(place));
                self.push(Event { key, name, ..Event::new(EventKind::ServerCall, Role::Assistant, place) });
            }
            Body::Result(result) if result.executor == Executor::Client => self.result(place, result),
            Body::Result(_) => {
                let key = canonical::of_value(self.value(place));
                self.push(Event { key, ..Event::new(EventKind::ServerResult, Role::Assistant, place) });
            }
            Body::Reasoning(reasoning) => self.reasoning(speaker, place, reasoning),
            Body::Media => {
                let key = content::identity(self.value(place));
                self.push(Event { key, ..Event::new(EventKind::Media, speaker, place) });
            }
            Body::Empty => {}
            Body::Opaque => match self.value(place).as_str() {
                // A text without its block.
                Some(text) => self.text(speaker, place, text),
                None => match text_of_unnamed(self.value(place)) {
                    Some(text) => self.text(speaker, place, text),
                    None => {
                        let key = canonical::of_value(self.value(place));
                        self.push(Event { key, ..Event::new(EventKind::Part, speaker, place) });
                    }
                },
            },
        }
    }

    fn call(&mut self, place: Place, call: &Call<'s>) {
        let name = text_of(call.name.as_ref());
        let arguments = arguments(&call.arguments, self.side.document);
        let key = canonical::of_all(b'c', &[name_hash(name.as_deref()), arguments]);
        let signature = (call.signature == Signature::Present).then_some(0);
        let id = text_of(call.id.as_ref()).filter(|id| !id.is_empty());
        let id = id.filter(|_| call.unpaired != Some(UnpairedReason::UnknownId));
        let is_empty = |place: Place| self.value(place).is_array() && self.value(place).says_nothing();
        let is_nothing = matches!(call.arguments, Arguments::Other(place) if is_empty(place));
        let lacks_arguments = call.arguments.are_absent() || is_nothing;
        let is_described = !call.is_of_function() && call.kind != ToolKind::Custom;
        let event = Event::new(EventKind::Call, Role::Assistant, place);
        self.push(Event { key, name, arguments, lacks_arguments, is_described, signature, id, ..event });
    }

    fn result(&mut self, place: Place, result: &ToolResult<'s>) {
        let content = result.content_place.map(|place| self.value(place));
        let is_form = self.side.format().is_some_and(|format| format.fix_style.is_wrapped);
        let read = if is_form { Content::of_form } else { Content::of };
        let content = read(content, self.value(place));
        let id = text_of(result.call_id.as_ref()).filter(|id| !id.is_empty());
        let id = id.filter(|_| result.unpaired != Some(UnpairedReason::UnknownId));
        let event = Event {
            id,
            name: text_of(result.name.as_ref()),
            failed: result.is_error == Some(true),
            ..Event::new(EventKind::Result, Role::Tool, place)
        };
        self.answered(content, event);
    }

    /// Adds a result with its content, and the media in it.
    fn answered(&mut self, mut content: Content<'s>, event: Event<'s>) {
        let media = std::mem::take(&mut content.media);
        let number = self.all.len();
        self.push(Event { key: canonical::of_all(b'r', &[content.loose]), content, ..event });
        for (place, key) in media {
            self.push(Event { key, owner: Some(number), ..Event::new(EventKind::Media, Role::Tool, place) });
        }
    }

    fn reasoning(&mut self, speaker: Role, place: Place, reasoning: &Reasoning<'s>) {
        let value = self.value(place);
        let read = match self.side.format() {
            Some(format) => (format.read_reasoning)(value),
            // A reader holds the blocks of one format or another.
            None => read_by_any(value),
        };
        let is_known = !read.text.trim().is_empty() && !reasoning.is_redacted;
        let key = match &read.signature {
            _ if is_known => canonical::of_bytes(b't', read.text.as_bytes()),
            Some(signature) => canonical::of_string(signature),
            None => canonical::of_value(value),
        };
        let signature = read.signature.as_deref().map(canonical::of_string);
        let text = if is_known { Cow::Owned(read.text) } else { Cow::Borrowed("") };
        self.push(Event { key, text, signature, ..Event::new(EventKind::Reasoning, speaker, place) });
    }
}

fn read_by_any(value: Value<'_, '_>) -> crate::conversation::Reasoning {
    let read = |format: &&'static Format| (format.read_reasoning)(value);
    let all = formats::ALL.iter().map(read);
    let found = all.max_by_key(|read| (!read.text.is_empty(), read.signature.is_some()));
    found.unwrap_or_else(|| crate::conversation::Reasoning::new("", None))
}

fn text_of<'s>(name: Option<&Named<'s>>) -> Option<Cow<'s, str>> {
    name.map(|name| name.text.clone())
}

pub(super) fn name_hash(name: Option<&str>) -> u64 {
    canonical::of_bytes(b'f', name.unwrap_or_default().as_bytes())
}

/// A hash of the arguments, which may be JSON in a text.
fn arguments(arguments: &Arguments<'_>, document: &Document<'_>) -> u64 {
    match arguments {
        Arguments::Missing | Arguments::Null(_) => canonical::of_nothing(),
        Arguments::Text(text, _) => arguments_in(&text.decode()),
        Arguments::Object(place) | Arguments::Other(place) => canonical::of_value(document.value(place.node)),
    }
}

fn arguments_in(text: &str) -> u64 {
    if text.trim().is_empty() {
        return canonical::of_nothing();
    }
    canonical::of_json_text(text).unwrap_or_else(|| canonical::of_string(text))
}

/// The text of a block whose type is not written as a text.
fn text_of_unnamed<'s>(block: Value<'_, 's>) -> Option<Cow<'s, str>> {
    block.get("type").filter(|kind| kind.as_json_str().is_none() && !kind.is_null())?;
    block.get("text")?.as_str()
}

/// The text of a block that is written as JSON in a text, where no text may be: in a list of blocks, and as the
/// instructions that have parts.
fn quoted_block(value: Value<'_, '_>) -> Option<String> {
    let is_block =
        value.key_text().is_none_or(|key| matches!(&*key, "systemInstruction" | "system_instruction"));
    let text = value.as_str().filter(|text| is_block && text.trim_start().starts_with('{'))?;
    let document = Document::read(text.as_bytes());
    let said = formats::text_of(document.root());
    (document.faults().is_empty() && !said.is_empty()).then_some(said)
}
