//! Checks a request against a shape, in one walk.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};
use toolcheck_json::{Kind as JsonKind, NodeId, Value};

use super::compile::{Check, Field, Object, What, bit};
use super::fault::{Detail, Fault, PathStep};
use super::tables::{FaultKind, JsonType, Kind, Scalar};
use super::{ModelFacts, Shape};

/// The deepest object that is looked at. Only schemas are so deep.
const DEEPEST: usize = 64;

/// The most fields that decide together which object a value is.
const MOST_DECISIONS: usize = 4;

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
    shape: &'f Shape,
    facts: ModelFacts,
    /// The body, if it is known.
    root: Option<Value<'d, 's>>,
    path: Vec<Step<'f>>,
    /// The element before the one that is looked at next.
    before: Option<Value<'d, 's>>,
    /// The objects on the way.
    above: Vec<Above<'d, 's>>,
    /// Whether keys of the request as a whole may be missing.
    is_whole: bool,
    pub(super) faults: Vec<Fault<'f>>,
    /// The values of fields that must be unique.
    unique: FxHashSet<(usize, u16, String)>,
    /// What is at a pointer.
    pointed: FxHashMap<&'f str, Option<NodeId>>,
    /// The strings that a pointer leads to.
    listed: FxHashMap<&'f str, FxHashSet<Cow<'s, str>>>,
    /// The name that an object has, if it has one.
    names: FxHashMap<NodeId, Option<NodeId>>,
}

/// An object on the way to what is looked at.
#[derive(Clone, Copy)]
struct Above<'d, 's> {
    value: Value<'d, 's>,
    kind: Option<Kind>,
    /// Whether it is an element of an array.
    is_element: bool,
    /// The element before it.
    before: Option<Value<'d, 's>>,
}

/// What holds for the object that is looked at.
#[derive(Clone, Copy)]
struct Within<'f> {
    /// The rule that reports what is wrong in it.
    rule: Option<&'f str>,
    /// Where on the path it starts: what is below counts as a part of it.
    start: usize,
    /// The field around it that other rules check too, and the element of an array that has the field.
    around: Option<(NodeId, &'f Field)>,
}

impl<'f, 'd, 's> Checker<'f, 'd, 's> {
    pub(super) fn new(
        shape: &'f Shape,
        facts: ModelFacts,
        root: Option<Value<'d, 's>>,
        is_whole: bool,
    ) -> Self {
        Self {
            shape,
            facts,
            root,
            path: Vec::with_capacity(16),
            before: None,
            above: Vec::with_capacity(16),
            is_whole,
            faults: Vec::new(),
            unique: FxHashSet::default(),
            pointed: FxHashMap::default(),
            listed: FxHashMap::default(),
            names: FxHashMap::default(),
        }
    }

    /// Checks a body.
    pub(super) fn request(&mut self, value: Value<'d, 's>) {
        self.object(value, self.shape.request, Within { rule: None, start: 0, around: None });
    }

    /// Checks a list of messages by itself.
    pub(super) fn messages(&mut self, list: Value<'d, 's>) {
        for (index, message) in list.elements().enumerate().filter(|(_, message)| message.is_object()) {
            self.path.push(Step::Key("messages"));
            self.path.push(Step::Index(index as u32));
            self.object(message, self.shape.message, Within { rule: None, start: 0, around: None });
            self.path.clear();
        }
    }

