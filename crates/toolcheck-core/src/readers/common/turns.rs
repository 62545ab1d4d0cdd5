//! Turns as data sets write them: `from` and `value`, or roles for calls and results.
//!
//! Such data have no ids, so that results answer calls in their order.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem;
use toolcheck_json::{Document, Value};

use super::sentences::{self, is_notation};
use super::tagged::{self, MappedText, OPENING};
use super::{bare_calls, parts, python_calls};
use crate::formats::is_of_no_provider;
use crate::ir::{
    Body, Call, Malformation, MalformedTextCall, Named, Place, Role, Text, ToolKind, Transcript,
    UnpairedReason,
};
use crate::names::words;
use crate::{call_marks, unread};

const SPEAKERS: [&str; 2] = ["from", "role"];
pub(crate) const TEXTS: [&str; 3] = ["value", "content", "text"];

/// Speakers whose turns are calls; words are also joined in other ways.
const CALLS: [&str; 7] = words(
    "function_call tool_call tool_calls functioncall assistant_tool_call tool_call_invocation tool_use",
);
const RESULTS: [&str; 12] = words(
    "observation function_response tool_response tool_output tool_result tool_results tool_call_result \
    function_return tool function ipython environment",
);
const USERS: [&str; 2] = ["human", "user"];
const ASSISTANTS: [&str; 10] =
    ["gpt", "assistant", "chatgpt", "model", "bot", "chatbot", "agent", "answer", "final_answer", "final"];
const SYSTEMS: [&str; 2] = ["system", "developer"];
const THOUGHTS: [&str; 4] = ["reasoning", "think", "thinking", "thought"];

fn speaker<'s>(turn: Value<'_, 's>) -> Option<Cow<'s, str>> {
    turn.get_any(&SPEAKERS)?.as_str()
}

fn is_one_of(name: &str, names: &[&str]) -> bool {
    let plain = |byte: u8| if matches!(byte, b'-' | b' ') { b'_' } else { byte.to_ascii_lowercase() };
    names.iter().any(|known| known.len() == name.len() && known.bytes().eq(name.bytes().map(plain)))
}

pub(crate) fn is_call(turn: Value<'_, '_>) -> bool {
    speaker(turn).is_some_and(|name| is_one_of(&name, &CALLS))
}

/// Whether a block is a call, whose content is under `value`.
pub(crate) fn is_call_block(block: Value<'_, '_>) -> bool {
    is_of_no_provider(block) && block.get_str("type").is_some_and(|kind| is_one_of(&kind, &CALLS))
}

pub(crate) fn has_from(list: Value<'_, '_>) -> bool {
    let is_turn = |turn: Value<'_, '_>| {
        turn.get_str("from").is_some_and(|name| role_of(&name) != Role::Unknown)
            && turn.get_any(&TEXTS).is_some()
            && turn.get("role").is_none()
    };
    // Beside messages with a role, it is one whose role has the wrong key. Those of chat-ui, which are only named, have calls
    // and results in lists of updates.
    let is_other = |turn: Value<'_, '_>| {
        turn.get_any(&["role", "type"]).is_some() && turn.get("from").is_none() || turn.has_list("updates")
    };
    let mut turns = list.elements().take(LOOKED_AT);
    turns.clone().any(is_turn) && !turns.any(is_other)
}

/// Roles of results in the templates of models, which no API has: of GLM-4, InternLM 2, Llama 3 and Granite, and the words of
/// ms-swift for them.
const OF_TEMPLATES: [&str; 7] =
    words("observation environment ipython tool_response tool_result tool_output function_response");

fn is_of_template(turn: Value<'_, '_>) -> bool {
    // AgentKit of Inngest, which is only named, has the call in its results.
    turn.is_one_of("role", &OF_TEMPLATES)
        && turn.get_any(&TEXTS).is_some()
        && turn.get("tool").is_none_or(|tool| !tool.is_object())
}

