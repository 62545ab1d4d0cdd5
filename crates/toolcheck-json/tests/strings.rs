//! What strings say, read in blocks of bytes and without being decoded.

use proptest::prelude::*;
use toolcheck_json::{Decoded, Document};

/// Whether the text, written into a JSON string, is recognised as an object.
fn is_recognised(text: &str) -> bool {
    let written = serde_json::to_string(text).expect("a text can be written");
    Document::read(written.as_bytes()).root().as_json_str().expect("it is a string").is_surely_object()
}

#[test]
fn valid_objects_are_recognised() {
    let texts = [
        "{}",
        " { } ",
        r#"{"a": 1}"#,
        r#"{"a": [1, -2.5e+3, 0, true, false, null, {"b": []}], "c": {}}"#,
        "{\n  \"a\": \"\\n\\u00e9 \\\" \\\\ \u{e9} \u{1F600}\"\n}\n",
    ];
    for text in texts {
        assert!(is_recognised(text), "{text}");
    }
}

#[test]
fn other_texts_are_not_recognised() {
    let texts: Vec<String> = serde_json::from_str(
        r#"["", "1", "[]", "{", "}", "{]", "{,}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}",
        "{\"a\":01}", "{\"a\":1.}", "{\"a\":tru}", "{\"a\":\"\\x\"}", "{\"a\":\"\\u12\"}",
        "{\"a\":\"\n\"}", "{} {}", "{\"a\":[1,]}", "{'a':1}", "{\"a\":-}", "{\"a\":1e}",
        "{\"a\" 1}", "{\"a\":[}", "{\"a\":\"", "{\"a\":+1}"]"#,
    )
    .expect("it is a list");
    for text in texts {
        assert!(!is_recognised(&text), "{text}");
    }
}

proptest! {
    /// Blocks say what single characters say, as the fuzz target `json` asserts.
    #[test]
    fn a_text_is_the_same_in_blocks(parts in prop::collection::vec(prop::sample::select(vec![
        &b"abc"[..], b"twenty bytes of text", b"\\n", b"\\\"", b"\\u00e9", b"\\ud83d\\ude00", b"\\ud800", b"\\x",
        b"\\u12", b"\\\\", b"\\/", b"\xc3\xa9", b"\xff", b"\xe2\x82", b"\xf0\x9f\x98\x80", b" ",
    ]), 0..24)) {
        let text = [&b"[\""[..], &parts.concat(), b"\"]"].concat();
        crate::fuzz::run(&text);
    }
}

proptest! {
    /// The place of each byte is that where the string comes from, whatever it consists of.
    #[test]
    fn every_byte_has_the_place_of_its_character(parts in prop::collection::vec(prop::sample::select(vec![
        &b"abc"[..], b"\\n", b"\\u00e9", b"\\ud83d\\ude00", b"\\ud800", b"\\x", b"\\\\", b"\xc3\xa9", b"\xff", b"\xe2\x82",
        b"\xf0\x9f\x98\x80", b" ",
    ]), 0..12)) {
        let text = [&b"[\""[..], &parts.concat(), b"\"]"].concat();
        let document = Document::read(&text);
        let Some(value) = document.root().elements().next() else { return Ok(()) };
        let string = value.as_json_str().expect("it is a string");
        let decoded = Decoded::new(string, value.span().start);
        let (expected, offsets) = string.decode_with_offsets();
        prop_assert_eq!(decoded.text(), &expected);
        for (at, offset) in offsets.iter().enumerate() {
            prop_assert_eq!(decoded.span_of(at..at).start, 2 + offset, "byte {} of {:?}", at, expected);
        }
        let end = 2 + string.raw().len() as u32;
        prop_assert_eq!(decoded.span_of(expected.len()..expected.len() + 9).end, end);
    }
}
