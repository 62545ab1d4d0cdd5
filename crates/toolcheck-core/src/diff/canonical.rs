//! Hashes of values that mean the same, however they are written.
//!
//! Two hashes that are equal by accident would hide a change, so they are not those of hash tables.

use std::hash::{DefaultHasher, Hasher};

use foldhash::HashSet;
use toolcheck_json::{Children, Document, Kind, Value};

/// A hash of bytes; `tag` keeps different kinds of content apart.
pub(super) fn of_bytes(tag: u8, bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write_u8(tag);
    hasher.write(bytes);
    hasher.finish()
}

/// A hash of several hashes, in order.
pub(super) fn of_all(tag: u8, hashes: &[u64]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write_u8(tag);
    hashes.iter().for_each(|hash| hasher.write_u64(*hash));
    hasher.finish()
}

/// A hash of a text without its whitespace.
pub(super) fn of_words(text: &str) -> u64 {
    let mut words = String::with_capacity(text.len());
    words.extend(text.split_whitespace());
    of_bytes(b'w', words.as_bytes())
}

/// A hash of the JSON in a text; `None` if it is not JSON.
pub(super) fn of_json_text(text: &str) -> Option<u64> {
    let first = text.trim_start().bytes().next()?;
    if !(b"{[-tfn".contains(&first) || first.is_ascii_digit()) {
        return None;
    }
    let document = Document::read(text.as_bytes());
    // A half of a character in a string is one in an object too.
    let is_read = document.faults().iter().all(|fault| fault.kind.is_in_text());
    is_read.then(|| of_value(document.root()))
}

/// A hash of a text as of a JSON string.
pub(super) fn of_string(text: &str) -> u64 {
    of_bytes(b'"', text.as_bytes())
}

pub(super) fn of_nothing() -> u64 {
    of_all(b'{', &[0])
}

struct Open<'d, 's> {
    value: Value<'d, 's>,
    children: Children<'d, 's>,
    sum: u64,
}

impl Open<'_, '_> {
    fn add(&mut self, child: Value<'_, '_>, hash: u64) {
        if self.value.is_object() {
            // Any order of the keys is the same.
            let key = of_bytes(b'k', child.key_text().unwrap_or_default().as_bytes());
            self.sum = self.sum.wrapping_add(of_all(b'm', &[key, hash]));
        } else {
            self.sum = of_all(b'e', &[self.sum, hash]);
        }
    }

    fn hash(&self) -> u64 {
        of_all(if self.value.is_object() { b'{' } else { b'[' }, &[self.sum])
    }
}

/// A hash of a value: the order of keys, the spelling of numbers and escapes do not matter. It does not recurse, because a
/// document may be deep.
pub(super) fn of_value(root: Value<'_, '_>) -> u64 {
    let mut open: Vec<Open<'_, '_>> = Vec::new();
    let mut next = Some(root);
    loop {
        let done = match next.take() {
            Some(value) if value.is_object() || value.is_array() => {
                open.push(Open { value, children: value.children(), sum: 0 });
                None
            }
            Some(value) => Some((value, of_scalar(value))),
            None => open.pop().map(|closed| (closed.value, closed.hash())),
        };
        if let Some((value, hash)) = done {
            match open.last_mut() {
                Some(parent) => parent.add(value, hash),
                None => return hash,
            }
        }
        next = open.last_mut().and_then(|top| top.children.next());
    }
}

/// Whether each text, number and truth value in a value is in another too, in whatever form: nothing that it said is gone.
/// Without another, whether it says nothing.
pub(super) fn keeps(before: Value<'_, '_>, after: Option<Value<'_, '_>>) -> bool {
    let kept = after.map(|after| leaves(after, Leaves::All)).unwrap_or_default();
    leaves(before, Leaves::WithoutTypes).is_subset(&kept)
}

/// Which of the texts, numbers and truth values in a value are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaves {
    All,
    /// All but what its parts are called.
    WithoutTypes,
    /// All but what its parts and their calls are called.
    Said,
}

impl Leaves {
    fn leave_out(self, member: Value<'_, '_>) -> bool {
        match self {
            Self::All => false,
            Self::WithoutTypes => member.has_key("type"),
            Self::Said => member.key_text().is_some_and(|key| {
                let is_name = ["id", "Id", "ID", "name", "Name"].iter().any(|end| key.ends_with(end));
                matches!(&*key, "type" | "kind" | "role") || is_name
            }),
        }
    }
}

/// Hashes of each text, number and truth value in a value.
pub(super) fn leaves(value: Value<'_, '_>, which: Leaves) -> HashSet<u64> {
    let mut leaves = HashSet::default();
    add_leaves(value, (true, which), &mut leaves);
    leaves
}

