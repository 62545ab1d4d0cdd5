//! From the tables of an object to what a value is checked against.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use toolcheck_json::Value;
use toolcheck_toml::Text;

use super::case::snake_case;
use super::objects::{Objects, extended, undescribed};
use super::tables::{
    Fact, FactTable, FieldEntry, FieldTable, JsonType, Kind, Members, ObjectTable, Scalar, ShapeFaultKind,
    Types,
};
use super::value::bit_of;
use crate::keys::Keys;
use crate::rule_id::RuleId;
use crate::targets::Pattern;

#[derive(Debug, Clone, Default)]
pub(super) struct Object {
    pub(super) name: Box<str>,
    /// Its name, and the names of the objects that it adds to or is a variant of.
    pub(super) names: Vec<Box<str>>,
    /// The name of the object that it is a variant of.
    pub(super) base: Option<Box<str>>,
    pub(super) is_closed: bool,
    pub(super) fields: Vec<Field>,
    /// The number of the field of each key.
    pub(super) numbers: Keys,
    /// The types of which a field's value is right whatever it is, for each field.
    pub(super) free: Vec<u8>,
    /// The fields that may have to be there.
    pub(super) required: Vec<u16>,
    /// Those of them whose lack may be a fault that the API refuses.
    pub(super) needed: FieldSet,
    /// The facts that only say what was seen of it.
    pub(super) evidence: Vec<usize>,
    /// Those that depend on more than the model; of what is accepted, the complements of their numbers.
    pub(super) conditional: Vec<usize>,
    pub(super) accepted: Vec<usize>,
    pub(super) by: Option<Discriminator>,
    pub(super) exactly_one: Option<Vec<u16>>,
    pub(super) at_least_one: Option<Vec<u16>>,
    pub(super) rule: Option<RuleId>,
    pub(super) kind: Option<Kind>,
    pub(super) example: Option<Text>,
    pub(super) note: Option<Text>,
    pub(super) instead: Arc<BTreeMap<Text, Text>>,
    pub(super) noun: Option<Text>,
    /// The key of the form that the API had before.
    pub(super) former: Option<Text>,
    pub(super) has_own_model: bool,
}

/// The field that decides which object it is.
#[derive(Debug, Clone)]
pub(super) struct Discriminator {
    pub(super) key: Text,
    /// The types that its value may have.
    pub(super) mask: u8,
    /// The values, each with its object.
    pub(super) values: Vec<(Text, usize)>,
    /// The number of each value among them.
    pub(super) variants: Keys,
    pub(super) otherwise: Option<(Text, usize)>,
    pub(super) is_open: bool,
    pub(super) is_untagged: bool,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Field {
    pub(super) key: Text,
    /// The types that its value may have; any where there are none.
    pub(super) types: Arc<[JsonType]>,
    pub(super) mask: u8,
    /// When it must be there.
    pub(super) required: Vec<Requirement>,
    /// The facts that forbid it.
    pub(super) absent: Vec<usize>,
    /// Whether one of them holds for every model, whatever else the request has.
    pub(super) is_never_allowed: bool,
    pub(super) checks: Vec<Check>,
    pub(super) object: Option<usize>,
    pub(super) items: Option<usize>,
    pub(super) item_types: Arc<[JsonType]>,
    pub(super) item_mask: u8,
    pub(super) entries: Option<usize>,
    pub(super) rule: Option<RuleId>,
    pub(super) checked_by: Arc<[RuleId]>,
    pub(super) note: Option<Text>,
    pub(super) instead: Arc<BTreeMap<Text, Text>>,
    pub(super) prefer: Arc<[Scalar]>,
    pub(super) example: Option<Text>,
    /// Whether it is always allowed.
    pub(super) is_plain: bool,
    /// Whether it belongs to the object, rather than only to what is known to be refused.
    pub(super) is_known: bool,
}

/// When a field must be there.
#[derive(Debug, Clone)]
pub(super) struct Requirement {
    pub(super) unless: Vec<u16>,
    pub(super) fact: Option<usize>,
}

/// Something that must hold for a value.
#[derive(Debug, Clone)]
pub(super) struct Check {
    pub(super) what: CheckKind,
    /// The fact that adds it; `None` if the documents say it.
    pub(super) fact: Option<usize>,
}

impl Check {
    /// Whether a glance shows that a value meets it.
    #[inline]
    fn surely_holds(&self, value: Value<'_, '_>) -> bool {
        let Some(text) = value.as_json_str() else { return false };
        let raw = text.raw();
        let is_among =
            |values: &[Scalar]| values.iter().any(|value| value.is_string && value.text.as_bytes() == raw);
        match &self.what {
            // A character has at most four bytes, and an escape at most twelve.
            CheckKind::Length { min, max } => {
                max.is_none_or(|max| raw.len() <= max)
                    && min.is_none_or(|min| raw.len() >= min * 12 || min == 1 && !raw.is_empty())
            }
            CheckKind::Values { values, .. } => !text.is_escaped() && is_among(values),
            CheckKind::Refused(values) => !text.is_escaped() && !is_among(values),
            CheckKind::Starts(starts) => !starts.iter().any(|start| raw.starts_with(start.as_bytes())),
            _ => false,
        }
    }

