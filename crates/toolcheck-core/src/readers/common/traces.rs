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

/// The keys under which spans of models alone have what was sent, and those of the answers to it.
const ANSWERS: [(&str, &str); 4] = [
    ("gen_ai.input.messages", "gen_ai.output.messages"),
    ("gen_ai.request.messages", "gen_ai.response.text"),
    ("ai.prompt.messages", "ai.response.text"),
    ("$ai_input", "$ai_output_choices"),
];

/// Whether a model has answered the messages that a span has under a key, so that nothing was open at their end. A span of
/// something else than a model may have carried out the last calls itself.
pub(crate) fn is_answered(span: Value<'_, '_>, key: &str) -> bool {
    let kind = |key: &str| span.get_str(key);
    let answer = if key == "input" {
        let own = span.get("span_attributes").and_then(|own| own.get_str("type"));
        let is_of_model = kind("type").as_deref() == Some("GENERATION") || own.as_deref() == Some("llm");
        is_of_model.then_some("output")
    } else {
        // Spans of agents have the messages of a whole run.
        let is_of_model =
            matches!(kind("gen_ai.operation.name").as_deref(), None | Some("chat" | "generate_content"));
        ANSWERS.iter().find(|(asked, _)| is_of_model && *asked == key).map(|(_, answer)| *answer)
    };
    let said = answer.and_then(|answer| span.get(answer));
    said.is_some_and(|said| is_filled(said) && said.get_str("role").as_deref() != Some("tool"))
}

/// Whether a member of a span is the request or the response that OpenInference has beside the messages of both.
pub(crate) fn repeats(span: Value<'_, '_>, member: Value<'_, '_>) -> bool {
    let is_value = || {
        let key = member.key_text().unwrap_or_default();
        matches!(key.strip_prefix("attributes.").unwrap_or(&key), "input.value" | "output.value")
    };
    let has_flat = || span.get_any(&["llm.input_messages", "attributes.llm.input_messages"]).is_some();
    let is_inner = ["input", "output"].iter().any(|key| member.has_key(key)) && member.get("value").is_some();
    is_inner && span.get("llm").is_some_and(|llm| llm.get("input_messages").is_some())
        || is_value() && has_flat()
}

fn is_filled(value: Value<'_, '_>) -> bool {
    value.children().next().is_some() || value.as_json_str().is_some_and(|text| !text.is_empty())
}
