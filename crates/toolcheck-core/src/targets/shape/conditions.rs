//! What the rest of a request decides: what stands beside a value, and which facts hold.

use std::borrow::Cow;

use foldhash::HashSet;
use toolcheck_json::Value;

use super::case::member;
use super::check::{Checker, MOST_KEYS, Scope};
use super::compile::{Check, CheckKind, Field, Object, bit};
use super::fault::{Detail, ShapeFault};
use super::is_near;
use super::problem::{Cause, Problem};
use super::tables::{JsonType, ShapeFaultKind};
use super::value::{is_empty, is_one_of, short};

/// Whether a key that an object lacks is there under a name that is nearly the same, and none of its own.
fn has_misspelt(object: &Object, value: Value<'_, '_>, key: &str) -> bool {
    let keys = || value.members().take(MOST_KEYS).filter_map(Value::key_text);
    value.get(key).is_none() && keys().any(|own| is_near(key, &own) && object.field(&own).is_none())
}

/// Leaves out what nothing refers to where a reference leads nowhere: that one is spelled wrong.
pub(super) fn leave_out_unreferenced(faults: &mut Vec<ShapeFault<'_>>) {
    let among = |fault: &ShapeFault<'_>| match (fault.among(), &fault.detail) {
        (Some(pointer), Detail::Values { got, .. }) => Some((pointer.to_owned(), got.clone())),
        _ => None,
    };
    let leads_to = |pointer: &str, key: &str| pointer.rsplit('/').next() == Some(key);
    let lost: Vec<(String, String, String)> = faults
        .iter()
        .filter(|fault| *fault.key != *NAME)
        .filter_map(|fault| among(fault).map(|(pointer, got)| (fault.key.to_string(), pointer, got)))
        .filter(|(_, pointer, _)| leads_to(pointer, NAME))
        .take(MOST_KEYS)
        .collect();
    if lost.is_empty() {
        return;
    }
    let is_named = |fault: &ShapeFault<'_>| {
        let pointer = among(fault).filter(|_| *fault.key == *NAME).map(|(pointer, _)| pointer);
        pointer.is_some_and(|pointer| lost.iter().any(|(key, ..)| leads_to(&pointer, key)))
    };
    let are_as_many = faults.iter().filter(|fault| is_named(fault)).count() <= lost.len();
    faults.retain(|fault| {
        let named = among(fault).filter(|_| *fault.key == *NAME);
        !named.is_some_and(|(pointer, name)| {
            lost.iter().any(|(key, _, got)| leads_to(&pointer, key) && (are_as_many || is_near(got, &name)))
        })
    });
}

/// The key of what others refer to.
const NAME: &str = "name";