    /// Checks an object by itself, and returns which of its variants it is.
    pub(super) fn alone(&mut self, value: Value<'d, 's>, number: usize) -> Option<&'f Object> {
        let within = Within { rule: None, start: 0, around: None };
        self.above.push(Above { value, kind: None, is_element: true, before: None });
        let variant = self.variant(value, number, within)?;
        self.members(value, variant, within);
        self.above.clear();
        Some(&self.shape.objects[variant])
    }

    /// The object of the shape that a value is, after all that decides it. `None` if that is not known, and a fault says
    /// why.
    fn variant(&mut self, value: Value<'d, 's>, mut number: usize, within: Within<'f>) -> Option<usize> {
        let shape = self.shape;
        // Each field decides once.
        let mut decided = [""; MOST_DECISIONS];
        for turn in 0..MOST_DECISIONS {
            let object = &shape.objects[number];
            let Some(by) = &object.by else { break };
            if decided[..turn].contains(&&*by.key) {
                break;
            }
            decided[turn] = &by.key;
            let chosen = value.members().find(|member| member.has_key(&by.key));
            let takes_null =
                || object.field(&by.key).is_none_or(|field| field.mask & bit(JsonType::Null) != 0);
            if chosen.is_some_and(Value::is_null) && !shape.null_is_absent && !takes_null() {
                break;
            }
            let Some(chosen) = chosen.filter(|chosen| !chosen.is_null()) else {
                let Some((tag, otherwise)) = &by.otherwise else { break };
                if !by.is_untagged {
                    self.path.push(Step::Variant(tag));
                }
                number = *otherwise;
                continue;
            };
            let field = object.field(&by.key);
            if field.is_some_and(|field| field.mask & bit_of(chosen) == 0) {
                break;
            }
            let variant = match chosen.kind() {
                JsonKind::String => chosen.as_json_str().and_then(|text| match text.is_escaped() {
                    false => by.variants.find(text.raw()),
                    true => by.variants.get(&text.decode()),
                }),
                JsonKind::Bool | JsonKind::Number => by.variants.find(chosen.raw()),
                // Of another type: the field itself says so.
                _ => break,
            };
            if let Some(variant) = variant {
                let (value, next) = &by.values[usize::from(variant)];
                if !by.is_untagged {
                    self.path.push(Step::Variant(value));
                }
                number = *next;
                continue;
            }
            if by.is_open {
                break;
            }
            let allowed = by.values.iter().map(|(value, _)| &**value).collect();
            let detail = Detail::Values { allowed, got: short(chosen) };
            self.report(FaultKind::Value, object, &by.key, Some(chosen), detail, Cause::default(), within);
            return None;
        }
        Some(number)
    }

    fn object(&mut self, value: Value<'d, 's>, number: usize, within: Within<'f>) {
        if self.above.len() >= DEEPEST {
            return;
        }
        let depth = self.path.len();
        let is_element = matches!(self.path.last(), Some(Step::Index(_)));
        let before = self.before.take().filter(|_| is_element);
        self.above.push(Above { value, kind: self.shape.objects[number].kind, is_element, before });
        if let Some(number) = self.variant(value, number, within) {
            self.members(value, number, within);
        }
        self.above.pop();
        self.path.truncate(depth);
    }

    fn members(&mut self, value: Value<'d, 's>, number: usize, within: Within<'f>) {
        let shape = self.shape;
        let object = &shape.objects[number];
        let within = match (&object.rule, within.rule) {
            (Some(rule), None) => Within { rule: Some(rule), start: self.path.len(), ..within },
            _ => within,
        };
        let is_request = number == shape.request;
        let first = self.faults.len();
        // One bit a field: no object has more.
        let mut seen: u128 = 0;
        for member in value.members() {
            let known = match member.plain_key() {
                Some(key) => object.numbers.find(key),
                None => member.key_text().and_then(|key| object.numbers.get(&key)),
            };
            let Some(known) = known else {
                if object.is_closed && (!is_request || self.is_whole) {
                    self.unknown(object, member, within);
                }
                continue;
            };
            let field = &object.fields[known as usize];
            if shape.null_is_absent && member.is_null() {
                continue;
            }
            let is_first = seen & 1 << known == 0;
            seen |= 1 << known;
            if field.asks_nothing_of(member) {
                continue;
            }
            let mut forbids = field.absent.iter().copied();
            let forbids = forbids.find(|fact| self.holds(*fact, value));
            if forbids.is_some() || !field.is_known && object.is_closed && (!is_request || self.is_whole) {
                let detail = Detail::None;
                self.report(
                    FaultKind::Unknown,
                    object,
                    &field.key,
                    Some(member),
                    detail,
                    Cause::of(forbids),
                    within,
                );
            } else if is_first {
                self.path.push(Step::Key(&field.key));
                self.field(object, (number, known), field, value, member, within);
                self.path.pop();
            }
        }
        self.missing(object, number, value, seen, within);
        if self.faults.len() > first {
            self.settle(value, first);
        }
    }

    /// Leaves of the faults of an object those that are not only what follows from another.
    fn settle(&mut self, value: Value<'d, 's>, first: usize) {
        let node = value.id();
        let own = |fault: &Fault<'f>| fault.parent == node;
        // It is an object of another kind, or of two: the rest describes the wrong one.
        let cause = self.faults[first..].iter().position(|fault| {
            own(fault)
                && (fault.kind == FaultKind::Value && fault.is_of_constant()
                    || matches!(fault.detail, Detail::Union { count: 2.., .. }))
        });
        if let Some(cause) = cause {
            let cause = self.faults.swap_remove(first + cause);
            self.faults.truncate(first);
            self.faults.push(cause);
        }
        // The key of a kind that is not known is there in place of one that is.
        let has_unknown =
            || self.faults[first..].iter().any(|fault| own(fault) && fault.kind == FaultKind::Unknown);
        if matches!(self.faults.last(), Some(fault) if own(fault) && fault.kind == FaultKind::None)
            && has_unknown()
        {
            self.faults.pop();
        }
    }

    /// A key that is none of the object's.
    fn unknown(&mut self, object: &'f Object, member: Value<'d, 's>, within: Within<'f>) {
        let key = Cow::Owned(member.key_text().unwrap_or_default().into_owned());
        self.push(
            FaultKind::Unknown,
            object,
            key,
            None,
            Some(member),
            Detail::None,
            Cause::default(),
            within,
        );
    }

    /// The keys that an object lacks.
    fn missing(
        &mut self,
        object: &'f Object,
        number: usize,
        value: Value<'d, 's>,
        seen: u128,
        within: Within<'f>,
    ) {
        let is_there = |field: &u16| seen & 1 << field != 0;
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
                    self.report(
                        FaultKind::Missing,
                        object,
                        &field.key,
                        None,
                        Detail::None,
                        Cause::of(fact),
                        within,
                    );
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

    /// A list that is not there although it would have to name all keys of an object.
    fn unlisted(&mut self, object: &'f Object, field: &'f Field, value: Value<'d, 's>, within: Within<'f>) {
        for check in &field.checks {
            let What::ListsAll(key) = &check.what else { continue };
            let first = value.get(key).and_then(|of| of.members().next()?.key_text());
            if let Some(first) = first.filter(|_| check.fact.is_none_or(|fact| self.holds(fact, value))) {
                let detail = Detail::Value { got: crate::text::shorten(&first).into_owned() };
                let cause = Cause { fact: check.fact, check: Some(&check.what) };
                self.report(FaultKind::Names, object, &field.key, None, detail, cause, within);
            }
        }
    }

    /// Whether a fact holds for the model, and for what else the request has.
    fn holds(&mut self, fact: usize, parent: Value<'d, 's>) -> bool {
        self.facts.holds(fact) && self.is_met(fact, parent)
    }

    /// Whether the request has what a fact asks for beside the field.
    fn is_met(&mut self, number: usize, parent: Value<'d, 's>) -> bool {
        let fact = &self.shape.facts[number];
        let is_there = |value: &Value<'d, 's>| !value.is_null() && value.as_bool() != Some(false);
        if fact
            .unless
            .as_deref()
            .is_some_and(|key| self.beside(key, parent).is_some_and(|value| is_there(&value)))
        {
            return false;
        }
        fact.only_where.iter().all(|(key, values)| {
            let value = self.beside(key, parent).filter(is_there);
            value.is_some_and(|value| values.is_empty() || is_one_of(values, false, value))
        })
    }

    /// The facts about an object whose conditions the request does not meet.
    fn unmet(&mut self, object: &'f Object, parent: Value<'d, 's>) -> Vec<usize> {
        object.conditional.iter().copied().filter(|number| !self.is_met(*number, parent)).collect()
    }

    fn union(&mut self, object: &'f Object, of: &[u16], count: usize, within: Within<'f>) {
        let keys = of.iter().map(|field| &*object.fields[*field as usize].key).collect();
        let detail = Detail::Union { of: keys, count };
        let kind = if count == 0 { FaultKind::None } else { FaultKind::Union };
        self.push(kind, object, "".into(), None, None, detail, Cause::default(), within);
    }

    fn field(
        &mut self,
        object: &'f Object,
        number: (usize, u16),
        field: &'f Field,
        parent: Value<'d, 's>,
        value: Value<'d, 's>,
        within: Within<'f>,
    ) {
        let got = type_of(value);
        if field.mask & bit(got) == 0 && value.kind() != JsonKind::Invalid {
            let detail = Detail::Types { expected: &field.types, got };
            self.at_path(FaultKind::Type, object, field, value, detail, Cause::default(), within);
            return;
        }
        for check in &field.checks {
            if check.fact.is_some_and(|fact| !self.holds(fact, parent)) {
                continue;
            }
            if let Some(detail) = self.failed(check, number, parent, value, got) {
                self.at_path(
                    check.what.fault(),
                    object,
                    field,
                    value,
                    detail,
                    Cause { fact: check.fact, check: Some(&check.what) },
                    within,
                );
                // What else is wrong with the value shows once this is fixed.
                return;
            }
        }
        let within = match self.above.last() {
            Some(above) if !field.checked_by.is_empty() && !got.is_scalar() => {
                Within { around: Some((self.element().unwrap_or(above.value.id()), field)), ..within }
            }
            _ => within,
        };
        match value.kind() {
            JsonKind::Array => self.elements(object, field, value, within),
            JsonKind::Object => {
                if let Some(inner) = field.object {
                    self.object(value, inner, within);
                }
                if let Some(inner) = field.entries {
                    for (index, entry) in value.members().enumerate() {
                        self.path.push(Step::Entry(entry.id(), index as u32));
                        if entry.is_object() {
                            self.object(entry, inner, within);
                        } else if entry.kind() != JsonKind::Invalid
                            && field.item_mask & bit(type_of(entry)) == 0
                        {
                            self.element_type(object, field, entry, &[JsonType::Object], "{}", within);
                        }
                        self.path.pop();
                    }
                }
            }
            _ => {}
        }
    }

    fn elements(&mut self, object: &'f Object, field: &'f Field, list: Value<'d, 's>, within: Within<'f>) {
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

    /// An element of another type.
    fn element_type(
        &mut self,
        object: &'f Object,
        field: &'f Field,
        element: Value<'d, 's>,
        expected: &'f [JsonType],
        suffix: &str,
        within: Within<'f>,
    ) {
        let key: Cow<'f, str> = Cow::Owned(format!("{}{suffix}", field.key));
        // One finding for a list: what is wrong with one element is usually wrong with all.
        let parent = self.above.last().map(|above| above.value.id());
        if self.faults.last().is_some_and(|fault| Some(fault.parent) == parent && fault.key == key) {
            return;
        }
        let detail = Detail::Types { expected, got: type_of(element) };
        let last = self.path.pop();
        let before = self.path.pop();
        let document = element.document();
        let steps = [before, last].map(|step| step.map(|step| PathStep::of(&step, document)));
        let keyed = Keyed { key, field: Some(field), value: Some(element), steps };
        self.push_keyed(FaultKind::Type, object, keyed, detail, Cause::default(), within);
        self.path.extend(before);
        self.path.extend(last);
    }

    /// What is wrong with a value that a check refuses.
    fn failed(
        &mut self,
        check: &'f Check,
        number: (usize, u16),
        parent: Value<'d, 's>,
        value: Value<'d, 's>,
        got: JsonType,
    ) -> Option<Detail<'f>> {
        let text = || value.as_json_str();
        let of_limit = |min: Option<usize>, max: Option<usize>, count: usize| {
            let is_out = min.is_some_and(|min| count < min) || max.is_some_and(|max| count > max);
            is_out.then(|| Detail::Limit {
                min: min.map(|min| min.to_string()),
                max: max.map(|max| max.to_string()),
                got: count.to_string(),
                is_low: min.is_some_and(|min| count < min),
            })
        };
        match &check.what {
            What::Type(types, mask) => {
                (mask & bit(got) == 0).then_some(Detail::Types { expected: types, got })
            }
            What::Values { values, any_case } => {
                // Where only strings are listed, a number is a matter of the type.
                let is_listed = |scalar: Value<'d, 's>| {
                    scalar.as_json_str().is_some() || values.iter().any(|value| !value.is_string)
                };
                let wrong = scalars(value)
                    .find(|scalar| is_listed(*scalar) && !is_one_of(values, *any_case, *scalar))?;
                let allowed = values.iter().map(|value| &*value.text).collect();
                Some(Detail::Values { allowed, got: short(wrong) })
            }
            What::Refused(values) => {
                let wrong = scalars(value).find(|scalar| is_one_of(values, false, *scalar))?;
                Some(Detail::Values { allowed: Vec::new(), got: short(wrong) })
            }
            What::Pattern(pattern) => {
                let text = value.as_str()?;
                (!pattern.is_match(&text)).then(|| {
                    // A long text is no name.
                    let got = if text.len() <= LONGEST_NAME { short(value) } else { String::new() };
                    Detail::Pattern { pattern: pattern.as_str(), got }
                })
            }
            What::Length { min, max } => {
                let text = text()?;
                // A text has at most as many characters as bytes.
                let is_short = max.is_none_or(|max| text.raw().len() <= max);
                if is_short && min.is_none_or(|min| min == 0 || min == 1 && !text.is_empty()) {
                    return None;
                }
                of_limit(*min, *max, text.char_count())
            }
            What::Items { min, max } => {
                let count = value.is_array().then(|| value.elements().count())?;
                of_limit(*min, *max, count)
            }
            What::Range { min, max } => {
                let number: f64 = std::str::from_utf8(value.raw()).ok()?.parse().ok()?;
                let is_number = value.kind() == JsonKind::Number;
                let is_out = min.is_some_and(|min| number < min) || max.is_some_and(|max| number > max);
                (is_number && is_out).then(|| Detail::Limit {
                    min: min.map(|min| min.to_string()),
                    max: max.map(|max| max.to_string()),
                    got: short(value),
                    is_low: min.is_some_and(|min| number < min),
                })
            }
            What::Base64 => {
                let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=-_\\".contains(byte);
                let is_wrong = |scalar: Value<'d, 's>| {
                    scalar.as_json_str().is_some_and(|text| !text.raw().iter().take(LOOKED_AT).all(is_base64))
                };
                scalars(value).any(is_wrong).then_some(Detail::None)
            }
            What::Unique => {
                let text = value.as_str()?.into_owned();
                (!self.unique.insert((number.0, number.1, text))).then(|| Detail::Value { got: short(value) })
            }
            What::EntryPattern(pattern) => {
                let wrong = value
                    .members()
                    .filter_map(|member| member.key_text())
                    .find(|key| !pattern.is_match(key))?;
                let got = crate::text::shorten(&wrong).into_owned();
                Some(Detail::Pattern { pattern: pattern.as_str(), got })
            }
            What::Needs(_) | What::Excludes(_) if value.is_null() => None,
            What::Needs(key) => {
                let other = self.beside(key, parent);
                let is_there = other.is_some_and(|other| !other.is_null() && !is_empty(other));
                (!is_there && self.knows(key)).then_some(Detail::Other { key, values: Vec::new() })
            }
            What::Excludes(keys) => {
                let there =
                    keys.iter().find(|key| self.beside(key, parent).is_some_and(|other| !other.is_null()))?;
                Some(Detail::Other { key: there, values: Vec::new() })
            }
            What::OnlyIf(key, values) | What::NotIf(key, values) => {
                let other = self.beside(key, parent).filter(|other| !other.is_null());
                let is_one = other.is_some_and(|other| is_one_of(values, false, other));
                let is_only = matches!(check.what, What::OnlyIf(..));
                let values = values.iter().map(|value| &*value.text).collect();
                (is_one != is_only && self.knows(key)).then_some(Detail::Other { key, values })
            }
            What::LessThan(key) => {
                let of = |value: Value<'d, 's>| std::str::from_utf8(value.raw()).ok()?.parse::<f64>().ok();
                let most = self.beside(key, parent)?;
                (of(value)? >= of(most)?).then(|| Detail::Other { key, values: Vec::new() })
            }
            What::NotAfter(path) => {
                let before = self.above.last()?.before?;
                let steps: Vec<&str> = path.split('/').collect();
                at_steps(before, &steps).map(|_| Detail::Other { key: path, values: Vec::new() })
            }
            What::Among(pointer) => {
                let root = self.root?;
                let text = value.as_str()?;
                let known = self.listed.entry(pointer).or_insert_with(|| {
                    let steps: Vec<&str> = pointer.split('/').skip(1).collect();
                    let mut listed = FxHashSet::default();
                    collect(root, &steps, &mut listed);
                    listed
                });
                (!known.contains(&text)).then(|| Detail::Values { allowed: Vec::new(), got: short(value) })
            }
            What::Lists(key) => {
                let keys: FxHashSet<Cow<'s, str>> = parent
                    .get(key)
                    .into_iter()
                    .flat_map(Value::members)
                    .filter_map(Value::key_text)
                    .collect();
                let is_known = parent.get(key).is_none_or(|of| of.is_object() || of.is_null());
                let mut names = value.elements().filter_map(Value::as_str).filter(|_| is_known);
                let wrong = names.find(|name| !keys.contains(name))?;
                Some(Detail::Value { got: crate::text::shorten(&wrong).into_owned() })
            }
            What::ListsAll(key) => {
                let names: FxHashSet<Cow<'s, str>> = value.elements().filter_map(Value::as_str).collect();
                let properties = parent.get(key)?;
                let wrong =
                    properties.members().filter_map(Value::key_text).find(|key| !names.contains(key))?;
                Some(Detail::Value { got: crate::text::shorten(&wrong).into_owned() })
            }
        }
    }

    /// The value beside a field, or at a pointer from the root.
    fn beside(&mut self, key: &'f str, parent: Value<'d, 's>) -> Option<Value<'d, 's>> {
        if !key.starts_with('/') && key.contains('/') {
            let steps: Vec<&str> = key.split('/').collect();
            return at_steps(parent, &steps);
        }
        if !key.starts_with('/') {
            return parent.get(key).or_else(|| {
                let snake = super::compile::snake_case(key);
                (snake != key).then(|| parent.get(&snake)).flatten()
            });
        }
        let root = self.root?;
        let found = *self.pointed.entry(key).or_insert_with(|| {
            let steps: Vec<&str> = key.split('/').skip(1).collect();
            at_steps(root, &steps).map(|value| value.id())
        });
        found.map(|id| root.document().value(id))
    }

    /// Whether it is known what is there: a list of messages by itself does not show the rest of the request.
    fn knows(&self, key: &str) -> bool {
        !key.starts_with('/') || self.root.is_some()
    }

    fn at_path(
        &mut self,
        kind: FaultKind,
        object: &'f Object,
        field: &'f Field,
        value: Value<'d, 's>,
        detail: Detail<'f>,
        cause: Cause<'f>,
        within: Within<'f>,
    ) {
        let last = self.path.pop();
        self.report(kind, object, &field.key, Some(value), detail, cause, within);
        self.path.extend(last);
    }

    /// Adds a fault of a field of the object at the end of the path.
    fn report(
        &mut self,
        kind: FaultKind,
        object: &'f Object,
        key: &'f str,
        value: Option<Value<'d, 's>>,
        detail: Detail<'f>,
        cause: Cause<'f>,
        within: Within<'f>,
    ) {
        let field = object.field(key);
        self.push(kind, object, Cow::Borrowed(key), field, value, detail, cause, within);
    }

    fn push(
        &mut self,
        kind: FaultKind,
        object: &'f Object,
        key: Cow<'f, str>,
        field: Option<&'f Field>,
        value: Option<Value<'d, 's>>,
        detail: Detail<'f>,
        cause: Cause<'f>,
        within: Within<'f>,
    ) {
        let own = (!key.is_empty()).then(|| PathStep::Key((&*key).into()));
        let keyed = Keyed { key, field, value, steps: [own, None] };
        self.push_keyed(kind, object, keyed, detail, cause, within);
    }

    fn push_keyed(
        &mut self,
        kind: FaultKind,
        object: &'f Object,
        keyed: Keyed<'f, 'd, 's>,
        detail: Detail<'f>,
        cause: Cause<'f>,
        within: Within<'f>,
    ) {
        let Some(Above { value: parent, .. }) = self.above.last().copied() else { return };
        let (name, unmet) = (self.name(), self.unmet(object, parent));
        let keyed_key = keyed.key.clone();
        let own_steps = keyed.steps.iter().flatten().count();
        let way = self.path.iter().map(|step| PathStep::of(step, parent.document()));
        let path: Vec<PathStep> = way.chain(keyed.steps.into_iter().flatten()).collect();
        self.faults.push(Fault {
            kind,
            object,
            field: keyed.field,
            key: keyed.key,
            parent: parent.id(),
            value: keyed.value.map(Value::id),
            own_steps,
            path,
            schema_start: within.start,
            detail,
            fact: cause.fact.map(|fact| &self.shape.facts[fact]),
            check: cause.check,
            rule: within.rule,
            name,
            unmet,
            element: self.element().unwrap_or(parent.id()),
            around: within.around,
            example: keyed.field.and_then(|field| self.shape.example_of(field)),
            base_example: object.base.and_then(|base| self.shape.objects[base].example.as_deref()),
            elsewhere: (kind == FaultKind::Unknown)
                .then(|| self.shape.only_object_with(&keyed_key))
                .flatten(),
            above: self.above.iter().map(|above| (above.value.id(), above.kind)).collect(),
        });
    }

    /// The innermost object that is an element of an array.
    fn element(&self) -> Option<NodeId> {
        self.above.iter().rev().find(|above| above.is_element).map(|above| above.value.id())
    }

    /// The name of the innermost object that has one: of the tool, for what is below it.
    fn name(&mut self) -> Option<NodeId> {
        for Above { value: object, .. } in self.above.iter().skip(1).rev() {
            let named = *self.names.entry(object.id()).or_insert_with(|| {
                object.get("name").filter(|name| name.as_json_str().is_some()).map(Value::id)
            });
            if named.is_some() {
                return named;
            }
        }
        None
    }
}

