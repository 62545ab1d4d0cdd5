//! Keywords that were meant to be others: what is not a keyword is ignored, and with it what it would have asked for.

use toolcheck_json::{Kind, Value};

/// The maximum nesting of a schema that is looked at.
const DEEPEST: usize = 32;

/// The longest keys that are compared.
const LONGEST: usize = 24;

/// The most keys of a schema that are looked at for what they were meant to be: it may have one a million times.
const MOST_NEAR: usize = 16;

/// The keywords of which something is lost without a word, each with the most edits that make it of another key. A short
/// one is near to too many others.
const KEYWORDS: [(&str, usize); 5] =
    [("properties", 2), ("required", 2), ("additionalProperties", 2), ("items", 1), ("enum", 1)];

/// Calls `see` with each member of a schema, and of the schemas in it, whose key was meant to be a keyword, and with that.
pub fn misspelt<'d, 's>(schema: Value<'d, 's>, mut see: impl FnMut(Value<'d, 's>, &'static str)) {
    look(schema, 0, &mut see);
}

fn look<'d, 's>(schema: Value<'d, 's>, depth: usize, see: &mut impl FnMut(Value<'d, 's>, &'static str)) {
    if depth > DEEPEST || !schema.is_object() {
        return;
    }
    let mut near = 0;
    for member in schema.members() {
        let Some(key) = member.key_text() else { continue };
        match &*key {
            "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
                member.members().for_each(|inner| look(inner, depth + 1, see));
            }
            "items"
            | "additionalProperties"
            | "additionalItems"
            | "not"
            | "if"
            | "then"
            | "else"
            | "contains"
            | "propertyNames" => look(member, depth + 1, see),
            "prefixItems" | "allOf" | "anyOf" | "oneOf" => {
                member.elements().for_each(|inner| look(inner, depth + 1, see));
            }
            key if near < MOST_NEAR => {
                let meant = meant(key);
                near += usize::from(meant.is_some());
                let meant = meant.filter(|meant| schema.get(meant).is_none());
                if let Some(meant) = meant.filter(|meant| fits(schema, meant, member)) {
                    see(member, meant);
                }
            }
            _ => {}
        }
    }
}

/// Whether a key may be a misspelt keyword, whatever it holds.
pub(crate) fn is_near(key: &str) -> bool {
    meant(key).is_some()
}

/// The keyword that a key was probably meant to be.
fn meant(key: &str) -> Option<&'static str> {
    // Nearly all that are no misspelling begin with another letter.
    if !matches!(key.as_bytes().first()?, b'p' | b'r' | b'a' | b'i' | b'e' | b'P' | b'R' | b'A' | b'I' | b'E')
        || key.len() > LONGEST
        || !key.is_ascii()
    {
        return None;
    }
    let letters: String =
        key.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect();
    KEYWORDS
        .iter()
        .find(|(keyword, most)| *keyword != key && is_meant(&letters, keyword, *most))
        .map(|(keyword, _)| *keyword)
}

/// Whether these letters are those of a keyword but for a few, or its singular.
fn is_meant(letters: &str, keyword: &str, most: usize) -> bool {
    let own = keyword.to_ascii_lowercase();
    let is_singular = || {
        let stem = own.strip_suffix("ies");
        stem.is_some_and(|stem| letters.strip_suffix('y') == Some(stem))
    };
    let is_mixed_up = || {
        let sorted = |text: &str| {
            let mut letters = text.as_bytes().to_vec();
            letters.sort_unstable();
            letters
        };
        sorted(letters) == sorted(&own)
    };
    letters.chars().next() == own.chars().next()
        && letters.len().abs_diff(own.len()) <= most
        && (strsim::osa_distance(letters, &own) <= most || is_mixed_up())
        || is_singular()
}

