//! What is known of one object, as Markdown.

use std::fmt::Write as _;

use toolcheck_core::Level;
use toolcheck_core::shape::{
    FieldView, JsonType, Shape, ShapeFaultKind, UnverifiedLevel, Verdict, with_usual_names,
};
use toolcheck_core::targets::{Evidence, Target};
use toolcheck_core::text::shown;
use toolcheck_json::distinct;

use super::catalog::{Fact, Named, Parent};

/// The page of an object, as Markdown.
pub fn page(target: &Target, shape: &Shape, object: &Named<'_>) -> String {
    let mut page = format!("# {}\n\n", shown(object.name));
    let facts = object.facts();
    head(&mut page, target, object);
    kinds(&mut page, object);
    fields(&mut page, object, &facts);
    let of = |verdict| move |fact: &&Fact<'_>| fact.known.verdict == verdict;
    section(&mut page, "Refused", facts.iter().filter(of(Verdict::Refused)), object);
    section(
        &mut page,
        "Accepted, whatever the documentation says",
        facts.iter().filter(of(Verdict::Accepted)),
        object,
    );
    documented(&mut page, shape, facts.iter().filter(of(Verdict::Documented)));
    if facts.iter().any(|fact| fact.known.text.is_some_and(|text| text.contains('{'))) {
        page.push_str("\nWords in braces, such as `{path}`, depend on the request.\n");
    }
    page
}

/// The most ways to an object that are listed.
const MOST_WAYS: usize = 4;

fn head(page: &mut String, target: &Target, object: &Named<'_>) {
    let _ = write!(page, "Part of a request to {} (`{}`)", shown(&target.name), shown(&target.id));
    let others: Vec<Parent<'_>> =
        object.ways.iter().copied().filter(|way| way.from() != Some(object.name)).collect();
    let ways: Vec<String> = others.iter().take(MOST_WAYS).map(|way| way.sentence()).collect();
    let ways = ways.join("; ");
    if !ways.is_empty() {
        let more = others.len().saturating_sub(MOST_WAYS);
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        let _ = write!(page, ": {ways}{more}");
    }
    page.push_str(if object.is_closed() {
        ". Other keys are reported.\n"
    } else {
        ". Other keys are not reported.\n"
    });
    let first = object.first();
    if let Some(note) = first.note() {
        let _ = writeln!(page, "{}", shown(note));
    }
    if let Some(example) = first.example() {
        let _ = writeln!(page, "\nFor example: `{}`", shown(example));
    }
}

fn kinds(page: &mut String, object: &Named<'_>) {
    let first = object.first();
    let Some(by) = first.by() else { return };
    let _ = write!(page, "\n## Kinds\n\n| `{}` | object |\n| --- | --- |\n", cell(by));
    let variants = object.views.iter().flat_map(|view| view.object.variants());
    for (value, variant) in distinct(variants.map(|(value, variant)| (value, variant.name()))) {
        let _ = writeln!(page, "| \"{}\" | {} |", cell(value), cell(variant));
    }
    if let Some(otherwise) = first.otherwise() {
        let _ = writeln!(page, "| absent | {} |", cell(otherwise.name()));
    }
    if first.is_open() {
        page.push_str("| anything else | not checked |\n");
    }
}

fn fields(page: &mut String, object: &Named<'_>, facts: &[Fact<'_>]) {
    let known: Vec<FieldView<'_>> = object.fields().into_iter().filter(|field| field.is_known()).collect();
    if known.is_empty() {
        return;
    }
    page.push_str("\n## Keys\n\n| key | type | required | allowed |\n| --- | --- | --- | --- |\n");
    for field in known {
        let own: Vec<&Fact<'_>> = facts.iter().filter(|fact| plain(&fact.key) == field.key()).collect();
        let (required, when) = required(&own);
        let words: Vec<String> = when.into_iter().chain(allowed(field, object, &own)).collect();
        let (key, types, words) = (cell(field.key()), cell(&types(field)), words.join("; "));
        let _ = writeln!(page, "| `{key}` | {types} | {required} | {} |", cell(&words));
    }
}

/// The key of a field, for its elements and members too.
fn plain(key: &str) -> &str {
    key.trim_end_matches("[]").trim_end_matches("{}")
}

