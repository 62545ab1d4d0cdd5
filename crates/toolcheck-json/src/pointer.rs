//! JSON Pointers (RFC 6901) of values.

use std::borrow::Cow;
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
    pointer.push_str(&escape_step(key));
}

/// A key as a step of a pointer.
pub fn escape_step(key: &str) -> Cow<'_, str> {
    if key.contains(['~', '/']) { key.replace('~', "~0").replace('/', "~1").into() } else { key.into() }
}

/// The key that a step of a pointer stands for.
pub fn unescape_step(step: &str) -> Cow<'_, str> {
    if step.contains('~') { step.replace("~1", "/").replace("~0", "~").into() } else { step.into() }
}

impl<'d, 's> Value<'d, 's> {
    /// The value that a pointer leads to from this one, whose pointer is empty.
    pub fn pointer(self, pointer: &str) -> Option<Self> {
        pointer.split('/').skip(1).try_fold(self, Self::step)
    }

    /// The value that a step of a pointer leads to.
    pub fn step(self, step: &str) -> Option<Self> {
        if self.is_array() { self.elements().nth(step.parse().ok()?) } else { self.get(&unescape_step(step)) }
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
