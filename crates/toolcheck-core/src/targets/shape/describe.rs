//! What is known of the shape of requests, to be read rather than checked.
//!
//! ```
//! let shape = toolcheck_core::targets::find("anthropic").and_then(|target| target.shape());
//! let request = shape.expect("it is described").request();
//! let demands = request.field("max_tokens").expect("it is a field").demands();
//! assert!(demands.iter().any(|demand| demand.fault.name() == "missing"));
//! ```

mod known;
mod texts;
mod words;

use std::borrow::Cow;

use foldhash::HashSet;
use toolcheck_json::Value;
use toolcheck_toml::Text;

use super::check::Checker;
use super::compile::{Check, CheckKind, Discriminator, Field, Object, bit};
use super::fault::{Condition, ShapeFault};
use super::samples::{is_worth_it, ways};
use super::tables::{JsonType, Kind, Scalar, ShapeFaultKind, UnverifiedLevel};
use super::value::type_of;
use super::{Shape, TargetShape};
use crate::rule_id::RuleId;

pub use self::known::{Known, Verdict};
pub use self::texts::{PLACEHOLDERS, is_placeholder, placeholders, with_usual_names};
pub(super) use self::words::listed;

/// The names of the objects that the documents of a format describe; none if the format is not described.
pub fn object_names(format: &str) -> impl Iterator<Item = &'static str> {
    super::FILES.find(format).into_iter().flat_map(|file| file.objects.keys().map(Text::as_str))
}

impl TargetShape {
    /// The names of the objects that the target describes itself.
    pub fn object_names(&self) -> impl Iterator<Item = &str> {
        self.objects.keys().map(Text::as_str)
    }
}

impl Shape {
    /// The id of the format that it is the shape of.
    pub fn format(&self) -> &'static str {
        self.format
    }

    /// The documents that describe the format.
    pub fn sources(&self) -> &[Text] {
        &self.file.sources
    }

    /// When they were read.
    pub fn seen(&self) -> &str {
        &self.file.seen
    }

    /// What follows if a request breaks what the documents say, and nobody has seen it refused.
    pub fn unseen(&self) -> UnverifiedLevel {
        self.enforced.unseen.unwrap_or(UnverifiedLevel::Warning)
    }

    /// Whether a request has a key when the API gets it, although what somebody has kept of one may lack it.
    pub fn is_sent_with(&self, key: &str) -> bool {
        self.file.sent_with.contains_key(key)
    }

    /// The body of a request.
    pub fn request(&self) -> ObjectView<'_> {
        ObjectView { shape: self, number: self.request, rule: None }
    }

    /// An element of the list of messages.
    pub fn message(&self) -> ObjectView<'_> {
        ObjectView { shape: self, number: self.message, rule: None }
    }

    /// All objects, in the order in which a request leads to them. An object that is a variant of several others is there
    /// several times, because it has the fields of each.
    pub fn objects(&self) -> Vec<ObjectView<'_>> {
        let mut objects = Vec::new();
        let mut open = vec![self.message(), self.request()];
        let mut seen = HashSet::default();
        while let Some(object) = open.pop() {
            if seen.insert(object.number) {
                objects.push(object);
                let first = open.len();
                open.extend(object.below());
                open[first..].reverse();
            }
        }
        objects
    }
}

impl<'f> Shape {
    /// What is asked of all objects and their fields, in the order in which a request leads to them.
    pub fn demands(&'f self) -> impl Iterator<Item = (ObjectView<'f>, Demand<'f>)> {
        self.objects().into_iter().flat_map(|object| {
            let of_fields = object.fields().flat_map(FieldView::demands);
            object.demands().into_iter().chain(of_fields).map(move |demand| (object, demand))
        })
    }
}

/// An object of a request.
#[derive(Debug, Clone, Copy)]
pub struct ObjectView<'f> {
    shape: &'f Shape,
    number: usize,
    /// The rule that an object above it names.
    rule: Option<RuleId>,
}

impl PartialEq for ObjectView<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.shape, other.shape) && self.number == other.number
    }
}

