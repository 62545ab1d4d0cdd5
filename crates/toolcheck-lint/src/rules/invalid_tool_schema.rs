use std::borrow::Cow;

use foldhash::{HashMap, HashSet};
use toolcheck_core::fix::{Change, Fix};
use toolcheck_core::ir::{Named, Place, ToolDef};
use toolcheck_core::text::shorten;
use toolcheck_json::{Document, Kind, Value, escape_step};
use toolcheck_schema::Unusable;

use crate::rule::{Context, Sink, declare_rule};
use crate::view::checks::Unchecked;
use crate::view::shape;

declare_rule! {
    InvalidToolSchema in Tools, since "0.1.0", warning reports shape, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    shape::report(cx, &RULE, out);
    strict_tools(cx, out);
    answer(cx, out);
    let unchecked = cx.checks().unchecked.iter();
    let mut unchecked: HashMap<&str, &Unchecked> = unchecked.map(|tool| (&*tool.tool, tool)).collect();
    let mut ignored = shape::Keywords::default();
    let schemas = cx.transcript.request.tools.listed().iter().enumerate().flat_map(|(number, tool)| {
        let of_results = tool.result_schema.map(|place| (number, tool, place, "output schema"));
        let own = tool.schema.or(tool.wants_object.then_some(tool.place));
        own.map(|place| (number, tool, place, "schema")).into_iter().chain(of_results)
    });
    for (number, tool, place, title) in schemas {
        let value = cx.document.value(place.node);
        let name = Named::text_or_unknown(tool.name.as_ref());
        if title == "schema" && lacks_object(tool, number, value, out) {
            continue;
        }
        let (unusable, may_be_misspelt) = cx.schemas.look(value);
        if may_be_misspelt {
            ignored.find(value, name);
        }
        let (what, pointer, case): (Cow<'_, str>, _, _) = match &unusable {
            // If it is too large or too slow, that shows when it is used.
            None | Some(Unusable::TooLarge) if title != "schema" => continue,
            None | Some(Unusable::TooLarge) => match unchecked.remove(name) {
                Some(tool) => (tool.reason(), "", "endless"),
                None => continue,
            },
            // Invalid JSON is reported as such.
            Some(Unusable::Unreadable) => continue,
            // The document that it refers to may well exist.
            Some(Unusable::Foreign) => continue,
            Some(Unusable::NoSchema(pointer)) => ("is not valid JSON Schema".into(), &**pointer, "no-schema"),
            Some(Unusable::Pattern(pointer)) => {
                ("contains an invalid regular expression".into(), &**pointer, "pattern")
            }
            Some(Unusable::DeadReference) => {
                ("refers to a part of itself that does not exist".into(), "", "reference")
            }
            Some(Unusable::Endless) => {
                ("branches without end, so calls can't be checked against it".into(), "", "endless")
            }
        };
        if case == "no-schema" && cx.shape_faults().has_fault_in_schema(value) {
            continue;
        }
        // The part that is invalid, or else the whole schema.
        let inner = value.pointer(pointer).filter(|inner| *inner != value);
        let part = inner.and_then(invalid_part).map_or(String::new(), |part| format!(": {part}"));
        let finding = out.report(
            inner.map_or(place, Place::of),
            format!("the {title} of tool `{}` {what}{part}", shorten(name)),
        );
        if let Some(inner) = inner {
            // If schemas are protobuf messages, a type may be written as its number.
            finding.case_if(inner.has_key("type") && matches!(inner.raw(), [b'1'..=b'7']), "numbered-type");
            // The same holds for any number.
            let is_number = |text: Cow<'_, str>| text.parse::<f64>().is_ok_and(f64::is_finite);
            finding
                .case_if(!inner.has_key("type") && inner.as_str().is_some_and(is_number), "number-as-text");
        }
        finding.fix(fix(cx, value, inner, case));
        finding
            .case(case)
            .case_if(!value.is_object(), "no-object")
            .caption(if inner.is_some() { "invalid part" } else { "this schema" })
            .help(help(inner.unwrap_or(value), case))
            .value("index", number);
        finding.about_tool(name);
    }
    ignored.report(cx, out);
}

