//! What it costs to hold arguments against a schema.
//!
//! A validator follows every reference, and references may branch: thirty definitions of which each refers twice to the
//! next make a thousand million steps, and a schema that refers to itself on two ways doubles its steps with each level
//! of the arguments. Nobody writes such a schema on purpose, but a log may hold any.

use std::marker::PhantomData;

use rustc_hash::FxHashMap;
use serde_json::Value as Json;
use toolcheck_json::{NodeId, Value};

/// What it costs to hold arguments against a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cost {
    /// As much as the arguments are long.
    Bearable,
    /// It depends on the arguments: the schema refers to itself.
    OfArguments,
    /// Too much, whatever the arguments.
    Endless,
}

/// How many steps one schema or one call may take.
const MOST_STEPS: u64 = 100_000;
/// How many steps may be open at a time: the validator recurses.
const DEEPEST: usize = 256;

/// What it costs to hold arguments against `schema`.
pub(crate) fn of(schema: &Json) -> Cost {
    let mut walk =
        Walk { root: schema, known: FxHashMap::default(), refers_to_itself: false, values: PhantomData };
    match walk.steps(schema, None, 0) {
        _ if walk.refers_to_itself => Cost::OfArguments,
        Some(steps) if steps <= MOST_STEPS => Cost::Bearable,
        _ => Cost::Endless,
    }
}

/// Whether these arguments can be held against a schema that refers to itself.
pub(crate) fn is_bearable(schema: &Json, arguments: Value<'_, '_>) -> bool {
    let mut walk =
        Walk { root: schema, known: FxHashMap::default(), refers_to_itself: false, values: PhantomData };
    walk.steps(schema, Some(arguments), 0).is_some_and(|steps| steps <= MOST_STEPS)
}

/// A schema and the value that is held against it; without a value, any.
type Step = (*const Json, Option<NodeId>);

struct Walk<'j, 'd, 's> {
    root: &'j Json,
    /// The steps that each pair takes; `None` while they are being counted.
    known: FxHashMap<Step, Option<u64>>,
    refers_to_itself: bool,
    values: PhantomData<Value<'d, 's>>,
}

impl<'j, 'd, 's> Walk<'j, 'd, 's> {
    /// How many steps it takes to hold `value` against `schema`; `None` where they lead too deep.
    fn steps(&mut self, schema: &'j Json, value: Option<Value<'d, 's>>, depth: usize) -> Option<u64> {
        let Json::Object(members) = schema else { return Some(1) };
        let step = (std::ptr::from_ref(schema), value.map(Value::id));
        match self.known.get(&step) {
            Some(Some(steps)) => return Some(*steps),
            // The same value against the same schema again: the validator notices that.
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
                "$ref" | "$dynamicRef" | "$recursiveRef" => {
                    let target = self.target_of(inner);
                    self.steps(target, value, depth + 1)?
                }
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
                        // An argument that is not there costs nothing.
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
                    for (index, inner) in inner.as_array().into_iter().flatten().enumerate() {
                        let below = value.map(|value| value.elements().nth(index));
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
        value: Option<Value<'d, 's>>,
        depth: usize,
    ) -> Option<u64> {
        let mut sum: u64 = 0;
        for schema in schemas {
            sum = sum.saturating_add(self.steps(schema, value, depth + 1)?);
        }
        Some(sum)
    }

    /// The steps of all that a value holds; of one of them where nobody knows the value.
    fn of_children(&mut self, schema: &'j Json, value: Option<Value<'d, 's>>, depth: usize) -> Option<u64> {
        let Some(value) = value else { return self.steps(schema, None, depth + 1) };
        let mut sum: u64 = 0;
        for child in value.children() {
            sum = sum.saturating_add(self.steps(schema, Some(child), depth + 1)?);
        }
        Some(sum)
    }

    /// What a reference leads to. One by a name is taken for one to the whole, which costs more.
    fn target_of(&mut self, reference: &Json) -> &'j Json {
        let pointer = reference.as_str().and_then(|reference| reference.strip_prefix('#'));
        pointer.and_then(|pointer| self.root.pointer(pointer)).unwrap_or(self.root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use toolcheck_json::Document;

    /// Definitions of which each refers twice to the next.
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
    fn plain_schemas_are_bearable() {
        let schema = json!({"type": "object", "properties": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}]}},
            "$defs": {"a": {"type": "string"}}});
        assert_eq!(of(&schema), Cost::Bearable);
        assert_eq!(of(&doubling(8)), Cost::Bearable);
    }

    #[test]
    fn what_doubles_again_and_again_is_endless() {
        assert_eq!(of(&doubling(30)), Cost::Endless);
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
    fn a_tree_is_bearable_and_two_ways_down_are_not() {
        let nest = |depth: usize| (0..depth).fold(json!(1), |inner, _| json!({"x": inner})).to_string();
        let is_bearable = |schema: &Json, arguments: String| {
            let document = Document::read(arguments.as_bytes());
            is_bearable(schema, document.root().expect("the arguments are JSON"))
        };
        let tree = json!({"properties": {"x": {"$ref": "#"}, "y": {"$ref": "#"}}});
        assert_eq!(of(&tree), Cost::OfArguments);
        assert!(is_bearable(&tree, nest(60)));
        let two_ways = json!({"anyOf": [
            {"properties": {"x": {"$ref": "#"}}, "required": ["p"]},
            {"properties": {"x": {"$ref": "#"}}, "required": ["q"]}]});
        assert!(is_bearable(&two_ways, nest(5)));
        assert!(!is_bearable(&two_ways, nest(40)));
    }
}
