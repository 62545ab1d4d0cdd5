//! What vLLM makes of a message before its template sees it.

use toolcheck_json::Value as Json;

use crate::convert::Converter;
use crate::jinja::fault::Step;
use crate::jinja::text::Builder;
use crate::jinja::value::{Dict, List, Value};

impl Converter<'_> {
    /// A message as vLLM gives it to the template.
    pub(crate) fn prepared(&mut self, message: Json<'_, '_>, reads_parts: bool) -> Step<Value> {
        let source = self.source(message, None);
        let role = message.get_str("role").unwrap_or_default();
        let mut entries = Vec::new();
        let mut add = |name: &str, value: Value| entries.push((Value::str(name), value));
        if let Some(role) = message.get("role") {
            add("role", self.value(role, 2)?);
        }
        let content = self.content(message.get("content"), reads_parts && role != "tool")?;
        add("content", content);
        if role == "assistant" {
            if let Some(calls) = message.get("tool_calls").filter(|calls| calls.children().next().is_some()) {
                add("tool_calls", self.calls(calls)?);
            }
            let reasoning = message.get_any(&["reasoning", "reasoning_content"]);
            if let Some(reasoning) = reasoning.filter(|reasoning| !reasoning.is_null()) {
                let value = self.value(reasoning, 2)?;
                add("reasoning", value.clone());
                add("reasoning_content", value);
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

    fn content(&mut self, content: Option<Json<'_, '_>>, as_parts: bool) -> Step<Value> {
        let Some(content) = content.filter(|content| !content.is_null()) else {
            return if as_parts { List::new(Vec::new()).map(Value::List) } else { Ok(Value::str("")) };
        };
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
        let mut joined = Builder::default();
        for (at, (_, value)) in values.iter().enumerate() {
            joined.push_str(if at == 0 { "" } else { "\n" });
            if let Value::Str(text) = value {
                joined.push(text);
            }
        }
        Ok(Value::Str(joined.finish()))
    }
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
