//! Errors and the requests or histories that cause them.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

use serde_json::{Value, json};
use toolcheck_lint::{Options, Report, lint};
use toolcheck_report::explained::{Explained, Places, Wording};

fn explained(error: &str, history: &Value) -> Explained {
    let history = history.to_string();
    Explained::with_request(error, |options: &Options| lint("history.json", history.as_bytes(), options))
}

fn cause(explained: &Explained) -> &Report {
    match explained.places.as_ref().unwrap() {
        Places::Cause(report) => report,
        Places::Others(report) => panic!("no cause: {:?}", report.files),
    }
}

/// The rules and places of what causes an error.
fn causes(explained: &Explained) -> Vec<(&str, &str)> {
    let findings = &cause(explained).files[0].findings;
    findings.iter().map(|finding| (finding.rule, finding.spot.pointer.as_str())).collect()
}

/// A history of Pydantic AI that was saved while its calls were running, or when they failed.
fn waiting() -> Value {
    let call =
        |id: &str| json!({"part_kind": "tool-call", "tool_name": "tides", "args": "{}", "tool_call_id": id});
    json!([
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "When is low tide?"}]},
        {"kind": "response", "parts": [call("pyd_a"), call("pyd_b")]},
    ])
}

#[test]
fn an_error_shows_that_the_last_calls_are_not_running() {
    let history = waiting();
    let alone = lint("history.json", history.to_string().as_bytes(), &Options::new());
    assert!(alone.findings.is_empty(), "{:?}", alone.findings);
    let raised = "UserError: Cannot provide a new user prompt when the message history contains unprocessed tool calls.";
    let unanswered = |part: &'static str| ("unanswered-tool-call", part);
    assert_eq!(causes(&explained(raised, &history)), [unanswered("/1/parts/0"), unanswered("/1/parts/1")]);
    let answered =
        "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: pyd_b.";
    assert_eq!(causes(&explained(answered, &history)), [unanswered("/1/parts/1")]);
}

#[test]
fn a_framework_is_named_and_is_no_target() {
    let explained = Explained::new("Tool result is missing for tool call call_1.");
    let found = &explained.to_json()["matches"][0];
    assert_eq!((&found["framework"], &found["target"]), (&json!("ai-sdk"), &Value::Null));
    assert_eq!(found["captures"], json!({"id": "call_1"}));
    let mut text = Vec::new();
    explained.write(&Wording::new("file", ": FILE"), &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.starts_with("unanswered-tool-call (ai-sdk)\n"), "{text}");
    assert!(text.contains("Vercel AI SDK raises this error itself"), "{text}");
    let of_api = Explained::new("No tool call found for function call output with call_id call_7.");
    let found = &of_api.to_json()["matches"][0];
    assert_eq!((&found["target"], found.get("framework")), (&json!("openai-responses"), None));
}

#[test]
fn one_text_of_a_framework_has_the_cause_that_is_there() {
    let call = |id: &str| json!({"role": "assistant", "tool_calls": [{"id": id, "type": "function", "function": {"name": "tides", "arguments": "{}"}}]});
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "six"});
    let user = json!({"role": "user", "content": "When is low tide?"});
    let error = "Missing corresponding tool call for tool response message.";
    let split = json!([user, call("a"), call("b"), result("a"), result("b")]);
    assert_eq!(causes(&explained(error, &split))[0].0, "split-assistant-turn");
    let lost = json!([user, call("a"), result("a"), result("b")]);
    assert_eq!(causes(&explained(error, &lost)), [("orphan-tool-result", "/3")]);
}
