//! Data sets for TRL and for preference tuning: a conversation whose calls have no ids, a prompt and a completion, or a
//! chosen and a rejected answer, as lists of messages. Prompt and answer are one conversation.

use toolcheck_json::Value;

use super::file_style::FileFixStyle;
use super::{Conversation, ConversationEnd, Reader, Reading, lists, search, tagged, traces, turns};
use crate::formats::openai_chat;
use crate::ir::Transcript;
use crate::unread;
use crate::unsupported::SETTINGS;

pub(super) static READER: Reader =
    Reader::dataset("trl", "Data set of prompts and answers", sniff, read).of_chat().fixed_by(&FILE_STYLE);

static FILE_STYLE: FileFixStyle =
    FileFixStyle { format: Some(&openai_chat::FORMAT), ..FileFixStyle::plain(openai_chat::FORMAT.fix_style) };

/// The keys of what the model learns to answer.
const ANSWERS: [&str; 3] = ["completion", "chosen", "preferred_output"];
/// The keys under which rows have the rest of a conversation that was cut behind a call.
const RESTS: [&str; 3] = ["response", "output", "target"];
const PROMPTS: [&str; 4] = ["prompt", "input", "context", "query"];

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    lists::certainty_of_rows(records, |row| is_row(row) || is_conversation(row) || is_of_texts(row))
}

/// Keys of requests, which rows of data sets do not have.
const OF_REQUESTS: [&str; 6] = ["model", "options", "keep_alive", "think", "stream", "format"];

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
        for call in message.list("tool_calls") {
            let arguments = call.get_in(&["function", "arguments"]);
            if is_set(call, "id") || !arguments.is_some_and(Value::is_object) {
                return false;
            }
            has_call = true;
        }
    }
    has_call && !turns::has_call_roles(list)
}

/// Whether a row ends with what the model is to say, and has tools or calls as no API takes them: a tool is the text of JSON, or
/// has a type of Python, and the calls are a list in a text (<https://huggingface.co/datasets/nvidia/When2Call>).
fn is_of_texts(row: Value<'_, '_>) -> bool {
    let is_own = |tool: Value<'_, '_>| {
        let kind = tool.get("parameters").and_then(|parameters| parameters.get_str("type"));
        tool.as_json_str().is_some_and(|text| text.may_begin_with(b"{") && text.may_have("name"))
            || tool.get_any(&["type", "function"]).is_none() && kind.as_deref() == Some("dict")
    };
    let last = row.list("messages").last().filter(|last| last.is("role", "assistant"));
    let text = last.filter(|last| last.get("tool_calls").is_none()).and_then(|last| last.get("content"));
    row.get_any(&OF_REQUESTS).or_else(|| row.get_any(&SETTINGS)).is_none()
        && text.is_some_and(|text| row.list("tools").next().is_some_and(is_own) || tagged::has_list(text))
}

/// The prompt of a row: a list of messages, perhaps in a request.
fn prompt<'d, 's>(row: Value<'d, 's>) -> Option<Value<'d, 's>> {
    let prompt = match row.get_any(&PROMPTS) {
        Some(prompt) => prompt,
        None => row.get("messages").filter(|_| lists::chosen(row).is_some())?,
    };
    let prompt = prompt.get("messages").unwrap_or(prompt);
    prompt.is_array().then_some(prompt)
}

/// The answer of a row. In a mix of data sets, rows have the other keys too, with `null`.
fn answer<'d, 's>(row: Value<'d, 's>) -> Option<Value<'d, 's>> {
    // Rows for Azure's evaluators have a `query` and a `response`, both of messages.
    let is_of_evaluator = || row.has_list("query");
    let goes_on =
        || row.get_any(&RESTS).filter(|rest| is_of_evaluator() || is_rest(*rest) && !traces::is_span(row));
    ANSWERS.iter().filter_map(|key| row.get(key)).find(|answer| !answer.is_null()).or_else(goes_on)
}

/// Whether messages go on from others: they begin with a result.
pub(super) fn is_rest(list: Value<'_, '_>) -> bool {
    let begins = |list: Value<'_, '_>| {
        list.elements().next().is_some_and(|first| first.is("role", "tool") && first.has("content"))
    };
    unread::unwrapped(list, begins)
}

fn is_row(row: Value<'_, '_>) -> bool {
    if !row.is_object() {
        return false;
    }
    let is_list = |value: Value<'_, '_>| unread::unwrapped(value, lists::is_list);
    let answer = answer(row);
    let has_prompt = || {
        row.get_any(&PROMPTS)
            .is_some_and(|prompt| is_list(prompt) || prompt.get("messages").is_some_and(is_list))
    };
    answer.is_some_and(is_list) && (row.get_any(&lists::REJECTED).is_some() || has_prompt())
        || lists::chosen(row).is_some() && prompt(row).is_some_and(is_of_messages)
        || row.get("rejected_messages").is_some_and(is_list)
            && row.get("messages").is_some_and(is_of_messages)
}

