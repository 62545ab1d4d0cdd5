//! The names in `[shape]` of a user's own target: objects, rules, types, placeholders and expressions.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toolcheck_core::shape::{
    self, FieldView, JsonType, Kind, ObjectView, Shape, ShapeFaultKind, UnverifiedLevel,
};
use toolcheck_core::suggest::similar;
use toolcheck_core::targets::{Evidence, Target};
use toolcheck_lint::rules;

use super::{OwnFormat, fault_of_pattern, placeholders};
use crate::names::{At, RuleName};
use crate::values::FileFault;

/// A target's file, for its `[shape]` only. Each key has its place, which [`Target`] does not keep.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ShapeFile {
    pub(super) shape: Option<At<ShapeTable>>,
    /// The shapes in other formats.
    pub(super) also: BTreeMap<At<OwnFormat>, ShapeTable>,
}

/// `[shape]`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
#[allow(dead_code, reason = "some keys are only read to find those that are not known")]
pub(super) struct ShapeTable {
    stands_alone: bool,
    unseen: Option<UnverifiedLevel>,
    status: Option<u16>,
    words: BTreeMap<String, String>,
    text: Vec<Text>,
    fact: Vec<Fact>,
    accepted: Vec<Fact>,
    objects: BTreeMap<At<String>, Object>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "some keys are only read to find those that are not known")]
struct Text {
    fault: ShapeFaultKind,
    r#type: Option<At<TypeNames>>,
    got: Option<At<TypeNames>>,
    status: Option<u16>,
    text: At<String>,
    evidence: Evidence,
    sources: Vec<String>,
    seen: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
#[allow(dead_code, reason = "some keys are only read to find those that are not known")]
struct Object {
    closed: Option<bool>,
    extends: Option<At<String>>,
    by: Option<String>,
    variants: BTreeMap<String, At<String>>,
    otherwise: Option<At<String>>,
    open: Option<bool>,
    untagged: Option<bool>,
    exactly_one: Option<IgnoredAny>,
    at_least_one: Option<IgnoredAny>,
    rule: Option<At<RuleName>>,
    kind: Option<Kind>,
    example: Option<String>,
    instead: Option<BTreeMap<String, String>>,
    noun: Option<String>,
    note: Option<String>,
    fields: BTreeMap<String, Field>,
}

/// A type, a description, or `false`.
#[derive(Debug)]
enum Field {
    Short,
    Described(Box<Described>),
}

/// A struct with keys of its own, and those that describe a field.
macro_rules! with_field_keys {
    ($(#[$meta:meta])* $name:ident { $($(#[$own_meta:meta])* $own:ident: $kind:ty,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Deserialize)]
        #[serde(rename_all = "kebab-case", deny_unknown_fields)]
        #[allow(dead_code, reason = "some keys are only read to find those that are not known")]
        struct $name {
            $($(#[$own_meta])* $own: $kind,)*
            r#type: Option<At<TypeNames>>,
            required: Option<bool>,
            required_unless: Option<Vec<String>>,
            values: Option<Vec<toml::Value>>,
            values_any_case: Option<bool>,
            refused_values: Option<Vec<toml::Value>>,
            refused_starts: Option<Vec<String>>,
            pattern: Option<At<String>>,
            refused_pattern: Option<At<String>>,
            min_length: Option<usize>,
            max_length: Option<usize>,
            min_items: Option<usize>,
            max_items: Option<usize>,
            min: Option<f64>,
            max: Option<f64>,
            base64: Option<bool>,
            unique: Option<bool>,
            object: Option<At<String>>,
            items: Option<At<String>>,
            item_type: Option<At<TypeNames>>,
            entries: Option<At<String>>,
            entry_pattern: Option<At<String>>,
            needs: Option<String>,
            excludes: Option<Vec<String>>,
            only_if: Option<BTreeMap<String, Vec<toml::Value>>>,
            not_if: Option<BTreeMap<String, Vec<toml::Value>>>,
            less_than: Option<String>,
            not_after: Option<String>,
            among: Option<String>,
            lists: Option<String>,
            lists_all: Option<String>,
            rule: Option<At<RuleName>>,
            #[serde(default)]
            checked_by: Vec<At<RuleName>>,
            note: Option<String>,
        }

        impl $name {
            fn types(&self) -> impl Iterator<Item = &At<TypeNames>> {
                [&self.r#type, &self.item_type].into_iter().flatten()
            }

            fn patterns(&self) -> impl Iterator<Item = &At<String>> {
                [&self.pattern, &self.refused_pattern, &self.entry_pattern].into_iter().flatten()
            }
        }
    };
}

with_field_keys! {
    Described {
        instead: Option<BTreeMap<String, String>>,
        prefer: Option<Vec<toml::Value>>,
        example: Option<String>,
    }
}

with_field_keys! {
    /// A fact. Its `object` is the one that it is about.
    Fact {
        field: Option<At<String>>,
        #[serde(default)]
        fields: Vec<At<String>>,
        fault: At<ShapeFaultKind>,
        absent: Option<bool>,
        model: Option<At<String>>,
        except_model: Option<At<String>>,
        r#where: Option<BTreeMap<String, Vec<toml::Value>>>,
        unless: Option<String>,
        got: Option<At<TypeNames>>,
        status: Option<u16>,
        text: Option<At<String>>,
        help: Option<String>,
        evidence: Evidence,
        sources: Option<Vec<String>>,
        seen: Option<String>,
        doubt: Option<String>,
        harm: Option<String>,
    }
}

impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Written;

        impl<'de> Visitor<'de> for Written {
            type Value = Field;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a type, a table that describes the field, or `false`")
            }

            fn visit_bool<E: serde::de::Error>(self, is_there: bool) -> Result<Field, E> {
                if is_there {
                    Err(E::custom("`true` does not describe a field: name its type"))
                } else {
                    Ok(Field::Short)
                }
            }

            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Field, E> {
                name.parse::<JsonType>().map(|_| Field::Short).map_err(E::custom)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Field, A::Error> {
                let described = Described::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Field::Described(Box::new(described)))
            }
        }

        deserializer.deserialize_any(Written)
    }
}

/// The name of a JSON type, or a list of them.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum TypeNames {
    One(String),
    Several(Vec<String>),
}

impl TypeNames {
    fn names(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Several(names) => names,
        }
    }
}

