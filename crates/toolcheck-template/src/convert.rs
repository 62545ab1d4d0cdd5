//! Turns a request into the values of a template.

use std::collections::HashMap;
use std::sync::Arc;

use toolcheck_json::{Document, Kind, NodeId, Value as Json, escape_step};

use crate::input::{Arguments, Input, Nulls};
use crate::jinja::fault::{Step, too_much};
use crate::jinja::llama_cpp::Engine;
use crate::jinja::text::Text;
use crate::jinja::value::{Dict, List, Value};
use crate::now::Now;
use crate::server::Server;

/// The most values inside one another.
const DEEPEST: u32 = 120;

/// A part of the request that a mark can name.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) node: NodeId,
    /// The JSON Pointer inside a text that was read as JSON; empty for the text itself.
    pub(crate) inner: String,
    pub(crate) text: Option<Arc<str>>,
    pub(crate) of: InputPart,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum InputPart {
    Messages,
    Tools,
    Documents,
    Variables,
}

/// A value in the place of one of the request.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    Text(Arc<str>),
    Raw(Arc<str>),
    /// A part of content: a medium as servers write it, or an empty text.
    Part(Option<&'static str>),
}

/// Changes of parts, by the numbers of their sources.
pub(crate) type Changes = HashMap<u32, Change>;

/// Turns parts of a request into values, and numbers them.
pub(crate) struct Converter<'c> {
    pub(crate) sources: Vec<Source>,
    pub(crate) changes: &'c Changes,
    arguments: Arguments,
    nulls: Nulls,
    server: Option<Server>,
    /// Whether sources are kept and texts marked.
    pub(crate) traces: bool,
    of: InputPart,
    inner: Option<(NodeId, String)>,
    count: u32,
    /// What a server puts a text of its own for, which is left out.
    pub(crate) left_out: Option<&'static str>,
}

/// How a prompt is rendered: for a user, or to find something out.
pub(crate) struct RenderMode<'t> {
    pub(crate) traces: bool,
    pub(crate) changes: &'t Changes,
    /// Only so many messages are rendered.
    pub(crate) most_messages: usize,
}

