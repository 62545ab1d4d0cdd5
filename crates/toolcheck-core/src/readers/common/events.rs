//! Protocols whose messages are events, as data: what each event opens, closes, calls or answers, and which come when they
//! may not. One TOML file a protocol, read when a file of it is.

use std::iter;

use foldhash::HashMap;
use serde::Deserialize;
use toolcheck_json::Value;
use toolcheck_toml::Deferred;

use crate::tables::{EVENTS, KEYS_OF_EVENTS, Tables};

static ALL: Tables<Protocol, { EVENTS.1.len() }> = Tables::new(EVENTS);

/// The protocol of a reader.
pub(crate) fn protocol(id: &str) -> &'static Protocol {
    // A test asks for each.
    ALL.find(id).expect("there is a file of this name")
}

/// A protocol whose messages are events. Every file is asked whether it is of one, so what only a reader needs is read later.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct Protocol {
    /// Where its facts come from.
    #[allow(dead_code, reason = "the tests ask for it")]
    pub(crate) sources: Deferred<Vec<String>>,
    /// What shows it: what no other events have.
    pub(crate) shown_by: Vec<Sign>,
    /// Where the text is that names the kind of an event.
    pub(crate) kind: Paths,
    /// Whether programs write kinds in another case too, such as `ToolCall` for `tool_call`.
    pub(crate) kinds_in_any_case: bool,
    /// Where the id of the session is, if a log may have several at once.
    pub(crate) session: Paths,
    /// The events from which on a log has everything, so that what it does not have was never sent.
    pub(crate) begins: Deferred<Vec<String>>,
    /// Whether the side that calls may get its results in another way.
    pub(crate) is_answered_elsewhere: bool,
    /// Whether a session may go on with what another one began, and answer calls of that.
    pub(crate) is_continued: bool,
    /// What a call is while it is not whole: one that stays so was cut off.
    pub(crate) cut_off: Option<String>,
    /// What a session goes through, beginning with the first. Its events are known by their names.
    #[serde(rename = "phase")]
    pub(crate) phases: Deferred<Vec<Phase>>,
    #[serde(rename = "event")]
    pub(crate) events: Deferred<Vec<Event>>,
    /// The events that may come between the chunks of a stream, as others may not.
    pub(crate) within_streams: Deferred<Vec<String>>,
    /// Where the name is of who sends an event, if several send streams at the same time.
    pub(crate) lane: Paths,
    /// What the other side calls who sends an event without such a name.
    pub(crate) without_lane: String,
    /// What it says of an event that is sent by another one than what it is for.
    pub(crate) refuses_others: String,
    /// Where the id of the response is that an event belongs to: each is a turn of the model.
    pub(crate) turn: Paths,
    /// What the calls of a history must have.
    pub(crate) history_calls: Deferred<Vec<Key>>,
    /// What the results of a history must have.
    pub(crate) history_results: Deferred<Vec<Key>>,
    /// The events that neither call nor answer.
    pub(crate) others: Deferred<Vec<String>>,
}

impl Protocol {
    /// Whether a value is an event that only this protocol has, or what a log wraps around one.
    pub(crate) fn is_shown_by(&self, value: Value<'_, '_>) -> bool {
        let places = || iter::once(value).chain(wrapped(value));
        let has = |paths: &Paths| places().any(|place| paths.of(place).is_some());
        let shows =
            |sign: &Sign, found| sign.any.iter().any(|one| one.fits(found) && one.and.iter().all(has));
        places().any(|place| {
            self.shown_by.iter().any(|sign| sign.at.of(place).is_some_and(|found| shows(sign, found)))
        })
    }
}

/// The keys under which logs have a message, beside when it came or who sent it.
pub(crate) const WRAPPERS: [&str; 8] =
    ["message", "msg", "data", "event", "payload", "frame", "body", "json"];

/// Whether a value has a key of an event, or of what a log wraps around one. The tables of the protocols are read only then.
pub(crate) fn may_be_event(value: Value<'_, '_>) -> bool {
    value.get_any(KEYS_OF_EVENTS).or_else(|| value.get_any(&WRAPPERS)).is_some()
}

