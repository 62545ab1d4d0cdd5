//! Gives the values of a parsed text to the types that read them.

use std::ops::Range;

use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, Expected, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use crate::packed::{self, Content as Packed, Values};
use crate::{Error, spanned};

/// Reads a text. Fails if the text is not TOML, or not what `T` expects.
pub fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    from_packed(&packed::with_places(text)?)
}

/// Reads a text that was [packed](packed::pack) before. Errors have no place. Fails if the text is not what `T`
/// expects.
pub fn from_packed<T: DeserializeOwned>(packed: &str) -> Result<T, Error> {
    T::deserialize(Node::of(packed::Packed::whole(packed)?)?)
}

/// A value or a key, with its place.
struct Node<'de> {
    value: Value<'de>,
    span: Range<usize>,
    /// A value without a place, as it was packed.
    packed: Option<&'de str>,
}

#[derive(Clone, Copy)]
enum Value<'de> {
    Packed(Packed<'de>),
    /// Where a value starts or ends.
    Offset(usize),
}

impl<'de> Node<'de> {
    fn of(value: packed::Packed<'de>) -> Result<Self, Error> {
        Ok(Self { value: Value::Packed(value.content()?), span: value.span(), packed: value.without_place() })
    }

    /// Reads it. A type that looks at the value more than once has errors of its own, which get their place here.
    fn give_to<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Error> {
        let span = self.span.clone();
        seed.deserialize(self).map_err(|error| error.at(span))
    }
}

impl Node<'_> {
    /// Checks that a table has no other keys: unlike those of a struct, a variant's cannot be ignored.
    fn has_only(&self, fields: &[&str]) -> Result<(), Error> {
        let Value::Packed(Packed::Table(table)) = self.value else { return Ok(()) };
        let (mut first, mut names) = (None, Vec::new());
        for member in table.members() {
            let (key, _) = member?;
            if let Packed::String(name) = key.content()?
                && !fields.contains(&name)
            {
                first.get_or_insert(key.span());
                names.push(name);
            }
        }
        let Some(first) = first else { return Ok(()) };
        let (names, fields) = (names.join(", "), fields.join(", "));
        let message = format!("unexpected keys in table: {names}, available keys: {fields}");
        Err(Error::custom(message).at(first))
    }
}

/// The error about a value of another type than expected.
fn unexpected(value: Value<'_>, expected: &dyn Expected) -> Error {
    let value = match value {
        Value::Offset(offset) => Unexpected::Unsigned(offset as u64),
        Value::Packed(value) => match value {
            Packed::String(text) => Unexpected::Str(text),
            Packed::Signed(number) => Unexpected::Signed(number),
            Packed::Unsigned(number) => Unexpected::Unsigned(number),
            Packed::Float(number) => Unexpected::Float(number),
            Packed::Boolean(value) => Unexpected::Bool(value),
            Packed::Date => Unexpected::Other("date"),
            Packed::Array(_) => Unexpected::Seq,
            Packed::Table(_) => Unexpected::Map,
            Packed::Fault(message) => return Error::custom(message),
        },
    };
    Error::invalid_type(value, expected)
}

/// A method for what is expected, which is compiled only for the values that are. Others are an error.
macro_rules! expect {
    ($($name:ident: $visitor:ident => {$($pattern:pat => $visit:expr,)+})+) => {$(
        fn $name<V: Visitor<'de>>(self, $visitor: V) -> Result<V::Value, Error> {
            let span = self.span;
            let read = match self.value {
                $($pattern => $visit,)+
                other => Err(unexpected(other, &$visitor)),
            };
            read.map_err(|error: Error| error.at(span))
        }
    )+};
}

/// Functions that read what another one reads.
macro_rules! as_for {
    ($other:ident: $($name:ident)+) => {$(
        fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            self.$other(visitor)
        }
    )+};
}

