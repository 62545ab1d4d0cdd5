use toolcheck_core::ir::{Arguments, Body, Call, Named, Part, Place};
use toolcheck_core::text::shorten;
use toolcheck_json::{Document, Value};
use toolcheck_schema::Schema;

use crate::rule::{Context, Sink, declare_rule};
use crate::view::arguments::{self, Locate};
use crate::view::checks::NO_ARGUMENTS;
use crate::view::violations::{self, Words};

declare_rule! {
    ArgumentsSchemaMismatch in Arguments, since "0.1.0", warning (error in dataset) on call looks at [CALLS], check
}

const WORDS: Words =
    Words { member: "argument", object: "the arguments object", whole: "the value of the arguments" };

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let checks = cx.checks();
    for violation in &checks.violations {
        let part = &cx.transcript.parts[violation.part];
        let (Body::Call(call), Some(schema)) = (&part.body, violation.schema()) else { continue };
        // A table gives each row the arguments of all rows, with `null` for those that the row does not have.
        let is_padded = cx.is_training_example() && matches!(call.arguments, Arguments::Object(_));
        // They are nowhere in the file as they are.
        let whole = cx.transcript.details.streamed_arguments.get(&violation.part).map(String::as_bytes);
        if let Some(said) = whole.map(Document::read) {
            report_violations(out, part, call, schema, said.root(), false, &|_, _| part.place);
            continue;
        }
        if call.arguments.are_absent() {
            let none = Document::read(NO_ARGUMENTS);
            let missing = violations::list(schema, none.root(), false, &WORDS, &|_, _| part.place);
            // All that is missing is one mistake.
            let message = match &missing[..] {
                [(_, message)] => message.clone(),
                several => format!("the call has no arguments, and {} are required", several.len()),
            };
            report(out, part, call, part.place, &message);
            continue;
        }
        arguments::with_places(cx, &call.arguments, |root, locate| {
            report_violations(out, part, call, schema, root, is_padded, locate);
        });
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

fn report_violations(
    out: &mut Sink<'_>,
    part: &Part<'_>,
    call: &Call<'_>,
    schema: &Schema,
    root: Value<'_, '_>,
    is_padded: bool,
    locate: &Locate<'_>,
) {
    for (place, message) in violations::list(schema, root, is_padded, &WORDS, locate) {
        report(out, part, call, place, &message);
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
