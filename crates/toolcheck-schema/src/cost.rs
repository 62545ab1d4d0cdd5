//! The cost of checking arguments against a schema.
//!
//! A validator follows every reference, and references may branch: thirty definitions that each refer twice to the next
//! take a billion steps, and a schema that refers to itself twice doubles the steps with each level of the arguments.
//! It compares each value with each value of an `enum`, and tries each alternative of an `anyOf`.
//! Such schemas are rarely written on purpose, but a log may contain any.

use std::collections::BTreeMap;

use foldhash::HashMap;
use serde_json::{Map, Value as Json};
use toolcheck_json::{Kind, Value, percent_decoded};

use super::fuel::{Fuel, OutOfFuel};
use super::values::integer;

/// The cost of checking a single value against a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cost {
    Bounded,
    /// Depends on the value, because the schema refers to itself.
    OfValue,
    /// Too high, whatever the value.
    Endless,
    /// Unknown, because a reference can't be resolved here.
    Unknown,
}

/// The maximum number of steps of a schema for one value.
const MOST_STEPS: u64 = 100_000;
/// The maximum nesting of the steps, because the validator recurses.
pub(crate) const DEEPEST: usize = 256;
/// Checking arguments is free up to this many steps: each call has bytes enough for them.
const FREE: u64 = 4_000;
/// The steps of a key for an expression that does not backtrack, for one that does, and for a schema of its own.
const STEPS_OF_PATTERN: u64 = 4;
const STEPS_OF_BACKTRACKING: u64 = 2_000;
const STEPS_OF_KEY: u64 = 32;
/// The steps of comparing a number that is not written as an integer with a value: each time it is read again.
const STEPS_OF_NUMBER: u64 = 8;

/// What a validator does with a schema: its parts, with references resolved.
#[derive(Debug)]
pub(crate) struct Plan {
    steps: Vec<Step>,
    /// The steps for each value and how often each is read, if each value takes each step at most once.
    a_value: Option<(u64, u64)>,
    cost: Cost,
}

/// What a validator does with a part of the schema, for one value.
#[derive(Debug, Default)]
struct Step {
    /// The number of its keywords, and of the keys and values in them that are all looked at.
    keywords: u64,
    /// How often the whole value is read.
    reads: u64,
    /// The number of values that the value is compared with one by one, and their size.
    values: u64,
    size: u64,
    /// The number of integers that are only looked up, unless a number is written in another way.
    integers: u64,
    /// The steps for each key of the value.
    a_key: u64,
    /// The parts that apply to the value itself.
    same: Vec<usize>,
    /// The parts that apply to the values of these keys.
    properties: BTreeMap<Box<str>, usize>,
    /// The parts that apply to the first elements.
    elements: Vec<usize>,
    children: Vec<usize>,
}

/// The steps on the way to a step, without a value between them.
struct StepPath<'w> {
    step: usize,
    before: Option<&'w Self>,
}

impl StepPath<'_> {
    fn contains(&self, step: usize) -> bool {
        let mut way = Some(self);
        while let Some(at) = way {
            if at.step == step {
                return true;
            }
            way = at.before;
        }
        false
    }
}

impl Plan {
    pub(crate) fn of(schema: &Json) -> Self {
        let mut builder = Builder { root: schema, ..Builder::default() };
        builder.build();
        let Builder { steps, has_unresolved, has_references, .. } = builder;
        let mut plan = Self { steps, a_value: None, cost: Cost::Unknown };
        let mut known = vec![Known::No; plan.steps.len()];
        let mut refers_to_itself = false;
        let steps = plan.count(0, 0, &mut known, &mut refers_to_itself);
        plan.cost = match steps {
            // Even to compile it would take too much of the stack.
            None => Cost::Endless,
            _ if has_unresolved => Cost::Unknown,
            _ if refers_to_itself => Cost::OfValue,
            Some((steps, _)) if steps <= MOST_STEPS => Cost::Bounded,
            _ => Cost::Endless,
        };
        if !has_references {
            let of = |step: &Step| {
                let numbers = STEPS_OF_NUMBER * (step.values + step.integers);
                2 + step.keywords + step.a_key + step.properties.len() as u64 + numbers + step.size
            };
            let reads = plan.steps.iter().map(|step| step.reads).sum();
            plan.a_value = Some((plan.steps.iter().map(of).sum(), reads));
        }
        plan
    }

