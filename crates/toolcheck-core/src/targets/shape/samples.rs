//! How the values of a request are written, as far as its description says: examples in which `…` stands for any text.

use std::borrow::Cow;

use toolcheck_toml::Text;

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
            let is_likeliest =
                |(value, _): &&(Text, usize)| likeliest.is_some_and(|likeliest| likeliest.text == **value);
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
            let is_own = |(_, variant): &&(Text, usize)| std::ptr::eq(&self.objects[*variant], own);
            let is_otherwise =
                by.otherwise.as_ref().is_some_and(|(_, other)| std::ptr::eq(&self.objects[*other], own));
            let likeliest = base.field(&by.key).and_then(|field| field.prefer.first());
            let is_likeliest =
                |(value, _): &&(Text, usize)| likeliest.is_some_and(|likeliest| likeliest.text == **value);
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
    if value.is_string { format!("\"{}\"", value.text) } else { value.text.as_str().to_owned() }
}

/// The ways to write something that an example shows.
pub(super) fn ways(mut example: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let way = Some(first(example)).filter(|_| !example.is_empty())?;
        example = example[way.len()..].trim_start_matches([',', ' ']).trim_start_matches("or ");
        Some(way)
    })
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