    /// Whether it asks for a list that names all keys of an object.
    fn lists_all(&self) -> bool {
        matches!(self.what, CheckKind::ListsAll(_))
    }
}

#[derive(Debug, Clone)]
pub(super) enum CheckKind {
    Type(Arc<[JsonType]>, u8),
    Values { values: Arc<[Scalar]>, any_case: bool },
    Refused(Arc<[Scalar]>),
    Starts(Arc<[Text]>),
    Pattern(Pattern),
    RefusedPattern(Pattern),
    Length { min: Option<usize>, max: Option<usize> },
    Items { min: Option<usize>, max: Option<usize> },
    Range { min: Option<f64>, max: Option<f64> },
    Base64,
    Unique,
    EntryPattern(Pattern),
    Needs(Text),
    Excludes(Vec<Text>),
    OnlyIf(Text, Vec<Scalar>),
    NotIf(Text, Vec<Scalar>),
    LessThan(Text),
    Among(Text),
    NotAfter(Text),
    Lists(Text),
    ListsAll(Text),
}

/// The most fields of an object: a walk keeps one bit for each.
const MOST_FIELDS: usize = 128;

/// Some of the fields of an object.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FieldSet([u64; MOST_FIELDS / 64]);

impl FieldSet {
    pub(super) fn of(fields: &[u16]) -> Self {
        let mut set = Self::default();
        for field in fields {
            set.insert(*field);
        }
        set
    }

    #[inline]
    pub(super) fn insert(&mut self, field: u16) {
        self.0[usize::from(field >> 6) % (MOST_FIELDS / 64)] |= 1 << (field & 63);
    }

    #[inline]
    pub(super) fn contains(&self, field: u16) -> bool {
        self.0[usize::from(field >> 6) % (MOST_FIELDS / 64)] >> (field & 63) & 1 == 1
    }

    /// Whether it has all fields of another set.
    #[inline]
    pub(super) fn has_all(&self, others: &Self) -> bool {
        self.0.iter().zip(&others.0).all(|(own, others)| others & !own == 0)
    }
}

pub(super) fn mask(types: &[JsonType]) -> u8 {
    types.iter().fold(0, |mask, json_type| {
        mask | match json_type {
            JsonType::Any => u8::MAX,
            JsonType::Number => bit(JsonType::Number) | bit(JsonType::Integer),
            other => bit(*other),
        }
    })
}

#[inline]
pub(super) const fn bit(json_type: JsonType) -> u8 {
    1 << json_type as u8
}

impl Objects {
    /// An object, by itself or as a variant of `base`.
    pub(super) fn compile(&self, name: &str, base: Option<&str>) -> Result<Object, String> {
        let (mut table, mut names) = self.flat(name)?;
        if let Some(base) = base {
            let (above, of_base) = self.flat(base)?;
            if table.by == above.by {
                // It has been chosen by this field.
                (table.by, table.otherwise, table.untagged) = (None, None, None);
                table.variants.clear();
            }
            let own_one = (table.exactly_one.clone(), table.at_least_one.clone());
            let (kind, example) = (table.kind, table.example.clone());
            let own = ObjectTable { by: table.by.clone().or(Some(Text::default())), ..table };
            table = own.over(&ObjectTable {
                variants: BTreeMap::new(),
                otherwise: None,
                untagged: None,
                ..above
            });
            table.by = table.by.filter(|by| !by.is_empty());
            (table.kind, table.example) = (kind, example);
            (table.exactly_one, table.at_least_one) = own_one;
            names.extend(of_base);
        }
        self.of_table(name, table, names)
    }