/// What to write of a schema that can't be used, or of its invalid part.
fn fix(cx: &Context<'_, '_>, schema: Value<'_, '_>, part: Option<Value<'_, '_>>, case: &str) -> Option<Fix> {
    let Some(part) = part else {
        let json = r#"{"type": "object", "properties": {}}"#.to_owned();
        let guess = "assumes that the tool takes no arguments";
        if let Some(text) = schema.as_str() {
            let inner = Document::read(text.as_bytes());
            let is_whole = inner.faults().is_empty() && inner.root().is_object();
            let json = text.replace(['\n', '\r'], " ");
            return is_whole.then(|| Fix::safe([Change::Write(schema.id(), json)]));
        }
        return schema.is_null().then(|| Fix::guess(guess, [Change::Write(schema.id(), json)]));
    };
    match meant(part).filter(|_| case == "no-schema") {
        Some(json) => Some(Fix::safe([Change::Write(part.id(), json)])),
        None if part.is_null() && part.key_text().is_some() => Some(Fix::safe([Change::Remove(part.id())])),
        None => shape::required_above(schema, part).or_else(|| shape::left_out(cx, part)),
    }
}

/// Reports a schema that does not say that it is an object. Clients of MCP check this word, and drop the whole list.
fn lacks_object(tool: &ToolDef<'_>, number: usize, schema: Value<'_, '_>, out: &mut Sink<'_>) -> bool {
    let is_there = tool.schema.is_some();
    let says_it = schema.is("type", "object");
    let is_wrong = tool.wants_object && (!is_there || schema.is_object() && !says_it);
    if is_wrong {
        let part = schema.get("type").filter(|_| is_there);
        let name = Named::text_or_unknown(tool.name.as_ref());
        out.report(
            Place::of(part.unwrap_or(schema)),
            format!("the schema of tool `{}` does not say that it is an object", shorten(name)),
        )
        .case("no-object")
        .caption(if part.is_some() { "another type" } else { "no `\"type\": \"object\"` here" })
        .help("give it the root `\"type\": \"object\"`: clients drop the whole list without it")
        .value("index", number)
        .about_tool(name);
    }
    is_wrong
}

/// What is wrong with a part of a schema, for the mistakes that people make.
fn invalid_part(part: Value<'_, '_>) -> Option<String> {
    let key = part.key_text()?;
    let text = part.as_str()?;
    if key == "type" {
        return Some(format!("`{}` is not a type", shorten(&text)));
    }
    let is_schema = own_type(&text).is_some() && !toolcheck_schema::KEYWORDS_OF_TEXT.contains(&&*key);
    is_schema.then(|| format!("`{}` is a string, but it must be a schema", shorten(&key)))
}

/// A truth value that is only quoted wrongly, or the name of a type that other languages have for it.
fn meant(part: Value<'_, '_>) -> Option<String> {
    let only = part.elements().next().filter(|_| part.elements().count() == 1).unwrap_or(part);
    if let Some(meant) = part.as_str().and_then(|text| own_type(&text)) {
        return part.has_key("type").then(|| format!("\"{meant}\""));
    }
    let text = only.as_str().unwrap_or_else(|| String::from_utf8_lossy(only.raw())).to_ascii_lowercase();
    matches!(&*text, "true" | "false").then_some(text).filter(|_| part.kind() != Kind::Bool)
}

