//! Faults that are one mistake become one.

use std::collections::hash_map::Entry;

use foldhash::HashMap;
use toolcheck_core::shape::ShapeFaultKind;
use toolcheck_core::{RuleId, unsupported};
use toolcheck_json::{Document, NodeId};

use super::{MOST_LABELS, Refused};

/// A key that the object may not have.
#[derive(Debug)]
pub(super) struct Unknown {
    pub(super) node: NodeId,
    pub(super) key: String,
    /// The missing key that it was probably meant to be.
    pub(super) means: Option<String>,
    /// Whether the two are the same but for case and separators, or its value is the id.
    pub(super) is_near: bool,
    pub(super) label: &'static str,
}

/// The most unknown keys of an object that are kept.
const MOST_KEYS: usize = 12;

/// Makes one of the faults of an object that lacks keys and has others instead: the API names the first key that is
/// missing, and the unknown ones are probably what was meant. An object all of whose keys are unknown is one fault too.
pub(super) fn objects<'c>(document: &Document<'_>, refused: Vec<Refused<'c>>) -> Vec<Refused<'c>> {
    let mut of_objects: HashMap<NodeId, Vec<usize>> = HashMap::default();
    for (number, other) in refused.iter().enumerate() {
        let is_joined = match other.fault.kind {
            ShapeFaultKind::Missing => other.rule == ShapeFaultKind::Missing.usual_rule(),
            ShapeFaultKind::Unknown => {
                other.rule == ShapeFaultKind::Unknown.usual_rule() && !other.fault.is_of_known_key()
            }
            _ => false,
        };
        if is_joined && !other.fault.is_of_request() {
            of_objects.entry(other.fault.object_node()).or_default().push(number);
        }
    }
    let mut refused: Vec<Option<Refused<'c>>> = refused.into_iter().map(Some).collect();
    parameters(document, &mut refused);
    for number in 0..refused.len() {
        let Some(object) = refused[number].as_ref().map(|first| first.fault.object_node()) else { continue };
        let Some(numbers) = of_objects.remove(&object).filter(|numbers| numbers.len() > 1) else { continue };
        let is_missing = |number: &&usize| {
            refused[**number].as_ref().is_some_and(|fault| fault.fault.kind == ShapeFaultKind::Missing)
        };
        let first = numbers.iter().find(is_missing).copied();
        // An id says nothing of what the object is.
        let others = document.value(object).members().filter(|member| !member.has_key("id"));
        let has_known = others.count() > numbers.len();
        let Some(first) = first.or_else(|| (!has_known).then_some(numbers[0])) else { continue };
        let others: Vec<Refused<'c>> = numbers
            .iter()
            .filter(|other| **other != first)
            .filter_map(|other| refused[*other].take())
            .collect();
        if let Some(first) = &mut refused[first] {
            join(document, first, others);
        }
    }
    refused.retain(Option::is_some);
    // `flatten` would fill a second list, and a hostile file has very many faults.
    refused.into_iter().map_while(|refused| refused).collect()
}

/// Makes one of a parameter that is missing and one that is it under another name: the request has too many parameters for
/// all that are unknown to be one mistake.
fn parameters<'c>(document: &Document<'_>, refused: &mut [Option<Refused<'c>>]) {
    let is = |other: &Option<Refused<'c>>, kind| {
        other.as_ref().is_some_and(|other| other.fault.kind == kind && other.fault.is_of_request())
    };
    for missing in 0..refused.len() {
        if !is(&refused[missing], ShapeFaultKind::Missing) {
            continue;
        }
        let key = refused[missing].as_ref().map(|first| first.fault.key.to_string()).unwrap_or_default();
        let other = refused.iter().position(|other| {
            let unknown = other.as_ref().filter(|_| is(other, ShapeFaultKind::Unknown));
            unknown.is_some_and(|other| {
                let is_misnamed = || {
                    let list = unsupported::misnamed_list(document.value(other.fault.object_node()));
                    unsupported::is_list_key(&key) && list.is_some_and(|list| list.id() == other.fault.node())
                };
                !other.fault.is_of_known_key() && (is_like(&other.fault.key, &key) || is_misnamed())
            })
        });
        let other = other.and_then(|other| refused[other].take());
        if let (Some(first), Some(other)) = (&mut refused[missing], other) {
            join(document, first, vec![other]);
        }
    }
}

