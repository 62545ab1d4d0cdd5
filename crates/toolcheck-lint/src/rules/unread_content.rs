use foldhash::{HashMap, HashSet};
use toolcheck_core::detection::Detection;
use toolcheck_core::fix::{Change, Fix};
use toolcheck_core::ir::{Body, Content, FormatId, MOST_HELD, Place, Unread, UnreadKind};
use toolcheck_core::readers::{self, SourceKind};
use toolcheck_core::shape::{Kind, is_near};
use toolcheck_core::text::shorten;
use toolcheck_core::tools::misfit;
use toolcheck_core::{Level, RuleId, formats};

use crate::finding::Draft;
use toolcheck_json::{NodeId, Span, Value};

use super::{
    empty_content, foreign_shape, missing_field, missing_tool_call_id, missing_tool_definitions,
    mixed_content, orphan_tool_result, unanswered_tool_call, unrecognised_format,
};
use crate::rule::{Context, Sink, declare_rule};
use crate::view::shape;

declare_rule! {
    UnreadContent in Files, since "0.1.0", error on call, check
}

/// The maximum number of further places in a finding.
const LABELS: usize = 3;

/// Reports the end of a conversation that is too long to be held.
fn report_left_out(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    if let Some(place) = cx.transcript.left_out {
        out.report(place, format!("only the first {MOST_HELD} messages and parts are read"))
            .caption("what begins here is neither read nor checked")
            .help("a conversation is never so long: the file may be damaged");
    }
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    report_left_out(cx, out);
    let Some(format) = cx.transcript.format else { return };
    if !cx.is_answer && !is_understood(cx) {
        report_all(cx, format, out);
        return;
    }
    // Data sets may store the tools as a string, but no API accepts that.
    let tools = cx.transcript.request.tools.place.map(|place| cx.document.value(place.node));
    let is_text = |tools: &Value<'_, '_>| tools.as_json_str().is_some_and(|text| !text.is_empty());
    let is_sent = cx.is_request() && cx.transcript.request.model.is_some();
    let is_read = !cx.transcript.request.tools.in_text.is_empty();
    if let Some(tools) = tools.filter(|tools| is_sent && is_read && is_text(tools)) {
        out.report(Place::of_key(tools), "the tools are a JSON string, but a list is expected")
            .caption("a string")
            .help("pass the list itself; for training data, use `--kind dataset`");
    }
    // One finding for each name: a wrong key is one mistake, even if every message has it.
    let mut groups: Vec<Vec<&Unread<'_>>> = Vec::new();
    let mut known = HashMap::default();
    // An example is not sent: its tools are checked whatever API they are written for.
    let is_checked = cx.is_training_example() && is_read && tools.is_some_and(|it| misfit(it).is_none());
    let is_left = |one: &&Unread<'_>| !is_checked || one.what != UnreadKind::Tools;
    for unread in cx.transcript.unread.iter().filter(is_left) {
        let number = *known.entry((unread.what, &*unread.name)).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[number].push(unread);
    }
    let instead = if groups.is_empty() { None } else { instead(cx, format) };
    for group in groups {
        let [first, others @ ..] = group.as_slice() else { continue };
        let times = if others.is_empty() { String::new() } else { format!(", {} times", others.len() + 1) };
        let finding = out.report(place(cx, first), message(first, format.id, &times));
        finding.caption("neither read nor checked");
        for other in others.iter().take(LABELS) {
            finding.label(place(cx, other), "and here");
        }
        if !first.is_known || cx.is_answer {
            finding.at_most(Level::Warning);
        }
        match &instead {
            Some(help) => finding.help(help.clone()),
            None if is_log(format) => finding.help(OF_LOG),
            None if !first.is_known => finding.help(
                "ignore this if the API supports the type: it may be newer than this version of toolcheck",
            ),
            None => finding.help(own_form(cx, first).unwrap_or_else(|| match readers::find(format.id) {
                Some(_) => OF_ROW.to_owned(),
                None => format!("write it in the format of {}", format.id),
            })),
        };
        let is_misspelled = instead.is_none() && first.is_known && !is_log(format);
        let is_member = |node: &NodeId| cx.document.value(*node).has_key(&first.name);
        let message = |unread: &&Unread<'_>| {
            let node = unread.place.node;
            match unread.what {
                UnreadKind::Tools => shape::tools(cx, node),
                _ => shape::translated(cx, node, None),
            }
        };
        let messages = || group.iter().map(message).reduce(|one, other| one?.and(other?)).flatten();
        let is_short = !is_log(format) && group.len() <= shape::MOST_TRANSLATED;
        if let Some(fix) = is_short.then(messages).flatten() {
            finding.fix(fix);
        } else if let Some(key) = own_key(cx, first).filter(|_| is_misspelled && is_member(&first.place.node))
        {
            let nodes = group.iter().map(|unread| unread.place.node);
            let renamed = nodes.filter(is_member).map(|node| Change::Rename(node, key.to_owned()));
            let is_same = cx.known_shape().is_some_and(|shape| shape.key_like(&first.name).is_some());
            let guess = || format!("assumes that `{}` was meant to be `{key}`", shorten(&first.name));
            finding.fix(if is_same { Fix::safe(renamed) } else { Fix::guess(guess(), renamed) });
        } else if let Some(fix) = misnamed_content(cx, &group).filter(|_| is_misspelled) {
            finding.fix(fix);
        }
    }
}

