//! Keys that are known, found without hashing: few have the same length.

use toolcheck_toml::Text;

/// Keys, each with a number.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keys {
    /// The keys, sorted by their length.
    entries: Vec<KnownKey>,
    /// Where the keys of each length start.
    starts: Vec<u16>,
}

#[derive(Debug, Clone)]
struct KnownKey {
    ends: Ends,
    number: u16,
    key: Text,
}

/// The first bytes of a key and the last: of a length up to 16, no two keys have the same.
type Ends = (u64, u64);

impl Keys {
    /// Keys with their numbers. Of a key that is there more than once, the last number counts.
    pub(crate) fn new(numbered: impl IntoIterator<Item = (Text, u16)>) -> Self {
        let known = |(key, number): (Text, u16)| KnownKey { ends: ends(key.as_bytes()), number, key };
        let mut entries: Vec<KnownKey> = numbered.into_iter().map(known).collect();
        // A stable sort keeps the same keys in their order, so that the last of them wins below.
        entries.sort_by(|one, other| (one.key.len(), &one.key).cmp(&(other.key.len(), &other.key)));
        entries.dedup_by(|later, earlier| {
            let is_again = later.key == earlier.key;
            if is_again {
                earlier.number = later.number;
            }
            is_again
        });
        let longest = entries.last().map_or(0, |entry| entry.key.len());
        let mut starts = Vec::with_capacity(longest + 2);
        for (number, entry) in entries.iter().enumerate() {
            starts.resize(starts.len().max(entry.key.len() + 1), number as u16);
        }
        starts.resize(longest + 2, entries.len() as u16);
        Self { entries, starts }
    }

    /// The number of a key.
    #[inline]
    pub(crate) fn get(&self, key: &str) -> Option<u16> {
        self.find(key.as_bytes())
    }

    /// The same for the bytes of a key.
    #[inline]
    pub(crate) fn find(&self, key: &[u8]) -> Option<u16> {
        let (start, end) = (*self.starts.get(key.len())?, *self.starts.get(key.len() + 1)?);
        let of_length =
            self.entries.get(start as usize..end as usize).filter(|entries| !entries.is_empty())?;
        let ends = ends(key);
        let is_it =
            |known: &&KnownKey| known.ends == ends && (key.len() <= 16 || known.key.as_bytes() == key);
        of_length.iter().find(is_it).map(|entry| entry.number)
    }

    pub(crate) fn contains(&self, key: &str) -> bool {
        self.get(key).is_some()
    }
}

#[inline]
fn ends(key: &[u8]) -> Ends {
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte));
    match key.len() {
        length @ 8.. => {
            let eight = |at: usize| <[u8; 8]>::try_from(&key[at..at + 8]).map_or(0, u64::from_le_bytes);
            (eight(0), eight(length - 8))
        }
        length @ 4.. => {
            let four = |at: usize| <[u8; 4]>::try_from(&key[at..at + 4]).map_or(0, u32::from_le_bytes);
            (four(0).into(), four(length - 4).into())
        }
        _ => (number(key), 0),
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

    #[test]
    fn a_change_at_any_place_is_seen() {
        for length in 1..40 {
            let key = "k".repeat(length);
            let keys = Keys::new([(key.clone().into(), 1)]);
            assert_eq!(keys.get(&key), Some(1));
            for at in 0..length {
                let mut other = key.clone();
                other.replace_range(at..=at, "x");
                assert_eq!(keys.get(&other), None, "{other}");
            }
        }
    }
}
