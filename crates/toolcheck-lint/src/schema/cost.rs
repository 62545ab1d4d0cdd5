//! The cost of checking arguments against a schema.
//!
//! A validator follows every reference, and references may branch: thirty definitions that each refer twice to the next
//! take a billion steps, and a schema that refers to itself twice doubles the steps with each level of the arguments.
//! Such schemas are rarely written on purpose, but a log may contain any.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use serde_json::Value as Json;
use toolcheck_json::{NodeId, Value};

/// The cost of checking arguments against a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cost {
    /// Proportional to the length of the arguments.
    Linear,
    /// Depends on the arguments, because the schema refers to itself.
    OfArguments,
    /// Too high, whatever the arguments.
    Endless,
    /// Unknown, because a reference can't be resolved here.
    Unknown,
}

/// The maximum number of steps for a schema or a call, and for each value of a call.
const MOST_STEPS: u64 = 100_000;
const MOST_STEPS_A_VALUE: u64 = 200;
/// The maximum nesting of the steps, because the validator recurses.
const DEEPEST: usize = 256;

/// The cost of checking arguments against `schema`.
pub(crate) fn of(schema: &Json) -> Cost {
    let mut walk = Walk::new(schema);
    match walk.steps(schema, None, 0) {
        _ if walk.has_unresolved => Cost::Unknown,
        _ if walk.refers_to_itself => Cost::OfArguments,
        Some(steps) if steps <= MOST_STEPS => Cost::Linear,
        _ => Cost::Endless,
    }
}

/// Whether these arguments can be checked against a schema that refers to itself.
pub(crate) fn is_affordable(schema: &Json, arguments: Value<'_, '_>) -> bool {
    let most = MOST_STEPS + MOST_STEPS_A_VALUE * arguments.count() as u64;
    Walk::new(schema).steps(schema, Some(arguments), 0).is_some_and(|steps| steps <= most)
}

/// A schema and the value that is checked against it; `None` means any value.
type Step = (*const Json, Option<NodeId>);

struct Walk<'j> {
    root: &'j Json,
    /// The number of steps for each pair; `None` while they are being counted.
    known: FxHashMap<Step, Option<u64>>,
    refers_to_itself: bool,
    /// Whether a reference can't be resolved.
    has_unresolved: bool,
    /// The named parts of the schema, by `$id`, `$anchor` and the like; collected when first needed.
    named: Option<FxHashMap<&'j str, &'j Json>>,
}

impl<'j> Walk<'j> {
    fn new(root: &'j Json) -> Self {
        Self {
            root,
            known: FxHashMap::default(),
            refers_to_itself: false,
            has_unresolved: false,
            named: None,
        }
    }

