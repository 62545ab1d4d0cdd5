//! The choice of a tool.

use toolcheck_json::Value;

use crate::ir::{Named, ToolChoiceMode};

/// Reads the choice among some tools.
pub(super) fn among<'s>(choice: Value<'_, 's>) -> Option<ToolChoiceMode<'s>> {
    let is_among = choice.is("type", "allowed_tools");
    let allowed = choice.get("allowed_tools").filter(|_| is_among)?;
    let names = allowed.list("tools").filter_map(|tool| {
        let name = tool.get_any(&["function", "custom"])?.get("name").and_then(Named::of)?;
        Some((name, false))
    });
    Some(ToolChoiceMode::Among(names.collect()))
}

/// Reads a `tool_choice`; the Responses API uses the same words.
pub(in crate::formats) fn wanted<'s>(choice: Value<'_, 's>) -> ToolChoiceMode<'s> {
    match choice.as_str().as_deref() {
        Some("auto") => ToolChoiceMode::Free,
        Some("none" | "NONE") => ToolChoiceMode::Nothing,
        Some("required" | "any" | "REQUIRED") => ToolChoiceMode::Any,
        Some(_) => ToolChoiceMode::Invalid,
        // A tool by its name, or one of the forms of newer APIs.
        None => {
            let named = choice.get_any(&["function", "custom"]).unwrap_or(choice).get("name");
            named.and_then(Named::of).map_or(ToolChoiceMode::Other, ToolChoiceMode::Tool)
        }
    }
}
