//! What the adapter sends, held against the APIs that it sends it to.

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use responses_to_chat::{convert, convert_item_by_item};
use serde_json::{Value, json};
use toolcheck_test::strategies::transcripts;
use toolcheck_test::{Feature, check, conversation};

/// The APIs behind the gateway. Each of them reads Chat Completions, or gets it translated.
const TARGETS: [&str; 4] = ["openai-chat", "anthropic", "bedrock", "mistral"];

/// An agent that looks up two things at once about a harbour, and says nothing as it does.
fn two_calls() -> Value {
    json!({
        "model": "a-model",
        "instructions": "Answer in one sentence.",
        "tools": [{"type": "function", "name": "look_up", "parameters": {"type": "object"}}],
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
    // Anthropic itself puts the turn together again, so its own API would not have shown the fault.
    sent.target("anthropic").assert_findings(&["warning split-assistant-turn at /messages/2"]);
}

#[test]
fn mended_it_is_clean() {
    let sent = convert(&two_calls()).expect("it can be converted");
    for target in TARGETS {
        check(&sent).format("openai-chat").target(target).assert_clean();
    }
}

/// What was found, without wording: it changes only where something else is found.
#[test]
fn the_report_of_the_fault() {
    let sent = convert_item_by_item(&two_calls()).expect("it can be converted");
    let report = check(&sent).format("openai-chat").target("bedrock").report();
    insta::assert_snapshot!(report, @"error split-assistant-turn at /messages/2");
}

/// What a failing test prints is what `toolcheck lint` shows.
#[test]
fn the_report_on_the_fault() {
    let sent = convert_item_by_item(&two_calls()).expect("it can be converted");
    let report = check(&sent).named("sent.json").format("openai-chat").target("bedrock").report();
    insta::assert_snapshot!(report.render());
}

proptest! {
    /// Whatever conversation goes in, every API takes what comes out, and nothing of it is lost.
    #[test]
    fn whatever_goes_in_comes_out_clean_and_whole(request in transcripts("openai-responses")) {
        let sent = convert(&request).expect("it can be converted");
        for target in TARGETS {
            check(&sent).format("openai-chat").target(target).assert_clean();
        }
        // Chat Completions does not take reasoning back.
        let before = conversation(&request, "openai-responses").without(Feature::Reasoning);
        prop_assert_eq!(conversation(&sent, "openai-chat"), before);
    }
}

/// The property finds the fault of the first version by itself.
#[test]
fn the_property_would_have_found_it() {
    let property = |request| {
        let sent = convert_item_by_item(&request).expect("it can be converted");
        let report = check(&sent).format("openai-chat").target("bedrock").report();
        prop_assert!(report.is_clean(), "{report}");
        Ok(())
    };
    let found = TestRunner::deterministic().run(&transcripts("openai-responses"), property);
    let told = found.expect_err("the turn is split").to_string();
    assert!(told.contains("split-assistant-turn"), "{told}");
}
