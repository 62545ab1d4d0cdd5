//! What is said on one connection: each event opens and closes things, calls and answers.

use std::borrow::Cow;

use foldhash::{HashMap, HashSet};
use toolcheck_json::Value;

use super::event_calls::{self, OpenCall};
use super::events::{
    Event, EventMessage, FirstNeeds, MustBeClosed, Paths, Protocol, Resource, ResultStep, Tools,
};
use super::{Conversation, ConversationEnd, Reader, parts};
use crate::ir::{
    Arguments, Body, Executor, MisplacedEvent, Misplacement, Named, Place, Role, ToolDef, Transcript,
    UnpairedReason,
};

pub(crate) struct Session<'p, 's> {
    protocol: &'p Protocol,
    /// Whether what was said before is known.
    pub(super) has_history: bool,
    pub(super) transcript: Transcript<'s>,
    /// Whether the log has everything from here on.
    has_begun: bool,
    phase: usize,
    /// What was refused in this phase, as its number. What follows it is no other mistake.
    refused_in_phase: Option<usize>,
    /// The ids of what is open, by what it is, with the number of the opening.
    open: HashMap<&'p str, HashMap<String, usize>>,
    /// The ids of what an event was refused for, by what it is: what follows is no other mistake.
    refused: HashMap<&'p str, HashSet<String>>,
    /// Whether the first piece of a call had no id, so that a result may be of that call.
    is_call_unnamed: bool,
    openings: usize,
    /// How many parts there are before this step, which may use the ids of earlier ones again.
    before_step: usize,
    /// What was opened, in its order, with those that are closed again.
    opened: HashMap<&'p str, Vec<(String, usize)>>,
    /// The numbers of parts before the ends of what must leave nothing open.
    ends: Vec<usize>,
    last_opened: String,
    /// The kind and the id of the stream whose chunks come, by who sends it.
    streams: HashMap<String, (String, Cow<'s, str>)>,
    pub(super) calls: HashMap<Cow<'s, str>, OpenCall<'s>>,
    /// The ids of the calls since nobody waited for any.
    pub(super) waiting: Vec<Cow<'s, str>>,
    /// How many of these have no result.
    pub(super) unanswered: usize,
    /// The ids of results that belong to no call.
    pub(super) orphans: HashSet<Cow<'s, str>>,
    /// The ids of the calls, by those of their items.
    items: HashMap<Cow<'s, str>, Cow<'s, str>>,
    /// The ids of the calls that were taken out.
    deleted: HashSet<Cow<'s, str>>,
    /// The response that goes on, and whether it has added nothing yet.
    turn: (Cow<'s, str>, bool),
    /// The responses beside the conversation, and whether the event is of one of them.
    beside: (HashSet<Cow<'s, str>>, bool),
    /// The events that brought the text of a message, by its id.
    said: HashMap<Cow<'s, str>, String>,
    /// For each id that results were refused for, the number of parts before the first.
    strays: Vec<usize>,
    tools: HashMap<Cow<'s, str>, usize>,
}

impl<'p, 's> Session<'p, 's> {
    pub(crate) fn new(reader: &Reader, protocol: &'p Protocol, record: Value<'_, 's>) -> Self {
        let mut transcript = Transcript::of_conversation(reader.key(), record);
        transcript.details.results_may_wait = true;
        Self {
            protocol,
            has_history: false,
            transcript,
            has_begun: false,
            phase: 0,
            refused_in_phase: None,
            open: HashMap::default(),
            refused: HashMap::default(),
            is_call_unnamed: false,
            openings: 0,
            before_step: 0,
            opened: HashMap::default(),
            ends: Vec::new(),
            last_opened: String::new(),
            streams: HashMap::default(),
            calls: HashMap::default(),
            waiting: Vec::new(),
            unanswered: 0,
            orphans: HashSet::default(),
            items: HashMap::default(),
            deleted: HashSet::default(),
            turn: Default::default(),
            beside: Default::default(),
            said: HashMap::default(),
            strays: Vec::new(),
            tools: HashMap::default(),
        }
    }

    /// Whether the log has everything from here on.
    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun
    }

    pub(crate) fn end(mut self) -> Conversation<'s> {
        self.settle_strays();
        self.cut_off();
        let parts = &mut self.transcript.parts;
        let mut lost = HashSet::default();
        if self.protocol.is_answered_elsewhere {
            lost = event_calls::lost_by_server(parts, &self.calls, &self.ends);
        } else {
            event_calls::settle_early(parts, &self.calls);
        }
        for (id, called) in self.calls {
            let part = self.transcript.parts.get_mut(called.part).map(|part| &mut part.body);
            let Some(Body::Call(call)) = part else { continue };
            let is_elsewhere = self.protocol.is_answered_elsewhere && !lost.contains(&called.part);
            if !called.has_result && !called.is_passed && is_elsewhere {
                call.unpaired.get_or_insert(UnpairedReason::Elsewhere);
            }
            match &*called.pieces {
                // What was cut off was never meant to be whole.
                _ if call.unpaired == Some(UnpairedReason::Aborted) => {}
                // A piece of it was refused, which is the one mistake.
                _ if self.refused.values().any(|ids| ids.contains(&*id)) => {}
                [] => {}
                [(_, arguments)] => call.arguments = *arguments,
                pieces => {
                    let text = pieces.iter().map(|(text, _)| &**text).collect();
                    self.transcript.details.streamed_arguments.insert(called.part, text);
                }
            }
        }
        Conversation { title: "session".to_owned(), transcript: self.transcript, end: ConversationEnd::Open }
    }

    /// Adds an event of a kind. Says whether it has called, answered, said or declared something.
    pub(crate) fn add(&mut self, event: Value<'_, 's>, kind: &str, known: &[&'p Event]) -> bool {
        let begins = |event: &&Event| self.protocol.begins.iter().any(|name| name == event.name());
        self.has_begun |= known.iter().any(begins);
        self.turn_to(event, known);
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

    /// Goes on to the response that an event belongs to.
    fn turn_to(&mut self, event: Value<'_, 's>, known: &[&'p Event]) {
        let id = self.protocol.turn.of(event).and_then(Value::as_str);
        if known.iter().any(|does| does.is_beside) {
            self.beside.0.extend(id.clone());
        }
        self.beside.1 = id.as_ref().is_some_and(|id| self.beside.0.contains(id));
        if let Some(id) = id.filter(|id| !self.beside.1 && self.turn.0 != *id) {
            self.turn = (id, true);
        }
    }

    /// The message that the model's part of an event belongs to.
    fn of_model(&mut self, item: Value<'_, 's>) -> &mut Transcript<'s> {
        if std::mem::take(&mut self.turn.1) {
            return self.transcript.next_message(Role::Assistant, item);
        }
        self.transcript.turn(Role::Assistant, item)
    }

    /// Goes on to the next phase. Says whether the event may come.
    fn step(&mut self, event: Value<'_, 's>, kind: &str, known: &[&'p Event]) -> bool {
        let Some(phase) = self.protocol.phases.get().get(self.phase) else { return true };
        if let Some(to) = known.iter().find_map(|event| phase.to.get(event.name())) {
            let next = self.protocol.phases.iter().position(|phase| phase.name == *to);
            self.phase = next.unwrap_or(self.phase);
            self.refused_in_phase = None;
            return true;
        }
        if known.iter().any(|event| phase.pardons.as_deref() == Some(event.name()))
            && let Some(refused) = self.refused_in_phase.take()
        {
            self.transcript.details.misplaced_events.remove(refused);
        }
        let refused = known.iter().find_map(|event| phase.refuses.get(event.name()));
        let Some(refused) = refused.or(phase.refuses_others.as_ref()) else { return true };
        if self.refused_in_phase.is_none() {
            let says = refused.replace("{kind}", kind).replace("{other}", &self.last_opened);
            self.refused_in_phase = Some(self.transcript.details.misplaced_events.len());
            self.misplaced(event, kind, Misplacement::In(phase.name.clone()), Some(says));
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
            self.is_call_unnamed |= known.iter().any(|does| does.call.is_some());
            let key = first.at.key().to_owned();
            let why = Misplacement::Unnamed { thing: stream.thing.clone(), key };
            self.misplaced(event, kind, why, Some(first.refused.clone()));
        }
        missing.is_none()
    }

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
            if let Some(result) = &does.result {
                self.stray(result, item);
            }
            return;
        }
        if does.when_open.as_ref().is_some_and(|needs| !self.is_open(needs, event, item)) {
            return;
        }
        if let Some(tools) = &does.tools {
            self.declare(tools, item);
        }
        if let Some(list) = does.history.as_ref().and_then(|history| history.of(item)) {
            self.remember(list);
        }
        if let Some(list) = does.ui_messages.as_ref().and_then(|list| list.of(item)) {
            self.remember_ui(list);
        }
        for content in does.contents.iter().filter_map(|at| at.of(item)).flat_map(Value::elements) {
            self.content(content);
        }
        if let Some(says) = does.says.as_ref().filter(|_| !self.beside.1) {
            self.say(says, kind, item);
        }
        if let Some(call) = &does.call {
            self.call(item, call.id.of(item), call.name.of(item), call.arguments.of(item));
            let of = |at: &Paths| at.of(item).and_then(Named::of).map(|id| id.text);
            if call.by_server.of(item).and_then(Value::as_bool) == Some(true)
                && let Some(called) = of(&call.id).and_then(|id| self.calls.get(&id))
                && let Body::Call(call) = &mut self.transcript.parts[called.part].body
            {
                call.executor = Executor::Server;
            }
            self.items.extend(of(&call.item).zip(of(&call.id)));
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
        if let Some(id) = does.deletes.as_ref().and_then(|id| id.of(item)?.as_str()) {
            self.delete(&id);
        }
        if does.aborts {
            self.abort();
        }
        self.end_with(does, kind, event);
        if let Some(opens) = &does.opens {
            self.open(opens, kind, event, item);
        }
        if let Some(closes) = &does.closes
            && self.has(closes, kind, event, item)
            && let Some(key) = self.key(closes, event, item)
            && let Some(open) = self.open.get_mut(&*closes.thing)
        {
            open.remove(&key);
        }
        if let Some(ends) = &does.ends_one
            && let Some(key) = self.key(ends, event, item)
        {
            self.open.get_mut(&*ends.thing).map(|open| open.remove(&key));
        }
    }

    /// What is not whole yet was never meant to be run.
    fn cut_off(&mut self) {
        let open = self.protocol.cut_off.as_deref().and_then(|thing| self.open.get(thing));
        for called in open.into_iter().flatten().filter_map(|(id, _)| self.calls.get(&**id)) {
            if let Some(Body::Call(call)) =
                self.transcript.parts.get_mut(called.part).map(|part| &mut part.body)
            {
                call.unpaired.get_or_insert(UnpairedReason::Aborted);
            }
        }
    }

    /// Ends what an event ends, or what must have ended before it.
    fn end_with(&mut self, does: &'p Event, kind: &str, event: Value<'_, 's>) {
        if does.goes_on {
            self.pass();
            self.before_step = self.transcript.parts.len();
        }
        if does.begins_turn {
            self.waiting.clear();
            self.unanswered = 0;
        }
        if does.closes_all {
            self.cut_off();
            self.open.clear();
            self.refused.clear();
        }
        if !does.ends.is_empty() {
            self.ends.push(self.transcript.parts.len());
        }
        let before = self.transcript.details.misplaced_events.len();
        for ends in &does.ends {
            self.end_all(ends, kind, event);
        }
        // It came too early, which is one mistake, whatever is open. So is what comes after it.
        let misplaced = &mut self.transcript.details.misplaced_events;
        if misplaced.len() > before {
            misplaced.truncate(before + 1);
            self.refused_in_phase = Some(before);
        }
    }

    fn open(&mut self, opens: &'p Resource, kind: &str, event: Value<'_, 's>, item: Value<'_, 's>) {
        let Some((id, key)) = id_of(opens, item).zip(self.key(opens, event, item)) else { return };
        self.openings += 1;
        self.opened.entry(&opens.thing).or_default().push((key.clone(), self.openings));
        let is_open = self.open.entry(&opens.thing).or_default().insert(key, self.openings).is_some();
        if let (true, Some(refused)) = (is_open, &opens.refused) {
            let says = refused.replace("{id}", &id);
            let why = Misplacement::Open { thing: opens.thing.clone(), id: id.to_string() };
            self.misplaced(event, kind, why, Some(says));
        }
        self.last_opened = id.into_owned();
    }

    /// Whether what an event needs is open, or may be. If it is not, the event is misplaced.
    fn has(&mut self, needs: &'p Resource, kind: &str, event: Value<'_, 's>, item: Value<'_, 's>) -> bool {
        let Some((id, key)) = id_of(needs, item).zip(self.key(needs, event, item)) else { return true };
        if !self.has_begun || self.is_open(needs, event, item) {
            return true;
        }
        // What has another id than all before probably is of what was opened last, which has no piece of that then.
        let open = self.open.get(&*needs.thing);
        let opened = self.opened.entry(&needs.thing).or_default();
        while opened.pop_if(|(id, number)| open.and_then(|open| open.get(id)) != Some(number)).is_some() {}
        let last = opened.last().map(|(id, _)| id.clone());
        let refused = self.refused.entry(&needs.thing).or_default();
        let is_first = refused.insert(key);
        refused.extend(last);
        if is_first {
            let refused = needs.refused.as_ref();
            let refused = refused.filter(|_| !needs.says_if_new || !self.calls.contains_key(&*id));
            let says = refused.map(|refused| refused.replace("{id}", &id));
            let why = Misplacement::NotOpen { thing: needs.thing.clone(), id: id.to_string() };
            self.misplaced(event, kind, why, says);
        }
        false
    }

    fn is_open(&self, needs: &Resource, event: Value<'_, 's>, item: Value<'_, 's>) -> bool {
        let open = self.open.get(&*needs.thing);
        open.zip(self.key(needs, event, item)).is_some_and(|(open, key)| open.contains_key(&key))
    }

    /// What something is known by while it is open: its id, and who opened it if each who sends has its own.
    fn key(&self, resource: &Resource, event: Value<'_, 's>, item: Value<'_, 's>) -> Option<String> {
        let id = id_of(resource, item)?;
        let lane = if resource.is_of_lane { self.lane(event) } else { String::new() };
        Some(if lane.is_empty() { id.into_owned() } else { format!("{id} ({lane})") })
    }

    /// Remembers the result of a call that is not open: it probably is that of one which gets none.
    fn stray(&mut self, step: &ResultStep, item: Value<'_, 's>) {
        let id = step.id.of(item).and_then(Named::of);
        if id.is_some_and(|id| self.orphans.insert(id.text)) {
            self.strays.push(self.transcript.parts.len());
        }
    }

    /// Settles a call without a result for each result that was refused, which is the one mistake.
    fn settle_strays(&mut self) {
        let lost = |called: &&OpenCall<'s>| !called.has_result;
        let mut lost: Vec<usize> = self.calls.values().filter(lost).map(|called| called.part).collect();
        lost.sort_unstable();
        let mut lost = lost.into_iter().peekable();
        for before in std::mem::take(&mut self.strays) {
            let Some(part) = lost.next_if(|part| *part < before) else { continue };
            if let Body::Call(call) = &mut self.transcript.parts[part].body {
                call.unpaired.get_or_insert(UnpairedReason::Elsewhere);
            }
        }
    }

    /// Closes everything of a kind, of which nothing should be open.
    fn end_all(&mut self, ends: &'p MustBeClosed, kind: &str, event: Value<'_, 's>) {
        let Some(mut open) = self.open.remove(&*ends.thing) else { return };
        // What an event was refused for is that mistake.
        let refused = self.refused.get(&*ends.thing);
        open.retain(|id, _| refused.is_none_or(|refused| !refused.contains(id)));
        let mut ids: Vec<(usize, String)> = open.into_iter().map(|(id, number)| (number, id)).collect();
        if ids.is_empty() {
            return;
        }
        ids.sort_unstable();
        let ids: Vec<String> = ids.into_iter().map(|(_, id)| id).collect();
        let says = ends.refused.as_ref().map(|refused| refused.replace("{ids}", &ids.join(", ")));
        self.misplaced(event, kind, Misplacement::LeftOpen { thing: ends.thing.clone(), ids }, says);
    }

    fn say(&mut self, says: &EventMessage, kind: &str, item: Value<'_, 's>) {
        let Some(text) = says.text.of(item).filter(|text| text.as_json_str().is_some()) else { return };
        if let Some(id) = says.item.of(item).and_then(Value::as_str)
            && *self.said.entry(id).or_insert_with(|| kind.to_owned()) != *kind
        {
            return;
        }
        let transcript = match &*says.role {
            "user" => self.transcript.turn(Role::User, item),
            "system" => self.transcript.turn(Role::System, item),
            _ => self.of_model(item),
        };
        transcript.part(text, Body::text(Some(text)));
    }

    pub(super) fn call(
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
                self.of_model(item).part(item, Body::Call(call));
            }
            return;
        };
        let Some(named) = Named::of(id) else { return };
        let arguments = arguments.filter(|value| !value.is_null());
        let is_over = |called: &OpenCall<'s>| called.has_result && called.part < self.before_step;
        if self.calls.get(&named.text).is_some_and(is_over)
            && let Some(called) = self.calls.remove(&named.text)
        {
            self.calls.insert(format!("{} ({})", named.text, called.part).into(), called);
        }
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
        self.of_model(item).part(item, Body::Call(call));
        let part = self.transcript.parts.len() - 1;
        self.waiting.push(named.text.clone());
        self.unanswered += 1;
        self.calls.insert(named.text, OpenCall { part, ..OpenCall::default() });
    }

    fn result(&mut self, step: &ResultStep, kind: &str, event: Value<'_, 's>, item: Value<'_, 's>) {
        let id = step.id.of(item);
        let text = id.and_then(Named::of).map(|id| id.text);
        let called = text.as_ref().and_then(|id| self.calls.get_mut(id));
        let is_known = called.is_some();
        let mut executor = Executor::default();
        // What repeats a result that belongs to no call is no second mistake.
        if !is_known && step.may_repeat && text.as_ref().is_some_and(|id| self.orphans.contains(id)) {
            return;
        }
        if let Some(called) = called {
            if called.has_result && step.may_repeat {
                return;
            }
            if let Some(Body::Call(call)) = self.transcript.parts.get(called.part).map(|part| &part.body) {
                executor = call.executor;
            }
            self.unanswered = self.unanswered.saturating_sub(usize::from(!called.has_result));
            called.has_result = true;
            called.results.push(self.transcript.parts.len());
            if called.is_cancelled {
                called.is_cancelled = false;
                let id = text.as_deref().unwrap_or_default().to_owned();
                self.misplaced(event, kind, Misplacement::Cancelled(id), None);
            }
        }
        let is_deleted = text.as_ref().is_some_and(|id| self.deleted.contains(id));
        let is_refused = text.as_ref().is_some_and(|id| self.refused.values().any(|ids| ids.contains(&**id)));
        let is_orphan = !is_known && self.protocol.is_continued && self.unanswered > 0;
        if is_orphan {
            self.stray(step, item);
        } else if !is_known {
            self.orphans.extend(text);
        }
        let content = step.content.of(item);
        let mut result = parts::result(id, content, step.is_error);
        result.name = step.name.of(item).and_then(Named::of);
        result.executor = executor;
        // A log may begin in the middle, and what was refused may have been the call.
        let is_begun = self.has_begun
            && (is_orphan || self.has_history || !self.protocol.is_continued)
            && !is_refused
            && (is_known || !std::mem::take(&mut self.is_call_unnamed));
        result.unpaired = (!is_known && !is_deleted && !is_begun).then_some(UnpairedReason::Elsewhere);
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

    /// Takes a call out of the conversation, with its results. A later result is one of no call.
    fn delete(&mut self, item: &str) {
        let Some((id, called)) = self.items.remove(item).and_then(|id| self.calls.remove_entry(&id)) else {
            return;
        };
        self.deleted.insert(id);
        let Some(part) = self.transcript.parts.get_mut(called.part) else { return };
        if let Body::Call(call) = &mut part.body {
            call.unpaired = Some(UnpairedReason::Deleted);
        }
        for number in called.results {
            if let Some(Body::Result(result)) =
                self.transcript.parts.get_mut(number).map(|part| &mut part.body)
            {
                result.unpaired = Some(UnpairedReason::Deleted);
            }
        }
    }

    /// Nobody waits for the results of calls that have none.
    pub(crate) fn abort(&mut self) {
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

fn id_of<'s>(needs: &Resource, item: Value<'_, 's>) -> Option<Cow<'s, str>> {
    needs.id.of(item).and_then(Named::of).map(|id| id.text)
}
