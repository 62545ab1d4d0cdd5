//! A value with its place.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

/// The name by which the deserializer knows that a place is wanted.
pub(crate) const NAME: &str = "toolcheck_toml::Spanned";

/// A value or a key, and the bytes of the text where it is. Only this crate's functions can read one.
///
/// ```
/// # use std::collections::BTreeMap;
/// use toolcheck_toml::Spanned;
///
/// let text = "port = 8080";
/// let table: BTreeMap<Spanned<String>, Spanned<u16>> = toolcheck_toml::from_str(text).expect("a valid text");
/// let (key, value) = table.first_key_value().expect("one member");
/// assert_eq!((&text[key.span()], &text[value.span()]), ("port", "8080"));
/// assert_eq!(*value.get(), 8080);
/// ```
#[derive(Debug, Clone)]
pub struct Spanned<T> {
    value: T,
    span: Range<usize>,
}

impl<T> Spanned<T> {
    /// The value.
    pub fn get(&self) -> &T {
        &self.value
    }

    /// The value without its place.
    pub fn into_inner(self) -> T {
        self.value
    }

    /// Its bytes in the text.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }
}

/// Values are compared without their places.
impl<T: PartialEq> PartialEq for Spanned<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for Spanned<T> {}

impl<T: PartialOrd> PartialOrd for Spanned<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        self.value.partial_cmp(&other.value)
    }
}

impl<T: Ord> Ord for Spanned<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.value.cmp(&other.value)
    }
}

impl<'t, T: Deserialize<'t>> Deserialize<'t> for Spanned<T> {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_tuple_struct(NAME, 3, Parts(PhantomData))
    }
}

/// Reads where a value starts, where it ends, and the value.
struct Parts<T>(PhantomData<T>);

impl<'t, T: Deserialize<'t>> Visitor<'t> for Parts<T> {
    type Value = Spanned<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value with its place")
    }

    fn visit_seq<A: SeqAccess<'t>>(self, mut parts: A) -> Result<Spanned<T>, A::Error> {
        let missing = |number| A::Error::invalid_length(number, &self);
        let start = parts.next_element()?.ok_or_else(|| missing(0))?;
        let end = parts.next_element()?.ok_or_else(|| missing(1))?;
        let value = parts.next_element()?.ok_or_else(|| missing(2))?;
        Ok(Spanned { value, span: start..end })
    }
}
