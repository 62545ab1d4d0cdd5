//! What fixes faults of the shape.

use toolcheck_core::choice::{is_choice_key, is_in_choice};
use toolcheck_core::fix::{Change, Cost, Fix};
use toolcheck_core::formats;
use toolcheck_core::ir::{Body, Part, ToolChoiceMode};
use toolcheck_core::shape::{Kind, Shape, ShapeFault, ShapeFaultKind};
use toolcheck_core::text::{Counted, shorten};
use toolcheck_json::{Document, NodeId, Value};

use super::{MOST_TRANSLATED, Refused, guesses, last, same, translated};
use crate::rule::Context;
use crate::view::roles::as_result;

/// Finds what fixes each fault where it is.
pub(super) fn find(cx: &Context<'_, '_>, shape: &Shape, model: Option<&str>, refused: &mut [Refused<'_>]) {
    let is_few = refused.len() <= guesses::MOST_KEYS;
    for (number, refused) in refused.iter_mut().enumerate() {
        let fault = &refused.fault;
        let is_other = fault.kind == ShapeFaultKind::Unknown || fault.is_of_type();
        let is_block = is_other && fault.object_kind() == Some(Kind::Content) && number < MOST_TRANSLATED;
        // A key that is nearly that of another block's is not meant then.
        let block = cx.document.value(fault.object_node());
        let is_picture = refused.is_all_unknown() || fault.is_of_type();
        let result = || last::unread_block(cx, block, false);
        let other = || is_picture.then(|| last::picture(cx, block)).flatten().or_else(result);
        let same = || same::of(cx, shape, model, refused, is_few);
        if let Some(fix) = of_choice(cx, fault).or_else(same) {
            refused.fix = Some(fix);
            continue;
        }
        if let Some(fix) = is_block.then(|| translated(cx, block.id(), None)).flatten() {
            refused.fix = Some(fix);
            continue;
        }
        let is_message = fault.object_kind() == Some(Kind::Message);
        let is_part = matches!(fault.kind, ShapeFaultKind::Missing | ShapeFaultKind::Unknown);
        let as_result = if is_message && is_part { as_result(cx, fault.object_node()) } else { None };
        let fix = as_result.or_else(|| of_result(cx, refused));
        let is_safe = |fix: &Fix| fix.cost.is_none();
        let own =
            || guesses::text_alone(cx.document, fault).or_else(|| of(cx.document, shape, model, refused));
        let own = if fix.as_ref().is_some_and(is_safe) { None } else { own() };
        // What would be written as it is has to be something else.
        let is_same = |fix: &Fix| matches!(&fix.changes[..], [Change::Write(node, json)] if cx.document.value(*node).raw() == json.as_bytes());
        let own = own.filter(|fix| !is_same(fix));
        let safe = own.clone().filter(is_safe);
        let fix = safe.or_else(|| is_block.then(other).flatten()).or(fix).or(own);
        // Each of these looks at all of the conversation.
        let is_first = number < MOST_TRANSLATED && cx.is_request();
        let fix = fix.or_else(|| last::in_another_form(cx, refused).filter(|_| is_first));
        let fix = fix.or_else(|| guesses::of(cx, model, refused));
        refused.fix = fix.or_else(|| is_first.then(|| last::of(cx, model, refused))?);
        // What calls something is no detail.
        let calls = |change: &Change| matches!(change, Change::Remove(node) if last::names_a_call(cx.document.value(*node)));
        refused
            .fix
            .take_if(|fix| fault.object_kind() == Some(Kind::Content) && fix.changes.iter().any(calls));
        if let Some(fix) = &mut refused.fix
            && let [Change::Remove(node)] = fix.changes[..]
            && fix.cost.is_some()
            && !guesses::says_nothing(cx.document.value(node))
        {
            // What is all that a block says is no detail.
            let is_block = fault.object_kind() == Some(Kind::Content) && block.members().count() == 1;
            // It writes the block anew, which takes as long as it is.
            match is_block.then(|| last::of_block(cx, block.id())).flatten() {
                Some(said) => *fix = said,
                None => weigh(cx, (node, fault.objects().count()), fix),
            }
        }
    }
}

/// Writes the choice of a tool as this API does.
pub(super) fn choice_as(cx: &Context<'_, '_>, choice: Value<'_, '_>) -> Option<Change> {
    let json = formats::find(cx.transcript.format?.id)?.fix_style.choice_of(choice)?;
    (json.as_bytes() != choice.raw()).then(|| Change::Write(choice.id(), json))
}

/// A choice of a tool that is written as another API has it, as this one does.
fn of_choice(cx: &Context<'_, '_>, fault: &ShapeFault<'_>) -> Option<Fix> {
    let fix_style = formats::find(cx.transcript.format?.id)?.fix_style;
    let value = cx.document.value(fault.node());
    let way: Vec<&str> = fix_style.choice.split('.').collect();
    let root = cx.document.value(cx.transcript.place.node);
    if let Some(own) = root.get_in(&way) {
        let is_own = fault.kind != ShapeFaultKind::Conflict && own.span().contains(value.span());
        return choice_as(cx, own).filter(|_| is_own).map(|change| Fix::safe([change]));
    }
    let is_other = fault.kind == ShapeFaultKind::Unknown && fault.is_of_request();
    let same = choice_as(cx, value).filter(|_| is_other && is_choice_key(&fault.key))?;
    let change = match way.len() {
        1 => Change::Rename(value.id(), fix_style.choice.to_owned()),
        _ => Change::Move(value.id(), way.into_iter().map(str::to_owned).collect()),
    };
    Some(Fix::safe([same, change]))
}

/// How the choice of a tool is written that a fix translates; words are told already.
pub(crate) fn told_choice(cx: &Context<'_, '_>, fix: Option<&Fix>) -> Option<String> {
    let Change::Write(node, json) = fix?.changes.first()? else { return None };
    let key = cx.document.value(*node).key_text()?;
    is_in_choice(&key).then_some(())?;
    match &fix?.changes[1..] {
        [] => json.starts_with('{').then(|| format!("write it as {json}")),
        [Change::Rename(_, key)] => Some(format!("write it as \"{key}\": {json}")),
        [Change::Move(_, way)] => {
            let [around, key] = &way[..] else { return None };
            Some(format!("write it as \"{around}\": {{\"{key}\": {json}}}"))
        }
        _ => None,
    }
}

/// How deep the objects are whose members are settings, with the request.
const DEEPEST: usize = 2;

/// What the removal of a member costs, by what is read in it.
fn weigh(cx: &Context<'_, '_>, (node, depth): (NodeId, usize), fix: &mut Fix) {
    let choice = cx.transcript.request.tool_choice.as_ref().filter(|choice| choice.place.node == node);
    let value = cx.document.value(node);
    // The model decides if a request does not say who does; what else the choice says is lost.
    let is_all = value.members().nth(1).is_none();
    if choice.is_some_and(|choice| is_all && matches!(choice.wanted, ToolChoiceMode::Free)) {
        fix.cost = None;
        return;
    }
    // What is deeper in a setting is one of its details.
    if let Some(Cost::Loss(what)) = fix.cost.as_ref().filter(|_| depth > DEEPEST) {
        fix.or_lost = Some(what.clone());
        fix.cost = Some(Cost::Guess(format!("assumes that {what} is not needed")));
    }
    let messages = &cx.transcript.messages;
    let after = messages.partition_point(|message| message.place.span.start <= value.span().start);
    let is_in = |part: &Part<'_>| value.span().contains(part.place.span) && !matches!(part.body, Body::Empty);
    let around = after.checked_sub(1).map(|number| cx.transcript.parts_of(&messages[number]));
    let is_read = around.is_some_and(|parts| parts.iter().any(is_in));
    if is_read {
        let key = value.key_text().unwrap_or_default();
        let lost = format!("`{}` with its content ({})", shorten(&key), Counted(value.raw().len(), "byte"));
        fix.cost = Some(Cost::Loss(lost));
    }
}

/// A result that has no content says that there was none.
fn of_result(cx: &Context<'_, '_>, refused: &Refused<'_>) -> Option<Fix> {
    let fault = &refused.fault;
    let fix_style = formats::find(cx.transcript.format?.id)?.fix_style;
    let (key, json) = fix_style.no_output;
    let is_plain = refused.unknown.is_empty() && refused.also_missing.is_empty();
    let value = cx.document.value(fault.node());
    let is_said = || value.is_string() || value.is_array();
    let is_other = fault.kind == ShapeFaultKind::Unknown && !fault.is_of_known_key() && is_said();
    if !is_plain || *fault.key != *key && !is_other {
        return None;
    }
    let parts = &cx.transcript.parts;
    let after = parts.partition_point(|part| part.place.node <= fault.parent);
    let part = after.checked_sub(1).map(|number| &parts[number])?;
    let object = cx.document.value(fault.parent);
    let is_own = fix_style.own(cx.document.value(part.place.node)).id() == object.id();
    if !is_own || !matches!(part.body, Body::Result(_)) {
        return None;
    }
    match object.get(key) {
        // Its content is there under a key that it does not have.
        None if is_other => {
            let guess = format!("assumes that `{key}` was meant");
            Some(Fix::guess(guess, [Change::Rename(value.id(), key.to_owned())]))
        }
        _ if is_other => None,
        Some(content) if content.is_null() => Some(Fix::safe([Change::Write(content.id(), json.to_owned())])),
        Some(_) => None,
        None if fault.misspelt(cx.document).is_some() => None,
        None => {
            let guess = "assumes that the tool had no output";
            Some(Fix::guess(guess, [Change::Add(object.id(), key.to_owned(), json.to_owned())]))
        }
    }
}

/// Puts an object into the key that holds such objects.
fn wrapped(document: &Document<'_>, shape: &Shape, refused: &Refused<'_>) -> Option<Fix> {
    let key = shape.unwrapped(&refused.fault, document).filter(|_| refused.is_all_unknown())?;
    let object = document.value(refused.fault.object_node());
    let inside = String::from_utf8_lossy(object.raw());
    let json = format!("{{{}: {inside}}}", serde_json::Value::from(key));
    Some(Fix::safe([Change::Write(object.id(), json)]))
}

fn of(document: &Document<'_>, shape: &Shape, model: Option<&str>, refused: &Refused<'_>) -> Option<Fix> {
    let fault = &refused.fault;
    let is_other_object = fault.is_of_type() && fault.kind == ShapeFaultKind::Value;
    if refused.is_all_unknown() || is_other_object {
        let own = fault.fix(document, model).filter(|_| is_other_object);
        let Some(mut rewritten) = fault.rewritten(document) else {
            return own.or_else(|| wrapped(document, shape, refused));
        };
        // What it is called is known.
        rewritten.cost = rewritten.cost.filter(|_| own.is_none_or(|own| own.cost.is_some()));
        return Some(rewritten);
    }
    if let Some(means) = &refused.means {
        return Some(Fix::safe([Change::Rename(fault.node(), means.clone().into_owned())]));
    }
    if refused.unknown.is_empty() && refused.also_missing.is_empty() {
        let is_alone = || document.value(fault.object_node()).members().take(2).count() == 1;
        let is_other = match fault.object_kind() {
            Some(Kind::Tool) => fault.kind != ShapeFaultKind::Type,
            Some(Kind::Content) if fault.kind == ShapeFaultKind::Missing => fault.is_of_type(),
            Some(Kind::Content) => fault.kind == ShapeFaultKind::Unknown && is_alone(),
            Some(Kind::Message | Kind::ToolCall) => fault.kind == ShapeFaultKind::Missing,
            _ => false,
        };
        let rewritten = || fault.rewritten(document).filter(|_| is_other);
        return fault.fix(document, model).or_else(rewritten);
    }
    if let Some(kind) = fault.kind_renamed(document) {
        return Some(kind);
    }
    // One key that is missing, and one that is there instead.
    match (&refused.unknown[..], &refused.also_missing[..]) {
        ([other], []) if fault.kind == ShapeFaultKind::Missing => {
            let Some(means) = other.means.clone() else {
                return fault.fix(document, model).or_else(|| fault.rewritten(document));
            };
            // What an id says is nothing else.
            let is_id = |key: &str| key.ends_with("id") || key.ends_with("Id");
            if document.value(other.node).key_text().is_some_and(|key| is_id(&key) && !is_id(&means)) {
                return None;
            }
            let change = [Change::Rename(other.node, means)];
            let is_known = fault.renamed(document).is_some_and(|member| member.id() == other.node);
            let guess = || format!("assumes that `{}` was meant", fault.key);
            Some(if is_known || other.is_near { Fix::safe(change) } else { Fix::guess(guess(), change) })
        }
        _ => fault.rewritten(document),
    }
}
