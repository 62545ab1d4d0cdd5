//! What is lost or printed twice of messages.

use toolcheck_json::{Document, Value};

use crate::convert::{Change, Changes, InputPart, Source};
use crate::evidence::{Evidence, has_words};
use crate::findings::{Findings, Kind, Part};
use crate::input::Preparation;
use crate::prepare::medium;

/// The keys of a message that hold the reasoning of an assistant.
pub(crate) const REASONING: [&str; 3] = ["reasoning_content", "reasoning", "thinking"];

pub(crate) fn examine(findings: &mut Findings<'_>) {
    let messages: Vec<Value<'_, '_>> = findings.evidence.input.messages.children().collect();
    let last_user = messages.iter().rposition(|message| role(*message) == "user").unwrap_or(0);
    for (at, message) in messages.iter().enumerate() {
        let is_earlier = at < last_user;
        texts(findings, *message, is_earlier);
        reasoning(findings, *message, is_earlier);
        let calls = message.get("tool_calls").filter(|calls| calls.is_array());
        for call in calls.into_iter().flat_map(Value::children) {
            self::call(findings, call, "tool_calls");
        }
        if let Some(call) = message.get("function_call").filter(|call| call.is_object()) {
            self::call(findings, call, "function_call");
        }
    }
}

pub(crate) fn role(message: Value<'_, '_>) -> String {
    message.get_str("role").unwrap_or_default().into_owned()
}

pub(crate) fn texts_of<'d>(message: Value<'d, 'd>) -> Vec<Value<'d, 'd>> {
    // A refusal is in the place of the content.
    let content = message.get("content").filter(|content| !content.is_null());
    let Some(content) = content.or_else(|| message.get("refusal")) else { return Vec::new() };
    if !content.is_array() {
        return Vec::from_iter(content.as_str().map(|_| content));
    }
    content.children().filter_map(|part| part.get("text").filter(|text| text.as_str().is_some())).collect()
}

fn texts(findings: &mut Findings<'_>, message: Value<'_, '_>, is_earlier: bool) {
    let part = match role(message).as_str() {
        "system" | "developer" => Part::SystemText,
        "assistant" => Part::AssistantText,
        "tool" | "function" => Part::Result,
        _ => Part::UserText,
    };
    for value in texts_of(message) {
        let evidence = findings.evidence;
        let Some(number) = evidence.numbers(InputPart::Messages, value).first().copied() else { continue };
        let text = value.as_str().unwrap_or_default();
        if !text.chars().any(char::is_alphanumeric) {
            continue;
        }
        if evidence.places(number).is_empty() {
            let mut lost = findings.observation(Kind::Loses, part, (InputPart::Messages, value));
            lost.note = if value.has_key("refusal") {
                "the template does not render `refusal`".to_owned()
            } else {
                role_note(evidence, message)
            };
            findings.suspect(lost, &[number]);
            continue;
        }
        if evidence.copies(number) > 1 {
            let twice = findings.observation(Kind::Doubles, part, (InputPart::Messages, value));
            findings.observations.push(twice);
        }
        partly(findings, (value, number), part, is_earlier);
    }
}

/// Looks for images, sounds and videos that have no place in the prompt.
pub(crate) fn media(findings: &mut Findings<'_>) {
    let evidence = findings.evidence;
    let contents = evidence.input.messages.children().filter_map(|message| message.get("content"));
    let parts = contents.filter(|content| content.is_array()).flat_map(Value::children);
    let media = parts.filter(|part| part.get("text").is_none()).filter_map(|part| {
        Some((part, *evidence.numbers(InputPart::Messages, part).first()?, medium(part)?))
    });
    let media: Vec<_> = media.collect();
    let as_served = media.iter().map(|(_, number, medium)| (*number, Change::Part(Some(*medium)))).collect();
    let are_known = match evidence.input.preparation {
        Preparation::Vllm => true,
        // The server may be one that writes them as templates for images expect it.
        Preparation::AsGiven => evidence.is_same_with(&as_served),
        // It puts a text of its own in their place.
        Preparation::LlamaCpp => false,
    };
    if !are_known {
        return;
    }
    for (part, number, medium) in media {
        let mut lost = findings.observation(Kind::Loses, Part::Medium, (InputPart::Messages, part));
        lost.note = format!("the template has no place for this {medium}");
        findings.suspect_with(lost, Changes::from([(number, Change::Part(None))]));
    }
}

/// What explains the loss of a whole message.
fn role_note(evidence: &Evidence<'_>, message: Value<'_, '_>) -> String {
    let role = role(message);
    let source = evidence.template.source(evidence.input.tools.is_some());
    let is_known = [format!("'{role}'"), format!("\"{role}\"")].iter().any(|quoted| source.contains(quoted));
    let known = ["system", "developer", "user", "assistant", "tool"].contains(&role.as_str());
    if is_known || !known { String::new() } else { format!("the template does not know the role `{role}`") }
}