/// Whether one parameter of a request was probably meant to be the other: they are the same, or differ in two letters.
fn is_like(one: &str, other: &str) -> bool {
    is_same(one, other) || toolcheck_core::shape::is_near(one, other)
}

/// Whether two keys of a request are the same but for case, separators and the API that calls its messages so.
fn is_same(one: &str, other: &str) -> bool {
    is_near(one, other) || unsupported::is_list_key(one) && unsupported::is_list_key(other)
}

fn is_id(key: &str) -> bool {
    key == "id" || key.ends_with("_id") || key.ends_with("Id")
}

/// Adds the other faults of an object to the first.
fn join<'c>(document: &Document<'_>, first: &mut Refused<'c>, others: Vec<Refused<'c>>) {
    let (missing, unknown): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|other| other.fault.kind == ShapeFaultKind::Missing);
    let is_only_unknown = unknown.len() == 1 && missing.is_empty();
    first.unknown = unknown
        .iter()
        .take(MOST_KEYS)
        .map(|other| {
            let value = document.value(other.fault.node());
            let near =
                std::iter::once(&*first.fault.key).chain(missing.iter().map(|other| &*other.fault.key));
            let near = near.filter(|key| is_same(&other.fault.key, key)).map(str::to_owned).next();
            // What is said is not an id, and another key that may hold one is named like it.
            let may_be = || !is_id(&first.fault.key) || is_id(&other.fault.key);
            let fits = || {
                (is_only_unknown && may_be() && first.fault.takes(value)).then(|| first.fault.key.to_string())
            };
            Unknown {
                node: other.fault.node(),
                key: other.fault.key.to_string(),
                is_near: near.as_deref().is_some_and(|key| is_near(&other.fault.key, key)),
                means: near.or_else(fits),
                label: "unknown key",
            }
        })
        .collect();
    first.also_missing = missing.iter().map(|other| other.fault.key.to_string()).collect();
}

/// Makes one of the same fault in several objects of the same lists: a wrong key is one mistake, even if every tool has it.
pub(super) fn repeats(document: &Document<'_>, refused: &mut Vec<Refused<'_>>) {
    let mut first_of: HashMap<(RuleId, ShapeFaultKind, String, String), usize> = HashMap::default();
    let mut end = 0;
    for number in 0..refused.len() {
        let other = &refused[number];
        let fault = &other.fault;
        let detail = format!("{:?}{:?}{}", fault.detail, other.also_missing, other.is_all_unknown());
        // An id or a name is wrong at both ends of a pair.
        let of_pair = fault.checked_by().map(|(_, rule)| rule).find(|rule| super::OF_PAIRS.contains(rule));
        let of_pair = of_pair.filter(|_| fault.kind == ShapeFaultKind::Type);
        let which = of_pair.map_or_else(|| fault.pattern(), |rule| rule.to_string());
        match first_of.entry((other.rule, fault.kind, which, detail)) {
            Entry::Occupied(first) => {
                let (place, times, is_of_one_name) =
                    (fault.place(document), other.times, other.is_of_one_name);
                let name = fault.name(document);
                let (own, of_another) = (other.fix.clone(), other.of_another.clone());
                let first = &mut refused[*first.get()];
                first.times += times;
                first.of_another.extend(of_another);
                first.fix = first.fix.take().zip(own).and_then(|(one, other)| one.and(other));
                first.is_of_one_name &= is_of_one_name && first.fault.name(document) == name;
                if first.repeats.len() < MOST_LABELS {
                    first.repeats.push(place);
                }
            }
            Entry::Vacant(new) => {
                new.insert(end);
                refused.swap(end, number);
                end += 1;
            }
        }
    }
    refused.truncate(end);
}

impl Refused<'_> {
    /// Whether it is about an object of which no key is known.
    pub(super) fn is_all_unknown(&self) -> bool {
        self.fault.kind == ShapeFaultKind::Unknown && !self.unknown.is_empty()
    }

    pub(super) fn missing(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&*self.fault.key).chain(self.also_missing.iter().map(String::as_str))
    }
}

/// Whether two keys are the same but for case and separators.
fn is_near(one: &str, other: &str) -> bool {
    let letters = |key: &str| -> String {
        key.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    letters(one) == letters(other)
}