/// Whether a list is one of messages as Chat Completions has them.
fn is_of_messages(list: Value<'_, '_>) -> bool {
    lists::is_list(list) && !turns::has_from(list) && !turns::has_call_roles(list)
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    let mut reading = Reading::default();
    lists::rows(records).for_each(|row| add(&mut reading, row));
    reading
}

/// Whether a row has its prompt and its answer under keys of their own.
pub(super) fn is_divided(row: Value<'_, '_>) -> bool {
    row.get_any(&ANSWERS).is_some_and(lists::is_list) && is_row(row) && messages(row).is_some()
}

/// The prompts and the answers in the columns of a table, which are lists or have the numbers of the rows as keys; and
/// the column of the answers.
pub(super) fn columns<'d, 's>(table: Value<'d, 's>) -> Option<(Value<'d, 's>, Vec<[Value<'d, 's>; 2]>)> {
    let (prompts, answers) = table.get_any(&["prompt", "input"]).zip(table.get_any(&ANSWERS))?;
    let of_prompt = |prompt: Value<'d, 's>| prompt.get("messages").unwrap_or(prompt);
    let rows = prompts.children().zip(answers.children());
    let is_table = prompts.children().count() == answers.children().count()
        && prompts.children().next().is_some()
        && rows.clone().all(|(prompt, answer)| {
            prompt.key_text() == answer.key_text()
                && [of_prompt(prompt), answer].into_iter().all(lists::is_list)
        });
    is_table.then(|| (answers, rows.map(|(prompt, answer)| [prompt, answer]).collect()))
}

/// The messages of a row that are not one list under `messages`: those of its prompt and of its answer.
pub(super) fn messages<'d, 's>(row: Value<'d, 's>) -> Option<Vec<Value<'d, 's>>> {
    let answer = answer(row).filter(|answer| lists::is_list(*answer));
    let answer = answer.or_else(|| lists::chosen(row).filter(|_| prompt(row).is_some_and(is_of_messages)))?;
    let alone = answer.is_object().then_some(answer);
    Some(prompt(row).into_iter().chain([answer]).flat_map(|list| list.elements()).chain(alone).collect())
}

fn add<'s>(reading: &mut Reading<'s>, row: Value<'_, 's>) {
    let alone = || {
        let list = row.get("messages").filter(|_| is_conversation(row) || is_row(row) || is_of_texts(row));
        list.map(|list| list.elements().collect())
    };
    let Some(messages) = messages(row).or_else(alone) else {
        // A row of another shape.
        reading.conversations.extend(search::read_as(&READER, &[row]).conversations);
        return;
    };
    let mut transcript = Transcript::of_conversation(READER.key(), row);
    read_messages(&mut transcript, messages, row.get("input"));
    lists::add_beside(&mut transcript, row);
    reading.conversations.push(Conversation::new("", transcript, ConversationEnd::Complete));
    if row.get_any(&lists::REJECTED).is_some_and(|rejected| !rejected.is_null()) {
        reading.leave_out("rejected answers");
    }
}

/// Reads a row that is divided, or an answer in a column with its prompt.
pub(super) fn read_divided<'d, 's>(
    transcript: &mut Transcript<'s>,
    row: Value<'d, 's>,
    prompt: Option<Value<'d, 's>>,
) {
    let of_column = |prompt: Value<'d, 's>| -> Vec<Value<'d, 's>> {
        prompt.get("messages").unwrap_or(prompt).elements().chain(row.elements()).collect()
    };
    let messages = prompt.map_or_else(|| messages(row).unwrap_or_default(), of_column);
    transcript.format = Some(READER.key());
    read_messages(transcript, messages, prompt.or_else(|| row.get("input")));
}

/// Reads the messages of a row, and what stands beside those of its prompt.
fn read_messages<'s>(
    transcript: &mut Transcript<'s>,
    messages: Vec<Value<'_, 's>>,
    prompt: Option<Value<'_, 's>>,
) {
    let mut contents = messages.iter().filter_map(|message| message.get("content"));
    let read = if turns::have_own_blocks(messages.iter().copied()) || contents.any(tagged::has_list) {
        |transcript: &mut Transcript<'s>, message, _| turns::read_one(transcript, message)
    } else {
        openai_chat::read_message
    };
    messages.into_iter().enumerate().for_each(|(index, message)| read(transcript, message, index));
    if let Some(input) = prompt.filter(|prompt| prompt.is_object()) {
        lists::add_beside(transcript, input);
    }
}
