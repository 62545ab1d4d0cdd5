//! All records of a file in one document are the same as each in a document of its own.

use proptest::prelude::*;
use toolcheck_json::{Document, Records, Value};

/// Lines of JSON, some of them broken.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => Just(r#"{"type": "user", "message": {"role": "user", "content": [1, "a\\u00e9", null]}}"#.to_owned()),
        3 => Just(r#"{"a": [], "a": {"b": -1.5e3}}"#.to_owned()),
        1 => Just(String::new()),
        1 => Just("42".to_owned()),
        1 => Just(r#"{"a": [1, {"b": "#.to_owned()),
        1 => Just("]".to_owned()),
        1 => Just(r#"{"a": 1} trailing"#.to_owned()),
        1 => r#"[\[\]{}:,"a1 ]{0,12}"#,
    ]
}

fn same(one: Value<'_, '_>, other: Value<'_, '_>, start: u32) {
    assert_eq!(one.kind(), other.kind());
    assert_eq!((one.span().start, one.span().end), (other.span().start + start, other.span().end + start));
    assert_eq!(one.key_text(), other.key_text());
    let (ones, others): (Vec<_>, Vec<_>) = (one.children().collect(), other.children().collect());
    assert_eq!(ones.len(), others.len());
    ones.into_iter().zip(others).for_each(|(one, other)| same(one, other, start));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_document_is_the_same_as_many(lines in proptest::collection::vec(line(), 0..12)) {
        let text = lines.join("\n");
        let records = Records::of_lines(text.as_bytes());
        let layout = records.layout();
        let all = Records::laid_out(text.as_bytes(), layout).document();
        let values: Vec<Value<'_, '_>> = all.root().elements().collect();
        let records: Vec<_> = records.collect();
        prop_assert_eq!(values.len(), records.len());
        let mut faults = 0;
        for (value, record) in values.into_iter().zip(&records) {
            let alone = Document::read(record.bytes);
            same(value, alone.root(), record.start as u32);
            for fault in alone.faults() {
                let start = record.start as u32;
                let is_same = |other: &toolcheck_json::SyntaxError| {
                    other.kind == fault.kind
                        && (other.span.start, other.span.end) == (fault.span.start + start, fault.span.end + start)
                };
                prop_assert!(all.faults().iter().any(is_same), "{:?} of {:?}", fault, record);
                faults += 1;
            }
        }
        prop_assert_eq!(all.faults().len(), faults);
    }
}
