//! What a server makes of a message before its template sees it.

use toolcheck_json::Value as Json;

use crate::convert::Converter;
use crate::jinja::fault::Step;
use crate::jinja::text::Builder;
use crate::jinja::value::{Dict, List, Value};
use crate::server::{Abilities, Form, Server};

impl Converter<'_> {
    /// A message as the server gives it to the template, with a text of the system before its own.
    pub(crate) fn prepared(
        &mut self,
        message: Json<'_, '_>,
        server: Server,
        before: Option<Value>,
    ) -> Step<Value> {
        let source = self.source(message, None);
        let role = message.get_str("role").unwrap_or_default();
        let mut entries = Vec::new();
        let mut add = |name: &str, value: Value| entries.push((Value::str(name), value));
        if let Some(role) = message.get("role") {
            let value = self.value(role, 2)?;
            let is_renamed = matches!(server, Server::LlamaCpp(Abilities { reads_developer: false, .. }));
            let is_renamed = is_renamed && role.as_str().as_deref() == Some("developer");
            add("role", if is_renamed { Value::str("system") } else { value });
        }
        let content = self.content(message.get("content"), server.form(&role))?;
        add(
            "content",
            match before {
                Some(before) => joined([before, content]),
                None => content,
            },
        );
        if role == "assistant" {
            if let Some(calls) = message.get("tool_calls").filter(|calls| calls.children().next().is_some()) {
                add("tool_calls", self.calls(calls)?);
            }
            let names: &[&str] = match server {
                Server::Vllm { .. } => &["reasoning", "reasoning_content"],
                Server::LlamaCpp(_) => &["reasoning_content"],
            };
            let reasoning = message.get_any(names);
            if let Some(reasoning) = reasoning.filter(|reasoning| !reasoning.is_null()) {
                let value = self.value(reasoning, 2)?;
                for name in names {
                    add(name, value.clone());
                }
            }
        }
        for name in ["tool_call_id", "name"] {
            let value = message.get(name).filter(|value| value.as_str().is_some());
            if let (Some(value), true) = (value, role == "tool" || name == "name") {
                add(name, self.value(value, 2)?);
            }
        }
        Dict::new(entries, self.traces.then_some(source)).map(Value::Dict)
    }

    /// The text of a message that the template does not read.
    pub(crate) fn system_text(&mut self, message: Json<'_, '_>) -> Step<Value> {
        self.source(message, None);
        self.content(message.get("content"), Form::Text)
    }

    fn content(&mut self, content: Option<Json<'_, '_>>, form: Form) -> Step<Value> {
        let as_parts = form == Form::Parts;
        let Some(content) = content.filter(|content| !content.is_null()) else {
            return if as_parts { List::new(Vec::new()).map(Value::List) } else { Ok(Value::str("")) };
        };
        if form == Form::AsGiven {
            return self.value(content, 2);
        }
        let parts: Vec<Json<'_, '_>> =
            if content.is_array() { content.children().collect() } else { vec![content] };
        let mut values = Vec::new();
        for part in parts {
            let text = if content.is_array() { part.get("text") } else { Some(part) };
            let (name, value) = match (text, medium(part)) {
                (Some(text), _) => ("text", self.value(text, 4)?),
                (None, Some(medium)) if as_parts => (medium, Value::None),
                // In its place, before the text, comes a text that only the model has.
                (None, Some(medium)) => {
                    self.left_out = Some(medium);
                    continue;
                }
                (None, None) => return self.value(content, 2),
            };
            values.push((name, value));
        }
        if as_parts {
            let part = |(name, value)| {
                let mut entries = vec![(Value::str("type"), Value::str(name))];
                if name == "text" {
                    entries.push((Value::str(name), value));
                }
                Dict::new(entries, None).map(Value::Dict)
            };
            let parts: Step<Vec<Value>> = values.into_iter().map(part).collect();
            return List::new(parts?).map(Value::List);
        }
        if let [(_, only)] = &mut values[..] {
            return Ok(std::mem::replace(only, Value::None));
        }
        Ok(joined(values.into_iter().map(|(_, value)| value)))
    }
}

/// Texts on lines of their own. What is no text is left out.
fn joined(texts: impl IntoIterator<Item = Value>) -> Value {
    let mut joined = Builder::default();
    for (at, value) in texts.into_iter().enumerate() {
        joined.push_str(if at == 0 { "" } else { "\n" });
        if let Value::Str(text) = value {
            joined.push(&text);
        }
    }
    Value::Str(joined.finish())
}

/// What a part without a text is, as a template that loops over parts gets to know it.
fn medium(part: Json<'_, '_>) -> Option<&'static str> {
    match &*part.get_str("type")? {
        "image_url" | "input_image" | "image" | "image_pil" | "image_embeds" => Some("image"),
        "input_audio" | "audio_url" | "audio" | "audio_embeds" => Some("audio"),
        "video_url" | "video" => Some("video"),
        _ => None,
    }
}