    /// An object with what it adds to, and their names.
    fn flat(&self, name: &str) -> Result<(ObjectTable, Vec<Box<str>>), String> {
        let find = |name: &str| self.table(name).ok_or_else(|| undescribed(name));
        let extends = |table: &Cow<'_, ObjectTable>| table.extends.clone();
        let (table, names) = extended(name, find, extends, |table, above| Cow::Owned(table.over(&above)))?;
        Ok((table.into_owned(), names))
    }

    fn of_table(&self, name: &str, table: ObjectTable, names: Vec<Box<str>>) -> Result<Object, String> {
        let mut object = Object {
            name: name.into(),
            is_closed: table.closed == Some(true),
            rule: table.rule,
            kind: table.kind,
            example: table.example.clone(),
            note: table.note.clone(),
            instead: table.instead.clone(),
            noun: table.noun.clone(),
            former: table.former.clone(),
            has_own_model: table.own_model == Some(true),
            names,
            ..Object::default()
        };
        let undescribed = FieldTable::default();
        let described = table.fields.0.iter().filter_map(|(key, entry)| Some((key, entry.described()?)));
        let mut entries: Vec<(Text, &FieldTable, bool)> =
            described.map(|(key, field)| (key.clone(), field, true)).collect();
        let facts = self.facts();
        let own = self.about(&object.names);
        for number in &own {
            for key in facts[*number].all_fields().map(plain) {
                if !entries.iter().any(|(known, ..)| **known == *key) {
                    entries.push((key.to_owned().into(), &undescribed, false));
                }
            }
        }
        if entries.len() > MOST_FIELDS {
            return Err(format!("`{name}` has more than {MOST_FIELDS} fields"));
        }
        let mut numbered: Vec<(Text, u16)> = Vec::new();
        for (number, (key, field, is_known)) in (0..).zip(&entries) {
            if self.is_in_snake_case() {
                numbered.push((snake_case(key).into(), number));
            }
            numbered.push((key.clone(), number));
            let field = self.field(key, field, *is_known)?;
            object.fields.push(field);
        }
        object.numbers = Keys::new(numbered);
        for (key, field, _) in &entries {
            let Some(number) = object.numbers.get(key).map(usize::from) else { continue };
            let unless = field.required_unless.as_deref();
            if field.required == Some(true) || unless.is_some() {
                let unless = object.numbers_of(unless.unwrap_or_default());
                object.fields[number].required.push(Requirement { unless, fact: None });
            }
        }
        for number in own {
            let fact = &facts[number];
            add_fact(&mut object, number, fact);
            if !fact.asks_for_more() {
                object.evidence.push(number);
            }
            if fact.is_conditional() {
                object.conditional.push(number);
            }
        }
        object.accepted = self.accepted_of(&object.names);
        let accepted = object.accepted.iter().copied();
        let conditional = accepted.filter(|number| self.enforced.accepted[*number].is_conditional());
        object.conditional.extend(conditional.map(|number| !number));
        object.derive(&self.enforced.accepted);
        object.exactly_one = object.members(table.exactly_one.as_ref());
        object.at_least_one = object.members(table.at_least_one.as_ref());
        if let Some(by) = &table.by {
            let mask = object.field(by).map_or(u8::MAX, |field| field.mask);
            object.by = Some(Discriminator { mask, ..self.by(name, by, &table)? });
        }
        Ok(object)
    }

