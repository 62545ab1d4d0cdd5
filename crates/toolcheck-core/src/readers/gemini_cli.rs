//! Gemini CLI: the log of a session, as one document or, in newer versions, line by line.
//!
//! A message of the model holds its calls together with their results. Line by line, a message that changed is written
//! again under its id, `$rewindTo` takes messages away, and `$set` may replace them all: the last version counts.

use foldhash::{HashMap, HashSet};
use toolcheck_json::Value;
use toolcheck_json::edit::Piece;

use super::file_style::FileFixStyle;
use super::parts::{self};
use super::{ConversationEnd, LeftOut, Reader, Reading, own_shape};
use crate::fix_style::{self, FixStyle, Missing};
use crate::ir::{Body, Content, Named, Place, Role, Transcript, UnpairedReason};
use crate::unread;

pub(super) static READER: Reader =
    Reader::log("gemini-cli", "Gemini CLI session", sniff, read).or_one_list().fixed_by(&FILE_STYLE);

static FILE_STYLE: FileFixStyle =
    FileFixStyle { result_in_call: Some("result"), ..FileFixStyle::plain(&FIX_STYLE) };

static FIX_STYLE: FixStyle = FixStyle {
    blocks: Some("content"),
    result,
    text: |text| Piece::object([("text", text)]),
    user: |parts| Piece::object([("type", Piece::text("user")), ("content", Piece::List(parts))]),
    said: |text| Piece::object([("type", Piece::text("user")), ("content", text)]),
    ..FixStyle::OF_PROGRAM
};

fn result(missing: &Missing) -> Option<Piece> {
    let response = fix_style::object([
        ("id", missing.id.clone()),
        ("name", missing.name.clone()),
        ("response", Some(Piece::object([("error", missing.said())]))),
    ]);
    Some(Piece::List(vec![Piece::object([("functionResponse", response)])]))
}

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    own_shape(records, |record| {
        let has = |key: &str| record.get(key).is_some();
        let is_session = has("sessionId")
            && (has("projectHash") || is_list(record) && (has("lastUpdated") || has("startTime")));
        is_session || is_message(record) && record.is("type", "gemini")
    })
}

fn is_list(record: Value<'_, '_>) -> bool {
    record.has_list("messages")
}

fn is_message(record: Value<'_, '_>) -> bool {
    record.has_all(&["id", "type", "timestamp"])
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    let mut reading = Reading::default();
    let mut history = History::default();
    for &record in records {
        let set = record.get("$set");
        if let Some(list) = [Some(record), set].into_iter().flatten().find(|record| is_list(*record)) {
            history.patched.is_synced |= set.is_some_and(is_list);
            let dropped = history.replace(list.list("messages"));
            conversation(&dropped, &history.patched, ConversationEnd::Replaced, &mut reading);
        } else if let Some(id) = record.get("$rewindTo") {
            let dropped = history.rewind(id);
            conversation(&dropped, &history.patched, ConversationEnd::Replaced, &mut reading);
        } else if let Some(patch) = record.get("$patch").filter(|patch| patch.is_object()) {
            let dropped = history.patch(patch);
            conversation(&dropped, &history.patched, ConversationEnd::Replaced, &mut reading);
        } else if is_message(record) {
            history.add(record);
        } else {
            reading.leave_out_unknown("settings records", record);
        }
    }
    let messages: Vec<Value<'_, '_>> = history.messages.iter().copied().flatten().collect();
    for message in &messages {
        match message.get_str("type").as_deref() {
            Some("user") if is_command(*message) => reading.leave_out("commands of the user"),
            Some("gemini" | "user") => {}
            Some("info" | "warning" | "error") => reading.leave_out("notices"),
            _ => reading.leave_out_unknown("messages of unknown kinds", *message),
        }
    }
    conversation(&messages, &history.patched, ConversationEnd::Open, &mut reading);
    history.left_out.iter().for_each(|(what, count)| reading.left_out.add(what, count));
    reading.in_order()
}

#[derive(Default)]
struct History<'d, 's> {
    /// `None` is in the place of a message that was taken away.
    messages: Vec<Option<Value<'d, 's>>>,
    by_id: HashMap<&'s [u8], usize>,
    left_out: LeftOut,
    patched: Patched<'d, 's>,
}

