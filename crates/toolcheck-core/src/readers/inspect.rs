//! Inspect: the log of an evaluation as JSON, and a sample of it alone, as `.eval` archives have them.

use std::borrow::Cow;

use toolcheck_json::{Value, contains};

use super::parts::{call, id, is_media, reasoning, result};
use super::{Conversation, ConversationEnd, Reader, Reading, nested, search};
use crate::claim::certainty;
use crate::formats;
use crate::ir::{Body, Named, Role, Transcript, UnpairedReason};

pub(super) static READER: Reader = Reader::log("inspect", "Inspect evaluation log", sniff, read).by_record();

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    let begins = |one: Value<'_, '_>| is_sample(one) || one.elements().next().is_some_and(is_sample);
    let is_one = |record: &Value<'_, '_>| {
        let has = |key: &str| record.get(key).is_some();
        has("version") && has("status") && record.has_object("eval")
            || is_sample(*record)
            || record.elements().next().is_some_and(is_sample)
            || record.get_any(&["samples", "sample"]).is_some_and(begins)
            || lists_alone(*record).next().is_some()
    };
    match records.iter().any(is_one) {
        true => certainty::OWN_SHAPE,
        // Further inside, such as in the transcripts of Docent.
        false if records.iter().any(|record| may_be_inside(*record)) => {
            nested::certainty_of(records, |message| has_own(message, false))
        }
        false => 0,
    }
}

/// Whether a record is no request, and has such calls somewhere.
fn may_be_inside(record: Value<'_, '_>) -> bool {
    let is_request = record.get_any(&["model", "messages", "contents"]).is_some()
        || record.elements().next().is_some_and(|first| first.has("role"));
    !is_request && contains(record.raw(), MARK)
}

/// A key that no other program's calls have.
const MARK: &[u8] = b"\"parse_error\"";

/// The samples of a log, those of a list, one in a bundle, or the record itself.
fn samples<'d, 's>(record: Value<'d, 's>) -> impl Iterator<Item = Value<'d, 's>> {
    let is_list = record.elements().next().is_some_and(is_sample);
    let alone = [Some(record), record.get("sample")].into_iter().flatten();
    let alone = alone.chain(record.elements().filter(move |_| is_list));
    record.list("samples").chain(alone.filter(|one| is_sample(*one)))
}

fn is_sample(value: Value<'_, '_>) -> bool {
    value.has_list("messages")
        && value.has("id")
        && value.has("epoch")
        && value.has("input")
        && value.has("target")
}

const MESSAGES_LOOKED_AT: usize = 32;

/// The lists of messages in a record that is one, or the state of an agent, as `Sample.messages` is written elsewhere: a call
/// of it names its tool under `function`, beside the arguments. Petri has the messages of each model under a key of its own.
fn lists_alone<'d, 's>(record: Value<'d, 's>) -> impl Iterator<Item = Value<'d, 's>> {
    let members = record.members().filter(move |_| record.get("model").is_none());
    members.chain(Some(record)).filter(move |list| {
        let is_known = list.id() == record.id() || list.has_key("messages");
        list.is_array() && list.elements().take(MESSAGES_LOOKED_AT).any(|message| has_own(message, is_known))
    })
}

fn has_own(message: Value<'_, '_>, is_known: bool) -> bool {
    let is_own = |call: Value<'_, '_>| {
        call.has_text("function")
            && call.has_object("arguments")
            && (is_known || call.get_any(&["parse_error", "view"]).is_some())
    };
    message.has("role") && message.list("tool_calls").any(is_own)
}

/// Whether the messages of a list, wherever it stands, are Inspect's.
pub(crate) fn is_list(list: Value<'_, '_>) -> bool {
    list.elements().take(MESSAGES_LOOKED_AT).any(|message| has_own(message, false))
}

