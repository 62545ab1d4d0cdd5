//! Conversations, written in each wire format as its provider wants it.

use serde_json::Value as Json;
use toolcheck_core::formats;

use crate::Conversation;

/// The conversation as a request body of the format; `None` if there is no such format.
///
/// It names no model, which the API requires and the caller knows. Without one, a request of text alone may not show which
/// format it is written in: name the format or the target to check it.
/// What the format cannot hold is left out; [`toolcheck_core::Format::write_request`] says what that is.
#[must_use]
pub fn write(conversation: &Conversation, format: &str) -> Option<Json> {
    Some(formats::named(format)?.write_request(conversation).body)
}

/// The requests in which the conversation came about, each with the model's answer, in order of time; `None` if there is
/// no such format.
///
/// `kept` is what the application keeps of a conversation: the history of each request is `kept` of what was said before,
/// and each response is what the model said.
#[must_use]
pub fn exchanges(
    conversation: &Conversation,
    format: &str,
    kept: impl Fn(&Conversation) -> Conversation,
) -> Option<Vec<Json>> {
    Some(formats::named(format)?.write_exchanges(conversation, kept))
}
