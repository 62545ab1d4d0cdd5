//! Schemas that are valid at a glance.
//!
//! Most tools are never called, and most schemas use a few keywords in the ordinary way. Compiling one only to see that
//! it is valid takes a hundred times longer than looking at it.

use toolcheck_json::{Kind, Value};

use super::values::Index;

/// The maximum nesting of a schema that is looked at.
const DEEPEST: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QuickResult {
    Valid,
    /// It is valid JSON Schema, and refers to parts of itself, which exist.
    Refers,
    Unsure,
}

/// Looks at a schema. If it is padded, keys whose value is `null` are ignored.
pub(crate) fn glance(schema: Value<'_, '_>, is_padded: bool) -> QuickResult {
    look(schema, is_padded).0
}

/// The same, and whether it may have misspelt keywords.
pub(crate) fn look(schema: Value<'_, '_>, is_padded: bool) -> (QuickResult, bool) {
    let index = Index::default();
    let mut look = FastCheck { root: schema, index: &index, is_padded, refers: false, is_misspelt: false };
    match look.is_schema(schema, 0) {
        true if look.refers => (QuickResult::Refers, look.is_misspelt),
        true => (QuickResult::Valid, look.is_misspelt),
        // Not all of it was looked at.
        false => (QuickResult::Unsure, true),
    }
}

struct FastCheck<'d> {
    root: Value<'d, 'd>,
    index: &'d Index<'d>,
    is_padded: bool,
    refers: bool,
    is_misspelt: bool,
}

impl<'d> FastCheck<'d> {
    fn is_schema(&mut self, schema: Value<'d, 'd>, depth: usize) -> bool {
        match schema.kind() {
            Kind::Bool => depth > 0,
            Kind::Object if depth < DEEPEST => {
                schema.members().all(|member| self.is_keyword(schema, member, depth))
            }
            _ => false,
        }
    }

    fn is_keyword(&mut self, schema: Value<'d, 'd>, member: Value<'d, 'd>, depth: usize) -> bool {
        if self.is_padded && member.is_null() {
            return true;
        }
        let Some(key) = member.key_text() else { return false };
        match &*key {
            "type" => is_type(member),
            "properties" | "$defs" | "definitions" => self.is_map(member, depth, |_| true),
            "patternProperties" => self.is_map(member, depth, |pattern| !super::is_broken(pattern)),
            "items"
            | "additionalProperties"
            | "not"
            | "if"
            | "then"
            | "else"
            | "contains"
            | "propertyNames" => self.is_schema(member, depth + 1),
            "prefixItems" | "allOf" | "anyOf" | "oneOf" => {
                member.elements().next().is_some()
                    && member.elements().all(|inner| self.is_schema(inner, depth + 1))
            }
            "required" => is_list_of_keys(member),
            "enum" => member.is_array(),
            "const" | "default" => true,
            "examples" => member.is_array(),
            "title" | "description" | "format" | "$comment" => member.kind() == Kind::String,
            "pattern" => member.as_str().is_some_and(|pattern| !super::is_broken(&pattern)),
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
                is_count(member)
            }
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                member.kind() == Kind::Number && member.raw().len() <= 15
            }
            "multipleOf" => is_count(member) && member.raw() != b"0",
            "uniqueItems" | "readOnly" | "writeOnly" | "deprecated" => member.kind() == Kind::Bool,
            // It adds `null` to the type, the values and the alternatives.
            "nullable" => {
                member.kind() == Kind::Bool
                    && schema.get_str("type").is_none_or(|kind| !kind.eq_ignore_ascii_case("null"))
            }
            // In earlier drafts, nothing beside it counts.
            "$ref" => {
                !self.root.get_str("$schema").is_some_and(|draft| is_draft_07(&draft)) && self.exists(member)
            }
            "$schema" => {
                depth == 0
                    && member.as_str().is_some_and(|draft| is_draft_2020(&draft) || is_draft_07(&draft))
            }
            key => {
                self.is_misspelt |= super::misspelt::is_near(key);
                !is_other_keyword(key)
            }
        }
    }

    fn is_map(&mut self, map: Value<'d, 'd>, depth: usize, allows: impl Fn(&str) -> bool) -> bool {
        map.is_object()
            && map.members().all(|inner| {
                (self.is_padded && inner.is_null())
                    || inner.key_text().is_some_and(|key| allows(&key)) && self.is_schema(inner, depth + 1)
            })
    }

    /// Whether a reference leads to a definition at the top of the schema.
    fn exists(&mut self, reference: Value<'d, 'd>) -> bool {
        self.refers = true;
        let Some(text) = reference.as_str() else { return false };
        let Some((group, name)) = text.strip_prefix("#/").and_then(|path| path.split_once('/')) else {
            return text == "#";
        };
        matches!(group, "$defs" | "definitions")
            && !name.contains(['/', '~', '%', '"', '\\'])
            && name.is_ascii()
            && {
                let group = self.index.get(self.root, group);
                group.and_then(|group| self.index.get(group, name)).is_some_and(|part| part.is_object())
            }
    }
}

/// Whether a schema is of the draft that is the default, and says so.
fn is_draft_2020(dialect: &str) -> bool {
    dialect.trim_end_matches('#') == "https://json-schema.org/draft/2020-12/schema"
}

/// Whether a schema is of the draft that most libraries for JavaScript write. The keywords of [`FastCheck::is_keyword`] are the
/// same there, but for references and formats.
pub(crate) fn is_draft_07(dialect: &str) -> bool {
    dialect.trim_end_matches('#') == "http://json-schema.org/draft-07/schema"
}

/// Whether a value is a type, or a list of different ones. Some write them in upper case.
fn is_type(value: Value<'_, '_>) -> bool {
    const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "array", "object", "null"];
    let number = |value: Value<'_, '_>| {
        let name = value.as_str()?;
        let is_own =
            |own: &&str| name == **own || name.bytes().eq(own.bytes().map(|byte| byte.to_ascii_uppercase()));
        TYPES.iter().position(is_own)
    };
    if !value.is_array() {
        return number(value).is_some();
    }
    let (mut seen, mut count) = (0u8, 0);
    for element in value.elements() {
        let Some(number) = number(element) else { return false };
        seen |= 1 << number;
        count += 1;
    }
    count > 0 && seen.count_ones() == count
}

/// Whether a value is a list of different strings.
fn is_list_of_keys(value: Value<'_, '_>) -> bool {
    let mut keys = Vec::new();
    for element in value.elements() {
        let Some(key) = element.as_str() else { return false };
        keys.push(key);
    }
    keys.sort_unstable();
    value.is_array() && keys.windows(2).all(|pair| pair[0] != pair[1])
}

fn is_count(value: Value<'_, '_>) -> bool {
    value.kind() == Kind::Number && value.raw().len() <= 15 && value.raw().iter().all(u8::is_ascii_digit)
}

/// Whether a key is a keyword that [`FastCheck::is_keyword`] does not know. What is not a keyword is ignored.
pub(crate) fn is_other_keyword(key: &str) -> bool {
    key.starts_with('$')
        || matches!(
            key,
            "id" | "additionalItems"
                | "contentEncoding"
                | "contentMediaType"
                | "contentSchema"
                | "dependencies"
                | "dependentRequired"
                | "dependentSchemas"
                | "discriminator"
                | "maxContains"
                | "minContains"
                | "unevaluatedItems"
                | "unevaluatedProperties"
        )
}
