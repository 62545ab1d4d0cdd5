//! What the rest of a request decides: what stands beside a value, and which facts hold.

use std::borrow::Cow;

use foldhash::HashSet;
use toolcheck_json::Value;

use super::check::{Cause, Checker, Problem, Within};
use super::compile::{Check, Field, Object, What};
use super::fault::Detail;
use super::tables::{FaultKind, JsonType};
use super::value::{is_empty, is_one_of, short};

impl<'f, 'd, 's> Checker<'f, 'd, 's> {
    /// What else in the request forbids a value.
    fn conflict(
        &mut self,
        check: &'f Check,
        number: (usize, u16),
        parent: Value<'d, 's>,
        value: Value<'d, 's>,
    ) -> Option<Detail<'f>> {
        match &check.what {
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
                // That a required key is not there is a fault of its own.
                let is_required = || {
                    self.shape.objects[number.0].field(key).is_some_and(|field| !field.required.is_empty())
                };
                if other.is_none() && is_required() {
                    return None;
                }
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
            What::Unique => {
                let text = value.as_str()?.into_owned();
                (!self.unique.insert((number.0, number.1, text))).then(|| Detail::Value { got: short(value) })
            }
            What::Among(pointer) => {
                let root = self.root?;
                let text = value.as_str()?;
                let known = self.listed.entry(pointer).or_insert_with(|| {
                    let steps: Vec<&str> = pointer.split('/').skip(1).collect();
                    let mut listed = HashSet::default();
                    collect(root, &steps, &mut listed);
                    listed
                });
                (!known.contains(&text)).then(|| Detail::Values { allowed: Vec::new(), got: short(value) })
            }
            What::Lists(key) => {
                let keys: HashSet<Cow<'s, str>> = parent
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
                let names: HashSet<Cow<'s, str>> = value.elements().filter_map(Value::as_str).collect();
                let properties = parent.get(key)?;
                let wrong =
                    properties.members().filter_map(Value::key_text).find(|key| !names.contains(key))?;
                Some(Detail::Value { got: crate::text::shorten(&wrong).into_owned() })
            }
            _ => match check.what.fault() {
                FaultKind::Conflict => self.conflict(check, number, parent, value),
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
                parent.get(key).or_else(|| {
                    let snake = super::compile::snake_case(key);
                    (snake != key).then(|| parent.get(&snake)).flatten()
                })
            };
            // An object with very many members may have as many faults, and each asks for what is beside it.
            if parent.count() < WIDE {
                return get();
            }
            let known = self.beside.entry((parent.id(), key)).or_insert_with(|| get().map(Value::id));
            return known.map(|id| parent.document().value(id));
        }
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
        within: Within<'f>,
    ) {
        for check in &field.checks {
            let What::ListsAll(key) = &check.what else { continue };
            let first = value.get(key).and_then(|of| of.members().next()?.key_text());
            if let Some(first) = first.filter(|_| check.fact.is_none_or(|fact| self.holds(fact, value))) {
                let detail = Detail::Value { got: crate::text::shorten(&first).into_owned() };
                let cause = Cause { fact: check.fact, check: Some(&check.what) };
                let problem = Problem { kind: FaultKind::Names, detail, cause };
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
        let fact = &self.shape.facts()[number];
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
        [key, rest @ ..] => {
            at_steps(value.get(key).or_else(|| value.get(&super::compile::snake_case(key)))?, rest)
        }
    }
}

/// All strings that these steps lead to.
fn collect<'s>(value: Value<'_, 's>, steps: &[&str], listed: &mut HashSet<Cow<'s, str>>) {
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
