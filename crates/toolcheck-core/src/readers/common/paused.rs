//! Runs of Agno's that wait for a person (`RunOutput` in `libs/agno/agno/run/agent.py`).

use foldhash::HashSet;
use toolcheck_json::Value;

use crate::ir::{Transcript, UnpairedReason};

/// Says of the calls of such a run which of them wait.
pub(crate) fn settle(row: Option<Value<'_, '_>>, transcript: &mut Transcript<'_>) {
    let run = row.filter(|row| row.is("status", "PAUSED"));
    let waits = |tool: &Value<'_, '_>| {
        let is = |key: &str| tool.is_true(key);
        ["requires_confirmation", "requires_user_input", "external_execution_required"].into_iter().any(is)
            && tool.get("result").is_none_or(Value::is_null)
    };
    let waiting = run.into_iter().flat_map(|run| run.list("tools")).filter(waits);
    let waiting: HashSet<_> =
        waiting.filter_map(|tool| tool.get_str("tool_call_id")).map(|id| id.into_owned()).collect();
    for call in transcript.calls_with_ids(&waiting) {
        call.unpaired.get_or_insert(UnpairedReason::Consent);
    }
}
