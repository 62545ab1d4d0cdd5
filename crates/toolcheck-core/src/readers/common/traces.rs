//! What the readers of traces share: how they know a trace, and what in it holds messages.

use std::borrow::Cow;

use foldhash::HashSet;
use toolcheck_json::{Value, contains};

use super::{Conversation, lists, spans};
use crate::ir::{Body, Transcript};
use crate::names::words;
use crate::unread::{self, is_filled};
use crate::unsupported;

const VALUES_LOOKED_AT: usize = 20_000;

/// Keys of what an exporter of OpenTelemetry writes at once, and those of metrics.
const BATCHES: [&str; 4] = words("resourceSpans resource_spans scopeSpans resourceLogs");
const METRICS: [&str; 2] = words("resourceMetrics resource_metrics");

/// Whether a record is a batch of what programs tell of themselves, most of which are no messages. One with a word for calls
/// may have them in a form that is not read.
pub(crate) fn is_batch(record: Value<'_, '_>) -> bool {
    BATCHES.iter().chain(&METRICS).any(|key| record.has_list(key))
        && ["tool_call", "toolCall", "tool_use", "toolUse"]
            .iter()
            .all(|word| !contains(record.raw(), word.as_bytes()))
}

fn may_be_trace(record: Value<'_, '_>) -> bool {
    // Keys at the top of what traces are exported as.
    let is_own = |member: Value<'_, '_>| {
        member.plain_key().is_some_and(|key| match key {
            b"spans" | b"attributes" | b"trace" | b"observations" | b"span_attributes" => true,
            key if [&b"gen_ai."[..], b"llm.", b"attributes."].iter().any(|own| key.starts_with(own)) => true,
            key => BATCHES.iter().any(|batch| batch.as_bytes() == key),
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

/// The keys under which spans have what was sent, and those of what came back.
const SIDES: [(&str, &str); 17] = [
    ("gen_ai.input.messages", "gen_ai.output.messages"),
    ("gen_ai.request.messages", "gen_ai.response.text"),
    ("ai.prompt.messages", "ai.response.text"),
    ("ai.prompt.messages", "ai.response.toolCalls"),
    ("gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_response"),
    ("$ai_input", "$ai_output_choices"),
    ("langfuse.observation.input", "langfuse.observation.output"),
    ("mlflow.spanInputs", "mlflow.spanOutputs"),
    ("input", "output"),
    ("inputs", "outputs"),
    // Examples of data sets for evaluations: Braintrust's and Langfuse's.
    ("input", "expected"),
    ("input", "expectedOutput"),
    ("input", "expected_output"),
    // Samples of <https://github.com/openai/evals/blob/main/docs/build-eval.md>.
    ("input", "ideal"),
    // Weave, and LiteLLM.
    ("inputs", "output"),
    ("messages", "response"),
    ("proxy_server_request", "response"),
];

/// The keys that say what a span is of, where those of its sides do not.
const KINDS: [&str; 6] = words("run_type spanType span_type call_type kind type");

/// What those keys say of a span in which a model, and nothing else, has said something.
const OF_MODELS: [&str; 10] = words(
    "llm chat chat_model generation generate_content completion acompletion responses aresponses \
    anthropic_messages",
);

/// What a span says of what one of its members holds.
#[derive(Clone, Copy, Default)]
pub(crate) struct Side<'d, 's> {
    /// What a model said to it, so that nothing was open at its end.
    pub(crate) answer: Option<Value<'d, 's>>,
    /// The tools that were sent.
    pub(crate) tools: Option<Value<'d, 's>>,
    /// Whether it is a side of a span, and not of an example for a model.
    pub(crate) is_known: bool,
    /// Whether it was sent to a model from which nothing came back: the API has refused it, or the tracer keeps no answers.
    is_sent: bool,
}

impl<'d, 's> Side<'d, 's> {
    /// The side that a member or an attribute with this key is, in a side of another span.
    pub(crate) fn within(self, span: Value<'d, 's>, key: &str) -> Self {
        match Self::of(span, key) {
            // A body under the key of a side has keys like those of sides.
            Some(inner) if inner.answer.is_some() || inner.is_known || !self.is_known => inner,
            _ => self,
        }
    }

    /// The side that a member or an attribute with this key is.
    pub(crate) fn of(span: Value<'d, 's>, key: &str) -> Option<Self> {
        if key == "llm" || key.ends_with("llm.input_messages") {
            return is_request(span).then(|| Self { is_known: true, is_sent: true, ..Self::default() });
        }
        let of = |key: &str| attribute(span, key).filter(|value| is_filled(*value));
        let mut pairs = SIDES.iter().filter(|(asked, said)| *asked == key || *said == key);
        let pair = pairs.clone().find_map(|(name, said)| Some((*name, of(name)?, of(said)?)));
        let Some((name, asked, said)) = pair else {
            let is_asked = pairs.clone().any(|(asked, _)| *asked == key);
            let is_plain = pairs.any(|(asked, _)| asked.starts_with("input"));
            let is_sent = is_asked && says_model(span, key) == Some(true);
            let may_be_sent = is_sent && (is_own(key) || span.has("call_type"));
            let tools = tools(span, of(key).filter(|_| is_plain || may_be_sent)?);
            return Some(Self { answer: None, tools, is_known: is_own(key) || is_span(span), is_sent });
        };
        let is_known = is_own(name) || is_span(span);
        let is_answer = || is_of_model(span, name, asked, said) || !is_known && is_last_word(said);
        let is_answered = name == key && is_answer() && is_of_assistant(said);
        let answer = is_answered.then_some(said);
        Some(Self { answer, tools: tools(span, asked), is_known, is_sent: false })
    }

    /// Whether nothing was open at the end of a transcript: a model has answered it, or was sent it without a result.
    pub(crate) fn is_over(self, transcript: &Transcript<'_>) -> bool {
        self.answers(transcript) || self.is_sent && lacks_result(transcript)
    }

    /// Whether a model has answered the messages of a transcript: what came back is not a call that was open again.
    fn answers(self, transcript: &Transcript<'_>) -> bool {
        let Some(answer) = self.answer else { return false };
        let answered: HashSet<&str> = transcript.result_ids().collect();
        let mut calls = transcript.call_ids().filter(|id| !answered.contains(id));
        let mut open = calls.by_ref().take(CALLS_LOOKED_AT);
        let is_again = |id: &str| contains(answer.raw(), id.as_bytes());
        !open.any(is_again) && calls.next().is_none()
    }
}

fn attribute<'d, 's>(span: Value<'d, 's>, key: &str) -> Option<Value<'d, 's>> {
    span.get(key).or_else(|| spans::attributes(span).find(|(own, _)| own == key).map(|(_, value)| value))
}

/// Whether only spans have a key.
fn is_own(key: &str) -> bool {
    key.contains(['.', '$'])
}

/// Whether an object with sides is a span: it says of what, or when it was.
pub(crate) fn is_span(span: Value<'_, '_>) -> bool {
    const KEYS: [&str; 9] =
        words("span_attributes trace_id traceId span_id spanId start_time startTime started_at observations");
    span.get_any(&KINDS).or_else(|| span.get_any(&KEYS)).is_some() || of_datadog(span).is_some()
}

/// What the details of a span of Datadog say that it is of (`ddtrace/llmobs/_llmobs.py` of DataDog/dd-trace-py).
fn of_datadog<'s>(details: Value<'_, 's>) -> Option<Cow<'s, str>> {
    details.get("span")?.get_str("kind")
}

/// Whether what stands beside the messages of an example is a message of a model without calls, which goes on from them, or
/// the sentence that it is to say: another text may be a word for what is right.
fn is_last_word(said: Value<'_, '_>) -> bool {
    let is_sentence = |text: &str| text.trim_end().ends_with(['.', '!', '?', '。']) && text.contains(' ');
    if said.has_key("ideal") && said.as_str().is_some_and(|text| is_sentence(&text)) {
        return true;
    }
    unread::unwrapped(said, |said| {
        let message = if lists::is_plain(said) { Some(said) } else { lists::wrapped(said) };
        message.is_some_and(|message| message.get("content").is_some_and(is_filled))
            && unread::in_answer(said).is_none()
    })
}

/// Whether a span is of one request to a model. One of something else may have carried out the last calls itself.
fn is_of_model(span: Value<'_, '_>, key: &str, asked: Value<'_, '_>, said: Value<'_, '_>) -> bool {
    let of_response = || asked.has("model") && unread::unwrapped(said, unsupported::is_response);
    says_model(span, key).unwrap_or_else(|| is_own(key) || of_response())
}

/// Whether a span says of itself that it is of a request to a model, or of something else.
fn says_model(span: Value<'_, '_>, key: &str) -> Option<bool> {
    let kinds = match key {
        "mlflow.spanInputs" => &["mlflow.spanType"],
        _ if is_own(key) => &["gen_ai.operation.name"],
        _ => &KINDS[..],
    };
    // Braintrust.
    let of_attributes = || span.get("span_attributes")?.get_str("type");
    let kind = kinds.iter().find_map(|kind| attribute(span, kind)?.as_str()).or_else(of_attributes);
    kind.or_else(|| of_datadog(span)).or_else(|| of_weave(span)).map(|kind| is_kind_of_model(&kind))
}

/// Whether an object says of itself that it is of one request to a model. The `type` and the `kind` of anything may be `chat`.
pub(crate) fn is_of_model_alone(span: Value<'_, '_>) -> bool {
    const OF_SPANS: [&str; 5] = words("run_type spanType span_type call_type span_kind");
    OF_SPANS.iter().any(|key| span.get_str(key).is_some_and(|kind| is_kind_of_model(&kind)))
}

fn is_kind_of_model(kind: &str) -> bool {
    OF_MODELS.contains(&&*kind.trim_matches('"').to_ascii_lowercase())
}

/// What a call of Weave is of, where a client of an API was called (`weave/integrations` of wandb/weave).
fn of_weave<'s>(call: Value<'_, 's>) -> Option<Cow<'s, str>> {
    let name = call.get_str("op_name")?;
    ["chat.completions.create", "essages.create"].iter().any(|of| name.contains(of)).then_some("llm".into())
}

/// Whether the attributes of a span, or the span with them, are those of a request to a model, and whole: a tracer may keep no
/// more than 128 (`OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT` of OpenTelemetry).
pub(crate) fn is_request(span: Value<'_, '_>) -> bool {
    const KINDS: [&str; 5] = words(
        "openinference.span.kind attributes.openinference.span.kind span_kind llm.request.type \
        gen_ai.operation.name",
    );
    let nested = || span.get("openinference")?.get("span")?.get_str("kind");
    let kind = KINDS.iter().find_map(|kind| attribute(span, kind)?.as_str()).or_else(nested);
    span.count() < MOST_ATTRIBUTES && is_whole(span) && kind.is_some_and(|kind| is_kind_of_model(&kind))
}

const MOST_ATTRIBUTES: usize = 128;

/// Whether a span has all attributes that were set: OpenTelemetry counts those that it has dropped.
pub(crate) fn is_whole(span: Value<'_, '_>) -> bool {
    let dropped = span.get_any(&["droppedAttributesCount", "dropped_attributes_count"]);
    dropped.is_none_or(|count| count.raw() == b"0")
}

/// Whether a transcript ends with results, and not with those of all calls.
pub(crate) fn lacks_result(transcript: &Transcript<'_>) -> bool {
    let answered: HashSet<&str> = transcript.result_ids().collect();
    matches!(transcript.parts.last().map(|part| &part.body), Some(Body::Result(_)))
        && transcript.call_ids().any(|id| !answered.contains(id))
}

/// Whether nobody else than a model speaks in what came back.
fn is_of_assistant(said: Value<'_, '_>) -> bool {
    unread::unwrapped(said, |said| {
        let mut stack = vec![said];
        for _ in 0..ROLES_LOOKED_AT {
            let Some(value) = stack.pop() else { break };
            match value.get_str("role").as_deref() {
                Some("assistant" | "model" | "ai" | "ASSISTANT") => {}
                Some(_) => return false,
                None => stack.extend(value.children()),
            }
        }
        true
    })
}

const ROLES_LOOKED_AT: usize = 256;

/// How many open calls are looked for in an answer, which may be as long as the file.
const CALLS_LOOKED_AT: usize = 64;

/// Adds the tools of a span to the conversations that were read from it, if these have none.
pub(crate) fn add_tools<'s>(span: Value<'_, 's>, conversations: &mut [Conversation<'s>]) {
    let asked = span.get_any(&["input", "inputs"]).unwrap_or(span);
    let Some(tools) = tools(span, asked) else { return };
    // They are read again for each.
    for conversation in conversations.iter_mut().take(CONVERSATIONS_OF_SPAN) {
        lists::add_definitions(&mut conversation.transcript, Some(tools));
    }
}

/// How many conversations a span has that are given its tools: what was sent, and what came back.
const CONVERSATIONS_OF_SPAN: usize = 8;

/// The tools of a span: its own, or those beside what was sent.
fn tools<'d, 's>(span: Value<'d, 's>, asked: Value<'d, 's>) -> Option<Value<'d, 's>> {
    // Braintrust, and LangSmith.
    let params = span.get_in(&["extra", "invocation_params"]);
    let places = [Some(span), span.get("metadata"), params, Some(asked)];
    let mut tools = places.into_iter().flatten().filter_map(|place| place.get_any(&lists::TOOLS));
    tools.find(|tools| is_filled(*tools))
}

/// Whether a member of a span is the request or the response that OpenInference has beside the messages of both, or the answer,
/// which is read with what was sent.
pub(crate) fn repeats(span: Value<'_, '_>, member: Value<'_, '_>) -> bool {
    let is_value = || {
        let key = member.key_text().unwrap_or_default();
        matches!(spans::attribute_name(&key), "input.value" | "output.value")
    };
    let is_answer = spans::WRAPPED
        .iter()
        .any(|[sent, said]| member.has_key(said) && span.get(sent).is_some_and(spans::has_wrapped));
    let has_flat = || span.get_any(&["llm.input_messages", "attributes.llm.input_messages"]).is_some();
    let is_inner = ["input", "output"].iter().any(|key| member.has_key(key)) && member.has("value");
    is_answer || is_inner && span.get_in(&["llm", "input_messages"]).is_some() || is_value() && has_flat()
}
