use std::cell::LazyCell;

use foldhash::{HashMap, HashSet};
use toolcheck_core::ir::{Arguments, Body, Call, Named, Part, Place, ToolDef};
use toolcheck_core::text::shorten;
use toolcheck_json::{Document, Value};

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
    let mut undeclared: HashMap<&str, Undeclared<'_, '_>> = HashMap::default();
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
        let tool = Named::text_or_unknown(call.name.as_ref());
        let known = undeclared.entry(tool).or_insert_with(|| Undeclared::of(cx, tool));
        let declared = known.schema;
        let mut found = Vec::new();
        if let Some(text) = streamed.or(is_none.then_some(NO_ARGUMENTS)) {
            let said = Document::read(text);
            found = violations::list(schema, declared, said.root(), false, &words, &|_, _| part.place);
        } else {
            arguments::with_places(cx, &call.arguments, |root, locate| {
                found = violations::list(schema, declared, root, is_padded, &words, locate);
            });
        }
        if is_none && found.len() > 1 {
            // All that is missing is one mistake.
            let message = format!("the call has no arguments, and {} are required", found.len());
            report(out, part, call, part.place, &message);
            continue;
        }
        for (place, message) in &found {
            match known.missing.get_mut(message) {
                // A mistake of the tool, however many calls it has.
                Some(is_told) if *is_told || known.is_of_shape => {}
                Some(is_told) => {
                    *is_told = true;
                    let message = format!("{message}, which the tool requires but does not declare");
                    report(out, part, call, *place, &message);
                }
                None => report(out, part, call, *place, message),
            }
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

/// What a tool requires without declaring it, so that no model can know of it.
#[derive(Default)]
struct Undeclared<'d, 's> {
    /// Its schema, if that is in the file.
    schema: Option<Value<'d, 's>>,
    /// The messages about calls that lack such an argument, with whether that was told.
    missing: HashMap<String, bool>,
    /// Whether the API refuses the schema for it, which is told there.
    is_of_shape: bool,
}

impl<'d, 's> Undeclared<'d, 's> {
    fn of(cx: &'d Context<'_, 's>, tool: &str) -> Self {
        let tools = &cx.transcript.request.tools;
        let is_it = |name: &Option<Named<'_>>| name.as_ref().is_some_and(|name| name.text == tool);
        if let Some(place) = tools.declared().find(|declared| is_it(&declared.name)).map(|tool| tool.schema) {
            let Some(schema) = place.map(|place| cx.document.value(place.node)) else {
                return Self::default();
            };
            let missing = Self::missing(schema);
            let is_of_shape = !missing.is_empty() && cx.shape_faults().tells_of_undeclared(schema);
            return Self { schema: Some(schema), missing, is_of_shape };
        }
        let schema = cx
            .definitions_called()
            .find(|known| known.name == tool)
            .and_then(|known| known.schema.as_deref());
        let missing = schema.map(|text| Self::missing(Document::read(text).root()));
        Self { missing: missing.unwrap_or_default(), ..Self::default() }
    }

    fn missing(schema: Value<'_, '_>) -> HashMap<String, bool> {
        // They may declare more.
        const OTHERS: [&str; 7] =
            ["$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties", "dependentSchemas"];
        let properties = schema.get("properties").filter(|keys| keys.is_object());
        let Some(properties) = properties.filter(|_| schema.get_any(&OTHERS).is_none()) else {
            return HashMap::default();
        };
        let declared: HashSet<_> = properties.members().filter_map(Value::key_text).collect();
        let required = schema.list("required").filter_map(Value::as_str);
        let undeclared = required.filter(|key| !declared.contains(key));
        undeclared.map(|key| (format!("missing {} `{}`", WORDS.member, shorten(&key)), false)).collect()
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