/// What a log may have wrapped into what it says of it, also twice.
pub(crate) fn wrapped<'d, 's>(record: Value<'d, 's>) -> impl Iterator<Item = Value<'d, 's>> {
    let inside = |value: Value<'d, 's>| WRAPPERS.iter().filter_map(move |key| value.get(key));
    let once = inside(record).filter(|inner| inner.is_object());
    once.flat_map(move |inner| [Some(inner), inner.get("event").filter(|event| event.is_object())]).flatten()
}

/// What shows that an event is of a protocol, by a value in it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sign {
    at: Paths,
    /// What the value may be.
    any: Vec<Shown>,
}

/// A value that shows a protocol.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shown {
    /// The texts of which it must be one, or the beginnings of what is written; any if there are none.
    #[serde(default)]
    is: Vec<String>,
    /// What it has.
    has: Option<Paths>,
    /// What else there is in the event, or in what the log wraps around it.
    #[serde(default)]
    and: Vec<Paths>,
}

impl Shown {
    fn fits(&self, found: Value<'_, '_>) -> bool {
        is_one(found, &self.is) && self.has.as_ref().is_none_or(|has| has.of(found).is_some())
    }
}

/// Whether a value is one of these texts, or is written so; any value but `null` is if there are none. A text that ends in
/// `*` is the beginning, and one between two `*` is anywhere in it.
fn is_one(value: Value<'_, '_>, texts: &[String]) -> bool {
    if texts.is_empty() {
        return !value.is_null();
    }
    let text = value.as_str();
    let text = text.as_deref().map_or(value.raw(), str::as_bytes);
    texts.iter().any(|is| match is.strip_suffix('*') {
        Some(start) => match start.strip_prefix('*') {
            Some(part) => toolcheck_json::contains(text, part.as_bytes()),
            None => text.starts_with(start.as_bytes()),
        },
        None => text == is.as_bytes(),
    })
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Phase {
    pub(crate) name: String,
    /// The phase that follows an event.
    #[serde(default)]
    pub(crate) to: HashMap<String, String>,
    /// The events that must not come in it, with what the other side says of them.
    #[serde(default)]
    pub(crate) refuses: HashMap<String, String>,
    /// What the other side says of each event that does not lead out of it.
    pub(crate) refuses_others: Option<String>,
    /// The event that shows that what was refused was none of this session: another one has begun.
    pub(crate) pardons: Option<String>,
    /// Whether a log may show it where it is none, because the two sides write at the same time.
    #[serde(default)]
    pub(crate) is_doubtful: bool,
}

/// What is known of an event. Several may be known of one kind.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct Event {
    pub(crate) kind: Option<String>,
    /// What it has, in a protocol whose events name no kind.
    pub(crate) has: Option<Paths>,
    /// Its name in phases, if it is not the kind.
    pub(crate) named: Option<String>,
    /// What else it must have.
    pub(crate) when: Option<Condition>,
    /// What it must not have.
    pub(crate) unless: Option<Condition>,
    /// Whether the other side takes results without ids.
    pub(crate) waives_ids: bool,
    /// What the other side refuses to be without, or to be something else.
    pub(crate) keys: Vec<Key>,
    /// The list whose elements are meant.
    pub(crate) each: Option<Paths>,
    /// What an element must have.
    pub(crate) each_when: Option<Condition>,
    /// What an element must not have.
    pub(crate) each_unless: Option<Condition>,
    /// The stream of which it is a chunk. It goes on until another event comes, and only its first chunk must name it.
    pub(crate) stream: Option<Stream>,
    pub(crate) opens: Option<Resource>,
    /// What must have been opened before it in this turn, also if it is closed again.
    pub(crate) follows: Option<Resource>,
    /// What must be open for it.
    pub(crate) needs: Option<Resource>,
    pub(crate) closes: Option<Resource>,
    /// The same of what need not have been opened.
    pub(crate) ends_one: Option<Resource>,
    /// What must be open for it to mean anything here.
    pub(crate) when_open: Option<Resource>,
    /// What must not be open any more, with what the other side says.
    pub(crate) ends: Vec<MustBeClosed>,
    /// What some versions of the other side take for closed after it.
    pub(crate) forgets: Vec<String>,
    /// Whether nothing is open after it.
    pub(crate) closes_all: bool,
    /// The call that it makes, or tells more of.
    pub(crate) call: Option<CallStep>,
    pub(crate) arguments: Option<Piece>,
    pub(crate) result: Option<ResultStep>,
    /// The id of a call that nobody waits for any more.
    pub(crate) cancels: Option<Paths>,
    /// The id of an item that is taken out of the conversation: of a call, with its result.
    pub(crate) deletes: Option<Paths>,
    /// Whether it ends all calls that have no result yet.
    pub(crate) aborts: bool,
    /// Whether the model goes on with the results of all calls before it.
    pub(crate) goes_on: bool,
    /// Whether it begins a turn, so that what ends calls later ends none of those before it.
    pub(crate) begins_turn: bool,
    /// Whether what was said before is told again after it, with the ids that it had.
    pub(crate) replays: bool,
    pub(crate) says: Option<EventMessage>,
    pub(crate) tools: Option<Tools>,
    /// The list of what was said before it.
    pub(crate) history: Option<Paths>,
    /// Whether the other side forgets what it knew before that list.
    pub(crate) replaces_history: bool,
    /// The same as messages of a front end, which have calls and results as parts.
    pub(crate) ui_messages: Option<Paths>,
    /// The same as a list of Gemini's contents.
    pub(crate) contents: Option<Paths>,
    /// Whether it is a conversation of its own.
    pub(crate) is_whole: bool,
    /// Whether its response is beside the conversation, and what it says no part of it.
    pub(crate) is_beside: bool,
    /// Whether it begins a session of its own if one has begun.
    pub(crate) begins_anew: bool,
}

