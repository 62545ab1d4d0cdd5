//! What is wrong with a request, and what the API answers.

use std::borrow::Cow;

use toolcheck_json::{Document, NodeId, Value};
use toolcheck_toml::Text;

use super::Shape;
use super::check::Step;
use super::compile::{CheckKind, Discriminator, Field, Object, bit};
use super::error_text::ErrorText;
use super::tables::{Fact, FactTable, JsonType, Kind, ShapeFaultKind, TextTable, UnverifiedLevel};
use super::value::type_of;
use crate::ir::Place;
use crate::rule_id::RuleId;
use crate::targets::{Evidence, EvidenceSummary, first_source};

/// Something in a request that is not as its API has it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ShapeFault<'f> {
    /// What is wrong.
    pub kind: ShapeFaultKind,
    pub(super) object: &'f Object,
    pub(super) field: Option<&'f Field>,
    /// The key that it is about: `content[]` for an element of `content`, `properties{}` for a value in `properties`.
    pub key: Cow<'f, str>,
    /// The object that has the key, or lacks it.
    pub parent: NodeId,
    /// The value, if there is one.
    pub(super) value: Option<NodeId>,
    pub(super) path: Vec<PathStep>,
    /// How many of the last steps lead from the object to the value.
    pub(super) own_steps: usize,
    pub(super) schema_start: usize,
    /// More of what is wrong.
    pub detail: Detail<'f>,
    pub(super) fact: Option<&'f FactTable>,
    /// What the value fails, if it is a check.
    pub(super) check: Option<&'f CheckKind>,
    pub(super) rule: Option<RuleId>,
    pub(super) name: Option<NodeId>,
    /// The value of the key that the rest of the object suggests, if the key says what the object is.
    pub(super) likely: Option<&'f str>,
    pub(super) shape: &'f Shape,
    /// The facts whose conditions the request does not meet.
    pub(super) unmet: Vec<usize>,
    /// The nearest element of an array that it is in.
    pub(super) element: NodeId,
    /// The field around it that other rules check too, and the element of an array that has the field.
    pub(super) around: Option<(NodeId, &'f Field)>,
    /// The objects from the root to the one that has the key, with what they are.
    pub(super) above: Vec<(NodeId, Option<Kind>)>,
    /// The objects with the same fault that no other fault of the request stands for, because there are very many.
    pub alike: Vec<NodeId>,
}

/// More of what is wrong.
#[derive(Debug, Clone, Hash)]
#[non_exhaustive]
pub enum Detail<'f> {
    /// Nothing more.
    None,
    /// A type.
    Types {
        /// The types that there may be.
        expected: &'f [JsonType],
        /// The type that there is.
        got: JsonType,
    },
    /// A value that is not allowed.
    Values {
        /// The allowed ones; empty if they are not known.
        allowed: Vec<&'f str>,
        /// The value, shortened.
        got: String,
    },
    /// A name.
    Value {
        /// The name, shortened.
        got: String,
    },
    /// A limit.
    Limit {
        /// The least that there may be.
        min: Option<String>,
        /// The most.
        max: Option<String>,
        /// The value, shortened.
        got: String,
        /// Whether it is less than the least.
        is_low: bool,
    },
    /// A text that does not match.
    Pattern {
        /// The expression.
        pattern: &'f str,
        /// The text, shortened.
        got: String,
    },
    /// Something else in the request.
    Other {
        /// Its key, or its JSON Pointer.
        key: &'f str,
        /// The values that it must or must not have.
        values: Vec<&'f str>,
    },
    /// One of several keys.
    Union {
        /// The keys.
        of: Vec<&'f str>,
        /// How many of them there are.
        count: usize,
    },
}

/// What a key asks of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Condition {
    /// It must be there.
    Needs,
    /// It may not be there.
    Excludes,
    /// It must have one of some values.
    OnlyIf,
    /// It may not have one of some values.
    NotIf,
    /// It must be greater.
    LessThan,
    /// The element before may not have it.
    NotAfter,
}

/// A step from the root of a request to a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PathStep {
    Key(Box<str>),
    Index(u32),
    Entry(Box<str>, u32),
    Variant(Box<str>),
}

impl PathStep {
    pub(super) fn of(step: &Step<'_>, document: &Document<'_>) -> Self {
        match step {
            Step::Key(key) => Self::Key((*key).into()),
            Step::Index(index) => Self::Index(*index),
            Step::Entry(entry, index) => {
                let key = document.value(*entry).key_text().unwrap_or_default();
                Self::Entry(crate::text::kept(&key).into(), *index)
            }
            Step::Variant(tag) => Self::Variant((*tag).into()),
        }
    }
}