/// Why there is a fault.
#[derive(Clone, Copy, Default)]
struct Cause<'f> {
    /// The fact that asks for it.
    fact: Option<usize>,
    /// The check that fails.
    check: Option<&'f What>,
}

impl Cause<'_> {
    fn of(fact: Option<usize>) -> Self {
        Self { fact, check: None }
    }
}

/// A key, what is there, and the last steps to it.
struct Keyed<'f, 'd, 's> {
    key: Cow<'f, str>,
    field: Option<&'f Field>,
    value: Option<Value<'d, 's>>,
    steps: [Option<PathStep>; 2],
}

/// The longest text that is taken for a name, which a message may print.
const LONGEST_NAME: usize = 128;

/// The bytes of a text that are looked at to tell whether it is Base64: the data may be megabytes long, and logs cut it.
const LOOKED_AT: usize = 40;

/// The first value that these steps lead to which is not `null`; `*` leads to each element of an array.
fn at_steps<'d, 's>(value: Value<'d, 's>, steps: &[&str]) -> Option<Value<'d, 's>> {
    match steps {
        [] => (!value.is_null()).then_some(value),
        ["*", rest @ ..] => value.elements().find_map(|element| at_steps(element, rest)),
        [key, rest @ ..] => {
            at_steps(value.get(key).or_else(|| value.get(&super::compile::snake_case(key)))?, rest)
        }
    }
}

