//! What is said on one connection: each event opens and closes things, calls and answers.

use std::borrow::Cow;

use foldhash::{HashMap, HashSet};
use toolcheck_json::Value;

use super::event_calls::{self, OpenCall};
use super::events::{Event, EventMessage, FirstNeeds, Key, MustBeClosed, Piece, Protocol, Resource};
use super::{Conversation, ConversationEnd, LOOKED_AT, Reader};
use crate::ir::{
    Arguments, Body, MisplacedEvent, Misplacement, Named, Place, Role, Transcript, UnpairedReason,
};

pub(crate) struct Session<'s> {
    pub(super) protocol: &'static Protocol,
    /// Whether what was said before is known.
    pub(super) has_history: bool,
    /// Whether the calls of a message in it are left out.
    pub(super) hides_calls: bool,
    pub(super) transcript: Transcript<'s>,
    /// The keys that were wrong or missing in this turn, with whether they were there.
    pub(super) faulty_keys: HashSet<(*const Key, bool)>,
    /// What was opened in this turn and may be opened only once.
    pub(super) begun: HashMap<&'static str, HashSet<String>>,
    /// Who has opened what, by what it is and its id.
    pub(super) owners: HashMap<(&'static str, String), String>,
    /// The calls with the ids of earlier ones, if the other side takes them for those.
    pub(super) again: HashMap<Cow<'s, str>, MisplacedEvent>,
    /// Whether the other side takes results without ids.
    pub(super) waives_ids: bool,
    /// What was opened without its id.
    pub(super) unnamed: HashSet<&'static str>,
    /// Whether the log has everything from here on.
    pub(super) has_begun: bool,
    pub(super) phase: usize,
    /// What was refused in this phase, as its number. What follows it is no other mistake.
    pub(super) refused_in_phase: Option<usize>,
    /// The event that was refused in this phase, and that of the phase before.
    pub(super) refused_events: [Option<&'static str>; 2],
    /// The ids of what is open, by what it is, with the number of the opening.
    pub(super) open: HashMap<&'static str, HashMap<String, usize>>,
    /// The ids of what an event was refused for, by what it is: what follows is no other mistake.
    pub(super) refused: HashMap<&'static str, HashSet<String>>,
    /// Whether the first piece of a call had no id, so that a result may be of that call.
    pub(super) is_call_unnamed: bool,
    /// Whether a piece was refused that may be of the next call.
    pub(super) is_piece_refused: bool,
    /// The ids of the results of such calls.
    pub(super) of_unnamed: HashSet<Cow<'s, str>>,
    pub(super) openings: usize,
    /// How many parts there are before this turn or step, which may use the ids of earlier ones again.
    pub(super) turn_start: usize,
    /// What was opened, in its order, with those that are closed again.
    pub(super) opened: HashMap<&'static str, Vec<(String, usize)>>,
    /// The numbers of parts before the ends of what must leave nothing open.
    pub(super) ends: Vec<usize>,
    /// How many openings there were when the other side forgot what was open, by what it is.
    pub(super) forgotten: HashMap<&'static str, usize>,
    /// The kind and the id of the stream whose chunks come, by who sends it.
    pub(super) streams: HashMap<String, (String, Cow<'s, str>)>,
    pub(super) calls: HashMap<Cow<'s, str>, OpenCall<'s>>,
    /// The ids of the calls since nobody waited for any.
    pub(super) waiting: Vec<Cow<'s, str>>,
    /// How many of these have no result.
    pub(super) unanswered: usize,
    /// The ids of results that belong to no call.
    pub(super) orphans: HashSet<Cow<'s, str>>,
    /// The ids of the calls and the numbers of their parts, by the ids of their items.
    pub(super) items: HashMap<Cow<'s, str>, (Cow<'s, str>, usize)>,
    /// The ids of the calls that were taken out.
    pub(super) deleted: HashSet<Cow<'s, str>>,
    /// The response that goes on, and whether it has added nothing yet.
    pub(super) turn: (Cow<'s, str>, bool),
    /// The responses beside the conversation, and whether the event is of one of them.
    pub(super) beside: (HashSet<Cow<'s, str>>, bool),
    /// The events that brought the text of a message, by its id.
    pub(super) said: HashMap<Cow<'s, str>, String>,
    /// The ids that results were refused for, each with the number of parts before the first.
    pub(super) strays: Vec<(usize, Cow<'s, str>)>,
    pub(super) tools: HashMap<Cow<'s, str>, usize>,
}

impl<'s> Session<'s> {
    pub(crate) fn new(reader: &Reader, protocol: &'static Protocol, record: Value<'_, 's>) -> Self {
        let mut transcript = Transcript::of_conversation(reader.key(), record);
        transcript.details.results_may_wait = true;
        Self {
            protocol,
            has_history: false,
            hides_calls: false,
            transcript,
            faulty_keys: HashSet::default(),
            begun: HashMap::default(),
            owners: HashMap::default(),
            again: HashMap::default(),
            waives_ids: false,
            unnamed: HashSet::default(),
            has_begun: false,
            phase: 0,
            refused_in_phase: None,
            refused_events: [None; 2],
            open: HashMap::default(),
            refused: HashMap::default(),
            is_call_unnamed: false,
            is_piece_refused: false,
            of_unnamed: HashSet::default(),
            openings: 0,
            turn_start: 0,
            opened: HashMap::default(),
            ends: Vec::new(),
            forgotten: HashMap::default(),
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
        for called in self.calls.into_values() {
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
                _ if called.is_refused => {}
                [] => {}
                [(_, arguments)] => call.arguments = *arguments,
                pieces => {
                    let text = pieces.iter().map(|(text, _)| &**text).collect();
                    self.transcript.details.streamed_arguments.insert(called.part, text);
                }
            }
        }
        self.transcript.details.misplaced_events.extend(self.again.into_values());
        Conversation::new("session", self.transcript, ConversationEnd::Open)
    }

    /// Adds an event of a kind. Says whether it has called, answered, said or declared something.
    pub(crate) fn add(&mut self, event: Value<'_, 's>, kind: &str, known: &[&'static Event]) -> bool {
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
    fn turn_to(&mut self, event: Value<'_, 's>, known: &[&'static Event]) {
        let id = self.protocol.turn.of(event).and_then(Value::as_str);
        if known.iter().any(|does| does.is_beside) {
            self.beside.0.extend(id.clone());
        }
        self.beside.1 = id.as_ref().is_some_and(|id| self.beside.0.contains(id));
        if let Some(id) = id.filter(|id| !self.beside.1 && self.turn.0 != *id) {
            self.turn = (id, true);
            self.turn_start = self.transcript.parts.len();
        }
    }

    /// The message that the model's part of an event belongs to.
    pub(super) fn of_model(&mut self, item: Value<'_, 's>) -> &mut Transcript<'s> {
        if std::mem::take(&mut self.turn.1) {
            return self.transcript.next_message(Role::Assistant, item);
        }
        self.transcript.turn(Role::Assistant, item)
    }

    /// Goes on to the next phase. Says whether the event may come.
    fn step(&mut self, event: Value<'_, 's>, kind: &str, known: &[&'static Event]) -> bool {
        let Some(phase) = self.protocol.phases.get().get(self.phase) else { return true };
        if let Some(to) = known.iter().find_map(|event| phase.to.get(event.name())) {
            let next = self.protocol.phases.iter().position(|phase| phase.name == *to);
            self.phase = next.unwrap_or(self.phase);
            self.refused_in_phase = None;
            self.refused_events = [None, self.refused_events[0]];
            return true;
        }
        if known.iter().any(|event| phase.pardons.as_deref() == Some(event.name()))
            && let Some(refused) = self.refused_in_phase.take()
        {
            self.transcript.details.misplaced_events.remove(refused);
        }
        let refused = known.iter().find_map(|event| phase.refuses.get(event.name()));
        let Some(refused) = refused.or(phase.refuses_others.as_ref()) else { return true };
        // What was refused in the phase before may have been meant for this one.
        if let Some(to) = self.refused_events[1].take().and_then(|name| phase.to.get(name)) {
            let next = self.protocol.phases.iter().position(|phase| phase.name == *to);
            self.phase = next.unwrap_or(self.phase);
            return true;
        }
        let is_new = phase.refuses_others.is_none() || self.refuse(event, known);
        if self.refused_in_phase.is_none() && is_new {
            self.refused_events[0] = known.first().map(|event| event.name());
            let says = refused.replace("{kind}", kind).replace("{other}", &self.turn.0);
            self.refused_in_phase = Some(self.transcript.details.misplaced_events.len());
            self.misplaced(event, kind, Misplacement::In(phase.name.clone()), Some(says));
        }
        phase.refuses_others.is_none()
    }

    /// Remembers what an event is for that is refused whatever it is for. Says whether that is new.
    fn refuse(&mut self, event: Value<'_, 's>, known: &[&'static Event]) -> bool {
        let mut is_new = true;
        for does in known {
            for of in [&does.opens, &does.needs, &does.closes].into_iter().flatten() {
                let Some(key) = self.key(of, event, event) else { continue };
                if let Some(called) = self.calls.get_mut(&*key) {
                    called.is_refused = true;
                }
                is_new = self.refused.entry(&of.thing).or_default().insert(key);
            }
        }
        is_new
    }

    /// Follows the streams of chunks. Says whether the event may come.
    fn follow(&mut self, event: Value<'_, 's>, kind: &str, known: &[&'static Event]) -> bool {
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
            let is_call = known.iter().any(|does| does.call.is_some());
            self.is_call_unnamed |= is_call;
            // It is a piece of a call before or after it.
            let last = self.waiting.last().filter(|_| is_call);
            if let Some(called) = last.and_then(|last| self.calls.get_mut(last)) {
                called.is_refused = true;
            }
            self.is_piece_refused |= is_call;
            let key = first.at.key().to_owned();
            let why = Misplacement::Unnamed { thing: stream.thing.clone(), key };
            self.misplaced(event, kind, why, Some(first.refused.clone()));
        }
        missing.is_none()
    }

    pub(super) fn lane(&self, event: Value<'_, 's>) -> String {
        self.protocol.lane.of(event).and_then(Value::as_str).unwrap_or_default().into_owned()
    }

    pub(super) fn misplaced(
        &mut self,
        event: Value<'_, 's>,
        kind: &str,
        why: Misplacement,
        says: Option<String>,
    ) {
        let is_doubtful = self.protocol.phases.get().get(self.phase).is_some_and(|phase| phase.is_doubtful);
        self.transcript.details.misplaced_events.push(MisplacedEvent {
            place: Place::of(event),
            kind: kind.to_owned(),
            is_doubtful: is_doubtful && matches!(why, Misplacement::In(_)),
            why,
            says: says.filter(|says| !says.is_empty()),
        });
    }

    fn apply(&mut self, does: &'static Event, kind: &str, event: Value<'_, 's>, item: Value<'_, 's>) {
        let is_unnamed = |of: &Resource| of.id.of(item).and_then(Value::as_json_str).is_none();
        let is_of_unnamed = |of: &Resource| is_unnamed(of) && self.unnamed.contains(&*of.thing);
        if ![&does.needs, &does.closes].into_iter().flatten().any(is_of_unnamed)
            && !self.check_keys(&does.keys, item)
            && let Some(opens) = &does.opens
            && is_unnamed(opens)
        {
            self.unnamed.insert(&opens.thing);
        }
        if let Some(follows) = &does.follows {
            self.check_begun(follows, kind, event);
        }
        // What is refused does nothing.
        if let Some(needs) = &does.needs
            && !self.has(needs, kind, event, item)
        {
            if let Some(result) = &does.result {
                self.stray(result, item);
            }
            return;
        }
        self.waives_ids |= does.waives_ids;
        if does.replaces_history {
            self.owners.clear();
            self.again.clear();
        }
        if does.when_open.as_ref().is_some_and(|needs| !self.is_open(needs, event, item)) {
            return;
        }
        if let Some(tools) = &does.tools {
            self.declare(tools, item);
        }
        if let Some(list) = does.history.as_ref().and_then(|history| history.of(item)) {
            self.remember(list, !does.replaces_history);
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
            self.make(call, kind, item);
        }
        if let Some(piece) = &does.arguments {
            self.add_piece(piece, event, item);
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
        self.open_and_close(does, kind, event, item);
    }

    fn open_and_close(
        &mut self,
        does: &'static Event,
        kind: &str,
        event: Value<'_, 's>,
        item: Value<'_, 's>,
    ) {
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

    /// Adds a piece of the arguments of a call that was made.
    fn add_piece(&mut self, piece: &'static Piece, event: Value<'_, 's>, item: Value<'_, 's>) {
        let of_stream = || Some(self.streams.get(&self.lane(event))?.1.clone());
        if let Some(id) = piece.id.of(item).and_then(Value::as_str).or_else(of_stream)
            && let Some(called) = self.calls.get_mut(&id)
            && let Some(piece) = piece.piece.of(item)
            && let text = piece.as_str()
            // An empty piece says nothing, and some servers send nothing else for a tool without parameters.
            && text.as_ref().is_none_or(|text| !text.is_empty())
        {
            called.pieces.push((text.unwrap_or_default(), Arguments::of(Some(piece))));
        }
    }

    /// Ends what an event ends, or what must have ended before it.
    fn end_with(&mut self, does: &'static Event, kind: &str, event: Value<'_, 's>) {
        if does.goes_on {
            self.pass();
            self.turn_start = self.transcript.parts.len();
        }
        if does.replays {
            self.turn_start = 0;
        }
        if does.begins_turn {
            self.turn_start = self.transcript.parts.len();
            self.faulty_keys.clear();
            self.begun.clear();
            self.owners.clear();
            self.waiting.clear();
            self.unanswered = 0;
        }
        if does.closes_all {
            self.cut_off();
            self.open.clear();
            self.refused.clear();
            self.unnamed.clear();
        }
        self.forgotten.extend(does.forgets.iter().map(|thing| (&**thing, self.openings)));
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

    fn open(&mut self, opens: &'static Resource, kind: &str, event: Value<'_, 's>, item: Value<'_, 's>) {
        let Some((id, key)) = id_of(opens, item).zip(self.key(opens, event, item)) else { return };
        self.openings += 1;
        self.opened.entry(&opens.thing).or_default().push((key.clone(), self.openings));
        let known = key.clone();
        let is_open = self.open.entry(&opens.thing).or_default().insert(key, self.openings).is_some();
        let is_known = self.refused.get(&*opens.thing).is_some_and(|refused| refused.contains(&known));
        if let (true, false, Some(refused)) = (is_open, is_known, &opens.refused) {
            let says = refused.replace("{id}", &id);
            let why = Misplacement::Open { thing: opens.thing.clone(), id: id.to_string() };
            self.misplaced(event, kind, why, Some(says));
        }
        if !is_open {
            self.begin(opens, &id, kind, event);
        }
        self.own(opens, &id, kind, event);
    }

    /// Whether what an event needs is open, or may be. If it is not, the event is misplaced.
    fn has(
        &mut self,
        needs: &'static Resource,
        kind: &str,
        event: Value<'_, 's>,
        item: Value<'_, 's>,
    ) -> bool {
        let Some((id, key)) = id_of(needs, item).zip(self.key(needs, event, item)) else { return true };
        if !self.has_begun || self.is_open(needs, event, item) {
            self.check_owner(needs, &id, kind, event);
            self.check_forgotten(needs, &id, kind, event);
            return true;
        }
        // What has another id than all before probably is of what was opened last, which has no piece of that then.
        let open = self.open.get(&*needs.thing);
        let opened = self.opened.entry(&needs.thing).or_default();
        while opened.pop_if(|(id, number)| open.and_then(|open| open.get(id)) != Some(number)).is_some() {}
        let last = opened.last().map(|(id, _)| id.clone());
        let refused = self.refused.entry(&needs.thing).or_default();
        let is_first = refused.insert(key);
        // It may be of any that is open.
        let open = open.into_iter().flat_map(HashMap::keys).map(String::as_str).take(LOOKED_AT);
        for id in [&*id].into_iter().chain(last.as_deref()).chain(open) {
            if let Some(called) = self.calls.get_mut(id) {
                called.is_refused = true;
            }
        }
        refused.extend(last);
        // What was opened without an id may be this.
        if is_first && !self.unnamed.contains(&*needs.thing) {
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

    /// Closes everything of a kind, of which nothing should be open.
    fn end_all(&mut self, ends: &'static MustBeClosed, kind: &str, event: Value<'_, 's>) {
        let Some(mut open) = self.open.remove(&*ends.thing) else { return };
        // What an event was refused for is that mistake, and what follows is no other.
        let refused = self.refused.entry(&ends.thing).or_default();
        open.retain(|id, _| refused.insert(id.clone()));
        let mut ids: Vec<(usize, String)> = open.into_iter().map(|(id, number)| (number, id)).collect();
        if ids.is_empty() {
            return;
        }
        ids.sort_unstable();
        let ids: Vec<String> = ids.into_iter().map(|(_, id)| id).collect();
        for id in &ids {
            if let Some(called) = self.calls.get_mut(&**id) {
                called.is_refused = true;
            }
        }
        let says = ends.refused.as_ref().map(|refused| refused.replace("{ids}", &ids.join(", ")));
        self.misplaced(event, kind, Misplacement::LeftOpen { thing: ends.thing.clone(), ids }, says);
    }

    fn say(&mut self, says: &EventMessage, kind: &str, item: Value<'_, 's>) {
        let Some(text) = says.text.of(item).filter(|text| text.is_string()) else { return };
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
}

fn id_of<'s>(needs: &Resource, item: Value<'_, 's>) -> Option<Cow<'s, str>> {
    needs.id.of(item).and_then(Named::of).map(|id| id.text)
}
