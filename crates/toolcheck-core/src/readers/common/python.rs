//! Parameters as xLAM and its followers declare them: an object for each, with the name of a Python type.
//!
//! `{"port": {"type": "str", "description": "..."}, "days": {"type": "List[int], optional", "default": ""}}` is the
//! signature of a function and no schema. Here it becomes one, as far as its types are known.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};
use toolcheck_json::Value;

use crate::formats;
use crate::tools::{self, Definition};

/// The tools of a list, or the only one; `None` if there is none.
pub(crate) fn tools(value: Value<'_, '_>) -> Option<Vec<Definition>> {
    let tools = tools::read_with(value, schema_of).filter(|tools| !tools.is_empty());
    tools.or_else(|| tools::definition_with(value, schema_of).map(|tool| vec![tool]))
}

/// Puts the types of JSON in the place of those of Python in a schema, as ToolACE's and BFCL's tools have them: `dict`, `float`.
fn translate(schema: &mut Json) {
    match schema {
        Json::Object(members) => {
            for (key, value) in members {
                match value {
                    Json::String(kind) if key == "type" => *value = type_of_json(kind),
                    inner => translate(inner),
                }
            }
        }
        Json::Array(list) => list.iter_mut().for_each(translate),
        _ => {}
    }
}

/// The type that a name of Python means, or all types.
fn type_of_json(kind: &str) -> Json {
    match Type::read(kind) {
        Type::Plain(name) => name.into(),
        Type::List(_) => "array".into(),
        _ => json!(["string", "number", "boolean", "array", "object", "null"]),
    }
}

/// The schema that parameters mean which are declared as those of a Python function; `None` if they are a schema already.
pub(crate) fn schema_of(root: Value<'_, '_>) -> Option<Vec<u8>> {
    if root.is("type", "dict") && root.has_object("properties") {
        let mut schema = formats::json(root);
        translate(&mut schema);
        return Some(schema.to_string().into_bytes());
    }
    let is_parameter =
        |value: Value<'_, '_>| value.is_object() && value.get_any(&["type", "description"]).is_some();
    // A parameter may have any name, also `type` or `properties`; what is a schema has a text, a list or a schema for each
    // parameter there.
    let is_signature = root.members().next().is_some()
        && root.members().all(is_parameter)
        && root.members().any(|value| value.get_str("type").is_some())
        && root.get("properties").is_none_or(|inner| inner.get_str("type").is_some());
    if !is_signature {
        return None;
    }
    let says_required = root.members().any(|value| value.has("required"));
    let mut properties = String::new();
    let mut required = String::new();
    for parameter in root.members() {
        // With its quotes and escapes.
        let name = std::str::from_utf8(root.document().bytes().get(parameter.key_span()?.range())?).ok()?;
        let kind = parameter.get_str("type").unwrap_or_default();
        let read = Type::read(&kind);
        // Callers pass `None` for what they leave out.
        let schema = if is_optional(&kind) { read.or(Type::Plain("null")) } else { read }.schema();
        let comma = if properties.is_empty() { "" } else { ", " };
        let _ = write!(properties, "{comma}{name}: {schema}");
        let is_required = if says_required {
            parameter.is_true("required")
        } else {
            parameter.get("default").is_none() && !is_optional(&kind) && !says_optional(parameter)
        };
        if is_required {
            let comma = if required.is_empty() { "" } else { ", " };
            let _ = write!(required, "{comma}{name}");
        }
    }
    let schema = format!(
        r#"{{"type": "object", "properties": {{{properties}}}, "required": [{required}], "additionalProperties": false}}"#
    );
    Some(schema.into_bytes())
}

/// Whether the type says that a parameter may be left out: `int, optional`, `Optional[int]`.
fn is_optional(kind: &str) -> bool {
    let kind = kind.to_ascii_lowercase();
    kind.contains("optional") || kind.contains("none") || kind.contains("default")
}

fn says_optional(parameter: Value<'_, '_>) -> bool {
    let says = |text: std::borrow::Cow<'_, str>| {
        let text = text.to_ascii_lowercase();
        ["optional", "default", "if not provided", "if omitted"].iter().any(|words| text.contains(words))
    };
    parameter.get_str("description").is_some_and(says)
}

/// A Python type, as far as its values in JSON are known.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Type {
    /// A type of JSON Schema.
    Plain(&'static str),
    List(Box<Self>),
    Union(Vec<Self>),
    /// Nothing is known of its values.
    Any,
}

