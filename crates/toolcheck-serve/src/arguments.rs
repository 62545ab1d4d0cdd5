//! Arguments that fit a tool's schema, so that any agent can be driven without a script.

use std::cell::Cell;

use serde_json::{Map, Value as Json, json};

/// Any text.
pub(crate) const TEXT: &str = "text";

/// How deep a value is made. What is deeper is left out if it may be, and otherwise empty.
const DEEPEST: usize = 8;
const MOST_VALUES: usize = 1000;
/// The most elements or characters that are made to reach a minimum.
const MOST: u64 = 64;

/// Arguments that fit the schema of a tool, as far as that can be told without a search: each required property, with its
/// default, its first example or its first choice where there is one.
pub(crate) fn arguments(schema: &Json) -> Map<String, Json> {
    match value(schema) {
        Json::Object(members) => members,
        _ => Map::new(),
    }
}

/// The same of any type.
pub(crate) fn value(schema: &Json) -> Json {
    Maker { root: schema, left: Cell::new(MOST_VALUES) }.value(schema, 0)
}

struct Maker<'s> {
    /// The whole schema, which references are into.
    root: &'s Json,
    /// How many values may still be made: a schema may contain itself several times.
    left: Cell<usize>,
}

impl Maker<'_> {
    fn value(&self, schema: &Json, depth: usize) -> Json {
        let Some(object) = schema.as_object() else { return json!(TEXT) };
        let Some(left) = self.left.get().checked_sub(1) else { return Json::Null };
        self.left.set(left);
        for key in ["const", "default"] {
            if let Some(known) = object.get(key) {
                return known.clone();
            }
        }
        for key in ["enum", "examples"] {
            if let Some(first) = object.get(key).and_then(|list| list.get(0)) {
                return first.clone();
            }
        }
        if depth >= DEEPEST {
            return Json::Null;
        }
        if let Some(name) = object.get("$ref").and_then(Json::as_str) {
            let found = name.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            return found.map_or(Json::Null, |found| self.value(found, depth + 1));
        }
        for key in ["anyOf", "oneOf", "allOf"] {
            let choices = object.get(key).and_then(Json::as_array);
            // The first choice that is not `null`, which many schemas put beside the real one.
            let is_real = |choice: &&Json| choice.get("type").is_none_or(|kind| !is_kind(kind, "null"));
            let first = choices.and_then(|choices| choices.iter().find(is_real).or(choices.first()));
            if let Some(first) = first.filter(|_| !object.contains_key("properties")) {
                return self.value(first, depth + 1);
            }
        }
        let number = |key: &str| object.get(key).and_then(Json::as_f64);
        let count = |key: &str| object.get(key).and_then(Json::as_u64).unwrap_or_default().min(MOST);
        match kind_of(object) {
            "object" => {
                let properties = object.get("properties").and_then(Json::as_object);
                let required = object.get("required").and_then(Json::as_array).into_iter().flatten();
                let member = |name: &str| {
                    let schema =
                        properties.and_then(|properties| properties.get(name)).unwrap_or(&Json::Null);
                    (name.to_owned(), self.value(schema, depth + 1))
                };
                Json::Object(required.filter_map(Json::as_str).map(member).collect())
            }
            "array" => {
                let items = object.get("items").unwrap_or(&Json::Null);
                (0..count("minItems")).map(|_| self.value(items, depth + 1)).collect()
            }
            "integer" | "number" => {
                let least = number("minimum").or_else(|| number("exclusiveMinimum").map(|least| least + 1.0));
                let most = number("maximum").or_else(|| number("exclusiveMaximum").map(|most| most - 1.0));
                let step = number("multipleOf").filter(|step| *step > 0.0).unwrap_or(1.0);
                let found = match (least, most) {
                    (Some(least), _) => (least / step).ceil() * step,
                    (None, Some(most)) if most < step => (most / step).floor() * step,
                    (None, _) => step,
                };
                if found.fract() == 0.0 && found.abs() < 9e15 { json!(found as i64) } else { json!(found) }
            }
            "boolean" => json!(true),
            "null" => Json::Null,
            _ => json!(text(
                object.get("format").and_then(Json::as_str),
                count("minLength") as usize,
                object.get("maxLength").and_then(Json::as_u64).map_or(usize::MAX, |most| most as usize)
            )),
        }
    }
}

/// A text of a format, with at least and at most so many characters.
fn text(format: Option<&str>, least: usize, most: usize) -> String {
    let text = match format {
        Some("date") => "2026-01-01",
        Some("date-time") => "2026-01-01T00:00:00Z",
        Some("time") => "00:00:00Z",
        Some("email") => "someone@example.com",
        Some("uri" | "url") => "https://example.com/",
        Some("uuid") => "00000000-0000-4000-8000-000000000000",
        Some("ipv4") => "192.0.2.1",
        _ => TEXT,
    };
    let missing = least.saturating_sub(text.len());
    text.chars().chain(std::iter::repeat_n('x', missing)).take(most).collect()
}

/// The type of a schema: what it says, or what its other keys are for. Some providers write it in capitals.
fn kind_of(object: &Map<String, Json>) -> &'static str {
    const KINDS: [&str; 7] = ["object", "array", "string", "integer", "number", "boolean", "null"];
    let said = object.get("type");
    let known = |kind: &&&str| said.is_some_and(|said| is_kind(said, kind));
    match KINDS.iter().find(known) {
        Some(kind) => kind,
        None if object.contains_key("properties") || object.contains_key("required") => "object",
        None if object.contains_key("items") => "array",
        None => "string",
    }
}

fn is_kind(said: &Json, kind: &str) -> bool {
    let is = |said: &Json| said.as_str().is_some_and(|said| said.eq_ignore_ascii_case(kind));
    is(said) || said.as_array().is_some_and(|all| all.iter().any(is))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_that_contains_itself_ends() {
        let schema = json!({"type": "object", "required": ["next"], "properties": {"next": {"$ref": "#"}}});
        assert!(Json::Object(arguments(&schema)).to_string().len() < 200);
        let wide = json!({"type": "array", "minItems": 4_000_000_000_u64, "items": {"minLength": 9_000_000_000_u64, "type": "string"}});
        let wide = json!({"type": "object", "required": ["a"], "properties": {"a": wide}});
        assert!(Json::Object(arguments(&wide)).to_string().len() < 9000);
        let names: Vec<String> = (0..50).map(|number| number.to_string()).collect();
        let own: Map<String, Json> = names.iter().map(|name| (name.clone(), json!({"$ref": "#"}))).collect();
        let bushy = json!({"type": "object", "required": names, "properties": own});
        assert!(Json::Object(arguments(&bushy)).to_string().len() < 50_000);
        assert_eq!(arguments(&json!(["not", "a", "schema"])), Map::new());
    }
}
