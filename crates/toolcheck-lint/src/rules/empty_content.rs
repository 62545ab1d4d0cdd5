use toolcheck_core::fix::{Change, Fix};
use toolcheck_core::formats;
use toolcheck_core::ir::{Body, Content, Message, Part, Place, Role, ToolKind};
use toolcheck_core::shape;
use toolcheck_core::targets::Verdict;
use toolcheck_core::text::shorten;
use toolcheck_json::Value;
use toolcheck_json::edit::Piece;

use crate::rule::{Context, Sink, declare_rule};
use crate::view::shape::EMPTY;

declare_rule! {
    EmptyContent in Content, since "0.1.0", silent (silent in dataset) on wire, check,
    values PART, ROLE
}

/// Whether it is a request that has no messages, and neither has what the server keeps of the conversation.
fn is_without_messages(cx: &Context<'_, '_>) -> bool {
    let transcript = cx.transcript;
    transcript.messages.is_empty()
        && transcript.format.is_some()
        && cx.is_request()
        && !transcript.lacks_messages
        && !transcript.request.continues_remote_state
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    if is_without_messages(cx) {
        out.report(cx.transcript.place, "the request has no messages")
            .caption("no messages here")
            .help("add at least one message")
            .case("no-messages");
        return;
    }
    let last = cx.transcript.messages.len().saturating_sub(1);
    let joins = matches!(cx.entry(&RULE, Some("joined")), Verdict::Tolerated(_));
    for (number, (message, parts)) in cx.transcript.messages_with_parts().enumerate() {
        failed_results(cx, number, message, parts, out);
        // A message that only sets parameters needs no content, and a role that the model does not support is another
        // fault.
        let is_other_fault = || {
            message.role == Role::System
                && cx.entry(&super::unknown_role::RULE, Some(super::unknown_role::SYSTEM)).is_refused()
        };
        if message.is_directive || is_no_message(cx, message) || is_other_fault() {
            continue;
        }
        // The last message may be unfinished in a recording, or if the text is cut off.
        if message.content == Content::Filled || !cx.is_request() && number == last {
            continue;
        }
        let says_something = parts.iter().any(|part| match &part.body {
            Body::Text(text) => !text.string.is_empty(),
            Body::Reasoning(_) => false,
            _ => true,
        });
        let is_result = message.role == Role::Tool;
        // Next to calls, only an empty list is a fault of its own.
        if says_something && !is_result && message.content != Content::EmptyList {
            continue;
        }
        let what = match message.content {
            Content::EmptyText => "is an empty string",
            Content::EmptyList => "is an empty list",
            Content::Null => "is null",
            Content::Missing | Content::Filled => "is missing",
        };
        // Messages that are joined are one without content.
        let is_joined = message.content == Content::EmptyList && is_beside_content(cx, number);
        if joins && !is_joined && message.content == Content::EmptyList && follows_empty(cx, number) {
            continue;
        }
        let finding = out.report(message.content_place, format!("the content of this message {what}"));
        finding.caption(what).help("add content, or remove the message").at(cx, (number, message));
        let is_assistant = message.role == Role::Assistant;
        let is_missing = message.content == Content::Missing;
        match message.content {
            Content::EmptyText => finding.case("empty-text"),
            Content::EmptyList => finding.case("empty-list"),
            Content::Missing | Content::Null | Content::Filled => finding.case("null"),
        };
        finding
            .case_if(is_missing, "missing")
            .case_if(is_joined, "joined")
            .case_if(is_assistant && number == last, "final-assistant")
            .case_if(is_assistant && message.content != Content::EmptyList, "nothing-said")
            .case_if(is_assistant && is_missing, "nothing-at-all")
            .case_if(message.is_prefix, "prefix")
            .case_if(message.role == Role::System, "system")
            .case_if(message.content == Content::Null && parts.iter().any(is_legacy), "legacy");
        finding.value("role", message.role_text());
        finding.fix(fix_of(cx, number, message, parts));
    }
}

/// Whether a part is a result in the form that was before tools.
fn is_legacy(part: &Part<'_>) -> bool {
    matches!(&part.body, Body::Result(result) if result.kind == Some(ToolKind::LegacyFunction))
}

