//! Texts that every parser of JSON must accept, must reject, or may treat as it likes (RFC 8259).
//!
//! The classes are those of JSONTestSuite, and the texts are our own.

use toolcheck_json::{Document, Kind, SyntaxErrorKind};

/// Read without a fault.
const VALID: &[&[u8]] = &[
    // Any value may be the whole text, with whitespace around it.
    b"null",
    b"true",
    b"false",
    b"12",
    b"\"alone\"",
    b"\"\"",
    b"[]",
    b"{}",
    b" \t\r\n[ ]\n",
    b"[\t\"a\"\r\n,\n1 ]",
    b"{ \"a\" :\t1 }",
    // Arrays and objects.
    b"[1, [2, [3, {}]], [], {\"a\": []}]",
    b"[null, true, false, 0, \"\"]",
    b"{\"a\": {\"b\": {\"c\": null}}}",
    b"{\"\": 0}",
    b"{\"a\\u0000b\": 0}",
    b"{\"key with spaces\": 1, \"other\": [1, 2]}",
    // Numbers.
    b"[0, -0, 7, -7, 10, 1234567890]",
    b"[0.5, -0.5, 10.25, 0.000000000000000000001]",
    b"[1e3, 1E3, 1e+3, 1e-3, 0e0, 0e+1, 1.5E-2, -2.5e+2]",
    // Strings.
    b"[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]",
    b"[\"\\u0041\\u00e9\\u20AC\\uABcd\"]",
    b"[\"\\u0000\"]",
    b"[\"\\ud83d\\ude00\"]",
    b"[\"\\\\u0041\", \"\\\\\\\\\"]",
    b"[\"a/*b*/c//d\"]",
    b"[\"\x7f\"]",
    "[\"é€😀\"]".as_bytes(),
    "[\"\u{2028}\u{2029}\u{feff}\u{fffe}\u{10ffff}\"]".as_bytes(),
    b"[\"'\", \"]\", \"}\", \",\", \":\"]",
];

/// Rejected: every one must have a fault.
const INVALID: &[&[u8]] = &[
    // Nothing, or only whitespace.
    b"",
    b" ",
    b"\n\n",
    // Commas.
    b"[1,]",
    b"[,1]",
    b"[,]",
    b"[1,,2]",
    b"[1 2]",
    b"[\"a\" \"b\"]",
    b"[1,",
    b"[1\n,2,\n]",
    b"{\"a\": 1,}",
    b"{,\"a\": 1}",
    b"{\"a\": 1,,\"b\": 2}",
    b"{\"a\": 1 \"b\": 2}",
    b"{\"a\": 1,",
    // Colons, keys and values.
    b"{\"a\"}",
    b"{\"a\":}",
    b"{\"a\": }",
    b"{\"a\" 1}",
    b"{\"a\", 1}",
    b"{\"a\":: 1}",
    b"{\"a\": 1: 2}",
    b"{: 1}",
    b"{a: 1}",
    b"{'a': 1}",
    b"{1: 1}",
    b"{null: 1}",
    b"{[]: 1}",
    b"{{}: 1}",
    b"[\"a\": 1]",
    b"[1:2]",
    // Brackets.
    b"[",
    b"{",
    b"]",
    b"}",
    b"[[]",
    b"[]]",
    b"{}}",
    b"[}",
    b"{]",
    b"[1}",
    b"{\"a\": [1}",
    b"[{]}",
    b"[\"a\"",
    b"{\"a\": 1",
    b"{\"a\":",
    b"{\"a\"",
    b"<>",
    // More than one value.
    b"1 2",
    b"[] []",
    b"{} {}",
    b"null null",
    b"[1]x",
    b"{\"a\": 1}#",
    b"\"a\" \"b\"",
    b"[],",
    // Words.
    b"nul",
    b"tru",
    b"tru e",
    b"null0",
    b"truth",
    b"[nul]",
    b"[True]",
    b"[FALSE]",
    b"[None]",
    b"[undefined]",
    b"[x]",
    b"[*]",
    b"[@]",
    b"[$1]",
    "[é]".as_bytes(),
    // Numbers.
    b"[01]",
    b"[-01]",
    b"[00]",
    b"[+1]",
    b"[-]",
    b"[--1]",
    b"[- 1]",
    b"[-a]",
    b"[.5]",
    b"[-.5]",
    b"[1.]",
    b"[1.e3]",
    b"[1.5.5]",
    b"[1e]",
    b"[1e+]",
    b"[1E-]",
    b"[1e1.5]",
    b"[1ee1]",
    b"[1+2]",
    b"[1 000]",
    b"[1_000]",
    b"[0x1F]",
    b"[1a]",
    b"[NaN]",
    b"[-NaN]",
    b"[Infinity]",
    b"[-Infinity]",
    b"[1\xff]",
    "[１]".as_bytes(),
    // Strings.
    b"\"",
    b"[\"a]",
    b"[\"a\\\"]",
    b"[\"\\",
    b"[\"\\\"",
    b"['a']",
    b"[`a`]",
    b"[\"\\x41\"]",
    b"[\"\\a\"]",
    b"[\"\\'\"]",
    b"[\"\\U0041\"]",
    b"[\"\\0\"]",
    b"[\"\\ \"]",
    "[\"\\é\"]".as_bytes(),
    b"[\"\\u\"]",
    b"[\"\\u00\"]",
    b"[\"\\u00g0\"]",
    b"[\"\\u 041\"]",
    b"[\"\\ud800\\u\"]",
    b"[\"\\ud800\\u1\"]",
    b"[\"\\ud800\\\"]",
    b"[\"a\nb\"]",
    b"[\"a\tb\"]",
    b"[\"a\0b\"]",
    b"[\"\x1f\"]",
    b"[\xe2\x80\x9ca\xe2\x80\x9d]",
    b"[\\n]",
    b"[\\u0061]",
    // Comments, and whitespace of other languages.
    b"[1] // one",
    b"// one\n[1]",
    b"[1, /* two */ 3]",
    b"[1 /* open",
    b"# one\n[1]",
    b"[\x0b1]",
    b"[1\x0c]",
    b"[\xc2\xa01]",
    b"[\xe2\x81\xa01]",
    b"[\xe3\x80\x801]",
    // Bytes that are no text, outside of strings.
    b"\0",
    b"[\0]",
    b"[1]\0",
    b"[\xff]",
    b"{\"a\": \xe5}",
    b"\xef\xbb[1]",
    b"\x80",
];