/// The messages that hold what is not read under a key that no message has.
fn misnamed_content(cx: &Context<'_, '_>, group: &[&Unread<'_>]) -> Option<Fix> {
    let messages = &cx.transcript.messages;
    let numbers = group.iter().map(|unread| {
        messages.partition_point(|message| message.place.span.start <= unread.place.span.start).checked_sub(1)
    });
    let mut numbers = numbers.collect::<Option<Vec<_>>>()?;
    numbers.dedup();
    let fixes = numbers.into_iter().map(|number| empty_content::misnamed(cx, &messages[number]));
    fixes.reduce(|one, other| one?.and(other?)).flatten()
}

/// The key that a key was meant to be.
fn own_key<'c>(cx: &Context<'c, '_>, unread: &Unread<'_>) -> Option<&'c str> {
    let near = || {
        let (calls, _) = formats::find(cx.transcript.format?.id)?.fix_style.calls?;
        (unread.what == UnreadKind::Calls && is_near(calls, &unread.name)).then_some(calls)
    };
    cx.known_shape()?.key_like(&unread.name).or_else(near)
}

/// The help for what a reader does not know: nobody writes a log by hand.
const OF_LOG: &str =
    "nothing in it was checked: the program that wrote it may be newer than this version of toolcheck";

/// The help for what a reader of data sets does not know.
const OF_ROW: &str = "use a format that `toolcheck formats` lists";

/// Whether the file was read as a log, a history or a trace.
fn is_log(format: FormatId) -> bool {
    readers::find(format.id).is_some_and(|reader| reader.kind != SourceKind::Dataset)
}

/// The help that says how the format writes what is not read.
fn own_form(cx: &Context<'_, '_>, unread: &Unread<'_>) -> Option<String> {
    let shape = cx.known_shape()?;
    if let Some(known) = own_key(cx, unread) {
        return Some(format!("rename `{}` to `{known}`", shorten(&unread.name)));
    }
    let each = match unread.what {
        UnreadKind::Calls => shape.example(Kind::ToolCall),
        UnreadKind::Tools => shape.example(Kind::Tool),
        UnreadKind::Results => shape.result_example(),
    };
    Some(format!("write each as {}", each?))
}

fn message(unread: &Unread<'_>, format: &str, times: &str) -> String {
    let (name, what) = (shorten(&unread.name), unread.what.name());
    match unread.is_known {
        true => format!("`{name}` contains {what} in a form that {format} does not support{times}"),
        false => format!("unknown type `{name}` was not checked{times}; it looks like {what}"),
    }
}

/// Reports a conversation that is not understood at all, as one finding.
fn report_all(cx: &Context<'_, '_>, format: FormatId, out: &mut Sink<'_>) {
    let messages = &cx.transcript.messages;
    let first = messages.first().map_or(cx.transcript.place, |message| message.place);
    let count = messages.len();
    let which = if count == 1 { "the message".to_owned() } else { format!("any of the {count} messages") };
    let finding = out.report(first, format!("{} does not understand {which}", format.id));
    finding.caption("nothing in here was checked");
    finding.help(
        instead(cx, format)
            .unwrap_or_else(|| "write the messages as the API's reference describes".to_owned()),
    );
}

/// The place of what is not read: its key, or else its block.
fn place(cx: &Context<'_, '_>, unread: &Unread<'_>) -> Place {
    let value = cx.document.value(unread.place.node);
    if value.has_key(&unread.name) { Place::of_key(value) } else { unread.place }
}

/// The help if the document looks like another format.
fn instead(cx: &Context<'_, '_>, format: FormatId) -> Option<String> {
    let root = cx.document.value(cx.transcript.place.node);
    let other = Detection::instead_of(format, root)?;
    if !shape::fits_better(other.id, format.id, root) {
        return None;
    }
    let id = other.id;
    Some(match cx.wanted_format {
        Some(_) => format!("this looks like {id}: use --format {id}, or omit --format"),
        None => format!("this looks like {id}: if it is, use --format {id}"),
    })
}

