use toolcheck_core::ir::{Body, Executor, ToolKind};
use toolcheck_core::text::shorten;

use crate::rule::{Context, Sink, declare_rule};
use crate::view::shape;

declare_rule! {
    UnknownContentType in Content, since "0.1.0", silent on wire reports shape, check,
    values PART
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    shape::report(cx, &RULE, out);
    types_of_tools(cx, out);
    for change in &cx.transcript.request.tools.changes {
        let number = change.message_number as usize;
        out.report(change.place, "a message adds or removes a tool, which this model does not support")
            .caption("not supported by this model")
            .help("declare all tools that the model may call in the request")
            .case("tool-change")
            .at(cx, (number, &cx.transcript.messages[number]));
    }
    if let Some(place) = cx.transcript.request.tools.search {
        out.report(place, "tool search is declared for a model that doesn't support it")
            .caption("this tool")
            .help("declare the tools themselves, or use a model that supports tool search")
            .case("tool-search");
    }
    for (number, message, part) in cx.transcript.sites() {
        let Body::Call(call) = &part.body else { continue };
        let is_of_server = call.executor == Executor::Server && call.kind == ToolKind::BuiltIn;
        if let Some(name) = call.name.as_ref().filter(|_| is_of_server) {
            let what = format!("the model doesn't support calls to server tool `{}`", shorten(&name.text));
            out.report(part.place, what)
                .about_call(call)
                .caption("not supported by this model")
                .help("remove the call and its result, or use a model that supports them")
                .case("server-call")
                .at(cx, (number, message, part));
            continue;
        }
        if call.executor == Executor::Server || call.kind != ToolKind::Custom {
            continue;
        }
        out.report(
            part.place,
            format!("tool call {} is of an unsupported kind: {}", call.title(), call.kind.name()),
        )
        .about_call(call)
        .caption("not supported here")
        .help("use function calls, with JSON arguments")
        .case("custom-call")
        .at(cx, (number, message, part));
    }
}

/// Tools of a type that the model doesn't support.
fn types_of_tools(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some(model) = &cx.transcript.request.model else { return };
    let unsupported = &cx.target().tools.unsupported;
    for tool in cx.transcript.request.tools.listed().iter() {
        let Some(kind) = &tool.kind else { continue };
        let mut of_type = unsupported.iter().filter(|entry| entry.types.iter().any(|own| *own == kind.text));
        if !of_type.any(|entry| entry.model.is_match(model)) {
            continue;
        }
        out.report(kind.place, format!("the model doesn't support tools of type `{}`", shorten(&kind.text)))
            .caption("not supported by this model")
            .help("use another model, or a version of the tool that this model supports")
            .case("tool-type")
            .value("model", shorten(model))
            .value("name", shorten(&kind.text));
    }
}
