//! What is said on one connection: each event opens and closes things, calls and answers.

use std::borrow::Cow;

use foldhash::{HashMap, HashSet};
use toolcheck_json::Value;

use super::events::{Event, EventMessage, FirstNeeds, MustBeClosed, Protocol, Resource, ResultStep, Tools};
use super::parts;
use super::{Conversation, ConversationEnd, Reader};
use crate::ir::{
    Arguments, Body, MisplacedEvent, Misplacement, Named, Place, Role, StreamedArguments, ToolDef,
    Transcript, UnpairedReason,
};

/// What is said on one connection.
pub(crate) struct Session<'p, 's> {
    protocol: &'p Protocol,
    transcript: Transcript<'s>,
    /// Whether the log has everything from here on.
    has_begun: bool,
    /// The number of the phase.
    phase: usize,
    /// Whether an event was refused in this phase. What follows it is no other mistake.
    is_refused: bool,
    /// The ids of what is open, by what it is, with the number of the opening.
    open: HashMap<&'p str, HashMap<String, usize>>,
    /// The ids of what an event was refused for, by what it is: what follows is no other mistake.
    refused: HashMap<&'p str, HashSet<String>>,
    /// How often something was opened.
    openings: usize,
    /// The id of what was opened last.
    last_opened: String,
    /// The kind and the id of the stream whose chunks come, by who sends it.
    streams: HashMap<String, (String, Cow<'s, str>)>,
    calls: HashMap<Cow<'s, str>, OpenCall<'s>>,
    /// The ids of the calls since nobody waited for any.
    waiting: Vec<Cow<'s, str>>,
    /// The ids of results that belong to no call.
    orphans: HashSet<Cow<'s, str>>,
    /// The numbers of the tools, by their names.
    tools: HashMap<Cow<'s, str>, usize>,
}

/// A call, and what has been told of it.
struct OpenCall<'s> {
    /// The number of its part.
    part: usize,
    /// Its arguments, in the pieces that were sent.
    pieces: Vec<(Cow<'s, str>, Arguments<'s>)>,
    has_result: bool,
    is_cancelled: bool,
}

impl<'p, 's> Session<'p, 's> {
    pub(crate) fn new(reader: &Reader, protocol: &'p Protocol, record: Value<'_, 's>) -> Self {
        Self {
            protocol,
            transcript: Transcript::of_conversation(reader.key(), record),
            has_begun: false,
            phase: 0,
            is_refused: false,
            open: HashMap::default(),
            refused: HashMap::default(),
            openings: 0,
            last_opened: String::new(),
            streams: HashMap::default(),
            calls: HashMap::default(),
            waiting: Vec::new(),
            orphans: HashSet::default(),
            tools: HashMap::default(),
        }
    }

