//! The names in `[shape]` of a user's own target: objects, rules, types, placeholders and expressions.

use std::collections::BTreeSet;

use toolcheck_core::shape::{self, FieldView, JsonType, ObjectView, Shape};
use toolcheck_core::suggest::similar;
use toolcheck_core::targets::Target;
use toolcheck_lint::rules;

use super::tree::{Name, Table, named_tables, names, tables, texts, under};
use super::{fault_of_pattern, placeholders};
use crate::names::RuleName;
use crate::values::FileFault;

/// The keys of a field or a fact that refer to an object.
const OBJECTS: [&str; 3] = ["object", "items", "entries"];

/// The keys whose value is a type, or several.
const TYPES: [&str; 3] = ["type", "item-type", "got"];

/// The keys whose value is a regular expression.
const PATTERNS: [&str; 5] = ["pattern", "refused-pattern", "entry-pattern", "model", "except-model"];

/// `[shape]`, or the shape in another format.
pub(super) struct ShapeTable<'t> {
    table: &'t Table<'t>,
}

impl<'t> ShapeTable<'t> {
    pub(super) fn new(table: &'t Table<'t>) -> Self {
        Self { table }
    }

    fn facts(&self) -> impl Iterator<Item = &'t Table<'t>> {
        tables(self.table, "fact").chain(tables(self.table, "accepted"))
    }

    fn objects(&self) -> impl Iterator<Item = (Name<'t>, &'t Table<'t>)> {
        under(self.table, "objects").into_iter().flat_map(named_tables)
    }

    /// The descriptions of fields that are more than a type.
    fn fields(&self) -> impl Iterator<Item = &'t Table<'t>> {
        let fields = self.objects().filter_map(|(_, object)| under(object, "fields"));
        fields.flat_map(named_tables).map(|(_, field)| field)
    }

    /// The names of the objects that other objects refer to.
    fn references(&self) -> impl Iterator<Item = Name<'t>> {
        let own = self.objects().flat_map(|(_, object)| {
            let variants = under(object, "variants").into_iter().flat_map(texts);
            names(object, &["extends", "otherwise"]).chain(variants)
        });
        own.chain(self.fields().flat_map(|field| names(field, &OBJECTS)))
    }

    /// Checks the names. `format` is that of the target, and `parent` what it extends.
    pub(super) fn check(
        &self,
        format: &str,
        parent: Option<&Target>,
        text: &str,
        found: &mut Vec<FileFault>,
    ) {
        let mut known: BTreeSet<&str> = shape::object_names(format).collect();
        if let Some(parent) = parent {
            known.extend(parent.shape.object_names());
        }
        let referred: BTreeSet<&str> = self.references().map(|name| name.text).collect();
        for (name, _) in self.objects() {
            let own = name.text;
            if !known.contains(own) && !referred.contains(own) {
                let similar = similar(own, known.iter().copied());
                found.push(
                    name.fault(format!("unknown object `{own}`; no other object refers to it{similar}")),
                );
            }
        }
        known.extend(self.objects().map(|(name, _)| name.text));
        for name in self.references().chain(self.facts().flat_map(|fact| names(fact, &["object"]))) {
            let own = name.text;
            if !own.is_empty() && !known.contains(own) {
                let similar = similar(own, known.iter().copied());
                found.push(name.fault(format!("unknown object `{own}`{similar}")));
            }
        }
        self.check_rules(found);
        let of_texts = || tables(self.table, "text");
        let described = || of_texts().chain(self.facts()).chain(self.fields());
        for name in described().flat_map(|table| names(table, &TYPES)) {
            found.extend(name.text.parse::<JsonType>().err().map(|error| name.fault(error.to_string())));
        }
        let patterns = self.facts().chain(self.fields()).flat_map(|table| names(table, &PATTERNS));
        found.extend(patterns.filter_map(|pattern| fault_of_pattern(&pattern)));
        for own in of_texts().chain(self.facts()).flat_map(|table| names(table, &["text"])) {
            for (name, span) in placeholders(&own, text) {
                let is_name = shape::placeholders(&format!("{{{name}}}")).next().is_some();
                if is_name && !shape::is_placeholder(name) {
                    let similar = similar(name, shape::PLACEHOLDERS.iter().map(|(known, _)| *known));
                    found.push(FileFault(span, format!("unknown placeholder `{name}`{similar}")));
                }
            }
        }
    }

    fn check_rules(&self, found: &mut Vec<FileFault>) {
        let objects = self.objects().map(|(_, object)| object);
        for rule in self.facts().chain(objects).chain(self.fields()).flat_map(|table| names(table, &["rule"]))
        {
            if let Some(named) = rule.meaning::<RuleName>(found).filter(|named| !named.reports_shape) {
                let known = rules::ALL.iter().filter(|rule| rule.reports_shape);
                let known = known.map(|rule| rule.id.as_str()).collect::<Vec<_>>().join(", ");
                let message = format!("`{}` doesn't report shapes, expected one of {known}", named.id);
                found.push(rule.fault(message));
            }
        }
        for rule in self.facts().chain(self.fields()).flat_map(|table| names(table, &["checked-by"])) {
            rule.meaning::<RuleName>(found);
        }
    }

    /// The facts that nothing asks for, so that no request can show them.
    pub(super) fn check_effect(&self, shape: &Shape, found: &mut Vec<FileFault>) {
        let objects = shape.objects();
        for fact in tables(self.table, "fact") {
            let text_of = |key| names(fact, &[key]).next().map_or("", |name| name.text);
            let (name, fault) = (text_of("object"), text_of("fault"));
            let is_named =
                |object: &&ObjectView<'_>| object.name() == name || object.bases().any(|base| base == name);
            let asked: BTreeSet<(String, &str)> = objects
                .iter()
                .filter(is_named)
                .flat_map(|object| {
                    object.demands().into_iter().chain(object.fields().flat_map(FieldView::demands))
                })
                .map(|demand| (demand.key.into_owned(), demand.fault.name()))
                .collect();
            for field in names(fact, &["field", "fields"]) {
                let key = field.text;
                let is_sent = name == "request" && fault == "missing" && shape.is_sent_with(key);
                if !is_sent && !asked.contains(&(key.to_owned(), fault)) {
                    found.push(field.fault(format!("this has no effect: {}", advice(key, name, fault))));
                }
            }
        }
    }
}

