//! Conversations, read from any format.

use serde_json::{Map, Value as Json};
use toolcheck_json::{Document, Kind, Value};

use crate::conversation::{Call, Conversation, ToolOutput};
use crate::formats::{self, Format};
use crate::ir::{Arguments, Body, Executor, Named, Role, Transcript};

impl Conversation {
    /// Reads a request body of the format; `None` if it has no list of messages of this format.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolcheck_core::{Conversation, formats};
    ///
    /// let chat = json!({"messages": [{"role": "user", "content": "hello"}]});
    /// let gemini = json!({"contents": [{"role": "user", "parts": [{"text": "hello"}]}]});
    /// let read = |body, format| Conversation::read(body, formats::find(format)?);
    /// assert_eq!(read(&chat, "openai-chat"), read(&gemini, "gemini"));
    /// assert_eq!(read(&chat, "gemini"), None);
    /// ```
    pub fn read(body: &Json, format: &Format) -> Option<Self> {
        let text = body.to_string();
        let document = Document::read(text.as_bytes());
        let transcript = format.read(document.root())?;
        Some(Self::of(&transcript, &document))
    }

    /// The conversation in a transcript, which was read from `document`.
    ///
    /// Results in messages of their own or in the user's become the same, and so do arguments in a string or an object,
    /// and system texts in messages or beside them. A result gets the name of its call if the format does not repeat it.
    pub fn of(transcript: &Transcript<'_>, document: &Document<'_>) -> Self {
        let mut conversation = Self::default();
        let format = transcript.format.and_then(|format| formats::find(format.id));
        let instructions =
            transcript.request.instructions.map(|place| formats::text_of(document.value(place.node)));
        conversation.system.push_str(&instructions.unwrap_or_default());
        for (message, parts) in transcript.messages_with_parts() {
            for part in parts {
                match &part.body {
                    Body::Text(text) => match message.role {
                        Role::System => conversation.system.push_str(&text.string.decode()),
                        Role::Assistant => {
                            conversation.push_assistant(|said| said.text.push_str(&text.string.decode()))
                        }
                        Role::User if !text.string.is_empty() => {
                            conversation.push_user(&text.string.decode())
                        }
                        _ => {}
                    },
                    Body::Reasoning(reasoning)
                        if message.role == Role::Assistant && !reasoning.is_redacted =>
                    {
                        let value = document.value(part.place.node);
                        let reasoning = format.map(|format| (format.read_reasoning)(value));
                        conversation.push_assistant(|said| {
                            reasoning.into_iter().for_each(|reasoning| said.push_reasoning(reasoning));
                        });
                    }
                    Body::Call(call) if call.executor == Executor::Client => {
                        let arguments = arguments(&call.arguments, document);
                        let call = Call::new(name(call.id.as_ref()), name(call.name.as_ref()), arguments);
                        conversation.push_assistant(|said| said.calls.push(call));
                    }
                    Body::Call(call) => {
                        conversation.push_assistant(|said| said.server_tools.push(name(call.name.as_ref())));
                    }
                    Body::Result(result) if result.executor == Executor::Client => {
                        let content = result.content_place.map(|place| document.value(place.node));
                        conversation.push_output(ToolOutput {
                            call_id: name(result.call_id.as_ref()),
                            name: name(result.name.as_ref()),
                            text: content.map(formats::result_text).unwrap_or_default(),
                            failed: result.is_error == Some(true),
                        });
                    }
                    _ => {}
                }
            }
        }
        conversation.visit_outputs(|output, call| {
            if let Some(call) = call.filter(|_| output.name.is_empty()) {
                output.name.clone_from(&call.name);
            }
        });
        conversation
    }
}

fn name(name: Option<&Named<'_>>) -> String {
    name.map(|name| name.text.to_string()).unwrap_or_default()
}

fn arguments(arguments: &Arguments<'_>, document: &Document<'_>) -> Map<String, Json> {
    match arguments {
        Arguments::Text(text, _) => serde_json::from_str(&text.decode()).unwrap_or_default(),
        Arguments::Object(place) => object(document.value(place.node)),
        _ => Map::new(),
    }
}

/// A value of the document as `serde_json` has it.
fn json(value: Value<'_, '_>) -> Json {
    match value.kind() {
        Kind::Bool => Json::Bool(value.as_bool().unwrap_or_default()),
        Kind::Number => serde_json::from_slice(value.raw()).unwrap_or_default(),
        Kind::String => Json::String(value.as_str().unwrap_or_default().into_owned()),
        Kind::Array => value.elements().map(json).collect(),
        Kind::Object => Json::Object(object(value)),
        Kind::Null | Kind::Invalid => Json::Null,
    }
}

fn object(value: Value<'_, '_>) -> Map<String, Json> {
    let members =
        value.members().filter_map(|member| Some((member.key()?.decode().into_owned(), json(member))));
    members.collect()
}
