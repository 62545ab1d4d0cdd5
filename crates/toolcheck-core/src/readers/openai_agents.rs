//! OpenAI's Agents SDK: the state of a run, as `RunState` writes it to wait for a person, and the items of a session.
//!
//! The SDK for Python keeps the items of the Responses API, and takes away its `provider_data` before it sends them
//! (`agents/models/chatcmpl_converter.py`). That for JavaScript has names of its own (`agents-core/src/types/protocol.ts`).

use foldhash::HashSet;
use toolcheck_json::Value;

use super::parts::{call, id, reasoning, result};
use super::{Conversation, ConversationEnd, Reader, Reading, own_shape};
use crate::formats::openai_responses;
use crate::ir::{Body, Executor, Named, Role, ToolKind, Transcript, UnpairedReason};
use crate::names::words;

pub(super) static READER: Reader =
    Reader::history("openai-agents", "OpenAI Agents SDK run state", sniff, read).by_record();

const STATE: [&str; 5] = words("$schemaVersion originalInput original_input currentAgent current_agent");

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    own_shape(records, |record| {
        items(record).is_some_and(Value::is_array) && record.get_any(&STATE).is_some()
            || is_session(record)
            || is_new_items(record)
            || is_responses(record)
    })
}

/// Whether a list is `newItems` of a result: what a run has added, each item with its class around it.
fn is_new_items(list: Value<'_, '_>) -> bool {
    let is_own = |item: Value<'_, '_>| {
        item.get_str("type").is_some_and(|kind| kind.ends_with("_item"))
            && item.get_any(&RAW).is_some_and(|raw| raw.get_any(&["type", "role"]).is_some())
    };
    list.elements().next().is_some() && list.elements().take(super::LOOKED_AT).all(is_own)
}

/// Whether a list is `rawResponses` of a result: what the model has answered, without what followed.
fn is_responses(list: Value<'_, '_>) -> bool {
    let outputs = || list.elements().take(super::LOOKED_AT).map(|response| response.get("output"));
    let is_usage = |response: Value<'_, '_>| response.has_object("usage");
    list.elements().take(super::LOOKED_AT).all(is_usage)
        && outputs().all(|output| output.is_some_and(Value::is_array))
        && outputs().flatten().any(is_session)
}

const RAW: [&str; 2] = ["rawItem", "raw_item"];

/// Whether a list has the items of a session, of which one is as only an SDK writes it.
fn is_session(list: Value<'_, '_>) -> bool {
    let items = || list.elements().take(super::LOOKED_AT);
    let is_own = |item: Value<'_, '_>| {
        let kind = item.get_str("type").unwrap_or_default();
        let has_own = || item.get_any(&OWN).is_some() || item.is("id", NO_ID);
        OWN_KINDS.iter().any(|own| kind.starts_with(own)) && has_own()
    };
    items().all(|item| item.get_any(&["type", "role"]).is_some()) && items().any(is_own)
}

const OWN: [&str; 3] = ["callId", "providerData", "provider_data"];
/// The id of each item of a model of another vendor, which is not sent (`agents/models/fake_id.py`).
const NO_ID: &str = "__fake_id__";
const OWN_KINDS: [&str; 7] =
    words("message reasoning function_call hosted_tool_call computer_call shell_call apply_patch_call");

fn items<'d, 's>(state: Value<'d, 's>) -> Option<Value<'d, 's>> {
    Some(state)
        .filter(|state| state.is_array())
        .or_else(|| state.get_any(&["generatedItems", "generated_items"]))
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    let mut reading = Reading::default();
    for &state in records.iter().filter(|record| items(**record).is_some_and(Value::is_array)) {
        reading.conversations.push(conversation(state));
        let responses = state.get_any(&["modelResponses", "model_responses"]);
        reading.left_out.add(
            "responses, whose items are in the history",
            responses.map_or(0, |responses| responses.elements().count()),
        );
        let nested = state.get_any(&["pendingAgentToolRuns", "pending_agent_tool_runs"]);
        reading.left_out.add("states of nested runs", nested.map_or(0, |nested| nested.members().count()));
    }
    reading
}

fn conversation<'s>(state: Value<'_, 's>) -> Conversation<'s> {
    let mut transcript = Transcript::of_conversation(READER.key(), state);
    let mut waiting = interruptions(state);
    if let Some(input) = state.get_any(&["originalInput", "original_input"]) {
        if input.is_string() {
            transcript.next_message(Role::User, input).part(input, Body::text(Some(input)));
        }
        for (index, item) in input.elements().enumerate() {
            read_item(&mut transcript, item, index);
        }
    }
    let mut called: HashSet<&[u8]> = HashSet::default();
    let mut programs = Programs::default();
    let are_responses = state.is_array() && is_responses(state);
    let lists = items(state).into_iter().flat_map(|items| items.elements());
    let all = lists.flat_map(|item| match item.get("output").filter(|_| are_responses) {
        Some(output) => output.elements().collect(),
        None => vec![item],
    });
    for (index, item) in all.enumerate() {
        let raw = item.get_any(&RAW).unwrap_or(item);
        let call_id = raw.get_any(&["callId", "call_id"]);
        if item.is("type", "tool_approval_item") {
            waiting.extend(call_id.and_then(|id| id.as_str()).map(|id| id.into_owned()));
            // The call itself stands before it.
            if call_id.is_some_and(|id| called.contains(id.raw())) {
                continue;
            }
        }
        called.extend(call_id.map(Value::raw));
        programs.look_at(raw, call_id);
        read_item(&mut transcript, raw, index);
    }
    let settled = [(waiting, UnpairedReason::Consent), (programs.answered(), UnpairedReason::Elsewhere)];
    for (ids, unpaired) in settled {
        transcript.calls_with_ids(&ids).for_each(|call| call.unpaired = Some(unpaired));
    }
    let kind = step(state).and_then(|step| step.get_str("type"));
    let is_over = kind.as_deref() == Some("next_step_final_output");
    if are_responses {
        transcript.settle_calls_from(0, UnpairedReason::Elsewhere);
    }
    // A run that is not over may still have to answer a call of its last response. Python writes no last step of one that is.
    if is_over || state.is_array() || last_calls_nothing(state) {
        // In a list of items nothing else shows where an answer begins.
        transcript.divide(|_, part| matches!(part.body, Body::Text(_)));
    }
    let is_kept_by_server =
        ["conversationId", "conversation_id", "previousResponseId", "previous_response_id"]
            .iter()
            .any(|key| state.get(key).is_some_and(|id| !id.is_null()));
    // A state may hold only what came since the run went on.
    if is_kept_by_server || !state.is_array() && transcript.counts().0 == 0 {
        transcript.settle_results(UnpairedReason::Elsewhere);
    }
    if state.is_array() && is_new_items(state) {
        // A run that goes on answers calls of the one before.
        transcript.settle_results_before_calls(UnpairedReason::Elsewhere);
    }
    // The SDK for JavaScript sends the input of the run as it is.
    let is_call = |item: Value<'_, '_>| item.is("type", "function_call");
    transcript.details.may_be_input = state.is_array() || state.list("originalInput").any(is_call);
    let end = if is_over { ConversationEnd::Complete } else { ConversationEnd::Open };
    Conversation::new("run", transcript, end)
}

