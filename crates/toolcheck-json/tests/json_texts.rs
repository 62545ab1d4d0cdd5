//! Texts that every parser of JSON must accept, must reject, or may treat as it likes (RFC 8259).
//!
//! The classes are those of JSONTestSuite, and the texts are our own.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use toolcheck_json::{Document, Kind, SyntaxErrorKind};

/// The texts, by class and by what they show. Each character stands for one byte.
static TEXTS: LazyLock<BTreeMap<String, BTreeMap<String, Vec<String>>>> =
    LazyLock::new(|| serde_json::from_str(include_str!("json_texts.json")).unwrap());

/// Whether a text has no fault, and whether a value was found in it.
fn read(text: &[u8]) -> (bool, bool) {
    let document = Document::read(text);
    (document.faults().is_empty(), document.root().kind() != Kind::Invalid)
}

/// Checks that each text of a class is as it should be.
fn assert_all(class: &str, is_right: impl Fn(&[u8]) -> bool) {
    let bytes = |text: &String| text.chars().map(|one| u8::try_from(one).unwrap()).collect::<Vec<u8>>();
    let texts = TEXTS[class].values().flatten();
    let wrong: Vec<&String> = texts.filter(|text| !is_right(&bytes(text))).collect();
    assert!(wrong.is_empty(), "{class}: {wrong:#?}");
}

#[test]
fn texts_have_a_fault_or_none_as_their_class_says() {
    assert_all("valid", |text| read(text) == (true, true));
    assert_all("invalid", |text| !read(text).0);
    // They must have a fault or a value.
    assert_all("either", |text| read(text) != (true, false));
    let count: usize = TEXTS.values().flat_map(BTreeMap::values).map(Vec::len).sum();
    assert!(count > 180, "{count}");
}

/// The lists are right: another parser agrees.
#[test]
fn the_lists_agree_with_serde_json() {
    let accepts = |text: &[u8]| serde_json::from_slice::<serde_json::Value>(text).is_ok();
    assert_all("valid", accepts);
    assert_all("invalid", |text| !accepts(text));
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