/// Accepted by some parsers and rejected by others: they must have a fault or a value.
const EITHER: &[&[u8]] = &[
    // Numbers that no `f64` or `i64` holds.
    b"[1e999]",
    b"[-1e999]",
    b"[1e-999]",
    b"[123456789012345678901234567890]",
    b"[-123456789012345678901234567890]",
    b"[0.1e00000000000000000000000000000000000001]",
    // Halves of surrogate pairs.
    b"[\"\\ud800\"]",
    b"[\"\\udc00\"]",
    b"[\"\\ud800a\"]",
    b"[\"\\ud800\\ud800\"]",
    b"[\"\\ude00\\ud83d\"]",
    b"[\"\\ud800\\n\"]",
    b"{\"\\udfaa\": 0}",
    // Bytes in strings that are not UTF-8: too long, too short, surrogates, and above the last character.
    b"[\"\xff\"]",
    b"[\"\xc0\xaf\"]",
    b"[\"\xe0\x80\x80\"]",
    b"[\"\xe5\x88\"]",
    b"[\"\x81\"]",
    b"[\"\xed\xa0\x80\"]",
    b"[\"\xf4\xbf\xbf\xbf\"]",
    b"[\"\xfc\x83\xbf\xbf\xbf\xbf\"]",
    // A byte order mark, and other encodings.
    b"\xef\xbb\xbf{}",
    b"\xff\xfe[\0]\0",
    b"\xfe\xff\0[\0]",
    b"\0[\0\"\0a\0\"\0]",
];

/// Whether a text has no fault, and whether a value was found in it.
fn read(text: &[u8]) -> (bool, bool) {
    let document = Document::read(text);
    (document.faults().is_empty(), document.root().kind() != Kind::Invalid)
}

/// The texts that are not as they should be.
fn wrong<'t>(texts: &[&'t [u8]], is_right: impl Fn(&[u8]) -> bool) -> Vec<std::borrow::Cow<'t, str>> {
    texts.iter().filter(|text| !is_right(text)).map(|text| String::from_utf8_lossy(text)).collect()
}

#[test]
fn valid_texts_have_no_fault() {
    let wrong = wrong(VALID, |text| read(text) == (true, true));
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn invalid_texts_have_a_fault() {
    let wrong = wrong(INVALID, |text| !read(text).0);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn other_texts_have_a_fault_or_a_value() {
    let wrong = wrong(EITHER, |text| {
        let (is_clean, has_value) = read(text);
        !is_clean || has_value
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The lists are right: another parser agrees.
#[test]
fn the_lists_agree_with_serde_json() {
    let accepts = |text: &[u8]| serde_json::from_slice::<serde_json::Value>(text).is_ok();
    let wrong = [wrong(VALID, accepts), wrong(INVALID, |text| !accepts(text))].concat();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A text that is open at a depth that no stack holds has a fault, and nothing overflows.
#[test]
fn endless_depth_is_a_fault() {
    for open in ["[", "{\"a\":", "[{\"a\":"] {
        let text = open.repeat(100_000);
        let document = Document::read(text.as_bytes());
        assert!(document.faults().iter().any(|fault| fault.kind == SyntaxErrorKind::TooDeep), "{open}");
    }
    let depth = 400;
    let text = ["[".repeat(depth), "]".repeat(depth)].concat();
    assert_eq!(read(text.as_bytes()), (true, true));
}
