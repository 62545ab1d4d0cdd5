//! Which results tell of a failure.

use toolcheck_core::formats;
use toolcheck_core::ir::ToolResult;
use toolcheck_json::JsonStr;

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
        _ => text(cx, result).is_some_and(begins_like_an_error),
    }
}

/// The result's text, or that of its first block.
fn text<'s>(cx: &Context<'_, 's>, result: &ToolResult<'_>) -> Option<JsonStr<'s>> {
    let content = cx.document.value(result.content_place?.node);
    formats::text_of_result(content)
}

/// Looks at the text as it stands in the file: results are long, and none of the beginnings needs an escape.
fn begins_like_an_error(text: JsonStr<'_>) -> bool {
    let mut raw = text.raw();
    while let [b' ', rest @ ..] | [b'\\', b'n' | b'r' | b't', rest @ ..] = raw {
        raw = rest;
    }
    // Almost every text differs in its first byte.
    let begins = |beginning: &[u8]| raw.first() == beginning.first() && raw.starts_with(beginning);
    BEGINNINGS.iter().any(|beginning| begins(beginning.as_bytes()))
}