/// The name of the tool that a turn calls, and what it returned: ChatGLM3's rows have both in one
/// (`finetune_demo/README_en.md` of THUDM/ChatGLM3).
fn call_with_result<'d, 's>(turn: Value<'d, 's>) -> Option<(Value<'d, 's>, Value<'d, 's>)> {
    turn.get("parameters").filter(|_| turn.is("role", "tool")).zip(turn.get("observation"))
}

/// The tool that a message of gpt-oss calls (`Message.to_dict` of `openai_harmony`).
fn recipient<'d, 's>(turn: Value<'d, 's>) -> Option<Value<'d, 's>> {
    let is_of_model = turn.is("role", "assistant") && turn.has("channel");
    let is_tool = |name: &str| !matches!(name, "all" | "assistant" | "user");
    turn.get("recipient").filter(|name| is_of_model && name.as_str().is_some_and(|name| is_tool(&name)))
}

/// The calls of a message in the form of AgentDojo (`FunctionCall` in `src/agentdojo/functions_runtime.py` of
/// ethz-spylab/agentdojo) or of LobeChat (`ChatToolPayload` in `packages/types/src` of lobehub/lobe-chat).
fn calls_of_program<'d, 's>(turn: Value<'d, 's>) -> Option<Value<'d, 's>> {
    let is_own =
        |key: &str, own: &str| turn.get(key)?.elements().next().filter(|call| call.get(own).is_some());
    is_own("tool_calls", "placeholder_args")
        .and_then(|_| turn.get("tool_calls"))
        .or_else(|| is_own("tools", "apiName").and_then(|_| turn.get("tools")))
}

/// The calls that a message has beside its text, in Python (the chat template of allenai/Olmo-3-7B-Instruct).
fn calls_beside<'d, 's>(turn: Value<'d, 's>) -> Option<Value<'d, 's>> {
    turn.get("function_calls").filter(|calls| calls.as_json_str().is_some_and(|text| !text.is_empty()))
}

/// Whether a turn is a call with LLaMA-Factory's own role for it (`Role` in `src/llamafactory/data/data_utils.py`), which
/// APIs have for results with the name of a tool.
fn is_call_of_function(turn: Value<'_, '_>) -> bool {
    turn.is("role", "function")
        && turn.get("name").is_none()
        && turn.get_any(&TEXTS).and_then(Value::as_str).is_some_and(|text| calls_shown(&text) > 0)
}

/// The name of a tool without the namespace that gpt-oss has for the functions of a request.
fn of_functions(mut name: Named<'_>) -> Named<'_> {
    if let Some(own) = name.text.strip_prefix("functions.") {
        name.text = own.to_owned().into();
    }
    name
}

/// Whether a list has roles for calls or results that no API has.
pub(crate) fn has_call_roles(list: Value<'_, '_>) -> bool {
    let is_of_function = |turn: Value<'_, '_>| turn.has_object("function_call");
    let is_own = |turn: Value<'_, '_>| match turn.get_str("role").as_deref() {
        None | Some("user" | "system") => false,
        Some("bot" | "agent") => turn.get_any(&["secondsFromStart", "words"]).is_some(),
        // Cohere's rows (<https://docs.cohere.com/docs/chat-preparing-the-data>).
        Some("Chatbot") => true,
        Some("assistant") => {
            let is_python =
                |calls: Value<'_, '_>| !python_calls::read(&calls.as_str().unwrap_or_default()).is_empty();
            recipient(turn).is_some()
                || calls_of_program(turn).is_some()
                || calls_beside(turn).is_some_and(is_python)
                || turn.has_list("function_call")
        }
        // Beside calls between tags, results need no id: `HuggingFaceTB/smoltalk2`.
        Some("tool") => {
            call_with_result(turn).is_some()
                || turn.get_any(&["tool_call_id", "tool_name"]).is_none() && tagged::has_tagged_calls(list)
        }
        // ShareGPT's speakers as roles: `Jofthomas/hermes-function-calling-thinking-V1`.
        Some("human" | "model") => turn.has_text("content") && tagged::has_tags(list),
        Some("function") => is_call_of_function(turn) && !list.elements().any(is_of_function),
        Some(role) => is_one_of(role, &CALLS) || is_of_template(turn),
    };
    list.elements().take(crate::claim::MESSAGES_LOOKED_AT).any(is_own)
}

/// Whether messages have blocks that keep their content under `value`, whatever their type, or those of Azure's evaluators.
pub(crate) fn have_own_blocks<'d, 's: 'd>(messages: impl Iterator<Item = Value<'d, 's>>) -> bool {
    messages
        .take(crate::claim::MESSAGES_LOOKED_AT)
        .any(|turn| turn.has("role") && turn.list("content").any(is_own_block))
}