/// The results of failed calls, which are checked wherever they are.
fn failed_results(
    cx: &Context<'_, '_>,
    number: usize,
    message: &Message<'_>,
    parts: &[Part<'_>],
    out: &mut Sink<'_>,
) {
    for part in parts {
        let Body::Result(result) = &part.body else { continue };
        if result.is_error == Some(true) && result.content != Content::Filled {
            let finding =
                out.report(part.place, format!("failed tool result {} has no content", result.title()));
            finding
                .about_result(result)
                .caption("does not describe the failure")
                .help("describe the failure in one line")
                .case("failed-result")
                .at(cx, (number, message, part));
            let fix = result.content_place.and_then(|place| of_result(cx, place));
            finding.fix(fix);
        }
    }
}

/// Whether a message beside one, of the same role, says something. Those between them are empty, too.
fn is_beside_content(cx: &Context<'_, '_>, number: usize) -> bool {
    let messages = &cx.transcript.messages;
    let is_same = |message: &&Message<'_>| message.role == messages[number].role;
    let says = |message: &Message<'_>| {
        message.content == Content::Filled || cx.transcript.parts_of(message).iter().any(is_content)
    };
    let before = messages[..number].iter().rev().take(MOST_EMPTY).take_while(is_same);
    let after = messages[number + 1..].iter().take(MOST_EMPTY).take_while(is_same);
    before.chain(after).any(says)
}

/// Whether the message before one has its role, and an empty list as well.
fn follows_empty(cx: &Context<'_, '_>, number: usize) -> bool {
    let before = number.checked_sub(1).map(|before| &cx.transcript.messages[before]);
    before.is_some_and(|before| {
        before.role == cx.transcript.messages[number].role && before.content == Content::EmptyList
    })
}

fn fix_of(cx: &Context<'_, '_>, number: usize, message: &Message<'_>, parts: &[Part<'_>]) -> Option<Fix> {
    let result = parts.iter().find_map(Part::result);
    lifted(cx, message).or_else(|| misnamed(cx, message)).or_else(|| match result {
        Some(result) => match result.content_place {
            Some(content) => of_result(cx, content),
            None => {
                let key = missing_key(cx, message)?;
                let (_, json) = formats::find(cx.transcript.format?.id)?.fix_style.no_output;
                let add = Change::Add(message.place.node, key.to_owned(), json.to_owned());
                Some(Fix::guess("assumes that the tool had no output", [add]))
            }
        },
        None if may_go(cx, number) && cx.transcript.messages.len() > 1 => of_message(cx, message, parts),
        None if cx.policy.is_none() && others(cx, message).any(says_something) => None,
        None => filled(cx, message, parts),
    })
}

