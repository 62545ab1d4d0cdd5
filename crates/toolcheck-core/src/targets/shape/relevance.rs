//! How well a body fits as a request, where its messages do not show its format.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use foldhash::{HashMap, HashSet};
use toolcheck_json::{NodeId, Value};
use toolcheck_toml::Text;

use super::check::Checker;
use super::compile::{Field, bit};
use super::tables::ShapeFaultKind;
use super::value::type_of;
use super::{KEYS_LOOKED_AT, Shape};
use crate::unsupported::{is_list_key, is_misspelt_list, misnamed_list};

/// How well a body fits as a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rating {
    /// What is wrong: the keys of the request, and the messages, blocks and tools that have a fault or keys of another API,
    /// even if this one ignores them. An object counts once, because one mistake may be many faults.
    pub mistakes: usize,
    /// The same, with objects that have the same faults counted once: a client makes the same mistake in each message.
    pub kinds: usize,
    /// Whether the messages are under a key that it knows.
    pub has_list: bool,
    /// Whether more of its keys are known than not.
    pub is_mostly_known: bool,
    /// Whether a list or an object is under one of the known keys, besides the messages.
    pub has_structure: bool,
}

/// The most elements of a list that are looked at.
const ELEMENTS_LOOKED_AT: usize = 200;

impl Shape {
    /// Rates a body that may be a request; `None` if it has no messages under a key that any format knows.
    pub fn rate(&self, body: Value<'_, '_>) -> Option<Rating> {
        let request = &self.objects[self.request];
        let is_list = |field: &Field| field.items == Some(self.message);
        let (mut known, mut unknown, mut other_lists) = (0_usize, 0_usize, 0_usize);
        let (mut has_structure, mut has_list, mut has_other_list) = (false, false, false);
        let misnamed = misnamed_list(body);
        for member in body.members().take(KEYS_LOOKED_AT) {
            let Some(key) = member.key_text() else { continue };
            // A list of messages is never what such a key is for.
            let is_misnamed = misnamed.is_some_and(|list| list.id() == member.id());
            match request.field(&key).filter(|field| field.is_known && !is_misnamed) {
                Some(field) => {
                    known += 1;
                    has_list |= is_list(field);
                    has_structure |= !is_list(field) && (member.is_array() || member.is_object());
                }
                None => {
                    let is_other_list = is_list_key(&key) || is_misnamed;
                    has_other_list |= is_other_list;
                    other_lists += usize::from(is_other_list);
                    unknown += usize::from(!is_other_list);
                }
            }
        }
        // A row of a data set has columns of its own beside its prompt.
        let is_column = |list: Value<'_, '_>| !list.key_text().is_some_and(|key| is_misspelt_list(&key));
        if !(has_list || has_other_list) || misnamed.is_some_and(is_column) && unknown > 0 {
            return None;
        }
        let faults = self.check_request(self.plain_facts(), body, true);
        let (mut missing, mut of_request) = (0_usize, 0_usize);
        let mut objects = self.keys_of_others(body);
        for fault in faults.iter().filter(|fault| fault.is_refused(self, None)) {
            match fault.kind {
                _ if !fault.is_of_request() => {
                    let said = FixedState::default().hash_one((fault.kind as u8 + 1, &*fault.key));
                    for element in [fault.element_node()].iter().chain(&fault.alike) {
                        let own = objects.entry(*element).or_default();
                        *own = own.wrapping_add(said);
                    }
                }
                ShapeFaultKind::Missing => missing += 1,
                // They are counted above.
                ShapeFaultKind::Unknown if !fault.is_of_known_key() => {}
                _ => of_request += 1,
            }
        }
        // A key under another name is missing and unknown.
        let of_request = of_request + missing.max(unknown + other_lists);
        let mistakes = objects.len() + of_request;
        let kinds = objects.into_values().collect::<HashSet<_>>().len() + of_request;
        Some(Rating { mistakes, kinds, has_list, is_mostly_known: known > unknown, has_structure })
    }

    /// Whether a body is a request that needs no messages, because they are stored at the API.
    pub fn knows_stored(&self, body: Value<'_, '_>) -> bool {
        let request = &self.objects[self.request];
        let is_stored = |key: &Text| {
            let value = body.get(key).filter(|value| !value.is_null());
            value.zip(request.field(key)).is_some_and(|(value, field)| {
                // Others have an object under such a key too, with keys of their own.
                let knows = |object: usize| {
                    let field = |key: &str| self.objects[object].field(key).filter(|field| field.is_known);
                    let is_known =
                        |member: &Value<'_, '_>| member.key_text().is_some_and(|key| field(&key).is_some());
                    let (known, unknown): (Vec<_>, Vec<_>) =
                        value.members().take(KEYS_LOOKED_AT).partition(is_known);
                    known.len() > unknown.len() && !unknown.into_iter().any(Value::is_array)
                };
                field.mask & bit(type_of(value)) != 0
                    && (!value.is_object() || field.object.is_none_or(knows))
            })
        };
        self.file.stored_if.iter().any(is_stored) && self.fits_keys(body)
    }

    /// The messages and tools with keys that they do not have here, each with a number that stands for these keys.
    fn keys_of_others(&self, body: Value<'_, '_>) -> HashMap<NodeId, u64> {
        let request = &self.objects[self.request];
        let lists = body.members().take(KEYS_LOOKED_AT).filter_map(|member| {
            let items = request.field(&member.key_text()?)?.items?;
            Some((member, items))
        });
        let mut found = HashMap::default();
        for (list, items) in lists {
            for element in list.elements().take(ELEMENTS_LOOKED_AT).filter(|element| element.is_object()) {
                let mut checker = Checker::new(self, self.plain_facts().clone(), None, true);
                let Some(object) = checker.alone(element, items) else { continue };
                let is_known = |key: &str| object.field(key).is_some_and(|field| field.is_known);
                let keys = element.members().filter_map(Value::key_text).filter(|key| !is_known(key));
                let said = keys.map(|key| FixedState::default().hash_one((0_u8, &*key)));
                if let Some(said) = said.reduce(u64::wrapping_add) {
                    found.insert(element.id(), said);
                }
            }
        }
        found
    }
}
