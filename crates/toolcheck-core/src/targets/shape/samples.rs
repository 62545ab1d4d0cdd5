//! How the values of a request are written, as far as its description says: examples in which `…` stands for any text.

use std::borrow::Cow;

use super::Shape;
use super::compile::{CheckKind, Field, Object};
use super::fault::ShapeFault;
use super::tables::{JsonType, Scalar};

/// How deep an example shows what is in what.
const DEEPEST: usize = 4;

/// The longest example that a help prints.
const LONGEST: usize = 260;

impl Shape {
    /// How an object is written: the example of its description, or one that has what must be there. Several ways are
    /// separated by `or`.
    pub(super) fn sample<'f>(&'f self, object: &'f Object) -> Cow<'f, str> {
        match object.example.as_deref() {
            Some(example) => Cow::Borrowed(example),
            None => Cow::Owned(self.made(object, 0)),
        }
    }

    /// How the value of a field is written.
    pub(super) fn sample_of(&self, field: &Field) -> Cow<'_, str> {
        match field
            .object
            .filter(|_| field.example.is_none() && field.types.first() == Some(&JsonType::Object))
        {
            Some(inner) => self.sample(&self.objects[inner]),
            None => Cow::Owned(self.value(field, 0)),
        }
    }

    fn nested(&self, number: usize, depth: usize) -> String {
        let object = &self.objects[number];
        match object.example.as_deref() {
            Some(example) => first(example).to_owned(),
            None => self.made(object, depth),
        }
    }

    /// An object with what must be there, as the likeliest of its variants.
    fn made(&self, object: &Object, depth: usize) -> String {
        if depth > DEEPEST {
            return "{…}".to_owned();
        }
        let (mut object, mut tags) = (object, self.tags(object));
        for _ in 0..DEEPEST {
            let Some(by) = object.by.as_ref().filter(|by| !tags.iter().any(|(key, _)| *key == &*by.key))
            else {
                break;
            };
            let likeliest = object.field(&by.key).and_then(|field| field.prefer.first());
            let is_likeliest = |(value, _): &&(Box<str>, usize)| {
                likeliest.is_some_and(|likeliest| likeliest.text == **value)
            };
            let chosen = by.values.iter().find(is_likeliest);
            object = match (chosen, &by.otherwise, by.values.first().filter(|_| !by.is_open)) {
                (None, Some((_, otherwise)), _) => &self.objects[*otherwise],
                (Some((value, variant)), ..) | (None, None, Some((value, variant))) => {
                    tags.push((&by.key, value));
                    &self.objects[*variant]
                }
                (None, None, None) => break,
            };
            if let Some(example) = object.example.as_deref() {
                return first(example).to_owned();
            }
        }
        let members = self.members_of(object, &tags, depth);
        if members.is_empty() {
            let takes_some = !object.is_closed || object.fields.iter().any(|field| field.is_known);
            return if takes_some { "{…}" } else { "{}" }.to_owned();
        }
        let members: Vec<String> = members.iter().map(|(key, value)| format!("\"{key}\": {value}")).collect();
        format!("{{{}}}", members.join(", "))
    }

    /// What must be in an object, and what says which variant it is.
    fn members_of<'f>(
        &'f self,
        object: &'f Object,
        tags: &[(&'f str, &'f str)],
        depth: usize,
    ) -> Vec<(&'f str, String)> {
        let text = |value: &str| format!("\"{value}\"");
        let unlisted = tags.iter().filter(|(key, _)| object.field(key).is_none());
        let mut members: Vec<(&str, String)> = unlisted.map(|(key, value)| (*key, text(value))).collect();
        let union = object.exactly_one.as_ref().or(object.at_least_one.as_ref());
        let of_union = union.and_then(|of| of.first());
        for (number, field) in object.fields.iter().enumerate() {
            if let Some((_, value)) = tags.iter().find(|(key, _)| *key == &*field.key) {
                let is_text = field.types.is_empty() || field.types.contains(&JsonType::String);
                members.push((&field.key, if is_text { text(value) } else { (*value).to_owned() }));
            } else if field.is_known && (self.is_due(object, field) || of_union == Some(&(number as u16))) {
                members.push((&field.key, self.value(field, depth + 1)));
            }
        }
        members
    }

    /// Which variant an object is, of all that it is a variant of.
    fn tags<'f>(&'f self, object: &'f Object) -> Vec<(&'f str, &'f str)> {
        let mut tags = Vec::new();
        let mut own = object;
        while let Some(base) = self.base(own) {
            let Some(by) = &base.by else { break };
            let is_own = |(_, variant): &&(Box<str>, usize)| std::ptr::eq(&self.objects[*variant], own);
            let is_otherwise =
                by.otherwise.as_ref().is_some_and(|(_, other)| std::ptr::eq(&self.objects[*other], own));
            let likeliest = base.field(&by.key).and_then(|field| field.prefer.first());
            let is_likeliest = |(value, _): &&(Box<str>, usize)| {
                likeliest.is_some_and(|likeliest| likeliest.text == **value)
            };
            let mut of_own = by.values.iter().filter(is_own);
            let value = of_own.clone().find(is_likeliest).or_else(|| of_own.next());
            if let Some((value, _)) = value.filter(|_| !is_otherwise) {
                tags.push((&*by.key, &**value));
            }
            own = base;
            if tags.len() > DEEPEST {
                break;
            }
        }
        tags
    }

    /// Whether a field must always be there.
    fn is_due(&self, object: &Object, field: &Field) -> bool {
        field.required.iter().any(|required| {
            let is_always = |fact: usize| {
                let fact = self.fact(fact);
                fact.model.is_none() && fact.except_model.is_none() && !fact.is_conditional()
            };
            let is_there = |other: &u16| {
                let other = &object.fields[usize::from(*other)];
                other.required.iter().any(|required| required.unless.is_empty() && required.fact.is_none())
            };
            required.fact.is_none_or(is_always) && !required.unless.iter().any(is_there)
        })
    }

    fn value(&self, field: &Field, depth: usize) -> String {
        if let Some(example) = &field.example {
            return example.to_string();
        }
        let values = field.checks.iter().find_map(|check| match &check.what {
            CheckKind::Values { values, .. } if check.fact.is_none() => values.first(),
            _ => None,
        });
        let takes_value =
            |value: &&Scalar| !value.is_string || field.mask & super::compile::bit(JsonType::String) != 0;
        if let Some(value) = field.prefer.first().or(values).filter(takes_value) {
            let value = json(value);
            return if field.types.first() == Some(&JsonType::Array) { format!("[{value}]") } else { value };
        }
        let inner = |number: usize| self.nested(number, depth);
        let json_type =
            field.types.iter().find(|json_type| **json_type != JsonType::Null).or(field.types.first());
        match json_type {
            Some(JsonType::Array) => self.list(field, depth),
            Some(JsonType::Integer | JsonType::Number) => "1".to_owned(),
            Some(JsonType::Boolean) => "true".to_owned(),
            Some(JsonType::Null) => "null".to_owned(),
            Some(JsonType::Object) | None if field.object.is_some() => {
                field.object.map(inner).unwrap_or_default()
            }
            Some(JsonType::Object) | None if field.entries.is_some() => {
                format!("{{\"…\": {}}}", field.entries.map(inner).unwrap_or_default())
            }
            None if field.items.is_some() => self.list(field, depth),
            Some(JsonType::Object) => "{…}".to_owned(),
            _ => "\"…\"".to_owned(),
        }
    }

    fn list(&self, field: &Field, depth: usize) -> String {
        match (field.items, field.item_types.first()) {
            (Some(items), _) => format!("[{}]", self.nested(items, depth)),
            (None, Some(JsonType::String)) => "[\"…\"]".to_owned(),
            _ => "[…]".to_owned(),
        }
    }
}