fn types(field: FieldView<'_>) -> String {
    let of_object = || match (field.object(), field.entries()) {
        (Some(object), _) => format!("object {}", object.name()),
        (None, Some(entries)) => format!("object with values {}", entries.name()),
        (None, None) => "object".to_owned(),
    };
    let of_array = || {
        let object = field.items().map(|items| items.name().to_owned());
        let others =
            field.item_types().iter().filter(|other| object.is_none() || **other != JsonType::Object);
        let others = others.map(|other| other.name().to_owned());
        let elements: Vec<String> = object.clone().into_iter().chain(others).collect();
        if elements.is_empty() { "array".to_owned() } else { format!("array of {}", elements.join(" or ")) }
    };
    let word = |json_type: &JsonType| match json_type {
        JsonType::Object => of_object(),
        JsonType::Array => of_array(),
        other => other.name().to_owned(),
    };
    let types: Vec<String> = match field.types() {
        [] if field.object().is_some() || field.entries().is_some() => vec![format!("any ({})", of_object())],
        [] if field.items().is_some() => vec![format!("any ({})", of_array())],
        [] => vec!["any".to_owned()],
        types => types.iter().map(word).collect(),
    };
    types.join(", ")
}

/// Whether a key is required, and if only sometimes, when.
fn required(facts: &[&Fact<'_>]) -> (&'static str, Option<String>) {
    let mut missing = facts.iter().filter(|fact| {
        fact.fault == ShapeFaultKind::Missing
            && !fact.key.is_empty()
            && fact.known.verdict != Verdict::Accepted
    });
    match missing.clone().find(|fact| !fact.known.is_conditional()).or_else(|| missing.next()) {
        None => ("", None),
        Some(fact) if fact.known.is_conditional() => {
            ("sometimes", Some(format!("{}, {}", fact.asked, shown(&fact.known.conditions()))))
        }
        Some(fact) if fact.asked == "required" => ("yes", None),
        Some(fact) => ("sometimes", Some(fact.asked.clone())),
    }
}

fn allowed(field: FieldView<'_>, object: &Named<'_>, facts: &[&Fact<'_>]) -> Vec<String> {
    let of_variant = distinct(object.ways.iter().filter_map(|way| match way {
        Parent::Variant { by, value: Some(value), .. } if *by == field.key() => {
            Some(format!("\"{}\"", shown(value)))
        }
        _ => None,
    }));
    let of_variant = (!of_variant.is_empty()).then(|| of_variant.join(" or "));
    let is_shown =
        |fault| !matches!(fault, ShapeFaultKind::Missing | ShapeFaultKind::Unknown | ShapeFaultKind::Type);
    let documented = facts.iter().filter(|fact| fact.is_documented && is_shown(fact.fault));
    let mut words = distinct(of_variant.into_iter().chain(documented.map(|fact| fact.asked.clone())));
    words.extend(field.note().map(shown));
    words
}

/// A list of facts, each with its evidence. Those that are known alike of several keys are one.
fn section<'a, 'f: 'a>(
    page: &mut String,
    title: &str,
    facts: impl Iterator<Item = &'a Fact<'f>>,
    object: &Named<'_>,
) {
    let mut groups: Vec<Vec<&Fact<'_>>> = Vec::new();
    for fact in facts {
        let is_alike = |group: &&mut Vec<&Fact<'_>>| {
            !fact.key.is_empty() && group[0].is_alike(fact) && group[0].parents == fact.parents
        };
        match groups.iter_mut().find(is_alike) {
            Some(group) => group.push(fact),
            None => groups.push(vec![fact]),
        }
    }
    if !groups.is_empty() {
        let _ = write!(page, "\n## {title}\n\n");
    }
    for group in groups {
        let fact = group[0];
        let keys: Vec<String> = group.iter().map(|fact| subject(fact)).collect();
        let mut when = fact.known.conditions();
        if fact.parents.len() < object.views.len() {
            let parents: Vec<String> =
                fact.parents.iter().flatten().map(|parent| format!("`{}`", shown(parent))).collect();
            let comma = if when.is_empty() { "" } else { ", " };
            let _ = write!(when, "{comma}as a kind of {}", parents.join(", "));
        }
        let comma = if when.is_empty() { "" } else { ", " };
        let _ = writeln!(page, "- {}: {}{comma}{}", keys.join(", "), fact.asked, shown(&when));
        evidence(page, fact);
    }
}

