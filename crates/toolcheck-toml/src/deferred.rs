//! A packed value that is read when it is first asked for.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error, Visitor};

use crate::from_packed;
use crate::packed::{DEFERRED, Table};
use crate::text::{Text, read_in_place};

/// A value that is read when it is first asked for, so that a run which needs few values of a large table reads only those.
///
/// A value of a text is read at once, with the place of an error. One that was packed before is kept as it is, and
/// whoever packed it has seen that it can be read.
#[derive(Clone)]
pub struct Deferred<T> {
    packed: Text,
    changes: Option<Changes<T>>,
    read: OnceLock<T>,
}

/// What is done to a value once it is read.
pub type Changes<T> = Arc<dyn Fn(&mut T) + Send + Sync>;

impl<T: DeserializeOwned> Deferred<T> {
    /// The value.
    ///
    /// # Panics
    ///
    /// If it was packed without being read, and is not what `T` expects.
    pub fn get(&self) -> &T {
        self.read.get_or_init(|| self.unpacked())
    }

    /// A value to keep. What is not read yet is read for it alone.
    ///
    /// # Panics
    ///
    /// As [`Self::get`].
    pub fn owned(&self) -> T
    where
        T: Clone,
    {
        self.read.get().cloned().unwrap_or_else(|| self.unpacked())
    }

    fn unpacked(&self) -> T {
        let value = match self.packed.in_program() {
            Some(packed) => read_in_place(packed, || from_packed(packed)),
            None => from_packed(&self.packed),
        };
        let mut value = value.unwrap_or_else(|error| panic!("a packed value: {}", error.message()));
        if let Some(change) = &self.changes {
            change(&mut value);
        }
        value
    }

    /// Whether it has been asked for, or was never packed.
    pub fn is_read(&self) -> bool {
        self.read.get().is_some()
    }

    /// The table as it was packed, if it is one that was: it says some things without being read, and nothing of
    /// [changes](Self::changed).
    pub fn packed(&self) -> Option<Table<'_>> {
        Table::of(&self.packed)
    }

    /// Puts another value in its place, which is made from this one.
    pub fn change(&mut self, change: impl FnOnce(&mut T))
    where
        T: Clone,
    {
        let mut value = self.owned();
        change(&mut value);
        *self = value.into();
    }

    /// The value as `change` makes it, which is called when the value is read.
    #[must_use]
    pub fn changed(&self, change: &Changes<T>) -> Self
    where
        T: Clone + 'static,
    {
        if let Some(value) = self.read.get() {
            let mut value = value.clone();
            change(&mut value);
            return value.into();
        }
        let change = Arc::clone(change);
        let changes = match self.changes.clone() {
            Some(first) => Arc::new(move |value: &mut T| {
                first(value);
                change(value);
            }),
            None => change,
        };
        Self { changes: Some(changes), ..self.clone() }
    }
}

impl<T: DeserializeOwned> Deref for Deferred<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.get()
    }
}

impl<T> From<T> for Deferred<T> {
    fn from(value: T) -> Self {
        Self { packed: Text::default(), changes: None, read: OnceLock::from(value) }
    }
}

impl<T: Default> Default for Deferred<T> {
    fn default() -> Self {
        T::default().into()
    }
}

impl<T: fmt::Debug + DeserializeOwned> fmt::Debug for Deferred<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl<'t, T: DeserializeOwned> Deserialize<'t> for Deferred<T> {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(DEFERRED, Whole(PhantomData))
    }
}

struct Whole<T>(PhantomData<T>);

impl<'t, T: DeserializeOwned> Visitor<'t> for Whole<T> {
    type Value = Deferred<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E: Error>(self, packed: &str) -> Result<Deferred<T>, E> {
        Ok(Deferred { packed: Text::of(packed), changes: None, read: OnceLock::new() })
    }

    fn visit_newtype_struct<D: Deserializer<'t>>(self, deserializer: D) -> Result<Deferred<T>, D::Error> {
        T::deserialize(deserializer).map(Deferred::from)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::panic::AssertUnwindSafe;
    use std::sync::Arc;

    use super::{Changes, Deferred};
    use crate::{from_packed, from_str, pack, read_in_place};

    #[test]
    fn a_packed_value_is_read_when_it_is_asked_for() {
        let packed = pack("a = [1, 2]\nb = \"no list\"").expect("a valid text");
        let table: BTreeMap<String, Deferred<Vec<u8>>> = from_packed(&packed).expect("nothing is read yet");
        assert_eq!(table["a"].get(), &[1, 2]);
        assert_eq!(table["a"].clone().len(), 2);
        let unread = std::panic::catch_unwind(AssertUnwindSafe(|| table["b"].len()));
        assert!(unread.is_err(), "it is not a list");
    }

    #[test]
    fn a_value_is_changed_when_it_is_read() {
        let packed = pack("a = [1, 2]\nb = \"no list\"").expect("a valid text");
        let table: BTreeMap<String, Deferred<Vec<u8>>> = from_packed(&packed).expect("nothing is read yet");
        let add = |last: u8| -> Changes<Vec<u8>> { Arc::new(move |list| list.push(last)) };
        assert!(!table["b"].changed(&add(3)).is_read());
        let unread = table["a"].changed(&add(3));
        assert_eq!(unread.changed(&add(4)).get(), &[1, 2, 3, 4]);
        assert_eq!(unread.get(), &[1, 2, 3]);
        assert_eq!(unread.changed(&add(5)).get(), &[1, 2, 3, 5]);
        assert_eq!(table["a"].get(), &[1, 2]);
    }

    #[test]
    fn a_value_of_the_program_is_not_copied() {
        let packed: &'static str = pack("a = [1, 2]").expect("a valid text").leak();
        let read =
            || from_packed::<BTreeMap<String, Deferred<Vec<u8>>>>(packed).expect("nothing is read yet");
        for (table, is_in_place) in [(read(), false), (read_in_place(packed, read), true)] {
            assert_eq!(table["a"].packed.in_program().is_some(), is_in_place);
            assert_eq!(table["a"].get(), &[1, 2]);
        }
    }

    #[test]
    fn a_value_of_a_text_is_read_at_once() {
        let text = "b = \"no list\"";
        let error = from_str::<BTreeMap<String, Deferred<Vec<u8>>>>(text).expect_err("it is not a list");
        assert_eq!(error.span().map(|span| &text[span]), Some("\"no list\""));
    }
}