impl<'f> ShapeFault<'f> {
    /// What to write for the key: its only value, or one of its type.
    pub fn sample(&self) -> String {
        if let Some(only) = self.only_value() {
            return only;
        }
        match (self.likely, self.field) {
            // A switch is no name of what an object is.
            (Some(likely), _) if likely.parse::<bool>().is_ok() => likely.to_owned(),
            (Some(likely), _) => format!("\"{likely}\""),
            (None, Some(field)) => first(&self.shape.sample_of(field)).to_owned(),
            (None, None) => "…".to_owned(),
        }
    }

    /// How the object is written that has the key.
    pub fn object_example(&self) -> Option<Cow<'f, str>> {
        let base = self.shape.base(self.object);
        // The example of what it is a variant of shows the likeliest of them.
        let of_base = base.filter(|base| {
            let by = base.by.as_ref();
            let likeliest = by.and_then(|by| base.field(&by.key)?.prefer.first());
            let tag = self.shape.tags(self.object).first().map(|(_, tag)| *tag);
            self.object.example.is_none()
                && (tag.is_none() || likeliest.is_some_and(|likeliest| Some(&*likeliest.text) == tag))
        });
        let example = match of_base.and_then(|base| base.example.as_deref()) {
            Some(example) => Cow::Borrowed(example),
            None => self.shape.sample(self.object),
        };
        is_worth_it(&example).then_some(example)
    }
}

