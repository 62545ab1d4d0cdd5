//! Where values and bytes are: lines and columns, JSON Pointers, and the places that a text was made of.

use std::sync::Arc;

use proptest::prelude::*;
use toolcheck_json::origins::{Builder, Mapped, Origin, Origins};
use toolcheck_json::{Document, LONGEST_POINTER, NodeId, Value, locate, pointers};

/// The ids of all values, in the order of the text.
fn ids(document: &Document<'_>) -> Vec<NodeId> {
    let mut open = vec![document.root()];
    let mut ids = Vec::new();
    while let Some(value) = open.pop() {
        ids.push(value.id());
        let children: Vec<Value<'_, '_>> = value.children().collect();
        open.extend(children.into_iter().rev());
    }
    ids
}

fn at(text: &str, offset: usize) -> (u64, u64) {
    let position = locate(text.as_bytes(), &[offset])[0];
    (position.line, position.column)
}

#[test]
fn columns_count_characters_and_crlf_is_one_line_end() {
    assert_eq!(at("ab", 1), (1, 2));
    assert_eq!(at("a\nb", 2), (2, 1));
    assert_eq!(at("a\r\nb", 3), (2, 1));
    assert_eq!(at("\u{e9}\u{1F600}x", 6), (1, 3));
    assert_eq!(at("a", 99), (1, 2));
}

#[test]
fn offsets_keep_their_order() {
    let found = locate(b"a\nbc\nd", &[5, 0, 3]);
    assert_eq!(found.iter().map(|p| (p.line, p.column)).collect::<Vec<_>>(), [(3, 1), (1, 1), (2, 2)]);
}

#[test]
fn a_key_that_is_no_text_has_the_pointer_of_its_object() {
    let text =
        b"{\"a\": {\"\\ud800\": {\"b\": [1]}, \"\xff\": 2, \"\\ud83d\\ude00\": 3, \"\xef\xbf\xbd\": [4]}}";
    let document = Document::read(text);
    let ids = ids(&document);
    let grin = "/a/\u{1f600}";
    let expected = ["", "/a", "/a", "/a", "/a", "/a", grin, "/a/\u{fffd}", "/a/\u{fffd}/0"];
    assert_eq!(pointers(&document, &ids), expected);
}

