//! The messages of events, as attributes that the reader of traces reads.

use std::collections::HashMap;

use toolcheck_json::origins::Mapped;
use toolcheck_json::{Document, NodeId, Records, Value};

use super::CONTAINER;
use crate::containers::lines;
use crate::exchanges::Maker;
use crate::{Limits, Opened};

/// How many lines, and values of each, are looked at for an event.
const LINES: usize = 32;
const VALUES: usize = 20_000;

/// Whether the start of a file has an event, or messages as structured attributes.
pub(super) fn holds_events(head: &[u8]) -> bool {
    let is_own = |value: Value<'_, '_>| {
        Event::of(value).is_some()
            || value.get_str("key").is_some_and(|key| key.ends_with("messages"))
                && value.get_in(&["value", "arrayValue"]).is_some()
            || value.members().any(is_text_of_events)
    };
    let holds = |text: &[u8]| {
        let document = Document::read(text);
        // A request may say anything.
        let is_request = document.root().get_any(&["messages", "contents", "input"]).is_some();
        !is_request && values(document.root()).take(VALUES).any(is_own)
    };
    lines(head).filter(|line| line.starts_with(b"{")).take(LINES).any(holds) || holds(head)
}

fn values<'d, 's>(root: Value<'d, 's>) -> impl Iterator<Item = Value<'d, 's>> {
    let mut open = vec![root];
    std::iter::from_fn(move || {
        let value = open.pop()?;
        let before = open.len();
        open.extend(value.children());
        open[before..].reverse();
        Some(value)
    })
}