/// Whether an example says anything, and is short enough to be read.
pub(super) fn is_worth_it(example: &str) -> bool {
    !matches!(example, "{…}" | "[…]" | "{}" | "\"…\"" | "…" | "1" | "true" | "null")
        && example.len() <= LONGEST
}

fn json(value: &Scalar) -> String {
    if value.is_string { format!("\"{}\"", value.text) } else { value.text.clone() }
}

/// The first of several ways to write something.
pub(super) fn first(example: &str) -> &str {
    let (mut depth, mut is_text, mut is_escaped) = (0_usize, false, false);
    for (at, character) in example.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' if is_text => is_escaped = true,
            '"' => is_text = !is_text,
            '{' | '[' if !is_text => depth += 1,
            '}' | ']' if !is_text => depth = depth.saturating_sub(1),
            ' ' | ',' if !is_text && depth == 0 => return &example[..at],
            _ => {}
        }
    }
    example
}

#[cfg(test)]
mod tests {
    use toolcheck_json::Document;

    use super::*;
    use crate::targets;
    use crate::targets::shape::check::Checker;
    use crate::targets::shape::tables::{Kind, ShapeFaultKind};

    /// An example with something in each place that it leaves open.
    fn filled(example: &str) -> String {
        let example = example.replace("{…}", "{}").replace("[…]", "[]");
        example.replace("image/png;base64,…", "image/png;base64,iVBORw0KGgo=").replace('…', "abcd")
    }

    /// The ways to write something that an example shows.
    fn ways(example: &str) -> Vec<&str> {
        let (mut ways, mut rest) = (Vec::new(), example);
        while !rest.is_empty() {
            let way = first(rest);
            ways.push(way);
            rest = rest[way.len()..].trim_start_matches([',', ' ']).trim_start_matches("or ");
        }
        ways
    }

