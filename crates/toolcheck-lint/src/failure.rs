//! Which results tell of a failure.

use std::borrow::Cow;

use toolcheck_core::ir::ToolResult;
use toolcheck_json::Value;

use crate::rule::Context;

/// How the texts of failed tools begin where the format has no word for failure. Short and conservative: the output of
/// a tool that worked may speak of errors too, but rarely begins so.
const BEGINNINGS: [&str; 8] = [
    "Error:",
    "ERROR:",
    "error:",
    "Traceback (most recent call last)",
    "<error>",
    "[ERROR]",
    "The tool execution failed",
    "Tool execution failed",
];

/// Whether the result tells of a failure: by the format's own word where it has been said, else by how its text begins.
pub(crate) fn is_failed(cx: &Context<'_, '_>, result: &ToolResult<'_>) -> bool {
    match result.is_error {
        Some(true) => true,
        // The tool's side has said that it worked.
        Some(false) if cx.transcript.batches_results => false,
        _ => text(cx, result).is_some_and(|text| {
            let text = text.trim_start();
            BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
        }),
    }
}

/// The result's text, or that of its first block.
fn text<'c>(cx: &Context<'c, '_>, result: &ToolResult<'_>) -> Option<Cow<'c, str>> {
    let content = cx.document.value(result.content_place?.node);
    content.as_str().or_else(|| content.elements().next()?.get("text").and_then(Value::as_str))
}