fn is_own_block(block: Value<'_, '_>) -> bool {
    is_of_no_provider(block) || is_of_evaluator(block) || parts::is_program_text(block)
}

/// Whether a block is a call or a result of a row for Azure's evaluators (`break_tool_call_into_messages` in
/// <https://github.com/Azure/azure-sdk-for-python/blob/main/sdk/evaluation/azure-ai-evaluation/azure/ai/evaluation/_converters/_models.py>;
/// those named after functions are in `Azure/azureml-assets`, `assets/evaluators/tests/test_evaluators_tools/tool_type_test_data.py`).
pub(crate) fn is_of_evaluator(block: Value<'_, '_>) -> bool {
    match block.get_str("type").as_deref() {
        Some("tool_call" | "function_call") => block.has_all(&["tool_call_id", "arguments"]),
        Some("function_call_output") => block.has("function_call_output"),
        Some("tool_result") => block.has("tool_result") && block.get("tool_use_id").is_none(),
        _ => false,
    }
}

const LOOKED_AT: usize = 4;

fn role_of(name: &str) -> Role {
    let of = |names: &[&str]| is_one_of(name, names);
    if of(&USERS) {
        Role::User
    } else if of(&ASSISTANTS) || of(&CALLS) || of(&THOUGHTS) {
        Role::Assistant
    } else if of(&RESULTS) {
        Role::Tool
    } else if of(&SYSTEMS) {
        Role::System
    } else {
        Role::Unknown
    }
}

/// Reads the turns of a list. What calls tools that are declared beside it is no sentence.
pub(crate) fn read<'s>(transcript: &mut Transcript<'s>, list: Value<'_, 's>, declares: bool) {
    let turns: Vec<Value<'_, 's>> = list.elements().collect();
    let has_calls = turns.iter().any(|turn| is_call(*turn));
    for number in 0..turns.len() {
        let is_said = has_calls || declares && is_sentence(turns[number]);
        read_turn(transcript, turns[number], &turns[number + 1..], is_said);
    }
}

/// Whether the text of a turn is surely a sentence, and no call in whatever words.
pub(crate) fn is_sentence(turn: Value<'_, '_>) -> bool {
    let text = turn.get_any(&TEXTS).and_then(Value::as_json_str);
    text.is_some_and(sentences::is_sentence) && calls_beside(turn).is_none()
}

/// Adds a turn that stands outside of the list, after its last.
pub(crate) fn read_one<'s>(transcript: &mut Transcript<'s>, turn: Value<'_, 's>) {
    read_turn(transcript, turn, &[], true);
}