    fn wrong(shape: &Shape, number: usize, example: &str) -> Vec<String> {
        let text = filled(example);
        let document = Document::read(text.as_bytes());
        if !document.faults().is_empty() || !document.root().is_object() {
            return vec![format!("no object: {text}")];
        }
        let mut checker = Checker::new(shape, shape.plain_facts().clone(), None, true);
        if checker.alone(document.root(), number).is_none() {
            return vec!["not a known variant".to_owned()];
        }
        // Where the API does not take a variant at all, that is what it says.
        let tags = shape.tags(&shape.objects[number]);
        let is_of_variant = |fault: &ShapeFault<'_>| {
            fault.kind == ShapeFaultKind::Value && tags.iter().any(|(key, _)| *key == &*fault.key)
        };
        if checker.faults.iter().any(is_of_variant) {
            return Vec::new();
        }
        let refused = checker.faults.iter().filter(|fault| fault.is_refused(shape, None));
        refused.map(|fault| format!("{:?} of `{}`", fault.kind, fault.key)).collect()
    }

    fn shapes() -> impl Iterator<Item = (&'static str, &'static Shape)> {
        targets::all().filter_map(|target| Some((&*target.id, target.shape()?)))
    }

    #[test]
    fn the_ways_of_an_example_are_told_apart() {
        assert_eq!(ways(r#""auto", {"a b": [1, "}"]} or {}"#), [r#""auto""#, r#"{"a b": [1, "}"]}"#, "{}"]);
    }

    #[test]
    fn examples_of_objects_are_accepted() {
        let mut all = Vec::new();
        for (id, shape) in shapes() {
            for (number, object) in shape.numbered() {
                for way in ways(&shape.sample(object)).into_iter().filter(|way| way.starts_with('{')) {
                    let wrong = wrong(shape, number, way);
                    if !wrong.is_empty() && is_worth_it(way) {
                        all.push(format!("{id}: {} as {way}: {}", object.name, wrong.join(", ")));
                    }
                }
            }
        }
        assert!(all.is_empty(), "{} examples are refused:\n{}", all.len(), all.join("\n"));
    }

    #[test]
    fn examples_of_values_are_accepted() {
        let mut all = Vec::new();
        for (id, shape) in shapes() {
            for object in shape.all_objects() {
                for field in object.fields.iter().filter(|field| field.example.is_some()) {
                    let text = filled(field.example.as_deref().unwrap_or_default());
                    let document = Document::read(text.as_bytes());
                    let value = document.root();
                    let got = crate::targets::shape::value::type_of(value);
                    let is_of_type = field.mask & crate::targets::shape::compile::bit(got) != 0;
                    let fails = field.checks.iter().any(|check| check.failed_by(value, got).is_some());
                    if !document.faults().is_empty() || !is_of_type || fails {
                        all.push(format!("{id}: `{}` of {} as {text}", field.key, object.name));
                    }
                }
            }
        }
        assert!(all.is_empty(), "{} examples are refused:\n{}", all.len(), all.join("\n"));
    }

    #[test]
    fn what_every_api_can_say_is_accepted() {
        let mut all = Vec::new();
        for format in crate::targets::shape::formats() {
            let Some((_, shape)) = shapes().find(|(_, shape)| shape.format == format) else { continue };
            let Some(file) = crate::targets::shape::FILES.find(format) else { continue };
            for (what, said) in &file.says {
                for (example, kinds) in [
                    (Some(&said.example), &[Kind::Content, Kind::Message][..]),
                    (said.message.as_ref(), &[Kind::Message]),
                ] {
                    let Some(example) = example else { continue };
                    let of_kind = |object: &Object| object.kind.is_some_and(|kind| kinds.contains(&kind));
                    let mut objects = shape.numbered().filter(|(_, object)| of_kind(object));
                    if !objects.any(|(number, _)| wrong(shape, number, example).is_empty()) {
                        all.push(format!("{format}: {what} as {example}"));
                    }
                }
            }
        }
        assert!(all.is_empty(), "{} examples are refused:\n{}", all.len(), all.join("\n"));
    }

    /// The values that a field may have; none if that is left open.
    fn allowed<'f>(object: &'f Object, field: &'f Field) -> Vec<&'f str> {
        let by = object.by.as_ref().filter(|by| *by.key == *field.key && !by.is_open);
        let of_by = by.into_iter().flat_map(|by| by.values.iter().map(|(value, _)| &**value));
        let of_checks = field.checks.iter().filter_map(|check| match &check.what {
            CheckKind::Values { values, .. } if check.fact.is_none() => Some(values.iter()),
            _ => None,
        });
        of_by.chain(of_checks.flatten().map(|value| &*value.text)).collect()
    }

    #[test]
    fn what_replaces_a_value_is_allowed() {
        let mut all = Vec::new();
        for (id, shape) in shapes() {
            let fields = || {
                shape.all_objects().flat_map(|object| object.fields.iter().map(move |field| (object, field)))
            };
            for (object, field) in fields() {
                let written = field.instead.values().map(String::as_str).filter(|words| !words.contains(' '));
                let preferred = field.prefer.iter().map(|value| &*value.text);
                for value in written.chain(preferred) {
                    // Objects that have this from the same base differ in what they allow.
                    let is_same = |(_, other): &(&Object, &Field)| {
                        other.key == field.key
                            && other.instead == field.instead
                            && other.prefer == field.prefer
                    };
                    let mut same = fields().filter(is_same).map(|(object, field)| allowed(object, field));
                    if !same.any(|allowed| allowed.is_empty() || allowed.contains(&value)) {
                        all.push(format!("{id}: `{value}` of `{}` of {}", field.key, object.name));
                    }
                }
            }
        }
        assert!(all.is_empty(), "{} values are not allowed:\n{}", all.len(), all.join("\n"));
    }

    #[test]
    fn what_replaces_a_key_is_known() {
        let mut all = Vec::new();
        for (id, shape) in shapes() {
            for object in shape.all_objects() {
                for (key, instead) in object.instead.iter().filter(|(_, instead)| !instead.contains(' ')) {
                    let is_known =
                        |object: &Object, key: &str| object.field(key).is_some_and(|field| field.is_known);
                    let mut way = instead.split('.');
                    let top = if instead.contains('.') { &shape.objects[shape.request] } else { object };
                    let first = way.next().unwrap_or_default();
                    let is_base = object.by.is_some() && !is_known(object, first);
                    let inner = top.field(first).and_then(|field| field.object);
                    let is_below = way.next().is_none_or(|next| {
                        inner.is_none_or(|inner| {
                            !shape.objects[inner].is_closed || is_known(&shape.objects[inner], next)
                        })
                    });
                    let is_shared = object.base.is_some() && !instead.contains('.');
                    if !(is_known(top, first) && is_below || is_base || is_shared) {
                        all.push(format!("{id}: `{key}` of {} as `{instead}`", object.name));
                    }
                }
            }
        }
        assert!(all.is_empty(), "{} keys are not known:\n{}", all.len(), all.join("\n"));
    }
}
