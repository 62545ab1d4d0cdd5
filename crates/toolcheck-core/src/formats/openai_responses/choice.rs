//! What a request says of the tools that the model may call.

use std::borrow::Cow;

use toolcheck_json::Value;

use super::super::openai_chat;
use crate::ir::{Named, ToolChoiceMode};

/// Reads the choice among some tools: functions by their names, and others by their types.
pub(super) fn wanted<'s>(choice: Value<'_, 's>, declared: Option<Value<'_, '_>>) -> ToolChoiceMode<'s> {
    if !choice.is("type", "allowed_tools") {
        return openai_chat::choice::wanted(choice);
    }
    // Others may have functions that the list does not show.
    let has_more = |kind: Cow<'_, str>| matches!(&*kind, "mcp" | "namespace" | "tool_search");
    let mut kinds =
        declared.into_iter().flat_map(|tools| tools.elements()).filter_map(|tool| tool.get_str("type"));
    if kinds.any(has_more) {
        return ToolChoiceMode::Other;
    }
    let tools = choice.list("tools");
    let names = tools.filter_map(|tool| {
        let kind = tool.get("type").and_then(Named::of)?;
        match &*kind.text {
            "function" | "custom" => Some((tool.get("name").and_then(Named::of)?, false)),
            // A server by its label.
            "mcp" => None,
            _ => Some((kind, true)),
        }
    });
    ToolChoiceMode::Among(names.collect())
}
