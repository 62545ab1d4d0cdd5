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
    /// Adds a key, or changes its number.
    pub(super) fn insert(&mut self, key: &str, number: u16) {
        match self.entries.iter_mut().find(|(known, _)| **known == *key) {
            Some((_, known)) => *known = number,
            None => self.entries.push((key.into(), number)),
        }
        self.entries.sort_by_key(|(key, _)| key.len());
        let longest = self.entries.last().map_or(0, |(key, _)| key.len());
        let start = |length| self.entries.partition_point(|(key, _)| key.len() < length) as u16;
        self.starts = (0..=longest + 1).map(start).collect();
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

    /// Whether it has a key.
    pub(super) fn contains(&self, key: &str) -> bool {
        self.get(key).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::Keys;

    #[test]
    fn keys_have_their_numbers() {
        let mut keys = Keys::default();
        for (number, key) in ["type", "text", "a", "input_schema", "äh"].into_iter().enumerate() {
            keys.insert(key, number as u16);
        }
        keys.insert("text", 9);
        let found = ["type", "text", "a", "input_schema", "äh", "b", "", "tool", "input_schemas", "xyz"];
        let numbers = found.map(|key| keys.get(key));
        let expected = [Some(0), Some(9), Some(2), Some(3), Some(4), None, None, None, None, None];
        assert_eq!(numbers, expected);
        assert_eq!(Keys::default().get(""), None);
    }
}