/// All strings that these steps lead to.
fn collect<'s>(value: Value<'_, 's>, steps: &[&str], listed: &mut FxHashSet<Cow<'s, str>>) {
    match steps {
        [] => listed.extend(value.as_str()),
        ["*", rest @ ..] => value.elements().for_each(|element| collect(element, rest, listed)),
        [key, rest @ ..] => {
            if let Some(next) = value.get(key) {
                collect(next, rest, listed);
            }
        }
    }
}

/// Whether a scalar is one of these.
fn is_one_of(values: &[Scalar], any_case: bool, value: Value<'_, '_>) -> bool {
    let text = value.as_str();
    values.iter().any(|allowed| match &text {
        Some(text) => {
            allowed.is_string
                && (allowed.text == **text || any_case && allowed.text.eq_ignore_ascii_case(text))
        }
        None => !allowed.is_string && allowed.text.as_bytes() == value.raw(),
    })
}

/// The scalar itself, or the strings of an array.
fn scalars<'d, 's>(value: Value<'d, 's>) -> impl Iterator<Item = Value<'d, 's>> {
    let is_scalar = matches!(value.kind(), JsonKind::String | JsonKind::Number | JsonKind::Bool);
    is_scalar
        .then_some(value)
        .into_iter()
        .chain(value.elements().filter(|element| element.as_json_str().is_some()))
}

