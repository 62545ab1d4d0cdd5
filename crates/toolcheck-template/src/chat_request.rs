//! What vLLM makes of requests in other forms than that of Chat Completions before it renders them.
//!
//! Seen in its source in November 2026: `vllm/entrypoints/anthropic/serving.py` and
//! `vllm/entrypoints/openai/responses/utils.py`.

use std::borrow::Cow;

use toolcheck_json::edit::Piece;
use toolcheck_json::{Document, NodeId, Value};

/// A request as one of Chat Completions, which knows where its parts come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatRequest {
    /// The body.
    pub text: String,
    /// Where the values at these JSON Pointers come from.
    origins: Vec<(String, NodeId)>,
    copied: Vec<NodeId>,
}

impl ChatRequest {
    /// The body of a request with messages or items that servers rewrite; `None` if it has neither. Fails if it has
    /// something of which it is not known what the server makes of it: a clause says what.
    pub fn of(body: Value<'_, '_>) -> Option<Result<Self, String>> {
        let mut made = Builder::default();
        let is_done = match (body.get("messages"), body.get("input")) {
            (Some(_), _) => made.of_messages(body),
            (None, Some(_)) => made.of_items(body),
            (None, None) => return None,
        };
        Some(is_done.map(|()| made.finish(body)))
    }

    /// These messages of a row of a data set as one list, with its tools.
    pub fn of_row(row: Value<'_, '_>, messages: &[Value<'_, '_>]) -> Self {
        let list = messages.iter().map(|message| raw(*message)).collect();
        let tools = row.get("tools");
        let mut members = vec![("messages".into(), Piece::List(list))];
        members.extend(tools.map(|tools| ("tools".into(), raw(tools))));
        Self {
            text: Piece::Object(members).json().unwrap_or_default(),
            origins: tools.map(|tools| ("/tools".to_owned(), tools.id())).into_iter().collect(),
            copied: messages.iter().map(|message| message.id()).collect(),
        }
    }

    /// The value of the body that was rewritten for the one at a JSON Pointer, or the one around it.
    pub fn value_at<'d, 's>(&self, document: &'d Document<'s>, pointer: &str) -> Option<Value<'d, 's>> {
        if self.copied.is_empty() {
            return Some(document.value(self.origin(pointer)?));
        }
        let mut steps = pointer.split('/').skip(1);
        let start = match steps.next()? {
            "messages" => *self.copied.get(steps.next()?.parse::<usize>().ok()?)?,
            list => self.origin(&format!("/{list}"))?,
        };
        steps.try_fold(document.value(start), Value::step)
    }

    /// The value that the one at a JSON Pointer was made of, or the one around it.
    fn origin(&self, pointer: &str) -> Option<NodeId> {
        let is_around = |own: &&(String, NodeId)| {
            pointer.strip_prefix(&*own.0).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.origins.iter().filter(is_around).max_by_key(|(own, _)| own.len()).map(|(_, node)| *node)
    }
}

type OriginText = (String, NodeId);

#[derive(Default)]
struct Message {
    role: Cow<'static, str>,
    origin: Option<NodeId>,
    /// Its texts; one of them is a text, and several are parts.
    content: Option<Vec<OriginText>>,
    reasoning: Option<OriginText>,
    calls: Vec<Call>,
    call_id: Option<String>,
}

struct Call {
    origin: NodeId,
    id: String,
    name: OriginText,
    arguments: OriginText,
}

#[derive(Default)]
struct Builder {
    messages: Vec<Message>,
    tools: Vec<(Piece, NodeId)>,
}

impl Builder {
    fn of_messages(&mut self, body: Value<'_, '_>) -> Result<(), String> {
        let messages = || body.get("messages").into_iter().flat_map(Value::children);
        let is_system = |message: &Value<'_, '_>| message.is("role", "system");
        let systems = messages().filter(is_system).filter_map(|message| message.get("content"));
        let systems: Vec<Value<'_, '_>> = body.get("system").into_iter().chain(systems).collect();
        let text: String =
            systems.iter().flat_map(|system| texts_of(*system)).map(|(text, _)| text).collect();
        if let Some(first) = systems.first().filter(|_| !text.is_empty()) {
            self.add("system", first.id(), text);
        }
        for message in messages().filter(|message| !is_system(message)) {
            self.message(message)?;
        }
        for tool in body.get("tools").into_iter().flat_map(Value::children) {
            self.tool(tool, "input_schema");
        }
        Ok(())
    }

