//! What a line may be that is no request: a row of a table, or a line of a log.

use toolcheck_json::Value;

use crate::names::words;

/// Whether an object whose messages are a text is a row of a table, which may also say which model wrote it: it has columns
/// that are no settings of a request.
pub(super) fn is_row(root: Value<'_, '_>) -> bool {
    const KEYS: [&str; 18] = words(
        "model modelId messages contents input system tools functions max_tokens max_completion_tokens \
        max_output_tokens temperature top_p stream stop tool_choice toolConfig reasoning_effort",
    );
    root.members().any(|member| !KEYS.iter().any(|key| member.has_key(key)))
}

/// Whether the line that a bracket begins is one of a log: with a time or a level in the bracket, and a word behind it.
pub(super) fn is_bracketed(rest: &[u8]) -> bool {
    let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let Some(end) = line.iter().position(|byte| *byte == b']') else { return false };
    let (inside, behind) = (&line[..end], line[end + 1..].trim_ascii_start());
    let is_time = inside.len() >= SHORTEST_TIME
        && inside.first().is_some_and(u8::is_ascii_digit)
        && inside.iter().any(|byte| matches!(byte, b':' | b'-' | b'/'));
    let is_level = !inside.is_empty() && inside.iter().all(u8::is_ascii_alphabetic);
    is_time || is_level && behind.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'[')
}

/// The shortest time in front of a line of a log: `12:30:00`.
const SHORTEST_TIME: usize = 8;
