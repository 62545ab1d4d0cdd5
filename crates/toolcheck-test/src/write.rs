//! Writes conversations in each wire format, as its provider expects them.

use serde_json::Value as Json;
use toolcheck_core::formats;

use crate::Conversation;

/// The conversation as a request body of the format; `None` if there is no such format.
///
/// The model is missing, because only the caller knows it. Without a model, the format of a request with only text may not
/// be recognised: to check it, name the format or the target. Anything that the format cannot represent is left out;
/// [`toolcheck_core::Format::write_request`] lists it.
pub fn write(conversation: &Conversation, format: &str) -> Option<Json> {
    Some(formats::named(format)?.write_request(conversation).body)
}

/// The requests that led to the conversation, each with the model's response, in order of time; `None` if there is no
/// such format.
///
/// `kept` returns what the application stores of a conversation: the history of each request is `kept` of the turns
/// before it, and each response is what the model wrote.
pub fn exchanges(
    conversation: &Conversation,
    format: &str,
    kept: impl Fn(&Conversation) -> Conversation,
) -> Option<Vec<Json>> {
    Some(formats::named(format)?.write_exchanges(conversation, kept))
}