/// The variables of a template, the sources of their parts, and what is left out.
pub(crate) type Context = (Vec<(Arc<str>, Value)>, Vec<Source>, Option<&'static str>);

pub(crate) fn context(
    input: &Input<'_>,
    tokens: &[(String, String)],
    trial: &RenderMode<'_>,
    server: Option<Server>,
) -> Step<Context> {
    let mut converter = Converter {
        sources: Vec::new(),
        changes: trial.changes,
        arguments: server.map_or(input.arguments, |server| server.arguments()),
        nulls: input.nulls,
        server: server.filter(|server| !matches!(server, Server::LlamaCppTries)),
        traces: trial.traces,
        of: InputPart::Messages,
        inner: None,
        count: 0,
        left_out: None,
    };
    let mut tokens = tokens.to_vec();
    let mut found: Vec<(Arc<str>, Value)> = Vec::new();
    let messages = converter.messages(input.messages, trial.most_messages)?;
    found.push(("messages".into(), messages));
    let is_of_llama_cpp = server.is_some_and(|server| server.engine() != Engine::Python);
    for (name, of, value) in
        [("tools", InputPart::Tools, input.tools), ("documents", InputPart::Documents, input.documents)]
    {
        converter.of = of;
        let value = match (value, converter.server) {
            (Some(value), Some(Server::LlamaCpp(_))) if of == InputPart::Tools => {
                if value.children().next().is_none() {
                    continue;
                }
                converter.tools(value)?
            }
            (Some(value), _) => converter.value(value, 0)?,
            (None, _) if is_of_llama_cpp => continue,
            (None, _) => Value::None,
        };
        found.push((name.into(), value));
    }
    let prompt = Value::Bool(input.add_generation_prompt);
    found.push(("add_generation_prompt".into(), prompt));
    if is_of_llama_cpp {
        let now = input.now.unwrap_or_else(Now::of_system);
        for (name, format) in [("datetime", "%b %d %Y"), ("date_string", "%d %b %Y")] {
            found.push((name.into(), Value::str(now.format(format).unwrap_or_default())));
        }
        found.push(("enable_thinking".into(), Value::Bool(true)));
        tokens.extend(["bos_token", "eos_token"].map(|name| (name.to_owned(), String::new())));
    }
    if let Some(variables) = input.variables {
        converter.of = InputPart::Variables;
        for member in variables.members() {
            let name = member.key_text().unwrap_or_default();
            let value = converter.value(member, 1)?;
            found.retain(|(own, _)| **own != *name);
            found.push((name.as_ref().into(), value));
        }
    }
    for (name, text) in &tokens {
        if !found.iter().any(|(own, _)| **own == **name) {
            found.push((name.as_str().into(), Value::str(text.as_str())));
        }
    }
    Ok((found, converter.sources, converter.left_out))
}

impl Converter<'_> {
    pub(crate) fn source(&mut self, value: Json<'_, '_>, text: Option<&Arc<str>>) -> u32 {
        let number = self.count;
        self.count += 1;
        if self.traces {
            let (node, inner) = self.inner.clone().unwrap_or_else(|| (value.id(), String::new()));
            let source = Source { node, inner, text: text.cloned(), of: self.of, kind: value.kind() };
            self.sources.push(source);
        }
        number
    }

    fn messages<'d>(&mut self, messages: Json<'d, 'd>, most: usize) -> Step<Value> {
        if !messages.is_array() {
            return self.value(messages, 0);
        }
        let mut found = Vec::new();
        let source = self.source(messages, None);
        let all = match self.server {
            Some(server) => server.ordered(messages),
            None => messages.children().collect(),
        };
        let mut rest = &all[..all.len().min(most)];
        let mut before = None;
        if let (Some(server), [first, others @ ..]) = (self.server, rest)
            && server.merges(*first)
        {
            (before, rest) = (Some(self.system_text(*first)?), others);
        }
        while !rest.is_empty() {
            let (turn, others) = rest.split_at(self.server.map_or(1, |server| server.joins(rest)));
            let value = match (self.server, turn) {
                (Some(server), [message]) if message.is_object() => {
                    self.prepared(*message, server, before.take())?
                }
                (None, [message]) if message.is_object() => self.message(*message)?,
                (Some(server), [call, results @ ..]) if !results.is_empty() => {
                    self.joined_turn(*call, results, server)?
                }
                _ => self.value(turn[0], 1)?,
            };
            found.push(value);
            rest = others;
        }
        List::of_source(found, self.traces.then_some(source)).map(Value::List)
    }

    fn message(&mut self, message: Json<'_, '_>) -> Step<Value> {
        let source = self.source(message, None);
        let mut entries = Vec::new();
        for member in message.members() {
            let drops = self.nulls == Nulls::Dropped && member.is_null();
            let value = match member.has_key("tool_calls") {
                true if member.is_array() => self.calls(member)?,
                _ => self.value(member, 2)?,
            };
            if !drops {
                entries.push((key(member), value));
            }
        }
        Dict::new(entries, self.traces.then_some(source)).map(Value::Dict)
    }

    pub(crate) fn calls(&mut self, calls: Json<'_, '_>) -> Step<Value> {
        let source = self.source(calls, None);
        let mut found = Vec::new();
        for call in calls.children() {
            found.push(self.call(call)?);
        }
        List::of_source(found, self.traces.then_some(source)).map(Value::List)
    }

    /// A call, or the function in it: the object with the arguments.
    fn call(&mut self, call: Json<'_, '_>) -> Step<Value> {
        if !call.is_object() {
            return self.value(call, 3);
        }
        let source = self.source(call, None);
        let mut entries = Vec::new();
        for member in call.members() {
            let value = if member.has_key("function") && member.is_object() {
                self.call(member)?
            } else if member.has_key("arguments") && self.arguments == Arguments::Parsed {
                self.arguments(member)?
            } else {
                self.value(member, 4)?
            };
            entries.push((key(member), value));
        }
        Dict::new(entries, self.traces.then_some(source)).map(Value::Dict)
    }

    fn arguments(&mut self, arguments: Json<'_, '_>) -> Step<Value> {
        if let Some(found) = self.inner_json(arguments, true)? {
            return Ok(found);
        }
        let found = self.value(arguments, 5)?;
        let is_kept = !matches!(self.server, Some(Server::Vllm { .. }))
            || matches!(found, Value::Dict(_) | Value::List(_));
        if is_kept { Ok(found) } else { Dict::new(Vec::new(), None).map(Value::Dict) }
    }
    pub(crate) fn inner_json(&mut self, text: Json<'_, '_>, only_objects: bool) -> Step<Option<Value>> {
        let Some(json) = text.as_str() else { return Ok(None) };
        let document = Document::read(json.as_bytes());
        if !document.faults().is_empty() || only_objects && !document.root().is_object() {
            return Ok(None);
        }
        self.inner = Some((text.id(), String::new()));
        let found = self.value(document.root(), 5);
        self.inner = None;
        found.map(Some)
    }

    pub(crate) fn value(&mut self, value: Json<'_, '_>, depth: u32) -> Step<Value> {
        if depth > DEEPEST {
            return too_much("the request is nested too deeply");
        }
        match value.kind() {
            Kind::Array | Kind::Object => self.container(value, depth),
            Kind::String => {
                let text: Arc<str> = value.as_str().unwrap_or_default().as_ref().into();
                let number = self.source(value, Some(&text));
                let text = match self.changes.get(&number) {
                    Some(Change::Text(changed)) => changed.clone(),
                    _ => text,
                };
                Ok(Value::Str(if self.traces { Text::of_source(text, number) } else { text.into() }))
            }
            kind => {
                let number = self.source(value, None);
                match self.changes.get(&number) {
                    Some(Change::Raw(raw)) => Ok(scalar(kind_of(raw), raw)),
                    Some(Change::Text(text)) => Ok(Value::str(text.clone())),
                    Some(Change::Part(_)) | None => {
                        let found = scalar(kind, &String::from_utf8_lossy(value.raw()));
                        Ok(if matches!(self.server, Some(Server::LlamaCpp(_))) {
                            in_64_bits(found)
                        } else {
                            found
                        })
                    }
                }
            }
        }
    }

    fn container(&mut self, value: Json<'_, '_>, depth: u32) -> Step<Value> {
        let number = self.source(value, None);
        let source = self.traces.then_some(number);
        let around = self.inner.as_ref().filter(|_| self.traces).map(|(_, inner)| inner.len());
        let is_object = value.is_object();
        let (mut items, mut entries) = (Vec::new(), Vec::new());
        for (at, child) in value.children().enumerate() {
            if let (Some(length), Some((_, inner))) = (around, &mut self.inner) {
                inner.truncate(length);
                let key = || child.key_text().unwrap_or_default();
                let name = if is_object { key() } else { at.to_string().into() };
                inner.push('/');
                inner.push_str(&escape_step(&name));
            }
            let change = self.changes.get(&self.count);
            let mut found = self.value(child, depth + 1)?;
            if let Some(Change::Part(medium)) = change {
                found = part(*medium, Value::str(""))?;
            }
            if is_object {
                entries.push((key(child), found));
            } else {
                items.push(found);
            }
        }
        if let (Some(length), Some((_, inner))) = (around, &mut self.inner) {
            inner.truncate(length);
        }
        if is_object {
            return Dict::new(entries, source).map(Value::Dict);
        }
        List::of_source(items, source).map(Value::List)
    }
}

