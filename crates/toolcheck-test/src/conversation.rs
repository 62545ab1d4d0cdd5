//! Reads a conversation in a test.

use serde_json::Value as Json;

use crate::Conversation;
use crate::check::known_format;

/// The conversation in a request body of a format, to compare bodies: before and after an adapter, or in two formats.
///
/// ```
/// use serde_json::json;
/// use toolcheck_test::conversation;
///
/// let chat = json!({"messages": [{"role": "user", "content": "hello"}]});
/// let gemini = json!({"contents": [{"role": "user", "parts": [{"text": "hello"}]}]});
/// assert_eq!(conversation(&chat, "openai-chat"), conversation(&gemini, "gemini"));
/// ```
///
/// Calls have the ids `call_0`, `call_1` and so on, because some formats have no ids. [`Conversation::without`] removes
/// features that one of the formats cannot represent. Tool definitions and media are not part of a conversation.
///
/// # Panics
///
/// If there is no such format, or the body is not a request of that format.
#[track_caller]
pub fn conversation(body: &Json, format: &str) -> Conversation {
    let format = known_format(format);
    let Some(conversation) = Conversation::read(body, format) else {
        panic!("the body has no list of messages of {}", format.id)
    };
    conversation.numbered()
}
