//! Arguments that a schema surely allows.
//!
//! Most schemas use a few keywords in the ordinary way, and most arguments are what they ask for. Seeing that takes a
//! hundredth of what the validator takes to compile, so it is made only for arguments that may be wrong.

use std::cell::Cell;

use serde_json::{Map, Value as Json};
use toolcheck_json::{Kind, Value};

use super::fast_validity::{is_draft_07, is_other_keyword};
use super::values;

/// Whether a schema that is valid at a glance surely allows a value.
pub(crate) fn allows(schema: &Json, value: Value<'_, '_>) -> bool {
    let dialect = schema.get("$schema").and_then(Json::as_str);
    let look = FastCheck {
        root: schema,
        asserts_formats: dialect.is_some_and(is_draft_07),
        left: Cell::new(MOST_STEPS),
        depth: Cell::new(0),
    };
    look.allows(schema, value)
}

/// The most steps of a look: a validator costs as much as some thousands.
const MOST_STEPS: usize = 16_000;
/// The steps of holding a schema against a value.
const STEPS_OF_SCHEMA: usize = 4;
/// How deep they may be in one another: a look recurses.
const DEEPEST: usize = 64;

struct FastCheck<'j> {
    root: &'j Json,
    /// Whether a format is more than a note, as in earlier drafts.
    asserts_formats: bool,
    /// How many steps may still be taken: references may branch, and lists of keys and values may be long.
    left: Cell<usize>,
    depth: Cell<usize>,
}

impl FastCheck<'_> {
    fn allows(&self, schema: &Json, value: Value<'_, '_>) -> bool {
        let depth = self.depth.get();
        if depth == DEEPEST || !self.takes(STEPS_OF_SCHEMA) {
            return false;
        }
        self.depth.set(depth + 1);
        let allows = match schema {
            Json::Bool(allows) => *allows,
            Json::Object(keywords) => {
                keywords.iter().all(|(key, keyword)| self.allows_by(keywords, key, keyword, value))
            }
            _ => false,
        };
        self.depth.set(depth);
        allows
    }

    fn takes(&self, steps: usize) -> bool {
        let left = self.left.get().checked_sub(steps);
        self.left.set(left.unwrap_or_default());
        left.is_some()
    }

    /// Whether the value of a keyword surely allows a value.
    fn allows_by(
        &self,
        keywords: &Map<String, Json>,
        key: &str,
        keyword: &Json,
        value: Value<'_, '_>,
    ) -> bool {
        let schemas = || keyword.as_array().into_iter().flatten();
        // What most schemas have comes first: the words are compared one after another.
        match key {
            "description" | "title" => true,
            "type" => match keyword {
                Json::String(kind) => is_of(value, kind),
                _ => schemas().filter_map(Json::as_str).any(|kind| is_of(value, kind)),
            },
            "properties" => keyword.as_object().is_some_and(|properties| {
                value.members().all(|member| {
                    let key = member.key_text();
                    key.is_some_and(|key| {
                        properties.get(&*key).is_none_or(|schema| self.allows(schema, member))
                    })
                })
            }),
            "additionalProperties" => self.allows_others(keywords, keyword, value),
            "items" => {
                !keywords.contains_key("prefixItems")
                    && value.elements().all(|inner| self.allows(keyword, inner))
            }
            "required" => {
                // A key is found among all members.
                let members = value.members().take(MOST_STEPS).count();
                let is_there = |key: &str| self.takes(members) && value.get(key).is_some();
                !value.is_object() || schemas().all(|key| key.as_str().is_some_and(is_there))
            }
            "enum" => schemas().any(|other| self.takes(1) && is_same(value, other)),
            "const" => is_same(value, keyword),
            "anyOf" => schemas().any(|schema| self.allows(schema, value)),
            "allOf" => schemas().all(|schema| self.allows(schema, value)),
            "$ref" => keyword
                .as_str()
                .and_then(|path| self.at(path))
                .is_some_and(|schema| self.allows(schema, value)),
            "minLength" => length(value).is_none_or(|own| keyword.as_u64().is_some_and(|least| own >= least)),
            "maxLength" => length(value).is_none_or(|own| keyword.as_u64().is_some_and(|most| own <= most)),
            "minItems" => count(value).is_none_or(|own| keyword.as_u64().is_some_and(|least| own >= least)),
            "maxItems" => count(value).is_none_or(|own| keyword.as_u64().is_some_and(|most| own <= most)),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                value.kind() != Kind::Number
                    || integer(value).zip(keyword.as_i64()).is_some_and(|(own, limit)| match key {
                        "minimum" => own >= limit,
                        "maximum" => own <= limit,
                        "exclusiveMinimum" => own > limit,
                        _ => own < limit,
                    })
            }
            "format" => !self.asserts_formats || value.kind() != Kind::String,
            // What the library compiles for these is more than a look.
            "not" | "if" | "then" | "else" | "contains" | "propertyNames" | "prefixItems" | "oneOf"
            | "pattern" | "patternProperties" | "minProperties" | "maxProperties" | "multipleOf"
            | "uniqueItems" => false,
            "$schema" | "$defs" | "$comment" => true,
            // What is no keyword is ignored.
            other => !is_other_keyword(other),
        }
    }

    /// Whether a schema surely allows the keys of a value that are none of its properties.
    fn allows_others(&self, keywords: &Map<String, Json>, schema: &Json, value: Value<'_, '_>) -> bool {
        let properties = keywords.get("properties").and_then(Json::as_object);
        let is_known = |key: &str| properties.is_some_and(|properties| properties.contains_key(key));
        !keywords.contains_key("patternProperties")
            && value.members().all(|member| {
                let key = member.key_text();
                key.is_some_and(|key| is_known(&key) || self.allows(schema, member))
            })
    }

    /// The part of the schema that a reference leads to.
    fn at(&self, reference: &str) -> Option<&Json> {
        let (group, name) = reference.strip_prefix("#/")?.split_once('/')?;
        self.root.get(group)?.get(name)
    }
}

fn is_of(value: Value<'_, '_>, kind: &str) -> bool {
    match value.kind() {
        Kind::Null => kind == "null",
        Kind::Bool => kind == "boolean",
        Kind::Number => kind == "number" || kind == "integer" && integer(value).is_some(),
        Kind::String => kind == "string",
        Kind::Array => kind == "array",
        Kind::Object => kind == "object",
        Kind::Invalid => false,
    }
}

/// A number that is written as a short integer.
fn integer(value: Value<'_, '_>) -> Option<i64> {
    if value.raw().len() <= 15 { values::integer(value) } else { None }
}

/// Whether a value is surely the same as one of a schema.
fn is_same(value: Value<'_, '_>, other: &Json) -> bool {
    match other {
        Json::Null => value.is_null(),
        Json::Bool(other) => value.kind() == Kind::Bool && value.raw() == other.to_string().as_bytes(),
        Json::String(other) => value.as_str().is_some_and(|text| text == other.as_str()),
        Json::Number(other) => integer(value).is_some_and(|own| other.as_i64() == Some(own)),
        Json::Array(_) | Json::Object(_) => false,
    }
}

/// The characters of a string.
fn length(value: Value<'_, '_>) -> Option<u64> {
    value.as_str().map(|text| text.chars().count() as u64)
}

fn count(value: Value<'_, '_>) -> Option<u64> {
    value.is_array().then(|| value.elements().count() as u64)
}