impl<'f, 'd, 's> Checker<'f, 'd, 's> {
    /// What else in the request forbids a value.
    fn conflict(
        &mut self,
        check: &'f Check,
        number: (usize, u16),
        parent: Value<'d, 's>,
        value: Value<'d, 's>,
    ) -> Option<Detail<'f>> {
        // A null is as good as an absent key, as it is for the others.
        if value.is_null() {
            return None;
        }
        match &check.what {
            CheckKind::Needs(key) => {
                let other = self.beside(key, parent);
                let is_there = other.is_some_and(|other| !other.is_null() && !is_empty(other));
                let is_misspelt = || has_misspelt(&self.shape.objects[number.0], parent, key);
                (!is_there && self.knows(key) && !is_misspelt())
                    .then_some(Detail::Other { key, values: Vec::new() })
            }
            CheckKind::Excludes(keys) => {
                let there =
                    keys.iter().find(|key| self.beside(key, parent).is_some_and(|other| !other.is_null()))?;
                Some(Detail::Other { key: there, values: Vec::new() })
            }
            CheckKind::OnlyIf(key, values) | CheckKind::NotIf(key, values) => {
                let other = self.beside(key, parent).filter(|other| !other.is_null());
                let is_one = other.is_some_and(|other| is_one_of(values, false, other));
                let is_only = matches!(check.what, CheckKind::OnlyIf(..));
                if is_one == is_only || !self.knows(key) {
                    return None;
                }
                // That a required key is not there is a fault of its own, and so is one that is spelled wrong.
                let object = &self.shape.objects[number.0];
                let is_required = || object.field(key).is_some_and(|field| !field.required.is_empty());
                if other.is_none() && (is_required() || has_misspelt(object, parent, key)) {
                    return None;
                }
                let values = values.iter().map(|value| &*value.text).collect();
                Some(Detail::Other { key, values })
            }
            CheckKind::LessThan(key) => {
                let of = |value: Value<'d, 's>| std::str::from_utf8(value.raw()).ok()?.parse::<f64>().ok();
                let most = self.beside(key, parent)?;
                (of(value)? >= of(most)?).then(|| Detail::Other { key, values: Vec::new() })
            }
            CheckKind::NotAfter(path) => {
                self.looks_around();
                let before = self.above.last()?.before?;
                let (path, values) = match path.split_once('=') {
                    Some((path, values)) => (path, values.split('|').collect()),
                    None => (&**path, Vec::new()),
                };
                let steps: Vec<&str> = path.split('/').collect();
                let text = at_steps(before, &steps)?.as_str();
                let own = values.iter().copied().find(|value| text.as_deref() == Some(*value));
                let detail = || Detail::Other { key: path, values: own.into_iter().collect() };
                (values.is_empty() || own.is_some()).then(detail)
            }
            _ => None,
        }
    }

    /// What is wrong with a value that a check refuses.
    #[inline(never)]
    pub(super) fn failed(
        &mut self,
        check: &'f Check,
        number: (usize, u16),
        parent: Value<'d, 's>,
        value: Value<'d, 's>,
        got: JsonType,
    ) -> Option<Detail<'f>> {
        match &check.what {
            CheckKind::Unique => {
                let unique = (number.0, number.1, value.as_str()?.into_owned());
                self.found_unique.push(unique.clone());
                (!self.unique.insert(unique)).then(|| Detail::Value { got: short(value) })
            }
            CheckKind::Among(pointer) => {
                self.looks_around();
                let root = self.root?;
                let text = value.as_str()?;
                let known = self.listed.entry(pointer).or_insert_with(|| {
                    let steps: Vec<&str> = pointer.split('/').skip(1).collect();
                    let mut listed = HashSet::default();
                    collect(root, &steps, &mut listed, 0).then_some(listed)
                });
                // What can't be read there is a fault of its own.
                (!known.as_ref()?.contains(&text))
                    .then(|| Detail::Values { allowed: Vec::new(), got: short(value) })
            }
            CheckKind::Lists(key) => {
                let of = parent.get(key);
                if of.is_some_and(|of| !of.is_object() && !of.is_null()) {
                    return None;
                }
                let keys: HashSet<Cow<'s, str>> =
                    of.into_iter().flat_map(Value::members).filter_map(Value::key_text).collect();
                let wrong = value.elements().filter_map(Value::as_str).find(|name| !keys.contains(name))?;
                // That a required key is not there is a fault of its own, and so is one that is spelled wrong.
                let object = &self.shape.objects[number.0];
                let is_required = || object.field(key).is_some_and(|field| !field.required.is_empty());
                let takes_null = self.shape.null_is_absent
                    || object.field(key).is_none_or(|field| field.mask & bit(JsonType::Null) != 0);
                let is_other = !takes_null && of.is_some_and(Value::is_null)
                    || of.is_none() && is_required()
                    || has_misspelt(object, parent, key);
                (!is_other).then(|| Detail::Value { got: crate::text::shorten(&wrong).into_owned() })
            }
            CheckKind::ListsAll(key) => {
                let names: HashSet<Cow<'s, str>> = value.elements().filter_map(Value::as_str).collect();
                let properties = parent.get(key)?;
                let wrong =
                    properties.members().filter_map(Value::key_text).find(|key| !names.contains(key))?;
                Some(Detail::Value { got: crate::text::shorten(&wrong).into_owned() })
            }
            _ => match check.what.fault() {
                ShapeFaultKind::Conflict => self.conflict(check, number, parent, value),
                _ => check.failed_by(value, got),
            },
        }
    }

    /// The value beside a field, or at a pointer from the root.
    pub(super) fn beside(&mut self, key: &'f str, parent: Value<'d, 's>) -> Option<Value<'d, 's>> {
        if !key.starts_with('/') {
            let get = || {
                if key.contains('/') {
                    return at_steps(parent, &key.split('/').collect::<Vec<_>>());
                }
                member(parent, key)
            };
            // An object with very many members may have as many faults, and each asks for what is beside it.
            if parent.count() < WIDE {
                return get();
            }
            let known = self.beside.entry((parent.id(), key)).or_insert_with(|| get().map(Value::id));
            return known.map(|id| parent.document().value(id));
        }
        self.looks_around();
        let root = self.root?;
        let found = *self.pointed.entry(key).or_insert_with(|| {
            let steps: Vec<&str> = key.split('/').skip(1).collect();
            at_steps(root, &steps).map(|value| value.id())
        });
        found.map(|id| root.document().value(id))
    }

    /// Whether it is known what is there: a list of messages by itself does not show the rest of the request.
    pub(super) fn knows(&self, key: &str) -> bool {
        !key.starts_with('/') || self.root.is_some()
    }

    /// A list that is not there although it would have to name all keys of an object.
    #[inline(never)]
    pub(super) fn unlisted(
        &mut self,
        object: &'f Object,
        field: &'f Field,
        value: Value<'d, 's>,
        within: Scope<'f>,
    ) {
        for check in &field.checks {
            let CheckKind::ListsAll(key) = &check.what else { continue };
            let first = value.get(key).and_then(|of| of.members().next()?.key_text());
            if let Some(first) = first.filter(|_| check.fact.is_none_or(|fact| self.holds(fact, value))) {
                let detail = Detail::Value { got: crate::text::shorten(&first).into_owned() };
                let cause = Cause { fact: check.fact, check: Some(&check.what) };
                let problem = Problem { kind: ShapeFaultKind::Names, detail, cause };
                self.report(object, &field.key, None, problem, within);
            }
        }
    }

    /// Whether a fact holds for the model, and for what else the request has.
    pub(super) fn holds(&mut self, fact: usize, parent: Value<'d, 's>) -> bool {
        self.facts.holds(fact) && self.is_met(fact, parent)
    }

    /// Whether the request has what a fact asks for beside the field.
    pub(super) fn is_met(&mut self, number: usize, parent: Value<'d, 's>) -> bool {
        let shape = self.shape;
        let fact = match shape.facts().get(number) {
            Some(fact) => fact,
            None => &shape.enforced.accepted[!number],
        };
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
    pub(super) fn unmet(&mut self, object: &'f Object, parent: Value<'d, 's>) -> Vec<usize> {
        object.conditional.iter().copied().filter(|number| !self.is_met(*number, parent)).collect()
    }
}

