use foldhash::{HashMap, HashSet};
use toolcheck_core::ir::{Arguments, Body, Call, Named, Part, Place, ToolDef};
use toolcheck_core::text::shorten;
use toolcheck_json::{Document, Value};

use crate::rule::{Context, Sink, declare_rule};
use crate::view::arguments;
use crate::view::checks::NO_ARGUMENTS;
use crate::view::violations::{self, SchemaViolation, Words};

declare_rule! {
    ArgumentsSchemaMismatch in Arguments, since "0.1.0", warning (error in dataset) on call looks at [CALLS], check
}

const WORDS: Words =
    Words { member: "argument", object: "the arguments object", whole: "the value of the arguments" };

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let checks = cx.checks();
    let mut undeclared = Undeclared::default();
    for violation in &checks.violations {
        let part = &cx.transcript.parts[violation.part];
        let (Body::Call(call), Some(schema)) = (&part.body, violation.schema()) else { continue };
        // A table gives each row the arguments of all rows, with `null` for those that the row does not have.
        let is_padded = cx.is_training_example() && matches!(call.arguments, Arguments::Object(_));
        // They are nowhere in the file as they are.
        let streamed = cx.transcript.details.streamed_arguments.get(&violation.part).map(String::as_bytes);
        let is_none = streamed.is_none() && call.arguments.are_absent();
        let mut found = Vec::new();
        if let Some(text) = streamed.or(is_none.then_some(NO_ARGUMENTS)) {
            let said = Document::read(text);
            found = violations::list(schema, said.root(), false, &WORDS, &|_, _| part.place);
        } else {
            arguments::with_places(cx, &call.arguments, |root, locate| {
                found = violations::list(schema, root, is_padded, &WORDS, locate);
            });
        }
        found.retain(|violation| !undeclared.explains(cx, out, (part, call), violation));
        if is_none && found.len() > 1 {
            // All that is missing is one mistake.
            let message = format!("the call has no arguments, and {} are required", found.len());
            report(out, part, call, part.place, &message);
            continue;
        }
        for SchemaViolation { place, message, .. } in &found {
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

/// Arguments that the schema of a tool in a result requires and does not declare, so that no call has them.
#[derive(Default)]
struct Undeclared<'c> {
    /// The schemas of tools that results bring, by their names, once they are looked for.
    schemas: Option<HashMap<&'c str, Place>>,
    /// The names of tools and arguments that were reported.
    reported: HashSet<(String, String)>,
}

impl<'c> Undeclared<'c> {
    /// Whether the schema is the mistake and not the call, which is reported once, at the schema.
    fn explains(
        &mut self,
        cx: &Context<'c, '_>,
        out: &mut Sink<'_>,
        (part, call): (&Part<'_>, &Call<'_>),
        violation: &SchemaViolation,
    ) -> bool {
        let (Some(missing), Some(name)) = (&violation.missing, &call.name) else { return false };
        let tools = &cx.transcript.request.tools;
        let named = |tool: &'c ToolDef<'_>| Some((&*tool.name.as_ref()?.text, tool.schema?));
        let schemas = self.schemas.get_or_insert_with(|| tools.added.iter().filter_map(named).collect());
        let Some(place) = schemas.get(&*name.text) else { return false };
        let schema = cx.document.value(place.node);
        if !is_undeclared(schema, missing) {
            return false;
        }
        let is_new = self.reported.insert((name.text.to_string(), missing.clone()));
        let entry = schema.list("required").find(|entry| entry.as_str().as_deref() == Some(&**missing));
        if let Some(entry) = entry.filter(|_| is_new && !cx.shape_faults().has_fault_in_schema(schema)) {
            // The texts of results are not quoted.
            out.report(Place::of(entry), "`required` lists an argument that is not declared".to_owned())
                .about_call(call)
                .caption("not declared")
                .label(part.place, "this call lacks it")
                .help("declare it in `properties`, or remove it from `required`");
        }
        true
    }
}

/// Whether a schema declares its arguments in the plain way, and not this one.
fn is_undeclared(schema: Value<'_, '_>, name: &str) -> bool {
    const ELSEWHERE: [&str; 7] =
        ["$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties", "dependentSchemas"];
    let properties = schema.get("properties").filter(|properties| properties.is_object());
    properties.is_some_and(|properties| properties.get(name).is_none())
        && schema.get_any(&ELSEWHERE).is_none()
}
