//! A conversation as the bodies of a format.

use serde_json::{Map, Value as Json};
use toolcheck_core::conversation::{Assistant, Call, Conversation, Reasoning, ToolOutput, Turn};
use toolcheck_core::reply::{Framing, Pieces, Reply, Stop};
use toolcheck_core::{Format, names};
use toolcheck_json::distinct;

use super::conversation::{TestCall, TestConversation, TestTurn};

names! {
    /// What an adapter translates.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum BodyKind {
        /// A request.
        Request = "request",
        /// A response that came at once.
        Response = "response",
        /// A streamed response: the list of its events.
        Stream = "stream",
    }
    /// The name in reports and in what the adapter reads.
    as_str
}

/// Stands for arguments until the text that is not an object is put in its place.
const RAW: &str = "toolcheck-raw-arguments";
/// Stands before the text of a system message until its role is put in its place.
const SYSTEM: &str = "toolcheck-system-message:";
/// The signature of reasoning, which is that of the first turn of a mock: a gateway gets its replies from one.
const SIGNATURE: &str = "c2ln0000";
/// The key that says whose a message is, in the formats with system messages.
const ROLE: &str = "role";
/// Texts and arguments of streams come in pieces of this many characters.
const PIECES: Pieces = Pieces::of(5);

/// Writes a conversation as a body of this kind; `None` if the format has no way to say it, or nobody
/// would send it.
///
/// A response is the last turn of the model.
pub fn body(conversation: &TestConversation, kind: BodyKind, format: &Format) -> Option<Json> {
    let raws = conversation.turns.iter().flat_map(|turn| &turn.calls).filter_map(|call| call.raw.as_deref());
    let is_object = |raw: &str| serde_json::from_str::<Map<String, Json>>(raw).is_ok();
    if !writes_arguments_as_text(format) && raws.into_iter().any(|raw| !is_object(raw)) {
        return None;
    }
    if kind == BodyKind::Request {
        return conversation.is_open().then(|| request(conversation, format));
    }
    let reply = reply(conversation)?;
    if kind == BodyKind::Response {
        return Some(format.write_reply(&reply));
    }
    let events = format.write_stream(&reply, PIECES);
    let is_named = format.framing == Framing::Binary;
    Some(events.into_iter().map(|event| if is_named { event.named() } else { event.data }).collect())
}

/// Names the model in a request of a format whose requests do that; in the others, the address does.
pub(super) fn name_model(body: &mut Json, format: &Format, model: &str) {
    if !toolcheck_serve::path(format, model, false).contains(model) {
        body["model"] = model.into();
    }
}

/// A request that the last turn of the model may answer.
pub fn question(conversation: &TestConversation, format: &Format) -> Json {
    let question = Conversation::new(vec![Turn::User("Go.".to_owned())]);
    format.write_request_with(&question, &tools(conversation)).body
}

/// The last turn of the model as a reply.
pub fn reply(conversation: &TestConversation) -> Option<Reply> {
    let said = |(_, turn): &(usize, &TestTurn)| turn.is_models() && turn.says_something();
    let (number, turn) = conversation.turns.iter().enumerate().rfind(said)?;
    let first = conversation.turns[..number].iter().map(|turn| turn.calls.len()).sum();
    let mut reply = Reply::new(assistant(turn, first));
    if turn.cut_off {
        reply = reply.with_stop(Stop::Length);
    }
    for (number, call) in turn.calls.iter().enumerate() {
        if let Some(raw) = &call.raw {
            reply = reply.with_raw_arguments(number, raw.clone());
        }
    }
    Some(reply)
}