/// Whether the last response has only said something.
fn last_calls_nothing(state: Value<'_, '_>) -> bool {
    let responses = state.get_any(&["modelResponses", "model_responses"]);
    let last = responses.and_then(|responses| responses.elements().last());
    let mut items = last.into_iter().flat_map(|last| last.list("output")).peekable();
    items.peek().is_some()
        && items.all(|item| matches!(item.get_str("type").as_deref(), Some("message" | "reasoning")))
}

fn step<'d, 's>(state: Value<'d, 's>) -> Option<Value<'d, 's>> {
    state.get_any(&["currentStep", "current_step"])
}

/// The ids of the calls that wait for a person.
fn interruptions(state: Value<'_, '_>) -> HashSet<String> {
    let list = step(state).and_then(|step| step.get("data")).and_then(|data| data.get("interruptions"));
    let items = list.into_iter().flat_map(|list| list.elements());
    let ids = items.filter_map(|item| {
        let raw = item.get_any(&RAW).unwrap_or(item);
        Some(raw.get_any(&["callId", "call_id"])?.as_str()?.into_owned())
    });
    ids.collect()
}

/// The calls that programs of the provider make. A program that has ended had its answers.
#[derive(Default)]
struct Programs<'d, 's> {
    /// The id of each call, and that of its program.
    calls: Vec<(Value<'d, 's>, &'s [u8])>,
    end: HashSet<&'s [u8]>,
}

impl<'d, 's> Programs<'d, 's> {
    fn look_at(&mut self, item: Value<'d, 's>, call_id: Option<Value<'d, 's>>) {
        let Some(call_id) = call_id else { return };
        if item.is("type", "program_output") {
            self.end.insert(call_id.raw());
        }
        let caller = item.get("caller").and_then(|caller| caller.get_any(&["callerId", "caller_id"]));
        self.calls.extend(caller.map(|caller| (call_id, caller.raw())));
    }

    fn answered(&self) -> HashSet<String> {
        let end = self.calls.iter().filter(|(_, program)| self.end.contains(program));
        end.filter_map(|(id, _)| Some(id.as_str()?.into_owned())).collect()
    }
}

fn read_item<'s>(transcript: &mut Transcript<'s>, item: Value<'_, 's>, index: usize) {
    let kind = item.get_str("type").unwrap_or_default();
    let call_id = || id(item.get("callId"));
    let (role, body) = match &*kind {
        // The SDK for JavaScript has these in its own words. All others are those of the API.
        "function_call" | "computer_call" | "shell_call" | "apply_patch_call" | "custom_tool_call"
            if call_id().is_some() =>
        {
            let input = item.get_any(&["arguments", "input", "action", "operation"]);
            let mut call = call(call_id(), item.get_any(&["name", "type"]), input);
            call.kind = kind_of(&kind);
            (Role::Assistant, Body::Call(call))
        }
        "hosted_tool_call" => {
            let mut call = call(id(item.get("id")), item.get("name"), item.get("arguments"));
            (call.executor, call.kind) = (Executor::Server, ToolKind::BuiltIn);
            (Role::Assistant, Body::Call(call))
        }
        "function_call_result"
        | "computer_call_result"
        | "shell_call_output"
        | "apply_patch_call_output"
        | "custom_tool_call_output"
            if call_id().is_some() =>
        {
            let mut result = result(call_id(), item.get("output"), None);
            result.kind = Some(kind_of(&kind));
            result.name = item.get("name").and_then(Named::of);
            (Role::Tool, Body::Result(result))
        }
        "reasoning" if item.has("rawContent") => (Role::Assistant, reasoning(None)),
        _ => {
            openai_responses::read_item(transcript, item, index);
            return;
        }
    };
    if role == Role::Tool {
        transcript.next_message(role, item).part(item, body);
    } else {
        transcript.turn(role, item).part(item, body);
    }
}

fn kind_of(kind: &str) -> ToolKind {
    match kind.split("_call").next() {
        Some("computer") => ToolKind::Computer,
        Some("shell") => ToolKind::Shell,
        Some("apply_patch") => ToolKind::Patch,
        Some("custom_tool") => ToolKind::Custom,
        _ => ToolKind::Function,
    }
}