/// The number of values in an object from which on what is beside a field is looked up once.
const WIDE: usize = 256;

/// The first value that these steps lead to which is not `null`; `*` leads to each element of an array.
fn at_steps<'d, 's>(value: Value<'d, 's>, steps: &[&str]) -> Option<Value<'d, 's>> {
    match steps {
        [] => (!value.is_null()).then_some(value),
        ["*", rest @ ..] => value.elements().find_map(|element| at_steps(element, rest)),
        [key, rest @ ..] => at_steps(member(value, key)?, rest),
    }
}

/// Adds all strings that these steps lead to. Whether all that is there can be read: in a list that is in a list, each
/// element has them.
fn collect<'s>(
    value: Value<'_, 's>,
    steps: &[&str],
    listed: &mut HashSet<Cow<'s, str>>,
    lists: usize,
) -> bool {
    match steps {
        [] => {
            listed.extend(value.as_str());
            value.is_string()
        }
        ["*", rest @ ..] => {
            let of_elements = value.elements().map(|element| collect(element, rest, listed, lists + 1));
            // Each is looked at.
            let are_read = of_elements.fold(true, |all, one| all & one);
            are_read && (value.is_array() || value.is_null())
        }
        [key, rest @ ..] => match value.get(key) {
            Some(next) => collect(next, rest, listed, lists),
            None => lists < 2,
        },
    }
}
