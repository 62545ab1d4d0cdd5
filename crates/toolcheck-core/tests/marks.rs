//! Calls, and errors of parsers, in words.

use toolcheck_core::call_marks::hold_call;
use toolcheck_core::parsers::{all, is_error};
use toolcheck_json::Document;

use crate::testing::ids_in;

#[test]
fn calls_in_words_are_known_and_prose_is_not_one() {
    let holds = |text: &str| {
        let json = serde_json::to_string(text).unwrap();
        let document = Document::read(json.as_bytes());
        hold_call(document.root().as_json_str().unwrap())
    };
    type Cases = std::collections::BTreeMap<String, Vec<String>>;
    let cases: Cases = serde_json::from_str(include_str!("call_marks.json")).unwrap();
    for (kind, text) in cases.iter().flat_map(|(kind, texts)| texts.iter().map(move |text| (kind, text))) {
        assert_eq!(holds(text), kind == "calls", "{text}");
    }
}

#[test]
fn each_message_is_found_in_its_examples_and_has_a_source() {
    assert_eq!(all().count(), ids_in("parsers", "toml").len());
    for (id, parser) in ids_in("parsers", "toml").iter().zip(all()) {
        assert_eq!(parser.id, *id);
        assert!(parser.sources.iter().all(|source| source.starts_with("https://")), "{id}");
        assert!(!parser.sources.is_empty() && !parser.seen.is_empty(), "{id}");
        for message in &parser.messages {
            assert!(!message.examples.is_empty(), "{id}: {}", message.text);
            for example in &message.examples {
                assert!(message.is_in(example.as_bytes()), "{id}: {}: {example}", message.text);
                assert!(is_error(format!("Error in the call: {example}\n").as_bytes()), "{example}");
            }
        }
    }
}

#[test]
fn other_texts_are_no_errors_of_a_parser() {
    for text in [
        "",
        "got one",
        "the tide table has a line 3 and a column 4",
        "found at line 1 column 5",
        "the value was expected at noon",
        ": line 1 column",
        "extra data was written",
    ] {
        assert!(!is_error(text.as_bytes()), "{text}");
    }
}
