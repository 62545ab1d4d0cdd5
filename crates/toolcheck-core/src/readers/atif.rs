//! ATIF, the Agent Trajectory Interchange Format of Harbor: steps with their calls and what was observed.

use toolcheck_json::Value;

use super::parts::{call, id, is_media, reasoning, result};
use super::{Conversation, ConversationEnd, Reader, Reading, own_shape};
use crate::ir::{Body, Role, Transcript, UnpairedReason};

pub(super) static READER: Reader = Reader::log("atif", "ATIF trajectory", sniff, read).by_record();

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    own_shape(records, |record| {
        let version = record.get_str("schema_version");
        version.is_some_and(|version| version.starts_with("ATIF")) && record.has("steps")
    })
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    let mut reading = Reading::default();
    let mut copies = 0;
    let mut open: Vec<(Value<'_, 's>, String)> = Vec::new();
    for &record in records {
        open.push((record, "main".to_owned()));
        while let Some((trajectory, title)) = open.pop() {
            let mut transcript = Transcript::of_conversation(READER.key(), trajectory);
            for step in trajectory.list("steps") {
                if step.is_true("is_copied_context") {
                    copies += 1;
                } else {
                    read_step(&mut transcript, step);
                }
            }
            // The calls of the first results are in the trajectory before, if this one continues it.
            transcript.settle_results_of_first(UnpairedReason::Elsewhere);
            let start = open.len();
            for inner in trajectory.list("subagent_trajectories") {
                open.push((inner, subagent(inner)));
            }
            open[start..].reverse();
            reading.conversations.push(Conversation { title, transcript, end: ConversationEnd::Open });
        }
    }
    reading.left_out.add("steps copied from an earlier trajectory", copies);
    reading
}

fn subagent(trajectory: Value<'_, '_>) -> String {
    let name = trajectory.get("agent").and_then(|agent| agent.get_str("name"));
    let id = trajectory.get_str("trajectory_id").or_else(|| trajectory.get_str("session_id"));
    let name = name.or(id).unwrap_or("?".into());
    format!("agent {}", crate::text::shorten(&name))
}

fn read_step<'s>(transcript: &mut Transcript<'s>, step: Value<'_, 's>) {
    let role = match step.get_str("source").as_deref() {
        Some("agent") => Role::Assistant,
        Some("user") => Role::User,
        _ => Role::System,
    };
    transcript.next_message(role, step);
    if let Some(thought) = step.get("reasoning_content").filter(|thought| !thought.is_null()) {
        transcript.part(thought, reasoning(None));
    }
    // NeMo Relay has the messages of the request, or the answer, in place of a text: the steps say the same.
    let is_message = |value: Value<'_, '_>| value.has("role");
    let said = step.get("message").map(|message| {
        let last = message.elements().last().filter(|last| is_message(*last));
        let whole = last.unwrap_or(message);
        match whole.get_str("role").as_deref() {
            None => Some(whole),
            Some("tool") => None,
            Some(_) => whole.get("content"),
        }
    });
    transcript.content(said.flatten(), |block| {
        let kind = block.get_str("type").unwrap_or_default();
        Some(if is_media(&kind) { Body::Media } else { Body::Opaque })
    });
    let mut has_calls = false;
    for one in step.list("tool_calls") {
        has_calls = true;
        let call = call(id(one.get("tool_call_id")), one.get("function_name"), one.get("arguments"));
        transcript.part(one, Body::Call(call));
    }
    let results = step.get_in(&["observation", "results"]);
    let is_named = |result: &Value<'_, 's>| id(result.get("source_call_id")).is_some_and(|id| !id.is_null());
    let is_unnamed = results.into_iter().flat_map(|list| list.elements()).any(|result| !is_named(&result));
    if has_calls && is_unnamed {
        // What was observed belongs to the step, and nobody can tell to which of its calls.
        transcript.settle_calls_of_last(UnpairedReason::Elsewhere);
    }
    for one in results.into_iter().flat_map(|list| list.elements()) {
        if is_named(&one) {
            let content = one.get("content").or_else(|| one.get("subagent_trajectory_ref"));
            let result = result(one.get("source_call_id"), content, None);
            transcript.turn(Role::Tool, one).part(one, Body::Result(result));
        } else {
            transcript.turn(Role::User, one).content(one.get("content"), |_| Some(Body::Opaque));
        }
    }
}