/// `has_calls` is whether the list has turns for its calls, or the turn is a sentence, so that it is no call in other words.
fn read_turn<'s>(
    transcript: &mut Transcript<'s>,
    turn: Value<'_, 's>,
    following: &[Value<'_, 's>],
    has_calls: bool,
) {
    let name = turn.get_any(&SPEAKERS).and_then(Named::of);
    let text = turn.get_any(&TEXTS).or_else(|| parts::spoken(turn)).map(parts::said_alone);
    let speaker = name.as_ref().map_or("", |name| &*name.text);
    let role = role_of(speaker);
    // A user who hands on what a tool said.
    let may_answer = |text: &Value<'_, '_>| text.as_json_str().is_some_and(|text| text.may_begin_with(b"<"));
    let answers = text.filter(|text| matches!(role, Role::User | Role::Tool) && may_answer(text));
    let answers =
        answers.and_then(MappedText::of).filter(|said| said.text().trim_start().starts_with(RESPONSE));
    let role = if answers.is_some() { Role::Tool } else { role };
    let is_reasoning = is_one_of(speaker, &THOUGHTS);
    transcript.next_message(role, turn);
    // The role of a user who hands on a result is no mistake.
    if let Some(message) = transcript.messages.last_mut().filter(|_| answers.is_none()) {
        message.role_name.clone_from(&name);
    }
    let blocks = text.filter(|text| text.elements().any(is_own_block));
    match (role, text) {
        _ if read_call(transcript, turn, if has_calls { &[] } else { following }) => {}
        (_, Some(_)) if role != Role::Tool && blocks.is_some() => {
            blocks
                .into_iter()
                .flat_map(|blocks| blocks.elements())
                .for_each(|block| add_block(transcript, block));
        }
        (Role::Tool, Some(text)) if is_error_of_agent(transcript, text) => {
            if let Some(message) = transcript.messages.last_mut() {
                message.role = Role::User;
            }
            transcript.part(text, Text::of(text).map_or(Body::Opaque, Body::Text));
        }
        (Role::Tool, _) => {
            let said = turn.get_any(&TEXTS).or_else(|| turn.get("result"));
            results(transcript, turn, said, answers.as_ref());
            // LLaMA-Factory's rows have results and calls by turns: one `observation` follows a list of calls
            // (`SharegptDatasetConverter` in `src/llamafactory/data/converter.py`, which skips other rows).
            if turn.is("from", "observation") && !is_result(following.first()) {
                settle_calls_before(transcript);
            }
        }
        (_, None) if is_call(turn) && turn.get_any(&ARGUMENTS).is_some() => add_call(transcript, turn),
        (_, None) => {}
        (Role::Assistant, Some(text)) if is_reasoning => {
            transcript.part(text, parts::reasoning(None));
        }
        (Role::Assistant, Some(text)) if is_call(turn) => calls(transcript, turn, text),
        (Role::Assistant, Some(text)) => said(transcript, text, following),
        (_, Some(text)) => {
            if role == Role::Unknown {
                transcript.unread.extend(unread::turn(turn, speaker, text));
            }
            transcript.part(text, Text::of(text).map_or(Body::Opaque, Body::Text));
        }
    }
    let own = calls_of_program(turn).or_else(|| turn.get_any(&["tool_calls", "toolCalls", "function_call"]));
    if let Some(own) = own.filter(|calls| calls.is_array()) {
        own.elements().for_each(|call| add_call(transcript, call));
    }
}

/// Adds the call of a turn whose list has roles for results that no API has; `false` if it is none.
fn read_call<'s>(transcript: &mut Transcript<'s>, turn: Value<'_, 's>, following: &[Value<'_, 's>]) -> bool {
    let text = turn.get_any(&TEXTS).map(parts::said_alone);
    if let Some((arguments, said)) = call_with_result(turn) {
        becomes_model(transcript);
        transcript.part(turn, Body::Call(parts::call(None, turn.get("name"), Some(arguments))));
        results(transcript.next_message(Role::Tool, turn), turn, Some(said), None);
    } else if let Some((name, text)) = recipient(turn).zip(text) {
        let mut call = parts::call(None, None, Some(text));
        call.name = Named::of(name).map(of_functions);
        if name.as_str().is_none_or(|name| !name.starts_with("functions.")) {
            call.kind = ToolKind::Custom;
        }
        transcript.part(text, Body::Call(call));
    } else if let Some(called) = calls_beside(turn) {
        if let Some(said) = text.filter(|text| text.as_json_str().is_some_and(|text| !text.is_empty())) {
            transcript.part(said, Text::of(said).map_or(Body::Opaque, Body::Text));
        }
        python_calls::add(transcript, called, answers_in(following));
    } else if let Some(text) = text.filter(|text| is_call_of_template(turn, *text, following)) {
        becomes_model(transcript);
        calls_before(transcript, text, following);
    } else {
        return false;
    }
    true
}

