//! Values as programs print them.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

use std::fmt::Write as _;
use std::time::Instant;

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use toolcheck_open::{Limits, Opened, find, open, sniff};

/// A value as Python prints it.
fn python(value: &Json) -> String {
    match value {
        Json::Null => "None".to_owned(),
        Json::Bool(true) => "True".to_owned(),
        Json::Bool(false) => "False".to_owned(),
        Json::Number(number) => number.to_string(),
        Json::String(text) => {
            quoted(
                text,
                |code| {
                    if code < 0x100 { format!("\\x{code:02x}") } else { format!("\\U{code:08x}") }
                },
            )
        }
        Json::Array(list) => format!("[{}]", list.iter().map(python).collect::<Vec<_>>().join(", ")),
        Json::Object(members) => {
            let members = members
                .iter()
                .map(|(key, value)| format!("{}: {}", python(&Json::String(key.clone())), python(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
    }
}

/// A value as Node.js prints it if nothing is too deep for it.
fn javascript(value: &Json) -> String {
    let string = |text: &str| quoted(text, |code| format!("\\x{code:02X}"));
    match value {
        Json::String(text) => string(text),
        Json::Array(list) if list.is_empty() => "[]".to_owned(),
        Json::Array(list) => {
            format!("[\n  {}\n]", list.iter().map(javascript).collect::<Vec<_>>().join(",\n  "))
        }
        Json::Object(members) if members.is_empty() => "{}".to_owned(),
        Json::Object(members) => {
            let is_name = |key: &str| {
                key.starts_with(|first: char| first.is_ascii_alphabetic())
                    && key.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
            };
            let members = members.iter().map(|(key, value)| {
                let key = if is_name(key) { key.clone() } else { string(key) };
                format!("{key}: {}", javascript(value))
            });
            format!("{{ {}, unset: undefined }}", members.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

fn quoted(text: &str, escape: impl Fn(u32) -> String) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::from(quote);
    for letter in text.chars() {
        match letter {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\\' => out.push_str("\\\\"),
            _ if letter == quote => write!(out, "\\{letter}").unwrap(),
            _ if letter.is_control() => out.push_str(&escape(u32::from(letter))),
            _ => out.push(letter),
        }
    }
    out.push(quote);
    out
}

/// The only record that was made of a text.
fn record(opened: &Opened) -> Json {
    assert_eq!((opened.id, opened.exchanges, &opened.unread), ("printed", 1, &None));
    serde_json::from_slice(&opened.text).expect("a record is JSON")
}

fn any_value() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<i32>().prop_map(|eighths| Json::from(f64::from(eighths) / 8.0)),
        "[ -~äß€😀'\"\\\\\n\t\r\u{1}\u{7f}]{0,12}".prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Json::from),
            prop::collection::btree_map("[a-z_]{1,6}|[ -~]{0,5}", inner, 0..5)
                .prop_map(|members| Json::from(members.into_iter().collect::<serde_json::Map<_, _>>())),
        ]
    })
}

proptest! {
    /// What Python and JavaScript print is the value that they were given, and each byte has its place.
    #[test]
    fn a_printed_value_is_the_value(value in any_value(), text in "[ -~äß'\"\n\\\\]{0,20}") {
        let body = json!({"messages": [{"role": "user", "content": text, "name": value}], "model": "m"});
        for (printed, before) in [
            (python(&body), ""),
            (python(&body), "body = "),
            (python(&body), "2026-11-20 10:00:01 DEBUG sent: "),
            (javascript(&body), ""),
        ] {
            let text = format!("{before}{printed}\n");
            let opened = open(text.as_bytes(), Limits::default());
            let opened = opened.unwrap_or_else(|| panic!("{text}"));
            prop_assert_eq!(&record(&opened), &body, "{}", text);
            for (made, at) in opened.origins.same_bytes() {
                let (made, original) = (opened.text[made], text.as_bytes()[at]);
                prop_assert!(made == original || made == b' ' && original == b'\n');
            }
            let found = opened.origins.locate(0..opened.text.len() - 1).unwrap().source;
            prop_assert_eq!(&text[found], &*printed);
        }
    }
}

#[test]
fn what_people_write_is_not_read_as_data() {
    let call = "{'model': 'm', 'messages': [{'role': 'user', 'content': 'hi'}]}";
    for text in [
        format!("Send a body such as {call} to the API.\n"),
        format!("Send this, for example:\n\n    {call}\n"),
        format!("# Title\n\n```python\nbody = 1\n```\n\nThe role is {call}\n"),
        format!("{{\"messages\": [{{\"role\": \"user\", \"content\": \"{call}\"}}]}}"),
        format!("{{\"text\": \"{call}\"}}\n"),
        "The 'role' of a {user} in [this] (text).".to_owned(),
        "messages = [{'role': 'user', 'content': prompt}]".to_owned(),
        "{'role': 'user'".repeat(3),
    ] {
        assert!(sniff(text.as_bytes()).is_none_or(|container| container.id != "printed"), "{text}");
    }
}

#[test]
fn a_body_is_read_under_a_line_of_text_and_in_a_block_of_markdown() {
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "hi \"you\"\n"}]});
    let indented = serde_json::to_string_pretty(&body).unwrap();
    for text in [
        format!("Here is my request:\n{body}\nand it fails\n"),
        format!("```json\n{indented}\n```\n"),
        format!("```\n{body}\n```\n"),
        format!("This fails:\n\n```json\n{indented}\n```\n\nWhy?\n"),
        format!("This fails:\r\n```json\r\n{body}\r\n```\r\n"),
    ] {
        let opened = open(text.as_bytes(), Limits::default()).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(record(&opened), body, "{text}");
        assert_eq!(opened.notation.unwrap().at, text.find('{').unwrap(), "{text}");
    }
    for text in [
        format!("Here is my request\n{body}\n"),
        format!("A request.\nIt is like this:\n{body}\n"),
        format!("A manual.\n\nFor example:\n\n```json\n{body}\n```\n"),
        format!("Here is my request:\n\n{body}\n"),
    ] {
        assert!(open(text.as_bytes(), Limits::default()).is_none(), "{text}");
    }
}