impl Event {
    /// The name in phases and in reports.
    pub(crate) fn name(&self) -> &str {
        self.named.as_deref().unwrap_or_else(|| self.shown())
    }

    /// The kind, or what it has.
    pub(crate) fn shown(&self) -> &str {
        let has = || self.has.as_ref().map_or("", Paths::key);
        self.kind.as_deref().unwrap_or_else(has)
    }

    pub(crate) fn fits(&self, event: Value<'_, '_>) -> bool {
        self.has.as_ref().is_none_or(|has| has.of(event).is_some())
            && self.when.as_ref().is_none_or(|condition| condition.holds(event))
            && self.unless.as_ref().is_none_or(|condition| !condition.holds(event))
    }

    /// The objects that it is about: itself, or the elements of its list.
    pub(crate) fn items<'d, 's>(&self, event: Value<'d, 's>) -> Vec<Value<'d, 's>> {
        let Some(each) = &self.each else { return vec![event] };
        let Some(found) = each.of(event) else { return Vec::new() };
        let is_meant = |item: &Value<'_, '_>| {
            self.each_when.as_ref().is_none_or(|condition| condition.holds(*item))
                && self.each_unless.as_ref().is_none_or(|condition| !condition.holds(*item))
        };
        if found.is_array() { found.elements().filter(is_meant).collect() } else { vec![found] }
    }
}

/// A key of which the other side wants a type.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Key {
    pub(crate) at: Paths,
    /// What it must be, in words.
    pub(crate) wants: String,
    #[serde(default)]
    pub(crate) types: Types,
    /// The texts of which it must be one, unless it may be any.
    #[serde(default)]
    pub(crate) any: Vec<String>,
    #[serde(default)]
    pub(crate) is_optional: bool,
}

/// The types that a value may have.
#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Types {
    #[default]
    Text,
    TextOrList,
    Any,
    Object,
}

/// What an event must have.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Condition {
    at: Paths,
    /// The texts of which it must be one, or what is written there; any value if there are none.
    #[serde(default)]
    is: Vec<String>,
}

impl Condition {
    fn holds(&self, event: Value<'_, '_>) -> bool {
        self.at.of(event).is_some_and(|found| is_one(found, &self.is))
    }
}

/// Something that is opened, used and closed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Resource {
    pub(crate) thing: String,
    pub(crate) id: Paths,
    /// Whether an id is that of whoever sends it only.
    #[serde(default)]
    pub(crate) is_of_lane: bool,
    /// What the other side says if it is open already, or not open.
    pub(crate) refused: Option<String>,
    /// Whether it says so only of a call that was never begun.
    #[serde(default)]
    pub(crate) says_if_new: bool,
    /// What it says if it was open before in this turn.
    pub(crate) refused_again: Option<String>,
    /// What it is called if only who has opened it may send more of it.
    pub(crate) owned: Option<String>,
    /// What it is a part of.
    pub(crate) parent: Option<Parent>,
}

