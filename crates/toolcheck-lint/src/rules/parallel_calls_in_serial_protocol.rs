use toolcheck_core::Level;
use toolcheck_core::protocols::{Reply, TextCall};
use toolcheck_core::text::shorten;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    ParallelCallsInSerialProtocol in TextProtocols, since "0.1.0", error looks at [TEXT], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let calls = &cx.text_calls().calls;
    let is_together = |one: &TextCall, other: &TextCall| {
        one.message == other.message && std::ptr::eq(one.protocol, other.protocol)
    };
    for calls in calls.chunk_by(is_together) {
        let [first, second, ..] = calls else { continue };
        let results = calls.iter().filter(|call| call.reply == Reply::Result).count();
        if !first.protocol.is_serial || results == calls.len() {
            continue;
        }
        // A completion that is accepted ends the task, and has no result in any harness.
        let is_lost = |call: &TextCall| {
            call.reply == Reply::Nothing && !cx.settings.completion_tools.contains(&call.name)
        };
        let is_lost = results > 0 && calls.iter().any(is_lost);
        let finding = out.report(
            second.place,
            format!(
                "a message contains {} calls, but only one of them is executed: `{}` is the second",
                calls.len(),
                shorten(&second.name)
            ),
        );
        finding
            .caption("one call too many")
            .label(first.place, "the first call")
            .help("tell the model to write one call and wait for its result, and stop reading after the first call")
            .at_most(if is_lost { Level::Error } else { Level::Warning });
        finding.about_tool(&second.name);
    }
}