/// A scalar for a message; nothing of an array or an object.
fn short(value: Value<'_, '_>) -> String {
    match value.kind() {
        JsonKind::String => crate::text::shorten(&value.as_str().unwrap_or_default()).into_owned(),
        JsonKind::Number | JsonKind::Bool | JsonKind::Null => {
            crate::text::shorten(&String::from_utf8_lossy(value.raw())).into_owned()
        }
        _ => String::new(),
    }
}

fn is_empty(value: Value<'_, '_>) -> bool {
    matches!(value.kind(), JsonKind::Array | JsonKind::Object) && value.children().next().is_none()
}

/// The bit of the type of a value.
#[inline]
pub(super) fn bit_of(value: Value<'_, '_>) -> u8 {
    match value.kind() {
        JsonKind::Null => bit(JsonType::Null),
        JsonKind::Bool => bit(JsonType::Boolean),
        JsonKind::String => bit(JsonType::String),
        JsonKind::Array => bit(JsonType::Array),
        JsonKind::Object => bit(JsonType::Object),
        JsonKind::Number | JsonKind::Invalid => bit(type_of(value)),
    }
}

/// The type of a value.
pub(super) fn type_of(value: Value<'_, '_>) -> JsonType {
    match value.kind() {
        JsonKind::Null => JsonType::Null,
        JsonKind::Bool => JsonType::Boolean,
        JsonKind::String => JsonType::String,
        JsonKind::Array => JsonType::Array,
        JsonKind::Object => JsonType::Object,
        JsonKind::Number | JsonKind::Invalid => {
            let raw = value.raw();
            let is_plain = !raw.iter().any(|byte| b".eE".contains(byte));
            let is_whole = || {
                let number = std::str::from_utf8(raw).ok().and_then(|text| text.parse::<f64>().ok());
                number.is_some_and(|number| number.fract() == 0.0)
            };
            if is_plain || is_whole() { JsonType::Integer } else { JsonType::Number }
        }
    }
}
