//! Exports of OpenTelemetry whose messages are events, or attributes that are lists and maps: what the conventions for
//! generative AI had before 1.37 (<https://github.com/open-telemetry/semantic-conventions/blob/v1.36.0/docs/gen-ai/gen-ai-events.md>)
//! and have since in log records.
//!
//! Each list of events becomes the attribute `gen_ai.input.messages`, and everything else stays as it is, so that the reader of
//! traces reads both. Contents of Gemini keep their form. Events are written as log records
//! (`message_to_event` in `opentelemetry-instrumentation-openai-v2` and in the extension for Bedrock of
//! `opentelemetry-instrumentation-botocore`), as events of spans with JSON in strings (`src/strands/telemetry/tracer.py` of
//! Strands, `gen_ai.event.content` of Azure's SDK), and as JSON in an attribute (`InstrumentedModel._emit_events` of
//! pydantic-ai).

use toolcheck_json::{Document, Value};

use super::{Container, HEAD, head_has, lines};
use crate::needs::Needs;
#[cfg(feature = "otel")]
use messages::read;

#[cfg(feature = "otel")]
mod messages;

pub(super) static CONTAINER: Container =
    Container { id: "otel-events", name: "OpenTelemetry events", needs: Needs::Otel, sniff, read };

/// How many lines, and values of each, are looked at for an event.
const LINES: usize = 32;
const VALUES: usize = 20_000;

fn sniff(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(HEAD)];
    // Most files have no such key, and need not be read.
    if !matches!(head.trim_ascii_start().first(), Some(b'{' | b'[')) || !head_has(head, b"gen_ai.") {
        return false;
    }
    let is_own = |value: Value<'_, '_>| {
        Event::of(value).is_some()
            || value.get_str("key").is_some_and(|key| key.ends_with("messages"))
                && value.get("value").and_then(|value| value.get("arrayValue")).is_some()
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

/// A value and all that is in it.
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
    value.as_json_str().is_some() && memchr::memmem::find(value.raw(), br#"\"event.name\""#).is_some()
}

#[cfg(not(feature = "otel"))]
fn read(_: &[u8], _: crate::Limits) -> Option<crate::Opened> {
    None
}

/// The attribute in which Azure's SDK has the whole of an event.
const CONTENT: &str = "gen_ai.event.content";

/// An event that is a message.
struct Event<'d, 's> {
    /// The place of its name, and the role that this says.
    name: Value<'d, 's>,
    role: &'static str,
    is_choice: bool,
    /// What holds the message; `None` if nothing was recorded of it.
    body: Option<Value<'d, 's>>,
    /// The span that it belongs to.
    span: Option<Value<'d, 's>>,
}

impl<'d, 's> Event<'d, 's> {
    fn of(value: Value<'d, 's>) -> Option<Self> {
        if !value.is_object() {
            return None;
        }
        let attributes = value.get("attributes");
        let is_flat = value.get("event.name").is_some();
        let name = value.get_any(&["event.name", "eventName", "event_name", "name"]);
        let own = |name: Value<'d, 's>| Some((name, role_of(&name.as_str()?)?));
        let (name, (role, is_choice)) = name.and_then(own).or_else(|| own(attributes?.get("event.name")?))?;
        let content = attributes.and_then(|own| own.get(CONTENT));
        let body = content.filter(|body| body.is_object()).or_else(|| value.get("body"));
        let body = body.or(if is_flat { Some(value) } else { attributes }).filter(|body| body.is_object());
        let span = value.get_any(&["spanId", "span_id"]).filter(|span| !span.is_null());
        Some(Self { name, role, is_choice, body, span })
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
