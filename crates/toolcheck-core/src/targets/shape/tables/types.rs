//! The types of values, and the values, that tables name.

use std::sync::Arc;

use serde::{Deserialize, Deserializer};

use crate::error::Error;

/// JSON types, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Types(pub(crate) Arc<[JsonType]>);

impl<'de> Deserialize<'de> for Types {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            One(String),
            Several(Vec<String>),
        }

        let names = match Written::deserialize(deserializer)? {
            Written::One(name) => vec![name],
            Written::Several(names) => names,
        };
        let types: Result<Vec<JsonType>, Error> = names.iter().map(|name| name.parse()).collect();
        types.map(|types| Self(types.into())).map_err(serde::de::Error::custom)
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

/// A string, a number or a boolean that a field may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scalar {
    /// The string, or the number or boolean as JSON writes it.
    pub(crate) text: String,
    pub(crate) is_string: bool,
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Boolean(bool),
            Integer(i64),
            Number(f64),
            String(String),
        }

        Ok(match Written::deserialize(deserializer)? {
            Written::Boolean(value) => Self { text: value.to_string(), is_string: false },
            Written::Integer(value) => Self { text: value.to_string(), is_string: false },
            Written::Number(value) => Self { text: value.to_string(), is_string: false },
            Written::String(text) => Self { text, is_string: true },
        })
    }
}
