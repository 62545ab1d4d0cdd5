use toolcheck_core::ir::Body;

use crate::rule::{Context, Sink, declare_rule};
use crate::view::shape;

declare_rule! {
    UnknownField in Fields, since "0.1.0", silent on wire reports shape, check,
    values TOOL_OR_PART
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    shape::report(cx, &RULE, out);
    unsupported_by_model(cx, out);
}

/// Keys that the API knows but some models don't support.
fn unsupported_by_model(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    // A target's entry for the whole rule is about keys that the API does not know, so these cases need separate entries.
    if cx.entry(&RULE, Some("strict")).is_harmful() {
        for (number, tool) in cx.transcript.request.tools.listed().iter().enumerate() {
            let Some(place) = tool.strict else { continue };
            out.report(place, "the model doesn't support strict tools")
                .caption("not supported by this model")
                .help("remove the key")
                .case("strict")
                .value("index", number);
        }
    }
    if cx.entry(&RULE, Some("result-status")).is_harmful() {
        for (number, message, part) in cx.transcript.sites() {
            let Body::Result(result) = &part.body else { continue };
            if result.is_error.is_some() {
                out.report(
                    part.place,
                    format!("tool result {} has a status, which the model doesn't support", result.title()),
                )
                .about_result(result)
                .caption("the status is not supported by this model")
                .help("remove the status, and say in the text that the tool failed")
                .case("result-status")
                .at(cx, (number, message, part));
            }
        }
    }
}
