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

use super::{Container, HEAD, START, head_has};
use crate::needs::Needs;
#[cfg(feature = "otel")]
use messages::{holds_events, read};

#[cfg(feature = "otel")]
mod messages;

pub(super) static CONTAINER: Container =
    Container { id: "otel-events", name: "OpenTelemetry events", needs: Needs::Otel, sniff, read };

/// What a file with events has, in the first bytes of it. A text that quotes them has other quotes.
const MARKS: [&[u8]; 5] = [
    b"\"gen_ai.user.message\"",
    b"\"gen_ai.assistant.message\"",
    b"\"gen_ai.tool.message\"",
    b"\"gen_ai.choice\"",
    br#"\"event.name\""#,
];

fn sniff(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(HEAD)];
    // Most files have no such key, and need not be read.
    matches!(head.trim_ascii_start().first(), Some(b'{' | b'['))
        && head_has(&head[..head.len().min(START)], b"gen_ai.")
        && (MARKS.iter().any(|mark| head_has(head, mark)) || is_structured(head))
        && holds_events(head)
}

/// How far from the name of an attribute its type is.
const TYPE: usize = 200;

/// Whether messages seem to be a list, and not its text.
fn is_structured(head: &[u8]) -> bool {
    memchr::memmem::find_iter(head, b"messages\"").any(|at| {
        let near = &head[at..head.len().min(at + TYPE)];
        memchr::memmem::find(near, b"\"arrayValue\"").is_some()
    })
}

/// Where events are not read, what a file has is told by the marks alone.
#[cfg(not(feature = "otel"))]
fn holds_events(_: &[u8]) -> bool {
    true
}

#[cfg(not(feature = "otel"))]
fn read(_: &[u8], _: crate::Limits) -> Option<crate::Opened> {
    None
}
