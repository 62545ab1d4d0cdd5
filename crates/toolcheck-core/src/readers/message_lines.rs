//! JSON Lines with a message on each line, as agents and chat programs append them to a log: one conversation.

use toolcheck_json::Value;

use super::{Conversation, ConversationEnd, Reader, Reading, lists, search};
use crate::claim::certainty;
use crate::formats::{anthropic, openai_chat};
use crate::ir::Transcript;

pub(super) static READER: Reader =
    Reader::history("message-lines", "Messages, one on each line", sniff, read);

/// Messages name nothing but a role, so that most records must be some, and any other reader is surer.
fn sniff(records: &[Value<'_, '_>]) -> u8 {
    let [first, _, ..] = records else { return 0 };
    if !is_message(*first) && first.get("tools").is_none() {
        return 0;
    }
    let messages = records.iter().filter(|record| is_message(**record)).count();
    let others = records.len() - messages - usize::from(!is_message(*first));
    if messages > 1 && messages > others { certainty::SURE } else { 0 }
}

fn is_message(record: Value<'_, '_>) -> bool {
    record.get("role").is_some_and(|role| role.as_json_str().is_some())
        && record.get_any(&["content", "tool_calls"]).is_some()
        && record.get_any(&["messages", "type", "model_name"]).is_none()
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    let mut reading = Reading::default();
    let Some(first) = records.first().filter(|_| records.iter().any(|record| is_message(*record))) else {
        records.iter().for_each(|record| reading.leave_out_unknown("lines that are not messages", *record));
        return reading;
    };
    let mut transcript = Transcript::of_conversation(READER.key(), *first);
    let is_of_blocks = records.iter().any(|record| has_blocks(*record));
    for (number, record) in records.iter().enumerate() {
        if record.get("tools").is_some() {
            lists::add_tools(&mut transcript, *record, &lists::TOOLS);
        }
        if !is_message(*record) {
            // A log of something else may hold conversations too.
            let before = reading.conversations.len();
            search::read_value(&READER, *record, None, &mut reading);
            if reading.conversations.len() == before {
                reading.leave_out_unknown("lines that are not messages", *record);
            }
        } else if is_of_blocks {
            anthropic::read_message(&mut transcript, *record, number, false);
        } else {
            openai_chat::read_message(&mut transcript, *record, number);
        }
    }
    let conversation = Conversation { title: "messages".to_owned(), transcript, end: ConversationEnd::Open };
    reading.conversations.insert(0, conversation);
    reading
}

/// Whether the calls or results of a message are blocks of its content.
fn has_blocks(message: Value<'_, '_>) -> bool {
    let mut blocks = message.get("content").into_iter().flat_map(Value::elements);
    blocks.any(|block| matches!(block.get_str("type").as_deref(), Some("tool_use" | "tool_result")))
}