#[derive(Default)]
struct Patched<'d, 's> {
    /// Whether the program has written all messages anew, and with that some results several times
    /// (`updateMessagesFromHistory` in `packages/core/src/services/chatRecordingService.ts`).
    is_synced: bool,
    /// The contents, by the ids of the messages.
    contents: HashMap<&'s [u8], Value<'d, 's>>,
    /// The results, by the ids of the messages and of the calls.
    results: HashMap<(&'s [u8], &'s [u8]), Value<'d, 's>>,
}

impl<'d, 's> Patched<'d, 's> {
    fn content(&self, message: Value<'d, 's>) -> Option<Value<'d, 's>> {
        let id = message.get("id").map(Value::raw);
        id.and_then(|id| self.contents.get(id)).copied().or_else(|| message.get("content"))
    }

    fn result(&self, message: Value<'d, 's>, call: Value<'d, 's>) -> Option<Value<'d, 's>> {
        let ids = message.get("id").map(Value::raw).zip(call.get("id").map(Value::raw));
        let patched = ids.and_then(|ids| self.results.get(&ids)).copied();
        // The program sends what is in a list: of an empty one, nothing.
        let is_empty = |result: Value<'_, '_>| {
            result.is_null() || result.is_array() && result.elements().next().is_none()
        };
        patched.or_else(|| call.get("result")).filter(|result| !is_empty(*result))
    }
}

impl<'d, 's> History<'d, 's> {
    fn add(&mut self, message: Value<'d, 's>) {
        let Some(id) = message.get("id").map(Value::raw) else {
            self.messages.push(Some(message));
            return;
        };
        match self.by_id.get(id) {
            Some(number) => {
                self.messages[*number] = Some(message);
                self.left_out.add("earlier versions of messages", 1);
            }
            None => {
                self.by_id.insert(id, self.messages.len());
                self.messages.push(Some(message));
            }
        }
    }

    /// Takes these messages in place of all, and returns those that they leave out.
    fn replace(&mut self, messages: impl Iterator<Item = Value<'d, 's>>) -> Vec<Value<'d, 's>> {
        let before = std::mem::take(&mut self.messages);
        self.by_id.clear();
        messages.for_each(|message| self.add(message));
        let is_dropped =
            |message: &Value<'_, 's>| message.get("id").is_some_and(|id| !self.by_id.contains_key(id.raw()));
        let before: Vec<Value<'_, '_>> = before.into_iter().flatten().collect();
        let count = before.len();
        let dropped: Vec<Value<'_, '_>> = before.into_iter().filter(is_dropped).collect();
        self.left_out.add("earlier versions of messages", count - dropped.len());
        dropped
    }

    /// Changes messages as a patch says, takes away those that it removes, and puts those that it orders at the end.
    fn patch(&mut self, patch: Value<'d, 's>) -> Vec<Value<'d, 's>> {
        let updates = patch.list("updates");
        for update in std::iter::once(patch).chain(updates) {
            let Some(message) = update.get("id").map(Value::raw) else { continue };
            self.patched.contents.extend(update.get("content").map(|content| (message, content)));
            for call in update.list("toolCalls") {
                let (id, result) = (call.get("id").map(Value::raw), call.get("result"));
                self.patched.results.extend(id.zip(result).map(|(id, result)| ((message, id), result)));
            }
        }
        let ids = |key: &str| patch.list(key).map(Value::raw);
        let gone = ids("removeIds").filter_map(|id| self.take(id)).collect();
        for id in ids("orderIds") {
            if let Some(message) = self.take(id) {
                self.add(message);
            }
        }
        gone
    }

    fn take(&mut self, id: &[u8]) -> Option<Value<'d, 's>> {
        self.by_id.remove(id).and_then(|number| self.messages[number].take())
    }

    /// Takes away a message and all after it, or all if there is no such message.
    fn rewind(&mut self, id: Value<'_, 's>) -> Vec<Value<'d, 's>> {
        let number = self.by_id.get(id.raw()).copied().unwrap_or_default();
        let dropped: Vec<Value<'_, '_>> = self.messages.split_off(number).into_iter().flatten().collect();
        for message in &dropped {
            if let Some(id) = message.get("id") {
                self.by_id.remove(id.raw());
            }
        }
        dropped
    }
}

