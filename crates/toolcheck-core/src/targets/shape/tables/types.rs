//! The types of values, and the values, that tables name.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toolcheck_toml::Text;

use crate::error::Error;

/// JSON types, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Types(pub(crate) Arc<[JsonType]>);

impl<'de> Deserialize<'de> for Types {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Names;

        impl<'de> Visitor<'de> for Names {
            type Value = Types;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a type, or a list of types")
            }

            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Types, E> {
                Ok(Types([name.parse().map_err(E::custom)?].into()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut names: A) -> Result<Types, A::Error> {
                let mut types = Vec::new();
                while let Some(name) = names.next_element::<Cow<'_, str>>()? {
                    types.push(name.parse().map_err(A::Error::custom)?);
                }
                Ok(Types(types.into()))
            }
        }

        deserializer.deserialize_any(Names)
    }
}

/// A JSON type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum JsonType {
    /// A string.
    String,
    /// A number without a fraction.
    Integer,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// An object.
    Object,
    /// An array.
    Array,
    /// `null`.
    Null,
    /// Any of them.
    Any,
}

impl JsonType {
    /// All, with their names in files.
    pub(crate) const ALL: [(Self, &'static str, &'static str); 8] = [
        (Self::String, "string", "a string"),
        (Self::Integer, "integer", "an integer"),
        (Self::Number, "number", "a number"),
        (Self::Boolean, "boolean", "a boolean"),
        (Self::Object, "object", "an object"),
        (Self::Array, "array", "an array"),
        (Self::Null, "null", "null"),
        (Self::Any, "any", "anything"),
    ];

    /// Whether it contains no other values.
    pub fn is_scalar(self) -> bool {
        !matches!(self, Self::Array | Self::Object)
    }

    /// Its name in JSON Schema.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// The type in prose, with its article.
    pub fn with_article(self) -> &'static str {
        Self::ALL[self as usize].2
    }
}

impl std::str::FromStr for JsonType {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let known = Self::ALL.iter().find(|(_, known, _)| *known == name);
        known.map(|(json_type, ..)| *json_type).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|(_, name, _)| *name).collect();
            Error::new(format!("unknown type `{name}`; use one of `{}`", names.join("`, `")))
        })
    }
}

/// A string, a number or a boolean that a field may be, or may not.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scalar {
    /// The string, or the number or boolean as JSON writes it.
    pub text: Text,
    /// Whether it is a string.
    pub is_string: bool,
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Written;

        impl Visitor<'_> for Written {
            type Value = Scalar;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string, a number or a boolean")
            }

            fn visit_bool<E>(self, value: bool) -> Result<Scalar, E> {
                Ok(Scalar { text: value.to_string().into(), is_string: false })
            }

            fn visit_i64<E>(self, value: i64) -> Result<Scalar, E> {
                Ok(Scalar { text: value.to_string().into(), is_string: false })
            }

            fn visit_f64<E>(self, value: f64) -> Result<Scalar, E> {
                Ok(Scalar { text: value.to_string().into(), is_string: false })
            }

            fn visit_str<E>(self, text: &str) -> Result<Scalar, E> {
                Ok(Scalar { text: Text::of(text), is_string: true })
            }
        }

        deserializer.deserialize_any(Written)
    }
}
