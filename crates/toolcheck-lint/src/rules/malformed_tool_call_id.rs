use foldhash::HashSet;
use toolcheck_core::Level;
use toolcheck_core::ir::{Instead, Message, Named, Part, ToolKind};
use toolcheck_core::text::{kept, shorten};

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    MalformedToolCallId in Ids, since "0.1.0", warning looks at [CALLS, RESULTS], check,
    values PART
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let accepts_unknown_ids =
        cx.transcript.request.continues_remote_state || cx.target().accepts_unknown_ids();
    // An id appears on both sides of a pair and, if ids are reused, in many pairs: this is one problem.
    let mut seen = HashSet::default();
    for call in cx.pairing.calls.iter().filter(|call| call.call.kind != ToolKind::Approval) {
        let Some(id) = &call.call.id else { continue };
        // Its result still has its id, and is reported as one without a call.
        let is_lost = cx.is_request() && !accepts_unknown_ids && cx.pairing.has_stand_in(call);
        if is_lost && (id.instead.is_some() || id.text.is_empty()) {
            continue;
        }
        if let Some(fault) = fault(cx, id)
            && seen.insert((&*id.text, id.instead))
        {
            let place = (call.message_number, call.message, call.part);
            let answer = cx.pairing.answer_of(call).map(|result| result.part);
            report(cx, out, id, fault, place, answer, "call");
        }
    }
    for site in cx.pairing.results.iter().filter(|site| site.result.kind != Some(ToolKind::Approval)) {
        let Some(id) = &site.result.call_id else { continue };
        // The id of a call was checked there. If no call has the id, that is the fault, unless the target accepts it.
        let call = site.paired_with.call().map(|call| &cx.pairing.calls[call]);
        // A number next to a string with the same digits is checked by itself.
        let of_call = call.and_then(|call| call.call.id.as_ref());
        let is_other = of_call.is_some_and(|of_call| of_call.instead != id.instead);
        let is_checked = of_call.is_some() && !is_other || call.is_none() && !accepts_unknown_ids;
        if is_checked {
            continue;
        }
        if let Some(fault) = fault(cx, id).filter(|fault| !is_other || matches!(fault, IdFault::NotText(_)))
            && seen.insert((&*id.text, id.instead))
        {
            report(cx, out, id, fault, (site.message_number, site.message, site.part), None, "result");
        }
    }
}

enum IdFault {
    NotText(Instead),
    Empty,
    TooLong { length: usize, max: usize },
    Pattern,
}

fn fault(cx: &Context<'_, '_>, id: &Named<'_>) -> Option<IdFault> {
    if let Some(instead) = id.instead {
        return Some(IdFault::NotText(instead));
    }
    let ids = &cx.target().ids;
    if ids.pattern.is_none() && ids.max_length.is_none() {
        return None;
    }
    if id.text.is_empty() {
        return Some(IdFault::Empty);
    }
    if let Some(max) = ids.max_length {
        // There are at most as many characters as bytes, so most ids need not be counted.
        let length = if id.text.len() <= max { 0 } else { id.text.chars().count() };
        if length > max {
            return Some(IdFault::TooLong { length, max });
        }
    }
    let fits = ids.pattern.as_ref().is_none_or(|pattern| pattern.is_match(&id.text));
    (!fits).then_some(IdFault::Pattern)
}

fn report(
    cx: &Context<'_, '_>,
    out: &mut Sink<'_>,
    id: &Named<'_>,
    fault: IdFault,
    (message_number, message, part): (usize, &Message<'_>, &Part<'_>),
    answer: Option<&Part<'_>>,
    side: &'static str,
) {
    let pattern = cx.target().ids.pattern.as_ref().map_or("", |pattern| pattern.as_str());
    let title = shorten(&id.text);
    let what = match fault {
        IdFault::NotText(instead) if instead.is_scalar() => {
            format!("tool call id `{title}` is {}, not a string", instead.name())
        }
        IdFault::NotText(instead) => format!("a tool call id is {}, not a string", instead.name()),
        IdFault::Empty => "a tool call id is empty".to_owned(),
        IdFault::TooLong { length, max } => {
            format!("tool call id `{title}` has {length} characters, but the limit is {max}")
        }
        IdFault::Pattern => format!("tool call id `{title}` does not match `{pattern}`"),
    };
    let finding = out.report(part.place, what);
    finding.tool_call_id = Some(kept(&id.text));
    let mut help = "map ids to valid ones, the same way in the call and in its result";
    match fault {
        IdFault::NotText(instead) => {
            help = "write the id as a string, the same in the call and in its result";
            if !instead.is_scalar() {
                finding.tool_call_id = None;
            }
            if cx.accepts_unmodified_bytes() {
                finding.at_least(Level::Warning);
            }
            finding
                .case("not-text")
                .case_if(side == "result", "not-text-result")
                .value("type", instead.name())
                .value("json-type", instead.json_type())
        }
        IdFault::Empty => finding.case("empty"),
        IdFault::TooLong { length, max } => finding.case("length").value("length", length).value("max", max),
        IdFault::Pattern => finding.case("pattern"),
    };
    finding
        .case(side)
        .caption("this id")
        .help(help)
        .at(cx, (message_number, message, part))
        .value("id", shorten(&id.text))
        .value("pattern", pattern);
    finding.label(answer.map(|answer| answer.place), "and here");
}
