//! Faults have a place, and the rest of the text is still read.

use std::collections::BTreeMap;

use toolcheck_json::{DEEPEST, Document, Kind, Records, SyntaxErrorKind, Value};

/// A text, in which each character stands for one byte; its faults; and the values that are read of it.
type Case = (String, Vec<(String, u32, u32)>, Option<String>);

#[test]
fn each_text_has_its_faults_and_its_values() {
    let cases: BTreeMap<String, Vec<Case>> = serde_json::from_str(include_str!("faults.json")).unwrap();
    for (text, expected, values) in cases.into_values().flatten() {
        let bytes: Vec<u8> = text.chars().map(|one| u8::try_from(one).unwrap()).collect();
        let document = Document::read(&bytes);
        let found = document.faults().iter();
        let found = found.map(|fault| (format!("{:?}", fault.kind), fault.span.start, fault.span.end));
        assert_eq!(found.collect::<Vec<_>>(), expected, "{text}");
        // The values that were read, in the order of the text.
        let mut read = Vec::new();
        let mut open: Vec<_> = vec![document.root()];
        while let Some(value) = open.pop() {
            if !matches!(value.kind(), Kind::Array | Kind::Object) {
                read.push(String::from_utf8_lossy(value.raw()).into_owned());
            }
            open.extend(value.children().collect::<Vec<_>>().into_iter().rev());
        }
        assert!(values.is_none_or(|values| values == read.join(" ")), "{text}: {read:?}");
    }
}

#[test]
fn a_string_with_faults_can_still_be_decoded() {
    let document = Document::read(b"[\"a\\ud800b\", \"a\xffb\", \"a\\qb\"]");
    let texts: Vec<_> = document.root().elements().map(|value| value.as_str().unwrap()).collect();
    assert_eq!(texts, ["a\u{fffd}b", "a\u{fffd}b", "a\\qb"]);
}

#[test]
fn duplicate_keys_are_kept_and_found() {
    let document = Document::read(br#"{"a": 1, "b": 2, "\u0061": 3, "c": {"b": 4}}"#);
    let found: Vec<_> =
        document.duplicate_keys().iter().map(|(first, again)| (first.raw(), again.raw())).collect();
    assert_eq!(found, [(&b"1"[..], &b"3"[..])]);
    assert_eq!(document.root().get("a").unwrap().raw(), b"3");
    assert_eq!(document.root().members().count(), 4);
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert_eq!(Document::read(nested(DEEPEST).as_bytes()).faults(), &[]);
    let text = nested(200_000);
    let document = Document::read(text.as_bytes());
    assert_eq!(
        document.faults().iter().map(|fault| fault.kind).collect::<Vec<_>>(),
        [SyntaxErrorKind::TooDeep]
    );
}

#[test]
fn a_binary_file_has_a_bounded_number_of_faults() {
    let bytes: Vec<u8> = (0..100_000u32).map(|number| (number * 31 % 251) as u8).collect();
    let document = Document::read(&bytes);
    assert!(document.faults().len() <= 512);
}

#[test]
fn another_encoding_is_one_fault() {
    let text = "{\"messages\": [1]}\n[2]\n";
    let utf16 = |to: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(to).collect::<Vec<u8>>();
    let utf32 = |to: fn(u32) -> [u8; 4]| text.chars().flat_map(|c| to(c.into())).collect::<Vec<u8>>();
    for (bytes, mark, kind) in [
        (utf16(u16::to_le_bytes), &[0xFF, 0xFE][..], SyntaxErrorKind::Utf16),
        (utf16(u16::to_be_bytes), &[0xFE, 0xFF], SyntaxErrorKind::Utf16),
        (utf32(u32::to_le_bytes), &[0xFF, 0xFE, 0, 0], SyntaxErrorKind::Utf32),
        (utf32(u32::to_be_bytes), &[0, 0, 0xFE, 0xFF], SyntaxErrorKind::Utf32),
    ] {
        for bytes in [bytes.clone(), [mark, &bytes].concat()] {
            let document = Document::read(&bytes);
            let kinds: Vec<SyntaxErrorKind> = document.faults().iter().map(|fault| fault.kind).collect();
            assert_eq!((kinds, document.root().kind()), (vec![kind], Kind::Invalid), "{bytes:?}");
            assert_eq!(Records::new(&bytes).count(), 1);
        }
    }
}

/// A request, of which each quote is left out in turn, and which gets one more at each place.
const REQUEST: &str = r#"{"model": "m", "messages": [{"role": "user", "content": "hi, (you)"}, {"role": "assistant", "content": null,
  "tool_calls": [{"id": "call_1", "arguments": "{\"a\": [\"b\", \"1\", {}]}"}]}, [], 12], "stop": ["\n", "é"]
}"#;

/// How many of the texts have no fault, one, two and so on. Each value is inside the one that it belongs to.
fn counts_of_faults(texts: impl Iterator<Item = String>) -> [usize; 8] {
    let mut counts = [0; 8];
    for text in texts {
        let document = Document::read(text.as_bytes());
        counts[document.faults().len()] += 1;
        let inside = |value: Value<'_, '_>| {
            let all = value.span().range();
            value
                .children()
                .all(|child| all.start <= child.span().range().start && child.span().range().end <= all.end)
        };
        let mut open = vec![document.root()];
        while let Some(value) = open.pop() {
            assert!(inside(value), "{text}");
            open.extend(value.children());
        }
    }
    counts
}

/// The request with a character more at a place, or without the one that is there.
fn with(place: usize, character: char) -> String {
    format!("{}{character}{}", &REQUEST[..place], &REQUEST[place..])
}

fn without(place: usize) -> String {
    format!("{}{}", &REQUEST[..place], &REQUEST[place + 1..])
}

#[test]
fn a_quote_too_many_or_too_few_is_mostly_one_fault() {
    let more = REQUEST.char_indices().map(|(place, _)| with(place, '"'));
    let less = REQUEST.match_indices('"').map(|(place, _)| without(place));
    assert_eq!(counts_of_faults(more.chain(less)), [2, 253, 7, 0, 0, 0, 0, 0]);
}

#[test]
fn a_bracket_too_many_or_too_few_is_mostly_one_fault() {
    let places = || REQUEST.match_indices(['{', '}', '[', ']']);
    let less = places().map(|(place, _)| without(place));
    // Six are in a string.
    assert_eq!(counts_of_faults(less), [6, 13, 2, 1, 0, 0, 0, 0]);
    let more = places().map(|(place, bracket)| with(place, bracket.chars().next().unwrap()));
    assert_eq!(counts_of_faults(more), [6, 15, 1, 0, 0, 0, 0, 0]);
}

#[test]
fn the_values_before_a_quote_that_is_missing_are_read() {
    let document = Document::read(br#"{"a": 1, "a": 2, "b": [3, {"c": "say "d" e", "f": 4}, 5], "a": 6}"#);
    assert_eq!(document.root().get("a").unwrap().raw(), b"2");
    assert_eq!(document.duplicate_keys().len(), 1);
    let row = document.root().get("b").unwrap().elements().last().unwrap();
    assert_eq!(row.get("c").unwrap().as_str().unwrap(), "say ");
    assert_eq!(row.get("f").map(Value::raw), None);
}
