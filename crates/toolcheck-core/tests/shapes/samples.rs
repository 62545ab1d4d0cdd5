//! Examples of objects and values, and what to write in place of others, are as the shapes themselves ask for.

use toolcheck_core::shape::{FieldView, Kind, ObjectView, Shape, ShapeFault, ShapeFaultKind, formats};
use toolcheck_core::targets::Target;
use toolcheck_json::Document;

use super::shapes;
use crate::table;

/// An example with something in each place that it leaves open.
fn filled(example: &str) -> String {
    let example = example.replace("{…}", "{}").replace("[…]", "[]");
    example.replace("image/png;base64,…", "image/png;base64,iVBORw0KGgo=").replace('…', "abcd")
}

/// The keys that say which variant an object is, of all that it is a variant of.
fn tags<'f>(shape: &'f Shape, object: ObjectView<'f>) -> Vec<&'f str> {
    let objects = shape.objects();
    let (mut own, mut tags) = (object, Vec::new());
    while let Some(base) = objects.iter().find(|base| base.variants().any(|(_, variant)| variant == own)) {
        tags.extend(base.by().filter(|_| base.otherwise() != Some(own)));
        own = *base;
    }
    tags
}

fn wrong<'f>(shape: &'f Shape, object: ObjectView<'f>, example: &str) -> Vec<String> {
    let text = filled(example);
    let document = Document::read(text.as_bytes());
    if !document.faults().is_empty() || !document.root().is_object() {
        return vec![format!("no object: {text}")];
    }
    let Some(faults) = object.check(document.root()) else { return vec!["not a known variant".to_owned()] };
    // Where the API does not take a variant at all, that is what it says.
    let of_values = faults.iter().filter(|fault| fault.kind == ShapeFaultKind::Value);
    let is_of_variant = |fault: &ShapeFault<'_>| tags(shape, object).contains(&&*fault.key);
    if of_values.into_iter().any(is_of_variant) {
        return Vec::new();
    }
    let refused = faults.iter().filter(|fault| fault.is_refused(shape, None));
    refused.map(|fault| format!("{:?} of `{}`", fault.kind, fault.key)).collect()
}

