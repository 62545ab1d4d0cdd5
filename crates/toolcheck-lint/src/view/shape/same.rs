//! Fixes that keep all that is said and write it in another place or form, where the usual one would take something away.

use std::borrow::Cow;

use toolcheck_core::fix::{Change, Fix};
use toolcheck_core::fix_style::on_one_line;
use toolcheck_core::ir::{Message, Named, Role};
use toolcheck_core::shape::{Action, Condition, Detail, Shape, ShapeFaultKind};
use toolcheck_core::text::shorten;
use toolcheck_core::{RuleId, formats};
use toolcheck_json::Value;

use super::Refused;
use super::guesses::MOST_KEYS;
use crate::rule::Context;

/// What keeps all that is said.
pub(super) fn of(
    cx: &Context<'_, '_>,
    shape: &Shape,
    model: Option<&str>,
    refused: &Refused<'_>,
    is_one_of_few: bool,
) -> Option<Fix> {
    if !refused.fault.alike.is_empty() {
        return None;
    }
    match refused.fault.kind {
        ShapeFaultKind::Type => as_told(cx, shape, model, refused),
        // Each looks at all of the schema.
        ShapeFaultKind::Pattern if is_one_of_few => under_other_definitions(cx, refused),
        ShapeFaultKind::Conflict => without_siblings(cx, refused),
        _ => None,
    }
}

/// The object that has only a value of a wrong type, with the JSON of this value as its text.
fn as_told(cx: &Context<'_, '_>, shape: &Shape, model: Option<&str>, refused: &Refused<'_>) -> Option<Fix> {
    let fault = &refused.fault;
    let Some(Action::WriteObjectAs(told)) = fault.help(shape, model).and_then(Action::of) else {
        return None;
    };
    let (object, value) = (cx.document.value(fault.object_node()), cx.document.value(fault.node()));
    if value.is_null() || object.members().nth(1).is_some() {
        return None;
    }
    let text = match value.as_json_str() {
        Some(_) => Cow::Borrowed(std::str::from_utf8(value.raw()).ok()?),
        None => serde_json::Value::from(compact(value)?).to_string().into(),
    };
    Some(Fix::safe([Change::Write(object.id(), told.replacen(PLACE, &text, 1))]))
}

/// The JSON of a value without the white space between its parts.
fn compact(value: Value<'_, '_>) -> Option<String> {
    let (mut is_in_text, mut is_escaped) = (false, false);
    let mut json = std::str::from_utf8(value.raw()).ok()?.to_owned();
    json.retain(|character| {
        let is_kept = is_in_text || !character.is_ascii_whitespace();
        is_in_text ^= character == '"' && !is_escaped;
        is_escaped = is_in_text && character == '\\' && !is_escaped;
        is_kept
    });
    Some(json)
}

/// What stands for a text in an example.
const PLACE: &str = "\"\u{2026}\"";

/// The keys under which a schema has definitions: the one of newer drafts, and the one before.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// The definitions of a schema under the other key for them, with all references to them.
fn under_other_definitions(cx: &Context<'_, '_>, refused: &Refused<'_>) -> Option<Fix> {
    let fault = &refused.fault;
    let [own, other] = DEFINITIONS;
    let name_of = |reference: &str| Some(reference.strip_prefix("#/")?.strip_prefix(other)?.to_owned());
    let is_definition = |name: &String| name.starts_with('/');
    let value = cx.document.value(fault.node());
    let is_reference = refused.rule == RuleId::InvalidToolSchema && value.has_key("$ref");
    value.as_str().filter(|_| is_reference).and_then(|text| name_of(&text)).filter(is_definition)?;
    let tools = cx.transcript.request.tools.listed().iter().filter_map(|tool| tool.schema);
    let schema =
        tools.map(|place| cx.document.value(place.node)).find(|it| it.span().contains(value.span()))?;
    let definitions = schema.get(other).filter(|_| schema.get(own).is_none())?;
    let mut changes = vec![Change::Rename(definitions.id(), own.to_owned())];
    let mut left = vec![schema];
    while let Some(part) = left.pop() {
        // Examples and values are not schemas.
        let is_data = |member: &Value<'_, '_>| {
            member.key_text().is_some_and(|key| matches!(&*key, "enum" | "const" | "default" | "examples"))
        };
        left.extend(part.members().filter(|member| !is_data(member)).chain(part.elements()));
        let Some(reference) = part.get("$ref") else { continue };
        if let Some(name) = reference.as_str().and_then(|text| name_of(&text)).filter(is_definition) {
            let json = serde_json::Value::from(format!("#/{own}{name}")).to_string();
            changes.push(Change::Write(reference.id(), json));
        }
    }
    Some(Fix::safe(changes))
}

