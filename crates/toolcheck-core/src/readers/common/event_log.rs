//! Reads a log of events: what was called and answered in it, and which events come when they may not.

use foldhash::HashMap;
use toolcheck_json::Value;

use super::event_session::Session;
use super::events::{self, Event, Protocol};
use super::parts::number_titles;
use super::{LOOKED_AT, Reader, Reading};
use crate::claim::certainty;
use crate::names::words;

pub(crate) fn read<'s>(reader: &'static Reader, records: &[Value<'_, 's>]) -> Reading<'s> {
    let protocol = events::protocol(reader.id);
    let kinds = Kinds::new(protocol);
    let mut log = Log { reader, protocol, sessions: Vec::new(), by_id: HashMap::default(), now: None };
    let mut reading = Reading::default();
    for record in in_order(records, protocol) {
        let Some((event, kind)) = kinds.event(record) else {
            reading.leave_out_unknown("records that are not known events", record);
            continue;
        };
        if !log.add(record, event, &kind) {
            reading.leave_out("events without calls, results or texts");
        }
    }
    reading.is_apart = protocol.events.iter().any(|event| event.begins_anew);
    reading.conversations = log.sessions.into_iter().map(|session| session.end()).collect();
    number_titles(&mut reading.conversations);
    reading
}

/// How certain it is that records are of a protocol: one that is tells of all.
pub(crate) fn sniff(id: &str, records: &[Value<'_, '_>]) -> u8 {
    let is_shown =
        |event: Value<'_, '_>| events::may_be_event(event) && events::protocol(id).is_shown_by(event);
    let is_own = |record: &Value<'_, '_>| {
        let listed = lists_of(*record).flat_map(|list| list.elements().take(LOOKED_AT));
        is_shown(*record) || listed.into_iter().any(is_shown)
    };
    if records.iter().any(is_own) { certainty::OWN_SHAPE } else { 0 }
}

/// The lists that may be of events: the record, or those that a document has beside what it says of them.
fn lists_of<'d, 's>(record: Value<'d, 's>) -> impl Iterator<Item = Value<'d, 's>> {
    const KEYS: [&str; 5] = words("events messages entries frames log");
    let own = Some(record).filter(|record| record.is_array());
    own.into_iter()
        .chain(KEYS.into_iter().filter_map(move |key| record.get(key).filter(|list| list.is_array())))
}

/// The events of the records, the oldest first: some programs show the newest first.
fn in_order<'d, 's>(records: &[Value<'d, 's>], protocol: &Protocol) -> Vec<Value<'d, 's>> {
    let is_shown = |event: Value<'_, '_>| events::may_be_event(event) && protocol.is_shown_by(event);
    let lists = |record: &Value<'d, 's>| {
        let is_event = record.is_object() && protocol.is_shown_by(*record);
        let of_events = |list: &Value<'_, '_>| {
            list.elements().next().is_some() && (list.id() == record.id() || list.elements().any(is_shown))
        };
        let list = lists_of(*record).filter(|_| !is_event).find(of_events);
        list.map_or_else(|| vec![*record], |list| list.elements().collect())
    };
    let mut events: Vec<Value<'d, 's>> = records.iter().flat_map(lists).collect();
    let time = |event: Option<&Value<'d, 's>>| event.and_then(|event| event.get("timestamp")?.as_u64());
    if let (Some(first), Some(last)) = (time(events.first()), time(events.last()))
        && first > last
    {
        events.reverse();
    }
    events
}

struct Kinds {
    protocol: &'static Protocol,
    by_kind: HashMap<&'static str, Vec<&'static Event>>,
    /// The kinds by how they are read where programs write them in another case.
    in_any_case: HashMap<String, &'static str>,
    /// Events without a kind.
    by_key: Vec<&'static Event>,
}

/// What is known of an event: how its kind is written, and what it does.
struct Known {
    kind: String,
    events: Vec<&'static Event>,
}