#[test]
fn the_ways_of_an_example_are_told_apart() {
    let text = r#"
        id = "own"
        name = "Own"
        extends = "anthropic"
        [shape.objects.tool_choice]
        example = '"auto", {"a b": [1, "}"]} or {"c": 1}'
    "#;
    let target = Target::parse(text).unwrap();
    let request = target.shape().unwrap().request();
    let object = request.field("tool_choice").and_then(FieldView::object).unwrap();
    assert_eq!(object.samples(), [r#""auto""#, r#"{"a b": [1, "}"]}"#, r#"{"c": 1}"#]);
}

#[test]
fn examples_of_objects_are_accepted() {
    let (mut count, mut all) = (0, Vec::new());
    for (id, shape) in shapes() {
        for object in shape.objects() {
            for way in object.samples().into_iter().filter(|way| way.starts_with('{')) {
                let wrong = wrong(shape, object, &way);
                if !wrong.is_empty() {
                    all.push(format!("{id}: {} as {way}: {}", object.name(), wrong.join(", ")));
                }
                count += 1;
            }
        }
    }
    assert!(all.is_empty(), "{} examples are refused:\n{}", all.len(), all.join("\n"));
    assert!(count > 1000, "{count}");
}

#[test]
fn examples_of_values_are_accepted() {
    let (mut count, mut all) = (0, Vec::new());
    for (id, shape) in shapes() {
        for field in shape.objects().into_iter().flat_map(ObjectView::fields) {
            let Some(example) = field.example() else { continue };
            let text = filled(example);
            let document = Document::read(text.as_bytes());
            if !document.faults().is_empty() || !field.takes(document.root()) {
                all.push(format!("{id}: `{}` as {text}", field.key()));
            }
            count += 1;
        }
    }
    assert!(all.is_empty(), "{} examples are refused:\n{}", all.len(), all.join("\n"));
    assert!(count > 100, "{count}");
}

#[test]
fn what_every_api_can_say_is_accepted() {
    let (mut count, mut all) = (0, Vec::new());
    for format in formats() {
        let Some((_, shape)) = shapes().find(|(_, shape)| shape.format() == format) else { continue };
        let file = table("shapes", format);
        for (what, said) in file.get("says").and_then(|says| says.as_table()).into_iter().flatten() {
            for (key, kinds) in
                [("example", &[Kind::Content, Kind::Message][..]), ("message", &[Kind::Message])]
            {
                let Some(example) = said.get(key).and_then(|example| example.as_str()) else { continue };
                let mut objects = shape.objects().into_iter();
                let is_of_kind =
                    |object: &ObjectView<'_>| object.kind().is_some_and(|kind| kinds.contains(&kind));
                if !objects.any(|object| is_of_kind(&object) && wrong(shape, object, example).is_empty()) {
                    all.push(format!("{format}: {what} as {example}"));
                }
                count += 1;
            }
        }
    }
    assert!(all.is_empty(), "{} examples are refused:\n{}", all.len(), all.join("\n"));
    assert!(count > 20, "{count}");
}

#[test]
fn what_replaces_a_value_is_allowed() {
    let (mut count, mut all) = (0, Vec::new());
    for (id, shape) in shapes() {
        let objects = shape.objects();
        let fields: Vec<_> =
            objects.iter().flat_map(|object| object.fields().map(move |field| (*object, field))).collect();
        let has_some =
            |field: FieldView<'_>| field.instead().next().is_some() || !field.preferred().is_empty();
        let replacing: Vec<_> = fields.into_iter().filter(|(_, field)| has_some(*field)).collect();
        for (object, field) in &replacing {
            let written = field.instead().map(|(_, words)| words).filter(|words| !words.contains(' '));
            let preferred = field.preferred().iter().map(|value| &*value.text);
            for value in written.chain(preferred) {
                // Objects that have this from the same base differ in what they allow.
                let mut same = replacing.iter().filter(|(_, other)| {
                    other.key() == field.key()
                        && other.instead().eq(field.instead())
                        && other.preferred() == field.preferred()
                });
                let is_allowed = |values: Vec<&str>| values.is_empty() || values.contains(&value);
                if !same.any(|(_, other)| is_allowed(other.values())) {
                    all.push(format!("{id}: `{value}` of `{}` of {}", field.key(), object.name()));
                }
                count += 1;
            }
        }
    }
    assert!(all.is_empty(), "{} values are not allowed:\n{}", all.len(), all.join("\n"));
    assert!(count > 100, "{count}");
}

/// Whether an object has the fields of another one, which decides that it is this one.
fn is_variant<'f>(shape: &'f Shape, object: ObjectView<'f>) -> bool {
    let is_of = |base: &ObjectView<'_>| {
        base.variants().any(|(_, variant)| variant == object) || base.otherwise() == Some(object)
    };
    shape.objects().iter().any(is_of)
}

#[test]
fn what_replaces_a_key_is_known() {
    let (mut count, mut all) = (0, Vec::new());
    for (id, shape) in shapes() {
        for object in shape.objects() {
            for (key, instead) in object.instead().filter(|(_, instead)| !instead.contains(' ')) {
                let is_known =
                    |object: ObjectView<'_>, key: &str| object.field(key).is_some_and(FieldView::is_known);
                let mut way = instead.split('.');
                let top = if instead.contains('.') { shape.request() } else { object };
                let first = way.next().unwrap_or_default();
                let is_base = object.by().is_some() && !is_known(object, first);
                let inner = top.field(first).and_then(FieldView::object);
                let is_below = way
                    .next()
                    .is_none_or(|next| inner.is_none_or(|inner| !inner.is_closed() || is_known(inner, next)));
                let is_shared = !instead.contains('.') && is_variant(shape, object);
                if !(is_known(top, first) && is_below || is_base || is_shared) {
                    all.push(format!("{id}: `{key}` of {} as `{instead}`", object.name()));
                }
                count += 1;
            }
        }
    }
    assert!(all.is_empty(), "{} keys are not known:\n{}", all.len(), all.join("\n"));
    assert!(count > 100, "{count}");
}
