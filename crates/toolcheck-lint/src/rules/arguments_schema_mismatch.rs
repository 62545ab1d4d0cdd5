use std::cell::LazyCell;

use foldhash::HashSet;
use toolcheck_core::ir::{Arguments, Body, Call, Named, Part, Place, ToolDef};
use toolcheck_core::text::shorten;
use toolcheck_json::Document;

use crate::rule::{Context, Sink, declare_rule};
use crate::view::arguments;
use crate::view::checks::NO_ARGUMENTS;
use crate::view::violations::{self, Words};

declare_rule! {
    ArgumentsSchemaMismatch in Arguments, since "0.1.0", warning (error in dataset) on call looks at [CALLS], check
}

const WORDS: Words = Words {
    member: "argument",
    object: "the arguments object",
    whole: "the value of the arguments",
    quotes_required: true,
};

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let checks = cx.checks();
    // What results say is not quoted.
    let of_results = LazyCell::new(|| {
        let parts = &cx.transcript.parts;
        let is_in_result = |tool: &&ToolDef<'_>| {
            let before = parts.partition_point(|part| part.place.span.start <= tool.place.span.start);
            let part = before.checked_sub(1).map(|last| &parts[last]);
            part.is_some_and(|part| {
                matches!(part.body, Body::Result(_)) && part.place.span.contains(tool.place.span)
            })
        };
        let added = cx.transcript.request.tools.added.iter().filter(is_in_result);
        added.filter_map(|tool| Some(&*tool.name.as_ref()?.text)).collect::<HashSet<&str>>()
    });
    for violation in &checks.violations {
        let part = &cx.transcript.parts[violation.part];
        let (Body::Call(call), Some(schema)) = (&part.body, violation.schema()) else { continue };
        // A table gives each row the arguments of all rows, with `null` for those that the row does not have.
        let is_padded = cx.is_training_example() && matches!(call.arguments, Arguments::Object(_));
        // They are nowhere in the file as they are.
        let streamed = cx.transcript.details.streamed_arguments.get(&violation.part).map(String::as_bytes);
        let is_none = streamed.is_none() && call.arguments.are_absent();
        let is_of_result = call.name.as_ref().is_some_and(|name| of_results.contains(&*name.text));
        let words = Words { quotes_required: !is_of_result, ..WORDS };
        let mut found = Vec::new();
        if let Some(text) = streamed.or(is_none.then_some(NO_ARGUMENTS)) {
            let said = Document::read(text);
            found = violations::list(schema, said.root(), false, &words, &|_, _| part.place);
        } else {
            arguments::with_places(cx, &call.arguments, |root, locate| {
                found = violations::list(schema, root, is_padded, &words, locate);
            });
        }
        if is_none && found.len() > 1 {
            // All that is missing is one mistake.
            let message = format!("the call has no arguments, and {} are required", found.len());
            report(out, part, call, part.place, &message);
            continue;
        }
        for (place, message) in &found {
            report(out, part, call, *place, message);
        }
    }
    // A schema in the request is `invalid-tool-schema`.
    for unchecked in checks.unchecked.iter().filter(|unchecked| cx.is_answer || !unchecked.is_own) {
        let part = &cx.transcript.parts[unchecked.part];
        let Body::Call(call) = &part.body else { continue };
        let (tool, why) = (shorten(&unchecked.tool), unchecked.reason());
        out.report(part.place, format!("the arguments are not checked: the schema of `{tool}` {why}"))
            .about_call(call)
            .caption("this call is not checked")
            .help("make the schema simpler");
    }
}

fn report(out: &mut Sink<'_>, part: &Part<'_>, call: &Call<'_>, place: Place, message: &str) {
    let tool = Named::text_or_unknown(call.name.as_ref());
    out.report(place, format!("{message} (schema of `{}`)", shorten(tool)))
        .about_call(call)
        .caption("here")
        .label(part.place, "in this call")
        .help("pass the arguments that the tool declares, or update its schema");
}