#[test]
fn pointers_name_every_value() {
    let text = br#"{"a": [1, {"b/~": 2}, []], "c": {"d": [[3]]}, "": 4}"#;
    let document = Document::read(text);
    let ids = ids(&document);
    let expected = ["", "/a", "/a/0", "/a/1", "/a/1/b~1~0", "/a/2", "/c", "/c/d", "/c/d/0", "/c/d/0/0", "/"];
    assert_eq!(pointers(&document, &ids), expected);
    let some = [ids[9], ids[2], ids[9], ids[0]];
    assert_eq!(pointers(&document, &some), ["/c/d/0/0", "/a/0", "/c/d/0/0", ""]);
}
#[test]
fn long_pointers_are_cut_in_the_middle() {
    let long = "\u{e4}".repeat(LONGEST_POINTER);
    let text = format!(r#"{{"{long}": {{"end": 1}}}}"#);
    let document = Document::read(text.as_bytes());
    let found = pointers(&document, &ids(&document)[1..]);
    for pointer in &found {
        assert!(pointer.len() <= LONGEST_POINTER, "{}", pointer.len());
        assert!(pointer.starts_with("/\u{e4}\u{e4}") && pointer.contains('\u{2026}'));
    }
    assert!(found[1].ends_with("\u{e4}/end"));
    let deep = "[".repeat(LONGEST_POINTER);
    let document = Document::read(deep.as_bytes());
    let [last] = &pointers(&document, &ids(&document)[LONGEST_POINTER - 1..])[..] else { panic!() };
    assert!(last.len() <= LONGEST_POINTER && last.starts_with("/0/0") && last.ends_with("/0/0"));
}

#[test]
fn parts_are_found_in_the_file() {
    // `'{"a": "it''s"}'` in the file, without the outer quotes.
    let file = br#"x: '{"a": "it''s"}'"#;
    let mut body = Mapped::default();
    body.push_same(br#"{"a": "it"#, 4);
    body.push_same(br#"'s"}"#, 14);
    let mut made = Builder::default();
    made.glue("{\"request\": ");
    made.value("/request", Arc::new(Origin::new("x")), &body);
    made.glue("}\n");
    let (text, origins) = made.finish();
    assert_eq!(text, b"{\"request\": {\"a\": \"it's\"}}\n");
    let all = origins.locate(0..text.len()).expect("there is a part");
    assert_eq!((all.source, &*all.origin.label, all.pointer), (4..18, "x", "/request"));
    let value = origins.locate(18..24).expect("there is a part").source;
    assert_eq!(&file[value], br#""it''s""#);
    assert!(origins.same_bytes().all(|(made, source)| text[made] == file[source]));
    assert_eq!(origins.same_bytes().count(), body.text().len());
}

#[test]
fn a_part_that_was_decoded_stands_for_all_its_bytes() {
    let body = Mapped::whole(b"{\n}".to_vec(), 7..99);
    let mut made = Builder::default();
    made.value("", Arc::new(Origin::new("x")), &body);
    let (text, origins) = made.finish();
    assert_eq!(text, b"{ }");
    assert_eq!(origins.locate(1..2).map(|at| at.source), Some(7..99));
    assert_eq!(origins.same_bytes().count(), 0);
    assert_eq!(Origins::default().locate(0..1), None);
}

#[test]
fn a_part_of_a_text_keeps_its_places() {
    let mut text = Mapped::default();
    text.push_same(b"abc", 10);
    text.push_whole(b"--", 20..28);
    text.push_same(b"xyz", 30);
    let mut part = Mapped::default();
    part.push_part(&text, 1..7);
    assert_eq!(part.text(), b"bc--xy");
    assert_eq!(part.source_of(0..2), Some(11..13));
    assert_eq!(part.source_of(3..4), Some(20..28));
    assert_eq!(part.source_of(5..6), Some(31..32));
    assert_eq!(part.source_of(0..6), Some(11..32));
    assert_eq!((part.is_same(1), part.is_same(2)), (true, false));
}

/// Opens all strings below these keys, level by level.
fn open(text: &[u8], levels: usize) -> Mapped {
    let document = Document::read(text);
    let strings = |document: &Document<'_>| -> Vec<NodeId> {
        let root = document.root();
        root.elements().filter(|value| value.as_json_str().is_some()).map(|value| value.id()).collect()
    };
    let mut opened = Mapped::expanded(&document, &strings(&document));
    for _ in 1..levels {
        let inner = opened.text().to_vec();
        let document = Document::read(&inner);
        opened = Mapped::expanded(&document, &strings(&document)).through(&opened);
    }
    opened
}

#[test]
fn what_a_string_says_stands_in_its_place() {
    let text = br#"[1, "[{\"a\": \"\\\"\u00e9\"}]", 2]"#;
    let opened = open(text, 1);
    assert_eq!(String::from_utf8_lossy(opened.text()), "[1, [{\"a\": \"\\\"\u{e9}\"}], 2]");
    assert_eq!(opened.source_of(0..2), Some(0..2));
    let end = opened.text().len();
    assert_eq!(opened.source_of(0..end), Some(0..text.len()));
    assert_eq!(opened.source_of(end - 2..end - 1), Some(text.len() - 2..text.len() - 1));
    // `"a"` with its quotes, which are escapes.
    assert_eq!(&text[opened.source_of(6..9).unwrap()], br#"\"a\""#);
    // The escape for a quote, and the letter.
    assert_eq!(&text[opened.source_of(12..14).unwrap()], br#"\\\""#);
    assert_eq!(&text[opened.source_of(14..16).unwrap()], br"\u00e9");
}

#[test]
fn a_string_in_a_string_leads_back_to_the_file() {
    let inner = serde_json::to_string("[\"x\"]").unwrap_or_default();
    let text = serde_json::to_string(&[inner]).unwrap_or_default();
    assert_eq!(text, r#"["\"[\\\"x\\\"]\""]"#);
    let opened = open(text.as_bytes(), 2);
    assert_eq!(opened.text(), br#"[["x"]]"#);
    assert_eq!(&text[opened.source_of(2..5).unwrap()], r#"\\\"x\\\""#);
    assert_eq!(&text[opened.source_of(3..4).unwrap()], "x");
}

proptest! {
    #[test]
    fn every_range_leads_into_the_source(text in ".{0,40}", levels in 1usize..4) {
        let mut written = text;
        for _ in 0..levels {
            written = serde_json::to_string(&written).unwrap_or_default();
        }
        let written = format!("[1, {written}]");
        let opened = open(written.as_bytes(), levels);
        let length = opened.text().len();
        let mut before = 0;
        for at in 0..length {
            let source = opened.source_of(at..at + 1).unwrap();
            prop_assert!(source.start < source.end && source.end <= written.len());
            prop_assert!(source.start >= before);
            before = source.start;
        }
        prop_assert_eq!(opened.source_of(0..length), Some(0..written.len()));
    }
}
