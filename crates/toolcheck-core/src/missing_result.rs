//! What stands in the place of a missing result.

/// What a result says that stands for one which is missing. It names no cause, because none is known.
pub const PLACEHOLDER: &str =
    "No result of this tool call is in the conversation. It may or may not have been carried out.";

/// What others write in the place of a missing result, as far as it is known word for word.
const OF_OTHERS: &str = include_str!("missing_result.txt");

/// Whether a text only says that there is no result.
pub fn is_said_by(text: &str) -> bool {
    text == PLACEHOLDER || OF_OTHERS.lines().any(|other| other == text)
}
