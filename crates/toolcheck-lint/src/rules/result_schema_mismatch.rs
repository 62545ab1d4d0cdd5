use std::collections::BTreeMap;

use foldhash::{HashMap, HashSet};
use serde_json::Value as Json;
use toolcheck_core::ir::{Named, Place};
use toolcheck_core::pairing::ResultSite;
use toolcheck_core::text::shorten;
use toolcheck_schema::{Fuel, Verdict};

use crate::rule::{Context, Sink, declare_rule};
use crate::view::exchanges::is_json;
use crate::view::violations::{self, Words};

declare_rule! {
    ResultSchemaMismatch in Content, since "0.1.0", warning looks at [RESULTS], check,
    values PART, CALL_ID
}

const WORDS: Words = Words {
    member: "field",
    object: "the structured content",
    whole: "the structured content",
    quotes_required: true,
};

const FORM: Words = Words {
    member: "field",
    object: "the form's content",
    whole: "the form's content",
    quotes_required: true,
};

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    texts(cx, out);
    let mut faulty = Vec::new();
    let schemas = schemas(cx);
    let forms = &cx.transcript.details.filled_forms;
    if schemas.is_empty() && forms.is_empty() {
        return contradictions(cx, &faulty, out);
    }
    let mut fuel = Fuel::of_record(cx.document.value(cx.transcript.place.node).raw().len());
    for (schema, entered) in forms {
        for (place, message) in mismatches(cx, *schema, *entered, &FORM, &mut fuel) {
            out.report(place, format!("{message} (`requestedSchema` of the elicitation)"))
                .caption("here")
                .label(*schema, "the schema")
                .help("check what the person enters against the `requestedSchema` before the answer is sent");
        }
    }
    for site in cx.pairing.results.iter().filter(|site| site.result.is_error != Some(true)) {
        let Some(called) = site.paired_with.call().map(|number| &cx.pairing.calls[number]) else { continue };
        let Some(name) = &called.call.name else { continue };
        let Some(Some((declared, since))) = schemas.get(&*name.text) else { continue };
        if called.part_number < *since {
            continue;
        }
        for (place, message) in faults(cx, site, *declared, &mut fuel) {
            faulty.push(site.part.place);
            out.report(place, format!("{message} (`outputSchema` of `{}`)", shorten(&name.text)))
                .about_call(called.call)
                .caption("here")
                .label(called.part.place, "the call")
                .help("return `structuredContent` that matches the `outputSchema` of the tool, or update the schema");
        }
    }
    contradictions(cx, &faulty, out);
}

/// Reports texts that are no JSON although the tool says that its results are.
fn texts(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let tools = cx.transcript.request.tools.declared().filter(|tool| tool.returns_json);
    let names: HashSet<&str> = tools.filter_map(|tool| Some(&*tool.name.as_ref()?.text)).collect();
    for site in cx.pairing.results.iter().filter(|_| !names.is_empty()) {
        let Some(called) = site.paired_with.call().map(|number| &cx.pairing.calls[number]) else { continue };
        let Some(name) = called.call.name.as_ref().filter(|name| names.contains(&*name.text)) else {
            continue;
        };
        let text = site.result.content_place.and_then(|at| cx.document.value(at.node).as_str());
        let Some(text) = text.filter(|text| !is_json(text)) else { continue };
        let place = site.result.content_place.unwrap_or(site.part.place);
        if cx.is_cut_off_in(place) {
            continue;
        }
        drop(text);
        out.report(
            place,
            format!(
                "the result of `{}` is not JSON, although the tool declares that it returns JSON",
                shorten(&name.text)
            ),
        )
        .about_call(called.call)
        .caption("not JSON")
        .label(called.part.place, "the call")
        .help("write the result as JSON, or declare no schema of the output")
        .case("no-json")
        .at(cx, site)
        .value("id", Named::text_or_unknown(called.call.id.as_ref()));
    }
}