    pub(crate) fn cost(&self) -> Cost {
        self.cost
    }

    pub(crate) fn take(&self, arguments: Value<'_, '_>, fuel: &mut Fuel) -> Result<(), OutOfFuel> {
        let length = arguments.raw().len() as u64 / 16 + 1;
        let at_most = |(steps, reads): (u64, u64)| {
            steps.saturating_add(reads * length).saturating_mul(arguments.count() as u64)
        };
        if self.a_value.map(at_most).is_some_and(|steps| steps <= FREE) {
            return Ok(());
        }
        self.take_step(0, arguments, fuel, 0, None)
    }

    fn take_step(
        &self,
        number: usize,
        value: Value<'_, '_>,
        fuel: &mut Fuel,
        depth: usize,
        before: Option<&StepPath<'_>>,
    ) -> Result<(), OutOfFuel> {
        // The validator notices that it checks the same value against the same schema.
        if before.is_some_and(|way| way.contains(number)) {
            return fuel.take(1);
        }
        if depth >= DEEPEST {
            return Err(OutOfFuel);
        }
        let step = &self.steps[number];
        let length = value.raw().len() as u64 / 16 + 1;
        let compared = step.size.min(step.values.saturating_mul(length));
        let read = step.reads.saturating_mul(length);
        fuel.take(1 + step.keywords + step.values.saturating_add(compared).saturating_add(read))?;
        if step.values + step.integers > 0 && value.kind() == Kind::Number && integer(value).is_none() {
            fuel.take(STEPS_OF_NUMBER * (step.values + step.integers))?;
        }
        let way = StepPath { step: number, before };
        for &same in &step.same {
            self.take_step(same, value, fuel, depth + 1, Some(&way))?;
        }
        match value.kind() {
            Kind::Object => {
                fuel.take(step.properties.len() as u64)?;
                if step.properties.is_empty() && step.children.is_empty() && step.a_key == 0 {
                    return Ok(());
                }
                for member in value.members() {
                    fuel.take(1 + step.a_key)?;
                    if !step.properties.is_empty()
                        && let Some(key) = member.key_text()
                        && let Some(&property) = step.properties.get(&*key)
                    {
                        self.take_step(property, member, fuel, depth + 1, None)?;
                    }
                    for &child in &step.children {
                        self.take_step(child, member, fuel, depth + 1, None)?;
                    }
                }
            }
            Kind::Array if !(step.elements.is_empty() && step.children.is_empty()) => {
                let mut first = step.elements.iter();
                for element in value.elements() {
                    fuel.take(1)?;
                    for &inner in first.next().into_iter().chain(&step.children) {
                        self.take_step(inner, element, fuel, depth + 1, None)?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The number of parts that a single value is checked against, and how deeply they are nested; `None` if too deeply.
    fn count(
        &self,
        number: usize,
        depth: usize,
        known: &mut [Known],
        refers_to_itself: &mut bool,
    ) -> Option<(u64, usize)> {
        match known[number] {
            Known::Steps(steps, levels) => return (depth + levels <= DEEPEST).then_some((steps, levels)),
            Known::Counting => {
                *refers_to_itself = true;
                return Some((1, 0));
            }
            Known::No if depth >= DEEPEST => return None,
            Known::No => known[number] = Known::Counting,
        }
        let step = &self.steps[number];
        let (mut sum, mut deepest): (u64, usize) = (1, 0);
        let inner = step.same.iter().chain(step.properties.values()).chain(&step.elements);
        for &inner in inner.chain(&step.children) {
            let (steps, levels) = self.count(inner, depth + 1, known, refers_to_itself)?;
            (sum, deepest) = (sum.saturating_add(steps), deepest.max(levels));
        }
        known[number] = Known::Steps(sum, deepest + 1);
        Some((sum, deepest + 1))
    }
}

#[derive(Debug, Clone, Copy)]
enum Known {
    No,
    Counting,
    /// Their number, and how deeply they are nested.
    Steps(u64, usize),
}

struct Builder<'j> {
    root: &'j Json,
    steps: Vec<Step>,
    /// The parts of the schema by their number, and the numbers by their addresses.
    parts: Vec<&'j Json>,
    numbers: HashMap<*const Json, usize>,
    /// Whether a reference can't be resolved.
    has_unresolved: bool,
    has_references: bool,
    /// The named parts of the schema, by `$id`, `$anchor` and the like; collected when first needed.
    named: Option<HashMap<&'j str, &'j Json>>,
}

impl Default for Builder<'_> {
    fn default() -> Self {
        Self {
            root: &Json::Null,
            steps: Vec::new(),
            parts: Vec::new(),
            numbers: HashMap::default(),
            has_unresolved: false,
            has_references: false,
            named: None,
        }
    }
}

impl<'j> Builder<'j> {
    /// Makes a step of each part that can be reached.
    fn build(&mut self) {
        self.number(self.root);
        while let Some(&part) = self.parts.get(self.steps.len()) {
            let mut step = Step::default();
            for (key, inner) in part.as_object().into_iter().flatten() {
                step.keywords += 1;
                self.keyword(&mut step, key, inner);
            }
            self.steps.push(step);
        }
    }

    fn number(&mut self, part: &'j Json) -> usize {
        *self.numbers.entry(std::ptr::from_ref(part)).or_insert_with(|| {
            self.parts.push(part);
            self.parts.len() - 1
        })
    }

    fn numbers_of(&mut self, parts: impl Iterator<Item = &'j Json>) -> Vec<usize> {
        parts.map(|part| self.number(part)).collect()
    }

    fn keyword(&mut self, step: &mut Step, key: &str, inner: &'j Json) {
        let elements = || inner.as_array().into_iter().flatten();
        let members = || inner.as_object().into_iter().flat_map(Map::values);
        match key {
            "$ref" | "$dynamicRef" | "$recursiveRef" => {
                self.has_references = true;
                match self.target_of(inner) {
                    Some(target) => step.same.push(self.number(target)),
                    None => self.has_unresolved = true,
                }
            }
            "allOf" | "anyOf" | "oneOf" => step.same.extend(self.numbers_of(elements())),
            "not" | "if" | "then" | "else" => step.same.push(self.number(inner)),
            "dependentSchemas" | "dependencies" => {
                step.keywords += size_of(inner, 1);
                step.same.extend(self.numbers_of(members()));
            }
            "properties" => {
                for (key, inner) in inner.as_object().into_iter().flatten() {
                    step.properties.insert(key.as_str().into(), self.number(inner));
                }
            }
            "patternProperties" => {
                let patterns = inner.as_object().into_iter().flat_map(Map::keys);
                let steps = patterns.map(|pattern| match super::is_plain(pattern) {
                    true => STEPS_OF_PATTERN,
                    false => STEPS_OF_BACKTRACKING,
                });
                // `additionalProperties` looks at them again.
                step.a_key += 2 * steps.sum::<u64>();
                step.children.extend(self.numbers_of(members()));
            }
            "items" | "prefixItems" if inner.is_array() => {
                step.elements.extend(self.numbers_of(elements()));
            }
            "additionalProperties"
            | "unevaluatedProperties"
            | "items"
            | "additionalItems"
            | "unevaluatedItems"
            | "contains" => step.children.push(self.number(inner)),
            "propertyNames" => {
                step.a_key += STEPS_OF_KEY;
                step.children.push(self.number(inner));
            }
            "enum" => step.compare_with(inner.as_array().map_or(&[], Vec::as_slice)),
            "const" => step.compare_with(std::slice::from_ref(inner)),
            "required" => step.keywords += elements().count() as u64,
            "dependentRequired" => step.keywords += size_of(inner, 2),
            "minLength" | "maxLength" => step.reads += 1,
            "uniqueItems" | "format" | "contentEncoding" | "contentMediaType" => step.reads += 8,
            _ => {}
        }
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
            let mut named = HashMap::default();
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

impl Step {
    fn compare_with(&mut self, values: &[Json]) {
        let is_looked_up = values.len() > 1
            && (values.iter().all(|value| value.is_string() || value.is_null())
                || values.iter().all(|value| value.is_i64() || value.is_null()));
        let is_short = |value: &Json| !matches!(value, Json::Array(_) | Json::Object(_));
        if is_looked_up {
            // The text is hashed, and integers are sorted.
            self.keywords += 1;
            self.integers += values.iter().filter(|value| value.is_i64()).count() as u64;
        } else {
            self.values += values.len() as u64;
            let sizes = values.iter().filter(|value| !is_short(value) || value.is_string());
            self.size += sizes.map(|value| size_of(value, usize::MAX)).sum::<u64>();
        }
    }
}

/// The size of a value: the number of values in it, down to this depth, and their length.
fn size_of(value: &Json, depth: usize) -> u64 {
    let mut pending = vec![(value, 0)];
    let mut size = 0;
    while let Some((value, at)) = pending.pop() {
        size += 1;
        match value {
            Json::String(text) => size += text.len() as u64 / 16,
            Json::Array(elements) if at < depth => {
                pending.extend(elements.iter().map(|inner| (inner, at + 1)))
            }
            Json::Object(members) if at < depth => {
                size += members.keys().map(|key| key.len() as u64 / 16).sum::<u64>();
                pending.extend(members.values().map(|inner| (inner, at + 1)));
            }
            _ => {}
        }
    }
    size
}

/// The last segment of a URI, without `#`.
fn last_segment(name: &str) -> &str {
    let name = name.trim_end_matches('#').trim_start_matches('#');
    name.rsplit('/').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use toolcheck_json::Document;

    fn cost_of(schema: &Json) -> Cost {
        Plan::of(schema).cost()
    }

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
        assert_eq!(cost_of(&schema), Cost::Bounded);
        assert_eq!(cost_of(&doubling(8)), Cost::Bounded);
    }

    #[test]
    fn schemas_that_double_again_and_again_are_endless() {
        assert_eq!(cost_of(&doubling(30)), Cost::Endless);
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
            assert_eq!(cost_of(&schema), Cost::Endless, "{form}");
        }
        assert_eq!(cost_of(&json!({"$ref": "https://example.com/elsewhere"})), Cost::Unknown);
    }

    #[test]
    fn a_chain_that_is_too_long_is_endless() {
        let mut definitions = serde_json::Map::new();
        for number in 0..100_000 {
            definitions.insert(format!("d{number}"), json!({"$ref": format!("#/$defs/d{}", number + 1)}));
        }
        // Its end does not exist.
        assert_eq!(cost_of(&json!({"$defs": definitions, "$ref": "#/$defs/d0"})), Cost::Endless);
        definitions.insert("d100000".to_owned(), json!({"type": "object"}));
        assert_eq!(cost_of(&json!({"$defs": definitions, "$ref": "#/$defs/d0"})), Cost::Endless);
        // Each link is known when the one before it is counted.
        let links = (0..100_000).rev().map(|number| json!({"$ref": format!("#/$defs/d{number}")}));
        let schema = json!({"$defs": definitions, "anyOf": links.collect::<Vec<_>>()});
        assert_eq!(cost_of(&schema), Cost::Endless);
    }

    #[test]
    fn a_tree_is_affordable_and_two_paths_down_are_not() {
        let nest = |depth: usize| (0..depth).fold(json!(1), |inner, _| json!({"x": inner})).to_string();
        let is_affordable = |schema: &Json, arguments: String| {
            let document = Document::read(arguments.as_bytes());
            Plan::of(schema).take(document.root(), &mut Fuel::of_record(arguments.len())).is_ok()
        };
        let tree = json!({"properties": {"x": {"$ref": "#"}, "y": {"$ref": "#"}}});
        assert_eq!(cost_of(&tree), Cost::OfValue);
        assert!(is_affordable(&tree, nest(60)));
        let two_paths = json!({"anyOf": [
            {"properties": {"x": {"$ref": "#"}}, "required": ["p"]},
            {"properties": {"x": {"$ref": "#"}}, "required": ["q"]}]});
        assert!(is_affordable(&two_paths, nest(5)));
        assert!(!is_affordable(&two_paths, nest(40)));
    }
}
