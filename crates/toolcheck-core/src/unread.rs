//! Calls, results and tools written in a way that the chosen format does not read.
//!
//! Anything that is not read is not checked, and must not look clean. The formats use this module to report what they
//! skip: a key of a message, a block, a list of tools. The keys and types come from all formats and from common
//! frameworks.

use std::borrow::Cow;

use toolcheck_json::Value;

use crate::ir::{Place, Unread, What};

/// Classifies a key of a message, or of a block without a type.
fn of_key(key: &str) -> Option<What> {
    // Most keys hold neither calls nor results; their length or first letter is enough to rule them out.
    if key.len() < 7 || !matches!(key.as_bytes()[0], b't' | b'f' | b'i') {
        return None;
    }
    Some(match key {
        "tool_calls" | "toolCalls" | "tool_call" | "toolCall" | "function_calls" | "functionCalls"
        | "function_call" | "functionCall" | "tool_use" | "toolUse" | "tool_uses" | "toolUses"
        | "tool_requests" | "toolRequests" | "toolInvocations" | "tool_invocations" => What::Calls,
        "tool_results"
        | "toolResults"
        | "tool_result"
        | "toolResult"
        | "functionResponse"
        | "function_response"
        | "functionResponses"
        | "function_responses"
        | "tool_outputs"
        | "toolOutputs"
        | "tool_responses"
        | "tool_response"
        | "toolResponse"
        | "function_call_output" => What::Results,
        _ => return None,
    })
}

/// Classifies the type of a block, with a flag for whether the type is known.
fn of_type(kind: &str) -> Option<(What, bool)> {
    Some(match kind {
        "tool_use" | "tool_call" | "tool-call" | "toolCall" | "toolUse" | "function_call"
        | "functionCall" | "custom_tool_call" | "server_tool_use" | "mcp_tool_use" => (What::Calls, true),
        "tool_result"
        | "tool-result"
        | "toolResult"
        | "tool_response"
        | "tool_call_response"
        | "function_call_output"
        | "functionResponse"
        | "function_response"
        | "custom_tool_call_output"
        | "function_result" => (What::Results, true),
        other if other.ends_with("_call_output") || other.ends_with("_tool_result") => (What::Results, false),
        other if other.ends_with("_tool_use") || other.ends_with("_call") => (What::Calls, false),
        _ => return None,
    })
}

/// Classifies a key of a request body that no format reads there.
fn of_body_key(key: &str) -> Option<What> {
    matches!(
        key,
        "tools_json"
            | "available_tools"
            | "availableTools"
            | "tool_definitions"
            | "toolDefinitions"
            | "tool_schemas"
            | "functions_json"
            | "function_declarations"
            | "functionDeclarations"
            | "tool_list"
            | "toolSpecs"
            | "tool_specs"
    )
    .then_some(What::Tools)
}

/// Whether a value is a non-empty string, array or object.
fn is_filled(value: Value<'_, '_>) -> bool {
    if let Some(text) = value.as_json_str() {
        return !text.is_empty();
    }
    value.children().next().is_some()
}

/// Calls or results under a key of a message that its format does not read.
pub(crate) fn member<'s>(value: Value<'_, 's>) -> Option<Unread<'s>> {
    let key = value.key_text()?;
    if key == "parts" {
        return value.elements().find_map(block);
    }
    let what = of_key(&key).filter(|_| is_filled(value))?;
    Some(Unread { place: Place::of(value), what, name: key, is_known: true })
}

/// A block or item with calls or results that its format does not know.
pub(crate) fn block<'s>(value: Value<'_, 's>) -> Option<Unread<'s>> {
    let place = Place::of(value);
    if let Some(kind) = value.get_str("type") {
        let (what, is_known) = of_type(&kind)?;
        // An unknown type counts only if other keys fit: providers have similar types for built-in searches.
        let is_like =
            || value.get_any(&["arguments", "args", "input", "call_id", "tool_use_id", "content"]).is_some();
        if !is_known && !is_like() {
            return None;
        }
        return Some(Unread { place, what, name: kind, is_known });
    }
    let found = value.members().find_map(member)?;
    Some(Unread { place, ..found })
}

/// The members of a request that hold tools under a key that no format reads.
pub(crate) fn body<'d, 's>(root: Value<'d, 's>) -> impl Iterator<Item = Unread<'s>> + use<'d, 's> {
    root.members().filter_map(|value| {
        let key = value.key_text()?;
        let what = of_body_key(&key).filter(|_| is_filled(value))?;
        Some(Unread { place: Place::of(value), what, name: key, is_known: true })
    })
}

/// The tools of a request, if its format does not read them.
pub(crate) fn tools<'s>(value: Value<'_, 's>) -> Unread<'s> {
    let name = value.key_text().unwrap_or(Cow::Borrowed("tools"));
    Unread { place: Place::of(value), what: What::Tools, name, is_known: true }
}
