//! Checks a request against a shape, in one walk.

use std::borrow::Cow;

use foldhash::{HashMap, HashSet};
use toolcheck_json::{Kind as JsonKind, NodeId, Value};

use super::cache::{Unique, ValidObjectCache};
use super::compile::{Discriminator, Field, FieldSet, Object, bit};
use super::conditions::leave_out_unreferenced;
use super::fault::{Detail, ShapeFault};
use super::problem::{Cause, Problem};
use super::similar_faults::Alike;
use super::tables::{JsonType, Kind, ShapeFaultKind, ToolSchemaTable};
use super::value::{bit_of, short, type_of};
use super::{ModelFacts, Shape, is_near, other_formats};
use crate::rule_id::RuleId;

/// The deepest object that is looked at. Only schemas are so deep.
const DEEPEST: usize = 64;

/// The most fields that decide together which object a value is.
const MOST_DECISIONS: usize = 4;

/// The most unknown keys of an object that are reported. A fault takes thousands of bytes, and an object may have millions
/// of keys.
const MOST_UNKNOWN: usize = 10_000;

/// The most keys of a request that are looked at for whether they were meant to be others.
const MOST_MISSPELT: usize = 256;

/// The length of keys that say too little to be told from others.
const SHORT: usize = 4;

/// The most keys of an object that are looked at to tell what it is.
pub(super) const MOST_KEYS: usize = 64;

/// A step from the root of a request to a value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step<'f> {
    /// To the value of a field.
    Key(&'f str),
    /// To an element of an array.
    Index(u32),
    /// To the value of one of many members, which has a number among them.
    Entry(NodeId, u32),
    /// To the variant that an object is. It is the same value.
    Variant(&'f str),
}

/// A walk over a request.
pub(super) struct Checker<'f, 'd, 's> {
    pub(super) shape: &'f Shape,
    pub(super) facts: ModelFacts,
    /// The body, if it is known.
    pub(super) root: Option<Value<'d, 's>>,
    pub(super) path: Vec<Step<'f>>,
    /// The element before the one that is looked at next.
    pub(super) before: Option<Value<'d, 's>>,
    /// The objects on the way.
    pub(super) above: Vec<Above<'d, 's>>,
    /// Whether keys of the request as a whole may be missing.
    is_whole: bool,
    pub(super) faults: Vec<ShapeFault<'f>>,
    /// Those that are not held one by one.
    alike: Alike,
    /// The values of fields that must be unique.
    pub(super) unique: HashSet<Unique>,
    /// The same in the order in which they were found.
    pub(super) found_unique: Vec<Unique>,
    /// What wide objects have under a key.
    pub(super) beside: HashMap<(NodeId, &'f str), Option<NodeId>>,
    pub(super) pointed: HashMap<&'f str, Option<NodeId>>,
    /// The strings that a pointer leads to.
    pub(super) listed: HashMap<&'f str, Option<HashSet<Cow<'s, str>>>>,
    /// The objects so far that had no faults.
    kept: ValidObjectCache,
    /// Whether nothing but the object itself has decided whether it has faults.
    is_alone: bool,
    /// The name that an object has, if it has one.
    pub(super) names: HashMap<NodeId, Option<NodeId>>,
    /// How many keys were looked at for whether they were meant to be others.
    misspelt: usize,
}

/// An object on the way to what is looked at.
#[derive(Clone, Copy)]
pub(super) struct Above<'d, 's> {
    pub(super) value: Value<'d, 's>,
    pub(super) kind: Option<Kind>,
    pub(super) is_element: bool,
    pub(super) before: Option<Value<'d, 's>>,
}

/// An object with its number.
type Numbered<'f> = (usize, &'f Object);

/// What holds for the object that is looked at.
#[derive(Clone, Copy, Default)]
pub(super) struct Scope<'f> {
    /// The rule that reports what is wrong in it.
    pub(super) rule: Option<RuleId>,
    /// Where on the path it starts: what is below counts as a part of it.
    pub(super) start: usize,
    /// The field around it that other rules check too, and the element of an array that has the field.
    pub(super) around: Option<(NodeId, &'f Field)>,
}

