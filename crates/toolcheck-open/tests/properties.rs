//! What holds for any bytes, and for any body in any style.

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use toolcheck_open::{ALL, Limits, Opened, find, open, open_as};

/// Each byte of the made text that is mapped to one byte is that byte, or a space where a line ends.
fn assert_mapped(opened: &Opened, source: &[u8]) {
    for (made, at) in opened.origins.same_bytes() {
        let (made, original) = (opened.text[made], source[at]);
        let is_break = made == b' ' && matches!(original, b'\n' | b'\r');
        assert!(made == original || is_break, "{made} is not {original}");
    }
    for at in (0..opened.text.len()).step_by(7) {
        let place = opened.origins.locate(at..at + 1);
        if let Some(place) = place {
            assert!(place.source.start <= place.source.end && place.source.end <= source.len());
        }
    }
}

fn requests(opened: &Opened) -> Vec<Json> {
    let text = std::str::from_utf8(&opened.text).expect("it is made of JSON");
    text.lines()
        .map(|line| serde_json::from_str::<Json>(line).expect("a line is JSON")["request"].clone())
        .collect()
}

fn open_all(bytes: &[u8]) {
    for container in ALL {
        if let Some(opened) = open_as(Some(container), bytes, Limits::new(1 << 20)) {
            assert_mapped(&opened, bytes);
        }
    }
    if let Some(opened) = open(bytes, Limits::new(1 << 20)) {
        assert_mapped(&opened, bytes);
    }
}

fn pieces() -> impl Strategy<Value = Vec<String>> {
    let all: Vec<String> = serde_json::from_str(include_str!("pieces/recordings.json")).expect("a list");
    proptest::collection::vec(proptest::sample::select(all), 0..40)
}

fn strings() -> impl Strategy<Value = String> {
    // Spaces, quotes, line breaks and colons are what YAML treats in a special way.
    proptest::string::string_regex("[ a-z:#'\"\\\\\n\t,{}\u{e9}\u{1F600}-]{0,40}")
        .expect("a valid expression")
}

fn bodies() -> impl Strategy<Value = Json> {
    (strings(), strings()).prop_map(|(one, other)| {
        json!({"model": "m", "messages": [{"role": "user", "content": one}, {"role": "assistant", "content": other}]})
    })
}

/// A text as a scalar of YAML in some style, whose first line follows a key.
fn scalar(text: &str, style: usize) -> String {
    match style {
        0 => format!("'{}'", text.replace('\'', "''").replace('\n', "\n\n      ")),
        1 => {
            let mut quoted = String::from("\"");
            for (number, character) in text.chars().enumerate() {
                match character {
                    '"' | '\\' => quoted.extend(['\\', character]),
                    '\n' => quoted.push_str("\\n"),
                    '\t' => quoted.push_str("\\t"),
                    'e' => quoted.push_str("\\x65"),
                    '\u{1F600}' => quoted.push_str("\\U0001F600"),
                    ' ' if number % 5 == 0 => quoted.push_str("\\\n      \\ "),
                    _ => quoted.push(character),
                }
            }
            quoted.push('"');
            quoted
        }
        2 => format!("|-\n      {}", text.replace('\n', "\n      ")),
        _ => format!(">-\n      {}", text.replace('\n', "\n\n      ")),
    }
}

proptest! {
    #[test]
    fn any_bytes_are_opened_without_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        open_all(&bytes);
    }

    #[test]
    fn any_pieces_of_recordings_are_opened_without_panics(pieces in pieces()) {
        open_all(pieces.concat().as_bytes());
    }

    #[test]
    #[cfg_attr(not(feature = "yaml"), ignore = "needs the feature `yaml`")]
    fn a_body_is_the_same_in_every_style_and_knows_its_places(body in bodies(), style in 0..4usize, is_pretty: bool) {
        let text = if is_pretty { serde_json::to_string_pretty(&body) } else { serde_json::to_string(&body) };
        // Whitespace at the start of a line means more in a folded block.
        let text = text.expect("it can be written").replace("\n ", "\n").replace("\n ", "\n");
        let text = if style == 0 || style == 3 { text.replace('\n', " ") } else { text };
        let cassette = format!(
            "interactions:\n- request:\n    body: {}\n    uri: http://localhost/\n  response:\n    status: {{code: 200}}\nversion: 1\n",
            scalar(&text, style),
        );
        let opened = open(cassette.as_bytes(), Limits::default()).expect("it is a cassette");
        prop_assert_eq!(opened.broken_at, None);
        prop_assert_eq!(requests(&opened), std::slice::from_ref(&body));
        assert_mapped(&opened, cassette.as_bytes());
        // Nearly all bytes have a place of their own.
        let same = opened.origins.same_bytes().count();
        prop_assert!(same + same / 2 + 8 >= text.trim().len(), "{} of {} in {}", same, text.len(), cassette);
    }

    #[test]
    fn a_body_in_a_har_archive_knows_its_places(body in bodies()) {
        let har = json!({"log": {"version": "1.2", "entries": [{
            "request": {"url": "http://localhost/", "postData": {"text": body.to_string()}},
            "response": {"status": 200, "content": {"text": "{}"}},
        }]}});
        let har = serde_json::to_string_pretty(&har).expect("it can be written");
        let opened = open(har.as_bytes(), Limits::default()).expect("it is an archive");
        prop_assert_eq!(requests(&opened), [body]);
        assert_mapped(&opened, har.as_bytes());
    }

    #[test]
    #[cfg_attr(not(feature = "yaml"), ignore = "needs the feature `yaml`")]
    fn a_body_that_was_parsed_is_written_as_it_was(one in strings(), number: i32, is_set: bool) {
        // JSON is YAML, but for what it says of tabs and surrogates.
        let one = one.replace(['\t', '\u{1F600}'], "");
        let body = json!({"messages": [{"role": "user", "content": one}], "max_tokens": number, "stream": is_set, "user": null});
        let cassette = format!("interactions:\n- request:\n    parsed_body: {body}\n    uri: /\nversion: 1\n");
        let opened = open(cassette.as_bytes(), Limits::default()).expect("it is a cassette");
        prop_assert_eq!(requests(&opened), [body]);
    }
}

#[test]
fn ids_are_found() {
    for container in ALL {
        assert_eq!(find(container.id).map(|found| found.id), Some(container.id));
    }
    assert!(find("xml").is_none());
}

#[test]
#[cfg_attr(not(feature = "yaml"), ignore = "needs the feature `yaml`")]
fn aliases_do_not_grow_without_bound() {
    let mut cassette = String::from("a0: &a0 [\"lol\", \"lol\"]\n");
    for level in 1..40 {
        let before = level - 1;
        cassette.push_str(&format!("a{level}: &a{level} [*a{before}, *a{before}, *a{before}]\n"));
    }
    cassette.push_str("interactions:\n- request:\n    parsed_body: {messages: *a39}\n");
    let opened = open(cassette.as_bytes(), Limits::new(1 << 20)).expect("it is a cassette");
    assert_eq!(opened.exchanges, 0);
    assert_eq!(opened.left_out[0].to_string(), "1 body that is too large");
    let inside_itself = "interactions:\n- request:\n    parsed_body: &a {messages: [*a]}\n";
    let opened = open(inside_itself.as_bytes(), Limits::default()).expect("it is a cassette");
    assert_eq!(opened.exchanges, 0);
}
