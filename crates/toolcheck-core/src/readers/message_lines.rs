//! JSON Lines with a message on each line, as agents and chat programs append them to a log: one conversation.
//!
//! A line may wrap its message into when it came, or into an event whose type says that it is one, or hold what is new since
//! the line before.

use foldhash::HashMap;
use toolcheck_json::Value;

use super::{Conversation, ConversationEnd, Reader, Reading, answers, lists, parts, search, turns};
use crate::claim::certainty;
use crate::formats::{anthropic, bedrock_converse, gemini, openai_chat, openai_responses};
use crate::ir::{Transcript, UnpairedReason};
use crate::{unread, unsupported};

pub(super) static READER: Reader =
    Reader::history("message-lines", "Messages, one on each line", sniff, read).with_texts();

/// Messages name nothing but a role, so that most records must be some, and any other reader is surer.
fn sniff(records: &[Value<'_, '_>]) -> u8 {
    let added: Vec<_> = records.iter().filter_map(|record| added(*record)).collect();
    if added.iter().any(|(_, replaces)| !replaces) && 2 * added.len() > records.len() {
        return certainty::LIKELY;
    }
    if let [table] = records {
        return if is_table(*table) { certainty::SURE } else { 0 };
    }
    let [first, _, ..] = records else { return 0 };
    let messages: Vec<Value<'_, '_>> = records.iter().filter_map(|record| message_of(*record)).collect();
    let others = records.len() - messages.len() - usize::from(message_of(*first).is_none());
    if messages.len() < 2 || messages.len() <= others {
        return 0;
    }
    // Other records than plain messages may each stand for themselves, such as responses: then one speaks in all of them.
    let is_header = || message_of(*first).is_none() && first.has("tools");
    let is_plain = || is_message(*first) && first.get("type").is_none() || is_header();
    let speaks_otherwise = |message: &Value<'_, '_>| message.get_str("role") != messages[0].get_str("role");
    // What has a name and cannot be read yet is only named.
    let is_unread = || records.iter().any(|record| unsupported::conversation(*record).is_some());
    let is_one = is_plain() || messages.iter().any(speaks_otherwise) && !is_unread();
    if is_one { certainty::SURE } else { 0 }
}

/// The messages that a line adds to those before it, and whether they take their place: in the events of DeepSeek-Reasonix,
/// the journals of jcode and other stores of what changes.
fn added<'d, 's>(record: Value<'d, 's>) -> Option<(Value<'d, 's>, bool)> {
    let kind = record.get_str("type");
    let replaces = matches!(kind.as_deref(), Some("replace" | "snapshot"));
    let of_kind = record.get("messages").filter(|_| replaces || kind.as_deref() == Some("append"));
    let list = of_kind.or_else(|| record.get_any(&["append_messages", "new_messages"]))?;
    list.is_array().then_some((list, replaces))
}

fn message_of<'d, 's>(record: Value<'d, 's>) -> Option<Value<'d, 's>> {
    if is_message(record) || is_item(record) {
        return Some(record);
    }
    let names_message = |kind: &str| {
        let last = kind.rsplit(['.', '_']).next();
        matches!(last, Some("message" | "chat" | "user" | "assistant" | "tool" | "system"))
    };
    // A response is no message of a log, and a session of Claude Code has a reader of its own.
    let is_of_response =
        || record.get_any(&["done", "finish_reason", "index", "request", "response", "parentUuid"]).is_some();
    let inner = lists::wrapped(record).filter(|inner| is_message(*inner))?;
    // The answer beside a conversation, or its system text, is a part of a row.
    let is_of_row = || record.members().any(|member| unread::unwrapped(member, lists::is_list));
    let kind = record.get("type").map(|kind| kind.as_str().is_some_and(|kind| names_message(&kind)));
    (record.get("role").is_none() && kind != Some(false) && !is_of_response() && !is_of_row())
        .then_some(inner)
}

