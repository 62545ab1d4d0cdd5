//! The values of a document as the JSON Schema validator sees them, so that nothing is parsed twice.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use foldhash::HashMap;
use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object, SerdeJson};
use serde_json::{Number, Value as SerdeValue};
use toolcheck_json::{Document, Kind, NodeId, Value};

/// The representation that the validator works on: the values of our own documents.
#[derive(Debug)]
pub(crate) struct Spanned;

impl Json for Spanned {
    type Node<'a> = Read<'a>;
    type PreparedKey = Box<str>;
    type StringBuffer = ();

    fn prepare_key(key: &str) -> Box<str> {
        key.into()
    }

    fn with_string_node<T>(_: &mut (), string: &str, f: impl FnOnce(Read<'_>) -> T) -> T {
        // Only schemas with `propertyNames` need this.
        let text = SerdeValue::from(string).to_string();
        let document = Document::read(text.as_bytes());
        let index = Index::default();
        f(Read { value: document.root(), index: &index })
    }
}

/// A value of a document that is valid JSON.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Read<'a> {
    pub(crate) value: Value<'a, 'a>,
    pub(crate) index: &'a Index<'a>,
}

/// A number that is written as an integer of 64 bits.
pub(super) fn integer(value: Value<'_, '_>) -> Option<i64> {
    let text = Some(value.raw()).filter(|_| value.kind() == Kind::Number)?;
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Finds the children of large objects and arrays of a document: a validator asks for each key that a schema names, and
/// an object is a list.
#[derive(Debug, Default)]
pub(crate) struct Index<'a> {
    objects: RefCell<HashMap<NodeId, Rc<Members<'a>>>>,
    arrays: RefCell<HashMap<NodeId, Rc<[Value<'a, 'a>]>>>,
    lengths: RefCell<HashMap<NodeId, usize>>,
    /// The number of children that were looked at.
    looked_at: Cell<usize>,
}

/// The members of an object by their keys.
type Members<'a> = BTreeMap<Cow<'a, str>, Value<'a, 'a>>;

/// The number of values in an object or array up to which it is searched one by one.
const FEW: usize = 32;

impl<'a> Index<'a> {
    /// The member of an object with this key: the last, if there are several.
    pub(crate) fn get(&self, object: Value<'a, 'a>, key: &str) -> Option<Value<'a, 'a>> {
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

    /// The element of an array with this index.
    pub(crate) fn nth(&self, array: Value<'a, 'a>, index: usize) -> Option<Value<'a, 'a>> {
        if array.count() <= FEW {
            return array.elements().nth(index);
        }
        let mut arrays = self.arrays.borrow_mut();
        arrays.entry(array.id()).or_insert_with(|| array.elements().collect()).get(index).copied()
    }

    /// The number of its children: each `required` asks for it.
    fn length(&self, value: Value<'a, 'a>) -> usize {
        if value.count() <= FEW {
            self.look_at(value.count());
            return value.children().count();
        }
        *self.lengths.borrow_mut().entry(value.id()).or_insert_with(|| {
            self.look_at(value.count());
            value.children().count()
        })
    }

    fn look_at(&self, children: usize) {
        self.looked_at.set(self.looked_at.get() + children);
    }
}

impl<'a> Read<'a> {
    fn at(self, value: Value<'a, 'a>) -> Self {
        Self { value, index: self.index }
    }

    /// Whether the value equals one of a schema. Nothing is copied: it may be compared with thousands.
    fn equals(self, expected: &SerdeValue) -> bool {
        match expected {
            SerdeValue::Null => self.is_null(),
            SerdeValue::Bool(expected) => self.as_boolean() == Some(*expected),
            SerdeValue::String(expected) => self.as_string().is_some_and(|own| own == expected.as_str()),
            SerdeValue::Number(number) => {
                // A list of allowed values may have thousands of integers.
                if let (Some(own), Some(expected)) = (integer(self.value), number.as_i64()) {
                    return own == expected;
                }
                let equals =
                    |own: Number| Node::<SerdeJson>::equals_value(&&SerdeValue::Number(own), expected);
                self.as_number().is_some_and(equals)
            }
            SerdeValue::Array(expected) => {
                let mut elements = self.value.elements();
                let mut is_next = |expected| elements.next().is_some_and(|own| self.at(own).equals(expected));
                self.value.is_array() && expected.iter().all(&mut is_next) && elements.next().is_none()
            }
            SerdeValue::Object(expected) => {
                let find = |(key, expected): (&String, &SerdeValue)| {
                    self.index.get(self.value, key).is_some_and(|own| self.at(own).equals(expected))
                };
                let keys = expected.len();
                self.value.is_object()
                    && self.value.count() > keys
                    && expected.iter().all(find)
                    && self
                        .value
                        .members()
                        .all(|own| own.key_text().is_some_and(|key| expected.contains_key(&*key)))
            }
        }
    }
}

impl<'a> Node<'a, Spanned> for Read<'a> {
    type Object = Self;
    type Array = Self;
    type Number = Number;

    fn as_object(&self) -> Option<Self> {
        self.value.is_object().then_some(*self)
    }