fn conversation<'d, 's>(
    messages: &[Value<'d, 's>],
    patched: &Patched<'d, 's>,
    end: ConversationEnd,
    reading: &mut Reading<'s>,
) {
    let Some(first) = messages.first() else { return };
    let mut transcript = Transcript::of_conversation(READER.key(), first.document().root());
    // The ids of the results that stand with the last calls: since May 2026 a message of the user repeats them.
    let mut answered = HashSet::default();
    for message in messages {
        match message.get_str("type").as_deref() {
            // A turn that only calls tools is written so before they are done, and not sent.
            Some("gemini") if is_empty(*message, patched) => {}
            Some("gemini") => {
                transcript.next_message(Role::Assistant, *message);
                if message.has("toolCalls") {
                    answered.clear();
                }
                add_turn(&mut transcript, *message, patched, &mut answered);
            }
            Some("user") if !is_command(*message) => {
                let content = patched.content(*message);
                let responds = |part: Value<'_, '_>| part.has("functionResponse");
                let mut parts = content.into_iter().flat_map(|content| content.elements()).peekable();
                let has_responses = parts.peek().is_some() && parts.all(responds);
                transcript.next_message(if has_responses { Role::Tool } else { Role::User }, *message);
                let once = patched.is_synced;
                let is_copy = add_content(&mut transcript, content, (&HashSet::default(), &answered), once);
                if is_copy {
                    transcript.messages.pop();
                }
            }
            _ => {}
        }
    }
    if end == ConversationEnd::Open {
        // Whatever became of a call: once the user or the model has gone on, it is sent, and without a result it is refused.
        let last = transcript.messages.iter().rfind(|message| message.role != Role::Tool);
        transcript.unsettle_calls_before(last.map_or(0, |last| last.parts.start as usize));
        transcript.details.is_answered = transcript.ends_half_answered();
    }
    reading.add_log(&READER, "main", transcript, end);
}

/// Whether a message of the model has neither words nor calls.
fn is_empty<'d, 's>(message: Value<'d, 's>, patched: &Patched<'d, 's>) -> bool {
    let is_blank = |content: Value<'_, '_>| content.is_null() || matches!(content.raw(), b"\"\"" | b"[]");
    patched.content(message).is_none_or(is_blank)
        && message.list("toolCalls").next().is_none()
        && unread::record(message).is_none()
}

/// Whether the user gave the program a command, which is not sent (`convertSessionToClientHistory` in
/// `packages/core/src/utils/sessionUtils.ts`).
fn is_command(message: Value<'_, '_>) -> bool {
    let first = message.get("content").map(|content| content.elements().next().unwrap_or(content));
    let text = first.and_then(|part| part.as_str().or_else(|| part.get_str("text")));
    text.is_some_and(|text| text.trim_start().starts_with(['/', '?']))
}

/// Adds what the model said, its calls and then their results, as they are sent.
fn add_turn<'d, 's>(
    transcript: &mut Transcript<'s>,
    message: Value<'d, 's>,
    patched: &Patched<'d, 's>,
    answered: &mut HashSet<&'s [u8]>,
) {
    let calls = || message.list("toolCalls");
    let names: HashSet<&[u8]> =
        calls().flat_map(|call| [call.get("id"), call.get("name")]).flatten().map(Value::raw).collect();
    if let Some(thoughts) = message.get("thoughts").filter(|thoughts| thoughts.elements().next().is_some()) {
        transcript.part(thoughts, parts::reasoning(None));
    }
    add_content(transcript, patched.content(message), (&names, answered), patched.is_synced);
    for call in calls() {
        let mut body = parts::call(call.get("id"), call.get("name"), call.get("args"));
        if patched.result(message, call).is_none() {
            body.unpaired = match call.get_str("status").as_deref() {
                Some("cancelled") => Some(UnpairedReason::Aborted),
                Some("awaiting_approval") => Some(UnpairedReason::Consent),
                Some("validating" | "scheduled" | "executing") => Some(UnpairedReason::Open),
                _ => None,
            };
        }
        transcript.part(call, Body::Call(body));
    }
    for call in calls() {
        let Some(value) = patched.result(message, call) else { continue };
        let response = response_of(call, value);
        let id = response.and_then(|response| response.get("id")).or_else(|| call.get("id"));
        answered.extend(id.map(Value::raw));
        let body = result_of(call, value, response);
        transcript.turn(Role::Tool, value).part(response.unwrap_or(value), body);
        for more in others(value, response, &names, patched.is_synced) {
            answered.extend(more.get("id").map(Value::raw));
            transcript.part(more, result_of(call, value, Some(more)));
        }
    }
}

