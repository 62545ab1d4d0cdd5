//! The tables of shape files and of `[shape]` in a target's file, as they are written.

mod types;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use foldhash::HashMap;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toolcheck_toml::{Changes, Deferred, Text};

pub(crate) use self::types::Types;
pub use self::types::{JsonType, Scalar};
use super::Shape;
use crate::names::names;
use crate::rule_id::RuleId;
use crate::targets::{Evidence, EvidenceSummary, Pattern, Refusal, first_source};

/// The file that describes the requests of a wire format.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct ShapeFile {
    /// Its place among all: what several formats write alike is called by the name of the first.
    #[allow(dead_code, reason = "the build script sorts by it")]
    pub(crate) order: u32,
    /// Who writes it, if no target does.
    pub(crate) name: Option<Text>,
    /// The documents that it follows.
    pub(crate) sources: Vec<Text>,
    /// When they were read.
    pub(crate) seen: Text,
    /// The keys of which a request has one if it is whole: without any, it may be what somebody has kept of one. Every
    /// request is whole if there are none.
    #[serde(default)]
    pub(crate) whole_if: Vec<Text>,
    /// The keys of which a request has one if it needs no messages: they are stored at the API.
    #[serde(default)]
    pub(crate) stored_if: Vec<Text>,
    /// The keys that a request has when the API gets it, although what somebody has kept of one may lack them; each with
    /// the keys of which one makes up for it.
    #[serde(default)]
    pub(crate) sent_with: BTreeMap<Text, Vec<Text>>,
    /// Whether keys may also be written in snake case.
    #[serde(default)]
    pub(crate) snake_case: bool,
    /// Whether `null` is the same as an absent key.
    #[serde(default)]
    pub(crate) null_is_absent: bool,
    /// Where the schema of a tool stands that is not strict.
    pub(crate) tool_schema: Option<ToolSchemaTable>,
    /// What every API can say, such as an image or the result of a call, and how this one does.
    #[serde(default)]
    pub(crate) says: BTreeMap<Text, SaidTable>,
    /// Its objects, by name. A body is a `request`, and an element of its list of messages a `message`.
    pub(crate) objects: BTreeMap<Text, Deferred<ObjectTable>>,
}

/// Where the schema of a tool stands.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolSchemaTable {
    /// Its object.
    pub(crate) object: Text,
    /// The keys that lead to it from an element of `tools`.
    pub(crate) path: Vec<Text>,
    /// What the API calls such a tool in the paths that it prints.
    pub(crate) tag: Option<Text>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub(crate) struct ObjectTable {
    /// Whether it has no other keys than its fields.
    pub(crate) closed: Option<bool>,
    /// The object that it adds to.
    pub(crate) extends: Option<Text>,
    /// The field whose value decides which object it is.
    pub(crate) by: Option<Text>,
    /// The objects that it may be, by that value.
    #[serde(default)]
    pub(crate) variants: BTreeMap<Text, Text>,
    /// The object that it is if that field is absent.
    pub(crate) otherwise: Option<Text>,
    /// Whether that field may have other values.
    pub(crate) open: Option<bool>,
    /// Whether the API leaves its variant out of the paths that it prints.
    pub(crate) untagged: Option<bool>,
    /// The keys of which it has exactly one.
    pub(crate) exactly_one: Option<Members>,
    /// The keys of which it has at least one.
    pub(crate) at_least_one: Option<Members>,
    /// The rule that reports what is wrong with it and below it.
    pub(crate) rule: Option<RuleId>,
    /// What it is in every API.
    pub(crate) kind: Option<Kind>,
    /// How it is written: one line of JSON.
    pub(crate) example: Option<Text>,
    /// What to write in place of keys that it does not have: the right key, the way to where the value belongs with dots
    /// between the keys, or what to do in words. It is what a help says and what a fix does; words that start with
    /// "remove it" are of a key that is to be removed.
    #[serde(default)]
    pub(crate) instead: Arc<BTreeMap<Text, Text>>,
    /// What one is called where it is not named by the key that it is under.
    pub(crate) noun: Option<Text>,
    /// The key of the form that the API had before: what has it is not another API's.
    pub(crate) former: Option<Text>,
    /// Whether it is as in a request to the model that it names.
    pub(crate) own_model: Option<bool>,
    /// What a reader should know.
    pub(crate) note: Option<Text>,
    #[serde(default)]
    pub(crate) fields: Fields,
}

