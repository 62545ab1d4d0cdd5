//! Arguments that a schema surely allows.
//!
//! Most schemas use a few keywords in the ordinary way, and most arguments are what they ask for. Seeing that takes a
//! hundredth of what the validator takes to compile, so it is made only for arguments that may be wrong.

use serde_json::{Map, Value as Json};
use toolcheck_json::{Kind, Value};

use super::plain::is_other_keyword;

/// Whether a schema that is valid at a glance, with references in none of its parts, surely allows a value.
pub(super) fn allows(schema: &Json, value: Value<'_, '_>) -> bool {
    match schema {
        Json::Bool(allows) => *allows,
        Json::Object(keywords) => {
            keywords.iter().all(|(key, keyword)| allows_by(keywords, key, keyword, value))
        }
        _ => false,
    }
}

/// Whether the value of a keyword surely allows a value.
fn allows_by(keywords: &Map<String, Json>, key: &str, keyword: &Json, value: Value<'_, '_>) -> bool {
    match key {
        "type" => match keyword {
            Json::String(kind) => is_of(value, kind),
            Json::Array(kinds) => kinds.iter().filter_map(Json::as_str).any(|kind| is_of(value, kind)),
            _ => false,
        },
        "properties" => match keyword {
            Json::Object(properties) => value.members().all(|member| {
                let key = member.key_text();
                key.is_some_and(|key| properties.get(&*key).is_none_or(|schema| allows(schema, member)))
            }),
            _ => false,
        },
        "additionalProperties" => allows_others(keywords, keyword, value),
        "items" => {
            !keywords.contains_key("prefixItems") && value.elements().all(|inner| allows(keyword, inner))
        }
        "required" => {
            !value.is_object()
                || keyword.as_array().is_some_and(|keys| {
                    keys.iter().all(|key| key.as_str().is_some_and(|key| value.get(key).is_some()))
                })
        }
        "enum" => keyword.as_array().is_some_and(|values| values.iter().any(|other| is_same(value, other))),
        "const" => is_same(value, keyword),
        "anyOf" => {
            keyword.as_array().is_some_and(|schemas| schemas.iter().any(|schema| allows(schema, value)))
        }
        "allOf" => {
            keyword.as_array().is_some_and(|schemas| schemas.iter().all(|schema| allows(schema, value)))
        }
        "minLength" => length(value).is_none_or(|length| limit(keyword).is_some_and(|least| length >= least)),
        "maxLength" => length(value).is_none_or(|length| limit(keyword).is_some_and(|most| length <= most)),
        "minItems" => count(value).is_none_or(|count| limit(keyword).is_some_and(|least| count >= least)),
        "maxItems" => count(value).is_none_or(|count| limit(keyword).is_some_and(|most| count <= most)),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" if value.kind() == Kind::Number => {
            integer(value).zip(keyword.as_i64()).is_some_and(|(own, limit)| match key {
                "minimum" => own >= limit,
                "maximum" => own <= limit,
                "exclusiveMinimum" => own > limit,
                _ => own < limit,
            })
        }
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => true,
        // What the library compiles for these is more than a look.
        "not" | "if" | "then" | "else" | "contains" | "propertyNames" | "prefixItems" | "oneOf"
        | "pattern" | "patternProperties" | "minProperties" | "maxProperties" | "multipleOf"
        | "uniqueItems" | "$ref" => false,
        "$schema" | "$defs" | "$comment" => true,
        // What is no keyword is ignored, and a format is none in this draft.
        other => !is_other_keyword(other),
    }
}

/// Whether a schema surely allows the keys of a value that are none of its properties.
fn allows_others(keywords: &Map<String, Json>, schema: &Json, value: Value<'_, '_>) -> bool {
    let properties = keywords.get("properties").and_then(Json::as_object);
    !keywords.contains_key("patternProperties")
        && value.members().all(|member| {
            let key = member.key_text();
            let is_known = |key: &str| properties.is_some_and(|properties| properties.contains_key(key));
            key.is_some_and(|key| is_known(&key) || allows(schema, member))
        })
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
    let text = Some(value.raw()).filter(|raw| value.kind() == Kind::Number && raw.len() <= 15)?;
    std::str::from_utf8(text).ok()?.parse().ok()
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

/// The elements of an array.
fn count(value: Value<'_, '_>) -> Option<u64> {
    value.is_array().then(|| value.elements().count() as u64)
}

fn limit(keyword: &Json) -> Option<u64> {
    keyword.as_u64()
}