fn is_message(record: Value<'_, '_>) -> bool {
    // Gemini's parts have no type.
    let has_parts = || {
        record.get("parts").is_some_and(|parts| {
            parts.elements().next().is_some()
                && parts.elements().all(|part| part.is_object() && part.get("type").is_none())
        })
    };
    record.has_text("role")
        && (record.get_any(&["content", "tool_calls"]).is_some() || has_parts() || turns::is_call(record))
        && record.get_any(&["messages", "model_name"]).is_none()
        && record.get("type").is_none_or(|kind| {
            kind.as_str().is_some_and(|kind| kind == "message" || record.get_str("role") == Some(kind))
        })
}

/// Whether a record is a call or a result as the Responses API has them, beside messages.
pub(super) fn is_item(record: Value<'_, '_>) -> bool {
    record.has("call_id")
        && matches!(
            record.get_str("type").as_deref(),
            Some("function_call" | "function_call_output" | "custom_tool_call" | "custom_tool_call_output")
        )
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    let mut reading = Reading::default();
    if records.iter().any(|record| added(*record).is_some()) {
        read_added(records, &mut reading);
        return reading;
    }
    let threads = match records {
        [table] if table.is_array() => threads(&table.elements().collect::<Vec<_>>()),
        _ => threads(records),
    };
    reading.is_apart = threads.len() > 1;
    threads.iter().for_each(|thread| read_thread(thread, &mut reading));
    parts::number_titles(&mut reading.conversations);
    reading
}

/// Reads lines of which each adds messages or takes the place of those before it.
fn read_added<'s>(records: &[Value<'_, 's>], reading: &mut Reading<'s>) {
    let lists = || records.iter().filter_map(|record| added(*record));
    let read_message = form_of(&lists().flat_map(|(list, _)| list.elements()).collect::<Vec<_>>());
    let new = || Transcript::of_conversation(READER.key(), records[0]);
    let mut transcript = new();
    for record in records {
        let Some((list, replaces)) = added(*record) else {
            reading.leave_out_unknown("lines that are not messages", *record);
            continue;
        };
        if replaces && !transcript.messages.is_empty() {
            let replaced = std::mem::replace(&mut transcript, new());
            reading.conversations.push(Conversation::new("messages", replaced, ConversationEnd::Replaced));
        }
        for message in list.elements() {
            // Reasonix keeps what it shows beside what it sends (`LocalOnly` in `internal/provider/provider.go`).
            if is_local(message) {
                reading.leave_out("messages that are not sent");
            } else {
                let number = transcript.messages.len();
                read_message(&mut transcript, message, number);
            }
        }
    }
    if lists().next().is_some_and(|(_, replaces)| !replaces) {
        transcript.settle_results_before_calls(UnpairedReason::Elsewhere);
    }
    reading.conversations.push(Conversation::new("messages", transcript, ConversationEnd::Open));
    parts::number_titles(&mut reading.conversations);
}

fn is_local(message: Value<'_, '_>) -> bool {
    message.is_true("local_only")
}

/// Whether a list is a table of messages: of several threads, of which a request has but one, or with calls in texts.
fn is_table(list: Value<'_, '_>) -> bool {
    let rows: Vec<_> = list.elements().collect();
    let is_named = rows.first().is_some_and(|row| row.get_any(&lists::THREAD).is_some());
    let has_text = |row: &Value<'_, '_>| {
        unread::is_content_in_text(*row)
            || is_named && row.get("tool_calls").is_some_and(|calls| lists::holds_calls_in_text(calls))
    };
    (is_named || rows.iter().any(has_text))
        && rows.iter().all(|row| message_of(*row).is_some())
        && (threads(&rows).len() > 1 || rows.iter().any(has_text))
}

/// The rows of each thread of a table of messages, which all name theirs.
fn threads<'d, 's>(records: &[Value<'d, 's>]) -> Vec<Vec<Value<'d, 's>>> {
    let is_named = |record: &Value<'_, '_>, key: &str| {
        record.get(key).is_some_and(|id| !id.is_null() && id.children().next().is_none())
    };
    let is_of_all = |key: &&&str| records.iter().all(|record| is_named(record, key));
    let Some(key) = lists::THREAD.iter().find(is_of_all) else { return vec![records.to_vec()] };
    let (mut threads, mut numbers) = (Vec::<Vec<_>>::new(), HashMap::default());
    for record in records {
        let number = *numbers.entry(record.get(key).map(Value::raw)).or_insert(threads.len());
        threads.resize(threads.len().max(number + 1), Vec::new());
        threads[number].push(*record);
    }
    threads
}