/// Whether a string is the text of a list of events.
fn is_text_of_events(value: Value<'_, '_>) -> bool {
    value.is_string() && memchr::memmem::find(value.raw(), br"event.name\").is_some()
}

/// How deep values are rewritten. What is deeper is no message.
const DEEPEST: usize = 200;

pub(super) fn read(bytes: &[u8], limits: Limits) -> Option<Opened> {
    let mut maker = Maker::new(bytes.len(), limits);
    let mut groups = Groups::default();
    for (number, record) in Records::new(bytes).enumerate() {
        let document = Document::read(record.bytes);
        let same = Mapped::same(record.bytes, record.start);
        if document.faults().iter().any(|fault| !fault.kind.is_in_text()) {
            maker.add_record(format!("[{number}]"), &same);
            continue;
        }
        let mut text = rewritten(&document, &mut plain).through(&same);
        let strings = strings_of_events(Document::read(text.text()).root());
        if !strings.is_empty() {
            text = Mapped::expanded(&Document::read(text.text()), &strings).through(&text);
        }
        let document = Document::read(text.text());
        match Event::of(document.root()) {
            Some(event) => groups.add(&event, Some(&text)),
            None => maker.add_record(String::new(), &rewritten(&document, &mut grouped).through(&text)),
        }
    }
    for group in groups.all {
        maker.add_record(group.label, &attribute(&group.messages));
    }
    Some(maker.finish(&CONTAINER, None))
}

/// Writes a value in another form, if it is to be.
type Rewrite<'f> = &'f mut dyn FnMut(Value<'_, '_>, &mut Mapped, usize) -> bool;

fn rewritten(document: &Document<'_>, special: Rewrite<'_>) -> Mapped {
    let mut out = Mapped::default();
    write(document.root(), &mut out, special, 0);
    out
}

fn write(value: Value<'_, '_>, out: &mut Mapped, special: Rewrite<'_>, depth: usize) {
    let span = value.span().range();
    let bytes = value.document().bytes();
    if depth < DEEPEST && special(value, out, depth) {
        return;
    }
    let mut at = span.start;
    for child in value.children().filter(|_| depth < DEEPEST) {
        let inner = child.span().range();
        out.push_same(&bytes[at..inner.start], at);
        write(child, out, special, depth + 1);
        at = inner.end;
    }
    out.push_same(&bytes[at..span.end], at);
}

/// The keys that OTLP writes a value of each type under.
const TYPES: [&str; 5] = ["stringValue", "intValue", "doubleValue", "boolValue", "bytesValue"];

/// Writes a value of OTLP as JSON has it: without its type, and keys and values as an object.
fn plain(value: Value<'_, '_>, out: &mut Mapped, depth: usize) -> bool {
    let list = value.get("kvlistValue").map(|list| list.get("values"));
    let is_key = |first: Value<'_, '_>| value.has_key("attributes") && first.has("key");
    let list = list.or_else(|| value.elements().next().is_some_and(is_key).then_some(Some(value)));
    let place = value.span().range();
    if let Some(entries) = list {
        let mut next = &b"{"[..];
        for entry in entries.into_iter().flat_map(|list| list.elements()) {
            let (Some(key), Some(value)) = (entry.get("key"), entry.get("value")) else { continue };
            out.push_whole(next, place.clone());
            out.push_same(key.raw(), key.span().range().start);
            out.push_whole(b":", place.clone());
            write(value, out, &mut plain, depth + 1);
            next = b",";
        }
        out.push_whole(if next == b"{" { b"{}" } else { b"}" }, place);
        return true;
    }
    let array = value.get("arrayValue").map(|list| list.get("values"));
    let is_typed = value.members().nth(1).is_none();
    match array.or_else(|| value.get_any(&TYPES).map(Some)).filter(|_| is_typed) {
        Some(Some(inner)) => write(inner, out, &mut plain, depth + 1),
        Some(None) => out.push_whole(b"[]", place),
        None => return false,
    }
    true
}

/// Writes the events of a list as attributes with messages, and then what else is in it.
fn grouped(list: Value<'_, '_>, out: &mut Mapped, depth: usize) -> bool {
    if !list.is_array() || !list.elements().any(|value| Event::of(value).is_some()) {
        return false;
    }
    let mut groups = Groups::default();
    let mut others = Vec::new();
    for value in list.elements() {
        match Event::of(value) {
            Some(event) => groups.add(&event, None),
            None => others.push(value),
        }
    }
    let place = list.span().range();
    let mut next = &b"["[..];
    for group in groups.all {
        let attribute = attribute(&group.messages);
        out.push_whole(next, place.clone());
        out.push_part(&attribute, 0..attribute.text().len());
        next = b",";
    }
    for other in others {
        out.push_whole(next, place.clone());
        write(other, out, &mut grouped, depth + 1);
        next = b",";
    }
    out.push_whole(if next == b"[" { b"[]" } else { b"]" }, place);
    true
}

fn attribute(messages: &Mapped) -> Mapped {
    let place = messages.source_of(0..messages.text().len()).unwrap_or(0..0);
    let mut out = Mapped::whole(b"{\"gen_ai.input.messages\":[".to_vec(), place.clone());
    out.push_part(messages, 0..messages.text().len());
    out.push_whole(b"]}", place);
    out
}

fn strings_of_events(root: Value<'_, '_>) -> Vec<NodeId> {
    let is_json = |value: &Value<'_, '_>, starts: &[&str]| {
        value.as_str().is_some_and(|text| {
            starts.iter().any(|start| text.trim_start().starts_with(start))
                && Document::read(text.as_bytes()).faults().is_empty()
        })
    };
    let mut found = Vec::new();
    for value in values(root) {
        found.extend(
            value.members().filter(|text| is_text_of_events(*text) && is_json(text, &["["])).map(Value::id),
        );
        let Some(event) = Event::of(value) else { continue };
        let whole = [value.get("attributes").and_then(|own| own.get(CONTENT)), value.get("body")];
        found.extend(whole.into_iter().flatten().filter(|text| is_json(text, &["{"])).map(Value::id));
        // A tool may say JSON, too: only blocks are opened, which are objects in a list.
        let inner =
            [("content", &["[{"][..]), ("message", &["[{", "{\"role", "{\"content", "{\"tool_calls"])];
        let texts = inner
            .into_iter()
            .filter_map(|(key, starts)| event.body?.get(key).filter(|text| is_json(text, starts)));
        found.extend(texts.map(Value::id));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The attribute in which Azure's SDK has the whole of an event.
const CONTENT: &str = "gen_ai.event.content";

struct Event<'d, 's> {
    /// The place of its name, and the role that this says.
    name: Value<'d, 's>,
    role: &'static str,
    is_choice: bool,
    /// What holds the message; `None` if nothing was recorded of it.
    body: Option<Value<'d, 's>>,
    span: Option<Value<'d, 's>>,
}

impl<'d, 's> Event<'d, 's> {
    fn of(value: Value<'d, 's>) -> Option<Self> {
        if !value.is_object() {
            return None;
        }
        let attributes = value.get("attributes");
        let is_flat = value.has("event.name");
        let name = value.get_any(&["event.name", "eventName", "event_name", "name"]);
        let own = |name: Value<'d, 's>| Some((name, role_of(&name.as_str()?)?));
        let (name, (role, is_choice)) = name.and_then(own).or_else(|| own(attributes?.get("event.name")?))?;
        let content = attributes.and_then(|own| own.get(CONTENT));
        let body = content.filter(|body| body.is_object()).or_else(|| value.get("body"));
        let body = body.or(if is_flat { Some(value) } else { attributes }).filter(|body| body.is_object());
        let span = value.get_any(&["spanId", "span_id"]).filter(|span| !span.is_null());
        Some(Self { name, role, is_choice, body, span })
    }

    fn message(&self) -> Option<Value<'d, 's>> {
        let body = self.body?;
        Some(body.get("message").filter(|message| message.is_object()).unwrap_or(body))
    }

    /// Whether the content is blocks with results, as Bedrock has them.
    fn has_results(&self) -> bool {
        let content = self.message().and_then(|message| message.get_any(&["content", "message"]));
        let keys = ["toolResult", "tool_use_id"];
        content.into_iter().flat_map(Value::elements).any(|block| block.get_any(&keys).is_some())
    }

    fn write(&self, out: &mut Mapped) {
        let place = self.name.span().range();
        let message = self.message();
        // Gemini's messages are the content itself.
        let content = message.and_then(|message| message.get("content"));
        if let Some(content) = content.filter(|content| content.has("parts")) {
            out.push_same(content.raw(), content.span().range().start);
            return;
        }
        out.push_whole(format!("{{\"role\":\"{}\",\"parts\":[", self.role).as_bytes(), place.clone());
        let start = out.text().len();
        let calls = message.and_then(|message| message.get("tool_calls"));
        for call in calls.into_iter().flat_map(Value::elements) {
            let function = call.get("function").unwrap_or(call);
            let keys = [
                ("id", call.get("id")),
                ("name", function.get("name")),
                ("arguments", function.get("arguments")),
            ];
            part("tool_call", call, &keys, out, start);
        }
        let content = message.and_then(|message| message.get_any(&["content", "message"]));
        if self.role == "tool" && !self.has_results() {
            let keys = [("id", message.and_then(|message| message.get("id"))), ("response", content)];
            part("tool_call_response", content.unwrap_or(self.name), &keys, out, start);
        } else if let Some(content) = content {
            let whole = content.as_json_str().map(|_| content);
            for block in whole.into_iter().chain(content.elements()) {
                let is_copy = calls.is_some() && block.get_any(&["toolUse", "input"]).is_some();
                if !is_copy {
                    block_of(block, out, start);
                }
            }
        }
        out.push_whole(b"]}", place);
    }
}

fn block_of(block: Value<'_, '_>, out: &mut Mapped, start: usize) {
    let kind = block.get_str("type");
    let is_of = |name: &str| kind.as_deref() == Some(name);
    let text = block.get("text").or(block.as_json_str().map(|_| block));
    if let Some(call) = block.get("toolUse").or_else(|| Some(block).filter(|_| is_of("tool_use"))) {
        let keys = [
            ("id", call.get_any(&["toolUseId", "id"])),
            ("name", call.get("name")),
            ("arguments", call.get("input")),
        ];
        part("tool_call", block, &keys, out, start);
    } else if let Some(result) =
        block.get("toolResult").or_else(|| Some(block).filter(|_| is_of("tool_result")))
    {
        let keys =
            [("id", result.get_any(&["toolUseId", "tool_use_id"])), ("response", result.get("content"))];
        part("tool_call_response", block, &keys, out, start);
    } else if text.is_some() {
        part("text", block, &[("content", text)], out, start);
    } else {
        // What it is, is told by those who read it.
        separate(out, start, block);
        out.push_same(block.raw(), block.span().range().start);
    }
}

fn part(
    kind: &str,
    of: Value<'_, '_>,
    keys: &[(&str, Option<Value<'_, '_>>)],
    out: &mut Mapped,
    start: usize,
) {
    separate(out, start, of);
    let place = of.span().range();
    out.push_whole(format!("{{\"type\":\"{kind}\"").as_bytes(), place.clone());
    for (key, value) in keys {
        let Some(value) = value else { continue };
        out.push_whole(format!(",\"{key}\":").as_bytes(), place.clone());
        out.push_same(value.raw(), value.span().range().start);
    }
    out.push_whole(b"}", place);
}

fn separate(out: &mut Mapped, start: usize, next: Value<'_, '_>) {
    if out.text().len() > start {
        out.push_whole(b",", next.span().range());
    }
}

#[derive(Default)]
struct Group {
    label: String,
    messages: Mapped,
    is_answered: bool,
    last: &'static str,
}

/// The conversations in a list of events: those of a span, up to its answer.
#[derive(Default)]
struct Groups {
    all: Vec<Group>,
    of_span: HashMap<String, usize>,
}

impl Groups {
    /// Adds an event, in a text that was made of another one if there is one. What the system said calls nothing and may be in another form, and only the first of several
    /// answers goes on. Where results are events of their own, the message that had them repeats them.
    fn add(&mut self, event: &Event<'_, '_>, text: Option<&Mapped>) {
        let span = event.span.and_then(Value::as_str).unwrap_or_default().into_owned();
        let index = event.body.and_then(|body| body.get("index"));
        if event.role == "system" || index.is_some_and(|index| !matches!(index.raw(), b"0" | b"\"0\"")) {
            return;
        }
        let known = self.of_span.get(&span).copied();
        let number =
            known.filter(|number| event.is_choice || !self.all[*number].is_answered).unwrap_or_else(|| {
                let label = if span.is_empty() { String::new() } else { format!("span {span}") };
                self.all.push(Group { label, ..Group::default() });
                self.all.len() - 1
            });
        self.of_span.insert(span, number);
        let group = &mut self.all[number];
        if group.last == "tool" && event.role == "user" && event.has_results() {
            return;
        }
        let mut message = Mapped::default();
        if !group.messages.text().is_empty() {
            message.push_whole(b",", event.name.span().range());
        }
        event.write(&mut message);
        let message = text.map_or(message.clone(), |text| message.through(text));
        group.messages.push_part(&message, 0..message.text().len());
        group.is_answered |= event.is_choice;
        group.last = event.role;
    }
}

/// The role that the name of an event says, and whether the event is an answer.
fn role_of(name: &str) -> Option<(&'static str, bool)> {
    let name = name.strip_prefix("gen_ai.")?;
    let role = match name.strip_suffix(".message").unwrap_or(name) {
        "choice" => return Some(("assistant", true)),
        "system" | "developer" => "system",
        "user" => "user",
        "assistant" | "model" => "assistant",
        "tool" => "tool",
        _ => return None,
    };
    name.ends_with(".message").then_some((role, false))
}