/// How deep types in types are read.
const DEEPEST: usize = 8;
const LONGEST: usize = 200;

impl Type {
    fn read(text: &str) -> Self {
        if text.len() > LONGEST { Self::Any } else { Self::read_in(text, 0) }
    }

    fn read_in(text: &str, depth: usize) -> Self {
        if depth > DEEPEST {
            return Self::Any;
        }
        let parts = divided(text, ',');
        // What follows the type says whether the parameter may be left out.
        let text = parts.first().copied().unwrap_or_default().trim();
        if parts[1..].iter().any(|rest| !is_remark(rest)) {
            return Self::Any;
        }
        let either = divided(text, '|');
        if either.len() > 1 {
            return Self::union(&either, depth);
        }
        let Some((name, inside)) = text.split_once('[') else { return Self::named(text) };
        let Some(inside) = inside.trim_end().strip_suffix(']') else { return Self::Any };
        let name = name.trim().trim_start_matches("typing.").to_ascii_lowercase();
        match &*name {
            "list" | "set" | "sequence" | "iterable" => {
                Self::List(Box::new(Self::read_in(inside, depth + 1)))
            }
            "tuple" => Self::Plain("array"),
            "dict" | "mapping" => Self::Plain("object"),
            "optional" => Self::union(&[inside, "None"], depth),
            "union" => Self::union(&divided(inside, ','), depth),
            _ => Self::Any,
        }
    }

    fn named(name: &str) -> Self {
        Self::Plain(match &*name.trim().trim_start_matches("typing.").to_ascii_lowercase() {
            "str" | "string" => "string",
            "int" | "integer" => "integer",
            "float" | "number" => "number",
            "bool" | "boolean" => "boolean",
            "list" | "array" | "tuple" | "set" => "array",
            "dict" | "object" => "object",
            "none" | "null" | "nonetype" => "null",
            _ => return Self::Any,
        })
    }

    fn union(parts: &[&str], depth: usize) -> Self {
        let parts = parts.iter().map(|part| Self::read_in(part, depth + 1));
        parts.reduce(Self::or).unwrap_or(Self::Any)
    }

    fn name(&self) -> Option<&'static str> {
        if let Self::Plain(name) = self { Some(name) } else { None }
    }

    /// Either of two types. Each type is there only once.
    fn or(self, other: Self) -> Self {
        let parts = |one| if let Self::Union(parts) = one { parts } else { vec![one] };
        let mut all = parts(self);
        for part in parts(other) {
            if !all.contains(&part) {
                all.push(part);
            }
        }
        if all.contains(&Self::Any) {
            Self::Any
        } else if all.len() == 1 {
            all.remove(0)
        } else {
            Self::Union(all)
        }
    }

    fn schema(&self) -> String {
        match self {
            Self::Plain(name) => format!(r#"{{"type": "{name}"}}"#),
            Self::List(element) => format!(r#"{{"type": "array", "items": {}}}"#, element.schema()),
            Self::Union(parts) if parts.iter().all(|part| matches!(part, Self::Plain(_))) => {
                let names: Vec<String> =
                    parts.iter().filter_map(Self::name).map(|name| format!("\"{name}\"")).collect();
                format!(r#"{{"type": [{}]}}"#, names.join(", "))
            }
            Self::Union(parts) => {
                let parts: Vec<String> = parts.iter().map(Self::schema).collect();
                format!(r#"{{"anyOf": [{}]}}"#, parts.join(", "))
            }
            Self::Any => "{}".to_owned(),
        }
    }
}

/// Whether what follows a type is a remark: `optional`, `default=5`.
fn is_remark(text: &str) -> bool {
    let text = text.trim().to_ascii_lowercase();
    text.is_empty() || ["optional", "required", "default"].iter().any(|word| text.starts_with(word))
}

/// The parts of a text between a mark that stands outside of brackets.
fn divided(text: &str, mark: char) -> Vec<&str> {
    let (mut depth, mut start) = (0_usize, 0);
    let mut parts = Vec::new();
    for (at, letter) in text.char_indices() {
        match letter {
            '[' | '(' => depth += 1,
            ']' | ')' => depth = depth.saturating_sub(1),
            _ if letter == mark && depth == 0 => {
                parts.push(&text[start..at]);
                start = at + letter.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}
