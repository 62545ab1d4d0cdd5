//! The transcript of a conversation with an agent of ElevenLabs
//! (<https://elevenlabs.io/docs/api-reference/conversations/get>): calls and results stand beside what is said.

use foldhash::{HashMap, HashSet};
use toolcheck_json::Value;

use super::{Framework, call, named_result};
use crate::ir::{Body, Role, Transcript, UnpairedReason};

pub(super) static FRAMEWORK: Framework = Framework { is_own, add };

const CALLS: &str = "tool_calls";
const RESULTS: &str = "tool_results";

fn is_own(turn: Value<'_, '_>) -> bool {
    let is_of_tool = |key| turn.list(key).take(1).any(|tool| tool.has("request_id"));
    turn.has("role")
        && turn.get("content").is_none()
        && turn.get("message").is_some_and(|said| !said.is_object())
        && (turn.has("time_in_call_secs") || is_of_tool(CALLS) || is_of_tool(RESULTS))
}

/// The turns with each result behind its call, and one of no call behind what it may be meant for: people talk on while a tool
/// runs.
pub(super) fn in_order<'d, 's>(turns: &[Value<'d, 's>]) -> Vec<Value<'d, 's>> {
    let ids = |turn: Value<'d, 's>, key| turn.list(key).filter_map(|tool| tool.get_str("request_id"));
    let answered: HashSet<_> = turns.iter().flat_map(|turn| ids(*turn, RESULTS)).collect();
    let mut called: HashMap<_, _> = HashMap::default();
    let mut open = None;
    let mut placed = Vec::with_capacity(turns.len());
    for (number, &turn) in turns.iter().enumerate() {
        let is_open = ids(turn, CALLS).any(|id| !answered.contains(&id));
        open = if is_open { Some(number) } else { open };
        called.extend(ids(turn, CALLS).map(|id| (id, number)));
        let says_nothing =
            turn.get("message").is_none_or(Value::is_null) && turn.list(CALLS).next().is_none();
        let has_results = says_nothing && ids(turn, RESULTS).next().is_some();
        let call = ids(turn, RESULTS).find_map(|id| called.get(&id).copied()).or(open);
        placed.push((call.filter(|_| has_results).map_or((number, 0), |call| (call, number)), turn));
    }
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, turn)| turn).collect()
}

fn add<'s>(transcript: &mut Transcript<'s>, turn: Value<'_, 's>, _: Role) {
    transcript.content(turn.get("message"), |_| None);
    // The platform acts on its own tools, and keeps the results of workflows inside those of others.
    let is_hosted = |tool: Value<'_, '_>| {
        tool.get_str("type").is_some_and(|kind| matches!(&*kind, "system" | "workflow"))
    };
    for own in turn.list(CALLS) {
        let mut call = call(own.get("request_id"), own.get("tool_name"), own.get("params_as_json"));
        call.unpaired = is_hosted(own).then_some(UnpairedReason::Elsewhere);
        transcript.part(own, Body::Call(call));
    }
    for (number, own) in turn.list(RESULTS).enumerate() {
        // They stand in a turn of the agent, which may say nothing.
        match transcript.messages.last_mut().filter(|last| last.parts.is_empty()) {
            Some(last) => last.role = Role::Tool,
            None if number == 0 => drop(transcript.next_message(Role::Tool, turn)),
            None => {}
        }
        let get = |key| own.get(key);
        let mut body =
            named_result([get("request_id"), get("tool_name"), get("result_value")], get("is_error"));
        if let Body::Result(result) = &mut body {
            result.unpaired = is_hosted(own).then_some(UnpairedReason::Elsewhere);
        }
        transcript.part(own, body);
    }
}
