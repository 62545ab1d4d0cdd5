//! What a server makes of a message before its template sees it.

use toolcheck_json::Value as Json;

use crate::convert::{Change, Converter, part};
use crate::jinja::fault::Step;
use crate::jinja::text::Builder;
use crate::jinja::value::{Dict, List, Value};
use crate::server::{Abilities, Family, Form, Server};

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
        let mut content = self.content(message.get("content"), server.form(&role))?;
        if let (Value::List(parts), Some(thinking)) = (&content, self.thinking_part(message, server)?) {
            content = Value::list(std::iter::once(thinking).chain(parts.items.iter().cloned()).collect())?;
        }
        if !server.leaves_out_text(message) {
            add(
                "content",
                match before {
                    Some(before) => joined([before, content]),
                    None => content,
                },
            );
        }
        if role == "assistant" {
            if let Some(calls) = message.get("tool_calls").filter(|calls| calls.children().next().is_some()) {
                add("tool_calls", self.calls(calls)?);
            }
            let names = server.reasoning();
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

    /// The reasoning of a message, if the server makes a part of its content of it.
    fn thinking_part(&mut self, message: Json<'_, '_>, server: Server) -> Step<Option<Value>> {
        let is_part = matches!(server, Server::LlamaCpp(Abilities { family: Family::Ministral, .. }));
        let reasoning = message.get("reasoning_content").filter(|own| is_part && own.as_str().is_some());
        let Some(reasoning) = reasoning else { return Ok(None) };
        let entries = vec![
            (Value::str("type"), Value::str("thinking")),
            (Value::str("thinking"), self.value(reasoning, 4)?),
        ];
        Dict::new(entries, None).map(|part| Some(Value::Dict(part)))
    }

    /// A message with calls, its results, whichever calls they name, and perhaps the answer as one message.
    pub(crate) fn joined_turn(
        &mut self,
        call: Json<'_, '_>,
        others: &[Json<'_, '_>],
        server: Server,
    ) -> Step<Value> {
        let source = self.source(call, None);
        let mut entries = vec![(Value::str("role"), Value::str("assistant"))];
        let calls = call.get("tool_calls");
        // A text beside the calls is not given to the template, nor is the reasoning of the answer.
        self.content(call.get("content"), server.form("assistant"))?;
        if let Some(reasoning) = call.get("reasoning_content").filter(|own| own.as_str().is_some()) {
            entries.push((Value::str("reasoning_content"), self.value(reasoning, 2)?));
        }
        if let Some(calls) = calls {
            entries.push((Value::str("tool_calls"), self.calls(calls)?));
        }
        let mut names = calls
            .into_iter()
            .flat_map(Json::children)
            .map(|call| call.get("function").and_then(|function| function.get_str("name")));
        let mut responses = Vec::new();
        for message in others {
            let own = self.source(*message, None);
            let content = message.get("content");
            if message.is("role", "assistant") {
                entries.push((Value::str("content"), self.content(content, server.form("assistant"))?));
                let reasoning = message.get("reasoning_content");
                reasoning.map(|reasoning| self.value(reasoning, 2)).transpose()?;
                continue;
            }
            let read = content.map_or(Ok(None), |text| self.inner_json(text, false))?;
            let result = read.map_or_else(|| self.content(content, server.form("tool")), Ok)?;
            let name = names.next().flatten().or_else(|| message.get_str("tool_call_id"));
            let response = vec![
                (Value::str("name"), Value::str(name.unwrap_or_default().as_ref())),
                (Value::str("response"), result),
            ];
            responses.push(Dict::new(response, self.traces.then_some(own)).map(Value::Dict)?);
        }
        if !responses.is_empty() {
            entries.push((Value::str("tool_responses"), Value::list(responses)?));
        }
        Dict::new(entries, self.traces.then_some(source)).map(Value::Dict)
    }

    /// The definitions of tools with the keys that llama.cpp keeps, of which none is missing.
    pub(crate) fn tools(&mut self, tools: Json<'_, '_>) -> Step<Value> {
        let source = self.source(tools, None);
        let mut found = Vec::new();
        for tool in tools.children() {
            let Some(function) = tool.get("function").filter(|function| function.is_object()) else {
                found.push(self.value(tool, 1)?);
                continue;
            };
            let source = self.source(tool, None);
            let of_function = self.source(function, None);
            let mut entries = Vec::new();
            for name in ["name", "description", "parameters"] {
                let value = match function.get(name) {
                    Some(value) => self.value(value, 3)?,
                    None if name == "parameters" => Dict::new(Vec::new(), None).map(Value::Dict)?,
                    None => Value::str(""),
                };
                entries.push((Value::str(name), value));
            }
            let function = Dict::new(entries, self.traces.then_some(of_function)).map(Value::Dict)?;
            let entries =
                vec![(Value::str("type"), Value::str("function")), (Value::str("function"), function)];
            found.push(Dict::new(entries, self.traces.then_some(source)).map(Value::Dict)?);
        }
        List::of_source(found, self.traces.then_some(source)).map(Value::List)
    }

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
            values.push(match (text, medium(part)) {
                (Some(text), _) => (None, self.value(text, 4)?),
                (None, Some(medium)) if as_parts => {
                    let number = self.source(part, None);
                    let is_emptied = matches!(self.changes.get(&number), Some(Change::Part(None)));
                    (Some(medium).filter(|_| !is_emptied), Value::str(""))
                }
                // In its place, before the text, comes a text that only the model has.
                (None, Some(medium)) => {
                    self.left_out = Some(medium);
                    continue;
                }
                (None, None) => return self.value(content, 2),
            });
        }
        if as_parts {
            let parts: Step<Vec<Value>> =
                values.into_iter().map(|(medium, text)| part(medium, text)).collect();
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
pub(crate) fn medium(part: Json<'_, '_>) -> Option<&'static str> {
    match &*part.get_str("type")? {
        "image_url" | "input_image" | "image" | "image_pil" | "image_embeds" => Some("image"),
        "input_audio" | "audio_url" | "audio" | "audio_embeds" => Some("audio"),
        "video_url" | "video" => Some("video"),
        _ => None,
    }
}
