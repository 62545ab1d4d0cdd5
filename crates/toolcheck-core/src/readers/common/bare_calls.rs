//! Calls that are all of a text, as models write them whose templates put no tags around them: JSON with a name and
//! arguments (Llama 3, xLAM), the same behind a word (Phi-4-mini, Command R), or arguments below a line with the name (GLM-4,
//! functionary).

use std::borrow::Cow;
use std::ops::Range;

use toolcheck_json::{Document, Value};

use super::parts;
use super::tagged::{self, MappedText};
use crate::claim::MESSAGES_LOOKED_AT;
use crate::ir::{Arguments, Body, Named, Part, Role, Transcript, UnpairedReason};

/// What may stand before the JSON: of Llama 3, of Phi-4-mini, and of Command R, whose JSON is in a fence
/// (`docs/source/en/chat_templating.md` and the chat templates of microsoft/Phi-4-mini-instruct and
/// CohereLabs/c4ai-command-r-v01).
const BEFORE: [&str; 3] = ["<|python_tag|>", "functools", "Action:"];
const FENCE: [&str; 2] = ["```json", "```"];

/// The tool that Command R calls to call none.
const NONE: [&str; 2] = ["directly_answer", "directly-answer"];

/// The calls of a text that is nothing else. One message may have what all of them returned.
pub(crate) fn calls<'s>(value: Value<'_, 's>, answers: usize) -> Vec<Body<'s>> {
    let Some(said) = MappedText::of(value) else { return Vec::new() };
    let (first, json) = json_of(said.text());
    if json.starts_with(['{', '[']) {
        let read = |(number, range): (usize, Range<usize>)| {
            let mut call = tagged::call_at(&said, first + range.start..first + range.end);
            call.unpaired = (number > 0 && answers == 1).then_some(UnpairedReason::Elsewhere);
            Body::Call(call)
        };
        return ranges_in(json).into_iter().enumerate().map(read).collect();
    }
    named_first(said.text()).map(|(name, given)| named_call(&said, name, given)).into_iter().collect()
}

/// Whether results without an id follow calls that are all of a text, in a list whose messages have no calls of their own.
pub(crate) fn are_answered(list: Value<'_, '_>) -> bool {
    let is_answer = |turn: Value<'_, '_>| {
        turn.is("role", "tool") && turn.get_any(&["tool_call_id", "tool_calls", "name"]).is_none()
    };
    let turns = list.elements().zip(list.elements().skip(1)).take(MESSAGES_LOOKED_AT);
    let mut answered = turns.filter(|(_, turn)| is_answer(*turn)).map(|(before, _)| before);
    answered.any(|before| {
        before.is("role", "assistant")
            && before.get("tool_calls").is_none()
            && before.get("content").map(parts::said_alone).is_some_and(is_call)
    })
}

/// Whether a text is nothing but calls.
pub(crate) fn is_call(text: Value<'_, '_>) -> bool {
    let text = text.as_str().unwrap_or_default();
    !ranges_in(json_of(&text).1).is_empty() || named_first(&text).is_some()
}

/// How many texts of the model are nothing but calls in JSON of tools that are declared, although nothing was read as one.
pub(crate) fn count_unread(transcript: &Transcript<'_>) -> usize {
    let tools = &transcript.request.tools;
    let is_declared = |name: &str| {
        let own = tools.declared().filter_map(|tool| tool.name.as_ref()).map(|name| &*name.text);
        own.chain(tools.in_text.iter().map(|tool| &*tool.name)).any(|own| own == name)
    };
    let names_tool = |json: &str| {
        let calls = Document::read(json.as_bytes());
        let first = calls.root().elements().next().unwrap_or(calls.root());
        !ranges_in(json).is_empty()
            && first.get_any(&NAMES).and_then(Value::as_str).is_some_and(|name| is_declared(&name))
    };
    let said = transcript.messages_with_parts().filter(|(message, _)| message.role == Role::Assistant);
    let has_call = |parts: &[Part<'_>]| parts.iter().any(|part| matches!(part.body, Body::Call(_)));
    let texts = said.filter(|(_, parts)| !has_call(parts)).flat_map(|(_, parts)| parts);
    let is_one = |part: &&Part<'_>| match part.body {
        Body::Text(text) if text.string.may_begin_with(b"{[<fA") => {
            names_tool(json_of(&text.string.decode()).1)
        }
        _ => false,
    };
    texts.filter(is_one).count()
}

/// The JSON of a text, and where it begins.
fn json_of(text: &str) -> (usize, &str) {
    let mut rest = text.trim_start();
    for before in BEFORE {
        rest = rest.strip_prefix(before).unwrap_or(rest).trim_start();
    }
    for fence in FENCE {
        rest = rest.strip_prefix(fence).unwrap_or(rest).trim_start();
    }
    let first = text.len() - rest.len();
    (first, rest.trim_end().trim_end_matches(FENCE[1]).trim_end())
}

const NAMES: [&str; 2] = ["name", "tool_name"];
const ARGUMENTS: [&str; 2] = ["arguments", "parameters"];
/// What else a call may have.
const BESIDE: [&str; 2] = ["id", "type"];

/// Where the calls are in a text that is JSON of calls and nothing else.
fn ranges_in(json: &str) -> Vec<Range<usize>> {
    if !json.starts_with(['{', '[']) {
        return Vec::new();
    }
    let document = Document::read(json.as_bytes());
    let is_call = |call: &Value<'_, '_>| {
        let name = call.get_any(&NAMES).and_then(Value::as_str).unwrap_or_default();
        let is_own = |member: Value<'_, '_>| {
            NAMES.iter().chain(&ARGUMENTS).chain(&BESIDE).any(|key| member.has_key(key))
        };
        !name.is_empty()
            && !NONE.contains(&&*name)
            && call.get_any(&ARGUMENTS).is_some_and(Value::is_object)
            && call.members().all(is_own)
    };
    let root = document.root();
    let alone = root.is_object().then_some(root);
    let calls: Vec<_> = root.elements().chain(alone).collect();
    let are_calls = document.faults().is_empty() && calls.iter().all(is_call);
    if are_calls { calls.into_iter().map(|call| call.span().range()).collect() } else { Vec::new() }
}

/// The name and the arguments of a call whose name is a line of its own, with functionary's mark before it.
fn named_first(text: &str) -> Option<(Range<usize>, Range<usize>)> {
    let (line, rest) = text.split_once('\n')?;
    let name = line.trim().trim_start_matches(">>>");
    let is_name = !name.is_empty()
        && name.len() <= LONGEST_NAME
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    let given = rest.trim();
    if !is_name || !given.starts_with('{') {
        return None;
    }
    let document = Document::read(given.as_bytes());
    let is_given = document.faults().is_empty() && document.root().is_object();
    let at = line.trim_end().len() - name.len();
    let first = text.len() - rest.trim_start().len();
    is_given.then(|| (at..at + name.len(), first..first + given.len()))
}

/// No name of a tool is longer.
const LONGEST_NAME: usize = 128;

fn named_call<'s>(said: &MappedText<'_, 's>, name: Range<usize>, given: Range<usize>) -> Body<'s> {
    let mut call = super::parts::call(None, None, None);
    let text = Cow::Owned(said.text()[name.clone()].to_owned());
    call.name = Some(Named { text, place: said.place(name), instead: None });
    let (string, place) = said.part(given);
    call.arguments = Arguments::Text(string, place);
    Body::Call(call)
}