    fn message(&mut self, message: Value<'_, '_>) -> Result<(), String> {
        let role = message.get_str("role").unwrap_or_default().into_owned();
        let is_user = role == "user";
        let mut made = Message { role: role.into(), origin: Some(message.id()), ..Message::default() };
        let content = message.get("content");
        if let Some(text) = content.and_then(Value::as_str) {
            made.content = content.map(|content| vec![(text.into_owned(), content.id())]);
            self.messages.push(made);
            return Ok(());
        }
        let mut texts = Vec::new();
        for block in content.into_iter().flat_map(Value::children) {
            match &*block.get_str("type").unwrap_or_default() {
                "text" => texts.extend(texts_of(block)),
                "thinking" => {
                    let thought = block.get("thinking").map(|own| (owned(own), own.id()));
                    match (&mut made.reasoning, thought) {
                        (Some((all, _)), Some((text, _))) => all.push_str(&text),
                        (none, thought) => *none = thought,
                    }
                }
                "redacted_thinking" | "tool_reference" => {}
                "tool_use" => made.calls.push(called(block, "id", "input")),
                "tool_result" if is_user => self.result(block)?,
                other => return Err(format!("a block of the type {other} in this format")),
            }
        }
        made.content = (!texts.is_empty()).then_some(texts);
        if made.content.is_some() || !is_user {
            self.messages.push(made);
        }
        Ok(())
    }

    fn result(&mut self, block: Value<'_, '_>) -> Result<(), String> {
        let content = block.get("content");
        let parts = content.filter(|content| content.is_array()).into_iter().flat_map(Value::children);
        if parts.into_iter().any(|part| !part.is("type", "text")) {
            return Err("a result with other parts than texts in this format".to_owned());
        }
        let texts: Vec<String> = content.into_iter().flat_map(texts_of_all).map(|(text, _)| text).collect();
        let call_id = block.get_str("tool_use_id").map(Cow::into_owned);
        self.add("tool", block.id(), texts.join("\n"));
        if let Some(last) = self.messages.last_mut() {
            last.call_id = Some(call_id.unwrap_or_default());
        }
        Ok(())
    }

    fn of_items(&mut self, body: Value<'_, '_>) -> Result<(), String> {
        let goes_on = ["previous_response_id", "conversation"];
        if goes_on.into_iter().filter_map(|key| body.get(key)).any(|own| !own.is_null()) {
            return Err("a conversation that the server keeps".to_owned());
        }
        if let Some(text) = body.get("instructions").filter(|text| text.as_str().is_some()) {
            self.add("system", text.id(), owned(text));
        }
        let input = body.get("input");
        if let Some(text) = input.filter(|input| input.as_str().is_some()) {
            self.add("user", text.id(), owned(text));
        }
        for item in input.into_iter().flat_map(Value::children) {
            self.item(item)?;
        }
        for tool in body.get("tools").into_iter().flat_map(Value::children) {
            if tool.is("type", "function") {
                self.tool(tool, "parameters");
            }
        }
        Ok(())
    }

