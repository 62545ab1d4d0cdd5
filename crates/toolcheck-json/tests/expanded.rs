//! What strings say, in their place.

use proptest::prelude::*;
use toolcheck_json::origins::Mapped;
use toolcheck_json::{Document, Expanded, NodeId, Said, Span};

/// JSON of a few values, whose strings have what is written in other ways.
fn json() -> impl Strategy<Value = String> {
    let string = prop::collection::vec(
        prop::sample::select(vec!["a", "\u{e9}", "\u{1F600}", "\\n", "\\\"", "\\\\", "\\u00e9", " ", "b~/"]),
        0..5,
    )
    .prop_map(|parts| format!("\"{}\"", parts.concat()));
    let leaf = prop_oneof![
        string.clone(),
        prop::sample::select(vec!["1", "-2.5e3", "true", "null", "[]", "{}", "\"\\ud83d\\ude00\""])
            .prop_map(str::to_owned)
    ];
    leaf.prop_recursive(3, 24, 5, move |inner| {
        let space = prop::sample::select(vec!["", " ", "\n", "\r\n\t"]);
        let members = prop::collection::vec((string.clone(), space.clone(), inner.clone()), 0..5);
        let object = members.prop_map(|members| {
            let member = |(key, space, value)| format!("{space}{key}{space}:{space}{value}");
            format!("{{{}}}", members.into_iter().map(member).collect::<Vec<_>>().join(","))
        });
        let array = prop::collection::vec(inner, 0..5);
        let array = (array, space)
            .prop_map(|(values, space)| format!("[{space}{}{space}]", values.join(&format!("{space},"))));
        prop_oneof![object, array]
    })
}

/// A text as a JSON string, all of whose characters may be escapes.
fn written(text: &str, is_ascii: bool) -> String {
    let json = serde_json::to_string(text).unwrap_or_default();
    let escaped = |character: char| {
        let mut units = [0; 2];
        let units = character.encode_utf16(&mut units).iter();
        units.map(|unit| format!("\\u{unit:04x}")).collect::<String>()
    };
    let each = |character: char| {
        if is_ascii && !character.is_ascii() { escaped(character) } else { character.to_string() }
    };
    json.chars().map(each).collect()
}

/// All that is known of the values of a document.
fn values(document: Document<'_>) -> String {
    let shown = format!("{:?}", document.into_arena());
    let (nodes, rest) = shown.split_once(", stack: ").expect("it says so");
    let (_, rest) = rest.split_once(", maybe_duplicate: ").expect("it says so");
    let (maybe_duplicate, _) = rest.split_once(',').expect("it says more");
    format!("{nodes} {maybe_duplicate}")
}

/// Whether the values were taken from the document, and not read again.
fn are_moved(expanded: &Expanded<'_>) -> bool {
    !format!("{expanded:?}").contains("arena: RefCell { value: None }")
}

proptest! {
    /// The values are those of the text when it is read, and have the places of the characters that they were made of.
    #[test]
    fn values_are_where_they_are_when_the_text_is_read(
        texts in prop::collection::vec((json(), any::<bool>(), any::<bool>()), 1..5),
        before in json(),
    ) {
        let mut row = format!("{{\"before\":{before},\"list\":[");
        for (number, (text, is_ascii, is_member)) in texts.iter().enumerate() {
            let is_read = text.starts_with(['[', '{', '"']);
            let string = written(&if is_read { text.clone() } else { format!(" [{text}]") }, *is_ascii);
            let comma = if number > 0 { ", " } else { "" };
            let key = if *is_member { format!("{{\"\\u006b\":{string}, \"x\":[]}}") } else { string };
            row += &format!("{comma}{key}");
        }
        row += "], \"after\": [\"\\n\", {}]} ";
        let document = Document::read(row.as_bytes());
        prop_assert_eq!(document.faults(), &[]);
        let list = document.root().get("list").expect("the key is there");
        let strings = list.elements().map(|one| one.get("k").unwrap_or(one));
        let ids: Vec<NodeId> = strings.clone().map(|one| one.id()).collect();
        let said: Vec<Said<'_>> = strings.filter_map(|one| Said::wanted(one, |_| true)).collect();
        prop_assert_eq!(said.len(), texts.len());
        let expanded = Expanded::new(&document, said);
        prop_assert!(are_moved(&expanded));
        let read = values(Document::read(expanded.text()));
        prop_assert_eq!(&values(expanded.document()), &read);
        let mapped = Mapped::expanded(&document, &ids);
        prop_assert_eq!(mapped.text(), expanded.text());
        prop_assert_eq!(&mapped, expanded.mapped());
        // The taken values are read again.
        prop_assert_eq!(&values(expanded.document()), &read);
        let again = expanded.document();
        // What each value is written as in the row says what it says in the text.
        let mut open = vec![again.root()];
        while let Some(one) = open.pop() {
            open.extend(one.children());
            let place = mapped.source_of(one.span().range()).expect("it comes from the row");
            if let Some(string) = one.as_json_str().filter(|_| ids.iter().any(|id| {
                let outer = document.value(*id).span().range();
                outer.start < place.start && place.end < outer.end
            })) {
                let inside = format!("\"{}\"", &row[place]);
                let inside = Document::read(inside.as_bytes());
                let text = inside.root().as_str().unwrap_or_default();
                prop_assert_eq!(text.as_bytes(), [b"\"", string.raw(), b"\""].concat());
            }
        }
    }
}

#[test]
fn a_half_of_a_character_has_the_place_of_its_escape() {
    let row = r#"{"a": "\ud800", "b": "{\"c\": \"\\ud83d\\ude00 \\udc00\", \"d\": \"\u00e9\"}", "e": 1}"#;
    let document = Document::read(row.as_bytes());
    let string = document.root().get("b").expect("the key is there");
    assert!(Said::wanted(string, |_| true).is_none(), "the text has a fault");
    let row = row.replace(" \\\\udc00", "");
    let document = Document::read(row.as_bytes());
    let string = document.root().get("b").expect("the key is there");
    let said = Said::wanted(string, |said| said.is_object()).expect("it is an object");
    let expanded = Expanded::new(&document, vec![said]);
    assert!(!are_moved(&expanded), "the row has a fault");
    let opened = expanded.document();
    let (fault, inner) = (opened.faults()[0].span, opened.root().get("b").expect("the key is there"));
    let source = |span: Span| expanded.mapped().source_of(span.range()).map(|place| &row[place]);
    assert_eq!(source(fault), Some("\\ud800"));
    assert_eq!(inner.get("c").and_then(|one| source(one.span())), Some(r#"\"\\ud83d\\ude00\""#));
    assert_eq!(inner.get("d").and_then(|one| source(one.span())), Some(r#"\"\u00e9\""#));
    assert_eq!(opened.root().get("e").and_then(|one| source(one.span())), Some("1"));
}
