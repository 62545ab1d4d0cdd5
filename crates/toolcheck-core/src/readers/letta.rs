//! Letta: an agent file, which holds agents with what they have said, as `letta/schemas/agent_file.py` of letta-ai/letta (0.16.7)
//! writes it, and as its `serialize_schemas/pydantic_agent_schema.py` did before.
//!
//! A message of a tool has what all calls have returned. A call that waits for consent is in a message of its own, which is sent
//! together with the one before it; what the user allows is not sent (`to_openai_dict` and `filter_messages_for_llm_api` in
//! `letta/schemas/message.py`). What was summarised stays in the file, and only the messages that the agent names are sent.

use foldhash::{HashMap, HashSet};
use toolcheck_json::Value;

use super::parts::{call, id, is_media, reasoning, result};
use super::{Conversation, ConversationEnd, Reader, Reading, own_shape};
use crate::ir::{Body, Role, Transcript, UnpairedReason};

pub(super) static READER: Reader =
    Reader::log("letta", "Letta agent file", |records| own_shape(records, is_file), read);

/// The ids of the messages that are sent.
const IDS: &str = "in_context_message_ids";
/// Their numbers, in older files.
const NUMBERS: &str = "in_context_message_indices";

fn is_file(record: Value<'_, '_>) -> bool {
    let mut agents = record.list("agents");
    agents.next().is_some_and(|agent| agent.get(IDS).is_some()) || is_old(record)
}

/// Whether a record is an agent by itself.
fn is_old(record: Value<'_, '_>) -> bool {
    record.get(NUMBERS).is_some_and(Value::is_array) && record.has_list("messages")
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    Reading::of_sessions(records, |record, reading| {
        if !is_file(record) {
            return false;
        }
        if is_old(record) {
            read_agent(record, "main".to_owned(), reading);
            return true;
        }
        let agents: Vec<_> = record.list("agents").collect();
        for agent in &agents {
            let name = agent.get_str("name").filter(|_| agents.len() > 1);
            let title =
                name.map_or("main".to_owned(), |name| format!("agent {}", crate::text::shorten(&name)));
            read_agent(*agent, title, reading);
        }
        true
    })
}

fn read_agent<'s>(agent: Value<'_, 's>, title: String, reading: &mut Reading<'s>) {
    let messages: Vec<_> = agent.list("messages").collect();
    let (sent, left) = in_context(agent, &messages);
    let has_left = !left.is_empty();
    if has_left {
        let mut before = conversation(agent, left, reading);
        before.settle_results_before_calls(UnpairedReason::Elsewhere);
        before.settle_calls_of_last_turn(UnpairedReason::Elsewhere);
        let title = format!("{title}, not in context");
        reading.conversations.push(Conversation::new(title, before, ConversationEnd::Compacted));
    }
    let mut next = conversation(agent, sent, reading);
    if has_left {
        next.settle_results_before_calls(UnpairedReason::Elsewhere);
    } else {
        next.settle_results_of_first(UnpairedReason::Elsewhere);
    }
    reading.conversations.push(Conversation::new(title, next, ConversationEnd::Open));
}

/// The messages that an agent sends, in the order in which it names them, and the others. An agent that names none has
/// just been made.
fn in_context<'d, 's>(
    agent: Value<'d, 's>,
    messages: &[Value<'d, 's>],
) -> (Vec<Value<'d, 's>>, Vec<Value<'d, 's>>) {
    let number_of: HashMap<&[u8], usize> = messages
        .iter()
        .enumerate()
        .filter_map(|(number, message)| Some((message.get("id")?.raw(), number)))
        .collect();
    let ids = agent.list(IDS).filter_map(|id| number_of.get(id.raw()).copied());
    let is_there = |number: &usize| *number < messages.len();
    let numbers =
        agent.list(NUMBERS).filter_map(|number| usize::try_from(number.as_u64()?).ok()).filter(is_there);
    let mut named: HashSet<usize> = HashSet::default();
    let order: Vec<usize> = ids.chain(numbers).filter(|number| named.insert(*number)).collect();
    if order.is_empty() {
        return (messages.to_vec(), Vec::new());
    }
    let others = messages.iter().enumerate().filter(|(number, _)| !named.contains(number));
    let others = others.map(|(_, message)| *message).collect();
    (order.into_iter().map(|number| messages[number]).collect(), others)
}

fn conversation<'s>(
    agent: Value<'_, 's>,
    messages: Vec<Value<'_, 's>>,
    reading: &mut Reading<'s>,
) -> Transcript<'s> {
    let mut transcript = Transcript::of_conversation(READER.key(), agent);
    let mut waits = false;
    for message in messages {
        match message.get_str("role").as_deref() {
            Some("system") => say(&mut transcript, Role::System, message),
            Some("user" | "summary") => say(&mut transcript, Role::User, message),
            Some("assistant") => say(&mut transcript, Role::Assistant, message),
            Some("approval") if message.list("tool_calls").next().is_some() => {
                transcript.turn(Role::Assistant, message);
                add(&mut transcript, message);
                waits = true;
                continue;
            }
            Some("approval") => {
                reading.leave_out("answers to requests for consent");
                continue;
            }
            Some("tool" | "function") => add_results(&mut transcript, message),
            _ => {
                reading.leave_out_unknown("messages of other roles", message);
                continue;
            }
        }
        waits = false;
    }
    if waits {
        transcript.settle_calls_of_last(UnpairedReason::Consent);
    }
    transcript
}

fn say<'s>(transcript: &mut Transcript<'s>, role: Role, message: Value<'_, 's>) {
    transcript.next_message(role, message);
    add(transcript, message);
}

/// Adds the content and the calls of a message.
fn add<'s>(transcript: &mut Transcript<'s>, message: Value<'_, 's>) {
    let calls: Vec<_> = message.list("tool_calls").collect();
    transcript.content(message.get("content"), |block| {
        let kind = block.get_str("type").unwrap_or_default();
        match &*kind {
            // It repeats one of the calls.
            "tool_call" if !calls.is_empty() => None,
            "reasoning" | "redacted_reasoning" | "omitted_reasoning" | "summarized_reasoning" => {
                Some(reasoning(block.get("signature")))
            }
            kind if is_media(kind) => Some(Body::Media),
            _ => Some(Body::Opaque),
        }
    });
    for one in calls {
        let of_function = |key: &str| one.get("function")?.get(key);
        let call = call(id(one.get("id")), of_function("name"), of_function("arguments"));
        transcript.part(one, Body::Call(call));
    }
}

fn add_results<'s>(transcript: &mut Transcript<'s>, message: Value<'_, 's>) {
    let own_id = || id(message.get("tool_call_id"));
    let returns: Vec<_> = message.list("tool_returns").collect();
    transcript.turn(Role::Tool, message);
    if returns.is_empty() {
        let result = result(own_id(), message.get("content"), None);
        transcript.part(message, Body::Result(result));
        return;
    }
    let is_only = returns.len() == 1;
    for one in returns {
        let call_id = id(one.get("tool_call_id")).filter(|id| !id.is_null());
        let call_id = call_id.or_else(|| own_id().filter(|_| is_only));
        let is_error = one.get_str("status").map(|status| status == "error");
        let result = result(call_id, one.get("func_response"), is_error);
        transcript.part(one, Body::Result(result));
    }
}