/// What an API answers to a request with a fault.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Answer {
    /// The HTTP status.
    pub status: Option<u16>,
    /// The text, if it is known.
    pub text: Option<String>,
    /// How well it is known.
    pub grounds: EvidenceSummary,
    /// What harm it does if the API accepts it: then there is no answer.
    pub harm: Option<Text>,
}

impl Answer {
    /// To a key that is ignored, so that it has no effect.
    pub fn ignored() -> Self {
        let grounds = EvidenceSummary { evidence: Evidence::Specified, doubt: None, source: None };
        Self { status: None, text: None, grounds, harm: Some(IGNORED.into()) }
    }
}

/// Why what only the documents say is not an error for an API that may not enforce them.
const UNSEEN: &str = "documented, but no refusal has been reported";

/// What harm a key does that is ignored.
const IGNORED: &str = "it has no effect under this name";

impl<'f> ShapeFault<'f> {
    /// The name of the object that has the key, or lacks it, as shape files have it.
    pub fn object(&self) -> &'f str {
        &self.object.name
    }

    /// What the object is in every API, if it is one of these.
    pub fn object_kind(&self) -> Option<Kind> {
        self.above.last().and_then(|(_, kind)| *kind).or(self.object.kind)
    }

    /// The key of the object, and whether the object is an element of the list under this key.
    pub fn parent_key(&self) -> (Option<&str>, bool) {
        let steps = self.path[..self.path.len() - self.own_steps].iter().rev();
        let mut steps = steps.filter(|step| !matches!(step, PathStep::Variant(_)));
        match (steps.next(), steps.next()) {
            (Some(PathStep::Key(key) | PathStep::Entry(key, _)), _) => (Some(key), false),
            (Some(PathStep::Index(_)), Some(PathStep::Key(key))) => (Some(key), true),
            _ => (None, false),
        }
    }

    /// The path to it, without the numbers of elements: the same for the same fault in several elements.
    pub fn pattern(&self) -> String {
        let mut pattern = String::new();
        for step in &self.path {
            match step {
                PathStep::Key(key) | PathStep::Entry(key, _) | PathStep::Variant(key) => {
                    pattern.push('/');
                    pattern.push_str(key);
                }
                PathStep::Index(_) => pattern.push_str("/*"),
            }
        }
        pattern
    }

    /// The nearest element of an array that it is in: a call, a content block, a tool.
    pub fn element_node(&self) -> NodeId {
        self.element
    }

    /// What to call the object if the key that it is under does not name it.
    pub fn noun(&self) -> Option<&'f str> {
        self.object.noun.as_deref()
    }

    /// What to call each element, or the value of each member, of what the key has.
    pub fn part_noun(&self) -> Option<&'f str> {
        let field = self.field?;
        self.shape.objects[field.items.or(field.entries)?].noun.as_deref()
    }

    /// Whether the object is the value of one of many members.
    pub fn is_entry(&self) -> bool {
        let steps = self.path[..self.path.len() - self.own_steps].iter().rev();
        let mut steps = steps.filter(|step| !matches!(step, PathStep::Variant(_)));
        matches!(steps.next(), Some(PathStep::Entry(..)))
    }

    /// Whether the key that it is about takes a value of this type.
    pub fn takes(&self, value: Value<'_, '_>) -> bool {
        self.field.is_some_and(|field| field.mask & bit(type_of(value)) != 0)
    }

    /// Whether a value of this type is what is expected instead, if it is a fault of the type.
    pub fn expects(&self, value: Value<'_, '_>) -> bool {
        let got = bit(type_of(value));
        matches!(self.detail, Detail::Types { expected, .. } if expected.iter().any(|of| bit(*of) & got != 0))
    }

    /// Whether nothing is wrong without the value: an entry of an object, or a key that is never needed. It is not so of an
    /// element of an array.
    pub fn may_be_missing(&self) -> bool {
        let is_needed = self.field.is_none_or(|field| !field.required.is_empty());
        self.key.ends_with("{}") || !self.key.ends_with("[]") && !is_needed
    }

    /// The object of the request that has this key, if only one has.
    pub fn elsewhere(&self) -> Option<&'f str> {
        let is_unknown = self.kind == ShapeFaultKind::Unknown;
        let object = self.shape.only_object_with(&self.key).filter(|_| is_unknown)?;
        // A setting of a request is no part of a message.
        let mut bases = std::iter::successors(Some(object), |object| self.shape.base(object));
        let is_of_message =
            |object: &Object| matches!(object.kind, Some(Kind::Message | Kind::Content | Kind::ToolCall));
        (!(self.is_of_request() && bases.any(is_of_message))).then_some(&*object.name)
    }

    /// Where it is: the value, the key of a value that may not be there, or the object that lacks a key.
    pub fn place(&self, document: &Document<'_>) -> Place {
        match (self.value, self.kind) {
            (Some(value), ShapeFaultKind::Unknown | ShapeFaultKind::Conflict) => {
                Place::of_key(document.value(value))
            }
            (Some(value), _) => Place::of(document.value(value)),
            (None, _) => Place::of(document.value(self.parent)),
        }
    }

    /// The node of the value, or of the object that lacks it.
    pub fn node(&self) -> NodeId {
        self.value.unwrap_or(self.parent)
    }

    /// The node of the object.
    pub fn object_node(&self) -> NodeId {
        self.parent
    }

    /// The rule that the shape names for it.
    pub fn rule(&self) -> Option<RuleId> {
        let of_fact = self.fact.and_then(|fact| fact.constraint.rule);
        let of_value =
            !matches!(self.kind, ShapeFaultKind::Missing | ShapeFaultKind::Unknown | ShapeFaultKind::Type);
        let of_field = self.field.and_then(|field| field.rule).filter(|_| of_value);
        of_fact.or(of_field).or(self.rule)
    }

    /// The rules that report it in more words if they report anything in an object: in the call, the block or the tool that
    /// it is in.
    pub fn checked_by(&self) -> impl Iterator<Item = (NodeId, RuleId)> {
        let own = self.field.map(|field| (self.element, field));
        Self::rules(own)
    }

    /// The rules that check a field around it: they may report the same if what they point at holds it.
    pub fn checked_around_by(&self) -> impl Iterator<Item = (NodeId, RuleId)> {
        Self::rules(self.around)
    }

    fn rules(of: Option<(NodeId, &'f Field)>) -> impl Iterator<Item = (NodeId, RuleId)> {
        let rules = of.map(|(element, field)| field.checked_by.iter().map(move |rule| (element, *rule)));
        rules.into_iter().flatten()
    }

    /// The rules that check keys which need not be there if this one is, as the content of a message with calls.
    pub fn checked_in_place_by(&self) -> impl Iterator<Item = RuleId> {
        let number = self.object.numbers.get(&self.key);
        let fields = self.object.fields.iter().filter(move |field| {
            let mut required = field.required.iter();
            required.any(|required| number.is_some_and(|number| required.unless.contains(&number)))
        });
        fields.flat_map(|field| field.checked_by.iter().copied())
    }

    /// Whether the key holds objects.
    pub fn holds_objects(&self) -> bool {
        self.field.is_some_and(|field| field.items.or(field.object).is_some())
    }

    /// The key of the object that a rule checks.
    pub fn key_checked_by(&self, rule: RuleId) -> Option<&'f str> {
        let is_checked = |field: &&Field| field.checked_by.contains(&rule);
        self.object.fields.iter().find(is_checked).map(|field| &*field.key)
    }

    /// The objects that it is in, from the outermost.
    pub fn objects(&self) -> impl Iterator<Item = NodeId> {
        self.above.iter().map(|(node, _)| *node)
    }

    /// The field that decides which object it is, or which variant of another.
    pub(super) fn by(&self) -> Option<&'f Discriminator> {
        self.object.by.as_ref().or_else(|| self.shape.base(self.object)?.by.as_ref())
    }

    /// Whether the key decides which object it is: a content block's `type`.
    pub fn is_of_type(&self) -> bool {
        self.object.by.as_ref().is_some_and(|by| *by.key == *self.key)
    }

    /// Whether it is about the request as a whole.
    pub fn is_of_request(&self) -> bool {
        self.above.len() == 1 && &*self.object.name == "request"
    }

    /// The name of the tool that it is in, or of whatever else has a name.
    pub fn name<'s>(&self, document: &'s Document<'_>) -> Option<Cow<'s, str>> {
        document.value(self.name?).as_str()
    }

    /// The only value that the key may have, as JSON, if there is only one.
    pub(crate) fn only_value(&self) -> Option<String> {
        self.field?.checks.iter().find_map(|check| match &check.what {
            CheckKind::Values { values, .. } if values.len() == 1 && check.fact.is_none() => {
                let only = &values[0];
                Some(if only.is_string {
                    format!("\"{}\"", only.text)
                } else {
                    only.text.as_str().to_owned()
                })
            }
            _ => None,
        })
    }

    /// Whether the key has one value only, which says what the object is.
    pub(super) fn is_of_constant(&self) -> bool {
        self.field.is_some_and(|field| !field.required.is_empty()) && self.only_value().is_some()
    }

    /// Whether the key is known, but not allowed here or for this model.
    pub fn is_of_known_key(&self) -> bool {
        let is_meant = self.object.instead.contains_key(&*self.key);
        self.fact.is_some() && !is_meant || self.field.is_some_and(|field| field.is_known)
    }

    /// The keys that the object may have, at least for some models.
    pub(crate) fn known_keys(&self) -> impl Iterator<Item = &'f str> {
        let is_allowed = |field: &&Field| field.is_known && !field.is_never_allowed;
        self.object.fields.iter().filter(is_allowed).map(|field| &*field.key)
    }

    /// The key of the object of whose keys a list names all; `None` if it names only some.
    pub fn lists_all(&self) -> Option<&'f str> {
        match self.check? {
            CheckKind::ListsAll(key) => Some(key),
            _ => None,
        }
    }

    /// The pointer to the values of which it has to be one.
    pub fn among(&self) -> Option<&'f str> {
        match self.check? {
            CheckKind::Among(pointer) => Some(pointer),
            _ => None,
        }
    }

    /// What a conflict is about.
    pub fn condition(&self) -> Option<Condition> {
        Some(match self.check? {
            CheckKind::Needs(_) => Condition::Needs,
            CheckKind::Excludes(_) => Condition::Excludes,
            CheckKind::OnlyIf(..) => Condition::OnlyIf,
            CheckKind::NotIf(..) => Condition::NotIf,
            CheckKind::LessThan(_) => Condition::LessThan,
            CheckKind::NotAfter(_) => Condition::NotAfter,
            _ => return None,
        })
    }

    /// The keys that may not be beside the key.
    pub fn excluded(&self) -> &'f [Text] {
        match self.check {
            Some(CheckKind::Excludes(keys)) => keys,
            _ => &[],
        }
    }

    /// Whether it is that a key is not there.
    pub fn lacks_key(&self) -> bool {
        match self.kind {
            ShapeFaultKind::Missing => true,
            // A list that would have to name all keys of an object.
            ShapeFaultKind::Names => self.value.is_none(),
            _ => false,
        }
    }

    /// What to do, if the data say it.
    pub fn help(&self, shape: &'f Shape, model: Option<&str>) -> Option<&'f str> {
        self.evidence(shape, model)?.help.as_deref()
    }

    /// What was seen of it.
    pub(super) fn evidence(&self, shape: &'f Shape, model: Option<&str>) -> Option<&'f FactTable> {
        let unmet = |number| self.unmet.contains(&number);
        self.fact.or_else(|| self.of(shape.facts(), &self.object.evidence, model, unmet))
    }

    /// The fact about it, one for a model before one for all.
    fn of<'t>(
        &self,
        facts: &'t [Fact],
        of_object: &[usize],
        model: Option<&str>,
        unmet: impl Fn(usize) -> bool,
    ) -> Option<&'t FactTable> {
        let key = (!self.key.is_empty()).then_some(&*self.key);
        let fits = of_object.iter().map(|number| (*number, &**facts[*number])).filter(|(number, fact)| {
            fact.fault == self.kind
                && !unmet(*number)
                && self.has_type(None, fact.got.as_deref())
                && (fact.is_about(key) || self.kind == ShapeFaultKind::Unknown && fact.is_about(None))
                && fact.fits(|pattern| model.is_some_and(|model| pattern.is_match(model)))
        });
        let best = fits.max_by_key(|(number, fact)| {
            let nearest = self.object.names.iter().position(|name| **name == *fact.object);
            (fact.is_about(key), fact.model.is_some(), std::cmp::Reverse(nearest), std::cmp::Reverse(*number))
        });
        best.map(|(_, fact)| fact)
    }

    /// Whether the API is known to refuse it.
    pub fn is_refused(&self, shape: &'f Shape, model: Option<&str>) -> bool {
        if self.is_ignored() {
            return false;
        }
        let unmet = |of: usize| self.unmet.contains(&!of);
        let accepted = self.of(&shape.enforced.accepted, &self.object.accepted, model, unmet);
        // What this API was seen to refuse counts more than what the one that it imitates accepts.
        let is_own = || self.evidence(shape, model).is_some_and(|fact| !fact.is_inherited);
        accepted.is_none_or(|accepted| accepted.is_inherited && is_own())
            && (shape.unseen() != UnverifiedLevel::Nothing
                || self.evidence(shape, model).is_some()
                || self.is_unreadable())
    }

    /// Whether nobody can tell what is meant, so that it counts even where an API is known to take what its documents do not
    /// allow: an element of the messages that is no object, and a call or a tool without a name.
    fn is_unreadable(&self) -> bool {
        self.field.is_some_and(|field| match self.kind {
            ShapeFaultKind::Type => field.items == Some(self.shape.message),
            ShapeFaultKind::Missing => field.checked_by.contains(&RuleId::InvalidToolName),
            _ => false,
        })
    }

    /// Whether objects of a kind would be there without it: under the key that was meant, or in the place of what is not
    /// there or holds nothing.
    pub fn hides(&self, document: &Document<'_>, kind: Kind) -> bool {
        let objects = &self.shape.objects;
        let is_it =
            |number: usize| objects.outline_of(number).is_ok_and(|outline| outline.kind == Some(kind));
        let leads_to = |number: usize| {
            is_it(number) || objects.outline_of(number).is_ok_and(|outline| outline.below().any(is_it))
        };
        let holds_nothing = || self.value.is_none_or(|node| document.value(node).children().next().is_none());
        let field = match self.kind {
            ShapeFaultKind::Unknown => self.meant(document).and_then(|key| self.object.field(key)),
            ShapeFaultKind::Missing | ShapeFaultKind::Type => self.field.filter(|_| holds_nothing()),
            _ => None,
        };
        field.and_then(|field| field.items.or(field.object)).is_some_and(leads_to)
    }

    /// The key that an unknown one was meant to be.
    pub fn meant(&self, document: &Document<'_>) -> Option<&str> {
        let is_there = |key: &str| document.value(self.parent).get(key).is_some();
        if self.kind != ShapeFaultKind::Unknown || self.is_of_known_key() {
            return None;
        }
        self.near_keys(document).find(|known| !is_there(known))
    }

    /// Whether it is a key that has no effect, and was meant to be another.
    pub fn is_ignored(&self) -> bool {
        let is_known = self.fact.is_some() || self.field.is_some_and(|field| field.is_known);
        self.kind == ShapeFaultKind::Unknown && !self.object.is_closed && !is_known
    }

    /// What the API answers to a fault that it refuses.
    pub fn answer(&self, shape: &'f Shape, document: &Document<'_>, model: Option<&str>) -> Answer {
        let fact = self.evidence(shape, model);
        let grounds = match (fact, shape.unseen()) {
            (Some(fact), _) => fact.grounds(),
            (None, unseen) => EvidenceSummary {
                evidence: Evidence::Specified,
                doubt: (unseen != UnverifiedLevel::Error).then(|| UNSEEN.into()),
                source: first_source(&shape.file.sources),
            },
        };
        let ignored = self.is_ignored().then(|| IGNORED.into());
        if let Some(harm) = fact.and_then(|fact| fact.harm.clone()).or(ignored) {
            return Answer { status: None, text: None, grounds, harm: Some(harm) };
        }
        let words = ErrorText { fault: self, shape, document, model };
        let filled = |template: &'f TextTable| Some((template.status, words.fill(&template.text)?));
        // A text that names what is not known here, such as the greatest of what is too small, is for another case.
        let template = self.templates(shape).find_map(filled);
        let own = fact.and_then(|fact| fact.text.as_deref());
        let status = fact.and_then(|fact| fact.status);
        let status =
            status.or_else(|| template.as_ref().and_then(|(status, _)| *status)).or(shape.enforced.status);
        let text = match own {
            Some("") => None,
            Some(own) => words.fill(own),
            None => template.map(|(_, text)| text),
        };
        Answer { status, text, grounds, harm: None }
    }

    /// The API's texts for faults of this kind, those for a type first.
    fn templates(&self, shape: &'f Shape) -> impl Iterator<Item = &'f TextTable> {
        let mut fits: Vec<&'f TextTable> = shape
            .enforced
            .texts
            .iter()
            .filter(|text| {
                text.fault == self.kind && self.has_type(text.r#type.as_deref(), text.got.as_deref())
            })
            .collect();
        toolcheck_json::sort_by_position(&mut fits, |text| {
            usize::from(text.r#type.is_none()) + usize::from(text.got.is_none())
        });
        fits.into_iter()
    }

    /// Whether what is expected and what there is are of these types.
    fn has_type(&self, expected: Option<&str>, got: Option<&str>) -> bool {
        match &self.detail {
            Detail::Types { expected: own, got: own_got } => {
                expected.is_none_or(|expected| own.last().is_some_and(|own| own.name() == expected))
                    && got.is_none_or(|got| own_got.name() == got)
            }
            _ => expected.is_none() && got.is_none(),
        }
    }
}