impl<'f, 'd, 's> Checker<'f, 'd, 's> {
    pub(super) fn new(
        shape: &'f Shape,
        facts: ModelFacts,
        root: Option<Value<'d, 's>>,
        is_whole: bool,
    ) -> Self {
        // One object by itself is checked for each format that it may be written for.
        let depth = if root.is_some() { 16 } else { 0 };
        Self {
            shape,
            facts,
            root,
            path: Vec::with_capacity(depth),
            before: None,
            above: Vec::with_capacity(depth),
            is_whole,
            faults: Vec::new(),
            alike: Alike::default(),
            unique: HashSet::default(),
            found_unique: Vec::new(),
            beside: HashMap::default(),
            pointed: HashMap::default(),
            listed: HashMap::default(),
            kept: ValidObjectCache::default(),
            is_alone: true,
            names: HashMap::default(),
            misspelt: 0,
        }
    }

    /// Checks a body.
    pub(super) fn request(&mut self, value: Value<'d, 's>) {
        self.kept = self.facts.take_kept();
        self.object(value, self.shape.request, Scope::default());
    }

    /// Reports that a body lacks a key, unless that is known.
    pub(super) fn lacks(&mut self, body: Value<'d, 's>, key: &str) {
        let object = &self.shape.objects[self.shape.request];
        let is_known = |fault: &ShapeFault<'f>| fault.parent == body.id() && fault.key == key;
        if let Some(field) = object.field(key).filter(|_| !self.faults.iter().any(is_known)) {
            let problem = Problem::of(ShapeFaultKind::Missing, Cause::default());
            self.above.push(Above { value: body, kind: object.kind, is_element: false, before: None });
            self.report(object, &field.key, None, problem, Scope::default());
            self.above.pop();
        }
    }

    /// Checks a list of messages by itself.
    pub(super) fn messages(&mut self, list: Value<'d, 's>) {
        self.kept = self.facts.take_kept();
        // Errors of the API name the place that it has in a request.
        let shape = self.shape;
        let mut fields = shape.objects[shape.request].fields.iter();
        let key =
            fields.find(|field| field.items == Some(shape.message)).map_or("messages", |field| &*field.key);
        for (index, message) in list.elements().enumerate().filter(|(_, message)| message.is_object()) {
            self.path.push(Step::Key(key));
            self.path.push(Step::Index(index as u32));
            self.object(message, self.shape.message, Scope::default());
            self.path.clear();
        }
    }

    /// Checks the schema of a tool that is in no request, as if it stood where a request has it.
    pub(super) fn schema_of_tool(
        &mut self,
        (index, tool): (usize, Value<'d, 's>),
        schema: Value<'d, 's>,
        (table, number): (&'f ToolSchemaTable, usize),
    ) {
        self.path.extend([Step::Key("tools"), Step::Index(index as u32)]);
        self.path.extend(table.tag.as_deref().map(Step::Variant));
        self.path.extend(table.path.iter().map(|key| Step::Key(key)));
        for (value, kind) in [(tool.document().root(), Kind::Request), (tool, Kind::Tool)] {
            let is_element = kind == Kind::Tool;
            self.above.push(Above { value, kind: Some(kind), is_element, before: None });
        }
        self.object(schema, number, Scope::default());
        self.above.clear();
        self.path.clear();
    }

    /// The faults that were found.
    pub(super) fn end(mut self) -> Vec<ShapeFault<'f>> {
        self.facts.keep(self.kept);
        leave_out_unreferenced(&mut self.faults);
        self.alike.add_to(&mut self.faults);
        self.faults
    }

