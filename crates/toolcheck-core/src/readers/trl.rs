//! Data sets for TRL and for preference tuning: a conversation whose calls have no ids, a prompt and a completion, or a
//! chosen and a rejected answer, as lists of messages. Prompt and answer are one conversation.

use toolcheck_json::Value;

use super::file_style::FileFixStyle;
use super::{Conversation, ConversationEnd, Reader, Reading, lists, search, turns};
use crate::formats::openai_chat;
use crate::ir::Transcript;

pub(super) static READER: Reader =
    Reader::dataset("trl", "Data set of prompts and answers", sniff, read).fixed_by(&FILE_STYLE);

static FILE_STYLE: FileFixStyle =
    FileFixStyle { format: Some(&openai_chat::FORMAT), ..FileFixStyle::plain(openai_chat::FORMAT.fix_style) };

/// The keys of what the model learns to answer.
const ANSWERS: [&str; 3] = ["completion", "chosen", "preferred_output"];
/// The keys of what it learns not to answer.
const REJECTED: [&str; 2] = ["rejected", "non_preferred_output"];

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    lists::certainty_of_rows(records, |row| is_row(row) || is_conversation(row))
}

/// Keys of requests, which rows of data sets do not have.
const OF_REQUESTS: [&str; 6] = ["model", "options", "keep_alive", "think", "stream", "format"];

/// How many messages of a row are looked at.
const MESSAGES_LOOKED_AT: usize = 64;

/// Whether a row is a conversation as TRL documents it: calls without ids, whose arguments are objects, and results that
/// name their tool. No API takes all of that.
fn is_conversation(row: Value<'_, '_>) -> bool {
    let Some(list) = row.get("messages").filter(|list| list.is_array()) else { return false };
    if row.get_any(&OF_REQUESTS).is_some() {
        return false;
    }
    let is_set = |value: Value<'_, '_>, key: &str| value.get(key).is_some_and(|value| !value.is_null());
    let mut has_call = false;
    for message in list.elements().take(MESSAGES_LOOKED_AT) {
        if ["tool_call_id", "tool_name", "images"].iter().any(|key| is_set(message, key)) {
            return false;
        }
        for call in message.get("tool_calls").into_iter().flat_map(|calls| calls.elements()) {
            let arguments = call.get("function").and_then(|function| function.get("arguments"));
            if is_set(call, "id") || !arguments.is_some_and(Value::is_object) {
                return false;
            }
            has_call = true;
        }
    }
    has_call && !turns::has_call_roles(list)
}

/// The prompt of a row: a list of messages, perhaps in a request.
fn prompt<'d, 's>(row: Value<'d, 's>) -> Option<Value<'d, 's>> {
    let prompt = row.get_any(&["prompt", "input"])?;
    let prompt = prompt.get("messages").unwrap_or(prompt);
    prompt.is_array().then_some(prompt)
}

fn is_row(row: Value<'_, '_>) -> bool {
    if !row.is_object() {
        return false;
    }
    let is_list = |value: Value<'_, '_>| lists::unwrapped(value, lists::is_list);
    let answer = row.get_any(&ANSWERS);
    let has_prompt = || {
        row.get_any(&["prompt", "input"])
            .is_some_and(|prompt| is_list(prompt) || prompt.get("messages").is_some_and(is_list))
    };
    answer.is_some_and(is_list) && (row.get_any(&REJECTED).is_some() || has_prompt())
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    let mut reading = Reading::default();
    lists::rows(records).for_each(|row| add(&mut reading, row));
    reading
}

fn add<'s>(reading: &mut Reading<'s>, row: Value<'_, 's>) {
    let answer = row.get_any(&ANSWERS).filter(|answer| lists::is_list(*answer));
    let answer = answer.or_else(|| row.get("messages").filter(|_| is_conversation(row)));
    let Some(answer) = answer else {
        // A row of another shape.
        reading.conversations.extend(search::read_as(&READER, &[row]).conversations);
        return;
    };
    let mut transcript = Transcript::of_conversation(READER.key(), row);
    let prompt = prompt(row).filter(|_| !answer.has_key("messages"));
    let messages = prompt.into_iter().chain([answer]).flat_map(|list| list.elements());
    for (index, message) in messages.enumerate() {
        openai_chat::read_message(&mut transcript, message, index);
    }
    lists::add_beside(&mut transcript, row);
    if let Some(input) = row.get("input").filter(|input| input.is_object()) {
        lists::add_beside(&mut transcript, input);
    }
    reading.conversations.push(Conversation {
        title: String::new(),
        transcript,
        end: ConversationEnd::Complete,
    });
    let rejected = row.get_any(&REJECTED).is_some_and(|rejected| !rejected.is_null());
    if rejected {
        reading.leave_out("rejected answers");
    }
}
