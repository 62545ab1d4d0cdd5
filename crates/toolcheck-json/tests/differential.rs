//! Compares the reader with `serde_json`: both must read the same values. What is asserted of any text is what the fuzz
//! target `json` asserts.

use proptest::prelude::*;
use serde_json::Value as Json;
use toolcheck_json::{Document, SyntaxErrorKind, Value, pointers};

use crate::fuzz::{run, to_json};

fn json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        any::<i64>().prop_map(Json::from),
        any::<f64>().prop_filter("finite", |float| float.is_finite()).prop_map(Json::from),
        ".{0,40}".prop_map(Json::String),
        "[\\x00-\\x7f]{0,40}".prop_map(Json::String),
    ];
    leaf.prop_recursive(5, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::Array),
            prop::collection::vec((".{0,12}", inner), 0..6)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

/// Valid and slightly invalid JSON.
fn nearly_json() -> impl Strategy<Value = String> {
    let pieces = r#"{ } [ ] , : "a" "b": 'b':1, "\u0061":2, " \ \u12 1 - 1e5 true nul NaN //"#;
    let pieces: Vec<&str> = pieces.split(' ').chain(["\n", " "]).collect();
    let known = prop::sample::select(pieces).prop_map(str::to_owned);
    let piece = prop_oneof![22 => known, 1 => "[ -~]{0,3}"];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// Asserts that each member is found under its key, or one after it with the same key, and nothing under another one.
fn assert_members_are_found(value: Value<'_, '_>) {
    let has_key = |member: &Value<'_, '_>, key: &str| member.key_text().is_some_and(|own| own == *key);
    let keys = value.members().filter_map(|member| member.key_text());
    for key in keys.chain(["a", "b", "", "none"].map(Into::into)) {
        let last = value.members().filter(|member| has_key(member, &key)).last();
        assert_eq!(value.get(&key).map(Value::id), last.map(Value::id), "{key:?} of {value:?}");
    }
    value.children().for_each(assert_members_are_found);
}

proptest! {
    #[test]
    fn the_output_of_serde_json_is_read_back(value in json(), pretty: bool) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        let document = Document::read(text.as_bytes());
        prop_assert_eq!(document.faults(), &[]);
        assert_members_are_found(document.root());
        run(text.as_bytes());
    }

    #[test]
    fn both_accept_the_same_texts(text in nearly_json()) {
        let document = Document::read(text.as_bytes());
        assert_members_are_found(document.root());
        run(text.as_bytes());
    }

    #[test]
    fn pointers_lead_to_their_values(value in json()) {
        let text = value.to_string();
        let read: Json = serde_json::from_str(&text).unwrap();
        let document = Document::read(text.as_bytes());
        let mut values = vec![document.root()];
        let mut at = 0;
        while at < values.len() {
            values.extend(values[at].children().collect::<Vec<_>>());
            at += 1;
        }
        let ids: Vec<_> = values.iter().map(|value| value.id()).collect();
        for (value, pointer) in values.iter().zip(pointers(&document, &ids)) {
            let expected = read.pointer(&pointer);
            prop_assert_eq!(Some(&to_json(*value)), expected, "{}", pointer);
        }
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        run(&bytes);
    }

    #[test]
    fn a_text_cut_off_anywhere_is_still_read(value in json(), cut in any::<prop::sample::Index>()) {
        let text = value.to_string();
        let bytes = &text.as_bytes()[..cut.index(text.len())];
        let document = Document::read(bytes);
        let structural = document.faults().iter().filter(|fault| fault.kind != SyntaxErrorKind::InvalidUtf8).count();
        // One fault at most; none if a shorter number is left.
        prop_assert!(structural <= 1, "{:?} {:?}", String::from_utf8_lossy(bytes), document.faults());
    }

    #[test]
    fn an_object_in_a_string_is_recognised_only_if_it_is_one(
        text in r#"(\{|\}|\[|\]|"a"|:|,|1|-0.5e3|01|true|null| |\n|"\\\\n"|"\\\\u00e9"|"\\\\u12"|\\\\|"\u{e9}"|x){0,12}"#,
        pretty: bool
    ) {
        let is_recognised = |text: &str| {
            let written = serde_json::to_string(text).unwrap();
            Document::read(written.as_bytes()).root().as_json_str().unwrap().is_surely_object()
        };
        let read = serde_json::from_str::<serde_json::Value>(&text);
        prop_assert!(!is_recognised(&text) || read.as_ref().is_ok_and(|value| value.is_object()), "{text}");
        if let Ok(value) = &read {
            let text = if pretty { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) };
            prop_assert_eq!(is_recognised(&text.unwrap()), value.is_object());
        }
    }

    #[test]
    fn strings_full_of_escapes_are_read_alike(inside in r#"([\\"ntr/ux1]|\\\\|\\"|\\u00e9|\n|[a-z]{20}){0,60}"#) {
        let text = format!("[\"{inside}\"]");
        let document = Document::read(text.as_bytes());
        run(text.as_bytes());
        if document.faults().is_empty() {
            let string = document.root().elements().next().unwrap().as_json_str().unwrap();
            prop_assert_eq!(string.is_escaped(), inside.contains('\\'));
        }
    }

    #[test]
    fn a_glance_overlooks_no_word(before in r#"(a|_|\\\\|\\n|é){0,4}"#, escaped in prop::collection::vec(any::<bool>(), 4)) {
        let word = "a_bc";
        let written: String = word.chars().zip(escaped).map(|(letter, is_escaped)| {
            if is_escaped { format!("\\u{:04x}", letter as u32) } else { letter.to_string() }
        }).collect();
        let text = format!("\"{before}{written}\"");
        let document = Document::read(text.as_bytes());
        let string = document.root().as_json_str().unwrap();
        prop_assert!(string.decode().contains(word) && string.may_have(word), "{text}");
        prop_assert!(!string.may_have("cba") || text.contains("\\u"));
    }
}