    /// The number of steps that it takes to check `value` against `schema`; `None` if they are nested too deeply.
    fn steps(&mut self, schema: &'j Json, value: Option<Value<'_, '_>>, depth: usize) -> Option<u64> {
        let Json::Object(members) = schema else { return Some(1) };
        let step = (std::ptr::from_ref(schema), value.map(Value::id));
        match self.known.get(&step) {
            Some(Some(steps)) => return Some(*steps),
            // The same value is checked against the same schema again: the validator notices that.
            Some(None) => {
                self.refers_to_itself = true;
                return Some(1);
            }
            None => {}
        }
        if depth >= DEEPEST {
            return None;
        }
        self.known.insert(step, None);
        let mut sum: u64 = 1;
        for (key, inner) in members {
            let steps = match key.as_str() {
                "$ref" | "$dynamicRef" | "$recursiveRef" => match self.target_of(inner) {
                    Some(target) => self.steps(target, value, depth + 1)?,
                    None => {
                        self.has_unresolved = true;
                        1
                    }
                },
                "allOf" | "anyOf" | "oneOf" => {
                    self.sum(inner.as_array().into_iter().flatten(), value, depth)?
                }
                "not" | "if" | "then" | "else" => self.steps(inner, value, depth + 1)?,
                "dependentSchemas" | "dependencies" => {
                    self.sum(inner.as_object().into_iter().flat_map(|map| map.values()), value, depth)?
                }
                "properties" => {
                    let mut sum: u64 = 0;
                    for (key, inner) in inner.as_object().into_iter().flatten() {
                        let below = value.map(|value| value.get(key));
                        // A missing argument costs nothing.
                        if below != Some(None) {
                            sum = sum.saturating_add(self.steps(inner, below.flatten(), depth + 1)?);
                        }
                    }
                    sum
                }
                "patternProperties" => {
                    let mut sum: u64 = 0;
                    for inner in inner.as_object().into_iter().flat_map(|map| map.values()) {
                        sum = sum.saturating_add(self.of_children(inner, value, depth)?);
                    }
                    sum
                }
                "items" | "prefixItems" if inner.is_array() => {
                    let mut sum: u64 = 0;
                    let mut elements = value.map(Value::elements);
                    for inner in inner.as_array().into_iter().flatten() {
                        let below = elements.as_mut().map(Iterator::next);
                        if below != Some(None) {
                            sum = sum.saturating_add(self.steps(inner, below.flatten(), depth + 1)?);
                        }
                    }
                    sum
                }
                "additionalProperties"
                | "unevaluatedProperties"
                | "items"
                | "additionalItems"
                | "unevaluatedItems"
                | "propertyNames"
                | "contains" => self.of_children(inner, value, depth)?,
                _ => 0,
            };
            sum = sum.saturating_add(steps);
        }
        self.known.insert(step, Some(sum));
        Some(sum)
    }

    fn sum(
        &mut self,
        schemas: impl Iterator<Item = &'j Json>,
        value: Option<Value<'_, '_>>,
        depth: usize,
    ) -> Option<u64> {
        let mut sum: u64 = 0;
        for schema in schemas {
            sum = sum.saturating_add(self.steps(schema, value, depth + 1)?);
        }
        Some(sum)
    }

    /// The steps of all children of a value; of a single child if the value is not known.
    fn of_children(&mut self, schema: &'j Json, value: Option<Value<'_, '_>>, depth: usize) -> Option<u64> {
        let Some(value) = value else { return self.steps(schema, None, depth + 1) };
        let mut sum: u64 = 0;
        for child in value.children() {
            sum = sum.saturating_add(self.steps(schema, Some(child), depth + 1)?);
        }
        Some(sum)
    }

    /// The schema that a reference refers to; `None` if it is not found here.
    fn target_of(&mut self, reference: &Json) -> Option<&'j Json> {
        let reference = reference.as_str()?;
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let fragment = percent_decoded(fragment);
        let base = if document.is_empty() { self.root } else { self.named(document)? };
        if fragment.is_empty() {
            Some(base)
        } else if fragment.starts_with('/') {
            base.pointer(&fragment)
        } else {
            self.named(&fragment)
        }
    }

    /// The part of the schema with this name: its whole `$id`, the last segment of it, or its anchor.
    fn named(&mut self, name: &str) -> Option<&'j Json> {
        let root = self.root;
        let named = self.named.get_or_insert_with(|| {
            let mut named = FxHashMap::default();
            let mut pending = vec![root];
            while let Some(json) = pending.pop() {
                if let Json::Object(members) = json {
                    for key in ["$id", "id", "$anchor", "$dynamicAnchor"] {
                        if let Some(Json::String(name)) = members.get(key) {
                            named.insert(last_segment(name), json);
                        }
                    }
                    pending.extend(members.values());
                } else if let Json::Array(elements) = json {
                    pending.extend(elements);
                }
            }
            named
        });
        named.get(last_segment(name)).copied()
    }
}

/// The last segment of a URI, without `#`.
fn last_segment(name: &str) -> &str {
    let name = name.trim_end_matches('#').trim_start_matches('#');
    name.rsplit('/').next().unwrap_or(name)
}

