use foldhash::HashSet;
use jsonschema::error::{TypeKind, ValidationError, ValidationErrorKind};
use toolcheck_core::ir::{Arguments, Body, Call, Named, Part, Place};
use toolcheck_core::text::shorten;
use toolcheck_json::Value;

use crate::rule::{Context, Sink, declare_rule};
use crate::schema::{Index, Schema};
use crate::view::arguments::{self, Locate};

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

/// The most violations that are reported for one call.
const MOST_VIOLATIONS: usize = 20;

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let checks = cx.checks();
    for violation in &checks.violations {
        let part = &cx.transcript.parts[violation.part];
        let (Body::Call(call), Some(schema)) = (&part.body, violation.schema()) else { continue };
        // A table gives each row the arguments of all rows, with `null` for those that the row does not have.
        let is_padded = cx.is_training_example() && matches!(call.arguments, Arguments::Object(_));
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
    let index = Index::default();
    let violations = schema.with_errors(root, |errors| {
        let listed = errors.listed.iter().flat_map(|error| match arguments::value_of(root, &index, error) {
            Some(at) if is_padded && at.is_null() => Vec::new(),
            Some(at) => violations(error, at, (at.id() == root.id(), is_padded), locate),
            None => Vec::new(),
        });
        let mut reported = HashSet::default();
        let listed = listed.filter(|violation| reported.insert(violation.clone()));
        let mut violations: Vec<_> = listed.take(MOST_VIOLATIONS).collect();
        if violations.is_empty() && !errors.are_all {
            violations.push((locate(root, false), "the arguments do not match".to_owned()));
        }
        violations
    });
    for (place, message) in violations {
        out.report(place, format!("{message} (schema of `{}`)", shorten(tool)))
            .about_call(call)
            .caption("here")
            .label(part.place, "in this call")
            .help("pass the arguments that the tool declares, or update its schema");
    }
}

/// The places and messages of an error. The messages contain no values from the transcript.
fn violations(
    error: &ValidationError<'_>,
    at: Value<'_, '_>,
    (is_whole, is_padded): (bool, bool),
    locate: &Locate<'_>,
) -> Vec<(Place, String)> {
    let title = match at.key_text() {
        Some(key) if !is_whole => format!("argument `{}`", shorten(&key)),
        _ if is_whole && at.is_object() => "the arguments object".to_owned(),
        _ if is_whole => "the value of the arguments".to_owned(),
        _ => "an array element".to_owned(),
    };
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or("?");
            vec![(locate(at, false), format!("missing argument `{}`", shorten(name)))]
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            let unexpected: HashSet<&str> = unexpected.iter().map(String::as_str).collect();
            let members = at.members().filter(|member| !(is_padded && member.is_null()));
            let members = members.filter_map(|member| Some((member.key_text()?, member)));
            members
                .filter(|(key, _)| unexpected.contains(&**key))
                .map(|(key, member)| (locate(member, true), format!("unknown argument `{}`", shorten(&key))))
                .collect()
        }
        // If a schema declares no arguments and allows no others, each one is unknown.
        ValidationErrorKind::FalseSchema
            if at.is_object() && error.schema_path().to_string().ends_with("/additionalProperties") =>
        {
            let members = at.members().filter(|member| !(is_padded && member.is_null()));
            let members = members.filter_map(|member| Some((member.key_text()?, member)));
            members
                .map(|(key, member)| (locate(member, true), format!("unknown argument `{}`", shorten(&key))))
                .collect()
        }
        ValidationErrorKind::FalseSchema => {
            vec![(locate(at, !is_whole), format!("{title} is not allowed"))]
        }
        // The keys of a map may be data, so they are not quoted.
        ValidationErrorKind::PropertyNames { .. } => {
            vec![(locate(at, false), format!("{title} has a key that is not allowed"))]
        }
        ValidationErrorKind::Contains => {
            vec![(locate(at, false), format!("{title} has no element that matches `contains`"))]
        }
        ValidationErrorKind::Type { kind } => {
            let expected = match kind {
                TypeKind::Single(one) => one.to_string(),
                TypeKind::Multiple(several) => {
                    several.iter().map(|one| one.to_string()).collect::<Vec<_>>().join(" or ")
                }
            };
            vec![(locate(at, false), format!("{title} is not of type {expected}"))]
        }
        ValidationErrorKind::Enum { .. } | ValidationErrorKind::Constant { .. } => {
            vec![(locate(at, false), format!("{title} is not one of the allowed values"))]
        }
        ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::OneOfNotValid { .. } => {
            vec![(locate(at, false), format!("{title} does not match any of the allowed alternatives"))]
        }
        // A text that takes too long to match says nothing about the arguments.
        ValidationErrorKind::BacktrackLimitExceeded { .. }
        | ValidationErrorKind::RegexEngineFailure { .. }
        | ValidationErrorKind::Referencing(_) => Vec::new(),
        _ => {
            let words = error.masked().to_string();
            vec![(locate(at, false), format!("{title} is invalid: {}", shorten(&words)))]
        }
    }
}
