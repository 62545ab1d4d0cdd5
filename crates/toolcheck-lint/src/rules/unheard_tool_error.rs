use toolcheck_core::ir::TranscriptKind;

use crate::rule::{Context, Sink, declare_rule};
use crate::view::failure::is_failed;

declare_rule! {
    UnheardToolError in Agents, since "0.1.0", warning looks at [RESULTS], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    if cx.transcript.kind != TranscriptKind::Session || cx.is_cut_off {
        return;
    }
    let last = cx.pairing.turns.len().saturating_sub(1);
    let results = cx.pairing.results.iter().rev().take_while(|site| site.turn == last);
    // A loop that stops is one problem, however many tools failed.
    let Some(site) = results.filter(|site| is_failed(cx, site.result)).last() else { return };
    let finding = out.report(
        site.part.place,
        format!(
            "the recording ends with failed tool result {}, which the model never saw",
            site.result.title()
        ),
    );
    finding
        .about_result(site.result)
        .caption("never sent to the model")
        .help("send results back to the model, and let it continue until it makes no more calls");
    if let Some(call) = site.paired_with.call() {
        finding.label(cx.pairing.calls[call].part.place, "its call");
    }
}