fn read_thread<'s>(records: &[Value<'_, 's>], reading: &mut Reading<'s>) {
    let Some(first) = records.first().filter(|_| records.iter().any(|record| message_of(*record).is_some()))
    else {
        records.iter().for_each(|record| reading.leave_out_unknown("lines that are not messages", *record));
        return;
    };
    let before_all = reading.conversations.len();
    let mut transcript = Transcript::of_conversation(READER.key(), *first);
    let messages: Vec<_> = records.iter().filter_map(|record| message_of(*record)).collect();
    let read_message = form_of(&messages);
    // The roles of data sets, which agents have in their own transcripts too.
    let all = first.document().root();
    let is_by_roles = all.elements().count() == messages.len()
        && records.iter().all(|record| record.has("role"))
        && turns::has_call_roles(all);
    if is_by_roles {
        turns::read(&mut transcript, all, false);
    }
    for (number, record) in records.iter().enumerate().filter(|_| !is_by_roles) {
        if record.has("tools") {
            lists::add_tools(&mut transcript, *record, &lists::TOOLS);
        }
        if is_local(*record) {
            reading.leave_out("messages that are not sent");
            continue;
        }
        if let Some(message) = message_of(*record) {
            read_message(&mut transcript, message, number);
            // gptme writes calls into texts, and sends them as calls all the same (`llm_openai.py` in `gptme/llm`).
            if record.has("call_id") && record.is("role", "system") {
                reading.leave_out("results of calls that texts show");
            }
            continue;
        }
        // A log of something else may hold conversations too.
        let before = reading.conversations.len();
        search::read_value(&READER, *record, None, reading);
        if reading.conversations.len() == before {
            reading.leave_out_unknown("lines that are not messages", *record);
        }
    }
    transcript.unread.extend(unread::beside_messages(records.iter().copied(), &transcript));
    let conversation = Conversation::new("messages", transcript, ConversationEnd::Open);
    reading.conversations.insert(before_all, conversation);
}

/// How the messages are read, by the wire format whose calls or parts they have.
pub(super) fn form_of(messages: &[Value<'_, '_>]) -> answers::ReadMessage {
    let has_block = |is_own: &dyn Fn(Value<'_, '_>) -> bool| {
        messages.iter().filter_map(|message| message.get("content")).flat_map(Value::elements).any(is_own)
    };
    let is_tool_block =
        |block: Value<'_, '_>| matches!(block.get_str("type").as_deref(), Some("tool_use" | "tool_result"));
    let is_untyped = |block: Value<'_, '_>| {
        block.get("type").is_none() && block.get_any(&["text", "toolUse", "toolResult"]).is_some()
    };
    let is_other = |message: &&Value<'_, '_>| {
        is_item(**message) || message.has("parts") || message.list("content").any(is_tool_block)
    };
    let count = |is_wanted: &dyn Fn(&&Value<'_, '_>) -> bool| messages.iter().filter(is_wanted).count();
    // Where most are those of Chat Completions, another one is a mistake.
    if count(&|message| openai_chat::mistakes::has_tools(**message)) > count(&is_other).max(1) {
        openai_chat::read_message
    } else if messages.iter().any(|message| is_item(*message)) {
        openai_responses::read_item
    } else if messages.iter().any(|message| message.has("parts")) {
        gemini::read_message
    } else if has_block(&is_tool_block) {
        |transcript, message, number| anthropic::read_message(transcript, message, number, false)
    } else if has_block(&is_untyped) {
        bedrock_converse::read_message
    } else {
        openai_chat::read_message
    }
}

/// Whether messages have the items of their turns beside their texts, as Open WebUI keeps them (`convert_output_to_messages`
/// in `backend/open_webui/utils/misc.py` of open-webui/open-webui).
pub(super) fn has_outputs(list: Value<'_, '_>) -> bool {
    list.children().any(|message| items_of(message).is_some())
}

pub(super) fn items_of<'d, 's>(message: Value<'d, 's>) -> Option<Value<'d, 's>> {
    let items = message.get("output").filter(|_| lists::is_plain(message))?;
    items.elements().any(is_item).then_some(items)
}
