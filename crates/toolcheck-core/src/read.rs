//! Conversations, read from any format.

use serde_json::{Map, Value as Json};
use toolcheck_json::Document;

use crate::conversation::{self, Conversation, ToolOutput};
use crate::formats::{self, Decode, Format};
use crate::ir::{
    Arguments, Body, Call, Content, Executor, Named, Part, Role, ToolKind, ToolResult, Transcript,
    UnpairedReason,
};
use crate::readers::{NextRequest, is_broken};
use crate::rule_id::RuleId;

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
        Self::of_parts(transcript, document, |text| text.decode(), false, |_| true)
    }

    /// The conversation in what an agent sends next: without records that are cut off, and results of calls elsewhere.
    /// Half a character is one for private use ([`toolcheck_json::JsonStr::decode_halves`]), unless the agent does not send it.
    pub fn of_next(transcript: &Transcript<'_>, document: &Document<'_>) -> Self {
        let agent = transcript.sent_next_by.and_then(NextRequest::of);
        let is_elsewhere = |why| match why {
            UnpairedReason::Broken(_) => !agent.is_some_and(|agent| agent.skips_broken_lines),
            why => why == UnpairedReason::Elsewhere,
        };
        let is_apart = |body: &Body<'_>| matches!(body, Body::Result(result) if result.unpaired.is_some_and(is_elsewhere));
        let decode: Decode = match agent.is_some_and(|agent| agent.repairs(RuleId::LoneSurrogate)) {
            true => |text| text.decode(),
            false => |text| text.decode_halves(),
        };
        Self::of_parts(transcript, document, decode, true, |part| {
            !is_apart(&part.body) && !is_broken(document.value(part.place.node))
        })
    }

    fn of_parts(
        transcript: &Transcript<'_>,
        document: &Document<'_>,
        decode: Decode,
        is_next: bool,
        is_kept: impl Fn(&Part<'_>) -> bool,
    ) -> Self {
        let mut conversation = Self { system: instructions(transcript, document), ..Self::default() };
        let format = transcript.format.and_then(|format| formats::find(format.id));
        let first = if is_next { transcript.first_sent() } else { 0 };
        for (message, parts) in transcript.messages_with_parts().skip(first) {
            if is_next && message.is_unsent {
                continue;
            }
            if message.role == Role::Assistant && message.content == Content::EmptyText {
                conversation.push_assistant(|_| {});
            }
            let mut is_new = true;
            for part in parts.iter().filter(|part| is_kept(part)) {
                match &part.body {
                    Body::Text(text) => match message.role {
                        Role::System => {
                            conversation::add_text(&mut conversation.system, &decode(text.string))
                        }
                        Role::Assistant => {
                            if is_next && is_new {
                                conversation.end_calls();
                            }
                            conversation.push_assistant(|said| said.text.push_str(&decode(text.string)))
                        }
                        Role::User if !text.string.is_empty() => conversation.push_user(&decode(text.string)),
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
                    // What was taken out is not said.
                    Body::Call(call) if call.unpaired == Some(UnpairedReason::Deleted) => {}
                    Body::Call(call) if call.executor == Executor::Client => {
                        let arguments = arguments(call, document);
                        let call = conversation::Call::new(
                            name(call.id.as_ref()),
                            name(call.name.as_ref()),
                            arguments,
                        );
                        conversation.push_assistant(|said| said.calls.push(call));
                    }
                    Body::Call(call) => {
                        conversation.push_assistant(|said| said.server_tools.push(name(call.name.as_ref())));
                    }
                    Body::Result(result) if result.unpaired == Some(UnpairedReason::Deleted) => {}
                    Body::Result(result) if result.executor == Executor::Client => {
                        conversation.push_output(ToolOutput {
                            call_id: name(result.call_id.as_ref()),
                            name: name(result.name.as_ref()),
                            text: text_of(result, document, decode),
                            failed: result.is_error == Some(true),
                        });
                    }
                    _ => {}
                }
                is_new = false;
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

fn text_of(result: &ToolResult<'_>, document: &Document<'_>, decode: Decode) -> String {
    match result.content_place {
        Some(place) => formats::result_text(document.value(place.node), decode),
        // The agent says something of its own.
        None => formats::result_text(Document::read(result.content_json).root(), decode),
    }
}

/// The system texts beside the messages.
fn instructions(transcript: &Transcript<'_>, document: &Document<'_>) -> String {
    let mut system = String::new();
    if let Some(place) = transcript.request.instructions {
        let value = document.value(place.node);
        let blocks = value.get("parts").unwrap_or(value);
        let (whole, texts) = ((!blocks.is_array()).then_some(blocks), blocks.elements());
        whole.into_iter().chain(texts).for_each(|text| {
            conversation::add_text(&mut system, &formats::text_of(text));
        });
    }
    system
}

fn name(name: Option<&Named<'_>>) -> String {
    name.map(|name| name.text.to_string()).unwrap_or_default()
}

/// The arguments of a call. Those that are no object are the argument `input`, which is how a function has the text of a
/// custom tool.
fn arguments(call: &Call<'_>, document: &Document<'_>) -> Map<String, Json> {
    let input = |input: Json| Map::from_iter([("input".to_owned(), input)]);
    match &call.arguments {
        Arguments::Text(text, _) => {
            let text = text.decode();
            match serde_json::from_str(&text) {
                Ok(Json::Object(arguments)) if call.kind != ToolKind::Custom => arguments,
                _ if text.trim().is_empty() => Map::new(),
                _ => input(text.into()),
            }
        }
        Arguments::Object(place) => formats::object(document.value(place.node)),
        Arguments::Other(place) => input(formats::json(document.value(place.node))),
        Arguments::Missing | Arguments::Null(_) => Map::new(),
    }
}
