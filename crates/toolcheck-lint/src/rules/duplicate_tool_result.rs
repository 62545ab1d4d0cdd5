use toolcheck_core::ir::Named;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    DuplicateToolResult in Pairing, since "0.1.0", warning looks at [RESULTS], check,
    values PART, CALL_ID
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for site in &cx.pairing.results {
        let Some(first) = cx.pairing.first_result(site) else { continue };
        let call = site.paired_with.call().map(|call| cx.pairing.calls[call].call);
        let title = call.map_or_else(|| site.result.title(), |call| call.title());
        let finding = out.report(site.part.place, format!("tool call {title} has a second result"));
        match call {
            Some(call) => finding.about_call(call),
            None => finding.about_result(site.result),
        };
        finding
            .caption("second result")
            .help("keep one result per call")
            .at(cx, site)
            .value("id", Named::text_or_unknown(site.result.call_id.as_ref()))
            .label(first.part.place, "first result")
            .case_if(first.turn != site.turn, "later-turn")
            .case_if(first.message_number == site.message_number, "one-message");
    }
}
