//! xLAM data sets: a question, the tools, and the calls that answer it. There is no conversation, but the calls can be held
//! against the tools.

use toolcheck_json::Value;

use super::{Conversation, ConversationEnd, Reader, Reading, lists, turns};
use crate::ir::{Body, Role, Text, Transcript};

pub(super) static READER: Reader =
    Reader::dataset("xlam", "xLAM data set", |records| lists::certainty_of_rows(records, is_row), read);

const QUESTIONS: [&str; 2] = ["query", "question"];

fn is_row(row: Value<'_, '_>) -> bool {
    let is_list = |value: Value<'_, '_>| {
        value.is_array() || value.as_json_str().is_some_and(|text| text.raw().trim_ascii().starts_with(b"["))
    };
    row.get_any(&QUESTIONS).is_some_and(|question| question.is_string())
        && row.get_any(&lists::ANSWERS).is_some_and(is_list)
        && row.get_any(&lists::TOOLS).is_some_and(is_list)
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    let mut reading = Reading::default();
    lists::rows(records).for_each(|row| add(&mut reading, row));
    reading
}

fn add<'s>(reading: &mut Reading<'s>, row: Value<'_, 's>) {
    if !is_row(row) {
        return;
    }
    let mut transcript = Transcript::of_conversation(READER.key(), row);
    if let Some(question) = row.get_any(&QUESTIONS) {
        transcript.turn(Role::User, question);
        if let Some(text) = Text::of(question) {
            transcript.part(question, Body::Text(text));
        }
    }
    if let Some(answers) = row.get_any(&lists::ANSWERS) {
        turns::read_answers(&mut transcript, answers);
    }
    lists::add_beside(&mut transcript, row);
    reading.conversations.push(Conversation::new("", transcript, ConversationEnd::Complete));
}