/// The text of a fragment, with percent-encoded bytes decoded.
fn percent_decoded(fragment: &str) -> Cow<'_, str> {
    if !fragment.contains('%') {
        return Cow::Borrowed(fragment);
    }
    let (mut bytes, mut rest) = (Vec::new(), fragment.as_bytes());
    while let [first, tail @ ..] = rest {
        let digits =
            tail.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use toolcheck_json::Document;

    /// Definitions that each refer twice to the next.
    fn doubling(count: usize) -> Json {
        let mut definitions = serde_json::Map::new();
        for number in 0..count {
            let next = json!({"$ref": format!("#/$defs/d{}", number + 1)});
            definitions.insert(format!("d{number}"), json!({"allOf": [next, next]}));
        }
        definitions.insert(format!("d{count}"), json!({"type": "object"}));
        json!({"$defs": definitions, "$ref": "#/$defs/d0"})
    }

    #[test]
    fn plain_schemas_have_a_linear_cost() {
        let schema = json!({"type": "object", "properties": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}]}},
            "$defs": {"a": {"type": "string"}}});
        assert_eq!(of(&schema), Cost::Linear);
        assert_eq!(of(&doubling(8)), Cost::Linear);
    }

    #[test]
    fn schemas_that_double_again_and_again_are_endless() {
        assert_eq!(of(&doubling(30)), Cost::Endless);
    }

    #[test]
    fn doubling_is_detected_for_every_kind_of_reference() {
        for form in 0..4 {
            let mut definitions = serde_json::Map::new();
            for number in 0..=40 {
                let next = number + 1;
                let next = match form {
                    0 => json!({"propertyNames": {"$ref": format!("#/$defs/d{next}")}}),
                    1 => json!({"$ref": format!("#d{next}")}),
                    2 => json!({"$ref": format!("#/%24defs/d{next}")}),
                    _ => json!({"$ref": format!("https://example.com/d{next}")}),
                };
                let mut schema = json!({"allOf": [next, next]});
                match form {
                    1 => schema["$anchor"] = json!(format!("d{number}")),
                    3 => schema["$id"] = json!(format!("https://example.com/d{number}")),
                    _ => {}
                }
                definitions.insert(format!("d{number}"), schema);
            }
            definitions.insert(
                "d41".to_owned(),
                json!({"type": "object", "$anchor": "d41", "$id": "https://example.com/d41"}),
            );
            let schema = json!({"$defs": definitions, "$ref": "#/$defs/d0"});
            assert_eq!(of(&schema), Cost::Endless, "{form}");
        }
        assert_eq!(of(&json!({"$ref": "https://example.com/elsewhere"})), Cost::Unknown);
    }

    #[test]
    fn a_chain_that_is_too_long_is_endless() {
        let mut definitions = serde_json::Map::new();
        for number in 0..100_000 {
            definitions.insert(format!("d{number}"), json!({"$ref": format!("#/$defs/d{}", number + 1)}));
        }
        definitions.insert("d100000".to_owned(), json!({"type": "object"}));
        assert_eq!(of(&json!({"$defs": definitions, "$ref": "#/$defs/d0"})), Cost::Endless);
    }

    #[test]
    fn a_tree_is_affordable_and_two_paths_down_are_not() {
        let nest = |depth: usize| (0..depth).fold(json!(1), |inner, _| json!({"x": inner})).to_string();
        let is_affordable = |schema: &Json, arguments: String| {
            let document = Document::read(arguments.as_bytes());
            is_affordable(schema, document.root())
        };
        let tree = json!({"properties": {"x": {"$ref": "#"}, "y": {"$ref": "#"}}});
        assert_eq!(of(&tree), Cost::OfArguments);
        assert!(is_affordable(&tree, nest(60)));
        let two_paths = json!({"anyOf": [
            {"properties": {"x": {"$ref": "#"}}, "required": ["p"]},
            {"properties": {"x": {"$ref": "#"}}, "required": ["q"]}]});
        assert!(is_affordable(&two_paths, nest(5)));
        assert!(!is_affordable(&two_paths, nest(40)));
    }
}