/// The key of a message's content, if it has none.
fn missing_key(cx: &Context<'_, '_>, message: &Message<'_>) -> Option<&'static str> {
    let fix_style = formats::find(cx.transcript.format?.id)?.fix_style;
    let of_text = fix_style.calls.map(|(_, text)| text);
    of_text.or(fix_style.blocks).filter(|_| message.content == Content::Missing)
}

/// A message whose content stands under a key that is nearly the one that it has, or under the only one that none has.
pub(super) fn misnamed(cx: &Context<'_, '_>, message: &Message<'_>) -> Option<Fix> {
    let wanted = missing_key(cx, message)?;
    let only = |is: &dyn Fn(&Value<'_, '_>, &str) -> bool| {
        let is_one = |member: &Value<'_, '_>| member.key_text().is_some_and(|key| is(member, &key));
        let mut found = others(cx, message).filter(is_one);
        found.next().filter(|_| found.next().is_none())
    };
    let is_unknown = |member: &Value<'_, '_>, key: &str| {
        message.role_name.is_some()
            && cx.transcript.parts_of(message).is_empty()
            && !member.is_object()
            && says_something(*member)
            && cx.known_shape().is_some_and(|shape| !shape.has_in_messages(key))
    };
    let member = only(&|_, key| shape::is_near(key, wanted)).or_else(|| only(&is_unknown))?;
    let guess = format!("assumes that `{}` was meant to be `{wanted}`", shorten(&member.key_text()?));
    Some(Fix::guess(guess, [Change::Rename(member.id(), wanted.to_owned())]))
}

/// The message that an object without a role holds, such as the choice of a response.
pub(super) fn lifted(cx: &Context<'_, '_>, message: &Message<'_>) -> Option<Fix> {
    let wanted = missing_key(cx, message).filter(|_| message.role_name.is_none())?;
    let calls = formats::find(cx.transcript.format?.id)?.fix_style.calls.map_or(wanted, |(calls, _)| calls);
    let is_key =
        |member: Value<'_, '_>, key: &str| member.key_text().is_some_and(|own| shape::is_near(&own, key));
    let has = |inner: Value<'_, '_>, key: &str| {
        let mut members = inner.members().take(MOST_EMPTY);
        inner.get(key).is_some() || members.any(|member| is_key(member, key))
    };
    let is_message = |inner: &Value<'_, '_>| {
        // Without a role, it says something and is alone.
        let is_only = others(cx, message).count() == 1 && inner.get(wanted).is_some_and(says_something);
        // It may be in another, or have its own mistakes.
        let inner = inner.members().next().filter(|_| inner.members().count() == 1).unwrap_or(*inner);
        has(inner, "role") && (has(inner, wanted) || has(inner, calls)) || is_only
    };
    let mut inner = others(cx, message).filter(is_message);
    let (Some(only), None) = (inner.next(), inner.next()) else { return None };
    let change = [Change::Lift(message.place.node, only.id())];
    let keys = others(cx, message).filter(|member| member.id() != only.id()).filter_map(Value::key_text);
    let keys: Vec<String> = keys.map(|key| format!("`{}`", shorten(&key))).collect();
    Some(match keys.is_empty() {
        true => Fix::safe(change),
        false => Fix::guess(format!("what is beside the message is removed: {}", keys.join(", ")), change),
    })
}

/// A result that says that it is empty.
fn of_result(cx: &Context<'_, '_>, content: Place) -> Option<Fix> {
    let value = cx.document.value(content.node);
    let (_, no_output) = formats::find(cx.transcript.format?.id)?.fix_style.no_output;
    let is_empty = value.is_null() || value.as_json_str().is_some_and(|text| text.is_empty());
    is_empty.then(|| Fix::safe([Change::Write(content.node, no_output.to_owned())]))
}

/// The most messages on each side of an empty one that are looked at for one that is not.
const MOST_EMPTY: usize = 64;

/// Whether the messages around one may stand side by side. Those that are empty, too, are removed with it.
pub(super) fn may_go(cx: &Context<'_, '_>, number: usize) -> bool {
    // The records of a log name each other.
    if cx.policy.is_some() {
        return false;
    }
    let messages = &cx.transcript.messages;
    let is_kept = |message: &&Message<'_>| {
        let is_empty = message.content != Content::Filled && message.role != Role::Tool;
        !is_empty || cx.transcript.parts_of(message).iter().any(is_content)
    };
    let near = number.saturating_sub(MOST_EMPTY)..(number + 1 + MOST_EMPTY).min(messages.len());
    let before = messages[near.start..number].iter().rfind(is_kept);
    if before.is_none() && near.start > 0 {
        return false;
    }
    let is_refused = || cx.entry(&super::misplaced_message::RULE, Some("repeated-role")).is_refused();
    let next = messages[number + 1..near.end].iter().find(is_kept);
    let is_first = before.is_none_or(|before| before.role == Role::System);
    if is_first && next.is_some_and(|next| may_not_be_first(cx, next)) {
        return false;
    }
    let has_call_without_id = |message: &Message<'_>| {
        let is_without_id = |part: &Part<'_>| matches!(&part.body, Body::Call(call) if call.id.is_none());
        cx.transcript.parts_of(message).iter().any(is_without_id)
    };
    match (before, next) {
        (_, None) if near.end < messages.len() => false,
        (_, None) => before.is_none_or(|before| before.role != Role::Assistant),
        // Calls of one turn are answered in their order, so that a result would be that of another.
        (Some(before), Some(next)) if before.role == next.role => {
            !(is_refused() || has_call_without_id(before) && has_call_without_id(next))
        }
        _ => true,
    }
}