/// The schemas of alternatives without what stands beside them, if each of them says it itself, and as little of it as a word
/// or a list of words.
fn without_siblings(cx: &Context<'_, '_>, refused: &Refused<'_>) -> Option<Fix> {
    let fault = &refused.fault;
    let Detail::Other { key, .. } = &fault.detail else { return None };
    let (object, value) = (cx.document.value(fault.object_node()), cx.document.value(fault.node()));
    let is_conflict =
        refused.rule == RuleId::InvalidToolSchema && fault.condition() == Some(Condition::Excludes);
    let says_it = |element: Value<'_, '_>| element.get(key).is_some();
    if !is_conflict || !value.is_array() || !value.elements().all(says_it) {
        return None;
    }
    let excluded = fault.excluded();
    let is_excluded = |member: &Value<'_, '_>| {
        member.key_text().is_some_and(|own| excluded.iter().any(|key| **key == *own))
    };
    let siblings = object.members().take(MOST_KEYS).filter(is_excluded);
    if siblings.clone().any(Value::is_object) {
        return None;
    }
    let keys: Vec<String> =
        siblings.clone().filter_map(Value::key_text).map(|key| format!("`{}`", shorten(&key))).collect();
    let guess = format!("assumes that what `{}` allows is meant, and not {}", fault.key, keys.join(", "));
    Some(Fix::guess(guess, siblings.map(|sibling| Change::Remove(sibling.id()))))
}

/// The only system message, if it comes first, in the field of the request that the help names, if nothing is there.
pub(crate) fn in_own_field(cx: &Context<'_, '_>, message: &Message<'_>, name: &Named<'_>) -> Option<Fix> {
    let told = cx.known_shape()?.instead_of_value("role", &name.text)?;
    let (key, rest) = told.strip_prefix("move its text to `")?.split_once('`')?;
    let (transcript, own) = (cx.transcript, cx.document.value(message.place.node));
    let root = cx.document.value(transcript.place.node);
    let is_free = cx.is_request() && transcript.request.instructions.is_none() && root.get(key).is_none();
    let mut others = transcript.messages.iter().filter(|other| other.place != message.place).peekable();
    let is_system = |other: &Message<'_>| {
        let is_named = |name: &Named<'_>| matches!(&*name.text, "system" | "developer");
        other.role == Role::System || other.role_name.as_ref().is_some_and(is_named)
    };
    let is_first = others.peek().is_some_and(|next| message.place.node < next.place.node);
    if !is_free || !is_first || others.any(is_system) || own.members().count() != 2 {
        return None;
    }
    let content = own.get(formats::find(transcript.format?.id)?.fix_style.blocks?)?;
    let is_text = |block: Value<'_, '_>| {
        let is_known = |key: &str| matches!(key, "type" | "text");
        let is_said = block.get("text").and_then(Value::as_json_str).is_some_and(|text| !text.is_blank());
        is_said && block.members().all(|member| member.key_text().is_some_and(|key| is_known(&key)))
    };
    let text = content.as_json_str().filter(|text| !text.is_blank());
    let is_list = content.elements().next().is_some() && content.elements().all(is_text);
    let place = if text.is_some() { PLACE } else { "[{\"text\": \"\u{2026}\"}]" };
    let example = rest.strip_prefix(": ").unwrap_or(place);
    let json = example.replacen(place, &on_one_line(content), 1);
    let changes = [Change::Remove(own.id()), Change::Add(root.id(), key.to_owned(), json)];
    (text.is_some() || is_list).then(|| Fix::safe(changes))
}
