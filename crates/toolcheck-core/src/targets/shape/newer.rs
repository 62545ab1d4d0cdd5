//! Kinds of blocks, items and tools that may be newer than the description of the format.

use toolcheck_json::{Document, Kind as JsonKind, Value};

use super::advice::{MOST_KEYS, is_near};
use super::fault::{Detail, ShapeFault};
use super::tables::{Kind, ShapeFaultKind};
use crate::unread;

impl ShapeFault<'_> {
    /// Why it may not be refused, although nothing else is known to be in doubt: it is a kind of something that the description
    /// does not have, named as the API names its own, and that nobody has misspelt or taken from another API. APIs get new
    /// ones all the time.
    pub fn may_be_newer(&self, document: &Document<'_>) -> Option<&'static str> {
        let is_new = match (&self.detail, self.kind) {
            (Detail::Values { allowed, got }, ShapeFaultKind::Value) => {
                let is_written = || self.field.is_some_and(|field| field.instead.contains_key(got.as_str()));
                let is_known = || {
                    is_written() || self.likely.is_some() || allowed.iter().any(|known| is_near(known, got))
                };
                self.says_the_kind()
                    && (is_version(got, allowed) || is_of_family(got, allowed) && !is_known())
            }
            (Detail::None, ShapeFaultKind::Unknown) => self.is_kind_by_key(document),
            _ => false,
        };
        let is_of_another =
            || unread::block(document.value(self.parent)).is_some_and(|unread| unread.is_known);
        (is_new && !is_of_another()).then_some("it may be newer than this list")
    }

    /// Whether its key says what the object is.
    fn says_the_kind(&self) -> bool {
        self.by().is_some_and(|by| self.field.is_some_and(|field| *field.key == *by.key))
    }

    /// Whether it is the key of an object that has one of several, and has none of them.
    fn is_kind_by_key(&self, document: &Document<'_>) -> bool {
        let is_only = || document.value(self.parent).members().nth(1).is_none();
        let is_union = self.object.exactly_one.is_some()
            || self.object.at_least_one.is_some()
            || self.object_kind() == Some(Kind::Tool) && is_only();
        let is_unknown = |member: Value<'_, '_>| {
            let key = member.key_text().unwrap_or_default();
            self.object.field(&key).is_none_or(|field| !field.is_known)
                && !self.object.instead.contains_key(&*key)
        };
        let mut members = document.value(self.parent).members().take(MOST_KEYS);
        let is_object = self.value.is_some_and(|value| document.value(value).kind() == JsonKind::Object);
        is_union && is_object && members.all(is_unknown) && self.meant(document).is_none()
    }
}

/// Whether a type is that of another version of one in a list, such as `web_search_20270101`.
fn is_version(own: &str, list: &[&str]) -> bool {
    let without = |name: &str| {
        let stem =
            name.trim_end_matches(|sign: char| sign.is_ascii_digit() || matches!(sign, '_' | '-' | '.'));
        (stem.len() < name.len() && !stem.is_empty()).then(|| stem.to_owned())
    };
    without(own).is_some_and(|stem| list.iter().any(|known| without(known).as_ref() == Some(&stem)))
}

/// The number of kinds with the same last word that make a family.
const FAMILY: usize = 3;

/// Whether a type ends as several of a list do, such as `…_call` or `…_tool_result`.
fn is_of_family(own: &str, list: &[&str]) -> bool {
    let last = |name: &str| name.rsplit_once('_').map(|(_, word)| word.to_owned());
    last(own)
        .is_some_and(|word| list.iter().filter(|known| last(known).as_ref() == Some(&word)).count() >= FAMILY)
}