/// Something that every API can say, and this one in its way.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct SaidTable {
    /// What shows it: a key, or the value of the key that says what an object is.
    pub(crate) names: Vec<Text>,
    /// How it is written: one line of JSON.
    pub(crate) example: Text,
    /// The message that holds it, if it is only a part of one.
    pub(crate) message: Option<Text>,
}

/// The fields of an object, in the order of the file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fields(pub(crate) Vec<(Text, FieldEntry)>);

impl Fields {
    pub(crate) fn get(&self, key: &str) -> Option<&FieldEntry> {
        self.0.iter().find(|(known, _)| **known == *key).map(|(_, entry)| entry)
    }

    pub(crate) fn insert(&mut self, key: &Text, entry: FieldEntry) {
        match self.0.iter_mut().find(|(known, _)| known == key) {
            Some((_, known)) => *known = entry,
            None => self.0.push((key.clone(), entry)),
        }
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of fields")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Fields::default();
                while let Some(entry) = map.next_entry()? {
                    fields.0.push(entry);
                }
                Ok(fields)
            }
        }

        deserializer.deserialize_map(Entries)
    }
}

/// Some fields of an object, or all.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum Members {
    All(bool),
    Some(Vec<Text>),
}

names! {
    /// What an object is in every API, so that one that is written for another API can be told.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    #[non_exhaustive]
    pub enum Kind {
        /// A request body.
        Request = "request",
        /// A message.
        Message = "message",
        /// A part of a message's content.
        Content = "content block",
        /// The definition of a tool.
        Tool = "tool",
        /// A call of a tool.
        ToolCall = "tool call",
        /// The setting of which tools the model may or must call.
        ToolChoice = "tool choice",
    }
    /// Its name in prose.
    name
}

/// A field: a type alone, a whole description, or `false` where a dialect does not have it.
#[derive(Debug, Clone)]
pub(crate) enum FieldEntry {
    Removed,
    Described(Arc<FieldTable>),
}

impl FieldEntry {
    pub(crate) fn described(&self) -> Option<&FieldTable> {
        match self {
            Self::Removed => None,
            Self::Described(table) => Some(table),
        }
    }
}

impl<'de> Deserialize<'de> for FieldEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entry;

        impl<'de> Visitor<'de> for Entry {
            type Value = FieldEntry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a type, a table that describes the field, or `false`")
            }

            fn visit_bool<E: serde::de::Error>(self, is_there: bool) -> Result<FieldEntry, E> {
                if is_there {
                    return Err(E::custom("`true` does not describe a field: name its type"));
                }
                Ok(FieldEntry::Removed)
            }

            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<FieldEntry, E> {
                let types = Types([name.parse().map_err(E::custom)?].into());
                Ok(FieldEntry::Described(Arc::new(FieldTable {
                    r#type: Some(types),
                    ..FieldTable::default()
                })))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<FieldEntry, A::Error> {
                let table = FieldTable::deserialize(MapAccessDeserializer::new(map))?;
                Ok(FieldEntry::Described(Arc::new(table)))
            }
        }

        deserializer.deserialize_any(Entry)
    }
}