/// What a fact lacks that has no effect.
fn advice(key: &str, object: &str, fault: &str) -> String {
    match fault {
        "missing" => format!("`{object}.{key}` is not required; add `required = true`"),
        "unknown" => format!("`{object}.{key}` is allowed; add `absent = true`"),
        other => format!(
            "`{object}.{key}` has no constraint that could fail with `{other}`; add one, such as `values` or `max-length`"
        ),
    }
}

#[cfg(test)]
mod tests {
    use crate::parse_target;

    /// What the schema for editors allows must be read, and the other way round.
    #[test]
    fn the_schema_has_the_same_keys() {
        let schema = include_str!("../../../../schemas/target.v1.schema.json");
        let schema: serde_json::Value = serde_json::from_str(schema).expect("the schema is JSON");
        let fact = "[[shape.fact]]\nevidence = \"recorded\"\nobject = \"tool\"\nfault = \"missing\"\nzzz = 1";
        for (definition, text) in [
            ("/properties/shape", "[shape]\nzzz = 1"),
            ("/$defs/fact", fact),
            ("/$defs/object", "[shape.objects.tool]\nzzz = 1"),
            ("/$defs/field/anyOf/2", "[shape.objects.tool.fields]\na = { zzz = 1 }"),
        ] {
            let properties = schema.pointer(&format!("{definition}/properties"));
            let known = properties.and_then(serde_json::Value::as_object).expect("it has properties");
            let error = parse_target(&format!("id = \"x\"\nname = \"x\"\nextends = \"openai-chat\"\n{text}"));
            let message = error.expect_err("the key is unknown").to_string();
            let (_, read) = message.split_once("expected one of").expect("it names the keys");
            let mut read: Vec<&str> = read.split('`').skip(1).step_by(2).collect();
            let mut known: Vec<&str> = known.keys().map(String::as_str).collect();
            read.sort_unstable();
            known.sort_unstable();
            assert_eq!(read, known, "{definition}");
        }
    }
}