    fn by(&self, name: &str, by: &Text, table: &ObjectTable) -> Result<Discriminator, String> {
        let mut values: Vec<(Text, usize)> = Vec::new();
        for (value, variant) in &table.variants {
            values.push((value.clone(), self.number(variant, Some(name))?));
        }
        let variants = Keys::new(values.iter().map(|(value, _)| value.clone()).zip(0..));
        let otherwise = match &table.otherwise {
            Some(variant) => {
                let last = variant.rsplit('.').next().unwrap_or_default();
                Some((last.to_owned().into(), self.number(variant, Some(name))?))
            }
            None => None,
        };
        let (is_open, is_untagged) = (table.open == Some(true), table.untagged == Some(true));
        Ok(Discriminator {
            key: by.clone(),
            mask: u8::MAX,
            variants,
            values,
            otherwise,
            is_open,
            is_untagged,
        })
    }

    fn field(&self, key: &Text, table: &FieldTable, is_known: bool) -> Result<Field, String> {
        let number = |name: &Option<Text>| name.as_ref().map(|name| self.number(name, None)).transpose();
        let (object, items) = (number(&table.object)?, number(&table.items)?);
        let entries = number(&table.entries)?;
        let types = table.r#type.clone().map(|types| types.0).unwrap_or_default();
        let item_types = table.item_type.clone().map(|types| types.0).unwrap_or_default();
        Ok(Field {
            key: key.clone(),
            mask: if types.is_empty() { u8::MAX } else { mask(&types) },
            types,
            required: Vec::new(),
            absent: Vec::new(),
            is_never_allowed: false,
            checks: checks(table, None),
            object,
            items,
            item_mask: mask(&item_types),
            item_types,
            entries,
            rule: table.rule,
            checked_by: table.checked_by.clone().unwrap_or_default(),
            note: table.note.clone(),
            instead: table.instead.clone().unwrap_or_default(),
            prefer: table.prefer.clone().unwrap_or_default(),
            example: table.example.clone(),
            is_plain: false,
            is_known,
        })
    }
}

/// Adds what a fact asks for beyond the documents.
fn add_fact(object: &mut Object, number: usize, fact: &FactTable) {
    for key in fact.all_fields() {
        if plain(key) != key {
            continue;
        }
        let unless = object.numbers_of(fact.constraint.required_unless.as_deref().unwrap_or_default());
        let Some(number_of_field) = object.numbers.get(key) else { continue };
        let field = &mut object.fields[usize::from(number_of_field)];
        if fact.absent {
            field.absent.push(number);
            field.is_never_allowed |= fact.holds_always();
        }
        if fact.constraint.required == Some(true) || fact.constraint.required_unless.is_some() {
            field.required.push(Requirement { unless, fact: Some(number) });
        }
        if let Some(Types(types)) = &fact.constraint.r#type {
            let what = CheckKind::Type(types.clone(), mask(types));
            field.checks.push(Check { what, fact: Some(number) });
        }
        field.checks.extend(checks(&fact.constraint, Some(number)));
    }
}

/// What a table asks for, apart from its types.
fn checks(table: &FieldTable, fact: Option<usize>) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut add = |what| checks.push(Check { what, fact });
    if let Some(values) = &table.values {
        let any_case = table.values_any_case == Some(true);
        add(CheckKind::Values { values: values.clone(), any_case });
    }
    if let Some(values) = &table.refused_values {
        add(CheckKind::Refused(values.clone()));
    }
    if let Some(starts) = &table.refused_starts {
        add(CheckKind::Starts(starts.clone()));
    }
    if table.min_length.is_some() || table.max_length.is_some() {
        add(CheckKind::Length { min: table.min_length, max: table.max_length });
    }
    if let Some(pattern) = &table.pattern {
        add(CheckKind::Pattern(pattern.clone()));
    }
    if let Some(pattern) = &table.refused_pattern {
        add(CheckKind::RefusedPattern(pattern.clone()));
    }
    if table.min_items.is_some() || table.max_items.is_some() {
        add(CheckKind::Items { min: table.min_items, max: table.max_items });
    }
    if table.min.is_some() || table.max.is_some() {
        add(CheckKind::Range { min: table.min, max: table.max });
    }
    if table.base64 == Some(true) {
        add(CheckKind::Base64);
    }
    if table.unique == Some(true) {
        add(CheckKind::Unique);
    }
    if let Some(pattern) = &table.entry_pattern {
        add(CheckKind::EntryPattern(pattern.clone()));
    }
    if let Some(key) = &table.needs {
        add(CheckKind::Needs(key.clone()));
    }
    if let Some(keys) = &table.excludes {
        add(CheckKind::Excludes(keys.clone()));
    }
    for (key, values) in table.only_if.iter().flatten() {
        add(CheckKind::OnlyIf(key.clone(), values.clone()));
    }
    for (key, values) in table.not_if.iter().flatten() {
        add(CheckKind::NotIf(key.clone(), values.clone()));
    }
    if let Some(pointer) = &table.less_than {
        add(CheckKind::LessThan(pointer.clone()));
    }
    if let Some(path) = &table.not_after {
        add(CheckKind::NotAfter(path.clone()));
    }
    if let Some(pointer) = &table.among {
        add(CheckKind::Among(pointer.clone()));
    }
    if let Some(key) = &table.lists {
        add(CheckKind::Lists(key.clone()));
    }
    if let Some(key) = &table.lists_all {
        add(CheckKind::ListsAll(key.clone()));
    }
    checks
}

