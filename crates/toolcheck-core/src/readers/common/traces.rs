//! What the readers of traces share: how they know a trace, and what in it holds messages.

use toolcheck_json::Value;

use super::spans;

use crate::names::words;

const VALUES_LOOKED_AT: usize = 20_000;

/// Keys at the top of what traces are exported as.
const TOPS: [&str; 9] = words(
    "resourceSpans resource_spans scopeSpans resourceLogs spans attributes trace observations \
    span_attributes",
);

fn may_be_trace(record: Value<'_, '_>) -> bool {
    let is_own = |member: Value<'_, '_>| {
        TOPS.iter().any(|key| member.has_key(key))
            || member.plain_key().is_some_and(|key| {
                key.starts_with(b"gen_ai.") || key.starts_with(b"llm.") || key.starts_with(b"attributes.")
            })
    };
    record.members().any(is_own)
        || record.elements().next().is_some_and(|first| {
            first.members().any(is_own) || first.get_str("key").is_some_and(|key| key.contains('.'))
        })
}

/// Whether the attributes of the spans in a record have a key that is as wanted.
pub(crate) fn any_attribute(record: Value<'_, '_>, is_wanted: impl Fn(&str, Value<'_, '_>) -> bool) -> bool {
    if !may_be_trace(record) {
        return false;
    }
    let mut stack = vec![record];
    let mut count = 0;
    while let Some(value) = stack.pop() {
        count += 1;
        if count > VALUES_LOOKED_AT {
            return false;
        }
        if spans::attributes(value).any(|(key, value)| is_filled(value) && is_wanted(&key, value)) {
            return true;
        }
        // The next one is at the end.
        let first = stack.len();
        stack.extend(value.children().filter(|child| child.children().next().is_some()));
        stack[first..].reverse();
    }
    false
}

/// Whether a model has answered the messages that a span has under a key, so that nothing was open at their end. A span of
/// something else than a model may have carried out the last calls itself.
pub(crate) fn is_answered(span: Value<'_, '_>, key: &str) -> bool {
    let names = |key: &str, kinds: &[&str]| span.get_str(key).is_some_and(|kind| kinds.contains(&&*kind));
    let is_of_model = || {
        let kind = span.get("span_attributes").and_then(|own| own.get_str("type"));
        names("type", &["GENERATION"]) || kind.as_deref() == Some("llm")
    };
    let answer = match key {
        "input" if is_of_model() => "output",
        "gen_ai.input.messages" if names("gen_ai.operation.name", &["chat", "generate_content"]) => {
            "gen_ai.output.messages"
        }
        _ => return false,
    };
    span.get(answer).is_some_and(|said| is_filled(said) && said.get_str("role").as_deref() != Some("tool"))
}

fn is_filled(value: Value<'_, '_>) -> bool {
    value.children().next().is_some() || value.as_json_str().is_some_and(|text| !text.is_empty())
}