    /// Checks an object by itself, and returns which of its variants it is.
    pub(super) fn alone(&mut self, value: Value<'d, 's>, number: usize) -> Option<&'f Object> {
        let variant = self.variant_alone(value, number)?;
        self.members_alone(value, variant);
        Some(&self.shape.objects[variant])
    }

    /// The number of the variant that an object by itself is.
    pub(super) fn variant_alone(&mut self, value: Value<'d, 's>, number: usize) -> Option<usize> {
        self.above.push(Above { value, kind: None, is_element: true, before: None });
        let object = &self.shape.objects[number];
        self.variant(value, (number, object), Scope::default()).map(|(number, _)| number)
    }

    pub(super) fn members_alone(&mut self, value: Value<'d, 's>, variant: usize) {
        self.members(value, (variant, &self.shape.objects[variant]), Scope::default());
        self.above.clear();
    }

    /// The object of the shape that a value is, after all that decides it. `None` if that is not known, and a fault says why.
    fn variant(
        &mut self,
        value: Value<'d, 's>,
        mut is: Numbered<'f>,
        within: Scope<'f>,
    ) -> Option<Numbered<'f>> {
        // Each field decides once.
        let mut decided = [""; MOST_DECISIONS];
        for turn in 0..MOST_DECISIONS {
            let (_, object) = is;
            let Some(by) = &object.by else { break };
            if decided[..turn].contains(&&*by.key) {
                break;
            }
            decided[turn] = &by.key;
            let chosen = value.get(&by.key);
            let takes_null = by.mask & bit(JsonType::Null) != 0;
            if chosen.is_some_and(Value::is_null) && !self.shape.null_is_absent && !takes_null {
                break;
            }
            let value = match chosen.filter(|chosen| !chosen.is_null()) {
                None => None,
                // Of another type: the field itself says so.
                Some(chosen) if by.mask & bit_of(chosen) == 0 || !is_scalar(chosen) => break,
                Some(chosen) => match by.variant(chosen) {
                    Some(value) => Some(value),
                    None if by.is_open => break,
                    None => {
                        self.no_variant(object, by, chosen, within);
                        return None;
                    }
                },
            };
            let next = match value {
                Some(value) => by.values.get(usize::from(value)),
                None => by.otherwise.as_ref(),
            };
            let Some((text, next)) = next else { break };
            if !by.is_untagged {
                self.path.push(Step::Variant(text));
            }
            is = (*next, &self.shape.objects[*next]);
        }
        Some(is)
    }

    /// The value that decides what an object is, and is none of those that are known.
    #[cold]
    #[inline(never)]
    fn no_variant(
        &mut self,
        object: &'f Object,
        by: &'f Discriminator,
        chosen: Value<'d, 's>,
        within: Scope<'f>,
    ) {
        let allowed = by.values.iter().map(|(value, _)| &**value).collect();
        let detail = Detail::Values { allowed, got: short(chosen) };
        let problem = Problem { kind: ShapeFaultKind::Value, detail, cause: Cause::default() };
        self.report(object, &by.key, Some(chosen), problem, within);
    }

    fn object(&mut self, value: Value<'d, 's>, number: usize, within: Scope<'f>) {
        let object = &self.shape.objects[number];
        let outer = object.has_own_model.then(|| self.change_model(value));
        self.object_of_model(value, (number, object), within);
        if let Some(outer) = outer {
            self.change_back(*outer);
        }
    }

    /// Goes on with the facts of the model that an object names, and returns those of the model before.
    #[cold]
    #[inline(never)]
    fn change_model(&mut self, value: Value<'d, 's>) -> Box<(ModelFacts, ValidObjectCache)> {
        let own = self.shape.facts_for(value.get_str("model").as_deref());
        let kept = std::mem::replace(&mut self.kept, own.take_kept());
        Box::new((std::mem::replace(&mut self.facts, own), kept))
    }

    #[cold]
    #[inline(never)]
    fn change_back(&mut self, (facts, kept): (ModelFacts, ValidObjectCache)) {
        let own = std::mem::replace(&mut self.facts, facts);
        own.keep(std::mem::replace(&mut self.kept, kept));
    }

    fn object_of_model(&mut self, value: Value<'d, 's>, (number, object): Numbered<'f>, within: Scope<'f>) {
        if self.above.len() >= DEEPEST {
            self.looks_around();
            return;
        }
        let kind = object.kind;
        let key = self.kept.of(kind).and_then(|texts| texts.key(value, number));
        if let Some(key) = key
            && let Some(unique) = self.kept.of(kind).and_then(|texts| texts.find(key, value, number))
            && unique.iter().all(|unique| !self.unique.contains(unique))
        {
            self.unique.extend(unique.iter().cloned());
            self.found_unique.extend_from_slice(unique);
            self.before = None;
            return;
        }
        let first_unique = self.found_unique.len();
        let is_alone = std::mem::replace(&mut self.is_alone, true);
        let depth = self.path.len();
        let is_element = matches!(self.path.last(), Some(Step::Index(_)));
        let before = self.before.take().filter(|_| is_element);
        self.above.push(Above { value, kind, is_element, before });
        let first = self.faults.len();
        let is = (number, object);
        if let Some(variant) = if object.by.is_none() { Some(is) } else { self.variant(value, is, within) } {
            self.members(value, variant, within);
        }
        if self.faults.len() > first {
            self.alike.leave_out(&mut self.faults, first, value.id());
            // The faults that are left out are faults too.
            self.is_alone = false;
        } else if let Some((key, texts)) = key.filter(|_| self.is_alone).zip(self.kept.of(kind)) {
            texts.keep(key, value, number, &self.found_unique[first_unique..]);
        }
        self.is_alone &= is_alone;
        self.above.pop();
        self.path.truncate(depth);
    }

    /// Notes that more than the object itself decides whether it has faults.
    pub(super) fn looks_around(&mut self) {
        self.is_alone = false;
    }

    fn inside(&self, object: &'f Object, within: Scope<'f>) -> Scope<'f> {
        match (object.rule, within.rule) {
            (Some(rule), None) => Scope { rule: Some(rule), start: self.path.len(), ..within },
            _ => within,
        }
    }

    /// Checks the members of an object.
    fn members(&mut self, value: Value<'d, 's>, (number, object): Numbered<'f>, within: Scope<'f>) {
        let shape = self.shape;
        let within = self.inside(object, within);
        let is_request = number == shape.request;
        let first = self.faults.len();
        let mut seen = FieldSet::default();
        let (mut unknown, mut ignored) = (0, Vec::new());
        let last = value.may_repeat_keys().then(|| last_of_keys(object, value));
        for member in value.members() {
            let Some(known) = object.number_of(member) else {
                if object.is_closed && (!is_request || self.is_whole) && unknown < MOST_UNKNOWN {
                    unknown += 1;
                    self.unknown(object, member, within);
                } else if ignored.len() < MOST_KEYS {
                    ignored.push(member);
                }
                continue;
            };
            // Of two values of one key, the last is read.
            if last.as_ref().is_some_and(|last| last.get(&known).is_some_and(|last| *last != member.id())) {
                continue;
            }
            let got = bit_of(member);
            if shape.null_is_absent && got == bit(JsonType::Null) {
                continue;
            }
            seen.insert(known);
            if object.free[usize::from(known)] & got != 0 {
                continue;
            }
            let field = &object.fields[usize::from(known)];
            if field.asks_nothing_of(member) {
                continue;
            }
            let mut forbids = field.absent.iter().copied();
            let forbids = forbids.find(|fact| self.holds(*fact, value));
            if forbids.is_some() || !field.is_known && object.is_closed && (!is_request || self.is_whole) {
                let problem = Problem::of(ShapeFaultKind::Unknown, Cause::of(forbids));
                self.report(object, &field.key, Some(member), problem, within);
            } else {
                self.path.push(Step::Key(&field.key));
                self.field(object, (number, known), field, value, member, within);
                self.path.pop();
            }
        }
        // Whoever compares one object, or a key that may be meant, wants to hear of all that is missing.
        let wants_all = self.root.is_none() || !ignored.is_empty();
        let has_union = object.exactly_one.is_some() || object.at_least_one.is_some();
        if wants_all || has_union || !seen.has_all(&object.needed) {
            self.missing(object, number, value, seen, within);
        }
        for member in ignored {
            if self.is_misspelt((number, object), value, member, (is_request, first)) {
                self.unknown(object, member, within);
            }
        }
        if self.faults.len() > first {
            self.settle(value, first);
        }
    }

    /// Leaves of the faults of an object those that are not only what follows from another.
    #[cold]
    #[inline(never)]
    fn settle(&mut self, value: Value<'d, 's>, first: usize) {
        let node = value.id();
        let own = |fault: &ShapeFault<'f>| fault.parent == node;
        // It is an object of another kind, or of two: the rest describes the wrong one.
        let cause = self.faults[first..].iter().position(|fault| {
            own(fault)
                && (fault.kind == ShapeFaultKind::Value && fault.is_of_constant()
                    || matches!(fault.detail, Detail::Union { count: 2.., .. }))
        });
        if let Some(cause) = cause {
            let cause = self.faults.swap_remove(first + cause);
            self.faults.truncate(first);
            self.faults.push(cause);
        }
        // The key of a kind that is not known is there in place of one that is.
        let has_unknown =
            || self.faults[first..].iter().any(|fault| own(fault) && fault.kind == ShapeFaultKind::Unknown);
        if matches!(self.faults.last(), Some(fault) if own(fault) && fault.kind == ShapeFaultKind::None)
            && has_unknown()
        {
            self.faults.pop();
        }
    }

    /// Whether a key that is ignored was meant to be one that the object may have, and whose lack is no fault: nobody else
    /// has it. The first `first` faults are of other objects.
    #[cold]
    #[inline(never)]
    fn is_misspelt(
        &mut self,
        (number, object): Numbered<'_>,
        value: Value<'d, 's>,
        member: Value<'d, 's>,
        (is_request, first): (bool, usize),
    ) -> bool {
        let Some(key) = member.key_text() else { return false };
        // Calls and blocks under another key are known by what they are.
        let is_in_message = self.above.last().is_some_and(|above| above.kind == Some(Kind::Message));
        if is_in_message && member.is_array() {
            return false;
        }
        let is_like = |field: &Field| {
            field.is_known
                && field.key.len() > SHORT
                && field.key.len().abs_diff(key.len()) <= SHORT
                && is_near(&field.key, &key)
        };
        let is_like_any = || object.fields.iter().any(is_like);
        if !self.kept.other_keys.are_like(number, key.as_bytes(), is_like_any) {
            return false;
        }
        let is_reported = |fault: &ShapeFault<'f>| fault.parent == value.id() && fault.lacks_key();
        // The list of a request under the singular, such as its `tool`.
        let is_singular =
            |field: &Field| is_request && member.is_array() && field.key.strip_suffix('s') == Some(&*key);
        // What is of another type, or short, may be a key of somebody's own, such as `ids` beside no `id`.
        let is_meant = |field: &&Field| {
            field.mask & bit_of(member) != 0 && is_like(field) && value.get(&field.key).is_none()
        };
        object.fields.iter().find(is_meant).is_some_and(|field| {
            let mut missing = self.faults[first..].iter().filter(|fault| is_reported(fault));
            let is_reported = missing.any(|fault| fault.key == *field.key);
            self.misspelt += 1;
            // To look for a key in all files is dear.
            let is_own = || is_singular(field) || other_formats::knowing(&key) == 0;
            !is_reported && self.misspelt <= MOST_MISSPELT && is_own()
        })
    }

    /// A key that is none of the object's.
    #[cold]
    #[inline(never)]
    fn unknown(&mut self, object: &'f Object, member: Value<'d, 's>, within: Scope<'f>) {
        let key = Cow::Owned(member.key_text().unwrap_or_default().into_owned());
        let problem = Problem::of(ShapeFaultKind::Unknown, Cause::default());
        self.push(object, key, None, Some(member), problem, within);
    }

    /// The keys that an object lacks.
    fn missing(
        &mut self,
        object: &'f Object,
        number: usize,
        value: Value<'d, 's>,
        seen: FieldSet,
        within: Scope<'f>,
    ) {
        let is_there = |field: &u16| seen.contains(*field);
        if number != self.shape.request || self.is_whole {
            for number in object.required.iter().filter(|number| !is_there(number)) {
                let field = &object.fields[*number as usize];
                self.unlisted(object, field, value, within);
                let requirement = field.required.iter().find(|requirement| {
                    requirement.fact.is_none_or(|fact| self.holds(fact, value))
                        && !requirement.unless.iter().any(|other| {
                            is_there(other)
                                && value
                                    .get(&object.fields[*other as usize].key)
                                    .is_none_or(|other| !other.is_null())
                        })
                });
                if let Some(requirement) = requirement {
                    let fact = requirement.fact;
                    let problem = Problem::of(ShapeFaultKind::Missing, Cause::of(fact));
                    self.report(object, &field.key, None, problem, within);
                }
            }
        }
        let count = |of: &[u16]| of.iter().filter(|field| is_there(field)).count();
        if let Some(of) = object.exactly_one.as_deref().filter(|of| count(of) != 1) {
            self.union(object, of, count(of), within);
        } else if let Some(of) = object.at_least_one.as_deref().filter(|of| count(of) == 0) {
            self.union(object, of, 0, within);
        }
    }

    #[cold]
    #[inline(never)]
    fn union(&mut self, object: &'f Object, of: &[u16], count: usize, within: Scope<'f>) {
        let keys = of.iter().map(|field| &*object.fields[*field as usize].key).collect();
        let detail = Detail::Union { of: keys, count };
        let kind = if count == 0 { ShapeFaultKind::None } else { ShapeFaultKind::Union };
        let problem = Problem { kind, detail, cause: Cause::default() };
        self.push(object, "".into(), None, None, problem, within);
    }

    fn field(
        &mut self,
        object: &'f Object,
        number: (usize, u16),
        field: &'f Field,
        parent: Value<'d, 's>,
        value: Value<'d, 's>,
        within: Scope<'f>,
    ) {
        let got = type_of(value);
        if field.mask & bit(got) == 0 && value.kind() != JsonKind::Invalid {
            let detail = Detail::Types { expected: &field.types, got };
            self.at_path(
                object,
                field,
                value,
                Problem { kind: ShapeFaultKind::Type, detail, cause: Cause::default() },
                within,
            );
            return;
        }
        for check in &field.checks {
            if check.fact.is_some_and(|fact| !self.holds(fact, parent)) {
                continue;
            }
            if let Some(detail) = self.failed(check, number, parent, value, got) {
                self.at_path(
                    object,
                    field,
                    value,
                    Problem {
                        kind: check.what.fault(),
                        detail,
                        cause: Cause { fact: check.fact, check: Some(&check.what) },
                    },
                    within,
                );
                // What else is wrong with the value shows once this is fixed.
                return;
            }
        }
        let within = match self.above.last() {
            Some(above) if !field.checked_by.is_empty() && !got.is_scalar() => {
                Scope { around: Some((self.element().unwrap_or(above.value.id()), field)), ..within }
            }
            _ => within,
        };
        match value.kind() {
            JsonKind::Array => self.elements(object, field, value, within),
            JsonKind::Object => {
                if let Some(inner) = field.object {
                    self.object(value, inner, within);
                }
                // A log keeps whatever it likes among values that have no shape.
                if field.entries.is_some() || field.types_members() && self.is_whole {
                    let types = field.entries.map_or(&*field.item_types, |_| &[JsonType::Object]);
                    for (index, entry) in value.members().enumerate() {
                        self.path.push(Step::Entry(entry.id(), index as u32));
                        if let (true, Some(inner)) = (entry.is_object(), field.entries) {
                            self.object(entry, inner, within);
                        } else if entry.kind() != JsonKind::Invalid
                            && field.item_mask & bit(type_of(entry)) == 0
                        {
                            self.element_type(object, field, entry, types, "{}", within);
                        }
                        self.path.pop();
                    }
                }
            }
            _ => {}
        }
    }

    fn elements(&mut self, object: &'f Object, field: &'f Field, list: Value<'d, 's>, within: Scope<'f>) {
        if field.items.is_none() && field.item_types.is_empty() {
            return;
        }
        let mut before = None;
        for (index, element) in list.elements().enumerate() {
            self.path.push(Step::Index(index as u32));
            self.before = before.replace(element);
            if let (true, Some(inner)) = (element.is_object(), field.items) {
                self.object(element, inner, within);
            } else if element.kind() != JsonKind::Invalid && field.item_mask & bit(type_of(element)) == 0 {
                let expected: &[JsonType] =
                    if field.item_types.is_empty() { &[JsonType::Object] } else { &field.item_types };
                self.element_type(object, field, element, expected, "[]", within);
            }
            self.path.pop();
        }
    }
}

