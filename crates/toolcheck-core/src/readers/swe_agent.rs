//! SWE-agent: a trajectory (`*.traj`).
//!
//! What was said is in `history`; `trajectory` repeats it as steps. Most runs have no calls: their actions are text.
//! mini-swe-agent has `messages`, of which the last says how the run ended (`src/minisweagent/agents/default.py`). With the
//! Responses API, a turn is a whole response there, and a result its item (`models/litellm_response_model.py`).

use foldhash::HashMap;
use toolcheck_json::Value;

use super::parts::{call, id, is_media, reasoning, result};
use super::{Conversation, ConversationEnd, Reader, Reading, own_shape};
use crate::formats::{self, openai_responses};
use crate::ir::{Body, Role, Transcript, UnpairedReason};

pub(super) static READER: Reader = Reader::log("swe-agent", "SWE-agent trajectory", sniff, read).by_record();

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    own_shape(records, |record| {
        if messages_of_mini(record).is_some() {
            return true;
        }
        let Some(history) = record.get("history").filter(|history| history.is_array()) else { return false };
        // A demonstration has no steps.
        let is_own = |message: Value<'_, '_>| {
            message.has("role")
                && (message.has("message_type")
                    || message.has("tool_call_ids")
                    || message.has("thought") && message.has("action"))
        };
        record.has_list("trajectory") || history.elements().take(16).any(is_own)
    })
}

/// The messages of a trajectory of mini-swe-agent.
fn messages_of_mini<'d, 's>(record: Value<'d, 's>) -> Option<Value<'d, 's>> {
    record.get_str("trajectory_format").filter(|format| format.starts_with("mini-swe-agent"))?;
    let messages = record.get("messages").filter(|messages| messages.is_array())?;
    let is_known = |message: Value<'_, '_>| message.get_any(&["role", "output"]).is_some();
    messages.elements().all(is_known).then_some(messages)
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    let mut reading = Reading::default();
    for &record in records {
        let mini = messages_of_mini(record);
        let Some(history) = mini.or_else(|| record.get("history")) else { continue };
        // Agents that share a file have histories of their own in it.
        let mut agents: HashMap<&[u8], usize> = HashMap::default();
        let end = end(record);
        for message in history.elements() {
            if mini.is_some() && message.is("role", "exit") {
                // The command that ends a run has no result.
                if let Some(last) = reading.conversations.last_mut() {
                    last.transcript.settle_calls_of_last_turn(UnpairedReason::Aborted);
                }
                reading.left_out.add("notes on how a run ended", 1);
                continue;
            }
            let agent = message.get("agent");
            let number = *agents.entry(agent.map_or(b"", Value::raw)).or_insert_with(|| {
                let name = agent.and_then(|agent| agent.as_str()).unwrap_or("main".into());
                let title = crate::text::shorten(&name).into_owned();
                let transcript = Transcript::of_conversation(READER.key(), record);
                reading.conversations.push(Conversation { title, transcript, end });
                reading.conversations.len() - 1
            });
            read_message(&mut reading.conversations[number].transcript, message);
        }
        for conversation in &mut reading.conversations {
            conversation.transcript.settle_results_of_first(UnpairedReason::Elsewhere);
        }
        let steps = record.get("trajectory").map_or(0, |steps| steps.elements().count());
        reading.left_out.add("steps, which repeat the history", steps);
    }
    reading
}

fn end(record: Value<'_, '_>) -> ConversationEnd {
    match record.get("info").and_then(|info| info.get_str("exit_status")).as_deref() {
        Some("submitted" | "Submitted") => ConversationEnd::Complete,
        Some(_) => ConversationEnd::Aborted,
        None => ConversationEnd::Open,
    }
}

fn read_message<'s>(transcript: &mut Transcript<'s>, message: Value<'_, 's>) {
    if message.get("role").is_none() {
        let number = transcript.messages.len();
        let is_item = message.has("type");
        let items = is_item.then_some(message).into_iter().chain(message.list("output").filter(|_| !is_item));
        items.for_each(|item| openai_responses::read_item(transcript, item, number));
        return;
    }
    let role = formats::role_in_chat(message.get_str("role").as_deref());
    transcript.next_message(role, message);
    let content = message.get("content");
    if role == Role::Tool {
        let ids = message.get("tool_call_ids").filter(|ids| ids.elements().next().is_some());
        match ids {
            Some(ids) => {
                for one in ids.elements() {
                    transcript.part(message, Body::Result(result(id(Some(one)), content, None)));
                }
            }
            None => {
                let result = result(id(message.get("tool_call_id")), content, None);
                transcript.part(message, Body::Result(result));
            }
        }
        return;
    }
    transcript.content(content, |block| match &*block.get_str("type").unwrap_or_default() {
        kind if is_media(kind) => Some(Body::Media),
        _ => Some(Body::Opaque),
    });
    for block in message.list("thinking_blocks") {
        transcript.part(block, reasoning(block.get("signature")));
    }
    for one in message.list("tool_calls") {
        let function = one.get("function").unwrap_or(one);
        let call = call(id(one.get("id")), function.get("name"), function.get("arguments"));
        transcript.part(one, Body::Call(call));
    }
}