    fn item(&mut self, item: Value<'_, '_>) -> Result<(), String> {
        let role = item.get_str("role").unwrap_or_default().into_owned();
        match &*item.get_str("type").unwrap_or(Cow::Borrowed("message")) {
            "function_call" => {
                let call = called(item, "call_id", "arguments");
                self.assistant(item, |_| true).calls.push(call);
            }
            "function_call_output" => {
                let output = item.get("output");
                let texts: Vec<OriginText> = output.into_iter().flat_map(texts_of_all).collect();
                let call_id = item.get_str("call_id").unwrap_or_default().into_owned();
                let content = Some(texts);
                let origin = Some(item.id());
                let made = Message { content, origin, call_id: Some(call_id), ..Message::default() };
                self.messages.push(Message { role: "tool".into(), ..made });
            }
            "reasoning" => {
                let of = |key: &str| item.get(key).and_then(|list| list.children().next());
                let first = of("content").or_else(|| of("summary"));
                let thought = first.and_then(|first| texts_of(first).into_iter().next());
                self.assistant(item, |own| own.reasoning.is_none()).reasoning = thought;
            }
            "message" if role == "assistant" => {
                let first = item.get("content").into_iter().flat_map(texts_of_all).next();
                let said = first.unwrap_or_else(|| (String::new(), item.id()));
                self.assistant(item, |own| own.content.is_none()).content = Some(vec![said]);
            }
            "message" => {
                let content = item.get("content");
                let parts = content.filter(|content| content.is_array());
                if parts.into_iter().flat_map(Value::children).any(|part| part.get("text").is_none()) {
                    return Err("a message with other parts than texts in this format".to_owned());
                }
                let texts = content.into_iter().flat_map(texts_of_all).collect();
                let (content, origin) = (Some(texts), Some(item.id()));
                self.messages.push(Message { role: role.into(), origin, content, ..Message::default() });
            }
            other => return Err(format!("an item of the type {other}")),
        }
        Ok(())
    }

    /// The message of the assistant that an item becomes a part of: the last one, if it has room, or a new one.
    fn assistant(&mut self, item: Value<'_, '_>, has_room: impl Fn(&Message) -> bool) -> &mut Message {
        let is_open = self.messages.last().is_some_and(|last| last.role == "assistant" && has_room(last));
        if !is_open {
            let origin = Some(item.id());
            self.messages.push(Message { role: "assistant".into(), origin, ..Message::default() });
        }
        let last = self.messages.len() - 1;
        &mut self.messages[last]
    }

    fn add(&mut self, role: &'static str, origin: NodeId, text: String) {
        let content = Some(vec![(text, origin)]);
        let origin = Some(origin);
        self.messages.push(Message { role: role.into(), origin, content, ..Message::default() });
    }

    fn tool(&mut self, tool: Value<'_, '_>, schema: &str) {
        let member = |key: &str, name: &'static str| Some((Cow::Borrowed(name), raw(tool.get(key)?)));
        let members = [("name", "name"), ("description", "description"), (schema, "parameters")];
        let members = members.into_iter().filter_map(|(key, name)| member(key, name)).collect();
        let tool_piece =
            Piece::object([("type", Piece::text("function")), ("function", Piece::Object(members))]);
        self.tools.push((tool_piece, tool.id()));
    }

