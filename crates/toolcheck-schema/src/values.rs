//! The values of a document that are held against a schema.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use foldhash::HashMap;
use serde_json::{Number, Value as Json};
use toolcheck_json::{Kind, NodeId, Value, unescape_step};

/// A number that is written as an integer of 64 bits.
pub(crate) fn integer(value: Value<'_, '_>) -> Option<i64> {
    let text = Some(value.raw()).filter(|_| value.kind() == Kind::Number)?;
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Finds the children of large objects and arrays of a document: a validator asks for each key that a schema names, and
/// an object is a list.
#[derive(Debug, Default)]
pub struct Index<'a> {
    objects: RefCell<HashMap<NodeId, Rc<Members<'a>>>>,
    arrays: RefCell<HashMap<NodeId, Rc<[Value<'a, 'a>]>>>,
    looked_at: Cell<usize>,
}

type Members<'a> = BTreeMap<Cow<'a, str>, Value<'a, 'a>>;

/// The number of values in an object or array up to which it is searched one by one.
const FEW: usize = 32;

impl<'a> Index<'a> {
    /// The member of an object with this key: the last, if there are several.
    pub fn get(&self, object: Value<'a, 'a>, key: &str) -> Option<Value<'a, 'a>> {
        if object.count() <= FEW {
            self.look_at(object.count());
            return object.get(key);
        }
        let mut objects = self.objects.borrow_mut();
        let members = objects.entry(object.id()).or_insert_with(|| {
            self.look_at(object.count());
            Rc::new(object.members().filter_map(|member| Some((member.key_text()?, member))).collect())
        });
        self.look_at(1);
        members.get(key).copied()
    }

    /// The element of an array at this place.
    pub fn nth(&self, array: Value<'a, 'a>, index: usize) -> Option<Value<'a, 'a>> {
        if array.count() <= FEW {
            return array.elements().nth(index);
        }
        let mut arrays = self.arrays.borrow_mut();
        arrays.entry(array.id()).or_insert_with(|| array.elements().collect()).get(index).copied()
    }

    fn look_at(&self, children: usize) {
        self.looked_at.set(self.looked_at.get() + children);
    }
}

/// How deep values are in one another that a validator reads: no schema is followed as deep.
const DEEPEST: usize = 2 * super::cost::DEEPEST;

/// A value, which must be valid JSON, as the validator reads it. What is nested more deeply is `null`.
pub(crate) fn json(value: Value<'_, '_>) -> Json {
    json_above(value, DEEPEST)
}

fn json_above(value: Value<'_, '_>, levels: usize) -> Json {
    match value.kind() {
        Kind::Bool => Json::Bool(value.as_bool().unwrap_or_default()),
        Kind::Number => Json::Number(
            // A number that doesn't fit any machine type is treated as a large one.
            serde_json::from_slice(value.raw()).unwrap_or_else(|_| Number::from(u64::MAX)),
        ),
        Kind::String => Json::String(value.as_str().unwrap_or_default().into_owned()),
        Kind::Array if levels > 0 => {
            value.elements().map(|element| json_above(element, levels - 1)).collect()
        }
        Kind::Object if levels > 0 => {
            let key = |member: Value<'_, '_>| member.key_text().unwrap_or_default().into_owned();
            value.members().map(|member| (key(member), json_above(member, levels - 1))).collect()
        }
        _ => Json::Null,
    }
}

/// Removes a member at a JSON Pointer, and the objects around it in which all is `null`: some tables pad an object that a
/// row does not have with its keys.
pub(crate) fn remove_null(value: &mut Json, path: &str) {
    let Some((around, key)) = path.rsplit_once('/') else { return };
    let Some(Json::Object(members)) = value.pointer_mut(around) else { return };
    members.remove(&*unescape_step(key));
    if members.values().all(Json::is_null) {
        remove_null(value, around);
    }
}

#[cfg(test)]
mod tests {
    use toolcheck_json::Document;

    use super::*;

    #[test]
    fn an_object_is_walked_once_however_many_keys_are_asked_for() {
        let looked_at = |keys: usize| {
            let members: Vec<String> = (0..keys).map(|key| format!("\"k{key}\": {key}")).collect();
            let text = format!("{{{}}}", members.join(", "));
            let document = Document::read(text.as_bytes());
            let index = Index::default();
            for key in 0..keys {
                assert!(index.get(document.root(), &format!("k{key}")).is_some());
            }
            index.looked_at.get()
        };
        assert!(looked_at(1_000) < 4_000);
        assert!(looked_at(4_000) < 16_000);
    }

    #[test]
    fn of_equal_keys_the_last_one_counts() {
        let other: Vec<String> = (0..40).map(|key| format!("\"k{key}\": 0")).collect();
        let text = format!("{{\"a\": 1, {}, \"a\": 2}}", other.join(", "));
        let document = Document::read(text.as_bytes());
        let index = Index::default();
        assert_eq!(index.get(document.root(), "a").map(Value::raw), Some(&b"2"[..]));
    }

    #[test]
    fn a_value_is_what_the_library_reads() {
        for text in [
            "null",
            "true",
            "1",
            "1.0",
            "-0",
            "-0.0",
            "1e2",
            "\"\\u0061\"",
            "[1, [2, {}]]",
            "{\"a\": 1, \"b\": 0.1, \"a\": [2]}",
            "18446744073709551616",
        ] {
            let document = Document::read(text.as_bytes());
            assert_eq!(Some(json(document.root())), serde_json::from_str(text).ok(), "{text}");
        }
        assert_eq!(json(Document::read(b"1e999").root()), Json::from(u64::MAX));
    }
}