/// Fields and facts, with one list of what both ask of a value: a fact has those keys beside its own.
macro_rules! tables {
    (
        FieldTable { $($(#[doc = $own_doc:literal])* $own:ident: $own_kind:ty,)+ }
        both { $($(#[doc = $doc:literal])* $name:ident: $kind:ty,)+ }
        FactTable {
            $($(#[doc = $fact_doc:literal])+ $(#[serde($($serde:tt)+)])? $vis:vis $fact:ident: $fact_kind:ty,)+
        }
    ) => {
        #[derive(Debug, Clone, Default, PartialEq, Deserialize)]
        #[serde(rename_all = "kebab-case", deny_unknown_fields)]
        pub(crate) struct FieldTable {
            $($(#[doc = $own_doc])* pub(crate) $own: Option<$own_kind>,)+
            $($(#[doc = $doc])* pub(crate) $name: Option<$kind>,)+
        }

        impl FieldTable {
            /// What this table says, and for the rest what `base` says.
            pub(crate) fn over(&self, base: &Self) -> Self {
                Self {
                    $($own: self.$own.clone().or_else(|| base.$own.clone()),)+
                    $($name: self.$name.clone().or_else(|| base.$name.clone()),)+
                }
            }

            /// How many keys it has.
            fn len(&self) -> usize {
                0 $(+ usize::from(self.$own.is_some()))+ $(+ usize::from(self.$name.is_some()))+
            }
        }

        /// What is known of some fields of an object.
        #[derive(Debug, Clone, Deserialize)]
        #[serde(from = "WrittenFact")]
        #[non_exhaustive]
        pub struct FactTable {
            $($(#[doc = $fact_doc])+ $vis $fact: $fact_kind,)+
            /// What this API, or this model, asks for beyond the documents.
            pub(crate) constraint: FieldTable,
            /// Whether it was taken from the target that this one extends.
            pub(crate) is_inherited: bool,
        }

        /// A fact, as it is written.
        #[derive(Deserialize)]
        #[serde(rename_all = "kebab-case", deny_unknown_fields)]
        struct WrittenFact {
            $($(#[serde($($serde)+)])? $fact: $fact_kind,)+
            $($name: Option<$kind>,)+
        }

        impl From<WrittenFact> for FactTable {
            fn from(written: WrittenFact) -> Self {
                let WrittenFact { $($fact,)+ $($name,)+ } = written;
                Self { $($fact,)+ constraint: FieldTable { $($own: None,)+ $($name,)+ }, is_inherited: false }
            }
        }
    };
}

tables! {
    FieldTable {
        /// The object that it is. The `object` of a fact is the one that the fact is about.
        object: Text,
        /// What to write in place of a value, by the value or by its JSON type: the right value, or what to do in words. `*`
        /// stands for any other value.
        instead: Arc<BTreeMap<Text, Text>>,
        /// The values that a help names: the likeliest first, and none that nobody wants.
        prefer: Arc<[Scalar]>,
        /// How the value is written: JSON.
        example: Text,
    }
    both {
        /// The types that its value may have.
        r#type: Types,
        /// Whether it must be there.
        required: bool,
        /// The keys of which one makes up for it.
        required_unless: Vec<Text>,
        values: Arc<[Scalar]>,
        /// Whether upper and lower case are the same in the values.
        values_any_case: bool,
        refused_values: Arc<[Scalar]>,
        /// What a string may not start with.
        refused_starts: Arc<[Text]>,
        /// The expression that a string must match.
        pattern: Pattern,
        /// The expression that a string may not match.
        refused_pattern: Pattern,
        /// The fewest characters of a string.
        min_length: usize,
        /// The most characters of a string.
        max_length: usize,
        /// The fewest elements of an array.
        min_items: usize,
        /// The most elements of an array.
        max_items: usize,
        /// The least number.
        min: f64,
        /// The greatest number.
        max: f64,
        /// Whether a string is Base64, without a `data:` prefix.
        base64: bool,
        /// Whether no other object of the request may have the same value.
        unique: bool,
        /// The object that each element of an array is.
        items: Text,
        /// The types of an array's elements, or of the values in an object.
        item_type: Types,
        /// The object that each member's value is.
        entries: Text,
        /// The expression that each member's key must match.
        entry_pattern: Pattern,
        /// The key that it needs beside it.
        needs: Text,
        /// The keys that may not be beside it.
        excludes: Vec<Text>,
        /// The values that others must have for it.
        only_if: BTreeMap<Text, Vec<Scalar>>,
        /// The values that others may not have beside it.
        not_if: BTreeMap<Text, Vec<Scalar>>,
        /// The number that it must be less than.
        less_than: Text,
        /// What the element of the list before the object may not have: a key, or a path of keys. `=` before texts with `|`
        /// between them says that it may not be one of these.
        not_after: Text,
        /// Where all the values are that there are for it: a JSON Pointer from the root, with `*` for every element.
        among: Text,
        /// The object beside it whose keys its elements name.
        lists: Text,
        /// The object beside it of whose keys it names all.
        lists_all: Text,
        /// The rule that reports what is wrong with its value.
        rule: RuleId,
        /// The rules that report what is wrong with it in more words.
        checked_by: Arc<[RuleId]>,
        /// What a reader should know.
        note: Text,
    }
    FactTable {
        /// The name of the object.
        pub object: Text,
        /// The field, if it is about one.
        pub field: Option<Text>,
        /// The fields, if it is about several.
        #[serde(default)]
        pub fields: Vec<Text>,
        /// The kind of fault.
        pub fault: ShapeFaultKind,
        /// Whether the field may not be there.
        #[serde(default)]
        pub(crate) absent: bool,
        /// The models that it holds for; all where it is absent.
        pub model: Option<Pattern>,
        /// The models that it does not hold for.
        pub except_model: Option<Pattern>,
        /// What else the request has, if the fact holds only then: keys beside the field or JSON Pointers from the root, with
        /// their values. Without values it is enough that they are there.
        #[serde(default, rename = "where")]
        pub(crate) only_where: BTreeMap<Text, Vec<Scalar>>,
        /// What the request does not have if the fact holds: a key beside the field or a JSON Pointer from the root.
        pub(crate) unless: Option<Text>,
        /// The type that there is, if the fact is about one.
        pub(crate) got: Option<Text>,
        /// The HTTP status.
        pub status: Option<u16>,
        /// The text, with placeholders. Empty where none is known.
        pub text: Option<Text>,
        /// What to do.
        pub help: Option<Text>,
        /// How it is known.
        pub evidence: Evidence,
        /// Where.
        #[serde(default)]
        pub sources: Vec<Text>,
        /// The day it was last seen, or the days.
        #[serde(default)]
        pub seen: Text,
        /// Why it may not hold: a clause that reads well after "only a warning:".
        pub doubt: Option<Text>,
        /// What harm it does although the API accepts it: a clause that reads well after "accepts it, but". It is a warning, and
        /// there is no answer.
        pub harm: Option<Text>,
    }
}

names! {
    /// What is wrong with a value.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    #[non_exhaustive]
    pub enum ShapeFaultKind {
        /// A key that is not there.
        Missing = "missing",
        /// A key that may not be there.
        Unknown = "unknown",
        /// A value of another type.
        Type = "type",
        /// None of the values that there are.
        Value = "value",
        /// A string that does not match.
        Pattern = "pattern",
        /// A string that is too long or too short.
        Length = "length",
        /// An array with too many elements or too few.
        Items = "items",
        /// A number that is too great or too small.
        Range = "range",
        /// A string that is not Base64.
        Base64 = "base64",
        /// A value that is there twice.
        Unique = "unique",
        /// A name that is not listed where it must be.
        Names = "names",
        /// Several keys of which there may be one.
        Union = "union",
        /// None of the keys of which there must be one.
        None = "none",
        /// A key that something else in the request forbids.
        Conflict = "conflict",
    }
    /// Its name in files.
    name
}

impl ShapeFaultKind {
    /// The id of the rule that reports it, if the description names no other.
    pub fn usual_rule(self) -> RuleId {
        match self {
            Self::Missing => RuleId::MissingField,
            Self::Unknown => RuleId::UnknownField,
            Self::Type => RuleId::WrongType,
            Self::Conflict => RuleId::ConflictingParameters,
            _ => RuleId::InvalidValue,
        }
    }
}

/// A fact, which is read when the object that it is about is compiled.
pub(crate) type Fact = Deferred<Box<FactTable>>;

/// The name of the object that a fact is about.
pub(crate) fn object_of(fact: &Fact) -> &str {
    let unread = fact.packed().filter(|_| !fact.is_read());
    unread.and_then(|fact| fact.text("object")).unwrap_or_else(|| &fact.object)
}

/// The names of the object, the fault and the field that a fact is about.
fn subject_of(fact: &Fact) -> [Option<&str>; 3] {
    match fact.packed().filter(|_| !fact.is_read()) {
        Some(fact) => fact.texts(["object", "fault", "field"]),
        None => [Some(&fact.object), Some(fact.fault.name()), fact.field.as_deref()],
    }
}

/// What an API enforces of the shape of its format: `[shape]` in a target's file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct TargetShape {
    /// Whether it takes nothing of what the target that this one extends says.
    #[serde(default)]
    pub(crate) stands_alone: bool,
    /// What follows if a request breaks what the documents say, and nobody has seen it refused.
    pub(crate) unseen: Option<UnverifiedLevel>,
    /// The HTTP status of what nothing else says the status of.
    pub(crate) status: Option<u16>,
    /// The API's words for types.
    #[serde(default)]
    pub(crate) words: BTreeMap<Text, Text>,
    #[serde(default, rename = "text")]
    pub(crate) texts: Vec<TextTable>,
    /// What was seen of single fields.
    #[serde(default, rename = "fact")]
    pub(crate) facts: Vec<Fact>,
    /// What is accepted although the documents say otherwise.
    #[serde(default)]
    pub(crate) accepted: Vec<Fact>,
    /// What is different from the format's documents.
    #[serde(default)]
    pub(crate) objects: BTreeMap<Text, Deferred<ObjectTable>>,
}

impl TargetShape {
    /// Whether the target says nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.unseen.is_none() && self.facts.is_empty() && self.accepted.is_empty() && self.objects.is_empty()
    }
}

impl TargetShape {
    /// What it answers, as refusals of the rules that report it: the texts of the target itself, not those of the target
    /// that it extends.
    pub(crate) fn refusals<'e>(&'e self, shape: &'e Shape) -> impl Iterator<Item = Refusal> + 'e {
        let of_texts = self.texts.iter().filter(|text| !text.is_inherited).map(|text| Refusal {
            status: text.status,
            text: Some(text.text.clone()),
            evidence: text.evidence,
            sources: text.sources.clone(),
            seen: text.seen.clone(),
            ..Refusal::of(text.fault.usual_rule())
        });
        let of_facts = self.facts.iter().filter(|fact| !fact.is_inherited).filter_map(move |fact| {
            let text = fact.text.as_ref().filter(|text| !text.is_empty())?;
            let rule = fact.constraint.rule.or_else(|| shape.rule_of(fact));
            let rule = rule.unwrap_or(fact.fault.usual_rule());
            Some(Refusal {
                model: fact.model.clone(),
                status: fact.status,
                text: Some(text.clone()),
                evidence: fact.evidence,
                sources: fact.sources.clone(),
                seen: fact.seen.clone(),
                doubt: fact.doubt.clone(),
                help: fact.help.clone(),
                ..Refusal::of(rule)
            })
        });
        of_texts.chain(of_facts)
    }

    /// Takes what the target that this one extends says. `elsewhere` is the doubt of a server that only speaks the same
    /// format: it may enforce none of it. `of_models` is the doubt of a server that is not told which model is asked.
    pub(crate) fn inherit(&mut self, parent: &Self, elsewhere: Option<&Text>, of_models: Option<&str>) {
        if self.stands_alone {
            return;
        }
        let own = self.unseen;
        self.unseen =
            own.or(if elsewhere.is_some() { Some(UnverifiedLevel::Nothing) } else { parent.unseen });
        if elsewhere.is_none() {
            self.status = self.status.or(parent.status);
            for (name, table) in &parent.objects {
                let laid_over = match self.objects.get(name) {
                    Some(own) => own.over(table).into(),
                    None => table.clone(),
                };
                self.objects.insert(name.clone(), laid_over);
            }
            for (name, word) in &parent.words {
                self.words.entry(name.clone()).or_insert_with(|| word.clone());
            }
        }
        // What this file says of a fault replaces what the parent says of it.
        let is_new = |own: &[TextTable], text: &TextTable| {
            !own.iter().any(|own| {
                own.fault == text.fault
                    && (own.r#type.is_none() || own.r#type == text.r#type)
                    && (own.got.is_none() || own.got == text.got)
            })
        };
        let texts: Vec<_> = parent.texts.iter().filter(|text| is_new(&self.texts, text)).cloned().collect();
        self.texts.extend(texts.into_iter().map(|text| TextTable { is_inherited: true, ..text }));
        let mut own: HashMap<_, Vec<&Fact>> = HashMap::default();
        for fact in self.facts.iter().chain(&self.accepted) {
            own.entry(subject_of(fact)).or_default().push(fact);
        }
        let is_said = |fact: &Fact| {
            let says = |own: &&Fact| own.model == fact.model && own.all_fields().eq(fact.all_fields());
            own.get(&subject_of(fact)).is_some_and(|own| own.iter().any(says))
        };
        let facts: Vec<_> = parent.facts.iter().filter(|fact| !is_said(fact)).collect();
        let accepted: Vec<_> = parent.accepted.iter().filter(|fact| !is_said(fact)).collect();
        let is_seen_here = elsewhere.is_none();
        let (elsewhere, of_models) =
            (elsewhere.cloned(), of_models.map(|doubt| Text::from(doubt.to_owned())));
        let inherited: Changes<Box<FactTable>> = Arc::new(move |fact| {
            let is_seen = fact.evidence != Evidence::Inferred;
            let of_models = of_models.as_ref().filter(|_| fact.model.is_some());
            let doubt = elsewhere.as_ref().or(of_models).filter(|_| is_seen);
            fact.doubt = fact.doubt.take().or_else(|| doubt.cloned());
            fact.evidence = if is_seen_here { fact.evidence } else { Evidence::Inferred };
            fact.is_inherited = true;
        });
        self.facts.extend(facts.into_iter().map(|fact| fact.changed(&inherited)));
        let inherited: Changes<Box<FactTable>> = Arc::new(|fact| fact.is_inherited = true);
        self.accepted.extend(accepted.into_iter().map(|fact| fact.changed(&inherited)));
    }
}

/// What follows if a request breaks what the documents say, and nobody has seen it refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum UnverifiedLevel {
    /// The API is known to enforce what its documents say.
    Error,
    /// It is not known whether the API enforces it.
    Warning,
    /// Accepted requests are known to violate it.
    Nothing,
}

/// An API's text for all faults of a kind.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct TextTable {
    /// The kind.
    pub fault: ShapeFaultKind,
    /// The type that is expected, if the text is for one.
    #[serde(default)]
    pub r#type: Option<Text>,
    /// The type that there is, if the text is for one.
    pub got: Option<Text>,
    /// The HTTP status.
    pub status: Option<u16>,
    /// The text, with placeholders.
    pub text: Text,
    /// How it is known.
    pub evidence: Evidence,
    /// Where.
    pub sources: Vec<Text>,
    /// The day it was last seen, or the days.
    pub seen: Text,
    /// Whether it was taken from the target that this one extends.
    #[serde(skip)]
    pub(crate) is_inherited: bool,
}

impl FactTable {
    /// Whether it is about this field; about the object as a whole where there is none.
    pub(crate) fn is_about(&self, key: Option<&str>) -> bool {
        match key {
            Some(key) => self.field.as_deref() == Some(key) || self.fields.iter().any(|field| field == key),
            None => self.field.is_none() && self.fields.is_empty(),
        }
    }

    /// Whether it holds for every model, whatever else the request has.
    pub(crate) fn holds_always(&self) -> bool {
        self.model.is_none()
            && self.except_model.is_none()
            && self.only_where.is_empty()
            && self.unless.is_none()
    }

    /// Whether it asks for more than the documents do, rather than only saying what was seen.
    pub(crate) fn asks_for_more(&self) -> bool {
        let FieldTable { rule, checked_by, note, .. } = &self.constraint;
        let words = [rule.is_some(), checked_by.is_some(), note.is_some()];
        self.absent || self.constraint.len() > words.into_iter().filter(|has| *has).count()
    }

    pub(crate) fn all_fields(&self) -> impl Iterator<Item = &str> {
        self.field.iter().chain(&self.fields).map(Text::as_str)
    }

    /// How well it is known.
    pub fn grounds(&self) -> EvidenceSummary {
        EvidenceSummary {
            evidence: self.evidence,
            doubt: self.doubt.clone(),
            source: first_source(&self.sources),
        }
    }

    /// Whether it depends on what else the request has.
    pub(crate) fn is_conditional(&self) -> bool {
        !self.only_where.is_empty() || self.unless.is_some()
    }

    /// Whether it holds for a model, which `matches` compares with an expression.
    pub(crate) fn fits(&self, mut matches: impl FnMut(&Pattern) -> bool) -> bool {
        self.model.as_ref().is_none_or(&mut matches) && !self.except_model.as_ref().is_some_and(&mut matches)
    }
}
