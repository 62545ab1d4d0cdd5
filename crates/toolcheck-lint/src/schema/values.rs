//! The values of a document as the JSON Schema validator sees them, so that nothing is parsed twice.

use std::borrow::Cow;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object};
use serde_json::{Number, Value as SerdeValue};
use toolcheck_json::{Document, Kind, Value};

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
        let root = document.root();
        f(Read(root))
    }
}

/// A value of a document that is valid JSON.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Read<'a>(pub(crate) Value<'a, 'a>);

impl<'a> Node<'a, Spanned> for Read<'a> {
    type Object = Self;
    type Array = Self;
    type Number = Number;

    fn as_object(&self) -> Option<Self> {
        self.0.is_object().then_some(*self)
    }

    fn as_array(&self) -> Option<Self> {
        self.0.is_array().then_some(*self)
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        self.0.as_str()
    }

    fn as_number(&self) -> Option<Number> {
        (self.0.kind() == Kind::Number).then(|| {
            // A number that doesn't fit any machine type is treated as a large one.
            serde_json::from_slice(self.0.raw()).unwrap_or_else(|_| Number::from(u64::MAX))
        })
    }

    fn as_boolean(&self) -> Option<bool> {
        self.0.as_bool()
    }

    fn is_null(&self) -> bool {
        self.0.is_null()
    }

    fn is_number(&self) -> bool {
        self.0.kind() == Kind::Number
    }

    fn is_string(&self) -> bool {
        self.0.kind() == Kind::String
    }

    fn json_type(&self) -> JsonType {
        match self.0.kind() {
            Kind::Bool => JsonType::Boolean,
            Kind::Number => JsonType::Number,
            Kind::String => JsonType::String,
            Kind::Array => JsonType::Array,
            Kind::Object => JsonType::Object,
            // Invalid values are not checked.
            Kind::Null | Kind::Invalid => JsonType::Null,
        }
    }

    fn to_value(&self) -> Cow<'a, SerdeValue> {
        Cow::Owned(serde_json::from_slice(self.0.raw()).unwrap_or_default())
    }

    fn identity(&self) -> Option<NodeIdentity> {
        let document: *const Document<'_> = self.0.document();
        Some(NodeIdentity::tagged(document as usize, self.0.id().index() as u32))
    }
}

impl<'a> Object<'a, Spanned> for Read<'a> {
    type Node = Self;
    type MemberName = Cow<'a, str>;
    type MembersIter = Members<'a>;

    fn len(&self) -> usize {
        self.0.members().count()
    }

    fn get(&self, key: &Box<str>) -> Option<Self> {
        self.0.get(key).map(Self)
    }

    fn members(&self) -> Members<'a> {
        Members(self.0.members())
    }
}

impl<'a> Array<'a, Spanned> for Read<'a> {
    type Node = Self;
    type ElementsIter = Elements<'a>;

    fn len(&self) -> usize {
        self.0.elements().count()
    }

    fn elements(&self) -> Elements<'a> {
        Elements(self.0.elements())
    }
}

/// The members of an object, with their names.
pub(crate) struct Members<'a>(toolcheck_json::Children<'a, 'a>);

impl<'a> Iterator for Members<'a> {
    type Item = (Cow<'a, str>, Read<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let member = self.0.next()?;
        Some((member.key_text().unwrap_or_default(), Read(member)))
    }
}

/// The elements of an array.
pub(crate) struct Elements<'a>(toolcheck_json::Children<'a, 'a>);

impl<'a> Iterator for Elements<'a> {
    type Item = Read<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(Read)
    }
}
