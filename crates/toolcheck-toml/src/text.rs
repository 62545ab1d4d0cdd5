//! A text of a table, which is not copied where the table is part of the program.

use std::borrow::Borrow;
use std::cell::Cell;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::{Serialize, Serializer};

thread_local! {
    /// The part of the program that is read now.
    static IN_PLACE: Cell<&'static str> = const { Cell::new("") };
}

/// Calls what reads a packed text that is part of the program: what is a [`Text`] or [deferred](crate::Deferred) in it is
/// not copied.
pub fn read_in_place<T>(packed: &'static str, read: impl FnOnce() -> T) -> T {
    let before = IN_PLACE.replace(packed);
    let value = read();
    IN_PLACE.set(before);
    value
}

/// A text that costs nothing to read or to clone where it is part of the program.
#[derive(Clone)]
pub struct Text(Place);

#[derive(Clone)]
enum Place {
    Program(&'static str),
    Memory(Arc<str>),
}

impl Text {
    /// This text: the part of the program that it is, or a copy.
    pub fn of(text: &str) -> Self {
        let whole = IN_PLACE.get();
        let start = text.as_ptr().addr().checked_sub(whole.as_ptr().addr());
        let same = start.and_then(|start| whole.get(start..start.checked_add(text.len())?));
        Self(same.map_or_else(|| Place::Memory(text.into()), Place::Program))
    }

    /// The text, if it is part of the program.
    pub(crate) fn in_program(&self) -> Option<&'static str> {
        match self.0 {
            Place::Program(text) => Some(text),
            Place::Memory(_) => None,
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Place::Program(text) => text,
            Place::Memory(text) => text,
        }
    }
}

impl Default for Text {
    fn default() -> Self {
        "".into()
    }
}

impl From<&'static str> for Text {
    fn from(text: &'static str) -> Self {
        Self(Place::Program(text))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(Place::Memory(text.into()))
    }
}

impl From<Text> for String {
    fn from(text: Text) -> Self {
        text.as_str().to_owned()
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Text {}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        **self == *other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        **self == **other
    }
}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<'t> Deserialize<'t> for Text {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Whole)
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

struct Whole;

impl Visitor<'_> for Whole {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Text, E> {
        Ok(Text::of(text))
    }
}

#[cfg(test)]
mod tests {
    use super::{Text, read_in_place};
    use crate::{from_packed, pack};

    #[test]
    fn a_text_of_the_program_is_not_copied() {
        let packed: &'static str = pack("a = \"text\"").expect("a valid text").leak();
        let read = || from_packed::<std::collections::BTreeMap<Text, Text>>(packed).expect("texts");
        for (table, is_in_place) in [(read(), false), (read_in_place(packed, read), true)] {
            for (key, value) in &table {
                assert_eq!(
                    (key.in_program().is_some(), value.in_program().is_some()),
                    (is_in_place, is_in_place)
                );
                assert_eq!((&**key, &**value), ("a", "text"));
            }
        }
    }
}