/// What something is a part of: both are of one sender.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Parent {
    pub(crate) thing: String,
    pub(crate) id: Paths,
    pub(crate) refused: String,
}

/// Something that must not be open any more.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MustBeClosed {
    pub(crate) thing: String,
    pub(crate) refused: Option<String>,
}

/// A call that an event makes.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct CallStep {
    pub(crate) id: Paths,
    /// The id by which the call may be taken out again.
    #[serde(default)]
    pub(crate) item: Paths,
    #[serde(default)]
    pub(crate) name: Paths,
    #[serde(default)]
    pub(crate) arguments: Paths,
    /// What is true if the server runs it, which may answer it whenever it likes.
    #[serde(default)]
    pub(crate) by_server: Paths,
    /// When it is another call than an earlier one with its id.
    #[serde(default)]
    pub(crate) anew: Anew,
    /// What the other side does with such a call, if it takes it for the earlier one.
    pub(crate) taken_for_earlier: Option<String>,
}

/// When an event makes another call than an earlier one with its id. It never does where it only tells more of a call.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Anew {
    #[default]
    Never,
    /// If that one has its result, and is of an earlier turn.
    InLaterTurn,
    /// If that one has its result, or is of an earlier turn.
    AfterResult,
}

/// A message or a call that is sent in chunks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stream {
    /// What it brings, in words.
    pub(crate) thing: String,
    pub(crate) id: Paths,
    /// What the first chunk must have, with what the other side says if it is not there.
    pub(crate) first: Vec<FirstNeeds>,
}

/// A key of the first chunk.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FirstNeeds {
    pub(crate) at: Paths,
    pub(crate) refused: String,
}

/// A piece of the arguments of a call.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Piece {
    pub(crate) id: Paths,
    pub(crate) piece: Paths,
}

/// A result that an event brings.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct ResultStep {
    pub(crate) id: Paths,
    #[serde(default)]
    pub(crate) name: Paths,
    #[serde(default)]
    pub(crate) content: Paths,
    /// Whether it says that the tool failed.
    pub(crate) is_error: Option<bool>,
    /// What its id must be, if it has none where calls have ids, unless the other side takes that.
    pub(crate) wants_id: Option<String>,
    /// Where it says that it is only a part of the result, which comes later.
    #[serde(default)]
    pub(crate) preliminary: Paths,
    /// Whether it may come again: the other side repeats what it was sent, or sends a newer state.
    #[serde(default)]
    pub(crate) may_repeat: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventMessage {
    pub(crate) role: String,
    pub(crate) text: Paths,
    /// The id of the message: of the events that bring its text, the first is read.
    #[serde(default)]
    pub(crate) item: Paths,
}

/// The tools that an event declares.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Tools {
    pub(crate) list: Paths,
    /// The list in each of them, if they come in groups.
    #[serde(default)]
    pub(crate) group: Paths,
    #[serde(default)]
    pub(crate) schema: Paths,
    /// Whether there are others beside them.
    #[serde(default)]
    pub(crate) are_some: bool,
}

/// Places in an event, such as `item.id|item_id`: the first that is there is meant. Of a list, its first element is
/// meant, and an empty path is the event itself.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "String")]
pub(crate) struct Paths(Vec<Vec<String>>);

impl From<String> for Paths {
    fn from(text: String) -> Self {
        let path = |path: &str| path.split('.').filter(|key| !key.is_empty()).map(str::to_owned).collect();
        Self(text.split('|').map(path).collect())
    }
}

impl Paths {
    /// The first value that is there.
    pub(crate) fn of<'d, 's>(&self, event: Value<'d, 's>) -> Option<Value<'d, 's>> {
        self.all(event).next()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The key that is looked at first.
    pub(crate) fn key(&self) -> &str {
        self.0.first().and_then(|path| path.last()).map_or("", String::as_str)
    }

    /// The values that are there.
    pub(crate) fn all<'d, 's>(&self, event: Value<'d, 's>) -> impl Iterator<Item = Value<'d, 's>> {
        let step = |value: Value<'d, 's>, key: &String| {
            let first = if value.is_array() { value.elements().next()? } else { value };
            first.get(key)
        };
        self.0.iter().filter_map(move |path| path.iter().try_fold(event, step))
    }
}
