//! JSON, whatever it says: nesting, keys, numbers, strings, and everything that breaks it.

use super::{Shape, beside, list};

pub(crate) fn all() -> Vec<Shape> {
    vec![
        Shape::new("nested arrays", |size| chains(size, "[", "", "]")),
        Shape::new("nested objects", |size| chains(size, "{\"a\":", "1", "}")),
        Shape::new("nested objects with two equal keys", |size| chains(size, "{\"a\":1,\"a\":", "1", "}"))
            .of_findings(),
        Shape::new("keys, each twice", |size| members(size, |number| format!("\"k{}\":1", number / 2)))
            .holds(160),
        Shape::new("long keys in each other", |size| {
            let (key, depth) = ("k".repeat(500), size / 520);
            let (open, close) = (format!("{{\"a\":1,\"a\":2,\"{key}\":").repeat(depth), "}".repeat(depth));
            beside("x", &format!("{open}1{close}"))
        }),
        Shape::of_bytes("no text", |size| (0..size).map(|number| ((number * 7919) >> 3) as u8).collect()),
        Shape::of_bytes("invalid UTF-8", |size| {
            let text = format!("\"{}\"", "a~".repeat(size / 2));
            beside("x", &text)
                .into_bytes()
                .into_iter()
                .map(|byte| if byte == b'~' { 0xff } else { byte })
                .collect()
        }),
        Shape::of_bytes("invalid UTF-8 in many texts", |size| {
            let text = beside("x", &list(size, "[", ",", "]", |_| "\"~\"".to_owned()));
            text.into_bytes().into_iter().map(|byte| if byte == b'~' { 0xff } else { byte }).collect()
        }),
    ]
}

/// Values in each other, and beside them as many more as there is room for, because only some depth is read.
fn chains(size: usize, open: &str, middle: &str, close: &str) -> String {
    let depth = (size / (open.len() + close.len())).min(9_000);
    let chain = format!("{}{middle}{}", open.repeat(depth), close.repeat(depth));
    beside("x", &list(size, "[", ",", "]", |_| chain.clone()))
}

/// A request with an object of many members.
fn members(size: usize, member: impl Fn(usize) -> String) -> String {
    beside("x", &list(size, "{", ",", "}", member))
}