impl<'de> Deserializer<'de> for Node<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::Packed(Packed::String(_)) => self.deserialize_string(visitor),
            Value::Packed(Packed::Signed(_) | Packed::Unsigned(_) | Packed::Fault(_)) | Value::Offset(_) => {
                self.deserialize_i64(visitor)
            }
            Value::Packed(Packed::Float(_)) => self.deserialize_f64(visitor),
            Value::Packed(Packed::Boolean(_)) => self.deserialize_bool(visitor),
            Value::Packed(Packed::Array(_)) => self.deserialize_seq(visitor),
            Value::Packed(Packed::Table(_)) => self.deserialize_map(visitor),
            date @ Value::Packed(Packed::Date) => Err(unexpected(date, &visitor).at(self.span)),
        }
    }

    expect! {
        deserialize_bool: visitor => {
            Value::Packed(Packed::Boolean(value)) => visitor.visit_bool(value),
        }
        deserialize_i64: visitor => {
            Value::Packed(Packed::Signed(number)) => visitor.visit_i64(number),
            Value::Packed(Packed::Unsigned(number)) => visitor.visit_u64(number),
            Value::Offset(offset) => visitor.visit_u64(offset as u64),
        }
        deserialize_f64: visitor => {
            Value::Packed(Packed::Float(number)) => visitor.visit_f64(number),
            Value::Packed(Packed::Signed(number)) => visitor.visit_i64(number),
            Value::Packed(Packed::Unsigned(number)) => visitor.visit_u64(number),
        }
        deserialize_string: visitor => {
            Value::Packed(Packed::String(text)) => visitor.visit_borrowed_str(text),
        }
        deserialize_seq: visitor => {
            Value::Packed(Packed::Array(elements)) => visitor.visit_seq(Elements::Array(elements)),
        }
        deserialize_map: visitor => {
            Value::Packed(Packed::Table(members)) => visitor.visit_map(Members { members, value: None }),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let span = self.span.clone();
        let choice = Choice::of(self).map_err(|error| error.at(span.clone()))?;
        visitor.visit_enum(choice).map_err(|error: Error| error.at(span))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        if name != spanned::NAME {
            return self.deserialize_seq(visitor);
        }
        let Range { start, end } = self.span;
        let offset = |at| Node { value: Value::Offset(at), span: start..end, packed: None };
        let parts = vec![offset(start), offset(end), self];
        visitor.visit_seq(Elements::Spanned(parts.into_iter())).map_err(|error: Error| error.at(start..end))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        // What is not there has no key.
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        if let Some(packed) = self.packed.filter(|_| name == packed::DEFERRED) {
            return visitor.visit_borrowed_str(packed);
        }
        let span = self.span.clone();
        visitor.visit_newtype_struct(self).map_err(|error: Error| error.at(span))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_map(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    as_for! { deserialize_f64: deserialize_f32 }
    as_for! { deserialize_string: deserialize_str deserialize_char deserialize_identifier }
    as_for! { deserialize_i64: deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_i8 deserialize_i16 deserialize_i32 }
    forward_to_deserialize_any! { bytes byte_buf unit unit_struct }
}

/// The elements of an array, or the parts of a value with its place.
enum Elements<'de> {
    Array(Values<'de>),
    Spanned(std::vec::IntoIter<Node<'de>>),
}

impl<'de> SeqAccess<'de> for Elements<'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let next = match self {
            Self::Array(elements) => elements.next().map(|element| Node::of(element?)).transpose()?,
            Self::Spanned(parts) => parts.next(),
        };
        next.map(|node| node.give_to(seed)).transpose()
    }
}

struct Members<'de> {
    /// The keys and values that are left.
    members: Values<'de>,
    value: Option<Node<'de>>,
}

impl<'de> MapAccess<'de> for Members<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let Some((key, value)) = self.members.next_member().transpose()? else { return Ok(None) };
        self.value = Some(Node::of(value)?);
        seed.deserialize(Node::of(key)?).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        match self.value.take() {
            Some(value) => value.give_to(seed),
            None => Err(Error::custom("a value is read before its key")),
        }
    }
}

/// A variant of an enum: its name, or a table with its name and its value.
struct Choice<'de> {
    name: Node<'de>,
    value: Option<Node<'de>>,
}

impl<'de> Choice<'de> {
    fn of(node: Node<'de>) -> Result<Self, Error> {
        match node.value {
            Value::Packed(Packed::Table(members)) => {
                let mut members = members.members();
                match (members.next().transpose()?, members.next()) {
                    (Some((name, value)), None) => {
                        Ok(Self { name: Node::of(name)?, value: Some(Node::of(value)?) })
                    }
                    (None, _) => Err(Error::custom("wanted exactly 1 element, found 0 elements")),
                    _ => Err(Error::custom("wanted exactly 1 element, more than 1 element")),
                }
            }
            Value::Packed(Packed::String(_)) => Ok(Self { name: node, value: None }),
            _ => Err(Error::custom("wanted string or table")),
        }
    }
}

impl<'de> EnumAccess<'de> for Choice<'de> {
    type Error = Error;
    type Variant = Content<'de>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Content<'de>), Error> {
        Ok((seed.deserialize(self.name)?, Content(self.value)))
    }
}

struct Content<'de>(Option<Node<'de>>);

impl<'de> Content<'de> {
    fn needed(self, expected: &str) -> Result<Node<'de>, Error> {
        self.0.ok_or_else(|| Error::invalid_type(Unexpected::UnitVariant, &expected))
    }
}

impl<'de> VariantAccess<'de> for Content<'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        match self.0 {
            Some(node) => Err(unexpected(node.value, &"unit variant").at(node.span)),
            None => Ok(()),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(self.needed("newtype variant")?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.needed("tuple variant")?.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let node = self.needed("struct variant")?;
        node.has_only(fields)?;
        node.deserialize_map(visitor)
    }
}
