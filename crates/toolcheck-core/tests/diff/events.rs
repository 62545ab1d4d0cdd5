//! What a comparison and the rules say of the same conversation.

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use toolcheck_core::diff::Side;
use toolcheck_core::formats;
use toolcheck_core::pairing::Pairing;
use toolcheck_core::targets::Target;
use toolcheck_json::Document;

/// Messages with few ids and names, so that much is repeated, missing, early or late.
fn message() -> impl Strategy<Value = Json> {
    let id = || (0..4).prop_map(|id| format!("c{id}"));
    let name = || (0..3).prop_map(|name| format!("f{name}"));
    let call = (id(), name()).prop_map(
        |(id, name)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}}),
    );
    let result = (id(), prop::option::of(name()))
        .prop_map(|(id, name)| json!({"role": "tool", "tool_call_id": id, "name": name, "content": "done"}));
    prop_oneof![
        prop::collection::vec(call, 1..4)
            .prop_map(|calls| json!({"role": "assistant", "content": null, "tool_calls": calls})),
        result.clone(),
        result,
        Just(json!({"role": "user", "content": "go on"})),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// What a comparison says of a result is what rules say of it, if there are ids.
    #[test]
    fn results_answer_the_same_calls_as_for_rules(messages in prop::collection::vec(message(), 1..12)) {
        let text = json!({"model": "gpt-5", "messages": messages}).to_string();
        let document = Document::read(text.as_bytes());
        let format = formats::find("openai-chat").unwrap();
        let transcript = format.read(document.root()).unwrap();
        let pairing = Pairing::new(&transcript, Target::unknown());
        let compared = Side::new(&transcript, &document).results();
        let of_rules: Vec<_> = pairing.results.iter().map(|site| {
            let call = site.paired_with.call().map(|call| pairing.calls[call].part.place);
            (site.part.place, call)
        }).collect();
        prop_assert_eq!(compared, of_rules, "{}", text);
    }
}