impl<'f> ObjectView<'f> {
    fn object(self) -> &'f Object {
        &self.shape.objects[self.number]
    }

    fn to(self, number: usize) -> Self {
        Self { number, rule: self.rule(), ..self }
    }

    /// Its name in shape files.
    pub fn name(self) -> &'f str {
        &self.object().name
    }

    /// The names of the objects that it adds to, or is a variant of.
    pub fn bases(self) -> impl Iterator<Item = &'f str> {
        self.object().names.iter().skip(1).map(|name| &**name)
    }

    /// What it is in every API, if it is one of these.
    pub fn kind(self) -> Option<Kind> {
        self.object().kind
    }

    /// Whether it has no other keys than its fields.
    pub fn is_closed(self) -> bool {
        self.object().is_closed
    }

    /// How its API writes it: one line of JSON.
    pub fn example(self) -> Option<&'f str> {
        self.object().example.as_deref()
    }

    /// The ways to write a value of it that are short and say something: its example, or a value with what must be there.
    /// `…` stands for any text.
    pub fn samples(self) -> Vec<String> {
        let sample = self.shape.sample(self.object());
        ways(&sample).filter(|way| is_worth_it(way)).map(str::to_owned).collect()
    }

    /// What is wrong with a value that is to be this object, whatever stands around it; `None` if it is none of its variants.
    pub fn check(self, value: Value<'_, '_>) -> Option<Vec<ShapeFault<'f>>> {
        let mut checker = Checker::new(self.shape, self.shape.plain_facts().clone(), None, true);
        checker.alone(value, self.number)?;
        Some(checker.faults)
    }

    /// What to write in place of keys that it does not have: each such key, with one that it has, or words.
    pub fn instead(self) -> impl Iterator<Item = (&'f str, &'f str)> {
        self.object().instead.iter().map(|(key, instead)| (&**key, &**instead))
    }

    /// What a reader should know.
    pub fn note(self) -> Option<&'f str> {
        self.object().note.as_deref()
    }

    /// The rule that reports what is wrong with it and below it, if it is not the usual one for the fault.
    pub fn rule(self) -> Option<RuleId> {
        self.rule.or(self.object().rule)
    }

    /// The key whose value decides which of its variants it is.
    pub fn by(self) -> Option<&'f str> {
        self.object().by.as_ref().map(|by| &*by.key)
    }

    /// The objects that it may be, each with the value that says so, sorted.
    pub fn variants(self) -> impl Iterator<Item = (&'f str, Self)> {
        let of = |by: &'f Discriminator| by.values.iter().map(|(value, object)| (&**value, *object));
        self.object().by.iter().flat_map(of).map(move |(value, number)| (value, self.to(number)))
    }

    /// The object that it is if that key is absent.
    pub fn otherwise(self) -> Option<Self> {
        let (_, number) = self.object().by.as_ref()?.otherwise.as_ref()?;
        Some(self.to(*number))
    }

    /// Whether the value of a key says that something else is this object.
    fn is_variant_by(self, key: &str) -> bool {
        self.shape
            .all_objects()
            .filter_map(|base| base.by.as_ref())
            .any(|by| *by.key == *key && by.values.iter().any(|(_, variant)| *variant == self.number))
    }

    /// Whether that key may have other values.
    pub fn is_open(self) -> bool {
        self.object().by.as_ref().is_some_and(|by| by.is_open)
    }

    /// Its fields, and those that are only known to be refused, in the order of the file.
    pub fn fields(self) -> impl Iterator<Item = FieldView<'f>> {
        self.object().fields.iter().map(move |field| FieldView { object: self, field })
    }

    /// The field of that key.
    pub fn field(self, key: &str) -> Option<FieldView<'f>> {
        Some(FieldView { object: self, field: self.object().field(key)? })
    }

    /// The objects that it may be, and those that its fields have.
    pub fn below(self) -> impl Iterator<Item = Self> {
        let fields = self.fields().flat_map(|field| [field.object(), field.items(), field.entries()]);
        self.variants().map(|(_, variant)| variant).chain(self.otherwise()).chain(fields.flatten())
    }

    /// What is asked of the object as a whole.
    pub fn demands(self) -> Vec<Demand<'f>> {
        let object = self.object();
        let keys = |numbers: &[u16]| -> Vec<&'f str> {
            numbers.iter().map(|number| &*object.fields[usize::from(*number)].key).collect()
        };
        let mut demands = Vec::new();
        let mut add = |fault, asked| demands.push(self.demand(fault, "".into(), asked, None));
        if object.is_closed {
            add(ShapeFaultKind::Unknown, Asked::OnlyKnownKeys);
        }
        if let Some(of) = &object.exactly_one {
            add(ShapeFaultKind::Union, Asked::AtMostOne(keys(of)));
        }
        if let Some(of) = object.exactly_one.as_ref().or(object.at_least_one.as_ref()) {
            add(ShapeFaultKind::None, Asked::AtLeastOne(keys(of)));
        }
        demands
    }

    fn demand(
        self,
        fault: ShapeFaultKind,
        key: Cow<'f, str>,
        asked: Asked<'f>,
        fact: Option<usize>,
    ) -> Demand<'f> {
        let own_fact = fact.map(|fact| self.shape.fact(fact));
        let of_fact = own_fact.and_then(|fact| fact.constraint.rule);
        let of_value =
            !matches!(fault, ShapeFaultKind::Missing | ShapeFaultKind::Unknown | ShapeFaultKind::Type);
        let field = self.field(super::compile::plain(&key)).filter(|_| of_value);
        let of_field = field.and_then(|field| field.field.rule);
        let known = Known::all(self, &key, fault, &asked, own_fact);
        let is_documented = fact.is_none();
        Demand { fault, key, asked, rule: of_fact.or(of_field).or(self.rule()), is_documented, known }
    }
}

