//! OpenTelemetry traces of model calls: messages with parts in `gen_ai.input.messages`, mostly as JSON in a string, and the
//! flat keys of earlier conventions (`gen_ai.prompt.0.content`).

use toolcheck_json::Value;

use super::{Reader, lists, search, spans, traces, vercel_ai};
use crate::claim::certainty;
use crate::unread;

pub(super) static READER: Reader =
    Reader::trace("otel-genai", "OpenTelemetry trace of model calls", sniff, |records| {
        search::read_as(&READER, records)
    });

/// The attributes that hold messages. Pydantic AI has those of a whole run under a key of its own.
const MESSAGES: [&str; 3] = ["gen_ai.input.messages", "gen_ai.output.messages", "pydantic_ai.all_messages"];

/// The attribute of Vercel's AI SDK that holds messages, in a form of its own.
const OF_SDK: &str = "ai.prompt.messages";

/// The attribute of Google's ADK that holds a request to Gemini (`src/google/adk/telemetry/tracing.py`).
const OF_ADK: &str = "gcp.vertex.agent.llm_request";

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    let is_own_key = |key: &str, value: Value<'_, '_>| {
        let key = spans::attribute_name(key);
        let is_list = |list: Value<'_, '_>| spans::has_parts(list) || lists::is_list(list);
        MESSAGES.contains(&key) && unread::unwrapped(value, is_list)
            || key == OF_SDK && unread::unwrapped(value, vercel_ai::is_list)
            || key == OF_ADK
                && unread::unwrapped(value, |sent| sent.get("contents").is_some_and(lists::is_list))
            || key.starts_with("gen_ai.") && spans::is_flat_key(key)
    };
    let is_list = |record: Value<'_, '_>| {
        record.is_array() && spans::has_parts(record)
            || record.is_object() && record.get("messages").is_some_and(spans::has_parts)
    };
    let is_own = |record: &Value<'_, '_>| is_list(*record) || traces::any_attribute(*record, is_own_key);
    // Under the keys of another tracer, what was sent stands in a trace of this form too.
    let is_sent = |value: Value<'_, '_>| {
        lists::is_list(value) || value.get_any(&["messages", "input"]).is_some_and(lists::is_list)
    };
    let is_other = |record: &Value<'_, '_>| {
        record.get_any(&["resourceSpans", "scopeSpans"]).is_some()
            && traces::any_attribute(*record, |_, value| unread::unwrapped(value, is_sent))
    };
    match () {
        () if records.iter().any(is_own) => certainty::LIKELY,
        () if records.iter().any(is_other) => certainty::SURE,
        () => 0,
    }
}