/// Whether the target refuses a conversation that starts with this message.
fn may_not_be_first(cx: &Context<'_, '_>, message: &Message<'_>) -> bool {
    let is_refused = |case| cx.entry(&super::first_message_role::RULE, case).is_refused();
    let mut parts = cx.transcript.parts_of(message).iter();
    let has_calls = parts.any(|part| matches!(part.body, Body::Call(_)));
    let of_calls = || has_calls && (is_refused(Some("call")) || is_refused(Some("call-answered")));
    message.role == Role::Assistant && (is_refused(None) || of_calls())
}

/// Whether a part is more than an empty text.
pub(super) fn is_content(part: &Part<'_>) -> bool {
    !matches!(&part.body, Body::Text(text) if text.string.is_empty())
}

/// A text in a message that has nothing to say, and that the conversation needs.
pub(super) fn filled(cx: &Context<'_, '_>, message: &Message<'_>, parts: &[Part<'_>]) -> Option<Fix> {
    let fix_style = cx.fix_style()?;
    let content = message.content_place.node;
    let key = missing_key(cx, message).filter(|_| message.role != Role::Unknown);
    let is_here = (content != message.place.node || key.is_some()) && message.role != Role::System;
    let says_more = |part: &Part<'_>| match &part.body {
        Body::Empty => false,
        Body::Text(text) => !text.string.is_blank(),
        _ => true,
    };
    if !is_here || message.role == Role::Tool || parts.iter().any(says_more) {
        return None;
    }
    let text = Piece::text(EMPTY);
    let piece = match fix_style.blocks {
        Some(_) => Piece::List(vec![(fix_style.text)(text)]),
        None => text,
    };
    let guess = "an empty message is given a text that says that it was empty";
    let json = piece.json()?;
    Some(Fix::guess(
        guess,
        [match key {
            Some(key) => Change::Add(message.place.node, key.to_owned(), json),
            None => Change::Write(content, json),
        }],
    ))
}

/// A conversation without a message that has nothing to say.
fn of_message(cx: &Context<'_, '_>, message: &Message<'_>, parts: &[Part<'_>]) -> Option<Fix> {
    let has_calls = parts.iter().any(|part| matches!(part.body, Body::Call(_)));
    // What says nothing aloud may be refused without a list, too.
    let may_stay = || has_calls || !cx.entry(&RULE, Some("nothing-said")).is_refused();
    if parts.iter().any(is_content) && may_stay() {
        // Beside calls, a list without elements says no more than no list.
        let content = message.content_place.node;
        let is_member = message.content == Content::EmptyList && content != message.place.node;
        return is_member.then(|| Fix::safe([Change::Remove(content)]));
    }
    let change = [Change::Remove(message.place.node)];
    if is_empty_but_for_role(cx, message) {
        return Some(Fix::safe(change));
    }
    others(cx, message)
        .all(|member| !says_something(member))
        .then(|| Fix::guess("the other keys of the message are removed with it", change))
}

/// Whether a string, a list or an object says something.
fn says_something(value: Value<'_, '_>) -> bool {
    value.as_json_str().is_some_and(|text| !text.is_blank()) || value.children().next().is_some()
}

/// The members of a message beside its role and its content.
fn others<'d, 's>(
    cx: &Context<'d, 's>,
    message: &Message<'_>,
) -> impl Iterator<Item = Value<'d, 's>> + use<'d, 's> {
    let role = message.role_name.as_ref().map(|name| name.place.node);
    let content = message.content_place.node;
    let members = cx.document.value(message.place.node).members();
    members.filter(move |member| member.id() != content && Some(member.id()) != role && !member.is_null())
}

/// Whether a message has nothing but its role and its content.
pub(super) fn is_empty_but_for_role(cx: &Context<'_, '_>, message: &Message<'_>) -> bool {
    cx.document.value(message.place.node).is_object() && others(cx, message).next().is_none()
}

/// Whether what is in the place of a message is none, which the shape of the request says.
pub(super) fn is_no_message(cx: &Context<'_, '_>, message: &Message<'_>) -> bool {
    !cx.document.value(message.place.node).is_object() && cx.known_shape().is_some()
}