/// A text of which a part is lost, such as the reasoning in it.
fn partly(findings: &mut Findings<'_>, (value, number): (Value<'_, '_>, u32), part: Part, is_earlier: bool) {
    let evidence = findings.evidence;
    let missing = evidence.missing(number);
    if missing.is_empty() {
        return;
    }
    let text = value.as_str().unwrap_or_default();
    let is_reasoning = part == Part::AssistantText
        && missing
            .iter()
            .all(|range| text[range.end..].contains("</think") || text[range.clone()].contains("</think"));
    let part = if is_reasoning { Part::Reasoning } else { part };
    let mut lost = findings.observation(Kind::Loses, part, (InputPart::Messages, value));
    lost.by_design = is_reasoning && is_earlier;
    lost.note = if is_reasoning {
        "the reasoning before the answer is left out".to_owned()
    } else {
        "a part of the text is left out".to_owned()
    };
    let change = evidence.change_of(number, &missing);
    findings.suspect_with(lost, change.map(|change| (number, change)).into_iter().collect());
}

fn reasoning(findings: &mut Findings<'_>, message: Value<'_, '_>, is_earlier: bool) {
    let evidence = findings.evidence;
    let mut numbers = Vec::new();
    let mut first = None;
    for key in REASONING {
        let Some(value) = message.get(key) else { continue };
        if !value.as_str().is_some_and(|text| has_words(&text)) {
            continue;
        }
        let own = evidence.numbers(InputPart::Messages, value);
        if own.iter().any(|number| !evidence.places(*number).is_empty()) {
            return;
        }
        numbers.extend_from_slice(own);
        first = first.or(Some((key, value)));
    }
    let Some((key, value)) = first else { return };
    let source = evidence.template.source(evidence.input.tools.is_some());
    let knows = REASONING.iter().any(|name| source.contains(name));
    let mut lost = findings.observation(Kind::Loses, Part::Reasoning, (InputPart::Messages, value));
    lost.by_design = knows && is_earlier;
    if !knows {
        lost.note = "the template does not render reasoning".to_owned();
    } else if !source.contains(key) {
        lost.note = format!("the template reads reasoning from another key than `{key}`");
    }
    findings.suspect(lost, &numbers);
}

fn call(findings: &mut Findings<'_>, call: Value<'_, '_>, key: &str) {
    let evidence = findings.evidence;
    let function = call.get("function").filter(|function| function.is_object()).unwrap_or(call);
    let of = InputPart::Messages;
    let name = function.get("name").map(|name| evidence.leaves(of, name)).unwrap_or_default();
    let arguments = function.get("arguments");
    let leaves = arguments.map(|arguments| evidence.leaves(of, arguments)).unwrap_or_default();
    let numbers: Vec<u32> = name.iter().chain(&leaves).map(|leaf| leaf.number).collect();
    let is_read = name.iter().chain(&leaves).any(|leaf| leaf.is_read);
    let id = call.get("id").filter(|id| evidence.leaves(of, *id).iter().any(|leaf| leaf.is_read));
    // Of a call without arguments, the id may be all that shows it.
    if !is_read && (id.is_none() || !leaves.is_empty()) {
        let mut lost = findings.observation(Kind::Loses, Part::Call, (of, call));
        if !evidence.template.source(evidence.input.tools.is_some()).contains(key) {
            lost.note = match key {
                "tool_calls" => "the template does not render tool calls".to_owned(),
                other => format!("the template does not render `{other}`"),
            };
        }
        findings.suspect(lost, &numbers);
        return;
    }
    if let (Some(value), [leaf]) = (function.get("name"), &name[..])
        && !leaf.is_read
        && !id.is_some_and(|id| has_name(id, value))
    {
        let lost = findings.observation(Kind::Loses, Part::CallName, (of, value));
        findings.suspect(lost, &[leaf.number]);
    }
    let Some(arguments) = arguments else { return };
    if !leaves.is_empty() && leaves.iter().all(|leaf| !leaf.is_read) {
        let lost = findings.observation(Kind::Loses, Part::Argument, (of, arguments));
        let numbers: Vec<u32> = leaves.iter().map(|leaf| leaf.number).collect();
        findings.suspect(lost, &numbers);
        return;
    }
    for leaf in leaves.iter().filter(|leaf| !leaf.is_read && leaf.counts) {
        let source = &evidence.traced.sources[leaf.number as usize];
        let value = arguments.document().value(source.node);
        let mut lost = findings.observation(Kind::Loses, Part::Argument, (of, value));
        lost.inner = source.inner.clone();
        findings.suspect(lost, &[leaf.number]);
    }
    encoded_twice(findings, arguments);
    if evidence.input.preparation == Preparation::LlamaCpp && evidence.numbers(of, arguments).len() > 1 {
        other_number(findings, arguments);
    }
}

