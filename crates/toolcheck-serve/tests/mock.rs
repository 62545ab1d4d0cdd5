//! The mock as tests of Rust use it.

use std::sync::{Arc, Mutex};

use crate::common::post;
use serde_json::{Value as Json, json};
use toolcheck_serve::{MockLog, MockProvider, Turn, script};

fn request(messages: Json) -> String {
    json!({"model": "claude-sonnet-4-5", "max_tokens": 64, "messages": messages}).to_string()
}

fn unanswered() -> String {
    request(json!([
        {"role": "user", "content": "When is low tide?"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "tides", "input": {}}]},
        {"role": "user", "content": "Well?"}
    ]))
}

/// What a test fails with whose client sent what the log has.
fn failure(log: &MockLog) -> String {
    let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| log.assert_conformant()));
    *failed.unwrap_err().downcast::<String>().unwrap()
}

#[test]
fn a_test_fails_with_what_was_refused_in_the_words_of_the_api_and_with_what_is_not_there() {
    let provider = MockProvider::builder().start().unwrap();
    post(&provider, "/v1/messages", &unanswered());
    let run = provider.finish();
    assert_eq!(run.refused().count(), 1);
    let message = failure(&run);
    assert!(
        message.contains("unanswered-tool-call") && message.contains("the API says: messages.2"),
        "{message}"
    );
    let provider = MockProvider::builder().target("anthropic").unwrap().check_on_drop(false).start().unwrap();
    post(&provider, "/v1/chat/completions", &request(json!([])));
    let message = failure(&provider.finish());
    assert!(message.contains("not expected: POST /v1/chat/completions"), "{message}");
    // What is allowed is no failure, and neither is a path that no API has.
    let provider = MockProvider::builder().allow("unanswered-tool-call").unwrap().start().unwrap();
    post(&provider, "/v1/messages", &unanswered());
    post(&provider, "/v1/completions", "{}");
    let run = provider.finish();
    assert_eq!(run.exchanges[0].allowed[0].rule, "unanswered-tool-call");
    run.assert_conformant();
}

#[test]
fn a_mock_that_is_dropped_fails_the_test_whose_client_was_refused() {
    let provider = MockProvider::builder().start().unwrap();
    post(&provider, "/v1/messages", &unanswered());
    let dropped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(provider)));
    let message = *dropped.unwrap_err().downcast::<String>().unwrap();
    assert!(message.contains("refused with 400: unanswered-tool-call at /messages/1/content/0"), "{message}");
    let provider = MockProvider::builder().check_on_drop(false).start().unwrap();
    post(&provider, "/v1/messages", &unanswered());
}

#[test]
fn each_exchange_is_shown_to_who_watches() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let watched = Arc::clone(&seen);
    let builder = MockProvider::builder()
        .on_exchange(move |exchange| watched.lock().unwrap().push((exchange.status, exchange.json_line())));
    let provider = builder.start().unwrap();
    post(&provider, "/v1/messages", &request(json!([{"role": "user", "content": "Hi"}])));
    let run = provider.finish();
    let seen = seen.lock().unwrap();
    assert_eq!((seen[0].0, format!("{}\n", seen[0].1)), (200, run.json_lines()));
}

#[test]
fn what_must_come_back_is_kept_beside_the_exchange() {
    let turns = script(
        r#"
        [[turn]]
        redacted = true
        stop = "pause"
        server-calls = [{ tool = "web_search", arguments = { query = "tides" }, result = [{ type = "web_search_result", title = "Tides" }] }]
        calls = [{ tool = "tides", arguments = { harbour = "Husum" }, signed = true }]
        "#,
    );
    let provider = MockProvider::builder().turns(turns.unwrap()).start().unwrap();
    let first = json!([{"role": "user", "content": "When is low tide?"}]);
    let (_, _, body) = post(&provider, "/v1/messages", &request(first));
    let body: Json = serde_json::from_str(&body).unwrap();
    assert_eq!(body["stop_reason"], "pause_turn");
    let kinds: Vec<&str> =
        body["content"].as_array().unwrap().iter().map(|block| block["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["redacted_thinking", "server_tool_use", "web_search_tool_result", "tool_use"]);
    let asked = json!({"contents": [{"role": "user", "parts": [{"text": "When is low tide?"}]}]}).to_string();
    let (_, _, gemini) = post(&provider, "/v1beta/models/m:generateContent", &asked);
    assert!(gemini.contains("thoughtSignature"), "{gemini}");
    let run = provider.finish();
    let kept: Vec<Vec<&str>> = run
        .exchanges
        .iter()
        .map(|exchange| exchange.opaque.iter().map(|opaque| &*opaque.text).collect())
        .collect();
    let id = body["content"][1]["id"].as_str().unwrap();
    assert_eq!(kept, [vec!["cmVk0000", id, id], vec!["Y2Fs00000000"]]);
}

#[test]
fn a_request_for_a_summary_gets_no_calls_of_the_next_turn() {
    let call = "once = true\ncalls = [{ tool = \"tides\" }]\n";
    let turns =
        format!("[[turn]]\ntokens = 199000\n{call}[[turn]]\n{call}[[turn]]\ntext = \"Low at six.\"\n");
    let provider = MockProvider::builder().turns(script(&turns).unwrap()).start().unwrap();
    let summary = request(json!([{"role": "user", "content": "What was said so far?"}]));
    let mut asked: Json = serde_json::from_str(&summary).unwrap();
    asked["tools"] = json!([{"name": "tides", "input_schema": {"type": "object"}}]);
    let asked = asked.to_string();
    let said = [&asked, &summary, &asked, &asked].map(|body| post(&provider, "/v1/messages", body).2);
    let expected = ["tool_use", "Done.", "tool_use", "Low at six."];
    assert!(said.iter().zip(expected).all(|(body, part)| body.contains(part)), "{said:?}");
}

#[test]
fn a_mistyped_target_is_suggested() {
    let error = MockProvider::builder().target("antropic").unwrap_err().to_string();
    assert_eq!(error, "there is no target `antropic`; did you mean `anthropic`?");
}

#[test]
fn the_scripts_of_the_documentation_are_read() {
    let page = include_str!("../../../docs/serve.md");
    let scripts: Vec<_> = page.split("```toml script\n").skip(1).collect();
    for text in &scripts {
        let turns = script(text.split("```").next().unwrap()).unwrap();
        assert_eq!(turns.last(), Some(&Turn::text("Low at six.")));
    }
    assert!(!scripts.is_empty());
}

#[test]
fn a_request_that_goes_on_from_what_the_server_keeps_says_so() {
    let provider = MockProvider::builder().target("anthropic").unwrap().check_on_drop(false).start().unwrap();
    let ask = |thread: Json| {
        let mut body: Json =
            serde_json::from_str(&request(json!([{"role": "user", "content": "Moin."}]))).unwrap();
        (body["model"], body["thread"]) = (json!("claude-opus-4-8"), thread);
        serde_json::from_str::<Json>(&post(&provider, "/v1/messages", &body.to_string()).2).unwrap()
    };
    let first = ask(json!({"type": "create"}));
    let next = json!({"type": "continue", "previous_message_id": first["id"]});
    for thread in [next.clone(), json!({"type": "continue", "previous_message_id": "msg_nobody"}), next] {
        ask(thread);
    }
    let goes_on: Vec<bool> = provider.finish().exchanges.iter().map(|exchange| exchange.goes_on).collect();
    assert_eq!(goes_on, [false, true, false, true]);
}
