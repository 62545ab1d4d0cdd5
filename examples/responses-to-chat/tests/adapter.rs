//! Checks the requests of the adapter against the APIs that receive them.

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use responses_to_chat::{convert, convert_item_by_item};
use serde_json::{Value, json};
use toolcheck_test::strategies::transcripts;
use toolcheck_test::{Feature, check, conversation};

/// The APIs behind a gateway. Each of them accepts Chat Completions, or receives a translation.
const TARGETS: [&str; 4] = ["openai-chat", "anthropic", "bedrock", "mistral"];

/// A request of an agent that made two calls in one turn, with an empty text.
fn two_calls() -> Value {
    json!({
        "model": "a-model",
        "instructions": "Answer in one sentence.",
        "tools": [{"type": "function", "name": "look_up", "parameters": {"type": "object", "properties": {}}}],
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "harbour: Alba"}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ""}]},
            {"type": "function_call", "call_id": "pier00001", "name": "look_up", "arguments": "{\"what\": \"tide\"}"},
            {"type": "function_call", "call_id": "pier00002", "name": "look_up", "arguments": "{\"what\": \"wind\"}"},
            {"type": "function_call_output", "call_id": "pier00001", "output": "high at six"},
            {"type": "function_call_output", "call_id": "pier00002", "output": "west, four"}
        ]
    })
}

#[test]
fn the_request_itself_is_clean() {
    check(two_calls()).format("openai-responses").assert_clean();
}

#[test]
fn item_by_item_splits_the_turn() {
    let sent = convert_item_by_item(&two_calls()).expect("it can be converted");
    let sent = check(&sent).format("openai-chat");
    sent.clone().target("bedrock").assert_findings(&["error split-assistant-turn at /messages/2"]);
    sent.clone().target("openai-chat").assert_findings(&["error split-assistant-turn at /messages/2"]);
    // Anthropic's API joins the messages of a turn, so it would not have shown the bug.
    sent.target("anthropic").assert_findings(&["warning split-assistant-turn at /messages/2"]);
}

#[test]
fn the_fixed_request_is_clean() {
    let sent = convert(&two_calls()).expect("it can be converted");
    for target in TARGETS {
        check(&sent).format("openai-chat").target(target).assert_clean();
    }
}

/// The findings without their wording: the snapshot changes only if the findings do.
#[test]
fn the_report_of_the_bug() {
    let sent = convert_item_by_item(&two_calls()).expect("it can be converted");
    let report = check(&sent).format("openai-chat").target("bedrock").report();
    insta::assert_snapshot!(report, @"error split-assistant-turn at /messages/2");
}

/// What a failing test prints is what `toolcheck lint` shows.
#[test]
fn the_full_report_of_the_bug() {
    let sent = convert_item_by_item(&two_calls()).expect("it can be converted");
    let report = check(&sent).named("sent.json").format("openai-chat").target("bedrock").report();
    insta::assert_snapshot!(report.render());
}

proptest! {
    /// For any conversation, every API accepts the request, and nothing is lost.
    #[test]
    fn every_request_is_clean_and_complete(request in transcripts("openai-responses")) {
        let sent = convert(&request).expect("it can be converted");
        for target in TARGETS {
            check(&sent).format("openai-chat").target(target).assert_clean();
        }
        // Chat Completions does not accept reasoning in a request.
        let before = conversation(&request, "openai-responses").without(Feature::Reasoning);
        prop_assert_eq!(conversation(&sent, "openai-chat"), before);
    }
}

/// The property finds the bug of the first version.
#[test]
fn the_property_finds_the_bug() {
    let property = |request| {
        let sent = convert_item_by_item(&request).expect("it can be converted");
        let report = check(&sent).format("openai-chat").target("bedrock").report();
        prop_assert!(report.is_clean(), "{report}");
        Ok(())
    };
    let result = TestRunner::deterministic().run(&transcripts("openai-responses"), property);
    let message = result.expect_err("the turn is split").to_string();
    assert!(message.contains("split-assistant-turn"), "{message}");
}
