use std::sync::Arc;

use jsonschema::error::{TypeKind, ValidationError, ValidationErrorKind};
use rustc_hash::{FxHashMap, FxHashSet};
use toolcheck_core::ir::{Arguments, Call, Executor, Part, Place, shorten};
use toolcheck_json::Value;

use crate::calls::{self, Locate};
use crate::rule::{Context, Sink, declare_rule};
use crate::schemas::{Schema, Unusable};

declare_rule! {
    /// Arguments that the tool's schema does not allow.
    ///
    /// ## Why is this bad?
    ///
    /// The tool declared what it takes, and the call brings something else: an argument is missing, has another name
    /// or is of another type. The tool fails, or does something that nobody asked for; and a model that sees such
    /// calls in its history, or learns from them, makes more of them.
    ///
    /// A list of tools that is kept as a JSON text, as datasets have it, counts too.
    ///
    /// Every violation is a finding of its own, at its place inside the arguments, also where these are JSON in a
    /// string.
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
    "arguments-schema-mismatch" in Arguments, since "0.1.0", warning (error in dataset) on call, check
}

/// How many violations of one call are told: whoever sees twenty will look at the whole.
const MOST_VIOLATIONS: usize = 20;

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let mut schemas: FxHashMap<&str, Option<&[u8]>> = FxHashMap::default();
    // Where a name is declared twice nobody knows which of the two is called.
    let tools = cx.transcript.tools.iter().flatten();
    for tool in tools.chain(&cx.transcript.added_tools) {
        let Some(name) = &tool.name else { continue };
        let schema = tool.schema.filter(|_| tool.executor == Executor::Client);
        let schema = schema.map(|place| cx.document.value(place.node).raw());
        // A search for tools repeats the definition that it found.
        schemas
            .entry(&name.text)
            .and_modify(|known| *known = known.filter(|known| Some(*known) == schema))
            .or_insert(schema);
    }
    // Of two that are declared beside it the last counts.
    for tool in cx.definitions().rev() {
        schemas.entry(&tool.name).or_insert(tool.schema.as_deref());
    }
    if schemas.is_empty() {
        return;
    }
    // Compiled when they are first called: most tools never are.
    let mut compiled: FxHashMap<&str, Option<Arc<Result<Schema, Unusable>>>> = FxHashMap::default();
    let mut room = calls::Room::default();
    for (part, call) in calls::of_functions(cx, |_| true) {
        let Some(name) = &call.name else { continue };
        let compile = || schemas.get(&*name.text).copied().flatten().map(|schema| cx.schemas.of(schema));
        // A schema that can't be used is a fault of its own.
        let Some(Ok(schema)) = compiled.entry(&name.text).or_insert_with(compile).as_deref() else {
            continue;
        };
        let allowed = calls::with_object(cx, &call.arguments, &mut room, |root| schema.allows(root));
        // A table gives each row the arguments of all rows, and `null` to those that it has not.
        let is_padded = cx.is_training_example() && matches!(call.arguments, Arguments::Object(_));
        if allowed.flatten() == Some(false) {
            calls::with_places(cx, &call.arguments, |root, locate| {
                tell(out, (part, call), schema, (root, is_padded), locate);
            });
        }
    }
}

fn tell(
    out: &mut Sink<'_>,
    (part, call): (&Part<'_>, &Call<'_>),
    schema: &Schema,
    (root, is_padded): (Value<'_, '_>, bool),
    locate: &Locate<'_>,
) {
    let tool = call.name.as_ref().map_or("?", |name| &*name.text);
    let violations = schema.errors(root).flat_map(|error| match calls::value_of(root, &error) {
        Some(at) if is_padded && at.is_null() => Vec::new(),
        Some(at) => violations(&error, at, (at.id() == root.id(), is_padded), locate),
        None => Vec::new(),
    });
    let mut told = FxHashSet::default();
    let violations = violations.filter(|violation| told.insert(violation.clone()));
    for (place, what) in violations.take(MOST_VIOLATIONS) {
        out.report(place, format!("{what}, says the schema of `{}`", shorten(tool)))
            .about_call(call)
            .caption("here")
            .label(part.place, "in this call")
            .help("bring the arguments that the tool declares, or declare what it takes");
    }
}

/// The places and words of an error. No value of the transcript is among the words.
fn violations(
    error: &ValidationError<'_>,
    at: Value<'_, '_>,
    (is_whole, is_padded): (bool, bool),
    locate: &Locate<'_>,
) -> Vec<(Place, String)> {
    let title = match at.key_text() {
        Some(key) if !is_whole => format!("the argument `{}`", shorten(&key)),
        _ if is_whole => "the whole of the arguments".to_owned(),
        _ => "an element".to_owned(),
    };
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or("?");
            vec![(locate(at, false), format!("the argument `{}` is missing", shorten(name)))]
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            let unexpected: FxHashSet<&str> = unexpected.iter().map(String::as_str).collect();
            let members = at.members().filter(|member| !(is_padded && member.is_null()));
            let members = members.filter_map(|member| Some((member.key_text()?, member)));
            members
                .filter(|(key, _)| unexpected.contains(&**key))
                .map(|(key, member)| {
                    (locate(member, true), format!("the argument `{}` is unknown", shorten(&key)))
                })
                .collect()
        }
        // Where a schema names no argument at all and allows no other, each one is unknown.
        ValidationErrorKind::FalseSchema
            if at.is_object() && error.schema_path().to_string().ends_with("/additionalProperties") =>
        {
            let members = at.members().filter(|member| !(is_padded && member.is_null()));
            let members = members.filter_map(|member| Some((member.key_text()?, member)));
            members
                .map(|(key, member)| {
                    (locate(member, true), format!("the argument `{}` is unknown", shorten(&key)))
                })
                .collect()
        }
        ValidationErrorKind::FalseSchema => {
            vec![(locate(at, !is_whole), format!("{title} may not be there"))]
        }
        // Of a map nobody knows what its keys are: they may be values.
        ValidationErrorKind::PropertyNames { .. } => {
            vec![(locate(at, false), format!("{title} has a key that is not allowed"))]
        }
        ValidationErrorKind::Contains => {
            vec![(locate(at, false), format!("{title} has no element of the form that one must have"))]
        }
        ValidationErrorKind::Type { kind } => {
            let wanted = match kind {
                TypeKind::Single(one) => one.to_string(),
                TypeKind::Multiple(several) => {
                    several.iter().map(|one| one.to_string()).collect::<Vec<_>>().join(" or ")
                }
            };
            vec![(locate(at, false), format!("{title} is not of the type {wanted}"))]
        }
        ValidationErrorKind::Enum { .. } | ValidationErrorKind::Constant { .. } => {
            vec![(locate(at, false), format!("{title} is none of the values that there are"))]
        }
        ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::OneOfNotValid { .. } => {
            vec![(locate(at, false), format!("{title} fits none of the forms that there are"))]
        }
        // A text that takes too long to look at says nothing about the arguments.
        ValidationErrorKind::BacktrackLimitExceeded { .. }
        | ValidationErrorKind::RegexEngineFailure { .. }
        | ValidationErrorKind::Referencing(_) => Vec::new(),
        _ => {
            let words = error.masked().to_string();
            vec![(locate(at, false), format!("{title} is not allowed ({})", shorten(&words)))]
        }
    }
}