/// Whether an id has the name of the tool in it, as Kimi K2 gives them: `functions.tide:0`.
fn has_name(id: Value<'_, '_>, name: Value<'_, '_>) -> bool {
    let (id, name) = (id.as_str().unwrap_or_default(), name.as_str().unwrap_or_default());
    let inside = id.strip_prefix("functions.").and_then(|rest| rest.rsplit_once(':'));
    inside.is_some_and(|(inside, _)| inside == name)
}

/// An integer that llama.cpp reads as another, because it keeps a sign.
fn other_number(findings: &mut Findings<'_>, arguments: Value<'_, '_>) {
    let text = arguments.as_str().unwrap_or_default();
    let document = Document::read(text.as_bytes());
    let mut left = vec![document.root()];
    while let Some(value) = left.pop() {
        if value.as_u64().is_some_and(|number| i64::try_from(number).is_err()) {
            let mut other =
                findings.observation(Kind::Loses, Part::Argument, (InputPart::Messages, arguments));
            other.inner = toolcheck_json::pointers(&document, &[value.id()]).pop().unwrap_or_default();
            other.note =
                "llama.cpp reads integers above 9223372036854775807 as others: write a text".to_owned();
            findings.observations.push(other);
        }
        left.extend(value.children());
    }
}

/// Arguments that were printed as the text of a text: `"{\"city\": ...}"`.
fn encoded_twice(findings: &mut Findings<'_>, arguments: Value<'_, '_>) {
    let evidence = findings.evidence;
    let prompt = &evidence.traced.prompt.text;
    let is_escaped = evidence.numbers(InputPart::Messages, arguments).iter().any(|number| {
        let source = &evidence.traced.sources[*number as usize];
        let begins = |place: &crate::evidence::Place| {
            let printed = &prompt[place.start..place.end];
            let quoted =
                prompt[..place.start].chars().next_back().filter(|quote| matches!(quote, '"' | '\''));
            let is_quoted = quoted.is_some_and(|quote| prompt[place.end..].starts_with(quote));
            is_object(source, printed)
                && is_quoted
                && (printed.contains("\\\"") || is_in_object(evidence, *place))
        };
        evidence.places(*number).iter().any(begins)
    });
    if is_escaped {
        let mut twice = findings.observation(Kind::Doubles, Part::Argument, (InputPart::Messages, arguments));
        twice.note = "the arguments are encoded twice, as the text of a text".to_owned();
        findings.observations.push(twice);
    }
}

fn is_object(source: &Source, printed: &str) -> bool {
    let Some(text) = source.text.as_deref() else { return false };
    text.trim_start().starts_with('{') && text.contains('"') && printed.trim_start().starts_with('{')
}

/// Whether a place is inside an object of the request that was printed as a whole.
fn is_in_object(evidence: &Evidence<'_>, place: crate::evidence::Place) -> bool {
    evidence.traced.marks.iter().any(|mark| {
        let source = &evidence.traced.sources[mark.source as usize];
        let is_around = (mark.start as usize) < place.start && place.end < mark.end as usize;
        is_around && matches!(source.kind, toolcheck_json::Kind::Object)
    })
}

/// Looks for `None` in the place of content that is `null`.
pub(crate) fn nulls(findings: &mut Findings<'_>) {
    let evidence = findings.evidence;
    let none = |prompt: &str| prompt.matches("None").count();
    let before = none(&evidence.traced.prompt.text);
    if before == 0 {
        return;
    }
    let mut found = Vec::new();
    let said =
        |message| std::iter::once("content").chain(REASONING).filter_map(move |key| Value::get(message, key));
    let said = evidence
        .input
        .messages
        .children()
        .flat_map(|message| said(message).map(move |value| (value, message)));
    for (content, message) in said.filter(|(value, _)| value.is_null()) {
        let Some(number) = evidence.numbers(InputPart::Messages, content).first().copied() else { continue };
        let changes = Changes::from([(number, Change::Text("".into()))]);
        if evidence.prompt_with(&changes).is_some_and(|prompt| none(&prompt) < before) {
            found.push((content, message));
        }
    }
    for (content, message) in found {
        let part = match role(message).as_str() {
            _ if !content.has_key("content") => Part::Reasoning,
            "assistant" => Part::AssistantText,
            _ => Part::Result,
        };
        let observation = findings.observation(Kind::PrintsNone, part, (InputPart::Messages, content));
        findings.observations.push(observation);
    }
}
