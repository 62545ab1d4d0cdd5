//! JSON Pointers (RFC 6901) of values.

use std::fmt::Write as _;

use crate::document::{Document, Kind, NodeId, Value};

/// The most bytes of a pointer. A file of a few hundred kilobytes may be so deep, or have such a long key, that the pointers
/// of all its values would take gigabytes.
pub const LONGEST_POINTER: usize = 512;

/// What stands for the middle of a pointer that is too long.
const CUT: char = '\u{2026}';

/// The JSON Pointers of `ids`, in their order. Of one longer than [`LONGEST_POINTER`], the middle is left out.
///
/// One walk over the document, whatever the number of values: subtrees without any of them are
/// skipped, and common ancestors are visited once.
///
/// A pointer is text, so it can't name a key with a lone surrogate or with bytes that are not UTF-8. The pointer of what
/// is below such a key is that of the object around it, because any other would lead nowhere, or elsewhere.
pub fn pointers(document: &Document<'_>, ids: &[NodeId]) -> Vec<String> {
    // The conversation of a row is mostly one of its members.
    if let [id] = ids
        && let Some(key) = document.root().members().find(|member| member.id() == *id).and_then(Value::key)
        && key.is_text()
    {
        let mut pointer = String::with_capacity(key.raw().len() + 1);
        push_name(&key.decode(), &mut pointer);
        return vec![if pointer.len() > LONGEST_POINTER { cut(&pointer) } else { pointer }];
    }
    let mut order: Vec<usize> = (0..ids.len()).collect();
    order.sort_unstable_by_key(|&index| ids[index]);
    let mut found = vec![String::new(); ids.len()];
    let nodes = &document.arena.nodes;
    // The path to the current place: a container, its current child, the child's number, and the length of the
    // pointer before the child's name; `None` below a key without a name.
    let mut path: Vec<(u32, u32, usize, Option<usize>)> = Vec::new();
    let mut pointer = String::with_capacity(64);
    for index in order {
        let target = ids[index].0;
        while let Some(&(container, ..)) = path.last() {
            if target > container && target < nodes[container as usize].next {
                break;
            }
            path.pop();
        }
        if path.is_empty() {
            if target == 0 || target as usize >= nodes.len() {
                continue;
            }
            path.push((0, 1, 0, Some(0)));
        }
        while let Some((container, child, number, length)) = path.last_mut() {
            while nodes[*child as usize].next <= target {
                *child = nodes[*child as usize].next;
                *number += 1;
            }
            let child = *child;
            let mut is_named = length.is_some();
            if let Some(length) = *length {
                pointer.truncate(length);
                if nodes[*container as usize].kind == Kind::Array {
                    let _ = write!(pointer, "/{number}");
                } else {
                    let key = document.value(NodeId(child)).key();
                    is_named = key.is_none_or(|key| key.is_text());
                    if is_named {
                        push_name(&key.map(|key| key.decode()).unwrap_or_default(), &mut pointer);
                    }
                }
            }
            if child == target {
                break;
            }
            path.push((child, child + 1, 0, is_named.then_some(pointer.len())));
        }
        found[index] = cut(&pointer);
    }
    found
}

fn push_name(key: &str, pointer: &mut String) {
    pointer.push('/');
    if !key.contains(['~', '/']) {
        pointer.push_str(key);
        return;
    }
    for character in key.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

/// A pointer of at most [`LONGEST_POINTER`] bytes.
fn cut(pointer: &str) -> String {
    if pointer.len() <= LONGEST_POINTER {
        return pointer.to_owned();
    }
    let half = (LONGEST_POINTER - CUT.len_utf8()) / 2;
    // An escape is not cut in two.
    let start = pointer[..pointer.floor_char_boundary(half)].trim_end_matches('~');
    let end = &pointer[pointer.ceil_char_boundary(pointer.len() - half)..];
    format!("{start}{CUT}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_no_text_has_the_pointer_of_its_object() {
        let text = b"{\"a\": {\"\\ud800\": {\"b\": [1]}, \"\xff\": 2, \"\\ud83d\\ude00\": 3, \"\xef\xbf\xbd\": [4]}}";
        let document = Document::read(text);
        let ids: Vec<NodeId> = (0..document.value_count() as u32).map(NodeId).collect();
        let grin = "/a/\u{1f600}";
        let expected = ["", "/a", "/a", "/a", "/a", "/a", grin, "/a/\u{fffd}", "/a/\u{fffd}/0"];
        assert_eq!(pointers(&document, &ids), expected);
    }

    #[test]
    fn pointers_name_every_value() {
        let text = br#"{"a": [1, {"b/~": 2}, []], "c": {"d": [[3]]}, "": 4}"#;
        let document = Document::read(text);
        let ids: Vec<NodeId> = (0..document.value_count() as u32).map(NodeId).collect();
        let expected =
            ["", "/a", "/a/0", "/a/1", "/a/1/b~1~0", "/a/2", "/c", "/c/d", "/c/d/0", "/c/d/0/0", "/"];
        assert_eq!(pointers(&document, &ids), expected);
        let some = [ids[9], ids[2], ids[9], ids[0]];
        assert_eq!(pointers(&document, &some), ["/c/d/0/0", "/a/0", "/c/d/0/0", ""]);
    }
    #[test]
    fn long_pointers_are_cut_in_the_middle() {
        let long = "\u{e4}".repeat(LONGEST_POINTER);
        let text = format!(r#"{{"{long}": {{"end": 1}}}}"#);
        let document = Document::read(text.as_bytes());
        let found = pointers(&document, &[NodeId(1), NodeId(2)]);
        for pointer in &found {
            assert!(pointer.len() <= LONGEST_POINTER, "{}", pointer.len());
            assert!(pointer.starts_with("/\u{e4}\u{e4}") && pointer.contains(CUT));
        }
        assert!(found[1].ends_with("\u{e4}/end"));
        let deep = "[".repeat(LONGEST_POINTER);
        let document = Document::read(deep.as_bytes());
        let [last] = &pointers(&document, &[NodeId(LONGEST_POINTER as u32 - 1)])[..] else { panic!() };
        assert!(last.len() <= LONGEST_POINTER && last.starts_with("/0/0") && last.ends_with("/0/0"));
    }
}