impl Discriminator {
    /// The number of the scalar that decides what an object is.
    fn variant(&self, chosen: Value<'_, '_>) -> Option<u16> {
        match chosen.as_json_str() {
            Some(text) if text.is_escaped() => self.variants.get(&text.decode()),
            Some(text) => self.variants.find(text.raw()),
            None => self.variants.find(chosen.raw()),
        }
    }
}

impl Object {
    /// The number of the field that a member is.
    #[allow(clippy::inline_always, reason = "every member of every object is looked at")]
    #[inline(always)]
    fn number_of(&self, member: Value<'_, '_>) -> Option<u16> {
        match member.plain_key() {
            Some(key) => self.numbers.find(key),
            None => member.key_text().and_then(|key| self.numbers.get(&key)),
        }
    }
}

/// The last value of each key of an object that may have one twice.
#[cold]
#[inline(never)]
fn last_of_keys(object: &Object, value: Value<'_, '_>) -> HashMap<u16, NodeId> {
    value.members().filter_map(|member| Some((object.number_of(member)?, member.id()))).collect()
}

/// Whether a value may decide what an object is.
fn is_scalar(value: Value<'_, '_>) -> bool {
    matches!(value.kind(), JsonKind::String | JsonKind::Bool | JsonKind::Number)
}