fn request(conversation: &TestConversation, format: &Format) -> Json {
    let mut turns = Vec::new();
    let mut raws: Vec<&str> = Vec::new();
    let mut count = 0;
    for turn in &conversation.turns {
        turns.extend(turn.user.clone().map(Turn::User));
        turns.extend(turn.system.as_ref().map(|text| Turn::User(format!("{SYSTEM}{text}"))));
        if !turn.is_models() {
            continue;
        }
        let mut said = assistant(turn, count);
        count += turn.calls.len();
        for (call, own) in said.calls.iter_mut().zip(&turn.calls) {
            if let Some(raw) = &own.raw {
                call.arguments = Map::from_iter([(RAW.to_owned(), raws.len().into())]);
                raws.push(raw);
            }
        }
        let output = |(call, own): (&Call, &TestCall)| {
            let mut output: ToolOutput = call.output(own.result.clone());
            output.failed = own.failed;
            output
        };
        let mut outputs: Vec<ToolOutput> = said.calls.iter().zip(&turn.calls).map(output).collect();
        if turn.reversed {
            outputs.reverse();
        }
        turns.push(Turn::Assistant(said));
        if !outputs.is_empty() {
            turns.push(Turn::Results(outputs));
        }
    }
    let mut history = Conversation::new(turns);
    history.system.clone_from(&conversation.system);
    let declared = if conversation.undeclared { Vec::new() } else { tools(conversation) };
    let mut body = format.write_request_with(&history, &declared).body;
    fill(&mut body, &raws);
    for (key, value) in conversation.also.get(format.id).into_iter().flatten() {
        body[key] = value.clone();
    }
    body
}

fn tools(conversation: &TestConversation) -> Vec<&str> {
    distinct(conversation.turns.iter().flat_map(|turn| &turn.calls).map(|call| &*call.tool))
}

/// The turn of the model, whose first call is this one of the conversation.
fn assistant(turn: &TestTurn, first: usize) -> Assistant {
    let call = |(number, call): (usize, &TestCall)| {
        let id = call.id.clone().unwrap_or_else(|| format!("call{:05}", first + number + 1));
        Call::new(id, &*call.tool, call.arguments.clone())
    };
    let said = Assistant::new(&*turn.text).with_calls(turn.calls.iter().enumerate().map(call).collect());
    match &turn.reasoning {
        Some(text) => said.with_reasoning(Reasoning::new(&**text, Some(SIGNATURE.to_owned()))),
        None => said,
    }
}

/// Puts what was stood for in its place.
fn fill(value: &mut Json, raws: &[&str]) {
    let number = match value {
        Json::Object(members) => members.get(RAW).and_then(Json::as_u64),
        Json::String(text) if text.contains(RAW) => {
            serde_json::from_str::<Json>(text).ok().and_then(|value| value[RAW].as_u64())
        }
        _ => None,
    };
    if let Some(raw) = number.and_then(|number| raws.get(number as usize)) {
        *value = match value {
            Json::String(_) => Json::from(*raw),
            _ => serde_json::from_str(raw).unwrap_or_else(|_| Json::from(*raw)),
        };
        return;
    }
    match value {
        Json::Array(elements) => elements.iter_mut().for_each(|element| fill(element, raws)),
        Json::Object(members) => {
            if members.contains_key(ROLE)
                && members.iter().any(|(key, value)| key != ROLE && unmark(&mut value.clone()))
            {
                members.values_mut().for_each(|value| {
                    unmark(value);
                });
                members.insert(ROLE.to_owned(), "system".into());
            }
            members.values_mut().for_each(|member| fill(member, raws));
        }
        _ => {}
    }
}

/// Takes the mark of a system message away, if there is one.
fn unmark(value: &mut Json) -> bool {
    match value {
        Json::String(text) => match text.strip_prefix(SYSTEM).map(str::to_owned) {
            Some(rest) => {
                *text = rest;
                true
            }
            None => false,
        },
        Json::Array(elements) => elements.iter_mut().fold(false, |found, element| unmark(element) | found),
        Json::Object(members) => members.values_mut().fold(false, |found, member| unmark(member) | found),
        _ => false,
    }
}

/// Whether arguments are a text in this format, and so may be anything, and not a value.
fn writes_arguments_as_text(format: &Format) -> bool {
    let mark = Map::from_iter([(RAW.to_owned(), 0.into())]);
    let call = Call::new("call00001", "tool", mark);
    let said = Assistant::new("").with_calls(vec![call]);
    let body = format.write_request(&Conversation::new(vec![Turn::Assistant(said)])).body;
    has_text(&body)
}

fn has_text(value: &Json) -> bool {
    match value {
        Json::String(text) => text.contains(RAW),
        Json::Array(elements) => elements.iter().any(has_text),
        Json::Object(members) => members.values().any(has_text),
        _ => false,
    }
}