impl CheckKind {
    /// The kind of fault if it does not hold.
    pub(super) fn fault(&self) -> ShapeFaultKind {
        match self {
            Self::Type(..) => ShapeFaultKind::Type,
            Self::Values { .. }
            | Self::Refused(_)
            | Self::Starts(_)
            | Self::RefusedPattern(_)
            | Self::Among(_) => ShapeFaultKind::Value,
            Self::Pattern(_) | Self::EntryPattern(_) => ShapeFaultKind::Pattern,
            Self::Length { .. } => ShapeFaultKind::Length,
            Self::Items { .. } => ShapeFaultKind::Items,
            Self::Range { .. } => ShapeFaultKind::Range,
            Self::Base64 => ShapeFaultKind::Base64,
            Self::Unique => ShapeFaultKind::Unique,
            Self::Lists(_) | Self::ListsAll(_) => ShapeFaultKind::Names,
            Self::Needs(_)
            | Self::Excludes(_)
            | Self::OnlyIf(..)
            | Self::NotIf(..)
            | Self::LessThan(_)
            | Self::NotAfter(_) => ShapeFaultKind::Conflict,
        }
    }
}

impl Field {
    /// Whether a value is surely all that is asked of it: nearly every value is.
    #[inline]
    pub(super) fn asks_nothing_of(&self, value: Value<'_, '_>) -> bool {
        let contains = match value.kind() {
            toolcheck_json::Kind::Array => self.items.is_some() || !self.item_types.is_empty(),
            toolcheck_json::Kind::Object => {
                self.object.is_some() || self.entries.is_some() || self.types_members()
            }
            _ => false,
        };
        self.is_plain
            && !contains
            && self.mask & bit_of(value) != 0
            && self.checks.iter().all(|check| check.surely_holds(value))
    }

    /// Whether its value is an object of which each member has one of the types of its elements.
    pub(super) fn types_members(&self) -> bool {
        let is_object = self.mask & (bit(JsonType::Array) | bit(JsonType::Object)) == bit(JsonType::Object);
        is_object && !self.item_types.is_empty() && self.entries.is_none() && self.object.is_none()
    }

    /// The types of which its value is right whatever it is.
    fn free(&self) -> u8 {
        let holds_some = self.items.is_some() || !self.item_types.is_empty();
        let has_some = self.object.is_some() || self.entries.is_some() || self.types_members();
        let inner = if holds_some { bit(JsonType::Array) } else { 0 }
            | if has_some { bit(JsonType::Object) } else { 0 };
        if self.is_plain && self.checks.is_empty() { self.mask & !inner } else { 0 }
    }
}

impl Object {
    #[inline]
    pub(super) fn field(&self, key: &str) -> Option<&Field> {
        self.numbers.get(key).map(|number| &self.fields[usize::from(number)])
    }

    /// Whether it is the object of this name, adds to it or is a variant of it.
    pub(super) fn is_named(&self, name: &str) -> bool {
        self.names.iter().any(|known| **known == *name)
    }

