use rustc_hash::{FxHashMap, FxHashSet};
use toolcheck_core::detection::Detection;
use toolcheck_core::ir::{Body, Content, Place, shorten};
use toolcheck_core::unread::{Unread, What};
use toolcheck_core::{Finding, Level};

use super::{
    empty_content, missing_field, missing_tool_call_id, missing_tool_definitions, mixed_content,
    orphan_tool_result, unanswered_tool_call, unrecognised_format,
};
use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// Tool calls, results or definitions in a shape that the format doesn't have.
    ///
    /// ## Why is this bad?
    ///
    /// The API doesn't read them either: it rejects the request, or silently drops what it doesn't know, and the
    /// model never learns of the call. The usual causes are a history that was written for another API, a key in
    /// camel case, or a list that was turned into a string.
    ///
    /// toolcheck can't check what it can't read, so it reports it instead of staying silent. If no part of a
    /// conversation is understood, or if `--format` names the wrong format, this is the only finding.
    ///
    /// A type that only sounds like a call, and may be newer than this version of toolcheck, is a warning.
    ///
    /// ## Fails
    ///
    /// ```json openai-chat
    /// {"model": "gpt-5", "messages": [
    ///   {"role": "user", "content": "find Adam"},
    ///   {"role": "assistant", "toolCalls": [  // flagged
    ///     {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    ///   ]},
    ///   {"role": "tool", "tool_call_id": "call_1", "content": "none"}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json openai-chat
    /// {"model": "gpt-5", "messages": [
    ///   {"role": "user", "content": "find Adam"},
    ///   {"role": "assistant", "content": null, "tool_calls": [
    ///     {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    ///   ]},
    ///   {"role": "tool", "tool_call_id": "call_1", "content": "none"}
    /// ]}
    /// ```
    "unread-content" in Files, since "0.2.0", error, check
}

/// How many other places are shown.
const LABELS: usize = 3;

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    if !cx.is_recognised {
        return;
    }
    if !is_understood(cx) {
        report_all(cx, out);
        return;
    }
    // One finding for each name: the same key in every message is one mistake.
    let mut groups: Vec<Vec<&Unread<'_>>> = Vec::new();
    let mut known = FxHashMap::default();
    for unread in &cx.transcript.unread {
        let number = *known.entry((unread.what, &*unread.name)).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[number].push(unread);
    }
    for group in groups {
        let [first, others @ ..] = group.as_slice() else { continue };
        let times = if others.is_empty() { String::new() } else { format!(", {} times", others.len() + 1) };
        let finding = out.report(
            place(cx, first),
            format!(
                "`{}` contains {} in a shape that {} doesn't have{times}",
                shorten(&first.name),
                first.what.name(),
                cx.transcript.format
            ),
        );
        finding.caption("not read, so not checked");
        for other in others.iter().take(LABELS) {
            finding.label(place(cx, other), "also here");
        }
        if !first.is_known {
            finding.at_most(Level::Warning);
        }
        match instead(cx) {
            Some(help) => finding.help(help),
            None => finding.help(format!("write them as {} defines them", cx.transcript.format)),
        };
    }
}

/// One finding for a conversation that is not understood at all.
fn report_all(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let messages = &cx.transcript.messages;
    let first = messages.first().map_or(cx.transcript.place, |message| message.place);
    let count = messages.len();
    let which =
        if count == 1 { "the message can't".to_owned() } else { format!("none of the {count} messages can") };
    let finding = out.report(first, format!("{which} be read as {}", cx.transcript.format));
    finding.caption("nothing here was checked");
    finding.help(
        instead(cx).unwrap_or_else(|| "write the messages as the API reference describes them".to_owned()),
    );
}

/// The key where it names what is not read, or the block.
fn place(cx: &Context<'_, '_>, unread: &Unread<'_>) -> Place {
    let value = cx.document.value(unread.place.node);
    if value.has_key(&unread.name) { Place::of_key(value) } else { unread.place }
}

/// What to do if the document looks like another format.
fn instead(cx: &Context<'_, '_>) -> Option<String> {
    let other = Detection::instead_of(cx.transcript.format, cx.document.value(cx.transcript.place.node))?;
    let id = other.id;
    Some(match cx.wanted_format {
        Some(_) => format!("this looks like {id}: use --format {id}, or omit --format"),
        None => format!("this looks like {id}: if it is, use --format {id}"),
    })
}

/// Whether any part of a conversation is understood, if it has content.
fn is_understood(cx: &Context<'_, '_>) -> bool {
    let transcript = cx.transcript;
    let is_known = |body: &Body<'_>| !matches!(body, Body::Opaque | Body::Empty);
    transcript.parts.iter().any(|part| is_known(&part.body))
        || cx.is_cut_off
        || !transcript.messages.iter().any(|message| message.content == Content::Filled)
        || Detection::knows(transcript.format, cx.document.value(transcript.place.node))
}

/// The rules that report something missing from a message, which may be there but not read.
const OF_MESSAGE: [&str; 4] =
    [empty_content::RULE.id, missing_field::RULE.id, missing_tool_call_id::RULE.id, mixed_content::RULE.id];

/// Removes findings that only follow from something not being read: one problem is one finding. The first `first`
/// findings were there before.
pub(crate) fn settle(cx: &Context<'_, '_>, findings: &mut Vec<Finding>, first: usize) {
    if !cx.is_recognised || (cx.transcript.unread.is_empty() && is_understood(cx)) {
        return;
    }
    let unread = &cx.transcript.unread;
    let has = |what: What| unread.iter().any(|one| one.what == what);
    let (calls, results, tools) = (has(What::Calls), has(What::Results), has(What::Tools));
    let is_all = !is_understood(cx);
    // The messages in which something is not read.
    let mut starts: Vec<u32> =
        unread.iter().map(|one| cx.document.value(one.place.node).span().start).collect();
    starts.sort_unstable();
    let messages = cx.transcript.messages.iter().map(|message| message.place.span).filter(|message| {
        let next = starts.partition_point(|start| *start < message.start);
        starts.get(next).is_some_and(|start| *start < message.end)
    });
    let messages: Vec<_> = messages.collect();
    // A finding with the API's own error text takes precedence over one without.
    let told = findings[first..].iter().filter(|finding| finding.answer.is_some());
    let told: FxHashSet<_> = told.map(|finding| finding.place.node).collect();
    let mut number = 0;
    findings.retain(|finding| {
        number += 1;
        let id = finding.rule;
        if number <= first || super::find(id).is_some_and(|rule| rule.on_text) {
            return true;
        }
        if id == RULE.id {
            return is_all || !told.contains(&finding.place.node);
        }
        let span = cx.document.value(finding.place.node).span();
        let in_message = || {
            let next = messages.partition_point(|message| message.end < span.end);
            messages.get(next).is_some_and(|message| message.contains(span))
        };
        let in_tools = || cx.transcript.tools_place.is_some_and(|place| place.span.contains(span));
        !(is_all && id != unrecognised_format::RULE.id
            || calls && id == orphan_tool_result::RULE.id
            || results && id == unanswered_tool_call::RULE.id
            || OF_MESSAGE.contains(&id) && in_message()
            || tools && (id == missing_tool_definitions::RULE.id || in_tools()))
    });
}