/// What frameworks write into such turns, by where their texts begin and what is in them.
#[derive(serde::Deserialize)]
struct Words {
    /// Errors that are told to the model, and are no results.
    errors: Vec<[String; 2]>,
    /// Calls of one step, with what each of them has.
    lists: Vec<[String; 2]>,
    /// Tools that a service runs, whose results rows may not have.
    hosted: Vec<String>,
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    // A test reads it.
    toolcheck_toml::from_str(include_str!("turns.toml")).expect("the words of frameworks are valid")
});

/// Whether a turn tells the model of an error, and is no result: after a result, or where nothing was called.
fn is_error_of_agent(transcript: &Transcript<'_>, text: Value<'_, '_>) -> bool {
    let mut paired = transcript.parts.iter().rev().map(|part| &part.body);
    let last = paired.find(|body| matches!(body, Body::Call(_) | Body::Result(_)));
    let is_error = |said: &str| {
        WORDS.errors.iter().any(|[begin, inside]| said.starts_with(&**begin) && said.contains(&**inside))
    };
    !matches!(last, Some(Body::Call(_)))
        && text.as_json_str().is_some_and(|text| text.may_have("Error:"))
        && text.as_str().is_some_and(|text| is_error(&text))
}

/// The last message is the model's, whatever its role says.
fn becomes_model(transcript: &mut Transcript<'_>) {
    if let Some(message) = transcript.messages.last_mut() {
        message.role = Role::Assistant;
    }
}

/// Adds a call in a notation of its own for each result that follows it, or for each that the text shows.
fn calls_before<'s>(transcript: &mut Transcript<'s>, text: Value<'_, 's>, following: &[Value<'_, 's>]) {
    let bare = bare_calls::calls(text, answers_in(following));
    if !bare.is_empty() {
        bare.into_iter().for_each(|call| {
            transcript.part(text, call);
        });
        return;
    }
    let is_action = text.as_str().is_some_and(|text| call_marks::are_action(&text));
    let results = following.iter().take_while(|turn| is_result(Some(turn)));
    let tags = |turn: &Value<'_, '_>| {
        turn.get_any(&TEXTS).map_or(0, |text| memmem::find_iter(text.raw(), RESPONSE).count())
    };
    let marked: usize = results.clone().map(tags).sum();
    let (called, answers) = (text.as_str().map_or(0, |text| calls_shown(&text)), results.count());
    let is_plain = called == 0 || called > 1 && answers == 1 && marked == 0;
    let count = match is_plain {
        true if is_action => 1,
        true => answers,
        false => called,
    };
    for _ in 0..count {
        let mut call = parts::call(None, None, Some(text));
        call.kind = ToolKind::Custom;
        transcript.part(text, Body::Call(call));
    }
}

/// How many results follow at once.
fn answers_in(following: &[Value<'_, '_>]) -> usize {
    following.iter().take_while(|turn| is_result(Some(turn))).count()
}

/// How many calls a text shows: between tags, or as JSON and nothing else.
fn calls_shown(text: &str) -> usize {
    let document = Document::read(text.trim_start_matches("<|python_tag|>").as_bytes());
    let root = document.root();
    let is_call = |call: Value<'_, '_>| call.get_any(&NAMES).is_some() && call.get_any(&ARGUMENTS).is_some();
    match text.matches(OPENING).count() {
        0 if !document.faults().is_empty() => 0,
        0 => usize::from(is_call(root)) + root.elements().filter(|call| is_call(*call)).count(),
        marked => marked,
    }
}

