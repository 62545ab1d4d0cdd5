use toolcheck_core::fix::{Change, Fix};
use toolcheck_core::ir::Place;
use toolcheck_json::{Span, SyntaxErrorKind};

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    LoneSurrogate in Files, since "0.1.0", warning on text looks at [FAULTS], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    // What an agent sends next is in the parts of its messages.
    let parts = cx.transcript.parts.iter().filter(|_| cx.next_request().is_some());
    let mut sent: Vec<Span> = parts.map(|part| part.place.span).collect();
    toolcheck_json::sort_by_position(&mut sent, |span| span.start as usize);
    for fault in cx.document.faults().iter().filter(|fault| fault.kind == SyntaxErrorKind::LoneSurrogate) {
        let node = cx.document.innermost(fault.span.start);
        let finding = out.report(Place { node, span: fault.span }, fault.kind.describe());
        finding
            .caption("half a character")
            .help("truncate text between characters, not between UTF-16 code units");
        let before = sent.partition_point(|span| span.start <= fault.span.start);
        finding.say().stays = !before.checked_sub(1).is_some_and(|last| sent[last].contains(fault.span));
        let value = cx.document.value(node);
        if value.is_string() && value.span().contains(fault.span) {
            finding.fix(Fix::safe([Change::Halves(node)]));
        }
    }
    let left_out = cx.document.halves_left_out();
    if left_out > 0 {
        out.report(
            cx.transcript.place,
            format!("{left_out} more surrogate escapes without their other half"),
        )
        .caption("in this text")
        .help("truncate text between characters, not between UTF-16 code units");
    }
}