pub(crate) fn read_list<'s>(transcript: &mut Transcript<'s>, list: Value<'_, 's>, _: usize) {
    list.elements().for_each(|message| read_message(transcript, message));
    transcript.settle_results_of_first(UnpairedReason::Elsewhere);
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    let mut reading = Reading::default();
    let mut requests = 0;
    for &record in records {
        let mut alone = lists_alone(record).filter(|_| !is_sample(record)).peekable();
        if alone.peek().is_some() {
            reading.left_out.add("events, which repeat the messages", record.list("events").count());
            reading.conversations.extend(alone.map(|messages| {
                let key = messages.key_text().filter(|_| record.is_object());
                let is_only = key.as_deref().is_none_or(|key| key == "messages");
                let conversation = conversation(if is_only { record } else { messages }, messages);
                let title = key.map_or_else(|| "messages".to_owned(), Cow::into_owned);
                Conversation { title, end: ConversationEnd::Open, ..conversation }
            }));
            continue;
        }
        if samples(record).next().is_none() && contains(record.raw(), MARK) {
            search::read_value(&READER, record, None, &mut reading);
        }
        for sample in samples(record) {
            let Some(messages) = sample.get("messages").filter(|messages| messages.is_array()) else {
                continue;
            };
            let events = sample.get("events").or_else(|| sample.get("transcript")?.get("events"));
            let events = events.into_iter().flat_map(|events| events.elements());
            requests += events.filter(|event| event.is("event", "model")).count();
            reading.conversations.push(conversation(sample, messages));
        }
    }
    reading.left_out.add("events of requests, which repeat the messages", requests);
    reading
}

fn conversation<'s>(sample: Value<'_, 's>, messages: Value<'_, 's>) -> Conversation<'s> {
    let mut transcript = Transcript::of_conversation(READER.key(), sample);
    read_list(&mut transcript, messages, 0);
    if transcript.counts().0 == 0 {
        // Nothing is said of where the results come from.
        transcript.settle_results(UnpairedReason::Elsewhere);
    }
    let is_set = |key: &str| sample.get(key).is_some_and(|value| !value.is_null());
    let end =
        if is_set("error") || is_set("limit") { ConversationEnd::Aborted } else { ConversationEnd::Complete };
    Conversation { title: title(sample), transcript, end }
}

fn title(sample: Value<'_, '_>) -> String {
    let id = sample
        .get("id")
        .map_or(Cow::Borrowed("?"), |id| id.as_str().unwrap_or_else(|| String::from_utf8_lossy(id.raw())));
    let id = crate::text::shorten(&id);
    match sample.get("epoch").and_then(Value::as_u64) {
        Some(epoch) if epoch != 1 => format!("sample {id} epoch {epoch}"),
        _ => format!("sample {id}"),
    }
}

fn read_message<'s>(transcript: &mut Transcript<'s>, message: Value<'_, 's>) {
    let role = formats::role_in_chat(message.get_str("role").as_deref());
    transcript.next_message(role, message);
    if role == Role::Tool {
        let error = message.get("error").is_some_and(|error| !error.is_null());
        let mut result = result(id(message.get("tool_call_id")), message.get("content"), Some(error));
        result.name = message.get("function").and_then(Named::of);
        transcript.part(message, Body::Result(result));
        return;
    }
    transcript.content(message.get("content"), |block| match &*block.get_str("type").unwrap_or_default() {
        "reasoning" => Some(reasoning(block.get("signature"))),
        kind if is_media(kind) => Some(Body::Media),
        // A tool that the provider ran, with its result.
        "tool_use" => None,
        _ => Some(Body::Opaque),
    });
    for one in message.list("tool_calls") {
        let function = one.get("function");
        // Older versions write a call as an API does.
        let inner = function.filter(|function| function.is_object());
        let (name, arguments) = match inner {
            Some(function) => (function.get("name"), function.get("arguments")),
            None => (function, one.get("arguments")),
        };
        transcript.part(one, Body::Call(call(id(one.get("id")), name, arguments)));
    }
}