impl Kinds {
    fn new(protocol: &'static Protocol) -> Self {
        let mut by_kind = HashMap::<&str, Vec<&Event>>::default();
        let mut by_key = Vec::new();
        for event in protocol.events.iter() {
            match &event.kind {
                Some(kind) => by_kind.entry(kind).or_default().push(event),
                None => by_key.push(event),
            }
        }
        for other in protocol.others.iter() {
            by_kind.entry(other).or_default();
        }
        let kinds = by_kind.keys().filter(|_| protocol.kinds_in_any_case);
        let in_any_case = kinds.map(|kind| (without_case(kind), *kind)).collect();
        Self { protocol, by_kind, in_any_case, by_key }
    }

    fn event<'d, 's>(&self, record: Value<'d, 's>) -> Option<(Value<'d, 's>, Known)> {
        let own = self.known(record);
        let inner = events::wrapped(record).find_map(|event| Some((event, self.known(event)?)));
        match (own, inner) {
            (Some(own), Some((event, inner))) if own.kind == inner.kind => Some((event, inner)),
            (Some(own), _) => Some((record, own)),
            (None, inner) => inner,
        }
    }

    fn known(&self, event: Value<'_, '_>) -> Option<Known> {
        if !event.is_object() {
            return None;
        }
        if let Some(mut kind) = self.protocol.kind.of(event).and_then(Value::as_str) {
            if !self.in_any_case.is_empty()
                && !self.by_kind.contains_key(&*kind)
                && let Some(known) = self.in_any_case.get(&without_case(&kind))
            {
                kind = (*known).into();
            }
            // What ends so is the beginning of any number of kinds.
            let is_of = |other: &String| other.strip_suffix('*').is_some_and(|start| kind.starts_with(start));
            let other = || self.protocol.others.iter().any(is_of).then_some(&[][..]);
            if let Some(events) = self.by_kind.get(&*kind).map(Vec::as_slice).or_else(other) {
                let events = events.iter().copied().filter(|known| known.fits(event)).collect();
                return Some(Known { kind: kind.into_owned(), events });
            }
        }
        let events: Vec<&Event> = self.by_key.iter().copied().filter(|known| known.fits(event)).collect();
        let kind = events.first()?.shown().to_owned();
        Some(Known { kind, events })
    }
}

/// A kind as it is in any case.
fn without_case(kind: &str) -> String {
    kind.chars().filter(|char| *char != '_').map(|char| char.to_ascii_lowercase()).collect()
}

struct Log<'s> {
    reader: &'static Reader,
    protocol: &'static Protocol,
    sessions: Vec<Session<'s>>,
    by_id: HashMap<String, usize>,
    now: Option<usize>,
}

impl<'s> Log<'s> {
    /// Adds an event. Says whether it called, answered or said something.
    fn add(&mut self, record: Value<'_, 's>, event: Value<'_, 's>, known: &Known) -> bool {
        let id = self.protocol.session.of(event).and_then(Value::as_str);
        let of_id = id.as_deref().map(|id| self.by_id.get(id).copied());
        let now = match of_id {
            Some(Some(known)) => known,
            // What came before the first id is of the same session.
            Some(None) if !self.by_id.is_empty() => self.sessions.len(),
            _ => self.now.unwrap_or(0),
        };
        let is_whole = known.events.iter().any(|event| event.is_whole);
        let before = self.sessions.get_mut(now).filter(|session| session.has_begun());
        let begins_anew = before.filter(|_| known.events.iter().any(|event| event.begins_anew));
        let now = match begins_anew {
            Some(before) => {
                before.abort();
                self.sessions.len()
            }
            None if is_whole => self.sessions.len(),
            None => now,
        };
        if let Some(id) = id.filter(|_| of_id != Some(Some(now))) {
            self.by_id.insert(id.into_owned(), now);
        }
        if now == self.sessions.len() {
            self.sessions.push(Session::new(self.reader, self.protocol, record));
        }
        self.now = Some(now);
        self.sessions[now].add(event, &known.kind, &known.events)
    }
}