/// Whether a value is one that a keyword has: anybody may add keys of their own.
fn fits(schema: Value<'_, '_>, keyword: &str, value: Value<'_, '_>) -> bool {
    let has_some = value.children().next().is_some();
    let is_type = |name: &str| {
        let kind = schema.get("type");
        kind.is_some_and(|kind| {
            let mut names = kind.elements().filter_map(Value::as_str).chain(kind.as_str());
            names.any(|own| own.eq_ignore_ascii_case(name))
        })
    };
    match keyword {
        "properties" => {
            is_type("object") && has_some && value.members().all(Value::is_object) && value.is_object()
        }
        "required" => has_some && value.is_array() && value.elements().all(|name| name.is_string()),
        "enum" => {
            let is_scalar = |value: Value<'_, '_>| !matches!(value.kind(), Kind::Array | Kind::Object);
            has_some && value.is_array() && value.elements().all(is_scalar)
        }
        "items" => is_type("array") && value.is_object(),
        _ => is_type("object") && (value.kind() == Kind::Bool || value.is_object()),
    }
}

#[cfg(test)]
mod tests {
    use toolcheck_json::Document;

    use super::{meant, misspelt};

    #[test]
    fn keys_are_near_to_keywords() {
        let near = [
            ("properties", "Properties propertys propeties property PROPERTIES propertise proprties"),
            ("required", "require requires Required reqired requried requiredd REQUIRED"),
            (
                "additionalProperties",
                "additional_properties additionalProperty additonalProperties AdditionalProperties",
            ),
            ("items", "item Items itmes itms"),
            ("enum", "enums Enum emun enm eunm"),
        ];
        for (keyword, keys) in near {
            for key in keys.split(' ') {
                assert_eq!(meant(key), Some(keyword), "{key}");
            }
        }
        let others = "properties required additionalProperties items enum additionalItems prefixItems minItems \
            propertyNames patternProperties propertyOrdering example examples enumNames enumDescriptions id \
            readOnly aliases access acquired itemType element ends en im props params parameters extra requirements \
            x-enum x-required $ref pattern nullable internal requiredness einem";
        for key in others.split(' ').filter(|key| !key.is_empty()) {
            assert_eq!(meant(key), None, "{key}");
        }
    }

    #[test]
    fn a_key_counts_where_a_keyword_may_be() {
        let found = |schema: &str| {
            let document = Document::read(schema.as_bytes());
            let mut found = Vec::new();
            misspelt(document.root(), |member, meant| {
                found.push(format!("{} {meant}", member.key_text().unwrap_or_default()));
            });
            found.join(", ")
        };
        let inner = |inner: &str| format!(r#"{{"type": "object", "properties": {{"a": {inner}}}}}"#);
        assert_eq!(
            found(r#"{"type": "object", "properties": {"a": {}}, "require": ["a"]}"#),
            "require required"
        );
        assert_eq!(found(r#"{"type": "object", "Properties": {"a": {}}}"#), "Properties properties");
        assert_eq!(found(&inner(r#"{"type": "string", "enums": ["a"]}"#)), "enums enum");
        assert_eq!(found(&inner(r#"{"type": ["array", "null"], "item": {}}"#)), "item items");
        assert_eq!(found(&inner(r#"{"anyOf": [{"emun": [1, null]}]}"#)), "emun enum");
        // Both are there, or the value is of another kind.
        assert_eq!(found(r#"{"required": ["a"], "require": ["a"]}"#), "");
        assert_eq!(found(&inner(r#"{"type": "string", "require": true}"#)), "");
        assert_eq!(found(&inner(r#"{"type": "string", "enums": "Colour"}"#)), "");
        assert_eq!(found(&inner(r#"{"type": "object", "item": {"type": "string"}}"#)), "");
        // A property may have any name, and a value any key.
        let properties =
            r#"{"type": "object", "properties": {"require": {}, "enums": {}, "item": {}, "Required": {}}}"#;
        assert_eq!(found(properties), "");
        assert_eq!(
            found(&inner(
                r#"{"default": {"require": ["a"]}, "examples": [{"enums": ["a"]}], "x": {"enums": ["a"]}}"#
            )),
            ""
        );
    }
}
