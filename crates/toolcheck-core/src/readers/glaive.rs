//! Glaive's data set as it is published: the tools in a system text, and a conversation as one text
//! (<https://huggingface.co/datasets/glaiveai/glaive-function-calling-v2>).
//!
//! A call is JSON but for its arguments, which stand between single quotes.

use std::ops::Range;

use toolcheck_json::{Document, Value};

use super::tagged::{self, MappedText};
use super::{Conversation, ConversationEnd, Reader, Reading, lists, parts, python};
use crate::ir::{Body, Place, Role, Text, Transcript};

pub(super) static READER: Reader = Reader::dataset(
    "glaive",
    "Glaive data set",
    |records| lists::certainty_of_rows(records, |row| chat_of(row).is_some()),
    |records| {
        let mut reading = Reading::default();
        lists::rows(records).for_each(|row| add(&mut reading, row));
        reading
    },
);

const SPEAKERS: [(&str, Role); 3] =
    [("USER:", Role::User), ("ASSISTANT:", Role::Assistant), ("FUNCTION RESPONSE:", Role::Tool)];
const CALL: &str = "<functioncall>";
const END: &str = "<|endoftext|>";

fn chat_of<'d, 's>(row: Value<'d, 's>) -> Option<Value<'d, 's>> {
    let is_begun = |text: &str| text.trim_start().starts_with("USER:");
    row.get("system")?.as_json_str()?;
    row.get("chat").filter(|chat| chat.as_str().is_some_and(|text| is_begun(&text)))
}

fn add<'s>(reading: &mut Reading<'s>, row: Value<'_, 's>) {
    let Some(chat) = chat_of(row) else { return reading.leave_out_unknown("rows without a chat", row) };
    let Some(said) = MappedText::of(chat) else { return };
    let mut transcript = Transcript::of_conversation(READER.key(), row);
    for (role, turn) in turns(said.text()) {
        transcript.next_message(role, chat);
        if let Some(message) = transcript.messages.last_mut() {
            message.place = said.place(turn.clone());
        }
        let called = said.text()[turn.clone()].find(CALL).filter(|_| role == Role::Assistant);
        let words = turn.start..called.map_or(turn.end, |at| turn.start + at);
        if called.is_none() || !said.text()[words.clone()].trim().is_empty() {
            let (string, place) = said.part(words);
            let text = Text { string, place };
            let result = || parts::result(None, Some(chat), None);
            let body = if role == Role::Tool { Body::Result(result()) } else { Body::Text(text) };
            add_part(&mut transcript, chat, place, body);
        }
        let mut at = called.map(|at| turn.start + at + CALL.len());
        while let Some(start) = at {
            let next = said.text()[start..turn.end].find(CALL).map(|next| start + next);
            let call = trimmed(said.text(), start..next.unwrap_or(turn.end));
            add_part(
                &mut transcript,
                chat,
                said.place(call.clone()),
                Body::Call(tagged::quoted_call(&said, call)),
            );
            at = next.map(|next| next + CALL.len());
        }
    }
    if let Some(system) = row.get("system") {
        transcript.request.instructions = Some(Place::of(system));
        transcript.request.tools.place = Some(Place::of(system));
        transcript.request.tools.in_text = tools_of(&system.as_str().unwrap_or_default());
    }
    reading.conversations.push(Conversation::new("", transcript, ConversationEnd::Complete));
}

fn add_part<'s>(transcript: &mut Transcript<'s>, chat: Value<'_, 's>, place: Place, body: Body<'s>) {
    transcript.part(chat, body);
    if let Some(part) = transcript.parts.last_mut() {
        part.place = place;
    }
}

/// What each speaker says, without the spaces around it.
fn turns(text: &str) -> Vec<(Role, Range<usize>)> {
    let is_begun = |at: usize| at == 0 || text[..at].ends_with(char::is_whitespace);
    let mut marks: Vec<(usize, &str, Role)> = SPEAKERS
        .iter()
        .flat_map(|(mark, role)| text.match_indices(mark).map(|(at, mark)| (at, mark, *role)))
        .filter(|(at, ..)| is_begun(*at) || text[..*at].ends_with(END))
        .collect();
    toolcheck_json::sort_by_position(&mut marks, |(at, ..)| *at);
    let ends = marks.iter().skip(1).map(|(at, ..)| *at).chain([text.len()]);
    let turns = marks.iter().zip(ends);
    turns.map(|((at, mark, role), end)| (*role, trimmed(text, at + mark.len()..end))).collect()
}

/// A part of a text without what ends it and the spaces around.
fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let inside = text[range.clone()].trim_end();
    let inside = inside.strip_suffix(END).unwrap_or(inside).trim_end();
    let start = range.start + inside.len() - inside.trim_start().len();
    start..range.start + inside.len()
}

/// The tools of a system text: objects one after another.
fn tools_of(system: &str) -> Vec<crate::tools::Definition> {
    let list = system.find('{').map_or("", |start| system[start..].trim_end());
    let objects = tagged::objects_in_row(list).into_iter();
    let read = |object: Range<usize>| python::tools(Document::read(list[object].as_bytes()).root());
    let own = objects.map(read).collect::<Option<Vec<_>>>().unwrap_or_default().concat();
    if own.is_empty() {
        python::tools(Document::read(list.as_bytes()).root()).unwrap_or_default()
    } else {
        own
    }
}