/// The result of a call: a response, or whatever is in its place.
fn result_of<'s>(call: Value<'_, 's>, value: Value<'_, 's>, response: Option<Value<'_, 's>>) -> Body<'s> {
    let own = |key: &str| response.and_then(|response| response.get(key)).or_else(|| call.get(key));
    let status =
        call.get_str("status").filter(|status| matches!(&**status, "success" | "error" | "cancelled"));
    let is_error = status.map(|status| status != "success");
    let content = response.map_or(Some(value), |response| response.get("response"));
    let mut result = parts::result(own("id"), content, is_error);
    result.name = own("name").and_then(Named::of);
    Body::Result(result)
}

fn responses<'d, 's>(result: Value<'d, 's>) -> impl Iterator<Item = Value<'d, 's>> {
    let own = result.get("functionResponse");
    own.into_iter().chain(result.elements().filter_map(|part| part.get("functionResponse")))
}

/// The responses in a result that are sent beside its own: those with the same id, unless they are the same if `once`, and those
/// to no call of the turn.
fn others<'d, 's>(
    result: Value<'d, 's>,
    own: Option<Value<'d, 's>>,
    names: &HashSet<&'s [u8]>,
    once: bool,
) -> impl Iterator<Item = Value<'d, 's>> {
    let id = own.and_then(|own| own.get("id")).map(Value::raw);
    responses(result).filter(move |one| {
        let is_own = Some(one.id()) == own.map(Value::id) || once && Some(one.raw()) == own.map(Value::raw);
        let other = one.get("id").map(Value::raw).filter(|_| !is_own);
        other.is_some_and(|other| Some(other) == id || !names.contains(other))
    })
}

/// The response in the result of a call. After a compression, the result of each call of a turn repeats those of all.
fn response_of<'d, 's>(call: Value<'_, 's>, result: Value<'d, 's>) -> Option<Value<'d, 's>> {
    let id = call.get("id").map(Value::raw);
    let own = responses(result).find(|response| response.get("id").map(Value::raw) == id);
    own.or_else(|| responses(result).next())
}

/// Adds the content of a message, but not the calls and results that stand beside it too, and results that are written several
/// times only `once`. Returns whether nothing else was
/// in it.
pub(super) fn add_content<'s>(
    transcript: &mut Transcript<'s>,
    content: Option<Value<'_, 's>>,
    (called, answered): (&HashSet<&[u8]>, &HashSet<&'s [u8]>),
    once: bool,
) -> bool {
    let Some(content) = content else { return false };
    let own = Some(content).filter(|content| !content.is_array());
    let (mut added, mut repeated, mut written) = (0, 0, HashSet::default());
    for part in own.into_iter().chain(content.elements()) {
        let is_repeated = if let Some(call) = part.get("functionCall") {
            call.get("id").or_else(|| call.get("name")).is_some_and(|id| called.contains(id.raw()))
        } else {
            let response = part.get("functionResponse");
            let id = response.and_then(|response| response.get("id"));
            id.zip(response).is_some_and(|(id, response)| {
                answered.contains(id.raw()) || once && !written.insert(response.raw())
            })
        };
        if is_repeated {
            repeated += 1;
        } else {
            added += 1;
            match body(part) {
                Body::Opaque => transcript.unknown(part),
                body => transcript.part(part, body),
            };
        }
    }
    if let Some(message) = transcript.messages.last_mut() {
        message.content = Content::of(Some(content));
        message.content_place = Place::of(content);
    }
    added == 0 && repeated > 0
}

fn body<'s>(part: Value<'_, 's>) -> Body<'s> {
    if part.is_string() {
        Body::text(Some(part))
    } else if let Some(call) = part.get("functionCall") {
        Body::Call(parts::call(call.get("id"), call.get("name"), call.get("args")))
    } else if let Some(response) = part.get("functionResponse") {
        let mut result = parts::result(response.get("id"), response.get("response"), None);
        result.name = response.get("name").and_then(Named::of);
        Body::Result(result)
    } else if part.is_true("thought") {
        parts::reasoning(part.get("thoughtSignature"))
    } else if part.has("text") {
        Body::text(part.get("text"))
    } else if part.get_any(&["inlineData", "fileData"]).is_some() {
        Body::Media
    } else {
        Body::Opaque
    }
}
