use toolcheck_core::ir::Named;
use toolcheck_core::pairing::PairedWith;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    DuplicateToolResult in Pairing, since "0.1.0", warning looks at [RESULTS], check,
    fix [
        safe: "A second result is removed if it is identical, or a placeholder for a missing result.",
        unsafe: "Of two different results, the content of the second is put after that of the first; `--duplicates` keeps the `first` or the `last`.",
        otherwise: "the two results differ and cannot be joined; `--duplicates first` or `last` keeps one",
    ],
    cases [
        "later-turn": "the second result is in a later turn than the first",
    ],
    values PART, CALL_ID
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for site in &cx.pairing.results {
        let PairedWith::Repeated(call) = site.paired_with else { continue };
        let call = &cx.pairing.calls[call];
        let first = cx.pairing.answer_of(call);
        let finding =
            out.report(site.part.place, format!("tool call {} has a second result", call.call.title()));
        finding
            .about_call(call.call)
            .caption("second result")
            .help("keep one result per call")
            .at(cx, site)
            .value("id", Named::text_or_unknown(site.result.call_id.as_ref()));
        if let Some(first) = first {
            finding.label(first.part.place, "first result");
            if first.turn != site.turn {
                finding.case("later-turn");
            }
        }
    }
}