impl ShapeTable {
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
        let referred: BTreeSet<&str> =
            self.objects.values().flat_map(Object::references).map(|name| name.get().as_str()).collect();
        for name in self.objects.keys() {
            let own = name.get().as_str();
            if !known.contains(own) && !referred.contains(own) {
                let similar = similar(own, known.iter().copied());
                found.push(
                    name.fault(format!("unknown object `{own}`; no other object refers to it{similar}")),
                );
            }
        }
        known.extend(self.objects.keys().map(|name| name.get().as_str()));
        let facts = || self.fact.iter().chain(&self.accepted);
        let references = self.objects.values().flat_map(Object::references);
        for name in references.chain(facts().filter_map(|fact| fact.object.as_ref())) {
            let own = name.get().as_str();
            if !own.is_empty() && !known.contains(own) {
                let similar = similar(own, known.iter().copied());
                found.push(name.fault(format!("unknown object `{own}`{similar}")));
            }
        }
        self.check_rules(found);
        self.check_types(found);
        let fields = || self.objects.values().flat_map(Object::described);
        let patterns = facts().flat_map(|fact| fact.patterns().chain(&fact.model).chain(&fact.except_model));
        found.extend(patterns.chain(fields().flat_map(Described::patterns)).filter_map(fault_of_pattern));
        let texts =
            self.text.iter().map(|text| &text.text).chain(facts().filter_map(|fact| fact.text.as_ref()));
        for own in texts {
            for (name, span) in placeholders(own, text) {
                let is_name = shape::placeholders(&format!("{{{name}}}")).next().is_some();
                if is_name && !shape::is_placeholder(name) {
                    let similar = similar(name, shape::PLACEHOLDERS.iter().map(|(known, _)| *known));
                    found.push(FileFault(span, format!("unknown placeholder `{name}`{similar}")));
                }
            }
        }
    }

    fn check_rules(&self, found: &mut Vec<FileFault>) {
        let facts = || self.fact.iter().chain(&self.accepted);
        let fields = || self.objects.values().flat_map(Object::described);
        let of_facts = facts().filter_map(|fact| fact.rule.as_ref());
        let of_objects = self.objects.values().filter_map(|object| object.rule.as_ref());
        let of_fields = fields().filter_map(|field| field.rule.as_ref());
        for rule in of_facts.chain(of_objects).chain(of_fields) {
            match rule.meaning() {
                Ok(named) if named.reports_shape => {}
                Ok(named) => {
                    let known = rules::ALL.iter().filter(|rule| rule.reports_shape);
                    let known = known.map(|rule| rule.id.as_str()).collect::<Vec<_>>().join(", ");
                    let message = format!("`{}` doesn't report shapes, expected one of {known}", named.id);
                    found.push(rule.fault(message));
                }
                Err(fault) => found.push(fault),
            }
        }
        let checked_by = facts().flat_map(|fact| &fact.checked_by);
        let checked_by = checked_by.chain(fields().flat_map(|field| &field.checked_by));
        found.extend(checked_by.filter_map(|rule| rule.meaning().err()));
    }

    fn check_types(&self, found: &mut Vec<FileFault>) {
        let of_texts = self.text.iter().flat_map(|text| text.r#type.iter().chain(&text.got));
        let facts = self.fact.iter().chain(&self.accepted);
        let of_facts = facts.flat_map(|fact| fact.types().chain(&fact.got));
        let of_fields = self.objects.values().flat_map(Object::described).flat_map(Described::types);
        for types in of_texts.chain(of_facts).chain(of_fields) {
            let unknown = types.get().names().iter().filter_map(|name| name.parse::<JsonType>().err());
            found.extend(unknown.map(|error| types.fault(error.to_string())));
        }
    }

    /// The facts that nothing asks for, so that no request can show them.
    pub(super) fn check_effect(&self, shape: &Shape, found: &mut Vec<FileFault>) {
        let objects = shape.objects();
        for fact in &self.fact {
            let name = fact.object.as_ref().map_or("", |name| name.get().as_str());
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
            let fault = fact.fault.get().name();
            for field in fact.field.iter().chain(&fact.fields) {
                let key = field.get();
                let is_sent = name == "request" && fault == "missing" && shape.is_sent_with(key);
                if !is_sent && !asked.contains(&(key.clone(), fault)) {
                    found.push(
                        field.fault(format!("this has no effect: {}", advice(key, name, *fact.fault.get()))),
                    );
                }
            }
        }
    }
}

