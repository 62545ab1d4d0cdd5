//! The keys of an object, found without hashing: most objects have few keys of the same length.

/// Keys, each with a number.
#[derive(Debug, Clone, Default)]
pub(super) struct Keys {
    /// The keys, sorted by their length.
    entries: Vec<(Box<str>, u16)>,
    /// Where the keys of each length start.
    starts: Vec<u16>,
}

impl Keys {
    /// Keys with their numbers. Of a key that is there more than once, the last number counts.
    pub(super) fn new(numbered: impl IntoIterator<Item = (Box<str>, u16)>) -> Self {
        let mut entries: Vec<(Box<str>, u16)> = numbered.into_iter().collect();
        // A stable sort keeps the same keys in their order, so that the last of them wins below.
        entries.sort_by(|(one, _), (other, _)| one.len().cmp(&other.len()).then_with(|| one.cmp(other)));
        entries.dedup_by(|(later, number), (earlier, kept)| {
            let is_again = later == earlier;
            if is_again {
                *kept = *number;
            }
            is_again
        });
        let longest = entries.last().map_or(0, |(key, _)| key.len());
        let mut starts = Vec::with_capacity(longest + 2);
        for (number, (key, _)) in entries.iter().enumerate() {
            starts.resize(starts.len().max(key.len() + 1), number as u16);
        }
        starts.resize(longest + 2, entries.len() as u16);
        Self { entries, starts }
    }

    /// The number of a key.
    #[inline]
    pub(super) fn get(&self, key: &str) -> Option<u16> {
        self.find(key.as_bytes())
    }

    /// The same for the bytes of a key.
    #[inline]
    pub(super) fn find(&self, key: &[u8]) -> Option<u16> {
        let start = *self.starts.get(key.len())?;
        let end = *self.starts.get(key.len() + 1)?;
        let of_length = &self.entries[start as usize..end as usize];
        of_length.iter().find(|(known, _)| known.as_bytes() == key).map(|(_, number)| *number)
    }

    pub(super) fn contains(&self, key: &str) -> bool {
        self.get(key).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::Keys;

    #[test]
    fn keys_have_their_numbers() {
        let numbered = ["type", "text", "a", "input_schema", "äh"].into_iter().zip(0..).chain([("text", 9)]);
        let keys = Keys::new(numbered.map(|(key, number)| (key.into(), number)));
        let found = ["type", "text", "a", "input_schema", "äh", "b", "", "tool", "input_schemas", "xyz"];
        let numbers = found.map(|key| keys.get(key));
        let expected = [Some(0), Some(9), Some(2), Some(3), Some(4), None, None, None, None, None];
        assert_eq!(numbers, expected);
        assert_eq!(Keys::default().get(""), None);
        assert_eq!(Keys::new([]).get(""), None);
        assert_eq!(Keys::new([("".into(), 3)]).get(""), Some(3));
    }
}