/// A field of an object.
#[derive(Debug, Clone, Copy)]
pub struct FieldView<'f> {
    object: ObjectView<'f>,
    field: &'f Field,
}

impl<'f> FieldView<'f> {
    /// Its key.
    pub fn key(self) -> &'f str {
        &self.field.key
    }

    /// Whether it belongs to the object. The others are only known to be refused.
    pub fn is_known(self) -> bool {
        self.field.is_known
    }

    /// The types that its value may have; any if there are none.
    pub fn types(self) -> &'f [JsonType] {
        &self.field.types
    }

    /// The object that it is.
    pub fn object(self) -> Option<ObjectView<'f>> {
        self.field.object.map(|number| self.object.to(number))
    }

    /// The object that each element of an array is.
    pub fn items(self) -> Option<ObjectView<'f>> {
        self.field.items.map(|number| self.object.to(number))
    }

    /// The types that elements of an array may have beside that.
    pub fn item_types(self) -> &'f [JsonType] {
        &self.field.item_types
    }

    /// The object that the value of each member is.
    pub fn entries(self) -> Option<ObjectView<'f>> {
        self.field.entries.map(|number| self.object.to(number))
    }

    /// How its value is written, if the description shows it.
    pub fn example(self) -> Option<&'f str> {
        self.field.example.as_deref()
    }

    /// Whether a value has one of its types, and is what is asked of it by itself.
    pub fn takes(self, value: Value<'_, '_>) -> bool {
        let got = type_of(value);
        self.field.mask & bit(got) != 0
            && self.field.checks.iter().all(|check| check.failed_by(value, got).is_none())
    }

    /// The values that it may have by the documents; none if they leave that open.
    pub fn values(self) -> Vec<&'f str> {
        let by = self.object.object().by.as_ref().filter(|by| *by.key == *self.field.key && !by.is_open);
        let of_by = by.into_iter().flat_map(|by| by.values.iter().map(|(value, _)| &**value));
        let of_checks = self.field.checks.iter().filter_map(|check| match &check.what {
            CheckKind::Values { values, .. } if check.fact.is_none() => Some(values.iter()),
            _ => None,
        });
        of_by.chain(of_checks.flatten().map(|value| &*value.text)).collect()
    }

    /// What to write in place of values that it may not have: each such value, with one that it may have, or words.
    pub fn instead(self) -> impl Iterator<Item = (&'f str, &'f str)> {
        self.field.instead.iter().map(|(value, instead)| (&**value, &**instead))
    }

    /// The values to write where there are several, the best first.
    pub fn preferred(self) -> &'f [Scalar] {
        &self.field.prefer
    }

    /// The rules that report what is wrong with it in more words.
    pub fn checked_by(self) -> impl Iterator<Item = RuleId> {
        self.field.checked_by.iter().copied()
    }

    /// What a reader should know.
    pub fn note(self) -> Option<&'f str> {
        self.field.note.as_deref()
    }

    /// What is asked of it.
    pub fn demands(self) -> Vec<Demand<'f>> {
        let (object, field) = (self.object, self.field);
        let fields = &object.object().fields;
        let mut demands = Vec::new();
        let mut add = |fault, asked, fact| {
            demands.push(object.demand(fault, Cow::Borrowed(&*field.key), asked, fact));
        };
        for required in &field.required {
            let unless = required.unless.iter().map(|number| &*fields[usize::from(*number)].key).collect();
            add(ShapeFaultKind::Missing, Asked::Present { unless }, required.fact);
        }
        for fact in &field.absent {
            add(ShapeFaultKind::Unknown, Asked::Absent, Some(*fact));
        }
        if field.absent.is_empty() && !field.is_known && object.is_closed() {
            add(ShapeFaultKind::Unknown, Asked::Absent, None);
        }
        if field.mask != u8::MAX {
            add(ShapeFaultKind::Type, Asked::Types(&field.types), None);
        }
        if let Some(by) = object.object().by.as_ref().filter(|by| *by.key == *field.key && !by.is_open) {
            let is_string = field.mask & bit(JsonType::String) != 0;
            let scalar = |text: &str| Scalar { text: text.to_owned().into(), is_string };
            let values = by.values.iter().map(|(text, _)| scalar(text)).collect();
            add(ShapeFaultKind::Value, Asked::OneOf { values, any_case: false }, None);
        }
        // The value that says that it is this variant is there.
        let is_chosen =
            |check: &Check| check.fact.is_none() && matches!(check.what, CheckKind::Values { .. });
        let is_known = |check: &&Check| !(is_chosen(check) && object.is_variant_by(&field.key));
        for check in field.checks.iter().filter(is_known) {
            add(check.what.fault(), Asked::of(check), check.fact);
        }
        const OBJECT: &[JsonType] = &[JsonType::Object];
        let expected = if field.item_types.is_empty() { OBJECT } else { &field.item_types };
        let mut of_parts = |suffix: &str, expected| {
            let key = Cow::Owned(format!("{}{suffix}", field.key));
            demands.push(object.demand(ShapeFaultKind::Type, key, Asked::Types(expected), None));
        };
        if field.types_members() {
            of_parts("{}", expected);
        } else if field.items.is_some() || !field.item_types.is_empty() && field.entries.is_none() {
            of_parts("[]", expected);
        }
        if field.entries.is_some() {
            of_parts("{}", OBJECT);
        }
        demands
    }
}

