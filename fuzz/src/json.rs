//! The reader, compared with `serde_json` and with itself.

use serde_json::Value as Json;
use toolcheck_json::{Arena, Decoded, Document, Kind, Records, Span, Value, locate, pointers};

/// Reads the bytes as one text and as records.
pub fn run(data: &[u8]) {
    let document = Document::read(data);
    check_places(data, &document);
    check_strings(&document);
    compare(&document);
    check_records(data);
}

/// Asserts that every place is inside the text, and that children are inside their parents, each after the previous one.
fn check_places(data: &[u8], document: &Document<'_>) {
    let whole = Span::new(0, document.bytes().len() as u32);
    // A text in another encoding is not read, and the document has no bytes.
    let text = Span::new(0, data.len() as u32);
    for fault in document.faults() {
        assert!(text.contains(fault.span), "{fault:?}");
        assert!(fault.opened_at.is_none_or(|at| at <= text.end), "{fault:?}");
    }
    let mut open: Vec<Value<'_, '_>> = vec![document.root()];
    let mut ids = Vec::new();
    while let Some(value) = open.pop() {
        ids.push(value.id());
        let outer = value.span();
        assert!(whole.contains(outer), "{outer:?}");
        let mut end = outer.start;
        for child in value.children() {
            let member = child.member_span();
            assert!(outer.contains(member) && member.start >= end, "{member:?} in {outer:?} after {end}");
            end = member.end;
            open.push(child);
        }
    }
    assert_eq!(ids.len(), document.value_count());
    assert_eq!(pointers(document, &ids).len(), ids.len());
    for (first, second) in document.duplicate_keys() {
        assert_eq!(first.key_text(), second.key_text());
    }
    (0..=whole.end)
        .step_by(7)
        .for_each(|at| assert!(document.innermost(at).index() < document.value_count()));
}

/// Asserts that all ways to decode a string agree.
fn check_strings(document: &Document<'_>) {
    let mut open: Vec<Value<'_, '_>> = vec![document.root()];
    while let Some(value) = open.pop() {
        open.extend(value.children());
        for (string, start) in [(value.key(), value.key_span()), (value.as_json_str(), Some(value.span()))] {
            let (Some(string), Some(span)) = (string, start) else { continue };
            let text = string.decode();
            let (decoded, offsets) = string.decode_with_offsets();
            assert_eq!(text, decoded);
            assert!(offsets.len() == decoded.len() && offsets.is_sorted());
            for (at, character) in decoded.char_indices() {
                let source = &string.raw()[offsets[at] as usize..];
                let is_literal = source.starts_with(character.encode_utf8(&mut [0; 4]).as_bytes());
                assert!(is_literal || character == char::REPLACEMENT_CHARACTER || source.starts_with(b"\\"));
            }
            assert!(string.eq_str(&text));
            assert_eq!(string.char_count(), text.chars().count());
            let (mut into, mut bytes) = (String::from("x"), vec![b'x']);
            string.decode_into(&mut into);
            assert_eq!(into[1..], *text);
            string.decode_bytes_into(&mut bytes);
            assert_eq!(String::from_utf8_lossy(&bytes[1..]), text);
            let decoded = Decoded::new(string, span.start);
            assert_eq!(decoded.text(), text);
            for (at, character) in text.char_indices() {
                let place = decoded.span_of(at..at + character.len_utf8());
                let inside = Span::new(span.start + 1, span.start + 1 + string.raw().len() as u32);
                assert!(inside.contains(place), "{place:?} of {text:?} in {span:?}");
                let written = &document.bytes()[place.range()];
                let is_literal = written == character.encode_utf8(&mut [0; 4]).as_bytes();
                let stands_for_another =
                    character == char::REPLACEMENT_CHARACTER || written.starts_with(b"\\");
                assert!(is_literal || stands_for_another, "{character:?} at {place:?}");
            }
        }
    }
}

/// Asserts that a text has no faults and the same value if `serde_json` accepts it, and a fault otherwise.
fn compare(document: &Document<'_>) {
    match serde_json::from_slice::<Json>(document.bytes()) {
        Ok(read) => {
            assert_eq!(document.faults(), &[]);
            assert_eq!(to_json(document.root()), read);
        }
        Err(error) => {
            // JSON allows these, but `serde_json` does not.
            let text = error.to_string();
            let is_limit = ["number out of range", "recursion limit exceeded"]
                .iter()
                .any(|limit| text.starts_with(limit));
            assert!(is_limit || !document.faults().is_empty(), "{text}");
        }
    }
}

/// The value as `serde_json` reads it. It is not nested too deeply for recursion, since `serde_json` has read it.
pub fn to_json(value: Value<'_, '_>) -> Json {
    match value.kind() {
        Kind::Null => Json::Null,
        Kind::Bool => Json::Bool(value.as_bool().expect("the kind is checked")),
        Kind::Number => serde_json::from_slice(value.raw()).expect("a number without a fault is valid"),
        Kind::String => Json::String(value.as_str().expect("the kind is checked").into_owned()),
        Kind::Array => value.elements().map(to_json).collect(),
        Kind::Object => {
            let member = |member: Value<'_, '_>| Some((member.key_text()?.into_owned(), to_json(member)));
            value.members().map(|one| member(one).expect("a member has a key")).collect()
        }
        Kind::Invalid => panic!("a text without faults has no invalid value"),
    }
}

/// Asserts that records follow each other, have the right places, and are read the same with a reused arena.
fn check_records(data: &[u8]) {
    for records in [Records::new(data), Records::of_lines(data)] {
        let records: Vec<_> = records.collect();
        let starts: Vec<usize> = records.iter().map(|record| record.start).collect();
        let (mut end, mut arena) = (0, Arena::default());
        for (number, (record, position)) in records.iter().zip(locate(data, &starts)).enumerate() {
            assert_eq!((record.index, record.position), (number, position));
            assert!(record.start >= end);
            end = record.start + record.bytes.len();
            assert_eq!(&data[record.start..end], record.bytes);
            let (fresh, used) = (Document::read(record.bytes), Document::read_in(record.bytes, arena));
            assert_eq!(fresh.faults(), used.faults());
            assert_eq!(format!("{:?}", fresh.root()), format!("{:?}", used.root()));
            assert_eq!(fresh.value_count(), used.value_count());
            arena = used.into_arena();
        }
    }
}
