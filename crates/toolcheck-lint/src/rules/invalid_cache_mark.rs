use toolcheck_core::Level;
use toolcheck_core::fix::{Change, Fix};
use toolcheck_core::ir::{CacheMark, CacheMarkTarget};

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    InvalidCacheMark in Content, since "0.1.0", silent on wire looks at [CACHE_MARKS], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let marks = &cx.transcript.details.cache_marks;
    if let Some(max) = cx.target().content.max_cache_marks
        && let Some(surplus) = marks.get(max)
    {
        let count = marks.len();
        let finding = out
            .report(surplus.place, format!("the request has {count} cache markers, but the limit is {max}"));
        // The last ones are of use to the next request.
        let oldest = marks.iter().take(count - max).map(|mark| Change::Remove(mark.place.node));
        finding.fix(Fix::safe(oldest));
        finding
            .caption("the first one over the limit")
            .help("keep the last markers and remove the others")
            .case("too-many")
            .value("count", count)
            .value("max", max);
    }
    automatic(cx, out);
    for mark in marks {
        let (case, what, help) = match mark.target {
            CacheMarkTarget::Usual | CacheMarkTarget::MarkedResult => continue,
            CacheMarkTarget::DeferredTool => (
                "deferred-tool",
                "a deferred tool has a cache marker",
                "put the marker on a tool that is always loaded, or on none",
            ),
            CacheMarkTarget::DroppedMessage => (
                "turn-scoped",
                "a message that is kept for one turn only has a cache marker",
                "put the marker on a message that stays",
            ),
            CacheMarkTarget::InsideResult => {
                ("inside-result", "a block in a result has a cache marker", "move it to the result itself")
            }
        };
        let finding = out.report(mark.place, what);
        finding.caption("not allowed here").help(help).case(case);
        finding.value_of("path", mark.path.as_ref());
        if mark.target != CacheMarkTarget::InsideResult {
            finding.fix(Fix::safe([Change::Remove(mark.place.node)]));
        }
    }
    in_results(marks, out);
    let Some(short) = marks.iter().position(|mark| mark.is_long_lived == Some(false)) else { return };
    let mut later = marks[short..].iter();
    let is_told = |mark: &CacheMark| mark.target == CacheMarkTarget::MarkedResult;
    let Some(late) = later.find(|mark| mark.is_long_lived == Some(true) && !is_told(mark)) else { return };
    let finding = out.report(late.place, "a long-lived cache marker comes after a short-lived one");
    finding
        .caption("long-lived")
        .label(marks[short].place, "short-lived, but comes first")
        .help("make the markers before it long-lived too; tools come first, then the system prompt, then messages")
        .case("order");
    finding.value_of("path", late.path.as_ref());
}

/// The marks of results that have several, of which one is allowed.
fn in_results(marks: &[CacheMark], out: &mut Sink<'_>) {
    for own in marks.chunk_by(|one, next| one.path.is_some() && one.path == next.path) {
        let inside = || own.iter().filter(|mark| mark.target == CacheMarkTarget::MarkedResult);
        let Some(first) = inside().next() else { continue };
        let finding = out.report(first.place, "a result has more than one cache marker");
        finding.caption("not allowed here").help("keep one, on the result itself").case("marked-result");
        finding.value_of("path", first.path.as_ref());
        let surplus = inside().take(own.len() - 1);
        finding.fix(Fix::safe(surplus.map(|mark| Change::Remove(mark.place.node))));
    }
}

/// The mark of the request itself, where all are taken.
fn automatic(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let marks = &cx.transcript.details.cache_marks;
    let Some(mark) = &cx.transcript.details.automatic_cache_mark else { return };
    let is_for_other_time =
        |long: Option<bool>| long.zip(mark.is_long_lived).is_some_and(|(own, automatic)| own != automatic);
    if let Some(own) = mark.own.as_ref().filter(|own| is_for_other_time(own.is_long_lived)) {
        let what = "the cache marker of the request is for another time than that of the block it is for";
        let finding = out.report(mark.place, what);
        finding.caption("for the last block").label(own.place, "which has this one");
        finding.help("give both the same lifetime, or remove one of them").case("automatic");
        return;
    }
    let Some(max) = cx.target().content.max_cache_marks.filter(|max| *max == marks.len()) else { return };
    let count = max + 1;
    let what =
        format!("the request has {count} cache markers, including the automatic one, but the limit is {max}");
    let finding = out.report(mark.place, what);
    finding
        .caption("marks the last block, too")
        .help("remove it, or one of the others")
        .case("too-many")
        .value("count", count)
        .value("max", max);
    // It may add nothing where the last block has a mark.
    if mark.own.is_some() {
        finding.at_most(Level::Warning);
    }
    finding.fix(Fix::safe(marks.first().map(|mark| Change::Remove(mark.place.node))));
}