type Map = BTreeMap<String, Json>;

/// Reports structured content and a text with the same fields that say different things: models read the one, programs the other.
fn contradictions(cx: &Context<'_, '_>, faulty: &[Place], out: &mut Sink<'_>) {
    for site in cx.pairing.results.iter().filter(|site| !faulty.contains(&site.part.place)) {
        let (Some(structured), Some(content)) = (site.result.structured, site.result.content_place) else {
            continue;
        };
        let mut blocks = cx.document.value(content.node).elements();
        let (Some(block), None) = (blocks.next(), blocks.next()) else { continue };
        let own: Map = serde_json::from_slice(cx.document.value(structured.node).raw()).unwrap_or_default();
        // Numbers may be written in several ways, and what is nested may be shortened for people.
        let differs = |(key, said): (&String, &Json)| match (said, &own[key]) {
            (Json::Number(said), own) => said.as_f64() != own.as_f64(),
            (Json::String(_) | Json::Bool(_), own) => said != own,
            _ => false,
        };
        for text in block.members() {
            let said: Option<Map> = text.as_str().and_then(|text| serde_json::from_str(&text).ok());
            let said = said.filter(|said| said.keys().eq(own.keys()));
            if said.is_some_and(|said| said.iter().any(differs)) {
                let message = "the text differs from the structured content";
                out.report(Place::of(text), message.to_owned())
                    .caption("this text")
                    .label(structured, "the structured content")
                    .help("write the same JSON into the text and into the structured content");
            }
        }
    }
}

/// The schemas of results, and the first part that they are for, by the name of their tool; `None` if several are declared.
fn schemas<'c>(cx: &'c Context<'_, '_>) -> HashMap<&'c str, Option<(Place, usize)>> {
    let mut schemas = HashMap::default();
    for tool in cx.transcript.request.tools.declared() {
        if let (Some(name), Some(schema)) = (&tool.name, tool.result_schema) {
            schemas
                .entry(&*name.text)
                .and_modify(|known| *known = None)
                .or_insert(Some((schema, tool.since)));
        }
    }
    schemas
}

/// The places and messages of what the schema does not allow in a result.
fn faults(
    cx: &Context<'_, '_>,
    site: &ResultSite<'_, '_>,
    declared: Place,
    fuel: &mut Fuel,
) -> Vec<(Place, String)> {
    let Some(structured) = site.result.structured else {
        // What is not a result yet, such as a task or a question to the user, has no content.
        let is_whole = site.result.content_place.is_some_and(|at| cx.document.value(at.node).is_array());
        return is_whole
            .then(|| (site.part.place, "the result has no `structuredContent`".to_owned()))
            .into_iter()
            .collect();
    };
    mismatches(cx, declared, structured, &WORDS, fuel)
}

/// The places and messages of what a schema does not allow.
fn mismatches(
    cx: &Context<'_, '_>,
    declared: Place,
    checked: Place,
    words: &Words,
    fuel: &mut Fuel,
) -> Vec<(Place, String)> {
    let compiled = cx.schemas.of(cx.document.value(declared.node).raw());
    let Ok(schema) = &*compiled else { return Vec::new() };
    let root = cx.document.value(checked.node);
    let verdict = match schema.take_compiling(fuel) {
        Ok(()) => schema.check(root, fuel),
        Err(_) => Verdict::TooSlow,
    };
    match verdict {
        Verdict::Allowed | Verdict::Unknown => return Vec::new(),
        Verdict::Violated => {}
        Verdict::TooSlow | Verdict::TooLarge | Verdict::TooLong => {
            return vec![(checked, "the result is not checked: it would take too long".to_owned())];
        }
    }
    violations::list(schema, None, root, false, words, &|at, of_key| {
        let key = if of_key { at.key_span() } else { None };
        Place { node: at.id(), span: key.unwrap_or(at.span()) }
    })
}