/// Whether what the model says is a call in the words of its template: a result follows, and nothing else calls it.
fn is_call_of_template(turn: Value<'_, '_>, text: Value<'_, '_>, following: &[Value<'_, '_>]) -> bool {
    let is_empty = |calls: Value<'_, '_>| calls.elements().next().is_none();
    let is_lost = || {
        following.iter().take(crate::claim::MESSAGES_LOOKED_AT).any(|next| is_of_template(*next))
            && text.as_str().is_some_and(|text| text.starts_with('{') && calls_shown(&text) == 1)
    };
    (following.first().is_some_and(|next| is_of_template(*next)) || is_lost() || is_call_of_function(turn))
        && speaker(turn).is_some_and(|name| name == "function" || is_one_of(&name, &ASSISTANTS))
        && turn.get("tool_calls").is_none_or(is_empty)
        && text.as_str().is_some_and(|text| !text.is_empty() && !text.contains("tool_call"))
}

fn is_result(turn: Option<&Value<'_, '_>>) -> bool {
    turn.and_then(|turn| speaker(*turn)).is_some_and(|name| is_one_of(&name, &RESULTS))
}

/// Adds a block that keeps its content under `value`.
fn add_block<'s>(transcript: &mut Transcript<'s>, block: Value<'_, 's>) {
    let Some(value) = block.get_any(&["value", "text", "content"]) else {
        if is_of_evaluator(block) {
            add_call(transcript, block);
            let is_hosted =
                block.get_str("name").is_some_and(|name| WORDS.hosted.iter().any(|own| *own == name));
            if is_hosted {
                transcript.settle_calls_from(transcript.parts.len() - 1, UnpairedReason::Elsewhere);
            }
        }
        return;
    };
    let kind = block.get_str("type").unwrap_or_default();
    if is_one_of(&kind, &CALLS) {
        calls(transcript, block, value);
    } else if is_one_of(&kind, &THOUGHTS) {
        transcript.part(value, parts::reasoning(None));
    } else {
        transcript.part(value, Text::of(value).map_or(Body::Opaque, Body::Text));
    }
}

fn calls<'s>(transcript: &mut Transcript<'s>, turn: Value<'_, 's>, text: Value<'_, 's>) {
    // No calls, perhaps as the text of a list.
    let is_blank = |text: &str| text.trim().strip_prefix('[').is_some_and(|rest| rest.trim_start() == "]");
    if text.is_array() && text.elements().next().is_none()
        || text.as_str().is_some_and(|text| is_blank(&text))
    {
        return;
    }
    let before = transcript.parts.len();
    if text.is_object() {
        add_call(transcript, text);
    }
    text.elements().for_each(|call| add_call(transcript, call));
    if transcript.parts.len() > before {
        return;
    }
    let mut within = tagged::calls(text, transcript);
    if within.is_empty() {
        within = tagged::untagged_calls(text, transcript);
    }
    if !within.is_empty() {
        for body in within {
            transcript.part(text, body);
        }
        return;
    }
    // What could not be read as calls: JSON with a fault, or a notation of its own.
    let mut call = parts::call(turn.get("id"), turn.get("name"), Some(text));
    if text.as_str().is_none_or(|text| is_notation(&text)) {
        call.kind = ToolKind::Custom;
    } else if text.as_str().is_some_and(|text| is_nameless(Document::read(text.as_bytes()).root())) {
        add_nameless(transcript, text);
    }
    // One message has what all calls of a list returned.
    let said = text.as_str().unwrap_or_default();
    let list = WORDS.lists.iter().find(|[begin, _]| said.starts_with(&**begin));
    for _ in 1..list.map_or(1, |[_, each]| said.matches(&**each).count()) {
        let unpaired = Some(UnpairedReason::Elsewhere);
        transcript.part(text, Body::Call(Call { unpaired, ..call.clone() }));
    }
    transcript.part(text, Body::Call(call));
}