    pub(crate) fn end(mut self) -> Conversation<'s> {
        let mut streamed = Vec::new();
        for called in self.calls.into_values() {
            let part = self.transcript.parts.get_mut(called.part).map(|part| &mut part.body);
            let Some(Body::Call(call)) = part else { continue };
            if !called.has_result && self.protocol.is_answered_elsewhere {
                call.unpaired.get_or_insert(UnpairedReason::Elsewhere);
            }
            match &*called.pieces {
                // What was cut off was never meant to be whole.
                _ if call.unpaired == Some(UnpairedReason::Aborted) => {}
                [] => {}
                [(_, arguments)] => call.arguments = *arguments,
                pieces => {
                    let part = u32::try_from(called.part).expect("a document has fewer parts");
                    let text = pieces.iter().map(|(text, _)| &**text).collect();
                    streamed.push(StreamedArguments { part, text });
                }
            }
        }
        toolcheck_json::sort_by_position(&mut streamed, |streamed| streamed.part as usize);
        self.transcript.details.streamed_arguments = streamed;
        Conversation { title: "session".to_owned(), transcript: self.transcript, end: ConversationEnd::Open }
    }

    /// Adds an event of a kind. Says whether it has called, answered, said or declared something.
    pub(crate) fn add(&mut self, event: Value<'_, 's>, kind: &str, known: &[&'p Event]) -> bool {
        let begins = |event: &&Event| self.protocol.begins.iter().any(|name| name == event.name());
        self.has_begun |= known.iter().any(begins);
        if !self.step(event, kind, known) || !self.follow(event, kind, known) {
            return false;
        }
        let before = self.transcript.parts.len();
        for does in known {
            for item in does.items(event) {
                self.apply(does, kind, event, item);
            }
        }
        self.transcript.parts.len() > before || known.iter().any(|does| does.tools.is_some())
    }

    /// Goes on to the next phase. Says whether the event may come.
    fn step(&mut self, event: Value<'_, 's>, kind: &str, known: &[&'p Event]) -> bool {
        let Some(phase) = self.protocol.phases.get().get(self.phase) else { return true };
        if let Some(to) = known.iter().find_map(|event| phase.to.get(event.name())) {
            let next = self.protocol.phases.iter().position(|phase| phase.name == *to);
            self.phase = next.unwrap_or(self.phase);
            self.is_refused = false;
            return true;
        }
        let refused = known.iter().find_map(|event| phase.refuses.get(event.name()));
        let Some(refused) = refused.or(phase.refuses_others.as_ref()) else { return true };
        if !self.is_refused {
            let says = refused.replace("{kind}", kind).replace("{other}", &self.last_opened);
            self.misplaced(event, kind, Misplacement::In(phase.name.clone()), Some(says));
            self.is_refused = true;
        }
        phase.refuses_others.is_none()
    }

    /// Follows the streams of chunks. Says whether the event may come.
    fn follow(&mut self, event: Value<'_, 's>, kind: &str, known: &[&'p Event]) -> bool {
        let Some(stream) = known.iter().find_map(|does| does.stream.as_ref()) else {
            if !self.streams.is_empty() && !self.protocol.within_streams.iter().any(|name| name == kind) {
                self.streams.remove(&self.lane(event));
            }
            return true;
        };
        let lane = self.lane(event);
        let id = stream.id.of(event).and_then(Value::as_str);
        let is_open = |(own, open): &(String, _)| own == kind && id.as_ref().is_none_or(|id| id == open);
        if self.streams.get(&lane).is_some_and(is_open) {
            return true;
        }
        // What follows a chunk that is refused is no other mistake.
        self.streams.insert(lane, (kind.to_owned(), id.unwrap_or_default()));
        let is_there = |first: &&FirstNeeds| first.at.of(event).is_some_and(|value| !value.is_null());
        let missing = stream.first.iter().find(|first| !is_there(first)).filter(|_| self.has_begun);
        if let Some(first) = missing {
            let key = first.at.key().to_owned();
            let why = Misplacement::Unnamed { thing: stream.thing.clone(), key };
            self.misplaced(event, kind, why, Some(first.refused.clone()));
        }
        missing.is_none()
    }

    /// Who sends an event.
    fn lane(&self, event: Value<'_, 's>) -> String {
        self.protocol.lane.of(event).and_then(Value::as_str).unwrap_or_default().into_owned()
    }

    fn misplaced(&mut self, event: Value<'_, 's>, kind: &str, why: Misplacement, says: Option<String>) {
        let is_doubtful = self.protocol.phases.get().get(self.phase).is_some_and(|phase| phase.is_doubtful);
        self.transcript.details.misplaced_events.push(MisplacedEvent {
            place: Place::of(event),
            kind: kind.to_owned(),
            is_doubtful: is_doubtful && matches!(why, Misplacement::In(_)),
            why,
            says: says.filter(|says| !says.is_empty()),
        });
    }

    fn apply(&mut self, does: &'p Event, kind: &str, event: Value<'_, 's>, item: Value<'_, 's>) {
        // What is refused does nothing.
        if let Some(needs) = &does.needs
            && !self.has(needs, kind, event, item)
        {
            return;
        }
        if let Some(tools) = &does.tools {
            self.declare(tools, item);
        }
        if let Some(list) = does.history.as_ref().and_then(|history| history.of(item)) {
            self.remember(list);
        }
        if let Some(says) = &does.says {
            self.say(says, item);
        }
        if let Some(call) = &does.call {
            self.call(item, call.id.of(item), call.name.of(item), call.arguments.of(item));
        }
        let of_stream = || Some(self.streams.get(&self.lane(event))?.1.clone());
        if let Some(piece) = &does.arguments
            && let Some(id) = piece.id.of(item).and_then(Value::as_str).or_else(of_stream)
            && let Some(called) = self.calls.get_mut(&id)
            && let Some(piece) = piece.piece.of(item)
        {
            called.pieces.push((piece.as_str().unwrap_or_default(), Arguments::of(Some(piece))));
        }
        if let Some(result) = &does.result {
            self.result(result, kind, event, item);
        }
        if let Some(id) = does.cancels.as_ref().and_then(|id| id.of(item)?.as_str()) {
            self.cancel(&id);
        }
        if does.aborts {
            self.abort();
        }
        for ends in &does.ends {
            self.end_all(ends, kind, event);
        }
        if let Some(opens) = &does.opens {
            self.open(opens, kind, event, item);
        }
        if let Some(closes) = &does.closes
            && self.has(closes, kind, event, item)
            && let Some(id) = closes.id.of(item).and_then(Value::as_str)
            && let Some(open) = self.open.get_mut(&*closes.thing)
        {
            open.remove(&*id);
        }
    }

    fn open(&mut self, opens: &'p Resource, kind: &str, event: Value<'_, 's>, item: Value<'_, 's>) {
        let Some(id) = opens.id.of(item).and_then(Value::as_str) else { return };
        self.openings += 1;
        let is_open =
            self.open.entry(&opens.thing).or_default().insert(id.to_string(), self.openings).is_some();
        if let (true, Some(refused)) = (is_open, &opens.refused) {
            let says = refused.replace("{id}", &id);
            let why = Misplacement::Open { thing: opens.thing.clone(), id: id.to_string() };
            self.misplaced(event, kind, why, Some(says));
        }
        self.last_opened = id.into_owned();
    }

    /// Whether what an event needs is open, or may be. If it is not, the event is misplaced.
    fn has(&mut self, needs: &'p Resource, kind: &str, event: Value<'_, 's>, item: Value<'_, 's>) -> bool {
        let Some(id) = needs.id.of(item).and_then(Value::as_str) else { return true };
        let is_open = self.open.get(&*needs.thing).is_some_and(|open| open.contains_key(&*id));
        if is_open || !self.has_begun {
            return true;
        }
        if self.refused.entry(&needs.thing).or_default().insert(id.to_string()) {
            let says = needs.refused.as_ref().map(|refused| refused.replace("{id}", &id));
            let why = Misplacement::NotOpen { thing: needs.thing.clone(), id: id.to_string() };
            self.misplaced(event, kind, why, says);
        }
        false
    }

    /// Closes everything of a kind, of which nothing should be open.
    fn end_all(&mut self, ends: &'p MustBeClosed, kind: &str, event: Value<'_, 's>) {
        let Some(open) = self.open.remove(&*ends.thing).filter(|open| !open.is_empty()) else { return };
        let mut ids: Vec<(usize, String)> = open.into_iter().map(|(id, number)| (number, id)).collect();
        ids.sort_unstable();
        let ids: Vec<String> = ids.into_iter().map(|(_, id)| id).collect();
        let says = ends.refused.as_ref().map(|refused| refused.replace("{ids}", &ids.join(", ")));
        self.misplaced(event, kind, Misplacement::LeftOpen { thing: ends.thing.clone(), ids }, says);
    }

    /// Adds the messages of a list. Where the log has what was said, they repeat it, and only calls and results that it does
    /// not have are new.
    fn remember(&mut self, list: Value<'_, 's>) {
        let is_first = self.transcript.parts.is_empty();
        for message in list.elements().filter(|message| message.is_object()) {
            let content = message.get("content");
            let role = match message.get_str("role").as_deref() {
                Some("assistant" | "reasoning") => Role::Assistant,
                Some("tool") => {
                    self.remember_result(message, content);
                    continue;
                }
                Some("system" | "developer") => Role::System,
                _ => Role::User,
            };
            if is_first {
                self.transcript.turn(role, message).content(content, |_| None);
            }
            for call in message.get_any(&["toolCalls", "tool_calls"]).into_iter().flat_map(Value::elements) {
                let id = call.get("id").and_then(Named::of);
                if is_first || id.is_some_and(|id| !self.calls.contains_key(&id.text)) {
                    let function = call.get("function").unwrap_or(call);
                    self.call(call, call.get("id"), function.get("name"), function.get("arguments"));
                }
            }
        }
    }

    fn remember_result(&mut self, message: Value<'_, 's>, content: Option<Value<'_, 's>>) {
        let id = message.get_any(&["toolCallId", "tool_call_id"]);
        let text = id.and_then(Named::of).map(|id| id.text);
        match text.as_ref().map(|id| self.calls.get_mut(id)) {
            Some(Some(called)) if called.has_result => return,
            Some(Some(called)) => called.has_result = true,
            Some(None) if !self.orphans.insert(text.clone().unwrap_or_default()) => return,
            _ => {}
        }
        let is_error = message.get("error").is_some_and(|error| !error.is_null());
        let result = parts::result(id, content, is_error.then_some(true));
        self.transcript.turn(Role::Tool, message).part(message, Body::Result(result));
    }

    fn say(&mut self, says: &EventMessage, item: Value<'_, 's>) {
        let Some(text) = says.text.of(item).filter(|text| text.as_json_str().is_some()) else { return };
        let role = match &*says.role {
            "user" => Role::User,
            "system" => Role::System,
            _ => Role::Assistant,
        };
        self.transcript.turn(role, item).part(text, Body::text(Some(text)));
    }

    /// Adds a call, or what is told of one that is there.
    fn call(
        &mut self,
        item: Value<'_, 's>,
        id: Option<Value<'_, 's>>,
        name: Option<Value<'_, 's>>,
        arguments: Option<Value<'_, 's>>,
    ) {
        let Some(id) = id else {
            // Some servers give no ids: each call is one of its own then.
            if name.is_some() {
                let call = parts::call(None, name, arguments);
                self.transcript.turn(Role::Assistant, item).part(item, Body::Call(call));
            }
            return;
        };
        let Some(named) = Named::of(id) else { return };
        let arguments = arguments.filter(|value| !value.is_null());
        if let Some(called) = self.calls.get_mut(&named.text) {
            let part = self.transcript.parts.get_mut(called.part).map(|part| &mut part.body);
            let Some(Body::Call(call)) = part else { return };
            if call.name.is_none() {
                call.name = name.and_then(Named::of);
            }
            // A text is whole when it comes, and some servers repeat it. An object may be that of a newer state.
            let has_text = called.pieces.is_empty() && matches!(call.arguments, Arguments::Text(..));
            if arguments.is_some() && !has_text {
                called.pieces.clear();
                call.arguments = Arguments::of(arguments);
            }
            return;
        }
        let call = parts::call(Some(id), name, arguments);
        self.transcript.turn(Role::Assistant, item).part(item, Body::Call(call));
        let part = self.transcript.parts.len() - 1;
        let called = OpenCall { part, pieces: Vec::new(), has_result: false, is_cancelled: false };
        self.waiting.push(named.text.clone());
        self.calls.insert(named.text, called);
    }

    fn result(&mut self, step: &ResultStep, kind: &str, event: Value<'_, 's>, item: Value<'_, 's>) {
        let id = step.id.of(item);
        let text = id.and_then(Named::of).map(|id| id.text);
        let called = text.as_ref().and_then(|id| self.calls.get_mut(id));
        let is_known = called.is_some();
        // What repeats a result that belongs to no call is no second mistake.
        if !is_known && step.may_repeat && text.as_ref().is_some_and(|id| self.orphans.contains(id)) {
            return;
        }
        if let Some(called) = called {
            if called.has_result && step.may_repeat {
                return;
            }
            called.has_result = true;
            if called.is_cancelled {
                called.is_cancelled = false;
                let id = text.as_deref().unwrap_or_default().to_owned();
                self.misplaced(event, kind, Misplacement::Cancelled(id), None);
            }
        }
        if !is_known {
            self.orphans.extend(text);
        }
        let content = step.content.of(item);
        let mut result = parts::result(id, content, step.is_error);
        result.name = step.name.of(item).and_then(Named::of);
        // A log may begin in the middle.
        result.unpaired = (!is_known && !self.has_begun).then_some(UnpairedReason::Elsewhere);
        self.transcript.turn(Role::Tool, item).part(item, Body::Result(result));
    }

    fn cancel(&mut self, id: &str) {
        let Some(called) = self.calls.get_mut(id).filter(|called| !called.has_result) else { return };
        called.is_cancelled = true;
        if let Some(Body::Call(call)) = self.transcript.parts.get_mut(called.part).map(|part| &mut part.body)
        {
            call.unpaired = Some(UnpairedReason::Aborted);
        }
    }

    /// Nobody waits for the results of calls that have none.
    fn abort(&mut self) {
        for id in std::mem::take(&mut self.waiting) {
            let Some(called) = self.calls.get(&id).filter(|called| !called.has_result) else { continue };
            if let Some(Body::Call(call)) =
                self.transcript.parts.get_mut(called.part).map(|part| &mut part.body)
            {
                call.unpaired.get_or_insert(UnpairedReason::Aborted);
            }
        }
    }

    /// Declares the tools of a list, each once: the later one holds.
    fn declare(&mut self, step: &Tools, item: Value<'_, 's>) {
        let Some(list) = step.list.of(item).filter(|list| list.is_array()) else { return };
        let tools = &mut self.transcript.request.tools;
        tools.place.get_or_insert(Place::of(list));
        tools.hides_some |= step.are_some;
        let known = tools.list.get_or_insert_default();
        let groups = list.elements().flat_map(|tool| match step.group.of(tool) {
            Some(group) => group.elements().collect(),
            None => vec![tool],
        });
        for tool in groups.filter(|tool| tool.is_object()) {
            let Some(name) = tool.get("name").and_then(Named::of) else {
                // A tool of the server, or of another server, has names that are not here.
                tools.hides_some = true;
                continue;
            };
            let schema = step.schema.of(tool).map(Place::of);
            let text = name.text.clone();
            let tool = ToolDef { name: Some(name), schema, ..ToolDef::new(Place::of(tool)) };
            match self.tools.get(&text) {
                Some(at) => known[*at] = tool,
                None => {
                    self.tools.insert(text, known.len());
                    known.push(tool);
                }
            }
        }
    }
}