/// Adds hashes of what is said in a value, and in JSON in its texts. It does not recurse deeper than that.
fn add_leaves(root: Value<'_, '_>, (looks_inside, which): (bool, Leaves), leaves: &mut HashSet<u64>) {
    let mut open = Vec::new();
    let mut next = Some(root);
    while let Some(value) = next {
        match value.kind() {
            // What a part is called says nothing.
            Kind::String | Kind::Number | Kind::Bool if which.leave_out(value) => {}
            Kind::Object | Kind::Array => open.push(value.children()),
            Kind::String => {
                let text = value.as_str().unwrap_or_default();
                let inner = looks_inside && text.trim_start().starts_with(['{', '[']);
                let document = inner.then(|| Document::read(text.as_bytes()));
                match document.filter(|document| document.faults().is_empty()) {
                    Some(document) => {
                        add_leaves(document.root(), (false, which), leaves);
                        // Around it, it may be a text that is not looked into.
                        leaves.extend((which == Leaves::All).then(|| of_string(&text)));
                    }
                    None if text.trim().is_empty() => {}
                    None => _ = leaves.insert(of_string(&text)),
                }
            }
            Kind::Number | Kind::Bool => {
                leaves.insert(of_string(&String::from_utf8_lossy(value.raw())));
            }
            _ => {}
        }
        next = loop {
            let Some(top) = open.last_mut() else { break None };
            match top.next() {
                Some(child) => break Some(child),
                None => _ = open.pop(),
            }
        };
    }
}

fn of_scalar(value: Value<'_, '_>) -> u64 {
    match value.kind() {
        Kind::String => of_string(&value.as_str().unwrap_or_default()),
        Kind::Number => of_number(value.raw()),
        _ => of_bytes(b'l', value.raw()),
    }
}

/// A hash of a number by its exact decimal value: `1.0`, `1` and `10e-1` are the same.
fn of_number(raw: &[u8]) -> u64 {
    let (mantissa, exponent) = match raw.iter().position(|byte| matches!(byte, b'e' | b'E')) {
        Some(at) => (&raw[..at], std::str::from_utf8(&raw[at + 1..]).ok().and_then(|text| text.parse().ok())),
        None => (raw, Some(0)),
    };
    // An exponent that is out of any range is only equal to itself.
    let Some(exponent): Option<i64> = exponent else { return of_bytes(b'n', raw) };
    let is_negative = mantissa.first() == Some(&b'-');
    let point = mantissa.iter().position(|byte| *byte == b'.');
    let behind = point.map_or(0, |point| mantissa.len() - point - 1) as i64;
    let digits: Vec<u8> = mantissa.iter().copied().filter(u8::is_ascii_digit).collect();
    let start = digits.iter().position(|digit| *digit != b'0').unwrap_or(digits.len());
    let end = digits.iter().rposition(|digit| *digit != b'0').map_or(start, |last| last + 1);
    if start == end {
        return of_bytes(b'n', b"0");
    }
    let zeros = (digits.len() - end) as i64;
    let exponent = exponent.saturating_sub(behind).saturating_add(zeros);
    of_all(b'n', &[u64::from(is_negative), of_bytes(b'd', &digits[start..end]), exponent as u64])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(text: &str) -> u64 {
        of_value(Document::read(text.as_bytes()).root())
    }

    #[test]
    fn what_means_the_same_has_the_same_hash() {
        for (one, other) in [
            ("1.0", "1"),
            ("100", "1e2"),
            ("-0.50", "-5E-1"),
            ("0", "-0.0e9"),
            (r#"{"a": 1, "b": [true]}"#, r#"{"b":[true],"a":1.00}"#),
            (r#""\u00e4\/""#, "\"ä/\""),
        ] {
            assert_eq!(hash(one), hash(other), "{one} {other}");
        }
        assert_eq!(Some(hash("[1]")), of_json_text(" [1]"));
        assert_eq!(hash("{}"), of_nothing());
    }

    #[test]
    fn what_differs_has_another_hash() {
        let all = r#"1; -1; 10; 0.1; 0; "1"; [1]; [1, 1]; []; {}; [[]]; null; false; true; "";
            1e99999999999999999999; {"a": 1}; {"b": 1}; {"a": {"b": 1}}; [1, 2]; [2, 1];
            123456789012345678901234567890; 123456789012345678901234567891"#;
        let all: Vec<&str> = all.split(';').map(str::trim).collect();
        assert_eq!(all.len(), 23);
        for (number, one) in all.iter().enumerate() {
            for other in &all[number + 1..] {
                assert_ne!(hash(one), hash(other), "{one} {other}");
            }
        }
    }

    #[test]
    fn deep_values_are_hashed() {
        let deep = format!("{}{}", "[".repeat(9000), "]".repeat(9000));
        assert_ne!(hash(&deep), hash("[]"));
    }
}
