use toolcheck_core::ir::{Arguments, Body, Call, Named, Part};
use toolcheck_core::text::shorten;
use toolcheck_json::{Document, Value};

use crate::rule::{Context, Sink, declare_rule};
use crate::schema::Schema;
use crate::view::arguments::{self, Locate};
use crate::view::checks::NO_ARGUMENTS;
use crate::view::violations::{self, Words};

declare_rule! {
    /// Tool call arguments that don't match the tool's schema.
    ///
    /// ## Why is this bad?
    ///
    /// The tool declares which arguments it takes, and the call doesn't fit: an argument is missing, unknown or of the
    /// wrong type. The tool fails or does something unintended, and a model that sees such calls in its history,
    /// or is trained on them, makes more of them.
    ///
    /// Tool definitions that are stored as a JSON string, as in many data sets, are used too.
    ///
    /// Each violation is reported separately, at its place inside the arguments, even if these are JSON in a string. At
    /// most 20 are reported for a call, and only the first if there may be very many.
    ///
    /// Arguments that would take too long to check are not checked. That is reported by `invalid-tool-schema`, or by
    /// this rule if the schema is not in the request's list of tools.
    ///
    /// ## Fails
    ///
    /// ```json openai-chat
    /// {"tools": [{"type": "function", "function": {"name": "write", "parameters": {
    ///    "type": "object", "required": ["path", "content"],
    ///    "properties": {"path": {"type": "string"}, "content": {"type": "string"}}}}}],
    ///  "messages": [
    ///   {"role": "user", "content": "start the notes"},
    ///   {"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function", "function": {
    ///      "name": "write", "arguments": "{\"path\": \"notes.md\"}"}}]},  // flagged
    ///   {"role": "tool", "tool_call_id": "call_1", "content": "wrote 0 bytes"}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json openai-chat
    /// {"tools": [{"type": "function", "function": {"name": "write", "parameters": {
    ///    "type": "object", "required": ["path", "content"],
    ///    "properties": {"path": {"type": "string"}, "content": {"type": "string"}}}}}],
    ///  "messages": [
    ///   {"role": "user", "content": "start the notes"},
    ///   {"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function", "function": {
    ///      "name": "write", "arguments": "{\"path\": \"notes.md\", \"content\": \"# Notes\"}"}}]},
    ///   {"role": "tool", "tool_call_id": "call_1", "content": "wrote 7 bytes"}
    /// ]}
    /// ```
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
        if call.arguments.are_absent() {
            let none = Document::read(NO_ARGUMENTS);
            report_violations(out, (part, call), schema, (none.root(), false), &|_, _| part.place);
            continue;
        }
        arguments::with_places(cx, &call.arguments, |root, locate| {
            report_violations(out, (part, call), schema, (root, is_padded), locate);
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
    (part, call): (&Part<'_>, &Call<'_>),
    schema: &Schema,
    (root, is_padded): (Value<'_, '_>, bool),
    locate: &Locate<'_>,
) {
    let tool = Named::text_or_unknown(call.name.as_ref());
    for (place, message) in violations::list(schema, (root, is_padded), &WORDS, locate) {
        out.report(place, format!("{message} (schema of `{}`)", shorten(tool)))
            .about_call(call)
            .caption("here")
            .label(part.place, "in this call")
            .help("pass the arguments that the tool declares, or update its schema");
    }
}
