//! smolagents: the memory of an agent, as `agent.memory.get_full_steps()` and the result of a run have it.
//!
//! What was observed belongs to a step, whose calls have ids (`src/smolagents/memory.py` of huggingface/smolagents).

use toolcheck_json::Value;

use super::parts::{call, result};
use super::{Conversation, ConversationEnd, LOOKED_AT, Reader, Reading, own_shape};
use crate::ir::{Body, Role, ToolKind, Transcript, UnpairedReason};

pub(super) static READER: Reader = Reader::log("smolagents", "smolagents memory", sniff, read).by_record();

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    own_shape(records, |record| steps(record).take(LOOKED_AT).any(is_step))
}

fn steps<'d, 's>(record: Value<'d, 's>) -> impl Iterator<Item = Value<'d, 's>> {
    record.get("steps").unwrap_or(record).elements()
}

/// Whether a value is a step in which the agent acted.
fn is_step(step: Value<'_, '_>) -> bool {
    step.has("step_number") && step.get_any(&["model_output_message", "action_output"]).is_some()
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    let mut reading = Reading::default();
    for &record in records {
        let mut transcript = Transcript::of_conversation(READER.key(), record);
        for step in steps(record) {
            if is_step(step) {
                act(&mut transcript, step);
            } else if let Some(said) = step.get_any(&["system_prompt", "task", "plan"]) {
                let role = match () {
                    () if said.has_key("system_prompt") => Role::System,
                    () if said.has_key("task") => Role::User,
                    () => Role::Assistant,
                };
                transcript.next_message(role, step).content(Some(said), |_| None);
            } else {
                reading.leave_out_unknown("steps of an unknown kind", step);
            }
        }
        if !transcript.messages.is_empty() {
            reading.conversations.push(Conversation::new("main", transcript, ConversationEnd::Open));
        }
    }
    reading
}

/// Adds a step: what the model said and called, and what came of it.
fn act<'s>(transcript: &mut Transcript<'s>, step: Value<'_, 's>) {
    transcript.next_message(Role::Assistant, step);
    transcript.details.answers.push(transcript.parts.len());
    let is_text = |value: &Value<'_, '_>| value.is_string();
    transcript.content(step.get("model_output").filter(is_text), |_| None);
    let calls: Vec<_> = step.list("tool_calls").collect();
    for one in &calls {
        let function = one.get("function").unwrap_or(*one);
        let arguments = function.get("arguments");
        let mut call = call(one.get("id"), function.get("name"), arguments);
        // The code of a `CodeAgent`, or a text that a tool takes.
        if arguments.as_ref().is_some_and(is_text) {
            call.kind = ToolKind::Custom;
        }
        transcript.part(*one, Body::Call(call));
    }
    let is_said = |value: &Value<'_, '_>| !value.says_nothing();
    let came_of_it = ["observations", "error", "action_output"];
    let mut came_of_it = came_of_it.iter().filter_map(|key| step.get(key)).filter(is_said);
    let Some(said) = came_of_it.next() else { return };
    let error = step.get("error").filter(is_said);
    match &calls[..] {
        [only] => {
            let result = result(only.get("id"), Some(said), error.map(|_| true));
            transcript.turn(Role::Tool, said).part(said, Body::Result(result));
        }
        // One text has what all of them returned.
        _ => {
            transcript.settle_calls_of_last(UnpairedReason::Elsewhere);
            transcript.turn(Role::User, said).part(said, Body::Opaque);
        }
    }
}