    fn as_array(&self) -> Option<Self> {
        self.value.is_array().then_some(*self)
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        self.value.as_str()
    }

    fn as_number(&self) -> Option<Number> {
        (self.value.kind() == Kind::Number).then(|| {
            // A number that doesn't fit any machine type is treated as a large one.
            serde_json::from_slice(self.value.raw()).unwrap_or_else(|_| Number::from(u64::MAX))
        })
    }

    fn as_boolean(&self) -> Option<bool> {
        self.value.as_bool()
    }

    fn is_null(&self) -> bool {
        self.value.is_null()
    }

    fn is_number(&self) -> bool {
        self.value.kind() == Kind::Number
    }

    fn is_string(&self) -> bool {
        self.value.kind() == Kind::String
    }

    fn json_type(&self) -> JsonType {
        match self.value.kind() {
            Kind::Bool => JsonType::Boolean,
            Kind::Number => JsonType::Number,
            Kind::String => JsonType::String,
            Kind::Array => JsonType::Array,
            Kind::Object => JsonType::Object,
            // Invalid values are not checked.
            Kind::Null | Kind::Invalid => JsonType::Null,
        }
    }

    fn equals_value(&self, expected: &SerdeValue) -> bool {
        self.equals(expected)
    }

    fn to_value(&self) -> Cow<'a, SerdeValue> {
        // An error takes a copy, which nothing shows, and there may be an error for each key that an object lacks.
        Cow::Owned(SerdeValue::Null)
    }

    fn identity(&self) -> Option<NodeIdentity> {
        let document: *const Document<'_> = self.value.document();
        Some(NodeIdentity::tagged(document as usize, self.value.id().index() as u32))
    }
}

impl<'a> Object<'a, Spanned> for Read<'a> {
    type Node = Self;
    type MemberName = Cow<'a, str>;
    type MembersIter = MembersOf<'a>;

    fn len(&self) -> usize {
        self.index.length(self.value)
    }

    fn get(&self, key: &Box<str>) -> Option<Self> {
        self.index.get(self.value, key).map(|member| self.at(member))
    }

    fn members(&self) -> MembersOf<'a> {
        MembersOf { of: *self, members: self.value.members() }
    }
}

impl<'a> Array<'a, Spanned> for Read<'a> {
    type Node = Self;
    type ElementsIter = Elements<'a>;

    fn len(&self) -> usize {
        self.index.length(self.value)
    }

    fn is_unique(&self) -> bool {
        let elements = self.value.elements();
        let parse = |element: Value<'_, '_>| serde_json::from_slice(element.raw()).unwrap_or_default();
        let elements: Vec<SerdeValue> = elements.map(parse).collect();
        Array::<SerdeJson>::is_unique(&&*elements)
    }

    fn elements(&self) -> Elements<'a> {
        Elements { of: *self, elements: self.value.elements() }
    }
}

/// The members of an object, with their names.
pub(crate) struct MembersOf<'a> {
    of: Read<'a>,
    members: toolcheck_json::Children<'a, 'a>,
}

impl<'a> Iterator for MembersOf<'a> {
    type Item = (Cow<'a, str>, Read<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let member = self.members.next()?;
        Some((member.key_text().unwrap_or_default(), self.of.at(member)))
    }
}

/// The elements of an array.
pub(crate) struct Elements<'a> {
    of: Read<'a>,
    elements: toolcheck_json::Children<'a, 'a>,
}

impl<'a> Iterator for Elements<'a> {
    type Item = Read<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        self.elements.next().map(|element| self.of.at(element))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_walked_once_however_many_keys_are_asked_for() {
        let looked_at = |keys: usize| {
            let members: Vec<String> = (0..keys).map(|key| format!("\"k{key}\": {key}")).collect();
            let text = format!("{{{}}}", members.join(", "));
            let document = Document::read(text.as_bytes());
            let index = Index::default();
            for key in 0..keys {
                assert_eq!(index.length(document.root()), keys);
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
    fn values_equal_those_of_a_schema_as_the_library_has_it() {
        let texts = [
            "null",
            "true",
            "1",
            "1.0",
            "-0",
            "0",
            "-0.0",
            "-7",
            "1e2",
            "100",
            "\"a\"",
            "\"\\u0061\"",
            "[]",
            "[1]",
            "[1, 2]",
            "[1, [2]]",
            "{}",
            "{\"a\": 1}",
            "{\"a\": 1, \"a\": 2}",
            "{\"a\": 2}",
            "{\"a\": 2, \"b\": {\"c\": []}}",
            "{\"b\": {\"c\": []}, \"a\": 2.0}",
            "{\"b\": 1}",
            "18446744073709551616",
            "0.1",
        ];
        for own in texts {
            let document = Document::read(own.as_bytes());
            let index = Index::default();
            let read = Read { value: document.root(), index: &index };
            for expected in texts {
                let expected: SerdeValue = serde_json::from_str(expected).unwrap();
                let parsed: SerdeValue = serde_json::from_str(own).unwrap();
                let wanted = Node::<SerdeJson>::equals_value(&&parsed, &expected);
                assert_eq!(read.equals(&expected), wanted, "{own} {expected}");
            }
        }
    }
}
