//! Whether a result reports a failure.

use toolcheck_core::ir::ToolResult;
use toolcheck_core::{formats, missing_result, parsers};
use toolcheck_json::JsonStr;

use crate::rule::Context;

/// How the texts of failed tools begin, for formats that can't mark a failure. The list is short and conservative: the
/// output of a successful tool may mention errors too, but rarely begins like this.
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

/// Words of which a text that tells of a problem has one. Most texts of other results have some of them too, so they
/// only excuse: a text without any of them is not a failure.
const TROUBLE: &str = "error,fail,invalid,json,argument,parse,parsing,validation,unterminated,truncat,incomplete,\
    cut off,malformed,not run,not executed,skipped,retry,again,interrupt,cancel,abort,reject,limit,\
    down";
/// How much of a result is searched for them.
const BYTES_OF_TROUBLE: usize = 4_000;

/// Whether the text of a result may tell of a problem.
pub(crate) fn tells_trouble(text: &[u8]) -> bool {
    let text = text[..text.len().min(BYTES_OF_TROUBLE)].to_ascii_lowercase();
    TROUBLE.split(',').any(|word| memchr::memmem::find(&text, word.as_bytes()).is_some())
}

/// Whether the text of a result is what a parser says of arguments that it can't read.
pub(crate) fn tells_of_parser(text: &[u8]) -> bool {
    parsers::is_error(&text[..text.len().min(BYTES_OF_TROUBLE)])
}

/// Whether the result reports a failure: as the format marks it, or else by the beginning of its text.
pub(crate) fn is_failed(cx: &Context<'_, '_>, result: &ToolResult<'_>) -> bool {
    match result.is_error {
        Some(true) => true,
        // The result is explicitly marked as a success.
        Some(false) if cx.transcript.batches_results => false,
        _ => text(cx, result).is_some_and(begins_like_an_error),
    }
}

/// Whether a result stands for one that is missing, so that nothing is known of the call.
pub(crate) fn stands_for_none(cx: &Context<'_, '_>, result: &ToolResult<'_>) -> bool {
    text(cx, result).is_some_and(|text| missing_result::is_said_by(&text.decode()))
}

/// The text of the result, or of its first block.
fn text<'s>(cx: &Context<'_, 's>, result: &ToolResult<'_>) -> Option<JsonStr<'s>> {
    let content = cx.document.value(result.content_place?.node);
    formats::text_of_result(content)
}

/// Whether a text begins like an error. It is not decoded: results are long, and no beginning contains an escape.
fn begins_like_an_error(text: JsonStr<'_>) -> bool {
    let mut raw = text.raw();
    while let [b' ', rest @ ..] | [b'\\', b'n' | b'r' | b't', rest @ ..] = raw {
        raw = rest;
    }
    // Almost every text differs in its first byte.
    let begins = |beginning: &[u8]| raw.first() == beginning.first() && raw.starts_with(beginning);
    BEGINNINGS.iter().any(|beginning| begins(beginning.as_bytes()))
}