pub(super) fn subject(fact: &Fact<'_>) -> String {
    match (fact.key.as_str(), fact.fault) {
        ("", ShapeFaultKind::Unknown) => "other keys".to_owned(),
        ("", _) => "the keys".to_owned(),
        (key, _) => match (key.strip_suffix("[]"), key.strip_suffix("{}")) {
            (Some(list), _) => format!("each of `{}`", shown(list)),
            (_, Some(map)) => format!("each value in `{}`", shown(map)),
            _ => format!("`{}`", shown(key)),
        },
    }
}

/// What follows, and how it is known.
pub(super) fn evidence(page: &mut String, fact: &Fact<'_>) {
    let known = &fact.known;
    if let Some(level) = known.level {
        let _ = writeln!(page, "  {}", answer(level, fact));
    }
    if let Some(harm) = known.harm {
        let _ = writeln!(page, "  accepted, but {}", shown(harm));
    } else if known.level == Some(Level::Warning) {
        let doubt = match (known.doubt, known.evidence) {
            (Some(doubt), _) => shown(doubt),
            (None, Evidence::Inferred) => "this is inferred and has not been reported".to_owned(),
            (None, _) => String::new(),
        };
        if !doubt.is_empty() {
            let _ = writeln!(page, "  only a warning: {}", doubt.trim_end_matches('.'));
        }
    }
    if let Some(help) = known.help {
        let _ = writeln!(page, "  help: {}", shown(help));
    }
    let sources: Vec<String> = known.sources.iter().map(|source| format!("<{}>", shown(source))).collect();
    let seen = [known.evidence.to_string(), shown(known.seen)].join(" ");
    let _ = writeln!(page, "  {}", [seen.trim_end().to_owned(), sources.join(" ")].join(" ").trim_end());
}

/// The level of a finding, its rule, and what the API answers.
fn answer(level: Level, fact: &Fact<'_>) -> String {
    let status = fact.known.status.map(|status| format!(" {status}")).unwrap_or_default();
    let text = match fact.known.text {
        Some(text) => format!(", answers{status}: {}", shown(&with_usual_names(text))),
        None if status.is_empty() => String::new(),
        None => format!(", answers{status}"),
    };
    format!("{}[{}]{text}", level.as_str(), shown(fact.rule))
}

fn documented<'a, 'f: 'a>(page: &mut String, shape: &Shape, facts: impl Iterator<Item = &'a Fact<'f>>) {
    let mut groups: Vec<Vec<&Fact<'_>>> = Vec::new();
    for fact in facts {
        let is_alike = |group: &&mut Vec<&Fact<'_>>| {
            let first = group[0];
            (first.fault, first.rule) == (fact.fault, fact.rule)
                && (first.known.status, first.known.text) == (fact.known.status, fact.known.text)
        };
        match groups.iter_mut().find(is_alike) {
            Some(group) => group.push(fact),
            None => groups.push(vec![fact]),
        }
    }
    if groups.is_empty() {
        return;
    }
    let follows = match shape.unseen() {
        UnverifiedLevel::Error => {
            "No refusal of these has been reported, but this API is known to enforce its documentation:"
        }
        UnverifiedLevel::Warning => "Documented, but no refusal has been reported:",
        _ => "Documented for the format, but nothing has been reported for this API:",
    };
    let _ = write!(page, "\n## Documented\n\n{follows}\n\n");
    for group in groups {
        let fact = group[0];
        let named = group.iter().filter(|fact| !fact.key.is_empty());
        let keys = distinct(named.map(|fact| format!("`{}`", shown(plain(&fact.key)))));
        let keys = if keys.is_empty() { String::new() } else { format!(" ({})", keys.join(", ")) };
        let _ = writeln!(page, "- {}{keys}", fact.fault.summary());
        if let Some(level) = fact.known.level {
            let _ = writeln!(page, "  {}", answer(level, fact));
        }
    }
    let sources: Vec<String> = shape.sources().iter().map(|source| format!("<{}>", shown(source))).collect();
    let _ = writeln!(page, "\nDocuments: {} ({})", sources.join(" "), shown(shape.seen()));
}

fn cell(text: &str) -> String {
    shown(text).replace('|', "\\|")
}