pub(crate) fn read_answers<'s>(transcript: &mut Transcript<'s>, answers: Value<'_, 's>) {
    transcript.turn(Role::Assistant, answers);
    calls(transcript, answers, answers);
}

/// Adds a call that is an object with a name and arguments, perhaps below `function`.
pub(crate) fn add_call<'s>(transcript: &mut Transcript<'s>, call: Value<'_, 's>) {
    let spec = call.get("function").filter(|function| function.is_object()).unwrap_or(call);
    let id = call.get_any(&IDS).or_else(|| call.get("id")).filter(|id| id.is_string());
    let name = spec.get_any(&NAMES);
    if is_nameless(spec) {
        add_nameless(transcript, call);
    }
    transcript.part(call, Body::Call(parts::call(id, name, spec.get_any(&ARGUMENTS))));
}

/// Reads calls with names and arguments alone: what the model is to call next.
pub(crate) fn read_flat<'s>(transcript: &mut Transcript<'s>, calls: Value<'_, 's>, _: usize) {
    transcript.next_message(Role::Assistant, calls);
    let alone = calls.is_object().then_some(calls);
    calls.elements().chain(alone).for_each(|call| add_call(transcript, call));
}

/// Whether an object has arguments, but no name under any key.
fn is_nameless(spec: Value<'_, '_>) -> bool {
    let name = spec.get_any(&NAMES).and_then(Value::as_json_str);
    name.is_none_or(|name| name.is_empty()) && spec.get_any(&ARGUMENTS).is_some()
}

fn add_nameless<'s>(transcript: &mut Transcript<'s>, call: Value<'_, 's>) {
    let message = transcript.messages.len().saturating_sub(1) as u32;
    let place = Place::of(call);
    let malformation = Malformation::Nameless;
    let found = MalformedTextCall { name: None, opening: place, malformation, place, message };
    transcript.details.malformed_text_calls.push(found);
}

const NAMES: [&str; 9] = words("name function tool_name toolName function_name api_name apiName tool action");
pub(crate) const ARGUMENTS: [&str; 7] = words("arguments parameters args input tool_input toolInput params");
/// The ids of calls. Programs have an `id` of the message beside one of these.
const IDS: [&str; 5] = words("tool_call_id call_id toolCallId tool_use_id toolUseId");

/// Adds the results of a turn, as many as it marks.
fn results<'s>(
    transcript: &mut Transcript<'s>,
    turn: Value<'_, 's>,
    text: Option<Value<'_, 's>>,
    answers: Option<&MappedText<'_, 's>>,
) {
    let before =
        transcript.messages.iter().rev().nth(1).map(|before| turn.document().value(before.place.node));
    // ComplexFuncBench has calls in a list, and one of what each returned (<https://github.com/zai-org/ComplexFuncBench>).
    let has_list = |before: Value<'_, '_>| before.has_list("function_call");
    if let Some(each) = text.filter(|text| text.is_array() && before.is_some_and(has_list)) {
        for one in each.elements() {
            transcript.part(one, Body::Result(parts::result(None, Some(one), None)));
        }
        return;
    }
    let id = turn.get_any(&IDS);
    let mut result = parts::result(id, text, None);
    let listed = text.filter(|text| {
        let is_list =
            text.as_json_str().is_some_and(|said| said.may_begin_with(b"[") && said.may_have("results"));
        is_list && before.is_some_and(|before| before.get_any(&TEXTS).is_some_and(python_calls::is_list))
    });
    let listed = listed.and_then(MappedText::of).map(|said| python_calls::results(&said)).unwrap_or_default();
    if !listed.is_empty() {
        for (name, place) in listed {
            result.name = Some(name);
            transcript.part(turn, Body::Result(result.clone()));
            if let Some(part) = transcript.parts.last_mut() {
                part.place = place;
            }
        }
        return;
    }
    result.name = turn.get("name").and_then(Named::of).map(of_functions);
    let count = answers.map_or(1, |said| said.text().matches(RESPONSE).count().max(1));
    for _ in 0..count {
        transcript.part(text.unwrap_or(turn), Body::Result(result.clone()));
    }
    // One text may have the results of all calls before it.
    let text = text.map(|text| text.elements().next().and_then(|block| block.get("value")).unwrap_or(text));
    let is_list = text.is_some_and(|text| {
        let may_be_list = text.as_json_str().is_some_and(|text| text.may_begin_with(b"["));
        text.is_array() || may_be_list && text.as_str().is_some_and(|text| text.trim_start().starts_with('['))
    });
    if is_list && id.is_none() {
        settle_calls_before(transcript);
    }
}