#[test]
fn a_body_that_was_encoded_twice_is_read_as_a_request() {
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "sch\u{f6}n \"you\"\n"}]});
    let text = format!("{}\n", json!(body.to_string()));
    let opened = open(text.as_bytes(), Limits::default()).expect("it is one");
    assert_eq!(record(&opened), body);
    assert!(opened.notation.as_ref().unwrap().what.contains("encoded twice"));
    let at = opened.text.windows(6).position(|part| part == b"\"role\"").unwrap();
    let found = opened.origins.locate(at..at + 6).unwrap().source;
    assert_eq!(&text[found], "\"role\\\"");
    // A list alone is a row of a data set, and other strings are none of it.
    for text in [json!(body["messages"].to_string()).to_string(), json!("{}").to_string(), format!("{text}1")]
    {
        assert!(open(text.as_bytes(), Limits::default()).is_none(), "{text}");
    }
}

#[test]
fn what_is_left_out_is_named_at_its_place() {
    for (text, at) in [
        ("{ messages: [ { role: 'user', content: [Array] } ] }", "[Array]"),
        ("[ { role: 'user', content: 'a' }, ... 3 more items ]", "... 3 more"),
        ("[{'role': 'user', 'content': 'a'}, ...]", "...]"),
        ("[ { role: 'user', content: 'a'... 9 more characters } ]", "... 9"),
        ("<ref *1> { messages: [ { role: 'user', content: 'a' } ], self: [Circular *1] }", "[Circ"),
    ] {
        let opened = find("printed").unwrap().open(text.as_bytes(), Limits::default()).expect(text);
        let unread = opened.unread.expect(text);
        assert_eq!((opened.exchanges, unread.at), (0, text.find(at).unwrap()), "{text}");
    }
}

#[test]
fn what_programs_have_no_json_for_is_read_as_what_is_sent() {
    let opened = |text: &str| open(text.as_bytes(), Limits::default()).unwrap_or_else(|| panic!("{text}"));
    let text =
        "[{'role': 'user', 'content': ('a' 'b'), 'x': (1, 2), 'y': <object at 0x7f>, 'z': 1_000, 'b': b'c'}]";
    assert_eq!(
        record(&opened(text)),
        json!([{"role": "user", "content": "ab", "x": [1, 2], "z": 1000, "b": "c"}])
    );
    let text = "[Message(role='user', content='it\\'s', name=None, at=datetime.datetime(2026, 1, 2))]";
    assert_eq!(
        record(&opened(&format!("messages = {text}"))),
        json!([{"role": "user", "content": "it's", "at": null}])
    );
    let text = "[ Message { role: 'user', content: `a\nb`, 'x-y': -1, at: 2026-11-20T10:00:01.000Z } ]";
    assert_eq!(record(&opened(text)), json!([{"role": "user", "content": "a\nb", "x-y": -1, "at": null}]));
}

/// Twice the text takes about twice as long, whatever it is.
#[test]
fn no_text_costs_more_than_its_length() {
    let pieces = [
        "[",
        "{",
        "{'a': ",
        "(",
        "[(",
        "A(",
        "{a: {",
        "'",
        "{'role': '",
        "\\",
        "...",
        "<",
        "[Object",
        "role = [",
        "A(a=",
        "'a' + ",
        "1, ",
        "[{'role': 'user', 'content': 'a'}]\n",
        "DEBUG {'role': 1} ",
        "=[",
    ];
    for piece in pieces {
        let text = |size: usize| format!("role: {}", piece.repeat(size / piece.len()));
        let took = |size: usize| {
            let text = text(size);
            let start = Instant::now();
            for kind in [None, find("printed")] {
                match kind {
                    None => drop(open(text.as_bytes(), Limits::default())),
                    Some(kind) => drop(kind.open(text.as_bytes(), Limits::default())),
                }
            }
            start.elapsed()
        };
        let _ = took(1 << 12);
        let (small, large) = (took(1 << 13), took(1 << 17));
        // Sixteen times as much; a square would be 256 times.
        assert!(large < small * 100 + std::time::Duration::from_millis(400), "{piece}: {small:?}, {large:?}");
    }
}
