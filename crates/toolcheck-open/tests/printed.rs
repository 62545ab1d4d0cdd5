//! Values as programs print them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Instant;

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use toolcheck_open::{Limits, Opened, find, open};

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

fn lines_after(before: &str, text: &str) -> String {
    text.lines().map(|line| format!("{before}{line}\n")).collect()
}

/// The texts of a kind in `written.json`, with a body in the places that they leave for it.
fn written(kind: &str, body: &Json) -> Vec<String> {
    let texts: BTreeMap<String, Vec<String>> = serde_json::from_str(include_str!("written.json")).unwrap();
    let indented = serde_json::to_string_pretty(body).unwrap();
    let places = [
        ("BODY", body.to_string()),
        ("PYTHON", python(body)),
        ("JAVASCRIPT", javascript(body)),
        ("SPACED", lines_after("  ", &indented)),
        ("QUOTED", lines_after("> ", &indented)),
        ("INDENTED", indented),
        ("FAR", "A line of prose, with [a link](x) and {a brace}.\n\n".repeat(2000)),
    ];
    let filled =
        |text: &String| places.iter().fold(text.clone(), |text, (name, said)| text.replace(name, said));
    texts[kind].iter().map(filled).collect()
}

#[test]
fn what_people_write_is_not_read_as_data() {
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]});
    for text in written("no data", &body) {
        assert!(open(text.as_bytes(), Limits::default()).is_none(), "{text}");
    }
}

#[test]
fn a_body_is_read_under_a_line_of_text() {
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "hi \"you\"\n"}]});
    for text in written("under a line", &body) {
        let opened = open(text.as_bytes(), Limits::default()).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(record(&opened), body, "{text}");
        assert_eq!(opened.notation.unwrap().at, text.find('{').unwrap(), "{text}");
    }
}

/// What one block ends does not go on in the next.
#[test]
fn a_body_is_read_in_a_block_of_markdown_wherever_it_stands() {
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "hi \"you\"\n```\n"}]});
    for text in written("in a block", &body) {
        let opened = open(text.as_bytes(), Limits::default()).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(record(&opened), body, "{text}");
        for (made, at) in opened.origins.same_bytes() {
            let (made, original) = (opened.text[made], text.as_bytes()[at]);
            assert!(made == original || made == b' ' && matches!(original, b'\n' | b'\r'), "{text}");
        }
    }
}

fn left_out(opened: &Opened) -> Vec<String> {
    opened.left_out.iter().map(ToString::to_string).collect()
}

#[test]
fn every_block_that_holds_a_conversation_is_read_and_the_others_are_counted() {
    let body = |text: &str| json!({"model": "m", "messages": [{"role": "user", "content": text}]});
    let response = json!({"object": "response", "output": [{"type": "function_call", "call_id": "a", "name": "b", "arguments": "{}"}]});
    let text = format!(
        "# A\n```\nError code: 400 - {{'error': {{'message': 'm'}}}}\n```\n```json\n{}\n{}\n```\n\n```python\n{}\n```\n```json\n{response}\n```\n",
        body("a"),
        body("b"),
        python(&body("c"))
    );
    let opened = open(text.as_bytes(), Limits::default()).unwrap();
    let records: Vec<Json> = String::from_utf8_lossy(&opened.text)
        .lines()
        .map(|line| serde_json::from_str(line).expect("a record is JSON"))
        .collect();
    assert_eq!(records, [body("a"), body("b"), body("c")]);
    assert_eq!(
        (opened.unread.as_ref(), left_out(&opened)),
        (None, vec!["2 blocks of Markdown without a request".to_owned()])
    );
    let notation = opened.notation.unwrap();
    assert_eq!(notation.at, text.find("{\"messages").unwrap());
    assert_eq!(
        notation.what,
        "a Python literal, not JSON; 2 JSON values with other text around them (Markdown, or the lines of a log)"
    );
}

#[test]
fn a_conversation_in_a_block_that_cannot_be_read_is_named_at_its_place() {
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]});
    let broken = r#"{"model": "m", "messages": [{"role": "user" "content": "hi"}]}"#;
    let (cut, content) = (&body.to_string()[..50], "\"content\"");
    // The number of what is read, and of the `content` before which a comma is missing.
    for (text, exchanges, number) in [
        (format!("A\n```json\n{broken}\n```\n"), 0, 0),
        (format!("A\n```json\n{body}\n```\n> ```json\n> {broken}\n> ```\n"), 1, 1),
        (format!("A\n```json\n{body}\n{broken}\n{body}\n```\n"), 2, 1),
        (format!("A\n```json\n{}{broken}\n```\n", "{oops \"role\"}\n".repeat(40)), 0, 0),
    ] {
        let opened = open(text.as_bytes(), Limits::default()).unwrap_or_else(|| panic!("{text}"));
        let unread = opened.unread.unwrap_or_else(|| panic!("{text}"));
        let (at, _) = text.match_indices(content).nth(number).unwrap();
        assert_eq!((opened.exchanges, unread.at), (exchanges, at), "{text}: {}", unread.what);
    }
    let text = format!("A\n```json\n{cut}\n```\n");
    let opened = open(text.as_bytes(), Limits::default()).unwrap();
    assert_eq!((opened.exchanges, opened.unread.unwrap().at), (0, text.rfind("\n```").unwrap()));
    let several = format!("```json\n{broken}\n```\n").repeat(3);
    let opened = open(several.as_bytes(), Limits::default()).unwrap();
    assert!(opened.unread.unwrap().what.ends_with("; 2 more are not read either"));
}

#[test]
fn comments_in_what_people_write_are_skipped() {
    let body = json!({"messages": [{"role": "user", "content": "a // b # c"}]});
    for text in [
        "```json\n{\n  // first\n  \"messages\": [/* one */ {\"role\": \"user\", \"content\": \"a // b # c\"}] // last\n}\n```\n",
        "messages = {'messages': [  # all\n  {'role': 'user', 'content': 'a // b # c'},\n]}\n",
    ] {
        assert_eq!(record(&open(text.as_bytes(), Limits::default()).expect(text)), body, "{text}");
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
    let pieces: Vec<String> = serde_json::from_str(include_str!("pieces/printed.json")).expect("a list");
    let starts = ["role: ", "role: ~~~\n"];
    for (piece, start) in pieces.iter().flat_map(|piece| starts.map(|start| (piece, start))) {
        let text = |size: usize| format!("{start}{}", piece.repeat(size / piece.len()));
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
        assert!(
            large < small * 100 + std::time::Duration::from_millis(400),
            "{start}{piece}: {small:?}, {large:?}"
        );
    }
}
