//! Faults have a place, and the rest of the text is still read.

use toolcheck_json::{DEEPEST, Document, Kind, Records, SyntaxErrorKind};

#[track_caller]
fn check(text: impl AsRef<[u8]>, expected: &[(SyntaxErrorKind, u32, u32)]) -> String {
    let text = text.as_ref();
    let document = Document::read(text);
    let found: Vec<_> =
        document.faults().iter().map(|fault| (fault.kind, fault.span.start, fault.span.end)).collect();
    assert_eq!(found, expected, "{}", String::from_utf8_lossy(text));
    // The values that were read, in the order of the text.
    let mut values = Vec::new();
    let mut open: Vec<_> = vec![document.root()];
    while let Some(value) = open.pop() {
        if !matches!(value.kind(), Kind::Array | Kind::Object) {
            values.push(String::from_utf8_lossy(value.raw()).into_owned());
        }
        open.extend(value.children().collect::<Vec<_>>().into_iter().rev());
    }
    values.join(" ")
}

#[test]
fn structure() {
    use SyntaxErrorKind::*;
    assert_eq!(check("[1, 2,]", &[(TrailingComma, 5, 6)]), "1 2");
    assert_eq!(check(r#"{"a": 1, }"#, &[(TrailingComma, 7, 8)]), "1");
    assert_eq!(check("[1 2]", &[(MissingComma, 3, 3)]), "1 2");
    assert_eq!(check(r#"{"a": 1 "b": 2}"#, &[(MissingComma, 8, 8)]), "1 2");
    assert_eq!(check(r#"{"a" 1, "b": 2}"#, &[(MissingColon, 5, 5)]), "1 2");
    assert_eq!(check(r#"{"a":, "b": 2}"#, &[(MissingValue, 5, 6)]), ", 2");
    assert_eq!(check(r#"{"a": }"#, &[(MissingValue, 6, 6)]), "");
    assert_eq!(check("{a: 1}", &[(InvalidKey, 1, 2)]), "1");
    assert_eq!(check(r#"{, "b": 2}"#, &[(MissingValue, 1, 2)]), "2");
    assert_eq!(check(r#"{[1], "b": 2}"#, &[(InvalidKey, 1, 2)]), "1 2");
    assert_eq!(check(r#"{{"a": 1}, "b": 2}"#, &[(InvalidKey, 1, 2)]), "1 2");
    assert_eq!(check("[1, 'two', 3]", &[(SingleQuotes, 4, 9)]), "1 'two' 3");
    assert_eq!(check("[1] // done", &[(Comment, 4, 11)]), "1");
    assert_eq!(check("[1, /* two */ 3]", &[(Comment, 4, 13)]), "1 3");
    assert_eq!(check("[1]]", &[(TrailingContent, 3, 4)]), "1");
    assert_eq!(check("[1}", &[(MismatchedBracket, 2, 3)]), "1");
    assert_eq!(check(r#"{"a": [1, 2}"#, &[(MismatchedBracket, 11, 12)]), "1 2");
    assert_eq!(check("\0\0\0\0\0[1, \0\x002]", &[(NulBytes, 0, 5), (NulBytes, 9, 11)]), "1 2");
    assert_eq!(check("\0\0\0\0\0\n", &[(NulBytes, 0, 5)]), "");
    // Text that is not JSON is one fault, whatever follows.
    assert_eq!(check("12:30 the server starts", &[(TrailingContent, 2, 23)]), "12");
    assert_eq!(check("starting the server", &[(InvalidValue, 0, 8)]), "starting");
    assert_eq!(check("", &[(Empty, 0, 0)]), "");
    assert_eq!(check(" \n", &[(Empty, 2, 2)]), "");
}

#[test]
fn a_truncated_tail_is_one_fault() {
    use SyntaxErrorKind::*;
    assert_eq!(check(r#"{"a": [1, {"b": 2"#, &[(Unclosed, 17, 17)]), "1 2");
    assert_eq!(check(r#"{"a": [1, "tw"#, &[(UnterminatedString, 13, 13)]), "1 \"tw");
    assert_eq!(check(r#"{"a": 1, "b"#, &[(UnterminatedString, 11, 11)]), "1");
    assert_eq!(check(r#"{"a": 1, "b""#, &[(Unclosed, 12, 12)]), "1 ");
    assert_eq!(check(r#"{"a": 1, "b":"#, &[(Unclosed, 13, 13)]), "1 ");
    assert_eq!(check(r#"{"a": tru"#, &[(InvalidValue, 6, 9)]), "tru");
}

#[test]
fn numbers() {
    use SyntaxErrorKind::*;
    assert_eq!(check("[NaN, -Infinity, 1]", &[(NotANumber, 1, 4), (NotANumber, 6, 15)]), "NaN -Infinity 1");
    assert_eq!(check("[01, 1]", &[(InvalidNumber, 1, 3)]), "01 1");
    assert_eq!(check("[1., 1]", &[(InvalidNumber, 1, 3)]), "1. 1");
    assert_eq!(check("[1e, 1]", &[(InvalidNumber, 1, 3)]), "1e 1");
    assert_eq!(check("[1e+, 1]", &[(InvalidNumber, 1, 4)]), "1e+ 1");
    assert_eq!(check("[1e5, 1E-5]", &[]), "1e5 1E-5");
    assert_eq!(check("[+1, 1]", &[(InvalidValue, 1, 3)]), "+1 1");
    // Kept as written, however long.
    let long = "123456789012345678901234567890.5e-400";
    assert_eq!(check(long, &[]), long);
}

#[test]
fn strings() {
    use SyntaxErrorKind::*;
    check(r#"["\ud83d\ude00", "\ud83d"]"#, &[(LoneSurrogate, 18, 24)]);
    check(r#"["\ude00\ud83d x"]"#, &[(LoneSurrogate, 2, 8), (LoneSurrogate, 8, 14)]);
    check(r#"{"\ud800": 1}"#, &[(LoneSurrogate, 2, 8)]);
    check("[\"a\tb\"]", &[(ControlCharacter, 3, 4)]);
    check("[\"0123456789abcdefghij\n\"]", &[(ControlCharacter, 22, 23)]);
    for end in ["", "\n", "\r\n", "\n  "] {
        let text = format!("[\"a{end}");
        check(&text, &[(UnterminatedString, text.len() as u32, text.len() as u32)]);
    }
    check("[\"a\nb\n", &[(ControlCharacter, 3, 4), (UnterminatedString, 6, 6)]);
    check(r#"["\x41"]"#, &[(InvalidEscape, 2, 4)]);
    check(r#"["\u12g4"]"#, &[(InvalidEscape, 2, 4)]);
    check(b"[\"\xff\xfe\", \"\xc3\xa9\", \"\xc3\"]", &[(InvalidUtf8, 2, 4), (InvalidUtf8, 14, 15)]);
    check("\u{feff}[1]", &[(ByteOrderMark, 0, 3)]);
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
