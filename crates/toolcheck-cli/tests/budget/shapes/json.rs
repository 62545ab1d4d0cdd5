//! JSON, whatever it says: nesting, keys, numbers, strings, and everything that breaks it.

use super::{Shape, beside, list};

pub fn all() -> Vec<Shape> {
    let mut all = vec![
        Shape::new("nested arrays", |size| chains(size, "[", "", "]")),
        Shape::new("nested objects", |size| chains(size, "{\"a\":", "1", "}")),
        Shape::new("nested objects with two equal keys", |size| chains(size, "{\"a\":1,\"a\":", "1", "}"))
            .of_findings(),
        Shape::new("brackets", |size| "[".repeat(size)),
        Shape::new("braces", |size| "{\"a\":".repeat(size / 5)),
        Shape::new("closing brackets", |size| beside("x", "1") + &"]".repeat(size)),
        Shape::new("nested blocks", |size| {
            let depth = size / 25;
            let (open, close) = ("[{\"type\":\"text\",\"type\":".repeat(depth), "}]".repeat(depth));
            format!("{{\"messages\":[{{\"role\":\"user\",\"content\":{open}\"\"{close}}}]}}")
        })
        .holds(240),
        Shape::new("one key, again and again", |size| members(size, |number| format!("\"again\":{number}"))),
        Shape::new("keys, each twice", |size| members(size, |number| format!("\"k{}\":1", number / 2)))
            .holds(160),
        Shape::new("keys", |size| members(size, |number| format!("\"k{number}\":1"))),
        Shape::new("a long key twice", |size| {
            let key = "k".repeat(size / 2);
            beside("x", &format!("{{\"{key}\":1,\"{key}\":2}}"))
        }),
        Shape::new("a long key over findings", |size| {
            let rest = list(size / 2, "[", ",", "]", |_| "{\"a\":1,\"a\":2}".to_owned());
            beside(&"k".repeat(size / 2), &rest)
        })
        .holds(240),
        Shape::new("long keys in each other", |size| {
            let (key, depth) = ("k".repeat(500), size / 520);
            let (open, close) = (format!("{{\"a\":1,\"a\":2,\"{key}\":").repeat(depth), "}".repeat(depth));
            beside("x", &format!("{open}1{close}"))
        }),
        Shape::new("keys with escapes", |size| members(size, |number| format!("\"\\u006b\\n{number}\":1"))),
        Shape::new("keys with lone surrogates", |size| members(size, |_| "\"\\ud800\":1".to_owned())),
        Shape::new("one long number", |size| beside("x", &"7".repeat(size))),
        Shape::new("one long text", |size| beside("x", &format!("\"{}\"", "text ".repeat(size / 5)))),
        Shape::new("one long text of escapes", |size| {
            beside("x", &format!("\"{}\"", "\\u00e9\\n".repeat(size / 8)))
        }),
        Shape::new("whitespace", |size| beside("x", &format!("{}1", " \n\t".repeat(size / 3)))),
        Shape::new("a text that has no end", |size| {
            format!("{{\"messages\":[\"{}", "text ".repeat(size / 5))
        }),
        Shape::of_bytes("zero bytes", |size| vec![0; size]),
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
        Shape::new("comments", |size| {
            list(size, "{\"messages\":[", "", "]}", |_| "// a\n/* b */\n".to_owned())
        }),
        Shape::new("numbers that are none", |size| elements(size, |number| format!("0{number}"))),
        Shape::new("text without JSON", |size| "No JSON at all.\n".repeat(size / 16)),
        Shape::new("JSON after JSON", |size| list(size, "", " ", "", |_| "{\"a\":1}".to_owned())),
    ];
    // Each is one fault, again and again.
    let faults: &[(&str, &str)] = &[
        ("missing commas", "1 2"),
        ("trailing commas", "[1,]"),
        ("missing values", "{\"a\":}"),
        ("missing colons", "{\"a\" 1}"),
        ("texts in other quotes", "'a'"),
        ("keys without quotes", "{a:1}"),
        ("words of other languages", "None"),
        ("numbers without a value", "NaN"),
        ("wrong closing brackets", "[1}"),
        ("unknown escapes", "\"\\q\""),
        ("lone surrogates", "\"\\ud800\""),
        ("line ends in texts", "\"a\nb\""),
        ("control characters in texts", "\"a\u{1}b\""),
        ("texts without an end", "\"a\n"),
        ("signs of other encodings", "\u{feff}1"),
    ];
    all.extend(
        faults.iter().map(|(name, item)| Shape::new(*name, |size| elements(size, |_| (*item).to_owned()))),
    );
    all
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

/// A request with a list of many elements.
fn elements(size: usize, element: impl Fn(usize) -> String) -> String {
    beside("x", &list(size, "[", ",", "]", element))
}