/// Says of the calls before the last message that their results may be in one.
fn settle_calls_before(transcript: &mut Transcript<'_>) {
    let Some(before) = transcript.messages.len().checked_sub(2) else { return };
    let range = transcript.messages[before].parts.clone();
    let calls = transcript.parts[range.start as usize..range.end as usize].iter_mut();
    let calls = calls.filter_map(|part| match &mut part.body {
        Body::Call(call) => Some(call),
        _ => None,
    });
    for call in calls.skip(1) {
        call.unpaired.get_or_insert(UnpairedReason::Elsewhere);
    }
}

pub(crate) const RESPONSE: &str = "<tool_response>";

/// Whether a conversation has results near, so that a call needs one: to look at all of it for each text would be quadratic.
fn has_results(transcript: &Transcript<'_>, following: &[Value<'_, '_>]) -> bool {
    const NEAR: usize = crate::claim::MESSAGES_LOOKED_AT;
    transcript.parts.iter().rev().take(NEAR).any(|part| matches!(part.body, Body::Result(_)))
        || following.iter().take(NEAR).any(|turn| is_result(Some(turn)))
}

/// Adds what the model says: a text, the calls between tags in it and what stands before them, or a call in other words.
fn said<'s>(transcript: &mut Transcript<'s>, text: Value<'_, 's>, following: &[Value<'_, 's>]) {
    let found = tagged::calls(text, transcript);
    if found.is_empty()
        && python_calls::is_list(text)
        && (following.is_empty() || has_results(transcript, following))
    {
        let listed = following.first().and_then(|turn| turn.get_any(&TEXTS)).and_then(MappedText::of);
        let is_listed = listed.is_some_and(|said| !python_calls::results(&said).is_empty());
        python_calls::add(transcript, text, if is_listed { 0 } else { answers_in(following) });
        return;
    }
    if found.is_empty() {
        // Where the model goes on, a result is missing.
        let goes_on = || {
            let next = following.first().and_then(|next| speaker(*next));
            next.is_some_and(|name| role_of(&name) == Role::Assistant)
                && text.as_str().is_some_and(|text| call_marks::are_action_with_result(&text))
                && has_results(transcript, following)
        };
        let is_answered = is_result(following.first()) || goes_on();
        if is_answered && text.as_json_str().is_some_and(call_marks::hold_call)
            || bare_calls::is_call(text) && (is_answered || has_results(transcript, following))
        {
            calls_before(transcript, text, following);
        } else {
            transcript.part(text, Text::of(text).map_or(Body::Opaque, Body::Text));
        }
        return;
    }
    if let Some(said) = MappedText::of(text) {
        let before = said.text().find(OPENING).unwrap_or_default();
        if !said.text()[..before].trim().is_empty() {
            let (string, place) = said.part(0..before);
            transcript.part(text, Body::Text(Text { string, place }));
        }
    }
    for body in found {
        transcript.part(text, body);
    }
}