/// A part of content: a medium, or a text.
pub(crate) fn part(medium: Option<&str>, text: Value) -> Step<Value> {
    let mut entries = vec![(Value::str("type"), Value::str(medium.unwrap_or("text")))];
    entries.extend(medium.is_none().then_some((Value::str("text"), text)));
    Dict::new(entries, None).map(Value::Dict)
}

fn key(member: Json<'_, '_>) -> Value {
    Value::str(member.key_text().unwrap_or_default().as_ref())
}

fn kind_of(raw: &str) -> Kind {
    match raw {
        "null" => Kind::Null,
        "true" | "false" => Kind::Bool,
        _ => Kind::Number,
    }
}

fn scalar(kind: Kind, raw: &str) -> Value {
    match kind {
        Kind::Bool => Value::Bool(raw == "true"),
        Kind::Number => number(raw),
        _ => Value::None,
    }
}

/// An integer as llama.cpp keeps it: with a sign, also where it needs the bit for itself.
fn in_64_bits(value: Value) -> Value {
    match value {
        Value::Int(number) => {
            Value::Int(u64::try_from(number).map_or(number, |number| i128::from(number as i64)))
        }
        _ => value,
    }
}

fn number(raw: &str) -> Value {
    if raw.contains(['.', 'e', 'E']) {
        return raw.parse().map_or(Value::None, Value::Float);
    }
    match raw.parse() {
        Ok(number) => Value::Int(number),
        Err(_) => Value::Big(raw.into()),
    }
}