/// What to write in place of a part of a schema.
fn help(part: Value<'_, '_>, case: &str) -> String {
    let text = part.as_str();
    let is_text = text.as_deref().is_some_and(|text| text.trim_start().starts_with('{'));
    match (case, part.key_text().as_deref(), text.as_deref()) {
        ("no-schema", Some("type"), Some(text)) => match own_type(text) {
            Some(meant) => format!("use `{meant}`"),
            None => "use `string`, `number`, `integer`, `boolean`, `array`, `object` or `null`".to_owned(),
        },
        ("no-schema", Some("required"), _) if part.kind() == Kind::Bool => {
            "list the property in the `required` of the object that has it".to_owned()
        }
        ("no-schema", ..) if is_text => "write the schema itself, not as JSON in a string".to_owned(),
        ("no-schema", _, Some(text)) if own_type(text).is_some() => {
            format!("write it as {{\"type\": \"{}\"}}", own_type(text).unwrap_or(text))
        }
        _ => "check this schema on its own with a JSON Schema validator".to_owned(),
    }
}

/// The types of JSON Schema, with the names that other languages have for them.
const TYPES: [(&str, &[&str]); 7] = [
    ("string", &["str", "String", "text", "date"]),
    ("integer", &["int", "long"]),
    ("number", &["float", "double"]),
    ("boolean", &["bool"]),
    ("array", &["list", "tuple", "set"]),
    ("object", &["dict", "map"]),
    ("null", &["None", "none"]),
];

/// The type that has this name, here or elsewhere.
fn own_type(name: &str) -> Option<&'static str> {
    TYPES.iter().find(|(own, others)| *own == name || others.contains(&name)).map(|(own, _)| *own)
}

/// Reports strict tools whose schemas go beyond what the target supports for them.
fn strict_tools(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let tools = &cx.target().tools;
    let (mut optional, mut unions) =
        (Limit::of(tools.max_strict_optional), Limit::of(tools.max_strict_unions));
    let strict =
        cx.transcript.request.tools.listed().iter().enumerate().filter(|(_, tool)| tool.strict.is_some());
    for (number, tool) in strict {
        let Some(place) = tool.schema else { continue };
        let schema = cx.document.value(place.node);
        let name = Named::text_or_unknown(tool.name.as_ref());
        let required = schema.list("required");
        let required: HashSet<Cow<'_, str>> = required.filter_map(Value::as_str).collect();
        for parameter in schema.get("properties").into_iter().flat_map(|properties| properties.members()) {
            let key = parameter.key_text();
            let is_required = key.as_ref().is_some_and(|key| required.contains(key));
            let is_union = parameter.get_any(&["anyOf", "oneOf"]).is_some()
                || parameter.get("type").is_some_and(|kind| kind.is_array());
            let faults = [
                (!is_required && optional.is_exceeded(), "strict-optional", "optional parameters"),
                (is_union && unions.is_exceeded(), "strict-unions", "parameters with several types"),
            ];
            for (is_fault, case, what) in faults {
                if is_fault {
                    out.report(
                        place,
                        format!(
                            "the strict tools up to and including `{}` have too many {what}",
                            shorten(name)
                        ),
                    )
                    .caption("the limit is exceeded here")
                    .label(Place::of(parameter), "this parameter")
                    .help("make fewer tools strict, or give them fewer such parameters")
                    .case(case)
                    .value("index", number)
                    .about_tool(name);
                }
            }
        }
        if let Some(keyword) = refused_keyword(schema, &tools.strict_refused_keywords, 0) {
            let key = keyword.key_text().unwrap_or_default();
            out.report(
                Place::of_key(keyword),
                format!(
                    "the schema of strict tool `{}` uses `{}`, which is not supported",
                    shorten(name),
                    shorten(&key)
                ),
            )
            .caption("not supported in a strict tool")
            .help(
                "remove the keyword and state the constraint in the description, or make the tool non-strict",
            )
            .case("strict-keyword")
            .value("index", number)
            .value("field", shorten(&key))
            .about_tool(name);
        }
    }
}

struct Limit {
    left: Option<usize>,
}

impl Limit {
    fn of(max: Option<usize>) -> Self {
        Self { left: max.map(|max| max + 1) }
    }

    /// Counts one more, and returns whether it is the first one over the limit.
    fn is_exceeded(&mut self) -> bool {
        let Some(left) = &mut self.left else { return false };
        let is_last = *left == 1;
        *left = left.saturating_sub(1);
        is_last
    }
}