/// Something that an API asks of an object or a field.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Demand<'f> {
    /// What is wrong with a request that does not meet it.
    pub fault: ShapeFaultKind,
    /// The key: empty for the object as a whole, `content[]` for the elements of `content`, `properties{}` for the values
    /// in `properties`.
    pub key: Cow<'f, str>,
    /// What is asked.
    pub asked: Asked<'f>,
    /// The rule that reports it, if it is not the usual one for the fault.
    pub rule: Option<RuleId>,
    /// Whether the documents ask for it, or what the target changes of them. The others are only known from what was seen.
    pub is_documented: bool,
    /// What is known of it: what holds only for some requests first. Never empty.
    pub known: Vec<Known<'f>>,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Asked<'f> {
    /// The key must be there.
    Present {
        /// The keys of which one makes up for it.
        unless: Vec<&'f str>,
    },
    /// The key may not be there.
    Absent,
    /// No other keys than the fields may be there.
    OnlyKnownKeys,
    /// At most one of these keys may be there.
    AtMostOne(Vec<&'f str>),
    /// One of these keys must be there.
    AtLeastOne(Vec<&'f str>),
    /// The value must have one of these types.
    Types(&'f [JsonType]),
    /// It must be one of these.
    OneOf {
        /// The values.
        values: Cow<'f, [Scalar]>,
        /// Whether upper and lower case are the same.
        any_case: bool,
    },
    /// It may not be one of these.
    NoneOf(&'f [Scalar]),
    /// It may not start with one of these.
    NotStarting(Vec<&'f str>),
    /// It must match an expression.
    Pattern(&'f str),
    /// It may not match an expression.
    NotMatching(&'f str),
    /// The keys of the object must match an expression.
    KeyPattern(&'f str),
    /// A string must have so many characters.
    Length {
        /// The fewest.
        min: Option<usize>,
        /// The most.
        max: Option<usize>,
    },
    /// An array must have so many elements.
    Items {
        /// The fewest.
        min: Option<usize>,
        /// The most.
        max: Option<usize>,
    },
    /// A number must be in a range.
    Range {
        /// The least.
        min: Option<f64>,
        /// The greatest.
        max: Option<f64>,
    },
    /// A string must be Base64, without a `data:` prefix.
    Base64,
    /// No other object of the request may have the same value.
    Unique,
    /// It must be one of the strings that this JSON Pointer leads to, with `*` for every element.
    Among(&'f str),
    /// Its elements must be keys of this object beside it.
    Lists(&'f str),
    /// Its elements must be all keys of this object beside it.
    ListsAll(&'f str),
    /// Something else in the request must be so.
    Other {
        /// What it must be.
        condition: Condition,
        /// Its keys, or JSON Pointers from the root.
        keys: Vec<&'f str>,
        /// The values that it must, or must not, have.
        values: &'f [Scalar],
    },
}

impl<'f> Asked<'f> {
    fn of(check: &'f Check) -> Self {
        let other = |condition, keys, values| Self::Other { condition, keys, values };
        match &check.what {
            CheckKind::Type(types, _) => Self::Types(types),
            CheckKind::Values { values, any_case } => {
                Self::OneOf { values: Cow::Borrowed(&values[..]), any_case: *any_case }
            }
            CheckKind::Refused(values) => Self::NoneOf(values),
            CheckKind::Starts(starts) => Self::NotStarting(starts.iter().map(|start| &**start).collect()),
            CheckKind::Pattern(pattern) => Self::Pattern(pattern.as_str()),
            CheckKind::RefusedPattern(pattern) => Self::NotMatching(pattern.as_str()),
            CheckKind::EntryPattern(pattern) => Self::KeyPattern(pattern.as_str()),
            CheckKind::Length { min, max } => Self::Length { min: *min, max: *max },
            CheckKind::Items { min, max } => Self::Items { min: *min, max: *max },
            CheckKind::Range { min, max } => Self::Range { min: *min, max: *max },
            CheckKind::Base64 => Self::Base64,
            CheckKind::Unique => Self::Unique,
            CheckKind::Among(pointer) => Self::Among(pointer),
            CheckKind::Lists(key) => Self::Lists(key),
            CheckKind::ListsAll(key) => Self::ListsAll(key),
            CheckKind::Needs(key) => other(Condition::Needs, vec![key], &[]),
            CheckKind::Excludes(keys) => {
                other(Condition::Excludes, keys.iter().map(|key| &**key).collect(), &[])
            }
            CheckKind::OnlyIf(key, values) => other(Condition::OnlyIf, vec![key], values),
            CheckKind::NotIf(key, values) => other(Condition::NotIf, vec![key], values),
            CheckKind::NotAfter(path) => other(Condition::NotAfter, vec![path], &[]),
            CheckKind::LessThan(key) => other(Condition::LessThan, vec![key], &[]),
        }
    }

    /// Whether a text that names the least or the greatest, and only that, can be meant.
    fn has_limits_of(&self, text: &str) -> bool {
        let (min, max) = match self {
            Self::Length { min, max } | Self::Items { min, max } => (min.is_some(), max.is_some()),
            Self::Range { min, max } => (min.is_some(), max.is_some()),
            _ => return true,
        };
        (min || !text.contains("{min}")) && (max || !text.contains("{max}"))
    }
}
