//! What callbacks of LangChain write into traces: messages in the form of an API, but with calls and tools in a form of their
//! own.

use toolcheck_json::{Document, Value};

use crate::ir::{Arguments, Body, Named, Place, ToolDef, Transcript, UnreadKind};

/// Reads the calls and tools of messages that were read as those of an API.
pub(crate) fn settle<'s>(transcript: &mut Transcript<'s>, document: &Document<'s>) {
    for part in &mut transcript.parts {
        let value = document.value(part.place.node);
        match &mut part.body {
            Body::Call(call) if matches!(call.arguments, Arguments::Missing) && is_call(value) => {
                call.arguments = Arguments::of(value.get("args"));
            }
            // Langfuse's callback writes each tool as a message, behind those that were sent.
            Body::Result(_) => {
                let Some(function) = definition(value) else { continue };
                part.body = Body::Opaque;
                transcript.counts.1 -= 1;
                let tools = &mut transcript.request.tools;
                tools.place.get_or_insert(Place::of(value));
                let schema = function.get("parameters").map(Place::of);
                let name = function.get("name").and_then(Named::of);
                let tool = ToolDef { name, schema, ..ToolDef::new(Place::of(function)) };
                tools.list.get_or_insert_default().push(tool);
            }
            _ => {}
        }
    }
    // Each call of a list that was not understood names the list.
    let mut last = None;
    transcript.unread.retain(|unread| {
        let (node, value) = (unread.place.node, document.value(unread.place.node));
        let is_read = match unread.what {
            UnreadKind::Calls => {
                if last.is_none_or(|(known, _)| known != node) {
                    last = Some((node, value.is_array() && value.elements().all(is_call)));
                }
                last.is_some_and(|(_, is_read)| is_read)
            }
            UnreadKind::Tools => definition(value).is_some(),
            _ => false,
        };
        !is_read
    });
}

/// Whether a call has its name and its arguments side by side: `{"name": …, "args": {…}, "id": …}`.
fn is_call(value: Value<'_, '_>) -> bool {
    value.has("name") && value.get("function").is_none() && value.has_object("args")
}

/// Whether a message has such calls.
pub(crate) fn has_calls(message: Value<'_, '_>) -> bool {
    message.list("tool_calls").next().is_some_and(is_call)
}

/// The function of a tool that a message has as its content.
fn definition<'d, 's>(message: Value<'d, 's>) -> Option<Value<'d, 's>> {
    let function = message.get("content")?.get("function")?;
    (function.has("name") && function.get("arguments").is_none()).then_some(function)
}
