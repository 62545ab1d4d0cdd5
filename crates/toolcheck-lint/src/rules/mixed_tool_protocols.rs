use toolcheck_core::ir::{Body, Executor, Named, Place};
use toolcheck_core::text::shorten;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    MixedToolProtocols in TextProtocols, since "0.1.0", warning looks at [TEXT], check
}

struct First<'c> {
    tool: &'c str,
    place: Place,
    /// The name of the protocol in a sentence.
    protocol: &'static str,
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let text_calls = &cx.text_calls().calls;
    let Some(text) = text_calls.first() else { return };
    let other = text_calls.iter().find(|call| !std::ptr::eq(call.protocol, text.protocol));
    // Calls to server tools are never written in any other form.
    let native = cx.transcript.parts.iter().find_map(|part| match &part.body {
        Body::Call(call) if call.executor == Executor::Client => {
            let tool = Named::text_or_unknown(call.name.as_ref());
            Some(First { tool, place: part.place, protocol: "the API's native form" })
        }
        _ => None,
    });
    let texts = std::iter::once(text).chain(other);
    let texts = texts.map(|call| First { tool: &call.name, place: call.place, protocol: call.protocol.name });
    let mut firsts: Vec<First<'_>> = texts.chain(native).collect();
    toolcheck_json::sort_by_position(&mut firsts, |first| first.place.span.start as usize);
    let [first, second, ..] = &firsts[..] else { return };
    let finding = out.report(
        second.place,
        format!(
            "`{}` is called using {}, but earlier calls use {}",
            shorten(second.tool),
            second.protocol,
            first.protocol
        ),
    );
    finding
        .caption("a different form of call")
        .label(first.place, "the first call of the other form")
        .help("write all calls of the history in the one form that the harness reads");
    finding.about_tool(second.tool);
}
