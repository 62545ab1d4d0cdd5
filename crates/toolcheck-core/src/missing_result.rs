//! What stands in the place of a missing result.

/// What a result says that stands for one which is missing. It names no cause, because none is known.
pub const PLACEHOLDER: &str =
    "No result of this tool call is in the conversation. It may or may not have been carried out.";

/// What others write in the place of a missing result, as far as it is known word for word.
const OF_OTHERS: [&str; 9] = [
    "Error: this tool call was not executed, or its result was lost from the conversation history. Do not assume it succeeded.",
    "Tool execution was interrupted before completion.",
    "[migration] Tool result missing in legacy conversation history.",
    "The tool execution result was lost due to context management truncation.",
    "aborted",
    "The tool call was interrupted before a result was produced.",
    "Tool was interrupted.",
    "[openclaw] missing tool result in session history; inserted synthetic error result for transcript repair.",
    "[Tool execution was interrupted]",
];

/// Whether a text only says that there is no result.
pub fn is_said_by(text: &str) -> bool {
    text == PLACEHOLDER || OF_OTHERS.contains(&text)
}
