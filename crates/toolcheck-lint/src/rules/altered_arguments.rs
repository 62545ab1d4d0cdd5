use toolcheck_core::ir::{Body, Named};
use toolcheck_core::{Level, RuleId, text};
use toolcheck_json::Span;

use crate::finding::Draft;
use crate::rule::{Context, Sink, declare_rule};
use crate::rules::{ran_unfinished_arguments, swapped_results};
use crate::view::arguments;
use crate::view::exchanges::{Change, MatchedCall, PastCall};

declare_rule! {
    AlteredArguments in Arguments, since "0.1.0", error looks at [ANSWER], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some(kept) = cx.kept.filter(|_| !swapped_results::has_moved_arguments(cx)) else { return };
    for (given, stored) in kept.calls_changed() {
        if stored.change != Change::Same {
            let is_cleared = stored.change == Change::Emptied && arguments::is_cleared(cx, stored.part);
            if !is_cleared && !is_told(cx, given, stored) {
                report(cx, out, given, stored);
            }
        } else {
            check_name(cx, out, given, stored);
        }
    }
}

/// Whether another rule says that the tool ran for the arguments or for a repaired form of them, which says more.
fn is_told(cx: &Context<'_, '_>, given: &PastCall, stored: &MatchedCall) -> bool {
    if matches!(stored.change, Change::Wrapped | Change::Emptied) {
        return false;
    }
    let is_ignored = cx.ignored_rules.iter().any(|rule| rule.id == RuleId::RanUnfinishedArguments);
    !is_ignored && ran_unfinished_arguments::has_run(cx, given, stored)
}

fn report(cx: &Context<'_, '_>, out: &mut Sink<'_>, given: &PastCall, stored: &MatchedCall) {
    let Body::Call(call) = &cx.transcript.parts[stored.part].body else { return };
    let title = call.title();
    let message = match stored.change {
        Change::Wrapped => format!(
            "the arguments of tool call {title} are not a JSON object; the history has them as a string inside an object \
             that the model did not write"
        ),
        Change::Emptied if given.has_odd_arguments() => format!(
            "the arguments of tool call {title} are not a JSON object in the response, and the history has none in their place"
        ),
        Change::Emptied => format!("the history has empty arguments for tool call {title}"),
        _ if given.has_odd_arguments() => format!(
            "the arguments of tool call {title} are not a JSON object in the response, and the history has a repaired form of them"
        ),
        _ => format!("the arguments of tool call {title} differ between the history and the response"),
    };
    let finding = out.report(cx.transcript.parts[stored.part].place, message);
    finding.about_call(call).caption("in the history").help(
        "send the arguments back as the model wrote them; if the API rejects malformed arguments, quote them in \
         the result and say what was wrong",
    );
    finding.label_at(given.call.place, given.spot.clone(), "in the response");
    finding.say().tool_name = given.call.name.as_deref().map(text::kept);
    let is_old = cx.kept.is_some_and(|kept| kept.is_old(stored));
    if given.is_unfinished || given.has_odd_arguments() || is_old {
        finding.at_most(Level::Warning);
    }
}

/// The name that a call has in the response, if it is that of another tool, and both in letters alone.
fn other_name<'k>(
    cx: &Context<'_, '_>,
    given: &'k PastCall,
    stored: &MatchedCall,
) -> Option<(&'k str, [String; 2])> {
    let Body::Call(call) = &cx.transcript.parts[stored.part].body else { return None };
    let is_same_id = call.id.as_ref().is_none_or(|id| given.call.id.as_deref() == Some(&*id.text));
    let was = given.call.name.as_deref().filter(|_| is_same_id)?;
    let name = call.name.as_ref().filter(|name| name.text != was)?;
    // The same letters in another way are what a gateway makes of a name that an API does not take.
    let names = [letters(&name.text), letters(was)];
    (names[0] != names[1] && !names.iter().any(String::is_empty)).then_some((was, names))
}

/// Reports a call that has the name of another tool.
fn check_name(cx: &Context<'_, '_>, out: &mut Sink<'_>, given: &PastCall, stored: &MatchedCall) {
    let part = &cx.transcript.parts[stored.part];
    let Body::Call(call) = &part.body else { return };
    let Some((was, [own, other])) = other_name(cx, given, stored) else { return };
    let is = text::shorten(Named::text_or_unknown(call.name.as_ref()));
    let message =
        format!("tool call {} calls `{}` in the response, but `{is}` here", call.title(), text::shorten(was));
    let finding = out.report(part.place, message);
    finding.about_call(call).caption("in the history");
    finding.help("send the call back with the name that the model wrote");
    finding.label_at(given.call.place, given.spot.clone(), "in the response");
    let shared = own.bytes().zip(other.bytes()).take_while(|(own, other)| own == other).count();
    if own.ends_with(&other) || other.ends_with(&own) || shared >= SHORTENED.min(own.len().min(other.len())) {
        finding.at_most(Level::Warning);
    }
}

fn letters(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// How many letters the names of one tool share at least if a gateway has shortened one of them.
const SHORTENED: usize = 16;

/// Removes the findings about arguments and names that the client wrote, and returns them: the model is not to blame. So it
/// does with those about results whose calls the client has dropped, which another rule reports.
pub(crate) fn settle(
    cx: &Context<'_, '_>,
    findings: &mut Vec<Draft>,
    first: usize,
    tells_dropped: bool,
) -> Vec<Draft> {
    let Some(kept) = cx.kept else { return Vec::new() };
    // Where each is, and whether it has another name.
    let changed = kept.calls_changed().filter_map(|(given, stored)| {
        let is_renamed = other_name(cx, given, stored).is_some();
        let is_own = is_renamed || stored.change != Change::Same || is_told(cx, given, stored);
        is_own.then(|| (cx.transcript.parts[stored.part].place.span, is_renamed))
    });
    let mut calls: Vec<(Span, bool)> = changed.collect();
    toolcheck_json::sort_by_position(&mut calls, |(span, _)| span.start as usize);
    let is_silenced = |finding: &Draft| {
        let span = finding.place.span;
        let before = calls.partition_point(|(call, _)| call.start <= span.start).checked_sub(1);
        before.map(|call| calls[call]).filter(|(call, _)| span.end <= call.end).is_some_and(
            |(_, is_renamed)| match finding.rule {
                RuleId::ArgumentsSchemaMismatch | RuleId::InvalidArgumentsJson => true,
                RuleId::UnknownTool => is_renamed,
                _ => false,
            },
        ) || tells_dropped
            && finding.rule == RuleId::OrphanToolResult
            && finding.tool_call_id.as_ref().is_some_and(|id| kept.has_dropped(id))
    };
    let (silenced, others) = findings.split_off(first).into_iter().partition(is_silenced);
    findings.extend::<Vec<Draft>>(others);
    silenced
}
