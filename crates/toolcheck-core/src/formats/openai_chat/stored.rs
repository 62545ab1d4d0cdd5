//! Results as frameworks and benchmarks keep them in messages of this form. No API has such messages.

use toolcheck_json::Value;

use crate::ir::Named;

/// The results of several calls that a framework keeps in one message, with the key of what each returned: Agno's
/// (`format_function_call_results` in `libs/agno/agno/models/google/gemini.py`), Letta's (`tool_returns` in
/// `letta/schemas/message.py`) and AG2's (`tool_responses` in `autogen/agentchat/conversable_agent.py`), whose content
/// repeats them, those of Datadog's spans (`Message` in `ddtrace/llmobs/types.py`), and tau2-bench's (`MultiToolMessage` in
/// `src/tau2/data_model/message.py`).
pub(super) fn results_in_one<'d, 's>(message: Value<'d, 's>) -> Option<(Value<'d, 's>, &'static str)> {
    let all = |key: &str, is_own: fn(Value<'_, '_>) -> bool| {
        let list = message.get(key).filter(|list| list.is_array() && list.elements().next().is_some())?;
        list.elements().all(|entry| entry.is_object() && is_own(entry)).then_some(list)
    };
    let is_of_agno =
        |entry: Value<'_, '_>| entry.has("tool_name") && entry.get_any(&["function", "type"]).is_none();
    let is_of_letta = |entry: Value<'_, '_>| {
        entry.get_str("tool_call_id").is_some() && entry.get_any(&["func_response", "status"]).is_some()
    };
    let is_of_ag2 = |entry: Value<'_, '_>| entry.has_all(&["role", "content"]);
    let is_of_datadog = |entry: Value<'_, '_>| entry.has_all(&["tool_id", "result"]);
    let of_datadog = || all("tool_results", is_of_datadog).map(|list| (list, "result"));
    let of_agno = all("tool_calls", is_of_agno).map(|list| (list, "content"));
    let of_letta = || all("tool_returns", is_of_letta).map(|list| (list, "func_response"));
    of_agno
        .or_else(of_letta)
        .or_else(of_datadog)
        .or_else(|| all("tool_responses", is_of_ag2).map(|list| (list, "content")))
        .or_else(|| all("tool_messages", |entry| id_of_result(entry).is_some()).map(|list| (list, "content")))
}

/// The id of the call that a result belongs to, where it is under another key: SWE-agent's (`_history_to_messages` in
/// `sweagent/agent/models.py` takes the first), and that of tau2-bench (`ToolMessage` in `src/tau2/data_model/message.py`),
/// whose results say which side asked for them.
pub(super) fn id_of_result<'s>(message: Value<'_, 's>) -> Option<Named<'s>> {
    let of_swe_agent = message.get("tool_call_ids").and_then(|ids| ids.elements().next());
    let of_tau2 = || message.get("id").filter(|_| message.has("requestor"));
    of_swe_agent.or_else(of_tau2).and_then(Named::of)
}

/// The id of a call that has its name and arguments beside it, in Datadog's spans (`ToolCall` in `ddtrace/llmobs/types.py`).
pub(super) fn id_of_call<'s>(call: Value<'_, 's>) -> Option<Named<'s>> {
    call.get("tool_id").filter(|_| call.has("arguments")).and_then(Named::of)
}