    fn finish(self, body: Value<'_, '_>) -> ChatRequest {
        let mut origins = Vec::new();
        let messages =
            self.messages.into_iter().enumerate().map(|(at, message)| message.write(at, &mut origins));
        let mut members = vec![("messages".into(), Piece::List(messages.collect()))];
        if !self.tools.is_empty() {
            let mut tools = Vec::new();
            for (at, (tool, origin)) in self.tools.into_iter().enumerate() {
                origins.push((format!("/tools/{at}"), origin));
                tools.push(tool);
            }
            members.push(("tools".into(), Piece::List(tools)));
            origins.extend(body.get("tools").map(|tools| ("/tools".to_owned(), tools.id())));
        }
        let variables = body.get("chat_template_kwargs");
        members.extend(variables.map(|variables| ("chat_template_kwargs".into(), raw(variables))));
        let list = body.get_any(&["messages", "input"]).unwrap_or(body);
        origins.push(("/messages".to_owned(), list.id()));
        let text = Piece::Object(members).json().unwrap_or_default();
        ChatRequest { text, origins, copied: Vec::new() }
    }
}

impl Message {
    fn write(self, at: usize, origins: &mut Vec<(String, NodeId)>) -> Piece {
        let pointer = format!("/messages/{at}");
        origins.extend(self.origin.map(|origin| (pointer.clone(), origin)));
        let mut members: Vec<(Cow<'static, str>, Piece)> = vec![("role".into(), Piece::text(&self.role))];
        if let Some(mut texts) = self.content {
            let content = if texts.len() == 1 {
                let (text, origin) = texts.remove(0);
                origins.push((format!("{pointer}/content"), origin));
                Piece::text(&text)
            } else {
                let part = |(part, (text, origin)): (usize, OriginText)| {
                    origins.push((format!("{pointer}/content/{part}"), origin));
                    Piece::object([("type", Piece::text("text")), ("text", Piece::text(&text))])
                };
                Piece::List(texts.into_iter().enumerate().map(part).collect())
            };
            members.push(("content".into(), content));
        }
        if let Some((text, origin)) = self.reasoning {
            origins.push((format!("{pointer}/reasoning"), origin));
            members.push(("reasoning".into(), Piece::text(&text)));
        }
        if !self.calls.is_empty() {
            let calls = self.calls.into_iter().enumerate();
            let calls = calls.map(|(call, own)| own.write(&format!("{pointer}/tool_calls/{call}"), origins));
            members.push(("tool_calls".into(), Piece::List(calls.collect())));
        }
        members.extend(self.call_id.map(|id| ("tool_call_id".into(), Piece::text(&id))));
        Piece::Object(members)
    }
}

impl Call {
    fn write(self, pointer: &str, origins: &mut Vec<(String, NodeId)>) -> Piece {
        let (name, of_name) = self.name;
        let (arguments, of_arguments) = self.arguments;
        origins.push((pointer.to_owned(), self.origin));
        origins.push((format!("{pointer}/function/name"), of_name));
        origins.push((format!("{pointer}/function/arguments"), of_arguments));
        let function = Piece::object([("name", Piece::text(&name)), ("arguments", Piece::text(&arguments))]);
        let [id, kind] = [&*self.id, "function"].map(Piece::text);
        Piece::object([("id", id), ("type", kind), ("function", function)])
    }
}

fn called(value: Value<'_, '_>, id: &str, arguments: &str) -> Call {
    let said = |key: &str, or: &str| match value.get(key) {
        Some(own) if own.as_str().is_some() => (owned(own), own.id()),
        Some(own) => (String::from_utf8_lossy(own.raw()).into_owned(), own.id()),
        None => (or.to_owned(), value.id()),
    };
    Call { origin: value.id(), id: said(id, "").0, name: said("name", ""), arguments: said(arguments, "{}") }
}

fn owned(text: Value<'_, '_>) -> String {
    text.as_str().unwrap_or_default().into_owned()
}

fn raw(value: Value<'_, '_>) -> Piece {
    Piece::Raw(value.raw().to_vec())
}

/// The text of a value, or of the part that it is, or of its parts.
fn texts_of(value: Value<'_, '_>) -> Vec<OriginText> {
    if value.is_array() {
        return texts_of_all(value);
    }
    let text = if value.is_object() { value.get("text") } else { Some(value) };
    let text = text.filter(|text| text.as_str().is_some_and(|text| !text.is_empty()));
    text.map(|text| (owned(text), text.id())).into_iter().collect()
}

/// The texts of a list of parts, or a text.
fn texts_of_all(value: Value<'_, '_>) -> Vec<OriginText> {
    if value.is_array() { value.children().flat_map(texts_of).collect() } else { texts_of(value) }
}