    /// What follows from the fields, so that a walk need not find it out for each value.
    fn derive(&mut self, accepted: &[Fact]) {
        let is_required =
            |field: &Field| !field.required.is_empty() || field.checks.iter().any(Check::lists_all);
        self.required = (0..self.fields.len() as u16)
            .filter(|number| is_required(&self.fields[*number as usize]))
            .collect();
        let is_needed = |number: &u16| !self.may_lack(&self.fields[usize::from(*number)], accepted);
        let needed: Vec<u16> = self.required.iter().copied().filter(is_needed).collect();
        self.needed = FieldSet::of(&needed);
        for field in &mut self.fields {
            field.is_plain = field.absent.is_empty() && field.is_known;
        }
        self.free = self.fields.iter().map(Field::free).collect();
    }

    /// Whether the API is known to accept its lack, whatever the model and the rest of the request.
    fn may_lack(&self, field: &Field, accepted: &[Fact]) -> bool {
        let facts = self.accepted.iter().map(|number| &accepted[*number]);
        let mut facts = facts
            .filter(|fact| fact.fault == ShapeFaultKind::Missing && fact.is_about(Some(&field.key)))
            .peekable();
        // What is accepted elsewhere may be refused here all the same.
        facts.peek().is_some()
            && facts.all(|fact| fact.holds_always() && fact.got.is_none() && !fact.is_inherited)
            && !field.checks.iter().any(Check::lists_all)
    }

    fn numbers_of(&self, keys: &[Text]) -> Vec<u16> {
        keys.iter().filter_map(|key| self.numbers.get(key)).collect()
    }

    fn members(&self, members: Option<&Members>) -> Option<Vec<u16>> {
        Some(match members? {
            Members::All(false) => return None,
            Members::All(true) => (0..self.fields.len() as u16)
                .filter(|number| self.fields[*number as usize].is_known)
                .collect(),
            Members::Some(keys) => self.numbers_of(keys),
        })
    }
}

impl ObjectTable {
    /// What this table says, and for the rest what `base` says.
    pub(super) fn over(&self, base: &Self) -> Self {
        let mut fields = base.fields.clone();
        for (key, entry) in &self.fields.0 {
            let merged = match (entry, fields.get(key)) {
                (FieldEntry::Described(own), Some(FieldEntry::Described(base))) => {
                    FieldEntry::Described(Arc::new(own.over(base)))
                }
                _ => entry.clone(),
            };
            fields.insert(key, merged);
        }
        let mut variants = base.variants.clone();
        variants.extend(self.variants.clone());
        variants.retain(|_, object| !object.is_empty());
        let instead = match (self.instead.is_empty(), base.instead.is_empty()) {
            (true, _) => Arc::clone(&base.instead),
            (_, true) => Arc::clone(&self.instead),
            _ => {
                let mut instead = BTreeMap::clone(&base.instead);
                instead.extend(self.instead.iter().map(|(key, words)| (key.clone(), words.clone())));
                Arc::new(instead)
            }
        };
        Self {
            closed: self.closed.or(base.closed),
            extends: self.extends.clone().or_else(|| base.extends.clone()),
            by: self.by.clone().or_else(|| base.by.clone()),
            variants,
            otherwise: self.otherwise.clone().or_else(|| base.otherwise.clone()),
            open: self.open.or(base.open),
            untagged: self.untagged.or(base.untagged),
            exactly_one: self.exactly_one.clone().or_else(|| base.exactly_one.clone()),
            at_least_one: self.at_least_one.clone().or_else(|| base.at_least_one.clone()),
            rule: self.rule.or(base.rule),
            kind: self.kind.or(base.kind),
            example: self.example.clone().or_else(|| base.example.clone()),
            note: self.note.clone().or_else(|| base.note.clone()),
            instead,
            noun: self.noun.clone().or_else(|| base.noun.clone()),
            former: self.former.clone().or_else(|| base.former.clone()),
            own_model: self.own_model.or(base.own_model),
            fields,
        }
    }
}

/// The key of a field, for the elements of an array (`key[]`) and the keys of an object (`key{}`) too.
pub(super) fn plain(key: &str) -> &str {
    key.strip_suffix("[]").or_else(|| key.strip_suffix("{}")).unwrap_or(key)
}