/// Whether any content of the conversation is understood, or there is none.
fn is_understood(cx: &Context<'_, '_>) -> bool {
    let transcript = cx.transcript;
    let is_known = |body: &Body<'_>| !matches!(body, Body::Opaque | Body::Empty);
    transcript.parts.iter().any(|part| is_known(&part.body))
        || cx.is_cut_off
        || !transcript.messages.iter().any(|message| message.content == Content::Filled)
        || transcript
            .format
            .is_some_and(|format| Detection::knows(format.id, cx.document.value(transcript.place.node)))
}

/// The rules that report something missing from a message, which may only be unread.
const OF_MESSAGE: [RuleId; 4] =
    [empty_content::RULE.id, missing_field::RULE.id, missing_tool_call_id::RULE.id, mixed_content::RULE.id];

/// Whether a finding is about the shape of the request.
fn is_of_shape(finding: &Draft) -> bool {
    finding.of_shape.is_some() || finding.rule == foreign_shape::RULE.id
}

/// Removes findings that only follow from something being unread: one mistake is one finding. A finding is kept if it
/// is worse than what this rule reports. The first `first` findings are of earlier transcripts, and are kept.
pub(crate) fn settle(cx: &Context<'_, '_>, findings: &mut Vec<Draft>, first: usize) {
    let reported = || findings[first..].iter().filter(|finding| finding.rule == RULE.id);
    let Some(worst) = reported().map(|finding| finding.level).max() else { return };
    // Where the shape says what is wrong with the messages, they are understood well enough, unless they are another format's.
    let is_said = || {
        findings[first..].iter().any(|finding| is_of_shape(finding) && finding.is_refused())
            && cx.transcript.format.is_some_and(|format| instead(cx, format).is_none())
    };
    let is_understood = is_understood(cx);
    let is_all = !is_understood && !is_said();
    // A type that only has a similar name explains nothing.
    let unread = || cx.transcript.unread.iter().filter(|one| one.is_known);
    let starts = |what: UnreadKind| {
        let starts = unread().filter(move |one| one.what == what);
        let mut starts: Vec<u32> = starts.map(|one| cx.document.value(one.place.node).span().start).collect();
        starts.sort_unstable();
        starts
    };
    let (calls, results) = (starts(UnreadKind::Calls), starts(UnreadKind::Results));
    let is_tools_unread = unread().any(|one| one.what == UnreadKind::Tools);
    // A call must come before its result.
    let (first_call, last_result) = (calls.first().copied(), results.last().copied());
    let holds = |span: Span| {
        [&calls, &results].into_iter().any(|starts| {
            let next = starts.partition_point(|start| *start < span.start);
            starts.get(next).is_some_and(|start| *start < span.end)
        })
    };
    let messages = cx.transcript.messages.iter().map(|message| message.place.span);
    let messages: Vec<_> = messages.filter(|message| holds(*message)).collect();
    // A finding about what the API answers replaces one that can't tell, but a warning about a part of it does not, unless it
    // says what the whole is.
    let places: HashSet<_> = reported().map(|finding| finding.place.node).collect();
    let is_answered = |finding: &Draft| {
        let is_of_whole = finding.rule == foreign_shape::RULE.id || places.contains(&finding.place.node);
        let is_known = finding.is_refused() || finding.has_harm();
        is_known && (finding.level >= worst || is_of_whole)
    };
    let is_refused = |finding: &&Draft| finding.rule != RULE.id && is_answered(finding);
    let refused = findings[first..].iter().filter(is_refused);
    let mut refused: Vec<usize> = refused.map(|finding| finding.place.node.index()).collect();
    refused.sort_unstable();
    let is_refused = |place: Place| {
        let (start, count) = (place.node.index(), cx.document.value(place.node).count());
        let next = refused.partition_point(|node| *node < start);
        refused.get(next).is_some_and(|node| *node < start + count)
    };
    let mut number = 0;
    findings.retain(|finding| {
        number += 1;
        let id = finding.rule;
        if number <= first || super::get(id).on_text {
            return true;
        }
        if id == RULE.id {
            return is_all || is_understood && !is_refused(finding.place);
        }
        let is_of_shape = is_of_shape(finding);
        if finding.level > worst && !(is_all && is_of_shape) || !is_all && is_of_shape && is_answered(finding)
        {
            return true;
        }
        let span = cx.document.value(finding.place.node).span();
        let in_message = || {
            let next = messages.partition_point(|message| message.end < span.end);
            messages.get(next).is_some_and(|message| message.contains(span))
        };
        let in_tools = || cx.transcript.request.tools.place.is_some_and(|place| place.span.contains(span));
        !(is_all && id != unrecognised_format::RULE.id
            || id == orphan_tool_result::RULE.id && first_call.is_some_and(|call| call < span.start)
            || id == unanswered_tool_call::RULE.id && last_result.is_some_and(|result| result > span.start)
            || OF_MESSAGE.contains(&id) && in_message()
            || is_tools_unread && (id == missing_tool_definitions::RULE.id || in_tools()))
    });
}