/// What a fact lacks that has no effect.
fn advice(key: &str, object: &str, fault: ShapeFaultKind) -> String {
    match fault {
        ShapeFaultKind::Missing => format!("`{object}.{key}` is not required; add `required = true`"),
        ShapeFaultKind::Unknown => format!("`{object}.{key}` is allowed; add `absent = true`"),
        other => format!(
            "`{object}.{key}` has no constraint that could fail with `{}`; add one, such as `values` or `max-length`",
            other.name()
        ),
    }
}

impl Object {
    /// The names of the objects that it refers to.
    fn references(&self) -> impl Iterator<Item = &At<String>> {
        let of_fields = self.described().flat_map(|field| [&field.object, &field.items, &field.entries]);
        let own = self.extends.iter().chain(&self.otherwise).chain(self.variants.values());
        own.chain(of_fields.flatten())
    }

    fn described(&self) -> impl Iterator<Item = &Described> {
        self.fields.values().filter_map(|field| match field {
            Field::Short => None,
            Field::Described(described) => Some(&**described),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::parse_target;

    /// The errors in a target file with this text after its head, which has three lines.
    fn faults(text: &str) -> Vec<String> {
        let text = format!("id = \"x\"\nname = \"x\"\nextends = \"openai-chat\"\n{text}");
        match parse_target(&text) {
            Ok(_) => Vec::new(),
            Err(error) => error.all().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn mistakes_have_a_place_and_a_suggestion() {
        let fact = |rest: &str| format!("[[shape.fact]]\nevidence = \"recorded\"\n{rest}");
        let cases = [
            ("[shape]\nunsen = \"error\"".to_owned(), "5:1: unknown field `unsen`", "did you mean `unseen`?"),
            (
                "[shape]\nunseen = \"eror\"".to_owned(),
                "5:10: unknown variant `eror`",
                "did you mean `error`?",
            ),
            (
                "[shape.objects.\"tool.functon\"]\nclosed = true".to_owned(),
                "4:16: unknown object `tool.functon`; no other object refers to it",
                "did you mean `tool.function`?",
            ),
            (
                "[shape.objects.request.fields]\nmetadata = { type = \"object\", object = \"metdata\" }"
                    .to_owned(),
                "5:40: unknown object `metdata`",
                "",
            ),
            (
                "[shape.objects.request.fields]\nmetadata = { tpye = \"object\" }".to_owned(),
                "5:14: unknown field `tpye`",
                "did you mean `type`?",
            ),
            (
                "[shape.objects.request.fields]\nmetadata = { type = \"objekt\" }".to_owned(),
                "5:21: unknown type `objekt`",
                "",
            ),
            (
                "[shape.objects.request.fields]\nuser = { pattern = \"[\" }".to_owned(),
                "5:20: invalid regular expression: ",
                "",
            ),
            (
                "[shape.objects.request]\nrule = \"unknown-feild\"".to_owned(),
                "5:8: there is no rule `unknown-feild`",
                "did you mean `unknown-field`?",
            ),
            (
                fact("object = \"request\"\nfield = \"metadata\"\nfault = \"mising\""),
                "8:9: unknown variant `mising`",
                "did you mean `missing`?",
            ),
            (
                fact("object = \"requst\"\nfield = \"metadata\"\nfault = \"missing\"\nrequired = true"),
                "6:10: unknown object `requst`",
                "did you mean `request`?",
            ),
            (
                fact("object = \"request\"\nfield = \"metadata\"\nfault = \"missing\""),
                "7:9: this has no effect: `request.metadata` is not required",
                "add `required = true`",
            ),
            (
                fact(
                    "object = \"request\"\nfield = \"seed\"\nfault = \"unknown\"\nabsent = true\nmodel = \"(\"",
                ),
                "10:9: invalid regular expression: ",
                "",
            ),
            (
                fact(
                    "object = \"request\"\nfield = \"seed\"\nfault = \"unknown\"\nabsent = true\nrequird = true",
                ),
                "10:1: unknown field `requird`",
                "did you mean `required`?",
            ),
            (
                fact(
                    "object = \"request\"\nfield = \"seed\"\nfault = \"unknown\"\nabsent = true\nrule = \"blank-text\"",
                ),
                "10:8: `blank-text` doesn't report shapes, expected one of conflicting-parameters, ",
                "",
            ),
            (
                fact(
                    "object = \"request\"\nfield = \"seed\"\nfault = \"unknown\"\nabsent = true\ntext = \"no {feild} in {a b}\"",
                ),
                "10:12: unknown placeholder `feild`",
                "did you mean `field`?",
            ),
            (
                fact("object = \"request\"\nfield = \"seed\"\nfault = \"type\"\ngot = \"nul\""),
                "9:7: unknown type `nul`",
                "",
            ),
        ];
        for (text, beginning, end) in cases {
            let faults = faults(&text);
            let is_expected =
                faults.len() == 1 && faults[0].starts_with(beginning) && faults[0].ends_with(end);
            assert!(is_expected, "{text}\n{faults:#?}");
        }
        let text = "id = \"x\"\nname = \"x\"\n[shape]\nunseen = \"error\"\n";
        let error = parse_target(text).expect_err("the objects of what?").to_string();
        assert_eq!(error, "3:1: `[shape]` needs `format` or `extends`, which say what the objects are");
    }

    #[test]
    fn shapes_in_other_formats_are_checked() {
        let also = |format: &str, object: &str| {
            format!(
                "[also.{format}]\nunseen = \"error\"\n[[also.{format}.fact]]\nobject = \"{object}\"\nfield = \"max_tokens\"\nfault = \"missing\"\nevidence = \"recorded\"\n"
            )
        };
        assert_eq!(faults(&also("anthropic", "request")), Vec::<String>::new());
        let cases = [
            (also("antropic", "request"), "4:7: there is no format `antropic`", "did you mean `anthropic`?"),
            (also("anthropic", "requst"), "7:10: unknown object `requst`", "did you mean `request`?"),
            (
                also("openai-responses", "request"),
                "8:9: this has no effect: `request.max_tokens`",
                "`required = true`",
            ),
        ];
        for (text, beginning, end) in cases {
            let faults = faults(&text);
            let is_expected =
                faults.first().is_some_and(|fault| fault.starts_with(beginning) && fault.ends_with(end));
            assert!(is_expected, "{text}\n{faults:#?}");
        }
    }

    #[test]
    fn all_mistakes_are_reported_at_once() {
        let faults = faults(
            "[[shape.text]]\nfault = \"missing\"\ntype = \"strng\"\ntext = \"{feild}\"\nevidence = \"recorded\"\nsources = []\nseen = \"2026\"\n\
             [shape.objects.requst]\nclosed = true\nrule = \"blank-txt\"\n",
        );
        let places: Vec<&str> =
            faults.iter().map(|fault| fault.split(": ").next().unwrap_or_default()).collect();
        assert_eq!(places, ["6:8", "7:9", "11:16", "13:8"], "{faults:#?}");
    }

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

    #[test]
    fn valid_shapes_are_read() {
        let text = "[shape]\nunseen = \"error\"\n\
                    [shape.objects.request.fields]\nmetadata = { type = \"object\", object = \"metadata\", required = true }\nseed = false\n\
                    [shape.objects.metadata]\nclosed = true\nfields.tenant = { type = \"string\", required = true }\n\
                    [[shape.fact]]\nobject = \"metadata\"\nfield = \"tenant\"\nfault = \"missing\"\nevidence = \"recorded\"\ntext = \"{path} is missing\"\n";
        assert_eq!(faults(text), Vec::<String>::new());
    }
}