/// The maximum depth to which a schema is searched.
const DEEPEST: usize = 32;

/// The first of these keywords in a schema for arrays.
fn refused_keyword<'d, 's>(
    schema: Value<'d, 's>,
    keywords: &[String],
    depth: usize,
) -> Option<Value<'d, 's>> {
    if keywords.is_empty() || depth > DEEPEST {
        return None;
    }
    let is_array = schema.is("type", "array");
    let own = keywords.iter().filter(|_| is_array).find_map(|keyword| schema.get(keyword));
    own.or_else(|| {
        let below = schema.members().filter(|member| {
            member.key_text().is_some_and(|key| {
                // Examples and values are not schemas.
                !matches!(&*key, "enum" | "const" | "default" | "examples")
            })
        });
        below.chain(schema.elements()).find_map(|inner| refused_keyword(inner, keywords, depth + 1))
    })
}

/// Reports the schema of an answer if it refers to what it does not have, or to itself.
fn answer(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some((name, place)) = &cx.transcript.request.answer_schema else { return };
    let schema = cx.document.value(place.node);
    let title = match name {
        Some(name) => format!("the schema `{}`", shorten(&name.text)),
        None => "the schema of the answer".to_owned(),
    };
    if matches!(cx.schemas.unusable(schema), Some(Unusable::DeadReference)) {
        out.report(*place, format!("{title} refers to a part of itself that does not exist"))
            .caption("this schema")
            .help("references are resolved from the root of the schema: put the definition there")
            .case("answer-reference")
            .value("name", shorten(Named::text_or_unknown(name.as_ref())));
    }
    let circular = || cx.entry(&RULE, Some("answer-circular")).is_harmful().then(|| circular(schema))?;
    if let Some(reference) = circular() {
        out.report(Place::of(reference), format!("a definition of {title} refers to itself"))
            .caption("leads back to where it is")
            .help("inline the definition to the depth that you need")
            .case("answer-circular");
    }
}

/// The first reference in a schema that leads back to the definition that it is in.
fn circular<'d, 's>(schema: Value<'d, 's>) -> Option<Value<'d, 's>> {
    let mut definitions: HashMap<String, Value<'d, 's>> = HashMap::default();
    for list in DEFINITIONS {
        for member in schema.get(list).into_iter().flat_map(Value::members) {
            let name = member.key_text().unwrap_or_default();
            definitions.insert(format!("#/{list}/{}", escape_step(&name)), member);
        }
    }
    definitions.insert("#".to_owned(), schema);
    let (mut open, mut seen) = (HashSet::default(), HashSet::default());
    // What is left to follow: references, and below them the definition that is done when they are.
    let mut left = vec![(None, references(schema))];
    left.extend(definitions.values().map(|definition| (None, references(*definition))));
    while let Some((name, references)) = left.last_mut() {
        let Some(reference) = references.pop() else {
            name.as_ref().inspect(|name| _ = open.remove(*name));
            left.pop();
            continue;
        };
        let to = reference.as_str().unwrap_or_default().into_owned();
        if open.contains(&to) {
            return Some(reference);
        }
        if let Some(definition) = definitions.get(&to).filter(|_| seen.insert(to.clone())) {
            open.insert(to.clone());
            left.push((Some(to), self::references(*definition)));
        }
    }
    None
}

/// The references in a definition, without those of the definitions in it.
fn references<'d, 's>(definition: Value<'d, 's>) -> Vec<Value<'d, 's>> {
    let (mut found, mut left) = (Vec::new(), vec![definition]);
    while let Some(value) = left.pop() {
        let is_list = |member: &Value<'_, '_>| DEFINITIONS.iter().any(|list| member.has_key(list));
        left.extend(value.members().filter(|member| !is_list(member)).chain(value.elements()));
        found.extend(value.get("$ref").filter(|reference| reference.is_string()));
    }
    found
}

/// The keys under which a schema has definitions.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];
